r"""Planar arm with flexible links and joints in chord frames, after Farid (1997).

M. Farid, *Dynamic Modeling and Optimal Control of Flexible Manipulators*, PhD thesis,
University of Calgary, 1997, chapter 4:

.. math:: M_S(U)\,\ddot U + K_S(\dot U)\,U = f_S(U, \dot U) + Q, \qquad
   U = (q_1 \ldots q_n, \Phi_1 \ldots \Phi_n, v^1, \ldots, v^n)

with rotor angles q relative to the tip tangent of the link before, angles Phi of the
chords from the horizontal, and nodal values v of beam elements: slope at the base
first, slope at the tip last, deflections from the chord and slopes between.  Numbers in
parentheses are those of the thesis.  Both ends of a link stay on its chord, so the tip
of the arm depends on Phi alone (4.44).  There is no foreshortening: a fast chord
softens its link, :math:`K - \dot\Phi^2 M` (4.34), and nothing stiffens it.

The printed load vector (4.42), (4.43), the payload (4.48) and the actuators (4.74) have
errors; here are the equations that follow from the printed energies.  ``printed=True``
of `assemble` keeps the error that matters, a centrifugal term missing in (4.43).

States may have leading axes; all functions but `newmark` take complex numbers.  A rotor
without inertia makes the mass matrix singular.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .farid_arm import Link, Model, Parameters, assemble

__all__ = [
    "Link",
    "Model",
    "Parameters",
    "Trajectory",
    "assemble",
    "elastic_deflection",
    "forward_dynamics",
    "frequencies",
    "inverse_statics",
    "kinetic_energy",
    "load_vector",
    "mass_matrix",
    "newmark",
    "potential_energy",
    "rigid_torques",
    "stiffness_matrix",
    "tip_position",
]

Array = NDArray[Any]  # float64, or complex128 where a caller differentiates


def _whole(model: Model, z: ArrayLike) -> Array:
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
    U, n = _whole(model, z), model.n
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
    """What hangs on the tips, times L_l L_j: (4.36), (4.48) and (4.73), (n, n)."""
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
    Ud = _whole(model, zd)
    K = np.zeros((*Ud.shape, Ud.shape[-1]), Ud.dtype) + model.stiffness
    for k, (link, at) in enumerate(zip(model.links, model.elastic, strict=True)):
        rate = Ud[..., model.n + k, np.newaxis, np.newaxis]
        K[..., at, at] -= rate**2 * link.mass
    return np.asarray(model.basis.T @ K @ model.basis)


def load_vector(model: Model, z: ArrayLike, zd: ArrayLike) -> Array:
    """Load vector fS of (4.78): what gravity and velocities add to the torques.

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
    U, Ud = np.broadcast_arrays(_whole(model, z), _whole(model, zd))
    n, g, L = model.n, model.parameters.gravity, model.parameters.each("length")
    phi, rate = U[..., n : 2 * n], Ud[..., n : 2 * n]
    f = np.zeros(U.shape, np.result_type(U, Ud))
    # what hangs on the tips, (4.42), (4.51) and (4.74)
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


def _forces(model: Model, z: Array, zd: Array, torque: ArrayLike) -> Array:
    """All forces but MS zdd: fS + Q - KS z, with Q of (4.76)."""
    torque = np.asarray(torque)
    rotor, damping = model.basis[: model.n], model.parameters.each("joint_damping")
    Q = (torque - damping * (zd @ rotor.T)) @ rotor
    elastic = np.einsum("...ij,...j", stiffness_matrix(model, zd), z)
    return np.asarray(load_vector(model, z, zd) + Q - elastic)


def forward_dynamics(
    model: Model, z: ArrayLike, zd: ArrayLike, torque: ArrayLike = 0.0
) -> Array:
    """Accelerations from (4.78).

    Parameters
    ----------
    model : Model
        Constants of the arm.
    z, zd : (..., m) array_like
        Coordinates and velocities.
    torque : (..., n) array_like or float
        Of the actuators, in N m.

    Returns
    -------
    zdd : (..., m) ndarray
        Accelerations.

    Examples
    --------
    Held by the torques of its equilibrium an arm stays where it is:

    >>> import numpy as np
    >>> from flexarm.reference import farid_planar
    >>> model = farid_planar.assemble(farid_planar.Parameters(400.0, 4000.0, n_links=2))
    >>> z, torque = farid_planar.inverse_statics(model, [0.3, 0.8])
    >>> zdd = farid_planar.forward_dynamics(model, z, np.zeros(model.size), torque)
    >>> bool(abs(zdd).max() < 1e-6)  # rad/s^2
    True
    """
    z, zd = np.broadcast_arrays(z, zd)
    force = _forces(model, z, zd, torque)[..., np.newaxis]
    return np.asarray(np.linalg.solve(mass_matrix(model, z), force)[..., 0])


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
        In J.  It uses none of the mass matrices, so it checks them.

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
    U, Ud = np.broadcast_arrays(_whole(model, z), _whole(model, zd))
    phi, rate = U[..., n : 2 * n], Ud[..., n : 2 * n]
    along, across = _axes(phi)
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
    p, n, U = model.parameters, model.n, _whole(model, z)
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


def _axes(phi: Array) -> tuple[Array, Array]:
    """Unit vectors along and across the chords, (..., n, 2) each."""
    c, s = np.cos(phi), np.sin(phi)
    return np.stack([c, s], axis=-1), np.stack([-s, c], axis=-1)


def tip_position(model: Model, z: ArrayLike) -> Array:
    """Position of the payload (4.44), (..., 2), in m.

    Parameters
    ----------
    model : Model
        Constants of the arm.
    z : (..., m) array_like
        Coordinates.

    Returns
    -------
    tip : (..., 2) ndarray
        x and y, in m.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.reference import farid_planar
    >>> model = farid_planar.assemble(farid_planar.Parameters(400.0, 4000.0, n_links=2))
    >>> z, _ = farid_planar.inverse_statics(model, [0.0, np.pi / 2])
    >>> farid_planar.tip_position(model, z).round(9)  # in m
    array([1., 1.])
    """
    phi = np.asarray(z)[..., model.chord]
    return np.asarray(_axes(phi)[0].swapaxes(-1, -2) @ model.parameters.each("length"))


def elastic_deflection(model: Model, z: ArrayLike) -> Array:
    """Deflection of each tip from the tangent at the base of its link, (..., n), in m.

    Parameters
    ----------
    model : Model
        Constants of the arm.
    z : (..., m) array_like
        Coordinates.

    Returns
    -------
    deflection : (..., n) ndarray
        ``-L theta_1`` in m, as figure 4.16 shows it.

    Examples
    --------
    Sag of a level link of EI = 400 N m^2 under 5 kg/m and 5 kg at its tip, in m, beside
    mu g L^4/(8 EI) + m g L^3/(3 EI):

    >>> from flexarm.reference import farid_planar
    >>> p = farid_planar.Parameters(400.0, 4000.0, n_links=1)
    >>> model = farid_planar.assemble(p)
    >>> z, _ = farid_planar.inverse_statics(model, [0.0])
    >>> print(farid_planar.elastic_deflection(model, z).round(5))
    [-0.0562]
    >>> print(round(-5 * 9.81 / (8 * 400) - 5 * 9.81 / (3 * 400), 5))
    -0.0562
    """
    U = _whole(model, z)
    slopes = np.stack([U[..., at.start] for at in model.elastic], axis=-1)
    return np.asarray(-model.parameters.each("length") * slopes)


def inverse_statics(model: Model, angles: ArrayLike) -> tuple[Array, Array]:
    """Equilibrium with given chord angles: coordinates and torques that hold it.

    Parameters
    ----------
    model : Model
        Constants of the arm.
    angles : (n,) array_like of float
        Phi, in rad; they alone place the tip.

    Returns
    -------
    z : (m,) ndarray
        Coordinates.
    torque : (n,) ndarray
        Of the actuators, in N m.

    Examples
    --------
    A level link of 5 kg and 1 m with a payload of 5 kg takes 7.5 kg m of g:

    >>> from flexarm.reference import farid_planar
    >>> p = farid_planar.Parameters(400.0, 4000.0, n_links=1)
    >>> z, torque = farid_planar.inverse_statics(farid_planar.assemble(p), [0.0])
    >>> torque.round(6)  # N m
    array([73.575])
    """
    rest, n = np.zeros(model.size), model.n
    start = rest.copy()
    start[model.chord] = angles
    free = np.setdiff1d(np.arange(model.size), model.chord)
    # affine in rotor angles, elastic coordinates and torques
    moved = start + np.eye(model.size)[free]
    zero = _forces(model, start, rest, 0.0)
    columns = [_forces(model, moved, rest, 0.0), _forces(model, start, rest, np.eye(n))]
    solution = np.linalg.solve((np.vstack(columns) - zero).T, -zero)
    start[free] = solution[: len(free)]
    return start, solution[len(free) :]


def frequencies(model: Model, z: ArrayLike, *, locked: bool = False) -> Array:
    """Squares of the natural frequencies about an equilibrium, gravity included.

    Parameters
    ----------
    model : Model
        Constants of the arm.
    z : (m,) array_like of float
        Equilibrium, under any torques.
    locked : bool
        Hold the rotors.

    Returns
    -------
    square : (m,) or (m - n,) ndarray
        In rad^2/s^2, ascending; negative where the equilibrium is unstable.

    Examples
    --------
    Frequencies of a single link with its rotor held, in Hz:

    >>> import numpy as np
    >>> from flexarm.reference import farid_planar
    >>> p = farid_planar.Parameters(400.0, 4000.0, n_links=1, payload_mass=0.0)
    >>> model = farid_planar.assemble(p)
    >>> z, _ = farid_planar.inverse_statics(model, [0.0])
    >>> square = farid_planar.frequencies(model, z, locked=True)
    >>> print((np.sqrt(square[:2]) / (2.0 * np.pi)).round(2))
    [ 4.23 27.77]
    """
    from scipy.linalg import eigh

    step, z = 1e-40, np.asarray(z, dtype=np.float64)
    rest = np.zeros(model.size)
    moved = _forces(model, z + 1j * step * np.eye(model.size), rest, 0.0)
    K, M = -moved.imag.T / step, mass_matrix(model, z)
    if locked:
        K, M = K[model.n :, model.n :], M[model.n :, model.n :]
    return np.asarray(eigh(0.5 * (K + K.T), M, eigvals_only=True))


def rigid_torques(
    parameters: Parameters, phi: ArrayLike, rate: ArrayLike, acceleration: ArrayLike
) -> Array:
    """Actuator torques of the arm with rigid links and joints.

    Parameters
    ----------
    parameters : Parameters
        Data of the arm; its stiffness does not matter.
    phi, rate, acceleration : (..., n) array_like
        Chord angles and their first two time derivatives.

    Returns
    -------
    torque : (..., n) ndarray
        In N m; rotors and stators count.

    Examples
    --------
    A level link of 5 kg and 1 m with a payload of 5 kg, at rest, and accelerated by
    1 rad/s^2; the rotor counts with 0.2 kg m^2:

    >>> from flexarm.reference import farid_planar
    >>> p = farid_planar.Parameters(400.0, 4000.0, n_links=1)
    >>> farid_planar.rigid_torques(p, [0.0], [0.0], [[0.0], [1.0]]).round(6)  # N m
    array([[73.575   ],
           [80.441667]])
    """
    model = assemble(parameters, rigid_links=True, rigid_joints=True)
    phi, rate = np.asarray(phi), np.asarray(rate)
    force = np.einsum("...ij,...j", mass_matrix(model, phi), np.asarray(acceleration))
    force = force - _forces(model, phi, rate, 0.0)
    # virtual work of the torques: Q = basis' T on the rotor rows
    return np.asarray(np.linalg.solve(model.basis[: model.n].T, force.T).T)


class Trajectory(NamedTuple):
    """Result of `newmark`.

    Attributes
    ----------
    z, zd, zdd : (steps + 1, ..., m) ndarray
        Coordinates, velocities and accelerations.
    iterations : int
        Largest number of iterations of a step.
    """

    z: NDArray[np.float64]
    zd: NDArray[np.float64]
    zdd: NDArray[np.float64]
    iterations: int


def newmark(
    model: Model,
    z0: ArrayLike,
    zd0: ArrayLike,
    torque: ArrayLike,
    step: float,
    *,
    beta: float = 0.25,
    gamma: float = 0.5,
    plain: bool = False,
    tolerance: float = 1e-13,
    most: int = 100,
) -> Trajectory:
    r"""Motion by the Newmark method.

    Each step looks for accelerations that satisfy (4.78) at its end, where

    .. math:: z_1 = z_0 + h \dot z_0
              + h^2 ((\tfrac12 - \beta) \ddot z_0 + \beta \ddot z_1), \qquad
              \dot z_1 = \dot z_0 + h ((1 - \gamma) \ddot z_0 + \gamma \ddot z_1)

    by corrections with the matrix :math:`M + \gamma h C + \beta h^2 K`.

    Parameters
    ----------
    model : Model
        Constants of the arm.
    z0, zd0 : (..., m) array_like of float
        Initial state in rad and m, and per s; leading axes are separate arms in motion.
    torque : (steps + 1, ..., n) array_like of float
        Of the actuators at the ends of the steps, in N m.
    step : float
        Length h of a step, in s.
    beta, gamma : float
        1/4 and 1/2 for average acceleration; 1/6 and 1/2 for linear acceleration, as
        (5.149) and (5.150).
    plain : bool
        Iterate without the correction, as section 5.4 does; this contracts only while
        ``beta (h omega)^2 < 1`` for the fastest mode.
    tolerance : float
        A step ends when all coordinates change by less, relative to 1 + abs(z).
    most : int
        Largest number of iterations; a run that needs more ends with NaN.

    Returns
    -------
    trajectory : Trajectory
        States before, between and after the steps.

    Examples
    --------
    The torque that holds a link stops: its energy stays, and its tip rises at first.

    >>> import numpy as np
    >>> from flexarm.reference import farid_planar
    >>> p = farid_planar.Parameters(400.0, 4000.0, n_links=1)
    >>> model = farid_planar.assemble(p)
    >>> z, torque = farid_planar.inverse_statics(model, [0.0])
    >>> rest = np.zeros(model.size)
    >>> run = farid_planar.newmark(model, z, rest, np.zeros((21, 1)), 1e-3)
    >>> energy = farid_planar.kinetic_energy(model, run.z, run.zd)
    >>> energy = energy + farid_planar.potential_energy(model, run.z)
    >>> bool(np.ptp(energy) < 1e-3), round(float(run.zd[-1, model.chord[0]]), 4)
    (True, 0.061)
    """
    torques = np.asarray(torque, dtype=np.float64)
    z, zd = np.array(z0, dtype=np.float64), np.array(zd0, dtype=np.float64)
    batch = np.broadcast_shapes(z.shape, zd.shape, (*torques.shape[1:-1], 1))
    z, zd = np.broadcast_to(z, batch), np.broadcast_to(zd, batch)
    zdd = forward_dynamics(model, z, zd, torques[0])
    rotor = model.basis[: model.n]
    C = rotor.T @ (model.parameters.each("joint_damping")[:, np.newaxis] * rotor)
    K = model.basis.T @ model.stiffness @ model.basis
    extra = 0.0 if plain else gamma * step * C + beta * step**2 * K
    result = np.full((3, len(torques), *batch), np.nan)
    result[:, 0] = z, zd, zdd
    longest = 0
    for i, u in enumerate(torques[1:], start=1):
        start = z + step * zd + step**2 * (0.5 - beta) * zdd
        speed = zd + step * (1.0 - gamma) * zdd
        count, moved = 0, np.inf
        while count < most and moved >= tolerance:
            z, zd = start + step**2 * beta * zdd, speed + step * gamma * zdd
            M = mass_matrix(model, z)
            rest = _forces(model, z, zd, u) - np.einsum("...ij,...j", M, zdd)
            change = np.linalg.solve(M + extra, rest[..., np.newaxis])[..., 0]
            zdd, count = zdd + change, count + 1
            moved = beta * step**2 * np.max(np.abs(change) / (1.0 + np.abs(z)))
        if not moved < tolerance:  # NaN or too many iterations
            break
        z, zd = start + step**2 * beta * zdd, speed + step * gamma * zdd
        longest, result[:, i] = max(longest, count), (z, zd, zdd)
    return Trajectory(result[0], result[1], result[2], longest)
