"""The elements of an arm in a robot description, and what it cannot say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._calls.links import joint_name, link_name
from .._support.arrays import Array
from .._support.checks import listed
from ..arm import Arm
from ..bodies import GROUND, Body, Joint, RigidBody, SegmentedLink, modal_integrals
from ..bodies.following import free_joint
from ..errors import ModelError
from ..model import Coupling, Loop, Slider
from ..model.motors import rigid_couplings
from ._arm import KINDS
from ._findings import Table
from ._links import sidecar_table
from ._robot import OWN
from ._sidecar import ARM, JOINTS, NODE, arm_table, beyond, body_table
from ._visuals import Visual
from ._xml import check_word, inertial, origin, tag

_TYPES = {kind: type_ for type_, kind in KINDS.items() if type_ != "continuous"}
_SINGLE = ("revolute", "prismatic")
# Velocity of friction that `load` takes by default.
DEFAULT_SMOOTHING = 0.01
# Number in place of the infinite one of two limits.
_NO_LIMIT = 1e9


class Writer:
    """Text of a description of an arm.

    Parameters
    ----------
    arm : Arm
        The arm.
    frames : bool
        Whether nodes of rigid bodies become links.
    visuals : mapping of str to sequence of Visual
        Shapes of links by their names.

    Attributes
    ----------
    tables : dict of str to dict
        Sidecar of flexible links, of joints and of the arm.
    lost : list of str
        What affects the motion and has no place in either file.
    notes : list of str
        Sentences on what is otherwise in the arm.
    """

    def __init__(
        self, arm: Arm, frames: bool, visuals: Mapping[str, Sequence[Visual]]
    ) -> None:
        self.arm, self._frames, self._visuals = arm, frames, visuals
        self.tables: dict[str, Table] = {}
        self.lost: list[str] = []
        self.notes: list[str] = []
        self._firsts = [k for k, own in enumerate(arm._links) if own.start == k]
        self._taken = {joint_name(arm.bodies[k]) for k in self._moving()}
        self._links = {GROUND, *(link_name(arm.bodies[k]) for k in self._firsts)}
        self._unlimited: list[str] = []  # joints whose largest force is not known
        self._joints: dict[str, Table] = {}  # tables of the sidecar
        self._motors: list[str] = []  # elements of joints with armature
        self._constraints: list[Coupling | Loop | Slider] = []  # of the sidecar
        self._names: dict[int, str] = {}  # of joints in the file

    def _moving(self) -> list[int]:
        return [k for k in self._firsts if free_joint(self.arm.bodies[k].joint).n_dof]

    def parts(self) -> list[str]:
        """All elements of the file; then `tables` are complete."""
        arm = self.arm
        check_word("name of the arm", arm.name)
        mimics = self._mimics()
        order = self._outward()
        parts = [tag("link", *self._shapes(GROUND), name=GROUND)]
        # fixed joints with the name of their node first, as others are free
        named = sorted(order, key=lambda k: not self._node_name(k))
        self._names |= {k: self._joint_name(k) for k in named}
        names = self._names
        for k in order:
            body = arm.bodies[k]
            parts += [self._joint(k, names[k], mimics), self._link(k)]
            if self._frames and isinstance(body, RigidBody):
                parts += self._node_frames(k, names)
        self._add_tables(order)
        if self._unlimited:
            self.notes.append(
                f"largest efforts or speeds that joints {listed(self._unlimited)} do "
                "not have are 0 in the file, where the format demands them"
            )
        return [*parts, *self._motors]

    def _add_tables(self, order: list[int]) -> None:
        """Tables of joints and of the arm, beside those of links."""
        tip = self._tip()
        placed = [self._placed(each) for each in self._constraints]
        arm = arm_table(self.arm, [each for each in placed if each is not None], tip)
        if order != self._firsts:  # readers of URDF go branch after branch
            arm["order"] = [link_name(self.arm.bodies[k]) for k in self._firsts]
        for key, table in ((JOINTS, self._joints), (ARM, arm)):
            if table and key in self._links:
                self.lost.append(f"what a sidecar says of {key}, a name of a link,")
            elif table:
                self.tables[key] = table

    def _outward(self) -> list[int]:
        """First bodies of all links in the order in which a reader finds them."""
        below: dict[int, list[int]] = {}
        for k in self._firsts:
            parent = self.arm._parents[k]
            on = -1 if parent < 0 else self.arm._links[parent].start
            below.setdefault(on, []).append(k)
        order, waiting = [], below.get(-1, [])[::-1]
        while waiting:
            order.append(waiting.pop())
            waiting += below.get(order[-1], [])[::-1]
        return order

    # links

    def _link(self, k: int) -> str:
        """The link of a body, or of all pieces of one."""
        pieces = [self.arm.bodies[i] for i in self.arm._links[k]]
        name = check_word("name of the link", link_name(pieces[0]))
        bends = any(piece.n_modes for piece in pieces)
        if bends or not _simple(pieces[0]):
            self.tables[name] = _table_of(name, pieces)
        mass, com, inertia = straight_inertia(pieces)
        massless = not mass and not inertia.any()
        own = [] if massless else [inertial(mass, com, inertia)]
        return tag("link", *own, *self._shapes(name), name=name)

    def _shapes(self, name: str) -> list[str]:
        return [visual(shape) for shape in self._visuals.get(name, ())]

    def _node_frames(self, k: int, names: dict[int, str]) -> list[str]:
        """Links for the nodes that joints do not give."""
        body, result = self.arm.bodies[k], []
        starts = {names[i] for i in names if self.arm._parents[i] == k}
        for node, where in zip(body.node_names, body.node_position, strict=True):
            if node == "base" or node.removesuffix(" joint") in starts:
                continue
            if node in starts:
                continue
            name = check_word("name of the node", f"{body.name}.{node}")
            while name in self._links or name in self._taken:
                name += "_"
            self._links.add(name)
            self._taken.add(name)
            held = tag(
                "joint",
                origin(where),
                tag("parent", link=body.name),
                tag("child", link=name),
                name=name,
                type="fixed",
            )
            result += [held, tag("link", tag(OWN, node=node), name=name)]
        return result

    # joints

    def _joint_name(self, k: int) -> str:
        """Name of the coordinates; of a fixed joint that of its node, if it is free."""
        body = self.arm.bodies[k]
        if free_joint(body.joint).n_dof:
            return check_word("name of the joint", joint_name(body))
        name = self._node_name(k) or f"{link_name(body)}_joint"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return check_word("name of the joint", name)

    def _node_name(self, k: int) -> str:
        """Name of the node at which a fixed joint starts, empty if it is beside it."""
        body, parent = self.arm.bodies[k], self.arm._parents[k]
        if free_joint(body.joint).n_dof or parent < 0 or body.joint.position.any():
            return ""
        node = self.arm.bodies[parent].node_names[self._node(k)]
        return str({"base": "", "base joint": "base"}.get(node, node))

    def _node(self, k: int) -> int:
        """Number of the node of its parent body that carries a body."""
        arm, parent = self.arm, self.arm._parents[k]
        node = arm.node(parent, arm.bodies[k].joint.node)
        return int(node) - int(arm.node_slice(parent).start)

    def _joint(self, k: int, name: str, mimics: dict[str, str]) -> str:
        body = self.arm.bodies[k]
        joint: Joint = free_joint(body.joint)
        who = f"joint {name!r}"
        type_ = _TYPES.get(joint.kind, "floating")
        if joint.kind not in _TYPES:
            self.notes.append(
                f"{who} is {joint.kind} in the sidecar and floating in the file, as "
                "URDF has no such joint"
            )
        self._check_attachment(body)
        if joint.kind != "fixed":
            own = beyond(joint, lambda key: self._is_said(joint, key))
            self._joints |= {name: own} if own else {}
        if joint.armature and "armature" not in self._joints.get(name, {}):
            self._motors.append(_motor(name, joint.armature))
        place, parent = joint.position, GROUND
        if self.arm._parents[k] >= 0:
            carrier, at = self._carrier(k)
            place, parent = at + joint.position, carrier
            self._check_nearest(k, name, place)
        parts = [
            origin(place, joint.rotation),
            tag("parent", link=parent),
            tag("child", link=link_name(body)),
        ]
        if joint.kind in ("revolute", "prismatic", "planar"):
            parts.append(tag("axis", xyz=joint.axis))
        if joint.kind in _SINGLE:
            type_, limit = self._limit(joint, name)
            parts += [*limit, *self._friction(joint)]
        else:
            parts += self._sizes(joint, name, {})
        if joint.kind == "spherical":
            self.notes.append(
                f"{who} has the type 'spherical', which simulators and flexarm read "
                "but which is not in the format"
            )
        if joint_name(body) in mimics and joint.n_dof:
            parts.append(mimics[joint_name(body)])
        return tag("joint", *parts, name=name, type=type_)

    def _carrier(self, k: int) -> tuple[str, Array]:
        """Link that carries a body, and the place of its node in the straight link."""
        arm, parent = self.arm, self.arm._parents[k]
        own = arm._links[parent]
        at = sum(
            (arm.bodies[i].node_position[-1] for i in range(own.start, parent)),
            np.zeros(3),
        )
        carrier = arm.bodies[parent]
        place = at + carrier.node_position[self._node(k)]
        return link_name(carrier), np.asarray(place)

    def _check_nearest(self, k: int, name: str, place: Array) -> None:
        """Name the node of a joint that a reader would put on another one."""
        arm, parent = self.arm, self.arm._parents[k]
        own = [arm.bodies[i] for i in arm._links[parent]]
        if isinstance(own[0], RigidBody):  # a reader makes a node there
            node = self._place(int(arm.node_slice(parent).start) + self._node(k))
            if arm.bodies[k].joint.position.any() and node is not None:
                self._joints.setdefault(name, {})[NODE] = node[1]
            return
        if not any(piece.n_modes for piece in own):
            return
        at, every, names = np.zeros(3), [], []
        for piece in own:
            every += list(at + piece.node_position)
            names += piece.node_names
            at = at + piece.node_position[-1]
        found = int(np.argmin(np.linalg.norm(np.array(every) - place, axis=1)))
        if name in names:
            found = names.index(name)
        _, meant = self._carrier(k)
        if np.linalg.norm(every[found] - meant) > 1e-9 * np.linalg.norm(at):
            node = arm.bodies[parent].node_names[self._node(k)]
            self._joints.setdefault(name, {})[NODE] = node

    def _check_attachment(self, body: Body) -> None:
        node = body.attachment_node
        if node is not None and body.node_position[node].any():
            raise ModelError(
                f"link {body.name!r} is held by its node {body.attachment!r} beside "
                "its frame, which URDF cannot say, expected the origin"
            )

    def _limit(self, joint: Joint, name: str) -> tuple[str, list[str]]:
        """Type of a joint, and its element of limits."""
        low, high = (-np.inf, np.inf)
        if joint.limits is not None:
            low, high = map(float, joint.limits[:, 0])
        given: Table = {}
        type_ = joint.kind
        if not np.isfinite([low, high]).any():
            type_ = "continuous" if joint.kind == "revolute" else joint.kind
            if joint.kind == "prismatic":  # as simulators and `load` understand it
                given = {"lower": 1.0, "upper": -1.0}
        else:
            given = {
                "lower": low if np.isfinite(low) else -_NO_LIMIT,
                "upper": high if np.isfinite(high) else _NO_LIMIT,
            }
        return type_, self._sizes(joint, name, given)

    def _sizes(self, joint: Joint, name: str, given: Table) -> list[str]:
        """Element of limits with the largest force and speed."""
        sizes = {
            "effort": _size(joint.effort_limit),
            "velocity": _size(joint.velocity_limit),
        }
        if not given and not any(sizes.values()):
            return []
        if not all(sizes.values()):
            self._unlimited.append(name)
        return [tag("limit", **given, **sizes)]

    def _friction(self, joint: Joint) -> list[str]:
        dry, values = joint.coulomb_friction, {}
        damping = float(np.ravel(joint.friction)[0])
        if damping:
            values["damping"] = damping
        if dry is not None:
            values["friction"] = dry.force
        return [tag("dynamics", **values)] if values else []

    def _is_said(self, joint: Joint, key: str) -> bool:
        """Whether the file says a field of a joint as `load` understands it."""
        value, kind = getattr(joint, key), joint.kind
        single = kind in _SINGLE
        if key == "kind":
            return kind in _TYPES
        if key == "axis":
            return single or kind == "planar"
        if key == "axis2":
            again = Joint("planar", axis=joint.axis) if kind == "planar" else None
            return again is not None and np.array_equal(again.axis2, value)
        if key == "limits":  # infinite ones are none
            finite = np.isfinite(value)
            return single and (finite.all() or not finite.any())
        if key in ("velocity_limit", "effort_limit"):
            return np.ndim(value) == 0 and kind in _TYPES and np.isfinite(value)
        if key in ("damping", "armature"):
            return single and np.ndim(value) == 0
        if key == "coulomb_friction":
            return single and value.smoothing_velocity == DEFAULT_SMOOTHING
        return False

    # constraints and options

    def _mimics(self) -> dict[str, str]:
        """Elements of the joints that follow another one, by the joint."""
        singles = {
            joint_name(self.arm.bodies[k]): k
            for k in self._moving()
            if free_joint(self.arm.bodies[k].joint).n_dof == 1
        }
        gears = {c.name for c in rigid_couplings(self.arm)}
        found: dict[str, str] = {}
        for each in self.arm.constraints:
            if each.name in gears:
                continue  # of a drive, which is named itself
            mine = _follower(each, singles, found)
            if mine is None:
                self._constraints.append(each)
                continue
            follower, other, slope, offset = mine
            found[follower] = tag("mimic", joint=other, multiplier=slope, offset=offset)
        return found

    def _tip(self) -> tuple[str, str] | None:
        """Body and node of the tip in the arm of the file, None for its last node."""
        arm = self.arm
        nodes = arm.node_slice(len(arm.bodies) - 1)
        bare = isinstance(arm.bodies[-1], RigidBody) and not self._frames
        if arm.tip_node == (nodes.start if bare else nodes.stop - 1):
            return None
        found = self._place(arm.tip_node)
        if found is None:
            body, node = self._name_of(arm.tip_node)
            self.notes.append(
                f"the tip of the robot {arm.name!r}, node {node!r} of {body!r}, is not "
                "in the file without frames=True; load takes the last node"
            )
        return found

    def _name_of(self, node: int) -> tuple[str, str]:
        """Link and node of a node of the arm."""
        k = self.arm._body_of_node(node)
        body = self.arm.bodies[k]
        return link_name(body), body.node_names[node - self.arm.node_slice(k).start]

    def _placed(
        self, constraint: Coupling | Loop | Slider
    ) -> Coupling | Loop | Slider | None:
        """A constraint with the ends of a loop or slider in the arm of the file."""
        if isinstance(constraint, Coupling):
            return constraint
        given = (
            ((constraint.line, constraint.ends[0]), constraint.point)
            if isinstance(constraint, Slider)
            else (constraint.first, constraint.second)
        )
        ends: list[Any] = [
            end if end == GROUND else self._place(self.arm.node(*end)) for end in given
        ]
        if None in ends:
            self.lost.append(
                f"the constraint {constraint.name!r} without frames=True, which its "
                "nodes need"
            )
            return None
        names = {"line": ends[0][0], "point": ends[1]}
        if not isinstance(constraint, Slider):
            names = {"first": ends[0], "second": ends[1]}
        placed: Loop | Slider = constraint.replace(**names)
        return placed

    def _place(self, node: int) -> tuple[str, str] | None:
        """Body and node in the arm of the file for a node of the arm, None without."""
        arm = self.arm
        k = arm._body_of_node(node)
        number, own = node - arm.node_slice(k).start, self._name_of(node)
        starts = {self._names[i] for i in self._names if arm._parents[i] == k}
        bare = isinstance(arm.bodies[k], RigidBody) and number and not self._frames
        return None if bare and own[1].removesuffix(" joint") not in starts else own


def _size(limit: float) -> float:
    """The largest size of all velocities or forces, zero for none."""
    value = 0.0 if limit is None or np.size(limit) != 1 else float(np.ravel(limit)[0])
    return value if np.isfinite(value) else 0.0


def _motor(name: str, armature: float) -> str:
    """Transmission of a joint whose rotor has an inertia, without reduction."""
    return tag(
        "transmission",
        tag("joint", name=name),
        tag(
            "actuator",
            tag("mechanicalReduction", value=1.0),
            tag("motorInertia", value=armature),
            name=f"{name} motor",
        ),
        name=f"{name} transmission",
    )


def _table_of(name: str, pieces: list[Body]) -> Table:
    """Table of a flexible link: by its parameters, or else by all of its numbers."""
    try:
        return sidecar_table(name, pieces)
    except ModelError:
        whole = len(pieces) == 1 and pieces[0].segment is None
        link = pieces[0] if whole else SegmentedLink(name, Joint(), tuple(pieces))
        return body_table(link)


def _simple(body: Body) -> bool:
    """Whether a body without modes is one rigid body on a frame of its own."""
    return body.integrals is None and body.attachment_node is None


def _follower(
    coupling: object, singles: dict[str, int], found: dict[str, str]
) -> tuple[str, str, float, float] | None:
    """Joint that follows, the other one, factor and offset; None if it is no mimic."""
    if not isinstance(coupling, Coupling):
        return None
    pairs = [(name, c) for name, c in coupling.coefficients if c]
    if len(pairs) != 2 or any(name not in singles for name, _ in pairs):
        return None
    # the joint of its name, or the outer one
    pairs.sort(key=lambda pair: (pair[0] == coupling.name, singles[pair[0]]))
    for (other, b), (mine, a) in (pairs, pairs[::-1]):
        if mine not in found:
            return mine, other, -b / a, coupling.constant / a
    return None


def straight_inertia(pieces: list[Body]) -> tuple[float, Array, Array]:
    """Mass, centre of mass and inertia about it of a straight link, in its frame."""
    if len(pieces) == 1 and isinstance(pieces[0], RigidBody):
        rigid = pieces[0]
        return rigid.mass, rigid.com, rigid.inertia
    mass, moment, about = 0.0, np.zeros(3), np.zeros((3, 3))
    at = np.zeros(3)
    for piece in pieces:
        if piece.integrals is not None:
            c = modal_integrals(piece)
            mass, moment = mass + c.m, moment + c.mp0 + c.m * at
            shift = _about(c.mp0, at) + c.m * _square(at)
            about, at = about + c.J0 + shift, at + piece.node_position[-1]
            continue
        mass += float(piece.node_mass.sum())
        nodes = zip(
            piece.node_mass,
            piece.node_position + at,
            piece.node_com,
            piece.node_inertia,
            strict=True,
        )
        for m, where, p, J in nodes:
            own = J - m * _square(p)  # about its own centre of mass
            moment = moment + m * (where + p)
            about = about + own + m * _square(where + p)
        at = at + piece.node_position[-1]
    com = moment / mass if mass else np.zeros(3)
    inertia = about - mass * _square(com)
    return mass, com, (inertia + inertia.T) / 2.0


def _about(moment: Array, at: Array) -> Array:
    """Change of an inertia by a first moment, about a point that is `at` away."""
    both = np.outer(moment, at)
    return np.asarray(2.0 * float(moment @ at) * np.eye(3) - both - both.T)


def _square(x: Array) -> Array:
    return np.asarray(x @ x * np.eye(3) - np.outer(x, x))


def visual(shape: Visual) -> str:
    """A shape of a link; a mesh by its address."""
    if shape.kind == "mesh":
        inner = tag("mesh", filename=shape.address or "", scale=shape.size)
    elif shape.kind == "box":
        inner = tag("box", size=shape.size)
    else:
        keys = ("radius", "length")
        inner = tag(shape.kind, **dict(zip(keys, shape.size, strict=False)))
    parts = [origin(shape.position, shape.rotation), tag("geometry", inner)]
    if shape.color is not None:
        parts.append(tag("material", tag("color", rgba=shape.color), name=""))
    return tag("visual", *parts)
