"""Forces that lead the tip along a trajectory: shooting, rigid arms, refusals."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import argument_refused, refused
from test_stable_inversion import REACH, reach_line, spatial

import flexarm as fa
from flexarm import optimize
from flexarm.errors import ArgumentError, ConvergenceError, ConvergenceWarning
from flexarm.optimize import paths, track
from flexarm.optimize._tracking.shooting import Shooting, windows_of
from flexarm.optimize._tracking.tip_task import TipTask
from flexarm.optimize._tracking.tip_trajectory import timed
from flexarm.optimize._verify import verify

TWO = fa.library.farid_two_link()
UP = fa.library.poses(TWO)["A"]
LINE = paths.line([1.8, 0.2], [1.6, 0.7])


def shot(path: Any = LINE, T: Any = 0.5, arm: fa.Arm = TWO, **k: Any) -> Any:
    return track(arm, path, T, **{"start": UP[: arm.nu], **k})


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


def test_collocation_finds_calm_forces_within_the_tolerance() -> None:
    pytest.importorskip("casadi")
    few = {"intervals": 30}
    calm = shot(method="collocation", search=few)
    exact = shot(method="stable inversion", check=False)
    assert calm.success
    assert (calm.errors.tip < 5e-5).all()
    assert calm.verification.path_error.max() < 5e-5
    assert calm.verification.final_error < 7e-5
    # no peaks where the third derivative of the trajectory jumps
    at = np.linspace(-0.1, 0.6, 701)
    steps = [np.abs(np.diff([m.torque(t)[0] for t in at])).max() for m in (calm, exact)]
    assert steps[0] < 0.2 * steps[1]
    far = shot(method="collocation", search=few, tip_tolerance=5e-4, check=False)
    assert far.objective < calm.objective


@pytest.mark.slow
def test_collocation_of_a_spatial_arm() -> None:
    pytest.importorskip("casadi")
    arm = spatial()
    motion = track(arm, reach_line(arm), 0.8, method="collocation", start=REACH)
    assert motion.success
    assert motion.verification.path_error.max() < 5e-5


# trajectories


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


def test_inputs_are_not_changed() -> None:
    s = paths.time_law("cycloidal", np.linspace(0.0, 1.0, 30), 1.0).s
    points = LINE(s).position
    start = UP.copy()
    copies = points.copy(), start.copy()
    shot(points, 0.5, start=start, law="quintic", check=False)
    assert (points == copies[0]).all()
    assert (start == copies[1]).all()


@pytest.mark.parametrize("method", ["shooting", "stable inversion"])
def test_a_rigid_arm_takes_inverse_dynamics(method: str) -> None:
    arm = fa.library.planar_chain(2, length=1.0)
    motion = track(arm, LINE, 0.5, method=method, start=[0.5, -0.9])
    assert motion.method == "inverse dynamics"
    tau = arm.inverse_dynamics(motion.q, motion.qd, motion.qdd)
    assert motion.tau == pytest.approx(tau, abs=1e-12)
    s, sd, _ = paths.time_law("cycloidal", motion.t, 0.5)
    assert np.abs(motion.tip - LINE(s).position).max() < 1e-12
    rate = arm.node_velocity(motion.q, motion.qd, frame="base")[:, 3:]
    assert np.abs(rate - LINE(s).first * sd[:, np.newaxis]).max() < 1e-12
    assert motion.verification.path_error.max() < 1e-5


def test_rigid_gears_are_rigid() -> None:
    bare = fa.library.planar_chain(2, length=1.0)
    drive = fa.Drive(np.inf, gear_ratio=10.0, rotor_inertia=0.01)
    bodies = [b.replace(joint=b.joint.replace(drive=drive)) for b in bare.bodies]
    arm = bare.replace(bodies=bodies)
    motion = track(arm, LINE, 0.5, start=[0.5, -0.9])
    assert motion.method == "inverse dynamics"
    assert motion.verification.path_error.max() < 1e-5


def test_a_rigid_spatial_arm_with_a_joint_to_spare() -> None:
    arm = fa.library.puma560()
    q = np.array([0.1, 0.7, -2.5, 0.2, 0.8, 0.0])
    begin = fa.tip_pose(arm, q)[:3, 3]
    motion = track(arm, paths.line(begin, begin - [0.1, 0.05, 0.1]), 1.0, start=q)
    assert motion.method == "inverse dynamics"
    assert motion.verification.path_error.max() < 1e-5


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


def test_axes_that_were_not_asked_for_have_no_error() -> None:
    link = fa.library.farid_planar(n_links=1, joint_stiffness=None)
    start = fa.tip_pose(link, np.r_[0.3, np.zeros(link.nq - 1)])[:3, 3]
    motion = track(
        link,
        paths.line(start, start + np.array([0.0, 0.1, 0.0])),
        0.5,
        axes="y",
        start=[0.3],
        method="stable inversion",
        law="ninth_degree",
    )
    assert np.isnan(motion.verification.path_error[[0, 2]]).all()
    assert motion.verification.path_error[1] < 1e-5
    assert motion.verification.final_error < 1e-5


def test_the_simulation_judges() -> None:
    # the tip goes as far as in half a second, but nothing can act in advance
    late = {"pre_actuation": 0.0, "intervals": 5}
    with pytest.warns(ConvergenceWarning, match="strays by 0.0"):
        motion = shot(T=0.25, search=late)
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


# refusals


def test_paths_that_cannot_be_followed() -> None:
    far = paths.line([1.8, 0.2], [2.3, 0.7])
    for method in ("shooting", "stable inversion"):
        argument_refused(
            ["out of reach beyond s = ", "(at t = 0.2"],
            lambda m=method: shot(far, method=m),
        )
    through = paths.line([1.5, 0.0], [-1.5, 0.0])
    with pytest.raises(ArgumentError, match=r"singular|out of reach"):
        shot(through, start=[0.7, -1.4])
    link = fa.library.farid_planar(n_links=1)
    argument_refused(
        ["out of reach or leads through a singular posture at t = ", "axes y"],
        lambda: track(link, paths.line([1.0, 0.3], [0.0, 2.3]), 1.0, axes="y"),
    )


@pytest.mark.parametrize(
    ("path", "T", "words"),
    [
        (LINE, None, ["duration is missing"]),
        (LINE, -1.0, ["duration is -1.0"]),
        (np.zeros((3, 3)), 0.5, ["path has shape (3, 3)", "six or more"]),
        (np.zeros((8, 4)), 0.5, ["path has shape (8, 4)"]),
        (np.full((8, 3), np.nan), 0.5, ["path[0, 0] is nan"]),
        (([0, 1, 3, 2, 4, 5], np.zeros((6, 3))), None, ["do not increase", "2 s"]),
        (([0, 1, 2], np.zeros((6, 3))), None, ["times of the path have shape (3,)"]),
        ((np.arange(6.0), np.zeros((6, 3))), 1.0, ["duration is 1 s", "5 s"]),
        (lambda t: [1.8], 0.5, ["gives shape (1,)"]),
        (lambda t: [np.inf if t > 0.1 else 1.8, 0.2], 0.5, ["not finite at t = 0.1"]),
        (paths.joint_path([[0, 0], [1, 1]]), 0.5, ["joints", "paths.line"]),
        (None, 0.5, ["path is None"]),
        (lambda t: LINE(t / 0.5).position, 0.5, ["starts with 1.08 m/s", "rest"]),
        (LINE(np.linspace(0, 1, 101)).position, 0.5, ["ends with 1.08 m/s"]),
    ],
)
def test_bad_trajectories(path: Any, T: Any, words: list[str]) -> None:
    argument_refused(words, lambda: shot(path, T))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "newton"}, ["method is 'newton'", "'shooting'"]),
        ({"law": "linear"}, ["law is 'linear'", "'quintic'"]),
        ({"search": {"scheme": "gauss"}}, ["scheme is given", "'shooting'", "steps"]),
        (
            {"method": "stable inversion", "search": {"steps": 3}},
            ["steps is given", "'stable inversion'", "pre_actuation"],
        ),
        (
            {"method": "collocation", "power": 4.0},
            ["power is given", "'collocation'", "'shooting' alone"],
        ),
        ({"search": {"intervals": 0}}, ["intervals is 0"]),
        ({"search": {"steps": 2.5}}, ["steps is 2.5"]),
        (
            {"method": "collocation", "search": {"post_actuation": 0.0}},
            ["post_actuation is 0", "rest"],
        ),
        ({"method": "collocation", "tip_tolerance": 0}, ["tip_tolerance is 0"]),
        (
            {"search": {"pre_actuation": 0.25}},
            ["pre_actuation is 0.25", "multiple of 0.1"],
        ),
        ({"search": {"pre_actuation": -0.1}}, ["pre_actuation is -0.1"]),
        ({"weights": (1.0,)}, ["weights is (1.0,)"]),
        ({"power": 1.0}, ["power is 1"]),
        ({"search": {"solver": "adam"}}, ["solver is 'adam'", "bfgs"]),
        ({"search": {"tolerance": 0.0}}, ["tolerance is 0.0"]),
        ({"start": [0.5]}, ["start has shape (1,)", "(2,)"]),
        ({"axes": "xz"}, ["axes is 'xz'", "'xy' alone"]),
        ({"axes": "xx"}, ["axes is 'xx'"]),
        ({"axes": 1}, ["axes is 1"]),
    ],
)
def test_bad_options(options: dict[str, Any], words: list[str]) -> None:
    argument_refused(words, lambda: shot(**options))


def test_arms_that_are_none_for_tracking() -> None:
    linear = TWO.replace(fidelity="linear")
    argument_refused(["linear fidelity"], lambda: shot(arm=linear))
    argument_refused(["arm is int"], lambda: track(3, LINE, 0.5))
    ball = fa.Joint("subspace", subspace=np.eye(6)[:, :3])
    body = fa.RigidBody("ball", ball, mass=1.0, inertia=(1, 1, 1))
    argument_refused(["motion subspace"], lambda: track(fa.Arm([body]), LINE, 0.5))


def test_accelerations_of_the_frequency_domain() -> None:
    """They are the derivatives of the velocities, which are those of the positions."""
    arm = fa.library.farid_two_link()
    start = fa.library.poses(arm)["A"]
    line = paths.line([1.8, 0.2], [1.75, 0.25])
    motion = optimize.track(
        arm, line, 0.8, start=start, method="frequency domain", check=False
    )
    h = motion.t[1] - motion.t[0]
    inner = slice(len(motion.t) // 3, -len(motion.t) // 3)
    for x, rate in ((motion.q, motion.qd), (motion.qd, motion.qdd)):
        slope = np.gradient(x, h, axis=0)[inner, : arm.nu]
        assert_allclose(slope, rate[inner, : arm.nu], atol=0.01 * np.abs(slope).max())
