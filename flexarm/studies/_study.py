"""Identity of a study: digests of its parts, and the differences of two studies."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .._support.checks import short_text
from .._version import __version__
from ..errors import ArgumentError
from ._identity import Content, NoContent
from ._points import Points

LABELS = "a unit, an axis or coords"  # may change while a study is not done
MENDED = ("the function", "the arm")  # may change where points that failed are left
_PYTHON = "the version of Python"
_OUTPUTS = "the set of outputs"
_NAME = "the name of the function"
_SHOWN = (
    _PYTHON,
    _NAME,
    "the version of flexarm",
    "the key",
    "the seed",
)


@dataclass(frozen=True)
class Study:
    """Digests of all on which the results depend, by name and name of a detail."""

    parts: Mapping[str, Mapping[str, str]]
    labels: str

    @property
    def hash(self) -> str:
        """Digest of all parts; labels are not among them."""
        text = json.dumps(self.parts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def seed(self) -> int:
        """Seed of the draws."""
        return int(self.parts["the seed"][""])

    def record(self) -> str:
        """Text for a file."""
        found = {
            "hash": self.hash,
            "key": self.parts["the key"][""] or None,
            "version": self.parts["the version of flexarm"][""],
            "labels": self.labels,
            "parts": self.parts,
        }
        return json.dumps(found)

    def differences(self, other: Study) -> list[str]:
        """Names of what is different in another study."""
        if self.hash == other.hash and self.labels == other.labels:
            return []
        names = dict.fromkeys([*self.parts, *other.parts])
        found = [n for n in names if self.parts.get(n) != other.parts.get(n)]
        if _PYTHON in found:  # of which code depends, where there is code
            if all(x.parts[_PYTHON][""] for x in (self, other)):
                return [_PYTHON]
            found.remove(_PYTHON)
        return found or [LABELS]

    def words(self, other: Study, names: list[str]) -> str:
        """Differences as a text, without a name that follows from another one."""
        if {MENDED[0], _OUTPUTS} & set(names):
            names = [name for name in names if name != _NAME]
        shown = [self._with_details(other, name) for name in names[:4]]
        shown += [f"{len(names) - 4} more"] if len(names) > 4 else []
        values = [self._values(other, name) for name in names[:4] if name in _SHOWN]
        verb = "is" if len(shown) == 1 else "are"
        more = f" ({'; '.join(values)})" if values else ""
        return f"{' and '.join(shown)} {verb} different{more}"

    def _with_details(self, other: Study, name: str) -> str:
        was, now = self.parts.get(name, {}), other.parts.get(name, {})
        details = [d for d in sorted({*was, *now}) if was.get(d) != now.get(d)]
        return f"{name} ({', '.join(details[:4])})" if all(details) else name

    def _values(self, other: Study, name: str) -> str:
        both = (short_text(x.parts[name].get("", "")) for x in (self, other))
        return f"{' there, '.join(both)} here"


def study_in(record: str) -> Study:
    """Return the study of a text of `Study.record`; raise for a damaged one."""
    found = json.loads(record)
    study = Study(found["parts"], found["labels"])
    if study.hash != found["hash"]:
        raise ValueError("the hash is another one")
    return study


def study_of(
    function: object,
    arm: object,
    points: Points,
    labels: tuple[Iterable[str], object],
    options: tuple[int, object, str | None],
    name: str,
) -> Study:
    """Identify a study by content, equally for calls that continue it.

    `name` is that of the function where a result is named after it.
    """
    (outputs, coordinates), (seed, vectorized, key) = labels, options
    content = Content()

    def digests(what: str, thing: object, *, pieces: bool = False) -> dict[str, str]:
        try:
            if pieces:
                return content.pieces(thing)
            return {"": content.digest(thing)}
        except NoContent as error:
            if key is not None:
                return {"": "by its key"}
            raise ArgumentError(
                f"{what} depends on {error}, which has no content that a later call "
                "with this path could compare, expected key='...', a text of yours "
                "that is another one for each study"
            ) from None

    whole = vectorized if isinstance(vectorized, bool) else sorted(points.inner)
    parts = {
        _PYTHON: {"": ""},
        "the version of flexarm": {"": __version__},
        "the key": {"": key or ""},
        "the seed": {"": str(seed)},
        "the function": {} if key else digests("function", function, pieces=True),
        "the arm": digests("arm", arm, pieces=callable(arm)),
        _NAME: {"": name},
        _OUTPUTS: {"": repr(list(outputs))},
        "the order of axes": {"": repr([*points.sizes.items(), points.inner])},
        "the option vectorized": {"": repr(whole)},
    }
    for p in points.parameters:
        values = digests(f"grid[{p.name!r}]", p.values)
        parts[f"the parameter {p.name}"] = {**values, "unit": str(p.unit)}
        if p.labels is not None:
            labelled = digests(p.name, [str(x) for x in p.labels])
            parts[f"the parameter {p.name}"]["labels"] = labelled[""]
    if content.has_code:
        parts[_PYTHON] = {"": ".".join(platform.python_version_tuple()[:2])}
    words = digests("labels", [repr(outputs), coordinates])[""]
    return Study(parts, words)
