"""Numbers of a cross section, checked, and its stiffness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.checks import as_array, in_range, positive, positive_pair
from .._support.description import Description
from ..errors import ModelError
from ._section_shapes import ShapeShear
from .materials import Material, material_of, poisson_of

Array = NDArray[np.float64]


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
    def axial_stiffness(self) -> float:
        """``E A``, in N."""
        return self._made_of().E * self.area

    @property
    def shear_stiffness(self) -> Array:
        """``k G A`` along y and along z, (2,), in N; ``inf`` is rigid in shear."""
        return np.asarray(self._made_of().G * self.shear_areas)
