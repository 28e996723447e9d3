"""Derivatives of forward dynamics by positions, velocities and forces."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from numpy.typing import ArrayLike

from .._calls.arguments import refuse_constraints
from .._calls.arm_like import ArmLike, Array
from .._calls.declared import Floats, Forces, Positions, Velocities
from .._calls.threads import ONE, direct, kernels


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of `forward_dynamics`, rows for accelerations.

    Attributes
    ----------
    dq : (..., nv, nv) ndarray of float
        By local displacements of the positions, one column for each velocity.
    dqd : (..., nv, nv) ndarray of float
        By the velocities.
    dtau : (..., nv, nv) ndarray of float
        By all generalized forces: the inverse of the mass matrix.
    """

    dq: Array
    dqd: Array
    dtau: Array


@direct
def forward_dynamics_derivatives(
    arm: ArmLike,
    q: Positions,
    qd: Velocities,
    tau: Forces,
    *,
    out: Annotated[ArrayLike, Floats("(..., 3, nv, nv)")] | None = None,
    threads: int = ONE,
) -> ForwardDynamicsDerivatives:
    r"""Exact derivatives of the accelerations with respect to q, qd and tau.

    With the derivatives of inverse dynamics at the accelerations :math:`\ddot q` of
    `forward_dynamics`,

    .. math:: \frac{\partial\ddot q}{\partial q}
        = -M^{-1}\,\frac{\partial\tau}{\partial q}, \qquad
        \frac{\partial\ddot q}{\partial\dot q}
        = -M^{-1}\,\frac{\partial\tau}{\partial\dot q}, \qquad
        \frac{\partial\ddot q}{\partial\tau} = M^{-1}.

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
    out : (..., 3, nv, nv) ndarray of float, optional
        Where to store all derivatives; they are then views of it.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    derivatives : ForwardDynamicsDerivatives
        ``dq``, ``dqd`` and ``dtau``, (..., nv, nv) each; a row for each acceleration.
        Columns of ``dtau`` belong to all generalized forces, the first nu to those of
        the joints; ``dtau`` is exactly symmetric.

    Raises
    ------
    ModelError
        If the arm has constraints.
    NotFiniteError
        If a result is not finite, or a mass matrix is not positive definite.

    See Also
    --------
    forward_dynamics : the differentiated function.
    inverse_dynamics_derivatives : its parts, with the same columns.
    forward_dynamics_jvp, forward_dynamics_vjp : products with them.

    Notes
    -----
    For an arm of linear or ruthless fidelity these are the derivatives of its own
    accelerations.  Stops and dry friction are differentiated; the corner of a stop
    counts as outside.

    The kernel is ``csrc/kernels/derivatives/forward_tangents.c``, equation (G1), which
    is that of J. Carpentier, N. Mansard, *Analytical derivatives of rigid body dynamics
    algorithms*, Robotics: Science and Systems (2018), for bodies that deform.

    Examples
    --------
    A hanging pendulum of 2 kg m^2 with a weight of 5.886 N m and 0.1 N m s/rad:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3, inertia=1.82, damping=0.1)
    >>> dq, dqd, dtau = fa.forward_dynamics_derivatives(arm, [-np.pi / 2], [0.0], [0.0])
    >>> dq.round(3), dqd.round(3), dtau.round(3)
    (array([[-2.943]]), array([[-0.05]]), array([[0.5]]))

    The matrix of small motions of an arm with modes, and its largest frequency in Hz:

    >>> arm = fa.library.de_luca_siciliano()
    >>> still = np.zeros(6)
    >>> dq, dqd, dtau = fa.forward_dynamics_derivatives(arm, still, still, np.zeros(2))
    >>> A = np.block([[np.zeros((6, 6)), np.eye(6)], [dq, dqd]])
    >>> round(float(abs(np.linalg.eigvals(A)).max()) / (2 * np.pi), 2)
    29.29

    Many states in one call:

    >>> q = np.linspace(0.0, 0.1, 600).reshape(100, 6)
    >>> fa.forward_dynamics_derivatives(arm, q, still, [1.0, 0.0]).dtau.shape
    (100, 6, 6)
    """
    refuse_constraints(arm, "forward_dynamics_derivatives")
    all_ = kernels(arm, threads).forward_dynamics_derivatives(q, qd, tau, out)
    return ForwardDynamicsDerivatives(
        all_[..., 0, :, :], all_[..., 1, :, :], all_[..., 2, :, :]
    )
