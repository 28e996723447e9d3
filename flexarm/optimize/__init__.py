"""Optimal motion: tracking, minimum time, optimal control, identification."""

from . import paths
from ._result import OptimalMotion, Verification
from .paths import Path
from .time_optimal import time_optimal
from .track import track

__all__ = ["OptimalMotion", "Path", "Verification", "paths", "time_optimal", "track"]
