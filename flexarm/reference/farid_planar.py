r"""Planar arm with flexible links and joints in chord frames, after Farid (1997).

M. Farid, *Dynamic Modeling and Optimal Control of Flexible Manipulators*, PhD thesis,
University of Calgary, 1997, chapter 4:

.. math:: M_S(U)\,\ddot U + K_S(\dot U)\,U = f_S(U, \dot U) + Q, \qquad
   U = (q_1 \ldots q_n, \Phi_1 \ldots \Phi_n, v^1, \ldots, v^n)

with rotor angles q relative to the tip tangent of the link before, angles Phi of the
chords from the horizontal, and nodal values v of beam elements: slope at the base
first, slope at the tip last, deflections from the chord and slopes between.  Numbers in
parentheses are those of the thesis.  Both ends of a link stay on its chord, so the tip
of the arm depends on Phi alone (4.44).  Without foreshortening a fast chord softens its
link, :math:`K - \dot\Phi^2 M` (4.34), and nothing stiffens it.

The printed load vector (4.42), (4.43), the payload (4.48) and the actuators (4.74) have
errors; these are the equations that follow from the printed energies.  ``printed=True``
of `assemble` keeps the error that matters, a centrifugal term missing in (4.43).

All functions but `newmark` take complex numbers.  A rotor without inertia makes the
mass matrix singular.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.arrays import AnyArray as Array
from .duals import COMPLEX_STEP
from .farid_arm import Link, Model, Parameters, assemble
from .farid_planar_terms import (
    chord_axes,
    forces,
    kinetic_energy,
    load_vector,
    mass_matrix,
    potential_energy,
    stiffness_matrix,
    whole,
)

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
    Held by the torques of its equilibrium an arm stays at rest:

    >>> import numpy as np
    >>> from flexarm.reference import farid_planar
    >>> model = farid_planar.assemble(farid_planar.Parameters(400.0, 4000.0, n_links=2))
    >>> z, torque = farid_planar.inverse_statics(model, [0.3, 0.8])
    >>> zdd = farid_planar.forward_dynamics(model, z, np.zeros(model.size), torque)
    >>> bool(abs(zdd).max() < 1e-6)  # rad/s^2
    True
    """
    z, zd = np.broadcast_arrays(z, zd)
    force = forces(model, z, zd, torque)[..., np.newaxis]
    return np.asarray(np.linalg.solve(mass_matrix(model, z), force)[..., 0])


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
    return np.asarray(
        chord_axes(phi)[0].swapaxes(-1, -2) @ model.parameters.each("length")
    )


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
        ``-L theta_1`` in m, as in figure 4.16.

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
    U = whole(model, z)
    slopes = np.stack([U[..., at.start] for at in model.elastic], axis=-1)
    return np.asarray(-model.parameters.each("length") * slopes)


def inverse_statics(model: Model, angles: ArrayLike) -> tuple[Array, Array]:
    """Equilibrium with given chord angles: coordinates and torques that hold it.

    Parameters
    ----------
    model : Model
        Constants of the arm.
    angles : (n,) array_like of float
        Phi, in rad, on which alone the tip depends.

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
    zero = forces(model, start, rest, 0.0)
    columns = [forces(model, moved, rest, 0.0), forces(model, start, rest, np.eye(n))]
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

    step, z = COMPLEX_STEP, np.asarray(z, dtype=np.float64)
    rest = np.zeros(model.size)
    moved = forces(model, z + 1j * step * np.eye(model.size), rest, 0.0)
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
    force = force - forces(model, phi, rate, 0.0)
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
        Iterate without the correction, as in section 5.4; this converges only for
        ``beta (h omega)^2 < 1`` of the fastest mode.
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
    The torque that holds a link ends: its energy stays, and its tip rises at first.

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
            rest = forces(model, z, zd, u) - np.einsum("...ij,...j", M, zdd)
            change = np.linalg.solve(M + extra, rest[..., np.newaxis])[..., 0]
            zdd, count = zdd + change, count + 1
            moved = beta * step**2 * np.max(np.abs(change) / (1.0 + np.abs(z)))
        if not moved < tolerance:  # NaN or too many iterations
            break
        z, zd = start + step**2 * beta * zdd, speed + step * gamma * zdd
        longest, result[:, i] = max(longest, count), (z, zd, zdd)
    return Trajectory(result[0], result[1], result[2], longest)
