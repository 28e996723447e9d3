"""Clearances of links, also between the nodes of a motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._support.arrays import Array, Mask
from ...arm import Arm
from ...simulation import Trajectory
from .._around import Way, ways_around
from .._charts import coordinates
from .._clearance import Clearance
from .._local import Local
from .._programs.program import Term
from .._rigid import RigidLevel
from ..limits import Limits, clearance_of
from .clearance import Apart
from .of_design import ApartOfDesign, Family
from .points import AtPoints, Gathered
from .transcription import Collocation

# Distance, over the least one, at which a pair of links counts as near in a first
# motion: with less, a search meets pairs that it does not know; with more, it has more
# rows.
_ENGAGED_RATIO = 1.5
# Ways around obstacles that are searched, on different sides: each costs a search.
_MAX_WAYS = 3
# Factor of what a simulation lacks, by which clearances are widened: with 1 the next
# search ends at the limit again.
_MARGIN_RATIO = 1.25
# Factor of a distance that limits nothing, at a point that is a node as well and has
# its row there.
_FREE_RATIO = 1e3
# Part of a distance by which it is widened at most.
_MAX_WIDENING = 0.5


class Separation:
    """Links that stay away from obstacles and from each other.

    Constraints are those of pairs that came near in some motion before: what stays far
    away does not change the search.

    Parameters
    ----------
    arm : Arm
        The arm.
    limits : Limits
        Checked limits.
    family : Family, optional
        Arms of other parameters, where these are unknown.

    Attributes
    ----------
    names : tuple of str
        Of the pairs.
    """

    def __init__(self, arm: Arm, limits: Limits, family: Family | None = None) -> None:
        self._arm, self._limits, self._family = arm, limits, family
        self._clearance = clearance_of(arm, limits)
        self._fine = clearance_of(arm, limits, fine=True)
        pairs = () if self._clearance is None else self._clearance.pairs
        self.names = tuple(pair.name for pair in pairs)
        self._used = np.zeros(len(pairs), dtype=bool)
        # wider by these parts, of each interval: (N, pairs)
        self._wider: Array | None = None

    @property
    def engaged(self) -> bool:
        """Whether some motion came near to something."""
        return bool(self._used.any())

    def ways(self, start: Array, end: Array) -> list[Way]:
        """Ways of the joints between two postures that touch nothing."""
        if self._clearance is None or self._arm.nu < self._arm.nj:
            return []  # of joints without actuators none is known
        level = RigidLevel(self._arm, "a way around obstacles")
        limits = np.asarray(self._limits.position)
        return ways_around(
            self._arm, self._clearance, start, end, limits, level.S, _MAX_WAYS
        )

    def terms(self, motion: Collocation, free: Sequence[int] = ()) -> list[Term]:
        """Constraints at all nodes but the ends that are not free, and between them.

        With unknown parameters both ends are free.
        """
        if self._clearance is None or not self._used.any():
            return []
        clearance = self._like(self._clearance, motion.arm).only(self._used)
        family = self._family if len(motion.p) else None
        N, p = motion.grid.intervals, len(clearance.pairs)
        wider = np.zeros((N, p)) if self._wider is None else self._wider[:, self._used]
        nodes = np.zeros((N + 1, p))
        nodes[1:-1] = np.maximum(wider[1:], wider[:-1])
        free = free if family is None else (0, N)
        kept = np.array([*range(1, N), *(k % (N + 1) for k in free)], dtype=int)
        size, k = clearance.low, 3 * motion.arm.nv + motion.arm.nu
        columns = motion.q[kept]
        at_node: Local = Apart(clearance)
        at_point: Local = Apart(clearance, k + len(motion.p))
        if family is not None:
            shared = np.tile(motion.p, (len(kept), 1))
            columns = np.hstack([columns, shared])
            at_node = ApartOfDesign(clearance, family)
            at_point = ApartOfDesign(clearance, family, k)
        at = Gathered(
            at_node,
            columns,
            size * (1.0 + nodes[kept][:, clearance.pair]),
            np.inf,
            size,
        )
        inside = AtPoints(motion, at_point)
        d = len(motion.tableau.c)
        low = (size * (1.0 + wider[:, clearance.pair])).repeat(d, axis=0)
        for i, c in enumerate(motion.tableau.c):
            if c in (0.0, 1.0):  # nodes as well
                low[i::d] = -_FREE_RATIO * size
        inside.lower, inside.upper = low.ravel(), np.full(low.size, np.inf)
        inside.scale = np.tile(size, N * d)
        return [at, inside]

    def _like(self, clearance: Clearance, arm: Arm) -> Clearance:
        """Distances of an arm of the family."""
        return clearance if self._family is None else clearance.at(arm)

    def _parts(self, run: Trajectory) -> Array:
        """(n, pairs) distances of a simulated motion, as parts of the least ones."""
        assert self._fine is not None
        fine = self._like(self._fine, run.arm)
        q = coordinates(self._arm, run.q)
        return np.asarray(fine.nearest(q) / fine.least)

    def engage(self, q: Array, near: float = _ENGAGED_RATIO) -> bool:
        """Add pairs that come near at coordinates (n, nv); whether there are some."""
        if self._fine is None or not self.names or not np.isfinite(q).all():
            return False
        return self._engage(self._fine.nearest(q) < near * self._fine.least)

    def engage_touching(self, run: Trajectory) -> bool:
        """Add pairs that touch in a simulated motion; whether there are some."""
        if self._fine is None or not self.names or not np.isfinite(run.q).all():
            return False
        return self._engage(self._parts(run) < 1.0)

    def _engage(self, near: Mask) -> bool:
        came = near.any(axis=0)
        new = bool((came & ~self._used).any())
        self._used |= came
        return new

    def narrow(self, nodes: Array, run: Trajectory) -> None:
        """Widen the clearance around each interval by what a simulation lacks of it."""
        if self._fine is None or not self.names:
            return
        N = len(nodes) - 1
        interval = np.clip(np.searchsorted(nodes, run.t) - 1, 0, N - 1)
        lack = 1.0 - self._parts(run)
        most = np.zeros((N, len(self.names)))
        np.maximum.at(most, interval, lack)
        around = np.pad(most, ((1, 1), (0, 0)))
        most = np.maximum(np.maximum(around[:-2], around[2:]), most)
        before = np.zeros(1) if self._wider is None else self._wider
        self._wider = np.minimum(before + _MARGIN_RATIO * most, _MAX_WIDENING)

    @property
    def narrowed(self) -> float:
        """Largest part by which a clearance is wider."""
        return 0.0 if self._wider is None else float(self._wider.max(initial=0.0))

    def widen(self) -> None:
        """Forget what was narrowed."""
        self._wider = None
