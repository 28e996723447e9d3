"""Estimated error of fixed steps that are stable, but damp what they do not resolve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._calls.records import reported
from .._support.warn import warn
from ..errors import AccuracyWarning
from .run import Run
from .stability import linearized

Array = NDArray[np.float64]

# Estimated error, of the size of the motion, without a warning, and of a step to take.
# A vibration alone loses 4 % of its energy at 0.05; see tests/test_accuracy.py.
LIMIT = 0.05
WANTED = 0.01

_EXPONENT = 1.0 / 2.0 + 1.0 / 8.0 + 1.0 / 32.0  # R5 of rosenbrock.c, of squares
_FEW = 64  # coordinates with cheap eigenvalues
_GAMMA = 0.435866521508458999416


def estimated_errors(report: Array) -> Array:
    """Error of each trajectory of ROS34PW2, as a share of its motion.

    The errors of all steps, R5 of ``csrc/kernels/time/rosenbrock.c``, over the largest
    energy of the motion and the work of forces and damping, which forget errors.
    """
    errors, scale, work = reported(report, "error", "scale", "work")
    with np.errstate(all="ignore"):
        turnover = 1.0 + 2.0 * work / scale
        return np.asarray(2.0 * errors / scale**_EXPONENT / turnover)


def warn_of_errors(run: Run, method: str) -> None:
    """Warn if steps of ROS34PW2 do not resolve the motion of a run."""
    if method != "ROS34PW2" or len(run.t) < 2 or not len(run.q):
        return
    errors = run.errors = estimated_errors(run.report)
    bad = (errors > LIMIT) & np.isfinite(run.qd[:, -1]).all(axis=-1)
    if not bad.any():
        return
    i = int(np.where(bad, errors, 0.0).argmax())
    h = float(np.diff(run.t).max()) / run.substeps
    if _is_transient(run, i, h, (len(run.t) - 1) * run.substeps):
        return
    many = f" of {int(bad.sum())} of {len(bad)} trajectories" if run.batch else ""
    shorter = h * (WANTED / float(errors[i])) ** (1.0 / 3.0)
    digits = 10.0 ** (np.floor(np.log10(shorter)) - 1.0)
    wanted = np.floor(shorter / digits) * digits
    share = f"{100.0 * min(errors[i], 1.0):.0f}"
    sentence = (
        f"steps of {h:.3g} s of ROS34PW2 have an estimated error of "
        f"{share} % of the motion{many}, and damp vibration "
        f"that they do not resolve; take max_step={wanted:.2g} or less, or "
        "method='Rodas4P', or silence AccuracyWarning"
    )
    run.doubts.append(sentence)
    warn(sentence, AccuracyWarning)


def _is_transient(run: Run, i: int, h: float, n: int) -> bool:
    """Whether n steps only miss how fast modes decay, after which they are right.

    By the error of the arm linearized at its start, under the forces there: steps
    multiply a mode by R(h rate), where exp(h rate) is exact.
    """
    arm, q, qd = run.one(i), run.q[i, 0], run.qd[i, 0]
    if arm.nq != arm.nv or arm.nv > _FEW:
        return False
    full = arm.replace(fidelity="full") if arm.fidelity == "linear" else arm
    gains = None
    if run.gains is not None:
        gains = tuple(x[i % len(x)] for x in (run.gains.kp, run.gains.kd))
    try:
        M, D, K = linearized(full, q, gains)
        still, one = np.zeros_like(M), np.eye(len(M))
        A = np.block([[still, one], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
        rates, modes = np.linalg.eig(A)
        z = h * rates
        if not ((abs(z) > 0.5) & (z.real < -0.5 * abs(z))).any():
            return False
        # deviation from equilibrium
        acceleration = arm._model.quiet("forward_dynamics")(q, qd, run.tau[i, 0])
        slope = np.concatenate([qd, acceleration])
        size = np.linalg.lstsq(modes, np.linalg.lstsq(A, slope)[0])[0]
    except np.linalg.LinAlgError:
        return False
    steps = np.unique(np.linspace(1, n, 200).astype(int))[:, np.newaxis]
    with np.errstate(all="ignore"):
        missed = ((_growth(z) ** steps - np.exp(z * steps)) * size @ modes.T).real
    # by the energies of the estimate
    bent = slice(arm.motor_slice.stop, arm.nv)
    weight = np.concatenate([np.zeros(arm.nv), np.diag(M)])
    weight[bent] = np.diag(arm.stiffness_matrix)[bent]
    (scale,) = reported(run.report[i], "scale")
    return bool((missed**2 @ weight).mean() <= LIMIT**2 * scale)


def _growth(z: Array) -> Array:
    """Factor of a step of ROS34PW2: of order three with R(infinity) = 0."""
    g = _GAMMA
    square = 0.5 - 3.0 * g + 3.0 * g**2
    return np.asarray((1.0 + z * (1.0 - 3.0 * g + z * square)) / (1.0 - g * z) ** 3)
