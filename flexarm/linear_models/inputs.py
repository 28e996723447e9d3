"""Forces that act on an arm: inputs of `flexarm.linearize`.

Inputs are given by their names, ``"actuators"``, ``"all forces"``, ``"tip force y"``,
or by the functions of this module, alone or several in a list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._calls.arguments import any_of
from .._calls.arm_like import AnyArm, ArmLike, Array
from .._calls.doors import checked, checked_record
from .._support.recorded import recorded
from ..errors import ArgumentError
from ..kinematics.nodes import jacobian
from ._names import Node, axes_of, items_of, node_and_name, of_words

# those without arguments have names in words
__all__ = ["node_force", "node_moment"]


@checked_record("{field}")
@dataclass(frozen=True)
class Input:
    """Forces that act on an arm.

    Attributes
    ----------
    names : callable
        Names of the signals for an arm, ``names(arm)``.
    directions : callable
        Generalized forces of a unit of each, ``directions(arm, q)``, (..., nv, m).
    """

    names: Callable[[ArmLike], tuple[str, ...]]
    directions: Callable[[AnyArm, Array], Array]


@checked
@recorded("inputs.actuators", maker=True)
def actuators() -> Input:
    """Forces of the ``nu`` actuators, on motors where joints have drives.

    Returns
    -------
    input : Input
        Signals ``"link1 force"``; N m of joints that turn, N of joints that slide.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> fa.linearize(arm, [0.0, 0.0], inputs="actuators").inputs
    ('link1 force', 'link2 force')
    """

    def names(arm: ArmLike) -> tuple[str, ...]:
        known = arm.coordinate_names
        return tuple(f"{known[i]} force" for i in arm.actuator_indices)

    def directions(arm: AnyArm, q: Array) -> Array:
        return np.eye(arm.nv)[:, arm.actuator_indices]

    return Input(names, directions)


@checked
@recorded("inputs.all_forces", maker=True)
def all_forces() -> Input:
    """Forces on all ``nv`` coordinates, modes among them.

    Returns
    -------
    input : Input
        Signals ``"link1 force"``, ``"link1.bending y 1 force"``.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(n_modes=1)
    >>> fa.linearize(arm, [0.0] * 4, inputs=[fa.inputs.all_forces()]).inputs[::2]
    ('link1 force', 'link1.bending y 1 force')
    """

    def names(arm: ArmLike) -> tuple[str, ...]:
        return tuple(f"{name} force" for name in arm.coordinate_names)

    def directions(arm: AnyArm, q: Array) -> Array:
        return np.eye(arm.nv)

    return Input(names, directions)


def _wrench(node: object, axes: str, first: int, what: str) -> Input:
    def names(arm: ArmLike) -> tuple[str, ...]:
        _, name = node_and_name(arm, node)
        return tuple(f"{name} {what} {axis}" for axis in axes_of(axes))

    def directions(arm: AnyArm, q: Array) -> Array:
        number, _ = node_and_name(any_of(arm), node)
        rows = [first + "xyz".index(axis) for axis in axes_of(axes)]
        J = jacobian(arm, q, number, frame="base")[..., rows, :]
        return np.asarray(np.swapaxes(J, -1, -2))

    return Input(names, directions)


@checked
@recorded("inputs.node_force", maker=True)
def node_force(node: Node = None, axes: str = "xyz") -> Input:
    """External forces on a node, in base axes: disturbances.

    Parameters
    ----------
    node : int, str or (body, node), optional
        Which node; by default the tip.
    axes : str
        Which components, such as ``"xy"``.

    Returns
    -------
    input : Input
        Signals ``"tip force x"``, in N.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> push = fa.inputs.node_force(("link1", "tip"), "y")
    >>> fa.linearize(arm, [0.0, 0.0], inputs=["actuators", push]).inputs
    ('link1 force', 'link2 force', 'link1.tip force y')
    """
    return _wrench(node, axes, 3, "force")


@checked
@recorded("inputs.node_moment", maker=True)
def node_moment(node: Node = None, axes: str = "xyz") -> Input:
    """External moments on a node, in base axes.

    Parameters
    ----------
    node : int, str or (body, node), optional
        Which node; by default the tip.
    axes : str
        Which components, such as ``"z"``.

    Returns
    -------
    input : Input
        Signals ``"tip moment x"``, in N m.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> fa.linearize(arm, [0.0, 0.5], inputs=[fa.inputs.node_moment(axes="z")]).inputs
    ('tip moment z',)
    """
    return _wrench(node, axes, 0, "moment")


_NAMED: dict[str, Callable[[], Input]] = {
    "actuators": actuators,
    "all forces": all_forces,
}
_ON_NODES: dict[str, Callable[[object, str], Input]] = {
    "force": node_force,
    "moment": node_moment,
}


def read_inputs(arm: ArmLike, given: object) -> list[Input]:
    """Inputs from the argument of `linearize`."""
    if given is None:
        return [actuators()]
    found = [_read_one(arm, item) for item in items_of("inputs", given, str | Input)]
    if not found:
        raise ArgumentError(
            "inputs is empty, expected at least one, such as 'actuators'"
        )
    return found


def _read_one(arm: ArmLike, item: object) -> Input:
    if isinstance(item, Input):
        return item
    found = of_words(arm, item, _NAMED, _ON_NODES)
    if found is not None:
        return found
    raise ArgumentError(
        f"inputs has {item!r}, expected 'actuators', 'all forces', '<node> force' or "
        "'<node> moment', with axes or without, such as 'tip force y', or a result of "
        "a function of flexarm.inputs"
    )
