"""Pictures of linear models: what was drawn, where, under which labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from few_modes import planar_chain
from numpy.testing import assert_allclose
from refusals import argument_refused

import flexarm as fa
from flexarm import plotting
from flexarm.plotting.canvas import COLORS, STYLES, color, style

plt: Any = pytest.importorskip("matplotlib.pyplot")

ARM = fa.library.de_luca_siciliano(damping=True)
Q = np.zeros((2, 6))
Q[1, 1] = 1.0
MODELS = fa.linearize(ARM, Q, outputs=["joints", "tip y"])
LAGS = fa.StateSpace(
    [[0, 1, 0], [0, 0, 1], [0, -2, -3]], [[0], [0], [1]], [[1, 0, 0]]
)  # 1/(s (s + 1) (s + 2))


def test_step_response() -> None:
    t = np.linspace(0.0, 1.0, 101)
    lines = plotting.step_response(
        MODELS, t, inputs="link2 force", outputs=[0, "tip y"]
    )
    assert len(lines) == 4  # two outputs, two models
    assert [line.get_label() for line in lines[::2]] == ["link1", "tip y"]
    expected = MODELS.select("link2 force", "tip y").step_response(t).y[1, :, 0, 0]
    assert_allclose(lines[3].get_ydata(), expected)
    ax = lines[0].axes
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (s)", "answer to a unit step")
    # its own times end when a stable model is at rest
    lag = fa.StateSpace([[-2.0]], [[2.0]], [[1.0]])
    (line,) = plotting.step_response(lag, ax=ax)
    assert line.axes is ax
    assert 0.99 < line.get_ydata()[-1] < 1.0
    (line,) = plotting.step_response(lag.discretize(0.25))
    assert line.get_drawstyle() == "steps-post"
    assert_allclose(np.diff(line.get_xdata()), 0.25)


def test_bode() -> None:
    lines = plotting.bode(LAGS)
    gain, phase = lines
    hertz = gain.get_xdata()
    s = 2j * np.pi * hertz
    G = 1 / (s * (s + 1) * (s + 2))
    assert_allclose(gain.get_ydata(), 20 * np.log10(abs(G)), atol=1e-9)
    # from an integrator to three lags, without a jump
    expected = -90 - np.degrees(np.arctan(abs(s)) + np.arctan(abs(s) / 2))
    assert_allclose(phase.get_ydata(), expected, atol=1e-9)
    assert gain.axes.get_ylabel() == "gain (dB)"
    assert phase.axes.get_ylabel() == "phase (deg)"
    assert phase.axes.get_xlabel() == "frequency (Hz)"
    assert phase.axes.get_xscale() == "log"
    # resonances are met, also those without damping
    free = fa.StateSpace([[0, 1], [-25.0, 0]], [[0], [1]], [[1, 0]])
    gain = plotting.bode(free)[0]
    assert gain.get_ydata().max() > 20.0
    mass = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]])
    assert_allclose(plotting.bode(mass)[1].get_ydata(), -180.0)
    discrete = plotting.bode(LAGS.discretize(0.1))[0]
    assert_allclose(discrete.get_xdata().max(), 5.0)  # half of the samples


def test_bode_on_given_axes() -> None:
    _, axes = plt.subplots(2, 1)
    lines = plotting.bode(MODELS, [1.0, 2.0, 3.0], inputs=0, ax=axes)
    assert len(lines) == 2 * 3 * 2
    assert {line.axes for line in lines} == set(axes)
    argument_refused(["expected a pair"], lambda: plotting.bode(LAGS, ax=axes[0]))


def test_poles_and_zeros() -> None:
    arm = planar_chain(1, n_modes=2, gravity=(0, 0, 0))
    model = fa.linearize(arm, np.zeros(3), outputs="tip y")
    (poles,), (zeros,) = plotting.poles_zeros(model)
    at = poles.get_xdata() + 1j * poles.get_ydata()
    assert_allclose(np.sort(abs(at)), np.sort(abs(np.linalg.eigvals(model.A))))
    drawn = zeros.get_xdata() + 1j * zeros.get_ydata()
    assert_allclose(np.sort(drawn.real), np.sort(np.asarray(model.zeros()).real))
    ax = poles.axes
    assert ax.get_xlabel() == "real part (1/s)"
    assert ax.get_ylabel() == "imaginary part (rad/s)"
    assert any(text.get_text().endswith("Hz") for text in ax.texts)
    assert (poles.get_marker(), zeros.get_marker()) == ("x", "o")
    # rates of a discrete model are those of the continuous one
    (again,), _ = plotting.poles_zeros(model.discretize(1e-3))
    assert_allclose(np.sort(again.get_ydata()), np.sort(at.imag), atol=1e-4)
    many, none = plotting.poles_zeros(MODELS, limit=100.0)
    assert len(many) == len(none) == 2
    assert not len(none[0].get_xdata())  # three outputs of two inputs
    assert many[0].axes.get_ylim()[1] <= 110.0


def test_root_locus() -> None:
    locus = fa.root_locus(LAGS, np.linspace(0.0, 8.0, 81), [[1.0]])
    lines = plotting.root_locus(locus)
    assert len(lines) == 3
    drawn = np.array([x.get_xdata() + 1j * x.get_ydata() for x in lines]).T
    assert_allclose(drawn, locus.poles)
    names = lines[0].axes.get_legend_handles_labels()[1]
    assert names == ["gain 0", "gain 8"]


def test_branches_of_a_conjugate_pair_have_one_color() -> None:
    arm = fa.library.de_luca_siciliano(damping=True)
    names = ["joint positions", "joint velocities"]
    plant = fa.linearize(arm, np.zeros(6), outputs=names)
    K = np.array([[1.0, 0.0, 0.4, 0.0], [0.0, 0.5, 0.0, 0.2]])
    locus = fa.root_locus(plant, np.geomspace(0.05, 20.0, 400), K)
    lines = plotting.root_locus(locus)
    drawn = np.array([x.get_xdata() + 1j * x.get_ydata() for x in lines]).T
    colors = [line.get_color() for line in lines]
    assert len(lines) == 12 and len(set(colors)) >= 6
    for row in drawn[[0, 200, -1]]:
        for i in np.flatnonzero(row.imag > 0.0):
            (j,) = np.flatnonzero(np.isclose(row, row[i].conj(), rtol=1e-9))
            assert colors[i] == colors[j]


def test_robustness() -> None:
    ranges = {"payload_mass": [0.05, 0.1, 0.2], "payload_inertia": [0.0005, 0.001]}
    options = {"outputs": ["joint positions", "joint velocities"]}
    K = [[1.0, 0.0, 0.4, 0.0], [0.0, 0.5, 0.0, 0.2]]
    make = fa.library.de_luca_siciliano
    found = fa.robustness(make, ranges, np.zeros(6), K, **options)
    colors = plotting.robustness(found, "sensitivity")
    assert_allclose(np.ravel(colors.get_array()), found.sensitivity.ravel())
    assert colors.axes.get_ylabel() == "payload mass"
    assert colors.colorbar.ax.get_ylabel() == "peak of the sensitivity"
    one = fa.robustness(make, {"payload_mass": [0.1, 0.2]}, np.zeros(6), K, **options)
    line = plotting.robustness(one, "decay")
    assert_allclose(line.get_ydata(), one.decay)
    bare = fa.robustness(make, {"payload_mass": [0.1, 0.2]}, np.zeros(6))
    line = plotting.robustness(bare)
    assert line.axes.get_legend_handles_labels()[1] == ["not stable"]


def test_figures_of_linear_models_take_their_own_results() -> None:
    with pytest.raises(fa.ArgumentError, match=r"model is Arm, expected .*StateSpace"):
        plotting.bode(ARM)
    argument_refused(["locus is StateSpace"], lambda: plotting.root_locus(LAGS))
    argument_refused(["found is StateSpace"], lambda: plotting.robustness(LAGS))
    bare = fa.robustness(fa.library.pendulum, {"mass": [1.0]}, [[0.0], [1.0]])
    with pytest.raises(fa.ArgumentError, match=r"the loops have the axes \(1, 2\)"):
        plotting.robustness(bare)
    with pytest.raises(fa.ArgumentError, match="quantity is 'speed'"):
        plotting.robustness(bare, "speed")


def test_styles_change_when_colors_come_again() -> None:
    n = len(COLORS)
    assert [style(i) for i in (0, n - 1, n)] == [STYLES[0], STYLES[0], STYLES[1]]
    looks = [(color(i), style(i)) for i in range(n * len(STYLES))]
    assert len(set(looks)) == len(looks)
