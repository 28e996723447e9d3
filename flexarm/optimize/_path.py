"""A curve of the tip or of the joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import real_array
from .._calls.declared import Floats
from .._calls.doors import checked_class
from .._support.arrays import Array
from ..errors import ArgumentError
from ._orientation import AXES, PathRotations, angle_between


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


@checked_class
@dataclass(frozen=True, eq=False)
class Path:
    """Curve over s from 0 to 1, of the tip or of the joints.

    Made by `line`, `arc`, `circle`, `spline` and `joint_path`; `with_orientation` adds
    an orientation of the tip.

    Attributes
    ----------
    space : {"tip", "joint"}
        The positions that the curve has.
    kind : str
        ``"line"``, ``"arc"``, ``"circle"``, ``"spline"`` or ``"straight"``.
    points : (n, d) ndarray of float
        The points that define it, in m or rad.
    rotations : (n, 3, 3) ndarray of float or None
        The rotations that define the orientation of the tip, with orthonormal columns;
        None if it is free.
    axis : {None, "x", "y", "z"}
        The axis of the tip about which it may spin, if there is one.

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
    _curve: Callable[[Array], PathPoints]
    rotations: Array | None = None
    axis: str | None = None
    _turn: Callable[[Array], PathRotations] | None = None
    _parameters: Array | None = None  # of its points, where they are given

    def __call__(self, s: Annotated[ArrayLike, Floats("(...)")]) -> PathPoints:
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
        points: PathPoints = self._curve(_parameters(s))
        return points

    def orientation(self, s: Annotated[ArrayLike, Floats("(...)")]) -> PathRotations:
        """Rotations of the tip and their derivatives at path parameters.

        Parameters
        ----------
        s : (...) array_like of float
            Path parameters, from 0 to 1.

        Returns
        -------
        rotations : PathRotations
            Rotations (..., 3, 3), angular velocities by s (..., 3) in axes of the base
            and their derivatives.  With an axis about which the tip may spin, one
            rotation of many.

        Raises
        ------
        ArgumentError
            If a parameter is outside of the path, or the orientation is free.

        Examples
        --------
        A tool that is held in the axes of the base:

        >>> import numpy as np
        >>> from flexarm.optimize import paths
        >>> line = paths.line([1.8, 0.2], [1.6, 0.7])
        >>> held = paths.with_orientation(line, np.eye(3))
        >>> held.orientation(0.5).first
        array([0., 0., 0.])
        """
        if self._turn is None:
            raise ArgumentError(
                "the path has no orientation, expected one of paths.with_orientation"
            )
        rotations: PathRotations = self._turn(_parameters(s))
        return rotations

    @property
    def is_oriented(self) -> bool:
        """Whether the path asks for an orientation of the tip."""
        return self._turn is not None

    @property
    def _axis(self) -> int | None:
        """Number of the axis about which the tip may spin."""
        return None if self.axis is None else AXES.index(self.axis)

    def _angles(self, s: Array, rotation: Array) -> Array:
        """Angles (n,) in rad between rotations (n, 3, 3) and those at s."""
        return angle_between(self.orientation(s).rotation, rotation, self._axis)

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
        way = f"{self.kind}, {len(self.points)} points"
        if self.rotations is not None:
            kind = "rotations" if self.axis is None else f"directions of {self.axis}"
            way += f", {len(self.rotations)} {kind}"
        return f"<Path of the {self.space}: {way}>"


def _parameters(s: ArrayLike) -> Array:
    at: Array = real_array("s", s)
    if not ((at >= 0.0) & (at <= 1.0)).all():
        wrong = at[~((at >= 0.0) & (at <= 1.0))].flat[0]
        raise ArgumentError(f"s is {wrong:g}, expected a number from 0 to 1")
    return at
