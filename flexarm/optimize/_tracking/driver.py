"""Forces that lead the tip of a flexible arm along a trajectory."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.declared import Choice, Positive
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
from .least_squares import SEARCH, by_least_squares
from .tip_collocation import by_collocation
from .tip_task import Answer, TipTask
from .tip_trajectory import timed

__all__ = ["Method", "track", "tracked"]


class Method(NamedTuple):
    """A search, with the defaults of its options, and of tolerances in m and rad."""

    name: str
    find: Callable[..., Answer]
    search: Mapping[str, object]
    adds: bool = True  # its positions are coordinates that add
    tolerances: tuple[float, float] = (np.inf, np.inf)


_COLLOCATION = Method(
    "collocation",
    by_collocation,
    {"intervals": 60, "solver": "ipopt", "max_iterations": 200, "tolerance": 1e-6}
    | {"pre_actuation": 0.2, "post_actuation": 0.2}
    | {"time_limit": np.inf, "progress": False},
    tolerances=(5e-5, 1e-4),
)
_METHODS = {
    "least squares": Method("least squares", by_least_squares, SEARCH),
    "collocation": _COLLOCATION,
}


class _OneOfMethods(Choice):
    """One of the methods; those of sources are named with their place."""

    def hint(self, value: object) -> str:
        name = str(value).replace(" ", "_")
        if name in ("shooting", "stable_inversion", "frequency_domain"):
            return f"; {value} is flexarm.reference.tracking.{name}(arm, path, ...)"
        return super().hint(value)


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
        str, _OneOfMethods("least squares", "collocation")
    ] = "least squares",
    law: Annotated[
        str, Choice("cycloidal", "quintic", "septic", "ninth_degree")
    ] = "cycloidal",
    start: ArrayLike | None = None,
    axes: str | None = None,
    limits: LimitsLike = None,
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
        follows too, or one of its axes alone, with a free spin.
    duration : float, optional
        Of the motion of the tip, in s; that of the times, if there are any.
    method : {"least squares", "collocation"}
        See the notes.
    law : {"cycloidal", "quintic", "septic", "ninth_degree"}
        Time law along a `Path`.
    start : (nu,) or (nq,) array_like of float, optional
        Posture in rad or m near the start, with (w, x, y, z) of quaternions, which
        chooses the branch (elbow up or down).
    axes : str, optional
        Coordinates of the tip that follow, such as ``"y"``; by default all in which it
        can move.  An arm with less actuators than these follows as near as it can.
    limits : Limits or mapping, optional
        Of all that `Limits` has.  They are compared with the simulated motion (of a
        rigid arm with the exact one), and one that is exceeded is a failure, see
        ``verification.excess``.  The motion of the tip is given and leaves little
        choice: of obstacles and self_collision that of a branch, and joints that the
        path does not need are led around, see Notes.  Collocation keeps limits of
        forces, joints, outputs and, where it has a choice, of clearances.
    tip_tolerance : float, optional
        Largest error of the tip along each axis, before and after the motion too, in m.
        Collocation keeps nine tenths of it at the nodes (5e-5); the answer of least
        squares is compared with it, by default with a fiftieth of the extent of the
        trajectory.
    orientation_tolerance : float, optional
        Largest angle between the tip and the orientation of its path, in rad; of
        collocation (1e-4) seven tenths of it at the nodes, of least squares 0.02.  An
        arm with less actuators than coordinates of the tip bends as its motion wants
        it; where no motion is within the tolerances of collocation, the message has
        those that can be held.
    search : Search or mapping, optional
        See the notes for the options of each method.
    check : bool
        Simulate the answer by another integrator with finer steps.

    Returns
    -------
    motion : OptimalMotion
        Motion, forces and their verification.  At the nodes ``errors.tip`` are the
        largest errors along the axes in m, with an orientation ``errors.orientation``
        in rad.  Also ``path``, if the tip follows in all its axes, ``limits`` and
        ``more_modes``, see `OptimalMotion`.

    Raises
    ------
    ArgumentError
        If the trajectory is out of reach or leads through a singular posture (the
        message says when and where), a joint with a quaternion turns by more than 5 rad
        from the middle of the motion, the method does not support the arm, or the tip
        of a flexible arm does not start from rest and end at rest.
    ConvergenceError
        If the equations are singular.

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
    ``"least squares"``: motion and forces of the least errors of the tip, before and
    after its motion too, by Radau points in each interval and Newton's method.  An arm
    with as many actuators as coordinates of the tip follows exactly at the nodes, and
    between them to some tenths of a micrometre in the example below; with more of them
    its joints stay near those of the rigid arm and forces are calm; with less the
    errors, of which a radian of the orientation counts as the extent of the trajectory,
    are as small as they can be.  Limits are compared with the answer and do not change
    it.  Options: intervals between the nodes of the forces (100), pre_actuation and
    post_actuation (0.2), max_iterations (50), tolerance of the last step of the
    coordinates in rad and m (1e-5), time_limit (none), progress.

    ``"collocation"``: the calmest forces, of the least sum of squared changes, with
    which the tip stays within a tolerance and the arm within its limits; the same
    equations in a nonlinear program.  Where exact tracking takes peaks, as at the jumps
    of the third derivative of the cycloidal law, it does without them.  Options:
    intervals (60), pre_actuation and post_actuation (0.2), solver ("ipopt"),
    max_iterations (200), tolerance (1e-6), time_limit (none), progress.

    The methods of three sources are in `flexarm.reference.tracking`: shooting [1]_,
    stable inversion [2]_, and the frequency domain [3]_.  On the problems of the
    campaign their errors are larger, or they solve less of them.

    A rigid arm needs no search, its forces are those of inverse dynamics.

    With obstacles the first branch is taken that touches none; if all do, joints that
    the path leaves free follow splines over it, C q = c(s), whose coefficients keep
    away by least squares [4]_.  Flexible arms start from this motion and stay near it.

    References
    ----------
    .. [1] M. Farid, *Dynamic Modeling and Optimal Control of Flexible Manipulators*,
       PhD thesis, University of Calgary, 1997, chapter 7.
    .. [2] S. Devasia, D. Chen, B. Paden, "Nonlinear inversion-based output tracking",
       *IEEE Trans. Automatic Control* 41(7), 1996, 930-942.
    .. [3] E. Bayo, "A finite-element approach to control the end-point motion of a
       single-link flexible robot", *J. Robotic Systems* 4(1), 1987, 63-75.
    .. [4] H. Seraji, "Configuration control of redundant manipulators: theory and
       implementation", *IEEE Trans. Robotics Automation* 5(4), 1989, 472-490.

    Examples
    --------
    The two-link arm of [1]_ follows a line of 0.54 m in 0.5 s:

    >>> import flexarm as fa
    >>> from flexarm.optimize import paths, track
    >>> arm = fa.library.farid_two_link()
    >>> line = paths.line([1.8, 0.2], [1.6, 0.7])
    >>> elbow_up = fa.library.poses(arm)["A"]
    >>> motion = track(arm, line, 0.5, start=elbow_up)
    >>> motion.success, bool(motion.verification.path_error.max() < 3e-6)
    (True, True)

    The forces begin before the tip moves and end after it:

    >>> print(motion.t[[0, -1]].round(2))
    [-0.1  0.6]
    """
    by = _METHODS[method]
    place, turn = by.tolerances
    by = by._replace(tolerances=(tip_tolerance or place, orientation_tolerance or turn))
    to = arm, path, duration, law, start, axes
    return tracked(by, to, limits, search, check)


def tracked(
    by: Method,
    to: tuple[Arm, object, float | None, str, ArrayLike | None, str | None],
    limits: LimitsLike,
    search: Search | Mapping[str, object] | None,
    check: bool,
    **own: object,
) -> OptimalMotion:
    """The motion of a tip by a method, verified; that of a rigid arm without a search.

    `to` are arm, path, duration, law, start and axes of `track`; `own` are options of
    the method alone.
    """
    began = time.perf_counter()
    arm, path, duration, law, start, axes = to
    options = own | read_search(search, by.search, f"method {by.name!r}")
    bounds = read_limits(limits, arm, _KEPT, "track")
    rigid = _is_rigid(arm)
    given, add = (start, axes, bounds, by.tolerances), by.adds and not rigid
    task = TipTask(arm, timed(path, duration, law), *given, add=add)
    ready = time.perf_counter()
    if rigid:
        answer = _rigid(task)
    elif moving := task.to.moving_ends():
        raise ArgumentError(moving)
    else:
        answer = by.find(task, **options)
        q, qd, qdd = real_motion(task.arm, answer.q, answer.qd, answer.qdd)
        answer = answer._replace(q=q, qd=qd, qdd=qdd)
    found_at, verification = time.perf_counter(), None
    with held():
        if check and answer.status != "interrupted":
            verification = _verified(task, answer, rigid)
            if verification is None:
                message = f"{UNVERIFIED}: {answer.message}"
                answer = answer._replace(status="interrupted", message=message)
    ended = time.perf_counter()
    parts = ready - began, found_at - ready, ended - found_at, ended - began
    found = answer._asdict()
    del found["step"]
    motion = OptimalMotion(
        arm=arm,
        duration=task.to.duration,
        success=answer.status in ("solved", "acceptable"),
        method=_EXACT if rigid else by.name,
        timings=Timings(*parts),
        verification=verification,
        limits=bounds,
        path=task.to.path if task.whole else None,
        **found,
    )
    warn_of_stiffening(arm, motion.q, motion.qd)
    return warned(beside_more_modes(motion))


def _verified(task: TipTask, answer: Answer, rigid: bool) -> Verification | None:
    """The simulated forces, or None after Ctrl-C."""
    T, most = task.to.duration, _MAX_ERROR_SHARE * task.to.extent
    found = verified(
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
        path_tolerance=min(task.tolerances[0], most),
        orientation_tolerance=min(task.tolerances[1], _MAX_TURN_ERROR),
        rest_speed=_REST_SHARE * task.to.extent / T,
        limits=None if rigid else task.limits,
    )
    if found is None or not rigid:
        return found
    # without feedback many rigid arms are unstable, and stray
    exact = Trajectory(task.real, *answer[:3], answer.tau)
    return replace(found, excess=excess_of(exact, task.limits, qdd=answer.qdd))


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
