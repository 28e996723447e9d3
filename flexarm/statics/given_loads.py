r"""Wrenches on nodes: their generalized forces and the exact derivatives of these.

A wrench w = (m; f) on a node with the Jacobian J (base axes) has the generalized forces
J' w.  Along the velocity directions, in base axes,

    d_j (J' w)_i = w . d_j J_i + (omega_j x m) . omega_i + (omega_j x f) . v_i

the last two terms for a wrench that follows the node only.  Of the derivatives of J the
symmetric part is polarized from accelerations at constant velocity coordinates,

    w . (d_j J_i + d_i J_j) = w . [a(e_i + e_j) - a(e_i) - a(e_j)],  a(u) = Jdot(u) u

and the antisymmetric part is that of any rotation (equation of Maurer and Cartan),

    d_j omega_i - d_i omega_j = omega_j x omega_i,  d_j v_i - d_i v_j = 0,

plus the columns of the Lie brackets of velocities that are not rates of coordinates
(joints with quaternions).  There are no finite differences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._calls.arguments import any_of, check_finite, real_array
from .._calls.arm_like import AnyArm, Array, StackLike
from .._calls.explain import leading
from .._calls.groups import by_arm
from .._calls.nodes import node_numbers
from .._support.options import check_choice
from ..errors import ArgumentError
from ..kinematics.motion import node_acceleration
from ..kinematics.nodes import (
    FRAMES,
    jacobian,
    node_pose,
    turn_spatial,
    wrench_forces,
)
from ..se3 import bracket

Mask = NDArray[np.bool_]

# Accelerations at a time, 8 MiB.
_CHUNK_SIZE = 1 << 20


@dataclass(frozen=True)
class Loads:
    """Wrenches (..., m, 6) on m nodes, in axes of the base or of each node."""

    nodes: tuple[int, ...]
    wrench: Array
    frame: str

    def at(self, states: NDArray[np.intp] | Mask | slice) -> Loads:
        """Return the loads of some states of a flat batch."""
        if self.wrench.ndim < 3:
            return self
        return Loads(self.nodes, self.wrench[states], self.frame)

    def flat(self, batch: tuple[int, ...]) -> Loads:
        """Return the loads of a batch as rows (n, m, 6), or one row for all."""
        if self.wrench.ndim < 3:
            return self
        full = np.broadcast_to(self.wrench, (*batch, *self.wrench.shape[-2:]))
        return Loads(self.nodes, full.reshape(-1, *full.shape[-2:]), self.frame)

    @property
    def batch(self) -> tuple[int, ...]:
        """Leading axes."""
        return self.wrench.shape[:-2]

    @property
    def conservative(self) -> bool:
        """Whether they have a potential: forces in fixed directions, no moments."""
        return self.frame == "base" and not self.wrench[..., :3].any()

    def forces(self, arm: AnyArm, q: Array) -> Array:
        """Generalized forces J' w of all loads, (..., nv)."""
        total = np.zeros(())
        for i, node in enumerate(self.nodes):
            w = self.wrench[..., i, :]
            total = total + wrench_forces(arm, q, w, node, frame=self.frame)
        return total

    def base_forces(self, arm: AnyArm, q: Array) -> dict[int, Array]:
        """Force on each node in axes of the base, (..., 3), without its moment."""
        found: dict[int, Array] = {}
        for i, node in enumerate(self.nodes):
            w = self.wrench[..., i, :]
            if self.frame == "node":
                w = turn_spatial(node_pose(arm, q, node), w, -1)
            force = np.broadcast_to(w[..., 3:], (*q.shape[:-1], 3))
            found[node] = found.get(node, 0.0) + force
        return found

    def tangent(self, arm: AnyArm, q: Array) -> Array:
        """Derivatives of these forces along the velocity directions, (..., nv, nv)."""
        total = np.zeros(())
        for i, node in enumerate(self.nodes):
            total = total + _tangent(arm, q, node, self.wrench[..., i, :], self.frame)
        return total


def read_loads(
    arm: AnyArm, wrench: ArrayLike | None, node: object, frame: str
) -> Loads | None:
    """Return loads from the arguments of a function, or None."""
    check_choice("frame", frame, FRAMES)
    if wrench is None:
        if node is not None:
            raise ArgumentError(
                "a node is given, but no wrench with which it is loaded; expected both "
                "or none"
            )
        return None
    if arm.fidelity != "full":
        raise ArgumentError(
            f"a wrench acts on an arm of {arm.fidelity} fidelity, whose stiffness "
            "under wrenches is not computed; expected one of fidelity 'full'"
        )
    # one wrench for each node
    several = isinstance(node, list)
    nodes = node_numbers(arm, node)
    if not several and len(nodes) > 1:
        raise ArgumentError(
            f"node is {node!r}, expected one node or a list of nodes, with one wrench "
            "for each"
        )
    array = real_array("wrench", wrench)
    leading(any_of(arm), {"wrench": array}, ())
    if several and array.shape[-2:-1] != (len(nodes),):
        raise ArgumentError(
            f"wrench has shape {array.shape} and node is a list of {len(nodes)}, "
            f"expected (..., {len(nodes)}, 6)"
        )
    array = array if several else array[..., np.newaxis, :]
    check_finite("wrench", array, 2)
    return Loads(tuple(nodes), array, frame)


def _tangent(arm: AnyArm, q: Array, node: int, wrench: Array, frame: str) -> Array:
    """Derivatives of J' w of one node."""
    J = jacobian(arm, q, node, frame="base")
    if frame == "node":
        wrench = turn_spatial(node_pose(arm, q, node), wrench, -1)
    wrench = np.broadcast_to(wrench, (*J.shape[:-2], 6))
    turn, move = np.swapaxes(J[..., :3, :], -1, -2), np.swapaxes(J[..., 3:, :], -1, -2)
    moving = np.flatnonzero(_moving(arm, node))
    m = wrench[..., np.newaxis, :3]
    across = np.cross(m, turn)  # m x omega_j
    result = _symmetric(arm, q, node, wrench, moving)
    result += 0.5 * turn @ np.swapaxes(across, -1, -2)
    result += 0.5 * _brackets(arm, (wrench[..., np.newaxis, :] @ J)[..., 0, :], moving)
    if frame == "node":
        result -= turn @ np.swapaxes(across, -1, -2)
        pull = np.cross(turn, wrench[..., np.newaxis, 3:])  # omega_j x f
        result += move @ np.swapaxes(pull, -1, -2)
    return result


def _moving(arm: AnyArm, node: int) -> NDArray[np.bool_]:
    """Velocities that can move a node."""
    arm = any_of(arm)
    result = np.zeros(arm.nv, dtype=bool)
    k = next(k for k in range(len(arm.bodies)) if node < arm.node_slice(k).stop)
    while k >= 0:
        result[arm.body_joint_slice(k)] = result[arm.mode_slice(k)] = True
        k = arm._parents[k]
    return result


def _symmetric(
    arm: AnyArm, q: Array, node: int, wrench: Array, moving: NDArray[np.intp]
) -> Array:
    """Half of w . (d_j J_i + d_i J_j)."""
    n, nv = len(moving), arm.nv
    first, second = np.triu_indices(n)
    unit = np.eye(nv)[moving]
    # e_i on the diagonal of the pairs, else e_i + e_j
    pairs = unit[first] + np.where(first == second, 0.0, 1.0)[:, None] * unit[second]
    batch = wrench.shape[:-1]
    states = np.broadcast_to(q, (*batch, arm.nq)).reshape(-1, arm.nq)
    rows = wrench.reshape(-1, 6)
    values = np.empty((len(states), len(pairs)))
    stack = arm._flat(batch) if isinstance(arm, StackLike) else None
    step = max(1, _CHUNK_SIZE // max(len(pairs), 1))
    for at in range(0, len(states), step):
        part = slice(at, at + step)
        some = arm if stack is None else stack[part, None]
        a = node_acceleration(
            some, states[part, None], pairs, np.zeros(nv), node, frame="base"
        )
        values[part] = (a @ rows[part, :, None])[..., 0]
    own = values[:, first == second]
    values -= np.where(first == second, 0.0, own[:, first] + own[:, second])
    values[:, first != second] *= 0.5
    result = np.zeros((len(states), nv, nv))
    result[:, moving[first], moving[second]] = values
    result[:, moving[second], moving[first]] = values
    return result.reshape(*batch, nv, nv)


def _brackets(arm: AnyArm, forces: Array, moving: NDArray[np.intp]) -> Array:
    """Forces along the Lie bracket [X_j, X_i] of velocities i, j of joints with poses.

    The fields are T S_i, so that the bracket is that of the twists S_j and S_i.
    """
    if isinstance(arm, StackLike):
        arms, n = arm.arms, arm.nv
        if not any(body.joint.has_pose for body in any_of(arm).bodies):
            return np.zeros((*forces.shape, n))

        def of_one(i: int, given: list[Array]) -> Array:
            return _brackets(arms[i], given[0], moving)

        return by_arm(arm.index, of_one, [forces], [1], (n, n))
    result = np.zeros((*forces.shape, arm.nv))
    for k, body in enumerate(arm.bodies):
        at = arm.body_joint_slice(k)
        if not body.joint.has_pose or at.start not in moving:
            continue
        S = body.joint.screws.T
        twists = bracket(S[np.newaxis, :, :], S[:, np.newaxis, :])  # [i, j]
        c, *_ = np.linalg.lstsq(S.T, twists.reshape(-1, 6).T, rcond=None)
        if (
            np.abs(S.T @ c - twists.reshape(-1, 6).T).max()
            > 1e-9 * np.abs(S).max() ** 2
        ):
            raise ArgumentError(
                f"the joint of body {body.name!r} is not holonomic: its twists are not "
                "a Lie algebra, and the stiffness of a wrench beyond it is not "
                "computed; expected a joint of another kind, or no wrench"
            )
        c = c.T.reshape(len(S), len(S), len(S))
        result[..., at, at] = np.einsum("...c,ijc->...ij", forces[..., at], c)
    return result
