"""Shared by the tests of files: arms of every part, and equality to the bit."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

import flexarm as fa
from flexarm import beams
from flexarm.arm import without_warning
from flexarm.stacks import ArmStack

GEAR = fa.Drive(np.inf, gear_ratio=1.0 / 3.0, rotor_inertia=1e-3)
STOPS = fa.Stops(stiffness=1e3, upper=0.5)
# arms of the library that need no arguments
LIBRARY = (
    "canadarm",
    "cibicik_egeland",
    "crane",
    "de_luca_siciliano",
    "farid_planar",
    "farid_spatial",
    "farid_two_link",
    "iiwa14",
    "mueller_remote_center",
    "panda",
    "pendulum",
    "planar_chain",
    "puma560",
    "spin_up_beam",
    "ur5e",
    "youbot",
)
TUBE = beams.Section.tube(0.05, 0.002, beams.ALUMINIUM)


def driven() -> fa.Arm:
    """Drives of all kinds, springs, friction, stops, limits, couplings, a loop."""
    drive = fa.Drive(
        1e4,
        gear_ratio=-80.5,
        rotor_inertia=1e-4,
        damping=0.3,
        motor_friction=fa.CoulombFriction(0.1, 0.01),
        stator_inertia=(0.1, 0.2, 0.2),
        stator_mass=1.0,
    )
    joints = [
        fa.Joint(drive=drive, limits=(-np.inf, 2.0), velocity_limit=3.0, name="hip"),
        fa.Joint(axis=(1, 2, 3), drive=GEAR),
        fa.Joint(
            "prismatic",
            stiffness=10.0,
            rest=0.1,
            stops=STOPS,
        ),
        fa.Joint(coulomb_friction=fa.CoulombFriction(0.2, 0.05), damping=0.1),
        fa.Joint(
            "universal", node="tip", position=(0.1, 0.0, -0.0), effort_limit=(1, 2)
        ),
    ]
    bodies = [
        fa.RigidBody(
            f"b{i}",
            joint,
            mass=1.0 + i,
            com=(0.1, 0.2, -0.0),
            inertia=(1, 1, 1),
            nodes={"tip": (0.3, 0, 0)},
        )
        for i, joint in enumerate(joints)
    ]
    held = [
        fa.Loop(("b4", "tip"), "ground", "spherical", position2=(1.0, 0.2, 0.0)),
        fa.Coupling({"hip": 1.0 / 3.0, "b3": 1.0}, name="belt"),
    ]
    return fa.Arm(
        bodies, constraints=held, gravity=(0.0, -0.0, -9.81), stabilization=3.0
    )


def links() -> dict[str, Any]:
    """Links of beams of each kind, by name."""
    uniform = {"length": 1.0, "mass_per_length": 2.0, "bending_stiffness": (50.0, 60.0)}
    box = beams.Section.box(0.05, 0.03, 0.002, beams.STEEL)
    stiff = beams.Section.from_stiffness(2.0, (50.0, 60.0))

    def taper(x: float) -> Any:
        return beams.Section.tube(0.04 - 0.02 * x, 0.002, beams.ALUMINIUM)

    def uniform_link(**options: Any) -> Any:
        return beams.flexible_link("a", **(uniform | options))

    def elements(**options: Any) -> Any:
        options = {
            "length": 0.8,
            "sections": TUBE,
            "n_modes": 2,
            "n_elements": 2,
        } | options
        return beams.finite_element_link("a", **options)

    modes = beams.clamped_beam_modes(0.5, 0.2, 1.0, 2, tip_mass=0.1)
    return {
        "uniform": uniform_link(damping_ratio=0.01, tip_mass=0.3, tip_com=(0, 0.1, 0)),
        "twisting": uniform_link(torsional_stiffness=5.0, polar_inertia_per_length=0.1),
        "clamped": uniform_link(modes="clamped-free", n_modes=2),
        "free": uniform_link(modes="free", n_modes=2),
        "pinned": uniform_link(modes="pinned", n_modes=2, motions="bending y"),
        "own modes": beams.flexible_link(
            "a", length=0.5, mass_per_length=0.2, bending_y=modes
        ),
        "no foreshortening": uniform_link(geometric_stiffening=False),
        "pieces": uniform_link(segments=3),
        "elements": elements(payloads=[beams.Payload(0.4, mass=0.1, com=(0, 0.1, 0))]),
        "tapered": elements(sections=taper),
        "bent": elements(
            length=None,
            points=[(0, 0, 0), (0.5, 0, 0), (0.5, 0.3, 0)],
            sections=[TUBE, box],
            n_modes=3,
        ),
        "chord": elements(frame="chord", motions="bending y"),
        "stiffness alone": elements(sections=stiff, motions=["bending y", "bending z"]),
        "pieces of elements": elements(segments=2, n_modes=None),
    }


def arm_of(body: Any) -> fa.Arm:
    hand = fa.RigidBody("hand", fa.Joint("fixed"), mass=0.5, inertia=(0.1, 0.1, 0.1))
    with without_warning():
        return fa.Arm([body, hand])


def assert_same_arm(a: fa.Arm, b: fa.Arm, *, printed: bool = False) -> None:
    """The same to the bit: packed arrays, descriptions, and what is printed."""
    for x, y in zip(a.pack(), b.pack(), strict=True):
        assert_same(np.asarray(x), np.asarray(y))
    assert a.bodies == b.bodies
    assert a.constraints == b.constraints
    for name in ("gravity", "name", "tip", "check_units", "stabilization", "fidelity"):
        assert_same(getattr(a, name), getattr(b, name), name)
    assert repr(a) == repr(b)
    if printed:  # with the errors of modes, of the unreduced links
        assert str(a) == str(b)


def assert_same(a: Any, b: Any, place: str = "") -> None:
    """The same types and bits, in all parts of results."""
    assert type(a) is type(b), (place, type(a), type(b))
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), place
        assert a.tobytes() == b.tobytes(), place
    elif isinstance(a, fa.Arm):
        assert a.bodies == b.bodies, place
    elif isinstance(a, ArmStack):
        assert_same(a.arms, b.arms, place)
        assert_same(a.index, b.index, place)
    elif isinstance(a, fa.optimize.Path):
        assert_same(tuple(a([0.0, 0.3])), tuple(b([0.0, 0.3])), place)
    elif isinstance(a, fa.outputs.Output):
        assert_same(a._call, b._call, place)
    elif dataclasses.is_dataclass(a):
        for f in dataclasses.fields(a):
            assert_same(getattr(a, f.name), getattr(b, f.name), f"{place}.{f.name}")
        assert_same(getattr(a, "call", None), getattr(b, "call", None), f"{place}.call")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), place
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same(x, y, f"{place}[{i}]")
    elif isinstance(a, Mapping):
        assert list(a) == list(b), place
        for key in a:
            assert_same(a[key], b[key], f"{place}.{key}")
    elif isinstance(a, np.random.Generator):
        assert_same(a.bit_generator.state, b.bit_generator.state, place)
    else:
        assert a == b or (a != a and b != b), (place, a, b)
        assert repr(a) == repr(b), place  # -0.0
