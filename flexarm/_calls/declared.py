"""What an argument has to be, read from its annotation.

An annotation is a plain type, or ``Annotated[ArrayLike, Floats("(..., nq)")]`` and the
like with the declarations of this module.  `kind_of_annotation` makes one object of
it, which says whether a value fits, and what was expected in words.
"""

from __future__ import annotations

import math
import numbers
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import methodcaller
from os import PathLike
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import numpy as np

from .._support.arrays import as_floats, is_whole, kind_of, plain_array
from .._support.checks import short_text
from .._support.options import did_you_mean
from ..errors import ArgumentError
from .arguments import arm_hint, real_array
from .arm_like import ArmLike, StackLike


class Kind:
    """One kind of arguments; without restriction, that of `Any`."""

    words = "anything"

    def fits(self, value: object) -> bool:
        """Whether a value is of this kind."""
        return True

    def refusal(self, name: str, value: object) -> str:
        """Sentence on a value that does not fit."""
        given = self.given(value)
        return f"{name} is {given}, expected {self.words}{self.hint(value)}"

    def given(self, value: object) -> str:
        """Text of a value that does not fit."""
        return shown(value)

    def hint(self, value: object) -> str:
        """What to do about a value that does not fit, or nothing."""
        return ""


class Number(Kind):
    """One real number, within bounds.

    Parameters
    ----------
    above, below : float
        Bounds that are outside.
    least, most : float
        Bounds that are inside.
    infinite : bool
        Whether infinity is a number.
    words, unit : str
        What is expected in other words, and the unit of what is given.
    """

    def __init__(
        self,
        *,
        above: float = -np.inf,
        below: float = np.inf,
        least: float = -np.inf,
        most: float = np.inf,
        infinite: bool = False,
        words: str = "",
        unit: str = "",
    ) -> None:
        self.above, self.below, self.infinite = above, below, infinite
        self.unit = unit
        self.least, self.most = least, most
        bounds = {
            "above {:g}": above,
            "below {:g}": below,
            "{:g} or more": least,
            "at most {:g}": most,
        }
        said = [text.format(x) for text, x in bounds.items() if np.isfinite(x)]
        self.words = ", ".join(["a number", *said]).replace("0 or more", "zero or more")
        if np.isfinite([least, most]).all():
            self.words = f"a number from {least:g} to {most:g}"
        if said == ["above 0"]:
            self.words = "a positive number"
        self.words = words or self.words

    def fits(self, value: object) -> bool:
        if type(value) is not float:
            try:
                value = _one_number(value)
            except (MemoryError, OverflowError, TypeError, ValueError):
                return False  # also a sequence without an end
        if math.isinf(value) and not self.infinite:
            return False
        inside = math.isinf(value) or self.above < value < self.below
        return bool(inside and self.least <= value <= self.most)

    def given(self, value: object) -> str:
        if self.unit and isinstance(value, float | int):
            return f"{value:g} {self.unit}"
        return short_text(value) if isinstance(value, list | tuple) else shown(value)


class Whole(Kind):
    """One whole number, within bounds that are inside."""

    def __init__(self, *, least: int | None = None, most: int | None = None) -> None:
        self.least, self.most = least, most
        self.words = "a whole number"
        if least is not None:
            self.words += f", {'zero' if least == 0 else least} or more"
        if most is not None:
            self.words += f", at most {most}"

    def given(self, value: object) -> str:
        return short_text(value)

    def fits(self, value: object) -> bool:
        return (
            is_whole(value)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
        )


class Flag(Kind):
    """True or False."""

    words = "True or False"

    def fits(self, value: object) -> bool:
        return isinstance(value, bool | np.bool_)


class Choice(Kind):
    """One of several strings, or of other constants; `hint` is for other types."""

    def __init__(self, *choices: object, hint: str = "") -> None:
        self.choices, self.said = choices, hint
        self.words = "one of " * (len(choices) > 1) + ", ".join(map(repr, choices))

    def fits(self, value: object) -> bool:
        return isinstance(value, str | int) and value in self.choices

    def refusal(self, name: str, value: object) -> str:
        return f"{name} is {short_text(value)}, expected {self.words}{self.hint(value)}"

    def hint(self, value: object) -> str:
        if self.said and not isinstance(value, str):
            return f"; {self.said}"
        return did_you_mean(value, [c for c in self.choices if isinstance(c, str)])


class Floats(Kind):
    """An array of real numbers of one of several shapes.

    Parameters
    ----------
    *shapes : str
        Such as ``"(..., nq)"``.  Axes are numbers, sizes of the arm, other names that
        are equal in all arguments of a call, or other terms, which are not compared;
        ``"()"`` is one number, and without shapes any is right.
    """

    def __init__(self, *shapes: str) -> None:
        self.shapes = shapes
        self.axes = [_axes_of(text) for text in shapes]
        each = ["a number" if s == "()" else s for s in shapes]
        self.words = "an array of real numbers"
        if each:
            self.words = f"{' or '.join(each)} real numbers"

    def fits(self, value: object) -> bool:
        if type(value) is np.ndarray:
            return value.dtype.kind in "biuf" and value.dtype.itemsize <= 8
        if isinstance(value, float | int) and not isinstance(value, np.generic):
            return True
        return not self._fault("", value)

    def refusal(self, name: str, value: object) -> str:
        return self._fault(name, value)

    def _fault(self, name: str, value: object) -> str:
        dtype = getattr(value, "dtype", None)
        lazy = dtype is not None and not isinstance(value, np.generic | np.ndarray)
        if lazy and getattr(dtype, "kind", "") in ("f", "i", "u", "b"):
            return ""  # it is converted once, where it is used
        try:
            real_array(name, value)
        except ArgumentError as error:
            return str(error)
        return ""


class Instance(Kind):
    """An object of a class, or of one with its name; `hint` says how to get one."""

    def __init__(self, made: Any, hint: str = "") -> None:
        self.made, self.said = made, hint
        self.name = str(getattr(made, "__name__", made))
        article = "an" if self.name[0] in "AEIOU" else "a"
        self.words = _WORDS.get(made, f"{article} {self.name}")

    def fits(self, value: Any) -> bool:
        try:
            return isinstance(value, self.made)
        except TypeError:  # a protocol
            return True

    def given(self, value: object) -> str:
        return shown(value) if self.made in _WORDS else kind_of(value)

    def hint(self, value: object) -> str:
        if self.said:
            return f"; {self.said}"
        if isinstance(value, type) and value.__name__ == self.name:
            return f"; {self.name}(...) makes one"
        for attribute, held in getattr(value, "__dict__", {}).items():
            if type(held).__name__ == self.name and attribute[0] != "_":
                return f"; it has one as its attribute {attribute}"
        return f"; {_MADE_BY[self.name]}" if self.name in _MADE_BY else ""


class AnArm(Instance):
    """An arm, a stack of arms, or one of both."""

    def __init__(self, *made: Any) -> None:
        super().__init__(made[0])
        self.every = made
        self.words = "flexarm.Arm"

    def fits(self, value: Any) -> bool:
        return isinstance(value, self.every)

    def hint(self, value: object) -> str:
        return arm_hint(value)


class Text(Kind):
    """A string, with what is meant by it in words; ``{given}`` is what was given."""

    made: Any = str

    def __init__(self, words: str) -> None:
        self.words = words

    def fits(self, value: object) -> bool:
        return isinstance(value, self.made)

    def refusal(self, name: str, value: object) -> str:
        return super().refusal(name, value).replace("{given}", short_text(value))


class Dictionary(Text):
    """A dictionary, with what it holds in words."""

    made = Mapping

    def given(self, value: object) -> str:
        return short_text(value)


class Called(Text):
    """A function, or another object that is called, with both in words."""

    made: Any = Callable

    def given(self, value: object) -> str:
        return kind_of(value)


class Several(Called):
    """Objects one after the other, also of an iterator, in words; no array of one."""

    made = Iterable

    def fits(self, value: object) -> bool:
        return super().fits(value) and getattr(value, "shape", None) != ()


class Seed(Kind):
    """A generator of random numbers, or a seed of one."""

    words = "a numpy.random.Generator or a seed, 0 or more"

    def fits(self, value: object) -> bool:
        seed = is_whole(value) and value >= 0
        return value is None or seed or isinstance(value, np.random.Generator)

    def refusal(self, name: str, value: object) -> str:
        return f"{name} is {short_text(value)}, expected {self.words}"


class Sequenced(Kind):
    """A list of values of one kind, also with what it is in other words."""

    def __init__(self, inside: Kind, words: str = "") -> None:
        self.inside = inside
        self.words = words or f"a list, of each entry {inside.words}"

    def hint(self, value: object) -> str:
        alone = not isinstance(value, list | tuple | np.ndarray)
        return (
            "; put it in brackets, [...]" if alone and self.inside.fits(value) else ""
        )

    def fits(self, value: Any) -> bool:
        # of a range, which may be endless, both ends
        ends = isinstance(value, range) and value
        some = (value[0], value[-1]) if ends else value
        return _is_list(value) and all(map(self.inside.fits, some))

    def refusal(self, name: str, value: Any) -> str:
        for i, each in enumerate(value if _is_list(value) else ()):
            if not self.inside.fits(each):
                field, of, owner = name.partition(" of ")
                return self.inside.refusal(f"{field}[{i}]{of}{owner}", each)
        return super().refusal(name, value)


class OneOf(Kind):
    """A value of one of several kinds."""

    def __init__(self, kinds: Iterable[Kind]) -> None:
        self.kinds = list(kinds)
        words = [kind.words for kind in self.kinds]
        if "None" in words:
            words = [*(w for w in words if w != "None"), "None"]
        self.words = " or ".join(dict.fromkeys(words))

    def fits(self, value: object) -> bool:
        # without a generator, in whose end Ctrl-C would be lost
        return any(map(methodcaller("fits", value), self.kinds))

    def refusal(self, name: str, value: object) -> str:
        kinds = [k for k in self.kinds if k.words != "None"]
        if len(kinds) == 1 and isinstance(kinds[0], Floats):
            return kinds[0].refusal(name, value)
        lists = [k for k in kinds if isinstance(k, Sequenced)]
        if len(lists) == 1 and _is_list(value):
            return lists[0].refusal(name, value)
        return super().refusal(name, value)

    def given(self, value: object) -> str:
        return self.kinds[0].given(value)

    def hint(self, value: object) -> str:
        return next(filter(None, (kind.hint(value) for kind in self.kinds)), "")


_WORDS: dict[object, str] = {
    str: "a string",
    bytes: "bytes",
    types.NoneType: "None",
    Callable: "a function",
    Mapping: "a dictionary",
    dict: "a dictionary",
    Iterable: "a sequence",
    PathLike: "a path",
}
# how users get an object of a class
_MADE_BY = {
    "Axes": "the second result of matplotlib's subplots() is one",
    "BendingModes": "flexarm.beams.clamped_beam_modes returns them",
    "CoulombFriction": "flexarm.CoulombFriction(force, smoothing_velocity) makes one",
    "Limits": "flexarm.optimize.Limits(torque=...) makes one",
    "KalmanFilter": "flexarm.control.kalman_filter(..., dt=...) makes one",
    "Identification": "flexarm.identification.identify returns one",
    "Line2D": "ax.plot returns a list of them",
    "LinkLoads": "flexarm.link_loads returns them",
    "Robot": "flexarm.urdf.read returns one",
    "Robustness": "flexarm.robustness returns one",
    "RootLocus": "flexarm.root_locus returns one",
    "Search": "flexarm.optimize.Search(restarts=...) makes one",
    "LinearSystem": "flexarm.linearize(arm, q) makes one",
    "Path": "flexarm.optimize.paths.line(start, end) makes one",
    "OptimalMotion": "a function of flexarm.optimize finds one",
    "StateSpace": "flexarm.linearize(arm, q) makes one",
    "TorsionModes": "flexarm.beams.clamped_rod_modes returns them",
    "Trajectory": "flexarm.simulate returns one; flexarm.plotting.arm draws postures",
    "VibrationModes": "flexarm.vibration_modes returns them",
    "WorkspaceMap": "flexarm.workspace_map returns one",
}
_ANY = Kind()
_PLAIN: dict[object, Kind] = {
    float: Number(infinite=True),
    int: Whole(),
    bool: Flag(),
    Any: _ANY,
    object: _ANY,
}


class Kept(Kind):
    """What a check accepts, which returns it in the form that an object keeps.

    Parameters
    ----------
    check : callable
        ``check(what, value, *rest)`` returns the value, or raises an error whose
        sentence begins with `what`.
    *rest : object
        More arguments of the check, such as a unit or a shape.
    """

    def __init__(self, check: Callable[..., Any], *rest: object) -> None:
        self.check, self.rest = check, rest

    def kept(self, what: str, value: object) -> Any:
        """Return a value as it is kept, or raise."""
        return self.check(what, value, *self.rest)

    def fits(self, value: object) -> bool:
        return not self.refusal("it", value)

    def refusal(self, name: str, value: object) -> str:
        try:
            self.kept(name, value)
        except ArgumentError as error:
            return str(error)
        return ""


def check_of(kind: Kind | None) -> Kept | None:
    """The check of a kind, or of that of its alternatives that is not None."""
    if isinstance(kind, OneOf):
        found = [k for k in kind.kinds if k.words != "None"]
        kind = found[0] if len(found) == 1 else None
    return kind if isinstance(kind, Kept) else None


def kind_of_annotation(hint: Any) -> Kind:
    """Return the kind of arguments that an annotation declares."""
    if (isinstance(hint, type) and hint in _PLAIN) or hint is Any:
        return _PLAIN[hint]
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        declared = [kind for kind in hint.__metadata__ if isinstance(kind, Kind)]
        # the last one: `ArrayLike` alone declares an array of any shape
        return declared[-1] if declared else kind_of_annotation(parts[0])
    if origin in (Union, types.UnionType):
        return _union(parts)
    if origin is Literal:
        return Choice(*parts)
    if origin in (Sequence, list):
        return Sequenced(kind_of_annotation(parts[0]))
    if origin is np.ndarray or hint is np.ndarray:
        return Floats() if "float" in str(hint) else _ANY
    made = hint if origin is None else origin
    if isinstance(made, TypeVar):
        made = made.__bound__
    if getattr(made, "__name__", "") == "Arm":
        made = ArmLike  # with charts of searches, which are arms below
    if made in (ArmLike, StackLike):
        return AnArm(made)
    return Instance(made) if isinstance(made, type) else _ANY


def _union(parts: tuple[object, ...]) -> Kind:
    """Kind of a union; of arms and their stacks one."""
    kinds = [kind_of_annotation(part) for part in parts]
    arms = [made for k in kinds if isinstance(k, AnArm) for made in k.every]
    rest = [k for k in kinds if not isinstance(k, AnArm)]
    if any(type(k) is Kind for k in rest):
        return _ANY
    if arms:
        rest.insert(0, AnArm(*arms))
    return rest[0] if len(rest) == 1 else OneOf(rest)


def _is_list(value: object) -> bool:
    """Whether a value is one of several others."""
    lists = isinstance(value, list | tuple | range)
    return lists or (isinstance(value, np.ndarray) and value.ndim > 0)


def _axes_of(text: str) -> tuple[str, ...]:
    """Entries of a shape in text."""
    return tuple(part.strip() for part in text.strip("()").split(",") if part.strip())


def _one_number(value: object) -> float:
    """Return one real number as a float, or raise."""
    if isinstance(value, numbers.Real):
        return float(value)
    array = plain_array(value)
    if array.ndim or array.dtype.kind not in "biufO":
        raise TypeError
    return float(as_floats(array))


def shown(value: object) -> str:
    """Text of a plain value; of others their type."""
    plain = value is None or isinstance(value, bool | int | float | complex | str)
    return short_text(value) if plain else f"of type {kind_of(value)}"


ARRAY_LIKE = Annotated[Any, Floats()]

# arrays of states of an arm, and what else is the same in many functions
Count: TypeAlias = Annotated[int, Whole(least=1)]
Finite: TypeAlias = Annotated[float, Number()]
Positive: TypeAlias = Annotated[float, Number(above=0.0)]
StepLength: TypeAlias = Annotated[float, Number(above=0.0, infinite=True)]
Share: TypeAlias = Annotated[float, Number(least=0.0, most=1.0)]
Positions: TypeAlias = Annotated[Any, Floats("(..., nq)")]
Posture: TypeAlias = Annotated[Any, Floats("(nq,)")]
Velocities: TypeAlias = Annotated[Any, Floats("(..., nv)")]
ActuatorValues: TypeAlias = Annotated[Any, Floats("(..., nu)")]
Forces: TypeAlias = Annotated[Any, Floats("(..., nu)", "(..., nv)")]
Vector: TypeAlias = Annotated[Any, Floats("(3,)")]
Poses: TypeAlias = Annotated[Any, Floats("(..., 4, 4)")]
Twists: TypeAlias = Annotated[Any, Floats("(..., 6)")]
TwistForm: TypeAlias = Annotated[str, Choice("body", "spatial", "hybrid", "mixed")]
JacobianFrame: TypeAlias = Annotated[str, Choice("node", "base")]
RandomSeed: TypeAlias = Annotated[Any, Seed()]
