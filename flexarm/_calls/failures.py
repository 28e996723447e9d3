"""From the exception of a gufunc that failed to one about the arm and its arguments.

C calls `explained` (csrc/python/py_explain.c), so that a function is one call of a
gufunc and needs no line for its errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from . import explain, maps
from .arm_like import ArmLike, StackLike
from .operands import operand_names


def explained(
    owner: Callable[[], ArmLike | None] | None,
    gufunc: _core.Gufunc,
    name: str,
    error: Exception,
    index: tuple[Any, ...],
    inputs: tuple[Any, ...],
    out: Any,
) -> BaseException:
    """Return the exception to raise in place of `error`.

    Parameters
    ----------
    owner : callable or None
        Returns the arm whose model has failed, or None if it is gone; None for a map.
    gufunc : ufunc
        The gufunc that has failed.
    name : str
        Its name in ``_core`` or in the model.
    error : Exception
        The exception that it has raised.
    index : tuple
        The operand in front of the arrays: the number of a node, or nothing.
    inputs : tuple
        The arrays.
    out : ndarray or None
        Where the result was to be stored.
    """
    given = dict(zip(operand_names(gufunc)[len(index) :], inputs, strict=True))
    if owner is None:
        better = maps.explain(name, error, out=out, **given)
    elif (arm := owner()) is None:
        return error
    else:
        better = explain.explain(arm, name, error, extra=index, out=out, **given)
    # the traceback ends at the call, not in the second look
    return error if better is error else better.with_traceback(None)


def explained_of_stack(
    stack: StackLike,
    name: str,
    gufunc: _core.Gufunc,
    error: Exception,
    operands: tuple[Any, ...],
    out: object,
) -> BaseException:
    """Return the exception to raise in place of that of a stack.

    Parameters are those of `explained`; `gufunc` is that of one arm, `operands` are
    those of a call, the number of a node among them.
    """
    names = operand_names(gufunc)
    if len(operands) < len(names):
        return error
    out = operands[len(names)] if len(operands) > len(names) else out
    n = int(str(gufunc.signature).startswith("(),"))  # the number of a node
    given = dict(zip(names[n:], operands[n:], strict=False))
    return explain.explain(stack, name, error, extra=operands[:n], out=out, **given)


_core.explain_with(explained)
