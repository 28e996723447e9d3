"""Assertions about arms and motions, for tests of users and of flexarm itself."""

from __future__ import annotations

import numpy as np

from . import dynamics
from ._calls.arguments import shaped
from ._calls.declared import Forces, Positions, Velocities
from ._calls.doors import checked
from ._support.arrays import Index
from .arm import Arm
from .dynamics import dissipated_power
from .errors import ArgumentError
from .simulation import Trajectory


def _acting(arm: Arm, size: int) -> Index | slice:
    """Velocities on which forces with `size` entries act."""
    return arm.actuator_indices if size == arm.nu else slice(size)


@checked
def assert_equation_of_motion(
    arm: Arm,
    q: Positions,
    qd: Velocities,
    qdd: Velocities,
    tau: Forces,
    *,
    rtol: float = 1e-9,
) -> None:
    """Assert that a motion and its forces satisfy M qdd + C = tau.

    Parameters
    ----------
    arm : Arm
        Any arm.
    q, qd, qdd : (..., nq), (..., nv) and (..., nv) array_like of float
        Motion.
    tau : (..., nu) or (..., nv) array_like of float
        Joint forces, or all generalized forces.
    rtol : float
        Largest residual relative to the largest term of the equation.

    Raises
    ------
    AssertionError
        If the residual is larger; the message has its size.
    ArgumentError
        If `tau` has another shape.

    Notes
    -----
    Jain and Rodriguez (1996), eq. 42, terms from `mass_matrix` and `bias_forces`.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> fa.testing.assert_equation_of_motion(arm, [0.0], [0.0], [1.0], [10.31])
    """
    inertial = np.einsum(
        "...ij,...j->...i", dynamics.mass_matrix(arm, q), shaped("qdd", qdd, arm.nv)
    )
    bias = dynamics.bias_forces(arm, q, qd)
    given = shaped("tau", tau, None)
    if given.shape[-1] not in (arm.nu, arm.nv):
        raise ArgumentError(
            f"tau has shape {given.shape}, expected (..., {arm.nu}), a force of each "
            f"actuator, or (..., {arm.nv}), one of each coordinate"
        )
    force = np.zeros((*given.shape[:-1], arm.nv))
    force[..., _acting(arm, given.shape[-1])] = given
    residual = np.abs(inertial + bias - force).max()
    scale = max(np.abs(inertial).max(), np.abs(bias).max(), np.abs(force).max())
    if not residual <= rtol * scale:
        raise AssertionError(
            f"M qdd + C - tau is {residual:.3g}, {residual / scale:.3g} of the largest "
            f"term, expected at most {rtol:g}"
        )


@checked
def assert_energy_balance(trajectory: Trajectory, *, rtol: float = 1e-6) -> None:
    """Assert that energy changes by the work of the forces less the dissipation.

    Parameters
    ----------
    trajectory : Trajectory
        A motion, sampled finely enough for the trapezoidal rule.
    rtol : float
        Largest error of the ledger relative to the largest of its entries.

    Raises
    ------
    AssertionError
        If the ledger does not close; the message has the worst time.

    Notes
    -----
    Power balance dE/dt = tau'qd - `dissipated_power` of the equation of motion
    (Jain and Rodriguez 1996, eq. 42).

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5, damping=0.1)
    >>> run = fa.simulate(arm, [0.0], [0.0], np.linspace(0.0, 1.0, 2001))
    >>> fa.testing.assert_energy_balance(run)
    """
    arm, qd = trajectory.arm, trajectory.qd
    tau = trajectory.tau
    lost = dissipated_power(arm, trajectory.q, qd)
    power = (tau * qd[..., _acting(arm, tau.shape[-1])]).sum(-1) - lost
    t = trajectory.t
    steps = 0.5 * (power[..., 1:] + power[..., :-1]) * np.diff(t)
    work = np.concatenate([np.zeros_like(power[..., :1]), np.cumsum(steps, -1)], -1)
    total = trajectory.energy
    error = np.abs(total - total[..., :1] - work)
    scale = max(np.abs(total).max(), np.abs(work).max(), trajectory.kinetic.max())
    if not error.max() <= rtol * scale:
        k = int(np.unravel_index(int(error.argmax()), error.shape)[-1])
        raise AssertionError(
            f"energy and work differ by {error.max():.3g} J at t = {t[k]:g} s, "
            f"{error.max() / scale:.3g} of the largest entry, expected at most {rtol:g}"
        )
