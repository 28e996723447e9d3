"""Inversion control: outputs follow exactly, motions that they do not show are free."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._calls.arguments import check_numbers, real_array, refuse_motors
from .._support.description import Description
from .._support.interrupts import uninterrupted
from .._support.options import explained, explained_class
from ..arm import Arm
from ..bodies.segments import tip_motion
from ..derivatives import inverse_dynamics_derivatives
from ..dynamics.mass import mass_matrix
from ..errors import ArgumentError
from ..statics import equilibrium
from ..statics.coordinates import read_arm
from ._checks import gains, refuse_constraints, refuse_poses, rows
from ._matrices import closed_poles, companion, solve
from ._states import read_state, with_joints
from .composite import desired_at

Array = NDArray[np.float64]

_ON_AXIS = 1e-7  # part of the largest zero that counts as no growth


class InternalDynamics(NamedTuple):
    """Motions of an arm whose outputs rest.

    Attributes
    ----------
    zeros : (..., 2 n_modes) ndarray of complex
        Motions ``exp(s t)`` in 1/s that no output shows.
    stable : (...) ndarray of bool
        Whether none of them grows; undamped ones count as stable.
    worst : (...) ndarray of complex
        The zero with the largest real part.
    """

    zeros: NDArray[np.complex128]
    stable: NDArray[np.bool_]
    worst: NDArray[np.complex128]


@explained
def link_angles(arm: Arm, fraction: Any = 1.0) -> Array:
    r"""Outputs between joints and link tips, one for each joint that turns.

    .. math:: y_i = q_i + \lambda_i\, \frac{(a_i \times r_i) \cdot \delta_i}
        {|a_i \times r_i|^2}

    the angle of the joint i about its axis a plus a part of that under which the tip of
    its link, at r from the joint, is seen beside its undeformed place.

    Parameters
    ----------
    arm : Arm
        Arm whose joints have one coordinate each.
    fraction : float or (nu,) array_like of float
        :math:`\lambda`: 0 for joints, 1 for the tips of links.

    Returns
    -------
    E : (nu, nv) ndarray of float
        Rows of ``y = E q``: 1 for joints, in rad by unit of the modes.

    Raises
    ------
    ArgumentError
        If a joint does not turn or its link has no tip away from the axis.

    Notes
    -----
    A. De Luca, B. Siciliano, *J. Guidance, Control, and Dynamics* 16 (1993),
    1169-1176.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.control.link_angles(fa.library.de_luca_siciliano(), 0.5)[1].round(3)
    array([ 0.   ,  1.   ,  0.   ,  0.   ,  0.883, -0.069])
    """
    refuse_poses(arm, "link_angles")
    part = rows("fraction", fraction, arm.nu, "one for each joint")
    E = np.eye(arm.nu, arm.nv)
    for k, body in enumerate(arm.bodies):
        at = arm.body_joint_slice(k)
        if at.stop - at.start == 0 or not body.n_modes:
            continue
        if at.stop - at.start != 1 or not body.joint.screws[:3].any():
            raise ArgumentError(
                f"the joint of body {body.name!r} is {body.joint.kind}, expected one "
                "that turns, of one coordinate, under a flexible link"
            )
        tip, motion = tip_motion([arm.bodies[j] for j in arm._links[k]])
        axis = body.joint.screws[:3, 0]
        across = np.cross(axis / np.linalg.norm(axis), tip)
        size = float(across @ across)
        if size == 0.0:
            raise ArgumentError(
                f"the tip of body {body.name!r} is on the axis of its joint, expected "
                "a link that leads away from it"
            )
        modes = slice(
            arm.mode_slice(k).start, arm.mode_slice(k).start + motion.shape[1]
        )
        E[at, modes] = part[at.start] * (across @ motion[3:] / size)
    return E


@explained_class
@dataclass(frozen=True, eq=False)
class Inversion(Description):
    r"""Inversion control: exact linear dynamics of outputs, one for each joint.

    .. math::
       \tau = \left( E M^{-1} S \right)^{-1} \left( v - E \ddot q_0 \right), \qquad
       v = \ddot y_d + 2 \zeta\omega (\dot y_d - \dot y) + \omega^2 (y_d - y)

    with :math:`y = E q`, the accelerations :math:`\ddot q_0` that the arm has without
    forces, and S the columns of the joints: then :math:`\ddot y = v`.

    Parameters
    ----------
    arm : Arm
        Model; a tree without couplings and motors.
    desired : callable or (..., nu) array_like of float
        Motion of the outputs: ``desired(t)`` returns y and its first and second rate,
        as `RestToRest` does; or a set point.
    bandwidth : float or (..., nu) array_like of float
        :math:`\omega` in rad/s.
    damping_ratio : float or (..., nu) array_like of float
        :math:`\zeta`.
    outputs : "joints", "tips", or (nu, nv) array_like of float
        E: the joints, the tips of the links, or rows such as those of `link_angles`.
    postures : (..., nq) array_like of float, optional
        Where the internal dynamics have to be stable; by default where the desired
        motion is at time zero.  In rad and m.

    Attributes
    ----------
    internal : InternalDynamics
        Zeros in these postures.

    Raises
    ------
    ArgumentError
        If a value does not fit, the forces do not reach the outputs, or the internal
        dynamics are unstable; the sentence names the zero.
    ConvergenceError
        If a posture has no equilibrium.

    See Also
    --------
    ComputedTorque : joint outputs in a sampled loop with a model.
    CompositeControl : which damps the vibration.

    Notes
    -----
    For the joints of a rigid arm this is computed torque,
    :math:`\tau = M v + c + g`; that of the rigid part of a flexible one is
    `CompositeControl` without its fast part.

    The modes become unobservable: while the outputs rest, they move by the zero
    dynamics, whose eigenvalues are the transmission zeros from forces to outputs.  For
    joints these are the poles of the arm with locked joints, damped by its own damping
    alone.  For tips they are real pairs, one of which grows: an arm whose tip follows
    causally tears its modes apart.  In between there is a fraction of `link_angles` up
    to which the outputs can be inverted.

    References
    ----------
    .. [1] A. De Luca, B. Siciliano, "Inversion-based nonlinear control of robot arms
       with flexible links", *J. Guidance, Control, and Dynamics* 16 (1993), 1169-1176.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(damping=True)
    >>> law = fa.control.Inversion(arm, [0.3, 0.2], bandwidth=4.0)
    >>> qdd = fa.forward_dynamics(arm, np.zeros(6), np.zeros(6),
    ...                           law(0.0, np.zeros(6), np.zeros(6)))
    >>> qdd[:2]    # 4.0**2 * (0.3, 0.2)
    array([4.8, 3.2])
    >>> bool(law.internal.stable)
    True

    Many states in one call:

    >>> law(0.0, np.zeros((100, 6)), np.zeros((100, 6))).shape
    (100, 2)
    """

    arm: Arm
    desired: Any
    bandwidth: Any = 4.0
    damping_ratio: Any = 1.0
    outputs: Any = "joints"
    postures: Any = None
    E: Array = field(init=False, repr=False)
    internal: InternalDynamics = field(init=False, repr=False)

    def __post_init__(self) -> None:
        arm = self.arm
        refuse_poses(arm, "Inversion")
        read_arm(arm, "Inversion")
        refuse_motors(arm, "the arm of Inversion")
        refuse_constraints(arm, "Inversion")
        for name in ("bandwidth", "damping_ratio"):
            self._set(**{name: gains(name, getattr(self, name), arm.nu)})
        if not callable(self.desired):
            self._set(desired=rows("desired", self.desired, arm.nu, "one per output"))
        self._set(E=_rows(arm, self.outputs))
        q = self.postures
        if q is None:
            y = desired_at(self.desired, 0.0)[0]
            q = with_joints(arm, y)
        q = uninterrupted(equilibrium(arm, q)).check(stable=False).q
        self._set(internal=_internal_dynamics(arm, q, self.E))
        if not self.internal.stable.all():
            self._refuse()

    def _refuse(self) -> None:
        worst = np.ravel(self.internal.worst)
        s = worst[worst.real.argmax()]
        zero = f"{s.real:+.4g}" + (f" +- {abs(s.imag):.4g}i" if s.imag else "")
        many = ""
        if worst.size > 1:
            bad = int((~self.internal.stable).sum())
            many = f" in {bad} of {worst.size} postures, the worst one"
        which = f" {self.outputs!r}" if isinstance(self.outputs, str) else ""
        raise ArgumentError(
            f"the internal dynamics of the outputs{which} are unstable{many} with the "
            f"zero {zero} 1/s in the right half plane; expected outputs nearer to the "
            "joints, such as link_angles of a smaller fraction"
        )

    def __call__(self, t: float, q: Any, qd: Any) -> Array:
        """Forces (..., nu) of the joints in N m or N, for `simulate`."""
        arm, E = self.arm, self.E
        q, qd = read_state(self.arm, q, qd)
        y_d, yd_d, ydd_d = desired_at(self.desired, t)
        w, z = self.bandwidth, self.damping_ratio
        v = ydd_d + 2.0 * z * w * (yd_d - qd @ E.T) + w**2 * (y_d - q @ E.T)
        free = arm._model.quiet("forward_dynamics")(q, qd, np.zeros(arm.nu))
        reach = arm._model.quiet("mass_matrix_inverse")(q)[..., : arm.nu]
        return solve(E @ reach, v - free @ E.T)


def _internal_dynamics(arm: Arm, q: Any, E: Any) -> InternalDynamics:
    r"""Zero dynamics of outputs ``y = E q``, linearized about equilibria (..., nq).

    Motions with :math:`E q = 0` on which the joints move freely,

    .. math:: \left( M s^2 + D s + K \right)_{f \cdot} N z = 0, \qquad E N = 0 .
    """
    q, n = np.asarray(q, dtype=np.float64), arm.nu
    E = _rows(arm, E)
    nf = arm.nv - n
    if np.linalg.cond(E[:, :n]) > 1e12:
        raise ArgumentError(
            "the outputs have a singular part of the joints, expected outputs that "
            "determine the joints of a rigid arm"
        )
    N = np.concatenate([-np.linalg.solve(E[:, :n], E[:, n:]), np.eye(nf)])
    still = np.zeros(arm.nv)
    K, D = inverse_dynamics_derivatives(arm, q, still, still)
    inertia, D, K = ((X @ N)[..., n:, :] for X in (mass_matrix(arm, q), D, K))
    zeros = closed_poles(companion(inertia, K, D))
    if not nf:
        none = np.zeros(q.shape[:-1], dtype=np.complex128)
        return InternalDynamics(zeros, none.real == 0.0, none)
    size = np.abs(zeros).max(axis=-1, initial=0.0)
    at = zeros.real.argmax(axis=-1)[..., np.newaxis]
    worst = np.take_along_axis(zeros, at, axis=-1)[..., 0]
    return InternalDynamics(zeros, np.asarray(worst.real <= _ON_AXIS * size), worst)


def _rows(arm: Arm, outputs: Any) -> Array:
    """Rows E (nu, nv) of the outputs."""
    if isinstance(outputs, str):
        if outputs not in ("joints", "tips"):
            raise ArgumentError(
                f"outputs is {outputs!r}, expected 'joints', 'tips' or rows (nu, nv)"
            )
        return link_angles(arm, float(outputs == "tips"))
    E = np.array(real_array("outputs", outputs))
    if E.shape != (arm.nu, arm.nv):
        raise ArgumentError(
            f"outputs has shape {E.shape}, expected ({arm.nu}, {arm.nv}): one row for "
            "each joint, one column for each coordinate"
        )
    check_numbers("outputs", E)
    E.flags.writeable = False
    return E
