"""Tools of flexible arms that keep a direction and may spin about it."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from test_pose_paths import BENT, hat
from tip_cases import BY_NAME

import flexarm as fa
from flexarm.optimize import OptimalMotion, paths, time_optimal, track
from flexarm.optimize._collocation.tip_turn import TipTurn, TipTurnOnPath
from flexarm.reference.tracking import shooting

pytest.importorskip("casadi")

Array = Any
DOWN = np.array([0.0, 0.0, -1.0])
START = np.array([0.2, -0.6, 1.2, np.pi / 2 - 0.6])


def palletizer() -> fa.Arm:
    """Yaw, a flexible boom, a rigid forearm and a hand, in gravity."""
    bar = fa.beams.Section.rectangle(0.03, 0.03, fa.beams.ALUMINIUM)
    column = fa.RigidBody(
        "column", fa.Joint(axis=(0, 0, 1)), mass=5.0, inertia=(0.2, 0.2, 0.2)
    )
    boom = fa.beams.finite_element_link(
        "boom",
        joint=fa.Joint(axis=(0, 1, 0)),
        sections=bar,
        length=0.8,
        n_elements=2,
        motions=("bending y",),
        n_modes=2,
        damping_ratio=0.03,
    )
    rods = [
        fa.RigidBody(
            name,
            fa.Joint(axis=(0, 1, 0)),
            mass=mass,
            com=(0.5 * length, 0, 0),
            inertia=(0.01, 0.05, 0.05),
            nodes={"end": (length, 0, 0)},
        )
        for name, mass, length in (("fore", 1.0, 0.6), ("hand", 0.3, 0.2))
    ]
    return fa.Arm([column, boom, *rods])


ARM = palletizer()
FIRST = fa.tip_pose(ARM, [*START, 0.0, 0.0])
LINE = paths.line(FIRST[:3, 3], np.add(FIRST[:3, 3], [-0.1, 0.3, 0.1]))
WAY = paths.with_orientation(LINE, DOWN, axis="x")


def own_run(motion: OptimalMotion) -> tuple[Array, Array]:
    """Times and poses of the tip under the forces, by DOP853."""
    arm, n = motion.arm, motion.arm.nv

    def slope(t: float, x: Array) -> Array:
        tau = np.zeros(n)
        tau[arm.actuator_indices] = motion.torque(t)
        return np.append(x[n:], fa.forward_dynamics(arm, x[:n], x[n:], tau))

    x = np.append(motion.q[0], motion.qd[0])
    rows = [x]
    for a, b in pairwise(motion.t):
        run = solve_ivp(slope, (a, b), x, method="DOP853", rtol=1e-6, atol=1e-8)
        x = run.y[:, -1]
        rows.append(x)
    return motion.t, fa.tip_pose(arm, np.array(rows)[:, :n])


def tilt(poses: Array) -> Array:
    """Angles from the vertical; the angle about it does not matter."""
    return np.arccos(np.clip(poses[..., :3, 0] @ DOWN, -1.0, 1.0))


def test_directions_have_exact_derivatives() -> None:
    turning = paths.with_orientation(
        LINE, [[0.0, 0.0, -1.0], [0.3, 0.1, -1.0]], axis="x"
    )
    rng = np.random.default_rng(0)
    q = np.append(START, [0.0, 0.0]) + 0.2 * rng.normal(size=(4, ARM.nv))
    s = np.array([0.1, 0.5, 0.7, 0.9])
    asked = turning.orientation(s).rotation
    held = TipTurn(ARM, asked, [0, 1, 2], 0)
    sine = np.linalg.norm(held.value(q), axis=1)
    angle = turning._angles(s, fa.tip_pose(ARM, q)[:, :3, :3])
    assert_allclose(sine, np.sin(angle), atol=1e-14)
    for local, w in (
        (held, q),
        (TipTurnOnPath(ARM, turning, [0, 1, 2]), np.column_stack([q, s])),
    ):
        h = 1e-6
        for k, e in enumerate(h * np.eye(w.shape[1])):
            slope = (local.value(w + e) - local.value(w - e)) / (2.0 * h)
            assert_allclose(local.jacobian(w)[:, :, k], slope, atol=1e-9)


def test_in_the_plane_a_direction_is_an_orientation() -> None:
    """With an axis in the plane nothing is left to spin: the same forces."""
    line = paths.line([1.0, 0.5], [0.9, 0.8])
    turned = [expm(hat([0.0, 0.0, x])) for x in (0.2, 0.6)]
    whole = paths.with_orientation(line, turned)
    axis = paths.with_orientation(line, [R[:, 0] for R in turned], axis="x")
    start = paths.follow(BENT, whole).q[0]
    ways = [track(BENT, way, 1.0, start=start) for way in (whole, axis)]
    assert all(x.success for x in ways)
    assert_allclose(ways[1].tau, ways[0].tau, atol=1e-3 * np.abs(ways[0].tau).max())


@pytest.mark.parametrize(
    ("method", "options", "off", "turned"),
    [
        ("least squares", {}, 1e-5, 4e-4),
        ("shooting", {}, 1e-4, 4e-4),
        ("collocation", {"orientation_tolerance": 3e-4}, 1e-4, 3e-4),
    ],
)
def test_a_tool_of_a_flexible_arm_points_down(
    method: str, options: Any, off: float, turned: float
) -> None:
    motion = BY_NAME[method](ARM, WAY, 1.0, start=START, **options)
    assert motion.success and motion.verification is not None
    t, poses = own_run(motion)
    s = np.clip(paths.time_law("cycloidal", np.clip(t, 0.0, 1.0), 1.0).s, 0.0, 1.0)
    on = t >= 0.0
    assert np.linalg.norm(poses[:, :3, 3] - LINE(s).position, axis=1)[on].max() < off
    assert tilt(poses)[on].max() < turned
    # the column has turned it about the vertical, which nobody asked for
    assert np.arccos(poses[-1, :3, 1] @ poses[0, :3, 1]) > 0.2
    measured = motion.verification.orientation_error
    assert measured < turned
    assert tilt(poses)[on].max() < measured + 1e-6


def test_an_orientation_that_cannot_be_held_warns() -> None:
    """The boom bends sideways, and no joint turns the tool back: 1.4e-4 rad are left.

    The tolerance of the message is about that of the test above, which is held.
    """
    few = {"max_iterations": 15}
    with pytest.warns(fa.ConvergenceWarning, match="4 actuators do not lead 5"):
        motion = track(ARM, WAY, 1.0, start=START, method="collocation", search=few)
    assert not motion.success
    left, needed = (float(x) for x in re.findall(r"(\S+) rad", motion.message))
    best = shooting(ARM, WAY, 1.0, start=START, search={"intervals": 20}, check=False)
    assert left == pytest.approx(best.errors.orientation, rel=0.05)
    assert needed == pytest.approx(3.2e-4, rel=0.1)


@pytest.mark.slow
def test_the_fastest_motion_with_a_tool_that_points_down() -> None:
    limits = {"torque": [20.0, 60.0, 30.0, 10.0]}
    motion = time_optimal(ARM, WAY, start=START, limits=limits)
    assert motion.success
    _, poses = own_run(motion)
    points = LINE(np.linspace(0.0, 1.0, 2001)).position
    far = np.linalg.norm(poses[:, None, :3, 3] - points, axis=-1).min(axis=1)
    assert far.max() < 4.1e-4
    assert tilt(poses).max() < 3.1e-3
    assert (np.abs(motion.tau) <= np.array(limits["torque"]) + 1e-6).all()
    rigid = motion.fastest.rigid
    assert motion.duration > 0.9 * rigid.duration
