"""Slopes of the sections of a body for a unit of each mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .body import Body

Array = NDArray[np.float64]

# Distance of nodes from their line, as a share of its length, within which it is
# straight.
_LINE_TOLERANCE = 1e-6


def slope_shapes(body: Body) -> Array:
    """Rotations of the nodes of a body that are slopes, (n, c, m).

    The c components are those across the line of the nodes, since the twist of a
    straight link has no slope; all three where the nodes are not on a line.  Without
    rotations of the nodes they are those of the lines to them.  Nodes and components
    that do not turn are left out; a body of one place, as a hinge spring, has none.
    """
    position = np.asarray(body.node_position)
    turn: Array = np.asarray(body.node_rotation)
    held = body.attachment_node
    origin = np.zeros(3) if held is None else position[held]
    arms: Array = position - origin
    if not arms.any():
        return np.zeros((0, 0, turn.shape[-1]))
    if not turn.any():
        square = np.maximum((arms**2).sum(axis=-1), 1e-300)[:, np.newaxis, np.newaxis]
        turn = np.cross(arms[:, :, np.newaxis], body.node_translation, axis=1) / square
    # components across the line, if there is one
    _, size, axes = np.linalg.svd(arms, full_matrices=len(arms) < 3)
    size = np.append(size, [0.0, 0.0])
    if size[1] <= _LINE_TOLERANCE * size[0]:
        turn = axes[1:] @ turn
    largest = np.abs(turn).max(initial=0.0)
    small = np.abs(turn) <= 1e-12 * largest
    turn = turn[~small.all(axis=(1, 2))][:, ~small.all(axis=(0, 2))]
    turn.flags.writeable = False
    return np.asarray(turn)
