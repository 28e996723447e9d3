"""Minimum time along a path, or between two postures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..._calls.arguments import real_array, refuse_linear
from ...errors import ArgumentError
from .._collocation.outputs import read_output_limits
from .._path import Path
from .._programs.solution import Progress
from .._result import OptimalMotion, warned
from .._rigid import RigidLevel
from ..limits import Limits, limits_of
from ..paths import joint_path
from .flexible_time import flexible_optimum
from .options import FlexibleOptions
from .rigid_time import rigid_optimum

if TYPE_CHECKING:
    from ...arm import Arm

Array = NDArray[np.float64]

__all__ = ["time_optimal"]

# options of the exact solution along a path, and of the search for all other motions
_ALONG = ("rates", "points", "scheme")
_CALM, _SLOW = 3e-4, 0.05  # smoothness and rest_speed between two postures
_NEAR = 1e-4  # m: tip_tolerance, too
_COMMON = ("time_limit", "progress")  # without effect where nothing is searched for
_WINDOWS = ("pre_actuation", "post_actuation")


def time_optimal(
    arm: Arm,
    path: Any,
    *,
    torque_limits: Any = None,
    velocity_limits: Any = None,
    acceleration_limits: Any = None,
    tip_speed_limit: float | None = None,
    output_limits: Mapping[Any, Any] | None = None,
    start: Any = None,
    rates: Any = None,
    points: int | None = None,
    scheme: str | None = None,
    tip_tolerance: float | None = None,
    pre_actuation: float | None = None,
    post_actuation: float | None = None,
    rest_speed: float | None = None,
    smoothness: float | None = None,
    intervals: int | None = None,
    solver: str | None = None,
    tolerance: float | None = None,
    max_iterations: int | None = None,
    time_limit: float | None = None,
    progress: bool | Progress | None = None,
    check: bool = True,
) -> OptimalMotion:
    r"""Fastest motion from rest to rest, along a path or between two postures.

    Along a path a rigid arm has one degree of freedom left, and its optimum is exact.
    A flexible arm follows a path within a tolerance; torques act before its tip moves
    and after it has come to rest.

    Parameters
    ----------
    arm : Arm
        Tree of joints without quaternions; gears may be rigid.
    path : Path or (2, nu) array_like of float
        One of `optimize.paths`; of an arm with flexible links or joints, one of the
        tip.  Or two postures of the joints in rad or m: the arm moves from the first to
        the second as it likes.
    torque_limits : float, (nu,) or (2, nu) array_like of float, or callable
        Of the actuators, in N m or N: of size in both directions, or least and largest
        ones.  Along a path of a rigid arm also ``torque_limits(q)``, which has them as
        (2, nu) or (2, n, nu) at positions (n, nq).
    velocity_limits, acceleration_limits : float, (nu,) or (2, nu) array_like of float
        Of the joints, alike, in rad/s or m/s, and per s.
    tip_speed_limit : float, optional
        Of the tip, in m/s.
    output_limits : mapping, optional
        Of an arm with flexible links or joints: limits of outputs of `linearize` that
        are linear in positions and velocities, such as
        ``{("strain", "link1", 0.1): 1e-3}``; each a number, (p,) or (2, p), as of
        torques.  A search keeps them at its nodes; where the simulated outputs exceed
        them in between by more than a thousandth, it is repeated with narrower ones
        there, twice at most.  What is left is in ``details["output_excess"]``.
    start : (nu,) or (nq,) array_like of float, optional
        Posture in rad or m near the begin of a path of the tip, which chooses the
        branch (elbow up or down).
    rates : (2,) array_like of float, optional
        Of a rigid arm on a path: rate of s at its begin and end, in 1/s (0, 0).
    points : int, optional
        Of a rigid arm on a path: points of the grid (1001).
    scheme : {"interpolation", "collocation", "midpoint"}, optional
        Of a rigid arm on a path: where limits hold, see Notes.
    tip_tolerance : float, optional
        Of a search: largest distance of the tip from its path, and from the ends of the
        path in the windows before and after the motion; between two postures from its
        goal after the motion, which is residual vibration; in m (4e-4, between
        postures 1e-4).
    pre_actuation, post_actuation : float, optional
        Of a flexible arm on a path: lengths of these windows as shares of the duration
        (0.2); without the first the tip is free to move as soon as torques act.
    rest_speed : float, optional
        Of a search: largest speed of the tip in the windows (0.02), and after a motion
        between two postures (0.05), in m/s.
    smoothness : float, optional
        Of a search: weight of changes of torques beside the time (3e-3 along a path,
        3e-4 between two postures).  Smaller
        values come nearer to the shortest time with torques that jump, larger ones
        leave vibrations of high frequency alone.
    intervals : int, optional
        Of a search: of the motion, between which torques are linear (24).  Where
        corrections fail between two postures, see Notes, a search with more of them
        and more smoothness follows.
    solver : {"auto", "ipopt", "scipy"}, optional
        Of a search: Ipopt comes with the package casadi.
    tolerance : float, optional
        Of a search: of equations, scaled, and of optimality (1e-5).
    max_iterations, time_limit : int and float, optional
        Of a search: most steps (150) of each, seconds (60) of all with more intervals.
        Arms with many fast modes may need more of both.
    progress : bool or callable, optional
        Of a search: whether steps are told.
    check : bool
        Whether the answer is simulated by another integrator with finer steps; without,
        nothing is corrected.

    Returns
    -------
    motion : OptimalMotion
        ``details`` has ``"limits"`` and the ``"path"``: of a rigid arm the
        `PathMotion`, beside it ``"scaling"`` with s, its rates and their limits, and
        ``scaling.at(t)``.  Of a search it has ``"rigid"``, the motion of the rigid arm,
        and ``"tip_error"``, the largest distance of the simulated tip from its path, or
        after the motion from its goal, in m; with output limits ``"output_excess"``,
        by how much the simulated outputs exceed them, as part of the limit.

    Raises
    ------
    ArgumentError
        If limits leave no motion (which one, where on the path, by how much), the path
        is out of reach or leads through a singular posture (where), nothing is limited,
        the arm at rest at an end exceeds output limits, or an option does not fit.
    ConvergenceError
        If friction is too strong for the grid of a path.

    Warns
    -----
    ConvergenceWarning
        If a search stops early; the result has its best motion and its status.

    See Also
    --------
    trajectory : other costs, within limits alike.
    track : forces for a given motion of the tip.
    flexarm.plotting.time_scaling, flexarm.plotting.optimal_motion : pictures of it.

    Notes
    -----
    With :math:`x = \dot s^2` and :math:`u = \ddot s` forces are

    .. math:: \tau = M q'\, u + (M q'' + C q')\, x + g + f(q' \sqrt x),

    linear but for friction f, whose tangents take its place until answers repeat.
    Intervals of x from which the end can be reached are found backward, then the
    largest x of each forward (H. Pham and Q.-C. Pham, IEEE Trans. Robotics 34(3), 2018,
    645-659).  Accelerations u are constant between points.  With ``"interpolation"``
    limits hold at both ends of each interval, with ``"collocation"`` at its first
    point, with ``"midpoint"`` half way; durations have errors of the first order in the
    distance of points, of the second with ``"midpoint"``, whose forces exceed limits at
    the points by as much as they change in half an interval.  Motors of rigid gears are
    included.

    A search is direct collocation (J. T. Betts, *Practical Methods for Optimal
    Control*, 2010, chapter 4) from a motion of the rigid arm, and finds a local
    optimum.  Torques are linear between nodes: jumps are resolved to an interval.
    Between two postures searches follow one another with less and less smoothness.
    Intervals are too long for fast modes, which the answer leaves swinging; unless
    accelerations or the speed of the tip are limited, torques and duration are then
    changed, as little as can be, until the simulated tip comes to rest, by derivatives
    that are exact in all modes (C. F. Van Loan, IEEE Trans. Automatic Control 23, 1978,
    395-404).  States of such an answer are those of the simulation.

    Examples
    --------
    A mass of 2 kg on a slide, 3 N, 0.5 m: full force, then full brakes,
    2 sqrt(0.5 m 2 kg / 3 N) = 1.1547 s.

    >>> import flexarm as fa
    >>> from flexarm.optimize import paths, time_optimal
    >>> rail = fa.Joint("prismatic", axis=(1.0, 0.0, 0.0))
    >>> arm = fa.Arm([fa.RigidBody("cart", rail, mass=2.0)])
    >>> way = paths.joint_path([[0.0], [0.5]], kind="straight")
    >>> motion = time_optimal(arm, way, torque_limits=3.0)
    >>> print(round(motion.duration, 4))
    1.1547

    Two rigid links lead their tip along a line (Farid 1997, section 8.3):

    >>> arm = fa.library.farid_two_link(elements=0, joint_stiffness=None)
    >>> elbow_up = fa.library.poses(arm)["A"]
    >>> way = paths.line([1.8, 0.2], [1.6, 0.7])
    >>> motion = time_optimal(arm, way, torque_limits=[300.0, 120.0], start=elbow_up)
    >>> print(round(motion.duration, 4))
    0.423
    """
    level = RigidLevel(arm, "time_optimal")
    refuse_linear(arm, "time-optimal motions")
    limits = limits_of(
        level.n, torque_limits, velocity_limits, acceleration_limits, tip_speed_limit
    )
    limits = replace(limits, outputs=_outputs(level, output_limits))
    along = {"rates": rates, "points": points, "scheme": scheme}
    search = {
        "tip_tolerance": tip_tolerance,
        "pre_actuation": pre_actuation,
        "post_actuation": post_actuation,
        "rest_speed": rest_speed,
        "smoothness": smoothness,
        "intervals": intervals,
        "solver": solver,
        "tolerance": tolerance,
        "max_iterations": max_iterations,
        "time_limit": time_limit,
        "progress": progress,
    }
    along, search = _given(along), _given(search)
    if isinstance(path, Path) and level.is_exact:
        search = {k: v for k, v in search.items() if k not in _COMMON}
        _refuse(search, "a rigid arm on a path, whose optimum is exact")
        return rigid_optimum(level, path, limits, start, **along, check=check)
    _refuse(along, "a flexible arm or a motion without a path, which is searched for")
    return warned(_searched(level, path, limits, start, {**search, "check": check}))


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _outputs(level: RigidLevel, given: Any) -> dict[Any, Array]:
    """Limits (2, p) of linear outputs, of which rigid arms have no use."""
    if given is not None and level.is_exact:
        raise ArgumentError(
            "output_limits is given for a rigid arm, expected an arm with flexible "
            "links or joints; rigid ones have velocity_limits and tip_speed_limit"
        )
    return read_output_limits(level.arm, given)


def _refuse(options: Mapping[str, Any], what: str) -> None:
    """Refuse options that would do nothing."""
    for name in options:
        raise ArgumentError(f"{name} is given for {what}; leave it out")


def _searched(
    level: RigidLevel, path: Any, limits: Limits, start: Any, search: dict[str, Any]
) -> OptimalMotion:
    """By collocation, from the optimum of the rigid arm."""
    arm = level.arm
    if isinstance(path, Path):
        if path.space != "tip":
            raise ArgumentError(
                "path is one of the joints of an arm with flexible links or joints, "
                "expected one of its tip, or the two postures at its ends"
            )
        options = FlexibleOptions(**search)
        rigid = rigid_optimum(level, path, limits, start)
        return _told(flexible_optimum(arm, path, rigid, limits, options), path, limits)
    ends = _postures(level, path)
    if start is not None:
        raise ArgumentError("start is given without a path; leave it out")
    _refuse({k: None for k in _WINDOWS if k in search}, "a motion without a path")
    search = {
        "smoothness": _CALM,
        "rest_speed": _SLOW,
        "tip_tolerance": _NEAR,
        **search,
    }
    options = FlexibleOptions(**search, pre_actuation=0.0, post_actuation=0.0)
    line = joint_path(ends, kind="straight")
    rigid = rigid_optimum(level, line, limits)
    return _told(flexible_optimum(arm, None, rigid, limits, options), None, limits)


def _told(motion: OptimalMotion, path: Path | None, limits: Limits) -> OptimalMotion:
    """The motion with what it was asked to be."""
    details = {**motion.details, "path": path, "limits": limits}
    return replace(motion, details=details)


def _postures(level: RigidLevel, path: Any) -> Array:
    """Joint positions (2, nu) of a pair of postures."""
    if not isinstance(path, list | tuple | np.ndarray):
        raise ArgumentError(
            f"path is {type(path).__name__}, expected one of optimize.paths, or two "
            "postures"
        )
    array = real_array("path", path)
    if array.shape not in ((2, level.n), (2, level.arm.nq)):
        raise ArgumentError(
            f"path has shape {array.shape}, expected one of optimize.paths, or "
            f"(2, {level.n}): the postures at begin and end"
        )
    return np.asarray(array[:, : level.n])
