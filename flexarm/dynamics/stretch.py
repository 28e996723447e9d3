r"""Stretch that matters: of links that leave it out, and of those in one body.

Bodies beyond a cut pull at it by their weight and by their centrifugal forces, and
given wrenches by their forces.  A link without the motion ``"stretch"`` keeps its
length; with the stiffness EA of its sections its tip would move by
:math:`u = \int N/EA`.  Where that is a part of what the tip moves at all, results lack
it.

A link longer by the part :math:`\epsilon` bends under forces at its tip by
:math:`(1 + \epsilon)^3` times as much, and its sections turn by
:math:`v'/(1 + \epsilon)`.  Both are third powers of deformations, which a body does not
have: one with ``"stretch"`` is right about its length alone.  Pieces, which have the
product of strain and rotation in their shapes of second order, have both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._calls.arm_like import AnyArm, ArmLike, Array, StackLike
from .._calls.links import link_name, link_ranges
from .._support.arrays import Mask
from .._support.printing import percent
from .._support.warn import warn
from ..bodies.body import Body
from ..bodies.left_out import left_out
from ..bodies.unreduced import UnreducedLink
from ..errors import AccuracyWarning
from ..kinematics.links import link_velocities
from ..kinematics.nodes import link_poses, node_poses, node_velocity

Forces = dict[int, Any]  # (n, 3) in base axes, by numbers of nodes

# Stretch of a link over the deflection of its tip above which results lack it.
STRETCH_SHARE = 0.01
# Deflections below this part of the length count as that: what moves less does not
# matter. Weights stretch arms of steel or aluminium by 1e-6 of their length.
MIN_DEFLECTION = 2e-3
# Change of the compliance in bending over that of the length, as (1 + e)^3.
SOFTENING = 3.0
# States that are looked at, at most.
_MAX_STATES = 64


def stretch_of_links(
    arm: ArmLike,
    q: Array,
    qd: Array | None = None,
    forces: Forces | None = None,
) -> dict[str, tuple[Array, Array, float]]:
    """Stretch that links leave out, the deflection of their tips, and lengths, in m.

    Parameters
    ----------
    arm : Arm
        Arm of full fidelity, without loops.
    q : (n, nq) ndarray of float
        Positions.
    qd : (n, nv) ndarray of float, optional
        Velocities, with which links turn as if steadily.
    forces : dict of int to (n, 3) ndarray of float, optional
        Forces on nodes in base axes.

    Returns
    -------
    found : dict of str to (stretch (n,), deflection (n,), length)
        Of all links that are known to leave it out, pieces of a link together.
    """
    flexible = _flexible(arm)
    if not flexible:
        return {}
    pose = np.asarray(link_poses(arm, q))
    nodes = np.asarray(node_poses(arm, q))[..., :3, 3]
    pulls = _pulls(arm, _Field(arm, q, qd, pose), nodes, forces or {})
    found: dict[str, tuple[Array, Array, float]] = {}
    sums: dict[str, list[Array]] = {}
    for k, link in flexible.items():
        body, turn, first = arm.bodies[k], pose[:, k, :3, :3], arm._node_offset[k]
        B = link.node_motion(np.arange(body.n_nodes))[:, 3:]
        strain = np.einsum("icr,sbc,sib->sr", B, turn.swapaxes(1, 2), pulls[k])
        longer = (turn @ (strain @ B[-1].T)[..., np.newaxis])[..., 0]
        # from the base of the first piece of a link to the tip of its last one
        name, end = link_name(body), nodes[:, first + body.n_nodes - 1]
        part = sums.setdefault(name, [np.zeros(3), np.zeros(3), pose[:, k], end])
        part[0], part[1] = part[0] + longer, part[1] + body.node_position[-1]
        now = np.einsum("sba,sb->sa", part[2][:, :3, :3], end - part[2][:, :3, 3])
        stretch, moved = (np.linalg.norm(x, axis=1) for x in (part[0], now - part[1]))
        length = float(np.linalg.norm(part[1]))
        found[name] = (stretch, np.maximum(moved, MIN_DEFLECTION * length), length)
    return found


def _stretching(arm: ArmLike) -> list[int]:
    """Bodies that stretch and bend."""
    return [k for k, body in enumerate(arm.bodies) if _stretches(body)]


def _stretches(body: Body) -> bool:
    """Whether a body stretches and bends, looked at once."""
    if "stretches" not in body._kept:
        S = np.zeros((0, 4, 0)) if body.beam is None else body.beam.strain
        body._kept["stretches"] = S[:, 0].any() and S[:, 2:].any()
    return bool(body._kept["stretches"])


def _strain(arm: ArmLike, k: int, q: Array) -> Array:
    """Strains (..., cuts) of body k along its line."""
    part = q[..., arm.mode_slice(k, positions=True)]
    return np.asarray(part @ arm.bodies[k].beam.strain[:, 0].T)


def is_crushed(arm: AnyArm, q: Array) -> Mask:
    """Whether a link (...) is shortened by more than its length."""
    result = np.zeros(q.shape[:-1], dtype=bool)
    if not isinstance(arm, StackLike):
        for k in _stretching(arm):
            result |= (_strain(arm, k, q) <= -1.0).any(axis=-1)
    return result


def _warn_of_bodies(arm: ArmLike, q: Array) -> None:
    """Warn of a body whose stretch changes how it bends, or leaves nothing of it."""
    for k in _stretching(arm):
        body = arm.bodies[k]
        strain = _strain(arm, k, q)
        largest = float(np.abs(strain).max(initial=0.0))
        what = ""
        if strain.min(initial=0.0) <= -1.0:
            what = "is shortened by more than its length, where no result has a meaning"
        elif body.segment is None and SOFTENING * largest > STRETCH_SHARE:
            what = (
                f"is one body and stretches by {percent(largest)} % somewhere, which "
                f"should change its deflections by up to {percent(SOFTENING * largest)}"
                " % and does not; give finite_element_link segments"
            )
        if what:
            warn(
                f"link {link_name(body)!r} {what}, or silence AccuracyWarning",
                AccuracyWarning,
            )
            return


def _flexible(arm: ArmLike) -> dict[int, UnreducedLink]:
    """Links that leave out their stretch, with that motion alone."""
    return {
        k: link
        for k, body in enumerate(arm.bodies)
        if body.attachment is None and (link := left_out(body, (0,))) is not None
    }


def _spins(arm: ArmLike, q: Array, qd: Array, pose: Array) -> Array:
    """Angular velocities of bodies in base axes, of links those of their chords.

    Their frames may vibrate fast at a joint without inertia, and pieces beside each
    other, while what they carry turns steadily.
    """
    V = np.asarray(link_velocities(arm, q, qd))
    turn, place = pose[..., :3, :3], pose[..., :3, 3]
    spin, move = np.einsum("skab,skcb->cska", turn, V.reshape(*V.shape[:2], 2, 3))
    ranges = link_ranges(arm.bodies)
    flexible = [k for k, body in enumerate(arm.bodies) if body.n_modes]
    first = [ranges[k][0] for k in flexible]
    last = np.array([ranges[k][-1] for k in flexible])
    tips = np.array([arm._node_offset[k] + arm.bodies[k].n_nodes - 1 for k in last])
    tip = np.asarray(node_velocity(arm, q[:, None], qd[:, None], tips, frame="base"))
    ends = np.asarray(node_poses(arm, q))[..., :3, 3][:, tips]
    chord, tip = ends - place[:, first], tip[..., 3:] - move[:, first]
    squares = np.maximum((chord**2).sum(axis=-1, keepdims=True), np.finfo(float).tiny)
    spin[:, flexible] = np.cross(chord, tip) / squares
    return np.asarray(spin)


class _Field:
    """Weight per mass less the acceleration of steady turning, in base axes."""

    def __init__(self, arm: ArmLike, q: Array, qd: Array | None, pose: Array) -> None:
        self.pose, self.spin = pose, np.zeros((*pose.shape[:2], 3))
        self.origin = np.empty_like(self.spin)  # of the frames
        if qd is not None:
            self.spin = _spins(arm, q, qd, pose)
        # a body moves with the place of its parent where its joint is
        for k, p in enumerate(arm._parents):
            place = pose[:, k, np.newaxis, :3, 3]
            field = np.asarray(arm.gravity) if p < 0 else self.at(p, place)[:, 0]
            self.origin[:, k] = field

    def at(self, k: int, place: Array) -> Array:
        """Field (n, m, 3) at places (n, m, 3) of body k."""
        spin = self.spin[:, k, np.newaxis]
        x = place - self.pose[:, k, np.newaxis, :3, 3]
        pull = np.cross(spin, np.cross(spin, x))
        return np.asarray(self.origin[:, k, np.newaxis] - pull)


def _pulls(arm: ArmLike, field: _Field, nodes: Array, forces: Forces) -> list[Array]:
    """Forces (n, N, 3) on the nodes of each body, with those of what they carry."""
    n = len(nodes)
    on = [np.zeros((n, body.n_nodes, 3)) for body in arm.bodies]
    for node, force in forces.items():
        k = int(np.searchsorted(arm._node_offset, node, side="right")) - 1
        on[k][:, node - arm._node_offset[k]] += force
    # from the tips inward
    for k in reversed(range(len(arm.bodies))):
        body, first = arm.bodies[k], arm._node_offset[k]
        mass, rest = body.node_mass, body.integrals
        if rest is not None and body.beam is not None and body.beam.carried is not None:
            mass, rest = mass + body.beam.carried[0], None
        place = nodes[:, first : first + body.n_nodes]
        on[k] += mass[:, np.newaxis] * field.at(k, place)
        if (p := arm._parents[k]) < 0:
            continue
        whole = on[k].sum(axis=1)
        if rest is not None and rest.m > 0.0:
            turn, origin = np.split(field.pose[:, k, :3], [3], axis=2)
            centre = origin[..., 0] + turn @ (np.asarray(rest.mp0) / rest.m)
            whole += rest.m * field.at(k, centre[:, np.newaxis])[:, 0]
        on[p][:, arm.bodies[p].node_index(body.joint.node)] += whole
    return on


def may_stretch(arm: AnyArm) -> bool:
    """Whether there are links whose stretch may matter and can be estimated."""
    if isinstance(arm, StackLike) or arm.fidelity != "full" or arm._held:
        return False
    return bool(_flexible(arm) or _stretching(arm))


def warn_of_stretch(
    arm: AnyArm,
    q: Array,
    qd: Array | None = None,
    forces: Forces | None = None,
    lengths: bool = False,
) -> None:
    """Warn of an arm whose links stretch by a part of their deflection.

    Parameters
    ----------
    arm : Arm or ArmStack
        A stack is not looked at, nor are loops and the other fidelities.
    q, qd, forces
        As of `stretch_of_links`, with any leading axes; of many states some are looked
        at, the last and the fastest one among them.
    lengths : bool
        Whether only parts of the length matter, not of the deflection: to frequencies.
    """
    if isinstance(arm, StackLike) or not may_stretch(arm):
        return
    q = q.reshape(-1, arm.nq)
    some = np.isfinite(q).all(axis=-1)
    if qd is not None:
        qd = qd.reshape(-1, arm.nv)
        some &= np.isfinite(qd).all(axis=-1)
    at = np.flatnonzero(some)
    if not len(at):
        return
    if len(at) > _MAX_STATES:
        turning = (
            np.zeros((len(q), 0)) if qd is None else qd[:, : arm.motor_slice.start]
        )
        fastest = at[np.abs(turning[at]).max(axis=1, initial=0.0).argmax()]
        even = np.linspace(0, len(at) - 1, _MAX_STATES).astype(int)
        at = np.unique([*at[even], fastest])
    _warn_of_bodies(arm, q[at])
    forces = {node: f.reshape(-1, 3)[at] for node, f in (forces or {}).items()}
    found = stretch_of_links(arm, q[at], None if qd is None else qd[at], forces)
    if not found:
        return
    share = {
        name: SOFTENING * stretch / length if lengths else stretch / moved
        for name, (stretch, moved, length) in found.items()
    }
    name = max(share, key=lambda x: float(share[x].max()))
    worst = int(share[name].argmax())
    if not share[name][worst] > STRETCH_SHARE:
        return
    stretch, _, length = found[name]
    u = float(stretch[worst])
    part = u / length if lengths else float(share[name][worst])
    what = "its length" if lengths else "the deflection of its tip"
    warn(
        f"link {name!r} has no stretch, and would be {u:.3g} m longer under its axial "
        f"force, {percent(part)} % of {what}; give finite_element_link motions with "
        "'stretch' and segments, or silence AccuracyWarning",
        AccuracyWarning,
    )
