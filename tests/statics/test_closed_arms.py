"""Equilibria and vibration of arms with loops and sliders: telescopes, trolleys."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sl
from numpy.testing import assert_allclose
from refusals import argument_refused
from scipy.optimize import brentq

import flexarm as fa
from flexarm.beams import Section, finite_element_link, flexible_link

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

G = 9.81
EXTENSIONS = (0.3, 0.9, 1.5, 2.1, 2.7)
LENGTH, STIFFNESS, DENSITY = 3.0, (4e4, 2e4), (8.0, 5.0)  # of both booms


# ---- an element model of straight beams in a plane ----


class Elements:
    """Cubic elements of a beam from 0 to its length, with nodes at marks."""

    def __init__(self, EI, rho, length, marks=(), n=40):
        x = np.union1d(np.linspace(0.0, length, n + 1), marks)
        self.x = x[np.r_[True, np.diff(x) > 1e-9]]
        size = 2 * len(self.x)
        self.K, self.M, self.f = np.zeros((size, size)), np.zeros((size, size)), 0.0
        self.f = np.zeros(size)
        for i, h in enumerate(np.diff(self.x)):
            s = slice(2 * i, 2 * i + 4)
            turn = np.array([1.0, h, 1.0, h])
            k = [[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]]
            m = [
                [156, 22, 54, -13],
                [22, 4, 13, -3],
                [54, 13, 156, -22],
                [-13, -3, -22, 4],
            ]
            both = np.outer(turn, turn)
            self.K[s, s] += EI / h**3 * np.array(k) * both
            self.M[s, s] += rho * h / 420.0 * np.array(m) * both
            self.f[s] -= rho * G * h / 12.0 * np.array([6, 1, 6, -1]) * turn

    def at(self, x):
        """Row that is the deflection at a node."""
        row = np.zeros(len(self.f))
        row[2 * int(abs(self.x - x).argmin())] = 1.0
        return row


def solved(K, M, f, rows):
    """Deflections and frequencies in Hz under constraints."""
    Z = sl.null_space(rows)
    k, m = Z.T @ K @ Z, Z.T @ M @ Z
    squares = sl.eigh(k, m, eigvals_only=True)
    return Z @ np.linalg.solve(k, Z.T @ f), np.sqrt(squares) / (2.0 * np.pi)


def clamped(beam):
    return np.eye(len(beam.f))[:2]


def telescope_of_elements(extension):
    """Sag of the tip and frequencies."""
    inside = LENGTH - extension
    outer = Elements(STIFFNESS[0], DENSITY[0], LENGTH, [extension])
    inner = Elements(STIFFNESS[1], DENSITY[1], LENGTH, [inside])
    rows = [np.r_[row, 0.0 * inner.f] for row in clamped(outer)]
    rows += [np.r_[outer.at(extension), -inner.at(0.0)]]
    rows += [np.r_[outer.at(LENGTH), -inner.at(inside)]]
    w, f = solved(
        sl.block_diag(outer.K, inner.K),
        sl.block_diag(outer.M, inner.M),
        np.r_[outer.f, inner.f],
        np.array(rows),
    )
    return w[-2], f


# ---- the arms ----


def telescope(n_modes=8):
    """Inner boom with a pad at its root and one in the mouth of the outer boom."""
    outer, inner = (
        flexible_link(
            name,
            length=LENGTH,
            mass_per_length=rho,
            bending_stiffness=EI,
            motions="bending z",
            n_modes=n_modes,
            joint=joint,
        )
        for name, EI, rho, joint in zip(
            ("outer", "inner"),
            STIFFNESS,
            DENSITY,
            (
                fa.Joint("fixed"),
                fa.Joint("planar", axis="y", axis2="x", parent="outer", node="base"),
            ),
            strict=True,
        )
    )
    pads = [
        fa.Slider(("inner", "base"), "outer", directions="z"),
        fa.Slider(("outer", "tip"), "inner", directions="z"),
    ]
    return fa.Arm([outer, inner], constraints=pads)


DRIVE = "inner.translation 1"


def beam_between_supports(n_modes, mass, length=2.0, rho=3.0, EI=2e3):
    """Simply supported, with a mass that rolls on it."""
    beam = flexible_link(
        "beam",
        length=length,
        mass_per_length=rho,
        bending_stiffness=EI,
        motions="bending z",
        n_modes=n_modes,
        joint=fa.Joint("revolute", axis="y"),
    )
    x_and_z = fa.Joint("screw", parent="ground", screw=np.eye(6)[:, [3, 5]])
    load = fa.RigidBody("load", x_and_z, mass=mass)
    roller = fa.Loop(("beam", "tip"), directions="z", position2=(length, 0, 0))
    slider = fa.Slider(("load", 0), "beam", directions="z")
    return fa.Arm([beam, load], constraints=[roller, slider])


# ---- what holds ----


def test_telescope_has_the_sag_and_frequencies_of_elements():
    arm = telescope()
    q = np.tile(arm.neutral, (len(EXTENSIONS), 1))
    q[:, 0] = EXTENSIONS
    rest = fa.equilibrium(arm, q, held=[DRIVE])
    assert rest.success.all()
    assert rest.stable.all()
    assert abs(fa.constraint_violation(arm, rest.q)).max() < 1e-10
    sag = fa.tip_pose(arm, rest.q)[:, 2, 3]
    found = fa.natural_frequencies(arm, rest.q, held=[DRIVE], count=3)
    for i, extension in enumerate(EXTENSIONS):
        wanted, frequencies = telescope_of_elements(extension)
        assert_allclose(sag[i], wanted, rtol=5e-3)
        assert_allclose(found[i], frequencies[:3], rtol=5e-3)


def test_telescope_vibrates_as_it_sags():
    """A free motion about the equilibrium has the first frequency."""
    arm = telescope(4)
    # the drive stands still: so heavy is what it moves
    arm = arm.replace(
        bodies=[
            arm.bodies[0],
            arm.bodies[1].replace(
                joint=arm.bodies[1].joint.replace(armature=(1e6, 0.0, 0.0))
            ),
        ]
    )
    q = arm.neutral
    q[0] = 1.5
    rest = fa.equilibrium(arm, q, held=[DRIVE])
    modes = fa.vibration_modes(arm, rest.q, held=[DRIVE])
    f, shape = modes.frequencies[0], modes.shapes[:, 0]
    # from rest, a millimetre at the tip
    scale = 1e-3 / np.abs(modes.node_displacements()[0, :, 5]).max()
    start = fa.close_loops(arm, modes.displaced(0, scale), hold=[DRIVE], modes=True)
    t = np.linspace(0.0, 1.0 / f, 9)
    run = fa.simulate(
        arm, start, np.zeros(arm.nv), t, torque=np.tile(rest.tau, (9, 1)), max_step=5e-4
    )
    assert run.success, run.message
    amplitude = (run.q - rest.q) @ (fa.mass_matrix(arm, rest.q) @ shape)
    assert_allclose(amplitude / amplitude[0], np.cos(2.0 * np.pi * f * t), atol=0.01)


def test_energy_of_a_rolling_mass_remains():
    arm = beam_between_supports(4, mass=4.0)
    q, qd = arm.neutral, np.zeros(arm.nv)
    x = next(i for i, n in enumerate(arm.coordinate_names) if n.startswith("load"))
    q[x], qd[x] = 0.5, 2.0
    hold = [arm.coordinate_names[x]]
    q, qd = fa.close_loops(arm, q, qd, hold=hold, modes=True)
    run = fa.simulate(arm, q, qd, np.linspace(0.0, 0.5, 26), max_step=2e-4)
    assert run.success, run.message
    assert run.q[-1, x] > 1.4
    energy = fa.energy(arm, run.q, run.qd)
    exchanged = np.ptp(fa.potential_energy(arm, run.q))
    assert np.ptp(energy) < 1e-6 * exchanged


def test_locked_turn_carries_a_moment():
    """Twist of a telescope in space: both rods twist where the moment passes."""
    stiffness, moment = 8e3, 20.0

    def boom(name, joint):
        return flexible_link(
            name,
            length=LENGTH,
            mass_per_length=6.0,
            bending_stiffness=(4e4, 3e4),
            torsional_stiffness=stiffness,
            polar_inertia_per_length=0.05,
            n_modes={"bending y": 3, "bending z": 3, "torsion": 12},
            joint=joint,
        )

    free = fa.Joint("free", parent="outer", node="base")
    pads = [
        fa.Slider(("inner", "base"), "outer", directions=("rx", "y", "z")),
        fa.Slider(("outer", "tip"), "inner"),
    ]
    booms = [boom("outer", fa.Joint("fixed")), boom("inner", free)]
    arm = fa.Arm(booms, constraints=pads, gravity=(0, 0, 0))
    q = np.tile(arm.neutral, (3, 1))
    q[:, 4] = extensions = np.array([0.5, 1.5, 2.5])
    turn = [moment, 0.0, 0.0, 0.0, 0.0, 0.0]
    rest = fa.equilibrium(arm, q, held=["inner.vx"], wrench=turn, frame="base")
    assert rest.success.all()
    tip = fa.tip_pose(arm, rest.q)
    twist = np.arctan2(tip[:, 2, 1], tip[:, 1, 1])
    # sines of a moment inside the outer rod converge with their number
    assert_allclose(twist, moment * (extensions + LENGTH) / stiffness, rtol=1e-2)


@pytest.mark.parametrize("x", [0.5, 1.0, 1.7])
def test_support_on_a_cantilever(x):
    """A point of the ground as a roller under a clamped beam."""
    beam = flexible_link(
        "beam",
        length=2.0,
        mass_per_length=3.0,
        bending_stiffness=2e3,
        motions="bending z",
        n_modes=10,
        joint=fa.Joint("fixed"),
    )
    support = fa.Slider("ground", "beam", position=(x, 0, 0), directions="z")
    arm = fa.Arm([beam], constraints=[support])
    rest = fa.equilibrium(arm, arm.neutral)
    assert rest.success
    found = fa.natural_frequencies(arm, rest.q, count=2)
    elements = Elements(2e3, 3.0, 2.0, [x])
    rows = np.vstack([clamped(elements), elements.at(x)])
    w, f = solved(elements.K, elements.M, elements.f, rows)
    assert_allclose(fa.tip_pose(arm, rest.q)[2, 3], w[-2], rtol=5e-3)
    assert_allclose(found, f[:2], rtol=5e-3)


@pytest.mark.parametrize("end", [(2, 0, 0), (0, 2, 0), (-1.6, 1.2, 0)])
def test_support_on_elements_in_any_direction(end):
    """Also inside of one of the eight elements, whose nodes all move."""
    end = np.array(end, float)
    beam = finite_element_link(
        "beam",
        sections=Section.from_stiffness(mass_per_length=3.0, bending_stiffness=2e3),
        points=[(0, 0, 0), end],
        n_elements=8,
        motions=("bending y", "bending z"),
        joint=fa.Joint("fixed"),
        n_modes="all",
    )
    arm = fa.Arm([beam], constraints=[fa.Slider("ground", "beam", position=0.45 * end)])
    rest = fa.equilibrium(arm, arm.neutral)
    assert rest.success
    elements = Elements(2e3, 3.0, 2.0, [0.9])
    rows = np.vstack([clamped(elements), elements.at(0.9)])
    w, f = solved(elements.K, elements.M, elements.f, rows)
    assert_allclose(fa.tip_pose(arm, rest.q)[2, 3], w[-2], rtol=5e-3)
    found = fa.natural_frequencies(arm, rest.q, count=2)
    assert_allclose(found, f[[0, 0]], rtol=5e-3)


@pytest.mark.parametrize("x", [0.3, 1.0, 1.6])
def test_mass_on_a_beam(x):
    """Frequencies with a mass that is held along the beam, at any place."""
    arm = beam_between_supports(10, mass=4.0)
    q = arm.neutral
    hold = next(n for n in arm.coordinate_names if n.startswith("load"))
    q[arm.coordinate_names.index(hold)] = x
    rest = fa.equilibrium(arm, q, held=[hold])
    found = fa.natural_frequencies(arm, rest.q, held=[hold], count=2)
    elements = Elements(2e3, 3.0, 2.0, [x])
    own = elements.at(x)
    rows = np.array([elements.at(0.0), elements.at(2.0)])
    mass = elements.M + 4.0 * np.outer(own, own)
    w, f = solved(elements.K, mass, elements.f - 4.0 * G * own, rows)
    assert_allclose(found, f[:2], rtol=5e-3)
    sag = rest.q[arm.coordinate_names.index(hold) + 1]
    assert_allclose(sag, own @ w, rtol=5e-3)


def test_rolling_mass_swings_in_its_own_sag():
    r"""A mass rolls about the middle of a beam by the energy of the sag under it.

    With the compliance :math:`x^2 (L - x)^2 / (3 EI L)` under a point load and the sag
    under the own weight :math:`\omega^2 = m g^2 L/(6 EI) + \rho g^2 L^2/(8 EI)`.
    """
    length, rho, EI, mass = 2.0, 0.5, 2e3, 4.0
    arm = beam_between_supports(8, mass, length, rho, EI)
    q = arm.neutral
    x = next(i for i, n in enumerate(arm.coordinate_names) if n.startswith("load"))
    q[x] = 0.52 * length
    # without a sag nothing moves it along the beam
    sagging = fa.equilibrium(arm, q, held=[arm.coordinate_names[x]])
    rest = fa.equilibrium(arm, sagging.q, held=None)
    assert rest.success
    assert rest.stable
    assert_allclose(rest.q[x], 0.5 * length, atol=2e-3)
    wanted = mass * G**2 * length / (6.0 * EI) + rho * G**2 * length**2 / (8.0 * EI)
    found = (2.0 * np.pi * fa.natural_frequencies(arm, rest.q)[0]) ** 2
    assert_allclose(found, wanted, rtol=0.02)


def four_bar():
    """Crank 0.3 m, coupler 0.9 m, rocker 0.7 m, ground 0.8 m along x, hanging."""
    bodies = [
        fa.RigidBody(
            name,
            mass=length,
            com=(length / 2, 0, 0),
            inertia=(1e-3, length**3 / 12, length**3 / 12),
            nodes={"tip": (length, 0, 0)},
        )
        for name, length in (("crank", 0.3), ("coupler", 0.9), ("rocker", 0.7))
    ]
    pin = fa.Loop(("rocker", "tip"), "ground", "revolute", position2=(0.8, 0, 0))
    return fa.Arm(bodies, gravity=(0, -G, 0), constraints=[pin])


def test_mechanism_has_the_minimum_and_curvature_of_its_energy():
    """Also with rows that others imply, as in a plane loop of hinges."""
    arm = four_bar()
    guess = np.array([-2.0, 0.9, 2.0])

    def at(angle):
        return fa.close_loops(arm, [angle, *guess[1:]], hold="crank")

    def energy(angle):
        return float(fa.potential_energy(arm, at(angle)))

    def slope(angle, h=1e-4):
        return (energy(angle + h) - energy(angle - h)) / (2.0 * h)

    angles = np.linspace(-2.9, -0.3, 14)
    slopes = [slope(a) for a in angles]
    i = next(i for i in range(13) if slopes[i] < 0.0 < slopes[i + 1])
    lowest = brentq(slope, angles[i], angles[i + 1], xtol=1e-10)
    h = 1e-3
    rate = (at(lowest + h) - at(lowest - h)) / (2.0 * h)
    mass = rate @ fa.mass_matrix(arm, at(lowest)) @ rate
    stiffness = (slope(lowest + h) - slope(lowest - h)) / (2.0 * h)

    rest = fa.equilibrium(arm, at(lowest + 0.1), held=None)
    assert rest.success
    assert rest.stable
    assert_allclose(rest.q[0], lowest, atol=1e-5)
    assert_allclose(rest.lowest_square, stiffness / mass, rtol=1e-3)
    found = fa.natural_frequencies(arm, rest.q)
    assert_allclose((2.0 * np.pi * found) ** 2, [stiffness / mass], rtol=1e-3)


def test_held_crank_takes_its_torque():
    arm = four_bar()
    q = fa.close_loops(arm, [-1.0, 0.9, 2.0], hold="crank")
    rest = fa.equilibrium(arm, q, held=["crank"])
    assert rest.success
    assert_allclose(rest.q, q, atol=1e-9)
    h = 1e-5
    above, below = (
        fa.potential_energy(
            arm, fa.close_loops(arm, q + s * np.eye(3)[0], hold="crank")
        )
        for s in (h, -h)
    )
    assert_allclose(rest.tau, [(above - below) / (2.0 * h), 0, 0], atol=1e-7)


def test_refusals():
    arm = telescope(2)
    q = arm.neutral
    q[0] = 1.0
    loops = fa.stack([arm, arm.replace(gravity=(0, 0, -1))])
    argument_refused(["loops", "equilibrium"], lambda: fa.equilibrium(loops, q))
    argument_refused(
        ["q violates the constraint", "by 0.1"],
        lambda: fa.natural_frequencies(arm, q + 0.1 * np.eye(len(q))[1], held=[0]),
    )
    argument_refused(
        ["the arm has loops", "'rocker-ground.x' is open by", "fewer held coordinates"],
        lambda: fa.equilibrium(four_bar(), [0.0, 0.5, 0.0]),
    )
    argument_refused(
        ["qd", "at rest"],
        lambda: fa.natural_frequencies(arm, q, held=[0], qd=np.zeros(arm.nv)),
    )
    q[0] = 3.5
    with pytest.raises(fa.NotFiniteError, match="beyond the ends"):
        fa.equilibrium(arm, q, held=[0])
