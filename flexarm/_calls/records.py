"""Arguments of the runs in C, as records with an attribute for each.

``csrc/python`` has a table of the attributes of each record, with the same lengths.
Arrays are C-ordered float64 if nothing else is said.  Those with ``c|1`` have a row for
each of c trajectories, or one for all.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core

Array = NDArray[np.float64]

NOT_CONVERGED = _core.ENDINGS.index("not converged")
STEP_TOO_SHORT = _core.ENDINGS.index("step too short")


def new_report(count: int) -> Array:
    """Report of `count` trajectories, in which nothing has happened yet."""
    *_, last = _core.REPORT_COLUMNS.values()
    return np.zeros((count, last.stop))


def reported(report: Array, *names: str) -> Any:
    """Columns of a report, or numbers of one trajectory."""
    return report.T[[_core.REPORT_COLUMNS[name].start for name in names]]


class Flattened:
    """Arrays of a run whose batch axes are one; `batch` has those of the user."""

    batch: tuple[int, ...]

    def unreached(self, n: int, size: int) -> Array:
        """Array of n samples of all members, NaN until they are reached."""
        return np.full((prod(self.batch), n, size), np.nan)

    def started(self, first: Array, n: int) -> Array:
        """Array of n samples, the first one set."""
        array = self.unreached(n, first.shape[-1])
        full = np.broadcast_to(first, (*self.batch, first.shape[-1]))
        array[:, 0] = full.reshape(len(array), first.shape[-1])
        return array

    def shaped(self, x: Array) -> Array:
        """Array with the batch axes of the user in place of the first one."""
        return x.reshape(*self.batch, *x.shape[1:])

    def rows(self, x: Array, core: int) -> Array:
        """Return an array with one row for all or each member, and `core` axes."""
        shape = x.shape[x.ndim - core :]
        if all(n == 1 for n in x.shape[: x.ndim - core]):
            return np.ascontiguousarray(x.reshape(1, *shape))
        full = np.broadcast_to(x, (*self.batch, *shape))
        return np.ascontiguousarray(full.reshape(prod(self.batch), *shape))


class Options(NamedTuple):
    """Options of the methods of a time loop."""

    spectral_radius: float = 1.0
    rtol: float = 1e-6
    atol: float = 1e-6
    max_step: float = inf  # in s


class Gains(NamedTuple):
    """Feedback ``kp (reference - q) + kd (rates - qd)`` of the u actuators."""

    diagonal: bool
    kp: Array  # (c|1, u), or (c|1, u, u) unless diagonal
    kd: Array
    reference: Array  # (c|1, s, u)
    rates: Array | None  # (c|1, s, u); None: zero


class Rollout(NamedTuple):
    """Run of c trajectories over s samples: `Model.rollout` and `Stack.rollout`."""

    q: Array  # (c, s, nq): the first sample is the start, the others are written
    qd: Array  # (c, s, nv)
    t: Array  # (c|1, s) in s
    method: str
    substeps: int  # from sample to sample
    # samples (c|1, s, f), a function of t, q and qd, or None for zero; f is nu or nv
    tau: Array | Callable[[float, Array, Array], object] | None
    hold: bool  # forces between samples; linear otherwise
    tau_out: Array  # (c, s, f), written
    feedback: Gains | None = None
    options: Options = Options()
    report: Array | None = None  # (c, columns of _core.REPORT_COLUMNS), written
    tick: Callable[[int], object] | None = None  # gets the number of steps so far
    threads: int = 1
    arms: NDArray[np.int64] | None = None  # (c,) numbers of the arms, of a stack


class SampledLoop(NamedTuple):
    """Run of a linear law with p outputs and m states: `Model.sampled_loop`."""

    q: Array  # (c, s, nq): the first time is the start, the others are written
    qd: Array  # (c, s, nv)
    tau: Array  # (c, s, nu), written
    method: str
    options: Options
    report: Array | None  # (c, columns of _core.REPORT_COLUMNS), written
    threads: int
    # knots, between which forces are held, and what happens at which of them
    knots: Array  # (k,) in s
    substeps: NDArray[np.intc]  # (k - 1,) from knot to knot
    samples: NDArray[np.uintp]  # (i,) knots at which the law is evaluated
    changes: NDArray[np.uintp]  # (at most i,) from which the forces of a sample act
    outputs: NDArray[np.uintp]  # (s,) of the times of the result
    # samples, written
    y: Array  # (c, i, p): the noise before, measured outputs after
    u: Array  # (c, i, nu) of the law
    command: Array  # (c, i, nu): forces after limits and resolution
    states: Array  # (c, i, m)
    # sensors and actuators
    rows: Array  # (c|1, p, 2 nv) of (q, qd)
    resolution: Array  # (p,) of the outputs; 0: exact
    step: Array  # (nu,): resolution of the forces
    limits: Array  # (2, nu): least and largest forces
    held: Array  # (c|1, nu): forces before the first ones arrive
    # law: next state A z + B e (+ E (applied - u)), forces C z + D e + feedforward
    A: Array  # (c|1, m, m)
    B: Array  # (c|1, m, p)
    C: Array  # (c|1, nu, m)
    D: Array  # (c|1, nu, p)
    E: Array | None  # (c|1, m, nu)
    z0: Array  # (c|1, m)
    reference: Array  # (c|1, i or 1, p)
    feedforward: Array  # (c|1, i or 1, nu)
    arms: NDArray[np.int64] | None = None  # (c,) numbers of the arms, of a stack


class TargetRun(NamedTuple):
    """Run of inverse kinematics to c targets: `Model.inverse_kinematics`."""

    target: Array  # (c, 4, 4)
    q: Array  # (c, nq): start, then the result
    residual: Array  # (c, 6), written
    cost: Array  # (c,): weighted norm of the residual, written
    status: NDArray[np.int32]  # (c,) number in _core.IK_STATUSES, written
    iterations: NDArray[np.int32]  # (c,) evaluations, written
    limits: Array | None  # (2, nq)
    wrench: Array | None  # (c|1, 6) on the node
    weights: Array  # (6,), angular first
    node: int
    place_only: bool
    deflection: bool  # modes in static equilibrium
    wrench_in_base: bool
    tolerance: float
    stationary: float  # largest cosine of error and columns at a minimum
    damping: float  # of the first step
    max_iterations: int
    monotone: bool  # no step increases the error
    threads: int


class ScalingRun(NamedTuple):
    """Fastest motion along a path of n points: `_core.time_scaling`."""

    s: Array  # (n,)
    a: Array  # (n, m): lower <= a u + b x <= upper
    b: Array
    lower: Array
    upper: Array
    x_max: Array  # (n,)
    x_start: float
    x_end: Array  # (2,): least and largest
    scheme: int  # number in _core.SCALING_SCHEMES
    controllable: Array  # (n, 2), written
    curve: Array  # (n,), written
    x: Array  # (n,), written
    u: Array  # (n - 1,), written


class PredictiveStep(NamedTuple):
    """A sample of predictive control of c loops: `_core.predictive_step`.

    Of n states, m inputs and r rows of limits; w = 2 n + m parameters are the state,
    the last inputs and the disturbance, as deviations.
    """

    A: Array  # (n, n)
    B: Array  # (n, m)
    R: Array  # (r, w): rows of limits without multipliers
    F: Array  # (m, w): inputs without multipliers
    E: Array  # (r, m): what multipliers take from the inputs
    gram: Array  # (r, r)
    lower: Array  # (r,)
    upper: Array  # (r,)
    tolerance: Array  # (r,)
    soft: Array  # (3, r): none, outputs, outputs and rates give way
    least: Array  # (m,)
    most: Array  # (m,)
    next: NDArray[np.intc]  # (r,): the row that it is a sample later
    h: float  # of the disturbance
    max_steps: int
    C: Array | None  # (o, n) of the observer; None: the state is measured
    L: Array | None  # (n, o)
    measured: Array  # (c, o)
    u: Array  # (c, m), written
    p: Array  # (c, w), kept from sample to sample, as what follows
    y: Array  # (c, r)
    side: NDArray[np.intc]  # (c, r)
    begun: NDArray[np.intc]  # (c,)
    status: NDArray[np.intc]  # (c,), written: number in _core.PREDICTIVE_STATUSES
    steps: NDArray[np.intc]  # (c,), written
