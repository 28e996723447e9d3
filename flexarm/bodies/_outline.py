"""Properties of a section from its outline, by the package sectionproperties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.checks import (
    as_array,
    check_angles,
    in_range,
    short_text,
    whole_number,
)
from .._support.optional import required
from ..errors import ModelError

Array = NDArray[np.float64]

_WHAT = "Section.from_outline"
# Perimeter of a unit area at most: elements as wide as thinner walls fill the memory.
_MAX_PERIMETER = 250.0


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
