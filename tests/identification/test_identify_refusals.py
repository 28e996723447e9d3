"""Identification: what is refused, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from identify_cases import LINK, SWING, TAU, TRUE, T, soft, swing
from refusals import argument_refused, model_refused

import flexarm as fa
from flexarm.identification import (
    Record,
    identify,
    identify_base_parameters,
    simulated_record,
)

# refusals

RECORD = Record(T, SWING.q, TAU, [0.3])
FREE = fa.Arm([fa.RigidBody("body", fa.Joint("free"), mass=1.0, inertia=(1, 1, 1))])


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["make_arm is of type Arm", "function"], {"make_arm": swing(TRUE)}),
        (["make_arm returned int"], {"make_arm": lambda p: 3}),
        (["p0 has shape ()"], {"p0": 1.0}),
        (["p0"], {"p0": [np.nan, 1.0]}),
        (["names", "2 different"], {"names": ["a"]}),
        (["names is 'ab'", "list", "string"], {"names": "ab"}),
        (["bounds", "2 pairs"], {"bounds": [(0, 1)]}),
        (["bounds is 3.0", "pairs"], {"bounds": 3.0}),
        (["p[0] starts at 1", "2"], {"bounds": [(2, 3), (0, 1)]}),
        (["names is 3", "list", "string"], {"names": 3}),
        (["max_iterations is 0"], {"search": {"max_iterations": 0}}),
        (["max_iterations is 1.5"], {"search": {"max_iterations": 1.5}}),
        (["estimate_state is 3"], {"estimate_state": 3}),
        (["scale", "2 positive sizes"], {"scale": [1.0, 0.0]}),
        (["sigma", "positive"], {"sigma": 0.0}),
        (["sigma has shape (2,)"], {"sigma": [1.0, 1.0]}),
        (["method is 'magic'", "inverse dynamics"], {"method": "magic"}),
        (["integrator is 'RK45'", "newmark"], {"integrator": "RK45"}),
        (["interpolation"], {"interpolation": "cubic"}),
        (["max_step"], {"max_step": -1.0}),
        (["tolerance"], {"search": {"tolerance": 0.0}}),
        (["time_limit"], {"search": {"time_limit": -1.0}}),
        (["stages", "increasing"], {"stages": (0.5, 0.2)}),
        (["stages"], {"stages": ()}),
        (["small rotation"], {"outputs": "tip rotation y"}),
        (["record 0 has 1 signals, expected 3"], {"outputs": "tip position"}),
        (["measured is Trajectory"], {"measured": SWING}),
        (["measured[1] is int", "Record"], {"measured": [RECORD, 3]}),
        (["measured is empty"], {"measured": []}),
        (["estimate_state has 'rad'"], {"estimate_state": "rad"}),
        (["2 samples for 2 unknowns"], {"measured": RECORD.first(0.0)}),
        (
            ["q0 of record 0 has shape (2,)"],
            {"measured": Record(T, SWING.q, TAU, [0, 0])},
        ),
        (
            ["record 0 has 2 forces"],
            {"measured": Record(T, SWING.q, np.zeros((len(T), 2)), [0])},
        ),
        (["qd0 of record 0"], {"measured": Record(T, SWING.q, TAU, [0], [np.nan])}),
        (["estimate_state"], {"method": "inverse dynamics", "estimate_state": True}),
        (["sigma"], {"method": "inverse dynamics", "sigma": 0.1}),
    ],
)
def test_arguments_of_identification_have_to_fit(
    words: list[str], given: dict[str, Any]
) -> None:
    arguments = {"make_arm": swing, "p0": [1.0, 0.1], "measured": RECORD} | given
    first = [arguments.pop(name) for name in ("make_arm", "p0", "measured")]
    argument_refused(words, lambda: identify(*first, **arguments))


def test_refusals_of_records() -> None:
    free_fall = fa.simulate(FREE, FREE.neutral, np.zeros(6), T[:3])
    cases: list[tuple[list[str], Any]] = [
        (["t does not increase"], lambda: Record([0, 2, 1], [0, 0, 0])),
        (["y has shape (2,) with 3 times"], lambda: Record([0, 1, 2], [0, 0])),
        (["infinite"], lambda: Record([0, 1], [0, np.inf])),
        (["NaN throughout"], lambda: Record([0, 1], [np.nan, np.nan])),
        (["tau has shape (1, 1)"], lambda: Record([0, 1], [0, 0], [[1.0]])),
        (["tau[1, 0]"], lambda: Record([0, 1], [0, 0], [[1.0], [np.nan]])),
        (["at_rest"], lambda: Record([0, 1], [0, 0], None, [0], [0], at_rest=True)),
        (["run is ndarray"], lambda: simulated_record(SWING.q)),  # type: ignore[arg-type]
        (["noise"], lambda: simulated_record(SWING, noise=-1.0)),
        (["quaternion"], lambda: simulated_record(free_fall)),
    ]
    for words, call in cases:
        argument_refused(words, call)


def test_arms_that_a_method_does_not_know() -> None:
    y = np.zeros((len(T), 1))
    soft_record = Record(T, y, np.zeros((len(T), 1)))
    argument_refused(
        ["3 coordinates of which 1", "output error"],
        lambda: identify(soft, [1.0, 0.1], soft_record, method="inverse dynamics"),
    )
    argument_refused(
        ["3 coordinates"], lambda: identify_base_parameters(LINK, soft_record)
    )
    argument_refused(
        ["not 'joint positions'"],
        lambda: identify(
            swing, [1.0, 0.1], RECORD, method="inverse dynamics", outputs="tip z"
        ),
    )
    argument_refused(
        ["too few for splines"],
        lambda: identify(
            swing, [1.0, 0.1], RECORD.first(0.1), method="inverse dynamics"
        ),
    )
    resting = Record(T, y, None, np.zeros(3), at_rest=True)
    argument_refused(
        ["at_rest", "link1.bending y 1"],
        lambda: identify(soft, [1.0, 0.1], resting, estimate_state="link1.bending y 1"),
    )
    linear = LINK.replace(fidelity="linear")
    argument_refused(
        ["linear fidelity"], lambda: identify(lambda p: linear, [1.0], soft_record)
    )
    model_refused(["no arm"], lambda: identify(lambda p: _none(), [1.0], RECORD))


def _none() -> fa.Arm:
    raise fa.ModelError("there is no arm of these parameters")
