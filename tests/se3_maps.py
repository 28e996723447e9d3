"""The maps of se3 that the core has, and valid arguments of each."""

from __future__ import annotations

import re
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from flexarm import _core, se3
from flexarm._support.moved import MOVED

MAPS = sorted(n for n in dir(_core) if n.startswith("se3_"))


def public(name: str) -> Any:
    """Return the function of a map, with its side where it has one."""
    function = name.removeprefix("se3_")
    for side in ("left", "right"):
        if f"{side}_" in function:
            return partial(function_of(function.replace(f"{side}_", "")), side=side)
    return function_of(function)


def function_of(name: str) -> Any:
    """Return a function of se3 by its name, also one that is not public."""
    module, _, last = MOVED.get(f"se3.{name}", f"se3.{name}").rpartition(".")
    return getattr(import_module(f"flexarm.{module}"), last)


def cores(name: str) -> list[tuple[int, ...]]:
    parts = re.findall(r"\(([^)]*)\)", getattr(_core, name).signature)
    return [tuple(int(n) for n in part.split(",") if n) for part in parts]


def draw(name: str, n: int, seed: int = 0) -> list[Any]:
    """Valid arguments of a map, n states."""
    rng = np.random.default_rng(seed)
    X = 0.7 * rng.normal(size=(4, n, 6))
    made = []
    for i, core in enumerate(cores(name)[:-1]):
        if core == (4, 4):
            made.append(se3.hat(X[i]) if name.endswith("vee") else se3.exp(X[i]))
        elif core == (3, 3):
            skew = name.endswith("vee")
            made.append((se3.so3_hat if skew else se3.so3_exp)(X[i][:, :3]))
        else:
            made.append(rng.normal(size=(n, *core)))
    return made
