"""Corrections of implicit steps by articulated bodies (O8), beside those by the full S.

Gains of a coupled feedback have no place in O8, so that with such gains, all zero, the
same run takes S (O2) alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from test_many_unknowns import rod, steel

import flexarm as fa

# modes of the tests are chosen for other purposes
pytestmark = [
    pytest.mark.filterwarnings("ignore::flexarm.ModeWarning"),
    pytest.mark.filterwarnings("ignore::flexarm.AccuracyWarning"),
    pytest.mark.filterwarnings("ignore::flexarm.StiffeningWarning"),
    pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning"),
]
METHODS = ("newmark", "linear-acceleration", "generalized-alpha")
JOINTS = ("revolute", "prismatic", "helical", "cylindrical", "planar", "universal")


def feedback(arm: fa.Arm, kp: Any, kd: Any, coupled: bool) -> Any:
    gains = [np.diag(k) if coupled else k for k in (kp, kd)]
    return fa.control.JointFeedback(*gains, np.zeros(arm.nu), coupled=coupled)


def both(arm: fa.Arm, q: Any, qd: Any, t: Any, gain: float, **options: Any) -> Any:
    """Runs with O8 and with S."""
    gains = gain * np.linspace(1.0, 2.0, arm.nu), 0.1 * gain * np.ones(arm.nu)
    return [
        fa.simulate(arm, q, qd, t, torque=feedback(arm, *gains, coupled), **options)
        for coupled in (False, True)
    ]


@each("seed", range(6))
@each("gain", [0.0, 300.0])
@each("method", METHODS)
def test_steps_are_those_of_the_full_matrix(
    method: str, gain: float, seed: int
) -> None:
    """Joints with armature and damping, floating bodies, trees, modes of all kinds."""
    arm = fa.library.random_tree(seed, n_bodies=5, max_modes=4, joints=JOINTS)
    rng, h = np.random.default_rng(seed), 5e-4
    q = fa.integrate(arm, arm.neutral, 0.02 * rng.normal(size=arm.nv))
    qd = 0.3 * rng.normal(size=arm.nv)
    local, full = both(arm, q, qd, h * np.arange(9), gain, method=method)
    scale = np.abs(full.qd).max()
    away = fa.difference(arm, full.q[-1], local.q[-1])
    assert_allclose(away, 0.0, rtol=0, atol=1e-9 * h * scale * 8)
    assert_allclose(local.qd, full.qd, rtol=0, atol=2e-8 * scale)
    assert not np.array_equal(local.qd, full.qd)  # two ways, indeed


def calls_of(arm: fa.Arm, h: float, steps: int) -> float:
    """Iterations of a step, each of which asks for forces once."""
    calls = 0

    def count(t: float, q: Any, qd: Any) -> Any:
        nonlocal calls
        calls += 1
        return np.zeros((*q.shape[:-1], arm.nu))

    run = fa.simulate(
        arm,
        arm.neutral,
        np.zeros(arm.nv),
        [0.0, steps * h],
        method="generalized-alpha",
        max_step=h,
        torque=count,
    )
    assert run.success
    return calls / steps


@each("case", [("steel", 1e-4, 3.1), ("steel", 1e-3, 3.1), ("soft", 1e-3, 4.1)])
def test_iterations_do_not_grow_with_the_number_of_pieces(
    case: tuple[str, float, float],
) -> None:
    kind, h, most = case
    for pieces in (4, 16, 40):
        arm = steel(pieces) if kind == "steel" else rod(pieces, 0.02, 1e6)
        assert calls_of(arm, h, 20) < most + 0.15


@each("modes", [2, 20])
@each("gain", [0.0, 30.0])
def test_joints_with_armature_and_damping(gain: float, modes: int) -> None:
    """Twenty modes are freed by constants in forward dynamics, here one by one.

    Where gains pull the joint of such a link at once, steps begin too far away for O8.
    """
    links = [
        fa.beams.flexible_link(
            f"link{k}",
            length=1.0,
            mass_per_length=1.0,
            joint=fa.Joint(axis=axis, damping=3.0, armature=0.2 * k),
            bending_y=fa.beams.clamped_beam_modes(1.0, 1.0, 100.0, modes),
        )
        for k, axis in enumerate([(0, 0, 1), (0, 1, 0), (0, 0, 1)])
    ]
    arm = fa.Arm(links)
    q, t = np.zeros(arm.nv), 1e-3 * np.arange(9)
    q[:3] = 0.4, -0.7, 1.1
    local, full = both(arm, q, 0.1 * q, t, gain, method="newmark")
    assert_allclose(local.qd, full.qd, rtol=0, atol=2e-8 * np.abs(full.qd).max())
    assert (gain > 0.0 and modes > 2) or not np.array_equal(local.qd, full.qd)


def test_lanes_that_do_not_contract_take_the_full_matrix() -> None:
    """A whirling arm in long steps has the bits of the full matrix.

    Those of the others differ, and are the same alone.
    """
    arm = fa.library.random_tree(3, n_bodies=5, max_modes=3, joints=("revolute",))
    rng, t = np.random.default_rng(1), 0.02 * np.arange(2)
    q, qd = 0.02 * rng.normal(size=(2, 9, arm.nv))
    qd[4:6] *= 1000.0
    options: Any = {"method": "generalized-alpha"}
    local, full = both(arm, q, qd, t, 0.0, **options)
    assert local.success
    same = [np.array_equal(a, b) for a, b in zip(local.qd, full.qd, strict=True)]
    assert same == [k in (4, 5) for k in range(9)]
    for k in range(9):
        alone = both(arm, q[k], qd[k], t, 0.0, **options)[0]
        assert np.array_equal(alone.qd, local.qd[k])


def test_a_run_goes_back_to_local_terms() -> None:
    """A violent start, then the same error as the full matrix for long."""
    arm = fa.library.random_tree(3, n_bodies=5, max_modes=3, joints=("revolute",))
    rng, t = np.random.default_rng(1), 0.01 * np.arange(30)
    q, qd = 0.02 * rng.normal(size=(2, arm.nv))
    local, full = both(arm, q, 500.0 * qd, t, 3.0, method="newmark")
    assert local.success and full.success
    assert_allclose(local.qd, full.qd, rtol=0, atol=1e-5 * np.abs(full.qd).max())
