"""Whoever asks for a name that was public elsewhere is told where it is."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from each import each

from flexarm._support.moved import MOVED


def module_of(path: str) -> ModuleType:
    return import_module(f"flexarm.{path}".rstrip("."))


@each("old", sorted(MOVED))
def test_names_that_moved(old: str) -> None:
    room, _, name = old.rpartition(".")
    with pytest.raises(AttributeError) as caught:
        getattr(module_of(room), name)
    place, _, now = MOVED[old].rpartition(".")
    assert f"'flexarm{'.' * bool(room)}{room}' has no attribute '{name}'" in str(
        caught.value
    )
    assert str(caught.value).endswith(f" flexarm.{place}.{now}")
    found: Any = getattr(module_of(place), now)
    assert found.__name__.split(".")[-1] == now
    assert name not in getattr(module_of(room), "__all__", ())


def test_a_name_that_never_was_has_another_hint() -> None:
    with pytest.raises(AttributeError, match="did you mean 'lqr'"):
        _ = module_of("control").lqrr
