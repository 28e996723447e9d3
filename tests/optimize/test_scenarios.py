"""One motion that serves all arms of a stack."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from numpy.testing import assert_allclose, assert_array_equal
from program_derivatives import derivative_errors
from scipy.integrate import solve_ivp

import flexarm as fa
from flexarm.optimize import paths, time_optimal, trajectory
from flexarm.optimize._collocation.transcription import Grid
from flexarm.optimize._collocation.within import Within
from flexarm.optimize._result import warned
from flexarm.optimize._transfer.problem import Transfer
from flexarm.optimize._transfer.stacks import stacked
from flexarm.optimize._transfer.task import read_tasks

RAIL = paths.joint_path([[0.0], [0.5]], kind="straight")
LINE = paths.line([1.8, 0.2], [1.6, 0.7])
TORQUE = np.array([300.0, 120.0])


def cart(mass: float, **joint: float) -> fa.Arm:
    return fa.Arm([fa.RigidBody("cart", fa.Joint.prismatic("x", **joint), mass=mass)])


def rigid(payload: float, **options: Any) -> fa.Arm:
    given: dict[str, Any] = {"elements": 0, "joint_stiffness": None} | options
    return fa.library.farid_two_link(payload_mass=payload, **given)


@pytest.mark.parametrize("scheme", ["interpolation", "collocation", "midpoint"])
def test_the_heaviest_cart_sets_the_time_on_a_rail(scheme: str) -> None:
    """A mass m under F at most takes 2 sqrt(m d / F) for d."""
    carts = fa.stack([cart(m) for m in (1.0, 2.0, 1.5)])
    search = {"scheme": scheme}
    found = time_optimal(carts, RAIL, limits={"torque": 3.0}, search=search)
    assert_allclose(found.duration, 2.0 * np.sqrt(2.0 * 0.5 / 3.0), rtol=1e-9)
    assert found.success
    assert found.arm is carts[0]
    assert [one.arm for one in found.scenarios] == list(carts)
    # forces in the ratio of the masses, of which the heaviest has all
    for one, most in zip(found.scenarios, (1.5, 3.0, 2.25), strict=True):
        assert_allclose(np.abs(one.tau).max(), most, rtol=1e-9)
        assert one.verification is not None
        assert_allclose(one.verification.trajectory.q[-1], [0.5], atol=1e-6)


def test_each_arm_keeps_the_limits_of_its_own_joints() -> None:
    """A light cart with a weak motor is slower than a heavy one with a strong one."""
    weak, strong = cart(1.0, effort_limit=1.0), cart(2.0, effort_limit=3.0)
    found = time_optimal(fa.stack([strong, weak]), RAIL)
    assert_allclose(found.duration, 2.0 * np.sqrt(0.5), rtol=1e-9)
    assert found.duration == time_optimal(weak, RAIL).duration
    # full force to the speed that the second one may have, and back
    slow = cart(1.0, effort_limit=3.0, velocity_limit=0.4)
    found = time_optimal(fa.stack([strong, slow]), RAIL)
    assert_allclose(found.duration, 0.5 / 0.4 + 0.4 / 1.5, rtol=1e-3)


def test_forces_of_all_payloads_are_within_limits_along_a_path() -> None:
    """Inverse dynamics of both arms, elsewhere than at the points of the search."""
    arms = fa.stack([rigid(5.0), rigid(7.0), rigid(0.0)])
    start = fa.library.poses(arms[0])["A"]
    limits = {"torque": TORQUE}
    options: dict[str, Any] = {"limits": limits, "start": start}
    found = time_optimal(arms, LINE, **options)
    alone = [time_optimal(arm, LINE, **options).duration for arm in arms]
    assert found.success
    assert found.duration >= max(alone) * (1.0 - 1e-9)
    assert found.on_path is not None
    way, scaling = found.on_path.way, found.on_path.scaling
    t = np.linspace(0.0, found.duration, 5003)
    s, sd, sdd = scaling.at(t)
    there = [
        np.stack([np.interp(s, way.s, column) for column in part.T], axis=1)
        for part in (way.q, way.first, way.second)
    ]
    q, first, second = there
    qd = first * sd[:, None]
    qdd = first * sdd[:, None] + second * sd[:, None] ** 2
    used = []
    for arm in arms:
        tau = fa.inverse_dynamics(arm, q, qd, qdd)
        part = np.abs(tau) / TORQUE
        assert part.max() < 1.001
        used.append(part.max(axis=1))
    # some force of some arm is at its limit, but where forces change their sign
    assert np.mean(np.max(used, axis=0) > 0.99) > 0.995


def test_arms_that_ask_for_less_change_nothing() -> None:
    """Without gravity the heaviest payload asks for all."""
    arms = [rigid(m).replace(gravity=(0.0, 0.0, 0.0)) for m in (15.0, 5.0)]
    start = fa.library.poses(arms[0])["A"]
    options: dict[str, Any] = {"limits": {"torque": TORQUE}, "start": start}
    heavy = time_optimal(arms[0], LINE, **options)
    assert time_optimal(fa.stack(arms), LINE, **options).duration == heavy.duration
    assert heavy.scenarios == ()
    (single,) = time_optimal(fa.stack(arms[:1]), LINE, **options).scenarios
    assert_allclose(single.tau, heavy.tau, atol=1e-9)


def link(payload: float, **options: Any) -> fa.Arm:
    """A flexible link with the inertia of its motor."""
    given: dict[str, Any] = {"bending_stiffness": 100.0, "damping_ratio": 0.01}
    given |= {"n_modes": 2, "gravity": (0.0, 0.0, 0.0), "payload_mass": payload}
    arm = planar_chain(1, **given | options)
    (body,) = arm.bodies
    return arm.replace(bodies=[body.replace(joint=body.joint.replace(armature=0.3))])


AFLOAT = [rigid(m).replace(gravity=(0.0, 0.0, 0.0)) for m in (1.0, 5.0)]
SATELLITE = fa.Arm(
    [fa.RigidBody("body", fa.Joint.spherical(), mass=1.0, inertia=(2.0, 3.0, 4.0))],
    gravity=(0.0, 0.0, 0.0),
)
LIGHT, HEAVY = link(0.2), link(1.0)
BOTH = fa.stack([LIGHT, HEAVY])


def ends_by_scipy(found: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """State at the end of each arm of a stack under its own forces."""
    ends = []
    for one in found.scenarios:
        acting = np.zeros((one.arm.nv, one.arm.nu))
        acting[one.arm.actuator_indices, np.arange(one.arm.nu)] = 1.0

        def rate(
            t: float, x: np.ndarray, one: Any = one, acting: np.ndarray = acting
        ) -> np.ndarray:
            q, v = np.split(x, 2)
            tau = acting @ [np.interp(t, one.t, column) for column in one.tau.T]
            return np.concatenate([v, fa.forward_dynamics(one.arm, q, v, tau)])

        x = np.concatenate([one.q[0], one.qd[0]])
        for span in zip(one.t[:-1], one.t[1:], strict=True):
            x = solve_ivp(rate, span, x, method="DOP853", rtol=1e-8, atol=1e-10).y[
                :, -1
            ]
        ends.append((x[: one.arm.nv], x[one.arm.nv :]))
    return ends


@pytest.mark.parametrize(
    ("cost", "options"),
    [("effort", {"duration": 0.8}), ("time", {"limits": {"torque": 8.0}})],
)
def test_both_payloads_rest_at_the_end_under_their_own_forces(
    cost: str, options: dict[str, Any]
) -> None:
    """As simulated by SciPy, by one motion of the joint that costs more than alone."""
    found = trajectory(BOTH, [0.0], [1.0], cost=cost, **options)
    assert found.success
    light, heavy = found.scenarios
    assert_array_equal(light.q[:, 0], heavy.q[:, 0])
    assert_array_equal(light.qd[:, 0], heavy.qd[:, 0])
    assert np.abs(heavy.tau).max() <= 8.0 * (1.0 + 1e-6) or cost == "effort"
    for one, (q, v) in zip(found.scenarios, ends_by_scipy(found), strict=True):
        assert_allclose(q, [1.0, 0.0, 0.0], atol=1e-3)
        moving = fa.kinetic_energy(one.arm, one.q, one.qd).max()
        assert fa.kinetic_energy(one.arm, q, v) < 1e-4 * moving
    # the first arm alone has less to do; in the least time each of them
    alone = [LIGHT] if cost == "effort" else [LIGHT, HEAVY]
    for arm in alone:
        one = trajectory(arm, [0.0], [1.0], cost=cost, **options)
        assert found.objective > 1.02 * one.objective
    assert found.verification is light.verification
    assert heavy.verification is not None
    assert heavy.verification.excess == {}


@each("duration", [0.8, (0.5, 0.8, 2.0)])
def test_derivatives_of_the_program_of_a_stack_are_exact(duration: Any) -> None:
    limits = {"torque": 8.0, "velocity": 2.0, "outputs": {"modes": 0.1}}
    weighs = ((0.0, -9.81, 0.0), (0.0, -1.0, 0.0))
    arms = [link(m, gravity=g) for m, g in zip((0.2, 1.0), weighs, strict=True)]
    payload = None, (0.0, np.inf)
    given = [-1.6], [-1.4], "effort", None, *payload, duration, limits
    task = stacked(arms, lambda arm: read_tasks(arm, *given)[0])
    withins = [Within(one.arm, one.limits) for one in (task, *task.others)]
    problem = Transfer(task, Grid(main=6, clustered=0.5), withins)
    z = problem.z0 + 0.01 * np.random.default_rng(0).normal(size=len(problem.z0))
    assert max(derivative_errors(problem.program, z).values()) < 1e-6


def test_two_arms_that_are_alike_move_as_one() -> None:
    alone = trajectory(HEAVY, [0.0], [1.0], duration=0.8)
    single = trajectory(fa.stack([HEAVY]), [0.0], [1.0], duration=0.8)
    twice = trajectory(fa.stack([HEAVY, link(1.0)]), [0.0], [1.0], duration=0.8)
    assert_array_equal(single.q, alone.q)
    assert len(single.scenarios) == 1
    assert_allclose(twice.q, alone.q, atol=1e-7)
    assert_allclose(twice.objective, alone.objective, rtol=1e-9)
    assert_allclose(twice.scenarios[1].q, alone.q, atol=1e-7)
    # forces of the second one follow from its motion
    size = np.abs(alone.tau).max()
    assert_allclose(twice.scenarios[1].tau, alone.tau, atol=2e-3 * size)


def test_the_heaviest_cart_sets_the_least_time_of_a_trajectory() -> None:
    carts = fa.stack([cart(1.0), cart(2.0)])
    limits = {"torque": 3.0}
    found = trajectory(carts, [0.0], [0.5], cost="time", limits=limits)
    # jumps are resolved to an interval
    assert_allclose(found.duration, 2.0 * np.sqrt(2.0 * 0.5 / 3.0), rtol=0.01)
    assert_allclose(found.scenarios[1].tau, 2.0 * found.tau, atol=1e-6)


def test_weights_deflect_each_arm_as_its_own_at_both_ends() -> None:
    arms = [link(m, gravity=(0.0, -9.81, 0.0)) for m in (0.2, 1.0)]
    found = trajectory(fa.stack(arms), [-1.5], [-0.5], duration=0.8)
    assert found.success
    for one in found.scenarios:
        for k in (0, -1):
            rest = fa.equilibrium(one.arm, [one.q[k, 0], 0.0, 0.0])
            assert_allclose(one.q[k], rest.q, atol=1e-7)
            assert_allclose(one.qd[k], 0.0, atol=1e-9)


def test_bending_and_speed_are_limited_for_all_arms() -> None:
    """The heavy one bends as far as it may, the light one less."""
    free = trajectory(BOTH, [0.0], [1.0], duration=1.0)
    bent = [np.abs(one.q[:, 1:]).max(axis=0) for one in free.scenarios]
    most = np.array([0.8 * bent[1][0], np.inf])
    assert (bent[0] < most).all()
    limits = {"outputs": {"modes": most}, "velocity": 1.7}
    found = trajectory(BOTH, [0.0], [1.0], duration=1.0, limits=limits)
    assert found.success
    assert found.objective > 1.01 * free.objective
    for one, part in zip(found.scenarios, (0.5, 1.0), strict=True):
        assert one.verification is not None
        run = one.verification.trajectory
        far = np.abs(run.q[:, 1]).max() / most[0]
        assert part - 0.5 < far <= part + 0.01
        assert np.abs(run.qd[:, 0]).max() <= 1.7 * 1.01


def test_motors_behind_elastic_gears_move_alike() -> None:
    """Their links differ by what the gears yield."""
    drive = fa.Drive(stiffness=500.0, rotor_inertia=0.002, gear_ratio=20.0)
    arms = [
        fa.Arm(
            [
                fa.RigidBody(
                    "link",
                    fa.Joint.revolute("z", drive=drive),
                    mass=m,
                    com=(0.5, 0.0, 0.0),
                    inertia=(0.01, 0.1, 0.1),
                )
            ],
            gravity=(0.0, -9.81, 0.0),
        )
        for m in (1.0, 3.0)
    ]
    found = trajectory(fa.stack(arms), [-0.5], [0.5], duration=0.6)
    assert found.success
    light, heavy = found.scenarios
    assert_array_equal(light.q[:, 1], heavy.q[:, 1])
    assert np.abs(light.q[:, 0] - heavy.q[:, 0]).max() > 0.01
    for (q, v), one in zip(ends_by_scipy(found), found.scenarios, strict=True):
        assert_allclose(q, one.q[-1], atol=1e-3)
        assert_allclose(v, 0.0, atol=0.1)


def test_an_arm_of_a_stack_that_fails_is_named() -> None:
    found = time_optimal(fa.stack([cart(1.0), cart(2.0)]), RAIL, limits={"torque": 3.0})
    light, heavy = found.scenarios
    assert heavy.verification is not None
    beyond = replace(heavy.verification, excess={"force of 'cart'": 0.05})
    found = replace(found, scenarios=(light, heavy._replace(verification=beyond)))
    with pytest.warns(fa.ConvergenceWarning, match="arm 1 of the stack: the simulated"):
        found = warned(found)
    assert not found.success


def test_files_and_calls_keep_the_scenarios(tmp_path: Path) -> None:
    found = trajectory(BOTH, [0.0], [1.0], duration=0.8)
    fa.save(found, tmp_path / "motion.json")
    again: Any = fa.load(tmp_path / "motion.json")
    assert_array_equal(again.scenarios[1].tau, found.scenarios[1].tau)
    assert again.scenarios[1].arm.mass == HEAVY.mass
    assert_array_equal(again.call.again().tau, found.tau)


BETWEEN_POSTURES: dict[str, tuple[Any, dict[str, Any]]] = {
    "tip": (BOTH, {"end": {"tip": (0.0, 1.0, 0.0)}}),
    "vibration": (BOTH, {"cost": {"effort": 1.0, "vibration": 1.0}}),
    "payload": (BOTH, {"payload": "maximize", "limits": {"torque": 8.0}}),
    "afloat": (
        fa.stack(AFLOAT),
        {"start": [0.0, 0.0], "end": {"joints": {"link2": 1.0}}}
        | {"limits": {"torque": [0.0, 100.0]}},
    ),
    "ball": (
        fa.stack([SATELLITE]),
        {"start": [1.0, 0.0, 0.0, 0.0], "end": [0.0, 1.0, 0.0, 0.0]},
    ),
}


@each("given", BETWEEN_POSTURES)
def test_stacks_are_refused_where_joints_are_not_given(given: Any) -> None:
    stack, options = given
    ends = {"start": [0.0], "end": [1.0], "duration": 1.0}
    words = "trajectory of a stack is between joint positions"
    with pytest.raises(fa.ArgumentError, match=words):
        trajectory(stack, **ends | options)


def test_limits_that_do_not_hold_an_arm_of_a_stack_name_it() -> None:
    arms = [link(m, gravity=(0.0, -9.81, 0.0)) for m in (0.0, 2.0)]
    words = "arm 1 of the stack: limits.torque of .* hold the arm at its start"
    with pytest.raises(fa.ArgumentError, match=words):
        trajectory(fa.stack(arms), [0.0], [1.0], duration=1.0, limits={"torque": 15.0})


FLEXIBLE = [fa.library.farid_two_link(payload_mass=m) for m in (1.0, 5.0)]
OF_TWO_LENGTHS = [fa.library.planar_chain(2, length=x) for x in (1.0, 1.02)]
ON_A_PATH = [
    (OF_TWO_LENGTHS, paths.line([1.5, 0.2], [1.2, 0.7]), 200.0, "same lengths"),
    (FLEXIBLE, LINE, TORQUE, 'trajectory\\(stack, start, end, limits=..., cost="time"'),
    (
        [rigid(1.0), rigid(5.0)],
        [[0.0, 0.5], [0.5, 0.5]],
        TORQUE,
        "rigid arms on a path",
    ),
    (AFLOAT, LINE, [0.0, 100.0], "zero where a base floats"),
    ([rigid(1.0), rigid(50.0)], LINE, TORQUE, "force of 'link2' of arm 1 would have"),
]


@each("arms, path, torque, words", ON_A_PATH)
def test_stacks_that_one_motion_along_a_path_cannot_serve_are_refused(
    arms: list[fa.Arm], path: object, torque: Any, words: str
) -> None:
    with pytest.raises(fa.ArgumentError, match=words):
        time_optimal(fa.stack(arms), path, limits={"torque": torque})


def test_stacks_without_arms_are_refused() -> None:
    none = fa.stack([cart(1.0)])[:0]
    with pytest.raises(fa.ArgumentError, match="stack has no arms"):
        time_optimal(none, RAIL, limits={"torque": 3.0})
