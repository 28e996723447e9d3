r"""Inverse dynamics of a flexible arm as a boundary value problem: stable inversion.

Unknown are coordinates :math:`q_i` and forces :math:`\tau_i` at equal steps, from long
before the motion of the tip until long after it,

.. math:: ID(q_i, \dot q_i, \ddot q_i) = B \tau_i, \qquad p(q_i) = r(t_i),

with derivatives by central differences of order four.  The arm rests at both ends, so
that what grows inside decays backward from the motion, and what decays does so after
it: both windows are results, not choices.  S. Devasia, D. Chen, B. Paden, IEEE
Trans. Automatic Control 41(7), 1996; E. Bayo, H. Moulin, IEEE ICRA 1989.

A vibration that does not move the tip neither grows nor decays.  It is at rest at the
start, in position and rate, and free at the end: one condition moves from there to the
start for each such pair of zeros.  Two of them may merge along the way into motions
that grow and decay; those at the end alone are at rest in position at both ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._calls.arguments import refuse_linear
from ..._support.arrays import Array
from ...arm import Arm
from ...errors import ArgumentError
from ...optimize._tracking.least_squares import stepped
from ...optimize._tracking.tip_task import Answer, StableInverse, TipTask
from ._inverse_motion import Ends, Grid, StableInversion, State
from ._sparse_newton import Newton
from ._zero_dynamics import zeros_at_rest

# Nodes of a motion and of what is before and after it: a bound of memory and time.
MAX_NODES = 40000
# Time constants until rest, to 1e-10: half as many leave 1e-5.
_REST_CONSTANTS = 23.0
# Nodes at the end that are not part of the answer: differences there are of lower
# order.
_END_NODES = 4
# Part of the largest change of forces that counts as motion in advance.
_ADVANCE_SHARE = 1e-3


def ends_of(task: TipTask) -> Ends:
    """Rest at both ends, and motions of the arm there that leave the tip at rest."""
    T = task.to.duration
    rests = task.rests(T)
    zeros = zeros_at_rest(task, rests.q[0]), zeros_at_rest(task, rests.q[1])
    begin, end = (len(z.oscillating) for z in zeros)
    if begin > end:
        raise ArgumentError(
            f"{begin} vibrations that do not move the tip are neutral at the start "
            f"and {end} at the end, where the others grow: from rest no bounded motion "
            "follows exactly; expected other ends, or shooting"
        )
    return Ends(rests, *zeros)


def grid_of(
    task: TipTask, ends: Ends, intervals: int, before: float | None, after: float | None
) -> Grid:
    """Windows in which motions that grow and decay vanish."""
    T = task.to.duration
    main = max(intervals, 8)
    h = T / main
    counts = []
    for part, zeros, sign in ((before, ends.first, 1), (after, ends.last, -1)):
        rate = zeros.slowest(sign)
        wanted = _REST_CONSTANTS / rate if part is None else part * T
        counts.append(max(2 * _END_NODES, int(np.ceil(wanted / h * (1.0 - 1e-9)))))
    nodes = counts[0] + main + counts[1]
    if nodes > MAX_NODES:
        raise ArgumentError(
            f"search.intervals is {main}, which makes {nodes} nodes with windows of "
            f"{counts[0] * h:.3g} s before and {counts[1] * h:.3g} s after the motion; "
            f"expected at most {MAX_NODES}: fewer intervals, or pre_actuation and "
            "post_actuation"
        )
    return Grid(h, counts[0], main, counts[1])


def by_stable_inversion(
    task: TipTask,
    *,
    intervals: int,
    pre_actuation: float | None,
    post_actuation: float | None,
    tolerance: float,
    **options: Any,
) -> Answer:
    """Motion and forces of a tip on its trajectory as a boundary value problem."""
    refuse_what_has_no_tangent(task.arm)
    check_square(task)
    ends = ends_of(task)
    grid = grid_of(task, ends, intervals, pre_actuation, post_actuation)
    # solve on the whole grid
    problem = StableInversion(task, grid, ends)
    guess = _guess(problem)
    newton = Newton(problem, guess, tolerance)
    status, message, iterations = stepped(newton.step, **options)
    x = newton.x
    # differences next to the end are of lower order, which forces feel at once
    q, qd, qdd, inner = (part[:-_END_NODES] for part in (*problem.motion(x), x.tau))
    rest = np.zeros((1, task.arm.nv))
    t = np.append(grid.times[0], problem.t[:-_END_NODES])
    tau = np.vstack([ends.rests.tau[0], inner])
    miss = float(np.abs(task.miss(t[1:], q)).max())
    early, late = _extent(t, tau, ends, task.to.duration)
    constants = np.array([1.0 / ends.first.slowest(1), 1.0 / ends.last.slowest(-1)])
    q = np.vstack([ends.rests.q[0], q])
    qd, qdd = np.vstack([rest, qd]), np.vstack([rest, qdd])
    how = "newton", x.q.size + x.tau.size + x.free.size, iterations, miss
    inverse = StableInverse(ends.first.values, constants, early, late, x.free)
    found_motion = t, q, qd, qdd, tau, grid.step
    return Answer(*found_motion, miss, status, message, *how, tracking=inverse)


def check_square(task: TipTask) -> None:
    """Refuse more or less actuators than coordinates of the tip."""
    nu, m, spin = task.arm.nu, len(task.rows), task.to.path.axis
    if spin is not None:
        raise ArgumentError(
            f"path leaves the spin about {spin} free, so that many motions follow, of "
            "which inverses take none; expected rotations as its orientation, or "
            "shooting or optimize.track"
        )
    if nu == m:
        return
    named = ", ".join(task.rows)
    if nu < m and task.turns:
        raise ArgumentError(
            f"the arm has {nu} actuators for {m} coordinates of its tip ({named}), "
            "which cannot all follow; expected a path without an orientation, or "
            "shooting"
        )
    if nu < m:
        raise ArgumentError(
            f"the arm has {nu} actuators for {m} coordinates of its tip ({named}), "
            f"which cannot all follow; expected {nu} of them, such as "
            f"axes={''.join('xyz'[k] for k in task.axes[:nu])!r}, or shooting"
        )
    raise ArgumentError(
        f"the arm has {nu} actuators for {m} coordinates of its tip ({named}), so that "
        "many motions follow; expected as many, or shooting, which takes the "
        "one next to least joint rates"
    )


def refuse_what_has_no_tangent(arm: Arm) -> None:
    """Refuse arms without derivatives, or with constraints."""
    refuse_linear(arm, "derivatives of inverse dynamics")
    if arm._held:
        raise ArgumentError(
            f"the arm has {len(arm._held)} constraints (rigid gears are such), "
            "expected none for inverse dynamics of its modes"
        )


def _guess(problem: StableInversion) -> State:
    """Motion of the rigid arm with the static deflection of the ends."""
    task, ends, t = problem.task, problem.ends, problem.t
    q, qd, qdd = task.rigid(t)
    tau = task.level.inverse_dynamics(q, qd, qdd)
    bent = task.deflected(t, ends.rests, q)
    return State(bent, tau, np.zeros(problem.shapes.shape[1]))


def _extent(t: Array, tau: Array, ends: Ends, duration: float) -> tuple[float, float]:
    """Times in s for which forces change before and after the motion of the tip."""
    size = np.abs(tau - ends.rests.tau[0]).max(axis=0)
    early = (np.abs(tau - ends.rests.tau[0]) > _ADVANCE_SHARE * size).any(axis=1)
    late = (np.abs(tau - ends.rests.tau[1]) > _ADVANCE_SHARE * size).any(axis=1)
    first, last = t[int(early.argmax())], t[len(t) - 1 - int(late[::-1].argmax())]
    return max(0.0, -float(first)), max(0.0, float(last) - duration)
