"""Errors of the modes of a link: against the same link before reduction.

Modes restrict the motion of a link, so that its static compliance is too small and its
frequencies are too high (J. S. Przemieniecki, *Theory of Matrix Structural Analysis*,
1968, chapter 9; R. R. Craig, A. J. Kurdila, *Fundamentals of Structural Dynamics*,
2006, chapter 17).
"""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .body import Body
from .maps import modal_mass
from .unreduced import LinearBody

Array = NDArray[np.float64]

# Part of the largest compliance below which a principal direction of a node does not
# count.
MIN_COMPLIANCE = 0.01
# The same of what a node carries, which also moves sideways by the rotation of the
# node.
MIN_LOAD_COMPLIANCE = 0.1
# Inertia about a line beside m L^2, of which it is rounding.
LINE_ROUNDING = 1e-12
# Static shapes beside modes, relative to the largest, below which they depend on them.
RANK_TOLERANCE = 1e-6


def linear_body(body: Body, nodes: NDArray[np.intp]) -> LinearBody:
    """Return the small motions of a body in its modes, and those of some nodes."""
    n, held = body.n_modes, body.attachment_node
    M = modal_mass(body, np.zeros(n))
    at = nodes if held is None else np.append(nodes, held)
    turn, where = body.node_rotation[at], body.node_position[at]
    moved = body.node_translation[at] + np.cross(where[:, :, None], turn, axis=1)
    motion = np.concatenate([turn, moved], axis=1)
    G, L = M[:n, :n], M[n:, :n]
    if held is not None:  # its joint holds that node, not the frame
        back, motion = motion[-1], motion[:-1] - motion[-1]
        carried = back.T @ L
        G = G - carried - carried.T + back.T @ M[n:, n:] @ back
        L = L - M[n:, n:] @ back
    return LinearBody(body.stiffness, G, L, motion)


class NodeErrors(NamedTuple):
    """Parts of the static compliance of a node that the modes lack, the worst ones."""

    deflection: float  # under a force at the node
    rotation: float  # under a moment
    twist: float  # about the line, under a moment about it
    sag: float  # of what the node carries, under its weight


def _lacking(reduced: Array, exact: Array, stiff: float = MIN_COMPLIANCE) -> float:
    """Largest part of the compliance that is missing, of its principal directions."""
    if not (np.isfinite(exact).all() and np.isfinite(reduced).all()):
        return float("nan")
    values, vectors = np.linalg.eigh(exact)
    if not values[-1] > 0.0:
        return 0.0
    some = values > stiff * values[-1]
    found = np.einsum("ir,ij,jr->r", vectors, reduced, vectors)
    return float((1.0 - found[some] / values[some]).max())


def node_errors(
    reduced: Array, exact: Array, place: Array, load: Array | None, along: Array | None
) -> NodeErrors:
    """Errors of compliances (6, 6) about the origin of a node.

    Parameters
    ----------
    reduced, exact : (6, 6) ndarray
        Twist per wrench, with the modes and of the unreduced link.
    place : (3,) ndarray
        Position of the node.
    load : (3,) ndarray or None
        Mass centre of what the node carries; None for nothing.
    along : (3,) ndarray or None
        Unit vector along the line at the node; None if nothing twists it there.
    """

    def at(x: Array) -> Array:  # wrench about the origin per force at x
        return np.vstack([np.cross(x, np.eye(3)).T, np.eye(3)])

    force = at(place)
    deflection = _lacking(force.T @ reduced @ force, force.T @ exact @ force)
    turns = reduced[:3, :3], exact[:3, :3]
    rotation = _lacking(*turns)
    twist = 0.0
    if along is not None and np.isfinite(rotation):
        by_moment, largest = along @ turns[1] @ along, np.linalg.norm(turns[1], 2)
        if by_moment > MIN_COMPLIANCE * largest:
            twist = float(1.0 - along @ turns[0] @ along / by_moment)
    sag = deflection
    if load is not None:
        weight = at(load)
        both = weight.T @ reduced @ weight, weight.T @ exact @ weight
        sag = _lacking(*both, MIN_LOAD_COMPLIANCE)
    return NodeErrors(deflection, rotation, twist, sag)


def is_twisted(load: Array, place: Array, along: Array) -> bool:
    """Whether what hangs on a node has inertia about the line, or nothing hangs there.

    Parameters
    ----------
    load : (6, 6) ndarray
        Its inertia about the origin.
    place, along : (3,) ndarray
        Position of the node, unit vector along the line there.
    """
    spin = np.concatenate([along, np.cross(place, along)])
    rounding = LINE_ROUNDING * load[5, 5] * (place @ place)
    return not load.any() or bool(spin @ load @ spin > rounding)


def modal_compliance_of(body: LinearBody) -> Array:
    """Twists of nodes per wrench on each of them, about the origin, (k, 6, 6)."""
    B, n = body.motion, body.motion.shape[2]
    try:
        moved = np.linalg.solve(body.stiffness, B.reshape(-1, n).T)
    except np.linalg.LinAlgError:  # of a size that underflows
        return np.full((len(B), 6, 6), np.nan)
    return np.asarray(B @ np.moveaxis(moved.reshape(n, len(B), 6), 1, 0))


def loaded_mass(body: LinearBody, loads: Array) -> Array:
    """Modal mass with spatial inertias (k, 6, 6) on the nodes, (n, n)."""
    B = body.motion
    n = B.shape[2]
    M = body.mass + B.reshape(-1, n).T @ (loads @ B).reshape(-1, n)
    return np.asarray((M + M.T) / 2.0)


def lowest_frequencies(mass: Array, stiffness: Array, count: int) -> Array:
    """Lowest frequencies in Hz, ascending; NaN without stiffness in some direction."""
    from scipy.linalg import eigh

    n = len(mass)
    count = min(count, n)
    found = np.full(count, np.nan)
    if count and np.isfinite(mass).all() and np.isfinite(stiffness).all():
        top = [n - count, n - 1]
        with contextlib.suppress(np.linalg.LinAlgError), np.errstate(all="ignore"):
            values = eigh(mass, stiffness, eigvals_only=True, subset_by_index=top)
            found = 1.0 / np.sqrt(values[::-1]) / (2.0 * np.pi)
    return np.asarray(found)


def lowest_and_static(link: LinearBody, loads: Array, count: int) -> Array:
    """Lowest modes of a loaded link of unit stiffness, and its static shapes, (n, m).

    Columns are orthonormal; m is less where the shapes depend on each other.
    """
    from scipy.linalg import eigh

    n = len(link.mass)
    lowest = [max(n - count, 0), n - 1]
    _, modes = eigh(loaded_mass(link, loads), subset_by_index=lowest)
    static = link.motion.reshape(-1, n).T
    size = np.linalg.norm(static, axis=0)
    static = static[:, size > 0.0] / size[size > 0.0]
    U, s, _ = np.linalg.svd(np.hstack([modes, static]), full_matrices=False)
    return np.asarray(U[:, s > RANK_TOLERANCE * s[0]])


def is_whole(body: Body) -> bool:
    """Whether a straight link has all coordinates of its elements already."""
    link, profile = body.unreduced, body.beam
    if link is None or profile is None or len(profile.at) == body.n_nodes:
        return False
    # one of stretch and of twist, two of bending in each plane
    moves = np.dot([1, 1, 2, 2], link.flexibility[..., :4].any(axis=(0, 1)))
    return body.n_modes >= len(link.axes) * int(moves)


def remedy(body: Body, node: str) -> str:
    """Option of a link that corrects the deflection of a node."""
    if is_whole(body):
        return "raise n_elements"
    if any(name.startswith(f"{node} ") for name in body.mode_names):
        return "raise n_modes to 2 or more in bending and 1 in torsion"
    last = body.node_names[-1]
    if body.beam is None or len(body.beam.at) < body.n_nodes:  # of elements
        keep = repr(node) if node == last else f"({node!r}, {last!r})"
        return f"give it static shapes, modes='craig-bampton', keep={keep}"
    if node == last:
        return "give it static shapes, modes='craig-bampton' of flexible_link"
    return "make it by finite_element_link with that place in nodes= and keep="
