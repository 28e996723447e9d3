"""Rigid arms whose joint axes are parallel, square or skew, beside twin and Pinocchio.

The model turns the axes of bodies about their joints and knows right angles, parallel
axes, joints on an axis of the parent (V1): each of these has code of its own.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from arrays import Array
from each import each

import flexarm as fa
from flexarm.reference import twin

RTOL = 1e-12
ANGLES = {"0": 0, "90": 1, "180": 2, "-90": 3}  # quarter turns, exact
PLACES = {
    "none": (0, 0, 0),
    "x": (0.4, 0, 0),
    "y": (0, -0.3, 0),
    "z": (0, 0, 0.5),
    "xy": (0.4, 0.2, 0),
    "xz": (-0.1, 0, 0.3),
    "xyz": (0.1, -0.2, 0.3),
}


def quarter(axis: int, quarters: int) -> Array:
    """Rotation about a coordinate axis by exact quarter turns."""
    return turned(axis, *((1, 0), (0, 1), (-1, 0), (0, -1))[quarters % 4])


def about(axis: int, angle: float) -> Array:
    return turned(axis, np.cos(angle), np.sin(angle))


def turned(axis: int, c: float, s: float) -> Array:
    """Rotation about a coordinate axis by the cosine and sine of its angle."""
    R = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    return R


def body(rng: np.random.Generator, k: int, joint: fa.Joint) -> fa.RigidBody:
    half = rng.normal(size=(3, 3))
    inertia = half @ half.T
    inertia = 0.5 * np.trace(inertia) * np.eye(3) - 0.3 * inertia
    return fa.RigidBody(
        f"b{k}",
        joint,
        mass=rng.uniform(0.5, 2.0),
        com=rng.uniform(-0.3, 0.3, 3),
        inertia=inertia,
        nodes={"tip": rng.uniform(-0.2, 0.2, 3)},
    )


def arm_of(rng: np.random.Generator, joints: list[fa.Joint]) -> fa.Arm:
    return fa.Arm([body(rng, k, joint) for k, joint in enumerate(joints)])


def hops(rng: np.random.Generator, R: Array, place: Any) -> fa.Arm:
    """Four joints, each turned and placed in the same way in the body before."""
    behind = fa.Joint(rotation=R, position=place)
    return arm_of(rng, [fa.Joint(axis=(0, 0, 1)), behind, behind, behind])


def assert_dynamics(arm: fa.Arm, seed: int = 0) -> None:
    """Inverse and forward dynamics equal the twin, which knows no special hop."""
    rng = np.random.default_rng(seed)
    for _ in range(2):
        q, qd, x = rng.uniform(-3, 3, (3, arm.nv))
        tau = twin.inverse_dynamics(arm, q, qd, x)
        scale = np.abs(tau).max()
        assert np.abs(fa.inverse_dynamics(arm, q, qd, x) - tau).max() <= RTOL * scale
        bias = twin.inverse_dynamics(arm, q, qd, np.zeros(arm.nv))
        assert np.abs(fa.bias_forces(arm, q, qd) - bias).max() <= RTOL * scale
        qdd = fa.forward_dynamics(arm, q, qd, tau)
        M = twin.mass_matrix(arm, q)
        error = RTOL * np.linalg.cond(M) * np.abs(x).max()
        assert np.abs(qdd - x).max() <= error
        # kernels that see R and r of the same hops
        assert np.abs(fa.mass_matrix(arm, q) - M).max() <= RTOL * np.abs(M).max()


@each("place", list(PLACES))
@each("angle", list(ANGLES))
def test_exact_angles_and_places(angle: str, place: str) -> None:
    """Four joints, each the quarter turns about x from the one before."""
    rng = np.random.default_rng(3)
    assert_dynamics(hops(rng, quarter(0, ANGLES[angle]), PLACES[place]))


@each("turn", range(4))
@each("before", range(4))
@pytest.mark.parametrize("place", ["x", "y", "z", "xyz"])
def test_turns_before_and_behind_the_angle(before: int, turn: int, place: str) -> None:
    """The parent takes the first angle, sine and cosine of the joint take the last."""
    rng = np.random.default_rng(4)
    R = quarter(2, before) @ quarter(0, 1) @ quarter(2, turn)
    assert_dynamics(hops(rng, R, PLACES[place]))


@pytest.mark.parametrize("alpha", [1e-16, 1e-12, 1e-6, 0.3, 2.0, np.pi - 1e-9, np.pi])
def test_any_angle(alpha: float) -> None:
    rng = np.random.default_rng(5)
    joints = [fa.Joint(axis=(0, 0, 1))]
    for k in range(4):
        R = about(2, 0.7 * k) @ about(0, alpha) @ about(2, 1.0 - k)
        joints.append(fa.Joint(rotation=R, position=rng.uniform(-0.4, 0.4, 3)))
    assert_dynamics(arm_of(rng, joints))


@each("delta", [1e-9, -1e-12, 1.4e-8, 1e-7, np.pi + 1e-9])
@pytest.mark.parametrize("alpha", [0.0, 0.5 * np.pi, 0.3])
def test_small_angles_behind_that_of_the_axes(alpha: float, delta: float) -> None:
    """Their cosine is one to rounding, they themselves are no rounding."""
    rng = np.random.default_rng(12)
    R = about(0, alpha) @ about(2, delta)
    assert_dynamics(hops(rng, R, (0.2, 0.1, 0.3)))


@pytest.mark.parametrize("first", ["x", "y", "z", "-x", "-y", "-z", "skew"])
def test_joint_axes_in_all_directions(first: str) -> None:
    """The same joint frames with axes given in the frames of the bodies."""
    rng = np.random.default_rng(6)
    axes = {c: np.eye(3)["xyz".index(c)] for c in "xyz"}
    axes |= {"-" + c: -axis for c, axis in axes.items()}
    axes["skew"] = np.array([0.3, -0.5, 0.8])
    joints = [
        fa.Joint(axis=axes[first]),
        *(fa.Joint(axis=a, position=(0.2, 0, 0.3)) for a in axes.values()),
    ]
    assert_dynamics(arm_of(rng, joints))


@each("kinds", product(("revolute", "prismatic", "fixed", "helical"), repeat=2))
def test_trees_with_several_children(kinds: tuple[str, str]) -> None:
    """The second child of a body has a general hop, and so have other joints."""
    rng = np.random.default_rng(7)
    at = [PLACES["x"], PLACES["z"], PLACES["xyz"]]
    pitch = [{"pitch": 0.1} if kind == "helical" else {} for kind in kinds]
    joints = [
        fa.Joint(axis=(0, 0, 1)),
        fa.Joint(axis=(0, 1, 0), parent="b0", position=at[0]),
        fa.Joint(axis=(0, 1, 0), parent="b0", position=at[1]),
        fa.Joint(kinds[0], axis=(1, 0, 0), parent="b1", position=at[2], **pitch[0]),
        fa.Joint(axis=(1, 0, 0), parent="b1", position=at[2]),
        fa.Joint(kinds[1], axis=(0, 0, 1), parent="b2", position=at[0], **pitch[1]),
        fa.Joint(axis=(0, 1, 0), parent="b3", position=at[1]),
        fa.Joint(axis=(0, 1, 0), parent="b5", position=at[1]),
        fa.Joint(axis=(1, 0, 0), parent="b7", position=at[1]),
    ]
    assert_dynamics(arm_of(rng, joints))


@each("kind", ["prismatic", "fixed", "revolute"])
@each("count", [1, 2, 3])
def test_short_arms_on_any_first_joint(kind: str, count: int) -> None:
    rng = np.random.default_rng(8)
    first = fa.Joint(kind, axis=(0.6, 0, 0.8), position=(0.1, 0.2, 0.3))
    rest = [
        fa.Joint(axis=((0, 1, 0), (1, 0, 0))[k % 2], position=(0.1, 0, 0.4))
        for k in range(count)
    ]
    assert_dynamics(arm_of(rng, [first, *rest]))


def test_two_arms_on_one_ground() -> None:
    rng = np.random.default_rng(9)
    joints = [fa.Joint(axis=(0, 0, 1))]
    joints += [fa.Joint(axis=(0, 1, 0), position=(0.3, 0, 0))]
    joints += [fa.Joint(axis=(1, 0, 0), parent="ground", position=(0, 1, 0))]
    joints += [fa.Joint(axis=(0, 1, 0), position=(0.3, 0, 0))]
    assert_dynamics(arm_of(rng, joints))


@pytest.mark.parametrize("quarters", range(4))
def test_planar_arms_stay_in_their_plane(quarters: int) -> None:
    """Without a force across it, exactly: zeros of the model are zeros of the result.

    The last joint, across the plane, moves only if something leaves the plane.
    """
    joints = [fa.Joint(axis=(0, 0, 1))]
    joints += [
        fa.Joint(position=(0.5, 0, 0), rotation=quarter(2, quarters)) for _ in range(3)
    ]
    joints += [fa.Joint(axis=(1, 0, 0), position=(0.5, 0, 0))]
    bodies = [
        fa.RigidBody(
            f"b{k}",
            joint,
            mass=1.0,
            com=(0.25, 0, 0),
            inertia=(0.01, 0.03, 0.03),
            nodes={"tip": (0, 0, 0)},
        )
        for k, joint in enumerate(joints)
    ]
    arm = fa.Arm(bodies, gravity=(0, -9.81, 0))
    rng = np.random.default_rng(10)
    q, qd, tau = rng.uniform(-3, 3, (3, 20, 5))
    q[:, 4] = qd[:, 4] = tau[:, 4] = 0.0
    assert (fa.inverse_dynamics(arm, q, qd, tau)[:, 4] == 0.0).all()
    assert (fa.forward_dynamics(arm, q, qd, tau)[:, 4] == 0.0).all()


def test_rotations_orthogonal_to_a_tolerance_are_kept() -> None:
    """Frames need be orthogonal to 1e-9 only: bodies are where the given ones say."""
    rng = np.random.default_rng(11)
    R = about(0, 0.5) @ about(2, 0.3) + rng.uniform(-2e-10, 2e-10, (3, 3))
    arm = hops(rng, R, (0.1, 0.2, 0.3))
    q = rng.uniform(-3, 3, 4)
    pose = about(2, q[0])
    for angle in q[1:]:
        pose = pose @ R @ about(2, angle)
    assert np.abs(fa.tip_pose(arm, q)[:3, :3] - pose).max() < 1e-14


@each("seed", range(14))
def test_pinocchio_agrees_on_industrial_arms(seed: int) -> None:
    """Axes along those of the body before, six joints, any masses."""
    pytest.importorskip("pinocchio", reason="second opinion, pip install pin")
    from pinocchio_models import to_pinocchio

    rng = np.random.default_rng(seed)
    places = list(PLACES.values())
    joints = [
        fa.Joint(
            axis=rng.choice([-1, 1]) * np.eye(3)[rng.integers(3)],
            position=places[rng.integers(len(places))],
            rotation=quarter(rng.integers(3), rng.integers(4)),
        )
        for _ in range(6)
    ]
    arm = arm_of(rng, joints)
    other = to_pinocchio(arm)
    q, qd, x = rng.uniform(-3, 3, (3, 6))
    tau = other.inverse_dynamics(q, qd, x)
    error = np.abs(fa.inverse_dynamics(arm, q, qd, x) - tau).max()
    assert error <= RTOL * np.abs(tau).max()
    qdd = other.forward_dynamics(q, qd, tau)
    condition = np.linalg.cond(other.mass_matrix(q))
    error = np.abs(fa.forward_dynamics(arm, q, qd, tau) - qdd).max()
    assert error <= RTOL * condition * np.abs(qdd).max()
