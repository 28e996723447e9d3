r"""Numbers of a cross section: by formulas of common shapes, or from its outline.

Torsion constants and shear coefficients of shapes are formulas, those of any outline
are of the package sectionproperties.  A shear coefficient is the part of the area that
resists shear, :math:`A_s / A`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import Array
from .._support.checks import (
    as_array,
    check_angles,
    in_range,
    positive,
    positive_pair,
    short_text,
    whole_number,
)
from .._support.description import Description
from .._support.optional import required
from ..errors import ModelError
from .materials import Material, material_of, poisson_of

_Areas = float | tuple[float, float] | Array
# the corner of a wall of thickness 1 between two lines of length 0 at its inner side,
# by conformal mapping, and by Poisson's equation on grids of 8 to 64 cells a wall:
# excess of the integrals of |grad psi|^2 and psi, harmonic, 0 outside and 1 inside, and
# of 2 phi, laplacian(phi) = -2 and 0 on both sides
_CORNER_FLOW = 1.0 - 2.0 * math.log(2.0) / math.pi
_CORNER_AREA = 0.144834
_CORNER_OPEN = 0.40582
_WHAT = "Section.from_outline"
# Perimeter of a unit area at most: elements as wide as thinner walls fill the memory.
_MAX_PERIMETER = 250.0


def rectangle_torsion(a: float, b: float) -> float:
    """Torsion constant of a rectangle with sides a >= b (Timoshenko, Goodier, 109)."""
    n = np.arange(1.0, 60.0, 2.0)
    # tanh differs from one in the first terms only; the sum of the ones is known
    decay = np.exp(-n * np.pi * a / b)
    lacking = -2.0 * decay / (1.0 + decay)
    zeta = 31.0 / 32.0 * 1.0369277551433699  # sum over odd n of 1 / n^5
    series = zeta + float(np.sum(lacking / n**5))
    return a * b**3 * (1.0 / 3.0 - 64.0 / math.pi**5 * (b / a) * series)


def rectangle_modulus(a: float, b: float) -> float:
    """Torsion modulus of a rectangle with sides a >= b (the same, 109)."""
    n = np.arange(1.0, 60.0, 2.0)
    decay = np.exp(-0.5 * n * np.pi * a / b)  # 1 / cosh = 2 e / (1 + e^2)
    series = float(np.sum(2.0 * decay / (1.0 + decay**2) / n**2))
    return rectangle_torsion(a, b) / (b * (1.0 - 8.0 / math.pi**2 * series))


def box_torsion(y: float, z: float, t: float) -> tuple[float, float]:
    """Torsion constant and modulus of a hollow rectangle with walls t.

    Prandtl's stress function is phi + c psi: phi = 0 on both sides of the wall, and psi
    harmonic, 0 outside and 1 inside.  Both are known along the walls, and at corners by
    the constants above, up to exp(-pi d / t) for a hollow of width d.
    """
    a, b = y - 2.0 * t, z - 2.0 * t
    around = 2.0 * (a + b)
    inside = a * b + 0.5 * around * t + 4.0 * _CORNER_AREA * t * t
    flow = around / t + 4.0 * _CORNER_FLOW
    walls = around * t**3 / 3.0 + 4.0 * _CORNER_OPEN * t**4
    J = walls + 4.0 * inside**2 / flow
    # slope of the stress function at the outer side, far from corners
    steepest = 2.0 * inside / (flow * t) + t
    return J, J / steepest


def i_beam_torsion(y: float, z: float, t: float, s: float) -> float:
    """Torsion constant of an I-section with flanges t and web s, without fillets.

    Strips, corrected at the ends of the flanges and where the web joins them, for webs
    that are not much thicker than the flanges (El Darwish, Johnston 1965).
    """
    if s > 1.6 * t:
        return (2.0 * y * t**3 + (z - t) * s**3) / 3.0
    ratio = s / t
    joint = -0.042 + 0.2204 * ratio - 0.0725 * ratio**2
    across = t + 0.25 * s * ratio  # of the largest circle in the joint
    strips = (2.0 * y * t**3 + (z - 2.0 * t) * s**3) / 3.0
    return strips + 2.0 * joint * across**4 - 0.42 * t**4


def rectangle_shear(nu: float) -> float:
    """Shear coefficient of a rectangle (Cowper 1966)."""
    return 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)


def ellipse_shear(along: float, across: float, nu: float) -> float:
    """Shear coefficient of an ellipse, along an axis (Cowper 1966)."""
    n = (along / across) ** 2
    bottom = (40.0 + 37.0 * nu) * n * n + (16.0 + 10.0 * nu) * n + nu
    return 12.0 * (1.0 + nu) * n * (3.0 * n + 1.0) / bottom


def tube_shear(ratio: float, nu: float) -> float:
    """Shear coefficient of a hollow circle, by inner over outer diameter (Cowper)."""
    m = ratio * ratio
    whole = (1.0 + m) ** 2
    bottom = (7.0 + 6.0 * nu) * whole + (20.0 + 12.0 * nu) * m
    return 6.0 * (1.0 + nu) * whole / bottom


def box_shear(width: float, depth: float, t: float, nu: float) -> float:
    """Shear area of a hollow rectangle along its depth, in m^2.

    Cowper's coefficient of thin walls, as a part of the webs over the whole depth.
    """
    n = (width - t) / (depth - t)
    plate = 10.0 * n * n * ((3.0 + nu) * n + 3.0 * n * n)
    return 2.0 * t * depth * _webs(n, nu, plate)


def i_beam_shear(width: float, depth: float, t: float, s: float, nu: float) -> float:
    """Shear area of an I-section along its web, in m^2; as of a box."""
    h = depth - t
    m, n = 2.0 * width * t / (h * s), width / h
    plate = 30.0 * n * n * (m + m * m) + 5.0 * nu * n * n * (8.0 * m + 9.0 * m * m)
    return s * depth * _webs(m, nu, plate)


def _webs(m: float, nu: float, plate: float) -> float:
    """Shear area over area of the webs, of m times their area in flanges (Cowper)."""
    bottom = 12.0 + m * (72.0 + m * (150.0 + 90.0 * m))
    bottom += nu * (11.0 + m * (66.0 + m * (135.0 + 90.0 * m)))
    top = 10.0 * (1.0 + nu) * (1.0 + 3.0 * m) * (1.0 + 3.0 * m) * (1.0 + m)
    return top / (bottom + plate)


def _ellipse_areas(a: float, b: float, nu: float) -> Array:
    both = np.array([ellipse_shear(a, b, nu), ellipse_shear(b, a, nu)])
    return math.pi * a * b * both


def _tube_areas(d: float, t: float, nu: float) -> float:
    return math.pi * t * (d - t) * tube_shear(1.0 - 2.0 * t / d, nu)


def _rectangle_areas(y: float, z: float, nu: float) -> float:
    return y * z * rectangle_shear(nu)


def _box_areas(y: float, z: float, t: float, nu: float) -> tuple[float, float]:
    return box_shear(z, y, t, nu), box_shear(y, z, t, nu)


def _i_beam_areas(y: float, z: float, t: float, s: float, nu: float) -> _Areas:
    flanges = 2.0 * y * t * rectangle_shear(nu)
    return flanges, i_beam_shear(y, z, t, s, nu)


_AREAS: dict[str, Callable[..., _Areas]] = {
    "ellipse": _ellipse_areas,
    "tube": _tube_areas,
    "rectangle": _rectangle_areas,
    "box": _box_areas,
    "i_beam": _i_beam_areas,
}


@dataclass(frozen=True)
class ShapeShear:
    """Shear areas of a shape, which wait for the Poisson's ratio of its material.

    Attributes
    ----------
    shape : str
        Name of the shape, that of its constructor.
    sizes : tuple of float
        Its sizes, in m, in the order of that constructor; half axes of an ellipse.
    """

    shape: str
    sizes: tuple[float, ...]

    def areas(self, nu: float) -> _Areas:
        """Shear areas along y and z, or one for both, in m^2."""
        return _AREAS[self.shape](*self.sizes, nu)


@dataclass(frozen=True, eq=False)
class SectionNumbers(Description):
    """Fields of a `Section`, which documents them, makes shapes and knows stresses."""

    area: float
    I_y: float
    I_z: float
    torsion_constant: float
    material: Any = None
    fibres: Any = None
    rounded: bool = False
    rotary_inertia: Any = None
    torsion_modulus: float | None = None
    shear_areas: Any = None
    shear_centre: Any = (0.0, 0.0)
    coupling: Any = None

    def __post_init__(self) -> None:
        self._set(material=material_of(self.material))
        known = self.material is not None
        if known and not isinstance(self.material, Material):
            raise ModelError(
                f"material of a section is {type(self.material).__name__}, expected "
                "flexarm.beams.Material, such as flexarm.beams.STEEL"
            )
        # shape
        for name, unit in (
            ("area", "m^2"),
            ("I_y", "m^4"),
            ("I_z", "m^4"),
            ("torsion_constant", "m^4"),
        ):
            self._set(
                **{name: positive(f"{name} of a section", getattr(self, name), unit)}
            )
        if self.torsion_modulus is not None:
            W = positive("torsion_modulus of a section", self.torsion_modulus, "m^3")
            self._set(torsion_modulus=W)
        if self.fibres is not None:
            fibres = as_array("fibres of a section", self.fibres, (2,))
            for value in fibres:
                positive("distance of the outermost fibre of a section", value, "m")
            self._set(fibres=fibres)
        what = "shear_centre of a section"
        centre = in_range(what, as_array(what, self.shear_centre, (2,)), "m")
        self._set(shear_centre=centre)
        if known or not isinstance(self.shear_areas, ShapeShear):
            self._check_shear_areas()
        if known or self.rotary_inertia is not None:
            self._check_rotary_inertia()
        if known and self.coupling is not None:
            self._check_coupling()

    def _check_shear_areas(self) -> None:
        areas = self.area / 1.2 if self.shear_areas is None else self.shear_areas
        if isinstance(areas, ShapeShear):
            areas = areas.areas(poisson_of(self.material))
        areas = positive_pair("shear_areas of a section", areas, "m^2", infinite=True)
        finite = areas[np.isfinite(areas)]
        if (finite > self.area * (1.0 + 1e-9)).any():
            raise ModelError(
                f"shear_areas of a section is {finite.max():g} m^2 of an area of "
                f"{self.area:g} m^2, expected less: the area times a coefficient, "
                "or math.inf, rigid in shear"
            )
        self._set(shear_areas=areas)

    def _check_rotary_inertia(self) -> None:
        if self.rotary_inertia is None:
            turn = np.array([self.I_y + self.I_z, self.I_y, self.I_z])
            self._set(rotary_inertia=self.material.density * turn)
        turn = as_array("rotary_inertia of a section", self.rotary_inertia, (3,))
        if (turn < 0.0).any():
            raise ModelError(
                f"rotary_inertia of a section is {tuple(turn.tolist())} kg m, expected "
                "no negative number"
            )
        self._set(rotary_inertia=turn)

    def _check_coupling(self) -> None:
        given = as_array("coupling of a section", self.coupling, (4, 4))
        self._set(coupling=given)
        if np.diag(given).any():
            raise ModelError(
                f"coupling of a section has the diagonal {np.diag(given).tolist()}, "
                "expected zeros: the stiffness itself is in other fields"
            )
        K = self.stiffness_matrix
        size = np.sqrt(np.diag(K))
        K = K / np.outer(size, size)
        i, j = np.unravel_index(np.abs(K - K.T).argmax(), K.shape)
        if abs(K[i, j] - K[j, i]) > 1e-9:
            raise ModelError(
                f"stiffness matrix of a section has {given[i, j]:g} in row {i + 1}, "
                f"column {j + 1} and {given[j, i]:g} across its diagonal, expected a "
                "symmetric one"
            )
        least = float(np.linalg.eigvalsh(K)[0])
        if not least > 1e-9:
            raise ModelError(
                "stiffness matrix of a section is not positive definite, expected "
                "smaller couplings: over the roots of the stiffnesses that they couple "
                f"they have the least eigenvalue {least:.3g}"
            )

    # properties for beams

    def _made_of(self) -> Material:
        """Material, or raise."""
        if self.material is None:
            raise ModelError(
                f"a section of {self.area:.3g} m^2 lacks material, which its stiffness "
                "and mass need, expected one, such as Section.tube(0.04, 0.002, "
                "'steel'), or that of flexarm.beams.Beam(section, length, material)"
            )
        made: Material = self.material
        return made

    @property
    def mass_per_length(self) -> float:
        """Density times area, in kg/m."""
        return self._made_of().density * self.area

    @property
    def bending_stiffness(self) -> Array:
        """``E I`` against deflection along y and along z, (2,), in N m^2."""
        return self._made_of().E * np.array([self.I_z, self.I_y])

    @property
    def torsional_stiffness(self) -> float:
        """``G J``, in N m^2."""
        material = self._made_of()
        assert material.G is not None
        return material.G * self.torsion_constant

    @property
    def stiffness_matrix(self) -> Array:
        """Stiffness on stretch, twist, curvatures about y and z, (4, 4), SI units."""
        along_y, along_z = self.bending_stiffness
        own = [self.axial_stiffness, self.torsional_stiffness, along_z, along_y]
        return np.diag(own) + (0.0 if self.coupling is None else self.coupling)

    @property
    def axial_stiffness(self) -> float:
        """``E A``, in N."""
        return self._made_of().E * self.area

    @property
    def shear_stiffness(self) -> Array:
        """``k G A`` along y and along z, (2,), in N; ``inf`` is rigid in shear."""
        return np.asarray(self._made_of().G * self.shear_areas)


def meshed(
    outline: object,
    holes: Sequence[ArrayLike],
    angle: float,
    n_elements: int,
    nu: float,
) -> dict[str, Any]:
    """Return arguments of `Section` for an outline, except its material."""
    count = whole_number("n_elements", n_elements, 100, 100_000)
    turn = as_array("angle of the outline of a section", angle, ())
    check_angles("angle of the outline of a section", turn)
    pre = required("sectionproperties.pre", _WHAT, extra="sections")
    analysis = required("sectionproperties.analysis", _WHAT, extra="sections")
    affinity = required("shapely.affinity", _WHAT, extra="sections")
    shape = _polygon(outline, holes)

    # unit area about the origin, as the mesh works to absolute tolerances
    size, centre = float(np.sqrt(shape.area)), shape.centroid
    x, y = -centre.x, -centre.y
    shape = affinity.translate(shape, x, y)
    shape = affinity.rotate(shape, float(turn), origin=(0, 0), use_radians=True)
    shape = affinity.scale(shape, 1.0 / size, 1.0 / size, origin=(0, 0))
    if shape.length > _MAX_PERIMETER:
        raise ModelError(
            f"outline of a section is {shape.length:.3g} times as long as the side of "
            f"a square of its area, expected at most {_MAX_PERIMETER:g} times"
        )
    _check_axes(shape)
    unit = pre.Material("of unit stiffness", 1.0, nu, 1.0, 1.0, "grey")
    geometry = pre.Geometry(shape, unit)
    geometry.create_mesh(mesh_sizes=[1.0 / count])
    section = analysis.Section(geometry)
    try:
        section.calculate_geometric_properties()
        section.calculate_warping_properties()
    except (RuntimeError, ValueError) as problem:
        raise ModelError(
            f"outline of a section has no warping function ({short_text(problem)}), "
            "expected one connected area"
        ) from None

    # moduli are 1, so that stiffnesses are constants of the shape
    (i_y, i_z, _), (s_y, s_z) = section.get_eic(), section.get_eas()
    left, low, right, high = shape.bounds
    return {
        "area": section.get_ea() * size**2,
        "I_y": i_y * size**4,
        "I_z": i_z * size**4,
        "torsion_constant": section.get_ej() * size**4,
        "fibres": size * np.array([max(-left, right), max(-low, high)]),
        "shear_areas": np.array([s_y, s_z]) * size**2,
        "shear_centre": size * np.array(section.get_sc()),
    }


def _polygon(outline: object, holes: Sequence[ArrayLike]) -> Any:
    """One polygon of shapely, checked."""
    what = "outline of a section"
    geometry = required("shapely.geometry", _WHAT, extra="sections")
    ops = required("shapely.ops", _WHAT, extra="sections")
    parts = getattr(outline, "geoms", None)
    if parts is not None and len({getattr(p, "material", None) for p in parts}) > 1:
        raise ModelError(
            f"{what} has parts of several materials, expected one; give the stiffness "
            "of a composite to Section.from_stiffness"
        )
    shape = getattr(outline, "geom", outline)
    if isinstance(shape, geometry.Polygon | geometry.MultiPolygon):
        if len(holes):
            raise ModelError(
                f"{what} is a {type(outline).__name__} with holes=, expected them in it"
            )
        shape = ops.unary_union(shape)
    else:
        corners = in_range(what, as_array(what, outline, (None, 2)), "m")
        inner = [
            in_range(
                f"hole of the {what}",
                as_array(f"hole of the {what}", h, (None, 2)),
                "m",
            )
            for h in holes
        ]
        if min(map(len, [corners, *inner])) < 3:
            raise ModelError(f"{what} or a hole has less than 3 corners")
        shape = geometry.Polygon(corners, inner)
    if not (isinstance(shape, geometry.Polygon) and shape.is_valid and shape.area > 0):
        raise ModelError(
            f"{what} is not one simple area, expected corners in order around it, "
            "without crossings, and holes inside of it that touch nothing"
        )
    return shape


def _check_axes(shape: Any) -> None:
    """Raise if y and z are not the principal axes of a polygon about its centre."""
    yy, zz, yz = np.zeros(3)
    for number, ring in enumerate((shape.exterior, *shape.interiors)):
        y, z = np.array(ring.coords).T
        a, b, c, d = y[:-1], z[:-1], y[1:], z[1:]
        cross = a * d - c * b
        moments = np.array(
            [
                np.sum(cross * (a * a + a * c + c * c)) / 12.0,
                np.sum(cross * (b * b + b * d + d * d)) / 12.0,
                np.sum(cross * (a * d + 2.0 * a * b + 2.0 * c * d + c * b)) / 24.0,
            ]
        )
        # outlines may have any direction
        sign = np.sign(cross.sum()) * (-1.0 if number else 1.0)
        yy, zz, yz = np.array([yy, zz, yz]) + sign * moments
    if abs(yz) <= 1e-6 * (yy + zz):
        return
    angle = -0.5 * np.arctan2(2.0 * yz, yy - zz)
    angle = (angle + np.pi / 4.0) % (np.pi / 2.0) - np.pi / 4.0
    raise ModelError(
        f"principal axes of the outline of a section are turned by {-angle:.9g} rad "
        f"from y and z, expected none; give angle={angle:.9g}, and roll={-angle:.9g} "
        "to the link"
    )
