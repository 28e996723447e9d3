"""The brute-force Lagrangian against itself, and the twin against the Lagrangian.

What was learned on the way:

* The two agree to rounding for any nodes, so the velocity terms (B3) and the gravity
  term (B4) need no condition on offset masses, inertias or node rotations.
* The velocity terms of the patent's Appendix C differ from (B3) wherever nodes with an
  inertia or an offset mass rotate: also for equal principal inertias, as soon as two
  modes turn a node about different axes (the term J lambda_r . (omega x lambda_s)).
  They agree for nodes that do not rotate, and in the plane without offset masses.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from arrays import Array
from each import each
from trees import SEVERAL, fixed, quaternions, random_state

from flexarm.arm import Arm
from flexarm.bodies.models import FlexibleBody, Joint, RigidBody
from flexarm.library import random_tree
from flexarm.reference import lagrangian, rotations, twin
from flexarm.reference.integrals import (
    body_inertia,
    body_velocity_forces,
    modal_integrals,
)

# Step of complex derivatives.
STEP = 1e-40
SEEDS = (1, 3, 6, 7, 8, 10)  # from 6 on with joints of all kinds


def relative(a: Any, b: Any) -> float:
    """Largest difference, relative to the largest entry."""
    size = float(np.abs(b).max())
    return float(np.abs(np.asarray(a) - b).max()) / (size if size > 0.0 else 1.0)


@cache
def sample(seed: int) -> tuple[Arm, Array, Array, Array]:
    """Random tree of one to six bodies, and a state of it."""
    rng = np.random.default_rng(seed)
    joints = SEVERAL[:3] if seed < 6 else SEVERAL
    arm = random_tree(rng, 1 + seed % 6, branches=1 + seed % 3, joints=joints)
    return arm, *fixed(random_state(rng, arm))


# of the Lagrangian in the state of a sample, which several tests share


@cache
def lagrangian_forces(seed: int) -> Array:
    return fixed((lagrangian.generalized_forces(*sample(seed)),))[0]


@cache
def lagrangian_mass(seed: int) -> Array:
    arm, q, *_ = sample(seed)
    return fixed((lagrangian.mass_matrix(arm, q),))[0]


@cache
def lagrangian_jacobians(seed: int) -> tuple[Array, ...]:
    """Of all nodes."""
    arm, q, *_ = sample(seed)
    return fixed(tuple(lagrangian.node_jacobian(arm, q, j) for j in range(arm.n_nodes)))


def gradient(function: Any, n: int) -> Array:
    """Gradient of a function of n local coordinates by complex steps."""
    return np.array([function(1j * STEP * e).imag / STEP for e in np.eye(n)])


# the Lagrangian against derivatives of its own energies


@each("seed", SEEDS)
def test_lagrangian_equals_derivatives_of_its_energies(seed: int) -> None:
    arm, q, qd, qdd = sample(seed)
    mass = lagrangian_mass(seed)
    mass_rate = lagrangian.mass_matrix(arm, q, delta=1j * STEP * qd).imag / STEP

    tau = mass @ qdd + mass_rate @ qd + lagrangian.damping_matrix(arm) @ qd
    tau -= gradient(lambda x: lagrangian.kinetic_energy(arm, q, qd, delta=x), arm.nv)
    tau += gradient(lambda x: lagrangian.potential_energy(arm, q, delta=x), arm.nv)

    assert relative(lagrangian_forces(seed), tau) < 2e-14


@each("seed", SEEDS)
def test_power_balance(seed: int) -> None:
    arm, q, qd, qdd = sample(seed)
    x, v = 1j * STEP * qd, qd + 1j * STEP * qdd
    energy = lagrangian.kinetic_energy(arm, q, v, delta=x)
    energy = energy + lagrangian.potential_energy(arm, q, delta=x)
    tau = lagrangian_forces(seed)
    dissipation = qd @ lagrangian.damping_matrix(arm) @ qd
    scale = np.abs(qd) @ np.abs(tau)
    assert abs(energy.imag / STEP - qd @ tau + dissipation) < 1e-13 * scale


@each("seed", SEEDS)
def test_node_jacobian_is_the_rate_of_the_node_poses(seed: int) -> None:
    arm, q, qd, _ = sample(seed)
    moving = lagrangian.node_poses(arm, q, delta=1j * STEP * qd)
    for node, jacobian in enumerate(lagrangian_jacobians(seed)):
        pose, rate = moving[node].real, moving[node].imag / STEP
        xi = np.linalg.inv(pose) @ rate
        twist = [xi[2, 1], xi[0, 2], xi[1, 0], *xi[:3, 3]]
        assert relative(jacobian @ qd, np.array(twist)) < 1e-13


def test_poses_are_rigid_displacements() -> None:
    arm, q, _, _ = sample(5)
    for pose in lagrangian.poses(arm, q):
        assert np.abs(pose[:3, :3] @ pose[:3, :3].T - np.eye(3)).max() < 1e-14
        assert list(pose[3]) == [0.0, 0.0, 0.0, 1.0]


def test_pendulum() -> None:
    rod = RigidBody("rod", Joint(axis=(0, 0, 1)), mass=2.0, com=(0.3, 0.0, 0.0))
    arm = Arm([rod], gravity=(0.0, -9.81, 0.0))
    for module in (lagrangian.generalized_forces, twin.inverse_dynamics):
        tau = module(arm, [0.4], [0.7], [1.5])
        assert tau == pytest.approx([2 * 0.09 * 1.5 + 2 * 9.81 * 0.3 * np.cos(0.4)])


def test_two_links_as_in_the_textbook() -> None:
    # Spong, Hutchinson, Vidyasagar, Robot Modeling and Control, section 7.4
    m, lc, i, l1 = (1.3, 0.8), (0.2, 0.35), (0.05, 0.03), 0.6
    first = RigidBody(
        "a",
        mass=m[0],
        com=(lc[0], 0, 0),
        inertia=(0, i[0], i[0]),
        nodes={"tip": (l1, 0, 0)},
    )
    second = RigidBody("b", mass=m[1], com=(lc[1], 0, 0), inertia=(0, i[1], i[1]))
    arm = Arm([first, second], gravity=(0.0, 0.0, 0.0))
    q, qd = np.array([0.4, -1.1]), np.array([0.9, -0.7])
    d12 = m[1] * (lc[1] ** 2 + l1 * lc[1] * np.cos(q[1])) + i[1]
    d22 = m[1] * lc[1] ** 2 + i[1]
    d11 = m[0] * lc[0] ** 2 + m[1] * (l1**2 + l1 * lc[1] * np.cos(q[1])) + i[0] + d12
    h = -m[1] * l1 * lc[1] * np.sin(q[1])
    velocity = [2 * h * qd[0] * qd[1] + h * qd[1] ** 2, -h * qd[0] ** 2]
    for module in (lagrangian, twin):
        assert module.mass_matrix(arm, q) == pytest.approx(
            np.array([[d11, d12], [d12, d22]]), rel=1e-14
        )
    assert twin.inverse_dynamics(arm, q, qd, [0, 0]) == pytest.approx(
        velocity, rel=1e-14
    )


# the twin against the Lagrangian


@each("seed", SEEDS)
def test_rates_of_positions_move_the_poses_by_the_velocities(seed: int) -> None:
    arm, q, qd, _ = sample(seed)
    moving = q + 1j * STEP * twin.position_rates(arm, q, qd)
    rate = lagrangian.node_poses(arm, moving).imag / STEP
    expected = lagrangian.node_poses(arm, q, delta=1j * STEP * qd).imag / STEP
    assert relative(rate, expected) < 2e-15
    # of no use to the pose, but the quaternions would drift: their lengths are kept
    for at in quaternions(arm):
        assert abs(q[at] @ moving[at].imag / STEP) < 1e-15 * np.abs(qd).max()


@each("seed", SEEDS)
def test_twin_inverse_dynamics(seed: int) -> None:
    arm, q, qd, qdd = sample(seed)
    tau = lagrangian_forces(seed)
    assert relative(twin.inverse_dynamics(arm, q, qd, qdd), tau) < 2e-14


@each("seed", SEEDS)
def test_twin_forward_dynamics(seed: int) -> None:
    arm, q, qd, qdd = sample(seed)
    tau = lagrangian_forces(seed)
    condition = np.linalg.cond(lagrangian_mass(seed))
    error = relative(twin.forward_dynamics(arm, q, qd, tau), qdd)
    assert error < 1e-14 * max(condition, 10.0)


@each("seed", SEEDS)
def test_twin_mass_matrix(seed: int) -> None:
    arm, q, qd, _ = sample(seed)
    mass = lagrangian_mass(seed)
    assert relative(twin.mass_matrix(arm, q), mass) < 2e-14
    assert np.array_equal(mass, mass.T) or relative(mass.T, mass) < 1e-15
    assert np.linalg.eigvalsh(mass)[0] > 0.0
    kinetic = lagrangian.kinetic_energy(arm, q, qd)
    assert kinetic == pytest.approx(0.5 * qd @ mass @ qd, rel=1e-14)


@each("seed", SEEDS)
def test_twin_wrenches_do_the_virtual_work(seed: int) -> None:
    arm, q, qd, qdd = sample(seed)
    wrenches = np.random.default_rng(seed).normal(size=(arm.n_nodes, 6))
    work = sum(
        jacobian.T @ wrench
        for jacobian, wrench in zip(lagrangian_jacobians(seed), wrenches, strict=True)
    )
    free = twin.inverse_dynamics(arm, q, qd, qdd)
    loaded = twin.inverse_dynamics(arm, q, qd, qdd, wrenches=wrenches)
    assert relative(free - loaded, work) < 1e-13
    condition = np.linalg.cond(lagrangian_mass(seed))
    error = relative(twin.forward_dynamics(arm, q, qd, loaded, wrenches=wrenches), qdd)
    assert error < 1e-14 * max(condition, 10.0)


@each("seed", SEEDS)
def test_passivity(seed: int) -> None:
    arm, q, qd, _ = sample(seed)
    none = np.zeros(arm.nv)
    bias = twin.inverse_dynamics(arm, q, qd, none)
    velocity = bias - twin.inverse_dynamics(arm, q, none, none)
    velocity -= lagrangian.damping_matrix(arm) @ qd
    moving = q + 1j * STEP * twin.position_rates(arm, q, qd)
    mass_rate = twin.mass_matrix(arm, moving).imag / STEP
    scale = np.abs(qd) @ np.abs(bias)
    assert abs(qd @ velocity - 0.5 * qd @ mass_rate @ qd) < 1e-14 * scale


@each("seed", SEEDS)
def test_complex_steps_pass_through_the_twin(seed: int) -> None:
    arm, q, qd, qdd = sample(seed)
    dx, dv, da = np.random.default_rng(seed).normal(size=(3, arm.nv))
    dq = twin.position_rates(arm, q, dx)
    slope = twin.inverse_dynamics(
        arm, q + 1j * STEP * dq, qd + 1j * STEP * dv, qdd + 1j * STEP * da
    )
    h = 1e-5  # central differences of the Lagrangian: error h^2, and rounding / h

    def shifted(x: float) -> Array:
        return lagrangian.generalized_forces(arm, q + x * dq, qd + x * dv, qdd + x * da)

    assert relative(slope.imag / STEP, (shifted(h) - shifted(-h)) / (2 * h)) < 1e-7
    tau = twin.inverse_dynamics(arm, q, qd, qdd)
    back = twin.forward_dynamics(
        arm, q + 1j * STEP * dq, qd + 1j * STEP * dv, tau + 1j * slope.imag
    )
    condition = np.linalg.cond(lagrangian_mass(seed))
    assert relative(back.imag / STEP, da) < 1e-14 * max(condition, 1000.0)


# one body


def flexible_body(
    seed: int, *, turns: bool = True, offset: bool = True, inertia: str = "any"
) -> FlexibleBody:
    """One flexible body, with some properties of its nodes switched off."""
    for k in range(1000):
        body = random_tree(1000 * seed + k, 1, 3, n_nodes=5, foreshortening=0.0).bodies[
            0
        ]
        if isinstance(body, FlexibleBody) and body.n_modes == 3:
            break
    changes: dict[str, Any] = {}
    if not turns:
        changes["node_rotation"] = None
    if not offset:
        changes["node_com"] = None
    if inertia == "equal":
        changes["node_inertia"] = np.tile(0.1 * np.eye(3), (5, 1, 1))
    if inertia == "plane":
        changes["node_inertia"] = np.tile(np.diag([0.1, 0.2, 0.25]), (5, 1, 1))
        gamma, lam = np.array(body.node_translation), np.array(body.node_rotation)
        gamma[:, 2], lam[:, :2] = 0.0, 0.0
        changes.update(node_translation=gamma, node_rotation=lam)
    return body.replace(**changes)


def skew(x: Array) -> Array:
    """Cross matrix, apart from the package."""
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def node_influence(body: FlexibleBody, j: int, eta: Array) -> Array:
    """[Pi^j, phi*] of (21): from (etad; omega; v) to node j, (6, n + 6)."""
    place = body.node_position[j] + body.node_translation[j] @ eta
    rigid = np.block([[np.eye(3), np.zeros((3, 3))], [-skew(place), np.eye(3)]])
    modal = np.vstack([body.node_rotation[j], body.node_translation[j]])
    return np.hstack([modal, rigid])


def node_inertia(body: FlexibleBody, j: int) -> Array:
    """Spatial inertia M_s of a node, about the node."""
    first = body.node_mass[j] * skew(body.node_com[j])
    mass = body.node_mass[j] * np.eye(3)
    return np.block([[body.node_inertia[j], first], [-first, mass]])


def patent_velocity_forces(
    body: FlexibleBody, eta: Array, etad: Array, twist: Array
) -> Array:
    """b_m of the patent by its sum over nodes (28), (31), (37), for alpha = dV/dt.

    The patent's alpha is the ordinary one; the mass matrix times (0; 0; omega x v)
    turns its b_m into the one for accelerations component by component.
    """
    omega, v = twist[:3], twist[3:]
    total = np.zeros(body.n_modes + 6)
    for j in range(body.n_nodes):
        A, M = node_influence(body, j, eta), node_inertia(body, j)
        place = body.node_position[j] + body.node_translation[j] @ eta
        turn, drift = body.node_rotation[j] @ etad, body.node_translation[j] @ etad
        w, m, p = omega + turn, body.node_mass[j], body.node_com[j]
        linear = np.cross(omega, np.cross(omega, place) + 2 * drift)
        a = np.concatenate([np.cross(omega, turn), linear])
        gyroscopic = np.cross(w, body.node_inertia[j] @ w)
        b = np.concatenate([gyroscopic, m * np.cross(w, np.cross(w, p))])
        ordinary = np.concatenate([np.zeros(3), np.cross(omega, v)])
        total += A.T @ (b + M @ a + M @ ordinary)
    return total


@pytest.mark.parametrize("seed", range(4))
def test_modal_integrals_give_the_sum_over_the_nodes(seed: int) -> None:
    body = flexible_body(seed)
    eta = np.random.default_rng(seed).normal(size=3)
    total = sum(
        (A := node_influence(body, j, eta)).T @ node_inertia(body, j) @ A
        for j in range(body.n_nodes)
    )
    assert relative(body_inertia(modal_integrals(body), eta), total) < 1e-14


@pytest.mark.parametrize(
    ("properties", "plane", "same"),
    [
        ({"turns": False}, False, True),
        ({"turns": False, "offset": False}, False, True),
        ({"offset": False, "inertia": "plane"}, True, True),
        ({"offset": False, "inertia": "equal"}, False, False),
        ({"offset": False}, False, False),
        ({"inertia": "plane"}, True, False),
        ({}, False, False),
    ],
)
def test_where_the_velocity_forces_of_the_patent_differ(
    properties: dict[str, Any], plane: bool, same: bool
) -> None:
    body = flexible_body(7, **properties)
    rng = np.random.default_rng(7)
    eta, etad, twist = rng.normal(size=3), rng.normal(size=3), rng.normal(size=6)
    keep = np.ones(9, dtype=bool)
    if plane:
        twist[[0, 1, 5]] = 0.0
        keep[3 + np.array([0, 1, 5])] = False
    exact = body_velocity_forces(modal_integrals(body), eta, etad, twist)
    patent = patent_velocity_forces(body, eta, etad, twist)
    difference = relative(patent[keep], exact[keep])
    assert difference < 1e-14 if same else difference > 1e-3


# rotation vectors


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 1.99999, 2.00001, 3.1, 12.0])
def test_rotation_functions(angle: float) -> None:
    rng = np.random.default_rng(1)
    axis, rate = rng.normal(size=3), rng.normal(size=3)
    phi = angle * axis / np.linalg.norm(axis)
    moving = rotations.exponential(phi + 1j * STEP * rate)
    omega = moving.imag / STEP @ moving.real.T
    assert relative(moving.real @ moving.real.T, np.eye(3)) < 5e-15
    spin = rotations.skew(rotations.left_jacobian(phi) @ rate)
    assert np.abs(omega - spin).max() < 1e-14
    jacobian_rate = rotations.left_jacobian(phi + 1j * STEP * rate).imag / STEP
    assert np.abs(rotations.left_jacobian_rate(phi, rate) - jacobian_rate).max() < 1e-14


@pytest.mark.parametrize("s", [1e-12, 0.5, 3.9999, 4.0001, 30.0])
def test_stumpff_functions(s: float) -> None:
    x = np.sqrt(s)
    c = rotations.stumpff(np.float64(s))
    assert c[0] == pytest.approx(np.cos(x), abs=1e-15)
    assert c[1] == pytest.approx(np.sin(x) / x, abs=1e-15)
    assert c[2] == pytest.approx(2 * np.sin(x / 2) ** 2 / s, abs=1e-15)
    for k in range(4):
        assert c[k] + s * c[k + 2] == pytest.approx(1 / [1, 1, 2, 6][k], abs=2e-15)
