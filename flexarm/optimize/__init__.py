"""Optimal motion: tracking, minimum time, optimal control, identification."""

from . import paths
from ._design import Design
from ._result import OptimalMotion, Verification
from .paths import Path
from .trajectory import trajectory

__all__ = [
    "Design",
    "OptimalMotion",
    "Path",
    "Verification",
    "paths",
    "trajectory",
]
