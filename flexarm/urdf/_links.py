"""Flexible links as tables of a sidecar: read, made again and compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy.linalg import eigh

from .. import beams
from .._support.arrays import Array
from .._support.checks import as_array, as_numbers, listed, positive, short_text
from .._support.files import read_file, shown_path
from .._support.options import did_you_mean
from .._support.tables import read_tables
from ..bodies import Body, FlexibleBody, SegmentedLink
from ..bodies.axes import unit_vector
from ..bodies.segments import link_profile
from ..errors import ModelError
from ._findings import Table

_NEEDED = ("length", "mass_per_length", "bending_stiffness")
_OPTIONS: Table = {
    "modes": "craig-bampton",
    "n_modes": None,
    "max_frequency": None,
    "segments": None,
    "planes": "yz",
    "torsional_stiffness": None,
    "polar_inertia_per_length": None,
    "axis": (1.0, 0.0, 0.0),
    "y_axis": None,
    "position": (0.0, 0.0, 0.0),
    "damping_ratio": 0.0,
    "outboard_mass": None,
    "outboard_inertia": None,
    "geometric_stiffening": True,
}
# keys that go to the link as they are
_PASSED = (
    *_NEEDED,
    "torsional_stiffness",
    "polar_inertia_per_length",
    "modes",
    "n_modes",
    "max_frequency",
    "segments",
    "damping_ratio",
    "geometric_stiffening",
)

MAX_BYTES = {"TOML": 1_000_000, "JSON": 1 << 24}  # of a sidecar
_BASES = ("craig-bampton", "clamped-free", "pinned", "free")
# Part of the largest entry of an array, within which two are the same.
_TOLERANCE = 1e-12
_ARRAYS = (
    "node_position",
    "node_mass",
    "node_com",
    "node_inertia",
    "node_translation",
    "node_rotation",
    "node_foreshortening",
    "stiffness",
    "damping",
)


def _read(source: object) -> object:
    if isinstance(source, Mapping):
        return source
    name = shown_path(source)
    kind = "JSON" if name[:-1].endswith(".json") else "TOML"
    content = read_file("sidecar", source, MAX_BYTES[kind])
    return read_tables(content, kind, name)


def link_tables(source: object) -> Mapping[str, object]:
    """Descriptions of flexible links by the names of the links."""
    tables = _read(source)
    if not isinstance(tables, Mapping):
        raise ModelError(
            f"sidecar holds {type(tables).__name__}, expected a table for each link"
        )
    for name in tables:
        if not isinstance(name, str):
            raise ModelError(
                f"sidecar has the key {short_text(name)}, expected names of links"
            )
    return tables


def described_link(name: str, table: object) -> FlexibleBody | SegmentedLink:
    """Flexible body, or link of several, of a description."""
    who = f"flexible link {short_text(name)}"
    if not isinstance(table, Mapping):
        raise ModelError(
            f"{who} is {short_text(table)}, expected a table of its parameters"
        )
    known = [*_NEEDED, *_OPTIONS]
    for key in table:
        if key in ("section", "sections"):
            raise ModelError(
                f"{who} has the key {key!r}, and a table has no sections, expected "
                "mass_per_length and bending_stiffness, or in place of the table a "
                f"body: flexible={{{name!r}: beams.finite_element_link(...)}}"
            )
        if key not in known:
            raise ModelError(
                f"{who} has the unknown key {short_text(key)}, expected some of "
                f"{listed(known)}{did_you_mean(key, known)}"
            )
    for key in _NEEDED:
        if key not in table:
            raise ModelError(f"{who} has no {key}, expected {', '.join(_NEEDED)}")
    values = _OPTIONS | dict(table)
    try:
        body = beams.flexible_link(
            name,
            **{key: values[key] for key in _PASSED},
            motions=_motions(who, values),
            outboard=_outboard(who, values),
        )
    except ModelError as problem:  # of the modes, which have no name
        text = str(problem)
        raise ModelError(text if repr(name) in text else f"{who}: {text}") from None
    R, at = _place(who, values)
    if isinstance(body, SegmentedLink):
        first, *others = body.pieces
        turned = [_placed(piece, R, np.zeros(3)) for piece in others]
        result: SegmentedLink = body.replace(pieces=(_placed(first, R, at), *turned))
        return result
    return _placed(body, R, at)


def _motions(who: str, values: Mapping[str, object]) -> list[str]:
    """Deformations: bending in the given planes, torsion with its stiffness."""
    planes = values["planes"]
    if not isinstance(planes, str) or planes not in ("y", "z", "yz"):
        raise ModelError(
            f"planes of {who} are {short_text(planes)}, expected 'y', 'z' or 'yz'"
        )
    twists = values["torsional_stiffness"] is not None
    return [f"bending {plane}" for plane in planes] + ["torsion"] * twists


def _outboard(who: str, values: Mapping[str, object]) -> list[beams.Payload]:
    """Mass and inertia at the tip that only shape the modes."""
    mass, about = values["outboard_mass"], values["outboard_inertia"]
    if mass is None and about is None:
        return []
    inertia = 0.0 if about is None else about
    if as_numbers(f"outboard_inertia of {who}", inertia).ndim == 0:
        inertia = 3 * (inertia,)
    at = positive(f"length of {who}", values["length"], "m")
    return [beams.Payload(at, mass=0.0 if mass is None else mass, inertia=inertia)]


def _place(who: str, values: Mapping[str, object]) -> tuple[Array, Array]:
    """Axes of a beam, as columns, and its base in the frame of the link."""
    # axes of the beam in those of the link
    x = unit_vector(f"axis of {who}", values["axis"])
    y = values["y_axis"]
    if y is None:
        nearest = [np.eye(3)[i] - x[i] * x for i in (1, 2)]
        y = nearest[0] if np.linalg.norm(nearest[0]) > 1e-3 else nearest[1]
    y = unit_vector(f"y_axis of {who}", y)
    if abs(float(x @ y)) > 1e-9:
        degrees = float(np.degrees(np.arccos(x @ y)))
        raise ModelError(
            f"y_axis of {who} is {degrees:.6g} degrees from its axis, expected 90 "
            "degrees"
        )
    R = np.column_stack([x, y, np.cross(x, y)])
    return R, as_array(f"position of {who}", values["position"], (3,))


def _placed(body: FlexibleBody, R: Array, at: Array) -> FlexibleBody:
    """The body along its axis in the frame of the link, to which it is clamped."""
    # shapes and inertias in these axes
    inertia, kappa = R @ body.node_inertia @ R.T, body.node_foreshortening
    result: FlexibleBody = body.replace(
        node_position=body.node_position @ R.T + at,
        node_translation=R @ body.node_translation,
        node_rotation=R @ body.node_rotation,
        node_com=body.node_com @ R.T,
        node_inertia=(inertia + np.swapaxes(inertia, 1, 2)) / 2.0,
        node_foreshortening=None
        if kappa is None
        else np.einsum("ij,njrs->nirs", R, kappa),
        beam=None if body.beam is None else body.beam.turned(R),
    )
    return result


def sidecar_table(name: str, pieces: Sequence[Body]) -> dict[str, object]:
    """Table of a flexible link that gives the same bodies.

    Raises
    ------
    ModelError
        If the link is not one that a sidecar describes.
    """
    for table in _candidates(pieces):
        try:
            made = described_link(name, table)
        except ModelError:
            continue
        again = made.pieces if isinstance(made, SegmentedLink) else (made,)
        if _same(pieces, again):
            return table
    raise ModelError(
        f"flexible link {short_text(name)} is none that a sidecar describes, expected "
        "one of beams.flexible_link without hub, payload and modes of one's own"
    )


def _candidates(pieces: Sequence[Body]) -> Iterator[dict[str, object]]:
    """Tables that may describe a link: what is known of it, in each basis."""
    profile = link_profile(list(pieces))
    if profile is None or not profile.at.max() > 0.0:
        return
    length = float(profile.at.max())
    mass = sum(piece.mass for piece in pieces)
    _, GJ, EI_y, EI_z = map(float, profile.stiffness[0])
    axes = profile.axes[0]
    table: dict[str, object] = {
        "length": length,
        "mass_per_length": _plain(mass / length),
        "bending_stiffness": [EI_y, EI_z] if EI_y and EI_z else EI_y or EI_z,
        "planes": "y" * bool(EI_y) + "z" * bool(EI_z),
        "axis": axes[:, 0].tolist(),
        "y_axis": axes[:, 1].tolist(),
        "position": pieces[0].node_position[0].tolist(),
        "geometric_stiffening": pieces[0].node_foreshortening is not None,
    }
    if GJ:
        x = axes[:, 0]
        polar = sum(float(x @ J @ x) for piece in pieces for J in piece.node_inertia)
        table |= {
            "torsional_stiffness": GJ,
            "polar_inertia_per_length": _plain(polar / length),
        }
    if len(pieces) > 1:
        yield from _of_pieces(pieces, table | {"segments": len(pieces)})
        return
    ratios = _ratios(pieces[0])
    if ratios is not None:
        table["damping_ratio"] = ratios
    strain = np.abs(profile.strain).max(axis=0)  # of each mode
    kinds = (("bending y", 2), ("bending z", 3), ("torsion", 1))
    counts = {kind: int(np.count_nonzero(strain[i])) for kind, i in kinds}
    table["n_modes"] = {kind: n for kind, n in counts.items() if n}
    for basis in _BASES:
        yield table | {"modes": basis}


def _plain(value: float) -> float:
    """A number without the rounding of a sum."""
    return float(f"{value:.14g}")


def _of_pieces(
    pieces: Sequence[Body], table: dict[str, object]
) -> Iterator[dict[str, object]]:
    """Table of a link of pieces, with the ratio of each motion if they are damped."""
    given = np.concatenate([np.diag(piece.damping) for piece in pieces])
    if not given.any():
        yield table
        return
    unit = described_link("unit", table | {"damping_ratio": 1.0})
    again = unit.pieces if isinstance(unit, SegmentedLink) else (unit,)
    own = np.concatenate([np.diag(piece.damping) for piece in again])
    if own.shape == given.shape:
        found = [float(f"{x:.10g}") for x in given / own]
        ratios = list(dict.fromkeys(found))  # in the order of the motions
        yield table | {"damping_ratio": ratios[0] if len(ratios) == 1 else ratios}


def _ratios(body: Body) -> float | list[float] | None:
    """Damping ratios of the natural modes of a link, None without damping."""
    if not body.damping.any():
        return None
    squares, modes = eigh(body.stiffness, body.modal_mass())
    own = np.einsum("ij,ik,kj->j", modes, body.damping, modes)
    with np.errstate(all="ignore"):
        ratios = 0.5 * own / np.sqrt(squares)
    if not np.isfinite(ratios).all():
        return None
    if np.ptp(ratios) < 1e-9 * np.abs(ratios).max():
        return float(f"{ratios.mean():.10g}")
    return [float(x) for x in ratios]


def _same(pieces: Sequence[Body], again: Sequence[Body]) -> bool:
    """Whether bodies have the same nodes, modes and matrices, to rounding."""
    if len(pieces) != len(again):
        return False
    for one, two in zip(pieces, again, strict=True):
        if (one.node_names, one.mode_names) != (two.node_names, two.mode_names):
            return False
        if one.integrals is not None or one.attachment != two.attachment:
            return False
        for key in _ARRAYS:
            a, b = getattr(one, key), getattr(two, key)
            if (a is None) != (b is None):
                return False
            if a is not None and not _close(np.asarray(a), np.asarray(b)):
                return False
    return True


def _close(a: Array, b: Array) -> bool:
    if a.shape != b.shape:
        return False
    largest = float(np.abs(a).max(initial=0.0))
    return bool(np.abs(a - b).max(initial=0.0) <= _TOLERANCE * largest)


def toml_of(tables: dict[str, Table]) -> str:
    """Text of a sidecar."""
    lines = ["# flexible links of a robot description, read by flexarm.urdf.load"]
    for name, table in tables.items():
        lines += ["", f"[{_quoted(name)}]"]
        lines += [f"{key} = {_value(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        pairs = [f"{_quoted(key)} = {_value(x)}" for key, x in value.items()]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)
