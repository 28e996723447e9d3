"""Units of coordinates, of their rates and of forces on them."""

from __future__ import annotations

from .._support.labelled import Variable, named
from .._support.recorded import Call
from .arguments import any_of
from .arm_like import ArmLike, StackLike

_FORCES = {"rad": "N m", "m": "N", "": ""}


def position_units(arm: ArmLike) -> list[str]:
    """Unit of each position; empty for quaternions and modes."""
    return _units(arm, positions=True)


def _units(arm: ArmLike, *, positions: bool) -> list[str]:
    """Unit of each position or displacement; empty for modes and what has several."""
    units = [""] * (arm.nq if positions else arm.nv)
    motor = (arm.motor_position_slice if positions else arm.motor_slice).start
    for k, body in enumerate(arm.bodies):
        joint = body.joint
        if joint.has_pose if positions else joint.kind == "subspace":
            continue
        at = arm.body_joint_slice(k, positions=positions)
        for i, screw in zip(range(at.start, at.stop), joint.screws.T, strict=True):
            units[i] = "rad" if screw[:3].any() else "m"
        if joint.drive is not None and joint.drive.is_free:
            units[motor] = "rad" if joint.drive.rotary else units[at.start]
            motor += 1
    return units


def velocity_units(arm: ArmLike) -> list[str]:
    """Unit of each velocity; per s of its own unit for modes."""
    return [f"{unit}/s" if unit else "1/s" for unit in _units(arm, positions=False)]


def force_units(arm: ArmLike) -> list[str]:
    """Unit of each generalized force; empty for those on modes."""
    return [_FORCES[unit] for unit in _units(arm, positions=False)]


def coordinates_of_call(call: Call | None, n_forces: int) -> dict[str, Variable]:
    """Names and units of coordinates of the arm of a call; nothing if it has none."""
    known: object = None if call is None else call.arguments.get("arm")
    if not isinstance(known, ArmLike | StackLike):
        return {}
    return coordinates_of(any_of(known), n_forces)


def coordinates_of(arm: ArmLike, n_forces: int) -> dict[str, Variable]:
    """Names and units of positions, of velocities and of ``nu`` or ``nv`` forces."""
    names, units = arm.coordinate_names, force_units(arm)
    some = range(arm.nv) if n_forces == arm.nv else arm.actuator_indices
    return {
        **named("position", arm.position_names, position_units(arm)),
        **named("velocity", names, velocity_units(arm)),
        **named("force", [names[i] for i in some], [units[i] for i in some]),
    }
