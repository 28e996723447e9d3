"""Classes that files hold, by their names; a file can name no other one."""

from __future__ import annotations

import dataclasses
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

# an object or table, by its keys, and any value
Record: TypeAlias = dict[str, Any]
Tree: TypeAlias = bool | int | float | str | list[Any] | Record | None


# modules of the descriptions, whose constructors check and normalize all fields
DESCRIPTIONS = {
    "Arm": "arm",
    "RigidBody": "bodies.models",
    "FlexibleBody": "bodies.models",
    "SegmentedLink": "bodies.segments",
    "Segment": "bodies.body",
    "Joint": "bodies.joints",
    "Drive": "bodies.drives",
    "CoulombFriction": "bodies.drives",
    "Stops": "bodies.drives",
    "Loop": "model.loops",
    "Coupling": "model.loops",
    "Slider": "model.sliders",
    "BeamProfile": "bodies.profile",
    "Section": "bodies.sections",
    "ShapeShear": "bodies._section_numbers",
    "Material": "bodies.materials",
    "ModalIntegrals": "bodies.integrals",
    "DrivenShapes": "bodies.integrals",
    "Payload": "beams",
    "Tendon": "statics",
    "JointFeedback": "simulation.joint_feedback",
}
# modules of results, and of what they consist of
RESULTS = {
    "Trajectory": "simulation.trajectory",
    "Occurrence": "simulation.events",
    "LoopRun": "control",
    "Equilibrium": "statics",
    "EquilibriumPath": "statics",
    "InverseKinematics": "ik",
    "InverseStatics": "statics",
    "WorkspaceMap": "statics",
    "StateSpace": "linear_models",
    "RootLocus": "linear_models",
    "Robustness": "linear_models",
    "VibrationModes": "vibration",
    "ComplexModes": "vibration",
    "LinkLoads": "loads",
    "OptimalMotion": "optimize",
    "Verification": "optimize._result",
    "TradeOff": "optimize._minimum_time.trade_offs",
    "Comparison": "control._loops.comparison",
    "StateFeedback": "control.linear_quadratic",
    "LinearController": "control",
    "KalmanFilter": "control.kalman",
    "RestToRest": "control",
    "SetPointPD": "control",
    "StrainFeedback": "control",
    "GainSchedule": "control.gain_scheduling",
    "CompositeControl": "control",
    "Inversion": "control",
    "Shaper": "control",
    "Identification": "identification",
    "Record": "identification",
    "Postures": "identification",
    "FrequencyResponse": "identification",
    "Limits": "optimize",
    "Search": "optimize",
    "HalfSpace": "optimize",
    "Sphere": "optimize",
    "Capsule": "optimize",
    "Afloat": "optimize._afloat",
    "PathMotion": "optimize._follow",
    "Fastest": "optimize._result",
    "Scenario": "optimize._result",
    "Branch": "optimize._aim",
    "FitTimings": "identification._result",
    "Call": "_support.recorded",
    "NotKept": "_support.recorded",
}
_PARTS = """
    Excited FrequencyInverse LeastCost MoreModes NodalForces OnPath Rows Searched
    StableInverse Start TimeScaling Timings TipErrors
"""
RESULTS |= dict.fromkeys(_PARTS.split(), "optimize._parts")
# written once in a file and named by number where they appear again
SHARED = ("Arm", "Section", "Material")


@cache
def kind_of_type(name: str) -> Any:
    """Return a class by its name in files."""
    module = (DESCRIPTIONS | RESULTS)[name]
    return getattr(import_module(f"..{module}", __package__), name)


@cache
def fields_of(kind: Any) -> dict[str, object]:
    """Fields that the constructor of a class takes, by name, with their defaults."""
    if not dataclasses.is_dataclass(kind):  # a named tuple
        default = kind._field_defaults
        return {n: default.get(n, dataclasses.MISSING) for n in kind._fields}
    found = {}
    for f in dataclasses.fields(kind):
        if f.init:
            made = f.default_factory
            found[f.name] = f.default if made is dataclasses.MISSING else made()
    return found


def name_of_type(thing: object) -> str | None:
    """Name of the class of an object in files, None if they do not hold it."""
    name = type(thing).__name__
    if type(thing).__module__.partition(".")[0] != __name__.partition(".")[0]:
        return None
    known = name in DESCRIPTIONS or name in RESULTS
    return name if known and kind_of_type(name) is type(thing) else None
