"""Derivatives of forces, accelerations, energies and Jacobians by the state."""

from ._energy import EnergyDerivatives, energy_derivatives
from ._forward import ForwardDynamicsDerivatives, forward_dynamics_derivatives
from ._inverse import InverseDynamicsDerivatives, inverse_dynamics_derivatives
from ._kinematics import jacobian_derivatives
from ._products import (
    ForwardDynamicsGradients,
    InverseDynamicsGradients,
    forward_dynamics_jvp,
    forward_dynamics_vjp,
    inverse_dynamics_jvp,
    inverse_dynamics_vjp,
)

__all__ = [
    "EnergyDerivatives",
    "ForwardDynamicsDerivatives",
    "ForwardDynamicsGradients",
    "InverseDynamicsDerivatives",
    "InverseDynamicsGradients",
    "energy_derivatives",
    "forward_dynamics_derivatives",
    "forward_dynamics_jvp",
    "forward_dynamics_vjp",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_jvp",
    "inverse_dynamics_vjp",
    "jacobian_derivatives",
]
