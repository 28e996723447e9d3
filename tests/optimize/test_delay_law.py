"""Why inverse dynamics looks ahead: delays and causal inversion of links of flexarm.

Farid (1997), section 7.2, cases E5 and E6 with the kernels of the package: from the
linear model of a link, and by its equations of motion forward in time.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from arrays import Array
from few_modes import few_modes
from scipy.linalg import eigh
from scipy.optimize import brentq
from test_farid_link import beam, parabola

import flexarm as fa
from flexarm.optimize._tracking.tip_task import TipTask
from flexarm.optimize._tracking.tip_trajectory import timed
from flexarm.reference import farid_link
from flexarm.reference.tracking import stable_inversion
from flexarm.reference.tracking._zero_dynamics import zeros_at_rest

LENGTH_SQUARED_OVER_C = 0.1  # s, of the links of EI = 500 N m^2 here
EXACT_ZERO = 2.0 * brentq(lambda x: np.tan(x) + np.tanh(x), 2.0, 3.0) ** 2


def arm_of(body: fa.FlexibleBody) -> fa.Arm:
    return fa.Arm([body], gravity=(0.0, 0.0, 0.0))


def modal(modes: int) -> fa.FlexibleBody:
    """Link with exact clamped shapes."""
    shapes = fa.beams.clamped_beam_modes(1.0, 5.0, 500.0, modes)
    return fa.beams.flexible_link(
        "link",
        length=1.0,
        mass_per_length=5.0,
        bending_y=shapes,
        geometric_stiffening=False,
    )


def delay(body: fa.FlexibleBody) -> float:
    """Last zero of the tip after a step of the torque, as c t / L^2."""
    arm = arm_of(body)
    n = arm.nv
    model = fa.linearize(arm, arm.neutral, np.zeros(n), np.zeros(1))
    M = fa.mass_matrix(arm, arm.neutral)
    y = fa.jacobian(arm, arm.neutral, frame="base")[4]
    # vibrations and the rigid motion of M q'' + K q = e
    K = -M @ model.A[n:, :n]
    square, shapes = eigh(0.5 * (K + K.T), M)
    weight = (y @ shapes) * shapes[0]
    assert abs(square[0]) < 1e-6 * square[1]
    omega, w = np.sqrt(square[1:]), weight[1:] / square[1:]

    def tip(s: Any) -> Any:
        t = np.asarray(s)[..., np.newaxis] * LENGTH_SQUARED_OVER_C
        swing = (w * (1.0 - np.cos(omega * t))).sum(axis=-1)
        return 0.5 * weight[0] * t[..., 0] ** 2 + swing

    s = np.linspace(0.0, 0.5, 5001)[1:]
    last = int(np.flatnonzero(tip(s) < 0.0)[-1])
    return float(brentq(tip, s[last], s[last + 1], xtol=1e-14))


@cache
def of_elements(n: int) -> float:
    with few_modes():
        return delay(beam(500.0, n))


# E5


def test_delay_of_the_shape_of_the_thesis() -> None:
    s = delay(parabola(500.0))
    assert s == pytest.approx(0.2255154, abs=1e-7)
    assert 32.0 * s**2 == pytest.approx(1.0 - np.cos(np.sqrt(320.0) * s), rel=1e-9)


@pytest.mark.parametrize("elements", [4, 8, 16, 30])
def test_delay_of_finite_elements(elements: int) -> None:
    assert of_elements(elements) == pytest.approx(farid_link.delay(elements), abs=2e-7)


def test_delay_of_the_converged_beam() -> None:
    # elements from one side, clamped modes from the other: 0.234, not 0.226
    elements, modes = of_elements(30), delay(modal(12))
    assert abs(elements - 0.234) < 5e-4
    assert abs(modes - 0.234) < 5e-4
    assert abs(modes - elements) < 2e-4


# E6


def marched(arm: fa.Arm, q: Array, steps: int, step: float) -> Array:
    """Inverse dynamics forward in time, with the tip held: the angles of the base.

    The next positions follow from the equations of motion and from the tip at once,
    with central differences; q are the first two, and the tip shall stay at zero.
    """
    B = np.zeros((arm.nv, 1))
    B[0] = 1.0
    result = [*q]
    for _ in range(steps):
        before, now = result[-2:]
        M, J = arm.mass_matrix(now), arm.jacobian(now, frame="base")[4:5]
        # velocity terms are of second order here
        forces = arm.inverse_dynamics(now, 0.0 * now, 0.0 * now)
        A = np.block([[M / step**2, -B], [J, np.zeros((1, 1))]])
        right = M @ (2.0 * now - before) / step**2 - forces
        result.append(np.linalg.solve(A, [*right, 0.0])[: arm.nv])
    return np.array(result)


@pytest.mark.parametrize(
    ("body", "rate"),
    [(parabola(500.0), np.sqrt(80.0)), (beam(500.0, 2), None)],
    ids=["one shape", "two elements"],
)
def test_the_causal_inverse_blows_up(body: fa.FlexibleBody, rate: Any) -> None:
    rate = farid_link.divergence_rate(2) if rate is None else rate
    arm, step = arm_of(body), 1e-5
    task = TipTask(arm, timed(lambda t: [1.0, 0.0, 0.0], 1.0, ""), None, "y")
    zeros = zeros_at_rest(task, arm.neutral)
    grows = int(np.argmin(np.where(zeros.values.real > 0, zeros.values.real, np.inf)))
    slow = zeros.shapes[:, grows].real
    slow *= 1e-6 / np.abs(slow[0])
    first = np.array([slow, slow * np.exp(zeros.values[grows].real * step)])
    steps = 400 if len(zeros.values) > 2 else 4000
    phi = marched(arm, first, steps, step)[:, 0]
    growth = np.log(phi[-1] / phi[0]) / (len(phi) - 1) / step
    assert growth * LENGTH_SQUARED_OVER_C == pytest.approx(rate, rel=1e-4)


def test_the_rate_of_the_converged_beam() -> None:
    assert pytest.approx(11.187, abs=5e-4) == EXACT_ZERO
    for body, tolerance in ((beam(500.0, 16), 3e-6), (modal(12), 2e-3)):
        task = TipTask(
            arm_of(body), timed(lambda t: [1.0, 0.0, 0.0], 1.0, ""), None, "y"
        )
        found = zeros_at_rest(task, task.arm.neutral).slowest(1)
        assert found * LENGTH_SQUARED_OVER_C == pytest.approx(EXACT_ZERO, rel=tolerance)


def test_the_thesis_sees_the_wrong_sign_first_and_then_no_end() -> None:
    # the causal torque of (7.11) against one that acts in advance, same trajectory
    link = farid_link.SingleLink(500.0)
    t = np.arange(0.0, 0.25, 1e-4)
    causal = farid_link.causal_inverse(link, 0.02, 0.5, t)
    at = np.linspace(0.0, 0.5, 301)
    motion = stable_inversion(
        arm_of(parabola(500.0)),
        (at, np.stack([0.0 * at, 0.02 * farid_link.point_to_point(at / 0.5)[0]], -1)),
        axes="y",
    )
    assert (causal.torque[1:720] < 0.0).all()
    largest = np.abs(motion.tau).max()
    assert np.nanmax(np.abs(causal.torque)) > 100.0 * largest
    assert motion.tau[motion.t < 0.0].min() > -1e-9 * largest
    # bounded by what a rigid link takes, and it starts some time constants before
    rigid = (
        5.0 / 3.0 * 0.02 * np.abs(farid_link.point_to_point(t / 0.5)[2]).max() / 0.25
    )
    assert largest < 2.0 * rigid
    constant = motion.tracking.time_constants[0]
    assert constant == pytest.approx(0.1 / np.sqrt(80.0), rel=1e-6)
    assert constant < motion.tracking.before < 8.0 * constant
    assert motion.verification.path_error[1] < 1e-7
