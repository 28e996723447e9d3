"""Chapter 5 of Farid (1997) by loop constraints: redundant coordinates, multipliers.

The thesis writes each link in coordinates of its own and ties them with constraints and
Lagrange multipliers, 54 coordinates and 20 rows of which 4 follow from the others.  In
flexarm the same arm is a tree of 38 coordinates with its rotors, or 34 without, or has
its joints cut: each link a free body, five rows a joint, no row redundant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cut_joints import cut, cut_forces, cut_state
from farid_cases import tangent_link
from numpy.typing import NDArray

import flexarm as fa
from flexarm.reference import farid_spatial as farid

Array = NDArray[np.float64]

TORQUE = np.array([250.0, 300.0, 300.0, 300.0])  # E9, L2422
POSE = np.array([0.4636476, 0.6, -0.9, -0.4])


def spatial_arm(stiffness: float | None) -> fa.Arm:
    """The arm of E9 without drives; rigid links for None."""
    P = farid.Parameters(stiffness or 1.0, stiffness or 1.0, 1.0)
    bodies: list[Any] = [fa.RigidBody("base", inertia=(0.1, 0.1, 0.15))]
    for k in range(3):
        joint = fa.Joint(axis=(0, -1, 0), node="base" if k == 0 else "tip")
        link: Any = tangent_link(f"link{k + 1}", P, joint)
        if stiffness is None:
            link = fa.RigidBody(
                f"link{k + 1}",
                joint,
                mass=5.0,
                com=(0.5, 0, 0),
                inertia=(0.05, 5.0 / 12.0, 5.0 / 12.0),
                nodes={"tip": (1, 0, 0)},
            )
        bodies.append(link)
        stator = fa.RigidBody(
            f"actuator{k + 2}",
            fa.Joint("fixed"),
            mass=0.4 if k < 2 else 2.0,
            inertia=(0.2, 0.1, 0.1),
        )
        bodies.append(stator)
    return fa.Arm(bodies, name="farid_spatial")


def random_state(arm: fa.Arm, seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    q, qd = np.zeros(arm.nq), rng.normal(size=arm.nv)
    q[:4] = POSE + 0.3 * rng.normal(size=4)
    q[4:] = 0.02 * rng.normal(size=arm.nq - 4)
    qd[4:] *= 0.3
    return q, qd, TORQUE * rng.uniform(0.5, 1.5, 4)


CUTS = [["link2"], ["link2", "link3"], ["link1", "link2", "link3"]]


def counts(arm: fa.Arm) -> tuple[int, int]:
    return arm.nv, len(arm.constraint_names)


@pytest.mark.parametrize(
    ("stiffness", "names", "expected"),
    [
        (None, CUTS[1], (14, 10)),  # 2 joints and two free bodies: 4 are left
        (None, CUTS[2], (19, 15)),
        (5000.0, CUTS[1], (44, 10)),  # the cuts of the thesis: 34 are left
        (5000.0, CUTS[2], (49, 15)),
    ],
)
def test_coordinates_and_multipliers(
    stiffness: float | None, names: list[str], expected: tuple[int, int]
) -> None:
    tree = spatial_arm(stiffness)
    arm = cut(tree, names)
    assert counts(arm) == expected
    assert expected[0] - expected[1] == tree.nv
    q, qd, _ = random_state(tree, 0)
    q2, _ = cut_state(tree, arm, q, qd)
    assert np.linalg.matrix_rank(fa.constraint_jacobian(arm, q2)) == expected[1]
    assert fa.redundant_constraints(arm, q2) == ()


@pytest.mark.parametrize("names", CUTS)
@pytest.mark.parametrize("stiffness", [None, 5000.0, 200.0])
def test_forward_dynamics_with_joints_cut(
    stiffness: float | None, names: list[str]
) -> None:
    tree = spatial_arm(stiffness)
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
        assert np.abs(ours[arm.nv - n :] - qdd[4:]).max(initial=0.0) < 1e-10 * scale
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
    qdd = fa.forward_dynamics(tree, q, qd, torque)
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
    assert np.abs(qdd).max() < np.inf


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
    assert one.success
    assert two.success
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
def test_motions_of_flexible_links_agree() -> None:
    drift, apart = gap(200.0, 5e-5)
    assert drift < 1e-14
    assert apart < 3e-7
