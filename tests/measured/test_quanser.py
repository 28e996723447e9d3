"""A measured arm: its resonance, its identification, runs that were not used for it.

Sources: nominal data and runs of the repository
``basta/quanser-2-dof-serial-flexible-link`` (MIT licence, Copyright (c) 2022 aa4cc /
Edu Ctrl Lab Models).
"""

from __future__ import annotations

import measured_data
import numpy as np
import pytest
from each import each
from scipy.optimize import brentq, curve_fit
from scipy.signal import savgol_filter

import flexarm as fa
from flexarm.errors import ModelError
from flexarm.measured import quanser
from flexarm.measured.quanser import FITTED, relative

STEPS, BOTH, DRIVE = map(
    quanser.found_earlier,
    (quanser.STEP_UNKNOWNS, quanser.BOTH_UNKNOWNS, quanser.DRIVE_UNKNOWNS),
)


@pytest.fixture(scope="module")
def runs():
    """The measured steps."""
    return quanser.steps(measured_data.folder(quanser.SET))


@pytest.fixture(scope="module")
def both():
    """The measured run of both stages."""
    return quanser.both_stages(measured_data.folder(quanser.SET))


def clamped_beam(center: float) -> float:
    """First frequency in Hz of link 1 with stage 2 as a rigid body, Euler-Bernoulli.

    The determinant of shear and moment at the end, of w = a (cosh - cos) + b (sinh -
    sin), which carries a body of mass m and inertia J whose centre is d beyond it.
    """
    EI = 206.8e9 * 0.0762 * 0.00127**3 / 12
    rho, L, m, clamp = 7850 * 0.0762 * 0.00127, 0.202, 1.578, 0.1704
    d = center - L
    J = clamp - m * center**2 + m * d**2

    def determinant(w: float) -> float:
        k = (rho * w * w / EI) ** 0.25
        x = k * L
        C, S, c, s = np.cosh(x), np.sinh(x), np.cos(x), np.sin(x)
        v = np.array([C - c, S - s])
        r = k * np.array([S + s, C - c])
        bend = EI * k**2 * np.array([C + c, S + s])
        shear = EI * k**3 * np.array([S - s, C + c])
        rows = [shear + w * w * m * (v + d * r), bend - w * w * (J * r + m * d * v)]
        return float(np.linalg.det(rows))

    return brentq(determinant, 1.0, 20.0, xtol=1e-10) / (2 * np.pi)


@each("center", [0.20, 0.24, 0.28, 0.32])
def test_the_resonance_is_that_of_a_body_not_of_a_spring(center):
    """The maker's spring has 2.44 Hz; the beam with the load 1.65 to 1.96 Hz."""
    arm = quanser.rigid_stage(center)
    found = fa.natural_frequencies(arm, arm.neutral, held="joints")[0]
    assert found == pytest.approx(clamped_beam(center), rel=2e-7)
    spring = np.sqrt(39.96 / 0.1704) / (2 * np.pi)  # 3 EI/L about the clamp
    assert spring == pytest.approx(2.44, abs=0.005)
    assert 1.64 < found < 1.97 < 0.85 * spring


def test_second_stage_splits_the_load():
    """Mass, first moment and inertia about the clamp are those of the rigid stage."""
    whole = quanser.rigid_stage(0.28)
    split = quanser.quanser_two_link(hub_inertia=(0.0635, 1e-9))
    M = fa.mass_matrix(split, split.neutral)
    np.testing.assert_allclose(
        M[np.ix_([0, 2, 3], [0, 2, 3])], fa.mass_matrix(whole, whole.neutral), rtol=1e-7
    )
    with pytest.raises(ModelError, match="negative moment of inertia"):
        quanser.quanser_two_link(load_center=0.33)


def swings(runs):
    """Frequencies at which the arm swings after the steps, hub 1 at rest, in Hz."""
    t = 0.008 * np.arange(500)
    late = t > 2.0

    def decay(t, w, d, a, b, c):
        swing = a * np.cos(w * t) + b * np.sin(w * t)
        return np.exp(-d * (t - 2.0)) * swing + c

    measured = []
    for _, y in runs.values():
        first = (11.5, 0.3, y.std(), y.std(), 0.0)
        measured.append(curve_fit(decay, t[late], y[late], first)[0][0] / (2 * np.pi))
    return measured


def test_free_vibration_is_that_of_the_identified_arm(runs):
    """After the steps the arm swings at 1.79 to 1.86 Hz, hub 1 at rest."""
    measured = swings(runs)
    assert 1.78 < min(measured) < max(measured) < 1.87
    arm = quanser.step_arm(STEPS)
    # joint 2 sticks when the arm swings little, and slides in its servo when it moves
    stuck = fa.natural_frequencies(arm, arm.neutral, held="joints")[0]
    free = fa.natural_frequencies(arm, arm.neutral, held=["link1"])[0]
    assert np.median(measured) == pytest.approx(stuck, rel=0.02)
    assert free < 0.8 * stuck


def step_errors(p, runs):
    """Error of each run."""
    found = quanser.predicted_steps(p, runs)
    return {n: float(relative(found[n], run.deflection)) for n, run in runs.items()}


def test_deflections_of_runs_that_were_not_used(runs):
    """Four of six below 8 %, two below the 12 % that were aimed at."""
    found = step_errors(STEPS, runs)
    assert all(found[name] < 0.06 for name in FITTED)
    unused = {name: error for name, error in found.items() if name not in FITTED}
    # 2 mrad in all; rest that is 0.6 mrad elsewhere, which no other run shows
    assert max(unused.pop("hinf 10"), unused.pop("lqg -10")) < 0.12
    assert max(unused.values()) < 0.08
    # the maker's numbers, without what is identified
    assert min(step_errors(quanser.STEP_NOMINAL, runs).values()) > 0.2


def test_both_deflections_of_the_half_that_was_not_used(both):
    """Below 10 and 12 %; without the angle of the elbow more than twice that."""
    half = slice(1250, 2500)

    def parts(p):
        y, seen = quanser.predicted_both(
            quanser.both_arm(p), quanser.both_gauges(p), both
        )
        return relative(y[:, half], seen[:, half])

    found = parts(BOTH)
    assert found[0] < 0.10
    assert found[1] < 0.115
    stretched = BOTH.copy()
    stretched[3] = 0.0
    assert (parts(stretched) > 2.0 * found).all()
    # the halves are equal to half a per cent: what is left is no noise
    for y in (both["deflection1"], both["deflection2"]):
        assert relative(y[half], y[:1250]) < 0.007


def test_fast_noise_is_small(runs, both) -> None:
    """Smooth curves over 0.1 s leave below 0.1 %; slow drift is not seen by this."""
    for y in (*(y for _, y in runs.values()), both["deflection1"], both["deflection2"]):
        assert (y - savgol_filter(y, 13, 4)).std() < 1e-3 * y.std()


def test_hub_angle_from_current(both):
    """Open loop for 10 s, with numbers found from the 10 s before: 1.2 %."""
    hub, seen = quanser.predicted_hub(quanser.driven_arm(DRIVE, STEPS), both)
    assert relative(hub, seen) < 0.015


def test_runs_have_names_of_their_own(tmp_path):
    """Also those of a folder with more runs; each is then predicted by itself."""
    text = "time_s,reference_rad,hub_angle_rad,deflection_rad\n" + "0,0,0.5,0.1\n" * 8
    stems = "lqg_step_0deg_run01", "lqg_step_0deg_run02", "hinf_step_neg_5deg_run03"
    for stem in (*stems, "other_step_5deg_run01"):
        (tmp_path / f"{stem}.csv").write_text(text)
    found = quanser.steps(tmp_path)
    assert set(found) == {"lqg 0", "lqg 0 run 1", "hinf -5 run 3"}
    assert found["lqg 0"].hub.tolist() == [0.5, 0.5]


def test_simulated_runs_are_predicted_by_the_numbers_that_made_them():
    """To the noise, which the first 50 ms of each chain amplify, and rounding."""
    runs, both = quanser.simulated()
    errors = step_errors(STEPS, runs)
    assert max(errors.values()) < 0.05
    assert np.median(list(errors.values())) < 0.005
    y, seen = quanser.predicted_both(
        quanser.both_arm(BOTH), quanser.both_gauges(BOTH), both
    )
    # at rest the lean bends link 1 by 0.2 mrad, the simulation begins straight
    assert (relative(y, seen) < 0.015).all()


def test_elbow_and_what_link_1_carries():
    """An angle at zero is an angle; masses of their own make the whole stage."""
    plain, turned = (quanser.quanser_two_link(elbow_angle=a) for a in (0.0, 0.4))
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.normal(scale=0.1, size=(3, 6))
    at = np.arange(6) == 1
    np.testing.assert_allclose(
        fa.inverse_dynamics(turned, q, qd, qdd),
        fa.inverse_dynamics(plain, q + 0.4 * at, qd, qdd),
        rtol=1e-12,
    )
    load = 0.2, 0.01 - 0.2 * 0.20185**2
    own = quanser.quanser_two_link(carried=(1.3, 0.3, 0.01), load=load)
    M = fa.mass_matrix(own, own.neutral)
    # about joint 1: drive, carried body, both links, drive 2, load
    rods = [
        7850.0 * b * h * L
        for b, h, L in ((0.0762, 0.00127, 0.202), (0.0381, 0.000889, 0.20185))
    ]
    about = 0.0635 + 1.3 * 0.3**2 + 0.01 + rods[0] * 0.202**2 / 3.0 + 0.003
    about += rods[1] * (0.20185**2 / 12.0 + (0.25 + 0.5 * 0.20185) ** 2)
    about += load[1] + load[0] * (0.25 + 0.20185) ** 2
    assert M[0, 0] == pytest.approx(about, rel=1e-9)
