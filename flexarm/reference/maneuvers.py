"""Motions of the literature: set points, feedback, initial state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._calls.doors import checked
from .._support.arrays import Array
from .._support.checks import short_text, whole_number
from ..arm import Arm
from ..dynamics.mass import mass_matrix
from ..errors import ModelError
from ..simulation.joint_feedback import JointFeedback
from ..statics import holding_forces

# Samples of a manoeuvre at most, one each 5 us.
_MAX_SAMPLES = 1_200_001
# Bandwidths in rad/s of joints 1 to 4.
_BANDWIDTH = (2.5, 4.0, 4.0, 15.0)


class Maneuver(NamedTuple):
    """Arguments of `simulate` for a motion, with ``interpolation="hold"``.

    Attributes
    ----------
    t : (n,) ndarray of float
        Times in s.
    q0, qd0 : (nq,), (nv,) ndarray of float
        Initial state.
    torque : JointFeedback
        Set points at these times, gains and feedforward.
    """

    t: Array
    q0: Array
    qd0: Array
    torque: JointFeedback


@checked
def cibicik_egeland_maneuver(arm: Arm, n: int = 601) -> Maneuver:
    r"""Six seconds of the arm of Cibicik and Egeland under PD control.

    ======  ============================================================================
    time    event
    ======  ============================================================================
    0 s     undeformed and at rest at (0, pi/6, 2 pi/3, pi/6), which is the set point;
            gravity sets the links free
    0.5 s   set point of joints 2, 3 and 4 becomes (pi/3, pi/3, pi/3)
    3 s     set point of joint 1 becomes pi/4
    6 s     end
    ======  ============================================================================

    Parameters
    ----------
    arm : Arm
        `cibicik_egeland`, with any number of modes and any fidelity.
    n : int
        Number of samples in the six seconds, one more than a multiple of 12, so that
        0.5 s and 3 s are among them; at most 1200001.

    Returns
    -------
    Maneuver
        ``t, q0, qd0, torque``.

    Raises
    ------
    ModelError
        If the arm is another one, or `n` is not one more than a multiple of 12 or too
        large.

    See Also
    --------
    flexarm.control.JointFeedback : the law.

    Notes
    -----
    The paper [1]_, section VI-B, has initial state and set points, but neither gains
    nor the compensation of gravity.  Here, joint by joint,

    .. math:: K_p = I \omega^2, \quad K_d = 2 I \omega

    critically damped for the largest inertia I that the joint moves in the two poses,
    deflections aside, with omega = 4 rad/s for joints 2 and 3, a sixth of the lowest
    frequency with locked joints (3.9 Hz), so that control and vibration stay apart, and
    15 rad/s for joint 4, whose load has a hundredth of the inertia.  Joint 1 has 2.5
    rad/s: its step bends the links sideways and twists them, and beyond 4 rad/s they
    leave the range of the linear model, whose mass matrix then is indefinite.  Each
    step has settled to one percent before the next.  The feedforward is the torque that
    holds the arm at the set point in static equilibrium, with deflected links, as in
    [2]_; the set point is then an equilibrium and no error remains.

    Until 3 s all motion is in the plane of the links.  Torsion and bending along z are
    zero, to the last bit.

    References
    ----------
    .. [1] A. Cibicik, O. Egeland, "Kinematics and dynamics of flexible robotic
       manipulators using dual screws", *IEEE Trans. Robotics* 37 (2021), 206-224.
    .. [2] A. De Luca, B. Siciliano, "Regulation of flexible arms under gravity", *IEEE
       Trans. Robotics and Automation* 9 (1993), 463-467.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.cibicik_egeland()
    >>> t, q0, qd0, law = fa.reference.maneuvers.cibicik_egeland_maneuver(arm)
    >>> print(law.kp.round(1), law.kd.round(1))
    [ 717.  1953.8  380.4   16.1] [573.6 976.9 190.2   2.2]
    >>> run = fa.simulate(
    ...     arm, q0, qd0, t, torque=law, interpolation="hold", method="ROS34PW2",
    ...     max_step=1e-3,
    ... )
    >>> print(abs(run.q[-1, :4] - law.reference[-1]).max() < 5e-3)
    True
    """
    if arm.name != "cibicik_egeland":
        raise ModelError(
            f"the arm is {short_text(arm.name)}, expected 'cibicik_egeland' of the "
            "library"
        )
    n = whole_number("n", n, maximum=_MAX_SAMPLES)
    if n < 13 or n % 12 != 1:
        raise ModelError(
            f"n is {short_text(n)}, expected one more than a multiple of 12, such as "
            "601: set points change at 0.5 s and 3 s of six"
        )

    # gains by the largest inertia of each joint in both poses
    q0, middle, end = np.array([arm.neutral] * 3)
    q0[:4] = 0.0, np.pi / 6, 2 * np.pi / 3, np.pi / 6
    middle[:4] = 0.0, np.pi / 3, np.pi / 3, np.pi / 3
    end[:4] = np.pi / 4, *middle[1:4]
    inertia = np.diagonal(mass_matrix(arm, np.array([q0, end])), axis1=1, axis2=2)
    heaviest = inertia[:, : arm.nj].max(axis=0)
    omega = np.array(_BANDWIDTH)

    # set points, and torques that hold them
    phase = np.zeros(n, dtype=int)
    phase[n // 12 :] = 1
    phase[n // 2 :] = 2
    steps = np.array([q0, middle, end])
    hold = holding_forces(arm, steps)
    law = JointFeedback(
        heaviest * omega**2,
        2.0 * heaviest * omega,
        steps[phase, : arm.nj],
        feedforward=hold[phase],
    )
    return Maneuver(np.linspace(0.0, 6.0, n), q0, np.zeros(arm.nv), law)
