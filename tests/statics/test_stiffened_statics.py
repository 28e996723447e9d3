"""Links with foreshortening at rest and in steady rotation.

Oracles: buckling loads of Euler, Greenhill and Beck, the elastica, and the rotating
beam of A. D. Wright et al., J. Appl. Mech. 49 (1982).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_bvp
from scipy.optimize import brentq

import flexarm as fa
from flexarm.beams import Section, finite_element_link

LENGTH, DENSITY, STIFFNESS = 1.0, 2.0, 50.0
TWO_PI = 2.0 * np.pi


@cache
def column(n: int = 8, stiffening: bool = True) -> fa.Arm:
    """A weightless beam of n elements along x on a joint about z."""
    beam = finite_element_link(
        "beam",
        length=LENGTH,
        sections=Section.from_stiffness(DENSITY, STIFFNESS),
        n_elements=n,
        joint=fa.Joint(),
        motions=("bending y", "bending z"),
        geometric_stiffening=stiffening,
        n_modes="all",
    )
    return fa.Arm([beam], gravity=(0.0, 0.0, 0.0), check_units=False)


def extrapolated(of: Any) -> Any:
    """Limit of results that converge with the fourth power of the elements' length."""
    return (16.0 * of(16) - of(8)) / 15.0


def lowest(arm: fa.Arm, push: float = 0.0, frame: str = "base") -> float:
    load = [0, 0, 0, -push, 0, 0]
    rest = fa.equilibrium(arm, np.zeros(arm.nq), wrench=load, frame=frame)
    assert rest.success and abs(rest.q).max() == 0.0
    return float(rest.lowest_square)


def test_a_column_buckles_at_the_load_of_euler() -> None:
    critical = np.pi**2 * STIFFNESS / (4.0 * LENGTH**2)

    @cache
    def load(n: int) -> float:
        arm = column(n)
        return brentq(lambda P: lowest(arm, P), 0.98 * critical, 1.02 * critical)

    assert 0.0 < load(8) / critical - 1.0 < 3e-6  # from above, as Ritz
    assert_allclose(extrapolated(load), critical, rtol=1e-9)
    # without foreshortening nothing tells the column of the load
    assert lowest(column(stiffening=False), 3.0 * critical) > 0.0


def test_a_column_buckles_under_its_own_weight() -> None:
    # A. G. Greenhill, 1881: q L^3/(EI) = 7.8373
    critical = 7.837347 * STIFFNESS / (DENSITY * LENGTH**3)

    def weight(n: int) -> float:
        ends = 0.98 * critical, 1.02 * critical
        arm = column(n)
        return brentq(
            lambda g: lowest(arm.replace(gravity=(-g, 0.0, 0.0))), *ends, rtol=1e-11
        )

    assert_allclose(extrapolated(weight), critical, rtol=1e-7)


def test_a_load_that_follows_the_tip_flutters_at_the_load_of_beck() -> None:
    # M. Beck, ZAMP 3 (1952): 20.0509 EI/L^2
    critical = 20.0509 * STIFFNESS / LENGTH**2
    arm = column(16)
    for part, stable in ((0.5, True), (0.999, True), (1.001, False)):
        push = [0, 0, 0, -part * critical, 0, 0]
        rest = fa.equilibrium(arm, np.zeros(arm.nq), wrench=push)
        assert rest.success and bool(rest.stable) == stable


@pytest.mark.parametrize("angle", [-1.2, -0.4, 0.0, 0.4, 1.2])
def test_a_slanted_cantilever_droops_as_a_beam_column(angle: float) -> None:
    # weight P at the tip of an arm at an angle to the horizon: N = P sin compresses it,
    # (P cos/N) (tan(k L)/k - L) with k^2 = N/(EI); upside down it pulls: tanh
    # little across, as the closed form is linear in it
    P = 20.0
    along, across = P * np.sin(angle), 1e-4 * P * np.cos(angle)
    k = np.sqrt(complex(along / STIFFNESS))
    expected = across * LENGTH**3 / (3.0 * STIFFNESS)
    if along:
        expected = (across / along * (np.tan(k * LENGTH) / k - LENGTH)).real

    def droop(n: int) -> float:
        arm = column(n)
        load = [0, 0, 0, -along, -across, 0]
        rest = fa.equilibrium(arm, np.zeros(arm.nq), wrench=load, frame="base").check()
        return -float(fa.tip_pose(arm, rest.q)[1, 3])

    assert_allclose(extrapolated(droop), expected, rtol=1e-8)
    # linear theory leaves N out: off by 2/5 N L^2/(EI) at first
    linear = across * LENGTH**3 / (3.0 * STIFFNESS)
    off = 0.4 * along * LENGTH**2 / STIFFNESS
    assert_allclose(expected / linear - 1.0, off, rtol=0.0, atol=1.3 * off**2)


# large deflection


def elastica(load: float) -> Any:
    """Tip (x, y) of a cantilever of unit length and stiffness, dead load along y."""

    def slope(_: Any, y: Any) -> Any:
        angle, moment = y[0], y[1]
        return np.vstack([moment, -load * np.cos(angle), np.cos(angle), np.sin(angle)])

    def ends(a: Any, b: Any) -> Any:
        return np.array([a[0], a[2], a[3], b[1]])

    s = np.linspace(0.0, 1.0, 101)
    start = np.vstack([load * (s - s**2 / 2), load * (1 - s), s, load * s**2 / 3])
    solved = solve_bvp(slope, ends, s, start, tol=1e-10, max_nodes=20000)
    assert solved.success
    return solved.y[2:, -1]


def test_a_large_load_to_the_first_nonlinear_order() -> None:
    # the shortening -alpha^2/15 is that of the model, too, and the next order of the
    # deflection, -4 alpha^3/105: its error is of seventh, of the shortening of fourth
    off = []
    for alpha in (0.25, 0.125):
        load = [0, 0, 0, 0, alpha * STIFFNESS / LENGTH**2, 0]
        arm = column(16)
        rest = fa.equilibrium(arm, np.zeros(arm.nq), wrench=load, frame="base")
        tip = fa.tip_pose(arm, rest.check().q)[:2, 3] / LENGTH
        exact = elastica(alpha)
        off.append(tip - exact)
        assert abs(tip[0] - 1.0 + alpha**2 / 15.0) < 0.016 * alpha**4
        assert abs(tip[1] - exact[1]) < 1e-3 * alpha**7
        assert abs(tip[0] - exact[0]) < 0.0032 * alpha**4
    ratio = off[0] / off[1]
    assert_allclose(ratio, [16.0, 128.0], rtol=0.1)


# rotation


# benchmarks of the rotating beam, hub radius zero: flap 1 to 3, lag 1 and 2
WRIGHT = {
    0.0: (3.516015, 22.034492, 61.697214, 3.516015, 22.034492),
    2.0: (4.137320, 22.614922, 62.273184, 3.621797, 22.526311),
    6.0: (7.360373, 26.809082, 66.683914, 4.263225, 26.129042),
    12.0: (13.170150, 37.603112, 79.614478, 5.427049, 35.636976),
}


@pytest.mark.parametrize("eta", list(WRIGHT))
def test_frequencies_of_a_rotating_beam(eta: float) -> None:
    unit = np.sqrt(STIFFNESS / DENSITY) / LENGTH**2
    expected = WRIGHT[eta]

    def found(n: int) -> Any:
        arm = column(n)
        qd = np.zeros(arm.nv)
        qd[0] = eta * unit
        f = fa.natural_frequencies(arm, np.zeros(arm.nq), qd=qd, held="joints")
        return TWO_PI * f[:6] / unit

    w = extrapolated(found)
    # lag^2 = flap^2 - eta^2, mode by mode; the tolerance is the sixth power of 1/8
    third = np.sqrt(expected[2] ** 2 - eta**2)
    assert_allclose(w, np.sort([*expected, third]), rtol=3e-6)
    flap = [min(w, key=lambda x: abs(x - y)) for y in expected[:2]]
    lag = [min(w, key=lambda x: abs(x - y)) for y in expected[3:]]
    assert_allclose(np.square(flap) - np.square(lag), eta**2, rtol=0.0, atol=1e-5)


def test_without_foreshortening_a_fast_beam_runs_away() -> None:
    arm = column(stiffening=False)
    unit = np.sqrt(STIFFNESS / DENSITY) / LENGTH**2
    qd = np.zeros(arm.nv)
    qd[0] = 6.0 * unit
    f = fa.natural_frequencies(arm, np.zeros(arm.nq), qd=qd, held="joints")
    assert f[0] < 0.0
