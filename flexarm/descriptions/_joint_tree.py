"""Base class of the descriptions of a tree of joints."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._calls.arguments import check_finite, real_array
from .._calls.declared import Positions, Posture
from .._calls.doors import checked_class
from .._core import MAX_BODIES
from .._support.arrays import is_whole
from .._support.checks import as_array, as_numbers, short_text
from .._support.description import Description
from .._support.printing import Printed, Sheet, Table
from ..bodies.axes import unit_screw
from ..errors import ArgumentError, ModelError
from .poses import is_list, point_and_pitch

Array = NDArray[np.float64]
Tree = TypeVar("Tree", bound="JointTree")


def check_parents(parents: object, n: int) -> tuple[int, ...]:
    """Parent of each of n joints, -1 for the base; a chain for None."""
    if parents is None:
        return tuple(range(-1, n - 1))
    if not is_list(parents):
        raise ModelError(
            f"parents are {short_text(parents)}, expected one number for each joint"
        )
    given = tuple(parents)
    if len(given) != n:
        raise ModelError(f"{len(given)} parents are given, expected {n}, one a joint")
    for i, p in enumerate(given):
        if not is_whole(p) or not -1 <= p < i:
            raise ModelError(
                f"parent of joint {i} (counted from 0) is {short_text(p)}, expected "
                "-1 for the base or the number of a joint before it"
            )
    return tuple(int(p) for p in given)


def check_screws(screws: object) -> tuple[Array, ...]:
    """Unit screws of each joint, (6, n_i)."""
    if not is_list(screws):
        raise ModelError(
            f"screws are {short_text(screws)}, expected one or more for each joint"
        )
    result = []
    for i, item in enumerate(screws):
        what = f"screw of joint {i} (counted from 0)"
        several = as_numbers(what, item).ndim == 2
        S = as_array(what, item, (6, None) if several else (6,)).reshape(6, -1)
        if S.shape[1] > 6:
            raise ModelError(f"{what} has {S.shape[1]} columns, expected at most 6")
        columns = [unit_screw(what, x) for x in S.T]
        result.append(as_array(what, np.reshape(columns, (-1, 6)).T, (6, None)))
    if not 1 <= len(result) <= MAX_BODIES:
        raise ModelError(
            f"screws of {len(result)} joints are given, expected 1 to {MAX_BODIES}"
        )
    return tuple(result)


def _listed(vector: Array) -> str:
    return ", ".join(f"{x:.4g}" for x in vector.round(12) + 0.0)


@checked_class
class JointTree(Printed, Description):
    """Base class of the descriptions: a tree of joints, each with screws."""

    screws: Any
    parents: Any
    _axes = ""  # of the screws, in words

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.n_bodies} bodies, {self.nq} joint "
            "coordinates>"
        )

    def _sheet(self) -> Sheet:
        rows = [("joint", "on", "axis", "point m", "pitch m/rad")]
        for i, (S, p) in enumerate(zip(self.screws, self.parents, strict=True)):
            on = "base" if p < 0 else str(p)
            for turn, slide in zip(S[:3].T, S[3:].T, strict=True):
                if turn.any():
                    point, h = point_and_pitch(np.r_[turn, slide])
                    line = (_listed(turn), _listed(point), f"{h:.4g}")
                    rows.append((str(i), on, *line))
                else:
                    rows.append((str(i), on, _listed(slide), "", "slides"))
            if not S.shape[1]:
                rows.append((str(i), on, "fixed", "", ""))
        return Sheet((f"{self!r}, screws in {self._axes}", Table(rows)))

    @property
    def n_bodies(self) -> int:
        """Number of bodies, and of their joints."""
        return len(self.parents)

    @property
    def nq(self) -> int:
        """Number of joint coordinates."""
        return sum(S.shape[1] for S in self.screws)

    def poses(self, q: Positions) -> Array:
        """Poses of all bodies in the base, by the formula of the description.

        Parameters
        ----------
        q : (..., nq) array_like of float
            Coordinates, in rad and m.

        Returns
        -------
        C : (..., n_bodies, 4, 4) ndarray of float
            Translations in m.

        Examples
        --------
        >>> import numpy as np
        >>> from flexarm.descriptions import DenavitHartenberg
        >>> arm = DenavitHartenberg([(1, 0, 0, 0), (1, 0, 0, 0)])
        >>> arm.poses([np.pi / 2, -np.pi / 2])[1, :3, 3].round(12) + 0.0
        array([1., 1., 0.])
        >>> arm.poses(np.zeros((7, 2))).shape
        (7, 2, 4, 4)
        """
        return self._poses(self._coordinates(q))

    def zero_at(self: Tree, q0: Posture) -> Tree:
        """Return the same tree with coordinates that are zero where they were `q0`.

        Parameters
        ----------
        q0 : (nq,) array_like of float
            Coordinates, in rad and m.

        Returns
        -------
        description : the same type
            Its poses at q are those of this one at ``q0 + q``.

        Examples
        --------
        Controllers of robots often count from a pose of their own; here the addition
        goes to the rows (a, alpha, d, theta):

        >>> from flexarm.descriptions import DenavitHartenberg
        >>> arm = DenavitHartenberg([(1, 0, 0, 0), (1, 0, 0, 0)])
        >>> arm.zero_at([0.5, -0.2]).rows
        array([[ 1. ,  0. ,  0. ,  0.5],
               [ 1. ,  0. ,  0. , -0.2]])
        """
        return self._zero_at(as_array("q0", q0, (self.nq,)))

    def _poses(self, q: list[Array]) -> Array:
        raise NotImplementedError

    def _zero_at(self: Tree, q0: Array) -> Tree:
        raise NotImplementedError

    def _coordinates(self, q: ArrayLike) -> list[Array]:
        """Coordinates of each joint, (..., n_i)."""
        q = real_array("q", q)
        if q.ndim == 0 or q.shape[-1] != self.nq:
            raise ArgumentError(
                f"q has shape {q.shape}, the description has {self.nq} coordinates; "
                f"expected (..., {self.nq})"
            )
        check_finite("q", q)
        ends = np.cumsum([S.shape[1] for S in self.screws])
        return np.split(q, ends[:-1], axis=-1)

    def _check_screws(self, n: int | None = None) -> int:
        """Check screws and parents; returns the number of joints."""
        screws = check_screws(self.screws)
        if n is not None and len(screws) != n:
            raise ModelError(
                f"screws of {len(screws)} joints are given with {n} poses, expected as "
                "many"
            )
        parents = check_parents(self.parents, len(screws))
        self._set(screws=screws, parents=parents)
        return len(screws)
