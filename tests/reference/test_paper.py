"""The kernels on De Luca and Siciliano's arm, and how they tend to its closed form.

The kernels compute the energy of the digest's section 7 with a proper rotation of the
tip frame, nothing cut.  The paper cuts B after first order in the deflections, with
``E_1 = I + S y'`` in place of the rotation; the two first orders differ in five entries
(see ``test_de_luca_closed_form.py``), written `first_order_of_the_rotation` here.  So

* the mass matrix tends to (32) with order 1, and with order 2 once these entries are
  added;
* the velocity forces, taken at joint rates that do not shrink, tend to (34) with order
  1 (centrifugal terms of the dropped second order lose one order by differentiation);
* motions from deflections of size e differ by e^2 where theta_2 is not small, by e^3
  where the straight arm (sin theta_2 of size e) makes these five entries vanish too.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.reference import de_luca_siciliano as paper

DATA = Path(__file__).parents[1] / "data"
P = paper.Parameters()
C = paper.paper_arm(P)
ARM = fa.library.de_luca_siciliano()
DAMPED = fa.library.de_luca_siciliano(damping=True)
T = np.linspace(0.0, 2.0, 2001)
RNG = np.random.default_rng(5)
SIZES = np.array([1e-1, 1e-2, 1e-3, 1e-4])


def state(size):
    """A state with deflections of a given size and joints anywhere."""
    q = np.array([0.3, 0.7, 0.8, -0.6, 0.9, 0.4])
    q[2:] *= size
    return q


def first_order_of_the_rotation(q):
    """Entries by which the first order with a rotation differs from (32)."""
    a = (P.mass[1] / 2.0 + P.payload_mass) * P.length[1]
    first = paper.paper_modes(P)[0]
    phi, slope = first.tip_deflection, first.tip_slope
    bend = slope @ q[2:4] * np.sin(q[1])
    extra = np.zeros((6, 6))
    extra[0, 2:4] = extra[2:4, 0] = -a * P.length[0] * slope * bend
    extra[2:4, 2:4] = -a * (np.outer(phi, slope) + np.outer(slope, phi)) * bend
    return extra


def orders(errors):
    return np.log10(np.array(errors[:-1]) / errors[1:])


def test_mass_matrix_tends_to_the_closed_form():
    plain, corrected = [], []
    for size in SIZES:
        q = state(size)
        error = fa.mass_matrix(ARM, q) - paper.mass_matrix(C, q)
        plain.append(np.abs(error).max())
        corrected.append(np.abs(error - first_order_of_the_rotation(q)).max())
    assert_allclose(orders(plain)[1:], 1.0, rtol=0, atol=0.01)
    assert_allclose(orders(corrected)[:2], 2.0, rtol=0, atol=0.05)
    straight = np.array([0.3, 0.7, 0, 0, 0, 0])
    assert_allclose(
        fa.mass_matrix(ARM, straight),
        paper.mass_matrix(C, straight),
        rtol=0,
        atol=2e-16,
    )


def test_velocity_forces_tend_to_the_closed_form():
    fixed, shrinking = [], []
    for size in SIZES:
        q, qd = state(size), np.array([0.4, -0.6, 0.5, -0.3, 0.7, 0.2])
        elastic = paper.stiffness_matrix(C) @ q
        qd[2:] *= size
        closed = paper.velocity_forces(C, q, qd) + elastic
        fixed.append(np.abs(fa.bias_forces(ARM, q, qd) - closed).max())
        qd *= size
        qd[2:] /= size
        closed = paper.velocity_forces(C, q, qd) + elastic
        shrinking.append(np.abs(fa.bias_forces(ARM, q, qd) - closed).max())
    assert_allclose(orders(fixed), 1.0, rtol=0, atol=0.1)
    # everything of size e: the difference is a velocity product times a deflection
    assert_allclose(orders(shrinking[:3]), 2.0, rtol=0, atol=1.1)
    assert (orders(shrinking[:3]) > 1.9).all()


def start(figure, size=1.0):
    q0 = np.zeros(6)
    if figure in (5, 7):
        q0[4:] = size * np.array([0.1, 0.002])
    elif figure in (6, 8):
        q0[1], q0[2:4] = np.pi / 2, size * np.array([0.1, 0.002])
    return q0


def bang_bang():
    """Digest 8.5: the switching times are chosen there, the paper prints none."""
    torque = np.zeros((len(T), 2))
    torque[:500] = 0.2
    torque[500:1000] = -0.2
    return torque


@pytest.mark.parametrize(("figure", "order"), [(5, 3.0), (6, 2.0), (9, 3.0)])
def test_motions_tend_to_the_closed_form(figure, order):
    sizes, n = np.array([1.0, 0.1, 0.01]), 251
    torque = np.zeros((n, len(sizes), 2))
    if figure == 9:
        torque += sizes[:, np.newaxis] * bang_bang()[:n, np.newaxis]
    starts = np.array([start(figure, size) for size in sizes])
    cut = paper.simulate(C, starts, np.zeros(6), torque[:-1], 1e-3)
    errors = []
    for k, q0 in enumerate(starts):
        options = {"torque": torque[:, k], "interpolation": "hold"}
        full = fa.simulate(ARM, q0, np.zeros(6), T[:n], **options)
        errors.append(np.abs(full.q - cut.q[:, k]).max())
    assert errors[-1] < 2e-5
    assert_allclose(orders(errors)[-1], order, rtol=0, atol=0.15)


def digest_rows():
    for line in (DATA / "de_luca_full_model.txt").read_text().splitlines():
        if not line.startswith("#"):
            yield line.split()


@pytest.mark.parametrize(
    "row", list(digest_rows()), ids=lambda row: f"fig{row[0]}-t{row[1]}"
)
def test_runs_of_the_full_model_in_the_digest(row):
    """Digest 9.4, every printed digit: RK4 with 1 ms, torque held over each step."""
    figure, time = int(row[0]), float(row[1])
    arm = DAMPED if figure in (7, 8, 10) else ARM
    torque = bang_bang() if figure >= 9 else None
    run = fa.simulate(
        arm, start(figure), np.zeros(6), T, torque=torque, interpolation="hold"
    )
    k = round(time / 1e-3)
    found = np.concatenate([run.q[k], run.tip[k, :2]])
    for value, text in zip(found, row[2:], strict=True):
        mantissa, _, exponent = text.partition("e")
        decimals = len(mantissa.partition(".")[2]) - int(exponent or 0)
        assert abs(value - float(text)) <= 0.51 * 10.0**-decimals, (text, value)


def test_invariants_of_the_free_runs():
    """Energy and the momentum p_1 (theta_1 is cyclic) of Figs 5 and 6."""
    for figure in (5, 6):
        run = fa.simulate(ARM, start(figure), np.zeros(6), T)
        momentum = np.einsum("tij,tj->ti", fa.mass_matrix(ARM, run.q), run.qd)[:, 0]
        assert np.abs(momentum).max() < 2e-7
        assert np.ptp(run.energy) < 4e-7


def test_work_of_the_bang_bang_torque():
    """Fig. 9: energy after the torque equals its work, p_1 vanishes again."""
    run = fa.simulate(
        ARM, start(9), np.zeros(6), T, torque=bang_bang(), interpolation="hold"
    )
    moved = run.q[500, :2] - run.q[0, :2] - (run.q[1000, :2] - run.q[500, :2])
    assert_allclose(run.energy[1000], 0.2 * moved.sum(), rtol=1e-4)
    M = fa.mass_matrix(ARM, run.q[500])
    assert_allclose((M @ run.qd[500])[0], 0.1, rtol=1e-7)


def test_damped_runs_lose_energy_only():
    for figure in (7, 8):
        run = fa.simulate(DAMPED, start(figure), np.zeros(6), T)
        assert (np.diff(run.energy) < 1e-12).all()
        fa.testing.assert_energy_balance(run, rtol=1e-3)
