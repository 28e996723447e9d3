"""Optimal motions from rest to rest against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import FLEX, argument_refused
from scipy.linalg import expm

import flexarm as fa
from flexarm import optimize
from flexarm.errors import ConvergenceWarning
from flexarm.optimize import paths
from flexarm.optimize._minimum_time.rest_postures import holding_forces
from flexarm.optimize._tracking.tip_task import TipTask
from flexarm.optimize._tracking.tip_trajectory import timed
from flexarm.optimize._verify import between
from flexarm.reference.tracking._nodal_forces import Shooting, windows_of

pytest.importorskip("casadi")

G = 9.81
# its second modes are so fast that 40 intervals leave joints of FLEX in motion
CALM = fa.library.de_luca_siciliano(n_modes=1)


def slide(direction: Any = (1, 0, 0), mass: float = 1.0) -> fa.Arm:
    """A mass that slides without friction."""
    joint = fa.Joint("prismatic", direction)
    return fa.Arm([fa.RigidBody("mass", joint, mass=mass)], gravity=(0, 0, -G))


def elastic(stiffness: float = 60.0) -> fa.Arm:
    """A rod on a flexible joint in the horizontal plane: a linear system."""
    drive = fa.Drive(stiffness=stiffness, rotor_inertia=0.3)
    rod = fa.RigidBody(
        "rod",
        fa.Joint(drive=drive),
        mass=1.0,
        com=(0.5, 0, 0),
        inertia=(0, 0.1, 0.1),
        nodes={"tip": (1, 0, 0)},
    )
    return fa.Arm([rod], gravity=(0, 0, -G))


def least_effort(arm: fa.Arm, change: Any, T: float) -> float:
    """Of a linear arm: by the Gramian of what forces reach."""
    ss = fa.linearize(arm, np.zeros(arm.nq))
    n = ss.n_states
    H = np.zeros((2 * n, 2 * n))
    H[:n, :n], H[:n, n:], H[n:, n:] = -ss.A, ss.B @ ss.B.T, ss.A.T
    E = expm(H * T)
    gramian = E[n:, n:].T @ E[:n, n:]
    goal = np.concatenate([change, np.zeros(arm.nv)])
    return float(goal @ np.linalg.solve(gramian, goal))


def test_least_effort_of_a_mass_is_a_cubic() -> None:
    motion = optimize.trajectory(slide(), [0.2], [1.2], duration=2.0)
    s = motion.t / 2.0
    assert motion.success and motion.check() is motion
    assert_allclose(motion.q[:, 0], 0.2 + s**2 * (3.0 - 2.0 * s), atol=1e-9)
    assert_allclose(motion.tau[:, 0], 1.5 * (1.0 - 2.0 * s), atol=1e-8)
    assert_allclose(motion.objective, 12.0 / 2.0**3, rtol=1e-10)
    assert motion.verification is not None
    assert motion.verification.final_error < 1e-9
    assert motion.verification.final_rate < 1e-9
    assert set(motion.timings._fields) == {"setup", "solver", "verification", "total"}


def test_the_scipy_solver_finds_the_same() -> None:
    motion = optimize.trajectory(
        slide(), [0.0], [1.0], duration=1.0, search={"intervals": 10, "solver": "scipy"}
    )
    assert motion.success and motion.solver.startswith("scipy")
    assert_allclose(motion.objective, 12.0, rtol=1e-5)


def test_least_torque_rate_of_a_mass() -> None:
    """Force 5 (1 - 2 t)(1 + 2 t (1 - t)) of 120 N^2/s, errors with the square of h."""
    found = [
        optimize.trajectory(
            slide(),
            [0.0],
            [1.0],
            duration=1.0,
            cost="torque rate",
            search={"intervals": n},
        )
        for n in (20, 40)
    ]
    off = [x.objective - 120.0 for x in found]
    assert_allclose(off[0] / off[1], 4.0, rtol=0.01)
    assert abs(found[1].objective - off[0] / 3.0 + off[1] / 3.0 - 120.0) < 0.3
    assert_allclose((4.0 * off[1] - off[0]) / 3.0, 0.0, atol=1e-3)
    t = found[1].t
    expected = 5.0 - 60.0 * (t**2 / 2.0 - t**3 / 3.0)
    assert_allclose(found[1].tau[:, 0], expected, atol=0.01)


def test_least_time_of_a_mass_is_bang_bang() -> None:
    """2 sqrt(m d / F) = 1 s, but for the interval in which the force turns."""
    off = []
    for n in (20, 40):
        motion = optimize.trajectory(
            slide(),
            [0.0],
            [1.0],
            cost="time",
            limits={"torque": 4.0},
            search={"intervals": n},
        )
        assert motion.success
        off.append(motion.duration - 1.0)
        assert_allclose(motion.tau[: n // 2 - 1], 4.0, rtol=1e-4)
    assert 0.0 < off[1] < 6e-4
    assert_allclose(off[0] / off[1], 4.0, rtol=0.1)


def test_speed_and_rate_limits_hold_and_act() -> None:
    """At most 1 m/s with 4 N: d / v + v m / F = 1.25 s.

    At 20 N/s the force turns in r = 0.4 s: t^2 + r t + r^2 / 6 = d m / F before it.
    """
    motion = optimize.trajectory(
        slide(), [0.0], [1.0], cost="time", limits={"torque": 4.0, "velocity": 1.0}
    )
    assert motion.success
    assert_allclose(motion.duration, 1.25, rtol=2e-3)
    assert motion.qd.max() <= 1.0 + 1e-7
    slow = optimize.trajectory(
        slide(), [0.0], [1.0], cost="time", limits={"torque": 4.0, "torque_rate": 20.0}
    )
    rate = np.diff(slow.tau[:, 0]) / np.diff(slow.t)
    assert abs(rate).max() <= 20.0 * (1.0 + 1e-6)
    expected = np.sqrt(0.4**2 - 4.0 * (0.4**2 / 6.0 - 0.25))
    assert_allclose(slow.duration, expected, rtol=1e-3)


@pytest.mark.parametrize("T", [0.4, 1.0])
def test_least_effort_of_a_flexible_joint_by_the_gramian(T: float) -> None:
    arm = elastic()
    motion = optimize.trajectory(
        arm, [0.0], [1.0], duration=T, search={"intervals": 120}
    )
    assert_allclose(motion.objective, least_effort(arm, [1.0, 1.0], T), rtol=1e-6)
    assert motion.verification is not None
    assert motion.verification.final_error < 1e-6


def test_energy_is_effort_for_a_return_without_friction() -> None:
    """Work between states of rest at one height is nothing."""
    arm = elastic()
    effort = optimize.trajectory(arm, [0.0], [1.0], duration=1.0)
    energy = optimize.trajectory(
        arm, [0.0], [1.0], duration=1.0, cost="energy", losses=0.25
    )
    assert_allclose(energy.objective, 0.25 * effort.objective, rtol=1e-7)
    # and m g h where it is lifted
    lifted = optimize.trajectory(
        slide((0, 0, 1)), [0.0], [1.0], duration=1.0, cost="energy", losses=0.01
    )
    assert_allclose(lifted.objective, G + 0.01 * (12.0 + G**2), rtol=1e-9)


def test_a_flexible_arm_is_at_rest_at_the_end() -> None:
    ends = ([0.0, 0.0], [0.2, 0.1])
    motion = optimize.trajectory(CALM, *ends, duration=1.0)
    assert motion.success and motion.iterations < 30
    finer = optimize.trajectory(CALM, *ends, duration=1.0, search={"intervals": 100})
    assert_allclose(motion.objective, finer.objective, rtol=0.01)
    coarse, fine = motion.verification, finer.verification
    assert coarse is not None and fine is not None
    # order four: 39 times
    assert fine.final_error < 5e-7 and coarse.final_error > 20.0 * fine.final_error
    assert fine.final_rate < 1e-4
    # the arm is nearly linear in a small motion
    small = optimize.trajectory(CALM, [0.0, 0.0], [2e-3, 1e-3], duration=1.0)
    goal = np.array([2e-3, 1e-3, 0.0, 0.0])
    assert_allclose(small.objective, least_effort(CALM, goal, 1.0), rtol=2e-3)


def test_a_grid_that_is_too_coarse_warns() -> None:
    """Heavy links that fall and swing for a little effort."""
    arm = fa.library.planar_chain(2)
    with pytest.warns(ConvergenceWarning, match="take more intervals"):
        motion = optimize.trajectory(
            arm, [0.0, 0.0], [1.0, 0.5], duration=3.0, search={"intervals": 8}
        )
    assert motion.status == "failed" and not motion.success


def test_vibration_that_is_left_costs() -> None:
    """The dearer it is the less is left, down to the motion that ends at rest."""
    ends = ([0.0, 0.0], [0.2, 0.1])
    # the cost is mostly that of vibration, a small part of it much effort
    options: dict[str, Any] = {"duration": 1.5, "search": {"tolerance": 1e-9}}
    rest = optimize.trajectory(CALM, *ends, **options)
    found = [
        optimize.trajectory(
            CALM, *ends, cost={"effort": 1.0, "vibration": w}, **options
        )
        for w in (1e1, 1e4, 1e7)
    ]
    left = [x.least_cost.costs["vibration"] for x in found]
    effort = [x.least_cost.costs["effort"] for x in found]
    assert left[0] > left[1] > left[2]
    assert effort[0] < effort[1] < effort[2] <= rest.objective * (1.0 + 1e-6)
    assert_allclose(effort[2], rest.objective, rtol=1e-3)
    assert_allclose(found[0].objective, effort[0] + 10.0 * left[0], rtol=1e-9)


def test_places_of_the_tip_and_limits_of_outputs() -> None:
    place = fa.tip_pose(FLEX, [0.8, 0.5, 0, 0, 0, 0])[:3, 3]
    few = {"intervals": 20}
    motion = optimize.trajectory(
        FLEX, [0.0, 0.0], {"tip": place}, duration=2.0, search=few
    )
    assert motion.success
    assert_allclose(motion.tip[-1], place, atol=1e-8)
    bent = abs(motion.q[:, 2]).max()
    held = optimize.trajectory(
        FLEX,
        [0.0, 0.0],
        {"tip": place},
        duration=2.0,
        limits={"outputs": {"modes": [0.8 * bent, 1.0, 1.0, 1.0]}},
        search=few,
    )
    assert held.success and held.objective > motion.objective
    assert abs(held.q[:, 2]).max() <= 0.8 * bent * (1.0 + 1e-6)
    strain = ("strain", "link1", 0.1)
    rows = fa.linearize(FLEX, FLEX.neutral, outputs=strain).C[0, :6]
    most = abs(motion.q @ rows).max()
    calm = optimize.trajectory(
        FLEX,
        [0.0, 0.0],
        {"tip": place},
        duration=2.0,
        limits={"outputs": {strain: 0.8 * most}},
        search=few,
    )
    assert calm.success and abs(calm.q @ rows).max() <= 0.8 * most * (1.0 + 1e-6)


def test_the_posture_of_a_redundant_arm_is_found() -> None:
    """Of all postures with the tip at a place, the one that costs least."""
    arm = fa.library.planar_chain(3, gravity=(0, 0, 0))
    start = [0.0, 0.4, 0.4]
    given: Any = {"duration": 1.0, "search": {"intervals": 20}}
    motion = optimize.trajectory(arm, start, {"tip": (1.2, 1.5, 0.0)}, **given)
    assert motion.success
    assert_allclose(motion.tip[-1], [1.2, 1.5, 0.0], atol=1e-7)
    q = motion.q[-1]
    J = fa.jacobian(arm, q, frame="base")[3:5]
    along = np.linalg.svd(J)[2][-1]
    for side in (-0.05, 0.05):
        near = fa.inverse_kinematics(arm, motion.tip[-1], q + side * along).q
        other = optimize.trajectory(arm, start, near, **given)
        assert other.objective > motion.objective


def test_a_solver_that_stops_early_says_so() -> None:
    with pytest.warns(ConvergenceWarning, match="iterations"):
        motion = optimize.trajectory(
            FLEX, [0.0, 0.0], [0.8, 0.5], duration=0.5, search={"max_iterations": 2}
        )
    assert not motion.success and motion.status == "iterations"
    with pytest.raises(fa.ConvergenceError):
        motion.check()


def test_arguments_of_optimal_motions_have_to_fit() -> None:
    arm = slide()

    def call(**options: Any) -> Any:
        given = {"start": [0.0], "end": [1.0], "duration": 1.0} | options
        return lambda: optimize.trajectory(given.pop("arm", arm), **given)

    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({"arm": "arm"}, ["arm is str", "flexarm.Arm"]),
        ({"start": [0.0, 1.0]}, ["start has shape (2,)", "(1,)"]),
        ({"end": {"tip": (9.0, 1.0, 0.0)}}, ["end: the tip does not reach", "m away"]),
        ({"end": {"place": 1}}, ["end has the keys 'place'", "'tip'"]),
        ({"end": [np.nan]}, ["end[0] is nan", "finite"]),
        ({"cost": "speed"}, ["cost has 'speed'", "'effort'"]),
        ({"cost": {"effort": -1.0}}, ["cost['effort'] is -1.0", "positive"]),
        ({"cost": "energy"}, ["without losses", "W/(N m)^2"]),
        ({"cost": "energy", "losses": 0.0}, ["losses is 0", "above zero"]),
        ({"cost": "time"}, ["fixed duration", "free one"]),
        ({"duration": None}, ["duration is None", "limits of torque"]),
        ({"duration": (1.0, 0.5, 2.0)}, ["duration is (1.0, 0.5, 2.0)", "increasing"]),
        ({"limits": {"torque": [1.0, 2.0]}}, ["limits.torque has shape (2,)"]),
        ({"payload": "least"}, ["payload is 'least'", "'maximize'"]),
        ({"cost": "payload"}, ["'payload' is among the costs"]),
        ({"cost": "design"}, ["'design' is among the costs", "Design"]),
        (
            {"payload": "maximize", "payload_limits": (2.0, 1.0)},
            ["payload_limits are (2.0, 1.0)", "largest"],
        ),
        ({"limits": {"outputs": {"tip position x": 1.0}}}, ["not linear"]),
        ({"limits": {"outputs": 3.0}}, ["limits.outputs is float", "mapping"]),
        ({"search": {"intervals": 0}}, ["intervals is 0"]),
    ]
    for options, words in cases:
        if words == ["not linear"]:
            options |= {"arm": fa.library.planar_chain(1), "start": [0.0]}
        argument_refused(words, call(**options))


def test_limits_that_are_too_tight_are_named() -> None:
    lift: Any = (slide((0, 0, 1)), [0.0], [1.0])
    argument_refused(
        ["limits.torque of 'mass' are -5 and 5", "9.81 hold the arm at its start"],
        lambda: optimize.trajectory(*lift, duration=1.0, limits={"torque": 5.0}),
    )
    argument_refused(
        ["limits.velocity lead 'mass' at most 0.5 in 1 s", "its way is 1"],
        lambda: optimize.trajectory(*lift, duration=1.0, limits={"velocity": 0.5}),
    )
    with pytest.warns(ConvergenceWarning, match="limits.torque of 'mass'"):
        motion = optimize.trajectory(
            slide(), [0.0], [1.0], duration=1.0, limits={"torque": 2.0}
        )
    assert motion.status == "infeasible" and not motion.success


def test_a_payload_that_nothing_bounds() -> None:
    argument_refused(
        ["payload is 'maximize'", "nothing bounds it"],
        lambda: optimize.trajectory(
            slide(), [0.0], [1.0], duration=1.0, payload="maximize"
        ),
    )


def test_least_torques_hold_an_arm_too() -> None:
    """An arm that leans to the other side needs torques of the other sign."""
    arm = fa.library.planar_chain(1)
    left = np.array([[np.pi], [np.pi]])
    needed = float(holding_forces(arm, left, *np.array([[-99.0], [99.0]]))[0, 0])
    assert needed < 0.0
    with pytest.raises(fa.ArgumentError, match="at the start takes"):
        holding_forces(arm, left, *np.array([[0.5 * needed], [99.0]]))


def test_weights_of_a_motion_and_of_the_rest_after_it() -> None:
    """The first weighs errors until the motion ends, the second those after it."""
    arm = fa.library.farid_two_link()
    start = fa.library.poses(arm)["A"]
    line = paths.line([1.8, 0.2], [1.75, 0.25])
    task = TipTask(arm, timed(line, 0.8, "cycloidal"), start, None)
    problem = Shooting(task, windows_of(0.8, 4, (0.0, 0.5), 2), (4.0, 9.0), 0.0)
    late = problem.t[problem.on] > 0.8 + 1e-9
    assert late.any()
    assert_allclose(problem.scale[:, 0], np.where(late, 3.0, 2.0))


def test_held_forces_change_at_their_samples() -> None:
    """At the time of a sample the force is that of this sample."""
    t, tau = np.array([0.0, 1.0, 2.0]), np.array([[1.0], [2.0], [3.0]])
    fine = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    held = between(fine, t, tau, "hold")
    assert_allclose(held[:, 0], [1.0, 1.0, 2.0, 2.0, 3.0])
