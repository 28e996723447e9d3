"""Terms of a motion: local functions at its points and nodes, continuity, linear rows.

Local functions know the state at one instant; here their derivatives become those by
the unknowns of the interval, y = (q_i, v_i, a_i1 ... a_id, forces at two knots, p,
T), of which the state is a linear function with coefficients that depend on the length
of the interval.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..._support.arrays import Array
from .._local import Local
from .._programs.program import Pattern
from .gathered import Gathered, Linear
from .transcription import Collocation

__all__ = ["AtPoints", "Gathered", "Linear"]


class _Stages(NamedTuple):
    """Coefficients of q, v, a at P points in the motion of their intervals."""

    C: Array  # (P, 3, 2 + d), of q_i, v_i, a_i1, ...
    slope: Array  # its derivative by the length of the interval
    bend: Array  # and its second one
    weight: Array  # (P,) of the quadrature, as a share of the interval


def _stages(motion: Collocation, h: Array) -> _Stages:
    c, A, b = motion.tableau
    N, d = len(h), len(c)
    C, slope, bend = np.zeros((3, N, d, 3, 2 + d))
    step = h[:, None, None]
    C[:, :, 0, 0] = C[:, :, 1, 1] = 1.0
    C[:, :, 0, 1] = h[:, None] * c
    C[:, :, 0, 2:] = step**2 * (A @ A)
    C[:, :, 1, 2:] = step * A
    C[:, :, 2, 2:] = np.eye(d)
    slope[:, :, 0, 1] = c
    slope[:, :, 0, 2:] = 2.0 * step * (A @ A)
    slope[:, :, 1, 2:] = A
    bend[:, :, 0, 2:] = 2.0 * (A @ A)
    shape = (N * d, 3, 2 + d)
    return _Stages(
        C.reshape(shape), slope.reshape(shape), bend.reshape(shape), np.tile(b, N)
    )


class AtPoints:
    """A local function at all collocation points.

    Parameters
    ----------
    motion : Collocation
        The unknowns.
    local : Local
        The function of (q, v, a, tau, p).
    lower, upper : float or (rows,) array_like of float
        Bounds of a constraint.
    integrate : bool
        Return the integrals of the rows over time, with those of the windows.
    """

    convex = False

    def __init__(
        self,
        motion: Collocation,
        local: Local,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = 0.0,
        *,
        integrate: bool = False,
    ) -> None:
        self.motion, self.local, self.integrate = motion, local, integrate
        self.name = local.name
        N, n = motion.grid.intervals, motion.arm.nv
        self._d, R = len(motion.tableau.c), local.rows
        self._points = N * self._d
        self.rows = R if integrate else self._points * R
        copies = self.rows // R
        self.lower = np.tile(np.broadcast_to(np.asarray(lower, float), R), copies)
        self.upper = np.tile(np.broadcast_to(np.asarray(upper, float), R), copies)
        self.scale = np.ones(self.rows)
        self._motion_size = (2 + self._d) * n
        # forces at the points between the nodes
        at = np.tile(motion.tableau.c, N)
        self._share = np.stack([1.0 - at, at], axis=-1)  # (P, 2)
        self._beta = np.repeat(motion.grid.lengths(), self._d)
        # unknowns of each interval
        columns = [
            motion.q[:-1],
            motion.v[:-1],
            motion.a.reshape(N, -1),
            motion.tau[:-1],
            motion.tau[1:],
            np.broadcast_to(motion.p, (N, len(motion.p))),
        ]
        if motion.free:
            columns.append(np.full((N, 1), motion.T))
        self._columns = np.concatenate(columns, axis=1)  # (N, K)
        self._patterns(N)

    def _patterns(self, N: int) -> None:
        """Patterns of the derivatives, found with ones in place of numbers."""
        d, R, local = self._d, self.local.rows, self.local
        ones = _stages(self.motion, np.ones(1))
        share = np.ones((d, 2))
        used = (ones.C != 0.0).astype(float)
        stages = ones._replace(C=used)
        n = self.motion.arm.nv
        drift = np.ones((d, 3 * n))
        acting = local.slopes[:, : 3 * n].reshape(-1, 3, n).sum(axis=(0, 2))
        both = acting[:, None] * used.sum(axis=0)
        self._ways = [(int(j), int(k)) for j, k in np.argwhere(both)]
        ways = np.tile(local.slopes.astype(float), (d, 1, 1))
        # first and second derivatives that can be nonzero
        slopes = np.greater(self._carried(ways, stages, drift, share), 0.0)
        bends = np.tile(local.curvature.astype(float), (d, 1, 1))
        once = self._carried(bends, stages, drift, share).swapaxes(1, 2)
        twice = self._carried(once, stages, drift, share)
        curvature = np.greater(twice.max(axis=0), 0.0)
        if self.motion.free:
            slopes[..., -1] |= self.integrate
            curvature[:, -1] |= slopes.any(axis=(0, 1))
            curvature[-1, -1] = True
        self._slopes, self._curvature = slopes, np.triu(curvature | curvature.T)
        # their places among all rows and unknowns
        k, row, column = np.nonzero(slopes)
        of_point = (np.arange(N)[:, None] * d + k) * R + row
        rows = np.broadcast_to(row, of_point.shape) if self.integrate else of_point
        columns = self._columns
        self.jacobian_pattern: Pattern = rows.ravel(), columns[:, column].ravel()
        i, j = np.nonzero(self._curvature)
        self.hessian_pattern: Pattern = columns[:, i].ravel(), columns[:, j].ravel()

    def _carried(self, M: Array, s: _Stages, drift: Array, share: Array) -> Array:
        """Derivatives by w, (P, X, k), as derivatives by y, (P, X, K)."""
        n, nu = self.motion.arm.nv, self.motion.arm.nu
        P, X = M.shape[:2]
        size, force = self._motion_size, 3 * n
        result = np.zeros((P, X, self._columns.shape[1]))
        states = result[:, :, :size].reshape(P, X, -1, n)
        # sums of a few scaled blocks: products of such small matrices are slower
        for j, k in self._ways:
            states[:, :, k] += s.C[:, j, k, None, None] * M[:, :, j * n : (j + 1) * n]
        for k in range(2):
            at = size + k * nu
            result[:, :, at : at + nu] = (
                share[:, k, None, None] * M[:, :, force : force + nu]
            )
        at = size + 2 * nu
        parameters = len(self.motion.p)
        result[:, :, at : at + parameters] = M[:, :, force + nu :]
        if self.motion.free and self._ways:
            result[:, :, -1] = (M[:, :, :force] @ drift[:, :, None])[:, :, 0]
        return result

    def _state(self, z: Array) -> tuple[Array, _Stages, Array, Array]:
        """States w at the points, coefficients, dw/dT, motions of the intervals."""
        motion, n = self.motion, self.motion.arm.nv
        s = _stages(motion, motion.steps(z))
        y = z[self._columns]
        Y = y[:, : self._motion_size].reshape(len(y), -1, n).repeat(self._d, axis=0)
        ends = y[:, self._motion_size : self._motion_size + 2 * motion.arm.nu]
        forces = ends.reshape(len(y), 2, -1).repeat(self._d, axis=0)
        P = self._points
        shared = np.broadcast_to(z[motion.p], (P, len(motion.p)))
        tau = (self._share[:, None, :] @ forces)[:, 0]
        w = np.concatenate([(s.C @ Y).reshape(P, -1), tau, shared], axis=1)
        drift = (s.slope @ Y).reshape(P, -1) * self._beta[:, None]
        return w, s, drift, Y

    def _weights(self, z: Array, s: _Stages) -> Array:
        return s.weight * np.repeat(self.motion.steps(z), self._d)

    def value(self, z: Array) -> Array:
        """Rows point by point, or their integrals."""
        w, s, _, _ = self._state(z)
        rows = self.local.value(w)
        if self.integrate:
            return np.asarray(self._weights(z, s) @ rows)
        return rows.ravel()

    def jacobian(self, z: Array) -> Array:
        """Entries at the places of the pattern."""
        w, s, drift, _ = self._state(z)
        J = self._carried(self.local.jacobian(w), s, drift, self._share)
        if self.integrate:
            J = J * self._weights(z, s)[:, None, None]
            if self.motion.free:
                lengthened = s.weight * self._beta
                J[:, :, -1] += lengthened[:, None] * self.local.value(w)
        return J.reshape(-1, *self._slopes.shape)[:, self._slopes].ravel()

    def hessian(self, z: Array, multipliers: Array) -> Array:
        """Entries at the places of the pattern."""
        w, s, drift, Y = self._state(z)
        P, R = self._points, self.local.rows
        plain = np.broadcast_to(multipliers.reshape(-1, R), (P, R))
        at_points = plain * self._weights(z, s)[:, None] if self.integrate else plain
        H = self._carried(self.local.hessian(w, at_points), s, drift, self._share)
        H = self._carried(H.swapaxes(1, 2), s, drift, self._share)
        if self.motion.free:
            self._by_duration(H, w, at_points, s, Y)
            if self.integrate:
                along = (plain[:, None, :] @ self.local.jacobian(w))[:, :1]
                rate = self._carried(along, s, drift, self._share)[:, 0]
                rate *= (s.weight * self._beta)[:, None]
                H[:, :, -1] += rate
                H[:, -1, :] += rate
        K = H.shape[-1]
        total = H.reshape(-1, self._d, K, K).sum(axis=1)
        return np.asarray(total[:, self._curvature]).ravel()

    def _by_duration(
        self, H: Array, w: Array, multipliers: Array, s: _Stages, Y: Array
    ) -> None:
        """Add derivatives of the coefficients, which change with the duration."""
        n = self.motion.arm.nv
        slope = (multipliers[:, None, :] @ self.local.jacobian(w))[:, 0, : 3 * n]
        slope = slope.reshape(-1, 3, n)
        beta = self._beta[:, None]
        mixed = (s.slope.swapaxes(1, 2) @ slope).reshape(len(w), -1) * beta
        H[:, : self._motion_size, -1] += mixed
        H[:, -1, : self._motion_size] += mixed
        H[:, -1, -1] += self._beta**2 * (slope * (s.bend @ Y)).sum(axis=(1, 2))

    def size_by(self, z: Array) -> None:
        """Scale each row by its largest derivative times the size of the unknown."""
        _, columns = self.jacobian_pattern
        sizes = np.abs(self.jacobian(z)) * self.motion.scale[columns]
        row = self.jacobian_pattern[0] % self.local.rows
        most = np.zeros(self.local.rows)
        np.maximum.at(most, row, sizes)
        self.scale = np.tile(np.maximum(most, 1e-9), self.rows // self.local.rows)

    def describe(self, row: int) -> str:
        """Row and interval, for messages."""
        point, k = divmod(row, self.local.rows)
        which = f"(row {k}) " if self.local.rows > 1 else ""
        if self.integrate:
            return which
        i = point // self._d
        return f"{which}in interval {i + 1} of {self.motion.grid.intervals}"
