"""Mistakes of newcomers, and the one sentence that answers each of them.

The words are those that lead on: what was given, and what to write instead.  A refusal
is for what no arm can be; a number that is possible, but improbable, is warned of.
"""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from refusals import refused

import flexarm as fa
from flexarm import Joint, RigidBody, beams
from flexarm.beams import STEEL, Material, Payload, Section, finite_element_link

ARM = fa.library.planar_chain(2, n_modes=2)
CHAIN = fa.library.planar_chain(2)
REST, T = np.zeros(6), np.linspace(0.0, 1.0, 11)
TUBE = Section.tube(0.04, 0.002, STEEL)
UPPER = RigidBody("upper", mass=1.0, com=(0.5, 0, 0), inertia=(0, 0.08, 0.08))


def body(joint: Joint | None = None, **changes: Any) -> RigidBody:
    """A body with a valid inertia."""
    given: dict[str, Any] = {"mass": 1.0, "inertia": (1, 1, 1)} | changes
    return RigidBody("fore", joint or Joint(), **given)


def link(**changes: Any) -> fa.FlexibleBody:
    """A steel tube of 1 m, on a joint."""
    given: dict[str, Any] = {"length": 1.0, "sections": TUBE, "n_modes": 2} | changes
    return finite_element_link("boom", **given)


def run(**changes: Any) -> Any:
    """A simulation of two rigid links."""
    given: dict[str, Any] = {"q0": [0, 0], "qd0": [0, 0], "t": T} | changes
    return fa.simulate(CHAIN, **given)


# a mistake, and words of the sentence on it
Mistake = tuple[Callable[[], Any], list[str]]

DESCRIPTIONS: dict[str, Mistake] = {
    "an axis for the kind": (lambda: Joint("y"), ["Joint(axis='y') is a hinge"]),
    "a mass for the place": (lambda: Payload(0.5), ["no mass", "Payload(at, mass)"]),
    "a payload nowhere": (lambda: Payload(mass=0.5), ["lacks at", "mass"]),  # type: ignore[call-arg]
    "a payload for a list": (lambda: link(payloads=Payload(0.8, 0.5)), ["a list of"]),
    "a payload beyond": (lambda: link(payloads=[Payload(2, 1)]), ["0 to 1 m"]),
    "an inertia for com": (lambda: Payload(0.8, 0.5, 0.1), ["com of a payload"]),
    "E in GPa": (lambda: Material(210, 7850), ["E of material", "Pa", "2.1e+11"]),
    "G in GPa": (lambda: Material(210e9, 7850, G=81), ["G of material", "8.1e+10"]),
    "E and density swapped": (lambda: Material(7850, 210e9), ["Material(E, density)"]),
    "no density": (lambda: Material(210e9), ["lacks density"]),  # type: ignore[call-arg]
    "poisson in percent": (lambda: Material(1e9, 1e3, poisson=30), ["at most 0.5"]),
    "a tube of nothing": (lambda: Section.tube(), ["Section.tube(diameter, thick"]),  # type: ignore[call-arg]
    "a tube of no material": (
        lambda: link(sections=Section.tube(0.04, 0.002)),
        ["lacks material"],
    ),
    "an unknown material": (
        lambda: Section.tube(0.04, 0.002, "wood"),
        ["'wood'", "'steel'", "Material(E, density)"],
    ),
    "a radius": (
        lambda: Section.tube(radius=0.02, thickness=0.002, material="steel"),  # type: ignore[call-arg]
        ["mean 'diameter'"],
    ),
    "section": (
        lambda: finite_element_link("boom", length=1.0, section=TUBE),  # type: ignore[call-arg]
        ["mean 'sections'"],
    ),
    "EI": (lambda: beams.flexible_link("b", EI=1), ["mean 'bending_stiffness'"]),  # type: ignore[call-arg]
    "gear of a drive": (lambda: fa.Drive(gear=100), ["mean 'gear_ratio'"]),  # type: ignore[call-arg]
    "gear of a joint": (lambda: Joint(gear=100), ["mean 'drive'"]),  # type: ignore[call-arg]
    "motor": (lambda: Joint(motor=1), ["mean 'drive'"]),  # type: ignore[call-arg]
    "friction": (lambda: Joint(friction=0.1), ["mean 'coulomb_friction'"]),  # type: ignore[call-arg]
    "type": (lambda: Joint(type="revolute"), ["mean 'kind'"]),  # type: ignore[call-arg]
    "R": (lambda: Joint("R"), ["mean 'revolute'"]),
    "two diameters": (lambda: Section.tube(0.04, 0.036, STEEL), ["less than half"]),
    "a section in mm": (
        lambda: link(sections=Section.tube(40, 2, STEEL)),
        ["longer than wide", "look like mm"],
    ),
    "a link in mm": (lambda: fa.Arm([link(length=1000)]), ["looks like millimetres"]),
    "all in mm": (
        lambda: fa.Arm([link(length=1000, sections=Section.tube(40, 2, STEEL))]),
        ["looks like millimetres"],
    ),
    "a material for sections": (lambda: link(sections=STEEL), ["expected a Section"]),
    "length in words": (lambda: link(length="1 m"), ["'1 m'", "real numbers"]),
    "half a mode": (lambda: link(n_modes=2.5), ["whole number"]),
    "modes": (lambda: fa.library.planar_chain(2, modes=2), ["n_modes"]),  # type: ignore[arg-type]
    "a drive of nothing": (lambda: fa.Drive(), ["lacks stiffness"]),  # type: ignore[call-arg]
    "a drive without rotor": (lambda: fa.Drive(100), ["rotor_inertia"]),
    "a number for a drive": (lambda: Joint(drive=100), ["100", "Drive"]),  # type: ignore[arg-type]
    "hinge": (lambda: Joint("hinge"), ["'hinge'", "mean 'revolute'"]),
    "slider": (lambda: Joint("slider"), ["mean 'prismatic'"]),
    "a typo": (lambda: Joint("revolut"), ["mean 'revolute'"]),
    "up": (lambda: Joint(axis="up"), ["'up'", "(0, 0, 1)"]),
    "no axis": (lambda: Joint(axis=(0, 0, 0)), ["is zero", "direction"]),
    "angles for a rotation": (lambda: Joint(rotation=(0, 0, 1.57)), ["so3_exp"]),
    "a quaternion": (lambda: Joint(rotation=(1, 0, 0, 0)), ["from_quaternion"]),
    "no rotation": (lambda: Joint(rotation=2 * np.eye(3)), ["not a rotation"]),
    "stops as a pair": (lambda: Joint(stops=(-1, 1)), ["expected Stops"]),  # type: ignore[arg-type]
    "one limit": (lambda: Joint(limits=3.14), ["lower and upper"]),
    "limits swapped": (lambda: Joint(limits=(1, -1)), ["not above the upper"]),
    "a body as parent": (
        lambda: Joint(parent=UPPER),  # type: ignore[arg-type]
        ["RigidBody", "the name of a body", "parent='upper'"],
    ),
    "a number as parent": (lambda: Joint(parent=0), ["0", "the name of a body"]),  # type: ignore[arg-type]
    "body and node in one": (
        lambda: fa.Arm([UPPER, body(Joint(parent="upper.tip"))]),
        ["parent='upper', node='tip'"],
    ),
    "a parent misspelled": (
        lambda: fa.Arm([UPPER, body(Joint(parent="Upper"))]),
        ["'Upper'", "mean 'upper'"],
    ),
    "a node misspelled": (
        lambda: fa.Arm([link(), body(Joint(parent="boom", node="tpi"))]),
        ["no node 'tpi'", "mean 'tip'"],
    ),
    "a parent that comes later": (
        lambda: fa.Arm([body(Joint(parent="upper")), UPPER]),
        ["cycle", "'upper' names no parent", "before it in the list"],
    ),
    "a kind for a joint": (
        lambda: RigidBody("b", "revolute", mass=1.0),  # type: ignore[arg-type]
        ["flexarm.Joint('revolute')"],
    ),
    "a class for a joint": (
        lambda: RigidBody("b", Joint, mass=1.0),  # type: ignore[arg-type]
        ["Joint()"],
    ),
    "no name": (lambda: RigidBody(mass=1.0), ["lacks name"]),  # type: ignore[call-arg]
    "no mass": (lambda: fa.Arm([RigidBody("b")]), ["'b'", "give it a mass"]),
    "inertia at the end": (
        lambda: body(com=(0.5, 0, 0), inertia=(0, 0.33, 0.1)),
        ["principal moments", "another point must be shifted"],
    ),
    "one moment": (lambda: body(inertia=0.1), ["the diagonal (3,)"]),
    "inertia in kg mm^2": (
        lambda: fa.Arm([body(inertia=(1000, 1000, 1000))]),
        ["radius of gyration", "kg and metres"],
    ),
    "com in mm": (lambda: fa.Arm([body(com=(250, 0, 0))]), ["millimetres"]),
    "nodes without names": (lambda: body(nodes=[(1, 0, 0)]), ["mapping of names"]),
    "a body for a list": (lambda: fa.Arm(UPPER), ["such as [body]"]),
    "bodies one by one": (lambda: fa.Arm(UPPER, body()), ["such as [body]"]),  # type: ignore[arg-type]
    "a file for bodies": (lambda: fa.Arm("robot.urdf"), ["str", "urdf.load"]),
    "no bodies": (lambda: fa.Arm([]), ["no bodies"]),
    "one name twice": (lambda: fa.Arm([UPPER, UPPER]), ["two bodies", "'upper'"]),
    "gravity as a number": (lambda: fa.Arm([UPPER], gravity=9.81), ["(0, 0, -9.81)"]),
    "gravity in mm/s^2": (
        lambda: fa.Arm([UPPER], gravity=(0, 0, -9810)),
        ["9.81 on Earth"],
    ),
    "a tip without its body": (
        lambda: fa.Arm([UPPER], tip="hand"),  # type: ignore[arg-type]
        ["(body, node)"],
    ),
    "a field misspelled": (lambda: UPPER.replace(mas=2.0), ["mean 'mass'"]),
}

CALLS: dict[str, Mistake] = {
    "no times": (lambda: fa.simulate(ARM, REST, T), ["lacks t", "simulate(arm, q0"]),  # type: ignore[call-arg]
    "a duration": (lambda: run(t=10), ["numpy.linspace"]),
    "times that fall": (lambda: run(t=T[::-1]), ["t does not increase"]),
    "a time twice": (lambda: run(t=[0, 0, 1]), ["t does not increase"]),
    "no velocities": (lambda: run(qd0=None), ["qd0 is None"]),
    "joints without modes": (
        lambda: fa.simulate(ARM, [0, 0], [0, 0], T),
        ["6 coordinates", "2 joints, 4 modes"],
    ),
    "a column": (lambda: run(q0=np.zeros((2, 1))), ["last axis of 2"]),
    "one torque each": (lambda: run(torque=[1.0, 2.0]), ["numpy.tile"]),
    "torques of three": (lambda: run(torque=[1.0, 2, 3]), ["(..., 11, 2)"]),
    "axes of torques swapped": (
        lambda: run(torque=np.zeros((2, 11))),
        ["(..., 11, 2)"],
    ),
    "torque(t, q)": (lambda: run(torque=lambda t, q: [0, 0]), ["torque(t, q, qd)"]),
    "a torque that returns nothing": (
        lambda: run(torque=lambda t, q, qd: None),
        ["is None"],
    ),
    "a law that is not made": (
        lambda: run(torque=fa.control.SetPointPD),
        ["torque(t, q, qd)"],
    ),
    "duration": (lambda: run(duration=1), ["mean 't'"]),
    "controller": (lambda: run(controller=None), ["mean 'torque'"]),
    "tau": (lambda: run(tau=[0, 0]), ["mean 'torque'"]),
    "dt": (lambda: run(dt=0.01), ["mean 'max_step'"]),
    "RK4": (lambda: run(method="RK4"), ["mean 'rk4'"]),
    "arguments swapped": (
        lambda: fa.simulate(REST, ARM, REST, T),
        ["before the arrays"],
    ),
    "a body for an arm": (lambda: fa.mass_matrix(UPPER, [0]), ["flexarm.Arm([body])"]),
    "a function for an arm": (
        lambda: fa.mass_matrix(fa.library.planar_chain, [0]),
        ["call the function", "planar_chain()"],
    ),
    "a method for numbers": (
        lambda: fa.mass_matrix(ARM, ARM.mass_matrix),
        ["of type method", "array"],
    ),
    "axes of a batch swapped": (
        lambda: fa.mass_matrix(ARM, np.zeros((6, 50))),
        ["length 50", "6 coordinates"],
    ),
    "rows of two lengths": (
        lambda: fa.mass_matrix(CHAIN, [[0, 0], [0]]),
        ["rectangular"],
    ),
    "numbers by names": (lambda: fa.mass_matrix(ARM, {"link1": 0.1}), ["an array"]),
    "a quaternion without w": (
        lambda: fa.mass_matrix(fa.Arm([body(Joint("spherical"))]), [0, 0, 0]),
        ["4 positions", "quaternions"],
    ),
    "forces of three": (
        lambda: fa.forward_dynamics(ARM, REST, REST, [1, 2, 3]),
        ["2 (one force per joint)", "6 (joints and modes)"],
    ),
    "a node that is not": (
        lambda: fa.node_pose(ARM, REST, ("link1", "tipp")),
        ["no node 'tipp'", "mean 'tip'"],
    ),
    "a body for a node": (lambda: fa.node_pose(ARM, REST, "link1"), ["'link2.tip'"]),
    "a force for a wrench": (
        lambda: fa.equilibrium(ARM, REST, wrench=[0, 0, -10]),
        ["6 numbers", "the moment and the force"],
    ),
    "force": (
        lambda: fa.equilibrium(ARM, REST, force=[0, 0, -10]),  # type: ignore[call-arg]
        ["mean 'wrench'"],
    ),
    "world": (
        lambda: fa.equilibrium(ARM, REST, wrench=np.zeros(6), frame="world"),
        ["'node', 'base'"],
    ),
    "held": (lambda: fa.natural_frequencies(ARM, REST, held="joint"), ["'joints'"]),
    "no posture": (lambda: fa.natural_frequencies(ARM), ["lacks q"]),  # type: ignore[call-arg]
    "a position with a quaternion": (
        lambda: fa.inverse_kinematics(ARM, [0.4, 0, 0, 0, 0, 0, 1]),
        ["(..., 4, 4) or (..., 3)"],
    ),
    "start": (
        lambda: fa.inverse_kinematics(ARM, np.eye(4), start=REST),  # type: ignore[call-arg]
        ["mean 'q0'"],
    ),
    "arms one by one": (lambda: fa.stack(ARM, ARM), ["a list", "stack([...])"]),  # type: ignore[arg-type, call-arg]
    "an arm for a model": (
        lambda: fa.control.lqr(CHAIN, np.eye(4), np.eye(2)),  # type: ignore[arg-type]
        ["flexarm.linearize"],
    ),
    "no set point": (
        lambda: fa.control.SetPointPD(CHAIN, 100, 10),  # type: ignore[call-arg]
        ["lacks target"],
    ),
    "an arm for a motion": (lambda: fa.plotting.animate(ARM), ["flexarm.simulate"]),
}

DOUBTFUL: dict[str, Mistake] = {
    "E in MPa": (lambda: Material(210e3, 7850), ["in MPa, expected 2.1e+11"]),
    "density in g/cm^3": (lambda: Material(210e9, 7.85), ["g/cm^3, expected 7850"]),
    "limits in degrees": (lambda: Joint(limits=(-170, 170)), ["numpy.deg2rad"]),
    "stops in degrees": (
        lambda: Joint(stops=fa.Stops(-90, 90, stiffness=1e4)),
        ["numpy.deg2rad"],
    ),
    "angles in degrees": (
        lambda: run(q0=[90, 45], max_step=0.01),
        ["q0", "numpy.deg2rad"],
    ),
    "lengths and angles of rows swapped": (
        lambda: fa.descriptions.DenavitHartenberg([(0, 0.4, np.pi / 2, 0)]),
        ["d of Denavit-Hartenberg row 0", "pi/2", "order a, alpha, d, theta"],
    ),
    "a link without its end": (
        lambda: fa.Arm([UPPER, body(com=(0.5, 0, 0))]),
        ["'upper' and 'fore'", "same line", "nodes={'tip': (length, 0, 0)}"],
    ),
    "a telescope": (
        lambda: fa.Arm(
            [
                link().replace(name="outer"),
                link(joint=Joint("prismatic", axis="x")).replace(name="inner"),
            ]
        ),
        ["'inner' slides along the flexible link 'outer'", "node 'tip'", "overlap"],
    ),
    "damping in percent": (
        lambda: link(damping_ratio=2.0),
        ["critical damping", "expected 0.02"],
    ),
    "damping of modes in percent": (
        lambda: fa.library.planar_chain(1, n_modes=2, damping_ratio=1.5),
        ["expected 0.015"],
    ),
}

ATTRIBUTES: dict[str, Mistake] = {
    "flexible_link": (lambda: fa.flexible_link, ["beams.flexible_link"]),
    "Section": (lambda: fa.Section, ["beams.Section"]),
    "SetPointPD": (lambda: fa.SetPointPD, ["control.SetPointPD"]),
    "Robot": (lambda: fa.Robot, ["mean 'Arm'"]),
    "Link": (lambda: fa.Link, ["flexarm.RigidBody(name", "beams.Beam(section"]),
    "simulat": (lambda: fa.simulat, ["mean 'simulate'"]),
    "iiwa": (lambda: fa.library.iiwa, ["mean 'iiwa14'"]),
    "Steel": (lambda: beams.Steel, ["mean 'STEEL'"]),
    "forward_kinematics": (lambda: fa.forward_kinematics, ["mean 'tip_pose'"]),
    "arm.links": (lambda: ARM.links, ["mean 'bodies'"]),
    "arm.simulate": (lambda: ARM.simulate, ["flexarm.simulate(arm, ...)"]),
    "Motor": (lambda: fa.Motor, ["mean 'Drive'"]),
    "animate": (lambda: fa.animate, ["mean 'plotting.animate'"]),
    "PID": (lambda: fa.control.PID, ["mean 'SetPointPD'"]),
    "min_time": (lambda: fa.optimize.min_time, ["mean 'time_optimal'"]),
    "ur5": (lambda: fa.library.ur5, ["mean 'ur5e'"]),
    "kr16": (lambda: fa.library.kr16, ["flexarm.urdf.load"]),
    "tube": (lambda: beams.tube, ["mean 'Section'"]),
    "arm.M": (lambda: ARM.M, ["mean 'mass_matrix'"]),
    "arm.dof": (lambda: ARM.dof, ["mean 'nv'"]),
    "arm.names": (lambda: ARM.names, ["mean 'coordinate_names'"]),
    "Section.circular": (lambda: Section.circular(0.04), ["mean 'round'"]),  # type: ignore[attr-defined]
    "Arm.from_urdf": (lambda: fa.Arm.from_urdf("a"), ["expected flexarm.urdf.load"]),  # type: ignore[attr-defined]
    "plotting.draw": (lambda: fa.plotting.draw, ["flexarm.plotting.arm(arm, q)"]),
}


@each("call, words", DESCRIPTIONS | CALLS)
def test_a_mistake_is_answered_in_one_sentence(
    call: Callable[[], Any], words: list[str]
) -> None:
    with pytest.raises((fa.ModelError, fa.ArgumentError)) as caught:
        call()
    answer = caught.value

    def again() -> None:
        raise answer

    refused(type(answer), words, again)


def test_a_thin_rod_does_not_turn_about_its_line() -> None:
    joint = Joint("universal", axis="x", axis2="y")
    arm = fa.Arm([UPPER.replace(joint=joint)])
    q, zero = arm.neutral, np.zeros(2)
    words = "'upper.rotation 1' moves nothing that has a mass or an inertia"
    for call in (
        lambda: fa.forward_dynamics(arm, q, zero, zero),
        lambda: fa.natural_frequencies(arm, [q, q]),
        lambda: fa.linearize(arm, q),
    ):
        with pytest.raises(fa.SingularityError, match=words):
            call()
    assert words in fa.simulate(arm, q, zero, [0.0, 0.1]).message
    assert "inertia" not in fa.simulate(fa.Arm([UPPER]), [0], [1e200], [0, 1]).message
    # where the mass matrix overflows itself
    far = np.append(np.zeros(2), np.full(ARM.nv - 2, 1e200))
    assert "became infinite" in fa.simulate(ARM, far, 0 * far, [0.0, 0.1]).message
    with pytest.raises(fa.SingularityError, match=r"forward_dynamics .* overflow"):
        fa.forward_dynamics(ARM, far, 0 * far, 0 * far)


@each("call, words", DOUBTFUL)
def test_an_improbable_number_is_warned_of(
    call: Callable[[], Any], words: list[str]
) -> None:
    with pytest.warns((fa.UnitsWarning, fa.PlacementWarning)) as caught:
        call()
    text = str(caught[0].message)
    assert all(word in text for word in words), text
    assert caught[0].filename == __file__ and len(text) < 300


@each("call, words", ATTRIBUTES)
def test_a_name_leads_to_the_right_one(
    call: Callable[[], Any], words: list[str]
) -> None:
    with pytest.raises(AttributeError) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_what_is_made_does_not_change() -> None:
    for made, name, value in ((ARM, "gravity", (0, 0, 0)), (UPPER, "mass", 2.0)):
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"replace.{name}="):
            setattr(made, name, value)
        assert getattr(made.replace(**{name: value}), name) is not None


def test_what_is_possible_is_not_refused() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Payload(0.5, name="sensor")  # a node without a mass
        Payload(0.5, inertia=(1e-3, 0, 0))
        Material(1.0, 1.0)  # without dimensions
        Material(1e3, 1000.0)  # a gel
        Material(5e4, 1040.0)  # the softest of silicones
        Material(1.05e12, 3515.0)  # diamond
        Material(3e9, 120.0)  # balsa
        Material(210e9, 1e-6)  # a link without mass
        Joint(limits=(-20 * np.pi, 20 * np.pi))  # a winch
        Joint("prismatic", axis=(1, 0, 0), limits=(-50.0, 50.0))  # a crane
        Joint(limits=(-np.inf, np.inf))
        link(damping_ratio=1.0)
        disc = Section.round(0.1, STEEL)
        finite_element_link("disc", length=0.02, sections=disc, rotary_inertia=True)
        Section.from_stiffness(7.85, 2e9)
        fa.Arm([UPPER], gravity=(0, 0, 9.81))  # hangs from the ceiling
        fa.Arm([body(inertia=(0.1, 0.1, 0.1))])
        run(q0=[100.3, 0.0])  # many turns
        run(t=T + 1.0)  # times that start late


def test_axes_are_of_any_length() -> None:
    assert_allclose(Joint(axis=(0, 0, 90)).axis, [0, 0, 1])
    assert beams.STEEL.E == 210e9


def test_axes_and_materials_have_names() -> None:
    for name, axis in {"y": (0, 1, 0), "-z": (0, 0, -1), "+x": (1, 0, 0)}.items():
        found = Joint(axis=name).axis
        assert_allclose(found, axis)
        assert not np.signbit(found[found == 0.0]).any()
    for name, material in {"steel": STEEL, "Aluminum": beams.ALUMINIUM}.items():
        named, given = (Section.tube(0.04, 0.002, m) for m in (name, material))
        assert named.material is material
        assert_allclose(named.shear_areas, given.shear_areas, rtol=0.0)


def test_joints_on_one_line_are_no_doubt_where_they_are_meant() -> None:
    fore = body(com=(0.5, 0, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fa.Arm([UPPER, fore], check_units=False)
        fa.Arm([UPPER, fore.replace(joint=Joint(node="base"))])
        fa.Arm([UPPER.replace(nodes={"tip": (1.0, 0, 0)}), fore])
        fa.Arm([UPPER, fore.replace(joint=Joint(axis="y"))])  # a gimbal
        fa.Arm([UPPER, fore.replace(joint=Joint(position=(1.0, 0, 0)))])
        fa.Arm([UPPER.replace(com=(0, 0, 0.1)), fore])  # an axle
        fa.Arm([UPPER, fore.replace(com=(0, 0, 0.1))])  # a wheel


def test_functions_of_an_arm_refuse_names_that_they_do_not_have() -> None:
    checked = 0
    for name in sorted(fa.__all__):
        function = getattr(fa, name)
        if not callable(function) or isinstance(function, type):
            continue
        parameters = inspect.signature(function).parameters
        options = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        if next(iter(parameters), "") != "arm" or options:
            continue
        needed = [p for p in parameters.values() if p.default is p.empty]
        with pytest.raises(fa.ArgumentError, match="has no argument 'zzz', exp"):
            function(CHAIN, *[np.zeros(2)] * (len(needed) - 1), zzz=1)
        checked += 1
    assert checked > 50
    with pytest.raises(fa.ArgumentError, match=r"gravity is that of the arm, arm\.rep"):
        fa.inverse_dynamics(CHAIN, [0, 0], [0, 0], [0, 0], gravity=(0, 0, 0))  # type: ignore[arg-type]
    assert "other" not in inspect.signature(fa.mass_matrix).parameters


def test_an_arm_knows_its_bodies_by_name_and_has_no_length() -> None:
    assert CHAIN["link2"] is CHAIN.bodies[1]
    assert ARM["link1"].mass == ARM.bodies[0].mass
    with pytest.raises(fa.ModelError, match="no body 'link3'"):
        CHAIN["link3"]
    with pytest.raises(TypeError, match=r"expected the name of a body.*arm\.bodies"):
        CHAIN[0]  # type: ignore[index]
    with pytest.raises(TypeError, match=r"expected the name of a body"):
        list(CHAIN)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"arm\.nv.*arm\.nj.*len\(arm\.bodies\)"):
        len(CHAIN)
    assert CHAIN and np.array([CHAIN, ARM], dtype=object).shape == (2,)
