"""Newton's method for the sparse equations of `inverse_motion`."""

from __future__ import annotations

import numpy as np

from ..._support.arrays import Array
from ...errors import ConvergenceError
from ...optimize._tracking.least_squares import Ending
from ._inverse_motion import StableInversion, State

# Size of a step that is rounding if it does not become shorter.
_ROUNDING = 1e-6
# Part of a step at least; searches that need a smaller one are stuck.
MIN_PART = 1e-4


class Newton:
    """Newton's method, shortened until the simplified next step is shorter.

    P. Deuflhard, *Newton Methods for Nonlinear Problems*, 2004, section 3.3.
    """

    def __init__(self, problem: StableInversion, x: State, tolerance: float) -> None:
        self.problem, self.x, self.tolerance = problem, x, tolerance
        self._r, self._part = problem.residual(x), 1.0

    def step(self) -> Ending | None:
        """One step; status and message if it is the last one."""
        from scipy.sparse.linalg import splu

        problem, x, part = self.problem, self.x, min(1.0, 4.0 * self._part)
        # a full step
        try:
            solve = splu(problem.tangent(x)).solve
        except RuntimeError:
            raise _singular() from None
        change = -solve(self._r)
        size = _size(problem, x, change)
        if not np.isfinite(size):
            raise _singular()
        # a part of it, with which the next step becomes shorter
        while True:
            new = problem.add(x, part * change)
            r, ahead = problem.residual(new), np.inf
            if np.isfinite(r).all():
                ahead = _size(problem, x, solve(r))
            if ahead < (1.0 - 0.25 * part) * size or size < _ROUNDING:
                break
            part *= 0.5
            if part < MIN_PART:
                return "failed", _stuck(problem, x)
        self.x, self._r, self._part = new, r, part
        rounding = size < _ROUNDING and ahead > 0.5 * size
        if part == 1.0 and (min(size, ahead) < self.tolerance or rounding):
            return "solved", f"the last step was {min(size, ahead):.1g} rad or m"
        return None


def _size(problem: StableInversion, x: State, change: Array) -> float:
    """Largest change of a coordinate."""
    n, nv = x.q.shape
    body = change[: n * (nv + x.tau.shape[1])].reshape(n, -1)
    return float(np.abs(body[:, :nv]).max())


def _stuck(problem: StableInversion, x: State) -> str:
    """Reason why Newton's method ends: often forces without effect on the tip."""
    message = "no part of a Newton step comes closer to a solution"
    task, nv = problem.task, problem.arm.nv
    if problem.arm.motor_slice.stop > problem.arm.nu:
        return message  # forces reach the tip through springs alone
    m = len(task.axes)
    A = np.zeros((len(x.q), nv + m, nv + m))
    A[:, :nv, :nv] = problem.arm.kernels.quiet("mass_matrix")(x.q)
    A[:, :nv, nv:] = -task.acts
    A[:, nv:, :nv] = task.jacobian(x.q)[:, task.axes]
    signs, _ = np.linalg.slogdet(A)
    turns = np.flatnonzero(signs != signs[0])
    if not len(turns):
        return message
    return (
        f"{message}: beyond t = {problem.t[turns[0]]:.3g} s the forces accelerate the "
        "tip to the other side than at rest (J M^-1 B changes its sign), where the "
        "inverse does not exist; see shooting, or a slower motion"
    )


def _singular() -> ConvergenceError:
    return ConvergenceError(
        "stable inversion has singular equations: the tip can rest while the arm "
        "drifts (a zero at the origin), or the path leads through a singular posture; "
        "see shooting"
    )
