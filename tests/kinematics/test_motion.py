"""Accelerations of nodes, momentum and centre of mass against routes of their own.

Accelerations against differences of velocities and, exactly, against complex steps of
the Lagrangian's Jacobians; momentum and centre of mass against sums over the nodes, and
the rate of momentum against the forces from outside.
"""

from __future__ import annotations

import numpy as np
import pytest
from closeness import assert_close
from each import each
from scipy.spatial.transform import Rotation
from trees import SEVERAL, calm_state, conservative, floating, random_state

import flexarm as fa
from flexarm.bodies.maps import cross_matrix, rotation
from flexarm.reference import lagrangian

FRAME = ("parent", "node", "position", "rotation")
# Seeds of arms; from 8 on they have joints of all kinds.
SEEDS = range(16)


def setup(seed, **options):
    rng = np.random.default_rng(seed)
    joints = SEVERAL[:3] if seed < 8 else SEVERAL
    options = {"max_modes": 4, "joints": joints} | options
    arm = fa.library.random_tree(seed, 1 + seed % 7, **options)
    return rng, arm, *random_state(rng, arm)


def rate(arm, q, qd, qdd, function, h=2e-3):
    """d/dt of a function of q and qd, central differences of order six.

    Any curve through the state will do whose positions move at qd: the function does
    not know qdd but through qd.
    """
    total = 0.0
    for k, weight in ((1, 45.0), (2, -9.0), (3, 1.0)):
        for step, sign in ((k * h, 1.0), (-k * h, -1.0)):
            there = fa.integrate(arm, q, step * qd), qd + step * qdd
            total = total + sign * weight * function(*there)
    return total / (60.0 * h)


def twice(R):
    """Turns both halves of a spatial vector."""
    return np.kron(np.eye(2), R)


# accelerations


@each("seed", SEEDS)
def test_acceleration_is_the_rate_of_the_velocity(seed):
    rng, arm, q, qd, qdd = setup(seed)
    for node in rng.integers(arm.n_nodes, size=3):

        def velocity(q, qd, node=node):
            return fa.node_velocity(arm, q, qd, node, frame="base")

        expected = rate(arm, q, qd, qdd, velocity)
        found = fa.node_acceleration(arm, q, qd, qdd, node, frame="base")
        assert_close(found, expected, 1e-11, 1.0)
        R = twice(fa.node_pose(arm, q, node)[:3, :3])
        own = fa.node_acceleration(arm, q, qd, qdd, node)
        assert_close(own, R.T @ found, 1e-14)


@each("seed", SEEDS)
def test_acceleration_by_a_complex_step_of_the_jacobian(seed):
    """J qdd + dJ/dt qd, and omega x v of the axes: dual numbers, no differences."""
    rng, arm, q, qd, qdd = setup(seed)
    h = 1e-40
    for node in map(int, rng.integers(arm.n_nodes, size=3)):
        J = lagrangian.node_jacobian(arm, q, node, delta=1j * h * qd)
        V = J.real @ qd
        expected = J.real @ qdd + J.imag / h @ qd
        expected[3:] += np.cross(V[:3], V[3:])
        scale = np.abs(J.real).max() * np.abs(qdd).max()
        found = fa.node_acceleration(arm, q, qd, qdd, node)
        assert_close(found, expected, 3e-14, scale)


@pytest.mark.parametrize("seed", [0, 1, 3, 5])
def test_acceleration_along_a_simulated_motion(seed):
    """Five samples of the velocity, with the accelerations of forward dynamics."""
    arm = floating(seed, gravity=True)
    q0, qd0 = calm_state(arm, seed)
    t = np.linspace(0.0, 0.05, 501)
    tau = 0.1 * np.random.default_rng(seed).normal(size=arm.nu)
    run = fa.simulate(arm, q0, qd0, t, torque=np.tile(tau, (len(t), 1)))
    assert run.success, run.message
    qdd = fa.forward_dynamics(arm, run.q, run.qd, tau)
    found = fa.node_acceleration(arm, run.q, run.qd, qdd, frame="base")[2:-2]
    V = fa.node_velocity(arm, run.q, run.qd, frame="base")
    expected = (V[:-4] - 8.0 * V[1:-3] + 8.0 * V[3:-1] - V[4:]) / (12.0 * t[1])
    assert_close(found, expected, 2e-9)
    # the error is that of the formula: a sixteenth with half the step
    V, coarse = V[::2], found[2::2][: len(V[::2]) - 4]
    wide = (V[:-4] - 8.0 * V[1:-3] + 8.0 * V[3:-1] - V[4:]) / (24.0 * t[1])
    ratio = np.abs(wide - coarse[: len(wide)]).max() / np.abs(expected - found).max()
    assert ratio > 8.0


# momentum and centre of mass


def commutator(phi, J):
    """[phi, J], the change of an inertia that turns."""
    return cross_matrix(phi) @ J - J @ cross_matrix(phi)


def sums_over_nodes(arm, q, qd):
    """Momentum about the origin of the base, and sum of m (centre of mass)."""
    h, moment = 1e-40, np.zeros(3)
    angular, linear = np.zeros(3), np.zeros(3)
    moving = lagrangian.poses(arm, q, delta=1j * h * qd)
    for k, body in enumerate(arm.bodies):
        pose, speed = moving[k].real, moving[k].imag / h
        R, x = pose[:3, :3], pose[:3, 3]
        spin = speed[:3, :3] @ R.T
        omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        eta = q[arm.mode_slice(k, positions=True)]
        etad = qd[arm.mode_slice(k)]
        kappa = lagrangian.mass_foreshortening(body)
        second = np.zeros((body.n_nodes, 3, body.n_modes, body.n_modes))
        second = second if kappa is None else kappa.copy()
        if body.node_foreshortening is not None:  # rigid nodes follow their places
            for j in body._rigid_nodes:
                second[j] = body.node_foreshortening[j]
        for j in range(body.n_nodes):
            slopes = body.node_translation[j] + second[j] @ eta
            place = body.node_position[j] + body.node_translation[j] @ eta
            place = R @ (place + 0.5 * second[j] @ eta @ eta)
            m = body.node_mass[j]
            u = speed[:3, 3] + np.cross(omega, place)
            u += R @ slopes @ etad
            # the node turns by exp(phi), its angular velocity is the exact rate
            phi = body.node_rotation[j] @ eta
            turn, jacobian = rotation(phi)
            kept = j not in body._rigid_nodes
            turn = np.eye(3) if kept else turn
            w = body.node_rotation[j] @ etad
            w = omega + R @ (w if kept else jacobian @ w)
            p, J = R @ turn @ body.node_com[j], body.node_inertia[j]
            J = R @ turn @ J @ turn.T @ R.T
            if kept:  # a section, to second order
                own, spun = body.node_inertia[j], body.node_rotation[j] @ etad
                first = commutator(phi, own)
                more = (first + 0.5 * commutator(phi, first)) @ R.T @ omega
                more += (first + 0.5 * own @ cross_matrix(phi)) @ spun
                angular += R @ more
            force = m * (u + np.cross(w, p))
            linear += force
            # about the node, then about the base
            angular += J @ w + m * np.cross(p, u) + np.cross(x + place, force)
            moment += m * (x + place + p)
    return np.concatenate([angular, linear]), moment


@each("seed", SEEDS)
def test_momentum_and_centre_of_mass_are_sums_over_the_nodes(seed):
    _, arm, q, qd, _ = setup(seed)
    h, moment = sums_over_nodes(arm, q, qd)
    found = fa.momentum(arm, q, qd)
    assert_close(found[:3], h[:3], 3e-14)
    assert_close(found[3:], h[3:], 1e-14)
    mass = sum(body.mass for body in arm.bodies)
    com = fa.center_of_mass(arm, q)
    assert_close(com, moment / mass, 1e-14, 1.0)
    # V is that of the weight in the centre of mass, and of the modal springs
    elastic = 0.0
    for k, body in enumerate(arm.bodies):
        eta = q[arm.mode_slice(k, positions=True)]
        elastic += 0.5 * eta @ body.stiffness @ eta
    V = elastic - mass * arm.gravity @ com
    scale = elastic + mass * 9.81 * np.linalg.norm(com)
    assert_close(fa.potential_energy(arm, q), V, 1e-14, scale)


@each("seed", SEEDS)
def test_momentum_of_rigid_arms_is_mass_times_rate_of_the_centre(seed):
    _, arm, q, qd, qdd = setup(seed, max_modes=0)
    mass = sum(body.mass for body in arm.bodies)

    def center(q, qd):
        return fa.center_of_mass(arm, q)

    expected = mass * rate(arm, q, qd, qdd, center)
    assert_close(fa.momentum(arm, q, qd)[3:], expected, 2e-12, mass)


def weight(arm, q):
    """Wrench of gravity about the origin of the base."""
    force = sum(body.mass for body in arm.bodies) * arm.gravity
    return np.concatenate([np.cross(fa.center_of_mass(arm, q), force), force])


def at_base(pose, wrench):
    """A wrench on the frame of a body, in its axes, about the origin of the base."""
    turned = twice(pose[:3, :3]) @ wrench
    turned[:3] += np.cross(pose[:3, 3], turned[3:])
    return turned


def rate_of_momentum(arm, q, qd, qdd):
    return rate(arm, q, qd, qdd, lambda q, qd: fa.momentum(arm, q, qd))


@each("seed", range(8))
def test_forces_from_outside_change_the_momentum_of_a_floating_arm(seed):
    """Gravity and the wrench on the base; joints and modes do nothing."""
    arm = conservative(floating(seed, gravity=True))
    q, qd, tau = random_state(np.random.default_rng(seed), arm)
    qdd = fa.forward_dynamics(arm, q, qd, tau)
    found = rate_of_momentum(arm, q, qd, qdd)
    expected = weight(arm, q) + at_base(fa.link_poses(arm, q)[0], tau[:6])
    terms = np.abs(fa.mass_matrix(arm, q)[:6] * qdd).max()
    assert_close(found, expected, 1e-11, float(terms))


@each("seed", SEEDS)
def test_reaction_of_the_ground_changes_the_momentum_of_a_fixed_arm(seed):
    """The wrench that a free base needs to move as the base on its joint does."""
    _, arm, q, qd, qdd = setup(seed)
    root = arm.bodies[0]
    joint = fa.Joint("free", **{k: getattr(root.joint, k) for k in FRAME})
    free = arm.replace(bodies=[root.replace(joint=joint), *arm.bodies[1:]])
    pose, base = fa.link_poses(arm, q)[0], (root.name, 0)

    # the same motion: pose, twist and its rate in body axes
    R = root.joint.rotation.T @ pose[:3, :3]
    place = root.joint.rotation.T @ (pose[:3, 3] - root.joint.position)
    own = np.concatenate([np.roll(Rotation.from_matrix(R).as_quat(), 1), place])
    V = fa.node_velocity(arm, q, qd, base)
    a = fa.node_acceleration(arm, q, qd, qdd, base)
    a[3:] -= np.cross(V[:3], V[3:])
    at, n = arm.body_joint_slice(0, positions=True).stop, arm.body_joint_slice(0).stop
    moved = [
        np.concatenate(parts) for parts in ((own, q[at:]), (V, qd[n:]), (a, qdd[n:]))
    ]
    reaction = fa.inverse_dynamics(free, *moved)[:6]
    assert_close(fa.momentum(free, *moved[:2]), fa.momentum(arm, q, qd), 1e-14)
    expected = weight(arm, q) + at_base(pose, reaction)
    scale = np.abs(at_base(pose, reaction)).max()
    found = rate_of_momentum(arm, q, qd, qdd)
    assert_close(found, expected, 1e-11, float(scale))
    # the part of the reaction along the joint is its torque
    tau = fa.inverse_dynamics(arm, q, qd, qdd)[:n]
    S = fa.jacobian(arm, q, base)[:, :n]
    assert_close(S.T @ reaction + root.joint.friction * qd[:n], tau, 1e-14, scale)


@each("kind", ("revolute", "prismatic"))
@each("couplings", ("eliminated", "constrained"))
@each("stiffness", (100.0, np.inf))
def test_the_mass_of_an_arm_is_that_of_bodies_and_motors(kind, couplings, stiffness):
    """Momentum over the rate of the centre, and what a free base has to move."""
    rotor = {"rotor_mass": 1.0} if kind == "revolute" else {}
    first = fa.Drive(stiffness, rotor_inertia=0.01, rotor_mass=1.0, stator_mass=2.0)
    second = fa.Drive(stiffness, rotor_inertia=0.5, stator_mass=0.25, **rotor)
    joints = [
        fa.Joint.revolute("y", drive=first),
        fa.Joint(kind, axis=(0, 1, 0), parent="a", drive=second),
    ]
    bodies = [
        fa.RigidBody(
            name,
            joint,
            mass=mass,
            com=(1, 0, 0),
            inertia=(1, 1, 1),
            nodes={"tip": (2, 0, 0)},
        )
        for name, joint, mass in zip("ab", joints, (3.0, 5.0), strict=True)
    ]
    arm = fa.Arm(bodies, couplings=couplings)
    own = 3.0 + 1.0 + 2.0 + 5.0 + 0.25 + (1.0 if kind == "revolute" else 0.5)
    assert arm.mass == pytest.approx(own, rel=1e-14)
    if np.isfinite(stiffness):
        q, qd = np.random.default_rng(0).normal(size=(2, arm.nv))
        moved = rate(arm, q, qd, 0.0 * qd, lambda q, _: fa.center_of_mass(arm, q))
        assert_close(fa.momentum(arm, q, qd)[3:], own * moved, 2e-12, own)
    hull = fa.RigidBody("hull", fa.Joint.free(), mass=10.0, inertia=(1, 1, 1))
    joint = bodies[0].joint.replace(parent="hull")
    ship = arm.replace(bodies=[hull, bodies[0].replace(joint=joint), bodies[1]])
    M = fa.mass_matrix(ship, ship.neutral)
    assert ship.mass == pytest.approx(M[5, 5], rel=1e-14)


def test_the_mass_of_links_and_of_stacks():
    tube = fa.beams.Beam(fa.beams.Section.tube(0.04, 0.002), 1.0, "steel")
    load = fa.RigidBody("load", fa.Joint.fixed(), mass=2.0)
    expected = 7850.0 * np.pi * (0.02**2 - 0.018**2)
    for link in (tube.modes("a"), tube.elements("a"), tube.segments("a", 3)):
        assert link.mass == pytest.approx(expected, rel=1e-12)
        assert fa.Arm([link, load]).mass == pytest.approx(expected + 2.0, rel=1e-12)
    loads = (0.0, 1.0, 2.0)
    arms = [fa.library.planar_chain(2, payload_mass=m) for m in loads]
    stack = fa.stack(arms)
    np.testing.assert_allclose(stack.mass, [2.0, 3.0, 4.0], rtol=1e-14)
    np.testing.assert_allclose(stack[::-1][:2].mass, [4.0, 3.0], rtol=1e-14)
