"""Methods that lead a tip along a trajectory, and a spatial arm for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.optimize import paths, track
from flexarm.reference.tracking import frequency_domain, shooting, stable_inversion

BY_NAME: dict[str, Callable[..., Any]] = {
    "least squares": track,
    "collocation": partial(track, method="collocation"),
    "shooting": shooting,
    "stable inversion": stable_inversion,
    "frequency domain": frequency_domain,
}


def spatial(elements: int = 1) -> fa.Arm:
    """Turntable, shoulder and elbow; both links bend in two planes."""
    section = fa.beams.Section.from_stiffness(2.0, 2000.0)
    base = fa.RigidBody(
        "base", mass=2.0, inertia=(0.1, 0.1, 0.1), nodes={"top": (0, 0, 0.3)}
    )
    links = [
        fa.beams.finite_element_link(
            name,
            length=0.8,
            sections=section,
            n_elements=elements,
            joint=fa.Joint("revolute", axis=(0, -1, 0), parent=parent, node=node),
            motions=("bending y", "bending z"),
            payloads=payloads,
            geometric_stiffening=False,
            n_modes="all",
        )
        for name, parent, node, payloads in (
            ("upper", "base", "top", []),
            ("fore", "upper", "tip", [fa.beams.Payload(at=0.8, mass=2.0)]),
        )
    ]
    return fa.Arm([base, *links])


REACH = (0.0, 0.6, -1.2)  # posture of the spatial arm


def reach_line(arm: fa.Arm) -> paths.Path:
    begin = fa.tip_pose(arm, [*REACH, *np.zeros(arm.nq - 3)])[:3, 3]
    return paths.line(begin, begin + np.array([-0.2, 0.4, 0.3]))
