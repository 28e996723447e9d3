"""Fastest motion along a path, or between two postures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._calls.arguments import real_array, refuse_linear
from ..._support.options import explained
from ...arm import Arm
from ...errors import ArgumentError
from .._path import Path
from .._result import OptimalMotion, warned
from .._rigid import RigidLevel
from ..limits import Limits, read_limits, refuse_unbounded
from ..paths import joint_path
from ..search import Search, read_search
from .between_postures import fastest_between
from .flexible_time import flexible_optimum
from .options import FlexibleOptions
from .rigid_time import rigid_optimum

Array = NDArray[np.float64]

__all__ = ["time_optimal"]

_KEPT = ("torque", "position", "velocity", "acceleration", "tip_speed")
_EXACT: dict[str, Any] = {"intervals": 1000, "scheme": "interpolation"}
_UNUSED = {"time_limit": None, "progress": None}  # where nothing is searched for
_SEARCH: dict[str, Any] = {"intervals": 24, "solver": "auto", "tolerance": 1e-5}
_SEARCH |= {"max_iterations": 150, "time_limit": 60.0, "progress": False}
_FREE_SEARCH: dict[str, Any] = {"intervals": 40, "max_iterations": 16}
_WINDOWS = {"pre_actuation": 0.2, "post_actuation": 0.2}
_FINER = {"intervals": 32}  # along a path
# along a path, and between two postures
_ON_PATH = {"tip_tolerance": 4e-4, "rest_speed": 0.02, "smoothness": 3e-3}
_FREE = {"tip_tolerance": 1e-4, "rest_speed": 0.05, "smoothness": 3e-4}


@explained
def time_optimal(
    arm: Arm,
    path: Any,
    *,
    limits: Limits | Mapping[str, Any] | None = None,
    start: Any = None,
    rates: Any = None,
    tip_tolerance: float | None = None,
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
        Tree of joints without quaternions; gears may be rigid.
    path : Path or (2, nu) array_like of float
        One of `optimize.paths`; of an arm with flexible links or joints, one of the
        tip.  Or two postures of the joints in rad or m: the arm moves from the first to
        the second on any way.
    limits : Limits or mapping
        Of torque, position, velocity, acceleration and tip_speed, and of an arm with
        flexible links or joints also of outputs; those of the joints by default.  A
        search keeps those of outputs at its nodes; where the simulated outputs exceed
        them in between by more than a thousandth, it is repeated with narrower ones
        there, twice at most.  What is left is in ``details["output_excess"]``.
    start : (nu,) or (nq,) array_like of float, optional
        Posture in rad or m near the start of a path of the tip, which chooses the
        branch (elbow up or down).
    rates : (2,) array_like of float, optional
        Of a rigid arm on a path: rate of s at its start and end, in 1/s (0, 0).
    tip_tolerance : float, optional
        Of a search: largest distance of the tip from its path, and from the ends of the
        path in the windows before and after the motion; between two postures from its
        goal after the motion, which is residual vibration; in m (4e-4, between
        postures 1e-4).
    rest_speed : float, optional
        Of a search: largest speed of the tip in the windows (0.02), and after a motion
        between two postures (0.05), in m/s.
    smoothness : float, optional
        Of a search: weight of changes of torques beside the time (3e-3 along a path,
        3e-4 between two postures).  Smaller values come nearer to the shortest time
        with torques that jump, larger ones leave vibrations of high frequency alone.
    search : Search or mapping, optional
        Of a rigid arm on a path: intervals (1000) and scheme, ``"interpolation"``
        (default), ``"collocation"`` or ``"midpoint"``, see Notes.  Else: intervals
        (24, along a path 32), between which torques are linear, pre_actuation and
        post_actuation on a path (0.2), solver ("auto"), tolerance (1e-5),
        max_iterations (150) of each search, time_limit (60) of all, progress.  Arms
        with many fast modes may need more iterations and time.  Without pre_actuation
        the tip is free to move as soon as torques act.  Where corrections fail between
        two postures, see Notes, a search with more intervals and more smoothness
        follows.
    check : bool
        Simulate the answer by another integrator with finer steps; without it nothing
        is corrected.

    Returns
    -------
    motion : OptimalMotion
        ``details`` has ``"limits"`` and the ``"path"``: of a rigid arm the
        `PathMotion`, beside it ``"scaling"`` with s, its rates and their limits, and
        ``scaling.at(t)``.  Of a search it has ``"rigid"``, the motion of the rigid arm,
        and ``"tip_error"``, the largest distance of the simulated tip from its path, or
        after the motion from its goal, in m; with limits of outputs
        ``"output_excess"``, the excess of the simulated outputs as part of the limit.

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
    level = RigidLevel(arm, "time_optimal")
    refuse_linear(arm, "time-optimal motions")
    if level.is_exact:
        limits = read_limits(limits, arm, _KEPT, "the fastest motion of a rigid arm")
    else:
        limits = read_limits(limits, arm, (*_KEPT, "outputs"), "time_optimal")
    refuse_unbounded(limits)
    own = {
        "tip_tolerance": tip_tolerance,
        "rest_speed": rest_speed,
        "smoothness": smoothness,
    }
    own = {name: value for name, value in own.items() if value is not None}
    if isinstance(path, Path) and level.is_exact:
        what = "a rigid arm on a path, whose optimum is exact"
        _refuse(own, what)
        exact = read_search(search, _EXACT | _UNUSED, what)
        exact = {name: exact[name] for name in _EXACT}
        rates = (0.0, 0.0) if rates is None else rates
        exact |= {"check": check}
        return warned(rigid_optimum(level, path, limits, start, rates, **exact))
    what = "a flexible arm or a motion without a path, which is searched for"
    _refuse({} if rates is None else {"rates": rates}, what)
    return warned(_searched(level, path, limits, start, own | {"check": check}, search))


def _refuse(options: Mapping[str, Any], what: str) -> None:
    """Refuse options without effect."""
    for name in options:
        raise ArgumentError(f"{name} is given for {what}; leave it out")


def _searched(
    level: RigidLevel,
    path: Any,
    limits: Limits,
    start: Any,
    own: dict[str, Any],
    search: Any,
) -> OptimalMotion:
    """Fastest motion by collocation, from the optimum of the rigid arm."""
    arm = level.arm
    if isinstance(path, Path):
        if path.space != "tip":
            raise ArgumentError(
                "path is one of the joints of an arm with flexible links or joints, "
                "expected one of its tip, or the two postures at its ends"
            )
        given = read_search(
            search, _SEARCH | _FINER | _WINDOWS, "a flexible arm on a path"
        )
        options = FlexibleOptions(**_ON_PATH | own | given)
        rigid = rigid_optimum(level, path, limits, start, **_EXACT)
        found = flexible_optimum(arm, path, rigid, limits, options)
        return _detailed(found, path, limits)
    ends = _postures(level, path)
    if start is not None:
        raise ArgumentError("start is given without a path; leave it out")
    given = read_search(search, _SEARCH | _FREE_SEARCH, "a motion without a path")
    windows = dict.fromkeys(_WINDOWS, 0.0)
    options = FlexibleOptions(**_FREE | own | given | windows)
    line = joint_path(ends, kind="straight")
    rigid = rigid_optimum(level, line, limits, **_EXACT)
    found = fastest_between(arm, rigid, limits, options)
    return _detailed(found, None, limits)


def _detailed(
    motion: OptimalMotion, path: Path | None, limits: Limits
) -> OptimalMotion:
    """The motion with its path and its limits."""
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
            f"(2, {level.n}): the postures at start and end"
        )
    return np.asarray(array[:, : level.n])
