"""Bodies whose joint holds a node that the modes move: free and pinned conditions.

The recursions against the Lagrangian on random trees are in test_dynamics.py,
test_kinematics.py and test_operators.py; here are bodies that must agree with clamped
ones, beams with known frequencies and deflections, and what is conserved.
"""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from closeness import assert_close
from each import each
from numpy.testing import assert_allclose
from refusals import argument_refused, model_refused
from scipy.linalg import eigh
from trees import SEVERAL, random_state

import flexarm as fa
from flexarm import beams
from flexarm.beams._single import free_beam_modes, free_rod_modes, pinned_beam_modes
from flexarm.reference import lagrangian, twin

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

CONDITIONS = {
    "clamped": beams.clamped_beam_modes,
    "pinned": pinned_beam_modes,
    "free": free_beam_modes,
}


def tree(seed, attachments=0.8, **options):
    options = {"max_modes": 4, "joints": SEVERAL} | options
    return fa.library.random_tree(
        seed, 1 + seed % 6, attachments=attachments, **options
    )


def assert_same_motion(arm, other, seed):
    """Equal tau, M, qdd and poses of the nodes."""
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    M = fa.mass_matrix(arm, q)
    assert_close(fa.inverse_dynamics(other, q, qd, qdd), tau, 1e-13)
    assert_close(fa.mass_matrix(other, q), M, 1e-13)
    found = fa.forward_dynamics(other, q, qd, tau)
    assert_close(found, qdd, 1e-14 * float(np.linalg.cond(M)) + 1e-12)
    nodes = fa.node_poses(arm, q)
    assert_allclose(fa.node_poses(other, q), nodes, rtol=0, atol=1e-13)
    energy = fa.energy(arm, q, qd)
    assert_allclose(fa.energy(other, q, qd), energy, rtol=1e-12, atol=1e-12)


@each("seed", range(6))
def test_a_clamped_body_floats_on_its_root(seed):
    """Its modes leave the root at rest."""
    arm = tree(seed, attachments=0.0)
    bodies = [b.replace(attachment="base") if b.n_modes else b for b in arm.bodies]
    assert_same_motion(arm, arm.replace(bodies=bodies), seed)


@each("seed", range(6))
def test_modes_that_shift_the_whole_body(seed):
    """A shift of all nodes, the root included, is undone exactly by the frame.

    Not with foreshortening, of which T has a uniform shift and stretch of the body.
    """
    arm = tree(seed, attachments=0.0, foreshortening=0.0)
    rng, bodies = np.random.default_rng(seed), []
    for body in arm.bodies:
        if body.n_modes:
            shift = body.node_translation + rng.normal(size=(1, 3, body.n_modes))
            body = body.replace(node_translation=shift, attachment="base")
        bodies.append(body)
    assert_same_motion(arm, arm.replace(bodies=bodies), seed)


@each("seed", range(6))
def test_the_frame_may_be_anywhere(seed):
    """All nodes moved: the joint holds one, wherever that is (digest of [J], 3.1)."""
    arm, rng, bodies = tree(seed), np.random.default_rng(seed), []
    for body in arm.bodies:
        if body.attachment is not None:
            away = rng.normal(size=3)
            body = body.replace(node_position=body.node_position + away)
        bodies.append(body)
    other = arm.replace(bodies=bodies)
    assert_same_motion(arm, other, seed)
    q = random_state(rng, other)[0]
    poses = lagrangian.poses(other, q)
    assert_allclose(fa.link_poses(other, q), poses, rtol=0, atol=1e-13)


@each("seed", range(6))
def test_modes_do_not_move_the_attachment(seed):
    """The pose of the held node is that of joint and parent."""
    arm = tree(seed, attachments=1.0)
    q, *_ = random_state(np.random.default_rng(seed), arm)
    for k, body in enumerate(arm.bodies):
        if body.attachment_node is None:
            continue
        other = q.copy()
        other[arm.mode_slice(k, positions=True)] += 0.2
        held = arm.node(body.name, body.attachment)
        pose, again = fa.node_pose(arm, q, held), fa.node_pose(arm, other, held)
        assert_allclose(again, pose, rtol=0, atol=1e-13)
        assert np.abs(fa.jacobian(arm, q, held)[:, arm.mode_slice(k)]).max() < 1e-13


@each("seed", range(5))
def test_wrenches_act_through_the_twin(seed):
    arm = tree(seed)
    rng = np.random.default_rng(seed)
    q, qd, qdd = random_state(rng, arm)
    wrenches = rng.normal(size=(arm.n_nodes, 6))
    tau = twin.inverse_dynamics(arm, q, qd, qdd, wrenches=wrenches)
    loads = sum(
        lagrangian.node_jacobian(arm, q, j).T @ wrenches[j] for j in range(arm.n_nodes)
    )
    assert_close(tau + loads, fa.inverse_dynamics(arm, q, qd, qdd), 1e-13)
    found = twin.forward_dynamics(arm, q, qd, tau, wrenches=wrenches)
    condition = float(np.linalg.cond(fa.mass_matrix(arm, q)))
    assert_close(found, qdd, 1e-14 * condition + 1e-12)


@each("seed", range(5))
def test_the_twin_takes_complex_steps(seed):
    arm, h = tree(seed, joints=SEVERAL[:3]), 1e-40
    q, qd, _ = random_state(np.random.default_rng(seed), arm)
    rate = twin.mass_matrix(arm, q + 1j * h * qd).imag / h
    expected = lagrangian.mass_matrix(arm, q, delta=1j * h * qd).imag / h
    assert_close(rate, expected, 1e-13)


@each("seed", range(5))
def test_loops_hold_nodes_of_floating_bodies(seed):
    """A node on the ground does not accelerate, and the force there does it."""
    arm = tree(seed, attachments=1.0)
    where = (arm.bodies[-1].name, arm.bodies[-1].node_names[3])
    q, qd, tau = random_state(np.random.default_rng(seed), arm)
    J = fa.jacobian(arm, q, where)[3:]
    qd -= np.linalg.pinv(J) @ J @ qd
    place = fa.node_pose(arm, q, where)[:3, 3]
    loop = fa.Loop(where, "ground", directions="xyz", position2=place)
    held = arm.replace(constraints=[loop])
    qdd = fa.forward_dynamics(held, q, qd, tau)
    still = fa.node_acceleration(held, q, qd, qdd, where, frame="base")[3:]
    free = fa.forward_dynamics(arm, q, qd, tau)
    moving = fa.node_acceleration(arm, q, qd, free, where, frame="base")[3:]
    scale = np.abs(moving).max() + np.abs(qdd).max()
    assert_allclose(still, 0.0, rtol=0, atol=1e-12 * scale)
    # what is missing is a force on that node
    loads = fa.inverse_dynamics(arm, q, qd, qdd) - tau
    force = np.linalg.lstsq(J.T, loads, rcond=None)[0]
    assert_close(J.T @ force, loads, 1e-10)


# beams: one piece of physics in three frames

# beta L / pi of the first mode that n modes leave out, less n + 1/2
BEYOND = {"clamped": 0.0, "pinned": 0.5, "free": 1.0}


def beam(condition, n, joint="revolute", **changes):
    """Unit beam along x, and its modal stiffness."""
    modes = CONDITIONS[condition](1.0, 1.0, 1.0, n)
    options = {"length": 1.0, "mass_per_length": 1.0, "bending_y": modes}
    link = beams.flexible_link("beam", joint=fa.Joint(joint), **options, **changes)
    return fa.Arm([link], gravity=(0.0, 0.0, 0.0)), link.stiffness


def frequencies(condition, n, joint):
    """Of small vibrations, without that of the rigid body."""
    arm, k = beam(condition, n, joint)
    K = np.zeros((arm.nv, arm.nv))
    K[arm.nu :, arm.nu :] = k
    squares = eigh(K, fa.mass_matrix(arm, arm.neutral), eigvals_only=True)
    return np.sqrt(squares[arm.nu :])


# (beta L)^2 of Euler and Bernoulli: cos cosh = -1, tan = tanh
CLAMPED_FREE = np.array([1.875104068711961, 4.694091132974175, 7.854757438237613]) ** 2
PINNED_FREE = np.array([3.926602312047919, 7.068582745628732, 10.210176122813031]) ** 2


@pytest.mark.parametrize(
    ("joint", "condition", "order", "error"),
    [
        ("fixed", "clamped", None, 3e-10),
        ("fixed", "pinned", 1.0, 0.022),
        ("fixed", "free", 1.0, 0.042),
        ("revolute", "clamped", 7.0, 6e-8),
        ("revolute", "pinned", 5.0, 3e-6),
        ("revolute", "free", 3.0, 2e-4),
    ],
)
def test_frequencies_of_a_beam_in_any_frame(joint, condition, order, error):
    """Digest of [J], test 22: Ritz values, from above, with the order of the modes.

    What n modes lack falls with 1/n where a clamp needs the moment that free and pinned
    ones do not have at the base, with 1/n^3 where a pivot needs the shear of free ones.
    """
    exact = CLAMPED_FREE if joint == "fixed" else PINNED_FREE
    errors = [frequencies(condition, n, joint)[:3] / exact - 1.0 for n in (5, 10, 20)]
    assert np.abs(errors[-1]).max() < error
    if order is None:
        return
    assert np.all(errors[-1] > 0.0)
    for coarse, fine in itertools.pairwise(errors):
        assert (coarse > fine).all()
    finer = (20 + BEYOND[condition]) / (10 + BEYOND[condition])
    orders = np.log(errors[-2] / errors[-1]) / np.log(finer)
    # the next power of 1/n takes its part
    assert (np.abs(orders - order) < 0.15).all(), orders


@pytest.mark.parametrize("n", [1, 3, 20])
def test_deflection_of_a_clamped_link_of_pinned_modes(n):
    """Unit force on the tip: sum of 2 / (j pi)^2, which tends to 1/3."""
    arm, k = beam("pinned", n, "fixed")
    J = fa.jacobian(arm, arm.neutral)[4]
    j = np.arange(1.0, n + 1.0)
    found = J @ np.linalg.solve(k, J)
    assert_allclose(found, np.sum(2.0 / (j * np.pi) ** 2), rtol=1e-13)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_static_deflection_in_any_frame(condition):
    """F L^3 / 3 EI from below; extrapolated with the order, 1 or 3 (clamped).

    Even numbers of modes: those of a free beam come in pairs of either parity.
    """
    order = 3 if condition == "clamped" else 1
    values, terms = [], []
    for n in (8, 12, 16, 20):
        arm, k = beam(condition, n, "fixed")
        J = fa.jacobian(arm, arm.neutral)[4]
        values.append(J @ np.linalg.solve(k, J))
        last = n + BEYOND[condition]
        terms.append([1.0, *(last ** -(order + i) for i in range(3))])
    assert values == sorted(values)
    assert values[-1] < 1.0 / 3.0
    extrapolated = np.linalg.solve(terms, values)[0]
    assert_allclose(extrapolated, 1.0 / 3.0, rtol=0, atol=2e-6)


def test_ends_of_pinned_modes_stay_on_the_axis():
    """The x axis of the frame is the chord of the deformed link, which the joint turns.

    Its angle is q less that of the base, whose sine is the slope.  The far end is
    closer by the integral of v'^2 / 2, the sum of those of the sines.
    """
    arm, _ = beam("pinned", 4)
    modes = pinned_beam_modes(1.0, 1.0, 1.0, 4)
    q = np.array([0.7, 0.05, -0.03, 0.02, 0.01])
    pose, nodes = fa.link_poses(arm, q)[0], fa.node_poses(arm, q)
    assert_allclose(nodes[0, :3, 3], 0.0, rtol=0, atol=1e-16)
    shorter = 0.25 * np.sum((modes.amplitudes * modes.beta * q[1:]) ** 2)
    assert shorter > 0.01
    chord = (1.0 - shorter) * pose[:3, 0]
    assert_allclose(nodes[-1, :3, 3], chord, rtol=0, atol=1e-15)
    slope = arm.bodies[0].node_rotation[0, 2] @ q[1:]
    angle = np.arctan2(pose[1, 0], pose[0, 0])
    turned = slope + slope**3 / 6.0 + 0.075 * slope**5  # arcsine
    assert_allclose(angle, 0.7 - turned, rtol=0, atol=1e-15)
    assert_allclose(turned, np.arcsin(slope), rtol=0.05 * slope**6)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_motion_of_a_loaded_link_in_any_frame(condition):
    """A pendulum that bends little: tips of 12 modes of each kind agree."""
    exact, _ = beam("clamped", 8, tip_mass=0.5)
    arm, _ = beam(condition, 12, tip_mass=0.5)
    t = np.linspace(0.0, 0.5, 1001)
    tips = []
    for one in (exact, arm):
        fallen = one.replace(gravity=(0.0, -1e-3, 0.0))
        run = fa.simulate(fallen, fallen.neutral, np.zeros(fallen.nv), t, max_step=1e-4)
        assert run.success, run.message
        tips.append(fa.tip_pose(fallen, run.q)[:, 1, 3])
    size = np.abs(tips[0]).max()
    assert_allclose(tips[1], tips[0], rtol=0, atol=4e-5 * size)


# what is conserved


def conservative(arm):
    return arm.replace(
        bodies=[
            body.replace(
                joint=body.joint.replace(damping=0.0),
                **({"damping": np.zeros(body.n_modes)} if body.n_modes else {}),
            )
            for body in arm.bodies
        ]
    )


@each("seed", [1, 2, 3, 5])
def test_energy_drift_falls_with_the_fourth_power_of_the_step(seed):
    arm = conservative(tree(seed, attachments=1.0, max_modes=2))
    q, qd, _ = random_state(np.random.default_rng(seed), arm, amplitude=0.05)
    drift = []
    for n in (100, 200, 400):
        run = fa.simulate(arm, q, 0.5 * qd, np.linspace(0.0, 0.2, n + 1))
        assert run.success, run.message
        drift.append(np.abs(run.energy - run.energy[0]).max())
    assert (np.log2(np.array(drift[:-1]) / drift[1:]) > 3.7).all(), drift


def flying_beam():
    """Free beam in space with a payload, and a second one on its tip."""
    bodies = []
    for name, kind in (("first", "free"), ("second", "revolute")):
        y, z = (free_beam_modes(1.0, 1.0, k, 2) for k in (2.0, 3.0))
        options = {"length": 1.0, "mass_per_length": 1.0, "section_inertia": [0.01] * 3}
        rod = free_rod_modes(1.0, 0.01, 0.5, 1)
        modes = {"bending_y": y, "bending_z": z, "torsion": rod}
        link = beams.flexible_link(
            name, joint=fa.Joint(kind), tip_mass=0.3, **options, **modes
        )
        bodies.append(link)
    return fa.Arm(bodies, gravity=(0.0, 0.0, 0.0))


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
def test_momentum_of_a_flying_beam_is_constant():
    """Linear momentum and that about the origin; the mass centre moves evenly."""
    arm = flying_beam()
    q, qd, _ = random_state(np.random.default_rng(3), arm, amplitude=0.02)
    t = np.linspace(0.0, 0.2, 4001)
    run = fa.simulate(arm, q, qd, t)
    assert run.completed == len(t), run.message  # beyond the range of the model
    h = np.einsum("tij,tj->ti", fa.mass_matrix(arm, run.q), run.qd)[:, :6]
    pose = fa.node_pose(arm, run.q, ("first", "base"))  # what the joint moves
    R, x = pose[:, :3, :3], pose[:, :3, 3]
    linear = np.einsum("tij,tj->ti", R, h[:, 3:])
    angular = np.einsum("tij,tj->ti", R, h[:, :3]) + np.cross(x, linear)
    momentum = fa.momentum(arm, run.q, run.qd)
    assert_close(momentum, np.concatenate([angular, linear], axis=1), 1e-13)
    for part in (momentum[:, :3], momentum[:, 3:]):
        assert np.abs(part - part[0]).max() < 1e-9 * np.abs(part).max()
    mass = np.concatenate([body.node_mass for body in arm.bodies])
    total, poses = mass.sum(), fa.node_poses(arm, run.q)
    centre = np.einsum("n,tni->ti", mass, poses[:, :, :3, 3]) / total
    assert_allclose(fa.center_of_mass(arm, run.q), centre, rtol=0, atol=1e-14)
    expected = centre[0] + t[:, np.newaxis] * momentum[0, 3:] / total
    assert_allclose(centre, expected, rtol=0, atol=1e-10)


# descriptions


def test_attachment_is_a_part_of_the_description():
    arm = tree(5, attachments=1.0)
    held = [b.attachment for b in arm.bodies if b.n_modes]
    assert all(isinstance(name, str) for name in held)
    assert pickle.loads(pickle.dumps(arm)) == arm
    body = next(b for b in arm.bodies if b.n_modes)
    assert body.replace(attachment=2) == body.replace(attachment="2")
    assert body.replace(attachment=2) != body.replace(attachment=1)
    assert body.replace(attachment=None).attachment_node is None


def link_with(shapes, slopes, **changes):
    """A free beam of two modes and more that are given."""
    modes = free_beam_modes(1.0, 1.0, 1.0, 2)
    body = beams.flexible_link("link", length=1.0, mass_per_length=1.0, bending_y=modes)
    more = np.zeros((2, body.n_nodes, 3, 1))
    more[0, :, 1, 0], more[1, :, 2, 0] = shapes(body.node_position[:, 0]), slopes
    n = 3
    values = {
        "node_translation": np.concatenate([body.node_translation, more[0]], axis=-1),
        "node_rotation": np.concatenate([body.node_rotation, more[1]], axis=-1),
        "node_foreshortening": None,
        "beam": None,
        "stiffness": np.ones(n),
        "damping": np.zeros(n),
        "mode_names": ("bend 1", "bend 2", "swing"),
    }
    return body, values | changes


def test_rigid_modes_are_refused():
    words = ["body 'link' has rigid-body modes left in its basis", "attachment 'base'"]
    for shapes, slopes in ((lambda x: 1.0 + x, 1.0), (lambda x: 0.0 * x + 1.0, 0.0)):
        body, values = link_with(shapes, slopes)
        values["beam"] = None  # that of the link has other modes
        call = lambda: body.replace(**values)  # noqa: E731, B023
        model_refused([*words, "mode 'swing'"], call)
        # hidden in a combination
        T = np.random.default_rng(0).normal(size=(3, 3))
        for key in ("node_translation", "node_rotation"):
            values[key] = values[key] @ T
        model_refused(words, call)
        # held by its frame it is what it says
        assert body.replace(**values, attachment=None).n_modes == 3


def test_singular_inertia_is_no_rigid_mode():
    """A massless spring under one mass, and point masses on a line."""
    spring = fa.FlexibleBody(
        "spring",
        node_position=[(0, 0, 0), (1, 0, 0)],
        node_mass=[0.0, 2.0],
        node_translation=[[[0.0], [0.3], [0.0]], [[0.0], [1.0], [0.0]]],
        stiffness=[10.0],
        attachment=0,
    )
    arm = fa.Arm([spring.replace(joint=fa.Joint("fixed"))], gravity=(0, -9.81, 0))
    assert_allclose(fa.mass_matrix(arm, [0.1]), [[2.0 * 0.7**2]], rtol=1e-15)
    assert_allclose(fa.gravity_forces(arm, [0.1]), [2.0 * 9.81 * 0.7], rtol=1e-15)
    heavy, _ = beam("free", 20, tip_mass=1e6)
    assert heavy.bodies[0].attachment == "base"


def test_other_refusals():
    body = beam("free", 2)[0].bodies[0]
    words = ["no node 'nowhere'", "base"]
    model_refused(words, lambda: body.replace(attachment="nowhere"))
    words = ["attachments is 1.5", "from 0 to 1"]
    argument_refused(words, lambda: tree(1, attachments=1.5))


def test_trees_without_attachments_are_those_of_old():
    """Not a random number more or less."""
    for seed in range(5):
        options = {"n_bodies": 4, "joints": SEVERAL}
        arm = fa.library.random_tree(seed, **options)
        assert arm == fa.library.random_tree(seed, **options, attachments=0.0)
        assert all(b.attachment is None for b in arm.bodies)
