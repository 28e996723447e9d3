r"""Forces by nodal values, a simulation of them, least squares of the tip.

M. Farid (1997), section 7.3: forces are linear between nodes, before, in and after the
motion of the tip; minimized is (7.18), :math:`K_1 \sum |e|^2` in the motion plus
:math:`K_2 \sum |e|^2` after it, over all steps.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from ..._support.arrays import Array
from ..._support.interrupts import uninterrupted
from ...errors import ArgumentError, SimulationWarning
from ...optimize._tracking.tip_task import TipTask
from ...simulation import Trajectory, simulate
from ._newmark_tangent import Motion, tangents


@dataclass(frozen=True)
class Windows:
    """Nodes of the forces and steps of the simulation."""

    duration: float
    before: int  # intervals
    main: int
    after: int
    steps: int  # of each interval

    @property
    def nodes(self) -> Array:
        """Times of the nodes in s."""
        numbers = np.arange(-self.before, self.main + self.after + 1)
        return np.asarray(numbers * (self.duration / self.main))

    @property
    def times(self) -> Array:
        """Times of the ends of all steps in s."""
        first, last = -self.before * self.steps, (self.main + self.after) * self.steps
        count = np.arange(first, last + 1)
        return np.asarray(count * (self.duration / (self.main * self.steps)))


def windows_of(
    duration: float, intervals: int, parts: tuple[float, float], steps: int
) -> Windows:
    """Nodes for windows of some parts of the duration before and after the motion."""
    counts = []
    for name, part in zip(("pre_actuation", "post_actuation"), parts, strict=True):
        exact = part * intervals
        if abs(exact - round(exact)) > 1e-6:
            raise ArgumentError(
                f"{name} is {part:g} of the duration, {exact:g} of the intervals, "
                f"expected a multiple of {1.0 / intervals:.3g}"
            )
        counts.append(round(exact))
    return Windows(duration, counts[0], intervals, counts[1], steps)


class Shooting:
    """Tip errors as a function of the nodal forces, with their derivatives."""

    def __init__(
        self,
        task: TipTask,
        windows: Windows,
        weights: tuple[float, float],
        smoothing: float,
    ) -> None:
        self.power, self.size = 2.0, 1.0
        self.task, self.arm, self.windows = task, task.arm, windows
        self.t, nodes = windows.times, windows.nodes
        self.q0, self.tau0 = task.at_rest(0.0, task.rigid(np.zeros(1))[0][0])
        count, nu = len(nodes) - 1, self.arm.nu
        self.shape = (count, nu)
        each = [np.interp(self.t, nodes, hat) for hat in np.eye(count + 1)]
        self.hats = hats = np.stack(each, axis=-1)
        self.by = np.asarray(np.kron(hats[:, np.newaxis, 1:], np.eye(nu)), dtype=float)
        # sums begin with the first step of the motion
        self.on = slice(windows.before * windows.steps, None)
        times = self.t[self.on]
        after = times > windows.duration * (1.0 + 1e-9)
        self.scale = np.sqrt(np.where(after, weights[1], weights[0]))[:, np.newaxis]
        self.goal = task.goal(times)
        self.rows = len(times)
        second = np.eye(count + 1, k=0) - 2.0 * np.eye(count + 1, k=1)
        second = (second + np.eye(count + 1, k=2))[: count - 1]
        self.bend = smoothing * np.kron(second, np.eye(nu)) if smoothing else None
        self.simulations = 0

    @property
    def first(self) -> Array:
        """Forces of the rigid arm at the nodes, the first one fixed."""
        task, nodes = self.task, self.windows.nodes[1:]
        return task.level.inverse_dynamics(*task.rigid(nodes)).ravel()

    def forces(self, x: Array) -> Array:
        """(..., n, nu) at all steps."""
        values = x.reshape(*x.shape[:-1], *self.shape)
        return self.hats[:, :1] * self.tau0 + self.hats[:, 1:] @ values

    def motion(self, x: Array) -> Motion | None:
        """The simulation, None if it does not reach the end."""
        self.simulations += 1
        tau = self.forces(x)
        run = self._simulated(tau)
        if run.completed < len(self.t):  # beyond the model a search may go on
            return None
        qdd = self.arm.kernels.quiet("forward_dynamics")(
            run.q, run.qd, tau @ self.task.acts.T
        )
        return Motion(self.t, run.q, run.qd, np.asarray(qdd), tau)

    def _simulated(self, tau: Array) -> Trajectory:
        rest = np.zeros(self.arm.nv)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulationWarning)  # the answer warns
            return uninterrupted(
                simulate(
                    self.arm,
                    self.q0,
                    rest,
                    self.t,
                    torque=tau,
                    method="newmark",
                    progress=False,
                )
            )

    def errors(self, q: Array) -> Array:
        """(..., rows) weighted tip errors of motions."""
        e = self.scale * self.task.gap(q[..., self.on, :], self.goal)
        return e.reshape(*e.shape[:-2], -1)

    @property
    def newton_part(self) -> float:
        """Newton's step as part of the Gauss-Newton step, for the power of errors.

        The curvature of a sum of |e|^p by e is p (p - 1) |e|^(p - 2); with residuals
        |e|^(p/2) it would be p^2/2 of the same.
        """
        return 0.5 * self.power / (self.power - 1.0)

    def raise_power(self, power: float, q: Array) -> None:
        """Minimize sums of a higher power of the errors from now on.

        Scaled such that the largest error of a motion counts as before.
        """
        self.size = max(float(np.abs(self.errors(q)).max()), 1e-300)
        self.power = power

    def residual(self, x: Array, q: Array) -> Array:
        """Tip errors, and weighted second differences of the forces."""
        e = self.errors(q)
        if self.power != 2.0:
            e = e * (np.abs(e) / self.size) ** (0.5 * self.power - 1.0)
        if self.bend is None:
            return e
        return np.append(e, self.bend @ np.append(self.tau0, x))

    def jacobian(self, run: Motion) -> Array:
        """Exact derivatives of the residual."""
        dq = tangents(self.arm, run, self.by)[self.on]
        J = self.task.slopes(run.q[self.on], self.goal)
        rows = (self.scale[..., np.newaxis] * (J @ dq)).reshape(-1, dq.shape[-1])
        if self.power != 2.0:
            half, e = 0.5 * self.power, self.errors(run.q)
            rows *= (half * (np.abs(e) / self.size) ** (half - 1.0))[:, np.newaxis]
        if self.bend is None:
            return rows
        return np.vstack([rows, self.bend[:, self.arm.nu :]])

    def costs(self, many: Array) -> Array:
        """Sums of squares of forces (k, m), simulated side by side."""
        self.simulations += len(many)
        run = self._simulated(self.forces(many))
        rows = [self.residual(x, q) for x, q in zip(many, run.q, strict=True)]
        total = (np.stack(rows) ** 2).sum(axis=-1)
        return np.where(np.isfinite(total), total, np.inf)
