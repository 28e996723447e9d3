"""A spatial arm of four joints and steel tubes, for the tests and the benchmark."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import flexarm as fa

STEEL = {"E": 210e9, "G": 81e9, "density": 7850.0}


def tube(
    name: str, length: float, radius: float, wall: float, joint: fa.Joint, **more: Any
) -> fa.FlexibleBody:
    """A link along x with one mode of bending in each plane and one of torsion."""
    inner = radius - wall
    area = np.pi * (radius**2 - inner**2)
    polar = 0.5 * np.pi * (radius**4 - inner**4)
    line = STEEL["density"] * area
    bending = fa.beams.clamped_beam_modes(
        length, line, STEEL["E"] * 0.5 * polar, 1, tip_mass=more.get("tip_mass", 0.0)
    )
    torsion = fa.beams.clamped_rod_modes(
        length, STEEL["density"] * polar, STEEL["G"] * polar, 1
    )
    return fa.beams.flexible_link(
        name,
        length=length,
        mass_per_length=line,
        joint=joint,
        bending_y=bending,
        bending_z=bending,
        torsion=torsion,
        **more,
    )


def tube_arm(damping_ratio: float = 0.002) -> fa.Arm:
    """Yaw and three pitches, 3.4 kg of payload at the tip and 12 modes."""
    sizes = [(0.5, 0.04, 0.003), (0.8, 0.035, 0.003), (0.7, 0.03, 0.002)]
    loads = [3.0, 2.0, 1.0, 2.0]
    axes = [(0.0, 0.0, 1.0), *3 * [(0.0, 1.0, 0.0)]]
    bodies = [
        tube(
            f"tube{k}",
            *size,
            fa.Joint("revolute", axis=axis, damping=0.1, node="tip" if k else None),
            tip_mass=load,
            tip_inertia=1e-4 * load,
            damping_ratio=damping_ratio,
        )
        for k, (size, axis, load) in enumerate(
            zip([*sizes, (0.4, 0.025, 0.002)], axes, loads, strict=True)
        )
    ]
    with warnings.catch_warnings():  # clamped modes, on purpose
        warnings.simplefilter("ignore", fa.ModeWarning)
        return fa.Arm(bodies, name="tube_arm")


def frequencies(arm: fa.Arm, q: Any) -> Any:
    """Of the modes in Hz, joints locked."""
    nu = arm.nu
    K = np.zeros((arm.nv, arm.nv))
    for k in range(len(arm.bodies)):
        K[arm.mode_slice(k), arm.mode_slice(k)] = arm.bodies[k].stiffness
    M = fa.mass_matrix(arm, q)[nu:, nu:]
    squared = np.linalg.eigvals(np.linalg.solve(M, K[nu:, nu:]))
    return np.sort(np.sqrt(squared.real)) / (2.0 * np.pi)


def manoeuvre(
    n: int, duration: float, period: float = 10.0 / 3.0
) -> tuple[Any, Any, fa.control.JointFeedback]:
    """Times, start and feedback: from one pose to another and back in each period."""
    t = np.linspace(0.0, duration, n + 1)
    start, end = np.array([0.0, -0.6, 1.0, 0.5]), np.array([1.2, -1.0, 0.4, 0.9])
    phase = 2.0 * np.pi * t / period
    part = 0.5 * (1.0 - np.cos(phase))[:, np.newaxis]
    reference = start + part * (end - start)
    rates = np.gradient(reference, t, axis=0)
    law = fa.control.JointFeedback(
        [3e4, 3e4, 1e4, 2e3], [600.0, 600.0, 200.0, 40.0], reference, rates
    )
    return t, np.concatenate([start, np.zeros(12)]), law
