"""Counts and numbers that no one means: an object, or one sentence, at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from hostile_files import fault, mesh

import flexarm as fa
from flexarm import beams, library
from flexarm import finite_elements as fe
from flexarm.beams._single import free_beam_modes, free_rod_modes, pinned_beam_modes
from flexarm.library.spatial import cibicik_egeland_order

INSIDE_ITSELF: list[Any] = []
INSIDE_ITSELF.append(INSIDE_ITSELF)
DEEP: Any = []
for _ in range(10_000):
    DEEP = [DEEP]

COUNTS = {
    "true": True,
    "float": 2.5,
    "whole float": 2.0,
    "2^31": 2**31,
    "2^63": 2**63,
    "10^400": 10**400,
    "10^5000": 10**5000,
    "-1": -1,
    "-2^63": -(2**63),
    "nan": float("nan"),
    "text": "3",
    "list": [2],
    "array": np.array([1, 2]),
    "inside itself": INSIDE_ITSELF,
    "deep": DEEP,
    "complex": 1j,
    "5000": 5000,
}
# what no function takes for a count; 5000 and a list are a shape of some
REFUSED_COUNTS = {key: COUNTS[key] for key in COUNTS if key not in ("5000", "list")}
NUMBERS = {
    "nan": float("nan"),
    "inf": float("inf"),
    "1e200": 1e200,
    "1.7e308": 1.7e308,
    "1e-300": 1e-300,
    "5e-324": 5e-324,
    "-1": -1.0,
    "zero": 0.0,
    "complex": 1j,
    "three": [1.0, 2.0, 3.0],
    "matrix": [[1.0]],
    "text": "1",
    "10^400": 10**400,
    "10^5000": 10**5000,
    "inside itself": INSIDE_ITSELF,
    "deep": DEEP,
    "object": object(),
    "none": [None],
    "masked": np.ma.masked_array([1.0], mask=[True]),
    "mapping": {},
}

SECTION = beams.Section.from_stiffness(
    5.0, 1000.0, torsional_stiffness=100.0, rotary_inertia=(0.05, 0, 0)
)
MODES = beams.clamped_beam_modes(1.0, 1.0, 1.0, 2)
ROD = beams.clamped_rod_modes(1.0, 1.0, 1.0, 1)
LINK = beams.flexible_link("link", length=1.0, mass_per_length=1.0, bending_y=MODES)
MESH = mesh()
BEAM = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 1.0, "n_modes": 2}
SHAFT = {
    "length": 1.0,
    "polar_inertia_per_length": 1.0,
    "torsional_stiffness": 1.0,
    "n_modes": 2,
}
FARID = {"elements": 1, "n_links": 2}
INERTIAS = ["payload_mass", "payload_inertia", "rotor_inertia", "stator_inertia"]
STIFFNESSES = ["bending_stiffness", "joint_stiffness"]
# function, its valid arguments, its counts, its numbers
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any], list[str], list[str]]] = {
    "pendulum": (
        library.pendulum,
        {},
        [],
        ["mass", "com", "inertia", "length", "damping"],
    ),
    "planar_chain": (
        library.planar_chain,
        {"n": 2, "n_modes": 2},
        ["n", "n_modes"],
        ["length", "mass", "bending_stiffness", "damping", "damping_ratio", "gravity"],
    ),
    "rigid chain": (
        library.planar_chain,
        {"n": 2},
        ["n", "geometric_stiffening"],
        ["length", "mass", "bending_stiffness", "damping_ratio", "payload_mass"],
    ),
    "de_luca_siciliano": (
        library.de_luca_siciliano,
        {},
        ["n_modes"],
        ["payload_mass", "payload_inertia"],
    ),
    "cibicik_egeland": (
        library.cibicik_egeland,
        {},
        ["n_modes", "bending", "fidelity"],
        ["damping"],
    ),
    "order": (cibicik_egeland_order, {}, ["n_modes"], []),
    "maneuver": (
        fa.reference.maneuvers.cibicik_egeland_maneuver,
        {"arm": library.cibicik_egeland(n_modes=0)},
        ["n", "arm"],
        [],
    ),
    "poses": (library.poses, {}, ["arm"], []),
    "farid_planar": (
        library.farid_planar,
        FARID,
        ["n_links", "elements", "frame"],
        [*STIFFNESSES, *INERTIAS, "damping"],
    ),
    "rigid farid": (
        library.farid_planar,
        FARID | {"elements": 0, "joint_stiffness": None},
        ["frame"],
        ["bending_stiffness", *INERTIAS],
    ),
    "farid_spatial": (
        library.farid_spatial,
        {"elements": 1},
        ["elements", "frame"],
        [*STIFFNESSES, "torsional_stiffness", "payload_mass"],
    ),
    "mueller": (library.mueller_remote_center, {}, [], ["d", "h4", "x", "z"]),
    "spin_up_beam": (library.spin_up_beam, {}, ["n_modes"], []),
    "spin_up": (library.spin_up, {}, [], ["t"]),
    "random_tree": (
        library.random_tree,
        {"rng": 1},
        ["n_bodies", "max_modes", "n_nodes", "joints"],
        ["attachments", "foreshortening"],
    ),
    "clamped_beam_modes": (
        beams.clamped_beam_modes,
        BEAM,
        ["n_modes", "normalization"],
        [*list(BEAM)[:3], "tip_mass", "tip_inertia", "tip_moment"],
    ),
    "clamped_rod_modes": (
        beams.clamped_rod_modes,
        SHAFT,
        ["n_modes", "normalization"],
        [*list(SHAFT)[:3], "tip_inertia"],
    ),
    "free_beam_modes": (free_beam_modes, BEAM, ["n_modes"], list(BEAM)[:3]),
    "pinned_beam_modes": (pinned_beam_modes, BEAM, ["n_modes"], list(BEAM)[:3]),
    "free_rod_modes": (free_rod_modes, SHAFT, ["n_modes"], list(SHAFT)[:3]),
    "flexible_link": (
        beams.flexible_link,
        {
            "name": "link",
            "length": 1.0,
            "mass_per_length": 1.0,
            "bending_y": MODES,
            "torsion": ROD,
        },
        ["name", "n_points", "joint", "bending_y", "torsion"],
        [
            *("length", "mass_per_length", "base_mass", "base_inertia", "tip_mass"),
            *("tip_inertia", "tip_com", "section_inertia", "modal_damping"),
            "damping_ratio",
        ],
    ),
    "finite_element_link": (
        beams.finite_element_link,
        {"name": "link", "length": 1.0, "sections": SECTION, "n_elements": 1},
        [
            *("name", "n_elements", "n_modes", "n_points", "joint", "motions", "frame"),
            *("reduction", "keep", "payloads", "sections"),
        ],
        ["length", "damping_ratio", "roll", "points"],
    ),
    "Payload": (
        beams.Payload,
        {"at": 0.5, "mass": 1.0},
        ["name"],
        ["at", "mass", "com", "inertia"],
    ),
    "buckling_load": (
        beams.buckling_load,
        {"body": LINK},
        ["body", "node"],
        ["acceleration"],
    ),
    "tube": (
        beams.Section.tube,
        {"diameter": 0.05, "thickness": 0.002, "material": beams.ALUMINIUM},
        ["material"],
        ["diameter", "thickness"],
    ),
    "beam_mesh": (
        fe.beam_mesh,
        {
            "length": 1.0,
            "n_elements": 1,
            "mass_per_length": 2.0,
            "bending_stiffness": 3.0,
            "axial_stiffness": 1e4,
            "torsional_stiffness": 2.0,
            "section_inertia": (0.01, 0, 0),
        },
        ["n_elements"],
        [
            *("length", "mass_per_length", "bending_stiffness", "axial_stiffness"),
            *("torsional_stiffness", "section_inertia", "shear_stiffness"),
        ],
    ),
    "clamped_modes": (
        MESH.clamped_modes,
        {"attachment": 0, "n_modes": 2},
        ["n_modes"],
        [],
    ),
    "free_modes": (MESH.free_modes, {}, ["n_modes"], []),
    "craig_bampton": (
        MESH.craig_bampton,
        {"attachment": 0, "interfaces": [1], "n_modes": 0},
        ["n_modes", "interfaces"],
        [],
    ),
    "modal_integrals": (fa.modal_integrals, {}, ["body"], []),
}


# arguments that are no counts: a name may be "3"
TAKEN = {
    ("name", "text"),
    ("geometric_stiffening", "true"),
    ("node", "-1"),
    ("keep", "text"),
    ("interfaces", "array"),
}


def faults(
    calls: list[tuple[str, str, str, Any]], must_refuse: bool = False
) -> list[str]:
    """Faults of calls, with warnings of NumPy as errors."""
    found = []
    for name, argument, label, value in calls:
        function, valid, _, _ = CALLS[name]
        made: list[Any] = []

        def call(
            function: Any = function, made: Any = made, given: Any = valid
        ) -> None:
            made.append(function(**given))

        with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
            warnings.simplefilter("error")
            told = fault(lambda given=valid | {argument: value}: call(given=given))
        if not told and must_refuse and made:
            told = f"gives {str(type(made[0]))[:60]}"
        if told:
            found.append(f"{name}({argument}={label}): {told}")
    return found


def rows(which: int, values: dict[str, Any]) -> list[tuple[str, str, str, Any]]:
    return [
        (name, argument, label, value)
        for name, call in CALLS.items()
        for argument in call[which]
        for label, value in values.items()
    ]


@each("name", CALLS)
def test_valid_arguments_are_taken(name: Any) -> None:
    function, valid, counts, _ = name
    if counts in (["arm"], ["body"], ["n_modes"]) and not valid:
        return  # needs one
    if function is library.spin_up:
        return
    function(**valid)


def test_counts_are_refused_at_once() -> None:
    calls = [row for row in rows(2, REFUSED_COUNTS) if row[1:3] not in TAKEN]
    assert len(calls) > 800
    assert faults(calls, must_refuse=True) == []


def test_large_counts_end_at_once() -> None:
    for label in ("5000", "list"):
        assert faults(rows(2, {label: COUNTS[label]})) == []


def test_numbers_are_right_or_refused() -> None:
    """A part of all, in turn."""
    calls = rows(3, NUMBERS)
    assert faults(calls[::4]) == []


@pytest.mark.slow
def test_all_numbers_are_right_or_refused() -> None:
    assert faults(rows(3, NUMBERS)) == []


def test_numbers_are_refused() -> None:
    """Not one of these is taken by any function for a number."""
    labels = ("nan", "complex", "text", "10^400", "10^5000", "inside itself", "object")
    assert len(rows(3, {"nan": 0})) > 80
    for label in labels:
        assert faults(rows(3, {label: NUMBERS[label]}), must_refuse=True) == []


SEEDS = {
    "none": None,
    "seed": 3,
    "huge": 10**1000,
    "of NumPy": np.int64(3),
    "generator": np.random.default_rng(3),
}


@each("seed", SEEDS)
def test_seeds(seed: Any) -> None:
    arm = library.random_tree(seed, 3)
    assert len(arm.bodies) == 3
    if not isinstance(seed, np.random.Generator | None):
        assert arm == library.random_tree(int(seed), 3)


def test_refused_seeds() -> None:
    """A list inside of itself ended the process inside of NumPy."""
    pendulum = library.pendulum()
    pose = fa.tip_pose(pendulum, [0.3])
    wrong: list[Any] = [
        *(-1, True, 2.0, "3", [1, 2], INSIDE_ITSELF, DEEP, np.array(3.5)),
        *(np.random.SeedSequence(3), np.random.RandomState(3), float("nan")),
        np.random,
    ]
    for rng in wrong:
        for call in (
            lambda rng=rng: library.random_tree(rng, 3),
            lambda rng=rng: fa.inverse_kinematics(pendulum, pose, rng=rng),
            lambda rng=rng: fa.base_parameters(pendulum, seed=rng),
        ):
            with pytest.raises(fa.FlexarmError, match=r"(rng|seed) is .*Generator"):
                call()


def test_arms_of_too_many_bodies_are_refused_by_name() -> None:
    """4097 parents are not listed in a message."""
    rods = [fa.RigidBody(f"rod{i}", mass=1.0) for i in range(300)]
    lost = rods[-1].replace(joint=fa.Joint(parent="arm"))
    with pytest.raises(fa.ModelError, match=r"'arm', .*rod7, \.\.\. \(300 in all\)"):
        fa.Arm([*rods[:-1], lost])


def test_motors_are_gathered_once() -> None:
    """The time to build an arm does not grow with the square of its bodies."""
    from flexarm.model import motors

    counted: list[int] = []
    before = motors.mounts

    def counting(arm: Any) -> Any:
        counted.append(1)
        return before(arm)

    motors.mounts = counting
    try:
        planar_chain(50)
    finally:
        motors.mounts = before
    assert len(counted) < 20
