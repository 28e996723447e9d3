"""Reference curves against shooting, a rigid pendulum, exact elements, and the data."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from each import each
from measured_data import folder as data_folder
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import flexarm as fa
from flexarm.measured import references

LENGTH, EA, EI = 120.0, 4.32e7, 1.44e7  # in, lbf, lbf in^2


def shoot(unknown: np.ndarray, follower: bool) -> np.ndarray:
    """Misses (3,) of the far end of Lee's frame: x, z, and its moment.

    The unknowns are the turn of the foot, its forces along x and z and the load in
    klbf.  Extensible elastica: r' = (1 + t.n/EA) t, theta' = m/EI, m' = -r' x n.
    """
    turn, load = unknown[0], 1e3 * unknown[3]
    n = 1e3 * unknown[1:3]

    def slopes(_: float, y: np.ndarray) -> list[float]:
        c, s = np.cos(y[2]), np.sin(y[2])
        dx, dz = (1.0 + (c * n[0] + s * n[1]) / EA) * np.array([c, s])
        return [dx, dz, y[3] / EI, dz * n[0] - dx * n[1]]

    def along(y: np.ndarray, length: float) -> np.ndarray:
        run = solve_ivp(slopes, (0.0, length), y, rtol=1e-7, atol=1e-7)
        return np.asarray(run.y[:, -1])

    y = along(np.array([0.0, 0.0, 0.5 * np.pi + turn, 0.0]), LENGTH)
    y[2] -= 0.5 * np.pi
    y = along(y, 0.2 * LENGTH)
    down = [np.sin(y[2]), -np.cos(y[2])] if follower else [0.0, -1.0]
    n = n - load * np.array(down)
    y = along(y, 0.8 * LENGTH)
    return np.array([y[0] / LENGTH - 1.0, y[1] / LENGTH - 1.0, y[3] * LENGTH / EI])


def at_limit(unknown: np.ndarray, follower: bool) -> np.ndarray:
    """Misses of an equilibrium, and the determinant that vanishes at a limit."""
    steps = 1e-4 * np.eye(4)[:3]
    J = [shoot(unknown + h, follower) - shoot(unknown - h, follower) for h in steps]
    return np.append(shoot(unknown, follower), np.linalg.det(np.array(J) / 2e-4))


@each(
    "load, n, guess",
    [
        ("dead", 0, [0.7, -3.5, -14.2, 18.6]),
        ("dead", 1, [-1.4, -5.3, -4.8, -9.4]),
        ("follower", 0, [0.7, -7.1, -16.7, 35.4]),
        ("follower", 1, [-0.9, -2.8, -3.4, -13.9]),
    ],
)
def test_limits_of_the_frame_are_those_of_shooting(
    load: str, n: int, guess: list[float]
) -> None:
    found = fsolve(at_limit, guess, args=(load == "follower",), xtol=1e-7)
    assert_allclose(found[3], references.LIMITS[load][n], rtol=1e-5)


@each("load", ("dead", "follower"))
def test_the_frame_snaps_through_and_back(load: str) -> None:
    with pytest.warns(fa.DeflectionWarning):
        path, curve = references.lee_path(load, 10)
    first, lowest = curve["force (klbf)"][path.limits]
    assert_allclose(first, references.LIMITS[load][0], rtol=1e-3)
    assert_allclose(lowest, references.LIMITS[load][1], rtol=2e-2)
    assert curve["stable"][0] == curve["stable"][-1] == 1.0
    assert curve["stable"].min() == 0.0
    folder = data_folder(references.SET)
    for name in ("u1", "u3"):
        points = references.SET.read(folder / f"lee_{load}_{name}.csv")
        assert references.distance(curve, name, points) < 2.0  # 10 pieces


@cache
def swing(slant: int) -> references.Curve:
    return references.swing(slant)


def rods(slant: float, t: np.ndarray) -> np.ndarray:
    """Tip (n, 3) of two rigid rods by Lagrange's equations, of differences of energy.

    The angles a of the first hinge and b of the second; rods of half a metre with their
    mass at nodes of Simpson's rule and at the radius of their section, exactly.
    """
    axis = np.array([np.sin(slant), np.cos(slant), 0.0])
    radius = np.sqrt(2.0 * 3.6e-5 / 1.08)
    aside = radius * np.array([[0.0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    rod = np.concatenate([aside + np.array([x, 0.0, 0.0]) for x in (0.0, 0.25, 0.5)])
    m = np.tile(np.repeat([1.0, 4.0, 1.0], 4) * 0.54 / 24.0, 2)

    def turn(axis: np.ndarray, angle: complex) -> np.ndarray:
        x, y, z = axis
        W = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.eye(3) + np.sin(angle) * W + (1.0 - np.cos(angle)) * W @ W

    def places(a: complex, b: complex) -> np.ndarray:
        first = turn(np.array([0.0, 1.0, 0.0]), a)
        second = first @ turn(axis, b)
        return np.concatenate([rod @ first.T, 0.5 * first[:, 0] + rod @ second.T])

    h = 1e-5

    def forces(_: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:2], y[2:]
        e = h * np.eye(2)
        J = np.stack(
            [(places(*(q + d)) - places(*(q - d))) / (2.0 * h) for d in e], axis=-1
        )
        # acceleration of the places at constant rates of the angles
        s = 1e-4
        ahead, here, back = (places(*(q + k * s * v)) for k in (1, 0, -1))
        curved = (ahead - 2.0 * here + back) / s**2
        M = np.einsum("p,pik,pil->kl", m, J, J)
        f = np.einsum("p,pik,pi->k", m, J, np.array([0.0, 0.0, -9.80665]) - curved)
        return np.concatenate([v, np.linalg.solve(M, f)])

    run = solve_ivp(forces, (t[0], t[-1]), np.zeros(4), t_eval=t, rtol=1e-6, atol=1e-7)
    return np.array([places(a, b)[-4:].mean(axis=0) for a, b in run.y[:2].T])


def test_the_stiff_pendulum_is_that_of_two_rods() -> None:
    slant = 45
    curve = swing(slant)
    at = slice(None, None, 100)
    t = curve["t (s)"][at]
    stiff = np.stack([curve[f"rigid r{i} (L)"][at] for i in (1, 2, 3)], axis=1)
    assert_allclose(stiff, rods(np.radians(slant), t), atol=1e-3)


def test_the_pendulum_follows_the_points() -> None:
    folder = data_folder(references.SET)
    for slant, names in ((0, ("r1", "r3")), (90, ("r1",))):
        curve = swing(slant)
        for r in names:
            given = references.SET.read(folder / f"slanted_{slant}deg_{r}.csv")
            own = np.interp(given["t_s"], curve["t (s)"], curve[f"flexible {r} (L)"])
            assert np.sqrt(np.mean((own - given[f"{r}_over_L"]) ** 2)) < 0.007


def test_the_driven_arm_is_that_of_exact_elements() -> None:
    """Numbers of 80 geometrically exact elements of the plane (Simo, Vu-Quoc 1986).

    Linear in position and angle, one Gauss point, average acceleration of 0.2 ms.
    """
    curve = references.drive(4, 1e-3)
    ends = curve["tip u1 (m)"].min(), curve["tip u3 (m)"].max()
    assert_allclose(ends, [-15.2777, 9.9906], rtol=1e-3)
    last = [x[-1] for x in curve.values()]
    assert_allclose(last, [2.2, -6.9886, 0.8952, -4.8547, 4.9933], atol=1e-2)
