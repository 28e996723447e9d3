"""Flexible links from a small file beside a robot description."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .. import beams
from .._support.checks import as_array, as_numbers, listed, positive, short_text
from .._support.files import read_file, shown_path
from .._support.options import did_you_mean
from .._support.tables import read_tables
from ..bodies import FlexibleBody, SegmentedLink
from ..bodies.axes import unit_vector
from ..errors import ModelError
from ._findings import Table

Array = NDArray[np.float64]

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
