"""Modes freed without factoring D_f, from twelve modes on (digest, test 9; eq. 77).

`method="basic"` factors the inertia of all modes in any case.  The two agree to
rounding, in chains that end in bodies of all kinds, and the residual of inverse
dynamics stays at rounding however heavy the child is.  Nodes with an inertia that turns
are bodies of their own, which hang on the beam: its modes then have to be factored.
"""

from __future__ import annotations

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from trees import random_state

import flexarm as fa

EPS = float(np.finfo(float).eps)
CHILDREN = (
    "revolute",
    "prismatic",
    "fixed",
    "helical",
    "universal",
    "planar",
    "spherical",
    "free",
)


def beam(rng, name, n, joint, *, orthogonal=False, turning=False):
    """A body in space with n modes of any shape, on masses, with inertia if turning.

    Orthogonal modes have a modal mass of one, to rounding.
    """
    nodes = 3 + n // 2  # masses move in more ways than modes and the frame
    shapes, slopes = 0.3 * rng.normal(size=(2, nodes, 3, n))
    shapes[0] = slopes[0] = 0.0
    mass = rng.uniform(0.5, 1.5, nodes)
    inertia = 0.1 * rng.uniform(0.5, 1.5, nodes)[:, np.newaxis, np.newaxis] * np.eye(3)
    inertia *= turning
    if orthogonal:
        slopes[:] = rng.normal(size=slopes.shape)
        flat = np.concatenate(
            [
                np.sqrt(mass)[:, np.newaxis, np.newaxis] * shapes,
                np.sqrt(inertia[:, :1, :1]) * slopes,
            ]
        ).reshape(-1, n)
        W = np.linalg.inv(np.linalg.qr(flat)[1])
        shapes, slopes = shapes @ W, slopes @ W
    return fa.FlexibleBody(
        name,
        joint,
        node_position=np.linspace(0.0, 1.0, nodes)[:, np.newaxis] * [1.0, 0.2, -0.1],
        node_mass=mass,
        node_translation=shapes,
        node_rotation=slopes,
        node_inertia=inertia,
        stiffness=rng.uniform(1.0, 50.0, n),
        damping=rng.uniform(0.0, 1.0, n),
    )


def chain(seed, n, *, child="revolute", load=1.0, tip_modes=0, **options):
    """A rigid base, a beam of n modes, and what it carries."""
    rng = np.random.default_rng(seed)
    bodies = [
        fa.RigidBody("base", fa.Joint(axis=(0, 0, 1)), mass=1.0, inertia=(1, 1, 1)),
        beam(rng, "beam", n, fa.Joint(axis=(0, 1, 0)), **options),
    ]
    joint = fa.Joint(kind=child, position=(0.1, -0.2, 0.05))
    if tip_modes:
        bodies.append(beam(rng, "last", tip_modes, joint, **options))
    else:
        size = load * np.array([0.1, 0.2, 0.25])
        bodies.append(
            fa.RigidBody("last", joint, mass=load, com=(0.1, 0.2, 0), inertia=size)
        )
    return fa.Arm(bodies, check_units=False)


def state(arm, seed=1, count=5):
    rng = np.random.default_rng(seed)
    found = [random_state(rng, arm) for _ in range(count)]
    q, qd, tau = (np.array(x) for x in zip(*found, strict=True))
    return q, qd, tau


def check(arm, q, qd, tau):
    """Accelerations equal those of the basic form, and their residual is rounding."""
    found = fa.forward_dynamics(arm, q, qd, tau)
    expected = fa.forward_dynamics(arm, q, qd, tau, method="basic")
    M = fa.mass_matrix(arm, q)
    scale = np.linalg.cond(M)[:, np.newaxis] * np.abs(expected).max(-1, keepdims=True)
    assert_allclose(
        (found - expected) / scale, np.zeros_like(found), rtol=0, atol=20 * EPS
    )
    size = np.abs(M).sum(axis=-1).max(axis=-1) * np.abs(expected).max(axis=-1)
    size += np.abs(fa.bias_forces(arm, q, qd)).max(axis=-1)
    for qdd in (found, expected):
        residual = fa.inverse_dynamics(arm, q, qd, qdd) - tau
        residual /= size[:, np.newaxis]
        assert_allclose(residual, np.zeros_like(found), rtol=0, atol=4 * EPS)


@each("orthogonal", [False, True], ids=["any", "orthogonal"])
@each("child", CHILDREN)
@each("n", [11, 12, 13, 20, 64])
def test_equal_to_the_basic_form(n, child, orthogonal):
    """No jump where the switch is, for a child on any joint."""
    arm = chain(n, n, child=child, orthogonal=orthogonal)
    check(arm, *state(arm))


@pytest.mark.parametrize("n", [11, 12, 30])
def test_screws_beside_the_frames(n):
    """A carrier on each axis: beam and child hang fixed on massless bodies."""
    arm, rng = chain(n, n), np.random.default_rng(n)
    bodies = [
        body.replace(joint=body.joint.replace(kind="screw", axis=(0, 0, 1), screw=S))
        for body, S in zip(arm.bodies, rng.normal(size=(3, 6)), strict=True)
    ]
    check(arm.replace(bodies=bodies), *state(arm))


@each("load", [1e-6, 1e-3, 1.0, 1e3, 1e6])
@each("n", [12, 30])
def test_light_and_heavy_children(n, load):
    """(1 + Gamma Omega) is never inverted: no digits go with the weight."""
    arm = chain(3, n, load=load)
    check(arm, *state(arm))


@pytest.mark.parametrize("modes", [(12, 12), (12, 3), (3, 12), (40, 17)])
def test_chains_of_flexible_bodies(modes):
    arm = chain(5, modes[0], tip_modes=modes[1], child="universal")
    check(arm, *state(arm))


def test_bodies_that_have_to_be_factored():
    """Nodes that turn, two children, a body on a node that moves, modes nearly one."""
    rng = np.random.default_rng(0)
    arm = chain(7, 14)
    joint = fa.Joint(parent="beam", node=1, axis=(0, 1, 0))
    second = fa.RigidBody("second", joint, mass=1.0, com=(0.3, 0, 0))
    two = arm.replace(bodies=[*arm.bodies, second])
    held = [b.replace(attachment=2) if b.n_modes else b for b in arm.bodies]
    floating = arm.replace(bodies=held)
    body = arm.bodies[1]
    T = np.eye(14) + 1e-3 * rng.normal(size=(14, 14))
    T[:, 13] = T[:, 12] + 1e-2 * T[:, 13]
    close = body.replace(
        node_translation=body.node_translation @ T,
        node_rotation=body.node_rotation @ T,
        stiffness=T.T @ body.stiffness @ T,
        damping=T.T @ body.damping @ T,
    )
    nearly = arm.replace(bodies=[arm.bodies[0], close, arm.bodies[2]])
    for case in (chain(7, 14, turning=True), two, floating, nearly):
        check(case, *state(case))


def test_constraints_keep_their_forces():
    """Constrained arms factor D_f: the forces of the constraints need the factors."""
    arm = chain(4, 15)
    names = arm.coordinate_names
    geared = arm.replace(
        constraints=[fa.Coupling({names[0]: 1.0, names[1]: -2.0})],
        couplings="constrained",
    )
    q, qd, tau = state(arm)
    found = fa.forward_dynamics(geared, q, qd, tau)
    expected = fa.forward_dynamics(geared, q, qd, tau, method="composite")
    condition = np.linalg.cond(fa.mass_matrix(arm, q)).max()
    scale = condition * np.abs(expected).max()
    assert_allclose(found, expected, rtol=0, atol=20 * EPS * scale)


def test_a_batch_holds_the_bits_of_its_states():
    arm = chain(2, 16, tip_modes=13, child="prismatic")
    q, qd, tau = state(arm, count=21)
    many = fa.forward_dynamics(arm, q, qd, tau)
    for i in range(21):
        assert np.array_equal(many[i], fa.forward_dynamics(arm, q[i], qd[i], tau[i]))
