"""Arms of a stack, which one motion of the actuators serves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from ..._support.arrays import Array
from ...arm import Arm
from ...errors import ArgumentError
from .._charts import chart_of
from .._collocation.ends import End, hold
from .._collocation.gathered import Combined
from .._collocation.local import EquationOfMotion
from .._collocation.points import AtPoints
from .._collocation.transcription import Collocation
from .._programs.program import Term
from .._result import OptimalMotion
from ..limits import Limits
from .first_motion import balanced
from .task import Task


def stacked(arms: Sequence[Arm], task_of: Callable[[Arm], Task]) -> Task:
    """The task of the first arm of a stack, with those of the others."""
    tasks: list[Task] = []
    for k, arm in enumerate(arms):
        try:
            task = task_of(arm)
        except ArgumentError as error:
            if k == 0:  # of the arguments, or of all arms
                raise
            raise ArgumentError(f"arm {k} of the stack: {error}") from None
        tasks.append(task)
        ends = task.start, task.end
        if (
            task.family is not None
            or "vibration" in task.weights
            or chart_of(task.arm) is not None
            or task.arm.nu < task.arm.nj
            or task.floating.any()
            or any(end.aim is not None for end in ends)
        ):
            raise ArgumentError(
                "trajectory of a stack is between joint positions, of arms that have "
                "an actuator at each joint, no quaternions and no base that floats, "
                "without payload='maximize' and without the cost 'vibration'; expected "
                "such a motion, or one arm of the stack"
            )
    return replace(tasks[0], others=tuple(tasks[1:]))


class Beside:
    """Another arm in the motion of the first: what bends, and the forces it takes.

    At the collocation points no force acts but on what the actuators move.  Forces of
    actuators are linear between nodes: in each interval they are nearest to those at
    its points, at a node between those of both intervals, so that their impulses are
    right to the order of the points.

    Parameters
    ----------
    first : Collocation
        The motion of the first arm.
    arm : Arm
        The other arm.
    number : int
        Its place in the stack, for messages.
    """

    def __init__(self, first: Collocation, arm: Arm, number: int) -> None:
        self._first, self.motion = first, first.beside(arm)
        self._equation = EquationOfMotion(arm, forced=False)
        self._law = AtPoints(self.motion, self._equation)
        self._law.name += f" of arm {number}"
        # rows at the points by which forces at the nodes follow
        c, _, b = first.tableau
        line = np.stack([np.ones_like(c), c - 0.5], axis=1) * np.sqrt(b)[:, None]
        ends = np.array([[1.0, -0.5], [1.0, 0.5]]) @ np.linalg.pinv(line) * np.sqrt(b)
        N, d = len(first.a), len(c)
        nodes = np.zeros((N + 1, N, d))
        k = np.arange(N)
        nodes[k, k], nodes[k + 1, k] = 0.5 * ends
        nodes[0, 0], nodes[-1, -1] = ends
        self._nodes = nodes.reshape(N + 1, N * d)

    def begin(self, z: Array) -> None:
        """Set its unknowns: it moves as the first arm does, with its own deflection."""
        first, motion, own = self._first, self.motion, self.motion.own
        z[motion.v[..., own]] = z[first.v[..., own]]
        z[motion.a[..., own]] = z[first.a[..., own]]
        # accelerations at the nodes are those of the points next to them
        nodal = np.concatenate([first.a[:, 0], first.a[-1:, -1]])
        state = z[first.q], z[first.v], z[nodal]
        z[motion.q] = balanced(motion.arm, *state, own, own)

    def terms(self, z: Array, limits: Limits) -> list[Term]:
        """Constraints: its equation of motion, limits of its forces, rest at the ends.

        Sizes are those of a motion.
        """
        motion, arm, law = self.motion, self.motion.arm, self._law
        motion.size_by(z)
        law.size_by(z)
        # elastic rows at the points, those of limited actuators at the nodes
        pair = np.asarray(limits.torque)
        limited = np.isfinite(pair).any(axis=0)
        each = sparse.csr_array(np.eye(arm.nv))
        elastic = sparse.kron(sparse.eye_array(self._nodes.shape[1]), each[motion.own])
        acting = sparse.kron(self._nodes, each[arm.actuator_indices[limited]])
        none = np.zeros(elastic.shape[0])
        low, high = (
            np.append(none, np.tile(side[limited], len(self._nodes))) for side in pair
        )
        rows = Combined(law, sparse.vstack([elastic, acting]), low, high)
        terms: list[Term] = [rows, motion.continuity()]
        # its joints are where those of the first arm are
        free = np.zeros(arm.nj, dtype=bool)
        for k in (0, -1):
            end = End(z[motion.q[k]], None, free)
            terms += hold(motion, k, end, self._equation, np.zeros(0))
        return terms

    def motion_of(self, first: OptimalMotion, z: Array) -> OptimalMotion:
        """Its motion, with all else of that of the first arm."""
        motion, arm = self.motion, self.motion.arm
        rows = self._law.value(z).reshape(-1, arm.nv)
        tau = self._nodes @ rows[:, arm.actuator_indices]
        return replace(first, arm=arm, q=z[motion.q], qd=z[motion.v], tau=tau)
