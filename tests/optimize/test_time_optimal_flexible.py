"""Fastest motions of arms that bend along a path: Farid (1997), chapter 8."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from campaigns.postures import fault_of, parts_of
from few_modes import planar_chain
from numpy.testing import assert_allclose
from refusals import argument_refused

import flexarm as fa
from flexarm.optimize import OptimalMotion, paths, time_optimal, trade_off
from flexarm.optimize._minimum_time import between_postures

ARM = fa.library.farid_two_link(elements=1)
A, B = (1.8, 0.2), (1.6, 0.7)
LINE = paths.line(A, B)
START = fa.library.poses(ARM)["A"]
LIMITS = np.array([300.0, 120.0])


def fastest(limits: Any = None, **options: object) -> OptimalMotion:
    pytest.importorskip("casadi")
    return time_optimal(
        ARM,
        LINE,
        start=START,
        limits={"torque": LIMITS, **(limits or {})},
        **{"tip_tolerance": 0.4e-3, **options},  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def along() -> OptimalMotion:
    return fastest()


def distances(motion: OptimalMotion, rest: float) -> tuple[np.ndarray, ...]:
    """Times, distances from the line and speeds of the tip, by a run of our own."""
    end = motion.t[-1]
    t = np.linspace(motion.t[0], end + rest, 4001)
    tau = np.stack([np.interp(t, motion.t, column) for column in motion.tau.T], axis=1)
    run = fa.simulate(
        ARM, motion.q[0], motion.qd[0], t, torque=tau, method="ROS34PW2",
        progress=False,
    )  # fmt: skip
    tip, way = run.tip[:, :2], np.subtract(B, A)
    s = np.clip((tip - A) @ way / (way @ way), 0.0, 1.0)
    s = np.where(t < 0.0, 0.0, np.where(t > motion.duration, 1.0, s))
    off = np.linalg.norm(tip - A - s[:, None] * way, axis=1)
    speed = np.linalg.norm(fa.node_velocity(ARM, run.q, run.qd)[:, 3:], axis=1)
    return t, off, speed


def test_farid_is_faster_with_torques_before_and_after(along: OptimalMotion) -> None:
    # the thesis has 0.4850 s at 0.4 mm, line 3137 of its text
    assert along.success, along.message
    assert along.duration < 0.4850
    assert along.duration == pytest.approx(0.410, abs=0.005)
    assert along.errors.tip <= 0.4e-3
    assert (np.abs(along.tau) <= LIMITS * (1.0 + 1e-6)).all()
    assert along.t[0] == pytest.approx(-0.2 * along.duration, rel=0.05)
    assert along.verification is not None
    assert along.verification.step < 0.25 * np.diff(along.t).min()


def test_the_gap_holds_what_finer_grids_gain(along: OptimalMotion) -> None:
    """24 to 64 intervals take 0.4199, 0.4103 (32), 0.4089 (48) and 0.4092 s (64).

    Sixteen are too coarse for the vibration, so that no order is seen.
    """
    grids, gap = along.fastest.refinement, along.gap
    assert len(grids) == 3 and grids[0] > 1.05 * grids[1]
    assert along.duration * (1.0 - gap) < 0.4089
    assert gap < 0.02


def test_another_integrator_confirms_the_error_and_the_rest(
    along: OptimalMotion,
) -> None:
    t, off, speed = distances(along, rest=0.1)
    assert off.max() < 0.45e-3  # 0.4 mm, and the error of ROS34PW2
    ended = t > along.t[-1]
    assert speed[ended].max() < 5e-3
    assert speed.max() > 1.5


def test_the_tip_goes_all_the_way_and_the_arm_starts_at_rest(
    along: OptimalMotion,
) -> None:
    tip = along.tip
    first = np.argmin(np.abs(along.t))
    last = np.argmin(np.abs(along.t - along.duration))
    assert np.linalg.norm(tip[first, :2] - A) < 0.4e-3
    assert np.linalg.norm(tip[last, :2] - B) < 0.4e-3
    rest = fa.inverse_dynamics(ARM, along.q[0], 0.0 * START, 0.0 * START)
    assert_allclose(rest[ARM.actuator_indices], along.tau[0], atol=1e-6)
    assert_allclose(rest[~np.isin(range(ARM.nv), ARM.actuator_indices)], 0.0, atol=1e-6)
    assert not along.qd[0].any()


def test_without_torques_in_advance_it_is_slower(along: OptimalMotion) -> None:
    # the thesis has 0.4940 s at 3.5 mm
    few = {"pre_actuation": 0.0, "intervals": 20}
    late = fastest(search=few, tip_tolerance=3.5e-3)
    assert late.success, late.message
    assert along.duration < late.duration < 0.4940
    assert late.errors.tip <= 3.5e-3
    assert late.t[0] == 0.0


@pytest.mark.slow
def test_tolerance_buys_time_where_torques_cannot_act_in_advance() -> None:
    arm = fa.library.farid_two_link(elements=1)
    asked: dict[str, Any] = {"start": fa.library.poses(arm)["A"]}
    asked |= {"limits": {"torque": LIMITS}}
    few = {"intervals": 16}
    late = {"pre_actuation": 0.0, **few}
    curve = trade_off(arm, LINE, [1e-3, 7e-3], search=late, **asked)
    assert (np.diff(curve.duration) < -0.005).all()
    assert (curve.tip_error <= curve.tolerance).all()
    ready = trade_off(arm, LINE, [1e-3], search=few, **asked)
    assert ready.duration[0] < curve.duration.min() - 0.03


@pytest.mark.slow
def test_a_stiff_arm_takes_little_more_than_the_rigid_one() -> None:
    stiff = fa.library.farid_two_link(
        bending_stiffness=2e4, joint_stiffness=1.3e4, elements=1
    )
    rigid = fa.library.farid_two_link(elements=0, joint_stiffness=None)
    start = fa.library.poses(rigid)["A"]
    exact = time_optimal(rigid, LINE, start=start, limits={"torque": LIMITS}).duration
    found = time_optimal(
        stiff,
        LINE,
        start=fa.library.poses(stiff)["A"],
        limits={"torque": LIMITS},
        tip_tolerance=0.2e-3,
        search={"pre_actuation": 0.1, "post_actuation": 0.1, "intervals": 32},
        check=False,
    )
    assert exact == pytest.approx(0.4230, rel=5e-3)
    # torques linear between knots, from and to those of rest
    assert exact < found.duration < 1.08 * exact


def simulated(motion: OptimalMotion) -> fa.Trajectory:
    """The torques in a run of an implicit method that controls its error."""
    t = np.linspace(motion.t[0], motion.t[-1], 1501)
    tau = np.stack([np.interp(t, motion.t, column) for column in motion.tau.T], axis=1)
    return fa.simulate(
        ARM, motion.q[0], motion.qd[0], t, torque=tau, method="Rodas4P",
        rtol=1e-6, progress=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def strained(
    along: OptimalMotion,
) -> tuple[np.ndarray, dict[object, float], OptimalMotion]:
    """Rows of a strain, a limit it does not keep by itself, a motion that keeps it."""
    strain = ("strain", "link1", 0.1)
    rows = fa.linearize(ARM, START, outputs=strain).C[0, : ARM.nv]
    limits: dict[object, float] = {strain: 0.2}
    return rows, limits, fastest(limits={"outputs": limits})


def test_a_limit_of_a_strain_is_kept_and_takes_time(
    along: OptimalMotion,
    strained: tuple[np.ndarray, dict[object, float], OptimalMotion],
) -> None:
    rows, _, calm = strained
    assert along.verification is not None and calm.verification is not None
    assert np.abs(along.verification.trajectory.q @ rows).max() > 0.24
    assert calm.success, calm.message
    assert along.duration + 0.005 < calm.duration < 1.1 * along.duration
    assert np.abs(calm.q @ rows).max() <= 0.2 * (1.0 + 1e-4)
    most = np.abs(calm.verification.trajectory.q @ rows).max()
    assert most <= 0.2 * (1.0 + 1e-3)
    told = max(calm.verification.excess.values(), default=0.0)
    assert told == pytest.approx(max(most / 0.2 - 1.0, 0.0), abs=1e-6)
    assert calm.errors.tip <= 0.4e-3


def test_another_integrator_finds_the_strain_within_its_limit(
    strained: tuple[np.ndarray, dict[object, float], OptimalMotion],
) -> None:
    rows, _, calm = strained
    run = simulated(calm)
    assert np.abs(run.q @ rows).max() <= 0.2 * (1.0 + 1.5e-3)


@pytest.mark.slow
def test_a_limit_of_a_strain_between_two_postures() -> None:
    arm = planar_chain(
        2, n_modes=1, bending_stiffness=200.0, payload_mass=0.3, damping_ratio=0.005
    ).replace(gravity=(0.0, 0.0, 0.0))
    strain = ("strain", "link1", 0.1)
    rows = fa.linearize(arm, np.zeros(4), outputs=strain).C[0, :4]
    ends, few = [[0.0, 0.8], [0.3, 0.6]], {"intervals": 8}
    limits: dict[str, Any] = {"torque": np.array([20.0, 8.0])}
    free = time_optimal(arm, ends, limits=limits, search=few)
    assert free.verification is not None
    most = 0.7 * np.abs(free.verification.trajectory.q @ rows).max()
    limits["outputs"] = {strain: most}
    calm = time_optimal(arm, ends, limits=limits, search=few)
    assert calm.success, calm.message
    assert calm.duration > free.duration
    assert calm.verification is not None
    assert np.abs(calm.verification.trajectory.q @ rows).max() <= most * (1.0 + 1e-3)
    assert max(calm.verification.excess.values(), default=0.0) <= 1e-3
    # by another integrator
    assert not fault_of(calm, limits, parts_of(calm, ends, limits))


def test_limits_of_outputs_that_do_not_fit_are_refused() -> None:
    strain = ("strain", "link1", 0.1)
    # its own weight bends the arm at rest by -0.1088 and -0.0929
    argument_refused(
        ["limits.outputs of 'link1 strain y 0.1'", "at rest at the start", "-0.1088"],
        lambda: fastest(limits={"outputs": {strain: 0.1}}),
    )
    argument_refused(
        ["limits.outputs is float", "mapping"], lambda: fastest(limits={"outputs": 0.1})
    )
    argument_refused(
        ["not linear"], lambda: fastest(limits={"outputs": {"tip position x": 1.0}})
    )
    rigid = fa.library.farid_two_link(elements=0, joint_stiffness=None)
    argument_refused(
        ["limits.outputs is given", "a rigid arm", "velocity"],
        lambda: time_optimal(
            rigid, LINE, limits={"torque": LIMITS, "outputs": {"joints": 1.0}}
        ),
    )


def test_a_solver_that_stops_early_warns_and_says_so() -> None:
    with pytest.warns(fa.ConvergenceWarning, match="iterations"):
        motion = fastest(search={"max_iterations": 4})
    assert not motion.success
    assert motion.status == "iterations"
    assert np.isfinite(motion.tau).all()
    assert motion.verification is not None
    with pytest.raises(fa.ConvergenceError, match="off by"):
        motion.check()


def test_a_search_between_postures_says_whether_more_programs_help() -> None:
    found = between_postures.Found(longest=5)
    for most, hint in ((5, "give more max_iterations"), (16, "more would change")):
        between: Any = SimpleNamespace(options=SimpleNamespace(max_iterations=most))
        status, message = between_postures._judged(between, found, np.nan)
        assert status == "iterations"
        assert f"in 5 linear programs; {hint}" in message
    late = between_postures.Found(stopped="time")
    assert between_postures._judged(between, late, np.nan)[0] == "time"


def test_bad_questions_are_refused() -> None:
    argument_refused(
        ["force of 'link1'", "177.6", "170"],
        lambda: fastest(limits={"torque": [170.0, 120.0]}),
    )
    for name in ("tip_tolerance", "rest_speed"):
        argument_refused([name], lambda name=name: fastest(**{name: 0.0}))  # type: ignore[misc]
    for name in ("pre_actuation", "post_actuation"):
        for share in (-1.0, 11.0):
            search = {name: share}
            argument_refused([name], lambda s=search: fastest(search=s))  # type: ignore[misc]
    argument_refused(["smoothness"], lambda: fastest(smoothness=-1.0))
    argument_refused(
        ["tip_tolerances"], lambda: trade_off(ARM, LINE, [], limits={"torque": LIMITS})
    )
    argument_refused(
        ["tip_tolerance is given"],
        lambda: trade_off(
            ARM, LINE, [1e-3], tip_tolerance=1e-3, limits={"torque": LIMITS}
        ),
    )
