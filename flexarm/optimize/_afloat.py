r"""Rigid arms whose base floats while their tip follows a path.

Momentum is conserved, see `_floating`: rates of all joints follow from those of the
driven ones, :math:`v = F(q)\,u`, so that the tip moves by :math:`J F u`, with the
generalized Jacobian of Y. Umetani, K. Yoshida, IEEE Trans. Robotics and Automation
5(3), 1989, 303-314.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import Array, Mask
from ..arm import Arm
from ..errors import ArgumentError
from ._path import Path, PathPoints
from ._postures import joint_motion, path_of_joints, unit_postures
from ._rigid import RigidLevel


@dataclass(frozen=True, eq=False)
class Afloat:
    """Start of a motion whose base floats, at s = 0.

    Attributes
    ----------
    posture : array_like of float or None
        Positions of the joints, of which those of bases are where these begin.
    bases : (nu,) ndarray of bool
        Mask of the rates of bases.
    """

    posture: ArrayLike | None
    bases: Mask


class FloatingLevel(RigidLevel):
    """Rigid level whose independent rates are those of joints that are no base."""

    def __init__(self, arm: Arm, what: str, bases: Mask) -> None:
        super().__init__(arm, what)
        self.bases, self.driven = bases, ~bases
        self.free = int(self.driven.sum())

    def _mass(self, q: Array) -> Array:
        """(..., nu, nu) mass matrix of the joints."""
        return np.asarray(self.S.T @ self.arm.kernels.mass_matrix(q) @ self.S)

    def _following(self, joints: Array) -> Array:
        """F (..., nu, free)."""
        b, M = self.bases, self._mass(self.posture(joints))
        F = np.zeros((*M.shape[:-1], self.free))
        F[..., ~b, :] = np.eye(self.free)
        F[..., b, :] = -np.linalg.solve(M[..., b, :][..., b], M[..., b, :][..., ~b])
        return F

    def spread(self, joints: Array, rates: Array) -> Array:
        """Rates (..., nu) of the joints by those that are independent."""
        return np.asarray((self._following(joints) @ rates[..., np.newaxis])[..., 0])

    def columns(self, joints: Array, J: Array) -> Array:
        """Derivatives (..., m, free) by the independent rates."""
        return np.asarray(J @ self._following(joints))

    def drift(self, q: Array, rate: Array) -> Array:
        """Accelerations (n, nv) while independent rates are constant."""
        b = self.bases
        force = self.arm.kernels.inverse_dynamics(q, rate, np.zeros_like(rate)) @ self.S
        a = np.zeros((len(q), self.n))
        M = self._mass(q)[:, b][:, :, b]
        a[:, b] = -np.linalg.solve(M, force[:, b, np.newaxis])[..., 0]
        return self.whole(a)

    def columns_rate(self, q: Array, rate: Array, J: Array) -> Array:
        """Change (n, m, free) of the columns by that of F, along rates (n, nv)."""
        b, n = self.bases, self.n
        # derivatives of M by the positions, from those of forces of unit accelerations
        units = np.broadcast_to(self.S.T, (len(q), n, self.arm.nv))
        every = np.repeat(q[:, np.newaxis], n, axis=1)
        still = np.zeros_like(units)
        slopes = self.arm.kernels.inverse_dynamics_derivatives(every, still, units)
        change = np.einsum("nkij,nj->nik", slopes[..., 0, :, :], rate)
        change = self.S.T @ change
        F, M = self._following(q[:, : self.n_positions]), self._mass(q)
        result = np.zeros_like(F)
        right = (change @ F)[:, b]
        result[:, b] = -np.linalg.solve(M[:, b][:, :, b], right)
        return np.asarray(J @ result)

    @property
    def placed(self) -> Mask:
        """Mask (n_positions,) of the positions of bases."""
        result = np.zeros(self.n_positions, dtype=bool)
        for k in range(len(self.arm.bodies)):
            if self.bases[self.arm.body_joint_slice(k)].any():
                result[self.arm.body_joint_slice(k, positions=True)] = True
        return result

    def kept(self, joints: Array, first: Array) -> Array:
        """Positions of joints with bases where they begin."""
        return np.asarray(np.where(self.placed, first, joints))


@dataclass(frozen=True, eq=False)
class _Beside:
    """Curve of all joints with bases that rest, from one of the others."""

    curve: Callable[[Array], PathPoints]
    first: Array
    placed: Mask

    def __call__(self, s: Array) -> PathPoints:
        points = []
        for k, own in enumerate(self.curve(s)):
            whole = np.zeros((*s.shape, len(self.first)))
            whole[..., self.placed] = 0.0 if k else self.first[self.placed]
            whole[..., ~self.placed] = own
            points.append(whole)
        return PathPoints(*points)


def joints_afloat(
    level: FloatingLevel, path: Path, s: Array, first: Array
) -> tuple[Array, Array, Array]:
    """Motion of all joints along a path of those that are no base.

    Parameters
    ----------
    level : FloatingLevel
        The arm.
    path : Path
        Of the driven joints.
    s : (n,) ndarray of float
        Path parameters from 0 on.
    first : (n_positions,) ndarray of float
        Positions of the joints at s = 0, of which those of bases count.

    Returns
    -------
    q, rates, changes : ndarray of float
        Positions (n, nq), velocities and accelerations by s (n, nv).
    """
    from scipy.integrate import solve_ivp

    placed, given = level.placed, path.points.shape[1]
    wanted = int((~placed).sum())
    if given != wanted:
        raise ArgumentError(
            f"path has postures of {given} numbers, expected {wanted}, those of the "
            "joints that are no base: it floats from where start has it"
        )
    points = np.tile(first, (len(path.points), 1))
    points[:, ~placed] = path.points
    curve = _Beside(path._curve, first, placed)
    whole = path_of_joints(level.arm, replace(path, points=points, _curve=curve))
    driven = level.driven

    def motion(at: Array) -> tuple[Array, Array, Array]:
        return joint_motion(level, whole(at))

    def rate(at: float, bases: Array) -> Array:
        q, v, _ = (x[0] for x in motion(np.array([at])))
        joints = q[: level.n_positions].copy()
        joints[placed] = bases
        own = level.spread(joints, v[: level.n][driven])
        return level.position_rates(joints, own)[placed]

    span, exact = (0.0, float(s[-1])), {"rtol": 1e-9, "atol": 1e-11}
    run = solve_ivp(rate, span, first[placed], "DOP853", s, **exact)
    q, v, a = motion(s)
    joints = q[:, : level.n_positions].copy()
    joints[:, placed] = run.y.T
    joints = unit_postures(level.arm, "start", joints)
    q = level.posture(joints)
    first_rates = level.whole(level.spread(joints, v[:, : level.n][:, driven]))
    bend = level.whole(level.spread(joints, a[:, : level.n][:, driven]))
    return q, first_rates, bend + level.drift(q, first_rates)
