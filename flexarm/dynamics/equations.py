"""Inverse and forward dynamics and the forces of an arm.

Every function is one call of a gufunc bound to the arm, computed by ``csrc/kernels/``.
"""

from __future__ import annotations

from typing import Annotated, NoReturn

from .._calls.arm_like import AnyArm, Array
from .._calls.declared import Choice, Forces, Positions, Velocities
from .._calls.threads import ONE, direct, kernels
from .._support.options import check_choice, unknown_names

# methods, with the suffixes of their kernels "forward_dynamics"
ARTICULATED = "articulated"
_METHODS = {ARTICULATED: "", "basic": "_basic", "composite": "_composite"}


@direct
def inverse_dynamics(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    qdd: Velocities,
    *,
    out: Velocities | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    r"""Generalized forces that produce a given motion.

    Evaluates the equation of motion

    .. math:: \tau = M(q)\,\ddot q + C(q, \dot q)

    by the recursive Newton-Euler algorithm for flexible bodies [1]_, without forming
    :math:`M`.  Constraints of the arm are ignored: these are the forces of the tree.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates, joints first, then modes.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd, qdd : (..., nv) array_like of float
        Velocities and their time derivatives.
    out : (..., nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    tau : (..., nv) ndarray of float
        Joint forces in N m (revolute) or N (prismatic), then the modal residual: forces
        that would have to act on the modes, zero for a motion that the actuators alone
        can produce.

    See Also
    --------
    forward_dynamics : the inverse of this function.
    mass_matrix, bias_forces : the terms of the equation.

    References
    ----------
    .. [1] A. Jain, G. Rodriguez, US patent 5,546,508 (1996), eq. 45.

    Examples
    --------
    A pendulum held level needs m g c = 2 kg * 9.81 m/s^2 * 0.3 m:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3)
    >>> fa.inverse_dynamics(arm, [0.0], [0.0], [0.0])
    array([5.886])

    Many postures in one call:

    >>> q = np.linspace(-np.pi, np.pi, 100)[:, np.newaxis]
    >>> fa.inverse_dynamics(arm, q, [0.0], [0.0]).shape
    (100, 1)
    """
    if other:
        raise unknown_names(inverse_dynamics, other)
    return kernels(arm, threads).inverse_dynamics(q, qd, qdd, out)


@direct
def forward_dynamics(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    tau: Forces,
    *,
    method: Annotated[str, Choice("articulated", "basic", "composite")] = ARTICULATED,
    out: Velocities | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    r"""Accelerations under given forces.

    Solves :math:`M(q)\,\ddot q + C(q, \dot q) = \tau` for :math:`\ddot q`.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates, ``nu`` of them actuated joints.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd : (..., nv) array_like of float
        Velocities: time derivatives of `q` except for joints with poses.
    tau : (..., nu) or (..., nv) array_like of float
        Forces of joints, or of their motors, in N m or N, or all generalized forces.
    method : {"articulated", "basic", "composite"}
        Articulated-body recursion, O(N), without a mass matrix, which frees the modes
        of a body and then its joint [1]_; its basic form, which frees both at once
        [2]_; or mass matrix by composite bodies and a dense solve by LAPACK [3]_, whose
        last digits may depend on the threads of OpenBLAS for hundreds of coordinates.
    out : (..., nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    qdd : (..., nv) ndarray of float
        Time derivatives of the velocities.

    Raises
    ------
    ArgumentError
        If the method is unknown.

    See Also
    --------
    inverse_dynamics : the inverse of this function.

    References
    ----------
    .. [1] A. Jain, G. Rodriguez, US patent 5,546,508 (1996), eqs. 63 and 64,
       and 76 to 78 for bodies with twelve modes or more.
    .. [2] The same, eqs. 51 and 58.
    .. [3] The same, eqs. 46 and 50.

    Examples
    --------
    A point mass of 2 kg on a rod of 0.5 m, released at level, starts with -g/l:

    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> fa.forward_dynamics(arm, [0.0], [0.0], [0.0])
    array([-19.62])

    A thousand torques in one call:

    >>> import numpy as np
    >>> tau = np.linspace(-1.0, 1.0, 1000)[:, np.newaxis]
    >>> fa.forward_dynamics(arm, [0.0], [0.0], tau).shape
    (1000, 1)
    """
    if other:
        raise unknown_names(forward_dynamics, other)
    model = kernels(arm, threads)
    if method is ARTICULATED:  # costs least
        return model.forward_dynamics(q, qd, tau, out)
    check_choice("method", method, _METHODS)
    name = "forward_dynamics" + _METHODS[method]
    result: Array = getattr(model, name)(q, qd, tau, out)
    return result


@direct
def bias_forces(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    *,
    out: Velocities | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Forces at zero acceleration: velocity, gravity, elastic and friction forces.

    Elastic forces are those of modes and of springs inside joints, stops included.

    ``inverse_dynamics(arm, q, qd, qdd) == mass_matrix(arm, q) @ qdd + bias_forces``.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd : (..., nv) array_like of float
        Velocities: time derivatives of `q` except for joints with poses.
    out : (..., nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    C : (..., nv) ndarray of float
        Generalized forces, in N m, N and the units of the modes.

    Notes
    -----
    The vector C of Jain and Rodriguez (1996), eq. 43, with viscous friction and modal
    damping.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3, damping=0.1)
    >>> fa.bias_forces(arm, [0.0], [10.0])  # 5.886 + 0.1 * 10
    array([6.886])
    >>> fa.bias_forces(arm, [[0.0], [0.1], [0.2]], [0.0]).shape
    (3, 1)
    """
    if other:
        raise unknown_names(bias_forces, other)
    return kernels(arm, threads).bias_forces(q, qd, out)


@direct
def gravity_forces(
    arm: AnyArm,
    q: Positions,
    *,
    out: Velocities | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Forces that hold the arm against gravity: gradient of the gravity potential.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    out : (..., nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    g : (..., nv) ndarray of float
        Generalized forces, in N m, N and modal units, without elastic forces.

    Notes
    -----
    By inverse dynamics at rest (Jain and Rodriguez 1996, eq. 45, gravity as an
    acceleration of the base).

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.gravity_forces(fa.library.pendulum(mass=2.0, com=0.3), [0.0])
    array([5.886])
    >>> fa.gravity_forces(fa.library.puma560(), [[0.0] * 6] * 5).shape
    (5, 6)
    """
    if other:
        raise unknown_names(gravity_forces, other)
    return kernels(arm, threads).gravity_forces(q, out)
