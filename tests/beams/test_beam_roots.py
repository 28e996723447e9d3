"""Roots and shapes of clamped beams against computations that share no formula.

The 4 x 4 determinant of the boundary conditions (15), (16) of A. De Luca and
B. Siciliano (1991) in 50 digits, finite elements, Ritz polynomials.
"""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from beam_payloads import PAYLOAD_IDS, PAYLOADS, loaded
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh

from flexarm._support.quadrature import gauss_rule


def boundary_matrix(b: Any, payload: tuple[float, float, float]) -> Any:
    """Clamp and tip conditions (15), (16) of (19) in the four constants, unit beam."""
    mass, inertia, moment = (mp.mpf(value) for value in payload)
    s, c, sh, ch = mp.sin(b), mp.cos(b), mp.sinh(b), mp.cosh(b)
    shape = [s, c, sh, ch]
    first = [b * value for value in (c, -s, ch, sh)]
    second = [b**2 * value for value in (-s, -c, sh, ch)]
    third = [b**3 * value for value in (-c, s, ch, sh)]
    k = b**4
    return mp.matrix(
        [
            [0, 1, 0, 1],
            [b, 0, b, 0],
            [
                second[i] - k * (inertia * first[i] + moment * shape[i])
                for i in range(4)
            ],
            [third[i] + k * (mass * shape[i] + moment * first[i]) for i in range(4)],
        ]
    )


def random_payloads(count: int) -> list[tuple[float, float, float]]:
    rng = np.random.default_rng(1991)
    result = []
    for _ in range(count):
        mass, inertia = 10.0 ** rng.uniform(-4.0, 6.0, 2)
        result.append(
            (mass, inertia, float(rng.uniform(-1.0, 1.0) * np.sqrt(mass * inertia)))
        )
    return result


@pytest.mark.parametrize(
    "payload",
    PAYLOADS + random_payloads(12),
    ids=PAYLOAD_IDS + [f"random {i}" for i in range(12)],
)
def test_roots_change_the_sign_of_the_determinant(
    payload: tuple[float, float, float],
) -> None:
    """The 50-digit determinant of (15), (16) vanishes within 4e-15 of each root."""
    with mp.workdps(50):
        for root in map(mp.mpf, loaded(payload, 20).beta.tolist()):
            below, above = (
                mp.det(boundary_matrix(root * (1 + side * mp.mpf("4e-15")), payload))
                for side in (-1, 1)
            )
            assert below * above < 0


def element_matrices(
    payload: tuple[float, float, float], n_elements: int
) -> tuple[Any, Any]:
    """Hermite elements of the clamped unit beam with its payload; slopes times h."""
    h = 1.0 / n_elements
    k = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]])
    m = np.array(
        [[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22], [-13, -3, -22, 4]]
    )
    n = 2 * (n_elements + 1)
    stiffness, mass = np.zeros((2, n, n))
    for e in range(n_elements):
        own = slice(2 * e, 2 * e + 4)
        stiffness[own, own] += k / h**3
        mass[own, own] += m * h / 420.0
    mass[-2:, -2:] += [
        [payload[0], payload[2] / h],
        [payload[2] / h, payload[1] / h**2],
    ]
    return stiffness[2:, 2:], mass[2:, 2:]


@pytest.mark.parametrize(
    "payload",
    PAYLOADS + random_payloads(12),
    ids=PAYLOAD_IDS + [f"random {i}" for i in range(12)],
)
def test_no_root_is_missed(payload: tuple[float, float, float]) -> None:
    """Between roots k and k + 1, k eigenvalues of K - b^4 M are negative (Sylvester).

    40 elements place mode 20 within (b/40)^4 / 720 = 0.8 %, less than half a gap.
    """
    stiffness, mass = element_matrices(payload, 40)
    b = loaded(payload, 20).beta
    between = np.append(np.sqrt(b[1:] * b[:-1]), 1.02 * b[-1])
    shifted = stiffness - between[:, None, None] ** 4 * mass
    below = (np.linalg.eigvalsh(shifted) < 0.0).sum(axis=1)
    assert_array_equal(below, np.arange(1, 21))


@pytest.mark.parametrize("payload", PAYLOADS[:7], ids=PAYLOAD_IDS[:7])
def test_ritz_polynomials(payload: tuple[float, float, float]) -> None:
    """Frequencies and tip values of 5 modes from 20 polynomials x^2 P_k(2 x - 1).

    The inverse problem, M against K, keeps the digits of the low modes.
    """
    x, weight = gauss_rule(40)
    at = np.append(x, 1.0)
    shape, slope, curvature = np.empty((3, 20, 41))
    for i in range(20):
        part = np.polynomial.legendre.Legendre.basis(i, [0.0, 1.0])
        p, dp, ddp = part(at), part.deriv()(at), part.deriv(2)(at)
        shape[i] = at**2 * p
        slope[i] = 2.0 * at * p + at**2 * dp
        curvature[i] = 2.0 * p + 4.0 * at * dp + at**2 * ddp
    tip = np.stack([shape[:, -1], slope[:, -1]])
    load = np.array([[payload[0], payload[2]], [payload[2], payload[1]]])
    mass = (shape[:, :-1] * weight) @ shape[:, :-1].T + tip.T @ load @ tip
    stiffness = (curvature[:, :-1] * weight) @ curvature[:, :-1].T
    values, vectors = eigh(mass, stiffness)
    omega = values[:-6:-1] ** -0.5
    modes = loaded(payload, 5)
    assert_allclose(omega, modes.omega, rtol=1e-9)
    ritz = vectors[:, :-6:-1] * omega  # modal mass 1 instead of modal stiffness 1
    ritz = ritz * np.sign(weight @ (shape[:, :-1].T @ ritz))
    scale = np.abs(modes.shape(np.linspace(0.0, 1.0, 101))).max(axis=1)
    deflection, rotation = tip @ ritz
    assert np.abs((deflection - modes.tip_deflection) / scale).max() < 1e-9
    assert np.abs((rotation - modes.tip_slope) / (scale * modes.beta)).max() < 1e-9


@pytest.mark.parametrize(
    ("payload", "tolerance"),
    [
        ((0.0, 0.0, 0.0), 2e-14),
        ((0.3, 0.02, 0.05), 2e-14),
        ((5.0, 3.0, -3.8), 2e-14),
        ((1e6, 1e6, 0.0), 1e-12),
    ],
    ids=str,
)
def test_shapes_at_large_arguments(
    payload: tuple[float, float, float], tolerance: float
) -> None:
    """Shape, slope and curvature of 20 modes (b up to 61) against 50 digits.

    The constants of (19) come from the cofactors of the boundary matrix; the three
    are compared relative to their largest value, after scaling by it.
    """
    x = [0.0, 0.01, 0.1, 0.31, 0.5, 0.77, 0.9, 0.99, 1.0]
    modes = loaded(payload, 20)
    with mp.workdps(50):
        for j, start in enumerate(modes.beta.tolist()):
            near = (
                mp.mpf(start) * (1 - mp.mpf("1e-13")),
                start * (1 + mp.mpf("1e-13")),
            )
            b = mp.findroot(
                lambda at: mp.det(boundary_matrix(at, payload)) * mp.exp(-at),
                near,
                solver="anderson",
                tol=mp.mpf("1e-60"),
                verify=False,
            )
            matrix = boundary_matrix(b, payload)
            # (20) and the moment condition, the second row of (21)
            row = [matrix[2, i] - matrix[2, i + 2] for i in (0, 1)]
            c1, c2 = -row[1], row[0]
            functions = [
                lambda t, c1=c1, c2=c2: (
                    c1 * (mp.sin(t) - mp.sinh(t)) + c2 * (mp.cos(t) - mp.cosh(t))
                ),
                lambda t, c1=c1, c2=c2: (
                    c1 * (mp.cos(t) - mp.cosh(t)) - c2 * (mp.sin(t) + mp.sinh(t))
                ),
                lambda t, c1=c1, c2=c2: (
                    -c1 * (mp.sin(t) + mp.sinh(t)) - c2 * (mp.cos(t) + mp.cosh(t))
                ),
            ]
            for order, derivative in enumerate(
                (modes.shape, modes.slope, modes.curvature)
            ):
                exact = [functions[order](b * mp.mpf(at)) for at in x]
                got = derivative(x)[j]
                largest = int(np.argmax(np.abs(got)))
                expected = np.array([float(value / exact[largest]) for value in exact])
                error = np.abs(got / got[largest] - expected).max()
                assert error < tolerance, (j, order, error)
