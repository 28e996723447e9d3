"""Identification: estimates against closed forms, brute force and repeated draws."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from few_modes import planar_chain
from identify_cases import (
    LINK,
    SIGMA,
    SWING,
    TAU,
    TRUE,
    T,
    differences,
    draw,
    soft,
    swing,
    turntable,
)
from numpy.testing import assert_allclose
from refusals import argument_refused
from scipy.optimize import least_squares
from scipy.stats import binom

import flexarm as fa
from flexarm.identification import (
    Record,
    identify,
    identify_base_parameters,
    simulated_record,
)
from flexarm.identification._identify import _first_noise
from flexarm.identification._output_error import OutputError, Steps
from flexarm.parameters.tangent import Arms

# derivatives


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
@pytest.mark.parametrize(
    ("make", "p", "outputs", "options"),
    [
        (
            soft,
            [1.0, 0.02],
            ["joints", "tip position xy", "tip velocity y", "tip accelerometer xy"],
            {"state": ["link1", "link1.bending y 1", "link1 rate"]},
        ),
        (
            lambda p: planar_chain(
                1, n_modes=1, length=p[0], bending_stiffness=p[1], payload_mass=0.2
            ),
            [1.0, 30.0],
            ["tip y", ("strain", "link1", 0.1), "tip accelerometer y"],
            {"state": "link1", "at_rest": True},
        ),
        (swing, [2.0, 0.3], ["joint accelerations", "tip gyroscope y"], {}),
    ],
)
def test_derivatives_of_signals_are_exact(make, p, outputs, options) -> None:
    arm, n = make(p), 5
    t = np.linspace(0.0, 0.04, n)
    rng = np.random.default_rng(0)
    q0 = 0.2 * np.ones(arm.nq)
    resting = options.get("at_rest", False)
    steps = Steps("linear", "rk4", 0.0025)
    names = fa.linearize(arm, arm.neutral, outputs=outputs).outputs
    records = tuple(
        Record(t, np.zeros((n, len(names))), tau, q0, at_rest=resting)
        for tau in 3.0 * rng.normal(size=(2, n, arm.nu))
    )
    state = options.get("state", False)
    problem = OutputError(Arms(make), np.array(p), records, outputs, state, steps)
    assert problem.signals == names
    x = np.concatenate([p, np.zeros(problem.n - len(p))])
    size = np.where(x == 0.0, 0.1, np.abs(x))
    found = np.concatenate(problem.derivatives(x, size))
    expected = differences(problem, x, size)
    scale = np.abs(expected).max(axis=0)
    off = np.abs(found - expected).max(axis=0) / np.where(scale > 0.0, scale, 1.0)
    assert off[scale > 1e-9].max() < 2e-7
    # a state of one record is nothing to the other one
    if problem.n > len(p):
        each = (problem.n - len(p)) // 2
        assert not found[:n, :, len(p) + each :].any()


# statistics


def test_covariance_is_the_bound_of_cramer_and_rao() -> None:
    # q = tau t^2 / (2 J), so dq/dJ = -q/J: the integrator is exact for it
    J, tau, t = 0.8, 0.5, np.linspace(0.0, 3.0, 61)
    q = tau * t**2 / (2.0 * J)
    y = q + SIGMA * np.random.default_rng(5).normal(size=len(t))
    record = Record(t, y, np.full((len(t), 1), tau))
    found = identify(turntable, [0.5], record, sigma=SIGMA)
    # weighted least squares of 1/J by hand
    shape = 0.5 * tau * t**2
    by_hand = (shape @ shape) / (shape @ y)
    assert_allclose(found.p, [by_hand], rtol=1e-8)
    at = shape / by_hand
    bound = SIGMA * by_hand / np.sqrt(at @ at)
    assert_allclose(found.std, [bound], rtol=1e-8)
    assert_allclose(
        found.interval(0.95),
        [by_hand + bound * np.array([-1.959964, 1.959964])],
        rtol=1e-7,
    )
    assert abs(found.p[0] - J) < 4.0 * bound
    # with noise that is not known its estimate takes the place of sigma
    own = identify(turntable, [0.5], record)
    s = np.sqrt(((y - shape / by_hand) ** 2).sum() / (len(t) - 1))
    assert_allclose(own.sigma, [s], rtol=1e-6)
    assert_allclose(own.std, found.std * s / SIGMA, rtol=1e-6)
    assert_allclose(
        own.interval(0.95)[0], own.p + 2.000298 * own.std * np.array([-1, 1]), rtol=1e-6
    )
    assert own.freedom == 60


def test_estimates_are_those_of_brute_force() -> None:
    record = draw(1)

    def residual(p: Any) -> Any:
        run = fa.simulate(swing(p), [0.3], [0.0], T, torque=TAU)
        return (run.q - record.y)[:, 0] / SIGMA

    brute = least_squares(residual, [1.0, 0.1], "3-point", xtol=1e-14, ftol=1e-14)
    found = identify(swing, [1.0, 0.1], record, sigma=SIGMA, names=["m", "d"])
    assert found.check() is found
    assert np.abs((found.p - brute.x) / found.std).max() < 1e-5
    assert_allclose(found.covariance, np.linalg.inv(brute.jac.T @ brute.jac), rtol=1e-5)
    assert_allclose(np.concatenate(found.residual)[:, 0], -SIGMA * brute.fun, atol=1e-8)
    assert_allclose(np.diag(found.correlation), 1.0)
    # of one signal the noise changes nothing but the intervals
    own = identify(swing, [1.0, 0.1], record)
    assert_allclose(own.p, found.p, rtol=1e-7)
    assert_allclose(own.std * SIGMA / own.sigma, found.std, rtol=1e-6)


def coverage(make: Any, truth: Any, clean: Record, draws: int, known: bool) -> None:
    """Parts of intervals with the truth, mean and scatter of normalized errors."""
    rng = np.random.default_rng(20)
    inside, errors = np.zeros(len(truth), dtype=int), []
    for _ in range(draws):
        y = clean.y + SIGMA * rng.normal(size=clean.y.shape)
        noisy = Record(clean.t, y, clean.tau, clean.q0)
        sigma = SIGMA if known else None
        found = identify(make, truth, noisy, sigma=sigma, search={"tolerance": 1e-5})
        ends = found.interval()
        inside += (ends[:, 0] <= truth) & (ends[:, 1] >= truth)
        errors.append((found.p - truth) / found.std)
    low, high = binom.ppf([0.0005, 0.9995], draws, 0.95)
    assert ((inside >= low) & (inside <= high)).all(), inside
    z = np.array(errors)
    # unbiased, and as scattered as it is told
    assert np.abs(z.mean(axis=0)).max() < 3.5 / np.sqrt(draws)
    assert np.abs(z.std(axis=0) - 1.0).max() < 3.5 / np.sqrt(2.0 * draws)


def test_intervals_hold_the_truth_in_some_draws() -> None:
    t = np.linspace(0.0, 2.0, 21)
    clean = Record(t, 0.5 * t**2 / 1.6, np.full((21, 1), 0.5))
    coverage(turntable, np.array([0.8]), clean, 12, known=True)


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_intervals_hold_the_truth_in_19_of_20_draws(known: bool) -> None:
    coverage(swing, TRUE, draw(0, 0.0), 30, known)


def test_errors_shrink_with_the_noise() -> None:
    stds = []
    for noise in (0.1, 0.01, 0.001):
        found = identify(swing, TRUE, draw(4, noise), search={"tolerance": 1e-5})
        assert np.abs((found.p - TRUE) / found.std).max() < 4.0
        stds.append(found.std)
    assert_allclose(stds[0] / stds[1], 10.0, rtol=0.2)
    assert_allclose(stds[1] / stds[2], 10.0, rtol=0.2)
    # exact data: what is left is the tolerance
    found = identify(swing, [1.5, 0.2], draw(0, 0.0))
    assert_allclose(found.p, TRUE, rtol=1e-8)


# arms and sensors


def test_signals_of_many_units_weigh_by_their_noise() -> None:
    truth = np.array([1.3, 0.04])
    t = np.linspace(0.0, 0.5, 201)
    tau = 4.0 * np.sign(np.sin(18.0 * t))[:, np.newaxis]
    arm = soft(truth)
    start = fa.equilibrium(arm, np.zeros(arm.nq), held="motors").q
    run = fa.simulate(arm, start, np.zeros(3), t, torque=tau, max_step=0.0008)
    outputs = ["joints", ("strain", "link1", 0.0), "tip accelerometer y"]
    noise = np.array([1e-3, 1e-2, 0.3])
    record = simulated_record(run, outputs=outputs, noise=noise, seed=7, at_rest=True)
    found = identify(
        soft, [1.2, 0.03], record, outputs=outputs, bounds=[(0.1, 9), (0, 1)],
        names=["EI", "damping"], max_step=0.0008, search={"tolerance": 1e-5},
    )  # fmt: skip
    assert found.success
    assert not found.notes
    assert np.abs((found.p - truth) / found.std).max() < 4.0
    assert (found.std < 0.02 * truth).all()
    assert_allclose(found.sigma, noise, rtol=0.2)
    assert_allclose(found.fit, 1.0, rtol=0.02)
    assert (found.whiteness > 0.01).all()


def test_payload_of_an_arm_that_sags_at_the_start() -> None:
    def make_arm(p: Any) -> fa.Arm:
        hand = fa.Joint("fixed", parent="link1", node="tip")
        load = fa.RigidBody("load", hand, mass=p[0])
        return LINK.replace(bodies=[*LINK.bodies, load], tip=("load", 0))

    arm = make_arm([0.4])
    t = np.linspace(0.0, 0.3, 16)
    start = fa.equilibrium(arm, np.zeros(3)).q
    run = fa.simulate(arm, start, np.zeros(3), t, max_step=0.001)
    record = simulated_record(
        run, outputs=["joints", "tip y"], noise=1e-4, seed=3, at_rest=True
    )
    found = identify(
        make_arm, [0.3], record, outputs=["joints", "tip y"], sigma=1e-4,
        max_step=0.001, bounds=[(0, None)], search={"tolerance": 1e-5},
    )  # fmt: skip
    assert abs(found.p[0] - 0.4) < 4.0 * found.std[0] < 0.01
    # an arm that starts straight is another one
    wrong = Record(t, record.y, None, np.zeros(3))
    with pytest.warns(fa.ConvergenceWarning, match="poor fit"):
        found = identify(
            make_arm, [0.3], wrong, outputs=["joints", "tip y"], sigma=1e-4,
            max_step=0.001, bounds=[(0, None)], search={"tolerance": 1e-5},
        )  # fmt: skip
    assert found.p[0] == 0.0
    assert any("times as large as its sigma" in note for note in found.notes)


def test_dry_friction_where_the_arm_moves() -> None:
    def make_arm(p: Any) -> fa.Arm:
        dry = fa.CoulombFriction(p[1], 0.05)
        return turntable([p[0]], coulomb_friction=dry, damping=0.1)

    truth = [0.5, 0.4]
    tau = 2.0 * np.sin(6.0 * T)[:, np.newaxis]
    run = fa.simulate(make_arm(truth), [0.0], [0.0], T, torque=tau, max_step=0.0125)
    record = simulated_record(run, noise=0.002, seed=11)
    found = identify(
        make_arm, [1.0, 0.1], record, sigma=0.002, max_step=0.0125,
        names=["inertia", "dry friction"],
    )  # fmt: skip
    assert not found.notes
    assert np.abs((found.p - truth) / found.std).max() < 4.0
    assert (found.std < 0.02).all()
    # one that rests shows none of it
    still = Record(T, 0.002 * np.random.default_rng(0).normal(size=len(T)))
    found = identify(make_arm, [1.0, 0.1], still, sigma=0.002)
    assert np.isinf(found.std).all()
    assert sum("do not determine" in note for note in found.notes) == 2


def test_stiffness_of_a_flexible_joint_by_its_motor() -> None:
    def make_arm(p: Any) -> fa.Arm:
        drive = fa.Drive(stiffness=p[0], damping=p[1], rotor_inertia=0.1)
        return turntable([0.5], drive=drive)

    run = fa.simulate(
        make_arm([30.0, 0.2]), [0.0, 0.0], [0.0, 0.0], T, torque=TAU, max_step=0.0125
    )
    outputs = ["motor positions", "motor velocities"]
    record = simulated_record(run, outputs=outputs, noise=[0.002, 0.02], seed=1)
    found = identify(
        make_arm, [20.0, 0.1], record, outputs=outputs, sigma=[0.002, 0.02],
        max_step=0.0125, names=["stiffness", "damping"],
    )  # fmt: skip
    assert np.abs((found.p - [30.0, 0.2]) / found.std).max() < 4.0
    assert found.std[0] < 0.2


def test_several_records_with_unknown_initial_states() -> None:
    records, starts = [], [(0.3, 0.5), (-0.4, 0.0)]
    for seed, (q, qd) in enumerate(starts):
        run = fa.simulate(swing(TRUE), [q], [qd], T, torque=TAU, interpolation="hold")
        record = simulated_record(run, noise=SIGMA, seed=seed)
        records.append(Record(T, record.y, TAU, [q + 0.1], [0.0]))
    options: dict[str, Any] = {
        "sigma": SIGMA,
        "interpolation": "hold",
        "search": {"tolerance": 1e-5},
    }
    found = identify(swing, [1.8, 0.25], records, estimate_state=True, **options)
    assert found.state_names == ("rod", "rod rate")
    assert np.abs((found.p - TRUE) / found.std).max() < 4.0
    truth = [[-0.1, 0.5], [-0.1, 0.0]]
    assert np.abs((found.state - truth) / found.state_std).max() < 4.0
    assert len(found.predicted) == len(found.t) == 2
    # with states that are known one knows more
    known = [
        Record(T, r.y, TAU, [q], [qd])
        for r, (q, qd) in zip(records, starts, strict=True)
    ]
    sure = identify(swing, [1.8, 0.25], known, **options)
    assert (sure.std < found.std).all()
    alone = identify(swing, [1.8, 0.25], known[0], **options)
    assert (sure.std < alone.std).all()


def test_missing_samples_are_left_out() -> None:
    record = draw(2)
    y = record.y.copy()
    y[10:40] = np.nan
    y[::7] = np.nan
    gaps = identify(swing, [1.0, 0.1], Record(T, y, TAU, [0.3]), sigma=SIGMA)
    there = np.isfinite(y[:, 0])

    def residual(p: Any) -> Any:
        run = fa.simulate(swing(p), [0.3], [0.0], T, torque=TAU)
        return (run.q[there] - y[there])[:, 0] / SIGMA

    brute = least_squares(residual, [1.0, 0.1], "3-point", xtol=1e-14, ftol=1e-14)
    assert np.abs((gaps.p - brute.x) / gaps.std).max() < 1e-5
    assert gaps.freedom == there.sum() - 2
    assert np.isnan(gaps.residual[0][~there]).all()
    assert np.isfinite(gaps.predicted).all()


def test_vibration_out_of_phase_needs_stages() -> None:
    t = np.linspace(0.0, 4.0, 161)

    def make_arm(p: Any) -> fa.Arm:
        return turntable([1.0], stiffness=p[0])

    y = np.cos(9.0 * t)  # stiffness 81, 5.7 periods; the start has 7.4
    record = Record(t, y, None, [1.0])
    # the whole record at once ends in another minimum, and says so
    with pytest.warns(fa.ConvergenceWarning, match="poor fit"):
        lost = identify(
            make_arm, [135.0], record, stages=(1.0,), search={"tolerance": 1e-3}
        )
    assert (lost.status, lost.success) == ("poor fit", False)
    assert abs(lost.p[0] - 81.0) > 5.0
    assert any("correlated in time" in note for note in lost.notes)
    for stages in (None, (0.1, 0.4, 1.0)):
        found = identify(make_arm, [135.0], record, stages=stages)
        assert found.success
        assert_allclose(found.p, 81.0, rtol=1e-3)


# inverse dynamics


def two_links(p: Any) -> fa.Arm:
    """Payload, and friction of both joints."""
    arm = planar_chain(2, payload_mass=p[0])
    bodies = [
        b.replace(joint=b.joint.replace(damping=d))
        for b, d in zip(arm.bodies, p[1:], strict=False)
    ]
    return arm.replace(bodies=[*bodies, *arm.bodies[2:]])


def test_inverse_dynamics_gives_start_values() -> None:
    truth = np.array([0.7, 0.3, 0.2])
    t = np.linspace(0.0, 3.0, 601)
    tau = np.stack([25.0 * np.cos(3.0 * t), 8.0 * np.cos(5.0 * t)], axis=-1)
    arm = two_links(truth)
    run = fa.simulate(arm, [0.2, 0.5], [0, 0], t, torque=tau)
    record = simulated_record(run, noise=2e-4, seed=1)
    rough = identify(two_links, [0.0, 0.0, 0.0], record, method="inverse dynamics")
    assert rough.method == "inverse dynamics"
    assert_allclose(rough.p, truth, atol=0.06)
    assert rough.signals == ("force on link1", "force on link2")
    fine = identify(two_links, rough.p, record, sigma=2e-4, search={"tolerance": 1e-5})
    assert np.abs((fine.p - truth) / fine.std).max() < 4.0
    assert (fine.std < rough.std).all()
    # all that forces depend on, of exact data
    clean = simulated_record(run)
    found = identify_base_parameters(arm, clean)
    base = fa.base_parameters(arm, families=("inertia", "joint"))
    assert found.names == base.names
    seen = np.isfinite(found.std)
    assert_allclose(found.p[seen], base.values[seen], atol=2e-3)


# words and pictures


def test_result_reads_well() -> None:
    found = identify(swing, [1.0, 0.1], draw(1), names=["mass", "friction"])
    text = str(found)
    assert "output error: the search reached its tolerance" in text
    for word in ("mass", "friction", "95 % interval", "noise (estimated)", "rod"):
        assert word in text
    assert repr(found).startswith("<Identification by output error: mass = ")
    assert found.timings.total >= found.timings.search > 0.0
    argument_refused(["level", "1.5"], lambda: found.interval(1.5))


def test_figure() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    record = simulated_record(SWING, outputs=["joints", "tip velocity xz"], noise=SIGMA)
    found = identify(
        swing,
        TRUE,
        record,
        outputs=["joints", "tip velocity xz"],
        search={"tolerance": 1e-4},
    )
    lines = fa.plotting.identification(found)
    assert len(lines) == 9
    assert_allclose(lines[1].get_ydata(), found.predicted[0][:, 0])
    assert_allclose(lines[2].get_ydata(), found.residual[0][:, 0])
    assert lines[0].axes.get_ylabel() == "rod"
    assert lines[6].axes.get_xlabel() == "time (s)"
    _, axes = plt.subplots(1, 2)
    lines = fa.plotting.identification(found, signals="tip velocity z", ax=axes)
    assert [line.axes for line in lines] == [axes[0], axes[0], axes[1]]
    draws = {
        "'tip y'": lambda: fa.plotting.identification(found, signals="tip y"),
        "record": lambda: fa.plotting.identification(found, record=1),
        "(3, 2)": lambda: fa.plotting.identification(found, ax=axes),
        "empty": lambda: fa.plotting.identification(found, signals=[]),
    }
    for word, call in draws.items():
        argument_refused([word], call)
    plt.close("all")


def test_whiteness_is_the_least_of_all_records() -> None:
    """Of n records n times the least probability, one at most (Bonferroni)."""
    found = identify(swing, [2.1, 0.25], draw(1), search={"progress": False})
    drift = found.residual[0].std() * np.sin(np.linspace(0.0, 9.0, 81)) / 1.5
    found = dataclasses.replace(found, residual=(found.residual[0] + drift[:, None],))
    single = float(found.whiteness[0])
    assert 0.0 < single < 0.5
    twice = dataclasses.replace(found, residual=found.residual * 2)
    assert_allclose(twice.whiteness, [2.0 * single])


def test_each_signal_has_its_own_first_noise() -> None:
    y = np.array([[0.0, 0.0, 5.0], [2.0, 200.0, 5.0]])
    problem = SimpleNamespace(signals=("a", "b", "c"), measured=[y, y])
    assert_allclose(_first_noise(problem, None), [1.0, 100.0, 1.0])
