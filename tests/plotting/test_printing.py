"""Printed form of an object, and its form in a notebook, which says the same."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import flexarm as fa
from flexarm._calls.units import position_units
from flexarm._support.printing import Printed, Sheet, Table

PAPER = fa.library.de_luca_siciliano()
SPATIAL = fa.library.farid_spatial(elements=1)
MODEL = fa.linearize(PAPER, np.zeros(6))
START = [0.0, 0.0, 0.0, 0.0, 0.1, 0.002]
RUN = fa.simulate(PAPER, START, np.zeros(6), np.linspace(0.0, 0.1, 101))
OBJECTS: dict[str, Any] = {
    "arm": PAPER,
    "arm with drives": SPATIAL,
    "rigid arm": fa.library.puma560(),
    "flexible body": SPATIAL.bodies[1],
    "rigid body": SPATIAL.bodies[-1],
    "trajectory": RUN,
    "batch": fa.simulate(PAPER, [START] * 3, np.zeros(6), [0.0, 0.001]),
    "linear model": MODEL,
    "poles": MODEL.poles(),
    "zeros": MODEL.zeros(),
    "models": fa.linearize(PAPER, np.zeros((4, 6))),
    "modes": fa.vibration_modes(PAPER, np.zeros(6)),
    "parameters": fa.inertial_parameters(fa.library.pendulum()),
}
every = pytest.mark.parametrize("shown", OBJECTS.values(), ids=OBJECTS)


class Page(HTMLParser):
    """Texts of an element, tags that were not closed, attributes by tag."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@every
def test_notebook_says_what_print_says(shown: Printed) -> None:
    page = Page(shown._repr_html_())
    assert not page.open
    words = " ".join(page.texts).split()
    assert sorted(words) == sorted(str(shown).split())


@every
def test_form_of_notebooks_is_plain_and_accessible(shown: Printed) -> None:
    html = shown._repr_html_()
    page = Page(html)
    tags = {tag for tag, _ in page.attributes}
    assert tags <= {"div", "p", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    heads = [given for tag, given in page.attributes if tag == "th"]
    assert all(given["scope"] in ("col", "row") for given in heads)
    # colors are those of the notebook, light or dark
    assert "color" not in html and "background" not in html
    assert "on" not in {name[:2] for _, given in page.attributes for name in given}


def test_arm_is_a_tree_with_units() -> None:
    html = SPATIAL._repr_html_()
    depths = re.findall(r"padding-left: ([\d.]+)em\">(\w+)", html)
    names = ("link1", "link2", "link3", "payload")
    assert [name for _, name in depths] == list(names)
    assert [float(d) for d, _ in depths] == [2.1, 3.6, 5.1, 6.6]
    for text in ("mass kg", "clamped frequencies Hz", "m/s^2", "N m/rad"):
        assert text in html


def test_motion_shows_first_last_and_extremes() -> None:
    row = next(line for line in str(RUN).splitlines() if line.startswith("link2 "))
    q = RUN.q[:, 1]
    wanted = [f"{x:.5g}" for x in (q[0], q[-1], q.min(), q.max())]
    assert row.split() == ["link2", *wanted, "rad"]
    assert str(RUN).splitlines()[0] == repr(RUN)
    batch = OBJECTS["batch"]
    assert str(batch) == repr(batch)


def test_interrupted_motion_is_shown_as_far_as_it_went() -> None:
    q = RUN.q.copy()
    q[50:] = np.nan
    cut = fa.Trajectory(PAPER, RUN.t, q, RUN.qd, RUN.tau, success=False)
    assert "nan" not in str(cut)
    assert f"{q[49, 1]:.5g}" in str(cut)


def test_rigid_body() -> None:
    rod = fa.RigidBody(
        "rod",
        mass=2.0,
        com=(0.5, 0, 0),
        inertia=(1, 0.1, 0, 2, 0, 2),
        nodes={"tip": (1, 0, 0)},
    )
    lines = str(rod).splitlines()
    assert lines[0] == "rigid body 'rod': revolute joint, 2 kg"
    assert [" ".join(line.split()) for line in lines[2:]] == [
        "center of mass 0.5 0 0 m",
        "inertia about it xx, yy, zz 1 2 2 kg m^2",
        "products xy, xz, yz 0.1 0 0 kg m^2",
        "node tip 1 0 0 m",
    ]


def test_long_lines_stand_above_a_table_as_paragraphs() -> None:
    table = Table([("body", "mass"), ("link1", "2.5")])
    assert table.width == 9
    short, long = "outputs", "a line that is longer than its table is wide"
    assert "<caption" in Sheet((short, table)).html()
    html = Sheet((long, table)).html()
    assert "<caption" not in html and f">{long}</p><table>" in html


def test_motors_have_the_unit_of_their_joint() -> None:
    arm = fa.library.farid_spatial(elements=1)
    units = position_units(arm)
    assert units[arm.motor_position_slice] == ["rad"] * 4
    assert set(units[arm.motor_position_slice.stop :]) == {""}


def test_texts_are_escaped() -> None:
    rows = [("name", "value"), ("<b>", "1"), ("a & b", "-2.5e-3")]
    html = Sheet(("x < y", Table(rows), "done")).html()
    page = Page(html)
    assert not page.open
    assert page.texts == [
        "x < y",
        "name",
        "value",
        "<b>",
        "1",
        "a & b",
        "-2.5e-3",
        "done",
    ]
    assert "&lt;b&gt;" in html and "a &amp; b" in html
    # numbers stand to the right
    assert html.count("text-align: right") == 3


def test_texts_of_all_columns_are_escaped() -> None:
    html = Sheet((Table([("a", "b"), ("x", "<b>1 & 2</b>")]),)).html()
    assert "&lt;b&gt;1 &amp; 2&lt;/b&gt;</td>" in html
    assert Page(html).texts[-1] == "<b>1 & 2</b>"


def test_motors_have_the_unit_of_their_own_joint() -> None:
    drive = fa.Drive(1e4, gear_ratio=10.0, rotor_inertia=1e-3)
    turn = fa.RigidBody("turn", fa.Joint(), mass=1.0, inertia=(1, 1, 1))
    slide = fa.RigidBody("slide", fa.Joint("prismatic", drive=drive), mass=1.0)
    assert_array_equal(position_units(fa.Arm([turn, slide])), ["rad", "m", "m"])
