"""Fastest motion along a path of a rigid arm whose base floats, see `_afloat`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..._support.arrays import Mask
from ...arm import Arm
from ...errors import ArgumentError
from .._afloat import Afloat
from .._floating import floating
from .._path import Path
from .._records import record_of
from .._result import OptimalMotion
from .._rigid import RigidLevel
from ..limits import (
    Limits,
    LimitsLike,
    checked_limits,
    constant_torque,
    refuse_unbounded,
)


def bases_of(level: RigidLevel, path: Path, limits: Limits) -> Mask | None:
    """Mask (nu,) of the rates of bases that float along a path, None without one."""
    if callable(limits.torque):
        return None
    bases = floating(level.arm, limits.torque)[: level.n]
    if not bases.any():
        return None
    name = level.joint_names[int(np.argmax(bases))]
    if bases.all():
        raise ArgumentError(
            "limits.torque are zero for all joints, so that nothing moves the arm; "
            "expected some above zero"
        )
    if not level.is_exact:
        raise ArgumentError(
            f"limits.torque of {name!r} are zero, so that the base floats where its "
            "momentum leads it; expected a path of a rigid arm, or two postures, the "
            'second one {"joints": {...}} of all other joints'
        )
    return bases


def afloat_optimum(
    level: RigidLevel,
    path: Path,
    limits: Limits,
    start: ArrayLike | None,
    rates: ArrayLike,
    bases: Mask,
    optimum: Callable[..., OptimalMotion],
) -> OptimalMotion:
    """Fastest motion along a path of a rigid arm whose base floats."""
    every = (level.n_positions, level.arm.nq)
    if path.space == "joint" and path.points.shape[1] in every:
        return _along_all(level, path, limits, rates, bases, optimum)
    own = undriven(limits, bases)
    refuse_unbounded(own)
    found = optimum(level, path, own, Afloat(start, bases), rates)
    tau = np.where(bases, 0.0, found.tau)  # by momentum, but for rounding
    return replace(found, tau=tau, limits=limits)


def _along_all(
    level: RigidLevel,
    path: Path,
    limits: Limits,
    rates: ArrayLike,
    bases: Mask,
    optimum: Callable[..., OptimalMotion],
) -> OptimalMotion:
    """The motion along a path of all joints, if it is one on which bases float."""
    try:
        return optimum(level, path, limits, None, rates)
    except ArgumentError as error:
        name = level.joint_names[int(np.argmax(bases))]
        raise ArgumentError(
            f"path has positions of {name!r}, which floats where its momentum leads "
            f"it as limits.torque are zero there; expected postures of the other "
            f"joints alone, and start for where it begins ({error})"
        ) from None


def undriven(limits: Limits, bases: Mask) -> Limits:
    """The limits without those of forces on bases, which are zero by momentum."""
    torque = np.where(bases, [[-np.inf], [np.inf]], limits.torque)
    return replace(limits, torque=torque)


def all_actuated(arm: Arm, limits: LimitsLike) -> tuple[Arm, Limits]:
    """The arm with an actuator at each joint, and limits with which none is more."""
    asked = record_of(Limits, "limits", limits)
    checked = checked_limits(asked, arm)
    torque, rate = np.zeros((2, arm.nj)), np.full((2, arm.nj), [[-np.inf], [np.inf]])
    torque[:, arm._actuated] = constant_torque(checked, "joints without an actuator")
    rate[:, arm._actuated] = checked.torque_rate
    bodies = [b.replace(joint=b.joint.replace(actuated=True)) for b in arm.bodies]
    every = replace(asked, torque=torque)
    if asked.torque_rate is not None:
        every = replace(every, torque_rate=rate)
    return arm.replace(bodies=bodies), every


def of_actuators(found: OptimalMotion, arm: Arm) -> OptimalMotion:
    """The motion with the forces of the actuators alone."""
    acting, limits, checked = arm._actuated, found.limits, found.verification
    if limits is not None:
        limits = replace(
            limits,
            torque=np.asarray(limits.torque)[:, acting],
            torque_rate=np.asarray(limits.torque_rate)[:, acting],
        )
    if checked is not None:
        run = checked.trajectory
        run = replace(run, arm=arm, tau=run.tau[:, acting])
        checked = replace(checked, trajectory=run)
    return replace(
        found, arm=arm, tau=found.tau[:, acting], verification=checked, limits=limits
    )
