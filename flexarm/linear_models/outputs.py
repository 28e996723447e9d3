"""Signals that are measured on an arm: outputs of `flexarm.linearize`.

Outputs are given by their names or by the functions of this module, alone or several in
a list:

=============================  =======================================================
``"joint positions"``          `joint_positions`, `joint_velocities`,
                               `joint_accelerations`
``"motor positions"``          `motor_positions`, `motor_velocities`, as of encoders
``"modes"``                    `modes`, `mode_velocities`
``"state"``                    `state`: all of it
``"tip position"``,            `node_position` of the tip; ``"tip y"`` for short
``"tip position xy"``
``"tip velocity"``,            `node_velocity`
``"link1.tip velocity x"``
``"tip acceleration y"``       `node_acceleration`
``"tip rotation z"``           `node_rotation`: the orientation
``"tip angle"``                `tip_angle`: seen from the joint of its link
``"tip angular velocity z"``   `node_angular_velocity`
``"tip accelerometer x"``      `accelerometer`: with gravity, in axes of the node
``"tip gyroscope x"``          `gyroscope`: angular velocity in axes of the node
``("strain", "link1", 0.1)``   `strain` of a link 0.1 m from its base
=============================  =======================================================

Names of nodes are those of ``arm.node_names``, ``"tip"`` is that of the arm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .._calls.arguments import real_array
from .._calls.arm_like import ArmLike, Array
from .._calls.doors import checked
from .._support.arrays import Index
from .._support.checks import short_text
from .._support.options import place_of
from .._support.recorded import recorded
from ..errors import ArgumentError, ModelError
from ._names import items_of, of_words
from ._node_outputs import (
    accelerometer,
    gyroscope,
    node_acceleration,
    node_angular_velocity,
    node_position,
    node_rotation,
    node_velocity,
)
from ._tip_angle import tip_angle
from .operating_point import Point, Tangent
from .strain import Output, strain

__all__ = [
    "accelerometer",
    "combination",
    "gyroscope",
    "modes",
    "node_acceleration",
    "node_angular_velocity",
    "node_position",
    "node_rotation",
    "node_velocity",
    "strain",
    "tip_angle",
]


# coordinates


def _chosen(
    columns: Callable[[ArmLike], Index | slice], order: int, suffix: str
) -> Output:
    """Some coordinates, or their first or second rates."""

    def names(arm: ArmLike) -> tuple[str, ...]:
        known = arm.coordinate_names
        at = np.arange(arm.nv)[columns(arm)]
        return tuple(f"{known[i]}{suffix}" for i in at)

    def tangent(point: Point) -> Tangent:
        at = np.arange(point.arm.nv)[columns(point.one)]
        rows: list[Array | float] = [0.0, 0.0, 0.0]
        rows[order] = point.rows(at)
        if order == 0:
            return Tangent(_positions(point, at), *rows)
        return Tangent((point.qd, point.qdd)[order - 1][..., at], *rows)

    return Output(names, tangent)


def _positions(point: Point, velocities: Array) -> Array:
    """Positions that belong to velocities; zero for the rotation of a joint's pose."""
    arm = point.one
    result = np.zeros((*point.q.shape[:-1], arm.nv))
    for k, body in enumerate(arm.bodies):
        if not body.joint.has_pose:
            at = arm.body_joint_slice(k, positions=True)
            result[..., arm.body_joint_slice(k)] = point.q[..., at]
    rest = slice(arm.motor_position_slice.start, None)
    result[..., arm.nj :] = point.q[..., rest]
    return result[..., velocities]


@checked
@recorded("outputs.joint_positions", maker=True)
def joint_positions() -> Output:
    """Positions of the joints: angles in rad, displacements in m.

    Returns
    -------
    output : Output
        Signals ``"link1"``; of joints with quaternions the displacements from the
        point, which are states, too.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> fa.linearize(arm, [0.0, 0.5], outputs=[fa.outputs.joint_positions()]).outputs
    ('link1', 'link2')
    """
    return _chosen(lambda arm: arm.joint_slice, 0, "")


@checked
@recorded("outputs.joint_velocities", maker=True)
def joint_velocities() -> Output:
    """Rates of the joints, in rad/s or m/s: signals ``"link1 rate"``.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> fa.linearize(arm, [0.0, 0.5], outputs=[fa.outputs.joint_velocities()]).outputs
    ('link1 rate', 'link2 rate')
    """
    return _chosen(lambda arm: arm.joint_slice, 1, " rate")


@checked
@recorded("outputs.joint_accelerations", maker=True)
def joint_accelerations() -> Output:
    """Second rates of the joints in rad/s^2 or m/s^2, with direct transmission.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> ss = fa.linearize(arm, [0.0, 0.5],
    ...     outputs=[fa.outputs.joint_accelerations()])
    >>> ss.outputs
    ('link1 acceleration', 'link2 acceleration')
    """
    return _chosen(lambda arm: arm.joint_slice, 2, " acceleration")


@checked
@recorded("outputs.motor_positions", maker=True)
def motor_positions() -> Output:
    """Positions of actuators, as of encoders: motors, and joints without a drive.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> fa.linearize(arm, [0.0, 0.5], outputs=[fa.outputs.motor_positions()]).outputs
    ('link1', 'link2')
    """
    return _chosen(lambda arm: arm.actuator_indices, 0, "")


@checked
@recorded("outputs.motor_velocities", maker=True)
def motor_velocities() -> Output:
    """Rates of motors, and of joints without a drive, in rad/s or m/s.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> fa.linearize(arm, [0.0, 0.5], outputs=[fa.outputs.motor_velocities()]).outputs
    ('link1 rate', 'link2 rate')
    """
    return _chosen(lambda arm: arm.actuator_indices, 1, " rate")


@checked
@recorded("outputs.modes", maker=True)
def modes(body: str | int | None = None) -> Output:
    """Modal coordinates of a body, or of all.

    Parameters
    ----------
    body : str or int, optional
        Which body.

    Returns
    -------
    output : Output
        Signals such as ``"link1.bending y 1"``.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(n_modes=1)
    >>> fa.linearize(arm, [0.0] * 4, outputs=[fa.outputs.modes()]).outputs
    ('link1.bending y 1', 'link2.bending y 1')
    """
    return _chosen(lambda arm: _modal(arm, body), 0, "")


@checked
@recorded("outputs.mode_velocities", maker=True)
def mode_velocities(body: str | int | None = None) -> Output:
    """Rates of modal coordinates of a body, or of all.

    Parameters
    ----------
    body : str or int, optional
        Which body.

    Returns
    -------
    output : Output
        Signals such as ``"link1.bending y 1 rate"``.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(n_modes=1)
    >>> fa.linearize(arm, [0.0] * 4, outputs=[fa.outputs.mode_velocities()]).outputs
    ('link1.bending y 1 rate', 'link2.bending y 1 rate')
    """
    return _chosen(lambda arm: _modal(arm, body), 1, " rate")


def _modal(arm: ArmLike, body: str | int | None) -> slice:
    if arm.motor_slice.stop == arm.nv:
        raise ArgumentError("outputs has 'modes', but no body of the arm has any")
    if body is None:
        return slice(arm.motor_slice.stop, arm.nv)
    try:
        return arm.mode_slice(body)
    except ModelError as refusal:
        raise ArgumentError(str(refusal)) from None


@checked
@recorded("outputs.state", maker=True)
def state() -> Output:
    """All displacements, then all velocities, named as the states.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum()
    >>> fa.linearize(arm, [0.0], outputs=[fa.outputs.state()]).outputs
    ('rod', 'rod rate')
    """
    every = slice(None)
    first, second = _chosen(lambda arm: every, 0, ""), _chosen(lambda arm: every, 1, "")

    def names(arm: ArmLike) -> tuple[str, ...]:
        return state_names(arm.coordinate_names)

    def tangent(point: Point) -> Tangent:
        a, b = first.tangent(point), second.tangent(point)
        none = np.zeros_like(a.dq)
        return Tangent(
            np.concatenate([a.value, b.value], axis=-1),
            np.concatenate([a.dq, none]),
            np.concatenate([none, b.dqd]),
            0.0,
        )

    return Output(names, tangent)


def state_names(coordinates: Sequence[str]) -> tuple[str, ...]:
    """Names of displacements and velocities."""
    return (*coordinates, *(f"{name} rate" for name in coordinates))


@checked
@recorded("outputs.combination", maker=True)
def combination(
    name: str,
    *,
    positions: Mapping[str | int, float] | None = None,
    velocities: Mapping[str | int, float] | None = None,
    accelerations: Mapping[str | int, float] | None = None,
) -> Output:
    """Linear combination of coordinates and their rates.

    Parameters
    ----------
    name : str
        Name of the signal.
    positions, velocities, accelerations : mapping of str to float, optional
        Coefficients by names out of ``arm.coordinate_names``.

    Returns
    -------
    output : Output
        One signal.

    Raises
    ------
    ArgumentError
        When the model is made, if the arm has no such coordinate.

    Examples
    --------
    The sum of two joint angles:

    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> angle = fa.outputs.combination("angle", positions={"link1": 1, "link2": 1})
    >>> fa.linearize(arm, [0.3, 0.4], outputs=angle).C
    array([[1., 1., 0., 0.]])
    """

    def row(arm: ArmLike, given: Any) -> Array | float:
        if not given:
            return 0.0
        known, result = arm.coordinate_names, np.zeros((1, arm.nv))
        for key, value in dict(given).items():
            place = place_of(f"combination {name!r}", key, known)
            result[0, place] = float(real_array(f"factor of {key!r}", value))
        return result

    def tangent(point: Point) -> Tangent:
        rows = [row(point.one, g) for g in (positions, velocities, accelerations)]
        every = np.arange(point.arm.nv)
        parts = (_positions(point, every), point.qd, point.qdd)
        value = np.zeros((*point.q.shape[:-1], 1))
        for r, x in zip(rows, parts, strict=True):
            value = value + (x @ np.transpose(r) if np.ndim(r) else 0.0)
        return Tangent(value, *rows)

    return Output(lambda arm: (name,), tangent)


# by name


_NAMED: dict[str, Callable[[], Output]] = {
    "joint positions": joint_positions,
    "joint velocities": joint_velocities,
    "joint accelerations": joint_accelerations,
    "joints": joint_positions,
    "motor positions": motor_positions,
    "motor velocities": motor_velocities,
    "modes": modes,
    "mode velocities": mode_velocities,
    "state": state,
}
_ON_NODES: dict[str, Callable[[object, str], Output]] = {
    "position": node_position,
    "velocity": node_velocity,
    "acceleration": node_acceleration,
    "rotation": node_rotation,
    "angular velocity": node_angular_velocity,
    "accelerometer": accelerometer,
    "gyroscope": gyroscope,
    "angle": lambda node, axes: tip_angle(node),
}


def read_outputs(arm: ArmLike, given: object) -> list[Output]:
    """Outputs from the argument of `linearize`."""
    if given is None:
        return [joint_positions()]
    listed = [given] if _is_strain(given) else items_of("outputs", given, str | Output)
    found = [_read_one(arm, item) for item in listed]
    if not found:
        raise ArgumentError(
            "outputs is empty, expected at least one, such as 'joint positions'"
        )
    return found


def _is_strain(item: object) -> bool:
    return isinstance(item, tuple) and len(item) >= 3 and item[0] == "strain"


def _read_one(arm: ArmLike, item: Any) -> Output:
    if isinstance(item, Output):
        return item
    if _is_strain(item):
        return strain(*item[1:])
    found = of_words(arm, item, _NAMED, _ON_NODES)
    if found is not None:
        return found
    raise ArgumentError(
        f"outputs has {short_text(item)}, expected {', '.join(map(repr, _NAMED))}, "
        "'<node> position' (velocity, acceleration, rotation, angular velocity, angle, "
        "accelerometer, gyroscope), with axes or without, such as 'tip position xy', "
        "('strain', link, distance), or a result of a function of flexarm.outputs"
    )
