"""Optimal motion: tracking, minimum time, optimal control, identification."""

from . import paths
from ._design import Design
from ._identification import Identification
from ._records import Record, simulated_record
from ._result import OptimalMotion, Verification
from .base import identify_base_parameters
from .identify import identify
from .paths import Path
from .time_optimal import time_optimal
from .track import track
from .trade_off import TradeOff, trade_off
from .trajectory import trajectory

__all__ = [
    "Design",
    "Identification",
    "OptimalMotion",
    "Path",
    "Record",
    "TradeOff",
    "Verification",
    "identify",
    "identify_base_parameters",
    "paths",
    "simulated_record",
    "time_optimal",
    "track",
    "trade_off",
    "trajectory",
]
