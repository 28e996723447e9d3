"""Names that were public elsewhere, and where they are now."""

from __future__ import annotations

from collections.abc import Callable, Collection

from .options import missing_from

# names by the module that had them and the one that has them
_PLACES = {
    ("", "Arm"): """
        apply_mass_matrix apply_mass_matrix_inverse energy_derivatives
        energy_regressor forward_dynamics_jvp forward_dynamics_vjp
        innovations_factors inverse_dynamics_jvp inverse_dynamics_vjp
        link_jacobian_rates mass_matrix_inverse_blocks operational_space_inertia
        position_rates static_compliance static_stiffness
        with_inertial_parameters
    """,
    ("", "bodies"): "nodal_integrals",
    ("", "derivatives"): """
        EnergyDerivatives ForwardDynamicsDerivatives ForwardDynamicsGradients
        InverseDynamicsDerivatives InverseDynamicsGradients
    """,
    ("", "dynamics"): "InnovationsFactors SpatialOperators",
    ("", "events"): "Event Occurrence",
    ("", "finite_elements.consistent"): "consistent_integrals",
    ("", "ik"): "InverseKinematics",
    ("", "linear_models"): "Robustness RootLocus",
    ("", "loads"): "LinkLoads",
    ("", "mode_accuracy"): "LinkModeErrors ModeErrors",
    ("", "mode_results"): "ComplexModes VibrationModes",
    ("", "model"): "free_motors motor_positions",
    ("", "parameters"): """
        BaseParameters InertialParameters ParameterDerivatives TrajectoryChange
        TrajectoryGradient TrajectorySensitivities parameter_derivatives
    """,
    ("", "reference"): "screws",
    ("", "stacks"): "ArmStack",
    ("", "statics"): "Equilibrium EquilibriumPath InverseStatics WorkspaceMap",
    ("beams", "beams._clamped"): "RodModes",
    ("beams", "beams._free"): "FreeBeamModes FreeRodModes PinnedBeamModes",
    ("beams", "beams._single"): "free_beam_modes free_rod_modes pinned_beam_modes",
    ("control", "control.Shaper"): """
        extra_insensitive zero_vibration zero_vibration_derivative
    """,
    ("control", "control._loops.spillover"): "Spillover",
    ("control", "control.composite"): "TimeScales fast_subsystem",
    ("control", "control.feedforward"): "DriveMotion",
    ("control", "control.gain_scheduling"): "GainSchedule",
    ("control", "control.inversion"): "InternalDynamics link_angles",
    ("control", "control.kalman"): """
        KalmanFilter KalmanUpdate kalman_predict kalman_update
    """,
    ("control", "control.linear_quadratic"): "StateFeedback",
    ("control", "reference.patent_loop"): """
        Comparison ComputedTorque ControlStep JointSensors ManipulatorController
        Sensed SimulatedPlant node_deformations
    """,
    ("descriptions", "descriptions._conversions"): """
        body_screws denavit_hartenberg joint_frames spatial_screws
    """,
    ("descriptions", "descriptions._joint_frames"): "JointFrames",
    ("descriptions", "descriptions._motion_subgroups"): """
        SUBGROUPS motion_subgroup
    """,
    ("descriptions", "descriptions.screws"): "BodyScrews JointTree",
    ("finite_elements", "finite_elements._component_modes"): "MeshModes",
    ("library", "reference.maneuvers"): "Maneuver cibicik_egeland_maneuver",
    ("library", "library.spatial"): "cibicik_egeland_order",
    ("library", "measured.quanser"): "quanser_two_link",
    ("optimize", "identification"): """
        Identification Record Sensor exciting_motion identify
        identify_base_parameters predicted_signals simulated_record
    """,
    ("optimize", "optimize._minimum_time.trade_offs"): "TradeOff",
    ("optimize", "optimize._result"): "Verification",
    ("optimize.paths", "optimize._follow"): "PathMotion",
    ("optimize.paths", "optimize._orientation"): "PathRotations",
    ("plotting", "plotting._animation"): "Animation",
    ("plotting", "plotting._drawing"): "ArmDrawing",
    ("plotting", "plotting._interact"): "Explorer",
    ("plotting", "plotting._scene"): "Scene",
    ("se3", "se3._adjoints"): """
        adjoint_inverse apply_adjoint apply_adjoint_inverse apply_coadjoint
        apply_coadjoint_inverse
        jacobian_derivative jacobian_inverse jacobian_inverse_derivative
    """,
    ("se3", "se3._poses"): "cayley cayley_inverse interpolate",
    ("se3", "se3._rotations"): "so3_cayley so3_cayley_inverse",
    ("twists", "twists._factors"): """
        Factorization SpatialFactors SystemJacobian spatial_factors
    """,
    ("twists", "kinematics.forms"): "FORMS",
    ("twists", "twists._rates"): "joint_rates",
    ("urdf", "urdf._findings"): "Finding",
    ("urdf", "urdf._robot"): "RobotJoint",
}
# by their full names, without that of the package
MOVED = {
    f"{old}.{name}".removeprefix("."): f"{new}.{name}"
    for (old, new), names in _PLACES.items()
    for name in names.split()
}


def moved(module: str, name: str) -> str:
    """Hint at the place of a name that a module had; empty if it never had it."""
    package, _, room = module.partition(".")
    place = MOVED.get(f"{room}.{name}".removeprefix("."))
    if place is None:
        return ""
    private = any(part.startswith("_") for part in place.split("."))
    words = "is private now, in" if private else "is now"
    return f"; it {words} {package}.{place}"


def missing_or_moved(
    module: str, names: Collection[str], otherwise: str = ""
) -> Callable[[str], object]:
    """Return ``__getattr__`` of a module, which tells where a name has gone.

    Of a name that never was, it hints at the one that was meant.
    """
    refuse = missing_from(module, names, otherwise)

    def missing(name: str) -> object:
        if hint := moved(module, name):
            raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}")
        return refuse(name)

    return missing
