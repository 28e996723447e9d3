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
from ..bodies.axes import on_axis
from ..bodies.body import Body
from ..bodies.following import GearedDrive
from ..bodies.integrals import ModalIntegrals
from ..bodies.joints import Joint
from .followers import follower_rows, free_joint
from .loops import pack_constraints
from .lumps import (
    NodeBody,
    Nodes,
    integrals_without,
    node_bodies,
    rigid_nodes,
    sums_without,
)
from .motors import Hidden, force_rows, hidden_bodies, merged, mounts_by_carrier
from .rows import row_of

Array = NDArray[np.float64]

_PARENT, _NODE = (TOPOLOGY_COLUMNS[name].start for name in ("parent", "node"))
# Numbers of the nodes of a body that is packed once, at most.
_MAX_KEPT = 100_000


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
    followers: Array  # (f, 4): body and that of the leader, ratio, offset

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
    S, d, z, eye = joint.screws, joint.friction, _Z, _EYE
    a = joint.reflected_inertia
    rows, beside = [], np.zeros(3)
    for i in range(1 if joint.has_pose else joint.n_dof):
        if joint.has_pose:
            screws, damping, armature, axis, offset = S, d, a, z, np.zeros(3)
        else:
            point, screw = on_axis(S[:, i])
            screws, damping, armature = screw[:, np.newaxis], d[i : i + 1], a[i : i + 1]
            axis = screw[:3] if screw[:3].any() else screw[3:]
            # from the point on the axis of the previous screw to that on this one
            beside, offset = point, point - beside
        row = row_of(
            JOINT_COLUMNS,
            axis=axis,
            position=offset,
            rotation=eye,
            damping=damping,
            armature=armature,
            subspace=screws.T,
        )
        rows.append((JOINT_KINDS.index(_kind(joint, screws)), screws.shape[1], row))
    # fixed: a frame that is not on the last axis; the carrier of a floating body
    for _ in range((not rows) + bool(floats or any(beside.tolist()))):
        row = row_of(JOINT_COLUMNS, axis=z, position=0.0 - beside, rotation=eye)
        rows.append((JOINT_KINDS.index("fixed"), 0, row))
    first, at = rows[0][2], JOINT_COLUMNS["position"]
    first[at] = joint.position + joint.rotation @ first[at]
    first[JOINT_COLUMNS["rotation"]] = joint.rotation.ravel()
    return rows


def _rows_of(joint: Joint, floats: bool) -> list[tuple[int, int, Array]]:
    """Rows of a joint with the armature and damping of a rigid drive, made once."""
    key = ("rows", floats)
    found: list[tuple[int, int, Array]] | None = joint._kept.get(key)
    if found is None:
        found = joint_rows(joint, floats)
        _add_gear(joint, found[0][2])
        for _, _, row in found:
            row.flags.writeable = False
        joint._kept[key] = found
    return found


def _add_gear(joint: Joint, row: Array) -> None:
    """Add armature and damping of a rigid drive to the constants of its joint."""
    drive = joint.drive
    if isinstance(drive, GearedDrive):
        row[JOINT_COLUMNS["armature"].start] += drive.shares[2]
        damping = drive.gear_ratio**2 * drive.motor_damping
        row[JOINT_COLUMNS["damping"].start] += damping


def _node_rows(body: Body, massless: bool, rigid: tuple[int, ...]) -> Array:
    """Rows of the nodes; those that are rigid bodies of their own have no mass."""
    mass, com = body.node_mass[:, np.newaxis], body.node_com
    inertia = body.node_inertia.reshape(-1, 9)[:, [0, 1, 2, 4, 5, 8]]
    if massless or rigid:
        own = np.full((body.n_nodes, 1), 0.0 if massless else 1.0)
        own[list(rigid)] = 0.0
        mass, com, inertia = own * mass, own * com, own * inertia
    kappa = body.node_foreshortening
    modes = [body.node_translation, body.node_rotation] if body.n_modes else []
    if kappa is not None:
        modes.append(kappa)
    parts = {
        "mass": mass,
        "com": com,
        "inertia": inertia,
        "position": body.node_position,
    }
    *columns, _ = NODE_COLUMNS  # the last ones are those of the modes
    shapes = [x.reshape(body.n_nodes, -1) for x in modes]
    rows = [*(parts[name] for name in columns), *shapes]
    return np.concatenate(rows, axis=1).ravel()


def _driven(integrals: ModalIntegrals) -> tuple[int, Array]:
    """Number of driven shapes, and their constants."""
    own = integrals.driven
    return (0, np.zeros(0)) if own is None else (len(own.second), own.pack())


# constants of a fixed joint in the frame of its node
_Z, _EYE = np.array([0.0, 0.0, 1.0]), np.eye(3)
_FIXED_ROW = row_of(JOINT_COLUMNS, axis=_Z, rotation=_EYE)


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


class _Part(NamedTuple):
    """Arrays of one body, which do not depend on its place in the arm."""

    links: Array  # topology, without parents and their nodes
    joints: list[Array]
    nodes: Array
    modal: Array


def _part_of(
    body: Body,
    turning: tuple[int, ...],
    integrals: bool,
    full: bool,
    moments: Array | None,
) -> _Part:
    """Return the arrays of a body, those without `moments` of motors made once."""
    key = ("pack", turning, integrals, full)
    found: _Part | None = body._kept.get(key) if moments is None else None
    if found is None:
        found = _part(body, turning, integrals, full, moments)
        if moments is None and found.nodes.size <= _MAX_KEPT:
            body._kept[key] = found
    return found


def _part(
    body: Body,
    turning: tuple[int, ...],
    integrals: bool,
    full: bool,
    moments: Array | None,
) -> _Part:
    # links of the joint, inertia of the body
    floats = body.attachment is not None
    joint = free_joint(body.joint)
    rows = _rows_of(joint, floats)
    n_shapes, shapes = 0, np.zeros(0)
    if integrals and moments is None:
        own_integrals = integrals_without(body, turning)
        moments = own_integrals.pack()
        n_shapes, shapes = _driven(own_integrals)
    elif moments is None and body.integrals is not None:
        n_shapes, shapes = _driven(body.integrals)
    elif moments is None and body.node_foreshortening is not None:
        n_shapes, shapes = sums_without(body, turning).driven
    strain = body._strain_energy if full else None
    # topology: modes and nodes belong to the last link
    idle = not joint.actuated
    links = [
        row_of(TOPOLOGY_COLUMNS, joint=kind, dof=n_dof, idle=idle)
        for kind, n_dof, _ in rows[:-1]
    ]
    kind, n_dof, _ = rows[-1]
    last = row_of(
        TOPOLOGY_COLUMNS,
        joint=JOINT_KINDS.index("floating") if floats else kind,
        modes=body.n_modes,
        nodes=body.n_nodes,
        dof=n_dof,
        idle=idle,
        integrals=body.integrals is not None or moments is not None,
        second=body.node_foreshortening is not None,
        shapes=n_shapes,
        strain=0 if strain is None else len(strain.stiffness),
    )
    # stiffness and inertia
    modal = [body.stiffness.ravel(), body.damping.ravel()]
    if body.integrals is not None:
        modal.append(body.integrals.pack())
    elif moments is not None:
        modal.append(moments)
    modal.append(shapes)
    if strain is not None:
        modal.append(strain.pack())
    return _Part(
        np.array([*links, last]),
        [row for _, _, row in rows],
        _node_rows(body, integrals, turning),
        np.concatenate(modal),
    )


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
    for k, (body, p) in enumerate(zip(arm.bodies, arm._parents, strict=True)):
        moments = merged(arm, k, motors) if motors else None
        part = _part_of(body, rigid[k], integrals, arm.fidelity == "full", moments)
        # places in the tree: modes, nodes and a floating frame belong to the last link
        parent, node = -1, -1
        if p >= 0:
            parent = place[p]
            node = arm._node_offset[p] + arm.bodies[p].node_index(body.joint.node)
        links = part.links.copy()
        joint_at[k] = len(topology)
        for i, link in enumerate(links):
            own = body.attachment_node if i == len(links) - 1 else None
            link[_PARENT] = parent
            link[_NODE] = node if own is None else arm._node_offset[k] + own
            topology.append(link)
            parent, node = len(topology) - 1, -1
        place.append(parent)
        joints += part.joints
        nodes.append(part.nodes)
        modal.append(part.modal)
    # nodes that are rigid bodies
    for lump in node_bodies(arm, rigid, places):
        topology.append(_lump_link(arm, lump, place))
        joints.append(_FIXED_ROW)
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
        follower_rows(arm, joint_at),
    )
