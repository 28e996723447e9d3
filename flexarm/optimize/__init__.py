"""Optimal motion: tracking, minimum time, optimal control, identification."""

from . import paths
from ._design import Design
from ._result import OptimalMotion, Verification
from .paths import Path
from .time_optimal import time_optimal
from .track import track
from .trade_off import TradeOff, trade_off
from .trajectory import trajectory

__all__ = [
    "Design",
    "OptimalMotion",
    "Path",
    "TradeOff",
    "Verification",
    "paths",
    "time_optimal",
    "track",
    "trade_off",
    "trajectory",
]
