"""Nodal forces of least squares: E7 of the thesis, derivatives and searches."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from refusals import argument_refused, refused

import flexarm as fa
from flexarm.errors import ConvergenceError, ConvergenceWarning
from flexarm.optimize import paths
from flexarm.optimize._excess import PATH, REST
from flexarm.optimize._tracking.tip_task import TipTask
from flexarm.optimize._tracking.tip_trajectory import timed
from flexarm.optimize._verify import verify
from flexarm.reference.tracking import shooting
from flexarm.reference.tracking._nodal_forces import Shooting, windows_of

TWO = fa.library.farid_two_link()
UP = fa.library.poses(TWO)["A"]
LINE = paths.line([1.8, 0.2], [1.6, 0.7])


def shot(path: Any = LINE, T: Any = 0.5, arm: fa.Arm = TWO, **k: Any) -> Any:
    return shooting(arm, path, T, **{"start": UP[: arm.nu], **k})


@lru_cache
def plain() -> Any:
    """E7: the 28 variables of the thesis."""
    return shot()


# E7 (L2967-3008)


def test_e7_with_the_variables_of_the_thesis() -> None:
    motion = plain()
    assert motion.success
    assert motion.variables == 28
    # the digest, by average acceleration with 5 ms
    assert 1e3 * motion.errors.tip == pytest.approx([0.0994, 0.2659], abs=6e-5)
    assert 1e6 * motion.objective == pytest.approx(0.583, abs=5e-4)
    # nodal torques; the last ones are weakly determined
    first = [177.5, 175.4, 206.5, 305.5, 387.2, 375.7, 284.3, 148.8, 23.8, -46.5]
    second = [69.7, 68.7, 77.7, 111.5, 141.1, 140.1, 113.8, 69.4, 23.5, -5.6]
    ours = motion.tracking.nodal_tau[:10]
    assert np.abs(ours - np.stack([first, second], axis=-1)).max() < 0.051
    assert motion.iterations <= 4
    assert motion.tracking.simulations <= 5
    assert motion.tracking.nodes == pytest.approx(np.arange(-2, 13) * 0.05)


def test_e7_verified_below_the_errors_of_the_thesis() -> None:
    # 0.1 and 0.268 mm (L3004), here in a simulation of a quarter of the step or less:
    # fourth powers of the errors weigh the largest ones more than the squares of (7.18)
    motion = shot(power=4.0, search={"steps": 20})
    assert motion.success
    assert motion.variables == 28
    assert motion.verification.step <= 0.25 * 2.5e-3
    error = 1e3 * motion.verification.path_error
    assert error[0] < 0.1
    assert error[1] < 0.27
    # sums of squares, finer steps: what the thesis minimizes has larger errors
    squares = shot(search={"steps": 20})
    assert 1e3 * squares.errors.tip == pytest.approx([0.1018, 0.2769], abs=6e-5)
    assert 1e3 * squares.verification.path_error[1] > error[1]


def test_e7_with_finer_nodes() -> None:
    motion = shot(search={"intervals": 50, "steps": 8})
    assert motion.success
    assert motion.verification.step <= 0.25 * 1.25e-3
    run = motion.verification.trajectory
    main = run.t >= -1e-9
    place = LINE(paths.time_law("cycloidal", run.t.clip(0.0, 0.5), 0.5).s).position
    off = np.abs(run.tip - place).max(axis=1)
    assert off[main].max() < 1e-5
    # the time before the motion costs nothing, and is not left out
    assert 1e-4 < off.max() < 2e-4
    assert motion.verification.path_error.max() == pytest.approx(off.max(), rel=1e-6)
    assert motion.verification.final_error < 1e-5
    # three steps, half a second
    assert motion.tracking.simulations <= 6


def test_e7_without_pre_actuation() -> None:
    motion = shot(search={"pre_actuation": 0.0})
    assert motion.variables == 24
    error = 1e3 * motion.errors.tip
    assert error == pytest.approx([3.32, 3.76], abs=6e-3)


@pytest.mark.parametrize(
    ("elements", "steps", "expected"),
    [(1, 10, [0.0978, 0.2648]), (4, 10, [0.0995, 0.2659]), (2, 5, [0.0933, 0.2446])],
)
def test_e7_with_other_elements_and_steps(
    elements: int, steps: int, expected: list[float]
) -> None:
    motion = shot(
        arm=fa.library.farid_two_link(elements=elements), search={"steps": steps}
    )
    assert 1e3 * motion.errors.tip == pytest.approx(expected, abs=6e-5)


# derivatives and searches


def problem(smoothing: float = 0.0) -> Shooting:
    task = TipTask(TWO, timed(LINE, 0.5, "cycloidal"), UP, None)
    return Shooting(task, windows_of(0.5, 10, (0.2, 0.2), 5), (1.0, 2.0), smoothing)


@pytest.mark.parametrize("power", [2.0, 4.0])
def test_gradient_is_exact(power: float) -> None:
    ours = problem(1e-6)
    x = ours.first
    run = ours.motion(x)
    assert run is not None
    if power != 2.0:
        ours.raise_power(power, run.q)
    J = ours.jacobian(run)
    for k in (0, 7, 27):
        by = np.eye(28)[k] * 0.01
        ahead, back = (ours.motion(x + s * by) for s in (1.0, -1.0))
        assert ahead is not None
        assert back is not None
        change = ours.residual(x + by, ahead.q) - ours.residual(x - by, back.q)
        assert np.abs(change / 0.02 - J[:, k]).max() < 2e-7 * np.abs(J[:, k]).max()


def test_gradient_is_that_of_trajectory_sensitivities() -> None:
    ours = problem()
    run = ours.motion(ours.first)
    assert run is not None
    rest = np.zeros(TWO.nv)
    theirs = fa.trajectory_sensitivities(
        TWO, ours.q0, rest, ours.t, torque=run.tau, method="newmark"
    )
    cost = np.zeros((len(ours.t), TWO.nv))
    residual = ours.residual(ours.first, run.q).reshape(-1, 2) * ours.scale
    tip = TWO.jacobian(run.q[ours.on], frame="base")[:, 3:5]
    cost[ours.on] = np.einsum("ni,nij->nj", residual, tip)
    gradient = theirs.adjoint(q=cost).torque
    by_nodes = np.einsum("nu,nuc->c", gradient, ours.by)
    mine = ours.jacobian(run).T @ ours.residual(ours.first, run.q)
    assert np.abs(by_nodes - mine).max() < 1e-9 * np.abs(mine).max()


def test_bfgs_takes_hundreds_of_simulations() -> None:
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        motion = shot(search={"solver": "bfgs", "max_iterations": 12}, check=False)
    assert motion.status == "iterations"
    assert not motion.success
    assert motion.tracking.simulations > 12 * 29
    assert motion.objective > 10.0 * plain().objective
    history = motion.tracking.history
    assert (np.diff(history) <= 0.0).all()
    with pytest.raises(ConvergenceError, match="shooting") as caught:
        motion.check()
    assert caught.value.result is motion


@pytest.mark.slow
def test_bfgs_arrives_at_the_same_optimum() -> None:
    motion = shot(search={"solver": "bfgs", "max_iterations": 400, "tolerance": 1e-8})
    assert motion.objective == pytest.approx(plain().objective, rel=1e-3)
    assert motion.tracking.simulations > 50 * plain().tracking.simulations


def test_limits_end_a_search_with_the_best_so_far() -> None:
    with pytest.warns(ConvergenceWarning, match="1 iterations are done"):
        one = shot(search={"max_iterations": 1}, check=False)
    assert one.status == "iterations"
    assert one.objective < 1e-3 * one.tracking.history[0]
    with pytest.warns(ConvergenceWarning, match="time limit"):
        short = shot(search={"time_limit": 1e-9}, check=False)
    assert short.status == "time"


def test_a_simulation_that_diverges_is_no_step(monkeypatch: Any) -> None:
    whole, calls = Shooting.motion, []

    def failing(self: Shooting, x: Any) -> Any:
        calls.append(0)
        return None if len(calls) == 2 else whole(self, x)

    monkeypatch.setattr(Shooting, "motion", failing)
    motion = shot(check=False)
    assert motion.success
    assert motion.objective == pytest.approx(plain().objective, rel=1e-6)
    monkeypatch.setattr(Shooting, "motion", lambda self, x: None)
    refused(ConvergenceError, ["diverges", "more steps"], shot)


def test_ctrl_c_returns_the_best_so_far(monkeypatch: Any) -> None:
    whole, calls = Shooting.jacobian, []

    def stopped(self: Shooting, run: Any) -> Any:
        calls.append(0)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return whole(self, run)

    monkeypatch.setattr(Shooting, "jacobian", stopped)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        motion = shot(check=False)
    assert motion.status == "interrupted"
    assert motion.objective < 1.01 * plain().objective


def test_smoothing_calms_the_forces() -> None:
    rough, smooth = (
        shot(search={"intervals": 40, "steps": 4}, smoothing=s, check=False)
        for s in (0.0, 1e-7)
    )
    bends = [
        np.square(np.diff(m.tracking.nodal_tau, 2, axis=0)).sum()
        for m in (rough, smooth)
    ]
    assert bends[1] < 0.2 * bends[0]
    assert smooth.errors.tip.max() < 1e-5


def test_the_same_trajectory_in_four_ways() -> None:
    def place(t: Any) -> Any:
        s = paths.time_law("cycloidal", t, 0.5).s
        return LINE(np.clip(s, 0.0, 1.0)).position

    t = np.linspace(0.0, 0.5, 201)
    ways = [
        (lambda t: place(t), 0.5),
        (lambda t: place(float(t))[:2], 0.5),
        (place(t), 0.5),
        ((t + 3.0, place(t)[:, :2]), None),
    ]
    for path, T in ways:
        motion = shot(path, T, check=False)
        off = motion.tracking.nodal_tau - plain().tracking.nodal_tau
        assert np.abs(off[:-1]).max() < 1e-3
        assert motion.duration == pytest.approx(0.5)


def test_the_simulation_judges() -> None:
    # the tip goes as far as in half a second, but nothing can act in advance
    late = {"pre_actuation": 0.0, "intervals": 5}
    with pytest.warns(ConvergenceWarning, match="speed of the tip at rest by"):
        motion = shot(T=0.25, search=late)
    assert set(motion.verification.excess) == {PATH, REST}
    assert motion.status == "failed"
    assert not motion.success


def test_spinning_links_warn_once() -> None:
    t = np.linspace(0.0, 1.0, 101)
    s = paths.time_law("ninth_degree", t, 1.0).s
    with pytest.warns() as told:
        shot((0.02 * t, LINE(s).position), None, search={"max_iterations": 3})
    stiff = [w for w in told if w.category is fa.errors.StiffeningWarning]
    assert len(stiff) <= 2  # one for each link
    assert {w.filename for w in told} == {__file__}


def test_the_verification_is_independent() -> None:
    motion = plain()
    assert motion.verification.trajectory.method == "rk4"
    # the Newmark error of 5 ms steps shows
    difference = motion.verification.path_error[:2] - motion.errors.tip
    assert 5e-6 < np.abs(difference).max() < 2e-5
    # very fast modes are damped, not resolved
    arm = fa.library.farid_two_link(bending_stiffness=1e9, joint_stiffness=1e6)
    q = fa.equilibrium(arm, UP).q
    hold = fa.statics.holding_forces(arm, q, held="motors")
    t, tau = np.array([0.0, 0.01]), np.tile(hold, (2, 1))
    found = verify(arm, t, q, 0.0 * q, tau, 0.01)
    assert found.trajectory.method == "ROS34PW2"
    assert np.isnan(found.path_error).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"search": {"scheme": "gauss"}}, ["scheme is given", "'shooting'", "steps"]),
        ({"search": {"steps": 2.5}}, ["steps is 2.5"]),
        (
            {"search": {"pre_actuation": 0.25}},
            ["pre_actuation is 0.25", "multiple of 0.1"],
        ),
        ({"weights": (1.0,)}, ["weights is (1.0,)"]),
        ({"power": 1.0}, ["power is 1"]),
        ({"search": {"solver": "adam"}}, ["solver is 'adam'", "bfgs"]),
    ],
)
def test_bad_options(options: dict[str, Any], words: list[str]) -> None:
    argument_refused(words, lambda: shot(**options))
