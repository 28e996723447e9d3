r"""Arms with closed loops and sliders at rest: forces of constraints, their tangent.

With the rows A(q) of the constraints and forces :math:`\lambda` on them, an arm at rest
obeys :math:`f(q) - A^T \lambda = 0`, :math:`\phi(q) = 0`.  Small motions lie in the
null space of A, with the tangent of :math:`f - A^T \lambda` at constant
:math:`\lambda`: constraints that turn under load have a stiffness (A. A. Shabana,
*Dynamics of Multibody Systems*, 2013, section 3.5).
"""

from __future__ import annotations

import numpy as np

from .._calls.arguments import any_of
from .._calls.arm_like import AnyArm, Array
from .._support.arrays import Mask
from ..constraints import constraint_violation
from ..errors import ArgumentError
from ..model.loops import Coupling

# Step of differences of rows: the margin of a line beyond its ends (sliding.h) is twice
# as long for a line of a metre; rounding is 1e-9 of a row.
_STEP = 5e-7
# Part of the largest singular value below which one is zero.
_RANK_TOLERANCE = 1e-9
# Violation in m or rad of a posture that counts as closed.
_MAX_VIOLATION = 1e-6


def is_closed(arm: AnyArm) -> bool:
    """Whether an arm has constraints beside couplings, whose rows change with q."""
    return not all(isinstance(c, Coupling) for c in any_of(arm)._held)


def rows_at(arm: AnyArm, q: Array) -> Array:
    """Rows (..., m, nv) of the constraints, zero where a slider has no place."""
    A = np.asarray(arm.kernels.quiet("constraint_jacobian")(q))
    sound = np.isfinite(A).all(axis=(-2, -1), keepdims=True)
    return np.where(sound, A, 0.0)


def open_by(arm: AnyArm, q: Array) -> str:
    """Constraint that postures violate most and by how much; nothing if all close."""
    if not any_of(arm)._held:
        return ""
    off = np.abs(constraint_violation(arm, q))
    if not off.size or not off.max() > _MAX_VIOLATION:
        return ""
    row = int(off.reshape(-1, off.shape[-1]).max(axis=0).argmax())
    return f"the constraint {any_of(arm).constraint_names[row]!r} by {off.max():.3g}"


def check_closed(arm: AnyArm, q: Array) -> None:
    """Raise for postures that violate the constraints."""
    if what := open_by(arm, q):
        raise ArgumentError(
            f"q violates {what}, expected a posture that satisfies all, such as that "
            "of equilibrium or close_loops"
        )


def check_held(arm: AnyArm, q: Array, moves: Mask) -> None:
    """Raise for rows (m,) without a free coordinate that the held ones leave open."""
    off = np.abs(constraint_violation(arm, q)).reshape(-1, len(moves)).max(axis=0)
    off = np.where(moves, 0.0, off)
    if off.size and off.max() > _MAX_VIOLATION:
        name = any_of(arm).constraint_names[int(off.argmax())]
        raise ArgumentError(
            f"the arm has loops, {name!r} is open by {off.max():.3g} and moves with "
            "held coordinates alone, expected a closed one, see close_loops, or fewer "
            "held coordinates"
        )


def forces_of_rows(A: Array, f: Array, free: Mask) -> Array:
    """Forces (..., m) on the rows that balance f (..., nv) on free coordinates."""
    sides = np.linalg.pinv(A[..., free], rcond=_RANK_TOLERANCE)
    return np.asarray((f[..., np.newaxis, free] @ sides)[..., 0, :])


def stiffness_of_rows(arm: AnyArm, q: Array, forces: Array) -> Array:
    """Derivative (..., nv, nv) of ``A' forces`` along the velocities."""
    h = _STEP * np.eye(arm.nv)
    move = arm.kernels.quiet("integrate")
    ahead, behind = (
        rows_at(arm, move(q[..., np.newaxis, :], sign * h)) for sign in (1.0, -1.0)
    )
    # where a slider has no place on one side, the rows there are zero: no stiffness
    both = ahead.any(axis=(-2, -1)) & behind.any(axis=(-2, -1))
    weight = np.asarray(both / (2.0 * _STEP))[..., np.newaxis, np.newaxis]
    turned = (ahead - behind) * weight
    return np.asarray(np.einsum("...m,...imj->...ji", forces, turned))


def null_space(A: Array) -> Array:
    """Orthonormal columns (..., n, k) with A x = 0, of matrices of one rank."""
    _, values, right = np.linalg.svd(A)
    rank = (values > _RANK_TOLERANCE * values[..., :1]).sum(axis=-1)
    some = rank[values[..., 0] > 0.0] if rank.ndim else rank
    if some.size and some.min() < some.max():
        raise ArgumentError(
            "the constraints of the arm leave different numbers of motions free in "
            "different postures, expected the same; compute the postures one by one"
        )
    k = int(some.max()) if some.size else 0
    return np.asarray(np.swapaxes(right[..., k:, :], -1, -2))
