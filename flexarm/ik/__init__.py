"""Joint positions of target poses."""

import sys
from types import ModuleType

from ..errors import ArgumentError
from ._result import InverseKinematics
from ._solver import inverse_kinematics

__all__ = ["InverseKinematics", "inverse_kinematics"]


class _Room(ModuleType):
    """The module itself, called as the function is named elsewhere."""

    def __call__(self, *args: object, **options: object) -> None:
        raise ArgumentError(
            "flexarm.ik is a module, expected flexarm.inverse_kinematics(arm, target)"
        )


sys.modules[__name__].__class__ = _Room
