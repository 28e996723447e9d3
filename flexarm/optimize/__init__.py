"""Optimal motion: tracking, minimum time, optimal control, identification."""

from . import paths
from ._identification.base_parameters import identify_base_parameters
from ._identification.records import Record, simulated_record
from ._identification.result import Identification
from ._result import OptimalMotion, Verification
from ._transfer.design import Design
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
