"""The record of a closed loop, and how it is filled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..._calls.arguments import any_of
from ..._calls.doors import checked_class
from ..._support.arrays import Array, Mask
from ..._support.labelled import Labels, Variable, batch_axes, named
from ...errors import ArgumentError
from ...simulation import Trajectory
from ..states import joint_difference, n_positions
from .comparison import Comparison


@checked_class
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LoopRun(Trajectory):
    """Motion of an arm in a closed loop, and what was measured, computed and sent.

    A `Trajectory`, whose `tau` are the forces that act from each time on: of the plant
    in `simulate_loop`, of the model in `ManipulatorController.run`.  Samples that were
    not reached are NaN; `success` and `message` report it.

    Attributes
    ----------
    sample_times : (n_samples,) ndarray of float
        Times in s at which the law was evaluated; those of `t` in a run of a
        `ManipulatorController`.
    y : (..., n_samples, p) ndarray of float
        Measured outputs, with noise and rounded: those of the sensors of
        `simulate_loop`; positions, then velocities of the joints that the plant of a
        `ManipulatorController` returned, NaN where it returned none.
    sensor_names : tuple of str
        Names of the outputs.
    u : (..., n_samples, nu) ndarray of float
        Forces that the law computed, in N m or N.
    command : (..., n_samples, k) ndarray of float
        Commands that were sent: `u` rounded and limited, in N m or N, which acts after
        the delay; or `u` converted for the servos, NaN while it is stored.
    saturated : (..., n_samples, nu) ndarray of bool
        Where limits of `simulate_loop` were active.
    states : (..., n_samples, m) ndarray of float
        States of a `LinearController`, with which `u` was computed.
    comparison : Comparison or None
        Motion that the correction of a `ManipulatorController` compared; its arrays
        have an axis of the samples before the last one, and its forces `tau` are the
        specified ones.
    sample_time : float or None
        Time from sample to sample in s; None if the times were given one by one.
    delay : float
        From a sample to the change of the forces, in s.
    seed : int or None
        Seed of the noise; the same one gives the same run.
    """

    sample_times: Array
    y: Array
    sensor_names: tuple[str, ...]
    u: Array
    command: Array
    saturated: Mask
    states: Array
    comparison: Comparison | None = None
    sample_time: float | None = None
    delay: float = 0.0
    seed: int | None = None

    @property
    def saturation(self) -> Array:
        """(..., nu) share of the samples at which the limits of each input were active.

        Of the samples that were reached.
        """
        reached = np.isfinite(self.u).all(-1).sum(-1)[..., np.newaxis]
        return np.asarray(self.saturated.sum(axis=-2) / np.maximum(reached, 1))

    @property
    def tracking_error(self) -> Array:
        """(..., n_samples, nu) desired less measured joint positions, in rad or m.

        Of a `ManipulatorController`.
        """
        if self.comparison is None:
            raise ArgumentError(
                "the run has no desired motion, expected one of "
                "ManipulatorController.run"
            )
        measured = self.y[..., : n_positions(self.arm)]
        return joint_difference(self.arm, measured, self.comparison.desired.q)

    def _labels(self) -> Labels:
        found = super()._labels()
        batch = batch_axes(self.q.ndim - 2)
        variables = dict(found.variables)
        for name, axis, meaning in (
            ("y", "sensor", "measured outputs"),
            ("u", "actuator", "forces that the law computed"),
            ("command", "channel", "commands that were sent"),
            ("saturated", "actuator", "whether limits were active"),
            ("states", "state", "states of the law"),
        ):
            values = getattr(self, name)
            if isinstance(values, np.ndarray):
                axes = (*batch, "sample", axis)
                variables[name] = Variable(axes, values, None, meaning)
        at = dict(found.coordinates)
        at["sample"] = Variable(("sample",), self.sample_times, "s")
        if np.shape(self.y)[-1] == len(self.sensor_names):
            at |= named("sensor", self.sensor_names)
        return Labels(variables, at, found.words)

    def __repr__(self) -> str:
        batch = " x ".join(map(str, self.q.shape[:-2]))
        many = f"{batch} loops" if batch else "one loop"
        name = any_of(self.arm).name
        return (
            f"<LoopRun of {name!r}: {many}, {len(self.sample_times)} samples "
            f"from {self.t[0]:g} to {self.t[-1]:g} s, {self.method}; {self.message}>"
        )


def ending(
    reached: Mask, t: Array, note: str, why: Callable[[int], str]
) -> tuple[bool, str]:
    """Whether all loops (..., n) reached the last time, and a sentence about it.

    `note` names what stopped them all, ``why(i)`` what stopped the loop number i.
    """
    batch, n = reached.shape[:-1], len(t)
    reached = reached.reshape(-1, n)
    counts = np.where(reached.all(-1), n, reached.argmin(-1))
    short = counts < n
    if not short.any():
        return not note, note or "reached the last time"
    first = int(counts.argmin())
    k = int(counts[first])
    index = tuple(int(i) for i in np.unravel_index(first, batch or (1,)))
    which = f"the first, at index {index}," if batch else "the first"
    until = f"ends at t = {t[k - 1]:g} s of {t[-1]:g} s" if k else "did not start"
    return False, (
        f"{note or why(first)}: {int(short.sum())} of {short.size} loops are "
        f"incomplete, {which} {until}"
    )
