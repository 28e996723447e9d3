"""Named configurations of the arms of the library."""

from __future__ import annotations

import numpy as np

from .._calls.doors import checked
from .._support.arrays import Array
from ..arm import Arm

_QUARTER = np.pi / 2.0
_ARCH = float(np.arccos(0.5 * (np.sqrt(5.0) - 1.0)))  # 2 cos a + 1 = sqrt(5)

# joint coordinates in rad, by name of the arm and name of the pose
_POSES: dict[str, dict[str, tuple[float, ...]]] = {
    "pendulum": {"level": (0.0,), "hanging": (-_QUARTER,), "upright": (_QUARTER,)},
    "de_luca_siciliano": {"straight": (0.0, 0.0), "bent": (0.0, _QUARTER)},
    "cibicik_egeland": {
        "initial": (0.0, np.pi / 6.0, np.pi / 1.5, np.pi / 6.0),
        "final": (np.pi / 4.0, np.pi / 3.0, np.pi / 3.0, np.pi / 3.0),
        "straight": (0.0, 0.0, 0.0, 0.0),
    },
    "canadarm": {"bent": (0.0, np.pi / 3.0, -_QUARTER, np.pi / 6.0, 0.0, 0.0)},
    "crane": {"lifted": (0.0, np.pi / 3.0, -_QUARTER)},
    "farid_two_link": {
        "A": (np.arctan2(0.2, 1.8) + 0.5 * np.arccos(0.64), -np.arccos(0.64)),
        "B": (np.arctan2(0.7, 1.6) + 0.5 * np.arccos(0.525), -np.arccos(0.525)),
    },
    "farid_spatial": {"initial": (np.arctan2(1.0, 2.0), _ARCH, -_ARCH, -_ARCH)},
    "puma560": {
        "ready": (0.0, _QUARTER, -_QUARTER, 0.0, 0.0, 0.0),
        "stretched": (0.0, 0.0, -_QUARTER, 0.0, 0.0, 0.0),
        "nominal": (0.0, np.pi / 4.0, -np.pi, 0.0, np.pi / 4.0, 0.0),
    },
    "iiwa14": {"ready": (0.0, 0.6, 0.0, -1.75, 0.0, 1.0, 0.0)},
    "ur5e": {
        "upright": (0.0, -_QUARTER, 0.0, -_QUARTER, 0.0, 0.0),
        "bent": (0.0, -_QUARTER, _QUARTER, -_QUARTER, -_QUARTER, 0.0),
    },
    "panda": {
        "ready": (
            *(0.0, -0.5 * _QUARTER, 0.0, -1.5 * _QUARTER, 0.0, _QUARTER),
            0.5 * _QUARTER,
        )
    },
    "youbot": {
        "folded": tuple(map(float, np.radians([-169.0, -65.0, 146.0, -102.5, -165.0])))
    },
    "mueller_remote_center": {"bent": (0.1, -0.4, 0.7, 0.3, -0.6)},
}


@checked
def poses(arm: Arm) -> dict[str, Array]:
    """Named configurations of an arm of the library.

    Parameters
    ----------
    arm : Arm
        An arm of this module; it is recognized by its name.

    Returns
    -------
    poses : dict of str to (nq,) ndarray of float
        New arrays of all coordinates, joints in rad, motors where their springs have
        no force, modal coordinates zero.  Every arm has the pose ``"zero"``; the table
        lists the others.

    Raises
    ------
    ArgumentError
        If `arm` is not an `Arm`.

    Notes
    -----
    =======================  ===========================================================
    arm                      poses, joint coordinates in rad
    =======================  ===========================================================
    `pendulum`               level (0), hanging (-pi/2), upright (pi/2)
    `planar_chain`           hanging (-pi/2, 0, ...), upright (pi/2, 0, ...)
    `de_luca_siciliano`      straight (0, 0), Figs 5, 7; bent (0, pi/2), Figs 6, 8
    `cibicik_egeland`        initial (0, pi/6, 2 pi/3, pi/6) and final (pi/4, pi/3,
                             pi/3, pi/3) of the manoeuvre; straight up (0, 0, 0, 0)
    `canadarm`               bent (0, pi/3, -pi/2, pi/6, 0, 0), hand along x, ours
    `crane`                  lifted (0, pi/3, -pi/2), ours
    `farid_planar`           hanging (-pi/2, 0, ...), upright (pi/2, 0, ...)
    `farid_two_link`         A and B, straight links with the tip at the ends of the
                             line of chapter 7, elbow up
    `farid_spatial`          initial, straight links with the tip at (2, 1, 0) and
                             link 2 level, ours
    `puma560`                ready, arm up (0, pi/2, -pi/2, 0, 0, 0); stretched along x
                             (0, 0, -pi/2, 0, 0, 0); nominal, far from any singularity
                             (0, pi/4, -pi, 0, pi/4, 0) [1]_, there with pi, a full turn
                             further and beyond the limits
    `iiwa14`                 ready, hand over a table (0, 0.6, 0, -1.75, 0, 1, 0) [2]_
    `ur5e`                   upright (0, -pi/2, 0, -pi/2, 0, 0); bent, hand down
                             (0, -pi/2, pi/2, -pi/2, -pi/2, 0)
    `panda`                  ready, hand down (0, -pi/4, 0, -3 pi/4, 0, pi/2, pi/4) [3]_
    `youbot`                 folded (-169, -65, 146, -102.5, -165 degrees), limits
    `mueller_remote_center`  bent (0.1, -0.4, 0.7, 0.3, -0.6), ours
    =======================  ===========================================================

    References
    ----------
    .. [1] P. Corke, *Robotics Toolbox*, model ``mdl_puma560``: qr, qs and qn.
    .. [2] Drake, ``ManipulationStation::SetupManipulationClassStation``.
    .. [3] libfranka, its examples; MoveIt calls it ready, too.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.library.poses(fa.library.iiwa14())["ready"]
    array([ 0.  ,  0.6 ,  0.  , -1.75,  0.  ,  1.  ,  0.  ])
    """
    known = dict(_POSES.get(arm.name, {}))
    if arm.name in ("planar_chain", "farid_planar"):
        rest = (0.0,) * (arm.nj - 1)
        known = {"hanging": (-_QUARTER, *rest), "upright": (_QUARTER, *rest)}
    result = {"zero": arm.neutral}
    for name, joints in known.items():
        if len(joints) == arm.joint_position_slice.stop:
            q = arm.neutral
            q[arm.joint_position_slice] = joints
            drives = [b.joint.drive for b in arm.bodies if b.joint.n_dof]
            q[arm.motor_position_slice] = [
                drive.gear_ratio * angle
                for drive, angle in zip(drives, joints, strict=True)
                if drive is not None and drive.is_free
            ]
            result[name] = q
    return result
