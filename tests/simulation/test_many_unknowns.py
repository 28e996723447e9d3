"""Implicit steps of many freedoms: bits alone and in a batch, errors, numbers of steps.

Oracle: Radau of SciPy at a tighter tolerance, with Jacobians by differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from tube_arm import manoeuvre, tube_arm

import flexarm as fa
from flexarm import beams

OPTIONS: dict[str, Any] = {
    "Rodas4P": {"rtol": 1e-5, "atol": 1e-7},
    "ROS34PW2": {"max_step": 1e-3},
    "generalized-alpha": {"max_step": 1e-3},
}


def rod(pieces: int, radius: float, modulus: float, damping: float = 0.0) -> fa.Arm:
    """A rod of 1 m in pieces of six freedoms, clamped, under its weight."""
    area, second = np.pi * radius**2, np.pi * radius**4 / 4.0
    density = 7850.0 if modulus > 1e9 else 1100.0
    section = beams.Section.from_stiffness(
        density * area,
        2 * (modulus * second,),
        torsional_stiffness=0.8 * modulus * second,
        axial_stiffness=modulus * area,
        rotary_inertia=density * second * np.array([2.0, 1.0, 1.0]),
    )
    link = beams.finite_element_link(
        "rod",
        length=1.0,
        sections=section,
        segments=pieces,
        n_elements=pieces,
        joint=fa.Joint("fixed"),
        motions=("bending y", "bending z", "torsion", "stretch"),
        damping_ratio=damping,
    )
    return fa.Arm([link])


def steel(pieces: int, damping: float = 0.0) -> fa.Arm:
    return rod(pieces, 5e-3, 2.1e11, damping)


@each("method", list(OPTIONS))
@each("pieces", [4, 5])
def test_a_rod_in_a_batch_has_the_bits_of_a_lone_one(method: str, pieces: int) -> None:
    """Five runs fill more than half of the lanes of any set, and one less."""
    arm = rod(pieces, 0.02, 1e6)
    q = 1e-3 * np.random.default_rng(pieces).normal(size=(11, arm.nq))
    t, options = np.linspace(0.0, 0.02, 4), {"method": method, **OPTIONS[method]}
    batch = fa.simulate(arm, q, np.zeros(arm.nv), t, **options)
    assert batch.success
    for some in ([0], [7], [9, 10], [2, 3, 4], [1, 2, 5, 6, 8]):
        few = fa.simulate(arm, q[some], np.zeros(arm.nv), t, **options)
        assert np.array_equal(few.q, batch.q[some])
        assert np.array_equal(few.qd, batch.qd[some])


@each("method", ["Rodas4P", "generalized-alpha"])
def test_bits_where_rows_are_exchanged(method: str) -> None:
    """Gains that turn a joint by other joints, far above those of a joint by itself."""
    arm = fa.library.random_tree(2, 26, max_modes=0, joints=("revolute",))
    n, h, rng = arm.nv, 1e-3, np.random.default_rng(4)
    gains = 1e10 * rng.normal(size=(n, n))
    gains -= gains.T
    S = fa.mass_matrix(arm, np.zeros(n)) + (0.25 * h) ** 2 * gains
    assert (
        n == 26 and (abs(S * S.T) > 100.0 * np.outer(S.diagonal(), S.diagonal())).any()
    )
    law = fa.control.JointFeedback(gains, np.eye(n), np.zeros(n), coupled=True)
    options: Any = {"torque": law, "method": method}
    if method == "Rodas4P":  # one step
        options |= {"rtol": 1e9, "atol": 1e9}
    q, t = 1e-9 * rng.normal(size=(9, n)), [0.0, h]
    batch = fa.simulate(arm, q, np.zeros(n), t, **options)
    alone = [fa.simulate(arm, x, np.zeros(n), t, **options).q for x in q]
    assert np.isfinite(batch.q).all()
    assert np.array_equal(np.stack(alone), batch.q)


def stiff_drives() -> Any:
    arm = fa.library.random_tree(5, 5, max_modes=0)
    law = fa.control.JointFeedback(
        np.full(arm.nv, 1e5), np.full(arm.nv, 1e3), 0.3 + 0.0 * arm.neutral
    )
    return arm, arm.neutral, law, np.linspace(0.0, 0.2, 5)


def damped_rod() -> Any:
    arm = steel(4, 0.02)
    return arm, np.zeros(arm.nq), None, np.linspace(0.0, 0.02, 5)


def tubes() -> Any:
    t, q0, law = manoeuvre(2, 0.02)
    return tube_arm(), q0, law, t


@pytest.mark.parametrize("case", [stiff_drives, damped_rod, tubes])
def test_error_is_that_of_the_tolerance(case: Any) -> None:
    arm, q0, law, t = case()
    options: Any = {"torque": law, "progress": False}
    exact = fa.simulate(
        arm, q0, np.zeros(arm.nv), t, method="Radau", rtol=1e-9, atol=1e-11, **options
    )
    run = fa.simulate(
        arm, q0, np.zeros(arm.nv), t, method="Rodas4P", rtol=1e-7, atol=1e-9, **options
    )
    size = np.abs(exact.qd).max()
    assert_allclose(run.q, exact.q, rtol=0, atol=1e-9)
    assert_allclose(run.qd, exact.qd, rtol=0, atol=2e-6 * size)


def test_steps_do_not_grow_with_the_number_of_pieces() -> None:
    """Vibration that the tolerance of velocities does not see is not resolved."""
    t = np.linspace(0.0, 0.2, 3)
    options: Any = {"method": "Rodas4P", "rtol": 1e-2, "atol": 1e-3}
    ends, steps = [], []
    for pieces in (2, 4, 8):
        arm = steel(pieces)
        run = fa.simulate(arm, np.zeros(arm.nq), np.zeros(arm.nv), t, **options)
        ends.append(run.tip[-1, 2])
        steps.append(int(run.steps + run.rejected))
    assert max(steps) < 120
    assert_allclose(ends[:2], ends[2], rtol=0, atol=3e-5)
