"""Messages for wrong names, with the name that was probably meant."""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import FrozenInstanceError
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ..errors import ArgumentError, FlexarmError
from .checks import short_text
from .documented import unfit
from .kinds import bound_arguments, failed, wrong_kind

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
# names that other packages, or earlier versions, have for the same thing
_ELSEWHERE = {
    "aba": ("forward_dynamics",),
    "axes": ("axis",),
    "ball": ("spherical",),
    "body": ("RigidBody",),
    "continuous": ("revolute",),
    "controller": ("torque",),
    "crba": ("mass_matrix",),
    "damping_ratio": ("damping",),
    "degrees_of_freedom": ("nv",),
    "dof": ("nv",),
    "duration": ("t",),
    "eigenfrequencies": ("natural_frequencies",),
    "fk": ("tip_pose",),
    "dt": ("max_step", "t"),
    "flexiblelink": ("FlexibleBody",),
    "floating": ("free",),
    "force": ("torque", "wrench"),
    "forces": ("torque", "wrench"),
    "forward_kinematics": ("tip_pose",),
    "g": ("gravity",),
    "hinge": ("revolute",),
    "hold": ("held",),
    "ik": ("inverse_kinematics",),
    "integrator": ("method",),
    "intervals": ("search",),
    "linear": ("prismatic",),
    "link": ("RigidBody",),
    "links": ("bodies",),
    "load": ("wrench",),
    "loads": ("wrench",),
    "max_iterations": ("search",),
    "modal_analysis": ("vibration_modes",),
    "modes": ("n_modes",),
    "n_dof": ("nv",),
    "n_joints": ("nu",),
    "n_links": ("bodies", "n"),
    "ndof": ("nv",),
    "payload": ("payload_mass",),
    "pin": ("revolute",),
    "rigid": ("fixed",),
    "rnea": ("inverse_dynamics",),
    "robot": ("Arm",),
    "rotary": ("revolute",),
    "rotational": ("revolute",),
    "slider": ("prismatic",),
    "start": ("q0",),
    "solver": ("method", "search"),
    "step": ("max_step",),
    "t_end": ("t",),
    "t_span": ("t",),
    "tau": ("torque",),
    "time": ("t",),
    "tolerance": ("search",),
    "torque_limits": ("limits",),
    "u": ("torque",),
    "tspan": ("t",),
    "translational": ("prismatic",),
    "velocity_limits": ("limits",),
    "weld": ("fixed",),
    "x0": ("q0",),
}


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
    for other in _ELSEWHERE.get(text.lower(), ()):
        if other in names:
            return f"; did you mean {other!r}?"
    # the search takes a second for as many pairs of letters
    if len(text) ** 2 * len(names) > 10_000_000:
        return ""
    lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(text.lower(), lower, n=1)
    return f"; did you mean {lower[near[0]]!r}?" if near else ""


def missing_from(module: str, names: Collection[str]) -> Callable[[str], Any]:
    """Return ``__getattr__`` of a module, which hints at the name that was meant."""

    def missing(name: str) -> Any:
        hint = "" if name.startswith("_") else did_you_mean(name, names)
        raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}")

    return missing


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
            return ArgumentError(
                f"{name} has no argument {option!r}, expected names out of "
                f"{', '.join(known)}{did_you_mean(option, known)}"
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
