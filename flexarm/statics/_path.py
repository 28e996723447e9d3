r"""Paths of equilibria under loads that grow in proportion, through limit points.

With the unbalanced forces :math:`f(q) - \lambda F(q)`, those of constraints left out,
points of a path are found by pseudo-arclength continuation (H. B. Keller, in
*Applications of Bifurcation Theory*, 1977, 359-384): a step along the tangent t of
:math:`(q, \lambda)`, then Newton's method in the plane perpendicular to t, which is
regular where the tangent stiffness is singular and the load has an extremum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._calls.arm_like import ArmLike, Array
from .._calls.declared import (
    Count,
    Floats,
    JacobianFrame,
    Number,
    Positive,
    Posture,
)
from .._calls.doors import checked, checked_class
from .._support.arrays import Mask
from .._support.interrupts import INTERRUPTED, allowed
from .._support.interrupts import held as held_back
from .._support.recorded import Recorded, recorded
from .._support.warn import warn
from ..errors import ArgumentError, ConvergenceError, DeflectionWarning
from ..kinematics.positions import difference, integrate
from ..kinematics.slopes import SLOPE_END, judge_slopes, largest_slope
from ._equilibrium import judge_stretch, posed
from ._newton import Problem, solve
from .closed import open_by
from .coordinates import freedom, read_arm
from .given_loads import Loads, read_loads
from .spectrum import lowest_squares

# First step, and the shortest one, as parts of the range of factors or of 1 rad or m.
_FIRST_STEP, _MIN_STEP = 0.02, 1e-7
# Step down to which a change of the determinant is taken for a jump to another path.
_BRANCH_STEP = 1e-3
# Motion in rad or m of one coordinate, and part of the range of factors, in a step.
_MAX_MOTION = 0.5
# Corrections of a step, at most: with more it is too long.
_MAX_CORRECTIONS = 8
# Share of the allowed turn of the tangent at which a step is aimed.
_AIM = 0.6
# Part of the largest singular value below which one is zero.
_RANK_TOLERANCE = 1e-13
# Slope of the factor along the path that is zero: the factor is off by its square.
_FLAT = 1e-6
# Steps of the search for a limit point, at most.
_MAX_SECANTS = 20
# Ends of paths.
_LEFT = "the factor left its range"
_LOST = "no further point was found"
_BENT = "a link bends to a slope above one, beyond its model"


class _Point(NamedTuple):
    q: Array
    factor: float
    tangent: Array  # of unit length, motions of nodes and part of the range
    side: float  # sign of the determinant, zero with redundant couplings
    square: float
    stable: bool


@checked_class
@dataclass(frozen=True, eq=False)
class EquilibriumPath(Recorded):
    """Equilibria along a path, in the order in which it passes them.

    Attributes
    ----------
    factor : (n,) ndarray of float
        Factors of the wrench.
    q : (n, nq) ndarray of float
        Positions.
    stable : (n,) ndarray of bool
        Whether small motions with the held coordinates at rest remain small.
    lowest_square : (n,) ndarray of float
        As that of `equilibrium`, in 1/s^2.
    limits : (k,) ndarray of int
        Numbers of the points at which the factor has a maximum or a minimum.
    success : bool
        Whether the path left the range of factors, at its last point.
    message : str
        Where and why it ends.
    """

    factor: Array
    q: Array
    stable: Mask
    lowest_square: Array
    limits: NDArray[np.intp]
    success: bool
    message: str

    def check(self) -> EquilibriumPath:
        """Return itself if the path left the range of factors.

        Raises
        ------
        ConvergenceError
            If it ended before; ``error.result`` is this object.
        """
        if self.success:
            return self
        error = ConvergenceError(
            f"equilibrium_path: {self.message}; give a smaller range, links in more "
            "pieces, or more points"
        )
        error.result = self  # type: ignore[attr-defined]
        raise error


@checked
@recorded("equilibrium_path")
def equilibrium_path(
    arm: ArmLike,
    q: Posture,
    wrench: Annotated[ArrayLike, Floats("(6,)", "(m, 6)")],
    *,
    node: object = None,
    frame: JacobianFrame = "node",
    held: object = "joints",
    factors: Annotated[ArrayLike, Floats("(2,)")] = (-1.0, 1.0),
    max_turn: Annotated[float, Number(above=0.0, most=1.0)] = 0.15,
    tolerance: Positive = 1e-10,
    max_points: Count = 1000,
) -> EquilibriumPath:
    r"""Follow the equilibria of an arm under a growing wrench, through limit points.

    The path begins without the wrench, under the weight of the arm, goes on towards
    larger factors of the wrench, and ends where its factor leaves a range.  Between,
    the factor falls and rises again where the arm snaps through or back.

    Parameters
    ----------
    arm : Arm
        Arm, also with loops.
    q : (nq,) array_like of float
        Held positions, and initial ones of the others.
    wrench : (6,) or (m, 6) array_like of float
        Moment in N m and force in N of factor 1 on a node, or on each of m nodes.
    node : int, str, (body, node) or list of these, optional
        Nodes of the wrench; by default the tip.
    frame : {"node", "base"}
        Axes of the wrench: those of the node, which it follows, or of the base.
    held : {"joints", "motors"}, None, names or numbers
        Coordinates at rest, as of `equilibrium`.
    factors : (2,) array_like of float
        Range of factors, with zero inside.
    max_turn : float
        Largest angle in rad between tangents of the path at successive points, in
        motions of nodes in rad or m and parts of the range: half of it gives twice as
        many points.
    tolerance : float
        Largest last correction of a point, as of `equilibrium`.
    max_points : int
        Number of points after which the path ends in any case.

    Returns
    -------
    path : EquilibriumPath
        Factors, positions, stability, limit points; after Ctrl-C those found so far.

    Raises
    ------
    ArgumentError
        If zero is not inside the range.
    ConvergenceError
        If there is no equilibrium near `q` without the wrench.

    Warns
    -----
    AccuracyWarning
        If the stretch of a link matters; see `equilibrium`.
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; above one the path
        ends.

    See Also
    --------
    equilibrium : at a given load, where the path may have several points or none.

    Notes
    -----
    Points are those of pseudo-arclength continuation [1]_, with the exact tangent.  A
    step is halved until Newton's method converges, the path turns by no more than
    `max_turn` and its determinant keeps its sign, so that it does not jump to another
    one; limit points are found to rounding.  At a bifurcation, and where flutter
    begins, the path goes straight on, with a step of a thousandth of the range, and
    `stable` changes: a perfect column stays straight, and a small load to the side
    makes it bend.

    References
    ----------
    .. [1] H. B. Keller, "Numerical solution of bifurcation and nonlinear eigenvalue
       problems", in P. H. Rabinowitz (ed.), *Applications of Bifurcation Theory*, 1977,
       359-384.

    Examples
    --------
    A shallow truss: a bar of stiffness 1 N/m between a hinge and the top of a rail, 1 m
    away and 0.1 m above, which is pushed down.  At a height y it holds the force
    ``y (a / s - 1)``, with its lengths a at first and s now; it snaps through at the
    length ``a^(1/3)``:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> a = np.hypot(1.0, 0.1)
    >>> rail = fa.Joint.prismatic("z", position=(1.0, 0.0, 0.0))
    >>> spring = fa.Joint.prismatic("x", stiffness=1.0, rest=a)
    >>> bodies = [
    ...     fa.RigidBody("top", rail, mass=1.0),
    ...     fa.RigidBody("hinge", fa.Joint.revolute("y"), inertia=(1, 1, 1)),
    ...     fa.RigidBody("bar", spring, mass=1.0),
    ... ]
    >>> foot = fa.Loop(("bar", "tip"), directions=["x", "z"])
    >>> arm = fa.Arm(bodies, gravity=(0, 0, 0), constraints=[foot])
    >>> push = [0, 0, 0, 0, 0, -1e-3]
    >>> path = fa.equilibrium_path(
    ...     arm,
    ...     [0.1, np.pi - np.arctan(0.1), a],
    ...     push,
    ...     node=("top", "tip"),
    ...     frame="base",
    ...     held=None,
    ... )
    >>> path.message
    'the factor left its range, at factor 1'
    >>> round(1e3 * float(a ** (2 / 3) - 1.0) ** 1.5, 6)
    0.191494
    >>> path.factor[path.limits].round(6)
    array([ 0.191494, -0.191494])
    """
    read_arm(arm, "equilibrium_path", closed=True)
    low, high = np.asarray(factors, dtype=float)
    if not -np.inf < low < 0.0 < high < np.inf:
        raise ArgumentError(
            f"factors are {low:g} and {high:g}, expected a negative and a positive "
            "number: the path begins without the wrench"
        )
    loads = read_loads(arm, wrench, node, frame)
    assert loads is not None
    problem, start, still = posed(arm, np.array(q, float), loads, None, held, ())
    follow = _Follower(problem, still, (low, high), max_turn, tolerance)
    points: list[_Point] = []
    limits: list[int] = []
    message = f"the path has {max_points} points"
    with held_back():
        try:
            with allowed():
                points.append(follow.first(start))
            step = _FIRST_STEP
            while len(points) < max_points:
                with allowed():
                    ahead, step, end = follow.advance(points[-1], step)
                if len(ahead) > 1:
                    limits.append(len(points))
                points += ahead
                if end:
                    message = end
                    break
        except KeyboardInterrupt:
            if not points:
                raise
            message = INTERRUPTED
    return _result(arm, loads, points, limits, message)


class _Follower:
    """Steps along a path, in motions of nodes in rad or m and parts of the range."""

    def __init__(
        self,
        problem: Problem,
        still: Mask,
        ends: tuple[float, float],
        max_turn: float,
        tolerance: float,
    ) -> None:
        self.problem, self.still, self.ends = problem, still, ends
        self.max_turn, self.tolerance = max_turn, tolerance
        self.n, self.span = len(problem.columns), ends[1] - ends[0]
        self.sizes = problem.units[2][: self.n]

    def loaded(self, factor: float) -> Problem:
        """The problem under the wrench times a factor."""
        loads = self.problem.loads
        assert loads is not None
        loads = replace(loads, wrench=factor * loads.wrench)
        return replace(self.problem, loads=loads)

    def first(self, start: Array) -> _Point:
        """The equilibrium without the wrench."""
        found = solve(self.loaded(0.0), start[np.newaxis], self.tolerance, 50)
        if not found.success[0]:
            what = open_by(self.problem.arm, found.q)
            raise ConvergenceError(
                "equilibrium_path found no equilibrium without the wrench near q"
                f"{what and f', and ended where the arm violates {what}'}; give "
                "another start, or hold more coordinates"
            )
        return self.point(found.q[0], 0.0, self.upward)

    @property
    def upward(self) -> Array:
        """Direction of a larger factor."""
        return np.append(np.zeros(self.n), 1.0)

    def point(self, q: Array, factor: float, before: Array) -> _Point:
        """A point of the path, its tangent on the side of the one before."""
        _, A = self.system(q, factor, before)
        t, rank = self.answer(A, np.zeros(len(A) - 1), 1.0)
        t /= np.linalg.norm(t)
        side = float(np.linalg.slogdet(A)[0]) * (rank == len(A))
        square, zero = lowest_squares(
            self.loaded(factor),
            q[np.newaxis],
            freedom(self.problem.arm, self.still, q[np.newaxis]),
        )
        stable = bool(square[0] > 0.0 and not zero[0])
        return _Point(q, factor, t, side, float(square[0]), stable)

    def system(self, q: Array, factor: float, border: Array) -> tuple[Array, Array]:
        """Unbalance, and its matrix with that of a last equation.

        Rows and columns of couplings are scaled to the size of the stiffness.
        """
        rows, columns, _ = self.problem.units
        one = q[np.newaxis]
        rest = self.loaded(0.0).unbalance(one)[0]
        push = self.loaded(1.0).unbalance(one)[0] - rest
        K = self.loaded(factor).matrix(one)[0] / (rows[:, np.newaxis] * columns)
        size = float(np.abs(K[: self.n, : self.n]).max(initial=0.0)) or 1.0
        scale = np.append(np.ones(self.n), np.full(len(rows) - self.n, size))
        A = np.zeros((len(rows) + 1, len(rows) + 1))
        A[:-1, :-1] = K * scale[:, np.newaxis] * scale
        A[:-1, -1] = push * self.span / rows * scale
        A[-1, : self.n], A[-1, -1] = size * border[:-1], size * border[-1]
        return (rest + factor * push) / rows * scale, A

    def answer(self, A: Array, right: Array, last: float) -> tuple[Array, int]:
        """Motion and change of the factor, and the rank of the matrix.

        Of least length with redundant couplings.
        """
        both = np.append(right, last * np.abs(A[-1]).max())
        x, _, rank, _ = np.linalg.lstsq(A, both, rcond=_RANK_TOLERANCE)
        return np.append(x[: self.n], x[-1]), int(rank)

    def moved(self, q: Array, factor: float, step: Array) -> tuple[Array, float]:
        """Positions and factor after a step."""
        dq = np.zeros(self.problem.arm.nv)
        dq[self.problem.columns] = step[:-1] / self.sizes
        return np.asarray(integrate(self.problem.arm, q, dq)), float(
            factor + step[-1] * self.span
        )

    def correct(
        self, point: _Point, step: Array, border: Array
    ) -> tuple[Array, float] | None:
        """Positions and factor on the path near a step, in a plane, or None."""
        q, factor = self.moved(point.q, point.factor, step)
        reach = np.linalg.norm(step)
        for _ in range(_MAX_CORRECTIONS):
            f, A = self.system(q, factor, border)
            if not (np.isfinite(f).all() and np.isfinite(A).all()):
                return None
            change, _ = self.answer(A, -f, 0.0)
            length = float(np.abs(change).max())
            if not length <= reach:
                return None
            q, factor = self.moved(q, factor, change)
            if length <= self.tolerance:
                return q, factor
        return None

    def advance(self, point: _Point, step: float) -> tuple[list[_Point], float, str]:
        """Next points, the length of the next step, and why the path ends."""
        most = np.abs(point.tangent).max()
        step = min(step, _MAX_MOTION / most)
        while step >= _MIN_STEP:
            t = point.tangent
            found = self.correct(point, step * t, t)
            if found is not None:
                ahead = self.point(*found, t)
                turn = float(np.arccos(np.clip(ahead.tangent @ t, -1.0, 1.0)))
                # a bifurcation, or flutter between two points
                changes = ahead.side * point.side < 0.0 or (
                    ahead.stable != point.stable and t[-1] * ahead.tangent[-1] > 0.0
                )
                if turn <= self.max_turn and (not changes or step <= _BRANCH_STEP):
                    break
            step *= 0.5
        else:
            return [], step, _LOST
        points = [ahead]
        if t[-1] * ahead.tangent[-1] < 0.0:
            points = [*self.limit(point, ahead, step), ahead]
        for i, each in enumerate(points):
            if not self.ends[0] < each.factor < self.ends[1]:
                end = self.last(point if not i else points[i - 1], each)
                return [*points[:i], *end], step, _LEFT if end else _LOST
        slope = float(largest_slope(self.problem.arm, ahead.q))
        if slope > SLOPE_END:
            return points, step, _BENT
        return points, step * min(2.0, _AIM * self.max_turn / max(turn, 1e-9)), ""

    def limit(self, point: _Point, ahead: _Point, step: float) -> list[_Point]:
        """The point between two others where the factor is largest or smallest."""
        t = point.tangent
        a, b, left, right = 0.0, step, t[-1], ahead.tangent[-1]
        for _ in range(_MAX_SECANTS):
            s = a + (b - a) * left / (left - right)
            found = self.correct(point, s * t, t)
            if found is None:
                return []
            middle = self.point(*found, t)
            slope = middle.tangent[-1]
            if abs(slope) <= _FLAT:
                break
            # the rule of Illinois: an end that stays counts half
            if slope * right < 0.0:
                a, left = b, right
            else:
                left *= 0.5
            b, right = s, slope
        return [middle]

    def last(self, point: _Point, beyond: _Point) -> list[_Point]:
        """The point at the end of the range between two others."""
        bound = self.ends[beyond.factor > 0.0]
        part = (bound - point.factor) / (beyond.factor - point.factor)
        dq = difference(self.problem.arm, point.q, beyond.q)
        step = np.append(
            part * dq[self.problem.columns] * self.sizes,
            (bound - point.factor) / self.span,
        )
        found = self.correct(point, step, self.upward)
        return [] if found is None else [self.point(found[0], bound, point.tangent)]


def _result(
    arm: ArmLike, loads: Loads, points: list[_Point], limits: list[int], message: str
) -> EquilibriumPath:
    """Return the path after warnings."""
    q = np.stack([p.q for p in points])
    factor = np.array([p.factor for p in points])
    ended = f"{message}, at factor {factor[-1]:.6g}"
    every = replace(loads, wrench=factor[:, np.newaxis, np.newaxis] * loads.wrench)
    judge_stretch(arm, every, q, np.ones(len(q), dtype=bool))
    _, bent = judge_slopes(arm, q)
    if bent:
        warn(bent, DeflectionWarning)
        ended = f"{ended}: {bent}"
    return EquilibriumPath(
        factor,
        q,
        np.array([p.stable for p in points]),
        np.array([p.square for p in points]),
        np.array(limits, dtype=np.intp),
        message == _LEFT,
        ended,
    )
