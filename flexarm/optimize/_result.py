"""Results of the optimizations: a motion, the search and its verification."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Floats
from .._calls.doors import checked_class
from .._support.arrays import Array
from .._support.labelled import Labelled, Labels
from .._support.later import Later
from .._support.options import missing_attribute
from .._support.warn import warn
from ..arm import Arm
from ..errors import ConvergenceError, ConvergenceWarning, DeflectionWarning
from ..kinematics.slopes import SLOPE_END, judge_slopes, quiet_slopes
from ..simulation import Trajectory
from ..simulation.trajectory import motion_coordinates, motion_variables
from ._aim import Branch
from ._excess import sentence
from ._parts import (
    Excited,
    FrequencyInverse,
    LeastCost,
    MoreModes,
    NodalForces,
    OnPath,
    StableInverse,
    Start,
    Timings,
    TipErrors,
)
from ._path import Path
from .limits import Limits


@checked_class
@dataclass(frozen=True, eq=False)
class Verification:
    """Simulation of the torques of an answer, with finer steps.

    Attributes
    ----------
    trajectory : Trajectory
        The simulated motion.
    step : float
        Its step in s.
    path_error : (3,) ndarray of float
        Largest absolute distances of the tip from its wanted place, along the axes of
        the base, in m, before and after the main motion too; NaN without one.
    final_error : float
        Largest distance of the tip from its goal after the motion, in m.
    final_rate : float
        Largest speed of the tip after the motion, in m/s.
    orientation_error : float
        Largest angle in rad between the tip, or the axis of it that has a direction,
        and its wanted orientation, at all times like `path_error`, of a goal after the
        motion; NaN without one.
    excess : dict of str to float
        Limits and tolerances that the simulated motion exceeds, before and after the
        main motion too, the largest excess first; empty if all hold.  Names are such as
        ``"velocity of 'link1'"``; numbers are parts of the limit, of half the range
        between a least and a largest value.  A success tolerates 0.01.
    """

    trajectory: Trajectory
    step: float
    path_error: Array
    final_error: float
    final_rate: float
    orientation_error: float = np.nan
    excess: Mapping[str, float] = field(default_factory=dict)


class Fastest(NamedTuple):
    """Search for the least time of an arm that bends, or between two postures.

    Attributes
    ----------
    rigid : OptimalMotion
        Fastest motion of the rigid arm.
    refinement : tuple of float
        Durations in s from grid to grid, on a path by default the last one of a rough
        search for comparison.
    intervals : int
        Of the duration, as they were given or chosen; between postures before they are
        halved.
    tip_tolerance : float
        In m, as it was given or chosen.
    """

    rigid: OptimalMotion
    refinement: tuple[float, ...]
    intervals: int
    tip_tolerance: float


class Scenario(NamedTuple):
    """One arm of a stack in a motion that serves all of them.

    Attributes
    ----------
    arm : Arm
        The arm.
    t : (n,) ndarray of float
        Times in s.
    q, qd, tau : (n, nq), (n, nv), (n, nu) ndarray of float
        Its own positions, velocities and forces of the actuators.
    verification : Verification or None
        Simulation of its forces.
    """

    arm: Arm
    t: Array
    q: Array
    qd: Array
    tau: Array
    verification: Verification | None


@checked_class
@dataclass(frozen=True, eq=False)
class OptimalMotion(Labelled):
    """Motion that an optimization found, with data on the search.

    `plot` and `animate` are `flexarm.plotting.optimal_motion` and
    `flexarm.plotting.animate` of it.

    Attributes
    ----------
    arm : Arm
        The arm.
    t : (n,) ndarray of float
        Times in s, zero at the start of the main motion; negative where the arm moves
        in advance of its tip.
    q, qd, qdd : (n, nq), (n, nv), (n, nv) ndarray of float
        Positions, velocities and accelerations at these times.
    tau : (n, nu) ndarray of float
        Forces of the actuators, linear in between.
    duration : float
        Of the main motion, in s.
    objective : float
        Minimized quantity.
    success : bool
        Whether the solver reached its tolerance and the simulation confirms the motion.
    status : str
        ``"solved"``, ``"acceptable"``, ``"infeasible"``, ``"iterations"``, ``"time"``,
        ``"interrupted"`` or ``"failed"``.
    message : str
        What happened, in a sentence.
    method, solver : str
        Formulation of the problem, and its solver.
    variables, iterations : int
        Number of unknowns, and steps of the solver.
    violation : float
        Largest violation of a constraint, in its own unit.
    timings : Timings
        Seconds: ``setup``, ``solver``, ``verification``, ``total``.
    verification : Verification or None
        The answer in an independent simulation; None if it is not verified, since
        ``check`` is False or Ctrl-C was pressed before.
    limits : Limits or None
        Limits that it was asked to keep, as arrays.
    path : Path or None
        Path that all axes of its tip, or its joints, follow.
    gap : float or None
        Part of the objective that is left to gain at most, NaN if unknown; None where
        nothing is minimized but errors.
    errors : TipErrors or None
        Of `time_optimal` and `track`: largest errors of the ``tip`` in m, and of its
        ``orientation`` in rad.
    starts : tuple of Start
        Of a search of `time_optimal`: ``name``, ``duration`` in s and ``success`` of
        what became of each first motion.
    branches : tuple of Branch
        With a goal of the tip: ``start``, ``end`` (nu,), ``objective`` and ``success``
        of the search in each branch.
    more_modes : MoreModes or None
        How far in m the same forces lead the tip of the arm with more modes in its
        links (`Arm.refined`) from that of the arm, ``during`` the motion and ``after``
        it; that ``arm``, and ``excess``, the limits that only it exceeds.
    on_path : OnPath or None
        Of a rigid arm on a path: ``scaling`` of the time, ``way`` of the coordinates,
        ``rows`` of the limits.
    fastest : Fastest or None
        Of a search of `time_optimal`: the motion of the ``rigid`` arm, ``refinement``,
        durations from grid to grid, ``intervals``,
        ``tip_tolerance``.
    tracking : NodalForces, StableInverse, FrequencyInverse or None
        Of the functions of `reference.tracking`.
    least_cost : LeastCost or None
        Of `trajectory`: ``costs``, ``searches``, ``narrowed``, ``parameters``,
        ``payload``.
    excited : Excited or None
        Of `exciting_motion`: ``names``, ``std``, ``covariance``, ``condition``,
        ``harmonics``.
    scenarios : tuple of Scenario
        Of a stack: each ``arm`` with ``t``, ``q``, ``qd``, ``tau`` and ``verification``
        of its own; the motion itself is that of the first.
    """

    arm: Arm
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    duration: float
    objective: float
    success: bool
    status: str
    message: str
    method: str
    solver: str
    variables: int
    iterations: int
    violation: float
    timings: Timings
    verification: Verification | None = None
    limits: Limits | None = None
    path: Path | None = None
    gap: float | None = None
    errors: TipErrors | None = None
    starts: tuple[Start, ...] = ()
    branches: tuple[Branch, ...] = ()
    more_modes: MoreModes | None = None
    on_path: OnPath | None = None
    fastest: Fastest | None = None
    tracking: NodalForces | StableInverse | FrequencyInverse | None = None
    least_cost: LeastCost | None = None
    excited: Excited | None = None
    scenarios: tuple[Scenario, ...] = ()

    if not TYPE_CHECKING:  # a type checker knows the attributes

        def __getattr__(self, name: str) -> NoReturn:
            # called for missing attributes
            hint = f"; expected one of {', '.join(_PARTS)}"
            raise missing_attribute(self, name, hint if name == "details" else "")

    # of a room above, which knows matplotlib
    plot = Later(__package__, ".plotting", "optimal_motion")
    animate = Later(__package__, ".plotting", "animate")

    def check(self) -> OptimalMotion:
        """Return itself if it is a success.

        Raises
        ------
        ConvergenceError
            If it is not; ``error.result`` is this object.
        """
        if self.success:
            return self
        error = ConvergenceError(f"{self.method}: {self.message}")
        error.result = self  # type: ignore[attr-defined]
        raise error

    def torque(
        self,
        t: float,
        q: Annotated[ArrayLike, Floats("(nv,)")] | None = None,
        qd: Annotated[ArrayLike, Floats("(nv,)")] | None = None,
    ) -> Array:
        """Forces at a time, for `simulate`; before and after, those at the ends.

        Parameters
        ----------
        t : float
            Time in s.
        q, qd : (nv,) array_like of float, optional
            State from `simulate` in rad or m, and per s; not used.

        Returns
        -------
        tau : (nu,) ndarray of float
            Forces in N m or N.

        Examples
        --------
        A cart of 2 kg under 3 N at most, ahead and then back, simulated with them:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> from flexarm.optimize import paths, time_optimal
        >>> rail = fa.Joint.prismatic("x")
        >>> arm = fa.Arm([fa.RigidBody("cart", rail, mass=2.0)])
        >>> way = paths.joint_path([[0.0], [0.5]], kind="straight")
        >>> motion = time_optimal(arm, way, limits={"torque": 3.0})
        >>> motion.torque(0.2).round(3), motion.torque(1.0).round(3)  # in N
        (array([3.]), array([-3.]))
        >>> t = np.linspace(0.0, motion.duration, 201)
        >>> run = fa.simulate(arm, [0.0], [0.0], t, torque=motion.torque)
        >>> run.q[-1].round(2)
        array([0.5])
        """
        columns = [np.interp(t, self.t, column) for column in self.tau.T]
        return np.array(columns)

    def _labels(self) -> Labels:
        words = {
            "title": f"optimal motion of {self.arm.name}",
            "method": self.method,
            "solver": self.solver,
            "status": self.status,
            "message": self.message,
            "success": str(self.success),
            "duration": self.duration,
            "objective": self.objective,
        }
        at = motion_coordinates(self.arm, self.t, self.tau)
        return Labels(motion_variables(self, ()), at, words)

    @property
    def largest_slope(self) -> Array:
        """(n,) largest slopes in rad of a link in its own frame."""
        return np.asarray(quiet_slopes(self.arm, self.q).max(axis=-1))

    @property
    def tip(self) -> Array:
        """(n, 3) positions of the tip in m."""
        place = self.arm.kernels.quiet("node_pose")(self.arm.tip_node, self.q)
        return np.asarray(place[..., :3, 3])

    def __repr__(self) -> str:
        return (
            f"<OptimalMotion of {self.arm.name!r}: {self.duration:.5g} s, "
            f"{self.method} by {self.solver}, {self.variables} unknowns, "
            f"{self.iterations} iterations; {self.message}>"
        )


# parts of a motion by their names
_PARTS = tuple(OptimalMotion.__dataclass_fields__)[
    list(OptimalMotion.__dataclass_fields__).index("limits") :
]
# Gap of a motion that is called optimal without a remark: 2 % of the cost may be left.
_MAX_GAP = 0.02


def on_path_of(motion: OptimalMotion) -> OnPath:
    """The part of the fastest motion of a rigid arm on a path."""
    assert motion.on_path is not None
    return motion.on_path


def least_cost_of(motion: OptimalMotion) -> LeastCost:
    """The part of a motion of `trajectory`."""
    assert motion.least_cost is not None
    return motion.least_cost


def scenario_of(motion: OptimalMotion) -> Scenario:
    """What one arm of a stack does."""
    return Scenario(*(getattr(motion, name) for name in Scenario._fields))


def each_of(motion: OptimalMotion) -> list[OptimalMotion]:
    """The motion, and those of the other arms of a stack, with what is common."""
    others = (one._asdict() for one in motion.scenarios[1:])
    return [motion, *(replace(motion, scenarios=(), **own) for own in others)]


def beyond(
    motion: OptimalMotion, missed: Callable[[OptimalMotion], str] = lambda one: ""
) -> str:
    """Sentence on a limit that a simulated motion exceeds, or what it missed, or "".

    Of a stack also on its other arms, with their numbers.
    """
    if motion.verification is None:
        return ""
    for k, one in enumerate(each_of(motion)):
        excess = one.verification.excess if one.verification else {}
        found = missed(one) or sentence(excess)
        if found:
            return f"arm {k} of the stack: {found}" if k else found
    return ""


def failed(
    motion: OptimalMotion, message: str, status: str = "failed"
) -> OptimalMotion:
    """The motion, as one that is no success for a reason."""
    return replace(motion, success=False, status=status, message=message)


UNVERIFIED = "interrupted while the answer was simulated, which is not verified"


def interrupted(motion: OptimalMotion, words: str) -> OptimalMotion:
    """The motion, as one after which Ctrl-C ended the search."""
    if motion.status == "interrupted":
        return motion
    return failed(motion, f"{words}: {motion.message}", "interrupted")


def unverified(motion: OptimalMotion) -> OptimalMotion:
    """The motion, as one whose simulation was interrupted."""
    return interrupted(motion, UNVERIFIED)


def warned(motion: OptimalMotion) -> OptimalMotion:
    """Return the motion, with warnings if links bend far or it does not succeed.

    A motion beyond the range of its model is none, nor one whose simulation exceeds a
    limit by more than what is tolerated.
    """
    if motion.success and (over := beyond(motion)):
        motion = failed(motion, over)
    left = _left(motion) if motion.success else ""
    if left:
        motion = replace(motion, message=f"{motion.message}; {left}")
    slopes, bent = judge_slopes(motion.arm, motion.q, motion.success)
    if bent:
        warn(bent, DeflectionWarning)
        lost = bool((slopes > SLOPE_END).any())
        motion = replace(
            motion,
            message=f"{motion.message}; {bent}",
            success=not lost,
            status="failed" if lost else motion.status,
        )
    if not motion.success:
        warn(
            f"{motion.method} stopped early ({motion.status}): {motion.message}; the "
            "result is the best motion found, see success, violation and "
            "verification",
            ConvergenceWarning,
        )
    return motion


def _left(motion: OptimalMotion) -> str:
    """Clause about what finer forces would save, where that is much or unknown."""
    gap = motion.gap
    if gap is None or gap <= _MAX_GAP:
        return ""
    what = f"up to {100.0 * gap:.2g} %" if np.isfinite(gap) else "an unknown part"
    return (
        f"finer intervals may save {what} of it (gap); compare with twice the intervals"
    )
