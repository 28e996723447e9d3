r"""Elastic coordinates of a beam cut into elements, condensed and reduced.

A coordinate is a displacement of one node in the axes of the element before it.
Without stretch, the pieces of a bent link keep their lengths: a node moves along its
element as much as the previous node.  So there is no stiff axial motion, which could
lock or limit the time step.

A reduced link has all coordinates, natural modes or Craig-Bampton shapes.  Stiffness is
given by rows B of strains with K = B' B, which keeps twice the digits: energies of soft
modes are sums of squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import Array, Mask
from .._support.checks import as_array, as_numbers, in_range, listed, short_text
from .._support.warn import warn_of_percent
from ..errors import ModelError
from ..finite_elements.eigenproblems import modal_compliance
from ._line import Line
from .limits import N_STATIC, check_count

# displacements of a node by each motion: (axis, is it a rotation, name)
MOTIONS: dict[str, list[tuple[int, bool, str]]] = {
    "bending y": [(1, False, "y"), (2, True, "rz")],
    "bending z": [(2, False, "z"), (1, True, "ry")],
    "torsion": [(0, True, "rx")],
    "stretch": [(0, False, "x")],
}
OF_AXIS = {name: motion for motion, rows in MOTIONS.items() for _, _, name in rows}
# Entry relative to the geometric mean of the diagonal, above which two coordinates are
# coupled: rounding is below.
COUPLING_TOLERANCE = 1e-10
SLOPES = ("rz", "ry")  # coordinates beside the displacement of the same bending


def names_of(what: str, value: object) -> tuple[str, ...]:
    """Return one name, or a sequence of names, as a tuple."""
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not all(isinstance(x, str) for x in names):
        raise ModelError(
            f"{what} is {short_text(value)}, expected a name or a list of names"
        )
    return tuple(names)


def known_motions(name: str, motions: object, line: Line) -> tuple[str, ...]:
    """Return the motions of a link in order, or raise if they do not fit."""
    who = f"motions of link {name!r}"
    # known names, each once
    given = names_of(who, motions)
    unknown = [motion for motion in given if motion not in MOTIONS]
    if unknown or not given or len(set(given)) != len(given):
        raise ModelError(
            f"{who} are {short_text(given)}, expected some of "
            f"{', '.join(map(repr, MOTIONS))}, each once"
        )
    result = tuple(motion for motion in MOTIONS if motion in given)
    # combinations that corners allow
    if not line.has_corners or set(result) == set(MOTIONS):
        return result
    flat = np.ptp(line.axes[:, :, 2], axis=0).max() < 1e-9
    in_plane = "bending y" in result
    out_of_plane = {"bending z", "torsion"} & set(result)
    if len(out_of_plane) == 1 or (not flat and not (in_plane and out_of_plane)):
        raise ModelError(
            f"{who} are {', '.join(map(repr, result))}, but corners turn one motion "
            "into another, expected 'bending y' with all elements in the x-y plane, "
            "'bending z' and 'torsion' together, or all of them"
        )
    if "stretch" in result and not in_plane:
        raise ModelError(
            f"{who} have 'stretch' without 'bending y', which a corner turns into it, "
            "expected both"
        )
    return result


def coordinates(
    name: str, line: Line, motions: Sequence[str], frame: str
) -> tuple[Array, tuple[str, ...]]:
    """Displacements of all nodes per elastic coordinate, and names of coordinates.

    Parameters
    ----------
    name : str
        Name of the link.
    line : Line
        N elements.
    motions : sequence of str
        Motions that it has.
    frame : {"tangent", "chord"}
        Reference condition: clamped at the base, or base and tip on the chord.

    Returns
    -------
    T : (6 (N + 1), n) ndarray
        Three translations and three rotations of each node in the axes of the link.
    names : tuple of str
        Node and axis, such as ``"n1 y"`` or ``"tip rz"``.
    """
    if not isinstance(frame, str) or frame not in ("tangent", "chord"):
        raise ModelError(
            f"frame of link {name!r} is {short_text(frame)}, expected 'tangent' "
            "(clamped at its base) or 'chord' (base and tip on one line)"
        )
    rows = [row for motion in motions for row in MOTIONS[motion]]
    count = len(rows) * line.n_elements
    T = np.zeros((line.n_elements + 1, 2, 3, count))
    names: list[str] = []
    for j in range(1, line.n_elements + 1):
        R = line.axes[j - 1]
        if "stretch" not in motions:
            T[j, 0] = np.outer(R[:, 0], R[:, 0] @ T[j - 1, 0])
        for axis, turns, label in rows:
            T[j, 1 if turns else 0, :, len(names)] += R[:, axis]
            names.append(f"{line.names[j]} {label}")
    if frame == "chord" and line.straight:
        T, names = _straight_chord(line, T, names, motions)
    elif frame == "chord":
        T = _bent_chord(name, line, T)
    return T.reshape(6 * (line.n_elements + 1), -1), tuple(names)


def _straight_chord(
    line: Line, T: Array, names: list[str], motions: Sequence[str]
) -> tuple[Array, list[str]]:
    """Deflections from the chord: the base turns, the tip does not leave the axis."""
    tip = line.names[-1]
    kept = [j for j, label in enumerate(names) if label not in (f"{tip} y", f"{tip} z")]
    turns = [("bending y", 2, "rz"), ("bending z", 1, "ry")]
    slopes = [(axis, label) for motion, axis, label in turns if motion in motions]
    base = np.zeros((*T.shape[:-1], len(slopes)))
    for column, (axis, _) in enumerate(slopes):
        base[0, 1, :, column] = line.axes[0][:, axis]
    first = [f"{line.names[0]} {label}" for _, label in slopes]
    return (
        np.concatenate([base, T[..., kept]], axis=-1),
        [*first, *(names[j] for j in kept)],
    )


def _bent_chord(name: str, line: Line, T: Array) -> Array:
    """Motions seen from the tangent, less the rotation of the chord about the base."""
    chord = line.nodes[-1]
    square = float(chord @ chord)
    if not square > 1e-12 * float(line.at[-1]) ** 2:
        raise ModelError(
            f"base and tip of link {name!r} are at one place, so there is no chord, "
            "expected frame='tangent'"
        )
    psi = np.cross(chord[:, np.newaxis], T[-1, 0], axis=0) / square
    result = np.array(T)
    result[:, 0] -= np.cross(psi[np.newaxis], line.nodes[:, :, np.newaxis], axis=1)
    result[:, 1] -= psi
    return result


def columns_of_nodes(name: str, labels: Sequence[str], keep: object) -> list[int]:
    """Coordinates of the nodes that a condensation keeps."""
    wanted = names_of(f"keep of link {name!r}", keep)
    own = [label.rsplit(" ", 1)[0] for label in labels]
    unknown = [node for node in wanted if node not in own]
    if unknown or not wanted:
        raise ModelError(
            f"keep of link {name!r} is {short_text(wanted)}, expected nodes with "
            f"coordinates, some of {listed(tuple(dict.fromkeys(own)))}"
        )
    return [j for j, node in enumerate(own) if node in wanted]


def natural_modes(rows: Array, mass: Array) -> tuple[Array, Array]:
    """All squared frequencies, ascending, and modes of unit mass."""
    _, vectors = modal_compliance(mass, rows.T @ rows)
    vectors = vectors / np.sqrt(np.einsum("ij,ij->j", vectors, mass @ vectors))
    omega2 = np.square(rows @ vectors).sum(axis=0)
    order = np.argsort(omega2, kind="stable")
    return omega2[order], vectors[:, order]


def groups(rows: Array, mass: Array, labels: Sequence[str]) -> dict[str, list[int]]:
    """Coordinates by motions that neither mass nor stiffness couples."""
    motion = np.array([OF_AXIS[label.rsplit(" ", 1)[1]] for label in labels])
    present = [kind for kind in MOTIONS if kind in motion]
    sets = [{kind} for kind in present]
    stiffness = rows.T @ rows
    for matrix in (mass, stiffness):
        size = np.sqrt(np.maximum(np.diag(matrix), np.finfo(np.float64).tiny))
        linked = np.abs(matrix) > COUPLING_TOLERANCE * np.outer(size, size)
        for i, a in enumerate(present):
            for b in present[i + 1 :]:
                if linked[np.ix_(motion == a, motion == b)].any():
                    one = next(s for s in sets if a in s)
                    other = next(s for s in sets if b in s)
                    if one is not other:
                        one |= other
                        sets.remove(other)
    result = {}
    for kinds in sets:
        label = " and ".join(kind for kind in present if kind in kinds)
        own = np.isin(motion, list(kinds))
        result[label] = [int(j) for j in np.flatnonzero(own)]
    return result


def _signs(vectors: Array, momentum: Array) -> Array:
    """Signs that make the largest momentum positive, else the first large coordinate.

    Parameters
    ----------
    vectors : (n, m) ndarray
        Modes of unit mass.
    momentum : (4, n) ndarray
        Momentum along x, y and z and about x of a unit of each coordinate, over the
        root of mass and inertia.
    """
    carried = momentum @ vectors
    first = np.argmax(np.abs(carried), axis=0)
    largest = carried[first, np.arange(vectors.shape[1])]
    size = np.abs(vectors)
    large = np.argmax(size > (1.0 - 1e-6) * size.max(axis=0), axis=0)
    fallback = vectors[large, np.arange(vectors.shape[1])]
    return np.asarray(np.sign(np.where(np.abs(largest) > 1e-6, largest, fallback)))


@dataclass(frozen=True)
class Basis:
    """Coordinates of a link by those of its elements.

    Attributes
    ----------
    W : (n, m) ndarray
        Displacements of the elements per coordinate.
    names : tuple of str
        Names of the coordinates.
    linked : (m, m) ndarray of bool
        Pairs that the stiffness couples; the rest of it is rounding.
    """

    W: Array
    names: tuple[str, ...]
    linked: Mask


def unreduced(labels: Sequence[str]) -> Basis:
    """Displacements of all nodes."""
    n = len(labels)
    return Basis(np.eye(n), tuple(labels), np.ones((n, n), dtype=bool))


def own_shapes(name: str, modes: object, labels: Sequence[str]) -> Basis:
    """Shapes that the user gives as columns."""
    n = len(labels)
    W = as_array(f"modes of link {name!r}", modes, (n, None))
    m = W.shape[1]
    if not 0 < m <= n or np.linalg.matrix_rank(W) < m:
        raise ModelError(
            f"modes of link {name!r} are {m} columns of rank "
            f"{np.linalg.matrix_rank(W) if W.size else 0}, expected independent shapes "
            f"of its {n} coordinates, one column each"
        )
    names = tuple(f"mode {j + 1}" for j in range(m))
    return Basis(W, names, np.ones((m, m), dtype=bool))


def _heads(parts: Mapping[str, list[int]]) -> dict[str, str]:
    """Words before the numbers of modes, by group of motions."""
    alone = len(parts) == 1
    return {key: "mode" if alone and " and " in key else key for key in parts}


def _wanted(name: str, label: str, counts: Mapping[str, int], there: int) -> int:
    """Number of coordinates of coupled motions: the sum over them."""
    wanted = sum(counts[kind] for kind in label.split(" and "))
    check_count(f"n_modes of link {name!r} for {label!r}", wanted, there)
    return wanted


def modal(
    name: str,
    rows: Array,
    mass: Array,
    momentum: Array,
    labels: Sequence[str],
    counts: Mapping[str, int] | None,
    limit: float | None,
    few: bool,
) -> Basis:
    """Lowest natural modes of the link by motion, up to a limit in Hz.

    Without numbers of them all, or the `few` of a link by default.
    """
    parts = groups(rows, mass, labels)
    columns, names, lowest = [], [], []
    for label, own in parts.items():
        wanted = len(own)
        if counts is not None:
            wanted = _wanted(name, label, counts, len(own))
        elif few:
            kinds = label.split(" and ")
            wanted = min(wanted, sum(N_STATIC[kind] + 1 for kind in kinds))
        omega2, vectors = natural_modes(rows[:, own], mass[np.ix_(own, own)])
        hertz = np.sqrt(omega2) / (2.0 * np.pi)
        lowest.append(float(hertz[0]))
        if limit is not None:
            wanted = min(wanted, int((hertz <= limit).sum()))
        wide = np.zeros((len(labels), wanted))
        wide[own] = (vectors * _signs(vectors, momentum[:, own]))[:, :wanted]
        columns.append(wide)
        names += [f"{_heads(parts)[label]} {j + 1}" for j in range(wanted)]
    if not names:
        raise ModelError(
            f"max_frequency of link {name!r} is {limit:g} Hz, below its lowest "
            f"frequency of {min(lowest):.4g} Hz; a link that does not deform is a "
            "RigidBody"
        )
    return Basis(np.hstack(columns), tuple(names), np.eye(len(names), dtype=bool))


def craig_bampton(
    name: str,
    rows: Array,
    mass: Array,
    labels: Sequence[str],
    held: Sequence[int],
    along: Mapping[str, Array],
    counts: Mapping[str, int] | None,
    limit: float | None,
    n_more: int = 0,
) -> Basis:
    """Static shapes of held coordinates, then modes with these at rest, by motion.

    The displacements `along` the line are held too: rows in the coordinates, by name.

    Without numbers of coordinates there are static shapes and `n_more` modes of each
    motion, or with a limit in Hz all modes up to it.
    """
    n, parts = len(labels), groups(rows, mass, labels)
    blocks, names = [], []
    for label, own in parts.items():
        kept = [j for j in own if j in held]
        more = {key: row[own] for key, row in along.items() if row[own].any()}
        wanted = len(own)
        if counts is not None:
            wanted = _wanted(name, label, counts, len(own))
            if wanted == 0:
                continue
            kept = _first_kept(name, label, labels, kept, wanted - len(more))
        elif limit is None:
            n_own = len(kept) + len(more) + n_more * len(label.split(" and "))
            wanted = min(wanted, n_own)
        static = [*(labels[j] for j in kept), *more]
        E = np.array(list(more.values())).reshape(len(more), len(own))
        block = _static_and_held(rows, mass, own, kept, E, wanted - len(static), limit)
        head, m = _heads(parts)[label], block[0].shape[1]
        names += [*static, *(f"{head} {j}" for j in range(len(static) + 1, m + 1))]
        blocks.append((own, *block))
    # all motions together
    W, linked = np.zeros((n, len(names))), np.zeros((len(names),) * 2, dtype=bool)
    first = 0
    for own, columns, coupled in blocks:
        last = first + columns.shape[1]
        W[own, first:last], linked[first:last, first:last] = columns, coupled
        first = last
    return Basis(W, tuple(names), linked)


def _first_kept(
    name: str, label: str, labels: Sequence[str], kept: list[int], wanted: int
) -> list[int]:
    """Held coordinates of a group: without slopes if there are too many of them."""
    if wanted >= len(kept):
        return kept
    first = [j for j in kept if labels[j].rsplit(" ", 1)[1] not in SLOPES]
    if wanted < len(first):
        raise ModelError(
            f"n_modes of link {name!r} is too small for the static shapes of its kept "
            f"nodes in {label!r}, expected a larger number, or fewer nodes in keep"
        )
    return first


def _static_and_held(
    rows: Array,
    mass: Array,
    own: list[int],
    kept: list[int],
    along: Array,
    n_held: int,
    limit: float | None,
) -> tuple[Array, Mask]:
    """Columns of one group in its own coordinates, and pairs coupled by stiffness."""
    at = [own.index(j) for j in kept]
    rest = [i for i in range(len(own)) if i not in at]
    k, m = len(kept), len(kept) + len(along)
    # motions that hold all of these displacements, and one for a unit of each of them
    free = np.zeros((len(own), len(own) - m))
    static = np.zeros((len(own), m))
    static[at, np.arange(k)] = 1.0
    if m == k:
        free[rest] = np.eye(len(rest))
    else:
        from scipy.linalg import null_space

        free[rest] = null_space(along[:, rest])
        inverse = np.linalg.pinv(along[:, rest])
        static[rest] = np.hstack([-inverse @ along[:, at], inverse])
    rows, mass = rows[:, own], mass[np.ix_(own, own)]
    if free.size and m:
        # least squares of strains: the same as - K_ii^-1 K_ih, with twice the digits
        static -= free @ np.linalg.lstsq(rows @ free, rows @ static, None)[0]
    modes = np.zeros((len(own), 0))
    if n_held:
        omega2, vectors = natural_modes(rows @ free, free.T @ mass @ free)
        if limit is not None:
            n_held = min(n_held, int((omega2 <= (2.0 * np.pi * limit) ** 2).sum()))
        modes = free @ vectors[:, :n_held]
        # the first coordinate that moves is positive
        first = np.argmax(np.abs(modes) > 1e-6 * np.abs(modes).max(axis=0), axis=0)
        modes = modes * np.sign(modes[first, np.arange(n_held)])
    linked = np.eye(m + n_held, dtype=bool)
    linked[:m, :m] = True
    return np.hstack([static, modes]), linked


def spread_over(what: str, value: ArrayLike, n: int) -> Array:
    """Return a number for each of n modes, zero or more; one number for all."""
    given = as_numbers(what, value)
    result = as_array(what, np.full(n, given) if given.ndim == 0 else given, (n,))
    in_range(what, result, "in SI units")
    if result.min() < 0.0:
        raise ModelError(
            f"{what} is {result.min():g} for mode {int(result.argmin()) + 1}, expected "
            "zero or more"
        )
    return result


def damping_ratios(name: str, value: ArrayLike, n: int) -> Array:
    """Return damping ratios of n modes; those above one look like percents."""
    what = f"damping_ratio of link {name!r}"
    ratio = spread_over(what, value, n)
    warn_of_percent(what, ratio)
    return ratio


def damping_matrix(rows: Array, mass: Array, ratio: Array) -> Array:
    """Damping matrix from damping ratios of the natural modes, by frequency."""
    if not ratio.any():
        return np.zeros(mass.shape)
    omega2, vectors = natural_modes(rows, mass)
    dual = mass @ vectors
    result = (dual * (2.0 * ratio * np.sqrt(omega2))) @ dual.T
    return np.asarray((result + result.T) / 2.0)
