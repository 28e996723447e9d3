"""Fastest motion to a goal of the tip: the better of some branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..._support.arrays import Array
from ...errors import ArgumentError
from .._aim import Aim, Branch, branches_of
from .._collocation.ends import read_end
from .._excess import AIM, MAX_EXCESS, sorted_excess
from .._result import OptimalMotion, failed, interrupted
from .._rigid import RigidLevel
from .._verify import angle_of_goal
from ..limits import Limits

Way = Callable[[], tuple[float, Callable[[], OptimalMotion]]]

# Branches that are searched at most, since each costs a whole search.
_MAX_BRANCHES = 2
# Duration of the rigid arm over the least one, up to which a branch is searched.
_MAX_RATIO = 1.5


def postures_of_goal(
    level: RigidLevel, start: object, aim: Aim, limits: Limits
) -> list[Array]:
    """Joint positions (2, nu) at the start and at a goal, in each branch."""
    arm = level.arm
    first = read_end(arm, "path[0]", start)
    if first.aim is not None:
        raise ArgumentError(
            "path begins with a goal of the tip, expected positions of the joints, and "
            "the goal at the end"
        )
    low_high = np.asarray(limits.position)
    found = branches_of(arm, "path[1]", aim, first.q, low_high)
    return [np.stack([first.q, q])[:, : level.n] for q in found]


def fastest_of(ways: Sequence[Way], aim: Aim, tolerance: float) -> OptimalMotion:
    """The fastest of the motions of some branches, with what became of each.

    `tolerance` is the largest angle from the goal in rad.
    """
    searches, refused = [], None
    for way in ways:
        try:
            searches.append(way())
        except ArgumentError as error:
            refused = refused or error
    motions: list[OptimalMotion] = []
    for duration, search in sorted(searches, key=lambda x: x[0]):
        if len(motions) == _MAX_BRANCHES or duration > _MAX_RATIO * min(
            x[0] for x in searches
        ):
            break
        try:
            motions.append(_aimed(search(), aim, tolerance))
        except ArgumentError as error:
            refused = refused or error
            continue
        if motions[-1].status == "interrupted":
            break
    if not motions:
        assert refused is not None
        raise refused
    best = min(motions, key=lambda x: (not x.success, x.duration))
    if motions[-1].status == "interrupted" and best is not motions[-1]:
        best = interrupted(best, "interrupted while another branch was searched")
    n = best.arm.nj
    branches = tuple(
        Branch(x.q[0, :n].copy(), x.q[-1, :n].copy(), x.duration, x.success)
        for x in motions
    )
    return replace(best, branches=branches)


def _aimed(motion: OptimalMotion, aim: Aim, tolerance: float) -> OptimalMotion:
    """The motion with the angle of its simulated end from the goal."""
    checked = motion.verification
    if checked is None or aim.rotation is None:
        return motion
    angle = angle_of_goal(checked.trajectory, aim, motion.duration)
    over = (angle - tolerance) / tolerance
    excess = sorted_excess({**checked.excess, AIM: over})
    checked = replace(checked, orientation_error=angle, excess=excess)
    motion = replace(motion, verification=checked)
    if over <= MAX_EXCESS or not motion.success:
        return motion
    message = (
        f"the simulated tip turns by {angle:.3g} rad away from its goal, more than "
        f"orientation_tolerance, {tolerance:g} rad; give more intervals"
    )
    return failed(motion, message)
