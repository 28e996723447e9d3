"""Functions of arms by their names."""

from __future__ import annotations

from typing import Any

import flexarm as fa
from flexarm._support.moved import MOVED


def function(name: str) -> Any:
    """Function of the package, or a method that arms alone have."""
    return getattr(fa.Arm if MOVED.get(name) == f"Arm.{name}" else fa, name)
