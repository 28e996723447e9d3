"""Violation of the constraints of a run: at its start, and at its samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._calls.arm_like import ArmLike, Array
from .._calls.chunks import parts
from .._calls.units import position_units
from .._core import METHODS
from .._support.warn import warn
from ..constraints import close_loops
from ..errors import ConstraintWarning, FlexarmError
from .accuracy import warn_of_steps
from .run import Run
from .runaway import judge_slopes
from .trajectory import Trajectory

Finished = TypeVar("Finished", bound=Trajectory)

# Violation without a warning, as share of the size of the arm, and in rad. Closing a
# loop moves the arm by as much; positions rounded to three digits pass.
MAX_SHARE = 1e-3
# Violation in m without a warning of arms without extent.
MIN_LENGTH = 1e-6

SILENCE = "or silence ConstraintWarning"
JUMPS = (
    "and the arm jumps or drifts to where it holds; start from "
    f"flexarm.close_loops(arm, q0), {SILENCE}"
)
NO_SOLUTION = (
    "and flexarm.close_loops finds no positions near the start that satisfy all "
    "constraints; check lengths, and whether constraints contradict each other"
)


def tolerances(arm: ArmLike, q: Array) -> tuple[Array, list[str]]:
    """Violation of each row without a warning, and its unit, for an arm at q (nq,).

    The size of the arm is that of a box around its nodes and joints.
    """
    quiet = arm.kernels.quiet
    points = np.concatenate([quiet("node_poses")(q), quiet("link_poses")(q)])[:, :3, 3]
    length = MAX_SHARE * float(np.linalg.norm(np.ptp(points, axis=0))) + MIN_LENGTH
    places = dict(zip(arm.position_names, position_units(arm), strict=True))
    loops: list[tuple[float, str]] = []
    couplings: list[tuple[float, str]] = []
    for constraint in arm._held:
        if hasattr(constraint, "locked"):
            turns = [d.startswith("r") for d in constraint.locked]
            loops += [(MAX_SHARE, "rad") if turn else (length, "m") for turn in turns]
            continue
        terms = [(abs(value), places[name]) for name, value in constraint.coefficients]
        allowed = max(x * (length if unit == "m" else MAX_SHARE) for x, unit in terms)
        units = {unit for x, unit in terms}
        couplings.append((allowed, units.pop() if len(units) == 1 else "m or rad"))
    rows = loops + couplings  # the order of `Arm.constraint_names`
    return np.array([allowed for allowed, _ in rows]), [unit for _, unit in rows]


class Judge:
    """Judgement of the constraints of a run, which warns and tells the run."""

    def __init__(self, run: Run) -> None:
        self.run, self.arm = run, run.one(0)
        # of the first arm; those of a stack are of similar size
        self.allowed, self.units = tolerances(self.arm, run.q[0, 0])
        self.open = np.zeros(len(run.q), dtype=bool)  # from the start

    def start(self) -> None:
        """Judge the initial states."""
        run, q, qd = self.run, self.run.q[:, 0], self.run.qd[:, 0]
        quiet = run.flat.kernels.quiet
        size = np.abs(quiet("constraint_violation")(q))
        i, row, opens = _worst(size / self.allowed)
        if opens:
            self.open = (size > self.allowed).any(axis=-1)
            run.unsolved = not _closes(run.one(i), q[i])
            end = NO_SOLUTION if run.unsolved else JUMPS
            return self._tell(
                f"{self._text(row, size[i, row])} at the start"
                f"{self._share(size > self.allowed)}, {end}"
            )
        # rates of the rows, which are sums of larger ones
        A = quiet("constraint_jacobian")(q)
        rate = np.abs((A @ qd[..., np.newaxis])[..., 0])
        sums = (np.abs(A) @ np.abs(qd)[..., np.newaxis])[..., 0]
        allowed = self.allowed + MAX_SHARE * sums
        i, row, jumps = _worst(rate / allowed)
        if jumps:
            self._tell(
                f"{self._text(row, rate[i, row])}/s of velocities at the start"
                f"{self._share(rate > allowed)}, which jump or open it; start from "
                f"flexarm.close_loops(arm, q0, qd0), {SILENCE}"
            )
        return None

    def samples(self, method: str) -> None:
        """Judge the samples that the run reached."""
        run = self.run
        arms: Any = run.flat if run.stack is None else run.flat[:, np.newaxis]
        ratio = np.zeros(run.q.shape[:-1])
        for part in parts(ratio.shape):
            kernel = (arms if run.stack is None else arms[part[:1]]).kernels.quiet
            size = np.abs(kernel("constraint_violation")(run.q[part]))
            ratio[part] = (size / self.allowed).max(axis=-1)
        ratio = np.where(np.isfinite(ratio), ratio, 0.0)
        # those that were open, and those that were not
        i, k, stays = _worst(ratio[:, -1:] * self.open[:, np.newaxis])
        warned = run.unsolved
        run.unsolved = stays and not _closes(run.one(i), run.q[i, 0])
        if run.unsolved and not warned:
            self._tell(f"{self._row(i, -1)} at the end, {NO_SOLUTION}")
        ratio[self.open] = 0.0
        i, k, grows = _worst(ratio)
        if grows:
            finer = "a smaller max_step"
            if method not in METHODS:
                finer = "smaller rtol and atol, or a larger Arm.stabilization"
            self._tell(
                f"{self._row(i, k)} at t = {run.t[k]:.6g} s"
                f"{self._share(ratio > 1.0)}; take {finer}, {SILENCE}"
            )

    def _text(self, row: int, size: float) -> str:
        name, unit = self.arm.constraint_names[row], self.units[row]
        return f"constraint {name!r} is violated by {size:.3g} {unit}"

    def _row(self, i: int, k: int) -> str:
        kernel = self.run.one(i).kernels.quiet("constraint_violation")
        size = np.abs(kernel(self.run.q[i, k]))
        row = int(np.argmax(size / self.allowed))
        return self._text(row, size[row])

    def _share(self, bad: NDArray[np.bool_]) -> str:
        count = int(bad.any(axis=-1).sum())
        return f" of {count} of {len(bad)} trajectories" if self.run.batch else ""

    def _tell(self, sentence: str) -> None:
        self.run.doubts.append(sentence)
        warn(sentence, ConstraintWarning)


def judged(run: Finished, report: Array | None = None, step: float = 0.0) -> Finished:
    """Return the run of a loop with doubts in its message, after warnings.

    Of its constraints, of the slopes of its links, and of steps of at most `step` with
    their report.

    For loops that fill arrays of their own; `simulate` judges while it runs.
    """
    if not len(run.t):
        return run
    made = Run(run.arm, run.q[..., 0, :], run.qd[..., 0, :], run.t, None)
    made.q = run.q.reshape(-1, *run.q.shape[-2:])
    made.qd = run.qd.reshape(-1, *run.qd.shape[-2:])
    if made.one(0)._held and len(made.q):
        judge = Judge(made)
        judge.start()
        judge.samples(run.method)
    if report is not None and len(made.q) and step > 0.0:
        made.report = report
        warn_of_steps(made, run.method, step)
    judge_slopes(made)
    errors = None if made.errors is None else made.errors.reshape(made.batch)
    run = replace(run, estimated_error=errors)
    if not run.success:
        return replace(run, message="; ".join([run.message, *made.doubts]))
    success, doubt = made.doubted()
    return replace(run, success=success, message=f"{run.message}{doubt}")


def _worst(ratio: Array) -> tuple[int, int, bool]:
    """Place of the largest ratio, and whether it is above one."""
    i, k = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
    return int(i), int(k), bool(ratio[i, k] > 1.0)


def _closes(arm: ArmLike, q: Array) -> bool:
    """Whether the constraints can be satisfied near q."""
    for modes in (False, True):
        try:
            with np.errstate(all="ignore"):
                close_loops(arm, q, modes=modes)
        except (FlexarmError, np.linalg.LinAlgError):
            continue
        return True
    return False
