"""Static equilibrium of arms: deflection, compliance, holding forces, inverse statics.

Arms with loops raise `ArgumentError`.
"""

from ._deflection import deflection, holding_forces, static_compliance, static_stiffness
from ._equilibrium import Equilibrium, equilibrium
from ._inverse import InverseStatics, inverse_statics
from ._maps import WorkspaceMap, joint_grid, workspace_map
from ._path import EquilibriumPath, equilibrium_path
from .tendons import Tendon

__all__ = [
    "Equilibrium",
    "EquilibriumPath",
    "InverseStatics",
    "Tendon",
    "WorkspaceMap",
    "deflection",
    "equilibrium",
    "equilibrium_path",
    "holding_forces",
    "inverse_statics",
    "joint_grid",
    "static_compliance",
    "static_stiffness",
    "workspace_map",
]
