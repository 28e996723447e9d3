"""Angle under which a node of a link is seen from the joint that turns it."""

from __future__ import annotations

import numpy as np

from .._calls.arm_like import ArmLike, Array
from .._calls.declared import Finite
from .._calls.doors import checked
from .._support.recorded import recorded
from ..bodies.axes import on_axis
from ..errors import ArgumentError
from ..kinematics.nodes import link_poses
from ._names import Node, node_and_name
from .operating_point import Point, Tangent
from .strain import Output


@checked
@recorded("outputs.tip_angle", maker=True)
def tip_angle(node: Node = None, part: Finite = 1.0) -> Output:
    r"""Angle of a node of a link, seen from the hub on which it turns.

    .. math:: y = q + \lambda \alpha, \qquad
       \alpha = \operatorname{atan2}\left( a \cdot (r_0 \times r), r_0 \cdot r \right)

    with the angle q of the joint about its axis a, and the place of the node across the
    axis, r, and of the undeformed link, :math:`r_0`.

    Parameters
    ----------
    node : int, str or (body, node), optional
        Node of a link that is clamped on a joint that turns, or on bodies on fixed
        joints up to one; by default the tip.
    part : float
        Dimensionless :math:`\lambda`: 1 for the tip, 0 for the joint, -1 for the
        *reflected tip*, the deflection subtracted [2]_.

    Returns
    -------
    output : Output
        Signal ``"tip angle"`` in rad; ``"tip angle -1"`` of another part.

    Raises
    ------
    ArgumentError
        When the model is made, if no joint turns the node around an axis beside it.

    See Also
    --------
    flexarm.control.inversion.link_angles : the same for all joints, to first order.
    node_position : the tip in base axes.

    Notes
    -----
    From the torque at the hub to the tip an arm is non-minimum phase [1]_: of a uniform
    link the zeros are real, :math:`s = \pm 2 \gamma^2 \sqrt{EI / \rho A L^4}` with
    :math:`\tan \gamma = - \tanh \gamma`, whatever the inertia of the hub.  Of the
    reflected tip they are imaginary, with :math:`s = \pm i \beta^2 \sqrt{EI / \rho A
    L^4}` and :math:`\sin \beta + \sinh \beta = 2 \beta (1 + \cos \beta \cosh \beta)`,
    which feedback of it can use.

    References
    ----------
    .. [1] R. H. Cannon, E. Schmitz, "Initial experiments on the end-point control of a
       flexible one-link robot", *Int. J. Robotics Research* 3(3) (1984), 62-75.
    .. [2] D. Wang, M. Vidyasagar, "Passive control of a stiff flexible link", *Int. J.
       Robotics Research* 11 (1992), 572-578.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(1, n_modes=6, gravity=(0, 0, 0))
    >>> tip = fa.linearize(arm, np.zeros(7), outputs="tip angle")
    >>> bool(np.asarray(tip.zeros()).real.max() > 1.0)
    True
    >>> mirror = fa.outputs.tip_angle(part=-1.0)
    >>> mirrored = fa.linearize(arm, np.zeros(7), outputs=mirror)
    >>> zeros = np.asarray(mirrored.zeros())
    >>> mirrored.outputs, bool(abs(zeros.real).max() < 1e-6)
    (('tip angle -1',), True)
    """

    def names(arm: ArmLike) -> tuple[str, ...]:
        of_part = "" if part == 1.0 else f" {part:g}"
        return (f"{node_and_name(arm, node)[1]} angle{of_part}",)

    def tangent(point: Point) -> Tangent:
        arm = point.arm
        number, name = node_and_name(arm, node)
        chain = _chain(arm, number, name)
        hub = chain[0]
        axis, place, rest = _hub(arm, chain, number, name)
        # the node in axes of the hub, across the axis
        pose = link_poses(point.full, point.q)[..., hub, :, :]
        back = np.swapaxes(pose[..., :3, :3], -1, -2)
        r = point.pose(number)[..., :3, 3] - pose[..., :3, 3]
        r = (back @ r[..., np.newaxis])[..., 0] - place
        r = r - (r @ axis)[..., np.newaxis] * axis
        side = np.cross(axis, rest)
        alpha = np.arctan2(r @ side, r @ rest)
        # only modes from the hub to the node move it there
        own = np.concatenate([np.r_[arm.mode_slice(k)] for k in chain])
        J = back @ point.jacobian(number)[..., 3:, own]
        turn = np.cross(axis, r) / (r * r).sum(axis=-1)[..., np.newaxis]
        rows = np.zeros((*point.q.shape[:-1], 1, arm.nv))
        rows[..., 0, arm.body_joint_slice(hub).start] = 1.0
        rows[..., :, own] = part * turn[..., np.newaxis, :] @ J
        joint = point.q[..., arm.body_joint_slice(hub, positions=True)]
        return Tangent(joint + part * alpha[..., np.newaxis], rows, 0.0, 0.0)

    return Output(names, tangent)


def _chain(arm: ArmLike, node: int, name: str) -> list[int]:
    """Bodies from the one whose joint turns to that of a node, on fixed joints."""
    chain = [arm._body_of_node(node)]
    fixed = [
        not b.joint.n_dof and k not in arm._following for k, b in enumerate(arm.bodies)
    ]
    while fixed[chain[0]] and arm._parents[chain[0]] >= 0:
        chain.insert(0, int(arm._parents[chain[0]]))
    base = arm.bodies[chain[0]]
    if base.joint.n_dof != 1 or not base.joint.screws[:3].any():
        raise ArgumentError(
            f"node {name!r} hangs on the joint of {base.name!r} of the kind "
            f"{base.joint.kind!r}, expected one that turns, with one coordinate"
        )
    return chain


def _hub(
    arm: ArmLike, chain: list[int], node: int, name: str
) -> tuple[Array, Array, Array]:
    """Axis of the joint, a point on it, and the node across it of the straight arm."""
    base, k = arm.bodies[chain[0]], chain[-1]
    place, screw = on_axis(base.joint.screws[:, 0])
    axis = screw[:3] / np.linalg.norm(screw[:3])
    poses = np.asarray(link_poses(arm, arm.neutral))
    own = arm.bodies[k].node_position[node - arm.node_slice(k).start]
    away = poses[k, :3, 3] + poses[k, :3, :3] @ own - poses[chain[0], :3, 3]
    rest = poses[chain[0], :3, :3].T @ away - place
    rest = rest - (rest @ axis) * axis
    if not float(rest @ rest) > 1e-24:
        raise ArgumentError(
            f"node {name!r} is on the axis of the joint of {base.name!r}, expected one "
            "beside it, which moves as the joint turns"
        )
    return axis, place, rest
