"""Random states of random arms, for the tests."""

from __future__ import annotations

import numpy as np
from arrays import Array
from scipy.linalg import block_diag

from flexarm import FlexibleBody, Joint
from flexarm.arm import Arm
from flexarm.library import random_tree

# kinds that a tree of all joints draws from; the first three are the default ones
SEVERAL = (
    "revolute",
    "prismatic",
    "fixed",
    "helical",
    "cylindrical",
    "universal",
    "planar",
    "spherical",
    "free",
    "subspace",
    "screw",
)


def free_joints(arm: Arm) -> tuple[Arm, Array]:
    """The arm with free joints for its subspaces, and what leads to its velocities.

    The joints so replaced have no friction.  A subspace need not be integrable; its
    equations of motion are those of the free joint, on the twists that it allows.
    """
    bodies, blocks = [], []
    for body in arm.bodies:
        S = np.eye(body.joint.n_dof)
        if body.joint.kind == "subspace":
            S = body.joint.screws
            changes = {"kind": "free", "subspace": None, "damping": 0.0}
            body = body.replace(joint=body.joint.replace(**changes))
        bodies.append(body)
        blocks.append(S)
    modes = arm.nv - arm.motor_slice.stop
    return arm.replace(bodies=bodies), block_diag(*blocks, np.eye(modes))


def armed(arm: Arm, seed: int) -> Arm:
    """The arm with armature in most joints without a drive."""
    rng, bodies = np.random.default_rng(seed), []
    for body in arm.bodies:
        joint = body.joint
        if joint.n_dof and joint.drive is None:
            own = rng.uniform(0.05, 1.0, joint.n_dof) * (rng.random(joint.n_dof) > 0.2)
            armature = own if joint.n_dof > 1 else float(own[0])
            body = body.replace(joint=joint.replace(armature=armature))
        bodies.append(body)
    result: Arm = arm.replace(bodies=bodies)
    return result


def idle(arm: Arm, seed: int) -> Arm:
    """The arm without actuators at about half of its joints without a drive."""
    rng, bodies = np.random.default_rng(seed), []
    for body in arm.bodies:
        plain = body.joint.drive is None and body.joint.n_dof > 0
        if plain and (rng.random() < 0.5 or all(b.joint.actuated for b in bodies)):
            body = body.replace(joint=body.joint.replace(actuated=False))
        bodies.append(body)
    result: Arm = arm.replace(bodies=bodies)
    return result


def held_at(body: FlexibleBody, node: int) -> FlexibleBody:
    """The body floating on a node, its foreshortening seen from there."""
    kappa = body.node_foreshortening
    second = None if kappa is None else kappa - kappa[node]
    result: FlexibleBody = body.replace(attachment=node, node_foreshortening=second)
    return result


def in_basis(body: FlexibleBody, W: Array) -> FlexibleBody:
    """The body in coordinates eta' with eta = W eta'."""
    kappa, beam = body.node_foreshortening, body.beam
    result: FlexibleBody = body.replace(
        node_translation=body.node_translation @ W,
        node_rotation=body.node_rotation @ W,
        node_foreshortening=None if kappa is None else W.T @ kappa @ W,
        stiffness=W.T @ body.stiffness @ W,
        damping=W.T @ body.damping @ W,
        beam=None if beam is None else beam.replace(strain=beam.strain @ W),
    )
    return result


def node_table(body: FlexibleBody) -> Array:
    """Nodes as rows, in the layout of the C model, without foreshortening."""
    n = body.n_nodes
    columns = [
        body.node_mass[:, np.newaxis],
        body.node_com,
        body.node_inertia.reshape(n, 9)[:, [0, 1, 2, 4, 5, 8]],
        body.node_position,
        body.node_translation.reshape(n, -1),
        body.node_rotation.reshape(n, -1),
    ]
    return np.hstack(columns)


def quaternions(arm: Arm) -> list[slice]:
    """Where the quaternions stand in q."""
    starts = [
        arm.body_joint_slice(k, positions=True).start
        for k, body in enumerate(arm.bodies)
        if body.joint.has_pose
    ]
    return [slice(start, start + 4) for start in starts]


def random_state(
    rng: np.random.Generator, arm: Arm, amplitude: float = 0.3
) -> tuple[Array, Array, Array]:
    """Positions (modes up to `amplitude`), velocities and accelerations."""
    q = rng.uniform(-3.0, 3.0, arm.nq)
    q[arm.motor_position_slice.stop :] *= amplitude / 3.0
    for at in quaternions(arm):
        q[at] /= np.linalg.norm(q[at])
    return q, rng.normal(size=arm.nv), rng.normal(size=arm.nv)


def fixed(arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    """The arrays, read-only: several tests share them."""
    for x in arrays:
        x.flags.writeable = False
    return arrays


def conservative(arm: Arm) -> Arm:
    """The same arm without friction and damping."""
    return arm.replace(
        bodies=[
            b.replace(
                joint=b.joint.replace(damping=0.0),
                **({"damping": None} if b.n_modes else {}),
            )
            for b in arm.bodies
        ]
    )


def floating(seed: int, gravity: bool = False) -> Arm:
    """A tree with joints of all kinds whose root is free."""
    arm = random_tree(seed, 4, max_modes=2, joints=SEVERAL, gravity=gravity)
    free = Joint("free", position=(0.1, 0.2, 0.3))
    return arm.replace(bodies=[arm.bodies[0].replace(joint=free), *arm.bodies[1:]])


def calm_state(arm: Arm, seed: int) -> tuple[Array, Array]:
    """A state with modest modes and speeds."""
    q, qd, _ = random_state(np.random.default_rng(seed), arm, amplitude=0.05)
    return q, 0.5 * qd
