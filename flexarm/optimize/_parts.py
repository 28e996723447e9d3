"""Parts of an optimal motion: what the search and its problem tell beside the motion.

They are attributes of an `OptimalMotion`; times are in s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._support.arrays import Array, Complex, Index
from ..arm import Arm
from ..errors import ArgumentError
from ..stacks import ArmStack
from ._follow import PathMotion


class Timings(NamedTuple):
    """Seconds that parts of an optimization took.

    Attributes
    ----------
    setup, solver, verification, total : float
        Before the search, in the solver, in the simulation of the answer, and of all.
    """

    setup: float = 0.0
    solver: float = 0.0
    verification: float = 0.0
    total: float = 0.0


@dataclass
class Spent:
    """Seconds of a search that goes on, by part."""

    setup: float = 0.0
    solver: float = 0.0
    verification: float = 0.0

    def of(self, total: float) -> Timings:
        """The timings of the search, with those of all."""
        return Timings(self.setup, self.solver, self.verification, total)


class TipErrors(NamedTuple):
    """Largest errors of the tip.

    Attributes
    ----------
    tip : float or (m,) ndarray of float
        Distance from the path, or after the motion from the goal; of `track` errors
        along the axes that the tip follows; in m.
    orientation : float
        Angle from the orientation of the path in rad; NaN without one.
    """

    tip: float | Array
    orientation: float = np.nan


class Start(NamedTuple):
    """One of the first motions, and what became of it.

    Attributes
    ----------
    name : str
        ``"rigid"``, ``"smooth"``, ``"shaped"``, ``"aside"``, ``"initial"``, ``"around
        1"`` or ``"around 2"``.
    duration : float
        Of the motion found from it, in s.
    success : bool
        Whether that comes to rest at its goal; False, too, of one that was left when
        another had.
    """

    name: str
    duration: float
    success: bool


class MoreModes(NamedTuple):
    """How far the tip of the arm with more modes is from that of the arm.

    Attributes
    ----------
    during, after : float
        Largest distances in m, of the motion and after it.
    arm : Arm
        The arm with more modes.
    excess : dict of str to float
        Limits of positions, velocities and the speed of the tip that it exceeds and the
        arm does not, as parts of them, such as ``"velocity of 'link1'"``.
    """

    during: float
    after: float
    arm: Arm
    excess: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Rows:
    """Limits ``lower <= a u + b x + c + friction <= upper`` along a path.

    Attributes
    ----------
    s : (n,) ndarray of float
        Path parameters of the grid.
    a, b, c, lower, upper : (n, m) ndarray of float
        With ``u = sdd`` and ``x = sd**2``.
    x_max : (n,) ndarray of float
        From limits of velocities.
    viscous : (n, m) ndarray of float
        Friction over sd.
    dry : list of (w, f, v)
        Friction ``f r / sqrt(r^2 + v^2)`` with the rate ``r = w sd``; w (n,), f (m,).
    names : tuple of str
        Of the rows, such as ``"force of 'link1'"``.
    units : tuple of str
        Of the rows.
    """

    s: Array
    a: Array
    b: Array
    c: Array
    lower: Array
    upper: Array
    x_max: Array
    viscous: Array
    dry: list[tuple[Array, Array, float]]
    names: tuple[str, ...]
    units: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TimeScaling:
    """Fastest motion along a path.

    Attributes
    ----------
    s, sd, t : (n,) ndarray of float
        Path parameters, their rate in 1/s and the times in s at which they are reached.
    sdd : (n - 1,) ndarray of float
        Between them, in 1/s^2.
    controllable : (n, 2) ndarray of float
        Least and largest rates from which the end can be reached, in 1/s.
    curve : (n,) ndarray of float
        Maximum velocity curve: the rate at which the limits leave no acceleration.
    passes : int
        Runs of the solver, more than one with friction.
    """

    s: Array
    sd: Array
    t: Array
    sdd: Array
    controllable: Array
    curve: Array
    passes: int

    @property
    def duration(self) -> float:
        """Of the motion, in s."""
        return float(self.t[-1])

    def at(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Path parameter and its derivatives at times in s, exact between points."""
        times = np.clip(np.asarray(t, dtype=float), 0.0, self.t[-1])
        k = np.clip(np.searchsorted(self.t, times, side="right") - 1, 0, None)
        k = np.minimum(k, len(self.sdd) - 1)
        tau, u = times - self.t[k], self.sdd[k]
        s = self.s[k] + tau * (self.sd[k] + 0.5 * tau * u)
        return np.clip(s, self.s[k], self.s[k + 1]), self.sd[k] + tau * u, u


class OnPath(NamedTuple):
    """Fastest motion of a rigid arm on a path.

    Attributes
    ----------
    scaling : TimeScaling
        Path parameters over time, their rates and limits.
    way : PathMotion
        Coordinates of the arm along the path.
    rows : Rows
        Limits as the search has them.
    """

    scaling: TimeScaling
    way: PathMotion
    rows: Rows


def arms_of(given: Arm | ArmStack) -> tuple[Arm, ...]:
    """The arm, or those of a stack in their order."""
    if not isinstance(given, ArmStack):
        return (given,)
    if not given.index.size:
        raise ArgumentError("the stack has no arms, expected one at least")
    return tuple(given.arms[k] for k in given.index.ravel())


class NodalForces(NamedTuple):
    """What shooting found, see `reference.tracking`.

    Attributes
    ----------
    nodes : (n,) ndarray of float
        Times in s, from which to which forces are linear.
    nodal_tau : (n, nu) ndarray of float
        Forces at the nodes in N m or N.
    history : (k,) ndarray of float
        Sum of squares after each step.
    simulations : int
        Their number.
    """

    nodes: Array
    nodal_tau: Array
    history: Array
    simulations: int


class StableInverse(NamedTuple):
    """What stable inversion found, see `reference.tracking`.

    Attributes
    ----------
    zeros : (k,) ndarray of complex
        Zeros of the arm at the start, in 1/s.
    time_constants : (2,) ndarray of float
        In s, of the slowest motion before and after that of the tip.
    before, after : float
        How long before and after it forces differ from those at rest by more than a
        thousandth, in s.
    vibration : (k,) ndarray of float
        Neutral motions that go on after it, as multiples of their shapes.
    """

    zeros: Complex
    time_constants: Array
    before: float
    after: float
    vibration: Array


class FrequencyInverse(NamedTuple):
    """What the inversion in the frequency domain found, see `reference.tracking`.

    Attributes
    ----------
    zeros : (k,) ndarray of complex
        Zeros of the arm half way, in 1/s.
    shift : float
        Real part of the line on which responses are computed, in 1/s.
    frequencies : int
        Their number.
    """

    zeros: Complex
    shift: float
    frequencies: int


class Searched(NamedTuple):
    """One search of `trajectory`.

    Attributes
    ----------
    first : str
        First motion: ``"initial"``, ``"first parameters"``, ``"smooth"``, ``"first
        payload"``, ``"linear"``, ``"calm"``, or ``"around 1"`` and so on.
    intervals : int
        Of the forces.
    scheme : str
        Of the collocation, or ``"exact"``.
    status : str
        As of an `OptimalMotion`.
    iterations : int
        Steps of the solver.
    objective : float
        Cost of its motion.
    narrowed : float
        Largest part by which limits were narrowed.
    calmed : float
        Weight of rates and jumps of forces beside the costs.
    """

    first: str
    intervals: int
    scheme: str
    status: str
    iterations: int
    objective: float
    narrowed: float
    calmed: float


class LeastCost(NamedTuple):
    """What `trajectory` found.

    Attributes
    ----------
    costs : dict of str to float
        Each cost that is asked for, without its weight.
    searches : tuple of Searched
        All searches.
    narrowed : float
        Largest part by which the limits of the answer were narrowed.
    parameters : (k,) ndarray of float or None
        Of a `Design` or a maximized payload.
    payload : float or None
        A maximized payload in kg.
    """

    costs: Mapping[str, float]
    searches: tuple[Searched, ...] = ()
    narrowed: float = 0.0
    parameters: Array | None = None
    payload: float | None = None


class Excited(NamedTuple):
    """Parameters by one record of an exciting motion.

    Attributes
    ----------
    names : tuple of str
        Names of the k parameters, or base parameters.
    std : (k,) ndarray of float
        Standard deviations of their estimates; infinite if they are not determined.
    covariance : (k, k) ndarray of float
        Of the estimates.
    condition : float
        Condition number of the derivatives of the signals, in units of `scale`.
    harmonics : (h,) ndarray of int
        Frequencies of the motion over one per duration.
    """

    names: tuple[str, ...]
    std: Array
    covariance: Array
    condition: float
    harmonics: Index
