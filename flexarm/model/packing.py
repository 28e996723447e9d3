"""An arm as plain arrays, in the layout of ``csrc/model/description.h``.

The C model has joints of one screw and poses.  A joint with several screws becomes a
chain: massless bodies without nodes carry all screws except the last.  A floating body
gets such a carrier for its joint, to which its own node is attached.  A screw whose
axis does not pass through the frame moves a carrier on the axis, on which the next body
is fixed.  Nodes of flexible bodies whose inertia turns with them are bodies on fixed
joints, without nodes, after all others; motors of flexible joints follow them.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from .._calls.arm_like import ArmLike
from .._core import (
    FIDELITIES,
    JOINT_COLUMNS,
    JOINT_KINDS,
    NODE_COLUMNS,
    PASSIVE_COLUMNS,
    TOPOLOGY_COLUMNS,
)
from ..bodies.body import Body
from ..bodies.integrals import ModalIntegrals
from ..bodies.joints import Joint, on_axis
from .loops import pack_constraints
from .lumps import NodeBody, Nodes, integrals_without, node_bodies, rigid_nodes
from .motors import Hidden, force_rows, hidden_bodies, merged, mounts_by_carrier
from .rows import row_of

Array = NDArray[np.float64]


class Packed(NamedTuple):
    """Arrays of an arm; its bodies include carriers in joints of several screws."""

    topology: NDArray[np.intc]  # (n, TOPOLOGY_COLUMNS), body by body
    joints: Array  # (n, JOINT_COLUMNS)
    nodes: Array  # per node: NODE_COLUMNS, whose modes are gamma, lambda, kappa
    modal: (
        Array  # per body: stiffness, damping, integrals, driven shapes, strain energy
    )
    constants: Array  # (5,): gravity, rate of stabilization, number of the fidelity
    loops: NDArray[np.intc]  # (l, LOOP_COLUMNS)
    frames: Array  # (l, 2, FRAME_COLUMNS)
    couplings: Array  # (c, joints and motors + 1): coefficients, constant
    passive: Array  # (p, PASSIVE_COLUMNS)

    def column(self, name: str) -> list[int]:
        """Return a column of the topology."""
        return cast(list[int], self.topology[:, TOPOLOGY_COLUMNS[name].start].tolist())

    @property
    def acting(self) -> list[list[float]]:
        """Kind, body and rotor of each passive force."""
        columns = [PASSIVE_COLUMNS[name].start for name in ("kind", "body", "rotor")]
        return cast(list[list[float]], self.passive[:, columns].tolist())


def _kind(joint: Joint, screw: Array) -> str:
    """Joint kind of the C model for a pose, or for one screw of a product."""
    if joint.has_pose:
        return "spherical" if joint.kind == "spherical" else "pose"
    if not screw.any():
        return "fixed"
    if not screw[:3].any():
        return "prismatic"
    return "helical" if screw[3:].any() else "revolute"


def joint_rows(joint: Joint, floats: bool) -> list[tuple[int, int, Array]]:
    """Kind, freedom and constants of each link of the chain of a joint."""
    S, d, z = joint.screws, joint.friction, np.array([0.0, 0.0, 1.0])
    rows, beside = [], np.zeros(3)
    for i in range(1 if joint.has_pose else joint.n_dof):
        if joint.has_pose:
            screws, damping, axis, offset = S, d, z, np.zeros(3)
        else:
            point, screw = on_axis(S[:, i])
            screws, damping = screw[:, np.newaxis], d[i : i + 1]
            axis = screw[:3] if screw[:3].any() else screw[3:]
            # from the point on the axis of the previous screw to that on this one
            beside, offset = point, point - beside
        row = row_of(
            JOINT_COLUMNS,
            axis=axis,
            position=offset,
            rotation=np.eye(3),
            damping=damping,
            subspace=screws.T,
        )
        rows.append((JOINT_KINDS.index(_kind(joint, screws)), screws.shape[1], row))
    # fixed: a frame that is not on the last axis; the carrier of a floating body
    for _ in range((not rows) + bool(floats or beside.any())):
        row = row_of(JOINT_COLUMNS, axis=z, position=0.0 - beside, rotation=np.eye(3))
        rows.append((JOINT_KINDS.index("fixed"), 0, row))
    first, at = rows[0][2], JOINT_COLUMNS["position"]
    first[at] = joint.position + joint.rotation @ first[at]
    first[JOINT_COLUMNS["rotation"]] = joint.rotation.ravel()
    return rows


def _node_rows(body: Body, massless: bool, rigid: tuple[int, ...]) -> Array:
    """Rows of the nodes; those that are rigid bodies of their own have no mass."""
    inertia = body.node_inertia.reshape(-1, 9)[:, [0, 1, 2, 4, 5, 8]]
    own = np.full((body.n_nodes, 1), 0.0 if massless else 1.0)
    own[list(rigid)] = 0.0
    kappa = body.node_foreshortening
    modes = [body.node_translation, body.node_rotation]
    if kappa is not None:
        modes.append(kappa)
    parts = {
        "mass": own * body.node_mass[:, np.newaxis],
        "com": own * body.node_com,
        "inertia": own * inertia,
        "position": body.node_position,
    }
    *columns, _ = NODE_COLUMNS  # the last ones are those of the modes
    shapes = [x.reshape(body.n_nodes, -1) for x in modes]
    return np.hstack([*(parts[name] for name in columns), *shapes]).ravel()


def _integrals(body: Body, rigid: tuple[int, ...]) -> ModalIntegrals | None:
    """Integrals of a body if they are given or have driven shapes, or None."""
    if body.integrals is None and body.node_foreshortening is None:
        return None
    return integrals_without(body, rigid)


def _fixed_row() -> Array:
    """Constants of a fixed joint in the frame of its node."""
    return row_of(
        JOINT_COLUMNS,
        axis=np.array([0.0, 0.0, 1.0]),
        position=np.zeros(3),
        rotation=np.eye(3),
    )


def _hidden_row(hidden: Hidden) -> Array:
    """Constants of the joint of a part of a motor."""
    joint = hidden.mount.joint
    return row_of(
        JOINT_COLUMNS,
        axis=hidden.mount.axis,
        position=joint.position + joint.rotation @ hidden.offset,
        rotation=joint.rotation,
        damping=hidden.damping,
    )


def _lump_link(arm: ArmLike, lump: NodeBody, place: list[int]) -> Array:
    """Topology of a node that is a rigid body."""
    return row_of(
        TOPOLOGY_COLUMNS,
        parent=place[lump.body],
        node=arm._node_offset[lump.body] + lump.node,
        joint=JOINT_KINDS.index("fixed"),
        integrals=True,
    )


def _carrier(arm: ArmLike, hidden: Hidden, place: list[int]) -> tuple[int, int]:
    """Body of the C model, and node, that carry a part of a motor."""
    p = hidden.mount.carrier
    if p < 0:
        return -1, -1
    node = arm.bodies[p].node_index(hidden.mount.joint.node)
    return place[p], arm._node_offset[p] + node


def pack(
    arm: ArmLike,
    *,
    integrals: bool = False,
    rigid: Nodes | None = None,
    places: Nodes | None = None,
) -> Packed:
    """Return an arm as the plain arrays from which its C model is built.

    Parameters
    ----------
    arm : Arm
        Any arm.
    integrals : bool
        Whether all bodies have modal integrals and no mass on nodes: inertia then is a
        linear function of the arrays.
    rigid, places : tuple of tuple of int, optional
        As of `node_bodies`; by default those of the arm.
    """
    topology: list[Array] = []
    joints, nodes, modal = [], [], []
    place: list[int] = []  # number of each body in the C model
    joint_at: dict[int, int] = {}  # number of the carrier that has the joint
    motors = mounts_by_carrier(arm)
    rigid = rigid_nodes(arm) if rigid is None else rigid
    for body, p, turning in zip(arm.bodies, arm._parents, rigid, strict=True):
        joint = body.joint
        parent, node = -1, -1
        if p >= 0:
            parent = place[p]
            node = arm._node_offset[p] + arm.bodies[p].node_index(joint.node)
        own = body.attachment_node
        # links of the joint, inertia of the body
        rows = joint_rows(joint, own is not None)
        joint_at[len(place)] = len(topology)
        moments, own_integrals = merged(arm, len(place), motors), None
        if integrals and moments is None:
            own_integrals = integrals_without(body, turning)
            moments = own_integrals.pack()
        elif moments is None:
            own_integrals = _integrals(body, turning)
        shapes = None if own_integrals is None else own_integrals.driven
        strain = None if arm.fidelity != "full" else body._strain_energy
        # topology: modes and nodes belong to the last link
        for i, (kind, n_dof, row) in enumerate(rows):
            last = i == len(rows) - 1
            n_modes, n_nodes = (body.n_modes, body.n_nodes) if last else (0, 0)
            if last and own is not None:
                kind = JOINT_KINDS.index("floating")
                node = arm._node_offset[len(place)] + own
            link = row_of(
                TOPOLOGY_COLUMNS,
                parent=parent,
                node=node,
                joint=kind,
                modes=n_modes,
                nodes=n_nodes,
                dof=n_dof,
                integrals=last and (body.integrals is not None or moments is not None),
                second=last and body.node_foreshortening is not None,
                shapes=0 if shapes is None or not last else len(shapes.second),
                strain=0 if strain is None or not last else len(strain.stiffness),
            )
            topology.append(link)
            joints.append(row)
            parent, node = len(topology) - 1, -1
        # nodes and modes
        place.append(parent)
        nodes.append(_node_rows(body, integrals, turning))
        modal += [body.stiffness.ravel(), body.damping.ravel()]
        if body.integrals is not None:
            modal.append(body.integrals.pack())
        elif moments is not None:
            modal.append(moments)
        if shapes is not None:
            modal.append(shapes.pack())
        if strain is not None:
            modal.append(strain.pack())
    # nodes that are rigid bodies
    for lump in node_bodies(arm, rigid, places):
        topology.append(_lump_link(arm, lump, place))
        joints.append(_fixed_row())
        modal.append(lump.moments)
    # motors
    rotor_at: dict[int, int] = {}
    for hidden in hidden_bodies(arm):
        driven = hidden.mount.driven
        turns = hidden.kind != "fixed"
        if turns:
            rotor_at[driven] = len(topology)
        parent, node = _carrier(arm, hidden, place)
        link = row_of(
            TOPOLOGY_COLUMNS,
            parent=parent,
            node=node,
            joint=JOINT_KINDS.index(hidden.kind),
            dof=turns,
            integrals=True,
            drives=1 + joint_at[driven] if turns else 0,
        )
        topology.append(link)
        joints.append(_hidden_row(hidden))
        modal.append(hidden.moments)
    return Packed(
        np.array(topology, dtype=np.intc),
        np.array(joints, dtype=np.float64),
        np.concatenate(nodes),
        np.concatenate(modal),
        np.array([*arm.gravity, arm.stabilization, FIDELITIES.index(arm.fidelity)]),
        *pack_constraints(arm),
        force_rows(arm, joint_at, rotor_at),
    )
