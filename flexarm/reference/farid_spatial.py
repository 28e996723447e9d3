r"""Spatial arm with flexible links and joints in tangent frames, after Farid (1997).

M. Farid, PhD thesis, University of Calgary, 1997, chapter 5.  A base actuator turns the
arm about the vertical Z, further ones turn links about the y axes of the tips before
them.  The frame of a link is tangent to it at its base and its y axis stays level, so
that azimuth :math:`\Phi_1` and elevation :math:`\Phi_2` give its axes (5.3)-(5.5),

.. math:: i = (c_2 c_1, c_2 s_1, s_2), \quad j = (-s_1, c_1, 0), \quad
   k = (-s_2 c_1, -s_2 s_1, c_2),

and the roll :math:`\Theta_0` of its base is a coordinate apart.  Coordinates of a link
are ``x = (Phi_1, Phi_2, v, w, Theta_0, Theta, R)`` with 2 N nodal values of each
deflection, N of torsion, and the origin R.  Numbers in parentheses are the thesis'.

**Links.** `link_mass_matrix`, `link_stiffness` and `link_load` are (5.75)-(5.122) as
they follow from the energies (5.42) and (5.43); eight of them are misprinted.

**Joints.** The thesis ties the links by ten constraints a joint (5.135)-(5.144),
`constraints`, and multipliers.  Two of the ten follow from the others: (5.141) is
implied by (5.138), (5.139), and (5.144) by (5.142), (5.143).  The Jacobian of a joint
has rank 8 for undeformed links, two singular values of the size of the elastic
rotations elsewhere, and loses two ranks more at :math:`\Phi_1 = 0`, where the square of
a cosine is stationary.  Three links of two elements have 54 coordinates and 54 - 16 =
38 degrees of freedom, not 54 - 20.  Hence no solver for them is here; `links` returns
the coordinates of all links as functions of 38 independent ones, and `mass_matrix`
follows by that velocity transformation.

**Roll.**  The printed relations of a joint are wrong to first order in torsion and in
the slope out of the vertical plane: the axis of the joint turns with the torsion of the
link that carries it but not with the roll of that link's base (5.33), and the roll of
the next base (5.140) lacks the part of the change of azimuth.  `links` turns the axis
by both and takes for the roll the angle from the level to that axis, which is right to
first order; ``printed=True`` keeps the thesis' relations.

All functions take complex numbers and one state at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import AnyArray as Array
from .duals import COMPLEX_STEP
from .farid_spatial_link import (
    Link,
    Parameters,
    axes,
    link,
    link_kinetic_energy,
    link_load,
    link_mass_matrix,
    link_potential_energy,
    link_stiffness,
)

__all__ = [
    "Link",
    "Parameters",
    "constraints",
    "independent",
    "joint_rows",
    "link",
    "link_kinetic_energy",
    "link_load",
    "link_mass_matrix",
    "link_potential_energy",
    "link_stiffness",
    "links",
    "mass_matrix",
    "potential_energy",
    "tip_position",
]


def _tip_axes(b: Link, x: Array, *, roll: bool) -> Array:
    """Axes i', j', k' of the tip section, (5.32) and (5.33), as rows."""
    angles, v, w, base, twist, _ = b.split(x)
    i, j, k = axes(angles)
    turn = twist[-1] + base if roll else twist[-1]
    return np.array(
        [i + v[-1] * j + w[-1] * k, j - v[-1] * i + turn * k, k - w[-1] * i - turn * j]
    )


def _direction(e: Array) -> Array:
    """Azimuth and elevation of a vector (5.8), (5.9)."""
    # arctan2 takes no complex numbers; the half-angle form has its only branch at pi
    level = np.sqrt(e[0] ** 2 + e[1] ** 2)
    return np.array([2.0 * np.arctan(e[1] / (level + e[0])), np.arctan(e[2] / level)])


def links(p: Parameters, y: ArrayLike, *, printed: bool = False) -> list[Array]:
    """Coordinates x of all links from independent ones: the constraints solved.

    Parameters
    ----------
    p : Parameters
        Data of the arm.
    y : (2 n + 2 + 5 N n,) array_like
        Azimuth Phi_1 of the first link, angles gamma of the n joints (the first one is
        the elevation of link 1), rotor angles of base and joints, then v, w, Theta of
        each link: 38 numbers for three links of two elements.
    printed : bool
        Keep the roll of the thesis, see the module.

    Returns
    -------
    x : list of (6 + 5 N,) ndarray
        For `link_mass_matrix` and the others.

    Examples
    --------
    Origins of three straight links in the plane of azimuth zero, in m:

    >>> import numpy as np
    >>> from flexarm.reference import farid_spatial
    >>> p = farid_spatial.Parameters(400.0, 300.0, 4000.0)
    >>> y = np.zeros(farid_spatial.independent(p))
    >>> y[1] = y[5] = np.pi / 2  # elevation of link 1, and its rotor with it
    >>> np.array([x[-3:] for x in farid_spatial.links(p, y)]).round(9) + 0.0
    array([[0., 0., 0.],
           [0., 0., 1.],
           [0., 0., 2.]])
    """
    return [x for x, _ in _chain(p, y, printed)]


def independent(p: Parameters) -> int:
    """Count the degrees of freedom.

    Parameters
    ----------
    p : Parameters
        Data of the arm.

    Returns
    -------
    count : int
        Number of entries of y of `links`.

    Examples
    --------
    >>> from flexarm.reference import farid_spatial
    >>> farid_spatial.independent(farid_spatial.Parameters(400.0, 300.0, 4000.0))
    38
    """
    return 2 * p.n_links + 2 + 5 * p.elements * p.n_links


def _chain(p: Parameters, y: ArrayLike, printed: bool) -> list[tuple[Array, Array]]:
    """Coordinates x of each link, and of its rotor: Psi_1, Psi_2 and its roll."""
    b, y, n, N = link(p), np.asarray(y), p.n_links, p.elements
    joints, rotors = y[: n + 1], y[n + 1 : 2 * n + 2]
    elastic = y[2 * n + 2 :].reshape(n, 5 * N)
    zero = np.zeros_like(y[:1])
    result: list[tuple[Array, Array]] = []
    angles, roll, R = joints[:2], zero, np.zeros_like(y[:3])
    rotor = np.array([joints[0], p.gear_ratio * rotors[1], 0.0 * y[0]])
    for k in range(n):
        u = elastic[k]
        x = np.concatenate([angles, u[: 4 * N], roll, u[4 * N :], R])
        result.append((x, rotor))
        if k + 1 == n:
            break
        tip = _tip_axes(b, x, roll=not printed)
        along, across = joints[k + 2], p.gear_ratio * rotors[k + 2]
        angles = _direction(np.cos(along) * tip[0] + np.sin(along) * tip[2])
        driven = _direction(np.cos(across) * tip[0] + np.sin(across) * tip[2])
        i, j, kk = axes(x[:2])
        R = x[-3:] + p.length * i + u[2 * N - 2] * j + u[4 * N - 2] * kk
        if printed:  # (5.140), and the rotor rolls as the link does (5.48)
            roll = (roll + u[-1]) * (i @ axes(angles)[0])
            rotor = np.concatenate([driven, roll])
            continue
        size = np.sqrt(tip[1] @ tip[1])
        roll = np.arcsin(tip[1:2] @ axes(angles)[2] / size)
        rotor = np.append(driven, np.arcsin(tip[1] @ axes(driven)[2] / size))
    return result


def joint_rows(p: Parameters, y: Array, yd: Array, *, printed: bool = False) -> Array:
    """Velocities of actuators and payload along their inertias, (5.44)-(5.48), (5.130).

    Parameters
    ----------
    p : Parameters
        Data of the arm.
    y, yd : (m,) ndarray of float
        Independent coordinates, see `links`, and their rates.
    printed : bool
        As of `links`.

    Returns
    -------
    rows : (r, 2) ndarray
        Inertia or mass in kg m^2 or kg, and its velocity: half the sum of inertia times
        velocity squared is the kinetic energy.

    Examples
    --------
    The azimuth turns with 1 rad/s: energy of actuators and payload alone, in J.

    >>> import numpy as np
    >>> from flexarm.reference import farid_spatial
    >>> p = farid_spatial.Parameters(400.0, 300.0, 4000.0)
    >>> y = np.zeros(farid_spatial.independent(p))
    >>> inertia, velocity = farid_spatial.joint_rows(p, y, np.eye(len(y))[0]).T
    >>> float((0.5 * inertia @ velocity**2).round(6))
    10.225
    """
    moved = _chain(p, y + 1j * COMPLEX_STEP * yd, printed)
    n, N = p.n_links, p.elements
    mass = p.rotor_mass + p.stator_mass
    rows = [(p.base_rotor_inertia, yd[n + 1])]
    rows.append((p.stator_inertia[0], yd[0]))
    for k, (x, rotor) in enumerate(moved):
        psi, psid = rotor.real, rotor.imag / COMPLEX_STEP
        spin = (psid[0] * np.sin(psi[1]) + psid[2], psid[1], psid[0] * np.cos(psi[1]))
        rows += zip(p.rotor_inertia, spin, strict=True)
        rows += [(mass, r) for r in x[-3:].imag / COMPLEX_STEP] if k else []
        at, rate = x.real, x.imag / COMPLEX_STEP
        u = rate[2:]
        # tip section: roll, pitch and yaw rates
        turn = rate[0] * np.sin(at[1]) + u[4 * N] + u[5 * N]
        tip = (turn, rate[1] + u[4 * N - 1], rate[0] * np.cos(at[1]) + u[2 * N - 1])
        inertia = p.payload_inertia if k + 1 == n else p.stator_inertia
        rows += zip(inertia, tip, strict=True)
    end = _tip(p, moved[-1][0])
    rows += [(p.payload_mass, r) for r in end.imag / COMPLEX_STEP]
    return np.array(rows, dtype=np.float64)


def _tip(p: Parameters, x: Array) -> Array:
    i, j, k = axes(x[:2])
    N = p.elements
    return np.asarray(x[-3:] + p.length * i + x[2 * N] * j + x[4 * N] * k)


def tip_position(p: Parameters, y: ArrayLike, *, printed: bool = False) -> Array:
    """Position of the payload.

    Parameters
    ----------
    p : Parameters
        Data of the arm.
    y : (m,) array_like
        Independent coordinates, see `links`.
    printed : bool
        As of `links`.

    Returns
    -------
    tip : (3,) ndarray
        In m.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import farid_spatial
    >>> p = farid_spatial.Parameters(400.0, 300.0, 4000.0)
    >>> y = np.zeros(farid_spatial.independent(p))
    >>> y[:2] = y[4:6] = [np.pi / 2, np.pi / 6]  # azimuth, elevation, and their rotors
    >>> farid_spatial.tip_position(p, y).round(6)
    array([0.      , 2.598076, 1.5     ])
    """
    return _tip(p, links(p, y, printed=printed)[-1])


def mass_matrix(p: Parameters, y: ArrayLike, *, printed: bool = False) -> Array:
    """Mass matrix of the whole arm in independent coordinates.

    Parameters
    ----------
    p : Parameters
        Data of the arm.
    y : (m,) array_like of float
        Independent coordinates, see `links`.
    printed : bool
        As of `links`.

    Returns
    -------
    M : (m, m) ndarray
        Sum of J' M_k J over links, actuators and payload.

    Examples
    --------
    Inertia of one level link about the vertical, actuators and payload included:

    >>> import numpy as np
    >>> from flexarm.reference import farid_spatial
    >>> p = farid_spatial.Parameters(400.0, 300.0, 4000.0, n_links=1, elements=1)
    >>> y = np.zeros(farid_spatial.independent(p))
    >>> print(farid_spatial.mass_matrix(p, y)[0, 0].round(6))  # in kg m^2
    3.916667
    """
    y = np.asarray(y, dtype=np.float64)
    b, unit = link(p), np.eye(len(y))
    moved = [links(p, y + 1j * COMPLEX_STEP * e, printed=printed) for e in unit]
    M = np.zeros((len(y), len(y)))
    for k, x in enumerate(links(p, y, printed=printed)):
        J = np.stack([m[k].imag for m in moved], axis=-1) / COMPLEX_STEP
        M += J.T @ link_mass_matrix(b, x) @ J
    rows = np.stack([joint_rows(p, y, e, printed=printed) for e in unit], axis=-1)
    inertia, J = rows[:, 0, 0], rows[:, 1]
    return np.asarray(M + J.T @ (inertia[:, np.newaxis] * J))


def potential_energy(p: Parameters, y: ArrayLike, *, printed: bool = False) -> Any:
    """Potential energy of the whole arm, in J: links, shafts, actuators, payload.

    Parameters
    ----------
    p : Parameters
        Data of the arm.
    y : (m,) array_like
        Independent coordinates, see `links`.
    printed : bool
        As of `links`.

    Returns
    -------
    energy : scalar
        (5.49), of the actuators after the first, is lost in the scan; it is taken as
        (4.55).

    Examples
    --------
    A twist of 0.01 rad of the shaft of the base alone, in J:

    >>> import numpy as np
    >>> from flexarm.reference import farid_spatial
    >>> p = farid_spatial.Parameters(400.0, 300.0, 4000.0, gravity=0.0)
    >>> y = np.zeros(farid_spatial.independent(p))
    >>> y[0] = 0.01
    >>> float(farid_spatial.potential_energy(p, y).round(6))
    0.2
    """
    y, n, b = np.asarray(y), p.n_links, link(p)
    twist = y[: n + 1] - p.gear_ratio * y[n + 1 : 2 * n + 2]
    energy = 0.5 * p.joint_stiffness * np.sum(twist**2)
    chain = links(p, y, printed=printed)
    weight = p.gravity * (p.rotor_mass + p.stator_mass)
    for x in chain:
        energy = energy + link_potential_energy(b, x) + weight * x[-1]
    return energy + p.payload_mass * p.gravity * _tip(p, chain[-1])[2]


def constraints(p: Parameters, s: ArrayLike) -> Array:
    """The ten constraints a joint of the thesis, (5.135)-(5.144).

    Parameters
    ----------
    p : Parameters
        Data of the arm.
    s : (10 n - 6 + 5 N n,) array_like
        Redundant coordinates in rad and m: q_b, q_1, Phi_1, Phi_2, v, w, Theta of link
        1, then Phi_1, Phi_2, Psi_1, Psi_2, Theta_0, q, R, gamma, v, w, Theta of each
        other.

    Returns
    -------
    C : (10 (n - 1),) ndarray
        Zero for links that are connected.

    Examples
    --------
    Two stretched links, the second with its origin at x = 1 m, and 1 mm off:

    >>> import numpy as np
    >>> from flexarm.reference import farid_spatial
    >>> p = farid_spatial.Parameters(400.0, 300.0, 4000.0, n_links=2, elements=1)
    >>> s = np.zeros((2, 24))
    >>> s[:, 15] = 1.0, 1.001
    >>> fits, gapes = (farid_spatial.constraints(p, each) for each in s)
    >>> bool(abs(fits).max() < 1e-12), gapes[:3].round(9)  # in m
    (True, array([0.001, 0.   , 0.   ]))
    """
    s, N = np.asarray(s), p.elements
    b = link(p)
    zero = np.zeros_like(s[:1])
    x = np.concatenate(
        [s[2:4], s[4 : 4 + 4 * N], zero, s[4 + 4 * N : 4 + 5 * N], zero, zero, zero]
    )
    rows = []
    for k in range(1, p.n_links):
        at = 4 + 5 * N + (k - 1) * (10 + 5 * N)
        phi, psi, roll = s[at : at + 2], s[at + 2 : at + 4], s[at + 4]
        q, R, gamma = s[at + 5], s[at + 6 : at + 9], s[at + 9]
        tip, base, turn = _tip_axes(b, x, roll=False), axes(x[:2]), x[2 + 4 * N]
        rows += list(R - _tip(p, x))
        for angles, joint in ((phi, gamma), (psi, p.gear_ratio * q)):
            e = np.cos(joint) * tip[0] + np.sin(joint) * tip[2]
            rows.append(np.sin(angles[1]) - e[2])
            rows.append((e[0] ** 2 + e[1] ** 2) * np.cos(angles[0]) ** 2 - e[0] ** 2)
            if joint is gamma:
                along = base[0] @ axes(phi)[0]
                rows.append((turn + x[2 + 5 * N]) * along - roll)
            rows.append(np.cos(joint) - tip[0] @ axes(angles)[0])
        u = s[at + 10 : at + 10 + 5 * N]
        x = np.concatenate([phi, u[: 4 * N], [roll], u[4 * N :], R])
    return np.array(rows)
