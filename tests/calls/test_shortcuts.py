"""Functions called with one state, in C: as their Python, in every way.

The Python of a function, its ``__wrapped__``, is the oracle; that C alone computes is
seen by functions whose Python fails.
"""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each
from gufuncs import (
    ARMS,
    CASE_NAMES,
    CASES,
    INNER,
    Case,
    assert_same_bits,
    public_name,
)
from named import function

import flexarm as fa
from flexarm import _core
from flexarm._calls.threads import direct

Shortcut = type(fa.jacobian)
NAMES = [
    name
    for name, (public, *_) in _core.KERNELS.items()
    if public == name and type(function(name)) is Shortcut
]
SHORT = [
    (case, name)
    for case, name in zip(CASES, CASE_NAMES, strict=True)
    if public_name(case.name)[0] in NAMES
]
each_case = each("case", [case for case, _ in SHORT], [name for _, name in SHORT])
each_name = each("name", NAMES)

ARM = ARMS["de_luca"]


def shortcut(name: str) -> Any:
    """A function of `NAMES`."""
    return function(name)


def without_python(name: str) -> Callable[..., Any]:
    """The same with nothing behind it: what is not for C is None."""
    bare = inspect.unwrap(shortcut(name), stop=lambda f: "other" in names_of(f))
    made: Any = _core.shortcut(bare, lambda *args, **options: None)
    return made  # type: ignore[no-any-return]


def names_of(function: Any) -> tuple[str, ...]:
    code = getattr(function, "__code__", None)
    return code.co_varnames if code else ()


def plain(case: Case) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of one state as C takes them: with names a node and an option."""
    operands: list[Any] = case.set_upright(case.draw((), seed=3))
    node = {"node": int(operands.pop(0))} if case.has_node else {}
    return operands, node


def state_of(name: str) -> tuple[Case, fa.Arm, list[Any]]:
    """A case with an arm that has this kernel, its arm, and operands of one state."""
    case = Case(ARMS["closed"] if name.startswith("constraint") else ARM, name)
    return case, case.arm, plain(case)[0]


def fields(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def assert_same(result: Any, expected: Any) -> None:
    assert type(result) is type(expected)
    for x, y in zip(fields(result), fields(expected), strict=True):
        assert type(x) is type(y)
        assert_same_bits(x, y)
        assert str(np.asarray(x).flags) == str(np.asarray(y).flags)
        assert (getattr(x, "base", None) is None) == (getattr(y, "base", None) is None)


def refusal(call: Callable[[], Any]) -> tuple[type, str]:
    try:
        call()
    except Exception as error:
        return type(error), str(error)
    pytest.fail("nothing was refused")


def test_which() -> None:
    assert {"forward_dynamics", "jacobian", "gravity_forces"} <= {*NAMES}
    # all others are more than one call of a kernel
    rest = {public for public, *_ in _core.KERNELS.values()} - {*NAMES}
    assert rest == {
        "innovations_factors",
        "mass_matrix_inverse_blocks",
        "operational_space_compliance",
    }
    assert {*NAMES} & {*INNER}  # some return parts


@each_case
def test_same_as_in_python(case: Case) -> None:
    operands, node = plain(case)
    name, option = public_name(case.name)
    call, alone = shortcut(name), without_python(name)
    expected = call.__wrapped__(case.arm, *operands, **node, **option)
    given = inspect.signature(call).parameters
    names = dict(zip([*given][1:], operands, strict=False))
    for result in (
        call(case.arm, *operands, **node, **option),
        alone(case.arm, *operands, **node, **option),
        alone(case.arm, *operands, *node.values(), out=None, threads=1, **option),
        alone(case.arm, **node, **names, **option),
    ):
        assert_same(result, expected)
    if hasattr(fa.Arm, name):
        assert_same(getattr(case.arm, name)(*operands, **node, **option), expected)


@each_case
def test_out(case: Case) -> None:
    operands, node = plain(case)
    name, option = public_name(case.name)
    expected = fields(shortcut(name)(case.arm, *operands, **node, **option))
    out = np.full(case.out_core, 7.0)
    alone = without_python(name)
    result = alone(case.arm, *operands, **node, **option, out=out)
    for x, y in zip(fields(result), expected, strict=True):
        assert (x is out) or x.base is out
        assert_same_bits(x, y)


@each("fidelity", ("linear", "ruthless"))
def test_kernels_with_options_of_other_fidelities(fidelity: str) -> None:
    """Some are refused, which Python says."""
    arm = ARM.replace(fidelity=fidelity)
    q = np.zeros(arm.nq)
    assert without_python("jacobian")(arm, q) is not None
    assert without_python("jacobian")(arm, q, frame="base") is None
    assert without_python("link_jacobians")(arm, q, form="spatial") is None
    with pytest.raises(fa.ArgumentError, match="fidelity"):
        fa.link_jacobians(arm, q, form="spatial")


@each_name
def test_nodes(name: str) -> None:
    if "node" not in inspect.signature(shortcut(name)).parameters:
        return
    case = Case(ARM, name)
    operands, _ = plain(case)
    alone = without_python(name)
    tip = alone(ARM, *operands, ARM.tip_node)
    assert_same_bits(alone(ARM, *operands), tip)
    assert_same_bits(alone(ARM, *operands, None), tip)
    names = list(ARM.node_names)
    for k, each_node in enumerate(names):
        expected = alone(ARM, *operands, k)
        assert_same_bits(alone(ARM, *operands, each_node), expected)
        assert_same_bits(shortcut(name)(ARM, *operands, "".join(each_node)), expected)
    for node in (-1, ARM.n_nodes, 2**70, "hand", np.int64(0), ("link1", 0), [0], 0.0):
        assert alone(ARM, *operands, node) is None


@each_name
def test_what_is_for_python(name: str) -> None:
    _, arm, operands = state_of(name)
    alone = without_python(name)
    q, *rest = operands
    options = inspect.signature(shortcut(name)).parameters
    for args, named in (
        ((arm, q.tolist(), *rest), {}),
        ((arm, q[np.newaxis], *rest), {}),
        ((arm, np.repeat(q, 2)[::2], *rest), {}),
        ((arm, np.ma.array(q), *rest), {}),
        ((arm, q[:-1], *rest), {}),
        ((arm, q), {"q": q}),
        ((arm, *operands), {"threads": 2}),
        ((arm, *operands), {"out": [0.0]}),
        ((arm, *operands), {"other": None}),
        ((arm, *operands), {"colour": None}),
        ((arm, *operands), {o: "x" for o in ("frame", "form", "method") if o in options}
            or {"threads": None}),
        ((fa.stack([arm]), *operands), {}),
        ((arm.kernels, *operands), {}),
        ((None, *operands), {}),
        ((fa.Arm, *operands), {}),
        ((arm,), {}),
        ((arm, *operands, None, None), {}),
        ((), {}),
        ((), {"arm": arm}),
    ):  # fmt: skip
        assert alone(*args, **named) is None


@each_name
def test_refusals_are_those_of_python(name: str) -> None:
    case, arm, operands = state_of(name)
    call = shortcut(name)
    nan = [np.full_like(x, np.nan) for x in operands]
    read_only = np.zeros(case.out_core)
    read_only.flags.writeable = False
    for args, named in (
        ((arm, *nan), {}),
        ((arm, *operands[:-1], operands[-1][:-1]), {}),
        ((arm, *operands), {"out": read_only}),
        ((arm, *operands), {"out": 3}),
        ((arm, *operands), {"colour": 1}),
        ((arm, *operands), {"threads": 0}),
        ((arm, *operands), {"q": operands[0]}),
        ((arm, *operands, *operands, *operands, *operands), {}),
        ((5, *operands), {}),
        ((arm,), {}),
        ((), {}),
    ):
        quick = refusal(lambda args=args, named=named: call(*args, **named))
        same = refusal(lambda args=args, named=named: call.__wrapped__(*args, **named))
        assert quick == same


def test_arms_without_the_kernel() -> None:
    """Such as derivatives of accelerations of an arm with constraints."""
    arm = ARMS["closed"]
    state = np.zeros((3, arm.nv))
    q = arm.neutral
    kind, text = refusal(lambda: arm.forward_dynamics_derivatives(q, *state[1:]))
    assert kind is fa.ModelError
    assert "constraints" in text
    kind, text = refusal(lambda: ARM.constraint_violation(np.zeros(ARM.nq)))
    assert kind is fa.ArgumentError
    assert "constraints" in text


def test_parts_keep_the_whole() -> None:
    operands = np.zeros((3, ARM.nv))
    dq, dqd = fa.inverse_dynamics_derivatives(ARM, *operands)
    assert dq.base is dqd.base
    assert dq.base.shape == (2, ARM.nv, ARM.nv)
    whole = np.empty((2, ARM.nv, ARM.nv))
    parts = fa.inverse_dynamics_derivatives(ARM, *operands, out=whole)
    assert isinstance(parts, tuple)
    assert parts._fields == ("dq", "dqd")
    assert parts.dqd.base is whole
    parts.dqd[:] = 3.0
    assert (whole[1] == 3.0).all()


# as functions of Python


@each_name
def test_is_a_function(name: str) -> None:
    call = shortcut(name)
    assert inspect.isroutine(call)
    assert call.__name__ == name
    assert call.__doc__ == call.__wrapped__.__doc__
    assert call.__module__ == call.__wrapped__.__module__
    assert repr(call).startswith("<function ")
    assert pickle.loads(pickle.dumps(call)) is call
    assert copy.deepcopy(call) is copy.copy(call) is call
    assert weakref.ref(call)() is call
    assert "other" not in inspect.signature(call).parameters
    assert call.__get__(None, fa.Arm) is call
    assert call.__get__(ARM).__self__ is ARM
    assert {call: 1}[call] == 1
    call.note = "of a user"
    assert vars(call).pop("note") == "of a user"
    with pytest.raises(TypeError):
        Shortcut()


def test_only_functions_of_kernels() -> None:
    def energy(arm: object, q: object, *, out: object = None) -> object: ...

    def potential_energy(arm: object, q: object) -> object: ...

    def kinetic_energy(arm: object, q: object, *, out: object = None) -> object: ...

    def jacobian(arm: object, q: object, *, out: object = None) -> object: ...

    def mass_matrix(
        arm: object, q: object, node: object = None, *, out: object = None
    ) -> object: ...

    def operational_space_compliance(
        arm: object, q: object, node: object = None, *, out: object = None
    ) -> object: ...

    for wrong in (
        energy,
        potential_energy,
        kinetic_energy,
        jacobian,
        mass_matrix,
        operational_space_compliance,
    ):
        with pytest.raises(TypeError, match=r"kernel"):
            direct(wrong)
    for args in ((), (fa.jacobian, None), (len, len), (energy,)):
        with pytest.raises(TypeError):
            _core.shortcut(*args)  # type: ignore[arg-type]


@pytest.mark.usefixtures("small_heap")
@each_name
def test_leaves_no_references(name: str) -> None:
    case, arm, operands = state_of(name)
    call = shortcut(name)
    nan = [np.full_like(x, np.nan) for x in operands]
    options = {"out": np.empty(case.out_core)}

    def use() -> None:
        call(arm, *operands)
        call(arm, *operands, **options)
        call(arm, *(x[np.newaxis] for x in operands))
        with pytest.raises(fa.NotFiniteError):
            call(arm, *nan)

    use()
    kept = [
        arm,
        arm.kernels,
        *operands,
        *options.values(),
        *nan,
        call,
        call.__wrapped__,
    ]
    gc.collect()
    before = [sys.getrefcount(x) for x in kept]
    for _ in range(5):
        use()
    gc.collect()
    assert [sys.getrefcount(x) for x in kept] == before


def test_goes_with_what_it_wraps() -> None:
    def mass_matrix(arm: object, q: object, *, out: object = None) -> object: ...

    made: Any = _core.shortcut(mass_matrix, mass_matrix)
    made.circle = made
    gone = weakref.ref(made)
    assert made(None, None) is None
    del made
    gc.collect()
    assert gone() is None
