"""Axes of joints: unit vectors, and screws, on their axis and off it."""

from __future__ import annotations

import numpy as np

from .._support.arrays import Array
from .._support.checks import as_vector
from ..errors import ModelError

# Smallest turn of a screw in rad per m of slide.
MIN_TURN = 1e-9
_NAMES = ("x", "y", "z")


def _within_range(vector: Array) -> Array:
    """Return the vector, or a multiple if its squares would over- or underflow."""
    size = float(np.abs(vector).max())
    return vector if size == 0.0 or 1e-150 < size < 1e150 else vector / size


def unit_screw(what: str, screw: Array) -> Array:
    """Read-only screw (6,) whose angular, or else linear, part has length one."""
    screw = _within_range(screw)
    # without squares, which would underflow for a small part
    turn, slide = (float(np.hypot.reduce(part)) for part in (screw[:3], screw[3:]))
    if turn == 0.0 and slide == 0.0:
        raise ModelError(
            f"{what} is zero, expected an axis to turn about, (e; p x e + h e), or a "
            "direction to slide along, (0; e)"
        )
    if 0.0 < turn < MIN_TURN * slide:
        raise ModelError(
            f"{what} has an angular part of length {turn:.3g} and a linear one of "
            f"{slide:.3g} m, a turn of less than {MIN_TURN:g} rad per m; expected "
            "(0; e) for a joint that slides"
        )
    part = slice(0, 3) if turn else slice(3, 6)
    length = turn or slide
    unit = screw if abs(length - 1.0) < 1e-15 else screw / length
    # the same rounding as that of an axis
    unit = np.array(unit)
    unit[part] = unit_vector(what, screw[part])
    unit.flags.writeable = False
    return unit


def unit_vector(what: str, value: object) -> Array:
    """Read-only unit vector, also by name; one that is unit already keeps its bits."""
    if isinstance(value, str) and value.lstrip("+-").lower() in _NAMES:
        sign = -1.0 if value[0] == "-" else 1.0
        value = [sign if value[-1].lower() == axis else 0.0 for axis in _NAMES]
    given = as_vector(what, value, (0.0, 0.0, 1.0))
    if sorted(map(abs, given.tolist())) == [0.0, 0.0, 1.0]:
        return given
    vector = _within_range(given)
    length = float(np.linalg.norm(vector))
    if not length > 0.0:
        raise ModelError(f"{what} is zero, expected a direction such as (0, 0, 1)")
    unit = vector if abs(length - 1.0) < 1e-15 else vector / length
    unit.flags.writeable = False
    return unit


def on_axis(screw: Array) -> tuple[Array, Array]:
    """Point on the axis closest to the frame, and the screw seen from there, (6,).

    Rounding of the linear part counts as zero, so that axes through the frame and
    screws without pitch become the plain kinds.
    """
    turn, slide = screw[:3], screw[3:]
    if not (np.count_nonzero(turn) and np.count_nonzero(slide)):
        return np.zeros(3), screw
    rounding = 4.0 * np.finfo(float).eps * float(np.linalg.norm(slide))
    point, pitch = np.cross(turn, slide), float(turn @ slide)
    if np.linalg.norm(point) <= rounding:
        return np.zeros(3), screw
    if abs(pitch) <= rounding:
        pitch = 0.0
    return point, np.concatenate([turn, pitch * turn])
