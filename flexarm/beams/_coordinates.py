r"""Elastic coordinates of a beam cut into elements: supports, nodes, condensation.

A coordinate is a displacement of one node in the axes of the element before it.
Without stretch, the pieces of a bent link keep their lengths: a node moves along its
element as much as the previous node.  So there is no stiff axial motion, which could
lock or limit the time step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .._support.checks import listed, short_text
from ..errors import ModelError
from ._line import Line

Array = NDArray[np.float64]

# displacements of a node by each motion: (axis, is it a rotation, name)
MOTIONS: dict[str, list[tuple[int, bool, str]]] = {
    "bending y": [(1, False, "y"), (2, True, "rz")],
    "bending z": [(2, False, "z"), (1, True, "ry")],
    "torsion": [(0, True, "rx")],
    "stretch": [(0, False, "x")],
}
OF_AXIS = {name: motion for motion, rows in MOTIONS.items() for _, _, name in rows}


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
