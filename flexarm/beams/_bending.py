"""Bending modes of uniform clamped beams: frequency equation, stable shapes, integrals.

Notation: ``b = beta L`` and ``xi = beta x`` are dimensionless; the parameters of the
payload are

    mu = M_L / (rho L),   nu = J_L / (rho L^3),   delta = MD / (rho L^2),

and ``s, c, sh, ch`` are the circular and hyperbolic functions of ``b``.  Equation
numbers are those of A. De Luca and B. Siciliano, "Closed-form dynamic model of planar
multilink lightweight robots", IEEE Trans. Systems, Man, and Cybernetics 21(4), 1991.
`clamped_beam_modes` is the public function.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Floats
from .._calls.doors import checked_class
from .._support.arrays import Array
from .._support.checks import positive, real
from .._support.quadrature import gauss_count
from ..errors import ModelError
from ._clamped import LinkModes, known_normalization, payload
from .limits import mode_count

# (-4)^j / (4 j + first)! by first, the last ones first; (4 b^4)^6 / 27! is below 1e-19
_LACUNARY = {
    first: [(-4.0) ** j / math.factorial(4 * j + first) for j in range(6, -1, -1)]
    for first in (3, 4)
}


def _lacunary(b: float, first: int, factor: float) -> float:
    """Sum over j of ``factor (-4)^j b^(4j + first) / (4j + first)!``, for b < 1.5."""
    total, power = 0.0, b**4
    for coefficient in _LACUNARY[first]:
        total = total * power + coefficient
    return factor * b**first * total


def _count_below(b: float, mu: float, nu: float, delta: float) -> int:
    """Number of frequencies of the loaded beam below ``b``, by Wittrick and Williams.

    The count is that of the beam clamped at both ends plus the number of negative
    eigenvalues of the 2 x 2 dynamic stiffness ``D`` of the tip (W. H. Wittrick and
    F. W. Williams, Quart. J. Mech. Appl. Math. 24, 1971).  In units of EI / L^3, with
    ``g = 1 - c ch``,

        D11 = b^3 (s ch + c sh) / g - mu b^4,    det D = b^4 f / g

    where ``f`` is the left side of the frequency equation: (22) with two more terms for
    the static moment.  The count never skips a root, however close two roots are.
    """
    s, c, t, sech = math.sin(b), math.cos(b), math.tanh(b), 1.0 / math.cosh(b)
    # everything is divided by ch; below 1.5 the differences cancel, their series do not
    if b < 1.5:
        g, difference = _lacunary(b, 4, 4.0) * sech, _lacunary(b, 3, 4.0) * sech
    else:
        g, difference = sech - c, s - c * t
    f = (
        (sech + c)
        - mu * b * difference
        - nu * b**3 * (s + c * t)
        - 2.0 * delta * b**2 * s * t
        + max(mu * nu - delta**2, 0.0) * b**4 * g
    )
    d11 = b**3 * (s + c * t) - mu * b**4 * g
    negative = 1 if f * g < 0.0 else 2 if d11 * g < 0.0 else 0
    # clamped at both ends: g = 0, once in each (i pi, (i + 1) pi) with i >= 1
    i = int(b / math.pi)
    return i - (g * (-1.0) ** i < 0.0) + negative


@lru_cache(maxsize=64)
def _roots(n_modes: int, mu: float, nu: float, delta: float) -> Array:
    """First roots ``b``, (n_modes,); beams that differ only in size share them.

    Numbers of Python: they are faster than arrays of a few entries.
    """
    roots = np.empty(n_modes)
    for k in range(n_modes):
        # a clamped tip adds constraints: the beam clamped at both ends has k + 1 roots
        # below (k + 5/2) pi, so the loaded one has at least as many
        low, high = 0.0, (k + 2.5) * math.pi
        while low < (middle := 0.5 * (low + high)) < high:
            if _count_below(middle, mu, nu, delta) > k:
                high = middle
            else:
                low = middle
        roots[k] = high
    roots.flags.writeable = False
    return roots


def _basis(b: Array, xi: Array, order: int) -> tuple[Array, Array]:
    r"""Two shapes that vanish with their slope at the clamp, differentiated in xi.

    .. math:: V = e^{-\xi} - \cos\xi + \sin\xi, \qquad
              W = e^{-b} (\cosh\xi - \cos\xi)

    span (19) with (20), but are of order one on the whole beam, and a mode is their
    combination with coefficients of order one: nothing overflows, and at high modes
    nothing cancels.  Near the clamp the differences are taken by expm1 and half angles.
    """
    s, c = np.sin(xi), np.cos(xi)
    near, far, end = np.exp(-xi), np.exp(xi - b), np.exp(-b)
    one_less_c = 2.0 * np.sin(0.5 * xi) ** 2
    if order == 0:
        v = np.expm1(-xi) + s + one_less_c
        w = 0.5 * far * np.expm1(-xi) ** 2 + end * one_less_c
    elif order == 1:
        v = -np.expm1(-xi) + s - one_less_c
        w = -0.5 * far * np.expm1(-2.0 * xi) + end * s
    elif order == 2:
        v = near + c - s
        w = 0.5 * (far + end * near) + end * c
    else:
        v = -near - s - c
        w = -0.5 * far * np.expm1(-2.0 * xi) - end * s
    return v, w


def _tip_amplitudes(b: Array, mu: float, nu: float, delta: float) -> Array:
    """Coefficients (n, 2) of V and W for which the tip conditions (16) hold.

    phi'' = nu b^3 phi' + delta b^2 phi and phi''' = -mu b phi - delta b^2 phi', with
    derivatives in xi.  The two are parallel at a root; the null vector is that of both,
    each scaled by its largest term, so that the one with cancellation counts less.
    """
    phi0, phi1, phi2, phi3 = (np.stack(_basis(b, b, k), axis=-1) for k in range(4))
    m, n, d = (mu * b)[:, None], (nu * b**3)[:, None], (delta * b**2)[:, None]
    moment = np.stack([phi2, -n * phi1, -d * phi0])
    shear = np.stack([phi3, m * phi0, d * phi1])
    rows = np.stack(
        [
            terms.sum(axis=0) / np.abs(terms).max(axis=(0, 2))[:, None]
            for terms in (moment, shear)
        ],
        axis=1,
    )
    return np.asarray(np.linalg.svd(rows)[2][:, 1, :])


@checked_class
class BendingModes(LinkModes):
    """Base class of bending modes of uniform beams."""

    mass_per_length: float
    bending_stiffness: float
    amplitudes: Array

    @property
    def omega(self) -> Array:  # type: ignore[override]
        """Natural frequencies, (n,), in rad/s, ascending."""
        return np.asarray(
            self.beta**2 * math.sqrt(self.bending_stiffness / self.mass_per_length)
        )

    def _set_beam(self) -> float:
        """Check the numbers of a uniform beam; return its mass."""
        length = positive("length of the beam", self.length, "m")
        rho = positive("mass_per_length of the beam", self.mass_per_length, "kg/m")
        self._set(
            length=length,
            mass_per_length=rho,
            bending_stiffness=positive(
                "bending_stiffness of the beam", self.bending_stiffness, "N m^2"
            ),
            n_modes=mode_count(self.n_modes),
            normalization=known_normalization(self.normalization),
        )
        return rho * length

    def curvature(self, x: ArrayLike) -> Array:
        """Second derivative of the shapes in x, per m^2, (n, ...); see `shape`."""
        return self._derivative(x, 2)

    @property
    def tip_deflection(self) -> Array:
        """``phi_e``, (n,)."""
        return self.shape(self.length)

    @property
    def tip_slope(self) -> Array:
        """``phi'_e``, (n,), per m."""
        return self.slope(self.length)

    @property
    def v(self) -> Array:
        """Integral of rho phi over the link (24d), (n,), in kg."""
        x, weight = self._points()
        return np.asarray(self.shape(x) @ (self.mass_per_length * weight))

    @property
    def w(self) -> Array:
        """Integral of rho x phi over the link (24e), (n,), in kg m."""
        x, weight = self._points()
        return np.asarray(self.shape(x) @ (self.mass_per_length * weight * x))

    @property
    def z(self) -> Array:
        """Integral of rho phi_j phi_k over the link alone (24f), (n, n), in kg."""
        return self._gram(self.shape, self.mass_per_length)

    @property
    def k(self) -> Array:  # type: ignore[override]
        """Integral of EI phi_j'' phi_k'', (24g) corrected, (n, n), in N/m."""
        return self._gram(self.curvature, self.bending_stiffness)

    @property
    def modal_mass(self) -> Array:  # type: ignore[override]
        """Modal mass, (n, n), in kg."""
        return self.z


@checked_class
@dataclass(frozen=True, eq=False)
class BeamModes(BendingModes):
    """Bending modes of a uniform beam, clamped at x = 0, with a payload at its tip.

    :func:`flexarm.beams.clamped_beam_modes` returns it and explains the arguments;
    ``replace()`` solves again.  Equation numbers are those of De Luca and Siciliano
    (1991).

    Attributes
    ----------
    beta : (n,) ndarray of float
        Wave numbers, in 1/m: ``beta^4 = omega^2 rho / EI``.
    amplitudes : (n, 2) ndarray of float
        Coefficients of the two functions in which the shapes are evaluated without
        cancellation; see `coefficients` for those of the source.
    """

    length: float
    mass_per_length: float
    bending_stiffness: float
    n_modes: int
    tip_mass: float = 0.0
    tip_inertia: float = 0.0
    tip_moment: float = 0.0
    normalization: str = "mass"
    beta: Annotated[Array, Floats("(n,)")] = field(init=False)
    amplitudes: Annotated[Array, Floats("(n, 2)")] = field(init=False)

    def __post_init__(self) -> None:
        link = self._set_beam()
        inertia = link * self.length**2
        self._set(
            tip_mass=payload("tip_mass", self.tip_mass, "kg", link),
            tip_inertia=payload("tip_inertia", self.tip_inertia, "kg m^2", inertia),
            tip_moment=real("tip_moment", self.tip_moment, "kg m"),
        )
        # Cauchy-Schwarz for mass and moments of the payload
        largest = math.sqrt(self.tip_mass * self.tip_inertia)
        if abs(self.tip_moment) > largest * (1.0 + 1e-12):
            raise ModelError(
                f"tip_moment is {self.tip_moment:g} kg m, but a payload of "
                f"{self.tip_mass:g} kg and {self.tip_inertia:g} kg m^2 has at most "
                f"sqrt(tip_mass tip_inertia) = {largest:g} kg m; tip_inertia counts "
                "from the tip, not from the centre of mass"
            )
        self._solve(link)

    def _solve(self, link: float) -> None:
        load = (
            self.tip_mass / link,
            self.tip_inertia / (link * self.length**2),
            self.tip_moment / (link * self.length),
        )
        b = _roots(self.n_modes, *load)
        raw = _tip_amplitudes(b, *load)
        self._keep(beta=b / self.length, amplitudes=raw)
        scale = self._scale(self.tip_deflection, self.v, link)
        self._keep(amplitudes=raw * scale[:, None])

    @property
    def n_points(self) -> int:
        """Number of Gauss points for products of two modes; see `LinkModes`."""
        return gauss_count(float(_roots(self.n_modes, 0.0, 0.0, 0.0)[-1]))

    @property
    def coefficients(self) -> Array:
        """``C1``, ``C2`` of (19) with (20), (n, 2); ``C3 = -C1``, ``C4 = -C2``."""
        p, q = self.amplitudes.T
        return np.stack([p, -p - q * np.exp(-self.beta * self.length)], axis=1)

    def _derivative(self, x: ArrayLike, order: int) -> Array:
        fraction = self._fraction(x)
        column = (self.n_modes,) + (1,) * fraction.ndim
        b = (self.beta * self.length).reshape(column)
        v, w = _basis(b, b * fraction, order)
        p, q = (amplitude.reshape(column) for amplitude in self.amplitudes.T)
        return np.asarray(self.beta.reshape(column) ** order * (p * v + q * w))

    @property
    def modal_mass(self) -> Array:  # type: ignore[override]
        """Modal mass with the payload of the modes, (27) corrected, (n, n), in kg."""
        tip = np.stack([self.tip_deflection, self.tip_slope])
        load = np.array(
            [[self.tip_mass, self.tip_moment], [self.tip_moment, self.tip_inertia]]
        )
        return np.asarray(self.z + tip.T @ load @ tip)
