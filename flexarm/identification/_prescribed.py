"""Joints whose motion is given: a stiff spring and damper follow measured positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .._support.options import did_you_mean
from ..arm import Arm
from ..bodies import Body
from ..errors import ArgumentError
from ..simulation import Trajectory
from ._records import Record

Array = NDArray[np.float64]

# angular frequency, times the longest step of the samples, at which the inertia of all
# that the joint moves would swing on the spring; the damper is critical for the inertia
# that the joint feels at once, less where links bend
_RATE = 4.0
# Deviation, in ranges of the given motion, above which a note says so.
_MAX_DEVIATION = 1e-3


class Prescribed:
    """Given motion of some joints in a record, and arms whose joints follow it.

    The springs are those of one arm; with them the joint lags by the force that it
    needs over the stiffness, which `following` measures.
    """

    def __init__(self, arm: Arm, record: Record, number: int) -> None:
        from scipy.interpolate import CubicSpline

        given: Mapping[str, Array] = record.prescribed or {}
        self.names, self.nv = tuple(given), arm.nv
        self.bodies = [_joint(arm, name, number) for name in given]
        self.at = [arm.body_joint_slice(k).start for k in self.bodies]
        self.places = [
            arm.body_joint_slice(k, positions=True).start for k in self.bodies
        ]
        self.columns = [
            int(np.flatnonzero(arm.actuator_indices == i)[0]) for i in self.at
        ]
        self.q = np.stack([given[name] for name in given], axis=-1)
        self.qd = np.asarray(CubicSpline(record.t, self.q)(record.t, 1))
        # springs for the inertia that moves with the joint at the start
        q0 = np.array(arm.neutral if record.q0 is None else record.q0)
        q0[self.places] = self.q[0]
        M = arm.mass_matrix(q0)
        rate = _RATE / float(np.diff(record.t).max())
        self.stiffness = np.diag(M)[self.at] * rate**2
        self.damping = 2.0 * np.sqrt(
            self.stiffness / np.diag(np.linalg.inv(M))[self.at]
        )

    def arm(self, arm: Arm) -> Arm:
        """The arm with these springs in place of all forces inside its joints."""
        bodies: list[Body] = list(arm.bodies)
        pairs = zip(self.bodies, self.stiffness, self.damping, strict=True)
        for k, stiffness, damping in pairs:
            joint = bodies[k].joint.replace(
                stiffness=float(stiffness),
                damping=float(damping),
                rest=0.0,
                coulomb_friction=None,
                stops=None,
            )
            bodies[k] = bodies[k].replace(joint=joint)
        led: Arm = arm.replace(bodies=bodies)
        return led

    def arms(self, make_arm: Callable[[Array], Arm]) -> Callable[[Array], Arm]:
        """The same of the arms of parameters."""
        return lambda p: self.arm(make_arm(p))

    def forces(self, arm: Arm, record: Record) -> Array:
        """(n, nu or nv) forces of the record, and those that move the springs."""
        shape = (len(record.t), arm.nu)
        wide = record.tau is not None and record.tau.shape[1] != arm.nu
        tau = np.zeros(shape) if record.tau is None else np.array(record.tau)
        n = len(record.t)
        moving = self.stiffness * self.q[:n] + self.damping * self.qd[:n]
        tau[:, self.at if wide else self.columns] = moving
        return tau

    def start(self, q0: Array, qd0: Array) -> None:
        """Set the first positions and rates of these joints."""
        q0[self.places], qd0[self.at] = self.q[0], self.qd[0]

    def following(self, q: Array) -> Array:
        """Largest deviations of a motion from the given one, in ranges of that."""
        off = np.abs(q[:, self.places] - self.q[: len(q)]).max(axis=0)
        span = np.ptp(self.q[: len(q)], axis=0)
        return np.asarray(off / np.where(span > 0.0, span, 1.0))


def notes_on_following(
    ways: Sequence[Prescribed | None], runs: Sequence[Trajectory]
) -> list[str]:
    """Notes on joints that do not follow their given motion."""
    result: list[str] = []
    if not runs:
        return result
    for number, (run, way) in enumerate(zip(runs, ways, strict=True)):
        if way is None:
            continue
        for name, far in zip(way.names, way.following(run.q), strict=True):
            if far > _MAX_DEVIATION:
                result.append(
                    f"{name} of record {number} deviates by {100.0 * far:.2g} % of its "
                    "range from its prescribed motion; give more samples per second"
                )
    return result


def _joint(arm: Arm, name: str, number: int) -> int:
    """Body of a joint by the name of its coordinate; refuses unsuitable joints."""
    names = arm.coordinate_names[arm.joint_slice]
    if name not in names:
        raise ArgumentError(
            f"prescribed of record {number} has {name!r}, expected joints out of "
            f"{', '.join(map(repr, names))}{did_you_mean(name, names)}"
        )
    i = names.index(name)
    owns = [arm.body_joint_slice(k) for k in range(len(arm.bodies))]
    k = next(k for k, own in enumerate(owns) if own.start <= i < own.stop)
    joint = arm.bodies[k].joint
    if owns[k].stop - owns[k].start != 1 or joint.has_pose:
        raise ArgumentError(
            f"prescribed of record {number} has {name!r}, a coordinate of a joint of "
            f"kind {joint.kind!r}; expected joints of one freedom"
        )
    if joint.drive is not None:
        raise ArgumentError(
            f"prescribed of record {number} has {name!r}, whose joint has a drive; "
            "expected an arm without it there: a measured motor leads a hub, and a "
            "spring between hub and link is a joint with stiffness"
        )
    return k
