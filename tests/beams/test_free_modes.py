"""Modes of free and pinned beams and of free rods, and the links made of them."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad

from flexarm import beams
from flexarm.beams._free import FreeBeamModes, FreeRodModes, PinnedBeamModes
from flexarm.beams._single import free_beam_modes, free_rod_modes, pinned_beam_modes
from flexarm.errors import ModelError

EPS = float(np.finfo(float).eps)
BEAM = (2.0, 0.3, 40.0)
MAKERS: dict[str, Any] = {
    "free": free_beam_modes,
    "pinned": pinned_beam_modes,
    "rod": free_rod_modes,
}
every = pytest.mark.parametrize("kind", MAKERS)


def determinant(b: Any) -> Any:
    """Conditions phi'' = phi''' = 0 at both ends in sin, cos, sinh, cosh, over b."""
    s, c, sh, ch = mp.sin(b), mp.cos(b), mp.sinh(b), mp.cosh(b)
    rows = [[0, -1, 0, 1], [-1, 0, 1, 0], [-s, -c, sh, ch], [-c, s, ch, sh]]
    return mp.det(mp.matrix(rows))


def root(near: float) -> Any:
    """Zero of the determinant, to the working precision."""
    return mp.findroot(determinant, mp.mpf(float(near)), verify=False)


def test_roots_of_the_free_beam_are_good_to_a_rounding() -> None:
    """4 x 4 determinant of the end conditions in 50 digits; tabled values."""
    modes = free_beam_modes(1.0, 1.0, 1.0, 20)
    with mp.workdps(50):
        for b in modes.beta:
            exact = root(b)
            assert abs(float((b - exact) / exact)) < EPS
        # none is missed: there is one in each (j pi, (j + 1) pi)
        signs = [mp.sign(determinant(j * mp.pi)) for j in range(1, 22)]
    assert all(a == -b for a, b in pairwise(signs))
    assert_array_equal(np.floor(modes.beta / np.pi), np.arange(1.0, 21.0))
    assert_allclose(modes.beta[:2], [4.730041, 7.853205], rtol=0, atol=5e-7)


def test_shapes_of_the_free_beam_solve_the_end_conditions() -> None:
    """Null vector of the conditions in 50 digits against the stable evaluation."""
    modes = free_beam_modes(1.0, 1.0, 1.0, 20, normalization="tip")
    x = np.linspace(0.0, 1.0, 41)
    shape, slope, curvature = modes.shape(x), modes.slope(x), modes.curvature(x)
    with mp.workdps(50):
        for j, beta in enumerate(modes.beta):
            b = root(beta)
            # cos + cosh and sin + sinh have no moment and shear at x = 0
            q = (mp.sin(b) - mp.sinh(b)) / (mp.cosh(b) - mp.cos(b))
            for i, at in enumerate(map(float, x)):
                y = b * at
                value = q * (mp.cos(y) + mp.cosh(y)) + mp.sin(y) + mp.sinh(y)
                first = q * (mp.sinh(y) - mp.sin(y)) + mp.cos(y) + mp.cosh(y)
                second = q * (mp.cosh(y) - mp.cos(y)) + mp.sinh(y) - mp.sin(y)
                if i == 0:
                    tip = q * (mp.cos(b) + mp.cosh(b)) + mp.sin(b) + mp.sinh(b)
                assert abs(shape[j, i] - value / tip) < EPS * beta
                assert abs(slope[j, i] / beta - first / tip) < EPS * beta
                assert abs(curvature[j, i] / beta**2 - second / tip) < EPS * beta


@every
def test_modes_are_orthonormal(kind: str) -> None:
    modes = MAKERS[kind](*BEAM, 20)
    assert np.abs(modes.modal_mass - np.eye(20)).max() < 1e-14
    scale = np.sqrt(np.outer(modes.stiffness, modes.stiffness))
    assert np.abs(modes.k / scale - np.eye(20)).max() < 1e-14
    assert_allclose(modes.stiffness, modes.omega**2, rtol=1e-14)


@pytest.mark.parametrize("kind", ["free", "rod"])
def test_free_modes_carry_no_momentum(kind: str) -> None:
    modes = MAKERS[kind](1.0, 1.0, 1.0, 20)
    assert np.abs(modes.v).max() < 3e-15
    if kind == "free":
        assert np.abs(modes.w).max() < 3e-15


def test_closed_forms() -> None:
    pinned = pinned_beam_modes(*BEAM, 20)
    j = np.arange(1.0, 21.0)
    assert_allclose(
        pinned.omega, (j * np.pi / 2.0) ** 2 * np.sqrt(40 / 0.3), rtol=1e-15
    )
    assert_array_equal(pinned.tip_deflection, 0.0)
    assert_array_equal(pinned.shape(0.0), 0.0)
    amplitude = np.sqrt(2.0 / (0.3 * 2.0))
    assert_allclose(pinned.slope(0.0), amplitude * j * np.pi / 2.0, rtol=1e-14)
    assert_array_equal(pinned.tip_slope, (-1.0) ** j * pinned.slope(0.0))
    rods = free_rod_modes(*BEAM, 20)
    assert_allclose(rods.omega, j * np.pi / 2.0 * np.sqrt(40.0 / 0.3), rtol=1e-15)
    assert_allclose(rods.tip_rotation, amplitude, rtol=1e-14)
    assert_array_equal(rods.shape(0.0), (-1.0) ** j * rods.tip_rotation)
    assert_array_equal(np.stack([rods.slope(0.0), rods.slope(2.0)]), 0.0)
    free = free_beam_modes(*BEAM, 20, normalization="link")
    assert_allclose(free.tip_deflection, 2.0, rtol=1e-14)
    assert_allclose(free.shape(0.0), -2.0 * (-1.0) ** j, rtol=1e-14)


@every
@pytest.mark.parametrize("n_modes", [1, 4, 20])
def test_integrals_and_derivatives(kind: str, n_modes: int) -> None:
    """QUADPACK, and differences of order six."""
    modes = MAKERS[kind](*BEAM, n_modes)
    j = n_modes - 1

    def integral(rows: Any) -> float:
        return float(
            quad(lambda x: rows(x)[j] ** 2, 0.0, 2.0, epsrel=1e-12, limit=400)[0]
        )

    bent = modes.slope if kind == "rod" else modes.curvature
    assert_allclose(modes.z[j, j], 0.3 * integral(modes.shape), rtol=1e-13)
    assert_allclose(modes.k[j, j], 40.0 * integral(bent), rtol=1e-13)
    x, h = np.linspace(0.217, 1.793, 9), 0.05 / modes.beta[j]
    weights = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / (60.0 * h)
    at = x[:, None] + h * np.arange(-3.0, 4.0)
    size = np.abs(modes.slope(x)[j]).max()
    slope = modes.shape(at)[j] @ weights
    assert_allclose(slope, modes.slope(x)[j], rtol=0, atol=1e-7 * size)
    if kind != "rod":
        curvature = modes.slope(at)[j] @ weights
        size = np.abs(modes.curvature(x)[j]).max()
        assert_allclose(curvature, modes.curvature(x)[j], rtol=0, atol=1e-7 * size)


@every
@pytest.mark.parametrize("normalization", ["mass", "link", "tip"])
def test_normalizations(kind: str, normalization: str) -> None:
    if (kind, normalization) == ("pinned", "tip"):
        with pytest.raises(ModelError, match="mode 1 does not move the tip"):
            MAKERS[kind](*BEAM, 3, normalization="tip")
        return
    modes = MAKERS[kind](*BEAM, 3, normalization=normalization)
    tip = modes.shape(2.0)
    if normalization == "tip":
        assert_allclose(tip, 1.0, rtol=1e-14)
    else:
        mass = 0.6 if normalization == "link" else 1.0
        assert_allclose(np.diag(modes.modal_mass), mass, rtol=1e-14)
    assert (modes.slope(0.0) if kind == "pinned" else tip).min() > 0.0


@every
def test_modes_are_values(kind: str) -> None:
    modes = MAKERS[kind](*BEAM, 3)
    assert modes == MAKERS[kind](*BEAM, 3)
    assert pickle.loads(pickle.dumps(modes)) == modes
    assert modes.replace(n_modes=2).n_modes == 2
    assert not modes.beta.flags.writeable
    assert type(modes) in (FreeBeamModes, PinnedBeamModes, FreeRodModes)
    with pytest.raises(ModelError, match="expected more than zero"):
        MAKERS[kind](*BEAM[:2], -1.0, 3)
    with pytest.raises(ModelError, match="at most 20"):
        MAKERS[kind](*BEAM, 21)
    with pytest.raises(ModelError, match="did you mean 'mass'"):
        MAKERS[kind](*BEAM, 2, normalization="masss")


def test_links_of_such_modes_float() -> None:
    free, clamped = (
        make(*BEAM, 2) for make in (free_beam_modes, beams.clamped_beam_modes)
    )
    pinned, rod = (make(*BEAM, 1) for make in (pinned_beam_modes, free_rod_modes))
    given = {"length": 2.0, "mass_per_length": 0.3}

    def link(**modes: Any) -> Any:
        return beams.flexible_link("link", **given, **modes)

    assert link(bending_y=clamped).attachment is None
    for modes in ({"bending_y": free}, {"bending_z": pinned}, {"torsion": rod}):
        assert link(**modes).attachment == "base"
    mixed = link(bending_y=clamped, bending_z=free, torsion=rod)
    assert mixed.attachment == "base"
    assert_array_equal(mixed.node_translation[0, :, :2], 0.0)
    assert_array_equal(mixed.node_translation[0, 2, 2:4], free.shape(0.0))
    assert_array_equal(mixed.node_rotation[0, 1, 2:4], -free.slope(0.0))
    assert_array_equal(mixed.node_rotation[0, 0, 4:], rod.shape(0.0))
    # the frame of a free link at rest: frequencies of the free beam
    assert_allclose(link(bending_y=free).frequencies(), free.frequency, rtol=1e-13)
