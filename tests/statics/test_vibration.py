"""Natural frequencies and mode shapes of whole arms.

Oracles: the frequency equation of beams, the hanging chain and Laguerre's polynomials,
oscillators of two masses, SciPy's eigenvalues, the spectrum of a simulated motion, and
the numbers that De Luca and Siciliano (1991) print.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from elastic_cases import LENGTH, STIFFNESS, cantilever, slider, turned
from few_modes import few_modes, planar_chain
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.special import roots_laguerre
from trees import SEVERAL, random_state

import flexarm as fa
from flexarm.reference.de_luca_arm import paper_arm
from flexarm.reference.de_luca_siciliano import mass_matrix, stiffness_matrix

TWO_PI = 2.0 * np.pi


def beam_roots(n: int, load: float = 0.0) -> Any:
    """Roots of the frequency equation of a clamped beam with a mass at its tip.

    1 + cos b cosh b + load b (cos b sinh b - sin b cosh b) = 0, load in beam masses.
    """

    def f(b: float) -> float:
        # divided by cosh b, which overflows
        return (
            1.0 / np.cosh(b)
            + np.cos(b)
            + load * b * (np.cos(b) * np.tanh(b) - np.sin(b))
        )

    grid = np.linspace(0.1, (n + 1) * np.pi, 4000)
    values = np.array([f(b) for b in grid])
    at = np.flatnonzero(values[1:] * values[:-1] < 0.0)[:n]
    return np.array([brentq(f, grid[i], grid[i + 1], xtol=1e-14) for i in at])


# closed forms


@pytest.mark.parametrize("load", [0.0, 0.8])
def test_a_locked_arm_swings_with_the_frequencies_of_a_beam(load: float) -> None:
    # in any pose, and as a beam of unit mass 2 kg/m
    beam = cantilever(4, tip_mass=load * 2.0 * LENGTH) if load else cantilever(4)
    arm = fa.Arm([beam.replace(joint=fa.Joint("spherical"))], gravity=(0, 0, 0))
    q = random_state(np.random.default_rng(0), arm)[0]
    q[4:] = 0.0
    expected = beam_roots(4, load) ** 2 * np.sqrt(STIFFNESS / 2.0) / LENGTH**2 / TWO_PI
    found = fa.natural_frequencies(arm, q, held="joints")
    assert_allclose(found, np.repeat(expected, 2), rtol=1e-10)


def test_two_masses_on_springs() -> None:
    arm = fa.Arm([slider("a", 2.0, 30.0), slider("b", 3.0, 50.0)])
    K = np.array([[80.0, -50.0], [-50.0, 50.0]])
    w2 = eigh(K, np.diag([2.0, 3.0]), eigvals_only=True)
    assert_allclose(
        fa.natural_frequencies(arm, np.zeros(2)), np.sqrt(w2) / TWO_PI, rtol=1e-13
    )


def test_a_free_oscillator_of_two_masses_has_a_rigid_motion() -> None:
    # reduced mass of 2 and 3 kg on a spring of 50 N/m
    cart = fa.RigidBody("cart", fa.Joint("prismatic", axis=(1, 0, 0)), mass=2.0)
    arm = fa.Arm([cart, slider("b", 3.0, 50.0)])
    modes = fa.vibration_modes(arm, np.zeros(2))
    assert list(modes.rigid) == [True, False] and not modes.unstable.any()
    assert_allclose(modes.frequencies[1], np.sqrt(50.0 / 1.2) / TWO_PI, rtol=1e-12)
    assert abs(modes.frequencies[0]) < 1e-7
    # the rigid motion moves both, the other keeps the centre of mass
    assert_allclose(modes.shapes[:, 0], [5.0**-0.5, 0.0], rtol=0.0, atol=1e-8)
    moved = modes.node_displacements()[1, :, 3]
    assert_allclose(2.0 * moved[0] + 3.0 * moved[-1], 0.0, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_beads_on_a_hanging_string(n: int) -> None:
    # squares are g/l times the roots of Laguerre's polynomial of order n
    rods = [
        fa.RigidBody(
            f"bead{i}",
            fa.Joint(axis=(0, 1, 0)),
            mass=0.3,
            com=(0.2, 0, 0),
            nodes={"tip": (0.2, 0, 0)},
        )
        for i in range(n)
    ]
    arm = fa.Arm(rods)
    q = np.zeros((2, n))
    q[:, 0] = np.pi / 2.0, -np.pi / 2.0  # down, and up
    squares = 9.81 / 0.2 * roots_laguerre(n)[0]
    modes = fa.vibration_modes(arm, q)
    assert_allclose(modes.squares[0], squares, rtol=1e-10)
    assert_allclose(modes.squares[1], -squares[::-1], rtol=1e-10)
    assert modes.unstable[1].all() and not modes.unstable[0].any()
    assert_allclose(modes.frequencies[1], -modes.frequencies[0, ::-1], rtol=1e-10)


def test_printed_frequencies_of_de_luca_and_siciliano() -> None:
    arm = fa.library.de_luca_siciliano()
    q = [0.0, np.pi / 2.0, 0.0, 0.0, 0.0, 0.0]
    names = arm.coordinate_names
    first = fa.natural_frequencies(arm, q, held=[*names[:2], *names[4:]])
    second = fa.natural_frequencies(arm, q, held=names[:4])
    assert_allclose(first, [0.479693, 1.79659], rtol=2e-6)
    assert_allclose(second, [2.17833, 15.9145], rtol=2e-6)


def test_clamped_and_free_joints_of_the_de_luca_arm_by_its_closed_form() -> None:
    arm = fa.library.de_luca_siciliano()
    paper = paper_arm()
    for angle in (0.0, 0.7, np.pi / 2.0):
        q = np.array([0.0, angle, 0.0, 0.0, 0.0, 0.0])
        M = mass_matrix(paper, q)
        K = stiffness_matrix(paper)
        w2 = eigh(K, M, eigvals_only=True)
        free = fa.natural_frequencies(arm, q)
        assert_allclose(free[2:], np.sqrt(w2[2:]) / TWO_PI, rtol=1e-7)
        assert (abs(free[:2]) < 1e-6).all()
        w2 = eigh(K[2:, 2:], M[2:, 2:], eigvals_only=True)
        clamped = fa.natural_frequencies(arm, q, held="joints")
        assert_allclose(clamped, np.sqrt(w2) / TWO_PI, rtol=1e-7)
        # interlacing: to hold a coordinate lowers no frequency
        assert (clamped <= free[2:] * (1.0 + 1e-12)).all()


# shapes


@pytest.mark.parametrize("seed", range(4))
def test_shapes_solve_the_eigenproblem(seed: int) -> None:
    arm = fa.library.random_tree(seed, 4, max_modes=3, joints=SEVERAL, gravity=True)
    q = random_state(np.random.default_rng(seed), arm, 0.05)[0]
    if not arm.nu or arm.nv == arm.nu:
        return
    modes = fa.vibration_modes(arm, q, held="joints")
    at = slice(arm.nu, arm.nv)
    M = fa.mass_matrix(arm, q)[at, at]
    x = modes.shapes[at]
    assert (modes.shapes[: arm.nu] == 0.0).all()
    assert_allclose(x.T @ M @ x, np.eye(len(M)), rtol=0.0, atol=1e-12)
    h, still, unit = 1e-3, np.zeros(arm.nv), np.eye(arm.nv)[at]

    def force(step: float) -> Any:
        return fa.bias_forces(arm, fa.integrate(arm, q, step * unit), still)[:, at]

    K = (8.0 * (force(h) - force(-h)) - (force(2 * h) - force(-2 * h))) / (12.0 * h)
    K = 0.5 * (K + K.T)
    assert_allclose(x.T @ K @ x, np.diag(modes.squares), rtol=0.0, atol=1e-6)
    assert_allclose(modes.participation.sum(axis=0), 1.0, rtol=1e-12)
    # a small motion along a mode is what its displaced posture shows
    moved = modes.displaced(0, 1e-6)
    first = fa.node_pose(arm, moved)[:3, 3] - fa.node_pose(arm, q)[:3, 3]
    told = modes.node_displacements()[0, arm.tip_node, 3:]
    assert_allclose(first / 1e-6, told, rtol=0.0, atol=1e-4 * max(1.0, abs(told).max()))


def test_damping_ratios() -> None:
    # equal ratios of the modes of one beam are those of the arm that holds it
    modes = fa.beams.clamped_beam_modes(LENGTH, 2.0, STIFFNESS, 3)
    with few_modes():
        beam = fa.beams.flexible_link(
            "beam",
            length=LENGTH,
            mass_per_length=2.0,
            bending_y=modes,
            damping_ratio=0.03,
        )
    arm = fa.Arm([beam])
    held = fa.vibration_modes(arm, np.zeros(4), held="joints")
    assert_allclose(held.damping_ratios, 0.03, rtol=1e-9)
    free = fa.vibration_modes(arm, np.zeros(4))
    assert np.isnan(free.damping_ratios[0])  # its rigid motion


def test_a_table_of_the_modes() -> None:
    arm = fa.library.de_luca_siciliano()
    modes = fa.vibration_modes(arm, np.zeros(6))
    told = str(modes).splitlines()
    assert len(told) == 7 and "rigid" in told[1] and "link1.bending y 2" in told[-1]
    many = fa.vibration_modes(arm, np.zeros((3, 6)))
    assert "6 modes of 3 postures" in str(many)
    assert_allclose(many.frequencies[2], modes.frequencies, rtol=0.0, atol=1e-9)


# damped and rotating


@pytest.mark.parametrize("seed", range(3))
def test_complex_modes_are_those_of_the_quadratic_problem(seed: int) -> None:
    arm = fa.library.random_tree(seed, 4, max_modes=3, gravity=True)
    rng = np.random.default_rng(seed)
    q, qd, _ = random_state(rng, arm, 0.05)
    modes = fa.complex_modes(arm, q, 0.3 * qd)
    for s, x in zip(modes.eigenvalues, modes.shapes.T, strict=True):
        # differences along a motion x exp(s t) of the equation of motion
        total = np.zeros(arm.nv, complex)
        for part, factor in ((x.real, 1.0), (x.imag, 1.0j)):
            total += factor * _variation(arm, q, 0.3 * qd, part, 0.0 * part)
        velocity = s * x
        for part, factor in ((velocity.real, 1.0), (velocity.imag, 1.0j)):
            total += factor * _variation(arm, q, 0.3 * qd, 0.0 * part, part)
        total += s * s * fa.mass_matrix(arm, q) @ x
        size = abs(s) ** 2 * abs(fa.mass_matrix(arm, q) @ x).max()
        assert abs(total).max() < 1e-5 * max(size, 1.0)


def _variation(arm: fa.Arm, q: Any, qd: Any, dq: Any, dqd: Any) -> Any:
    size = max(abs(dq).max(), abs(dqd).max(), 1e-12)
    h = 1e-4 / size

    def force(step: float) -> Any:
        return fa.bias_forces(arm, fa.integrate(arm, q, step * dq), qd + step * dqd)

    return (8 * (force(h) - force(-h)) - (force(2 * h) - force(-2 * h))) / (12.0 * h)


def test_undamped_eigenvalues_are_imaginary_frequencies() -> None:
    arm = fa.library.de_luca_siciliano()
    q = np.zeros(6)
    modes = fa.complex_modes(arm, q, held="joints")
    f = fa.natural_frequencies(arm, q, held="joints")
    assert_allclose(np.sort(modes.eigenvalues.imag)[4:], TWO_PI * f, rtol=1e-9)
    assert abs(modes.eigenvalues.real).max() < 1e-9 * abs(modes.eigenvalues).max()
    assert_allclose(modes.frequencies[::2], f, rtol=1e-9)


def test_a_sliding_mass_on_a_turntable() -> None:
    # a mass on springs k/m = p^2 in two directions of a table that turns with W:
    # frequencies |p - W| and p + W, seen from the table (Foucault's pendulum)
    p, turn, m = 5.0, 2.0, 0.7
    table = fa.RigidBody("table", fa.Joint(), mass=1.0, inertia=(1, 1, 1))
    ball = fa.FlexibleBody(
        "ball",
        fa.Joint("fixed"),
        node_position=[(0, 0, 0)],
        node_mass=[m],
        node_translation=np.array([[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]]),
        stiffness=[m * p * p, m * p * p],
    )
    arm = fa.Arm([table, ball], gravity=(0, 0, 0))
    for W in (0.0, turn, 7.0):
        qd = np.array([W, 0.0, 0.0])
        f = fa.natural_frequencies(arm, np.zeros(3), qd=qd, held="joints")
        expected = np.sort([abs(p - W), p + W]) / TWO_PI
        assert_allclose(f, expected, rtol=1e-7)


def test_overdamped_and_growing_pairs() -> None:
    arm = fa.library.pendulum(mass=1.0, com=0.5, damping=40.0)
    q, still = [[-np.pi / 2.0], [np.pi / 2.0]], np.zeros(1)
    f = fa.natural_frequencies(arm, q, qd=still)
    expected = np.sqrt(9.81 / 0.5) / TWO_PI
    assert_allclose(f[:, 0], [expected, -expected], rtol=1e-9)
    ratios = fa.complex_modes(arm, q).damping_ratios
    assert_allclose(ratios, [[1.0, 1.0], [-1.0, 1.0]])


def test_frequencies_are_those_of_a_simulated_vibration() -> None:
    arm = planar_chain(2, n_modes=1, payload_mass=0.5, length=0.8)
    rest = fa.equilibrium(arm, [-np.pi / 2.0, 0.0, 0.0, 0.0], held=None).check()
    modes = fa.vibration_modes(arm, rest.q)
    t = np.linspace(0.0, 20.0, 80001)
    start = fa.integrate(arm, rest.q, 1e-7 * modes.shapes.sum(axis=1))
    run = fa.simulate(arm, start, np.zeros(4), t)
    swing = (run.q - rest.q) @ fa.mass_matrix(arm, rest.q) @ modes.shapes
    for i, f in enumerate(modes.frequencies):
        # the peak of a Gaussian window is a parabola in decibels
        window = np.exp(-0.5 * ((t - 10.0) / 1.6) ** 2)
        spectrum = np.log(abs(np.fft.rfft(swing[:, i] * window)))
        j = spectrum.argmax()
        a, b, c = spectrum[j - 1 : j + 2]
        peak = (j + 0.5 * (a - c) / (a - 2.0 * b + c)) / (len(t) * t[1])
        # steps of Runge and Kutta turn slower by (omega dt)^4/120
        slower = (TWO_PI * f * t[1]) ** 4 / 120.0
        assert_allclose(peak, f * (1.0 - slower), rtol=2e-8)


# loads and arguments


def test_a_pull_stiffens_a_string_of_rods() -> None:
    # a rod of mass m at l, pulled outward by P in a fixed direction: P/(m l)
    arm = fa.library.pendulum(mass=0.4, com=0.5).replace(gravity=(0, 0, 0))
    pull = np.zeros((2, 6))
    pull[:, 3] = 3.0, -3.0
    f = fa.natural_frequencies(arm, [0.0], wrench=pull, frame="base")
    expected = np.sqrt(3.0 / 0.2) / TWO_PI
    assert_allclose(f[:, 0], [expected, -expected], rtol=1e-12)
    # one that follows the rod has no say
    f = fa.natural_frequencies(arm, [0.0], wrench=pull)
    assert_allclose(f, 0.0, rtol=0.0, atol=1e-9)


def test_turned_arms_swing_alike() -> None:
    R = turned((1, 2, 3), 0.8)
    base = planar_chain(2, n_modes=2, gravity=(0, 0, 0))
    bodies = list(base.bodies)
    bodies[0] = bodies[0].replace(joint=bodies[0].joint.replace(rotation=R))
    arm = base.replace(bodies=bodies)
    q = np.linspace(0.1, 0.02, base.nq)
    assert_allclose(
        fa.natural_frequencies(arm, q),
        fa.natural_frequencies(base, q),
        rtol=1e-7,
        atol=1e-6,
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"held": [0, 1, 2, 3]}, "held names all coordinates"),
        ({"qd": np.zeros(3)}, "qd has shape \\(3,\\), expected a last axis of 4"),
        ({"qd": np.full(4, np.inf)}, "finite"),
        ({"wrench": np.zeros((3, 6)), "qd": np.zeros((2, 4))}, "do not broadcast"),
    ],
)
def test_options_of_natural_frequencies_have_to_fit(
    options: dict[str, Any], told: str
) -> None:
    arm = planar_chain(2, n_modes=1)
    with pytest.raises(fa.FlexarmError, match=told):
        fa.natural_frequencies(arm, np.zeros(4), **options)


def test_modes_of_no_posture_print() -> None:
    arm = planar_chain(2, n_modes=2)
    assert str(fa.vibration_modes(arm, np.zeros((0, 6)))) == "6 modes of no posture"
