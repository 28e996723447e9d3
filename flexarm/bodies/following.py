"""Joints of an arm that follow others and have no coordinates of their own."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._calls.doors import checked_record
from .._support.arrays import Array
from .drives import Drive
from .joints import Joint


class Following(NamedTuple):
    """Position of a joint, ratio times that of its leader, plus offset."""

    leader: str  # name of its coordinate
    ratio: float
    offset: float


@checked_record("{field} of the joint")
@dataclass(frozen=True, eq=False)
class FollowingJoint(Joint):
    """A joint of one freedom whose coordinate an arm has eliminated.

    Only arms make such joints, of those that their couplings name; `alone` is the joint
    as it was described.  Fields are those of the description; what counts coordinates
    counts none.
    """

    follows: Following = field(default=Following("", 1.0, 0.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(_counts=False)  # once what it describes has been checked

    @property
    def alone(self) -> Joint:
        """The joint with its own coordinate."""
        names = [f.name for f in dataclasses.fields(Joint) if f.init]
        return Joint(**{name: getattr(self, name) for name in names})

    @property
    def n_dof(self) -> int:
        """Number of velocities, none once the joint is made."""
        return super().n_dof if getattr(self, "_counts", True) else 0

    @cached_property
    def screws(self) -> Array:
        """No columns, (6, 0)."""
        result = np.zeros((6, 0))
        result.flags.writeable = False
        return result

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """No names."""
        return ()

    @property
    def friction(self) -> Array:
        """No velocities, (0,)."""
        return np.zeros(0)


def following(joint: Joint, leader: str, ratio: float, offset: float) -> FollowingJoint:
    """Return a joint without its coordinate."""
    names = [f.name for f in dataclasses.fields(Joint) if f.init]
    fields = {name: getattr(joint, name) for name in names}
    return FollowingJoint(**fields, follows=Following(leader, ratio, offset))


def free_joint(joint: Joint) -> Joint:
    """Return the joint as it was described, with its own coordinate."""
    return joint.alone if isinstance(joint, FollowingJoint) else joint


@checked_record("{field} of the drive")
@dataclass(frozen=True, eq=False)
class GearedDrive(Drive):
    r"""A rigid drive whose motor coordinate an arm has eliminated, q_motor = N q_joint.

    The rotor, of inertia J about the axis of a joint that turns, has the energy

    .. math:: \tfrac12 J (w_p + N \dot q)^2
        = \tfrac12 \left(N J w^2 + (1 - N) J w_p^2 + N (N - 1) J \dot q^2\right)

    with the angular velocities of the body, w, and of its carrier, w_p, about the axis,
    since :math:`w = w_p + \dot q`: that of inertias about the axis in both of them, and
    of an armature.
    """

    @property
    def is_free(self) -> bool:
        """Whether the motor has a coordinate: no."""
        return False

    @property
    def described(self) -> Drive:
        """The drive with its motor as a coordinate."""
        return Drive(*(getattr(self, f.name) for f in _DRIVE if f.init))

    @property
    def shares(self) -> tuple[float, float, float]:
        """Inertias about the axis of carrier and body, and armature, in kg m^2."""
        J, N = self.rotor_inertia, self.gear_ratio
        return (1.0 - N) * J, N * J, N * (N - 1.0) * J


_DRIVE = dataclasses.fields(Drive)


def geared(drive: Drive) -> GearedDrive:
    """Return a rigid drive without the coordinate of its motor."""
    return GearedDrive(*(getattr(drive, f.name) for f in _DRIVE if f.init))


def described_drive(drive: Drive | None) -> Drive | None:
    """Return the drive with the coordinate that its motor has in a description."""
    return drive.described if isinstance(drive, GearedDrive) else drive
