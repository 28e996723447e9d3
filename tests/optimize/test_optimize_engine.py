"""Sparse programs, their solvers, and motions as unknowns: against closed forms."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from program_derivatives import derivative_errors
from refusals import refused

import flexarm as fa
from flexarm.optimize import paths
from flexarm.optimize._collocation.local import EquationOfMotion, Squares
from flexarm.optimize._collocation.points import AtPoints, Gathered, Linear
from flexarm.optimize._collocation.tip import (
    Ball,
    TipHeld,
    TipOnPath,
    TipPlace,
    TipRate,
)
from flexarm.optimize._collocation.transcription import (
    Collocation,
    Grid,
    answer,
    tableau,
)
from flexarm.optimize._parts import Timings
from flexarm.optimize._programs.program import NonlinearProgram
from flexarm.optimize._programs.solution import Solution
from flexarm.optimize._programs.solvers import solve

TWO = fa.library.farid_two_link()
SPATIAL = fa.library.cibicik_egeland()
FREE = fa.library.pendulum(mass=2.0, com=0.3).replace(gravity=(0.0, 0.0, 0.0))
INERTIA = float(fa.mass_matrix(FREE, [0.0])[0, 0])
HANGING = fa.library.pendulum(mass=2.0, com=0.3)


def moved(motion: Collocation, z: np.ndarray, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return z + 0.1 * motion.scale * rng.normal(size=motion.n)


def swing(
    arm: fa.Arm, duration: Any = 1.0, grid: Grid | None = None, limit: float = np.inf
) -> tuple[Collocation, NonlinearProgram, np.ndarray]:
    """One radian from rest to rest: least effort, or with free duration least time."""
    motion = Collocation(arm, grid or Grid(main=12), duration=duration)
    motion.fix_state(0, [-1.0], [0.0])
    motion.fix_state(-1, [0.0], [0.0])
    motion.limit_forces(-limit, limit)
    first = duration[1] if motion.free else duration
    z0 = motion.guess(lambda t: -1.0 + t[:, None] / first)
    law = AtPoints(motion, EquationOfMotion(arm))
    law.size_by(z0)
    cost: Any = AtPoints(motion, Squares.of_forces(arm), integrate=True)
    if motion.free:
        cost = Gathered(Squares([1.0 / first]), [[motion.T]])
    return motion, motion.program([cost], [law, motion.continuity()]), z0


@pytest.mark.parametrize("scheme", ["gauss", "radau"])
@pytest.mark.parametrize("points", [1, 2, 3, 4, 5])
def test_tableau_has_its_order(scheme: str, points: int) -> None:
    c, A, b = tableau(scheme, points)
    order = 2 * points - (scheme == "radau")
    for k in range(order):
        assert b @ c**k == pytest.approx(1.0 / (k + 1), abs=1e-13)
    for k in range(points):
        assert_allclose(A @ c**k, c ** (k + 1) / (k + 1), atol=1e-13)


def test_tableau_is_that_of_the_books() -> None:
    radau = tableau("radau", 2)
    assert_allclose(radau.A, [[5 / 12, -1 / 12], [3 / 4, 1 / 4]], atol=1e-14)
    root = np.sqrt(3.0) / 6.0
    assert_allclose(tableau("gauss", 2).c, [0.5 - root, 0.5 + root])
    # average acceleration: positions take a quarter of both
    _, A, b = tableau("trapezoid")
    assert_allclose(b @ A, [0.25, 0.25])


@pytest.mark.parametrize("scheme", ["gauss", "radau", "trapezoid"])
@pytest.mark.parametrize("duration", [0.5, (0.3, 0.5, 1.0)])
def test_derivatives_of_a_motion_are_exact(scheme: str, duration: Any) -> None:
    grid = Grid(
        main=4, before=2, before_share=0.2, after=2, after_share=0.1, scheme=scheme,
    )  # fmt: skip
    motion = Collocation(TWO, grid, duration=duration)
    q = fa.library.poses(TWO)["A"]
    z = motion.guess(lambda t: q * (1.0 + 0.3 * t[:, None] ** 2))
    law = AtPoints(motion, EquationOfMotion(TWO))
    law.size_by(z)
    weights = np.linspace(0.1, 1.0, 3 * TWO.nv + TWO.nu)
    costs = [
        AtPoints(motion, Squares.of_forces(TWO), integrate=True),
        AtPoints(motion, Squares(weights, 0.3), integrate=True),
        AtPoints(motion, EquationOfMotion(TWO), integrate=True),
    ]
    program = motion.program(costs, [law, motion.continuity()])
    errors = derivative_errors(program, moved(motion, z))
    assert errors["gradient"] < 1e-8
    assert errors["jacobian"] < 1e-8
    assert errors["hessian"] < 1e-6


def test_derivatives_of_the_tip_are_exact() -> None:
    motion = Collocation(SPATIAL, Grid(main=3), duration=1.0)
    s, e = motion.add(4), motion.add(4, 3)
    q0 = fa.library.poses(SPATIAL)["initial"]
    z = motion.guess(lambda t: np.tile(q0, (len(t), 1)))
    z[s], z[e] = np.linspace(0.1, 0.9, 4), 0.01
    path = paths.arc([1.0, 0.0, 1.0], [1.2, 0.5, 1.1], [1.0, 1.0, 1.3])
    rate = Gathered(TipRate(SPATIAL), np.hstack([motion.q, motion.v, e]))
    terms: list[Any] = [
        Gathered(TipHeld(SPATIAL, path.start), np.hstack([motion.q, e])),
        Gathered(TipOnPath(SPATIAL, path), np.hstack([motion.q, s[:, None], e])),
        Gathered(Ball(), e, -np.inf, 1.0),
        rate,
    ]
    motion.resize(s, 0.5)
    motion.resize(motion.v, 1.0)
    errors = derivative_errors(motion.program([], terms[:3]), moved(motion, z))
    assert errors["jacobian"] < 1e-8
    # multipliers of a path have its third derivative, which is left out
    straight = paths.line(path.start, path.end)
    terms[1] = Gathered(
        TipOnPath(SPATIAL, straight), np.hstack([motion.q, s[:, None], e])
    )
    errors = derivative_errors(motion.program([], terms[:3]), moved(motion, z))
    assert errors["hessian"] < 1e-7
    errors = derivative_errors(motion.program([], [rate]), moved(motion, z))
    assert errors["jacobian"] < 1e-8


@pytest.mark.parametrize("scheme", ["gauss", "radau", "trapezoid"])
def test_least_effort_is_that_of_calculus(scheme: str) -> None:
    pytest.importorskip("casadi")
    # torque linear in time: J = 1/2 int tau^2 = 6 I^2 angle^2 / T^3
    motion, program, z0 = swing(FREE, grid=Grid(main=12, scheme=scheme))
    found = solve(program, z0)
    assert found.success
    exact = 6.0 * INERTIA**2
    error = 4.0 / 12.0**2 if scheme == "trapezoid" else 1e-6  # of second order
    assert found.objective == pytest.approx(exact, rel=error)
    at = motion.read(found.z)
    if scheme != "trapezoid":
        assert_allclose(at.tau[:, 0], 6.0 * INERTIA * (1.0 - 2.0 * at.t), atol=1e-4)


def test_least_time_is_that_of_two_constant_torques() -> None:
    pytest.importorskip("casadi")
    limit = 2.0
    exact = 2.0 * np.sqrt(INERTIA / limit)
    times = []
    for n in (10, 40):
        motion, program, z0 = swing(FREE, (0.1, 1.0, 5.0), Grid(main=n), limit)
        found = solve(program, z0)
        assert found.success
        times.append(motion.duration(found.z))
        assert np.abs(found.z[motion.tau]).max() <= limit * (1.0 + 1e-6)
    # torques that are linear between knots switch within one interval
    assert exact * (1.0 - 1e-6) < times[1] < times[0] < 1.06 * exact
    assert times[1] < 1.015 * exact


def test_torques_of_an_answer_do_the_motion_in_a_simulation() -> None:
    pytest.importorskip("casadi")
    motion, program, z0 = swing(HANGING, grid=Grid(main=30, points=3))
    found = solve(program, z0)
    at = motion.read(found.z)
    run = fa.simulate(HANGING, at.q[0], at.v[0], at.t, torque=at.tau, max_step=1e-3)
    assert_allclose(run.q, at.q, atol=1e-6)
    assert_allclose(run.qd, at.v, atol=1e-5)
    residual = fa.inverse_dynamics(HANGING, at.q, at.v, at.a) - at.tau
    assert np.abs(residual).max() < 1e-10


def test_errors_of_a_step_have_the_order_of_the_method() -> None:
    def miss(scheme: str, n: int) -> float:
        motion = Collocation(HANGING, Grid(main=n, scheme=scheme), duration=1.0)
        motion.fix_state(0, [0.5], [0.0])
        motion.limit_forces(0.0, 0.0)
        law = AtPoints(motion, EquationOfMotion(HANGING))
        program = motion.program([], [law, motion.continuity()])
        found = solve(
            program, motion.guess(lambda t: np.full((len(t), 1), 0.5)), tolerance=1e-11
        )
        exact = fa.simulate(HANGING, [0.5], [0.0], [0.0, 1.0], max_step=1e-3).q[-1]
        return float(np.abs(found.z[motion.q[-1]] - exact)[0])

    for scheme, order in (("gauss", 4), ("radau", 3), ("trapezoid", 2)):
        rate = np.log2(miss(scheme, 16) / miss(scheme, 32))
        assert rate == pytest.approx(order, abs=0.35)


def test_scipy_finds_what_ipopt_finds() -> None:
    pytest.importorskip("casadi")
    for grid in (Grid(main=4), Grid(main=12)):  # SLSQP, trust-constr
        _, program, z0 = swing(HANGING, grid=grid)
        ours = solve(program, z0, solver="scipy", tolerance=1e-8, max_iterations=2000)
        theirs = solve(program, z0, solver="ipopt", tolerance=1e-8)
        assert ours.success, ours.message
        assert ours.solver.startswith("scipy")
        assert theirs.solver == "ipopt"
        assert ours.objective == pytest.approx(theirs.objective, rel=1e-5)


def test_missing_casadi_is_named_before_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "casadi", None)
    _, program, z0 = swing(FREE, grid=Grid(main=4))
    found = solve(program, z0, solver="scipy")
    assert found.success
    assert found.solver == "scipy SLSQP"
    with pytest.raises(ImportError, match=r"flexarm\[casadi\]"):
        solve(program, z0)

    def searched(*args: object) -> None:
        pytest.fail("a search began")

    monkeypatch.setattr("flexarm.optimize._collocation.search.solve", searched)
    monkeypatch.setattr("flexarm.optimize._tracking.tip_collocation.solve", searched)
    begin = fa.library.poses(TWO)["A"]
    line = fa.optimize.paths.line([1.8, 0.2], [1.6, 0.7])
    limits = {"torque": [300.0, 120.0]}
    words = r"flexarm\[casadi\]\"; or search=\{\"solver\": \"scipy\"\}"
    with pytest.raises(ImportError, match=words):
        fa.optimize.time_optimal(TWO, line, limits=limits, start=begin)
    with pytest.raises(ImportError, match=words):
        fa.optimize.trajectory(TWO, begin[:2], begin[:2] + 0.1, duration=1.0)
    with pytest.raises(ImportError, match=words):
        fa.optimize.track(TWO, line, 1.0, start=begin, method="collocation")


def stopped(**options: Any) -> Solution:
    _, program, z0 = swing(HANGING, (0.1, 3.0, 5.0), limit=6.0)
    found = solve(program, z0, **options)
    assert not found.success
    assert np.isfinite(found.z).all()
    assert (found.z >= program.lower).all()
    assert (found.z <= program.upper).all()
    assert found.violation == program.violation(found.z)
    assert program.violation(z0) >= found.violation
    return found


@pytest.mark.parametrize("solver", ["ipopt", "scipy"])
def test_a_solver_that_stops_early_gives_its_best(solver: str) -> None:
    if solver == "ipopt":
        pytest.importorskip("casadi")
    found = stopped(max_iterations=3, solver=solver)
    assert found.status == "iterations"
    assert "max_iterations" in found.message
    found = stopped(time_limit=1e-9, solver=solver)
    assert found.status == "time"


@pytest.mark.parametrize("solver", ["ipopt", "scipy"])
def test_ctrl_c_ends_a_solver_with_its_best(solver: str) -> None:
    if solver == "ipopt":
        pytest.importorskip("casadi")

    def press(iteration: int, objective: float, violation: float) -> None:
        if iteration == 3:
            raise KeyboardInterrupt

    found = stopped(progress=press, solver=solver)
    assert found.status == "interrupted"
    assert found.iterations <= 5


def test_what_cannot_be_met_is_named() -> None:
    # 0.1 N m do not lift what takes 5.9
    _, program, z0 = swing(HANGING, limit=0.1)
    found = solve(program, z0)
    assert not found.success
    assert found.status in ("infeasible", "failed", "iterations")
    assert "is off by" in found.message
    assert found.violation > 1e-3


def test_progress_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    _, program, z0 = swing(HANGING, (0.1, 1.0, 5.0), limit=10.0)
    seen: list[tuple[int, float, float]] = []
    found = solve(program, z0, progress=lambda *x: seen.append(x))
    assert seen[-1][1] == pytest.approx(found.objective, rel=1e-6)
    assert [x[0] for x in seen] == sorted({x[0] for x in seen})
    assert not capsys.readouterr().err
    solve(program, z0, progress=True)
    assert "objective" in capsys.readouterr().err


def test_gauss_newton_keeps_what_is_convex() -> None:
    motion = Collocation(FREE, Grid(main=3), duration=(0.5, 1.0, 2.0))
    z = moved(motion, motion.guess(lambda t: t[:, None]))
    law = AtPoints(motion, EquationOfMotion(FREE))
    ball = Gathered(Ball(), motion.q[:3].T, -np.inf, 1.0)
    time = Gathered(Squares([2.0]), [[motion.T]])
    program = motion.program(
        [time], [law, motion.continuity(), ball], gauss_newton=True
    )
    upper = program.hessian_pattern.matrix(
        program.hessian(z, 1.0, np.full(program.m, -1.0))
    ).toarray()
    assert upper[motion.T, motion.T] == 2.0
    assert np.count_nonzero(upper) == 1  # negative multipliers are none of a minimum
    upper = program.hessian_pattern.matrix(
        program.hessian(z, 1.0, np.full(program.m, 1.0))
    ).toarray()
    assert np.count_nonzero(upper) == 4


def test_linear_rows_are_limits_of_rates() -> None:
    motion, program, z0 = swing(FREE)
    h = float(motion.steps(z0)[0])
    rows = np.zeros((len(motion.tau) - 1, motion.n))
    for k in range(len(rows)):
        rows[k, motion.tau[k : k + 2, 0]] = -1.0 / h, 1.0 / h
    limit = 0.9 * 12.0 * INERTIA  # below the rate of the torque of least effort
    rates = Linear(rows, -limit, limit)
    limited = NonlinearProgram(
        program.lower, program.upper, program.costs, [*program.constraints, rates]
    )
    found = solve(limited, z0)
    assert not found.success  # torques of lower rate do not get there
    rates = Linear(rows, -1.05 * limit / 0.9, 1.05 * limit / 0.9)
    limited = NonlinearProgram(
        program.lower, program.upper, program.costs, [*program.constraints, rates]
    )
    assert solve(limited, z0).success


def test_an_answer_says_how_it_was_found() -> None:
    pytest.importorskip("casadi")
    motion, program, z0 = swing(FREE)
    found = solve(program, z0)
    result = answer(motion, found, method="test", timings=Timings(total=1.0))
    assert result.success
    assert result.check() is result
    assert result.variables == motion.n
    assert result.tau.shape == (13, 1)
    assert result.duration == 1.0


def test_bad_questions_are_refused() -> None:
    rod = fa.RigidBody(
        "rod", fa.Joint("spherical"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1)
    )
    grid = Grid(main=4)
    cases: list[tuple[list[str], Any]] = [
        (["scheme", "euler"], lambda: Grid(scheme="euler")),
        (["points", "9"], lambda: Grid(points=9)),
        (["main is 0"], lambda: Grid(main=0)),
        (["clustered is 1.0"], lambda: Grid(clustered=1.0)),
        (["before", "both or neither"], lambda: Grid(before=3)),
        (["after", "none below zero"], lambda: Grid(after=3, after_share=-1.0)),
        (["duration"], lambda: Collocation(FREE, grid, duration=-1.0)),
        (["4 positions"], lambda: Collocation(fa.Arm([rod]), grid, duration=1.0)),
        (["arm is int"], lambda: Collocation(3, grid, duration=1.0)),  # type: ignore[arg-type]
    ]
    _, program, z0 = swing(FREE)
    cases += [
        (["z0", "shape"], lambda: solve(program, z0[1:])),
        (["z0", "nan"], lambda: solve(program, z0 * np.nan)),
        (["solver", "snopt"], lambda: solve(program, z0, solver="snopt")),
        (["tolerance"], lambda: solve(program, z0, tolerance=0.0)),
        (["max_iterations"], lambda: solve(program, z0, max_iterations=0)),
        (["unknown 0", "bounds"], lambda: NonlinearProgram([1.0], [0.0], [], [])),  # type: ignore[arg-type]
    ]
    for words, call in cases:
        refused(fa.ArgumentError, words, call)


def test_second_derivatives_of_some_axes_of_the_tip() -> None:
    """Multipliers belong to the axes that are asked for, in their order."""
    arm = fa.library.cibicik_egeland(n_modes=1)
    rng = np.random.default_rng(3)
    q, m = 0.3 * rng.normal(size=(2, arm.nq)), rng.normal(size=(2, 2))
    whole = np.zeros((2, 3))
    whole[:, [2, 0]] = m
    expected = TipPlace(arm).hessian(q, whole)
    assert_allclose(TipPlace(arm, [2, 0]).hessian(q, m), expected)


def test_multipliers_balance_the_gradient() -> None:
    """Of SciPy as of Ipopt: the gradient of the Lagrangian is zero inside bounds."""
    pytest.importorskip("casadi")
    arm = fa.library.pendulum(mass=2.0, com=0.3)
    motion = Collocation(arm, Grid(main=12), duration=1.0)
    motion.fix_state(0, [-1.0], [0.0])
    motion.fix_state(-1, [0.0], [0.0])
    z0 = motion.guess(lambda t: -1.0 + t[:, None])
    law = AtPoints(motion, EquationOfMotion(arm))
    law.size_by(z0)
    cost = AtPoints(motion, Squares.of_forces(arm), integrate=True)
    program = motion.program([cost], [law, motion.continuity()])
    free = program.lower < program.upper
    for solver in ("scipy", "ipopt"):
        found = solve(program, z0, solver=solver, tolerance=1e-9, max_iterations=2000)
        assert found.success, found.message
        J = program.jacobian_pattern.matrix(program.jacobian(found.z))
        slope = program.gradient(found.z)
        balance = slope + J.T @ found.multipliers
        assert np.abs(balance[free]).max() < 1e-4 * np.abs(slope).max()
