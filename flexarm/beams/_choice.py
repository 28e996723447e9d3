"""Names of bases of links and numbers of coordinates by motion, for all links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from .._support.checks import listed, short_text, whole_number
from .._support.options import did_you_mean
from ..errors import ModelError
from ._line import Payload
from .limits import MAX_PAYLOADS, check_modes

# bases of all links, and those of the natural modes of a link, clamped at its base
# ("tip-loaded": with what hangs on it), with both ends on the chord or free
HELD = ("craig-bampton", "static")
NATURAL = ("clamped-free", "tip-loaded", "pinned")
FREE = "free"
# static shapes of each motion of a straight link; by default it has one mode more
N_STATIC = {"bending y": 2, "bending z": 2, "torsion": 1, "stretch": 1}


def known_modes(name: str, modes: object, loads: Sequence[Payload], free: bool) -> str:
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


def payload_list(what: str, payloads: Iterable[Payload]) -> tuple[Payload, ...]:
    """Payloads of a link, checked."""
    try:
        loads = tuple(islice(payloads, MAX_PAYLOADS + 1))
    except TypeError:
        raise ModelError(
            f"{what} is {type(payloads).__name__}, expected a list "
            "of flexarm.beams.Payload"
        ) from None
    if len(loads) > MAX_PAYLOADS:
        raise ModelError(
            f"{what} are more than {MAX_PAYLOADS}, expected fewer; give those at one "
            "place as one"
        )
    for load in loads:
        if not isinstance(load, Payload):
            raise ModelError(
                f"an item of {what} is {type(load).__name__}, "
                "expected flexarm.beams.Payload"
            )
    return loads
