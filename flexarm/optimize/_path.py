"""A curve of the tip or of the joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._calls.arguments import real_array
from .._support.options import explained_class
from ..errors import ArgumentError

Array = NDArray[np.float64]


class PathPoints(NamedTuple):
    """Points of a path and their derivatives by s.

    Attributes
    ----------
    position, first, second : (..., d) ndarray of float
        In m or rad.
    """

    position: Array
    first: Array
    second: Array


@explained_class
@dataclass(frozen=True, eq=False)
class Path:
    """Curve over s from 0 to 1, of the tip or of the joints.

    Made by `line`, `arc`, `circle`, `spline` and `joint_path`.

    Attributes
    ----------
    space : {"tip", "joint"}
        The positions that the curve has.
    kind : str
        ``"line"``, ``"arc"``, ``"circle"``, ``"spline"`` or ``"straight"``.
    points : (n, d) ndarray of float
        The points that define it, in m or rad.

    Examples
    --------
    >>> from flexarm.optimize import paths
    >>> path = paths.line([1.8, 0.2, 0.0], [1.6, 0.7, 0.0])
    >>> path([0.0, 0.5]).position
    array([[1.8 , 0.2 , 0.  ],
           [1.7 , 0.45, 0.  ]])
    """

    space: str
    kind: str
    points: Array
    _curve: Any

    def __call__(self, s: Any) -> PathPoints:
        """Points and derivatives at path parameters.

        Parameters
        ----------
        s : (...) array_like of float
            Path parameters, from 0 to 1.

        Returns
        -------
        points : PathPoints
            Arrays of shape (..., d).

        Raises
        ------
        ArgumentError
            If a parameter is outside of the path.
        """
        at = real_array("s", s)
        if not ((at >= 0.0) & (at <= 1.0)).all():
            wrong = at[~((at >= 0.0) & (at <= 1.0))].flat[0]
            raise ArgumentError(f"s is {wrong:g}, expected a number from 0 to 1")
        points: PathPoints = self._curve(at)
        return points

    @property
    def start(self) -> Array:
        """First point."""
        return self(0.0).position

    @property
    def end(self) -> Array:
        """Last point."""
        return self(1.0).position

    @property
    def length(self) -> float:
        """Length of the curve in m; for joints, length of the curve of their vector."""
        x, weight = np.polynomial.legendre.leggauss(8)
        edges = np.linspace(0.0, 1.0, 32 * max(len(self.points) - 1, 1) + 1)
        half = 0.5 * np.diff(edges)[:, np.newaxis]
        s = edges[:-1, np.newaxis] + half * (1.0 + x)
        speed = np.linalg.norm(self(s).first, axis=-1)
        return float((half * weight * speed).sum())

    def __repr__(self) -> str:
        return f"<Path of the {self.space}: {self.kind}, {len(self.points)} points>"
