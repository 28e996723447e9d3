"""Largest numbers of modes, elements and points, checked before anything is made."""

from __future__ import annotations

from collections.abc import Collection

from .._support.checks import short_text, whole_number
from .._support.options import check_choice
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


def check_elements(name: str, count: int) -> None:
    """Refuse a link of too many elements."""
    if count > MAX_ELEMENTS:
        raise ModelError(
            f"link {name!r} has {count} elements, ends of pieces and named places, "
            f"expected at most {MAX_ELEMENTS}; divide it into several links"
        )
