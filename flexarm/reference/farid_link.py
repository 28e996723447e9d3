r"""One flexible link driven at its base, whose inverse problem is not causal.

M. Farid, PhD thesis, University of Calgary, 1997, section 7.2: a uniform beam of length
L on a hinge without inertia, horizontal, no payload, deflection v from the tangent at
the base.  With one shape :math:`v = a(t)\,x^2`, (7.11),

.. math:: \tfrac13 \rho A L^3 \ddot\varphi + \tfrac14 \rho A L^4 \ddot a = T, \qquad
   \tfrac14 \rho A L^4 \ddot\varphi + \tfrac15 \rho A L^5 \ddot a + 4 E I L\,a = 0,

and the tip is at :math:`y = L\sin\varphi + L^2 a \cos\varphi` (7.12).  All times scale
with :math:`L^2 / c`, :math:`c = \sqrt{EI / \rho A}`.  The printed (7.14) lacks a part
of the coefficient of :math:`\ddot\varphi`, which changes the rate of divergence from
:math:`\sqrt{80}` to 4; `causal_inverse` uses (7.11) and (7.13) themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.arrays import AnyArray as Array
from .farid_arm import assemble_beam

__all__ = [
    "Inverse",
    "SingleLink",
    "causal_inverse",
    "delay",
    "divergence_rate",
    "point_to_point",
    "step_response",
]


@dataclass(frozen=True)
class SingleLink:
    """Uniform beam on a driven hinge.

    Attributes
    ----------
    bending_stiffness : float
        EI, in N m^2.
    mass_per_length, length : float
        rho A in kg/m and L in m, by default those of section 7.2.
    """

    bending_stiffness: float
    mass_per_length: float = 5.0
    length: float = 1.0

    @property
    def wave_speed(self) -> float:
        """Flexural c = sqrt(EI / rho A), in m^2/s."""
        return float(np.sqrt(self.bending_stiffness / self.mass_per_length))

    @property
    def frequency(self) -> float:
        """Frequency of the one-shape model, sqrt(320) c / L^2, in rad/s."""
        return float(np.sqrt(320.0) * self.wave_speed / self.length**2)

    def matrices(self) -> tuple[Array, Array]:
        """Mass and stiffness matrix of (7.11) for (phi, a), (2, 2) each."""
        mu, L = self.mass_per_length, self.length
        M = mu * np.array([[L**3 / 3.0, L**4 / 4.0], [L**4 / 4.0, L**5 / 5.0]])
        return M, np.diag([0.0, 4.0 * self.bending_stiffness * L])


def step_response(link: SingleLink, torque: float, t: ArrayLike) -> Array:
    r"""Deflection of the tip, L phi + L^2 a, after a step of the torque.

    .. math:: y = \frac{3 T t^2}{2 \rho A L^2} - \frac{3 T L^2}{64 E I}
              (1 - \cos\omega t), \qquad \omega = \sqrt{320}\,c / L^2

    Parameters
    ----------
    link : SingleLink
        The link.
    torque : float
        T, in N m.
    t : (...) array_like of float
        Time, in s.

    Returns
    -------
    y : (...) ndarray of float
        In m, to first order in the angles; negative until c t / L^2 = 0.2255.

    Examples
    --------
    The tip of a link of EI = 400 N m^2 first goes back, in mm:

    >>> import numpy as np
    >>> from flexarm.reference import farid_link
    >>> link = farid_link.SingleLink(400.0)
    >>> (1e3 * farid_link.step_response(link, 10.0, [0.01, 0.02, 0.05])).round(3)
    array([-0.906, -1.142,  6.158])
    """
    t, mu, L = np.asarray(t), link.mass_per_length, link.length
    bend = 3.0 * torque * L**2 / (64.0 * link.bending_stiffness)
    swing = 1.5 * torque * t**2 / (mu * L**2)
    return np.asarray(swing - bend * (1.0 - np.cos(link.frequency * t)))


def delay(elements: int | None = None) -> float:
    r"""Time until the tip is back at its place before a step of the torque: c t / L^2.

    Parameters
    ----------
    elements : int, optional
        Of a beam of Hermite elements; by default the one-shape model, for which it is
        the root of :math:`32 s^2 = 1 - \cos(\sqrt{320}\,s)`.

    Returns
    -------
    s : float
        Last zero of the deflection, dimensionless; (7.17) prints 0.226.

    Examples
    --------
    The converged value differs from that of the thesis:

    >>> from flexarm.reference import farid_link
    >>> print(round(farid_link.delay(), 7), round(farid_link.delay(16), 4))
    0.2255154 0.2337
    """
    from scipy.linalg import eigh
    from scipy.optimize import brentq

    if elements is None:
        weight, square = np.array([-1.0]), np.array([320.0])
        rigid = 32.0
    else:
        M, K, _, _ = assemble_beam(1.0, 1.0, 1.0, elements)
        square, mode = eigh(K[1:, 1:], M[1:, 1:])  # without the base deflection
        weight = mode[0, 1:] * mode[-2, 1:] / square[1:]
        rigid, square = 0.5 * mode[0, 0] * mode[-2, 0], square[1:]
    omega = np.sqrt(square)

    def deflection(s: Array) -> Array:
        swing = weight * (1.0 - np.cos(omega * np.asarray(s)[..., np.newaxis]))
        return np.asarray(rigid * s**2 + swing.sum(axis=-1))

    s = np.linspace(0.0, 0.5, 20001)[1:]
    last = int(np.flatnonzero(deflection(s) < 0.0)[-1])
    return float(brentq(deflection, s[last], s[last + 1], xtol=1e-15))


def divergence_rate(elements: int | None = None) -> float:
    r"""Rate at which the causal inverse grows, in units of c / L^2.

    Parameters
    ----------
    elements : int, optional
        Of a beam of Hermite elements; by default the one-shape model, with
        :math:`\sqrt{80}`.

    Returns
    -------
    rate : float
        Least positive real zero of the transfer function from torque to tip, in units
        of c / L^2.  That of the exact beam is :math:`2 z^2` with
        :math:`\tan z = -\tanh z`: 11.187.

    Examples
    --------
    >>> from flexarm.reference import farid_link
    >>> print(round(farid_link.divergence_rate(), 3))
    8.944
    """
    from scipy.linalg import eigvals

    if elements is None:
        return float(np.sqrt(80.0))
    M, K, _, _ = assemble_beam(1.0, 1.0, 1.0, elements)
    M, K = M[1:, 1:], K[1:, 1:]
    # the tip does not move and the torque follows from that: no row of the base slope
    rows = np.arange(1, len(M))
    columns = np.delete(np.arange(len(M)), -2)
    squares = eigvals(-K[np.ix_(rows, columns)], M[np.ix_(rows, columns)])
    real = [x.real for x in squares if abs(x.imag) < 1e-6 and x.real > 1e-6]
    return float(np.sqrt(min(real)))


_NINTH = np.polynomial.Polynomial([0, 0, 0, 0, 0, 126, -420, 540, -315, 70])
_RISE = (_NINTH, _NINTH.deriv(), _NINTH.deriv(2))


def point_to_point(tau: ArrayLike) -> tuple[Array, Array, Array]:
    """Polynomial (7.15) from 0 to 1, and its first two derivatives.

    Parameters
    ----------
    tau : (...) array_like of float
        Time over the duration, 0 to 1.

    Returns
    -------
    s, ds, dds : (...) ndarray of float
        Dimensionless; four derivatives vanish at both ends.

    Examples
    --------
    >>> from flexarm.reference import farid_link
    >>> s, ds, dds = farid_link.point_to_point([0.0, 0.5, 1.0])
    >>> s, ds.round(4), dds.round(4)
    (array([0. , 0.5, 1. ]), array([0.    , 2.4609, 0.    ]), array([0., 0., 0.]))
    """
    s, ds, dds = (rise(np.asarray(tau)) for rise in _RISE)
    return s, ds, dds


class Inverse(NamedTuple):
    """Result of `causal_inverse`.

    Attributes
    ----------
    phi, rate, torque : (n,) ndarray
        Angle of the base in rad, its rate in rad/s, and the torque in N m.
    """

    phi: NDArray[np.float64]
    rate: NDArray[np.float64]
    torque: NDArray[np.float64]


def causal_inverse(
    link: SingleLink, reach: float, duration: float, t: ArrayLike, *, phi0: float = 0.0
) -> Inverse:
    """Torque for a tip that rises along (7.15), integrated forward in time: diverges.

    Parameters
    ----------
    link : SingleLink
        The link.
    reach, duration : float
        Rise of the tip, in m, and its duration, in s.
    t : (n,) array_like of float
        Times of the steps of the classical Runge-Kutta method, in s, from 0.
    phi0 : float
        Initial angle of the base, in rad; deviations grow.

    Returns
    -------
    inverse : Inverse
        At the times `t`; NaN once the base has turned by 90 degrees, where (7.13) ends.

    Examples
    --------
    The tip shall rise by 0.1 m in 1 s; the torque grows without bound, and the base
    turns over:

    >>> import numpy as np
    >>> from flexarm.reference import farid_link
    >>> link = farid_link.SingleLink(400.0)
    >>> t = np.linspace(0.0, 1.0, 201)
    >>> found = farid_link.causal_inverse(link, 0.1, 1.0, t, phi0=1e-6)
    >>> bool(np.isfinite(found.torque[20])), bool(np.isfinite(found.torque[-1]))
    (True, False)
    """
    times = np.asarray(t, dtype=np.float64)
    state = np.array([phi0, 0.0])
    result = np.full((len(times), 3), np.nan)
    for i, now in enumerate(times):
        if not abs(float(state[0])) < np.pi / 2.0:
            break
        rate, torque = _inverse_rate(link, reach, duration, now, state)
        result[i] = *state, torque
        if i + 1 == len(times):
            break
        h = times[i + 1] - now
        k1 = rate
        k2, _ = _inverse_rate(link, reach, duration, now + h / 2, state + h / 2 * k1)
        k3, _ = _inverse_rate(link, reach, duration, now + h / 2, state + h / 2 * k2)
        k4, _ = _inverse_rate(link, reach, duration, now + h, state + h * k3)
        state = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return Inverse(*result.T)


def _inverse_rate(
    link: SingleLink, reach: float, duration: float, t: float, state: Array
) -> tuple[Array, float]:
    """Rates of (phi, phi') by (7.11-b) with a(phi, y) of (7.13), and T by (7.11-a)."""
    L, (phi, rate) = link.length, state
    y, yd, ydd = (
        reach * float(x) / duration**i
        for i, x in enumerate(point_to_point(min(t / duration, 1.0)))
    )
    c, s = np.cos(phi), np.sin(phi)
    a = (y - L * s) / (L**2 * c)  # (7.13) and its derivatives
    a_phi = (y * s - L) / (L * c) ** 2
    a_y, a_mixed = 1.0 / (L**2 * c), s / (L * c) ** 2
    a_twice = (y * c**2 + 2.0 * (y * s - L) * s) / (L**2 * c**3)
    rest = a_twice * rate**2 + 2.0 * a_mixed * rate * yd + a_y * ydd
    M, K = link.matrices()
    phidd = -(M[1, 1] * rest + K[1, 1] * a) / (M[1, 0] + M[1, 1] * a_phi)
    torque = M[0, 0] * phidd + M[0, 1] * (a_phi * phidd + rest)
    return np.array([rate, phidd]), float(torque)
