"""Identities that hold for any arm: symmetry, limits, units, order (style 4)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import random_state

import flexarm as fa
from flexarm.reference import lagrangian


def rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q * np.linalg.det(q)


@pytest.mark.parametrize("seed", range(20))
def test_turning_arm_and_gravity_changes_nothing(seed):
    """Identity 12; Jain and Rodriguez digest, test 25."""
    rng = np.random.default_rng(seed)
    arm = fa.library.random_tree(seed, n_bodies=5, max_modes=3)
    R = rotation(rng)
    root = arm.bodies[0]
    joint = root.joint.replace(
        rotation=R @ root.joint.rotation, position=R @ root.joint.position
    )
    turned = arm.replace(
        bodies=(root.replace(joint=joint), *arm.bodies[1:]), gravity=R @ arm.gravity
    )
    q, qd, tau = random_state(rng, arm)
    expected = fa.forward_dynamics(arm, q, qd, tau)
    scale = np.abs(expected).max() * np.linalg.cond(fa.mass_matrix(arm, q))
    assert_allclose(
        fa.forward_dynamics(turned, q, qd, tau), expected, rtol=0, atol=1e-14 * scale
    )
    assert_allclose(
        fa.tip_pose(turned, q)[:3, 3],
        R @ fa.tip_pose(arm, q)[:3, 3],
        rtol=0,
        atol=1e-13,
    )


@pytest.mark.parametrize("seed", range(10))
def test_another_modal_basis_gives_the_same_motion(seed):
    """eta = W eta': joint accelerations stay, modal ones turn (digest, test 23)."""
    rng = np.random.default_rng(seed)
    arm = fa.library.random_tree(seed + 50, n_bodies=4, max_modes=4)
    new, blocks = [], np.eye(arm.nv)
    for body in arm.bodies:
        if body.n_modes:
            W = rng.normal(size=(body.n_modes, body.n_modes)) + 3 * np.eye(body.n_modes)
            blocks[arm.mode_slice(body.name), arm.mode_slice(body.name)] = W
            body = body.replace(
                node_translation=body.node_translation @ W,
                node_rotation=body.node_rotation @ W,
                stiffness=W.T @ body.stiffness @ W,
                damping=W.T @ body.damping @ W,
            )
        new.append(body)
    other = arm.replace(bodies=new)
    q, qd, _ = random_state(rng, arm)
    tau = rng.normal(size=arm.nu)
    back = np.linalg.inv(blocks)
    qdd = fa.forward_dynamics(arm, q, qd, tau)
    found = blocks @ fa.forward_dynamics(other, back @ q, back @ qd, tau)
    scale = np.abs(qdd).max() * np.linalg.cond(fa.mass_matrix(arm, q))
    assert_allclose(found, qdd, rtol=0, atol=1e-13 * scale)


@pytest.mark.parametrize("seed", range(10))
def test_splitting_a_node_changes_nothing(seed):
    """Two coincident halves of a node are the node (digest, test 24)."""
    arm = fa.library.random_tree(seed + 80, n_bodies=3, max_modes=3)
    rng = np.random.default_rng(seed)

    def halved(body):
        if not body.n_modes:
            return body
        twice = [*range(body.n_nodes), body.n_nodes - 1]
        mass, inertia = body.node_mass[twice], body.node_inertia[twice]
        mass[-2:] *= 0.5
        inertia[-2:] *= 0.5
        return body.replace(
            node_mass=mass,
            node_inertia=inertia,
            node_com=body.node_com[twice],
            node_position=body.node_position[twice],
            node_translation=body.node_translation[twice],
            node_rotation=body.node_rotation[twice],
            node_names=(*body.node_names, "half"),
        )

    other = arm.replace(bodies=[halved(b) for b in arm.bodies])
    q, qd, qdd = random_state(rng, arm)
    expected = fa.inverse_dynamics(arm, q, qd, qdd)
    scale = np.abs(expected).max()
    assert_allclose(
        fa.inverse_dynamics(other, q, qd, qdd), expected, rtol=0, atol=1e-13 * scale
    )


@pytest.mark.parametrize("seed", range(10))
def test_order_of_siblings_does_not_matter(seed):
    """Digest, test 29: the same tree listed in another order."""
    arm = fa.library.random_tree(seed + 20, n_bodies=6, max_modes=2, branches=3)
    names = [b.name for b in arm.bodies]
    parents = [names[p] if p >= 0 else "ground" for p in arm._parents]
    bodies = [
        b.replace(joint=b.joint.replace(parent=p))
        for b, p in zip(arm.bodies, parents, strict=True)
    ]
    # breadth first, siblings backwards
    order, queue = [], ["ground"]
    while queue:
        here = queue.pop(0)
        found = [i for i, p in enumerate(parents) if p == here][::-1]
        order += found
        queue += [names[i] for i in found]
    other = arm.replace(bodies=[bodies[i] for i in order], tip=None)
    rng = np.random.default_rng(seed)
    q, qd, qdd = random_state(rng, arm)
    place = [arm.coordinate_names.index(c) for c in other.coordinate_names]
    expected = fa.inverse_dynamics(arm, q, qd, qdd)[place]
    found = fa.inverse_dynamics(other, q[place], qd[place], qdd[place])
    assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(6))
def test_grams_and_millimetres(seed):
    """The equation of motion in other units (identity 12)."""
    arm = fa.library.random_tree(seed, n_bodies=4, max_modes=0, joints=("revolute",))

    def scaled(body):
        joint = body.joint.replace(
            position=1e3 * body.joint.position, damping=1e9 * body.joint.damping
        )
        nodes = [(k, 1e3 * np.array(x)) for k, x in body.nodes]
        return body.replace(
            joint=joint,
            mass=1e3 * body.mass,
            com=1e3 * body.com,
            inertia=1e9 * body.inertia,
            nodes=nodes,
        )

    other = arm.replace(
        bodies=[scaled(b) for b in arm.bodies],
        gravity=1e3 * arm.gravity,
        check_units=False,
    )
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    assert_allclose(
        fa.inverse_dynamics(other, q, qd, qdd),
        1e9 * fa.inverse_dynamics(arm, q, qd, qdd),
        rtol=1e-11,
    )


@pytest.mark.parametrize("seed", range(8))
def test_locked_modes_are_the_rigid_arm(seed):
    """Identity 10: shapes scaled to nothing leave the rigid rows."""
    arm = fa.library.random_tree(seed + 5, n_bodies=4, max_modes=3)
    small = 1e-9

    def shrunk(body):
        if not body.n_modes:
            return body
        return body.replace(
            node_translation=small * body.node_translation,
            node_rotation=small * body.node_rotation,
            stiffness=small**2 * body.stiffness,
            damping=small**2 * body.damping,
        )

    def rigid(body):
        if not body.n_modes:
            return body
        return body.replace(
            node_translation=np.zeros((body.n_nodes, 3, 0)),
            node_rotation=None,
            stiffness=np.zeros((0, 0)),
            damping=None,
            mode_names=(),
        )

    almost = arm.replace(bodies=[shrunk(b) for b in arm.bodies])
    stiff = arm.replace(bodies=[rigid(b) for b in arm.bodies])
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    joints = arm.joint_slice
    expected = fa.inverse_dynamics(stiff, q[joints], qd[joints], qdd[joints])
    found = fa.inverse_dynamics(almost, q, qd, qdd)[joints]
    assert_allclose(found, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def test_stiffness_to_infinity_recovers_the_rigid_motion():
    """Digest, test 20: the error of the joint motion falls as 1/stiffness.

    The elastic coordinates are started at their quasi-static value of the rigid motion
    (K eta = -residual), so that no vibration is excited beyond the next order.
    """
    t = np.linspace(0.0, 0.4, 3)
    errors = []
    rigid = fa.library.planar_chain(2, gravity=(0, -9.81, 0))
    exact = fa.simulate(rigid, [0.3, 0.4], [0, 0], t, method="DOP853", rtol=1e-12)
    for factor in (1.0, 4.0, 16.0):
        arm = fa.library.planar_chain(2, n_modes=1, gravity=(0, -9.81, 0))
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


@pytest.mark.parametrize("seed", range(5))
def test_momentum_of_a_free_root_is_conserved(seed):
    """Identity 6: no gravity, root on frictionless joints; p_root = (M qd)_root.

    The root slides along a fixed direction of the base, so the momentum along it, the
    row of M qd, is constant when nothing acts on it.
    """
    arm = fa.library.random_tree(seed + 7, n_bodies=3, max_modes=2, gravity=False)
    root = fa.RigidBody(
        "slide",
        fa.Joint("prismatic", axis=(1, 2, 2)),
        mass=1.0,
        inertia=(1, 1, 1),
        nodes={"tip": (0, 0, 0)},
    )
    bodies = [root, *arm.bodies]
    bodies[1] = arm.bodies[0].replace(joint=arm.bodies[0].joint.replace(parent="slide"))
    free = arm.replace(bodies=bodies, tip=None)
    free = free.replace(
        bodies=[b.replace(joint=b.joint.replace(damping=0.0)) for b in free.bodies]
    )
    q, qd, _ = random_state(np.random.default_rng(seed), free, amplitude=0.05)
    run = fa.simulate(free, q, qd, np.linspace(0, 0.2, 401))
    assert run.success, run.message
    momentum = np.einsum("tij,tj->ti", fa.mass_matrix(free, run.q), run.qd)[:, 0]
    scale = np.abs(qd).max() * sum(b.total_mass for b in free.bodies)
    assert np.abs(momentum - momentum[0]).max() < 1e-8 * scale


def test_more_modes_bring_the_frequencies_down():
    """Identity 11: eigenfrequencies of the assembled De Luca arm (digest 8.4)."""
    found = []
    for n in (1, 2, 4, 6):
        arm = fa.library.de_luca_siciliano(n_modes=n)
        K = arm.stiffness_matrix
        M = fa.mass_matrix(arm, np.zeros(arm.nv))
        modes = slice(2, arm.nv)
        values = np.linalg.eigvals(np.linalg.solve(M[modes, modes], K[modes, modes]))
        found.append(np.sort(np.sqrt(values.real))[:2] / (2 * np.pi))
    found = np.array(found)
    assert (np.diff(found, axis=0) < 1e-12).all()
    # joints locked, theta_2 = 0: 4-mode model and converged values of the digest
    assert_allclose(found[1], [0.438134, 1.97281], rtol=0, atol=5e-6)
    assert_allclose(found[3], [0.438134, 1.97280], rtol=0, atol=1.5e-5)


@pytest.mark.parametrize(
    ("theta2", "free", "locked"),
    [
        (
            0.0,
            (1.41987, 2.64736, 16.1187, 29.2922),
            (0.438134, 1.97281, 2.66892, 16.1190),
        ),
        (
            90.0,
            (1.42101, 2.51278, 15.9501, 29.2603),
            (0.477959, 1.69143, 2.67786, 15.9503),
        ),
        (45.0, (1.42043, 2.57666, 16.0282, 29.2750), None),
    ],
)
def test_assembled_frequencies_of_the_digest(theta2, free, locked):
    """De Luca-Siciliano digest 8.4, four modes, half a unit of the last digit."""
    arm = fa.library.de_luca_siciliano()
    q = np.zeros(6)
    q[1] = np.deg2rad(theta2)
    M = fa.mass_matrix(arm, q)
    K = arm.stiffness_matrix
    for rows, expected in ((slice(0, 6), free), (slice(2, 6), locked)):
        if expected is None:
            continue
        values = np.linalg.eigvals(np.linalg.solve(M[rows, rows], K[rows, rows])).real
        hertz = np.sqrt(np.sort(np.abs(values)))[-4:] / (2 * np.pi)
        digits = [5e-6 if f < 1 else 5e-5 if f >= 10 else 5e-6 for f in expected]
        assert (np.abs(hertz - expected) < 1.01 * np.array(digits)).all(), hertz


@pytest.mark.parametrize("seed", range(4))
def test_calls_change_neither_arm_nor_inputs(seed):
    """Identity 16."""
    arm = fa.library.random_tree(seed, n_bodies=4, max_modes=3)
    before = arm.pack()
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    copies = q.copy(), qd.copy(), qdd.copy()
    fa.inverse_dynamics(arm, q, qd, qdd)
    fa.forward_dynamics(arm, q, qd, qdd)
    fa.mass_matrix(arm, q)
    fa.node_poses(arm, q)
    for given, copy in zip((q, qd, qdd), copies, strict=True):
        assert np.array_equal(given, copy)
    for a, b in zip(before, arm.pack(), strict=True):
        assert np.array_equal(a, b)
    assert lagrangian.kinetic_energy(arm, q, qd) > 0.0
