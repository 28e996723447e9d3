"""Optimal motion: tracking, minimum time, optimal control, identification."""

from ._base_parameters import identify_base_parameters
from ._identification import Identification
from ._records import Record, simulated_record
from ._result import OptimalMotion, Verification
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
