"""Content of functions, objects and arrays as digests that other processes find too."""

from __future__ import annotations

import dis
import functools
import hashlib
import pickle
import sys
import sysconfig
import types
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

_PLAIN = (type(None), bool, int, complex, str, bytes, bytearray, type(...))
_LIBRARIES = tuple(
    sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
_INSTALLED = ("site-packages", "dist-packages")
_NAMED = (
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")


class NoContent(Exception):
    """An object without content that a later call could compare."""


class Content:
    """Digests of objects by content.

    Equal in any process, and for copies.  Functions and classes of installed packages
    count by name, all others by their code, with the values on which it depends.

    Attributes
    ----------
    has_code : bool
        True if a digest depends on code, which differs between versions of Python.
    """

    def __init__(self) -> None:
        self.has_code = False
        self._open: dict[int, int] = {}  # objects that are being read, by depth
        self._known: dict[
            int, tuple[object, str]
        ] = {}  # with the object, to keep its id
        self._path: list[str] = []

    def digest(self, thing: object, name: str = "") -> str:
        """Return the digest of an object; `name` is for messages."""
        if type(thing) in _PLAIN:
            return _joined(type(thing).__name__, repr(thing))
        if type(thing) is float:
            return _joined("float", thing.hex())
        at = id(thing)
        if at in self._known:
            return self._known[at][1]
        if at in self._open:
            return _joined("circle", str(self._open[at]))
        self._open[at] = len(self._open)
        if name:
            self._path.append(name)
        try:
            found = _joined(*self._read(thing))
        except RecursionError:
            raise self._without(thing) from None
        finally:
            del self._open[at]
            if name:
                self._path.pop()
        self._known[at] = thing, found
        return found

    def pieces(self, function: object) -> dict[str, str]:
        """Digests of a function and, by name, of what it depends on."""
        if isinstance(function, functools.partial):
            found = self.pieces(function.func)
            for i, value in enumerate(function.args):
                found[f"argument {i}"] = self.digest(value, f"argument {i}")
            for name, value in function.keywords.items():
                found[name] = self.digest(value, name)
        elif isinstance(function, types.MethodType):
            found = self.pieces(function.__func__)
            found["self"] = self.digest(function.__self__, "self")
        elif isinstance(function, types.FunctionType) and not _of_library(function):
            self._open[id(function)] = len(self._open)
            found = {"": _joined(*self._of_code(function))}
            for name, value in _dependencies(function):
                found[name] = self.digest(value, name)
            del self._open[id(function)]
        else:
            found = {"": self.digest(function)}
        return found

    # kinds of objects

    def _read(self, thing: Any) -> Iterator[str]:
        """Words that stand for the content of an object."""
        if isinstance(thing, type):
            yield from self._of_class(thing)
        elif isinstance(thing, types.FunctionType):
            yield from self._of_function(thing)
        elif isinstance(thing, types.CodeType):
            yield from self._code(thing)
        elif isinstance(thing, types.ModuleType):
            yield from ("module", thing.__name__)
        elif isinstance(thing, types.MethodType):
            yield from ("method", *self._all([thing.__func__, thing.__self__]))
        elif type(thing) in (tuple, list):
            yield from (type(thing).__name__, *self._all(thing))
        elif type(thing) in (set, frozenset):
            yield from (type(thing).__name__, *sorted(map(self._alone, thing)))
        elif type(thing) in (dict, types.MappingProxyType):
            yield from ("dict", *self._pairs(thing))
        elif type(thing) is np.ndarray:
            yield from self._of_array(thing)
        elif isinstance(thing, np.generic) and thing.dtype.kind != "O":
            yield from ("number", *self._of_array(np.asarray(thing)))
        elif isinstance(thing, np.ufunc):
            yield from ("ufunc", self._place(thing, thing.__name__))
        elif isinstance(thing, staticmethod | classmethod):
            yield from (type(thing).__name__, self.digest(thing.__func__))
        elif isinstance(thing, property):
            yield from ("property", *self._all([thing.fget, thing.fset, thing.fdel]))
        elif isinstance(thing, functools.cached_property):
            yield from ("cached", self.digest(thing.func))
        elif isinstance(thing, functools._lru_cache_wrapper):
            yield from ("cached", self.digest(thing.__wrapped__))
        elif isinstance(thing, _NAMED):
            yield from ("descriptor", thing.__name__)
        elif thing is np.random.mtrand._rand:
            yield "the generator of numpy.random"  # its state is random
        else:
            yield from self._reduced(thing)

    def _all(self, things: Iterable[object]) -> list[str]:
        return [self.digest(x) for x in things]

    def _alone(self, thing: object) -> str:
        """Digest of an element of a set, which does not depend on their order."""
        known, self._known = self._known, dict(self._known)
        try:
            return self.digest(thing)
        finally:
            self._known = known

    def _pairs(self, things: Mapping[object, object]) -> list[str]:
        return sorted(
            self.digest(key) + self.digest(x, key if isinstance(key, str) else "")
            for key, x in things.items()
        )

    def _of_array(self, array: np.ndarray) -> Iterator[str]:
        yield from ("array", repr(array.dtype), str(array.shape))
        if array.dtype.hasobject:
            yield from self._all(array.reshape(-1).tolist())
        else:
            yield hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()

    def _of_function(self, function: types.FunctionType) -> Iterator[str]:
        if _of_library(function):
            yield from ("function", function.__module__, function.__qualname__)
            return
        yield from self._of_code(function)
        for name, value in sorted(_dependencies(function), key=lambda pair: pair[0]):
            yield from (name, self.digest(value, name))

    def _of_code(self, function: types.FunctionType) -> Iterator[str]:
        """Code and defaults of a function."""
        yield from ("function", function.__name__)
        yield from self._code(function.__code__)
        named = [function.__defaults__, function.__kwdefaults__]
        yield from (self.digest(x, "a default") for x in named)

    def _code(self, code: types.CodeType) -> Iterator[str]:
        self.has_code = True
        yield hashlib.sha256(code.co_code).hexdigest()
        numbers = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
        yield repr((numbers, code.co_flags, code.co_names, code.co_varnames))
        yield repr((code.co_freevars, code.co_cellvars))
        yield getattr(code, "co_exceptiontable", b"").hex()
        yield from self._all(code.co_consts)

    def _of_class(self, kind: type) -> Iterator[str]:
        """Name of a class, and the code of one that is not of a library."""
        yield from ("class", kind.__qualname__)
        if _installed(kind.__module__):
            yield kind.__module__
            return
        yield from self._all(kind.__bases__)
        for name, x in sorted(vars(kind).items()):
            data = name.startswith("__") or name == "_abc_impl"
            if not data or isinstance(x, types.FunctionType | staticmethod):
                yield from (name, self.digest(x, name))

    def _reduced(self, thing: object) -> Iterator[str]:
        """Content of any other object, as pickle takes it apart."""
        reducer = pickle.dispatch_table.get(type(thing))  # type: ignore[attr-defined]
        try:
            found = reducer(thing) if reducer else thing.__reduce_ex__(4)
        except Exception:
            raise self._without(thing) from None
        if isinstance(found, str):
            yield from ("object", self._place(thing, found))
            return
        maker, arguments, *rest = found
        yield from ("object", *self._all([type(thing), maker, arguments]))
        state, items, pairs = ([*rest, None, None, None])[:3]
        yield self.digest(state)
        yield from self._all(items if items is not None else ())
        yield from self._pairs(dict(pairs) if pairs is not None else {})

    def _place(self, thing: object, name: str) -> str:
        """Name of an object that its module has under this name."""
        module = getattr(thing, "__module__", None) or _module_of(thing, name)
        place = sys.modules.get(str(module))
        for part in name.split("."):
            place = getattr(place, part, None)
        if place is not thing:
            raise self._without(thing)
        return f"{module}.{name}"

    def _without(self, thing: object) -> NoContent:
        kind = f"{type(thing).__module__}.{type(thing).__qualname__}"
        where = ".".join(self._path[-3:])
        return NoContent(f"{where} ({kind})" if where else kind)


def _module_of(thing: object, name: str) -> str | None:
    """Module that has an object under a name; looking into some of them warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pickle.whichmodule(thing, name)  # type: ignore[attr-defined, no-any-return]


def _joined(*words: str) -> str:
    """Digest of words, in which no end of a word can be mistaken."""
    found = hashlib.sha256()
    for word in words:
        data = word.encode("utf-8", "surrogatepass")
        found.update(b"%d:%s" % (len(data), data))
    return found.hexdigest()


def _dependencies(function: types.FunctionType) -> Iterator[tuple[str, object]]:
    """Values of enclosing functions and of modules that a function names."""
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not yet filled
            continue
    if _installed(function.__module__):
        return
    for name in sorted(_loaded(code)):
        if name not in function.__globals__:
            continue
        value = function.__globals__[name]
        yield name, value
        if isinstance(value, types.ModuleType) and not _installed(value.__name__):
            for part in sorted(_names(code)):
                if part in vars(value):
                    yield f"{name}.{part}", vars(value)[part]
    if function.__dict__:
        yield "attributes", function.__dict__


def _inside(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code of a function and of those in it."""
    yield code
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            yield from _inside(x)


def _loaded(code: types.CodeType) -> set[str]:
    """Names of globals that code reads."""
    return {
        str(step.argval)
        for part in _inside(code)
        for step in dis.get_instructions(part)
        if step.opname in _GLOBALS
    }


def _names(code: types.CodeType) -> set[str]:
    return {name for part in _inside(code) for name in part.co_names}


def _of_library(function: types.FunctionType) -> bool:
    """Return whether an installed package has this function under its name."""
    if not _installed(function.__module__):
        return False
    place: object = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        place = getattr(place, part, None)
    return place is not None


@functools.cache
def _installed(module: str | None) -> bool:
    """Return whether a module is of Python, of this package or of an installed one."""
    top = (module or "").partition(".")[0]
    if top == __name__.partition(".")[0] or top in sys.builtin_module_names:
        return True
    if module in (None, "__main__", "__mp_main__"):
        return False
    file = getattr(sys.modules.get(str(module)), "__file__", None)
    if not file:
        return getattr(sys.modules.get(top), "__file__", None) is not None
    path = Path(file)
    if any(name in path.parts for name in _INSTALLED):
        return True
    return any(path.is_relative_to(place) for place in _LIBRARIES if place)
