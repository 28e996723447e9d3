"""Stretch and shear that links leave out although their sections know them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._support.arrays import Array, Index
from .body import Body
from .unreduced import UnreducedLink


def left_out(body: Body, directions: tuple[int, ...]) -> UnreducedLink | None:
    """Return a link that has only deformations that the body leaves out.

    Parameters
    ----------
    body : Body
        A link.
    directions : tuple of int
        Columns of flexibility: 0 for stretch, 4 and 5 for shear.

    Returns
    -------
    link : UnreducedLink or None
        None if the body leaves out none of them, or if that is not known.
    """
    key = ("left out", *directions)
    if key not in body._kept:
        body._kept[key] = _left_out(body, directions)
    found: UnreducedLink | None = body._kept[key]
    return found


def _left_out(body: Body, directions: tuple[int, ...]) -> UnreducedLink | None:
    beam, link = body.beam, body.unreduced
    if link is None or beam is None or beam.left_out is None or beam.named:
        return None
    some = np.zeros_like(beam.left_out)
    some[..., directions] = beam.left_out[..., directions]
    return replace(link, flexibility=some) if some.any() else None


def with_stretch(body: Body) -> UnreducedLink | None:
    """Return the link before reduction, with the stretch that the body leaves out."""
    link, out = body.unreduced, left_out(body, (0,))
    if link is None or out is None:
        return link
    return replace(link, flexibility=link.flexibility + out.flexibility)


def share_left_out(
    pieces: Sequence[Body], to_last: Sequence[Array], nodes: Index
) -> Array:
    """Deflections by motions that a link leaves out, over those it has.

    Parameters
    ----------
    pieces : sequence of Body
        Of the link, from its base on.
    to_last : sequence of (6, 6) ndarray
        From twists in the frame of each to those in that of the last piece.
    nodes : (k,) ndarray of int
        Nodes of the last piece.

    Returns
    -------
    share : (k,) ndarray of float
        Of the largest deflections under a force at each node; NaN if it is not known.
    """
    both = np.zeros((2, len(nodes), 6, 6))
    for body, Y in zip(pieces, to_last, strict=True):
        link, out = body.unreduced, left_out(body, (0, 4, 5))
        if link is None or not _knows_sections(body, link):
            return np.full(len(nodes), np.nan)
        last = body is pieces[-1]
        ends = nodes if last else np.array([body.n_nodes - 1])
        for i, x in enumerate((link, out)):
            if x is not None:
                both[i] += Y @ x.compliance(ends) @ Y.T
    place = pieces[-1].node_position[nodes]
    skew = np.cross(place[:, np.newaxis], np.eye(3))  # moments of unit forces, as rows
    force = np.concatenate([skew, np.tile(np.eye(3), (len(nodes), 1, 1))], axis=2)
    moved = force @ both @ force.swapaxes(1, 2)
    has, lacks = np.linalg.eigvalsh(moved)[..., -1]
    return np.asarray(lacks / np.where(has > 0.0, has, np.inf))


def _knows_sections(body: Body, link: UnreducedLink) -> bool:
    """Whether the stiffness of what a link leaves out is known."""
    if body.beam is None or body.beam.named:
        return False
    known = body.beam.left_out is not None
    return known or bool(link.flexibility[..., [0, 4, 5]].any())
