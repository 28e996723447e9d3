"""JSON Schema of the files that `save` writes as text, from the classes they hold."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Collection, Mapping
from typing import Any

from ._json import FORMAT, VERSION
from ._results import hints_of
from ._types import DESCRIPTIONS, RESULTS, SHARED, Record, Tree, fields_of, kind_of_type
from .trees import SAME, TYPE

_VALUE = {"$ref": "#/$defs/value"}
_TEXT, _WHOLE = {"type": "string"}, {"type": "integer", "minimum": 0}
_LIST, _VALUES = {"type": "array"}, {"type": "array", "items": _VALUE}
_ARRAY = {"dtype": _TEXT, "shape": {"type": "array", "items": _WHOLE}, "data": _LIST}
# values that are no objects of flexarm, by their type: fields, or others with a key
_PLAIN: dict[str, list[Record]] = {
    "list": [{"items": _VALUES}],
    "dict": [
        {"items": {"type": "object", "additionalProperties": _VALUE}},
        {"pairs": _LIST},
    ],
    "float": [{"value": {"enum": ["inf", "-inf", "nan"]}}],
    "complex": [{"real": _VALUE, "imag": _VALUE}],
    "array": [_ARRAY, {"in": _TEXT}],
    "scalar": [_ARRAY],
    "generator": [{"state": {"type": "object"}}],
    "made": [{"call": _VALUE}],
    "ArmStack": [{"arms": _VALUES, "index": _VALUE}],
}
_JSON = {bool: "boolean", float: "number", int: "integer", str: "string"}
_HEAD = {
    "format": {"const": FORMAT},
    "version": {"const": VERSION},
    "made_by": {"type": "object", "additionalProperties": _TEXT},
    "arrays": {
        "type": "object",
        "properties": {"file": _TEXT, "sha256": _TEXT},
        "required": ["file", "sha256"],
    },
}


def schema() -> dict[str, object]:
    """Return the JSON Schema of files that `save` writes as text.

    Editors and other programs check a file by it before it is read; `load` checks
    more, for instance signs and shapes.

    Returns
    -------
    dict
        Schema of draft 2020-12: an object of any class that files hold, with the
        format and versions before it, and a definition of each class in `$defs`.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.files.schema()["$defs"]["CoulombFriction"]["required"]
    ['force', 'smoothing_velocity']
    """
    known = {
        name: _either(*(_table(x) for x in fields)) for name, fields in _PLAIN.items()
    }
    known |= {name: _of_class(name) for name in (*DESCRIPTIONS, *RESULTS)}
    kinds = [
        {
            "if": {"properties": {TYPE: {"const": name}}},
            "then": {"$ref": f"#/$defs/{name}"},
        }
        for name in known
    ]
    table = {"$ref": "#/$defs/kinds", "unevaluatedProperties": False}
    simple = {"type": ["null", "boolean", "number", "string", "array"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": "#/$defs/kinds",
        "properties": _HEAD,
        "required": ["format", "version"],
        "unevaluatedProperties": False,
        "$defs": {
            "kinds": {
                "type": "object",
                "properties": {TYPE: {"enum": [*known]}},
                "required": [TYPE],
                "allOf": kinds,
            },
            "value": {
                "type": [*simple["type"], "object"],
                "items": _VALUE,
                "if": {"type": "object"},
                "then": table,
            },
            **known,
        },
    }


def _table(fields: Mapping[str, Tree], optional: Collection[str] = ()) -> Record:
    needed = [name for name in fields if name not in optional]
    return {"properties": dict(fields), "required": needed}


def _either(whole: Record, other: Record | None = None) -> Record:
    """The first, or the other one where the first of its keys is there."""
    if other is None:
        return whole
    return {"if": {"required": other["required"][:1]}, "then": other, "else": whole}


def _of_class(name: str) -> Record:
    """Fields of a class; or its number, where it is in the file already."""
    kind, plain = kind_of_type(name), name in DESCRIPTIONS
    fields, hints = fields_of(kind), hints_of(kind)
    known = {key: _of_hint(hints.get(key, Any), plain) for key in fields}
    optional = [k for k, x in fields.items() if x is not dataclasses.MISSING]
    if "call" not in known:
        known["call"], optional = _VALUE, [*optional, "call"]
    whole = _table(known, optional)
    return _either(whole, _table({SAME: _WHOLE}) if name in SHARED else None)


def _of_hint(hint: object, plain: bool) -> Record:
    """Schema of a value of an annotated type; of any value where that is open."""
    if not plain:
        return _VALUE
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        parts = [_of_hint(part, plain) for part in typing.get_args(hint)]
        return _VALUE if _VALUE in parts else {"anyOf": parts}
    if hint is type(None):
        return {"type": "null"}
    if hint is float:
        return {"anyOf": [{"type": "number"}, _object("float")]}
    if hint in _JSON:
        return {"type": _JSON[hint]}
    name = getattr(hint, "__name__", "")
    return _object(name) if name in DESCRIPTIONS else _VALUE


def _object(name: str) -> Record:
    return {**_VALUE, "properties": {TYPE: {"const": name}}, "type": "object"}
