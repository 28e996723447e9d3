"""Records of limits and of search options: what they take, refuse and hand on."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refused

import flexarm as fa
from flexarm.identification import identify
from flexarm.optimize import (
    Limits,
    Search,
    paths,
    time_optimal,
    track,
    trajectory,
)

CART = fa.Arm([fa.RigidBody("cart", fa.Joint("prismatic", (1, 0, 0)), mass=2.0)])
WAY = paths.joint_path([[0.0], [0.5]], kind="straight")


def fastest(**options: Any) -> Any:
    return lambda: time_optimal(CART, WAY, **options)


def moved(**options: Any) -> Any:
    return lambda: trajectory(CART, [0.0], [1.0], duration=1.0, **options)


def test_a_record_is_a_mapping_of_its_names() -> None:
    coarse = {"intervals": 50}
    one = fastest(limits={"torque": 3.0}, search=coarse)()
    other = fastest(limits=Limits(torque=3.0), search=Search(**coarse))()
    assert_array_equal(one.tau, other.tau)
    assert len(one.t) == 51
    # checked limits are limits again
    again = fastest(limits=one.limits, search=coarse)()
    assert_array_equal(one.tau, again.tau)
    assert_array_equal(again.limits.torque, [[-3.0], [3.0]])
    assert again.limits.tip_speed == np.inf


def test_a_motion_says_which_parts_it_has() -> None:
    motion: Any = fastest(limits={"torque": 3.0})()
    with pytest.raises(AttributeError, match=r"expected one of limits, path, gap, err"):
        _ = motion.details
    with pytest.raises(AttributeError, match="did you mean 'duration'"):
        _ = motion.duraton
    assert motion.path is WAY and motion.errors is None and motion.gap < 0.01
    assert_array_equal(motion.on_path.way.s, motion.on_path.scaling.s)
    assert motion.timings.total >= motion.timings.solver > 0.0


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (["limits has no 'tourque'", "mean 'torque'"], fastest(limits={"tourque": 1})),
        (["search has no 'intervls'", "'intervals'"], moved(search={"intervls": 1})),
        (["limits is float", "optimize.Limits"], fastest(limits=3.0)),
        (["search is int", "optimize.Search"], moved(search=40)),
        (["Search has no argument 'step'"], lambda: Search(step=1)),  # type: ignore[call-arg]
        (
            ["limits.torque_rate is given for the fastest motion of a rigid arm"],
            fastest(limits={"torque": 1.0, "torque_rate": 1.0}),
        ),
        (["limits.tip_speed is given for traj"], moved(limits={"tip_speed": 1.0})),
        (["torque changes along"], moved(limits={"torque": lambda q: [1.0]})),
        (["steps is given for trajectory", "scheme"], moved(search={"steps": 3})),
        (["search.points is 0"], lambda: Search(points=0)),
        (["search.time_limit is -1"], lambda: Search(time_limit=-1.0)),
    ],
)
def test_options_that_do_not_fit(words: list[str], call: Any) -> None:
    refused(fa.ArgumentError, words, call)


@pytest.mark.parametrize("function", [time_optimal, track, trajectory, identify])
def test_defaults_are_those_of_the_docstring(function: Any) -> None:
    """Each option that a search has is named, with the value that it takes."""
    doc = re.sub(r"\s+", " ", inspect.getdoc(function) or "")
    module = inspect.getmodule(function)
    tables = [getattr(module, name, {}) for name in ("_EXACT", "_SEARCH", "_WINDOWS")]
    if function is track:
        tables = [method.search for method in module._METHODS.values()]  # type: ignore[union-attr]
    options = [(name, value) for table in tables for name, value in table.items()]
    assert options
    for name, value in options:
        assert name in doc.lower(), name
        if isinstance(value, int | float) and np.isfinite(value) and value:
            text = f"({value:g}".replace("e-0", "e-")
            assert text in doc or f"({value}" in doc, (name, value)


@pytest.mark.parametrize(
    ("function", "given", "meant"),
    [
        (time_optimal, "torque_limits", "limits"),
        (trajectory, "velocity_limits", "limits"),
        (track, "tolerance", "search"),
        (identify, "max_iterations", "search"),
    ],
)
def test_names_of_before_lead_to_the_records(
    function: Any, given: str, meant: str
) -> None:
    with pytest.raises(fa.ArgumentError, match=f"{given}.*did you mean '{meant}'"):
        function(None, None, None, **{given: 1.0})
