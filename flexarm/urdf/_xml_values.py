"""Numbers, words and places of the elements of a robot description."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.checks import as_array, check_angles
from ..errors import ModelError
from ._xml import MAX_NAME, Element

Array = NDArray[np.float64]

# Size of a number at most, well below overflow.
MAX_NUMBER = 1e50


def _short(text: str) -> str:
    text = repr(" ".join(text.split()))
    return text if len(text) < 60 else text[:57] + "..."


def numbers(element: Element, key: str, who: str, default: object, n: int = 1) -> Any:
    """Numbers of an attribute: n of them as an array, one as a float."""
    text = element.attributes.get(key)
    wanted = "expected one number" if n == 1 else f"expected {n} numbers"
    where = f"{key} of <{element.tag}> of {who}, in line {element.line},"
    if text is None:
        if default is None:
            raise ModelError(f"{where} is missing, {wanted}")
        return default
    try:
        values = [float(x) for x in text.split()]
        if "_" in text or len(values) != n:
            raise ValueError
    except ValueError:
        raise ModelError(f"{where} is {_short(text)}, {wanted}") from None
    large = [x for x in values if MAX_NUMBER < abs(x) < np.inf]
    if large:
        raise ModelError(f"{where} is {large[0]:g}, expected SI units")
    return values[0] if n == 1 else as_array(where.rstrip(","), values, (n,))


def word(element: Element, key: str, who: str) -> str:
    text = element.attributes.get(key, "").strip()
    if not text:
        raise ModelError(
            f"{key} of <{element.tag}> of {who}, in line {element.line}, is missing"
        )
    if len(text) > MAX_NAME:
        raise ModelError(
            f"{key} of <{element.tag}> in line {element.line} has {len(text)} letters, "
            f"expected at most {MAX_NAME}"
        )
    return text


def finite(value: float, what: str) -> float:
    return float(as_array(what, value, ()))


def rotation_of(rpy: Array) -> Array:
    """Rotation by roll, pitch and yaw about fixed axes: R_z R_y R_x."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def origin_of(element: Element, who: str) -> tuple[Array, Array]:
    """Position and rotation of the origin of a joint or an inertial."""
    origin = element.one("origin", who)
    if origin is None:
        return np.zeros(3), np.eye(3)
    position = numbers(origin, "xyz", who, np.zeros(3), 3)
    rpy = numbers(origin, "rpy", who, np.zeros(3), 3)
    check_angles(f"rpy of <origin> of {who}, in line {origin.line},", rpy)
    return position, rotation_of(rpy)
