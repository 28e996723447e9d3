"""What the package may cost who reads it: lines of code by room, and public names.

A change beyond these tables is a change of the tables, seen in review.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import public_api

PACKAGE = Path(__file__).parents[2] / "flexarm"
BESIDE = "beside the rooms"  # files that stand in no folder
# lines without those that are blank, comments and docstrings alone
LINES: dict[str, int] = {
    "_calls": 2085,
    "_support": 2067,
    "beams": 3101,
    BESIDE: 2349,
    "bodies": 4072,
    "constraints": 193,
    "control": 4971,
    "demo": 509,
    "derivatives": 191,
    "descriptions": 830,
    "dynamics": 890,
    "files": 1294,
    "finite_elements": 1140,
    "identification": 2948,
    "ik": 669,
    "interop": 623,
    "kinematics": 768,
    "library": 1339,
    "linear_models": 2780,
    "loads": 378,
    "measured": 1784,
    "mjcf": 276,
    "model": 1819,
    "optimize": 12_991,
    "parameters": 1802,
    "plotting": 3629,
    "reference": 5256,
    "sdf": 256,
    "se3": 240,
    "simulation": 2115,
    "statics": 2009,
    "studies": 2011,
    "twists": 393,
    "urdf": 2626,
}
MAX_LINES = 70_404  # of all rooms; the aim is 50_000
# annotations of parameters, results and variables that contain `Any`: fields that take
# a list and keep an array, options that are handed on, objects of other packages
MAX_ANY = 400


def code_lines(text: str) -> int:
    """Count the lines of a module that say something to the computer."""
    lines = map(str.strip, text.split("\n"))
    found = {n for n, line in enumerate(lines, 1) if line and line[0] != "#"}
    silent: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant | ast.JoinedStr):
            found |= {*range(node.lineno, (node.end_lineno or 0) + 1)}
        # a docstring, also one below a field
        text_alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if text_alone and isinstance(node.value.value, str):
            silent |= {*range(node.lineno, (node.end_lineno or 0) + 1)}
    return len(found - silent)


def lines_by_room(package: Path) -> dict[str, int]:
    """Lines of code of each folder of a package, and of the files beside them."""
    count: Counter[str] = Counter()
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.pyi")]):
        folder = path.relative_to(package).parts[:-1]
        room = folder[0] if folder else BESIDE
        count[room] += code_lines(path.read_text(encoding="utf-8"))
    return dict(count)


def annotations_of_any(text: str) -> int:
    """Count annotations of functions and variables that contain `Any`."""
    found: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            own = node.args
            every = [
                *own.posonlyargs,
                *own.args,
                *own.kwonlyargs,
                own.vararg,
                own.kwarg,
            ]
            found += [each.annotation for each in every if each is not None]
            found.append(node.returns)
        elif isinstance(node, ast.AnnAssign):
            found.append(node.annotation)
    return sum(
        any(isinstance(n, ast.Name) and n.id == "Any" for n in ast.walk(hint))
        for hint in found
        if hint is not None
    )


def too_long(lines: dict[str, int], budget: dict[str, int]) -> list[str]:
    """Say which rooms have more lines of code than a table gives them."""
    return [
        f"{room} has {count} lines of code, {count - budget.get(room, 0)} more than "
        f"the {budget.get(room, 0)} of LINES in tests/project/test_budget.py: make "
        "something shorter, or raise its number in the same commit if it is meant"
        for room, count in sorted(lines.items())
        if count > budget.get(room, 0)
    ]


def test_lines_of_code_stay_within_their_budget() -> None:
    lines = lines_by_room(PACKAGE)
    assert too_long(lines, LINES) == []
    assert set(LINES) == set(lines), "LINES has rooms that are none"
    assert sum(lines.values()) <= MAX_LINES


def test_any_stands_only_where_anything_is_meant() -> None:
    texts = [p.read_text(encoding="utf-8") for p in PACKAGE.rglob("*.py")]
    texts = [text for text in texts if "Any" in text]
    assert sum(map(annotations_of_any, texts)) <= MAX_ANY
    text = "x: Any = 0\ndef f(a: dict[str, Any], b: int, *c: Any) -> None: ...\n"
    assert annotations_of_any(text) == 3


def test_code_lines() -> None:
    text = '"""Module\n\nof three lines."""\n\n# why\nx = [\n    1,  # one\n\n]\n'
    text += 'class A:\n    """Docstring."""\n\n    b: int = 0\n    """Field."""\n'
    text += 'y = """\nnot a docstring\n"""\n'
    assert code_lines(text) == 3 + 2 + 3


def test_a_room_that_grows_is_named() -> None:
    (said,) = too_long({"a": 10, "b": 25, "c": 0}, {"a": 10, "b": 20})
    assert said.startswith("b has 25 lines of code, 5 more than the 20 of LINES")


# what `flexarm.__all__` and the modules among them name, by room; `reference` is for
# the course and the tests, and only its modules count
MAX_NAMES = 299  # of all rooms but the reference
MAX_NAMES_OF_FLEXARM = 120
NAMES: dict[str, str] = {
    "fa": """
        AccuracyWarning ArgumentError Arm ConstraintWarning ConvergenceError
        ConvergenceWarning CoulombFriction Coupling DCMotor DeflectionWarning Drive
        FlexarmError FlexibleBody Joint Loop ModalIntegrals ModeWarning
        ModelError NotFiniteError PlacementWarning RigidBody SimulationWarning
        SingularityError Slider StateSpace StiffeningWarning Stops StudyWarning
        Tendon Trajectory UnitsWarning base_parameters beams bias_forces build_info
        center_of_mass close_loops closed_loop complex_modes constraint_forces
        constraint_jacobian constraint_violation control deflection descriptions
        difference dissipated_power energy equilibrium equilibrium_path events export_c
        finite_elements forward_dynamics forward_dynamics_derivatives
        gravity_forces holding_forces identification inertial_parameters
        inertial_regressor inputs integrate interop inverse_dynamics
        inverse_dynamics_derivatives
        inverse_kinematics inverse_statics jacobian jacobian_derivatives
        joint_grid kinetic_energy largest_slope library linearize
        link_accelerations link_jacobians link_loads link_poses link_velocities
        load lock_motors log_det_mass_matrix mass_matrix mass_matrix_inverse
        mjcf modal_integrals mode_errors momentum natural_frequencies
        node_acceleration node_pose node_poses node_velocity
        operational_space_compliance operators optimize outputs plotting
        potential_energy redundant_constraints reference
        robustness root_locus save sdf se3 simulate stack studies testing
        tip_pose trajectory_sensitivities twists urdf vibration_modes
        workspace_map wrench_forces
    """,
    "beams": """
        ALUMINIUM Beam BeamModes Material Payload STEEL Section SegmentedLink
        buckling_load clamped_beam_modes clamped_rod_modes finite_element_link
        flexible_link
    """,
    "control": """
        AdaptiveControl CompositeControl DisturbanceObserver
        ExtendedKalmanFilter Inversion JointFeedback LinearController LoopRun
        Motion ObservedLaw PredictiveControl RestToRest SetPointPD Shaper
        StrainFeedback drive_feedforward energy_weight export_c
        kalman_filter lqg lqr
        quadratic_weights scheduled_lqr simulate_loop spillover
    """,
    "descriptions": """
        DenavitHartenberg SpatialScrews build_arm kinematic_arm
    """,
    "events": """
        Event at_rest joint_reaches node_reaches
    """,
    "finite_elements": """
        FiniteElementModel beam_mesh read_matrix_market
    """,
    "identification": """
        FrequencyResponse Identification Postures Record Sensor exciting_motion identify
        identify_base_parameters predicted_signals simulated_record
    """,
    "inputs": """
        node_force node_moment
    """,
    "interop": """
        FUNCTIONS casadi_function export_fmu jax_function
    """,
    "library": """
        canadarm cibicik_egeland crane de_luca_siciliano farid_planar farid_spatial
        farid_two_link iiwa14 mueller_remote_center panda pendulum
        planar_chain poses puma560 random_tree spin_up
        spin_up_beam ur5e youbot
    """,
    "mjcf": """
        MjcfWarning load
    """,
    "optimize": """
        Capsule Design HalfSpace Limits OptimalMotion Path Search Sphere paths
        time_optimal track trade_off trajectory
    """,
    "optimize.paths": """
        arc circle follow joint_path line spline time_law with_orientation
    """,
    "outputs": """
        accelerometer combination gyroscope modes node_acceleration
        node_angular_velocity node_position node_rotation node_velocity strain
        tip_angle
    """,
    "plotting": """
        animate arm bode deflections energies identification interact joints
        link_loads mode_shapes optimal_motion poles_zeros robustness root_locus
        scene snapshots step_response time_scaling tip tracking trade_off
        vibration workspace
    """,
    "reference": """
        de_luca_siciliano dual_screws farid_link farid_planar farid_spatial
        lagrangian maneuvers motors patent_loop screws tracking twin
    """,
    "sdf": """
        SdfWarning load
    """,
    "se3": """
        ad adjoint bracket compose exp hat inverse jacobian log nearest_rotation
        pose quaternion_exp quaternion_from_rotation quaternion_inverse
        quaternion_log quaternion_product rotation_from_quaternion screw
        screw_parameters so3_exp so3_hat so3_jacobian so3_jacobian_inverse
        so3_log so3_vee vee
    """,
    "studies": """
        sweep
    """,
    "testing": """
        assert_energy_balance assert_equation_of_motion
    """,
    "twists": """
        convert factors
    """,
    "urdf": """
        Report Robot UrdfWarning Visual load read report save
    """,
}


def names_by_room() -> dict[str, set[str]]:
    """Public names of each room, without those of the oracles."""
    return {
        room.removeprefix("flexarm.").replace("flexarm", "fa"): {
            *public_api.names_of(module)
        }
        for room, module in public_api.public_modules().items()
        if not room.startswith("flexarm.reference.")
    }


def changed_names(names: dict[str, set[str]], table: dict[str, set[str]]) -> list[str]:
    """Say which names of rooms a table lacks, and which are there no longer."""
    said = []
    for room in sorted({*names, *table}):
        new = sorted(names.get(room, set()) - table.get(room, set()))
        gone = sorted(table.get(room, set()) - names.get(room, set()))
        if new:
            said.append(
                f"{room} has the new public names {', '.join(new)}: make them private, "
                "or add them to NAMES in tests/project/test_budget.py in the same "
                "commit if a notebook, an example or a how-to uses them"
            )
        if gone:
            said.append(
                f"{room} lost the public names {', '.join(gone)}: take them off NAMES "
                "in tests/project/test_budget.py and say in CHANGELOG.md what to write "
                "instead"
            )
    return said


def test_names_that_come_and_go_are_told() -> None:
    came, gone = changed_names({"a": {"x", "y"}}, {"a": {"x", "z"}})
    assert came.startswith("a has the new public names y: make them private")
    assert gone.startswith("a lost the public names z: take them off NAMES")


def test_public_names_are_those_of_the_table() -> None:
    table = {room: set(names.split()) for room, names in NAMES.items()}
    names = names_by_room()
    assert changed_names(names, table) == []
    assert len(names["fa"]) <= MAX_NAMES_OF_FLEXARM
    assert sum(map(len, names.values())) - len(names["reference"]) <= MAX_NAMES
