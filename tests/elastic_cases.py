"""Small arms with closed forms, for the tests of statics and vibration."""

from __future__ import annotations

from typing import Any

import numpy as np
from arrays import Array

import flexarm as fa

LENGTH, STIFFNESS = 1.2, 80.0  # of the cantilever, in m and N m^2


def turned(axis: Any, angle: float) -> Array:
    """Rotation matrix."""
    return np.asarray(fa.se3.so3_exp(angle * np.asarray(axis, float)))


def cantilever(
    n_modes: int = 4, *, joint: fa.Joint | None = None, **options: Any
) -> fa.FlexibleBody:
    """A beam along x that bends in both directions."""
    tip = {k: options.pop(k) for k in ("tip_mass", "tip_inertia") if k in options}
    modes = fa.beams.clamped_beam_modes(LENGTH, 2.0, STIFFNESS, n_modes, **tip)
    link = fa.beams.flexible_link(
        "beam",
        length=LENGTH,
        mass_per_length=2.0,
        joint=joint or fa.Joint(),
        bending_y=modes,
        bending_z=modes,
        **tip,
        **options,
    )
    assert isinstance(link, fa.FlexibleBody)
    return link


def slider(name: str, mass: float, stiffness: float, **joint: Any) -> fa.FlexibleBody:
    """A mass that a spring holds along x."""
    return fa.FlexibleBody(
        name,
        fa.Joint("fixed", **joint),
        node_position=[(0, 0, 0)],
        node_mass=[mass],
        node_translation=np.array([[[1.0], [0.0], [0.0]]]),
        stiffness=[stiffness],
    )


def hinge(name: str, stiffness: float, inertia: float, **joint: Any) -> fa.FlexibleBody:
    """A rotational spring about z with a small inertia."""
    return fa.FlexibleBody(
        name,
        fa.Joint("fixed", **joint),
        node_position=[(0, 0, 0)],
        node_mass=[0.0],
        node_inertia=[np.diag([0.0, inertia, inertia])],
        node_translation=np.zeros((1, 3, 1)),
        node_rotation=np.array([[[0.0], [0.0], [1.0]]]),
        stiffness=[stiffness],
    )


def rod(name: str, mass: float, length: float, **joint: Any) -> fa.RigidBody:
    """A massless rod along x with a point mass at its end."""
    return fa.RigidBody(
        name,
        fa.Joint(**joint),
        mass=mass,
        com=(length, 0, 0),
        nodes={"tip": (length, 0, 0)},
    )
