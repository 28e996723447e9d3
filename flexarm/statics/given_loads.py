r"""Wrenches on nodes: their generalized forces and the exact derivatives of these.

A wrench w = (m; f) on a node with the body-fixed Jacobian J has the generalized forces
J' w.  Along the velocity directions, in the axes of the node,

    d_k (J' w)_j = w . d_k J_j + m x omega_k . omega_j + f x omega_k . v_j

the last two terms for a wrench with fixed axes only, which turns back where the node
turns.  The derivatives of J are those of a kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._calls.arguments import any_of, check_finite, real_array
from .._calls.arm_like import AnyArm, Array, StackLike
from .._calls.explain import leading
from .._calls.groups import by_arm
from .._calls.nodes import node_numbers
from .._support.arrays import Mask
from .._support.options import check_choice
from ..derivatives import jacobian_derivatives
from ..errors import ArgumentError
from ..kinematics.nodes import (
    FRAMES,
    jacobian,
    node_pose,
    turn_spatial,
    wrench_forces,
)
from ..se3 import bracket, so3_hat
from .tendons import Pull, Tendon, read_pull


@dataclass(frozen=True)
class Loads:
    """Tendons, and wrenches (..., m, 6) on m nodes in axes of the base or each node."""

    nodes: tuple[int, ...]
    wrench: Array
    frame: str
    pull: Pull | None = None

    def at(self, states: NDArray[np.intp] | Mask | slice) -> Loads:
        """Return the loads of some states of a flat batch."""
        wrench, pull = self.wrench, self.pull
        if wrench.ndim > 2:
            wrench = wrench[states]
        if pull is not None and pull.tension.ndim > 1:
            pull = Pull(pull.tendons, pull.tension[states])
        if wrench is self.wrench and pull is self.pull:
            return self
        return Loads(self.nodes, wrench, self.frame, pull)

    def flat(self, batch: tuple[int, ...]) -> Loads:
        """Return the loads of a batch as rows (n, m, 6), or one row for all."""
        wrench, pull = self.wrench, self.pull
        if wrench.ndim > 2:
            full = np.broadcast_to(wrench, (*batch, *wrench.shape[-2:]))
            wrench = full.reshape(-1, *full.shape[-2:])
        if pull is not None and pull.tension.ndim > 1:
            full = np.broadcast_to(pull.tension, (*batch, pull.tension.shape[-1]))
            pull = Pull(pull.tendons, full.reshape(-1, full.shape[-1]))
        return Loads(self.nodes, wrench, self.frame, pull)

    @property
    def batch(self) -> tuple[int, ...]:
        """Leading axes."""
        pulled = () if self.pull is None else self.pull.tension.shape[:-1]
        return np.broadcast_shapes(self.wrench.shape[:-2], pulled)

    @property
    def conservative(self) -> bool:
        """Whether they have a potential: forces in fixed directions, no moments."""
        return self.frame == "base" and not self.wrench[..., :3].any()

    def forces(self, arm: AnyArm, q: Array) -> Array:
        """Generalized forces J' w of all loads, (..., nv)."""
        total = np.zeros(()) if self.pull is None else self.pull.forces(arm, q)
        for i, node in enumerate(self.nodes):
            w = self.wrench[..., i, :]
            total = total + wrench_forces(arm, q, w, node, frame=self.frame)
        return total

    def base_forces(self, arm: AnyArm, q: Array) -> dict[int, Array]:
        """Force on each node in axes of the base, (..., 3), without its moment."""
        found: dict[int, Array] = {}
        if self.pull is not None:
            found = _at_base(arm, q, self.pull).base_forces(arm, q)
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
        if self.pull is not None:
            total = self.pull.stiffness(arm, q)
            total = total + _at_base(arm, q, self.pull).tangent(arm, q)
        for i, node in enumerate(self.nodes):
            total = total + _tangent(arm, q, node, self.wrench[..., i, :], self.frame)
        return total

    def work(self, arm: AnyArm, q: Array, moved: Array) -> Array:
        """Work (...) of conservative loads on a motion from q."""
        total = np.zeros(())
        for i, node in enumerate(self.nodes):
            travel = node_pose(arm, moved, node) - node_pose(arm, q, node)
            total = total + (self.wrench[..., i, 3:] * travel[..., :3, 3]).sum(axis=-1)
        for i, tendon in enumerate(() if self.pull is None else self.pull.tendons):
            assert self.pull is not None
            shorter = tendon.length(arm, q) - tendon.length(arm, moved)
            total = total + self.pull.tension[..., i] * shorter
        return total


def _at_base(arm: AnyArm, q: Array, pull: Pull) -> Loads:
    """Forces of tendons in one posture, one wrench for each node."""
    nodes, wrench = pull.wrenches(arm, q)
    places = sorted(set(nodes))
    at = np.array([[node == place for node in nodes] for place in places], float)
    return Loads(tuple(places), at @ wrench, "base")


def read_loads(
    arm: AnyArm,
    wrench: ArrayLike | None,
    node: object,
    frame: str,
    tendons: Sequence[Tendon] | None = None,
    tension: ArrayLike | None = None,
) -> Loads | None:
    """Return loads from the arguments of a function, or None."""
    check_choice("frame", frame, FRAMES)
    pull = read_pull(arm, tendons, tension)
    if pull is not None:
        _read_full(arm, "a tension")
        _refuse_rolling(arm, pull.nodes(arm))
        if wrench is None and node is None:
            return Loads((), np.zeros((0, 6)), "base", pull)
    if wrench is None:
        if node is not None:
            raise ArgumentError(
                "a node is given, but no wrench with which it is loaded; expected both "
                "or none"
            )
        return None
    _read_full(arm, "a wrench")
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
    _refuse_rolling(arm, nodes)
    return Loads(tuple(nodes), array, frame, pull)


def _read_full(arm: AnyArm, what: str) -> None:
    """Raise for arms whose stiffness under loads is not computed."""
    if arm.fidelity != "full":
        raise ArgumentError(
            f"{what} acts on an arm of {arm.fidelity} fidelity, whose stiffness "
            "under such loads is not computed; expected one of fidelity 'full'"
        )


def _refuse_rolling(arm: AnyArm, nodes: Iterable[int]) -> None:
    """Raise for joints without displacements of their own that move a node."""
    arm = any_of(arm)
    for node in nodes:
        k = next(k for k in range(len(arm.bodies)) if node < arm.node_slice(k).stop)
        while k >= 0:
            joint = arm.bodies[k].joint
            if joint.kind == "subspace" and not _is_algebra(joint.screws.T):
                raise ArgumentError(
                    f"the joint of body {arm.bodies[k].name!r} is not holonomic: its "
                    "twists are not a Lie algebra, and the stiffness of a wrench "
                    "beyond it is not computed; expected a joint of another kind, or "
                    "no wrench"
                )
            k = arm._parents[k]


def _is_algebra(S: Array) -> bool:
    """Whether the brackets of twists (n, 6) are combinations of them."""
    twists = bracket(S[np.newaxis, :, :], S[:, np.newaxis, :]).reshape(-1, 6)
    off = twists - twists @ np.linalg.pinv(S) @ S
    return bool(np.abs(off).max() <= 1e-9 * np.abs(S).max() ** 2)


def _tangent(arm: AnyArm, q: Array, node: int, wrench: Array, frame: str) -> Array:
    """Derivatives of J' w of one node."""
    if isinstance(arm, StackLike):
        arms = arm.arms

        def of_one(i: int, given: list[Array]) -> Array:
            return _tangent(arms[i], given[0], node, given[1], frame)

        return by_arm(arm.index, of_one, [q, wrench], [1, 1], (arm.nv, arm.nv))
    if frame == "base":
        wrench = turn_spatial(np.swapaxes(node_pose(arm, q, node), -1, -2), wrench, -1)
    change = jacobian_derivatives(arm, q, node)
    flat = change.reshape(*change.shape[:-2], arm.nv**2)
    found = wrench[..., np.newaxis, :] @ flat
    result = found.reshape(*found.shape[:-2], arm.nv, arm.nv)
    if frame == "base":
        J = jacobian(arm, q, node)
        for half in (slice(3), slice(3, 6)):  # m x omega_k, f x omega_k
            turned = so3_hat(wrench[..., half]) @ J[..., :3, :]
            result += np.swapaxes(J[..., half, :], -1, -2) @ turned
    return result
