"""Estimated errors of fixed steps: damped vibration, and steps that are unstable."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._calls.records import reported
from .._core import REPORT_COLUMNS
from .._support.arrays import Array
from .._support.warn import warn
from ..errors import AccuracyWarning
from .run import MAX_EIGENVALUES, Run
from .stability import linearized
from .vibration_errors import vibration_advice, vibration_errors

# Estimated error, of the size of the motion, without a warning: a vibration alone loses
# 4 % of its energy at 0.05 (tests/simulation/test_accuracy.py).
LIMIT = 0.05
# Estimated error of the step that a warning recommends.
GOAL_ERROR = 0.01

# Estimated error without a warning of vibration of known modes: an error of 1 %, and a
# quarter for an estimate that is too large, so that warnings are true:
# tests/simulation/test_vibration_errors.py.
VIBRATION_LIMIT = 0.0125
# Error of a vibration at the step that a warning recommends.
VIBRATION_GOAL = 0.005

# Steps that miss the whole motion (R7 of csrc/kernels/time/step_errors.h), at most, in
# a run that succeeds: a stable one has a few.
MAX_ASTRAY = 10

_ORDERS = {"rk4": 4.0, "linear-acceleration": 2.0}  # of methods that may be unstable
# Exponent of the scale, which is a square: R5 of rosenbrock.c.
_EXPONENT = 1.0 / 2.0 + 1.0 / 8.0 + 1.0 / 32.0
# Coefficient gamma of ROS34PW2, as in rosenbrock.c.
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
    """Warn if fixed steps do not resolve the motion of a run, or are unstable."""
    if len(run.t) < 2 or not len(run.q):
        return
    if method in _ORDERS:
        rk4 = method == "rk4"
        missed = vibration_errors(run, shares_of_steps(run)) if rk4 else 0.0
        warn_of_steps(run, method, float(np.diff(run.t).max()) / run.substeps, missed)
    if method != "ROS34PW2":
        return
    errors = run.errors = estimated_errors(run.report)
    bad = (errors > LIMIT) & np.isfinite(run.qd[:, -1]).all(axis=-1)
    if not bad.any():
        return
    i = int(np.where(bad, errors, 0.0).argmax())
    h = float(np.diff(run.t).max()) / run.substeps[i]
    if _is_transient(run, i, h, (len(run.t) - 1) * run.substeps[i]):
        return
    sentence = (
        f"{_beginning(run, method, h, errors, bad)}, and damp vibration that they do "
        f"not resolve; {_advice(h, float(errors[i]), 3.0)} or method='Rodas4P', or "
        "silence AccuracyWarning"
    )
    run.doubts.append(sentence)
    warn(sentence, AccuracyWarning)


def shares_of_steps(run: Run) -> Array:
    """Errors of steps by R7, as shares of the largest motion."""
    largest, size = reported(run.report, "error", "scale")
    with np.errstate(all="ignore"):
        return np.where(size > 0.0, largest / size, 0.0)


def warn_of_steps(run: Run, method: str, steps: ArrayLike, missed: Any = 0.0) -> None:
    """Warn of steps in s, at most, that may be unstable; fail if they miss the motion.

    With what they have `missed` of vibration, as far as that is known.
    """
    if method not in _ORDERS or run.one(0)._held:  # which C does not judge
        return
    (astray,) = reported(run.report, "astray")
    shares = shares_of_steps(run)
    bad = (shares > LIMIT) | (missed > VIBRATION_LIMIT)
    errors = run.errors = np.maximum(shares, missed)
    if bad.any():
        bad &= run.is_whole()  # others fail for other reasons
    if not bad.any():
        return
    lost = bad & (astray >= MAX_ASTRAY)
    worst = lost if lost.any() else bad
    i = int(np.where(worst, errors, 0.0).argmax())
    h = float(np.broadcast_to(steps, len(bad))[i])
    known = (
        run.doubt(i) if run.doubt is not None and run.arm.nv <= MAX_EIGENVALUES else ""
    )
    # linear acceleration shifts vibration, but keeps it up to its limit
    fails = bool(lost.any()) and (method == "rk4" or known != "")
    if fails:
        run.lost, bad = True, lost
    if known:
        end = f": {known}"
    else:
        other = "Radau" if run.one(i).fidelity == "linear" else "Rodas4P"
        if np.any(missed) and missed[i] == errors[i]:
            step, hertz = vibration_advice(run, i, VIBRATION_GOAL)
            end = f" in the mode of {hertz:.4g} Hz; {_take(step)}"
        else:
            end = f"; {_advice(h, float(errors[i]), _ORDERS[method])}"
        if run.function is None or not run.batch:  # which it sees
            end += f", or method={other!r}"
    unstable = f" and look unstable, {int(astray[i])} of them miss all of it"
    sentence = f"{_beginning(run, method, h, errors, bad)}{unstable * fails}{end}"
    if known and shares[i] <= LIMIT:  # of a short run, which says it all
        sentence = known
    run.doubts.append(sentence)
    warn(sentence, AccuracyWarning)


def forget(report: Array, work: Array) -> None:
    """Let the work of a feedback between two runs of held forces damp their errors.

    As R7 of ``csrc/kernels/time/step_errors.h`` within runs; changes the report.
    """
    (size,) = reported(report, "scale")
    with np.errstate(all="ignore"):
        kept = size**2 / (size**2 + 2.0 * work)
    report[:, REPORT_COLUMNS["work"].start] *= np.where(size > 0.0, kept, 1.0)


def _beginning(
    run: Run, method: str, h: float, errors: Array, bad: NDArray[np.bool_]
) -> str:
    """Beginning of a sentence on steps: their largest error, and how many runs."""
    many = f" of {int(bad.sum())} of {len(bad)} trajectories" if run.batch else ""
    share = f"{100.0 * min(float(errors[bad].max()), 1.0):.0f}"
    return (
        f"steps of {h:.3g} s of {method} have an estimated error of {share} % of the "
        f"motion{many}"
    )


def _advice(h: float, error: float, order: float) -> str:
    """Advice to take steps that are short enough."""
    return _take(shorter(h, error, order))


def shorter(h: float, error: float, order: float) -> float:
    """Step in s that is short enough, as errors of stable ones are powers of them."""
    return float(h * (GOAL_ERROR / min(error, 1.0)) ** (1.0 / order))


def _take(step: float) -> str:
    """Advice to take a step, with two digits, rounded down."""
    digits = 10.0 ** (np.floor(np.log10(step)) - 1.0)
    return f"take max_step={np.floor(step / digits) * digits:.2g} or less"


def _is_transient(run: Run, i: int, h: float, n: int) -> bool:
    """Whether n steps only miss how fast modes decay, after which they are right.

    By the error of the arm linearized at its start, under the forces there: steps
    multiply a mode by R(h rate), where exp(h rate) is exact.
    """
    arm, q, qd = run.one(i), run.q[i, 0], run.qd[i, 0]
    if arm.nq != arm.nv or arm.nv > MAX_EIGENVALUES:
        return False
    full = arm.replace(fidelity="full") if arm.fidelity == "linear" else arm
    try:
        M, D, K = linearized(full, q, run.gains_of(i))
        still, one = np.zeros_like(M), np.eye(len(M))
        A = np.block([[still, one], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
        rates, modes = np.linalg.eig(A)
        z = h * rates
        if not ((abs(z) > 0.5) & (z.real < -0.5 * abs(z))).any():
            return False
        # deviation from equilibrium
        acceleration = arm.kernels.quiet("forward_dynamics")(q, qd, run.tau[i, 0])
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
