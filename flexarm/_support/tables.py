"""Files of tables that people write: JSON, TOML and YAML, read within limits."""

from __future__ import annotations

import importlib
import json
import re
from typing import Any

from ..errors import ModelError
from .checks import short_text
from .optional import required

# Dots of a line at most: the reader of TOML is quadratic in the parts of a key.
MAX_DOTS = 100
# Brackets inside of brackets at most.
MAX_DEPTH = 200


def read_tables(content: bytes, kind: str, name: str) -> Any:
    """Return the tables of a file.

    Parameters
    ----------
    content : bytes
        Content of the file.
    kind : {"JSON", "TOML", "YAML"}
        Its language.
    name : str
        Name of the file, for messages.
    """
    try:
        text = content.decode("utf-8-sig")
        if kind == "JSON":
            return json.loads(text, object_pairs_hook=_unique_keys)
        return _read_yaml(text, name) if kind == "YAML" else _read_toml(text, name)
    except ModelError:
        raise
    except RecursionError:
        reason = "brackets inside of brackets"
    except ValueError as problem:  # of the text or of its encoding
        reason = " ".join(str(problem).split())[:100]
    raise ModelError(f"file {name} is not {kind} ({reason}), expected tables in UTF-8")


def _read_toml(text: str, name: str) -> object:
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


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Table of pairs; the reader of JSON takes the last one of a key given twice."""
    result: dict[str, object] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"key {short_text(key)} is given twice")
        result[key] = value
    return result


def _read_yaml(text: str, name: str) -> Any:
    """Read YAML with the words of JSON: 1e3 is a number, and "on" is a word.

    Only plain values: no tags, by which YAML can name types, no anchors, by which a
    short text can stand for an endless one.
    """
    yaml = required("yaml", f"the file {name}", package="pyyaml", extra="files")
    loader = None
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        return _yaml_document(yaml, loader)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None) or getattr(problem, "mark", None)
        where = f"line {mark.line + 1}: " if mark is not None else ""
        words = getattr(problem, "problem", None) or str(problem).split("\n")[0]
        raise ValueError(f"{where}{words}") from None
    finally:
        if loader is not None:
            loader.dispose()


def _yaml_document(yaml: Any, loader: Any) -> Any:
    """Value of the one document of a text, event by event."""
    for kind in (yaml.StreamStartEvent, yaml.DocumentStartEvent):
        if not isinstance(loader.get_event(), kind):
            raise ValueError("it is empty")
    value = _yaml_node(yaml, loader, loader.get_event(), 0)
    loader.get_event()  # the end of the document
    if not isinstance(loader.get_event(), yaml.StreamEndEvent):
        raise ValueError("it has several documents")
    return value


def _yaml_node(yaml: Any, loader: Any, event: Any, depth: int) -> object:
    line = f"line {event.start_mark.line + 1}"
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise ValueError(f"{line} has an anchor or an alias, expected the values")
    if getattr(event, "tag", None):
        raise ValueError(f"{line} has the tag {short_text(event.tag)}, expected none")
    if depth > MAX_DEPTH:
        raise ValueError(f"{line}: brackets inside of brackets")
    if isinstance(event, yaml.ScalarEvent):
        return _yaml_scalar(event.value) if event.implicit[0] else event.value
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(event := loader.get_event(), yaml.SequenceEndEvent):
            items.append(_yaml_node(yaml, loader, event, depth + 1))
        return items
    if not isinstance(event, yaml.MappingStartEvent):
        raise ValueError(f"{line} has no value")
    pairs = []
    while not isinstance(event := loader.get_event(), yaml.MappingEndEvent):
        if not isinstance(event, yaml.ScalarEvent):
            raise ValueError(f"{line} has a key that is not a word")
        key = event.value
        pairs.append((key, _yaml_node(yaml, loader, loader.get_event(), depth + 1)))
    return _unique_keys(pairs)


_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_WORDS: dict[str, object] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "false": False,
    ".inf": float("inf"),
    "-.inf": -float("inf"),
    ".nan": float("nan"),
}


def _yaml_scalar(text: str) -> object:
    """Value of a word without quotes."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if len(text) > 400 or not _NUMBER.fullmatch(text):
        return text
    return float(text) if set(text) & set(".eE") else int(text)
