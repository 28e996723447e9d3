"""Minimum time between two postures, and what is refused."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from farid_cases import END, START
from numpy.testing import assert_allclose
from refusals import argument_refused
from scipy.optimize import brentq

import flexarm as fa
from flexarm import optimize
from flexarm.optimize import OptimalMotion, paths, time_optimal

pytest.importorskip("casadi")

ARM = fa.library.farid_two_link()
ELBOW_UP = fa.library.poses(ARM)["A"]
LINE = paths.line(START, END)
THESIS = {"limits": {"torque": [300.0, 120.0]}, "start": ELBOW_UP}


# between two postures


def test_mass_on_a_slide_is_fastest_by_full_force() -> None:
    rail = fa.Joint("prismatic", axis=(1.0, 0.0, 0.0))
    arm = fa.Arm([fa.RigidBody("cart", rail, mass=2.0)])
    found = time_optimal(
        arm, [[0.0], [0.5]], limits={"torque": 3.0}, search={"intervals": 60}
    )
    exact = 2.0 * np.sqrt(0.5 * 2.0 / 3.0)
    assert found.duration == pytest.approx(exact, rel=0.01)
    assert found.duration * (1.0 - found.gap) < exact * 1.0001
    assert found.verification is not None
    assert found.verification.final_error < 1e-3


def test_pendulum_has_one_way() -> None:
    """A single joint has no choice of a path, whose optimum is exact."""
    arm = fa.library.pendulum(mass=2.0, com=0.3)
    ends = [[-1.5], [0.5]]
    way = paths.joint_path(ends, kind="straight")
    exact = time_optimal(
        arm, way, limits={"torque": 8.0}, search={"scheme": "midpoint"}
    )
    found = time_optimal(arm, ends, limits={"torque": 8.0}, search={"intervals": 60})
    assert found.duration == pytest.approx(exact.duration, rel=0.015)


def test_two_links_are_faster_without_a_path() -> None:
    arm = fa.library.farid_two_link(elements=0, joint_stiffness=None)
    pose = fa.library.poses(arm)
    ends = [pose["A"], pose["B"]]
    torque = [300.0, 120.0]
    straight = time_optimal(
        arm, paths.joint_path(ends, kind="straight"), limits={"torque": torque}
    )
    found = time_optimal(arm, ends, limits={"torque": torque}, search={"intervals": 60})
    assert found.success
    assert found.duration < straight.duration
    assert_allclose(found.q[[0, -1], :2], ends, atol=1e-3)


MOTOR, LOAD, SPRING = 0.5, 1.5, 20.0  # kg m^2, kg m^2, N m/rad
OMEGA = float(np.sqrt(SPRING * (MOTOR + LOAD) / (MOTOR * LOAD)))


def through_a_spring(
    force: float, way: float, total: float = MOTOR + LOAD, omega: float = OMEGA
) -> float:
    """Shortest time of a motor that turns a load through a spring, rest to rest.

    Full force changes its sign at t1 = T/2 - d, T/2 and T/2 + d (W. Singhose, G. Dodds,
    J. Dyn. Syst. Meas. Control 117, 1995: commands odd about the middle), with
    2 cos(omega d) = 1 + cos(omega T/2) so that the spring is at rest at the end.
    """

    def gone(T: float) -> float:
        half = 0.5 * T
        d = float(np.arccos(0.5 * (1.0 + np.cos(omega * half)))) / omega
        t1 = half - d
        return float(force / total * (t1**2 + 2.0 * t1 * d - d**2))

    stiff = 2.0 * np.sqrt(way * total / force)
    most = stiff
    while gone(most) < way:
        most *= 1.1
    return float(brentq(lambda T: gone(T) - way, stiff, most, xtol=1e-12))


@pytest.mark.parametrize("way", [0.3, 1.0])
def test_flexible_joint_is_fastest_by_three_switches(way: float) -> None:
    joint = fa.Joint(drive=fa.Drive(SPRING, rotor_inertia=MOTOR))
    rod = fa.RigidBody("rod", joint, mass=1.0, inertia=(LOAD,) * 3)
    arm = fa.Arm([rod], gravity=(0.0, 0.0, 0.0))
    exact = through_a_spring(2.0, way)
    stiff = 2.0 * np.sqrt(way * (MOTOR + LOAD) / 2.0)
    assert exact > 1.005 * stiff
    found = time_optimal(
        arm, [[0.0], [way]], limits={"torque": 2.0}, search={"intervals": 60}
    )
    assert found.success
    assert exact * 0.995 < found.duration < exact * 1.02
    assert exact * 0.99 < found.duration * (1.0 - found.gap) < exact
    assert found.verification is not None
    assert found.verification.final_error < 2e-3


@pytest.mark.slow
def test_calm_torques_bring_a_spatial_arm_to_rest() -> None:
    """Four joints, two steel tubes that bend and twist, without any damping."""
    torque = np.array([600.0, 600.0, 300.0, 10.0])
    arm = fa.library.cibicik_egeland(n_modes=1)
    pose = fa.library.poses(arm)
    ends = np.array([pose["initial"][:4], pose["final"][:4]])
    found = time_optimal(
        arm, ends, limits={"torque": torque}, tip_tolerance=1e-4, smoothness=0.1
    )
    assert found.success, found.message
    assert (abs(found.tau) <= torque * (1.0 + 1e-6)).all()
    assert found.errors.tip < 1e-4
    # and by another integrator, which damps nothing that matters
    run, goal = held(found, ends)
    after = run.t >= found.duration
    assert np.linalg.norm(run.tip[after] - goal, axis=1).max() < 1.2e-4
    # they take a third more than the rigid arm on the straight line of joints
    rigid = fa.library.cibicik_egeland(n_modes=0)
    line = paths.joint_path(ends, kind="straight")
    stiff = time_optimal(rigid, line, limits={"torque": torque})
    assert found.duration < 1.4 * stiff.duration


def held(found: OptimalMotion, ends: np.ndarray) -> tuple[fa.Trajectory, np.ndarray]:
    """A run of the torques by Rodas, then held by those of rest; the goal of the tip.

    Neither the search nor its verification uses this integrator.
    """
    arm, nu = found.arm, found.arm.nu
    still = np.zeros(arm.nv - nu)
    rest = [fa.equilibrium(arm, np.append(q, still)) for q in ends]
    after = found.duration * np.append(1.0 + 1e-9, np.linspace(1.02, 1.3, 15))
    t = np.concatenate([found.t, after])
    tau = np.concatenate([found.tau, np.tile(rest[1].tau[:nu], (len(after), 1))])
    run = fa.simulate(
        arm, rest[0].q, np.zeros(arm.nv), t, torque=tau, method="Rodas4P",
        rtol=1e-7, progress=False,
    )  # fmt: skip
    return run, fa.tip_pose(arm, rest[1].q)[:3, 3]


# refusals


def of_two(arm: fa.Arm, path: Any, **options: Any) -> Any:
    given = {"limits": {"torque": [300.0, 120.0]}, **options}
    return lambda: time_optimal(arm, path, **given)


RIGID = fa.library.farid_two_link(elements=0, joint_stiffness=None)
BAD: list[tuple[list[str], Any]] = [
    (
        ["scheme is given for a flexible arm"],
        of_two(ARM, LINE, search={"scheme": "midpoint"}),
    ),
    (
        ["solver is given for a rigid arm", "intervals, scheme"],
        of_two(RIGID, LINE, search={"solver": "ipopt"}),
    ),
    (
        ["path is one of the joints", "two postures"],
        of_two(ARM, paths.joint_path([[0.1, 0.2], [0.3, 0.4]], kind="straight")),
    ),
    (["path has shape (3, 2)"], of_two(ARM, np.zeros((3, 2)))),
    (
        ["torque_rate is given", "between two postures", 'cost="time"'],
        of_two(ARM, np.eye(2), limits={"torque": 300.0, "torque_rate": 1e3}),
    ),
    (["start is given without a path"], of_two(ARM, np.eye(2), start=[0.0, 0.0])),
    (["pre_actuation is given"], of_two(ARM, np.eye(2), search={"pre_actuation": 0.1})),
    (
        ["intervals is 2.5", "whole number"],
        of_two(ARM, np.eye(2), search={"intervals": 2.5}),
    ),
    (["tip_tolerance is 0.0"], of_two(ARM, LINE, start=ELBOW_UP, tip_tolerance=0.0)),
    (
        ["limits.torque changes along the motion"],
        of_two(ARM, LINE, start=ELBOW_UP, limits={"torque": lambda q: [300.0, 120.0]}),
    ),
    (
        ["force of 'link1'", "to hold the arm"],
        of_two(ARM, LINE, start=ELBOW_UP, limits={"torque": 100.0}),
    ),
    (["out of reach"], of_two(ARM, paths.line([1.8, 0.2], [2.5, 0.7]), start=ELBOW_UP)),
    (
        ["fidelity"],
        of_two(fa.library.cibicik_egeland(fidelity="linear"), np.zeros((2, 4))),
    ),
]


@pytest.mark.parametrize(("words", "call"), BAD, ids=[w[0][:24] for w, _ in BAD])
def test_bad_input_is_refused(words: list[str], call: Any) -> None:
    argument_refused(words, call)


def test_a_search_that_stops_early_says_so() -> None:
    with pytest.warns(fa.ConvergenceWarning, match="iterations"):
        found = time_optimal(ARM, LINE, search={"max_iterations": 3}, **THESIS)
    assert not found.success
    assert found.status == "iterations"
    assert found.violation > 0.0
    assert found.verification is not None
    with pytest.raises(fa.ConvergenceError):
        found.check()


def test_a_goal_that_is_not_reached_warns() -> None:
    """One linear program is too few; both starts and the best motion are there."""
    ends = [[0.2, 1.0], [0.6, 0.8]]
    with pytest.warns(fa.ConvergenceWarning, match="none of 2 starts") as told:
        found = time_optimal(
            fa.library.farid_two_link(elements=1), ends,
            limits=THESIS["limits"], tip_tolerance=1e-9,
            search={"intervals": 4, "max_iterations": 1},
        )  # fmt: skip
    assert found.status == "iterations" and not found.success
    assert [start.success for start in found.starts] == [False, False]
    assert np.isfinite(found.tau).all()
    assert told[0].filename == __file__


def test_a_search_that_failed_has_no_duration(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a gap of the curve, not a point of it."""
    arm, line = fa.library.farid_two_link(), paths.line([1.8, 0.2], [1.6, 0.7])

    def search(arm: Any, path: Any, tip_tolerance: float, **_: Any) -> Any:
        fine = tip_tolerance > 0.01
        errors = SimpleNamespace(tip=tip_tolerance)
        status = "solved" if fine else "failed"
        return SimpleNamespace(duration=0.4, success=fine, status=status, errors=errors)

    module = sys.modules["flexarm.optimize._minimum_time.trade_offs"]
    monkeypatch.setattr(module, "time_optimal", search)
    found = optimize.trade_off(arm, line, [0.1, 0.001])
    assert_allclose(found.duration, [0.4, np.nan])
    assert_allclose(found.tip_error, [0.1, 0.001])
    assert not found.success
    assert found.message == "1 of 2 searches reached their tolerance"


def test_a_limit_below_is_named() -> None:
    """Gravity pulls an arm that leans to the left below its least torque."""
    arm = fa.library.planar_chain(2)
    middle = np.array([np.pi - 0.3, 0.6])
    tip = fa.tip_pose(arm, middle)[:2, 3]
    with pytest.raises(fa.ArgumentError) as refusal:
        optimize.time_optimal(
            arm,
            paths.line(tip, tip + np.array([0.0, 0.1])),
            limits={"torque": [[-1.25, -99.0], [77.0, 99.0]]},
            start=middle,
        )
    assert "-1.25" in str(refusal.value)
    assert "77" not in str(refusal.value)
