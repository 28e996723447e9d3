"""What a tip is asked to do: a trajectory, and who can follow it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._calls.arguments import (
    check_arm,
    check_choice,
    check_numbers,
    positive_number,
    real_array,
)
from ...errors import ArgumentError
from .._collocation.tip import Place
from .._path import Path, PathPoints
from .._rigid import RigidLevel
from ..paths import _LAWS as LAWS
from ..paths import TimeLaw, follow, time_law

if TYPE_CHECKING:
    from ...arm import Arm

Array = NDArray[np.float64]

_AXES = "xyz"
_SAMPLES = 401  # of a function of time, for its derivatives
_RESTING = 0.02  # part of the largest speed that counts as rest
_NEWTON = 50  # most steps
_SINGULAR = 1e-4  # smallest over largest singular value, as in `paths.follow`
_MOVES = 1e-9  # part of the Jacobian that counts as motion


@dataclass(frozen=True, eq=False)
class Timed:
    """Trajectory of a tip: a curve, and when it is where.

    `place` is exact; derivatives are those of `path`, run through by `law`.
    """

    path: Path
    duration: float
    law: str  # a time law, or "" where the parameter is the time itself
    place: Callable[[Array], Array]

    def along(self, t: Array) -> TimeLaw:
        """Parameter of the curve and its derivatives; rest outside of the motion."""
        if self.law:
            law = time_law(self.law, t, self.duration)
            return law._replace(s=np.clip(law.s, 0.0, 1.0))
        inside = (t >= 0.0) & (t <= self.duration)
        s = np.clip(t / self.duration, 0.0, 1.0)
        return TimeLaw(s, inside / self.duration, 0.0 * s)

    def moving_ends(self) -> str:
        """A sentence if the tip does not start from rest and end at rest."""
        t = np.linspace(0.0, self.duration, _SAMPLES)
        speed = np.linalg.norm(self.at(t).first, axis=-1)
        if max(speed[0], speed[-1]) <= _RESTING * speed.max():
            return ""
        return (
            f"the tip starts with {speed[0]:.3g} m/s and ends with {speed[-1]:.3g} "
            "m/s, expected rest at both ends, where a flexible arm waits; take one of "
            "optimize.paths with a law, or let the places follow optimize.paths."
            "time_law"
        )

    @property
    def extent(self) -> float:
        """Largest distance of the trajectory from its start, in m."""
        place = self.place(np.linspace(0.0, self.duration, 41))
        return float(np.linalg.norm(place - place[0], axis=-1).max())

    def when(self, told: str) -> str:
        """Words for the time of a path parameter that a sentence tells."""
        found = re.search(r"s = ([0-9.e+-]+[0-9])", told)
        if not found:
            return ""
        t = np.linspace(0.0, self.duration, _SAMPLES)
        at = np.interp(float(found[1]), self.along(t).s, t)
        return f" (at t = {at:.3g} s)"

    def at(self, t: Array) -> PathPoints:
        """Place, velocity and acceleration, (n, 3) each."""
        s, sd, sdd = self.along(t)
        p, first, second = self.path(s)
        sd, sdd = sd[:, np.newaxis], sdd[:, np.newaxis]
        return PathPoints(p, first * sd, second * sd**2 + first * sdd)


def timed(path: Any, duration: Any, law: str) -> Timed:
    """The trajectory that a caller gives in one of several ways."""
    if path is None:
        raise ArgumentError(
            "path is None, expected one of optimize.paths, a function of time, or "
            "samples of the tip"
        )
    if isinstance(path, Path):
        if path.space != "tip":
            raise ArgumentError(
                "path is one of the joints, expected one of the tip, such as "
                "optimize.paths.line(start, end); joints that follow a path are no "
                "inverse problem of the tip"
            )
        T = _duration(duration)
        check_choice("law", law, LAWS)

        def point(t: Array) -> Array:
            return path(np.clip(time_law(law, t, T).s, 0.0, 1.0)).position

        return Timed(path, T, law, point)
    if callable(path):
        T = _duration(duration)

        def place(t: Array) -> Array:
            return _called(path, np.clip(t, 0.0, T))

        s = np.linspace(0.0, 1.0, _SAMPLES)
        return Timed(_through(s, place(T * s)), T, "", place)
    if isinstance(path, tuple) and len(path) == 2:
        t, points = _sampled(*path)
        T = float(t[-1] - t[0])
        if duration is not None and abs(_duration(duration) - T) > 1e-9 * T:
            raise ArgumentError(
                f"duration is {duration:g} s and the times of the samples span {T:g} "
                "s, expected the same, or no duration"
            )
    else:
        points = _points("path", path)
        T = _duration(duration)
        t = np.linspace(0.0, T, len(points))
    curve = _through((t - t[0]) / T, points)
    return Timed(curve, T, "", lambda t: curve(np.clip(t / T, 0.0, 1.0)).position)


def _duration(duration: Any) -> float:
    if duration is None:
        raise ArgumentError("duration is missing, expected a positive time in s")
    return positive_number("duration", duration)


def _called(function: Any, t: Array) -> Array:
    """Values of a function of time, which may know single times alone."""
    try:
        values = np.asarray(function(t), dtype=np.float64)
        whole = values.ndim == 2 and len(values) == len(t)
    except (TypeError, ValueError):
        whole = False
    if not whole:
        values = real_array("path(t)", [function(float(x)) for x in t])
    if values.ndim != 2 or values.shape[1] not in (2, 3):
        raise ArgumentError(
            f"path(t) gives shape {values.shape[1:]} at one time, expected (3,) or "
            "(2,): a place of the tip"
        )
    wrong = ~np.isfinite(values).all(axis=1)
    if wrong.any():
        raise ArgumentError(
            f"path(t) is not finite at t = {t[int(wrong.argmax())]:g} s, expected a "
            "place of the tip"
        )
    return np.pad(values, ((0, 0), (0, 3 - values.shape[1])))


def _points(name: str, value: Any) -> Array:
    points: Array = real_array(name, value)
    if points.ndim != 2 or points.shape[1] not in (2, 3) or len(points) < 6:
        raise ArgumentError(
            f"{name} has shape {points.shape}, expected (n, 3) or (n, 2), six or more "
            "samples of the tip; or one of optimize.paths; or a function of time"
        )
    check_numbers(name, points)
    return np.pad(points, ((0, 0), (0, 3 - points.shape[1])))


def _sampled(times: Any, places: Any) -> tuple[Array, Array]:
    t: Array = real_array("times of the path", times)
    points = _points("places of the path", places)
    if t.shape != (len(points),):
        raise ArgumentError(
            f"times of the path have shape {t.shape}, expected ({len(points)},), one "
            "for each place"
        )
    check_numbers("times of the path", t)
    falls = np.flatnonzero(np.diff(t) <= 0.0)
    if len(falls):
        k = int(falls[0])
        raise ArgumentError(
            f"times of the path do not increase: {t[k + 1]:g} s comes after {t[k]:g} "
            "s, expected increasing times"
        )
    return t, points


def _through(s: Array, points: Array) -> Path:
    """Quintic spline through samples."""
    from scipy.interpolate import make_interp_spline

    curve = make_interp_spline(s, points, k=5)
    derivatives = curve.derivative(1), curve.derivative(2)

    def place(at: Array) -> PathPoints:
        return PathPoints(curve(at), *(d(at) for d in derivatives))

    return Path("tip", "samples", points, place)


class Answer(NamedTuple):
    """What a method of `track` found."""

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
    details: dict[str, Any]


class Rests(NamedTuple):
    """Static states (2, nv) of a motion, their forces, the same of the rigid arm."""

    q: Array
    tau: Array
    rigid: Array


class TipTask:
    """A tip that shall follow a trajectory, in some of its coordinates."""

    def __init__(self, arm: Arm, to: Timed, start: Any, axes: Any) -> None:
        check_arm(arm)
        self.arm, self.to, self.start = arm, to, start
        self._place = Place(arm)
        self.level = RigidLevel(arm, "tracking")
        self.acts = np.zeros((arm.nv, arm.nu))
        self.acts[arm.actuator_indices, np.arange(arm.nu)] = 1.0
        can = self._axes_that_move()
        self.axes = can if axes is None else _chosen(axes, can)
        if not len(self.axes):
            raise ArgumentError("the tip of the arm does not move, expected joints")
        self.whole = len(self.axes) == len(can)

    def _axes_that_move(self) -> NDArray[np.intp]:
        draw = np.random.default_rng(0).uniform(-1.0, 1.0, (8, self.arm.nu))
        J = self.jacobian(self.level.whole(draw))
        sizes = np.abs(J).max(axis=(0, 2), initial=0.0)
        return np.flatnonzero(sizes > _MOVES * max(sizes.max(), 1e-300))

    def tip(self, q: Array) -> Array:
        """(..., 3) place of the tip."""
        return self._place.value(q)

    def jacobian(self, q: Array) -> Array:
        """(..., 3, nv) of the place of the tip, in the axes of the base."""
        return self._place.jacobian(q)

    def miss(self, t: Array, q: Array) -> Array:
        """(n, m) places of the tip less the wanted ones, in the chosen axes."""
        return np.asarray((self.tip(q) - self.to.place(t))[:, self.axes])

    def rigid(self, t: Array) -> tuple[Array, Array, Array]:
        """Coordinates, rates and accelerations of the arm with its modes at rest."""
        s, sd, sdd = self.to.along(t)
        if not self.whole:
            return self._rigid_in_part(t)
        grid, back = np.unique(np.append(s, [0.0, 1.0]), return_inverse=True)
        back = back[: len(t)]
        try:
            motion = follow(self.arm, self.to.path, grid, start=self.start)
        except ArgumentError as error:
            raise ArgumentError(f"{error}{self.to.when(str(error))}") from None
        q, first, second = motion.q[back], motion.first[back], motion.second[back]
        sd, sdd = sd[:, np.newaxis], sdd[:, np.newaxis]
        return q, first * sd, second * sd**2 + first * sdd

    def _rigid_in_part(self, t: Array) -> tuple[Array, Array, Array]:
        """The same where the tip follows in some of its axes, one time after another.

        Without a start from the neutral posture.
        """
        level, arm, n = self.level, self.arm, self.arm.nu
        joints = np.zeros(n) if self.start is None else _posture(arm, self.start)
        want = self.to.at(t)
        q, qd, qdd = (np.zeros((len(t), arm.nv)) for _ in range(3))
        for i, at in enumerate(t):
            joints = self._reached(joints, want.position[i], float(at))
            q[i] = level.whole(joints)
            J = self.jacobian(q[i])[self.axes] @ level.S
            inverse = np.linalg.pinv(J)
            qd[i] = level.whole(inverse @ want.first[i, self.axes])
            bend = self.acceleration(q[i], qd[i], np.zeros(arm.nv))[self.axes]
            qdd[i] = level.whole(inverse @ (want.second[i, self.axes] - bend))
        return q, qd, qdd

    def _reached(self, joints: Array, want: Array, t: float) -> Array:
        """Posture next to another one whose tip is where it shall be in its axes."""
        for _ in range(_NEWTON):
            q = self.level.whole(joints)
            miss = (want - self.tip(q))[self.axes]
            J = self.jacobian(q)[self.axes] @ self.level.S
            values = np.linalg.svd(J, compute_uv=False)
            if not values[-1] > _SINGULAR * values[0]:
                break
            joints = joints + np.linalg.pinv(J) @ miss
            if np.abs(miss).max() < 1e-12:
                return joints
        named = ", ".join(_AXES[k] for k in self.axes)
        raise ArgumentError(
            f"path is out of reach or leads through a singular posture at t = {t:.4g} "
            f"s, in the axes {named} of ({', '.join(f'{x:.4g}' for x in want)}) m; "
            "expected a path within the workspace, or another start (branch)"
        )

    def acceleration(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(..., 3) acceleration of the tip."""
        quiet = self.arm._model.quiet
        own = quiet("node_acceleration")(self.arm.tip_node, q, qd, qdd)[..., 3:]
        turn = quiet("node_pose")(self.arm.tip_node, q)[..., :3, :3]
        return np.asarray((turn @ own[..., np.newaxis])[..., 0])

    def rests(self, last: float) -> Rests:
        """Static states with the tip where it is at the begin and at a later time."""
        rigid, _, _ = self.rigid(np.array([0.0, last]))
        q0, tau0 = self.at_rest(0.0, rigid[0])
        q1, tau1 = self.at_rest(last, rigid[1] + q0 - rigid[0])
        return Rests(np.stack([q0, q1]), np.stack([tau0, tau1]), rigid)

    def deflected(self, t: Array, rests: Rests, q: Array) -> Array:
        """Motion (n, nv) of the rigid arm with the static deflection of its ends."""
        part = self.to.along(t).s[:, np.newaxis]
        bent = rests.q - rests.rigid
        return np.asarray(q + ((1.0 - part) * bent[0] + part * bent[1]))

    def at_rest(self, t: float, q: Array) -> tuple[Array, Array]:
        """Static state with the tip where it is at a time, next to q; its forces.

        Newton's method on inverse dynamics at rest and the place of the tip; of joints
        that the path does not need the change is least.
        """
        arm, rest, time = self.arm, np.zeros(self.arm.nv), np.array([t])
        forces = arm._model.quiet("inverse_dynamics")
        slope = arm._model.quiet("inverse_dynamics_derivatives")
        tau = np.linalg.lstsq(self.acts, forces(q, rest, rest), rcond=None)[0]
        zero = np.zeros((len(self.axes), arm.nu))
        for _ in range(_NEWTON):
            gap = -np.append(
                forces(q, rest, rest) - self.acts @ tau, self.miss(time, q[np.newaxis])
            )
            K = slope(q, rest, rest)[0]
            tangent = np.block([[K, -self.acts], [self.jacobian(q)[self.axes], zero]])
            if not np.isfinite(tangent).all():
                break
            change = _solved(tangent, gap)
            q, tau = q + change[: arm.nv], tau + change[arm.nv :]
            if np.abs(change[: arm.nv]).max() < 1e-11:
                return q, tau
        raise ArgumentError(
            f"the arm finds no rest with its tip where it shall be at t = {t:.4g} s, "
            "expected a place where it can be held; see flexarm.equilibrium"
        )


def _solved(A: Array, b: Array) -> Array:
    """Solution of least size, of equations of different units."""
    rows = 1.0 / np.maximum(np.abs(A).max(axis=1), 1e-300)
    columns = 1.0 / np.maximum(np.abs(A * rows[:, np.newaxis]).max(axis=0), 1e-300)
    scaled = A * rows[:, np.newaxis] * columns
    return np.asarray(columns * np.linalg.lstsq(scaled, b * rows, rcond=1e-13)[0])


def _posture(arm: Arm, start: Any) -> Array:
    given = real_array("start", start)
    if given.shape not in ((arm.nu,), (arm.nq,)):
        raise ArgumentError(
            f"start has shape {given.shape}, expected ({arm.nu},), one posture of the "
            "joints"
        )
    check_numbers("start", given)
    return np.array(given[: arm.nu])


def _chosen(axes: Any, can: NDArray[np.intp]) -> NDArray[np.intp]:
    """Numbers of the axes that a caller names."""
    named = "".join(_AXES[k] for k in can)
    if not (isinstance(axes, str) and axes and len(set(axes)) == len(axes)):
        raise ArgumentError(f"axes is {axes!r}, expected a text such as {named!r}")
    if not set(axes) <= set(named):
        raise ArgumentError(
            f"axes is {axes!r}, but the tip of this arm moves along {named!r} alone; "
            "expected some of these"
        )
    return np.array(sorted(_AXES.index(letter) for letter in axes))
