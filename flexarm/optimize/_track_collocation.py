"""Tip along a trajectory by direct collocation: least squares of its errors at nodes.

The state at the end is free, as in shooting: exact rest of all modes, most of which the
tip hardly feels, makes the equations nearly dependent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._explain import refuse_linear
from . import _costs
from ._collocation import Collocation, Grid
from ._local import EquationOfMotion
from ._points import AtPoints, Gathered
from ._solve import solve
from ._tip_place import TipPlace
from ._tip_task import Answer, TipTask
from ._transfer import bent, resize_modes

Array = NDArray[np.float64]

_FINE = 1e-4  # of the length of the path: an error of the size of one
_CALM = 1e-4  # weight of the second differences of forces of the size of one


class TipSquares(TipPlace):
    """Half of the squared distance of the tip from a place, one for each node."""

    def __init__(self, task: TipTask, places: Array) -> None:
        super().__init__(task.arm, task.axes.tolist())
        self._places, self._axes_rows = places[:, task.axes], self.rows
        self.name, self.rows = "error of the tip", 1
        self.slopes = self.slopes[:1]

    def _miss(self, w: Array) -> Array:
        return np.asarray(super().value(w) - self._places)

    def value(self, w: Array) -> Array:
        """(P, 1) values."""
        return 0.5 * (self._miss(w) ** 2).sum(axis=1, keepdims=True)

    def jacobian(self, w: Array) -> Array:
        """(P, 1, nv) derivatives."""
        return np.asarray(self._miss(w)[:, None] @ super().jacobian(w))

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, nv, nv) second derivatives without those times errors (Gauss-Newton)."""
        J = super().jacobian(w)
        return np.asarray(multipliers[:, :, None] * (J.swapaxes(1, 2) @ J))


def by_collocation(
    task: TipTask,
    *,
    before: float = 0.2,
    after: float = 0.2,
    intervals: int = 70,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    time_limit: float = 60.0,
    progress: bool = False,
) -> Answer:
    """States at all nodes and forces as unknowns of one sparse program."""
    refuse_linear(task.arm, "motions by collocation")
    T = task.to.duration
    ahead, behind = (int(np.ceil(x * intervals)) for x in (before, after))
    grid = Grid(
        main=intervals,
        before=ahead,
        after=behind,
        before_share=before,
        after_share=after,
    )
    motion = Collocation(task.arm, grid, duration=T)
    z0 = _first(task, motion)
    law = AtPoints(motion, EquationOfMotion(task.arm))
    law.size_by(z0)
    costs = _costs_of(task, motion)
    program = motion.program(costs, [law, motion.continuity()])
    found = solve(
        program,
        z0,
        tolerance=tolerance,
        max_iterations=max_iterations,
        time_limit=time_limit,
        progress=progress,
    )
    at = motion.read(found.z)
    main = slice(grid.start, grid.end + 1)
    miss = task.miss(at.t, at.q)
    return Answer(
        at.t,
        at.q,
        at.v,
        at.a,
        at.tau,
        float(np.diff(at.t).max()),
        float(0.5 * (miss**2).sum()),
        found.status,
        found.message,
        found.solver,
        len(found.z),
        found.iterations,
        found.violation,
        {"tip_error": np.abs(miss[main]).max(axis=0)},
    )


def _first(task: TipTask, motion: Collocation) -> Array:
    """The motion of the rigid arm, bent by it, from rest to rest."""
    arm = task.arm
    z = np.zeros(motion.n)
    t, h = motion.times(z), motion.steps(z)
    inner = (t[:-1, None] + h[:, None] * motion.tableau.c).ravel()
    q, v, a = task.rigid(t)
    z[motion.q], z[motion.tau] = bent(arm, q, v, a)
    z[motion.v] = v
    z[motion.a] = task.rigid(inner)[2].reshape(motion.a.shape)
    for node in (0, -1):
        rest, tau = task.at_rest(float(t[node]), z[motion.q[node]])
        z[motion.q[node]], z[motion.tau[node]] = rest, tau
    motion.fix_state(0, z[motion.q[0]], 0.0)
    motion.size_by(z)
    resize_modes(motion, z)
    return z


def _costs_of(task: TipTask, motion: Collocation) -> list[Any]:
    """Errors of the tip, and second differences of the forces, in their sizes."""
    t = motion.times(np.zeros(motion.n))
    nodes = slice(1, None)
    places = task.to.place(t)
    length = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
    squares = TipSquares(task, places[nodes])
    miss = Gathered(squares, motion.q[nodes], weights=np.ones(len(t) - 1))
    nu = task.arm.nu
    second = (
        np.kron([[1.0, -2.0, 1.0]], np.eye(nu)) / motion.scale[motion.tau[0]][:, None]
    )
    calm = Gathered(
        _costs.Quadratic(second.T @ second, 0.0, "second differences of forces"),
        np.hstack([motion.tau[:-2], motion.tau[1:-1], motion.tau[2:]]),
        weights=np.ones(len(t) - 2),
    )
    size = 1.0 / (_FINE * max(length, 1e-12)) ** 2 / len(t)
    return [_costs.Weighted(miss, size), _costs.Weighted(calm, _CALM / len(t))]
