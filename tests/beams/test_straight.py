"""Straight bodies, which forward and inverse dynamics treat by equations of their own.

A straight body is recognized by exact zeros. A deflection of 1e-200 m across changes no
digit of the physics, but the body is one of any kind then: both must give the same, and
not by the same operations.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose, assert_array_equal
from trees import in_basis, random_state

import flexarm as fa
from flexarm import beams
from flexarm.reference import lagrangian

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

# modes along y, along z, and whether they foreshorten: FA_STRAIGHT_KINDS; those named
# "turning" have sections with rotary inertia, those named "twisting" one of twist too;
# kernels read the sizes of the first four when they run
KINDS = {
    "four-three twisting": (4, 3, True),
    "one-six": (1, 6, True),
    "none-five turning": (0, 5, True),
    "eight-linear": (8, 0, False),
    "two-two twisting": (2, 2, True),
    "two-two turning": (2, 2, True),
    "two-none turning": (2, 0, True),
    "none-two turning": (0, 2, True),
    "two-two": (2, 2, True),
    "one-one": (1, 1, True),
    "two-none": (2, 0, True),
    "none-two": (0, 2, True),
    "two-linear": (2, 0, False),
    "none-two-linear": (0, 2, False),
    "one-none": (1, 0, True),
    "none-one": (0, 1, True),
}
AXES = [(0, 0, 1), (0, -1, 0), (1, 0, 0)]


@functools.cache
def link(name, kind, joint):
    """A beam with slight damping, which couples the modes of a direction."""
    along_y, along_z, stiffens = KINDS[kind]
    y, z = (
        beams.clamped_beam_modes(0.8, 1.3, k, n) if n else None
        for k, n in ((2.0, along_y), (3.0, along_z))
    )
    twists = "twisting" in kind
    size = {"length": 0.8, "mass_per_length": 1.3}
    body = beams.flexible_link(
        name,
        **size,
        joint=joint,
        bending_y=y,
        bending_z=z,
        geometric_stiffening=stiffens,
        torsion=beams.clamped_rod_modes(0.8, 0.05, 4.0, 1) if twists else None,
        section_inertia=(0.05, 0.03, 0.04) if twists or "turning" in kind else None,
    )
    return body.replace(damping=0.01 * body.stiffness)


def spoiled(body, node=None):
    """The same body, but for 1e-200 m at all nodes or one of them."""
    moved = body.node_translation.copy()
    at = slice(None) if node is None else node
    zero = moved[at] == 0.0
    moved[at][zero] = 1e-200
    return body.replace(node_translation=moved)


def arm_of(kind, axis, change=lambda body: body):
    """A straight link on another one, with a slide at its middle, a ball on top."""
    first = link("first", kind, fa.Joint(axis=axis, damping=0.1))
    tilted = fa.Joint(axis=(0, 1, 0), position=(0.1, 0.2, -0.1))
    second = link("second", kind, tilted.replace(rotation=turn(0.3)))
    slide = fa.Joint(
        "prismatic", (1, 2, 3), parent="first", node=2, position=(0, 0.1, 0)
    )
    ball = fa.Joint("spherical")
    size = {"mass": 0.7, "com": (0.1, 0.2, 0.05), "inertia": (0.02, 0.03, 0.04)}
    hub = fa.RigidBody("hub", fa.Joint(axis=(1, 1, 0)), 1.0, inertia=(1, 1, 1))
    return fa.Arm(
        [
            hub,
            change(first),
            change(second),
            fa.RigidBody("ball", ball, **size),
            fa.RigidBody("slider", slide, **size),
        ],
        gravity=(1.0, -2.0, -9.0),
    )


def turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def results(arm, q, qd, x):
    return {
        "inverse": fa.inverse_dynamics(arm, q, qd, x),
        "bias": fa.bias_forces(arm, q, qd),
        "gravity": fa.gravity_forces(arm, q),
        "forward": fa.forward_dynamics(arm, q, qd, x),
        "mass": fa.mass_matrix(arm, q),
        "by q": fa.inverse_dynamics_derivatives(arm, q, qd, x).dq,
        "by qd": fa.inverse_dynamics_derivatives(arm, q, qd, x).dqd,
    }


def state(arm, amplitude=None, seed=3):
    """A random one; the seventh mode turns nodes ten times as far as the first."""
    if amplitude is None:
        amplitude = 0.05 if max(body.n_modes for body in arm.bodies) <= 6 else 0.01
    return random_state(np.random.default_rng(seed), arm, amplitude=amplitude)


@each("axis", AXES)
@each("kind", list(KINDS))
def test_equal_to_a_body_of_any_kind(kind, axis):
    """To rounding, with other last digits: another way was taken."""
    arm, other = arm_of(kind, axis), arm_of(kind, axis, spoiled)
    q, qd, x = state(arm)
    found, expected = results(arm, q, qd, x), results(other, q, qd, x)
    M = fa.mass_matrix(other, q)
    for name, value in expected.items():
        size = np.linalg.cond(M) if name == "forward" else 20.0
        atol = 2e-15 * size * np.abs(value).max()
        assert_allclose(found[name], value, rtol=0, atol=atol, err_msg=name)
    # at one state the last digits may happen to agree
    for name in ("inverse", "bias", "forward", "mass"):
        for seed in range(3, 19):
            at = state(arm, seed=seed)
            if (results(arm, *at)[name] != results(other, *at)[name]).any():
                break
        else:
            raise AssertionError(f"{name} takes the way of any body")


def cycled(body, times):
    """The same body in other axes: what is along x is along y, or z."""
    P = np.linalg.matrix_power(np.eye(3)[[2, 0, 1]], times)
    fields = ("node_translation", "node_rotation", "node_foreshortening")
    given = {name: getattr(body, name) for name in fields}
    shapes = {
        name: np.einsum("ij,kj...->ki...", P, x)
        for name, x in given.items()
        if x is not None
    }
    return body.replace(
        joint=body.joint.replace(axis=P @ body.joint.axis),
        node_position=body.node_position @ P.T,
        node_com=body.node_com @ P.T,
        node_inertia=P @ body.node_inertia @ P.T,
        beam=None if body.beam is None else body.beam.turned(P),
        **shapes,
    )


@each("stiffness", [(2.0, 3.0), (2.0, 2.0)])
@each("twists", [1, 2])
def test_pieces_of_a_link(twists, stiffness):
    """Each on the end of the one before, with sections that are round and others."""
    rod = beams.flexible_link(
        "rod",
        length=0.8,
        mass_per_length=1.3,
        bending_stiffness=stiffness,
        torsional_stiffness=1.5,
        polar_inertia_per_length=0.05,
        section_inertia=(0.05, 0.03, 0.04),
        joint=fa.Joint("fixed"),
        segments=3,
        n_modes={"torsion": twists},
    )
    arm = fa.Arm([rod], gravity=(1.0, -2.0, -9.0))
    other = arm.replace(bodies=[spoiled(body) for body in arm.bodies])
    q, qd, x = state(arm, amplitude=0.2)
    found, expected = results(arm, q, qd, x), results(other, q, qd, x)
    cond = np.linalg.cond(fa.mass_matrix(other, q))
    for name, value in expected.items():
        atol = 2e-15 * (cond if name == "forward" else 20.0) * np.abs(value).max()
        assert_allclose(found[name], value, rtol=0, atol=atol, err_msg=name)
        assert (found[name] != value).any()
    tau = lagrangian.generalized_forces(arm, q, qd, x)
    assert_allclose(found["inverse"], tau, rtol=0, atol=1e-13 * np.abs(tau).max())


@each("times", [1, 2])
@each("axis", AXES)
@each("kind", list(KINDS))
def test_beams_along_any_axis(kind, axis, times):
    """With a ball at its end, without weight: axes of a body are a matter of taste."""
    body = link("beam", kind, fa.Joint(axis=axis))
    size = {"mass": 0.7, "inertia": (0.02, 0.02, 0.02)}
    ball = fa.RigidBody("ball", fa.Joint("fixed"), **size)
    arm = fa.Arm([body, ball], gravity=(0, 0, 0))
    other = fa.Arm([cycled(body, times), ball], gravity=(0, 0, 0))
    q, qd, x = state(arm)
    expected = results(arm, q, qd, x)
    cond = np.linalg.cond(fa.mass_matrix(arm, q))
    for name, value in results(other, q, qd, x).items():
        size = cond if name == "forward" else 20.0
        atol = 2e-15 * size * np.abs(value).max()
        assert_allclose(value, expected[name], rtol=0, atol=atol, err_msg=name)


@each("times", [0, 1, 2])
@each("joint", ["spherical", "free", "subspace", "universal"])
def test_beams_along_any_axis_on_joints_of_more_freedoms(joint, times):
    """The rotation among the coordinates is given in the axes of the body as given."""
    options = {
        "subspace": {"subspace": np.eye(6)[:, 1:4]},
        "universal": {"axis": (0, 0, 1), "axis2": (1, 0, 0)},
    }
    body = cycled(link("beam", "two-none", fa.Joint(axis=(0, 0, 1))), times)
    on = fa.Joint(joint, parent="hub", **options.get(joint, {}))
    tip = fa.RigidBody("tip", fa.Joint(axis=(1, 2, 3)), 0.7, inertia=(0.1, 0.2, 0.2))
    hub = fa.RigidBody("hub", fa.Joint(axis=(1, 1, 0)), 1.0, inertia=(1, 1, 1))
    arm = fa.Arm([hub, body.replace(joint=on), tip], gravity=(1.0, -2.0, -9.0))
    q, qd, qdd = state(arm, seed=6)
    tau = lagrangian.generalized_forces(arm, q, qd, qdd)
    found = fa.inverse_dynamics(arm, q, qd, qdd)
    assert_allclose(found, tau, rtol=0, atol=1e-13 * np.abs(tau).max())


@each("kind", list(KINDS))
def test_nodes_and_bodies_of_any_kind_beside_straight_ones(kind):
    """One node, or one of two bodies, without the zeros."""
    arm = arm_of(kind, (0, 1, 0))
    q, qd, x = state(arm)
    expected = results(arm, q, qd, x)
    cond = np.linalg.cond(fa.mass_matrix(arm, q))

    def node(body):
        return spoiled(body, -1)

    def second(body):
        return spoiled(body) if body.name == "second" else body

    for change in (node, second):
        for name, value in results(arm_of(kind, (0, 1, 0), change), q, qd, x).items():
            size = cond if name == "forward" else 20.0
            atol = 2e-15 * size * np.abs(value).max()
            assert_allclose(value, expected[name], rtol=0, atol=atol, err_msg=name)


@each("axis", AXES)
@each("kind", list(KINDS))
def test_lagrangian(kind, axis):
    """Forces by brute force over the nodes, and the way back."""
    arm = arm_of(kind, axis)
    q, qd, qdd = state(arm, seed=5)
    tau = lagrangian.generalized_forces(arm, q, qd, qdd)
    found = fa.inverse_dynamics(arm, q, qd, qdd)
    assert_allclose(found, tau, rtol=0, atol=1e-13 * np.abs(tau).max())
    cond = np.linalg.cond(fa.mass_matrix(arm, q))
    back = fa.forward_dynamics(arm, q, qd, tau)
    assert_allclose(back, qdd, rtol=0, atol=1e-14 * cond * np.abs(qdd).max())


@each("offset", [(0, 0.1, 0), (0, 0, 0.1)])
@each("kind", list(KINDS))
def test_a_mass_beside_the_axis_at_the_clamped_end(kind, offset):
    """It does not move with the modes: the first moment alone is not along the axis."""

    def laden(body):
        position, mass = body.node_position.copy(), body.node_mass.copy()
        assert not body.node_translation[0].any()
        position[0], mass[0] = offset, 2.0
        return body.replace(node_position=position, node_mass=mass, beam=None)

    arm = arm_of(kind, (0, 1, 0), laden)
    q, qd, qdd = state(arm, seed=7)
    tau = lagrangian.generalized_forces(arm, q, qd, qdd)
    found = fa.inverse_dynamics(arm, q, qd, qdd)
    assert_allclose(found, tau, rtol=0, atol=1e-13 * np.abs(tau).max())


def test_modes_in_other_coordinates():
    """Mixed modes have no directions; forces follow the coordinates."""
    rng = np.random.default_rng(8)
    W = np.eye(4) + 0.3 * rng.normal(size=(4, 4))
    arm = arm_of("two-two", (0, 0, 1))
    mixed = arm_of("two-two", (0, 0, 1), lambda body: in_basis(body, W))
    q, qd, qdd = state(mixed)
    all_q, all_v = np.eye(arm.nq), np.eye(arm.nv)
    for name in ("first", "second"):
        v = arm.mode_slice(name)
        all_v[v, v] = W
        p = slice(v.start + arm.nq - arm.nv, v.stop + arm.nq - arm.nv)
        all_q[p, p] = W
    tau = fa.inverse_dynamics(arm, all_q @ q, all_v @ qd, all_v @ qdd)
    found = fa.inverse_dynamics(mixed, q, qd, qdd)
    assert_allclose(found, all_v.T @ tau, rtol=0, atol=1e-13 * np.abs(tau).max())


def test_motion_in_a_plane_stays_there():
    """Modes across the plane feel nothing, exactly."""
    joint = fa.Joint(axis=(0, 0, 1))
    arm = fa.Arm(
        [link("a", "two-two", joint), link("b", "two-two", joint)],
        gravity=(0.0, -9.81, 0.0),
    )
    q, qd, x = state(arm)
    across = [arm.mode_slice(name).start + i for name in "ab" for i in (2, 3)]
    for y in (q, qd, x):
        y[across] = 0.0
    within = np.delete(np.arange(arm.nv), across)
    for found in results(arm, q, qd, x).values():
        rows = found[across][:, within] if found.ndim == 2 else found[across]
        assert_array_equal(rows, 0.0)


@each("kind", list(KINDS))
def test_a_batch_holds_the_bits_of_its_states(kind):
    arm = arm_of(kind, (0, 0, 1))
    states = [state(arm, seed=seed) for seed in range(9)]
    q, qd, x = (np.array(y) for y in zip(*states, strict=True))
    batch = results(arm, q, qd, x)
    for i, (a, b, c) in enumerate(states):
        for name, value in results(arm, a, b, c).items():
            assert_array_equal(batch[name][i], value, err_msg=name)


def test_constraints_find_the_columns_of_their_nodes():
    """Forces of a loop that ends on straight links: the accelerations obey it."""
    joint = fa.Joint(axis=(0, 0, 1))
    bodies = [link("a", "two-none", joint), link("b", "two-none", joint)]
    loop = fa.Loop(("b", -1), "ground", directions=("x", "y"), position2=(1.2, 0.5, 0))
    arm = fa.Arm(bodies, constraints=[loop])
    other = arm.replace(bodies=[spoiled(body) for body in bodies])
    q, qd, x = state(arm)
    assert_allclose(
        fa.forward_dynamics(arm, q, qd, x),
        fa.forward_dynamics(other, q, qd, x),
        rtol=1e-8,
    )


@each("kind", ["four-three twisting", "none-five turning"])
def test_a_stack_has_the_results_of_its_arms(kind):
    """Of bodies whose sizes kernels read when they run."""

    def softer(body):
        return body.replace(stiffness=0.9 * body.stiffness)

    arms = [arm_of(kind, (0, 0, 1), change) for change in (lambda body: body, softer)]
    q, qd, x = (
        np.array(y) for y in zip(*(state(arms[0], seed=i) for i in (1, 2)), strict=True)
    )
    stack = fa.stack(arms)
    for name in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
        given = (q,) if name == "mass_matrix" else (q, qd, x)
        found = getattr(fa, name)(stack, *given)
        for i, arm in enumerate(arms):
            one = getattr(fa, name)(arm, *(y[i] for y in given))
            atol = 1e-13 * np.abs(one).max()
            assert_allclose(found[i], one, rtol=0, atol=atol, err_msg=name)
