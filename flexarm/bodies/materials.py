"""Materials of beams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from .._calls.declared import Kept
from .._calls.doors import checked_record
from .._support.checks import finite, positive, short_text
from .._support.description import Description
from .._support.warn import check_moduli
from ..errors import ModelError

# name of materials that stand for the stiffness and mass of a section of 1 m^2
BY_STIFFNESS = "a section by its stiffness"


def _poisson(what: str, value: object) -> float:
    nu = finite(what, value)
    if not -1.0 < nu <= 0.5:
        raise ModelError(f"{what} is {nu:g}, expected above -1 and at most 0.5")
    return nu


@checked_record("{field} of {name}")
@dataclass(frozen=True, eq=False)
class Material(Description):
    """Linear elastic material.

    Parameters
    ----------
    E : float
        Young's modulus, in Pa.
    density : float
        Mass per volume, in kg/m^3.
    G : float, optional
        Shear modulus, in Pa; ``E / (2 (1 + poisson))`` by default.
    poisson : float, optional
        Poisson's ratio, above -1 and at most 0.5, in place of `G`; 0.3 by default.
    name : str
        Name for messages.

    Raises
    ------
    ModelError
        If a number is not physical, such as `E` in GPa, or if both `G` and `poisson`
        are given.

    Warns
    -----
    UnitsWarning
        If `E` looks like MPa, or `density` like g/cm^3.

    Examples
    --------
    >>> from flexarm import beams
    >>> beams.Material(E=110e9, density=4430.0, poisson=0.34).G / 1e9
    41.04477611940298
    >>> beams.STEEL.G / 1e9
    81.0
    """

    E: Annotated[float, Kept(positive, "Pa")]
    density: Annotated[float, Kept(positive, "kg/m^3")]
    G: Annotated[float, Kept(positive, "Pa")] | None = None
    poisson: Annotated[float, Kept(_poisson)] | None = None
    name: str = "material"

    def __post_init__(self) -> None:
        G = self.G
        if G is None:
            nu = 0.3 if self.poisson is None else self.poisson
            G = self.E / (2.0 * (1.0 + nu))
        elif self.poisson is not None:
            raise ModelError(
                f"{self.name} has both G and poisson, expected one of them, since with "
                "E the other follows"
            )
        if self.name != BY_STIFFNESS:
            check_moduli(self.name, self.E, G, self.density)
        self._set(G=G, poisson=None)


# structural steel: EN 1993-1-1 (2005), 3.2.6, density of EN 1991-1-1, table A.4
STEEL = Material(E=210e9, density=7850.0, G=81e9, name="steel")
# wrought aluminium alloys: EN 1999-1-1 (2007), 3.2.5
ALUMINIUM = Material(E=70e9, density=2700.0, G=27e9, name="aluminium")
_NAMED = {"steel": STEEL, "aluminium": ALUMINIUM, "aluminum": ALUMINIUM}


def material_of(given: object) -> Any:
    """Material of a name; others are checked by the section that they make."""
    if isinstance(given, str):
        if given.lower() not in _NAMED:
            raise ModelError(
                f"material is {short_text(given)}, expected 'steel', 'aluminium' or "
                "flexarm.beams.Material(E, density)"
            )
        return _NAMED[given.lower()]
    return given


def poisson_of(material: object) -> float:
    """Poisson's ratio of E and G, or 0 for those of no isotropic material."""
    material = material_of(material)
    if not isinstance(material, Material) or material.G is None:
        return 0.0  # refused by the constructor
    nu = 0.5 * material.E / material.G - 1.0
    return nu if -1.0 < nu <= 0.5 else 0.0
