"""Whoever asks for a name that was public elsewhere is told where it is."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from each import each

import flexarm
from flexarm._support.moved import MOVED


def at(path: str) -> Any:
    """What stands at a path of modules and attributes."""
    found: Any = flexarm
    for name in filter(None, path.split(".")):
        if not hasattr(found, name):
            import_module(f"{found.__name__}.{name}")
        found = getattr(found, name)
    return found


@each("old", sorted(MOVED))
def test_names_that_moved(old: str) -> None:
    room, _, name = old.rpartition(".")
    with pytest.raises(AttributeError) as caught:
        getattr(at(room), name)
    place, _, now = MOVED[old].rpartition(".")
    assert f"'flexarm{'.' * bool(room)}{room}' has no attribute '{name}'" in str(
        caught.value
    )
    assert str(caught.value).endswith(f" flexarm.{place}.{now}")
    found = getattr(at(place), now)
    assert getattr(found, "__name__", now).split(".")[-1] == now
    assert name not in getattr(at(room), "__all__", ())


def test_a_name_that_never_was_has_another_hint() -> None:
    with pytest.raises(AttributeError, match="did you mean 'lqr'"):
        _ = at("control").lqrr
