"""Tip of an arm that follows a trajectory: rigid motions and static states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._calls.arguments import check_arm
from ..._support.arrays import Array, Index
from ...arm import Arm
from ...errors import ArgumentError
from .._aside import clear_start
from .._charts import charted_along, whole_motion
from .._collocation.tip_turn import Turn, turning_rows
from .._follow import Begin, follow, posture_of
from .._local import Place
from .._parts import FrequencyInverse, NodalForces, StableInverse, TipErrors
from .._rigid import RigidLevel
from ..limits import Limits
from .tip_trajectory import Timed

# also what methods of sources found
__all__ = ["Answer", "FrequencyInverse", "Goal", "NodalForces", "Rests"]
__all__ += ["StableInverse", "TipTask"]


_AXES = "xyz"
# Steps of Newton's method at most, which needs a few from nearby.
_MAX_STEPS = 50
# Times at which joints are looked at for the middle of their motion.
_CHART_TIMES = 65
# Ratio of the smallest to the largest singular value, as in `paths.follow`.
_MIN_CONDITION = 1e-4
# Rounding of scaled rows.
_ROUNDING = 1e-12
# Part of the largest entry of the Jacobian that counts as motion.
_MOTION_SHARE = 1e-9


class Answer(NamedTuple):
    """Answer of a method of `track`."""

    t: Array  # (n,)
    q: Array
    qd: Array
    qdd: Array
    tau: Array  # (n, nu), linear in between
    step: float  # longest of the method
    objective: float
    status: str
    message: str
    solver: str
    variables: int
    iterations: int
    violation: float
    errors: TipErrors | None = None
    tracking: NodalForces | StableInverse | FrequencyInverse | None = None


class Rests(NamedTuple):
    """Static states (2, nv) of a motion, their forces, the same of the rigid arm.

    In coordinates that add.
    """

    q: Array
    tau: Array
    rigid: Array


class Goal(NamedTuple):
    """Where the tip shall be at some times, and how it shall be turned there."""

    place: Array  # (n, 3)
    turn: Array | None  # (n, 3, 3)


class TipTask:
    """Tip that follows a trajectory in some of its coordinates.

    Rows are places along the chosen axes, then components of rotation vectors in axes
    of the base, if the path has an orientation; tolerances of both are in m and rad.
    With `add`, positions are coordinates
    that add, also of joints with quaternions; else they are those of the arm.
    """

    def __init__(
        self,
        arm: Arm,
        to: Timed,
        start: Begin,
        axes: str | None,
        limits: Limits | None = None,
        tolerances: tuple[float, float] = (np.inf, np.inf),
        *,
        add: bool = False,
    ) -> None:
        check_arm(arm)
        self.to, self.start, self.limits = to, start, limits
        self.tolerances = tolerances
        self.real, self._real_place = arm, Place(arm)
        self._real_level = RigidLevel(arm, "tracking")
        self.acts = np.eye(arm.nv)[:, arm.actuator_indices]
        self._set(arm)
        can = self._axes_that_move()
        self.axes = can if axes is None else _chosen(axes, can)
        if not len(self.axes):
            raise ArgumentError("the tip of the arm does not move, expected joints")
        self.whole = len(self.axes) == len(can)
        if self.whole:
            self.start = clear_start(arm, to.path, start, limits)
        self.turns: list[int] = []
        if to.path.is_oriented:
            if not self.whole:
                raise ArgumentError(
                    f"axes is {axes!r} beside a path with an orientation, which is "
                    "followed as a whole; leave it out"
                )
            self.turns = turning_rows(arm, self._postures(), to.path._axis)
        if add and arm.nq != arm.nv:
            times = np.linspace(0.0, to.duration, _CHART_TIMES)
            self._set(charted_along(arm, self.rigid(times)[0]))

    def _set(self, arm: Arm) -> None:
        """Take the arm, or its coordinates, for all but the motion of the rigid one."""
        self.arm = arm
        self._place, self._turn = Place(arm), Turn(arm, self.to.path._axis)
        self.level = RigidLevel(arm, "tracking")

    @property
    def rows(self) -> list[str]:
        """Names of the coordinates of the tip that follow."""
        turned = [f"rotation about {_AXES[k]}" for k in self.turns]
        return [*(_AXES[k] for k in self.axes), *turned]

    def _postures(self) -> Array:
        """Random postures (8, nq)."""
        draw = np.random.default_rng(0).uniform(-1.0, 1.0, (8, self.arm.nu))
        level = self._real_level
        neutral = self.real.neutral[: level.n_positions]
        return level.posture(level.moved(neutral, draw))

    def _axes_that_move(self) -> Index:
        J = self._real_place.jacobian(self._postures())
        sizes = np.abs(J).max(axis=(0, 2), initial=0.0)
        return np.flatnonzero(sizes > _MOTION_SHARE * max(sizes.max(), 1e-300))

    def jacobian(self, q: Array) -> Array:
        """(..., 3, nv) derivatives of the place of the tip, in the axes of the base."""
        return self._place.jacobian(q)

    def goal(self, t: Array) -> Goal:
        """Wanted motion at times (n,)."""
        turn = None
        if self.turns:
            turn = self.to.path.orientation(self.to.along(t).s).rotation
        return Goal(self.to.place(t), turn)

    def gap(self, q: Array, goal: Goal) -> Array:
        """(..., n, m) rows of the tip less the wanted ones, in m and rad."""
        away = np.asarray((self._place.value(q) - goal.place)[..., self.axes])
        if goal.turn is None:
            return away
        turned = self._turn.value(q, goal.turn)[..., self.turns]
        return np.concatenate([away, turned], axis=-1)

    def slopes(self, q: Array, goal: Goal | None = None) -> Array:
        """(..., m, nv) derivatives of the rows, by default where no turn is missing."""
        J = self.jacobian(q)[..., self.axes, :]
        if not self.turns:
            return J
        turned = self._turn.jacobian(q, goal.turn if goal is not None else None)
        return np.concatenate([J, turned[..., self.turns, :]], axis=-2)

    def miss(self, t: Array, q: Array) -> Array:
        """(n, m) rows of the tip less the wanted ones, in m and rad."""
        return self.gap(q, self.goal(t))

    def angles(self, t: Array, rotations: Array) -> Array:
        """Angles (n,) in rad between rotations (n, 3, 3) and the orientation."""
        return self.to.path._angles(self.to.along(t).s, rotations)

    def largest(self, miss: Array) -> TipErrors:
        """Largest errors of rows (n, m)."""
        m = len(self.axes)
        turned = np.nan
        if self.turns:
            turned = float(np.linalg.norm(miss[:, m:], axis=1).max())
        return TipErrors(np.abs(miss[:, :m]).max(axis=0), turned)

    def rigid(self, t: Array) -> tuple[Array, Array, Array]:
        """Coordinates, rates and accelerations of the arm with its modes at rest."""
        s, sd, sdd = self.to.along(t)
        if not self.whole:
            return self._rigid_in_part(t)
        grid, back = np.unique(np.append(s, [0.0, 1.0]), return_inverse=True)
        back = back[: len(t)]
        try:
            motion = follow(self.real, self.to.path, grid, start=self.start)
        except ArgumentError as error:
            raise ArgumentError(f"{error}{self.to.when(str(error))}") from None
        q, first, second = motion.q[back], motion.first[back], motion.second[back]
        sd, sdd = sd[:, np.newaxis], sdd[:, np.newaxis]
        qd, qdd = first * sd, second * sd**2 + first * sdd
        return whole_motion(self.arm, q, qd, qdd)

    def _rigid_in_part(self, t: Array) -> tuple[Array, Array, Array]:
        """The same for a tip that follows in some of its axes, time by time.

        The first posture is near the start, by default near the neutral one.
        """
        level, arm = self._real_level, self.real
        joints = arm.neutral[: level.n_positions] * 1.0
        if self.start is not None:
            joints = posture_of(arm, self.start)
        want, place = self.to.at(t), self._real_place
        q, qd, qdd = (np.zeros((len(t), k)) for k in (arm.nq, arm.nv, arm.nv))
        for i, at in enumerate(t):
            joints = self._reached(joints, want.position[i], float(at))
            q[i] = level.posture(joints)
            J = place.jacobian(q[i])[self.axes] @ level.S
            inverse = np.linalg.pinv(J)
            qd[i] = level.whole(inverse @ want.first[i, self.axes])
            bend = self.acceleration(q[i], qd[i], np.zeros(arm.nv))[self.axes]
            qdd[i] = level.whole(inverse @ (want.second[i, self.axes] - bend))
        return whole_motion(self.arm, q, qd, qdd)

    def _reached(self, joints: Array, want: Array, t: float) -> Array:
        """Posture next to `joints` with the tip at its place, in the chosen axes."""
        level, place = self._real_level, self._real_place
        for _ in range(_MAX_STEPS):
            q = level.posture(joints)
            miss = (want - place.value(q))[self.axes]
            J = place.jacobian(q)[self.axes] @ level.S
            values = np.linalg.svd(J, compute_uv=False)
            if not values[-1] > _MIN_CONDITION * values[0]:
                break
            joints = level.moved(joints, np.linalg.pinv(J) @ miss)
            if np.abs(miss).max() < 1e-12:
                return joints
        named = ", ".join(_AXES[k] for k in self.axes)
        raise ArgumentError(
            f"path is out of reach or leads through a singular posture at t = {t:.4g} "
            f"s, in the axes {named} of ({', '.join(f'{x:.4g}' for x in want)}) m; "
            "expected a path within the workspace, or another start (branch)"
        )

    def acceleration(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(..., 3) acceleration of the tip of the real arm."""
        quiet = self.real.kernels.quiet
        own = quiet("node_acceleration")(self.real.tip_node, q, qd, qdd)[..., 3:]
        turn = quiet("node_pose")(self.real.tip_node, q)[..., :3, :3]
        return np.asarray((turn @ own[..., np.newaxis])[..., 0])

    def rests(self, last: float) -> Rests:
        """Static states with the tip where it is at the start and at a later time."""
        rigid, _, _ = self.rigid(np.array([0.0, last]))
        q0, tau0 = self.at_rest(0.0, rigid[0])
        q1, tau1 = self.at_rest(last, rigid[1] + q0 - rigid[0])
        return Rests(np.stack([q0, q1]), np.stack([tau0, tau1]), rigid)

    def deflected(self, t: Array, rests: Rests, q: Array) -> Array:
        """Motion (n, nv) of the rigid arm with the static deflection of its ends."""
        part = self.to.along(t).s[:, np.newaxis]
        bent = rests.q - rests.rigid
        return np.asarray(q + ((1.0 - part) * bent[0] + part * bent[1]))

    def _moved(self, q: Array, change: Array) -> Array:
        if self.arm.nq == self.arm.nv:
            return q + change
        return np.asarray(self.arm.kernels.integrate(q, change))

    def at_rest(self, t: float, q: Array) -> tuple[Array, Array]:
        """Static state with the tip where it is at a time, next to q; its forces.

        Newton's method on inverse dynamics at rest and the place of the tip, with the
        least change of joints that the path does not need.
        """
        arm, rest = self.arm, np.zeros(self.arm.nv)
        goal = self.goal(np.array([t]))
        forces = arm.kernels.quiet("inverse_dynamics")
        slope = arm.kernels.quiet("inverse_dynamics_derivatives")
        tau = np.linalg.lstsq(self.acts, forces(q, rest, rest), rcond=None)[0]
        zero = np.zeros((len(self.rows), arm.nu))
        for _ in range(_MAX_STEPS):
            gap = -np.append(
                forces(q, rest, rest) - self.acts @ tau, self.gap(q[np.newaxis], goal)
            )
            K = slope(q, rest, rest)[0]
            slopes = self.slopes(q[np.newaxis], goal)[0]
            tangent = np.block([[K, -self.acts], [slopes, zero]])
            if not np.isfinite(tangent).all():
                break
            change = _solved(tangent, gap)
            q, tau = self._moved(q, change[: arm.nv]), tau + change[arm.nv :]
            if np.abs(change[: arm.nv]).max() < 1e-11:
                return q, tau
        raise ArgumentError(
            f"the arm has no static state with its tip at its place at t = {t:.4g} s, "
            "expected a place where it can be held; see flexarm.equilibrium"
        )


def _solved(A: Array, b: Array) -> Array:
    """Smallest solution of equations with different units."""
    rows = 1.0 / np.maximum(np.abs(A).max(axis=1), 1e-300)
    sizes = np.abs(A * rows[:, np.newaxis]).max(axis=0)
    # what acts on nothing stays where it is, and its rounding is not enlarged
    columns = 1.0 / np.where(sizes > _ROUNDING, sizes, 1.0)
    scaled = A * rows[:, np.newaxis] * columns
    return np.asarray(columns * np.linalg.lstsq(scaled, b * rows, rcond=1e-13)[0])


def _chosen(axes: str | None, can: Index) -> Index:
    """Numbers of the axes with these names."""
    named = "".join(_AXES[k] for k in can)
    if not (isinstance(axes, str) and axes and len(set(axes)) == len(axes)):
        raise ArgumentError(f"axes is {axes!r}, expected a text such as {named!r}")
    if not set(axes) <= set(named):
        raise ArgumentError(
            f"axes is {axes!r}, but the tip of this arm moves along {named!r} alone; "
            "expected some of these"
        )
    return np.array(sorted(_AXES.index(letter) for letter in axes))
