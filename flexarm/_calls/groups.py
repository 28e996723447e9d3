"""Stacks arm by arm, for functions without a kernel that mixes arms in its lanes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._support.arrays import MAX_AXES, Array, Index, plain_array
from .arm_like import ArmLike
from .explain import check_out

if TYPE_CHECKING:
    from .records import Rollout, SampledLoop


def groups(numbers: Index) -> Iterator[tuple[int, Index]]:
    """Yield the number of each arm that occurs in `numbers`, and its places."""
    order = np.argsort(numbers, kind="stable")
    arms, first = np.unique(numbers[order], return_index=True)
    if len(arms):
        yield from zip(map(int, arms), np.split(order, first[1:]), strict=True)


def rows(array: ArrayLike, batch: tuple[int, ...], core: int, at: Index) -> Array:
    """States of an operand that broadcasts to a batch, by their flat places."""
    array = np.asarray(array)
    if array.ndim < core:
        raise ValueError("an operand has too few axes")
    shape = array.shape[array.ndim - core :]
    where = np.unravel_index(at, batch) if batch else ()
    found = np.broadcast_to(array, batch + shape)[where]
    return found if batch else np.broadcast_to(found, (len(at), *shape))


def by_arm(
    index: Index | int,
    compute: Callable[[int, list[Array]], Array],
    arrays: list[Array],
    cores: list[int],
    core: tuple[int, ...],
) -> Array:
    """Results of a function of one arm and its states, for states of many arms.

    Parameters
    ----------
    index : (...) ndarray of int
        Numbers of the arms.
    compute : callable
        Function of an arm's number and arrays with one leading axis each.
    arrays : list of ndarray
        Operands, whose leading axes broadcast with `index`.
    cores : list of int
        Number of last axes of each that belong to one state.
    core : tuple of int
        Shape of a result.
    """
    shapes = [x.shape[: max(x.ndim - n, 0)] for x, n in zip(arrays, cores, strict=True)]
    if max(map(len, shapes)) > MAX_AXES:
        raise ValueError("operands have too many axes")
    batch = np.broadcast_shapes(np.shape(index), *shapes)
    result = np.empty((prod(batch), *core))
    for arm, at in groups(np.broadcast_to(index, batch).reshape(-1)):
        given = [rows(x, batch, n, at) for x, n in zip(arrays, cores, strict=True)]
        result[at] = compute(arm, given)
    return result.reshape(*batch, *core)


class Grouped:
    """A gufunc of single arms in the place of one of a stack.

    Parameters
    ----------
    gufuncs : callable
        Number of an arm to its gufunc.
    """

    def __init__(self, gufuncs: Callable[[int], _core.Gufunc]) -> None:
        self._gufuncs = gufuncs
        signature = str(gufuncs(0).signature)
        self.signature = f"(),{signature}"
        inputs, output = (
            [part.split(",") if part else [] for part in re.findall(r"\((.*?)\)", side)]
            for side in signature.replace(" ", "").split("->")
        )
        self._cores = [len(names) for names in inputs]
        self._core = tuple(int(n) for n in output[0])

    def __call__(self, index: Any, *operands: Any, out: Any = None) -> Any:
        """Compute each state with its arm; operands as those of the gufunc."""
        n = len(self._cores)
        if len(operands) > n:
            operands, (out,) = operands[:n], operands[n:]
        out = out[0] if isinstance(out, tuple) else out
        arrays = [plain_array(x) for x in operands]
        sizes = self._cores, self._core
        result = by_arm(index, lambda k, x: self._gufuncs(k)(*x), arrays, *sizes)
        if not result.size:  # the lengths of the last axes are still unchecked
            self._gufuncs(0)(*arrays)
        if out is None:
            return result if result.ndim else result[()]
        check_out(out, result.shape[: result.ndim - len(self._core)], self._core)
        np.copyto(out, result, casting="same_kind")
        return out


def _parts(run: Any, at: Index) -> dict[str, Any]:
    """Rows of the arrays of a run that have one for each trajectory."""
    parts: dict[str, Any] = {}
    _, table = _core.RECORDS[type(run).__name__]
    for name, (_, shape, flags, *_) in table.items():
        x = getattr(run, name)
        one = "each" in flags and (callable(x) or x is None or len(x) == 1)
        if shape[:1] == "c" and x is not None and not one:
            parts[name] = np.ascontiguousarray(x[at])
    return parts


def _each(
    arms: tuple[ArmLike, ...],
    numbers: Index,
    threads: int,
    of_arm: Callable[[ArmLike, Index], None],
) -> None:
    """Call a function of each arm and its places, so many arms at once."""
    if threads == 1:
        for number, at in groups(numbers):
            of_arm(arms[number], at)
        return
    from concurrent.futures import ThreadPoolExecutor  # not every program needs it

    with ThreadPoolExecutor(threads) as pool:
        try:
            list(pool.map(lambda x: of_arm(arms[x[0]], x[1]), groups(numbers)))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _run(
    arms: tuple[ArmLike, ...],
    numbers: Index,
    run: Rollout | SampledLoop,
    call: Callable[[ArmLike, Index, dict[str, Any]], None],
) -> None:
    """Call a function of each arm with its rows, and store those that it writes."""
    _, table = _core.RECORDS[type(run).__name__]

    def one(arm: ArmLike, at: Index) -> None:
        parts = _parts(run, at)
        try:
            call(arm, at, parts)
        finally:
            for name, part in parts.items():
                if "written" in table[name][2]:
                    getattr(run, name)[at] = part

    _each(arms, numbers, run.threads, one)


def sampled_loop(arms: tuple[ArmLike, ...], numbers: Index, run: SampledLoop) -> None:
    """Run sampled loops arm by arm, as many arms at once as the run has threads.

    Parameters
    ----------
    arms : tuple of Arm
        All arms.
    numbers : (n,) ndarray of int
        Arm of each loop.
    run : SampledLoop
        Run of n loops.
    """

    def one(arm: ArmLike, at: Index, parts: dict[str, Any]) -> None:
        arm.kernels.sampled_loop(run._replace(**parts, threads=1))

    _run(arms, numbers, run, one)


def rollout(arms: tuple[ArmLike, ...], numbers: Index, run: Rollout) -> None:
    """Run trajectories arm by arm, as many arms at once as the run has threads.

    Parameters
    ----------
    arms : tuple of Arm
        All arms.
    numbers : (n,) ndarray of int
        Arm of each trajectory.
    run : Rollout
        Run of n trajectories.
    """

    def one(arm: ArmLike, at: Index, parts: dict[str, Any]) -> None:
        gains = run.feedback
        if gains is not None:
            gains = gains._replace(**_parts(gains, at))
        own = run._replace(**parts, feedback=gains, tick=None, threads=1)
        arm.kernels.rollout(own)

    _run(arms, numbers, run, one)
