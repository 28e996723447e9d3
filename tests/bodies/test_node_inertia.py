"""Inertia of nodes that turns with them: rigid nodes exactly, sections to second order.

The oracle is a Lagrangian in which every node is a true rigid body: mass at its mass
centre and inertia about it, both by the exact pose of the node, nothing truncated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from refusals import model_refused
from scipy.linalg import eigh
from trees import random_state

import flexarm as fa
from flexarm import _core, beams
from flexarm.beams._single import free_beam_modes
from flexarm.model.packing import pack
from flexarm.parameters import parameter_derivatives
from flexarm.reference import lagrangian, twin
from flexarm.reference._dual_poses import dual_poses, node_displacement, state_of
from flexarm.reference.duals import COMPLEX_STEP, inverse_of, multiply, twist_of

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

Array = Any

# the oracle


def centres(arm: fa.Arm, q: Array, delta: Array) -> Any:
    """Mass, inertia about the mass centre and dual pose there, of every node."""
    state = state_of(arm, q, delta)
    for k, pose in enumerate(dual_poses(arm, state)):
        body = arm.bodies[k]
        for j in np.flatnonzero(body.node_mass):
            m, p = body.node_mass[j], body.node_com[j]
            J = body.node_inertia[j] - m * (p @ p * np.eye(3) - np.outer(p, p))
            place = multiply(pose, node_displacement(arm, k, j, state))
            shift = np.eye(4)
            shift[:3, 3] = p
            yield m, J, place.value @ shift, place.partials @ shift


def true_energy(arm: fa.Arm, q: Array, delta: Array) -> tuple[Array, Array]:
    """Mass matrix and potential of gravity of true rigid bodies."""
    M, V = np.zeros((arm.nv, arm.nv)), 0.0
    for m, J, value, partials in centres(arm, q, delta):
        A = twist_of(inverse_of(value) @ partials)
        M = M + A[:, :3] @ J @ A[:, :3].T + m * A[:, 3:] @ A[:, 3:].T
        V = V - m * arm.gravity @ value[:3, 3]
    return M, V


def true_forces(arm: fa.Arm, q: Array, qd: Array, qdd: Array) -> Array:
    """Lagrange's equations, by complex steps along the motion and each coordinate."""
    h, n = 1j * COMPLEX_STEP, arm.nv
    M, rate = (f(true_energy(arm, q, h * qd)[0]) for f in (np.real, np.imag))
    tau = M @ qdd + rate / COMPLEX_STEP @ qd
    for i in range(n):
        dM, dV = (x.imag / COMPLEX_STEP for x in true_energy(arm, q, h * np.eye(n)[i]))
        tau[i] += dV - 0.5 * qd @ dM @ qd
    eta = np.zeros(n)
    eta[arm.motor_slice.stop :] = q[arm.nq - arm.nv + arm.motor_slice.stop :]
    return tau + arm.stiffness_matrix @ eta + lagrangian.damping_matrix(arm) @ qd


# arms


def tree(seed: int) -> fa.Arm:
    """Nodes with offset masses and any inertia, no sections and no foreshortening."""
    arm = fa.library.random_tree(
        seed, 2 + seed % 2, max_modes=2, n_nodes=2, foreshortening=0.0
    )
    assert not any(body.section_nodes for body in arm.bodies)
    return arm


def sectioned(arm: fa.Arm, every: int = 1) -> fa.Arm:
    """The arm with the mass of nodes on them, and every second or each as a section."""
    bodies = []
    for body in arm.bodies:
        if body.n_modes:
            c, m = body.node_com, body.node_mass[:, None, None]
            size = np.einsum("ji,ji->j", c, c)[:, None, None] * np.eye(3)
            J = body.node_inertia - m * (size - c[:, :, None] * c[:, None])
            body = body.replace(
                node_com=None,
                node_inertia=0.5 * (J + J.swapaxes(1, 2)),
                section_nodes=body.node_names[::every],
            )
        bodies.append(body)
    result: fa.Arm = arm.replace(bodies=bodies)
    return result


def bent(arm: fa.Arm, x: Array, size: float) -> Array:
    """Positions, velocities or accelerations with smaller modal entries."""
    n = arm.nv - arm.motor_slice.stop
    x = np.array(x)
    x[len(x) - n :] *= size
    return x


@each("seed", range(6))
def test_true_rigid_bodies(seed: int) -> None:
    """Rigid nodes exactly; sections as a Lagrangian that is cut at second order."""
    arm = tree(seed)
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    true = true_forces(arm, q, qd, qdd)
    size = np.abs(true).max()
    found = fa.inverse_dynamics(arm, q, qd, qdd)
    assert_allclose(found, true, rtol=0, atol=1e-12 * size)
    assert_allclose(fa.mass_matrix(arm, q), true_energy(arm, q, 0 * qd)[0], atol=1e-11)

    if arm.nv == arm.motor_slice.stop:
        return  # no modes
    arm, errors = sectioned(arm), []
    for scale in (4e-2, 2e-2):
        motion = [bent(arm, x, scale) for x in (q, qd, qdd)]
        error = fa.inverse_dynamics(arm, *motion) - true_forces(arm, *motion)
        nu = arm.motor_slice.stop
        errors.append([np.abs(x).max(initial=0.0) for x in (error[:nu], error[nu:])])
    joints, modes = np.log2(np.maximum(errors[0], 1e-13) / np.maximum(errors[1], 1e-13))
    assert modes > 1.9 or errors[0][1] < 1e-12 * size, errors
    assert joints > 2.5 or errors[0][0] < 1e-11 * size, errors


@each("seed", range(3))
def test_sections_beside_twin_and_lagrangian(seed: int) -> None:
    """Kernels, derivatives, both ways to build the model; some nodes are rigid."""
    arm = sectioned(
        fa.library.random_tree(seed, 4, max_modes=3, foreshortening=float(seed % 2)),
        1 + seed % 3,
    )
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    near = {"rtol": 0, "atol": 1e-12 * np.abs(tau).max()}
    assert_allclose(lagrangian.generalized_forces(arm, q, qd, qdd), tau, **near)
    assert_allclose(twin.inverse_dynamics(arm, q, qd, qdd), tau, **near)
    M = fa.mass_matrix(arm, q)
    for other in (lagrangian.mass_matrix(arm, q), twin.mass_matrix(arm, q)):
        assert_allclose(other, M, rtol=0, atol=1e-12 * np.abs(M).max())
    operators = fa.operators(arm, q)
    dense = operators.H @ operators.Phi @ operators.M_m
    dense = operators.in_arm_order(dense @ operators.Phi.T @ operators.H.T)
    assert_allclose(dense, M, rtol=0, atol=1e-12 * np.abs(M).max())
    T = lagrangian.kinetic_energy(arm, q, qd)
    assert_allclose(fa.kinetic_energy(arm, q, qd), T, rtol=1e-12)
    assert_allclose(fa.potential_energy(arm, q), lagrangian.potential_energy(arm, q))
    back = fa.forward_dynamics(arm, q, qd, tau)
    assert_allclose(back, qdd, rtol=0, atol=1e-10 * np.abs(qdd).max())
    # derivatives along velocities, and along positions where they are plain
    dq, dqd = fa.inverse_dynamics_derivatives(arm, q, qd, qdd)
    for i, unit in enumerate(np.eye(arm.nv)):
        moved = twin.inverse_dynamics(arm, q, qd + 1e-30j * unit, qdd)
        assert_allclose(
            dqd[:, i], moved.imag / 1e-30, rtol=0, atol=1e-10 * abs(dqd).max()
        )
    for i in range(arm.motor_slice.stop, arm.nv):
        moved = q.astype(complex)
        moved[arm.nq - arm.nv + i] += 1e-30j
        slope = twin.inverse_dynamics(arm, moved, qd, qdd).imag / 1e-30
        assert_allclose(dq[:, i], slope, rtol=0, atol=1e-10 * abs(dq).max())
    forward = fa.forward_dynamics_derivatives(arm, q, qd, tau)
    for found, slope in zip(forward[:2], (dq, dqd), strict=True):
        expected = -np.linalg.solve(M, slope)
        worst = np.linalg.cond(M) * np.abs(expected).max()
        assert_allclose(found, expected, rtol=0, atol=1e-13 * worst)
    # gradients of the energy, by complex steps of the Lagrangian's
    energy = fa.Arm.energy_derivatives(arm, q, qd)
    for i, unit in enumerate(1j * COMPLEX_STEP * np.eye(arm.nv)):
        slope = lagrangian.kinetic_energy(arm, q, qd, delta=unit).imag
        slope += lagrangian.potential_energy(arm, q, delta=unit).imag
        size = np.abs(energy.dq).max()
        assert abs(energy.dq[i] - slope / COMPLEX_STEP) < 1e-11 * size
    assert_allclose(energy.dqd, M @ qd, rtol=0, atol=1e-11 * np.abs(M @ qd).max())
    inverse = fa.mass_matrix_inverse(arm, q)
    assert_allclose(inverse @ M, np.eye(arm.nv), atol=1e-14 * np.linalg.cond(M) + 1e-12)
    # sums over nodes in C and in Python
    model = _core.Model(*pack(arm, integrals=True))
    again = model.quiet("inverse_dynamics")(q, qd, qdd)
    assert_allclose(again, tau, **near)


# a payload on a node, and a body fixed to it


def carried(**changes: Any) -> tuple[fa.Arm, fa.Arm]:
    """A link that bends and twists, with a payload on its tip or a body fixed there."""
    bending = beams.clamped_beam_modes(1.0, 0.5, 20.0, 2, tip_mass=1.0)
    link = {
        "length": 1.0,
        "mass_per_length": 0.5,
        "bending_y": bending,
        "bending_z": bending,
        "torsion": beams.clamped_rod_modes(1.0, 0.002, 15.0, 1),
        **changes,
    }
    m, c, J = 2.0, np.array([0.1, 0.05, -0.2]), np.diag([0.02, 0.03, 0.04])
    about = J + m * (c @ c * np.eye(3) - np.outer(c, c))
    tip = {"tip_mass": m, "tip_com": c, "tip_inertia": about}
    turn = fa.RigidBody("turn", fa.Joint(axis=(1, 0, 0)), mass=1.0, inertia=(1, 1, 1))
    on_node = fa.Arm([turn, beams.flexible_link("link", **link, **tip)])
    hand = fa.RigidBody("hand", fa.Joint("fixed", node="tip"), mass=m, com=c, inertia=J)
    fixed = fa.Arm([turn, beams.flexible_link("link", **link), hand])
    return on_node, fixed


@each("fidelity", ["full", "linear"])
def test_a_payload_is_a_body_on_a_fixed_joint(fidelity: str) -> None:
    one, two = (arm.replace(fidelity=fidelity) for arm in carried())
    q, qd, qdd = np.random.default_rng(0).uniform(-0.3, 0.3, (3, 5, one.nv))
    q[:, 1:] *= 0.1  # slopes of the model's range

    def same(what: Any) -> None:
        for found, expected in zip(what(one), what(two), strict=True):
            size = np.abs(expected).max()
            assert_allclose(found, expected, rtol=0, atol=1e-12 * size)

    same(lambda arm: [fa.inverse_dynamics(arm, q, qd, qdd)])
    same(lambda arm: [fa.forward_dynamics(arm, q, qd, qdd)])
    same(lambda arm: [fa.mass_matrix(arm, q), fa.mass_matrix_inverse(arm, q)])
    same(lambda arm: [fa.gravity_forces(arm, q), fa.energy(arm, q, qd)])
    same(lambda arm: [fa.center_of_mass(arm, q), fa.momentum(arm, q, qd)])
    same(lambda arm: fa.inverse_dynamics_derivatives(arm, q, qd, qdd)[:2])
    same(lambda arm: fa.forward_dynamics_derivatives(arm, q, qd, qdd)[:2])
    if fidelity == "full":
        same(lambda arm: [fa.linearize(arm, q[0], qd[0]).A])
        same(lambda arm: [fa.link_loads(arm, q, qd, qdd)["link"].moment])
        same(lambda arm: [fa.operators(arm, q).log_det])
        same(lambda arm: fa.stack([arm, arm]).inverse_dynamics(q[:2], qd[:2], qdd[:2]))
        # the Lagrangian and the twin turn both with the node to third order
        assert one.bodies[1]._strain_energy is not None
        state = q[0], qd[0], qdd[0]
        tau = fa.inverse_dynamics(one, *state)
        near = {"rtol": 0, "atol": 1e-13 * np.abs(tau).max()}
        for forces in (lagrangian.generalized_forces, twin.inverse_dynamics):
            for arm in (one, two):
                assert_allclose(forces(arm, *state), tau, **near)
    # tables of the body have the payload
    assert one.bodies[1].mass == 2.5
    lumped = one.bodies[1].modal_mass()
    free = np.linalg.inv(fa.mass_matrix(one, one.neutral)[2:, 2:])
    assert_allclose(free @ lumped, np.eye(5), rtol=0, atol=1e-9)


def test_a_sweep_of_payloads_that_begins_with_none() -> None:
    """Nodes that are rigid bodies in some of the arms; parameters at zero."""
    bending = beams.clamped_beam_modes(1.0, 0.5, 20.0, 2, tip_mass=1.0)
    link = {"length": 1.0, "mass_per_length": 0.5, "bending_y": bending}
    link["bending_z"] = bending

    def arm(beside: float) -> fa.Arm:
        tip = {"tip_mass": 1.0, "tip_com": (0, beside, 0)}
        J = (beside**2, 0.0, beside**2)
        return fa.Arm([beams.flexible_link("link", **link, **tip, tip_inertia=J)])

    arms = [arm(x) for x in (0.0, 0.1, 0.2)]
    assert [len(x.bodies[0]._rigid_nodes) for x in arms] == [0, 1, 1]
    q, qd, tau = np.random.default_rng(0).uniform(-0.3, 0.3, (3, arms[0].nv))
    for order in (arms, arms[::-1]):
        found = fa.forward_dynamics(fa.stack(order), q, qd, tau)
        for one, own in zip(order, found, strict=True):
            expected = fa.forward_dynamics(one, q, qd, tau)
            # small ones are differences of large ones
            size = float(np.abs(expected).max())
            assert_allclose(own, expected, rtol=0, atol=1e-12 * size)
    got = parameter_derivatives(lambda p: arm(p[0]), [0.0], q, qd, qdd=tau, scale=0.1)
    h = 1e-4
    slope = [fa.inverse_dynamics(arm(x), q, qd, tau) for x in (h, -h)]
    slope = (slope[0] - slope[1]) / (2.0 * h)
    assert_allclose(got.forces[..., 0], slope, rtol=0, atol=1e-6 * np.abs(slope).max())


def test_parameters_of_a_payload() -> None:
    """Ten of its own, which rebuild the arm and identify its forces."""
    arm, _ = carried()
    parameters = fa.inertial_parameters(arm)
    names = list(parameters.names)
    assert [x for x in names if x.startswith("link.tip.")] == [
        f"link.tip.{x}" for x in ("m", "mx", "my", "mz")
    ] + [f"link.tip.I{x}" for x in ("xx", "xy", "xz", "yy", "yz", "zz")]
    values = parameters.values.copy()
    values[names.index("link.tip.m")] = 2.5
    changed = fa.Arm.with_inertial_parameters(arm, values)
    body = changed.bodies[1]
    assert body.node_mass[-1] == 2.5
    assert_allclose(2.5 * body.node_com[-1], 2.0 * arm.bodies[1].node_com[-1])
    q, qd, qdd = np.random.default_rng(0).uniform(-0.3, 0.3, (3, 4, arm.nv))
    q[:, 1:] *= 0.1  # slopes of the model's range
    every = fa.inertial_regressor(arm, q, qd, qdd)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    moved = fa.inverse_dynamics(changed, q, qd, qdd)
    assert_allclose(every @ (values - parameters.values), moved - tau, atol=1e-10)


# closed forms


def tip_loaded(n: int = 9) -> tuple[Array, Array, Array]:
    """Ritz matrices of a clamped beam EI = L = 1 with a mass at 0.3 beyond its tip."""
    x, w = np.polynomial.legendre.leggauss(40)
    x, w, k = (x + 1.0) / 2.0, w / 2.0, np.arange(2, 2 + n)
    slope = np.array([i * x ** (i - 1.0) for i in k])
    bend = np.array([i * (i - 1) * x ** (i - 2.0) for i in k])
    pull = (slope * w) @ slope.T + 0.3 * np.outer(k, k)  # per unit of tension
    return (bend * w) @ bend.T, pull, 1.0 + 0.3 * k


def beyond_the_tip(gravity: float, joint: fa.Joint, n_elements: int) -> fa.Arm:
    """The same as a link of elements."""
    section = beams.Section.from_stiffness(1e-6, 1.0)
    link = beams.finite_element_link(
        "link",
        length=1.0,
        sections=section,
        n_elements=n_elements,
        motions=("bending y", "bending z"),
        joint=joint,
        payloads=[beams.Payload(1.0, mass=1.0, com=(0.3, 0.0, 0.0))],
        n_modes="all",
    )
    return fa.Arm([link], gravity=(-gravity, 0.0, 0.0))


def test_buckling_under_a_mass_beyond_the_tip() -> None:
    K, pull, _ = tip_loaded()
    values = eigh(pull, K, eigvals_only=True)
    exact = 1.0 / values[-1]
    assert exact == pytest.approx(1.4883, abs=1e-4)

    def least(weight: float) -> float:
        arm = beyond_the_tip(weight, fa.Joint("fixed"), 3)
        rest = np.zeros(arm.nv)
        slope = fa.inverse_dynamics_derivatives(arm, rest, rest, rest)[0]
        return float(np.linalg.eigvalsh((slope + slope.T) / 2.0)[0])

    assert least(exact * (1.0 - 1e-4)) > 0.0 > least(exact * (1.0 + 2e-4))
    # the load of buckling under its weight is none at that weight
    link = beyond_the_tip(0.0, fa.Joint("fixed"), 3).bodies[0]
    for weight, sign in ((exact * (1.0 - 1e-4), 1.0), (exact * (1.0 + 2e-4), -1.0)):
        assert sign * beams.buckling_load(link, acceleration=weight) > 0.0


def test_lag_and_flap_of_a_mass_beyond_the_tip() -> None:
    K, pull, at = tip_loaded()
    flap = 1.0 / np.sqrt(at @ np.linalg.solve(K + 130.0 * pull, at))
    arm = beyond_the_tip(0.0, fa.Joint(), 10)
    rest, turning = np.zeros(arm.nv), np.zeros(arm.nv)
    turning[0] = 10.0
    dq, dqd = fa.inverse_dynamics_derivatives(arm, rest, turning, rest)
    assert np.abs(dqd[1:, 1:]).max() < 1e-6  # the hub keeps its speed
    M = fa.mass_matrix(arm, rest)[1:, 1:]
    found = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, dq[1:, 1:])).real)[:2])
    assert_allclose(found, [np.sqrt(flap**2 - 100.0), flap], rtol=1e-3)


def test_propeller_moment_of_a_thin_blade() -> None:
    """Sections in the plane of rotation want to stay there, as w^2 + Omega^2."""
    J, w0, speed = 1e-3, 49.67, 50.0
    torsion = beams.clamped_rod_modes(1.0, J, (2.0 * w0 / np.pi) ** 2 * J, 2)
    link = beams.flexible_link(
        "blade",
        length=1.0,
        mass_per_length=1.0,
        torsion=torsion,
        section_inertia=(J, 0.0, J),
    )
    arm = fa.Arm([link], gravity=(0.0, 0.0, 0.0))
    rest = np.zeros(3)
    dq, _ = fa.inverse_dynamics_derivatives(arm, rest, [speed, 0.0, 0.0], rest)
    M = fa.mass_matrix(arm, rest)
    found = np.sqrt(dq[1, 1] / M[1, 1])
    assert found == pytest.approx(np.hypot(w0, speed), rel=1e-10)
    assert found == pytest.approx(70.48, abs=0.005)


# conservation


def test_energy_and_momentum_are_kept() -> None:
    """A free link with sections, a hub and a payload beside the line."""
    bending = free_beam_modes(2.0, 1.2, 900.0, 2)
    link = beams.flexible_link(
        "beam",
        length=2.0,
        mass_per_length=1.2,
        joint=fa.Joint("free"),
        bending_y=bending,
        bending_z=bending,
        section_inertia=(4e-3, 1e-3, 3e-3),
        base_mass=0.5,
        base_inertia=(0.02, 0.03, 0.01),
        tip_mass=1.0,
        tip_com=(0.1, 0.0, 0.05),
        tip_inertia=(0.05, 0.06, 0.05),
    )
    arm = fa.Arm([link], gravity=(0.0, 0.0, 0.0))
    assert len(link._rigid_nodes) == 2
    qd = np.array([0.5, -2.0, 1.0, 0.1, 0.2, -0.1, 0.3, 0.2, -0.2, 0.1])
    q = np.concatenate([[1.0], np.zeros(10)])
    t = np.linspace(0.0, 0.5, 6)
    run = fa.simulate(arm, q, qd, t, method="rk4", max_step=1e-4)
    energy = fa.energy(arm, run.q, run.qd)
    assert_allclose(energy, energy[0], rtol=1e-9)
    momentum = fa.momentum(arm, run.q, run.qd)
    assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-8)


# bodies


def test_which_nodes_are_rigid_bodies() -> None:
    """None where the inertia is exact: clamped, points, turning about their axis."""
    rng = np.random.default_rng(0)

    def nodes(lam: Array, J: Array, com: Array = (0, 0, 0), **more: Any) -> int:
        body = fa.FlexibleBody(
            "body",
            node_position=[[1.0, 0.0, 0.0]],
            node_mass=[1.0],
            node_translation=rng.normal(size=(1, 3, len(lam))),
            node_rotation=[np.transpose(lam)],
            node_inertia=[np.diag(J) + np.diag(np.square(com).sum() - np.square(com))],
            node_com=[com],
            stiffness=np.ones(len(lam)),
            **more,
        )
        return len(body._rigid_nodes)

    z, y = (0.0, 0.0, 1.0), (0.0, 0.5, 0.0)
    disc, ball = (0.1, 0.1, 0.2), (0.1, 0.1, 0.1)
    assert nodes([(0, 0, 0)], disc) == 0
    assert nodes([z, (0, 0, -3.0)], disc) == 0
    assert nodes([z, y], (0, 0, 0)) == 0
    assert nodes([y], disc) == 1
    assert nodes([z], (0.1, 0.15, 0.2)) == 1
    assert nodes([z], disc, (0.1, 0, 0)) == 1
    assert nodes([(0, 0, 0)], disc, (0.1, 0, 0)) == 0
    assert nodes([z, y], ball) == 1
    assert nodes([z, y], ball, section_nodes=[0]) == 0
    for given, words in (
        ("0", ["section_nodes", "names or numbers"]),
        (["tp"], ["no node 'tp'"]),
    ):
        model_refused(words, lambda given=given: nodes([z], disc, section_nodes=given))
    model_refused(
        ["section_nodes", "beside", "node_com zero"],
        lambda: nodes([z], disc, (0.1, 0, 0), section_nodes=[0]),
    )


def test_masses_on_nodes_beside_given_integrals() -> None:
    """They are rigid bodies in addition."""
    one, two = carried()
    link = two.bodies[1]
    given = link.replace(
        integrals=fa.modal_integrals(link),
        **{
            name: getattr(one.bodies[1], name) - getattr(link, name)
            for name in ("node_mass", "node_com", "node_inertia")
        },
        section_nodes=(),
    )
    assert given.mass == 2.5
    assert_allclose(given.modal_mass(), one.bodies[1].modal_mass(), atol=1e-13)
    assert_allclose(fa.modal_integrals(given).F0, fa.modal_integrals(one.bodies[1]).F0)
    arm = one.replace(bodies=[one.bodies[0], given])
    q, qd, qdd = np.random.default_rng(0).uniform(-0.3, 0.3, (3, 5, one.nv))
    tau = fa.inverse_dynamics(one, q, qd, qdd)
    assert_allclose(fa.inverse_dynamics(arm, q, qd, qdd), tau, rtol=0, atol=1e-11)
