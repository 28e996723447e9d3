"""Descriptions of arms that people write: examples of the page, places of errors."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from kept_cases import assert_same_arm
from numpy.testing import assert_allclose
from refusals import model_refused

import flexarm as fa
from flexarm import beams
from flexarm._support.tables import read_tables
from flexarm.arm import without_warning
from flexarm.files import _describe

PAGE = (Path(__file__).parents[2] / "notebooks/docs/files.md").read_text("utf-8")
YAML, TOML = (
    re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)[1] for kind in ("yaml", "toml")
)


SHORT = "links: [{mass: 1, length: 0.5}]"
SHORT_TOML = "links = [{ mass = 1, length = 0.5 }]"
SHORT_JSON = '{"links": [{"mass": 1, "length": 0.5}]}'


def load(folder: Path, text: str, name: str = "arm.yaml") -> fa.Arm:
    if name.endswith(("yaml", "yml")):
        pytest.importorskip("yaml")
    if name.endswith("toml") and sys.version_info < (3, 11):
        pytest.importorskip("tomli")
    path = folder / name
    path.write_text(text, "utf-8")
    with without_warning():  # which takes most of the time
        arm = fa.load(path)
    assert isinstance(arm, fa.Arm)
    return arm


def two_links() -> fa.Arm:
    """The arm of the page by its constructors."""
    drive = fa.Drive(2000.0, gear_ratio=100.0, rotor_inertia=1e-5)
    links = []
    for name, length, diameter, joint in (
        ("upper", 0.8, 0.05, fa.Joint(drive=drive)),
        ("fore", 0.6, 0.04, fa.Joint()),
    ):
        section = beams.Section.tube(diameter, 0.002, beams.ALUMINIUM)
        given: dict[str, Any] = {"length": length, "n_modes": 3, "joint": joint}
        links.append(beams.finite_element_link(name, sections=section, **given))
    payload = fa.RigidBody("payload", fa.Joint("fixed"), mass=0.5)
    options: dict[str, Any] = {"gravity": (0, -9.81, 0), "name": "two flexible links"}
    with without_warning():
        return fa.Arm([*links, payload], **options)


def test_the_examples_of_the_page(tmp_path: Path) -> None:
    assert len(YAML.splitlines()) < 20
    assert_same_arm(load(tmp_path, YAML), two_links())
    # the same tables in the other languages
    tables = read_tables(YAML.encode(), "YAML", "a file")
    assert read_tables(TOML.encode(), "TOML", "a file") == tables
    assert read_tables(json.dumps(tables).encode(), "JSON", "a file") == tables
    for name, text in (
        ("a.toml", SHORT_TOML),
        ("a.json", SHORT_JSON),
        ("a.yml", SHORT),
    ):
        assert load(tmp_path, text, name).bodies[0].mass == 1.0


def test_further_examples_of_the_page(tmp_path: Path) -> None:
    """Sag by the handbook, masses and their centre by hand."""
    texts = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1:]
    tube, crane, satellite = (load(tmp_path, text) for text in texts)

    section = beams.Section.tube(0.02, 0.001, "steel")
    weight, EI = 9.81 * section.mass_per_length, section.bending_stiffness[1]
    sheared = weight / 2 / (section.material.G * section.shear_areas[1])
    sag = -fa.deflection(tube, tube.neutral)[1:6:4]
    assert_allclose(sag, [-weight / 6 / EI, weight / 8 / EI + sheared], rtol=1e-4)

    section = beams.Section.box(0.2, 0.3, 0.008, "steel")
    weight, EI = 9.81 * section.mass_per_length, section.bending_stiffness[1]
    loaded, GA = 9.81 * 505.0, section.material.G * section.shear_areas[1]
    bent = loaded * 8.0**3 / 3 / EI + weight * 8.0**4 / 8 / EI
    sheared = (loaded * 8.0 + weight * 8.0**2 / 2) / GA
    held = {"node": ("boom", "tip"), "held": ["tower", "boom"]}
    sag = -fa.deflection(crane, crane.neutral, **held)[5]
    assert_allclose(sag, bent + sheared, rtol=5e-4)

    panel = 6.0 * 1.2 * 0.01 * 2700.0
    M = fa.mass_matrix(satellite, satellite.neutral)
    assert_allclose(M[3:6, 3:6], (400.0 + 2 * panel) * np.eye(3), atol=1e-9)
    centre = fa.center_of_mass(satellite, satellite.neutral)
    assert_allclose(centre, 0.0, atol=1e-12)


def test_the_sidecar_of_the_page(tmp_path: Path) -> None:
    """Sag of a cantilever with a mass at its tip."""
    text = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[1]
    (tmp_path / "boom.toml").write_text(text)
    mass = "<inertial><mass value='{}'/><inertia ixx='1' iyy='1' izz='1' ixy='0'"
    mass += " ixz='0' iyz='0'/></inertial>"
    robot = f"""<robot name="crane"><link name="base"/>
    <link name="boom">{mass.format(4)}</link><link name="load">{mass.format(3)}</link>
    <joint name="hinge" type="continuous"><axis xyz="0 1 0"/><parent link="base"/>
    <child link="boom"/></joint><joint name="grip" type="fixed"><origin xyz="2 0 0"/>
    <parent link="boom"/><child link="load"/></joint></robot>"""
    with without_warning():
        arm = fa.urdf.load(robot, sidecar=tmp_path / "boom.toml")
    assert isinstance(arm["boom"], fa.FlexibleBody)
    sag = -fa.deflection(arm, arm.neutral)[5]
    assert_allclose(sag, 9.81 * (3 * 8.0 / 3 + 2 * 16.0 / 8) / 900.0, rtol=1e-2)


def test_the_file_on_the_page_is_one(tmp_path: Path) -> None:
    text = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)[1]
    arm = load(tmp_path, text, "arm.json")
    assert arm.name == "pendulum"
    rod = fa.library.pendulum().bodies[0]
    assert arm.bodies[0].com.tolist() == rod.com.tolist()


def test_the_page_has_all_keys() -> None:
    known = re.findall(r"`([a-z_0-9]+)[`:]", PAGE)
    for key in (*_describe._TOP, *_describe._RIGID, *_describe._SECTIONS):
        assert key in known, key
    for key in ("section", "material", "kind", "axis", "drive", "stops", "payloads"):
        assert key in known, key


ALL = """
name: all parts
gravity: [0, 0, -9.81]
tip: [tool, tip]
stabilization: 20
materials:
  pla: {E: 3.5e9, density: 1240, poisson: 0.36}
links:
  - {mass: 2, length: 0.5, joint: {kind: revolute, axis: -y, damping: 0.1}}
  - name: boom
    joint:
      axis: [0, 0, 2]
      limits: [-2, .inf]
      stops: {stiffness: 1e3, upper: 1.5}
      coulomb_friction: {force: 0.1, smoothing_velocity: 0.01}
      drive:
        stiffness: .inf
        rotor_inertia: 0.1
        motor_friction: {force: 1, smoothing_velocity: 0.1}
    points: [[0, 0, 0], [0.5, 0, 0], [0.5, 0.2, 0]]
    section: [{round: {diameter: 0.01}}, {rectangle: {width: 0.01, height: 0.02}}]
    material: pla
    motions: [bending y, bending z, torsion]
    n_modes: 3
    payloads: [{at: 0.5, mass: 0.01, name: elbow}]
  - name: whip
    length: 0.3
    mass_per_length: 0.5
    bending_stiffness: [20, 30]
    n_modes: {bending y: 2}
    motions: bending y
    tip_mass: 0.1
  - name: spring
    length: 0.2
    section: {stiffness: {mass_per_length: 1, bending_stiffness: 5}}
    motions: bending y
    n_modes: 2
    n_elements: 2
  - name: tool
    mass: 0.1
    com: [0.1, 0, 0]
    inertia: [1e-3, 1e-3, 1e-3]
    nodes: {tip: [0.2, 0, 0]}
payload: {name: stone, mass: 0.2, parent: boom, node: elbow}
couplings: [{coefficients: {link1: 1, whip: 0.5}, name: belt}]
loops: [{first: [tool, tip], second: ground, directions: [z], name: table}]
"""


def test_all_parts(tmp_path: Path) -> None:
    arm = load(tmp_path, ALL)
    assert [b.name for b in arm.bodies][:3] == ["link1", "boom", "whip"]
    assert arm.constraint_names == ("table.z", "belt", "boom.gear")
    rod, boom = arm.bodies[0], arm.bodies[1]
    assert rod.joint.axis.tolist() == [0.0, -1.0, 0.0]
    np.testing.assert_allclose(rod.inertia.diagonal(), [0, 1 / 24, 1 / 24], rtol=1e-14)
    assert rod.node_names == ("base", "tip")
    assert boom.joint.limits.tolist() == [[-2.0], [np.inf]]
    assert boom.joint.stops == fa.Stops(stiffness=1e3, upper=1.5)
    assert boom.joint.drive.motor_friction == fa.CoulombFriction(1.0, 0.1)
    assert boom.beam.sections[0].material.name == "pla"
    stone = arm.bodies[-1]
    assert (stone.joint.parent, stone.joint.node) == ("boom", "elbow")
    assert arm.tip == ("tool", "tip")
    # and kept as any other arm
    fa.save(arm, tmp_path / "kept.json")
    assert_same_arm(arm, fa.load(tmp_path / "kept.json"))


@each(
    "old, new, words",
    [
        ("diameter: 0.05", "diametre: 0.05", ["links[0].section.tube", "'diameter'?"]),
        ("aluminium", "aluminum", ["links[0].material", "did you mean 'aluminium'?"]),
        ("n_modes: 3", "n_modse: 3", ["links[0]: unknown key", "'n_modes'?"]),
        ("n_modes: 3", "n_modes: three", ["links[0]: n_modes"]),
        ("0.002", "2.0", ["links[0].section.tube: the walls"]),
        ("joint: revolute", "joint: revolut", ["links[1].joint: ", "'revolute'?"]),
        ("joint: revolute", "joint: 3", ["links[1].joint: 3 is no table"]),
        ("axis: z", "axis: up", ["links[0].joint.axis: 'up' is no axis"]),
        ("gear_ratio", "gear", ["links[0].joint.drive: unknown key 'gear'"]),
        ("mass: 0.5", "mass: -0.5", ["payload: ", "-0.5 kg"]),
        ("mass: 0.5", "mas: 0.5", ["payload: unknown key 'mas'", "'mass'?"]),
        ("name: fore", "name: upper", ["two bodies are named 'upper'"]),
        ("links:", "link:", ["unknown key 'link'", "did you mean 'links'?"]),
        ("gravity: [0, -9.81, 0]", "gravity: 9.81", ["gravity of the arm"]),
        ("tube: {", "pipe: {", ["links[0].section: unknown key 'pipe'"]),
        ("    material: aluminium\n", "", ["links[0]: a section without a material"]),
        ("    section:", "    sections:", ["links[0]: no section", "'section'?"]),
        ("length: 0.8", "length: 0.8\n    points: [[0, 0, 0]]", ["links[0]: "]),
        ("length: 0.8", "length: .nan", ["links[0]: length", "nan"]),
        ("payload:", "version: 2\npayload:", ["version 1"]),
        ("name: two", "links: []\nname: two", ["given twice"]),
    ],
    ids=range(21),
)
def test_errors_name_the_place(
    tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    assert old in YAML
    text = YAML.replace(old, new, 1)
    model_refused(["file 'arm.yaml'", *words], lambda: load(tmp_path, text))


@each(
    "text, words",
    [
        ("name: arm", ["no links"]),
        ("links: {a: 1}", ["links: ", "no list"]),
        ("links: []", ["no bodies"]),
        ("links: [3]", ["links[0]: 3 is no table"]),
        ("links: [{}]", ["links[0]: no section"]),
        ("links: [{mass: heavy}]", ["links[0]: ", "'heavy'"]),
        ("links: [{mass: 1, length: 0.5, nodes: 3}]", ["links[0].nodes: no table"]),
        ("links: [{mass: 1, material: steel}]", ["links[0]: unknown key 'material'"]),
        ("links: [{length: 1, section: {}}]", ["links[0].section: 0 shapes"]),
        (
            "links: [{length: 1, section: {round: 3}, material: steel}]",
            ["section.round"],
        ),
        (SHORT + "\nmaterials: {a: {E: 1}}", ["materials.a: ", "density"]),
        (SHORT + "\nmaterials: 3", ["materials: 3 is no table"]),
        (SHORT + "\ncouplings: [{}]", ["couplings[0]: ", "coefficients"]),
        (SHORT + "\nloops: [{first: link1}]", ["loops[0]: first end"]),
        (SHORT + "\nloops: 3", ["loops: 3 is no list"]),
        ("links: [" + "{mass: 1}, " * 5000 + "]", ["links: 5000 entries", "4096"]),
    ],
    ids=range(16),
)
def test_what_is_no_description(tmp_path: Path, text: str, words: list[str]) -> None:
    model_refused(words, lambda: load(tmp_path, text))


def test_many_large_links_are_refused_before_they_are_made(tmp_path: Path) -> None:
    options = "n_elements: 4, n_modes: 3, motions: [bending y]"
    section = "length: 1, section: {tube: {diameter: 0.05, thickness: 0.002}}"
    link = f"{{{section}, material: steel, {options}}}"
    text = f"links: [{', '.join([link] * 9)}]"
    before = _describe.MAX_SIZE
    try:
        _describe.MAX_SIZE = 1 << 14
        model_refused(["bytes of mode shapes"], lambda: load(tmp_path, text))
    finally:
        _describe.MAX_SIZE = before


def test_words_of_yaml(tmp_path: Path) -> None:
    text = (
        "links: [{name: on, mass: 1.0, length: 5e-1}, {name: 1:30, mass: 1, length: 1}]"
    )
    arm = load(tmp_path, text)
    assert [b.name for b in arm.bodies] == ["on", "1:30"]
    assert arm.bodies[0].node_position[1].tolist() == [0.5, 0.0, 0.0]
    quoted = load(tmp_path, 'links: [{name: "12", mass: 1, length: 1}]')
    assert quoted.bodies[0].name == "12"


def test_modes_that_are_too_few_warn(tmp_path: Path) -> None:
    link = "{length: 1, mass_per_length: 1, bending_stiffness: 5, modes: clamped-free, "
    text = f"links: [{link} n_modes: 1, motions: bending y}}]\npayload: {{mass: 1}}"
    pytest.importorskip("yaml")
    (tmp_path / "arm.yaml").write_text(text)
    with pytest.warns(fa.ModeWarning):
        fa.load(tmp_path / "arm.yaml")
