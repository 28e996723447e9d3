"""Beams that bend far against rods by `solve_bvp`, and lateral buckling by Prandtl.

Oracles: the elastica in the plane and the rod of Kirchhoff in space, both inextensible
and without shear, and the closed form of lateral buckling.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_bvp
from scipy.optimize import brentq, root

import flexarm as fa
from flexarm import beams


def elastica(load: float) -> Any:
    """Tip (x, y) of a cantilever of unit length and stiffness, dead load along y."""

    def rates(_: Any, y: Any) -> Any:
        return np.array([y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])])

    def ends(a: Any, b: Any) -> Any:
        return np.array([a[0], b[1], a[2], a[3]])

    s = np.linspace(0.0, 1.0, 200)
    start = np.array([s * min(load / 3.0, 1.2), 1.0 - s, s, s * 0.5])
    solved = solve_bvp(rates, ends, s, start, tol=1e-11, max_nodes=200000)
    assert solved.success
    return solved.y[2:, -1]


def rod(force: Any, stiffness: Any) -> Any:
    """Tip of a cantilever of unit length along x, dead force; EI_y, EI_z, GJ."""
    D = np.array([stiffness[2], stiffness[1], stiffness[0]])

    def rates(_: Any, Y: Any, part: float) -> Any:
        R, m = Y[:9].reshape(3, 3, -1), Y[12:]
        k = np.einsum("ijn,in->jn", R, m) / D[:, None]
        turn = np.cross(k, R, axisa=0, axisb=1)  # rows of R times k~
        t = R[:, 0]
        moved = -np.cross(t, part * np.asarray(force)[:, None], axis=0)
        return np.concatenate([-turn.transpose(0, 2, 1).reshape(9, -1), t, moved])

    def ends(a: Any, b: Any) -> Any:
        return np.concatenate([a[:9] - np.eye(3).ravel(), a[9:12], b[12:]])

    s, Y = np.linspace(0.0, 1.0, 41), np.zeros((15, 41))
    Y[:9], Y[9] = np.eye(3).ravel()[:, None], s
    for part in (0.3, 0.7, 1.0):
        solved = solve_bvp(
            lambda s, Y, part=part: rates(s, Y, part), ends, s, Y, tol=1e-8
        )
        assert solved.success
        s, Y = solved.x, solved.y
    return Y[9:12, -1]


def chain(n: int, stiffness: Any, motions: Any, **options: Any) -> fa.Arm:
    """Pieces of one cubic element each, joined by fixed joints."""
    flat = np.ndim(stiffness) == 0
    section = beams.Section.from_stiffness(
        1.0,
        stiffness if flat else stiffness[:2],
        torsional_stiffness=None if flat else stiffness[2],
        rotary_inertia=(0, 0, 0) if flat else (1e-3, 5e-4, 5e-4),
    )
    bodies = []
    for i in range(n):
        on = {"parent": f"p{i - 1}", "node": "tip"} if i else {}
        piece = beams.finite_element_link(
            f"p{i}",
            length=1.0 / n,
            sections=section,
            n_elements=1,
            motions=motions,
            joint=fa.Joint("fixed", **on),
            n_modes="all",
        )
        bodies.append(piece)
    return fa.Arm(bodies, gravity=(0, 0, 0), **options)


def tip(arm: fa.Arm, force: Any, steps: int = 1) -> Any:
    """Tip of an arm in equilibrium with a dead force on it, increased in steps."""
    q = np.zeros(arm.nq)
    for part in np.linspace(1.0 / steps, 1.0, steps):
        load = [0, 0, 0, *(part * np.asarray(force))]
        q = fa.equilibrium(arm, q, wrench=load, frame="base").check().q
    return fa.tip_pose(arm, q)[:3, 3]


def test_elastica_with_one_cubic_element() -> None:
    exact = elastica(1.0)
    assert_allclose(exact[1], 0.30172, rtol=0, atol=5e-6)
    arm = chain(1, 1.0, "bending y")
    found = tip(arm, [0.0, 1.0, 0.0])
    assert abs(found[1] / exact[1] - 1.0) < 1e-3  # bar: 3e-3
    assert_allclose(found[0], exact[0], rtol=3e-3)

    # linear fidelity: its tip moves by its Jacobian at rest
    linear = arm.replace(fidelity="linear")
    still, J = np.zeros(arm.nv), fa.jacobian(arm, np.zeros(arm.nq), frame="base")

    def unbalance(q: Any) -> Any:
        return fa.inverse_dynamics(linear, q, still, still) - J[4]

    q = root(unbalance, np.zeros(arm.nq)).x
    assert abs(J[4] @ q / exact[1] - 1.0) > 0.1


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")  # four pieces: 0.507
def test_pieces_of_a_beam_that_bends_far() -> None:
    """At 10 EI/L^2 the tip turns by 1.43 rad; errors fall as n^-3.5 and faster."""
    exact = elastica(10.0)
    off = np.array(
        [
            np.abs(tip(chain(n, 1.0, "bending y"), [0, 10.0, 0], 8)[:2] / exact - 1.0)
            for n in (4, 8, 16)
        ]
    )
    assert (off[1] < 1e-3).all() and (off[2] < 1e-4).all()
    assert off[1, 1] < 1.1e-4 and off[2, 1] < 1e-5
    assert (np.log2(off[:-1] / off[1:]) > 3.3).all()


@pytest.mark.slow
def test_order_of_pieces() -> None:
    exact = elastica(10.0)
    off = [
        np.abs(tip(chain(n, 1.0, "bending y"), [0, 10.0, 0], 8)[:2] / exact - 1.0)
        for n in (16, 32)
    ]
    assert (np.log2(off[0] / off[1]) > 3.6).all()


def test_a_rod_in_space() -> None:
    """Bending in two planes and twist: elements in pieces, and modes of one link."""
    stiffness, force = (2.0, 1.0, 0.8), [0.0, 1.0, 0.7]
    exact = rod(force, stiffness)
    assert_allclose(exact, [0.95584151, 0.15823804, 0.21596462], rtol=0, atol=1e-7)
    motions = ("bending y", "bending z", "torsion")
    off = np.array(
        [
            np.linalg.norm(tip(chain(n, stiffness, motions), force) - exact)
            for n in (1, 2, 4, 8)
        ]
    )
    assert (off < [3e-3, 8e-4, 2e-4, 6e-5]).all()
    assert (off[:-1] / off[1:] > 3.5).all()  # linear twist

    link = beams.flexible_link(
        "rod",
        length=1.0,
        mass_per_length=1.0,
        joint=fa.Joint("fixed"),
        bending_y=beams.clamped_beam_modes(1.0, 1.0, stiffness[0], 3),
        bending_z=beams.clamped_beam_modes(1.0, 1.0, stiffness[1], 3),
        torsion=beams.clamped_rod_modes(1.0, 1e-3, stiffness[2], 3),
    )
    with pytest.warns(fa.ModeWarning, match=r"'tip' 6.7 % too stiff in twist"):
        one, before = (
            np.linalg.norm(tip(fa.Arm([b], gravity=(0, 0, 0)), force) - exact)
            for b in (link, link.replace(beam=None))
        )
    assert one < 1.6e-3 and before > 0.018


def critical(arm: fa.Arm) -> float:
    """Load along y on the tip under which the straight blade is not stable."""

    def lowest(load: float) -> float:
        rest = fa.equilibrium(
            arm, np.zeros(arm.nq), wrench=[0, 0, 0, 0, load, 0], frame="base"
        )
        return float(rest.lowest_square)

    return float(brentq(lowest, 3.5, 4.5, xtol=1e-6))


def test_lateral_buckling_of_a_blade() -> None:
    """Prandtl: 4.0126 (EI GJ)^1/2 / L^2 if it is stiff in its plane."""
    motions = ("bending y", "bending z", "torsion")
    with pytest.warns(fa.DeflectionWarning, match="which its twist follows to"):
        found = [critical(chain(n, (1e4, 1.0, 1.0), motions)) for n in (4, 8)]
    off = 1.0 - np.array(found) / 4.0126
    assert_allclose(off[0] / off[1], 4.0, rtol=0.1)  # linear twist
    assert_allclose((4.0 * found[1] - found[0]) / 3.0, 4.0126, rtol=2e-4)

    link = beams.flexible_link(
        "blade",
        length=1.0,
        mass_per_length=1.0,
        joint=fa.Joint("fixed"),
        bending_y=beams.clamped_beam_modes(1.0, 1.0, 1e4, 4),
        bending_z=beams.clamped_beam_modes(1.0, 1.0, 1.0, 4),
        torsion=beams.clamped_rod_modes(1.0, 1e-3, 1.0, 4),
    )
    with pytest.warns(fa.ModeWarning, match=r"'tip' 5 % too stiff in twist"):
        arm = fa.Arm([link], gravity=(0, 0, 0))
    assert_allclose(critical(arm), 4.0126, rtol=3e-3)
