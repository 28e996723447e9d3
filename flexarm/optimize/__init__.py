"""Optimal motion: tracking, minimum time, optimal control, identification."""

from typing import TYPE_CHECKING

from .._support.moved import missing_or_moved
from . import paths
from ._identification.base_parameters import identify_base_parameters
from ._identification.driver import identify
from ._identification.exciting import exciting_motion
from ._identification.records import Record
from ._identification.result import Identification
from ._identification.sensors import Sensor
from ._identification.simulated import predicted_signals, simulated_record
from ._minimum_time.driver import time_optimal
from ._minimum_time.trade_offs import TradeOff, trade_off
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
    "Identification",
    "Limits",
    "OptimalMotion",
    "Path",
    "Record",
    "Search",
    "Sensor",
    "Sphere",
    "TradeOff",
    "exciting_motion",
    "identify",
    "identify_base_parameters",
    "paths",
    "predicted_signals",
    "simulated_record",
    "time_optimal",
    "track",
    "trade_off",
    "trajectory",
]

if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(__name__, __all__)
