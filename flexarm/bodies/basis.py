"""Modes of a link: their table, and errors against the link before reduction.

Modes restrict the motion of a link, so that its static compliance is too small and its
frequencies are too high (J. S. Przemieniecki, *Theory of Matrix Structural Analysis*,
1968, chapter 9; R. R. Craig, A. J. Kurdila, *Fundamentals of Structural Dynamics*,
2006, chapter 17).
"""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import numpy as np

from .._support.arrays import Array, Index
from .._support.printing import Sheet, Table, percent
from .body import Body, modal_integrals
from .maps import modal_mass
from .unreduced import LinearBody

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
# Entries off the diagonal, relative to those on it, above which modes are coupled.
COUPLING_TOLERANCE = 1e-6
# Direction that is shown, as part of the largest.
MIN_DIRECTION = 0.1
# Motion in m per rad, or rad per m, that counts as none.
MOTION_TOLERANCE = 1e-9
# Frequencies whose errors are shown.
FREQUENCIES = 4


def linear_body(body: Body, nodes: Index) -> LinearBody:
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


def effective_masses(body: Body) -> Array:
    """Return E_r^2 / G_rr of each mode along x, y and z, (n, 3), in kg."""
    c = modal_integrals(body)
    return np.asarray((c.E**2 / np.diag(c.G)).T)


def total_effective_mass(body: Body) -> Array:
    """Return the diagonal of E G^-1 E', effective mass of all modes, (3,), in kg."""
    c = modal_integrals(body)
    if not c.n_modes:
        return np.zeros(3)
    return np.asarray(np.einsum("ir,ri->i", c.E, np.linalg.solve(c.G, c.E.T)))


def _is_coupled(matrix: Array) -> bool:
    size = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    off = np.abs(matrix - np.diag(np.diag(matrix)))
    return bool((off > COUPLING_TOLERANCE * size).any())


def _moved(body: Body, mode: int) -> str:
    """Text of the motion of the node that a unit of a mode moves most."""
    gamma, lam = body.node_translation[..., mode], body.node_rotation[..., mode]
    size, turn = np.linalg.norm(gamma, axis=1), np.linalg.norm(lam, axis=1)
    if size.max() <= MOTION_TOLERANCE * turn.max():
        gamma, size = np.zeros_like(gamma), turn
    elif turn.max() <= MOTION_TOLERANCE * size.max():
        lam = np.zeros_like(lam)
    if not size.any():
        return "none of its nodes"
    # the last one of equals: the tip rather than the base
    node = len(size) - 1 - int(np.argmax(size[::-1] > (1.0 - 1e-9) * size.max()))
    parts = []
    for prefix, vector in (("", gamma[node]), ("r", lam[node])):
        largest = float(np.abs(vector).max())
        parts += [
            f"{prefix}{axis} {value:.3g}"
            for axis, value in zip("xyz", vector, strict=True)
            if largest > 0.0 and abs(value) >= MIN_DIRECTION * largest
        ]
    return f"{body.node_names[node]}: {', '.join(parts)}"


def mode_table(body: Body) -> Sheet:
    """Table of `FlexibleBody.summary`."""
    G, K, mass = body.modal_mass(), body.stiffness, body.mass
    sizes = [
        f"{n} {what}{'' if n == 1 else 's'}"
        for n, what in ((body.n_modes, "mode"), (body.n_nodes, "node"))
    ]
    title = f"flexible body {body.name!r}: {', '.join(sizes)}, {mass:.4g} kg"
    if not body.n_modes:
        return Sheet((title,))

    def percent(row: Array) -> list[str]:
        share = 100.0 * row / mass if mass > 0.0 else np.zeros(3)
        return [f"{x + 0.0:.1f}" for x in share.round(1)]

    own = np.sqrt(np.diag(K) / np.diag(G)) / (2.0 * np.pi)
    rows = [["mode", "Hz", "modal mass", "x %", "y %", "z %", "a unit moves"]]
    for r, row in enumerate(effective_masses(body)):
        numbers = [f"{own[r]:.4g}", f"{G[r, r]:.4g}", *percent(row)]
        rows.append([body.mode_names[r], *numbers, _moved(body, r)])
    rows.append(["together", "", "", *percent(total_effective_mass(body)), ""])
    coupled = []
    if _is_coupled(G) or _is_coupled(K):
        f = ", ".join(f"{x:.4g}" for x in body.frequencies())
        coupled = [f"coupled coordinates, natural frequencies {f} Hz"]
    return Sheet((title, Table(rows, right=True), *coupled, _errors(body)))


def _errors(body: Body) -> str:
    """Line with the errors of the modes at the tip, the base held."""
    link, tip = body.unreduced, np.array([body.n_nodes - 1])
    if link is None:
        return "error of the modes unknown, without an unreduced link"
    reduced, exact = linear_body(body, tip), link.linear(tip)
    compliance = modal_compliance_of(reduced)[0], link.compliance(tip)[0]
    static = node_errors(*compliance, body.node_position[-1], None, link.along(tip)[0])
    f, true = (
        lowest_frequencies(x.mass, x.stiffness, min(FREQUENCIES, body.n_modes))
        for x in (reduced, exact)
    )
    return (
        f"against the unreduced link: node {body.node_names[-1]!r} "
        f"{percent(static.deflection)} % too stiff in deflection and "
        f"{percent(static.rotation)} % in rotation, frequencies "
        f"{', '.join(map(percent, f / true - 1.0))} % too high"
    )
