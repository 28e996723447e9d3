"""Rigid collaborative arms with published parameters: UR5e and Franka Panda."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arm import Arm
from ..bodies.joints import Joint
from ..bodies.models import RigidBody
from .industrial import dh_link, turn_x

# alpha in quarter turns, a (m), d (m), mass (kg), com (m) in the Denavit-Hartenberg
# frame at the end of the link, and inertia about it (kg m^2, xx xy xz yy yz zz)
_UR5E = (
    (
        *(1, 0.0, 0.1625, 3.761, (0.0, -0.02561, 0.00193)),
        (0.00700210, 7.3e-7, -1.053e-5, 0.00648091, 4.9994e-4, 0.00657286),
    ),
    (
        *(0, -0.425, 0.0, 8.058, (0.2125, 0.0, 0.11336)),
        (0.01505885, -5.4e-5, 5.63e-6, 0.33388086, -1.81e-6, 0.33247207),
    ),
    (
        *(0, -0.3922, 0.0, 2.846, (0.15, 0.0, 0.0265)),
        (0.00399632, -1.365e-5, 0.00137272, 0.07879254, -6.6e-6, 0.07848510),
    ),
    (
        *(1, 0.0, 0.1333, 1.37, (0.0, -0.0018, 0.01634)),
        (0.00165491, -2.82e-6, -4.38e-6, 0.00135962, 1.0157e-4, 0.00126279),
    ),
    (
        *(-1, 0.0, 0.0997, 1.3, (0.0, 0.0018, 0.01634)),
        (0.00135617, -2.74e-6, 4.44e-6, 0.00127827, -5.048e-5, 9.6614e-4),
    ),
    (
        *(0, 0.0, 0.0996, 0.365, (0.0, 0.0, -0.001159)),
        (1.8694e-4, 6e-8, -1.7e-7, 1.8908e-4, -9.2e-7, 2.5756e-4),
    ),
)
_UR5E_EFFORTS = (150.0, 150.0, 150.0, 28.0, 28.0, 28.0)

# joint frame on the link before (m, quarter turns about x), mass (kg), com (m) and
# inertia about it (kg m^2, xx xy xz yy yz zz) in the frame of the link
_PANDA = (
    (
        *((0.0, 0.0, 0.333), 0, 4.970684, (3.875e-3, 2.081e-3, -4.762e-2)),
        (0.70337, -1.39e-4, 6.772e-3, 0.70661, 1.9169e-2, 9.117e-3),
    ),
    (
        *((0.0, 0.0, 0.0), -1, 0.646926, (-3.141e-3, -2.872e-2, 3.495e-3)),
        (7.962e-3, -3.925e-3, 1.0254e-2, 2.811e-2, 7.04e-4, 2.5995e-2),
    ),
    (
        *((0.0, -0.316, 0.0), 1, 3.228604, (2.7518e-2, 3.9252e-2, -6.6502e-2)),
        (3.7242e-2, -4.761e-3, -1.1396e-2, 3.6155e-2, -1.2805e-2, 1.083e-2),
    ),
    (
        *((0.0825, 0.0, 0.0), 1, 3.587895, (-5.317e-2, 1.04419e-1, 2.7454e-2)),
        (2.5853e-2, 7.796e-3, -1.332e-3, 1.9552e-2, 8.641e-3, 2.8323e-2),
    ),
    (
        *((-0.0825, 0.384, 0.0), -1, 1.225946, (-1.1953e-2, 4.1065e-2, -3.8437e-2)),
        (3.5549e-2, -2.117e-3, -4.037e-3, 2.9474e-2, 2.29e-4, 8.627e-3),
    ),
    (
        *((0.0, 0.0, 0.0), 1, 1.666555, (6.0149e-2, -1.4117e-2, -1.0517e-2)),
        (1.964e-3, 1.09e-4, -1.158e-3, 4.354e-3, 3.41e-4, 5.433e-3),
    ),
    (
        *((0.088, 0.0, 0.0), 1, 0.735522, (1.0517e-2, -4.252e-3, 6.1597e-2)),
        (1.2516e-2, -4.28e-4, -1.196e-3, 1.0027e-2, -7.41e-4, 4.815e-3),
    ),
)
# least and largest angle (rad), rate (rad/s), acceleration (rad/s^2), torque (N m)
_PANDA_LIMITS = (
    (-2.8973, 2.8973, 2.175, 15.0, 87.0),
    (-1.7628, 1.7628, 2.175, 7.5, 87.0),
    (-2.8973, 2.8973, 2.175, 10.0, 87.0),
    (-3.0718, -0.0698, 2.175, 12.5, 87.0),
    (-2.8973, 2.8973, 2.61, 15.0, 12.0),
    (-0.0175, 3.7525, 2.61, 20.0, 12.0),
    (-2.8973, 2.8973, 2.61, 20.0, 12.0),
)
_PANDA_FLANGE = (0.0, 0.0, 0.107)


def _matrix(six: tuple[float, ...]) -> NDArray[np.float64]:
    """Symmetric matrix of (xx, xy, xz, yy, yz, zz)."""
    xx, xy, xz, yy, yz, zz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def ur5e() -> Arm:
    r"""Universal Robots UR5e, six revolute joints, rigid.

    Returns
    -------
    arm : Arm
        Bodies ``"link1"`` to ``"link6"``, gravity 9.81 m/s^2 along -z; the last node
        is the flange.

    See Also
    --------
    poses : the configurations upright and bent.

    Notes
    -----
    Denavit-Hartenberg rows (standard ones), masses and mass centres ``r`` in the frame
    at the **end** of the link are those of the maker [1]_, in SI units:

    ====  =====  =======  ======  =====  =======================
    link  alpha  a        d       mass   r
    ====  =====  =======  ======  =====  =======================
    1     pi/2   0        0.1625  3.761  0, -0.02561, 0.00193
    2     0      -0.425   0       8.058  0.2125, 0, 0.11336
    3     0      -0.3922  0       2.846  0.15, 0, 0.0265
    4     pi/2   0        0.1333  1.37   0, -0.0018, 0.01634
    5     -pi/2  0        0.0997  1.3    0, 0.0018, 0.01634
    6     0      0        0.0996  0.365  0, 0, -0.001159
    ====  =====  =======  ======  =====  =======================

    Inertias about the mass centres, along the axes of those frames, are those of the
    maker's description for ROS 2 [2]_; the article [1]_ leaves them out as negligible.
    Rotor inertia and friction are not published, and not included.

    Limits are those of [2]_, after the user manual and the maker's table of largest
    joint torques: positions 360 degrees in both directions, rates 180 degrees/s,
    torques 150, 150, 150, 28, 28 and 28 N m.  The elbow has the range of the manual,
    although it meets the upper arm at about 180 degrees.

    The frame of a body sits on its joint axis (z), turned by the joint, where the
    Denavit-Hartenberg frame would be before d, a and alpha; its node ``"tip"`` is the
    origin of the Denavit-Hartenberg frame.  The base frame is that of the maker, z up:
    at zero the arm lies stretched along -x.

    References
    ----------
    .. [1] Universal Robots, "DH parameters for calculations of kinematics and
       dynamics", support article, UR5e.
    .. [2] UniversalRobots/Universal_Robots_ROS2_Description, ``config/ur5e``:
       ``physical_parameters.yaml`` and ``joint_limits.yaml``.

    Examples
    --------
    Stretched along -x, the flange is at -(0.425 + 0.3922), -(0.1333 + 0.0996) and
    0.1625 - 0.0997 m:

    >>> import flexarm as fa
    >>> arm = fa.library.ur5e()
    >>> fa.tip_pose(arm, [0.0] * 6)[:3, 3].round(6)
    array([-0.8172, -0.2329,  0.0628])
    """
    bodies = []
    rotation = np.eye(3)
    for i, (quarters, a, d, mass, r, inertia) in enumerate(_UR5E):
        joint = Joint(
            axis=(0, 0, 1),
            rotation=rotation,
            limits=(-2.0 * np.pi, 2.0 * np.pi),
            velocity_limit=np.pi,
            effort_limit=_UR5E_EFFORTS[i],
        )
        bodies.append(dh_link(i, joint, (quarters, a, d), mass, r, _matrix(inertia)))
        rotation = turn_x(quarters)
    return Arm(bodies, name="ur5e")


def panda() -> Arm:
    """Franka Emika Panda, seven revolute joints, rigid, without its hand.

    Returns
    -------
    arm : Arm
        Bodies ``"link1"`` to ``"link7"``, gravity 9.81 m/s^2 along -z; the last node
        is the flange.

    See Also
    --------
    poses : the configuration ready.

    Notes
    -----
    Geometry and limits are those of the maker [1]_.  Inertial parameters are those that
    Gaz et al. identified on the robot [2]_, as the maker's description for ROS had
    them; later versions of it have others.  SI units; the position of each joint stands
    in the frame of the link before, mass centre and inertia about it in the frame of
    the link, whose z is the joint axis (modified Denavit-Hartenberg frames).

    ====  =================  ========  =================================
    link  joint at           mass      mass centre
    ====  =================  ========  =================================
    1     0, 0, 0.333        4.970684  0.003875, 0.002081, -0.04762
    2     0, 0, 0            0.646926  -0.003141, -0.02872, 0.003495
    3     0, -0.316, 0       3.228604  0.027518, 0.039252, -0.066502
    4     0.0825, 0, 0       3.587895  -0.05317, 0.104419, 0.027454
    5     -0.0825, 0.384, 0  1.225946  -0.011953, 0.041065, -0.038437
    6     0, 0, 0            1.666555  0.060149, -0.014117, -0.010517
    7     0.088, 0, 0        0.735522  0.010517, -0.004252, 0.061597
    ====  =================  ========  =================================

    The identification gives the combinations of parameters that forces depend on; how
    they are shared between the links, such as the small mass of link 2, is the choice
    of an optimization within physical bounds.  What no motion on an upright base shows,
    among it the height of the mass centre of link 1, means nothing.  Rotor inertia and
    friction are not included.

    Limits of [1]_: positions, velocities 2.175 (joints 1 to 4) and 2.61 rad/s,
    accelerations 15, 7.5, 10, 12.5, 15, 20 and 20 rad/s^2, torques 87 and 12 N m.

    References
    ----------
    .. [1] Franka Emika, *Franka Control Interface: Robot and interface specifications*,
       Denavit-Hartenberg parameters and limits for Panda.
    .. [2] C. Gaz, M. Cognetti, A. Oliva, P. Robuffo Giordano, A. De Luca, "Dynamic
       identification of the Franka Emika Panda robot with retrieval of feasible
       parameters using penalty-based optimization", *IEEE Robotics and Automation
       Letters* 4 (2019), 4147-4154; frankaemika/franka_ros, ``inertial.yaml``.

    Examples
    --------
    At zero, which joint 4 does not reach, the flange looks down from
    0.333 + 0.316 + 0.384 - 0.107 m:

    >>> import flexarm as fa
    >>> arm = fa.library.panda()
    >>> fa.tip_pose(arm, [0.0] * 7)[:3, 3].round(6)
    array([0.088, 0.   , 0.926])
    """
    bodies = []
    for i, (position, quarters, mass, com, inertia) in enumerate(_PANDA):
        least, largest, rate, acceleration, effort = _PANDA_LIMITS[i]
        joint = Joint(
            axis=(0, 0, 1),
            position=position if i == 0 else (0, 0, 0),
            rotation=turn_x(quarters),
            limits=(least, largest),
            velocity_limit=rate,
            acceleration_limit=acceleration,
            effort_limit=effort,
        )
        end = _PANDA[i + 1][0] if i < 6 else _PANDA_FLANGE
        bodies.append(
            RigidBody(
                f"link{i + 1}",
                joint,
                mass=mass,
                com=com,
                inertia=inertia,
                nodes={"tip": end},
            )
        )
    return Arm(bodies, name="panda")
