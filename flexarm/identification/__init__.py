"""Parameters of an arm from measured motion, and motions that show them."""

from typing import TYPE_CHECKING

from .._support.moved import missing_or_moved
from ._base_parameters import identify_base_parameters
from ._exciting import exciting_motion
from ._identify import identify
from ._records import Record
from ._result import Identification
from ._sensors import Sensor
from ._simulated import predicted_signals, simulated_record

__all__ = [
    "Identification",
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
