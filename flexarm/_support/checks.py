"""Checks of descriptions: each message says what was given, expected and to do."""

from __future__ import annotations

import dataclasses
import math
import operator
import reprlib
import types
from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import LIE_TOLERANCE, finite_copy
from ..errors import ModelError
from .arrays import (
    AnyArray,
    Array,
    Unsuitable,
    as_floats,
    is_whole,
    kind_of,
    plain_array,
)

T = TypeVar("T")

# Errors of poses and rotations.  Arguments of functions may be measured or of single
# precision; the error of a constant of a model is in all results.
POSE_TOLERANCE = LIE_TOLERANCE
# Error of a constant of a model that is a rotation or pose.
MODEL_TOLERANCE = 1e-9
# Sizes of physical numbers, the least and the largest: products of five of them are far
# from over- and underflow.
_UNTURNED: Array = np.eye(3)
_UNTURNED.flags.writeable = False
MIN_MAGNITUDE, MAX_MAGNITUDE = 1e-60, 1e60


class _Bounded(reprlib.Repr):
    """Short `repr` of anything, in a time that does not grow with its size."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxarray = self.maxdeque = 20
        self.maxset = self.maxfrozenset = self.maxdict = 20
        self.maxstring = self.maxlong = self.maxother = 200

    def repr1(self, x: object, level: int) -> str:
        try:
            return super().repr1(x, level)
        except Exception:  # of the object itself
            return f"an object of type {kind_of(x)}"

    def repr_int(self, x: int, level: int) -> str:
        n = x.bit_length()
        return repr(x) if n < 1000 else f"an integer of {n} bits"

    def repr_bytes(self, x: bytes, level: int) -> str:
        return repr(x[: self.maxstring])

    repr_bytearray = repr_bytes

    def repr_ndarray(self, x: NDArray[np.generic], level: int) -> str:
        if x.size <= 60:
            return repr(x)
        numbers = (x.flat[i] for i in range(3))
        first = ", ".join(self.repr1(each, level - 1)[:20] for each in numbers)
        return f"array([{first}, ...]) of shape {x.shape}"

    def repr_instance(self, x: object, level: int) -> str:
        if isinstance(x, np.ndarray):
            return self.repr_ndarray(x, level)
        if isinstance(x, np.number):
            return str(x)
        return super().repr_instance(x, level)


_repr = _Bounded().repr


def short_text(value: object) -> str:
    """Text of a value in one line, of less than 60 characters.

    Examples
    --------
    >>> short_text("x" * 1000)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    >>> short_text(np.zeros((1000, 1000)))
    'array([0.0, 0.0, 0.0, ...]) of shape (1000, 1000)'
    """
    text = " ".join(_repr(value).split())
    return text if len(text) < 60 else text[:57] + "..."


def described(value: object) -> str:
    """Kind and name of an object that is not kept."""
    kinds = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)
    if isinstance(value, kinds):
        return f"function {value.__qualname__} of {value.__module__}"
    kind = type(value)
    text = f"object of type {kind.__qualname__} of {kind.__module__}"
    if dataclasses.is_dataclass(value):
        parts = [getattr(value, f.name, None) for f in dataclasses.fields(value)]
        made_of = [described(x) for x in parts if isinstance(x, kinds)]
        text += "".join(f" with the {part}" for part in made_of[:1])
    return text


def as_numbers(what: str, value: object) -> Array:
    """Return a new float array; raise for text, complex numbers and ragged lists."""
    try:
        return as_floats(plain_array(value))
    except Unsuitable as fault:
        raise ModelError(f"{what} {fault}") from None
    except OverflowError:
        raise ModelError(
            f"{what} is {short_text(value)}, expected numbers of at most 1.8e308"
        ) from None
    except (TypeError, ValueError):
        raise ModelError(
            f"{what} is {short_text(value)}, expected real numbers"
        ) from None


def as_array(what: str, value: object, shape: tuple[int | None, ...]) -> Array:
    """Return a read-only finite float array of the given shape (None: any length)."""
    copy = finite_copy(value, shape)
    if copy is not None:
        return copy
    array = as_numbers(what, value)
    fits = array.ndim == len(shape) and all(
        n is None or n == m for n, m in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("n" if n is None else str(n) for n in shape)
        raise ModelError(
            f"{what} has shape {array.shape}, expected "
            + (f"({wanted}{',' if len(shape) == 1 else ''})" if shape else "one number")
        )
    if not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))
        where = f" at index {tuple(int(i) for i in bad[0])}" if array.ndim else ""
        raise ModelError(
            f"{what} is {array[tuple(bad[0])]}{where}, expected finite numbers"
        )
    array.flags.writeable = False
    return array


def as_matrix(what: str, value: Any, n: int) -> Any:
    """Return a finite dense array or CSC matrix of the shape (n, n), or raise."""
    from scipy import sparse  # takes too long to import with the package

    if not sparse.issparse(value):
        return as_array(what, value, (n, n))
    if value.shape != (n, n):
        raise ModelError(f"{what} has shape {value.shape}, expected ({n}, {n})")
    matrix = sparse.csc_matrix(value, copy=True)
    matrix.sum_duplicates()
    matrix.data = as_array(f"{what}, entries", matrix.data, (None,))
    return matrix


def as_vector(what: str, value: object, such_as: tuple[float, ...]) -> Array:
    """Return a read-only vector of three numbers; error messages show an example."""
    try:
        return as_array(what, value, (3,))
    except ModelError as error:
        shown = ", ".join(f"{x:g}" for x in such_as)
        raise ModelError(f"{error}, such as ({shown})") from None


def listed(names: Sequence[str], show: Callable[[str], str] = repr) -> str:
    """Join names, in quotes or as `show` prints them; of many the first eight."""
    first = ", ".join(map(show, names[:8]))
    return first if len(names) <= 8 else f"{first}, ... ({len(names)} in all)"


def whole_number(
    what: str, value: object, minimum: int | None = None, maximum: int | None = None
) -> int:
    """Return a whole number within bounds, or raise; True and False are none."""
    try:
        if isinstance(value, bool) or not isinstance(value, SupportsIndex):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise ModelError(
            f"{what} is {short_text(value)}, expected a whole number"
        ) from None
    if minimum is not None and number < minimum:
        wanted = {0: "zero or more"}.get(minimum, f"at least {minimum}")
        raise ModelError(f"{what} is {short_text(number)}, expected {wanted}")
    if maximum is not None and number > maximum:
        raise ModelError(f"{what} is {short_text(number)}, expected at most {maximum}")
    return number


def as_generator(
    what: str, value: object, kind: type[Exception] = ModelError
) -> np.random.Generator:
    """Return a generator of random numbers; without generator or seed a fresh one."""
    if isinstance(value, np.random.Generator):
        return value
    if value is None or (is_whole(value) and value >= 0):
        return np.random.default_rng(value)
    raise kind(
        f"{what} is {short_text(value)}, expected a numpy.random.Generator or a seed, "
        "0 or more"
    )


def check_angles(what: str, angles: Array) -> None:
    """Raise if angles exceed two turns: they are probably in degrees."""
    largest = float(np.abs(angles).max(initial=0.0))
    if largest > 4.0 * np.pi:
        raise ModelError(
            f"{what} has an angle of {largest:g}, expected radians, at most two turns; "
            "np.radians converts degrees"
        )


def rotation_fault(R: Array, tolerance: float = POSE_TOLERANCE) -> str:
    """Describe why a finite matrix is not a rotation; empty if it is one."""
    with np.errstate(over="ignore", invalid="ignore"):
        off = float(np.abs(R.T @ R - np.eye(3)).max())
        det = float(np.linalg.det(R))
    if off <= tolerance and det > 0.0:
        return ""
    return (
        f"not a rotation: max |R'R - I| is {off:.2g} and the determinant {det:.6g}, "
        f"expected at most {tolerance:.0e} and 1; se3.nearest_rotation gives a rotation"
    )


def pose_fault(C: Array, tolerance: float = POSE_TOLERANCE) -> str:
    """Describe why a finite matrix is not a pose; empty if it is one."""
    if np.abs(C[3] - (0.0, 0.0, 0.0, 1.0)).max() > tolerance:
        row = ", ".join(f"{x:g}" for x in C[3])
        return f"not a pose: its last row is ({row}), expected (0, 0, 0, 1)"
    return rotation_fault(C[:3, :3], tolerance)


def first_pose_fault(name: str, poses: Array) -> str:
    """Describe the first of the finite matrices (..., 4, 4) that is not a pose."""
    finite = np.isfinite(poses).all(axis=(-2, -1), keepdims=True)
    C = np.where(finite, poses, np.eye(4))
    R = C[..., :3, :3]
    row = np.abs(C[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(axis=-1)
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.abs(R.swapaxes(-1, -2) @ R - np.eye(3)).max(axis=(-2, -1))
        fine = (np.maximum(row, off) <= POSE_TOLERANCE) & (np.linalg.det(R) > 0.0)
    bad = np.argwhere(~fine)
    if not len(bad):
        return ""
    at = tuple(int(i) for i in bad[0])
    where = f"{name}[{', '.join(map(str, at))}]" if at else name
    return f"{where} is {pose_fault(C[at])}"


def check_rotation(what: str, matrix: Array) -> None:
    """Refuse a constant of a model that is not a rotation."""
    fault = rotation_fault(matrix, MODEL_TOLERANCE)
    if fault:
        raise ModelError(f"{what} is {fault}")


def unturned() -> Array:
    """Return the rotation that turns nothing, one array for all."""
    return _UNTURNED


def model_rotation(what: str, value: object) -> Array:
    """Return a read-only rotation of a model, or raise."""
    matrix = as_array(what, value, (3, 3))
    check_rotation(what, matrix)
    return matrix


def inertia_matrix(what: str, value: object) -> Array:
    """Return the 3 x 3 matrix of a diagonal, of six entries or of a matrix."""
    whole = finite_copy(value, (3, 3))
    if whole is not None:
        return whole
    array = as_numbers(what, value)
    if array.shape == (3,):
        array = np.diag(array)
    elif array.shape == (6,):
        xx, xy, xz, yy, yz, zz = array
        array = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if array.shape != (3, 3):
        raise ModelError(
            f"{what} has shape {array.shape}, expected (3, 3), the diagonal (3,), or "
            "(6,) for xx, xy, xz, yy, yz, zz"
        )
    return as_array(what, array, (3, 3))


def check_square(what: str, value: object, n: int) -> Array:
    """Return an (n, n) symmetric matrix without negative eigenvalues."""
    if value is None:
        nothing: Array = np.zeros((n, n))
        nothing.flags.writeable = False
        return nothing
    array = finite_copy(value, (n, n))
    if array is None:
        given = as_numbers(what, value)
        if given.shape == (n,):
            given = np.diag(given)
        if given.size == 0 and n == 0:
            given = np.zeros((0, 0))
        array = as_array(what, given, (n, n))
    if n == 0 or not np.count_nonzero(array):
        return array
    scale = float(np.abs(array).max())
    off = np.abs(array - array.T)
    if float(off.max()) > 1e-9 * scale:
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(off)), off.shape))
        raise ModelError(
            f"{what} is not symmetric: entries ({i}, {j}) and ({j}, {i}) are "
            f"{array[i, j]:g} and {array[j, i]:g}, expected equal ones"
        )
    lowest = float(np.linalg.eigvalsh(array)[0])
    if lowest < -1e-9 * scale:
        raise ModelError(
            f"{what} has the negative eigenvalue {lowest:.3g}, expected none"
        )
    return array


def possible_inertias(mass: Array, com: Array, about_origin: Array) -> AnyArray:
    """Flags of bodies (n,) that `check_inertia` accepts, with half of its tolerances.

    Arrays have the shapes (n,), (n, 3) and (n, 3, 3).
    """
    scale = np.abs(about_origin).max(axis=(1, 2), initial=0.0)
    sizes = (mass == 0.0) | ((mass >= MIN_MAGNITUDE) & (mass <= MAX_MAGNITUDE))
    sizes &= (scale <= MAX_MAGNITUDE) & (
        np.abs(com).max(axis=1, initial=0.0) <= MAX_MAGNITUDE
    )
    # numbers without sense are not looked at further
    mass, com = np.where(sizes, mass, 0.0), np.where(sizes[:, np.newaxis], com, 0.0)
    inertia = np.where(sizes[:, np.newaxis, np.newaxis], about_origin, 0.0)
    square = (com * com).sum(axis=1)[:, np.newaxis, np.newaxis] * np.eye(3)
    products = com[:, :, np.newaxis] * com[:, np.newaxis, :]
    about_com = inertia - mass[:, np.newaxis, np.newaxis] * (square - products)
    skew = np.abs(about_com - about_com.transpose(0, 2, 1)).max(axis=(1, 2), initial=0)
    a, b, c = np.linalg.eigvalsh(about_com).T
    small = 0.5e-9 * scale
    return np.asarray(sizes & (skew <= small) & (a >= -small) & (a + b >= c - small))


def check_inertia(who: str, mass: float, com: Array, about_origin: Array) -> None:
    """Raise if no distribution of mass has this mass, centre of mass and inertia."""
    if mass < 0.0:
        raise ModelError(f"{who} has the mass {mass:g} kg, expected zero or more")
    if mass > MAX_MAGNITUDE or 0.0 < mass < MIN_MAGNITUDE:
        raise ModelError(
            f"{who} has the mass {mass:g} kg, expected zero or "
            f"{MIN_MAGNITUDE:g} to {MAX_MAGNITUDE:g}"
        )
    sizes = list(map(abs, about_origin.ravel().tolist()))
    away, scale = max(map(abs, com.tolist())), max(sizes)
    if not away <= MAX_MAGNITUDE:
        raise ModelError(
            f"{who} has its centre of mass {away:g} m away, expected at most "
            f"{MAX_MAGNITUDE:g}"
        )
    if not all(size <= MAX_MAGNITUDE for size in sizes):  # neither infinite nor NaN
        raise ModelError(
            f"{who} has a moment of inertia of {scale:g} kg m^2 about its frame, "
            f"expected at most {MAX_MAGNITUDE:g}"
        )
    about_com = about_origin
    if away:
        about_com = about_origin - mass * (
            float(com @ com) * np.eye(3) - np.outer(com, com)
        )
    xx, xy, xz, yx, yy, yz, zx, zy, zz = about_com.ravel().tolist()
    if max(abs(xy - yx), abs(xz - zx), abs(yz - zy)) > 1e-9 * scale:
        raise ModelError(
            f"{who} has an inertia that is not symmetric, expected a symmetric one"
        )
    if xy == xz == yx == yz == zx == zy == 0.0:
        a, b, c = sorted((xx, yy, zz))
    else:
        a, b, c = np.linalg.eigvalsh(about_com)
    if a < -1e-9 * scale:
        raise ModelError(
            f"{who} has the negative moment of inertia {a:.3g} kg m^2 about its centre "
            "of mass, expected none; an inertia about another point must be shifted"
        )
    if a + b < c - 1e-9 * scale:
        raise ModelError(
            f"{who} has the principal moments of inertia {a:.4g}, {b:.4g}, {c:.4g} "
            "kg m^2 about its centre of mass, expected none above the sum of the other "
            "two; an inertia about another point must be shifted"
        )


def in_range(what: str, number: T, unit: str) -> T:
    """Return numbers, each zero or of a size whose powers neither over- nor underflow.

    Parameters
    ----------
    what, unit : str
        For messages.
    number : float or (...) ndarray of float
        Finite numbers.
    """
    if isinstance(number, float) and (
        number == 0.0 or MIN_MAGNITUDE <= abs(number) <= MAX_MAGNITUDE
    ):
        return number
    if isinstance(number, np.ndarray) and number.size <= 9:
        sizes = map(abs, number.ravel().tolist())
        if all(x == 0.0 or MIN_MAGNITUDE <= x <= MAX_MAGNITUDE for x in sizes):
            return number
    size = np.abs(np.asarray(number)).ravel()
    wrong = (size > MAX_MAGNITUDE) | ((size < MIN_MAGNITUDE) & (size > 0.0))
    if wrong.any():
        raise ModelError(
            f"{what} is {np.asarray(number).ravel()[int(np.argmax(wrong))]:g} {unit}, "
            f"expected {MIN_MAGNITUDE:g} to {MAX_MAGNITUDE:g} in size; check the units"
        )
    return number


def finite(what: str, value: object) -> float:
    """Return a finite number, or raise."""
    if type(value) is float and math.isfinite(value):
        return value
    return float(as_array(what, value, ()))


def real(what: str, value: object, unit: str) -> float:
    """Return a number of any sign, or raise."""
    return in_range(what, finite(what, value), unit)


def not_negative(what: str, value: object, unit: str) -> float:
    """Return a number of zero or more, or raise with its unit in the message."""
    number = finite(what, value)
    if number < 0.0:
        raise ModelError(f"{what} is {number:g} {unit}, expected zero or more")
    return in_range(what, number, unit)


def positive(what: str, value: object, unit: str) -> float:
    """Return a number above zero, or raise with its unit in the message."""
    number = finite(what, value)
    if not number > 0.0:
        size = f"{number:g} {unit}".rstrip()
        raise ModelError(f"{what} is {size}, expected more than zero")
    return in_range(what, number, unit)


def positive_pair(
    what: str, value: object, unit: str, *, infinite: bool = False
) -> Array:
    """Return two read-only numbers above zero, from two or one, finite or not."""
    both = as_numbers(what, value)
    if both.ndim == 0:
        both = np.full(2, both)
    rigid = np.isposinf(both) if infinite else np.zeros(both.shape, dtype=bool)
    for number in as_array(what, np.where(rigid, 1.0, both), (2,)):
        positive(what, number, unit)
    both.flags.writeable = False
    return both


def flag(what: str, value: object) -> bool:
    """Return True or False, or raise."""
    if not isinstance(value, bool | np.bool_):
        raise ModelError(f"{what} is {short_text(value)}, expected True or False")
    return bool(value)
