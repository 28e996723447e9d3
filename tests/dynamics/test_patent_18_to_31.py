"""Validation tests 18 to 31 of the patent of Jain and Rodriguez, by their numbers.

The numbers are those of the list in section 5 of the digest of US patent 5,546,508;
tests 1 to 17 are in ``test_patent_01_to_17.py``.  Some live where their tools are:

==  ==================================================================================
18  rigid arms against Pinocchio: all of ``test_pinocchio.py``
26  a spacecraft with flexible booms for ten seconds: ``test_free_flying.py``
28  the ruthless linearization: ``test_ruthless.py``
30  closed chains against a dense KKT system: ``test_constraints.py``
31  counts of operations: ``test_operation_counts.py``
==  ==================================================================================

Unless it says otherwise, an arm is a tree of rigid and flexible bodies in space with
joints of all kinds, offset masses and unequal inertias on nodes that turn.
"""

from __future__ import annotations

import numpy as np
import pytest
from closeness import assert_close
from each import each
from few_modes import planar_chain
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from trees import (
    SEVERAL,
    calm_state,
    conservative,
    floating,
    in_basis,
    node_table,
    random_state,
)

import flexarm as fa
from flexarm import _core
from flexarm.reference import lagrangian


def assert_dynamics(arm, state, tau, M, scale):
    """Forces, mass matrix and accelerations of a state."""
    q, qd, qdd = state
    assert_close(fa.inverse_dynamics(arm, q, qd, qdd), tau, 1e-13)
    assert_close(fa.mass_matrix(arm, q), M, 1e-13)
    rtol = 1e-15 * np.linalg.cond(M) + 1e-14
    for method in ("articulated", "composite"):
        found = fa.forward_dynamics(arm, q, qd, tau, method=method)
        assert_close(found, qdd, rtol, scale)


def forces_scale(arm, q, qd, tau):
    """Size of the terms that forward dynamics adds and solves for."""
    bias = np.abs(fa.bias_forces(arm, q, qd)).max()
    inverse = np.abs(fa.mass_matrix_inverse(arm, q)).max()
    return float(inverse * max(bias, np.abs(tau).max()))


# 18 to 20: rigid, mixed, nearly rigid


@each("seed", range(12))
def test_18_flexible_bodies_without_modes_are_rigid_ones(seed):
    """No modes: the nodes of a body are its mass, mass centre and inertia."""
    arm = fa.library.random_tree(seed, 5, max_modes=3, joints=SEVERAL)
    stiff, rigid = [], []
    for body in arm.bodies:
        if not body.n_modes:
            stiff.append(body)
            rigid.append(body)
            continue
        n = body.n_nodes
        none = {"node_translation": np.zeros((n, 3, 0)), "node_rotation": None}
        none |= {"stiffness": np.zeros((0, 0)), "damping": None, "mode_names": ()}
        none |= {"node_foreshortening": None}
        stiff.append(body.replace(**none))
        place = body.node_position + body.node_com
        com = body.node_mass @ place / body.mass
        inertia = np.zeros((3, 3))
        for j in range(n):
            # about the node, about its mass centre, about that of the body
            p, r = body.node_com[j], place[j] - com
            inertia += body.node_inertia[j]
            inertia -= body.node_mass[j] * (p @ p * np.eye(3) - np.outer(p, p))
            inertia += body.node_mass[j] * (r @ r * np.eye(3) - np.outer(r, r))
        nodes = dict(zip(body.node_names, body.node_position, strict=True))
        nodes.pop("base")
        own = {"mass": body.mass, "com": com, "inertia": inertia}
        rigid.append(fa.RigidBody(body.name, body.joint, **own, nodes=nodes))
    first, second = arm.replace(bodies=stiff), arm.replace(bodies=rigid)
    q, qd, qdd = random_state(np.random.default_rng(seed), second)
    tau, M = fa.inverse_dynamics(second, q, qd, qdd), fa.mass_matrix(second, q)
    assert_dynamics(first, (q, qd, qdd), tau, M, forces_scale(second, q, qd, tau))


def arm_of_all_freedoms(seed):
    """A free base, then joints of 1 to 5 freedoms in any directions, one fixed."""
    rng = np.random.default_rng(seed)
    arm = fa.library.random_tree(seed, 7, max_modes=3, joints=("subspace",))
    bodies = list(arm.bodies)
    for k in range(1, 6):
        S = rng.normal(size=(6, k))
        joint = bodies[k].joint.replace(subspace=S, damping=0.1)
        bodies[k] = bodies[k].replace(joint=joint)
    changes = {"subspace": None, "damping": 0.0}
    for k, kind in ((0, "free"), (6, "fixed")):
        joint = bodies[k].joint.replace(kind=kind, **changes)
        bodies[k] = bodies[k].replace(joint=joint)
    return arm.replace(bodies=bodies)


@each("seed", range(9))
def test_19_rigid_and_flexible_bodies_on_joints_of_0_to_6_freedoms(seed):
    """Kernels against the energies of the nodes."""
    arm = arm_of_all_freedoms(seed)
    assert [b.joint.n_dof for b in arm.bodies] == [6, 1, 2, 3, 4, 5, 0]
    assert len({bool(b.n_modes) for b in arm.bodies}) == 2
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    tau = lagrangian.generalized_forces(arm, q, qd, qdd)
    M = lagrangian.mass_matrix(arm, q)
    assert_dynamics(arm, (q, qd, qdd), tau, M, forces_scale(arm, q, qd, tau))


def test_20_stiffness_to_infinity_recovers_the_rigid_motion():
    """The error of the joint motion falls as 1/stiffness.

    The elastic coordinates are started at their quasi-static value of the rigid motion
    (K eta = -residual), so that no vibration is excited beyond the next order.
    """
    t = np.linspace(0.0, 0.4, 3)
    errors = []
    rigid = planar_chain(2, gravity=(0, -9.81, 0))
    exact = fa.simulate(rigid, [0.3, 0.4], [0, 0], t, method="DOP853", rtol=1e-12)
    for factor in (1.0, 4.0, 16.0):
        arm = planar_chain(2, n_modes=1, gravity=(0, -9.81, 0))
        stiff = [b.replace(stiffness=2e2 * factor * b.stiffness) for b in arm.bodies]
        arm = arm.replace(bodies=stiff)
        q0 = np.array([0.3, 0.4, 0.0, 0.0])
        qdd = np.zeros(4)
        qdd[:2] = fa.forward_dynamics(rigid, q0[:2], [0, 0], [0, 0])
        K = [float(b.stiffness[0, 0]) for b in arm.bodies]
        q0[2:] = -fa.inverse_dynamics(arm, q0, np.zeros(4), qdd)[2:] / K
        run = fa.simulate(arm, q0, np.zeros(4), t, method="DOP853", rtol=1e-10)
        errors.append(np.abs(run.q[-1, :2] - exact.q[-1]).max())
    orders = np.log(np.array(errors[:-1]) / errors[1:]) / np.log(4.0)
    assert (orders > 0.85).all(), (errors, orders)


# 21 and 22: one beam

LENGTH, MASS_PER_LENGTH, BENDING = 1.5, 0.8, 40.0


@pytest.mark.filterwarnings("ignore:.*5 % too stiff in twist:flexarm.ModeWarning")
@pytest.mark.parametrize("kind", ["bending", "torsion"])
def test_21_cantilever_at_rest(kind):
    """etadd = M_ff^-1 (T - K eta) at any deflection; the modes are those put in."""
    y = fa.beams.clamped_beam_modes(LENGTH, MASS_PER_LENGTH, BENDING, 3, tip_mass=0.2)
    z = fa.beams.clamped_beam_modes(LENGTH, MASS_PER_LENGTH, 70.0, 2, tip_mass=0.2)
    rod = fa.beams.clamped_rod_modes(LENGTH, 1e-3, 9.0, 4)
    given = {"torsion": rod}
    if kind == "bending":  # apart: sections of a rod that twists resist bending, too
        given = {"bending_y": y, "bending_z": z, "tip_mass": 0.2}
    beam = fa.beams.flexible_link(
        "beam",
        length=LENGTH,
        mass_per_length=MASS_PER_LENGTH,
        joint=fa.Joint("fixed", rotation=Rotation.random(random_state=1).as_matrix()),
        geometric_stiffening=False,  # M_ff of the linear beam at any deflection
        **given,
    )
    arm = fa.Arm([beam], gravity=(0, 0, 0))
    eta, T = np.random.default_rng(2).normal(size=(2, arm.nv))
    M_ff, still = beam.modal_mass(), np.zeros(arm.nv)
    expected = np.linalg.solve(M_ff, T - beam.stiffness @ (0.05 * eta))
    for method in ("articulated", "composite"):
        found = fa.forward_dynamics(arm, 0.05 * eta, still, T, method=method)
        assert_close(found, expected, 1e-14 * np.linalg.cond(M_ff))
    unit = np.eye(arm.nv)
    values = np.linalg.eigvals(-fa.forward_dynamics(arm, unit, still, still).T)
    modes = (y, z) if kind == "bending" else (rod,)
    hertz = np.sqrt(np.sort(values.real)) / (2.0 * np.pi)
    frequencies = np.concatenate([m.frequency for m in modes])
    assert_allclose(hertz, np.sort(frequencies), rtol=1e-12)


def euler_bernoulli(hub_inertia, count):
    """Circular frequencies of a uniform beam whose root turns with a hub.

    y = a (cos - cosh) + b sin + c sinh of beta x vanishes at the root; the hub obeys
    EI y''(0) = -J omega^2 y'(0), the tip is free.  Without hub inertia the root is
    pinned, with an infinite one it is clamped.
    """

    def determinant(x):  # x = beta L; rows divided by cosh x
        J = hub_inertia * (x / LENGTH) ** 3 / MASS_PER_LENGTH
        e = 2.0 * np.exp(-x) / (1.0 + np.exp(-2.0 * x))  # 1 / cosh x
        t = np.tanh(x)
        rows = [
            [-2.0, J, J] if np.isfinite(J) else [0.0, 1.0, 1.0],
            [-np.cos(x) * e - 1.0, -np.sin(x) * e, t],
            [np.sin(x) * e - t, -np.cos(x) * e, 1.0],
        ]
        return np.linalg.det(rows)

    grid = np.arange(0.5, 4.0 * count + 4.0, 0.05)
    signs = np.sign([determinant(x) for x in grid])
    brackets = np.flatnonzero(signs[:-1] != signs[1:])[:count]
    roots = [brentq(determinant, *grid[i : i + 2], xtol=1e-15) for i in brackets]
    return (np.array(roots) / LENGTH) ** 2 * np.sqrt(BENDING / MASS_PER_LENGTH)


def hub_and_beam(n_modes, hub_inertia):
    modes = fa.beams.clamped_beam_modes(LENGTH, MASS_PER_LENGTH, BENDING, n_modes)
    beam = fa.beams.flexible_link(
        "beam",
        length=LENGTH,
        mass_per_length=MASS_PER_LENGTH,
        bending_y=modes,
        base_inertia=hub_inertia,
    )
    return fa.Arm([beam], gravity=(0, 0, 0))


def test_22_driven_hub_shakes_a_cantilever():
    """The motion of the hub is given: 1.8751, 4.6941, 7.8548 of the handbooks."""
    arm = hub_and_beam(3, 0.3)
    exact = euler_bernoulli(np.inf, 3)
    handbook = np.array([1.8751, 4.6941, 7.8548]) ** 2 / LENGTH**2
    assert_allclose(exact, handbook * np.sqrt(BENDING / MASS_PER_LENGTH), rtol=3e-5)
    still = np.zeros(4)
    M, K = fa.mass_matrix(arm, still)[1:, 1:], arm.stiffness_matrix[1:, 1:]
    found = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real))
    assert_allclose(found, exact, rtol=1e-12)
    # the steady answer to hub angles a sin(omega t), from the equation of motion:
    # (K - omega^2 M) eta = omega^2 M_fr a, without a residual on the modes
    omega, a = 0.7 * exact[0], 1e-8
    coupling = fa.mass_matrix(arm, still)[1:, 0]
    eta = np.linalg.solve(K - omega**2 * M, omega**2 * coupling * a)
    q, qdd = np.array([a, *eta]), -(omega**2) * np.array([a, *eta])
    assert np.abs(fa.inverse_dynamics(arm, q, still, qdd)[1:]).max() < 1e-12 * a * (
        omega**2
    )


@pytest.mark.parametrize("hub_inertia", [0.01, 0.3, 5.0])
def test_22_frequencies_of_a_beam_on_a_free_hub(hub_inertia):
    """Clamped modes and the turning hub converge to Euler-Bernoulli, from above."""
    exact, errors = euler_bernoulli(hub_inertia, 3), []
    for n_modes in (4, 8, 16):
        arm = hub_and_beam(n_modes, hub_inertia)
        M, K = fa.mass_matrix(arm, np.zeros(arm.nv)), arm.stiffness_matrix
        values = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
        assert abs(values[0]) < 1e-9 * values[1]  # the arm turns as a whole
        # the hub goes along: 1/omega^2, the largest of which rounding hardly changes
        elastic = M[1:, 1:] - np.outer(M[1:, 0], M[0, 1:]) / M[0, 0]
        squares = eigh(elastic, K[1:, 1:], eigvals_only=True)[:-4:-1]
        errors.append(1.0 / np.sqrt(squares) / exact - 1.0)
    errors = np.array(errors)
    assert (errors > -1e-11).all()
    assert (errors[2] < 5e-8).all()
    orders = np.log2(errors[0] / errors[1])
    assert (orders > 6.5).all(), orders  # 7, with 4 to 8 modes


# 23 to 25: what the description may choose


@each("seed", range(20))
def test_23_another_modal_basis_gives_the_same_motion(seed):
    """eta = W eta': joint accelerations stay, modal ones turn."""
    rng = np.random.default_rng(seed)
    arm = fa.library.random_tree(seed + 50, 4, max_modes=4, joints=SEVERAL)
    q, qd, _ = random_state(rng, arm)
    new, blocks, other_q = [], np.eye(arm.nv), q.copy()
    for body in arm.bodies:
        if body.n_modes:
            W = rng.normal(size=(body.n_modes, body.n_modes)) + 3 * np.eye(body.n_modes)
            at = arm.mode_slice(body.name, positions=True)
            other_q[at] = np.linalg.solve(W, q[at])
            blocks[arm.mode_slice(body.name), arm.mode_slice(body.name)] = W
            body = in_basis(body, W)
        new.append(body)
    other = arm.replace(bodies=new)
    tau = rng.normal(size=arm.nu)
    qdd = fa.forward_dynamics(arm, q, qd, tau)
    other_qd = np.linalg.solve(blocks, qd)
    found = blocks @ fa.forward_dynamics(other, other_q, other_qd, tau)
    M = fa.mass_matrix(arm, q)
    scale = forces_scale(arm, q, qd, tau)
    assert_close(found, qdd, 1e-15 * np.linalg.cond(M) + 1e-13, scale)
    assert_close(fa.mass_matrix(other, other_q), blocks.T @ M @ blocks, 1e-12)


def integrals(body):
    """Modal integrals of the kernels, flat."""
    mass, mp0, J0, flat = _core.modal_integrals(body.n_modes, node_table(body))
    return np.array([mass, *mp0, *J0, *flat])


@each("change", ["permuted", "split"])
@each("seed", range(10))
def test_24_order_and_halves_of_nodes_do_not_matter(seed, change):
    """Permuted nodes, and two coincident halves of one, have the same integrals."""
    rng = np.random.default_rng(seed)
    arm = fa.library.random_tree(seed + 80, 4, max_modes=3, joints=SEVERAL)
    # children find their nodes by name
    names = {b.name: b.node_names for b in arm.bodies}
    bodies = []
    for body, p in zip(arm.bodies, arm._parents, strict=True):
        if p >= 0:
            node = names[arm.bodies[p].name][int(body.joint.node)]
            body = body.replace(joint=body.joint.replace(node=node))
        n = body.n_nodes
        pick, share = rng.permutation(n), np.ones(n)
        labels = [body.node_names[j] for j in pick]
        if change == "split":
            pick, share = np.append(np.arange(n), n - 1), np.append(np.ones(n), 0.5)
            share[-2] = 0.5
            labels = [*body.node_names, "half"]
        if body.n_modes:
            kappa = body.node_foreshortening
            again = body.replace(
                node_mass=share * body.node_mass[pick],
                node_inertia=share[:, None, None] * body.node_inertia[pick],
                node_com=body.node_com[pick],
                node_position=body.node_position[pick],
                node_translation=body.node_translation[pick],
                node_rotation=body.node_rotation[pick],
                node_foreshortening=kappa if kappa is None else kappa[pick],
                node_names=labels,
            )
            assert_close(integrals(again), integrals(body), 1e-15)
            body = again
        bodies.append(body)
    other = arm.replace(bodies=bodies, tip=None)
    q, qd, qdd = random_state(rng, arm)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    assert_close(fa.inverse_dynamics(other, q, qd, qdd), tau, 1e-13)


@each("seed", range(20))
def test_25_turning_arm_and_gravity_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    arm = fa.library.random_tree(seed, 5, max_modes=3, joints=SEVERAL)
    R = Rotation.random(random_state=seed).as_matrix()
    root = arm.bodies[0]
    joint = root.joint.replace(
        rotation=R @ root.joint.rotation, position=R @ root.joint.position
    )
    turned = arm.replace(
        bodies=(root.replace(joint=joint), *arm.bodies[1:]), gravity=R @ arm.gravity
    )
    q, qd, tau = random_state(rng, arm)
    expected = fa.forward_dynamics(arm, q, qd, tau)
    scale = forces_scale(arm, q, qd, tau)
    rtol = 1e-15 * np.linalg.cond(fa.mass_matrix(arm, q)) + 1e-14
    assert_close(fa.forward_dynamics(turned, q, qd, tau), expected, rtol, scale)
    pose, again = fa.node_poses(arm, q), fa.node_poses(turned, q)
    for part in (slice(0, 3), slice(3, 4)):
        assert_close(again[:, :3, part], R @ pose[:, :3, part], 1e-14)
    h, again = fa.momentum(arm, q, qd), fa.momentum(turned, q, qd)
    assert_close(again, np.concatenate([R @ h[:3], R @ h[3:]]), 1e-14)


# 26 and 27: what is conserved


@pytest.mark.parametrize("seed", [0, 1, 3, 5])
def test_26_momentum_of_a_floating_arm_is_conserved(seed):
    """Linear momentum, and the angular one about the origin of the base."""
    arm = floating(seed)
    q0, qd0 = calm_state(arm, seed)
    tau = np.random.default_rng(seed).normal(size=arm.nu)  # from inside
    tau[:6] = 0.0
    run = fa.simulate(
        arm, q0, qd0, np.linspace(0.0, 0.2, 2001), torque=lambda t, q, qd: tau
    )
    assert run.success, run.message
    h = fa.momentum(arm, run.q, run.qd)
    for momentum in (h[:, :3], h[:, 3:]):
        size = np.abs(momentum).max()
        assert np.abs(momentum - momentum[0]).max() < 1e-9 * size


@each("seed", range(12))
def test_27_power_is_the_rate_of_energy(seed):
    """T'chi = d/dt (kinetic + potential) + losses, by a complex step of the energies.

    Power of the kernels against energies of the nodes, at any state of any arm.
    """
    arm = fa.library.random_tree(seed, 1 + seed % 6, max_modes=4, joints=SEVERAL)
    if seed % 2:
        arm = conservative(arm)
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    h = 1e-40
    moving = {"delta": 1j * h * qd}
    rate = lagrangian.kinetic_energy(arm, q, qd + 1j * h * qdd, **moving)
    rate = (rate + lagrangian.potential_energy(arm, q, **moving)).imag / h
    lost = qd @ arm.damping_matrix @ qd
    assert (lost == 0.0) == bool(seed % 2)
    assert_close(tau @ qd, rate + lost, 1e-13, float(np.abs(tau) @ np.abs(qd)))


# 29: trees


@each("seed", range(10))
def test_29_a_tree_with_one_child_each_is_a_chain(seed):
    """Parents by name or by the order of the list: the same bits."""
    arm = fa.library.random_tree(seed, 5, max_modes=3, joints=SEVERAL)
    chain, named = [], []
    for k, body in enumerate(arm.bodies):
        parent = arm.bodies[k - 1].name if k else "ground"
        chain.append(body.replace(joint=body.joint.replace(parent=None)))
        named.append(body.replace(joint=body.joint.replace(parent=parent)))
    serial, tree = arm.replace(bodies=chain), arm.replace(bodies=named)
    q, qd, qdd = random_state(np.random.default_rng(seed), serial)
    for function in (fa.inverse_dynamics, fa.forward_dynamics):
        assert np.array_equal(function(serial, q, qd, qdd), function(tree, q, qd, qdd))
    assert np.array_equal(fa.mass_matrix(serial, q), fa.mass_matrix(tree, q))


@each("seed", range(20))
def test_29_order_of_siblings_does_not_matter(seed):
    """The same tree listed breadth first, siblings backwards."""
    arm = fa.library.random_tree(seed + 20, 6, max_modes=2, branches=3, joints=SEVERAL)
    names = [b.name for b in arm.bodies]
    parents = [names[p] if p >= 0 else "ground" for p in arm._parents]
    bodies = [
        b.replace(joint=b.joint.replace(parent=p))
        for b, p in zip(arm.bodies, parents, strict=True)
    ]
    order, queue = [], ["ground"]
    while queue:
        here = queue.pop(0)
        found = [i for i, p in enumerate(parents) if p == here][::-1]
        order += found
        queue += [names[i] for i in found]
    other = arm.replace(bodies=[bodies[i] for i in order], tip=None)
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    at = [arm.position_names.index(c) for c in other.position_names]
    place = [arm.coordinate_names.index(c) for c in other.coordinate_names]
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    found = fa.inverse_dynamics(other, q[at], qd[place], qdd[place])
    assert_close(found, tau[place], 1e-13)
    M = fa.mass_matrix(arm, q)
    assert_close(fa.mass_matrix(other, q[at]), M[np.ix_(place, place)], 1e-13)
    scale = forces_scale(arm, q, qd, tau)
    found = fa.forward_dynamics(other, q[at], qd[place], tau[place])
    assert_close(found, qdd[place], 1e-15 * np.linalg.cond(M) + 1e-14, scale)
