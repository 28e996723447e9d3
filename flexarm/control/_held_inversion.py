r"""Inversion of outputs under forces that are held from sample to sample.

Modes move while forces stand.  Inversion of the instant holds the joints against the
springs of that instant alone, and the mean of what they do later is an acceleration of
the outputs that nothing takes out.  Here the forces give the outputs the rates that
they should have at the next sample: about the motion x(t) with the forces tau,

.. math:: M \ddot\delta + D \dot\delta + K \delta = S \Delta\tau, \qquad
   E \left( \dot x(t + T) + \dot\delta(t + T) \right) = \dot y_d - \dot e(t + T) .

Rates show forces one sample later, as accelerations do at once: while the outputs rest
at the samples, modes without damping swing on the unit circle, as long as half of the
period of the fastest one is longer than a sample.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._support.arrays import Array
from ..arm import Arm
from ..derivatives import inverse_dynamics_derivatives
from ..dynamics import mass_matrix
from ..errors import ArgumentError
from ._matrices import closed_poles, solve, times
from ._rigid_motion import RigidMotion

# Length of a sample, in the fastest motion, up to which squares keep their digits.
_MAX_SPAN = 1e8
# Part of the motion by which outputs may be elsewhere before the message says so.
_MAX_DEVIATION = 0.02


def decay(factors: Sequence[Array], dt: float) -> Array:
    """Errors and their rates (..., k, k) a sample later, of gains from the lowest."""
    from scipy.linalg import expm

    k = len(factors)
    A = np.zeros((*factors[0].shape, k, k))
    A[..., : k - 1, 1:] = np.eye(k - 1)
    for i, c in enumerate(factors):
        A[..., k - 1, i] = -c
    return np.asarray(expm(A * dt))


class Hold:
    """Motion of an arm within a sample, for outputs with the rows E (nu, nv)."""

    def __init__(self, arm: Arm, parts: RigidMotion, E: Array, dt: float) -> None:
        self.arm, self.parts, self.dt = arm, parts, dt
        self.E = E if parts.spread is None else E @ parts.spread
        self.acting = np.eye(parts.size, parts.n) * parts.ratio

    def correction(self, q: Array, qd: Array, tau: Array, wanted: Array) -> Array:
        """Forces (..., nu) beside tau that give the outputs these rates at the end."""
        model, parts, n = self.arm.kernels, self.parts, self.parts.size
        qdd = model.quiet("forward_dynamics")(q, qd, tau)
        d = model.quiet("inverse_dynamics_derivatives")(q, qd, qdd)
        M = model.quiet("mass_matrix")(q)
        own = [np.concatenate(parts.split(x), axis=-1) for x in (qd, qdd)]
        steps = self._steps(M, d[..., 0, :, :], d[..., 1, :, :], own)[..., n : 2 * n, :]
        drift = times(self.E, own[0] + steps[..., 2 * n])
        reach = self.E @ steps[..., 2 * n + 1 :]
        with np.errstate(all="ignore"):  # a motion that diverges, NaN
            singular = np.linalg.det(reach)[..., np.newaxis, np.newaxis] == 0.0
        return solve(np.where(singular, np.nan, reach), wanted - drift)

    def growth(self, q: Array, errors: Array) -> tuple[float, float]:
        """Largest growth in 1/s of the loop at rest, and the fastest motion in rad/s.

        Of postures (..., nq) under `decay` of errors (nu, 2, 2).
        """
        n, still = self.parts.size, np.zeros((*q.shape[:-1], self.arm.nv))
        K, D = inverse_dynamics_derivatives(self.arm, q, still, still)
        M = mass_matrix(self.arm, q)
        none = np.zeros((*q.shape[:-1], n))
        steps = self._steps(M, K, D, [none, none])[..., : 2 * n, :]
        A, B = steps[..., : 2 * n], steps[..., 2 * n + 1 :]
        E = self.E
        wanted = np.hstack([errors[:, 1, :1] * E, errors[:, 1, 1:] * E])
        gain = np.linalg.solve(E @ B[..., n:, :], wanted - E @ A[..., n:, :])
        loop = A + B @ gain
        if not np.isfinite(loop).all():
            text = f"dt is {self.dt:g} s, in which numbers overflow, expected less"
            raise ArgumentError(text)
        size = np.abs(closed_poles(loop)).max(initial=1e-300)
        speed = np.abs(np.linalg.eigvals(self._flow(M, K, D, [none, none])).imag).max()
        return float(np.log(size)) / self.dt, float(speed)

    def _flow(self, M: Array, K: Array, D: Array, motion: Sequence[Array]) -> Array:
        """Matrix of deviations of positions and rates from the start, 1 and forces."""
        block, n = self.parts.block, self.parts.size
        S = np.broadcast_to(self.acting, (*M.shape[:-2], *self.acting.shape))
        right = np.concatenate([block(K), block(D), S], axis=-1)
        solved = np.linalg.solve(block(M), right)
        F = np.zeros((*solved.shape[:-2], *[2 * n + 1 + S.shape[-1]] * 2))
        F[..., :n, n : 2 * n] = np.eye(n)
        F[..., n : 2 * n, : 2 * n] = -solved[..., : 2 * n]
        F[..., :n, 2 * n], F[..., n : 2 * n, 2 * n] = motion
        F[..., n : 2 * n, 2 * n + 1 :] = solved[..., 2 * n :]
        return F

    def _steps(self, M: Array, K: Array, D: Array, motion: Sequence[Array]) -> Array:
        """Exponential of the same over a sample, NaN where a state is lost."""
        from scipy.linalg import expm

        F = self._flow(M, K, D, motion) * self.dt
        size = np.abs(F).max(axis=(-2, -1), keepdims=True)
        lost = ~(size < _MAX_SPAN)
        with np.errstate(all="ignore"):
            return np.where(lost, np.nan, expm(np.where(lost, 0.0, F)))


class Watch:
    """Errors of outputs at the samples, against those that the law promises."""

    def __init__(self, decay: Array, advice: str) -> None:
        self.decay, self.advice = decay, advice
        self.reset()

    def reset(self) -> None:
        """Forget all samples."""
        self.promised: Array | None = None
        self.first = self.size = self.worst = self.last = np.zeros(0)

    def see(self, desired: Sequence[Array], rates: Sequence[Array]) -> None:
        """Take the outputs and their rates (..., nu) of a sample."""
        k = self.decay.shape[-1]
        pairs = zip(desired[:k], rates[:k], strict=True)
        e = np.stack(np.broadcast_arrays(*(a - b for a, b in pairs)), axis=-1)
        if self.promised is None or self.promised.shape != e.shape:
            self.promised, self.first = e, np.asarray(desired[0])
            self.size, self.worst = np.abs(e[..., 0]), np.zeros(e.shape[:-1])
        else:
            self.promised = times(self.decay, self.promised)
        self.last = np.abs(e - self.promised)[..., 0]
        self.size = np.fmax(self.size, np.abs(desired[0] - self.first))
        self.worst = np.fmax(self.worst, self.last)

    @property
    def remark(self) -> str:
        """Sentence about outputs that are elsewhere, or nothing."""
        size = self.size.max(axis=-1, initial=0.0, keepdims=True)
        if not (self.worst > _MAX_DEVIATION * size).any():
            return ""
        worst, last = (np.nanmax(x, initial=0.0) for x in (self.worst, self.last))
        return (
            f"outputs were up to {worst:.3g} rad or m from where the law takes them, "
            f"{last:.3g} at the last sample; {self.advice}, or look at limits of "
            "actuators, the delay, sensors and the model"
        )
