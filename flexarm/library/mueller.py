"""The remote-centre-of-motion device of Mueller (2018)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .. import se3
from .._calls.declared import Floats
from .._calls.doors import checked
from .._support.arrays import Array
from .._support.checks import as_array
from ..arm import Arm
from ..bodies import RigidBody
from ..descriptions.poses import pose
from ..descriptions.screws import SpatialScrews, arm_of_screws, body_of_spatial
from ..errors import ModelError

_DENSITY = 2.0  # kg/m
_RADIUS = 0.02  # m


@checked
def mueller_remote_center(
    *,
    d: Annotated[ArrayLike, Floats("(4,)")] = (0.4, 0.3, 0.7, 1.1),
    h4: float = 0.15,
    x: Annotated[ArrayLike, Floats("(5,)")] = (0.2, 0.05, 0.5, 0.8, 1.0),
    z: Annotated[ArrayLike, Floats("(5,)")] = (0.1, -0.02, 0.03, 0.25, 0.06),
) -> Arm:
    r"""Surgical arm with a remote centre of motion, five revolute joints, rigid.

    Parameters
    ----------
    d : (4,) array_like of float
        Places d_2 to d_5 of the axes along x, in m.
    h4 : float
        Height of the point of axis 4, in m (no pitch).
    x, z : (5,) array_like of float
        Places of the frames of the bodies, in m.

    Returns
    -------
    arm : Arm
        Bodies ``"link1"`` to ``"link5"``, gravity 9.81 m/s^2 along -z; the tip is the
        remote centre, where axes 4 and 5 meet: joints 4 and 5 do not move it.

    Raises
    ------
    ModelError
        If a length is beyond 200 m, or two points of axes below coincide.

    See Also
    --------
    poses : the configuration bent.
    flexarm.descriptions.SpatialScrews : such a table.

    Notes
    -----
    Section 2.5 of the paper [1]_ by symbols; at q = 0, in the base frame:

    ====  ===================  ================  ======================  =============
    body  axis                 point of it       frame at                its axes
    ====  ===================  ================  ======================  =============
    1     0, 0, 1              0, 0, 0           -x_1, 0, z_1            of the base
    2     0, 0, 1              -d_2, 0, 0        -x_2, 0, -z_2           of the base
    3     0, 0, 1              d_3, 0, 0         x_3, 0, z_3             of the base
    4     (-1, 0, 1)/sqrt 2    d_4, 0, h_4       x_4, 0, z_4             z along axis 4
    5     0, 0, 1              d_5, 0, 0         x_5, 0, z_5             of the base
    ====  ===================  ================  ======================  =============

    The paper has no numbers: **those of the arguments are ours, and so are the
    masses**.  Each link is a round rod of 2 kg/m and 0.02 m radius, from the point of
    its axis to that of the next one; link 4 ends on axis 5 at the height of frame 5,
    and link 5 at the remote centre.

    The Jacobians that the paper prints (l. 646-651) have two mistakes: a component of
    J^s_3 has s_23 for s_12, and J^b_3 is that of the inverse relative poses.

    References
    ----------
    .. [1] A. Mueller, "Screw and Lie group theory in multibody kinematics", *Multibody
       System Dynamics* 43 (2018), 37-70.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.mueller_remote_center()
    >>> q = fa.library.poses(arm)["bent"]
    >>> there = fa.tip_pose(arm, q)[:3, 3]
    >>> there.round(4)
    array([ 1.0075,  0.0647, -0.25  ])
    >>> q[3:] = 1.0
    >>> bool(np.allclose(fa.tip_pose(arm, q)[:3, 3], there))
    True
    """
    d2, d3, d4, d5 = _lengths("d", d, (4,))
    h4 = float(_lengths("h4", h4, ()))
    x, z = _lengths("x", x, (5,)), _lengths("z", z, (5,))
    tilted = np.array([-1.0, 0.0, 1.0]) / np.sqrt(2.0)
    turned = np.column_stack([[1.0, 0, 1.0] / np.sqrt(2.0), [0, 1.0, 0], tilted])
    axes = [
        se3.screw(),
        se3.screw((-d2, 0.0, 0.0)),
        se3.screw((d3, 0.0, 0.0)),
        se3.screw((d4, 0.0, h4), tilted),
        se3.screw((d5, 0.0, 0.0)),
    ]
    frames = [
        pose(origin=(-x[0], 0.0, z[0])),
        pose(origin=(-x[1], 0.0, -z[1])),
        pose(origin=(x[2], 0.0, z[2])),
        pose(turned, (x[3], 0.0, z[3])),
        pose(origin=(x[4], 0.0, z[4])),
    ]
    points = [(0, 0, 0), (-d2, 0, 0), (d3, 0, 0), (d4, 0, h4), (d5, 0, z[4])]
    points.append((d5, 0, h4 + d4 - d5))  # the remote centre
    bodies = [
        _rod(f"link{i + 1}", A, np.array(points[i : i + 2], dtype=float))
        for i, A in enumerate(frames)
    ]
    tree = body_of_spatial(SpatialScrews(frames, axes))
    return arm_of_screws(tree, bodies, name="mueller_remote_center")


def _lengths(name: str, value: object, shape: tuple[int, ...]) -> Array:
    """Check places in m; large ones look like millimetres."""
    array = as_array(f"{name} of the remote-centre arm", value, shape)
    most = float(np.abs(array).max())
    if most > 200.0:
        raise ModelError(
            f"{name} of the remote-centre arm has a length of {most:g} m, expected "
            "metres, it looks like millimetres"
        )
    return array


def _rod(name: str, frame: Array, ends: Array) -> RigidBody:
    """Round rod between two points of the base, seen from its frame."""
    to_frame = se3.inverse(frame)
    first, last = ends @ to_frame[:3, :3].T + to_frame[:3, 3]
    length = float(np.linalg.norm(last - first))
    if not length > 0.0:
        raise ModelError(
            f"{name} of the remote-centre arm has no length, expected points of axes "
            "that are apart; change d, h4 or z"
        )
    mass, e = _DENSITY * length, (last - first) / length
    along, across = _RADIUS**2 / 2.0, (3.0 * _RADIUS**2 + length**2) / 12.0
    inertia = mass * (across * np.eye(3) + (along - across) * np.outer(e, e))
    return RigidBody(
        name,
        mass=mass,
        com=(first + last) / 2.0,
        inertia=inertia,
        nodes={"start": first, "tip": last},
    )
