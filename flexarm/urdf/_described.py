"""Flexible links as the tables of a sidecar, made again and compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from .._support.checks import short_text
from ..bodies import Body, SegmentedLink
from ..bodies.segments import link_profile
from ..errors import ModelError
from ._findings import Table
from ._links import described_link

Array = NDArray[np.float64]

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
