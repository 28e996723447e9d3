"""Error messages in the shapes and names of the user's arguments.

Checks of arguments, and a second look at states that a kernel refuses, which finds
their indices.  All of it runs on the failing path only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import _core
from .._support.checks import short_text
from ..errors import ArgumentError, FlexarmError, NotFiniteError, SingularityError
from .arguments import any_of, common_batch, real_array
from .arm_like import AnyArm, ArmLike, Array, StackLike, model_of
from .operands import check_class_of_out

# arguments with nq entries
POSITIONS = ("q", "q0", "q1")

# size of an argument above which it is named if numbers overflow
_LARGE = 1e9

# sizes of an arm, with which the last axes of arguments agree
ARM_SIZES = ("nq", "nv", "nu", "nj")


def size_text(arm: AnyArm, symbol: str) -> str:
    """Return what a size of an arm counts."""
    motors = arm.motor_slice.stop - arm.nj
    modes = arm.nv - arm.motor_slice.stop
    motors_text = f"{motors} motors, " if motors else ""
    coordinates = "; see arm.coordinate_names"
    if symbol == "nq" and arm.nq != arm.nv:
        return (
            f"{arm.nq} positions ({arm.motor_position_slice.start} of joints, with "
            f"quaternions, {motors_text}{modes} modes); see arm.position_names"
        )
    if symbol == "nu":
        return f"{arm.nu} (one force per {'joint' if arm.nu == arm.nj else 'actuator'})"
    if symbol == "nj":
        return f"{arm.nj} (one for each joint)"
    return (
        f"{arm.nv} coordinates ({arm.nj} joints, {motors_text}{modes} modes)"
        f"{coordinates}"
    )


def expected(arm: AnyArm, name: str) -> dict[int, str]:
    """Valid lengths of the last axis of an argument, each with its description."""
    if name == "wrench":
        return {6: "6 numbers, the moment and the force"}
    if name in ("tau", "dtau"):
        coordinates = "; see arm.coordinate_names"
        joints = size_text(arm, "nu")
        if arm.nv == arm.nu:
            return {arm.nu: joints + coordinates}
        driven = "joints, motors" if arm.motor_slice.stop > arm.nj else "joints"
        both = f"{arm.nv} ({driven} and modes){coordinates}"
        return {arm.nu: joints, arm.nv: both}
    symbol = "nq" if name in POSITIONS else "nv"
    return {getattr(arm, symbol): size_text(arm, symbol)}


def leading(
    arm: AnyArm, arrays: Mapping[str, Array], extra: tuple[Any, ...]
) -> tuple[int, ...]:
    """Return the batch shape of all arguments, or raise if shapes do not fit."""
    for name, array in arrays.items():
        fitting = expected(arm, name)
        if array.ndim == 0 or array.shape[-1] not in fitting:
            given, hint = "is a single number", ""
            if array.ndim:
                given = f"has a last axis of length {array.shape[-1]}"
            elif 1 in fitting:
                hint = f"; put it in brackets, [{array:g}]"
            raise ArgumentError(
                f"{name} {given}, expected {' or '.join(fitting.values())}{hint}"
            )
    if "dtau" in arrays and arrays["dtau"].shape[-1] != arrays["tau"].shape[-1]:
        raise ArgumentError(
            f"dtau has a last axis of length {arrays['dtau'].shape[-1]}, expected "
            f"{arrays['tau'].shape[-1]}, that of tau"
        )
    shapes = {name: array.shape[:-1] for name, array in arrays.items()}
    if extra:
        shapes["node"] = np.shape(extra[0])
    if isinstance(arm, StackLike):
        shapes["stack"] = arm.shape
    return common_batch(shapes)


def check_out(out: object, batch: tuple[int, ...], core: tuple[int, ...]) -> None:
    """Raise if an array cannot store a result."""
    check_class_of_out(out)
    if not isinstance(out, np.ndarray):
        raise ArgumentError(
            f"out is {short_text(out)}, expected an ndarray of shape {batch + core}"
        )
    at = max(out.ndim - len(core), 0)
    try:  # out may have more leading axes than the arguments
        fits = np.broadcast_shapes(batch, out.shape[:at]) == out.shape[:at]
    except (RuntimeError, ValueError):  # of more axes than NumPy broadcasts
        fits = False
    if not fits or out.shape[at:] != core:
        raise ArgumentError(f"out has shape {out.shape}, expected {batch + core}")
    if not out.flags.writeable:
        raise ArgumentError(
            "out is read-only, expected an array that can be written to"
        )
    if not np.can_cast(np.float64, out.dtype, "same_kind"):
        raise ArgumentError(f"out is of type {out.dtype}, expected float64")


def zero_quaternion(arm: ArmLike, name: str, array: Array) -> str:
    """Text of the place of the first quaternion of length zero, or nothing."""
    for k, body in enumerate(arm.bodies):
        if name in POSITIONS and body.joint.has_pose:
            at = arm.body_joint_slice(k, positions=True).start
            zero = np.argwhere(~array[..., at : at + 4].any(axis=-1))
            if len(zero):
                index = [*map(int, zero[0]), f"{at}:{at + 4}"]
                return f"{name}[{', '.join(map(str, index))}]"
    return ""


def massless(arm: AnyArm, M: Array) -> str:
    """Text of the coordinates that move nothing with a mass, by mass matrices."""
    size = np.abs(np.diagonal(M, axis1=-2, axis2=-1)).reshape(-1, arm.nv)
    least = 4.0 * np.finfo(float).eps * size.max(axis=-1, initial=0.0, keepdims=True)
    names = [repr(arm.coordinate_names[i]) for i in np.flatnonzero((size <= least)[0])]
    if not names:
        return ""
    return (
        f"{' and '.join(names)} {'move' if len(names) > 1 else 'moves'} nothing that "
        "has a mass or an inertia about its axis (a thin rod has none about its line); "
        "give it an inertia, or its joint an armature"
    )


def off_line(arm: ArmLike, q: object) -> str:
    """Text of the first slider with a point beyond the ends of its line at q (nq,)."""
    sliders = [c for c in arm._held if hasattr(c, "line")]
    if not sliders:
        return ""
    away = ~np.isfinite(arm.kernels.quiet("constraint_violation")(q))
    names = {arm.constraint_names[i] for i in np.flatnonzero(away)}
    for c in sliders:
        if names.issuperset(f"{c.name}.{d}" for d in c.locked):
            return (
                f"the point of slider {c.name!r} is beyond the ends of its line, "
                f"{c.line!r}"
            )
    return ""


def not_finite(
    arm: ArmLike,
    kernel: str,
    arrays: Mapping[str, Array],
    core: tuple[int, ...],
    again: Callable[[], Array],
    out: Array | None,
) -> FlexarmError:
    """Second look: find the states that failed and a faulty input."""
    # the result once more, unless out has taken the place of an argument
    lost = [
        name
        for name, array in arrays.items()
        if out is not None and np.may_share_memory(array, out)
    ]
    if out is None:
        with np.errstate(all="ignore"):
            result = np.array(again())
    elif lost:  # an argument is overwritten: use the result of the first look
        result = out
    else:
        result = again()
    # states that failed
    axes = tuple(range(result.ndim - len(core), result.ndim))
    bad = ~np.isfinite(result).all(axis=axes)
    result[bad] = np.nan
    count, states = int(bad.sum()), int(bad.size)
    index = tuple(int(i) for i in np.argwhere(bad)[0]) if count and bad.ndim else ()
    where = f"{count} of {states} states" + (
        f", first at index {index}" if index else ""
    )
    where = where if states > 1 else "the state"
    function, formula, *_ = _core.KERNELS.get(kernel, (kernel, ""))  # or no kernel
    failed = f"{function} has no finite result for {where}: "
    rest = "; error.result holds the rest"
    details: dict[str, Any] = {"result": result, "index": index, "count": count}
    if result.ndim == 0:
        details["result"] = result[()]
    # an argument that is to blame
    for key, array in arrays.items():
        wrong = np.argwhere(~np.isfinite(array))
        if len(wrong) and key not in lost:
            at = tuple(int(i) for i in wrong[0])
            spot = f"{key}[{', '.join(map(str, at))}]"
            return NotFiniteError(
                f"{failed}{spot} is {array[at]}, expected finite numbers{rest}",
                **details,
            )
        spot = zero_quaternion(arm, key, array)
        if spot and key not in lost:
            return NotFiniteError(
                f"{failed}{spot} is a quaternion of length zero, expected one that "
                f"names a rotation, such as that of arm.neutral{rest}",
                **details,
            )
    # the model, or numbers that are too large
    why = "numbers overflow"
    sizes = {k: np.abs(a).max(initial=0.0) for k, a in arrays.items() if k not in lost}
    largest = max(sizes, key=sizes.__getitem__, default="")
    if largest and sizes[largest] > _LARGE:
        why = f"{largest} is up to {sizes[largest]:.3g}: numbers overflow"
    if "q" in arrays and "q" not in lost and not isinstance(arm, StackLike) and count:
        q = np.broadcast_to(arrays["q"], (*result.shape[: bad.ndim], arm.nq))
        away = off_line(arm, q[index])
        if away:
            return NotFiniteError(
                f"{failed}{away}, expected one that slides on it; see "
                f"flexarm.close_loops{rest}",
                **details,
            )
    if lost:
        why += f" or {' or '.join(lost)}, overwritten by out, was not finite"
    # kernels that fail where the mass matrix is singular
    if kernel.startswith("forward_dynamics") or re.search(r"M\^-1|det M", formula):
        why = f"the mass matrix is not positive definite there or {why}"
        q = arrays.get("q", np.empty(0))
        if q.size == arm.nq and np.isfinite(q).all() and not isinstance(arm, StackLike):
            light = massless(arm, arm.kernels.quiet("mass_matrix")(q.reshape(-1)))
            why = f"the mass matrix is not positive definite: {light}" if light else why
        return SingularityError(failed + why + rest, **details)
    return NotFiniteError(
        f"{failed}{why}, expected states of ordinary size{rest}", **details
    )


def explain(
    arm: AnyArm,
    kernel: str,
    error: Exception,
    *,
    extra: tuple[object, ...] = (),
    out: Any = None,
    again: Callable[[], Array] | None = None,
    **given: object,
) -> BaseException:
    """Return the exception to raise in place of `error`.

    Parameters
    ----------
    arm : Arm or ArmStack
        The arm of the call.
    kernel : str
        Name of the gufunc that failed.
    error : Exception
        Exception of the gufunc.
    extra : tuple
        Operands in front of the arrays, such as a node number.
    out : ndarray, optional
        Where the result was to be stored.
    again : callable, optional
        Computes the result again without raising; by default the gufunc.
    **given : array_like
        The arguments in order, by name.
    """
    try:
        one = any_of(arm)
        if not isinstance(error, FlexarmError | TypeError | ValueError | OverflowError):
            return error  # not of NumPy or of a kernel, such as MemoryError
        arrays = {name: real_array(name, value) for name, value in given.items()}
        batch = leading(arm, arrays, extra)
        if isinstance(error, ArgumentError):
            return error
        gufunc = arm.kernels.quiet(kernel)
        signature = str(model_of(one).quiet(kernel).signature)
        letters = signature.split("->")[1].strip("()")
        core = tuple(int(n) for n in letters.split(",") if n)
        out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
        if out is not None:
            check_out(out, batch, core)
    except ArgumentError as refusal:
        return refusal
    if not isinstance(error, NotFiniteError):
        return error

    def repeat() -> Array:
        return gufunc(*extra, *arrays.values(), out=out)

    return not_finite(one, kernel, arrays, core, again or repeat, out)
