"""Base classes of the modes of beams and rods, and the modes of clamped rods.

Checks of the arguments, Gauss quadrature, bisection, normalization.  Equation numbers
are those of A. De Luca and B. Siciliano, IEEE Trans. Systems, Man, and Cybernetics
21(4), 1991.  The public functions are in ``_single.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import real_array
from .._calls.declared import Floats
from .._calls.doors import checked_class
from .._support.arrays import Array, Mask
from .._support.checks import not_negative, positive
from .._support.description import Description
from .._support.options import check_choice
from .._support.quadrature import gauss_count, gauss_rule, node_fractions
from ..errors import ArgumentError, ModelError
from .limits import mode_count

# Ratio of payload to link, beyond which the lowest shape is inaccurate.
MAX_TIP_RATIO = 1e9
# Points for integrals of cubics, of their foreshortening and of products of two of
# these.
CUBIC_POINTS = 6
NORMALIZATIONS = ("mass", "link", "tip")


def payload(what: str, value: object, unit: str, link: float) -> float:
    """Return a mass or inertia from zero to 1e9 times that of the link."""
    number = not_negative(what, value, unit)
    if number > MAX_TIP_RATIO * link:
        raise ModelError(
            f"{what} is {number:g} {unit}, more than {MAX_TIP_RATIO:g} times the "
            f"{link:g} {unit} of the link, expected less; check the units"
        )
    return number


def known_normalization(value: object) -> str:
    """Return the name of a normalization, or raise with the nearest one."""
    check_choice("normalization", value, NORMALIZATIONS, ModelError)
    return str(value)


def bisect(reached: Callable[[Array], Mask], lo: Array, hi: Array) -> Array:
    """Smallest number at which a monotone condition holds, exactly, in each bracket."""
    while True:
        middle = 0.5 * (lo + hi)
        if np.all((middle <= lo) | (middle >= hi)):
            return hi
        holds = reached(middle)
        lo, hi = np.where(holds, lo, middle), np.where(holds, middle, hi)


@checked_class
class LinkModes(Description):
    """Base class of modes of beams and rods."""

    # node of a link that its joint holds, None for its frame; modes that are not
    # clamped move that node
    attachment: ClassVar[str | None] = None

    length: float
    normalization: str
    n_modes: int
    beta: Array
    omega: Array
    modal_mass: Array
    k: Array

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates in a link, after the motion of the modes."""
        return tuple(f"{{}} {j + 1}" for j in range(self.n_modes))

    @property
    def n_points(self) -> int:
        """Number of Gauss points for products of two modes; payloads do not change it.

        A payload lowers wave numbers, so the number of the unloaded beam is enough.
        """
        highest = float(self.beta[-1]) * self.length
        return gauss_count(highest) if highest > 0.0 else CUBIC_POINTS

    @property
    def frequency(self) -> Array:
        """Natural frequencies, (n,), in Hz, ascending."""
        return np.asarray(self.omega / (2.0 * np.pi))

    @property
    def stiffness(self) -> Array:
        """Modal stiffness, (n,): ``omega^2`` times the modal mass, as in (35)."""
        return np.asarray(self.omega**2 * np.diag(self.modal_mass))

    def _derivative(self, x: ArrayLike, order: int) -> Array:
        raise NotImplementedError

    def shape(self, x: Annotated[ArrayLike, Floats("(...)")]) -> Array:
        """Mode shapes.

        Parameters
        ----------
        x : (...) array_like of float
            Positions, in m, from 0 (base) to `length` (tip).

        Returns
        -------
        shape : (n, ...) ndarray of float
            Deflection (beams) or rotation (rods) of each mode.
        """
        return self._derivative(x, 0)

    def slope(self, x: ArrayLike) -> Array:
        """First derivative of the mode shapes in x, per m, (n, ...); see `shape`."""
        return self._derivative(x, 1)

    def _at_nodes(self, n_points: int, order: int) -> Array:
        """Shapes, differentiated in x, at base, Gauss points and tip, (n, nodes)."""
        return self._derivative(self.length * node_fractions(n_points), order)

    def _foreshortening(self, n_points: int) -> Array:
        r"""Integrals of ``-v_r' v_s'`` from the base to these nodes, (nodes, n, n).

        The number of Gauss points for the whole link is also sufficient for each piece
        from the base.
        """
        x = self.length * node_fractions(n_points)
        fraction, weight = gauss_rule(self.n_points)
        slope = self._derivative(np.outer(x, fraction), 1).swapaxes(0, 1)
        weighted = slope * (x[:, np.newaxis] * weight)[:, np.newaxis]
        return np.asarray(-(weighted @ slope.swapaxes(1, 2)))

    def _fraction(self, x: ArrayLike) -> Array:
        fraction = real_array("x", x) / self.length
        bad = ~((fraction >= -1e-12) & (fraction <= 1.0 + 1e-12))
        if bad.any():
            raise ArgumentError(
                f"x is {float(np.asarray(x)[bad].flat[0]):g} m ({int(bad.sum())} of "
                f"{bad.size} positions are off), expected 0 to {self.length:g} m"
            )
        return np.asarray(np.clip(fraction, 0.0, 1.0))

    def _points(self) -> tuple[Array, Array]:
        """Positions and weights, in m, exact for products of two of these modes."""
        fraction, weight = gauss_rule(self.n_points)
        return self.length * fraction, self.length * weight

    def _gram(self, rows: Callable[[Array], Array], factor: float) -> Array:
        x, weight = self._points()
        rooted = rows(x) * np.sqrt(factor * weight)
        return np.asarray(rooted @ rooted.T)

    def _scale(self, tip: Array, sign: Array, link: float) -> Array:
        """Factors that normalize raw shapes."""
        if self.normalization == "tip":
            x = np.linspace(0.0, self.length, 201)
            still = np.abs(tip) < 1e-6 * np.abs(self.shape(x)).max(axis=1)
            if still.any():
                raise ModelError(
                    f"mode {int(np.argmax(still)) + 1} does not move the tip, which "
                    "normalization 'tip' divides by, expected 'mass' or 'link'"
                )
            return np.asarray(1.0 / tip)
        target = link if self.normalization == "link" else 1.0
        scale = np.sqrt(target / np.diag(self.modal_mass))
        return np.asarray(np.where(sign < 0.0, -scale, scale))

    def _keep(self, **arrays: Array) -> None:
        for array in arrays.values():
            array.flags.writeable = False
        self._set(**arrays)


@checked_class
class TorsionModes(LinkModes):
    """Base class of torsion modes of uniform rods."""

    polar_inertia_per_length: float
    torsional_stiffness: float
    amplitudes: Array

    @property
    def omega(self) -> Array:  # type: ignore[override]
        """Natural frequencies, (n,), in rad/s, ascending."""
        return np.asarray(
            self.beta
            * math.sqrt(self.torsional_stiffness / self.polar_inertia_per_length)
        )

    @property
    def tip_rotation(self) -> Array:
        """Rotation at the tip, (n,)."""
        return self.shape(self.length)

    @property
    def v(self) -> Array:
        """Integral of rho I_p theta over the rod, (n,), in kg m^2."""
        x, weight = self._points()
        return np.asarray(self.shape(x) @ (self.polar_inertia_per_length * weight))

    @property
    def z(self) -> Array:
        """Integral of rho I_p theta_j theta_k over the rod alone, (n, n), kg m^2."""
        return self._gram(self.shape, self.polar_inertia_per_length)

    @property
    def k(self) -> Array:  # type: ignore[override]
        """Integral of GJ theta_j' theta_k' over the rod, (n, n), in N m."""
        return self._gram(self.slope, self.torsional_stiffness)

    @property
    def modal_mass(self) -> Array:  # type: ignore[override]
        """Modal inertia, (n, n), in kg m^2."""
        return self.z

    def _set_rod(self) -> float:
        """Check the numbers of a uniform rod; return its inertia."""
        length = positive("length of the rod", self.length, "m")
        polar = positive(
            "polar_inertia_per_length of the rod", self.polar_inertia_per_length, "kg m"
        )
        self._set(
            length=length,
            polar_inertia_per_length=polar,
            torsional_stiffness=positive(
                "torsional_stiffness of the rod", self.torsional_stiffness, "N m^2"
            ),
            n_modes=mode_count(self.n_modes),
            normalization=known_normalization(self.normalization),
        )
        return polar * length


@checked_class
@dataclass(frozen=True, eq=False)
class RodModes(TorsionModes):
    """Torsion modes of a uniform rod, clamped at x = 0, with an inertia at its tip.

    :func:`flexarm.beams.clamped_rod_modes` returns it and explains the arguments;
    ``replace()`` solves again.

    Attributes
    ----------
    beta : (n,) ndarray of float
        Wave numbers, in 1/m: ``beta^2 = omega^2 rho I_p / GJ``.
    amplitudes : (n,) ndarray of float
        Factors ``A`` of the shapes ``A sin(beta x)``.
    """

    length: float
    polar_inertia_per_length: float
    torsional_stiffness: float
    n_modes: int
    tip_inertia: float = 0.0
    normalization: str = "mass"
    beta: Annotated[Array, Floats("(n,)")] = field(init=False)
    amplitudes: Annotated[Array, Floats("(n,)")] = field(init=False)

    def __post_init__(self) -> None:
        link = self._set_rod()
        tip = payload("tip_inertia", self.tip_inertia, "kg m^2", link)
        self._set(tip_inertia=tip)
        self._solve(link)

    def _solve(self, link: float) -> None:
        # GJ theta' = omega^2 J theta at the tip, so cos b = kappa b sin b: between
        # i pi and (i + 1/2) pi the left side decreases to zero in size, the right side
        # increases from zero, and there is no other root
        kappa = self.tip_inertia / link
        i = np.arange(0.0, self.n_modes)
        b = bisect(
            lambda at: (-1.0) ** i * (np.cos(at) - kappa * at * np.sin(at)) <= 0.0,
            np.pi * i,
            np.pi * (i + 0.5),
        )
        self._keep(beta=b / self.length, amplitudes=np.ones(self.n_modes))
        tip = self.tip_rotation
        self._keep(amplitudes=self._scale(tip, tip, link))

    @property
    def n_points(self) -> int:
        """Number of Gauss points for products of two modes; see `LinkModes`."""
        return gauss_count(np.pi * (self.n_modes - 0.5))

    def _derivative(self, x: ArrayLike, order: int) -> Array:
        xi = np.multiply.outer(self.beta * self.length, self._fraction(x))
        wave = np.cos(xi) if order else np.sin(xi)
        return np.asarray((wave.T * (self.beta**order * self.amplitudes)).T)

    @property
    def modal_mass(self) -> Array:  # type: ignore[override]
        """Modal inertia with the tip inertia of the modes, (n, n), in kg m^2."""
        tip = self.tip_rotation
        return np.asarray(self.z + self.tip_inertia * np.outer(tip, tip))
