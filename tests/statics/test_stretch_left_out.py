"""Estimates see the stretch that links leave out: bars, an elastica, frequencies."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.polynomial import Legendre
from numpy.polynomial.legendre import leggauss
from scipy.integrate import solve_bvp
from scipy.linalg import block_diag, eigh

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
    ((stretch, moved, length),) = stretch_of_links(arm, arm.neutral[None], qd).values()
    E, density = beams.STEEL.E, beams.STEEL.density
    exact = (density * 0.5**3 / 3.0 + 0.3 * 0.5**2 / 0.0003) * 100.0**2 / E
    np.testing.assert_allclose(stretch, exact, rtol=1e-12)
    np.testing.assert_allclose(moved, 1e-3)  # that counts at least
    assert length == 0.5
    fa.linearize(arm, arm.neutral, qd[0])  # frequencies are right to 1e-4
    with pytest.warns(fa.AccuracyWarning, match="of the deflection of its tip.*'stre"):
        fa.simulate(arm, arm.neutral, qd[0], np.linspace(0.0, 1e-4, 5))
    with pytest.warns(fa.AccuracyWarning, match="% of its length.*'stretch'"):
        fa.linearize(arm, arm.neutral, 15.0 * qd[0])


def turning_bar(motions: Any, **options: Any) -> tuple[float, list[str]]:
    """Lowest frequency of a bar of 1 m and 1 kg that turns by 10 rad/s, warnings."""
    section = beams.Section.from_stiffness(
        1.0, 1.0, torsional_stiffness=1.0, axial_stiffness=3000.0
    )
    link = beams.finite_element_link(
        "bar",
        length=1.0,
        sections=section,
        motions=motions,
        joint=fa.Joint(armature=1e9),
        n_modes=None if options else "all",
        **options,
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
    found = [str(x.message) for x in caught if x.category is fa.AccuracyWarning]
    return float(rates[rates > 0.1].min()), found


def extensible_bar(EA: float, turning: float, n: int = 10) -> float:
    """Lowest frequency in the plane of turning, by polynomials of degree n.

    Linearized about the stretched state: tension N, local stretch l, sections that turn
    by v'/l, and the Coriolis forces between motions along and across.  An infinite EA
    is a bar without stretch, and each number is one.
    """
    x, w = leggauss(40)
    s, w = 0.5 * (x + 1.0), 0.5 * w
    legendre = [Legendre.basis(k, [0.0, 1.0]) for k in range(n)]
    arc = Legendre([0.5, 0.5], [0.0, 1.0])  # s
    u, du = (np.array([(arc * p).deriv(k)(s) for p in legendre]) for k in (0, 1))
    v, dv, ddv = (
        np.array([(arc**2 * p).deriv(k)(s) for p in legendre]) for k in (0, 1, 2)
    )
    if np.isinf(EA):
        long, rate, pull = 1.0 + 0.0 * s, 0.0 * s, 0.5 * turning**2 * (1.0 - s**2)
    else:  # x'' = -turning^2 x / EA of the places
        b = turning / np.sqrt(EA)
        long, rate = np.cos(b * s) / np.cos(b), -b * np.sin(b * s) / np.cos(b)
        pull = EA * (long - 1.0)
    turn = ddv / long - dv * rate / long**2
    across = (turn * w) @ turn.T + (dv * w * pull / long) @ dv.T
    across -= turning**2 * (v * w) @ v.T
    if np.isinf(EA):
        return float(np.sqrt(eigh(across, (v * w) @ v.T, eigvals_only=True)[0]))
    along = EA * (du * w) @ du.T - turning**2 * (u * w) @ u.T
    M = block_diag((u * w) @ u.T, (v * w) @ v.T)
    G = np.zeros((2 * n, 2 * n))
    G[n:, :n] = 2.0 * turning * (v * w) @ u.T
    A = np.block(
        [
            [np.zeros_like(M), np.eye(2 * n)],
            [-np.linalg.solve(M, x) for x in (block_diag(along, across), G - G.T)],
        ]
    )
    rates = np.linalg.eigvals(A).imag
    return float(rates[rates > 0.1].min())


def test_frequencies_of_a_bar_that_turns_fast() -> None:
    # where it is 1.1 % longer by its turning, they fall by three times that
    exact, stiff = extensible_bar(3000.0, 10.0), extensible_bar(np.inf, 10.0)
    assert exact / stiff == pytest.approx(1.0 - 0.0322, abs=1e-4)
    assert extensible_bar(3e9, 10.0) == pytest.approx(stiff, rel=1e-6)
    # pieces have it
    rates = [turning_bar((PLANE, "stretch"), segments=n) for n in (8, 16)]
    assert not any(found for _, found in rates)
    off = exact - np.array([rate for rate, _ in rates])
    np.testing.assert_allclose(off, 0.0, atol=1.2e-3 * exact)
    assert 3.0 < off[0] / off[1] < 5.0
    # a link without stretch is right about a bar without, and says so
    rate, (sentence,) = turning_bar(PLANE)
    assert rate == pytest.approx(stiff, rel=4e-3)
    assert "1.1 % of its length" in sentence
    # and one body with stretch does not have it, and says so
    rate, (sentence,) = turning_bar((PLANE, "stretch"))
    assert rate > stiff
    assert "by 1.7 % somewhere" in sentence
    assert "by up to 5 %" in sentence
    assert "segments" in sentence


def pulled(EA: float, force: Any) -> Any:
    """Place of the tip of an extensible rod of EI 1, by its boundary value problem."""

    def rate(_: Any, y: Any) -> Any:
        cos, sin = np.cos(y[2]), np.sin(y[2])
        long = 1.0 + (force[0] * cos + force[1] * sin) / EA
        moment = force[0] * sin - force[1] * cos
        return long * np.array([cos, sin, y[3] / long, moment])

    def ends(a: Any, b: Any) -> Any:
        return np.append(a[:3], b[3])

    s = np.linspace(0.0, 1.0, 101)
    found = solve_bvp(rate, ends, s, np.zeros((4, 101)), tol=1e-9, max_nodes=10**5)
    assert found.success
    return found.y[:2, -1]


@each("EA, along", ((1000.0, 10.0), (100.0, -1.0), (100.0, 1.0), (1000.0, 2.0)))
def test_a_rod_that_is_pulled_and_bent(EA: float, along: float) -> None:
    exact = pulled(EA, (along, 0.05))
    section = beams.Section.from_stiffness(
        1.0, 1.0, torsional_stiffness=1.0, axial_stiffness=EA
    )
    off = []
    for options in ({"n_modes": "all"}, {"segments": 8}):
        given: dict[str, Any] = {"joint": fa.Joint("fixed"), **options}
        link = beams.finite_element_link(
            "rod", length=1.0, sections=section, motions=(PLANE, "stretch"), **given
        )
        arm = fa.Arm([link], gravity=(0, 0, 0))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            load = {"wrench": [0, 0, 0, along, 0.05, 0], "node": "rod.tip"}
            rest = fa.equilibrium(arm, arm.neutral, **load, frame="base")
        found = [x for x in caught if "is one body and stretches" in str(x.message)]
        assert len(found) == ("n_modes" in options and abs(along / EA) > 0.01 / 3.0)
        tip = fa.tip_pose(arm, rest.q)[:2, 3]
        off.append(tip[1] / exact[1] - 1.0)
        assert tip[0] == pytest.approx(exact[0], abs=5e-5)
    # one body is wrong by the part of its length that is warned of, at most
    assert 1.0 < -off[0] * EA / along < 3.0
    assert abs(off[1]) < 1.5e-4


def test_a_link_that_is_pushed_to_nothing() -> None:
    section = beams.Section.from_stiffness(1.0, 1.0, axial_stiffness=100.0)
    beam = beams.Beam(section, length=1.0)
    link = beam.segments("rod", 4, joint=fa.Joint("fixed"), motions=(PLANE, "stretch"))
    arm = fa.Arm([link], gravity=(0, 0, 0), check_units=False)
    for push, found in ((-90.0, False), (-150.0, True)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rest = fa.equilibrium(arm, arm.neutral, wrench=[0, 0, 0, push, 0, 0])
        assert rest.success == (not found)
        texts = [str(x.message) for x in caught]
        assert any("'rod' is shortened by more than" in x for x in texts) == found


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
