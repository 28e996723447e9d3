"""The closed form of De Luca and Siciliano: digest, invariants and Lagrangian.

All numbers are recomputed values of the digest of the paper, sections 6.4, 7, 8.4 and
9 (``data/de_luca_*.txt``): the paper prints parameters and modal constants, its
trajectories are figures.  They are met to half a unit of the last digit, with modes
from a root search of our own (``clamped_modes.py``).

What was learned on the way, against digest section 7: the printed B is the first order
of the model with ``E_1 = I + S y'`` only.  A proper rotation of the tip frame does
**not** give the same first order.  It differs from E_1 by ``-y'^2/2`` and so its rate
by ``-y' yd'``, which is of first order in the deflections in the columns of link 1:

    dB[1, 2+k]   = -a l_1 phi'_1k y' sin(theta_2)
    dB[2+j, 2+k] = -a (phi_1j phi'_1k + phi_1k phi'_1j) y' sin(theta_2)

with ``a`` the first moment of link 2 and payload, all other entries equal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import Array
from clamped_modes import Modes, link_modes
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

from flexarm import library
from flexarm.arm import Arm
from flexarm.bodies.models import FlexibleBody, Joint
from flexarm.reference import de_luca_siciliano as paper
from flexarm.reference import lagrangian, twin

# Step of complex derivatives.
STEP = 1e-40
DATA = Path(__file__).parents[1] / "data"
P = paper.Parameters()
MODES = link_modes(P)
C = paper.coefficients(P, *MODES)
PRINTED = paper.coefficients(P, *MODES, printed=True)

# the test state of digest 6.4
Q = np.array([0.3, 0.7, 0.05, -0.01, 0.08, 0.002])
QD = np.array([0.4, -0.6, 0.5, -0.3, 0.7, 0.2])


def half_unit(values: Any, digits: int) -> Array:
    """Half a unit of the last of so many significant digits, and its rounding."""
    size = np.floor(np.log10(np.maximum(np.abs(values), 1e-300)))
    return np.asarray(0.5001 * 10.0 ** (size - digits + 1))


def assert_printed(value: Any, reference: Any, digits: int) -> None:
    """Equal to a number rounded to so many significant digits."""
    error = np.abs(np.asarray(value) - np.asarray(reference))
    assert np.all(error <= half_unit(reference, digits))


# constants


def nominal() -> list[tuple[str, float]]:
    names, result = C.names(), []
    for line in (DATA / "de_luca_coefficients.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        first, *values = line.split()
        start = names.index(first if first[0] != "b" else first + "1")
        result += list(zip(names[start:], map(float, values), strict=False))
    return result


def test_all_constants_of_the_digest() -> None:
    table = nominal()
    assert sorted(name for name, _ in table) == sorted(C.names())
    assert len(table) == 57 + 6 + 98
    for name, value in table:
        assert_printed(C[name], value, 7)


def test_misprinted_constants() -> None:
    wrong = {
        "h107": -0.02464237,
        "h117": -0.1215919,
        "h118": -0.04747096,
        "h412": 0.01144606,
        "h413": -0.03437728,
    }
    assert {name for name in C.names() if C[name] != PRINTED[name]} == set(wrong)
    for name, value in wrong.items():
        assert_printed(PRINTED[name], value, 7)


def test_the_same_constants_from_the_beams_of_the_package() -> None:
    ours = paper.paper_arm()
    for name in C.names():
        assert ours[name] == pytest.approx(C[name], rel=1e-12, abs=1e-15)
    assert ours.stiffness == pytest.approx(C.stiffness, rel=1e-14)


def test_modal_constants_as_the_paper_prints_them() -> None:
    printed = [
        ([0.48, 1.80, 2.18, 15.91], "omega", 2),
        ([0.186, 0.215, 0.883, -0.069], "tip_deflection", 3),
        ([0.657, -0.560, 2.641, -10.853], "tip_slope", 3),
        ([0.007, 0.013, 0.033, 0.054], "v", 3),
        ([0.002, 0.004, 0.012, 0.016], "w", 3),
    ]
    for values, name, decimals in printed:
        ours = np.concatenate([getattr(m, name) for m in MODES])
        ours = ours / (2 * np.pi) if name == "omega" else ours
        assert np.all(np.abs(ours - values) <= 0.5 * 10.0**-decimals)


# the test state


def test_mass_matrix_at_the_test_state() -> None:
    upper = """
    0.59203408 0.15876704 0.22804197 0.054628905 0.10322186 0.024460772
    0.13383333 0.097086936 -0.064423573 0.057669376 0.006676532
    0.1124677 0.0018981455 0.054622865 0.010917614
    0.087694473 -0.012960997 0.003815942
    0.1 0 0.1
    """
    B = paper.mass_matrix(C, Q)
    assert np.array_equal(B, B.T)
    assert_printed(B[np.triu_indices(6)], [float(x) for x in upper.split()], 8)


@pytest.mark.parametrize(
    ("constants", "expected"),
    [
        (C, [-0.007064641, 0.0069853119, -0.00091427351, -0.0088441431]),
        (PRINTED, [-0.012876752, 0.0069853119, -0.00091427351, 0.001374906]),
    ],
)
def test_velocity_forces_at_the_test_state(
    constants: paper.Coefficients, expected: list[float]
) -> None:
    h = paper.velocity_forces(constants, Q, QD)
    assert_printed(h, [*expected, 0.0083771847, 0.0032705542], 8)


def test_tip_energy_and_momentum_at_the_test_state() -> None:
    assert_printed(paper.tip_position(C, Q), [0.66871406, 0.62153338], 8)
    assert_printed(paper.energy(C, Q, QD), 0.16815668, 8)
    assert_printed(paper.momentum(C, Q, QD), 0.31633318, 8)


def power_and_momentum_errors(constants: paper.Coefficients) -> tuple[float, float]:
    rate = paper.mass_matrix(constants, Q + 1j * STEP * QD).imag / STEP
    h = paper.velocity_forces(constants, Q, QD)
    return float(QD @ h - 0.5 * QD @ rate @ QD), float(h[0] - (rate @ QD)[0])


def test_power_and_momentum_identities() -> None:
    assert np.abs(power_and_momentum_errors(C)).max() < 1e-17
    # what the printed list misses by, digest 9.3: h_1 is the smaller by 0.0058
    power, momentum = power_and_momentum_errors(PRINTED)
    assert power == pytest.approx(-0.00539, abs=5e-6)
    assert momentum == pytest.approx(-0.00581, abs=5e-6)


def test_velocity_forces_are_the_christoffel_vector() -> None:
    rng = np.random.default_rng(0)
    q, qd = rng.normal(size=(2, 6))
    rate = paper.mass_matrix(C, q + 1j * STEP * qd).imag / STEP
    moved = paper.mass_matrix(C, q + 1j * STEP * np.eye(6)).imag / STEP
    christoffel = rate @ qd - 0.5 * moved @ qd @ qd  # (26)
    assert np.abs(paper.velocity_forces(C, q, qd) - christoffel).max() < 1e-15


# the same arm as a tree of bodies with nodes


def body(i: int, modes: Modes, p: paper.Parameters) -> FlexibleBody:
    """A link as hub, Gauss points and tip; only inertia about z counts."""
    n = len(modes.x)
    gamma, lam = np.zeros((2, n + 2, 3, 2))
    gamma[1:-1, 1], gamma[-1, 1] = modes.shape, modes.tip_deflection
    lam[1:-1, 2], lam[-1, 2] = modes.slope, modes.tip_slope
    mass, spin = np.zeros(n + 2), np.zeros(n + 2)
    mass[1:-1] = modes.weight
    spin[0] = p.hub_inertia[i]
    if i == 1:
        mass[0] = p.hub_mass
        mass[-1], spin[-1] = p.payload_mass, p.payload_inertia
    position = np.zeros((n + 2, 3))
    position[1:-1, 0], position[-1, 0] = modes.x, p.length[i]
    return FlexibleBody(
        f"link{i + 1}",
        Joint("revolute"),
        node_position=position,
        node_mass=mass,
        node_translation=gamma,
        node_rotation=lam,
        node_inertia=spin[:, None, None] * np.diag([0.5, 0.5, 1.0]),
        stiffness=p.mass[i] * modes.omega**2,
    )


ARM = Arm([body(i, MODES[i], P) for i in (0, 1)], gravity=(0.0, 0.0, 0.0))


def states(seed: int) -> Array:
    """Ten positions with large joint angles and deflections, (10, 6)."""
    rng = np.random.default_rng(seed)
    return np.hstack([rng.uniform(-3, 3, (10, 2)), rng.normal(size=(10, 4))])


def first_order(mass_matrix: Any, q: Array) -> Array:
    """Mass matrix to the first order in the deflections, by a complex step."""
    rigid = np.concatenate([q[:2], np.zeros(4)])
    moved = mass_matrix(rigid + 1j * STEP * (q - rigid))
    return np.asarray(moved.real + moved.imag / STEP)


def planar_mass_matrix(q: Array) -> Any:
    """Mass matrix of (8)-(11) by brute force in the plane, with E_1 = I + S y' (1)."""
    first, second = MODES
    S = np.array([[0.0, -1.0], [1.0, 0.0]])
    A1, A2 = (np.cos(t) * np.eye(2) + np.sin(t) * S for t in q[:2])
    E = np.eye(2) + S * (first.tip_slope @ q[2:4])
    elbow = np.array([P.length[0], first.tip_deflection @ q[2:4]])

    def on_link1(x: float, shape: Array) -> Array:
        J = np.zeros((2, 6), dtype=complex)
        J[:, 0] = A1 @ S @ np.array([x, shape @ q[2:4]])
        J[:, 2:4] = np.outer(A1[:, 1], shape)
        return J

    def on_link2(x: float, shape: Array) -> Array:
        point = A2 @ np.array([x, shape @ q[4:]])
        J = np.zeros((2, 6), dtype=complex)
        J[:, 0] = A1 @ S @ (elbow + E @ point)
        J[:, 1] = A1 @ E @ S @ point
        J[:, 2:4] = np.outer(A1[:, 1], first.tip_deflection)
        J[:, 2:4] += np.outer(A1 @ S @ point, first.tip_slope)
        J[:, 4:] = np.outer((A1 @ E @ A2)[:, 1], shape)
        return J

    turns = np.array([[1, 0, 0, 0, 0, 0], [1, 1, *first.tip_slope, 0, 0]])
    payload = [1, 1, *first.tip_slope, *second.tip_slope]
    rows = [
        *zip(P.hub_inertia, turns[:, None], strict=True),
        (P.payload_inertia, np.array([payload])),
        (P.hub_mass, on_link2(0.0, np.zeros(2))),
        (P.payload_mass, on_link2(P.length[1], second.tip_deflection)),
    ]
    for modes, point in ((first, on_link1), (second, on_link2)):
        for x, m, shape in zip(modes.x, modes.weight, modes.shape, strict=True):
            rows.append((m, point(x, shape)))
    return sum(m * J.T @ J for m, J in rows)


@pytest.mark.parametrize("q", states(1))
def test_the_cut_matrix_is_the_first_order_with_the_small_rotation(q: Array) -> None:
    error = paper.mass_matrix(C, q) - first_order(planar_mass_matrix, q)
    assert np.abs(error).max() < 1e-14


@pytest.mark.parametrize("q", states(2))
def test_what_the_cut_drops(q: Array) -> None:
    # table of digest section 7
    first, second = MODES
    (f, s1), d1, d2 = (first.tip_deflection, first.tip_slope), q[2:4], q[4:]
    y, s, a, l1 = f @ d1, s1 @ d1, P.distal_moment, P.length[0]
    u = second.v + P.payload_mass * second.tip_deflection
    g = second.w + P.payload_mass * P.length[1] * second.tip_deflection
    tip2 = second.tip_deflection
    Z2 = second.z + P.payload_mass * np.outer(tip2, tip2)
    I2 = P.link_inertia[1] + P.payload_mass * P.length[1] ** 2
    t2, gamma2 = u @ d2, d2 @ Z2 @ d2
    gamma1 = d1 @ (first.z + P.distal_mass * np.outer(f, f)) @ d1
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    mixed = a * y * s + (y - l1 * s) * t2
    X = f[0] * s1[1] - f[1] * s1[0]

    D = np.zeros((6, 6))
    D[1, 1] = (1 + s**2) * gamma2 + I2 * s**2
    D[0, 1] = D[1, 1] + c2 * mixed - s2 * y * s * t2
    D[0, 0] = gamma1 + D[1, 1] + 2 * c2 * mixed - 2 * s2 * y * s * t2
    D[0, 2:4] = s1 * gamma2 + c2 * X * t2 * np.array([-d1[1], d1[0]])
    D[0, 4:], D[1, 4:] = s**2 * g + c2 * s * y * u, s**2 * g
    D[1, 2:4] = s1 * gamma2 - c2 * f * s * t2
    D[2:4, 2:4] = np.outer(s1, s1) * gamma2
    D[2:4, 4:] = np.outer(s1, s * Z2 @ d2)
    D[4:, 4:] = s**2 * Z2
    D = np.triu(D) + np.triu(D, 1).T
    whole = planar_mass_matrix(q).real
    assert (
        np.abs(whole - paper.mass_matrix(C, q) - D).max() < 1e-14 * np.abs(whole).max()
    )


@pytest.mark.parametrize("q", states(3))
def test_first_order_of_the_lagrangian(q: Array) -> None:
    # the proper rotation adds two terms, see the head of this file
    f, slope = MODES[0].tip_deflection, MODES[0].tip_slope
    bend = P.distal_moment * (slope @ q[2:4]) * np.sin(q[1])
    added = np.zeros((6, 6))
    added[0, 2:4] = added[2:4, 0] = -bend * P.length[0] * slope
    added[2:4, 2:4] = -bend * (np.outer(f, slope) + np.outer(slope, f))
    ours = first_order(lambda x: lagrangian.mass_matrix(ARM, x), q)
    assert np.abs(ours - added - paper.mass_matrix(C, q)).max() < 1e-14


def test_full_kinetic_energy_is_that_of_the_lagrangian() -> None:
    rng = np.random.default_rng(2)
    for q, qd in rng.normal(size=(10, 2, 6)):
        closed = paper.full_kinetic_energy(P, *MODES, q, qd)
        assert closed == pytest.approx(lagrangian.kinetic_energy(ARM, q, qd), rel=1e-14)
        mass = twin.mass_matrix(ARM, q)
        assert closed == pytest.approx(0.5 * qd @ mass @ qd, rel=1e-14)


def test_the_arm_of_the_library_is_the_same() -> None:
    arm = library.de_luca_siciliano()
    for q, qd in np.random.default_rng(3).normal(size=(5, 2, 6)):
        energy = lagrangian.kinetic_energy(ARM, q, qd)
        assert lagrangian.kinetic_energy(arm, q, qd) == pytest.approx(energy, rel=1e-12)
        energy = lagrangian.potential_energy(ARM, q)
        assert lagrangian.potential_energy(arm, q) == pytest.approx(energy, rel=1e-12)


def test_the_rest_of_the_equation_at_the_straight_arm() -> None:
    q, qd = np.array([0.3, 0.7, 0, 0, 0, 0]), np.array([0.5, -0.2, 0, 0, 0, 0])
    ours = twin.forward_dynamics(ARM, q, qd, [0.2, -0.1, 0, 0, 0, 0])
    closed = paper.forward_dynamics(C, q, qd, [0.2, -0.1])
    assert ours == pytest.approx(closed, rel=1e-11)


# section 7: definiteness of the cut matrix


def smallest(q: Any) -> float:
    return float(np.linalg.eigvalsh(paper.mass_matrix(C, q))[0])


def test_eigenvalues_of_the_straight_arm() -> None:
    values = np.linalg.eigvalsh(paper.mass_matrix(C, np.zeros(6)))
    assert values[0] == pytest.approx(1.0e-4, abs=5e-6)
    assert values[-1] == pytest.approx(0.8, abs=0.05)
    assert values[-1] / values[0] == pytest.approx(8000, abs=500)


@pytest.mark.parametrize(
    ("degrees", "coordinate", "limit"),
    [
        (90, 2, -0.296),
        (90, 2, 0.402),
        (90, 3, 0.347),
        (90, 3, -0.472),
        (45, 2, -0.392),
        (45, 2, 0.564),
        (45, 3, 0.460),
        (45, 3, -0.662),
    ],
)
def test_the_cut_matrix_loses_definiteness(
    degrees: float, coordinate: int, limit: float
) -> None:
    q = np.zeros(6)
    q[1] = np.radians(degrees)
    # the digest rounds outward: the limit is at most a thousandth below
    q[coordinate] = limit - 1e-3 * np.sign(limit)
    assert smallest(q) > 0.0
    q[coordinate] = limit
    assert smallest(q) < 0.0
    assert np.linalg.eigvalsh(lagrangian.mass_matrix(ARM, q))[0] > 5e-5


# section 8.4: frequencies of the assembled arm


@pytest.mark.parametrize(
    ("degrees", "free", "locked"),
    [
        (
            0,
            [1.41987, 2.64736, 16.1187, 29.2922],
            [0.438134, 1.97281, 2.66892, 16.1190],
        ),
        (
            90,
            [1.42101, 2.51278, 15.9501, 29.2603],
            [0.477959, 1.69143, 2.67786, 15.9503],
        ),
        (45, [1.42043, 2.57666, 16.0282, 29.2750], None),
    ],
)
def test_frequencies_of_the_arm_at_rest(
    degrees: float, free: list[float], locked: list[float] | None
) -> None:
    q = np.array([0.0, np.radians(degrees), 0, 0, 0, 0])
    B, K = paper.mass_matrix(C, q), paper.stiffness_matrix(C)
    for first, expected in ((0, [0.0, 0.0, *free]), (2, locked)):
        if expected is not None:
            values = eigh(K[first:, first:], B[first:, first:], eigvals_only=True)
            f = np.sqrt(np.maximum(values, 0.0)) / (2 * np.pi)
            assert_printed(f[2 - first :], expected[2 - first :], 6)
            assert np.all(f[: 2 - first] < 1e-6)


# section 9: trajectories of Figs 5 to 10


FIGURES = (5, 6, 7, 8, 9, 10)


class Cases:
    """Initial states, torques and damping of some of the cases of 8.5, side by side."""

    def __init__(self, figures: tuple[int, ...]) -> None:
        self.q0, self.damping = np.zeros((2, len(figures), 6))
        self.push = np.zeros((len(figures), 2))
        for i, figure in enumerate(figures):
            if figure in (5, 7):
                self.q0[i, 4:] = 0.1, 0.002
            elif figure in (6, 8):
                self.q0[i, 1:4] = np.pi / 2, 0.1, 0.002
            else:
                self.push[i] = 0.2
            if figure in (7, 8, 10):
                self.damping[i] = 0.1 * np.sqrt(C.stiffness)

    def torque(self, t: float) -> Array:
        return self.push * (1.0 if t < 0.5 else -1.0 if t < 1.0 else 0.0)


def run(c: paper.Coefficients, figures: tuple[int, ...]) -> paper.Trajectory:
    """Two seconds by the classical Runge-Kutta method with 1 ms."""
    cases = Cases(figures)
    torque = [cases.torque(k / 1000) for k in range(2000)]
    rest = np.zeros_like(cases.q0)
    return paper.simulate(c, cases.q0, rest, torque, 1e-3, damping=cases.damping)


@pytest.fixture(scope="module")
def millisecond() -> paper.Trajectory:
    return run(C, FIGURES)


def test_all_rows_of_the_regression_table(millisecond: paper.Trajectory) -> None:
    rows = np.loadtxt(DATA / "de_luca_runs.txt")
    assert len(rows) == 24
    for figure, time, *values in rows:
        i, k = FIGURES.index(int(figure)), round(1000 * time)
        q, qd = millisecond.q[k, i], millisecond.qd[k, i]
        assert_printed(q, values[:6], 6)
        assert np.all(np.abs(paper.tip_position(C, q) - values[6:8]) < 0.5001e-6)
        assert_printed(paper.energy(C, q, qd), values[8], 6)


def test_energy_and_momentum_along_the_runs(millisecond: paper.Trajectory) -> None:
    energies = paper.energy(C, *millisecond)
    change = np.abs(energies - energies[0]).max(axis=0)
    assert_printed(change[0], 7.4e-8, 2)
    assert_printed(change[1], 2.6e-7, 2)
    assert_printed(energies[0, :4], [0.0956650, 0.00456758] * 2, 6)

    momenta = paper.momentum(C, *millisecond)
    assert np.abs(momenta[:, :2]).max() < 1e-8
    assert momenta[500, 4] == pytest.approx(0.1, abs=1e-8)
    assert abs(momenta[1000, 4]) < 2e-8  # then free, and it drifts with the integrator
    assert np.abs(momenta[1000:, 4]).max() < 2e-6


def test_the_largest_deflections(millisecond: paper.Trajectory) -> None:
    expected = [
        [0.1033, 0.00951, 0.1, 0.00236],
        [0.1, 0.0135, 0.00173, 9.4e-6],
        [0.0303, 0.00412, 0.1, 0.002],
        [0.1, 0.00493, 0.000211, 4.0e-6],
        [0.483, 0.0622, 0.0219, 0.00037],
        [0.207, 0.0187, 0.00866, 3.4e-5],
    ]
    largest = np.abs(millisecond.q[:, :, 2:]).max(axis=0)
    assert_printed(largest, expected, 2)
    assert np.abs(largest / expected - 1.0).max() < 0.02


def test_converged_values() -> None:
    # another integrator, of high order, from switch to switch of the torque
    cases = Cases(FIGURES)
    shape = (2, len(FIGURES), 6)

    def rate(t: float, x: Array, u: Array) -> Array:
        q, qd = x.reshape(shape)
        qdd = paper.forward_dynamics(C, q, qd, u, damping=cases.damping)
        return np.concatenate([qd, qdd]).ravel()

    x = np.stack([cases.q0, np.zeros(shape[1:])]).ravel()
    for span in ((0.0, 0.5), (0.5, 1.0), (1.0, 2.0)):
        u = cases.torque(span[0])
        x = solve_ivp(rate, span, x, "DOP853", args=(u,), rtol=1e-7, atol=1e-11).y[
            :, -1
        ]
    q, qd = x.reshape(shape)

    # beside its digits the table, RK4 with 0.25 ms, has 1/255 of the last column as an
    # error of its own
    rows = np.loadtxt(DATA / "de_luca_converged.txt")
    own = rows[:, 9:] / 255.0
    assert rows[:, 0].tolist() == list(FIGURES)
    assert np.all(np.abs(q - rows[:, 1:7]) <= half_unit(rows[:, 1:7], 6) + own)
    tips = paper.tip_position(C, q)
    assert np.all(np.abs(tips - rows[:, 7:9]) <= 0.5001e-6 + own)
    assert np.abs(paper.momentum(C, q, qd)[[0, 1, 4]]).max() < 1e-8


@pytest.mark.slow  # the runs of the table, with other coefficients
def test_runs_with_the_coefficients_as_printed() -> None:
    result = run(PRINTED, (6, 9, 5))
    expected = [
        [0.128706, 1.47300, 0.0500105, -0.000843307, -0.00146381, 5.87931e-6],
        [0.566189, -0.0830808, -0.383560, -0.0478186, -0.0196604, -9.26033e-5],
    ]
    q, qd = result.q[-1, :2], result.qd[-1, :2]
    assert_printed(q, expected, 6)
    tips = [[0.463876, 0.572544], [0.965436, 0.314698]]
    assert np.abs(paper.tip_position(PRINTED, q) - tips).max() < 0.5001e-6
    assert_printed(paper.energy(PRINTED, q, qd), [0.00723858, 0.156406], 6)
    assert_printed(paper.momentum(PRINTED, q, qd), [0.047, 0.17], 2)
    energies = paper.energy(PRINTED, *result)
    change = np.abs(energies - energies[0]).max(axis=0)
    assert_printed(change[[0, 2]], [3.3e-3, 6.0e-6], 2)
