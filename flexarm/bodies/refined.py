"""A link with more modes than it was given, from the link before reduction."""

from __future__ import annotations

import numpy as np

from .._support.arrays import Array, Index
from .basis import linear_body, loaded_mass, lowest_and_static
from .body import Body
from .left_out import with_stretch
from .models import FlexibleBody
from .node_sums import node_sums
from .profile import BeamProfile
from .unreduced import Cuts


def refined_link(
    body: Body,
    nodes: Index,
    loads: Array,
    more: int,
    stretch: bool = False,
) -> FlexibleBody | None:
    """Return a link with the lowest modes of what it carries, and static shapes.

    Parameters
    ----------
    body : Body
        A link of beams.
    nodes : (k,) ndarray of int
        Nodes that carry something.
    loads : (k, 6, 6) ndarray
        Inertias on them, about the origin of the body.
    more : int
        Number of modes beyond those that it has.
    stretch : bool
        Whether it stretches, if the body leaves that out.

    Returns
    -------
    link : FlexibleBody or None
        With the nodes of the body, and more; its frame is that of the base.  None if
        the link before reduction is not known.
    """
    link = with_stretch(body) if stretch else body.unreduced
    if link is None or body.segment is not None:
        return None
    held = body.attachment_node
    if held is not None and np.abs(body.node_position[held]).max() > 0.0:
        return None
    from scipy.linalg import eigh

    # lowest modes of the loaded link, which is of unit stiffness, and static shapes
    linear = link.linear(nodes)
    mass = loaded_mass(linear, loads)
    U = lowest_and_static(linear, loads, body.n_modes + more)
    inverse_squares, turn = eigh(U.T @ mass @ U)
    W = (U @ turn)[:, ::-1]  # the slowest first
    rate = 1.0 / np.sqrt(inverse_squares[::-1])
    # nodes of the body, then cuts across the link, and the distributed mass
    spread, cuts, every = link.spread_mass, link.cuts, np.arange(body.n_nodes)
    position = np.concatenate([body.node_position, cuts.position])
    motion = np.concatenate([link.node_motion(every), cuts.motion])
    rotation, translation = _shapes(motion @ W, position)
    turned, moved = _shapes(spread.motion @ W, spread.position)
    kappa = at_points = None
    if body.node_foreshortening is not None or _driven(body):
        weights = link.place_weights(every)
        at_points = link.foreshortening(W, weights[body.n_nodes :])
        weights = np.concatenate([weights[: body.n_nodes], cuts.weights])
        kappa = link.foreshortening(W, weights)
    lump = np.zeros(len(position), dtype=bool)
    lump[link.lumps] = True
    wide = len(cuts.at)
    mass, com = np.pad(link.mass, (0, wide)), np.pad(link.com, ((0, wide), (0, 0)))
    inertia = np.pad(link.inertia, ((0, wide), (0, 0), (0, 0)))
    return FlexibleBody(
        body.name,
        body.joint,
        node_position=position,
        node_mass=np.where(lump, mass, 0.0),
        node_com=np.where(lump[:, None], com, 0.0),
        node_inertia=np.where(lump[:, None, None], inertia, 0.0),
        node_translation=translation,
        node_rotation=rotation,
        node_foreshortening=kappa,
        node_names=(*body.node_names, *(f"cut {j + 1}" for j in range(wide))),
        stiffness=np.eye(W.shape[1]),
        damping=2.0 * _ratios(body, nodes, loads, rate) / rate,
        mode_names=tuple(f"mode {j + 1}" for j in range(W.shape[1])),
        integrals=node_sums(
            *spread[:4], turned, moved, foreshortening=at_points, turns=False
        ),
        beam=_profile(body, cuts, W),
    )


def _profile(body: Body, cuts: Cuts, W: Array) -> BeamProfile:
    """Cuts of the link with more modes, by which it is stiffer where it bends far."""
    n, count = body.n_nodes, len(cuts.at)
    beyond = np.zeros((count, n + count), dtype=bool)
    along = (body.node_position - cuts.position[0]) @ cuts.axes[0][:, 0]
    beyond[:, :n] = along > cuts.at[:, None]
    beyond[:, n:] = cuts.at > cuts.at[:, None]
    return BeamProfile(
        at=cuts.at,
        node=n + np.arange(count),
        axes=cuts.axes,
        strain=cuts.strain @ W,
        stiffness=cuts.stiffness,
        mass_beyond=beyond.astype(np.float64),
        beyond=beyond,
    )


def _driven(body: Body) -> bool:
    c = body.integrals
    return c is not None and c.driven is not None


def _shapes(motion: Array, position: Array) -> tuple[Array, Array]:
    """Rotations and translations of places, from their motion about the origin."""
    turn, move = motion[:, :3], motion[:, 3:]
    return turn, move - np.cross(position[:, :, None], turn, axis=1)


def _ratios(body: Body, nodes: Index, loads: Array, rate: Array) -> Array:
    """Damping ratios of modes with some rates, from those of the modes of the body."""
    from scipy.linalg import eigh

    linear = linear_body(body, nodes)
    squares, vectors = eigh(linear.stiffness, loaded_mass(linear, loads))
    own = np.sqrt(squares)
    ratio = np.einsum("ri,rs,si->i", vectors, body.damping, vectors) / (2.0 * own)
    return np.asarray(np.interp(rate, own, ratio))
