"""Poses of bodies and nodes with their derivatives, for `lagrangian`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import refuse_followers, refuse_geared
from .._calls.arm_like import ArmLike
from .._support.arrays import Array
from ..bodies.body import Body
from ._fidelity import check_full
from .duals import (
    Dual,
    affine,
    constant,
    displacement_of,
    homogeneous,
    inverse_displacement,
    multiply,
    plus_quadratic,
    quaternion_rotation,
    rotation_of,
    section_rotation_of,
)


class State(NamedTuple):
    """Positions, and local coordinates around them, the variables of derivatives."""

    q: Array  # (nq,)
    delta: Array  # (nv,)


def state_of(arm: ArmLike, q: ArrayLike, delta: ArrayLike | None = None) -> State:
    refuse_followers(arm, "equations of the Lagrangian")
    refuse_geared(arm, "equations of the Lagrangian")
    check_full(arm)
    return State(
        np.asarray(q), np.zeros(arm.nv) if delta is None else np.asarray(delta)
    )


def _columns(where: slice) -> list[int]:
    return list(range(where.start, where.stop))


def mode_columns(arm: ArmLike, body: int) -> list[int]:
    """Places of the modal coordinates of a body in the velocities."""
    return _columns(arm.mode_slice(body))


def joint_columns(arm: ArmLike, body: int) -> list[int]:
    """Places of the joint of a body in the velocities; none if it is fixed."""
    return _columns(arm.body_joint_slice(body))


def armature(arm: ArmLike) -> Array:
    """Armature of the joints among the velocities, (nv,)."""
    result = np.zeros(arm.nv)
    for k, body in enumerate(arm.bodies):
        result[joint_columns(arm, k)] = body.joint.reflected_inertia
    return result


def modal_coordinates(arm: ArmLike, body: int, state: State) -> Array:
    """Modal coordinates of a body."""
    positions = state.q[arm.mode_slice(body, positions=True)]
    return np.asarray(positions + state.delta[arm.mode_slice(body)])


def node_displacement(arm: ArmLike, body: int, node: int, state: State) -> Dual:
    """From the frame of a node, turned by its rotation, to that of its body."""
    b: Body = arm.bodies[body]
    where = mode_columns(arm, body)
    x = _plain(arm, body, state)
    position = affine(b.node_position[node], b.node_translation[node], x, where)
    if b.node_foreshortening is not None:
        position = plus_quadratic(position, b.node_foreshortening[node], x, where)
    columns, strain = b.node_rotation[node], b._strain_energy
    if strain is None:
        turned = rotation_of(columns, x, where)
    else:
        turned = section_rotation_of(columns, strain.axis, x, where)
    return homogeneous(turned, position)


def _plain(arm: ArmLike, body: int, state: State) -> Array:
    """Values of the plain coordinates of a body, at their places among the nv."""
    dtype = np.result_type(state.q, state.delta, float)
    x = np.zeros(arm.nv, dtype=dtype)
    x[mode_columns(arm, body)] = modal_coordinates(arm, body, state)
    at = arm.body_joint_slice(body)
    x[at] = state.delta[at]
    if not arm.bodies[body].joint.has_pose:
        x[at] += state.q[arm.body_joint_slice(body, positions=True)]
    return x


def _joint_displacement(arm: ArmLike, body: int, state: State) -> Dual:
    """Displacement by a joint, from the body to the node of the parent."""
    joint = arm.bodies[body].joint
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = joint.rotation, joint.position
    result = constant(frame, arm.nv)
    where, x = joint_columns(arm, body), _plain(arm, body, state)
    if joint.has_pose:
        q = state.q[arm.body_joint_slice(body, positions=True)]
        placed = np.eye(4, dtype=np.result_type(q, float))
        placed[:3, :3] = quaternion_rotation(q[:4])
        placed[:3, 3] = 0.0 if joint.kind == "spherical" else q[4:]
        result = multiply(result, constant(placed, arm.nv))
        return multiply(result, displacement_of(joint.screws, x, where))
    for i, column in enumerate(where):
        screw = displacement_of(joint.screws[:, i : i + 1], x, [column])
        result = multiply(result, screw)
    return result


def dual_poses(arm: ArmLike, state: State) -> list[Dual]:
    """Pose of every body in the base frame, with its derivatives."""
    result: list[Dual] = []
    for k, (body, parent) in enumerate(zip(arm.bodies, arm._parents, strict=True)):
        hop = _joint_displacement(arm, k, state)
        if body.attachment_node is not None:
            # the joint holds a node that the modes displace from the frame
            held = node_displacement(arm, k, body.attachment_node, state)
            hop = multiply(hop, inverse_displacement(held))
        if parent >= 0:
            node = arm.bodies[parent].node_index(body.joint.node)
            hop = multiply(node_displacement(arm, parent, node, state), hop)
            hop = multiply(result[parent], hop)
        result.append(hop)
    return result
