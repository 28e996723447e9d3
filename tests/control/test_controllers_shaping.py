"""Input shaping: what the impulses leave of a vibration, by formula and by motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from few_modes import planar_chain
from numpy.testing import assert_allclose
from refusals import argument_refused

import flexarm as fa
from flexarm import control

W = 7.0  # rad/s
SHAPERS: dict[str, Any] = {
    "ZV": control.Shaper.zero_vibration,
    "ZVD": control.Shaper.zero_vibration_derivative,
    "EI": control.Shaper.extra_insensitive,
}


def left(shaper: Any, w: float, z: float) -> float:
    """Amplitude after the impulses by the motion of an oscillator, against one."""
    wd = w * np.sqrt(1.0 - z * z)
    end = shaper.duration

    def answer(t: float) -> Any:  # x and v after a unit impulse
        e = np.exp(-z * w * t)
        x = e * np.sin(wd * t) / wd
        return np.array([x, e * np.cos(wd * t) - z * w * x])

    x, v = sum(
        A * answer(end - t)
        for t, A in zip(shaper.times, shaper.amplitudes, strict=True)
    )
    # amplitude of the damped cosine through x, v; of one impulse at the end: 1/wd
    return float(np.hypot(x * wd, v + z * w * x))


@pytest.mark.parametrize("zeta", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("kind", ["ZV", "ZVD", "EI"])
def test_residual_vibration_is_that_of_an_oscillator(kind: str, zeta: float) -> None:
    shaper = SHAPERS[kind](W, zeta)
    assert_allclose(shaper.amplitudes.sum(), 1.0, rtol=0, atol=1e-14)
    for w in (0.6 * W, 0.95 * W, W, 1.3 * W):
        V = shaper.residual_vibration(w, zeta)
        assert_allclose(V, left(shaper, w, zeta), rtol=0, atol=1e-12)


@pytest.mark.parametrize("zeta", [0.0, 0.05, 0.2])
def test_what_defines_each_shaper(zeta: float) -> None:
    zv, zvd, ei = (make(W, zeta) for make in SHAPERS.values())

    def V(shaper: Any, w: Any) -> Any:
        return shaper.residual_vibration(w, zeta)

    assert V(zv, W) < 1e-14
    assert V(zvd, W) < 1e-14
    # V of ZVD is that of ZV squared, up to the decay, hence flat at W
    near = W * (1.0 + np.array([-1e-5, 1e-5]))
    assert (V(zvd, near) < 1e-9).all()
    assert (V(zv, near) > 1e-6).all()
    # EI: the tolerance at W, a maximum there, zeros at both sides
    assert_allclose(V(ei, W), 0.05, rtol=1e-9)
    grid = W * np.linspace(0.7, 1.3, 6001)
    curve = V(ei, grid)
    assert_allclose(V(ei, W * (1.0 + np.array([-1e-4, 1e-4]))), 0.05, rtol=1e-4)
    zeros = grid[1:-1][(curve[1:-1] < curve[:-2]) & (curve[1:-1] < curve[2:])]
    assert len(zeros) == 2
    assert zeros[0] < W < zeros[1]
    assert (V(ei, zeros) < 1e-4).all()

    def width(shaper: Any) -> float:  # where V is at most 5 %, as part of W
        return float((V(shaper, grid) <= 0.05 * (1.0 + 1e-9)).mean() * 0.6)

    assert 3.0 * width(zv) < width(zvd) < 0.85 * width(ei)


def test_printed_sensitivities_without_damping() -> None:
    """5 % insensitivity of 0.06, 0.29 and 0.40, Singhose et al. (1994)."""
    grid = np.linspace(0.7, 1.3, 60001)
    for kind, printed in (("ZV", 0.06), ("ZVD", 0.29), ("EI", 0.40)):
        curve = SHAPERS[kind](1.0).residual_vibration(grid)
        assert abs((curve <= 0.05 * (1.0 + 1e-9)).mean() * 0.6 - printed) < 0.006


def test_shapers_for_two_vibrations() -> None:
    both = control.Shaper.zero_vibration(3.0, 0.02) * control.Shaper.zero_vibration(
        11.0, 0.1
    )
    assert both.residual_vibration([3.0, 11.0], [0.02, 0.1]).max() < 1e-14
    assert len(both.times) == 4
    same = control.Shaper.zero_vibration(3.0) * control.Shaper.zero_vibration(3.0)
    assert_allclose(same.times, control.Shaper.zero_vibration_derivative(3.0).times)


def test_samples_and_functions_of_time() -> None:
    shaper = control.Shaper.zero_vibration_derivative(W, 0.1)
    motion = control.RestToRest([0.0, 1.0], [1.0, -1.0], 0.7)
    t = np.linspace(-0.2, 2.5, 2701)
    samples = np.array([motion(s).q for s in t])
    made = shaper(motion)
    exact = np.array([made(s).q for s in t])
    held = samples[0]
    assert_allclose(shaper.shape(t, samples, held), exact, rtol=0, atol=2e-6)
    batch = shaper.shape(
        t, np.stack([samples, 2.0 * samples]), np.stack([held, 2.0 * held])
    )
    assert_allclose(batch[1], 2.0 * batch[0], rtol=0, atol=1e-14)
    assert_allclose(shaper.shape(t, samples[:, 0]), batch[0, :, 0])
    # rates and accelerations are still those of the positions
    h = 1e-4
    for s in (0.3, 0.6):
        rise = (made(s + h).q - made(s - h).q) / (2 * h)
        assert_allclose(made(s).qd, rise, atol=1e-5)
    assert isinstance(made(0.3), control.Motion)
    assert_allclose(made(5.0).q, [1.0, -1.0])
    half = shaper(lambda s: np.array([float(s > 0.0)]))
    assert_allclose(half(1e-3), shaper.amplitudes[:1])


@pytest.mark.parametrize("kind", ["ZV", "ZVD", "EI"])
def test_a_flexible_link_stops_without_vibration(kind: str) -> None:
    """Torque pulses on one link without gravity: the joint is free to turn."""
    arm = planar_chain(1, n_modes=1, gravity=(0, 0, 0))
    w = 2.0 * np.pi * fa.natural_frequencies(arm, np.zeros(2))[-1]
    t = np.linspace(0.0, 1.0, 2001)
    # from zero, as what is before the first sample is held
    pulse = 0.2 * np.where(t == 0.0, 0.0, np.sign(0.2 - t)) * (t < 0.4)
    shaper = SHAPERS[kind](w)

    def vibration(torque: Any) -> float:
        run = fa.simulate(arm, [0.0, 0.0], [0.0, 0.0], t, torque=torque[:, np.newaxis])
        late = run.q[t > 0.6, 1]
        return float(late.max() - late.min())

    bare, shaped = vibration(pulse), vibration(shaper.shape(t, pulse))
    assert shaped < (0.06 if kind == "EI" else 0.01) * bare


@pytest.mark.parametrize("kind", ["ZV", "ZVD", "EI"])
def test_a_force_that_begins_at_once_has_a_past_of_zero(kind: str) -> None:
    """A body comes to rest where the pulse brings it, and the link does not swing."""
    arm = planar_chain(1, n_modes=1, gravity=(0, 0, 0))
    w = 2.0 * np.pi * fa.natural_frequencies(arm, np.zeros(2))[-1]
    shaper = SHAPERS[kind](w)
    t = np.linspace(0.0, 1.0, 2001)
    pulse = np.zeros_like(t)
    pulse[:400], pulse[400:800] = 0.2, -0.2
    shaped = shaper.shape(t, pulse, before=0.0)
    # the sums are those of the pulse, about the centre of the impulses
    later = float(shaper.amplitudes @ shaper.times)
    assert_allclose(shaped.sum(), 0.0, rtol=0, atol=1e-12)
    assert_allclose(shaped @ (t - later), pulse @ t, rtol=1e-12)
    # where the rigid arm stops: minus the first moment over the inertia of all
    rest = fa.mass_matrix(arm, np.zeros(2))
    still = -(pulse @ t) * (t[1] - t[0]) / rest[0, 0]

    def end(torque: Any) -> Any:
        run = fa.simulate(arm, [0.0, 0.0], [0.0, 0.0], t, torque=torque[:, np.newaxis])
        return run.q[-1, 0], np.ptp(run.q[t > 0.8, 0])

    angle, swing = end(shaped)
    with pytest.warns(fa.errors.SimulationWarning, match="expected before=0.0 for"):
        held = shaper.shape(t, pulse)
    assert abs(angle / still - 1.0) < 0.02
    assert swing < 0.1 * end(held)[1]
    # zero is also what a sample of zero before the first one says
    one = np.concatenate([[-t[1]], t]), np.concatenate([[0.0], pulse])
    assert_allclose(shaper.shape(*one)[1:], shaped, rtol=0, atol=1e-14)


def test_what_was_before_the_first_sample() -> None:
    shaper = control.Shaper([0.0, 0.25, 0.6], [0.5, 0.3, 0.2])
    t = np.linspace(0.0, 1.0, 11)
    # a place that begins at 2: held, whether said or taken, and said if taken
    place = 2.0 + t
    with pytest.warns(fa.errors.SimulationWarning, match="for places"):
        taken = shaper.shape(t, place)
    assert_allclose(taken, shaper.shape(t, place, before=2.0), rtol=0, atol=1e-15)
    by_hand = 2.0 + sum(
        A * np.maximum(t - d, 0.0)
        for d, A in zip(shaper.times, shaper.amplitudes, strict=True)
    )
    assert_allclose(taken, by_hand, rtol=0, atol=1e-15)
    # a step from any value: between two samples half of it
    step = shaper.shape(t, np.ones(11), before=-1.0)
    assert_allclose(
        step[[0, 1, 2, 3, 5, 6, 10]], [0, 0, 0.3, 0.6, 0.6, 1, 1], atol=1e-9
    )
    # one row for each signal, and one sample alone
    rows = shaper.shape(t, np.ones((11, 2)), before=[-1.0, 1.0])
    assert_allclose(rows.T, [step, np.ones(11)], rtol=0, atol=1e-15)
    assert_allclose(shaper.shape([0.0], [1.0], before=0.0), [0.5])
    assert_allclose(shaper.shape([0.0], [0.0]), [0.0])
    argument_refused(
        ["before has shape (3,)", "one row of the command"],
        lambda: shaper.shape(t, np.ones((11, 2)), before=np.ones(3)),
    )


def test_arguments_of_shapers_have_to_fit() -> None:
    argument_refused(["omega is 0"], lambda: control.Shaper.zero_vibration(0))
    argument_refused(["zeta is 1.0"], lambda: control.Shaper.zero_vibration(1.0, 1.0))
    argument_refused(
        ["tolerance is 0.6"], lambda: control.Shaper.extra_insensitive(1.0, 0.1, 0.6)
    )
    argument_refused(
        ["amplitudes sum to 0.9", "expected one"],
        lambda: control.Shaper([0.0, 1.0], [0.5, 0.4]),
    )
    argument_refused(
        ["increasing ones from zero"], lambda: control.Shaper([0.1, 1.0], [0.5, 0.5])
    )
    argument_refused(
        ["times have shape (1,)"], lambda: control.Shaper([0.0], [0.5, 0.5])
    )
    shaper = control.Shaper.zero_vibration(1.0)
    argument_refused(
        ["command has shape (3, 2)", "one row"],
        lambda: shaper.shape([0.0, 1.0], np.zeros((3, 2))),
    )
    argument_refused(
        ["t does not increase"], lambda: shaper.shape([0.0, 0.0], [1.0, 1.0])
    )
    argument_refused(
        ["omega or zeta is out of range"], lambda: shaper.residual_vibration(1.0, 1.5)
    )
