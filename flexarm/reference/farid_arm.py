"""Data and constant matrices of the planar arm of Farid (1997), chapter 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.arrays import AnyArray as Array
from .._support.arrays import Index


@dataclass(frozen=True)
class Parameters:
    """Planar arm with flexible links and joints; the defaults are those of 4.4.

    Each entry is one number for all links or joints, or a tuple with one for each.
    Stiffness has no default: section 4.4 varies it, but its legends are lost.

    Attributes
    ----------
    bending_stiffness : float or tuple of float
        EI of the links, in N m^2.
    joint_stiffness : float or tuple of float
        Kj of the joint shafts, in N m/rad.
    n_links : int
        Number of links, and of joints.
    elements : int or tuple of int
        Beam elements of each link.
    length, mass_per_length : float or tuple of float
        L in m and rho A in kg/m.
    rotor_inertia, stator_inertia : float or tuple of float
        Ir and Is in kg m^2; the stator of joint k sits on the tip of link k-1.
    rotor_mass, stator_mass : float or tuple of float
        mr and ms in kg.
    gear_ratio : float or tuple of float
        Gamma, turns of the joint for one turn of the rotor.
    joint_damping : float or tuple of float
        b in N m s, on the speed of the rotor.
    payload_mass, payload_inertia : float
        At the tip of the last link, in kg and kg m^2.
    gravity : float
        In m/s^2, along -y; the thesis gives no value.
    """

    bending_stiffness: float | Sequence[float]
    joint_stiffness: float | Sequence[float]
    n_links: int = 3
    elements: int | Sequence[int] = 2
    length: float | Sequence[float] = 1.0
    mass_per_length: float | Sequence[float] = 5.0
    rotor_inertia: float | Sequence[float] = 0.2
    stator_inertia: float | Sequence[float] = 0.2
    rotor_mass: float | Sequence[float] = 0.2
    stator_mass: float | Sequence[float] = 0.2
    gear_ratio: float | Sequence[float] = 1.0
    joint_damping: float | Sequence[float] = 0.0
    payload_mass: float = 5.0
    payload_inertia: float = 0.0
    gravity: float = 9.81

    def each(self, name: str) -> NDArray[np.float64]:
        """One number for each link or joint.

        Parameters
        ----------
        name : str
            Name of an attribute.

        Returns
        -------
        values : (n_links,) ndarray
            In the unit of the attribute.

        Examples
        --------
        >>> from flexarm.reference import farid_planar
        >>> p = farid_planar.Parameters(400.0, 4000.0, length=(1.0, 1.0, 0.5))
        >>> p.each("length"), p.each("bending_stiffness")  # m, N m^2
        (array([1. , 1. , 0.5]), array([400., 400., 400.]))
        """
        value = np.asarray(getattr(self, name), dtype=np.float64)
        return np.broadcast_to(value, (self.n_links,))


@dataclass(frozen=True)
class Link:
    """Constant matrices of a link, pinned at both ends in its own chord frame.

    Attributes
    ----------
    mass, stiffness : (2 N, 2 N) ndarray
        Assembled from (4.22) and (4.33), without the two end deflections: in kg, kg m,
        kg m^2 and in N/m, N, N m by deflections and slopes.
    h1, h2 : (2 N,) ndarray
        Integrals of rho A N and of rho A x N, (4.35) and (4.41), in kg m, kg m^2.
    x, weight : (p,) ndarray
        Gauss points along the link in m and their masses in kg.
    shape, curvature : (p, 2 N) ndarray
        Deflection w in m and its second derivative in 1/m at these points, per
        coordinate.
    modulus : float
        EI / rho A, in m^4/s^2.
    """

    mass: NDArray[np.float64]
    stiffness: NDArray[np.float64]
    h1: NDArray[np.float64]
    h2: NDArray[np.float64]
    x: NDArray[np.float64]
    weight: NDArray[np.float64]
    shape: NDArray[np.float64]
    curvature: NDArray[np.float64]
    modulus: float


def element_matrices(rho: float, EI: float, h: float) -> tuple[Array, Array]:
    """Consistent mass (4.22) and stiffness (4.33) of one element, (4, 4) each.

    Coordinates are deflection and slope at its two ends.
    """
    mass = [
        [156.0, 22.0 * h, 54.0, -13.0 * h],
        [22.0 * h, 4.0 * h**2, 13.0 * h, -3.0 * h**2],
        [54.0, 13.0 * h, 156.0, -22.0 * h],
        [-13.0 * h, -3.0 * h**2, -22.0 * h, 4.0 * h**2],
    ]
    stiffness = [
        [12.0, 6.0 * h, -12.0, 6.0 * h],
        [6.0 * h, 4.0 * h**2, -6.0 * h, 2.0 * h**2],
        [-12.0, -6.0 * h, 12.0, -6.0 * h],
        [6.0 * h, 2.0 * h**2, -6.0 * h, 4.0 * h**2],
    ]
    return rho * h / 420.0 * np.array(mass), EI / h**3 * np.array(stiffness)


def shapes(s: ArrayLike, h: float) -> tuple[Array, Array]:
    """Hermite polynomials (4.4) and their second derivatives at s of [0, 1], (p, 4)."""
    s = np.asarray(s)
    N = [1 - 3 * s**2 + 2 * s**3, h * s * (1 - s) ** 2]
    N += [3 * s**2 - 2 * s**3, h * s * (s**2 - s)]
    curved = [(12 * s - 6) / h**2, (6 * s - 4) / h]
    curved += [(6 - 12 * s) / h**2, (6 * s - 2) / h]
    return np.stack(N, axis=-1), np.stack(curved, axis=-1)


def assemble_beam(
    length: float, rho: float, EI: float, elements: int
) -> tuple[Array, Array, Array, Array]:
    """Mass, stiffness, h1 and h2 of a free beam of equal elements, all 2 N + 2 rows."""
    h, size = length / elements, 2 * elements + 2
    M, K = np.zeros((2, size, size))
    h1, h2 = np.zeros((2, size))
    Me, Ke = element_matrices(rho, EI, h)
    first = rho * np.array([h / 2, h**2 / 12, h / 2, -(h**2) / 12])  # (4.35)
    inside = rho * np.array([3 * h**2 / 20, h**3 / 30, 7 * h**2 / 20, -(h**3) / 20])
    for e in range(elements):
        at = slice(2 * e, 2 * e + 4)
        M[at, at] += Me
        K[at, at] += Ke
        h1[at] += first
        h2[at] += e * h * first + inside  # (4.41)
    return M, K, h1, h2


def make_link(length: float, rho: float, EI: float, elements: int) -> Link:
    """Constant matrices of a link in its chord frame (section 4.3.2)."""
    M, K, h1, h2 = assemble_beam(length, rho, EI, elements)
    keep = np.setdiff1d(np.arange(len(h1)), [0, 2 * elements])
    point, weight = np.polynomial.legendre.leggauss(4)  # exact for w^2
    s, h = 0.5 + 0.5 * point, length / elements
    shape, curvature = np.zeros((2, 4 * elements, len(h1)))
    for e in range(elements):
        rows, at = slice(4 * e, 4 * e + 4), slice(2 * e, 2 * e + 4)
        shape[rows, at], curvature[rows, at] = shapes(s, h)
    return Link(
        mass=M[np.ix_(keep, keep)],
        stiffness=K[np.ix_(keep, keep)],
        h1=h1[keep],
        h2=h2[keep],
        x=np.concatenate([h * (e + s) for e in range(elements)]),
        weight=np.tile(0.5 * rho * h * weight, elements),
        shape=shape[:, keep],
        curvature=curvature[:, keep],
        modulus=EI / rho,
    )


@dataclass(frozen=True)
class Model:
    """The assembled arm: constants of (4.78).

    The equations are written in U = (q, Phi, v^1, ..., v^n).  Coordinates of rigid
    parts are taken out by ``U = basis z`` with a constant basis, so that z are the
    coordinates of all functions; without rigid parts z is U.

    Attributes
    ----------
    parameters : Parameters
        Data of the arm.
    links : tuple of Link
        Constant matrices of the links.
    elastic : tuple of slice
        Places of the v of each link in U.
    carried : (n,) ndarray
        Mass beyond the tip of each link, payload and actuators included, in kg.
    mass, stiffness : (u, u) ndarray
        Constant parts of MS and KS, in kg m^2 and N m for angles: beams, rotors,
        stators, payload, shafts.
    basis : (u, m) ndarray
        From the m coordinates z to all of U.
    printed : bool
        Leave out the term of (4.43) that the print lost.
    """

    parameters: Parameters
    links: tuple[Link, ...]
    elastic: tuple[slice, ...]
    carried: NDArray[np.float64]
    mass: NDArray[np.float64]
    stiffness: NDArray[np.float64]
    basis: NDArray[np.float64]
    printed: bool = False

    @property
    def n(self) -> int:
        """Number of links."""
        return self.parameters.n_links

    @property
    def size(self) -> int:
        """Number of coordinates z."""
        return int(self.basis.shape[1])

    @property
    def chord(self) -> Index:
        """Places of the chord angles Phi among the coordinates z, (n,)."""
        rows = self.basis[self.n : 2 * self.n]
        return np.asarray(np.argmax(rows, axis=1))


def assemble(
    parameters: Parameters,
    *,
    rigid_links: bool = False,
    rigid_joints: bool = False,
    printed: bool = False,
) -> Model:
    """Constants of the equations of motion (4.78).

    Parameters
    ----------
    parameters : Parameters
        Data of the arm.
    rigid_links : bool
        Take out the elastic coordinates v.
    rigid_joints : bool
        Take out the rotor angles q: without twist of its shaft,
        ``Gamma_k q_k = Phi_k + theta_1^k - Phi_(k-1) - theta_e^(k-1)``.
    printed : bool
        Leave out the term of (4.43) that the print lost.

    Returns
    -------
    model : Model
        Of 2 n + sum(2 N) coordinates if nothing is rigid.

    Examples
    --------
    Three links of two elements each, the 18 coordinates of section 4.4:

    >>> from flexarm.reference import farid_planar as farid
    >>> farid.assemble(farid.Parameters(1e4, 1e4)).size
    18
    """
    p, n = parameters, parameters.n_links
    counts = [int(e) for e in p.each("elements")]
    ends = 2 * n + np.cumsum([0, *(2 * e for e in counts)])
    elastic = tuple(slice(int(a), int(b)) for a, b in pairwise(ends))
    size = int(ends[-1])
    L, rho, EI = (
        p.each(name) for name in ("length", "mass_per_length", "bending_stiffness")
    )
    links = tuple(make_link(L[k], rho[k], EI[k], counts[k]) for k in range(n))
    M, K = np.zeros((2, size, size))
    for link, at in zip(links, elastic, strict=True):
        M[at, at] += link.mass
        K[at, at] += link.stiffness
    shafts = np.zeros((n, size))
    for k, (rotor, stator, shaft) in enumerate(_joint_rows(p, elastic, size)):
        # (4.56)-(4.60) and (4.61)-(4.72), each entry added
        M += p.each("rotor_inertia")[k] * np.outer(rotor, rotor)
        M += p.each("stator_inertia")[k] * np.outer(stator, stator)
        K += p.each("joint_stiffness")[k] * np.outer(shaft, shaft)
        shafts[k] = shaft
    payload = np.zeros(size)  # turns with the tip tangent of the last link (4.46)
    payload[2 * n - 1] = payload[elastic[-1].stop - 1] = 1.0
    M += p.payload_inertia * np.outer(payload, payload)

    actuators = p.each("rotor_mass") + p.each("stator_mass")
    hung = (actuators + rho * L)[1:]
    carried = p.payload_mass + np.append(np.cumsum(hung[::-1])[::-1], 0.0)
    basis = _basis(p, shafts, rigid_links, rigid_joints)
    return Model(p, links, elastic, carried, M, K, basis, printed)


def _joint_rows(
    p: Parameters, elastic: tuple[slice, ...], size: int
) -> list[tuple[Array, Array, Array]]:
    """Rotations of rotor and stator, and twist of the shaft, as rows over U."""
    rows = []
    for k in range(p.n_links):
        rotor, stator, shaft = np.zeros((3, size))
        rotor[k], shaft[k] = 1.0, -p.each("gear_ratio")[k]
        shaft[p.n_links + k] = shaft[elastic[k].start] = 1.0
        if k > 0:
            carrier = [p.n_links + k - 1, elastic[k - 1].stop - 1]
            rotor[carrier] = stator[carrier] = 1.0
            shaft[carrier] = -1.0
        rows.append((rotor, stator, shaft))
    return rows


def _basis(
    p: Parameters, shafts: Array, rigid_links: bool, rigid_joints: bool
) -> NDArray[np.float64]:
    """Matrix from the remaining coordinates to all of U."""
    n, size = shafts.shape
    basis = np.eye(size)
    if rigid_joints:
        basis[:n] = shafts / p.each("gear_ratio")[:, np.newaxis]
        basis[:n, :n] = 0.0
    keep = np.ones(size, dtype=bool)
    keep[:n] = not rigid_joints
    keep[2 * n :] = not rigid_links
    return basis[:, keep]
