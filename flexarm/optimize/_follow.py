"""Joint motion of an arm whose tip follows a path, with derivatives by s."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._calls.arguments import check_numbers, real_array
from .._support.interrupts import uninterrupted
from .._support.options import explained, explained_class
from ..arm import Arm
from ..errors import ArgumentError
from ..ik import inverse_kinematics
from ._path import Path
from ._rigid import RigidLevel

Array = NDArray[np.float64]

_POINTS = 1001
# ratio of smallest to largest singular value of the Jacobian: below the first it is
# singular, below the second a direction does not move at all
_SINGULAR, _NONE = 1e-4, 1e-9
_REACHED = 1e-9  # m


@explained_class
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
    q, first, second : (n, nv) ndarray of float
        Positions of all coordinates and their derivatives by s; modes are zero, motors
        follow their joints.
    tip, tip_first, tip_second : (n, 3) ndarray of float
        Positions of the tip in m, and their derivatives by s.
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


@explained
def follow(arm: Arm, path: Path, s: Any = None, *, start: Any = None) -> PathMotion:
    r"""Joint motion along a path, with exact derivatives by its parameter.

    Parameters
    ----------
    arm : Arm
        Arm without loops; its modes are at rest, its motors follow their joints.
    path : Path
        Of the tip or of the joints.
    s : (n,) array_like of float, optional
        Rising path parameters from 0 to 1; by default 1001 equal steps.
    start : (nu,) or (nq,) array_like of float, optional
        Posture in rad or m near the start of a path of the tip, which chooses the
        branch (elbow up or down) for the whole path.  By default one is searched.

    Returns
    -------
    motion : PathMotion
        Positions and derivatives at each `s`.

    Raises
    ------
    ArgumentError
        If the path is out of reach or leads through a singular posture, with the path
        parameter and the place; or if the arm has loops or quaternions.

    See Also
    --------
    flexarm.inverse_kinematics : of single poses.

    Notes
    -----
    With the Jacobian J of the tip, :math:`q' = J^+ p'` and :math:`J q'' = p'' - J' q'`.
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
    if not isinstance(path, Path):
        raise ArgumentError(
            f"path is {type(path).__name__}, expected one of optimize.paths, such as "
            "paths.line(start, end)"
        )
    level = RigidLevel(arm, "motion along a path")
    at = _parameters(s)
    points = path(at)
    if path.space == "joint":
        given = points.position.shape[-1]
        if given not in (arm.nu, arm.nq):
            raise ArgumentError(
                f"path has postures of {given} numbers, expected {arm.nu}, one for "
                "each joint"
            )
        q, first, second = (level.whole(x[:, : arm.nu]) for x in points)
    else:
        q, first, second = _Tracer(level, path).run(at, points, start)
    # the tip and its derivatives in the axes of the base
    pose = np.asarray(arm._model.node_pose(arm.tip_node, q))
    turn = pose[:, :3, :3]
    J = arm._model.jacobian(arm.tip_node, q)[:, 3:]
    rate = np.einsum("nij,njk,nk->ni", turn, J, first)
    bend = arm._model.node_acceleration(arm.tip_node, q, first, second)[:, 3:]
    bend = np.einsum("nij,nj->ni", turn, bend)
    return PathMotion(arm, path, at, q, first, second, pose[:, :3, 3], rate, bend)


def _parameters(s: Any) -> Array:
    if s is None:
        return np.linspace(0.0, 1.0, _POINTS)
    at: Array = real_array("s", s)
    if at.ndim != 1 or len(at) < 2:
        raise ArgumentError(f"s has shape {at.shape}, expected (n,), two or more")
    check_numbers("s", at)
    if not (np.diff(at) > 0.0).all() or at[0] < 0.0 or at[-1] > 1.0:
        raise ArgumentError("s does not rise from 0 to 1, expected that it does")
    return at


def posture_of(arm: Arm, start: Any) -> Array:
    """Positions (nu,) of the joints, given alone or with all others."""
    given = real_array("start", start)
    if given.shape not in ((arm.nu,), (arm.nq,)):
        raise ArgumentError(
            f"start has shape {given.shape}, expected ({arm.nu},), one posture of the "
            "joints"
        )
    check_numbers("start", given)
    return np.array(given[: arm.nu])


class _Tracer:
    """Joint motion along a path of the tip, from a first posture."""

    def __init__(self, level: RigidLevel, path: Path) -> None:
        self.level, self.path, self.arm = level, path, level.arm
        self.node = level.arm.tip_node
        draw = np.random.default_rng(0).uniform(-1.0, 1.0, (8, level.n))
        values = np.linalg.svd(self.jacobian(draw), compute_uv=False)
        known = values > _NONE * values.max()
        self.rank = int(known.sum(axis=1).max()) if known.any() else 0

    def jacobian(self, joints: Array) -> Array:
        """Derivatives of the place of the tip by the joints, in axes of the base."""
        q = self.level.whole(joints)
        pose = self.arm._model.node_pose(self.node, q)
        J = self.arm._model.jacobian(self.node, q)[..., 3:, : self.level.n]
        return np.asarray(pose[..., :3, :3] @ J)

    def place(self, joints: Array) -> Array:
        """Place of the tip."""
        pose = self.arm._model.node_pose(self.node, self.level.whole(joints))
        return np.asarray(pose[..., :3, 3])

    def inverse(self, J: Array) -> tuple[Array, Array]:
        """Pseudo-inverse of J J', and ratio of least to largest singular value."""
        values, vectors = np.linalg.eigh(J @ J.swapaxes(-1, -2))
        kept = values[..., 3 - self.rank :]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.sqrt(np.maximum(kept[..., 0], 0.0) / kept[..., -1])
            inverted = np.where(kept > _NONE**2 * kept[..., -1:], 1.0 / kept, 0.0)
        basis = vectors[..., 3 - self.rank :]
        return (basis * inverted[..., np.newaxis, :]) @ basis.swapaxes(-1, -2), ratio

    def multipliers(self, J: Array, W: Array, x: Array) -> Array:
        """Smallest y with J J' y = x, refined once."""
        A = J @ J.swapaxes(-1, -2)
        y = W @ x[..., np.newaxis]
        y = y + W @ (x[..., np.newaxis] - A @ y)
        return np.asarray(y[..., 0])

    def run(self, s: Array, points: Any, start: Any) -> tuple[Array, Array, Array]:
        """Positions and derivatives of all coordinates."""
        first = self.first_posture(start, float(s[0]))
        joints = self.predict(s, first)
        for _ in range(4):
            miss = points.position - self.place(joints)
            J = self.jacobian(joints)
            W, ratio = self.inverse(J)
            if not (ratio > _SINGULAR).all():
                self.refuse_singular(float(s[int(np.argmin(ratio > _SINGULAR))]))
            joints = joints + _transposed(J, self.multipliers(J, W, miss))
        miss = np.linalg.norm(points.position - self.place(joints), axis=-1)
        if not (miss < _REACHED).all():
            self.refuse_reach(s, float(s[int(np.argmin(miss < _REACHED))]))
        return self.derivatives(joints, points)

    def derivatives(self, joints: Array, points: Any) -> tuple[Array, Array, Array]:
        """Derivatives by J q' = p', J q'' = p'' - J' q', with the rate of J^+."""
        arm, node, n = self.arm, self.node, self.level.n
        q = self.level.whole(joints)
        J = self.jacobian(joints)
        W, _ = self.inverse(J)
        y = self.multipliers(J, W, points.first)
        rate = self.level.whole(_transposed(J, y))
        turn = np.asarray(arm._model.node_pose(node, q))[..., :3, :3]
        bend = arm._model.node_acceleration(node, q, rate, np.zeros(arm.nv))[..., 3:]
        rest = points.second - np.einsum("nij,nj->ni", turn, bend)
        drift = np.zeros_like(joints)
        if n > self.rank:
            # J' in the axes of the base: R (omega x J + dJ/dq q')
            own = np.asarray(arm._model.jacobian(node, q))
            change = arm._model.jacobian_derivatives(node, q)
            change = np.einsum("nijk,nk->nij", change[:, 3:, :n], rate)
            omega = np.einsum("nij,nj->ni", own[:, :3], rate)
            spin = np.cross(omega[:, np.newaxis], own[:, 3:, :n].swapaxes(-1, -2))
            J_rate = turn @ (change + spin.swapaxes(-1, -2))
            drift = _transposed(J_rate, y)
            rest = rest - np.einsum("nij,nj->ni", J, drift)
        y_rate = self.multipliers(J, W, rest)
        return q, rate, self.level.whole(_transposed(J, y_rate) + drift)

    def first_posture(self, start: Any, s: float) -> Array:
        """Posture of the joints with the tip at the first point."""
        arm, n = self.arm, self.level.n
        guess = arm.neutral
        if start is not None:
            guess = self.level.whole(posture_of(arm, start))
        target = self.path(s).position
        tree = arm.replace(constraints=()) if arm.constraints else arm
        # within the limits of the joints, if there is such a posture
        limited = start is None and np.isfinite(arm.joint_limits).any()
        for limits in ("joint", None) if limited else (None,):
            found = uninterrupted(
                inverse_kinematics(
                    tree,
                    target,
                    guess,
                    limits=limits,
                    restarts=10 if start is None else 0,
                )
            )
            missed = float(np.linalg.norm(self.place(found.q[:n]) - target))
            if missed <= _REACHED * 1e3:
                break
        if missed > _REACHED * 1e3:
            raise ArgumentError(
                f"path is out of reach at its start, {_in_m(target)}: the tip stays "
                f"{missed:.3g} m away"
                f"{' from the posture given as start' * (start is not None)}; expected "
                "a path within the workspace"
            )
        return np.asarray(found.q[:n])

    def predict(self, s: Array, first: Array) -> Array:
        """Postures along the path by integration of q' = J^+ p'."""
        from scipy.integrate import solve_ivp

        def rate(at: float, joints: Array) -> Array:
            J = self.jacobian(joints)
            W, _ = self.inverse(J)
            x = self.path(min(max(at, 0.0), 1.0)).first
            return _transposed(J, self.multipliers(J, W, x))

        def regular(at: float, joints: Array) -> float:
            return float(self.inverse(self.jacobian(joints))[1]) - _SINGULAR

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
        miss = np.linalg.norm(
            self.path(s[: run.y.shape[1]]).position - self.place(run.y.T), axis=-1
        )
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
        beyond = np.minimum(where + np.array([1e-3, 1e-2, 5e-2]) * (s[-1] - s[0]), 1.0)
        targets = self.path(beyond).position
        tree = self.arm.replace(constraints=()) if self.arm.constraints else self.arm
        found = uninterrupted(inverse_kinematics(tree, targets, limits=None))
        miss = np.linalg.norm(self.place(found.q[:, : self.level.n]) - targets, axis=-1)
        if not (miss > 1e-6).any():
            self.refuse_singular(where)
        last = self.path(float(s[-1])).position
        far = uninterrupted(inverse_kinematics(tree, last, limits=None))
        gap = float(np.linalg.norm(self.place(far.q[: self.level.n]) - last))
        end = f"; its end at {_in_m(last)} by {gap:.3g} m" if gap > 1e-6 else ""
        raise ArgumentError(
            f"path is out of reach beyond s = {where:.4g}, at "
            f"{_in_m(self.path(where).position)}{end}; expected a path within the "
            "workspace of the arm"
        )

    def refuse_singular(self, where: float) -> None:
        """Refuse a path along which the Jacobian loses rank."""
        raise ArgumentError(
            f"path leads through a singular posture at s = {where:.4g}, the tip at "
            f"{_in_m(self.path(where).position)}: joint rates would have no bound "
            f"there; expected a path that stays away from it, another start (branch), "
            "or paths.joint_path"
        )


def _transposed(J: Array, y: Array) -> Array:
    """J' y."""
    return np.asarray((J.swapaxes(-1, -2) @ y[..., np.newaxis])[..., 0])


def _in_m(point: Array) -> str:
    return f"({', '.join(f'{x:.4g}' for x in point)}) m"
