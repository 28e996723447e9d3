"""Coordinates of a link of beam elements: all, natural modes, Craig-Bampton.

Stiffness is given by rows B of strains with K = B' B, which keeps twice the digits:
energies of soft modes are sums of squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.checks import as_array, as_numbers, in_range
from .._support.warn import warn_of_percent
from ..errors import ModelError
from ..finite_elements.eigenproblems import modal_compliance
from ._choice import N_STATIC, check_count
from ._coordinates import MOTIONS, OF_AXIS

Array = NDArray[np.float64]

# Entry relative to the geometric mean of the diagonal, above which two coordinates are
# coupled: rounding is below.
COUPLING_TOLERANCE = 1e-10

SLOPES = ("rz", "ry")  # coordinates beside the displacement of the same bending


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
    linked: NDArray[np.bool_]


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
) -> tuple[Array, NDArray[np.bool_]]:
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
