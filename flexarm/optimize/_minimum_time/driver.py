"""Fastest motion along a path, or between two postures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..._calls.arguments import real_array, refuse_linear
from ..._calls.arm_like import ArmLike
from ..._support.options import explained
from ...arm import Arm
from ...errors import ArgumentError
from ...simulation.trajectory import Trajectory
from .._charts import chart_of, charted, real_arm
from .._collocation.ends import End, read_end
from .._floating import drifting_path, floating
from .._path import Path
from .._records import record_of
from .._result import OptimalMotion, warned
from .._rigid import RigidLevel
from ..limits import (
    Limits,
    checked_limits,
    constant_torque,
    read_limits,
    refuse_unbounded,
    without_obstacles,
)
from ..paths import joint_path
from ..search import Search, read_search
from .between_postures import fastest_between
from .flexible_problem import Known
from .flexible_time import flexible_optimum
from .options import FlexibleOptions, PostureOptions
from .rigid_time import rigid_optimum
from .ways_around import forces_around

Array = NDArray[np.float64]

__all__ = ["time_optimal"]

_OF_STATES = ("torque", "position", "velocity", "acceleration", "tip_speed")
_KEPT = (*_OF_STATES, "obstacles", "self_collision")
_EXACT: dict[str, Any] = {"intervals": 1000, "scheme": "interpolation"}
_UNUSED = {"time_limit": None, "progress": None}  # where nothing is searched for
_SEARCH: dict[str, Any] = {"intervals": None, "solver": "auto", "tolerance": 1e-5}
_SEARCH |= {"max_iterations": 150, "time_limit": None, "progress": False}
_PROGRAMS: dict[str, Any] = {"intervals": 40, "max_iterations": 16}
_PROGRAMS |= {"progress": False}
_WINDOWS = {"pre_actuation": 0.2, "post_actuation": 0.2}
# along a path, and between two postures
_ON_PATH = {"tip_tolerance": 4e-4, "rest_speed": 0.02, "smoothness": 3e-3}
_ON_PATH |= {"orientation_tolerance": 3e-3}
_FREE = {"tip_tolerance": 1e-4, "rest_speed": 0.05, "smoothness": 3e-4}


@explained
def time_optimal(
    arm: Arm,
    path: Any,
    *,
    limits: Limits | Mapping[str, Any] | None = None,
    start: Any = None,
    initial: OptimalMotion | Trajectory | None = None,
    rates: Any = None,
    tip_tolerance: float | None = None,
    orientation_tolerance: float | None = None,
    rest_speed: float | None = None,
    smoothness: float | None = None,
    search: Search | Mapping[str, Any] | None = None,
    check: bool = True,
) -> OptimalMotion:
    r"""Fastest motion from rest to rest, along a path or between two postures.

    Along a path a rigid arm has one degree of freedom left, and its optimum is exact.
    A flexible arm follows a path within a tolerance; torques act before its tip moves
    and after it has come to rest.

    Parameters
    ----------
    arm : Arm
        Tree; gears may be rigid.  Along a path it has no joints with quaternions.
    path : Path, or pair of postures
        One of `optimize.paths`; of an arm with flexible links or joints, one of the
        tip.  Or two postures of the joints in rad or m, (2, nu), with (w, x, y, z) of
        quaternions: the arm moves from the first to the second on any way.  Without
        gravity a base on a joint with torques of zero floats; it has no goal, and the
        second posture names all others, ``{"joints": {"link1": 0.3}}``.  A path may
        carry an orientation of the tip (`paths.with_orientation`), with a free spin for
        a rigid arm alone.
    limits : Limits or mapping
        Of torque, position, velocity, acceleration and tip_speed, and of an arm with
        flexible links or joints also of outputs, on a path of torque_rate; those of the
        joints by default.  A search keeps them at its nodes, between two postures at
        160 times at least; where the simulated motion exceeds them in between by more
        than a thousandth, it is repeated with narrower ones, on a path those of
        positions apart.  What is left is in ``verification.excess``.  Also obstacles
        and self_collision: a path that touches something at rest is refused, between
        postures the search also begins with two ways around.
    start : (nu,) or (nq,) array_like of float, optional
        Posture in rad or m near the start of a path of the tip, which chooses the
        branch (elbow up or down).
    initial : OptimalMotion or Trajectory, optional
        Of a search: a motion of this arm that it also starts from, such as the answer
        for other limits; between two postures its duration and forces alone.
    rates : (2,) array_like of float, optional
        Of a rigid arm on a path: rate of s at its start and end, in 1/s (0, 0).
    tip_tolerance : float, optional
        Of a search: largest distance of the tip from its path, and from the ends of the
        path in the windows before and after the motion; between two postures from its
        goal after the motion, which is residual vibration; in m (4e-4, between
        postures 1e-4).
    orientation_tolerance : float, optional
        Of a search along a path with an orientation: largest angle between the tip and
        that of the nearest place of the path, and of its ends in the windows, in rad
        (3e-3).
    rest_speed : float, optional
        Of a search: largest speed of the tip in the windows (0.02), and after a motion
        between two postures (0.05), in m/s.
    smoothness : float, optional
        Of a search: weight of changes of torques beside the time, along a path of
        their squares (3e-3), between two postures of their sizes as parts of the range
        (3e-4).  Smaller values come nearer to the shortest time, larger ones leave
        vibrations of high frequency alone.
    search : Search or mapping, optional
        Of a rigid arm on a path: intervals (1000) and scheme, ``"interpolation"``
        (default), ``"collocation"`` or ``"midpoint"``, see Notes.  On a path of an arm
        with flexible links: intervals, between which torques are linear (by default 32,
        doubled up to 128 where limits do not hold in between), pre_actuation and
        post_actuation (0.2), solver ("auto"), tolerance (1e-5), max_iterations (150) of
        each search, time_limit (none) of all, progress.  Without pre_actuation the tip
        is free to move as soon as torques act.  Between two postures: intervals (40),
        which are halved where torques change, max_iterations (16), linear programs from
        each start at most, progress.
    check : bool
        Simulate the answer by another integrator with finer steps; without it nothing
        is corrected.

    Returns
    -------
    motion : OptimalMotion
        ``details`` has ``"limits"`` and the ``"path"``: of a rigid arm the
        `PathMotion`, beside it ``"scaling"`` with s, its rates and their limits, and
        ``scaling.at(t)``, and ``"gap"``, the part of the duration that finer intervals
        would save, from one search with half of them.

        Of a search it has ``"rigid"``, the motion of the rigid arm, and
        ``"tip_error"``, the largest distance of the simulated tip from its path, or
        after the motion from its goal, in m; ``"starts"``, for each start its name, the
        duration found from it (on a path with half the intervals) and whether it was a
        success; ``"refinement"``, durations from grid to grid; and ``"gap"``, what is
        estimated from them (Richardson) to be left to gain by finer grids, as part of
        the duration, NaN with one grid; on a path also what narrowed limits cost.

    Raises
    ------
    ArgumentError
        If limits leave no motion (the message says which, where and by how much), the
        path is out of reach or leads through a singular posture, nothing is limited, or
        the arm at rest at an end exceeds limits of outputs.
    ConvergenceError
        If friction is too strong for the grid of a path.

    Warns
    -----
    ConvergenceWarning
        If a search stops early; the result has its best motion and its status.
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame, see
        `flexarm.largest_slope`; above one the motion is no success.

    See Also
    --------
    trajectory : other costs within limits.
    track : forces for a given motion of the tip.
    flexarm.plotting.time_scaling, flexarm.plotting.optimal_motion : figures of it.

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
    the points by as much as they change in half an interval, which the verification
    tells.  Motors of rigid gears are included.

    On a path a search is direct collocation (J. T. Betts, *Practical Methods for
    Optimal Control*, 2010, chapter 4), and finds a local optimum.  Torques are linear
    between nodes: jumps are resolved to an interval.  With half the intervals it starts
    from ``"smooth"``, a motion without jumps along the path, and ``"rigid"``, the
    fastest one of the rigid arm, both with the static deflection of the arm; from the
    better answer it goes on.

    Between two postures linear programs follow one another: the arm is linearized about
    a simulated motion, by transitions that are exact in all modes (C. F. Van Loan, IEEE
    Trans. Automatic Control 23, 1978, 395-404), and the shortest duration within limits
    and near this motion is found, simulated, and so on.  For a linear arm this is the
    global optimum, else a local one, from the better of some starts: ``"rigid"``,
    torques of the rigid arm on the straight line of the joints, and ``"shaped"``, the
    same after a shaper that leaves the slowest mode at rest (N. C. Singer, W. P.
    Seering, J. Dyn. Syst. Meas. Control 112, 1990, 76-82); of driven spherical and free
    joints also ``"aside"``, with torques that leave the way about one axis, which is
    seldom the fastest.  Torques of the shortest
    time are at a limit nearly always; intervals with switches are halved three times.

    Examples
    --------
    A mass of 2 kg on a slide, 3 N, 0.5 m: full force, then full brakes,
    2 sqrt(0.5 m 2 kg / 3 N) = 1.1547 s.

    >>> import flexarm as fa
    >>> from flexarm.optimize import paths, time_optimal
    >>> rail = fa.Joint("prismatic", axis=(1.0, 0.0, 0.0))
    >>> arm = fa.Arm([fa.RigidBody("cart", rail, mass=2.0)])
    >>> way = paths.joint_path([[0.0], [0.5]], kind="straight")
    >>> motion = time_optimal(arm, way, limits={"torque": 3.0})
    >>> print(round(motion.duration, 4))
    1.1547

    Two rigid links lead their tip along a line (Farid 1997, section 8.3):

    >>> arm = fa.library.farid_two_link(elements=0, joint_stiffness=None)
    >>> elbow_up = fa.library.poses(arm)["A"]
    >>> way = paths.line([1.8, 0.2], [1.6, 0.7])
    >>> limits = {"torque": [300.0, 120.0]}
    >>> motion = time_optimal(arm, way, limits=limits, start=elbow_up)
    >>> print(round(motion.duration, 4))
    0.423
    """
    level = RigidLevel(_in_coordinates(arm, path, limits), "time_optimal")
    refuse_linear(arm, "time-optimal motions")
    if level.is_exact:
        limits = read_limits(limits, arm, _KEPT, "the fastest motion of a rigid arm")
    elif isinstance(path, Path):
        also = (*_KEPT, "torque_rate", "outputs")
        limits = read_limits(limits, arm, also, "time_optimal along a path")
    else:
        kept = (*_KEPT, "outputs")
        limits = read_limits(limits, arm, kept, "time_optimal between two postures")
    refuse_unbounded(limits)
    own = {
        "tip_tolerance": tip_tolerance,
        "orientation_tolerance": orientation_tolerance,
        "rest_speed": rest_speed,
        "smoothness": smoothness,
    }
    own = {name: value for name, value in own.items() if value is not None}
    if isinstance(path, Path) and level.is_exact:
        what = "a rigid arm on a path, whose optimum is exact"
        _refuse(own | _given(initial), what)
        exact = read_search(search, _EXACT | _UNUSED, what)
        exact = {name: exact[name] for name in _EXACT}
        rates = (0.0, 0.0) if rates is None else rates
        exact |= {"check": check}
        return warned(rigid_optimum(level, path, limits, start, rates, **exact))
    what = "a flexible arm or a motion without a path, which is searched for"
    _refuse({} if rates is None else {"rates": rates}, what)
    own |= {"check": check}
    return warned(_searched(level, path, limits, start, initial, own, search))


def _refuse(options: Mapping[str, Any], what: str) -> None:
    """Refuse options without effect."""
    for name in options:
        raise ArgumentError(f"{name} is given for {what}; leave it out")


def _searched(
    level: RigidLevel,
    path: Any,
    limits: Limits,
    start: Any,
    initial: Any,
    own: dict[str, Any],
    search: Any,
) -> OptimalMotion:
    """Fastest motion of a search from the optimum of the rigid arm."""
    arm = level.arm
    if isinstance(path, Path):
        if path.space != "tip":
            raise ArgumentError(
                "path is one of the joints of an arm with flexible links or joints, "
                "expected one of its tip, or the two postures at its ends"
            )
        if not path.is_oriented and "orientation_tolerance" in own:
            _refuse({"orientation_tolerance": 0.0}, "a path without an orientation")
        if path.axis is not None:
            raise ArgumentError(
                f"path leaves the spin about {path.axis} free, which the tip of an arm "
                "with flexible links or joints does not follow; expected rotations as "
                "its orientation, or a rigid arm"
            )
        given = read_search(search, _SEARCH | _WINDOWS, "a flexible arm on a path")
        options = FlexibleOptions(**_ON_PATH | own | given)
        known = None if initial is None else _known(initial, arm)
        rigid = rigid_optimum(level, path, without_obstacles(limits), start, **_EXACT)
        found = flexible_optimum(arm, path, rigid, limits, options, known)
        return _detailed(found, path, limits)
    ends = _postures(level, path)
    if "orientation_tolerance" in own:
        _refuse({"orientation_tolerance": 0.0}, "two postures")
    if start is not None:
        raise ArgumentError("start is given without a path; leave it out")
    given = read_search(search, _PROGRAMS, "a motion without a path")
    asked = PostureOptions(**_FREE | own | given)
    bases = floating(arm, constant_torque(limits, "a motion without a path"))
    line, driven = joint_path(ends, kind="straight"), without_obstacles(limits)
    if bases.any():
        line = drifting_path(arm, ends, bases)
        torque = np.where(bases[: arm.nu], [[-np.inf], [np.inf]], limits.torque)
        driven = replace(driven, torque=torque)
    rigid = rigid_optimum(level, line, driven, **_EXACT)
    around = forces_around(level, ends, limits, rigid.duration)
    first = None if initial is None else _forces_of(initial, real_arm(arm))
    found = fastest_between(arm, rigid, limits, asked, first, around)
    return _detailed(found, None, limits)


def _given(initial: Any) -> dict[str, Any]:
    return {} if initial is None else {"initial": initial}


def _forces_of(motion: Any, arm: Arm) -> tuple[Array, Array]:
    """Times (n,) of a motion and forces (n, nu) of its actuators."""
    if not isinstance(motion, OptimalMotion | Trajectory):
        raise ArgumentError(
            f"initial is {type(motion).__name__}, expected an OptimalMotion or a "
            "Trajectory"
        )
    t, tau = np.asarray(motion.t), np.asarray(motion.tau)
    if tau.ndim == 2 and tau.shape[1] == arm.nv != arm.nu:
        tau = tau[:, arm.actuator_indices]
    if tau.shape != (len(t), arm.nu) or len(t) < 2 or not np.isfinite(tau).all():
        raise ArgumentError(
            f"initial has forces of shape {tau.shape}, expected finite ones of shape "
            f"(n, {arm.nu}) at two times or more, of one motion of this arm"
        )
    return t, tau


def _known(motion: Any, arm: Arm) -> Known:
    """A motion along a path to begin with."""
    t, tau = _forces_of(motion, arm)
    q, qd = np.asarray(motion.q), np.asarray(motion.qd)
    shapes = (len(t), arm.nq), (len(t), arm.nv)
    if (q.shape, qd.shape) != shapes or not np.isfinite(np.hstack([q, qd])).all():
        raise ArgumentError(
            f"initial has positions of shape {q.shape}, expected finite ones of shape "
            f"{shapes[0]}, one motion of this arm"
        )
    kept = np.append(True, np.diff(t) > 1e-9 * (t[-1] - t[0]))
    ended = getattr(motion, "duration", float(t[-1] - max(t[0], 0.0)))
    return Known(t[kept], q[kept], qd[kept], tau[kept], float(ended))


def _detailed(
    motion: OptimalMotion, path: Path | None, limits: Limits
) -> OptimalMotion:
    """The motion with its path and its limits."""
    details = {**motion.details, "path": path, "limits": limits}
    return replace(motion, details=details)


def _in_coordinates(arm: Any, path: Any, limits: Any) -> Any:
    """The arm, with quaternions about the middle of two postures."""
    if not isinstance(arm, ArmLike) or arm.nq == arm.nv or isinstance(path, Path):
        return arm
    own = cast("Arm", arm)
    start, end = _whole_postures(own, path)
    torque = checked_limits(record_of(Limits, "limits", limits), own).torque
    bases = np.zeros(arm.nv, dtype=bool)
    if not callable(torque):
        bases = floating(own, torque)
    held = np.ones(arm.nu, dtype=bool) if end.held is None else end.held
    if end.tip is not None:
        raise ArgumentError(
            "path ends at a place of the tip, expected positions of the joints; "
            "trajectory takes such a place"
        )
    if (held == bases[: arm.nu]).any():
        k = int(np.argmax(held == bases[: arm.nu]))
        name = arm.coordinate_names[k]
        raise ArgumentError(
            f"path ends with a position of {name!r}, which floats and ends where its "
            'momentum leads it; expected {"joints": {...}} with all other joints'
            if held[k]
            else f"path ends without a position of {name!r}, expected those of all "
            "joints but of a base that floats"
        )
    return charted(own, start.q, end.q)


def _whole_postures(arm: Arm, path: Any) -> tuple[End, End]:
    """Both postures of an arm with quaternions."""
    if not isinstance(path, list | tuple) or len(path) != 2:
        path = np.atleast_2d(real_array("path", path))
        if len(path) != 2:
            raise ArgumentError(
                f"path has shape {path.shape}, expected two postures of an arm with "
                "quaternions"
            )
    start = read_end(arm, "path[0]", path[0])
    return start, read_end(arm, "path[1]", path[1], start.q)


def _postures(level: RigidLevel, path: Any) -> Array:
    """Joint positions (2, nu) of a pair of postures."""
    chart = chart_of(level.arm)
    if chart is not None:
        whole = np.stack([end.q for end in _whole_postures(real_arm(level.arm), path)])
        return np.asarray(chart.coordinates(whole)[:, : level.n])
    if not isinstance(path, list | tuple | np.ndarray):
        raise ArgumentError(
            f"path is {type(path).__name__}, expected one of optimize.paths, or two "
            "postures"
        )
    array = real_array("path", path)
    if array.shape not in ((2, level.n), (2, level.arm.nq)):
        raise ArgumentError(
            f"path has shape {array.shape}, expected one of optimize.paths, or "
            f"(2, {level.n}): the postures at start and end"
        )
    return np.asarray(array[:, : level.n])
