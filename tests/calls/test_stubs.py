"""The stub ``_core.pyi`` says what the C module has: names, gufuncs, arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import numpy as np
import pytest
import stub

import flexarm as fa
from flexarm import _core
from flexarm._calls import records

SOURCE = stub.FILE.read_text(encoding="utf-8")
TREE = ast.parse(SOURCE)
CLASSES = {node.name: node for node in TREE.body if isinstance(node, ast.ClassDef)}
# what build_info returns, a map, and what the gufuncs of an arm and a stack are
TYPING_ONLY = {"BuildInfo", "Function", "Gufunc", "Kernels", *_core.RECORDS}
MODEL = CLASSES["Kernels"].body + CLASSES["Model"].body


def is_gufunc(node: ast.AnnAssign) -> bool:
    return ast.unparse(node.annotation) in ("Function", "Final[Gufunc]")


def constants(body: list[ast.stmt]) -> dict[str, str]:
    """Types by name."""
    return {
        ast.unparse(node.target): ast.unparse(node.annotation)
        for node in body
        if isinstance(node, ast.AnnAssign)
        and not is_gufunc(node)
        and not ast.unparse(node.target).startswith("_")
    }


def gufuncs(body: list[ast.stmt]) -> set[str]:
    return {
        ast.unparse(node.target)
        for node in body
        if isinstance(node, ast.AnnAssign) and is_gufunc(node)
    }


def functions(body: list[ast.stmt]) -> dict[str, ast.arguments]:
    return {
        node.name: node.args
        for node in body
        if isinstance(node, ast.FunctionDef) and node.name != "__new__"
    }


def public(item: object) -> set[str]:
    return {name for name in dir(item) if not name.startswith("_")}


def refusal(function: Callable[..., object], *args: object, **names: object) -> str:
    with pytest.raises((TypeError, ValueError)) as refused:
        function(*args, **names)
    return str(refused.value)


def test_names_of_the_module():
    maps, calls = gufuncs(TREE.body), functions(TREE.body)
    rest = set(calls) | set(CLASSES) | set(constants(TREE.body))
    assert public(_core) == (maps | rest) - TYPING_ONLY
    assert all(isinstance(getattr(_core, name), np.ufunc) for name in maps)
    assert all(callable(getattr(_core, name)) for name in calls)


def test_what_follows_from_the_tables_is_current():
    assert stub.written(SOURCE) == SOURCE, "python3 tests/stub.py writes it anew"


def test_records_are_made_of_their_tables():
    for record, (_, rows) in _core.RECORDS.items():
        kind, body = getattr(records, record), CLASSES[record].body
        assert [*constants(body)] == [*kind._fields] == [*rows]
        fields = [node for node in body if isinstance(node, ast.AnnAssign)]
        defaults = [ast.unparse(node.target) for node in fields if node.value]
        assert [*kind._field_defaults] == defaults
        assert kind.__module__ == records.__name__


@pytest.mark.parametrize(
    ("name", "body"), [("Model", MODEL), ("Stack", CLASSES["Stack"].body)]
)
def test_names_of_classes(name, body):
    assert public(getattr(_core, name)) == gufuncs(body) | set(functions(body))
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Other", (getattr(_core, name),), {})


def test_signatures_of_arms():
    ball = fa.Joint("spherical", parent="link3", node="tip")
    load = fa.RigidBody("load", ball, mass=1.0, inertia=[0.1] * 3)
    chain = fa.library.planar_chain(4, n_modes=2, bending_stiffness=4.0)
    tree = fa.Arm([*chain.bodies, load])
    loops = [fa.Coupling({"link1": 1.0, "link2": 1.0})]
    closed = tree.replace(constraints=loops, couplings="constrained")
    sizes = {
        "nq": tree.nq, "nv": tree.nv, "B": len(tree.bodies), "N": len(tree.node_names)
    }  # fmt: skip
    assert len({*sizes.values(), 1, 2, 3, 4, 6}) == 9
    for name in _core.KERNELS:
        with_loops = name.startswith("constraint_")
        model = (closed if with_loops else tree).kernels
        wanted = stub.signature(name)
        for letters, size in {**sizes, "m": 1}.items():
            wanted = re.sub(rf"\b{letters}\b", str(size), wanted)
        assert getattr(model, name).signature == wanted, name


def test_arguments_of_functions():
    model = fa.library.pendulum().kernels
    stack = _core.Stack((model, model))
    for owner, body in [
        (_core, TREE.body),
        (model, MODEL),
        (stack, CLASSES["Stack"].body),
    ]:
        for name, given in functions(body).items():
            call = getattr(owner, name)
            names = [a.arg for a in given.posonlyargs + given.args if a.arg != "self"]
            needed = names[: len(names) - len(given.defaults)]
            if given.vararg or not names:
                continue
            few, many = refusal(call), refusal(call, *[None] * (len(names) + 1))
            if given.posonlyargs:
                count = {1: "one"}.get(len(needed), str(len(needed)))
                assert {count, str(len(needed))} & set(few.split()), f"{name}: {few}"
                assert "argument" in many
            else:  # by name
                assert f"'{names[0]}'" in few
                by_name = refusal(call, **dict.fromkeys(needed))
                assert "missing" not in by_name
                assert "keyword" not in by_name
                assert str(len(names)) in many.split()


def test_build_info_has_the_keys_of_its_type():
    body = CLASSES["BuildInfo"].body
    keys = {node.target.id for node in body if isinstance(node, ast.AnnAssign)}
    assert set(fa.build_info()) == keys
