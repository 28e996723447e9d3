"""Motions that are wanted of the joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.polynomial import polynomial

from ..._calls.arguments import shaped
from ..._calls.declared import Choice, Finite, Kept, Positive
from ..._calls.doors import checked, checked_record
from ..._support.arrays import Array
from ...errors import ArgumentError

# shares of the way by the share of the time, and their four derivatives
_SHARES = {
    degree: [polynomial.polyder(share, k).tolist() for k in range(5)]
    for degree, share in (
        (5, [0.0, 0.0, 0.0, 10.0, -15.0, 6.0]),
        (9, [0.0, 0.0, 0.0, 0.0, 0.0, 126.0, -420.0, 540.0, -315.0, 70.0]),
    )
}


class Motion(NamedTuple):
    """Desired motion of the joints, and of the nodes if wanted, at one time.

    Attributes
    ----------
    q : (..., n_positions) array_like of float
        Joint positions in rad or m.
    qd, qdd : (..., nu) array_like of float
        Joint velocities and accelerations.
    deformation : (..., n_nodes, 6) array_like of float, optional
        Deformation of each node in rad and m, see `node_deformations` of
        `flexarm.reference.patent_loop`; NaN where none is desired.
    """

    q: Array
    qd: Array
    qdd: Array
    deformation: Array | None = None


def _row(what: str, value: object) -> Array:
    return np.array(shaped(what, value, None))


@checked_record("{field}")
@dataclass(frozen=True, eq=False)
class RestToRest:
    """Motion of the joints from rest to rest, a polynomial in time.

    Velocities and accelerations are zero at both ends, of degree 9 also two more rates;
    before and after the arm rests.

    Parameters
    ----------
    start, end : (..., nu) array_like of float
        Joint positions in rad or m, one coordinate per joint.
    duration : float
        Time from rest to rest, in s.
    begin : float
        Time at which the motion begins, in s.
    degree : {5, 9}
        Of the polynomial.  Forces of motors behind elastic shafts follow the fourth
        rate, and jump unless it is zero at the ends: 9.

    Examples
    --------
    Half of the way at half of the time, with 15/8 of the mean velocity:

    >>> import flexarm as fa
    >>> motion = fa.control.RestToRest([0.0], [1.0], duration=2.0)
    >>> q, qd, qdd, _ = motion(1.0)
    >>> q, qd, qdd
    (array([0.5]), array([0.9375]), array([0.]))

    >>> fa.control.RestToRest([[0.0], [1.0]], [2.0], 1.0)(0.3).q.shape
    (2, 1)
    """

    start: Annotated[Any, Kept(_row)]
    end: Annotated[Any, Kept(_row)]
    duration: Positive
    begin: Finite = 0.0
    degree: Annotated[int, Choice(*_SHARES)] = 5

    def __post_init__(self) -> None:
        try:
            np.broadcast_shapes(self.start.shape, self.end.shape)
        except ValueError:
            raise ArgumentError(
                f"start has shape {self.start.shape} and end {self.end.shape}, "
                "expected one position per joint in both"
            ) from None

    @checked
    def __call__(self, t: float) -> Motion:
        """Motion at the time `t` in s."""
        return Motion(*self._rates(t, 3))

    def derivatives(self, t: float) -> tuple[Array, Array, Array, Array, Array]:
        """Positions and four rates at a time, as laws of elastic joints take them.

        Parameters
        ----------
        t : float
            Time in s.

        Returns
        -------
        q, qd, qdd, jerk, snap : (..., nu) ndarray of float
            In rad or m, and per s, to the fourth.

        Examples
        --------
        >>> import flexarm as fa
        >>> motion = fa.control.RestToRest([0.0], [1.0], duration=2.0, degree=9)
        >>> [float(x[0].round(4)) for x in motion.derivatives(1.0)]
        [0.5, 1.2305, 0.0, -9.8438, 0.0]
        """
        q, qd, qdd, jerk, snap = self._rates(t, 5)
        return q, qd, qdd, jerk, snap

    def _rates(self, t: float, n: int) -> list[Array]:
        """Positions and rates, n of them."""
        T, way = self.duration, self.end - self.start
        s = min(max((float(t) - self.begin) / T, 0.0), 1.0)
        shares = []
        for k, coefficients in enumerate(_SHARES[self.degree][:n]):
            share = 0.0
            for c in reversed(coefficients):
                share = share * s + c
            shares.append(share / T**k if k == 0 or 0.0 < s < 1.0 else 0.0)
        return [self.start + way * shares[0], *(way * share for share in shares[1:])]
