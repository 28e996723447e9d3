"""Where the search for an optimal motion starts: joints smooth, links bent by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._collocation.transcription import Collocation

if TYPE_CHECKING:
    from ...arm import Arm

Array = NDArray[np.float64]

_CORRECTIONS = 3  # of the deflection of the first motion


def smooth(start: Array, end: Array, T: float, t: Any) -> tuple[Array, Array, Array]:
    """Positions, velocities, accelerations from rest to rest at times (n,).

    Of ninth degree: what bends follows the accelerations, and has smooth ones itself.
    """
    s = np.clip(np.asarray(t) / T, 0.0, 1.0)[:, None]
    way, both = end - start, s * (1.0 - s)
    place = s**5 * (126.0 + s * (-420.0 + s * (540.0 + s * (-315.0 + 70.0 * s))))
    return (
        start + place * way,
        630.0 * both**4 * way / T,
        2520.0 * both**3 * (1.0 - 2.0 * s) * way / T**2,
    )


def bent(arm: Arm, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """Positions (n, nv) with the deflection that balances a motion of the joints.

    And the forces (n, nu) of the actuators, without the motion of the deflection.
    """
    bends = np.ones(arm.nv, dtype=bool)
    bends[: arm.nu] = False
    q, v, a = q.copy(), np.where(bends, 0.0, v), np.where(bends, 0.0, a)
    rows = np.ones(arm.nv, dtype=bool)
    rows[arm.actuator_indices] = False
    for _ in range(_CORRECTIONS if bends.any() else 0):
        force = np.asarray(arm._model.quiet("inverse_dynamics")(q, v, a))[:, rows]
        both = arm._model.quiet("inverse_dynamics_derivatives")(q, v, a)
        K = np.asarray(both)[:, 0][:, rows][:, :, bends]
        q[:, bends] -= np.linalg.solve(K, force[..., None])[..., 0]
    force = np.asarray(arm._model.quiet("inverse_dynamics")(q, v, a))
    return q, force[:, arm.actuator_indices]


def first_motion(motion: Collocation, start: Array, end: Array, T: float) -> Array:
    """Unknowns of a smooth motion of the joints, with the deflection it makes."""
    arm = motion.arm

    def at(t: float) -> tuple[Array, Array]:
        return bent(arm, *smooth(start, end, T, [t]))

    return motion.guess(lambda t: at(t)[0][0], lambda t: at(t)[1][0])


def resize_modes(motion: Collocation, z: Array) -> None:
    """Sizes of what bends: its rates are those of its vibration, if steps show it."""
    arm = motion.arm
    bends = np.arange(arm.nu, arm.nv)
    q, still = z[motion.q], np.zeros(arm.nv)
    M = np.asarray(arm._model.quiet("mass_matrix")(q[0]))
    both = arm._model.quiet("inverse_dynamics_derivatives")(q[0], still, still)
    K = np.asarray(both)[0]
    rate = np.sqrt(np.abs(np.diagonal(K) / np.diagonal(M)))[bends]
    rate = np.minimum(rate, 1.0 / motion.steps(z).min())
    size = motion.scale[motion.q[0, bends]]
    for index, power in ((motion.v, 1), (motion.a.reshape(-1, arm.nv), 2)):
        at = index[:, bends]
        motion.resize(at, np.maximum(motion.scale[at], size * rate**power))


def torque_used(arm: Arm, start: Array, end: Array, T: float, torque: Array) -> Array:
    """Parts (nu,) of the limits, beside gravity, that a smooth motion takes."""
    q, v, a = smooth(start, end, T, np.linspace(0.0, T, 41))
    at = arm.actuator_indices
    moving = np.asarray(arm._model.quiet("inverse_dynamics")(q, v, a))[:, at]
    still = np.asarray(arm._model.quiet("inverse_dynamics")(q, 0 * v, 0 * a))[:, at]
    room = np.where(moving > still, torque[1] - still, torque[0] - still)
    part = np.abs(moving - still) / np.maximum(np.abs(room), 1e-12)
    return np.asarray(part.max(axis=0))
