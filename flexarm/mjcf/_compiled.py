"""Bodies, joints and constraints of a compiled model of MuJoCo."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from .._support.arrays import Array
from .._support.checks import listed
from ..bodies import GROUND, CoulombFriction, Joint, RigidBody
from ..model import Coupling, Loop

if TYPE_CHECKING:
    from mujoco import MjModel


_KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical"}


def _turn(quaternion: Array) -> Array:
    """Rotation of a quaternion (w, x, y, z)."""
    return np.asarray(Rotation.from_quat(quaternion[[1, 2, 3, 0]]).as_matrix())


class Compiled:
    """Parts of a compiled model that an arm takes.

    Parameters
    ----------
    mujoco : module
        The package.
    model : mujoco.MjModel
        The model.
    friction_velocity : float or None
        As of `load`.
    """

    def __init__(
        self, mujoco: ModuleType, model: MjModel, friction_velocity: float | None
    ) -> None:
        self._mujoco, self._m = mujoco, model
        self._friction = friction_velocity
        self.gravity = np.array(model.opt.gravity)
        self.name = bytes(model.names).split(b"\0", 1)[0].decode() or "arm"
        self._names = [self._body_name(b) for b in range(model.nbody)]
        # the origin of each body in the frame of that of the arm
        self._origin = [np.zeros(3) for _ in range(model.nbody)]
        for b in range(1, model.nbody):
            if model.body_jntnum[b] and self._kind(self._joints_of(b)[-1]) != "free":
                self._origin[b] = -np.array(model.jnt_pos[self._joints_of(b)[-1]])

    # names

    def _named(self, kind: str, number: int) -> str:
        found = self._mujoco.mj_id2name(
            self._m, getattr(self._mujoco.mjtObj, f"mjOBJ_{kind}"), number
        )
        return found or ""

    def _body_name(self, b: int) -> str:
        name = self._named("BODY", b) or f"body{b}"
        return f"{name} body" if name == GROUND else name

    def _joint_name(self, j: int) -> str:
        return self._named("JOINT", j) or f"joint{j}"

    def _kind(self, j: int) -> str:
        return str(self._mujoco.mjtJoint(int(self._m.jnt_type[j])).name[6:].lower())

    def _joints_of(self, b: int) -> range:
        first = int(self._m.body_jntadr[b])
        return range(first, first + int(self._m.body_jntnum[b]))

    # bodies

    def bodies(self) -> list[RigidBody]:
        """Bodies of the arm, in the order of the model."""
        return [x for b in range(1, self._m.nbody) for x in self._chain(b)]

    def _chain(self, b: int) -> Iterator[RigidBody]:
        """The body with its last joint, after bodies without mass with the others."""
        m, up = self._m, int(self._m.body_parentid[b])
        parent = GROUND if up == 0 else self._names[up]
        place = self._origin[up] + m.body_pos[b]
        turn = _turn(m.body_quat[b])
        joints = self._joints_of(b)
        if not joints:
            held = Joint("fixed", parent=parent, node=0, position=place, rotation=turn)
            yield self._body(b, held)
        before = np.zeros(3)
        for j in joints:
            last = j == joints[-1]
            held = self._joint(j, parent, place + turn @ (m.jnt_pos[j] - before), turn)
            if last:
                yield self._body(b, held)
                return
            parent = f"{self._names[b]}:{self._joint_name(j)}"
            yield RigidBody(parent, held)
            place, turn, before = np.zeros(3), np.eye(3), m.jnt_pos[j]

    def _body(self, b: int, held: Joint) -> RigidBody:
        """Mass, inertia and sites of a body."""
        m, origin = self._m, self._origin[b]
        R = _turn(m.body_iquat[b])
        inertia = R @ np.diag(m.body_inertia[b]) @ R.T
        sites = {}
        for s in map(int, np.flatnonzero(m.site_bodyid == b)):
            name = self._named("SITE", s)
            if name and name != "base":
                sites[name] = origin + m.site_pos[s]
        return RigidBody(
            self._names[b],
            held,
            mass=float(m.body_mass[b]),
            com=origin + m.body_ipos[b],
            inertia=0.5 * (inertia + inertia.T),
            nodes=sites,
        )

    def _joint(self, j: int, parent: str, place: Array, turn: Array) -> Joint:
        """A joint, whose coordinate is zero where that of the model is."""
        m, kind = self._m, self._kind(j)
        own: dict[str, Any] = {"name": self._joint_name(j)}
        if kind == "free":
            return Joint("free", parent=parent, node=0, **own)
        axis, dof = np.array(m.jnt_axis[j]), int(m.jnt_dofadr[j])
        own["damping"] = float(m.dof_damping[dof])
        armature = np.array(m.dof_armature[dof : dof + (3 if kind == "ball" else 1)])
        same = bool((armature == armature[0]).all())
        own["armature"] = float(armature[0]) if same else armature
        if kind != "ball":
            at = float(m.qpos0[m.jnt_qposadr[j]])
            if kind == "hinge":
                turn = turn @ Rotation.from_rotvec(-at * axis).as_matrix()
            else:
                place = place - at * (turn @ axis)
            own |= self._forces(j, dof)
        return Joint(
            _KINDS[kind],
            axis=axis if kind != "ball" else (0.0, 0.0, 1.0),
            parent=parent,
            node=0,
            position=place,
            rotation=turn,
            **own,
        )

    def _forces(self, j: int, dof: int) -> dict[str, object]:
        """Limits, spring, friction and largest force of a joint of one freedom."""
        m, own = self._m, dict[str, Any]()
        if m.jnt_limited[j]:
            own["limits"] = tuple(map(float, m.jnt_range[j]))
        if m.jnt_stiffness[j]:
            own["stiffness"] = float(m.jnt_stiffness[j])
            own["rest"] = float(m.qpos_spring[m.jnt_qposadr[j]])
        if m.dof_frictionloss[dof] and self._friction is not None:
            own["coulomb_friction"] = CoulombFriction(
                float(m.dof_frictionloss[dof]), self._friction
            )
        ranges = [
            float(abs(m.actuator_gear[a, 0]) * abs(m.actuator_forcerange[a]).max())
            for a in self._motors(j)
            if m.actuator_forcelimited[a]
        ]
        if ranges and max(ranges) > 0.0:
            own["effort_limit"] = sum(ranges)
        return own

    def _motors(self, j: int | None = None) -> list[int]:
        """Actuators that act on a joint, or on any."""
        m, to = self._m, self._mujoco.mjtTrn.mjTRN_JOINT
        return [
            a
            for a in range(m.nu)
            if m.actuator_trntype[a] == to
            and (j is None or m.actuator_trnid[a, 0] == j)
        ]

    # constraints

    def _equalities(self) -> list[tuple[int, Coupling | Loop | None]]:
        """Each active equality, and what it is in the arm."""
        return [
            (e, self._equality(e)) for e in range(self._m.neq) if self._m.eq_active0[e]
        ]

    def _equality(self, e: int) -> Coupling | Loop | None:
        m, kinds = self._m, self._mujoco.mjtEq
        kind, data = kinds(int(m.eq_type[e])), np.array(m.eq_data[e])
        name = self._named("EQUALITY", e) or f"equality{e}"
        one, two = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        if kind == kinds.mjEQ_JOINT:
            single = all(
                j < 0 or self._kind(j) in ("hinge", "slide") for j in (one, two)
            )
            return self._coupling(name, one, two, data) if single else None
        if kind not in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
            return None
        if m.eq_objtype[e] != self._mujoco.mjtObj.mjOBJ_BODY:
            return None
        if kind == kinds.mjEQ_CONNECT:
            places, turns = (data[:3], data[3:6]), (np.eye(3), np.eye(3))
        else:  # the second body in the first one
            turns = (_turn(data[6:10]), np.eye(3))
            places = (data[3:6] + turns[0] @ data[:3], data[:3])
        if one == 0:
            one, two, places, turns = two, one, places[::-1], turns[::-1]
        return Loop(
            (self._names[one], 0),
            GROUND if two == 0 else (self._names[two], 0),
            "spherical" if kind == kinds.mjEQ_CONNECT else "fixed",
            position=self._origin[one] + places[0],
            rotation=turns[0],
            position2=self._origin[two] + places[1],
            rotation2=turns[1],
            name=name,
        )

    def _coupling(self, name: str, one: int, two: int, c: Array) -> Coupling | None:
        """Coupling of q1 - q1_0 = c0 + c1 (q2 - q2_0), if there are no other terms."""
        m = self._m
        if c[2:5].any() and two >= 0:
            return None
        first = float(m.qpos0[m.jnt_qposadr[one]])
        if two < 0:
            return Coupling({self._joint_name(one): 1.0}, first + float(c[0]), name)
        second = float(m.qpos0[m.jnt_qposadr[two]])
        slopes = {self._joint_name(one): 1.0, self._joint_name(two): -float(c[1])}
        return Coupling(slopes, first + float(c[0]) - float(c[1]) * second, name)

    def constraints(self) -> list[Coupling | Loop]:
        """Couplings and loops."""
        return [made for _, made in self._equalities() if made is not None]

    # what is left out

    def notes(self) -> list[str]:
        """Sentences on what would affect the motion and is left out."""
        m, result = self._m, []
        heavy = [
            j
            for j in range(m.njnt)
            if self._kind(j) == "free"
            and m.dof_armature[m.jnt_dofadr[j] : m.jnt_dofadr[j] + 6].any()
        ]
        if heavy:
            result.append(
                f"armature of the free {self._joints(heavy)} is left out, which makes "
                "them lighter"
            )
        springs = [
            j
            for j in range(m.njnt)
            if self._kind(j) in ("ball", "free")
            and (m.jnt_stiffness[j] or m.dof_frictionloss[m.jnt_dofadr[j]])
        ]
        if springs:
            result.append(
                f"springs and friction of {self._joints(springs)} are left out"
            )
        lost = [
            self._named("EQUALITY", e) or f"equality{e}"
            for e, made in self._equalities()
            if made is None
        ]
        if lost:
            result.append(f"equality constraints are left out: {listed(lost)}")
        others = m.nu - len(self._motors())
        for count, what in (
            (m.ntendon, "tendons"),
            (others, "actuators that act on no joint"),
            (int(np.count_nonzero(m.body_gravcomp)), "compensations of gravity"),
        ):
            if count:
                result.append(f"{count} {what} are left out")
        if m.opt.viscosity or m.opt.density:
            result.append("forces of a fluid are left out")
        return result

    def _joints(self, chosen: list[int]) -> str:
        return f"joints {listed([self._joint_name(j) for j in chosen])}"
