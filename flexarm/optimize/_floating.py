r"""Bases that nobody drives and nothing holds: they move by conserved momentum.

Forces of a root joint without actuator, weight, spring and friction are zero, so that
the momentum along its velocities, rows b of :math:`M \dot q`, stays what it was at
rest: zero.  For a way of the other joints the base then moves by

.. math:: x_b' = -M_{bb}^{-1} M_{bj}\, x_j',

at any speed; where it ends depends on the way (Y. Nakamura, R. Mukherjee, IEEE Trans.
Robotics and Automation 7(4), 1991, 500-514).
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline

from .._support.arrays import Array, Mask
from ..arm import Arm
from ..model.motors import joint_forces
from ._charts import real_arm
from ._path import Path, PathPoints

# Points of a way between which its spline is taken.
_WAY_POINTS = 129


def floating(arm: Arm, torque: Array) -> Mask:
    """Mask (nv,) of the velocities of bases that float, by the limits (2, nu).

    They have no actuator, or limits that let none act.
    """
    result = np.zeros(arm.nv, dtype=bool)
    arm = real_arm(arm)
    driven = np.zeros(arm.nj, dtype=bool)
    driven[arm._actuated] = torque.any(axis=0)
    if np.any(arm.gravity) or arm._held:
        return result
    forced = {force.body for force in joint_forces(arm)}
    own = np.asarray(arm.damping_matrix) + np.asarray(arm.stiffness_matrix)
    for k, parent in enumerate(arm._parents):
        at = arm.body_joint_slice(k)
        if parent < 0 and k not in forced and arm.bodies[k].joint.drive is None:
            result[at] = not driven[at].any() and not own[at].any()
    return result


def following(arm: Arm, x: Array, mask: Mask) -> Array:
    """Rates of all coordinates (nv, m) by those of what is no base, at a posture."""
    result = np.eye(arm.nv)[:, ~mask]
    if mask.any():
        M = np.asarray(arm.kernels.quiet("mass_matrix")(x))[mask]
        result[mask] = -np.linalg.solve(M[:, mask], M[:, ~mask])
    return result


def drift(arm: Arm, start: Array, end: Array, mask: Mask) -> CubicHermiteSpline:
    """Coordinates over s from 0 to 1, on the straight line of all that is no base.

    Parameters
    ----------
    arm : Arm
        The arm in coordinates whose rates are its velocities.
    start, end : (nv,) ndarray of float
        Coordinates at both ends; those of bases at the end are not used.
    mask : (nv,) ndarray of bool
        Bases.
    """
    way = np.where(mask, 0.0, end - start)
    rows, still = np.flatnonzero(mask), np.flatnonzero(~mask)

    def slope(s: float, base: Array) -> Array:
        x = start + s * way
        x[rows] = base
        return np.asarray(following(arm, x, mask)[rows] @ way[still])

    s = np.linspace(0.0, 1.0, _WAY_POINTS)
    found = solve_ivp(
        slope, (0.0, 1.0), start[rows], "DOP853", s, rtol=1e-9, atol=1e-10
    )
    x = start + s[:, None] * way
    first = np.broadcast_to(way, x.shape).copy()
    x[:, rows] = found.y.T
    first[:, rows] = [slope(at, base) for at, base in zip(s, found.y.T, strict=True)]
    return CubicHermiteSpline(s, x, first)


def drifting_path(arm: Arm, ends: Array, mask: Mask) -> Path:
    """Path of the joints on which bases float, between two postures (2, nj)."""
    nj, rest = arm.nj, np.zeros(arm.nv - arm.nj)
    start, end = (np.append(x, rest) for x in ends)
    way = drift(arm, start, end, mask)

    def curve(s: Array) -> PathPoints:
        return PathPoints(*(way(s, k)[..., :nj] for k in range(3)))

    return Path("joint", "spline", way(np.array([0.0, 1.0]))[:, :nj], curve)
