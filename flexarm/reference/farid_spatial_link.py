"""Links of the spatial arm of Farid (1997), section 5.3: energies and matrices.

Coordinates and axes of a link are those of `farid_spatial`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import AnyArray as Array
from .farid_arm import assemble_beam, shapes


@dataclass(frozen=True)
class Parameters:
    """Spatial arm of equal links; the defaults are those of section 5.4.1.

    Attributes
    ----------
    bending_stiffness, torsional_stiffness : float
        E I_y = E I_z and GJ, in N m^2.
    joint_stiffness : float
        Of the base and of all other joints, in N m/rad.
    n_links, elements : int
        Number of links, and of elements of each.
    length, mass_per_length, polar_inertia : float
        L in m, rho A in kg/m, rho J in kg m.
    payload_mass : float
        In kg.
    payload_inertia : tuple of float
        About x, y and z of the last tip, in kg m^2.
    base_rotor_inertia : float
        In kg m^2.
    rotor_inertia, stator_inertia : tuple of float
        About x, y and z, in kg m^2.  Of stator 1, which the base carries, the first one
        counts, about the vertical (5.46).
    rotor_mass, stator_mass : float
        In kg.
    gear_ratio, gravity : float
        Turns of a joint for one of its rotor; in m/s^2 along -Z, not in the thesis.
    """

    bending_stiffness: float
    torsional_stiffness: float
    joint_stiffness: float
    n_links: int = 3
    elements: int = 2
    length: float = 1.0
    mass_per_length: float = 5.0
    polar_inertia: float = 0.05
    payload_mass: float = 2.0
    payload_inertia: tuple[float, float, float] = (0.2, 0.1, 0.1)
    base_rotor_inertia: float = 0.05
    rotor_inertia: tuple[float, float, float] = (0.1, 0.05, 0.05)
    stator_inertia: tuple[float, float, float] = (0.1, 0.05, 0.05)
    rotor_mass: float = 0.2
    stator_mass: float = 0.2
    gear_ratio: float = 1.0
    gravity: float = 9.81


@dataclass(frozen=True)
class Link:
    """Constant matrices of a clamped link, assembled from its elements.

    Attributes
    ----------
    mass, bending : (2 N, 2 N) ndarray
        Of one deflection, (5.83) and (5.87), in kg and N/m, with m for each slope.
    h1, h2 : (2 N,) ndarray
        Integrals of rho A N and rho A x N.
    polar, torsion : (N, N) ndarray
        Of the torsion, (5.86) and (5.91), in kg m^2 and N m.
    hp : (N,) ndarray
        Integrals of rho J NL (5.85).
    total, moment, second, roll : float
        Mass, first and second moment about the base, and rho J L.
    x, weight : (p,) ndarray
        Gauss points along the link and their weights, in m.
    shape, curvature : (p, 2 N) ndarray
        A deflection in m and its second derivative in 1/m there, per coordinate.
    twist, slope : (p, N) ndarray
        The torsion and its derivative in 1/m there, per coordinate.
    data : Parameters
        Of the arm.
    """

    mass: Array
    bending: Array
    h1: Array
    h2: Array
    polar: Array
    torsion: Array
    hp: Array
    total: float
    moment: float
    second: float
    roll: float
    x: Array
    weight: Array
    shape: Array
    curvature: Array
    twist: Array
    slope: Array
    data: Parameters

    @property
    def n(self) -> int:
        """Number of elements."""
        return len(self.hp)

    def split(self, x: ArrayLike) -> tuple[Array, ...]:
        """Parts of the coordinates of a link.

        Parameters
        ----------
        x : (6 + 5 N,) array_like
            Coordinates.

        Returns
        -------
        angles, v, w, roll, twist, R : (2,), (2 N,), (2 N,), (), (N,), (3,) ndarray
            (Phi_1, Phi_2), nodal values of both deflections, Theta_0, Theta, and R,
            in rad and m.

        Examples
        --------
        >>> import numpy as np
        >>> from flexarm.reference import farid_spatial
        >>> b = farid_spatial.link(farid_spatial.Parameters(400.0, 300.0, 4000.0))
        >>> [np.size(part) for part in b.split(np.zeros(16))]
        [2, 4, 4, 1, 2, 3]
        """
        ends = np.cumsum([2, 2 * self.n, 2 * self.n, 1, self.n])
        angles, v, w, roll, twist, R = np.split(np.asarray(x), ends)
        return angles, v, w, roll[0], twist, R


@lru_cache(maxsize=8)
def link(p: Parameters) -> Link:
    """Constant matrices of one link, base clamped (section 5.3.4.2).

    Parameters
    ----------
    p : Parameters
        Data of the arm.

    Returns
    -------
    b : Link
        Of any link of the arm: all are equal.

    Examples
    --------
    >>> from flexarm.reference import farid_spatial
    >>> b = farid_spatial.link(farid_spatial.Parameters(400.0, 300.0, 4000.0))
    >>> b.n, b.total, b.moment  # elements, kg, kg m
    (2, 5.0, 2.5)
    """
    # bending by the elements of the planar arm
    N, L, rho = p.elements, p.length, p.mass_per_length
    h = L / N
    M, K, h1, h2 = assemble_beam(L, rho, p.bending_stiffness, N)

    # torsion, and shapes at Gauss points, element by element
    polar, torsion = np.zeros((2, N + 1, N + 1))
    hp = np.zeros(N + 1)
    point, weight = np.polynomial.legendre.leggauss(4)
    s = 0.5 + 0.5 * point
    N4, curved = shapes(s, h)
    shape, curvature = np.zeros((2, 4 * N, 2 * N + 2))
    twist, slope = np.zeros((2, 4 * N, N + 1))
    for e in range(N):
        at = slice(2 * e, 2 * e + 4)
        pair = slice(e, e + 2)
        rows = slice(4 * e, 4 * e + 4)
        polar[pair, pair] += p.polar_inertia * h / 6.0 * np.array([[2.0, 1], [1, 2]])
        torsion[pair, pair] += (
            p.torsional_stiffness / h * np.array([[1.0, -1], [-1, 1]])
        )
        hp[pair] += p.polar_inertia * h / 2.0
        shape[rows, at], curvature[rows, at] = N4, curved
        twist[rows, pair] = np.stack([1.0 - s, s], axis=-1)
        slope[rows, pair] = np.array([-1.0, 1.0]) / h

    # without the coordinates of the clamped end
    return Link(
        mass=M[2:, 2:],
        bending=K[2:, 2:],
        h1=h1[2:],
        h2=h2[2:],
        polar=polar[1:, 1:],
        torsion=torsion[1:, 1:],
        hp=hp[1:],
        total=rho * L,
        moment=rho * L**2 / 2.0,
        second=rho * L**3 / 3.0,
        roll=p.polar_inertia * L,
        x=np.concatenate([h * (e + s) for e in range(N)]),
        weight=np.tile(0.5 * h * weight, N),
        shape=shape[:, 2:],
        curvature=curvature[:, 2:],
        twist=twist[:, 1:],
        slope=slope[:, 1:],
        data=p,
    )


def axes(angles: ArrayLike) -> Array:
    """Unit vectors i, j, k of (5.3)-(5.5) as rows, (3, 3)."""
    (c1, c2), (s1, s2) = np.cos(angles), np.sin(angles)
    return np.array(
        [[c2 * c1, c2 * s1, s2], [-s1, c1, 0 * c1], [-s2 * c1, -s2 * s1, c2]]
    )


def link_mass_matrix(b: Link, x: ArrayLike) -> Array:
    """Mass matrix of a link, (5.75)-(5.86), (5.100)-(5.122).

    Parameters
    ----------
    b : Link
        Constants of the link.
    x : (6 + 5 N,) array_like
        Coordinates.

    Returns
    -------
    M : (6 + 5 N, 6 + 5 N) ndarray
        Symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import farid_spatial
    >>> b = farid_spatial.link(farid_spatial.Parameters(400.0, 300.0, 4000.0))
    >>> M = farid_spatial.link_mass_matrix(b, np.zeros(16))
    >>> M[:2, :2].round(6)  # of azimuth and elevation, in kg m^2
    array([[1.666667, 0.      ],
           [0.      , 1.666667]])
    """
    angles, v, w, _, _, _ = b.split(x)
    (c1, c2), (s1, s2) = np.cos(angles), np.sin(angles)
    n = b.n
    V, W = slice(2, 2 + 2 * n), slice(2 + 2 * n, 2 + 4 * n)
    T0, T, R = 2 + 4 * n, slice(3 + 4 * n, 3 + 5 * n), slice(3 + 5 * n, None)
    size = 6 + 5 * n
    M = np.zeros((size, size), dtype=np.result_type(np.asarray(x), float))
    # upper triangle
    vv, ww = v @ b.mass @ v, w @ b.mass @ w
    M[0, 0] = c2**2 * b.second - 2.0 * s2 * c2 * (b.h2 @ w) + s2**2 * ww + vv
    M[0, 0] += s2**2 * b.roll  # missing in (5.76)
    M[0, 1] = s2 * (b.h2 @ v) + c2 * (v @ b.mass @ w)  # (5.77)
    M[1, 1] = b.second + ww  # (5.78)
    M[0, V] = c2 * b.h2 - s2 * (b.mass @ w)  # (5.79)
    M[0, W], M[1, W] = s2 * (b.mass @ v), b.h2  # (5.81), (5.82)
    M[0, T0], M[0, T] = s2 * b.roll, s2 * b.hp
    M[V, V] = M[W, W] = b.mass
    M[T0, T0], M[T0, T], M[T, T] = b.roll, b.hp, b.polar  # (5.84)-(5.86)
    # first moments along i, j, k, with the rates of the angles
    i, j, k = axes(angles)
    Sv, Sw = b.h1 @ v, b.h1 @ w
    M[0, R] = (b.moment * c2 - Sw * s2) * j + Sv * np.array([-c1, -s1, 0 * c1])
    M[1, R] = b.moment * k - Sw * i  # (5.107)-(5.112)
    M[V, R], M[W, R] = np.outer(b.h1, j), np.outer(b.h1, k)  # (5.118)-(5.122)
    M[R, R] = b.total * np.eye(3)  # (5.100)
    return np.asarray(np.triu(M) + np.triu(M, 1).T)


def link_stiffness(b: Link, x: ArrayLike, xd: ArrayLike) -> Array:
    """Stiffness of a link and its softening by velocities, (5.87)-(5.91).

    Parameters
    ----------
    b : Link
        Constants of the link.
    x, xd : (6 + 5 N,) array_like
        Coordinates and velocities.

    Returns
    -------
    K : (6 + 5 N, 6 + 5 N) ndarray
        Symmetric.

    Examples
    --------
    A deflection v in the horizontal plane softens when the azimuth turns at 20 rad/s:

    >>> import numpy as np
    >>> from flexarm.reference import farid_spatial
    >>> b = farid_spatial.link(farid_spatial.Parameters(400.0, 300.0, 4000.0))
    >>> rest, turning = np.zeros(16), np.zeros(16)
    >>> turning[0] = 20.0
    >>> K = [farid_spatial.link_stiffness(b, rest, xd) for xd in (rest, turning)]
    >>> bool(K[0][2, 2] > K[1][2, 2])
    True
    """
    angles, rates, n = b.split(x)[0], b.split(xd)[0], b.n
    V, W, T = (slice(2 + i * n, 2 + j * n) for i, j in ((0, 2), (2, 4), (4, 5)))
    T = slice(T.start + 1, T.stop + 1)
    K = np.zeros((6 + 5 * n, 6 + 5 * n), np.result_type(np.asarray(x), np.asarray(xd)))
    spin = np.sin(angles[1]) ** 2 * rates[0] ** 2 + rates[1] ** 2
    K[V, V] = b.bending - rates[0] ** 2 * b.mass
    K[W, W] = b.bending - spin * b.mass
    K[T, T] = b.torsion
    return K


def link_load(b: Link, x: ArrayLike, xd: ArrayLike) -> Array:
    """Load vector of a link: gravity and velocities, (5.92)-(5.116) corrected.

    Parameters
    ----------
    b : Link
        Constants of the link.
    x, xd : (6 + 5 N,) array_like
        Coordinates and velocities.

    Returns
    -------
    f : (6 + 5 N,) ndarray
        In N m and N: ``M xdd + K x = f`` for a link without other forces.

    Examples
    --------
    A level link of 5 kg and 1 m in gravity, in N m and N:

    >>> import numpy as np
    >>> from flexarm.reference import farid_spatial
    >>> b = farid_spatial.link(farid_spatial.Parameters(400.0, 300.0, 4000.0))
    >>> f = farid_spatial.link_load(b, np.zeros(16), np.zeros(16))
    >>> f[[1, -1]].round(6)  # on the elevation and on the origin
    array([-24.525, -49.05 ])
    """
    angles, v, w, _, _, _ = b.split(x)
    (d1, d2), vd, wd, roll, twist, _ = b.split(xd)
    (c1, c2), (s1, s2) = np.cos(angles), np.sin(angles)
    g, m = b.data.gravity, b.mass
    spin = b.roll * roll + b.hp @ twist  # of the sections, in the frame
    Sv, Sw, Svd, Swd = b.h1 @ v, b.h1 @ w, b.h1 @ vd, b.h1 @ wd
    xv, xw, xvd, xwd = b.h2 @ v, b.h2 @ w, b.h2 @ vd, b.h2 @ wd
    ww, vw, vvd, wwd, vwd, wvd = (
        p @ m @ q for p, q in ((w, w), (v, w), (v, vd), (w, wd), (v, wd), (w, vd))
    )
    turned = b.second * c2 * s2 + xw * (c2**2 - s2**2) - ww * s2 * c2
    f1 = -2.0 * d1 * d2 * turned + d2**2 * (xv * c2 - vw * s2)
    f1 += 2.0 * d1 * (vvd + s2**2 * wwd - c2 * s2 * xwd) + 2.0 * d2 * c2 * vwd
    f1 += 2.0 * s2 * c2 * d1 * d2 * b.roll + c2 * d2 * spin
    f2 = d1**2 * turned + 2.0 * d1 * (s2 * xvd + c2 * wvd) + 2.0 * d2 * wwd
    f2 -= c2 * d1 * (spin + s2 * d1 * b.roll)
    f2 += g * (b.moment * c2 - Sw * s2)
    fv = 2.0 * s2 * d1 * d2 * b.h2 + m @ (2.0 * s2 * d1 * wd + 2.0 * c2 * d1 * d2 * w)
    fw = -2.0 * s2 * d1 * (m @ vd) - d1**2 * c2 * s2 * b.h2 - g * c2 * b.h1
    # acceleration of the mass centre at constant rates, (5.113)-(5.116)
    i, _, k = axes(angles)
    level, across = np.array([c1, s1, 0.0 * c1]), np.array([-s1, c1, 0.0 * c1])
    a = d1**2 * ((Sw * s2 - b.moment * c2) * level - Sv * across)
    a = a - d2**2 * (b.moment * i + Sw * k)
    a = a + 2.0 * d1 * d2 * (-b.moment * s2 - Sw * c2) * across
    a = a - 2.0 * Svd * d1 * level - 2.0 * Swd * (d2 * i + s2 * d1 * across)
    fR = -a - np.array([0.0, 0.0, g]) * b.total
    ft = -c2 * d1 * d2
    return np.concatenate([[-f1, -f2], fv, fw, [ft * b.roll], ft * b.hp, fR])


def link_kinetic_energy(b: Link, x: ArrayLike, xd: ArrayLike) -> Any:
    """Kinetic energy (5.42) from points along the link, in J.

    Parameters
    ----------
    b : Link
        Constants of the link.
    x, xd : (6 + 5 N,) array_like
        Coordinates and velocities.

    Returns
    -------
    energy : scalar
        In J; independent of the mass matrices, so that it checks them.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import farid_spatial
    >>> b = farid_spatial.link(farid_spatial.Parameters(400.0, 300.0, 4000.0))
    >>> x, xd = np.full(16, 0.1), np.linspace(-1.0, 1.0, 16)
    >>> M = farid_spatial.link_mass_matrix(b, x)
    >>> bool(np.isclose(farid_spatial.link_kinetic_energy(b, x, xd), 0.5 * xd @ M @ xd))
    True
    """
    angles, v, w, _, _, _ = b.split(x)
    rates, vd, wd, roll, twist, Rd = b.split(xd)
    i, j, k = axes(angles)
    (c1, c2), (s1, s2) = np.cos(angles), np.sin(angles)
    level = np.array([c1, s1, 0.0 * c1])
    di, dj = c2 * rates[0] * j + rates[1] * k, -rates[0] * level
    dk = -s2 * rates[0] * j - rates[1] * i
    v, w, vd, wd = (b.shape @ y for y in (v, w, vd, wd))
    velocity = Rd + np.outer(b.x, di) + np.outer(v, dj) + np.outer(w, dk)
    velocity = velocity + np.outer(vd, j) + np.outer(wd, k)  # of (5.2)
    spin = roll + b.twist @ twist + rates[0] * s2
    p = b.data
    twice = p.mass_per_length * (b.weight @ np.sum(velocity**2, axis=-1))
    return 0.5 * (twice + p.polar_inertia * (b.weight @ spin**2))


def link_potential_energy(b: Link, x: ArrayLike) -> Any:
    """Potential energy (5.43) from points along the link, in J.

    Parameters
    ----------
    b : Link
        Constants of the link.
    x : (6 + 5 N,) array_like
        Coordinates.

    Returns
    -------
    energy : scalar
        Of gravity, bending and torsion; zero for a straight level link at R = 0.

    Examples
    --------
    An upright link of 5 kg and 1 m:

    >>> import numpy as np
    >>> from flexarm.reference import farid_spatial
    >>> b = farid_spatial.link(farid_spatial.Parameters(400.0, 300.0, 4000.0))
    >>> x = np.zeros(16)
    >>> x[1] = np.pi / 2
    >>> float(farid_spatial.link_potential_energy(b, x).round(6))  # 5 g / 2
    24.525
    """
    angles, v, w, _, twist, R = b.split(x)
    _, _, k = axes(angles)
    p = b.data
    height = R[2] + b.x * np.sin(angles[1]) + (b.shape @ w) * k[2]
    bend = (b.curvature @ v) ** 2 + (b.curvature @ w) ** 2
    energy = p.mass_per_length * p.gravity * (b.weight @ height)
    energy = energy + 0.5 * p.bending_stiffness * (b.weight @ bend)
    return energy + 0.5 * p.torsional_stiffness * (b.weight @ (b.slope @ twist) ** 2)
