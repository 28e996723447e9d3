r"""Tendons: forces along lines through points of an arm, and their exact tangent.

With the points p_i of a line, its parts d_i = p_(i+1) - p_i of lengths l_i and
directions u_i, and a tension T,

    L = sum l_i,   f = -T dL/dq = sum J_i' f_i,   f_i = T (u_i - u_(i-1))

with the Jacobians J_i of the points.  The derivative of f has three parts: of the J_i
under constant wrenches on the nodes, of levers that turn with their nodes, and of the
directions, -T sum B_i' (1 - u_i u_i') / l_i B_i with B_i = J_(i+1) - J_i.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_finite, check_numbers, common_batch, real_array
from .._calls.arm_like import AnyArm, Array
from .._calls.declared import Floats, Kept, Positions
from .._calls.doors import checked_record
from .._calls.nodes import one_node
from .._support.checks import as_array, short_text
from .._support.description import Description
from ..errors import ArgumentError, ModelError, NotFiniteError
from ..kinematics.nodes import jacobian, node_poses, wrench_forces
from ..se3 import so3_hat


def _points(what: str, given: object) -> tuple[tuple[object, Array], ...]:
    """Pairs of a node and an offset, two at least."""
    pairs = list(given) if isinstance(given, list | tuple) else []
    if len(pairs) < 2 or not all(
        isinstance(p, list | tuple) and len(p) == 2 for p in pairs
    ):
        raise ModelError(
            f"{what} is {short_text(given)}, expected two or more pairs (node, offset)"
        )
    return tuple((node, as_array(f"{what}: offset", at, (3,))) for node, at in pairs)


@checked_record("{field} of a tendon")
@dataclass(frozen=True, eq=False)
class Tendon(Description):
    """A cable through points of an arm, with the same tension everywhere.

    It runs straight from point to point, without friction and without mass, and its
    ends are fixed: to the arm, or to the ground, where a motor may pull it in.

    Parameters
    ----------
    points : sequence of (node, (3,) array_like of float)
        Points in their order: a node, as of `node_pose`, and an offset in m in the
        axes of this node, which turn with the section.  The node ``"ground"``, or None,
        is the base, with the point in its frame.

    Raises
    ------
    ModelError
        If there are less than two points, or an offset is not three finite numbers.

    See Also
    --------
    equilibrium : postures under the tensions of tendons.

    Notes
    -----
    A tension T has the potential T L with the length L, hence the forces -T dL/dq.  The
    same is a spring with T = k (L - L0), or a rope between two bodies.

    On a uniform rod with bending stiffness EI and points at a constant distance d from
    the centre line, forces are those of a moment T d: a circle of curvature T d / EI
    (I. D. Walker, H. Choset, G. S. Chirikjian, *Springer Handbook of Robotics*, 2nd
    ed., 2016, chapter 20).  Between points a distance s apart the rod bows away from
    the straight tendon, and its curvature is :math:`1/(1 - T s^2/(12 EI))` times as
    large.  That is so for a tendon through guides; one in a channel of the rod needs so
    many points that :math:`T s^2` is small beside 12 EI.

    Examples
    --------
    A rope from the ground, 3 m above the base, to the tip of an arm of 2 m at rest,
    which it pulls with 10 N: 10 N 3/sqrt(13) 2 m about the first joint.

    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> rope = fa.Tendon([(None, [0.0, 3.0, 0.0]), (("link2", "tip"), [0.0, 0.0, 0.0])])
    >>> print(rope.length(arm, [0.0, 0.0]).round(3), "m")
    3.606 m
    >>> rope.forces(arm, [0.0, 0.0], 10.0).round(3)
    array([16.641,  8.321])
    """

    points: Annotated[Any, Kept(_points)]

    def length(self, arm: AnyArm, q: Positions) -> Array:
        """Length from the first point to the last.

        Parameters
        ----------
        arm : Arm or ArmStack
            Arm with the nodes.
        q : (..., nq) array_like of float
            Positions.

        Returns
        -------
        length : (...) ndarray of float
            In m.
        """
        parts = np.diff(_placed(self, arm, frames(arm, np.asarray(q)))[0], axis=-2)
        return np.asarray(np.linalg.norm(parts, axis=-1).sum(axis=-1))

    def forces(
        self, arm: AnyArm, q: Positions, tension: Annotated[ArrayLike, Floats()]
    ) -> Array:
        """Generalized forces of a tension.

        Parameters
        ----------
        arm : Arm or ArmStack
            Arm with the nodes.
        q : (..., nq) array_like of float
            Positions.
        tension : (...) array_like of float
            Tension in N.

        Returns
        -------
        tau : (..., nv) ndarray of float
            Forces on joints and modes, to be added to those of motors, as by a function
            ``torque`` of `simulate`.

        Raises
        ------
        NotFiniteError
            If two points that follow each other are at one place.
        """
        T, at = real_array("tension", tension), np.asarray(q)
        check_numbers("tension", T)
        common_batch({"q": at.shape[:-1], "tension": T.shape})
        return Pull((self,), T[..., np.newaxis]).forces(arm, at)


def frames(arm: AnyArm, q: Array) -> Array:
    """Poses of all nodes and, last, of the ground."""
    poses = node_poses(arm, q)
    ground = np.broadcast_to(np.eye(4), (*poses.shape[:-3], 1, 4, 4))
    return np.concatenate([poses, ground], axis=-3)


def _placed(tendon: Tendon, arm: AnyArm, poses: Array) -> tuple[Array, Array]:
    """Points (..., k, 3) in the base frame, and their levers about their nodes."""
    nodes, offsets = nodes_of(tendon, arm), np.stack([at for _, at in tendon.points])
    own = poses[..., nodes, :, :]
    levers = (own[..., :3, :3] @ offsets[..., np.newaxis])[..., 0]
    return own[..., :3, 3] + levers, levers


def nodes_of(tendon: Tendon, arm: AnyArm) -> list[int]:
    """Numbers of the nodes of its points, -1 for the base."""
    named = (node for node, _ in tendon.points)
    return [
        -1 if node is None or node == "ground" else one_node(arm, node)
        for node in named
    ]


@dataclass(frozen=True)
class Pull:
    """Tendons under tensions (..., m)."""

    tendons: tuple[Tendon, ...]
    tension: Array

    def nodes(self, arm: AnyArm) -> set[int]:
        """Nodes of all points."""
        return {n for tendon in self.tendons for n in nodes_of(tendon, arm)} - {-1}

    def wrenches(self, arm: AnyArm, q: Array) -> tuple[list[int], Array]:
        """Nodes, and wrenches (..., k, 6) on them in axes of the base."""
        nodes: list[int] = []
        found, poses = [], frames(arm, q)
        for i, tendon in enumerate(self.tendons):
            nodes += nodes_of(tendon, arm)
            places, levers = _placed(tendon, arm, poses)
            force = self.tension[..., i, None, None] * _balance(_along(places)[0])
            levers = np.broadcast_to(levers, force.shape)
            found.append(np.concatenate([np.cross(levers, force), force], axis=-1))
        kept = [k for k, node in enumerate(nodes) if node >= 0]
        return [nodes[k] for k in kept], np.concatenate(found, axis=-2)[..., kept, :]

    def forces(self, arm: AnyArm, q: Array) -> Array:
        """Generalized forces of all tendons, (..., nv)."""
        nodes, wrench = self.wrenches(arm, q)
        total = np.zeros(arm.nv)
        for k, node in enumerate(nodes):
            w = wrench[..., k, :]
            total = total + wrench_forces(arm, q, w, node, frame="base")
        return total

    def stiffness(self, arm: AnyArm, q: Array) -> Array:
        """Derivatives (..., nv, nv) of these forces by levers and directions."""
        total, poses = np.zeros((arm.nv, arm.nv)), frames(arm, q)
        known: dict[int, Array] = {-1: np.zeros((6, arm.nv))}
        for i, tendon in enumerate(self.tendons):
            T = self.tension[..., i, None, None]
            places, levers = _placed(tendon, arm, poses)
            along, lengths = _along(places)
            for node in nodes_of(tendon, arm):
                if node not in known:
                    known[node] = jacobian(arm, q, node, frame="base")
            J = np.stack(
                [known[n] + 0.0 * q[..., :1, None] for n in nodes_of(tendon, arm)], -3
            )
            turning = J[..., :3, :]
            # levers turn: omega_j . (omega_k x r) x f
            force = so3_hat(T * _balance(along))
            lever = force @ so3_hat(levers) @ turning
            total = total + (np.swapaxes(turning, -1, -2) @ lever).sum(axis=-3)
            # directions turn with the velocities of the ends of each part
            ends = np.diff(J[..., 3:, :] - so3_hat(levers) @ turning, axis=-3)
            u = along[..., np.newaxis]
            aside = ends - u @ (np.swapaxes(u, -1, -2) @ ends)
            aside = aside * (T / lengths)[..., np.newaxis]
            total = total - (np.swapaxes(ends, -1, -2) @ aside).sum(axis=-3)
        return total


def _along(places: Array) -> tuple[Array, Array]:
    """Directions (..., k - 1, 3) of parts of a line, and lengths (..., k - 1, 1)."""
    parts = np.diff(places, axis=-2)
    lengths = np.linalg.norm(parts, axis=-1, keepdims=True)
    if not lengths.all():
        raise NotFiniteError(
            "a tendon has two points that follow each other at one place, which gives "
            "its force no direction; expected other points or another posture"
        )
    return parts / lengths, lengths


def _balance(along: Array) -> Array:
    """Forces (..., k, 3) on the points of a line with a tension of one."""
    ends = np.zeros_like(along[..., :1, :])
    return np.diff(np.concatenate([ends, along, ends], axis=-2), axis=-2)


def read_pull(
    arm: AnyArm, tendons: Sequence[Tendon] | None, tension: ArrayLike | None
) -> Pull | None:
    """Return tendons under tensions from the arguments of a function, or None."""
    if tendons is None or tension is None:
        if tendons is not None or tension is not None:
            raise ArgumentError(
                "one of tendons and tension is given, expected both or none"
            )
        return None
    kept = tuple(tendons)
    array = real_array("tension", tension)
    if not kept:
        raise ArgumentError("tendons has no entry, expected one or more, or None")
    if array.shape[-1:] != (len(kept),):
        raise ArgumentError(
            f"tension has shape {array.shape} with {len(kept)} tendons, expected "
            f"(..., {len(kept)}): one for each tendon"
        )
    check_finite("tension", array)
    return Pull(kept, array)
