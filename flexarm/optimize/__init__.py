"""Optimal motion: tracking, minimum time, optimal control."""

from typing import TYPE_CHECKING

from .._support.moved import missing_or_moved
from . import paths
from ._minimum_time.driver import time_optimal
from ._minimum_time.trade_offs import trade_off
from ._path import Path
from ._result import OptimalMotion
from ._tracking.driver import track
from ._transfer.design import Design
from ._transfer.driver import trajectory
from .limits import Limits
from .obstacles import Capsule, HalfSpace, Sphere
from .search import Search

__all__ = [
    "Capsule",
    "Design",
    "HalfSpace",
    "Limits",
    "OptimalMotion",
    "Path",
    "Search",
    "Sphere",
    "paths",
    "time_optimal",
    "track",
    "trade_off",
    "trajectory",
]

if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(__name__, __all__)
