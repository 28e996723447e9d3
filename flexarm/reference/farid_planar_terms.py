"""Matrices, forces and energies of the planar arm of Farid (1997), chapter 4.

Coordinates and errors of the print are those of `farid_planar`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.arrays import AnyArray as Array
from .farid_arm import Model


def whole(model: Model, z: ArrayLike) -> Array:
    """U of the coordinates z, (..., 2 n + sum(2 N))."""
    return np.asarray(np.asarray(z) @ model.basis.T)


def mass_matrix(model: Model, z: ArrayLike) -> Array:
    """Mass matrix MS of (4.78).

    Parameters
    ----------
    model : Model
        Constants of the arm.
    z : (..., m) array_like
        Coordinates.

    Returns
    -------
    M : (..., m, m) ndarray
        Symmetric; positive definite if all rotors have inertia.

    Examples
    --------
    Two rigid links of 5 kg and 1 m with actuators and a payload of 5 kg, stretched; the
    angles of both count from the horizontal:

    >>> import numpy as np
    >>> from flexarm.reference import farid_planar
    >>> p = farid_planar.Parameters(400.0, 4000.0, n_links=2)
    >>> rigid = farid_planar.assemble(p, rigid_links=True, rigid_joints=True)
    >>> farid_planar.mass_matrix(rigid, np.zeros(2)).round(6)  # kg m^2
    array([[12.466667,  7.5     ],
           [ 7.5     ,  6.866667]])
    """
    U, n = whole(model, z), model.n
    phi, L = U[..., n : 2 * n], model.parameters.each("length")
    M = np.zeros((*U.shape[:-1], U.shape[-1], U.shape[-1]), U.dtype) + model.mass
    M[..., n : 2 * n, n : 2 * n] += _hung_mass(model) * np.cos(_differences(phi))
    for k, link in enumerate(model.links):
        at, row = model.elastic[k], n + k
        v, mass, moment = U[..., at], link.weight.sum(), link.weight @ link.x
        angle = phi[..., k, np.newaxis] - phi[..., :k]
        S = (v @ link.h1)[..., np.newaxis]
        column = L[:k] * (moment * np.cos(angle) - S * np.sin(angle))  # (4.37)
        M[..., n:row, row] += column
        M[..., row, n:row] += column
        second = mass * L[k] ** 2 / 3.0
        M[..., row, row] += second + np.einsum("...i,ij,...j", v, link.mass, v)  # 4.38
        block = (L[:k] * np.cos(angle))[..., np.newaxis] * link.h1  # (4.39)
        M[..., n:row, at] += block
        M[..., at, n:row] += np.swapaxes(block, -1, -2)
        M[..., row, at] += link.h2  # (4.40)
        M[..., at, row] += link.h2
    return np.asarray(model.basis.T @ M @ model.basis)


def _differences(phi: Array) -> Array:
    """Phi_l - Phi_j, (..., n, n)."""
    return phi[..., :, np.newaxis] - phi[..., np.newaxis, :]


def _hung_mass(model: Model) -> NDArray[np.float64]:
    """Masses on the tips, times L_l L_j: (4.36), (4.48) and (4.73), (n, n)."""
    L, index = model.parameters.each("length"), np.arange(model.n)
    return np.outer(L, L) * model.carried[np.maximum.outer(index, index)]


def stiffness_matrix(model: Model, zd: ArrayLike) -> Array:
    """Stiffness KS of (4.78): beams, shafts, and the softening of (4.34).

    Parameters
    ----------
    model : Model
        Constants of the arm.
    zd : (..., m) array_like
        Velocities, in rad/s and m/s.

    Returns
    -------
    K : (..., m, m) ndarray
        Symmetric; indefinite for chords that turn faster than their links swing.

    Examples
    --------
    A link that turns at 20 rad/s is softer than one at rest:

    >>> import numpy as np
    >>> from flexarm.reference import farid_planar
    >>> p = farid_planar.Parameters(400.0, 4000.0, n_links=1)
    >>> model = farid_planar.assemble(p, rigid_joints=True)
    >>> zd = np.zeros((2, model.size))
    >>> zd[1, model.chord] = 20.0
    >>> K = farid_planar.stiffness_matrix(model, zd)
    >>> K[:, 1, 1].round(3)  # of the slope at the base, in N m/rad
    array([3200.   , 3197.619])
    """
    Ud = whole(model, zd)
    K = np.zeros((*Ud.shape, Ud.shape[-1]), Ud.dtype) + model.stiffness
    for k, (link, at) in enumerate(zip(model.links, model.elastic, strict=True)):
        rate = Ud[..., model.n + k, np.newaxis, np.newaxis]
        K[..., at, at] -= rate**2 * link.mass
    return np.asarray(model.basis.T @ K @ model.basis)


def load_vector(model: Model, z: ArrayLike, zd: ArrayLike) -> Array:
    """Load vector fS of (4.78): forces of gravity and of velocities.

    Parameters
    ----------
    model : Model
        Constants of the arm.
    z, zd : (..., m) array_like
        Coordinates and velocities.

    Returns
    -------
    f : (..., m) ndarray
        In N m for angles; the softening is in `stiffness_matrix`.

    Examples
    --------
    A level link of 5 kg and 1 m with a payload of 5 kg falls with 7.5 kg m of g:

    >>> import numpy as np
    >>> from flexarm.reference import farid_planar
    >>> p = farid_planar.Parameters(400.0, 4000.0, n_links=1)
    >>> rigid = farid_planar.assemble(p, rigid_links=True, rigid_joints=True)
    >>> farid_planar.load_vector(rigid, [0.0], [0.0]).round(6)  # N m
    array([-73.575])
    """
    U, Ud = np.broadcast_arrays(whole(model, z), whole(model, zd))
    n, g, L = model.n, model.parameters.gravity, model.parameters.each("length")
    phi, rate = U[..., n : 2 * n], Ud[..., n : 2 * n]
    f = np.zeros(U.shape, np.result_type(U, Ud))
    # masses on the tips, (4.42), (4.51) and (4.74)
    turned = _hung_mass(model) * np.sin(_differences(phi))
    f[..., n : 2 * n] -= np.einsum("...lj,...j", turned, rate**2)
    f[..., n : 2 * n] -= g * L * model.carried * np.cos(phi)
    for k, link in enumerate(model.links):
        at, row = model.elastic[k], n + k
        v, vd, moment = U[..., at], Ud[..., at], link.weight @ link.x
        spin, cosine = rate[..., k], np.cos(phi[..., k])
        S, Sd = v @ link.h1, vd @ link.h1
        angle = phi[..., k, np.newaxis] - phi[..., :k]
        c, s = np.cos(angle), np.sin(angle)
        across = moment * spin**2 + 2.0 * spin * Sd
        along = spin**2 * S
        f[..., n:row] += L[:k] * (across[..., None] * s + along[..., None] * c)  # 4.42
        pull = np.sum(L[:k] * rate[..., :k] ** 2 * s, axis=-1)  # -s3 + spin s4
        lift = np.sum(L[:k] * rate[..., :k] ** 2 * c, axis=-1)
        if model.printed:
            lift = 0.0 * lift
        f[..., row] -= moment * (pull + g * cosine)  # (4.43)
        f[..., row] -= S * (lift - g * np.sin(phi[..., k]))
        f[..., row] -= 2.0 * spin * np.einsum("...i,ij,...j", v, link.mass, vd)
        f[..., at] -= (pull + g * cosine)[..., np.newaxis] * link.h1  # (4.32)
    return f @ model.basis


def forces(model: Model, z: Array, zd: Array, torque: ArrayLike) -> Array:
    """All forces but MS zdd: fS + Q - KS z, with Q of (4.76)."""
    torque = np.asarray(torque)
    rotor, damping = model.basis[: model.n], model.parameters.each("joint_damping")
    Q = (torque - damping * (zd @ rotor.T)) @ rotor
    elastic = np.einsum("...ij,...j", stiffness_matrix(model, zd), z)
    return np.asarray(load_vector(model, z, zd) + Q - elastic)


def kinetic_energy(model: Model, z: ArrayLike, zd: ArrayLike) -> Array:
    """Kinetic energy (4.6) from the velocities (4.2) of points along the links.

    Parameters
    ----------
    model : Model
        Constants of the arm.
    z, zd : (..., m) array_like
        Coordinates and velocities.

    Returns
    -------
    energy : (...) ndarray
        In J; independent of the mass matrices, so that it checks them.

    Examples
    --------
    The energy of the mass matrix, from points along the links:

    >>> import numpy as np
    >>> from flexarm.reference import farid_planar
    >>> model = farid_planar.assemble(farid_planar.Parameters(400.0, 4000.0, n_links=2))
    >>> z, zd = np.full(model.size, 0.1), np.linspace(-1.0, 1.0, model.size)
    >>> M = farid_planar.mass_matrix(model, z)
    >>> bool(np.isclose(farid_planar.kinetic_energy(model, z, zd), 0.5 * zd @ M @ zd))
    True
    """
    p, n = model.parameters, model.n
    U, Ud = np.broadcast_arrays(whole(model, z), whole(model, zd))
    phi, rate = U[..., n : 2 * n], Ud[..., n : 2 * n]
    along, across = chord_axes(phi)
    tip = np.zeros((*phi.shape[:-1], 2), across.dtype)  # velocity of the joint
    twice, carrier, spin = 0.0, np.zeros(phi.shape[:-1]), Ud[..., :n]
    for k, (link, at) in enumerate(zip(model.links, model.elastic, strict=True)):
        inertia, mass = p.each("rotor_inertia")[k], p.each("rotor_mass")[k]
        twice = twice + inertia * (spin[..., k] + carrier) ** 2  # (4.52), (4.54)
        twice = twice + p.each("stator_inertia")[k] * carrier**2
        mass = mass + p.each("stator_mass")[k]
        twice = twice + mass * np.sum(tip**2, axis=-1)
        w, wd = U[..., at] @ link.shape.T, Ud[..., at] @ link.shape.T
        turn = rate[..., k, np.newaxis]
        velocity = (link.x * turn + wd)[..., np.newaxis] * across[..., k, np.newaxis, :]
        velocity = velocity - (w * turn)[..., np.newaxis] * along[..., k, np.newaxis, :]
        velocity = velocity + tip[..., np.newaxis, :]  # (4.2)
        twice = twice + np.sum(velocity**2, axis=-1) @ link.weight  # (4.8)
        tip = tip + p.each("length")[k] * turn * across[..., k, :]
        carrier = rate[..., k] + Ud[..., at.stop - 1]
    twice = twice + p.payload_mass * np.sum(tip**2, axis=-1)  # (4.46)
    return np.asarray(0.5 * (twice + p.payload_inertia * carrier**2))


def potential_energy(model: Model, z: ArrayLike) -> Array:
    """Gravity and strain energy (4.7) from points along the links.

    Parameters
    ----------
    model : Model
        Constants of the arm.
    z : (..., m) array_like
        Coordinates.

    Returns
    -------
    energy : (...) ndarray
        In J; zero for a straight level arm.

    Examples
    --------
    A link of 5 kg and 1 m upright, with a payload of 5 kg, in J: 7.5 kg m of g:

    >>> import numpy as np
    >>> from flexarm.reference import farid_planar
    >>> p = farid_planar.Parameters(400.0, 4000.0, n_links=1)
    >>> rigid = farid_planar.assemble(p, rigid_links=True, rigid_joints=True)
    >>> float(farid_planar.potential_energy(rigid, [np.pi / 2]).round(6))
    73.575
    """
    p, n, U = model.parameters, model.n, whole(model, z)
    phi, g, L = U[..., n : 2 * n], p.gravity, p.each("length")
    height, carrier, energy = np.zeros(()), np.zeros(()), np.zeros(())
    for k, (link, at) in enumerate(zip(model.links, model.elastic, strict=True)):
        angle, v = phi[..., k], U[..., at]
        twist = angle + v[..., 0] - carrier - p.each("gear_ratio")[k] * U[..., k]
        energy = energy + 0.5 * p.each("joint_stiffness")[k] * twist**2  # (4.53, 55)
        actuator = p.each("rotor_mass")[k] + p.each("stator_mass")[k]
        energy = energy + g * actuator * height
        bend, w = v @ link.curvature.T, v @ link.shape.T
        energy = energy + 0.5 * link.modulus * (bend**2 @ link.weight)  # (4.9)
        sine, cosine = np.sin(angle), np.cos(angle)
        level = link.x * sine[..., np.newaxis] + w * cosine[..., np.newaxis]
        energy = energy + g * (level @ link.weight + height * link.weight.sum())
        height = height + L[k] * sine
        carrier = angle + v[..., -1]
    return np.asarray(energy + p.payload_mass * g * height)  # (4.47)


def chord_axes(phi: Array) -> tuple[Array, Array]:
    """Unit vectors along and across the chords, (..., n, 2) each."""
    c, s = np.cos(phi), np.sin(phi)
    return np.stack([c, s], axis=-1), np.stack([-s, c], axis=-1)
