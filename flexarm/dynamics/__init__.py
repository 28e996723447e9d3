"""Forces, accelerations, mass matrix, energies and spatial operators."""

from .energies import dissipated_power, energy, kinetic_energy, potential_energy
from .equations import bias_forces, forward_dynamics, gravity_forces, inverse_dynamics
from .mass import (
    InnovationsFactors,
    apply_mass_matrix,
    apply_mass_matrix_inverse,
    innovations_factors,
    log_det_mass_matrix,
    mass_matrix,
    mass_matrix_inverse,
    mass_matrix_inverse_blocks,
)
from .operational_space import operational_space_compliance, operational_space_inertia
from .spatial_operators import SpatialOperators, operators

__all__ = [
    "InnovationsFactors",
    "SpatialOperators",
    "apply_mass_matrix",
    "apply_mass_matrix_inverse",
    "bias_forces",
    "dissipated_power",
    "energy",
    "forward_dynamics",
    "gravity_forces",
    "innovations_factors",
    "inverse_dynamics",
    "kinetic_energy",
    "log_det_mass_matrix",
    "mass_matrix",
    "mass_matrix_inverse",
    "mass_matrix_inverse_blocks",
    "operational_space_compliance",
    "operational_space_inertia",
    "operators",
    "potential_energy",
]
