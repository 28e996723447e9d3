"""Chains in space for the benchmarks, and states of them."""

from __future__ import annotations

import numpy as np
from races import Array

import flexarm as fa


def spatial_chain(N: int, n: int) -> fa.Arm:
    """Links of 1 m and 1 kg on joints about z and y in turn.

    Of the modes of each link two fifths bend it along y, as many along z, the rest, if
    any, twist it.
    """
    twist = n // 5
    along_y = (n - twist + 1) // 2
    along_z = n - twist - along_y
    bending = [
        fa.beams.clamped_beam_modes(1.0, 1.0, 100.0, m) if m else None
        for m in (along_y, along_z)
    ]
    torsion = fa.beams.clamped_rod_modes(1.0, 1e-3, 50.0, twist) if twist else None
    bodies: list[fa.RigidBody | fa.FlexibleBody] = []
    for k in range(N):
        joint = fa.Joint(axis=((0, 0, 1), (0, 1, 0))[k % 2])
        if n == 0:
            rod = fa.RigidBody(
                f"link{k + 1}",
                joint,
                mass=1.0,
                com=(0.5, 0, 0),
                inertia=(1e-3, 1 / 12, 1 / 12),
                nodes={"tip": (1.0, 0, 0)},
            )
            bodies.append(rod)
            continue
        link = fa.beams.flexible_link(
            f"link{k + 1}",
            length=1.0,
            mass_per_length=1.0,
            joint=joint,
            bending_y=bending[0],
            bending_z=bending[1],
            torsion=torsion,
        )
        bodies.append(link)
    return fa.Arm(bodies, name="spatial_chain")


def states(arm: fa.Arm, count: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Positions, velocities and forces; links bend by some degrees.

    One state has no batch axis.
    """
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, (count, arm.nq))
    q[:, arm.nu :] *= 3e-4
    qd, tau = rng.normal(size=(2, count, arm.nv))
    return (q[0], qd[0], tau[0]) if count == 1 else (q, qd, tau)
