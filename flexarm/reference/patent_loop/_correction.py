"""Correction of the specified forces: its input, and the usual correction."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ..._calls.arguments import check_actuated, real_array
from ..._calls.declared import Kept
from ..._calls.doors import checked_record
from ..._support.arrays import Array
from ...control._loops.comparison import Comparison
from ...errors import ArgumentError
from ._deformations import influence


def _gain(what: str, value: object) -> Array:
    gain = np.array(real_array(what, value))
    if not ((gain >= 0.0) & (gain < np.inf)).all():
        raise ArgumentError(f"{what} is {gain}, expected zero or more")
    gain.flags.writeable = False
    return gain


_Gain = Annotated[Any, Kept(_gain)]


@checked_record("{field}")
@dataclass(frozen=True, eq=False)
class ComputedTorque:
    r"""Joint forces that give the joints the desired acceleration, in one step.

    Joint accelerations are affine in the joint forces while nothing acts on the
    modes, :math:`T^f = 0`, so that the missing acceleration gives the missing force:

    .. math::
       \Delta\tau = S \left( \ddot q_d - \ddot q + 2 \zeta \omega (\dot q_d - \dot q)
           + \omega^2 (q_d - q) + a_u \right), \qquad
       S^{-1} = \left( M^{-1} \right)_{jj}, \qquad
       S = M_{jj} - M_{jf} M_{ff}^{-1} M_{fj} .

    The joint block of the inverse mass matrix comes from the innovations
    factorization [1]_.  Without modes this is the computed torque of rigid arms, with
    them the collocated partial feedback linearization [2]_, or inversion for the joint
    motion [3]_.

    That is for the instant.  In a flexible arm a force that is held for a time h meets
    another inertia than the S of its first instant.  When h is known, as in `run`,
    the mean accelerations over h take the place of :math:`\ddot q`,
    :math:`\ddot q_d` and S; the integrator of the model computes them, for the
    specified forces and for one trial per joint, in one call.

    Parameters
    ----------
    bandwidth : float or (..., nu) array_like of float
        :math:`\omega` in rad/s; zero compares accelerations alone, as in the source,
        and then any error of the motion stays.
    damping_ratio : float or (..., nu) array_like of float
        :math:`\zeta`.
    deformation_stiffness : float or (..., nu) array_like of float
        :math:`\kappa_p` in 1/s^2, acts on the deformation error, if there is one.
    deformation_damping : float or (..., nu) array_like of float
        :math:`\kappa_v` in 1/s, acts on the rates of the modes, for desired
        deformations that stay.

    See Also
    --------
    Inversion : as a law ``law(t, q, qd)`` of the state, no model beside it.

    Notes
    -----
    *What is stable.*  When the joints follow exactly, what remains are the vibrations
    of the links with locked joints.  Around rest these are stable, and decay with the
    modal damping alone, so forcing the *joints* is safe on an exact model.  On a plant
    that differs :math:`\omega` has a limit; try it.  The tip and the other nodes are
    not collocated with the forces: seen from there the arm is non-minimum phase, and
    forcing their accelerations by inversion diverges.  There are also fewer forces than
    modes, so that no force makes all deformations follow.  Therefore the deformation
    error only bends the joint motion,

    .. math::
       a_u = - M_{jj}^{-1} M_{jf} \left( \kappa_p (\eta_d - \eta)
             - \kappa_v \dot\eta \right),

    where :math:`\eta_d - \eta` fits the deformation error of the nodes by least squares
    (rad and m with equal weights).  For joints that follow this acceleration it adds
    :math:`\kappa_p M_{fj} M_{jj}^{-1} M_{jf}` to the stiffness of the modes, and
    :math:`\kappa_v` times the same matrix to their damping.  The feedback of the joint
    motion takes back a part of it: for a vibration of :math:`\Omega` the share
    :math:`(\Omega^2 - \omega^2)` of either effect is left, up to a positive factor, so
    that both act on vibrations faster than :math:`\omega` alone and push slower ones
    the wrong way.  The joints leave their path, and the modal coordinates are those of
    the model, which nothing measures: keep both gains small and try them on a plant
    that differs.

    *Sampling.*  Accelerations that are right in the first instant of each step, and
    not in the mean, drive those vibrations with locked joints.  Mean accelerations do
    not, as long as h is shorter than half a period of the fastest vibration of the
    model with *free* joints; otherwise the loop diverges even on its own model.  Leave
    out faster modes, or take a shorter step.  Feedback needs :math:`\omega h` well
    below one, and a delay of the sensors counts like h.

    References
    ----------
    .. [1] A. Jain, G. Rodriguez, US patent 5,546,508 (1996), eq. 56.
    .. [2] M. W. Spong, "Partial feedback linearization of underactuated mechanical
       systems", *Proc. IROS*, 1994, 314-321.
    .. [3] A. De Luca, B. Siciliano, "Inversion-based nonlinear control of robot arms
       with flexible links", *J. Guidance, Control, and Dynamics* 16 (1993), 1169-1176.

    Examples
    --------
    A pendulum of 2 kg m^2 that should turn with 3 rad/s^2 and does not:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import patent_loop
    >>> arm = fa.library.pendulum(mass=2.0, com=1.0)
    >>> still = fa.control.Motion([0.0], [0.0], [3.0])
    >>> controller = patent_loop.ManipulatorController(
    ...     arm, lambda t: still, [0.0], [0.0], specified=[19.62],
    ...     correction=patent_loop.ComputedTorque(bandwidth=0.0),
    ... )
    >>> controller.step(0.0).tau   # 2 * 1 * 9.81 + 2 * 3
    array([25.62])

    Gains of a hundred controllers at once:

    >>> patent_loop.ComputedTorque(np.linspace(1.0, 20.0, 100)[:, np.newaxis])
    ComputedTorque(bandwidth=(100, 1) array, damping_ratio=1.0, ...)
    """

    bandwidth: _Gain = 10.0
    damping_ratio: _Gain = 1.0
    deformation_stiffness: _Gain = 0.0
    deformation_damping: _Gain = 0.0

    def __repr__(self) -> str:
        shown = [
            f"{name}={f'{gain.shape} array' if gain.ndim else gain}"
            for name in self.__dataclass_fields__
            for gain in [getattr(self, name)]
        ]
        return f"ComputedTorque({', '.join(shown)})"

    def __call__(self, step: Comparison) -> Array:
        """Corrected joint forces (..., nu) in N m or N."""
        check_actuated(step.arm, "ComputedTorque")
        w = self.bandwidth
        wanted = (
            2.0 * self.damping_ratio * w * step.rate_error + w**2 * step.position_error
        )
        if self.deformation_stiffness.any() or self.deformation_damping.any():
            wanted = wanted + self._bend(step)
        if step.span == 0.0:
            missing = wanted + step.acceleration_error
            return np.asarray(step.tau + _solve(_joint_block(step), missing))
        return np.asarray(step.tau + self._over_span(step, wanted))

    def _over_span(self, step: Comparison, wanted: Array) -> Array:
        """Change of the forces that gives mean accelerations while it is held."""
        nu, h, after = step.arm.nu, step.span, step.desired_next
        ahead = step.desired.qdd
        if after is not None:
            ahead = (after.qd - step.desired.qd) / h
        # one trial for each joint, each of 1 rad/s^2 or so; the model is affine in the
        # force but for what the velocities do within the span
        trial = 1.0 / np.diagonal(_joint_block(step), axis1=-2, axis2=-1)
        change = np.eye(nu).reshape(nu, *(1,) * (step.tau.ndim - 1), nu) * trial
        _, rate = step.predict(step.tau + np.concatenate([0.0 * change[:1], change]))
        mean = (rate[0, ..., :nu] - step.qd[..., :nu]) / h
        rise = np.moveaxis(rate[1:, ..., :nu] - rate[:1, ..., :nu], 0, -1) / h
        response = rise / trial[..., np.newaxis, :]
        return _solve(response, wanted + ahead - mean)

    def _bend(self, step: Comparison) -> Array:
        """Acceleration of the joints against deformation errors, (..., nu)."""
        arm, nu = step.arm, step.arm.nu
        M = step.arm.kernels.quiet("mass_matrix")(step.q)

        def seen(eta: NDArray[np.floating]) -> Array:  # through M_jj^-1 M_jf
            force = M[..., :nu, nu:] @ eta[..., np.newaxis]
            return -_solve(M[..., :nu, :nu], force[..., 0])

        result = self.deformation_damping * seen(-step.qd[..., nu:])
        if step.deformation_error is not None:
            error = step.deformation_error.reshape(*step.q.shape[:-1], -1)
            wanted = np.isfinite(error)
            rows = influence(arm).reshape(-1, arm.nv - nu) * wanted[..., np.newaxis]
            rest = np.where(wanted, error, 0.0)[..., np.newaxis]
            eta = (np.linalg.pinv(rows) @ rest)[..., 0]
            result = result + self.deformation_stiffness * seen(eta)
        return np.asarray(result)


def _joint_block(step: Comparison) -> Array:
    """Joint block of the inverse mass matrix, (..., nu, nu)."""
    nu = step.arm.nu
    inverse = step.arm.kernels.quiet("mass_matrix_inverse")(step.q)
    return np.asarray(inverse[..., :nu, :nu])


def _solve(matrix: Array, right: Array) -> Array:
    """Solve for each state, NaN for those that are lost."""
    alive = np.isfinite(matrix).all((-1, -2)) & np.isfinite(right).all(-1)
    batch = np.shape(alive)
    result = np.full((*batch, right.shape[-1]), np.nan)
    safe = np.broadcast_to(matrix, (*batch, *matrix.shape[-2:]))
    rest = np.broadcast_to(right, result.shape)
    try:
        result[alive] = np.linalg.solve(safe[alive], rest[alive][..., np.newaxis])[
            ..., 0
        ]
    except np.linalg.LinAlgError:  # of one member, the others must go on
        for i in map(tuple, np.argwhere(alive)):
            with suppress(np.linalg.LinAlgError):
                result[i] = np.linalg.solve(safe[i], rest[i])
    return result
