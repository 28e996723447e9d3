"""Modes of clamped beams and rods.

Sources: A. De Luca and B. Siciliano, IEEE Trans. SMC 21(4), 1991 ("DLS", equation and
section numbers; [R] marks values recomputed from its equations and data), and table B1
of the benchmarks (clamped beam with tip mass).  Roots and shapes against independent
computations: test_beam_roots.py.
"""

from __future__ import annotations

import doctest
import pickle
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from beam_payloads import PAYLOAD_IDS, PAYLOADS, loaded
from numpy.testing import assert_allclose, assert_array_equal
from refusals import model_refused
from scipy.integrate import quad

import flexarm as fa
from flexarm import beams
from flexarm._support.quadrature import gauss_count, gauss_rule
from flexarm.beams import _single, clamped_beam_modes, clamped_rod_modes
from flexarm.errors import ArgumentError, ModelError

EPS = np.finfo(float).eps

# DLS section VII: rho, l, EI of both links, payload, hubs (J_o is exactly 1/120)
BEAM = (0.5, 0.2, 1.0)
J_L1 = 1.0 / 120.0 + 0.1 + 0.0005 + 0.1 * 0.5**2  # J_o2 + J_h2 + J_p + m_p l_2^2, (28)
LINK1 = {"tip_mass": 1.2, "tip_inertia": J_L1}
LINK2 = {"tip_mass": 0.1, "tip_inertia": 0.0005}


def link_modes(link: int, **changes: Any) -> beams.BeamModes:
    load = {**(LINK1 if link == 1 else LINK2), **changes}
    return clamped_beam_modes(*BEAM, 2, normalization="link", **load)


@pytest.mark.parametrize("link", [1, 2], ids=["DLS VII link 1", "DLS VII link 2"])
@pytest.mark.parametrize(
    ("quantity", "printed"),
    [
        ("frequency", (("0.48", "1.80"), ("2.18", "15.91"))),
        ("tip_deflection", (("0.186", "0.215"), ("0.883", "-0.069"))),
        ("tip_slope", (("0.657", "-0.560"), ("2.641", "-10.853"))),
        ("v", (("0.007", "0.013"), ("0.033", "0.054"))),
        ("w", (("0.002", "0.004"), ("0.012", "0.016"))),
    ],
)
def test_printed_modal_table(
    link: int, quantity: str, printed: tuple[tuple[str, str], tuple[str, str]]
) -> None:
    """DLS section VII: half a unit of the last printed digit."""
    values = getattr(link_modes(link), quantity)
    for value, text in zip(values, printed[link - 1], strict=True):
        half_unit = 0.5 * 10.0 ** -len(text.split(".")[1])
        assert abs(value - float(text)) <= half_unit


RECOMPUTED: dict[str, Any] = {
    "frequency": (0.479693, 1.79659, 2.17833, 15.9145),
    "tip_deflection": (0.185880, 0.215122, 0.883330, -0.0692634),
    "tip_slope": (0.657130, -0.560419, 2.64134, -10.8526),
    "v": (0.00655688, 0.0131217, 0.0332590, 0.0543973),
    "w": (0.00243173, 0.00447306, 0.0121822, 0.0155660),
    "omega": (3.01400, 11.2883, 13.6869, 99.9938),
    "beta": (1.16099, 2.24684, 2.47406, 6.68720),
    "coefficients": (
        (0.666447, -0.680373),
        (1.52374, -0.738864),
        (0.752063, -0.882479),
        (0.793619, -0.746413),
    ),
    "stiffness": (0.908420, 12.7426, 18.7331, 999.877),
}


@pytest.mark.parametrize("quantity", RECOMPUTED)
def test_recomputed_modal_table(quantity: str) -> None:
    """Digest of DLS, 8.2 [R]: every digit given there."""
    values = np.concatenate([getattr(link_modes(link), quantity) for link in (1, 2)])
    assert_allclose(values, RECOMPUTED[quantity], rtol=5e-6)


def test_recomputed_link_integrals() -> None:
    """Digest of DLS, 8.2 [R]: z of the link alone, which is not diagonal."""
    z1, z2 = link_modes(1).z, link_modes(2).z
    assert_allclose(np.diag(z1), [0.000746447, 0.00243393], rtol=5e-6)
    assert_allclose(np.diag(z2), [0.0184845, 0.0406311], rtol=5e-6)
    assert_allclose([z1[0, 1], z2[0, 1]], [0.00130214, 0.0204509], rtol=5e-6)


@pytest.mark.parametrize(
    ("mass", "inertia", "f1", "f2", "deflection", "node"),
    [
        (0.0, 0.0, (0.518596, 1.92618), (5.00514, 31.3667), (2.0, -2.0), 0.78344),
        (
            0.1,
            0.0005,
            (0.479693, 1.79659),
            (2.17833, 15.9145),
            (0.883330, -0.0692634),
            0.98702,
        ),
        (
            0.2,
            0.001,
            (0.448319, 1.69487),
            (1.61664, 12.6182),
            (0.655618, 0.0322440),
            None,
        ),
        (
            0.2,
            0.0005,
            (0.448745, 1.69592),
            (1.63255, 15.8932),
            (0.662090, -0.0387734),
            0.99270,
        ),
    ],
)
def test_payload_table(
    mass: float,
    inertia: float,
    f1: tuple[float, float],
    f2: tuple[float, float],
    deflection: tuple[float, float],
    node: float | None,
) -> None:
    """Digest of DLS, 8.3 [R]: payload moves frequencies and the node of mode 22."""
    first = link_modes(
        1, tip_mass=1.1 + mass, tip_inertia=1.0 / 120.0 + 0.1 + inertia + mass * 0.5**2
    )
    second = link_modes(2, tip_mass=mass, tip_inertia=inertia)
    assert_allclose(first.frequency, f1, rtol=5e-6)
    assert_allclose(second.frequency, f2, rtol=5e-6)
    assert_allclose(second.tip_deflection, deflection, rtol=1e-5)
    x = np.linspace(0.0, 0.5, 100_001)[1:]
    shape = second.shape(x)[1]
    crossings = x[1:][np.diff(np.sign(shape)) != 0.0] / 0.5
    if node is None:
        assert len(crossings) == 0
    else:
        assert_allclose(crossings, [node], rtol=0, atol=1.5e-5)


def test_static_moment_of_link_1() -> None:
    """Digest of DLS, 8.4 [R]: exact modes of link 1 for theta_2 = 0, MD = 0.075."""
    modes = link_modes(1, tip_moment=0.075)
    assert_allclose(modes.frequency, [0.440983, 1.98585], rtol=5e-6)
    assert_allclose(modes.tip_deflection, [0.171226, 0.232681], rtol=5e-6)
    assert_allclose(modes.tip_slope, [0.603176, -0.637450], rtol=5e-6)


@pytest.mark.parametrize(
    ("ratio", "digits"),
    [
        (0.0, ["3.516015", "22.03449", "61.69721", "120.9019", "199.8595"]),
        (1.0, ["1.557298", "16.25009", "50.89584", "105.1983", "179.2320"]),
    ],
    ids=["B1 ratio 0", "B1 ratio 1"],
)
def test_clamped_beam_with_tip_mass(ratio: float, digits: list[str]) -> None:
    """Benchmarks B1: every digit (ratio 1: Math. Probl. Eng. 2017, 1568019, table 1).

    Another length, mass and stiffness than 1, so that the units are tested with it.
    """
    length, rho, stiffness = 3.0, 0.7, 250.0
    modes = clamped_beam_modes(length, rho, stiffness, 5, tip_mass=ratio * rho * length)
    scaled = modes.omega * length**2 * np.sqrt(rho / stiffness)
    for value, text in zip(scaled, digits, strict=True):
        assert f"{value:.{len(text.split('.')[1])}f}" == text


def test_derivatives_of_the_shapes() -> None:
    """Slope and curvature are derivatives of the shape (differences, order h^6)."""
    modes = loaded((0.3, 0.02, 0.05), 4)
    x, h = np.linspace(0.1, 0.9, 9), 0.01
    weights = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / (60.0 * h)
    at = x[:, None] + h * np.arange(-3.0, 4.0)
    assert_allclose(modes.shape(at) @ weights, modes.slope(x), rtol=0, atol=2e-6)
    assert_allclose(modes.slope(at) @ weights, modes.curvature(x), rtol=0, atol=3e-5)


def test_very_heavy_payload_is_a_massless_spring() -> None:
    """Mass 1e6 times the beam: omega^2 = 3 EI / (M + 33/140 m) L^3, shape 3 x^2 - x^3.

    The correction of order (m/M)^2 is 1e-14 of omega^2; the shape is off by m/M.
    """
    modes = loaded((1e6, 0.0, 0.0), 1)
    assert_allclose(modes.omega[0] ** 2, 3.0 / (1e6 + 33.0 / 140.0), rtol=1e-12)
    x = np.linspace(0.0, 1.0, 11)
    assert_allclose(
        modes.shape(x)[0] / modes.tip_deflection[0],
        0.5 * x**2 * (3.0 - x),
        rtol=0,
        atol=1e-6,
    )


@pytest.mark.parametrize("n_modes", [2, 20])
@pytest.mark.parametrize("payload", PAYLOADS[:7], ids=PAYLOAD_IDS[:7])
def test_closed_forms_of_v_and_w(
    payload: tuple[float, float, float], n_modes: int
) -> None:
    """Digest of DLS, section 4 item 8, with the terms of MD added, to rounding.

    v + M phi_e + MD phi'_e = 2 rho C1 / beta and
    w + J phi'_e + M l phi_e + MD (phi_e + l phi'_e) = -2 rho C2 / beta^2: force and
    moment at the clamp are the rates of momentum of the whole.
    """
    mass, inertia, moment = payload
    modes = loaded(payload, n_modes)
    deflection, slope = modes.tip_deflection, modes.tip_slope
    c1, c2 = modes.coefficients.T
    # the tip slope is beta times functions of beta, whose rounding is beta eps
    limit = (1.0 + mass + inertia) * (5e-15 + 2.3e-16 * modes.beta**2)
    force = modes.v + mass * deflection + moment * slope
    assert (np.abs(force - 2.0 * c1 / modes.beta) <= limit).all()
    turning = modes.w + inertia * slope + mass * deflection
    turning = turning + moment * (deflection + slope)
    assert (np.abs(turning + 2.0 * c2 / modes.beta**2) <= limit).all()


@pytest.mark.parametrize("link", [1, 2])
def test_closed_forms_of_the_two_link_arm(link: int) -> None:
    """Digest of DLS, section 4 item 8 with its data (b_131, b_141, b_151, b_161)."""
    modes = link_modes(link)
    load = LINK1 if link == 1 else LINK2
    mass, inertia = load["tip_mass"], load["tip_inertia"]
    c1, c2 = modes.coefficients.T
    assert_allclose(
        modes.v + mass * modes.tip_deflection, 2.0 * 0.2 * c1 / modes.beta, rtol=1e-13
    )
    total = modes.w + inertia * modes.tip_slope + mass * 0.5 * modes.tip_deflection
    assert_allclose(total, -2.0 * 0.2 * c2 / modes.beta**2, rtol=1e-13)
    printed = [0.05766938, 0.006676532]  # digest 6.4, b25 = g_k of link 2
    if link == 2:
        assert_allclose(total, printed, rtol=5e-7)


@pytest.mark.parametrize("n_modes", [1, 3, 20])
def test_integrals_against_adaptive_quadrature(n_modes: int) -> None:
    """(24d-g) of the highest mode by QUADPACK."""
    modes = clamped_beam_modes(2.0, 0.3, 40.0, n_modes, tip_mass=0.5, tip_inertia=0.1)
    j = n_modes - 1

    def integral(function: Any) -> float:
        return float(quad(function, 0.0, 2.0, epsabs=1e-14, epsrel=1e-12, limit=400)[0])

    def shape(x: float) -> float:
        return float(modes.shape(x)[j])

    first, last = modes.z[0, 0], modes.z[j, j]
    assert_allclose(modes.v[j], integral(lambda x: 0.3 * shape(x)), rtol=0, atol=2e-14)
    assert_allclose(
        modes.w[j], integral(lambda x: 0.3 * x * shape(x)), rtol=0, atol=2e-14
    )
    assert_allclose(last, integral(lambda x: 0.3 * shape(x) ** 2), rtol=2e-14)
    assert_allclose(
        modes.z[0, j],
        integral(lambda x: 0.3 * shape(x) * float(modes.shape(x)[0])),
        rtol=0,
        atol=2e-14 * np.sqrt(first * last),
    )
    assert_allclose(
        modes.k[j, j],
        integral(lambda x: 40.0 * float(modes.curvature(x)[j]) ** 2),
        rtol=2e-14,
    )


@pytest.mark.parametrize("payload", PAYLOADS, ids=PAYLOAD_IDS)
def test_total_modal_mass_is_orthogonal(payload: tuple[float, float, float]) -> None:
    """(31): modal mass with payload is the identity, stiffness omega^2 (35).

    The floor is what one rounding of beta does to the tip values, times the payload.
    """
    modes = loaded(payload, 20)
    tip = np.stack([modes.tip_deflection, modes.tip_slope])
    heavy = np.sqrt([payload[0], payload[1]]) @ np.abs(tip)
    floor = 60.0 * EPS * (1.0 + np.sqrt(payload[0]) + 60.0 * np.sqrt(payload[1]))
    assert np.abs(modes.modal_mass - np.eye(20)).max() < floor * (1.0 + heavy.max())
    assert_allclose(modes.stiffness, modes.omega**2, rtol=3e-14)
    scale = np.sqrt(np.outer(modes.stiffness, modes.stiffness))
    assert np.abs(modes.k / scale - np.eye(20)).max() < 4e-13


@pytest.mark.parametrize("n_modes", [1, 2, 4, 8, 20])
def test_number_of_gauss_points(n_modes: int) -> None:
    """The default count is converged to 4e-15; four points fewer are not."""
    modes = loaded((0.5, 0.0, 0.0), n_modes)
    count = gauss_count(float(modes.beta[-1]))

    def gram(points: int, function: Any) -> Any:
        x, weight = gauss_rule(points)
        rows = function(x)
        largest = np.abs(function(np.linspace(0.0, 1.0, 400))).max()
        return (rows * weight) @ rows.T / largest**2

    for function in (modes.shape, modes.slope, modes.curvature):
        fine = gram(count + 10, function)
        assert np.abs(gram(count, function) - fine).max() < 4e-15
    assert np.abs(gram(count - 4, modes.slope) - gram(count, modes.slope)).max() > 1e-14


@pytest.mark.parametrize("n_points", [2, 13, 30, 60])
def test_gauss_rule(n_points: int) -> None:
    """Powers up to 2 n - 1 are exact."""
    x, weight = gauss_rule(n_points)
    for power in (0, 1, 2, n_points, 2 * n_points - 1):
        assert_allclose(weight @ x**power, 1.0 / (power + 1), rtol=1e-14)


@pytest.mark.parametrize("normalization", ["mass", "link", "tip"])
def test_normalizations(normalization: str) -> None:
    """(30) mended: the modal mass with payload is 1 kg, m, or the tip moves by 1."""
    modes = clamped_beam_modes(
        2.0, 0.3, 40.0, 6, tip_mass=0.5, tip_inertia=0.1, normalization=normalization
    )
    diagonal = np.diag(modes.modal_mass)
    if normalization == "tip":
        assert_allclose(modes.tip_deflection, 1.0, rtol=1e-12)
    else:
        target = {"mass": 1.0, "link": 0.6}[normalization]
        assert_allclose(diagonal, target, rtol=1e-13)
        assert (modes.v > 0.0).all()
    assert_allclose(np.diag(modes.k), modes.stiffness, rtol=1e-12)


@pytest.mark.parametrize("payload", PAYLOADS, ids=PAYLOAD_IDS)
def test_sign_rule(payload: tuple[float, float, float]) -> None:
    """The integral of every shape is positive, as in DLS (found from its numbers)."""
    assert (loaded(payload, 20).v > 0.0).all()


def test_a_still_tip_cannot_be_normalized() -> None:
    with pytest.raises(ModelError, match="mode 2 does not move the tip"):
        clamped_beam_modes(1.0, 1.0, 1.0, 2, tip_mass=1e8, normalization="tip")


def test_modes_are_values() -> None:
    """Equal by content, unchangeable, picklable, solved anew by replace()."""
    modes = link_modes(2)
    assert modes == link_modes(2)
    assert hash(modes) == hash(link_modes(2))
    assert modes != link_modes(1)
    assert pickle.loads(pickle.dumps(modes)) == modes
    with pytest.raises(ValueError, match="read-only"):
        modes.beta[0] = 1.0
    double = modes.replace(bending_stiffness=4.0)
    assert_allclose(double.frequency, 2.0 * modes.frequency, rtol=1e-15)


def test_shape_of_the_shapes() -> None:
    """Any array of positions: modes first, positions after."""
    modes = loaded((0.0, 0.0, 0.0), 3)
    assert modes.shape(0.5).shape == (3,)
    assert modes.shape(np.zeros((4, 5))).shape == (3, 4, 5)
    assert clamped_rod_modes(1.0, 1.0, 1.0, 2).slope(np.zeros((4, 5))).shape == (
        2,
        4,
        5,
    )
    for derivative in (modes.shape, modes.slope):
        assert_array_equal(derivative(0.0), 0.0)
    with pytest.raises(ArgumentError, match=r"x is 1\.5 m"):
        modes.shape([0.5, 1.5])


def test_rod_without_payload() -> None:
    """Closed form: beta L = (2 k - 1) pi / 2, z_jj = J / 2 A^2, v = J A / (beta L)."""
    length, polar, stiffness = 2.0, 0.03, 70.0
    modes = clamped_rod_modes(length, polar, stiffness, 20)
    b = (np.arange(20) + 0.5) * np.pi
    assert_allclose(modes.beta * length, b, rtol=2e-15)
    assert_allclose(modes.omega, b / length * np.sqrt(stiffness / polar), rtol=2e-15)
    amplitude = np.sqrt(2.0 / (polar * length))
    assert_allclose(modes.tip_rotation, amplitude, rtol=1e-13)
    assert_allclose(modes.z, np.eye(20), rtol=0, atol=2e-14)
    sign = (-1.0) ** np.arange(20)  # tip rotations are positive
    assert_allclose(
        modes.v, sign * polar * length * amplitude / b, rtol=1e-12, atol=1e-16
    )


@pytest.mark.parametrize("ratio", [0.0, 1e-6, 0.3, 1.0, 50.0, 1e6])
def test_rod_with_tip_inertia(ratio: float) -> None:
    """b tan b = J / J_x in 50 digits, one root in each half period, orthogonality."""
    modes = clamped_rod_modes(1.0, 1.0, 1.0, 20, tip_inertia=ratio)
    i = np.arange(20)
    assert (modes.beta > i * np.pi - 1e-12).all()
    assert (modes.beta < (i + 0.5) * np.pi + 1e-12).all()
    with mp.workdps(50):
        for root in map(mp.mpf, modes.beta.tolist()):
            below, above = (
                mp.cos(b) - mp.mpf(ratio) * b * mp.sin(b)
                for b in (root * (1 - mp.mpf("4e-15")), root * (1 + mp.mpf("4e-15")))
            )
            assert below * above < 0
    floor = 60.0 * EPS * (1.0 + np.sqrt(ratio))
    assert np.abs(modes.modal_mass - np.eye(20)).max() < 4.0 * floor
    assert_allclose(np.diag(modes.k), modes.omega**2, rtol=1e-12)
    assert (modes.tip_rotation > 0.0).all()


def test_rod_normalizations() -> None:
    rod = clamped_rod_modes(2.0, 0.03, 70.0, 3, tip_inertia=0.01, normalization="link")
    assert_allclose(np.diag(rod.modal_mass), 0.06, rtol=1e-13)
    tip = rod.replace(normalization="tip")
    assert_allclose(tip.tip_rotation, 1.0, rtol=1e-14)
    assert_allclose(tip.omega, rod.omega, rtol=0.0)


def test_rod_of_cibicik_and_egeland() -> None:
    """Cibicik and Egeland 2021, table I, link 2: 11.582, 72.581 Hz; 401.03, 1203.10 Hz.

    Steel tube 50/40 mm, 2 m long, 5.550 kg/m (digest, 4.2 and 4.6).
    """
    second = 181132e-12
    bending = clamped_beam_modes(2.0, 5.550, 210e9 * second, 2)
    rod = clamped_rod_modes(2.0, 7850.0 * 2.0 * second, 80.8e9 * 2.0 * second, 2)
    assert_allclose(bending.frequency, [11.582, 72.581], rtol=0, atol=5e-4)
    assert_allclose(rod.frequency, [401.03, 1203.10], rtol=0, atol=5e-3)


UNIT = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 1.0, "n_modes": 2}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"length": 0.0}, "length of the beam is 0 m, expected more than zero"),
        ({"length": -1.0}, "length of the beam is -1 m, expected more than zero"),
        ({"length": np.nan}, "length of the beam is nan, expected finite numbers"),
        ({"mass_per_length": 0.0}, "mass_per_length of the beam is 0 kg/m"),
        ({"bending_stiffness": -3.0}, "bending_stiffness of the beam is -3 N m^2"),
        ({"n_modes": 0}, "n_modes is 0, expected at least 1"),
        ({"n_modes": 21}, "n_modes is 21, more modes than supported"),
        ({"n_modes": 2.0}, "n_modes is 2.0, expected a whole number"),
        ({"tip_mass": -0.1}, "tip_mass is -0.1 kg, expected zero or more"),
        ({"tip_mass": 1e10}, "tip_mass is 1e+10 kg, more than 1e+09 times"),
        ({"tip_inertia": -0.1}, "tip_inertia is -0.1 kg m^2, expected zero or more"),
        (
            {"tip_mass": 1.0, "tip_inertia": 0.01, "tip_moment": 0.2},
            "at most sqrt(tip_mass tip_inertia) = 0.1 kg m",
        ),
        ({"tip_moment": 0.1}, "tip_moment is 0.1 kg m"),
        ({"normalization": "mas"}, "did you mean 'mass'?"),
        ({"normalization": "energy"}, "expected one of 'mass', 'link', 'tip'"),
    ],
)
def test_refused_beams(changes: dict[str, Any], message: str) -> None:
    model_refused([message], lambda: clamped_beam_modes(**{**UNIT, **changes}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"length": 0.0}, "length of the rod is 0 m"),
        (
            {"polar_inertia_per_length": -1.0},
            "polar_inertia_per_length of the rod is -1",
        ),
        ({"torsional_stiffness": 0.0}, "torsional_stiffness of the rod is 0 N m^2"),
        ({"n_modes": 50}, "more modes than supported"),
        ({"tip_inertia": -1.0}, "tip_inertia is -1 kg m^2"),
        ({"normalization": "link "}, "did you mean 'link'?"),
    ],
)
def test_refused_rods(changes: dict[str, Any], message: str) -> None:
    unit = dict.fromkeys(("length", "polar_inertia_per_length"), 1.0)
    unit |= {"torsional_stiffness": 1.0, "n_modes": 2}
    model_refused([message], lambda: clamped_rod_modes(**{**unit, **changes}))


def test_examples() -> None:
    """The examples of the docstrings run and print what they say."""
    result = doctest.testmod(_single)
    assert result.attempted > 0
    assert result.failed == 0


def test_modes_end_with_the_beam() -> None:
    """Rounding beyond an end is forgiven, a place beyond it is not."""
    modes = fa.beams.clamped_beam_modes(2.0, 1.0, 3.0, 2)
    assert_allclose(modes.shape(2.0 + 1e-13), modes.tip_deflection)
    for x in (-0.01, 2.01):
        with pytest.raises(fa.ArgumentError, match="expected 0 to 2 m"):
            modes.shape(x)
