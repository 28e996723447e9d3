"""First guesses of new users: each works, or one sentence names what does.

The guesses are the words of MuJoCo, the Robotics Toolbox, Pinocchio, Exudyn and
Simscape for what flexarm has too, and those of the exercises of the notebooks.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from each import each

import flexarm as fa
from flexarm import Joint, RigidBody, beams
from flexarm.beams import Beam, Material, Section, finite_element_link, flexible_link

WORKS = ""

MUJOCO = {
    "fa.MjModel.from_xml_path('arm.xml')": "'mjcf.load'",
    "fa.from_xml_path('arm.xml')": "'mjcf.load'",
    "fa.load_mjcf('arm.xml')": "'mjcf.load'",
    "fa.MjData(arm)": "'simulate'",
    "fa.mj_step(arm)": "'simulate'",
    "fa.mj_inverse(arm)": "'inverse_dynamics'",
    "fa.mj_fullM(arm)": "'mass_matrix'",
    "fa.viewer": "flexarm.plotting.scene(arm, q)",
    "Joint('hinge')": "did you mean 'revolute'",
    "Joint('slide')": "did you mean 'prismatic'",
    "Joint('ball')": "did you mean 'spherical'",
    "Joint('weld')": "did you mean 'fixed'",
    "Joint('free')": WORKS,
    "Joint.hinge()": "did you mean 'revolute'",
    "Joint.slide()": "did you mean 'prismatic'",
    "Joint.ball()": "did you mean 'spherical'",
    "Joint.freejoint()": "did you mean 'free'",
    "Joint.revolute('y', damping=0.1, armature=0.01)": WORKS,
    "Joint.revolute('y', frictionloss=0.1)": "did you mean 'coulomb_friction'",
    "Joint.revolute('y', range=(-1, 1))": "did you mean 'limits'",
    "Joint.revolute('y', stiffness=3.0, springref=0.1)": "did you mean 'rest'",
    "Joint.revolute('y', pos=(0, 0, 1))": "did you mean 'position'",
    "Joint.revolute('y', quat=(1, 0, 0, 0))": "did you mean 'rotation'",
}
TOOLBOX = {
    "fa.DHRobot([])": "descriptions.DenavitHartenberg",
    "fa.RevoluteDH(d=0.4)": "descriptions.DenavitHartenberg",
    "fa.SerialLink([])": "descriptions.DenavitHartenberg",
    "fa.ERobot": "'urdf.load'",
    "fa.Arm.from_dh([])": "DenavitHartenberg(rows)",
    "arm.fkine(q)": "did you mean 'tip_pose'",
    "arm.ikine(target)": "flexarm.inverse_kinematics(arm, target)",
    "arm.rne(q, q, q)": "did you mean 'inverse_dynamics'",
    "arm.jacob0(q)": "did you mean 'jacobian'",
    "arm.inertia(q)": "did you mean 'mass_matrix'",
    "arm.coriolis(q, q)": "did you mean 'bias_forces'",
    "arm.gravload(q)": "did you mean 'gravity_forces'",
    "arm.accel(q, q, q)": "did you mean 'forward_dynamics'",
    "arm.fdyn(1.0)": "flexarm.simulate(arm, q0, qd0, t)",
    "arm.teach()": "flexarm.plotting.scene(arm, q)",
    "arm.plot(q)": "flexarm.plotting",
    "arm.total_mass": "did you mean 'mass'",
    "arm.n": "did you mean 'nv'",
    "arm.qz": "did you mean 'neutral'",
    "Joint.revolute('z', qlim=(-1, 1))": "did you mean 'limits'",
    "fa.SE3()": "did you mean 'se3'",
    "fa.se3.Rx(0.1)": "did you mean 'so3_exp'",
}
PINOCCHIO = {
    "fa.rnea(arm, q, q, q)": "did you mean 'inverse_dynamics'",
    "fa.aba(arm, q, q, q)": "did you mean 'forward_dynamics'",
    "fa.crba(arm, q)": "did you mean 'mass_matrix'",
    "fa.nonLinearEffects": "did you mean 'bias_forces'",
    "fa.forwardKinematics": "did you mean 'tip_pose'",
    "fa.computeJointJacobians": "did you mean 'jacobian'",
    "fa.centerOfMass": "did you mean 'center_of_mass'",
    "fa.neutral(arm)": "arm.neutral",
    "fa.randomConfiguration(arm)": "arm.joint_limits",
    "fa.buildModelFromUrdf('arm.urdf')": "'urdf.load'",
    "fa.Model()": "did you mean 'Arm'",
    "fa.JointModelRX()": "flexarm.Joint.revolute",
    "fa.JointModelPZ()": "flexarm.Joint.prismatic",
    "fa.JointModelFreeFlyer()": "flexarm.Joint.free",
    "Joint('RX')": "did you mean 'revolute'",
    "arm.nq": WORKS,
}
EXUDYN = {
    "fa.SystemContainer()": "did you mean 'Arm'",
    "fa.ANCFCable2D()": "'beams.Beam'",
    "fa.ObjectFFRFreducedOrder()": "did you mean 'FlexibleBody'",
    "fa.CreateRevoluteJoint()": "flexarm.Joint.revolute",
    "fa.GenericJoint()": "did you mean 'Joint'",
    "beam.fem('boom', 4)": "did you mean 'elements'",
    "beam.mesh('boom', 4)": "did you mean 'elements'",
    "fa.ode": "did you mean 'simulate'",
}
SIMSCAPE = {
    "Joint('Revolute Joint')": "did you mean 'revolute'",
    "Joint('Prismatic Joint')": "did you mean 'prismatic'",
    "Joint('Weld Joint')": "did you mean 'fixed'",
    "Joint('6-DOF Joint')": "did you mean 'free'",
    "Joint('Lead Screw Joint')": "did you mean 'helical'",
    "Joint('Bushing Joint')": "did you mean 'free'",
    "fa.RevoluteJoint()": "flexarm.Joint.revolute",
    "fa.BrickSolid()": "did you mean 'RigidBody'",
    "fa.FlexibleBeam()": "'beams.Beam'",
    "Joint.helical('x', lead=0.01)": "did you mean 'pitch'",
}
JOINTS = {
    "Joint.revolute('y')": WORKS,
    "Joint.revolute()": WORKS,
    "Joint(axis='Y')": WORKS,
    "Joint('prismatic', axis='-x')": WORKS,
    "Joint.revolute([0, 1, 0], limits=(-1, 1), name='elbow')": WORKS,
    "Joint.revolute('y', parent='upper')": WORKS,
    "Joint.helical('x', pitch=0.01)": WORKS,
    "Joint.helical('x')": "lacks pitch",
    "Joint.revolute('up')": "(0, 0, 1)",
    "Joint('y')": "Joint(axis='y')",
    "Joint('revolute joint')": "did you mean 'revolute'",
    "Joint.revolute(pitch=0.1)": "Joint.revolute has no argument 'pitch'",
    "Joint.revolute('y', attach='middle')": "did you mean 'node'",
    "Joint.revolute('y', rpy=(0, 0, 1))": "did you mean 'rotation'",
    "Joint.revolute('y', origin=(0, 0, 1))": "did you mean 'position'",
    "Joint.revolute('y', motor=1)": "did you mean 'drive'",
    "fa.Revolute()": "flexarm.Joint.revolute",
    "fa.spherical_joint()": "flexarm.Joint.spherical",
}
BODIES = {
    "fa.Robot([])": "did you mean 'Arm'",
    "fa.Link('upper')": "a link that bends, flexarm.beams.Beam(section, length)",
    "fa.Body('upper')": "did you mean 'RigidBody'",
    "fa.Gripper()": "did you mean 'RigidBody'",
    "RigidBody('a', mass=1, inertia=(1, 1, 1))": WORKS,
    "RigidBody('a', mass=1, inertia=np.diag([1, 1, 1]))": WORKS,
    "RigidBody('a', mass=1, inertia=0.1)": "diagonal (3,)",
    "RigidBody('a', m=1)": "did you mean 'mass'",
    "RigidBody('a', mass=1, I=(1, 1, 1))": "did you mean 'inertia'",
    "RigidBody('a', mass=1, center_of_mass=(0, 0, 0))": "did you mean 'com'",
    "RigidBody('a', mass=1, parent='b')": "did you mean 'joint'",
    "RigidBody('a', 'revolute', mass=1)": "flexarm.Joint('revolute')",
    "fa.Arm([link])": WORKS,
    "fa.Arm(link)": "such as [body]",
    "fa.Arm([link], g=9.81)": "did you mean 'gravity'",
    "fa.Arm([link], gravity='-z')": "(0, 0, -9.81)",
    "arm.add_link(link)": "arm.replace(bodies=[*arm.bodies, body])",
    "arm.links": "did you mean 'bodies'",
    "fa.load_urdf('x')": "'urdf.load'",
    "fa.Arm.from_urdf('x')": "flexarm.urdf.load",
    "fa.urdf.parse('x')": "did you mean 'read'",
}
BEAMS = {
    "fa.Beam(Section.tube(0.04, 0.002), 1.0, 'steel')": "did you mean beams.Beam",
    "fa.Section": "did you mean beams.Section",
    "Beam(Section.tube(0.04, 0.002), length=1.0, material='steel')": WORKS,
    "Beam(Section.tube(0.04, 0.002), 1.0, 'Steel', mass=2.0).modes('a')": WORKS,
    "Beam(Section.tube(0.04, 0.002), L=1.0)": "did you mean 'length'",
    "Beam(Section.tube(0.04, 0.002), 1.0, E=210e9)": "did you mean 'material'",
    "Beam(Section.tube(0.04, 0.002), 1.0, density=7850)": "did you mean 'material'",
    "Beam(Section.tube(0.04, 0.002), 1.0, rho=7850)": "did you mean 'material'",
    "Beam(Section.tube(0.04, 0.002), 1.0).modes('a')": "lacks material",
    "Beam(0.04, 1.0, 'steel')": "Section.tube(0.04, 0.002)",
    "beam.modes('boom', 3)": WORKS,
    "beam.modes(3)": "beam.modes('boom', 3)",
    "beam.elements('boom', 4)": WORKS,
    "beam.elements(4)": "beam.elements('boom', 4)",
    "beam.elements('boom', n_elements=4)": "did you mean 'n'",
    "beam.segments('boom', 4)": WORKS,
    "beam.pieces('boom', 4)": "did you mean 'segments'",
    "beam.modal('boom')": "did you mean 'modes'",
    "Section.circle(0.04)": "did you mean 'round'",
    "Section.cylinder(0.04)": "did you mean 'round'",
    "Section.pipe(0.04, 0.002)": "did you mean 'tube'",
    "Section.ring(0.04, 0.002)": "did you mean 'tube'",
    "Section.rect(0.04, 0.02)": "did you mean 'rectangle'",
    "Section.square(0.04)": "did you mean 'rectangle'",
    "Section.I(0.04)": "did you mean 'i_beam'",
    "Section.polygon([])": "did you mean 'from_outline'",
    "Section.tube(0.04, 0.002)": WORKS,
    "Section.tube(0.04, 0.002, 'aluminum')": WORKS,
    "Section.tube(0.04, 0.002, 'titanium')": "flexarm.beams.Material(E, density)",
    "Section.tube(0.04, 0.002, E=210e9)": "did you mean 'material'",
    "Section.tube(radius=0.02, thickness=0.002)": "did you mean 'diameter'",
    "Section.tube(diameter=0.04, wall=0.002)": "did you mean 'thickness'",
    "Section.rectangle(b=0.02, h=0.01)": "did you mean 'width'",
    "Section.tube(0.04, 0.002).bending_stiffness": "lacks material",
    "Material.steel": "flexarm.beams.STEEL",
    "Material.aluminum()": "flexarm.beams.ALUMINIUM",
    "Material('steel')": "Material(E, density)",
    "Material(E=70e9, rho=2700)": "did you mean 'density'",
    "Material(E=70e9, density=2700, nu=0.3)": "did you mean 'poisson'",
    "Material(youngs_modulus=70e9, density=2700)": "did you mean 'E'",
    "fa.Steel": "'beams.STEEL'",
    "beams.ALUMINUM": "did you mean 'ALUMINIUM'",
    "beams.Timoshenko": "did you mean 'finite_element_link'",
    "flexible_link('a', length=1, E=1)": "did you mean 'bending_stiffness'",
    "flexible_link('a', length=1, rho=1)": "did you mean 'mass_per_length'",
    "finite_element_link('a', length=1, section=tube)": "did you mean 'sections'",
    "finite_element_link('a', length=1, sections=tube, elements=4)": "'n_elements'",
}
MOTION = {
    "fa.simulate(arm, q, q, times)": WORKS,
    "fa.simulate(arm, q, q, 1.0)": "numpy.linspace",
    "fa.simulate(arm, q, q, times, dt=0.01)": "did you mean 'max_step'",
    "fa.simulate(arm, q, q, times, tau=q)": "did you mean 'torque'",
    "fa.simulate(arm, q, q, times, u=q)": "did you mean 'torque'",
    "arm.simulate(q, q, times)": "flexarm.simulate(arm, ...)",
    "arm.mass_matrix(q)": WORKS,
    "arm.M(q)": "did you mean 'mass_matrix'",
    "arm.eigenfrequencies(q)": "did you mean 'natural_frequencies'",
    "fa.eig(arm)": "did you mean 'natural_frequencies'",
    "fa.PDController": "did you mean 'control.SetPointPD'",
    "fa.plot(arm)": "did you mean 'plotting'",
    "fa.show(arm)": "flexarm.plotting.scene(arm, q)",
    "run.tip": WORKS,
    "run.plot()": WORKS,
    "run.animate()": WORKS,
}
# words of a researcher, a control engineer and a lecturer who open the package
NEWCOMERS = {
    "fa.Link": "flexarm.RigidBody(name, mass=...)",
    "fa.Motor": "did you mean 'Drive'",
    "fa.Gear": "did you mean 'Drive'",
    "fa.Load": "did you mean 'RigidBody'",
    "fa.PointMass": "flexarm.RigidBody(name",
    "fa.Spring": "flexarm.Joint.revolute(axis, stiffness=...",
    "fa.EndEffector": "did you mean 'tip_pose'",
    "fa.Material": "did you mean beams.Material",
    "fa.Payload": "did you mean 'beams.Payload'",
    "fa.tube": "did you mean 'beams.Section'",
    "fa.two_link": "did you mean 'library.planar_chain'",
    "fa.models": "did you mean 'library'",
    "fa.constraint": "did you mean 'Loop'",
    "fa.closed_chain": "did you mean 'Loop'",
    "fa.forward_kinematics": "did you mean 'tip_pose'",
    "fa.tip": "did you mean 'tip_pose'",
    "fa.rotx": "did you mean 'se3'",
    "fa.euler": "did you mean 'se3'",
    "fa.J": "did you mean 'jacobian'",
    "fa.equations_of_motion": "did you mean 'forward_dynamics'",
    "fa.Simulation": "did you mean 'simulate'",
    "fa.transfer_function": "did you mean 'linearize'",
    "fa.state_space": "did you mean 'linearize'",
    "fa.poles": "did you mean 'linearize'",
    "fa.lqr": "did you mean 'control.lqr'",
    "fa.pole_placement": "flexarm.control.lqr(model, Q, R)",
    "fa.kalman": "did you mean 'control.kalman_filter'",
    "fa.computed_torque": "did you mean 'control.Inversion'",
    "fa.feedforward": "did you mean 'inverse_dynamics'",
    "fa.adaptive": "did you mean 'control.AdaptiveControl'",
    "fa.accelerometer": "did you mean outputs.accelerometer",
    "fa.encoder": "did you mean 'outputs'",
    "fa.time_optimal": "did you mean optimize.time_optimal",
    "fa.minimum_time": "did you mean 'optimize.time_optimal'",
    "fa.optimal_control": "did you mean 'optimize.trajectory'",
    "fa.line": "flexarm.optimize.paths",
    "fa.calibrate": "did you mean 'identification.identify'",
    "fa.obstacle": "did you mean 'optimize.Sphere'",
    "fa.buckling": "flexarm.beams.buckling_load(link)",
    "fa.strain": "did you mean outputs.strain",
    "fa.mass": "arm.mass, an attribute of arms",
    "fa.animate": "did you mean 'plotting.animate'",
    "fa.tutorial": "help(flexarm)",
    "fa.optimize.Bounds": "did you mean 'Limits'",
    "fa.optimize.plan": "did you mean 'trajectory'",
    "fa.control.trajectory": "did you mean 'RestToRest'",
    "fa.control.spline": "flexarm.optimize.paths",
    "fa.plotting.robot": "did you mean 'arm'",
    "fa.plotting.nyquist": "did you mean 'bode'",
    "fa.library.single_link": "did you mean 'planar_chain'",
    "fa.library.scara": "flexarm.urdf.load",
    "beams.cantilever": "did you mean 'Beam'",
    "beams.TimoshenkoBeam": "did you mean 'finite_element_link'",
    "fa.ode45": "did you mean 'simulate'",
    "fa.kuka": "did you mean library.iiwa14",
    "fa.zv": "did you mean 'control.Shaper'",
    "fa.setpoint": "did you mean control.SetPointPD",
    "fa.FlexibleJoint": "did you mean 'Drive'",
    "fa.four_bar": "did you mean 'Loop'",
    "fa.satellite": "flexarm.Joint.free()",
    "fa.delay": "an argument of flexarm.control.simulate_loop",
    "fa.titanium": "flexarm.beams.Material(E, density)",
    "fa.deg2rad": "numpy.deg2rad",
    "fa.simulink": "did you mean 'interop.export_fmu'",
    "fa.from_file": "did you mean 'load'",
    "fa.Environment": "an arm has no state of its own",
    "arm.q": "since an arm never changes",
    "arm.link('link1')": "arm[name], the body of that name",
    "arm.motors": "the drive of each body.joint",
    "arm.U(q)": "did you mean 'potential_energy'",
    "arm.load": "flexarm.urdf.load(path)",
    "arm.is_flexible": "arm.nv > arm.nj",
    "run.eta": "run.arm.mode_slice(body)",
    "run.resample(10)": "more times in flexarm.simulate",
    "run.v": "did you mean 'qd'",
    "model.dcgain": "did you mean 'static_gain'",
    "model.damping": "its poles()",
    "tube.A": "its area",
    "arm.mass": WORKS,
    "arm.bodies[0].mass": WORKS,
    "link.mass": WORKS,
    "arm.n_dof": "did you mean 'nv'",
    "arm.dof": "did you mean 'nv'",
    "arm.n_modes": "sum(body.n_modes for body in arm.bodies)",
    "arm.fk(q)": "did you mean 'tip_pose'",
    "arm.ik(target)": "flexarm.inverse_kinematics(arm, target)",
    "arm.J(q)": "did you mean 'jacobian'",
    "arm.control": "a law of flexarm.control",
    "arm.ode": "did you mean 'forward_dynamics'",
    "arm.state_space": "did you mean 'linearize'",
    "arm.torque_limits": "effort_limit and velocity_limit of each body.joint",
    "arm.position_limits": "did you mean 'joint_limits'",
    "arm.link_names": "[body.name for body in arm.bodies]",
    "arm.mode_shapes": "did you mean 'vibration_modes'",
    "arm.reach": "flexarm.tip_pose(arm, q)[:3, 3]",
    "arm.stress": "flexarm.link_loads(arm, q, qd, qdd)",
    "arm.workspace": "flexarm.workspace_map(arm, q)",
    "arm.payload": "a flexarm.RigidBody on a Joint('fixed')",
    "arm.copy()": "did you mean 'replace'",
    "arm.summary()": "print(arm)",
    "arm.to_json()": "flexarm.save(made, path)",
    "arm.lock": "flexarm.lock_motors(arm)",
    "link.length": "link.node_position[-1]",
    "link.section": "link.beam.sections",
    "beam.EI": "beam.section.bending_stiffness",
    "beam.frequencies()": "beam.modes(name).frequencies()",
    "tube.EI": "did you mean 'bending_stiffness'",
    "tube.I": "I_y and I_z",
    "arm.bodies[0].joint.type": "did you mean 'kind'",
    "run.times": "did you mean 't'",
    "run.u": "did you mean 'tau'",
    "run.velocity": "did you mean 'qd'",
    "run.end_effector": "did you mean 'tip'",
    "run.status": "did you mean 'success'",
    "run.deflection": "flexarm.plotting.deflections(run)",
    "run.show()": "run.plot(), or run.animate()",
    "run.to_numpy()": "which are arrays",
    "model.step()": "step_response(t)",
    "model.eigenvalues": "did you mean 'poles'",
    "rest.torque": "did you mean 'tau'",
    "fa.simulate(arm, q, q, times, control=None)": "did you mean 'torque'",
    "fa.natural_frequencies(arm, q, locked=True)": "did you mean 'held'",
    "fa.natural_frequencies(arm, q, n=2)": "did you mean 'count'",
    "fa.linearize(arm, q, u=q)": "did you mean 'tau'",
    "fa.inverse_kinematics(arm, position=(1, 1, 0))": "did you mean 'target'",
    "fa.control.SetPointPD(arm, 9, 9, setpoint=q)": "did you mean 'target'",
    "fa.control.RestToRest([0.0], [1.0], T=1.0)": "did you mean 'duration'",
    "fa.optimize.time_optimal(arm, [q, q], torque=9)": "did you mean 'limits'",
    "fa.library.planar_chain(2, flexible=True)": "did you mean 'n_modes'",
    "fa.Drive(100.0, J=1e-4)": "did you mean 'rotor_inertia'",
    "RigidBody('a', mass=1, axis='y')": "did you mean 'joint'",
    "RigidBody('a', mass=1, tip=(1, 0, 0))": "did you mean 'nodes'",
    "fa.Arm([beam])": "such as beam.elements(name)",
    "fa.Arm([link], payload=1.0)": "did you mean 'bodies'",
    "beam.elements('boom', n_modes='all')": WORKS,
    "beam.elements('boom', n_modes='full')": "or 'all'",
    "beam.elements('boom', zeta=0.01)": "did you mean 'damping_ratio'",
    "beam.elements('boom', planes='y')": "did you mean 'motions'",
    "beam.elements('boom', tip_mass=1.0)": "did you mean 'payloads'",
    "beam.modes('boom', n=3)": "did you mean 'n_modes'",
    "Section.tube(D=0.04, t=0.002)": "did you mean 'diameter'",
    "flexible_link('a', length=1, section=tube)": "Beam(section, length, material)",
}
GUESSES = MUJOCO | TOOLBOX | PINOCCHIO | EXUDYN | SIMSCAPE
GUESSES |= JOINTS | BODIES | BEAMS | MOTION | NEWCOMERS


def things() -> dict[str, Any]:
    """What the guesses name."""
    arm = fa.library.planar_chain(2)
    q, times = np.array([0.1, 0.2]), np.linspace(0.0, 0.1, 11)
    beam = Beam(Section.tube(0.04, 0.002), 1.0, "steel")
    made = {
        "arm": arm,
        "q": q,
        "times": times,
        "target": np.eye(4),
        "tube": Section.tube(0.04, 0.002, "steel"),
        "beam": beam,
        "link": beam.elements("boom", n_modes=2),
        "run": fa.simulate(arm, q, q, times),
        "model": fa.linearize(arm, q),
        "rest": fa.equilibrium(arm, q),
        "np": np,
        "fa": fa,
        "beams": beams,
    }
    parts = (Joint, RigidBody, Beam, Material, Section)
    functions = (finite_element_link, flexible_link)
    return made | {part.__name__: part for part in (*parts, *functions)}


THINGS = things()


def test_there_are_many_guesses() -> None:
    assert len(GUESSES) >= 60
    assert sum(answer == WORKS for answer in GUESSES.values()) >= 20


@each("guess, answer", {guess: (guess, GUESSES[guess]) for guess in GUESSES})
def test_a_first_guess_works_or_leads_to_what_does(guess: str, answer: str) -> None:
    if answer == WORKS:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            eval(guess, dict(THINGS))
        return
    with pytest.raises((AttributeError, fa.FlexarmError)) as caught:
        eval(guess, dict(THINGS))
    text = str(caught.value)
    assert answer in text, text
    # one sentence
    assert "\n" not in text and len(text) < 400
    assert not re.search(r"[a-z]\. ", text), text


@each("guess", [g for g, answer in GUESSES.items() if answer.startswith("did you")])
def test_what_a_sentence_names_is_there(guess: str) -> None:
    answer = GUESSES[guess]
    name = re.findall(r"[\w.]+", answer)[-1]
    called = guess.split("(")[0].rpartition(".")[0]
    with pytest.raises((AttributeError, fa.FlexarmError)) as caught:
        eval(guess, dict(THINGS))
    if isinstance(caught.value, AttributeError):
        # an attribute of what was asked, or of the package
        owner = eval(called, dict(THINGS))
        for part in name.split("."):
            owner = getattr(owner, part)
