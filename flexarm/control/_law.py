"""What the control laws share: checks of gains and set points, actuator coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._calls.arguments import check_arm, check_numbers, real_array
from ..errors import ArgumentError

if TYPE_CHECKING:
    from ..arm import Arm

Array = NDArray[np.float64]


def refuse_poses(arm: Arm, what: str) -> None:
    """Refuse what is no arm, and joints whose positions cannot be subtracted."""
    check_arm(arm)
    if arm.nq != arm.nv:
        raise ArgumentError(
            f"{what} subtracts joint positions, but the arm has joints with "
            "quaternions; expected one position per velocity, use a torque function "
            "of fa.difference"
        )


def refuse_constraints(arm: Arm, what: str) -> None:
    """Refuse an arm whose coordinates are not independent."""
    if arm.constraints:
        raise ArgumentError(
            f"the arm of {what} has couplings, expected one without constraints"
        )


def rows(name: str, value: Any, width: int, unit: str) -> Array:
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


def gains(name: str, value: Any, width: int, unit: str = "one for each joint") -> Array:
    """Like `rows`, and none is negative."""
    array = rows(name, value, width, unit)
    wrong = np.argwhere(array < 0.0)
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        raise ArgumentError(
            f"{name}[{', '.join(map(str, at))}] is {array[at]:g}, expected zero or more"
        )
    return array


def told(array: Array) -> str:
    """Array on one line of a sentence, the first entries of a long one."""
    text = " ".join(str(array).split())
    return text if len(text) < 60 else text[:57] + "..."


def with_joints(arm: Arm, joints: Array) -> Array:
    """Positions (..., nq) with these joints, and zero motors and modes."""
    rest = np.zeros((*joints.shape[:-1], arm.nq - arm.nu))
    return np.concatenate([joints, rest], axis=-1)


def known(q: Array, neutral: Array) -> Array:
    """Positions (..., nq), neutral ones where a loop is lost and has NaN."""
    return np.where(np.isfinite(q).all(axis=-1, keepdims=True), q, neutral)


def solve(matrix: Array, right: Array) -> Array:
    """Solutions (..., n) of a stack of systems, right sides (..., n)."""
    return np.asarray(np.linalg.solve(matrix, right[..., np.newaxis])[..., 0])


def times(matrix: Array, x: Any) -> Array:
    """Products (..., p) of matrices (..., p, n) and vectors (..., n)."""
    return np.asarray((matrix @ np.asarray(x)[..., np.newaxis])[..., 0])


def companion(M: Array, K: Array, D: Array) -> Array:
    r"""Matrix A (..., 2 n, 2 n) of :math:`M \ddot x + D \dot x + K x = 0`."""
    n = M.shape[-1]
    A = np.zeros((*M.shape[:-2], 2 * n, 2 * n))
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :n] = -np.linalg.solve(M, K)
    A[..., n:, n:] = -np.linalg.solve(M, D)
    return A


def closed_poles(A: Array) -> NDArray[np.complex128]:
    """Eigenvalues (..., n) as complex numbers."""
    return np.asarray(np.linalg.eigvals(A), dtype=np.complex128)


def symmetric(matrix: Array) -> Array:
    """Symmetric part."""
    return np.asarray(0.5 * (matrix + np.swapaxes(matrix, -1, -2)))
