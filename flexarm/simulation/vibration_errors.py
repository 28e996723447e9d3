"""Errors of fixed steps of Runge and Kutta in the vibration that a run starts with."""

from __future__ import annotations

import numpy as np

from .._calls.records import reported
from .._support.arrays import Array, Complex
from .run import MAX_EIGENVALUES, Run
from .stability import linearized, runge_kutta

# Error by R7 below which vibration has not lost 1 % of the motion: 1.5e-4 is the least
# of 183 random arms that have, tests/simulation/test_vibration_errors.py.
_MIN_ERROR = 1e-4
# Numbers of steps at which errors are compared, at most.
_MAX_TIMES = 64
# Part of the square of the fastest rate below which there is no vibration.
_REST_SQUARE = 1e-9
# Factor between steps that are tried: warnings name one that is a quarter too short at
# most.
_STEP_RATIO = 1.25
# Such factors that are tried, of 7000 together.
_MAX_TRIALS = 40
# Part of the largest error of a mode above which a mode is to blame, too.
_MODE_SHARE = 0.1


def vibration_errors(run: Run, shares: Array) -> Array:
    """Error of velocities by vibration, as a share of the motion by kinetic energy.

    Of the arm linearized at its start, under the forces there.  A mode of unit mass has
    the velocity y and the acceleration a, so the amplitude sqrt(y^2 + (a/w)^2), which a
    step multiplies by R(h rate), where exp(h rate) is exact.  The errors of R7 of
    ``csrc/kernels/time/step_errors.h`` are measured by the whole motion and so are too
    small for vibration beside a larger motion.  Those `shares` tell where to look.
    Zero for what is not looked at: arms without stiffness, large ones, and laws.
    """
    errors = np.zeros(len(run.q))
    arm = run.one(0)
    lawful = run.function is not None or run.feedback is not None
    if lawful or arm.fidelity == "linear" or arm.nv > MAX_EIGENVALUES or arm._held:
        return errors
    for i in map(int, np.flatnonzero(shares > _MIN_ERROR)):
        if run.one(i).stiffness_matrix.any():
            errors[i] = _error(run, i, *_modes(run, i))
    return errors


def vibration_advice(run: Run, i: int, wanted: float) -> tuple[float, float]:
    """Step in s whose error by vibration is small, and the fastest mode of it in Hz."""
    roots, shares = _modes(run, i)
    with np.errstate(all="ignore"):
        size = np.nan_to_num(_missed(run, i, roots).max(axis=0), posinf=1.0) * shares
    fastest = float(np.abs(roots[size > _MODE_SHARE * size.max()]).max())
    finer = _STEP_RATIO ** np.arange(1, _MAX_TRIALS + 1)
    small = [x for x in finer if 0.0 < _error(run, i, roots, shares, x) < wanted]
    h = float(np.diff(run.t).max()) / run.substeps[i]
    return h / float(small[0] if small else finer[-1]), fastest / (2.0 * np.pi)


def _modes(run: Run, i: int) -> tuple[Complex, Array]:
    """Eigenvalues of the modes of a trajectory at its start, and their amplitudes.

    Those are shares of the largest motion of the run, by kinetic energy.
    """
    arm, q, qd = run.one(i), run.q[i, 0], run.qd[i, 0]
    (scale,) = reported(run.report[i], "scale")
    none = np.zeros(0, dtype=complex), np.zeros(0)
    try:
        M, D, K = linearized(arm, q)
        L = np.linalg.inv(np.linalg.cholesky(M))
        squares, turn = np.linalg.eigh(L @ (0.5 * (K + K.T)) @ L.T)
    except np.linalg.LinAlgError:
        return none  # no mass somewhere, of which others tell
    moving = squares > _REST_SQUARE * squares.max()
    if not scale > 0.0 or not moving.any():
        return none
    rates, modes = np.sqrt(squares[moving]), L.T @ turn[:, moving]
    acceleration = arm.kernels.quiet("forward_dynamics")(q, qd, run.tau[i, 0])
    y, a = modes.T @ M @ qd, modes.T @ M @ acceleration
    damping = 0.5 * np.einsum("ik,ij,jk->k", modes, D, modes)
    damping = np.minimum(damping, rates)  # others decay without vibration
    roots = -damping + 1j * np.sqrt(rates**2 - damping**2)
    return roots, np.hypot(y, a / rates) / scale


def _error(
    run: Run, i: int, roots: Complex, shares: Array, finer: float = 1.0
) -> float:
    """Largest error of the velocities with steps that are finer than those taken."""
    if not len(roots):
        return 0.0
    with np.errstate(all="ignore"):  # unstable steps, of which others tell
        error = float(np.sqrt((_missed(run, i, roots, finer) ** 2 @ shares**2).max()))
    return error if np.isfinite(error) else 0.0


def _missed(run: Run, i: int, roots: Complex, finer: float = 1.0) -> Array:
    """Missed share of each mode after some numbers of steps, (numbers, modes)."""
    substeps = run.substeps[i] * finer
    steps = np.diff(run.t) / substeps
    # times differ by rounding
    size = steps.max()
    kinds, counts = np.unique(np.round(steps / size, 9), return_counts=True)
    z = size * kinds[:, np.newaxis] * roots
    n = substeps * len(steps)
    weights = substeps * counts / n
    taken, exact = weights @ np.log(runge_kutta(z)), weights @ z
    number = np.unique(np.linspace(1, n, _MAX_TIMES).astype(int))[:, np.newaxis]
    return np.asarray(np.abs(np.exp(number * taken) - np.exp(number * exact)))
