"""Costs of a motion: local functions and terms of a nonlinear program."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from ..._calls.arguments import real_array
from ..._support.arrays import Array
from ...errors import ArgumentError
from .._local import of_velocities
from .._programs.program import Term
from .local import Squares
from .points import AtPoints, Gathered, Linear
from .transcription import Collocation


class Weighted:
    """A term times a number."""

    def __init__(self, term: Term, weight: float) -> None:
        self.term, self.weight = term, weight
        self.name, self.rows = term.name, term.rows
        self.lower, self.upper, self.scale = term.lower, term.upper, term.scale
        self.jacobian_pattern = term.jacobian_pattern
        self.hessian_pattern, self.convex = term.hessian_pattern, term.convex

    def value(self, z: Array) -> Array:
        """(rows,) values."""
        return self.weight * self.term.value(z)

    def jacobian(self, z: Array) -> Array:
        """Entries of the Jacobian."""
        return self.weight * self.term.jacobian(z)

    def hessian(self, z: Array, multipliers: Array) -> Array:
        """Entries of the Hessian."""
        return self.term.hessian(z, self.weight * multipliers)

    def describe(self, row: int) -> str:
        """Place of a row, for messages."""
        return self.term.describe(row)


class ForceRates:
    """Square of the rates of the forces between two knots, integrated.

    Of w = (forces at both knots, duration), the last if it is free; times between knots
    are lengths (P,) times the duration.
    """

    name, rows = "torque rate", 1

    def __init__(self, n: int, lengths: Array, duration: float | None) -> None:
        self._n, self._duration = n, duration
        self._beta = lengths
        size = 2 * n + (duration is None)
        self.slopes = np.ones((1, size), dtype=bool)
        self.curvature = np.ones((size, size), dtype=bool)

    def _parts(self, w: Array) -> tuple[Array, Array]:
        n = self._n
        T = w[:, 2 * n] if self._duration is None else self._duration
        return w[:, n : 2 * n] - w[:, :n], self._beta * T

    def value(self, w: Array) -> Array:
        """(P, 1) values."""
        change, h = self._parts(w)
        return np.asarray(((change**2).sum(axis=1) / h)[:, None])

    def jacobian(self, w: Array) -> Array:
        """(P, 1, k) derivatives."""
        change, h = self._parts(w)
        slope = 2.0 * change / h[:, None]
        parts = [-slope, slope]
        if self._duration is None:
            parts.append(-(self._beta / h)[:, None] * self.value(w))
        return np.concatenate(parts, axis=1)[:, None]

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives."""
        n = self._n
        change, h = self._parts(w)
        H = np.zeros((len(w), w.shape[1], w.shape[1]))
        both = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.eye(n))
        H[:, : 2 * n, : 2 * n] = 2.0 * both / h[:, None, None]
        if self._duration is None:
            bend = -2.0 * (self._beta / h**2)[:, None] * change
            mixed = np.concatenate([-bend, bend], axis=1)
            H[:, : 2 * n, -1] = H[:, -1, : 2 * n] = mixed
            H[:, -1, -1] = 2.0 * (self._beta / h) ** 2 * self.value(w)[:, 0]
        return H * multipliers[:, :, None]


class OfParameters:
    """Function of the parameters p of a design, with differences where needed.

    Parameters
    ----------
    cost : callable
        ``cost(p)`` is a number, or a number and its gradient (k,).
    scale : (k,) ndarray of float
        Sizes of the parameters.
    """

    name, rows = "design", 1

    def __init__(self, cost: Callable[[Array], object], scale: Array) -> None:
        self._cost, self._scale = cost, scale
        self.slopes = np.ones((1, len(scale)), dtype=bool)
        self.curvature = np.ones((len(scale), len(scale)), dtype=bool)
        self._known: dict[bytes, tuple[float, Array | None]] = {}

    def _at(self, p: Array) -> tuple[float, Array | None]:
        key = p.tobytes()
        if key not in self._known:
            given = self._cost(p.copy())
            slope = None
            if isinstance(given, tuple):
                given, slope = given
                slope = real_array("gradient of the cost of the design", slope)
                if slope.shape != p.shape:
                    raise ArgumentError(
                        f"the gradient of the cost of the design has shape "
                        f"{slope.shape}, expected {p.shape}"
                    )
            value: Array = real_array("cost of the design", given)
            if value.size != 1 or not np.isfinite(value).all():
                raise ArgumentError(
                    f"the cost of the design is {given!r} at {p}, expected a number, "
                    "or a number and its gradient"
                )
            self._known[key] = float(value.reshape(())), slope
        return self._known[key]

    def _gradient(self, p: Array) -> Array:
        slope = self._at(p)[1]
        if slope is not None:
            return slope
        steps = np.diag(1e-4 * self._scale)
        ends = [(self._at(p + e)[0], self._at(p - e)[0]) for e in steps]
        return np.array([(a - b) for a, b in ends]) / (2e-4 * self._scale)

    def value(self, w: Array) -> Array:
        """Cost, (1, 1)."""
        return np.array([[self._at(w[0])[0]]])

    def jacobian(self, w: Array) -> Array:
        """Gradient of the cost, (1, 1, k)."""
        return self._gradient(w[0])[None, None]

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """Differences of the gradient, (1, k, k)."""
        steps = np.diag(1e-3 * self._scale)
        rows = [self._gradient(w[0] + e) - self._gradient(w[0] - e) for e in steps]
        H = np.array(rows) / (2e-3 * self._scale[:, None])
        return np.asarray(multipliers[0, 0] * 0.5 * (H + H.T))[None]


def energy(motion: Collocation, losses: Array) -> AtPoints:
    """Electrical energy: losses of the motors and mechanical work."""
    arm = motion.arm
    n = 3 * arm.nv
    size = n + arm.nu + len(motion.p)
    matrix = np.zeros((size, size))
    force, rate = np.arange(n, n + arm.nu), arm.nv + arm.actuator_indices
    matrix[force, force] = 2.0 * losses
    matrix[force, rate] = matrix[rate, force] = 1.0
    local = of_velocities(Squares(matrix, name="energy"), arm)
    return AtPoints(motion, local, integrate=True)


def effort(motion: Collocation) -> AtPoints:
    """Integral of the squares of the forces."""
    local = Squares.of_forces(motion.arm, 2.0, len(motion.p))
    return AtPoints(motion, local, integrate=True)


def force_rates(motion: Collocation) -> Gathered:
    """Integral of the squares of the rates of the forces."""
    knots = len(motion.tau)
    columns = [motion.tau[:-1], motion.tau[1:]]
    duration: float | None = motion.duration(np.zeros(0)) if not motion.free else None
    if motion.free:
        columns.append(np.full((knots - 1, 1), motion.T))
    local = ForceRates(motion.arm.nu, motion.grid.lengths(), duration)
    return Gathered(local, np.hstack(columns), weights=np.ones(knots - 1))


def force_changes(motion: Collocation, weights: Array) -> Gathered:
    """Half of the weighted squares (nu,) of changes of forces, from knot to knot."""
    form = np.kron([[1.0, -1.0], [-1.0, 1.0]], np.diag(weights))
    pairs = np.hstack([motion.tau[:-1], motion.tau[1:]])
    local = Squares(form, name="changes of the forces")
    return Gathered(local, pairs, weights=np.ones(len(pairs)))


def vibration(motion: Collocation, q: Array) -> Gathered:
    """Energy in the modes at the last node, about the posture q with still joints."""
    arm = motion.arm
    modes = np.arange(arm.motor_slice.stop, arm.nv)
    still = np.zeros(arm.nv)
    K, _ = arm.kernels.quiet("inverse_dynamics_derivatives")(q, still, still)[:2]
    M = arm.kernels.quiet("mass_matrix")(q)
    n = len(modes)
    matrix = np.zeros((2 * n, 2 * n))
    own = np.ix_(modes, modes)
    matrix[:n, :n], matrix[n:, n:] = 0.5 * (K[own] + K[own].T), M[own]
    center = np.concatenate([q[modes], np.zeros(n)])
    columns = np.concatenate([motion.q[-1, modes], motion.v[-1, modes]])
    local = Squares(matrix, center, "vibration")
    return Gathered(local, columns[None], weights=[1.0])


def unknown(motion: Collocation, index: int, sign: float, name: str) -> Linear:
    """One of the unknowns."""
    row = sparse.coo_array(([sign], ([0], [index])), shape=(1, motion.n))
    return Linear(row, name=name)


def rate_limits(motion: Collocation, limits: Array) -> list[Linear]:
    """Rates of the forces between their least and largest values (2, nu)."""
    knots, nu = motion.tau.shape
    rows = np.arange((knots - 1) * nu)
    after, before = motion.tau[1:].ravel(), motion.tau[:-1].ravel()
    ones = np.ones(len(rows))
    # times between knots, beta T, for each row
    beta = np.repeat(motion.grid.lengths(), nu)
    terms = []
    for side, limit in zip((-1.0, 1.0), limits, strict=True):
        every = np.tile(limit, knots - 1)
        kept = np.isfinite(every)
        data, at = [ones, -ones], [after, before]
        finite = np.where(kept, every, 0.0)
        if motion.free:  # change - limit * beta * T
            data.append(-finite * beta)
            at.append(np.full(len(rows), motion.T))
            bound = np.zeros(len(rows))
        else:
            bound = finite * beta * motion.duration(np.zeros(0))
        matrix = sparse.coo_array(
            (np.concatenate(data), (np.tile(rows, len(at)), np.concatenate(at))),
            shape=(len(rows), motion.n),
        ).tocsr()[kept]
        scale = motion.scale[after][kept]
        low, high = (bound[kept], np.inf) if side < 0.0 else (-np.inf, bound[kept])
        terms.append(Linear(matrix, low, high, scale, name="limit of a torque rate"))
    return terms
