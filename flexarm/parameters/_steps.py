"""Derivatives of the steps of classical Runge-Kutta, all steps at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import se3
from ..positions import integrate

if TYPE_CHECKING:
    from ..arm import Arm
    from ._tangent import ArmTangent

Array = NDArray[np.float64]

# of rk4: weights, times of the stages, and steps that lead to them
_WEIGHT = (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)
_TIME = (0.0, 0.5, 0.5, 1.0)


class Steps(NamedTuple):
    """Derivatives of the states after N steps of B trajectories.

    States are local displacements of the positions, and velocities.
    """

    state: Array  # (B, N, 2 nv, 2 nv) by the state before
    before: Array  # (B, N, 2 nv, m) by the forces at the start of the step
    after: Array  # (B, N, 2 nv, m) by those at its end
    parameters: Array  # (B, N, 2 nv, k)
    q: Array  # (B, N, nq) after each step, as computed again
    qd: Array  # (B, N, nv)


class _Plain:
    """Displacements of arms whose coordinates add."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm

    def rate(self, u: Array, qd: Array) -> Array:
        return qd

    def moved(self, u: Array, first: Array, change: Array) -> Array:
        """Local displacement of q + u where that of q and the change of u are given."""
        return first + change

    def rate_change(self, u: Array, qd: Array, change: Array, rates: Array) -> Array:
        return rates


class _Poses(_Plain):
    """Displacements with poses among them: u_dot of (Q3), exponentials of (Q2)."""

    def __init__(self, arm: Arm) -> None:
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
        return np.asarray(se3.so3_exp(-u)), np.asarray(se3.so3_right_jacobian(u))
    back = se3.adjoint(se3.exp(-u))
    return np.asarray(back), np.asarray(se3.right_jacobian(u))


def forward_derivatives(
    arm: Arm, q: Array, qd: Array, qdd: Array
) -> tuple[Array, Array, Array]:
    """Derivatives of forward dynamics by q, qd and all forces, (..., nv, nv) each."""
    dq, dqd = arm.inverse_dynamics_derivatives(q, qd, qdd)
    inverse = np.asarray(arm.mass_matrix_inverse(q))
    return -inverse @ dq, -inverse @ dqd, inverse


def runge_kutta_steps(
    arm: Arm,
    start: tuple[Array, Array],
    forces: tuple[Array, Array],
    h: Array,
    hold: bool,
    tangent: ArmTangent | None,
) -> Steps:
    """Differentiate steps from (N, .) states, forces at their ends, lengths (N,)."""
    q0, qd0 = start
    nv, m = arm.nv, forces[0].shape[-1]
    k = 0 if tangent is None else len(tangent.p)
    way = _Poses(arm) if arm.nq != nv else _Plain(arm)
    acts = arm.actuator_indices if m == arm.nu else np.arange(nv)
    shape, width = q0.shape[:-1], 2 * nv + 2 * m + k
    step, unit = h[:, np.newaxis], np.zeros((*shape, nv, width))
    first, second = unit.copy(), unit.copy()
    first[..., :nv], second[..., nv : 2 * nv] = np.eye(nv), np.eye(nv)
    u, qd = np.zeros((*shape, nv)), qd0
    du, dqd = unit, second
    sums = [np.zeros((*shape, nv)), np.zeros((*shape, nv)), unit.copy(), unit.copy()]
    for stage in range(4):
        part, weight = _TIME[stage], _WEIGHT[stage]
        tau = forces[0] + (0.0 if hold else part) * (forces[1] - forces[0])
        q = integrate(arm, q0, u) if stage else q0
        qdd = np.asarray(arm.forward_dynamics(q, qd, tau))
        by_q, by_qd, by_tau = forward_derivatives(arm, q, qd, qdd)
        dqdd = by_q @ way.moved(u, first, du) + by_qd @ dqd
        dqdd[..., 2 * nv : 2 * nv + m] += (1.0 if hold else 1.0 - part) * by_tau[
            ..., acts
        ]
        if not hold:
            dqdd[..., 2 * nv + m : 2 * nv + 2 * m] += part * by_tau[..., acts]
        if tangent is not None:
            dqdd[..., 2 * nv + 2 * m :] -= by_tau @ tangent.forces(q, qd, qdd)[0]
        rate = way.rate(u, qd)
        drate = way.rate_change(u, qd, du, dqd)
        for total, x in zip(sums, (rate, qdd, drate, dqdd), strict=True):
            scaled = step if x.ndim == q0.ndim else step[..., np.newaxis]
            total += weight * scaled * x
        if stage < 3:
            ahead = _TIME[stage + 1] * step
            u, qd = ahead * rate, qd0 + ahead * qdd
            ahead = ahead[..., np.newaxis]
            du, dqd = ahead * drate, second + ahead * dqdd
    whole = np.concatenate(
        [way.moved(sums[0], first, sums[2]), second + sums[3]], axis=-2
    )
    cuts = np.cumsum([2 * nv, m, m])
    state, before, after, parameters = np.split(whole, cuts, axis=-1)
    end = np.asarray(integrate(arm, q0, sums[0])), qd0 + sums[1]
    return Steps(state, before, after, parameters, *end)
