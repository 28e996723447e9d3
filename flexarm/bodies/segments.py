"""Links cut into pieces: bodies on fixed joints that users name as one link.

An arm holds the pieces as bodies of their own, ``"boom"``, ``"boom#2"``, ``"boom#3"``
and so on, each with its `Segment`, so that a link remains one in copies of an arm.  The
name of a link means its joint and its base, its last piece, or all of its pieces,
whichever is asked for; numbers and names such as ``"boom#2"`` mean one body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from .._calls.doors import checked_record
from .._calls.links import piece_with
from .._support.arrays import Array
from .._support.checks import short_text
from .._support.description import Description
from .._support.printing import Printed, Sheet, Table
from ..errors import ModelError
from .body import Body, Segment, check_name
from .joints import Joint
from .maps import modal_mass
from .models import FlexibleBody
from .profile import BeamProfile, joined_profile


@checked_record("{field} of link {name!r}")
@dataclass(frozen=True, eq=False)
class SegmentedLink(Printed, Description):
    """A flexible link cut into pieces, which an arm takes as one of its bodies.

    Made by ``segments=n`` of `beams.flexible_link` and `beams.finite_element_link`.
    Each piece deforms little in a frame of its own, so that the link may bend far.

    Parameters
    ----------
    name : str
        Name, unique in the arm.
    joint : Joint
        Connection of its base to the parent.
    pieces : sequence of FlexibleBody
        From base to tip, with names of nodes and modes that are unique in the link and
        a last node that carries the next piece.  Their names and joints are set here.

    Raises
    ------
    ModelError
        If the pieces are none, or have nodes or modes of one name.

    Notes
    -----
    Wherever an arm takes a name, that of the link stands for all of it: ``parent=`` of
    a joint is its tip, or the piece with the given node; `Arm.node` finds nodes by
    name, by number or by distance along the link; `Arm.mode_slice` is one slice for all
    pieces; `link_loads` has one curve.

    In ``arm.bodies`` the pieces are bodies on fixed joints, the first one with the name
    of the link, the others ``"boom#2"``, ``"boom#3"``, ...  Results with an axis for
    bodies have an entry for each of them.  The node at the base of a piece has the name
    of that before it and a plus, ``"n1+"``.

    Pieces move without limits against each other in arms of full fidelity.  In those of
    lower fidelity they are first order in all coordinates, as other modes.

    Examples
    --------
    >>> import flexarm as fa
    >>> tube = fa.beams.Section.tube(0.02, 0.001, fa.beams.ALUMINIUM)
    >>> boom = fa.beams.finite_element_link(
    ...     "boom", length=1.0, sections=tube, motions="bending y", segments=2,
    ...     n_elements=2
    ... )
    >>> arm = fa.Arm([boom, fa.RigidBody("hand", fa.Joint(parent="boom"), mass=1.0)])
    >>> arm.coordinate_names
    ('boom', 'hand', 'boom.n1 y', 'boom.n1 rz', 'boom.tip y', 'boom.tip rz')
    >>> [body.name for body in arm.bodies], arm.mode_slice("boom")
    (['boom', 'boom#2', 'hand'], slice(2, 6, None))
    >>> arm.node("boom", 0.5) == arm.node("boom", "n1") == boom.node_index(0.5)
    True
    """

    name: str
    joint: Joint
    pieces: Any

    def __post_init__(self) -> None:
        name = check_name("body", self.name)
        given = self.pieces if isinstance(self.pieces, list | tuple) else ()
        if not given or not all(isinstance(piece, FlexibleBody) for piece in given):
            raise ModelError(
                f"pieces of link {name!r} are {short_text(self.pieces)}, expected a "
                "list of FlexibleBody, from base to tip"
            )
        for kind in ("node", "mode"):
            names = [x for piece in given for x in getattr(piece, f"{kind}_names")]
            if len(set(names)) != len(names):
                raise ModelError(
                    f"link {name!r} has {len(names)} {kind}s and {len(set(names))} "
                    f"different {kind} names, expected one unique name each"
                )
        if any("tip" in piece.node_names for piece in given[:-1]):
            raise ModelError(
                f"link {name!r} has a node 'tip' in a piece that is not the last, "
                "expected it at the end of the link; rename the node"
            )
        pieces = []
        for k, piece in enumerate(given):
            place = Segment(name, k, len(given))
            joint = Joint("fixed") if k else self.joint
            pieces.append(piece.replace(name=place.name, joint=joint, segment=place))
        self._set(pieces=tuple(pieces))

    @property
    def attachment(self) -> str | int | None:
        """Node by which the joint holds the first piece, None for its frame."""
        held: str | int | None = self.pieces[0].attachment
        return held

    @property
    def attachment_node(self) -> int | None:
        """Number of that node."""
        held: int | None = self.pieces[0].attachment_node
        return held

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all pieces."""
        return sum(piece.n_nodes for piece in self.pieces)

    @property
    def n_modes(self) -> int:
        """Number of modal coordinates of all pieces."""
        return sum(piece.n_modes for piece in self.pieces)

    @property
    def node_names(self) -> tuple[str, ...]:
        """Names of the nodes of all pieces."""
        return tuple(name for piece in self.pieces for name in piece.node_names)

    @property
    def mode_names(self) -> tuple[str, ...]:
        """Names of the modes of all pieces."""
        return tuple(name for piece in self.pieces for name in piece.mode_names)

    @property
    def node_position(self) -> Array:
        """Undeformed positions of the nodes, (n_nodes, 3), in the frame of its base."""
        frames = _frames(self.pieces)[:-1]
        return np.vstack(
            [
                place + piece.node_position
                for piece, (place, _) in zip(self.pieces, frames, strict=True)
            ]
        )

    def node_index(self, node: str | int | float) -> int:
        """Number of a node among all nodes of the link.

        Parameters
        ----------
        node : str, int or float
            Its name, number, or distance from the base along the link, in m.

        Returns
        -------
        index : int
            From 0 on, base to tip.
        """
        k, own = piece_with(self.pieces, node)
        return int(own + sum(piece.n_nodes for piece in self.pieces[:k]))

    @property
    def mass(self) -> float:
        """Mass of all pieces, in kg."""
        return float(sum(piece.mass for piece in self.pieces))

    @property
    def beam(self) -> BeamProfile | None:
        """Cuts across the link, None if a piece is not a beam."""
        return link_profile(self.pieces)

    def frequencies(self) -> Array:
        """Natural frequencies of the link with its base at rest, in Hz, ascending."""
        return link_frequencies(self.pieces)

    def _sheet(self) -> Sheet:
        f = ", ".join(f"{x:.4g}" for x in link_frequencies(self.pieces, 6))
        head = (
            f"flexible link {self.name!r}: {len(self.pieces)} pieces, {self.n_modes} "
            f"modes, {self.n_nodes} nodes, {self.mass:.4g} kg"
        )
        rows = [("piece", "mass kg", "modes", "nodes")]
        rows += [
            (
                piece.name,
                f"{piece.mass:.4g}",
                str(piece.n_modes),
                f"{piece.node_names[0]} to {piece.node_names[-1]}",
            )
            for piece in self.pieces
        ]
        return Sheet((head, Table(rows), f"natural frequencies, base at rest: {f} Hz"))


def link_profile(pieces: Sequence[Body]) -> BeamProfile | None:
    """Cuts across all pieces of a link, None if one of them is not a beam."""
    profiles = [piece.beam for piece in pieces]
    if len(profiles) == 1:
        return profiles[0]
    there = [profile for profile in profiles if profile is not None]
    return joined_profile(there) if len(there) == len(profiles) else None


def tip_motion(pieces: Sequence[Body]) -> tuple[Array, Array]:
    """Place (3,) in m of the tip of undeformed pieces, its twist per rate (6, n)."""
    place, twist = _frames(pieces)[-1]
    return place, twist


def _frames(pieces: Sequence[Body]) -> list[tuple[Array, Array]]:
    """Frame of each undeformed piece, then the tip; as in `tip_motion`."""
    starts = [0, *accumulate(piece.n_modes for piece in pieces)]
    place, twist = np.zeros(3), np.zeros((6, starts[-1]))
    result = [(place, twist)]
    for piece, first in zip(pieces, starts, strict=False):
        # the next piece is on the tip of this one
        own, tip = slice(first, first + piece.n_modes), piece.node_index("tip")
        step, twist = piece.node_position[tip], twist.copy()
        twist[3:] += np.cross(twist[:3], step, axisa=0).T
        twist[:3, own] += piece.node_rotation[tip]
        twist[3:, own] += piece.node_translation[tip]
        place = place + step
        result.append((place, twist))
    return result


def link_matrices(pieces: Sequence[Body]) -> tuple[Array, Array]:
    """Mass and stiffness matrix of undeformed pieces, the base at rest, (n, n) each."""
    from scipy.linalg import block_diag

    starts = [0, *accumulate(piece.n_modes for piece in pieces)]
    mass, unit = np.zeros((starts[-1],) * 2), np.eye(starts[-1])
    for piece, (_, twist), first in zip(pieces, _frames(pieces), starts, strict=False):
        last = first + piece.n_modes
        motion = np.vstack([unit[first:last], twist])[:, :last]
        own = modal_mass(piece, np.zeros(piece.n_modes))
        mass[:last, :last] += motion.T @ own @ motion
    return mass, np.asarray(block_diag(*(piece.stiffness for piece in pieces)))


def lowest_frequencies(mass: Array, stiffness: Array, count: int) -> Array:
    """Lowest natural frequencies, in rad/s, ascending."""
    from scipy.linalg import eigh

    n = len(mass)
    if not n:
        return np.zeros(0)
    try:
        # stiffness of pieces is well conditioned, so that these are exact to rounding
        last = (max(n - count, 0), n - 1)
        periods = eigh(mass, stiffness, eigvals_only=True, subset_by_index=last)[::-1]
        return np.asarray(1.0 / np.sqrt(np.maximum(periods, np.finfo(float).tiny)))
    except np.linalg.LinAlgError:  # modes without stiffness
        squares = eigh(stiffness, mass, eigvals_only=True)[:count]
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def link_frequencies(pieces: Sequence[Body], count: int | None = None) -> Array:
    """Natural frequencies of the pieces of a link, base at rest, in Hz, ascending."""
    if len(pieces) == 1:
        return pieces[0].frequencies()[:count]
    mass, stiffness = link_matrices(pieces)
    lowest = len(mass) if count is None else count
    return lowest_frequencies(mass, stiffness, lowest) / (2.0 * np.pi)
