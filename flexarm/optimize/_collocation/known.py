"""Motions to begin a search with: given ones, and answers of coarser searches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from ..._support.arrays import Array
from ...arm import Arm
from ...errors import ArgumentError
from ...simulation import Trajectory
from .._charts import coordinate_motion, real_arm
from .._result import OptimalMotion
from .._verify import between

# Part of the duration by which times are apart: closer ones are one.
_LEAST_STEP = 1e-9


@dataclass(frozen=True, eq=False)
class Known:
    """Positions, velocities and forces of a motion over shares of its duration.

    Attributes
    ----------
    s : (n,) ndarray of float
        Shares of the duration, zero to one in the main motion.
    q, v : (n, nv) ndarray of float
        Positions, and velocities by time.
    tau : (n, nu) ndarray of float or None
        Forces of the actuators.
    duration : float
        Of the main motion in s.
    parameters : (k,) ndarray of float or None
        Of a design.
    """

    s: Array
    q: Array
    v: Array
    tau: Array | None
    duration: float
    parameters: Array | None = None

    def stretched(self, T: float) -> Callable[[Array], tuple[Array, Array, Array]]:
        """Positions, velocities and accelerations at times for a duration.

        Before and after its times the motion rests.
        """
        by_share = CubicHermiteSpline(self.s, self.q, self.v * self.duration)

        def at(t: Array) -> tuple[Array, Array, Array]:
            s = np.clip(t / T, self.s[0], self.s[-1])
            moves = (np.abs(s - t / T) < _LEAST_STEP)[:, None]
            slope, bend = by_share(s, 1) / T, by_share(s, 2) / T**2
            return by_share(s), slope * moves, bend * moves

        return at

    def forces(self, s: Array) -> Array | None:
        """Forces at shares of the duration."""
        if self.tau is None:
            return None
        return between(s, self.s, self.tau)


def known_of(motion: OptimalMotion, arm: Arm) -> Known:
    """Of an answer, in the coordinates of an arm."""
    T, whole = motion.duration, float(motion.t[-1] - motion.t[0])
    if abs(whole - T) < _LEAST_STEP * T:  # without windows: ends at its last time
        T = whole
    return _known(motion, arm, T, _parameters(motion))


def _parameters(motion: OptimalMotion) -> Array | None:
    """Parameters of a design that a motion has, None without one."""
    return None if motion.least_cost is None else motion.least_cost.parameters


def read_initial(
    given: OptimalMotion | Trajectory | None,
    arm: Arm,
    parameters: int = 0,
    *,
    windows: bool = False,
) -> Known | None:
    """Of what the user gave as `initial`, with windows before and after the motion."""
    if given is None:
        return None
    nq, t = real_arm(arm).nq, np.asarray(given.t)
    if given.q.ndim != 2 or given.q.shape[1] != nq or len(t) < 2:
        raise ArgumentError(
            f"initial has positions of shape {given.q.shape}, expected (n, {nq}), "
            "one motion of this arm"
        )
    if not (np.isfinite(given.q).all() and np.isfinite(given.qd).all()):
        raise ArgumentError(
            "initial has positions or velocities that are not finite, expected a "
            "motion that reached its end"
        )
    T, known = float(t[-1] - (max(t[0], 0.0) if windows else t[0])), None
    if isinstance(given, OptimalMotion):
        known = _parameters(given)
        T = given.duration if windows else T
    if known is not None and len(known) != parameters:
        known = None
    return _known(given, arm, T, known, 0.0 if windows else float(t[0]))


def forces_of(motion: OptimalMotion | Trajectory) -> Array | None:
    """Forces (n, nu) of the actuators in a motion, None if it has none."""
    arm, tau = motion.arm, np.asarray(motion.tau)
    if tau.shape == (len(motion.t), arm.nv) and arm.nv != arm.nu:
        tau = tau[:, arm.actuator_indices]
    usable = tau.shape == (len(motion.t), arm.nu) and np.isfinite(tau).all()
    return tau if usable else None


def _known(
    motion: OptimalMotion | Trajectory,
    arm: Arm,
    duration: float,
    parameters: Array | None,
    start: float = 0.0,
) -> Known:
    t, tau = np.asarray(motion.t, dtype=float), forces_of(motion)
    kept = np.append(True, np.diff(t) > _LEAST_STEP * (t[-1] - t[0]))
    return Known(
        (t[kept] - start) / duration,
        *coordinate_motion(
            arm, np.asarray(motion.q)[kept], np.asarray(motion.qd)[kept]
        ),
        None if tau is None else tau[kept],
        duration,
        None if parameters is None else np.asarray(parameters, dtype=float),
    )
