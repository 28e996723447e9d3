"""Data of the examples of Farid (1997) that several tests use."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexarm.reference import farid_planar as farid

Array = NDArray[np.float64]

# E7: from A to B along a straight line (section 7.5)
START, END, DURATION = np.array([1.8, 0.2]), np.array([1.6, 0.7]), 0.5


def two_link(**changes: Any) -> farid.Parameters:
    """The arm of sections 7.5 and 8.3; rotors and stators as those of section 4.4."""
    data: dict[str, Any] = {"bending_stiffness": 1500.0, "joint_stiffness": 1000.0}
    return farid.Parameters(**{**data, "n_links": 2, **changes})


def line(t: Array) -> tuple[Array, Array, Array]:
    """Cycloidal motion of the tip (7.22) and its derivatives, (n, 2) each."""
    turn = 2.0 * np.pi * np.clip(t / DURATION, 0.0, 1.0)[:, np.newaxis]
    way = END - START
    return (
        START + way * (turn - np.sin(turn)) / (2.0 * np.pi),
        way / DURATION * (1.0 - np.cos(turn)),
        way * 2.0 * np.pi / DURATION**2 * np.sin(turn),
    )


def chords(tip: Array, bend: float = -1.0) -> Array:
    """Chord angles of two links of 1 m that reach a point; the elbow is up for -1."""
    x, y = tip[..., 0], tip[..., 1]
    cosine = 0.5 * (x**2 + y**2) - 1.0
    elbow = bend * np.arccos(cosine)
    first = np.arctan2(y, x) - np.arctan2(np.sin(elbow), 1.0 + cosine)
    return np.stack([first, first + elbow], axis=-1)


def line_angles(t: Array, bend: float = -1.0) -> tuple[Array, Array, Array]:
    """Chord angles along `line` and their derivatives, (n, 2) each."""
    tip, velocity, acceleration = line(t)
    phi = chords(tip, bend)
    along = np.stack([np.cos(phi), np.sin(phi)], axis=-1)
    across = np.stack([-np.sin(phi), np.cos(phi)], axis=-1)
    J = np.swapaxes(across, -1, -2)
    rate = np.linalg.solve(J, velocity[..., np.newaxis])[..., 0]
    rest = acceleration + np.einsum("nk,nki->ni", rate**2, along)
    return phi, rate, np.linalg.solve(J, rest[..., np.newaxis])[..., 0]
