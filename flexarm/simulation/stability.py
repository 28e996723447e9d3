"""Longest stable step of conditionally stable methods, and its message."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._calls.arm_like import ArmLike, Array

CONDITIONAL = ("rk4", "linear-acceleration")
# Velocities up to which a table has the highest frequency: its time grows with their
# third power.
_MAX_SIZE = 200


def linearized(
    arm: ArmLike, q: Array, gains: Sequence[Array] | None = None
) -> tuple[Array, Array, Array]:
    """Mass, damping and stiffness of an arm at rest, with the gains of a feedback."""
    rest = np.zeros(arm.nv)
    quiet = arm.kernels.quiet
    K, D = np.array(quiet("inverse_dynamics_derivatives")(q, rest, rest))
    if gains is not None:
        at = arm.actuator_indices
        for matrix, gain in zip((K, D), gains, strict=True):
            matrix[np.ix_(at, at)] += gain if np.ndim(gain) == 2 else np.diag(gain)
    return np.asarray(quiet("mass_matrix")(q)), D, K


def runge_kutta(z: np.ndarray) -> np.ndarray:
    """Factor by which a step multiplies a mode, z = step times eigenvalue."""
    return np.asarray(1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0))))


def _growth(z: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(runge_kutta(z)))


def _ray(rate: complex) -> float:
    """Longest step of Runge-Kutta for one eigenvalue, infinite for a growing one."""
    if rate == 0.0 or rate.real > 1e-9 * abs(rate):
        return np.inf
    direction = rate / abs(rate)
    sizes = np.linspace(0.0, 3.0, 3001)[1:]
    grows = _growth(sizes * direction) > 1.0 + 1e-9
    return float(sizes[grows.argmax()] / abs(rate)) if grows.any() else np.inf


def stable_step(
    arm: ArmLike,
    q: Array,
    method: str,
    gains: Sequence[Array] | None = None,
    step: float | None = None,
) -> tuple[float, complex]:
    """Longest stable step in s, and the eigenvalue in 1/s that limits it.

    For the arm linearized at a state: 2 sqrt(3) / omega without damping for linear
    acceleration, by the stability region for Runge-Kutta.  Infinite without a search if
    the `step` of a run is stable.
    """
    M, D, K = linearized(arm, q, gains)
    n = len(M)
    if method == "rk4":
        A = np.zeros((2 * n, 2 * n))
        A[:n, n:] = np.eye(n)
        A[n:] = -np.linalg.solve(M, np.hstack([K, D]))
        rates = np.linalg.eigvals(A)
        stable = rates.real <= 1e-9 * abs(rates)  # an undamped one has either sign
        if step is not None and not (_growth(step * rates[stable]) > 1.0 + 1e-9).any():
            return np.inf, 0j
        limits = np.array([_ray(complex(rate)) for rate in rates])
        k = int(limits.argmin())
        return float(limits[k]), complex(rates[k])
    omega = float(np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(M, K))).max()))
    return (2.0 * np.sqrt(3.0) / omega if omega else np.inf), 1j * omega


def instability(
    arm: ArmLike,
    q: Array,
    method: str,
    step: float,
    gains: Sequence[Array] | None = None,
    other: str = "ROS34PW2",
) -> str:
    """Return a sentence if a step is above the stability limit, or nothing.

    It names the longest step and an `other` method, which has no such limit.
    """
    try:
        limit, rate = stable_step(arm, q, method, gains, step)
    except np.linalg.LinAlgError:
        return ""
    if not step > limit:
        return ""
    fastest = f"mode of {abs(rate) / (2.0 * np.pi):.4g} Hz"
    if abs(rate.imag) < 0.1 * abs(rate):
        fastest = f"decay of {abs(rate):.3g} per s, by damping"
    shown = 10.0 ** (np.floor(np.log10(limit)) - 1.0)  # two digits, rounded down
    return (
        f"the step of {1e3 * step:.3g} ms is above the stability limit of "
        f"{1e3 * limit:.3g} ms for the fastest {fastest}; take "
        f"max_step={np.floor(limit / shown) * shown:.2g} or method={other!r}"
    )


def fastest(arm: ArmLike) -> list[str]:
    """Line with the highest frequency and the largest stable step of ``"rk4"``."""
    if arm.nv > _MAX_SIZE:
        line = f"highest frequency: not computed for more than {_MAX_SIZE} coordinates"
        return [line] if any(body.n_modes for body in arm.bodies) else []
    if not arm.stiffness_matrix.any():
        return []
    try:
        step, rate = stable_step(arm, arm.neutral, "rk4")
    except np.linalg.LinAlgError:
        return []
    if not np.isfinite(step):
        return []
    what = f"highest frequency {abs(rate) / (2.0 * np.pi):.4g} Hz"
    if abs(rate.imag) < 0.1 * abs(rate):
        what = f"fastest decay {abs(rate):.3g} per s, by damping"
    return [f"{what}: method 'rk4' is stable with steps up to {1e3 * step:.3g} ms"]
