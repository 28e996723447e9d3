"""Check of sizes that look like mm or g."""

from __future__ import annotations

import math

import numpy as np

from .._calls.arm_like import ArmLike
from ..errors import ModelError


def check_units_of_arm(arm: ArmLike) -> None:
    """Raise if sizes are probably wrong by a factor of 1000."""
    meant = "; pass check_units=False if it is meant"
    g = math.hypot(*arm.gravity)
    if g > 500.0:
        raise ModelError(
            f"gravity is {g:g} m/s^2, expected SI units, 9.81 on Earth{meant}"
        )
    for body in arm.bodies:
        centres = body.node_position + body.node_com
        inertia = float(np.abs(body.node_inertia).max())
        if body.integrals is not None:
            own = body.integrals.mp0[np.newaxis] / (body.integrals.m or 1.0)
            centres = np.vstack([centres, own])
            inertia = max(inertia, float(np.abs(body.integrals.J0).max()))
        # lengths
        points = np.vstack([body.node_position, centres, [body.joint.position]])
        reach = float(np.abs(points).max())
        if reach > 200.0:
            raise ModelError(
                f"body {body.name!r} has a point {reach:g} m from its frame, expected "
                f"metres, it looks like millimetres{meant}"
            )
        # inertia by radius of gyration
        mass = float(body.total_mass)
        size = max(reach, float(np.abs(body.node_com).max()))
        widest = 50.0 * size if size > 0.0 else 20.0
        if mass > 0.0 and inertia > mass * widest**2:
            raise ModelError(
                f"body {body.name!r} has an inertia of {inertia:g} kg m^2 with "
                f"{mass:g} kg within {size:g} m, a radius of gyration of "
                f"{np.sqrt(inertia / mass):.3g} m; expected kg and metres{meant}"
            )
        # frequencies
        f = body.frequencies()
        if len(f) and f[0] > 1e6:
            raise ModelError(
                f"body {body.name!r} has a lowest frequency of {f[0]:.3g} Hz, expected "
                f"SI units in its stiffness and mass{meant}"
            )
