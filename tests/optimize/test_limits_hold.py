"""Limits of optimal motions against simulations by another integrator."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from refusals import argument_refused, model_refused
from scipy.integrate import solve_ivp

import flexarm as fa
from flexarm import optimize
from flexarm.errors import ConvergenceWarning
from flexarm.optimize import OptimalMotion, paths
from flexarm.optimize._excess import GOAL, MAX_EXCESS, PATH, REST, excess_of
from flexarm.optimize.limits import Limits, checked_limits

pytest.importorskip("casadi")


class Run(NamedTuple):
    """States at dense times, and what they take."""

    t: Any
    q: Any
    qd: Any
    qdd: Any
    tau: Any
    speed: Any


def dense(motion: OptimalMotion, n: int = 3000) -> Run:
    """The forces of a motion in SciPy's DOP853, of order eight, knot by knot."""
    arm, t = motion.arm, np.linspace(motion.t[0], motion.t[-1], n)

    def forces(at: Any) -> Any:
        return np.array([np.interp(at, motion.t, column) for column in motion.tau.T]).T

    def rate(at: float, x: Any) -> Any:
        q, qd = np.split(x, 2)
        return np.append(qd, fa.forward_dynamics(arm, q, qd, forces(at)))

    found = solve_ivp(
        rate,
        (t[0], t[-1]),
        np.append(motion.q[0], motion.qd[0]),
        method="DOP853",
        t_eval=t,
        rtol=1e-7,
        atol=1e-9,
        max_step=float(np.diff(motion.t).max()),
    )
    q, qd = np.split(found.y.T, 2, axis=1)
    tau = forces(t)
    speed = np.linalg.norm(fa.node_velocity(arm, q, qd)[:, 3:], axis=1)
    return Run(t, q, qd, fa.forward_dynamics(arm, q, qd, tau), tau, speed)


@each("turns", [0, 10, -1000])
@each(
    "given, most, part",
    [
        ((-np.inf, 1.0), 1.2, 0.2),
        ((-1.0, 1.0), 1.2, 0.2),
        ((-np.inf, 0.4), 0.5, 0.1 / 0.5),
    ],
)
def test_excess_does_not_depend_on_where_zero_is(
    turns: int, given: Any, most: float, part: float
) -> None:
    """A joint that turns beyond its limit; ranges above 1 rad count as that."""
    arm, start = fa.library.pendulum(), 2.0 * np.pi * turns
    t = np.linspace(0.0, 1.0, 101)
    q = start + 0.5 * most * (1.0 - np.cos(np.pi * t))
    run = fa.Trajectory(arm, t, q[:, None], 0 * q[:, None], 0 * q[:, None])
    position = np.array(given)[:, None] + start
    limits = checked_limits(Limits(position=position), arm)
    (found,) = excess_of(run, limits).values()
    assert abs(found - part) < 1e-9


def beam(stiffness: float = 20.0, n: int = 1) -> fa.Arm:
    """Links in the horizontal plane with modes too fast for the grid of a search."""
    return planar_chain(
        n,
        n_modes=2,
        bending_stiffness=stiffness,
        payload_mass=0.3,
        damping_ratio=0.005,
        gravity=(0, 0, 0),
    )


def part(value: Any, limit: float) -> float:
    """Part by which the largest size exceeds a limit."""
    return float(np.abs(value).max() / limit - 1.0)


def told(search: Callable[[], OptimalMotion]) -> OptimalMotion:
    """The motion of a search, which warns once if it fails."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        motion = search()
    assert [w.category for w in found] == [ConvergenceWarning] * (not motion.success)
    return motion


STRAIN = ("strain", "link1", 0.1)
ROWS = fa.linearize(beam(), np.zeros(3), outputs=STRAIN).C[0, :3]
SLOW = {"torque": 10.0, "velocity": 1.0, "acceleration": 10.0}
# searches, and excesses of their limits in a run
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "speeds of a transfer": (
        lambda: optimize.trajectory(
            beam(), [0.0], [0.4], duration=1.2, limits={"velocity": 0.5}
        ),
        {"velocity of 'link1'": lambda run: part(run.qd[:, 0], 0.5)},
    ),
    "strains of a transfer": (
        lambda: optimize.trajectory(
            beam(), [0.0], [0.4], duration=1.0, limits={"outputs": {STRAIN: 0.002}}
        ),
        {"output 'link1 strain y 0.1'": lambda run: part(run.q @ ROWS, 0.002)},
    ),
    "speeds and accelerations of a fastest motion": (
        lambda: optimize.time_optimal(
            beam(), [[0.0], [0.5]], limits=SLOW, tip_tolerance=1e-3
        ),
        {
            "force of 'link1'": lambda run: part(run.tau, 10.0),
            "velocity of 'link1'": lambda run: part(run.qd[:, 0], 1.0),
            "acceleration of 'link1'": lambda run: part(run.qdd[:, 0], 10.0),
        },
    ),
}


@pytest.mark.slow
@each("search, excess", CASES)
def test_no_success_beyond_limits(search: Any, excess: Any) -> None:
    """Limits that a run of our own exceeds are named with their part; failures."""
    motion = told(search)
    verified, run = motion.verification.excess, dense(motion)
    # derivatives of accelerations by forces as parts of their ranges
    # the other start is left when the first one has come to rest
    starts = motion.starts
    assert not starts or any(start.success for start in starts)
    for name, of in excess.items():
        expected = max(of(run), 0.0)
        assert verified.get(name, 0.0) == pytest.approx(expected, rel=0.02, abs=2e-3)
        assert not (motion.success and expected > MAX_EXCESS + 2e-3), name
    if not motion.success and motion.status == "failed":
        worst = next(iter(verified))
        assert (
            worst in motion.message
            and f"{100 * verified[worst]:.3g} %" in motion.message
        )


def test_the_tip_rests_before_and_after_a_path() -> None:
    """rest_speed and tip_tolerance, where the tip shall not move yet and no more."""
    arm = fa.library.farid_two_link(elements=1)
    line = paths.line([1.8, 0.2], [1.6, 0.7])
    motion = told(
        lambda: optimize.time_optimal(
            arm,
            line,
            start=fa.library.poses(arm)["A"],
            limits={"torque": [300.0, 120.0]},
            rest_speed=5e-3,
            search={"intervals": 12, "max_iterations": 40},
        )
    )
    run = motion.verification.trajectory
    speed = np.linalg.norm(fa.node_velocity(arm, run.q, run.qd)[:, 3:], axis=1)
    rests = (run.t < -1e-12) | (run.t > motion.duration + 1e-12)
    over = float(speed[rests].max() / 5e-3 - 1.0)
    assert motion.verification.excess.get(REST, 0.0) == pytest.approx(over, rel=1e-3)
    assert motion.success == (over <= MAX_EXCESS)


def test_excess_of_a_motion_known_in_closed_form() -> None:
    """A mass of 2 kg under 3 N + 1 N/s t: speed, acceleration, rate and place."""
    rail = fa.Joint("prismatic", axis=(1.0, 0.0, 0.0))
    arm = fa.Arm([fa.RigidBody("cart", rail, mass=2.0)], gravity=(0, 0, 0))
    t = np.linspace(0.0, 2.0, 21)
    run = fa.simulate(arm, [0.0], [0.0], t, torque=(3.0 + t)[:, None])
    speed = 1.5 * 2.0 + 0.25 * 4.0

    def excess(**limits: Any) -> dict[str, float]:
        return excess_of(run, checked_limits(Limits(**limits), arm))

    assert excess(torque=4.0) == pytest.approx({"force of 'cart'": 0.25})
    # parts of half the range
    assert excess(torque=[[2.0], [4.0]]) == pytest.approx({"force of 'cart'": 1.0})
    assert excess(torque_rate=0.8) == pytest.approx(
        {"rate of the force of 'cart'": 0.25}
    )
    assert excess(velocity=2.0) == pytest.approx({"velocity of 'cart'": speed / 2 - 1})
    assert excess(acceleration=[[-1], [2.0]]) == pytest.approx(
        {"acceleration of 'cart'": 0.5 / 1.5}
    )
    assert excess(tip_speed=3.2) == pytest.approx({"speed of the tip": speed / 3.2 - 1})
    both = excess(torque=4.0, velocity=2.0)
    assert list(both) == ["velocity of 'cart'", "force of 'cart'"]  # the largest first
    assert excess(torque=5.0, velocity=4.1, tip_speed=4.01) == {}
    # forces whose limits depend on positions
    over = excess(torque=lambda q: np.stack([0.0 * q, 4.0 + 0.0 * q]))
    assert over == pytest.approx({"force of 'cart'": 0.5})
    asked = {PATH: (0.2, 0.1), GOAL: (0.1, 0.1), REST: (np.nan, 1.0)}
    assert excess_of(run, asked=asked) == pytest.approx({PATH: 1.0})


# limits of the joints


def cart(mass: float = 2.0, **limits: Any) -> fa.Arm:
    """A mass on a horizontal rail whose joint has limits."""
    rail = fa.Joint("prismatic", axis=(1.0, 0.0, 0.0), **limits)
    return fa.Arm([fa.RigidBody("cart", rail, mass=mass)], gravity=(0, 0, 0))


WAY = paths.joint_path([[0.0], [0.5]], kind="straight")


def duration(arm: fa.Arm, path: Any = WAY, **limits: Any) -> float:
    motion = optimize.time_optimal(arm, path, limits={"torque": 3.0, **limits})
    assert motion.success and not motion.verification.excess
    return motion.duration


def test_joints_limit_the_fastest_motion() -> None:
    """Full force and brakes; at most v: d / v + v m / F; at most a: 2 sqrt(d / a)."""
    free = 2.0 * np.sqrt(0.5 * 2.0 / 3.0)
    slow, calm = 0.5 / 0.4 + 0.4 * 2.0 / 3.0, 2.0 * np.sqrt(0.5 / 0.9)
    assert duration(cart()) == pytest.approx(free, rel=1e-3)
    assert duration(cart(velocity_limit=0.4)) == pytest.approx(slow, rel=1e-3)
    assert duration(cart(acceleration_limit=0.9)) == pytest.approx(calm, rel=1e-3)
    # limits that are given take the place of those of the joints
    assert duration(cart(), velocity=0.4) == pytest.approx(slow, rel=1e-3)
    assert duration(cart(velocity_limit=0.1), velocity=0.4) == pytest.approx(
        slow, rel=1e-3
    )
    assert duration(cart(velocity_limit=0.4), velocity=np.inf) == pytest.approx(
        free, rel=1e-3
    )
    strong = optimize.time_optimal(cart(effort_limit=3.0), WAY)
    assert strong.duration == pytest.approx(free, rel=1e-3)


def test_efforts_are_those_behind_gears() -> None:
    drive = fa.Drive(np.inf, gear_ratio=-50.0, rotor_inertia=1e-3)
    joint = fa.Joint(drive=drive, effort_limit=10.0, velocity_limit=[2.0])
    arm = fa.Arm([fa.RigidBody("rod", joint, mass=1.0)])
    limits = checked_limits(Limits(), arm)
    # without a coordinate of the motor forces are those at the joint
    assert np.asarray(limits.torque).tolist() == [[-10.0], [10.0]]
    held = checked_limits(Limits(), arm.replace(couplings="constrained"))
    assert np.asarray(held.torque).tolist() == [[-0.2], [0.2]]
    assert np.asarray(limits.velocity).tolist() == [[-2.0], [2.0]]
    assert np.isinf(limits.position).all() and np.isinf(limits.acceleration).all()


def test_positions_are_limited() -> None:
    narrow = cart(limits=(-0.1, 0.4), effort_limit=3.0)
    refuse = ["limits.position of 'cart'", "0.4", "0.5 at s = 1"]
    argument_refused(refuse, lambda: duration(narrow))
    assert duration(narrow, position=np.inf) > 1.0
    argument_refused(
        ["limits.position of 'cart'", "at its end"],
        lambda: optimize.trajectory(narrow, [0.0], [0.5], duration=1.0),
    )
    # a pendulum on its way against a spring overshoots, unless its joint is limited
    free, held = (
        told(
            lambda limits=limits: optimize.trajectory(
                swing(),
                [0.0],
                [0.3],
                duration=2.0,
                limits={"position": limits},
                search={"intervals": 60},
            )
        )
        for limits in (np.inf, [[-0.05], [0.32]])
    )
    assert free.q.min() < -0.1
    assert held.success and held.q.min() > -0.051 and held.q.max() < 0.321
    assert held.objective > free.objective
    assert dense(held).q.min() > -0.06


def swing() -> fa.Arm:
    """A long rod about a spring that is soft for the time of a swing."""
    joint = fa.Joint(stiffness=30.0)
    rod = fa.RigidBody("rod", joint, mass=1.0, inertia=(0, 1.0, 1.0))
    return fa.Arm([rod], gravity=(0, 0, 0))


def test_a_tip_that_asks_too_much_of_joints_is_no_success() -> None:
    arm = planar_chain(2, length=1.0)
    line = paths.line([1.0, 1.0], [0.4, 1.0])
    free = optimize.track(arm, line, 1.0, start=[0.1, 1.4])
    fast = float(np.abs(free.qd).max())
    assert free.success
    with pytest.warns(ConvergenceWarning, match="velocity of 'link2' by 25 %"):
        held = optimize.track(
            arm, line, 1.0, start=[0.1, 1.4], limits={"velocity": fast / 1.25}
        )
    assert held.status == "failed" and held.qd.tolist() == free.qd.tolist()
    # so does the limit of a joint; infinite ones switch it off
    joints = [b.joint.replace(velocity_limit=fast / 1.25) for b in arm.bodies]
    slow = arm.replace(
        bodies=[b.replace(joint=j) for b, j in zip(arm.bodies, joints, strict=True)]
    )
    with pytest.warns(ConvergenceWarning, match="velocity of 'link2' by 25 %"):
        assert not optimize.track(slow, line, 1.0, start=[0.1, 1.4]).success
    off = {"velocity": np.inf}
    assert optimize.track(slow, line, 1.0, start=[0.1, 1.4], limits=off).success


def test_published_limits_hold_by_default() -> None:
    """The iiwa between two postures of its joints, by its data sheet."""
    arm = fa.library.iiwa14()
    ready = fa.library.poses(arm)["ready"]
    way = paths.joint_path([ready, ready + 0.5], kind="straight")
    motion = optimize.time_optimal(arm, way)
    assert motion.success
    rates = np.radians([85, 85, 100, 75, 130, 135, 135])
    efforts = np.array([320, 320, 176, 176, 110, 40, 40])
    used = np.abs(motion.qd).max(axis=0) / rates
    assert used.max() == pytest.approx(1.0, rel=1e-6)
    assert (np.abs(motion.tau) <= efforts * (1.0 + 1e-6)).all()
    assert motion.duration > 0.5 / rates[3]


def test_limits_of_joints_that_make_no_sense_are_refused() -> None:
    for name in ("velocity_limit", "acceleration_limit", "effort_limit"):
        model_refused([name, "above zero"], lambda n=name: fa.Joint(**{n: 0.0}))
        model_refused([name, "above zero"], lambda n=name: fa.Joint(**{n: np.nan}))
        model_refused([name, "1 velocities"], lambda n=name: fa.Joint(**{n: [1, 2]}))
        model_refused([name], lambda n=name: fa.Joint("fixed", **{n: 1.0}))
    both = fa.Joint("universal", axis2=(1, 0, 0), velocity_limit=[1.0, np.inf])
    assert both.velocity_limit.tolist() == [1.0, np.inf]
    assert pickle.loads(pickle.dumps(both)) == both
