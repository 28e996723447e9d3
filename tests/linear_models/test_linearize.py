"""Linear models of arms: differences of the kernels, frequencies, simulated motion.

A and C are exact: what is compared with them are central differences of forward
dynamics and of the kinematics of nodes, for random trees with joints of all kinds in
motion, and closed forms and the modes of `vibration_modes` where there are any.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drive_cases import driven_tree
from few_modes import planar_chain
from numpy.testing import assert_allclose
from trees import SEVERAL, random_state

import flexarm as fa

# all holonomic ones
JOINTS = tuple(kind for kind in SEVERAL if kind != "subspace")
TWO_PI = 2.0 * np.pi


def tree(seed: int, gravity: bool = True) -> fa.Arm:
    return fa.library.random_tree(
        seed, 1 + seed % 4, max_modes=3, joints=JOINTS, gravity=gravity
    )


def state(arm: fa.Arm, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    q, qd, _ = random_state(rng, arm, 0.1)
    return q, 0.5 * qd, fa.inverse_dynamics(arm, q, qd, rng.normal(size=arm.nv))


def slope(function: Any, h: float = 4e-3) -> Any:
    """Derivative at zero of sixth order, by a column of arguments."""
    near, mid, far = (function(k * h) - function(-k * h) for k in (1, 2, 3))
    return (45.0 * near - 9.0 * mid + far) / (60.0 * h)


def columns(function: Any, n: int, h: float = 4e-3) -> Any:
    """Matrix of derivatives of function(steps), steps (n, n)."""
    unit = np.eye(n)
    return slope(lambda step: function(step * unit), h).T


# the equation of motion


@pytest.mark.parametrize("seed", range(10))
def test_states_obey_forward_dynamics(seed: int) -> None:
    arm = tree(seed)
    q, qd, tau = state(arm, seed)
    n = arm.nv
    if not n:
        return
    ss = fa.linearize(arm, q, qd, tau, inputs="all forces")

    def by_q(steps: Any) -> Any:
        return fa.forward_dynamics(arm, fa.integrate(arm, q, steps), qd, tau)

    def by_qd(steps: Any) -> Any:
        return fa.forward_dynamics(arm, q, qd + steps, tau)

    for found, expected in (
        (ss.A[n:, :n], columns(by_q, n)),
        (ss.A[n:, n:], columns(by_qd, n)),
        (ss.B[n:], fa.mass_matrix_inverse(arm, q)),
    ):
        size = max(1.0, np.abs(expected).max())
        assert_allclose(found, expected, rtol=0.0, atol=1e-10 * size)
    qdd = fa.forward_dynamics(arm, q, qd, tau)
    assert_allclose(ss.drift, [*qd, *qdd], rtol=0.0, atol=1e-9 * max(1, abs(qdd).max()))


@pytest.mark.parametrize("seed", range(6))
def test_displacements_turn_with_joints_that_have_poses(seed: int) -> None:
    # along two motions with constant velocities, as differences of positions
    arm = fa.library.random_tree(seed, 3, joints=("spherical", "free", "revolute"))
    q, qd, tau = state(arm, seed)
    n = arm.nv
    ss = fa.linearize(arm, q, qd, tau)
    G = ss.A[:n, :n]

    def rate(steps: Any) -> Any:
        start = fa.integrate(arm, q, steps)

        def apart(t: float) -> Any:
            here = fa.integrate(arm, q, t * qd)
            return fa.difference(arm, here, fa.integrate(arm, start, t * qd))

        return slope(apart)

    assert_allclose(G, columns(rate, n), rtol=0.0, atol=1e-10)
    assert_allclose(ss.A[:n, n:], np.eye(n), rtol=0.0, atol=0.0)
    if any(body.joint.has_pose for body in arm.bodies):
        assert np.abs(G).max() > 0.1


# outputs


def node_signals(arm: fa.Arm, node: int, q: Any, qd: Any, qdd: Any) -> dict[str, Any]:
    """Signals of a node by the functions of the package, for steps of the state."""
    pose = fa.node_pose(arm, q, node)
    R = pose[..., :3, :3]
    V = fa.node_velocity(arm, q, qd, node, frame="base")
    a = fa.node_acceleration(arm, q, qd, qdd, node, frame="base")
    force = (a[..., 3:] - arm.gravity)[..., np.newaxis, :] @ R
    return {
        "position": pose[..., :3, 3],
        "velocity": V[..., 3:],
        "angular velocity": V[..., :3],
        "gyroscope": fa.node_velocity(arm, q, qd, node)[..., :3],
        "acceleration": a[..., 3:],
        "accelerometer": force[..., 0, :],
    }


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("at_rest", [False, True])
def test_signals_of_nodes(seed: int, at_rest: bool) -> None:
    arm = tree(seed)
    q, qd, tau = state(arm, seed)
    qd = 0.0 * qd if at_rest else qd
    n, node = arm.nv, seed % arm.n_nodes
    if not n:
        return
    name = arm.node_names[node]
    kinds = tuple(node_signals(arm, node, q, qd, qd))
    wanted = [f"{name} {kind}" for kind in kinds]
    ss = fa.linearize(arm, q, qd, tau, inputs="all forces", outputs=wanted)

    def signals(dq: Any = 0.0, dqd: Any = 0.0, dtau: Any = 0.0) -> Any:
        q1 = fa.integrate(arm, q, dq + np.zeros(n))
        qdd = fa.forward_dynamics(arm, q1, qd + dqd, tau + dtau)
        found = node_signals(arm, node, q1, qd + dqd, qdd)
        return np.concatenate(
            np.broadcast_arrays(*(found[kind] for kind in kinds)), axis=-1
        )

    expected = np.hstack(
        [columns(lambda h: signals(dq=h), n), columns(lambda h: signals(dqd=h), n)]
    )
    for k, kind in enumerate(kinds):
        at = slice(3 * k, 3 * k + 3)
        size = max(1.0, np.abs(expected[at]).max())
        assert_allclose(
            ss.C[at], expected[at], rtol=0.0, atol=1e-10 * size, err_msg=kind
        )
    D = columns(lambda h: signals(dtau=h), n)
    assert_allclose(ss.D, D, rtol=0.0, atol=1e-10 * max(1.0, np.abs(D).max()))
    assert_allclose(ss.y, signals(), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_rotation_of_a_node(seed: int) -> None:
    arm = tree(seed)
    q, _, _ = state(arm, seed)
    if not arm.nv:
        return
    ss = fa.linearize(arm, q, outputs="tip rotation")

    def turned(steps: Any) -> Any:
        there = fa.tip_pose(arm, fa.integrate(arm, q, steps))[..., :3, :3]
        return fa.se3.so3_log(there @ fa.tip_pose(arm, q)[:3, :3].T)

    expected = columns(turned, arm.nv)
    assert_allclose(ss.C[:, : arm.nv], expected, rtol=0.0, atol=1e-11)


def test_a_strain_gauge_between_the_cuts() -> None:
    # curvature of the first clamped mode by its second derivative, and of a fibre
    arm = planar_chain(1, n_modes=3, modes="clamped-free", gravity=(0, 0, 0))
    b = 1.8751040687119611664
    k = (np.sinh(b) - np.sin(b)) / (np.cosh(b) + np.cos(b))
    x = 0.371 * b
    bend = np.cosh(x) + np.cos(x) - k * (np.sinh(x) + np.sin(x))
    shape = np.cosh(b) - np.cos(b) - k * (np.sinh(b) - np.sin(b))
    node = arm.bodies[0].node_translation[-1, 1, 0]  # tip value of the first mode
    gauges = [
        ("strain", "link1", 0.371),
        fa.outputs.strain("link1", 0.2, distance=0.01),
        fa.outputs.strain("link1", 0.2),
    ]
    ss = fa.linearize(arm, np.zeros(4), outputs=[gauges[0]])
    assert_allclose(ss.C[0, 1], node * b**2 * bend / shape, rtol=1e-10)
    fibre = fa.linearize(arm, np.zeros(4), outputs=gauges[1])
    there = fa.linearize(arm, np.zeros(4), outputs=gauges[2])
    assert_allclose(fibre.C, -0.01 * there.C, rtol=1e-14)


def test_a_strain_gauge_on_elements_is_that_of_link_loads() -> None:
    arm = fa.library.farid_planar(n_links=1, elements=3)
    q = np.linspace(-0.02, 0.03, arm.nq)
    still = np.zeros(arm.nv)
    loads = fa.link_loads(arm, q, still, still)["link1"]
    for j in (1, 3, 5):  # before the nodes
        gauge = ("strain", "link1", float(loads.at[j]))
        ss = fa.linearize(arm, q, outputs=gauge)
        assert_allclose(ss.y, loads.strain[j, 2], rtol=1e-12)


# known arms


def test_poles_of_the_de_luca_arm() -> None:
    # digest of De Luca and Siciliano (1991), 8.4: assembled arm, joints free
    arm = fa.library.de_luca_siciliano()
    q = np.zeros((3, 6))
    q[:, 1] = 0.0, np.pi / 2.0, np.pi / 4.0
    ss = fa.linearize(arm, q)
    f = np.sort(ss.poles().frequencies, axis=-1)
    expected = [
        [1.41987, 2.64736, 16.1187, 29.2922],
        [1.42101, 2.51278, 15.9501, 29.2603],
        [1.42043, 2.57666, 16.0282, 29.2750],
    ]
    assert_allclose(f[:, 4::2], expected, rtol=4e-6)
    assert_allclose(f[:, 5::2], expected, rtol=4e-6)
    assert ss.poles().at_zero.sum(axis=-1).tolist() == [4, 4, 4]
    # zeros of the collocated pair are the frequencies with locked joints
    locked = [
        [0.438134, 1.97281, 2.66892, 16.1190],
        [0.477959, 1.69143, 2.67786, 15.9503],
    ]
    zeros = np.asarray(ss[:2].zeros())
    assert_allclose(np.abs(zeros[:, ::2].imag) / TWO_PI, locked, rtol=4e-6)


def beam(elements: int) -> fa.Arm:
    """The single link of Farid (1997), 7.2, with Hermite elements: c = 1, L = 1."""
    return fa.library.farid_planar(
        n_links=1,
        elements=elements,
        bending_stiffness=5.0,
        joint_stiffness=None,
        payload_mass=0.0,
        rotor_inertia=0.0,
        stator_inertia=0.0,
        frame="tangent",
    ).replace(gravity=(0.0, 0.0, 0.0))


def test_poles_of_the_single_link_of_farid() -> None:
    # thesis digest, 2.6: frequency over c/L^2 by the number of elements
    expected = [17.544, 15.514, 15.444, 15.427]
    for n, value in enumerate(expected, start=1):
        arm = beam(n)
        poles = fa.linearize(arm, np.zeros(arm.nq)).poles()
        omega = TWO_PI * poles.frequencies[~poles.at_zero].min()
        assert_allclose(omega, value, rtol=4e-5)


def test_zeros_of_the_tip_of_the_single_link() -> None:
    # 2 b^2 with tan b = -tanh b: 11.187 c/L^2, thesis digest, 2.6
    from scipy.optimize import brentq

    b = brentq(lambda z: np.tan(z) + np.tanh(z), 2.0, 3.0, xtol=1e-15)
    exact = 2.0 * b * b
    assert_allclose(exact, 11.187, rtol=4e-5)
    c = 10.0  # EI = 100 N m^2, 1 kg/m, 1 m
    apart = []
    for n in (4, 8, 16):
        arm = planar_chain(1, n_modes=n, gravity=(0, 0, 0))
        zeros = fa.linearize(arm, np.zeros(n + 1), outputs="tip y").zeros()
        first = np.asarray(zeros)[:2]
        assert zeros.nonminimum_phase[:2].tolist() == [False, True]
        assert_allclose(first.real, [-abs(first[0]), abs(first[0])], rtol=1e-9)
        assert (np.abs(first.imag) < 1e-9 * abs(first[0])).all()
        apart.append(abs(abs(first[0]) / (c * exact) - 1.0))
    assert apart[2] < 2e-7 and apart[1] < 0.05 * apart[0] and apart[2] < 0.05 * apart[1]
    # acceleration and velocity of the tip add zeros at zero and keep these
    arm = planar_chain(1, n_modes=8, gravity=(0, 0, 0))
    models = [
        fa.linearize(arm, np.zeros(9), outputs=f"tip {what}y")
        for what in ("", "velocity ", "acceleration ")
    ]
    first = np.asarray(models[0].zeros())[:8]
    for k, model in enumerate(models[1:], start=1):
        found = np.asarray(model.zeros())
        assert (np.abs(found[:k]) < 1e-5).all()
        assert_allclose(found[k : k + 8], first, rtol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_poles_are_those_of_complex_modes(seed: int) -> None:
    arm = driven_tree(seed)
    q = random_state(np.random.default_rng(seed), arm, 0.05)[0]
    q[arm.motor_position_slice] = np.random.default_rng(seed).normal(
        size=arm.motor_slice.stop - arm.nu
    )
    tau = fa.inverse_dynamics(arm, q, np.zeros(arm.nv), np.zeros(arm.nv))
    ss = fa.linearize(arm, q, tau=tau)
    expected = fa.complex_modes(arm, q).eigenvalues
    found = np.asarray(ss.poles())
    size = np.abs(expected).max()
    for value in expected:
        assert np.abs(found - value).min() < 1e-7 * size
    assert ss.B.shape == (2 * arm.nv, arm.nu) and not ss.drift.any()


# motion


def test_small_motions_follow_the_linear_model() -> None:
    # errors of second order: half of the deviation, a quarter of the error
    arm = planar_chain(2, n_modes=2, length=0.6)
    bodies = [
        b.replace(joint=b.joint.replace(damping=0.4), damping=[0.05, 0.3])
        for b in arm.bodies
    ]
    arm = arm.replace(bodies=bodies)
    q0 = np.array([-0.7, 0.5, 0, 0, 0, 0])
    ss = fa.linearize(
        arm, q0, settle=True, outputs=["state", "tip xy", "tip velocity xy"]
    )
    assert np.abs(ss.drift).max() < 1e-7
    push = np.array([0.3, -0.1])
    rng = np.random.default_rng(2)
    start = 0.3 * rng.normal(size=12) * np.repeat([1.0, 0.1, 1.0, 0.1], [2, 4, 2, 4])
    t = np.linspace(0.0, 0.6, 31)
    apart = []
    for h in (0.04, 0.02, 0.01):
        run = fa.simulate(
            arm,
            ss.q + h * start[:6],
            h * start[6:],
            t,
            torque=np.tile(ss.tau + h * push, (31, 1)),
            method="Rodas4P",
            rtol=1e-11,
            atol=1e-13,
        )
        tip = fa.tip_pose(arm, run.q)[..., :2, 3]
        velocity = fa.node_velocity(arm, run.q, run.qd, frame="base")[..., 3:5]
        y = np.concatenate([run.q, run.qd, tip, velocity], axis=-1)
        linear = ss.response(t, np.tile(h * push, (31, 1)), h * start)
        apart.append(np.abs(y - ss.y - linear.y).max(axis=0) / h)
    big = apart[0] > 1e-4
    assert big.sum() > 8
    assert_allclose((apart[0] / apart[1])[big], 2.0, rtol=0.2)
    assert_allclose((apart[1] / apart[2])[big], 2.0, rtol=0.1)


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
def test_a_batch_is_the_models_one_by_one() -> None:
    arm = fa.library.de_luca_siciliano()
    rng = np.random.default_rng(0)
    q, qd = 0.1 * rng.normal(size=(3, 1, 6)), rng.normal(size=(2, 6))
    wanted = [
        "joints",
        "motor velocities",
        "modes",
        "tip acceleration",
        "tip rotation z",
    ]
    many = fa.linearize(arm, q, qd, inputs=["actuators", "tip force"], outputs=wanted)
    assert many.batch == (3, 2) and many.A.shape == (3, 2, 12, 12)
    for i in range(3):
        for j in range(2):
            one = fa.linearize(
                arm, q[i, 0], qd[j], inputs=["actuators", "tip force"], outputs=wanted
            )
            for name in ("A", "B", "C", "D", "y", "drift", "tau", "q", "qd"):
                assert_allclose(
                    getattr(many[i, j], name),
                    getattr(one, name),
                    rtol=1e-9,
                    atol=1e-9,
                    err_msg=name,
                )


def test_a_stack_is_its_arms_one_by_one() -> None:
    arms = [fa.library.de_luca_siciliano(payload_mass=m) for m in (0.05, 0.1, 0.3)]
    q = np.zeros((2, 6))
    q[:, 1] = 0.3, 1.1
    signals = {"outputs": ["joints", "tip xy"], "inputs": "tip force xy"}
    many = fa.stack(arms)[:, np.newaxis].linearize(q, **signals)
    assert many.batch == (3, 2)
    for i, arm in enumerate(arms):
        one = fa.linearize(arm, q, **signals)
        for name in ("A", "B", "C", "D", "q", "tau", "drift"):
            assert_allclose(getattr(many[i], name), getattr(one, name), rtol=1e-12)
    with pytest.raises(fa.ArgumentError, match=r"do not broadcast: q .2,., stack .3,."):
        fa.linearize(fa.stack(arms), q)
    push = {"wrench": [[0, 0, 0, 0, 0.1, 0], [0, 0, 0, 0, 0.2, 0]], "frame": "base"}
    loaded = fa.linearize(fa.stack(arms)[:2], q, **push)
    one = fa.linearize(arms[1], q[1], wrench=push["wrench"][1], frame="base")
    assert_allclose(loaded[1].A, one.A, rtol=1e-12)


# forces, loads, couplings


def test_holding_forces_and_residual() -> None:
    arm = planar_chain(2, n_modes=2)
    q = np.array([0.3, -0.2, 0, 0, 0, 0])
    ss = fa.linearize(arm, q)
    still = np.zeros(6)
    hold = fa.inverse_dynamics(arm, q, still, still)
    assert_allclose(ss.tau, hold[:2], rtol=1e-13)
    qdd = fa.forward_dynamics(arm, q, still, hold[:2])
    assert_allclose(ss.drift[6:], qdd, rtol=1e-9)
    assert "no equilibrium: acceleration up to" in str(ss)
    rest = fa.linearize(arm, q, settle=True)
    assert_allclose(rest.tau, fa.holding_forces(arm, q), rtol=1e-9)
    assert np.abs(rest.drift).max() < 1e-6
    # all forces given, in equilibrium
    given = fa.linearize(arm, q, tau=hold)
    assert not given.drift.any() and "no equilibrium" not in str(given)


def test_loads_stiffen() -> None:
    # a rod of mass m at l, pulled outward by P in a fixed direction: P/(m l)
    arm = fa.library.pendulum(mass=0.4, com=0.5).replace(gravity=(0, 0, 0))
    pull = [[0, 0, 0, 3.0, 0, 0], [0, 0, 0, -3.0, 0, 0]]
    ss = fa.linearize(arm, [0.0], wrench=pull, frame="base")
    assert_allclose(ss.A[:, 1, 0], [-15.0, 15.0], rtol=1e-12)
    assert not ss.drift.any()
    moved = fa.linearize(arm, [0.0], inputs=["tip force", "tip moment y"])
    J = fa.jacobian(arm, [0.0], frame="base")[[3, 4, 5, 1]]
    assert_allclose(moved.B[1], J[:, 0] / 0.1, rtol=1e-13)
    assert moved.inputs[-1] == "tip moment y"


def test_couplings_leave_independent_coordinates() -> None:
    tree = planar_chain(3, n_modes=1)
    arm = tree.replace(
        constraints=[fa.Coupling({"link1": 1.0, "link2": 2.0, "link3": -1.0})]
    )
    q = np.array([0.3, -0.4, -0.5, 0.01, 0.02, -0.01])
    rng = np.random.default_rng(1)
    free = rng.normal(size=6)
    free[2] = free[0] + 2.0 * free[1]
    tau = rng.normal(size=6)
    ss = fa.linearize(
        arm, q, free, tau, outputs=["joints", "tip xy", "tip acceleration"]
    )
    n = ss.n_states // 2
    assert n == 5 and "link2" not in ss.states
    kept = [arm.coordinate_names.index(name) for name in ss.states[:n]]
    T = np.zeros((6, n))
    T[kept, range(n)] = 1.0
    T[1, [kept.index(0), kept.index(2)]] = -0.5, 0.5

    def moved(x: Any, v: Any) -> Any:
        qdd = fa.forward_dynamics(arm, q + x @ T.T, free + v @ T.T, tau)
        return qdd[:, kept]

    zero = np.zeros((n, n))
    expected = np.hstack(
        [
            columns(lambda h: moved(h, zero), n, 1e-3),
            columns(lambda h: moved(zero, h), n, 1e-3),
        ]
    )
    size = np.abs(expected).max()
    assert_allclose(ss.A[n:], expected, rtol=0.0, atol=1e-10 * size)
    assert_allclose(ss.C[:3, :n], T[:3], rtol=0.0, atol=1e-14)

    def acceleration(x: Any) -> Any:
        q1 = q + x @ T.T
        qdd = fa.forward_dynamics(arm, q1, free, tau)
        return fa.node_acceleration(arm, q1, free, qdd, frame="base")[:, 3:]

    expected = columns(acceleration, n, 1e-3)
    assert_allclose(
        ss.C[5:, :n], expected, rtol=0.0, atol=1e-10 * np.abs(expected).max()
    )


def test_rigid_gears_leave_the_joints() -> None:
    links = [
        fa.RigidBody(
            f"link{k}",
            fa.Joint(
                drive=fa.Drive(
                    stiffness=stiffness, gear_ratio=-20.0, rotor_inertia=1e-3
                )
            ),
            mass=1.0,
            com=(0.5, 0, 0),
            inertia=(0.1, 0.1, 0.1),
            nodes={"tip": (1, 0, 0)},
        )
        for k, stiffness in ((1, np.inf), (2, 300.0))
    ]
    arm = fa.Arm(links, gravity=(0, -9.81, 0), couplings="constrained")
    q = np.array([0.3, 0.4, -6.0, -8.0])
    ss = fa.linearize(arm, q, settle=True, outputs=["joints", "motor velocities"])
    assert ss.states[:3] == ("link1", "link2", "link2.motor")
    assert ss.inputs == ("link1.motor force", "link2.motor force")
    assert_allclose(ss.tau, fa.holding_forces(arm, q), rtol=1e-9)
    assert np.abs(ss.drift).max() < 1e-9
    assert_allclose(ss.C[2], [0.0, 0.0, 0.0, -20.0, 0.0, 0.0], rtol=1e-13)
    found = np.asarray(ss.poles())
    for s in fa.complex_modes(arm, ss.q).eigenvalues:
        assert np.abs(found - s).min() < 1e-5
    # at high frequencies mass alone counts, that of a rotor and of its joint as one
    fast = ss.frequency_response([1e5])[0, 0, 0] * -1e10
    T = np.zeros((4, 3))
    T[[0, 1, 2, 3], [0, 1, 0, 2]] = 1.0, 1.0, -20.0, 1.0
    M = T.T @ fa.mass_matrix(arm, ss.q) @ T
    assert_allclose(fast, -20.0 * np.linalg.inv(M)[0, 0], rtol=1e-5)


# refusals


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"outputs": "tip up"}, "outputs has 'tip up', expected 'joint positions'"),
        ({"outputs": []}, "outputs is empty"),
        ({"outputs": ["joints", "link1"]}, "outputs has 'link1'"),
        ({"outputs": ["joints", "motor positions"]}, "outputs has 'link1' twice"),
        ({"outputs": ("strain", "link1", 0.9)}, "at 0.9 m of link 'link1'"),
        ({"outputs": ("strain", "elbow", 0.1)}, "no body 'elbow'"),
        ({"outputs": fa.outputs.node_position(axes="xx")}, "axes is 'xx'"),
        ({"inputs": "torque"}, "inputs has 'torque', expected 'actuators'"),
        ({"qd": np.zeros(3)}, "qd has shape .3,., expected a last axis of 6"),
        ({"tau": [np.nan, 0.0]}, "tau\\[0\\] is nan"),
        ({"settle": True, "tau": [0.0, 0.0]}, "settle is True"),
    ],
)
def test_outputs_of_linearize_name_what_the_arm_has(
    options: dict[str, Any], told: str
) -> None:
    arm = fa.library.de_luca_siciliano()
    with pytest.raises(fa.FlexarmError, match=told):
        fa.linearize(arm, np.zeros(6), **options)


def test_states_that_have_no_linear_model() -> None:
    chain = planar_chain(2, length=1.0)
    loop = fa.Loop(("link2", "tip"), directions=["x", "y"])
    with pytest.raises(fa.ArgumentError, match="the arm has loops"):
        fa.linearize(chain.replace(constraints=[loop]), [0.1, 0.2])
    coupled = chain.replace(
        constraints=[fa.Coupling({"link1": 1.0, "link2": 1.0})], couplings="constrained"
    )
    with pytest.raises(fa.ArgumentError, match="q violates the couplings"):
        fa.linearize(coupled, [0.1, 0.2])
    with pytest.raises(fa.ArgumentError, match=r"expected flexarm\.Arm"):
        fa.linearize("arm", [0.0])  # type: ignore[arg-type]
    # a wheel that rolls: its displacements are not its velocities
    S = np.zeros((6, 2))
    S[2, 0], S[3, 0], S[1, 1] = 1.0, 0.5, 1.0
    wheel = fa.RigidBody(
        "wheel", fa.Joint("subspace", subspace=S), mass=1.0, inertia=(1, 1, 1)
    )
    arm = fa.Arm([wheel], gravity=(0, 0, 0))
    assert fa.linearize(arm, arm.neutral).n_states == 4
    with pytest.raises(fa.ArgumentError, match="not holonomic and moves"):
        fa.linearize(arm, arm.neutral, [1.0, 1.0])


def test_a_singular_mass_matrix_raises() -> None:
    # a mode that has no mass where it is
    body = fa.FlexibleBody(
        "body",
        fa.Joint(),
        node_position=[(0.5, 0, 0)],
        node_mass=[1.0],
        node_translation=np.array([[[0.0], [1.0], [0.0]]]),
        stiffness=[1.0],
    )
    arm = fa.Arm([body], gravity=(0, 0, 0))
    with pytest.raises(fa.SingularityError, match="no definite accelerations"):
        fa.linearize(arm, [0.0, 0.0])
