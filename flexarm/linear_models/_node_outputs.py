"""Outputs of nodes: positions, motions, and signals of sensors on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._calls.arm_like import ArmLike
from .._calls.doors import checked
from .._support.recorded import recorded
from ._names import Node, axes_of, node_and_name
from .operating_point import Point, Tangent, cross_columns, turned
from .strain import Output


def _on_node(
    node: object,
    axes: str,
    what: str,
    first: int,
    motion: Callable[[Point, int], Tangent],
) -> Output:
    """Some components of the angular (0) or linear (3) half of a motion of a node."""

    def names(arm: ArmLike) -> tuple[str, ...]:
        name = node_and_name(arm, node)[1]
        between = f" {what}" if what else ""
        return tuple(f"{name}{between} {axis}" for axis in axes_of(axes))

    def tangent(point: Point) -> Tangent:
        number, _ = node_and_name(point.one, node)
        rows = [first + "xyz".index(axis) for axis in axes_of(axes)]
        full = motion(point, number)
        parts = [d if np.ndim(d) == 0 else d[..., rows, :] for d in full[1:]]
        return Tangent(full.value[..., rows], *parts)

    return Output(names, tangent)


def _pose(point: Point, node: int) -> Tangent:
    place = point.pose(node)[..., :3, 3]
    value = np.concatenate([np.zeros_like(place), place], axis=-1)
    return Tangent(value, point.jacobian(node), 0.0, 0.0)


def _own_velocity(point: Point, node: int) -> Tangent:
    """Twist in axes of the node: d_j (R' V) = R' (d_j V - w_j x V)."""
    V = point.velocity(node)
    J = point.jacobian(node)
    back = np.swapaxes(point.pose(node)[..., :3, :3], -1, -2)
    halves = [cross_columns(J[..., :3, :], V.value[..., i : i + 3]) for i in (0, 3)]
    dq = V.dq - np.concatenate(halves, axis=-2)
    value = turned(back, V.value[..., np.newaxis])[..., 0]
    return Tangent(value, turned(back, dq), turned(back, V.dqd), 0.0)


@checked
@recorded("outputs.node_position", maker=True)
def node_position(node: Node = None, axes: str = "xyz") -> Output:
    """Position of a node, in base axes.

    Parameters
    ----------
    node : int, str or (body, node), optional
        Which node; by default the tip.
    axes : str
        Which components; only those in its plane for an arm that moves in a plane.

    Returns
    -------
    output : Output
        Signals ``"tip x"``, in m.

    Examples
    --------
    A tip 2 m out rises by 2 m/rad of the first joint:

    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> fa.linearize(arm, [0.0, 0.0], outputs=fa.outputs.node_position(axes="y")).C
    array([[2., 1., 0., 0.]])
    """
    return _on_node(node, axes, "", 3, _pose)


@checked
@recorded("outputs.node_rotation", maker=True)
def node_rotation(node: Node = None, axes: str = "xyz") -> Output:
    """Small rotation of a node from its orientation at the point, in base axes.

    Parameters
    ----------
    node : int, str or (body, node), optional
        Which node, such as one of a link; by default the tip.
    axes : str
        Which components.

    Returns
    -------
    output : Output
        Signals ``"tip rotation x"``, a rotation vector in rad.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> ss = fa.linearize(arm, [0.0, 0.5],
    ...     outputs=[fa.outputs.node_rotation(axes="z")])
    >>> ss.outputs
    ('tip rotation z',)
    """
    return _on_node(node, axes, "rotation", 0, _pose)


@checked
@recorded("outputs.node_velocity", maker=True)
def node_velocity(node: Node = None, axes: str = "xyz") -> Output:
    """Velocity of a node, in base axes.

    Parameters
    ----------
    node : int, str or (body, node), optional
        Which node; by default the tip.
    axes : str
        Which components.

    Returns
    -------
    output : Output
        Signals ``"tip velocity x"``, in m/s.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> ss = fa.linearize(arm, [0.0, 0.5],
    ...     outputs=[fa.outputs.node_velocity(axes="xy")])
    >>> ss.outputs
    ('tip velocity x', 'tip velocity y')
    """
    return _on_node(node, axes, "velocity", 3, Point.velocity)


@checked
@recorded("outputs.node_angular_velocity", maker=True)
def node_angular_velocity(node: Node = None, axes: str = "xyz") -> Output:
    """Angular velocity of a node, in base axes.

    Parameters
    ----------
    node : int, str or (body, node), optional
        Which node; by default the tip.
    axes : str
        Which components.

    Returns
    -------
    output : Output
        Signals ``"tip angular velocity x"``, in rad/s.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> ss = fa.linearize(arm, [0.0, 0.5],
    ...     outputs=[fa.outputs.node_angular_velocity(axes="z")])
    >>> ss.outputs
    ('tip angular velocity z',)
    """
    return _on_node(node, axes, "angular velocity", 0, Point.velocity)


@checked
@recorded("outputs.gyroscope", maker=True)
def gyroscope(node: Node = None, axes: str = "xyz") -> Output:
    """Angular velocity of a node in its own axes, as a gyroscope on it measures.

    Parameters
    ----------
    node : int, str or (body, node), optional
        Which node; by default the tip.
    axes : str
        Which components.

    Returns
    -------
    output : Output
        Signals ``"tip gyroscope x"``, in rad/s.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> fa.linearize(arm, [0.0, 0.5], outputs=[fa.outputs.gyroscope(axes="z")]).outputs
    ('tip gyroscope z',)
    """
    return _on_node(node, axes, "gyroscope", 0, _own_velocity)


@checked
@recorded("outputs.node_acceleration", maker=True)
def node_acceleration(node: Node = None, axes: str = "xyz") -> Output:
    """Acceleration of a node, in base axes, without gravity.

    Parameters
    ----------
    node : int, str or (body, node), optional
        Which node; by default the tip.
    axes : str
        Which components.

    Returns
    -------
    output : Output
        Signals ``"tip acceleration x"``, in m/s^2; forces act on them directly, by D.

    Examples
    --------
    A point of 2 kg, 0.5 m from its pivot: 1 N m accelerates it by 1 m/s^2.

    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> fa.linearize(arm, [0.0], outputs="tip acceleration z").D.round(12)
    array([[1.]])
    """
    return _on_node(node, axes, "acceleration", 3, Point.acceleration)


@checked
@recorded("outputs.accelerometer", maker=True)
def accelerometer(node: Node = None, axes: str = "xyz") -> Output:
    """Acceleration less gravity in axes of the node, as an accelerometer measures.

    Parameters
    ----------
    node : int, str or (body, node), optional
        Which node; by default the tip.
    axes : str
        Which components.

    Returns
    -------
    output : Output
        Signals ``"tip accelerometer x"``, in m/s^2; it turns with the node, so that it
        sees small rotations as changes of gravity.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> ss = fa.linearize(arm, [0.0, 0.5],
    ...     outputs=[fa.outputs.accelerometer(axes="xy")])
    >>> ss.outputs
    ('tip accelerometer x', 'tip accelerometer y')
    """
    return _on_node(node, axes, "accelerometer", 3, Point.specific_force)
