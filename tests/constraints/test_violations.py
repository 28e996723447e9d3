"""Judgement of runs: violated and contradictory constraints, motion without bound."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from test_constraints import closed_four_bar, four_bar
from test_mechanisms import platform_state, stewart

import flexarm as fa
from flexarm._core import METHODS as CORE

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

T = np.linspace(0.0, 0.3, 31)


def chain(n: int, *constraints: Any, **changes: Any) -> fa.Arm:
    return fa.library.planar_chain(n, length=1.0).replace(
        constraints=constraints, couplings="constrained", **changes
    )


def pin(n: int, x: float, name: str = "pin") -> fa.Loop:
    """The tip of a chain at (x, 0)."""
    end = (f"link{n}", "tip")
    return fa.Loop(end, directions="xy", position2=(x, 0, 0), name=name)


def moved(q: Any, i: int, step: float) -> Any:
    return q + step * (np.arange(len(q)) == i)


def slider_crank() -> fa.Arm:
    crank, rod = fa.library.planar_chain(2, length=1.0).bodies
    rail = fa.Joint("prismatic", (1, 0, 0), parent="ground")
    slider = fa.RigidBody("slider", rail, mass=1.0)
    loop = fa.Loop(("link2", "tip"), ("slider", "base"), directions="xy")
    return fa.Arm([crank, rod, slider], constraints=[loop])


def good_cases() -> list[tuple[fa.Arm, Any]]:
    """Mechanisms and positions that satisfy their constraints."""
    cases: list[tuple[fa.Arm, Any]] = []
    for n_modes in (0, 2):
        arm = four_bar(n_modes=n_modes)
        cases.append((arm, closed_four_bar(arm)))
    five = chain(4, pin(4, 1.5))
    cases.append((five, fa.close_loops(five, [2.0, -1.0, -1.0, -1.0])))
    crank = slider_crank()
    cases.append((crank, fa.close_loops(crank, [0.5, -1.0, 1.7])))
    gear = chain(2, fa.Coupling({"link1": 20.0, "link2": -1.0}, constant=0.3))
    cases.append((gear, np.array([0.1, 1.7])))
    cases.append((stewart(0.3), platform_state()[3]))
    return cases


@each("rounded", [False, True])
def test_good_mechanisms_do_not_warn(rounded: bool) -> None:
    """Not even with positions of four digits."""
    for arm, q in good_cases():
        q0 = q.round(4) if rounded else q
        rng = np.random.default_rng(1)
        qd0 = fa.close_loops(arm, q, rng.normal(size=arm.nv), modes=True)[1]
        run = fa.simulate(arm, q0, qd0, T, max_step=2e-3)
        assert run.success
        assert run.message == "reached the last time"
        assert run.violation[1:].max() < 1e-6
        assert run.violation_rate[1:].max() < 1e-5


def test_violations_of_a_run_are_those_of_its_samples() -> None:
    arm = four_bar()
    q = np.stack([closed_four_bar(arm)] * 2)
    run = fa.simulate(arm, q, np.zeros(3), T, method="RK45", rtol=1e-6)
    phi = fa.constraint_violation(arm, run.q)
    assert_allclose(run.violation, np.abs(phi).max(-1), rtol=0, atol=0)
    rate = fa.constraint_jacobian(arm, run.q) @ run.qd[..., np.newaxis]
    assert_allclose(run.violation_rate, np.abs(rate[..., 0]).max(-1), rtol=1e-12)
    assert run.violation.shape == run.violation_rate.shape == (2, len(T))
    tree = arm.replace(constraints=())
    free = fa.simulate(tree, q[0], np.zeros(3), T)
    assert not free.violation.any()
    assert not free.violation_rate.any()


@pytest.mark.parametrize("method", ["rk4", "RK45"])
def test_an_open_start_is_named_and_what_to_do(method: str) -> None:
    crank = slider_crank()
    good = fa.close_loops(crank, [0.5, -1.0, 1.7])
    cases = [
        (chain(3, pin(3, 1.0)), [2.5, -0.5, -0.5], r"'pin.x' is violated by 2.35 m at"),
        (crank, moved(good, 2, 1.0), "by 0.865 m at"),
        (chain(2, fa.Coupling({"link1": 2.0, "link2": -1.0})), [0.5, 0.0], "by 1 rad"),
    ]
    for arm, q, words in cases:
        with pytest.warns(fa.ConstraintWarning, match=words) as caught:
            run = fa.simulate(arm, q, np.zeros(arm.nv), T, method=method)
        (warning,) = caught
        assert warning.filename == __file__
        text = str(warning.message)
        assert "start from flexarm.close_loops(arm, q0), or silence" in text
        assert "\n" not in text and len(text) < 300
        assert run.success
        assert run.message == f"reached the last time, but {text}"
        assert run.violation[0] > 0.8


def test_velocities_that_open_a_loop_are_named() -> None:
    arm = chain(3, pin(3, 1.0))
    q = fa.close_loops(arm, [1.0, -1.0, -1.0])
    words = r"'pin.x' is violated by 2.99 m/s of velocities at the start, which .*qd0\)"
    with pytest.warns(fa.ConstraintWarning, match=words):
        fa.simulate(arm, q, [3.0, 0.0, 0.0], T)


@pytest.mark.parametrize("kind", ["loops", "couplings", "too far"])
def test_constraints_without_a_solution_are_no_success(kind: str) -> None:
    arm = {
        "loops": chain(3, pin(3, 1.0, "a"), pin(3, 1.5, "b")),
        "couplings": chain(
            3,
            fa.Coupling({"link1": 1.0, "link2": -1.0}, name="a"),
            fa.Coupling({"link1": 1.0, "link2": -1.0}, constant=1.0, name="b"),
        ),
        "too far": chain(3, pin(3, 5.0)),
    }[kind]
    words = "finds no positions near the start.*whether constraints contradict"
    with pytest.warns(fa.ConstraintWarning, match=words):
        run = fa.simulate(arm, [1.0, -0.9, -1.0], np.zeros(3), T)
    assert not run.success
    assert "finds no positions" in run.message


def test_a_violation_that_grows_is_named_with_its_time() -> None:
    arm = four_bar().replace(stabilization=0.0)
    q = closed_four_bar(arm)
    qd = fa.close_loops(arm, q, [8.0, 0.0, 0.0])[1]
    t = np.linspace(0.0, 6.0, 61)
    words = (
        r"is violated by \S+ m at t = \S+ s; take smaller rtol and atol, or a larger"
    )
    with pytest.warns(fa.ConstraintWarning, match=words) as caught:
        run = fa.simulate(arm, q, qd, t, method="RK23", rtol=1e-2, atol=1e-2)
    assert len(caught) == 1
    k = int(run.violation.argmax())
    assert f"by {run.violation[k]:.3g} m at t = {t[k]:.6g} s" in run.message


def test_a_batch_and_a_stack_count_their_violations() -> None:
    arm = chain(3, pin(3, 1.0))
    q = fa.close_loops(arm, [1.0, -1.0, -1.0])
    start = np.stack([q, moved(q, 0, 0.3), q, moved(q, 0, 0.2)])
    words = "by 0.292 m at the start of 2 of 4 trajectories, and"
    heavy = arm.replace(gravity=(0, 0, -3.0))
    stack = fa.stack([arm, heavy, heavy, arm])
    for arms in (arm, stack):
        with pytest.warns(fa.ConstraintWarning, match=words):
            run = fa.simulate(arms, start, np.zeros(3), T)
        assert run.success
        assert_allclose(run.violation[:, 0], [0, 0.292, 0, 0.197], rtol=0, atol=1e-3)
        assert run.violation[:, -1].max() < 1e-12
    # one trajectory without a solution among others
    arm = chain(3, pin(3, 1.0), pin(2, 5.0, "far"))
    with pytest.warns(fa.ConstraintWarning, match="no positions"):
        run = fa.simulate(arm, start, np.zeros(3), T)
    assert not run.success


def test_a_violation_beside_events_warns_once() -> None:
    arm = chain(2, fa.Coupling({"link1": 2.0, "link2": -1.0}))
    falls = fa.events.joint_reaches(arm, "link1", 0.3, terminal=True)
    with pytest.warns(fa.ConstraintWarning) as caught:
        run = fa.simulate(arm, [0.5, 0.0], [0.0, 0.0], 10 * T, events=[falls])
    assert len(caught) == 1
    assert run.events
    assert "ended by event" in run.message


# motion without bound

METHODS = (*CORE, "RK45", "BDF")


def slide() -> fa.Arm:
    joint = fa.Joint("prismatic", (1, 0, 0))
    return fa.Arm([fa.RigidBody("cart", joint, mass=1.0)])


@pytest.mark.parametrize("method", METHODS)
def test_a_finite_motion_without_bound_is_no_success(method: str) -> None:
    """A cart that its motor pushes forward, v = exp(20 t)."""
    law = fa.control.JointFeedback([0.0], [-20.0], [0.0])
    t = np.linspace(0.0, 1.0, 201)
    options: dict[str, Any] = {"method": method, "torque": law}
    if method in ("Rodas4P", "RK45", "BDF"):
        options["rtol"] = 1e-6
    run = fa.simulate(slide(), [0.0], [1.0], t, **options)
    assert np.isfinite(run.q).all()
    assert not run.success
    assert "the motion grew without bound: the rate of 'cart' is 1" in run.message
    assert "at t = 0.6" in run.message or "at t = 0.7" in run.message
    many = fa.simulate(slide(), [0.0], [[1e-9], [1.0], [1e-8]], t, **options)
    assert not many.success
    assert "the motion of 1 of 3 trajectories grew without bound" in many.message
    assert fa.simulate(slide(), [0.0], [[1e-9], [1e-8]], t, **options).success


def test_far_is_not_without_bound() -> None:
    """A satellite on its way, a motor that turns for long."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = fa.simulate(slide(), [4e8], [3e4], np.linspace(0.0, 1e5, 101))
    assert far.q.max() > 3e9
    assert far.success


def test_sampled_loops_are_judged() -> None:
    """A loop of a control law says the same of an open mechanism, and stays finite."""
    arm = four_bar()
    q = closed_four_bar(arm)
    rest, t = np.zeros(arm.nv), np.linspace(0.0, 0.05, 6)

    def law(t: float, q: Any, qd: Any) -> Any:
        return np.zeros((*q.shape[:-1], arm.nu))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = fa.control.simulate_loop(arm, law, q, rest, t, sample_time=0.01)
    assert run.success
    start = np.stack([q, moved(q, 1, 0.3)])
    with pytest.warns(fa.ConstraintWarning, match="at the start of 1 of 2") as caught:
        run = fa.control.simulate_loop(arm, law, start, rest, t, sample_time=0.01)
    assert caught[0].filename == __file__
    assert "flexarm.close_loops" in run.message
