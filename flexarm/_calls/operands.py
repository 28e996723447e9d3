"""Operands of gufuncs that are not arrays of NumPy's own class, before a call.

C calls `converted` (csrc/python/py_plain.c) for all but arrays, numbers and lists of
these: masks are not lost, and results of data frames and matrices are plain arrays.
"""

from __future__ import annotations

import numpy as np

from .. import _core
from .._support.arrays import Unsuitable, has_unit, kind_of, plain_array
from ..errors import ArgumentError


def operand_names(gufunc: _core.Gufunc) -> list[str]:
    """Names of the inputs of a gufunc, from the last line of its docstring."""
    line = str(gufunc.__doc__).strip().splitlines()[-1]
    return [name.strip() for name in line.partition(" -> ")[0].split(",")]


def check_class_of_out(out: object) -> None:
    """Raise for an array for results that is not one of NumPy, or has a mask."""
    foreign = hasattr(out, "__array__") and not isinstance(out, np.ndarray)
    if foreign or isinstance(out, np.ma.MaskedArray | np.matrix):
        raise ArgumentError(
            f"out is of type {kind_of(out)}, expected an ndarray, such as np.asarray "
            "makes, which may share its memory"
        )


def plain_operand(name: str, value: object) -> object:
    """Return an operand as a plain array, or raise with its name.

    NumPy gets what asks for the gufunc itself by its class: subclasses of arrays whose
    results are of their class, and classes with ``__array_ufunc__`` that are no arrays.
    """
    if isinstance(value, np.ndarray):
        if not isinstance(value, np.ma.MaskedArray | np.matrix) and not has_unit(value):
            return value
    elif hasattr(value, "__array_ufunc__") and not hasattr(value, "__array__"):
        return value
    try:
        return plain_array(value)
    except Unsuitable as fault:
        raise ArgumentError(f"{name} {fault}") from None


def converted(
    gufunc: _core.Gufunc, given: tuple[object, ...], options: tuple[str, ...] | None
) -> tuple[object, ...]:
    """Return the arguments of a gufunc with plain arrays in place of others.

    Parameters
    ----------
    gufunc : ufunc
        The gufunc.
    given : tuple
        All arguments, those with names last.
    options : tuple of str or None
        Names of the last ones.
    """
    options = options or ()
    names = operand_names(gufunc)
    n = len(given) - len(options)
    n_in = min(n, len(names))
    inputs = [
        plain_operand(name, x) for name, x in zip(names[:n_in], given, strict=False)
    ]
    for name, x in zip(["out"] * (n - n_in) + [*options], given[n_in:], strict=True):
        if name == "out":
            for each in x if isinstance(x, tuple) else (x,):
                check_class_of_out(each)
    return (*inputs, *given[n_in:])


_core.convert_with(converted)
