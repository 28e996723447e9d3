"""The maps of dual screws that the core has, and valid arguments of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexarm import _core
from flexarm.reference import screws

MAPS = sorted(n for n in dir(_core) if n.startswith("screws_"))


def draw(name: str, n: int) -> list[Any]:
    """Valid arguments of a map."""
    rng = np.random.default_rng(0)
    made = []
    for part in str(getattr(_core, name).signature).split("->")[0].split("),("):
        core = tuple(int(k) for k in part.strip("()").split(","))
        T = screws.exp(rng.normal(size=(n, 2, 6)))
        kinds = {(2, 4, 4): T, (2, 3, 3): np.ascontiguousarray(T[..., :3, :3])}
        made.append(kinds[core] if core in kinds else rng.normal(size=(n, *core)))
    return made
