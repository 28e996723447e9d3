"""Constants of the closed-form two-link model of De Luca and Siciliano (1991).

Parameters of the arm, modes of its links, and from both the 57 coefficients b_ijk of
(32), the six t_ij of (33) and the 98 h_ijk of (34), in the form of the appendix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._calls.arm_like import Array


@dataclass(frozen=True)
class Parameters:
    """Masses and lengths of the arm; the defaults are those of section VII.

    Attributes
    ----------
    length : tuple of two float
        Of the links, in m.
    mass : tuple of two float
        Of the links, in kg, uniform along them.
    bending_stiffness : tuple of two float
        EI of the links, in N m^2.
    hub_inertia : tuple of two float
        Rotors fixed to the bases of the links, in kg m^2.
    hub_mass : float
        Of the second hub, in kg; the first does not move.
    payload_mass, payload_inertia : float
        At the tip of link 2, in kg and kg m^2.
    """

    length: tuple[float, float] = (0.5, 0.5)
    mass: tuple[float, float] = (0.1, 0.1)
    bending_stiffness: tuple[float, float] = (1.0, 1.0)
    hub_inertia: tuple[float, float] = (0.1, 0.1)
    hub_mass: float = 1.0
    payload_mass: float = 0.1
    payload_inertia: float = 0.0005

    @property
    def link_inertia(self) -> tuple[float, float]:
        """Inertia of each link about its base (24c), in kg m^2."""
        (m1, m2), (l1, l2) = self.mass, self.length
        return m1 * l1**2 / 3.0, m2 * l2**2 / 3.0

    @property
    def distal_mass(self) -> float:
        """Mass beyond link 1, ``M_L1`` of (28), in kg."""
        return self.mass[1] + self.hub_mass + self.payload_mass

    @property
    def distal_inertia(self) -> float:
        """Inertia beyond link 1, ``J_L1`` of (28), about its tip, in kg m^2."""
        payload = self.payload_inertia + self.payload_mass * self.length[1] ** 2
        return self.link_inertia[1] + self.hub_inertia[1] + payload

    @property
    def distal_moment(self) -> float:
        """First moment of straight link 2 and payload about hub 2, in kg m."""
        m2, l2 = self.mass[1], self.length[1]
        return m2 * l2 / 2.0 + self.payload_mass * l2


@dataclass(frozen=True)
class LinkModes:
    """Two modes of a link.

    Attributes
    ----------
    omega : (2,) array_like of float
        Frequencies, in rad/s.
    tip_deflection, tip_slope : (2,) array_like of float
        Shape and slope at the tip, 1 and 1/m.
    v, w : (2,) array_like of float
        Integrals of rho phi and of rho x phi (24d, e) over the link only, in kg
        and kg m.
    z : (2, 2) array_like of float, optional
        Integrals of rho phi_j phi_k (24f) over the link only, in kg; only
        `full_kinetic_energy` uses them.
    """

    omega: Array
    tip_deflection: Array
    tip_slope: Array
    v: Array
    w: Array
    z: Array | None = None


# factors of sin(theta_2) in an entry of (32), in the order of its constants from b_ij3
BENDS = ("t1", "t2", "t3", "d11", "d12")
_MULTIPLIERS = {
    **dict.fromkeys([(1, 1), (1, 2)], ("t1", "t2")),
    (1, 3): ("t2", "d12"),
    (1, 4): ("t2", "d11"),
    **dict.fromkeys([(1, 5), (1, 6)], ("t1",)),
    **dict.fromkeys([(2, 3), (2, 4)], ("t2", "t3")),
    **dict.fromkeys([(3, 3), (3, 4), (4, 4)], ("t2",)),
    **dict.fromkeys([(3, 5), (3, 6), (4, 5), (4, 6)], ("t3",)),
}


@dataclass(frozen=True)
class Coefficients:
    """Constants of (32)-(35): ``c["b131"]``, ``c["t21"]``, ``c["h107"]``.

    Attributes
    ----------
    b : mapping of (i, j) to tuple of float
        ``b[1, 3][0]`` is b_131.  Entries of B are in kg m^2 for two joints, kg m for
        joint and mode, kg for two modes; each b in that by the unit of its
        factor in (32).
    t : (3, 2) ndarray
        ``t[0, 1]`` is t_12; rows are dimensionless, in kg, and in 1/m.
    h : mapping of i to tuple of float
        ``h[1][7]`` is h_107, in N m or N by the unit of its factor in (34); the entry 0
        is unused.
    stiffness : (6,) ndarray
        Diagonal of K (35), in N/m.
    length : tuple of two float
        Of the links, in m.
    tip : (2, 2) ndarray
        Tip deflections of the modes of link 1 and link 2, dimensionless.
    """

    b: Mapping[tuple[int, int], tuple[float, ...]]
    t: Array
    h: Mapping[int, tuple[float, ...]]
    stiffness: Array
    length: tuple[float, float]
    tip: Array

    @cached_property
    def entries(self) -> Array:
        """Entries of B (7, 36) that stand before 1, cos(theta_2) and the `BENDS`."""
        result = np.zeros((7, 6, 6))
        for (i, j), b in self.b.items():
            column = np.zeros(7)
            column[: min(2, len(b))] = b[:2]
            for x, name in zip(b[2:], _MULTIPLIERS.get((i, j), ()), strict=True):
                column[2 + BENDS.index(name)] = x
            result[:, i - 1, j - 1] = result[:, j - 1, i - 1] = column
        return result.reshape(7, 36)

    def __getitem__(self, name: str) -> float:
        kind, i, rest = name[0], int(name[1]), name[2:]
        if kind == "b":
            return self.b[i, int(rest[0])][int(rest[1]) - 1]
        if kind == "t":
            return float(self.t[i - 1, int(rest) - 1])
        return self.h[i][int(rest)]

    def names(self) -> list[str]:
        """Names of all constants: 57 b, 6 t, 98 h."""
        names = [
            f"b{i}{j}{k + 1}" for (i, j), x in self.b.items() for k in range(len(x))
        ]
        names += [f"t{i}{k}" for i in (1, 2, 3) for k in (1, 2)]
        return names + [
            f"h{i}{k:02}" for i, x in self.h.items() for k in range(1, len(x))
        ]


def _inertia_coefficients(
    p: Parameters, first: LinkModes, second: LinkModes
) -> dict[tuple[int, int], tuple[float, ...]]:
    """The 57 coefficients b_ijk of (32)."""
    # first moment, inertia and mass beyond link 1, and shapes at the tips
    l1, l2 = p.length
    a, J, M = p.distal_moment, p.distal_inertia, p.distal_mass
    f, s = first.tip_deflection, first.tip_slope
    u = second.v + p.payload_mass * second.tip_deflection
    g = second.w + p.payload_inertia * second.tip_slope
    g = g + p.payload_mass * l2 * second.tip_deflection
    X, Y = f[0] * s[1] - f[1] * s[0], f[0] * s[1] + f[1] * s[0]

    # entries of B by joints and modes
    base = p.hub_inertia[0] + p.link_inertia[0] + J + M * l1**2
    b: dict[tuple[int, int], tuple[float, ...]] = {
        (1, 1): (base, 2 * a * l1, 2 * a, -2 * l1),
        (1, 2): (J, a * l1, a, -l1),
        (2, 2): (J,),
        (3, 3): (p.mass[0], 2 * a * f[0] * s[0], -2 * f[0] * s[0]),
        (4, 4): (p.mass[0], 2 * a * f[1] * s[1], -2 * f[1] * s[1]),
        (3, 4): (0.0, a * Y, -Y),
        (5, 5): (p.mass[1],),
        (5, 6): (0.0,),
        (6, 6): (p.mass[1],),
    }
    for k, sign in ((0, -1.0), (1, 1.0)):
        static = first.w[k] + J * s[k] + M * l1 * f[k]
        lever = f[k] + l1 * s[k]
        b[1, 3 + k] = (static, a * lever, -lever, sign * a * X)
        b[2, 3 + k] = (J * s[k], a * f[k], -f[k], -a * f[k])
        b[1, 5 + k] = (g[k], u[k] * l1, u[k])
        b[2, 5 + k] = (g[k],)
        for j in (0, 1):
            b[3 + j, 5 + k] = (g[k] * s[j], u[k] * f[j], -u[k] * f[j])
    return {key: tuple(float(x) for x in b[key]) for key in sorted(b)}


def _velocity_coefficients(
    p: Parameters, first: LinkModes, second: LinkModes
) -> dict[int, tuple[float, ...]]:
    """The 98 coefficients of (34), from (26)."""
    l1, a = p.length[0], p.distal_moment
    (f1, f2), (s1, s2) = first.tip_deflection, first.tip_slope
    u1, u2 = second.v + p.payload_mass * second.tip_deflection
    X, Y = f1 * s2 - f2 * s1, f1 * s2 + f2 * s1
    t11, t12 = f1 - l1 * s1, f2 - l1 * s2
    lever1, lever2 = f1 + l1 * s1, f2 + l1 * s2

    h1 = [-2 * a * l1, 2 * a * t11, 2 * a * t12, -2 * u1 * l1, -2 * u2 * l1]  # 101
    h1 += [-a * l1, -2 * a * l1 * s1, -2 * a * l1 * s2, -2 * u1 * l1, -2 * u2 * l1]
    h1 += [-2 * u * l1 * s for s in (s1, s2) for u in (u1, u2)]  # 111
    h1 += [2 * a, a, u1, u2, -2 * l1, -l1]  # 115
    h1 += [-lever1, -lever2, -a * X, a * X]  # 121

    h2 = [a * l1, 2 * a * f1, 2 * a * f2, -a, -u1, -u2]  # 201
    h2 += [l1, lever1, lever2, a * X, -a * X]  # 207
    h2 += [f1 * s1, Y, u1 * f1, u2 * f1, f2 * s2, u1 * f2, u2 * f2]  # 212

    h: dict[int, list[float]] = {1: h1, 2: h2}
    for k, f, s, sign in ((3, f1, s1, -1.0), (4, f2, s2, 1.0)):
        row = [-a * (f - l1 * s), -2 * a * f, sign * 2 * a * X]  # 301
        row += [-2 * u1 * f, -2 * u2 * f]  # 304
        row += [
            -a * f,
            -2 * a * f * s1,
            -2 * a * f * s2,
            -2 * u1 * f,
            -2 * u2 * f,
        ]  # 306
        row += [-2 * u * f * slope for slope in (s1, s2) for u in (u1, u2)]  # 311
        row += [-(f + l1 * s), -f]  # 315
        row += [-2 * f1 * s1, -Y] if k == 3 else [-Y, -2 * f2 * s2]  # 317
        row += [-a * f, -u1 * f, -u2 * f, sign * a * X]  # 319
        h[k] = row
    for k, u in ((5, u1), (6, u2)):
        h[k] = [u * l1, 2 * u * f1, 2 * u * f2, u, -u * f1, -u * f2]  # 501
    return {k: (0.0, *(float(x) for x in row)) for k, row in h.items()}


def _misprinted(
    h: dict[int, tuple[float, ...]], p: Parameters, first: LinkModes, second: LinkModes
) -> dict[int, tuple[float, ...]]:
    """The coefficients of (34) with the five errors of the printed appendix."""
    f2, (s1, s2) = first.tip_deflection[1], first.tip_slope
    u1, u2 = second.v + p.payload_mass * second.tip_deflection
    h1, h4 = list(h[1]), list(h[4])
    h1[7] = -p.distal_moment * p.length[0] * s1
    h1[17], h1[18] = -u1, -u2
    h4[12], h4[13] = -2 * u2 * f2 * s2, -2 * u1 * f2 * s1
    wrong = {1: tuple(float(x) for x in h1), 4: tuple(float(x) for x in h4)}
    return {**h, **wrong}


def coefficients(
    parameters: Parameters, first: object, second: object, *, printed: bool = False
) -> Coefficients:
    """Constants of (32)-(35) from the data of the arm.

    Parameters
    ----------
    parameters : Parameters
        Masses and lengths.
    first, second : LinkModes or similar
        Modes of the two links, clamped at the base, with the masses of (28) and (29)
        at the tip and normalized to the mass of the link, tip included; anything with
        the attributes of `LinkModes`, such as a result of ``flexarm.beams``.
    printed : bool
        Keep the five wrong coefficients of the printed appendix.

    Returns
    -------
    c : Coefficients
        57 b, 6 t, 98 h, the stiffness and the data of `tip_position`.

    Examples
    --------
    Half of the payload: the shoulder turns less inertia, in kg m^2:

    >>> from flexarm.reference import de_luca_siciliano as model
    >>> light = model.Parameters(payload_mass=0.05, payload_inertia=0.0)
    >>> c = model.coefficients(light, *model.paper_modes(light))
    >>> round(c["b111"], 6), round(model.paper_arm()["b111"], 6)
    (0.516667, 0.542167)
    """
    first, second = _plain(first), _plain(second)
    h = _velocity_coefficients(parameters, first, second)
    if printed:
        h = _misprinted(h, parameters, first, second)
    f, s = first.tip_deflection, first.tip_slope
    u = second.v + parameters.payload_mass * second.tip_deflection
    masses = parameters.mass
    spring = np.outer(masses, np.ones(2)) * np.square([first.omega, second.omega])
    return Coefficients(
        b=_inertia_coefficients(parameters, first, second),
        t=np.array([f - parameters.length[0] * s, u, s]),
        h=h,
        stiffness=np.concatenate([np.zeros(2), spring.ravel()]),
        length=parameters.length,
        tip=np.array([f, second.tip_deflection]),
    )


def _plain(modes: object) -> LinkModes:
    """First two modes as arrays, of any object with the attributes."""
    names = ("omega", "tip_deflection", "tip_slope", "v", "w")
    return LinkModes(*(np.array(getattr(modes, name), float)[:2] for name in names))


def paper_modes(parameters: Parameters) -> tuple[Any, Any]:
    """Modes of both links from ``flexarm.beams``, with the masses of (28) and (29).

    Parameters
    ----------
    parameters : Parameters
        Masses and lengths.

    Returns
    -------
    first, second : ClampedBeamModes
        For `coefficients`; link 1 with ``(MD)_1 = 0``, the paper's choice.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import de_luca_siciliano as model
    >>> first, second = model.paper_modes(model.Parameters())
    >>> print(*(np.round(m.omega / (2 * np.pi), 2) for m in (first, second)))  # in Hz
    [0.48 1.8 ] [ 2.18 15.91]
    """
    from ..beams import clamped_beam_modes

    p = parameters
    tips = ((p.distal_mass, p.distal_inertia), (p.payload_mass, p.payload_inertia))
    first, second = (
        clamped_beam_modes(
            p.length[i],
            p.mass[i] / p.length[i],
            p.bending_stiffness[i],
            2,
            tip_mass=tips[i][0],
            tip_inertia=tips[i][1],
            normalization="link",
        )
        for i in (0, 1)
    )
    return first, second


def paper_arm(
    parameters: Parameters | None = None, *, printed: bool = False
) -> Coefficients:
    """Constants of the arm of section VII, modes from ``flexarm.beams``.

    Parameters
    ----------
    parameters : Parameters, optional
        Another arm of the same kind.
    printed : bool
        Keep the five wrong coefficients of the printed appendix.

    Returns
    -------
    c : Coefficients
        See `coefficients`.

    Examples
    --------
    >>> from flexarm.reference import de_luca_siciliano as model
    >>> c = model.paper_arm()
    >>> round(c["h107"], 6), round(model.paper_arm(printed=True)["h107"], 6)
    (-0.049285, -0.024642)
    """
    p = Parameters() if parameters is None else parameters
    return coefficients(p, *paper_modes(p), printed=printed)
