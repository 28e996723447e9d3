"""Bases by name, and numbers of modes, elements and points, checked before the work."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from .._support.arrays import Array
from .._support.checks import as_array, listed, positive, short_text, whole_number
from .._support.options import check_choice, did_you_mean
from ..errors import ModelError

# Modes of a uniform beam at most.
MAX_BEAM_MODES = 20
# Elements of a link at most, whose matrices are dense before they are reduced.
MAX_ELEMENTS = 256
# Pieces of a link at most, each at least one element.
MAX_SEGMENTS = 256
# Gauss points at most of an element, or of a uniform link.
MAX_POINTS = 64
# Nodes of a link at most.
MAX_NODES = 4096
# Payloads of a link at most.
MAX_PAYLOADS = 1000
# bases of all links, and those of the natural modes of a link, clamped at its base
# ("tip-loaded": with what hangs on it), with both ends on the chord or free
HELD = ("craig-bampton", "static")
NATURAL = ("clamped-free", "tip-loaded", "pinned")
FREE = "free"
# static shapes of each motion of a straight link; by default it has one mode more
N_STATIC = {"bending y": 2, "bending z": 2, "torsion": 1, "stretch": 1}


def mode_count(n_modes: object, rigid: bool = False) -> int:
    """Return a number of modes from 1 to 20, from 0 if the link may be rigid."""
    count = whole_number("n_modes", n_modes, 0 if rigid else None)
    if count < 1 and not rigid:
        raise ModelError(
            f"n_modes is {short_text(count)}, expected at least 1; a link without "
            "modes is a RigidBody"
        )
    if count > MAX_BEAM_MODES:
        raise ModelError(
            f"n_modes is {short_text(count)}, more modes than supported, expected at "
            f"most {MAX_BEAM_MODES}"
        )
    return count


def check_modes(what: str, modes: object, words: Collection[str]) -> None:
    """Raise if a basis is not one of the names; numbers of modes have another one."""
    if isinstance(modes, int):
        raise ModelError(
            f"{what} is {short_text(modes)}, expected one of "
            f"{', '.join(map(repr, words))}; the number of modes is n_modes"
        )
    check_choice(what, modes, words, ModelError)


def point_count(what: str, n_points: object, minimum: int) -> int:
    """Return a number of Gauss points."""
    return whole_number(what, n_points, minimum, MAX_POINTS)


def piece_lengths(what: str, segments: object) -> int | Array:
    """Return a number of pieces, or their lengths in m."""
    if isinstance(segments, Sequence | np.ndarray) and not isinstance(segments, str):
        lengths = as_array(what, segments, (None,))
        whole_number(f"number of {what}", len(lengths), 1, MAX_SEGMENTS)
        for length in lengths.tolist():
            positive(f"length in {what}", length, "m")
        return lengths
    return whole_number(what, segments, 1, MAX_SEGMENTS)


def check_elements(name: str, count: int) -> None:
    """Refuse a link of too many elements."""
    if count > MAX_ELEMENTS:
        raise ModelError(
            f"link {name!r} has {count} elements, ends of pieces and named places, "
            f"expected at most {MAX_ELEMENTS}; divide it into several links"
        )


def known_modes(name: str, modes: object, loads: Sequence[object], free: bool) -> str:
    """Return the name of a basis, or raise if `outboard` contradicts it."""
    who = f"link {name!r}"
    words = (*HELD, *NATURAL, *([FREE] if free else []))
    check_modes(f"modes of {who}", modes, words)
    if loads and modes != "tip-loaded":
        raise ModelError(
            f"{who} has modes {modes!r} and outboard masses, which shape natural modes "
            "only, expected modes='tip-loaded' with them"
        )
    if not loads and modes == "tip-loaded":
        raise ModelError(
            f"{who} has modes 'tip-loaded' without outboard, expected the masses that "
            "hang on it, or modes='clamped-free'"
        )
    return str(modes)


def counts_of(name: str, given: object, kinds: Sequence[str]) -> dict[str, int] | None:
    """Numbers of coordinates by motion; None if they are not given."""
    who = f"n_modes of link {name!r}"
    if given is None:
        return None
    if not isinstance(given, Mapping):
        count = whole_number(who, given, 1)
        return dict.fromkeys(kinds, count)
    for key in given:
        if key not in kinds:
            raise ModelError(
                f"{who} has {short_text(key)}, expected motions of the link, some of "
                f"{listed(kinds)}{did_you_mean(key, kinds)}"
            )
    result = {
        kind: whole_number(f"{who} for {kind!r}", given.get(kind, 0), 0)
        for kind in kinds
    }
    if not any(result.values()):
        raise ModelError(
            f"{who} keeps no mode, expected one or more; a link that does not deform "
            "is a RigidBody"
        )
    return result


def no_static_count(name: str, n_modes: object, max_frequency: object) -> None:
    """Refuse numbers beside a basis of static shapes, which has its own."""
    if n_modes is not None or max_frequency is not None:
        raise ModelError(
            f"link {name!r} has modes 'static' and n_modes or max_frequency, expected "
            "modes='craig-bampton' with them"
        )


def check_count(what: str, wanted: int, there: int) -> None:
    """Refuse more coordinates than the unreduced link has."""
    if wanted > there:
        raise ModelError(
            f"{what} is {short_text(wanted)}, its elements have {there}, expected at "
            "most as many; use more elements"
        )
