"""Check of sizes that look like mm or g, and of links on and in each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .._calls.arm_like import ArmLike
from .._support.arrays import Array
from .._support.warn import warn
from ..bodies.body import Body
from ..bodies.models import RigidBody
from ..errors import ModelError, PlacementWarning

_MEANT = "; pass check_units=False if it is meant"
# Radius of gyration in m that no body is too small for.
_MIN_RADIUS = 0.2


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
        sizes = _sizes(body)
        reach = sizes.reach
        if reach > 200.0:
            raise ModelError(
                f"body {body.name!r} has a point {reach:g} m from its frame, expected "
                f"metres, it looks like millimetres{_MEANT}"
            )
        if sizes.frequency > 1e6 and (f := body.frequencies())[0] > 1e6:
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
        sizes, mass = _sizes(body), float(body.mass)
        size, inertia = sizes.extent, sizes.inertia
        widest = max(50.0 * size, _MIN_RADIUS) if size > 0.0 else 20.0
        if mass > 0.0 and inertia > mass * widest**2:
            yield (
                f"body {body.name!r} has an inertia of {inertia:g} kg m^2 with "
                f"{mass:g} kg within {size:g} m, a radius of gyration of "
                f"{np.sqrt(inertia / mass):.3g} m; expected kg and metres"
            )


def warn_of_places(arm: ArmLike) -> None:
    """Warn of links that are where they are hardly meant, or as no model has them."""
    _warn_of_links_without_end(arm)
    for body, p in zip(arm.bodies, arm._parents, strict=True):
        joint = body.joint
        if joint.kind != "prismatic" or p < 0 or body.beam is None:
            continue
        outer = arm.bodies[p]
        if outer.beam is None:
            continue
        line = outer.beam.axes[-1][:, 0]
        if _along(line, joint.rotation @ joint.axis):
            warn(
                f"link {body.name!r} slides along the flexible link {outer.name!r} as "
                f"if it began at its node {joint.node!r}: where both overlap neither "
                "supports the other, and frequencies may be 25 % off; expected a "
                "Slider on the line of each, a short overlap, or silence "
                "PlacementWarning",
                PlacementWarning,
            )
            return


def _warn_of_links_without_end(arm: ArmLike) -> None:
    """Warn of a link that stands in the joint of the one before, which has no end.

    The axes of two joints coincide, although the mass centre between them is elsewhere.
    """
    for body, p in zip(arm.bodies, arm._parents, strict=True):
        joint, before = body.joint, arm.bodies[p]
        if p < 0 or joint.kind != "revolute" or before.joint.kind != "revolute":
            continue
        if not isinstance(before, RigidBody) or before.nodes or any(joint.position):
            continue
        if joint.node != "tip":  # it is said where
            continue
        line = before.joint.axis
        if _along(line, before.com) or not _along(line, joint.rotation @ joint.axis):
            continue
        if not isinstance(body, RigidBody) or not _along(joint.axis, body.com):
            warn(
                f"joints of {before.name!r} and {body.name!r} turn about the same "
                f"line, since body {before.name!r} has no node at its end; expected "
                f"nodes={{'tip': (length, 0, 0)}} of {before.name!r}, or "
                f"node='base' in the joint of {body.name!r} if it is meant",
                PlacementWarning,
            )
            return


def _along(line: Array, vector: Array) -> bool:
    """Whether a vector is zero or along a line."""
    return bool(max(map(abs, np.cross(line, vector).tolist())) < 1e-9)


class _Sizes(NamedTuple):
    """Sizes of a body, in SI units."""

    reach: float  # of the farthest point from the frame, centres of mass and joint
    extent: float  # the same, or the distance of a mass beside its node
    inertia: float
    frequency: float  # above the lowest one, in Hz


def _sizes(body: Body) -> _Sizes:
    found: _Sizes | None = body._kept.get(_sizes)
    if found is None:
        found = body._kept[_sizes] = _measured(body)
    return found


def _measured(body: Body) -> _Sizes:
    position, com, c = body.node_position, body.node_com, body.integrals
    points, inertias = [position, body.joint.position], [0.0]
    if np.count_nonzero(com):
        points.append(position + com)
    if c is not None:
        points.append(c.mp0 / (c.m or 1.0))
        inertias.append(_largest(c.J0))
    reach = max(map(_largest, points))
    frequency = 0.0
    if body.n_modes:
        with np.errstate(all="ignore"):  # each mode alone is as fast or faster
            square = body.stiffness.diagonal() / body.modal_mass().diagonal()
            frequency = float(np.sqrt(square.min())) / (2.0 * np.pi)
        frequency = frequency if frequency >= 0.0 else np.inf
    inertia = max(_largest(body.node_inertia), *inertias)
    return _Sizes(reach, max(reach, _largest(com)), inertia, frequency)


def _largest(x: Array) -> float:
    """Largest size of an entry; Python is faster for a few."""
    if x.size <= 30:
        return float(max(map(abs, x.ravel().tolist())))
    return float(np.abs(x).max())
