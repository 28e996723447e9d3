"""Inverse kinematics: joint positions that bring a node to target poses, in batches."""

from __future__ import annotations

from typing import Annotated, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._calls.arguments import any_of, real_array
from .._calls.arm_like import AnyArm, ArmLike, Array, StackLike, model_of
from .._calls.declared import (
    Choice,
    Count,
    Floats,
    JacobianFrame,
    Positions,
    Positive,
    RandomSeed,
    Twists,
    Whole,
)
from .._calls.doors import checked
from .._calls.nodes import one_node
from .._calls.records import TargetRun
from .._calls.threads import ONE, threads_of
from .._support.arrays import Index, Mask
from .._support.checks import first_pose_fault
from .._support.interrupts import allowed, held
from ..errors import ArgumentError, FlexarmError, NotFiniteError
from ..kinematics.slopes import warn_of_slopes
from ..model.locking import motor_positions
from ..model.motors import rigid_couplings
from ._result import InverseKinematics, message
from ._stacks import inverse_kinematics_of_stack
from .reach import reaches
from .targets import (
    EQUAL_WEIGHTS,
    batch_of,
    generator,
    limits_of,
    place_weights,
    targets_of,
    weights_of,
)

# poses or positions; least and largest positions; weights of the residual
Targets: TypeAlias = Annotated[ArrayLike, Floats("(..., 4, 4)", "(..., 3)")]
Limits: TypeAlias = Annotated[ArrayLike, Floats("(2, nq)")]
Weights: TypeAlias = Annotated[ArrayLike, Floats("(6,)")]

_SOLVED, _NOT_FINITE = map(_core.IK_STATUSES.index, ("solved", "not finite"))
# Damping of the first step, in units of the squared error.
_DAMPING = 0.01
# Largest cosine of error and columns at a minimum, in runs before a restart.
_LOOSE_COSINE = 1e-3
# The same in the last run.
_TIGHT_COSINE = 1e-10


@checked
def inverse_kinematics(
    arm: AnyArm,
    target: Targets,
    q0: Positions | None = None,
    *,
    node: object = None,
    limits: Limits | Annotated[str, Choice("joint")] | None = "joint",
    weights: Weights = EQUAL_WEIGHTS,
    length: Positive = 1.0,
    deflection: bool = False,
    wrench: Twists | None = None,
    frame: JacobianFrame = "node",
    tolerance: Positive = 1e-10,
    max_iterations: Annotated[int, Whole(least=1, most=2**31 - 1)] = 100,
    restarts: Annotated[int, Whole(least=0)] = 50,
    rng: RandomSeed = None,
    threads: Count = ONE,
) -> InverseKinematics:
    r"""Joint positions that bring a node to target poses.

    Minimizes :math:`|W e|^2/2` with the screw :math:`e = \log(T^{-1} T_{target})` in
    the axes of the node by Levenberg-Marquardt steps, which converge quadratically to a
    target within reach.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm without constraints except those of rigid gears; or a stack of such arms,
        computed arm by arm, whose axes broadcast with those of `target`.
    target : (..., 4, 4) or (..., 3) array_like of float
        Poses of the node in the base frame, or its positions in m with any orientation.
    q0 : (..., nq) array_like of float, optional
        Initial positions, moved within the limits; by default ``arm.neutral``.  Modes
        and joints that do not move the node keep these positions.  The leading axes of
        `target` and `q0` broadcast.
    node : int, str or (body, node), optional
        Number or name of the node; by default the tip.
    limits : "joint", None or (2, nq) array_like of float
        Limits of the joints, none, or lower and upper limits in rad or m, which may be
        infinite, and must be for quaternions, free bodies and modes.
    weights : (6,) array_like of float
        Weights of the components of the residual, angular first; zero for free
        directions.
    length : float
        Distance in m with the weight of one rad.
    deflection : bool
        Modes take their static equilibrium under gravity and `wrench` in place of the
        values in `q0`.
    wrench : (..., 6) array_like of float, optional
        Moment in N m and force in N that act on the node, with `deflection`.
    frame : {"node", "base"}
        Axes of the wrench.
    tolerance : float
        Tolerance of the weighted residual, in rad or lengths; with `deflection` also of
        the distance of the nodes from equilibrium, in rad or m.
    max_iterations : int
        Largest number of evaluations from one start.
    restarts : int
        Number of random postures from which targets that are not reached are tried
        again, unless they are out of reach; a last run then refines the best result.
        With 0 there is one run from `q0` whose steps only decrease the error.
    rng : numpy.random.Generator or int, optional
        Generator of these postures, or its seed; by default always the same, so that
        results are reproducible.  All targets use the same postures: no result depends
        on the batch.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    result : InverseKinematics
        Positions, residuals and flags.  Targets that are not reached raise no error:
        they have the best positions found, a minimum of the residual within the limits,
        and ``success`` is False; ``out_of_reach`` is True where that is proved for arms
        whose links have no modes.

    Raises
    ------
    ArgumentError
        If a target is not a pose, limits are in the wrong order, or modes without
        stiffness have no equilibrium.
    NotFiniteError
        If a target or a start is NaN or infinite; ``error.result`` has the rest.
    KeyboardInterrupt
        After Ctrl-C in the first run; after one in a restart the result has the best
        positions so far.

    Warns
    -----
    DeflectionWarning
        With `deflection`, if a link bends to a slope of more than 0.5 in its own frame;
        see `flexarm.largest_slope`.

    See Also
    --------
    node_pose : the inverse.
    jacobian : Jacobian of the node.

    Notes
    -----
    Motors of flexible joints are at ``N q_joint``, their shafts without load.

    Damping as by T. Sugihara, IEEE Trans. Robotics 27(5), 2011, in proportion to the
    squared error, by a factor after H. B. Nielsen (K. Madsen et al., Methods for
    Non-Linear Least Squares Problems, 2004).  Before the last restart, steps are
    accepted even if they increase the error, which passes ridges and reaches more
    targets in fewer steps.  Joints at a limit are held if the step leads outward.  A
    stretched arm whose target lies on its line is a saddle of the error, from which
    only restarts can escape.  Turning joints without limits end within half a turn of
    the start; in random postures they are within half a turn of zero, sliding joints
    without limits and free bodies within 1 m of the start.  The kernel is
    ``csrc/kernels/inverse_kinematics/inverse_kinematics.c``.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.iiwa14()
    >>> target = fa.tip_pose(arm, [0.3, -0.5, 0.2, 1.2, -0.4, 0.9, 0.1])
    >>> found = fa.inverse_kinematics(arm, target)
    >>> bool(found.success), np.allclose(fa.tip_pose(arm, found.q), target)
    (True, True)

    A thousand positions in one call, the first out of reach:

    >>> points = np.random.default_rng(0).uniform(-0.2, 0.2, (1000, 3)) + [0.5, 0, 0.5]
    >>> points[0] = 5.0, 0.0, 0.36
    >>> found = fa.inverse_kinematics(arm, points)
    >>> found.q.shape, int(found.success.sum())
    ((1000, 7), 999)
    """
    # a stack is solved arm by arm
    one = any_of(arm)
    if one is not arm:
        return inverse_kinematics_of_stack(
            inverse_kinematics,
            cast(StackLike, arm),
            target,
            q0,
            wrench,
            generator(rng),
            node=node,
            limits=limits,
            weights=weights,
            length=length,
            deflection=deflection,
            frame=frame,
            tolerance=tolerance,
            max_iterations=max_iterations,
            restarts=restarts,
            threads=threads,
        )
    # arguments of all runs
    job = _Job(one, node, weights, length, tolerance, max_iterations)
    job.threads = threads_of(threads)
    T, place_only = targets_of(target)
    # batch of targets, starts and wrenches
    start = one.neutral if q0 is None else real_array("q0", q0)
    given = {"q0": start}
    if wrench is not None:
        given["wrench"] = real_array("wrench", wrench)
    alone = T.ndim == 2 and start.shape == (one.nq,) and wrench is None
    batch = () if alone else batch_of(one, T.shape[:-2], given)
    # directions, limits, loads
    if place_only:
        job.weights = place_weights(job.weights)
    job.place_only = not any(job.weights[:3])
    job.limits = limits_of(one, limits)
    if deflection or wrench is not None:
        job.deflect(deflection, given.get("wrench"), frame, batch)
    rng = generator(rng)
    # arrays for the kernel
    if alone:
        T, q = np.ascontiguousarray(T), start.copy()
    else:
        T = np.ascontiguousarray(np.broadcast_to(T, (*batch, 4, 4)))
        q = np.array(np.broadcast_to(start, (*batch, one.nq)), order="C")
    # solutions, with turning joints near the start, motors at their joints
    found = _drive(job, T, q, start, int(restarts), rng)
    _unwind(job, start, q)
    q = motor_positions(one, q)
    result = _result(job, batch, T, q, found)
    if job.deflected:
        warn_of_slopes(one, result.q[np.asarray(result.success)])
    return result


class _Job:
    """Arguments that all runs of the kernel share."""

    def __init__(
        self,
        arm: ArmLike,
        node: object,
        weights: ArrayLike,
        length: float,
        tolerance: float,
        max_iterations: int,
    ) -> None:
        self.arm = arm
        self.node = one_node(arm, node)
        self.weights = weights_of(weights, length)
        self.tolerance = float(tolerance)
        if len(arm._held) > len(rigid_couplings(arm)):
            raise ArgumentError(
                "the arm has constraints, inverse_kinematics moves the joints of a "
                "tree; expected an arm without them: arm.replace(constraints=())"
            )
        self.max_iterations = int(max_iterations)
        self.place_only = self.deflected = self.in_base = False
        self.threads = 1
        self.interrupted = False
        self.hopeless: Mask | None = None  # targets out of reach
        self.limits: Array | None = None
        self.wrench: Array | None = None

    def deflect(
        self, deflection: bool, wrench: Array | None, frame: str, batch: tuple[int, ...]
    ) -> None:
        """Let modes take their equilibrium; raise if they have none."""
        arm = self.arm
        if not deflection:
            raise ArgumentError(
                "a wrench is given, but without deflection=True nothing follows it"
            )
        modes = slice(arm.motor_slice.stop, None)
        K = arm.stiffness_matrix[modes, modes]
        try:
            np.linalg.cholesky(K)
        except np.linalg.LinAlgError:
            raise ArgumentError(
                "the stiffness of the modes is not positive definite, so they have no "
                "static equilibrium; expected clamped modes, or deflection=False"
            ) from None
        self.deflected, self.in_base = len(K) > 0, frame == "base"
        if wrench is not None and self.deflected:
            shared = wrench.size == 6
            rows = wrench.reshape(6) if shared else np.broadcast_to(wrench, (*batch, 6))
            self.wrench = np.ascontiguousarray(rows).reshape(-1, 6)

    def run(
        self, T: Array, q: Array, last: bool, at: Index | None = None
    ) -> tuple[Array, Array, NDArray[np.int32], NDArray[np.int32]]:
        """Improve `q` in place; return residual, weighted norm, status, evaluations.

        The last run ends at a local minimum of the error, others try to pass it.
        """
        count = T.size // 16
        residual, cost = np.empty((count, 6)), np.empty(count)
        status, used = np.empty(count, np.int32), np.empty(count, np.int32)
        wrench = self.wrench
        if wrench is not None and at is not None and len(wrench) > 1:
            wrench = wrench[at]
        model_of(self.arm).inverse_kinematics(
            TargetRun(
                T.reshape(-1, 4, 4),
                q.reshape(-1, self.arm.nq),
                residual,
                cost,
                status,
                used,
                self.limits,
                wrench,
                np.array(self.weights),
                self.node,
                self.place_only,
                self.deflected,
                self.in_base,
                self.tolerance,
                _TIGHT_COSINE if last else _LOOSE_COSINE,
                _DAMPING,
                self.max_iterations,
                last,
                self.threads,
            )
        )
        return residual, cost, status, used


def _drive(
    job: _Job,
    T: Array,
    q: Array,
    start: Array,
    restarts: int,
    rng: np.random.Generator | None,
) -> tuple[Array, NDArray[np.int32], NDArray[np.int32]]:
    """Run, restart for targets not reached, refine the rest at last; `q` in place."""
    residual, _, status, used = found = job.run(T, q, not restarts)
    failed = status.nonzero()[0]
    failed = failed[status[failed] != _NOT_FINITE]
    if len(failed):
        _prove(job, T.reshape(-1, 4, 4), failed)
    if restarts and len(failed):
        with held():
            _restart(job, T, q, start, restarts, rng, failed, found)
    return residual, status, used


def _restart(
    job: _Job,
    T: Array,
    q: Array,
    start: Array,
    restarts: int,
    rng: np.random.Generator | None,
    failed: Index,
    first: tuple[Array, Array, NDArray[np.int32], NDArray[np.int32]],
) -> None:
    """Improve targets that failed; `q` and the first results in place.

    After Ctrl-C they are those of the runs before.
    """
    residual, cost, status, used = first
    T, flat = T.reshape(-1, 4, 4), q.reshape(len(cost), -1)
    # from the given start: modes may be far from any equilibrium after the first run
    start = np.broadcast_to(start, q.shape).reshape(flat.shape)
    rng = np.random.default_rng(0) if rng is None else rng
    within = failed[~_hopeless(job, failed)]
    for run in range(restarts + 1):
        last = run == restarts
        at = failed if last else within
        at = at[status[at] != _SOLVED]
        if not len(at):
            continue
        try:
            with allowed():
                tried = flat[at] if last else _posture(job, start[at], rng)
                found = job.run(T[at], tried, last, at)
        except KeyboardInterrupt:
            job.interrupted = True
            break
        used[at] += found[3]
        # the last run starts at the best and is nearer to a minimum, even if rounding
        # hides it
        better = (found[1] <= cost[at]) | (last & np.isfinite(found[1]))
        at = at[better]
        flat[at], residual[at] = tried[better], found[0][better]
        cost[at], status[at] = found[1][better], found[2][better]


def _prove(job: _Job, T: Array, failed: Index) -> None:
    """Find targets that are out of reach, among those that failed."""
    w = np.array(job.weights)
    if job.deflected or not w[3:].all():
        return
    branch, oriented = _branch(job.arm, job.node), bool(w.all())
    slack = job.tolerance / w[3:].min()
    turn = job.tolerance / w[:3].min() if oriented else 0.0
    out = np.zeros(len(T), dtype=bool)
    for reach in reaches(job.arm, branch, job.node, job.limits, oriented):
        out[failed] |= reach.misses(T[failed], slack, turn)
    job.hopeless = out if out.any() else None


def _hopeless(job: _Job, at: Index) -> Mask:
    return np.zeros(len(at), bool) if job.hopeless is None else job.hopeless[at]


def _posture(job: _Job, start: Array, rng: np.random.Generator) -> Array:
    """One random posture of the joints that move the node, for each start."""
    arm = job.arm
    branch = _branch(arm, job.node)
    q: Array = start.copy()
    none = (np.full(arm.nq, -np.inf), np.full(arm.nq, np.inf))
    low, high = none if job.limits is None else job.limits
    for k, body in enumerate(arm.bodies):
        at = arm.body_joint_slice(k, positions=True)
        n = at.stop - at.start
        # numbers are drawn for all joints, so that postures do not depend on the node
        draw = rng.uniform(-1.0, 1.0, n)
        e = rng.normal(size=4) if body.joint.has_pose else None
        if k not in branch:
            continue
        if e is not None:
            q[:, at.start : at.start + 4] = e / np.linalg.norm(e)
            q[:, at.start + 4 : at.stop] += draw[4:]
            continue
        turns = body.joint.screws[:3].any(axis=0)
        for i, j in enumerate(range(at.start, at.stop)):
            a, b = low[j], high[j]
            if np.isfinite(a) and np.isfinite(b):
                q[:, j] = a + 0.5 * (draw[i] + 1.0) * (b - a)
            else:
                free = np.pi * draw[i] if turns[i] else q[:, j] + draw[i]
                q[:, j] = np.clip(free, a, b)
    return q


def _branch(arm: ArmLike, node: int) -> list[int]:
    """Bodies from that of a node to the base."""
    k = next(k for k in range(len(arm.bodies)) if node < arm.node_slice(k).stop)
    branch = []
    while k >= 0:
        branch.append(k)
        k = arm._parents[k]
    # joints that move those on the way, wherever they are
    branch += [
        leader
        for leader, own in arm._led.items()
        if leader not in branch and any(x in branch for x, *_ in own)
    ]
    return branch


def _unwind(job: _Job, start: Array, q: Array) -> None:
    """Remove full turns of joints without limits, which do not change the pose."""
    with np.errstate(invalid="ignore"):  # infinite starts raise later
        away = q - start
    if not (abs(away) > np.pi).any():
        return
    free = job.arm._turning.copy()
    if job.limits is not None:
        free &= ~np.isfinite(job.limits).any(axis=0)
    turns = np.where(free & np.isfinite(away), np.round(away / (2.0 * np.pi)), 0.0)
    q -= 2.0 * np.pi * turns


def _result(
    job: _Job,
    batch: tuple[int, ...],
    T: Array,
    q: Array,
    found: tuple[Array, NDArray[np.int32], NDArray[np.int32]],
) -> InverseKinematics:
    """Return the result in the shape of the user; raise for invalid targets."""
    residual, status, used = found
    reached: Mask = (status == _SOLVED).reshape(batch)
    out: Mask = _hopeless(job, np.arange(len(status))).reshape(batch)
    result = InverseKinematics(
        q,
        residual.reshape(*batch, 6),
        reached if batch else bool(reached),
        used.reshape(batch) if batch else int(used[0]),
        out if batch else bool(out),
        message(reached, out, job.interrupted),
    )
    if (status == _NOT_FINITE).any():
        raise _refusal(job, batch, T, status.reshape(batch), result)
    return result


def _refusal(
    job: _Job,
    batch: tuple[int, ...],
    T: Array,
    status: NDArray[np.int32],
    result: InverseKinematics,
) -> FlexarmError:
    """Second look at targets that the kernel did not accept."""
    bad = status == _NOT_FINITE
    fault = first_pose_fault("target", T)
    if fault:
        return ArgumentError(fault)
    count = int(bad.sum())
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    where = f" for {count} of {bad.size} targets, first at index {index}" * bool(batch)
    lost = ", or the modes find no equilibrium under the load" * job.deflected
    return NotFiniteError(
        f"inverse_kinematics has no finite result{where}: the target, its start or its "
        "wrench is NaN, infinite or so large that squares overflow, or a quaternion is "
        f"zero{lost}, expected finite numbers; error.result holds the rest",
        result=result,
        index=index,
        count=count,
    )
