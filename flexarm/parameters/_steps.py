"""Derivatives of the steps of Runge-Kutta and Newmark methods, all steps at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import se3
from .._calls.arm_like import ArmLike
from .._support.arrays import Array
from ..derivatives import forward_dynamics_derivatives
from ..dynamics import forward_dynamics
from ..kinematics.positions import difference, integrate
from .tangent import ArmTangent

# Weights of the stages of rk4, and their times.
_WEIGHT = (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)
_TIME = (0.0, 0.5, 0.5, 1.0)


class Steps(NamedTuple):
    """Derivatives of the N steps of B trajectories.

    The first 2 nv entries of a state are local displacements of the positions, and
    velocities; methods with a memory have more.
    """

    state: Array  # (B, N, s, s) by the previous state
    before: Array  # (B, N, s, m) by the forces at the start of the step
    after: Array  # (B, N, s, m) by the forces at its end
    parameters: Array  # (B, N, s, k)
    first: Array  # (B, s, 2 nv + m + k) first state by positions, velocities, forces


class _Plain:
    """Displacements of arms without quaternions, which add."""

    def __init__(self, arm: ArmLike) -> None:
        self.arm = arm

    def rate(self, u: Array, qd: Array) -> Array:
        return qd

    def moved(self, u: Array, first: Array, change: Array) -> Array:
        """Local displacement of q + u from that of q and the change of u."""
        return first + change

    def rate_change(self, u: Array, qd: Array, change: Array, rates: Array) -> Array:
        return rates


class _Poses(_Plain):
    """Displacements of arms with poses: u_dot of (Q3), exponentials of (Q2)."""

    def __init__(self, arm: ArmLike) -> None:
        super().__init__(arm)
        self.at = [
            arm.body_joint_slice(k)
            for k, body in enumerate(arm.bodies)
            if body.joint.has_pose
        ]

    def rate(self, u: Array, qd: Array) -> Array:
        result: Array = qd.copy()
        for at in self.at:
            ad, V = _ad(u[..., at]), qd[..., at, np.newaxis]
            once = ad @ V
            result[..., at] = (V + 0.5 * once + ad @ once / 12.0)[..., 0]
        return result

    def moved(self, u: Array, first: Array, change: Array) -> Array:
        result: Array = first + change
        for at in self.at:
            back, right = _exponential(u[..., at])
            result[..., at, :] = back @ first[..., at, :] + right @ change[..., at, :]
        return result

    def rate_change(self, u: Array, qd: Array, change: Array, rates: Array) -> Array:
        result: Array = rates.copy()
        for at in self.at:
            ad, ad_V = _ad(u[..., at]), _ad(qd[..., at])
            once = ad @ qd[..., at, np.newaxis]
            by_V = np.eye(ad.shape[-1]) + 0.5 * ad + ad @ ad / 12.0
            by_u = -0.5 * ad_V - (_ad(once[..., 0]) + ad @ ad_V) / 12.0
            result[..., at, :] = by_V @ rates[..., at, :] + by_u @ change[..., at, :]
        return result


def _ad(u: Array) -> Array:
    """Matrix of the bracket, of rotation vectors or twists."""
    return np.asarray(se3.so3_hat(u) if u.shape[-1] == 3 else se3.ad(u))


def _exponential(u: Array) -> tuple[Array, Array]:
    """Adjoint map of exp(-u), and right Jacobian at u."""
    if u.shape[-1] == 3:
        return np.asarray(se3.so3_exp(-u)), np.asarray(
            se3.so3_jacobian(u, side="right")
        )
    back = se3.adjoint(se3.exp(-u))
    return np.asarray(back), np.asarray(se3.jacobian(u, side="right"))


class Tangents(NamedTuple):
    """Derivatives of accelerations at a state, (..., nv, .)."""

    q: Array
    qd: Array
    tau: Array
    p: Array  # (..., nv, 0) without parameters


class Differentiated:
    """Forward dynamics of an arm and its derivatives, for steps."""

    def __init__(self, arm: ArmLike, n_forces: int, tangent: ArmTangent | None) -> None:
        self.arm, self._tangent = arm, tangent
        self.way = _Poses(arm) if arm.nq != arm.nv else _Plain(arm)
        own = n_forces == arm.nu
        self._acts = arm.actuator_indices if own else np.arange(arm.nv)
        self.k = 0 if tangent is None else len(tangent.p)

    def at(self, q: Array, qd: Array, tau: Array) -> tuple[Array, Tangents]:
        """Return accelerations and their derivatives."""
        arm = self.arm
        qdd = np.asarray(forward_dynamics(arm, q, qd, tau))
        dq, dqd, inverse = forward_dynamics_derivatives(arm, q, qd, tau)
        p = np.zeros((*qdd.shape, 0))
        if self._tangent is not None:
            p = -inverse @ self._tangent.forces(q, qd, qdd)[0]
        by_tau = inverse[..., self._acts]
        return qdd, Tangents(dq, dqd, by_tau, p)


class Shape(NamedTuple):
    """Columns of the derivatives of a step."""

    state: int
    m: int
    k: int

    @property
    def width(self) -> int:
        return self.state + 2 * self.m + self.k

    def cut(self, whole: Array) -> tuple[Array, Array, Array, Array]:
        cuts = np.cumsum([self.state, self.m, self.m])
        state, before, after, parameters = np.split(whole, cuts, axis=-1)
        return state, before, after, parameters


def _add_forces(rows: Array, by: Tangents, s: Shape, part: float) -> None:
    """Add derivatives by forces at the given part of a step."""
    start, end = s.state, s.state + s.m
    rows[..., start:end] += (1.0 - part) * by.tau
    rows[..., end : end + s.m] += part * by.tau
    rows[..., end + s.m :] += by.p


def runge_kutta_steps(
    of: Differentiated,
    start: tuple[Array, Array],
    forces: tuple[Array, Array],
    h: Array,
    hold: bool,
) -> tuple[Array, Array, Array, Array]:
    """Differentiate steps from (N, .) states, forces at their ends, lengths (N,)."""
    q0, qd0 = start
    arm, way, nv = of.arm, of.way, of.arm.nv
    s = Shape(2 * nv, forces[0].shape[-1], of.k)
    shape, step = q0.shape[:-1], h[:, np.newaxis]
    # displacement and velocity of the stages, and their derivatives
    first, second = _units(shape, nv, 2, s.width)
    u, qd = np.zeros((*shape, nv)), qd0
    du, dqd = np.zeros_like(first), second
    sums = [np.zeros_like(x) for x in (u, u, first, first)]
    for stage in range(4):
        part = 0.0 if hold else _TIME[stage]
        q = integrate(arm, q0, u) if stage else q0
        qdd, by = of.at(q, qd, forces[0] + part * (forces[1] - forces[0]))
        dqdd = by.q @ way.moved(u, first, du) + by.qd @ dqd
        _add_forces(dqdd, by, s, part)
        rate = way.rate(u, qd)
        drate = way.rate_change(u, qd, du, dqd)
        for total, x in zip(sums, (rate, qdd, drate, dqdd), strict=True):
            scaled = step if x.ndim == q0.ndim else step[..., np.newaxis]
            total += _WEIGHT[stage] * scaled * x
        if stage < 3:
            ahead = _TIME[stage + 1] * step
            u, qd = ahead * rate, qd0 + ahead * qdd
            ahead = ahead[..., np.newaxis]
            du, dqd = ahead * drate, second + ahead * dqdd
    # end of the step
    rows = [way.moved(sums[0], first, sums[2]), second + sums[3]]
    return s.cut(np.concatenate(rows, axis=-2))


def _units(shape: tuple[int, ...], nv: int, count: int, width: int) -> list[Array]:
    """Unit derivatives of the parts of a state by themselves."""
    result = []
    for i in range(count):
        rows = np.zeros((*shape, nv, width))
        rows[..., i * nv : (i + 1) * nv] = np.eye(nv)
        result.append(rows)
    return result


class Weights(NamedTuple):
    """Coefficients of Newmark's methods and of generalized-alpha (O3)."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float


def weights_of(method: str, spectral_radius: float) -> Weights:
    """Return the coefficients of a method of `simulate`."""
    if method != "generalized-alpha":
        return Weights(0.0, 0.0, 0.25 if method == "newmark" else 1.0 / 6.0, 0.5)
    rho = spectral_radius
    alpha_m, alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 + alpha_f - alpha_m
    return Weights(alpha_m, alpha_f, (gamma + 0.5) ** 2 / 4.0, gamma)


def newmark_steps(
    of: Differentiated,
    start: tuple[Array, Array],
    end: tuple[Array, Array],
    forces: tuple[Array, Array],
    h: Array,
    hold: bool,
    w: Weights,
) -> tuple[Array, Array, Array, Array]:
    """Differentiate implicit steps, by the equations (O3) of their ends.

    A state is (q, qd, qdd, a), with the accelerations and their average.
    """
    way, nv = of.way, of.arm.nv
    s = Shape(4 * nv, forces[0].shape[-1], of.k)
    dq, dqd, dqdd, da = _units(start[0].shape[:-1], nv, 4, s.width)
    if hold:  # forces jump, and so do both accelerations
        jumped = _accelerations(of, start, forces[0], (dq, dqd), s, 0.0)
        da, dqdd = da + jumped - dqdd, jumped
    _, by = of.at(*end, forces[0] if hold else forces[1])
    u = np.asarray(difference(of.arm, start[0], end[0]))
    h = h[:, np.newaxis, np.newaxis]
    new = (1.0 - w.alpha_f) / (1.0 - w.alpha_m)
    known = (w.alpha_f * dqdd - w.alpha_m * da) / (1.0 - w.alpha_m)
    du = h * (dqd + h * ((0.5 - w.beta) * da + w.beta * known))
    dqd = dqd + h * ((1.0 - w.gamma) * da + w.gamma * known)
    # derivatives of u and qd by the new accelerations
    by_u, by_qd = h * h * w.beta * new, h * w.gamma * new
    eye = np.broadcast_to(np.eye(nv), (*u.shape, nv))
    W = by.q @ way.moved(u, np.zeros_like(eye), by_u * eye) + by_qd * by.qd
    rows = by.q @ way.moved(u, dq, du) + by.qd @ dqd
    _add_forces(rows, by, s, 0.0 if hold else 1.0)
    dqdd = np.asarray(np.linalg.solve(eye - W, rows), dtype=np.float64)
    parts = [way.moved(u, dq, du + by_u * dqdd), dqd + by_qd * dqdd, dqdd]
    parts.append(new * dqdd + known)
    return s.cut(np.concatenate(parts, axis=-2))


def _accelerations(
    of: Differentiated,
    state: tuple[Array, Array],
    tau: Array,
    rows: tuple[Array, Array],
    s: Shape,
    part: float,
) -> Array:
    """Derivatives of the accelerations at a state."""
    _, by = of.at(*state, tau)
    result: Array = by.q @ rows[0] + by.qd @ rows[1]
    _add_forces(result, by, s, part)
    return result


def first_state(
    of: Differentiated, start: tuple[Array, Array], tau: Array, with_memory: bool
) -> Array:
    """First state (B, s, 2 nv + m + k) by positions, velocities, forces, parameters."""
    nv, m = of.arm.nv, tau.shape[-1]
    width = 2 * nv + m + of.k
    rows = _units(start[0].shape[:-1], nv, 2, width)
    if with_memory:
        _, by = of.at(*start, tau)
        both = np.concatenate(by, axis=-1)
        rows += [both, both]
    return np.concatenate(rows, axis=-2)
