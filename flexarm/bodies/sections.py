r"""Cross sections of beams, from shape and material.

Axes: x along the beam, y and z the principal axes of the section through its centre.
``I_y`` is the second moment of area about y, :math:`\int z^2 dA`, and resists
deflection along z; ``I_z`` is :math:`\int y^2 dA` and resists deflection along y.
Shear forces meet the shear areas, parts of the area that resist them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import common_batch
from .._calls.declared import Floats, Vector
from .._calls.doors import checked_class
from .._support.arrays import Array
from .._support.checks import as_array, as_numbers, positive, positive_pair
from ..errors import ModelError
from ._section_numbers import (
    SectionNumbers,
    ShapeShear,
    box_torsion,
    i_beam_torsion,
    meshed,
    rectangle_modulus,
    rectangle_torsion,
)
from .materials import BY_STIFFNESS, Material, material_of, poisson_of

# EA over EI in 1/m^2 of a section that does not stretch as far as is known.
RIGID_RATIO = 1e6


@checked_class
@dataclass(frozen=True, eq=False)
class Section(SectionNumbers):
    r"""Cross section of a beam: shape and material.

    `Section.round`, `tube`, `rectangle`, `box`, `ellipse`, `i_beam`, for any other
    shape `from_outline`, or, without a shape, `from_stiffness` or `from_matrix` make
    one.

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
    material : Material or str, optional
        Elastic moduli and density, or ``"steel"`` or ``"aluminium"``.  A `Beam` gives
        its material to a section without one; what needs it is refused until then.
    fibres : (2,) array_like of float, optional
        Distances of the outermost fibres along y and z, in m, for stresses.
    rounded : bool
        The outline is an ellipse, and no fibre is outermost along y and z at once.
    rotary_inertia : (3,) array_like of float, optional
        Inertia per length of the section about x, y and z, in kg m; by default density
        times ``(I_y + I_z, I_y, I_z)``.
    torsion_modulus : float, optional
        Torsion moment for a unit of the largest shear stress, in m^3.
    shear_areas : float or (2,) array_like of float, optional
        Areas that resist shear along y and along z, :math:`k A`, in m^2, so that the
        shear stiffness is :math:`k G A`; ``math.inf`` is rigid in shear.  By default
        5/6 of the area, which is right for rectangles and too large for hollow ones.
    shear_centre : (2,) array_like of float
        Place of the shear centre along y and z, from the centre, in m.  Forces through
        it do not twist the beam.
    coupling : (4, 4) array_like of float, optional
        Entries beside the diagonal of the stiffness on stretch, twist and curvatures
        about y and z, in N m (stretch) and N m^2; see `from_matrix`.

    Raises
    ------
    ModelError
        If a number is not physical.

    See Also
    --------
    finite_element_link : a flexible link made of sections.

    Notes
    -----
    The named shapes have the shear coefficients k of Cowper [3]_, with the Poisson's
    ratio of E and G of the material, or zero if an isotropic material cannot have
    these.  Warping of sections by torsion is free everywhere: clamped ends of open thin
    sections (I, channels, angles) are stiffer in torsion.

    References
    ----------
    .. [1] S. P. Timoshenko, J. N. Goodier, *Theory of Elasticity*, 3rd ed.,
       McGraw-Hill, 1970, chapter 10 (torsion).
    .. [2] W. C. Young, R. G. Budynas, *Roark's Formulas for Stress and Strain*, 7th
       ed., McGraw-Hill, 2002, tables A.1 and 10.1.
    .. [3] G. R. Cowper, "The shear coefficient in Timoshenko's beam theory", J. Applied
       Mechanics 33(2), 1966, 335-340.

    Examples
    --------
    A square bar of 10 mm has the torsion constant 0.1406 a^4:

    >>> from flexarm import beams
    >>> bar = beams.Section.rectangle(0.01, 0.01, beams.STEEL)
    >>> print(round(bar.torsion_constant / 0.01**4, 6))
    0.140577
    >>> print(bar.mass_per_length, bar.bending_stiffness.round(3))
    0.785 [175. 175.]
    >>> print((bar.shear_areas / bar.area).round(3))  # 10 (1 + nu) / (12 + 11 nu)
    [0.85 0.85]
    """

    def normal_stress(
        self,
        axial: Annotated[ArrayLike, Floats("(...)")],
        moment_y: Annotated[ArrayLike, Floats("(...)")],
        moment_z: Annotated[ArrayLike, Floats("(...)")],
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
        moment_y = as_numbers("moment_y", moment_y)
        moment_z = as_numbers("moment_z", moment_z)
        sizes = {"axial": axial.shape, "moment_y": moment_y.shape}
        common_batch(sizes | {"moment_z": moment_z.shape})
        bend_z = np.abs(moment_z) * self.fibres[0] / self.I_z
        bend_y = np.abs(moment_y) * self.fibres[1] / self.I_y
        bending = np.hypot(bend_y, bend_z) if self.rounded else bend_y + bend_z
        return np.asarray(np.abs(axial) / self.area + bending)

    def shear_stress(self, torsion: Annotated[ArrayLike, Floats("(...)")]) -> Array:
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
    def round(cls, diameter: float, material: Material | str | None = None) -> Section:
        """Solid circle.

        Parameters
        ----------
        diameter : float
            Diameter, in m.
        material : Material or str, optional
            Elastic moduli and density; they may follow.

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
    def ellipse(
        cls, width: float, height: float, material: Material | str | None = None
    ) -> Section:
        """Solid ellipse.

        Parameters
        ----------
        width, height : float
            Axes along y and along z, in m.
        material : Material or str, optional
            Elastic moduli and density; they may follow.

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
            shear_areas=ShapeShear("ellipse", (a, b)),
        )

    @classmethod
    def tube(
        cls, diameter: float, thickness: float, material: Material | str | None = None
    ) -> Section:
        """Hollow circle of any wall thickness.

        Parameters
        ----------
        diameter : float
            Outer diameter, in m.
        thickness : float
            Thickness of the wall, in m, less than half of the diameter.
        material : Material or str, optional
            Elastic moduli and density; they may follow.

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
        t = _wall("thickness", thickness, d)
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
            shear_areas=ShapeShear("tube", (d, t)),
        )

    @classmethod
    def rectangle(
        cls, width: float, height: float, material: Material | str | None = None
    ) -> Section:
        """Solid rectangle.

        Parameters
        ----------
        width, height : float
            Sides along y and along z, in m.
        material : Material or str, optional
            Elastic moduli and density; they may follow.

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
            torsion_constant=rectangle_torsion(max(y, z), min(y, z)),
            material=material,
            fibres=(0.5 * y, 0.5 * z),
            torsion_modulus=rectangle_modulus(max(y, z), min(y, z)),
            shear_areas=ShapeShear("rectangle", (y, z)),
        )

    @classmethod
    def box(
        cls,
        width: float,
        height: float,
        thickness: float,
        material: Material | str | None = None,
    ) -> Section:
        r"""Hollow rectangle with walls of one thickness and sharp corners.

        Parameters
        ----------
        width, height : float
            Outer sides along y and along z, in m.
        thickness : float
            Thickness of the walls, in m, less than half of each side.
        material : Material or str, optional
            Elastic moduli and density; they may follow.

        Returns
        -------
        section : Section
            Section.  Area and second moments are exact.  The torsion constant is that
            of Prandtl's stress function along the walls and around the corners, within
            0.03 % with walls up to a quarter of the shorter side, 1 % with any.  The
            torsion modulus is without the peak of stress in the inner corners.  The
            shear areas are those of thin walls by Cowper over the whole depth of the
            webs, within 5 % with walls up to a tenth of the shorter side, 8 % with any.

        Examples
        --------
        >>> from flexarm import beams
        >>> box = beams.Section.box(0.1, 0.1, 0.005, beams.STEEL)
        >>> round(box.torsion_constant * 1e8, 1)  # cm^4
        439.5
        """
        y = positive("width of a section", width, "m")
        z = positive("height of a section", height, "m")
        t = _wall("thickness", thickness, min(y, z))
        a, b = y - 2.0 * t, z - 2.0 * t
        torsion, modulus = box_torsion(y, z, t)
        return cls(
            area=2.0 * (y + z - 2.0 * t) * t,
            I_y=(y * z**3 - a * b**3) / 12.0,
            I_z=(y**3 * z - a**3 * b) / 12.0,
            torsion_constant=torsion,
            material=material,
            fibres=(0.5 * y, 0.5 * z),
            torsion_modulus=modulus,
            shear_areas=ShapeShear("box", (y, z, t)),
        )

    @classmethod
    def i_beam(
        cls,
        width: float,
        height: float,
        flange: float,
        web: float,
        material: Material | str | None = None,
    ) -> Section:
        r"""I-section with its web along z, without fillets.

        Parameters
        ----------
        width, height : float
            Width of the flanges along y and overall height along z, in m.
        flange, web : float
            Thickness of each flange and of the web, in m.
        material : Material or str, optional
            Elastic moduli and density; they may follow.

        Returns
        -------
        section : Section
            Section with the torsion constant of strips and their joints [1]_; warping
            of the flanges is neglected.  The shear area along the web is that of thin
            walls by Cowper over the whole depth, within 5 %; along y it is that of the
            flanges as rectangles.

        Raises
        ------
        ModelError
            If web or flanges are too thick.

        References
        ----------
        .. [1] I. A. El Darwish, B. G. Johnston, "Torsion of structural shapes", J.
           Structural Division ASCE 91(1), 1965, 203-227.

        Examples
        --------
        >>> from flexarm import beams
        >>> beam = beams.Section.i_beam(0.1, 0.2, 0.0085, 0.0056, beams.STEEL)
        >>> round(beam.I_y * 1e8), round(beam.I_z * 1e8)  # cm^4; IPE 200: 1943, 142
        (1846, 142)
        """
        y = positive("width of a section", width, "m")
        z = positive("height of a section", height, "m")
        t = _wall("flange", flange, z)
        s = positive("thickness of the web of a section", web, "m")
        if not s < y:
            raise ModelError(
                f"the web of a section is {s:g} m thick, expected less than its width "
                f"of {y:g} m"
            )
        inner = z - 2.0 * t
        torsion = i_beam_torsion(y, z, t, s)
        return cls(
            area=2.0 * y * t + inner * s,
            I_y=(y * z**3 - (y - s) * inner**3) / 12.0,
            I_z=(2.0 * t * y**3 + inner * s**3) / 12.0,
            torsion_constant=torsion,
            material=material,
            fibres=(0.5 * y, 0.5 * z),
            torsion_modulus=torsion / max(t, s),
            shear_areas=ShapeShear("i_beam", (y, z, t, s)),
        )

    @classmethod
    def from_outline(
        cls,
        outline: object,
        material: Material | str,
        *,
        holes: Sequence[ArrayLike] = (),
        angle: float = 0.0,
        n_elements: int = 1000,
    ) -> Section:
        """Section of any shape, by a mesh of the package sectionproperties.

        Parameters
        ----------
        outline : (k, 2) array_like of float, Polygon or Geometry
            Corners along y and z, in m, in order around the shape; or a polygon of
            shapely, or a geometry of sectionproperties of one material, in m.
        material : Material or str
            Elastic moduli and density.
        holes : sequence of (k, 2) array_like of float
            Outlines of hollows, in m, for an outline by its corners.
        angle : float
            Angle by which the outline is turned about x first, in rad, to have y and z
            as its principal axes; the `roll` of the link is its opposite.
        n_elements : int
            Approximate number of triangles, 100 to 100000.

        Returns
        -------
        section : Section
            Section with torsion constant, shear areas and shear centre by finite
            elements (free warping, Pilkey's shear coefficients [1]_), about its centre,
            wherever the outline is; without a torsion modulus, since the stress in
            sharp inner corners is infinite.

        Raises
        ------
        ModelError
            If the outline is no area, or if y and z are not its principal axes.
        ImportError
            If sectionproperties is missing: ``pip install "flexarm[sections]"``.

        References
        ----------
        .. [1] W. D. Pilkey, *Analysis and Design of Elastic Beams*, Wiley, 2002,
           chapters 5 and 6; R. van Leeuwen, *sectionproperties*, J. Open Source
           Software 9(96), 2024, 6105.

        Examples
        --------
        A channel, open towards +y, twists about a centre behind its web:

        >>> from flexarm import beams
        >>> channel = beams.Section.from_outline(
        ...     [(0, 0), (40, 0), (40, 4), (4, 4), (4, 56), (40, 56), (40, 60), (0, 60)]
        ...     * np.array(1e-3), beams.STEEL
        ... )  # doctest: +SKIP
        >>> print((1e3 * channel.shear_centre).round(1))  # doctest: +SKIP
        [-25.9   0. ]
        """
        found = meshed(outline, holes, angle, n_elements, poisson_of(material))
        return cls(material=material_of(material), **found)

    @classmethod
    def from_stiffness(
        cls,
        mass_per_length: float,
        bending_stiffness: Annotated[ArrayLike, Floats("()", "(2,)")],
        *,
        torsional_stiffness: float | None = None,
        axial_stiffness: float | None = None,
        shear_stiffness: Annotated[ArrayLike, Floats("()", "(2,)")] = math.inf,
        rotary_inertia: Vector = (0.0, 0.0, 0.0),
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
        shear_stiffness : float or (2,) array_like of float
            :math:`kGA` along y and along z, in N; rigid in shear (Euler-Bernoulli) by
            default.
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
        EI = positive_pair("bending_stiffness of a section", bending_stiffness, "N m^2")
        kGA = positive_pair(
            "shear_stiffness of a section", shear_stiffness, "N", infinite=True
        )
        rho = positive("mass_per_length of a section", mass_per_length, "kg/m")
        GJ = min(EI) if torsional_stiffness is None else torsional_stiffness
        GJ = positive("torsional_stiffness of a section", GJ, "N m^2")
        EA = RIGID_RATIO * max(EI) if axial_stiffness is None else axial_stiffness
        EA = positive("axial_stiffness of a section", EA, "N")
        turn = as_array("rotary_inertia of a section", rotary_inertia, (3,))
        # no shear area is larger than the area
        G = max([GJ, *kGA[np.isfinite(kGA)].tolist()])
        material = Material(E=EA, density=rho, G=G, name=BY_STIFFNESS)
        return cls(
            1.0,
            EI[1] / EA,
            EI[0] / EA,
            GJ / G,
            material,
            rotary_inertia=turn,
            shear_areas=kGA / G,
        )

    @classmethod
    def from_matrix(
        cls,
        mass_per_length: float,
        stiffness: Annotated[ArrayLike, Floats("(4, 4)")],
        *,
        rotary_inertia: Vector = (0.0, 0.0, 0.0),
    ) -> Section:
        r"""Section without a shape, whose deformations are coupled.

        Parameters
        ----------
        mass_per_length : float
            :math:`\rho A`, in kg/m.
        stiffness : (4, 4) array_like of float
            Axial force, torque and bending moments about y and z per stretch, rate of
            twist and curvatures about y and z: symmetric, positive definite, in N, N m
            and N m^2.
        rotary_inertia : (3,) array_like of float
            Inertia per length about x, y and z, in kg m.

        Returns
        -------
        section : Section
            Section of 1 m^2 of a material with these numbers, rigid in shear.

        Notes
        -----
        Deformations that a link leaves out, such as stretch, are free of force: they
        follow the others by the couplings, and soften them.  Then a force along the
        line neither bends nor twists it; where stretch is coupled and the link is
        pulled, `motions` needs ``"stretch"`` (with ``segments=``).  The elastic energy
        has the couplings to third order in the coordinates of a piece, and a link that
        bends far needs pieces: the error falls with the square of their number.  So it
        does for small deflections, unless ``n_modes={"torsion": 2}`` gives each piece a
        twist of its middle, since bending changes the torque along a coupled piece.
        Warnings and estimates of accuracy leave such links out.

        References
        ----------
        .. [1] D. H. Hodges, *Nonlinear Composite Beam Theory*, AIAA, 2006, chapter 4
           (4 x 4 matrices of classical beams).

        Examples
        --------
        A lamina of two directions, which twists as it bends:

        >>> from flexarm import beams
        >>> K = [[1e6, 0, 0, 0], [0, 2.0, 0.3, 0], [0, 0.3, 4.0, 0], [0, 0, 0, 900.0]]
        >>> section = beams.Section.from_matrix(0.5, K)
        >>> section.bending_stiffness.tolist(), section.torsional_stiffness
        ([900.0, 4.0], 2.0)
        """
        K = as_array("stiffness of a section", stiffness, (4, 4))
        EA, GJ, about_y, about_z = np.diag(K).tolist()
        made: Section = cls.from_stiffness(
            mass_per_length,
            (about_z, about_y),
            torsional_stiffness=GJ,
            axial_stiffness=EA,
            rotary_inertia=rotary_inertia,
        )
        beside = K - np.diag(np.diag(K))
        coupled: Section = made.replace(coupling=beside) if beside.any() else made
        return coupled


def _wall(name: str, thickness: float, side: float) -> float:
    t = positive(f"{name} of a section", thickness, "m")
    if not 2.0 * t < side:
        raise ModelError(
            f"the walls of a section are {t:g} m thick, expected less than half of "
            f"{side:g} m; without a hollow it is a solid section"
        )
    return t
