"""Figures of optimal motions: what they draw, and what they refuse."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

import flexarm as fa
from flexarm.optimize import OptimalMotion, paths, time_optimal

pytest.importorskip("casadi")  # a motion without a path
mpl.use("Agg")

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
    scaling = motion.details["scaling"]
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


def test_what_cannot_be_drawn_is_told(motion: OptimalMotion) -> None:
    def each(*, words: list[str], call: Any) -> None:
        refused(fa.ArgumentError, words, call)

    plot = fa.plotting
    each(words=["motion is int"], call=lambda: plot.time_scaling(3))
    each(words=["kind is 'x'"], call=lambda: plot.optimal_motion(motion, "x"))
    each(words=["motions[0]"], call=lambda: plot.trade_off([motion]))
    each(words=["motions is empty"], call=lambda: plot.trade_off([]))
    free = time_optimal(
        ARM, [[0.5, -0.3], [0.6, -0.4]], limits={"torque": LIMITS}, check=False
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
