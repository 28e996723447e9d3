r"""Derivatives of one trajectory of average acceleration by a few force parameters.

Where `flexarm.trajectory_sensitivities` has derivatives by each sample, these are by
parameters of which the forces are sums, from the equations that the end of a step obeys

.. math:: \left(M + \tfrac h2 D + \tfrac{h^2}4 K\right) \delta\ddot q_1
    = \delta\tau_1 - D\,\delta\dot q_* - K\,\delta q_*,

with :math:`\delta\dot q_* = \delta\dot q_0 + \frac h2 \delta\ddot q_0`,
:math:`\delta q_* = \delta q_0 + h \delta\dot q_0 + \frac{h^2}4 \delta\ddot q_0`, and
the derivatives K and D of inverse dynamics at that end.

Positions of joints with quaternions step along an exponential.  There changes of
positions are local displacements; those at the end of a step by
:math:`u = h\dot q_0 + \ldots` are :math:`\mathrm{Ad}_{\exp(-u)}\,\delta q_0 +
J(u)\,\delta u` with the right Jacobian J.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ... import se3
from ..._support.arrays import Array, Index, Mask
from ...arm import Arm
from ...kinematics import difference


class Motion(NamedTuple):
    """A trajectory and its forces, at the ends of all steps."""

    t: Array  # (n,)
    q: Array  # (n, nq)
    qd: Array
    qdd: Array
    tau: Array  # (n, nu)


def tangents(arm: Arm, run: Motion, by: Array) -> Array:
    """Derivatives (n, nv, c) of the positions by c parameters, local displacements.

    Parameters
    ----------
    arm : Arm
        The arm.
    run : Motion
        A trajectory of method ``"newmark"``.
    by : (n, nu, c) ndarray of float
        Derivatives of the forces by the parameters, in the order in which they begin to
        act; none acts at the first time.
    """
    n, nu, c = by.shape
    h, nv = np.diff(run.t), arm.nv
    quiet = arm.kernels.quiet
    # all linear equations at once: accelerations by forces and by the state
    slopes = quiet("inverse_dynamics_derivatives")(run.q[1:], run.qd[1:], run.qdd[1:])
    K, D = np.moveaxis(slopes, -3, 0)
    M = quiet("mass_matrix")(run.q[1:])
    step = h[:, np.newaxis, np.newaxis]
    back, ahead = _step_maps(arm, run.q)
    bent = K if ahead is None else K @ ahead
    S = M + 0.5 * step * D + 0.25 * step**2 * bent
    acts = np.zeros((n - 1, nv, nu))
    acts[:, arm.actuator_indices, np.arange(nu)] = 1.0
    solved = np.linalg.solve(S, np.concatenate([acts, -K, -D], axis=-1))
    pushes = solved[..., :nu] @ by[1:]
    by_state = np.ascontiguousarray(solved[..., nu:])
    # step by step, for the parameters that act already
    begins = np.abs(by).max(axis=1) > 0.0
    active = np.maximum.accumulate(_counts(begins))
    q = np.zeros((n, nv, c))
    state, a = np.zeros((2 * nv, c)), np.zeros((nv, c))  # positions, then rates
    for i in range(n - 1):
        k, s = active[i + 1], h[i]
        now = state[:, :k]
        change = s * now[nv:] + (0.25 * s * s) * a[:, :k]
        if back is not None and ahead is not None:
            now[:nv], change = back[i] @ now[:nv], ahead[i] @ change
        now[:nv] += change
        now[nv:] += (0.5 * s) * a[:, :k]
        a[:, :k] = by_state[i] @ now + pushes[i, :, :k]
        change = (0.25 * s * s) * a[:, :k]
        now[:nv] += change if ahead is None else ahead[i] @ change
        now[nv:] += (0.5 * s) * a[:, :k]
        q[i + 1, :, :k] = now[:nv]
    return q


def _step_maps(arm: Arm, q: Array) -> tuple[Array | None, Array | None]:
    """Changes at the ends of steps by those at their starts, and by those of u.

    (n - 1, nv, nv) each; None where both are one, without quaternions.
    """
    if arm.nq == arm.nv:
        return None, None
    u = np.asarray(difference(arm, q[:-1], q[1:]))
    back = np.tile(np.eye(arm.nv), (len(u), 1, 1))
    ahead = back.copy()
    for k, body in enumerate(arm.bodies):
        if not body.joint.has_pose:
            continue
        at = arm.body_joint_slice(k)
        own = u[:, at]
        if own.shape[1] == 3:
            back[:, at, at] = se3.so3_exp(-own)
            ahead[:, at, at] = se3.so3_jacobian(own, side="right")
        else:
            back[:, at, at] = se3.adjoint(se3.exp(-own))
            ahead[:, at, at] = se3.jacobian(own, side="right")
    return back, ahead


def _counts(begins: Mask) -> Index:
    """Number of first parameters that act at each time."""
    c = begins.shape[1]
    last = c - np.argmax(begins[:, ::-1], axis=1)
    return np.where(begins.any(axis=1), last, 0)
