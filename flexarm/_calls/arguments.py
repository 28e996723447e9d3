"""Checks of arguments: each message says what was given, expected and to do."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

import numpy as np

from .._support.arrays import (
    MAX_AXES,
    Unsuitable,
    is_whole,
    kind_of,
    plain_array,
    real_number,
)
from .._support.checks import listed, short_text
from .._support.options import attribute_of
from ..errors import ArgumentError, ModelError, NotFiniteError
from .arm_like import AnyArm, ArmLike, Array, StackLike


def check_arm(arm: object) -> None:
    """Raise an error for all but an arm."""
    if not isinstance(arm, ArmLike):
        kind = kind_of(arm)
        raise ArgumentError(f"arm is {kind}, expected flexarm.Arm{arm_hint(arm)}")


def arm_hint(given: object) -> str:
    """Hint at how to get an arm from an object of another type."""
    kind = kind_of(given)
    if isinstance(given, StackLike):
        return ", one of the stack, such as stack[0]"
    if isinstance(given, list | tuple):
        return "; take one of them, or flexarm.stack(arms) for all"
    if isinstance(given, type):
        return f"; {given.__name__}(...) makes one" if kind == "type" else ""
    if callable(given):
        name = getattr(given, "__name__", kind)
        return f"; call the function that makes it, {name}()"
    if hasattr(given, "joint") and hasattr(given, "n_nodes"):
        return "; flexarm.Arm([body]) makes one"
    if isinstance(given, np.ndarray):
        return ", which comes before the arrays"
    return "; it has one, its attribute arm" if hasattr(given, "arm") else ""


def any_of(arm: object) -> ArmLike:
    """Return an arm, or the first one of a stack; raise for anything else."""
    one = arm.arms[0] if isinstance(arm, StackLike) else arm
    check_arm(one)
    return cast(ArmLike, one)


def real_array(name: str, value: object) -> Array:
    """Return a float64 array, without a copy if `value` is one, or raise."""
    try:
        array = plain_array(value)
    except Unsuitable as fault:
        raise ArgumentError(f"{name} {fault}") from None
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{name} is {short_text(value)}, expected a rectangular array of real "
            "numbers"
        ) from None
    if array.dtype == object and array.ndim == 0:
        inside = next((a for a in (name.rstrip("01"), "q") if hasattr(value, a)), "")
        hint = f"; it has one as its attribute {inside}" if inside else ""
        raise ArgumentError(
            f"{name} is {_named(value)}, expected an array of real numbers{hint}"
        )
    if not np.can_cast(array.dtype, np.float64):
        rounds = array.dtype.kind in ("f", "O")
        hint = "; np.array(..., float) rounds them" * rounds
        raise ArgumentError(
            f"{name} is {short_text(value)} of type {str(array.dtype)[:40]}, expected "
            f"an array of real numbers (float64){hint}"
        )
    if array.ndim > MAX_AXES:
        raise ArgumentError(
            f"{name} has {array.ndim} axes, expected at most {MAX_AXES}"
        )
    return array.astype(np.float64, copy=False)


def check_numbers(name: str, array: Array) -> None:
    """Raise if an argument without a batch of states has NaN or infinity."""
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        place = f"{name}[{', '.join(map(str, at))}]" if at else name
        raise ArgumentError(f"{place} is {array[at]}, expected finite numbers")


def finite_number(name: str, value: object) -> float:
    """Return one finite number, or raise."""
    array = real_array(name, value)
    if array.ndim or not np.isfinite(array):
        raise ArgumentError(f"{name} is {short_text(value)}, expected a finite number")
    return float(array)


def shaped(name: str, value: object, *core: int | None) -> Array:
    """Return a float64 array (..., *core) of finite numbers (None: any), or raise."""
    array = real_array(name, value)
    last = array.shape[array.ndim - len(core) :]
    if len(last) != len(core) or any(
        n not in (None, m) for n, m in zip(core, last, strict=True)
    ):
        wanted = ", ".join(["...", *("n" if n is None else str(n) for n in core)])
        raise ArgumentError(f"{name} has shape {array.shape}, expected ({wanted})")
    check_numbers(name, array)
    return array


def array_of(
    name: str, value: object, shapes: Collection[tuple[int, ...]], wanted: str
) -> Array:
    """Return a float64 array of finite numbers in one of some shapes, or raise."""
    array = real_array(name, value)
    if array.shape not in shapes:
        raise ArgumentError(f"{name} has shape {array.shape}, expected {wanted}")
    check_numbers(name, array)
    return array


def check_finite(name: str, array: Array, axes: int = 1) -> None:
    """Raise if an array whose last `axes` belong to one state has NaN or infinity."""
    finite = np.isfinite(array)
    if finite.all():
        return
    at = tuple(int(i) for i in np.argwhere(~finite)[0])
    bad = ~finite.all(axis=tuple(range(-axes, 0)))
    many = f", the first in {bad.sum()} of {bad.size} states" if bad.ndim else ""
    raise NotFiniteError(
        f"{name}[{', '.join(map(str, at))}] is {array[at]}{many}, expected finite "
        "numbers",
        index=at[:-axes],
        count=int(bad.sum()),
    )


def _named(value: object) -> str:
    """Text for a value that is not a number: itself, or its type."""
    plain = value is None or isinstance(value, dict | set | int)
    return short_text(value) if plain else f"of type {kind_of(value)}"


def positive_number(name: str, value: object) -> float:
    """Return a number above zero, or raise."""
    try:
        number = real_number(value)
    except (TypeError, ValueError, OverflowError):
        number = -1.0
    if not 0.0 < number < np.inf:
        raise ArgumentError(
            f"{name} is {short_text(value)}, expected a positive number"
        )
    return number


def count_of(name: str, value: object, minimum: int = 1) -> int:
    """Return a whole number of at least `minimum`, or raise."""
    if not is_whole(value) or value < minimum:
        bound = "zero" if minimum == 0 else minimum
        raise ArgumentError(
            f"{name} is {short_text(value)}, expected a whole number, {bound} or more"
        )
    return int(value)


def common_batch(shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the batch shape of arguments with these leading axes, or raise."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except (RuntimeError, ValueError):  # also of more axes than NumPy broadcasts
        given = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ArgumentError(
            f"leading axes do not broadcast: {given}, expected equal lengths or 1"
        ) from None


def refuse_linear(arm: AnyArm, what: str) -> None:
    """Raise if an arm is of linear fidelity."""
    if any_of(arm).fidelity == "linear":
        raise ArgumentError(
            f"{what} of an arm of linear fidelity do not exist, its mass matrix has no "
            "such factors; expected fidelity 'full' or 'ruthless'"
        )


def refuse_followers(arm: AnyArm, what: str) -> None:
    """Raise if joints of an arm follow others and have no coordinates."""
    names = [any_of(arm).bodies[k].name for k in any_of(arm)._following]
    if names:
        raise ArgumentError(
            f"{what} need all joints as coordinates, but {listed(names, str)} of the "
            "arm follow others; expected arm.replace(couplings='constrained')"
        )


def refuse_geared(arm: AnyArm, what: str) -> None:
    """Raise if rigid drives of an arm have no coordinates of their own."""
    drives = [(b.name, b.joint.drive) for b in any_of(arm).bodies]
    names = [name for name, drive in drives if attribute_of(drive, "shares")]
    if names:
        raise ArgumentError(
            f"{what} need the motors of rigid drives as coordinates, but those of "
            f"{listed(names, str)} have none; expected "
            "arm.replace(couplings='constrained')"
        )


def check_actuated(arm: ArmLike, what: str) -> None:
    """Refuse an arm with joints that no actuator drives."""
    if arm.nu < arm.nj:
        idle = [arm.coordinate_names[i] for i in np.flatnonzero(~arm._actuated)]
        raise ArgumentError(
            f"{what} takes an actuator for each joint, but there is none for "
            f"{listed(idle)} (actuated=False); expected an arm with all of them"
        )


def refuse_idle_forces(arm: AnyArm, tau: Any) -> None:
    """Refuse forces (..., nv) on joints without an actuator."""
    arm = any_of(arm)
    idle = np.flatnonzero(~arm._actuated)
    most = np.abs(tau[..., idle]).max(initial=0.0)
    if most > 1e-9 * max(np.abs(tau).max(initial=0.0), 1.0):
        k = int(np.abs(tau[..., idle]).reshape(-1, len(idle)).max(axis=0).argmax())
        raise ArgumentError(
            f"{most:.4g} hold {arm.coordinate_names[idle[k]]!r}, which has no "
            "actuator; expected postures in which it is in equilibrium, such as those "
            "of equilibrium(arm, q, held='motors')"
        )


def refuse_motors(arm: ArmLike, what: str) -> None:
    """Raise if motors of an arm are coordinates."""
    if arm.motor_slice.stop > arm.nj:
        raise ArgumentError(
            f"{what} has motors behind flexible joints, on which its forces would act; "
            "expected joints without drives, arm.replace(bodies=...), which the plant "
            "may have"
        )


def refuse_constraints(arm: AnyArm, what: str) -> None:
    """Refuse an arm with constraints for a function that does not obey them."""
    constraints = any_of(arm)._held
    if constraints:
        raise ModelError(
            f"{what} does not exist for an arm with constraints, this one has "
            f"{len(constraints)}; expected an arm without, such as "
            "arm.replace(constraints=())"
        )
