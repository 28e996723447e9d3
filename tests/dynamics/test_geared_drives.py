"""Rigid gears without motor coordinates: the arm with them, q_motor = N q_joint."""

from __future__ import annotations

import pickle

import numpy as np
from each import each
from numpy.testing import assert_allclose, assert_array_equal
from refusals import argument_refused

import flexarm as fa


def geared(seed: int) -> fa.Arm:
    """A random tree whose turning joints have rigid drives of all kinds."""
    rng = np.random.default_rng(seed)
    joints = ("revolute", "revolute", "helical", "fixed", "prismatic")
    tree = fa.library.random_tree(rng, 6, 2 * (seed % 3 == 2), joints=joints)
    bodies = []
    for b in tree.bodies:
        if b.joint.n_dof == 1 and b.joint.kind != "prismatic":
            drive = fa.Drive(
                np.inf,
                gear_ratio=rng.uniform(-5.0, 5.0),
                rotor_inertia=rng.uniform(0.05, 0.2),
                rotor_mass=0.3,
                rotor_transverse_inertia=0.07,
                motor_damping=0.02,
                motor_friction=fa.CoulombFriction(0.1, 0.2),
                stator_mass=0.1,
                stator_inertia=0.05,
            )
            b = b.replace(joint=b.joint.replace(drive=drive))
        bodies.append(b)
    result: fa.Arm = tree.replace(bodies=bodies)
    return result


def near(value: object, expected: object, rtol: float = 1e-13) -> None:
    size = max(1.0, float(np.abs(np.asarray(expected)).max(initial=0.0)))
    assert_allclose(value, expected, rtol=0.0, atol=rtol * size)


@each("seed", range(12))
def test_the_same_motion_as_with_motors(seed: int) -> None:
    arm = geared(seed)
    held = arm.replace(couplings="constrained")
    B = np.zeros((held.nv, arm.nv))  # motors of flexible bodies keep coordinates
    for i, name in enumerate(held.coordinate_names):
        if name in arm.coordinate_names:
            B[i, arm.coordinate_names.index(name)] = 1.0
            continue
        joint = name.removesuffix(".motor")
        drive = arm.bodies[arm.body_index(joint)].joint.drive
        B[i, arm.coordinate_names.index(joint)] = drive.gear_ratio
    rng = np.random.default_rng(seed)
    q, qd, qdd, tau = 0.3 * rng.normal(size=(4, 5, arm.nv))
    Q, QD, QDD = (x @ B.T for x in (q, qd, qdd))
    near(
        fa.inverse_dynamics(arm, q, qd, qdd), fa.inverse_dynamics(held, Q, QD, QDD) @ B
    )
    near(fa.mass_matrix(arm, q), B.T @ fa.mass_matrix(held, Q) @ B)
    near(fa.gravity_forces(arm, q), fa.gravity_forces(held, Q) @ B)
    near(fa.energy(arm, q, qd), fa.energy(held, Q, QD))
    near(fa.momentum(arm, q, qd), fa.momentum(held, Q, QD))
    near(fa.center_of_mass(arm, q), fa.center_of_mass(held, Q))
    near(fa.dissipated_power(arm, q, qd), fa.dissipated_power(held, Q, QD))
    near(arm.damping_matrix, B.T @ held.damping_matrix @ B)
    # forces that hold the gears, all of them there, some of them here
    own = [held.coordinate_names.index(name) for name in arm.coordinate_names]
    force = np.zeros((5, held.nv))
    force[:, own] = tau
    expected = fa.forward_dynamics(held, Q, QD, force)[:, own]
    rtol = 1e-14 * float(np.linalg.cond(fa.mass_matrix(held, Q)).max())
    near(fa.forward_dynamics(arm, q, qd, tau), expected, max(rtol, 1e-13))


def test_names_copies_and_refusals() -> None:
    arm = geared(0)
    assert not any(name.endswith(".motor") for name in arm.coordinate_names)
    assert arm.nu == arm.nv and arm.constraints == () and "rigid, gear" in str(arm)
    again = pickle.loads(pickle.dumps(arm))
    assert again == arm
    q, qd, tau = np.random.default_rng(0).normal(size=(3, arm.nv))
    assert_array_equal(
        fa.forward_dynamics(again, q, qd, tau), fa.forward_dynamics(arm, q, qd, tau)
    )
    assert arm.replace(couplings="constrained").replace(couplings="eliminated") == arm
    for call in (
        lambda: fa.operators(arm, q),
        lambda: fa.reference.twin.mass_matrix(arm, q),
        lambda: fa.reference.lagrangian.mass_matrix(arm, q),
        lambda: fa.reference.motors.expanded(arm),
        lambda: fa.inertial_parameters(arm),
    ):
        argument_refused(["rigid drives", "couplings='constrained'"], call)


def test_a_rotor_on_the_ground_is_an_armature() -> None:
    drive = fa.Drive(np.inf, gear_ratio=50.0, rotor_inertia=2e-4)
    rods = [
        fa.RigidBody("rod", fa.Joint(**how), mass=1.0, com=(0.5, 0, 0))
        for how in ({"drive": drive}, {"armature": 0.5})
    ]
    geared_rod, armed = (fa.Arm([rod]) for rod in rods)
    assert_allclose(fa.mass_matrix(geared_rod, [0.3]), [[0.25 + 0.5]], rtol=1e-14)
    state = [0.3], [0.2], [4.0]
    assert_allclose(
        fa.forward_dynamics(geared_rod, *state),
        fa.forward_dynamics(armed, *state),
        rtol=1e-13,
    )


def test_stacks_of_geared_arms() -> None:
    arms = [geared(0), geared(0).replace(gravity=(0, 0, -3.0))]
    stack = fa.stack(arms)
    q, qd, tau = np.random.default_rng(1).normal(size=(3, arms[0].nv))
    found = fa.forward_dynamics(stack, q, qd, tau)
    for i, arm in enumerate(arms):
        assert_allclose(found[i], fa.forward_dynamics(arm, q, qd, tau), rtol=1e-10)
