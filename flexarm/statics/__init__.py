"""Static equilibrium of arms: deflection, compliance, holding forces, inverse statics.

Arms with loops raise `ArgumentError`.
"""

from ._deflection import deflection, holding_forces, static_compliance, static_stiffness
from ._equilibrium import Equilibrium, equilibrium
from ._inverse import InverseStatics, inverse_statics
from ._maps import WorkspaceMap, joint_grid, workspace_map
from .tendons import Tendon

__all__ = [
    "Equilibrium",
    "InverseStatics",
    "Tendon",
    "WorkspaceMap",
    "deflection",
    "equilibrium",
    "holding_forces",
    "inverse_statics",
    "joint_grid",
    "static_compliance",
    "static_stiffness",
    "workspace_map",
]
