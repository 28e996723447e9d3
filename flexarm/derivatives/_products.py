"""Products with the derivatives of the dynamics, in forward and reverse mode."""

from __future__ import annotations

from typing import Annotated, NamedTuple, NoReturn

from numpy.typing import ArrayLike

from .._calls.arguments import refuse_constraints
from .._calls.arm_like import ArmLike, Array
from .._calls.declared import Floats, Forces, Positions, Velocities
from .._calls.threads import ONE, direct, kernels
from .._support.options import unknown_names


class InverseDynamicsGradients(NamedTuple):
    """Gradients of forces, weighted by a cotangent, by state and accelerations.

    Attributes
    ----------
    dq, dqd, dqdd : (..., nv) ndarray of float
        By local displacements of the positions, by velocities and by accelerations.
    """

    dq: Array
    dqd: Array
    dqdd: Array


class ForwardDynamicsGradients(NamedTuple):
    """Gradients of accelerations, weighted by a cotangent, by state and forces.

    Attributes
    ----------
    dq, dqd, dtau : (..., nv) ndarray of float
        By local displacements of the positions, by velocities and by all generalized
        forces.
    """

    dq: Array
    dqd: Array
    dtau: Array


@direct
def inverse_dynamics_jvp(
    arm: ArmLike,
    q: Positions,
    qd: Velocities,
    qdd: Velocities,
    dq: Velocities,
    dqd: Velocities,
    dqdd: Velocities,
    *,
    out: Velocities | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    r"""Change of the forces of a motion along a change of the motion.

    .. math:: \delta\tau = \frac{\partial\tau}{\partial q}\,\delta q
        + \frac{\partial\tau}{\partial\dot q}\,\delta\dot q + M\,\delta\ddot q

    without forming the matrices.

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd, qdd : (..., nv) array_like of float
        Velocities and their time derivatives.
    dq, dqd, dqdd : (..., nv) array_like of float
        Changes of `q` (a local displacement), `qd` and `qdd`.
    out : (..., nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    dtau : (..., nv) ndarray of float
        Change of `inverse_dynamics`.

    See Also
    --------
    inverse_dynamics_derivatives : the matrices.
    inverse_dynamics_vjp : the adjoint product.

    Notes
    -----
    Derivatives of J. Carpentier, N. Mansard, *Robotics: Science and Systems* 2018.

    Examples
    --------
    The weight of a hanging pendulum is a stiffness of 5.886 N m/rad:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3)
    >>> fa.Arm.inverse_dynamics_jvp(
    ...     arm, [-np.pi / 2], [0.0], [0.0], [1.0], [0.0], [0.0]
    ... ).round(3)
    array([5.886])
    """
    if other:
        raise unknown_names(inverse_dynamics_jvp, other)
    return kernels(arm, threads).inverse_dynamics_jvp(q, qd, qdd, dq, dqd, dqdd, out)


@direct
def inverse_dynamics_vjp(
    arm: ArmLike,
    q: Positions,
    qd: Velocities,
    qdd: Velocities,
    cotangent: Velocities,
    *,
    out: Annotated[ArrayLike, Floats("(..., 3, nv)")] | None = None,
    threads: int = ONE,
) -> InverseDynamicsGradients:
    r"""Gradient of :math:`\lambda\cdot\tau` for a cotangent of inverse dynamics.

    .. math:: \left(\frac{\partial\tau}{\partial q}\right)^T\lambda,\quad
        \left(\frac{\partial\tau}{\partial\dot q}\right)^T\lambda,\quad M\,\lambda

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd, qdd : (..., nv) array_like of float
        Velocities and their time derivatives.
    cotangent : (..., nv) array_like of float
        Weights of the forces.
    out : (..., 3, nv) ndarray of float, optional
        Where to store all three; they are then views of it.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    gradients : InverseDynamicsGradients
        ``dq``, ``dqd`` and ``dqdd``, (..., nv) each.

    See Also
    --------
    inverse_dynamics_derivatives : the matrices.
    inverse_dynamics_jvp : the product along a direction.

    Notes
    -----
    Derivatives of J. Carpentier, N. Mansard, *Robotics: Science and Systems* 2018,
    transposed.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3, inertia=1.82, damping=0.1)
    >>> dq, dqd, dqdd = arm.inverse_dynamics_vjp([-np.pi / 2], [0], [0], [2.0])
    >>> dq.round(3), dqd, dqdd
    (array([11.772]), array([0.2]), array([4.]))
    """
    all_ = kernels(arm, threads).inverse_dynamics_vjp(q, qd, qdd, cotangent, out)
    return InverseDynamicsGradients(all_[..., 0, :], all_[..., 1, :], all_[..., 2, :])


@direct
def forward_dynamics_jvp(
    arm: ArmLike,
    q: Positions,
    qd: Velocities,
    tau: Forces,
    dq: Velocities,
    dqd: Velocities,
    dtau: Forces,
    *,
    out: Velocities | None = None,
    threads: int = ONE,
) -> Array:
    r"""Change of the accelerations along a change of state and forces.

    .. math:: \delta\ddot q = M^{-1}\left(\delta\tau
        - \frac{\partial\tau}{\partial q}\,\delta q
        - \frac{\partial\tau}{\partial\dot q}\,\delta\dot q\right)

    without forming the matrices.

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates, ``nu`` of them actuated joints.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd : (..., nv) array_like of float
        Velocities: time derivatives of `q` except for joints with poses.
    tau : (..., nu) or (..., nv) array_like of float
        Forces of joints, or of their motors, in N m or N, or all generalized forces.
    dq, dqd : (..., nv) array_like of float
        Changes of positions, a local displacement, and of velocities.
    dtau : (..., nu) or (..., nv) array_like of float
        Change of `tau`, with as many entries.
    out : (..., nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    dqdd : (..., nv) ndarray of float
        Change of `forward_dynamics`.

    Raises
    ------
    ModelError
        If the arm has constraints.

    See Also
    --------
    forward_dynamics_derivatives : the matrices.
    forward_dynamics_vjp : the adjoint product.

    Notes
    -----
    Derivatives of J. Carpentier, N. Mansard, *Robotics: Science and Systems* 2018,
    equation (10).

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3, inertia=1.82)
    >>> arm.forward_dynamics_jvp([-np.pi / 2], [0], [0], [1], [0], [1]).round(3)
    array([-2.443])
    """
    refuse_constraints(arm, "forward_dynamics_jvp")
    return kernels(arm, threads).forward_dynamics_jvp(q, qd, tau, dq, dqd, dtau, out)


@direct
def forward_dynamics_vjp(
    arm: ArmLike,
    q: Positions,
    qd: Velocities,
    tau: Forces,
    cotangent: Velocities,
    *,
    out: Annotated[ArrayLike, Floats("(..., 3, nv)")] | None = None,
    threads: int = ONE,
) -> ForwardDynamicsGradients:
    r"""Gradient of :math:`l\cdot\ddot q` for a cotangent of forward dynamics.

    With :math:`\lambda = M^{-1} l` the three gradients are

    .. math:: -\left(\frac{\partial\tau}{\partial q}\right)^T\lambda,\quad
        -\left(\frac{\partial\tau}{\partial\dot q}\right)^T\lambda,\quad \lambda.

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates, ``nu`` of them actuated joints.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd : (..., nv) array_like of float
        Velocities: time derivatives of `q` except for joints with poses.
    tau : (..., nu) or (..., nv) array_like of float
        Forces of joints, or of their motors, in N m or N, or all generalized forces.
    cotangent : (..., nv) array_like of float
        Weights of the accelerations.
    out : (..., 3, nv) ndarray of float, optional
        Where to store all three; they are then views of it.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    gradients : ForwardDynamicsGradients
        ``dq``, ``dqd`` and ``dtau``, (..., nv) each; ``dtau`` for all generalized
        forces.

    Raises
    ------
    ModelError
        If the arm has constraints.

    See Also
    --------
    forward_dynamics_derivatives : the matrices.
    forward_dynamics_jvp : the product along a direction.

    Notes
    -----
    Derivatives of J. Carpentier, N. Mansard, *Robotics: Science and Systems* 2018,
    equation (10), transposed.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3, inertia=1.82, damping=0.1)
    >>> dq, dqd, dtau = arm.forward_dynamics_vjp([-np.pi / 2], [0], [0], [2.0])
    >>> dq.round(3), dqd.round(3), dtau.round(3)
    (array([-5.886]), array([-0.1]), array([1.]))
    """
    refuse_constraints(arm, "forward_dynamics_vjp")
    all_ = kernels(arm, threads).forward_dynamics_vjp(q, qd, tau, cotangent, out)
    return ForwardDynamicsGradients(all_[..., 0, :], all_[..., 1, :], all_[..., 2, :])
