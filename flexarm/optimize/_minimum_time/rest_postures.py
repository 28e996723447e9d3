"""Static postures along a path with their deflection, and forces that hold them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._support.arrays import Array, Mask
from ..._support.interrupts import uninterrupted
from ...arm import Arm
from ...errors import ArgumentError
from ...kinematics import difference, integrate
from ...statics import Equilibrium, InverseStatics, equilibrium, inverse_statics
from .._aim import Aim
from .._charts import coordinates, positions, real_arm
from .._follow import Led, pose_of
from .._path import Path
from .._result import OptimalMotion, on_path_of
from .._verify import between

# Postures at which the static deflection along the path is computed, and a spline drawn
# between.
_POSTURES = 17


def static_postures(
    arm: Arm, path: Path | None, rigid: OptimalMotion
) -> tuple[Array, Array]:
    """Static postures along the path, bent by their weight, at shares of it."""
    shares = np.linspace(0.0, 1.0, _POSTURES)
    if path is None:
        way = rigid.q[0] + shares[:, None] * (rigid.q[-1] - rigid.q[0])
        rest = uninterrupted(equilibrium(real_arm(arm), positions(arm, way)))
        if not np.all(rest.success):
            raise ArgumentError(
                "the arm has no static equilibrium between the two postures, expected "
                "links that carry their weight"
            )
        return shares, coordinates(arm, rest.q)
    postures, start = [], rigid.q[0]
    places = targets = path(shares).position
    turned = ""
    if path.is_oriented:
        targets = pose_of(path.orientation(shares).rotation, places)
        turned = " with its orientation"
    way = on_path_of(rigid).way
    led = isinstance(way._start, Led)
    joints = between(shares, way.s, way.q)
    for i, (s, place, target) in enumerate(zip(shares, places, targets, strict=True)):
        if led and i:  # redundant joints go on as they are led
            start = integrate(arm, start, difference(arm, joints[i - 1], joints[i]))
        found: InverseStatics | Equilibrium
        if path.axis is None:
            found = inverse_statics(arm, target, start)
        else:
            aim = Aim(place, target[:3, :3], path._axis)
            reached = aim.reached(arm, start, restarts=0)
            found = uninterrupted(equilibrium(arm, reached.q))
            found = replace(found, success=np.bool_(found.success and reached.success))
        if not found.success:
            raise ArgumentError(
                f"no static posture of the bent arm has its tip at s = {s:.3g} of the "
                f"path, {np.round(place, 4).tolist()} m{turned}; expected a path "
                "within reach"
            )
        start = found.q
        postures.append(start)
    return shares, np.array(postures)


def length_of_way(arm: Arm, postures: Array, bases: Mask) -> float:
    """Length of a way by postures (n, nv), of tip and joints together, in m and rad."""
    tip = arm.kernels.node_pose(arm.tip_node, postures)[:, :3, 3]
    joints = (postures[-1] - postures[0])[: arm.nu][~bases[: arm.nu]]
    length = np.linalg.norm(np.diff(tip, axis=0), axis=1).sum()
    return float(np.hypot(length, np.linalg.norm(joints)))


def holding_forces(arm: Arm, postures: Array, low: Array, high: Array) -> Array:
    """Forces that hold the arm at both ends, refused beyond the limits."""
    tau = arm.kernels.bias_forces(postures, np.zeros(arm.nv))[:, arm.actuator_indices]
    for place, forces in zip(("start", "end"), tau, strict=True):
        over = np.maximum(forces - high, low - forces)
        k = int(np.argmax(over))
        if over[k] > 0.0:
            name = arm.coordinate_names[int(arm.actuator_indices[k])]
            raise ArgumentError(
                f"limits.torque of {name!r} are {low[k]:g} and {high[k]:g}, but to "
                f"hold the arm at the {place} takes {forces[k]:.4g}, expected wider "
                "ones"
            )
    return np.asarray(tau)
