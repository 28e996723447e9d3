"""The forces of an answer on the arm with more modes in its links."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from .._support.arrays import Array
from .._support.interrupts import uninterrupted
from .._support.printing import percent
from .._support.warn import warn
from ..errors import ModeWarning
from ..mode_accuracy import Locked
from ..refinement import undeformed
from ..simulation import JointFeedback, Trajectory, simulate
from ..simulation.stability import stable_step
from ..statics import equilibrium
from ._excess import MAX_EXCESS, excess_of
from ._parts import MoreModes
from ._result import OptimalMotion
from ._verify import between, refined_times

# Part of the way of the tip, beyond which an answer warns that more modes end
# elsewhere: goals are judged to the same part.
MAX_TIP_SHARE = 0.002
# Part of a limit by which the arm with more modes may exceed it without a warning: ten
# times what a success may exceed on its own modes.
MAX_LIMIT_SHARE = 0.1
# Samples of the motion, and as many after it: fewer miss peaks of fast modes, more cost
# in proportion.
_SAMPLES = 400
# Part of the longest stable step: static shapes are fast and hardly move, so that
# stability alone matters.
_STEP_SHARE = 0.5
# Steps at most; arms that need more are not tried.
_MAX_STEPS = 100_000
# Part of the time in which forces become those that hold the arm: a jump, at two
# different times.
_JUMP_SHARE = 1e-6
# Differences of positions in rad or m: half of the digits.
_DIFFERENCE = 1e-6
# Bandwidth of a feedback, as part of the frequency of the slowest mode with locked
# joints: a stiffer one would hold what more modes move, a softer one lets joints drift.
_BANDWIDTH_SHARE = 0.3


def beside_more_modes(motion: OptimalMotion) -> OptimalMotion:
    """The motion, compared with what its forces do to the arm with more modes.

    It is not if the arm has no link whose modes can be more, or a source names them.
    """
    arm = motion.arm
    known = [body for body in arm.bodies if body.n_modes and not body.segment]
    checked = motion.verification
    if checked is None or not motion.success or arm.fidelity != "full":
        return motion
    if not any(x.unreduced and x.beam and not x.beam.named for x in known):
        return motion
    if arm.nq != arm.nv or arm.nj != arm.nu or arm._n_motors:
        return motion
    found = _compared(motion, checked.trajectory)
    if found is None:
        return motion
    way = float(np.linalg.norm(np.diff(motion.tip, axis=0), axis=1).sum())
    if found.after > MAX_TIP_SHARE * way:
        warn(
            f"with more modes in its links the arm ends {found.after:.3g} m, "
            f"{percent(found.after / way)} % of the way of its tip, from where the "
            f"same forces lead the tip of {arm.name!r}: they excite modes that its "
            "links lack; give links more modes by n_modes, or calmer forces; see "
            "more_modes",
            ModeWarning,
        )
    worst = max(found.excess, key=lambda name: found.excess[name], default="")
    if worst and found.excess[worst] > MAX_LIMIT_SHARE:
        warn(
            f"with more modes in its links the arm exceeds the limit of the {worst} by "
            f"{percent(found.excess[worst])} % under the same forces, those of "
            f"{arm.name!r} keep it; give joints of flexible links the inertia of their "
            "motors (armature or drive), without which their rates ring, links more "
            "modes by n_modes, or calmer forces; see more_modes",
            ModeWarning,
        )
    return replace(motion, more_modes=found)


def _compared(motion: OptimalMotion, run: Trajectory) -> MoreModes | None:
    """Both arms under the same forces and the same soft feedback of their joints."""
    arm, t = motion.arm, motion.t
    finer, span = arm.refined(), float(t[-1] - t[0])
    start = undeformed(finer, arm, motion.q[0])
    slowest = 2.0 * np.pi * float(Locked(arm, motion.q[-1]).frequencies({})[0])
    after = np.linspace(0.0, min(span, 2.0 * np.pi / slowest), _SAMPLES)
    after[0] = _JUMP_SHARE * span
    times = np.concatenate([refined_times(t, span / _SAMPLES), t[-1] + after])
    law = _servo(motion, run, times, _BANDWIDTH_SHARE * slowest)
    runs = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rest = uninterrupted(equilibrium(finer, start))
        if not rest.success:
            return None
        for own, q in ((arm, motion.q[0]), (finer, rest.q)):
            step = _STEP_SHARE * stable_step(own, q, "rk4")[0]
            if span > step * _MAX_STEPS:
                return None
            moved = uninterrupted(
                simulate(
                    own,
                    q,
                    np.zeros(own.nv),
                    times,
                    torque=law,
                    method="rk4",
                    max_step=step,
                    progress=False,
                )
            )
            if moved.completed < len(times):
                return None
            runs.append(moved)
    apart = np.linalg.norm(runs[1].tip - runs[0].tip, axis=1)
    ended = times >= motion.duration - 1e-9 * span
    during, later = float(apart[~ended].max(initial=0.0)), float(apart[ended].max())
    return MoreModes(during, later, finer, _beyond(motion, runs))


def _beyond(motion: OptimalMotion, runs: list[Trajectory]) -> dict[str, float]:
    """Limits of what moves that the second run exceeds more than the first."""
    limits = motion.limits
    if limits is None:
        return {}
    none = np.full((2, motion.arm.nu), np.inf) * [[-1.0], [1.0]]
    moving = replace(
        limits,
        torque=none,
        torque_rate=none,
        acceleration=none,
        outputs={},
        obstacles=(),
        self_collision=False,
    )
    own, finer = (excess_of(run, moving) for run in runs)
    more = {name: part - own.get(name, 0.0) for name, part in finer.items()}
    return {name: finer[name] for name, part in more.items() if part > MAX_EXCESS}


def _servo(
    motion: OptimalMotion, run: Trajectory, times: Array, bandwidth: float
) -> JointFeedback:
    """The forces, and a feedback that keeps the joints from drifting in gravity.

    It is soft beside the slowest mode.  In the motion of the answer it does nothing.
    """
    arm, nu, ends = motion.arm, motion.arm.nu, motion.q[[0, -1]]
    M = arm.kernels.quiet("mass_matrix")(ends)
    inertia = np.diagonal(M, axis1=1, axis2=2)[:, :nu].max(axis=0)
    moved = ends[:, np.newaxis] + _DIFFERENCE * np.eye(nu, arm.nq)
    weight = [
        arm.kernels.bias_forces(q, np.zeros(arm.nv))[..., :nu]
        for q in (moved, ends[:, np.newaxis])
    ]
    tilting = np.abs(weight[0] - weight[1]).sum(axis=-1).max(axis=0) / _DIFFERENCE

    forces = np.vstack([motion.tau, np.broadcast_to(weight[1][-1, 0], (1, nu))])
    jump = motion.t[-1] + _JUMP_SHARE * (motion.t[-1] - motion.t[0])

    # of positions alone: joints without inertia of their own make damping stiff
    return JointFeedback(
        inertia * bandwidth**2 + 2.0 * tilting,
        np.zeros(nu),
        between(times, run.t, run.q[:, :nu]),
        feedforward=between(times, np.append(motion.t, jump), forces),
    )
