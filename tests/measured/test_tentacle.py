"""The tentacle: its cells beside sections in balance, then the measured postures.

Oracle: the force N and moment M across a section are those of the weight below.  The
strains of a section follow from them and from the tendons that cross it, a small
nonlinear system, and the rod by integration from a moment at the base that leaves none
at the tip (shooting).  Dead loads, no shear, no cells of tendons.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from measured_data import folder as data_folder
from numpy.testing import assert_allclose

from flexarm.measured import tentacle as model
from flexarm.se3 import so3_exp, so3_hat

E, DENSITY = 374e3, 1170.0
G = E / (2.0 * (1.0 + model.POISSON))
STATIONS = np.linspace(0.0, model.LENGTH, 3601)
AREA = np.pi * model.radius(STATIONS) ** 2
ABOVE = np.append(0.0, np.cumsum(0.5 * (AREA[1:] + AREA[:-1]) * np.diff(STATIONS)))
ALONG = np.array([1.0, 0.0, 0.0])


def weight(s: float) -> Any:
    below = ABOVE[-1] - np.interp(s, STATIONS, ABOVE)
    return DENSITY * below * np.array([0.0, 0.0, -9.81])


def strains(s: float, inside: bool, R: Any, M: Any, x: Any, pulls: Any) -> Any:
    """Curvatures and stretch (m, 4) of a section by Newton's method."""
    r = float(model.radius(s))
    stiff = E * np.pi * r * r * np.array([r * r, r * r, r * r, 4.0]) / 4.0
    stiff[0] *= 2.0 * G / E
    load = np.concatenate([M[:, None] @ R, (weight(s) @ R)[:, None, :1]], axis=2)[:, 0]
    for _ in range(8):
        off, slope = stiff * x - load, np.tile(np.diag(stiff), (len(x), 1, 1))
        for pull, angle in zip(pulls.T if inside else (), model.ANGLES, strict=inside):
            out = np.array([0.0, np.cos(angle), np.sin(angle)])
            beside, rate = (0.0114 - 0.0295 * s) * out, -0.0295 * out
            B = np.hstack([-so3_hat(beside), ALONG[:, None]])
            line = x @ B.T + ALONG + rate
            size = np.linalg.norm(line, axis=1, keepdims=True)
            u = line / size
            off = off + pull[:, None] * (u @ B)
            aside = np.eye(3) - u[:, :, None] * u[:, None, :]
            slope = slope + (pull[:, None] / size)[:, :, None] * (B.T @ aside @ B)
        x = x - np.linalg.solve(slope, off[..., None])[..., 0]
    return x


def shoot(M: Any, pulls: Any) -> tuple[Any, Any]:
    """Moments at the tip, and positions (m, 4, 3) of the markers."""
    places = [s for s, _ in model.MARKERS.values()]
    at = np.unique(np.round([*np.linspace(0.0, model.LENGTH, 73), *places], 9))
    m = len(M)
    R = np.tile([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]], (m, 1, 1))
    p, x, found = np.zeros((m, 3)), np.zeros((m, 4)), []

    def rates(s: float, inside: bool, R: Any, M: Any) -> tuple[Any, Any, Any]:
        nonlocal x
        x = strains(s, inside, R, M, x, pulls)
        forward = R[:, :, 0] * (1.0 + x[:, 3:])
        return x[:, :3], forward, -np.cross(forward, weight(s))

    for a, b in pairwise(at):
        h, inside = b - a, b < model.END + 1e-9
        one = rates(a, inside, R, M)
        middle, M2 = R @ so3_exp(0.5 * h * one[0]), M + 0.5 * h * one[2]
        two = rates(0.5 * (a + b), inside, middle, M2)
        R, p, M = R @ so3_exp(h * two[0]), p + h * two[1], M + h * two[2]
        for s, offset in model.MARKERS.values():
            if abs(s - b) < 1e-8:
                found.append(p + R @ np.array(offset))
    return M, np.stack(found, axis=1)


def balanced(pulls: Any) -> Any:
    M, h = np.zeros((len(pulls), 3)), 1e-6
    for _ in range(12):
        tip = shoot(M, pulls)[0]
        J = [(shoot(M + step, pulls)[0] - tip) / h for step in h * np.eye(3)]
        step = np.linalg.solve(np.stack(J, axis=-1), tip[..., None])[..., 0]
        M = M - np.clip(step, -0.05, 0.05)
        if np.abs(step).max() < 1e-7:
            break
    return shoot(M, pulls)[1].reshape(len(pulls), -1)


def test_cells_are_the_rod() -> None:
    pulls = np.array([[1.5, 0.0], [0.0, 4.6], [3.0, 3.0]])
    p = [E, model.END_OFFSET, 0.0]
    assert_allclose(model.predicted(pulls, p, DENSITY), balanced(pulls), atol=1.5e-3)


def test_errors_of_measured_postures() -> None:
    """The rod with the numbers of the data's page, 11.9 mm, and the fitted cells."""
    folder = data_folder(model.SET)
    table = model.SET.read(folder / "postures_fit.csv")
    pulls, y = model.measured(table)
    assert_allclose(model.rms(balanced(pulls), y), 11.9, atol=0.1)
    p = [4.54e5, 3.29e-3, -4.43e-3]
    assert_allclose(model.rms(model.predicted(pulls, p), y), 10.1, atol=0.1)
