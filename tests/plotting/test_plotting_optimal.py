"""Figures of optimal motions: what they draw, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

import flexarm as fa
from flexarm.optimize import (
    Capsule,
    HalfSpace,
    OptimalMotion,
    Sphere,
    paths,
    time_optimal,
    trajectory,
)

pytest.importorskip("matplotlib")

pytest.importorskip("casadi")  # a motion without a path

ARM = fa.library.farid_two_link(elements=0, joint_stiffness=None)
LIMITS = [300.0, 120.0]


@pytest.fixture(scope="module")
def motion() -> OptimalMotion:
    way = paths.line([1.8, 0.2], [1.6, 0.7])
    start = fa.library.poses(ARM)["A"]
    return time_optimal(
        ARM, way, limits={"torque": LIMITS}, start=start, search={"intervals": 200}
    )


def test_phase_plane_has_the_rates_of_the_motion(motion: OptimalMotion) -> None:
    lines = fa.plotting.time_scaling(motion)
    scaling = motion.on_path.scaling
    assert_array_equal(lines[0].get_ydata(), scaling.sd)
    assert (lines[1].get_ydata() >= lines[0].get_ydata() - 1e-9).all()
    assert lines[0].axes.get_xlabel() == "path parameter s"
    assert lines[0].axes.get_ylabel() == "its rate (1/s)"


def test_torques_are_drawn_within_their_limits(motion: OptimalMotion) -> None:
    lines = fa.plotting.optimal_motion(motion)
    ax = lines[0].axes
    assert ax.get_ylabel() == "torque (N m)"
    drawn = [
        line.get_ydata() for line in ax.get_lines() if line.get_linestyle() == "--"
    ]
    assert sorted(float(y[0]) for y in drawn) == [-300.0, -120.0, 120.0, 300.0]
    speeds = fa.plotting.optimal_motion(motion, "speeds", limits=2.0)
    assert len(speeds[0].axes.get_lines()) == 6
    error = fa.plotting.optimal_motion(motion, "tip error")[0]
    assert error.axes.get_ylabel() == "distance from the path (mm)"
    assert 0.0 <= error.get_ydata().min() <= error.get_ydata().max() < 0.1


OBSTACLES = (
    Sphere((0.95, 0.31), 0.1),
    HalfSpace((0.0, -0.3), (0.1, 1.0)),
    Capsule((-1.5, 0.5), (-1.2, 1.3), 0.1),
)


def test_obstacles_and_distances_from_them_are_drawn() -> None:
    """Outlines where the obstacles are, and distances by brute force."""
    arm = fa.library.planar_chain(2, n_modes=0, gravity=(0.0, 0.0, 0.0))
    limits = {"obstacles": OBSTACLES, "link_radius": 0.05}
    by = {"duration": 1.0, "limits": limits, "search": {"intervals": 10}}
    motion = trajectory(arm, [1.2, 1.0], [2.0, -1.7], **by)
    lines = fa.plotting.optimal_motion(motion, "clearances")
    assert len(lines) == 6
    assert lines[0].axes.get_ylabel() == "clearance (m)"
    nearest = [float(line.get_ydata().min()) for line in lines]
    assert nearest == sorted(nearest)
    assert motion.verification is not None
    q = motion.verification.trajectory.q
    share = np.linspace(0.0, 1.0, 201)[:, None, None]
    elbow = np.stack([np.cos(q[:, 0]), np.sin(q[:, 0])], axis=1)
    outer = np.stack([np.cos(q.sum(axis=1)), np.sin(q.sum(axis=1))], axis=1)
    for name, places in (("1", share * elbow), ("2", elbow + share * outer)):
        far = np.linalg.norm(places - OBSTACLES[0].center[:2], axis=-1).min(axis=0)
        label = f"'link{name}' to sphere 0"
        (drawn,) = (line for line in lines if line.get_label() == label)
        assert_allclose(drawn.get_ydata(), far - 0.15, atol=1e-4)
    # dashed at the clearance
    dashed = [x for x in lines[0].axes.get_lines() if x.get_linestyle() == "--"]
    assert_allclose(dashed[0].get_ydata(), 0.02)
    # obstacles of the motion beside the arm
    drawing = fa.plotting.snapshots(motion, 3)
    ball, _, post = drawing.ax.patches[:3]
    for patch, inside, outside in (
        (ball, (1.04, 0.31), (1.06, 0.31)),
        (post, (-1.5, 0.41), (-1.5, 0.39)),
    ):
        assert patch.get_path().contains_point(inside)
        assert not patch.get_path().contains_point(outside)
    other = fa.plotting.snapshots(motion, 3, obstacles=OBSTACLES[:1], plane="xz")
    assert len(other.ax.patches) == 1
    wall = fa.plotting.arm(arm, [0.3, 0.5]).draw_obstacles(OBSTACLES[1:2])[0]
    assert wall.get_path().contains_point((1.0, -0.41))
    assert not wall.get_path().contains_point((1.0, -0.39))
    solid = fa.plotting.arm(arm, [0.3, 0.5], plane="3d")
    surfaces = solid.draw_obstacles(OBSTACLES)
    assert len(surfaces) == 3


def test_motions_have_figures_as_methods(motion: OptimalMotion) -> None:
    lines = motion.plot("speeds")
    for j, line in enumerate(lines[: motion.arm.nj]):
        assert_allclose(line.get_xydata(), np.c_[motion.t, motion.qd[:, j]])
    moving = motion.animate(fps=50.0)
    assert moving.drawing.arm is motion.arm
    assert_allclose(moving.times[-1], motion.t[-1])


def test_motions_that_cannot_be_drawn_are_refused(motion: OptimalMotion) -> None:
    def each(*, words: list[str], call: Any) -> None:
        refused(fa.ArgumentError, words, call)

    plot = fa.plotting
    each(words=["motion is int"], call=lambda: plot.time_scaling(3))
    each(words=["kind is 'x'"], call=lambda: plot.optimal_motion(motion, "x"))
    each(words=["motions[0]"], call=lambda: plot.trade_off([motion]))
    each(words=["motions is empty"], call=lambda: plot.trade_off([]))
    nothing: Any = np.zeros((0, 0))
    each(words=["motions is empty"], call=lambda: plot.trade_off(nothing))
    free = time_optimal(
        ARM, [[0.5, -0.3], [0.6, -0.4]], limits={"torque": LIMITS}, check=False
    )
    near = {"obstacles": [3.0], "link_radius": 0.1}
    each(
        words=["no limits with obstacles"],
        call=lambda: plot.optimal_motion(motion, "clearances"),
    )
    each(
        words=["limits.obstacles has 3.0"],
        call=lambda: plot.optimal_motion(motion, "clearances", limits=near),
    )
    each(
        words=["has 3.0"],
        call=lambda: plot.arm(ARM, [0.1, 0.2]).draw_obstacles([3.0]),
    )
    each(words=["no time scaling"], call=lambda: plot.time_scaling(free))
    each(words=["no path"], call=lambda: plot.optimal_motion(free, "tip error"))


def test_torques_are_drawn_as_they_are() -> None:
    arm = fa.library.farid_two_link(elements=0, joint_stiffness=None)
    motion = time_optimal(
        arm,
        paths.line([1.8, 0.2], [1.6, 0.7]),
        limits={"torque": [300.0, 120.0]},
        start=fa.library.poses(arm)["A"],
        search={"intervals": 50},
        check=False,
    )
    for kind, values in (("torques", motion.tau), ("speeds", motion.qd)):
        lines = fa.plotting.optimal_motion(motion, kind)
        for line, column in zip(lines, values.T, strict=True):
            assert_allclose(line.get_ydata(), column)
