"""Frequencies under loads that follow, with gyroscopic forces and damping.

Oracles: the characteristic equation of Beck's column, finite elements of our own for
that column with damping, the turning beam of benchmarks, a spinning rigid body.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigvals
from scipy.optimize import brentq

import flexarm as fa
from flexarm.beams import Section, finite_element_link

TWO_PI = 2.0 * np.pi
BECK = 20.050953


def beck(P: float, n: int = 2) -> Any:
    """First circular frequencies of a column, EI = L = rho A = 1, by closed form.

    M. Beck, ZAMP 3 (1952): 2 w^2 + P^2 + 2 w^2 cosh a cos b + P w sinh a sin b = 0 with
    a^2, b^2 = (P^2/4 + w^2)^(1/2) -+ P/2.
    """

    def f(w: Any) -> Any:
        root = np.sqrt(P * P / 4.0 + w * w)
        a, b = np.sqrt(root - P / 2.0), np.sqrt(root + P / 2.0)
        turned = 2.0 * w * w * np.cos(b) + P * w * np.tanh(a) * np.sin(b)
        return (2.0 * w * w + P * P) / np.cosh(a) + turned

    grid = np.linspace(0.05, 80.0, 20000)
    at = np.flatnonzero(np.diff(np.sign(f(grid))))[:n]
    return np.array([brentq(f, grid[i], grid[i + 1], xtol=1e-13) for i in at])


@cache
def column(damping: float = 0.0) -> fa.Arm:
    """A clamped beam, EI = L = rho A = 1, of 12 elements without a reduction."""
    beam = finite_element_link(
        "beam",
        length=1.0,
        sections=Section.from_stiffness(1.0, 1.0),
        n_elements=12,
        joint=fa.Joint("fixed"),
        motions=("bending y",),
        geometric_stiffening=True,
        n_modes="all",
    )
    beam = beam.replace(damping=damping * np.asarray(beam.stiffness))
    return fa.Arm([beam], gravity=(0.0, 0.0, 0.0), check_units=False)


def push(P: Any) -> Any:
    return np.multiply.outer(P, [0.0, 0.0, 0.0, -1.0, 0.0, 0.0])


def hermite_column(P: float, damping: float, n: int = 12) -> Any:
    """Eigenvalues of Beck's column by elements of our own, damped like K."""
    h = 1.0 / n
    k = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4.0]])
    m = np.array(
        [[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4.0]]
    )
    g = np.array([[36, 3, -36, 3], [3, 4, -3, -1], [-36, -3, 36, -3], [3, -1, -3, 4.0]])
    scale = np.array([1.0, h, 1.0, h])
    unit = np.outer(scale, scale)
    K, M, G = (np.zeros((2 * n + 2, 2 * n + 2)) for _ in range(3))
    for i in range(n):
        at = slice(2 * i, 2 * i + 4)
        K[at, at] += k * unit / h**3
        M[at, at] += m * unit * h / 420.0
        G[at, at] += g * unit / (30.0 * h)
    total = K - P * G
    total[-2, -1] += P  # the force turns with the tip: virtual work -P v'(1) dv(1)
    K, M, total = K[2:, 2:], M[2:, 2:], total[2:, 2:]
    eye, none = np.eye(len(K)), np.zeros_like(K)
    return eigvals(
        np.block([[none, eye], [-total, -damping * K]]),
        np.block([[eye, none], [none, M]]),
    )


def test_frequencies_of_the_column_of_beck() -> None:
    arm, rest = column(), np.zeros(column().nq)
    loads = np.array([0.0, 10.0, 15.0, 20.0])
    f = fa.natural_frequencies(arm, rest, wrench=push(loads))
    expected = [beck(P) for P in loads]
    assert_allclose(expected[1][0], 5.175762, rtol=1e-6)
    assert_allclose(f[:, :2] * TWO_PI, expected, rtol=4e-4)
    assert_allclose(f[:3, :2] * TWO_PI, expected[:3], rtol=5e-5)

    mapped = fa.workspace_map(arm, np.zeros((1, arm.nq)), wrench=push(10.0))
    assert_allclose(mapped.frequencies[0], f[1], rtol=1e-9)

    # modes of the same squares, of unit mass, with damping ratios of damped ones
    modes = fa.vibration_modes(column(1e-4), rest, wrench=push(10.0))
    assert_allclose(modes.frequencies, f[1], rtol=1e-9)
    M = fa.mass_matrix(arm, rest)
    assert_allclose(np.einsum("ir,ij,jr->r", modes.shapes, M, modes.shapes), 1.0)
    damped = fa.complex_modes(column(1e-4), rest, wrench=push(10.0))
    ratios = damped.damping_ratios[damped.eigenvalues.imag > 0.0]
    assert_allclose(modes.damping_ratios[:2], ratios[:2], rtol=1e-5)

    # in a fixed direction the column buckles: divergence at pi^2/4
    dead = push(np.array([2.46, 2.475]))
    f = fa.natural_frequencies(arm, rest, wrench=dead, frame="base")[:, 0]
    assert f[0] > 0.0 > f[1]


def test_flutter_is_distinguished_from_divergence() -> None:
    arm, rest = column(), np.zeros(column().nq)
    loads = push(BECK * np.array([0.9995, 1.0005]))
    f = fa.natural_frequencies(arm, rest, wrench=loads)
    assert np.isfinite(f[0]).all()
    assert list(np.isnan(f[1])) == [True] * 2 + [False] * (arm.nv - 2)
    assert_allclose(f[1, 2:], f[0, 2:], rtol=1e-3)  # modes keep their places
    modes = fa.vibration_modes(arm, rest, wrench=loads[1])
    assert list(modes.flutter[:3]) == list(modes.unstable[:3]) == [True, True, False]
    assert "flutter" in str(modes) and not modes.rigid.any()
    assert "flutter in 1" in str(fa.vibration_modes(arm, rest, wrench=loads))
    with pytest.raises(fa.ArgumentError, match="mode 0 flutters"):
        modes.displaced(0)
    growing = fa.complex_modes(arm, rest, wrench=loads[1])
    assert growing.flutter.sum() == growing.unstable.sum() == 2
    # a state that diverges is not one that flutters
    dead = fa.vibration_modes(arm, rest, wrench=push(3.0), frame="base")
    assert dead.unstable[0] and not dead.flutter.any()
    fallen = fa.complex_modes(arm, rest, wrench=push(3.0), frame="base")
    assert fallen.unstable.sum() == 1 and not fallen.flutter.any()


def test_damping_brings_flutter_down() -> None:
    # V. V. Bolotin, 1963: internal damping, however small, halves the critical load
    damping, rest = 1e-3, np.zeros(column().nq)

    def growth(P: float) -> float:
        return float(hermite_column(P, damping).real.max())

    critical = brentq(growth, 8.0, 15.0, xtol=1e-6)
    assert 10.8 < critical < 11.1
    arm, loads = column(damping), push(critical * np.array([0.998, 1.002, 1.5]))
    found = fa.equilibrium(arm, np.zeros(arm.nq), wrench=loads)
    assert list(found.stable) == [True, False, False]
    assert (found.lowest_square[1:] < 0.0).all()
    assert fa.equilibrium(column(), rest, wrench=loads).stable.all()
    f = fa.natural_frequencies(arm, rest, qd=np.zeros(arm.nv), wrench=loads)
    assert np.isnan(f).sum(axis=-1).tolist() == [0, 1, 1]
    gust = fa.inputs.node_force(axes="y")
    poles = fa.linearize(arm, rest, inputs=gust, wrench=loads).poles()
    assert poles.unstable.any(axis=-1).tolist() == [False, False, True]
    # eigenvalues one by one
    expected = hermite_column(float(-loads[2, 3]), damping)
    expected = expected[np.argsort(abs(expected))][:8]
    modes = fa.complex_modes(arm, rest, wrench=loads[2]).eigenvalues[:8]
    assert_allclose(np.sort_complex(modes), np.sort_complex(expected), rtol=2e-4)


@pytest.mark.parametrize("speed", [2.0, 6.0, 12.0])
def test_a_turning_beam(speed: float) -> None:
    # A. D. Wright et al., J. Appl. Mech. 49 (1982); lag^2 = flap^2 - speed^2
    flap = {2.0: 4.137320, 6.0: 7.360373, 12.0: 13.170150}[speed]
    blade = finite_element_link(
        "blade",
        length=1.0,
        sections=Section.from_stiffness(1.0, 1.0),
        n_elements=10,
        joint=fa.Joint(),
        motions=("bending y", "bending z"),
        geometric_stiffening=True,
        n_modes="all",
    )
    arm = fa.Arm([blade], gravity=(0.0, 0.0, 0.0), check_units=False)
    qd = np.zeros(arm.nv)
    qd[0] = speed
    f = fa.natural_frequencies(arm, np.zeros(arm.nq), qd=qd, held="joints")
    expected = [np.sqrt(flap**2 - speed**2), flap]
    assert_allclose(f[:2] * TWO_PI, expected, rtol=2e-4)


def test_a_body_that_hangs_on_no_spring_has_no_frequencies() -> None:
    # its weight, held by constant forces of its own axes, is no spring
    body = fa.RigidBody(
        "body", fa.Joint("free"), mass=1.0, com=(0.3, 0, 0), inertia=(0.1, 0.2, 0.3)
    )
    arm = fa.Arm([body])
    modes = fa.vibration_modes(arm, arm.neutral)
    assert modes.rigid.all() and not modes.unstable.any()
    assert not fa.natural_frequencies(arm, arm.neutral).any()


def test_a_spinning_body_precesses() -> None:
    # Euler's equations: w = spin ((C - A)(C - B)/(A B))^(1/2); displacements turn too
    inertia, spin = (0.2, 0.3, 0.4), 3.0
    top = fa.RigidBody("top", fa.Joint("spherical"), mass=1.0, inertia=inertia)
    arm = fa.Arm([top], gravity=(0.0, 0.0, 0.0))
    s = fa.complex_modes(arm, arm.neutral, [0.0, 0.0, spin]).eigenvalues
    nutation = spin * np.sqrt(0.2 * 0.1 / (0.2 * 0.3))
    expected = [-spin, -nutation, 0.0, 0.0, nutation, spin]
    assert_allclose(np.sort(s.imag), expected, rtol=0.0, atol=1e-6)
    expected = fa.linearize(arm, arm.neutral, [0.0, 0.0, spin]).poles()
    assert_allclose(np.sort(np.imag(expected)), np.sort(s.imag), rtol=0.0, atol=1e-6)
