"""Gain schedules: exact at the grid, multilinear between, refused outside."""

from __future__ import annotations

from typing import Any

import numpy as np
from few_modes import planar_chain
from numpy.testing import assert_allclose
from refusals import FLEX, argument_refused

import flexarm as fa
from flexarm import control
from flexarm.control.gain_scheduling import GainSchedule

CHAIN = planar_chain(2, n_modes=1, damping=0.5)
GRID = {"link1": np.linspace(-1.0, 1.0, 4), "link2": np.linspace(-2.0, 1.0, 5)}
Q, R = np.concatenate([[100.0] * 4, [1.0] * 4]), [0.1, 0.1]
LAW = control.scheduled_lqr(CHAIN, GRID, Q, R, [0.3, -0.4])


def test_gains_on_the_grid_are_those_of_its_models() -> None:
    q = fa.joint_grid(CHAIN, GRID)
    K = LAW.gain(q)
    assert_allclose(K, LAW.K, rtol=1e-12, atol=1e-12)
    i = (2, 1)
    model = fa.linearize(CHAIN, q[i], settle=True)
    assert_allclose(K[i], control.lqr(model, Q, R).K, rtol=1e-7, atol=1e-9)
    # at rest where it should be, it holds the arm
    rest = fa.equilibrium(CHAIN, [0.3, -0.4, 0.0, 0.0]).q
    held = fa.holding_forces(CHAIN, rest)
    assert_allclose(LAW(0.0, rest, np.zeros(4)), held, rtol=1e-7)


def test_gains_between_are_multilinear() -> None:
    def table(a: Any, b: Any) -> Any:
        return 2.0 + 3.0 * a - b + 0.5 * a * b

    a, b = np.meshgrid(*GRID.values(), indexing="ij")
    law = GainSchedule(
        CHAIN,
        GRID,
        table(a, b)[..., np.newaxis, np.newaxis] * np.ones((2, 8)),
        [0.0, 0.0],
    )
    q = np.random.default_rng(1).uniform(-1.0, 1.0, size=(3, 7, 4))
    K = law.gain(q)
    assert K.shape == (3, 7, 2, 8)
    assert_allclose(K[..., 1, 3], table(q[..., 0], q[..., 1]), rtol=1e-12)


def test_a_large_step_under_gravity() -> None:
    start = fa.equilibrium(CHAIN, [-0.3, -0.9, 0.0, 0.0]).q
    law = control.scheduled_lqr(CHAIN, GRID, Q, R, [0.3, -0.4], dt=5e-3)
    t = np.linspace(0.0, 4.0, 81)
    run = control.simulate_loop(
        CHAIN, law, start, np.zeros(4), t, sample_time=5e-3, max_step=5e-4
    )
    assert run.success
    assert abs(run.q[-1, :2] - [0.3, -0.4]).max() < 1e-3
    # a motion gives its rates away: no force of K on them
    moved = law.replace(target=lambda t: (np.array([0.3, -0.4]), np.ones(2)))
    rest, rate = run.q[-1], np.array([1.0, 1.0, 0.0, 0.0])
    assert_allclose(moved(0.0, rest, rate), law(0.0, rest, 0 * rate), rtol=1e-9)


def test_sampled_gains_bring_their_sample_time() -> None:
    arm = fa.library.de_luca_siciliano()
    weights: Any = ({"link2": [0.0, 1.0]}, np.ones(12), np.ones(2), [0.0, 0.5])
    assert control.scheduled_lqr(arm, *weights).dt is None
    law = control.scheduled_lqr(arm, *weights, dt=0.01)
    q = [0.0, 0.5, 0.0, 0.0, 0.0, 0.0]
    run = control.simulate_loop(arm, law, q, np.zeros(6), [0.0, 0.02])
    assert run.sample_time == law.dt == 0.01


def test_lost_members_do_not_stop_the_others() -> None:
    q = np.zeros((3, 4))
    q[1] = np.nan
    tau = LAW(0.0, q, np.zeros((3, 4)))
    assert np.isnan(tau[1]).all()
    assert np.isfinite(tau[[0, 2]]).all()


def test_gain_schedules_refuse_states_outside_of_their_grid() -> None:
    argument_refused(
        ["'link1' is 1.2 in 1 of 2 states", "from -1 to 1", "wider grid"],
        lambda: LAW.gain([[0.0] * 4, [1.2, 0.0, 0.0, 0.0]]),
    )
    argument_refused(
        ["axes has 'elbow'"], lambda: LAW.replace(axes={"elbow": [0.0, 1.0]})
    )
    argument_refused(
        ["K has shape (4, 5, 2, 8)", "gain for each point"],
        lambda: LAW.replace(axes={"link1": [0.0, 1.0]}),
    )
    argument_refused(
        ["at least two increasing values"],
        lambda: control.scheduled_lqr(
            FLEX, {"link2": [0.0]}, np.ones(12), np.ones(2), [0.0, 0.0]
        ),
    )
