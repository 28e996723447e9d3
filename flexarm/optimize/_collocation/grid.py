"""Intervals of time, and collocation points in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..._calls.arguments import count_of
from ..._support.arrays import Array
from ...errors import ArgumentError


class Tableau(NamedTuple):
    """Coefficients of a Runge-Kutta method."""

    c: Array
    A: Array
    b: Array


def tableau(scheme: str, points: int = 2) -> Tableau:
    """Coefficients of a collocation method.

    Parameters
    ----------
    scheme : {"gauss", "radau", "trapezoid"}
        Gauss points, of order 2 d without damping; right Radau points, of order
        2 d - 1, which damp modes that the step does not resolve; or average
        acceleration, of order two, with points at both ends.
    points : int
        Number d of points in an interval, 1 to 5; the trapezoid has two.

    """
    if scheme == "trapezoid":
        half = np.array([0.5, 0.5])
        return Tableau(np.array([0.0, 1.0]), np.array([[0.0, 0.0], half]), half)
    if scheme not in ("gauss", "radau"):
        raise ArgumentError(
            f"scheme is {scheme!r}, expected 'gauss', 'radau' or 'trapezoid'"
        )
    if not (isinstance(points, int) and 1 <= points <= 5):
        raise ArgumentError(f"points is {points!r}, expected a whole number of 1 to 5")
    # zeros of P_d, or of P_d - P_(d-1), the Radau polynomial with the zero 1
    last = [0.0] if scheme == "gauss" else [-1.0]
    series = [0.0] * (points - 1) + last + [1.0]
    c = 0.5 * (1.0 + np.sort(np.polynomial.legendre.legroots(series).real))
    powers = np.arange(points)
    basis = np.vander(c, increasing=True)
    # the integrals of c^j to each point, written in the values of c^j at the points
    A = (c[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(basis)
    b = (1.0 / (powers + 1)) @ np.linalg.inv(basis)
    return Tableau(c, A, b)


@dataclass(frozen=True)
class Grid:
    """Intervals of time before, during and after the main motion.

    Attributes
    ----------
    main : int
        Intervals of the main motion.
    before, after : int
        Intervals of the windows before and after it.
    before_share, after_share : float
        Lengths of the windows as shares of the duration.
    scheme, points : str, int
        As of `tableau`.  With Gauss points modes that the step does not resolve go on,
        and an arm with stiff modes hardly comes to rest: the default is Radau.
    clustered : float
        How much shorter than their mean the first and the last interval of the main
        motion are, zero to one: lengths are ``1 - clustered cos(2 pi s)`` of it.
        Forces of least effort change most at both ends, where fast modes come to
        rest.
    """

    main: int = 40
    before: int = 0
    after: int = 0
    before_share: float = 0.0
    after_share: float = 0.0
    scheme: str = "radau"
    points: int = 2
    clustered: float = 0.0

    def __post_init__(self) -> None:
        count_of("main", self.main, 1)
        for name in ("before", "after"):
            count = count_of(name, getattr(self, name), 0)
            share = getattr(self, f"{name}_share")
            if not share >= 0.0:
                raise ArgumentError(
                    f"{name}_share is {share}, expected none below zero"
                )
            if (count > 0) != (share > 0.0):
                raise ArgumentError(
                    f"the window {name} the motion has {count} intervals and the "
                    f"length {share} T, expected both or neither"
                )
        if not 0.0 <= self.clustered < 1.0:
            raise ArgumentError(
                f"clustered is {self.clustered}, expected zero or more, less than one"
            )
        tableau(self.scheme, self.points)

    @property
    def intervals(self) -> int:
        """Number of all intervals."""
        return self.before + self.main + self.after

    @property
    def start(self) -> int:
        """Node where the main motion starts."""
        return self.before

    @property
    def end(self) -> int:
        """Node where the main motion ends."""
        return self.before + self.main

    def lengths(self) -> Array:
        """Lengths of the intervals as parts of the duration, (N,)."""
        main = np.full(self.main, 1.0 / self.main)
        if self.clustered:
            s = np.linspace(0.0, 1.0, self.main + 1)
            s -= self.clustered / (2.0 * np.pi) * np.sin(2.0 * np.pi * s)
            main = np.diff(s)
        before, after = (
            np.full(count, share / max(count, 1))
            for count, share in (
                (self.before, self.before_share),
                (self.after, self.after_share),
            )
        )
        return np.concatenate([before, main, after])
