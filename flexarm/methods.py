"""Functions of the package as methods of arms and stacks: the one list of them.

A type checker sees the functions.  A program has a `Later` in the place of each, which
loads the room of the function at its first use; `Arm` and `ArmStack` get them here,
from above, and know nothing of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._calls.arm_like import StackLike
from ._support.later import Later
from .arm import Arm

_FOR_TYPES = False  # not TYPE_CHECKING, after whose imports mypy does not wait
if _FOR_TYPES:
    from . import (
        constraints,
        derivatives,
        dynamics,
        kinematics,
        linear_models,
        mode_accuracy,
        parameters,
        refinement,
        statics,
        vibration,
    )
    from .model import export
if not TYPE_CHECKING:

    class _Room:
        """A module whose functions load at their first use."""

        def __init__(self, module: str) -> None:
            self._module = module

        def __getattr__(self, name: str) -> Later:
            return Later(__package__, self._module, name)

    constraints, derivatives = _Room("constraints"), _Room("derivatives")
    dynamics = _Room("dynamics")
    export, kinematics = _Room("model.export"), _Room("kinematics")
    linear_models, mode_accuracy = _Room("linear_models"), _Room("mode_accuracy")
    parameters, refinement = _Room("parameters"), _Room("refinement")
    statics, vibration = _Room("statics"), _Room("vibration")


class StackMethods:
    """Methods of arms and of stacks."""

    constraint_violation = constraints.constraint_violation
    constraint_jacobian = constraints.constraint_jacobian
    constraint_forces = constraints.constraint_forces
    inverse_dynamics_derivatives = derivatives.inverse_dynamics_derivatives
    forward_dynamics = dynamics.forward_dynamics
    inverse_dynamics = dynamics.inverse_dynamics
    mass_matrix = dynamics.mass_matrix
    mass_matrix_inverse = dynamics.mass_matrix_inverse
    apply_mass_matrix = dynamics.apply_mass_matrix
    apply_mass_matrix_inverse = dynamics.apply_mass_matrix_inverse
    log_det_mass_matrix = dynamics.log_det_mass_matrix
    innovations_factors = dynamics.innovations_factors
    mass_matrix_inverse_blocks = dynamics.mass_matrix_inverse_blocks
    bias_forces = dynamics.bias_forces
    gravity_forces = dynamics.gravity_forces
    kinetic_energy = dynamics.kinetic_energy
    potential_energy = dynamics.potential_energy
    energy = dynamics.energy
    dissipated_power = dynamics.dissipated_power
    operational_space_compliance = dynamics.operational_space_compliance
    operational_space_inertia = dynamics.operational_space_inertia
    wrench_forces = kinematics.wrench_forces
    link_poses = kinematics.link_poses
    node_poses = kinematics.node_poses
    node_pose = kinematics.node_pose
    tip_pose = kinematics.tip_pose
    jacobian = kinematics.jacobian
    node_velocity = kinematics.node_velocity
    link_velocities = kinematics.link_velocities
    link_accelerations = kinematics.link_accelerations
    link_jacobians = kinematics.link_jacobians
    link_jacobian_rates = kinematics.link_jacobian_rates
    integrate = kinematics.integrate
    difference = kinematics.difference
    position_rates = kinematics.position_rates
    node_acceleration = kinematics.node_acceleration
    largest_slope = kinematics.largest_slope
    momentum = kinematics.momentum
    center_of_mass = kinematics.center_of_mass
    linearize = linear_models.linearize
    equilibrium = statics.equilibrium
    deflection = statics.deflection
    holding_forces = statics.holding_forces
    static_compliance = statics.static_compliance
    static_stiffness = statics.static_stiffness
    natural_frequencies = vibration.natural_frequencies
    vibration_modes = vibration.vibration_modes
    complex_modes = vibration.complex_modes


class ArmMethods(StackMethods):
    """Methods of arms."""

    close_loops = constraints.close_loops
    forward_dynamics_derivatives = derivatives.forward_dynamics_derivatives
    inverse_dynamics_jvp = derivatives.inverse_dynamics_jvp
    inverse_dynamics_vjp = derivatives.inverse_dynamics_vjp
    forward_dynamics_jvp = derivatives.forward_dynamics_jvp
    forward_dynamics_vjp = derivatives.forward_dynamics_vjp
    jacobian_derivatives = derivatives.jacobian_derivatives
    energy_derivatives = derivatives.energy_derivatives
    operators = dynamics.operators
    mode_errors = mode_accuracy.mode_errors
    export_c = export.export_c
    inertial_parameters = parameters.inertial_parameters
    inertial_regressor = parameters.inertial_regressor
    energy_regressor = parameters.energy_regressor
    base_parameters = parameters.base_parameters
    with_inertial_parameters = parameters.with_inertial_parameters
    refined = refinement.refined


def _hand_over(taker: type, methods: type) -> None:
    """Give a class the methods of one of the lists above."""
    for base in methods.__mro__:
        for name, later in vars(base).items():
            if isinstance(later, Later):
                later.place_in(taker, name)


_hand_over(Arm, ArmMethods)
Later(__package__, "arm_sheet", "sheet").place_in(Arm, "_sheet")
_hand_over(StackLike, StackMethods)
