"""Check of sizes that look like mm or g."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._calls.arm_like import ArmLike
from ..errors import ModelError

_MEANT = "; pass check_units=False if it is meant"
_SMALLEST = 0.2  # m, radius of gyration that no body is too small for


def check_units_of_arm(arm: ArmLike, *, inertia: bool = True) -> None:
    """Raise if sizes are probably wrong by a factor of 1000.

    Parameters
    ----------
    arm : ArmLike
        The arm.
    inertia : bool
        Also check moments of inertia.
    """
    g = math.hypot(*arm.gravity)
    if g > 500.0:
        raise ModelError(
            f"gravity is {g:g} m/s^2, expected SI units, 9.81 on Earth{_MEANT}"
        )
    for body in arm.bodies:
        reach = float(np.abs(_points(body)).max())
        if reach > 200.0:
            raise ModelError(
                f"body {body.name!r} has a point {reach:g} m from its frame, expected "
                f"metres, it looks like millimetres{_MEANT}"
            )
        f = body.frequencies()
        if len(f) and f[0] > 1e6:
            raise ModelError(
                f"body {body.name!r} has a lowest frequency of {f[0]:.3g} Hz, expected "
                f"SI units in its stiffness and mass{_MEANT}"
            )
    if inertia:
        for sentence in doubtful_inertias(arm):
            raise ModelError(sentence + _MEANT)


def doubtful_inertias(arm: ArmLike) -> Iterator[str]:
    """Sentences on bodies whose inertia is far above what their size allows."""
    for body in arm.bodies:
        inertia = float(np.abs(body.node_inertia).max())
        if body.integrals is not None:
            inertia = max(inertia, float(np.abs(body.integrals.J0).max()))
        mass = float(body.total_mass)
        size = max(float(np.abs(x).max()) for x in (_points(body), body.node_com))
        widest = max(50.0 * size, _SMALLEST) if size > 0.0 else 20.0
        if mass > 0.0 and inertia > mass * widest**2:
            yield (
                f"body {body.name!r} has an inertia of {inertia:g} kg m^2 with "
                f"{mass:g} kg within {size:g} m, a radius of gyration of "
                f"{np.sqrt(inertia / mass):.3g} m; expected kg and metres"
            )


def _points(body: Any) -> Any:
    """Points of a body in its frame, with centres of mass and its joint."""
    centres = body.node_position + body.node_com
    if body.integrals is not None:
        own = body.integrals.mp0[np.newaxis] / (body.integrals.m or 1.0)
        centres = np.vstack([centres, own])
    return np.vstack([body.node_position, centres, [body.joint.position]])
