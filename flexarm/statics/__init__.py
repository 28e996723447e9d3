"""Static equilibrium of arms: deflection, compliance, holding forces, inverse statics.

Functions of an arm and positions; leading axes broadcast.
"""

from ._deflection import (
    deflection,
    holding_forces,
    static_compliance,
    static_stiffness,
)
from ._equilibrium import Equilibrium, equilibrium
from ._inverse import InverseStatics, inverse_statics

__all__ = [
    "Equilibrium",
    "InverseStatics",
    "deflection",
    "equilibrium",
    "holding_forces",
    "inverse_statics",
    "static_compliance",
    "static_stiffness",
]
