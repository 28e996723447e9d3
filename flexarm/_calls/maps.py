"""Error messages of the maps of rotations, poses and screws.

Runs on the failing path only, as `_calls.explain` does for arms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _core
from .._core import LIE_ROUNDING, LIE_TOLERANCE
from .._support.arrays import Array
from .._support.checks import pose_fault, rotation_fault
from ..errors import ArgumentError, FlexarmError, NotFiniteError
from .arguments import common_batch, real_array, shaped
from .explain import check_out


def core_arrays(**given: tuple[object, tuple[int, ...]]) -> list[Array]:
    """Return arrays `shaped` to a core each, whose leading axes broadcast."""
    arrays = {name: shaped(name, x, *core) for name, (x, core) in given.items()}
    batches = {k: x.shape[: x.ndim - len(given[k][1])] for k, x in arrays.items()}
    common_batch(batches)
    return list(arrays.values())


def _cores(name: str) -> list[tuple[int, ...]]:
    """Core shapes of the inputs and of the output of a map."""
    signature = str(getattr(_core, name).signature).replace("->", ",")
    parts = signature.strip("()").split("),(")
    return [tuple(int(n) for n in part.split(",") if n) for part in parts]


def _batch(
    arrays: Mapping[str, Array], cores: list[tuple[int, ...]]
) -> tuple[int, ...]:
    """Return the batch shape of all arguments, or raise if shapes do not fit."""
    shapes = {}
    for (key, array), core in zip(arrays.items(), cores, strict=False):
        at = array.ndim - len(core)
        if at < 0 or array.shape[at:] != core:
            wanted = ", ".join(["...", *map(str, core)])
            raise ArgumentError(
                f"{key} has shape {array.shape}, expected ({wanted})"
                + _hint(array.shape, core)
            )
        shapes[key] = array.shape[:at]
    return common_batch(shapes)


def _hint(shape: tuple[int, ...], core: tuple[int, ...]) -> str:
    """Hint at the function that makes the expected shape of the given one."""
    hints = {
        ((3, 3), (4, 4)): "; se3.pose makes a pose of a rotation and a position",
        ((4, 4), (3, 3)): "; the rotation of a pose is its upper left 3 x 3 block",
        ((4,), (3, 3)): "; se3.rotation_from_quaternion makes a rotation of it",
        ((3, 3), (3,)): "; se3.so3_log makes a rotation vector of it",
        ((4, 4), (6,)): "; se3.log makes a twist of it",
        ((6,), (4, 4)): "; se3.exp makes a pose of it",
    }
    return hints.get((shape[-len(core) :], core), "") or hints.get(
        (shape[-2:], core), ""
    )


def _place(
    key: str, array: Array, index: tuple[int, ...], core: tuple[int, ...]
) -> str:
    """Name an element of an argument by the index of its state in the batch."""
    own = array.ndim - len(core)
    last = index[len(index) - own :] if own else ()
    used = [i if n > 1 else 0 for i, n in zip(last, array.shape[:own], strict=True)]
    return f"{key}[{', '.join(map(str, used))}]" if used else key


def _hat_fault(S: Array) -> str:
    if len(S) == 4 and np.abs(S[3]).max() > LIE_ROUNDING:
        return "not the matrix of a twist: its last row is not zero"
    off = float(np.abs(S[:3, :3] + S[:3, :3].T).max())
    if off == 0.0:
        return ""  # the kernel adds entries of 1e308
    return f"not skew-symmetric: |S + S'| is {off:.2g}, expected zero"


def _dual_fault(pair: Array) -> str:
    """Text that says what is wrong with a dual rotation or pose, or nothing."""
    real, dual = pair
    fault = rotation_fault(real) if len(real) == 3 else pose_fault(real)
    if fault:
        return f"a pair whose real part is {fault}"
    if len(real) == 4 and np.abs(dual[3]).max() > LIE_ROUNDING:
        return "a pair whose dual part has a last row that is not zero"
    S = dual[:3, :3] @ real[:3, :3].T
    off = float(np.abs(S + S.T).max())
    if off > LIE_TOLERANCE * float(np.abs(S).max()) + LIE_ROUNDING:
        return (
            "a pair whose dual part is not theta~ times the real one: |S + S'| of "
            f"S = dual real' is {off:.2g}, expected zero; screws.dual_rotation and "
            "screws.dual_pose make pairs of rotations and angles"
        )
    return ""


def _fault(name: str, key: str, x: Array) -> str:
    """Text that says what is wrong with one element of an argument, or nothing."""
    if key == "pitch" and not np.isfinite(x):
        wanted = "a finite number, or inf for a translation along the axis"
        return "" if x == np.inf else f"{x}, expected {wanted}"
    if not np.isfinite(x).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(x))[0])
        return f"{x[at]}{f' at {at}' if at else ''}, expected finite numbers"
    if key == "axis" and not x.any():
        return "zero, expected a vector with a direction"
    if x.shape == (4,) and not x.any():
        return "a quaternion of length zero, expected one that names a rotation"
    if name.endswith("vee"):
        return _hat_fault(x)
    if x.shape in ((2, 3, 3), (2, 4, 4)):
        return _dual_fault(x)
    if x.shape == (3, 3):
        return rotation_fault(x)
    return pose_fault(x) if x.shape == (4, 4) else ""


def _why(
    name: str,
    arrays: Mapping[str, Array],
    batch: tuple[int, ...],
    index: tuple[int, ...],
) -> str:
    """Say why the state at an index of the batch failed."""
    for (key, array), core in zip(arrays.items(), _cores(name), strict=False):
        fault = _fault(name, key, np.broadcast_to(array, batch + core)[index])
        if fault:
            return f"{_place(key, array, index, core)} is {fault}"
    if name.endswith("cayley_inverse"):
        return "a half turn has no Cayley vector, expected a smaller angle; use log"
    return "numbers overflow, expected ones of ordinary size"


def explain(
    name: str, error: Exception, *, out: Any = None, **given: object
) -> BaseException:
    """Return the exception to raise in place of that of a map.

    Parameters
    ----------
    name : str
        Name of the map in ``_core``.
    error : Exception
        Exception of the map.
    out : ndarray, optional
        Where the result was to be stored.
    **given : array_like
        The arguments in order, by name.
    """
    if not isinstance(error, FlexarmError | TypeError | ValueError | OverflowError):
        return error  # not of NumPy or of a kernel, such as MemoryError
    cores = _cores(name)
    try:
        arrays = {key: real_array(key, value) for key, value in given.items()}
        batch = _batch(arrays, cores)
        if out is not None:
            check_out(out, batch, cores[-1])
    except ArgumentError as refusal:
        return refusal
    if not isinstance(error, NotFiniteError):
        return error
    lost = out is not None and any(
        np.may_share_memory(array, out) for array in arrays.values()
    )
    result = out if lost else _core.quiet_map(name)(*arrays.values(), out)
    return not_finite(name, arrays, result, len(cores[-1]), lost)


def not_finite(
    name: str, arrays: Mapping[str, Array], result: Array, n_core: int, lost: bool
) -> NotFiniteError:
    """Second look: find the states that failed and the faulty argument."""
    axes = tuple(range(result.ndim - n_core, result.ndim))
    bad = ~np.isfinite(result).all(axis=axes)
    count, states = int(bad.sum()), int(bad.size)
    index = tuple(int(i) for i in np.argwhere(bad)[0]) if count and bad.ndim else ()
    where = f"{count} of {states} states, first at index {index}"
    why = "an argument, overwritten by out, is to blame"
    if not lost:
        why = _why(name, arrays, bad.shape, index)
    # one function has the kernels of both sides
    function = re.sub(r"^(se3_|se3_so3_)(left|right)_", r"\1", name).replace(
        "_", ".", 1
    )
    return NotFiniteError(
        f"{function} has no finite result for "
        f"{where if states > 1 else 'its argument'}: {why}",
        result=result,
        index=index,
        count=count,
    )
