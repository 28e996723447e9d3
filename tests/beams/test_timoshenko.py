"""Shear and rotary inertia of beam elements, and sections that twist about a centre.

Oracles: closed forms of deflection and buckling; the frequency equation of T. C. Huang
(J. Appl. Mech. 28, 1961, 579-584); the matrix exponential of the equations of
Timoshenko; the exact line of sections that turn, shear and twist.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from refusals import model_refused
from scipy.linalg import expm
from scipy.optimize import brentq

import flexarm as fa
from flexarm import beams
from flexarm.beams import STEEL, Material, Payload, Section, finite_element_link
from flexarm.reference.rotations import exponential

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

SOFT = Material(E=2.6, density=1.0, poisson=0.3)
# all of it at once: two shear stiffnesses, a shear centre beside the line
SLACK = Section.from_stiffness(
    1.3,
    (2.0, 5.0),
    torsional_stiffness=1.7,
    axial_stiffness=900.0,
    shear_stiffness=(30.0, 20.0),
    rotary_inertia=(0.02, 0.01, 0.01),
).replace(shear_centre=(0.03, -0.05))


def omega(body: fa.FlexibleBody) -> Any:
    """Angular frequencies of a link, clamped at its frame."""
    return 2.0 * np.pi * body.frequencies()


def compliance(body: fa.FlexibleBody) -> Any:
    """Rotation and translation of the tip by a wrench on it, (6, 6)."""
    tip = np.vstack([body.node_rotation[-1], body.node_translation[-1]])
    return tip @ np.linalg.solve(body.stiffness, tip.T)


# statics


@each("n_elements", [1, 2, 5])
def test_cantilever_with_shear_is_exact(n_elements: int) -> None:
    """P L^3 / 3 EI + P L / kGA; a force does not turn the sections by its shear."""
    tube = Section.tube(0.1, 0.02, STEEL)
    L = 0.3
    link = finite_element_link(
        "link", length=L, sections=tube, n_elements=n_elements, n_modes="all"
    )
    found = compliance(link)
    EI, kGA = tube.bending_stiffness[0], tube.shear_stiffness[0]
    for at, sign, about in ((4, 1.0, 2), (5, -1.0, 1)):
        assert_allclose(found[at, at], L**3 / (3 * EI) + L / kGA, rtol=1e-12)
        assert_allclose(found[at, about], sign * L**2 / (2 * EI), rtol=1e-12)
    # much of this deflection is shear
    assert 0.1 < L / kGA / found[4, 4] < 0.12


def test_steps_and_tapers_with_shear() -> None:
    """Castigliano: int (L - x)^2 / EI + 1 / kGA dx."""
    steps = [
        (0.4, Section.from_stiffness(1.0, 3.0, shear_stiffness=7.0)),
        (0.6, Section.from_stiffness(1.0, 2.0, shear_stiffness=5.0)),
    ]
    options: dict[str, Any] = {
        "length": 1.0,
        "motions": "bending y",
        "n_modes": "all",
    }
    link = finite_element_link("link", sections=steps, n_elements=2, **options)
    exact = (1.0 - 0.6**3) / 9.0 + 0.6**3 / 6.0 + 0.4 / 7.0 + 0.6 / 5.0
    assert_allclose(compliance(link)[4, 4], exact, rtol=1e-12)

    def wedge(x: float) -> Section:
        return Section.from_stiffness(1.0, (2.0 - x) ** 3, shear_stiffness=90 * (2 - x))

    # int (1 - x)^2 / (2 - x)^3 = ln 2 - 5/8, int 1 / 90 (2 - x) = ln 2 / 90
    exact = np.log(2.0) - 0.625 + np.log(2.0) / 90.0
    for n in (2, 5):
        link = finite_element_link("link", sections=wedge, n_elements=n, **options)
        assert_allclose(compliance(link)[4, 4], exact, rtol=1e-9)


def test_a_force_beside_the_shear_centre_twists() -> None:
    """The tip by a force F at the line: that at the centre, and its moment about it."""
    y, z = SLACK.shear_centre
    L, GJ = 0.7, SLACK.torsional_stiffness
    EI, kGA = SLACK.bending_stiffness, SLACK.shear_stiffness
    bent = L**3 / (3 * EI) + L / kGA
    for n in (1, 3):
        link = finite_element_link(
            "link", length=L, sections=SLACK, n_elements=n, n_modes="all"
        )
        found = compliance(link)
        # moment about the centre: r x F, r from the centre to the line
        assert_allclose(found[0, 4:], [z * L / GJ, -y * L / GJ], rtol=1e-12)
        expected = np.diag(bent) + L / GJ * np.outer([z, -y], [z, -y])
        assert_allclose(found[4:, 4:], expected, rtol=1e-12)
    # a force through the centre does not
    rigid = np.eye(6)
    rigid[:3, 3:] = np.cross([0.0, y, z], np.eye(3), axisb=0, axisc=0)
    through = found @ rigid
    assert_allclose(through[0, 4:], 0.0, atol=1e-15)


def test_buckling_with_shear() -> None:
    """Engesser: 1 / P = 1 / P_Euler + 1 / kGA, as the line draws in by its slope."""
    L, EI, kGA = 1.5, 100.0, 80.0
    euler = np.pi**2 * EI / (4.0 * L**2)
    section = Section.from_stiffness(2.0, EI, shear_stiffness=kGA)
    errors = []
    for n in (8, 16):
        link = finite_element_link(
            "column",
            length=L,
            sections=section,
            n_elements=n,
            motions="bending y",
            n_modes="all",
        )
        errors.append(beams.buckling_load(link) * (1 / euler + 1 / kGA) - 1.0)
    assert 0.0 < errors[1] < 2e-3
    assert_allclose(errors[0] / errors[1], 4.0, rtol=0.1)


# frequencies


def huang(b: float, r2: float, s2: float) -> float:
    """Clamped-free, b^2 = rho A L^4 w^2 / EI, r2 = I / A L^2, s2 = EI / kGA L^2."""
    root = np.sqrt((r2 - s2) ** 2 + 4.0 / b**2)
    alpha = np.sqrt(complex(root - (r2 + s2)) / 2.0)
    beta = np.sqrt((root + (r2 + s2)) / 2.0)
    even = (b * b * (r2 - s2) ** 2 + 2.0) * np.cosh(b * alpha) * np.cos(b * beta)
    odd = b * (r2 + s2) / np.sqrt(complex(1.0 - b * b * r2 * s2))
    odd = odd * np.sinh(b * alpha) * np.sin(b * beta)
    return float((2.0 + even - odd).real)


def field(w: float, section: Section) -> Any:
    """Rates of deflection, rotation of the section, moment and shear force along x."""
    EI, kGA = section.bending_stiffness[0], section.shear_stiffness[0]
    m, J = section.mass_per_length, section.rotary_inertia[2]
    return np.array(
        [
            [0.0, 1.0, 0.0, 1.0 / kGA],
            [0.0, 0.0, 1.0 / EI, 0.0],
            [0.0, -J * w * w, 0.0, -1.0],
            [-m * w * w, 0.0, 0.0, 0.0],
        ]
    )


def roots(f: Any, start: float, end: float, count: int, points: int = 400) -> Any:
    x = np.linspace(start, end, points)
    y = [f(at) for at in x]
    found = [
        brentq(f, a, b, xtol=1e-11)
        for (a, b), (c, d) in zip(pairwise(x), pairwise(y), strict=True)
        if c * d < 0.0
    ]
    return np.array(found[:count])


# by slenderness: error of the first two frequencies with 4 and 16 elements
CANTILEVERS = {
    5: ([3.5e-4, 9e-3], [2e-5, 6e-4]),
    10: ([1.2e-4, 4e-3], [6e-6, 2e-4]),
    50: ([4e-5, 1.4e-3], [4e-7, 1.4e-5]),
}


@each("slender", list(CANTILEVERS))
def test_frequencies_of_cantilevers(slender: int) -> None:
    """Square bars of 5, 10 and 50 depths; two oracles, and convergence from above."""
    bar = Section.rectangle(1.0 / slender, 1.0 / slender, SOFT)
    EI, m = float(bar.bending_stiffness[0]), bar.mass_per_length
    r2, s2 = bar.I_z / bar.area, EI / float(bar.shear_stiffness[0])
    b = roots(lambda x: huang(x, r2, s2), 1.0, 25.0, 2)
    exact = b * np.sqrt(EI / m)
    for w in exact:
        below, above = (
            np.linalg.det(expm(field(w * (1.0 + d), bar))[2:, 2:])
            for d in (-1e-9, 1e-9)
        )
        assert below * above < 0.0
    for n, limit in zip((4, 16), CANTILEVERS[slender], strict=True):
        for motion in ("bending y", "bending z"):
            link = finite_element_link(
                "bar",
                length=1.0,
                sections=bar,
                motions=motion,
                n_elements=n,
                n_modes="all",
            )
            error = omega(link)[:2] / exact - 1.0
            assert (error > 0.0).all() and (error < limit).all(), error


def test_bending_couples_with_torsion_beside_the_shear_centre() -> None:
    """The matrix exponential of six states; inertia acts at the line."""
    y, L = 0.1, 1.0
    section = SLACK.replace(shear_centre=(y, 0.0))
    EI, kGA = float(section.bending_stiffness[1]), float(section.shear_stiffness[1])
    GJ, m = section.torsional_stiffness, section.mass_per_length
    polar, J, _ = section.rotary_inertia

    def determinant(w: float) -> float:
        # deflection of the centre, rotation, moment, shear force, twist, torsion
        A = np.zeros((6, 6))
        A[0, [1, 3]] = 1.0, 1.0 / kGA
        A[1, 2], A[4, 5] = 1.0 / EI, 1.0 / GJ
        A[2, [1, 3]] = -J * w * w, -1.0
        A[3, [0, 4]] = np.array([-1.0, y]) * m * w * w
        A[5, [0, 4]] = y * m * w * w, -(polar + m * y * y) * w * w
        free, held = [2, 3, 5], [2, 3, 5]
        return float(np.linalg.det(expm(A * L)[np.ix_(free, held)]))

    exact = roots(determinant, 0.5, 30.0, 4, 100)
    errors = []
    for n in (10, 20):
        link = finite_element_link(
            "link",
            length=L,
            sections=section,
            n_elements=n,
            motions=("bending z", "torsion"),
            n_modes="all",
        )
        errors.append(omega(link)[:4] / exact - 1.0)
    assert (errors[1] > 0.0).all() and errors[1].max() < 8e-3
    assert_allclose(errors[0] / errors[1], 4.0, rtol=0.1)
    # the coupling is not small
    alone = finite_element_link(
        "link",
        length=L,
        sections=section,
        motions="bending z",
        n_elements=16,
        n_modes="all",
    )
    assert omega(alone)[0] > 1.003 * exact[0]


def test_estimate_of_what_bernoulli_neglects() -> None:
    """The docs: half of (beta r)^2 (1 + E / kG), about, and the ends of its table."""
    beta2 = np.array([1.87510, 4.69409, 7.85476]) ** 2
    table = {10: [0.8, 5.3, 12.0], 20: [0.20, 1.4, 3.2], 50: [0.031, 0.22, 0.52]}
    for slender, percent in table.items():
        bar = Section.rectangle(1.0 / slender, 1.0 / slender, SOFT)
        r2, s2 = bar.I_z / bar.area, 2.6 * bar.I_z / float(bar.shear_stiffness[0])
        b = roots(lambda x, r2=r2, s2=s2: huang(x, r2, s2), 1.0, 65.0, 3)
        error = 100.0 * (beta2 / b - 1.0)
        assert_allclose(error, percent, rtol=0.03)
        estimate = 50.0 * beta2 * (r2 + s2)
        assert (np.abs(estimate / error - 1.0) < 0.35).all()


def test_sections_without_shear_are_rigid_in_it() -> None:
    """An infinite area, a stiffness alone and shear=False are one: Rayleigh."""
    bar = Section.rectangle(0.1, 0.1, SOFT)
    options: dict[str, Any] = {"length": 1.0, "n_elements": 3, "n_modes": "all"}
    by_numbers = Section.from_stiffness(
        bar.mass_per_length,
        bar.bending_stiffness,
        torsional_stiffness=bar.torsional_stiffness,
        axial_stiffness=bar.axial_stiffness,
        rotary_inertia=bar.rotary_inertia,
    )
    found = [
        omega(finite_element_link("bar", sections=section, **options, **more))
        for section, more in (
            (bar.replace(shear_areas=np.inf), {}),
            (bar, {"shear": False}),
            (by_numbers, {}),
        )
    ]
    assert_allclose(found[1], found[0], rtol=1e-13)
    assert_allclose(found[2], found[0], rtol=1e-9)
    sheared = omega(finite_element_link("bar", sections=bar, **options))
    assert (sheared[:4] < 0.995 * found[0][:4]).all()
    # rigid in one direction, by area or by part of the line
    one = bar.replace(shear_areas=(np.inf, bar.shear_areas[1]))
    C = compliance(finite_element_link("bar", sections=one, **options))
    assert_allclose(
        [C[4, 4], C[5, 5]],
        1.0 / (3.0 * bar.bending_stiffness) + [0.0, 1.0 / bar.shear_stiffness[1]],
        rtol=1e-11,
    )
    half = [(0.5, bar), (0.5, bar.replace(shear_areas=np.inf))]
    C = compliance(finite_element_link("bar", sections=half, **options))
    expected = 1.0 / (3.0 * bar.bending_stiffness) + 0.5 / bar.shear_stiffness
    assert_allclose([C[4, 4], C[5, 5]], expected, rtol=1e-11)


def test_a_short_thick_tube_of_one_element() -> None:
    """Its rotary inertia is that of the body, whose moments were refused without it."""
    tube = Section.tube(0.1, 0.02, STEEL)
    link = finite_element_link(
        "link", length=0.1, sections=tube, n_elements=1, n_modes="all"
    )
    assert link.integrals is None
    m = 0.1 * tube.mass_per_length
    ring = 0.1 * tube.rotary_inertia
    expected = np.diag(ring) + m * 0.1**2 / 3.0 * np.diag([0.0, 1.0, 1.0])
    assert_allclose(fa.modal_integrals(link).J0, expected, rtol=1e-12)
    arm = fa.Arm([link])
    assert np.linalg.eigvalsh(fa.mass_matrix(arm, np.zeros(arm.nq))).min() > 0.0


def test_links_and_meshes_have_one_element() -> None:
    """`beam_mesh` with the numbers of a section, rigid in shear or not."""
    for tube in (
        Section.tube(0.1, 0.02, STEEL),
        Section.tube(0.1, 0.02, STEEL).replace(shear_areas=(np.inf, 1e-3)),
    ):
        mesh = fa.finite_elements.beam_mesh(
            0.5,
            3,
            mass_per_length=tube.mass_per_length,
            bending_stiffness=tube.bending_stiffness,
            axial_stiffness=tube.axial_stiffness,
            torsional_stiffness=tube.torsional_stiffness,
            section_inertia=tube.rotary_inertia,
            shear_stiffness=tube.shear_stiffness,
        )
        motions = ("bending y", "bending z", "torsion", "stretch")
        link = finite_element_link(
            "link",
            length=0.5,
            sections=tube,
            n_elements=3,
            motions=motions,
            n_modes="all",
        )
        modes = mesh.clamped_modes("0", 8)
        assert_allclose(modes.omega, np.sort(omega(link))[:8], rtol=1e-9)


# geometry to second order, and dynamics


@pytest.mark.parametrize("frame", ["tangent", "chord"])
def test_foreshortening_is_that_of_the_sheared_line(frame: str) -> None:
    """The line exp(theta) (e + gamma), of unit length a metre, to third order."""
    points = np.array([[0, 0, 0], [0.5, 0, 0], [0.5, 0.4, 0], [0.7, 0.4, 0.6]])
    body = finite_element_link(
        "link", points=points, sections=SLACK, n_elements=4, frame=frame, n_modes="all"
    )
    eta = np.random.default_rng(1).standard_normal(body.n_modes)
    ends = [j for j, name in enumerate(body.node_names) if name[0] != "g"]
    x, w = np.polynomial.legendre.leggauss(12)
    left = []
    for size in (1e-3, 5e-4):
        place, exact = body.node_position[0], [body.node_position[0]]
        for a, b in pairwise(ends):
            nodes = np.arange(a, b + 1)
            step = body.node_position[b] - body.node_position[a]
            h = float(np.linalg.norm(step))
            offset = body.node_position[nodes] - body.node_position[a]
            s = np.linalg.norm(offset, axis=1) / h
            # rotations and displacements are of second and third degree
            moved = body.node_translation[nodes] @ eta * size
            turn = np.polynomial.Polynomial
            theta = [
                turn.fit(s, (body.node_rotation[nodes] @ eta * size)[:, i], 2)
                for i in range(3)
            ]
            slope = [turn.fit(s, moved[:, i], 3).deriv() for i in range(3)]
            for point, weight in zip(0.5 * (x + 1.0), 0.5 * w, strict=True):
                spin = np.array([p(point) for p in theta])
                line = np.array([p(point) for p in slope]) / h
                gamma = line - np.cross(spin, step / h)
                along = step / h + gamma
                along = h * along / np.linalg.norm(along)
                place = place + weight * exponential(spin) @ along
            exact.append(place)
        second = 0.5 * size**2 * body.node_foreshortening @ eta @ eta
        found = body.node_position + body.node_translation @ (size * eta) + second
        left.append(np.abs(found[ends] - exact).max())
    assert 1e-10 < left[0] < 1e-5
    assert_allclose(left[0] / left[1], 8.0, rtol=0.05)


def test_loads_of_a_thick_link_at_rest() -> None:
    """Moments of strains and in balance agree where shear bends nothing."""
    tube = Section.tube(0.1, 0.02, STEEL)
    link = finite_element_link(
        "link", length=0.4, sections=tube, n_elements=2, n_modes="all"
    )
    arm = fa.Arm([link.replace(joint=fa.Joint("fixed"))], gravity=(0, 0, 0))
    force = [0.0, 0.0, 0.0, 0.0, 0.0, 1e3]
    rest = fa.equilibrium(arm, arm.neutral, wrench=force)
    still = np.zeros(arm.nv)
    loads = fa.link_loads(arm, rest.q, still, still, wrench=force)["link"]
    expected = -1e3 * (0.4 - loads.profile.at)
    assert_allclose(loads.moment[:, 1], expected, rtol=1e-6, atol=1e-3)
    assert_allclose(loads.strain_moment[:, 1], expected, rtol=1e-6, atol=1e-3)
    assert_allclose(loads.force[:, 2], 1e3, rtol=1e-6)


def test_torsion_about_the_shear_centre() -> None:
    """The stress of torsion by balance is that by strains, beside the line."""
    section = Section(
        1e-3, 1e-6, 2e-6, 1e-8, STEEL, torsion_modulus=1e-6, shear_centre=(-0.03, 0.02)
    )
    link = finite_element_link(
        "link", length=0.4, sections=section, n_elements=2, n_modes="all"
    )
    arm = fa.Arm([link.replace(joint=fa.Joint("fixed"))], gravity=(0, 0, 0))
    force = [0.0, 0.0, 0.0, 0.0, 30.0, 10.0]
    rest = fa.equilibrium(arm, arm.neutral, wrench=force)
    still = np.zeros(arm.nv)
    loads = fa.link_loads(arm, rest.q, still, still, wrench=force)["link"]
    expected = (0.02 * 30.0 + 0.03 * 10.0) / 1e-6
    assert_allclose(loads.shear_stress(by_strain=True), expected, rtol=1e-4)
    assert_allclose(loads.shear_stress(), expected, rtol=1e-4)


def test_energy_of_a_thick_link_is_kept() -> None:
    """An arm of two links with all of it in free motion."""
    options: dict[str, Any] = {"sections": SLACK, "n_elements": 1, "n_modes": "all"}
    load = Payload(0.6, mass=0.3, inertia=(0.01, 0.02, 0.02))
    links = [
        finite_element_link("first", length=0.5, **options),
        finite_element_link(
            "second",
            length=0.6,
            payloads=[load],
            joint=fa.Joint(parent="first", node="tip", axis=(0, 1, 0)),
            **options,
        ),
    ]
    arm = fa.Arm(links)
    rng = np.random.default_rng(2)
    q, qd = 0.05 * rng.standard_normal((2, arm.nq))
    accurate: dict[str, Any] = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12}
    with pytest.warns(fa.AccuracyWarning, match="'second' has no stretch"):  # 900 N
        run = fa.simulate(arm, q, qd, np.linspace(0.0, 0.1, 3), **accurate)
    energy = fa.energy(arm, run.q, run.qd)
    assert_allclose(energy, energy[0], rtol=0, atol=1e-8)


REFUSED: dict[str, Any] = {
    "shear of link 'l' is 1, expected True or False": {"shear": 1},
}


@each("words", list(REFUSED))
def test_sections_of_timoshenko_beams_have_to_fit(words: str) -> None:
    given = {"length": 1.0, "sections": SLACK, **REFUSED[words]}
    model_refused([words], lambda: finite_element_link("l", **given))
