"""Refusals of drives, springs, friction and stops, in sentences."""

from functools import partial

import numpy as np
import pytest
from each import each
from refusals import argument_refused, model_refused

import flexarm as fa
from flexarm import CoulombFriction, Drive, Joint, Stops
from flexarm.model import free_motors, motor_positions

GOOD = Drive(100.0, rotor_inertia=0.1)
NAN, INF = np.nan, np.inf


def _drive(**changes):
    return partial(Drive, **({"stiffness": 100.0, "rotor_inertia": 0.1} | changes))


def _joint(kind="revolute", **changes):
    return partial(Joint, kind, **changes)


DRIVES = {
    "stiffness": (_drive(stiffness=0.0), ["stiffness", "positive", "infinite"]),
    "negative stiffness": (_drive(stiffness=-1.0), ["stiffness", "-1"]),
    "nan stiffness": (_drive(stiffness=NAN), ["stiffness", "nan"]),
    "stiffness of text": (_drive(stiffness="stiff"), ["stiffness", "real numbers"]),
    "stiffness of two": (_drive(stiffness=[1.0, 2.0]), ["stiffness", "[1.0, 2.0]"]),
    "ratio": (_drive(gear_ratio=0.0), ["gear_ratio", "zero", "turns"]),
    "infinite ratio": (_drive(gear_ratio=INF), ["gear_ratio", "finite"]),
    "no rotor": (
        _drive(rotor_inertia=0.0),
        ["rotor_inertia", "mass matrix is singular", "locked="],
    ),
    "rigid without rotor": (
        _drive(rotor_inertia=0.0, stiffness=INF),
        ["rotor_inertia", "leave out"],
    ),
    "negative rotor": (_drive(rotor_inertia=-0.1), ["rotor_inertia", "-0.1"]),
    "transverse": (
        _drive(rotor_transverse_inertia=-1.0),
        ["rotor_transverse_inertia", "-1"],
    ),
    "rotor mass": (_drive(rotor_mass=-1.0), ["rotor_mass", "zero or more"]),
    "stator mass": (_drive(stator_mass=NAN), ["stator_mass", "nan"]),
    "stator inertia": (_drive(stator_inertia=-2.0), ["stator_inertia", "negative"]),
    "stator matrix": (
        _drive(stator_inertia=[[1, 1, 0], [0, 1, 0], [0, 0, 1]]),
        ["stator_inertia", "symmetric"],
    ),
    "stator shape": (_drive(stator_inertia=[1.0, 2.0]), ["stator_inertia", "(3, 3)"]),
    "damping": (_drive(damping=-1.0), ["damping", "-1", "zero or more"]),
    "motor damping": (_drive(motor_damping=-1.0), ["motor_damping", "-1"]),
    "motor friction": (_drive(motor_friction=0.3), ["0.3", "CoulombFriction"]),
    "locked": (_drive(locked=INF), ["locked", "finite"]),
    "locked and rigid": (_drive(locked=0.0, stiffness=INF), ["locked", "'fixed'"]),
    "damped and rigid": (_drive(damping=1.0, stiffness=INF), ["damping", "rigid"]),
}


PARTS = {
    "force": (partial(CoulombFriction, -1.0, 0.1), ["force", "-1"]),
    "smoothing": (partial(CoulombFriction, 1.0, 0.0), ["smoothing_velocity", "zero"]),
    "least": (partial(CoulombFriction, 1.0, 1e-200), ["smoothing_velocity", "1e-200"]),
    "stops in order": (partial(Stops, 1.0, -1.0, 5.0), ["1.0 and -1.0", "below"]),
    "stops nan": (partial(Stops, NAN, 1.0, 5.0), ["nan", "below"]),
    "no bound": (partial(Stops, stiffness=5.0), ["no bound", "leave"]),
    "bound at infinity": (partial(Stops, INF, INF, 5.0), ["inf", "below"]),
    "all above": (partial(Stops, -INF, -INF, 5.0), ["below"]),
    "no stiffness": (partial(Stops, 0.0, 1.0), ["stiffness", "zero"]),
    "negative stiffness": (partial(Stops, 0.0, 1.0, -3.0), ["-3", "positive"]),
    "stop damping": (partial(Stops, 0.0, 1.0, 5.0, -1.0), ["damping", "-1"]),
}


SLIDING = {
    "rotor_mass": Drive(1e3, rotor_inertia=1.0, rotor_mass=1.0),
    "rotor_transverse_inertia": Drive(
        1e3, rotor_inertia=1.0, rotor_transverse_inertia=1.0
    ),
}
JOINTS = {
    "drive": (_joint(drive=100.0), ["drive", "100.0", "Drive"]),
    "friction": (_joint(coulomb_friction=1.0), ["coulomb_friction", "CoulombFriction"]),
    "stops": (_joint(stops=(0, 1)), ["stops", "(0, 1)", "Stops"]),
    "stiffness": (_joint(stiffness=-1.0), ["stiffness", "-1"]),
    "rest": (_joint(stiffness=1.0, rest=NAN), ["rest", "nan"]),
    "rest without spring": (_joint(rest=0.3), ["rest", "0.3", "no spring"]),
    "fixed": (_joint("fixed", drive=GOOD), ["fixed", "drive", "one freedom"]),
    "spherical": (_joint("spherical", stiffness=5.0), ["spherical", "stiffness"]),
    "universal": (
        _joint("universal", stops=Stops(0, 1, 5), stiffness=1.0),
        ["universal", "stiffness and stops", "chain"],
    ),
    "rotary": (_joint(drive=GOOD.replace(rotary=True)), ["revolute", "rotary"]),
    **{
        name: (_joint("prismatic", drive=drive), [name, "rotary=True"])
        for name, drive in SLIDING.items()
    },
}


def _arm(**drive):
    joint = Joint(drive=GOOD.replace(**drive))
    nodes = {"tip": (1.0, 0, 0)}
    rod = fa.RigidBody("rod", joint, mass=1.0, com=(0.5, 0, 0), nodes=nodes)
    pin = fa.RigidBody("pin", Joint(), mass=1.0, com=(0.5, 0, 0))
    return fa.Arm([rod, pin])


FUNCTIONS = {
    "lock where": (lambda: fa.lock_motors(_arm(), [1.0, 2.0]), ["(2,)", "(1,)"]),
    "lock twice": (lambda: fa.lock_motors(_arm(), bodies=[0, 0]), ["twice", "once"]),
    "lock what": (lambda: fa.lock_motors(_arm(), bodies=["pin"]), ["'pin'", "lock"]),
    "free what": (lambda: free_motors(_arm(), bodies=["pin"]), ["'pin'", "free"]),
    "positions": (lambda: motor_positions(_arm(), [1.0]), ["(1,)", "axis of 3 coord"]),
    "load": (lambda: motor_positions(_arm(), [0.0] * 3, [1.0]), ["(1,)", "nj = 2"]),
    "creep": (lambda: CoulombFriction(1.0, 0.1).creep(1.5), ["1.5", "less"]),
    "power": (lambda: fa.dissipated_power(_arm(), [0.0], [0.0]), ["q", "length 1"]),
}


REFUSED = [*DRIVES.items(), *PARTS.items(), *JOINTS.items()]


@each("call, words", [c for _, c in REFUSED], [name for name, _ in REFUSED])
def test_drives_friction_stops_and_joints(call, words):
    model_refused(words, call)


@each("call, words", FUNCTIONS)
def test_functions(call, words):
    argument_refused(words, call)


def test_models():
    model_refused(["no body 'x'"], lambda: fa.lock_motors(_arm(), bodies=["x"]))
    argument_refused(["q_motor", "nan"], lambda: fa.lock_motors(_arm(), "nan"))
    model_refused(["locked", "nan"], lambda: fa.lock_motors(_arm(), NAN))
    rigid = _arm(stiffness=INF)
    model_refused(["rigid and locked"], lambda: fa.lock_motors(rigid))
    model_refused(["rotor_inertia"], lambda: _arm(rotor_inertia=0.0, locked=None))
    still = _arm(rotor_inertia=0.0, locked=0.0)
    model_refused(["singular"], lambda: free_motors(still))
    with pytest.raises(fa.NotFiniteError):
        fa.dissipated_power(_arm(), [NAN, 0.0, 0.0], [0.0] * 3)


def test_model_refuses_what_is_no_motor():
    """Memory safety of the C model, whatever the arrays hold."""
    from flexarm._core import PASSIVE_COLUMNS, TOPOLOGY_COLUMNS, Model

    arrays = list(_arm().pack())
    drives, dof = (TOPOLOGY_COLUMNS[name] for name in ("drives", "dof"))
    assert arrays[0][:, drives].ravel().tolist() == [0, 0, 1]
    assert Model(*arrays) is not None
    # drives a body that is not there, itself, nothing; has no freedom
    for column, value in (
        (drives, 4),
        (drives, 3),
        (drives, -1),
        (drives, 0),
        (dof, 0),
    ):
        topology = arrays[0].copy()
        topology[2, column] = value
        with pytest.raises(ValueError, match=r"body|joint"):
            Model(topology, *arrays[1:])
    for name, value in (
        ("kind", 3.0),
        ("body", 7.0),
        ("body", -1.0),
        ("rotor", 1.0),
        ("ratio", NAN),
        ("parameters", [1.0, INF, 0.0, 0.0]),
    ):
        passive = arrays[-2].copy()
        passive[0, PASSIVE_COLUMNS[name]] = value
        with pytest.raises(ValueError, match=r"joint|finite"):
            Model(*arrays[:-2], passive, arrays[-1])
