"""Flexible links from a small file beside a robot description."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import beams
from .._support.checks import as_array, as_numbers, listed, positive, short_text
from .._support.files import read_file, shown_path
from .._support.options import did_you_mean
from ..bodies.joints import unit_vector
from ..bodies.models import FlexibleBody
from ..bodies.segments import SegmentedLink
from ..errors import ModelError

Array = NDArray[np.float64]

_NEEDED = ("length", "mass_per_length", "bending_stiffness")
_OPTIONS: dict[str, Any] = {
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

MAX_BYTES = 1_000_000
MAX_DOTS = 100  # of a line; the reader of TOML is quadratic in the parts of a key


def _read_toml(text: str, name: str) -> Any:
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") > MAX_DOTS:
            raise ModelError(
                f"file {name} has {line.count('.')} dots in line {number}, expected at "
                f"most {MAX_DOTS}; give each link a table of its own"
            )
    for package in ("tomllib", "tomli"):
        try:
            reader = importlib.import_module(package)
        except ModuleNotFoundError:
            continue
        return reader.loads(text)
    raise ModelError(
        f"file {name} is TOML, for which Python 3.10 needs the package tomli; "
        "install flexarm[urdf] or write the file in JSON"
    )


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Table of pairs; the reader of JSON takes the last one of a key given twice."""
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"key {short_text(key)} is given twice")
        result[key] = value
    return result


def _read(source: Any) -> Any:
    if isinstance(source, Mapping):
        return source
    if not isinstance(source, str | os.PathLike):
        raise ModelError(
            f"sidecar is {type(source).__name__}, expected a TOML or JSON file or a "
            "mapping of link names"
        )
    content, name = read_file("sidecar", source, MAX_BYTES), shown_path(source)
    kind = "JSON" if name[:-1].endswith(".json") else "TOML"
    try:
        text = content.decode("utf-8-sig")
        if kind == "JSON":
            return json.loads(text, object_pairs_hook=_unique_keys)
        return _read_toml(text, name)
    except ModelError:
        raise
    except RecursionError:
        reason = "brackets inside of brackets"
    except ValueError as problem:  # of the text or of its encoding
        reason = " ".join(str(problem).split())[:100]
    raise ModelError(f"file {name} is not {kind} ({reason}), expected tables in UTF-8")


def link_tables(source: Any) -> Mapping[str, Any]:
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


def described_link(name: str, table: Any) -> FlexibleBody | SegmentedLink:
    """Flexible body, or link of several, of a description."""
    who = f"flexible link {short_text(name)}"
    if not isinstance(table, Mapping):
        raise ModelError(
            f"{who} is {short_text(table)}, expected a table of its parameters"
        )
    known = [*_NEEDED, *_OPTIONS]
    for key in table:
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


def _motions(who: str, values: Mapping[str, Any]) -> list[str]:
    """Deformations: bending in the given planes, torsion with its stiffness."""
    planes = values["planes"]
    if not isinstance(planes, str) or planes not in ("y", "z", "yz"):
        raise ModelError(
            f"planes of {who} are {short_text(planes)}, expected 'y', 'z' or 'yz'"
        )
    twists = values["torsional_stiffness"] is not None
    return [f"bending {plane}" for plane in planes] + ["torsion"] * twists


def _outboard(who: str, values: Mapping[str, Any]) -> list[beams.Payload]:
    """Mass and inertia at the tip that only shape the modes."""
    mass, about = values["outboard_mass"], values["outboard_inertia"]
    if mass is None and about is None:
        return []
    inertia = 0.0 if about is None else about
    if as_numbers(f"outboard_inertia of {who}", inertia).ndim == 0:
        inertia = 3 * (inertia,)
    at = positive(f"length of {who}", values["length"], "m")
    return [beams.Payload(at, mass=0.0 if mass is None else mass, inertia=inertia)]


def _place(who: str, values: Mapping[str, Any]) -> tuple[Array, Array]:
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
