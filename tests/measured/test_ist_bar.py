"""The bar on a motor fed by volts: its model, and its measured runs where they are."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from measured_data import folder as data_folder

import flexarm as fa
from flexarm.measured import ist_bar

# found by ist_bar.fit from the runs FITTED
P = np.array([0.27865, 0.00032199, 0.019476, 0.0075741, -0.15657, 0.00062343, 0.095489,
              0.0028594, 0.025394])  # fmt: skip


def test_bar_is_uniform_and_clamped():
    """Euler-Bernoulli: cos x cosh x = -1 at 1.8751 and 4.6941."""
    arm = ist_bar.make_arm(P)
    found = fa.natural_frequencies(arm, arm.neutral, held="joints")
    L, mass = ist_bar.LENGTH, 3.0 * P[5] / ist_bar.LENGTH**2
    x = np.array([1.8751040687, 4.6940911330])
    exact = x**2 * np.sqrt(P[6] / (mass * L**3)) / (2.0 * np.pi)
    np.testing.assert_allclose(found, exact, rtol=1e-8)


def test_steady_speed_balances_volts_friction_and_cable():
    """k (u - k w)/R = dry friction + cable: the rate of a driven hub at any angle."""
    arm, motor = ist_bar.make_arm(P), ist_bar.motor(P)
    k, _, dry, cable, slack = P[:5]
    for u in (0.5, 1.5):
        speed = 2.0
        torque = motor.torque([[u]])[0] - k * k / ist_bar.RESISTANCE * speed
        dry_now = dry * speed / np.hypot(speed, ist_bar.SLOW)
        angle = slack + float(torque[0] - dry_now) / cable
        still = np.zeros(arm.nv)
        rate = np.array([speed, 0.0, 0.0])
        needed = fa.inverse_dynamics(arm, [angle, 0.0, 0.0], rate, still)[0]
        assert needed == pytest.approx(k * u / ist_bar.RESISTANCE, rel=1e-9)


def test_gauge_shows_the_angle_of_the_tip_under_a_force():
    """F L^2/(3 EI), with static shapes, which have the exact curvature."""
    (_, sensor) = ist_bar.sensors(P)
    bar = fa.beams.flexible_link(
        "bar",
        joint=fa.Joint.fixed(),
        length=ist_bar.LENGTH,
        mass_per_length=1.0,
        bending_stiffness=P[6],
        motions="bending y",
        modes="static",
    )
    force = 0.3
    tip = force * ist_bar.LENGTH**3 / (3.0 * P[6])
    q = np.array([tip, 1.5 * tip / ist_bar.LENGTH])  # deflection and slope
    arm = fa.Arm([bar], gravity=(0, 0, 0))
    t = np.array([0.0, 1e-9])
    run = fa.simulate(arm, q, np.zeros(2), t)
    seen = fa.identification.simulated_record(run, outputs=sensor)
    assert seen.y[0, 0] == pytest.approx(tip / ist_bar.LENGTH, rel=1e-9)


def written(folder, name, columns):
    rows = "\n".join(",".join(f"{x:.6f}" for x in row) for row in columns.T)
    text = f"t_s,motor_V,potentiometer_V,strain_V\n{rows}\n"
    (folder / name).write_bytes(gzip.compress(text.encode()))


def test_runs_are_compared_where_they_are_measured(tmp_path):
    t = np.arange(0.0, 0.5, 1e-3)
    hub, strain = np.sin(9.0 * t), np.cos(40.0 * t)
    written(tmp_path, "a.csv.gz", np.stack([t, 0 * t, hub, strain]))
    hidden = np.where(t < 0.1, hub, np.nan), np.where(t < 0.1, strain, np.nan)
    written(tmp_path, "b_input.csv.gz", np.stack([t, 0 * t, *hidden]))
    a, b = (ist_bar.record(tmp_path, name) for name in "ab")
    assert np.isnan(ist_bar.errors(b, a.y)).all()
    # a drift of the hub and an offset of the gauge do not count, a factor does
    found = a.y * [1.0, 1.1] + np.stack([3.0 * t, 0.2 + 0 * t], axis=1)
    strain_error, level, whole = ist_bar.errors(a, found)
    assert strain_error == pytest.approx(0.1, rel=1e-9)
    assert level < 1e-9 < whole
    # neither does the hub where the potentiometer passed its gap
    a.y.flags.writeable = True
    a.y[300:, 0] += 6.0
    assert np.isfinite(ist_bar.errors(a, found)).tolist() == [True, False, False]


def test_measured_runs():
    folder = data_folder(ist_bar.SET)
    runs = [ist_bar.record(folder, name) for name in ist_bar.FITTED]
    found = ist_bar.predicted(P, runs)
    each = np.array([ist_bar.errors(r, y) for r, y in zip(runs, found, strict=True)])
    # a baseline of one mode without the cable has 0.177, 0.111 and 0.82
    strain, level, whole = each.mean(axis=0)
    assert strain < 0.161
    assert level < 0.059
    assert whole < 0.107
    arm = ist_bar.make_arm(P)
    second = fa.natural_frequencies(arm, arm.neutral, held="joints")[1]
    assert second == pytest.approx(ist_bar.second_frequency(runs), rel=0.025)
