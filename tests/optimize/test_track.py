"""Forces that lead the tip along a trajectory: flexible and rigid arms, refusals."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from campaigns.track import track_row
from numpy.testing import assert_allclose
from refusals import argument_refused
from tip_cases import BY_NAME, REACH, reach_line, spatial

import flexarm as fa
from flexarm.errors import ArgumentError, ConvergenceError, ConvergenceWarning
from flexarm.optimize import paths, track

TWO = fa.library.farid_two_link()
UP = fa.library.poses(TWO)["A"]
LINE = paths.line([1.8, 0.2], [1.6, 0.7])


def shot(path: Any = LINE, T: Any = 0.5, arm: fa.Arm = TWO, **k: Any) -> Any:
    return track(arm, path, T, **{"start": UP[: arm.nu], **k})


@lru_cache
def plain() -> Any:
    """E7, with least errors."""
    return shot()


# least squares


def test_e7_follows_to_micrometres() -> None:
    """As near as stable inversion, with fewer intervals; its forces are the same."""
    motion, exact = plain(), BY_NAME["stable inversion"](TWO, LINE, 0.5, start=UP)
    assert motion.success and motion.iterations <= 4
    assert motion.verification.path_error.max() < 3e-6
    assert motion.verification.final_error < 3e-6
    assert motion.errors.tip.max() < 3e-6
    smooth = [shot(law="ninth_degree", start=UP, check=False)]
    smooth += [BY_NAME["stable inversion"](
        TWO, LINE, 0.5, start=UP, law="ninth_degree", check=False
    )]  # fmt: skip
    at = np.linspace(-0.05, 0.55, 61)
    x, y = (np.array([m.torque(t) for t in at]) for m in smooth)
    assert np.abs(x - y).max() < 5e-3 * np.ptp(x)
    assert exact.verification.path_error.max() < 3e-6


def test_answers_are_compared_with_tolerances() -> None:
    assert shot(tip_tolerance=1e-5).success
    with pytest.warns(ConvergenceWarning, match="distance of the tip from its path"):
        motion = shot(tip_tolerance=1e-7)
    assert not motion.success
    # a window of two hundredths of the motion is too short to act in advance
    late = {"pre_actuation": 0.0, "post_actuation": 0.0, "intervals": 5}
    with pytest.warns(ConvergenceWarning, match="distance of the tip from its path"):
        assert not shot(T=0.25, search=late).success


def test_forces_of_an_arm_with_joints_to_spare() -> None:
    """The tip is on its way, and joints are near those of the rigid arm."""
    arm = fa.library.cibicik_egeland()
    begin = fa.library.poses(arm)["initial"]
    place = fa.tip_pose(arm, begin)[:3, 3]
    motion = track(
        arm, paths.line(place, place + np.array([0.2, 0.2, 0.1])), 2.0, start=begin
    )
    assert motion.success
    assert motion.verification.path_error.max() < 5e-6
    rigid = paths.follow(arm, motion.path, [0.0, 1.0], start=begin).q[:, : arm.nu]
    assert np.abs(motion.q[[0, -1], : arm.nu] - rigid).max() < 0.05


def test_forces_that_lose_their_effect() -> None:
    """Where J M^-1 B changes its sign on the way, there is a least error."""
    arm = fa.library.de_luca_siciliano()
    line = paths.line([0.6, 0.3], [0.3, 0.6])
    motion = track(arm, line, 2.0, start=[0.2, 1.2])
    assert motion.success
    assert motion.verification.path_error.max() < 1e-5


def test_an_arm_with_too_few_actuators_has_least_errors() -> None:
    """One hinge for two coordinates of a bent tip: shooting finds the same errors."""
    link = fa.library.farid_planar(n_links=1, joint_stiffness=None)
    begin = [0.3]
    place = fa.tip_pose(link, np.r_[begin, np.zeros(link.nq - 1)])[:2, 3]
    circle = paths.circle([0.0, 0.0], place, angle=0.3)
    motion = track(link, circle, 1.0, start=begin)
    assert motion.success
    other = BY_NAME["shooting"](link, circle, 1.0, start=begin, check=False)
    assert motion.errors.tip.max() < 1.1 * other.errors.tip.max()


@pytest.mark.parametrize("method", ["least squares", "collocation"])
@pytest.mark.parametrize("seed", [10, 21, 24])
def test_random_arms_are_within_tolerances(method: str, seed: int) -> None:
    """Confirmed by SciPy; stable inversion has no answer to 10."""
    if method == "collocation":
        pytest.importorskip("casadi")
    motion, parts = track_row(seed, method)
    assert motion.success, motion.message
    assert max(parts.values()) < 1.0


def test_searches_that_end_early() -> None:
    with pytest.warns(ConvergenceWarning, match="1 iterations are done"):
        one = shot(search={"max_iterations": 1}, check=False)
    assert one.status == "iterations"
    assert one.objective < 1e-3
    with pytest.warns(ConvergenceWarning, match="time limit"):
        short = shot(search={"time_limit": 1e-9}, check=False)
    assert short.status == "time"
    with pytest.raises(ConvergenceError, match="least squares") as caught:
        short.check()
    assert caught.value.result is short


def test_collocation_finds_calm_forces_within_the_tolerance() -> None:
    pytest.importorskip("casadi")
    few = {"intervals": 30}
    calm = shot(method="collocation", search=few)
    exact = BY_NAME["stable inversion"](TWO, LINE, 0.5, start=UP, check=False)
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


def test_inputs_are_not_changed() -> None:
    s = paths.time_law("cycloidal", np.linspace(0.0, 1.0, 30), 1.0).s
    points = LINE(s).position
    start = UP.copy()
    copies = points.copy(), start.copy()
    shot(points, 0.5, start=start, law="quintic", check=False)
    assert (points == copies[0]).all()
    assert (start == copies[1]).all()


@pytest.mark.parametrize("method", ["least squares", "shooting", "stable inversion"])
def test_a_rigid_arm_takes_inverse_dynamics(method: str) -> None:
    arm = fa.library.planar_chain(2, length=1.0)
    motion = BY_NAME[method](arm, LINE, 0.5, start=[0.5, -0.9])
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


def test_axes_that_were_not_asked_for_have_no_error() -> None:
    link = fa.library.farid_planar(n_links=1, joint_stiffness=None)
    start = fa.tip_pose(link, np.r_[0.3, np.zeros(link.nq - 1)])[:3, 3]
    motion = track(
        link,
        paths.line(start, start + np.array([0.0, 0.1, 0.0])),
        0.5,
        axes="y",
        start=[0.3],
        law="ninth_degree",
    )
    assert np.isnan(motion.verification.path_error[[0, 2]]).all()
    assert motion.verification.path_error[1] < 1e-5
    assert motion.verification.final_error < 1e-5


# refusals


def test_paths_that_cannot_be_followed() -> None:
    far = paths.line([1.8, 0.2], [2.3, 0.7])
    for method in ("least squares", "shooting", "stable inversion"):
        argument_refused(
            ["out of reach beyond s = ", "(at t = 0.2"],
            lambda m=method: BY_NAME[m](TWO, far, 0.5, start=UP),
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
        ({"method": "newton"}, ["method is 'newton'", "'collocation'"]),
        *(
            (
                {"method": name},
                [f"method is {name!r}", "'least squares'", "reference.tracking." + to],
            )
            for name, to in (
                ("shooting", "shooting(arm, path"),
                ("stable inversion", "stable_inversion(arm, path"),
                ("frequency domain", "frequency_domain(arm, path"),
            )
        ),
        ({"law": "linear"}, ["law is 'linear'", "'quintic'"]),
        (
            {"search": {"scheme": "gauss"}},
            ["scheme is given", "'least squares'", "intervals"],
        ),
        (
            {"method": "collocation", "search": {"steps": 3}},
            ["steps is given", "'collocation'", "pre_actuation"],
        ),
        ({"search": {"intervals": 0}}, ["intervals is 0"]),
        (
            {"method": "collocation", "search": {"post_actuation": 0.0}},
            ["post_actuation is 0", "rest"],
        ),
        ({"method": "collocation", "tip_tolerance": 0}, ["tip_tolerance is 0"]),
        ({"search": {"pre_actuation": -0.1}}, ["pre_actuation is -0.1"]),
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
    motion = BY_NAME["frequency domain"](arm, line, 0.8, start=start, check=False)
    h = motion.t[1] - motion.t[0]
    inner = slice(len(motion.t) // 3, -len(motion.t) // 3)
    for x, rate in ((motion.q, motion.qd), (motion.qd, motion.qdd)):
        slope = np.gradient(x, h, axis=0)[inner, : arm.nu]
        assert_allclose(slope, rate[inner, : arm.nu], atol=0.01 * np.abs(slope).max())
