"""Forces that lead the tip of a flexible arm along a trajectory."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.declared import Choice, Number, Positive
from ..._calls.doors import checked
from ..._support.interrupts import held
from ..._support.recorded import recorded
from ...arm import Arm
from ...errors import ArgumentError
from ...simulation import Trajectory
from ...simulation.stiffening import warn_of_stiffening
from .._charts import real_motion
from .._excess import excess_of
from .._more_modes import beside_more_modes
from .._parts import Timings
from .._result import UNVERIFIED, OptimalMotion, Verification, warned
from .._verify import verified
from ..limits import Limits, LimitsLike, read_limits
from ..search import Search, read_search
from .frequency import by_frequencies
from .shooting_search import by_shooting
from .stable_inversion import by_stable_inversion
from .tip_collocation import by_collocation
from .tip_task import Answer, TipTask
from .tip_trajectory import timed

__all__ = ["track"]


class _Method(NamedTuple):
    """A search, with the defaults of its own options and of its record `Search`."""

    find: Callable[..., Answer]
    own: Mapping[str, object]
    search: Mapping[str, object]
    adds: bool = True  # its positions are coordinates that add


_WINDOWS = {"pre_actuation": 0.2, "post_actuation": 0.2}
_BY_ZEROS = {"pre_actuation": None, "post_actuation": None, "intervals": 500}
_ENDLESS = {"time_limit": np.inf, "progress": None}
_METHODS = {
    "shooting": _Method(
        by_shooting,
        {"weights": (1.0, 1.0), "power": 2.0, "smoothing": 0.0},
        {"intervals": 10, "steps": 10, "solver": "gauss-newton"}
        | {"max_iterations": None, "tolerance": 1e-7, **_WINDOWS, **_ENDLESS},
        adds=False,
    ),
    "stable inversion": _Method(
        by_stable_inversion,
        {},
        {"max_iterations": 30, "tolerance": 1e-9, **_BY_ZEROS, **_ENDLESS},
    ),
    "collocation": _Method(
        by_collocation,
        {"tip_tolerance": 5e-5, "orientation_tolerance": 1e-4},
        {"intervals": 40, "solver": "ipopt", "max_iterations": 200, "tolerance": 1e-6}
        | {"time_limit": np.inf, "progress": False, **_WINDOWS},
    ),
    "frequency domain": _Method(
        by_frequencies, {}, {"max_iterations": 30, "tolerance": 1e-9, **_BY_ZEROS}
    ),
}

_SQUARE = ("stable inversion", "frequency domain")  # as many actuators as rows
_KEPT = tuple(f.name for f in fields(Limits))
# Part of the extent of the trajectory: an error above it is no solution.
_MAX_ERROR_SHARE = 0.02
# Angle in rad from the orientation, above which there is no solution.
_MAX_TURN_ERROR = 0.02
# Part of the extent over the duration: a tip that is faster does not rest.
_REST_SHARE = 0.1
_EXACT = "inverse dynamics"  # method of rigid arms
# Steps of the inverse dynamics of a rigid arm, between which forces are linear.
_RIGID_STEPS = 500


@checked
@recorded("optimize.track")
def track(
    arm: Arm,
    path: object,
    duration: Positive | None = None,
    *,
    method: Annotated[
        str, Choice("shooting", "stable inversion", "collocation", "frequency domain")
    ] = "shooting",
    law: Annotated[
        str, Choice("cycloidal", "quintic", "septic", "ninth_degree")
    ] = "cycloidal",
    start: ArrayLike | None = None,
    axes: str | None = None,
    limits: LimitsLike = None,
    weights: tuple[float, float] | None = None,
    power: Annotated[float, Number(least=2.0)] | None = None,
    smoothing: Annotated[float, Number(least=0.0)] | None = None,
    tip_tolerance: Positive | None = None,
    orientation_tolerance: Positive | None = None,
    search: Search | Mapping[str, object] | None = None,
    check: bool = True,
) -> OptimalMotion:
    r"""Forces that lead the tip along a trajectory, from rest to rest.

    A flexible arm has to move before its tip does and after it: forces at the base
    reach a tip late, and first push it back.  Inverse dynamics forward in time
    therefore grows without bound; these methods see the whole motion at once.

    Parameters
    ----------
    arm : Arm
        Tree with flexible links, flexible joints, both or neither.
    path : Path, callable, (n, 3) array_like of float, or (times, places)
        Wanted places of the tip: one of `optimize.paths`, run through by `law`; a
        function ``path(t)`` of the time from zero to `duration` that returns places
        (..., 3) in m; samples at equal times; or samples (n, 3) and their times (n,) in
        s.  Places of two numbers have z = 0.  It rests before and after.  A `Path` may
        carry an orientation (`paths.with_orientation`), which the tip, bent as it is,
        follows too, or one of its axes alone, with a free spin (of flexible arms by
        shooting and collocation).
    duration : float, optional
        Of the motion of the tip, in s; that of the times, if there are any.
    method : {"shooting", "stable inversion", "collocation", "frequency domain"}
        See the notes.
    law : {"cycloidal", "quintic", "septic", "ninth_degree"}
        Time law along a `Path`.
    start : (nu,) or (nq,) array_like of float, optional
        Posture in rad or m near the start, with (w, x, y, z) of quaternions, which
        chooses the branch (elbow up or down).
    axes : str, optional
        Coordinates of the tip that follow, such as ``"y"``; by default all in which it
        can move.  An arm with one actuator has one.
    limits : Limits or mapping, optional
        Of all that `Limits` has.  They are compared with the simulated motion (of a
        rigid arm with the exact one), and one that is exceeded is a failure, see
        ``verification.excess``.  The motion of the tip is given and leaves little
        choice: of obstacles and self_collision that of a branch, and joints that the
        path does not need are led around, see Notes.  Collocation keeps limits of
        forces, joints, outputs and, where it has a choice, of clearances.
    weights : (2,) array_like of float, optional
        Of shooting: K1 and K2, of errors in the motion and after it (1, 1).
    power : float, optional
        Of shooting: sums of this power of the errors are minimized, 2 (default) or
        more; 4 lowers the largest errors and raises the others.
    smoothing : float, optional
        Of shooting: weight of second differences of the nodal forces, in m per N m
        (0); a small one calms forces of fine nodes, which hardly move the tip.
    tip_tolerance : float, optional
        Of collocation: largest error of the tip along each axis, before and after the
        motion too, in m (5e-5); the search keeps nine tenths of it at the nodes.
    orientation_tolerance : float, optional
        Of collocation: largest angle between the tip and the orientation of its path,
        in rad (1e-4); the search keeps seven tenths of it at the nodes.  An arm with
        less actuators than coordinates of the tip bends as its motion wants it; where
        no motion is within the tolerances, the message has those that can be held.
    search : Search or mapping, optional
        See the notes for the options of each method.
    check : bool
        Simulate the answer by another integrator with finer steps.

    Returns
    -------
    motion : OptimalMotion
        Motion, forces and their verification.  Of shooting and collocation (at the
        nodes) ``errors.tip``, the largest ones along the axes in m, with an orientation
        ``errors.orientation`` in rad.  ``tracking`` of shooting: ``nodes`` and
        ``nodal_tau``, ``history`` of the sum of squares, ``simulations``, their number.
        Of the other methods: ``zeros`` of the arm at the start (half way, in the
        frequency domain) in 1/s; of stable inversion ``time_constants`` of the slowest
        motion before and after that of the tip, and how long ``before`` and ``after``
        it the forces differ from those at rest by more than a thousandth, all in s.
        Also ``path``, if the tip follows in all its axes, ``limits`` and
        ``more_modes``, see `OptimalMotion`.

    Raises
    ------
    ArgumentError
        If the trajectory is out of reach or leads through a singular posture (the
        message says when and where), a joint with a quaternion turns by more than 5 rad
        from the middle of the motion (but with shooting), the method does not support
        the arm, stable
        inversion has more or less actuators than coordinates of the tip, or the tip of
        a flexible arm does not start from rest and end at rest.
    ConvergenceError
        If the motion from which a search starts diverges, or the equations of stable
        inversion are singular.

    Warns
    -----
    ConvergenceWarning
        If a search stops early, limits are exceeded, the simulated tip strays by more
        than a fiftieth of the extent of its trajectory or from its orientation by more
        than 0.02 rad, or is faster than a tenth of this extent over the duration before
        and after it, as far as forces are given; the result is the best found.
    ModeWarning
        If after the motion the arm with more modes in its links is 0.2 % of the way of
        the tip or more from where this arm is, under the same forces.
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame, see
        `flexarm.largest_slope`; above one the motion fails.

    See Also
    --------
    flexarm.inverse_dynamics : forces for a motion of all coordinates.
    flexarm.control.inversion : feedback that follows joint motion.

    Notes
    -----
    ``"shooting"`` [1]_ (section 7.3): forces linear between nodes; a simulation by
    average acceleration from static rest; least squares of the tip errors.
    Gauss-Newton with the exact derivatives of the simulation takes three or four steps
    from the forces of the rigid arm, where BFGS with differences takes a hundred, each
    with as many simulations as there are unknowns.  A radian of the orientation
    counts as a metre.  Options: intervals between the
    nodes of the forces (10), steps in each of them (10), pre_actuation and
    post_actuation (0.2, c1 and c2 of the thesis), solver ``"gauss-newton"`` (default)
    or ``"bfgs"`` as in the thesis, with differences of the sum of squares,
    max_iterations (50, of BFGS 500), tolerance of the last step as motion of the tip in
    m (1e-7), time_limit (none), progress.

    ``"stable inversion"`` [2]_: all coordinates and forces at all times as one boundary
    value problem, with rest before and after; windows are found and not chosen.  As
    many actuators as coordinates of the tip.  The tip is exact at the nodes; between
    them forces are linear, which leaves an error of order two, a micrometre in the
    example below.  An arm whose vibrations with its tip at rest decay or grow slowly
    needs long windows; neutral ones go on after the motion.  The inverse does not exist
    where the forces lose their effect on the acceleration of the tip.  Options:
    intervals between nodes (500), pre_actuation and post_actuation (by default from the
    zeros of the arm), max_iterations (30), tolerance of the last step of the
    coordinates in rad and m (1e-9), time_limit (none), progress.

    ``"collocation"``: the calmest forces, of the least sum of squared changes, with
    which the tip stays within a tolerance; by Radau points in each interval and a
    nonlinear program.  Where exact tracking takes peaks, as at the jumps of the third
    derivative of the cycloidal law, it does without them.  Options: intervals (40),
    pre_actuation and post_actuation (0.2), solver ("ipopt"), max_iterations (200),
    tolerance (1e-6), time_limit (none), progress.

    ``"frequency domain"`` [3]_ [4]_: the motion of the rigid arm is corrected by
    responses of the arm linearized about its rest half way until the exact equations
    hold, often in five to ten corrections, the fastest of these methods; they grow if
    the arm changes too much along the way.  Options: intervals (500), pre_actuation and
    post_actuation (by default from the zeros of the arm), max_iterations (30),
    tolerance of the last correction in rad and m (1e-9).

    A rigid arm needs no search, its forces are those of inverse dynamics.

    With obstacles the first branch is taken that touches none; if all do, joints that
    the path leaves free follow splines over it, C q = c(s), whose coefficients keep
    away by least squares [5]_.  Flexible arms start from this motion; shooting may
    leave it, and says so.

    References
    ----------
    .. [1] M. Farid, *Dynamic Modeling and Optimal Control of Flexible Manipulators*,
       PhD thesis, University of Calgary, 1997, chapter 7.
    .. [2] S. Devasia, D. Chen, B. Paden, "Nonlinear inversion-based output tracking",
       *IEEE Trans. Automatic Control* 41(7), 1996, 930-942.
    .. [3] E. Bayo, "A finite-element approach to control the end-point motion of a
       single-link flexible robot", *J. Robotic Systems* 4(1), 1987, 63-75.
    .. [4] E. Bayo, P. Papadopoulos, J. Stubbe, M. A. Serna, "Inverse dynamics and
       kinematics of multi-link elastic robots: an iterative frequency domain approach",
       *Int. J. Robotics Research* 8(6), 1989, 49-62.
    .. [5] H. Seraji, "Configuration control of redundant manipulators: theory and
       implementation", *IEEE Trans. Robotics Automation* 5(4), 1989, 472-490.

    Examples
    --------
    The two-link arm of the thesis follows a line of 0.54 m in 0.5 s to 0.27 mm, with 28
    unknowns; finer nodes lead to some micrometres:

    >>> import flexarm as fa
    >>> from flexarm.optimize import paths, track
    >>> arm = fa.library.farid_two_link()
    >>> line = paths.line([1.8, 0.2], [1.6, 0.7])
    >>> elbow_up = fa.library.poses(arm)["A"]
    >>> motion = track(arm, line, 0.5, start=elbow_up)
    >>> print(motion.variables, (1e3 * motion.errors.tip).round(3))
    28 [0.099 0.266]
    >>> finer = {"intervals": 50, "steps": 8}
    >>> motion = track(arm, line, 0.5, start=elbow_up, search=finer)
    >>> print((1e3 * motion.errors.tip).round(3))
    [0.001 0.001]

    Before the motion errors cost nothing, the verification has them too:

    >>> print((1e3 * motion.verification.path_error).round(2))
    [0.05 0.13 0.  ]

    Stable inversion finds that the arm moves some hundredths of a second in advance;
    its slowest motion with the tip at rest has a time constant of 5 ms:

    >>> motion = track(arm, line, 0.5, method="stable inversion", start=elbow_up)
    >>> print((1e3 * motion.tracking.time_constants).round(1))
    [5.2 5.2]
    >>> bool(motion.verification.path_error.max() < 2e-6)
    True
    """
    began = time.perf_counter()
    own = {
        "weights": weights,
        "power": power,
        "smoothing": smoothing,
        "tip_tolerance": tip_tolerance,
        "orientation_tolerance": orientation_tolerance,
    }
    options = _own(method, own)
    options |= read_search(search, _METHODS[method].search, f"method {method!r}")
    bounds = read_limits(limits, arm, _KEPT, "track")
    rigid = _is_rigid(arm)
    add = not rigid and _METHODS[method].adds
    task = TipTask(arm, timed(path, duration, law), start, axes, bounds, add=add)
    ready = time.perf_counter()
    if rigid:
        method, answer = _EXACT, _rigid(task)
    elif task.to.path.axis is not None and method in _SQUARE:
        raise ArgumentError(
            f"path leaves the spin about {task.to.path.axis} free, so that many "
            f"motions follow, of which method {method!r} takes none; expected "
            "rotations as its orientation, or method 'shooting' or 'collocation'"
        )
    elif moving := task.to.moving_ends():
        raise ArgumentError(moving)
    else:
        answer = _METHODS[method].find(task, **options)
        q, qd, qdd = real_motion(task.arm, answer.q, answer.qd, answer.qdd)
        answer = answer._replace(q=q, qd=qd, qdd=qdd)
    times = began, ready, time.perf_counter()
    with held():
        motion = _motion(task, answer, method, check, times, options)
    warn_of_stiffening(arm, motion.q, motion.qd)
    return warned(beside_more_modes(motion))


def _motion(
    task: TipTask,
    answer: Answer,
    method: str,
    check: bool,
    times: tuple[float, float, float],
    options: Mapping[str, Any],
) -> OptimalMotion:
    """The result, verified unless Ctrl-C ended the search."""
    verification = None
    if check and answer.status != "interrupted":
        T = task.to.duration
        verification = verified(
            task.real,
            answer.t,
            answer.q[0],
            answer.qd[0],
            answer.tau,
            answer.step,
            task.to.place,
            duration=T,
            axes=task.axes if not task.whole else slice(None),
            orientation=task.angles if task.to.path.is_oriented else None,
            path_tolerance=min(
                options.get("tip_tolerance", np.inf), _MAX_ERROR_SHARE * task.to.extent
            ),
            orientation_tolerance=options.get("orientation_tolerance", np.inf),
            rest_speed=_REST_SHARE * task.to.extent / T,
            limits=task.limits if method != _EXACT else None,
        )
        if verification is not None and method == _EXACT:
            # without feedback many rigid arms are unstable, and stray
            exact = Trajectory(task.real, *answer[:3], answer.tau)
            over = excess_of(exact, task.limits, qdd=answer.qdd)
            verification = replace(verification, excess=over)
        if verification is None:
            message = f"{UNVERIFIED}: {answer.message}"
            answer = answer._replace(status="interrupted", message=message)
    answer = _judged(answer, verification, task)
    ended = time.perf_counter()
    began, ready, found_at = times
    found = answer._asdict()
    del found["step"]
    return OptimalMotion(
        arm=task.real,
        duration=task.to.duration,
        success=answer.status in ("solved", "acceptable"),
        method=method,
        timings=Timings(
            ready - began, found_at - ready, ended - found_at, ended - began
        ),
        verification=verification,
        limits=task.limits,
        path=task.to.path if task.whole else None,
        **found,
    )


def _judged(answer: Answer, found: Verification | None, task: TipTask) -> Answer:
    """The answer, failed if the simulated tip is far from its trajectory."""
    if found is None or answer.status not in ("solved", "acceptable"):
        return answer
    off = f"{float(np.nanmax(found.path_error)):.3g} m"
    if np.nanmax(found.path_error) < _MAX_ERROR_SHARE * task.to.extent:
        if not found.orientation_error > _MAX_TURN_ERROR:
            return answer
        off = f"{found.orientation_error:.3g} rad from its orientation"
    message = (
        f"{answer.message}, but the simulated tip strays by {off}; expected "
        "shorter steps, a longer window before the motion, or a slower or smaller one"
    )
    return answer._replace(status="failed", message=message)


def _own(method: str, given: Mapping[str, object]) -> dict[str, object]:
    """Own options of a method, refused if it does not have them."""
    options = dict(_METHODS[method].own)
    for name, value in given.items():
        if value is None:
            continue
        if name not in options:
            others = [repr(m) for m in _METHODS if name in _METHODS[m].own]
            raise ArgumentError(
                f"{name} is given, which method {method!r} does not have; expected it "
                f"with {' or '.join(others)} alone"
            )
        options[name] = value
    return options


def _is_rigid(arm: Arm) -> bool:
    """True if joints move everything: no modes, and motors in rigid gears alone."""
    motors = arm.motor_slice.stop - arm.nu
    return bool(arm.nv == arm.nu + motors and motors == len(arm._held))


def _rigid(task: TipTask) -> Answer:
    """Inverse dynamics of a rigid arm."""
    t = np.linspace(0.0, task.to.duration, _RIGID_STEPS + 1)
    q, qd, qdd = task.rigid(t)
    tau = task.level.inverse_dynamics(q, qd, qdd)
    miss = float(np.abs(task.miss(t, q)).max())
    message = "the arm is rigid, its forces are those of inverse dynamics"
    found = t, q, qd, qdd, tau, float(t[1])
    return Answer(*found, miss, "solved", message, "closed form", 0, 0, miss)
