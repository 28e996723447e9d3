"""Masses, velocity forces and weights of `dual_screws`, summed over points of bodies.

Numbers in parentheses are equations of A. Cibicik, O. Egeland, IEEE Trans. Robotics 37,
2021.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._calls.arm_like import ArmLike
from .._support.arrays import AnyArray as Array
from ..bodies.body import Body
from ..model.expansion import nodes_as_bodies
from ._dual_chain import (
    Frame,
    Points,
    columns_at,
    frames_of,
    jacobian_form,
    points_of,
    twists_at,
)
from ._dual_checks import check_options
from ._dual_pairs import (
    ANGULAR,
    LINEAR,
    Pair,
    cross,
    cross_columns,
    first_order,
    fixed,
    fold,
    motion_cross,
    stack,
)


def _inertia_forces(points: Points, own: Pair, section: Pair, rate: Pair) -> Pair:
    """Wrenches of the velocity forces of points, Newton and Euler (101), (104)-(108).

    `rate` is the rate of the twist of the section in components of the frame, without
    accelerations.  The transport terms have the angular velocity of the frame, W^I, the
    gyroscopic ones that of the section, W^II.
    """
    omega, turning = own[ANGULAR], section[ANGULAR]
    com, mass = fixed(points.com), points.mass
    J = points.D[..., :3, :3]
    alpha = rate[ANGULAR] + cross(omega, turning)
    a = rate[LINEAR] + cross(omega, section[LINEAR])
    moment = J @ alpha + cross(turning, J @ turning)
    centripetal = cross(turning, cross(turning, com))
    force = _times(mass, a + cross(alpha, com) + centripetal)
    return stack(moment + cross(com, _times(mass, a)), force)


def _times(factor: Array, x: Pair) -> Pair:
    return Pair(factor * x.real, factor * x.dual)


def _weights(arm: ArmLike, frame: Frame, points: Points) -> Pair:
    """Weights at points (123), (124)."""
    g = frame.R @ fixed(arm.gravity[:, np.newaxis])
    force = _times(points.mass, g[..., np.newaxis, :, :])
    theta = points.lam @ frame.eta[..., np.newaxis, :, :]
    com = fixed(points.com) + first_order(cross_columns(theta, points.com))
    return stack(cross(com, force), force)


class Terms(NamedTuple):
    mass: Array  # (..., nv, nv)
    velocity: Array  # (..., nv, 1), C u
    weight: Array  # (..., nv, 1), forces of gravity


def _cut_section(arm: ArmLike, place: tuple[int, int], mass: Array) -> None:
    """Cut the kinetic energy of a section after the second order, in place.

    Products of rates of the modes of its body then do not change with the modes.
    """
    k, j = place
    body: Body = arm.bodies[k]
    if j in body.section_nodes:
        lam = body.node_rotation[j]
        gamma = body.node_translation[j]
        at = arm.mode_slice(k)
        moving = body.node_mass[j] * gamma.T @ gamma
        mass[..., at, at] = lam.T @ body.node_inertia[j] @ lam + moving


def sum_terms(
    arm: ArmLike, q: Array, u: Array | None, rotation_rates: str, node_inertia: str
) -> Terms:
    """M and C u of (112), gravity part of (109): sums over points of all bodies."""
    check_options(rotation_rates, node_inertia)
    given, origin = arm, list[tuple[int, int]]()
    if node_inertia == "lagrange":
        # every node whose inertia turns is a rigid body, to first order
        arm, origin = nodes_as_bodies(arm)
    mass, velocity, weight = (np.zeros(()) for _ in range(3))
    frames = frames_of(arm, q, u, exact=rotation_rates == "exact")
    for number, (frame, body) in enumerate(zip(frames, arm.bodies, strict=True)):
        points = points_of(body)
        columns = columns_at(frame, points)
        own_mass = fold(columns, points.D @ columns).sum(axis=-3)
        if number >= len(given.bodies):
            _cut_section(given, origin[number - len(given.bodies)], own_mass)
        mass = mass + own_mass
        loads = _weights(arm, frame, points)
        weight = weight + fold(columns, loads).sum(axis=-3)
        if u is None or frame.motion is None:
            continue
        # rate of P-hat, every column carried along by its own body (76)-(79)
        carriers, own, section = twists_at(frame, frame.motion, points)
        jacobian = jacobian_form(columns, arm.nj)
        rate = motion_cross(carriers - own, jacobian) @ fixed(u[..., np.newaxis, :, :])
        wrenches = _inertia_forces(points, own, section, rate)
        velocity = velocity + fold(columns, wrenches).sum(axis=-3)
    return Terms(mass, velocity, weight)
