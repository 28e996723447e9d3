"""How the record of a run is filled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._calls.arm_like import Array
from ...arm import Arm
from ...control._loops.comparison import Comparison
from ...control._loops.motions import Motion
from ...control._loops.record import LoopRun, ending
from ...control.states import n_positions
from ...linear_models.outputs import state_names
from ._deformations import Sensed


class Record:
    """Arrays of a run of a `ManipulatorController`, NaN until reached."""

    def __init__(
        self,
        arm: Arm,
        t: Array,
        batch: tuple[int, ...],
        integrator: str,
        max_step: float | None,
    ) -> None:
        self.arm, self.t, self.batch = arm, t, batch
        self.integrator, self.max_step = integrator, max_step
        nu, nj, joints = arm.nu, arm.nj, n_positions(arm)
        self.y = self._empty(joints + nj)
        self.u, self.command = self._empty(nu), self._empty(nu)
        widths = {"q": arm.nq, "qd": arm.nv, "tau": nu, "qdd": arm.nv}
        errors = ("position_error", "rate_error", "acceleration_error")
        self.compared: dict[str, Any] = {
            name: self._empty(n) for name, n in widths.items()
        }
        self.compared |= {name: self._empty(nj) for name in errors}
        self.desired = Motion(self._empty(joints), self._empty(nj), self._empty(nj))

    def _empty(self, *core: int) -> Array:
        return np.full((*self.batch, len(self.t), *core), np.nan)

    def sense(self, k: int, reading: Sensed | None) -> None:
        """Store a reading of the sensors."""
        if reading is not None:
            self.y[..., k, :] = np.concatenate(reading, axis=-1)

    def compare(self, k: int, step: Comparison) -> None:
        """Store a comparison."""
        error = "deformation_error"
        if step.deformation_error is not None and error not in self.compared:
            self.compared[error] = self._empty(self.arm.n_nodes, 6)
        at: tuple[slice | int, ...] = (*(slice(None) for _ in self.batch), k)
        for name, rows in self.compared.items():
            value = getattr(step, name)
            rows[at] = np.nan if value is None else value
        for rows, motion in zip(self.desired[:3], step.desired, strict=False):
            rows[at] = motion

    def correct(self, k: int, tau: Array) -> None:
        """Store corrected forces."""
        self.u[..., k, :] = tau

    def send(self, k: int, command: Array) -> None:
        """Store a command; the first one has the width of all."""
        if k == 0 and command.shape[-1] != self.command.shape[-1]:
            self.command = self._empty(command.shape[-1])
        self.command[..., k, :] = command

    def result(self, note: str) -> LoopRun:
        """Run as far as it got, with a sentence about how it ended."""
        arm, nj = self.arm, self.arm.nj
        reached = np.asarray(np.isfinite(self.u).all(-1))
        success, message = ending(
            reached,
            self.t,
            note,
            lambda i: "the state became infinite, try smaller gains or steps",
        )
        # the trajectory has no part of a step, the comparison has
        q, qd = (
            np.where(reached[..., np.newaxis], self.compared[name], np.nan)
            for name in ("q", "qd")
        )
        names = state_names(arm.coordinate_names[:nj])[nj:]
        comparison = Comparison(
            arm,
            self.t,
            **self.compared,
            desired=self.desired,
            integrator=self.integrator,
            max_step=self.max_step,
        )
        return LoopRun(
            arm,
            self.t,
            q,
            qd,
            self.u,
            self.integrator,
            success,
            message,
            sample_times=self.t,
            y=self.y,
            sensor_names=(*arm.position_names[: n_positions(arm)], *names),
            u=self.u,
            command=self.command,
            saturated=np.zeros(self.u.shape, dtype=bool),
            states=self._empty(0),
            comparison=comparison,
        )
