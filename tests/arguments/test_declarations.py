"""What annotations declare is what docstrings say, and every one can be read."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from public_api import Member, members

import flexarm as fa
from flexarm._calls.declared import Choice, Flag, Floats, Kind, Number, OneOf, Whole
from flexarm._calls.doors import Door, by_name

ROOT = Path(fa.__file__).parent
MEMBERS = [m for m in members() if m.kind in ("function", "method")]


def door_of(member: Member) -> Door | None:
    """What a public function demands, if it is checked."""
    function = getattr(member.object, "__func__", member.object)
    if type(function) is type(fa.jacobian):  # in C, with the one of Python in it
        function = function.__wrapped__
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is None or not inspect.isfunction(function):
        return None
    return Door(wrapped) if function.__code__.co_name == "call" else None


DOORS = {m.name: (m, door) for m in MEMBERS if (door := door_of(m)) is not None}


def documented(member: Member) -> dict[str, str]:
    """Types of parameters as the docstring says them."""
    found = {}
    for entry in member.entries("Parameters", "Other Parameters"):
        kinds = re.split(r", (?=\((?:\.\.\.|\w))", entry.type)
        each = len(kinds) == len(entry.names) > 1
        for k, name in enumerate(entry.names):
            found[name] = kinds[k] if each else entry.type
    return found


def parts(kind: Kind | None) -> list[Kind]:
    """Alternatives of a kind."""
    if isinstance(kind, OneOf):
        return [part for each in kind.kinds for part in parts(each)]
    return [kind] if kind is not None else []


def differences(text: str, kind: Kind | None) -> list[str]:
    """What a docstring does not say of a declared kind."""
    words = set(re.findall(r"\w+", text))
    missing = []
    for part in parts(kind):
        if isinstance(part, Floats):
            said = ["float" if s == "()" else s for s in part.shapes]
            missing += [s for s in said if s not in text]
        elif isinstance(part, Choice):
            missing += [repr(c) for c in part.choices if str(c) not in text]
        elif isinstance(part, Number):
            missing += ["float"] * ("float" not in words)
        elif isinstance(part, Whole):
            missing += ["int"] * ("int" not in words)
        elif isinstance(part, Flag):
            missing += ["bool"] * ("bool" not in words)
    return missing


def test_docstrings_say_what_is_declared() -> None:
    assert len(DOORS) > 250  # functions and methods of most rooms
    wrong = [
        f"{name}({parameter}): {text!r} lacks {', '.join(lacking)}"
        for name, (member, door) in DOORS.items()
        for parameter, text in documented(member).items()
        if text and (lacking := differences(text, door.kinds.get(parameter)))
    ]
    assert not wrong, "\n".join(wrong)


def test_classes_that_are_known_by_name_are_imported_for_type_checkers() -> None:
    """A name that is nowhere would be taken for a class that has no objects."""
    wrong = []
    for name, (_, door) in DOORS.items():
        source = Path(inspect.getfile(inspect.unwrap(door.function))).read_text()
        for kind in door.kinds.values():
            for part in parts(kind):
                made = getattr(part, "made", None)
                imported = rf"^    .*\b{getattr(made, '__name__', '')}\b"
                if by_name(made) and not re.search(imported, source, re.M):
                    wrong.append(f"{name}: {made.__name__}")
    assert not wrong, "\n".join(wrong)


def test_a_declared_argument_is_refused_by_its_declaration() -> None:
    """Kinds, bounds and shapes in words."""
    arm: Any = fa.library.pendulum()
    zero = [0.0]
    with pytest.raises(fa.ArgumentError, match="rtol is -1, expected a positive"):
        fa.simulate(arm, zero, zero, [0, 1], rtol=-1)
    with pytest.raises(fa.ArgumentError, match=r"q has shape \(3,\), .* axis of 1"):
        fa.equilibrium(arm, [0.0] * 3)
