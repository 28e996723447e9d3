"""Shortest time of a flexible arm against its tolerance on a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.arguments import check_numbers, real_array
from ..._calls.declared import Floats
from ..._calls.doors import checked, checked_class
from ..._support.arrays import Array
from ..._support.interrupts import INTERRUPTED
from ..._support.recorded import Recorded, recorded
from ..._support.warn import warn
from ...arm import Arm
from ...errors import ArgumentError, ConvergenceWarning
from .._path import Path
from .._result import OptimalMotion
from .driver import time_optimal

__all__ = ["TradeOff", "trade_off"]


@checked_class
@dataclass(frozen=True, eq=False)
class TradeOff(Recorded):
    """Shortest times by tolerances of the path.

    Attributes
    ----------
    tolerance : (n,) ndarray of float
        Tolerances of the tip in m.
    duration : (n,) ndarray of float
        Shortest durations in s; NaN where a search failed.
    tip_error : (n,) ndarray of float
        Largest distances of the simulated tip from the path in m.
    motions : tuple of OptimalMotion
        The motions.
    success : bool
        Whether all searches reached their tolerance.
    message : str
        How many did, and how many tolerances are left out after Ctrl-C.
    """

    tolerance: Array
    duration: Array
    tip_error: Array
    motions: tuple[OptimalMotion, ...]
    success: bool
    message: str


@checked
@recorded("optimize.trade_off")
def trade_off(
    arm: Arm,
    path: Path,
    tip_tolerances: Annotated[ArrayLike, Floats("(n,)")],
    **options: Any,
) -> TradeOff:
    """Shortest times of a flexible arm along a path, for several tolerances.

    Parameters
    ----------
    arm : Arm
        Arm with flexible links or joints.
    path : Path
        Path of the tip.
    tip_tolerances : (n,) array_like of float
        Largest distances of the tip from the path in m.
    **options
        Further arguments of `time_optimal`, such as ``limits``.

    Returns
    -------
    trade_off : TradeOff
        Durations, simulated errors and motions.

    Raises
    ------
    ArgumentError
        If a tolerance is not a positive number, or as by `time_optimal`.

    Warns
    -----
    ConvergenceWarning
        If a search stops early; its duration is NaN.  After Ctrl-C the result ends with
        the search that was interrupted.

    See Also
    --------
    time_optimal : one of them.

    Notes
    -----
    A wider tolerance contains the motions of a narrower one, so that the shortest time
    falls with it, as far as solvers find the best of several minima.

    Examples
    --------
    >>> import flexarm as fa
    >>> from flexarm.optimize import paths, trade_off
    >>> arm = fa.library.farid_two_link(elements=0)
    >>> curve = trade_off(
    ...     arm,
    ...     paths.line([1.8, 0.2], [1.6, 0.7]),
    ...     [1e-3],
    ...     start=fa.library.poses(arm)["A"],
    ...     limits={"torque": [300.0, 120.0]},
    ... )
    >>> curve.duration.round(2), bool(curve.tip_error[0] < 1e-3)
    (array([0.43]), True)
    """
    tolerances = np.atleast_1d(real_array("tip_tolerances", tip_tolerances))
    check_numbers("tip_tolerances", tolerances)
    if tolerances.ndim != 1 or not len(tolerances):
        raise ArgumentError(
            f"tip_tolerances has shape {tolerances.shape}, expected (n,), in m"
        )
    for name in ("tip_tolerance", "check"):
        if name in options:
            raise ArgumentError(
                f"{name} is given, expected tip_tolerances alone: each is simulated"
            )
    motions: list[OptimalMotion] = []
    for x in tolerances:
        try:
            found = time_optimal(arm, path, tip_tolerance=float(x), **options)
        except KeyboardInterrupt:
            if not motions:
                raise
            break
        motions.append(found)
        if found.status == "interrupted":
            break
    done, n = len(motions), len(tolerances)
    good = sum(m.success for m in motions)
    message = f"{good} of {n} searches reached their tolerance"
    if done < n or motions[-1].status == INTERRUPTED:
        message = f"{INTERRUPTED}: {message}, {n - done} are left out"
        warn(f"trade_off: {message}", ConvergenceWarning)
    return TradeOff(
        tolerances[:done].copy(),
        np.array([m.duration if m.success else np.nan for m in motions]),
        np.array([m.errors.tip for m in motions if m.errors]),
        tuple(motions),
        good == n,
        message,
    )
