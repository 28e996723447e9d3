"""Beams by their parts: the links of the functions by numbers, to the last bit."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from refusals import model_refused

import flexarm as fa
from flexarm import Joint
from flexarm.beams import (
    ALUMINIUM,
    STEEL,
    Beam,
    Material,
    Payload,
    Section,
    finite_element_link,
    flexible_link,
)

MATERIAL = Material(E=3e9, density=1200.0, poisson=0.37)
SHAPES: dict[str, Callable[..., Section]] = {
    "round": partial(Section.round, 0.03),
    "ellipse": partial(Section.ellipse, 0.03, 0.02),
    "tube": partial(Section.tube, 0.04, 0.002),
    "rectangle": partial(Section.rectangle, 0.02, 0.03),
    "box": partial(Section.box, 0.04, 0.03, 0.002),
    "i_beam": partial(Section.i_beam, 0.04, 0.06, 0.004, 0.003),
    "numbers": partial(Section, 1e-3, 1e-7, 2e-7, 2.5e-7),
}
TUBE = Section.tube(0.04, 0.002)
STEEL_TUBE = Section.tube(0.04, 0.002, STEEL)
BEAM = Beam(TUBE, length=1.2, material="steel")
ON_Y = Joint.revolute("y")
LOAD = [Payload(0.7, mass=0.5, inertia=(1e-3, 2e-3, 2e-3))]


def taper(x: float) -> Section:
    return Section.tube(0.05 - 0.02 * x, 0.002)


def taper_of_steel(x: float) -> Section:
    return Section.tube(0.05 - 0.02 * x, 0.002, "steel")


def by_numbers(section: Section, length: float = 1.2, **options: Any) -> Any:
    """The uniform link of a section, by its numbers."""
    return flexible_link(
        "boom",
        length=length,
        mass_per_length=section.mass_per_length,
        bending_stiffness=section.bending_stiffness,
        torsional_stiffness=section.torsional_stiffness,
        polar_inertia_per_length=float(section.rotary_inertia[0]),
        section_inertia=section.rotary_inertia,
        **options,
    )


@each("make", SHAPES)
def test_the_material_of_a_section_may_follow(make: Callable[..., Section]) -> None:
    for material in (STEEL, ALUMINIUM, MATERIAL):
        later = make().replace(material=material)
        assert later == make(material=material)
        assert (
            later.shear_stiffness.tolist()
            == make(material=material).shear_stiffness.tolist()
        )
    assert make() == make()
    assert make() != make("steel")
    assert pickle.loads(pickle.dumps(make())) == make()
    assert make().area == make("steel").area
    for name in (
        "mass_per_length",
        "bending_stiffness",
        "torsional_stiffness",
        "axial_stiffness",
        "shear_stiffness",
    ):
        model_refused(["lacks material", "'steel'"], lambda n=name: getattr(make(), n))


MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "counted": {"n_modes": 2, "joint": ON_Y},
    "by motion": {"n_modes": {"bending y": 3, "torsion": 1}},
    "natural": {"modes": "clamped-free", "n_modes": 2, "tip_mass": 0.4},
    "pinned": {"modes": "pinned", "n_modes": 1, "motions": "bending z"},
    "outboard": {"modes": "tip-loaded", "n_modes": 1, "outboard": [Payload(1.2, 3.0)]},
    "damped": {"n_modes": 2, "damping_ratio": 0.01, "base_mass": 1.0},
    "loose": {"n_modes": 3, "geometric_stiffening": False, "max_frequency": 500.0},
}


@each("options", MODES)
def test_modes_are_those_of_the_uniform_link(options: dict[str, Any]) -> None:
    assert BEAM.modes("boom", **options) == by_numbers(STEEL_TUBE, **options)


def test_a_beam_without_polar_inertia_bends_only() -> None:
    section = Section.from_stiffness(2.0, (100.0, 300.0))
    link = flexible_link(
        "boom",
        length=1.2,
        mass_per_length=2.0,
        bending_stiffness=section.bending_stiffness,
        section_inertia=(0.0, 0.0, 0.0),
    )
    assert Beam(section, 1.2).modes("boom") == link


ELEMENTS: dict[str, dict[str, Any]] = {
    "default": {},
    "reduced": {"n_modes": 2, "joint": ON_Y, "payloads": LOAD, "keep": ["n1", "tip"]},
    "chord": {"frame": "chord", "motions": "bending y", "nodes": {"eye": 0.3}},
    "plain": {"shear": False, "rotary_inertia": False, "damping_ratio": 0.02},
    "static": {"modes": "static", "n_points": 5, "geometric_stiffening": False},
}


@each("options", ELEMENTS)
def test_elements_are_those_of_the_link_of_sections(
    options: dict[str, Any],
) -> None:
    for section, known in ((TUBE, STEEL_TUBE), (taper, taper_of_steel)):
        beam = Beam(section, 1.2, "steel")
        link = finite_element_link(
            "boom", sections=known, length=1.2, n_elements=3, **options
        )
        assert beam.elements("boom", 3, **options) == link


def test_pieces_are_those_of_the_link_of_sections() -> None:
    given: dict[str, Any] = {"joint": ON_Y, "payloads": LOAD, "damping_ratio": 0.01}
    for section, known in ((TUBE, STEEL_TUBE), (taper, taper_of_steel)):
        link = finite_element_link(
            "boom", sections=known, length=1.2, segments=3, **given
        )
        assert Beam(section, 1.2, "steel").segments("boom", 3, **given) == link
    assert BEAM.segments("boom", 4, n_modes={"torsion": 2}).n_modes == 24


def test_steps_and_corners() -> None:
    steel = [(0.5, STEEL_TUBE), (0.7, Section.round(0.02, STEEL))]
    bare = [[0.5, TUBE], (0.7, Section.round(0.02))]
    link = finite_element_link("boom", sections=steel, length=1.2)
    assert Beam(bare, 1.2, "steel").elements("boom") == link
    points = [(0, 0, 0), (0.4, 0, 0), (0.4, 0.3, 0)]
    link = finite_element_link(
        "boom", sections=[STEEL_TUBE] * 2, points=points, roll=(0.1, 0.2)
    )
    beam = Beam([TUBE, TUBE], points=points, material=STEEL, roll=(0.1, 0.2))
    assert beam.elements("boom") == link
    assert pickle.loads(pickle.dumps(beam)) == beam
    assert hash(beam.replace()) == hash(beam)
    assert beam.replace(material=ALUMINIUM) != beam


def test_a_mass_takes_the_place_of_the_density() -> None:
    # a bar of the density that gives the mass
    section = Section.rectangle(0.02, 0.03, MATERIAL)
    factor = 2.0 / (section.mass_per_length * 1.2)
    heavy = MATERIAL.replace(density=factor * MATERIAL.density)
    known = by_numbers(Section.rectangle(0.02, 0.03, heavy), n_modes=2)
    bare = Beam(Section.rectangle(0.02, 0.03), 1.2, MATERIAL, mass=2.0)
    assert bare.modes("boom", 2) == known
    assert Beam(section, 1.2, mass=2.0).modes("boom", 2) == known
    # first frequency of a clamped beam of that mass, without rotary inertia
    link = bare.elements("boom", 8, n_modes="all", shear=False, rotary_inertia=False)
    arm = fa.Arm([link.replace(joint=Joint.fixed())], gravity=(0, 0, 0))
    soft = 3e9 * 0.03 * 0.02**3 / 12.0
    exact = 1.8751040687119611**2 * math.sqrt(soft / (2.0 * 1.2**3)) / math.tau
    found = fa.natural_frequencies(arm, arm.neutral, count=1)[0]
    assert_allclose(found, exact, rtol=1e-5)


def test_a_mass_is_that_of_all_links() -> None:
    points = [(0, 0, 0), (0.4, 0, 0), (0.4, 0.3, 0)]
    stiff = Section.from_stiffness(3.0, 100.0, rotary_inertia=(2e-3, 1e-3, 1e-3))
    turning = SHAPES["numbers"](rotary_inertia=(2e-3, 1e-3, 1e-3))
    for beam in (
        Beam(TUBE, 1.2, "steel", mass=2.5),
        Beam(taper, 1.2, "aluminium", mass=2.5),
        Beam([(0.5, TUBE), (0.7, turning)], 1.2, STEEL, mass=2.5),
        Beam(stiff, 1.2, mass=2.5),
        Beam([TUBE, TUBE], points=points, material=MATERIAL, mass=2.5),
    ):
        load = sum(load.mass for load in LOAD)
        for link in (
            beam.elements("boom", 5),
            beam.segments("boom", 2),
            beam.elements("boom", 5, n_modes=2),
        ):
            assert_allclose(link.mass, 2.5, rtol=1e-14)
        link = beam.elements("boom", payloads=iter(LOAD))
        assert_allclose(link.mass, 2.5 + load, rtol=1e-14)
    # rotary inertia has the factor of the mass
    made = Beam(stiff, 1.2, mass=2.5).modes("boom")
    factor = 2.5 / (3.0 * 1.2)
    section = stiff.replace(rotary_inertia=factor * stiff.rotary_inertia)
    inertia = made.node_inertia[1:-1].sum(axis=0) / 1.2
    assert_allclose(np.diag(inertia), section.rotary_inertia, rtol=1e-12)


REFUSED: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "no length": (lambda: Beam(TUBE), ["neither of length and points"]),
    "both": (lambda: Beam(TUBE, 1.0, points=[(0, 0, 0)]), ["both of length"]),
    "negative": (lambda: Beam(TUBE, -1.0), ["length of a beam"]),
    "a weight": (lambda: Beam(TUBE, 1.0, mass=-2.0), ["mass of a beam"]),
    "wood": (lambda: Beam(TUBE, 1.0, "wood"), ["'wood'", "'steel'"]),
    "a number": (lambda: Beam(TUBE, 1.0, 210e9), ["material of a beam", "Material(E"]),
    "a diameter": (lambda: Beam(0.04, 1.0), ["0.04", "expected a Section"]),
    "a class": (lambda: Beam(Section, 1.0), ["section of a beam"]),
    "no material": (lambda: Beam(TUBE, 1.0).modes("a"), ["lacks material", "Beam("]),
    "none of elements": (lambda: Beam(TUBE, 1.0).elements("a"), ["lacks material"]),
    "none of a taper": (lambda: Beam(taper, 1.0).segments("a", 2), ["lacks material"]),
    "two materials": (
        lambda: Beam(STEEL_TUBE, 1.0, "aluminium").modes("a"),
        ["steel", "aluminium", "leave material out"],
    ),
    "modes of a taper": (
        lambda: Beam(taper, 1.0, "steel").modes("a"),
        ["several sections", "beam.elements(name, n)"],
    ),
    "modes of a bend": (
        lambda: Beam(STEEL_TUBE, points=[(0, 0, 0), (1, 0, 0)]).modes("a"),
        ["bent", "beam.elements(name, n)"],
    ),
    "modes beside a shear centre": (
        lambda: Beam(STEEL_TUBE.replace(shear_centre=(0, 0.01)), 1.0).modes("a"),
        ["shear centre", "beam.elements(name, n)"],
    ),
    "a number for the name": (
        lambda: BEAM.elements(4),
        ["word first", "beam.elements('boom', 4)"],
    ),  # type: ignore[arg-type]
    "not a section": (lambda: Beam([3], 1.0).elements("a"), ["not understood"]),
}


@each("case", REFUSED)
def test_what_is_no_beam_is_refused(case: tuple[Callable[[], Any], list[str]]) -> None:
    call, words = case
    model_refused(words, call)


def test_names_of_others_lead_to_those_of_a_beam() -> None:
    for call, words in (
        (lambda: BEAM.modes("a", damping=0.1), "did you mean 'modal_damping'"),
        (lambda: BEAM.segments("a", 3, keep="tip"), "Beam.segments has no argument"),
        (lambda: BEAM.segments("a"), "lacks n"),
        (lambda: BEAM.modes("a", bending_y=1), "Beam.modes has no argument"),
        (lambda: BEAM.elements("a", length=1.0), "Beam.elements has no argument"),
        (lambda: Beam(TUBE, 1.0, density=7850), "did you mean 'material'"),  # type: ignore[call-arg]
    ):
        with pytest.raises(fa.ArgumentError, match=words):
            call()


# what one link keeps by default, against 32 elements with ten coordinates in bending

MANY = {"bending y": 10, "bending z": 10, "torsion": 5}


def on_the_wall(beam: Beam, name: str = "link", **options: Any) -> fa.Arm:
    link = beam.elements(name, joint=Joint.fixed(), **options)
    return fa.Arm([link])


def two_links_with_a_load(make: Any) -> fa.Arm:
    joints = {"upper": Joint.revolute("y"), "fore": Joint.revolute("y", parent="upper")}
    links = [make(name).replace(joint=joint) for name, joint in joints.items()]
    load = fa.RigidBody("load", Joint.fixed(parent="fore"), mass=5.0)
    return fa.Arm([*links, load])


def test_elements_keep_as_much_as_modes() -> None:
    beam = Beam(Section.tube(0.04, 0.002), 1.0, "steel")
    for motions in ("bending y", ("bending z", "torsion"), tuple(MANY)):
        few = beam.elements("a", motions=motions)
        assert few.mode_names == beam.modes("a", motions=motions).mode_names
        natural = [make("a", motions=motions, modes="clamped-free").mode_names
                   for make in (beam.elements, beam.modes)]  # fmt: skip
        assert natural[0] == natural[1]
    # one more than the static shapes, as far as the elements have them
    assert beam.elements("a", 1).n_modes == 5
    assert beam.elements("a", keep=("n2", "tip")).n_modes == 13
    assert beam.elements("a", motions=("bending y", "stretch")).n_modes == 5
    ell = Beam(TUBE, points=[(0, 0, 0), (0.4, 0, 0), (0.4, 0.3, 0)], material="steel")
    assert ell.elements("a", 8).n_modes == 9
    assert beam.elements("a", n_modes="all").n_modes == 20
    assert beam.elements("a", n_modes="all", modes="clamped-free").n_modes == 20
    assert beam.elements("a", n_modes="all").node_names == few.node_names
    with pytest.raises(fa.ModelError, match=r"n_modes of link 'a' is 'full', .*'all'"):
        beam.elements("a", n_modes="full")


@each("section", [Section.tube(0.04, 0.002), taper])
def test_a_default_cantilever_is_a_fine_one(section: Any) -> None:
    beam = Beam(section, 1.0, "steel")
    fine, few = on_the_wall(beam, n=32, n_modes=MANY), on_the_wall(beam)
    sag = [fa.deflection(arm, arm.neutral)[5] for arm in (fine, few)]
    assert_allclose(sag[1], sag[0], rtol=1e-5)
    found = [
        fa.natural_frequencies(arm, arm.neutral, count=4)[[0, 2]] for arm in (fine, few)
    ]
    error = found[1] / found[0] - 1.0
    assert (error > -1e-4).all() and (error < [2e-3, 2e-2]).all()


def test_a_default_arm_is_a_fine_one() -> None:
    """At least as well as with `Beam.modes`, which has no shear."""
    beam = Beam(Section.tube(0.04, 0.002), 1.0, "steel")
    fine = two_links_with_a_load(lambda name: beam.elements(name, 32, n_modes=MANY))
    sag, hertz = [], []
    for arm in (
        fine,
        two_links_with_a_load(beam.elements),
        two_links_with_a_load(beam.modes),
    ):
        bent = np.where(np.arange(arm.nq) == 1, 1.0, 0.0)
        sag.append(fa.deflection(arm, arm.neutral, held="joints")[5])
        hertz.append(fa.natural_frequencies(arm, bent, held="joints", count=4)[:3])
    assert_allclose(sag[1], sag[0], rtol=1e-6)
    errors = np.abs(np.array(hertz[1:]) / hertz[0] - 1.0)
    assert (errors[0] < [1e-6, 1e-6, 1e-4]).all() and (errors[0] <= errors[1]).all()


def test_default_modes_warn_of_a_load_that_they_do_not_fit() -> None:
    beam = Beam(Section.tube(0.04, 0.002), 1.0, "steel")
    load = fa.RigidBody("load", Joint.fixed(parent="link", node="eye"), mass=20.0)
    options: dict[str, Any] = {"n": 8, "nodes": {"eye": 0.2}}
    with pytest.warns(fa.ModeWarning, match=r"24 % too stiff: .* keep=\('eye', 'tip'"):
        fa.Arm([beam.elements("link", **options), load])
    fa.Arm([beam.elements("link", keep=("eye", "tip"), **options), load])
