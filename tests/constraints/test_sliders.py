"""Points that slide on flexible links: rows, a moving mass, what has no place."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import model_refused
from scipy.integrate import solve_ivp

import flexarm as fa
from flexarm.beams import flexible_link

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")


def spatial(**changes):
    """A beam that bends both ways, with a free body on its line."""
    beam = flexible_link(
        "beam",
        length=2.0,
        mass_per_length=1.0,
        bending_stiffness=(1e3, 2e3),
        torsional_stiffness=500.0,
        polar_inertia_per_length=0.01,
        joint=fa.Joint("revolute", axis="y"),
        n_modes=4,
    )
    body = fa.RigidBody(
        "trolley", fa.Joint("free", parent="ground"), mass=1.0, inertia=(0.1, 0.2, 0.3)
    )
    slider = fa.Slider(
        ("trolley", 0), "beam", position=(0.05, 0.02, 0.1), directions=("rx", "y", "z")
    )
    return fa.Arm([beam, body], constraints=[slider], **changes)


def states(arm, n=40):
    """Postures near the line, but not on it, with slopes of up to a third."""
    random = np.random.default_rng(5)
    q = np.tile(arm.neutral, (n, 1))
    q[:, 0] = random.uniform(-0.3, 0.3, n)
    q[:, 1:5] = random.normal(size=(n, 4))
    q[:, 5:8] = random.uniform((0.3, -0.1, -0.1), (1.5, 0.1, 0.1), (n, 3))
    q[:, 8:] = 0.02 * random.normal(size=(n, arm.nq - 8))
    return q, random.normal(size=(n, arm.nv))


def test_jacobian_is_the_derivative_of_the_violation():
    arm = spatial()
    q, _ = states(arm)
    found = fa.constraint_jacobian(arm, q)
    h = 3e-5
    for i, unit in enumerate(h * np.eye(arm.nv)):
        # of fourth order; cubics of the line have jumps of their third derivative
        at = [
            fa.constraint_violation(arm, fa.integrate(arm, q, k * unit))
            for k in (-2, -1, 1, 2)
        ]
        slope = (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * h)
        assert_allclose(found[..., i], slope, atol=1e-8)


def test_rates_of_the_rows_are_those_of_the_jacobian():
    arm = spatial(stabilization=0.0)
    q, qd = states(arm)
    qd = 0.3 * qd
    # at forces without free acceleration the constraints alone accelerate
    qdd = fa.forward_dynamics(arm, q, qd, fa.bias_forces(arm, q, qd))
    A = fa.constraint_jacobian(arm, q)
    h = 1e-5

    def rate(s):
        moved = fa.constraint_jacobian(arm, fa.integrate(arm, q, s * qd))
        return (moved @ qd[..., None])[..., 0]

    wanted = (rate(h) - rate(-h)) / (2.0 * h)
    assert_allclose(-(A @ qdd[..., None])[..., 0], wanted, rtol=1e-6, atol=1e-5)


def test_violation_is_the_distance_across_the_line():
    """On a bent line of which the deflection is that of the modes between the nodes."""
    arm = spatial()
    q = arm.neutral
    q[8:16] = 0.05, 0.03, 0.01, -0.004, -0.03, 0.05, 0.01, 0.002  # bending
    beam = arm.replace(constraints=())
    nodes = [arm.node("beam", name) for name in arm["beam"].node_names]
    line = fa.node_poses(beam, q)[nodes, :3, 3]
    line = line[np.argsort(line[:, 0])]
    for x in np.linspace(0.1, 1.9, 7):
        near = np.argsort(abs(line[:, 0] - x))[:8]  # a polynomial through eight nodes
        y, z = (
            np.polyval(np.polyfit(line[near, 0] - x, line[near, i], 7), 0.0)
            for i in (1, 2)
        )
        q[5:8] = x - 0.05, y - 0.02, z - 0.1
        assert_allclose(fa.constraint_violation(arm, q)[1:], 0.0, atol=2e-6)
        q[6:8] += 0.01, -0.02
        found = fa.constraint_violation(arm, q)[1:]
        assert_allclose(found, [0.01, -0.02], atol=2e-6)


def test_locked_turn_is_the_twist_of_the_section():
    """Of a rod that twists with the distance, as its static shape does."""
    arm = spatial()
    q = arm.neutral
    q[arm.position_names.index("beam.tip rx")] = 0.3
    for x in (0.1, 0.9, 1.95):
        twist = 0.3 * x / 2.0 + 0.05
        q[1:5] = np.cos(twist / 2.0), np.sin(twist / 2.0), 0.0, 0.0
        q[5] = x - 0.05
        found = fa.constraint_violation(arm, q)[0]
        assert_allclose(found, np.sin(0.05), rtol=1e-4)


def test_loops_close_to_rounding():
    arm = spatial()
    q, qd = states(arm)
    q, qd = fa.close_loops(arm, q, qd, modes=True)
    assert abs(fa.constraint_violation(arm, q)).max() < 1e-10
    A = fa.constraint_jacobian(arm, q)
    assert abs(A @ qd[..., None]).max() < 1e-10


def test_stack_and_pickle_agree():
    arm = spatial()
    other = arm.replace(gravity=(0, 0, -1.0))
    q, qd = states(arm)
    tau = np.zeros(arm.nv)
    stack = fa.stack([arm, other])
    found = fa.forward_dynamics(stack[:, None], q, qd, tau)
    for one, values in zip(
        (arm, pickle.loads(pickle.dumps(other))), found, strict=True
    ):
        wanted = fa.forward_dynamics(one, q, qd, tau)
        assert_allclose(values, wanted, rtol=1e-9, atol=1e-9 * abs(wanted).max())


HAND = """
links:
  - name: beam
    length: 2.0
    section: {stiffness: {mass_per_length: 1, bending_stiffness: 500}}
    motions: bending z
    joint: fixed
    n_modes: 6
  - name: trolley
    mass: 1.0
    joint: {kind: prismatic, axis: z, parent: ground, position: [0.5, 0, 0]}
sliders: [{point: [trolley, base], line: beam, directions: [z], name: wheel}]
"""


def test_files_keep_sliders(tmp_path):
    (tmp_path / "hand.yaml").write_text(HAND)
    arm = fa.load(tmp_path / "hand.yaml")
    assert arm.constraint_names == ("wheel.z",)
    fa.save(arm, tmp_path / "arm.json")
    q = arm.neutral
    q[1:] = 0.01
    wanted = fa.constraint_violation(arm, q)
    assert wanted != 0.0
    assert fa.constraint_violation(fa.load(tmp_path / "arm.json"), q) == wanted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a robot file does not have
        fa.urdf.save(arm, tmp_path / "arm.urdf")
        again = fa.urdf.load(tmp_path / "arm.urdf")
    assert again.constraint_names == ("wheel.z",)
    order = [again.position_names.index(name) for name in arm.position_names]
    moved = again.neutral
    moved[order] = q
    assert_allclose(fa.constraint_violation(again, moved), wanted, atol=1e-9)


def test_mass_moves_over_a_beam():
    """Modal equations of a mass at constant speed (Fryba 1999, chapter 5)."""
    length, rho, EI, m, speed, g, n = 2.0, 3.0, 2e4, 2.0, 4.0, 9.81, 4
    beam = flexible_link(
        "beam",
        length=length,
        mass_per_length=rho,
        bending_stiffness=EI,
        motions="bending z",
        modes="pinned",
        n_modes=n,
        joint=fa.Joint("revolute", axis="y"),
    )
    # so heavy that its speed remains
    cart = fa.RigidBody("cart", fa.Joint("prismatic", axis="x", parent="ground"), 1e6)
    load = fa.RigidBody("load", fa.Joint("prismatic", axis="z", node=0), m)
    roller = fa.Loop(("beam", "tip"), directions="z", position2=(length, 0, 0))
    slider = fa.Slider(("load", 0), "beam", directions="z")
    arm = fa.Arm([beam, cart, load], constraints=[roller, slider])

    k = np.arange(1, n + 1) * np.pi / length
    M, K = 0.5 * rho * length * np.eye(n), np.diag(0.5 * EI * k**4 * length)
    weight = -rho * g * (1.0 - np.cos(k * length)) / k

    def rates(t, y):
        x = speed * t
        shape, slope = np.sin(k * x), k * np.cos(k * x)
        force = weight - K @ y[:n]
        force -= m * shape * (g + 2.0 * speed * slope @ y[n:])
        force += m * shape * speed**2 * (k**2 * shape) @ y[:n]
        return np.r_[y[n:], np.linalg.solve(M + m * np.outer(shape, shape), force)]

    t = np.linspace(0.0, 0.99 * length / speed, 34)
    exact = solve_ivp(
        rates, (0.0, t[-1]), np.zeros(2 * n), "DOP853", t, rtol=1e-10, atol=1e-14
    )
    qd = np.zeros(arm.nv)
    qd[arm.coordinate_names.index("cart")] = speed
    run = fa.simulate(arm, arm.neutral, qd, t, max_step=2e-4)
    assert run.success, run.message
    node = arm.node("beam", "g9")
    x = arm["beam"].node_position[arm["beam"].node_index("g9"), 0]
    deflection = fa.node_pose(arm, run.q, node)[:, 2, 3]
    wanted = np.sin(k * x) @ exact.y[:n]
    assert_allclose(deflection, wanted, atol=1e-3 * abs(wanted).max())
    assert abs(fa.constraint_violation(arm, run.q)).max() < 1e-10
    end = fa.simulate(arm, run.q[-1], run.qd[-1], [0.0, 0.005, 0.01], max_step=2e-4)
    assert not end.success
    assert "slider 'load-beam' is beyond the ends of its line" in end.message


def test_point_beyond_the_ends_is_named():
    arm = spatial()
    q = arm.neutral
    q[5] = 2.1
    with pytest.raises(fa.NotFiniteError, match="'trolley-beam' is beyond the ends"):
        fa.constraint_violation(arm, q)
    with pytest.raises(fa.NotFiniteError, match="'trolley-beam' is beyond the ends"):
        fa.close_loops(arm, q)
    q[5] = 2.0 - 0.05  # the tip itself is on the line
    assert_allclose(fa.constraint_violation(arm, q), [0.0, 0.02, 0.1], atol=1e-12)


def test_refusals():
    arm = spatial()
    _, body = arm.bodies
    rigid = fa.RigidBody("beam", mass=1.0, nodes={"tip": (1, 0, 0)})

    def made(*args, bodies=arm.bodies, **options):
        return lambda: fa.Arm(bodies, constraints=[fa.Slider(*args, **options)])

    pieces = flexible_link(
        "beam", length=1.0, mass_per_length=1.0, bending_stiffness=1.0, segments=2
    )
    point = ("trolley", 0)
    for words, call in (
        ("expected some of 'rx', 'y', 'z'", made(point, "beam", directions="x")),
        ("expected a pair (body, node) or 'ground'", made("trolley", "beam")),
        ("expected two nodes of its line", made(point, "beam", ends="tip")),
        ("expected the name or number of a flexible body", made(point, 1.5)),
        ("at the same place", made(point, "beam", ends=("tip", "tip"))),
        ("no body 'boom'", made(point, "boom")),
        ("which is rigid", made(point, "beam", bodies=[rigid, body])),
        ("a link of 2 pieces", made(point, "beam", bodies=[pieces, body])),
        ("an arm of ruthless fidelity", lambda: arm.replace(fidelity="ruthless")),
    ):
        model_refused([words], call)
