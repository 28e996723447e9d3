"""Every public function, class, method and property, and random calls of them.

A call is known by its seed and its index alone: `build` makes it again.
"""

from __future__ import annotations

import copy
import functools
import inspect
import os
import pickle
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from public_api import members

import flexarm as fa
from flexarm._support.moved import MOVED
from flexarm.se3 import quaternion_exp
from flexarm.stacks import ArmStack

from . import flips, ordinary, planted, table, values
from .ordinary import Draw

# how often a kind of call is drawn, relative to that of a function
WEIGHTS = {
    "function": 1.0,
    "class": 1.5,
    "method": 1.0,
    "property": 0.1,
    "replace": 1.5,
    "spoilt": 6.0,
}
LESS = {  # of the same functions again
    "Arm.": 0.25,
    "ArmStack.": 0.25,
    "optimize.track": 0.3,
    "optimize.trajectory": 0.3,
    "optimize.time_optimal": 0.3,
    "optimize.trade_off": 0.1,
    "identification.identify": 0.3,
    "plotting.": 0.5,
    "plotting.Animation.to_html": 0.05,
    "plotting.Animation.save": 0.05,
    "se3.": 0.5,
    "reference.screws.": 0.5,
}
KEPT = ("reference.patent_loop.", "reference.screws.")  # no oracles
PLANTED = "ATTACK_PLANTED"  # a variable of the environment: attack the attack itself
OPERATORS = ("__call__", "__getitem__", "__mul__", "__matmul__")


@dataclass(frozen=True)
class Target:
    """Something public that is called."""

    name: str
    kind: str
    object: Any
    owner: str = ""  # class of methods

    @property
    def weight(self) -> float:
        found = WEIGHTS[self.kind]
        for prefix, factor in LESS.items():
            if self.name.startswith(prefix):
                found *= factor
        return found

    @property
    def room(self) -> str:
        """Module of flexarm of which this is."""
        made = getattr(self.object, "__module__", None) or "flexarm"
        return str(made).removeprefix("flexarm").lstrip(".") or "flexarm"


@functools.cache
def targets() -> tuple[Target, ...]:
    """Everything public except the oracles, which only tests use."""
    if os.environ.get(PLANTED):
        return tuple(Target(f.__name__, "function", f) for f in planted.ALL)
    return tuple(_targets())


def _targets() -> Iterator[Target]:
    for member in members():
        if member.name.startswith("reference.") and not member.name.startswith(KEPT):
            continue
        owner = member.name.rpartition(".")[0]
        if member.kind in ("method", "property"):
            yield Target(member.name, member.kind, member.object, owner)
        elif member.kind == "function":
            yield Target(member.name, "function", member.object)
        elif member.name not in table.MADE and not issubclass(
            member.object, BaseException
        ):
            yield Target(member.name, "class", member.object)
    for name, subject in flips.SUBJECTS.items():
        yield Target(f"spoilt {name}", "spoilt", subject)
    for name in table.OBJECTS:
        made = class_of(name)
        if hasattr(made, "replace") and name not in (
            "StateSpace",
            "control.StateFeedback",
        ):
            yield Target(f"{name}.replace", "replace", made.replace, name)
        for special in OPERATORS:
            if any(special in vars(kind) for kind in made.__mro__):
                yield Target(
                    f"{name}.{special}", "method", getattr(made, special), name
                )
        yield Target(f"{name}.repr", "property", repr, name)
        yield Target(f"{name}.pickle", "property", _pickled, name)
        yield Target(f"{name}.copy", "property", copy.deepcopy, name)


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def class_of(name: str) -> Any:
    found: Any = fa
    for part in MOVED.get(name, name).split("."):
        if not hasattr(found, part):  # a module that is not public
            import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return found


def rule(name: str, parameter: str, doc: str) -> table.Rule | None:
    """The rule of an argument: of the function, of its shape, of its name."""
    parts = [prefix for prefix in table.OWN if name.startswith(prefix)]
    for prefix in sorted(parts, key=len, reverse=True):
        if parameter in table.OWN[prefix]:
            return table.OWN[prefix][parameter]
    own = name.startswith(("se3.", "reference.screws."))
    found = by_shape(parameter, doc)
    if own and found is not None:
        return found
    return table.RULES.get(parameter) or found


def by_shape(parameter: str, doc: str) -> table.Rule | None:
    """Numbers of the shape that the docstring gives."""
    pattern = rf"^\s*(?:\w+, )*{parameter}(?:, \w+)* : \(([^)]*)\)"
    found = re.search(pattern, doc or "", re.M)
    if not found:
        return None
    sizes = [x.strip() for x in found[1].split(",")]
    batch = sizes[0] == "..."
    shape = [x for x in sizes[batch:] if x]
    if not all(x.isdigit() or x == "n" for x in shape):
        return None
    fixed = tuple(int(x) if x.isdigit() else 3 for x in shape)

    def numbers(d: Draw) -> Any:
        lead = d.batch if batch else ()
        if fixed == (2, 4, 4):
            return fa.reference.screws.exp(d.normal(*lead, 2, 6))
        if fixed == (2, 3, 3):
            return fa.reference.screws.rotation_exp(d.normal(*lead, 2, 3))
        if fixed == (4, 4):
            return fa.se3.exp(d.normal(*lead, 6))
        if fixed == (3, 3):
            return fa.se3.so3_exp(d.normal(*lead, 3))
        if fixed == (4,):
            return quaternion_exp(d.normal(*lead, 3))
        return d.normal(*lead, *fixed)

    return numbers


def always(name: str) -> tuple[str, ...]:
    """Optional arguments without which a function has too little to do."""
    parts = [prefix for prefix in table.ALWAYS if name.startswith(prefix)]
    return table.ALWAYS[max(parts, key=len)] if parts else ()


def arms_of(name: str) -> tuple[str, ...]:
    parts = [prefix for prefix in table.ARMS if name.startswith(prefix)]
    return table.ARMS[max(parts, key=len)] if parts else tuple(ordinary.ARMS)


# --- one call ---------------------------------------------------------------


class Unbuildable(Exception):
    """The attack has no ordinary arguments for this call."""


@dataclass
class Call:
    """A call in the making."""

    target: Target
    function: Callable[..., Any]
    args: dict[str, Any]
    positional: tuple[str, ...]
    wild: dict[str, str] = field(default_factory=dict)  # name: what was done
    optional: tuple[str, ...] = ()
    arm: str = ""
    numeric: set[str] = field(default_factory=set)  # wild in place of numbers
    refusal: BaseException | None = None  # once it was made

    def run(self) -> Any:
        args = dict(self.args)
        first = []
        for name in self.positional:
            if name not in args:
                break
            first.append(args.pop(name))
        return self.function(*first, **args)

    @property
    def text(self) -> str:
        parts = []
        for name, value in self.args.items():
            done = f" <- {self.wild[name]}" if name in self.wild else ""
            parts.append(f"{name}={short(value)}{done}")
        on = f"  [arm {self.arm}]" if self.arm else ""
        return f"{self.target.name}({', '.join(parts)}){on}"


def short(value: Any) -> str:
    """A value in a few letters, whatever it is."""
    try:
        if isinstance(value, np.ndarray):
            kind = type(value).__name__ if type(value) is not np.ndarray else "array"
            return f"{kind}{value.shape}:{value.dtype.str}"[:60]
        if isinstance(value, (fa.Arm, ArmStack, fa.StateSpace, fa.Trajectory)):
            return f"<{type(value).__name__}>"
        text = " ".join(repr(value).split())
    except BaseException:
        return f"<{type(value).__name__}>"
    return text if len(text) < 60 else f"{text[:40]}...[{len(text)}]"


def build(
    seed: int,
    index: int,
    without: frozenset[str] = frozenset(),
    plain: bool = False,
) -> Call:
    """Call number `index` of a seed; what `without` names is ordinary or left out.

    A plain one has ordinary arguments, and an arm of its own.
    """
    rng = np.random.default_rng([seed, index])
    every = targets()
    weights = _weights()
    target = every[int(rng.choice(len(every), p=weights))]
    return make(target, rng, without, 0 if plain else None)


@functools.cache
def _weights() -> Any:
    found = np.array([t.weight for t in targets()])
    return found / found.sum()


def make(
    target: Target,
    rng: values.Rng,
    without: frozenset[str] = frozenset(),
    n_wild: int | None = None,
) -> Call:
    """A call of one target; `n_wild` arguments are wild, by default 0, 1 or 2."""
    draw = Draw(rng, arms_of(target.name), fresh=n_wild == 0)
    if target.kind == "spoilt":
        return _spoilt(target, draw)
    if n_wild is None:
        n_wild = int(rng.choice(4, p=(0.1, 0.65, 0.2, 0.05)))
    try:
        function = bound(target, draw)
    except Exception as error:
        raise Unbuildable(f"{target.name}: object: {error!r}"[:300]) from error
    if target.kind == "property" or (
        target.kind != "replace" and inspect.isbuiltin(function)
    ):
        return Call(target, function, {}, ())
    if target.kind == "replace":
        return _replacement(target, function, draw, without, n_wild)
    doc = (getattr(target.object, "__doc__", "") or "") + (
        (getattr(target.object, "__init__", None).__doc__ or "")
        if target.kind == "class"
        else ""
    )
    args: dict[str, Any] = {}
    positional, optional = [], []
    for name, p in inspect.signature(function).parameters.items():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or name[0] == "_":
            continue
        required = p.default is p.empty
        found = None if name == "out" else rule(target.name, name, doc)
        if found is None and required:
            found = _anything
        use = required or rng.random() < 0.45
        if found is not None:
            try:
                value = found(draw)
            except Exception as error:
                if required:
                    text = f"{target.name}: {name}: {error!r}"
                    raise Unbuildable(text[:300]) from error
                continue
        elif name in ("out",):
            value = None
        else:
            continue
        if required and p.kind is not p.KEYWORD_ONLY:
            positional.append(name)
        elif not use and name not in always(target.name):
            continue
        elif not required:
            optional.append(name)
        args[name] = value
    if n_wild and rng.random() < 0.01:
        args["no_such_option"] = 1.0
        optional.append("no_such_option")
    call = Call(target, function, args, tuple(positional), {}, tuple(optional))
    call.arm = draw.arm_name
    _spoil(call, draw, n_wild, without)
    for name in optional:
        if name in without and name not in call.wild:
            call.args.pop(name, None)
    return call


def _spoilt(target: Target, draw: Draw) -> Call:
    """Something of which some bytes are wrong is read."""
    subject: flips.Subject = target.object
    done, data = flips.spoil(draw, subject.make(draw))
    call = Call(target, subject.load, {"data": data}, ("data",), {"data": done})
    call.arm = draw.arm_name
    return call


def bound(target: Target, draw: Draw) -> Any:
    """The function, or the method of an object."""
    if target.kind in ("function", "class"):
        return target.object
    owner = class_of(target.owner)
    last = target.name.rpartition(".")[2]
    if target.kind == "method":
        held = inspect.getattr_static(owner, last)
        if isinstance(held, (classmethod, staticmethod)):
            return getattr(owner, last)
    thing = table.OBJECTS[target.owner](draw)
    if target.kind in ("method", "replace"):
        return getattr(thing, last)
    if last in ("repr", "pickle", "copy"):
        return functools.partial(target.object, thing)
    return lambda: getattr(thing, last)


def _anything(draw: Draw) -> Any:
    return draw.choice(1.0, "x", None, [1.0, 2.0])


def _replacement(
    target: Target, function: Any, draw: Draw, without: frozenset[str], n_wild: int
) -> Call:
    """``replace`` with one or two fields of the class."""
    owner = class_of(target.owner)
    rng = draw.rng
    args: dict[str, Any] = {}
    names = [n for n in inspect.signature(owner).parameters if n[0] != "_"]
    for name in rng.choice(
        names, size=min(len(names), int(rng.integers(1, 3))), replace=False
    ):
        found = rule(target.owner, str(name), owner.__doc__ or "") or _anything
        try:
            args[str(name)] = found(draw)
        except Exception as error:
            raise Unbuildable(f"{target.name}: {name}: {error!r}"[:300]) from error
    call = Call(target, function, args, (), {}, tuple(args), draw.arm_name)
    _spoil(call, draw, min(n_wild, 1), without)
    return call


def _spoil(call: Call, draw: Draw, n_wild: int, without: frozenset[str]) -> None:
    """Make some of the arguments wild."""
    rng = draw.rng
    names = list(call.args)
    if not names or not n_wild:
        return
    others = ordinary.others(draw)
    chosen = rng.choice(names, size=min(n_wild, len(names)), replace=False)
    for name in map(str, chosen):
        old = call.args[name]
        if name == "out":
            label, new = _wild_out(call, draw)
        else:
            label, new = values.wild(rng, old, others)
        if name not in without:
            call.args[name] = new
            call.wild[name] = label
            if values.is_numeric(old):
                call.numeric.add(name)


def _wild_out(call: Call, draw: Draw) -> values.Wild:
    """An array for the result: right, or wrong in one respect."""
    rng = draw.rng
    arrays = [a for a in call.args.values() if isinstance(a, np.ndarray)]
    if arrays and rng.random() < 0.25:
        return values.Wild("an argument", arrays[int(rng.integers(len(arrays)))])
    if rng.random() < 0.25:
        return values.pick(rng, values.POOLS[int(rng.integers(len(values.POOLS)))])
    try:
        with np.errstate(all="ignore"):
            plain = Call(call.target, call.function, dict(call.args), call.positional)
            plain.args.pop("out", None)
            right = plain.run()
    except Exception:
        return values.Wild("zeros(3)", np.zeros(3))
    if isinstance(right, tuple):
        made = tuple(np.full_like(np.asarray(r, dtype=float), 7.0) for r in right)
        return values.Wild("right tuple", made if rng.random() < 0.5 else made[0])
    right = np.full_like(np.asarray(right, dtype=float), 7.0)
    names = [n for n in values.CHANGES if "2**40" not in n]
    for _ in range(5):
        name = names[int(rng.integers(len(names)))]
        try:
            return values.Wild(f"right, {name}", values.CHANGES[name](right, rng))
        except Exception:
            continue
    return values.Wild("right", right)
