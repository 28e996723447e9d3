"""Signals of an arm at rest under known loads, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from .._calls.arguments import check_numbers, real_array
from .._calls.declared import Floats
from .._calls.doors import checked_class
from .._support.arrays import Array
from .._support.interrupts import uninterrupted
from .._support.options import did_you_mean
from ..arm import Arm
from ..errors import ArgumentError, ConvergenceError, ModelError
from ..statics import equilibrium
from ._output_error import Problem
from ._records import Sensing, check_count, measurements

# Step of central differences of equilibria, in sizes of unknowns: an error of 1e-8 of
# the curvature, and 1e-6 of the tolerance of the postures.
_STEP = 1e-4
Loads: TypeAlias = Mapping[str, Any]
_LOADS = ("wrench", "node", "frame", "tendons", "tension", "tau", "held")


@checked_class
@dataclass(frozen=True, eq=False)
class Postures:
    """Measured postures of an arm at rest, under known loads.

    Parameters
    ----------
    y : (n, m) or (n,) array_like of float
        Measured signals of n postures; NaN for one that is missing.
    q0 : (nq,) or (n, nq) array_like of float, optional
        Held positions, and those from which the others are searched; by default
        ``arm.neutral``.
    loads : mapping, or callable, optional
        Loads as arguments of `flexarm.equilibrium`, such as ``{"tau": ...}``, with a
        first axis for the postures where they differ: ``wrench`` (n, 6), ``node``,
        ``frame``, ``tendons``, ``tension`` (n, k), ``tau`` (n, nu), ``held``.  A
        function ``loads(p)`` returns them for parameters, such as the unknown place of
        a tendon or weight of a load.

    Raises
    ------
    ArgumentError
        If nothing was measured, or loads has another name.

    See Also
    --------
    identify : parameters from postures.
    Record : a motion.

    Examples
    --------
    Stiffness of a beam from its deflections under two weights, EI = F L^3/(3 y):

    >>> import numpy as np
    >>> import flexarm as fa
    >>> def make_arm(p):
    ...     return fa.library.planar_chain(
    ...         1, n_modes=8, bending_stiffness=p[0], gravity=(0, 0, 0)
    ...     )
    >>> push = np.multiply.outer([1.0, 2.0], [0, 0, 0, 0, 1.0, 0])
    >>> postures = fa.identification.Postures(
    ...     [1 / 300, 2 / 300], loads={"wrench": push, "frame": "base"}
    ... )
    >>> found = fa.identification.identify(
    ...     make_arm, [50.0], postures, outputs=fa.outputs.node_position(axes="y")
    ... )
    >>> found.p.round(2)
    array([100.])
    """

    y: Annotated[Array, Floats("(n, m)", "(n,)")]
    q0: Annotated[Array, Floats("(nq,)", "(n, nq)")] | None = None
    loads: Loads | Callable[[Array], Loads] | None = None

    def __post_init__(self) -> None:
        y = measurements(self.y)
        q0 = None if self.q0 is None else real_array("q0", self.q0)
        if q0 is not None:
            check_numbers("q0", q0)
        if not callable(self.loads):
            _named(self.loads)
        for name, value in (("y", y), ("q0", q0)):
            object.__setattr__(self, name, value)


def _named(loads: Loads | None) -> Loads:
    """Loads by names of arguments, checked."""
    if not isinstance(loads, Mapping | None):
        raise ArgumentError(
            f"loads is {type(loads).__name__}, expected a mapping of arguments of "
            "equilibrium, or a function that returns one"
        )
    for name in loads or {}:
        if name not in _LOADS:
            raise ArgumentError(
                f"loads has {name!r}, expected some of "
                f"{', '.join(map(repr, _LOADS))}{did_you_mean(name, _LOADS)}"
            )
    return loads or {}


class Statics(Problem):
    """Predictions of signals by equilibria; the unknowns are parameters alone."""

    accuracy = 1e-5  # ten times the error of differences of equilibria

    def __init__(
        self,
        arms: Callable[[Array], Arm],
        p: Array,
        postures: Sequence[Postures],
        outputs: object,
    ) -> None:
        self.arms, self.outputs, self.n = arms, outputs, len(p)
        arm = arms(p)
        self.signals = Sensing(arm, outputs, p).names
        self.postures = postures
        self.measured = [each.y for each in postures]
        self.times = [np.arange(float(len(y))) for y in self.measured]
        self.starts = []
        for number, each in enumerate(postures):
            this = f"y of postures {number}"
            check_count(this, each.y.shape[1], "signals", self.signals)
            q0 = arm.neutral if each.q0 is None else each.q0
            if q0.shape not in ((arm.nq,), (len(each.y), arm.nq)):
                raise ArgumentError(
                    f"q0 of postures {number} has shape {q0.shape}, expected "
                    f"({arm.nq},) or ({len(each.y)}, {arm.nq})"
                )
            self.starts.append(np.broadcast_to(q0, (len(each.y), arm.nq)))

    def settle(self, p: Array) -> None:
        """Start from the equilibria of parameters, which must exist."""
        arm = self.arms(p)
        for number, q in enumerate(self.starts):
            self.starts[number] = self._rest(arm, number, q, p)

    def _rest(self, arm: Arm, number: int, start: Array, p: Array) -> Array:
        """Positions (n, nq) at rest."""
        loads = self.postures[number].loads
        loads = _named(loads(np.array(p)) if callable(loads) else loads)
        rest = uninterrupted(equilibrium(arm, start, **loads))
        if rest.q.shape != start.shape:
            raise ArgumentError(
                f"loads of postures {number} have leading axes {rest.q.shape[:-1]}, "
                f"expected ({len(start)},), one entry for each posture"
            )
        return np.asarray(rest.check(stable=False).q)

    def predict(self, x: Array) -> list[Array] | None:
        """Signals of all postures; None if there is no such arm or equilibrium."""
        found = []
        try:
            arm = self.arms(x)
            sensing = Sensing(arm, self.outputs, x)
            for number, start in enumerate(self.starts):
                q = self._rest(arm, number, start, x)
                still = np.zeros((len(q), arm.nv))
                found.append(sensing.values(self.times[number], arm, q, still, still))
        except (ModelError, ConvergenceError, ArithmeticError):
            return None
        return found

    def differences(self, x: Array, size: Array, here: list[Array]) -> list[Array]:
        """Derivatives to about 1e-4 by one set of equilibria for each unknown."""
        found = [np.zeros((*y.shape, self.n)) for y in here]
        for j, step in enumerate(_STEP * np.diag(size)):
            there = self.predict(x + step)
            if there is None:
                step, there = -step, self.predict(x - step)
            for i, y in enumerate(there or here):
                found[i][..., j] = (y - here[i]) / step[j]
        return found

    def derivatives(self, x: Array, size: Array) -> list[Array]:
        """Derivatives (n, m, unknowns) by differences of equilibria, to about 1e-6."""
        found = [np.full((*y.shape, self.n), np.nan) for y in self.measured]
        for j, step in enumerate(_STEP * np.diag(size)):
            ends = [self.predict(x + step), self.predict(x - step)]
            if ends[0] is None or ends[1] is None:  # one side, beside a wall
                ends[1 if ends[1] is None else 0] = self.predict(x)
                step = 0.5 * step
            if ends[0] is not None and ends[1] is not None:
                for i, (ahead, behind) in enumerate(zip(*ends, strict=True)):
                    found[i][..., j] = (ahead - behind) / (2.0 * step[j])
        return found
