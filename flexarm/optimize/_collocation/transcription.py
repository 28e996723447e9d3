r"""Motions of an arm as unknowns of a nonlinear program, in residual form.

Time is cut into N intervals of length :math:`h_i = \beta_i T`, T the duration of the
main motion, fixed or free.  Unknown are positions and velocities at the
N + 1 nodes, accelerations at d points of each interval, and forces of the actuators at
knots between which they are linear.  At point k of interval i

.. math:: q_{ik} = q_i + c_k h_i v_i + h_i^2 \sum_l \hat A_{kl} a_{il}, \qquad
    v_{ik} = v_i + h_i \sum_l A_{kl} a_{il}, \qquad \hat A = A A

with the tableau (c, A, b) of a Runge-Kutta method, and the equations of motion hold as
they are, without the inverse of a mass matrix:

.. math:: ID(q_{ik}, v_{ik}, a_{ik}) - B \tau_{ik} = 0.

For a given T both are linear in the unknowns, except inverse dynamics, whose exact
derivatives come from one batched call for all points.

References: E. Hairer, C. Lubich, G. Wanner, *Geometric Numerical Integration* (2006),
section II.1; J. T. Betts, *Practical Methods for Optimal Control* (2010), chapter 4.

Examples
--------
A pendulum of 2 kg from rest to rest, 1 rad in one second, with the least effort:

>>> import flexarm as fa
>>> from flexarm.optimize._collocation import transcription as co
>>> from flexarm.optimize._collocation.points import AtPoints
>>> from flexarm.optimize._collocation.local import EquationOfMotion, Squares
>>> from flexarm.optimize._programs.solvers import solve
>>> arm = fa.library.pendulum(mass=2.0, com=0.3)
>>> motion = co.Collocation(arm, co.Grid(main=20), duration=1.0)
>>> motion.fix_state(0, [-1.5], [0.0])
>>> motion.fix_state(-1, [-0.5], [0.0])
>>> law = AtPoints(motion, EquationOfMotion(arm))
>>> effort = AtPoints(motion, Squares.of_forces(arm), integrate=True)
>>> program = motion.program([effort], [law, motion.continuity()])
>>> z0 = motion.guess(lambda t: -1.5 + t[:, None])
>>> found = solve(program, z0)
>>> found.status
'solved'
>>> motion.read(found.z).tau.shape
(21, 1)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.arguments import check_arm, check_numbers, positive_number
from ..._support.arrays import Array, Index
from ..._support.checks import listed
from ...arm import Arm
from ...errors import ArgumentError
from .._charts import accelerations, real_arm, real_motion
from .._parts import Timings
from .._programs.program import NonlinearProgram, Pattern, Term
from .._programs.solution import Solution
from .._result import OptimalMotion
from .grid import Grid, tableau

__all__ = ["Collocation", "Grid", "Motion", "answer", "tableau"]

At: TypeAlias = int | Index  # places of unknowns


class Motion(NamedTuple):
    """Motion at the nodes: t (n,), q, v, a (n, nv), tau (n, nu)."""

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array


class Collocation:
    """Unknowns of a motion of an arm, and relations between them.

    Parameters
    ----------
    arm : Arm
        Arm without loops; one with quaternions in the coordinates of a chart.
    grid : Grid
        Intervals.
    duration : float or (3,) tuple of float
        Of the main motion in s; least, first and largest value of a free one.
    parameters : int
        Further unknowns p that all points share, such as those of a design.

    Attributes
    ----------
    lower, upper, scale : (n,) ndarray of float
        Bounds and sizes of the unknowns, to be set by their indices.
    free : bool
        Whether the duration is unknown.
    T : int
        Index of the duration, if it is free.
    q, v : (N + 1, nv) ndarray of int
        Indices of positions and velocities at the nodes.
    a : (N, d, nv) ndarray of int
        Indices of the accelerations.
    tau : (K, nu) ndarray of int
        Indices of the forces at the knots.
    p : (np,) ndarray of int
        Indices of the parameters.
    own : (nv,) ndarray of bool
        Coordinates that are no others' as well, see `beside`.
    """

    def __init__(
        self,
        arm: Arm,
        grid: Grid,
        *,
        duration: float | tuple[float, float, float],
        parameters: int = 0,
    ) -> None:
        check_arm(arm)
        refuse_loops(arm)
        if arm.nq != arm.nv:
            raise ArgumentError(
                f"the arm has {arm.nq} positions for {arm.nv} velocities, expected as "
                "many of both: collocation takes the coordinates of a chart"
            )
        self.arm, self.grid = arm, grid
        self.tableau = tableau(grid.scheme, grid.points)
        self.free = isinstance(duration, tuple)
        low, first, high = duration if isinstance(duration, tuple) else (duration,) * 3
        self._duration = positive_number("duration", first)
        self._bounds = [np.zeros((3, 0))]  # a list, which copies share
        self.T = int(self.add(1)[0]) if self.free else -1
        self.p = self.add(parameters)
        n, d, N = arm.nv, len(self.tableau.c), grid.intervals
        self.own = np.ones(n, dtype=bool)
        self.q, self.v = self.add(N + 1, n), self.add(N + 1, n)
        self.a = self.add(N, d, n)
        self.tau = self.add(N + 1, arm.nu)
        if self.free:
            self.bound(self.T, positive_number("duration", low), high)
            self.resize(self.T, first)

    def add(self, *shape: int) -> Index:
        """Indices of new unknowns of a problem, without bounds."""
        size = int(np.prod(shape))
        index = np.arange(self.n, self.n + size).reshape(shape)
        free = np.full(size, np.inf)
        more = np.array([-free, free, np.ones(size)])
        self._bounds[0] = np.concatenate([self._bounds[0], more], axis=1)
        return index

    def beside(self, arm: Arm) -> Collocation:
        """The motion of another arm whose actuators move as those of this one.

        All else has unknowns of its own; those of the forces are no part of it.
        """
        other = copy(self)
        other.arm, other.own = arm, np.ones(arm.nv, dtype=bool)
        other.own[arm.actuator_indices] = False
        for name in ("q", "v", "a"):
            index = getattr(self, name).copy()
            index[..., other.own] = self.add(*index.shape[:-1], int(other.own.sum()))
            setattr(other, name, index)
        return other

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return self._bounds[0].shape[1]

    @property
    def lower(self) -> Array:
        """Lower bounds, (n,)."""
        return np.asarray(self._bounds[0][0])

    @property
    def upper(self) -> Array:
        """Upper bounds, (n,)."""
        return np.asarray(self._bounds[0][1])

    @property
    def scale(self) -> Array:
        """Sizes, (n,)."""
        return np.asarray(self._bounds[0][2])

    def bound(self, index: At, lower: ArrayLike, upper: ArrayLike) -> None:
        """Narrow the bounds of some unknowns."""
        table = self._bounds[0]
        table[0, index] = np.maximum(table[0, index], lower)
        table[1, index] = np.minimum(table[1, index], upper)

    def resize(self, index: At, size: ArrayLike) -> None:
        """Set the sizes of some unknowns."""
        self._bounds[0][2, index] = size

    def fix_state(self, node: int, q: ArrayLike, v: ArrayLike) -> None:
        """Positions and velocities at a node, (nv,) each."""
        self.bound(self.q[node], q, q)
        self.bound(self.v[node], v, v)

    def limit_forces(self, lower: ArrayLike, upper: ArrayLike) -> None:
        """Bounds of the forces of the actuators, (nu,) each."""
        self.bound(self.tau, lower, upper)

    def duration(self, z: Array) -> float:
        """Duration of the main motion in s."""
        return float(z[self.T]) if self.free else self._duration

    def steps(self, z: Array) -> Array:
        """Lengths of the intervals in s, (N,)."""
        return self.grid.lengths() * self.duration(z)

    def times(self, z: Array) -> Array:
        """Times of the nodes in s, (N + 1,), zero where the main motion starts."""
        t = np.concatenate([[0.0], np.cumsum(self.steps(z))])
        return np.asarray(t - t[self.grid.start])

    def continuity(self) -> Term:
        """Equations between the states at the ends of intervals and at the nodes."""
        return Continuity(self)

    def program(
        self,
        costs: Sequence[Term],
        constraints: Sequence[Term],
        *,
        gauss_newton: bool = False,
    ) -> NonlinearProgram:
        """The nonlinear program of these costs and constraints."""
        return NonlinearProgram(
            self.lower,
            self.upper,
            costs,
            constraints,
            self.scale,
            gauss_newton=gauss_newton,
        )

    def guess(
        self,
        q: Callable[[Array], Array],
        tau: Callable[[Array], Array] | None = None,
        *,
        step: float = 1e-4,
    ) -> Array:
        """Unknowns (n,) of a motion given by positions at times; sets their sizes.

        Parameters
        ----------
        q : callable
            Positions (n, nv) at times (n,) in s, zero where the main motion starts.
        tau : callable, optional
            Forces of the actuators (n, nu) at times; by default those of inverse
            dynamics.
        step : float
            Of the differences that give velocities and accelerations, in s.
        """
        z = np.zeros(self.n)
        if self.free:
            z[self.T] = self._duration
        t, h = self.times(z), self.steps(z)
        inner = (t[:-1, None] + h[:, None] * self.tableau.c).ravel()

        def sampled(times: Array) -> tuple[Array, Array, Array]:
            before, here, after = (q(times + shift) for shift in (-step, 0.0, step))
            speed = (after - before) / (2.0 * step)
            return here, speed, (after - 2.0 * here + before) / step**2

        z[self.q], z[self.v], nodal = sampled(t)
        z[self.a] = sampled(inner)[2].reshape(self.a.shape)
        if tau is None:
            model, acting = self.arm.kernels, self.arm.actuator_indices
            forces = model.quiet("inverse_dynamics")(z[self.q], z[self.v], nodal)
            z[self.tau] = forces[:, acting]
        else:
            z[self.tau] = tau(t)
        check_numbers("the first motion", z)
        self.size_by(z)
        return z

    def size_by(self, z: Array) -> None:
        """Set the sizes of the unknowns by those of a motion, for each coordinate."""
        rates, least = self._rates(z), np.zeros(self.arm.nv)
        for index in (self.q, self.v, self.a):
            table = np.abs(z[index]).reshape(-1, index.shape[-1])
            most = np.maximum(table.max(axis=0), least)
            most = np.maximum(most, 1e-3 * (most.max() or 1.0))
            self.resize(index, most)
            least = most * rates
        most = np.abs(z[self.tau]).max(axis=0)
        self.resize(self.tau, np.maximum(most, 1e-3 * (most.max() or 1.0)))

    def _rates(self, z: Array) -> Array:
        """Rates (nv,) at which coordinates may change, in 1/s.

        A coordinate at rest in one motion may move in the next: joints over the whole
        time, modes at their frequency, as far as steps resolve it.
        """
        arm, h = self.arm, self.steps(z)
        rates = np.full(arm.nv, 1.0 / h.sum())
        q, still = z[self.q[0]], np.zeros(arm.nv)
        M = np.asarray(arm.kernels.quiet("mass_matrix")(q))
        both = arm.kernels.quiet("inverse_dynamics_derivatives")(q, still, still)
        K = np.diagonal(np.asarray(both)[0])
        own = np.sqrt(np.abs(K / np.diagonal(M)))[arm.nu :]
        rates[arm.nu :] = np.clip(own, rates[arm.nu :], 1.0 / h.min())
        return rates

    def read(self, z: Array) -> Motion:
        """Motion of these unknowns at the nodes."""
        t = self.times(z)
        tau = z[self.tau]
        a = accelerations(self.arm, z[self.q], z[self.v], tau)
        return Motion(t, z[self.q].copy(), z[self.v].copy(), a, tau)


class Continuity:
    """Equations: the state at the end of an interval is that at the next node."""

    name = "continuity of the motion"
    convex = False

    def __init__(self, motion: Collocation) -> None:
        self.motion, own = motion, motion.own
        N, n = motion.grid.intervals, int(own.sum())
        self._q, self._v, self._a = (
            x[..., own] for x in (motion.q, motion.v, motion.a)
        )
        self._names = np.array(motion.arm.coordinate_names, dtype=object)[own]
        c, A, b = motion.tableau
        self._b, self._bA, d = b, b @ A, len(c)
        self.rows = 2 * N * n
        self.lower = self.upper = np.zeros(self.rows)
        scale = np.stack([motion.scale[self._q[1:]], motion.scale[self._v[1:]]], 1)
        self.scale = scale.ravel()
        self._beta = motion.grid.lengths()
        row = np.arange(self.rows).reshape(N, 2, n)
        q, v, a = self._q, self._v, self._a.swapaxes(0, 1)  # a: (d, N, n)
        at_q, at_v = row[:, 0], row[:, 1]
        places = [(at_q, q[1:]), (at_q, q[:-1]), (at_q, v[:-1])]
        places += [(at_q, a[k]) for k in range(d)]
        places += [(at_v, v[1:]), (at_v, v[:-1])]
        places += [(at_v, a[k]) for k in range(d)]
        bends = []
        if motion.free:
            T = np.full((N, n), motion.T)
            places += [(at_q, T), (at_v, T)]
            bends = [(v[:-1], T), *((a[k], T) for k in range(d))]
            bends.append((T, T))
        self.jacobian_pattern: Pattern = _joined(places)
        self.hessian_pattern: Pattern = _joined(bends)

    def _parts(self, z: Array) -> tuple[Array, Array, Array, Array]:
        """Steps (N, 1), velocities, sums of accelerations for q and v, (N, n)."""
        h = self.motion.steps(z)[:, None]
        for_q, for_v = np.tensordot([self._bA, self._b], z[self._a], axes=(1, 1))
        return h, z[self._v[:-1]], for_q, for_v

    def value(self, z: Array) -> Array:
        """Gaps of positions, then of velocities, interval by interval."""
        h, v, for_q, for_v = self._parts(z)
        q_gap = z[self._q[1:]] - z[self._q[:-1]] - h * v - h**2 * for_q
        v_gap = z[self._v[1:]] - v - h * for_v
        return np.stack([q_gap, v_gap], axis=1).ravel()

    def jacobian(self, z: Array) -> Array:
        """Entries at the places of the pattern."""
        h, v, for_q, for_v = self._parts(z)
        one, step = np.ones_like(v), np.broadcast_to(h, v.shape)
        entries = [one, -one, -step, *(-(h**2) * b * one for b in self._bA)]
        entries += [one, -one, *(-h * b * one for b in self._b)]
        if self.motion.free:
            beta = self._beta[:, None]
            entries += [-beta * (v + 2.0 * h * for_q), -beta * for_v]
        return np.concatenate([x.ravel() for x in entries])

    def hessian(self, z: Array, multipliers: Array) -> Array:
        """Entries at the places of the pattern."""
        if not self.motion.free:
            return np.zeros(0)
        h, _, for_q, _ = self._parts(z)
        beta = self._beta[:, None]
        by = multipliers.reshape(len(h), 2, -1)
        to_q, to_v = by[:, 0], by[:, 1]
        entries = [-beta * to_q]
        for bA, b in zip(self._bA, self._b, strict=True):
            entries.append(-beta * (2.0 * h * bA * to_q + b * to_v))
        entries.append(-2.0 * beta**2 * for_q * to_q)
        return np.concatenate([x.ravel() for x in entries])

    def describe(self, row: int) -> str:
        """Coordinate and interval, for messages."""
        n, N = len(self._names), self.motion.grid.intervals
        i, k = divmod(row, 2 * n)
        what = ("position", "velocity")[k // n]
        name = self._names[k % n]
        return f"({what} of {name!r}) after interval {i + 1} of {N}"


def _joined(places: list[tuple[Index, Index]]) -> Pattern:
    none = np.zeros(0, dtype=np.intp)
    return (
        np.concatenate([none, *(np.ravel(p[0]) for p in places)]),
        np.concatenate([none, *(np.ravel(p[1]) for p in places)]),
    )


def answer(
    motion: Collocation, found: Solution, *, method: str, timings: Timings
) -> OptimalMotion:
    """The motion of a solution, with the report of its solver."""
    at = motion.read(found.z)
    q, qd, qdd = real_motion(motion.arm, at.q, at.v, at.a)
    return OptimalMotion(
        arm=real_arm(motion.arm),
        t=at.t,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=at.tau,
        duration=motion.duration(found.z),
        objective=found.objective,
        success=found.success,
        status=found.status,
        message=found.message,
        method=method,
        solver=found.solver,
        variables=len(found.z),
        iterations=found.iterations,
        violation=found.violation,
        timings=timings,
    )


def refuse_loops(arm: Arm) -> None:
    if arm._held:
        raise ArgumentError(
            f"the arm has constraints ({listed(arm.constraint_names, str)}), expected "
            "a tree: without loops (constraints=()), couplings of two joints as "
            "couplings='eliminated', drives of some stiffness in place of rigid gears"
        )
