"""Minimum time from rest to rest between two postures, without a path."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError
from ..statics import equilibrium
from ._collocation import Collocation, Grid, answer
from ._limits import Limits
from ._local import EquationOfMotion
from ._points import AtPoints, Linear
from ._result import OptimalMotion
from ._rigid import RigidLevel
from ._rigid_time import rigid_optimum
from ._solve import solve
from ._verify import verify
from .paths import joint_path

Array = NDArray[np.float64]

# least and greatest duration as shares of that along the straight line of joints
_SHORTEST, _LONGEST = 0.02, 5.0
# end states of modes may miss by these shares of their sizes in the first motion
_MISS = 1e-4


def point_to_point(
    level: RigidLevel,
    ends: Array,
    limits: Limits,
    *,
    intervals: int,
    **options: Any,
) -> OptimalMotion:
    """Collocation with a free duration, from the straight line of the joints."""
    began = time.perf_counter()
    arm = level.arm
    check = options.pop("check")
    progress = options.pop("progress")
    line = joint_path(ends, kind="straight")
    rigid = rigid_optimum(level, line, limits, points=401)
    scaling = rigid.details["scaling"]
    rest = [_at_rest(level, q) for q in ends]
    T = 1.3 * rigid.duration
    grid = Grid(main=intervals, points=3)
    motion = Collocation(arm, grid, duration=(_SHORTEST * T, T, _LONGEST * T))
    first = _first_motion(level, line, scaling, rest, T)
    z0 = motion.guess(first)
    scale = motion.scale
    bound = limits.torques(np.stack([r.q for r in rest]), level.n)
    motion.bound(motion.tau, bound[0].min(0), bound[1].max(0))
    nu = level.n
    motion.bound(motion.v[:, :nu], *limits.velocity)
    motion.bound(motion.a[:, :, :nu], *limits.acceleration)
    for node, held in ((0, rest[0]), (-1, rest[1])):
        slack = _MISS * scale
        q, v = motion.q[node], motion.v[node]
        if node == 0:
            slack = 0.0 * scale
        motion.bound(q, held.q - slack[q], held.q + slack[q])
        motion.bound(v, -slack[v], slack[v])
    law = AtPoints(motion, EquationOfMotion(arm))
    law.size_by(z0)
    quickest = Linear(_row(motion), name="duration")
    program = motion.program([quickest], [law, motion.continuity()])
    prepared = time.perf_counter()
    found = solve(program, z0, progress=bool(progress), **options)
    solved = time.perf_counter()
    made = answer(motion, found, method="collocation, point to point", timings={})
    from dataclasses import replace

    verification = None
    if check:
        goal = np.asarray(arm._model.node_pose(arm.tip_node, rest[1].q))[:3, 3]
        verification = _verified(made, goal)
    ended = time.perf_counter()
    return replace(
        made,
        verification=verification,
        timings={
            "setup": prepared - began,
            "solver": solved - prepared,
            "verification": ended - solved,
            "total": ended - began,
        },
        details={"rigid": rigid},
    )


def _verified(made, goal):
    h = float(np.diff(made.t).max())
    # two periods of a second after the motion
    more = np.arange(1, 401) * 0.005
    t = np.concatenate([made.t, made.t[-1] + more])
    tau = (
        np.concatenate([made.tau, np.tile(made.hold, (len(more), 1))])
        if hasattr(made, "hold")
        else np.concatenate([made.tau, np.tile(made.tau[-1], (len(more), 1))])
    )
    return verify(
        made.arm, t, made.q[0], made.qd[0], tau, h, duration=made.duration, goal=goal
    )


def _at_rest(level: RigidLevel, joints: Array) -> Any:
    held = equilibrium(level.arm, level.whole(joints))
    if not held.success:
        raise ArgumentError("no equilibrium")
    return held


def _first_motion(level, line, scaling, rest, T):
    ratio = scaling.duration / T

    def q(t):
        s = scaling.at(t * ratio)[0]
        joints = level.whole(line(s).position)
        w = s
        offset = [r.q - level.whole(e) for r, e in zip(rest, line.points)]
        return joints + (1 - w) * offset[0] + w * offset[1]

    return q


def _row(motion):
    from scipy import sparse

    return sparse.coo_array(([1.0], ([0], [motion.T])), shape=(1, motion.n))
