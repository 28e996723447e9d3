"""Derivatives of the dynamics: how forces and accelerations change with a state."""

from ._forward import ForwardDynamicsDerivatives, forward_dynamics_derivatives
from ._inverse import InverseDynamicsDerivatives, inverse_dynamics_derivatives
from ._products import (
    ForwardDynamicsGradients,
    InverseDynamicsGradients,
    forward_dynamics_jvp,
    forward_dynamics_vjp,
    inverse_dynamics_jvp,
    inverse_dynamics_vjp,
)

__all__ = [
    "ForwardDynamicsDerivatives",
    "ForwardDynamicsGradients",
    "InverseDynamicsDerivatives",
    "InverseDynamicsGradients",
    "forward_dynamics_derivatives",
    "forward_dynamics_jvp",
    "forward_dynamics_vjp",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_jvp",
    "inverse_dynamics_vjp",
]
