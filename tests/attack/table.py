"""Which ordinary value each argument has, by its name and its function.

A rule is a function of a `Draw`.  `RULES` has them by the name of the argument, and
`OWN` by a part of the function's name, the longest part first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import flexarm as fa
from flexarm.control.gain_scheduling import GainSchedule
from flexarm.descriptions._conversions import body_screws, joint_frames, spatial_screws
from flexarm.descriptions._joint_frames import JointFrames
from flexarm.descriptions.screws import BodyScrews
from flexarm.kinematics.forms import FORMS
from flexarm.optimize import Design
from flexarm.plotting._skeleton import find_shapes
from flexarm.reference import patent_loop
from flexarm.simulation import Event

from . import ordinary as o
from .ordinary import Draw

Rule = Callable[[Draw], Any]


def const(value: Any) -> Rule:
    return lambda d: value


def one_of(*given: Any) -> Rule:
    return lambda d: d.choice(*given)


def normal(*shape: int, scale: float = 0.3) -> Rule:
    return lambda d: d.normal(*d.batch, *shape, scale=scale)


def between(low: float, high: float) -> Rule:
    return lambda d: float(d.rng.uniform(low, high))


def times(d: Draw) -> Any:
    return np.linspace(0.0, 0.02, int(d.rng.integers(2, 6)))


def wrench(d: Draw) -> Any:
    return d.normal(*d.batch, 6)


def square_or_line(n: Callable[[Draw], int]) -> Rule:
    return lambda d: d.choice(np.ones(n(d)), d.spd(n(d)))


def vector(d: Draw) -> Any:
    return d.normal(3)


def simple(d: Draw) -> Any:
    """A state arm for control: rigid or flexible, without loops."""
    return d.arm


def joint_goal(d: Draw) -> Any:
    return d.normal(d.nu)


def motion(d: Draw) -> Any:
    end = d.normal(d.nu)
    return fa.control.RestToRest(np.zeros(d.nu), end, duration=0.5)


def outputs(d: Draw) -> Any:
    return d.choice(
        None,
        ["joint positions"],
        "joint velocities",
        o.OUTPUTS,
        [fa.outputs.tip_position("xy")],
        [fa.outputs.node_velocity(None, "xyz"), "joint positions"],
    )


def two_ends(d: Draw) -> Any:
    return [[0.0] * d.nu, [0.3] * d.nu]


def path(d: Draw) -> Any:
    return fa.optimize.paths.joint_path(two_ends(d), kind="straight")


def cartesian(d: Draw) -> Any:
    return fa.optimize.paths.line([1.0, 0.2], [0.9, 0.4])


def lqr_law(d: Draw) -> Any:
    model = o.linear_model("planar")
    return fa.control.lqr(model, np.ones(model.n_states), np.ones(2), dt=0.01)


def predictive_law(d: Draw) -> Any:
    model = o.linear_model("planar")
    ones = np.ones(model.n_states), np.ones(2)
    made = fa.control.PredictiveControl(model, *ones, dt=0.01, force_limits=5.0)
    made(0.0, np.zeros(2), np.zeros(2))
    return made


def observer_of_model(d: Draw) -> Any:
    model = o.linear_model("planar")
    return fa.control.kalman_filter(model, np.eye(2), 1e-4 * np.eye(4), dt=0.01)


def filter_of(d: Draw) -> Any:
    return fa.control.ExtendedKalmanFilter(
        d.arm,
        "joint positions",
        np.ones(2 * d.nv),
        np.full(d.nu, 1e-4),
        0.01,
        d.arm.neutral,
        np.zeros(d.nv),
    )


def linear_law(d: Draw) -> Any:
    n = d.nu
    K = np.hstack([10.0 * np.eye(n), np.eye(n)])
    return fa.control.LinearController(
        np.zeros((0, 0)), np.zeros((0, 2 * n)), np.zeros((n, 0)), -K, 0.005
    )


def set_point(d: Draw) -> Any:
    return fa.control.SetPointPD(d.arm, 20.0, 5.0, np.zeros(d.nu))


def observer_of_disturbances(d: Draw) -> Any:
    made = fa.control.DisturbanceObserver(d.arm, 20.0, 0.01, law=set_point(d))
    made.update(d.arm.neutral, np.zeros(d.nv))
    return made


def controller_of(d: Draw) -> Any:
    return patent_loop.ManipulatorController(
        d.arm,
        motion(d),
        d.arm.neutral,
        np.zeros(d.nv),
        correction=patent_loop.ComputedTorque(),
        max_step=5e-3,
    )


def plant_of(d: Draw) -> Any:
    return patent_loop.SimulatedPlant(
        d.arm, d.arm.neutral, np.zeros(d.nv), max_step=5e-3
    )


def comparison(d: Draw) -> Any:
    return controller_of(d).step(0.0).comparison


def rigid_body(d: Draw) -> Any:
    return d.bodies[int(d.rng.integers(len(d.bodies)))]


def flexible_body(d: Draw) -> Any:
    return o.arm_of(d.choice(*o.FLEXIBLE)).bodies[0]


def bending(d: Draw) -> Any:
    return fa.beams.clamped_beam_modes(1.0, 2.0, 100.0, 2)


def rod_modes(d: Draw) -> Any:
    return fa.beams.clamped_rod_modes(1.0, 0.1, 50.0, 1)


def screws_of(d: Draw) -> Any:
    return [fa.se3.screw(), fa.se3.screw((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), 0.1)]


def poses_of(d: Draw) -> Any:
    return d.pose(2)


def description(d: Draw) -> Any:
    de = fa.descriptions
    return d.choice(
        BodyScrews(poses_of(d), screws_of(d)),
        de.SpatialScrews(poses_of(d), screws_of(d)),
        JointFrames(poses_of(d), poses_of(d), screws_of(d)),
        de.DenavitHartenberg([(1, 0, 0, 0), (1, 0.1, 0.2, 0)]),
    )


def new_file(d: Draw, name: str) -> Any:
    return o.folder() / name


MUJOCO = """<mujoco><worldbody><body name="a"><joint axis="0 1 0"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0.4 0 0"/></body></worldbody></mujoco>"""
MODEL = """<sdf version="1.7"><model name="two"><link name="base"/><link name="a">
<inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia>
</inertial></link><joint name="j" type="revolute"><parent>base</parent>
<child>a</child><axis><xyz>0 1 0</xyz></axis></joint></model></sdf>"""
ROBOT = """<robot name="two"><link name="base"/>
<link name="a"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
<joint name="k" type="prismatic"><parent link="a"/><child link="b"/>
<origin xyz="1 0 0" rpy="0 0.1 0"/><axis xyz="1 0 0"/><limit lower="-1" upper="1"/>
<dynamics damping="0.1" friction="0.2"/></joint></robot>"""


def torque(d: Draw) -> Any:
    n = d.nu
    return d.choice(
        None,
        np.zeros(n),
        lambda t, q, qd: np.zeros((*np.shape(q)[:-1], n)),
        fa.control.JointFeedback(np.ones(n), np.ones(n), np.zeros(n)),
    )


def grid(d: Draw) -> Any:
    names = [b.name for b in d.bodies if b.joint.n_dof == 1 and not b.joint.has_pose]
    return {name: [0.0, 0.2] for name in names[:2]} or {"x": [0.0]}


def events(d: Draw) -> Any:
    return d.choice(
        (),
        Event(lambda t, q, qd: q[..., 0] - 0.1),
        [fa.events.at_rest(d.arm, 1e-3)],
    )


# --- by the name of the argument --------------------------------------------

RULES: dict[str, Rule] = {
    "arm": lambda d: d.arm,
    "q": Draw.q,
    "q0": Draw.q,
    "q1": Draw.q,
    "qd": Draw.rates,
    "qd0": Draw.rates,
    "qdd": Draw.rates,
    "dq": Draw.rates,
    "dqd": Draw.rates,
    "dqdd": Draw.rates,
    "v": Draw.rates,
    "a": Draw.rates,
    "x": Draw.rates,
    "cotangent": Draw.rates,
    "tau": Draw.forces,
    "dtau": Draw.forces,
    "wrench": wrench,
    "node": Draw.node,
    "nodes": lambda d: d.choice(None, 0, [0], list(range(min(2, d.arm.n_nodes)))),
    "loaded": Draw.node,
    "body": Draw.body,
    "bodies": lambda d: d.choice(None, [d.bodies[0].name], d.bodies[0].name),
    "families": one_of(None, "inertia", ["joint"]),
    "frame": one_of("node", "base"),
    "wrench_frame": one_of("node", "base"),
    "form": one_of(*FORMS),
    "threads": one_of(1, 2),
    "held": one_of("joints", None, (), "motors"),
    "method": const("articulated"),
    "target": lambda d: d.single().pose(),
    "tolerance": const(1e-6),
    "max_iterations": one_of(3, 10),
    "max_steps": const(5),
    "seek": one_of("nearest", "stable"),
    "t": times,
    "torque": torque,
    "interpolation": one_of("linear", "hold"),
    "max_step": const(5e-3),
    "rtol": const(1e-6),
    "atol": const(1e-8),
    "events": events,
    "seed": one_of(0, 7),
    "rng": one_of(0, 3),
    "model": lambda d: d.model,
    "outputs": outputs,
    "inputs": lambda d: d.choice(None, ["actuators"], fa.inputs.actuators()),
    "settle": one_of(True, False),
    "length": between(0.5, 2.0),
    "mass": between(0.5, 2.0),
    "mass_per_length": between(0.5, 2.0),
    "bending_stiffness": between(10.0, 100.0),
    "torsional_stiffness": between(10.0, 100.0),
    "axial_stiffness": const(1e5),
    "polar_inertia_per_length": between(0.05, 0.2),
    "n_modes": one_of(1, 2),
    "normalization": one_of("mass", "tip"),
    "damping_ratio": const(0.01),
    "damping": const(0.0),
    "name": const("part"),
    "joint": lambda d: fa.Joint(d.choice("revolute", "prismatic")),
    "material": lambda d: o.material(),
    "width": const(0.04),
    "height": const(0.05),
    "diameter": const(0.05),
    "thickness": const(0.005),
    "phi": normal(3),
    "X": normal(6),
    "Y": normal(6),
    "U": normal(6),
    "W": normal(6),
    "C": lambda d: d.pose(),
    "C0": lambda d: d.pose(),
    "C1": lambda d: d.pose(),
    "A": lambda d: d.pose(),
    "B": lambda d: d.pose(),
    "R": lambda d: d.rotation(),
    "S": lambda d: fa.se3.hat(d.normal(*d.batch, 6)),
    "s": between(0.0, 1.0),
    "side": one_of("left", "right"),
    "rotation": lambda d: d.single().rotation(),
    "position": normal(3),
    "point": vector,
    "axis": one_of((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
    "pitch": const(0.1),
    "axes": one_of("xyz", "x", "zy"),
    "omega": lambda d: np.array([1.0, 2.0, 5.0]),
    "zeta": const(0.05),
    "dt": const(0.01),
    "desired": motion,
    "bandwidth": const(5.0),
    "correction": lambda d: d.choice(None, patent_loop.ComputedTorque()),
    "make_arm": const(o.swing),
    "p": lambda d: [2.0, 0.3],
    "p0": lambda d: [1.5, 0.2],
    "traj": lambda d: o.run_of(d.choice("pendulum", "flexible")),
    "trajectory": lambda d: o.run_of(d.choice("pendulum", "flexible")),
    "modes": lambda d: o.modes_of("flexible"),
    "mode": one_of(0, 1),
    "plane": one_of(None, "xy", "xz"),
    "scale": const(1.0),
    "ax": lambda d: d.choice(None, o.figure()),
    "labels": const(None),
    "columns": const(False),
    "V": normal(6),
    "poses": lambda d: d.pose(),
    "source": one_of(*FORMS),
    "path": path,
    "start": const(None),
    "limits": lambda d: {"torque": np.full(d.nu, 50.0)},
    "search": lambda d: {"intervals": 8, "max_iterations": 3, "time_limit": 1.0},
    "check": const(False),
    "duration": const(0.5),
    "measured": lambda d: o.record(),
    "options": None,  # type: ignore[dict-item]
    "progress": const(None),
}

N = 3  # states of the small model


def _model_states(d: Draw) -> int:
    return int(d.model.n_states)


def _model_inputs(d: Draw) -> int:
    return len(d.model.inputs)


def _model_outputs(d: Draw) -> int:
    return len(d.model.outputs)


# --- by function, where the name alone does not say it ----------------------

OWN: dict[str, dict[str, Rule]] = {
    # arms, bodies and joints
    "Arm": {
        "bodies": lambda d: list(o.arm_of(d.arm_name).bodies),
        "gravity": one_of((0.0, 0.0, -9.81), (0.0, -9.81, 0.0)),
        "constraints": lambda d: list(o.arm_of(d.arm_name).constraints),
        "stabilization": const(10.0),
        "fidelity": one_of("full", "ruthless"),
        "tip": lambda d: None,
        "check_units": one_of(True, False),
    },
    "Arm.inertial_parameters": {"bodies": RULES["bodies"]},
    "Arm.inertial_regressor": {"bodies": RULES["bodies"]},
    "Arm.energy_regressor": {"bodies": RULES["bodies"]},
    "Arm.base_parameters": {"bodies": RULES["bodies"]},
    "Arm.with_inertial_parameters": {"bodies": const(None), "families": const(None)},
    "Arm.node": {"node": one_of(0, "tip")},
    "Arm.with_": {"values": lambda d: d.arm.inertial_parameters().values},
    "ArmStack": {"arms": lambda d: list(o.stack_of("beams").arms)},
    "stack": {"arms": lambda d: list(o.stack_of("beams").arms)},
    "Coupling": {"coefficients": lambda d: {"link1": 1.0, "link2": -1.0}},
    "CoulombFriction": {"force": const(0.3), "smoothing_velocity": const(0.1)},
    "CoulombFriction.creep": {"force": const(0.1)},
    "DCMotor": {
        "resistance": const(2.6),
        "torque_constant": const(0.01),
        "rotor_inertia": const(1e-4),
        "gear_ratio": const(10.0),
        "back_emf_constant": one_of(None, 0.01),
        "current_limit": one_of(None, 3.0),
        "efficiency": const(0.9),
        "motor_damping": const(0.1),
        "motor_friction": const(fa.CoulombFriction(0.3, 0.1)),
        "stiffness": const(100.0),
        "damping": const(0.1),
    },
    "DCMotor.torque": {"volts": const(6.0), "rate": const(1.0)},
    "Drive": {
        "stiffness": const(100.0),
        "gear_ratio": const(10.0),
        "rotor_inertia": const(0.1),
        "rotor_transverse_inertia": const(0.1),
        "rotor_mass": const(0.1),
        "stator_mass": const(0.1),
        "stator_inertia": const((0.1, 0.1, 0.1)),
        "damping": const(0.1),
        "motor_damping": const(0.1),
        "motor_friction": const(fa.CoulombFriction(0.3, 0.1)),
        "locked": one_of(None, 0.2),
        "rotary": const(False),
    },
    "events.Event": {
        "function": const(lambda t, q, qd: q[..., 0]),
        "direction": one_of(-1, 0, 1),
        "terminal": one_of(True, False),
    },
    "FlexibleBody": {
        "joint": const(fa.Joint()),
        "node_position": const([[0.0, 0, 0], [1.0, 0, 0]]),
        "node_mass": const([1.0, 1.0]),
        "node_translation": const(np.array([[[0.0], [0], [0]], [[0], [1.0], [0]]])),
        "node_rotation": const(np.array([[[0.0], [0], [0]], [[0], [0], [1.0]]])),
        "stiffness": const([10.0]),
        "damping": const([0.1]),
        "node_com": const(np.zeros((2, 3))),
        "node_inertia": const(0.1 * np.array([np.eye(3)] * 2)),
        "node_names": const(("root", "tip")),
        "mode_names": const(("bend",)),
        "attachment": one_of(None, "root", 1),
        "node_foreshortening": const(None),
        "integrals": const(None),
        "beam": const(None),
    },
    "RigidBody": {
        "joint": const(fa.Joint()),
        "com": const((0.5, 0.0, 0.0)),
        "inertia": const((0.1, 0.3, 0.3)),
        "nodes": const({"tip": (1.0, 0.0, 0.0)}),
    },
    "Joint": {
        "kind": one_of("revolute", "prismatic", "helical", "spherical", "free"),
        "parent": one_of(None, "link1"),
        "node": one_of("tip", 0),
        "position": const((0.1, 0.0, 0.0)),
        "rotation": const(np.eye(3)),
        "damping": const(0.1),
        "pitch": const(0.0),
        "limits": one_of(None, (-1.0, 1.0)),
        "stiffness": const(0.0),
        "rest": const(0.0),
        "axis2": const(None),
        "subspace": const(None),
        "screw": const(None),
        "drive": const(None),
        "coulomb_friction": const(None),
        "stops": const(None),
    },
    "Joint.helical": {"pitch": const(0.01)},
    "Joint.subspace": {"subspace": const(np.eye(6)[:, :2])},
    "Joint.screw": {"screw": one_of((0, 0, 1, 0, -0.5, 0), np.eye(6)[:, 3:5])},
    "Loop": {
        "first": const(("link2", "tip")),
        "second": one_of("ground", ("link1", "tip")),
        "kind": one_of("spherical", "revolute"),
        "directions": const(None),
        "position2": const((0.1, 0.2, 0.0)),
        "rotation": const(np.eye(3)),
        "rotation2": const(np.eye(3)),
    },
    "Slider": {
        "point": one_of(("link2", "tip"), "ground"),
        "line": const("link1"),
        "ends": const(("base", "tip")),
        "directions": one_of("yz", "y"),
        "position": const((0.1, 0.2, 0.0)),
    },
    "Tendon": {"points": const([(None, [0, 1, 0]), (("link2", "tip"), [0, 0, 0])])},
    "Tendon.forces": {"tension": normal()},
    "ModalIntegrals.mass_matrix": {"eta": normal(1)},
    "ModalIntegrals.change_basis": {"W": lambda d: np.array([[2.0]])},
    "ModalIntegrals.check": {"who": const("body"), "mode_names": const(("a",))},
    "ModalIntegrals": {
        "m": const(2.0),
        "mp0": const((1.0, 0, 0)),
        "mp1": const(np.zeros((3, 1))),
        "E": const(np.ones((3, 1))),
        "F0": const(np.zeros((3, 1))),
        "F1": const(np.zeros((3, 1, 1))),
        "G": const(np.eye(1)),
        "J0": const(np.eye(3)),
        "J1s": const(np.zeros((1, 3, 3))),
        "J2s": const(np.zeros((1, 1, 3, 3))),
    },
    "ModalIntegrals.plus": {
        "other": lambda d: fa.modal_integrals(o.arm_of("beams").bodies[0])
    },
    "Stops": {
        "lower": const(-1.0),
        "upper": const(1.0),
        "stiffness": const(50.0),
        "damping": const(0.1),
    },
    "StateSpace": {
        "A": lambda d: d.normal(N, N) - 2.0 * np.eye(N),
        "B": lambda d: d.normal(N, 1),
        "C": lambda d: d.normal(2, N),
        "D": lambda d: np.zeros((2, 1)),
        "states": const(()),
        "inputs": const(("u",)),
        "outputs": const(("y1", "y2")),
        "dt": one_of(None, 0.1),
        "q": const(None),
        "qd": const(None),
        "tau": const(None),
        "y": const(None),
        "drift": const(None),
    },
    "StateSpace.select": {
        "inputs": lambda d: [0],
        "outputs": lambda d: [d.model.outputs[0]],
    },
    "StateSpace.response": {
        "t": const(np.linspace(0.0, 1.0, 5)),
        "u": lambda d: d.normal(5, _model_inputs(d)),
        "x0": lambda d: d.normal(_model_states(d)),
    },
    "StateSpace.step_response": {"t": const(np.linspace(0.0, 1.0, 5))},
    "StateSpace.impulse_response": {"t": const(np.linspace(0.0, 1.0, 5))},
    "StateSpace.discretize": {"delay": one_of(0.0, 0.005)},
    "StateSpace.modal_truncation": {"frequency": const(5.0)},
    "StateSpace.balanced_reduction": {"order": one_of(2, 4)},
    "StateSpace.series": {"second": lambda d: o.lags()},
    "StateSpace.feedback": {
        "controller": lambda d: np.ones((_model_inputs(d), _model_outputs(d))),
        "sign": one_of(-1.0, 1.0),
    },
    "StateSpace.to_control": {"name": const("plant")},
    "closed_loop": {
        "controller": lambda d: np.ones((_model_inputs(d), _model_outputs(d)))
    },
    "root_locus": {
        "values": lambda d: [0.0, 0.5, 1.0],
        "controller": lambda d: np.ones((_model_inputs(d), _model_outputs(d))),
    },
    "robustness": {
        "make": const(lambda m, d: o.swing((m, d))),
        "ranges": const({"m": [1.0, 2.0], "d": [0.1, 0.2]}),
        "q": const([0.1]),
        "controller": const([[5.0]]),
        "outputs": const(["joint positions"]),
    },
    "RootLocus": {},
    "Robustness.worst": {"quantity": one_of("damping", "decay")},
    "Robustness.least": {"quantity": one_of("damping", "decay")},
    "SpatialOperators.block": {
        "operator": one_of("M_m", "Phi", "Psi", "H"),
        "row": const(0),
        "column": const(0),
    },
    "SpatialOperators.in_arm_order": {
        "array": lambda d: np.eye(o.arm_of("flexible").nv),
        "axes": const((-2, -1)),
    },
    "SpatialOperators": {
        "body": lambda d: d.choice(0, "link1", "link2", 1),
        "nodes": lambda d: d.choice(None, 0, [0]),
    },
    "InertialParameters.index": {"name": const("rod.m")},
    "VibrationModes.displaced": {"amplitude": const(0.1)},
    "InverseKinematics": {},
    "inverse_kinematics": {
        "weights": const((1.0,) * 6),
        "restarts": const(2),
        "limits": one_of("joint", None),
        "wrench": const(None),
        "q0": lambda d: d.single().q(),
    },
    "inverse_statics": {"q0": lambda d: d.single().q(), "wrench": const(None)},
    "workspace_map": {"target": const(None)},
    "joint_grid": {"joints": grid, "q": const(None)},
    "lock_motors": {"q_motor": const(0.0), "bodies": const(None)},
    "modal_integrals": {"body": lambda d: d.choice(rigid_body(d), flexible_body(d))},
    "trajectory_sensitivities": {
        "arm": lambda d: o.swing((2.0, 0.3)),
        "q0": const([0.3]),
        "qd0": const([0.0]),
        "method": one_of("rk4", "newmark"),
        "torque": const(None),
        "scale": const(None),
    },
    "TrajectorySensitivities.forward": {
        "q0": const(0.1),
        "qd0": const(0.1),
        "torque": const(0.0),
        "p": lambda d: d.normal(2),
    },
    "TrajectorySensitivities.adjoint": {
        "q": lambda d: d.normal(11, 1),
        "qd": lambda d: d.normal(11, 1),
    },
    "simulate": {"method": one_of("rk4", "ROS34PW2", "DOP853", "newmark")},
    "Arm.close_loops": {"hold": const(()), "modes": one_of(True, False)},
    "close_loops": {"hold": const(()), "modes": one_of(True, False)},
    "Equilibrium.check": {"stable": one_of(True, False)},
    "equilibrium": {"tau": const(None)},
    "Arm.equilibrium": {"tau": const(None)},
    "linearize": {"tau": const(None), "wrench": const(None)},
    "Arm.linearize": {"tau": const(None), "wrench": const(None)},
    "save": {
        "thing": lambda d: d.choice(d.arm, o.run_of("flexible"), fa.Joint()),
        "path": lambda d: new_file(d, d.choice("a.json", "a.nc")),
    },
    "load": {"path": lambda d: o.kept_file(d.choice("json", "yaml", "nc"))},
    "export_c": {"file": lambda d: new_file(d, "arm.c"), "name": const("arm")},
    "Arm.export_c": {"file": lambda d: new_file(d, "arm.c"), "name": const("arm")},
    "LinkLoads": {"by_strain": one_of(True, False)},
    # beams and meshes
    "beams.": {
        "tip_mass": const(0.1),
        "tip_inertia": const(0.01),
        "tip_moment": const(0.01),
        "axial": const(10.0),
        "moment_y": const(1.0),
        "moment_z": const(1.0),
        "torsion": const(1.0),
        "flange": const(0.004),
        "web": const(0.004),
        "rotary_inertia": const((0.1, 0.05, 0.05)),
        "bending_stiffness": const(50.0),
    },
    "beams.Material": {
        "E": const(70e9),
        "density": const(2700.0),
        "G": const(None),
        "poisson": const(0.3),
        "name": const("aluminium"),
    },
    "beams.Payload": {
        "at": const(0.5),
        "com": const((0.1, 0.0, 0.0)),
        "inertia": const((0.1, 0.1, 0.1)),
    },
    "beams.Section": {
        "area": const(1e-3),
        "I_y": const(1e-6),
        "I_z": const(1e-6),
        "torsion_constant": const(1e-6),
        "rotary_inertia": const(None),
        "shear_areas": one_of(None, (1e-3, 5e-4)),
        "shear_centre": one_of((0.0, 0.0), (0.01, -0.02)),
        "coupling": const(None),
    },
    "beams.Section.from_matrix": {
        "stiffness": const(np.diag([1e6, 3.0, 4.0, 5.0]) + 0.5 * np.eye(4)[::-1])
    },
    "beams.Beam": {
        "section": lambda d: d.choice(o.section(), o.bare_section()),
        "length": const(1.0),
        "material": one_of("steel", None),
        "mass": one_of(None, 2.0),
        "points": const(None),
        "roll": const(0.0),
        "name": const("link"),
        "n": one_of(1, 2),
        "motions": one_of(("bending y", "torsion"), "bending z"),
        "modes": const("craig-bampton"),
        "n_modes": one_of(None, 2),
        "max_frequency": const(None),
        "frame": one_of("tangent", "chord"),
        "payloads": lambda d: [fa.beams.Payload(0.5, 1.0)],
        "outboard": const(()),
        "nodes": lambda d: {"middle": 0.5},
        "keep": const("tip"),
        "joint": lambda d: fa.Joint(),
    },
    "beams.Beam.segments": {"n_modes": const(None)},
    "beams.buckling_load": {
        "body": flexible_body,
        "node": const("tip"),
        "acceleration": const(0.0),
    },
    "beams.finite_element_link": {
        "sections": lambda d: o.section(),
        "length": const(1.0),
        "points": const(None),
        "n_elements": one_of(1, 2),
        "motions": one_of(("bending y", "torsion"), "bending z"),
        "frame": one_of("tangent", "chord"),
        "payloads": lambda d: [fa.beams.Payload(0.5, 1.0)],
        "outboard": const(()),
        "nodes": lambda d: {"middle": 0.5},
        "n_modes": one_of(None, 2),
        "max_frequency": const(None),
        "modes": const("craig-bampton"),
        "keep": const("tip"),
        "rotary_inertia": one_of(True, False),
        "shear": one_of(True, False),
        "roll": const(0.0),
        "segments": one_of(None, 2),
    },
    "beams.SegmentedLink": {
        "joint": lambda d: fa.Joint(),
        "pieces": lambda d: o.link_in_pieces().pieces,
        "node": one_of("tip", 0, 0.5),
    },
    "beams.flexible_link": {
        "bending_stiffness": const(None),
        "torsional_stiffness": const(None),
        "polar_inertia_per_length": const(None),
        "motions": const(None),
        "modes": const(None),
        "n_modes": const(None),
        "max_frequency": const(None),
        "outboard": const(()),
        "bending_y": bending,
        "bending_z": bending,
        "torsion": rod_modes,
        "modal_damping": const(0.0),
        "base_mass": const(0.1),
        "base_inertia": const(0.1),
        "tip_mass": const(0.0),
        "tip_com": const((0.0, 0.0, 0.0)),
        "tip_inertia": const(0.0),
        "section_inertia": const(None),
        "n_points": const(5),
        "length": const(1.0),
        "mass_per_length": const(2.0),
        "segments": one_of(None, 2),
    },
    "finite_elements.": {
        "node": one_of(0, 1),
        "attachment": const(0),
        "interfaces": const((3,)),
        "shapes": lambda d: o.mesh_modes().shapes,
        "origin": const(None),
        "nodes": const((0, 3)),
        "names": const(()),
        "position": const(None),
    },
    "finite_elements.FiniteElementModel": {
        "coordinates": lambda d: o.mesh().coordinates,
        "mass": lambda d: o.mesh().mass,
        "stiffness": lambda d: o.mesh().stiffness,
        "dofs_per_node": const(6),
        "node_names": const(()),
        "check_definite": one_of(True, False),
    },
    "finite_elements.beam_mesh": {
        "n_elements": const(2),
        "section_inertia": const((0.01, 0.005, 0.005)),
        "shear_stiffness": one_of(math.inf, (1e6, 2e6)),
    },
    "finite_elements.read_matrix_market": {
        "coordinates": lambda d: o.mesh().coordinates,
        "mass": lambda d: o.matrix_file("mass"),
        "stiffness": lambda d: o.matrix_file("stiffness"),
        "dofs_per_node": const(6),
        "node_names": const(()),
    },
    # control
    "control.": {
        "target": joint_goal,
        "Q": lambda d: d.choice(np.ones(_model_states(d)), np.eye(_model_states(d))),
        "R": lambda d: np.ones(_model_inputs(d)),
        "process": lambda d: np.eye(_model_inputs(d)),
        "measurement": lambda d: np.eye(_model_outputs(d)),
        "integrator": one_of("rk4", "ROS34PW2"),
        "q0": lambda d: d.single().q(),
        "qd0": lambda d: d.single().rates(),
    },
    "control.AdaptiveControl": {
        "gain": const(5.0),
        "bandwidth": const(5.0),
        "adaptation": const(1.0),
        "theta": const(None),
    },
    "control.AdaptiveControl.reset": {"q": const(None), "qd": const(None)},
    "control.AdaptiveControl.__call__": {"t": const(0.1)},
    "control.RestToRest.__call__": {"t": const(0.1)},
    "reference.patent_loop.SimulatedPlant.__call__": {
        "t": const(0.0),
        "command": const(None),
    },
    "reference.patent_loop.ComputedTorque.__call__": {"step": comparison},
    "control.ObservedLaw.__call__": {"t": const(0.0), "y": lambda d: d.normal(d.nu)},
    "reference.patent_loop.Comparison.predict": {"tau": lambda d: np.zeros(2)},
    "control.CompositeControl": {
        "desired": joint_goal,
        "fast_damping": const(0.0),
        "fast_gains": const(None),
        "slow_coordinates": const("rigid"),
        "damping_ratio": const(1.0),
    },
    "reference.patent_loop.ComputedTorque": {
        "damping_ratio": const(1.0),
        "deformation_stiffness": const(0.0),
        "deformation_damping": const(0.0),
    },
    "control.spillover": {"law": lqr_law, "arm": lambda d: o.arm_of("planar")},
    "control.DisturbanceObserver": {"gain": const(20.0), "law": const(None)},
    "control.DisturbanceObserver.__call__": {"t": const(0.1)},
    "control.DisturbanceObserver.payload": {"node": const(None)},
    "control.DisturbanceObserver.reset": {"q": const(None), "qd": const(None)},
    "control.PredictiveControl": {
        "horizon": const(5),
        "hold": const(1),
        "force_limits": one_of(None, 5.0),
        "rate_limits": const(None),
        "output_limits": const(None),
        "terminal": const(None),
        "offset_free": const(0.0),
        "observer": const(None),
        "u0": const(None),
        "max_steps": const(100),
    },
    "control.PredictiveControl.__call__": {
        "t": const(0.1),
        "q": lambda d: d.normal(2),
        "qd": lambda d: d.normal(2),
    },
    "control.PredictiveControl.reset": {"q": const(None), "qd": const(None)},
    "control.export_c": {
        "law": lqr_law,
        "file": lambda d: new_file(d, "law.h"),
        "name": const("law"),
        "arm": const(None),
        "width": const(1),
    },
    "control.ExtendedKalmanFilter": {
        "outputs": one_of("joint positions", ["joint positions"]),
        "process": lambda d: np.ones(2 * d.nv),
        "measurement": lambda d: np.full(d.nu, 1e-4),
        "y": lambda d: d.normal(d.nu),
        "covariance": const(None),
        "tau": lambda d: d.normal(d.nu),
    },
    "control.GainSchedule": {
        "arm": lambda d: o.arm_of("pendulum"),
        "axes": const({"rod": [0.0, 1.0]}),
        "K": const(np.array([[[40.0, 4.0]], [[60.0, 8.0]]])),
        "target": const([0.0]),
        "q": lambda d: d.rng.random((*d.batch, 1)),
        "qd": lambda d: d.normal(*d.batch, 1),
    },
    "control.Inversion": {
        "desired": joint_goal,
        "outputs": const("joints"),
        "postures": const(None),
        "damping_ratio": const(1.0),
        "dt": one_of(None, 1e-3),
    },
    "control.JointFeedback": {
        "kp": lambda d: np.ones(2),
        "kd": lambda d: np.ones(2),
        "reference": lambda d: np.zeros(2),
        "reference_rates": lambda d: np.zeros(2),
        "feedforward": lambda d: np.zeros(2),
        "coupled": const(False),
        "arm": lambda d: o.arm_of("planar"),
        "n": const(5),
    },
    "reference.patent_loop.JointSensors": {
        "resolution": const(1e-4),
        "rate_resolution": const(1e-3),
        "noise": const(1e-5),
        "rate_noise": const(1e-5),
        "delay": one_of(0, 1),
        "random": lambda d: np.random.default_rng(1),
    },
    "control.KalmanFilter.estimate": {
        "u": lambda d: d.normal(5, 2),
        "y": lambda d: d.normal(5, 4),
        "x0": const(None),
    },
    "control.LinearController": {
        "A": lambda d: -np.eye(2),
        "B": lambda d: d.normal(2, 4),
        "C": lambda d: d.normal(2, 2),
        "D": lambda d: d.normal(2, 4),
        "sensors": const(("joint positions", "joint velocities")),
        "reference": const(None),
        "feedforward": const(None),
        "anti_windup": const(None),
        "x0": const(None),
    },
    "control.LinearController.state_feedback": {
        "K": lambda d: d.normal(2, 4),
        "q": const([0.0, 0.0]),
        "qd": const(None),
        "tau": const(None),
        "sensors": const("state"),
    },
    "control.LinearController.output": {
        "z": const(np.zeros(0)),
        "error": lambda d: np.zeros(2 * d.nu),
        "feedforward": const(0.0),
    },
    "control.LinearController.next_state": {
        "z": const(np.zeros(0)),
        "error": lambda d: np.zeros(2 * d.nu),
        "unfollowed": const(None),
    },
    "reference.patent_loop.ManipulatorController": {
        "specified": const(None),
        "convert": const(None),
        "servo": const(None),
        "store": one_of(True, False),
        "integrator": const("rk4"),
        "max_step": const(5e-3),
    },
    "reference.patent_loop.ManipulatorController.step": {
        "t": const(0.0),
        "sensed": lambda d: (d.arm.neutral, np.zeros(d.nv)),
        "span": const(0.01),
    },
    "reference.patent_loop.ManipulatorController.run": {
        "plant": plant_of,
        "sensors": const(None),
    },
    "control.ObservedLaw": {"law": set_point, "observer": filter_of},
    "control.ObservedLaw.reset": {"q": const(None), "qd": const(None)},
    "control.RestToRest": {
        "start": const([0.0, 0.0]),
        "end": const([1.0, 0.5]),
        "begin": const(0.0),
        "degree": one_of(5, 9),
    },
    "control.RestToRest.derivatives": {"t": const(0.1)},
    "control.SetPointPD": {
        "rotor_inertia": const(None),
        "kp": const(20.0),
        "kd": const(5.0),
        "compensation": one_of("set point", "none"),
    },
    "control.Shaper": {
        "times": const([0.0, 0.5]),
        "amplitudes": const([0.5, 0.5]),
        "t": const(np.linspace(0.0, 2.0, 5)),
        "command": lambda d: d.normal(5),
        "before": const(0.0),
    },
    "reference.patent_loop.SimulatedPlant": {
        "sensors": lambda d: d.choice(None, patent_loop.JointSensors(noise=1e-4)),
        "servo": const(None),
    },
    "control.StrainFeedback": {
        "target": joint_goal,
        "servo": const(50.0),
        "bandwidth": const(2.0),
        "gain": const(1.0),
        "gauges": const(None),
    },
    "control.drive_feedforward": {
        name: lambda d: d.normal(*d.batch, d.nu)
        for name in ("q", "qd", "qdd", "jerk", "snap")
    },
    "control.energy_weight": {
        "joint_stiffness": const(1.0),
        "fast": one_of(True, False),
    },
    "control.Shaper.extra_insensitive": {"omega": const(6.0), "tolerance": const(0.05)},
    "control.Shaper.zero_vibration": {"omega": const(6.0)},
    "control.Shaper.zero_vibration_derivative": {"omega": const(6.0)},
    "control.lqg": {
        "regulator": lqr_law,
        "observer": observer_of_model,
        "sensors": const(None),
    },
    "control.lqr": {"arm": const(None), "dt": one_of(None, 0.01)},
    "control.kalman_filter": {"dt": one_of(None, 0.01)},
    "control.quadratic_weights": {
        "states": lambda d: {d.model.states[0]: 0.1},
        "outputs": lambda d: {d.model.outputs[0]: 0.1},
        "inputs": const(2.0),
    },
    "control.scheduled_lqr": {
        "arm": lambda d: o.arm_of("flexible"),
        "joints": const({"link2": [-0.5, 0.5]}),
        "Q": const(np.ones(12)),
        "R": const(np.ones(2)),
        "target": const([0.0, 0.3]),
        "dt": const(None),
    },
    "control.simulate_loop": {
        "law": lambda d: d.choice(set_point, linear_law)(d),
        "sample_time": const(0.005),
        "delay": const(0.0),
        "saturation": one_of(None, 10.0),
        "noise": one_of(None, 1e-4),
        "quantization": one_of(None, 1e-4),
        "command_resolution": one_of(None, 1e-3),
        "sensors": const(None),
        "u0": const(None),
        "method": const("rk4"),
        "seed": const(1),
    },
    # descriptions
    "descriptions.": {
        "references": poses_of,
        "screws": screws_of,
        "parents": one_of(None, (-1, 0)),
        "rows": const([(1, 0, 0, 0), (1, 0.1, 0.2, 0)]),
        "convention": one_of("standard", "modified"),
        "base": const(None),
        "frames": const(None),
        "kinds": const(("revolute", "prismatic")),
        "parent_frames": poses_of,
        "body_frames": poses_of,
        "offsets": const(None),
        "pitches": const(None),
        "q": lambda d: d.normal(*d.batch, 2),
        "q0": lambda d: d.normal(2),
        "given": description,
        "description": description,
        "arm": lambda d: o.arm_of("puma560"),
        "bodies": lambda d: list(o.arm_of("planar").bodies),
        "pitch": const(0.0),
    },
    "events.": {
        "speed": const(0.1),
        "joint": const(0),
        "value": const(0.1),
        "direction": one_of(-1, 0, 1),
        "target": const((1.0, 0.0, 0.0)),
        "distance": const(0.1),
        "terminal": one_of(True, False),
    },
    "interop.export_fmu": {
        "file": lambda d: new_file(d, "arm.fmu"),
        "name": const("arm"),
        "q0": const(None),
        "qd0": const(None),
        "outputs": const(()),
        "method": const("Rodas4P"),
        "max_step": const(0.01),
    },
    "interop.": {"name": one_of("forward_dynamics", "gravity_forces")},
    "library.": {
        "n_modes": one_of(1, 2),
        "bending": one_of("clamped-mass", "clamped"),
        "geometric_stiffening": one_of(True, False),
        "fidelity": one_of("full", "ruthless"),
        "n": one_of(1, 2),
        "payload_mass": const(0.1),
        "payload_inertia": const(0.001),
        "n_links": one_of(1, 2),
        "bending_stiffness": const(1000.0),
        "torsional_stiffness": const(1000.0),
        "joint_stiffness": one_of(1000.0, None),
        "elements": one_of(0, 1),
        "frame": one_of("chord", "tangent"),
        "rotor_inertia": const(0.2),
        "stator_inertia": const(0.2),
        "mass": const(1.0),
        "com": const(0.5),
        "inertia": const(0.1),
        "length": const(1.0),
        "gravity": const((0.0, -9.81, 0.0)),
        "t": const([0.0, 1.0, 2.0]),
        "damping": one_of(True, False),
    },
    "reference.maneuvers.cibicik_egeland_maneuver": {
        "arm": lambda d: o.cibicik(),
        "n": const(13),
    },
    "library.poses": {"arm": lambda d: o.arm_of("elastic")},
    "library.planar_chain": {"damping": const(0.1), "segments": one_of(None, 2)},
    "library.pendulum": {"damping": const(0.1)},
    "library.cibicik_egeland": {"damping": const(0.1)},
    "library.farid_planar": {"damping": const(0.1)},
    "library.farid_spatial": {"frame": const("tangent")},
    "library.mueller_remote_center": {
        "d": const((0.4, 0.3, 0.7, 1.1)),
        "h4": const(0.15),
        "x": const((0.2, 0.05, 0.5, 0.8, 1.0)),
        "z": const((0.1, -0.02, 0.03, 0.25, 0.06)),
    },
    "library.random_tree": {
        "n_bodies": one_of(1, 3),
        "max_modes": one_of(0, 2),
        "n_nodes": const(3),
        "branches": one_of(1, 2),
        "gravity": one_of(True, False),
        "joints": const(("revolute", "prismatic", "free")),
        "attachments": one_of(0.0, 0.5),
        "foreshortening": const(0.5),
    },
    # optimization
    "optimize.": {
        "arm": lambda d: o.arm_of("planar"),
        "outputs": const("joint positions"),
        "noise": const(1e-3),
        "run": lambda d: o.run_of("pendulum"),
        "interpolation": one_of("linear", "hold"),
        "path": const(
            fa.optimize.paths.joint_path([[0, 0], [0.3, 0.2]], kind="straight")
        ),
        "limits": const({"torque": [50.0, 30.0]}),
        "search": const({"intervals": 4, "max_iterations": 2, "time_limit": 1.0}),
    },
    "optimize.Design": {
        "make_arm": const(o.swing),
        "first": const([2.0, 0.3]),
        "lower": const([1.0, 0.1]),
        "upper": const([3.0, 0.5]),
        "cost": const(None),
    },
    "identification.Postures": {
        "y": const([[0.1, 0.2], [0.3, 0.4]]),
        "q0": const(None),
        "loads": const({"frame": "base"}),
    },
    "identification.Record": {
        "t": const([0.0, 0.1, 0.2]),
        "y": const([1.0, 1.1, 1.2]),
        "tau": const([0.0, 0.0, 0.0]),
        "q0": const([0.0]),
        "qd0": const([0.0]),
        "prescribed": const({"rod": [0.0, 0.1, 0.2]}),
        "part": const(0.5),
    },
    "identification.FrequencyResponse": {
        "frequencies": const([1.0, 2.0, 3.0]),
        "response": const([1.0 + 0.1j, 2.0, 0.5]),
        "coherence": const([0.9, 0.95, 0.9]),
        "averages": const(10.0),
        "inputs": const("actuators"),
        "q0": const([0.0]),
    },
    "identification.Sensor": {
        "output": const("joints"),
        "gain": const(2.0),
        "offset": const(0.1),
        "low_pass": const(10.0),
        "damping": const(0.7),
        "delay": const(0.01),
        "start": const([0.0, 0.1]),
    },
    "identification.predicted_signals": {
        "arm": lambda d: o.swing((2.0, 0.3)),
        "outputs": const("joints"),
        "integrator": const("rk4"),
        "max_step": const(None),
    },
    "optimize.Limits": {
        "torque": const([50.0, 30.0]),
        "torque_rate": const(100.0),
        "velocity": const(2.0),
        "acceleration": const(20.0),
        "tip_speed": const(2.0),
        "outputs": const({"modes": 0.1}),
        "obstacles": lambda d: [fa.optimize.Sphere((5.0, 5.0), 0.1)],
        "self_collision": const(True),
        "clearance": const(0.02),
        "link_radius": const(0.05),
    },
    "optimize.HalfSpace": {"point": const([0, 0, -1]), "normal": const([0, 0, 1])},
    "optimize.Sphere": {"center": const([5.0, 5.0, 0.0]), "radius": const(0.1)},
    "optimize.Capsule": {
        "start": const([5.0, 0.0, 0.0]),
        "end": const([5.0, 1.0, 0.0]),
        "radius": const(0.1),
    },
    "optimize.Search": {
        "intervals": const(5),
        "steps": const(2),
        "scheme": const("gauss"),
        "points": const(2),
        "pre_actuation": const(0.1),
        "post_actuation": const(0.1),
        "solver": const("scipy"),
        "time_limit": const(1.0),
    },
    "identification.Identification.interval": {"level": const(0.9)},
    "optimize.OptimalMotion.torque": {
        "t": const(0.1),
        "q": const(None),
        "qd": const(None),
    },
    "identification.identify": {
        "search": const({"max_iterations": 2}),
        "names": const(("m", "d")),
        "bounds": const([(0.1, 10.0), (0.0, 5.0)]),
        "sigma": const(1e-3),
        "method": one_of("output error", "equation error"),
        "estimate_state": one_of(True, False),
        "stages": const((1.0,)),
        "scale": const(None),
        "integrator": const("rk4"),
        "max_step": const(None),
    },
    "identification.exciting_motion": {
        "t": const([0.01 * i for i in range(41)]),
        "sigma": const(1e-3),
        "limits": const({"torque": 3.0}),
        "harmonics": const([1, 2]),
        "criterion": one_of("determinant", "condition"),
        "scale": const(None),
        "search": const({"max_iterations": 2}),
    },
    "identification.identify_base_parameters": {
        "arm": lambda d: o.swing((2.0, 0.3)),
        "families": const(("inertia", "joint")),
        "bodies": const(None),
    },
    "optimize.time_optimal": {"rates": const(None), "rest_speed": const(None)},
    "optimize.Path.orientation": {"s": const(0.5)},
    "optimize.track": {
        "method": one_of("least squares", "collocation"),
        "law": const("cycloidal"),
        "axes": const(None),
        "path": cartesian,
        "search": const({"intervals": 4}),
        "start": const([0.0, 1.5]),
    },
    "optimize.trade_off": {
        "tip_tolerances": const([0.1, 0.2]),
        "limits": lambda d: {"torque": np.full(d.nu, 50.0)},
    },
    "optimize.trajectory": {
        "start": const([0.0, 0.0]),
        "end": const([0.3, 0.2]),
        "cost": one_of(None, "torque"),
        "payload": const(None),
        "losses": const(None),
        "search": const({"intervals": 4, "max_iterations": 2, "solver": "scipy"}),
    },
    "optimize.paths.": {
        "start": const([1.0, 0.0]),
        "end": const([0.0, 1.0]),
        "via": const([0.7, 0.7]),
        "center": const([0.0, 0.0]),
        "angle": const(1.0),
        "points": const([[1.0, 0.0], [1.2, 0.3], [1.0, 0.6], [0.8, 0.3]]),
        "parameters": const(None),
        "kind": one_of("spline", "straight"),
        "path": const(fa.optimize.paths.line([1.0, 0.2], [0.9, 0.4])),
        "s": const([0.0, 0.5, 1.0]),
        "start_q": const(None),
    },
    "optimize.paths.follow": {"start": const([0.0, 1.5])},
    "optimize.paths.with_orientation": {
        "orientation": const([0.0, 0.0, 1.0]),
        "axis": const("z"),
    },
    "optimize.paths.time_law": {
        "kind": one_of("cycloidal", "quintic"),
        "t": const([0.0, 0.1, 0.5]),
    },
    "optimize.Path": {"s": const([0.0, 0.5])},
    "outputs.": {
        "node": lambda d: d.choice(None, 0, ("link1", "tip")),
        "body": const("link1"),
        "at": const(0.1),
        "bending": one_of("y", "z"),
        "distance": one_of(None, 0.01),
        "name": const("mixed"),
        "positions": const([1.0, 0.0]),
        "velocities": const(None),
        "accelerations": const(None),
        "names": const(lambda arm: ("a",)),
        "tangent": const(lambda point: None),
    },
    "inputs.": {
        "node": lambda d: d.choice(None, 0, ("link1", "tip")),
        "names": const(lambda arm: ("a",)),
        "directions": const(lambda arm, q: np.zeros((arm.nv, 1))),
    },
    # plots
    "plotting.": {
        "model": lambda d: o.linear_model("planar"),
        "fps": const(5.0),
        "speed": const(1.0),
        "trace": one_of(True, False),
        "undeformed": one_of(True, False),
        "rates": one_of(True, False),
        "degrees": one_of(True, False),
        "record": const(0),
        "result": lambda d: o.identified(),
        "signals": const(None),
        "payload": const(0.5),
        "loads": lambda d: o.loads_of("flexible"),
        "kind": one_of("moment", "force"),
        "by_strain": const(False),
        "relative": one_of(True, False),
        "motion": lambda d: o.optimum(),
        "motions": lambda d: [o.optimum()],
        "limits": const(None),
        "limit": const(None),
        "quantity": one_of("damping", "decay"),
        "found": lambda d: o.robust(),
        "locus": lambda d: o.locus(),
        "shown": lambda d: o.run_of("flexible"),
        "times": one_of(3, [0.0, 0.1]),
        "run": lambda d: o.control_run(),
        "amplitude": one_of(None, 0.1),
        "arm": lambda d: o.arm_of("flexible"),
        "q": lambda d: d.normal(6),
        "bodies": const(None),
        "dpi": const(20.0),
        "frame": const(0),
        "label": const("runs"),
        "omega": lambda d: [0.1, 1.0, 10.0],
        "t": lambda d: [0.0, 0.1, 0.2],
        "inputs": const(None),
        "outputs": const(None),
        "colors": const(["red"] * 12),
        "points": lambda d: d.normal(4, 3),
        "margin": const(0.1),
    },
    "plotting.deflections": {"modes": one_of(True, False)},
    "plotting.energies": {"ledger": one_of(True, False), "hold": const(False)},
    "plotting.mode_shapes": {"bodies": flexible_body, "modes": one_of(None, [0])},
    "plotting.optimal_motion": {"kind": one_of("torques", "positions")},
    "plotting.tracking": {"kind": one_of("motion", "errors")},
    "plotting.scene": {"q": const(None), "labels": const(None)},
    "plotting.workspace": {
        "found": lambda d: o.workspace(),
        "quantity": one_of("frequency", "sag"),
    },
    "plotting.Animation.save": {"path": lambda d: new_file(d, "a.gif")},
    "plotting.Scene.save": {"path": lambda d: new_file(d, "a.html")},
    "plotting.ArmDrawing.show": {
        "shapes": lambda d: find_shapes(o.arm_of("flexible"), d.normal(1, 6))
    },
    "plotting.ArmDrawing.recolor": {"colors": const(["red"])},
    "plotting.ArmDrawing.set_points": {
        "line": lambda d: o.figure().plot([0.0], [0.0])[0],
        "points": lambda d: d.normal(4, 2),
    },
    "plotting.ArmDrawing.draw_obstacles": {
        "obstacles": const([fa.optimize.Sphere((1.0, 0.2, 0.0), 0.1)])
    },
    "beams.Section.from_outline": {
        "outline": const([[0.0, 0.0], [0.1, 0.0], [0.1, 0.05], [0.0, 0.05]])
    },
    "StateSpace.__getitem__": {"key": one_of(Ellipsis, ())},
    "mjcf.load": {"source": const(MUJOCO)},
    "sdf.load": {"source": const(MODEL)},
    "reference.screws.paper_screw_basis": {"n": one_of(1, 2)},
    "se3.vee": {"S": lambda d: fa.se3.hat(d.normal(*d.batch, 6))},
    "se3.so3_vee": {"S": lambda d: fa.se3.so3_hat(d.normal(*d.batch, 3))},
    "reference.screws.pose_from_paper": {
        "matrix": lambda d: fa.reference.screws.paper_pose_matrix(
            fa.reference.screws.exp(d.normal(*d.batch, 2, 6))
        )
    },
    # studies, twists, files
    "studies.sweep": {
        "function": const(lambda x: x**2),
        "grid": const({"x": ([1.0, 2.0, 3.0], "m")}),
        "draws": const(None),
        "n_draws": const(None),
        "seed": const(1),
        "arm": const(None),
        "vectorized": one_of(True, False),
        "outputs": const(None),
        "coords": const(None),
        "on": const("serial"),
        "workers": const(None),
        "chunk": const(2),
        "path": const(None),
        "retry_failed": const(False),
        "progress": const(False),
    },
    "testing.assert_equation_of_motion": {"tau": Draw.rates},
    "twists.": {"change": lambda d: d.pose(), "target": one_of(*FORMS)},
    "twists.SystemJacobian": {
        "body": lambda d: d.choice(0, "link1"),
        "factor": one_of("J", "A", "X", "P"),
        "row": const(0),
        "column": const(0),
    },
    "urdf.": {
        "source": lambda d: d.choice(ROBOT, o.text_file("robot.urdf", ROBOT)),
        "flexible": const(None),
        "sidecar": const(None),
        "base": one_of("fixed", "free"),
    },
    "urdf.save": {
        "path": lambda d: o.folder() / "saved.urdf",
        "sidecar": const(None),
        "incomplete": const(True),
        "visuals": const(None),
    },
}

# arms with which a function is called; others have loops, drives or quaternions
ARMS: dict[str, tuple[str, ...]] = {
    "control.": o.SIMPLE,
    "control.StrainFeedback": ("beams", "flexible"),
    "control.CompositeControl": ("beams", "flexible"),
    "control.composite.fast_subsystem": ("beams", "flexible"),
    "control.drive_feedforward": ("pendulum", "planar", "puma560"),
    "plotting.": o.SIMPLE,
    "trajectory_sensitivities": ("pendulum",),
    "simulate": (*o.SIMPLE, "driven", "floating", "closed"),
    "close_loops": ("closed",),
    "Arm.close_loops": ("closed",),
    "constraint": ("closed",),
    "Arm.constraint": ("closed",),
    "control.AdaptiveControl": ("pendulum", "planar", "puma560"),
    "operational_space": ("floating", "puma560", "tree"),
    "Arm.operational_space": ("floating", "puma560"),
    "redundant_constraints": ("closed",),
    "lock_motors": ("driven", "elastic"),
    "joint_grid": o.SIMPLE,
    "optimize.": ("planar",),
    "Coupling": ("planar",),
    "Loop": ("planar",),
    "Slider": ("planar",),
    "Tendon": ("planar",),
    "Tendon.": ("planar",),
    "link_loads": ("flexible", "beams", "elastic"),
    "linearize": (*o.SIMPLE, "driven", "tree"),
    "Arm.linearize": (*o.SIMPLE, "driven", "tree"),
    "reference.patent_loop.": (*o.SIMPLE, "pieces", "tree", "joints", "ruthless"),
    "workspace_map": o.SIMPLE,
    "events.": o.SIMPLE,
    "interop.": o.SIMPLE,
}

ALWAYS: dict[str, tuple[str, ...]] = {
    "FlexibleBody": (
        "node_position", "node_mass", "node_translation", "stiffness", "joint",
    ),
    "RigidBody": ("mass", "inertia"),
    "Drive": ("rotor_inertia",),
    "Stops": ("lower", "upper", "stiffness"),
    "Loop": ("kind",),
    "beams.Material": ("poisson",),
    "beams.finite_element_link": ("length", "sections"),
    "control.simulate_loop": ("sample_time", "seed"),
    "optimize.trajectory": ("duration",),
    "optimize.track": ("duration", "start"),
    "optimize.time_optimal": ("limits",),
    "optimize.": ("search",),
    "optimize.paths.follow": ("start",),
    "studies.sweep": ("grid",),
    "plotting.scene": (),
    "inverse_kinematics": ("rng",),
    "simulate": ("max_step",),
}  # fmt: skip

# --- objects whose methods and properties are called --------------------------

OBJECTS: dict[str, Rule] = {
    "Arm": lambda d: d.arm,
    "ArmStack": lambda d: d.use_stack(),
    "BaseParameters": lambda d: fa.base_parameters(o.arm_of("pendulum")),
    "ComplexModes": lambda d: fa.complex_modes(o.arm_of("flexible"), np.zeros(6)),
    "CoulombFriction": lambda d: fa.CoulombFriction(0.3, 0.1),
    "DCMotor": lambda d: fa.DCMotor(2.6, 0.01, 1e-4),
    "Drive": lambda d: fa.Drive(200.0, gear_ratio=20.0, rotor_inertia=0.1),
    "Equilibrium": lambda d: fa.equilibrium(o.arm_of("flexible"), np.zeros(6)),
    "EquilibriumPath": lambda d: fa.equilibrium_path(
        o.arm_of("flexible"), np.zeros(6), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    ),
    "FlexibleBody": flexible_body,
    "InertialParameters": lambda d: fa.inertial_parameters(o.arm_of("pendulum")),
    "InverseKinematics": lambda d: fa.inverse_kinematics(
        o.arm_of("puma560"), fa.tip_pose(o.arm_of("puma560"), np.full(6, 0.2)), rng=1
    ),
    "InverseStatics": lambda d: fa.inverse_statics(
        o.arm_of("puma560"), fa.tip_pose(o.arm_of("puma560"), np.full(6, 0.2)), rng=1
    ),
    "Joint": lambda d: fa.Joint(d.choice("revolute", "free", "universal")),
    "LinkLoads": lambda d: o.stressed(),
    "Loop": lambda d: fa.Loop(("link1", "tip"), kind="spherical"),
    "Slider": lambda d: fa.Slider(("link2", "tip"), "link1"),
    "Tendon": lambda d: fa.Tendon([(None, [0, 1, 0]), (("link2", "tip"), [0, 0, 0])]),
    "ModalIntegrals": lambda d: fa.modal_integrals(o.arm_of("beams").bodies[0]),
    "RigidBody": lambda d: o.arm_of("planar").bodies[0],
    "Robustness": lambda d: o.robust(),
    "RootLocus": lambda d: o.locus(),
    "SpatialOperators": lambda d: fa.operators(o.arm_of("flexible"), np.zeros(6)),
    "StateSpace": lambda d: d.model,
    "LinkModeErrors": lambda d: o.mode_errors_of("flexible").links[0],
    "ModeErrors": lambda d: o.mode_errors_of("flexible"),
    "Trajectory": lambda d: o.run_of(d.choice("pendulum", "flexible")),
    "TrajectorySensitivities": lambda d: o.sensitivities(),
    "VibrationModes": lambda d: o.modes_of("flexible"),
    "WorkspaceMap": lambda d: o.workspace(),
    "beams.Beam": lambda d: o.beam(),
    "beams.BeamModes": bending,
    "beams.RodModes": rod_modes,
    "beams.Payload": lambda d: fa.beams.Payload(0.5, 1.0),
    "beams.Section": lambda d: o.section(),
    "beams.SegmentedLink": lambda d: o.link_in_pieces(),
    "control.AdaptiveControl": lambda d: fa.control.AdaptiveControl(
        d.arm, motion(d), 5.0, 5.0, 1.0
    ),
    "reference.patent_loop.Comparison": lambda d: o.one_comparison(),
    "control.CompositeControl": lambda d: fa.control.CompositeControl(
        d.arm, np.zeros(d.nu)
    ),
    "control.DisturbanceObserver": observer_of_disturbances,
    "control.ExtendedKalmanFilter": filter_of,
    "control.GainSchedule": lambda d: GainSchedule(
        o.arm_of("pendulum"),
        {"rod": [0.0, 1.0]},
        [[[40.0, 4.0]], [[60.0, 8.0]]],
        [0.0],
    ),
    "reference.patent_loop.ComputedTorque": lambda d: patent_loop.ComputedTorque(),
    "control.Inversion": lambda d: fa.control.Inversion(d.arm, np.zeros(d.nu)),
    "control.JointFeedback": lambda d: fa.control.JointFeedback(
        np.ones(2), np.ones(2), np.zeros(2)
    ),
    "reference.patent_loop.JointSensors": lambda d: patent_loop.JointSensors(
        noise=1e-4
    ),
    "control.KalmanFilter": observer_of_model,
    "control.LinearController": linear_law,
    "control.LoopRun": lambda d: d.choice(o.loop_run, o.control_run)(),
    "reference.patent_loop.ManipulatorController": controller_of,
    "control.ObservedLaw": lambda d: fa.control.ObservedLaw(set_point(d), filter_of(d)),
    "control.PredictiveControl": predictive_law,
    "control.RestToRest": motion,
    "control.SetPointPD": set_point,
    "control.Shaper": lambda d: fa.control.Shaper.zero_vibration(6.0),
    "reference.patent_loop.SimulatedPlant": plant_of,
    "control.Spillover": lambda d: fa.control.spillover(lqr_law(d), o.arm_of("planar")),
    "control.StateFeedback": lqr_law,
    "control.StrainFeedback": lambda d: fa.control.StrainFeedback(
        d.arm, np.zeros(d.nu), servo=50.0, bandwidth=2.0, gain=1.0
    ),
    "descriptions.BodyScrews": lambda d: body_screws(description(d)),
    "descriptions.SpatialScrews": lambda d: spatial_screws(description(d)),
    "descriptions.JointFrames": lambda d: joint_frames(description(d)),
    "descriptions.DenavitHartenberg": lambda d: fa.descriptions.DenavitHartenberg(
        [(1, 0, 0, 0), (1, 0.1, 0.2, 0)]
    ),
    "descriptions.JointTree": description,
    "finite_elements.FiniteElementModel": lambda d: o.mesh(),
    "finite_elements.MeshModes": lambda d: o.mesh_modes(),
    "optimize.Design": lambda d: Design(o.swing, [2.0, 0.3], [1.0, 0.1], [3.0, 0.5]),
    "identification.Identification": lambda d: o.identified(),
    "optimize.OptimalMotion": lambda d: o.optimum(),
    "optimize.Path": lambda d: d.choice(path(d), cartesian(d)),
    "identification.Record": lambda d: o.record(),
    "identification.FrequencyResponse": lambda d: fa.identification.FrequencyResponse(
        [1.0, 2.0], [1.0, 2.0j]
    ),
    "identification.Sensor": lambda d: o.sensor(),
    "plotting.Animation": lambda d: fa.plotting.animate(o.run_of("pendulum"), fps=10.0),
    "plotting.ArmDrawing": lambda d: fa.plotting.arm(o.arm_of("flexible")),
    "plotting.Explorer": lambda d: fa.plotting.interact(o.arm_of("flexible")),
    "plotting.Scene": lambda d: fa.plotting.scene(o.run_of("pendulum")),
    "twists.SystemJacobian": lambda d: fa.twists.factors(
        o.arm_of("planar"), [0.1, 0.2]
    ),
    "urdf.Report": lambda d: fa.urdf.report(ROBOT),
    "urdf.Robot": lambda d: fa.urdf.read(ROBOT),
    "urdf.RobotJoint": lambda d: fa.urdf.read(ROBOT).joints[0],
    "urdf.RobotLink": lambda d: fa.urdf.read(ROBOT).links[0],
}

# records that only the package makes: their constructors are not called
MADE = (
    "BaseParameters", "ComplexModes", "EnergyDerivatives", "Equilibrium",
    "EquilibriumPath", "ForwardDynamicsDerivatives", "ForwardDynamicsGradients",
    "InertialParameters",
    "InnovationsFactors", "InverseDynamicsDerivatives", "InverseDynamicsGradients",
    "InverseKinematics", "InverseStatics", "LinkLoads", "Occurrence",
    "ParameterDerivatives", "Robustness", "RootLocus", "SpatialOperators",
    "Trajectory", "TrajectoryChange", "TrajectoryGradient",
    "TrajectorySensitivities", "VibrationModes", "WorkspaceMap",
    "control.InternalDynamics",
    "reference.patent_loop.Comparison", "reference.patent_loop.ControlStep",
    "control.KalmanFilter", "control.KalmanUpdate", "control.LoopRun",
    "control.Motion", "control.StateFeedback", "control.TimeScales",
    "reference.patent_loop.Sensed",
    "descriptions.JointTree", "finite_elements.MeshModes",
    "reference.maneuvers.Maneuver",
    "identification.Identification", "optimize.OptimalMotion", "optimize.Path",
    "optimize.Verification", "optimize.paths.PathMotion",
    "optimize.paths.PathPoints", "optimize.paths.PathRotations",
    "optimize.paths.TimeLaw", "plotting.Animation", "plotting.ArmDrawing",
    "plotting.Explorer", "plotting.Scene", "se3.ScrewParameters",
    "twists.Factorization", "twists.SpatialFactors", "twists.SystemJacobian",
    "urdf.Finding", "urdf.Report", "urdf.Robot", "urdf.RobotJoint", "urdf.RobotLink",
    "urdf.Visual", "ArmStack",
)  # fmt: skip
