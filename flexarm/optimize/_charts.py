r"""Arms with quaternions in coordinates of which velocities are the rates.

Optimizations take positions whose rates are the velocities.  Of a joint with a
quaternion they see a rotation vector :math:`\phi` about a posture in the middle of the
motion, :math:`R = \bar R\, e^{\hat\phi}`, and of a free joint the displacement r of its
origin in the axes there.  Velocities of the arm are those of the body in its own axes,

.. math:: \omega = J(\phi)\, \dot\phi, \qquad v = e^{-\hat\phi}\, \dot r

with the right Jacobian J of the rotation group, accelerations their derivatives by
time.  Forces stay those of the arm, so that actuators act as they did.  All derivatives
are exact; those of J are complex steps through its closed form.

One such chart holds up to a full turn either way of its middle, where J is singular.

References: A. Mueller, *Coordinate mappings for rigid body motions*, J. Comput.
Nonlinear Dyn. 12(2), 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import se3
from .._calls.arm_like import Array, Kernels
from ..arm import Arm
from ..errors import ArgumentError

Complex: TypeAlias = NDArray[np.complex128] | Array  # of steps in the complex plane

# Step of complex derivatives, which subtract nothing: any size far above underflow has
# the same digits.
_COMPLEX_STEP = 1e-30
# Square of an angle below which series are summed: closed forms cancel below it, series
# lose digits above it.
_SERIES_SQUARE = 1e-2
# Angle in rad from the middle of a chart at most: charts are singular at a full turn.
_MAX_TURN = 5.0
# Part of a quaternion within which it is at a half turn, whose axis has two directions.
_TIE_TOLERANCE = 1e-9


class _Joint(NamedTuple):
    """A joint with a quaternion: places in q and in velocities, and its middle."""

    positions: slice
    velocities: slice
    middle: Array  # (4,) or (7,)

    @property
    def size(self) -> int:
        """Three, or six of a free joint."""
        return int(self.velocities.stop - self.velocities.start)


def _series(s: Complex) -> tuple[Complex, ...]:
    """A = sin t / t, B = (1 - cos t) / s, C = (t - sin t) / t s, dB/ds, dC/ds.

    Of s = t^2, complex too.
    """
    small = np.abs(s) < _SERIES_SQUARE
    x = np.where(small, 1.0, s)
    t = np.sqrt(x)
    A = np.sin(t) / t
    B = (1.0 - np.cos(t)) / x
    C = (1.0 - A) / x
    far = A, B, C, (0.5 * A - B) / x, ((A - np.cos(t)) / (2.0 * x) - C) / x
    k = [1.0]
    for i in range(1, 20):
        k.append(k[-1] / i)  # 1 / i!
    near = []
    for first in (1, 2, 3):
        near.append(sum((-s) ** j * k[first + 2 * j] for j in range(7)))
    for first in (2, 3):
        near.append(sum(-j * (-s) ** (j - 1) * k[first + 2 * j] for j in range(1, 8)))
    A, B, C, dB, dC = (np.where(small, n, f) for n, f in zip(near, far, strict=True))
    return A, B, C, dB, dC


def _dot(a: Complex, b: Complex) -> Complex:
    return np.asarray((a * b).sum(axis=-1, keepdims=True))


def _motion(y: Complex) -> Complex:
    """Velocities and accelerations (..., 2 m) of coordinates and rates (..., 3 m)."""
    m = y.shape[-1] // 3
    x, xd, xdd = y[..., :m], y[..., m : 2 * m], y[..., 2 * m :]
    p, pd, pdd = x[..., :3], xd[..., :3], xdd[..., :3]
    A, B, C, dB, dC = _series(_dot(p, p))
    along = 2.0 * _dot(p, pd)
    once, twice = np.cross(p, pd), np.cross(p, pdd)
    w = pd - B * once + C * np.cross(p, once)
    wd = pdd - B * twice + C * (np.cross(p, twice) + np.cross(pd, once))
    wd = wd - dB * along * once + dC * along * np.cross(p, once)
    if m == 3:
        return np.concatenate([w, wd], axis=-1)

    def back(u: Complex) -> Complex:  # by exp(-p)
        first = np.cross(p, u)
        return u - A * first + B * np.cross(p, first)

    v = back(xd[..., 3:])
    return np.concatenate([w, v, wd, back(xdd[..., 3:]) - np.cross(w, v)], axis=-1)


def _slopes(y: Array) -> Array:
    """Derivatives (..., 2 m, 3 m) of `_motion`."""
    n = y.shape[-1]
    found = (
        _motion(y[..., None, :] + 1j * _COMPLEX_STEP * np.eye(n)).imag / _COMPLEX_STEP
    )
    return np.asarray(found.swapaxes(-1, -2))


class Rates(NamedTuple):
    """Velocities v and accelerations a (..., nv), and derivatives (..., nv, nv).

    ``S`` are those of v by the rates, of a by their rates, and of displacements of q;
    ``v_x`` those of v by the coordinates, ``a_x`` and ``a_xd`` those of a.
    """

    v: Array
    a: Array
    S: Array
    v_x: Array
    a_x: Array
    a_xd: Array


class Chart:
    """Coordinates (nv,) of an arm about a posture, see the module.

    Parameters
    ----------
    arm : ArmLike
        Arm with spherical or free joints.
    middle : (nq,) array_like of float
        The posture.
    """

    def __init__(self, arm: Arm, middle: ArrayLike) -> None:
        self.arm = arm
        self.middle = np.array(middle, dtype=float)
        self.joints: list[_Joint] = []
        self.turning = np.zeros(arm.nv, dtype=bool)  # velocities of these joints
        kept = np.ones(arm.nq, dtype=bool)
        for k, body in enumerate(arm.bodies):
            if not body.joint.has_pose:
                continue
            at = arm.body_joint_slice(k, positions=True)
            own = arm.body_joint_slice(k)
            self.joints.append(_Joint(at, own, self.middle[at]))
            self.turning[own], kept[at] = True, False
        self.plain = np.flatnonzero(kept), np.flatnonzero(~self.turning)

    def positions(self, x: Array) -> Array:
        """Positions (..., nq) at coordinates (..., nv)."""
        q = np.empty((*x.shape[:-1], self.arm.nq))
        in_q, in_x = self.plain
        q[..., in_q] = x[..., in_x]
        for joint in self.joints:
            own, at = x[..., joint.velocities], joint.positions
            turn = se3.quaternion_exp(own[..., :3])
            turned = se3.quaternion_product(joint.middle[:4], turn)
            q[..., at.start : at.start + 4] = turned
            if joint.size == 6:
                R = se3.rotation_from_quaternion(joint.middle[:4])
                q[..., at.start + 4 : at.stop] = joint.middle[4:] + own[..., 3:] @ R.T
        return q

    def coordinates(self, q: Array) -> Array:
        """Coordinates (..., nv) of positions, in one piece along the first axis."""
        x = np.empty((*q.shape[:-1], self.arm.nv))
        in_q, in_x = self.plain
        x[..., in_x] = q[..., in_q]
        for joint in self.joints:
            at, own = joint.positions, joint.velocities
            inverse = se3.quaternion_inverse(joint.middle[:4])
            given = q[..., at.start : at.start + 4]
            phi = rotation_vector(se3.quaternion_product(inverse, given))
            x[..., own.start : own.start + 3] = _unwound(phi)
            if joint.size == 6:
                R = se3.rotation_from_quaternion(joint.middle[:4])
                off = q[..., at.start + 4 : at.stop] - joint.middle[4:]
                x[..., own.start + 3 : own.stop] = off @ R
        return x

    def _joint_motion(self, joint: _Joint, *parts: Array) -> Array:
        return np.concatenate([x[..., joint.velocities] for x in parts], axis=-1)

    def motion(self, x: Array, xd: Array, xdd: Array) -> tuple[Array, Array]:
        """Velocities and accelerations (..., nv) of the arm."""
        x, xd, xdd = np.broadcast_arrays(x, xd, xdd)
        v, a = xd.copy(), xdd.copy()
        for joint in self.joints:
            found = _motion(self._joint_motion(joint, x, xd, xdd))
            v[..., joint.velocities], a[..., joint.velocities] = np.split(
                found, 2, axis=-1
            )
        return v, a

    def rates(self, x: Array, xd: Array, xdd: Array) -> Rates:
        """Velocities and accelerations with their derivatives."""
        x, xd, xdd = np.broadcast_arrays(x, xd, xdd)
        v, a = self.motion(x, xd, xdd)
        n = self.arm.nv
        S, v_x, a_x, a_xd = (np.zeros((*x.shape, n)) for _ in range(4))
        S[...] = np.eye(n)
        for joint in self.joints:
            J = _slopes(self._joint_motion(joint, x, xd, xdd))
            m = joint.size
            own = joint.velocities
            S[..., own, own] = J[..., :m, m : 2 * m]
            v_x[..., own, own] = J[..., :m, :m]
            a_x[..., own, own] = J[..., m:, :m]
            a_xd[..., own, own] = J[..., m:, m : 2 * m]
        return Rates(v, a, S, v_x, a_x, a_xd)

    def turned(self, x: Array) -> Array:
        """S (..., nv, nv): velocities by rates of coordinates."""
        x, n = np.asarray(x), self.arm.nv
        S = np.zeros((*x.shape, n))
        S[...] = np.eye(n)
        for joint in self.joints:
            first = joint.velocities.start
            own, phi = slice(first, first + 3), x[..., first : first + 3]
            S[..., own, own] = se3.so3_jacobian(phi, side="right")
            if joint.size == 6:
                place = slice(first + 3, first + 6)
                S[..., place, place] = se3.so3_exp(-phi)
        return S

    def turn_slopes(self, x: Array) -> Array:
        """Derivatives (..., nv, nv, nv) of S by the coordinates, the last axis."""
        n, still = self.arm.nv, np.zeros(self.arm.nv)
        result = np.zeros((*x.shape, n, n))
        for joint in self.joints:
            own = joint.velocities
            for k in range(own.start, own.stop):
                unit = np.zeros(n)
                unit[k] = 1.0
                result[..., :, k, :] = self.rates(x, unit, still).v_x
        return result

    def rates_of(self, x: Array, v: Array) -> Array:
        """Rates (..., nv) of the coordinates at velocities of the arm."""
        xd = np.array(np.broadcast_arrays(x, v)[1])
        S = self.turned(np.asarray(x))
        for joint in self.joints:
            own = joint.velocities
            solved = np.linalg.solve(S[..., own, own], xd[..., own, None])
            xd[..., own] = solved[..., 0]
        return xd

    def pulled(self, x: Array, xd: Array, xdd: Array, found: Array) -> Array:
        """(..., 3, nv) derivatives by coordinates, rates and accelerations.

        From those by positions, velocities and accelerations of the arm.
        """
        r = self.rates(x, xd, xdd)
        g = np.asarray(found).reshape(*np.shape(r.v)[:-1], 3, 1, -1)
        by_q, by_v, by_a = (g[..., k, :, :] for k in range(3))
        rows = [
            by_q @ r.S + by_v @ r.v_x + by_a @ r.a_x,
            by_v @ r.S + by_a @ r.a_xd,
            by_a @ r.S,
        ]
        return np.concatenate(rows, axis=-2)


def rotation_vector(q: ArrayLike) -> Array:
    """Rotation vectors (..., 3) of quaternions, of a half turn one of the two axes."""
    q = np.array(q, dtype=float)
    half = np.abs(q[..., 0]) < _TIE_TOLERANCE * np.linalg.norm(q, axis=-1)
    if half.any():
        # the same one for both signs of the quaternion
        axis = q[..., 1:]
        lead = np.abs(axis) > 0.5 * np.abs(axis).max(axis=-1, keepdims=True)
        first = np.take_along_axis(axis, lead.argmax(axis=-1)[..., None], -1)
        sign = np.where(first < 0.0, -1.0, 1.0)
        q = np.where(half[..., None], q * sign, q)
        q[..., 0] = np.where(half, np.abs(q[..., 0]), q[..., 0])
    return np.asarray(se3.quaternion_log(q))


def _unwound(phi: Array) -> Array:
    """Rotation vectors (n, ..., 3) that do not jump by a turn from one to the next."""
    if phi.ndim < 2 or not (np.abs(np.diff(phi, axis=0)) > 1.0).any():
        return phi
    phi = phi.copy()
    for i in range(1, len(phi)):
        size = np.linalg.norm(phi[i], axis=-1, keepdims=True)
        axis = phi[i] / np.where(size > 0.0, size, 1.0)
        turns = np.round((_dot(phi[i - 1], axis) - size) / (2.0 * np.pi))
        phi[i] += np.where(size > 0.0, 2.0 * np.pi * turns, 0.0) * axis
    return phi


class _Kernels(Kernels):
    """Kernels of an arm as functions of the coordinates of a chart.

    Forces are those of the arm; what the mass matrix and the derivatives of forces act
    on are rates of coordinates.
    """

    def __init__(self, chart: Chart) -> None:
        self._chart, self._quiet = chart, chart.arm.kernels.quiet

    def quiet(self, name: str, threads: int = 1, /) -> Callable[..., Array]:
        """The function of this name."""
        found: Callable[..., Array] = getattr(self, name)
        return found

    def _of(self, name: str, *operands: object) -> Array:
        """Result of a kernel of the arm."""
        return np.asarray(self._quiet(name)(*operands))

    def _at(self, x: Array) -> tuple[Array, Array]:
        x = np.asarray(x, dtype=float)
        return x, self._chart.positions(x)

    def inverse_dynamics(self, x: Array, xd: Array, xdd: Array) -> Array:
        """Forces (..., nv)."""
        x, q = self._at(x)
        return self._of("inverse_dynamics", q, *self._chart.motion(x, xd, xdd))

    def bias_forces(self, x: Array, xd: Array) -> Array:
        """Forces (..., nv) without accelerations of the coordinates."""
        return self.inverse_dynamics(x, xd, np.zeros(np.shape(xd)))

    def inverse_dynamics_derivatives(self, x: Array, xd: Array, xdd: Array) -> Array:
        """(..., 2, nv, nv) by coordinates and rates."""
        x, q = self._at(x)
        r = self._chart.rates(x, xd, xdd)
        both = self._of("inverse_dynamics_derivatives", q, r.v, r.a)
        by_q, by_v = both[..., 0, :, :], both[..., 1, :, :]
        M = self._of("mass_matrix", q)
        by_x = by_q @ r.S + by_v @ r.v_x + M @ r.a_x
        return np.stack([by_x, by_v @ r.S + M @ r.a_xd], axis=-3)

    def inverse_dynamics_vjp(
        self, x: Array, xd: Array, xdd: Array, force: Array
    ) -> Array:
        """(..., 3, nv) derivatives of a combination of the forces."""
        x, q = self._at(x)
        v, a = self._chart.motion(x, xd, xdd)
        found = self._of("inverse_dynamics_vjp", q, v, a, force)
        return self._chart.pulled(x, xd, xdd, found)

    def mass_matrix(self, x: Array) -> Array:
        """(..., nv, nv) derivatives of forces by accelerations of the coordinates."""
        x, q = self._at(x)
        return self._of("mass_matrix", q) @ self._chart.turned(x)

    def apply_mass_matrix_inverse(self, x: Array, force: Array) -> Array:
        """Accelerations (..., nv) of the coordinates."""
        x, q = self._at(x)
        a = self._of("apply_mass_matrix_inverse", q, force)
        return self._chart.rates_of(x, a)

    def integrate(self, x: Array, dx: Array, out: Array | None = None) -> Array:
        """(..., nv) coordinates after changes, which add."""
        return np.asarray(np.add(x, dx, out=out))

    def node_pose(self, node: int, x: Array) -> Array:
        """(..., 4, 4) poses."""
        return self._of("node_pose", node, self._at(x)[1])

    def node_velocity(self, node: int, x: Array, xd: Array) -> Array:
        """(..., 6) twists."""
        x, q = self._at(x)
        v, _ = self._chart.motion(x, xd, np.zeros(np.shape(xd)))
        return self._of("node_velocity", node, q, v)

    def node_acceleration(self, node: int, x: Array, xd: Array, xdd: Array) -> Array:
        """(..., 6) accelerations."""
        x, q = self._at(x)
        return self._of("node_acceleration", node, q, *self._chart.motion(x, xd, xdd))

    def jacobian(self, node: int, x: Array) -> Array:
        """(..., 6, nv) twists by rates of the coordinates."""
        x, q = self._at(x)
        return self._of("jacobian", node, q) @ self._chart.turned(x)

    def jacobian_derivatives(self, node: int, x: Array) -> Array:
        """(..., 6, nv, nv) derivatives of the Jacobian."""
        x, q = self._at(x)
        S, J = self._chart.turned(x), self._of("jacobian", node, q)
        slopes = self._of("jacobian_derivatives", node, q)
        both = np.einsum(
            "...rlm,...lj,...mk->...rjk",
            slopes,
            S,
            S,
            optimize=["einsum_path", (0, 1), (0, 1)],
        )
        own = np.einsum("...rl,...ljk->...rjk", J, self._chart.turn_slopes(x))
        return np.asarray(both + own)


class ChartArm(Arm):
    """An arm in the coordinates of a chart: as many positions as velocities."""

    @classmethod
    def of(cls, chart: Chart) -> ChartArm:
        """Make one, from an arm that is checked."""
        own: dict[str, object] = {"chart": chart, "real": chart.arm}
        for name in (
            *("bodies", "gravity", "name", "tip", "constraints", "stabilization"),
            *("fidelity", "tip_node", "_parents", "_n_motors", "_node_offset"),
            *("_modes_at", "_velocity_at"),
        ):
            own[name] = getattr(chart.arm, name)
        own["_position_at"] = own["_velocity_at"]
        own["kernels"] = _Kernels(chart)
        result = cls.__new__(cls)
        vars(result).update(own)
        return result

    chart: Chart
    real: Arm

    @property
    def neutral(self) -> Array:
        """Coordinates of the arm at the middle, with all else at zero."""
        return np.zeros(self.nv)

    @property
    def stiffness_matrix(self) -> Array:
        """That of the arm."""
        return self.real.stiffness_matrix

    @property
    def damping_matrix(self) -> Array:
        """That of the arm."""
        return self.real.damping_matrix

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Those of the arm."""
        return self.real.constraint_names


def charted(arm: Arm, start: Array, end: Array) -> Arm:
    """The arm about the middle between two postures (nq,); itself without quaternions.

    Raises
    ------
    ArgumentError
        If a joint has a motion subspace of its own with a quaternion.
    """
    if arm.nq == arm.nv:
        return arm
    refuse_subspaces(arm)
    middle = np.array(start, dtype=float)
    for k, body in enumerate(arm.bodies):
        if body.joint.has_pose:
            first = arm.body_joint_slice(k, positions=True).start
            at = slice(first, first + 4)
            one = start[at] / np.linalg.norm(start[at])
            way = se3.quaternion_product(se3.quaternion_inverse(one), end[at])
            half = se3.quaternion_exp(0.5 * rotation_vector(way))
            middle[at] = se3.quaternion_product(one, half)
    return ChartArm.of(Chart(arm, middle))


def charted_along(arm: Arm, q: Array) -> Arm:
    """The arm about the middle of a motion (n, nq); itself without quaternions.

    Raises
    ------
    ArgumentError
        If a joint turns farther than one chart holds.
    """
    if arm.nq == arm.nv:
        return arm
    refuse_subspaces(arm)
    chart = Chart(arm, q[len(q) // 2])
    x = chart.coordinates(q)
    for joint in chart.joints:
        first = joint.velocities.start
        far = float(np.linalg.norm(x[:, first : first + 3], axis=1).max())
        if far > _MAX_TURN:
            raise ArgumentError(
                f"the joint of {arm.coordinate_names[first]!r} turns by {far:.3g} rad "
                f"from the middle of the motion, expected at most {_MAX_TURN:g} rad; "
                "take a shorter path, or reference.tracking.shooting"
            )
    return ChartArm.of(chart)


def real_arm(arm: Arm) -> Arm:
    """The arm of which this one is a chart, or itself."""
    return arm.real if isinstance(arm, ChartArm) else arm


def chart_of(arm: Arm) -> Chart | None:
    """The chart of an arm, None without one."""
    return arm.chart if isinstance(arm, ChartArm) else None


def coordinates(arm: Arm, q: Array) -> Array:
    """Coordinates (..., nv) of positions (..., nq) of the real arm."""
    chart = chart_of(arm)
    return q if chart is None else chart.coordinates(q)


def positions(arm: Arm, x: Array) -> Array:
    """Positions (..., nq) of the real arm."""
    chart = chart_of(arm)
    return x if chart is None else chart.positions(x)


def real_motion(
    arm: Arm, x: Array, xd: Array, xdd: Array
) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations of the real arm."""
    chart = chart_of(arm)
    if chart is None:
        return x, xd, xdd
    return (chart.positions(x), *chart.motion(x, xd, xdd))


def accelerations(arm: Arm, q: Array, v: Array, tau: Array) -> Array:
    """Accelerations (n, nv) of the coordinates under forces (n, nu) of actuators."""
    force = -np.asarray(arm.kernels.quiet("bias_forces")(q, v))
    force[:, arm.actuator_indices] += tau
    return np.asarray(arm.kernels.quiet("apply_mass_matrix_inverse")(q, force))


def coordinate_motion(arm: Arm, q: Array, v: Array) -> tuple[Array, Array]:
    """Coordinates and their rates of a motion (n, ...) of the real arm."""
    chart = chart_of(arm)
    if chart is None:
        return q, v
    x = chart.coordinates(q)
    return x, chart.rates_of(x, v)


def whole_motion(arm: Arm, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    """Coordinates, their rates and accelerations of a motion of the real arm."""
    chart = chart_of(arm)
    if chart is None:
        return q, v, a
    x, xd = coordinate_motion(arm, q, v)
    bent = chart.motion(x, xd, np.zeros_like(xd))[1]
    return x, xd, chart.rates_of(x, a - bent)


def along_coordinates(arm: Arm, x: Array, rows: Array) -> Array:
    """Rows of forces (nv, ...) of the arm as those along coordinates, at a posture."""
    chart = chart_of(arm)
    return rows if chart is None else np.asarray(chart.turned(x).T @ rows)


def scalar_positions(arm: Arm, q: Array) -> Array:
    """Positions (..., nv) of a real arm, zero at velocities of quaternions."""
    if arm.nq == arm.nv:
        return q
    chart = Chart(arm, arm.neutral)
    x = np.zeros((*q.shape[:-1], arm.nv))
    in_q, in_x = chart.plain
    x[..., in_x] = q[..., in_q]
    return x


def refuse_subspaces(arm: Arm) -> None:
    """Refuse joints with quaternions that are neither spherical nor free."""
    for body in arm.bodies:
        if body.joint.has_pose and body.joint.kind == "subspace":
            raise ArgumentError(
                f"the joint of {body.name!r} is a motion subspace, whose poses have no "
                "coordinates; expected spherical, free and other joints"
            )
