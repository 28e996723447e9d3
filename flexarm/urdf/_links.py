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
from .._support.checks import as_array, as_numbers, listed, short_text
from .._support.files import read_file, shown_path
from .._support.options import did_you_mean
from ..bodies.joints import unit_vector
from ..bodies.models import FlexibleBody
from ..bodies.segments import SegmentedLink
from ..errors import ModelError

Array = NDArray[np.float64]

_NEEDED = ("length", "mass_per_length", "bending_stiffness")
_OPTIONS: dict[str, Any] = {
    "modes": 2,
    "segments": None,
    "planes": "yz",
    "torsional_stiffness": None,
    "polar_inertia_per_length": None,
    "torsion_modes": 1,
    "axis": (1.0, 0.0, 0.0),
    "y_axis": None,
    "position": (0.0, 0.0, 0.0),
    "damping_ratio": 0.0,
    "payload_mass": 0.0,
    "payload_inertia": 0.0,
    "geometric_stiffening": True,
}


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
    counted = [key for key in ("modes", "torsion_modes") if key in table]
    if values["segments"] is not None and counted:
        raise ModelError(
            f"{who} has segments and {counted[0]}, expected one of them: each piece "
            "has static shapes; leave out one"
        )
    try:
        body = beams.flexible_link(
            name,
            length=values["length"],
            mass_per_length=values["mass_per_length"],
            damping_ratio=values["damping_ratio"],
            geometric_stiffening=values["geometric_stiffening"],
            segments=values["segments"],
            **_modes(who, values, table),
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


def _modes(
    who: str, values: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    # bending in each plane
    planes = values["planes"]
    if not isinstance(planes, str) or planes not in ("y", "z", "yz"):
        raise ModelError(
            f"planes of {who} are {short_text(planes)}, expected 'y', 'z' or 'yz'"
        )
    stiffness = as_numbers(f"bending_stiffness of {who}", values["bending_stiffness"])
    if stiffness.ndim == 0:
        stiffness = np.full(2, stiffness)
    stiffness = as_array(f"bending_stiffness of {who}", stiffness, (2,))
    result: dict[str, Any] = {}
    for plane, EI in zip("yz", stiffness, strict=True):
        if plane in planes:
            result[f"bending_{plane}"] = beams.clamped_beam_modes(
                values["length"],
                values["mass_per_length"],
                float(EI),
                values["modes"],
                tip_mass=values["payload_mass"],
                tip_inertia=values["payload_inertia"],
            )

    # torsion, if both of its parameters are given
    GJ, polar = values["torsional_stiffness"], values["polar_inertia_per_length"]
    if (GJ is None) != (polar is None):
        raise ModelError(
            f"{who} has one of torsional_stiffness and polar_inertia_per_length, "
            "expected both or none"
        )
    if GJ is None and "torsion_modes" in given:
        raise ModelError(
            f"{who} has torsion_modes, expected torsional_stiffness and "
            "polar_inertia_per_length beside them"
        )
    if GJ is not None:
        result["torsion"] = beams.clamped_rod_modes(
            values["length"], polar, GJ, values["torsion_modes"]
        )
    return result


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
