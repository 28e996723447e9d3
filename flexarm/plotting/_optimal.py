"""Optimal motions: the phase plane of a path, torques within limits, errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np

from .._calls.declared import Choice
from .._calls.doors import checked
from .._support.arrays import Array
from ..errors import ArgumentError
from ._obstacles import room_of
from .canvas import THIN, color, finish, make_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ..optimize import OptimalMotion
    from ..optimize._minimum_time.trade_offs import TradeOff


_KINDS = ("torques", "tip error", "speeds", "clearances")
# Millimetres in a metre.
_MILLI = 1e3


@checked
def time_scaling(motion: OptimalMotion, *, ax: Axes | None = None) -> list[Line2D]:
    """Phase plane of the fastest motion along a path.

    Parameters
    ----------
    motion : OptimalMotion
        Of a rigid arm along a path, by `flexarm.optimize.time_optimal`.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    lines : list of matplotlib.lines.Line2D
        The rate of s along the path; the largest rates from which the end can be
        reached; the part of the maximum velocity curve on the picture, above which no
        acceleration is within the limits.

    Raises
    ------
    ArgumentError
        If the motion is not one along a path of a rigid arm.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.optimize import paths, time_optimal
    >>> arm = fa.library.farid_two_link(elements=0, joint_stiffness=None)
    >>> way, start = paths.line([1.8, 0.2], [1.6, 0.7]), fa.library.poses(arm)["A"]
    >>> limits = {"torque": [300.0, 120.0]}
    >>> motion = time_optimal(arm, way, limits=limits, start=start)
    >>> [line.get_label() for line in fa.plotting.time_scaling(motion)]
    ['motion', 'controllable']
    """
    if motion.on_path is None:
        raise ArgumentError(
            "motion has no time scaling, expected one of a rigid arm along a path, by "
            "optimize.time_optimal"
        )

    # motion, controllable rates, maximum velocity curve
    scaling = motion.on_path.scaling
    ax = make_axes(ax)
    reached = scaling.controllable[:, 1]
    top = 2.5 * float(scaling.sd.max())
    curve = np.where(scaling.curve < 2.0 * top, scaling.curve, np.nan)
    s, bound = scaling.s, np.minimum(reached, 2.0 * top)
    shown = ax.plot(s, scaling.sd, color=color(0), label="motion", zorder=3)
    shown += ax.plot(s, bound, "--", color=color(1), label="controllable", zorder=4)
    if np.isfinite(curve).any():
        name = "maximum velocity"
        shown += ax.plot(scaling.s, curve, color="0.75", linewidth=4.0, label=name)

    # limits by the motion
    ax.set_xlim(0.0, 1.0)
    highest = max(np.nanmax(curve, initial=0.0), reached.max(), scaling.sd.max())
    ax.set_ylim(0.0, min(top, 1.08 * highest))
    finish(ax, "path parameter s", "its rate (1/s)", legend=True)
    return shown


@checked
def optimal_motion(
    motion: OptimalMotion,
    kind: Annotated[str, Choice(*_KINDS)] = "torques",
    *,
    limits: object = None,
    ax: Axes | None = None,
) -> list[Line2D]:
    """Torques in their limits, speeds, errors of the tip, or clearances, over time.

    Parameters
    ----------
    motion : OptimalMotion
        Result of a function of `flexarm.optimize`.
    kind : {"torques", "tip error", "speeds", "clearances"}
        Forces of the actuators; distance of the simulated tip from its path, from the
        ends of the path before and after the main motion; velocities of the joints; or
        distances between the surfaces of links and obstacles, and of links and each
        other, of the eight pairs that come nearest.
    limits : float, (nu,) or (2, nu) array_like of float, Limits or mapping, optional
        Of the torques in N m or N, or of the speeds per s, drawn dashed; of clearances
        those with the obstacles; by default those of the search.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    lines : list of matplotlib.lines.Line2D
        One for each joint, each pair, or that of the error.  Windows before and after
        the main motion are shaded.

    Raises
    ------
    ArgumentError
        If the kind is unknown, or the motion has no path, no simulation or no
        obstacles.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.optimize import paths, time_optimal
    >>> arm = fa.library.farid_two_link(elements=0, joint_stiffness=None)
    >>> way, start = paths.line([1.8, 0.2], [1.6, 0.7]), fa.library.poses(arm)["A"]
    >>> limits = {"torque": [300.0, 120.0]}
    >>> motion = time_optimal(arm, way, limits=limits, start=start)
    >>> [line.get_label() for line in fa.plotting.optimal_motion(motion)]
    ['link1', 'link2']
    """
    if kind == "tip error":
        t, error = _tip_error(motion)
        ax = _shaded(motion, ax)
        lines = list(ax.plot(t, _MILLI * error, color=color(0), label="tip"))
        ax.set_ylim(bottom=0.0)
        finish(ax, "time (s)", "distance from the path (mm)")
        return lines

    if kind == "clearances":
        return _clearances(motion, limits, ax)

    # forces or speeds, with their limits
    arm = motion.arm
    ax = _shaded(motion, ax)
    turning = bool(arm._turning[: arm.nj].all())
    if kind == "torques":
        values, name = motion.tau, "torque (N m)" if turning else "force (N m or N)"
    else:
        values = motion.qd[:, : arm.nj]
        name = "velocity (rad/s)" if turning else "velocity (rad/s or m/s)"
    bounds = _bounds(motion, kind, limits)
    lines = []
    names = arm._actuator_names if kind == "torques" else arm.coordinate_names[: arm.nj]
    for k, label in enumerate(names):
        curve = motion.t, values[:, k]
        lines += ax.plot(*curve, label=label, color=color(k))
        for bound in bounds[..., k]:
            if np.isfinite(bound).all():
                ax.plot(motion.t, bound, "--", color=color(k), linewidth=THIN)
    finish(ax, "time (s)", name, legend=True)
    return lines


@checked
def trade_off(
    motions: Sequence[OptimalMotion] | TradeOff,
    *,
    label: str | None = None,
    ax: Axes | None = None,
) -> Line2D:
    """Durations of motions against the errors of their tips.

    Parameters
    ----------
    motions : sequence of OptimalMotion or TradeOff
        Of one flexible arm along one path with several tolerances, by
        `flexarm.optimize.time_optimal` or `flexarm.optimize.trade_off`.
    label : str, optional
        Of the line in the legend.
    ax : matplotlib axes, optional
        Axes, for several lines in one figure; by default those of a new figure.

    Returns
    -------
    line : matplotlib.lines.Line2D
        Largest distance of the simulated tip from its path, by duration.

    Raises
    ------
    ArgumentError
        If a motion has no simulated tip error.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.optimize import paths, time_optimal
    >>> arm = fa.library.farid_two_link(elements=0)
    >>> way, start = paths.line([1.8, 0.2], [1.6, 0.7]), fa.library.poses(arm)["A"]
    >>> limits = {"torque": [300.0, 120.0]}
    >>> motion = time_optimal(arm, way, limits=limits, start=start)
    >>> fa.plotting.trade_off([motion]).axes.get_ylabel()
    'largest error of the tip (mm)'
    """
    found = []
    listed: Iterable[OptimalMotion] = (
        motions.motions if hasattr(motions, "motions") else motions
    )
    for k, motion in enumerate(listed):
        error = np.nan if motion.errors is None else motion.errors.tip
        if not np.isfinite(error):
            raise ArgumentError(
                f"motions[{k}] has no simulated error of its tip, expected motions of "
                "a flexible arm along a path with check=True"
            )
        found.append((motion.duration, _MILLI * float(error)))
    if not found:
        raise ArgumentError("motions is empty, expected one or more")
    ax = make_axes(ax, (5.6, 3.8))
    duration, errors = np.array(sorted(found)).T
    used = color(len(ax.get_lines()))
    (line,) = ax.plot(duration, errors, "o-", color=used, markersize=4, label=label)
    highest = max(float(np.max(shown.get_ydata())) for shown in ax.get_lines())
    ax.set_ylim(0.0, 1.08 * highest)
    named = label is not None
    finish(ax, "duration (s)", "largest error of the tip (mm)", legend=named)
    return line


def _clearances(motion: OptimalMotion, limits: object, ax: Axes | None) -> list[Line2D]:
    """Distances between surfaces over time, and the least one that is allowed."""
    t, room, names, least = room_of(motion, limits)
    ax = _shaded(motion, ax)
    lines: list[Line2D] = []
    for k, name in enumerate(names):
        lines += ax.plot(t, room[:, k], color=color(k), label=name)
    ax.axhline(least, linestyle="--", color="0.2", linewidth=THIN)
    ax.set_ylim(min(0.0, 1.05 * float(room.min())), None)
    finish(ax, "time (s)", "clearance (m)", legend=True)
    return lines


def _shaded(motion: OptimalMotion, ax: Axes | None) -> Axes:
    """Axes with the windows before and after the main motion in grey."""
    ax = make_axes(ax)
    ends = float(motion.t[0]), float(motion.t[-1])
    for left, right in ((ends[0], 0.0), (motion.duration, ends[1])):
        if right - left > 1e-9 * motion.duration:
            ax.axvspan(left, right, color="0.93", zorder=0)
    return ax


def _bounds(motion: OptimalMotion, kind: str, given: object) -> Array:
    """Least and largest values at all times, (2, n, nu), infinite if unknown."""
    from ..optimize.limits import pair_of, torques_at

    arm, known = motion.arm, motion.limits
    n = arm.nu if kind == "torques" else arm.nj
    if given is not None or known is None:
        pair = pair_of("limits", given, n)
    elif kind == "torques":
        return np.asarray(torques_at(known, motion.q, n))
    else:
        pair = known.velocity
    return np.broadcast_to(pair[:, np.newaxis], (2, len(motion.t), n))


def _tip_error(motion: OptimalMotion) -> tuple[Array, Array]:
    """Times of the simulation and distances from the path."""
    from ..optimize._minimum_time.flexible_problem import deviations

    path = motion.path
    if path is None or path.space != "tip" or motion.verification is None:
        raise ArgumentError(
            "motion has no path of its tip or no simulation, expected one along a path "
            "of the tip by optimize.time_optimal with check=True"
        )
    run = motion.verification.trajectory
    off = deviations(path, motion.duration, run.t, run.tip)
    return run.t, np.linalg.norm(off, axis=-1)
