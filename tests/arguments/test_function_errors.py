"""Refusals of the functions of an arm and of `simulate`: one sentence each."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import named
import numpy as np
import pytest
from each import each
from named import function
from refusals import FLEX, PUMA, argument_refused, refused

import flexarm as fa
from flexarm import Arm
from flexarm._support.moved import MOVED
from flexarm.derivatives import (
    EnergyDerivatives,
    ForwardDynamicsDerivatives,
    ForwardDynamicsGradients,
    InverseDynamicsDerivatives,
    InverseDynamicsGradients,
)

# arguments of the functions


def array_arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """Arguments between the arm and the node or the options."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return tuple(
        p.name
        for p in parameters
        if p.kind is p.POSITIONAL_OR_KEYWORD and p.name not in ("node", "nodes")
    )


# functions that are methods of arms alone
METHODS = [old for old, new in MOVED.items() if new == f"Arm.{old}"]
# every function of an arm that returns an array
FUNCTIONS = {
    name: array_arguments(function(name))
    for name in sorted({*fa.__all__, *METHODS})
    if name in vars(Arm) and "out" in inspect.signature(function(name)).parameters
}
EACH_ARGUMENT = [(f, a) for f, names in FUNCTIONS.items() for a in names]
WITH_FRAME = ["jacobian", "node_velocity", "wrench_forces"]
each_argument = each("function, argument", EACH_ARGUMENT)


def good(arm: Arm, function: str, batch: tuple[int, ...] = ()) -> dict[str, Any]:
    size = {"q": arm.nq, "tau": arm.nu, "dtau": arm.nu, "wrench": 6}
    rng = np.random.default_rng(0)
    return {
        name: 0.1 * rng.normal(size=(*batch, size.get(name, arm.nv)))
        for name in FUNCTIONS[function]
    }


@cache
def geared(arm: Arm) -> Arm:
    """The same arm with a constraint, for the functions that need one."""
    first, second = arm.coordinate_names[:2]
    return arm.replace(
        constraints=[fa.Coupling({first: 1.0, second: -2.0})], couplings="constrained"
    )


def call_of(arm: Arm, function: str, given: dict[str, Any], **options: Any) -> Any:
    if function.startswith("constraint"):
        arm = geared(arm)
    return named.function(function)(arm, *given.values(), **options)


def stored(result: Any) -> Any:
    """Content of `out`: an array, of all derivatives one after the other."""
    matrices = (InverseDynamicsDerivatives, ForwardDynamicsDerivatives)
    vectors = (
        *(InverseDynamicsGradients, ForwardDynamicsGradients),
        EnergyDerivatives,
    )
    if isinstance(result, matrices):
        return np.stack(result, axis=-3)
    return np.stack(result, axis=-2) if isinstance(result, vectors) else result


def test_the_functions_of_the_design_are_among_them() -> None:
    """Section 5 of the design: broadcast, accept `out=`, methods of the same name."""
    assert FUNCTIONS["inverse_dynamics"] == ("q", "qd", "qdd")
    assert FUNCTIONS["forward_dynamics"] == ("q", "qd", "tau")
    assert FUNCTIONS["wrench_forces"] == ("q", "wrench")
    for name in (
        *("mass_matrix", "bias_forces", "gravity_forces", "energy"),
        *("kinetic_energy", "potential_energy", "node_poses", "link_poses"),
        *("node_pose", "tip_pose", "jacobian", "node_velocity"),
    ):
        assert FUNCTIONS[name][0] == "q"


@each("function", list(FUNCTIONS))
def test_what_is_no_arm(function: str) -> None:
    for thing, kind in (("iiwa14", "str"), (None, "NoneType"), (PUMA.kernels, "Model")):
        argument_refused(
            [f"arm is {kind}, expected flexarm.Arm"],
            lambda x=thing: named.function(function)(x, *good(PUMA, function).values()),
        )


@each_argument
def test_wrong_last_axis(function: str, argument: str) -> None:
    for arm in (PUMA, FLEX):
        for batch in [(), (3,), (2, 3)]:
            given = good(arm, function, batch)
            n = given[argument].shape[-1]
            wrong = {k for k in (0, 1, n - 1, n + 1) if k != n}
            forces = argument in ("tau", "dtau")
            for length in wrong - ({arm.nv} if forces else set()):
                spoiled = given | {argument: np.zeros((*batch, length))}
                expected = {
                    "wrench": "expected 6 numbers",
                    "tau": f"expected {arm.nu} (one force per joint)",
                    "dtau": f"expected {arm.nu} (one force per joint)",
                }.get(argument, f"expected {arm.nv} coordinates ({arm.nu} joints, ")
                argument_refused(
                    [f"{argument} has a last axis of length {length}, ", expected],
                    lambda a=arm, s=spoiled: call_of(a, function, s),
                )


@each_argument
def test_single_numbers_and_text(function: str, argument: str) -> None:
    for wrong, words in [
        (1.0, ["is a single number"]),
        (np.float64(2.0), ["is a single number"]),
        (None, ["is None", "real numbers"]),
        ("zero", ["is 'zero'", "real numbers"]),
        ([[1.0], [1.0, 2.0]], ["is [[1.0], [1.0, 2.0]]", "rectangular"]),
        (np.zeros(6, dtype=complex), ["complex128", "real numbers"]),
        (np.zeros(6, dtype=object), ["object", "real numbers"]),
        (np.zeros((100, 100), dtype="U9"), ["...", "<U9", "real numbers"]),
    ]:
        given = good(PUMA, function) | {argument: wrong}
        argument_refused([argument, *words], lambda g=given: call_of(PUMA, function, g))


@each("function, argument", [(f, a) for f, a in EACH_ARGUMENT if len(FUNCTIONS[f]) > 1])
def test_leading_axes_that_do_not_broadcast(function: str, argument: str) -> None:
    names = FUNCTIONS[function]
    given = good(PUMA, function, (3,)) | {argument: np.zeros((2, 6))}
    other = next(name for name in names if name != argument)
    argument_refused(
        ["do not broadcast", f"{argument} (2,)", f"{other} (3,)", "equal lengths or 1"],
        lambda: call_of(PUMA, function, given),
    )


@each_argument
def test_numbers_that_are_not_finite(function: str, argument: str) -> None:
    for bad in (np.nan, np.inf, -np.inf):
        given = good(FLEX, function, (4, 2))
        given[argument][2, 1] = bad
        error = refused(
            fa.NotFiniteError,
            [
                "1 of 8 states",
                "(2, 1)",
                f"{argument}[2, 1, 0] is {bad}",
                "error.result",
            ],
            lambda g=given: call_of(FLEX, function, g),
        )
        assert isinstance(error, fa.NotFiniteError)
        assert error.index == (2, 1)
        assert error.count == 1
        assert np.isnan(error.result[2, 1]).all()
        assert np.isfinite(error.result[[0, 1, 3]]).all()


@pytest.mark.parametrize("function", WITH_FRAME)
def test_error_holds_the_rest_in_the_axes_asked_for(function: str) -> None:
    for arm in (PUMA, FLEX):
        given = good(arm, function, (5,))
        expected = call_of(arm, function, given, frame="base")
        for argument in FUNCTIONS[function]:
            spoiled = {k: v.copy() for k, v in given.items()}
            spoiled[argument][3] = np.inf
            error = refused(
                fa.NotFiniteError,
                ["1 of 5 states", f"{argument}[3, 0] is inf"],
                lambda a=arm, s=spoiled: call_of(a, function, s, frame="base"),
            )
            assert isinstance(error, fa.NotFiniteError)
            rest = [0, 1, 2, 4]
            assert np.isnan(error.result[3]).all()
            assert (error.result[rest] == expected[rest]).all()


@each("function", list(FUNCTIONS))
def test_out_that_cannot_hold_the_result(function: str) -> None:
    given = good(PUMA, function, (3,))
    shape = stored(call_of(PUMA, function, given)).shape
    core = shape[1:]
    read_only = np.zeros(shape)
    read_only.flags.writeable = False
    wrong: list[tuple[Any, list[str]]] = [
        (np.zeros((4, *core)), [f"out has shape {(4, *core)}, expected {shape}"]),
        (np.zeros((3, *core, 1)), ["out has shape", f"expected {shape}"]),
        (np.zeros(shape, dtype=int), ["out", "int64", "float64"]),
        (read_only, ["out is read-only", "written"]),
        ([0.0], ["out is [0.0]", "ndarray", str(shape)]),
    ]
    if core:
        short = (3, *core[:-1], core[-1] + 1)
        wrong.append((np.zeros(short), [f"out has shape {short}, expected {shape}"]))
        wrong.append((np.zeros(core[1:]), ["out has shape", f"expected {shape}"]))
    frames: list[dict[str, str]] = [{}]
    if function in WITH_FRAME:
        frames.append({"frame": "base"})
    for out, words in wrong:
        for frame in frames:
            argument_refused(
                words, lambda o=out, f=frame: call_of(PUMA, function, given, out=o, **f)
            )


@pytest.mark.parametrize("function", WITH_FRAME)
def test_out_in_the_axes_of_the_base(function: str) -> None:
    given = good(PUMA, function, (5,))
    expected = call_of(PUMA, function, given, frame="base")
    out = np.zeros_like(expected)
    assert call_of(PUMA, function, given, frame="base", out=out) is out
    assert (out == expected).all()
    # in place of an input of that shape: the pose comes from the old positions
    for argument in FUNCTIONS[function]:
        if given[argument].shape == expected.shape:
            inside = {k: v.copy() for k, v in given.items()}
            call_of(PUMA, function, inside, frame="base", out=inside[argument])
            assert (inside[argument] == expected).all()


@pytest.mark.parametrize("function", ["node_pose", *WITH_FRAME])
def test_nodes(function: str) -> None:
    given = good(FLEX, function, (3,))
    last = FLEX.n_nodes - 1
    for node, words in [
        (-1, ["node is -1", f"0 to {last}", "arm.node_names"]),
        (FLEX.n_nodes, [f"node is {FLEX.n_nodes}", f"0 to {last}"]),
        ([0, 1, 99], ["node is 99", f"0 to {last}"]),
        (2**70, ["node is 1180591620717411303424", "a number"]),
        (1.0, ["node is 1.0", "a number"]),
        (True, ["node is True"]),
        ("elbow", ["node is 'elbow'", "arm.node_names"]),
        ("link1", ["node is 'link1'", "arm.node_names"]),
        (("link9", "tip"), ["no body 'link9'", "link1, link2"]),
        (("link1", "elbow"), ["'link1'", "'elbow'"]),
        (("link1", 99), ["'link1'", "99"]),
        (("link1", None), ["node", "None"]),
        (("link1", "tip", 3), ["node is ('link1', 'tip', 3)"]),
        ([0, 1], ["do not broadcast", "node (2,)", "q (3,)"]),
        ([[0], [1, 2]], ["node is [[0], [1, 2]]"]),
    ]:
        argument_refused(
            words, lambda n=node: getattr(fa, function)(FLEX, *given.values(), n)
        )
    assert call_of(FLEX, function, given).shape[0] == 3


@pytest.mark.parametrize("function", WITH_FRAME)
def test_frames(function: str) -> None:
    given = good(PUMA, function)
    for frame in ("world", "BASE", None, 1, ["base"]):
        argument_refused(
            [f"frame is {frame!r}", "'node', 'base'"],
            lambda f=frame: call_of(PUMA, function, given, frame=f),
        )


def test_method_of_forward_dynamics() -> None:
    given = good(PUMA, "forward_dynamics")
    for method in ("aba", "Composite", None, 1, ["composite"]):
        argument_refused(
            [f"method is {method!r}", "'articulated', 'basic', 'composite'"],
            lambda m=method: call_of(PUMA, "forward_dynamics", given, method=m),
        )


@each("function", list(FUNCTIONS))
def test_refusals_change_nothing(function: str) -> None:
    """Neither the inputs, nor `out`, nor what the arm computes next."""
    # two links in a plane have no inertia of the tip in all directions
    arm = PUMA if function == "operational_space_inertia" else FLEX
    given = good(arm, function, (6,))
    expected = stored(call_of(arm, function, given))
    dumped = pickle.dumps(arm)
    last = FUNCTIONS[function][-1]
    short = given | {last: given[last][:, :-1].copy()}
    before = {k: v.tobytes() for k, v in short.items()}
    out = np.full(expected.shape, 7.0)
    options = {"out": out} if function != "energy" else {}
    with pytest.raises(fa.ArgumentError):
        call_of(arm, function, short, **options)
    assert {k: v.tobytes() for k, v in short.items()} == before
    assert (out == 7.0).all()
    assert pickle.dumps(arm) == dumped
    assert stored(call_of(arm, function, given)).tobytes() == expected.tobytes()


# simulate: every argument

T = np.linspace(0.0, 0.1, 11)
Z = np.zeros(6)


def simulate(**changes: Any) -> fa.Trajectory:
    return fa.simulate(FLEX, **({"q0": Z, "qd0": Z, "t": T} | changes))


@each(
    "changes, words",
    [
        ({"t": [0, 1, 0.5]}, ["t does not increase", "t[2] = 0.5", "t[1] = 1"]),
        ({"t": [0, 0.0]}, ["t does not increase", "t[1] = 0"]),
        ({"t": [0, np.nan]}, ["t", "not finite"]),
        ({"t": [0, np.inf]}, ["t", "not finite"]),
        ({"t": []}, ["t has shape (0,)", "at least one"]),
        ({"t": 1.0}, ["t has shape ()", "one axis"]),
        ({"t": [[0, 1]]}, ["t has shape (1, 2)", "one axis"]),
        ({"t": "now"}, ["t is 'now'", "real numbers"]),
        ({"t": None}, ["t is None", "real numbers"]),
        ({"t": [[0], [1, 2]]}, ["t is [[0], [1, 2]]", "rectangular"]),
        ({"t": np.array([0, 1j])}, ["t is", "complex128"]),
        ({"q0": np.zeros(5)}, ["q0 has shape (5,)", "6", "2 joints, 4 modes"]),
        ({"qd0": np.zeros((2, 7))}, ["qd0 has shape (2, 7)", "6"]),
        ({"q0": 0.0}, ["q0 has shape ()", "6"]),
        ({"q0": [0, 0, np.nan, 0, 0, 0]}, ["q0[2] is nan", "finite"]),
        ({"qd0": np.full((2, 6), np.inf)}, ["qd0[0, 0] is inf", "finite"]),
        ({"q0": "zero"}, ["q0 is 'zero'", "real numbers"]),
        ({"q0": None}, ["q0 is None", "real numbers"]),
        ({"q0": Z + 1j}, ["q0 is", "complex128"]),
        (
            {"q0": np.zeros((3, 6)), "qd0": np.zeros((2, 6))},
            ["do not broadcast", "q0 (3,)", "qd0 (2,)"],
        ),
        ({"method": "rk5"}, ["method is 'rk5'", "'rk4'", "'Radau'"]),
        ({"method": None}, ["method is None"]),
        ({"interpolation": "cubic"}, ["interpolation is 'cubic'", "'linear', 'hold'"]),
        ({"max_step": 0}, ["max_step is 0", "positive"]),
        ({"max_step": -0.1}, ["max_step is -0.1", "positive"]),
        ({"max_step": np.nan}, ["max_step is nan", "positive"]),
        ({"max_step": "fine"}, ["max_step is 'fine'", "positive"]),
        ({"max_step": [0.1]}, ["max_step is [0.1]", "positive"]),
        ({"max_step": 1e-15}, ["max_step is 1e-15 s", "0.01 s", "steps"]),
        ({"max_step": 1e-320}, ["max_step", "steps"]),
        ({"rtol": 0.0, "method": "RK45"}, ["rtol is 0.0", "positive"]),
        ({"rtol": np.nan, "method": "RK45"}, ["rtol is nan", "positive"]),
        ({"atol": -1.0, "method": "RK45"}, ["atol is -1.0", "positive"]),
        ({"atol": "x", "method": "RK45"}, ["atol is 'x'", "positive"]),
        (
            {"torque": np.zeros((11, 3))},
            ["torque has shape (11, 3)", "(..., 11, 2)", "6 for all"],
        ),
        ({"torque": np.zeros((10, 2))}, ["torque has shape (10, 2)", "(..., 11, 2)"]),
        ({"torque": np.zeros(2)}, ["torque has shape (2,)", "(..., 11, 2)"]),
        ({"torque": 0.0}, ["torque has shape ()", "(..., 11, 2)"]),
        ({"torque": np.full((11, 2), np.nan)}, ["torque", "not finite"]),
        ({"torque": "push"}, ["torque is 'push'", "real numbers"]),
        (
            {"q0": np.zeros((3, 6)), "torque": np.zeros((4, 11, 2))},
            ["do not broadcast", "q0 (3,)", "torque (4,)"],
        ),
        (
            {"q0": np.zeros((2, 6)), "torque": lambda *_: [0, 0], "method": "RK45"},
            ["'RK45'", "one trajectory at a time", "'rk4'"],
        ),
    ],
)
def test_arguments_of_simulate(changes: dict[str, Any], words: list[str]) -> None:
    argument_refused(words, lambda: simulate(**changes))


def test_a_refused_simulation_never_calls_the_torque() -> None:
    calls = []

    def torque(*state: Any) -> list[float]:
        calls.append(state)
        return [0.0, 0.0]

    for changes in (
        {"q0": np.zeros((2, 6)), "method": "RK45"},
        {"max_step": -1.0},
        {"t": [1.0, 0.0]},
        {"qd0": np.full(6, np.nan)},
        {"interpolation": "cubic"},
    ):
        with pytest.raises(fa.ArgumentError):
            simulate(torque=torque, **changes)
    assert calls == []


@each("method", ["rk4", "RK45"])
@each(
    "value, words",
    [
        (np.zeros(3), ["torque function", "shape (3,)", "(2,)"]),
        (0.0, ["torque function", "shape ()", "(2,)"]),
        (np.zeros((4, 2)), ["torque function", "shape (4, 2)", "(2,)"]),
        (None, ["torque function", "None", "real numbers"]),
        ("push", ["torque function", "'push'", "real numbers"]),
        ([1j, 0], ["torque function", "complex128"]),
        ([[1], [1, 2]], ["torque function", "rectangular"]),
        ([np.nan, 0.0], ["torque function", "nan", "finite"]),
        ([0.0, -np.inf], ["torque function", "inf", "finite"]),
    ],
)
def test_what_a_torque_function_returns(
    value: Any, words: list[str], method: str
) -> None:
    error = argument_refused(
        [*words, "at t = 0"],
        lambda: simulate(torque=lambda t, q, qd: value, method=method),
    )
    assert error.trajectory.completed == 1  # type: ignore[attr-defined]

    # the same in the middle of a run: what was computed is kept
    def late(t: float, q: Any, qd: Any) -> Any:
        return value if t > 0.0501 else [0.1, 0.0]

    error = argument_refused(words, lambda: simulate(torque=late, method=method))
    kept = error.trajectory  # type: ignore[attr-defined]
    n = int(kept.completed)
    assert 1 <= n <= 6
    if method == "rk4":
        assert n == 6
    whole = simulate(torque=lambda t, q, qd: [0.1, 0.0], method=method)
    assert np.allclose(kept.q[:n], whole.q[:n], rtol=1e-12, atol=1e-15)
    assert np.isnan(kept.q[n:]).all()


def test_a_torque_function_must_keep_its_width() -> None:
    argument_refused(
        ["torque function", "shape (6,)", "at t = 0.055", "expected (2,)"],
        lambda: simulate(torque=lambda t, q, qd: np.zeros(6 if t > 0.051 else 2)),
    )


def test_the_bad_trajectory_of_a_batch_is_named() -> None:
    def torque(t: float, q: Any, qd: Any) -> Any:
        tau = np.zeros((2, 3, 2))
        if t > 0.05:
            tau[1, 2, 0] = np.nan
        return tau

    argument_refused(
        ["torque function", "trajectory (1, 2)", "finite"],
        lambda: simulate(q0=np.zeros((2, 3, 6)), torque=torque),
    )


# public assertions


def test_assertions_for_users_name_the_residual() -> None:
    arm = fa.library.pendulum(mass=2.0, com=0.5)
    with pytest.raises(AssertionError, match="M qdd"):
        fa.testing.assert_equation_of_motion(arm, [0.0], [0.0], [1.0], [11.0])
    run = fa.simulate(arm, [0.0], [0.0], np.linspace(0.0, 1.0, 101))
    run.q[50:] += 1.0
    with pytest.raises(AssertionError, match="energy and work differ"):
        fa.testing.assert_energy_balance(run)
