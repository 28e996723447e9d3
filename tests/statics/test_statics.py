"""Static equilibrium: brute force, closed forms, stability, loads that follow.

Oracles: the gradient of the potential energy, its minimum by SciPy, beams and springs
of the textbooks, differences of the forces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from elastic_cases import LENGTH, STIFFNESS, cantilever, hinge, rod, slider, turned
from few_modes import few_modes, planar_chain
from numpy.testing import assert_allclose
from scipy.optimize import brentq, minimize
from trees import SEVERAL, random_state

import flexarm as fa
from flexarm.statics.given_loads import read_loads

HOLONOMIC = tuple(kind for kind in SEVERAL if kind != "subspace")


def six_point(of: Any, h: float = 2e-3) -> Any:
    """Derivative at 0 of a function of h, to the sixth order."""
    total = 0.0
    for weight, m in ((45.0, 1), (-9.0, 2), (1.0, 3)):
        total = total + weight * (of(m * h) - of(-m * h))
    return total / (60.0 * h)


# loads on nodes


@pytest.mark.parametrize("frame", ["base", "node"])
@pytest.mark.parametrize("seed", range(12))
def test_stiffness_of_wrenches_is_the_derivative_of_their_forces(
    seed: int, frame: str
) -> None:
    arm = fa.library.random_tree(seed, 4, max_modes=2, joints=HOLONOMIC)
    rng = np.random.default_rng(seed)
    q = random_state(rng, arm)[0]
    nodes = [arm.tip_node, 0]
    loads = read_loads(arm, rng.normal(size=(2, 6)), nodes, frame)
    assert loads is not None
    unit = np.eye(arm.nv)
    slopes = six_point(lambda h: loads.forces(arm, fa.integrate(arm, q, h * unit)))
    size = abs(slopes).max()
    assert_allclose(loads.tangent(arm, q), slopes.T, rtol=0.0, atol=1e-10 * size)


def test_stiffness_of_a_fixed_force_is_symmetric_where_velocities_are_rates() -> None:
    kinds = ("revolute", "prismatic", "helical", "universal", "screw")
    for seed in range(5):
        arm = fa.library.random_tree(seed, 4, max_modes=2, joints=kinds)
        q = random_state(np.random.default_rng(seed), arm)[0]
        loads = read_loads(arm, [0, 0, 0, 1.0, 2.0, 3.0], None, "base")
        assert loads is not None and loads.conservative
        K = loads.tangent(arm, q)
        assert_allclose(K, K.T, rtol=0.0, atol=1e-13 * abs(K).max())


def test_wrenches_beyond_a_rolling_joint_are_refused() -> None:
    wheel = fa.RigidBody(
        "wheel",
        fa.Joint(
            "subspace", subspace=[[0, 0], [1, 0], [0, 1], [0.5, 0], [0, 0], [0, 0]]
        ),
        mass=1.0,
        inertia=(1, 1, 1),
    )
    arm = fa.Arm([wheel])
    with pytest.raises(fa.ArgumentError, match="not holonomic"):
        fa.equilibrium(arm, arm.neutral, held=None, wrench=np.ones(6))


# equilibrium by brute force


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
@pytest.mark.parametrize("seed", range(8))
def test_modes_minimize_the_potential_energy(seed: int) -> None:
    arm = fa.library.random_tree(seed, 4, max_modes=3, joints=HOLONOMIC, gravity=True)
    q = random_state(np.random.default_rng(seed), arm)[0]
    modes = arm.nv - arm.nu
    if not modes:
        return
    f = np.array([0.0, 0.0, 0.0, 2.0, -1.0, 0.5])
    rest = fa.equilibrium(arm, q, wrench=f, frame="base").check()

    def energy(eta: Any) -> float:
        at = np.concatenate([q[: arm.nq - modes], eta])
        return float(fa.potential_energy(arm, at) - f[3:] @ fa.tip_pose(arm, at)[:3, 3])

    def slope(eta: Any) -> Any:
        at = np.concatenate([q[: arm.nq - modes], eta])
        still = np.zeros(arm.nv)
        total = fa.bias_forces(arm, at, still)
        return (total - fa.wrench_forces(arm, at, f, frame="base"))[arm.nu :]

    start = q[arm.nq - modes :]
    best = minimize(energy, start, jac=slope, method="BFGS", options={"gtol": 1e-10})
    assert_allclose(rest.q[arm.nq - modes :], best.x, rtol=0.0, atol=1e-7)
    assert energy(rest.q[arm.nq - modes :]) <= best.fun + 1e-12 * abs(best.fun)
    assert rest.lowest_square > 0.0
    # joints are where they were, and the forces are the slope of the energy
    assert (rest.q[: arm.nq - modes] == q[: arm.nq - modes]).all()
    assert (rest.tau[arm.nu :] == 0.0).all()
    scale = abs(rest.tau).max()
    assert abs(rest.residual).max() < 1e-9 * scale


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
@pytest.mark.parametrize("seed", range(4))
def test_holding_forces_are_the_gradient_of_the_potential_energy(seed: int) -> None:
    arm = fa.library.random_tree(seed, 4, max_modes=2, joints=HOLONOMIC, gravity=True)
    q = random_state(np.random.default_rng(seed), arm)[0]
    f = np.array([0.0, 0.0, 0.0, 2.0, -1.0, 0.5])
    rest = fa.equilibrium(arm, q, wrench=f, frame="base").check()

    def energy(h: float) -> Any:
        at = fa.integrate(arm, rest.q, h * np.eye(arm.nv))
        work = fa.tip_pose(arm, at)[:, :3, 3] @ f[3:]
        return fa.potential_energy(arm, at) - work

    scale = max(abs(rest.tau).max(), 1.0)
    assert_allclose(rest.tau, six_point(energy), rtol=0.0, atol=1e-9 * scale)


@pytest.mark.parametrize("frame", ["base", "node"])
def test_the_arm_stays_where_its_holding_forces_keep_it(frame: str) -> None:
    arm = fa.library.cibicik_egeland()
    q = fa.library.poses(arm)["initial"]
    w = np.array([5.0, -3.0, 2.0, 10.0, 20.0, -30.0])
    rest = fa.equilibrium(arm, q, wrench=w, frame=frame).check()
    assert rest.iterations <= 6
    tau = rest.tau + fa.wrench_forces(arm, rest.q, w, frame=frame)
    qdd = fa.forward_dynamics(arm, rest.q, np.zeros(arm.nv), tau)
    size = fa.forward_dynamics(arm, rest.q, np.zeros(arm.nv), 0.0 * tau)
    assert abs(qdd).max() < 1e-9 * abs(size).max()


# closed forms


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 1, 0), (1, 1, 1)])
def test_a_small_load_bends_a_cantilever_as_in_the_textbook(axis: Any) -> None:
    R = turned(np.array(axis) / np.linalg.norm(axis), 0.7)
    arm = fa.Arm([cantilever(12, joint=fa.Joint(rotation=R))], gravity=(0, 0, 0))
    force = 1e-4 * R @ [0.0, 1.0, 2.0]
    rest = fa.equilibrium(arm, np.zeros(arm.nq), wrench=[0, 0, 0, *force], frame="base")
    moved = R.T @ (fa.tip_pose(arm, rest.q)[:3, 3] - LENGTH * R[:, 0])
    flexibility = LENGTH**3 / (3.0 * STIFFNESS)
    # each mode has the part 12/beta^4 of it, beta = (r - 1/2) pi from the sixth on
    missed = 12.0 * ((np.arange(12, 10000) + 0.5) * np.pi) ** -4.0
    expected = 1e-4 * flexibility * np.array([1.0, 2.0]) * (1.0 - missed.sum())
    assert_allclose(moved[1:], expected, rtol=1e-9)


def test_a_tip_mass_bends_the_mode_that_carries_it() -> None:
    # linear theory: q L^4/(8 EI) + P L^3/(3 EI), and levers of the undeformed beam
    linear = {"geometric_stiffening": False}
    arm = fa.Arm(
        [cantilever(10, tip_mass=1e-3, **linear)],
        gravity=(0, 0, -9.81),
        check_units=False,
    )
    rest = fa.equilibrium(arm, np.zeros(arm.nq)).check()
    own = 2.0 * 9.81 * LENGTH**4 / (8.0 * STIFFNESS)
    load = 1e-3 * 9.81 * LENGTH**3 / (3.0 * STIFFNESS)
    assert_allclose(-fa.tip_pose(arm, rest.q)[2, 3], own + load, rtol=1e-6)
    torque = (2.0 * LENGTH / 2.0 + 1e-3) * LENGTH * 9.81
    # about z nothing is held; the force on the joint is that of the level beam
    assert rest.tau[0] == 0.0
    level = fa.Joint(axis=(0, -1, 0))
    across = arm.replace(bodies=[cantilever(10, joint=level, **linear)])
    rest = fa.equilibrium(across, np.zeros(arm.nq)).check()
    assert_allclose(rest.tau[0], torque - 1e-3 * LENGTH * 9.81, rtol=1e-12)


def test_two_springs_in_series() -> None:
    arm = fa.Arm(
        [slider("a", 2.0, 300.0), slider("b", 3.0, 500.0)], gravity=(9.81, 0, 0)
    )
    rest = fa.equilibrium(arm, np.zeros(2), wrench=[0, 0, 0, 7.0, 0, 0], frame="base")
    below = 7.0 + 3.0 * 9.81
    expected = [(below + 2.0 * 9.81) / 300.0, below / 500.0]
    assert_allclose(rest.q, expected, rtol=1e-13)
    assert rest.iterations == 2  # linear: one step, and one that finds nothing left


def test_a_tangent_serves_several_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    from flexarm.statics._newton import Problem

    arm = fa.library.planar_chain(1, n_modes=4)
    tangents: list[int] = []
    whole = Problem.matrix

    def counted(self: Problem, q: Any) -> Any:
        tangents.append(len(q))
        return whole(self, q)

    monkeypatch.setattr(Problem, "matrix", counted)
    rest = fa.equilibrium(arm, np.zeros(arm.nq)).check()
    assert 1 == len(tangents) < rest.iterations
    assert abs(rest.residual).max() < 1e-12 * abs(rest.tau).max()
    for most in range(1, int(rest.iterations)):
        found = fa.equilibrium(arm, np.zeros(arm.nq), max_iterations=most)
        assert found.iterations == most and not found.success


# stability


@few_modes()
def test_an_upright_column_loses_stability_at_its_load() -> None:
    # a rigid rod of mass m and height h on a clamped beam tilts by the slope there:
    # m g h times the slope for a unit moment is one at the load of buckling
    h = 0.4
    slope = cantilever(5).node_rotation[-1, 2, :5]
    unit = float(slope @ np.linalg.solve(cantilever(5).stiffness[:5, :5], slope))
    critical = 1.0 / (9.81 * h * unit)

    def column(mass: float) -> fa.Arm:
        top = rod("top", mass, h, kind="fixed")
        up = turned((0, 1, 0), -np.pi / 2)
        beam = cantilever(5, joint=fa.Joint("fixed", rotation=up))
        light = fa.RigidBody("foot", fa.Joint("prismatic", axis=(1, 0, 0)), mass=1.0)
        assert beam.n_modes == 10
        return fa.Arm([light, beam, top])

    for part, stable in ((0.999, True), (1.001, False)):
        arm = column(part * critical)
        # without its own weight the beam has no say in this
        q = np.zeros(arm.nq)
        K = tangent_without_weight(arm, part * critical, h)
        assert (np.linalg.eigvalsh(K)[0] > 0.0) == stable
        assert fa.equilibrium(arm, q).success


def tangent_without_weight(arm: fa.Arm, mass: float, h: float) -> Any:
    """Stiffness of the modes less that of the weight at the top."""
    top = fa.Arm([arm.bodies[1]], gravity=(0, 0, 0))
    slopes = arm.bodies[1].node_rotation[-1]
    return top.stiffness_matrix - mass * 9.81 * h * slopes.T @ slopes


def test_rods_on_hinges_buckle_at_their_closed_form_load() -> None:
    # two rods of length l, equal springs c, dead load P: P l/c = (3 - 5^0.5)/2
    length, c = 0.5, 20.0
    arm = hinged_column(length, c)
    critical = 0.5 * (3.0 - np.sqrt(5.0)) * c / length
    P = critical * np.array([0.0, 0.9, 0.999999, 1.000001, 1.1])
    push = np.zeros((5, 6))
    push[:, 3] = -P
    rest = fa.equilibrium(arm, np.zeros(arm.nq), held=None, wrench=push, frame="base")
    assert rest.success.all()
    assert list(rest.stable) == [True, True, True, False, False]
    assert abs(rest.q).max() == 0.0
    assert "2 of 5 equilibria are not stable, the first at index (3,)" in rest.message
    with pytest.raises(fa.ConvergenceError, match="hold more") as caught:
        rest.check()
    assert caught.value.result is rest  # type: ignore[attr-defined]
    assert rest.check(stable=False) is rest
    # beyond it a small imperfection ends in the buckled equilibrium, which is stable
    bent = fa.equilibrium(arm, [0.3, 0.3], held=None, wrench=push[4], frame="base")
    assert bent.stable and abs(bent.q).max() > 0.1


def hinged_column(length: float, c: float, masses: Any = (2.0, 1.0)) -> fa.Arm:
    """Two massless rods along x with springs at their feet, masses at their ends."""
    tiny = 1e-9
    return fa.Arm(
        [
            hinge("spring1", c, tiny),
            rod("rod1", masses[0], length, kind="fixed"),
            hinge("spring2", c, tiny),
            rod("rod2", masses[1], length, kind="fixed"),
        ],
        gravity=(0, 0, 0),
    )


def test_a_load_that_follows_flutters_where_ziegler_found_it() -> None:
    # H. Ziegler, Ingenieur-Archiv 20, 1952: masses 2 m and m, P = (7/2 - 2^0.5) c/l
    length, c = 0.5, 20.0
    arm = hinged_column(length, c)
    critical = (3.5 - np.sqrt(2.0)) * c / length
    push = np.zeros((3, 6))
    push[:, 3] = -critical * np.array([0.5, 0.9999, 1.0001])
    rest = fa.equilibrium(arm, np.zeros(arm.nq), wrench=push, held=None)
    assert list(rest.stable) == [True, True, False]
    growth = fa.complex_modes(arm, rest.q, wrench=push).eigenvalues.real.max(axis=-1)
    assert (abs(growth[:2]) < 1e-4).all() and growth[2] > 0.01
    # the same load in a fixed direction buckles the column long before
    fixed = fa.equilibrium(
        arm, np.zeros(arm.nq), wrench=push[0], frame="base", held=None
    )
    assert not fixed.stable


def test_what_no_equilibrium_has_is_flagged_state_by_state() -> None:
    # a cart on a level rail: nothing holds it against a push, anything without one
    cart = fa.RigidBody("cart", fa.Joint("prismatic", axis=(1, 0, 0)), mass=1.0)
    arm = fa.Arm([cart])
    push = np.zeros((3, 6))
    push[1, 3] = 1.0
    rest = fa.equilibrium(arm, [[0.5]], held=None, wrench=push, frame="base")
    assert list(rest.success) == [True, False, True]
    assert list(rest.stable) == [False, False, False]  # indifferent is not stable
    assert_allclose(rest.q, 0.5)
    assert_allclose(rest.residual[1], -1.0)
    assert rest.lowest_square[0] == 0.0 and np.isnan(rest.lowest_square[1])
    assert "1 of 3 equilibria are not found, the first at index (1,)" in rest.message


def test_a_load_beyond_what_a_pendulum_can_carry_has_no_equilibrium() -> None:
    arm = fa.library.pendulum(mass=1.0, com=0.5)
    torque = 9.81 * 0.5 * np.array([[0.0], [0.5], [0.999], [1.001]])
    rest = fa.equilibrium(arm, [-1.5], held=None, tau=torque)
    assert list(rest.success) == [True, True, True, False]
    expected = -np.arccos([0.0, 0.5, 0.999])
    assert_allclose(np.cos(rest.q[:3, 0]), np.cos(expected), rtol=0.0, atol=1e-12)
    assert rest.stable[:2].all()
    assert_allclose(rest.tau[:3], torque[:3])


# arguments


def test_shapes_of_a_batch() -> None:
    arm = planar_chain(2, n_modes=2)
    q = np.zeros((4, 1, arm.nq))
    rest = fa.equilibrium(arm, q, wrench=np.zeros((3, 6)))
    assert rest.q.shape == (4, 3, arm.nq) and rest.tau.shape == (4, 3, arm.nv)
    assert rest.success.shape == rest.lowest_square.shape == (4, 3)
    one = fa.equilibrium(arm, q[0, 0])
    assert one.q.shape == (arm.nq,) and isinstance(bool(one.success), bool)
    assert_allclose(one.q, rest.q[1, 2], rtol=1e-12)
    assert fa.equilibrium(arm, np.zeros((0, arm.nq))).q.shape == (0, arm.nq)
    several = fa.equilibrium(
        arm, q[0, 0], wrench=np.ones((5, 2, 6)), node=[0, ("link2", "tip")]
    )
    assert several.q.shape == (5, arm.nq)


def test_arms_without_free_coordinates_are_in_equilibrium() -> None:
    arm = fa.library.puma560()
    q = np.linspace(-1.0, 1.0, 6)
    rest = fa.equilibrium(arm, q).check()
    assert_allclose(rest.tau, fa.gravity_forces(arm, q), rtol=1e-14, atol=1e-14)
    assert rest.iterations == 0 and rest.lowest_square == np.inf


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"held": "legs"}, "held names 'legs', expected 'joints', 'motors' or names"),
        ({"held": [7]}, "expected None, 'joints', 'motors', names out of"),
        ({"held": 1.5}, "expected None, 'joints', 'motors', names out of"),
        ({"node": 0}, "a node is given, but no wrench"),
        ({"wrench": np.ones((3, 6)), "node": [0, 1]}, "node is a list of 2"),
        ({"wrench": np.ones(6), "frame": "tip"}, "frame is 'tip'"),
        ({"wrench": np.ones(5)}, "6 numbers"),
        ({"wrench": np.full(6, np.nan)}, "finite"),
        ({"tau": [1.0, 0.0]}, "tau has a force on 'link1', which is held"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"max_iterations": 0}, "max_iterations"),
    ],
)
def test_options_of_equilibrium_have_to_fit(options: dict[str, Any], told: str) -> None:
    arm = planar_chain(2, n_modes=1)
    with pytest.raises(fa.FlexarmError, match=told):
        fa.equilibrium(arm, np.zeros(arm.nq), **options)


@pytest.mark.parametrize("fidelity", ["linear", "ruthless"])
def test_arms_of_less_fidelity_balance_their_own_forces(fidelity: str) -> None:
    arm = fa.library.cibicik_egeland().replace(fidelity=fidelity)
    q = fa.library.poses(arm)["initial"]
    rest = fa.equilibrium(arm, q).check()
    qdd = fa.forward_dynamics(arm, rest.q, np.zeros(arm.nv), rest.tau)
    size = fa.forward_dynamics(arm, rest.q, np.zeros(arm.nv), 0.0 * rest.tau)
    assert abs(qdd).max() < 1e-9 * abs(size).max()
    with pytest.raises(fa.ArgumentError, match=f"arm of {fidelity} fidelity"):
        fa.equilibrium(arm, q, wrench=np.ones(6))


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
def test_a_mass_matrix_that_is_not_positive_raises() -> None:
    # linear models lose it at large deflections
    arm = fa.library.cibicik_egeland().replace(fidelity="linear")
    q = np.array([fa.library.poses(arm)["initial"]] * 2)
    q[1, arm.nu :] = 20.0
    with pytest.raises(fa.SingularityError, match="1 of 2 states, first at index"):
        fa.natural_frequencies(arm, q)


# where an arm sinks to


@pytest.mark.parametrize("n_modes", [0, 2])
def test_a_chain_sinks_until_it_hangs(n_modes: int) -> None:
    arm = planar_chain(3, n_modes=n_modes)
    q = np.zeros((50, arm.nq))
    q[:, :3] = np.random.default_rng(1).uniform(-3.0, 3.0, (50, 3))
    q[0, :3] = np.pi / 2.0, 0.0, 0.0  # it stands, and is pushed off
    rest = fa.equilibrium(arm, q, held=None, seek="stable").check()
    down = np.cos(rest.q[:, :3] + [np.pi / 2.0, 0.0, 0.0])
    assert_allclose(down, 1.0, rtol=0.0, atol=1e-15)
    assert_allclose(rest.q[:, 3:], 0.0, rtol=0.0, atol=1e-15)


def test_a_column_sinks_into_its_buckled_shape() -> None:
    # c theta = P l sin(theta)
    length, c = 0.5, 20.0
    parts = [hinge("spring", c, 1e-9), rod("rod", 1.0, length, kind="fixed")]
    arm = fa.Arm(parts, gravity=(0, 0, 0))
    push = np.zeros((3, 6))
    push[:, 3] = -np.array([0.9, 1.1, 1.5]) * c / length
    load: dict[str, Any] = {"wrench": push, "frame": "base", "held": None}
    rest = fa.equilibrium(arm, [0.0], seek="stable", **load).check()
    bent = [brentq(lambda x, p=p: x - p * np.sin(x), 0.1, 3.0) for p in (1.1, 1.5)]
    assert_allclose(abs(rest.q[:, 0]), [0.0, *bent], rtol=0.0, atol=1e-11)
    straight = fa.equilibrium(arm, [0.0], **load)
    assert not straight.q.any() and list(straight.stable) == [True, False, False]


def test_what_has_no_potential_cannot_sink() -> None:
    arm = planar_chain(2)
    options: dict[str, Any] = {"held": None, "seek": "stable"}
    with pytest.raises(fa.ArgumentError, match="no potential"):
        fa.equilibrium(arm, [0.0, 0.0], wrench=np.ones(6), frame="base", **options)
    with pytest.raises(fa.ArgumentError, match="seek is 'lowest'"):
        fa.equilibrium(arm, [0.0, 0.0], seek="lowest")
    # a torque that no weight balances throws it over for ever
    over = fa.equilibrium(arm, [0.0, 0.0], tau=[100.0, 0.0], **options)
    assert not over.success
    # a vertical axis stays indifferent
    puma = fa.library.puma560()
    rest = fa.equilibrium(puma, np.linspace(-1, 1, 6), **options)
    assert rest.success and not rest.stable and abs(rest.lowest_square) < 1e-9


def test_an_arm_falls_to_the_nearer_side() -> None:
    """Beside the upper equilibrium of a pendulum, to the side on which it is."""
    arm = fa.library.pendulum(mass=1.0, com=0.5)
    for side in (-1.0, 1.0):
        found = fa.equilibrium(arm, [0.5 * np.pi + 1e-5 * side], held=[], seek="stable")
        assert_allclose(found.q, [0.5 * np.pi + np.pi * side])
