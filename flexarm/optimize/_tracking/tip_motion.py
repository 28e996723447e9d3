"""Unknowns of a motion whose tip follows a trajectory, for both methods of `track`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline

from ..._calls.arguments import refuse_linear
from ..._support.arrays import Array
from .._collocation.local import EquationOfMotion
from .._collocation.points import AtPoints, Gathered
from .._collocation.tip import TipPlace
from .._collocation.tip_turn import TipTurn
from .._collocation.transcription import Collocation, Grid
from .._programs.program import Term
from .tip_task import Rests, TipTask

# Postures of the first motion.
_FIRST_POSTURES = 201


@dataclass(frozen=True, eq=False)
class TipMotion:
    """Unknowns of a motion, rest at its ends, and a first motion.

    Attributes
    ----------
    task : TipTask
        Trajectory of the tip.
    unknowns : Collocation
        Motion with its windows, three Radau points in each interval.
    rests : Rests
        Static states at both ends; fixed are the first one, joints of the last one, and
        the forces of both.
    z : (n,) ndarray of float
        Motion of the rigid arm with the static deflection of its ends.
    law : Term
        Equation of motion.
    t : (n,) ndarray of float
        Times of the nodes in s.
    """

    task: TipTask
    unknowns: Collocation
    rests: Rests
    z: Array
    law: Term
    t: Array

    def tip(self, room: float, turn: float, scale: float, angle: float) -> list[Term]:
        """Rows of the tip at all nodes but the first, within some room in m and rad.

        The last two numbers are the sizes of the rows.
        """
        task, nodes = self.task, np.arange(1, len(self.t))
        goal, at = task.goal(self.t[nodes]), self.unknowns.q[nodes]
        place, want = TipPlace(task.arm, task.axes.tolist()), goal.place[:, task.axes]
        terms: list[Term] = [Gathered(place, at, want - room, want + room, scale)]
        if goal.turn is not None:
            away = TipTurn(task.arm, goal.turn, task.turns, task.to.path._axis)
            terms.append(Gathered(away, at, -turn, turn, angle))
        return terms

    def read(self, z: Array) -> tuple[Array, Array, Array, Array, Array, float]:
        """The motion of these unknowns, and its longest step."""
        return *self.unknowns.read(z), float(self.unknowns.steps(z).max())


def tip_motion(task: TipTask, intervals: int, before: float, after: float) -> TipMotion:
    """Unknowns with windows of these parts of the duration."""
    refuse_linear(task.arm, "derivatives of motions")
    counts = [int(np.ceil(x * intervals * (1.0 - 1e-9))) for x in (before, after)]
    grid = Grid(
        main=intervals,
        before=counts[0],
        after=counts[1],
        before_share=before,
        after_share=after,
        scheme="radau",
        points=3,
    )
    T = task.to.duration
    motion = Collocation(task.arm, grid, duration=T)
    rests = task.rests(T)
    t = T * np.linspace(-before - 0.1, 1.1 + after, _FIRST_POSTURES)
    bent = task.deflected(t, rests, task.rigid(t)[0])
    z = motion.guess(make_interp_spline(t, bent, k=5))
    motion.fix_state(0, rests.q[0], np.zeros(task.arm.nv))
    for k, q, tau in zip((0, -1), rests.q, rests.tau, strict=True):
        motion.bound(motion.tau[k], tau, tau)
        z[motion.q[k]], z[motion.v[k]], z[motion.tau[k]] = q, 0.0, tau
    # joints rest at the end, or the tip would drift; what bends is up to the method
    joints = slice(task.arm.nu)
    motion.bound(motion.q[-1, joints], rests.q[1, joints], rests.q[1, joints])
    motion.bound(motion.v[-1, joints], 0.0, 0.0)
    law = AtPoints(motion, EquationOfMotion(task.arm))
    law.size_by(z)
    return TipMotion(task, motion, rests, z, law, motion.times(z))
