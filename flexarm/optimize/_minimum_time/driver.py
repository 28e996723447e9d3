"""Fastest motion along a path, or between two postures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.arguments import real_array, refuse_linear
from ..._calls.arm_like import Array
from ..._calls.declared import Floats, Number, Positive
from ..._calls.doors import checked
from ..._support.recorded import recorded
from ...arm import Arm
from ...errors import ArgumentError
from ...simulation import Trajectory
from ...stacks import ArmStack
from .._aim import read_aim
from .._aside import clear_start
from .._charts import chart_of, charted, real_arm
from .._collocation.ends import End, read_end
from .._collocation.known import forces_of
from .._floating import drifting_path, floating
from .._more_modes import beside_more_modes
from .._parts import arms_of
from .._path import Path
from .._records import record_of
from .._result import OptimalMotion, warned
from .._rigid import RigidLevel
from ..limits import (
    Limits,
    LimitsLike,
    checked_limits,
    constant_torque,
    read_limits,
    refuse_unbounded,
    without_obstacles,
)
from ..paths import joint_path
from ..search import Search, read_search
from .between_postures import fastest_between
from .flexible_time import flexible_optimum
from .floating_base import (
    afloat_optimum,
    all_actuated,
    bases_of,
    of_actuators,
    undriven,
)
from .goals import fastest_of, postures_of_goal
from .options import FlexibleOptions, PostureOptions
from .rigid_time import rigid_optimum
from .ways_around import forces_around

__all__ = ["time_optimal"]

_OF_STATES = ("torque", "position", "velocity", "acceleration", "tip_speed")
_KEPT = (*_OF_STATES, "obstacles", "self_collision")
_EXACT: dict[str, Any] = {"intervals": 1000, "scheme": "interpolation"}
_UNUSED = {"time_limit": None, "progress": None}  # where nothing is searched for
_SEARCH: dict[str, object] = {"intervals": None, "solver": "ipopt", "tolerance": 1e-5}
_SEARCH |= {"max_iterations": 150, "time_limit": None, "progress": False}
_PROGRAMS: dict[str, object] = {"intervals": 40, "max_iterations": 16}
_PROGRAMS |= {"time_limit": None, "progress": False}
_WINDOWS = {"pre_actuation": 0.2, "post_actuation": 0.2}
# along a path, and between two postures
_ON_PATH = {"tip_tolerance": 4e-4, "rest_speed": 0.02, "smoothness": 3e-3}
_ON_PATH |= {"orientation_tolerance": 3e-3}
_FREE = {"tip_tolerance": 1e-4, "rest_speed": 0.05, "smoothness": 3e-4}
# Part of the way that the tolerance at its end does not exceed by default: short
# motions would gain time by ending early.
_WAY_SHARE = 1e-3


@checked
@recorded("optimize.time_optimal")
def time_optimal(
    arm: Arm | ArmStack,
    path: object,
    *,
    limits: LimitsLike = None,
    start: ArrayLike | None = None,
    initial: OptimalMotion | Trajectory | None = None,
    rates: Annotated[ArrayLike, Floats("(2,)")] | None = None,
    tip_tolerance: Positive | None = None,
    orientation_tolerance: Positive | None = None,
    rest_speed: Positive | None = None,
    smoothness: Annotated[float, Number(least=0.0, most=10.0)] | None = None,
    search: Search | Mapping[str, object] | None = None,
    check: bool = True,
) -> OptimalMotion:
    r"""Fastest motion from rest to rest, along a path or between two postures.

    Along a path a rigid arm has one degree of freedom left, and its optimum is exact.
    A flexible arm follows a path within a tolerance; torques act before its tip moves
    and after it has come to rest.

    Parameters
    ----------
    arm : Arm or ArmStack
        Tree; gears may be rigid.  Of a stack of rigid arms, such as one with several
        payloads, on a path: the fastest motion of which all of them keep their limits,
        each with forces of its own, see ``scenarios`` of the motion.
    path : Path, or pair of postures
        One of `optimize.paths`; of an arm with flexible links or joints, one of the
        tip.  Or two postures of the joints in rad or m, (2, nu), with (w, x, y, z) of
        quaternions: the arm moves from the first to the second on any way.  The second
        may be a goal of the tip as of `trajectory`, ``{"tip": ...}``, which the arm
        reaches in the faster of its two best branches, see Notes.  Without gravity a
        base on a joint with torques of zero floats; it has no goal, and the
        second posture names all others, ``{"joints": {"link1": 0.3}}``.  Rigid arms on
        such a base follow paths of the tip, and of all joints but those of the base,
        which then may also be without an actuator.  A path may carry an orientation of
        the tip (`paths.with_orientation`), or of one of its axes alone.
    limits : Limits or mapping
        Of torque, position, velocity, acceleration and tip_speed, and of an arm with
        flexible links or joints also of outputs, on a path of torque_rate; those of the
        joints by default.  A search keeps them at its nodes, between two postures at
        160 times at least; where the simulated motion exceeds them in between by more
        than a thousandth, it is repeated with narrower ones, on a path those of
        positions apart.  What is left is in ``verification.excess``.  Also obstacles
        and self_collision: along a path they choose the branch, and lead the joints
        that the path does not need around (see `track`); where every way touches
        something at rest it is refused.  Between postures the search also begins with
        two ways around.
    start : (nu,) or (nq,) array_like of float, optional
        Posture in rad or m near the start of a path of the tip, with (w, x, y, z) of
        quaternions, which chooses the branch (elbow up or down), and where a base that
        floats begins.
    initial : OptimalMotion or Trajectory, optional
        Of a search: a motion of this arm that it also starts from, such as the answer
        for other limits; between two postures its duration and forces alone.
    rates : (2,) array_like of float, optional
        Of a rigid arm on a path: rate of s at its start and end, in 1/s (0, 0).
    tip_tolerance : float, optional
        Of a search: largest distance of the tip from its path, and from the ends of the
        path in the windows before and after the motion; between two postures from its
        goal after the motion, which is residual vibration; in m (4e-4, between
        postures 1e-4, or a thousandth of the way if that is less: the root of the
        squares of that of the tip in m and those of the joints in rad or m).
    orientation_tolerance : float, optional
        Of a search along a path with an orientation: largest angle between the tip and
        that of the nearest place of the path, and of its ends in the windows, or from a
        goal with an orientation, in rad (3e-3).
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
        post_actuation (0.2), solver ("ipopt"), tolerance (1e-5), max_iterations of each
        search (150), time_limit of all, progress.  Without pre_actuation the tip is
        free to move as soon as torques act.  Between two postures: intervals (40),
        which are halved where torques change, max_iterations (16), linear programs from
        each start at most, time_limit, after which the best motion so far is brought to
        its goal and simulated, progress.
    check : bool
        Simulate the answer by another integrator with finer steps; without it nothing
        is corrected.

    Returns
    -------
    motion : OptimalMotion
        With ``limits`` and ``path``.  Of a rigid arm ``on_path.scaling`` has s, its
        rates and their limits, and ``scaling.at(t)``, ``on_path.way`` is the
        `PathMotion`; ``gap`` is the part of the duration that finer intervals would
        save, from one search with half of them.

        Of a search ``errors.tip`` is the largest distance of the simulated tip from its
        path, or after the motion from its goal, in m; ``starts`` have the durations
        found from each (on a path with half the intervals); ``gap`` is the part of the
        duration that is left to gain at most, as far as is known, see Notes; beside
        them ``fastest``, ``branches`` and ``more_modes``, see `OptimalMotion`.

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
    ModeWarning
        If after the motion the arm with more modes in its links is 0.2 % of the way of
        the tip or more from where this arm is, under the same forces.
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame, see
        `flexarm.largest_slope`; above one the motion fails.

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
    and near this motion is found, simulated, brought back to the goal by Newton's
    method, and so on.  For a linear arm this is the
    global optimum, else a local one, from the better of some starts: ``"rigid"``,
    torques of the rigid arm on the straight line of the joints, and ``"shaped"``, the
    same after a shaper that leaves the slowest mode at rest (N. C. Singer, W. P.
    Seering, J. Dyn. Syst. Meas. Control 112, 1990, 76-82); of driven spherical and free
    joints also ``"aside"``, with torques that leave the way about one axis, which is
    seldom the fastest.  Torques of the shortest time are at a limit nearly always;
    intervals with switches are halved three times.

    The gap between two postures is that to a lower bound: prices of the goal in a
    linear program of a shorter time lead to costates, with which the minimum principle
    of Pontryagin tells that no forces arrive in it, of the arm linearized about the
    answer, with limits of forces alone.  With other limits, and on a path, it is what
    finer intervals may gain, as if errors fell with their first power: on coarse grids,
    which do not resolve what vibrates, a higher order is not seen.  It is NaN where
    nothing tells it; `message` has it where it is above 2 % or NaN.  On a path half as
    many intervals again are compared, by default, and taken where they gain more than
    0.02; what narrowed limits cost is part of the gap.

    Postures that reach a goal of the tip are found by inverse kinematics from 48
    starts; the two to which the rigid arm moves fastest are searched.  Postures of
    redundant arms do not change in the search, that of `trajectory` does.

    Examples
    --------
    A mass of 2 kg on a slide, 3 N, 0.5 m: full force, then full brakes,
    2 sqrt(0.5 m 2 kg / 3 N) = 1.1547 s.

    >>> import flexarm as fa
    >>> from flexarm.optimize import paths, time_optimal
    >>> rail = fa.Joint.prismatic("x")
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
    if not isinstance(path, Path):
        _refuse_rates(limits)
    stack = arms_of(arm) if isinstance(arm, ArmStack) else ()
    arm = arms_of(arm)[0]
    own: dict[str, Any] = {
        "tip_tolerance": tip_tolerance,
        "orientation_tolerance": orientation_tolerance,
        "rest_speed": rest_speed,
        "smoothness": smoothness,
    }
    if isinstance(path, Path) and arm.nu < arm.nj and not stack:
        whole, every = all_actuated(arm, limits)
        given = own | {"start": start, "initial": initial, "rates": rates}
        given |= {"search": search, "check": check}
        found = time_optimal(whole, path, limits=every, **given)
        return of_actuators(found, arm)
    level = RigidLevel(_in_coordinates(arm, path, limits), "time_optimal")
    refuse_linear(arm, "time-optimal motions")
    if stack and not (level.is_exact and isinstance(path, Path)):
        raise ArgumentError(
            "arm is a stack for time_optimal of arms with flexible links or joints, or "
            "without a path, expected one of rigid arms on a path, or "
            'trajectory(stack, start, end, limits=..., cost="time")'
        )
    of_each = []
    if level.is_exact:
        what = "the fastest motion of a rigid arm"
        for one in stack:
            own_limits = read_limits(limits, one, _KEPT, what)
            of_each.append((RigidLevel(one, "time_optimal"), own_limits))
        limits = read_limits(limits, arm, _KEPT, what)
    elif isinstance(path, Path):
        also = (*_KEPT, "torque_rate", "outputs")
        limits = read_limits(limits, arm, also, "time_optimal along a path")
    else:
        kept = (*_KEPT, "outputs")
        limits = read_limits(limits, arm, kept, "time_optimal between two postures")
    refuse_unbounded(limits)
    own = {name: value for name, value in own.items() if value is not None}
    if isinstance(path, Path) and level.is_exact:
        what = "a rigid arm on a path, whose optimum is exact"
        _refuse(own if initial is None else {**own, "initial": initial}, what)
        exact = read_search(search, _EXACT | _UNUSED, what)
        exact = {name: exact[name] for name in _EXACT}
        optimum = partial(rigid_optimum, **exact, check=check, stack=of_each)
        rates = (0.0, 0.0) if rates is None else rates
        return warned(_exact(level, path, limits, start, rates, optimum))
    what = "a flexible arm or a motion without a path, which is searched for"
    _refuse({} if rates is None else {"rates": rates}, what)
    own |= {"check": check}
    found = _searched(level, path, limits, start, initial, own, search)
    return warned(beside_more_modes(found))


def _exact(
    level: RigidLevel,
    path: Path,
    limits: Limits,
    start: ArrayLike | None,
    rates: ArrayLike,
    optimum: partial[OptimalMotion],
) -> OptimalMotion:
    """Fastest motion of a rigid arm on a path."""
    bases = bases_of(level, path, limits)
    if bases is None:
        begin = clear_start(level.arm, path, start, limits)
        return optimum(level, path, limits, begin, rates)
    if optimum.keywords["stack"]:
        raise ArgumentError(
            "limits.torque of a stack are zero where a base floats, expected arms on a "
            "base that is fixed or driven"
        )
    return afloat_optimum(level, path, limits, start, rates, bases, optimum)


def _refuse_rates(limits: LimitsLike) -> None:
    """Refuse limits of torque_rate between two postures."""
    rate = record_of(Limits, "limits", limits).torque_rate
    if (
        rate is not None
        and not np.isposinf(np.abs(real_array("limits.torque_rate", rate))).all()
    ):
        raise ArgumentError(
            "limits.torque_rate is given for time_optimal between two postures, whose "
            'torques may jump; leave it out, or use trajectory with cost="time", which '
            "keeps it"
        )


def _refuse(options: Iterable[str], what: str) -> None:
    """Refuse options without effect."""
    for name in options:
        raise ArgumentError(f"{name} is given for {what}; leave it out")


def _searched(
    level: RigidLevel,
    path: Any,
    limits: Limits,
    start: ArrayLike | None,
    initial: OptimalMotion | Trajectory | None,
    own: dict[str, Any],
    search: Search | Mapping[str, object] | None,
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
        given = read_search(search, _SEARCH | _WINDOWS, "a flexible arm on a path")
        options = FlexibleOptions(**_ON_PATH | own | given)
        bases_of(level, path, limits)
        begin = clear_start(arm, path, start, limits)
        rigid = rigid_optimum(level, path, without_obstacles(limits), begin, **_EXACT)
        found = flexible_optimum(arm, path, rigid, limits, options, initial)
        return replace(found, path=path, limits=limits)
    aim = read_aim("path[1]", path[1]) if _has_goal(path) else None
    if "orientation_tolerance" in own and (aim is None or aim.rotation is None):
        _refuse({"orientation_tolerance": 0.0}, "two postures")
    if start is not None:
        raise ArgumentError("start is given without a path; leave it out")
    turn = own.pop("orientation_tolerance", _ON_PATH["orientation_tolerance"])
    given = read_search(search, _PROGRAMS, "a motion without a path")
    part = np.inf if "tip_tolerance" in own else _WAY_SHARE
    asked = PostureOptions(**_FREE | own | given, part=part)
    first = None if initial is None else _forces_of(initial, real_arm(arm))
    if aim is None:
        found = _between(level, _postures(level, path), limits, asked, first)[1]()
    else:
        pairs = postures_of_goal(level, path[0], aim, limits)
        ways = [partial(_between, level, x, limits, asked, first) for x in pairs]
        found = fastest_of(ways, aim, turn)
    return replace(found, limits=limits)


def _has_goal(path: object) -> bool:
    """Whether a pair of postures ends with a goal of the tip."""
    if not isinstance(path, list | tuple) or len(path) != 2:
        return False
    return isinstance(path[1], Mapping) and "tip" in path[1]


def _between(
    level: RigidLevel,
    ends: Array,
    limits: Limits,
    asked: PostureOptions,
    first: tuple[Array, Array] | None,
) -> tuple[float, Callable[[], OptimalMotion]]:
    """A search between two postures (2, nu), and a duration to compare it by.

    That is the duration of the rigid arm on the straight line of the joints.
    """
    arm = level.arm
    bases = floating(arm, constant_torque(limits, "a motion without a path"))
    line, driven = joint_path(ends, kind="straight"), without_obstacles(limits)
    if bases.any():
        line = drifting_path(arm, ends, bases)
        driven = undriven(driven, bases[: arm.nu])
    rigid = rigid_optimum(level, line, driven, **_EXACT)

    def search() -> OptimalMotion:
        around = forces_around(level, ends, limits, rigid.duration)
        return fastest_between(arm, rigid, limits, asked, first, around)

    return rigid.duration, search


def _forces_of(motion: OptimalMotion | Trajectory, arm: Arm) -> tuple[Array, Array]:
    """Times (n,) of a motion and forces (n, nu) of its actuators."""
    t, tau = np.asarray(motion.t), forces_of(motion)
    if tau is None or tau.shape[1] != arm.nu or len(t) < 2:
        raise ArgumentError(
            f"initial has forces of shape {np.shape(motion.tau)}, expected finite ones "
            f"of shape (n, {arm.nu}) at two times or more, of one motion of this arm"
        )
    return t, tau


def _in_coordinates(arm: Arm, path: object, limits: LimitsLike) -> Arm:
    """The arm, with quaternions about the middle of two postures."""
    if arm.nq == arm.nv or isinstance(path, Path):
        return arm
    start, end = _whole_postures(arm, path)
    torque = checked_limits(record_of(Limits, "limits", limits), arm).torque
    bases = np.zeros(arm.nv, dtype=bool)
    if not callable(torque):
        bases = floating(arm, torque)
    held = np.ones(arm.nu, dtype=bool) if end.held is None else end.held
    if end.aim is not None:
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
    return charted(arm, start.q, end.q)


def _whole_postures(arm: Arm, path: object) -> tuple[End, End]:
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


def _postures(level: RigidLevel, path: object) -> Array:
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
