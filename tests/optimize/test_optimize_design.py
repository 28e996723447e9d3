"""Design parameters as unknowns: derivatives, payloads, optima against scans."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from few_modes import planar_chain
from linear_transfer import integrated
from numpy.testing import assert_allclose
from refusals import argument_refused

import flexarm as fa
from flexarm import optimize
from flexarm.optimize import Design
from flexarm.optimize._aim import read_aim
from flexarm.optimize._clearance import Clearance
from flexarm.optimize._collocation.ends import Rest
from flexarm.optimize._collocation.of_design import ApartOfDesign, OfDesign
from flexarm.optimize._collocation.tip import TipPlace
from flexarm.optimize._collocation.tip_goal import TipGoal
from flexarm.optimize._local import StateRows
from flexarm.optimize._transfer.charted_family import ChartedFamily
from flexarm.optimize._transfer.design import (
    Designs,
    ParametricEquation,
    Payloads,
    with_payload,
)
from flexarm.optimize.limits import output_rows
from flexarm.se3 import quaternion_exp

FLEX = planar_chain(2, n_modes=1, bending_stiffness=20.0)


def rigid(p: Any) -> fa.Arm:
    """Payload, and length of the second link."""
    return planar_chain(2, payload_mass=p[0], length=[1.0, p[1]])


def soft(p: Any) -> fa.Arm:
    """Stiffness of the links."""
    bodies = [b.replace(stiffness=p[0] * b.stiffness) for b in FLEX.bodies]
    return FLEX.replace(bodies=bodies)


def led(p: Any) -> fa.Arm:
    """Length of a link, and the ratio by which the last joint follows."""
    arm = planar_chain(3, n_modes=1, length=[1.0, p[0], 1.0])
    return arm.replace(constraints=[fa.Coupling({"link3": 1.0, "link2": -0.5 * p[1]})])


def pipes(p: Any) -> fa.Arm:
    """Length of two flexible pipes, and diameter of the second."""
    sizes = [0.04, p[1]]
    beams = [fa.beams.Section.tube(d, 0.003, fa.beams.STEEL) for d in sizes]
    links = [
        fa.beams.finite_element_link(
            f"link{k + 1}",
            joint=fa.Joint(axis=(0.0, 0.0, 1.0)),
            sections=beam,
            length=p[0],
            motions="bending y",
            n_elements=1,
            n_modes=2,
        )
        for k, beam in enumerate(beams)
    ]
    return fa.Arm(links)


def bending(p: Any) -> fa.Arm:
    """Length and mass of flexible links."""
    return planar_chain(2, n_modes=1, length=p[0], mass=20.0 * p[1])


def free(p: Any) -> fa.Arm:
    """Size of a satellite that carries a flexible link."""
    body = fa.RigidBody(
        "body", fa.Joint("spherical"), mass=p[0], inertia=p[0] * np.array([2, 3, 4])
    )
    return fa.Arm([body, *link(p[0]).bodies], gravity=(0.0, 0.0, 0.0))


def link(p: float) -> fa.Arm:
    return planar_chain(1, n_modes=1, bending_stiffness=20.0, length=p)


def check(local: Any, w: Any, step: float = 1e-5, tolerance: float = 1e-4) -> None:
    """Derivatives against central differences, all points with the same parameters."""
    rng = np.random.default_rng(1)
    by = rng.normal(size=(len(w), local.rows))
    J, H = local.jacobian(w), local.hessian(w, by)
    assert (J[:, ~local.slopes] == 0.0).all()
    for k in range(w.shape[1]):
        e = step * np.eye(w.shape[1])[k]
        slope = (local.value(w + e) - local.value(w - e)) / (2.0 * step)
        assert_allclose(J[:, :, k], slope, rtol=1e-6, atol=1e-7 * abs(J).max())
        ends = [np.einsum("pr,prk->pk", by, local.jacobian(x)) for x in (w + e, w - e)]
        bend = (ends[0] - ends[1]) / (2.0 * step)
        # second derivatives by speeds are those of short differences
        assert_allclose(H[:, k], bend, rtol=tolerance, atol=tolerance * abs(H).max())
    assert_allclose(H, H.swapaxes(1, 2), atol=tolerance * abs(H).max())


def states(arm: fa.Arm, p: Any, count: int = 3) -> Any:
    w = 0.4 * np.random.default_rng(0).normal(size=(count, 3 * arm.nv + arm.nu))
    return np.concatenate([w, np.tile(p, (count, 1))], axis=1)


def test_derivatives_by_a_payload() -> None:
    check(ParametricEquation(Payloads(FLEX), np.array([0.3])), states(FLEX, [0.3]))


@pytest.mark.parametrize(
    ("make_arm", "p"), [(rigid, [0.5, 0.9]), (soft, [1.2]), (led, [0.9, 1.1])]
)
def test_derivatives_by_any_parameters(make_arm: Any, p: Any) -> None:
    p = np.array(p)
    equation = ParametricEquation(Designs(make_arm, p), p)
    check(equation, states(equation.arm, p), 1e-4)


def test_derivatives_of_clearances_by_lengths_and_radii() -> None:
    around: Any = (
        optimize.Sphere((0.5, 0.3, 0.1), 0.1),
        optimize.HalfSpace((0.0, 0.0, -0.2), (0.0, 0.3, 1.0)),
        optimize.Capsule((1.0, 1.0, -1.0), (1.0, 0.5, 1.0), 0.1),
    )
    p = np.array([0.9, 0.05])
    given = around, [("link1", "link2")], 0.02, None, 4
    first = Clearance(pipes([1.0, 0.06]), *given)
    local = ApartOfDesign(first, Designs(pipes, p))
    q = 0.3 * np.random.default_rng(1).normal(size=(2, 6))
    q[:, 2:] *= 0.1
    w = np.hstack([q, np.tile(p, (2, 1))])
    check(local, w)
    # distances of this very arm, less its radius and the clearance
    own = Clearance(pipes(p), *given)
    room = local.value(w) - first.low
    assert_allclose(room, own.values(q) - own.low, atol=1e-12)
    assert abs(own.low - first.low).max() > 0.004


def test_derivatives_of_goals_and_outputs_by_parameters() -> None:
    p = np.array([0.9, 0.05])
    family, arm = Designs(bending, p), bending(p)
    states = 0.3 * np.random.default_rng(2).normal(size=(3, 3 * arm.nv + arm.nu))
    w = np.hstack([states, np.tile(p, (3, 1))])
    pose = np.eye(4)
    pose[:3, :3] = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    pose[:3, 3] = 1.0, 1.0, 0.0
    aim = read_aim("end", {"tip": pose})
    near = np.array([0.3, 1.0, 0.0, 0.0])
    goal = TipGoal(arm, aim, near, lambda q: np.tile(np.eye(4), (len(q), 1, 1)))
    check(OfDesign(goal.at, family, arm), w[:, np.r_[0:4, -2, -1]])
    given = ("strain", "link2", 0.1)

    def rows(arm: fa.Arm) -> Any:
        return StateRows(arm, output_rows(arm, given)[1], 0, dense=True)

    check(OfDesign(rows, family, arm), w)


def test_derivatives_of_arms_with_quaternions() -> None:
    p, ends = np.array([0.9]), np.zeros((2, 6))
    ends[:, :4] = quaternion_exp([[0.3, -0.2, 0.1], [0.6, 0.1, 0.5]])
    family = ChartedFamily(Designs(free, p), p, *ends)
    equation = ParametricEquation(family, p)
    check(equation, states(equation.arm, p), 1e-4)


def test_a_payload_is_the_arm_that_carries_it() -> None:
    payloads = Payloads(FLEX)
    arm = payloads.arm(np.array([0.7]))
    assert arm.coordinate_names == FLEX.coordinate_names
    assert_allclose(fa.tip_pose(arm, np.ones(4)), fa.tip_pose(FLEX, np.ones(4)))
    equation = ParametricEquation(payloads, np.array([0.7]))
    w = states(FLEX, [0.7])
    q, v, a = w[:, :4], w[:, 4:8], w[:, 8:12]
    expected = payloads.empty.inverse_dynamics(q, v, a)
    expected = expected + 0.7 * equation.jacobian(w)[:, :, -1]
    assert_allclose(arm.inverse_dynamics(q, v, a), expected, rtol=1e-12, atol=1e-12)
    assert payloads.arm(np.zeros(1)) is FLEX


def test_derivatives_of_rest_and_of_the_tip() -> None:
    p = np.array([0.3])
    rest = Rest(ParametricEquation(Payloads(FLEX), p), 1)
    assert rest.rows == 2
    check(rest, np.array([[0.3, -0.2, 0.05, 0.02, 0.3]]))
    arm = fa.library.cibicik_egeland()
    check(TipPlace(arm), 0.3 * np.random.default_rng(2).normal(size=(3, arm.nq)))
    check(TipPlace(FLEX, [0, 1]), np.array([[0.3, -0.2, 0.05, 0.02]]))


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
@pytest.mark.parametrize("q", [[0.3, -0.5], [1.0, 0.2]])
def test_rest_is_static_equilibrium(q: Any) -> None:
    rest = Rest(ParametricEquation(Payloads(FLEX), np.array([0.4])), 1)
    found = fa.equilibrium(Payloads(FLEX).arm(np.array([0.4])), [*q, 0.0, 0.0]).q
    w = np.array([[*found, 0.4]])
    assert np.abs(rest.value(w)).max() < 1e-9


def test_the_largest_payload_of_a_hoist_is_bang_bang() -> None:
    """Up 1 m in 1 s by 30 N and back: 2 h (a + b) = a b T^2, a, b = F/M -+ g."""
    pytest.importorskip("casadi")
    hoist = fa.RigidBody("cage", fa.Joint("prismatic", (0, 0, 1)), mass=0.5)
    arm = fa.Arm([hoist], gravity=(0, 0, -9.81))
    motion = optimize.trajectory(
        arm, [0.0], [1.0], duration=1.0, limits={"torque": 30.0}, payload="maximize"
    )
    assert motion.success
    f = 2.0 + np.sqrt(4.0 + 9.81**2)  # F / M with f^2 - 4 f h / T^2 - g^2 = 0
    assert_allclose(motion.least_cost.payload, 30.0 / f - 0.5, rtol=3e-3)
    assert_allclose(motion.objective, -motion.least_cost.payload)
    assert motion.arm.bodies[-1].name == "payload"


def test_the_largest_payload_of_a_link_that_moves_slowly() -> None:
    """Level, the torque of 40 N m holds (m / 2 + M) g L."""
    pytest.importorskip("casadi")
    arm = planar_chain(1)

    def most(**options: Any) -> fa.optimize.OptimalMotion:
        # slowly, since a link that swings up and down may carry more than it holds
        return optimize.trajectory(
            arm,
            [-0.5],
            [0.5],
            duration=30.0,
            limits={"torque": 40.0, "velocity": 0.05},
            payload="maximize",
            check=False,
            **options,
        )

    expected = 40.0 / 9.81 - 0.5
    assert_allclose(most().least_cost.payload, expected, rtol=2e-3)
    held = most(payload_limits=(0.0, 2.0))
    assert_allclose(held.least_cost.payload, 2.0, rtol=1e-6)


def test_the_largest_payload_of_flexible_links() -> None:
    """At rest at both ends with the payload found, less of it for less torque."""
    pytest.importorskip("casadi")
    arm = planar_chain(2, n_modes=1, bending_stiffness=3000.0)
    found = [
        optimize.trajectory(
            arm,
            [-1.0, 0.0],
            [0.0, 0.5],
            duration=1.0,
            limits={"torque": limits},
            payload="maximize",
        )
        for limits in ([60.0, 20.0], [55.0, 18.0])
    ]
    for motion, limits in zip(found, ([60.0, 20.0], [55.0, 18.0]), strict=True):
        most = np.abs(motion.tau).max(axis=0)
        assert motion.success and (most <= np.array(limits) * (1.0 + 1e-6)).all()
        rest = fa.equilibrium(motion.arm, [0.0, 0.5, 0.0, 0.0]).q
        assert_allclose(motion.q[-1], rest, atol=1e-7)
        assert motion.verification is not None
        assert motion.verification.final_error < 5e-3
    assert found[0].least_cost.payload > found[1].least_cost.payload > 1.0
    # the same mass as part of the arm
    loaded = with_payload(arm, found[0].least_cost.payload)
    assert_allclose(
        loaded.inverse_dynamics(found[0].q, found[0].qd, found[0].qdd),
        found[0].arm.inverse_dynamics(found[0].q, found[0].qd, found[0].qdd),
    )


def test_a_design_is_that_of_a_scan() -> None:
    """Stiffness of a joint against effort and its cost."""
    pytest.importorskip("casadi")

    def make_arm(p: Any) -> fa.Arm:
        drive = fa.Drive(stiffness=p[0], rotor_inertia=0.3)
        rod = fa.RigidBody(
            "rod",
            fa.Joint(drive=drive),
            mass=1.0,
            com=(0.5, 0, 0),
            inertia=(0, 0.1, 0.1),
            nodes={"tip": (1, 0, 0)},
        )
        return fa.Arm([rod], gravity=(0, 0, -9.81))

    def price(p: Any) -> tuple[float, Any]:
        return 0.02 * p[0], np.array([0.02])

    ends = ([0.0], [1.0])
    design = Design(make_arm, [10.0], [5.0], [200.0], price)
    cost = {"effort": 1.0, "design": 1.0}
    options: dict[str, Any] = {"duration": 1.0}
    search = {"intervals": 20}
    found = optimize.trajectory(design, *ends, cost=cost, search=search, **options)
    assert found.success
    best = float(found.least_cost.parameters[0])

    def total(k: float) -> float:
        motion = optimize.trajectory(
            make_arm([k]),
            *ends,
            check=False,
            search={**search, "tolerance": 1e-10},
            **options,
        )
        return motion.objective + 0.02 * k

    assert_allclose(found.objective, total(best), rtol=1e-8)
    h = 0.05 * best
    low, here, high = total(best - h), total(best), total(best + h)
    assert low > here and high > here
    # the minimum of the parabola of the scan
    turn = best + 0.5 * h * (low - high) / (low - 2.0 * here + high)
    assert_allclose(turn, best, rtol=5e-3)
    # without the gradient of its cost
    plain = Design(make_arm, [10.0], [5.0], [200.0], lambda p: 0.02 * p[0])
    again = optimize.trajectory(
        plain, *ends, cost=cost, check=False, search=search, **options
    )
    assert_allclose(again.least_cost.parameters, found.least_cost.parameters, rtol=1e-6)


def test_a_section_under_its_weight() -> None:
    """A flexible link under gravity: where it rests depends on the design."""
    pytest.importorskip("casadi")
    base = planar_chain(1, n_modes=1, bending_stiffness=40.0)

    def make_arm(p: Any) -> fa.Arm:
        bodies = [b.replace(stiffness=p[0] * b.stiffness) for b in base.bodies]
        return base.replace(bodies=bodies)

    design = Design(make_arm, [1.0], [0.5], [4.0], lambda p: p[0])
    motion = optimize.trajectory(
        design,
        [0.0],
        [0.8],
        duration=0.8,
        search={"intervals": 24},
        check=False,
        cost={"effort": 1.0, "design": 5.0},
    )
    assert motion.success
    p = motion.least_cost.parameters
    fixed = optimize.trajectory(
        make_arm(p), [0.0], [0.8], duration=0.8, search={"intervals": 24}, check=False
    )
    assert_allclose(motion.q[0], fa.equilibrium(make_arm(p), [0.0, 0.0]).q, atol=1e-8)
    assert_allclose(motion.least_cost.costs["effort"], fixed.objective, rtol=1e-6)


def test_the_longest_link_that_passes_a_wall() -> None:
    """It stops where its end touches half way: at 0.9 m less radius and clearance."""
    pytest.importorskip("casadi")

    def make_arm(p: Any) -> fa.Arm:
        return planar_chain(1, length=p[0], gravity=(0, 0, 0))

    design = Design(make_arm, [0.7], [0.5], [1.5], lambda p: -p[0])
    wall = optimize.HalfSpace((0.9, 0.0, 0.0), (-1.0, 0.0, 0.0))
    motion = optimize.trajectory(
        design,
        [-0.5],
        [0.5],
        duration=1.0,
        cost={"effort": 1.0, "design": 500.0},
        limits={"obstacles": wall, "link_radius": 0.05, "clearance": 0.02},
        search={"intervals": 12},
    )
    assert motion.success
    length = motion.least_cost.parameters[0]
    assert_allclose(length, 0.83, atol=1e-3)
    # the end of this link in the simulated motion
    assert motion.verification is not None
    x = length * np.cos(motion.verification.trajectory.q[:, 0])
    assert_allclose(x.max(), 0.83, atol=0.01 * 0.07)


def test_the_size_of_a_satellite_that_turns() -> None:
    """Effort 12 (I p w)^2 / T^3 and the cost c / p: p^3 = c T^3 / (24 (I w)^2)."""
    pytest.importorskip("casadi")

    def make_arm(p: Any) -> fa.Arm:
        inertia = p[0] * np.array([2.0, 3.0, 4.0])
        body = fa.RigidBody("body", fa.Joint("spherical"), mass=1.0, inertia=inertia)
        return fa.Arm([body], gravity=(0, 0, 0))

    design = Design(make_arm, [1.0], [0.2], [3.0], lambda p: 1.0 / p[0])
    motion = optimize.trajectory(
        design,
        [1.0, 0.0, 0.0, 0.0],
        quaternion_exp([1.0, 0.0, 0.0]),
        duration=1.0,
        cost={"effort": 1.0, "design": 300.0},
        search={"intervals": 10},
    )
    assert motion.success
    expected = (300.0 / 96.0) ** (1.0 / 3.0)
    assert_allclose(motion.least_cost.parameters, expected, rtol=1e-5)


def test_the_largest_payload_that_a_ball_joint_turns() -> None:
    """Full torque and full brakes: I + m L^2 = F T^2 / (4 w)."""
    pytest.importorskip("casadi")
    rod = fa.RigidBody(
        "rod",
        fa.Joint("spherical"),
        mass=1.0,
        com=(0.5, 0.0, 0.0),
        inertia=(0.01, 0.1, 0.1),
        nodes={"tip": (1.0, 0.0, 0.0)},
    )
    motion = optimize.trajectory(
        fa.Arm([rod], gravity=(0.0, 0.0, 0.0)),
        [1.0, 0.0, 0.0, 0.0],
        quaternion_exp([0.0, 0.0, 0.8]),
        duration=1.0,
        limits={"torque": 4.0},
        payload="maximize",
        search={"intervals": 20},
    )
    assert motion.success
    expected = 4.0 / (4.0 * 0.8) - (0.1 + 0.25)
    assert_allclose(motion.least_cost.payload, expected, rtol=5e-3)


@pytest.mark.slow
def test_a_long_arm_goes_around_a_sphere_to_a_place() -> None:
    """Its distance by the geometry of two lines, its end by that of two links."""
    pytest.importorskip("casadi")

    def make_arm(p: Any) -> fa.Arm:
        return planar_chain(2, length=[1.0, p[0]], gravity=(0, 0, 0))

    design = Design(make_arm, [1.0], [0.5], [1.5], lambda p: -p[0])
    center, radius = np.array([1.75, -0.8]), 0.17
    goal = np.array([1.4, -0.85])
    motion = optimize.trajectory(
        design,
        [-1.02, 1.41],
        {"tip": (*goal, 0.0)},
        duration=1.0,
        cost={"effort": 1.0, "design": 20.0},
        limits={"obstacles": optimize.Sphere(center, radius), "link_radius": 0.05},
        search={"intervals": 12},
    )
    assert motion.success
    _, q, _ = integrated(motion, 4)
    length = motion.least_cost.parameters[0]
    assert 0.6 < length < 1.4
    elbow = np.stack([np.cos(q[:, 0]), np.sin(q[:, 0])], axis=1)
    both = q[:, 0] + q[:, 1]
    outer = length * np.stack([np.cos(both), np.sin(both)], axis=1)
    share = np.linspace(0.0, 1.0, 401)[:, None, None]
    lines = np.concatenate([share * elbow, elbow + share * outer])
    room = np.linalg.norm(lines - center, axis=-1).min() - radius - 0.05 - 0.02
    assert room >= -0.011 * 0.07
    assert_allclose((elbow + outer)[-1], goal, atol=5e-3)


@pytest.mark.slow
def test_the_strain_of_the_link_that_is_found() -> None:
    """Strains of the stiffness found, in the motion by DOP853."""
    pytest.importorskip("casadi")

    def make_arm(p: Any) -> fa.Arm:
        return planar_chain(
            1, n_modes=1, bending_stiffness=20.0 * p[0], gravity=(0, 0, 0)
        )

    given = ("strain", "link1", 0.1)
    most = 0.02

    def found(**limits: Any) -> tuple[optimize.OptimalMotion, float]:
        design = Design(make_arm, [3.0], [1.0], [10.0], lambda p: p[0])
        motion = optimize.trajectory(
            design,
            [0.0],
            [0.5],
            duration=1.0,
            cost={"effort": 1.0, "design": 1.0},
            limits=limits,
            search={"intervals": 24},
        )
        assert motion.success
        _, rows = output_rows(motion.arm, given)
        _, q, qd = integrated(motion, 4)
        return motion, float(abs(np.hstack([q, qd]) @ rows.T).max())

    free, bent = found()
    bound, held = found(outputs={given: most})
    assert bent > 1.1 * most and held < 1.015 * most
    assert bound.least_cost.parameters[0] > free.least_cost.parameters[0]


def test_refusals_of_designs() -> None:
    arm = fa.library.pendulum()

    def fine(p: Any) -> fa.Arm:
        return arm

    cases: list[tuple[tuple[Any, ...], list[str]]] = [
        ((3.0, [1.0], [0.0], [2.0]), ["make_arm is 3.0", "function"]),
        ((fine, [[1.0]], [0.0], [2.0]), ["first has shape (1, 1)"]),
        ((fine, [1.0], [0.0, 0.0], [2.0]), ["lower has shape (2,)"]),
        (
            (fine, [3.0], [0.0], [2.0]),
            ["parameter 0 starts at 3", "lower bound, 0", "upper one, 2"],
        ),
        ((fine, [1.0], [0.0], [np.inf]), ["upper[0] is inf", "finite"]),
        ((fine, [1.0], [0.0], [2.0], "mass"), ["cost is 'mass'", "function"]),
    ]
    for given, words in cases:
        argument_refused(words, lambda given=given: Design(*given))
    design = Design(lambda p: "arm", [1.0], [0.0], [2.0])
    argument_refused(
        ["make_arm returned str"],
        lambda: optimize.trajectory(design, [0.0], [1.0], duration=1.0),
    )
    design = Design(fine, [1.0], [0.0], [2.0])
    argument_refused(
        ["payload is 'maximize' beside a Design"],
        lambda: optimize.trajectory(
            design, [0.0], [1.0], duration=1.0, payload="maximize"
        ),
    )


def test_modes_are_not_motors() -> None:
    """The outputs "modes" of an arm with motors: none of these is among them."""
    arm = fa.library.farid_two_link()
    assert arm.motor_slice.stop > arm.nu
    model = fa.linearize(arm, arm.neutral, outputs="modes")
    assert model.outputs == arm.coordinate_names[arm.motor_slice.stop :]
    assert_allclose(model.C[:, : arm.nv], np.eye(arm.nv)[arm.motor_slice.stop :])
