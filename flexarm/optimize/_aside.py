r"""Ways of an arm along a path of its tip that stay away from obstacles.

Of branches the first one that touches nothing is chosen.  Where the path leaves joints
free, they are led by functions of s: beside the path itself the joints obey

.. math:: C q = c(s)

with constant rows C, those along which the free motion turns least, and splines c.
Newton's method makes both exact at each s, and their derivatives are solutions of the
same linear equations (H. Seraji, IEEE Trans. Robotics Automation 5(4), 1989, 472-490).
Coefficients of c are those of least squares: of what is missing of clearances and
limits of joints, and of their own changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._support.arrays import Array
from ..arm import Arm
from ..errors import ArgumentError
from ._charts import chart_of, charted_along, coordinates
from ._clearance import Clearance
from ._follow import Begin, Led, PathTracer, SingularError
from ._path import Path
from ._rigid import RigidLevel
from .limits import Limits, clearance_of

# Points of a path at which the search looks at distances: fewer let obstacles pass
# between them, more cost in proportion.
_SEARCH_POINTS = 61
# Points of a path at which its answer is judged.
_CHECK_POINTS = 401
# Room in addition to a least distance, as part of it, because flexible arms swing:
# without it their motions touch what the path clears.
_MARGIN_SHARE = 0.4
# Room in rad or m that is left to limits of joints, of which deflections take a part.
_LIMIT_ROOM = 0.02
# Branches that are led aside, the most promising first: each costs a search.
_MAX_BRANCHES = 3
# Offsets in rad or m of the first motions of a search, to both sides, since a search
# stays on its side.
_OFFSETS = (0.4, -0.4, 0.9, -0.9)
# Coefficients of each function of s: a motion turns aside as often as it has some for,
# and the least squares grow with them.
_COEFFICIENTS = 12
# Degree of these splines, whose accelerations are then smooth.
_DEGREE = 5
# Weight of changes of the coefficients beside least distances: small, so that distances
# decide and changes only choose among ways that are clear.
_CHANGE_WEIGHT = 1e-3
# Steps of Newton's method back to the path, which converges quadratically.
_MAX_CORRECTIONS = 8
# Distance in m or rad from the path at which these steps end.
_PATH_TOLERANCE = 1e-8
# Steps of least squares at most.
_MAX_STEPS = 20
# Part of the sum of squares that a step gains at least; with less the search ends.
_MIN_GAIN = 1e-2
# Smallest singular value of C in the free motions that counts as independent of the
# path: below it the coefficients do not determine the motion.
_MIN_INDEPENDENCE = 0.05


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A branch: joints (n, nu) along the path, and its least room in m."""

    first: Array
    joints: Array
    room: float


def clear_start(arm: Arm, path: Path, start: Begin, limits: Limits | None) -> Begin:
    """Start of `follow` that keeps away from obstacles: a posture, or a `Led`.

    The start itself without obstacles, or where all ways touch something.
    """
    if limits is None or path.space != "tip":
        return start
    clearance = clearance_of(arm, limits)
    if clearance is None or not clearance.pairs:
        return start
    tracer = PathTracer(RigidLevel(arm, "motion along a path"), path)
    s = np.linspace(0.0, 1.0, _SEARCH_POINTS)
    bounds = np.asarray(limits.position)
    found: list[_Candidate] = []
    first = tracer.first_posture(start, 0.0)
    for joints in [first] if start is not None else tracer.branches(first, 0.0):
        try:
            q = tracer.run(s, joints)[0][:, : tracer.level.n_positions]
        except (SingularError, ArgumentError):
            continue
        room = _least_room(tracer.level, clearance, q)
        if room >= 0.0 and _within(tracer.level.scalars(q), bounds):
            return start if joints is first and start is not None else joints
        found.append(_Candidate(joints, q, room))
    found.sort(key=lambda x: -x.room)
    if arm.nj > tracer.rank:
        for candidate in found[:_MAX_BRANCHES]:
            led = _led_by_sums(tracer, s, candidate.joints, limits)
            if led is not None:
                return led
    return start


def _led_by_sums(
    tracer: PathTracer, s: Array, joints: Array, limits: Limits
) -> Led | None:
    """The same as `_led_aside`, with quaternions in coordinates that add."""
    q = tracer.level.posture(joints)
    own = charted_along(tracer.arm, q)
    if own is not tracer.arm:
        joints = coordinates(own, q)[:, : tracer.level.n]
        tracer = PathTracer(RigidLevel(own, "motion along a path"), tracer.path)
    clearance = clearance_of(own, limits)
    assert clearance is not None
    led = _led_aside(tracer, s, joints, clearance, np.asarray(limits.position))
    return led if led is None or chart_of(own) is None else replace(led, arm=own)


def _least_room(level: RigidLevel, clearance: Clearance, joints: Array) -> float:
    near = clearance.nearest(level.posture(joints)) - clearance.least
    return float(near.min())


def _within(joints: Array, limits: Array) -> bool:
    low, high = limits
    return bool(((joints >= low - 1e-6) & (joints <= high + 1e-6)).all())


class _Search:
    """Least squares of the coefficients of C q = c(s) on a grid of s."""

    def __init__(
        self,
        tracer: PathTracer,
        s: Array,
        joints: Array,
        clearance: Clearance,
        limits: Array,
    ) -> None:
        from scipy.interpolate import BSpline

        self.tracer, self.s, self.joints = tracer, s, joints
        self.clearance, self.limits = clearance, limits
        self.wanted = tracer.rows.wanted(s)
        free = tracer.free(joints)
        # the directions that are free most of the way
        self.r = joints.shape[1] - tracer.rank
        self.C = np.linalg.eigh(free.mean(axis=0))[1][:, -self.r :].T
        parts = np.linalg.svd(free @ self.C.T, compute_uv=False)
        self.regular = bool(parts.min() > _MIN_INDEPENDENCE)
        inner = np.linspace(0.0, 1.0, _COEFFICIENTS - _DEGREE + 1)
        self.knots = np.pad(inner, _DEGREE, mode="edge")
        self.basis = BSpline(self.knots, np.eye(_COEFFICIENTS), _DEGREE)(s)
        self.x0 = np.linalg.lstsq(self.basis, joints @ self.C.T, rcond=None)[0]

    def solved(self, x: Array) -> Array | None:
        """Joints (n, nu) with these coefficients, next to those known; None without."""
        c, q = self.basis @ x.reshape(-1, self.r), self.joints
        for _ in range(_MAX_CORRECTIONS):
            miss = self.tracer.rows.miss(self.wanted, q)
            gap = np.hstack([miss, c - q @ self.C.T])
            if np.abs(gap).max() < _PATH_TOLERANCE:
                return q
            q = q + self.tracer.led_step(q, self.C, gap)
            if not np.isfinite(q).all():
                return None
        return None

    def residual(self, x: Array, q: Array) -> Array:
        """Distances that are missing, as parts of the least ones, and changes."""
        level, low = self.tracer.level, self.clearance.low
        d = self.clearance.values(level.whole(q))
        short = np.maximum(low * (1.0 + _MARGIN_SHARE) - d, 0.0) / low.max()
        under = np.maximum(self.limits[0] + _LIMIT_ROOM - q, 0.0)
        over = np.maximum(q - self.limits[1] + _LIMIT_ROOM, 0.0)
        calm = _CHANGE_WEIGHT * (self._changes @ (x.reshape(-1, self.r) - self.x0))
        return np.concatenate([x.ravel() for x in (short, under, over, calm)])

    @property
    def _changes(self) -> Array:
        """Coefficients and their second differences."""
        n = _COEFFICIENTS
        return np.vstack([0.1 * np.eye(n), np.diff(np.eye(n), 2, axis=0)])

    def jacobian(self, q: Array) -> Array:
        """Derivatives of the residual by the coefficients."""
        level, low, nu = self.tracer.level, self.clearance.low, q.shape[1]
        n, m = len(q), self.tracer.jacobian(q).shape[1]
        units = np.zeros((n, m + self.r, self.r))
        units[:, m:] = np.eye(self.r)
        by_c = np.stack(
            [self.tracer.led_step(q, self.C, units[..., k]) for k in range(self.r)], -1
        )
        # by coefficients (K, r) through the basis at each s
        by = np.einsum("nir,nk->nikr", by_c, self.basis).reshape(n, nu, -1)
        whole = level.whole(q)
        d = self.clearance.values(whole)
        slopes = self.clearance.slopes(whole) @ level.S
        near = d < low * (1.0 + _MARGIN_SHARE)
        short = -(slopes @ by) * near[..., None] / low.max()
        under = -by * (q < self.limits[0] + _LIMIT_ROOM)[..., None]
        over = by * (q > self.limits[1] - _LIMIT_ROOM)[..., None]
        calm = _CHANGE_WEIGHT * np.kron(self._changes, np.eye(self.r))
        k = by.shape[-1]
        return np.vstack([x.reshape(-1, k) for x in (short, under, over, calm)])


def _led_aside(
    tracer: PathTracer, s: Array, joints: Array, clearance: Clearance, limits: Array
) -> Led | None:
    """The free joints led such that nothing is touched, None if none is found."""
    search = _Search(tracer, s, joints, clearance, limits)
    if not search.regular:
        return None
    sides = [size * e for size in _OFFSETS for e in np.eye(search.r)]
    for offset in [np.zeros(search.r), *sides]:
        search.joints = joints
        x = (search.x0 + offset).ravel()
        q = search.solved(x)
        if q is None:
            continue
        x, search.joints = _least_squares(search, x, q)
        led = _led(search, x)
        try:
            fine = tracer.led(np.linspace(0.0, 1.0, _CHECK_POINTS), led)
        except SingularError:
            continue
        q = fine[0][:, : joints.shape[1]]
        room = _least_room(tracer.level, clearance, q)
        if room >= 0.0 and _within(q, limits):
            return led
    return None


def _least_squares(search: _Search, x: Array, q: Array) -> tuple[Array, Array]:
    """Coefficients of Levenberg-Marquardt steps, and their joints."""
    search.joints = q
    r, damping = search.residual(x, q), 1e-3
    for _ in range(_MAX_STEPS):
        J = search.jacobian(q)
        A, g = J.T @ J, J.T @ r
        size = float(np.diagonal(A).max())
        while damping < 1e3:
            dx = np.linalg.solve(A + damping * size * np.eye(len(A)), -g)
            new = search.solved(x + dx)
            if new is not None:
                r_new = search.residual(x + dx, new)
                if r_new @ r_new < r @ r:
                    break
            damping *= 10.0
        else:
            return x, q
        gain = 1.0 - float(r_new @ r_new) / float(r @ r)
        x, q, r, damping = x + dx, new, r_new, max(0.1 * damping, 1e-9)
        search.joints = q
        if gain < _MIN_GAIN:
            break
    return x, q


def _led(search: _Search, x: Array) -> Led:
    from scipy.interpolate import BSpline, CubicSpline

    curve = BSpline(search.knots, x.reshape(-1, search.r), _DEGREE)
    near: Callable[[Array], Array] = CubicSpline(search.s, search.joints)
    return Led(search.C, curve, near)
