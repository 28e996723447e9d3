"""Functions of arms by their names."""

from __future__ import annotations

from typing import Any

import flexarm as fa


def function(name: str) -> Any:
    """Function of the package, or a method that arms alone have."""
    return getattr(fa, name, None) or getattr(fa.Arm, name)
