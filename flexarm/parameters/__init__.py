"""Parameters of an arm: regressor, base parameters, derivatives by parameters."""

from ._base import BaseParameters, base_parameters
from ._rebuilt import with_inertial_parameters
from ._regressor import (
    InertialParameters,
    energy_regressor,
    inertial_parameters,
    inertial_regressor,
)
from .directional import ParameterDerivatives, parameter_derivatives
from .trajectory_sensitivity import (
    TrajectoryChange,
    TrajectoryGradient,
    TrajectorySensitivities,
    trajectory_sensitivities,
)

__all__ = [
    "BaseParameters",
    "InertialParameters",
    "ParameterDerivatives",
    "TrajectoryChange",
    "TrajectoryGradient",
    "TrajectorySensitivities",
    "base_parameters",
    "energy_regressor",
    "inertial_parameters",
    "inertial_regressor",
    "parameter_derivatives",
    "trajectory_sensitivities",
    "with_inertial_parameters",
]
