"""Joint motion of an arm whose tip follows a path, with derivatives by s."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import array_of, check_numbers, real_array
from .._calls.declared import Floats
from .._calls.doors import checked, checked_class
from .._support.arrays import Array
from .._support.interrupts import uninterrupted
from ..arm import Arm
from ..errors import ArgumentError
from ..ik import inverse_kinematics
from ._afloat import Afloat, FloatingLevel, joints_afloat
from ._charts import real_motion
from ._path import Path
from ._postures import QUATERNIONS, joint_motion, path_of_joints, unit_postures
from ._rigid import RigidLevel
from ._tip_rows import TipRows, Wanted

# Points along a path where none are given: fewer lose the shape of curves, each more is
# one posture.
_PATH_POINTS = 1001
# Ratio of the smallest to the largest singular value of the Jacobian, below which a
# posture is singular: joints would turn ten thousand times as fast as others.
_MIN_CONDITION = 1e-4
# Ratio below which a direction does not move at all.
_RANK_TOLERANCE = 1e-9
# Distance in m or rad within which a posture reaches its place: Newton's method ends
# far below; branches that are searched may miss it a thousand times more.
_REACH_TOLERANCE = 1e-9
# Steps at most to a first posture by joints alone.
_MAX_REACHES = 60
# Steps of Newton's method at most to a led motion from one nearby.
_MAX_CORRECTIONS = 6
# Random postures from which branches are searched: each costs one inverse kinematics.
_BRANCH_STARTS = 24
# Branches at most that are tried along a path.
_MAX_BRANCHES = 8
# Distance in rad or m above which two postures are two branches: what is reached twice
# differs by less.
_BRANCH_DISTANCE = 1e-3


@checked_class
@dataclass(frozen=True, eq=False)
class PathMotion:
    """Coordinates of an arm along a path, and their derivatives by s.

    Attributes
    ----------
    arm : Arm
        The arm.
    path : Path
        The path.
    s : (n,) ndarray of float
        Path parameters.
    q : (n, nq) ndarray of float
        Positions of all coordinates; modes are zero, motors follow their joints.
    first, second : (n, nv) ndarray of float
        Their derivatives by s; of joints with quaternions velocities with s as the time
        and the derivatives of these.
    tip, tip_first, tip_second : (n, 3) ndarray of float
        Positions of the tip in m, and their derivatives by s.
    rotation : (n, 3, 3) ndarray of float
        Axes of the tip as unit vectors in columns, in the base frame.
    spin, spin_first : (n, 3) ndarray of float
        Angular velocity of the tip by s in axes of the base, in rad, and its
        derivative.
    """

    arm: Arm
    path: Path
    s: Array
    q: Array
    first: Array
    second: Array
    tip: Array
    tip_first: Array
    tip_second: Array
    rotation: Array
    spin: Array
    spin_first: Array
    _start: ArrayLike | Led | Afloat | None = (
        None  # with which the same motion is found again
    )


@dataclass(frozen=True, eq=False)
class Led:
    """How joints move that a path leaves free: C q = c(s), instead of a start.

    Attributes
    ----------
    rows : (r, nu) ndarray of float
        C.
    curve : callable
        ``curve(s, k)`` are k-th derivatives (n, r) of c at path parameters.
    near : callable
        ``near(s)`` are joints (n, nu) next to the motion.
    arm : Arm, optional
        With quaternions, the arm in coordinates that add, which q are.
    """

    rows: Array
    curve: Callable[..., Array]
    near: Callable[[Array], Array]
    arm: Arm | None = None


Begin: TypeAlias = ArrayLike | Led | None  # what chooses a branch


@checked
def follow(
    arm: Arm,
    path: Path,
    s: Annotated[ArrayLike, Floats("(n,)")] | None = None,
    *,
    start: ArrayLike | Led | Afloat | None = None,
) -> PathMotion:
    r"""Joint motion along a path, with exact derivatives by its parameter.

    Parameters
    ----------
    arm : Arm
        Arm without loops; its modes are at rest, its motors follow their joints.
    path : Path
        Of the tip, with or without an orientation, or of the joints.
    s : (n,) array_like of float, optional
        Rising path parameters from 0 to 1; by default 1001 equal steps.
    start : (nu,) or (nq,) array_like of float, optional
        Posture in rad or m near the start of a path of the tip, with (w, x, y, z) of
        quaternions, which chooses the branch (elbow up or down) for the whole path.  By
        default branches are tried until one leads along the path within the limits of
        the joints, if one does.

    Returns
    -------
    motion : PathMotion
        Positions and derivatives at each `s`.

    Raises
    ------
    ArgumentError
        If the path is out of reach or leads through a singular posture, with the path
        parameter and the place; or if the arm has loops.

    See Also
    --------
    flexarm.inverse_kinematics : of single poses.

    Notes
    -----
    With the Jacobian J of the tip, :math:`q' = J^+ p'` and :math:`J q'' = p'' - J' q'`.
    A path with an orientation has rows of angular velocities too; of a tool that may
    spin about an axis those at right angles to it.
    A run of :math:`q' = J^+ p'` keeps the branch; Newton steps make its positions exact
    for all `s` at once.  Where there are more joints than the path needs, joint rates
    are least, and :math:`q''` includes the rate of the pseudo-inverse (A. Liegeois,
    IEEE Trans. Systems, Man, Cybernetics 7, 1977, without a secondary task).

    Examples
    --------
    A tip that moves along x at the elbow of a right angle turns both joints:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> path = fa.optimize.paths.line([1.0, 1.0], [1.2, 1.0])
    >>> motion = fa.optimize.paths.follow(arm, path, start=[0.1, 1.4])
    >>> print(motion.q[0].round(9) + 0.0, motion.first[0].round(9) + 0.0)
    [0.         1.57079633] [ 0.  -0.2]
    """
    level = RigidLevel(arm, "motion along a path")
    at = _parameters(s)
    if isinstance(start, Afloat):
        start, (q, first, second) = _afloat(arm, path, at, start)
    elif path.space == "joint":
        path = path_of_joints(arm, path)
        q, first, second = joint_motion(level, path(at))
    elif isinstance(start, Led):
        own = arm if start.arm is None else start.arm
        tracer = PathTracer(RigidLevel(own, "motion along a path"), path)
        q, first, second = real_motion(own, *tracer.led(at, start))
    else:
        q, first, second = PathTracer(level, path).branch(at, start)
        start = q[0]
    # the tip and its derivatives in the axes of the base
    pose = np.asarray(arm.kernels.node_pose(arm.tip_node, q))
    turn = pose[:, :3, :3]
    J = arm.kernels.jacobian(arm.tip_node, q)
    bend = np.asarray(arm.kernels.node_acceleration(arm.tip_node, q, first, second))
    rates = (np.einsum("nij,njk,nk->ni", turn, x, first) for x in np.split(J, 2, 1))
    bends = (np.einsum("nij,nj->ni", turn, x) for x in np.split(bend, 2, 1))
    (spin, rate), (spin_rate, rate_rate) = rates, bends
    tips = pose[:, :3, 3], rate, rate_rate
    turns = turn, spin, spin_rate
    return PathMotion(arm, path, at, q, first, second, *tips, *turns, start)


def _afloat(
    arm: Arm, path: Path, s: Array, start: Afloat
) -> tuple[Afloat, tuple[Array, ...]]:
    """Start and motion of an arm whose base floats, from s = 0 on."""
    level = FloatingLevel(arm, "motion along a path", start.bases)
    # where bases are depends on the way from the start
    skip = int(s[0] > 0.0)
    every = np.append(0.0, s) if skip else s
    if path.space == "joint":
        first = arm.neutral[: level.n_positions]
        if start.posture is not None:
            first = posture_of(arm, start.posture)
        whole = joints_afloat(level, path, every, first)
    else:
        whole = PathTracer(level, path).branch(every, start.posture)
    start = Afloat(whole[0][0], start.bases)
    return start, tuple(x[skip:] for x in whole)


def _parameters(s: ArrayLike | None) -> Array:
    if s is None:
        return np.linspace(0.0, 1.0, _PATH_POINTS)
    at: Array = real_array("s", s)
    if at.ndim != 1 or len(at) < 2:
        raise ArgumentError(f"s has shape {at.shape}, expected (n,), two or more")
    check_numbers("s", at)
    if not (np.diff(at) > 0.0).all() or at[0] < 0.0 or at[-1] > 1.0:
        raise ArgumentError("s does not rise from 0 to 1, expected that it does")
    return at


def posture_of(arm: Arm, start: Begin) -> Array:
    """Positions of the joints, given alone or with all others."""
    n = arm.joint_position_slice.stop
    given = array_of(
        "start",
        start,
        ((n,), (arm.nq,)),
        f"({n},), one posture of the joints{QUATERNIONS if arm.nq != arm.nv else ''}",
    )
    return unit_postures(arm, "start", np.array(given[:n]))


class SingularError(ArgumentError):
    """A branch leads through a singular posture."""


class PathTracer:
    """Joint motion along a path of the tip, from a first posture."""

    def __init__(self, level: RigidLevel, path: Path) -> None:
        self.level, self.path, self.arm = level, path, level.arm
        self.rows = TipRows(level, path)
        self.rank, self.jacobian = self.rows.rank, self.rows.jacobian

    def inverse(self, J: Array) -> tuple[Array, Array]:
        """Pseudo-inverse of J J', and ratio of least to largest singular value."""
        values, vectors = np.linalg.eigh(J @ J.swapaxes(-1, -2))
        first = J.shape[-2] - self.rank
        kept = values[..., first:]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.sqrt(np.maximum(kept[..., 0], 0.0) / kept[..., -1])
            inverted = np.where(
                kept > _RANK_TOLERANCE**2 * kept[..., -1:], 1.0 / kept, 0.0
            )
        basis = vectors[..., first:]
        return (basis * inverted[..., np.newaxis, :]) @ basis.swapaxes(-1, -2), ratio

    def multipliers(self, J: Array, W: Array, x: Array) -> Array:
        """Smallest y with J J' y = x, refined once."""
        A = J @ J.swapaxes(-1, -2)
        y = W @ x[..., np.newaxis]
        y = y + W @ (x[..., np.newaxis] - A @ y)
        return np.asarray(y[..., 0])

    def branch(self, s: Array, start: Begin) -> tuple[Array, Array, Array]:
        """Motion from the start, or on the first branch within limits of the joints."""
        first = self.first_posture(start, float(s[0]))
        if start is not None:
            try:
                return self.run(s, first)
            except SingularError as error:
                raise ArgumentError(str(error)) from None
        found, refused = None, None
        for joints in self.branches(first, float(s[0])):
            try:
                motion = self.run(s, joints)
            except SingularError as error:
                refused = refused or error
                continue
            low, high = self.arm.joint_limits
            room = _REACH_TOLERANCE * 1e3
            q = motion[0][:, : self.level.n_positions]
            low, high = low[: q.shape[1]] - room, high[: q.shape[1]] + room
            if ((q >= low) & (q <= high)).all():
                return motion
            found = found or motion
        if found is None:
            raise ArgumentError(str(refused)) from None
        return found

    def branches(self, first: Array, s: float) -> Iterator[Array]:
        """Postures of the joints at the first point; more are searched when needed."""
        yield first
        rng, known, n = np.random.default_rng(0), [first], self.level.n_positions
        low, high = np.clip(self.arm.joint_limits[:, :n], -np.pi, np.pi)
        limits = "joint" if np.isfinite(self.arm.joint_limits).any() else None
        for draw in self.level.kept(rng.uniform(low, high, (_BRANCH_STARTS, n)), first):
            joints, gaps = self.reached(
                s, self.level.posture(draw), limits=limits, restarts=0
            )
            other = (
                self.level.apart(joints[:n], np.array(known)).min() > _BRANCH_DISTANCE
            )
            if max(gaps) <= _REACH_TOLERANCE * 1e3 and other:
                known.append(joints[:n])
                yield joints[:n]
            if len(known) == _MAX_BRANCHES:
                return

    def run(self, s: Array, first: Array) -> tuple[Array, Array, Array]:
        """Positions and derivatives of all coordinates, from a posture."""
        wanted = self.rows.wanted(s)
        joints = self.predict(s, wanted, first)
        for _ in range(4):
            J = self.jacobian(joints)
            W, ratio = self.inverse(J)
            if not (ratio > _MIN_CONDITION).all():
                self.refuse_singular(float(s[int(np.argmin(ratio > _MIN_CONDITION))]))
            miss = self.rows.miss(wanted, joints)
            step = _transposed(J, self.multipliers(J, W, miss))
            joints = self.level.moved(joints, self.level.spread(joints, step))
        reached = np.maximum(*self.rows.errors(wanted, joints)) < _REACH_TOLERANCE
        if not reached.all():
            self.refuse_reach(s, float(s[int(np.argmin(reached))]))
        return self.derivatives(joints, wanted)

    def free(self, joints: Array) -> Array:
        """(n, nu, nu) projectors on motions of the joints that the path leaves free."""
        J = self.jacobian(joints)
        W, _ = self.inverse(J)
        return np.asarray(np.eye(self.level.n) - J.swapaxes(-1, -2) @ W @ J)

    def led_step(self, joints: Array, rows: Array, gap: Array) -> Array:
        """Changes (n, nu) of joints by gaps (n, m + r) of the path and of C q."""
        J = self.jacobian(joints)
        A = np.concatenate([J, np.broadcast_to(rows, (len(J), *rows.shape))], axis=1)
        return np.asarray((np.linalg.pinv(A) @ gap[..., None])[..., 0])

    def led(self, s: Array, way: Led) -> tuple[Array, Array, Array]:
        """Positions and derivatives of all coordinates where free joints are led."""
        wanted, joints = self.rows.wanted(s), np.asarray(way.near(s))
        for _ in range(_MAX_CORRECTIONS):
            gap = np.hstack(
                [self.rows.miss(wanted, joints), way.curve(s) - joints @ way.rows.T]
            )
            joints = joints + self.led_step(joints, way.rows, gap)
        reached = np.maximum(*self.rows.errors(wanted, joints)) < _REACH_TOLERANCE
        if not reached.all():
            self.refuse_singular(float(s[int(np.argmin(reached))]))
        q = self.level.whole(joints)
        rates = np.hstack([self.rows.first(wanted), way.curve(s, 1)])
        first = self.level.whole(self.led_step(joints, way.rows, rates))
        bends = np.hstack([self.rows.second(wanted, q, first), way.curve(s, 2)])
        return q, first, self.level.whole(self.led_step(joints, way.rows, bends))

    def derivatives(self, joints: Array, wanted: Wanted) -> tuple[Array, Array, Array]:
        """Derivatives by J q' = p', J q'' = p'' - J' q', with the rate of J^+."""
        q = self.level.posture(joints)
        J = self.jacobian(joints)
        W, _ = self.inverse(J)
        y = self.multipliers(J, W, self.rows.first(wanted))
        level = self.level
        rate = level.whole(level.spread(joints, _transposed(J, y)))
        rest = self.rows.second(wanted, q, rate)
        drift = np.zeros((len(joints), level.free))
        if level.free > self.rank:
            drift = _transposed(self.rows.jacobian_rate(q, rate), y)
            rest = rest - np.einsum("nij,nj->ni", J, drift)
        y_rate = self.multipliers(J, W, rest)
        bend = level.spread(joints, _transposed(J, y_rate) + drift)
        return q, rate, level.whole(bend) + level.drift(q, rate)

    def first_posture(self, start: Begin, s: float) -> Array:
        """Posture of the joints with the tip at the first point."""
        n = self.level.n_positions
        guess = self.arm.neutral
        if start is not None:
            guess = self.level.posture(posture_of(self.arm, start))
        # within the limits of the joints, if there is such a posture
        limited = start is None and np.isfinite(self.arm.joint_limits).any()
        restarts = 10 if start is None else 0
        for limits in ("joint", None) if limited else (None,):
            joints, gaps = self.reached(s, guess, limits=limits, restarts=restarts)
            if max(gaps) <= _REACH_TOLERANCE * 1e3:
                return np.asarray(joints[:n])
        raise ArgumentError(
            f"path is out of reach at its start, {_in_m(self.path(s).position)}: the "
            f"tip stays {_away(gaps)} away"
            f"{' from the posture given as start' * (start is not None)}; expected "
            f"a path within the workspace{self.only_turned(s)}"
        )

    def reached(
        self, s: float, guess: Array | None = None, **options: Any
    ) -> tuple[Array, tuple[float, float]]:
        """Posture (nq,) nearest to the path at s, how far in m and rad it is off."""
        if self.level.free < self.level.n:
            return self.reached_by_joints(s, guess, **options)
        tree = self.arm.replace(constraints=()) if self.arm._held else self.arm
        target: Array = self.path(s).position
        if self.path.is_oriented:
            target = pose_of(self.path.orientation(s).rotation, target)
            weights = np.ones(6)
            if self.rows.axis is not None:
                weights[self.rows.axis] = 0.0
            options["weights"] = tuple(weights)
        found = uninterrupted(inverse_kinematics(tree, target, guess, **options))
        wanted = self.rows.wanted(np.array([s]))
        gaps = self.rows.errors(wanted, found.q[np.newaxis, : self.level.n_positions])
        return found.q, (float(gaps[0][0]), float(gaps[1][0]))

    def reached_by_joints(
        self, s: float, guess: Array | None, restarts: int = 0, **options: object
    ) -> tuple[Array, tuple[float, float]]:
        """The same by joints that are no base, by damped steps of Newton."""
        level, rows = self.level, self.rows
        wanted, driven = rows.wanted(np.array([s])), level.driven
        first = np.asarray(guess)[: level.n_positions]
        draws = np.random.default_rng(1).uniform(-np.pi, np.pi, (restarts, len(first)))
        best: tuple[Array, tuple[float, float]] = first, (np.inf, np.inf)
        for joints in [first, *level.kept(draws, first)]:
            for _ in range(_MAX_REACHES):
                miss = rows.miss(wanted, joints)[0]
                J = rows.by_joints(joints)[:, driven]
                A = J @ J.T + 1e-3 * float(miss @ miss) * np.eye(len(J))
                step = np.zeros(level.n)
                step[driven] = J.T @ np.linalg.lstsq(A, miss, rcond=1e-12)[0]
                step /= max(1.0, 2.0 * float(np.abs(step).max()))
                joints = level.moved(joints, step)
            gaps = rows.errors(wanted, joints[np.newaxis])
            if max(gaps[0][0], gaps[1][0]) < max(best[1]):
                best = joints, (float(gaps[0][0]), float(gaps[1][0]))
            if max(best[1]) < _REACH_TOLERANCE:
                break
        return level.posture(best[0]), best[1]

    def only_turned(self, s: float) -> str:
        """Words if the place is within reach, but not with its orientation."""
        if not self.path.is_oriented or self.level.free < self.level.n:
            return ""
        tree = self.arm.replace(constraints=()) if self.arm._held else self.arm
        place = self.path(s).position
        found = uninterrupted(inverse_kinematics(tree, place, limits=None))
        gap = self.rows.pose(found.q[: self.level.n_positions])[:3, 3] - place
        reached = bool(np.linalg.norm(gap) < 1e-6)
        return ": this place is within reach, but not so turned" if reached else ""

    def predict(self, s: Array, wanted: Wanted, first: Array) -> Array:
        """Postures along the path by integration of q' = J^+ p'."""
        from scipy.integrate import solve_ivp

        def rate(at: float, joints: Array) -> Array:
            J = self.jacobian(joints)
            W, _ = self.inverse(J)
            now = self.rows.wanted(np.array(min(max(at, 0.0), 1.0)))
            x = self.rows.first(now)
            step = _transposed(J, self.multipliers(J, W, x))
            step = self.level.spread(joints, step)
            return self.level.position_rates(joints, step)

        def regular(at: float, joints: Array) -> float:
            return float(self.inverse(self.jacobian(joints))[1]) - _MIN_CONDITION

        regular.terminal = True  # type: ignore[attr-defined]
        if regular(0.0, first) <= 0.0:
            self.refuse_singular(float(s[0]))
        # integrate until the path ends or the Jacobian is singular
        run = solve_ivp(
            rate,
            (s[0], s[-1]),
            first,
            method="DOP853",
            t_eval=s,
            rtol=1e-9,
            atol=1e-10,
            events=regular,
        )
        # where the Jacobian loses directions it needs, the run leaves the path
        k = run.y.shape[1]
        miss = np.maximum(*self.rows.errors(self.rows.wanted(s[:k]), run.y.T))
        off = np.flatnonzero(miss > 1e-6 * (1.0 + self.path.length))
        if len(off):
            self.refuse_reach(s, float(s[off[0]]))
        if run.status != 0:
            reached = run.t_events[0]
            last = run.t[-1] if len(run.t) else s[0]
            self.refuse_reach(s, float(reached[0] if len(reached) else last))
        return np.ascontiguousarray(run.y.T)

    def refuse_reach(self, s: Array, where: float) -> None:
        """Refuse a path that is out of reach beyond `where`, or singular there."""
        if self.level.free < self.level.n:  # reach depends on the way
            self.refuse_singular(where)
        beyond = np.minimum(where + np.array([1e-3, 1e-2, 5e-2]) * (s[-1] - s[0]), 1.0)
        gaps = [self.reached(float(at), limits=None)[1] for at in beyond]
        if not max(map(max, gaps)) > 1e-6:
            self.refuse_singular(where)
        last = float(s[-1])
        _, far = self.reached(last, limits=None)
        end = ""
        if max(far) > 1e-6:
            end = f"; its end at {_in_m(self.path(last).position)} by {_away(far)}"
        raise ArgumentError(
            f"path is out of reach beyond s = {where:.4g}, at "
            f"{_in_m(self.path(where).position)}{end}; expected a path within the "
            f"workspace of the arm{self.only_turned(where)}"
        )

    def refuse_singular(self, where: float) -> None:
        """Refuse a path along which the Jacobian loses rank."""
        other = "paths.joint_path"
        if self.level.free < self.level.n:
            other = "two postures; where its base floats, reach depends on the way"
        raise SingularError(
            f"path leads through a singular posture at s = {where:.4g}, the tip at "
            f"{_in_m(self.path(where).position)}: joint rates would have no bound "
            f"there; expected a path that stays away from it, another start (branch), "
            f"or {other}"
        )


def _transposed(J: Array, y: Array) -> Array:
    """J' y."""
    return np.asarray((J.swapaxes(-1, -2) @ y[..., np.newaxis])[..., 0])


def pose_of(rotation: Array, place: Array) -> Array:
    """Poses (..., 4, 4) from rotations and places."""
    pose = np.zeros((*place.shape[:-1], 4, 4))
    pose[..., :3, :3], pose[..., :3, 3], pose[..., 3, 3] = rotation, place, 1.0
    return pose


def _away(gaps: tuple[float, float]) -> str:
    """Words for a distance and an angle, those that are not zero."""
    parts = [
        f"{x:.3g} {unit}"
        for x, unit in zip(gaps, ("m", "rad"), strict=True)
        if x > 1e-6
    ]
    return " and ".join(parts)


def _in_m(point: Array) -> str:
    return f"({', '.join(f'{x:.4g}' for x in point)}) m"
