"""Optimal motion: tracking, minimum time, optimal control, identification."""

from . import paths
from ._result import OptimalMotion, Verification
from .paths import Path
from .track import track

__all__ = ["OptimalMotion", "Path", "Verification", "paths", "track"]
