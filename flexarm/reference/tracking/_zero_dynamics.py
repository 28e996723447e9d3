r"""Zeros from actuators to tip about rest: motions of an arm with its tip at rest.

About a static state :math:`M\ddot q + D\dot q + K q = B\tau`, with :math:`J q = 0` for
the tip.  With bases V of the motions that leave the tip alone and W of the coordinates
without an actuator, :math:`(\lambda^2 W'MV + \lambda W'DV + W'KV)\,z = 0`.  Real zeros
come in pairs :math:`\pm\lambda` for an arm without damping; 1/|lambda| is the time
for which the arm moves before its tip, and after it.  Imaginary zeros are vibrations
that do not move the tip.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._support.arrays import Array, Complex, Index
from ...optimize._tracking.tip_task import TipTask

# Part of the largest alpha within which beta is 0, and a zero infinite.
_BETA_TOLERANCE = 1e-9
# Ratio of imaginary part to absolute value within which a zero is real.
_REAL_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Zeros:
    """Zeros of a linearized arm, and their motions.

    Attributes
    ----------
    values : (k,) ndarray of complex
        In 1/s, ascending by size.
    shapes : (nv, k) ndarray of complex
        Motions of the coordinates.
    rows : (k, nv) ndarray of complex
        Rows that extract a motion from accelerations.
    """

    values: Complex
    shapes: Complex
    rows: Complex

    @property
    def oscillating(self) -> Index:
        """Vibrations that do not move the tip and do not grow, one index for each pair.

        Without those that have a growing partner, as mirrored zeros do.
        """
        x = self.values
        up = x.imag > _REAL_TOLERANCE * np.abs(x)
        grows = up & (x.real > _REAL_TOLERANCE * np.abs(x))
        stays = np.flatnonzero(up & ~grows)
        stays = stays[np.argsort(-x[stays].real)]
        return stays[: max(0, len(stays) - int(grows.sum()))]

    def slowest(self, sign: int) -> float:
        """Least rate in 1/s of motions that grow (1) or decay (-1), not vibrations."""
        x = self.values[np.abs(self.values.real) > 0.1 * np.abs(self.values)]
        rates = sign * x.real
        return float(rates[rates > 0.0].min(initial=np.inf))


def zeros_at_rest(task: TipTask, q: Array) -> Zeros:
    """Zeros of the arm linearized at a static state."""
    from scipy.linalg import eig, null_space

    arm, rest, quiet = task.arm, np.zeros(task.arm.nv), task.arm.kernels.quiet
    K, D = np.array(quiet("inverse_dynamics_derivatives")(q, rest, rest))
    M = np.asarray(quiet("mass_matrix")(q))
    V = null_space(task.slopes(q))
    W = np.delete(np.eye(arm.nv), arm.actuator_indices, axis=1)
    m, d, k = (W.T @ x @ V for x in (M, D, K))
    n = len(m)
    if not n:
        none = np.zeros(0, dtype=complex)
        return Zeros(
            none, np.zeros((arm.nv, 0), complex), np.zeros((0, arm.nv), complex)
        )
    # without damping, squares of the zeros: infinite ones are simple and easy to find
    alpha, beta = eig(-k, m, right=False, homogeneous_eigvals=True)
    finite = np.abs(beta) > _BETA_TOLERANCE * np.abs(beta).max() * np.maximum(
        1.0, np.abs(alpha) / np.abs(alpha).max()
    )
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-k, -d]])
    E = np.block([[np.eye(n), np.zeros((n, n))], [np.zeros((n, n)), m]])
    values, left, right = eig(A, E, left=True, right=True)
    size = np.where(np.isfinite(values), np.abs(values), np.inf)
    some = np.argsort(size, kind="stable")[: 2 * int(finite.sum())]
    shapes, rows = V @ right[:n, some], left[n:, some].conj().T @ W.T @ M
    return Zeros(values[some], shapes, rows)


def most_real(x: Complex) -> Array:
    """Real unit vector: real part of a vector turned such that it is largest."""
    turned = x * np.exp(-0.5j * np.angle((x * x).sum()))
    return np.asarray(turned.real / np.linalg.norm(turned.real))
