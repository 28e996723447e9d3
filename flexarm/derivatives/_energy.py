"""Gradients of the energy of an arm."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from numpy.typing import ArrayLike

from .._calls.arm_like import ArmLike, Array
from .._calls.declared import Floats, Positions, Velocities
from .._calls.threads import ONE, direct, kernels


class EnergyDerivatives(NamedTuple):
    """Gradients of the total energy.

    Attributes
    ----------
    dq : (..., nv) ndarray of float
        By local displacements of the positions.
    dqd : (..., nv) ndarray of float
        By the velocities: the generalized momenta.
    """

    dq: Array
    dqd: Array


@direct
def energy_derivatives(
    arm: ArmLike,
    q: Positions,
    qd: Velocities,
    *,
    out: Annotated[ArrayLike, Floats("(..., 2, nv)")] | None = None,
    threads: int = ONE,
) -> EnergyDerivatives:
    r"""Exact gradients of the total energy with respect to q and qd.

    .. math:: \frac{\partial E}{\partial q} = \frac12\,
        \frac{\partial(\dot q^T M \dot q)}{\partial q}
        + \frac{\partial V}{\partial q}, \qquad
        \frac{\partial E}{\partial\dot q} = M\,\dot q.

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    qd : (..., nv) array_like of float
        Velocities: time derivatives of `q` except for joints with poses.
    out : (..., 2, nv) ndarray of float, optional
        Where to store both gradients; they are then views of it.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    gradients : EnergyDerivatives
        ``dq`` and ``dqd``, (..., nv) each.

    See Also
    --------
    energy, kinetic_energy, potential_energy : the differentiated functions.
    gravity_forces : the part of gravity in ``dq``.
    momentum : spatial momentum of the arm.

    Notes
    -----
    Gradients of the potential energy are ``energy_derivatives(arm, q, 0 * qd).dq``.
    Columns are those of `inverse_dynamics_derivatives`; for positions with quaternions,
    velocities are constant in the axes of the body.  The potential energy is that of
    the deformed arm, for any fidelity; the corner of a stop counts as outside.

    The kernel is ``csrc/kernels/derivatives/energy_tangents.c``, equation (G8).

    Examples
    --------
    A pendulum of 2 kg at 0.3 m, level and at 2 rad/s:

    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3)
    >>> dq, dqd = arm.energy_derivatives([0.0], [2.0])
    >>> dq.round(3), dqd.round(3)
    (array([5.886]), array([0.36]))
    """
    both = kernels(arm, threads).energy_derivatives(q, qd, out)
    return EnergyDerivatives(both[..., 0, :], both[..., 1, :])
