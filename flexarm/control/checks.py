"""Checks of what control laws and loops take and functions of the user return."""

from __future__ import annotations

import numpy as np

from .._calls.arguments import check_arm, check_numbers, common_batch, real_array
from .._support.arrays import Array, Mask
from ..arm import Arm
from ..errors import ArgumentError


def refuse_poses(arm: Arm, what: str) -> None:
    """Refuse all but an arm whose joint positions can be subtracted."""
    check_arm(arm)
    if arm.nq != arm.nv:
        raise ArgumentError(
            f"{what} subtracts joint positions, but the arm has joints with "
            "quaternions; expected one position per velocity, use a torque function "
            "of fa.difference"
        )


def refuse_constraints(arm: Arm, what: str) -> None:
    """Refuse an arm whose coordinates are not independent."""
    if arm._held:
        raise ArgumentError(
            f"the arm of {what} has couplings, which tie coordinates that it takes as "
            "independent; expected none, and elastic shafts for rigid gears"
        )


def rows(name: str, value: object, width: int, unit: str) -> Array:
    """Read-only (..., width) array of finite numbers; one number stands for all."""
    array = np.array(real_array(name, value))
    if array.ndim == 0:
        array = np.full(width, float(array))
    if array.shape[-1] != width:
        raise ArgumentError(
            f"{name} has shape {array.shape}, expected a last axis of {width}, {unit}"
        )
    check_numbers(name, array)
    array.flags.writeable = False
    return array


def gains(
    name: str, value: object, width: int, unit: str = "one for each joint"
) -> Array:
    """Read-only array as of `rows`, of numbers of zero or more."""
    array = rows(name, value, width, unit)
    wrong = np.argwhere(array < 0.0)
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        raise ArgumentError(
            f"{name}[{', '.join(map(str, at))}] is {array[at]:g}, expected zero or more"
        )
    return array


def one_line(array: Array) -> str:
    """Text of an array on one line; of a long one the first entries."""
    text = " ".join(str(array).split())
    return text if len(text) < 60 else text[:57] + "..."


def check_rows(
    what: str, value: object, batch: tuple[int, ...], width: int, unit: str
) -> Array:
    """Return a new array (*batch, width), or refuse the shape in words."""
    array = real_array(what, value)
    if array.shape == (*batch, width):
        return np.array(array)
    try:
        if array.ndim == 0 or array.shape[-1] != width:
            raise ValueError
        return np.array(np.broadcast_to(array, (*batch, width)))
    except ValueError:
        raise ArgumentError(
            f"{what} has shape {array.shape}, expected {(*batch, width)}, {unit}"
        ) from None


def limit_pair(name: str, value: object, n: int, each: str, unit: str) -> Array:
    """Smallest and largest values (2, n): one number, (n,) for both, or (2, n)."""
    given = real_array(name, value)
    if given.shape in ((), (n,)):
        return np.array([-given * np.ones(n), given * np.ones(n)])
    if given.shape == (2, n):
        return np.array(given)
    raise ArgumentError(
        f"{name} has shape {given.shape}, expected one number, ({n},),{each} or "
        f"(2, {n}), smallest and largest {unit}"
    )


def check_finite(what: str, rows: Array, alive: Mask | np.bool_ | bool) -> None:
    """Refuse rows that are not finite where the state `alive` is."""
    if np.isfinite(rows).all():
        return
    bad = np.argwhere(alive & ~np.isfinite(rows).all(-1))
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        which = f" for the state at index {index}" if index else ""
        raise ArgumentError(f"{what} is {rows[index]}{which}, expected finite numbers")


def check_callable(what: str, value: object, signature: str) -> None:
    """Refuse an object that is not callable; None stands for the default."""
    if value is not None and not callable(value):
        raise ArgumentError(
            f"{what} is {type(value).__name__}, expected a function {signature}"
        )


def start_state(arm: Arm, q0: object, qd0: object) -> tuple[Array, Array]:
    """Initial state with the batch axes of both, or a refusal."""
    q, qd = real_array("q0", q0), real_array("qd0", qd0)
    batch = common_batch({"q0": q.shape[:-1], "qd0": qd.shape[:-1]})
    q = check_rows("q0", q, batch, arm.nq, "positions; see arm.position_names")
    qd = check_rows("qd0", qd, batch, arm.nv, "velocities; see arm.coordinate_names")
    for name, array in (("q0", q), ("qd0", qd)):
        check_finite(name, array, True)
    return q, qd
