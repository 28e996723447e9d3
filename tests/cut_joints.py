"""An arm with joints cut: links as free bodies that loop constraints tie together."""

from __future__ import annotations

from typing import Any

import numpy as np
from arrays import Array

import flexarm as fa

_KINDS = {"revolute": "revolute", "fixed": "fixed"}


def _axes(joint: fa.Joint) -> Array:
    """Rotation that takes z to the axis of a joint."""
    z = np.asarray(joint.axis)
    x = np.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def cut(arm: fa.Arm, names: list[str]) -> fa.Arm:
    """The same arm with the joints of these bodies cut: absolute coordinates there.

    Each of them moves freely in the base frame, and a `Loop` ties its node ``"base"``
    to the node that carried it.
    """
    bodies, loops = [], []
    for k, body in enumerate(arm.bodies):
        joint = body.joint
        if body.name not in names:
            # who followed the body before still does, cut or not
            parent = arm.bodies[arm._parents[k]].name if arm._parents[k] >= 0 else None
            keep = joint.replace(parent=parent) if parent else joint
            bodies.append(body.replace(joint=keep))
            continue
        parent = arm.bodies[arm._parents[k]].name
        loops.append(
            fa.Loop(
                (parent, joint.node),
                (body.name, "base"),
                _KINDS[joint.kind],
                position=joint.position,
                rotation=joint.rotation @ _axes(joint),
                rotation2=_axes(joint),
                name=body.name,
            )
        )
        bodies.append(body.replace(joint=fa.Joint("free", parent="ground")))
    return arm.replace(bodies=bodies, constraints=loops)


def _from_tree(tree: fa.Arm, cut_arm: fa.Arm) -> list[Any]:
    """For each body: slices of positions and velocities in both arms, and if cut."""
    rows, at = [], [0, 0, 0, 0]
    for k, (a, b) in enumerate(zip(tree.bodies, cut_arm.bodies, strict=True)):
        sizes = [len(a.joint.neutral), a.joint.n_dof, len(b.joint.neutral)]
        sizes.append(b.joint.n_dof)
        parts = [slice(i, i + n) for i, n in zip(at, sizes, strict=True)]
        at = [i + n for i, n in zip(at, sizes, strict=True)]
        rows.append((k, *parts, b.joint.kind == "free" != a.joint.kind))
    return rows


def cut_state(
    tree: fa.Arm, cut_arm: fa.Arm, q: Array, qd: Array
) -> tuple[Array, Array]:
    """State of the cut arm in which it moves as the tree does."""
    q2, qd2 = cut_arm.neutral.copy(), np.zeros(cut_arm.nv)
    modes = tree.nv - tree.nu
    q2[cut_arm.nq - modes :], qd2[cut_arm.nu :] = q[tree.nq - modes :], qd[tree.nu :]
    for k, p, v, p2, v2, freed in _from_tree(tree, cut_arm):
        if not freed:
            q2[p2], qd2[v2] = q[p], qd[v]
            continue
        base = (tree.bodies[k].name, "base")  # what the joint moves, floating or not
        pose = fa.node_pose(tree, q, base)
        q2[p2] = [*fa.se3.quaternion_from_rotation(pose[:3, :3]), *pose[:3, 3]]
        qd2[v2] = fa.node_velocity(tree, q, qd, base)
    return q2, qd2


def cut_forces(tree: fa.Arm, cut_arm: fa.Arm, q2: Array, torque: Array) -> Array:
    """Joint torques of the tree as forces on all coordinates of the cut arm, (nv,)."""
    tau = np.zeros(cut_arm.nv)
    for k, _, v, _, v2, freed in _from_tree(tree, cut_arm):
        if not freed:
            tau[v2] += torque[v]
            continue
        joint, body = tree.bodies[k].joint, tree.bodies[k]
        carrier = tree.bodies[tree._parents[k]].name
        for part, axis, sign in (
            ((body.name, "base"), joint.axis, 1.0),
            ((carrier, joint.node), joint.rotation @ joint.axis, -1.0),
        ):
            wrench = np.concatenate([sign * torque[v] * axis, np.zeros(3)])
            tau += fa.wrench_forces(cut_arm, q2, wrench, part)
    return tau
