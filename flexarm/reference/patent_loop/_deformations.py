"""What the sensors read and how the modes deform the nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.arguments import real_array
from ..._calls.doors import checked
from ..._support.arrays import Array
from ...arm import Arm
from ...errors import ArgumentError


class Sensed(NamedTuple):
    """Reading of the joint sensors.

    Attributes
    ----------
    q : (..., n_positions) array_like of float
        Joint positions in rad or m.
    qd : (..., nu) array_like of float
        Joint velocities.
    """

    q: ArrayLike
    qd: ArrayLike


@checked
def node_deformations(arm: Arm, q: object) -> Array:
    r"""Rotation and displacement of every node by the modes of its body.

    :math:`u = \Pi \eta`, the modal spatial influence vectors times the modal
    coordinates [1]_; rigid bodies have zeros.

    Parameters
    ----------
    arm : Arm
        Arm with ``n_nodes`` nodes.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.

    Returns
    -------
    u : (..., n_nodes, 6) ndarray of float
        Rotation in rad and displacement in m, in the axes of the body.

    Raises
    ------
    ArgumentError
        If the last axis of `q` has the wrong length.

    References
    ----------
    .. [1] A. Jain, G. Rodriguez, US patent 5,546,508 (1996), eq. 21.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.reference import patent_loop
    >>> arm = fa.library.de_luca_siciliano()
    >>> u = patent_loop.node_deformations(arm, [0.0, 0.0, 0.0, 0.0, 0.1, 0.0])
    >>> u[arm.node("link2", "tip"), 4].round(4)   # 0.1 * 0.883
    np.float64(0.0883)
    >>> patent_loop.node_deformations(arm, [[0.0] * 6] * 3).shape
    (3, 30, 6)
    """
    q = real_array("q", q)
    if q.ndim == 0 or q.shape[-1] != arm.nq:
        raise ArgumentError(
            f"q has shape {q.shape}, expected a last axis of {arm.nq} coordinates; see "
            "arm.coordinate_names"
        )
    return np.asarray(deform(influence(arm), q[..., arm.motor_position_slice.stop :]))


def influence(arm: Arm) -> Array:
    """Modal spatial influence of all modes on all nodes, (n_nodes, 6, n_modes)."""
    result = np.zeros((arm.n_nodes, 6, arm.nv - arm.motor_slice.stop))
    start = 0
    for k, body in enumerate(arm.bodies):
        modes = slice(start, start + body.n_modes)
        nodes = arm.node_slice(k)
        result[nodes, :3, modes] = body.node_rotation
        result[nodes, 3:, modes] = body.node_translation
        start += body.n_modes
    return result


def deform(Pi: Array, eta: Array) -> Array:
    """Node deformations (..., n_nodes, 6) of modal coordinates (..., n_modes)."""
    return np.asarray((Pi @ eta[..., np.newaxis, :, np.newaxis])[..., 0])
