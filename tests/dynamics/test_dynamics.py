"""Four independent computations of the same equation of motion agree (design 6).

Kernel (recursions in C), composite path (mass matrix in C, solve by LAPACK), NumPy
twin, and brute-force Lagrangian over the nodes (no recursion, no modal integral; dual
numbers and complex step), on 8 random trees in space: offset masses with unequal
inertias on rotating nodes, branches, revolute, prismatic and fixed joints, friction and
damping; on 12 with joints of all kinds; and on 12 of these with floating bodies,
whose joints hold nodes that the modes move.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from each import each
from few_modes import few_modes
from numpy.testing import assert_allclose
from trees import SEVERAL, free_joints, quaternions, random_state

import flexarm as fa
from flexarm.reference import lagrangian, twin

PLAIN = [(seed, 1 + seed % 8, SEVERAL[:3], 0.0) for seed in range(18)]
OTHER = [(seed, 1 + seed % 6, SEVERAL, 0.0) for seed in range(18)]
FLOATING = [(seed, 1 + seed % 6, SEVERAL, 0.8) for seed in range(18)]


def trees(plain, other):
    """The first trees with plain joints, with all kinds, and with floating bodies."""
    chosen = {f"{i}": key for i, key in enumerate(PLAIN[:plain])}
    for name, keys in (("joints", OTHER), ("floating", FLOATING)):
        chosen |= {f"{name} {i}": key for i, key in enumerate(keys[:other])}
    return each("key", chosen)


@functools.cache
def case(seed, n_bodies, joints, attachments):
    """A tree and a state, which all tests share."""
    options = {"max_modes": 4, "joints": joints, "attachments": attachments}
    arm = fa.library.random_tree(seed, n_bodies, **options)
    state = random_state(np.random.default_rng(seed + 1000), arm)
    for x in state:
        x.flags.writeable = False
    return arm, *state


@functools.cache
def forces_of_nodes(key):
    return lagrangian.generalized_forces(*case(*key))


def assert_close(value, expected, rtol=1e-10, scale=None):
    """Equal relative to the largest entry (or to `scale` where it is larger)."""
    size = max(float(np.abs(expected).max()), scale or 0.0)
    assert_allclose(value, expected, rtol=0.0, atol=rtol * size)


@trees(8, 12)
def test_mass_matrix_of_four_computations(key):
    arm, q, _, _ = case(*key)
    M = fa.mass_matrix(arm, q)
    assert_close(M, lagrangian.mass_matrix(arm, q))
    assert_close(M, twin.mass_matrix(arm, q))
    assert_close(M, M.T, rtol=0.0)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    # columns by inverse dynamics with unit accelerations (identity 2)
    still = np.zeros(arm.nv)
    bias = fa.bias_forces(arm, q, still)
    columns = fa.inverse_dynamics(arm, q, still, np.eye(arm.nv)) - bias
    assert_close(columns.T, M, scale=float(np.abs(bias).max()))


@trees(8, 12)
def test_inverse_dynamics_of_four_computations(key):
    arm, q, qd, qdd = case(*key)
    expected = forces_of_nodes(key)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    assert_close(tau, expected)
    assert_close(tau, twin.inverse_dynamics(arm, q, qd, qdd))
    composed = fa.mass_matrix(arm, q) @ qdd + fa.bias_forces(arm, q, qd)
    assert_close(tau, composed)
    fa.testing.assert_equation_of_motion(arm, q, qd, qdd, tau)


@trees(8, 12)
def test_forward_dynamics_inverts_inverse_dynamics(key):
    arm, q, qd, qdd = case(*key)
    tau = forces_of_nodes(key)
    condition = float(np.linalg.cond(fa.mass_matrix(arm, q)))
    for method in ("articulated", "basic", "composite"):
        found = fa.forward_dynamics(arm, q, qd, tau, method=method)
        assert_close(found, qdd, rtol=1e-14 * condition + 1e-10)
        # residual: free of the conditioning
        again = fa.inverse_dynamics(arm, q, qd, found)
        assert_close(again, tau)
    assert_close(
        twin.forward_dynamics(arm, q, qd, tau), qdd, rtol=1e-14 * condition + 1e-10
    )


@trees(8, 12)
def test_energies_are_those_of_the_nodes(key):
    arm, q, qd, _ = case(*key)
    assert_close(fa.kinetic_energy(arm, q, qd), lagrangian.kinetic_energy(arm, q, qd))
    V = lagrangian.potential_energy(arm, q)
    # the height of heavy bodies may cancel
    scale = sum(b.mass for b in arm.bodies) * np.linalg.norm(arm.gravity)
    assert_close(fa.potential_energy(arm, q), V, scale=float(scale))
    assert fa.energy(arm, q, qd) == fa.kinetic_energy(arm, q, qd) + fa.potential_energy(
        arm, q
    )
    # identity 4
    M = fa.mass_matrix(arm, q)
    assert_close(fa.kinetic_energy(arm, q, qd), 0.5 * qd @ M @ qd)


@trees(8, 12)
def test_gravity_is_the_gradient_of_its_potential(key):
    """Identities 8 and 9; the Lagrangian differentiates the potential exactly."""
    arm, q, _, _ = case(*key)
    still = np.zeros(arm.nv)
    total = lagrangian.generalized_forces(arm, q, still, still)
    weightless = arm.replace(gravity=(0.0, 0.0, 0.0))
    elastic = fa.bias_forces(weightless, q, still)
    assert_close(fa.gravity_forces(arm, q) + elastic, total)
    # elastic forces act on the modes alone, and linearly
    assert not elastic[arm.joint_slice].any()
    for body in arm.bodies:
        at = arm.mode_slice(body.name)
        eta = q[arm.mode_slice(body.name, positions=True)]
        assert_allclose(elastic[at], body.stiffness @ eta, rtol=1e-12, atol=1e-300)


@trees(8, 12)
def test_velocity_terms_do_no_work_beyond_the_mass_matrix(key):
    """Identity 7, qd'(Mdot - 2 C)qd = 0, with Mdot by a complex step of the oracle."""
    arm, q, qd, _ = case(*key)
    still = np.zeros(arm.nv)
    static = fa.bias_forces(arm, q, still)
    plain = fa.bias_forces(arm, q, qd) - static - lagrangian.damping_matrix(arm) @ qd
    size = np.abs(qd) @ (np.abs(plain) + np.abs(static))
    h = 1e-40
    rate = lagrangian.mass_matrix(arm, q, delta=1j * h * qd).imag / h
    power = 0.5 * qd @ rate @ qd
    assert_close(qd @ plain, power, scale=float(size))


@trees(0, 18)
def test_subspaces_are_free_joints_on_fewer_twists(key):
    """Also where the subspace is no Lie algebra: d'Alembert's principle, S' tau."""
    arm, q, qd, qdd = case(*key)
    bodies = [b.replace(joint=b.joint.replace(damping=0.0)) for b in arm.bodies]
    arm = arm.replace(bodies=bodies)
    free, S = free_joints(arm)
    tau = fa.inverse_dynamics(free, q, S @ qd, S @ qdd)
    assert_close(
        fa.inverse_dynamics(arm, q, qd, qdd), S.T @ tau, scale=np.abs(tau).max()
    )
    M = fa.mass_matrix(free, q)
    assert_close(fa.mass_matrix(arm, q), S.T @ M @ S, scale=np.abs(M).max())


@trees(0, 12)
def test_quaternions_of_any_length(key):
    arm, q, qd, qdd = case(*key)
    longer = q.copy()
    for at in quaternions(arm):
        longer[at] *= -3.7
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    assert_close(fa.inverse_dynamics(arm, longer, qd, qdd), tau, rtol=1e-13)
    assert_close(fa.mass_matrix(arm, longer), fa.mass_matrix(arm, q), rtol=1e-13)


def test_offset_nodes_differ_from_the_patents_velocity_terms():
    """Appendix C.4 of the patent turns p and J with the node, T does not (design 2).

    With p = 0 and isotropic J on the nodes the two agree.  Gravity acts on the centre
    of mass of each node, which the rotation of the node moves: E'g on the modes.
    """
    p = np.array([0.1, 0.3, 0.0])
    about_node = 2.0 * (p @ p * np.eye(3) - np.outer(p, p)) + 0.01 * np.eye(3)
    body = fa.FlexibleBody(
        "link",
        node_position=[(0, 0, 0), (1, 0, 0)],
        node_mass=[0.0, 2.0],
        node_inertia=[np.zeros((3, 3)), about_node],
        node_com=[(0, 0, 0), p],
        node_translation=[[[0.0]] * 3, [[0.0], [0.5], [0.0]]],
        node_rotation=[[[0.0]] * 3, [[0.0], [0.0], [0.7]]],
        stiffness=[10.0],
    )
    arm = fa.Arm([body], gravity=(0.0, -9.81, 0.0))
    # weight times the rise of the offset mass: gamma + lambda x p
    rise = 0.5 + 0.7 * 0.1
    assert_allclose(
        fa.gravity_forces(arm, [0.0, 0.0])[1], 2.0 * 9.81 * rise, rtol=1e-14
    )


@few_modes()
def test_an_offset_payload_weighs_like_the_same_body_on_a_fixed_joint():
    """1 kg held 0.2 m beyond the tip of a beam: its moment bends the beam, too."""
    modes = fa.beams.clamped_beam_modes(1.0, 0.5, 40.0, 4)
    link = {"length": 1.0, "mass_per_length": 0.5, "bending_z": modes}
    com, about = (0.2, 0.0, 0.05), np.diag([0.0025, 0.0425, 0.04]) + 1e-3 * np.eye(3)
    about[0, 2] = about[2, 0] = -0.2 * 0.05
    carried = fa.Arm(
        [
            fa.beams.flexible_link(
                "a", tip_mass=1.0, tip_com=com, tip_inertia=about, **link
            )
        ]
    )
    joined = fa.Arm(
        [
            fa.beams.flexible_link("a", **link),
            fa.RigidBody("b", fa.Joint("fixed"), 1.0, com, 1e-3 * np.eye(3)),
        ]
    )
    straight = np.zeros(5)
    g = [fa.gravity_forces(arm, straight) for arm in (carried, joined)]
    assert_allclose(g[0], g[1], rtol=0, atol=1e-13 * np.abs(g[1]).max())
    M = [fa.mass_matrix(arm, straight) for arm in (carried, joined)]
    assert_allclose(M[0], M[1], rtol=0, atol=1e-13 * np.abs(M[1]).max())
    # bent: the two differ in second order of the slope alone
    bent = np.append(0.0, 1e-4 * np.ones(4))
    V = [fa.potential_energy(arm, bent) for arm in (carried, joined)]
    assert_allclose(V[0], V[1], rtol=0, atol=1e-6)


def test_point_mass_on_a_massless_rod_by_hand():
    arm = fa.Arm(
        [
            fa.RigidBody("rod", nodes={"tip": (0.5, 0, 0)}),
            fa.RigidBody(
                "bob", joint=fa.Joint("fixed"), mass=2.0, inertia=(0.1, 0.1, 0.1)
            ),
        ],
        gravity=(0.0, -10.0, 0.0),
    )
    assert_allclose(fa.mass_matrix(arm, [0.3]), [[2.0 * 0.25 + 0.1]], rtol=1e-15)
    assert_allclose(fa.gravity_forces(arm, [0.0]), [2.0 * 10.0 * 0.5], rtol=1e-15)
    assert_allclose(
        fa.forward_dynamics(arm, [0.0], [3.0], [0.0]), [-10.0 / 0.6], rtol=1e-15
    )


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 0, 0), (0, -1, 0), (1, 2, -3)])
def test_two_link_arm_of_the_textbook(axis):
    """M. Spong, Robot Dynamics and Control (1989), eq. 6.4.14, about any axis."""
    z = np.array(axis) / np.linalg.norm(axis)
    x = np.cross(z, [0.3, -0.8, 0.5])
    x /= np.linalg.norm(x)
    m, length, c, inertia = (3.0, 2.0), (1.1, 0.9), (0.4, 0.5), (0.2, 0.3)
    bodies = [
        fa.RigidBody(
            f"link{i + 1}",
            fa.Joint(axis=axis),
            mass=m[i],
            com=c[i] * x,
            inertia=inertia[i] * np.eye(3),
            nodes={"tip": length[i] * x},
        )
        for i in range(2)
    ]
    arm = fa.Arm(bodies, gravity=(0, 0, 0))
    q, qd = np.array([0.4, -1.2]), np.array([0.7, 1.9])
    cross = m[1] * length[0] * c[1]
    d22 = m[1] * c[1] ** 2 + inertia[1]
    d12 = d22 + cross * np.cos(q[1])
    d11 = m[0] * c[0] ** 2 + inertia[0] + m[1] * length[0] ** 2 + d22
    d11 += 2.0 * cross * np.cos(q[1])
    h = -cross * np.sin(q[1])
    assert_allclose(fa.mass_matrix(arm, q), [[d11, d12], [d12, d22]], rtol=3e-15)
    expected = [h * qd[1] * (2.0 * qd[0] + qd[1]), -h * qd[0] ** 2]
    assert_allclose(fa.bias_forces(arm, q, qd), expected, rtol=0, atol=2e-14)


@pytest.mark.parametrize("shortens", [False, True])
@pytest.mark.parametrize("n_modes", [5, 6, 7, 12, 20, 64])
def test_any_number_of_modes(n_modes, shortens):
    """Up to six modes are compile-time constants of the kernels, more are not."""
    rng = np.random.default_rng(n_modes)
    n_nodes = 30

    def body(name, joint, n):
        shapes = 0.3 * rng.normal(size=(2, n_nodes, 3, n))
        shapes[:, 0] = 0.0
        spread = rng.normal(size=(n_nodes, 3, 3))
        p = 0.1 * rng.normal(size=(n_nodes, 3))
        mass = rng.uniform(0.1, 0.3, n_nodes)
        offset = np.einsum("ni,ni->n", p, p)[:, None, None] * np.eye(3)
        offset = offset - p[:, :, None] * p[:, None, :]
        turn = np.swapaxes(spread, 1, 2) @ spread
        trace = np.trace(turn, axis1=1, axis2=2)[:, None, None]
        about = 0.01 * (trace * np.eye(3) - turn)
        root = rng.normal(size=(n, n))
        kappa = (rng.normal(size=(n_nodes, 3, n, n)) * 0.02 / n) if shortens else None
        return fa.FlexibleBody(
            name,
            joint,
            node_position=rng.normal(size=(n_nodes, 3)),
            node_mass=mass,
            node_com=p,
            node_inertia=about + mass[:, None, None] * offset,
            node_translation=shapes[0],
            node_rotation=shapes[1],
            node_foreshortening=None if kappa is None else kappa + kappa.swapaxes(2, 3),
            stiffness=root @ root.T,
            damping=0.1 * np.eye(n),
        )

    arm = fa.Arm(
        [
            body("first", fa.Joint(axis=(1, 2, 3)), n_modes),
            body("second", fa.Joint(axis=(0, 1, 0), position=(0.1, 0.2, 0.3)), 2),
        ]
    )
    q, qd, qdd = random_state(rng, arm, amplitude=0.3 / np.sqrt(n_modes))
    tau = lagrangian.generalized_forces(arm, q, qd, qdd)
    assert_close(fa.inverse_dynamics(arm, q, qd, qdd), tau)
    M = lagrangian.mass_matrix(arm, q)
    assert_close(fa.mass_matrix(arm, q), M)
    for method in ("articulated", "composite"):
        found = fa.forward_dynamics(arm, q, qd, tau, method=method)
        assert_close(found, qdd, rtol=1e-14 * float(np.linalg.cond(M)) + 1e-12)
    node = arm.n_nodes - 1
    assert_close(fa.jacobian(arm, q, node), lagrangian.node_jacobian(arm, q, node))
