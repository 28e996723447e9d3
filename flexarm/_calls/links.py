"""Links of several bodies: names and numbers of pieces and of their nodes.

The name of a link that is cut into pieces is that of its first body, and stands for all
of them; see `flexarm.beams.SegmentedLink`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from numbers import Real
from typing import Any

from .._support.arrays import is_whole
from .._support.checks import listed, real, short_text
from .._support.options import did_you_mean
from ..errors import ModelError


def link_name(body: Any) -> str:
    """Name of the link of a body: its own, if it is not a piece."""
    name: str = body.name if body.segment is None else body.segment.link
    return name


def joint_name(body: Any) -> str:
    """Name of the coordinates of the joint of a body: that of the joint, if it has one.

    By default coordinates have the name of the body.
    """
    name: str = body.name if body.joint.name is None else body.joint.name
    return name


def link_ranges(bodies: Sequence[Any]) -> tuple[range, ...]:
    """For each body the numbers of all pieces of its link; its own if it is one.

    Raises
    ------
    ModelError
        If pieces of a link are missing, renamed or not in their order.
    """
    result: list[range] = []
    while len(result) < len(bodies):
        first = len(result)
        place = bodies[first].segment
        count = 1 if place is None else place.count
        if place is not None:
            part = bodies[first : first + count]
            right = [(place.link, k, count) for k in range(count)]
            found = [
                (s.link, s.number, s.count)
                for s in (body.segment for body in part)
                if s is not None
            ]
            if found != right or any(b.name != b.segment.name for b in part):
                raise ModelError(
                    f"the arm has {listed([body.name for body in part])} of the link "
                    f"{place.link!r}, expected its {count} pieces together, in their "
                    "order and under their names; give the link itself"
                )
        result += [range(first, first + count)] * count
    return tuple(result)


def piece_with(pieces: Sequence[Any], node: object) -> tuple[int, int]:
    """Piece of a link and its own number of a node, by name, number or distance."""
    if len(pieces) == 1:
        return 0, pieces[0].node_index(node)
    who = f"link {link_name(pieces[0])!r}"
    if isinstance(node, str):
        for k, piece in enumerate(pieces):
            if node in piece.node_names:
                return k, piece.node_names.index(node)
        if node == "tip":
            return len(pieces) - 1, pieces[-1].n_nodes - 1
        names = [x for piece in pieces for x in piece.node_names]
        raise ModelError(
            f"{who} has no node {short_text(node)}, expected one of "
            f"{listed(names, str)} or a distance along it in m"
            f"{did_you_mean(node, names)}"
        )
    if is_whole(node):
        ends = [0, *accumulate(piece.n_nodes for piece in pieces)]
        if not -ends[-1] <= int(node) < ends[-1]:
            raise ModelError(
                f"{who} has no node {short_text(node)}, expected a number below "
                f"{ends[-1]}"
            )
        number = int(node) % ends[-1]
        k = next(k for k in range(len(pieces)) if number < ends[k + 1])
        return k, number - ends[k]
    if isinstance(node, Real) and all(piece.beam is not None for piece in pieces):
        at = real(f"node of {who}", node, "m")
        tips = [float(piece.beam.at[-1]) * (1.0 + 1e-9) for piece in pieces]
        k = next((k for k, tip in enumerate(tips) if at <= tip), len(pieces) - 1)
        return k, pieces[k].beam.node_at(who, at)
    raise ModelError(
        f"node of {who} is {short_text(node)}, expected a name, a number or a distance "
        "along it in m"
    )
