"""Cross sections: closed forms, published tables, and Poisson's equation on a grid."""

from __future__ import annotations

import math
import pickle
import sys
from typing import Any

import mpmath
import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from refusals import model_refused
from scipy.sparse import csr_matrix, diags, identity, kron
from scipy.sparse.linalg import spsolve

from flexarm.beams import ALUMINIUM, STEEL, Material, Section
from flexarm.errors import ModelError


def moments(inside: Any, width: float, height: float, n: int = 2000) -> list[float]:
    """Area and second moments about y and z by counting cells."""
    y, z = ((np.arange(n) + 0.5) / n - 0.5 for _ in range(2))
    y, z = width * y[:, None], height * z[None, :]
    cell = np.where(inside(y, z), width * height / n**2, 0.0)
    return [float(np.sum(cell * f)) for f in (1.0, z**2, y**2)]


def prandtl_torsion(a: int, b: int, t: int, cells: int) -> float:
    """Torsion constant of a box a x b with walls t, by Prandtl's stress function.

    laplacian(F) = -2, F = 0 outside; F = c in the hollow, c by the equilibrium of the
    hollow, which is that of one big cell with the same equation.  J = 2 int F dA.
    """
    nx, ny = a * cells, b * cells
    h = 1.0 / cells
    main = [np.full(n - 1, 2.0) for n in (nx, ny)]
    off = [np.full(n - 2, -1.0) for n in (nx, ny)]
    second = [diags([o, m, o], [-1, 0, 1]) for m, o in zip(main, off, strict=True)]
    A = kron(second[0], identity(ny - 1)) + kron(identity(nx - 1), second[1])
    x, y = np.meshgrid(np.arange(1, nx) * h, np.arange(1, ny) * h, indexing="ij")
    # the hollow with its edge is one unknown
    hollow = (x >= t) & (x <= a - t) & (y >= t) & (y <= b - t)
    free = np.flatnonzero(~hollow.ravel())
    count = len(free) + 1
    where = np.full(hollow.size, count - 1)
    where[free] = np.arange(count - 1)
    rows = np.arange(hollow.size)
    P = csr_matrix((np.ones(hollow.size), (rows, where)), (hollow.size, count))
    # the edge of the hollow is on grid lines: its area, not the number of its points
    load = np.full(hollow.size, 2.0 * h * h)
    right = P.T @ load
    right[-1] = 2.0 * ((a - 2 * t) + 0.0) * (b - 2 * t)
    # half cells along the edge of the hollow belong to the material outside of it
    right[-1] += 2.0 * h / 2.0 * 2.0 * ((a - 2 * t) + (b - 2 * t)) + 2.0 * h * h
    F = spsolve((P.T @ A @ P).tocsc(), right)
    return float(2.0 * (P @ F).sum() * h * h)


def rectangle_torsion(a: float, b: float) -> Any:
    """Saint-Venant's series in 30 digits, sides a >= b."""
    with mpmath.workdps(30):
        a, b, pi = mpmath.mpf(a), mpmath.mpf(b), mpmath.pi
        total = mpmath.nsum(
            lambda k: mpmath.tanh((2 * k + 1) * pi * a / (2 * b)) / (2 * k + 1) ** 5,
            [0, mpmath.inf],
        )
        return a * b**3 * (mpmath.mpf(1) / 3 - 64 / pi**5 * b / a * total)


SHAPES = {
    "round": (
        Section.round(0.02, STEEL),
        lambda y, z: y**2 + z**2 < 0.01**2,
        0.02,
        0.02,
    ),
    "ellipse": (
        Section.ellipse(0.04, 0.02, STEEL),
        lambda y, z: (y / 0.02) ** 2 + (z / 0.01) ** 2 < 1.0,
        0.04,
        0.02,
    ),
    "tube": (
        Section.tube(0.05, 0.01, STEEL),
        lambda y, z: (y**2 + z**2 < 0.025**2) & (y**2 + z**2 > 0.015**2),
        0.05,
        0.05,
    ),
    "rectangle": (
        Section.rectangle(0.03, 0.01, STEEL),
        lambda y, z: (np.abs(y) < 0.015) & (np.abs(z) < 0.005),
        0.03,
        0.01,
    ),
    "box": (
        Section.box(0.04, 0.02, 0.004, STEEL),
        lambda y, z: (np.abs(y) > 0.016) | (np.abs(z) > 0.006),
        0.04,
        0.02,
    ),
    "i_beam": (
        Section.i_beam(0.04, 0.08, 0.008, 0.004, STEEL),
        lambda y, z: (np.abs(z) > 0.032) | (np.abs(y) < 0.002),
        0.04,
        0.08,
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_area_and_moments_by_counting(shape: str) -> None:
    section, inside, width, height = SHAPES[shape]
    # edges on the grid of cells are exact, curved ones to a part of a cell
    curved = shape in ("round", "ellipse", "tube")
    assert_allclose(
        [section.area, section.I_y, section.I_z],
        moments(inside, width, height),
        rtol=1e-4 if curved else 2e-6,
    )
    assert_allclose(section.fibres, [width / 2.0, height / 2.0], rtol=1e-15)


def test_material_and_stiffness() -> None:
    """EN 1993-1-1, 3.2.6 and EN 1999-1-1, 3.2.5; G = E / (2 (1 + nu))."""
    assert (STEEL.E, STEEL.G, STEEL.density) == (210e9, 81e9, 7850.0)
    assert (ALUMINIUM.E, ALUMINIUM.G, ALUMINIUM.density) == (70e9, 27e9, 2700.0)
    assert Material(E=2.6, density=1.0).G == 1.0
    assert Material(E=3.0, density=1.0, poisson=0.5).G == 1.0
    bar = Section.rectangle(0.03, 0.01, STEEL)
    assert_allclose(bar.bending_stiffness, [210e9 * 2.25e-8, 210e9 * 2.5e-9])
    assert_allclose(bar.axial_stiffness, 210e9 * 3e-4)
    assert_allclose(bar.torsional_stiffness, 81e9 * bar.torsion_constant)
    assert_allclose(bar.mass_per_length, 2.355)
    assert_allclose(bar.rotary_inertia, 7850.0 * np.array([2.5e-8, 2.5e-9, 2.25e-8]))


@pytest.mark.parametrize("ratio", [1.0, 1.2, 1.5, 2.0, 3.0, 10.0, 1000.0])
def test_torsion_of_rectangles(ratio: float) -> None:
    """The series in 30 digits, and both ways round."""
    wide = Section.rectangle(0.01 * ratio, 0.01, STEEL).torsion_constant
    high = Section.rectangle(0.01, 0.01 * ratio, STEEL).torsion_constant
    assert wide == high
    assert_allclose(wide, float(rectangle_torsion(0.01 * ratio, 0.01)), rtol=1e-14)


def test_torsion_of_rectangles_in_the_table() -> None:
    """Timoshenko and Goodier, section 109: k1 of J = k1 (2a)^3 (2b)."""
    table = {1.0: 0.1406, 1.2: 0.166, 1.5: 0.196, 2.0: 0.229, 3.0: 0.263, 4.0: 0.281}
    for ratio, k1 in {**table, 5.0: 0.291, 10.0: 0.312}.items():
        J = Section.rectangle(ratio, 1.0, STEEL).torsion_constant
        assert_allclose(J / ratio, k1, rtol=0, atol=6e-4)


def test_torsion_on_a_grid() -> None:
    """Prandtl: boxes, in which the flow around the corners is known.

    The grid converges with the power 4/3 of its width, of the inner corners.
    """
    # a hollow of one point is a solid bar, and the error of the grid is h^2
    coarse, fine = (prandtl_torsion(20, 20, 10, cells) for cells in (4, 8))
    exact = float(rectangle_torsion(20, 20))
    assert_allclose((4.0 * fine - coarse) / 3.0, exact, rtol=1e-5)
    for box, tolerance in (
        ((20, 20, 1), 3e-4),
        ((20, 10, 1), 3e-4),
        ((20, 20, 5), 3e-4),
        ((20, 20, 8), 6e-3),
        ((20, 10, 4.5), 6e-3),
    ):
        a, b, t = box
        formula = Section.box(a, b, t, STEEL).torsion_constant
        coarse, fine = (prandtl_torsion(a, b, t, cells) for cells in (4, 8))
        exact = fine + (fine - coarse) / (2.0 ** (4.0 / 3.0) - 1.0)
        assert_allclose(formula, exact, rtol=tolerance)
    # without a hollow to speak of it is a bar
    for a in (2.0, 4.0, 100.0):
        J = Section.box(a, 2.0, 1.0 - 1e-9, STEEL).torsion_constant
        assert_allclose(J, float(rectangle_torsion(a, 2.0)), rtol=0.013)


def test_published_hollow_sections() -> None:
    """EN 10210-2, annex B: 100 x 100 x 5 with round corners has 18.7 cm2, 279, 439 cm4.

    Sharp corners have a little more area, and about as much torsion.
    """
    box = Section.box(0.1, 0.1, 0.005, STEEL)
    assert_allclose([box.area * 1e4, box.I_y * 1e8], [19.0, 286.6], rtol=1e-3)
    assert_allclose(box.torsion_constant * 1e8, 439.0, rtol=3e-3)
    # a thin wall is Bredt's tube
    thin = Section.box(0.2, 0.1, 1e-6, STEEL)
    assert_allclose(
        thin.torsion_constant, 2e-6 * 0.2**2 * 0.1**2 / 0.3, rtol=0, atol=1e-13
    )


def test_torsion_of_round_sections() -> None:
    assert_allclose(
        Section.round(0.02, STEEL).torsion_constant, math.pi * 0.02**4 / 32.0
    )
    tube = Section.tube(0.05, 0.01, STEEL)
    assert_allclose(tube.torsion_constant, math.pi / 32.0 * (0.05**4 - 0.03**4))
    # a tube without a hollow to speak of is a bar, a thin one has no cancellation
    full = Section.tube(0.05, 0.025 * (1.0 - 1e-9), STEEL)
    assert_allclose(full.I_y, Section.round(0.05, STEEL).I_y, rtol=1e-14)
    thin = Section.tube(1.0, 1e-9, STEEL)
    assert_allclose(thin.I_y, math.pi * 1e-9 / 8.0, rtol=1e-8)
    oval = Section.ellipse(0.04, 0.02, STEEL)  # pi a^3 b^3 / (a^2 + b^2)
    assert_allclose(oval.torsion_constant, math.pi * 0.02**3 * 0.01**3 / 5e-4)


# shear: coefficients by Cowper, and by finite elements

BRASS = Material(E=2.6, density=1.0, poisson=0.3)
CORK = Material(E=2.0, density=1.0, poisson=0.0)


def test_shear_coefficients_of_cowper() -> None:
    """His closed forms, and his printed table for a Poisson's ratio of 0.3."""
    nu = 0.3

    def coefficients(section: Section) -> Any:
        return section.shear_areas / section.area

    bar = coefficients(Section.rectangle(0.02, 0.05, BRASS))
    assert_allclose(bar, 10 * (1 + nu) / (12 + 11 * nu), rtol=1e-12)
    assert_allclose(bar, 0.850, rtol=0, atol=5e-4)
    rod = coefficients(Section.round(0.02, BRASS))
    assert_allclose(rod, 6 * (1 + nu) / (7 + 6 * nu), rtol=1e-12)
    assert_allclose(rod, 0.886, rtol=0, atol=5e-4)
    # a thin tube, and a tube that is nearly a bar
    thin = coefficients(Section.tube(0.02, 1e-8, BRASS))
    assert_allclose(thin, 2 * (1 + nu) / (4 + 3 * nu), rtol=1e-5)
    assert_allclose(thin, 0.531, rtol=0, atol=5e-4)
    full = coefficients(Section.tube(0.02, 0.01 * (1 - 1e-9), BRASS))
    assert_allclose(full, rod, rtol=1e-12)
    # a thin square box: m = n = 1
    box = coefficients(Section.box(0.1, 0.1, 1e-8, BRASS))
    square = 10 * (1 + nu) * 16 / (12 + 72 + 240 + nu * 302 + 10 * (6 + nu))
    assert_allclose(box, square, rtol=1e-5)
    # an I-section: m = 2 b t / (h s), n = b / h
    m, n = 2 * 0.1 * 2e-6 / (0.2 * 1e-6), 0.5
    bottom = 12 + 72 * m + 150 * m**2 + 90 * m**3
    bottom += nu * (11 + 66 * m + 135 * m**2 + 90 * m**3)
    bottom += 30 * n**2 * (m + m**2) + 5 * nu * n**2 * (8 * m + 9 * m**2)
    beam = Section.i_beam(0.1, 0.2, 2e-6, 1e-6, BRASS)
    exact = 10 * (1 + nu) * (1 + 3 * m) ** 2 / bottom
    assert_allclose(coefficients(beam)[1], exact, rtol=1e-4)
    # numbers of no isotropic material: without Poisson's ratio
    fibre = Material(E=140.0, density=1.0, G=5.0)
    assert_allclose(coefficients(Section.round(1.0, fibre)), 6.0 / 7.0, rtol=1e-12)


# by sectionproperties 3.10 with fine meshes, Poisson's ratio 0: along y, along z, and
# the tolerance of the formulas
SHEAR_BY_MESH: dict[str, tuple[Section, float, float, float]] = {
    "ellipse": (Section.ellipse(4.0, 2.0, CORK), 0.8864, 0.8077, 1e-3),
    "tube": (Section.tube(1.0, 0.1, CORK), 0.5102, 0.5102, 1e-3),
    "thin box": (Section.box(20.0, 10.0, 0.2, CORK), 0.6150, 0.2229, 0.02),
    "square box": (Section.box(10.0, 10.0, 0.5, CORK), 0.4278, 0.4278, 0.03),
    "box": (Section.box(20.0, 10.0, 1.0, CORK), 0.6358, 0.2240, 0.05),
    "thick box": (Section.box(20.0, 10.0, 3.0, CORK), 0.7180, 0.2596, 0.08),
    "thickest box": (Section.box(10.0, 10.0, 3.0, CORK), 0.6021, 0.6021, 0.02),
    "i": (Section.i_beam(100.0, 200.0, 8.5, 5.6, CORK), 0.5280, 0.3847, 0.03),
    "thick i": (Section.i_beam(100.0, 100.0, 20.0, 15.0, CORK), 0.7098, 0.2598, 0.05),
}


@each("shape", list(SHEAR_BY_MESH))
def test_shear_areas_by_finite_elements(shape: str) -> None:
    section, *mesh, tolerance = SHEAR_BY_MESH[shape]
    assert_allclose(section.shear_areas / section.area, mesh, rtol=tolerance)


def test_torsion_of_i_sections_by_finite_elements() -> None:
    """By sectionproperties 3.10; in mm.  Thin strips were 5 to 20 % too stiff."""
    for sizes, J, tolerance in (
        ((100, 200, 8.5, 5.6), 50734.4, 4e-3),
        ((100, 100, 20, 15), 583208.0, 0.01),
    ):
        found = Section.i_beam(*sizes, STEEL).torsion_constant
        assert_allclose(found, J, rtol=tolerance)
    # webs thicker than flanges: continued by strips
    thick = [Section.i_beam(100, 200, 10, s, STEEL) for s in (15.99, 16.01)]
    ratio = thick[1].torsion_constant / thick[0].torsion_constant
    assert_allclose(ratio, 1.0, rtol=4e-3)


def test_shear_areas_given() -> None:
    bar = Section(2.0, 1.0, 1.0, 1.0, STEEL)
    assert_allclose(bar.shear_areas, 5.0 / 3.0)
    assert bar.shear_centre.tolist() == [0.0, 0.0]
    own = bar.replace(shear_areas=(1.0, math.inf), shear_centre=(0.1, -0.2))
    assert own.shear_stiffness.tolist() == [81e9, math.inf]
    assert pickle.loads(pickle.dumps(own)) == own
    assert bar.replace(shear_areas=0.5).shear_areas.tolist() == [0.5, 0.5]
    by_numbers = Section.from_stiffness(1.0, 2.0, shear_stiffness=(3.0, 5.0))
    assert_allclose(by_numbers.shear_stiffness, [3.0, 5.0], rtol=1e-15)
    assert np.isposinf(Section.from_stiffness(1.0, 2.0).shear_stiffness).all()


# any shape, by the package sectionproperties


def corners(*sizes: float) -> Any:
    """Corners of a rectangle of two sides, somewhere."""
    return np.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * sizes + [0.3, -0.1]


def test_outlines_by_finite_elements() -> None:
    pytest.importorskip("sectionproperties")
    bar, own = Section.rectangle(0.02, 0.01, CORK), corners(0.02, 0.01)
    box, wall = Section.box(0.1, 0.05, 0.003, CORK), corners(0.1, 0.05)
    hollow = corners(0.094, 0.044) + 0.003
    for shape, outline, holes, few in (
        (bar, own, [], 250),
        (box, wall, [hollow], 500),
    ):
        found = Section.from_outline(outline, CORK, holes=holes, n_elements=few)
        for name in ("area", "I_y", "I_z", "fibres", "rotary_inertia"):
            assert_allclose(getattr(found, name), getattr(shape, name), rtol=1e-9)
        assert_allclose(found.torsion_constant, shape.torsion_constant, rtol=1e-3)
        assert_allclose(found.shear_areas, shape.shear_areas, rtol=0.05)
        assert_allclose(found.shear_centre, 0.0, atol=1e-5)
    # a channel: 3 b^2 / (6 b + h) behind the middle of its web, thin walls
    b, h, t = 0.0395, 0.059, 0.001
    y, z = [0, 0.04, 0.04, t, t, 0.04, 0.04, 0], [0, 0, t, t, 0.059, 0.059, 0.06, 0.06]
    channel = Section.from_outline(np.transpose([y, z]), STEEL, n_elements=300)
    centre = b * b / (2.0 * b + h)  # from the middle of the web
    assert_allclose(
        channel.shear_centre,
        [-(centre + 3.0 * b * b / (6.0 * b + h)), 0.0],
        rtol=5e-3,
        atol=1e-6,
    )


def test_outlines_are_turned_to_their_principal_axes() -> None:
    """The angle of the message, and polygons of shapely."""
    pytest.importorskip("sectionproperties")
    from shapely.geometry import Polygon

    angle = [(0, 0), (0.05, 0), (0.05, 0.005), (0.005, 0.005), (0.005, 0.08), (0, 0.08)]
    error = model_refused(
        ["principal axes of the outline"], lambda: Section.from_outline(angle, STEEL)
    )
    turn = float(str(error).split("angle=")[1].split(",")[0])
    assert f"roll={-turn:.9g}" in str(error)
    for shape in (angle, Polygon(angle)):
        found = Section.from_outline(shape, STEEL, angle=turn, n_elements=200)
        # the corner of both legs is near the shear centre
        y, z = np.array([0.0025, 0.0025]) - Polygon(angle).centroid.coords[0]
        c, s = math.cos(turn), math.sin(turn)
        assert_allclose(found.shear_centre, [c * y - s * z, s * y + c * z], atol=6e-4)


def test_outlines_need_a_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sectionproperties", None)
    monkeypatch.setitem(sys.modules, "sectionproperties.pre", None)
    with pytest.raises(ImportError, match=r'pip install "flexarm\[sections\]"'):
        Section.from_outline(corners(1.0, 1.0), STEEL)


def test_refused_outlines() -> None:
    pytest.importorskip("sectionproperties")
    from sectionproperties.pre.library import rectangular_section

    square = corners(1.0, 1.0)
    two = rectangular_section(d=1, b=1).align_to(rectangular_section(d=1, b=1), "top")
    apart = two.shift_section(0, 1) + rectangular_section(d=1, b=1)
    for words, call in (
        ("less than 3 corners", lambda: Section.from_outline(square[:2], STEEL)),
        (
            "outline of a section is 6.32e+03 times as long",
            lambda: Section.from_outline(corners(1.0, 1e-7), STEEL),
        ),
        (
            "not one simple area",
            lambda: Section.from_outline(square[[0, 2, 1, 3]], STEEL),
        ),
        ("not one simple area", lambda: Section.from_outline(apart, STEEL)),
        ("has shape (4,), expected", lambda: Section.from_outline(square[:, 0], STEEL)),
        ("n_elements is 7", lambda: Section.from_outline(square, STEEL, n_elements=7)),
        (
            "not one simple area",
            lambda: Section.from_outline(square, STEEL, holes=[square + 0.5]),
        ),
    ):
        model_refused([words], call)


def test_stress() -> None:
    """Corners add up, circles take the root of squares; Navier's formula."""
    bar = Section.rectangle(0.02, 0.04, STEEL)
    assert_allclose(
        bar.normal_stress(-8.0, [3.0, 0.0], [0.0, -2.0]),
        [8.0 / 8e-4 + 6.0 * 3.0 / (0.02 * 0.04**2), 1e4 + 12.0 / (0.04 * 0.02**2)],
    )
    rod = Section.round(0.02, STEEL)
    assert_allclose(rod.normal_stress(0.0, 3.0, 4.0), 32.0 * 5.0 / (math.pi * 0.02**3))


def test_shear_stress_of_torsion() -> None:
    """Timoshenko and Goodier, section 109: tau = T / (k2 (2a) (2b)^2); closed forms."""
    table = {1.0: 0.208, 1.2: 0.219, 1.5: 0.231, 2.0: 0.246, 3.0: 0.267, 4.0: 0.282}
    for ratio, k2 in {**table, 10.0: 0.312, 1000.0: 1.0 / 3.0}.items():
        bar = Section.rectangle(1.0, ratio, STEEL)
        assert_allclose(bar.shear_stress(-2.0), 2.0 / (k2 * ratio), rtol=3e-3)
    rod = Section.round(0.02, STEEL)
    assert_allclose(rod.shear_stress(1.0), 16.0 / (math.pi * 0.02**3))
    tube = Section.tube(0.05, 0.01, STEEL)
    J = math.pi / 32.0 * (0.05**4 - 0.03**4)
    assert_allclose(tube.shear_stress([1.0, 0.0]), [0.025 / J, 0.0])
    oval = Section.ellipse(0.02, 0.04, STEEL)
    assert_allclose(oval.shear_stress(1.0), 2.0 / (math.pi * 0.02 * 0.01**2))
    thin = Section.box(0.2, 0.1, 1e-6, STEEL)  # Bredt's tube
    assert_allclose(thin.shear_stress(1.0), 1.0 / (2.0 * 0.02 * 1e-6), rtol=1e-4)
    strips = Section.i_beam(0.04, 0.08, 0.008, 0.004, STEEL)
    assert_allclose(strips.shear_stress(1.0), 0.008 / strips.torsion_constant)
    with pytest.raises(ModelError, match="no torsion_modulus"):
        Section.from_stiffness(1.0, 1.0).shear_stress(1.0)


def test_sections_by_stiffness() -> None:
    section = Section.from_stiffness(
        2.0,
        (3.0, 5.0),
        torsional_stiffness=7.0,
        axial_stiffness=11.0,
        rotary_inertia=(0.3, 0.1, 0.2),
    )
    assert section.mass_per_length == 2.0
    assert_allclose(section.bending_stiffness, [3.0, 5.0], rtol=1e-15)
    assert_allclose(section.torsional_stiffness, 7.0, rtol=1e-15)
    assert_allclose(section.axial_stiffness, 11.0, rtol=1e-15)
    assert section.rotary_inertia.tolist() == [0.3, 0.1, 0.2]
    again = pickle.loads(pickle.dumps(section))
    assert again == section and hash(again) == hash(section)
    assert section.replace(area=2.0).mass_per_length == 4.0


REFUSED = {
    "diameter of a section is -1 m, expected more than zero": lambda: Section.round(
        -1.0, STEEL
    ),
    "walls of a section are 0.5 m thick, expected less than half of 1 m": lambda: (
        Section.tube(1.0, 0.5, STEEL)
    ),
    "material of a section is int, expected flexarm.beams.Material": lambda: (
        Section.round(1.0, 1)
    ),
    "material is 'stone', expected 'steel', 'aluminium' or": lambda: Section.round(
        1.0, "stone"
    ),
    "has both G and poisson": lambda: Material(E=1.0, density=1.0, G=1.0, poisson=0.2),
    "poisson of material is 0.6": lambda: Material(E=1.0, density=1.0, poisson=0.6),
    "web of a section is 0.2 m thick": lambda: Section.i_beam(
        0.1, 0.3, 0.01, 0.2, STEEL
    ),
    "expected no negative number": lambda: Section(
        1.0, 1.0, 1.0, 1.0, STEEL, rotary_inertia=(1.0, -1.0, 1.0)
    ),
    "shear_areas of a section is -1 m^2": lambda: Section(
        1.0, 1.0, 1.0, 1.0, STEEL, shear_areas=-1.0
    ),
    "0.85 m^2 of an area of 0.0001 m^2, expected less": lambda: Section(
        1e-4, 1.0, 1.0, 1.0, STEEL, shear_areas=(math.inf, 0.85)
    ),
    "shear_areas of a section is nan": lambda: Section(
        1.0, 1.0, 1.0, 1.0, STEEL, shear_areas=(1.0, math.nan)
    ),
    "shear_centre of a section has shape (3,)": lambda: Section(
        1.0, 1.0, 1.0, 1.0, STEEL, shear_centre=(1.0, 0.0, 0.0)
    ),
    "shear_stiffness of a section is 0 N": lambda: Section.from_stiffness(
        1.0, 1.0, shear_stiffness=0.0
    ),
    "I_y of a section is 0 m": lambda: Section(1.0, 0.0, 1.0, 1.0, STEEL),
    "no outermost fibres": lambda: Section.from_stiffness(1.0, 1.0).normal_stress(
        1.0, 1.0, 1.0
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_sections_that_cannot_be_made_say_why(message: str) -> None:
    model_refused([message], REFUSED[message])
