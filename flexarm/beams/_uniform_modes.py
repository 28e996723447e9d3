"""Modes of a uniform link, by name or given: motion, strain, stiffness at its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._support.arrays import Array
from .._support.checks import listed
from ..bodies.profile import BeamProfile, uniform_profile
from ..errors import ModelError
from ._bending import BeamModes, BendingModes
from ._clamped import LinkModes, RodModes, TorsionModes
from ._coordinates import names_of
from ._craig_bampton import CRAIG_BAMPTON, CraigBamptonBeamModes, CraigBamptonRodModes
from ._free import FreeBeamModes, FreeRodModes, PinnedBeamModes
from ._line import Payload
from .limits import (
    MAX_BEAM_MODES,
    N_STATIC,
    counts_of,
    known_modes,
    mode_count,
    no_static_count,
)

KINDS: tuple[str, ...] = ("bending y", "bending z", "torsion")


@dataclass(frozen=True)
class Uniform:
    """Data of a uniform link that deforms.

    Attributes
    ----------
    name : str
        Name of the link.
    length, density : float
        Length in m and mass per length in kg/m.
    bending : (2,) ndarray or None
        EI along y and z.
    torsion : (float, float) or None
        GJ and polar inertia per length.
    tip : (4, 4) ndarray
        Mass, first and second moments that shape natural modes, about the tip: of
        ``(1, x, y, z)`` in the first row and column, the inertia in the rest.
    """

    name: str
    length: float
    density: float
    bending: Array | None
    torsion: tuple[float, float] | None
    tip: Array

    @property
    def motions(self) -> tuple[str, ...]:
        """Motions whose stiffness is given."""
        bends, twists = self.bending is not None, self.torsion is not None
        return (*(KINDS[:2] if bends else ()), *(KINDS[2:] if twists else ()))


def uniform(
    name: str,
    length: float,
    density: float,
    tip: Array,
    *,
    bending_stiffness: Array | None,
    torsional_stiffness: float | None,
    polar_inertia_per_length: float | None,
) -> Uniform:
    """Data of a uniform link, checked."""
    bending, torsion = bending_stiffness, None
    polar_inertia = polar_inertia_per_length
    if (torsional_stiffness is None) != (polar_inertia is None):
        raise ModelError(
            f"link {name!r} has one of torsional_stiffness and "
            "polar_inertia_per_length, expected both or none"
        )
    if torsional_stiffness is not None and polar_inertia is not None:
        torsion = (torsional_stiffness, polar_inertia)
    if bending is None and torsion is None:
        raise ModelError(
            f"link {name!r} has no stiffness, expected bending_stiffness, "
            "torsional_stiffness or modes of its own in bending_y, bending_z or "
            "torsion; a link that does not deform is a RigidBody"
        )
    return Uniform(name, length, density, bending, torsion, tip)


def tip_moments(mass: float, com: Array, inertia: Array) -> Array:
    """Mass, first and second moments of a payload about the tip, (4, 4)."""
    result = np.zeros((4, 4))
    result[0, 0], result[1:, 1:] = mass, inertia
    result[0, 1:] = result[1:, 0] = mass * com
    return result


def outboard_moments(name: str, length: float, loads: Sequence[Payload]) -> Array:
    """Moments of masses at the tip of a uniform link, (4, 4)."""
    result = np.zeros((4, 4))
    for load in loads:
        if abs(load.at - length) > 1e-9 * length:
            raise ModelError(
                f"outboard of link {name!r} has a payload at {load.at:g} m, expected "
                f"the tip at {length:g} m; finite_element_link has others"
            )
        result += tip_moments(load.mass, load.com, load.about_place())
    return result


def modes_by_name(
    link: Uniform,
    *,
    motions: object,
    modes: object,
    n_modes: object,
    max_frequency: float | None,
    outboard: Sequence[Payload],
) -> dict[str, LinkModes]:
    """Modes by motion of a named basis."""
    name = link.name
    word = "craig-bampton" if modes is None else modes
    word = known_modes(name, word, outboard, free=True)
    if outboard:
        more = outboard_moments(name, link.length, outboard)
        link = replace(link, tip=link.tip + more)
    if word == "static":
        no_static_count(name, n_modes, max_frequency)
    kinds = known_kinds(link, motions)
    counts = counts_of(name, n_modes, kinds)
    limit = max_frequency
    if counts is None:
        few = limit is None
        counts = {
            kind: N_STATIC[kind] + (word != "static") if few else MAX_BEAM_MODES
            for kind in kinds
        }
    result = {}
    for kind, count in counts.items():
        if count:
            own = _maker(link, word, kind)
            found = own(mode_count(count))
            slow = count if limit is None else _slow(found, limit)
            if slow:
                result[kind] = found if slow == count else own(slow)
    if not result:
        raise ModelError(
            f"max_frequency of link {name!r} is {limit:g} Hz, below its lowest "
            "frequency; a link that does not deform is a RigidBody"
        )
    return result


def known_kinds(link: Uniform, motions: object) -> tuple[str, ...]:
    """Motions of a uniform link, by default all whose stiffness is given."""
    who = f"motions of link {link.name!r}"
    given = link.motions if motions is None else names_of(who, motions)
    if not given or len(set(given)) != len(given) or not set(given) <= set(KINDS):
        raise ModelError(
            f"{who} are {listed(given)}, expected some of "
            f"{', '.join(map(repr, KINDS))}, each once"
        )
    lacking = [kind for kind in given if kind not in link.motions]
    if lacking:
        needed = "torsional" if lacking[0] == "torsion" else "bending"
        raise ModelError(
            f"{who} have {lacking[0]!r}, expected its {needed}_stiffness with it"
        )
    return tuple(kind for kind in KINDS if kind in given)


def _slow(modes: LinkModes, limit: float) -> int:
    """Number of modes up to a frequency; static shapes, of frequency zero, count."""
    return int((modes.frequency <= limit).sum())


def _maker(link: Uniform, word: str, kind: str) -> Callable[[int], LinkModes]:
    """Make modes of a motion, given their number."""
    if kind == "torsion":
        assert link.torsion is not None
        GJ, polar = link.torsion
        if word in ("craig-bampton", "static"):
            return lambda n: CraigBamptonRodModes(link.length, polar, GJ, n)
        if word == "free":
            return lambda n: FreeRodModes(link.length, polar, GJ, n)
        twist = float(link.tip[1, 1])
        return lambda n: RodModes(link.length, polar, GJ, n, tip_inertia=twist)
    assert link.bending is not None
    upward = kind == "bending y"
    beam = (link.length, link.density, float(link.bending[0 if upward else 1]))
    if word in ("craig-bampton", "static"):
        return lambda n: CraigBamptonBeamModes(*beam, n, upward=upward)
    if word == "free":
        return lambda n: FreeBeamModes(*beam, n)
    if word == "pinned":
        return lambda n: PinnedBeamModes(*beam, n)
    mass, moment = float(link.tip[0, 0]), float(link.tip[0, 1])
    turn = float(link.tip[3, 3] if upward else link.tip[2, 2])
    return lambda n: BeamModes(
        *beam, n, tip_mass=mass, tip_inertia=turn, tip_moment=moment
    )


def given_modes(
    name: str,
    length: float,
    given: Mapping[str, LinkModes | None],
    others: Mapping[str, object],
) -> dict[str, LinkModes]:
    """Modes that the user made, by motion, checked against the link."""
    said = [
        key
        for key, value in others.items()
        if value is not None and (key != "outboard" or value)
    ]
    clash = said[0] if said else None
    if clash is not None:
        raise ModelError(
            f"link {name!r} has {clash} and modes of its own in "
            f"{next(key for key, own in given.items() if own is not None)}, expected "
            "one of both"
        )
    result: dict[str, LinkModes] = {}
    for argument, modes in given.items():
        if modes is None:
            continue
        if abs(modes.length - length) > 1e-12 * length:
            raise ModelError(
                f"{argument} of link {name!r} are modes of length {modes.length:g} m, "
                f"the link is {length:g} m long; compute them for the link"
            )
        result[argument.replace("_", " ")] = modes
    return result


def _count(modes: dict[str, LinkModes]) -> int:
    return sum(own.n_modes for own in modes.values())


def _blocks(modes: dict[str, LinkModes]) -> Iterator[tuple[str, LinkModes, slice]]:
    """Yield kind, modes and their slice among all modes of the link."""
    first = 0
    for kind, own in modes.items():
        yield kind, own, slice(first, first + own.n_modes)
        first += own.n_modes


def node_shapes(modes: dict[str, LinkModes], n_points: int) -> tuple[Array, Array]:
    """Translations (0, v, w) and rotation vectors (theta, -w', v'), (nodes, 3, n)."""
    translation, rotation = np.zeros((2, n_points + 2, 3, _count(modes)))
    for kind, own, columns in _blocks(modes):
        if kind == "torsion":
            rotation[:, 0, columns] = own._at_nodes(n_points, 0).T
        elif kind == "bending y":
            translation[:, 1, columns] = own._at_nodes(n_points, 0).T
            rotation[:, 2, columns] = own._at_nodes(n_points, 1).T
        else:
            translation[:, 2, columns] = own._at_nodes(n_points, 0).T
            rotation[:, 1, columns] = -own._at_nodes(n_points, 1).T
    return translation, rotation


def cuts_across(
    modes: dict[str, LinkModes], length: float, n_points: int, modal_stiffness: Array
) -> BeamProfile:
    """Cuts across the link at its nodes."""
    strain, stiffness = np.zeros((n_points + 2, 4, _count(modes))), np.zeros(4)
    known, counts = True, [0] * 4
    rows = {"torsion": 1, "bending y": 2, "bending z": 3}
    for kind, own, columns in _blocks(modes):
        row = rows[kind]
        if isinstance(own, TorsionModes):
            strain[:, row, columns] = own._at_nodes(n_points, 1).T
            stiffness[row] = own.torsional_stiffness
        elif isinstance(own, BendingModes):
            strain[:, row, columns] = own._at_nodes(n_points, 2).T
            stiffness[row] = own.bending_stiffness
        # at enough points these shapes are independent
        known &= isinstance(own, CRAIG_BAMPTON) and n_points >= own.n_points
        counts[row] = own.n_modes
    return uniform_profile(
        length,
        n_points,
        strain,
        stiffness,
        modal_stiffness,
        counts[1:] if known else None,
    )


def foreshortening(modes: dict[str, LinkModes], n_points: int) -> Array | None:
    """Second derivatives of the position along x of each node, (nodes, 3, n, n)."""
    n = _count(modes)
    kappa = np.zeros((n_points + 2, 3, n, n))
    for kind, own, block in _blocks(modes):
        if kind != "torsion":
            kappa[:, 0, block, block] = own._foreshortening(n_points)
    return kappa if np.count_nonzero(kappa) else None


def stiffness_of(modes: dict[str, LinkModes]) -> Array:
    """Stiffness of the modes, (n, n)."""
    stiffness = np.zeros((_count(modes),) * 2)
    for _, own, block in _blocks(modes):
        static = isinstance(own, CRAIG_BAMPTON)
        # natural modes are orthogonal: the rest of the integrals is rounding
        stiffness[block, block] = own.k if static else np.diag(np.diag(own.k))
    return stiffness
