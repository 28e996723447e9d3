"""Bodies and joints of a plant of Drake."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from .._support.arrays import Array
from .._support.checks import listed
from ..bodies import GROUND, Joint, RigidBody
from ..errors import ModelError

if TYPE_CHECKING:
    from pydrake import multibody as drake


_SINGLE = {"revolute": "revolute", "prismatic": "prismatic"}
_OWN = ("_parent", "_child")  # endings of frames that Drake makes for joints


def _pose(frame: drake.tree.Frame) -> Array:
    return np.asarray(frame.GetFixedPoseInBodyFrame().GetAsMatrix4())


class Plant:
    """Parts of a plant that an arm takes.

    Parameters
    ----------
    plant : pydrake.multibody.plant.MultibodyPlant
        The finalized plant.
    hold : bool
        Whether links that float are held on the ground.
    """

    def __init__(self, plant: drake.plant.MultibodyPlant, hold: bool) -> None:
        tree = import_module("pydrake.multibody.tree")
        self._plant, self._hold = plant, hold
        joints = [plant.get_joint(i) for i in plant.GetJointIndices()]
        self._below: dict[str, list[drake.tree.Joint]] = {}
        for joint in joints:
            key = joint.parent_body().scoped_name().get_full()
            self._below.setdefault(key, []).append(joint)
        bodies = [plant.get_body(tree.BodyIndex(i)) for i in range(plant.num_bodies())]
        twice = Counter(body.name() for body in bodies)
        self._names = {
            body.scoped_name().get_full(): self._word(body, twice[body.name()] > 1)
            for body in bodies
        }
        joint_names = Counter(joint.name() for joint in joints)
        self._twice = {name for name, n in joint_names.items() if n > 1}
        self._efforts: dict[str, float] = {}
        self._springs: dict[str, tuple[float, float]] = {}
        self._lost: list[str] = []
        self._read_forces(tree)
        frames = [
            plant.get_frame(tree.FrameIndex(i)) for i in range(plant.num_frames())
        ]
        self._frames: dict[str, dict[str, Array]] = {}
        made = {f"{joint.name()}{end}" for joint in joints for end in _OWN}
        for frame in frames:
            body, name = frame.body().scoped_name().get_full(), frame.name()
            if name in made or name.startswith("__") or name == frame.body().name():
                continue
            place = _pose(frame)[:3, 3]
            if place.any() and name != "base":
                self._frames.setdefault(body, {})[name] = place

    def _word(self, body: drake.tree.RigidBody, scoped: bool) -> str:
        name = str(body.scoped_name().get_full() if scoped else body.name())
        return f"{name} body" if name == GROUND else name

    def _read_forces(self, tree: ModuleType) -> None:
        """Largest forces of actuators, springs, and elements that are left out."""
        plant = self._plant
        for i in plant.GetJointActuatorIndices():
            actuator = plant.get_joint_actuator(i)
            limit = float(actuator.effort_limit())
            if 0.0 < limit < np.inf:
                self._efforts[self._key(actuator.joint())] = limit
            if actuator.default_rotor_inertia():
                self._lost.append(f"the rotor of joint {actuator.joint().name()!r}")
        for i in range(plant.num_force_elements()):
            element = plant.get_force_element(tree.ForceElementIndex(i))
            kind = type(element).__name__
            if kind in ("RevoluteSpring", "PrismaticSpring"):
                rest = getattr(element, "default_nominal_angle", None)
                rest = rest or element.default_nominal_position
                stiffness = float(element.default_stiffness())
                self._springs[self._key(element.joint())] = stiffness, float(rest())
            elif "Gravity" not in kind:
                self._lost.append(f"the force {kind}")
        if plant.num_constraints():
            self._lost.append(f"{plant.num_constraints()} constraints")

    @staticmethod
    def _key(joint: drake.tree.Joint) -> str:
        return f"{joint.model_instance()} {joint.name()}"

    @property
    def gravity(self) -> Array:
        """Acceleration of free fall, (3,)."""
        return np.array(self._plant.gravity_field().gravity_vector())

    @property
    def name(self) -> str:
        """Name of the first model."""
        instances = import_module("pydrake.multibody.tree").ModelInstanceIndex
        if self._plant.num_model_instances() < 3:  # those of the world and the default
            return "arm"
        return str(self._plant.GetModelInstanceName(instances(2)))

    def bodies(self) -> list[RigidBody]:
        """Bodies of the arm, from the ground outward."""
        world = self._plant.world_body().scoped_name().get_full()
        result, waiting = [], self._below.get(world, [])[::-1]
        while waiting:
            joint = waiting.pop()
            child = joint.child_body().scoped_name().get_full()
            result.append(self._body(joint, joint.child_body()))
            waiting += self._below.get(child, [])[::-1]
        return result

    def _body(self, joint: drake.tree.Joint, body: drake.tree.RigidBody) -> RigidBody:
        inertia = body.default_spatial_inertia()
        mass, com = float(inertia.get_mass()), np.array(inertia.get_com())
        if not mass > 0.0:
            mass, com, central = 0.0, np.zeros(3), np.zeros((3, 3))
        else:
            about = inertia.CalcRotationalInertia().CopyToFullMatrix3()
            central = about - mass * (com @ com * np.eye(3) - np.outer(com, com))
        key = body.scoped_name().get_full()
        return RigidBody(
            self._names[key],
            self._joint(joint),
            mass=mass,
            com=com,
            inertia=(central + central.T) / 2.0,
            nodes=self._frames.get(key, {}),
        )

    def _joint(self, joint: drake.tree.Joint) -> Joint:
        """A joint, at zero where Drake has it."""
        kind, name = str(joint.type_name()), str(joint.name())
        parent = joint.parent_body()
        below = parent.name() == self._plant.world_body().name()
        child = np.linalg.inv(_pose(joint.frame_on_child()))
        at = _pose(joint.frame_on_parent()) @ child
        own: dict[str, Any] = {
            "parent": GROUND if below else self._names[parent.scoped_name().get_full()],
            "node": 0,
            "position": at[:3, 3],
            "rotation": at[:3, :3],
            "name": self._scoped(joint) if name in self._twice else name,
        }
        if kind == "weld" or (kind == "quaternion_floating" and self._hold):
            return Joint("fixed", **{**own, "name": None})
        if kind == "quaternion_floating":
            return Joint("free", **{**own, "name": None})
        beside = _pose(joint.frame_on_child())
        damping = np.array(joint.default_damping_vector(), dtype=float)
        if kind == "ball_rpy":
            if np.abs(beside[:3, 3]).max() > 1e-12:
                raise ModelError(
                    f"ball joint {name!r} is beside the frame of its link, expected it "
                    "at the origin; move the frame of the link there"
                )
            return Joint("spherical", damping=damping, **own)
        if kind not in _SINGLE:
            raise ModelError(
                f"joint {name!r} is of the type {kind!r}, expected revolute, "
                "continuous, prismatic, ball or fixed"
            )
        own["damping"] = float(damping[0])
        return self._single(joint, kind, own, beside)

    def _scoped(self, joint: drake.tree.Joint) -> str:
        return f"{self._plant.GetModelInstanceName(joint.model_instance())}::" + str(
            joint.name()
        )

    def _single(
        self, joint: drake.tree.Joint, kind: str, own: dict[str, Any], beside: Array
    ) -> Joint:
        """A joint of one freedom, about an axis that may be beside the frame."""
        given = (
            joint.revolute_axis() if kind == "revolute" else joint.translation_axis()
        )
        axis = beside[:3, :3] @ np.array(given)
        key = self._key(joint)
        low = float(joint.position_lower_limits()[0])
        high = float(joint.position_upper_limits()[0])
        if np.isfinite([low, high]).any():
            own["limits"] = (low, high)
        speed = float(joint.velocity_upper_limits()[0])
        if 0.0 < speed < np.inf:
            own["velocity_limit"] = speed
        if key in self._efforts:
            own["effort_limit"] = self._efforts[key]
        if key in self._springs:
            own["stiffness"], own["rest"] = self._springs[key]
        offset = np.cross(beside[:3, 3], axis)
        if kind == "revolute" and np.abs(offset).max() > 1e-12:
            return Joint("screw", screw=np.concatenate([axis, offset]), **own)
        return Joint(kind, axis=axis, **own)

    def notes(self) -> list[str]:
        """Sentences on what would affect the motion and is left out."""
        return [f"left out: {listed(self._lost, str)}"] if self._lost else []
