"""Plain arrays and numbers of what users have: lists, data frames, masked arrays.

NumPy's conversion with what it loses silently refused: masks, units, imaginary
parts.  Types of arrays of all modules.
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from .._core import is_plain

# what most modules compute with
Array = NDArray[np.float64]
AnyArray = NDArray[Any]  # float64, or complex128 where a caller differentiates
Complex = NDArray[np.complex128]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]

# Axes at most, those of broadcasting in NumPy.
MAX_AXES = 32
# Numbers in lists of lists at most, more than memory holds.
_MAX_ITEMS = 2**32


class Unsuitable(ValueError):
    """Fault of a value: a sentence that lacks its name in front."""


def plain_array(value: object) -> AnyArray:
    """Return an array of NumPy's own class, without a copy where `value` has one.

    Parameters
    ----------
    value : array_like
        Numbers, lists, and all that has ``__array__``, ``__dlpack__`` or a buffer, in
        lists too.  Lazy arrays are computed.

    Raises
    ------
    Unsuitable
        If the conversion would lose masks or units, or would not end.
    TypeError, ValueError, OverflowError
        If NumPy makes no array of it.
    """
    if is_plain(value):
        return np.asarray(value)
    if isinstance(value, list | tuple):
        return np.asarray(_plain_lists(value, (), {})[0])
    if isinstance(value, np.ma.MaskedArray):
        if np.ma.is_masked(value):
            raise Unsuitable(
                "has masked values, expected numbers only; its method filled() puts "
                "numbers in their place"
            )
        return np.asarray(value.data)
    if has_unit(value):
        raise Unsuitable(
            f"is of type {kind_of(value)}, whose units would be lost, expected plain "
            "numbers in SI units (rad, m, kg, s)"
        )
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.asarray(np.from_dlpack(value))
    try:
        array = np.asarray(value)
    except MemoryError as error:  # that of Python has no text
        text = f"{kind_of(value)} of more numbers than fit into the memory"
        raise MemoryError(str(error) or text) from None
    if array.dtype.kind == "O" and hasattr(value, "to_numpy"):
        # columns of a data frame that could have missing values
        return as_floats(array) if all(map(_is_real, array.flat)) else array
    return array


def has_unit(value: object) -> bool:
    """Whether a value is of a class of quantities with units, such as Pint's."""
    kind = type(value)
    return hasattr(kind, "to") and (hasattr(kind, "units") or hasattr(kind, "unit"))


def _plain_lists(
    value: object, around: tuple[int, ...], done: dict[int, tuple[Any, int]]
) -> tuple[Any, int]:
    """Lists with plain arrays in place of other ones, and the number of their items.

    Parameters
    ----------
    value : object
        A list, a tuple or an item of one.
    around : tuple of int
        Identities of the lists that contain it.
    done : dict
        Results of other lists by identity: one may occur many times.
    """
    if not isinstance(value, list | tuple):
        foreign = isinstance(value, np.ndarray) or any(
            hasattr(value, name) for name in ("__array__", "__dlpack__")
        )
        return (plain_array(value) if foreign and not is_plain(value) else value), 1
    if id(value) in around:
        raise Unsuitable("is a list that contains itself, expected numbers")
    if len(around) == MAX_AXES:
        raise Unsuitable(
            f"has lists in more than {MAX_AXES} lists, expected an array of at most "
            f"{MAX_AXES} axes"
        )
    if id(value) not in done:
        inside = [_plain_lists(x, (*around, id(value)), done) for x in value]
        total = sum(n for _, n in inside)
        if total > _MAX_ITEMS:
            raise Unsuitable(
                f"has {total} numbers in its lists, expected at most {_MAX_ITEMS}"
            )
        done[id(value)] = [x for x, _ in inside], total
    return done[id(value)]


def kind_of(value: object) -> str:
    """Name of the type of a value, shortened."""
    name = "type" if isinstance(value, type) else type(value).__name__
    return name if len(name) < 60 else name[:57] + "..."


def as_floats(array: AnyArray) -> Array:
    """Return a new float64 array; raise TypeError unless all entries are real numbers.

    Numbers of other packages and extended precision are rounded.
    """
    if array.dtype == np.float64:
        return np.array(array)
    kind = array.dtype.kind
    if kind == "O":
        if not all(_is_real(x) for x in array.flat):
            raise TypeError
    elif kind not in "biuf":
        raise TypeError
    with np.errstate(over="ignore"):  # extended precision beyond 1.8e308 is infinite
        return np.array(array, dtype=np.float64)


def _is_real(x: object) -> bool:
    if isinstance(x, Real | Decimal):
        return True
    strange = isinstance(x, str | bytes | complex | np.generic)
    return not strange and hasattr(type(x), "__float__")


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is one whole number; times and booleans are none."""
    strange = isinstance(value, bool | np.timedelta64)  # which are integers in Python
    return isinstance(value, int | np.integer) and not strange


def real_number(value: object) -> float:
    """Return one real number as a float.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If it is not one, too large or masked; text is none.
    """
    if type(value) is float or type(value) is int:
        return float(value)
    array = plain_array(value)
    if array.ndim:
        raise TypeError
    return float(as_floats(array))
