"""Parameters of an arm from measured motion, and motions that show them."""

from typing import TYPE_CHECKING

from .._support.moved import missing_or_moved
from ._exciting import exciting_motion
from ._identify import identify, predicted_signals
from ._inverse_dynamics import identify_base_parameters
from ._postures import Postures
from ._records import Record, Sensor, simulated_record
from ._responses import FrequencyResponse
from ._result import Identification

__all__ = [
    "FrequencyResponse",
    "Identification",
    "Postures",
    "Record",
    "Sensor",
    "exciting_motion",
    "identify",
    "identify_base_parameters",
    "predicted_signals",
    "simulated_record",
]

if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(__name__, __all__)
