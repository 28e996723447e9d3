"""Straight links of beam elements: frequencies, static deflection, inertia, dynamics.

Oracles: the frequency equation of uniform beams (`clamped_beam_modes`), transfer
matrices, Bessel functions of wedges and cones, shooting, closed forms of deflection.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from beam_transfer import bending_field, frequencies, point_mass, torsion_field
from few_modes import few_modes
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.special import iv, jv, kv, yv

import flexarm as fa
from flexarm import beams
from flexarm.beams import STEEL, Material, Payload, Section, finite_element_link

UNIT = Section.from_stiffness(1.0, 1.0, rotary_inertia=(0.1, 0.0, 0.0))
SOFT = Material(E=1e7, density=1000.0, G=4e6)  # slow enough to be seen
EULER: dict[str, Any] = {"shear": False, "rotary_inertia": False}


def omega(body: fa.FlexibleBody) -> Any:
    """Angular frequencies of a link, clamped at its frame."""
    return 2.0 * np.pi * body.frequencies()


NATURAL = "clamped-free"


def planar(**kwargs: Any) -> fa.FlexibleBody:
    """Link of unit length that bends along y."""
    given: dict[str, Any] = {"length": 1.0, "sections": UNIT, "motions": "bending y"}
    given["n_modes"] = None if kwargs.get("modes") == "static" else "all"
    return finite_element_link("link", **{**given, **kwargs})


# frequencies


@pytest.mark.parametrize("mass", [0.0, 1.0])
def test_frequencies_converge_with_the_fourth_power(mass: float) -> None:
    """From above, to the roots of the frequency equation; 16 as h is halved."""
    exact = beams.clamped_beam_modes(1.0, 1.0, 1.0, 5, tip_mass=mass).omega
    # benchmark B1 prints (beta L)^2, which is omega of the unit beam
    printed = {
        0.0: [3.516015, 22.03449, 61.69721, 120.9019, 199.8595],
        1.0: [1.557298, 16.25009, 50.89584, 105.1983, 179.2320],
    }
    assert_allclose(exact, printed[mass], rtol=3e-7)
    loads = [Payload(1.0, mass=mass)] if mass else []
    errors = np.array(
        [
            omega(planar(n_elements=n, payloads=loads, modes=NATURAL, n_modes=5))
            / exact
            - 1.0
            for n in (8, 16, 32)
        ]
    )
    assert (errors > 0.0).all()
    ratio = errors[:-1] / errors[1:]
    assert_allclose(ratio[1], 16.0, rtol=0.07)
    assert errors[-1].max() < 3e-5


def test_two_elements_beat_ten_rigid_segments() -> None:
    """Benchmark B11: 10 rigid segments miss mode 1 by 0.23 %, mode 2 by 0.80 %."""
    exact = beams.clamped_beam_modes(1.0, 1.0, 1.0, 2).omega
    error = omega(planar(n_elements=2))[:2] / exact - 1.0
    assert (error < [0.0005, 0.0085]).all() and (error > 0.0).all()
    error = omega(planar(n_elements=3))[:2] / exact - 1.0
    assert (error < [0.0002, 0.004]).all()


def test_low_frequencies_keep_their_digits() -> None:
    """A fine mesh: 6.6e-10 is the error of 60 elements, not rounding."""
    exact = beams.clamped_beam_modes(1.0, 1.0, 1.0, 1).omega
    fine = [
        omega(planar(n_elements=n, modes=NATURAL, n_modes=1)) / exact - 1.0
        for n in (30, 60)
    ]
    assert_allclose(fine[0] / fine[1], 16.0, rtol=0.05)


def test_torsion_and_stretch_converge_with_the_square() -> None:
    exact = beams.clamped_rod_modes(1.0, 0.1, 1.0, 3, tip_inertia=0.05).omega
    load = Payload(1.0, mass=0.05, inertia=(0.05, 0.05, 0.05))
    for motion, section in (
        ("torsion", UNIT),
        ("stretch", Section.from_stiffness(0.1, 1.0, axial_stiffness=1.0)),
    ):
        errors = np.array(
            [
                omega(
                    finite_element_link(
                        "rod",
                        length=1.0,
                        sections=section,
                        motions=motion,
                        n_elements=n,
                        modes=NATURAL,
                        n_modes=3,
                        payloads=[load],
                    )
                )
                / exact
                - 1.0
                for n in (16, 32)
            ]
        )
        assert (errors > 0.0).all()
        assert_allclose(errors[0] / errors[1], 4.0, rtol=0.02)


def sharp(kind: str, x: float) -> Section:
    """Wedge (width constant, height falls along y) or cone, to a point at x = 1 m."""
    size = 0.02 * (1.0 - x)
    if kind == "wedge":
        return Section.rectangle(size, 0.03, SOFT)
    return Section.round(size, SOFT)


@pytest.mark.parametrize(("kind", "order"), [("wedge", 1), ("cone", 2)])
def test_sharp_wedge_and_cone(kind: str, order: int) -> None:
    """Kirchhoff (1882): J_n I_n+1 + I_n J_n+1 = 0 at 2 sqrt(p), omega = p sqrt(..)."""

    def determinant(p: Any) -> Any:
        z = 2 * mpmath.sqrt(p)
        J, I = mpmath.besselj, mpmath.besseli
        return J(order, z) * I(order + 1, z) + I(order, z) * J(order + 1, z)

    start = {"wedge": [5.3, 15.2, 30.0], "cone": [8.7, 21.1, 38.4]}[kind]
    p = np.array([float(mpmath.findroot(determinant, x)) for x in start])
    assert_allclose(p[0], {"wedge": 5.315, "cone": 8.719}[kind], rtol=2e-4)
    root = sharp(kind, 0.0)
    exact = p * np.sqrt(root.bending_stiffness[0] / root.mass_per_length)
    cut: dict[str, Any] = {
        "sections": lambda x: sharp(kind, x),
        "modes": NATURAL,
        "n_modes": 3,
        **EULER,
    }
    found = [omega(planar(**cut, n_elements=n)) / exact - 1.0 for n in (8, 16, 32)]
    assert (np.array(found) > 0.0).all()
    assert found[-1].max() < 2e-5
    # the deflection is smooth up to the point, so that the order is kept
    assert_allclose(found[1] / found[2], 16.0, rtol=0.1)


def truncated(kind: str, x: float) -> Section:
    """The same, cut where the size is 0.4 of that at the root."""
    return sharp(kind, 0.6 * x)


@pytest.mark.parametrize(("kind", "order"), [("wedge", 1), ("cone", 2)])
def test_truncated_wedge_and_cone(kind: str, order: int) -> None:
    """Bessel functions of all four kinds, and shooting: both agree to 1e-9."""
    root = truncated(kind, 0.0)
    c2 = root.bending_stiffness[0] / root.mass_per_length
    # s = 1 - 0.6 x is the size; (s^(n+2) w'')'' = k^2 s^n w in s
    n, end = order, 0.4

    def bessel(w: float) -> float:
        k = w / np.sqrt(c2) / 0.6**2
        rows = []
        for s, wanted in ((1.0, "clamped"), (end, "free")):
            z = 2.0 * np.sqrt(k * s)
            # w = s^(-n/2) f_n(z), (s^(-n/2) f_n)' = -+ sqrt(k) s^(-(n+1)/2) f_n+1
            f = np.array([[h(n + j, z) for h in (jv, yv, iv, kv)] for j in range(3)])
            down = np.array([-1.0, -1.0, 1.0, -1.0])
            if wanted == "clamped":
                rows += [f[0], down * f[1]]
            else:  # moment s^(n+2) w'' ~ s^((n+2)/2) f_n+2, its derivative ~ f_n+1
                rows += [down**2 * f[2], f[1] * [1.0, 1.0, 1.0, -1.0]]
        matrix = np.array(rows)
        return float(np.linalg.det(matrix / np.abs(matrix).max(axis=1)[:, None]))

    exact = frequencies(bessel, 3, 90.0 * np.sqrt(c2))

    def shoot(w: float) -> float:
        def rate(x: float, y: Any) -> Any:
            section = truncated(kind, x)
            EI, m = section.bending_stiffness[0], section.mass_per_length
            y = y.reshape(4, 2)
            return np.array([y[1], y[2] / EI, y[3], m * w**2 * y[0]]).ravel()

        start = np.zeros((4, 2))
        start[2, 0] = start[3, 1] = 1.0
        end = solve_ivp(rate, (0, 1), start.ravel(), rtol=1e-10, atol=1e-13).y[:, -1]
        return float(np.linalg.det(end.reshape(4, 2)[2:]))

    for w in exact[:1]:
        assert shoot(w * (1.0 - 1e-8)) * shoot(w * (1.0 + 1e-8)) < 0.0
    link = planar(
        sections=lambda x: truncated(kind, x),
        n_elements=32,
        modes=NATURAL,
        n_modes=3,
        **EULER,
    )
    error = omega(link) / exact - 1.0
    assert (error > -1e-12).all() and error.max() < 4e-6


def test_stepped_beam_with_masses() -> None:
    """Transfer matrices of three pieces, masses between them and at the tip."""
    pieces = [(0.3, 3.0, 7.0), (0.45, 1.0, 2.0), (0.25, 0.5, 0.4)]
    masses = [(0.2, 0.01), (0.0, 0.0), (0.3, 0.02)]

    def determinant(w: float) -> float:
        state = np.eye(4)[:, 2:]
        for (h, rho, EI), (m, J) in zip(pieces, masses, strict=True):
            state = point_mass(w, m, J) @ bending_field(w, h, rho, EI) @ state
        return float(np.linalg.det(state[2:]))

    exact = frequencies(determinant, 4, 200.0)
    sections = [(h, Section.from_stiffness(rho, EI)) for h, rho, EI in pieces]
    loads = [
        Payload(0.3, mass=0.2, inertia=(0, 0.01, 0.01)),
        Payload(1.0, mass=0.3, inertia=(0.0, 0.02, 0.02)),
    ]
    for motion in ("bending y", "bending z"):
        errors = []
        for n in (20, 40):
            link = planar(
                sections=sections,
                payloads=loads,
                n_elements=n,
                motions=motion,
                modes=NATURAL,
                n_modes=4,
            )
            assert {0.3, 0.75} <= set(link.node_position[:, 0].round(12))
            errors.append(omega(link) / exact - 1.0)
        assert (errors[1] > 0.0).all() and errors[1].max() < 3e-6
        assert_allclose(errors[0] / errors[1], 16.0, rtol=0.05)


def test_offset_payload_couples_bending_and_torsion() -> None:
    """Payload with its centre of mass beside the tip, against the exact determinant.

    A mass at y = c moves by w + c phi: it loads the tip with m omega^2 (w + c phi) and
    c times that about x.
    """
    rho, EI, polar, GJ = 1.0, 2.0, 0.02, 0.3
    m, c, inertia = 0.4, 0.15, (0.01, 0.013, 0.012)

    def determinant(w: float) -> float:
        bend = bending_field(w, 1.0, rho, EI)[:, 2:]
        twist = torsion_field(w, 1.0, polar, GJ)[:, 1:]
        state = np.zeros((6, 3))
        state[:4, :2], state[4:, 2:] = bend, twist
        lift = m * w**2 * (state[0] + c * state[4])
        return float(
            np.linalg.det(
                [
                    state[2] - inertia[1] * w**2 * state[1],
                    state[3] - lift,
                    state[5] - inertia[0] * w**2 * state[4] - c * lift,
                ]
            )
        )

    exact = frequencies(determinant, 5, 120.0)
    section = Section.from_stiffness(
        rho, (3.0, EI), torsional_stiffness=GJ, rotary_inertia=(polar, 0.0, 0.0)
    )
    load = Payload(1.0, mass=m, com=(0.0, c, 0.0), inertia=inertia)
    errors = []
    for n in (20, 40):
        link = planar(
            sections=section,
            payloads=[load],
            n_elements=n,
            motions=("bending z", "torsion"),
            modes=NATURAL,
            n_modes=3,
        )
        # coupled motions have the sum of their numbers
        assert link.mode_names == tuple(f"mode {j}" for j in range(1, 7))
        errors.append(omega(link)[:5] / exact - 1.0)
    assert (errors[1] > 0.0).all() and errors[1].max() < 2e-3
    assert_allclose(errors[0] / errors[1], 4.0, rtol=0.1)  # torsion is of second order


def test_rotary_inertia_of_sections() -> None:
    """A Rayleigh beam pinned at both ends: omega^2 = EI k^4 / (rho + J k^2)."""
    section = Section.from_stiffness(1.0, 1.0, rotary_inertia=(0.02, 0.01, 0.01))
    link = planar(sections=section, n_elements=32, modes="pinned", n_modes=3)
    k = np.pi * np.arange(1, 4)
    assert_allclose(omega(link), np.sqrt(k**4 / (1.0 + 0.01 * k**2)), rtol=1e-5)
    plain = planar(
        sections=section,
        n_elements=32,
        frame="chord",
        modes="pinned",
        n_modes=3,
        rotary_inertia=False,
    )
    assert_allclose(omega(plain), k**2, rtol=1e-5)


# static deflection


@pytest.mark.parametrize("n_elements", [1, 2, 5])
def test_tip_deflection_is_exact(n_elements: int) -> None:
    """P L^3 / 3 EI + P L / kGA, P L^2 / 2 EI, M L / EI, T L / GJ, by any elements."""
    bar = Section.rectangle(0.02, 0.03, STEEL)
    link = finite_element_link(
        "link",
        length=0.7,
        sections=bar,
        n_elements=n_elements,
        motions=ALL,
        n_modes="all",
    )
    EIy, EIz = bar.bending_stiffness  # against deflection along y and z
    L, GJ, EA = 0.7, bar.torsional_stiffness, bar.axial_stiffness
    expected = np.zeros((6, 6))  # moment, force -> rotation, translation
    expected[0, 0], expected[3, 3] = L / GJ, L / EA
    expected[4, 4], expected[5, 5] = L**3 / (3 * EIy), L**3 / (3 * EIz)
    expected[[4, 5], [4, 5]] += L / bar.shear_stiffness
    expected[2, 2], expected[1, 1] = L / EIy, L / EIz
    expected[4, 2] = expected[2, 4] = L**2 / (2 * EIy)
    expected[5, 1] = expected[1, 5] = -(L**2) / (2 * EIz)
    tip = np.vstack([link.node_rotation[-1], link.node_translation[-1]])
    found = tip @ np.linalg.solve(link.stiffness, tip.T)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert_allclose(found / scale, expected / scale, rtol=0, atol=1e-11)


ALL = ("bending y", "bending z", "torsion", "stretch")


def test_tip_deflection_of_a_stepped_and_a_tapered_bar() -> None:
    """Castigliano: int (L - x)^2 / EI dx, by pieces and by the antiderivative."""
    steps = [
        (0.4, Section.from_stiffness(1.0, 3.0)),
        (0.6, Section.from_stiffness(1.0, 2.0)),
    ]
    link = planar(sections=steps, n_elements=2)
    tip = link.node_translation[-1, 1]
    found = tip @ np.linalg.solve(link.stiffness, tip)
    assert_allclose(found, (1.0 - 0.6**3) / 9.0 + 0.6**3 / 6.0, rtol=1e-13)
    # a wedge with EI = (2 - x)^3: cubics are not its deflection, errors fall as h^4
    exact = mpmath.quad(lambda x: (1 - x) ** 2 / (2 - x) ** 3, [0, 1])
    error = []
    for n in (8, 16):
        link = planar(
            sections=lambda x: Section.from_stiffness(1.0, (2.0 - x) ** 3), n_elements=n
        )
        tip = link.node_translation[-1, 1]
        found = tip @ np.linalg.solve(link.stiffness, tip)
        error.append(1.0 - found / float(exact))
    assert 0.0 < error[1] < 3e-5
    assert_allclose(error[0] / error[1], 16.0, rtol=0.1)


# inertia and dynamics


def test_mass_properties_are_exact() -> None:
    """Box sections with rotary inertia, a payload inside: those of the rigid bar."""
    box = Section.box(0.05, 0.03, 0.002, STEEL)
    load = Payload(0.31, mass=0.7, com=(0.01, 0.02, -0.03), inertia=(1e-3, 2e-3, 2e-3))
    link = finite_element_link(
        "link",
        length=0.8,
        sections=box,
        payloads=[load],
        n_modes=4,
    )
    m, L = box.mass_per_length * 0.8, 0.8
    c = fa.modal_integrals(link)
    at = np.array([0.32, 0.02, -0.03])
    assert_allclose(c.m, m + 0.7, rtol=1e-14)
    assert_allclose(c.mp0, m * np.array([L / 2, 0, 0]) + 0.7 * at, rtol=1e-13)
    rod = m * L**2 / 3 * np.diag([0.0, 1.0, 1.0]) + L * np.diag(box.rotary_inertia)
    shifted = np.diag([1e-3, 2e-3, 2e-3]) + 0.7 * (
        at @ at * np.eye(3) - np.outer(at, at)
    )
    assert_allclose(c.J0, rod + shifted, rtol=1e-13)


def test_inertia_about_the_line_alone() -> None:
    """With torsion, sections turn about x only: given as integrals, not as nodes."""
    bar = Section.round(0.02, STEEL)
    link = finite_element_link("link", length=0.5, sections=bar, n_modes=4, **EULER)
    assert link.integrals is not None and not link.node_mass.any()
    m = bar.mass_per_length * 0.5
    J = np.diag([bar.rotary_inertia[0] * 0.5, m * 0.25 / 3, m * 0.25 / 3])
    assert_allclose(link.integrals.J0, J, rtol=1e-13, atol=1e-18)
    bending = finite_element_link(
        "link", length=0.5, sections=bar, n_modes=4, motions="bending y", **EULER
    )
    assert bending.integrals is None
    assert_allclose(fa.modal_integrals(bending).J0, J * [0, 1, 1], rtol=1e-13)


def chain(*links: fa.FlexibleBody) -> fa.Arm:
    joints = [fa.Joint(axis=(0, 0, 1))] + [
        fa.Joint(parent=body.name, node="tip", axis=(0, 0, 1)) for body in links[:-1]
    ]
    return fa.Arm(
        [body.replace(joint=joint) for body, joint in zip(links, joints, strict=True)],
        gravity=(0.0, -9.81, 0.0),
        check_units=False,
    )


@few_modes()
def test_dynamics_of_many_elements_are_those_of_the_exact_modes() -> None:
    """Two links, two modes each: what is left falls with the elements."""
    modes = beams.clamped_beam_modes(1.0, 1.0, 1.0, 2, tip_mass=0.5, tip_inertia=0.01)
    exact = [
        beams.flexible_link(
            name,
            length=1.0,
            mass_per_length=1.0,
            bending_y=modes,
            tip_mass=0.5,
            tip_inertia=0.01,
        )
        for name in ("first", "second")
    ]
    rng = np.random.default_rng(3)
    q, qd = 0.05 * rng.standard_normal((2, 20, 6))
    q[:, :2] *= 40.0
    tau = rng.standard_normal((20, 2))
    reference = fa.forward_dynamics(chain(*exact), q, qd, tau)
    scale = np.abs(reference).max(axis=0)
    load = Payload(1.0, mass=0.5, inertia=(0.005, 0.005, 0.01))
    off = []
    for n in (10, 20):
        links = [
            planar(n_elements=n, payloads=[load], modes=NATURAL, n_modes=2).replace(
                name=name
            )
            for name in ("first", "second")
        ]
        found = fa.forward_dynamics(chain(*links), q, qd, tau)
        off.append((np.abs(found - reference) / scale).max())
    assert off[1] < 4e-6
    assert_allclose(off[0] / off[1], 16.0, rtol=0.2)


def test_energy_is_the_integral_of_curvature() -> None:
    """Hermite shapes: 1/2 int EI v''^2 and 1/2 int rho v^2 of random coordinates."""
    link = planar(n_elements=3)
    rng = np.random.default_rng(0)
    eta = rng.standard_normal(6)
    v = [0.0, 0.0, *eta]
    mass = stiff = 0.0
    for e in range(3):
        a, b = (v[2 * e : 2 * e + 2], v[2 * e + 2 : 2 * e + 4])
        p = np.polynomial.Polynomial.fit([0, 0.3], [0, 0], 1).convert() * 0
        h = 1.0 / 3.0
        # cubic with given values and slopes
        p += np.polynomial.Polynomial(
            [
                a[0],
                a[1],
                3 * (b[0] - a[0]) / h**2 - (2 * a[1] + b[1]) / h,
                2 * (a[0] - b[0]) / h**3 + (a[1] + b[1]) / h**2,
            ]
        )
        mass += (p * p).integ()(h)
        stiff += (p.deriv(2) * p.deriv(2)).integ()(h)
    assert_allclose(eta @ link.stiffness @ eta, stiff, rtol=1e-13)
    assert_allclose(eta @ link.modal_mass() @ eta, mass, rtol=1e-13)


# coordinates and reductions


def test_names_and_nodes() -> None:
    link = finite_element_link(
        "link",
        length=1.0,
        sections=UNIT,
        n_elements=2,
        payloads=[Payload(0.3, mass=1.0, name="motor")],
        nodes={"sensor": 0.9},
        n_modes="all",
    )
    assert link.node_names[0] == "base" and link.node_names[-1] == "tip"
    assert_allclose(link.node_position[link.node_index("motor")], [0.3, 0, 0])
    assert_allclose(link.node_position[link.node_index("sensor")], [0.9, 0, 0])
    assert link.mode_names[:5] == (
        "motor y",
        "motor rz",
        "motor z",
        "motor ry",
        "motor rx",
    )
    assert link.n_modes == 15
    # a coordinate is the displacement of its node
    j = link.node_index("sensor")
    assert_allclose(link.node_translation[j, 1], np.eye(15)[5], atol=1e-15)
    assert_allclose(link.node_rotation[j, 2], np.eye(15)[6], atol=1e-14)
    assert_allclose(link.node_rotation[j, 1], np.eye(15)[8], atol=1e-14)
    assert_allclose(link.node_rotation[j, 0], np.eye(15)[9], atol=1e-14)


def test_modal_truncation() -> None:
    """Unit modal mass, signs of `clamped_beam_modes`, choice by motion and by Hz."""
    section = Section.from_stiffness(
        1.0, (1.0, 4.0), torsional_stiffness=2.0, rotary_inertia=(0.01, 0, 0)
    )
    whole: dict[str, Any] = {
        "length": 1.0,
        "sections": section,
        "n_elements": 8,
        "modes": NATURAL,
    }
    link = finite_element_link("link", **whole, n_modes=2)
    assert link.mode_names == (
        "bending y 1",
        "bending y 2",
        "bending z 1",
        "bending z 2",
        "torsion 1",
        "torsion 2",
    )
    assert_allclose(link.modal_mass(), np.eye(6), rtol=0, atol=1e-12)
    by_motion = finite_element_link(
        "link", **whole, n_modes={"torsion": 1, "bending y": 2}
    )
    assert by_motion.mode_names == ("bending y 1", "bending y 2", "torsion 1")
    slow = finite_element_link(
        "link", **whole, max_frequency=1.001 * link.frequencies()[2]
    )
    assert slow.mode_names == ("bending y 1", "bending y 2", "bending z 1")
    tip = beams.clamped_beam_modes(1.0, 1.0, 1.0, 2).tip_deflection
    assert_allclose(by_motion.node_translation[-1, 1, :2], tip, rtol=1e-3)
    assert by_motion.node_rotation[-1, 0, 2] > 0.0
    zeta = [0.01, 0.02, 0.03]
    damped = finite_element_link(
        "link", **whole, n_modes={"torsion": 1, "bending y": 2}, damping_ratio=zeta
    )
    # in the order of the frequencies, in which bending y 2 comes before torsion 1
    assert_allclose(
        np.diag(damped.damping), 2.0 * np.array(zeta) * omega(damped), rtol=1e-9
    )


def test_shaping_payload_has_no_mass() -> None:
    """Modes of a link under the mass that it will carry, as in `flexible_link`."""
    load = Payload(1.0, mass=2.0)
    shaped = planar(n_elements=16, n_modes=2, modes="tip-loaded", outboard=[load])
    modes = beams.clamped_beam_modes(1.0, 1.0, 1.0, 2, tip_mass=2.0)
    assert_allclose(shaped.mass, 1.0)
    assert_allclose(np.diag(shaped.stiffness), modes.omega**2, rtol=2e-5)
    assert_allclose(shaped.modal_mass(), modes.z, rtol=0, atol=1e-5)


def test_static_condensation() -> None:
    """Guyan with the tip: stiffness of a single element, mass of its static shapes."""
    fine = planar(n_elements=10, modes="static")
    one = planar(n_elements=1)
    assert fine.mode_names == ("tip y", "tip rz") == one.mode_names
    assert_allclose(fine.stiffness, one.stiffness, rtol=1e-10)
    assert_allclose(fine.modal_mass(), one.modal_mass(), rtol=1e-10)
    kept = planar(n_elements=4, modes="static", keep=["n2", "tip"])
    assert_allclose(
        kept.stiffness, planar(n_elements=2).stiffness, rtol=1e-11, atol=1e-13
    )


def test_craig_bampton() -> None:
    """Tip coordinates and modes that leave the tip at rest: exact in the limit."""
    full = planar(n_elements=8)
    part = planar(n_elements=8, n_modes=5)
    names = ("tip y", "tip rz", "bending y 3", "bending y 4", "bending y 5")
    assert part.mode_names == names
    assert not part.stiffness[:2, 2:].any()
    off = part.frequencies()[:3] / full.frequencies()[:3] - 1.0
    assert (off > -1e-12).all() and off.max() < 2e-3
    # the modes held at both ends, and the mesh of `finite_elements`
    held = np.array([22.3733, 61.6728])
    assert_allclose(np.sqrt(np.diag(part.stiffness)[2:4]), held, rtol=2e-3)
    mesh = fa.finite_elements.beam_mesh(
        1.0,
        8,
        mass_per_length=1.0,
        bending_stiffness=1.0,
        axial_stiffness=1.0,
        torsional_stiffness=1.0,
        section_inertia=(0.1, 0, 0),
    )
    modes = mesh.craig_bampton("0", ["8"], 0, orthogonalize=False)
    rows = [modes.names.index(name) for name in ("8 y", "8 rz")]
    same = planar(n_elements=8, n_modes=2)
    assert_allclose(modes.stiffness[np.ix_(rows, rows)], same.stiffness, rtol=1e-9)
    assert_allclose(modes.mass[np.ix_(rows, rows)], same.modal_mass(), rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sections": None}, "sections of link 'l' are not understood"),
        ({"nodes": ["middle"]}, r"nodes of link 'l' is \['middle'\], expected"),
    ],
)
def test_arguments_of_a_wrong_kind_are_refused(options: Any, words: str) -> None:
    given = {"sections": fa.beams.Section.from_stiffness(2.0, 1e3), **options}
    with pytest.raises(fa.ModelError, match=words):
        fa.beams.finite_element_link("l", length=1.0, motions="bending y", **given)
