"""What all laws share: one call, one reset, in `simulate` and in `simulate_loop`."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from each import each
from numpy.testing import assert_array_equal
from refusals import argument_refused

import flexarm as fa
from flexarm import control
from flexarm.control.gain_scheduling import GainSchedule
from flexarm.control.linear_quadratic import StateFeedback
from flexarm.simulation.laws import Law, law_of

ARM = fa.library.pendulum()
MODEL = fa.linearize(ARM, [0.0])
FLEXIBLE = fa.library.planar_chain(1, n_modes=6, gravity=(0.0, 0.0, 0.0))
MOTION = control.RestToRest([0.0], [0.3], 0.5)
STATE = np.array([0.1]), np.array([0.2])
T = np.linspace(0.0, 0.2, 11)
DT = 0.02


def a_filter() -> control.ExtendedKalmanFilter:
    return control.ExtendedKalmanFilter(
        ARM, "joints", [0.0, 1.0], [1e-6], DT, [0.0], [0.0], covariance=[1.0, 1.0]
    )


def adaptive() -> control.AdaptiveControl:
    return control.AdaptiveControl(ARM, MOTION, 1.0, 2.0, 0.1, np.zeros(10))


def predictive(**options: Any) -> control.PredictiveControl:
    return control.PredictiveControl(MODEL, [100.0, 1.0], [0.01], dt=DT, **options)


def scheduled() -> GainSchedule:
    grid = {ARM.coordinate_names[0]: np.linspace(-0.5, 0.5, 3)}
    return control.scheduled_lqr(ARM, grid, [100.0, 1.0], [0.01], [0.0])


# each law on one joint, by its class
LAWS: dict[type, Callable[[], Any]] = {
    control.AdaptiveControl: adaptive,
    control.CompositeControl: lambda: control.CompositeControl(ARM, MOTION),
    control.DisturbanceObserver: lambda: control.DisturbanceObserver(
        ARM, 30.0, DT, law=adaptive()
    ),
    GainSchedule: scheduled,
    control.Inversion: lambda: control.Inversion(ARM, MOTION, dt=DT),
    control.ObservedLaw: lambda: control.ObservedLaw(adaptive(), a_filter()),
    control.PredictiveControl: predictive,
    control.SetPointPD: lambda: control.SetPointPD(ARM, 50.0, 10.0, [0.0]),
    StateFeedback: lambda: control.lqr(MODEL, [100.0, 1.0], [0.01]),
    control.StrainFeedback: lambda: control.StrainFeedback(
        FLEXIBLE, [0.0], servo=10.0, bandwidth=2.0, gain=0.5
    ),
}


def measured(law: Any) -> tuple[Any, ...]:
    """What a law reads of one state."""
    if isinstance(law, control.ObservedLaw):
        return (STATE[0],)
    if isinstance(law, control.StrainFeedback):
        return np.array([0.1, 0.01, *np.zeros(5)]), np.zeros(7)
    return STATE


def test_all_classes_of_laws_are_in_this_table() -> None:
    """Laws are the classes below `control` with a call of a time and a measurement."""
    found = set()
    for path in Path(control.__file__).parent.glob("*.py"):
        for made in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(made, ast.ClassDef):
                continue
            for item in made.body:
                call = isinstance(item, ast.FunctionDef) and item.name == "__call__"
                if call and len(item.args.args) > 2:  # a shaper takes a function alone
                    found.add(made.name)
    assert found == {made.__name__ for made in LAWS}


@each("made", LAWS)
def test_a_law_satisfies_the_protocol(made: Callable[[], Any]) -> None:
    law = made()
    assert isinstance(law, Law)
    assert law_of(law) is law
    # the same parameters as in the protocol, by place
    for name in ("__call__", "reset"):
        wanted = list(inspect.signature(getattr(Law, name)).parameters.values())[1:]
        given = list(inspect.signature(getattr(law, name)).parameters.values())
        assert [p.default for p in given] == [p.default for p in wanted]
        assert all(p.kind is p.POSITIONAL_OR_KEYWORD for p in given)
    assert list(inspect.signature(law.reset).parameters) == ["q", "qd"]


@each("made", LAWS)
def test_a_law_that_is_reset_begins_again(made: Callable[[], Any]) -> None:
    law = made()
    seen = measured(law)
    first = [np.asarray(law(t, *seen)) for t in (0.0, DT, 2 * DT)]
    for state in ((), STATE):
        law.reset(*state)
        again = [np.asarray(law(t, *seen)) for t in (0.0, DT, 2 * DT)]
        assert_array_equal(again, first)


def test_loops_and_simulations_reset_the_law() -> None:
    """Two runs are equal, also of a law within a law."""
    for made in (adaptive, *(LAWS[c] for c in (control.DisturbanceObserver,))):
        law = made()
        runs = [
            control.simulate_loop(ARM, law, *STATE, T, sample_time=DT) for _ in range(2)
        ]
        assert_array_equal(runs[1].u, runs[0].u)
        runs = [fa.simulate(ARM, *STATE, T, torque=law) for _ in range(2)]
        assert_array_equal(runs[1].tau, runs[0].tau)
    law = LAWS[control.ObservedLaw]()
    runs = [control.simulate_loop(ARM, law, [0.1], [0.0], T) for _ in range(2)]
    assert_array_equal(runs[1].u, runs[0].u)
    assert abs(law.law.theta).max() > 0.0


class Counting:
    """A law of a user, with the states that its resets are given."""

    dt = DT

    def __init__(self) -> None:
        self.starts: list[Any] = []

    def __call__(self, t: float, q: Any, qd: Any = None) -> Any:
        return -q

    def reset(self, q: Any = None, qd: Any = None) -> None:
        self.starts.append((q, qd))


def test_a_law_is_reset_once_with_the_start_of_the_batch() -> None:
    law = Counting()
    q0, qd0 = np.array([[0.1], [0.2]]), np.array([0.3])
    halt = fa.events.Event(lambda t, q, qd: q[..., 0] - 0.15, name="half")
    fa.simulate(ARM, q0, qd0, T, torque=law, events=[halt])
    control.simulate_loop(ARM, law, q0, qd0, T)
    assert len(law.starts) == 2
    for q, qd in law.starts:
        assert_array_equal(q, q0)
        assert_array_equal(qd, [[0.3], [0.3]])


def test_plain_functions_are_laws_without_memory() -> None:
    seen: list[tuple[Any, ...]] = []
    law = law_of(lambda *given: seen.append(given) or [0.0])  # type: ignore[func-returns-value]
    assert isinstance(law, Law)
    law.reset(*STATE)
    law(0.5, STATE[0])
    law(0.5, *STATE)
    assert [len(given) for given in seen] == [2, 3]


def test_a_law_that_is_given_what_it_does_not_read_says_so() -> None:
    pd, observed = LAWS[control.SetPointPD](), LAWS[control.ObservedLaw]()
    state_feedback = LAWS[StateFeedback]()
    for law in (pd, state_feedback, predictive()):
        argument_refused(
            ["qd is None", "law(t, q, qd)"], lambda law=law: law(0.0, [0.1])
        )
    argument_refused(
        ["the law reads the state", "sensors"],
        lambda: control.simulate_loop(
            ARM, pd, *STATE, T, sample_time=DT, sensors="joint positions"
        ),
    )
    wanted = ["two arrays are measured", "law(t, y)"]
    argument_refused(wanted, lambda: observed(0.0, *STATE))
    argument_refused(wanted, lambda: fa.simulate(ARM, *STATE, T, torque=observed))
    observer = control.kalman_filter(
        fa.linearize(ARM, [0.0], outputs="joints"), [0.0, 1.0], [1e-4], dt=DT
    )
    argument_refused(wanted, lambda: predictive(observer=observer)(0.0, *STATE))
