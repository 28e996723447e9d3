"""Chapter 5 of Farid (1997) by loop constraints: redundant coordinates, multipliers.

The thesis writes each link in coordinates of its own and ties them with constraints and
Lagrange multipliers, 54 coordinates and 20 rows of which 4 follow from the others.  In
flexarm the same arm is a tree of 38 coordinates with its rotors, or 34 without, or has
its joints cut: each link, with shafts each rotor, is a free body, with five rows a
joint, 48 coordinates and 10 rows, none of which follows from the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import Array
from cut_joints import cut, cut_forces, cut_state

import flexarm as fa

# the arms of the thesis have none, at any speed
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.StiffeningWarning")


TORQUE = np.array([250.0, 300.0, 300.0, 300.0])  # E9, L2422
POSE = np.array([0.4636476, 0.6, -0.9, -0.4])


def spatial_arm(stiffness: float | None, shafts: bool = False) -> fa.Arm:
    """The arm of E9 with rigid links for None; with shafts, rotors as bodies.

    With a gear ratio of one a rotor is a body on the joint, and carries the link on a
    joint with the spring of the shaft: then it may have the three moments of inertia of
    the thesis.
    """
    arm = fa.library.farid_spatial(
        bending_stiffness=stiffness or 1.0,
        torsional_stiffness=stiffness or 1.0,
        joint_stiffness=5e3 if shafts else None,
        elements=0 if stiffness is None else 2,
    )
    return explicit(arm, 5e3) if shafts else arm


def explicit(arm: fa.Arm, stiffness: float) -> fa.Arm:
    """Drives of ratio one as bodies, in the order of their coordinates."""
    bodies: list[Any] = []
    for k, body in enumerate(arm.bodies):
        drive, joint = body.joint.drive, body.joint
        if drive is None:
            bodies.append(body)
            continue
        about, across = drive.rotor_inertia, drive.rotor_transverse_inertia
        axis = np.asarray(joint.axis)
        inertia = across * np.eye(3) + (about - across) * np.outer(axis, axis)
        if k > 1:  # the stator, on the tip of the link before
            parent = arm.bodies[k - 1].name
            fixed = fa.Joint("fixed", parent=parent, node="tip")
            mass = float(drive.stator_mass)
            moments = drive.stator_inertia
            name = f"stator of {body.name}"
            stator = fa.RigidBody(name, fixed, mass=mass, inertia=moments)
            bodies.append(stator)
        parent = arm.bodies[k - 1].name if k else "ground"
        on = fa.Joint(axis=axis, parent=parent, node="base" if k == 1 else "tip")
        rotor = f"rotor of {body.name}"
        bodies.append(
            fa.RigidBody(rotor, on, mass=float(drive.rotor_mass), inertia=inertia)
        )
        spring = fa.Joint(axis=axis, parent=rotor, node="base", stiffness=stiffness)
        bodies.append(body.replace(joint=spring))
    return fa.Arm(bodies, gravity=arm.gravity, name="explicit")


def test_drives_are_bodies_with_springs() -> None:
    """A `Drive` of ratio one, and the same rotor, stator and spring as bodies."""
    driven = fa.library.farid_spatial()
    bodies = explicit(driven, 5e3)
    assert bodies.nv == driven.nv == 38
    # joints of the drives: angle of the link; of the bodies: rotor, then twist
    Q = np.zeros((38, 38))
    for k in range(4):
        Q[2 * k, 4 + k] = 1.0
        Q[2 * k + 1, k], Q[2 * k + 1, 4 + k] = 1.0, -1.0
    Q[8:, 8:] = np.eye(30)
    rng = np.random.default_rng(0)
    q, qd = rng.normal(size=(2, 5, 38))
    M = Q.T @ fa.mass_matrix(bodies, q @ Q.T) @ Q
    assert np.abs(M - fa.mass_matrix(driven, q)).max() < 1e-13 * M.max()
    torque = np.zeros(bodies.nu)
    torque[::2] = TORQUE
    ours = fa.forward_dynamics(driven, q, qd, TORQUE) @ Q.T
    theirs = fa.forward_dynamics(bodies, q @ Q.T, qd @ Q.T, torque)
    assert np.abs(ours - theirs).max() < 1e-10 * np.abs(theirs).max()


def random_state(arm: fa.Arm, seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    q, qd = np.zeros(arm.nq), rng.normal(size=arm.nv)
    q[:] = 0.02 * rng.normal(size=arm.nq)
    qd *= 0.3
    torque, driven = np.zeros(arm.nu), slice(None, None, arm.nu // 4)
    torque[driven] = TORQUE * rng.uniform(0.5, 1.5, 4)
    q[: arm.nu][driven] = POSE + 0.3 * rng.normal(size=4)
    qd[: arm.nu][driven] = rng.normal(size=4)
    return q, qd, torque


CUTS = [["link2"], ["link2", "link3"], ["link1", "link2", "link3"]]
ROTORS = ["rotor of link2", "rotor of link3"]  # with shafts


@pytest.mark.parametrize(
    ("stiffness", "names", "expected"),
    [
        (None, CUTS[1], (14, 10)),  # 2 joints and two free bodies: 4 are left
        (None, CUTS[2], (19, 15)),
        (5000.0, CUTS[1], (44, 10)),  # the cuts of the thesis: 34 are left
        (5000.0, CUTS[2], (49, 15)),
        (None, ROTORS, (18, 10)),  # with shafts: 8 and, below, 38 are left
        (5000.0, ROTORS, (48, 10)),
    ],
)
def test_coordinates_and_multipliers(
    stiffness: float | None, names: list[str], expected: tuple[int, int]
) -> None:
    tree = spatial_arm(stiffness, names is ROTORS)
    arm = cut(tree, names)
    assert (arm.nv, len(arm.constraint_names)) == expected
    assert expected[0] - expected[1] == tree.nv
    q, qd, _ = random_state(tree, 0)
    q2, _ = cut_state(tree, arm, q, qd)
    assert np.linalg.matrix_rank(fa.constraint_jacobian(arm, q2)) == expected[1]
    assert fa.redundant_constraints(arm, q2) == ()


@pytest.mark.parametrize("names", [*CUTS, ROTORS])
@pytest.mark.parametrize("stiffness", [None, 5000.0, 200.0])
def test_forward_dynamics_with_joints_cut(
    stiffness: float | None, names: list[str]
) -> None:
    tree = spatial_arm(stiffness, names is ROTORS)
    arm = cut(tree, names)
    for seed in range(5):
        q, qd, torque = random_state(tree, seed)
        q2, qd2 = cut_state(tree, arm, q, qd)
        A = fa.constraint_jacobian(arm, q2)
        assert np.abs(fa.constraint_violation(arm, q2)).max() < 1e-14
        assert np.abs(A @ qd2).max() < 1e-13
        qdd = fa.forward_dynamics(tree, q, qd, torque)
        ours = fa.forward_dynamics(arm, q2, qd2, cut_forces(tree, arm, q2, torque))
        # accelerations of the tip, and of all modes
        n = tree.nv - tree.nu
        scale = max(1.0, np.abs(qdd).max())
        assert (
            np.abs(ours[arm.nv - n :] - qdd[tree.nu :]).max(initial=0.0) < 1e-10 * scale
        )
        tip = fa.node_acceleration(tree, q, qd, qdd)
        assert np.abs(fa.node_acceleration(arm, q2, qd2, ours) - tip).max() < (
            1e-10 * scale
        )


@pytest.mark.parametrize("stiffness", [None, 5000.0])
def test_multipliers_are_the_forces_in_the_joints(stiffness: float | None) -> None:
    """Moments and forces across a joint but for the one about its axis, as cut forces.

    From inverse dynamics of the tree: what a fixed joint in place of the axis carries.
    """
    tree = spatial_arm(stiffness)
    arm = cut(tree, ["link3"])
    q, qd, torque = random_state(tree, 3)
    q2, qd2 = cut_state(tree, arm, q, qd)
    force = fa.constraint_forces(arm, q2, qd2, cut_forces(tree, arm, q2, torque))
    # link 3 alone on a free joint, moved as it moves in the tree
    alone = cut(tree, ["link3"]).replace(constraints=())
    qdd2 = fa.forward_dynamics(arm, q2, qd2, cut_forces(tree, arm, q2, torque))
    needed = fa.inverse_dynamics(alone, q2, qd2, qdd2)
    applied = cut_forces(tree, arm, q2, torque)
    A = fa.constraint_jacobian(arm, q2)
    size = np.abs(needed).max()
    assert np.abs(needed - applied - A.T @ force).max() < 1e-10 * size


def gap(stiffness: float | None, step: float) -> tuple[float, float]:
    """Drift of the cut arm and its distance from the tree after a fifth of a second."""
    tree = spatial_arm(stiffness)
    arm = cut(tree, CUTS[1])
    q = np.zeros(tree.nq)
    q[:4] = POSE
    rest = np.zeros(tree.nv)
    q2, rest2 = cut_state(tree, arm, q, rest)
    t = np.arange(round(0.2 / step) + 1) * step

    def pull(_: float, at: Array, __: Array) -> Array:
        return cut_forces(tree, arm, at, TORQUE)

    one = fa.simulate(tree, q, rest, t, torque=np.tile(TORQUE, (len(t), 1)))
    two = fa.simulate(arm, q2, rest2, t, torque=pull, progress=False)
    # in place of success: soft links go beyond the range of their model
    assert one.completed == two.completed == len(t)
    drift = np.abs(fa.constraint_violation(arm, two.q)).max()
    apart = np.abs(fa.tip_pose(tree, one.q) - fa.tip_pose(arm, two.q)).max()
    return float(drift), float(apart)


def test_motions_of_rigid_links_agree() -> None:
    # the time loop projects on the loops, so nothing drifts; what is left is of the
    # order of the integrator in other coordinates
    drift, coarse = gap(None, 2e-3)
    assert drift < 1e-14
    assert coarse / gap(None, 1e-3)[1] == pytest.approx(16.0, rel=0.3)
    assert coarse < 3e-7


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
def test_motions_of_flexible_links_agree() -> None:
    drift, apart = gap(200.0, 5e-5)
    assert drift < 1e-14
    assert apart < 3e-7
