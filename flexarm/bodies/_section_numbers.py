"""Numbers of a cross section, checked, and its stiffness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.checks import as_array, in_range, positive, positive_pair
from .._support.description import Description
from ..errors import ModelError
from .materials import Material, material_of

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SectionNumbers(Description):
    """Fields of a `Section`, which documents them, makes shapes and knows stresses."""

    area: float
    I_y: float
    I_z: float
    torsion_constant: float
    material: Material
    fibres: Any = None
    rounded: bool = False
    rotary_inertia: Any = None
    torsion_modulus: float | None = None
    shear_areas: Any = None
    shear_centre: Any = (0.0, 0.0)

    def __post_init__(self) -> None:
        self._set(material=material_of(self.material))
        if not isinstance(self.material, Material):
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
        areas = self.area / 1.2 if self.shear_areas is None else self.shear_areas
        areas = positive_pair("shear_areas of a section", areas, "m^2", infinite=True)
        finite = areas[np.isfinite(areas)]
        if (finite > self.area * (1.0 + 1e-9)).any():
            raise ModelError(
                f"shear_areas of a section is {finite.max():g} m^2 of an area of "
                f"{self.area:g} m^2, expected less: the area times a coefficient, "
                "or math.inf, rigid in shear"
            )
        what = "shear_centre of a section"
        self._set(
            shear_areas=areas,
            shear_centre=in_range(what, as_array(what, self.shear_centre, (2,)), "m"),
        )
        # inertia
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

    @property
    def mass_per_length(self) -> float:
        """Density times area, in kg/m."""
        return self.material.density * self.area

    @property
    def bending_stiffness(self) -> Array:
        """``E I`` against deflection along y and along z, (2,), in N m^2."""
        return self.material.E * np.array([self.I_z, self.I_y])

    @property
    def torsional_stiffness(self) -> float:
        """``G J``, in N m^2."""
        assert self.material.G is not None
        return self.material.G * self.torsion_constant

    @property
    def axial_stiffness(self) -> float:
        """``E A``, in N."""
        return self.material.E * self.area

    @property
    def shear_stiffness(self) -> Array:
        """``k G A`` along y and along z, (2,), in N; ``inf`` is rigid in shear."""
        return np.asarray(self.material.G * self.shear_areas)
