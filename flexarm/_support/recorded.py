"""Calls that results remember, so that they can be computed again."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..errors import ArgumentError
from .checks import described, short_text
from .description import Description
from .options import Hinting

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = __name__.partition(".")[0]
# Numbers of an array that is copied in any case.
MAX_COPY = 10_000
# Items of lists that are noted, at most.
MAX_ITEMS = 1_000_000
# Lists in lists that are noted, at most.
MAX_DEPTH = 32
_TABLES = ("pandas", "xarray")  # packages whose objects are arrays
_PLAIN = (type(None), bool, int, float, complex, str, np.generic)
# a call inside of another one is not noted
_INSIDE: ContextVar[bool] = ContextVar("inside of a recorded call", default=False)


@dataclass(frozen=True)
class NotKept:
    """Stands for a function, or another object, of which only the name is kept.

    Attributes
    ----------
    name : str
        Its name, such as ``"function law of __main__"``.
    """

    name: str

    def __call__(self, *args: object, **options: object) -> object:
        """Raise, since the function is not there."""
        raise ArgumentError(
            f"the {self.name} is known by name only, expected the function itself; "
            "give it again"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Call:
    """A call of a function of flexarm: what a result was computed from.

    Attributes
    ----------
    function : str
        Name of the function in flexarm, such as ``"optimize.track"``.
    arguments : dict
        All its arguments by name, defaults and seeds included.  Functions of Python are
        kept by name only.  Arrays are copies; large ones that the result has as well
        are those of the result.
    versions : dict of str
        Versions of flexarm, NumPy and Python.

    Examples
    --------
    >>> import flexarm as fa
    >>> run = fa.simulate(fa.library.pendulum(), [0.3], [0.0], [0.0, 0.1, 0.2])
    >>> run.call.function, run.call.arguments["method"]
    ('simulate', 'rk4')
    >>> bool((run.call.again().q == run.q).all())
    True
    """

    function: str
    arguments: Mapping[str, Any]
    versions: Mapping[str, str]

    def __repr__(self) -> str:
        names = ", ".join(self.arguments)
        return f"<Call of {self.function}({names}), {self.versions.get('flexarm')}>"

    def again(self, **changes: object) -> Any:
        """Compute the result again.

        Parameters
        ----------
        **changes : Any
            Arguments with other values, and those that are kept by name only.

        Returns
        -------
        result : Any
            Result of the function.

        Raises
        ------
        ArgumentError
            If an argument that is kept by name only is not given.
        """
        function = remaker(self.function)
        arguments = {**self.arguments, **changes}
        for name, value in arguments.items():
            lost = _lost(value)
            if lost is not None:
                raise ArgumentError(
                    f"{name} of {self.function} has the {lost.name}, which is kept by "
                    f"name only; give it: again({name}=...)"
                )
        return function(**{name: _remade(value) for name, value in arguments.items()})


class Recorded(Hinting):
    """Mixin of results that know their `call`."""

    @property
    def call(self) -> Call | None:
        """The call that computed this object; None for one that was made otherwise.

        ``result.call.again()`` computes it again, also of a file.
        """
        return call_of(self)


def remember(thing: object, call: Call | _Noted) -> Any:
    """Give an object its call, which copies by `replace` do not have."""
    object.__setattr__(thing, "_call", call)
    return thing


def call_of(thing: object) -> Call | None:
    """Return the call that made an object, None if it is not known."""
    made = getattr(thing, "__dict__", {}).get("_call")
    if isinstance(made, _Noted):
        made = made.call()
        remember(thing, made)
    return made if isinstance(made, Call) else None


def recorded(
    name: str, *, maker: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function note its call, with copies of its arguments, in its result.

    Calls inside of others are not noted, except those of makers.

    Parameters
    ----------
    name : str
        Name of the function in flexarm.
    maker : bool
        Its results consist of functions, and a file has their call in place of them.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        parameters = inspect.signature(function).parameters

        @wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> R:
            if _INSIDE.get() and not maker:
                return function(*args, **options)
            # generators of random numbers as they are now
            begun = {key: _begun(value) for key, value in options.items()}
            before = _INSIDE.set(True)
            try:
                result = function(*args, **options)
            finally:
                _INSIDE.reset(before)
            # functions do not change their arguments; arrays that the result has, too,
            # are not copied
            own = getattr(result, "__dict__", {}).values()
            noted = _Noted(
                name,
                tuple([kept_value(value, own) for value in args]),
                {key: kept_value(value, own) for key, value in begun.items()},
            )
            if "seed" in parameters:
                drawn = getattr(result, "seed", None)  # where none was given
                if drawn is not None:
                    noted.options["seed"] = drawn
            return remember(result, noted)  # type: ignore[no-any-return]

        call.__recorded__ = (name, maker)  # type: ignore[attr-defined]
        return call

    return decorate


class _Noted(NamedTuple):
    """A call as it was written, of which `Call` is made where it is wanted."""

    function: str
    args: tuple[Any, ...]
    options: dict[str, Any]

    def call(self) -> Call:
        """Return it with the names and defaults of all arguments."""
        signature = inspect.signature(remaker(self.function))
        bound = signature.bind(*self.args, **self.options)
        bound.apply_defaults()
        given = dict(bound.arguments)
        for name, parameter in signature.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                given |= given.pop(name)
        return Call(self.function, given, versions())


def versions() -> dict[str, str]:
    """Versions of flexarm, NumPy and Python."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"flexarm": __version__, "numpy": np.__version__, "python": python}


def remaker(name: str, *, maker: bool = False) -> Any:
    """Return a recorded function of flexarm by its name; no other one."""
    place: object = sys.modules[_PACKAGE]
    for part in name.split("."):
        place = getattr(place, part, None) if part.isidentifier() else None
    inner = place
    while inner is not None and not hasattr(inner, "__recorded__"):
        inner = getattr(inner, "__wrapped__", None)
    known = getattr(inner, "__recorded__", ("", False))
    if known[0] != name or (maker and not known[1]):
        raise ArgumentError(
            f"function of a call is {short_text(name)}, expected one of flexarm that "
            "notes its calls"
        )
    return place


def _same(array: object, value: NDArray[np.generic]) -> bool:
    """Whether an array has the numbers of another one, compared in parts."""
    if not isinstance(array, np.ndarray) or array.shape != value.shape:
        return False
    if array.dtype != value.dtype or array.ndim == 0:
        return False
    step = max(1, MAX_COPY * len(array) // array.size)
    return all(
        np.array_equal(array[i : i + step], value[i : i + step])
        for i in range(0, len(array), step)
    )


class _Large(Exception):
    """Lists that are too deep or too many."""


def _begun(value: object) -> Any:
    return copy.deepcopy(value) if isinstance(value, np.random.Generator) else value


def kept_value(value: object, known: Iterable[object] = ()) -> Any:
    """Copy of an argument as results keep it: data, and names of functions.

    What cannot be copied, for whatever reason, does not disturb the call.
    """
    try:
        if isinstance(value, np.ndarray) and value.size > MAX_COPY:
            for array in known:
                if _same(array, value):
                    return array
        return _kept(value, [MAX_ITEMS], MAX_DEPTH)
    except Exception:
        return NotKept(described(value))


def _kept(value: object, left: list[int], depth: int) -> Any:
    """Copy of a value with few enough items, in lists that are not too deep."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufcU":
        return _copied(value)
    if _is_of_package(value) and hasattr(value, "kernels"):  # an arm, or a stack
        return value
    if isinstance(value, list | tuple):
        left[0] -= len(value)
        if left[0] < 0 or depth == 0:
            raise _Large
        items = [_kept(item, left, depth - 1) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            items = _kept(list(value.values()), left, depth)
            return dict(zip(value, items, strict=True))
        return NotKept(described(value))
    if isinstance(value, range) and len(value) <= MAX_ITEMS:
        return list(value)
    if isinstance(value, np.random.Generator):
        return copy.deepcopy(value)
    if isinstance(value, NotKept | Call):
        return value
    made = call_of(value)
    if made is not None and _is_maker(made):
        return made
    if is_holdable(value):
        return value
    if type(value).__module__.partition(".")[0] in _TABLES:
        return _as_plain_array(value)
    return NotKept(described(value))


def _copied(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Copy of an array, without what a broadcast one repeats."""
    if 0 not in array.strides:
        return np.array(array, subok=False)
    some = tuple(slice(0, 1) if step == 0 else slice(None) for step in array.strides)
    return np.broadcast_to(np.array(array[some], subok=False), array.shape)


def _is_of_package(value: object) -> bool:
    return type(value).__module__.partition(".")[0] == _PACKAGE


def is_holdable(value: object) -> bool:
    """Whether an object of flexarm is data alone."""
    if not _is_of_package(value):
        return False
    if isinstance(value, Description):
        return True
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return False
    if not type(value).__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return False
    fields = [getattr(value, f.name) for f in dataclasses.fields(value) if f.init]
    return not any(isinstance(kept_value(x), NotKept) for x in fields)


def _is_maker(call: Call) -> bool:
    try:
        remaker(call.function, maker=True)
    except ArgumentError:
        return False
    return True


def _as_plain_array(value: object) -> Any:
    try:
        array = np.array(value)
    except Exception:  # of the other package
        return NotKept(described(value))
    return array if array.dtype.kind in "biufcU" else NotKept(described(value))


def _lost(value: object) -> NotKept | None:
    """The first object inside of an argument that is kept by name only."""
    if isinstance(value, NotKept):
        return value
    inner: Any = ()
    if isinstance(value, list | tuple):
        inner = value
    elif isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, Call):
        inner = value.arguments.values()
    return next((x for x in map(_lost, inner) if x is not None), None)


def _remade(value: object) -> object:
    """Argument with the objects of its calls."""
    if isinstance(value, Call):
        return value.again()
    if isinstance(value, list | tuple):
        return type(value)(_remade(item) for item in value)
    if isinstance(value, dict):
        return {key: _remade(item) for key, item in value.items()}
    if isinstance(value, np.random.Generator):
        return copy.deepcopy(value)
    return value
