"""Fewer coordinates for a beam of elements: natural modes, condensation, both.

Stiffness is given by rows B of strains with K = B' B, which keeps twice the digits:
energies of soft modes are sums of squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.checks import as_array, as_numbers, in_range, short_text, whole_number
from .._support.doubtful import warn_of_percent
from ..errors import ModelError
from ..finite_elements.eigenproblems import modal_compliance
from ._coordinates import MOTIONS, OF_AXIS, columns_of_nodes

Array = NDArray[np.float64]

COUPLED = 1e-10  # relative to the geometric mean of the diagonal, above rounding

REDUCTIONS = ("none", "modes", "static", "craig-bampton")


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
        linked = np.abs(matrix) > COUPLED * np.outer(size, size)
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


def modal(
    name: str,
    rows: Array,
    mass: Array,
    momentum: Array,
    labels: Sequence[str],
    n_modes: Any,
    max_frequency: float | None,
) -> tuple[Array, tuple[str, ...]]:
    """Natural modes of the body, as columns, and their names."""
    parts = groups(rows, mass, labels)
    columns, names, omegas = [], [], []
    for label, own in parts.items():
        omega2, vectors = natural_modes(rows[:, own], mass[np.ix_(own, own)])
        wide = np.zeros((len(labels), len(own)))
        wide[own] = vectors * _signs(vectors, momentum[:, own])
        columns.append(wide)
        head = "mode" if len(parts) == 1 and " and " in label else label
        names += [f"{head} {j + 1}" for j in range(len(own))]
        omegas.append(np.sqrt(omega2))
    omega = np.concatenate(omegas)
    chosen = _choose(name, parts, omega, n_modes, max_frequency)
    return np.hstack(columns)[:, chosen], tuple(names[j] for j in chosen)


def _choose(
    name: str,
    parts: Mapping[str, list[int]],
    omega: Array,
    n_modes: Any,
    max_frequency: float | None,
) -> list[int]:
    """Numbers of the chosen modes, in the order of the body."""
    who = f"link {name!r}"
    # numbers of modes by motion, or of all
    if isinstance(n_modes, Mapping):
        unknown = [key for key in n_modes if key not in parts]
        if unknown:
            raise ModelError(
                f"n_modes of {who} has {short_text(unknown[0])}, expected motions that "
                f"are not coupled to others: {', '.join(map(repr, parts))}"
            )
        chosen, first = [], 0
        for label, own in parts.items():
            wanted = n_modes.get(label, 0)
            count = whole_number(f"n_modes of {who} for {label!r}", wanted, 0)
            _check_count(f"n_modes of {who} for {label!r}", count, len(own))
            chosen += list(range(first, first + count))
            first += len(own)
    else:
        order = [int(j) for j in np.argsort(omega, kind="stable")]
        count = len(order)
        if n_modes is not None:
            count = whole_number(f"n_modes of {who}", n_modes, 1)
            _check_count(f"n_modes of {who}", count, len(order))
        chosen = order[:count]
    if max_frequency is not None:
        limit = float(as_array(f"max_frequency of {who}", max_frequency, ()))
        slow = [j for j in chosen if omega[j] <= 2.0 * np.pi * limit]
        if not slow:
            raise ModelError(
                f"max_frequency of {who} is {limit:g} Hz, below its lowest frequency "
                f"of {omega.min() / (2.0 * np.pi):.4g} Hz; a link that does not deform "
                "is a RigidBody"
            )
        chosen = slow
    if not chosen:
        raise ModelError(
            f"n_modes of {who} keeps no mode, expected one or more; a link that does "
            "not deform is a RigidBody"
        )
    return chosen


def _check_count(what: str, wanted: int, there: int) -> None:
    if wanted > there:
        raise ModelError(
            f"{what} is {short_text(wanted)}, its elements have {there}, expected at "
            "most as many; use more elements"
        )


def condensed(
    name: str, rows: Array, mass: Array, labels: Sequence[str], keep: Any, n_fixed: int
) -> tuple[Array, tuple[str, ...]]:
    """Static shapes of some nodes, and modes with these nodes held, as columns."""
    held = columns_of_nodes(name, labels, keep)
    inner = [j for j in range(len(labels)) if j not in held]
    _check_count(f"n_modes of link {name!r}", n_fixed, len(inner))
    W = np.zeros((len(labels), len(held) + n_fixed))
    W[held, np.arange(len(held))] = 1.0
    if inner:
        # least squares of strains: the same as - K_ii^-1 K_ih, with twice the digits
        W[inner, : len(held)] = -np.linalg.lstsq(rows[:, inner], rows[:, held], None)[0]
    if n_fixed:
        _, vectors = natural_modes(rows[:, inner], mass[np.ix_(inner, inner)])
        size = np.abs(vectors)
        first = np.argmax(size > (1.0 - 1e-6) * size.max(axis=0), axis=0)
        vectors = vectors * np.sign(vectors[first, np.arange(len(inner))])
        W[inner, len(held) :] = vectors[:, :n_fixed]
    fixed = [f"fixed {j + 1}" for j in range(n_fixed)]
    return W, (*(labels[j] for j in held), *fixed)


def damping_matrix(name: str, rows: Array, mass: Array, ratio: ArrayLike) -> Array:
    """Damping matrix from damping ratios of the natural modes."""
    n, what = rows.shape[1], f"damping_ratio of link {name!r}"
    given = as_numbers(what, ratio)
    zeta = as_array(what, np.full(n, given) if given.ndim == 0 else given, (n,))
    if zeta.min() < 0.0:
        raise ModelError(f"{what} is {zeta.min():g}, expected zero or more")
    in_range(what, zeta, "of critical")
    warn_of_percent(what, zeta)
    if not zeta.any():
        return np.zeros((n, n))
    omega2, vectors = natural_modes(rows, mass)
    dual = mass @ vectors
    result = (dual * (2.0 * zeta * np.sqrt(omega2))) @ dual.T
    return np.asarray((result + result.T) / 2.0)
