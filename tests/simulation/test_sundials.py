"""CVODE of SUNDIALS, where scikit-sundae is installed, and where it is not."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa

ARM = fa.library.de_luca_siciliano()
START = np.array([0, 1.0, 0.05, 0.001, 0.05, 0.001])
T = np.linspace(0.0, 0.25, 6)


def test_without_scikit_sundae_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sksundae.cvode", None)
    with pytest.raises(ImportError, match=r'pip install "flexarm\[sundials\]"'):
        fa.simulate(ARM, START, np.zeros(6), T, method="CVODE")


@pytest.mark.parametrize("kind", ["none", "samples", "feedback", "function"])
def test_agrees_with_dop853(kind: str) -> None:
    pytest.importorskip("sksundae")
    samples = np.random.default_rng(0).normal(size=(6, 2))
    torque: Any = {
        "none": None,
        "samples": samples,
        "feedback": fa.control.JointFeedback([3.0, 1.0], [1.0, 0.3], samples),
        "function": lambda t, q, qd: np.sin(9.0 * t) - q[..., :2],
    }[kind]
    exact = fa.simulate(
        ARM, START, np.zeros(6), T, torque=torque, method="DOP853", rtol=1e-11
    )
    run = fa.simulate(ARM, START, np.zeros(6), T, torque=torque, method="CVODE")
    assert run.success
    assert_allclose(run.q, exact.q, rtol=0, atol=1e-6)
    assert_allclose(run.tau, exact.tau, rtol=0, atol=1e-5)


def test_an_exception_carries_the_samples_so_far() -> None:
    pytest.importorskip("sksundae")

    def torque(t: float, q: Any, qd: Any) -> Any:
        if t > 0.1:
            raise ZeroDivisionError
        return np.zeros(2)

    with pytest.raises(ZeroDivisionError) as caught:
        fa.simulate(ARM, START, np.zeros(6), T, torque=torque, method="CVODE")
    assert caught.value.trajectory.completed == 3  # type: ignore[attr-defined]
