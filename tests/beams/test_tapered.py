"""Tapered links: static shapes, energy of third order, and no step at no taper.

Oracles: integrals of the flexibility, and the elastica by an integrator of SciPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

import flexarm as fa
from flexarm import beams
from flexarm.bodies.strain_energy import _between_cuts, _lagrange, _Piece

# links of few modes on purpose
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

E, G = 210e9, 81e9


def rod(x: float) -> beams.Section:
    """A rod of 12 mm that tapers to 6 mm, nearly rigid in shear."""
    d = 0.012 - 0.006 * x
    area, moment = np.pi * d**2 / 4, np.pi * d**4 / 64
    return beams.Section.from_stiffness(
        7850.0 * area,
        E * moment,
        axial_stiffness=E * area,
        torsional_stiffness=2 * G * moment,
        shear_stiffness=1e12,
        rotary_inertia=7850.0 * moment * np.array([2, 1, 1]),
    )


def cantilever(sections: Any = rod, **options: Any) -> fa.Arm:
    given: dict[str, Any] = {"length": 1.0, "joint": fa.Joint("fixed")}
    given["n_modes"] = None if options.get("segments") else "all"
    link = beams.finite_element_link("rod", sections=sections, **{**given, **options})
    return fa.Arm([link], gravity=(0, 0, 0))


def deflection(arm: fa.Arm, wrench: Any) -> Any:
    return fa.deflection(arm, arm.neutral, wrench=wrench, frame="base")


def elastica(force: float) -> Any:
    """Rotation and deflection of the tip under a dead force across the rod."""

    def run(reach: float) -> Any:
        def rates(s: float, y: Any) -> Any:
            bend = force * (reach - y[1]) / (E * np.pi * (0.012 - 0.006 * s) ** 4 / 64)
            return [bend, np.cos(y[0]), np.sin(y[0])]

        return solve_ivp(rates, [0, 1], [0, 0, 0], rtol=1e-10, atol=1e-12).y[:, -1]

    return run(brentq(lambda x: run(x)[1] - x, 0.3, 1.0, xtol=1e-12))[[0, 2]]


def flexibility(name: str) -> float:
    return float(quad(lambda x: 1.0 / getattr(rod(x), name), 0.0, 1.0)[0])


def test_twist_and_stretch_are_integrals_of_the_flexibility() -> None:
    motions = ["torsion", "stretch"]
    arm = cantilever(motions=motions)
    found = deflection(arm, [1.0, 0, 0, 1e3, 0, 0])
    assert_allclose(found[0], flexibility("torsional_stiffness"), rtol=1e-10)
    assert_allclose(found[3], 1e3 * flexibility("axial_stiffness"), rtol=1e-10)
    # and in torsion where one coordinate is left
    arm = cantilever(motions="torsion", n_modes=1)
    twist = deflection(arm, [1.0, 0, 0, 0, 0, 0])[0]
    assert_allclose(twist, flexibility("torsional_stiffness"), rtol=1e-10)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_strong_taper_twists_like_the_integral(n: int) -> None:
    """A tube of 60 to 15 mm, GJ from 117 to 1; the mean of GJ in each of 4 elements
    makes it 21 % too stiff, and the frequency with a load 13 % too high."""

    def thin(x: float) -> beams.Section:
        return beams.Section.tube(0.03 - 0.0225 * x, 0.002, beams.ALUMINIUM)

    def soft(x: float) -> float:
        return 1.0 / thin(x).torsional_stiffness

    inertia = 0.01
    load = beams.Payload(1.0, mass=1.0, inertia=(inertia,) * 3)
    options: dict[str, Any] = {"motions": "torsion", "n_elements": n}
    arm = cantilever(thin, payloads=[load], **options)
    exact = float(quad(soft, 0.0, 1.0, epsabs=0.0, epsrel=1e-12)[0])
    twist = deflection(arm, [1.0, 0, 0, 0, 0, 0])[0]
    assert_allclose(twist, exact, rtol={2: 1e-5, 3: 4e-7, 4: 3e-8}[n])

    def moment(w: float) -> float:
        def rates(x: float, y: Any) -> Any:
            return [y[1] * soft(x), -w * w * thin(x).rotary_inertia[0] * y[0]]

        y = solve_ivp(rates, [0, 1], [0, 1], rtol=1e-10, atol=1e-12).y[:, -1]
        return float(y[1] - w * w * inertia * y[0])

    first = brentq(moment, 60.0, 100.0, xtol=1e-9)
    assert_allclose(2 * np.pi * arm.bodies[0].frequencies()[0], first, rtol=5e-6)
    assert arm.mode_errors().largest < 1e-6


def test_a_cone_keeps_lines() -> None:
    """1 / GJ is infinite at the point: its polynomial would twist back and forth."""

    def cone(x: float) -> beams.Section:
        return beams.Section.round(0.02 * (1.0 - x), beams.STEEL)

    found = [
        cantilever(cone, motions="torsion", n_elements=n).bodies[0].frequencies()[0]
        for n in (8, 16, 32)
    ]
    # shapes s^(-3/2) J_3/2(z s) with z = w L / c are zero at s = 1 where tan z = z
    exact = 4.493409457909064 * np.sqrt(beams.STEEL.G / beams.STEEL.density)
    off = 2 * np.pi * np.array(found) / exact - 1.0
    assert (off > 0.0).all()
    assert_allclose(off[:-1] / off[1:], 4.0, rtol=0.1)


@each("force, options", [(40.0, {}), (40.0, {"n_modes": 3}), (85.0, {})])
def test_a_tapered_rod_bends_like_the_elastica(force: float, options: Any) -> None:
    """Slopes of 0.25 and 0.49; with the quadratic energy 2.3 and 9 % too far."""
    arm = cantilever(motions="bending z", **options)
    found = -deflection(arm, [0, 0, 0, 0, 0, -force])[5]
    bar = 1e-4 if force == 40.0 else 1.5e-3  # 0.1 % at 0.5, as a uniform link
    assert_allclose(found, elastica(force)[1], rtol=bar)


def test_a_taper_of_a_micrometre_changes_little() -> None:
    """Without terms of third order forces are a tenth off here."""
    plain, tapered = (cantilever(lambda x, t=t: tube(x, t)) for t in (0.0, 1e-6))
    q = 0.12 * np.sin(np.arange(plain.nv))
    still = np.zeros(plain.nv)
    forces, others = (fa.inverse_dynamics(a, q, still, still) for a in (plain, tapered))
    linear = plain.bodies[0].stiffness @ q
    size = np.abs(forces).max()
    assert np.abs(others - forces).max() < 1e-4 * size
    assert np.abs(linear - forces).max() > 0.05 * size


def tube(x: float, taper: float) -> beams.Section:
    return beams.Section.tube(0.06 - taper * x, 0.002, "steel")


@each("n", [1, 2, 4])
def test_strains_are_rates_of_rotations(n: int) -> None:
    body = cantilever(n_elements=n).bodies[0]
    assert body._strain_energy is not None
    for cuts in _between_cuts(body.beam):
        piece = _Piece(body.node_rotation, body.beam, cuts)
        h = 1e-6 * (piece.high - piece.low)
        at = piece.low + (piece.high - piece.low) * np.array([0.2, 0.7])
        (_, ahead, _), (moduli, _, strain), (_, behind, _) = (
            piece.strains(x, _lagrange(piece.cuts, x)) for x in (at + h, at, at - h)
        )
        assert_allclose((ahead - behind) / (2 * h), strain, rtol=1e-5, atol=1e-5)
        exact = [rod(x).bending_stiffness[0] for x in at]
        assert_allclose(moduli[:, 1], exact, rtol=2e-2)


def test_rotations_of_other_axes_are_not_those_of_the_rod() -> None:
    body = cantilever().bodies[0]
    turned = body.replace(node_rotation=np.eye(3)[[2, 0, 1]] @ body.node_rotation)
    assert turned._strain_energy is None
