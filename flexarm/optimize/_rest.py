"""Motion of an arm after its end, if brakes close or motors hold it."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.integrate import trapezoid

from .._calls.units import velocity_units
from .._support.arrays import Array, Mask
from ..arm import Arm

# Part of their ways by which joints and tip of a success may swing after its end.
MAX_SWING = 0.01
# Way in rad or m that joints count with if they hardly move, since a part of nothing is
# never kept.
_MIN_WAY = 0.01
# Way in m that a tip counts with if it hardly moves.
_MIN_TIP_WAY = 1e-6
# Part of the duration after which a controller has caught joints that drift: the drift
# that counts is proportional to it.
_DRIFT_SHARE = 0.1


def swing_with_brakes(arm: Arm, q: Array, qd: Array, duration: float) -> float:
    r"""Largest distance in m by which the tip swings once brakes close on the joints.

    Their impulses stop the joints and leave the momentum of what bends,
    :math:`\dot\eta^+ = \dot\eta + M_{\eta\eta}^{-1} M_{\eta j} \dot q_j`.

    Parameters
    ----------
    arm : Arm
        Its actuators have brakes; other joints move on.
    q, qd : (nq,), (nv,) ndarray of float
        State at the end.
    duration : float
        Of the motion in s, after which slow swings are no longer looked at.
    """
    free = np.ones(arm.nv, dtype=bool)
    free[arm.actuator_indices] = False
    if not free.any():
        return 0.0
    J = np.asarray(arm.kernels.quiet("jacobian")(arm.tip_node, q))[3:, free]
    shapes, amplitudes = _vibration(arm, q, qd, free, duration)
    return float(np.linalg.norm(J @ shapes, axis=0) @ amplitudes)


def swings_of_joints(arm: Arm, q: Array, qd: Array, duration: float) -> Array:
    """Largest ways (nu,) of the actuated coordinates under forces that hold them.

    They drift until they are caught after a tenth of the duration.  Parameters are
    those of `swing_with_brakes`.
    """
    every = np.ones(arm.nv, dtype=bool)
    shapes, amplitudes = _vibration(arm, q, qd, every, _DRIFT_SHARE * duration)
    return np.asarray(np.abs(shapes[arm.actuator_indices]) @ amplitudes)


def ways_of_joints(arm: Arm, t: Array, qd: Array) -> Array:
    """Longest way (nu,) that an actuated coordinate of the same unit has, in rad or m.

    Times are (n,), rates (n, nv).
    """
    acting = arm.actuator_indices
    ways = trapezoid(np.abs(qd[:, acting]), t, axis=0)
    slides = np.array(velocity_units(arm))[acting] == "m/s"
    longest = [ways[slides == kind].max(initial=_MIN_WAY) for kind in (False, True)]
    return np.asarray(np.array(longest)[slides.astype(int)])


def way_of_tip(tip: Array) -> float:
    """Length in m of the way through places (n, 3), some for a tip that stands."""
    return max(float(np.linalg.norm(np.diff(tip, axis=0), axis=1).sum()), _MIN_TIP_WAY)


def _vibration(
    arm: Arm, q: Array, qd: Array, free: Mask, seconds: float
) -> tuple[Array, Array]:
    """Modes (n, n) of the coordinates that are free, and what each of them swings by.

    Slow and unstable ones: as far as they come within these seconds.
    """
    model, still = arm.kernels, np.zeros(arm.nv)
    M = np.asarray(model.quiet("mass_matrix")(q))
    force = np.asarray(model.quiet("inverse_dynamics")(q, still, still))[free]
    K = np.asarray(model.quiet("inverse_dynamics_derivatives")(q, still, still)[0])
    if free.all():
        force[arm.actuator_indices] = 0.0  # held
    own, K = M[np.ix_(free, free)], K[np.ix_(free, free)]
    squares, shapes = linalg.eigh(0.5 * (K + K.T), own)
    slow = squares * seconds**2 < 1.0
    period = np.where(slow, seconds, 1.0 / np.sqrt(np.where(slow, 1.0, squares)))
    off = shapes.T @ force * np.where(slow, 0.5, 1.0) * period**2
    return shapes, np.hypot(off, shapes.T @ (M[free] @ qd) * period)
