r"""The least errors of a tip along its trajectory, by collocation and Newton's method.

With all unknowns z of a motion, equations of motion and continuity c(z) = 0, and the
rows r(z) of the tip at the nodes less the wanted ones,

.. math:: \min_z \tfrac12 |r(z)|^2 / \epsilon^2 + \tfrac12 |W (z - z_0)|^2
    \quad\text{subject to}\quad c(z) = 0,

with small weights W of changes of the forces, of what joints are away from the motion
of the rigid arm, and of vibrations that are left at the end.  An arm with as many
actuators as rows follows exactly, and the weights decide nothing; with more of them
they choose one of many motions, with less the errors are as small as they can be.  Also
where no exact inverse exists (J M^-1 B changes its sign, neutral vibrations) there is a
motion of least squares.  The arm sees the whole motion at once and acts in advance, as
in the inversion by S. Devasia, D. Chen, B. Paden (*IEEE Trans. Automatic Control*
41(7), 1996), without its zeros.

Each step solves one sparse symmetric system, with :math:`\mu = r/\epsilon` as unknowns
beside the multipliers (J. Nocedal, S. J. Wright, *Numerical Optimization*, 2006,
sections 10.3 and 18.3), and is shortened until an exact penalty function falls.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from ..._support.arrays import Array
from ..._support.interrupts import allowed, held
from ...errors import ConvergenceError
from ...simulation.run import progress_bar
from .._collocation.costs import force_changes
from .._collocation.local import Squares
from .._collocation.points import Gathered
from .._programs.program import Term
from .tip_motion import TipMotion, tip_motion
from .tip_task import Answer, TipTask

Ending: TypeAlias = tuple[str, str]  # status and message

# Error of the tip that weighs as much as the forces of the whole motion, as part of its
# extent and in rad: with ten times as much errors of some micrometres are left, with a
# tenth rounding disturbs the forces of arms with many actuators.
_ERROR_SHARE = 2e-6
# Part of the extent by which a joint that leaves the rigid motion moves the tip, and
# weighs as much: with ten times as much redundant joints need many more steps, with a
# tenth they stay where forces are rough.
_JOINT_SHARE = 0.1
# Part of the sizes of positions and rates which vibrations may have at the end: with
# less, forces chase vibrations that steps do not resolve, with more the tip trembles.
_REST_SHARE = 1e-3
# Defaults of its options.
SEARCH: dict[str, Any] = {"intervals": 100, "pre_actuation": 0.2, "post_actuation": 0.2}
SEARCH |= {"max_iterations": 50, "tolerance": 1e-5}
SEARCH |= {"time_limit": np.inf, "progress": None}
# Shortest part of a step: searches that need a smaller one are stuck.
MIN_PART = 1e-3
# Size of a step in rad and m that may be rounding.
_ROUNDING = 1e-6


class LeastSquares:
    """The program, and its sparse systems of equations in scaled numbers."""

    def __init__(self, motion: TipMotion, tolerance: float) -> None:
        self.z, self.tolerance = motion.z, tolerance
        unknowns, task = motion.unknowns, motion.task
        self.positions = unknowns.q
        size = task.to.extent or 1.0
        exact: list[Term] = [motion.law, unknowns.continuity()]
        tip = motion.tip(0.0, 0.0, _ERROR_SHARE * size, _ERROR_SHARE)
        costs = _small(motion, size)
        self.program = unknowns.program(costs, exact + tip, gauss_newton=True)
        self.rows = 1.0 / self.program.row_scale
        rows = [t.rows for t in (*exact, *tip)]
        self.soft = np.repeat([0.0, 0.0] + [1.0] * len(tip), rows)
        self.free = np.flatnonzero(self.program.lower < self.program.upper)
        self.scale = self.program.scale[self.free]
        self.penalty = 0.0

    def residual(self, z: Array) -> Array:
        """All rows less what they shall be, in their sizes."""
        values = self.program.values(z) - self.program.below
        return np.asarray(self.rows * values)

    def merit(self, z: Array) -> float:
        """Exact penalty function; infinite where there is no motion."""
        r = self.residual(z)
        off = self.penalty * np.abs(r[self.soft == 0.0]).sum()
        total = 0.5 * (self.soft * r**2).sum() + self.program.objective(z) + off
        return float(total) if np.isfinite(total) else np.inf

    def step(self) -> Ending | None:
        """One step until the merit falls; status and message if it is the last one."""
        change, part = self.change(self.z), 1.0
        size = float(np.abs(change[self.positions]).max())
        now = self.merit(self.z) * (1.0 + 1e-9)
        while size > _ROUNDING and self.merit(self.z + part * change) > now:
            part *= 0.5
            if part < MIN_PART:
                return "failed", "no part of a step has less errors"
        self.z = self.z + part * change
        if size < self.tolerance:
            return "solved", f"the last step was {size:.1g} rad or m"
        return None

    def change(self, z: Array) -> Array:
        """Gauss-Newton step of all unknowns; sets the penalty of the merit."""
        from scipy.sparse.linalg import splu

        program, scale = self.program, sparse.diags_array(self.scale)
        curved = program.hessian(z, 1.0, np.zeros(program.m))
        upper = program.hessian_pattern.matrix(curved)
        H = upper + sparse.triu(upper, 1).T
        J = program.jacobian_pattern.matrix(program.jacobian(z))
        A = sparse.diags_array(self.rows) @ J[:, self.free] @ scale
        H = scale @ H[:, self.free].tocsr()[self.free] @ scale
        soft = sparse.diags_array(-self.soft)
        K = sparse.block_array([[H, A.T], [A, soft]], format="csc")
        slope = self.scale * program.gradient(z)[self.free]
        right = -np.append(slope, self.residual(z))
        try:
            factors = splu(K)
        except RuntimeError:
            raise _singular() from None
        found = factors.solve(right)
        found += factors.solve(right - K @ found)
        if not np.isfinite(found).all():
            raise _singular()
        change = np.zeros(program.n)
        change[self.free] = self.scale * found[: len(self.free)]
        forces = np.abs(found[len(self.free) :])[self.soft == 0.0]
        self.penalty = max(self.penalty, 1.5 * float(forces.max()))
        return change


def _small(motion: TipMotion, size: float) -> list[Term]:
    """Costs that decide where the tip leaves a choice."""
    unknowns, task, rests = motion.unknowns, motion.task, motion.rests
    z, nu = motion.z, task.arm.nu
    # changes of the forces, as parts of the largest one
    most = max(float(np.abs(z[unknowns.tau]).max()), 1e-300)
    weight = unknowns.grid.main / most**2
    costs: list[Term] = [force_changes(unknowns, np.full(nu, weight))]
    # joints away from the rigid motion, by how far this moves the tip
    joints = unknowns.q[:, :nu]
    reach = np.abs(task.jacobian(z[unknowns.q])[..., :nu]).max(axis=(0, 1))
    near = np.maximum(reach, 1e-3 * max(reach.max(), 1e-300)) / (_JOINT_SHARE * size)
    pull = Squares(near**2, z[joints], "joints away from the rigid motion")
    costs.append(Gathered(pull, joints, weights=np.ones(len(joints))))
    # what bends nearly rests at the end
    places = np.concatenate([unknowns.q[-1, nu:], unknowns.v[-1, nu:]])
    if len(places):
        end = np.append(rests.q[1, nu:], np.zeros(len(places) // 2))
        room = _REST_SHARE * unknowns.scale[places]
        rest = Squares(room**-2.0, end, "rest at the end")
        costs.append(Gathered(rest, places[np.newaxis], weights=[1.0]))
    return costs


def stepped(
    step: Callable[[], Ending | None],
    max_iterations: int,
    time_limit: float,
    progress: bool | None,
) -> tuple[str, str, int]:
    """Take steps to the end of a search: status, message and number of steps."""
    began, k = time.perf_counter(), 0
    bar = progress_bar(max_iterations, progress, "iteration")
    try:
        # also finds a Ctrl-C that a library has lost
        with held():
            for k in range(1, max_iterations + 1):
                with allowed():
                    ending = step()
                    if bar is not None:
                        bar.update()
                    if ending is None and time.perf_counter() - began > time_limit:
                        ending = "time", "the time limit is reached"
                if ending is not None:
                    return *ending, k
    except KeyboardInterrupt:
        return "interrupted", "interrupted while forces were searched for", k
    finally:
        if bar is not None:
            bar.close()
    return "iterations", f"{max_iterations} iterations are done", k


def _singular() -> ConvergenceError:
    return ConvergenceError(
        "least squares of the tip have singular equations: forces do not act on some "
        "coordinate, or the motion of the rigid arm, from which the search starts, is "
        "too fast for its steps; expected more intervals, or a longer duration"
    )


def by_least_squares(
    task: TipTask,
    *,
    intervals: int,
    pre_actuation: float,
    post_actuation: float,
    tolerance: float,
    **options: Any,
) -> Answer:
    """Motion with the least errors of the tip, `track`."""
    motion = tip_motion(task, intervals, pre_actuation, post_actuation)
    problem = LeastSquares(motion, tolerance)
    status, message, steps = stepped(problem.step, **options)
    found, how = motion.read(problem.z), ("gauss-newton", len(problem.free), steps)
    miss = task.miss(*found[:2])
    worst, errors = float(np.abs(miss).max()), task.largest(miss)
    return Answer(*found, worst, status, message, *how, worst, errors)
