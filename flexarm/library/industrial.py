"""Rigid industrial arms with published parameters: PUMA 560 and LBR iiwa 14."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .._calls.doors import checked
from ..arm import Arm
from ..bodies.joints import Joint
from ..bodies.models import RigidBody


def turn_x(quarters: int) -> np.ndarray:
    """Rotation about x by exact quarter turns."""
    c, s = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def dh_link(
    i: int,
    joint: Joint,
    row: tuple[int, float, float],
    mass: float,
    r: Sequence[float],
    inertia: NDArray[np.float64],
) -> RigidBody:
    """Rigid link of a standard Denavit-Hartenberg row.

    Parameters
    ----------
    i : int
        Number of the link, from 0.
    joint : Joint
        Its joint about z, in the Denavit-Hartenberg frame before.
    row : tuple
        alpha in quarter turns, a and d in m.
    mass : float
        In kg.
    r : (3,) sequence of float
        Mass centre in the frame at the end of the link, in m.
    inertia : (3, 3) ndarray
        About the mass centre, along the axes of the frame at the end.
    """
    quarters, a, d = row
    turn, end = turn_x(quarters), np.array([a, 0.0, d])
    return RigidBody(
        f"link{i + 1}",
        joint,
        mass=mass,
        com=end + turn @ r if mass else np.zeros(3),
        inertia=turn @ inertia @ turn.T,
        nodes={"tip": end},
    )


def _turn_z_half() -> np.ndarray:
    return np.diag([-1.0, -1.0, 1.0])


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
    bodies = []
    rotation = np.eye(3)
    for i, (quarters, a, d, mass, r, inertia, gear, viscous) in enumerate(_PUMA):
        least, largest, effort = _PUMA_LIMITS[i]
        joint = Joint(
            axis=(0, 0, 1),
            rotation=rotation,
            damping=gear**2 * viscous * damping,
            limits=np.radians([least, largest]),
            effort_limit=effort,
        )
        moments = np.diag(_PUMA_CHANGES.get(i, inertia))
        bodies.append(dh_link(i, joint, (quarters, a, d), mass, r, moments))
        rotation = turn_x(quarters)
    return Arm(bodies, name="puma560")


# joint frame on the link before (m, quarter turns about x, half turn about z),
# mass (kg), com (m) and inertia about it (kg m^2, xx yy zz) in the frame of the link
_IIWA = (
    ((0, 0, 0.1575), 0, 0, 5.76, (0, -0.03, 0.12), (0.033, 0.0333, 0.0123)),
    ((0, 0, 0.2025), 1, 1, 6.35, (0.0003, 0.059, 0.042), (0.0305, 0.011, 0.0304)),
    ((0, 0.2045, 0), 1, 1, 3.5, (0, 0.03, 0.13), (0.025, 0.0238, 0.0076)),
    ((0, 0, 0.2155), 1, 0, 3.5, (0, 0.067, 0.034), (0.017, 0.006, 0.0164)),
    ((0, 0.1845, 0), 1, 1, 3.5, (0.0001, 0.021, 0.076), (0.01, 0.0087, 0.00449)),
    ((0, 0, 0.2155), 1, 0, 1.8, (0, 0.0006, 0.0004), (0.0049, 0.0047, 0.0036)),
    ((0, 0.081, 0), 1, 1, 1.2, (0, 0, 0.02), (0.001, 0.001, 0.001)),
)
# largest angle in both directions (degrees), rate (degrees/s), torque (N m)
_IIWA_LIMITS = (
    (170, 85, 320),
    (120, 85, 320),
    (170, 100, 176),
    (120, 75, 176),
    (170, 130, 110),
    (120, 135, 40),
    (175, 135, 40),
)
_IIWA_FLANGE = (0.0, 0.0, 0.045)


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
    bodies = []
    for i, (_, quarters, half, mass, com, inertia) in enumerate(_IIWA):
        turn = turn_x(quarters)
        largest, rate, effort = _IIWA_LIMITS[i]
        if half:
            turn = _turn_z_half() @ turn
        bodies.append(
            RigidBody(
                f"link{i + 1}",
                Joint(
                    axis=(0, 0, 1),
                    position=_IIWA[0][0] if i == 0 else (0, 0, 0),
                    rotation=turn,
                    damping=0.5 * damping,
                    limits=np.radians([-largest, largest]),
                    velocity_limit=np.radians(rate),
                    effort_limit=effort,
                ),
                mass=mass,
                com=com,
                inertia=inertia,
                nodes={"tip": _IIWA[i + 1][0] if i < 6 else _IIWA_FLANGE},
            )
        )
    return Arm(bodies, name="iiwa14")
