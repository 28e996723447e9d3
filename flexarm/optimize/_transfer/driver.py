"""Optimal motions from rest to rest: least energy, effort, time, largest payload."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Annotated

from numpy.typing import ArrayLike

from ..._calls.declared import Choice, Floats
from ..._calls.doors import checked
from ..._support.recorded import recorded
from ...arm import Arm
from ...simulation import Trajectory
from ...stacks import ArmStack
from .._collocation.known import Known, read_initial
from .._more_modes import beside_more_modes
from .._parts import arms_of
from .._result import OptimalMotion, scenario_of, warned
from ..limits import LimitsLike
from ..search import Search, read_search
from .branches import worth_a_search
from .design import Design
from .searches import searched
from .stacks import stacked
from .task import Task, read_tasks

_GRID: dict[str, object] = {"intervals": None, "scheme": None, "points": None}
_SEARCH = _GRID | {"solver": "ipopt", "tolerance": 1e-8}
_SEARCH |= {"max_iterations": 300, "time_limit": inf, "progress": False}


@checked
@recorded("optimize.trajectory")
def trajectory(
    arm: Arm | ArmStack | Design,
    start: object,
    end: object,
    *,
    duration: float | tuple[float, float, float] | None = None,
    cost: str | Mapping[str, float] | None = None,
    limits: LimitsLike = None,
    payload: Annotated[str, Choice("maximize")] | None = None,
    payload_limits: Annotated[ArrayLike, Floats("(2,)")] = (0.0, inf),
    losses: Annotated[ArrayLike, Floats("()", "(nu,)")] | None = None,
    search: Search | Mapping[str, object] | None = None,
    initial: OptimalMotion | Trajectory | None = None,
    check: bool = True,
) -> OptimalMotion:
    r"""Motion from rest to rest that costs least, with forces of the actuators.

    Links and joints may be flexible: the arm is in static equilibrium at both ends,
    without vibration.  Parameters of the arm may be unknowns of the same problem.

    Parameters
    ----------
    arm : Arm, ArmStack or Design
        Tree, with spherical and free joints too, see Notes; or one with parameters to
        be chosen; or a stack of arms, such as one with several payloads, which one
        motion serves, see Notes.
    start, end : (nu,) or (nq,) array_like of float or mapping
        Positions of all joints in rad or m, with (w, x, y, z) of quaternions; or a goal
        of the tip, for which joint positions are found: its place in m,
        ``{"tip": (x, y, z)}``, its pose, ``{"tip": T}`` with T (4, 4), or its place and
        the direction of one of its axes in the base frame, about which it may spin,
        ``{"tip": (x, y, z), "orientation": (0, 0, -1), "axis": "z"}``.  Without an axis
        the orientation is a rotation (3, 3).  The end may name some joints by their
        bodies, ``{"joints": {"link1": 0.3}}``; the others are free.
    duration : float, (3,) tuple of float or None
        In s; least, first and largest for a free one; None for a free one that the
        limits of torque bound, with ``"time"`` among the costs.
    cost : str or mapping of str to float, optional
        Costs and their weights; see Notes.  By default the effort, or the payload if it
        is maximized.
    limits : Limits or mapping, optional
        Of torque, torque_rate, position, velocity, acceleration, outputs, obstacles and
        self_collision, by default those of the joints.  All but accelerations are
        narrowed where they do not hold between the nodes, see Notes.
    payload : {"maximize"}, optional
        Find the largest point mass at the tip with which the motion is possible; its
        weight is ``cost["payload"]``.
    payload_limits : (2,) array_like of float
        Its least and largest value in kg.
    losses : float or (nu,) array_like of float, optional
        Copper losses of the motors in W/(N m)^2, resistance over the square of the
        torque constant, of the forces of the actuators; for ``"energy"``.
    search : Search or mapping, optional
        Intervals, between which forces are linear; scheme and points (2) of
        collocation; by default 40 to 160 intervals and the scheme that suit the modes
        of the arm, see Notes; solver ("ipopt"), tolerance (1e-8), max_iterations (300),
        time_limit (none) of all searches, progress.
    initial : OptimalMotion or Trajectory, optional
        Motion of this arm to begin the search with, such as the last answer; its times
        are stretched to the duration.
    check : bool
        Simulate the forces by another integrator.

    Returns
    -------
    motion : OptimalMotion
        With ``limits`` and ``gap`` (see Notes); ``least_cost`` has ``costs`` (each
        without its weight), ``narrowed`` (see Notes) and ``searches``, one record of
        each; of a Design or a maximized payload also ``parameters``, (k,), of the
        latter ``payload`` in kg, too; ``arm`` is that of the parameters found.  Also
        ``branches`` and ``more_modes``, see `OptimalMotion`.

    Raises
    ------
    ArgumentError
        If an end is out of reach or not in equilibrium, or nothing bounds a free
        duration.

    Warns
    -----
    ConvergenceWarning
        If the solver stops early, or the simulated motion ends elsewhere or exceeds a
        limit by more than one percent of half its range; the result has the best motion
        and its status.
    ModeWarning
        If after the motion the arm with more modes in its links is 0.2 % of the way of
        the tip or more from where this arm is, under the same forces.
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame, see
        `flexarm.largest_slope`; above one the motion fails.

    See Also
    --------
    time_optimal : least time along a path.
    track : forces for a given motion of the tip.

    Notes
    -----
    ===============  =============================================================
    effort           :math:`\int \sum \tau_i^2\, dt` in (N m)^2 s
    energy           :math:`\int \sum r_i \tau_i^2 + \tau_i \dot q_i\, dt` in J:
                     electrical, with motors that feed back what they brake
    torque rate      :math:`\int \sum \dot\tau_i^2\, dt` in (N m)^2/s
    time             duration in s
    vibration        energy in J that is left in the modes at the end, about the
                     posture with still joints; modes are then not at rest exactly
    payload          less its mass in kg
    design           ``Design.cost``
    ===============  =============================================================

    Direct collocation in residual form: J. T. Betts, *Practical Methods for Optimal
    Control* (2010), chapter 4.  The answer is a local optimum near the first motion,
    of ninth degree in time; of a Design near the optimum of its first parameters.  If
    the solver fails, it begins again with the optimum of a linear model.  Forces
    between knots are linear, so that jumps of the exact forces (bang-bang) are resolved
    to an interval.

    A linear model of the arm tells what rest of the modes costs on a grid and on a fine
    one, and so chooses the scheme: evenly spaced Gauss points, or, mostly for stiff
    links, Radau points and intervals that are shorter at both ends.
    ``gap`` is the part of the cost that finer forces would save: by this
    model against exact steps, with limits or for the least time or largest payload also
    by a search with half the intervals, a third of what it costs more (Richardson), all
    of that where forces jump, or of what it costs less; NaN if this fails.  What
    narrowed limits cost at most is in it, and `message` has it if it is above 2 %.

    What links stay away from counts from when a motion comes near to it; then the
    search also begins with up to three ways of the joints around it, on different sides
    of it, and the cheapest motion is the answer.  Where there is no way, the answer
    leads through, and fails.  Places, radii and strains of the links of a
    Design are those of the parameters found; the ways are those of the first ones.

    The arm of a success rests: the simulated tip ends within 0.2 % of its way from its
    goal with a tenth of its mean speed at most, if brakes then close it swings by 1 %
    of its way at most, and if forces hold the joints these swing by 1 % of the longest
    way of a joint.  Rates of joints without inertia of their own may be larger: modes
    that are fast swing little with them.

    Postures that reach a goal of the tip are found by inverse kinematics with the
    deflection by the weight, from 48 starts.  Up to three branches, of which smooth
    motions take the least effort, are searched, and the cheapest motion is the answer;
    `initial` chooses one.  The posture at the end is an unknown, in which redundant
    arms are free.  The simulated end is compared with the goal itself:
    ``verification.final_error`` and ``orientation_error`` may be 0.2 % of the way of
    the tip and of the angle by which it turns, one rad at least.

    Where the simulation exceeds limits, or ends elsewhere, they are narrowed or the
    intervals doubled, up to 160, or to the number that is given, until it does not.
    ``least_cost.narrowed`` is the largest part by which the limits of the answer were
    narrowed.  Where modes swing faster than intervals resolve, collocation gives them
    an energy that they do not have, and the simulated motion ends elsewhere.  Between
    joint positions, with a given duration, the costs effort and torque rate and no
    limits of rates, a search with exact steps follows where CasADi is installed:
    quadratic programs for the arm linearized about the simulated motion, by the
    exponentials of its matrices as in `time_optimal`; ``method`` is then ``"exact
    steps"``, `scheme` of its record ``"exact"``.  Where this does not help, rates of
    the forces and their jumps at both ends become a part of what the search minimizes,
    `calmed` of its record in ``searches``; what that costs is in the gap.

    Of joints with quaternions the unknowns are rotation vectors about the middle of
    the way, up to a full turn from it; limits and forces are those of the velocity
    coordinates, and positions have no limits.  A base whose joint has torques of zero,
    in no gravity and without springs or friction, floats: it moves by conserved
    momentum, and so comes to rest with the arm.

    Arms of a stack share the motion of what their actuators move: that of the joints,
    of the motors where gears are elastic.  Their links bend, and their controllers act,
    as they must: ``scenarios`` of the motion have states, forces and the verification
    of each.  All keep their limits and rest at both ends, which are joint positions,
    and a success is one of all.  Forces of the first are unknowns; those of the others
    follow from inverse dynamics at the collocation points.  Costs, limits of
    torque_rate, the grid, the first motions, the gap and all other attributes are those
    of the first arm, and searches stay away from obstacles with its links alone.

    Examples
    --------
    A mass of 1 kg on a slide, 1 m in 1 s with the least effort: the force falls from
    6 N to -6 N, and the effort is 12 N^2 s:

    >>> import flexarm as fa
    >>> from flexarm import optimize
    >>> slide = fa.RigidBody("mass", fa.Joint.prismatic("x"), mass=1.0)
    >>> arm = fa.Arm([slide], gravity=(0, 0, 0))
    >>> by_scipy = {"solver": "scipy"}
    >>> motion = optimize.trajectory(arm, [0], [1], duration=1.0, search=by_scipy)
    >>> motion.tau[[0, 20, 40], 0].round(4) + 0.0
    array([ 6.,  0., -6.])
    >>> round(motion.objective, 6)
    12.0

    A satellite on a ball joint turns by 1 rad about an axis of 2 kg m^2 with the least
    effort, 12 (2 kg m^2 1 rad)^2 / (1 s)^3:

    >>> body = fa.RigidBody("body", fa.Joint.spherical(), mass=1, inertia=(2, 3, 4))
    >>> arm = fa.Arm([body], gravity=(0, 0, 0))
    >>> goal = fa.se3.quaternion_exp([1.0, 0.0, 0.0])
    >>> start = [1.0, 0.0, 0.0, 0.0]
    >>> few = {"solver": "scipy", "intervals": 10}
    >>> motion = optimize.trajectory(arm, start, goal, duration=1.0, search=few)
    >>> round(motion.objective, 4)
    48.0
    """
    began = time.perf_counter()
    costs = cost, losses, payload, payload_limits
    others = duration, limits, initial

    def tasks_of(one: Arm | Design) -> list[Task]:
        return read_tasks(one, start, end, *costs, *others)

    if isinstance(arm, ArmStack):
        tasks = [stacked(arms_of(arm), lambda one: tasks_of(one)[0])]
    else:
        tasks = worth_a_search(tasks_of(arm))

    def first(task: Task) -> Known | None:
        return read_initial(initial, task.arm, len(task.first))

    first(tasks[0])
    options = read_search(search, _SEARCH, "trajectory")
    given = {name: options.pop(name) for name in _GRID}
    given = {name: value for name, value in given.items() if value is not None}
    found = searched(tasks, options, given, check, first, began)
    if isinstance(arm, ArmStack) and not found.scenarios:
        found = replace(found, scenarios=(scenario_of(found),))
    return warned(beside_more_modes(found))
