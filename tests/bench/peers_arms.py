"""Rigid arms that all peers read from one URDF text, and states in the order of each.

A chain of two and one of thirty rods, the seven joints of the KUKA iiwa 14, and a
spacecraft with two arms and a mast, which flies freely.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from races import Array
from scipy.spatial.transform import Rotation

import flexarm as fa

RIGID = ("2 joints", "7 joints", "30 joints", "free-flying tree")


@dataclass(frozen=True)
class Link:
    """A link of a URDF text and the joint that carries it.

    Attributes
    ----------
    name, parent : str
        Of the link and of the one that it hangs on.
    kind : str
        ``"revolute"`` or ``"floating"``.
    axis : str
        One of ``"x"``, ``"y"``, ``"z"``.
    at, rpy : (3,) sequence of float
        Place of the joint in the parent, in m and rad.
    mass : float
        In kg.
    com : (3,) sequence of float
        Centre of mass, in m.
    inertia : (3, 3) ndarray
        About the centre of mass, in kg m^2.
    """

    name: str
    parent: str
    kind: str
    axis: str
    at: Any
    rpy: Any
    mass: float
    com: Any
    inertia: Any


def _words(values: Any) -> str:
    return " ".join(repr(float(x)) for x in values)


def _text(name: str, links: list[Link]) -> str:
    """A robot description."""
    parts = [f'<robot name="{name}">', '<link name="world"/>']
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    for link in links:
        entries = np.asarray(link.inertia)[np.triu_indices(3)]
        inertia = " ".join(
            f'{k}="{float(x)!r}"' for k, x in zip(keys, entries, strict=True)
        )
        axis = _words(np.eye(3)["xyz".index(link.axis)])
        limit = '<limit lower="-4" upper="4" effort="1000" velocity="100"/>'
        hinge = f'<axis xyz="{axis}"/>{limit}' if link.kind == "revolute" else ""
        parts.append(
            f'<link name="{link.name}"><inertial><origin xyz="{_words(link.com)}"/>'
            f'<mass value="{link.mass!r}"/><inertia {inertia}/></inertial></link>'
            f'<joint name="{link.name}" type="{link.kind}">'
            f'<parent link="{link.parent}"/><child link="{link.name}"/>'
            f'<origin xyz="{_words(link.at)}" rpy="{_words(link.rpy)}"/>{hinge}</joint>'
        )
    return "\n".join([*parts, "</robot>"])


def _rods(name: str, count: int, parent: str, at: Any, length: float) -> list[Link]:
    """Rods of 3 kg/m on joints about z and y in turn."""
    mass = 3.0 * length
    across = mass * length**2 / 12.0
    inertia = np.diag([0.002 * mass, across, across])
    links = []
    for i in range(count):
        links.append(
            Link(
                f"{name}{i + 1:02}",
                parent,
                "revolute",
                "zy"[i % 2],
                at,
                (0.0, 0.0, 0.0),
                mass,
                (length / 2.0, 0.0, 0.0),
                inertia,
            )
        )
        parent, at = links[-1].name, (length, 0.0, 0.0)
    return links


def _iiwa() -> list[Link]:
    """The links of `fa.library.iiwa14`."""
    links, parent, at = [], "world", np.zeros(3)
    for body in fa.library.iiwa14().bodies:
        joint = body.joint
        rpy = Rotation.from_matrix(np.array(joint.rotation)).as_euler("xyz")
        place = at + np.array(joint.position)
        links.append(
            Link(
                body.name,
                parent,
                "revolute",
                "z",
                place,
                rpy,
                body.mass,
                body.com,
                body.inertia,
            )
        )
        parent, at = body.name, np.array(body.node_position[-1])
    return links


def _spacecraft() -> list[Link]:
    """A bus of 60 kg with two arms of six joints and a mast of two."""
    bus = Link(
        "bus",
        "world",
        "floating",
        "z",
        np.zeros(3),
        np.zeros(3),
        60.0,
        (0.05, -0.02, 0.1),
        np.diag([8.0, 10.0, 12.0]),
    )
    arms = _rods("left", 6, "bus", (0.5, 0.1, 0.2), 0.4)
    arms += _rods("mast", 2, "bus", (0.0, 0.0, 0.6), 0.8)
    return [bus, *arms, *_rods("right", 6, "bus", (0.5, -0.1, 0.2), 0.4)]


def urdf_text(name: str) -> str:
    """Robot description of one of `RIGID`, or of ``"1 joint"``."""
    links = {
        "1 joint": lambda: _rods("rod", 1, "world", np.zeros(3), 0.5),
        "2 joints": lambda: _rods("rod", 2, "world", np.zeros(3), 0.5),
        "7 joints": _iiwa,
        "30 joints": lambda: _rods("rod", 30, "world", np.zeros(3), 0.5),
        "free-flying tree": _spacecraft,
    }[name]()
    return _text(name.replace(" ", "_"), links)


@dataclass(frozen=True, eq=False)
class States:
    """States of a batch, in the order of one program.

    Attributes
    ----------
    q : (count, nq) ndarray
        Positions.
    qd, qdd, tau : (count, nv) ndarray
        Velocities, accelerations, forces.
    """

    q: Array
    qd: Array
    qdd: Array
    tau: Array


def states(arm: fa.Arm, count: int, seed: int = 0) -> States:
    """Random ones, for flexarm."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (count, arm.nq))
    if arm.nq > arm.nv:
        q[:, :4] = Rotation.random(count, rng=rng).as_quat(scalar_first=True)
    return States(q, *rng.normal(size=(3, count, arm.nv)))


def joint_order(arm: fa.Arm, names: list[str]) -> NDArray[np.intp]:
    """Where flexarm has the velocities of the revolute joints of a peer."""
    ours = list(arm.coordinate_names)
    return np.array([ours.index(name) for name in names if name in ours], dtype=np.intp)


def for_pinocchio(arm: fa.Arm, x: States, names: list[str]) -> States:
    """The states with base (linear; angular), quaternion last, joints as named."""
    at = joint_order(arm, names)
    if arm.nq == arm.nv:
        return States(*(np.ascontiguousarray(y[:, at]) for y in _fields(x)))
    order = np.r_[3:6, 0:3, at]
    q = x.q[:, np.r_[4:7, 1:4, 0, at + 1]]
    rest = (np.ascontiguousarray(y[:, order]) for y in _fields(x)[1:])
    return States(np.ascontiguousarray(q), *rest)


def for_mujoco(arm: fa.Arm, x: States, names: list[str]) -> States:
    """The states with the linear part of the base in the axes of the world."""
    own = for_pinocchio(arm, x, names)
    if arm.nq == arm.nv:
        return own
    q = own.q.copy()
    q[:, 3:7] = x.q[:, :4]
    turn = Rotation.from_quat(x.q[:, :4], scalar_first=True)
    qd, qdd, tau = own.qd.copy(), own.qdd.copy(), own.tau.copy()
    # the acceleration of the origin has a part from turning axes
    spun = qdd[:, :3] + np.cross(qd[:, 3:6], qd[:, :3])
    for full, part in ((qd, qd[:, :3]), (qdd, spun), (tau, tau[:, :3])):
        full[:, :3] = turn.apply(part)
    return States(q, qd, qdd, tau)


def _fields(x: States) -> tuple[Array, Array, Array, Array]:
    return x.q, x.qd, x.qdd, x.tau
