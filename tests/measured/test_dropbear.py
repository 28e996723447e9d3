"""A cantilever on a roller: frequencies, and places out of synthetic decay."""

from __future__ import annotations

import numpy as np
import pytest
from measured_data import folder as data_folder
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from flexarm import Arm, Joint, Slider, natural_frequencies
from flexarm.measured import dropbear

# V and Hz of the second accelerometer at rests, median of three runs
PEAKS = np.array(
    [[1.647, 28.23], [2.085, 30.82], [2.504, 33.88], [2.935, 37.54], [3.369, 41.96]]
).T


def bernoulli(x):
    """First two frequencies in Hz of a thin beam: clamped, pinned at x, free."""
    length, height, E, rho = 0.501, 0.00666, 205e9, 7850.0

    def determinant(k):
        a, b = k * x, k * (length - x)
        rows = [  # clamped shapes left of the roller, free ones right of it
            [np.cosh(a) - np.cos(a), np.sinh(a) - np.sin(a), 0.0, 0.0],
            [0.0, 0.0, np.cosh(b) + np.cos(b), np.sinh(b) + np.sin(b)],
            [
                *(np.sinh(a) + np.sin(a), np.cosh(a) - np.cos(a)),
                *(np.sinh(b) - np.sin(b), np.cosh(b) + np.cos(b)),
            ],
            [
                *(np.cosh(a) + np.cos(a), np.sinh(a) + np.sin(a)),
                *(np.cos(b) - np.cosh(b), np.sin(b) - np.sinh(b)),
            ],
        ]
        return np.linalg.det(rows)

    k = np.linspace(2.0, 16.0, 400)
    signs = np.sign([determinant(each) for each in k])
    at = np.flatnonzero(np.diff(signs))[:2]
    roots = np.array([brentq(determinant, k[i], k[i + 1], xtol=1e-12) for i in at])
    return roots**2 * np.sqrt(E * height**2 / (12.0 * rho)) / (2.0 * np.pi)


def test_frequencies_of_the_thin_beam():
    for x, first in ((0.048, 25.47), (0.1, 30.57), (0.15, 37.30), (0.175, 41.64)):
        exact = bernoulli(x)
        assert_allclose(exact[0], first, atol=5e-3)  # 60 elements, of another program
        link = dropbear.BEAM.elements(
            *("beam", 12),
            joint=Joint.fixed(),
            motions="bending z",
            n_modes="all",
            nodes={"roller": x},
            shear=False,
            rotary_inertia=False,
        )
        roller = Slider("ground", "beam", position=(x, 0.0, 0.0), directions="z")
        arm = Arm([link], constraints=[roller], gravity=(0.0, 0.0, 0.0))
        found = natural_frequencies(arm, arm.neutral, count=2)
        assert_allclose(found, exact, rtol=1e-4)
        # shear and the inertia of sections make it softer, by little
        thick = dropbear.poles(dropbear.Table())(np.array(x)).imag / (2.0 * np.pi)
        assert ((thick > (1.0 - 4e-3) * exact) & (thick < exact)).all()


def test_heavy_table_is_ground():
    x = np.linspace(0.05, 0.18, 7)
    ground = dropbear.poles(dropbear.Table())(x)
    table = dropbear.poles(dropbear.Table(1e7, 20.0))(x)
    assert_allclose(table[:, 1:], ground, rtol=1e-5)
    assert_allclose(table[:, 0].imag, 2.0 * np.pi * 20.0, rtol=1e-5)


def test_table_pushes_the_first_mode_up():
    # two oscillators: the sum of squares stays, but for the mass of the beam
    x = np.array([0.05])
    ground = dropbear.poles(dropbear.Table())(x).imag[0, 0]
    low, high = dropbear.poles(dropbear.Table(150.0))(x).imag[0, :2]
    assert low < 2.0 * np.pi * 25.0 < ground < high
    assert_allclose(low**2 + high**2, ground**2 + (2.0 * np.pi * 25.0) ** 2, rtol=2e-2)


def test_nominal_frequencies_lie_on_a_line_of_the_sensor():
    x = np.linspace(0.06, 0.19, 1000)
    first = dropbear.poles(dropbear.Table())(x)[:, 0].imag / (2.0 * np.pi)
    places = np.interp(PEAKS[1], first, x)
    line = np.polyfit(PEAKS[0], places, 1)
    assert_allclose(line, [0.0574, -0.017], atol=1e-3)
    assert np.abs(np.polyval(line, PEAKS[0]) - places).max() < 0.6e-3


@pytest.mark.parametrize(("length", "most"), [(0.5, 1e-4), (0.1, 1e-3)])
def test_places_of_synthetic_decay(length, most):
    rng = np.random.default_rng(4)
    table = dropbear.Table(140.0, 24.9, 0.018, 1e-5)
    model = dropbear.poles(table)
    x = np.linspace(0.05, 0.18, 7)
    t = np.arange(round(length * dropbear.RATE)) / dropbear.RATE
    A = dropbear.decays(model(x), t)
    c = np.array([0.01, 0.2, 0.05, 0.02, -0.1, 0.05, 0.3, 0.1])
    windows = A @ c + rng.normal(0.0, 1e-3, (7, len(t)))
    assert np.abs(dropbear.places(windows, model) - x).max() < most
    if length == 0.5:
        found, off = dropbear.ahead(A[2] @ c, model)
        assert off < 0.05
        assert_allclose(found, A[2] @ c, atol=0.01)


def test_rests_lie_between_steps():
    t = np.arange(0.0, 3.0, 1.0 / dropbear.RATE)
    volts = 1.2 + 0.4 * np.clip((t - 1.0) / 0.2, 0.0, 1.0)
    (a, b), (c, d) = dropbear.rests(volts)
    assert (a, d) == (0, len(t))
    assert 0.8 < b / dropbear.RATE < 1.0 and 1.2 < c / dropbear.RATE < 1.4


def test_places_of_a_run_by_the_line_of_another():
    folder = data_folder(dropbear.SET)
    one, other = (dropbear.read(folder / f"test{i}.npz") for i in (0, 1))
    table, line = dropbear.fit([one], True)
    assert 24.0 < table.frequency < 26.0
    windows = dropbear.Windows.of(other, 0.5, 0.2)
    off = dropbear.places(windows.signal, dropbear.poles(table)) - line.at(
        windows.volts
    )
    off = off[windows.vibration > dropbear.MIN_VIBRATION]
    assert len(off) > 10
    assert np.abs(off).max() < 3e-3
    assert np.sqrt(np.mean(off**2)) < 1e-3
