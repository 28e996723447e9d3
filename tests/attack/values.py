"""Wild values, and what the ordinary value of an argument becomes by one change."""

from __future__ import annotations

import collections
import decimal
import fractions
import io
import itertools
import math
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Rng = np.random.Generator


class Hostile(Exception):
    """Raised by the objects of the attack themselves."""


class Wild(NamedTuple):
    """A value and what it is called in a report."""

    label: str
    value: Any


# --- objects that raise -----------------------------------------------------


def _raiser(*_: Any, **__: Any) -> Any:
    raise Hostile("the object refuses")


def hostile(*methods: str, **more: Any) -> Any:
    """An object of which the given special methods raise."""
    made = type("Spiteful", (), {**dict.fromkeys(methods, _raiser), **more})
    return made()


class Spread(float):
    """A float of which comparison and repr raise."""

    __lt__ = __gt__ = __le__ = __ge__ = __eq__ = _raiser  # type: ignore[assignment]
    __hash__ = float.__hash__
    __repr__ = _raiser  # type: ignore[assignment]


class Endless:
    """A sequence without end."""

    def __len__(self) -> int:
        return 2**62

    def __getitem__(self, index: int) -> float:
        if index > 5000:
            raise IndexError(index)
        return 0.0


class Sub(np.ndarray):
    """An array class of its own."""


def nested(depth: int) -> Any:
    found: Any = 0.0
    for _ in range(depth):
        found = [found]
    return found


def recursive_list() -> Any:
    found: list[Any] = [1.0]
    found.append(found)
    return found


def recursive_dict() -> Any:
    found: dict[Any, Any] = {}
    found["a"] = found
    return found


def returns(value: Any) -> Callable[..., Any]:
    def answer(*_: Any, **__: Any) -> Any:
        return value

    return answer


# --- pools ------------------------------------------------------------------

NUMBERS: dict[str, Callable[[], Any]] = {
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "1e308": lambda: 1e308,
    "-1e200": lambda: -1e200,
    "1e-300": lambda: 1e-300,
    "denormal": lambda: 5e-324,
    "-1": lambda: -1,
    "-0.5": lambda: -0.5,
    "0": lambda: 0,
    "-0.0": lambda: -0.0,
    "0.5": lambda: 0.5,
    "1000003": lambda: 1000003,
    "2**31": lambda: 2**31,
    "2**31-1": lambda: 2**31 - 1,
    "2**63-1": lambda: 2**63 - 1,
    "-2**63": lambda: -(2**63),
    "2**64": lambda: 2**64,
    "10**400": lambda: 10**400,
    "-10**5000": lambda: -(10**5000),
    "True": lambda: True,
    "False": lambda: False,
    "1j": lambda: 1j,
    "complex(nan)": lambda: complex(1.0, math.nan),
    "float16": lambda: np.float16(1.5),
    "longdouble": lambda: np.longdouble("1e4000"),
    "int8": lambda: np.int8(-128),
    "uint64": lambda: np.uint64(2**64 - 1),
    "np.bool": lambda: np.True_,
    "datetime64": lambda: np.datetime64("2020-01-01"),
    "timedelta64": lambda: np.timedelta64(5, "s"),
    "NaT": lambda: np.datetime64("NaT"),
    "Decimal": lambda: decimal.Decimal("1.5"),
    "Decimal sNaN": lambda: decimal.Decimal("sNaN"),
    "Fraction": lambda: fractions.Fraction(1, 3),
}

TEXTS: dict[str, Callable[[], Any]] = {
    "''": lambda: "",
    "text": lambda: "no such name",
    "long text": lambda: "x" * 10_000,
    "long lines": lambda: "line\n" * 3_000,
    "two lines": lambda: "a\nb",
    "surrogate": lambda: "a\ud800b",
    "NUL": lambda: "a\0b",
    "braces": lambda: "{0} %s %(x)d {x!r}",
    "nan text": lambda: "nan",
    "number text": lambda: "1.0",
    "accents": lambda: "g\u00e9n\u00e9ral \U0001f9be\u202e",
    "bytes": lambda: b"\xff\x00",
    "long bytes": lambda: b"y" * 10_000,
    "bytearray": lambda: bytearray(8),
    "str_": lambda: np.str_("revolute"),
    "no file": lambda: "/nonexistent/flexarm.file",
    "no path": lambda: Path("/nonexistent/flexarm.file"),
    "a folder": lambda: Path("/"),
    "a full disk": lambda: "/dev/full",
}

CONTAINERS: dict[str, Callable[[], Any]] = {
    "[]": list,
    "()": tuple,
    "{}": dict,
    "set()": set,
    "{1, 2}": lambda: {1, 2},
    "frozenset": lambda: frozenset({"a"}),
    "[None]": lambda: [None],
    "['a']": lambda: ["a"],
    "[nan]": lambda: [math.nan],
    "[10**400]": lambda: [10**400],
    "[[1], [2, 3]]": lambda: [[1], [2, 3]],
    "[1, 'a']": lambda: [1, "a"],
    "[1j]": lambda: [1j],
    "{'a': 1}": lambda: {"a": 1},
    "{1: 2}": lambda: {1: 2},
    "{'x'*10000: nan}": lambda: {"x" * 10_000: math.nan},
    "{None: None}": lambda: {None: None},
    "recursive list": recursive_list,
    "recursive dict": recursive_dict,
    "nested 40": lambda: nested(40),
    "nested 900": lambda: nested(900),
    "nested 100000": lambda: nested(100_000),
    "generator": lambda: (x for x in (1.0, 2.0)),
    "endless generator": lambda: itertools.islice(itertools.count(), 200_000),
    "range(3)": lambda: range(3),
    "range(10**12)": lambda: range(10**12),
    "map": lambda: map(float, "ab"),
    "deque": lambda: collections.deque([1.0, 2.0]),
    "memoryview": lambda: memoryview(b"12345678"),
    "100000 names": lambda: [f"name{i}" for i in range(100_000)],
}

OBJECTS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "object()": object,
    "int": lambda: int,
    "lambda": lambda: lambda *a, **k: None,
    "lambda nan": lambda: returns(math.nan),
    "lambda text": lambda: returns("rubbish"),
    "lambda array": lambda: returns(np.zeros((2, 3, 4))),
    "lambda long": lambda: returns(["x" * 10_000]),
    "raises": lambda: _raiser,
    "raises ValueError": lambda: lambda *a, **k: int("x"),
    "len": lambda: len,
    "module": lambda: np,
    "slice": lambda: slice(None),
    "slice wild": lambda: slice(2**70, None, 0),
    "...": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "exception": lambda: ValueError("x"),
    "dtype": lambda: np.dtype(float),
    "ufunc": lambda: np.add,
    "StringIO": lambda: io.StringIO("1 2 3"),
    "BytesIO": lambda: io.BytesIO(b"\xff" * 100),
    "namespace": lambda: types.SimpleNamespace(q=1, nq=3, nv=2),
    "interface": lambda: types.SimpleNamespace(
        __array_interface__={"shape": (3,), "typestr": "<f8", "version": 3}
    ),
    "__array__ raises": lambda: hostile("__array__"),
    "__len__ raises": lambda: hostile("__len__", __getitem__=lambda s, i: 0.0),
    "__float__ raises": lambda: hostile("__float__", "__index__", "__int__"),
    "__repr__ raises": lambda: hostile("__repr__", "__str__"),
    "__eq__ raises": lambda: hostile("__eq__", __hash__=object.__hash__),
    "__hash__ raises": lambda: hostile("__hash__"),
    "__bool__ raises": lambda: hostile("__bool__"),
    "__iter__ raises": lambda: hostile("__iter__"),
    "__getattr__ raises": lambda: hostile("__getattr__"),
    "float that raises": lambda: Spread(1.0),
    "repr of lines": lambda: hostile(__repr__=lambda s: "line\n" * 500),
    "endless sequence": Endless,
    "__array__ of text": lambda: hostile(
        __array__=lambda s, *a, **k: np.array(["x", "y"])
    ),
}

ARRAYS: dict[str, Callable[[], Any]] = {
    "zeros(0)": lambda: np.zeros(0),
    "zeros((0, 0))": lambda: np.zeros((0, 0)),
    "zeros((3, 0, 6))": lambda: np.zeros((3, 0, 6)),
    "array(1.0)": lambda: np.array(1.0),
    "ones(1)": lambda: np.ones(1),
    "ones(7)": lambda: np.ones(7),
    "ones((2, 2))": lambda: np.ones((2, 2)),
    "eye(6)": lambda: np.eye(6),
    "ones of 32 axes": lambda: np.ones((1,) * 32),
    "ones of 64 axes": lambda: np.ones((1,) * 64),
    "full(nan)": lambda: np.full((3,), np.nan),
    "text array": lambda: np.array(["a", "b"]),
    "object array": lambda: np.array([None, object()], dtype=object),
    "recarray": lambda: np.zeros(3, dtype=[("a", float), ("b", "U3")]),
    "void": lambda: np.zeros(2, dtype="V8"),
    "datetimes": lambda: np.array(["2020-01-01"], dtype="M8[s]"),
    "masked": lambda: np.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]),
    "np.ma.masked": lambda: np.ma.masked,
    "matrix": lambda: np.matrix([[1.0, 2.0], [3.0, 4.0]]),
    "2**40 zeros": lambda: np.broadcast_to(0.0, (2**40,)),
    "2**40 x 6 zeros": lambda: np.broadcast_to(0.0, (2**40, 6)),
    "(2**59, 0)": lambda: np.zeros((2**59, 0)),
}


# --- changes of an ordinary array -------------------------------------------


def _with(value: float, everywhere: bool = False) -> Callable[[Any, Rng], Any]:
    def change(a: Any, rng: Rng) -> Any:
        a = np.array(a, dtype=complex if np.iscomplexobj(a) else float)
        if everywhere:
            a[...] = value
        elif a.size:
            a.reshape(-1)[rng.integers(a.size)] = value
        return a

    return change


def _typed(kind: Any) -> Callable[[Any, Rng], Any]:
    def change(a: Any, rng: Rng) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(a).astype(kind)

    return change


def _structured(a: Any, rng: Rng) -> Any:
    a = np.asarray(a)
    found = np.zeros(a.shape, dtype=[("x", float), ("y", float)])
    found["x"] = a
    return found


def _strided(a: Any, rng: Rng) -> Any:
    a = np.asarray(a)
    big = np.full(tuple(2 * n for n in a.shape), np.nan, dtype=a.dtype)
    view = big[tuple(slice(None, None, 2) for _ in a.shape)]
    view[...] = a
    return view


def _negative(a: Any, rng: Rng) -> Any:
    a = np.asarray(a)
    back = (slice(None, None, -1),) * a.ndim
    return np.ascontiguousarray(a[back])[back]


def _read_only(a: Any, rng: Rng) -> Any:
    a = np.array(a)
    a.flags.writeable = False
    return a


def _unaligned(a: Any, rng: Rng) -> Any:
    a = np.asarray(a)
    raw = np.zeros(a.nbytes + 1, dtype=np.uint8)[1:]
    view = raw.view(a.dtype).reshape(a.shape)
    view[...] = a
    return view


def _masked(a: Any, rng: Rng) -> Any:
    a = np.ma.masked_array(a, np.zeros(np.shape(a), bool), fill_value=7.0)
    a.mask.reshape(-1)[: rng.integers(1, 1 + max(a.size, 1))] = True
    return a


def _foreign(a: Any, rng: Rng) -> Any:
    a = np.asarray(a)
    return a.astype(a.dtype.newbyteorder())


def _constant_stride(a: Any, rng: Rng) -> Any:
    a = np.asarray(a)
    return np.broadcast_to(a, (4, *a.shape))


def _overlapping(a: Any, rng: Rng) -> Any:
    a = np.asarray(a, dtype=float)
    n = a.size
    line = np.concatenate([a.reshape(-1), a.reshape(-1)[:1], np.zeros(3)])
    return np.lib.stride_tricks.as_strided(line, (3, n), (8, 8))


def _matrix(a: Any) -> Any:
    with warnings.catch_warnings():  # NumPy would rather not have it
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return np.matrix(np.asarray(a))


# those after which a function may as well accept the value
LAYOUTS: dict[str, Callable[[Any, Rng], Any]] = {
    "as list": lambda a, rng: np.asarray(a).tolist(),
    "as tuple": lambda a, rng: (
        tuple(np.asarray(a).tolist()) if np.ndim(a) else np.asarray(a).tolist()
    ),
    "Fortran order": lambda a, rng: np.asfortranarray(a),
    "strided": _strided,
    "negative strides": _negative,
    "read-only": _read_only,
    "unaligned": _unaligned,
    "foreign byte order": _foreign,
    "stride 0": _constant_stride,
    "float32": _typed(np.float32),
    "float16": _typed(np.float16),
    "longdouble": _typed(np.longdouble),
    "int64": _typed(np.int64),
    "uint8": _typed(np.uint8),
    "bool": _typed(bool),
    "object": _typed(object),
    "subclass": lambda a, rng: np.asarray(a).view(Sub),
    "masked, none": lambda a, rng: np.ma.masked_array(a),
    "one more leading axis": lambda a, rng: np.asarray(a)[np.newaxis],
    "batch of 3": lambda a, rng: np.stack([np.asarray(a)] * 3),
    "batch of 0": lambda a, rng: np.zeros((0, *np.shape(a))),
    "overlapping rows": _overlapping,
}

CHANGES: dict[str, Callable[[Any, Rng], Any]] = LAYOUTS | {
    "one nan": _with(np.nan),
    "all nan": _with(np.nan, True),
    "one inf": _with(np.inf),
    "one -inf": _with(-np.inf),
    "one 1e308": _with(1e308),
    "one 1e200": _with(1e200),
    "one -1e150": _with(-1e150),
    "all 1e308": _with(1e308, True),
    "one 1e20": _with(1e20),
    "one 1e-300": _with(1e-300),
    "all 1e-300": _with(1e-300, True),
    "all denormal": _with(5e-324, True),
    "one zero": _with(0.0),
    "all zero": _with(0.0, True),
    "negated": lambda a, rng: -np.asarray(a, dtype=float),
    "one -1": _with(-1.0),
    "one less": lambda a, rng: np.asarray(a)[..., :-1],
    "one more": lambda a, rng: np.concatenate(
        [np.asarray(a), np.asarray(a)[..., -1:]], axis=-1
    ),
    "none": lambda a, rng: np.asarray(a)[..., :0],
    "one more trailing axis": lambda a, rng: np.asarray(a)[..., np.newaxis],
    "transposed": lambda a, rng: np.asarray(a).T,
    "flat": lambda a, rng: np.ravel(a),
    "first only": lambda a, rng: np.ravel(a)[0],
    "complex": lambda a, rng: np.asarray(a) + 1j,
    "complex, real": _typed(complex),
    "text": _typed(str),
    "datetimes": lambda a, rng: np.asarray(a).astype(int).astype("M8[s]"),
    "structured": _structured,
    "masked": _masked,
    "all masked": lambda a, rng: np.ma.array(a, dtype=float, mask=True),
    "matrix": lambda a, rng: _matrix(a),
    "batch of 5": lambda a, rng: np.stack([np.asarray(a)] * 5),
    "batch of 2**40": lambda a, rng: np.broadcast_to(a, (2**40, *np.shape(a))),
    "30 more axes": lambda a, rng: np.reshape(a, (1,) * 30 + np.shape(a)),
    "ragged": lambda a, rng: [np.asarray(a).tolist(), [1.0]],
    "with None": lambda a, rng: [*np.ravel(a).tolist(), None],
    "with 10**400": lambda a, rng: [*np.ravel(a).tolist()[:-1], 10**400],
    "with text": lambda a, rng: [*np.ravel(a).tolist()[:-1], "a"],
    "with a raiser": lambda a, rng: [
        *np.ravel(a).tolist()[:-1],
        hostile("__float__"),
    ],
}

POOLS = (NUMBERS, TEXTS, CONTAINERS, OBJECTS, ARRAYS)


def is_numeric(value: Any) -> bool:
    """Whether the changes of arrays apply to a value."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiu"
    if isinstance(value, bool) or not isinstance(value, (int, float, list, tuple)):
        return False
    try:
        return np.asarray(value).dtype.kind in "fiu"
    except (ValueError, TypeError):
        return False


def pick(rng: Rng, pool: dict[str, Callable[[], Any]]) -> Wild:
    name = list(pool)[rng.integers(len(pool))]
    return Wild(name, pool[name]())


def wild(rng: Rng, ordinary: Any, others: dict[str, Callable[[], Any]]) -> Wild:
    """A wild value in place of an ordinary one; `others` are objects of the package."""
    if is_numeric(ordinary) and rng.random() < 0.65:
        for _ in range(5):
            name = list(CHANGES)[rng.integers(len(CHANGES))]
            try:
                return Wild(name, CHANGES[name](ordinary, rng))
            except (ValueError, TypeError, IndexError, OverflowError):
                continue  # not of this shape
    if (
        isinstance(ordinary, (dict, list, tuple))
        and len(ordinary)
        and rng.random() < 0.4
    ):
        found = _inside(rng, ordinary, others)
        if found is not None:
            return found
    weights = (0.3, 0.2, 0.15, 0.15, 0.1, 0.1)
    k = int(rng.choice(6, p=weights))
    return pick(rng, (*POOLS, others)[k] if k < 5 else others)


def _inside(rng: Rng, value: Any, others: dict[str, Callable[[], Any]]) -> Wild | None:
    """The container with one wild entry."""
    k = int(rng.integers(len(value)))
    if isinstance(value, dict):
        key = list(value)[k]
        label, new = wild(rng, value[key], others)
        if rng.random() < 0.3:  # the key in its place
            try:
                changed = {**value, new: value[key]}
            except Exception:
                return None
            return Wild(f"with the key {label}", changed)
        return Wild(f"[{key!r}] {label}", {**value, key: new})
    label, new = wild(rng, value[k], others)
    try:
        return Wild(f"[{k}] {label}", type(value)([*value[:k], new, *value[k + 1 :]]))
    except TypeError:
        return None  # a named tuple
