"""History of a controller on a plant."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._motion import Sensed, joint_difference, n_positions, node_deformations

if TYPE_CHECKING:
    from ..arm import Arm
    from ._force_correction import Comparison

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ControlRun:
    """What a controller sensed, computed and sent, step by step.

    Rows that were not reached are NaN; `success` and `message` tell.  Joint positions
    are in rad or m, forces in N m or N.

    Attributes
    ----------
    arm : Arm
        The model of the controller.
    t : (n,) ndarray of float
        Times of the steps in s.
    sensed_q : (..., n, n_positions) ndarray of float
        Joint positions in rad or m that the sensors told; NaN where they told nothing.
    sensed_qd : (..., n, nu) ndarray of float
        Joint velocities of the sensors, in rad/s or m/s.
    q : (..., n, nq) ndarray of float
        Configuration on which the controller computed.
    qd : (..., n, nv) ndarray of float
        Its velocities.
    qdd : (..., n, nv) ndarray of float
        Accelerations that the specified forces would give.
    specified, tau : (..., n, nu) ndarray of float
        Specified and corrected joint forces.
    command : (..., n, k) ndarray of float
        Servo commands; NaN while they are stored.
    desired_q : (..., n, n_positions) ndarray of float
        Desired joint positions, in rad or m.
    desired_qd, desired_qdd : (..., n, nu) ndarray of float
        Desired joint velocities and accelerations.
    acceleration_error, rate_error, position_error : (..., n, nu) ndarray of float
        Desired less computed, as the correction saw them.
    tracking_error : (..., n, nu) ndarray of float
        Desired less sensed joint positions, in rad or m.
    deformation_error : (..., n, n_nodes, 6) ndarray of float or None
        Desired less computed node deformations in rad and m, if some were desired.
    success : bool
        Whether every member reached the last time.
    message : str
        What happened.
    """

    arm: Arm
    t: Array
    sensed_q: Array
    sensed_qd: Array
    q: Array
    qd: Array
    qdd: Array
    specified: Array
    tau: Array
    command: Array
    desired_q: Array
    desired_qd: Array
    desired_qdd: Array
    acceleration_error: Array
    rate_error: Array
    position_error: Array
    tracking_error: Array
    deformation_error: Array | None = None
    success: bool = True
    message: str = "reached the last time"

    @property
    def completed(self) -> Any:
        """(...) number of steps that each member reached."""
        return _count(self.tau)

    @property
    def deformation(self) -> Array:
        """(..., n, n_nodes, 6) computed node deformations in rad and m."""
        return node_deformations(self.arm, self.q)

    def __repr__(self) -> str:
        batch = " x ".join(map(str, self.q.shape[:-2]))
        many = f"{batch} loops" if batch else "one loop"
        return (
            f"<ControlRun of {self.arm.name!r}: {many}, {len(self.t)} steps from "
            f"{self.t[0]:g} to {self.t[-1]:g} s; {self.message}>"
        )


class Record:
    """The arrays of a run while it is going on, NaN until reached."""

    def __init__(self, arm: Arm, t: Array, batch: tuple[int, ...]) -> None:
        self.arm, self.t, self.batch = arm, t, batch
        self.rows = {
            field.name: self._empty(arm.nu)
            for field in fields(ControlRun)
            if field.name not in ("arm", "t", "success", "message")
        }
        for name in ("qd", "qdd"):
            self.rows[name] = self._empty(arm.nv)
        for name in ("sensed_q", "desired_q"):
            self.rows[name] = self._empty(n_positions(arm))
        self.rows["q"] = self._empty(arm.nq)
        del self.rows["deformation_error"]  # only if some is desired

    def _empty(self, *core: int) -> Array:
        return np.full((*self.batch, len(self.t), *core), np.nan)

    def sense(self, k: int, reading: Sensed | None) -> None:
        """Store what the sensors told."""
        if reading is not None:
            self.rows["sensed_q"][..., k, :] = reading.q
            self.rows["sensed_qd"][..., k, :] = reading.qd

    def track(self, k: int) -> None:
        """Store how far the sensed motion is from the desired one."""
        sensed, wanted = self.rows["sensed_q"], self.rows["desired_q"]
        self.rows["tracking_error"][..., k, :] = joint_difference(
            self.arm, sensed[..., k, :], wanted[..., k, :]
        )

    def compare(self, k: int, step: Comparison) -> None:
        """Store a comparison."""
        rows, desired = self.rows, step.desired
        rows["specified"][..., k, :] = step.tau
        for name in ("q", "qd", "qdd", "acceleration_error", "rate_error"):
            rows[name][..., k, :] = getattr(step, name)
        rows["position_error"][..., k, :] = step.position_error
        for name in ("q", "qd", "qdd"):
            rows[f"desired_{name}"][..., k, :] = getattr(desired, name)
        if step.deformation_error is not None:
            if "deformation_error" not in rows:
                rows["deformation_error"] = self._empty(self.arm.n_nodes, 6)
            rows["deformation_error"][..., k, :, :] = step.deformation_error
        self.track(k)

    def correct(self, k: int, tau: Array) -> None:
        """Store corrected forces."""
        self.rows["tau"][..., k, :] = tau

    def send(self, k: int, command: Array) -> None:
        """Store a command; the first one tells how wide they are."""
        if k == 0 and command.shape[-1] != self.rows["command"].shape[-1]:
            self.rows["command"] = self._empty(command.shape[-1])
        self.rows["command"][..., k, :] = command

    def result(self, note: str) -> ControlRun:
        """What was reached, with a sentence about how it ended."""
        done = np.atleast_1d(_count(self.rows["tau"])).ravel()
        short = done < len(self.t)
        message = "reached the last time"
        success = not short.any() and not note
        if not success:
            message = note or "the state became infinite, try smaller gains or steps"
        if short.any():
            first = int(done.min())
            until = f"t = {self.t[max(first - 1, 0)]:g} s of {self.t[-1]:g} s"
            message += f": {int(short.sum())} of {len(done)} loops are incomplete, " + (
                f"the first ends at {until}" if first else "the first did not start"
            )
        return ControlRun(
            self.arm, self.t, **self.rows, success=success, message=message
        )


def _count(tau: Array) -> Any:
    """How many rows (..., n, nu) are finite from the first on."""
    finite = np.isfinite(tau).all(-1)
    return np.where(finite.all(-1), finite.shape[-1], finite.argmin(-1))
