"""The four forms of a twist and the conversions between them, on arrays of columns.

A conversion turns the angular part between the axes of the body and those of the base,
and computes the linear part from the velocity of the frame's origin in base axes, by
one rotation or one lever (A. Mueller, Multibody System Dynamics 43, 2018, eqs. 47, 54,
55, 58).  No 6 x 6 matrix is formed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._calls.arguments import check_arm, check_numbers, real_array
from .._calls.arm_like import ArmLike, Array
from .._support.checks import POSE_TOLERANCE, first_pose_fault
from .._support.options import check_choice
from ..bodies.maps import cross_matrix
from ..bodies.maps import transpose as _t
from ..errors import ArgumentError

FORMS = ("body", "spatial", "hybrid", "mixed")
_ANGULAR_IN_BASE = ("spatial", "hybrid")


class Columns(NamedTuple):
    """Angular and linear parts of n twists of a frame, (..., 3, n) each."""

    w: Array
    v: Array


class Moving(NamedTuple):
    """Motion of a frame in the base, for rates of conversions."""

    W: Array  # (..., 3, 3) cross matrix of its angular velocity
    speed: Array  # (..., 3, 3) cross matrix of the velocity of its origin


def convert_columns(x: Columns, pose: Array, source: str, target: str) -> Columns:
    """Return columns in another form."""
    return _convert(x, None, None, pose, source, target)[0]


def convert_rates_of_columns(
    x: Columns, rate: Columns, moving: Moving, pose: Array, source: str, target: str
) -> Columns:
    """Return time derivatives of columns `x` in another form."""
    found = _convert(x, rate, moving, pose, source, target)[1]
    assert found is not None
    return found


def _turn(
    R: Array, x: Array, rate: Array | None, moving: Moving | None
) -> tuple[Array, Array | None]:
    """Turn from body to base axes: y = R x, ydot = R xdot + W y."""
    y = R @ x
    if rate is None or moving is None:
        return y, None
    return y, R @ rate + moving.W @ y


def _turn_back(
    R: Array, y: Array, rate: Array | None, moving: Moving | None
) -> tuple[Array, Array | None]:
    """Turn from base to body axes: x = R' y, xdot = R' (ydot - W y)."""
    x = _t(R) @ y
    if rate is None or moving is None:
        return x, None
    return x, _t(R) @ (rate - moving.W @ y)


def _convert(
    x: Columns,
    rate: Columns | None,
    moving: Moving | None,
    pose: Array,
    source: str,
    target: str,
) -> tuple[Columns, Columns | None]:
    if source == target:
        return x, rate
    R, lever = pose[..., :3, :3], pose[..., :3, 3]
    w, v = x
    wdot, vdot = rate or (None, None)

    # angular velocity in the axes of the target, and in those of the base for levers
    in_base = w, wdot
    if source not in _ANGULAR_IN_BASE and (
        target in _ANGULAR_IN_BASE or "spatial" in (source, target)
    ):
        in_base = _turn(R, w, wdot, moving)
    turned = in_base if target in _ANGULAR_IN_BASE else (w, wdot)
    if source in _ANGULAR_IN_BASE and target not in _ANGULAR_IN_BASE:
        turned = _turn_back(R, w, wdot, moving)

    # velocity of the origin of the frame in base axes, and from there to the target
    shift = cross_matrix(lever) if "spatial" in (source, target) else np.zeros((3, 3))
    if source == "body":
        v, vdot = _turn(R, v, vdot, moving)
    elif source == "spatial":
        v, vdot = _move(v, vdot, -shift, in_base, moving, -1.0)
    if target == "body":
        v, vdot = _turn_back(R, v, vdot, moving)
    elif target == "spatial":
        v, vdot = _move(v, vdot, shift, in_base, moving, 1.0)
    rates = None if turned[1] is None or vdot is None else Columns(turned[1], vdot)
    return Columns(turned[0], v), rates


def _move(
    v: Array,
    vdot: Array | None,
    shift: Array,
    angular: tuple[Array, Array | None],
    moving: Moving | None,
    sign: float,
) -> tuple[Array, Array | None]:
    """Move to another reference point: v + r x w, r of the given sign."""
    w, wdot = angular
    if vdot is None or wdot is None or moving is None:
        return v + shift @ w, None
    return v + shift @ w, vdot + shift @ wdot + sign * (moving.speed @ w)


# arrays of users


def check_form(name: str, form: object) -> None:
    """Raise if `form` is not a form of a twist, with the nearest name."""
    check_choice(name, form, FORMS)


def refuse_cut_models(arm: ArmLike, what: str) -> None:
    """Raise for arms whose Jacobians are not derivatives of their poses."""
    check_arm(arm)
    if arm.fidelity != "full" and arm.nv > arm.motor_slice.stop:
        raise ArgumentError(
            f"{what} need Jacobians that are derivatives of the poses, the arm has "
            f"fidelity {arm.fidelity!r}; expected form 'body', or fidelity 'full'"
        )


def check_twists(name: str, V: object, columns: bool) -> Array:
    """Return twists as a float array whose last, or last but one, axis has length 6."""
    array: Array = real_array(name, V)
    axis = -2 if columns else -1
    if array.ndim < -axis or array.shape[axis] != 6:
        wanted = "(..., 6, n), twists in columns" if columns else "(..., 6)"
        hint = ""
        if not columns and array.ndim > 1 and array.shape[-2] == 6:
            hint = "; pass columns=True for Jacobians"
        raise ArgumentError(f"{name} has shape {array.shape}, expected {wanted}{hint}")
    return array.astype(np.float64, copy=False)


def check_poses(name: str, poses: object) -> Array:
    """Return homogeneous matrices as a float array (..., 4, 4), or raise."""
    array: Array = real_array(name, poses)
    if array.ndim < 2 or array.shape[-2:] != (4, 4):
        raise ArgumentError(
            f"{name} has shape {array.shape}, expected (..., 4, 4) homogeneous matrices"
        )
    x, y, z = (array[..., :3, i] for i in range(3))
    with np.errstate(all="ignore"):
        last_row = np.abs(array[..., 3, :] - (0.0, 0.0, 0.0, 1.0))
        off = np.abs(_t(array[..., :3, :3]) @ array[..., :3, :3] - np.eye(3))
        volume = (cross_matrix(x) @ y[..., np.newaxis])[..., 0] * z
        # reductions of everything at once: NumPy is slow on short axes
        if (
            max(last_row.max(initial=0.0), off.max(initial=0.0)) <= POSE_TOLERANCE
            and volume.sum(axis=-1).min(initial=1.0) > 0.0
            and np.isfinite(array[..., :3, 3]).all()
        ):
            return array
    check_numbers(name, array)
    raise ArgumentError(first_pose_fault(name, array))


def split(V: Array, columns: bool) -> Columns:
    """Angular and linear parts as columns."""
    X = V if columns else V[..., np.newaxis]
    return Columns(X[..., :3, :], X[..., 3:, :])


def join(x: Columns, columns: bool) -> Array:
    """Join the parts of `split` in a new array."""
    w, v = np.broadcast_arrays(*x)
    whole = np.concatenate([w, v], axis=-2)
    return whole if columns else whole[..., 0]


def motion_of(twist: Columns, pose: Array, form: str) -> Moving:
    """Motion of a frame from its twist, one column, in any form."""
    w, v = convert_columns(twist, pose, form, "hybrid")
    return Moving(cross_matrix(w[..., 0]), cross_matrix(v[..., 0]))
