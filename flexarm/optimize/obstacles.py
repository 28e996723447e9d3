"""Obstacles that the links of an arm stay away from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np

from .._calls.arguments import array_of, positive_number
from .._calls.declared import Kept
from .._calls.doors import checked_record
from .._support.arrays import Array
from .._support.checks import short_text
from ..errors import ArgumentError

__all__ = ["Capsule", "HalfSpace", "Sphere"]


def vector_of(name: str, value: object) -> Array:
    """A vector (3,) from two or three numbers, read-only."""
    array = array_of(name, value, ((2,), (3,)), "(3,) or (2,)")
    result = np.zeros(3)
    result[: len(array)] = array
    result.flags.writeable = False
    return result


def _direction(what: str, value: object) -> Array:
    normal = vector_of(what, value)
    length = float(np.linalg.norm(normal))
    if not length > 0.0:
        raise ArgumentError(
            f"{what} is zero, expected a vector to the side on which the arm stays"
        )
    return normal / length


Place: TypeAlias = Annotated[Any, Kept(vector_of)]
Radius: TypeAlias = Annotated[float, Kept(positive_number)]


@checked_record("{field} of a half-space")
@dataclass(frozen=True, eq=False)
class HalfSpace:
    """Everything behind a plane, such as a wall, a floor or a ceiling.

    Parameters
    ----------
    point : (3,) array_like of float
        On the plane, in m, in the base frame; of two numbers with z = 0.
    normal : (3,) array_like of float
        Normal of the plane to the side on which the arm stays, without unit, of any
        length.

    Examples
    --------
    A floor 0.1 m below the base:

    >>> import flexarm as fa
    >>> fa.optimize.HalfSpace(point=(0, 0, -0.1), normal=(0, 0, 2)).normal
    array([0., 0., 1.])
    """

    point: Place
    normal: Annotated[Any, Kept(_direction)]


@checked_record("{field} of a sphere")
@dataclass(frozen=True, eq=False)
class Sphere:
    """A ball.

    Parameters
    ----------
    center : (3,) array_like of float
        In m, in the base frame; of two numbers with z = 0.
    radius : float
        In m.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.optimize.Sphere(center=(1.2, 0.4), radius=0.1).center
    array([1.2, 0.4, 0. ])
    """

    center: Place
    radius: Radius


@checked_record("{field} of a capsule")
@dataclass(frozen=True, eq=False)
class Capsule:
    """All places within a distance of a straight line between two points.

    Parameters
    ----------
    start, end : (3,) array_like of float
        Ends of the line in m, in the base frame; of two numbers with z = 0.
    radius : float
        In m.

    Examples
    --------
    A post of 1 m:

    >>> import flexarm as fa
    >>> fa.optimize.Capsule((0.5, 0.5, 0.0), (0.5, 0.5, 1.0), radius=0.05).radius
    0.05
    """

    start: Place
    end: Place
    radius: Radius


Obstacle = HalfSpace | Sphere | Capsule


def check_obstacles(given: Obstacle | Iterable[Obstacle]) -> tuple[Obstacle, ...]:
    """Obstacles as a tuple, or raise."""
    found: list[Obstacle] = []
    for obstacle in given if isinstance(given, Iterable) else (given,):
        if not isinstance(obstacle, HalfSpace | Sphere | Capsule):
            raise ArgumentError(
                f"limits.obstacles has {short_text(obstacle)}, expected HalfSpace, "
                "Sphere or Capsule of flexarm.optimize"
            )
        found.append(obstacle)
    return tuple(found)


def name_of(obstacle: Obstacle, number: int) -> str:
    """Words for an obstacle, by its number among all."""
    kinds = {HalfSpace: "half-space", Sphere: "sphere", Capsule: "capsule"}
    return f"{kinds[type(obstacle)]} {number}"
