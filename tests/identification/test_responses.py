"""Frequency responses as data: closed forms, and noise of averaged spectra."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import argument_refused

import flexarm as fa
from flexarm.identification import FrequencyResponse, Sensor, identify
from flexarm.identification._responses import ResponseError
from flexarm.parameters.tangent import Arms

F = np.geomspace(0.5, 40.0, 120)  # Hz
LINK = np.array([30.0, 0.02, 0.004])  # N m^2, damping ratio, delay in s


def cart(p):
    joint = fa.Joint.prismatic(stiffness=400.0, damping=p[1])
    return fa.Arm([fa.RigidBody("cart", joint, mass=p[0])], gravity=(0, 0, 0))


def link(p):
    """A clamped beam of stiffness p[0] and damping ratio p[1], with a motor."""
    beam = fa.beams.flexible_link(
        "beam",
        length=1.0,
        mass_per_length=0.5,
        bending_stiffness=p[0],
        motions="bending y",
        damping_ratio=p[1],
        joint=fa.Joint.revolute("z", stiffness=50.0, damping=0.1),
        n_modes=8,
    )
    return fa.Arm([beam], gravity=(0.0, 0.0, 0.0))


def sensors(p):
    return Sensor("tip accelerometer y", delay=p[2], low_pass=300.0, damping=0.7)


def h1(true, coherence, averages, rng):
    """H1 and its coherence from spectra of independent segments, by their sums."""
    shape = (averages, *true.shape)
    x, n = (rng.normal(size=(2, *shape, 2)) @ [1.0, 1j]) / np.sqrt(2.0)
    y = true * x + np.abs(true) * np.sqrt(1.0 / coherence - 1.0) * n
    cross, own, seen = (
        part.sum(axis=0) for part in (y * x.conj(), abs(x) ** 2, abs(y) ** 2)
    )
    return cross / own, abs(cross) ** 2 / (own * seen)


def test_one_mode_in_closed_form():
    p, w = np.array([2.0, 5.0]), 2.0 * np.pi * F
    H = 1.0 / (400.0 - p[0] * w**2 + 1j * w * p[1])
    problem = ResponseError(
        Arms(cart), p, [FrequencyResponse(F, 1.1 * H)], "joint positions"
    )
    assert problem.signals == ("cart / cart force, log", "cart / cart force, phase")
    (found,) = problem.predict(p)
    log = np.log(H)
    assert_allclose(found, np.stack([log.real, log.imag], axis=1), atol=1e-12)
    assert_allclose(problem.measured[0] - found, [[np.log(1.1), 0.0]] * 120, atol=1e-12)
    slopes = np.stack([w**2 * H, -1j * w * H], axis=-1)
    exact = np.stack([slopes.real, slopes.imag], axis=1)
    (made,) = problem.derivatives(p, p)
    assert_allclose(made, exact, rtol=1e-9, atol=1e-9 * np.abs(exact).max())


def test_derivatives_with_sensors():
    measured = FrequencyResponse(F, np.ones((120, 1, 1)))
    problem = ResponseError(Arms(link), LINK, [measured], sensors)
    (made,) = problem.derivatives(LINK, LINK)
    for j in range(3):
        step = 1e-5 * LINK[j] * np.eye(3)[j]
        (ahead,), (behind,) = problem.predict(LINK + step), problem.predict(LINK - step)
        change = (ahead - behind + np.pi) % (2.0 * np.pi) - np.pi  # phases wrap
        rough = change / (2e-5 * LINK[j])
        assert_allclose(made[..., j], rough, atol=1e-5 * np.abs(rough).max())


def test_formula_for_the_noise_of_h1():
    rng = np.random.default_rng(2)
    true = np.full(4000, 2.0 - 1.0j)
    for coherence in (0.5, 0.9, 0.99):
        found, seen = h1(true, coherence, 40, rng)
        off = np.log(found / true)
        std = FrequencyResponse(np.arange(1.0, 4001.0), found, seen, 40).std
        exact = np.sqrt((1.0 - coherence) / (80.0 * coherence))
        assert_allclose(np.median(std), exact, rtol=0.03)
        assert_allclose([off.real.std(), off.imag.std()], exact, rtol=0.05)


def test_stiffness_damping_and_delay_with_predicted_deviations():
    response = fa.linearize(link(LINK), np.zeros(9), outputs="tip accelerometer y")
    w = 2.0 * np.pi * F
    lag = np.exp(-LINK[2] * 1j * w) / (1.0 + 1.4j * w / 300.0 - (w / 300.0) ** 2)
    true = response.frequency_response(w)[:, 0, 0] * lag
    coherence = 0.98 - 0.5 * np.exp(-((F / 4.0 - 1.0) ** 2))
    rng = np.random.default_rng(5)
    scores = []
    for _ in range(6):
        H, seen = h1(true, coherence, 30, rng)
        measured = FrequencyResponse(F, H, seen, 30)
        found = identify(link, [24.0, 0.04, 0.001], measured, outputs=sensors)
        assert found.success and found.sigma_is_known
        assert (found.std / LINK < [0.01, 0.1, 0.05]).all()
        scores.append((found.p - LINK) / found.std)
        assert_allclose(found.fit, 1.0, atol=0.25)
    squares = np.sum(np.square(scores), axis=0)
    # chi square of 6 draws: one of five hundred lies outside
    assert ((squares > 0.38) & (squares < 22.4)).all(), squares


def test_noise_is_estimated_without_coherence():
    rng = np.random.default_rng(3)
    w = 2.0 * np.pi * F
    H = 1.0 / (400.0 - 2.0 * w**2 + 5.0j * w)
    H = H * np.exp(0.02 * rng.normal(size=(120, 2)) @ [1.0, 1j])
    H[:3] = np.nan
    found = identify(cart, [3.0, 1.0], FrequencyResponse(F, H), outputs="joints")
    assert found.success and found.freedom == 2 * 117 - 2
    assert_allclose(found.sigma, 0.02, rtol=0.2)
    assert (np.abs(found.p - [2.0, 5.0]) < 3.0 * found.std).all()


def test_lines_without_measurement_have_no_effect():
    w = 2.0 * np.pi * F
    H, seen = 1.0 / (400.0 - 2.0 * w**2 + 5.0j * w), np.full(120, 0.9)
    there = np.arange(120) % 7 > 0
    part = FrequencyResponse(F[there], H[there], seen[there], 10)
    H[~there] = seen[~there] = np.nan
    whole = FrequencyResponse(F, H, seen, 10)
    found = [identify(cart, [3.0, 1.0], x, outputs="joints") for x in (part, whole)]
    assert_allclose(found[0].p, [2.0, 5.0], rtol=1e-6)
    assert_allclose(found[1].p, found[0].p, rtol=1e-9)
    assert_allclose(found[1].std, found[0].std, rtol=1e-6)


def test_several_outputs_inputs_and_postures():
    arm = fa.library.de_luca_siciliano()
    f = np.linspace(1.0, 20.0, 40)

    def make(p):
        return fa.library.de_luca_siciliano(payload_mass=p[0], damping=True)

    measured = []
    for turned in (0.3, 1.2):
        q0 = np.array(arm.neutral)
        q0[1] = turned
        model = fa.linearize(make([0.2]), q0, outputs=["joints", "tip y"])
        H = model.frequency_response(2.0 * np.pi * f)
        measured.append(FrequencyResponse(f, H, q0=q0))
    found = identify(make, [0.1], measured, outputs=["joints", "tip y"])
    assert len(found.signals) == 2 * 3 * 2
    assert_allclose(found.p, 0.2, rtol=1e-6)


REFUSED = {
    "frequencies do not ascend": lambda: FrequencyResponse([1.0, 1.0], [1.0, 1.0]),
    "response has shape (3,) with 2": lambda: FrequencyResponse([1.0, 2.0], [1j] * 3),
    "response is zero, infinite or masked at index [": lambda: FrequencyResponse(
        [1.0, 2.0], [0.0, 1.0]
    ),
    "coherence is 1 at index [1, 0, 0], expected more": lambda: FrequencyResponse(
        [1.0, 2.0], [1.0, 1.0], [0.5, 1.0]
    ),
    "averages is 0.0": lambda: FrequencyResponse([1.0], [1.0], [0.5], 0.0),
    "stages is given for frequency responses": lambda: identify(
        cart, [1.0, 1.0], FrequencyResponse(F, F), stages=[0.5, 1.0]
    ),
    "method is given": lambda: identify(
        cart, [1.0, 1.0], FrequencyResponse(F, F), method="inverse dynamics"
    ),
    "sigma is given for responses with": lambda: identify(
        cart, [1.0, 1.0], FrequencyResponse(F, F, 0.5 + 0.0 * F), sigma=1.0
    ),
    "measured has FrequencyResponse and Record, expected one kind": lambda: identify(
        cart,
        [1.0, 1.0],
        [FrequencyResponse(F, F), fa.identification.Record([0.0, 1.0], [0.0, 1.0])],
    ),
    "all or none": lambda: identify(
        cart,
        [1.0, 1.0],
        [FrequencyResponse(F, F), FrequencyResponse(F, F, 0.5 + 0.0 * F)],
    ),
    "response 0 has 1 outputs, expected 2: cart, cart rate": lambda: identify(
        cart,
        [1.0, 1.0],
        FrequencyResponse(F, F),
        outputs=["joints", "joint velocities"],
    ),
    "has no end": lambda: identify(
        lambda p: cart([p[0], 0.0]),
        [1.0],
        FrequencyResponse([10.0 / np.pi, 4.0, 5.0], [1.0, 1.0, 1.0]),
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refusals(words):
    argument_refused(words, REFUSED[words])


def test_wrong_phases_are_no_success():
    """Of conjugates, as other signs of the transform give, and of magnitudes alone."""
    rng, f = np.random.default_rng(7), np.linspace(1.0, 4.0, 120)  # around 2.25 Hz
    w = 2.0 * np.pi * f
    H = 1.0 / (400.0 - 2.0 * w**2 + 5.0j * w)
    H = H * np.exp(0.02 * rng.normal(size=(120, 2)) @ [1.0, 1j])
    seen = np.full(120, 0.9)
    for wrong in (H.conj(), abs(H)):
        for measured in (
            FrequencyResponse(f, wrong, seen, 140),
            FrequencyResponse(f, wrong),
        ):
            with pytest.warns(fa.ConvergenceWarning, match="are [0-9]+ % of its"):
                found = identify(cart, [2.2, 4.0], measured, outputs="joints")
            assert not found.success
            # logarithm and phase have one noise
            assert found.sigma[0] == found.sigma[1]
