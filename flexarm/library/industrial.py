"""Rigid arms with published parameters: PUMA 560, LBR iiwa 14, UR5e and Panda."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .._calls.doors import checked
from .._support.arrays import Array
from ..arm import Arm
from ..bodies import Joint, RigidBody


def turn_x(quarters: int) -> np.ndarray:
    """Rotation about x by exact quarter turns."""
    c, s = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def table(text: str) -> Array:
    """Numbers of a text, a row for each line."""
    return np.array([line.split() for line in text.strip().splitlines()], float)


def symmetric(sides: Array) -> Array:
    """Symmetric matrices, (n, 3, 3), of rows xx, xy, xz, yy, yz, zz."""
    return sides[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)


def dh_arm(
    name: str,
    joints: Iterable[Joint],
    rows: Iterable[Sequence[float]],
    inertias: Iterable[Array],
) -> Arm:
    """Rigid arm of standard Denavit-Hartenberg rows.

    Parameters
    ----------
    name : str
        Of the arm.
    joints : iterable of Joint
        Joints about z; each gets its rotation here.
    rows : iterable of sequences of float
        alpha in quarter turns, a and d in m, mass in kg, and the mass centre in the
        frame at the end of the link, in m; more columns are left out.
    inertias : iterable of (3, 3) ndarray
        About the mass centre, along the axes of the frame at the end.
    """
    bodies, rotation = [], np.eye(3)
    for i, (joint, row, inertia) in enumerate(zip(joints, rows, inertias, strict=True)):
        quarters, a, d, mass, *r = row[:7]
        turn, end = turn_x(int(quarters)), np.array([a, 0.0, d])
        bodies.append(
            RigidBody(
                f"link{i + 1}",
                joint.replace(rotation=rotation),
                mass=mass,
                com=end + turn @ r if mass else np.zeros(3),
                inertia=turn @ inertia @ turn.T,
                nodes={"tip": end},
            )
        )
        rotation = turn
    return Arm(bodies, name=name)


def frames_arm(
    name: str,
    joints: Iterable[Joint],
    rows: Array,
    inertias: Array,
) -> Arm:
    """Rigid arm of links whose frames sit on their joints.

    Parameters
    ----------
    name : str
        Of the arm.
    joints : iterable of Joint
        Joints about z; the first one gets its position here.
    rows : (n + 1, k) ndarray
        Place of the joint in the frame of the link before, in m, mass in kg and mass
        centre in m; more columns are left out.  Last the place of the flange.
    inertias : (n, 3) or (n, 3, 3) ndarray
        About the mass centre, in kg m^2.
    """
    bodies = [
        RigidBody(
            f"link{i + 1}",
            joint if i else joint.replace(position=rows[0, :3]),
            mass=rows[i, 3],
            com=rows[i, 4:7],
            inertia=inertias[i],
            nodes={"tip": rows[i + 1, :3]},
        )
        for i, joint in enumerate(joints)
    ]
    return Arm(bodies, name=name)


_HALF_Z = np.diag([-1.0, -1.0, 1.0])  # half a turn about z

# alpha in quarter turns, a (m), d (m), mass (kg), com (m) and inertia about it
# (kg m^2, xx yy zz) in the Denavit-Hartenberg frame at the end of the link, then
# gear ratio and viscous friction of the motor (N m s)
_PUMA = (
    (1, 0.0, 0.0, 0.0, (0, 0, 0), (0, 0.35, 0), -62.6111, 1.48e-3),
    (
        *(0, 0.4318, 0.0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
        *(107.815, 0.817e-3),
    ),
    (
        *(-1, 0.0203, 0.15005, 4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125)),
        *(-53.7063, 1.38e-3),
    ),
    (
        *(1, 0.0, 0.4318, 0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3)),
        *(76.0364, 71.2e-6),
    ),
    (-1, 0.0, 0.0, 0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3), 71.923, 82.6e-6),
    (0, 0.0, 0.0, 0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3), 76.686, 36.7e-6),
)

# least and largest angle (degrees), largest torque (N m)
_PUMA_LIMITS = (
    (-160, 160, 97.6),
    (-45, 225, 186.4),
    (-225, 45, 89.4),
    (-110, 170, 24.2),
    (-100, 100, 20.1),
    (-266, 266, 21.3),
)

# moved from link 1 to link 3, without effect on the motion (kg m^2)
_PUMA_SHIFT = 0.004
_PUMA_CHANGES = {
    0: (0.175, 0.35 - _PUMA_SHIFT, 0.175),
    2: (0.066 + _PUMA_SHIFT, 0.086, 0.0125 + _PUMA_SHIFT),
}


@checked
def puma560(*, damping: bool = False) -> Arm:
    r"""PUMA 560, six revolute joints, rigid.

    Parameters
    ----------
    damping : bool
        Viscous friction of the motors as seen at the joints, :math:`G^2 B`; the
        Coulomb friction of the source is left out.

    Returns
    -------
    arm : Arm
        Bodies ``"link1"`` to ``"link6"``, gravity 9.81 m/s^2 along -z.

    See Also
    --------
    poses : the configurations ready, stretched and nominal.

    Notes
    -----
    Parameters in SI units, as in Corke's Robotics Toolbox [1]_, after the
    measurements of Armstrong, Khatib and Burdick [2]_ and the comparison in [3]_.
    Denavit-Hartenberg angles and offsets are the standard ones; mass centre
    ``r`` and inertia ``I`` about it are in the frame at the **end** of the link.

    ====  =====  ======  =======  =====  =======================  ===================
    link  alpha  a       d        mass   r                        I xx, yy, zz
    ====  =====  ======  =======  =====  =======================  ===================
    1     pi/2   0       0        0      0, 0, 0                  0, 0.35, 0
    2     0      0.4318  0        17.4   -0.3638, 0.006, 0.2275   0.13, 0.524, 0.539
    3     -pi/2  0.0203  0.15005  4.8    -0.0203, -0.0141, 0.070  .066, .086, .0125
    4     pi/2   0       0.4318   0.82   0, 0.019, 0              1.8e-3 1.3e-3 1.8e-3
    5     -pi/2  0       0        0.34   0, 0, 0                  3e-4, 4e-4, 3e-4
    6     0      0       0        0.09   0, 0, 0.032              1.5e-4 1.5e-4 4e-5
    ====  =====  ======  =======  =====  =======================  ===================

    The frame of a body sits on its joint axis (z), turned by the joint, where the
    Denavit-Hartenberg frame would be before d, a and alpha; its node ``"tip"`` is the
    origin of the Denavit-Hartenberg frame.  The base frame is at the shoulder, where
    the axes of joints 1 and 2 meet.

    The printed inertias of links 1 and 3 are not physical (one principal moment is
    above the sum of the others), so the model has others with **the same equations of
    motion**.  The axes of joints 2 and 3 are horizontal, hence the
    rotation of link 3 across its joint axis is that of joint 1:
    0.004 kg m^2 are added to xx and zz of link 3 and taken from yy of link 1,
    whose xx and zz, without effect, are set to 0.175.

    Limits of positions are those of [1]_, -160 to 160, -45 to 225, -225 to 45, -110 to
    170, -100 to 100 and -266 to 266 degrees; those of efforts the largest torques of
    [2]_ (table of motors and drives), 97.6, 186.4, 89.4, 24.2, 20.1 and 21.3 N m.

    The inertia of the rotors (:math:`G^2 J_m` at the joints, 0.2 to 2.3 kg m^2) is not
    included.  Without it the friction stops the hand within a millisecond, so that
    the damped arm needs very small steps or a stiff solver.

    References
    ----------
    .. [1] P. Corke, *Robotics Toolbox*, model ``mdl_puma560`` (parameters of 8/95).
    .. [2] B. Armstrong, O. Khatib, J. Burdick, "The explicit dynamic model and
       inertial parameters of the PUMA 560 arm", *IEEE Int. Conf. Robotics and
       Automation*, 1986, 510-518.
    .. [3] P. Corke, B. Armstrong-Helouvry, "A search for consensus among model
       parameters reported for the PUMA 560 robot", *IEEE Int. Conf. Robotics and
       Automation*, 1994, 1608-1613.

    Examples
    --------
    Torques that hold the nominal pose, in N m (31.6399, 6.0351 and 0.0283 in [1]_):

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.puma560()
    >>> q = fa.library.poses(arm)["nominal"]
    >>> bool(np.allclose(fa.gravity_forces(arm, q)[[1, 2, 4]],
    ...                  [31.6399, 6.0351, 0.0283], atol=5e-5))
    True
    """
    joints = (
        Joint(
            axis=(0, 0, 1),
            damping=gear**2 * viscous * damping,
            limits=np.radians([least, largest]),
            effort_limit=effort,
        )
        for (*_, gear, viscous), (least, largest, effort) in zip(
            _PUMA, _PUMA_LIMITS, strict=True
        )
    )
    rows = [(*row[:4], *row[4]) for row in _PUMA]
    moments = [np.diag(_PUMA_CHANGES.get(i, row[5])) for i, row in enumerate(_PUMA)]
    return dh_arm("puma560", joints, rows, moments)


# joint on the link before (m), mass (kg), com (m) and inertia about it (kg m^2, xx yy
# zz) in the frame of the link, its quarter turns about x and half turns about z, then
# largest angle in both directions (degrees), rate (degrees/s), torque (N m); the flange
_IIWA = table("""
    0 0 0.1575  5.76  0 -0.03 0.12         0.033  0.0333 0.0123   0 0  170 85 320
    0 0 0.2025  6.35  0.0003 0.059 0.042   0.0305 0.011  0.0304   1 1  120 85 320
    0 0.2045 0  3.5   0 0.03 0.13          0.025  0.0238 0.0076   1 1  170 100 176
    0 0 0.2155  3.5   0 0.067 0.034        0.017  0.006  0.0164   1 0  120 75 176
    0 0.1845 0  3.5   0.0001 0.021 0.076   0.01   0.0087 0.00449  1 1  170 130 110
    0 0 0.2155  1.8   0 0.0006 0.0004      0.0049 0.0047 0.0036   1 0  120 135 40
    0 0.081 0   1.2   0 0 0.02             0.001  0.001  0.001    1 1  175 135 40
    0 0 0.045   0     0 0 0                0      0      0        0 0  0   0   0
""")


@checked
def iiwa14(*, damping: bool = False) -> Arm:
    """KUKA LBR iiwa 14 R820, seven revolute joints, rigid.

    Parameters
    ----------
    damping : bool
        Viscous friction of 0.5 N m s at every joint, as in the source.

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
    Parameters in SI units, those of the model in Drake [1]_, which descends from
    ``iiwa_stack`` [2]_.  The position of each joint stands in the frame of the link
    before, mass centre and inertia about it in the frame of the link, whose z is the
    joint axis; at zero the arm stands upright.

    ====  ==============  =====  ======================  =======================
    link  joint at        mass   mass centre             inertia xx, yy, zz
    ====  ==============  =====  ======================  =======================
    1     0, 0, 0.1575    5.76   0, -0.03, 0.12          0.033, 0.0333, 0.0123
    2     0, 0, 0.2025    6.35   0.0003, 0.059, 0.042    0.0305, 0.011, 0.0304
    3     0, 0.2045, 0    3.5    0, 0.03, 0.13           0.025, 0.0238, 0.0076
    4     0, 0, 0.2155    3.5    0, 0.067, 0.034         0.017, 0.006, 0.0164
    5     0, 0.1845, 0    3.5    0.0001, 0.021, 0.076    0.01, 0.0087, 0.00449
    6     0, 0, 0.2155    1.8    0, 0.0006, 0.0004       0.0049, 0.0047, 0.0036
    7     0, 0.081, 0     1.2    0, 0, 0.02              0.001, 0.001, 0.001
    ====  ==============  =====  ======================  =======================

    The geometry is that of the maker.  **The inertial parameters are not**: KUKA
    publishes none.  Drake took the masses from another laboratory because they
    matched recorded holding torques better, without a documented identification,
    and other models differ by tens of percent ([2]_: 4, 4, 3, 2.7, 1.7, 1.8,
    0.3 kg).  They serve for benchmarks and simulation, not for feedforward on a real
    arm.  The inertias of links 2 and 4 are those after Drake's correction of July 2023
    (yy and zz were exchanged before).  Rotor inertia is not included.

    Limits are those of the data sheet [3]_: positions 170, 120, 170, 120, 170, 120 and
    175 degrees in both directions, velocities 85, 85, 100, 75, 130, 135 and 135
    degrees/s, torques 320, 320, 176, 176, 110, 40 and 40 N m.

    References
    ----------
    .. [1] RobotLocomotion/drake, ``manipulation/models/iiwa_description`` (now in
       ``drake_models``), ``iiwa14_primitive_collision.urdf``, pull requests 4631
       (masses) and 19830 (links 2 and 4).
    .. [2] C. Hennersperger et al., "Towards MRI-based autonomous robotic US
       acquisitions", *IEEE Trans. Medical Imaging* 36 (2017), 538-548; software
       IFL-CAMP/iiwa_stack, ``iiwa14.xacro``.
    .. [3] KUKA Roboter GmbH, *LBR iiwa 7 R800, LBR iiwa 14 R820: Specification*, basic
       data and axis data of the LBR iiwa 14 R820.

    Examples
    --------
    Upright, the flange is 1.306 m above the floor:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.iiwa14()
    >>> z = fa.tip_pose(arm, np.zeros(7))[2, 3]
    >>> round(float(z), 6)
    1.306
    """
    joints = (
        Joint(
            axis=(0, 0, 1),
            rotation=_HALF_Z @ turn_x(int(x)) if half else turn_x(int(x)),
            damping=0.5 * damping,
            limits=np.radians([-largest, largest]),
            velocity_limit=np.radians(rate),
            effort_limit=effort,
        )
        for x, half, largest, rate, effort in _IIWA[:7, 10:]
    )
    return frames_arm("iiwa14", joints, _IIWA, _IIWA[:, 7:10])


# alpha in quarter turns, a (m), d (m), mass (kg), com (m) in the Denavit-Hartenberg
# frame at the end of the link, and inertia about it (kg m^2, xx xy xz yy yz zz)
_UR5E = table("""
    1  0 0.1625 3.761  0 -0.02561 0.00193
    0  -0.425 0 8.058  0.2125 0 0.11336
    0  -0.3922 0 2.846  0.15 0 0.0265
    1  0 0.1333 1.37  0 -0.0018 0.01634
    -1  0 0.0997 1.3  0 0.0018 0.01634
    0  0 0.0996 0.365  0 0 -0.001159
""")
_UR5E_INERTIAS = table("""
    0.00700210 7.3e-7 -1.053e-5 0.00648091 4.9994e-4 0.00657286
    0.01505885 -5.4e-5 5.63e-6 0.33388086 -1.81e-6 0.33247207
    0.00399632 -1.365e-5 0.00137272 0.07879254 -6.6e-6 0.07848510
    0.00165491 -2.82e-6 -4.38e-6 0.00135962 1.0157e-4 0.00126279
    0.00135617 -2.74e-6 4.44e-6 0.00127827 -5.048e-5 9.6614e-4
    1.8694e-4 6e-8 -1.7e-7 1.8908e-4 -9.2e-7 2.5756e-4
""")
_UR5E_EFFORTS = (150.0, 150.0, 150.0, 28.0, 28.0, 28.0)


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
    joints = (
        Joint(
            axis=(0, 0, 1),
            limits=(-2.0 * np.pi, 2.0 * np.pi),
            velocity_limit=np.pi,
            effort_limit=effort,
        )
        for effort in _UR5E_EFFORTS
    )
    return dh_arm("ur5e", joints, _UR5E.tolist(), symmetric(_UR5E_INERTIAS))


# joint on the link before (m), mass (kg), com (m) in the frame of the link, its quarter
# turns about x; the flange
_PANDA = table("""
    0 0 0.333  4.970684 3.875e-3 2.081e-3 -4.762e-2  0
    0 0 0  0.646926 -3.141e-3 -2.872e-2 3.495e-3  -1
    0 -0.316 0  3.228604 2.7518e-2 3.9252e-2 -6.6502e-2  1
    0.0825 0 0  3.587895 -5.317e-2 1.04419e-1 2.7454e-2  1
    -0.0825 0.384 0  1.225946 -1.1953e-2 4.1065e-2 -3.8437e-2  -1
    0 0 0  1.666555 6.0149e-2 -1.4117e-2 -1.0517e-2  1
    0.088 0 0  0.735522 1.0517e-2 -4.252e-3 6.1597e-2  1
    0 0 0.107  0 0 0 0  0
""")
# least and largest angle (rad), rate (rad/s), acceleration (rad/s^2), torque (N m)
_PANDA_LIMITS = table("""
    -2.8973 2.8973 2.175 15 87
    -1.7628 1.7628 2.175 7.5 87
    -2.8973 2.8973 2.175 10 87
    -3.0718 -0.0698 2.175 12.5 87
    -2.8973 2.8973 2.61 15 12
    -0.0175 3.7525 2.61 20 12
    -2.8973 2.8973 2.61 20 12
""")
# about the mass centre, in kg m^2: xx xy xz yy yz zz
_PANDA_INERTIAS = table("""
    0.70337 -1.39e-4 6.772e-3 0.70661 1.9169e-2 9.117e-3
    7.962e-3 -3.925e-3 1.0254e-2 2.811e-2 7.04e-4 2.5995e-2
    3.7242e-2 -4.761e-3 -1.1396e-2 3.6155e-2 -1.2805e-2 1.083e-2
    2.5853e-2 7.796e-3 -1.332e-3 1.9552e-2 8.641e-3 2.8323e-2
    3.5549e-2 -2.117e-3 -4.037e-3 2.9474e-2 2.29e-4 8.627e-3
    1.964e-3 1.09e-4 -1.158e-3 4.354e-3 3.41e-4 5.433e-3
    1.2516e-2 -4.28e-4 -1.196e-3 1.0027e-2 -7.41e-4 4.815e-3
""")


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
    joints = (
        Joint(
            axis=(0, 0, 1),
            rotation=turn_x(int(quarters)),
            limits=(least, largest),
            velocity_limit=rate,
            acceleration_limit=acceleration,
            effort_limit=effort,
        )
        for quarters, (least, largest, rate, acceleration, effort) in zip(
            _PANDA[:7, 7], _PANDA_LIMITS, strict=True
        )
    )
    return frames_arm("panda", joints, _PANDA, symmetric(_PANDA_INERTIAS))
