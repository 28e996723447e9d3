"""Rigid arm of a mobile robot with published parameters: KUKA youBot."""

from __future__ import annotations

import numpy as np

from .._calls.doors import checked
from ..arm import Arm
from ..bodies import Joint, RigidBody
from .industrial import turn_x

# joint frame on the link before (m, quarter turns about x and then about its z),
# sense of the joint about z, mass (kg), mass centre (m), principal moments (kg m^2),
# frame of the principal axes (degrees about x, then about its y and its z)
_YOUBOT = (
    (
        *((0.024, 0.0, 0.115), (2, 0), 1, 1.390, (0.01516, 0.00359, 0.03105)),
        *((0.0029525, 0.0060091, 0.0058821), (0, 20, 180)),
    ),
    (
        *((0.033, 0.0, 0.0), (1, -1), 1, 1.318, (0.11397, 0.015, -0.01903)),
        *((0.0031145, 0.0005843, 0.0031631), (-90, 0, -90)),
    ),
    (
        *((0.155, 0.0, 0.0), (0, -1), 1, 0.821, (0.00013, 0.10441, 0.02022)),
        *((0.00172767, 0.00041967, 0.0018468), (90, 0, 0)),
    ),
    (
        *((0.0, 0.135, 0.0), (0, 0), 1, 0.769, (0.00015, 0.05353, -0.02464)),
        *((0.0006764, 0.0010573, 0.000661), (40, 180, 0)),
    ),
    (
        *((0.0, 0.1136, 0.0), (-1, 0), -1, 0.687, (0.0, 0.0012, -0.01648)),
        *((0.0001934, 0.0001602, 0.0000689), (0, 90, 0)),
    ),
)
_YOUBOT_FLANGE = (0.0, 0.0, 0.05716)
# least and largest angle (degrees), torque (N m), ratio of the gear, rotor (kg m^2)
_YOUBOT_JOINTS = (
    (-169.0, 169.0, 9.5, 156.0, 13.5e-6),
    (-65.0, 90.0, 9.5, 156.0, 13.5e-6),
    (-151.0, 146.0, 6.0, 100.0, 13.5e-6),
    (-102.5, 102.5, 2.0, 71.0, 9.25e-6),
    (-165.0, 165.0, 1.0, 71.0, 3.5e-6),
)


def _turn_z(quarters: int) -> np.ndarray:
    """Rotation about z by exact quarter turns."""
    c, s = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _principal_axes(degrees: tuple[int, int, int]) -> np.ndarray:
    """Rotation about x, then about the new y, then about the new z."""
    (cx, cy, cz), (sx, sy, sz) = (f(np.radians(degrees)) for f in (np.cos, np.sin))
    x = np.array([[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]])
    y = np.array([[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]])
    z = np.array([[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]])
    return x @ y @ z  # type: ignore[no-any-return]


@checked
def youbot(*, rotors: bool = False) -> Arm:
    r"""KUKA youBot arm, five revolute joints, rigid, without its gripper.

    Parameters
    ----------
    rotors : bool
        Inertia of the rotors as seen at the joints, :math:`G^2 J_m`, as the `armature`
        of the joints.  It is larger than that of the links: 0.33, 0.33, 0.135, 0.047
        and 0.018 kg m^2.

    Returns
    -------
    arm : Arm
        Bodies ``"link1"`` to ``"link5"``, gravity 9.81 m/s^2 along -z; the last node
        is where the gripper is mounted.

    See Also
    --------
    poses : the configuration folded.

    Notes
    -----
    Geometry, masses, mass centres and inertias are those of the maker's model [1]_,
    read from the three programs [2]_, [3]_ and [4]_ that agree on masses, mass centres
    and moments.  SI units; the position of each joint stands in the frame of the link
    before, the mass centre in the frame of the link, whose z is the joint axis.

    ====  =================  =====  ==========================  ========================
    link  joint at           mass   mass centre                 principal moments
    ====  =================  =====  ==========================  ========================
    1     0.024, 0, 0.115    1.39   0.01516, 0.00359, 0.03105   2.9525, 6.0091, 5.8821
    2     0.033, 0, 0        1.318  0.11397, 0.015, -0.01903    3.1145, 0.5843, 3.1631
    3     0.155, 0, 0        0.821  0.00013, 0.10441, 0.02022   1.72767, 0.41967, 1.8468
    4     0, 0.135, 0        0.769  0.00015, 0.05353, -0.02464  0.6764, 1.0573, 0.661
    5     0, 0.1136, 0       0.687  0, 0.0012, -0.01648         0.1934, 0.1602, 0.0689
    ====  =================  =====  ==========================  ========================

    Principal moments are in 1e-3 kg m^2, about the mass centres.  Their axes are the
    least certain part: for link 4, [3]_ turns them by 40 degrees about x, as here, and
    [2]_ does not, and for link 3 both have the least moment about the joint axis,
    although the link is long across it.  Of the inertia of a stretched arm about joint
    3 this is 2 %.  Files for ROS have the same masses and other mass centres.

    At zero the arm stands upright, with x and y of the base frame ahead and to the
    left.  The senses of the joints are those of the maker's driver: joint 1 turns to
    the right, joints 2 to 4 bend the arm ahead, and joint 5 turns as joint 1 does.
    The driver counts from the pose folded, this arm from upright.

    Limits: positions [2]_ -169 to 169, -65 to 90, -151 to 146, -102.5 to 102.5 and -165
    to 165 degrees, rates 90 degrees/s, torques 9.5, 9.5, 6, 2 and 1 N m.  Ratios of the
    gears [5]_ are 156, 156, 100, 71 and 71, inertias of the rotors [3]_ 13.5e-6 (joints
    1 to 3), 9.25e-6 and 3.5e-6 kg m^2.  Friction, not included, is about 1 N m in [2]_.

    References
    ----------
    .. [1] KUKA, *youBot kinematics, dynamics and 3D model*, youbot-store.com.
    .. [2] S. Schneider, J. Rajagopal, Hochschule Bonn-Rhein-Sieg, 2018, program of
       "Accurate trajectory tracking on the KUKA youBot manipulator", ``simbody.cpp``.
    .. [3] Accacio/Projet-Long_CentraleSupelec, 2017, ``dynamique_youbot_IHM.m``.
    .. [4] uzh-rpg/rpg_youbot_torque_control, ``values_internet.h``.
    .. [5] youbot/youbot_driver, ``config/youbot-manipulator.cfg``.

    Examples
    --------
    Upright, the last node is 0.115 + 0.155 + 0.135 + 0.1136 + 0.05716 m high:

    >>> import flexarm as fa
    >>> arm = fa.library.youbot()
    >>> fa.tip_pose(arm, [0.0] * 5)[:3, 3].round(6) + 0.0
    array([0.057  , 0.     , 0.57576])
    """
    bodies = []
    for i, (position, turns, sense, mass, com, moments, axes) in enumerate(_YOUBOT):
        least, largest, effort, gear, rotor = _YOUBOT_JOINTS[i]
        joint = Joint(
            axis=(0, 0, sense),
            position=position if i == 0 else (0, 0, 0),
            rotation=turn_x(turns[0]) @ _turn_z(turns[1]),
            limits=np.radians([least, largest]),
            velocity_limit=np.pi / 2.0,
            effort_limit=effort,
            armature=gear**2 * rotor * rotors,
        )
        turn = _principal_axes(axes)
        bodies.append(
            RigidBody(
                f"link{i + 1}",
                joint,
                mass=mass,
                com=com,
                inertia=turn @ np.diag(moments) @ turn.T,
                nodes={"tip": _YOUBOT[i + 1][0] if i < 4 else _YOUBOT_FLANGE},
            )
        )
    return Arm(bodies, name="youbot")
