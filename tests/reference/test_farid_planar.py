"""The planar model of Farid (1997), chapter 4: equations, limits and examples.

Values marked R are recomputed ones of the digest of the thesis, sections 2.2 and 3; the
thesis prints data, sizes and the errors of E7, its curves are figures without numbers.

What was learned on the way: the term that the printed (4.43) lost makes no difference
at rest and 0.05 mm in E7, but free motion then does not keep its energy.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from arrays import Array
from farid_cases import START, chords, line, line_angles, two_link
from scipy.integrate import solve_ivp

from flexarm.reference import farid_planar as farid

# Step of complex derivatives.
STEP = 1e-40

# nothing alike, so that no index can be wrong without notice
ODD = farid.Parameters(
    bending_stiffness=(70.0, 40.0, 90.0),
    joint_stiffness=(30.0, 20.0, 50.0),
    elements=(1, 3, 2),
    length=(0.7, 1.1, 0.9),
    mass_per_length=(2.0, 3.0, 1.5),
    rotor_inertia=(0.1, 0.2, 0.3),
    stator_inertia=(0.4, 0.5, 0.6),
    rotor_mass=(0.7, 0.8, 0.9),
    stator_mass=(1.0, 1.1, 1.2),
    gear_ratio=(0.5, 0.2, -0.1),
    joint_damping=(0.3, 0.4, 0.5),
    payload_mass=1.3,
    payload_inertia=0.2,
)
RIGID = [(False, False), (True, False), (False, True), (True, True)]


def states(model: farid.Model, seed: int) -> tuple[Array, Array]:
    """Five states with large angles, deflections and rates."""
    rng = np.random.default_rng(seed)
    z, zd = rng.normal(size=(2, 5, model.size))
    return z, zd


def momenta(model: farid.Model, z: Any, zd: Array) -> Any:
    """Derivatives of the kinetic energy by zd, exact since it is quadratic."""
    unit = np.eye(model.size)
    more = farid.kinetic_energy(model, z[..., None, :], zd[..., None, :] + unit)
    less = farid.kinetic_energy(model, z[..., None, :], zd[..., None, :] - unit)
    return 0.5 * (more - less)


def gradient(function: Any, z: Array) -> Array:
    moved = z[..., None, :] + 1j * STEP * np.eye(z.shape[-1])
    return np.asarray(function(moved).imag / STEP)


# equations


@pytest.mark.parametrize(
    ("links", "elements", "size"), [(3, 2, 18), (2, 2, 12), (2, 4, 20), (3, 1, 12)]
)
def test_number_of_coordinates(links: int, elements: int, size: int) -> None:
    model = farid.assemble(farid.Parameters(1.0, 1.0, links, elements=elements))
    assert model.size == size
    z = np.zeros(size)
    assert farid.mass_matrix(model, z).shape == (size, size)


@pytest.mark.parametrize(("links", "joints"), RIGID)
def test_equations_are_those_of_the_energies(links: bool, joints: bool) -> None:
    model = farid.assemble(ODD, rigid_links=links, rigid_joints=joints)
    z, zd = states(model, 1)
    M = farid.mass_matrix(model, z)
    scale = np.abs(M).max()
    for i, unit in enumerate(np.eye(model.size)):
        column = momenta(model, z, np.broadcast_to(unit, z.shape))
        assert np.abs(column - M[..., i]).max() < 1e-13 * scale

    # d/dt of the momenta at fixed zd, less the slopes of the Lagrangian
    rate = momenta(model, z + 1j * STEP * zd, zd).imag / STEP
    slope = gradient(lambda x: farid.kinetic_energy(model, x, zd[:, None]), z)
    fall = gradient(lambda x: farid.potential_energy(model, x), z)
    torque = np.array([1.0, -2.0, 3.0])
    rotor = model.basis[:3]
    friction = ODD.each("joint_damping") * (zd @ rotor.T)
    force = (torque - friction) @ rotor + slope - fall - rate
    ours = np.einsum("...ij,...j", M, farid.forward_dynamics(model, z, zd, torque))
    assert np.abs(ours - force).max() < 2e-13 * np.abs(force).max()


def test_mass_matrix_is_symmetric_and_definite() -> None:
    model = farid.assemble(ODD)
    M = farid.mass_matrix(model, states(model, 2)[0])
    assert np.array_equal(M, np.swapaxes(M, -1, -2))
    assert np.linalg.eigvalsh(M).min() > 0.0
    bare = farid.Parameters(1.0, 1.0, rotor_inertia=0.0)
    M = farid.mass_matrix(farid.assemble(bare), np.zeros(18))
    assert np.linalg.matrix_rank(M) == 18 - 3


def test_the_printed_load_vector_misses_a_term() -> None:
    right, wrong = farid.assemble(ODD), farid.assemble(ODD, printed=True)
    z, zd = states(right, 3)
    missing = farid.load_vector(right, z, zd) - farid.load_vector(wrong, z, zd)
    assert np.abs(missing[:, 4:6]).min() > 1e-3  # Phi_2 and Phi_3
    assert not np.delete(missing, [4, 5], axis=1).any()
    # power: the right equations take none
    for model, lost in ((right, False), (wrong, True)):
        rest = farid.load_vector(model, z, zd) - np.einsum(
            "...ij,...j", farid.stiffness_matrix(model, zd), z
        )
        turned = farid.mass_matrix(model, z + 1j * STEP * zd).imag / STEP
        power = np.einsum("ni,ni->n", zd, rest) - 0.5 * np.einsum(
            "ni,nij,nj->n", zd, -turned, zd
        )
        fall = farid.potential_energy(model, z + 1j * STEP * zd).imag / STEP
        assert (np.abs(power + fall).max() > 1e-3) == lost


def test_softening_of_a_fast_chord() -> None:
    # K - rate^2 M loses its definiteness at the frequency of the pinned beam
    p = farid.Parameters(500.0, 1.0, 1, elements=8)
    model = farid.assemble(p, rigid_joints=True)
    limit = np.pi**2 * np.sqrt(500.0 / 5.0)
    for factor, stable in ((0.999, True), (1.001, False)):
        rate = np.zeros(model.size)
        rate[0] = factor * limit
        K = farid.stiffness_matrix(model, rate)[1:, 1:]
        assert (np.linalg.eigvalsh(K)[0] > 0.0) == stable


def test_leading_axes() -> None:
    model = farid.assemble(ODD)
    z, zd = states(model, 4)
    together = farid.forward_dynamics(model, z[:, None], zd, [1.0, 2.0, 3.0])
    assert together.shape == (5, 5, model.size)
    alone = farid.forward_dynamics(model, z[1], zd[2], [1.0, 2.0, 3.0])
    assert together[1, 2] == pytest.approx(alone, rel=1e-12)


def test_no_rigid_part_is_the_limit_of_stiff_parts() -> None:
    stiff = farid.Parameters(1e9, 1e9, 2)
    soft = farid.assemble(stiff)
    hard = farid.assemble(stiff, rigid_links=True, rigid_joints=True)
    phi, torque = np.array([0.3, -0.5]), np.array([10.0, -5.0])
    z, held = farid.inverse_statics(soft, phi)
    rigid = farid.rigid_torques(stiff, phi, 0.0 * phi, 0.0 * phi)
    assert held == pytest.approx(rigid, rel=1e-6)
    assert z[soft.chord] == pytest.approx(phi)
    assert z[:2] == pytest.approx([0.3, -0.8], abs=1e-6)
    qdd = farid.forward_dynamics(hard, phi, 0.0 * phi, torque)
    back = farid.rigid_torques(stiff, phi, 0.0 * phi, qdd)
    assert back == pytest.approx(torque, rel=1e-12)


def test_two_rigid_links_in_closed_form() -> None:
    # R, section E7
    p = two_link(payload_mass=4.0)
    rho, L, Mp, mu, Ir, Is, g = 5.0, 1.0, 4.0, 0.4, 0.2, 0.2, 9.81
    rng = np.random.default_rng(5)
    phi, rate, acc = rng.normal(size=(3, 2))
    turn = phi[0] - phi[1]
    M11 = rho * L**3 / 3 + Ir + Is + (mu + rho * L + Mp) * L**2
    M22 = rho * L**3 / 3 + Ir + Mp * L**2
    M12 = (rho * L / 2 + Mp) * L**2 * np.cos(turn)
    H = (rho * L / 2 + Mp) * L**2 * np.sin(turn)
    first = M11 * acc[0] + M12 * acc[1] + H * rate[1] ** 2
    first += g * L * np.cos(phi[0]) * (rho * L / 2 + mu + rho * L + Mp)
    second = M12 * acc[0] + M22 * acc[1] - H * rate[0] ** 2
    second += g * L * np.cos(phi[1]) * (rho * L / 2 + Mp)
    torque = farid.rigid_torques(p, phi, rate, acc)
    assert torque == pytest.approx([first + second, second], rel=1e-13)


# E4: three links fall from the level


def test_holding_torques_of_the_level_arm() -> None:
    exact = 9.81 * np.array([38.7, 20.4, 7.5])
    for EI in (100.0, 1e4):
        model = farid.assemble(farid.Parameters(EI, 100.0))
        z, torque = farid.inverse_statics(model, np.zeros(3))
        assert torque == pytest.approx(exact, rel=1e-12)
        at_rest = farid.forward_dynamics(model, z, 0.0 * z, torque)
        assert np.abs(at_rest).max() < 1e-8
        assert farid.tip_position(model, z) == pytest.approx([3.0, 0.0])


def test_the_rigid_arm_of_e4() -> None:
    table = """
    0.10 -0.053677  0.005058 -0.000499  2.998547 -0.049092
    0.25 -0.315762  0.003081  0.001014  2.950555 -0.306446
    0.50 -0.878463 -0.453480 -0.021680  2.537028 -1.229533
    0.75 -1.211671 -1.149025 -1.003559  1.298137 -2.691958
    1.00 -1.546229 -1.937682 -2.183679 -0.909374 -2.751140
    """
    rows = np.array(table.split(), float).reshape(5, 6)
    p = farid.Parameters(1.0, 1.0)
    model = farid.assemble(p, rigid_links=True, rigid_joints=True)

    def rate(_: float, x: Array) -> Array:
        return np.concatenate([x[3:], farid.forward_dynamics(model, x[:3], x[3:])])

    run = solve_ivp(
        rate, (0, 1), np.zeros(6), "DOP853", rows[:, 0], rtol=1e-9, atol=1e-9
    )
    phi = run.y[:3].T
    assert np.abs(phi - rows[:, 1:4]).max() < 0.5001e-6
    assert np.abs(farid.tip_position(model, phi) - rows[:, 4:]).max() < 0.5001e-6


def fall(
    EI: float, Kj: float, step: float, end: float = 1.0, **rigid: bool
) -> tuple[Array, Array]:
    """Tip and energy of E4 after the release from the gravity equilibrium."""
    model = farid.assemble(farid.Parameters(EI, Kj), **rigid)
    z, _ = farid.inverse_statics(model, np.zeros(3))
    steps = round(end / step)
    run = farid.newmark(model, z, 0.0 * z, np.zeros((steps + 1, 3)), step)
    energy = farid.kinetic_energy(model, run.z, run.zd)
    energy = energy + farid.potential_energy(model, run.z)
    return farid.tip_position(model, run.z), energy


@pytest.mark.slow
def test_energy_of_the_average_acceleration_method_is_of_second_order() -> None:
    drift = [
        np.abs(energy - energy[0]).max()
        for _, energy in (fall(1e3, 1e3, step, 0.25) for step in (1e-3, 5e-4, 2.5e-4))
    ]
    assert drift[0] / drift[1] == pytest.approx(4.0, rel=0.2)
    assert drift[1] / drift[2] == pytest.approx(4.0, rel=0.1)


# E7: two links along a line


def tip_error(model: farid.Model, step: float, bend: float = -1.0) -> Array:
    """Largest errors in x and y under the torques of the rigid arm, in mm."""
    t = np.arange(round(0.5 / step) + 1) * step
    phi, rate, acceleration = line_angles(t, bend)
    torque = farid.rigid_torques(model.parameters, phi, rate, acceleration)
    z, _ = farid.inverse_statics(model, phi[0])
    run = farid.newmark(model, z, 0.0 * z, torque, step)
    return 1e3 * np.abs(farid.tip_position(model, run.z) - line(t)[0]).max(axis=0)


def test_statics_at_the_start_of_e7() -> None:
    model = farid.assemble(two_link())
    phi = chords(START)
    assert phi == pytest.approx([0.54881, -0.32749], abs=5e-6)
    z, torque = farid.inverse_statics(model, phi)
    assert torque == pytest.approx([177.486, 69.691], abs=5e-4)
    assert z[:2] == pytest.approx([0.77232, -0.75836], abs=5.1e-6)
    assert z[[4, 8]] == pytest.approx([0.046022, 0.014197], abs=5e-7)
    assert farid.elastic_deflection(model, z) == pytest.approx(-z[[4, 8]])


@pytest.mark.parametrize(
    ("elements", "expected"),
    [(2, [4.700, 20.644, 105.1, 202.0]), (4, [4.700, 20.644, 105.07, 201.26])],
)
def test_frequencies_with_held_rotors(elements: int, expected: list[float]) -> None:
    model = farid.assemble(two_link(elements=elements))
    z, _ = farid.inverse_statics(model, chords(START))
    square = farid.frequencies(model, z, locked=True)
    assert np.sqrt(square[:4]) == pytest.approx(expected, rel=5e-4)


def test_frequencies_with_free_rotors() -> None:
    model = farid.assemble(two_link())
    z, _ = farid.inverse_statics(model, chords(START))
    square = farid.frequencies(model, z)
    assert square[0] == pytest.approx(-(2.54**2), rel=5e-3)
    expected = [1.97, 63.82, 65.31, 126.3, 202.1]
    assert np.sqrt(square[1:6]) == pytest.approx(expected, rel=1e-3)
    assert np.sqrt(square[-1]) == pytest.approx(3535.0, rel=2e-4)


@pytest.mark.parametrize(
    ("elements", "step", "printed", "expected"),
    [
        (2, 5e-4, False, [6.373, 5.023]),
        pytest.param(1, 5e-4, False, [6.40, 5.04], marks=pytest.mark.slow),
        pytest.param(4, 5e-4, False, [6.375, 5.022], marks=pytest.mark.slow),
        (2, 5e-3, False, [6.199, 4.982]),
        pytest.param(2, 5e-4, True, [6.324, 5.020], marks=pytest.mark.slow),
        (2, 5e-3, True, [6.149, 4.979]),
    ],
)
def test_rigid_torques_on_the_flexible_arm(
    elements: int, step: float, printed: bool, expected: list[float]
) -> None:
    # the thesis: 6.1 and 5 mm, without a step; the others R
    model = farid.assemble(two_link(elements=elements), printed=printed)
    digits = 5.01e-3 if elements == 1 else 5.01e-4
    assert np.abs(tip_error(model, step) - expected).max() < digits


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "bend", "expected"),
    [
        ({}, 1.0, [1.90, 7.63]),
        ({"rotor_inertia": 0.05, "stator_inertia": 0.05}, -1.0, [4.98, 2.25]),
        ({"rotor_inertia": 0.001, "stator_inertia": 0.001}, -1.0, [4.57, 1.42]),
        ({"gravity": 0.0}, -1.0, [4.52, 4.89]),
    ],
)
def test_what_else_the_thesis_may_have_meant(
    changes: dict[str, float], bend: float, expected: list[float]
) -> None:
    # R: none of these choices comes close to the printed 6.1 and 5 mm
    model = farid.assemble(two_link(**changes))
    error = tip_error(model, 1e-3, bend)
    assert np.abs(error - expected).max() < 0.02
    assert np.abs(error - [6.1, 5.0]).max() > 1.0


def test_ranges_of_the_rigid_torques() -> None:
    torque = farid.rigid_torques(two_link(), *line_angles(np.linspace(0, 0.5, 1001)))
    assert torque.min(axis=0) == pytest.approx([-62, -11], abs=0.5)
    assert torque.max(axis=0) == pytest.approx([401, 145], abs=0.5)


# the integrator


@functools.cache
def linear_acceleration(
    step: float, plain: bool = False, end: float = 0.1
) -> farid.Trajectory:
    model = farid.assemble(two_link())
    t = np.arange(round(end / step) + 1) * step
    torque = farid.rigid_torques(model.parameters, *line_angles(t))
    z, _ = farid.inverse_statics(model, chords(START))
    return farid.newmark(model, z, 0.0 * z, torque, step, beta=1.0 / 6.0, plain=plain)


def test_linear_acceleration_is_conditionally_stable() -> None:
    # R: omega h < 2 sqrt 3 for the 3535 rad/s of two elements
    stable, unstable = linear_acceleration(5e-4), linear_acceleration(1e-3)
    assert np.abs(stable.zdd).max() < 1e4
    assert not np.abs(unstable.zdd).max() < 1e8


def test_iteration_without_correction_contracts_for_short_steps() -> None:
    # beta (h omega)^2 < 1: h < 0.69 ms
    plain, newton = (linear_acceleration(5e-4, way, 0.03) for way in (True, False))
    assert np.abs(plain.z - newton.z).max() < 1e-10
    assert plain.iterations > 4 * newton.iterations
    assert np.isnan(linear_acceleration(8e-4, True, 0.03).z[-1]).all()


def test_several_arms_at_once() -> None:
    model = farid.assemble(two_link())
    t = np.arange(11) * 1e-3
    torque = farid.rigid_torques(model.parameters, *line_angles(t))
    z, _ = farid.inverse_statics(model, chords(START))
    scaled = torque[:, None] * np.array([[1.0], [1.1]])
    both = farid.newmark(model, z, 0.0 * z, scaled, 1e-3)
    one = farid.newmark(model, z, 0.0 * z, 1.1 * torque, 1e-3)
    assert np.abs(both.z[:, 1] - one.z).max() < 1e-12


# E3: which flexibility does how much


@pytest.mark.slow
def test_both_flexibilities_deviate_more_than_either() -> None:
    # L1506; pose and stiffness of figs 4.10 and 4.12 are lost, these are ours: hanging
    # at 0.2 rad, 300 N m^2, 300 N m/rad.  "Much larger" is 1.2 to 1.9 times here, and
    # it is not true of any stiffness: of 1000 and 1000, released from the level, links
    # alone deviate more in x than both together
    phi, path = np.full(3, 0.2 - 0.5 * np.pi), {}
    for links in (False, True):
        for joints in (False, True):
            model = farid.assemble(
                farid.Parameters(300.0, 300.0), rigid_links=links, rigid_joints=joints
            )
            z, _ = farid.inverse_statics(model, phi)
            run = farid.newmark(model, z, 0.0 * z, np.zeros((501, 3)), 4e-3)
            path[links, joints] = farid.tip_position(model, run.z)
    rigid = path.pop((True, True))
    far = {key: np.abs(way - rigid).max(axis=0) for key, way in path.items()}
    assert far[False, False] == pytest.approx([0.0125, 0.0049], abs=1e-4)
    assert far[True, False] == pytest.approx([0.0066, 0.0018], abs=1e-4)
    assert far[False, True] == pytest.approx([0.0096, 0.0042], abs=1e-4)
