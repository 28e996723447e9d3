"""Kinetic, potential and total energy of an arm."""

from __future__ import annotations

from typing import Annotated, NoReturn

from numpy.typing import ArrayLike

from .._calls.arm_like import AnyArm, Array
from .._calls.chunks import in_chunks
from .._calls.declared import Floats, Positions, Velocities
from .._calls.threads import ONE, direct, kernels
from .._support.options import strict, unknown_names


@direct
def kinetic_energy(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    *,
    out: Annotated[ArrayLike, Floats("(...)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Kinetic energy in J, half of qd' M qd (Jain and Rodriguez 1996, eq. 23).

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd : (..., nv) array_like of float
        Velocities: time derivatives of `q` except for joints with poses.
    out : (...) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    T : (...) ndarray of float
        Energy of motion of all nodes, in J.

    Examples
    --------
    2 kg at 0.5 m that turn with 2 rad/s move with 1 m/s:

    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> float(fa.kinetic_energy(arm, [0.0], [2.0]))
    1.0
    >>> fa.kinetic_energy(arm, [0.0], [[1.0], [2.0]])
    array([0.25, 1.  ])
    """
    if other:
        raise unknown_names(kinetic_energy, other)
    return kernels(arm, threads).kinetic_energy(q, qd, out)


@direct
def potential_energy(
    arm: AnyArm,
    q: Positions,
    *,
    out: Annotated[ArrayLike, Floats("(...)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Potential energy in J: gravity, zero at the origin of the base, and strain.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    out : (...) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    V : (...) ndarray of float
        Gravity potential plus elastic energy eta' K eta / 2.

    Notes
    -----
    De Luca and Siciliano (1991), eq. 13, for the strain of a beam.

    Examples
    --------
    2 kg at half a metre above the base have 2 * 9.81 * 0.5 J:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> round(float(fa.potential_energy(arm, [np.pi / 2])), 9)
    9.81
    >>> fa.potential_energy(arm, [[0.0], [1.0]]).shape
    (2,)
    """
    if other:
        raise unknown_names(potential_energy, other)
    return kernels(arm, threads).potential_energy(q, out)


@direct
def dissipated_power(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    *,
    out: Annotated[ArrayLike, Floats("(...)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Power in W that friction, dampers and stops dissipate.

    By viscous friction of joints and motors, damping of shafts and modes, dry friction,
    and the damping of stops.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd : (..., nv) array_like of float
        Velocities: time derivatives of `q` except for joints with poses.
    out : (...) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    P : (...) ndarray of float
        Zero or more; the energy of the arm changes by ``qd . tau - P``.

    See Also
    --------
    energy : total energy.
    testing.assert_energy_balance : energy balance of a simulation.

    Examples
    --------
    A damper of 0.5 N m s at 2 rad/s:

    >>> import flexarm as fa
    >>> joint = fa.Joint(damping=0.5)
    >>> arm = fa.Arm([fa.RigidBody("rod", joint, mass=1.0, com=(1, 0, 0))])
    >>> float(fa.dissipated_power(arm, [0.0], [2.0]))
    2.0
    >>> fa.dissipated_power(arm, [0.0], [[1.0], [4.0]])
    array([0.5, 8. ])
    """
    if other:
        raise unknown_names(dissipated_power, other)
    return kernels(arm, threads).dissipated_power(q, qd, out)


@strict
def energy(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    *,
    out: Annotated[ArrayLike, Floats("(...)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Total energy in J, kinetic plus potential.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd : (..., nv) array_like of float
        Velocities: time derivatives of `q` except for joints with poses.
    out : (...) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    E : (...) ndarray of float
        In J; constant in a motion without forces, friction and damping.

    See Also
    --------
    kinetic_energy, potential_energy

    Notes
    -----
    Jain and Rodriguez (1996), eq. 23, for the kinetic part.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> float(fa.energy(arm, [0.0], [2.0]))
    1.0
    >>> fa.energy(arm, [0.0], [[1.0], [2.0]])
    array([0.25, 1.  ])
    """
    if other:
        raise unknown_names(energy, other)
    try:
        model = kernels(arm, threads)

        def total(q: ArrayLike, qd: ArrayLike) -> Array:
            return model.kinetic_energy(q, qd) + model.potential_energy(q)

        result: Array = in_chunks(arm, total, (q, qd), out)
        return result
    except Exception:  # one of the two raises with an explanation
        potential_energy(arm, q, threads=threads)
        kinetic_energy(arm, q, qd, out=out, threads=threads)
        raise
