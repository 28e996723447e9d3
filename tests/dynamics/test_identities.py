"""Identities that hold for any arm: symmetry, limits, units, order (style 4)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import random_state

import flexarm as fa
from flexarm.reference import lagrangian


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
            node_foreshortening=None,
            stiffness=small**2 * body.stiffness,
            damping=small**2 * body.damping,
        )

    def rigid(body):
        if not body.n_modes:
            return body
        return body.replace(
            node_translation=np.zeros((body.n_nodes, 3, 0)),
            node_rotation=None,
            node_foreshortening=None,
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
    scale = np.abs(qd).max() * sum(b.mass for b in free.bodies)
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
