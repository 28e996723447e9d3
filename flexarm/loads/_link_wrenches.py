"""Wrenches of inertia, weight and external loads of bodies and their parts, in NumPy.

Rigid rows of (B5) for arrays of states, in the axes of the body, about its frame.  They
are linear in the masses, so those of a part of a link follow from its integrals.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import real_array
from .._calls.arm_like import ArmLike, Array
from .._calls.nodes import one_node
from .._support.options import check_choice
from ..bodies.body import Body, modal_integrals
from ..bodies.integrals import ModalIntegrals, driven_shapes
from ..bodies.maps import cross_matrix, node_place
from ..bodies.node_sums import node_sums
from ..bodies.profile import BeamProfile
from ..errors import ArgumentError
from ..kinematics.links import link_accelerations, link_velocities
from ..kinematics.nodes import FRAMES, link_poses, node_pose

Motion = tuple[Array, Array, Array]


def _cross(x: Array, y: Array) -> Array:
    return np.asarray((cross_matrix(x) @ y[..., np.newaxis])[..., 0])


def body_wrench(
    c: ModalIntegrals, motion: Motion, twist: Array, rate: Array, gravity: Array
) -> Array:
    """Moment and force that hold a body in motion against its weight, (..., 6).

    Parameters
    ----------
    c : ModalIntegrals
        Integrals of the body or of a part of it, with n modes.
    motion : tuple of (..., n) ndarray
        Modal coordinates, rates and accelerations.
    twist, rate : (..., 6) ndarray
        Twist of the frame in its own axes, and the rates of its entries.
    gravity : (..., 3) ndarray
        Gravity in the axes of the frame.
    """
    eta, etad, etadd = motion
    omega, v = twist[..., :3], twist[..., 3:]
    turn, move = rate[..., :3], rate[..., 3:] - gravity
    mp = c.mp0 + eta @ c.mp1.T
    J_r = c.J1s + np.tensordot(eta, c.J2s, axes=(-1, 1))
    J = c.J0 + 0.5 * np.einsum("...rij,...r->...ij", c.J1s + J_r, eta)
    F = c.F0 + np.tensordot(eta, c.F1, axes=(-1, 2))

    def on(matrix: Array, x: Array) -> Array:
        return np.asarray((matrix @ x[..., np.newaxis])[..., 0])

    P = c.m * v - _cross(mp, omega) + etad @ c.E.T
    h = on(J, omega) + _cross(mp, v) + on(F, etad)
    mp_rate = etad @ c.mp1.T
    J_rate = np.einsum("...rij,...r->...ij", J_r, etad)
    F_rate = np.einsum("irs,...r,...s->...i", c.F1, etad, etad, optimize=True)

    force = c.m * move - _cross(mp, turn) + etadd @ c.E.T
    force = force + _cross(omega, mp_rate) + _cross(omega, P)
    moment = on(J, turn) + _cross(mp, move) + on(F, etadd) + F_rate + on(J_rate, omega)
    moment = moment + _cross(mp_rate, v) + _cross(omega, h) + _cross(v, P)
    moment = moment + _cross(gravity, eta @ (c.E - c.mp1).T)  # (B4)
    return np.concatenate(np.broadcast_arrays(moment, force), axis=-1)


def _with_driven(second: Array, motion: Motion) -> Motion:
    """Coordinates, rates and accelerations of the modes and of driven shapes."""
    eta, etad, etadd = motion
    slope = np.einsum("krs,...s->...kr", second, eta)
    zeta = 0.5 * np.einsum("...kr,...r->...k", slope, eta)
    zetad = np.einsum("...kr,...r->...k", slope, etad)
    zetadd = np.einsum("...kr,...r->...k", slope, etadd)
    zetadd = zetadd + np.einsum("krs,...r,...s->...k", second, etad, etad)
    pairs = ((eta, zeta), (etad, zetad), (etadd, zetadd))
    first, rate, change = (np.concatenate(pair, axis=-1) for pair in pairs)
    return first, rate, change


def whole(body: Body, motion: Motion) -> tuple[ModalIntegrals, Motion]:
    """Integrals of a body, and the motion of its modes and driven shapes."""
    c = modal_integrals(body)
    if c.driven is None:
        return c, motion
    return c.driven.integrals, _with_driven(c.driven.second, motion)


class Parts:
    """Masses and shapes of a link, for integrals of its parts.

    Parameters
    ----------
    body : FlexibleBody
        Link with n modes.
    profile : BeamProfile
        Cuts of the link.
    """

    def __init__(self, body: Body, profile: BeamProfile) -> None:
        self._body, self._profile = body, profile
        carried = profile.carried
        if carried is None:
            carried = (body.node_mass, body.node_com, body.node_inertia)
        self._carried, n = carried, body.n_modes
        shapes, self._second = np.zeros((body.n_nodes, 3, 0)), np.zeros((0, n, n))
        if body.node_foreshortening is not None:
            mass, com, _ = carried
            place = body.node_position + com
            shapes, self._second = driven_shapes(mass, place, body.node_foreshortening)
        still = np.zeros_like(shapes)
        self._rotation = np.concatenate([body.node_rotation, still], axis=2)
        self._translation = np.concatenate([body.node_translation, shapes], axis=2)

    def beyond(self, cut: int, motion: Motion) -> tuple[ModalIntegrals, Motion]:
        """Integrals of the part beyond a cut, and the motion as in `whole`."""
        mass, com, inertia = self._carried
        left = self._profile.mass_beyond[cut]
        c = node_sums(
            left * mass,
            com,
            left[:, np.newaxis, np.newaxis] * inertia,
            self._body.node_position,
            self._rotation,
            self._translation,
            turns=self._profile.carried is None,
        )
        return c, _with_driven(self._second, motion)


class Wrenches:
    """Motion of all bodies of an arm in many states, and wrenches about their frames.

    Parameters
    ----------
    arm : Arm
        Arm.
    q, qd, qdd : (..., n) ndarray
        Positions, velocities, accelerations; leading axes broadcast.
    """

    def __init__(self, arm: ArmLike, q: Array, qd: Array, qdd: Array) -> None:
        self.arm = arm
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in (q, qd, qdd)))
        self.q, self.qd, self.qdd = (
            np.broadcast_to(x, (*lead, x.shape[-1])) for x in (q, qd, qdd)
        )
        self.pose = link_poses(arm, self.q)
        self.twist = link_velocities(arm, self.q, self.qd)
        self.rate = link_accelerations(arm, self.q, self.qd, self.qdd)
        gravity = np.asarray(arm.gravity, dtype=np.float64)
        self.gravity = np.einsum("...ji,j->...i", self.pose[..., :3, :3], gravity)
        # external loads as (body, node, wrench about the origin of the base)
        self._outer: list[tuple[int, int, Array]] = []
        self._subtree: list[Array] = []
        self._parts: dict[int, Parts] = {}

    def modes(self, number: int) -> Motion:
        """Coordinates, rates and accelerations of the modes of a body."""
        at = self.arm.mode_slice(number)
        q_at = self.arm.mode_slice(number, positions=True)
        return self.q[..., q_at], self.qd[..., at], self.qdd[..., at]

    def place(self, number: int, node: int) -> Array:
        """Position of a node of the deformed body in its frame."""
        return node_place(self.arm.bodies[number], node, self.modes(number)[0])

    def add_external(self, wrench: ArrayLike, node: object, frame: str) -> None:
        """Add a wrench on a node; see `flexarm.wrench_forces`."""
        check_choice("frame", frame, FRAMES)
        given = real_array("wrench", wrench)
        if given.ndim == 0 or given.shape[-1] != 6:
            raise ArgumentError(f"wrench has shape {given.shape}, expected (..., 6)")
        index = one_node(self.arm, node)
        T = node_pose(self.arm, self.q, index)
        if frame == "node":
            R = T[..., :3, :3]
            parts = [
                (R @ given[..., at, None])[..., 0] for at in (slice(3), slice(3, 6))
            ]
            given = np.concatenate(parts, axis=-1)
        moment = given[..., :3] + _cross(T[..., :3, 3], given[..., 3:])
        body = int(np.searchsorted(self.arm._node_offset, index, side="right")) - 1
        own = index - self.arm._node_offset[body]
        force = np.broadcast_to(given[..., 3:], moment.shape)
        self._outer.append((body, own, np.concatenate([moment, force], axis=-1)))
        self._subtree = []

    def to_base(self, number: int, wrench: Array) -> Array:
        """Convert a wrench about a frame, in its axes, to one about the base."""
        R, x = self.pose[..., number, :3, :3], self.pose[..., number, :3, 3]
        force = (R @ wrench[..., 3:, None])[..., 0]
        moment = (R @ wrench[..., :3, None])[..., 0] + _cross(x, force)
        return np.concatenate([moment, force], axis=-1)

    def to_frame(self, number: int, wrench: Array) -> Array:
        """Inverse of `to_base`."""
        R, x = self.pose[..., number, :3, :3], self.pose[..., number, :3, 3]
        moment = wrench[..., :3] - _cross(x, wrench[..., 3:])
        back = np.swapaxes(R, -1, -2)
        parts = [back @ moment[..., None], back @ wrench[..., 3:, None]]
        return np.concatenate([part[..., 0] for part in parts], axis=-1)

    def own(self, number: int, c: ModalIntegrals, motion: Motion) -> Array:
        """Wrench of a body or of a part of it, about its frame."""
        return body_wrench(
            c,
            motion,
            self.twist[..., number, :],
            self.rate[..., number, :],
            self.gravity[..., number, :],
        )

    def subtree(self) -> list[Array]:
        """Wrenches that hold each body and all outboard of it, about the base."""
        if not self._subtree:
            arm = self.arm
            totals = []
            for number, body in enumerate(arm.bodies):
                c, motion = whole(body, self.modes(number))
                totals.append(self.to_base(number, self.own(number, c, motion)))
            for body_number, _, wrench in self._outer:
                totals[body_number] = totals[body_number] - wrench
            for number in reversed(range(len(arm.bodies))):
                parent = arm._parents[number]
                if parent >= 0:
                    totals[parent] = totals[parent] + totals[number]
            self._subtree = totals
        return self._subtree

    def beyond(self, number: int, profile: BeamProfile, cut: int) -> Array:
        """Wrench that holds all parts beyond a cut of a link, about its frame."""
        body = self.arm.bodies[number]
        if number not in self._parts:
            self._parts[number] = Parts(body, profile)
        c, motion = self._parts[number].beyond(cut, self.modes(number))
        hung = np.zeros((*self.q.shape[:-1], 6))
        for child, other in enumerate(self.arm.bodies):
            if self.arm._parents[child] == number:
                node = body.node_index(other.joint.node)
                if profile.beyond[cut, node]:
                    hung = hung + self.subtree()[child]
        for body_number, node, wrench in self._outer:
            if body_number == number and profile.beyond[cut, node]:
                hung = hung - wrench
        return self.own(number, c, motion) + self.to_frame(number, hung)
