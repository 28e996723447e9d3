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

LENGTH, DENSITY, STIFFNESS = 1.0, 2.0, 50.0
TWO_PI = 2.0 * np.pi


@cache
def column(n: int = 10, stiffening: bool = True, weight: float = 0.0) -> fa.Arm:
    """A beam along x on a revolute joint about z, pulled along -x by its weight."""
    modes = fa.beams.clamped_beam_modes(LENGTH, DENSITY, STIFFNESS, n)
    beam = fa.beams.flexible_link(
        "beam",
        length=LENGTH,
        mass_per_length=DENSITY,
        joint=fa.Joint(),
        bending_y=modes,
        bending_z=modes,
        geometric_stiffening=stiffening,
    )
    return fa.Arm([beam], gravity=(-weight, 0.0, 0.0), check_units=False)


def lowest(arm: fa.Arm, push: float = 0.0, frame: str = "base") -> float:
    load = [0, 0, 0, -push, 0, 0]
    rest = fa.equilibrium(arm, np.zeros(arm.nq), wrench=load, frame=frame)
    assert rest.success and abs(rest.q).max() == 0.0
    return float(rest.lowest_square)


def test_a_column_buckles_at_the_load_of_euler() -> None:
    critical = np.pi**2 * STIFFNESS / (4.0 * LENGTH**2)
    found = brentq(lambda P: lowest(column(), P), 0.5 * critical, 1.5 * critical)
    # from above, as Ritz has it; modes without the shear of the load converge as n^-3
    assert 0.0 < found / critical - 1.0 < 1e-4
    # without foreshortening nothing tells the column of the load
    assert lowest(column(stiffening=False), 3.0 * critical) > 0.0


def test_a_column_buckles_under_its_own_weight() -> None:
    # A. G. Greenhill, 1881: q L^3/(EI) = 7.8373
    critical = 7.837347 * STIFFNESS / (DENSITY * LENGTH**3)
    found = brentq(
        lambda g: lowest(column(weight=g)), 0.5 * critical, 1.5 * critical, rtol=1e-9
    )
    assert_allclose(found, critical, rtol=2e-6)


def test_a_load_that_follows_the_tip_flutters_at_the_load_of_beck() -> None:
    # M. Beck, ZAMP 3 (1952): 20.0509 EI/L^2
    critical = 20.0509 * STIFFNESS / LENGTH**2
    arm = column(12)
    for part, stable in ((0.5, True), (0.999, True), (1.001, False)):
        push = [0, 0, 0, -part * critical, 0, 0]
        rest = fa.equilibrium(arm, np.zeros(arm.nq), wrench=push)
        assert rest.success and bool(rest.stable) == stable


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
    # u = -alpha^2/15 is the model's, too; deflection is linear in the load there, so
    # it misses the cubic term: 0.4 % at alpha = 0.25, 6 % at alpha = 1
    off = []
    for alpha in (0.25, 0.125):
        load = [0, 0, 0, 0, alpha * STIFFNESS / LENGTH**2, 0]
        arm = column(20)
        rest = fa.equilibrium(arm, np.zeros(arm.nq), wrench=load, frame="base")
        tip = fa.tip_pose(arm, rest.check().q)[:2, 3] / LENGTH
        exact = elastica(alpha)
        off.append(tip - exact)
        assert_allclose(tip[0] - 1.0, -(alpha**2) / 15.0, rtol=1e-5)
        assert abs(tip[1] / exact[1] - 1.0) < 0.07 * alpha**2
        assert abs(tip[0] - exact[0]) < 0.03 * alpha**4
    ratio = off[0] / off[1]
    assert_allclose(ratio, [16.0, 8.0], rtol=0.1)


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
    arm = column(12)
    unit = np.sqrt(STIFFNESS / DENSITY) / LENGTH**2
    qd = np.zeros(arm.nv)
    qd[0] = eta * unit
    f = fa.natural_frequencies(arm, np.zeros(arm.nq), qd=qd, held="joints")
    found = TWO_PI * f / unit
    expected = np.sort(WRIGHT[eta])
    assert_allclose(found[:4], expected[:4], rtol=3e-6)
    # lag^2 = flap^2 - eta^2, mode by mode
    flap = [min(found, key=lambda w: abs(w - x)) for x in WRIGHT[eta][:2]]
    lag = [min(found, key=lambda w: abs(w - x)) for x in WRIGHT[eta][3:]]
    assert_allclose(np.square(flap) - np.square(lag), eta**2, rtol=0.0, atol=1e-5)


def test_without_foreshortening_a_fast_beam_runs_away() -> None:
    arm = column(stiffening=False)
    unit = np.sqrt(STIFFNESS / DENSITY) / LENGTH**2
    qd = np.zeros(arm.nv)
    qd[0] = 6.0 * unit
    f = fa.natural_frequencies(arm, np.zeros(arm.nq), qd=qd, held="joints")
    assert f[0] < 0.0
