"""Joint positions of target poses."""

from ._result import InverseKinematics
from ._solver import inverse_kinematics

__all__ = ["InverseKinematics", "inverse_kinematics"]
