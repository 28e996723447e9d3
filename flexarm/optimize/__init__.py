"""Optimal motion: tracking, minimum time, optimal control, identification."""

from . import paths
from ._design import Design
from ._result import OptimalMotion, Verification
from .paths import Path
from .time_optimal import time_optimal
from .track import track
from .trajectory import trajectory

__all__ = [
    "Design",
    "OptimalMotion",
    "Path",
    "Verification",
    "paths",
    "time_optimal",
    "track",
    "trajectory",
from ._identification import Identification
from ._records import Record, simulated_record
from ._result import OptimalMotion, Verification
from .base import identify_base_parameters
from .identify import identify

__all__ = [
    "Identification",
    "OptimalMotion",
    "Record",
    "Verification",
    "identify",
    "identify_base_parameters",
    "simulated_record",
]
