"""Errors of frequencies that few modes have, beside closed forms of beams."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.frequency_errors import frequency_errors

# roots of tan b = tanh b and of cos b cosh b = -1: beams on a hinge, and clamped
HINGED = np.array([3.9266023, 7.0685827, 10.2101761, 13.3517688]) ** 2
CLAMPED = np.array([1.8751041, 4.6940911, 7.8547574, 10.9955407]) ** 2


def chain(n_modes: int) -> fa.Arm:
    """A rod of 1 m and 1 kg with EI = 100 N m^2, on a motor without inertia."""
    return fa.library.planar_chain(1, n_modes=n_modes, gravity=(0, 0, 0))


@each("n_modes", [2, 3, 4, 6, 9])
def test_errors_are_those_to_the_continuous_beam(n_modes: int) -> None:
    arm = chain(n_modes)
    for exact, held in ((HINGED, False), (CLAMPED, True)):
        mask = np.arange(arm.nv) < held
        f, errors = frequency_errors(arm, arm.neutral, mask)
        true = 2.0 * np.pi * f / (10.0 * exact[: len(f)]) - 1.0
        assert len(f) == min(4, n_modes)
        # those of the arm with four more modes are not exact, either
        assert_allclose(errors, true, rtol=0.05, atol=6e-3)


def test_what_is_asked_for_is_judged() -> None:
    arm = chain(3)
    q = arm.neutral
    fa.natural_frequencies(arm, q, held="joints", count=2)  # 0.4 % at most
    with pytest.warns(fa.ModeWarning, match=r"frequency of 186.3 Hz 90 % too high: ra"):
        fa.natural_frequencies(arm, q, held="joints")
    fa.natural_frequencies(arm, q, held="joints")  # once is enough
    assert fa.natural_frequencies(arm, q, count=2).shape == (2,)
    with pytest.raises(fa.ArgumentError, match="count is 0"):
        fa.natural_frequencies(arm, q, count=0)


@each("ask", [fa.natural_frequencies, fa.vibration_modes, fa.linearize])
def test_each_function_warns(ask) -> None:  # type: ignore[no-untyped-def]
    arm = fa.library.planar_chain(2, n_modes=2, gravity=(0, 0, 0))
    with pytest.warns(fa.ModeWarning, match="and 3 more of the first 4: raise n_modes"):
        ask(arm, np.zeros((3, arm.nq)))


def test_the_table_of_modes_has_the_errors() -> None:
    arm = chain(3)
    with pytest.warns(fa.ModeWarning):
        modes = fa.vibration_modes(arm, arm.neutral)
    assert_allclose(modes.frequency_errors[0], 0.0068, rtol=0.05)
    lines = str(modes).splitlines()
    assert "error %" in lines[0] and lines[2].split()[2] == "0.68"


def test_who_is_not_asked() -> None:
    """Sources, stacks, many modes, finite elements without a beam."""
    tube = fa.beams.Section.tube(0.04, 0.002, "steel")
    fine = fa.beams.finite_element_link(
        "boom", length=1.0, sections=tube, n_modes="all"
    )
    some = [fa.library.de_luca_siciliano(), fa.Arm([fine]), chain(12), chain(20)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for arm in some:
            fa.natural_frequencies(arm, arm.neutral)
        fa.natural_frequencies(fa.stack([chain(2), chain(2)]), np.zeros(3))
