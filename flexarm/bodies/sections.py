r"""Cross sections of beams, from shape and material.

Axes: x along the beam, y and z the principal axes of the section through its centre.
``I_y`` is the second moment of area about y, :math:`\int z^2 dA`, and resists
deflection along z; ``I_z`` is :math:`\int y^2 dA` and resists deflection along y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.checks import as_array, as_numbers, positive
from .._support.description import Description
from .._support.options import explained_class
from ..errors import ModelError
from .materials import BY_STIFFNESS, Material

Array = NDArray[np.float64]


@explained_class
@dataclass(frozen=True, eq=False)
class Section(Description):
    r"""Cross section of a beam: shape and material.

    `Section.round`, `tube`, `rectangle`, `box`, `ellipse`, `i_beam` or, without a
    shape, `from_stiffness` make one.

    Parameters
    ----------
    area : float
        Area, in m^2.
    I_y, I_z : float
        Second moments of area about y, :math:`\int z^2 dA`, and about z,
        :math:`\int y^2 dA`, in m^4.  Deflection along y meets :math:`E I_z`.
    torsion_constant : float
        :math:`J` of Saint-Venant, in m^4, so that the torsional stiffness is
        :math:`G J`; not the polar moment unless the section is round.
    material : Material
        Elastic moduli and density.
    fibres : (2,) array_like of float, optional
        Distances of the outermost fibres along y and z, in m, for stresses.
    rounded : bool
        The outline is an ellipse, and no fibre is outermost along y and z at once.
    rotary_inertia : (3,) array_like of float, optional
        Inertia per length of the section about x, y and z, in kg m; by default density
        times ``(I_y + I_z, I_y, I_z)``.
    torsion_modulus : float, optional
        Torsion moment for a unit of the largest shear stress, in m^3.

    Raises
    ------
    ModelError
        If a number is not physical.

    See Also
    --------
    finite_element_link : a flexible link made of sections.

    References
    ----------
    .. [1] S. P. Timoshenko, J. N. Goodier, *Theory of Elasticity*, 3rd ed.,
       McGraw-Hill, 1970, chapter 10 (torsion).
    .. [2] W. C. Young, R. G. Budynas, *Roark's Formulas for Stress and Strain*, 7th
       ed., McGraw-Hill, 2002, tables A.1 and 10.1.

    Examples
    --------
    A square bar of 10 mm has the torsion constant 0.1406 a^4:

    >>> from flexarm import beams
    >>> bar = beams.Section.rectangle(0.01, 0.01, beams.STEEL)
    >>> print(round(bar.torsion_constant / 0.01**4, 6))
    0.140577
    >>> print(bar.mass_per_length, bar.bending_stiffness.round(3))
    0.785 [175. 175.]
    """

    area: float
    I_y: float
    I_z: float
    torsion_constant: float
    material: Material
    fibres: Any = None
    rounded: bool = False
    rotary_inertia: Any = None
    torsion_modulus: float | None = None

    def __post_init__(self) -> None:
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

    def normal_stress(
        self, axial: ArrayLike, moment_y: ArrayLike, moment_z: ArrayLike
    ) -> Array:
        """Largest absolute normal stress in the section, in Pa.

        Parameters
        ----------
        axial : (...) array_like of float
            Axial force, in N.
        moment_y, moment_z : (...) array_like of float
            Bending moments about y and z, in N m; they broadcast.

        Returns
        -------
        stress : (...) ndarray
            Stress of the worst fibre, in Pa; ``stress / E`` is its strain.

        Raises
        ------
        ModelError
            If the section has no outermost fibres.

        Notes
        -----
        Stresses of both bending moments add up in a corner, on an ellipse as vectors.

        Examples
        --------
        >>> from flexarm import beams
        >>> bar = beams.Section.rectangle(0.01, 0.02, beams.STEEL)
        >>> float(bar.normal_stress(0.0, 0.0, 10.0)) / 1e6  # 6 M / (b h^2)
        30.0
        """
        if self.fibres is None:
            raise ModelError(
                "the section has no outermost fibres, which stresses need, expected "
                "fibres=(along y, along z) in m"
            )
        axial = as_numbers("axial", axial)
        bend_z = np.abs(as_numbers("moment_z", moment_z)) * self.fibres[0] / self.I_z
        bend_y = np.abs(as_numbers("moment_y", moment_y)) * self.fibres[1] / self.I_y
        bending = np.hypot(bend_y, bend_z) if self.rounded else bend_y + bend_z
        return np.asarray(np.abs(axial) / self.area + bending)

    def shear_stress(self, torsion: ArrayLike) -> Array:
        """Largest absolute shear stress of a torsion moment, in Pa.

        Parameters
        ----------
        torsion : (...) array_like of float
            Torsion moment, in N m.

        Returns
        -------
        stress : (...) ndarray
            Stress at the worst point of the outline, in Pa, without shear forces.

        Raises
        ------
        ModelError
            If the section has no torsion modulus.

        Examples
        --------
        >>> from flexarm import beams
        >>> bar = beams.Section.rectangle(0.01, 0.01, beams.STEEL)
        >>> print((bar.shear_stress(1.0) * 0.01**3).round(4))  # 1 / 0.208
        4.8039
        """
        if self.torsion_modulus is None:
            raise ModelError(
                "the section has no torsion_modulus, which shear stresses need, "
                "expected that number in m^3 or a section of a known shape"
            )
        return np.abs(as_numbers("torsion", torsion)) / self.torsion_modulus

    # shapes

    @classmethod
    def round(cls, diameter: float, material: Material) -> Section:
        """Solid circle.

        Parameters
        ----------
        diameter : float
            Diameter, in m.
        material : Material
            Elastic moduli and density.

        Returns
        -------
        section : Section
            Section.

        Examples
        --------
        >>> from flexarm import beams
        >>> round(beams.Section.round(0.02, beams.STEEL).I_y * 1e9, 4)
        7.854
        """
        d = positive("diameter of a section", diameter, "m")
        return cls.ellipse(d, d, material)

    @classmethod
    def ellipse(cls, width: float, height: float, material: Material) -> Section:
        """Solid ellipse.

        Parameters
        ----------
        width, height : float
            Axes along y and along z, in m.
        material : Material
            Elastic moduli and density.

        Returns
        -------
        section : Section
            Section with the exact torsion constant of Saint-Venant.

        Examples
        --------
        >>> from flexarm import beams
        >>> oval = beams.Section.ellipse(0.02, 0.01, beams.STEEL)
        >>> round(oval.I_z / oval.I_y, 12)
        4.0
        """
        a = 0.5 * positive("width of a section", width, "m")
        b = 0.5 * positive("height of a section", height, "m")
        return cls(
            area=math.pi * a * b,
            I_y=0.25 * math.pi * a * b**3,
            I_z=0.25 * math.pi * a**3 * b,
            torsion_constant=math.pi * (a * b) ** 3 / (a * a + b * b),
            material=material,
            fibres=(a, b),
            rounded=True,
            torsion_modulus=0.5 * math.pi * a * b * min(a, b),
        )

    @classmethod
    def tube(cls, diameter: float, thickness: float, material: Material) -> Section:
        """Hollow circle of any wall thickness.

        Parameters
        ----------
        diameter : float
            Outer diameter, in m.
        thickness : float
            Thickness of the wall, in m, less than half of the diameter.
        material : Material
            Elastic moduli and density.

        Returns
        -------
        section : Section
            Section.

        Examples
        --------
        >>> from flexarm import beams
        >>> tube = beams.Section.tube(0.05, 0.002, beams.ALUMINIUM)
        >>> round(tube.torsion_constant / tube.I_y, 12)
        2.0
        """
        d = positive("diameter of a section", diameter, "m")
        t = _wall(thickness, d)
        # differences of powers without cancellation for thin walls
        mean, ring = d - t, math.pi * t * (d - t)
        I = 0.125 * ring * (mean**2 + t**2)
        return cls(
            area=ring,
            I_y=I,
            I_z=I,
            torsion_constant=2.0 * I,
            material=material,
            fibres=(0.5 * d, 0.5 * d),
            rounded=True,
            torsion_modulus=4.0 * I / d,
        )

    @classmethod
    def rectangle(cls, width: float, height: float, material: Material) -> Section:
        """Solid rectangle.

        Parameters
        ----------
        width, height : float
            Sides along y and along z, in m.
        material : Material
            Elastic moduli and density.

        Returns
        -------
        section : Section
            Section with the torsion constant by the exact series of Saint-Venant.

        Examples
        --------
        >>> from flexarm import beams
        >>> bar = beams.Section.rectangle(0.02, 0.01, beams.STEEL)
        >>> round(bar.torsion_constant / (0.02 * 0.01**3), 4)
        0.2287
        """
        y = positive("width of a section", width, "m")
        z = positive("height of a section", height, "m")
        return cls(
            area=y * z,
            I_y=y * z**3 / 12.0,
            I_z=y**3 * z / 12.0,
            torsion_constant=_rectangle_torsion(max(y, z), min(y, z)),
            material=material,
            fibres=(0.5 * y, 0.5 * z),
            torsion_modulus=_rectangle_modulus(max(y, z), min(y, z)),
        )

    @classmethod
    def box(
        cls, width: float, height: float, thickness: float, material: Material
    ) -> Section:
        r"""Hollow rectangle with walls of one thickness and sharp corners.

        Parameters
        ----------
        width, height : float
            Outer sides along y and along z, in m.
        thickness : float
            Thickness of the walls, in m, less than half of each side.
        material : Material
            Elastic moduli and density.

        Returns
        -------
        section : Section
            Section.  Area and second moments are exact; the torsion constant is that of
            EN 10210-2 (2006), annex B, with the mean line of length s around the area
            :math:`A_m`: Bredt's tube and the walls themselves,

            .. math:: J = \frac{4 A_m^2 t}{s} + \frac{s t^3}{3}.

            It neglects some stiffness of the corners: 2 % of a square box with walls of
            a twentieth of its side, 7 % with walls of a quarter, by Poisson's equation
            on a grid.

        Examples
        --------
        >>> from flexarm import beams
        >>> box = beams.Section.box(0.1, 0.1, 0.005, beams.STEEL)
        >>> round(box.torsion_constant * 1e8, 1)  # cm^4
        430.3
        """
        y = positive("width of a section", width, "m")
        z = positive("height of a section", height, "m")
        t = _wall(thickness, min(y, z))
        around, inside = 2.0 * (y + z - 2.0 * t), (y - t) * (z - t)
        a, b = y - 2.0 * t, z - 2.0 * t
        return cls(
            area=around * t,
            I_y=(y * z**3 - a * b**3) / 12.0,
            I_z=(y**3 * z - a**3 * b) / 12.0,
            torsion_constant=4.0 * inside**2 * t / around + around * t**3 / 3.0,
            material=material,
            fibres=(0.5 * y, 0.5 * z),
            torsion_modulus=2.0 * inside * t,
        )

    @classmethod
    def i_beam(
        cls, width: float, height: float, flange: float, web: float, material: Material
    ) -> Section:
        r"""I-section with its web along z, without fillets.

        Parameters
        ----------
        width, height : float
            Width of the flanges along y and overall height along z, in m.
        flange, web : float
            Thickness of each flange and of the web, in m.
        material : Material
            Elastic moduli and density.

        Returns
        -------
        section : Section
            Section with the torsion constant of thin strips, each a third of length
            times cube of thickness; warping of the flanges is neglected.

        Raises
        ------
        ModelError
            If web or flanges are too thick.

        Examples
        --------
        >>> from flexarm import beams
        >>> beam = beams.Section.i_beam(0.1, 0.2, 0.0085, 0.0056, beams.STEEL)
        >>> round(beam.I_y * 1e8), round(beam.I_z * 1e8)  # cm^4; IPE 200: 1943, 142
        (1846, 142)
        """
        y = positive("width of a section", width, "m")
        z = positive("height of a section", height, "m")
        t = _wall(flange, z)
        s = positive("thickness of the web of a section", web, "m")
        if not s < y:
            raise ModelError(
                f"the web of a section is {s:g} m thick, expected less than its width "
                f"of {y:g} m"
            )
        inner = z - 2.0 * t
        torsion = (2.0 * y * t**3 + (z - t) * s**3) / 3.0
        return cls(
            area=2.0 * y * t + inner * s,
            I_y=(y * z**3 - (y - s) * inner**3) / 12.0,
            I_z=(2.0 * t * y**3 + inner * s**3) / 12.0,
            torsion_constant=torsion,
            material=material,
            fibres=(0.5 * y, 0.5 * z),
            torsion_modulus=torsion / max(t, s),
        )

    @classmethod
    def from_stiffness(
        cls,
        mass_per_length: float,
        bending_stiffness: ArrayLike,
        *,
        torsional_stiffness: float | None = None,
        axial_stiffness: float | None = None,
        rotary_inertia: ArrayLike = (0.0, 0.0, 0.0),
    ) -> Section:
        r"""Section without a shape, from its mass and stiffness per length.

        Parameters
        ----------
        mass_per_length : float
            :math:`\rho A`, in kg/m.
        bending_stiffness : float or (2,) array_like of float
            :math:`EI` against deflection along y and along z, in N m^2.
        torsional_stiffness : float, optional
            :math:`GJ`, in N m^2; by default that of the softer bending.
        axial_stiffness : float, optional
            :math:`EA`, in N; by default 1e6 times the stiffer bending over 1 m^2.
        rotary_inertia : (3,) array_like of float
            Inertia per length about x, y and z, in kg m; torsion needs the first one.

        Returns
        -------
        section : Section
            Section of 1 m^2 of a material with these numbers, without stresses.

        Examples
        --------
        A link of Farid (1997), section 4.5:

        >>> from flexarm import beams
        >>> section = beams.Section.from_stiffness(5.0, 1000.0)
        >>> section.mass_per_length, section.bending_stiffness.tolist()
        (5.0, [1000.0, 1000.0])
        """
        EI = as_numbers("bending_stiffness of a section", bending_stiffness)
        EI = np.full(2, EI) if EI.ndim == 0 else EI
        EI = as_array("bending_stiffness of a section", EI, (2,))
        for value in EI:
            positive("bending_stiffness of a section", value, "N m^2")
        rho = positive("mass_per_length of a section", mass_per_length, "kg/m")
        GJ = min(EI) if torsional_stiffness is None else torsional_stiffness
        GJ = positive("torsional_stiffness of a section", GJ, "N m^2")
        EA = 1e6 * max(EI) if axial_stiffness is None else axial_stiffness
        EA = positive("axial_stiffness of a section", EA, "N")
        turn = as_array("rotary_inertia of a section", rotary_inertia, (3,))
        material = Material(E=EA, density=rho, G=GJ, name=BY_STIFFNESS)
        return cls(1.0, EI[1] / EA, EI[0] / EA, 1.0, material, rotary_inertia=turn)


def _wall(thickness: float, side: float) -> float:
    t = positive("thickness of a section", thickness, "m")
    if not 2.0 * t < side:
        raise ModelError(
            f"the walls of a section are {t:g} m thick, expected less than half of "
            f"{side:g} m; without a hollow it is a solid section"
        )
    return t


def _rectangle_torsion(a: float, b: float) -> float:
    """Torsion constant of a rectangle with sides a >= b (Timoshenko, Goodier, 109)."""
    n = np.arange(1.0, 60.0, 2.0)
    # tanh differs from one in the first terms only; the sum of the ones is known
    decay = np.exp(-n * np.pi * a / b)
    lacking = -2.0 * decay / (1.0 + decay)
    zeta = 31.0 / 32.0 * 1.0369277551433699  # sum over odd n of 1 / n^5
    series = zeta + float(np.sum(lacking / n**5))
    return a * b**3 * (1.0 / 3.0 - 64.0 / math.pi**5 * (b / a) * series)


def _rectangle_modulus(a: float, b: float) -> float:
    """Torsion modulus of a rectangle with sides a >= b (the same, 109)."""
    n = np.arange(1.0, 60.0, 2.0)
    decay = np.exp(-0.5 * n * np.pi * a / b)  # 1 / cosh = 2 e / (1 + e^2)
    series = float(np.sum(2.0 * decay / (1.0 + decay**2) / n**2))
    return _rectangle_torsion(a, b) / (b * (1.0 - 8.0 / math.pi**2 * series))
