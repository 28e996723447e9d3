"""Derivatives of inverse dynamics by positions and velocities."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from numpy.typing import ArrayLike

from .._calls.arm_like import AnyArm, Array
from .._calls.declared import Floats, Positions, Velocities
from .._calls.threads import ONE, direct, kernels


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of `inverse_dynamics`, rows for forces.

    Attributes
    ----------
    dq : (..., nv, nv) ndarray of float
        By local displacements of the positions, one column for each velocity.
    dqd : (..., nv, nv) ndarray of float
        By the velocities.
    """

    dq: Array
    dqd: Array


@direct
def inverse_dynamics_derivatives(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    qdd: Velocities,
    *,
    out: Annotated[ArrayLike, Floats("(..., 2, nv, nv)")] | None = None,
    threads: int = ONE,
) -> InverseDynamicsDerivatives:
    r"""Exact derivatives of the forces of a motion with respect to q and qd.

    With :math:`\tau = M(q)\,\ddot q + C(q, \dot q)` these are the stiffness and the
    damping matrix of small motions about a given one,

    .. math:: \delta\tau = M\,\delta\ddot q
        + \frac{\partial\tau}{\partial\dot q}\,\delta\dot q
        + \frac{\partial\tau}{\partial q}\,\delta q,

    in closed form, with all velocity, gravity, elastic and friction forces.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd, qdd : (..., nv) array_like of float
        Velocities and their time derivatives.
    out : (..., 2, nv, nv) ndarray of float, optional
        Where to store both derivatives; they are then views of it.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    derivatives : InverseDynamicsDerivatives
        ``dq`` and ``dqd``, (..., nv, nv) each; a row for each force, a column for each
        coordinate, as in the mass matrix, which is the derivative with respect to
        `qdd`.

    See Also
    --------
    inverse_dynamics : the differentiated function.
    forward_dynamics_derivatives : those of its inverse.
    inverse_dynamics_jvp, inverse_dynamics_vjp : products with them.
    integrate : displacements along velocities.

    Notes
    -----
    A column of ``dq`` is the derivative of ``inverse_dynamics(arm, integrate(arm, q, s
    * e), qd, qdd)`` with respect to s, with e a unit vector of nv entries.  For a
    scalar coordinate this is the partial derivative; a quaternion has three such
    columns, rotations about the axes of the body, with constant components of `qd` and
    `qdd` in these axes.

    Constraints of the arm do not enter, as in `inverse_dynamics`.  For an arm of linear
    or ruthless fidelity these are the derivatives of its own forces.  Stops and dry
    friction are differentiated; the corner of a stop counts as outside.

    The kernels are ``csrc/kernels/derivatives/tangent.c``, equations (X1) to (X12),
    and, for arms without modes, ``csrc/kernels/derivatives/rigid_tangents.c``.  For
    rigid bodies such derivatives are those of J. Carpentier, N. Mansard, *Analytical
    derivatives of rigid body dynamics algorithms*, Robotics: Science and Systems
    (2018).

    Examples
    --------
    The weight of a hanging pendulum is a stiffness of 2 kg * 9.81 m/s^2 * 0.3 m:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3, damping=0.1)
    >>> dq, dqd = fa.inverse_dynamics_derivatives(arm, [-np.pi / 2], [0.0], [0.0])
    >>> dq.round(3), dqd
    (array([[5.886]]), array([[0.1]]))

    Frequencies in Hz of an arm with fixed joints:

    >>> arm = fa.library.de_luca_siciliano()
    >>> still, modes = np.zeros(6), slice(2, 6)
    >>> K = fa.inverse_dynamics_derivatives(arm, still, still, still).dq[modes, modes]
    >>> M = fa.mass_matrix(arm, still)[modes, modes]
    >>> squares = np.linalg.eigvals(np.linalg.solve(M, K))
    >>> (np.sqrt(np.sort(squares)) / (2 * np.pi)).round(2)
    array([ 0.44,  1.97,  2.67, 16.12])

    Many states in one call:

    >>> q = np.linspace(0.0, 0.1, 600).reshape(100, 6)
    >>> fa.inverse_dynamics_derivatives(arm, q, still, still).dqd.shape
    (100, 6, 6)
    """
    both = kernels(arm, threads).inverse_dynamics_derivatives(q, qd, qdd, out)
    return InverseDynamicsDerivatives(both[..., 0, :, :], both[..., 1, :, :])
