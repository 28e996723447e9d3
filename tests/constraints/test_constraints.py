"""Closed loops and couplings: rows, accelerations, forces, drift, redundancy."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from loop_rows import loop_rows
from numpy.testing import assert_allclose
from refusals import model_refused
from scipy.spatial.transform import Rotation

import flexarm as fa

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

KINDS = (
    "fixed",
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "planar",
    "spherical",
)
SUBSETS = (("rx",), ("ry",), ("rz",), ("rx", "rz"), ("ry", "rz"), ("x", "rz"), ("y",))


def four_bar(kind="revolute", n_modes=0, **changes):
    """Crank 0.3 m, coupler 0.9 m, rocker 0.7 m, ground 0.8 m along x, in a plane."""
    lengths = {"crank": 0.3, "coupler": 0.9, "rocker": 0.7}
    bodies = []
    for name, length in lengths.items():
        if name == "coupler" and n_modes:
            modes = fa.beams.clamped_beam_modes(length, 1.0, 100.0, n_modes)
            bodies.append(
                fa.beams.flexible_link(
                    name, length=length, mass_per_length=1.0, bending_y=modes
                )
            )
            continue
        bodies.append(
            fa.RigidBody(
                name,
                mass=length,
                com=(length / 2, 0, 0),
                inertia=(1e-3, length**3 / 12, length**3 / 12),
                nodes={"tip": (length, 0, 0)},
            )
        )
    loop = fa.Loop(("rocker", "tip"), "ground", kind, position2=(0.8, 0, 0))
    options = {"gravity": (0, -9.81, 0), "constraints": [loop]} | changes
    return fa.Arm(bodies, **options)


def closed_four_bar(arm):
    modes = [0.0] * (arm.nq - 3)
    return fa.close_loops(arm, [1.0, -0.6, -1.6, *modes], hold=["crank"])


def random_case(seed, kind=None, directions=None):
    """Random tree with a loop from a node to the ground or to another node."""
    rng = np.random.default_rng(seed)
    arm = fa.library.random_tree(seed, n_bodies=3 + seed % 4, max_modes=2)
    names = [body.name for body in arm.bodies]
    ends = [(str(rng.choice(names[1:])), int(rng.integers(1, 4))) for _ in range(2)]
    second = "ground" if seed % 2 or ends[0][0] == ends[1][0] else ends[1]
    rotations = Rotation.random(2, random_state=seed).as_matrix()
    loop = fa.Loop(
        ends[0],
        second,
        kind,
        directions,
        position=rng.normal(size=3) * 0.1,
        rotation=rotations[0],
        position2=rng.normal(size=3) * 0.1,
        rotation2=rotations[1],
    )
    free = arm.bodies[0].replace(joint=fa.Joint("free", position=(0.1, 0.2, 0.3)))
    arm = arm.replace(bodies=[free, *arm.bodies[1:]], constraints=[loop])
    q = fa.integrate(arm, arm.neutral, 0.4 * rng.normal(size=arm.nv))
    return arm, q, rng.normal(size=arm.nv), rng.normal(size=arm.nv)


def along(arm, q, qd, function, h=1e-3):
    """Derivative of a function of q along qd, central differences of order four."""
    at = {k: function(fa.integrate(arm, q, k * h * qd)) for k in (-2, -1, 1, 2)}
    return (8.0 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12.0 * h)


CASES = [(seed, kind, None) for seed, kind in enumerate(KINDS)] + [
    (seed + 20, None, directions) for seed, directions in enumerate(SUBSETS)
]


@pytest.mark.parametrize(("seed", "kind", "directions"), CASES)
def test_rows_are_entries_of_the_relative_pose(seed, kind, directions):
    """Violation and Jacobian by dual numbers, without the algebra of the kernel."""
    arm, q, qd, _ = random_case(seed, kind, directions)
    phi, A, _ = loop_rows(arm, q, qd)
    assert len(phi) == len(arm.constraint_names)
    assert_allclose(fa.constraint_violation(arm, q), phi, rtol=0, atol=1e-14)
    assert_allclose(fa.constraint_jacobian(arm, q), A, rtol=0, atol=1e-14)
    rate = along(arm, q, qd, lambda x: fa.constraint_violation(arm, x))
    size = max(1.0, np.abs(rate).max())
    assert_allclose(A @ qd, rate, rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize(("seed", "kind", "directions"), CASES)
def test_loops_inside_the_arm_exert_no_force_from_outside(seed, kind, directions):
    """Moving the whole arm, on its free base, opens no loop between two bodies."""
    arm, q, _, _ = random_case(seed, kind, directions)
    inside = arm.constraints[0].second != "ground"
    base = np.abs(fa.constraint_jacobian(arm, q)[:, :6]).max()
    assert base < 1e-14 if inside else base > 0.1


@pytest.mark.parametrize(("seed", "kind", "directions"), CASES)
def test_30_closed_chain_is_a_dense_kkt_system(seed, kind, directions):
    """Test 30 of the patent (section 5 of its digest), with stabilization.

    Any state, closed or not; the rows and their second derivatives are exact.
    """
    assert_dense_kkt(*random_case(seed, kind, directions))


def assert_dense_kkt(arm, q, qd, tau):
    """Accelerations and forces of a dense system, and those of the tree under them."""
    M, (phi, A, gamma) = fa.mass_matrix(arm, q), loop_rows(arm, q, qd)
    s = arm.stabilization
    bias = fa.bias_forces(arm, q, qd)
    wanted = -gamma - 2.0 * s * A @ qd - s**2 * phi
    m = len(phi)
    kkt = np.block([[M, -A.T], [A, np.zeros((m, m))]])
    solution = np.linalg.solve(kkt, np.concatenate([tau - bias, wanted]))
    qdd, force = solution[: arm.nv], solution[arm.nv :]
    size = 1e-11 * np.abs(qdd).max()
    for method in ("articulated", "composite"):
        found = fa.forward_dynamics(arm, q, qd, tau, method=method)
        assert_allclose(found, qdd, rtol=0, atol=size)
        assert_allclose(A @ found, wanted, rtol=0, atol=size)
    found = fa.constraint_forces(arm, q, qd, tau)
    assert_allclose(found, force, rtol=0, atol=1e-11 * np.abs(force).max())
    # the tree under these forces moves as the closed arm does
    tree = arm.replace(constraints=())
    moved = fa.forward_dynamics(tree, q, qd, tau + A.T @ found)
    assert_allclose(moved, fa.forward_dynamics(arm, q, qd, tau), rtol=0, atol=size)


@pytest.mark.parametrize("direction", ["x", "y", "z", "ry", "rz"])
def test_one_row_on_straight_beams(direction):
    """The smallest closed chain, on bodies that have recursions of their own."""
    modes = fa.beams.clamped_beam_modes(0.8, 1.0, 20.0, 2)
    beam = fa.beams.flexible_link(
        "beam", length=0.8, mass_per_length=1.0, bending_y=modes, bending_z=modes
    )
    turned = (fa.Joint(), fa.Joint(axis=(0, 1, 0)), fa.Joint(axis=(0, 0, 1)))
    links = [beam.replace(name=f"beam{i}", joint=turned[i]) for i in range(3)]
    place = {"position": (0.02, 0.1, 0.03), "position2": (1.5, 0.2, 0.1)}
    loop = fa.Loop(("beam2", "tip"), "ground", directions=(direction,), **place)
    arm = fa.Arm(links, constraints=[loop])
    assert len(arm.constraint_names) == 1
    rng = np.random.default_rng(sum(map(ord, direction)))
    q = np.concatenate([rng.normal(size=3), 0.05 * rng.normal(size=arm.nq - 3)])
    assert_dense_kkt(arm, q, *rng.normal(size=(2, arm.nv)))


@pytest.mark.parametrize("seed", range(6))
def test_methods_agree_to_rounding(seed):
    arm, q, qd, tau = random_case(seed, "spherical")
    by_recursion = fa.forward_dynamics(arm, q, qd, tau)
    dense = fa.forward_dynamics(arm, q, qd, tau, method="composite")
    assert_allclose(by_recursion, dense, rtol=0, atol=1e-10 * np.abs(dense).max())


@pytest.mark.parametrize("kind", ["spherical", "universal", "revolute", "cylindrical"])
def test_a_loop_in_place_of_a_joint(kind):
    """A free body held by a loop moves as one on the joint of that name."""
    rng = np.random.default_rng(3)
    body = {"mass": 2.0, "com": (0.1, 0.3, -0.2), "inertia": (0.1, 0.2, 0.25)}
    free = fa.RigidBody("body", fa.Joint("free"), **body)
    # universal: y of the first frame and x of the second; the loop goes from the body
    # to the ground, so the ground has x and the body y
    axes = {"axis": (1, 0, 0), "axis2": (0, 1, 0)} if kind == "universal" else {}
    g = {"gravity": (3.0, -2.0, -9.0)}
    joined = fa.Arm([fa.RigidBody("body", fa.Joint(kind, **axes), **body)], **g)
    held = fa.Arm([free], constraints=[fa.Loop(("body", "base"), "ground", kind)], **g)
    q = fa.integrate(joined, joined.neutral, rng.normal(size=joined.nv))
    qd = rng.normal(size=joined.nv)
    qdd = fa.forward_dynamics(joined, q, qd, np.zeros(joined.nu))
    pose = fa.link_poses(joined, q)[0]
    quaternion = Rotation.from_matrix(pose[:3, :3]).as_quat()[[3, 0, 1, 2]]
    q_free = np.concatenate([quaternion, pose[:3, 3]])
    qd_free = fa.node_velocity(joined, q, qd, ("body", "base"))
    assert_allclose(fa.constraint_violation(held, q_free), 0.0, rtol=0, atol=1e-15)
    found = fa.forward_dynamics(held, q_free, qd_free, np.zeros(6))
    again = fa.node_acceleration(held, q_free, qd_free, found, ("body", "base"))
    expected = fa.node_acceleration(joined, q, qd, qdd, ("body", "base"))
    assert_allclose(again, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_crank_and_slider_of_the_textbook():
    """x = r cos a + sqrt(l^2 - r^2 sin^2 a), one freedom: 2 equations by hand."""
    r, length, m, J = 0.2, 0.7, 3.0, 0.05
    crank = fa.RigidBody("crank", mass=1.0, inertia=(J, J, J), nodes={"pin": (r, 0, 0)})
    light = 1e-7
    rod = fa.RigidBody(
        "rod",
        mass=light,
        com=(length / 2, 0, 0),
        inertia=3 * [light * length**2 / 12],
        nodes={"pin": (length, 0, 0)},
    )
    slider = fa.RigidBody(
        "slider", fa.Joint("prismatic", (1, 0, 0), parent="ground"), mass=m
    )
    base = fa.RigidBody("bench", fa.Joint("fixed"))
    arm = fa.Arm(
        [
            base,
            crank.replace(joint=fa.Joint(parent="bench", node="base")),
            rod.replace(joint=fa.Joint(parent="crank", node="pin")),
            slider.replace(
                joint=fa.Joint("prismatic", (1, 0, 0), parent="bench", node="base")
            ),
        ],
        gravity=(0, 0, 0),
        constraints=[fa.Loop(("rod", "pin"), ("slider", "base"), directions="xy")],
    )
    a, ad, torque = 0.8, 3.0, 0.7
    b = -np.arcsin(r * np.sin(a) / length)  # angle of the rod
    root = length * np.cos(b)
    x = r * np.cos(a) + root
    dx = -r * np.sin(a) - r**2 * np.sin(a) * np.cos(a) / root
    slope = r**2 * np.cos(2 * a) / root
    slope += r**4 * (np.sin(a) * np.cos(a)) ** 2 / root**3
    ddx = -r * np.cos(a) - slope
    q = fa.close_loops(arm, [a, b - a, x])
    assert_allclose(q, [a, b - a, x], rtol=0, atol=1e-14)
    qd = fa.close_loops(arm, q, [ad, 0.0, dx * ad])[1]
    assert_allclose(qd[2], dx * qd[0], rtol=1e-12)
    qdd = fa.forward_dynamics(arm, q, qd, [torque, 0.0, 0.0])
    expected = (torque - m * dx * ddx * qd[0] ** 2) / (J + m * dx**2)
    assert_allclose(qdd[0], expected, rtol=1e-6)  # the rod weighs a little


def test_coupling_of_two_joints():
    """Gear of ratio 2: kinetic energy of one freedom, force on the teeth."""
    arm = fa.library.planar_chain(2, length=1.0, gravity=(0, 0, 0)).replace(
        constraints=[fa.Coupling({"link1": 2.0, "link2": -1.0}, constant=0.3)],
        couplings="constrained",
    )
    assert arm.constraint_names == ("link1-link2",)
    q = np.array([0.4, 0.5])
    assert_allclose(fa.constraint_violation(arm, q), 0.0, rtol=0, atol=1e-16)
    ratio, still = np.array([1.0, 2.0]), np.zeros(2)
    inertia = ratio @ fa.mass_matrix(arm, q) @ ratio
    qdd = fa.forward_dynamics(arm, q, still, [0.7, 0.2])
    assert_allclose(qdd, ratio * (0.7 + 0.4) / inertia, rtol=1e-13)
    force = fa.constraint_forces(arm, q, still, [0.7, 0.2])
    row = np.array([2.0, -1.0])
    assert_allclose(
        fa.mass_matrix(arm, q) @ qdd, [0.7, 0.2] + row * force[0], rtol=0, atol=1e-14
    )


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_redundant_rows_change_nothing_and_are_named(kind):
    """A planar loop in space: out of the plane nothing can move."""
    plane = four_bar(
        constraints=[
            fa.Loop(("rocker", "tip"), directions=("x", "y"), position2=(0.8, 0, 0))
        ]
    )
    space = four_bar(kind)
    q = closed_four_bar(space)
    qd = fa.close_loops(space, q, [1.0, 0.0, 0.0])[1]
    expected = fa.forward_dynamics(plane, q, qd, [0.3, 0.0, 0.0])
    found = fa.forward_dynamics(space, q, qd, [0.3, 0.0, 0.0])
    assert_allclose(found, expected, rtol=1e-11)
    redundant = {"revolute": ("rx", "ry", "z"), "spherical": ("z",)}[kind]
    names = tuple(f"rocker-ground.{d}" for d in redundant)
    assert fa.redundant_constraints(space, q) == names
    assert fa.redundant_constraints(plane, q) == ()
    forces = dict(
        zip(
            space.constraint_names,
            fa.constraint_forces(space, q, qd, [0.3, 0.0, 0.0]),
            strict=True,
        )
    )
    assert all(forces[name] == 0.0 for name in names)
    assert forces["rocker-ground.x"] != 0.0


def test_flat_linkage_has_one_row():
    """All pins on one line: the row along it is rounding of zeros, without a force."""
    pin = fa.Loop(("rocker", "tip"), directions="xy", position2=(1.3, 0, 0))
    arm, flat, still = four_bar(constraints=[pin]), [np.pi, -np.pi, 0.0], np.zeros(3)
    rows = fa.constraint_jacobian(arm, flat)
    assert 0.0 < abs(rows[0]).max() < 1e-15
    assert fa.redundant_constraints(arm, flat) == ("rocker-ground.x",)
    kkt = np.zeros((4, 4))
    kkt[:3, :3] = fa.mass_matrix(arm, flat)
    kkt[:3, 3], kkt[3, :3] = -rows[1], rows[1]
    load = np.append([0.3, 0.0, 0.0] - fa.gravity_forces(arm, flat), 0.0)
    *qdd, force = np.linalg.solve(kkt, load)
    found = fa.forward_dynamics(arm, flat, still, [0.3, 0.0, 0.0])
    assert_allclose(found, qdd, rtol=1e-12)
    forces = fa.constraint_forces(arm, flat, still, [0.3, 0.0, 0.0])
    assert_allclose(forces, [0.0, force], rtol=1e-12, atol=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("n_modes", [0, 2])
def test_four_bar_for_a_minute(n_modes):
    arm = four_bar(n_modes=n_modes)
    q = closed_four_bar(arm)
    still = [0.0] * (arm.nv - 1)
    qd = fa.close_loops(arm, q, [4.0, *still], hold=["crank"])[1]
    t = np.linspace(0.0, 60.0, 6001)
    run = fa.simulate(arm, q, qd, t, max_step=5e-4)
    assert run.success
    assert np.abs(fa.constraint_violation(arm, run.q)).max() < 1e-8
    rate = fa.constraint_jacobian(arm, run.q) @ run.qd[..., np.newaxis]
    assert np.abs(rate).max() < 1e-8
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6 * np.ptp(run.kinetic)


@pytest.mark.slow
def test_closed_six_bar_for_a_minute():
    """Six links in a ring, the ground one of them: three freedoms."""
    arm = fa.library.planar_chain(5, length=0.4, gravity=(0, 0, 0))
    arm = arm.replace(
        constraints=[fa.Loop(("link5", "tip"), kind="revolute", position2=(0.5, 0, 0))]
    )
    q = fa.close_loops(arm, [2.0, -0.7, -1.0, -1.0, -1.0])
    qd = fa.close_loops(arm, q, [1.0, -0.5, 0.3, 0.0, 0.0])[1]
    run = fa.simulate(arm, q, qd, np.linspace(0.0, 60.0, 3001), max_step=5e-4)
    assert run.success
    assert np.abs(fa.constraint_violation(arm, run.q)).max() < 1e-8
    rate = fa.constraint_jacobian(arm, run.q) @ run.qd[..., np.newaxis]
    assert np.abs(rate).max() < 1e-8
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6 * run.kinetic[0]


def test_stabilization_bounds_the_drift_of_any_solver():
    arm = four_bar()
    q = closed_four_bar(arm)
    qd = fa.close_loops(arm, q, [4.0, 0.0, 0.0])[1]
    t = np.linspace(0.0, 4.0, 41)
    drift = []
    for rate in (0.0, 20.0):
        held = arm.replace(stabilization=rate)
        run = fa.simulate(held, q, qd, t, method="DOP853", rtol=1e-6, atol=1e-8)
        drift.append(np.abs(fa.constraint_violation(arm, run.q)).max())
    assert drift[1] < 0.1 * drift[0]
    # an open loop closes at this rate
    moved = q + np.array([0.0, 0.01, 0.0])
    with pytest.warns(fa.ConstraintWarning, match="violated by 0.00677 m at the start"):
        run = fa.simulate(
            arm.replace(stabilization=20.0), moved, np.zeros(3), t, method="DOP853"
        )
    violation = np.abs(fa.constraint_violation(arm, run.q)).max(axis=-1)
    assert violation[0] > 1e-3
    assert violation[10] < 1e-5


def test_batches_equal_single_states():
    arm = four_bar(n_modes=2)
    q = np.tile(closed_four_bar(arm), (11, 1))
    q[:, 0] += np.linspace(-0.2, 0.2, 11)
    q = fa.close_loops(arm, q)
    rng = np.random.default_rng(0)
    qd, tau = rng.normal(size=(2, 11, arm.nv))
    forward = fa.forward_dynamics(arm, q, qd, tau)
    forces = fa.constraint_forces(arm, q, qd, tau)
    for k in range(11):
        assert np.array_equal(fa.forward_dynamics(arm, q[k], qd[k], tau[k]), forward[k])
        assert np.array_equal(fa.constraint_forces(arm, q[k], qd[k], tau[k]), forces[k])


def test_constraints_name_what_the_arm_has():
    arm = four_bar(constraints=())

    def refused(words, *constraints, error=fa.ModelError):
        with pytest.raises(error, match=words):
            arm.replace(constraints=constraints)

    refused("no body 'arm'.*crank", fa.Loop(("arm", "tip")))
    refused("no node 'elbow'", fa.Loop(("crank", "elbow")))
    twice = fa.Loop(("crank", "tip"), kind="planar")
    refused("two constraints are named 'crank-ground'.*a name", twice, twice)
    refused("nothing can move.*leave the loop out", fa.Loop(("crank", 0), ("crank", 1)))
    refused("expected flexarm.Loop or flexarm.Coupling", "loop")
    refused("'wrist', expected one of 'crank'", fa.Coupling({"wrist": 1.0}))
    model_refused(["sequence of Loop"], lambda: arm.replace(constraints=3))
    with pytest.raises(fa.ModelError, match="-1 1/s, expected zero or more"):
        arm.replace(stabilization=-1.0)
    for words, given in {
        "kind of the loop is 'hinge'": {"kind": "hinge"},
        "did you mean 'revolute'": {"kind": "revolut"},
        "the kind 'planar' and directions": {"kind": "planar", "directions": "x"},
        "directions of the loop": {"directions": ["w"]},
        "second end of the loop": {"second": "sky"},
        "rotation of the loop is not a rotation": {"rotation": 2 * np.eye(3)},
    }.items():
        with pytest.raises(fa.ModelError, match=words):
            fa.Loop(("crank", "tip"), **given)
    model_refused(["all zero"], lambda: fa.Coupling({"crank": 0.0}))
    model_refused(["expected a mapping"], lambda: fa.Coupling(3))
    free = fa.Arm([fa.RigidBody("box", fa.Joint("free"), 1.0, inertia=(1, 1, 1))])
    with pytest.raises(fa.ModelError, match="expected one of none"):
        free.replace(constraints=[fa.Coupling({"box.wx": 1.0})])
    for function in (fa.constraint_violation, fa.constraint_jacobian, fa.close_loops):
        with pytest.raises(fa.ArgumentError, match="no constraints, expected an arm"):
            function(arm, arm.neutral)


def test_a_loop_that_closes_half_a_turn_away_is_refused():
    """The rows vanish there too: axes are parallel, but point the other way."""
    box = fa.RigidBody("box", fa.Joint("free"), mass=1.0, inertia=(1, 1, 1))
    for kind in ("fixed", "revolute", "prismatic", "planar"):
        arm = fa.Arm([box], constraints=[fa.Loop(("box", "base"), kind=kind)])
        turned = fa.integrate(arm, arm.neutral, [np.pi, 0, 0, 0, 0, 0])
        assert_allclose(fa.constraint_violation(arm, turned), 0.0, rtol=0, atol=1e-15)
        with pytest.raises(fa.ConvergenceError, match="half a turn apart"):
            fa.close_loops(arm, turned)
        near = fa.integrate(arm, arm.neutral, [0.9, 0.2, 0.1, 0.1, 0, 0])
        fa.close_loops(arm, near)


def test_several_bodies_on_the_ground():
    """A crank and a rocker on their own pivots, closed by their coupler."""
    rods = four_bar(constraints=()).bodies
    rocker = rods[2].replace(
        joint=fa.Joint(parent="ground", node="base", position=(0.8, 0, 0))
    )
    arm = fa.Arm(
        [*rods[:2], rocker],
        gravity=(0, -9.81, 0),
        constraints=[fa.Loop(("coupler", "tip"), ("rocker", "tip"), "revolute")],
    )
    chain = four_bar()
    q_chain = closed_four_bar(chain)
    q = fa.close_loops(arm, [q_chain[0], q_chain[1], 1.9], hold="crank")
    qd = fa.close_loops(arm, q, [1.0, 0.0, 0.0], hold="crank")[1]
    qd_chain = fa.close_loops(chain, q_chain, [1.0, 0.0, 0.0], hold="crank")[1]
    tip = [
        fa.node_pose(a, x, ("coupler", "tip")) for a, x in ((arm, q), (chain, q_chain))
    ]
    assert_allclose(tip[0], tip[1], rtol=0, atol=1e-12)
    found = fa.forward_dynamics(arm, q, qd, [0.3, 0.0, 0.0])
    expected = fa.forward_dynamics(chain, q_chain, qd_chain, [0.3, 0.0, 0.0])
    assert_allclose(found[:2], expected[:2], rtol=1e-10)


def test_a_loop_that_cannot_close_says_which_and_by_how_much():
    far = fa.Loop(("rocker", "tip"), kind="revolute", position2=(5, 0, 0))
    arm = four_bar(constraints=[far])
    with pytest.raises(
        fa.ConvergenceError, match=r"rocker-ground.*open by 2\.\d+ after 50 steps"
    ) as caught:
        fa.close_loops(arm, [0.1, 0.1, 0.1])
    assert caught.value.result.shape == (3,)


def test_pickle_and_equality():
    arm = four_bar()
    again = pickle.loads(pickle.dumps(arm))
    assert again == arm
    q = closed_four_bar(arm)
    assert np.array_equal(
        fa.constraint_violation(again, q), fa.constraint_violation(arm, q)
    )
