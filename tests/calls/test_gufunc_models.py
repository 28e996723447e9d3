"""Every gufunc: other array libraries, immutable models, lifetime, leaks."""

from __future__ import annotations

import gc
import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest
from each import run_all
from gufuncs import (
    ARMS,
    STRICT,
    Case,
    assert_same_bits,
    each_case,
    each_name,
    gufunc_names,
    spoil,
)
from numpy.typing import NDArray

import flexarm as fa
from flexarm import _core

pytestmark = [*STRICT]


# other arrays


@each_name
def test_other_array_libraries_take_over(name: str) -> None:
    """Dask, pint and others see the gufunc by `__array_ufunc__`."""
    case = Case(ARMS["de_luca"], name)

    class Lazy:
        def __array_ufunc__(
            self, ufunc: Any, method: str, *inputs: Any, **_: Any
        ) -> Any:
            if fail:
                raise fail
            return ufunc, method, inputs

    fail: Exception | None = None
    operands: list[Any] = case.draw((3,))
    operands[-1] = Lazy()
    ufunc, method, inputs = case.public(operands)
    assert ufunc is case.gufunc
    assert method == "__call__"
    assert inputs[-1] is operands[-1]
    # its own errors pass through as they are
    fail = RuntimeError("no worker")
    with pytest.raises(RuntimeError, match="no worker"):
        case.public(operands)
    fail = MemoryError("too large")
    with pytest.raises(MemoryError, match="too large"):
        case.public(operands)


class _Marked(np.ndarray):
    pass


@each_name
def test_subclasses_and_memory_orders(name: str) -> None:
    case = Case(ARMS["de_luca"], name)
    operands = case.draw((4, 3))
    expected = case.gufunc(*operands)
    marked = case.gufunc(*(x.view(_Marked) for x in operands))
    assert type(marked) is _Marked
    assert_same_bits(np.asarray(marked), expected)
    plain = case.gufunc(*(x.view(_Marked) for x in operands), subok=False)
    assert type(plain) is np.ndarray
    for order in "CFAK":
        assert_same_bits(
            np.array(case.gufunc(*operands, order=order), order="C"), expected
        )
    signature = case.gufunc.types[0]
    assert_same_bits(case.gufunc(*operands, signature=signature), expected)
    with pytest.raises(TypeError):
        case.gufunc(*operands, signature=signature.replace("d", "f"))
    with pytest.raises(TypeError):
        case.gufunc(*(x.astype(np.float32) for x in operands), casting="no")


# what a call must not change


@each_case
def test_calls_change_neither_inputs_nor_model(case: Case) -> None:
    model = pickle.dumps(case.arm.kernels)
    arm = pickle.dumps(case.arm)
    key = hash(case.arm)
    operands = case.draw((2, 9), seed=17)
    before = [x.tobytes() for x in operands]
    case.gufunc(*operands)
    case.public(operands)
    spoiled = [x.copy() for x in operands]
    fails = spoil(case, spoiled, -1, (0, 2))
    kept = [x.tobytes() for x in spoiled]
    with pytest.raises(fa.NotFiniteError) if fails else nullcontext():
        case.public(spoiled)
    assert [x.tobytes() for x in operands] == before
    assert [x.tobytes() for x in spoiled] == kept
    assert pickle.dumps(case.arm.kernels) == model
    assert pickle.dumps(case.arm) == arm
    assert hash(case.arm) == key


@pytest.mark.parametrize("key", ARMS)
def test_pickled_arm_computes_the_same_bits(key: str) -> None:
    arm = ARMS[key]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(arm, protocol=protocol))
        assert again == arm
        assert hash(again) == hash(arm)
        assert again is not arm
    model = pickle.loads(pickle.dumps(arm.kernels))
    for name in gufunc_names(arm):
        case = Case(arm, name)
        operands = case.draw((9,))
        expected = case.gufunc(*operands)
        assert_same_bits(getattr(again.kernels, name)(*operands), expected)
        assert_same_bits(getattr(model, name)(*operands), expected)
    for a, b in zip(again.kernels.__reduce__()[1], model.__reduce__()[1], strict=True):
        assert_same_bits(a, b)
        assert not a.flags.writeable


def test_arms_are_equal_by_content() -> None:
    arm = fa.library.puma560()
    assert arm == fa.library.puma560()
    assert hash(arm) == hash(fa.library.puma560())
    assert arm != arm.replace(gravity=(0, 0, -9.8))
    assert arm != arm.replace(name="other")
    assert arm != fa.library.puma560(damping=True)
    assert arm != "puma560"
    assert len({arm, fa.library.puma560(), fa.library.iiwa14()}) == 2


@pytest.mark.parametrize("key", ARMS)
def test_pickled_arm_is_as_immutable_as_the_first(key: str) -> None:
    import copy

    arm = ARMS[key]
    for body in arm.bodies:  # what they keep
        assert body.frequencies().shape == body.slope_sizes.shape
    for again in (pickle.loads(pickle.dumps(arm)), copy.deepcopy(arm), copy.copy(arm)):
        assert again == arm
        for body in again.bodies:
            for part in (body, body.joint):
                for field, value in vars(part).items():
                    if isinstance(value, np.ndarray):
                        assert not value.flags.writeable, (body.name, field)


def test_model_is_immutable() -> None:
    model = fa.library.pendulum().kernels
    for name in gufunc_names():
        with pytest.raises(AttributeError):
            setattr(model, name, None)
        with pytest.raises(AttributeError):
            delattr(model, name)
    with pytest.raises(AttributeError):
        model.note = 1
    with pytest.raises(TypeError):
        type(model).note = 1
    with pytest.raises(KeyError, match="no kernel is named"):
        model.quiet("mass_matric")
    with pytest.raises(TypeError):
        model.quiet(3)


def test_gufuncs_outlive_their_arms() -> None:
    arm = fa.library.random_tree(11, n_bodies=6, max_modes=4, n_nodes=5)
    packed, Model = arm.pack(), type(arm.kernels)
    other = packed._replace(modal=2.0 * packed.modal, nodes=2.0 * packed.nodes)
    kept = {}
    for name in gufunc_names(arm):
        case = Case(arm, name)
        operands = case.draw((33,))
        expected = case.gufunc(*operands)
        # each alone holds a model of its own, which was that of an arm
        ways = {
            "gufunc": lambda model, name=name: getattr(model, name),
            "quiet": lambda model, name=name: model.quiet(name),
            "threaded": lambda model, name=name: model.threaded(name, 2),
            "of an arm": lambda _, name=name: getattr(arm.replace().kernels, name),
        }
        for way, get in ways.items():
            kept[f"{name}, {way}"] = get(Model(*packed)), operands, expected
    del case, get, ways
    gc.collect()
    # memory of the freed models is used again, if they were freed, by other numbers
    others = [Model(*other) for _ in range(3 * len(kept))]
    run_all(kept.items(), lambda x: assert_same_bits(x[0](*x[1]), x[2]))
    del others


def test_loops_and_their_frames_are_as_many() -> None:
    packed, Model = ARMS["closed"].pack(), type(ARMS["closed"].kernels)
    assert len(packed.loops) == len(packed.frames) > 0
    frames = packed.frames
    for wrong in (frames[:-1], frames[:0], np.concatenate([frames, frames])):
        with pytest.raises(ValueError, match="wrong shape"):
            Model(*packed._replace(frames=wrong))


# leaks


def _resident_bytes() -> int:
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def no_growth(bytes_allowed: int, blocks_allowed: int = 150) -> Iterator[None]:
    """Neither Python objects nor resident memory grow in the block."""
    gc.collect()
    blocks, resident = sys.getallocatedblocks(), _resident_bytes()
    yield
    gc.collect()
    more = sys.getallocatedblocks() - blocks
    assert more < blocks_allowed, f"{more} more Python objects"
    grown = _resident_bytes() - resident
    assert grown < bytes_allowed, f"{grown} more bytes"


def _call_often(names: list[str], repeats: int) -> None:
    arm = ARMS["pendulum"]
    for name in names:
        case = Case(arm, name)
        gufunc, operands = case.gufunc, case.draw(())
        for _ in range(repeats):
            gufunc(*operands)


needs_proc = pytest.mark.skipif(
    not os.path.exists("/proc/self/statm"), reason="reads /proc"
)


@needs_proc
def test_thousands_of_calls_keep_no_memory() -> None:
    names = gufunc_names()
    _call_often(names, 100)
    with no_growth(400_000):
        _call_often(names, 40_000 // len(names))


@needs_proc
def test_failing_calls_keep_no_memory() -> None:
    arm = ARMS["de_luca"]
    model, bad = arm.kernels, np.full((3, 6), np.nan)

    def fail(repeats: int) -> None:
        for _ in range(repeats):
            for call in (
                lambda: model.bias_forces(bad, bad),
                lambda: model.jacobian(99, bad),
                lambda: model.forward_dynamics(bad, bad, [1.0, 2.0, 3.0]),
                lambda: model.mass_matrix(np.zeros(5)),
                lambda: fa.mass_matrix(arm, bad),
                lambda: fa.forward_dynamics(arm, bad, bad, [0.0]),
                lambda: fa.node_pose(arm, bad, -1),
                lambda: model.quiet("nothing"),
            ):
                with pytest.raises((ValueError, KeyError, ArithmeticError)):
                    call()

    fail(100)
    gc.collect()
    counts = [sys.getrefcount(x) for x in (model, bad, fa.NotFiniteError, arm)]
    with no_growth(400_000):
        fail(400)
    assert [sys.getrefcount(x) for x in (model, bad, fa.NotFiniteError, arm)] == counts


@needs_proc
def test_thousands_of_models_are_freed() -> None:
    arm = ARMS["tree"]
    packed, Model = arm.pack(), type(arm.kernels)

    def build(repeats: int) -> None:
        for _ in range(repeats):
            Model(*packed).quiet("mass_matrix")

    build(200)
    gc.collect()  # models that other tests left in cycles
    count = sys.getrefcount(Model)
    with no_growth(400_000):
        build(2_000)
    assert sys.getrefcount(Model) == count


@needs_proc
def test_refused_models_are_freed() -> None:
    arm = ARMS["tree"]
    packed, Model = arm.pack(), type(arm.kernels)
    spoiled = packed.nodes.copy()
    spoiled[3] = np.nan

    def topology(body: int, column: str, value: int) -> NDArray[np.intc]:
        changed = packed.topology.copy()
        changed[body, _core.TOPOLOGY_COLUMNS[column]] = value
        return changed

    parents = topology(2, "parent", 2)
    kinds = topology(0, "joint", len(_core.JOINT_KINDS) + 2)
    modes = topology(0, "modes", _core.MAX_MODES + 1)
    nodes = topology(-1, "node", 10**6)

    def refuse(repeats: int) -> None:
        for _ in range(repeats):
            for change, words in (
                ({"nodes": spoiled}, "finite"),
                ({"nodes": packed.nodes[:-1]}, "length"),
                ({"modal": packed.modal[1:]}, "length"),
                ({"topology": parents}, "parent"),
                ({"topology": nodes}, "node"),
                ({"topology": kinds}, "kind"),
                ({"topology": modes}, "modes"),
                ({"constants": np.zeros(2)}, "shape"),
                ({"topology": packed.topology[:0]}, "shape"),
            ):
                with pytest.raises(ValueError, match=words):
                    Model(*packed._replace(**change))
            with pytest.raises(TypeError):
                Model(*packed, name="x")
            with pytest.raises(TypeError):
                Model(packed.topology)

    refuse(20)
    with no_growth(1_000_000):
        refuse(150)
