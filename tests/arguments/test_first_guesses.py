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
    "fa.Link('upper')": "did you mean 'RigidBody'",
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
GUESSES = MUJOCO | TOOLBOX | PINOCCHIO | EXUDYN | SIMSCAPE
GUESSES |= JOINTS | BODIES | BEAMS | MOTION


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
