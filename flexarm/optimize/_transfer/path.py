"""Motions to begin a search with: given ones, and answers of coarser searches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline

from ...arm import Arm
from ...errors import ArgumentError
from ...simulation import Trajectory
from .._charts import coordinate_motion, real_arm
from .._result import OptimalMotion
from .._verify import between

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Path:
    """Positions, velocities and forces of a motion over shares of its duration.

    Attributes
    ----------
    s : (n,) ndarray of float
        Shares of the duration, zero to one.
    q, v : (n, nv) ndarray of float
        Positions, and velocities by time.
    tau : (n, nu) ndarray of float or None
        Forces of the actuators.
    duration : float
        In s.
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
        """Positions, velocities and accelerations at times for a duration."""
        by_share = CubicHermiteSpline(self.s, self.q, self.v * self.duration)

        def at(t: Array) -> tuple[Array, Array, Array]:
            s = np.clip(t / T, 0.0, 1.0)
            return by_share(s), by_share(s, 1) / T, by_share(s, 2) / T**2

        return at

    def forces(self, s: Array) -> Array | None:
        """Forces at shares of the duration."""
        if self.tau is None:
            return None
        return between(s, self.s, self.tau)


def path_of(motion: OptimalMotion, arm: Arm) -> Path:
    """Of an answer, in the coordinates of an arm."""
    return _path(motion, arm, _parameters(motion))


def _parameters(motion: OptimalMotion) -> Array | None:
    """Parameters of a design that a motion has, None without one."""
    return None if motion.least_cost is None else motion.least_cost.parameters


def read_initial(
    given: OptimalMotion | Trajectory | None, arm: Arm, parameters: int
) -> Path | None:
    """Of what the user gave as `initial`."""
    if given is None:
        return None
    nq = real_arm(arm).nq
    if given.q.ndim != 2 or given.q.shape[1] != nq or len(given.t) < 2:
        raise ArgumentError(
            f"initial has positions of shape {given.q.shape}, expected (n, {nq}), "
            "one motion of this arm"
        )
    if not (np.isfinite(given.q).all() and np.isfinite(given.qd).all()):
        raise ArgumentError(
            "initial has positions or velocities that are not finite, expected a "
            "motion that reached its end"
        )
    known = _parameters(given) if isinstance(given, OptimalMotion) else None
    if known is not None and len(known) != parameters:
        known = None
    return _path(given, arm, known)


def _path(
    motion: OptimalMotion | Trajectory, arm: Arm, parameters: Array | None
) -> Path:
    t = np.asarray(motion.t, dtype=float)
    kept = np.concatenate([[True], np.diff(t) > 1e-12 * (t[-1] - t[0])])
    T = float(t[-1] - t[0])
    tau = np.asarray(motion.tau)
    nu = motion.arm.nu
    usable = tau.shape == (len(t), nu) and bool(np.isfinite(tau).all())
    return Path(
        (t[kept] - t[0]) / T,
        *coordinate_motion(
            arm, np.asarray(motion.q)[kept], np.asarray(motion.qd)[kept]
        ),
        tau[kept] if usable else None,
        T,
        None if parameters is None else np.asarray(parameters, dtype=float),
    )
