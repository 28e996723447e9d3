"""Messages for wrong names, with the name that was probably meant."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import FrozenInstanceError
from functools import wraps
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from ..errors import ArgumentError, FlexarmError
from .checks import short_text
from .documented import unfit
from .kinds import bound_arguments, failed, wrong_kind
from .synonyms import FUNCTIONS, MAKERS, SYNONYMS

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)

# what wrong arguments raise inside of a function
_EXAMINED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
# annotations of lists of several things, parameters that take many values
_LISTS = ("Iterable", "Sequence")
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
# packages whose errors are not those of the user's own functions
_INSIDE = (
    "flexarm",
    "numpy",
    "scipy",
    "matplotlib",
    "casadi",
    "jax",
    "plotly",
    "xarray",
)


def did_you_mean(given: object, names: Collection[str]) -> str:
    """Hint at the name that was probably meant, or nothing.

    Examples
    --------
    >>> did_you_mean("tourque", ["q0", "torque"])
    "; did you mean 'torque'?"
    >>> did_you_mean("colour", ["q0", "torque"])
    ''
    """
    text = given if isinstance(given, str) else ""
    if len(text) > 100:
        return ""
    for other in SYNONYMS.get(text.lower(), ()):
        if other in names:
            return f"; did you mean {other!r}?"
    # the search takes a second for as many pairs of letters
    if len(text) ** 2 * len(names) > 10_000_000:
        return ""
    import difflib

    lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(text.lower(), lower, n=1)
    return f"; did you mean {lower[near[0]]!r}?" if near else ""


def missing_from(
    module: str, names: Collection[str], otherwise: str = ""
) -> Callable[[str], Any]:
    """Return ``__getattr__`` of a module, which hints at the name that was meant."""

    def missing(name: str) -> Any:
        hint = "" if name.startswith("_") else did_you_mean(name, names)
        if not hint and name in FUNCTIONS:
            hint = f"; expected {FUNCTIONS[name]}"
        hint = hint or ("" if name.startswith("_") else otherwise)
        raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}")

    return missing


def missing_attribute(made: object, name: str, hint: str = "") -> AttributeError:
    """Return the error on an attribute that an object does not have.

    Parameters
    ----------
    made : object
        What was asked.
    name : str
        The attribute.
    hint : str
        What to say if the name is none of a method that is a function here.
    """
    kind = type(made)
    if not hint and name in FUNCTIONS:
        hint = f"; expected {FUNCTIONS[name]}"
    if not hint and name[:1] != "_":
        hint = did_you_mean(name, [n for n in dir(made) if n[0] != "_"])
    text = f"{kind.__name__!r} object has no attribute {name!r}{hint}"
    return AttributeError(text, name=name, obj=made)


def missing_from_class(made: type, name: str) -> AttributeError:
    """Return the error on an attribute that a class does not have."""
    hint = ""
    # while a dataclass is made, it asks for fields that have no default
    if name[:1] != "_" and "__dataclass_fields__" in vars(made):
        hint = did_you_mean(name, [n for n in dir(made) if n[0] != "_"])
        if made.__name__ == "Arm" and name in MAKERS:
            hint = f"; expected {MAKERS[name]}"
    text = f"class {made.__name__} has no attribute {name!r}{hint}"
    return AttributeError(text, name=name, obj=made)


def check_choice(
    name: str,
    given: object,
    choices: Collection[str],
    kind: type[Exception] = ArgumentError,
) -> None:
    """Raise if a value is not one of the choices."""
    if not isinstance(given, str) or given not in choices:
        raise kind(
            f"{name} is {short_text(given)}, expected one of "
            f"{', '.join(map(repr, choices))}{did_you_mean(given, choices)}"
        )


def place_of(what: str, name: str, names: Sequence[str]) -> int:
    """Return the place of a name among others, or raise."""
    if name not in names:
        raise ArgumentError(
            f"{what} has {short_text(name)}, expected some of "
            f"{', '.join(map(repr, names))}"
            f"{did_you_mean(name, names)}"
        )
    return list(names).index(name)


def explained(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function name its wrong or missing arguments in an `ArgumentError`.

    A valid call costs 0.1 us more; arguments are examined only after an error that
    is not of this package: their names first, then their kinds, by the annotations,
    and what the docstring says of them.
    """

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        try:
            return function(*args, **options)
        except FlexarmError:
            raise
        except (*_EXAMINED, RuntimeError) as error:
            if type(error) is RuntimeError and "dimensions" not in str(error):
                raise  # it is not about arrays of more axes than NumPy has
            bound = bound_arguments(function, args, options)
            refusal = (
                _misfit(function, args, options)
                if bound is None
                else wrong_kind(function, bound)
            )
            if refusal is None and _is_of_user(error):
                raise
            if refusal is None:
                refusal = unfit(function, bound or {})
            if refusal is None:
                raise failed(function, bound or {}, error) from error
        raise refusal

    return call


def strict(function: Callable[P, R]) -> Callable[P, R]:
    """Hide the parameter ``**other`` of a function that refuses unknown names.

    For functions that are called millions of times, which a wrapper as of `explained`
    would slow down by a third: they raise `unknown_names` if `other` is not empty.
    """
    # its signature is that of a copy, which nobody calls: cheaper at import than a
    # signature for each function
    inner: Any = function
    flags = inner.__code__.co_flags & ~inspect.CO_VARKEYWORDS
    copy = FunctionType(inner.__code__.replace(co_flags=flags), {}, inner.__name__)
    copy.__defaults__, copy.__kwdefaults__ = inner.__defaults__, inner.__kwdefaults__
    copy.__annotations__ = {
        k: v for k, v in inner.__annotations__.items() if k != "other"
    }
    inner.__wrapped__ = copy
    return function


def unknown_names(
    function: Callable[..., object], other: Mapping[str, object]
) -> ArgumentError:
    """Return the error on names that a function of `strict` does not have."""
    option = next(iter(other))
    known = inspect.signature(function).parameters
    hint = did_you_mean(option, known)
    if option in ("g", "gravity"):
        hint = "; gravity is that of the arm, arm.replace(gravity=(0, 0, -9.81)),"
    name = getattr(function, "__name__", "the function")
    return ArgumentError(
        f"{name} has no argument {option!r}{hint or ','} expected names out of "
        f"{', '.join(known)}"
    )


def explained_class(made: C) -> C:
    """Apply `explained` to the constructor and the public methods of a class.

    Functions of other modules that a class has as its methods stay as they are.
    """
    for name, member in list(vars(made).items()):
        inner = getattr(member, "__func__", member)
        public = name[0] != "_" or name in ("__init__", "__call__")
        if not public or not inspect.isfunction(inner) or hasattr(inner, "__wrapped__"):
            continue
        if inner.__module__ != made.__module__:
            continue
        wrapped: Any = explained(inner)
        if isinstance(member, classmethod | staticmethod):
            wrapped = type(member)(wrapped)
        setattr(made, name, wrapped)
    if "__setattr__" in vars(made) and hasattr(made, "__dataclass_fields__"):
        _explain_frozen(made)
    return made


def _explain_frozen(made: Any) -> None:
    """Say how to change a frozen dataclass, where one assigns to its fields."""
    inner = made.__setattr__

    def assign(self: Any, name: str, value: Any) -> None:
        try:
            inner(self, name, value)
        except FrozenInstanceError:
            kind = type(self).__name__
            copy = f"; {kind.lower()}.replace({name}=...) returns a changed copy"
            raise FrozenInstanceError(
                f"{name} of {kind} cannot be assigned, expected objects that stay as "
                f"they are made{copy if hasattr(self, 'replace') else ''}"
            ) from None

    made.__setattr__ = assign


def _is_of_user(error: Exception) -> bool:
    """Whether an error comes out of a function of the user."""
    trace = error.__traceback__
    while trace is not None:
        package = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _INSIDE and package not in sys.stdlib_module_names:
            return True
        trace = trace.tb_next
    return False


def _misfit(
    function: Callable[..., object],
    args: tuple[object, ...],
    options: dict[str, object],
) -> ArgumentError:
    """Error that says why arguments do not fit the signature of a function."""
    signature = inspect.signature(function)
    name = function.__qualname__.removesuffix(".__init__")
    parameters = signature.parameters.items()
    known = {k: p for k, p in parameters if k not in ("self", "cls")}
    # names that do not exist
    for option in options:
        if option not in known:
            # the hint first: of a long sentence the end may be cut
            hint = did_you_mean(option, known) or ","
            return ArgumentError(
                f"{name} has no argument {option!r}{hint} expected names out of "
                f"{', '.join(known)}"
            )
    # more arguments without names than the signature has
    places = [k for k, p in known.items() if p.kind is not p.KEYWORD_ONLY]
    given = len(args) - (len(known) < len(signature.parameters))
    if given > len(places):
        rest = [k for k in known if k not in places]
        hint = f"; name the others, as in {rest[0]}=value" if rest else ""
        if len(places) == 1 and str(known[places[0]].annotation).startswith(_LISTS):
            hint = f"; pass a list, as in {name}([...])"
        return ArgumentError(
            f"{name} is given {given} arguments without names, expected at most "
            f"{len(places)} ({', '.join(places)}){hint}"
        )
    # arguments that are missing or given twice
    needed = [k for k, p in known.items() if p.default is p.empty]
    missing = [k for k in needed if k not in places[:given] and k not in options]
    call = [f"{k}=..." if known[k].kind is known[k].KEYWORD_ONLY else k for k in needed]
    rest = [k for k, p in known.items() if k not in needed and p.kind not in _MANY]
    more = f"; optional: {', '.join(rest)}" if 0 < len(rest) <= 6 else ""
    return ArgumentError(
        f"{name} lacks {', '.join(missing)}, expected {name}({', '.join(call)}){more}"
        if missing
        else f"{name} is given an argument twice, by its place and by its name, "
        f"expected each of {', '.join(places)} once"
    )
