"""Estimates see the stretch that links leave out: bars, an elastica, frequencies."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from each import each
from scipy.integrate import solve_bvp

import flexarm as fa
from flexarm import beams
from flexarm.dynamics.stretch import stretch_of_links

PLANE = "bending y"
BENT = ("bending y", "bending z", "torsion")
SOFT = beams.Material(1e6, 1000.0, poisson=0.3)


def bar(size: Any, length: float, motions: Any = BENT, **options: Any) -> Any:
    section = beams.Section.rectangle(*size)
    given: dict[str, Any] = {"length": length, "motions": motions}
    given["n_modes"] = None if options.get("segments") else "all"
    return beams.finite_element_link("bar", sections=section, **{**given, **options})


@each("segments", (None, 4))
def test_stretch_of_a_bar_that_turns(segments: int | None) -> None:
    # u = rho A w^2 L^3 / (3 E A) + m w^2 L^2 / (E A)
    link = bar((0.01, 0.03, "steel"), 0.5, segments=segments)
    load = fa.RigidBody("load", fa.Joint("fixed", parent="bar"), mass=0.3)
    arm = fa.Arm([link, load], gravity=(0, 0, 0))
    qd = np.zeros((1, arm.nv))
    qd[0, 0] = 100.0
    ((stretch, moved),) = stretch_of_links(arm, arm.neutral[None], qd).values()
    E, density = beams.STEEL.E, beams.STEEL.density
    exact = (density * 0.5**3 / 3.0 + 0.3 * 0.5**2 / 0.0003) * 100.0**2 / E
    np.testing.assert_allclose(stretch, exact, rtol=1e-12)
    np.testing.assert_allclose(moved, 1e-3)  # that counts at least
    fa.linearize(arm, arm.neutral, qd[0])  # frequencies are right to 1e-4
    with pytest.warns(fa.AccuracyWarning, match="of the deflection of its tip.*'stre"):
        fa.simulate(arm, arm.neutral, qd[0], np.linspace(0.0, 1e-4, 5))
    again = arm.replace()
    with pytest.warns(fa.AccuracyWarning, match="% of its length.*'stretch'"):
        fa.linearize(again, again.neutral, 15.0 * qd[0])


def test_frequencies_of_a_bar_that_turns_fast() -> None:
    # where a bar is 1.1 % longer by its turning, they change by half of that
    section = beams.Section.from_stiffness(
        1.0, 1.0, torsional_stiffness=1.0, axial_stiffness=3000.0
    )
    found = []
    for motions in ((PLANE,), (PLANE, "stretch")):
        link = beams.finite_element_link(
            "bar",
            length=1.0,
            sections=section,
            motions=motions,
            joint=fa.Joint(armature=1e9),
            n_modes="all",
        )
        arm = fa.Arm([link], gravity=(0, 0, 0))
        q, qd = arm.neutral, np.zeros(arm.nv)
        qd[0] = 10.0
        for _ in range(20):  # relative equilibrium
            force = fa.inverse_dynamics(arm, q, qd, 0.0 * qd)[1:]
            K, _ = fa.inverse_dynamics_derivatives(arm, q, qd, 0.0 * qd)
            q = q - np.append(0.0, np.linalg.solve(K[1:, 1:], force))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rates = np.linalg.eigvals(fa.linearize(arm, q, qd).A).imag
        told = [str(x.message) for x in caught if x.category is fa.AccuracyWarning]
        assert any("1.1 % of its length" in x for x in told) == (len(motions) == 1)
        found.append(rates[rates > 0.1].min())
    assert 0.001 < abs(found[0] / found[1] - 1.0) < 0.01


def elastica(section: Any, length: float, force: float, stretch: bool) -> Any:
    """Place of the tip of a rod without shear under a force across its base."""
    EA, EI = section.axial_stiffness, section.bending_stiffness[0]

    def rate(_: Any, y: Any) -> Any:
        turn, moment = y[:2]
        long = 1.0 + stretch * force * np.sin(turn) / EA
        cos, sin = np.cos(turn), np.sin(turn)
        return np.array([moment / EI, -force * cos * long, long * cos, long * sin])

    def ends(a: Any, b: Any) -> Any:
        return np.array([a[0], b[1], a[2], a[3]])

    s = np.linspace(0.0, length, 101)
    found = solve_bvp(rate, ends, s, np.zeros((4, 101)), tol=1e-9, max_nodes=10**5)
    assert found.success
    return found.y[2:, -1]


def test_a_soft_rod_that_bends_far() -> None:
    section = beams.Section.rectangle(0.2, 0.2, SOFT)
    force, tips = 6.0 * section.bending_stiffness[0], []
    load: Any = {"wrench": [0, 0, 0, 0, force, 0], "node": "bar.tip", "frame": "base"}
    for motions in ((PLANE,), (PLANE, "stretch")):
        link = bar((0.2, 0.2, SOFT), 1.0, motions, segments=12, shear=False)
        arm = fa.Arm([link], gravity=(0, 0, 0))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rest = fa.equilibrium(arm, arm.neutral, **load)
        told = [str(x.message) for x in caught if x.category is fa.AccuracyWarning]
        assert any("'stretch'" in text for text in told) == (len(motions) == 1)
        tips.append(fa.tip_pose(arm, rest.q)[:2, 3])
        forces = {arm.node_names.index("bar.tip"): np.array([[0.0, force, 0.0]])}
        found = stretch_of_links(arm, rest.q[None], None, forces)
        assert list(found) == ["bar"][: len(told)]
        if found:
            estimate = float(found["bar"][0][0])
    exact = [elastica(section, 1.0, force, stretch) for stretch in (False, True)]
    # each model is right about its own rod
    np.testing.assert_allclose(tips[0], exact[0], atol=1e-3)
    np.testing.assert_allclose(tips[1], exact[1], atol=2e-3)
    # and the estimate about what lies between them, to first order in the stretch
    between = float(np.linalg.norm(exact[1] - exact[0]))
    assert between > 0.015
    assert estimate == pytest.approx(between, rel=0.12)


@each("segments", (None, 5))
def test_static_share_that_is_left_out(segments: int | None) -> None:
    # under a force across: shear L / kGA beside bending L^3 / (3 EI)
    link = bar((0.05, 0.05, "steel"), 0.5, shear=False, segments=segments)
    section = beams.Section.rectangle(0.05, 0.05, "steel")
    found = fa.Arm([link]).mode_errors().links[-1]
    assert found.nodes == ("tip",)
    EI, kGA = section.bending_stiffness[0], section.shear_stiffness[0]
    np.testing.assert_allclose(found.left_out, 3.0 * EI / kGA / 0.25, rtol=1e-9)
    # with shear that of stretch, L / EA
    link = bar((0.05, 0.05, "steel"), 0.5, segments=segments)
    found = fa.Arm([link]).mode_errors().links[-1]
    most = 0.125 / (3.0 * EI) + 0.5 / kGA
    exact = 0.5 / section.axial_stiffness / most
    np.testing.assert_allclose(found.left_out, exact, rtol=1e-9)
    link = bar((0.05, 0.05, "steel"), 0.5, (*BENT, "stretch"), segments=segments)
    assert not fa.Arm([link]).mode_errors().links[-1].left_out.any()


def test_share_of_a_link_without_sections_is_unknown() -> None:
    link = beams.flexible_link(
        "rod", length=1.0, mass_per_length=1.0, bending_stiffness=100.0
    )
    errors = fa.Arm([link]).mode_errors()
    assert np.isnan(errors.links[0].left_out).all()
    assert "unknown" in str(errors)


def test_frequencies_by_stretch() -> None:
    # bending and torsion of a short post with a load are above its axial vibration
    options: dict[str, Any] = {"joint": fa.Joint("fixed"), "n_elements": 6}
    rates = []
    for motions in (("torsion", PLANE), ("torsion", PLANE, "stretch")):
        link = bar((0.06, 0.06, "steel"), 0.06, motions, **options)
        arm = fa.Arm([link], gravity=(0, 0, 0))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rates.append(fa.natural_frequencies(arm, arm.neutral, count=3))
        told = [str(x.message) for x in caught if x.category is fa.ModeWarning]
        assert any("do not stretch" in text for text in told) == (len(rates) == 1)
    assert rates[0][2] > 1.02 * rates[1][2]


def two_links(material: Any, wide: float) -> fa.Arm:
    section = beams.Section.tube(wide, 0.003, material)
    joint = fa.Joint(axis="y")
    options: dict[str, Any] = {
        "sections": section,
        "n_modes": {"bending y": 2, "bending z": 2, "torsion": 1},
    }
    first = beams.finite_element_link("first", length=0.8, joint=joint, **options)
    second = beams.finite_element_link(
        "second", length=0.7, joint=joint.replace(parent="first"), **options
    )
    load = fa.RigidBody("load", fa.Joint("fixed", parent="second"), mass=3.0)
    return fa.Arm([first, second, load])


@each("material, wide", {"steel": ("steel", 0.03), "aluminium": ("aluminium", 0.05)})
def test_ordinary_arms_have_no_warning(material: str, wide: float) -> None:
    arm = two_links(material, wide)
    q = arm.neutral
    for angle in (0.0, -0.7, -np.pi / 2.0):  # level and upright
        q[0] = angle
        qd = np.zeros(arm.nv)
        qd[:2] = 3.0, 2.0
        with warnings.catch_warnings():
            warnings.simplefilter("error", fa.AccuracyWarning)
            rest = fa.equilibrium(arm, q)
            run = fa.simulate(
                arm, rest.q, qd, np.linspace(0.0, 0.05, 6), method="Rodas4P"
            )
        assert run.success
