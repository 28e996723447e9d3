"""Refusal of arguments before the work of a function begins.

What an argument has to be is declared where it is annotated, see `declared`.  The
annotations of a function are read at its first call.  An exception that comes later is
none of the arguments and passes as it is.
"""

from __future__ import annotations

import builtins
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import cache, partial, wraps
from itertools import chain
from typing import Any, ParamSpec, TypeVar

from .._support.arrays import plain_array
from .._support.checks import short_text
from .._support.options import attribute_of, unknown_name
from ..errors import ArgumentError, FlexarmError, ModelError
from .arm_like import ArmLike, StackLike
from .declared import (
    ARRAY_LIKE,
    AnArm,
    Floats,
    Kind,
    OneOf,
    check_of,
    kind_of_annotation,
)
from .explain import ARM_SIZES, size_text

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)

# annotations of lists of several things, parameters that take many values
_LISTS = ("Iterable", "Sequence", "Annotated[Iterable")
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
# rooms whose functions and classes without an arm among their arguments describe one
_DESCRIBING = ("arm", "beams", "bodies", "descriptions", "finite_elements", "model")
_TERM = re.compile(r"(?:(\d+) ?)?([A-Za-z_]\w*)|(\d+)")


class Door:
    """What a function demands of its arguments.

    Parameters
    ----------
    function : callable
        The function, whose annotations are evaluated where it stands.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function
        room = function.__module__.partition(".")[2].partition(".")[0]
        scope = getattr(inspect.unwrap(function), "__globals__", {})
        owner = scope.get(function.__qualname__.partition(".")[0])
        for base in getattr(owner, "__mro__", ()):  # whose fields `__init__` may have
            scope = vars(sys.modules[base.__module__]) | scope
        names = _Names(scope)
        hints = inspect.get_annotations(inspect.unwrap(function))
        parameters = inspect.signature(function).parameters
        self.many = any(p.kind in _MANY for p in parameters.values())
        self.kinds: dict[str, Kind | None] = {}
        for name, parameter in parameters.items():
            hint = hints.get(name, Any)
            if isinstance(hint, str):
                hint = eval(hint, {}, names)
            kind = kind_of_annotation(hint)
            free = type(kind) is Kind or parameter.kind in _MANY
            self.kinds[name] = None if free else kind
        with_arm = any(isinstance(kind, AnArm) for kind in self.kinds.values())
        describes = room in _DESCRIBING and not with_arm
        self.error = ModelError if describes else ArgumentError
        self.places = tuple(
            name
            for name, p in parameters.items()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        )
        self.needed = {
            name
            for name, p in parameters.items()
            if p.default is p.empty and p.kind not in _MANY
        }
        self.defaults = {name: p.default for name, p in parameters.items()}
        shapes = {name: _shapes_of(kind) for name, kind in self.kinds.items()}
        self.shapes = {name: found for name, found in shapes.items() if found}

    def check(self, args: tuple[object, ...], options: dict[str, object]) -> None:
        """Raise if arguments are not as declared."""
        given = self._named(args, options)
        for name, value in given.items():
            kind = self.kinds.get(name)
            if kind is None or kind.fits(value) or value is self.defaults[name]:
                continue
            raise self.error(kind.refusal(name, value))
        if self.shapes and not self.shapes.keys().isdisjoint(given):
            self._check_shapes(given, "{field}".format)

    def _named(
        self, args: tuple[object, ...], options: Mapping[str, object]
    ) -> dict[str, Any]:
        """Arguments by their names, if the function has these and no others."""
        given = dict(zip(self.places, args, strict=False))
        unfit = len(args) > len(self.places) or not options.keys().isdisjoint(given)
        given.update(options)
        if not self.many:
            unfit = unfit or not self.kinds.keys() >= options.keys()
            if unfit or not given.keys() >= self.needed:
                raise _misfit(self.function, args, options)
        return given

    def _check_shapes(
        self, given: Mapping[str, object], said: Callable[..., str]
    ) -> None:
        """Raise for the first array whose shape contradicts the declared ones."""
        begun = self.function.__name__ == "__init__"  # its object has no sizes yet
        arm = _arm_of([*given.values()][begun:])
        known = {s: (getattr(arm, s), "the arm") for s in ARM_SIZES if arm is not None}
        for name, value in given.items():
            shapes = self.shapes.get(name)
            if not shapes or value is self.defaults[name]:
                continue
            if _is_other(self.kinds[name], value):
                continue
            shape = _shape_of(value)
            found = [_matched(axes, shape, known) for axes in shapes]
            if not any(sizes is not None for sizes in found):
                text = _wrong_shape(said(field=name), shape, shapes, known, arm)
                raise self.error(text)
            if len(shapes) == 1 and found[0]:
                known |= {symbol: (n, name) for symbol, n in found[0].items()}


class Constructor(Door):
    """What makes something of its arguments, and the form in which it wants them.

    Parameters
    ----------
    function : callable
        The function, or the ``__init__`` of a dataclass.
    words : str
        An argument in sentences, such as ``"{field} of the drive"`` or ``"{field} of
        body {name!r}"`` with the argument `name`.
    parts : sequence of Field
        Fields of the dataclass.
    """

    def __init__(
        self, function: Callable[..., Any], words: str, parts: Sequence[Field[Any]]
    ) -> None:
        self.words = words
        super().__init__(function)
        found = {name: check_of(kind) for name, kind in self.kinds.items()}
        self.kept = {name: check for name, check in found.items() if check}
        for each in parts:
            if each.default_factory is not MISSING:
                self.defaults[each.name] = each.default_factory()
        self.filled: dict[str, Any] = {}  # defaults as they are kept

    def read(
        self, args: tuple[object, ...], options: Mapping[str, object]
    ) -> dict[str, Any]:
        """Arguments by their names as they are kept, or raise."""
        given = self._named(args, options)
        owner = given.get("name", self.defaults.get("name"))
        owner = owner if isinstance(owner, str) else short_text(owner)
        said = partial(self.words.format, name=owner)
        for name, value in given.items():
            kind, kept = self.kinds.get(name), self.kept.get(name)
            if value is self.defaults[name] or kind is None:
                continue
            if kept is not None and (value is not None or kind is kept):
                given[name] = kept.kept(said(field=name), value)
            elif not kind.fits(value):
                raise self.error(kind.refusal(said(field=name), value))
        if self.shapes and not self.shapes.keys().isdisjoint(given):
            self._check_shapes(given, said)
        for name, kept in self.kept.items():
            default = self.defaults[name]
            if given.get(name, default) is default:
                if name not in self.filled:
                    self.filled[name] = (
                        None
                        if default is None
                        else kept.kept(said(field=name), default)
                    )
                given[name] = self.filled[name]
        return given


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of a function as its annotations declare them.

    Its work begins when all are right.  What it raises then is not looked at.
    """
    door: Door | None = None

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        nonlocal door
        if door is None:
            door = Door(function)
        door.check(args, options)
        return function(*args, **options)

    return call


def checked_late(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of a function that has failed, as `checked` does before.

    For functions that are little more than one call of a kernel, which cost less than
    their check.  If all arguments are as declared, the exception passes as it is.
    """
    door: Door | None = None

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        nonlocal door
        try:
            return function(*args, **options)
        except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as e:
            if isinstance(e, FlexarmError):
                raise
            if door is None:
                door = Door(function)
            door.check(args, options)
            raise

    return call


def checked_class(made: C) -> C:
    """Apply `checked_late` to the constructor and the public methods of a class.

    For results, which users do not make, and classes with an ``__init__`` by hand.
    Functions of other modules that a class has as its methods stay as they are.
    """
    for name, member in list(vars(made).items()):
        inner = getattr(member, "__func__", member)
        public = name[0] != "_" or name in ("__init__", "__call__")
        if not public or not inspect.isfunction(inner) or hasattr(inner, "__wrapped__"):
            continue
        if inner.__module__ != made.__module__:
            continue
        wrapped: Any = checked_late(inner)
        if isinstance(member, classmethod | staticmethod):
            wrapped = type(member)(wrapped)
        setattr(made, name, wrapped)
    if "__setattr__" in vars(made) and hasattr(made, "__dataclass_fields__"):
        _explain_frozen(made)
    return made


def checked_as(
    words: str, parts: Sequence[Field[Any]] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check the arguments of a function, which has them in their `Kept` forms.

    Parameters
    ----------
    words : str
        As those of `Constructor`.
    parts : sequence of Field
        As those of `Constructor`.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        inner: Callable[..., R] = function
        door: Constructor | None = None

        @wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> R:
            nonlocal door
            if door is None:
                door = Constructor(inner, words, parts)
            return inner(**door.read(args, options))

        return call

    return decorate


def checked_record(words: str) -> Callable[[C], C]:
    """Check the fields of a dataclass before it is made, as `checked` arguments.

    Fields that declare a `Kept` form have it when ``__post_init__`` begins, which looks
    at what several fields together make.  Methods are checked as in `checked_class`.

    Parameters
    ----------
    words : str
        As those of `Constructor`.
    """

    def decorate(made: C) -> C:
        record: Any = made
        record.__init__ = checked_as(words, fields(record))(record.__init__)
        return checked_class(made)

    return decorate


def _explain_frozen(made: Any) -> None:
    """Say how to change a frozen dataclass, where one assigns to its fields."""
    inner = made.__setattr__

    def assign(self: object, name: str, value: object) -> None:
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


# --- annotations ----------------------------------------------------------------


class _Names(dict[str, Any]):
    """Names of annotations; one that is imported for type checkers alone is a class."""

    def __init__(self, names: Mapping[str, object]) -> None:
        super().__init__(names)
        # in unions its own parts cannot be told from others
        self["ArrayLike"] = ARRAY_LIKE

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            return getattr(builtins, name)
        return _ByName(name, (), {})


class _ByName(type):
    """Class that knows its instances by the names of their classes."""

    def __instancecheck__(cls, value: object) -> bool:
        return any(kind.__name__ == cls.__name__ for kind in type(value).__mro__)


def by_name(made: object) -> bool:
    """Whether a class stands for one that is imported for type checkers alone."""
    return isinstance(made, _ByName)


# --- shapes ---------------------------------------------------------------------


def _shapes_of(kind: Kind | None) -> list[tuple[str, ...]]:
    """Shapes that a kind admits; none if any is right."""
    kinds = kind.kinds if isinstance(kind, OneOf) else [kind]
    return [axes for k in kinds if isinstance(k, Floats) for axes in k.axes]


def _shape_of(value: object) -> tuple[int, ...]:
    """Shape of what is an array, or can be made one."""
    shape = getattr(value, "shape", None)
    return shape if isinstance(shape, tuple) else plain_array(value).shape


def _is_other(kind: Kind | None, value: object) -> bool:
    """Whether a value is right as what else a kind admits beside arrays."""
    kinds = kind.kinds if isinstance(kind, OneOf) else []
    return any([k.fits(value) for k in kinds if not isinstance(k, Floats)])


def _arm_of(given: Sequence[object]) -> Any:
    """The arm among the arguments, or that of an object that has one."""
    found = chain(given, (attribute_of(value, "arm") for value in given))
    return next((x for x in found if isinstance(x, ArmLike | StackLike)), None)


@cache
def _terms(axes: tuple[str, ...]) -> tuple[bool, list[tuple[int, str] | None]]:
    """Whether axes may lead, and factors and symbols of the others, if they are such.

    Numbers are factors without a symbol.
    """
    free = axes[:1] == ("...",)
    found = [_TERM.fullmatch(term) for term in axes[free:]]
    return free, [m and (int(m[1] or m[3] or 1), m[2] or "") for m in found]


def _matched(
    axes: tuple[str, ...], shape: tuple[int, ...], known: Mapping[str, tuple[int, str]]
) -> dict[str, int] | None:
    """Sizes of the names in a shape, or None if it is another one."""
    free, core = _terms(axes)
    if len(shape) < len(core) or (len(shape) > len(core) and not free):
        return None
    sizes: dict[str, int] = {}
    for term, size in zip(core, shape[len(shape) - len(core) :], strict=True):
        if term is None:
            continue
        factor, symbol = term
        wanted = factor
        if symbol in sizes or symbol in known:
            wanted *= sizes[symbol] if symbol in sizes else known[symbol][0]
        elif symbol:
            if factor == 1:
                sizes[symbol] = size
            continue
        if size != wanted:
            return None
    return sizes


def _wrong_shape(
    name: str,
    shape: tuple[int, ...],
    shapes: Sequence[tuple[str, ...]],
    known: Mapping[str, tuple[int, str]],
    arm: Any,
) -> str:
    """Sentence on an array of another shape."""
    last = [axes[-1] for axes in shapes if axes]
    if arm is not None and all(symbol in ARM_SIZES for symbol in last):
        fitting = [size_text(arm, symbol) for symbol in dict.fromkeys(last)]
        sizes = [known[symbol][0] for symbol in last]
        plain = () not in shapes
        if plain and (not shape or (shape[-1] not in sizes and len(shape) < 3)):
            text = f"expected a last axis of {' or '.join(fitting)}"
            return f"{name} has shape {shape}, {text}"
    texts = [
        f"({', '.join(axes)}{',' if len(axes) == 1 else ''})" if axes else "a number"
        for axes in shapes
    ]
    symbols = dict.fromkeys(
        found[2]
        for axes in shapes
        for term in axes
        if (found := _TERM.fullmatch(term)) and found[2] in known
    )
    sizes_known = [f"{s} = {known[s][0]} of {known[s][1]}" for s in symbols]
    fitting_text = f" with {' and '.join(sizes_known)}" if symbols else ""
    return f"{name} has shape {shape}, expected {' or '.join(texts)}{fitting_text}"


# --- names -----------------------------------------------------------------------


def _misfit(
    function: Callable[..., object],
    args: tuple[object, ...],
    options: Mapping[str, object],
) -> ArgumentError:
    """Error that says why arguments do not fit the signature of a function."""
    signature = inspect.signature(function)
    name = function.__qualname__.removesuffix(".__init__")
    parameters = signature.parameters.items()
    known = {k: p for k, p in parameters if k not in ("self", "cls")}
    # names that do not exist
    for option in options:
        if option not in known:
            return unknown_name(name, option, known)
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


def forwards(
    options: Iterable[inspect.Parameter], owner: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Show and admit the given options in place of ``**options``.

    Parameters
    ----------
    options : iterable of inspect.Parameter
        Parameters by name only, without those that the function has itself.
    owner : str
        Name of the class of which this is a method, for messages.

    Notes
    -----
    The function is `checked`; what it hands on is checked where it arrives.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        given = inspect.signature(function)
        own = list(given.parameters.values())[:-1]
        more = list(options)
        shown: Any = function
        shown.__signature__ = given.replace(parameters=[*own, *more])
        shown.__qualname__ = f"{owner}.{function.__name__}"
        return checked(function)

    return decorate
