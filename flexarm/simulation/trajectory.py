"""The result of a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._calls.arguments import any_of
from .._calls.arm_like import ArmLike, Array
from .._calls.chunks import in_chunks
from .._calls.doors import checked_class
from .._calls.units import coordinates_of, position_units
from .._support.labelled import Labelled, Labels, Variable, batch_axes
from .._support.later import Later
from .._support.printing import Printed, Sheet, Table
from ..kinematics.slopes import quiet_slopes
from .events import Occurrence


@checked_class
@dataclass(frozen=True, eq=False)
class Trajectory(Labelled, Printed):
    """Motion of an arm, or of a batch of them, on a grid of times.

    Samples that a run did not reach are NaN, see `success` and `message`.  `call` has
    the arguments that computed it, `to_xarray` returns its data with names and units,
    and `flexarm.save` keeps it in a file.  `plot` and `animate` are `plotting.joints`
    and `plotting.animate` of it; `flexarm.plotting` has other figures.

    Attributes
    ----------
    arm : Arm or ArmStack
        Arm, or stack of arms.
    t : (n,) ndarray of float
        Times in s.
    q, qd : (..., n, nq), (..., n, nv) ndarray of float
        Positions and velocities.
    tau : (..., n, nu or nv) ndarray of float
        Forces that acted, in N m or N.
    method : str
        Integrator.
    success : bool
        Whether every trajectory reached the last time, none of them grew without bound
        (1e6 rad/s or m/s), gained energy without forces, lost it to steps of ``"rk4"``
        without damping (rigid arms), took unstable steps or bent links to slopes above
        one, and the constraints do not contradict each other.
    message : str
        Reason for the end, and doubts about the result.
    steps, rejected : (...) ndarray of int
        Steps of each trajectory, and steps that error control rejected; None for
        solvers in Python.
    events : tuple of Occurrence
        Occurrences of the given `events`, in the order of time.
    estimated_error : (...) ndarray of float
        Of ``"ROS34PW2"``: error of the steps, added up, as a share of the size of the
        motion, by kinetic energy and that of strains; of ``"rk4"`` and
        ``"linear-acceleration"`` by kinetic energy, to a factor of about two, above one
        where steps are unstable; None for other methods and closed chains.  ``"rk4"``
        adds what it misses of the modes of the arm linearized at its start, without
        feedback.  Growth of
        errors in the motion, as in chaotic ones, comes on top.
    """

    arm: Any  # Arm or ArmStack
    t: Array
    q: Array
    qd: Array
    tau: Array
    method: str = "rk4"
    success: bool = True
    message: str = "reached the last time"
    steps: Any = None
    rejected: Any = None
    events: tuple[Occurrence, ...] = ()
    estimated_error: Array | None = None

    @property
    def completed(self) -> NDArray[np.signedinteger]:
        """Number of samples that each trajectory reached, (...)."""
        fine, n = np.isfinite(self.q).all(-1), self.q.shape[-2]
        count: NDArray[np.signedinteger] = fine.argmin(-1) + n * fine.all(-1)
        return count

    @property
    def kinetic(self) -> Array:
        """Kinetic energy in J, (..., n)."""
        return np.asarray(self._quiet("kinetic_energy", self.q, self.qd))

    @property
    def potential(self) -> Array:
        """Potential energy in J, (..., n)."""
        return np.asarray(self._quiet("potential_energy", self.q))

    @property
    def energy(self) -> Array:
        """Total energy in J, (..., n)."""

        def total(q: Array, qd: Array) -> Array:
            V = self._quiet("potential_energy", q)
            return V + self._quiet("kinetic_energy", q, qd)

        return np.asarray(in_chunks(self.arm, total, (self.q, self.qd)))

    @property
    def tip(self) -> Array:
        """Position of the tip in m, (..., n, 3)."""

        def place(q: Array) -> Array:
            return self._quiet("node_pose", self.arm.tip_node, q)[..., :3, 3]

        return np.asarray(in_chunks(self.arm, place, (self.q,)))

    @property
    def largest_slope(self) -> Array:
        """Largest slope in rad of a link in its own frame, (..., n)."""
        one = any_of(self.arm) is self.arm
        slopes = quiet_slopes(self.arm if one else self.arm[..., np.newaxis], self.q)
        finite = np.isfinite(self.q).all(axis=-1)
        return np.where(finite, slopes.max(axis=-1), np.nan)

    @property
    def violation(self) -> Array:
        """Largest violation of the constraints in m or rad, (..., n); zero without."""
        if not any_of(self.arm).constraint_names:
            return np.where(np.isfinite(self.q).all(axis=-1), 0.0, np.nan)

        def largest(q: Array) -> Array:
            return np.asarray(np.abs(self._quiet("constraint_violation", q)).max(-1))

        return np.asarray(in_chunks(self.arm, largest, (self.q,)))

    @property
    def violation_rate(self) -> Array:
        """Largest rate of a violation of the constraints in m/s or rad/s, (..., n)."""
        if not any_of(self.arm).constraint_names:
            return np.where(np.isfinite(self.q).all(axis=-1), 0.0, np.nan)

        def largest(q: Array, qd: Array) -> Array:
            A = self._quiet("constraint_jacobian", q)
            return np.asarray(np.abs((A @ qd[..., np.newaxis])[..., 0]).max(axis=-1))

        return np.asarray(in_chunks(self.arm, largest, (self.q, self.qd)))

    # of a room above, which knows matplotlib
    plot = Later(__package__, ".plotting", "joints")
    animate = Later(__package__, ".plotting", "animate")

    def _quiet(self, kernel: str, *operands: object) -> Array:
        one = any_of(self.arm) is self.arm
        arm = self.arm if one else self.arm[..., np.newaxis]
        return np.asarray(arm.kernels.quiet(kernel)(*operands))

    def _labels(self) -> Labels:
        arm = any_of(self.arm)
        at = motion_coordinates(arm, self.t, self.tau)
        batch = batch_axes(self.q.ndim - 2)
        variables = motion_variables(self, batch)
        for name, meaning in (
            ("steps", "steps of the integrator"),
            ("rejected", "steps that error control rejected"),
            ("estimated_error", "share of the size of the motion"),
        ):
            values = getattr(self, name)
            if values is not None:
                variables[name] = Variable(batch, values, "1", meaning)
        words = {"title": f"trajectory of {arm.name}", "method": self.method}
        words |= {"message": self.message, "success": str(self.success)}
        return Labels(variables, at, words)

    def _sheet(self) -> Sheet:
        return _trajectory_sheet(self)

    def __repr__(self) -> str:
        batch = " x ".join(map(str, self.q.shape[:-2]))
        many = f"{batch} trajectories" if batch else "one trajectory"
        name = any_of(self.arm).name
        return (
            f"<Trajectory of {name!r}: {many}, {len(self.t)} times from {self.t[0]:g} "
            f"to {self.t[-1]:g} s, {self.method}; {self.message}>"
        )


# Coordinates of a table at most.
MAX_COLUMNS = 40


def motion_coordinates(arm: ArmLike, t: Array, tau: Array) -> dict[str, Variable]:
    """Coordinates of a motion: times, names and units of positions and forces."""
    time = Variable(("time",), t, "s")
    return {"time": time, **coordinates_of(arm, np.shape(tau)[-1])}


def motion_variables(motion: object, batch: tuple[str, ...]) -> dict[str, Variable]:
    """Positions, velocities, accelerations if there are any, and forces."""
    found = {}
    for name, axis, meaning in (
        ("q", "position", "positions, units in position_unit"),
        ("qd", "velocity", "velocities, units in velocity_unit"),
        ("qdd", "velocity", "accelerations, units of velocities per s"),
        ("tau", "force", "forces, units in force_unit"),
    ):
        values = getattr(motion, name, None)
        if values is not None:
            found[name] = Variable((*batch, "time", axis), values, None, meaning)
    return found


def _trajectory_sheet(traj: Trajectory) -> Sheet:
    """Sheet of a trajectory; of a batch only the first line."""
    arm = traj.arm
    if traj.q.ndim != 2 or arm.nq > MAX_COLUMNS:
        return Sheet((repr(traj),))
    q = traj.q[: int(traj.completed)]
    if not len(q):
        return Sheet((repr(traj),))
    rows = [("coordinate", "first", "last", "least", "largest", "unit")]
    columns = np.stack([q[0], q[-1], q.min(axis=0), q.max(axis=0)], axis=1) + 0.0
    for name, values, unit in zip(
        arm.position_names, columns, position_units(arm), strict=True
    ):
        rows.append((name, *(f"{x:.5g}" for x in values), unit))
    return Sheet((repr(traj), Table(rows)))
