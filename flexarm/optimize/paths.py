r"""Paths of the tip or of the joints, time laws, and joint motion along paths.

A path is a curve over :math:`s \in [0, 1]`, a time law the motion :math:`s(t)` along
it.  Both have exact derivatives, and so has the motion of an arm whose tip follows a
path (`follow`).  Velocities and accelerations are sums of products of them:
:math:`\dot q = q' \dot s`, :math:`\ddot q = q' \ddot s + q'' \dot s^2`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PPoly

from .._calls.arguments import array_of, check_numbers, real_array
from .._calls.declared import Choice, Floats, Number, Vector
from .._calls.doors import checked
from .._support.arrays import Array
from .._support.moved import missing_or_moved
from .._support.recorded import recorded
from ..errors import ArgumentError
from ._follow import follow
from ._orientation import (
    AXES,
    angle_between,
    curve_of,
    directions_of,
    frames_of,
    rotations_of,
)
from ._path import Path, PathPoints

__all__ = [
    "arc",
    "circle",
    "follow",
    "joint_path",
    "line",
    "spline",
    "time_law",
    "with_orientation",
]

# Angle in rad beside a half turn, whose axis has two directions: rounding would choose
# between them.
_HALF_TURN_MARGIN = 1e-6

# coefficients of s(t / T) in rising order; (7.15) of Farid (1997), normalized
_POLYNOMIALS = {
    "quintic": (0.0, 0.0, 0.0, 10.0, -15.0, 6.0),
    "septic": (0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0),
    "ninth_degree": (0.0,) * 5 + (126.0, -420.0, 540.0, -315.0, 70.0),
}


class TimeLaw(NamedTuple):
    """Motion along a path.

    Attributes
    ----------
    s, sd, sdd : (...) ndarray of float
        Path parameter and its derivatives by time, in 1/s and 1/s^2.
    """

    s: Array
    sd: Array
    sdd: Array


@dataclass(frozen=True)
class _Pieces:
    """Polynomials between breaks."""

    polynomials: tuple[PPoly, PPoly, PPoly]  # with their derivatives

    def __call__(self, s: Array) -> PathPoints:
        return PathPoints(*(np.asarray(p(s)) for p in self.polynomials))


@dataclass(frozen=True)
class _Turn:
    """Point that turns about an axis."""

    center: Array
    along: Array  # from the center to the start
    across: Array
    angle: float

    def __call__(self, s: Array) -> PathPoints:
        turn = self.angle * s[..., np.newaxis]
        out = np.cos(turn) * self.along + np.sin(turn) * self.across
        ahead = np.cos(turn) * self.across - np.sin(turn) * self.along
        return PathPoints(self.center + out, self.angle * ahead, -(self.angle**2) * out)


@checked
@recorded("optimize.paths.line", maker=True)
def line(
    start: Annotated[ArrayLike, Floats("(3,)", "(2,)")],
    end: Annotated[ArrayLike, Floats("(3,)", "(2,)")],
) -> Path:
    """Straight line of the tip.

    Parameters
    ----------
    start, end : (3,) or (2,) array_like of float
        Ends in the base frame, in m; two numbers are x and y, with z = 0.

    Returns
    -------
    path : Path
        With constant speed over s.

    Raises
    ------
    ArgumentError
        If an end is not a point, or both are the same.

    Examples
    --------
    >>> from flexarm.optimize import paths
    >>> paths.line([1.8, 0.2], [1.6, 0.7])(0.5).first
    array([-0.2,  0.5,  0. ])
    """
    ends = np.stack([_point("start", start), _point("end", end)])
    if not (ends[0] != ends[1]).any():
        raise ArgumentError(f"start and end are both {ends[0]}, expected two points")
    return Path("tip", "line", ends, _polygon(ends))


@checked
@recorded("optimize.paths.arc", maker=True)
def arc(
    start: Annotated[ArrayLike, Floats("(3,)", "(2,)")],
    via: Annotated[ArrayLike, Floats("(3,)", "(2,)")],
    end: Annotated[ArrayLike, Floats("(3,)", "(2,)")],
) -> Path:
    """Arc of a circle through three points, of the tip.

    Parameters
    ----------
    start, via, end : (3,) or (2,) array_like of float
        Points in the order of the motion, in m; two numbers are x and y.

    Returns
    -------
    path : Path
        With constant speed over s.

    Raises
    ------
    ArgumentError
        If the points are on one line.

    See Also
    --------
    circle : by center and angle.

    Examples
    --------
    >>> from flexarm.optimize import paths
    >>> path = paths.arc([1.0, 0.0], [0.0, 1.0], [-1.0, 0.0])
    >>> print(round(path.length, 12))
    3.14159265359
    """
    a, b, c = _point("start", start), _point("via", via), _point("end", end)
    u, v = b - a, c - a
    normal = np.cross(u, v)
    square = float(normal @ normal)
    if square <= 1e-24 * float(u @ u) * float(v @ v):
        raise ArgumentError(
            "start, via and end are on one line, which has no circle; expected three "
            "points of an arc, or optimize.paths.line"
        )
    # center of the circle: equal distances to the three points
    to_center = np.cross(normal, u) * (v @ v) + np.cross(v, normal) * (u @ u)
    center = a + to_center / (2.0 * square)
    axis = normal / np.sqrt(square)
    along, last = a - center, c - center
    across = np.cross(axis, along)
    angle = float(np.arctan2(last @ across, last @ along)) % (2.0 * np.pi)
    return Path("tip", "arc", np.stack([a, b, c]), _Turn(center, along, across, angle))


@checked
@recorded("optimize.paths.circle", maker=True)
def circle(
    center: Annotated[ArrayLike, Floats("(3,)", "(2,)")],
    start: Annotated[ArrayLike, Floats("(3,)", "(2,)")],
    axis: Vector = (0.0, 0.0, 1.0),
    angle: Annotated[float, Number()] = 2.0 * np.pi,
) -> Path:
    """Turn of the tip about an axis through a center.

    Parameters
    ----------
    center, start : (3,) or (2,) array_like of float
        Points in m; two numbers are x and y.
    axis : (3,) array_like of float
        Direction of the axis.
    angle : float
        In rad, negative for the other way.

    Returns
    -------
    path : Path
        With constant speed over s.

    Raises
    ------
    ArgumentError
        If the start is on the axis, or there is no axis or no angle.

    Examples
    --------
    >>> import numpy as np
    >>> from flexarm.optimize import paths
    >>> path = paths.circle([0.0, 0.0], [1.0, 0.0], angle=np.pi / 2)
    >>> print(path.end.round(12))
    [0. 1. 0.]
    """
    middle, first = _point("center", center), _point("start", start)
    direction, turn = _point("axis", axis), float(angle)
    size = float(np.linalg.norm(direction))
    if size == 0.0 or turn == 0.0:
        raise ArgumentError(
            f"axis is {direction} and angle {turn:g} rad, expected a direction and an "
            "angle other than zero"
        )
    direction = direction / size
    middle = middle + direction * float(direction @ (first - middle))
    along = first - middle
    if float(np.linalg.norm(along)) == 0.0:
        raise ArgumentError("start is on the axis of the circle, expected a distance")
    curve = _Turn(middle, along, np.cross(direction, along), turn)
    return Path("tip", "circle", np.stack([first, middle]), curve)


@checked
@recorded("optimize.paths.spline", maker=True)
def spline(
    points: Annotated[ArrayLike, Floats("(n, 3)", "(n, 2)")],
    *,
    parameters: Annotated[ArrayLike, Floats("(n,)")] | None = None,
) -> Path:
    """Smooth curve of the tip through points.

    Parameters
    ----------
    points : (n, 3) or (n, 2) array_like of float
        In m, in the order of the motion; two numbers are x and y.
    parameters : (n,) array_like of float, optional
        Where on the path they are, rising from 0 to 1; by default in proportion to the
        distances between them.

    Returns
    -------
    path : Path
        A cubic spline with continuous second derivatives ("not-a-knot").

    Raises
    ------
    ArgumentError
        If there are less than two points, or two in a row are the same.

    Examples
    --------
    >>> from flexarm.optimize import paths
    >>> path = paths.spline([[1.0, 0.0], [1.2, 0.3], [1.0, 0.6], [0.8, 0.3]])
    >>> path.end
    array([0.8, 0.3, 0. ])
    """
    array = real_array("points", points)
    if array.ndim != 2 or array.shape[1] not in (2, 3) or len(array) < 2:
        raise ArgumentError(
            f"points has shape {array.shape}, expected (n, 3) or (n, 2), two or more"
        )
    check_numbers("points", array)
    array = np.pad(array, ((0, 0), (0, 3 - array.shape[1])))
    return Path("tip", "spline", array, _spline(array, parameters))


@checked
@recorded("optimize.paths.joint_path", maker=True)
def joint_path(
    points: Annotated[ArrayLike, Floats("(n, nu)", "(n, nq)")],
    *,
    kind: Annotated[str, Choice("spline", "straight")] = "spline",
    parameters: Annotated[ArrayLike, Floats("(n,)")] | None = None,
) -> Path:
    """Path of the joints through postures.

    Parameters
    ----------
    points : (n, nu) or (n, nq) array_like of float
        Positions of the joints in rad or m, with (w, x, y, z) of joints with
        quaternions.  Motors and modes in whole states are ignored.
    kind : {"spline", "straight"}
        A cubic spline; or, of two postures, the straight line between them.
    parameters : (n,) array_like of float, optional
        Where on the path they are, rising from 0 to 1; by default in proportion to the
        distances between them.

    Returns
    -------
    path : Path
        Over s from 0 to 1.

    Raises
    ------
    ArgumentError
        If there are less than two postures, or two in a row are the same.

    Notes
    -----
    The curve is one of numbers.  An arm that follows it (`follow`, `time_optimal`)
    turns its joints with quaternions with constant angular velocity between two
    postures, and with continuous angular acceleration through more (SciPy's
    `RotationSpline`); ``motion.path`` is this curve.

    Examples
    --------
    >>> from flexarm.optimize import paths
    >>> paths.joint_path([[0.0, 0.0], [1.0, -0.5]], kind="straight")(0.5).position
    array([ 0.5 , -0.25])
    """
    array = real_array("points", points)
    if array.ndim != 2 or len(array) < 2 or not array.shape[1]:
        raise ArgumentError(
            f"points has shape {array.shape}, expected (n, nu), two or more postures"
        )
    check_numbers("points", array)
    array = array.copy()
    if kind == "straight":
        if len(array) != 2 or parameters is not None:
            raise ArgumentError(
                f"kind is 'straight' with {len(array)} points"
                f"{' and parameters' * (parameters is not None)}, expected two points "
                "alone: a corner would have to be taken at rest"
            )
        if not (array[0] != array[1]).any():
            raise ArgumentError("the two postures are the same, expected a way")
        return Path("joint", kind, array, _polygon(array))
    at = None if parameters is None else _rising(parameters, len(array))
    return Path("joint", kind, array, _spline(array, parameters), _parameters=at)


@checked
@recorded("optimize.paths.with_orientation", maker=True)
def with_orientation(
    path: Path,
    orientation: Annotated[ArrayLike, Floats("(3, 3)", "(n, 3, 3)", "(3,)", "(n, 3)")],
    *,
    axis: Annotated[str, Choice("x", "y", "z")] | None = None,
    parameters: Annotated[ArrayLike, Floats("(n,)")] | None = None,
) -> Path:
    """Path of the tip that carries an orientation.

    Parameters
    ----------
    path : Path
        Of the tip, without an orientation.
    orientation : (3, 3), (n, 3, 3), (3,) or (n, 3) array_like of float
        One rotation, which is held; or those through which the tip turns.  Columns are
        the axes of the tip in the base frame, as in `flexarm.tip_pose`.  With an `axis`
        its directions in the base frame, (3,) or (n, 3), of any length.
    axis : {"x", "y", "z"}, optional
        The only axis of the tip that has a direction; the tip may spin about it, as
        that of a welding or spraying tool.
    parameters : (n,) array_like of float, optional
        Where on the path the rotations are, rising from 0 to 1; by default in equal
        steps.

    Returns
    -------
    path : Path
        Between two rotations with constant angular velocity over s, between more with
        continuous angular acceleration.

    Raises
    ------
    ArgumentError
        If a matrix is not a rotation, a direction is zero, two in a row are half a turn
        apart, or the path is one of joints.

    See Also
    --------
    follow : joints of an arm along it.

    Notes
    -----
    Through more than two rotations leads SciPy's `RotationSpline`.  Directions turn as
    the axis of such rotations, of which each is turned the least way from the one
    before.

    Examples
    --------
    A tool points down along a line, and turns by a quarter about the vertical:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.optimize import paths
    >>> line = paths.line([0.5, 0.0, 0.1], [0.5, 0.3, 0.1])
    >>> down = np.diag([1.0, -1.0, -1.0])
    >>> turned = fa.se3.so3_exp([0.0, 0.0, np.pi / 2]) @ down
    >>> weld = paths.with_orientation(line, [down, turned])
    >>> weld.orientation(0.5).first.round(4)
    array([0.    , 0.    , 1.5708])

    Only the direction of the tool is asked for:

    >>> paths.with_orientation(line, [0.0, 0.0, -1.0], axis="z")
    <Path of the tip: line, 2 points, 1 directions of z>
    """
    if path.space != "tip" or path.is_oriented:
        raise ArgumentError(
            f"path is {path!r}, expected one of the tip without an orientation, such "
            "as paths.line(start, end)"
        )
    rotations = rotations_of(orientation) if axis is None else None
    if rotations is None:
        directions = directions_of(orientation)
        _refuse_opposite(directions[:-1], directions[1:])
        rotations = frames_of(directions, AXES.index(str(axis)))
    far = angle_between(rotations[1:], rotations[:-1], None)
    if (far > np.pi - _HALF_TURN_MARGIN).any():
        k = int(np.argmax(far))
        raise ArgumentError(
            f"orientation[{k}] and orientation[{k + 1}] are half a turn apart, which "
            "has two ways; expected a rotation between them"
        )
    n = len(rotations)
    if parameters is None:
        at = np.linspace(0.0, 1.0, n)
    elif n == 1:
        raise ArgumentError(
            "parameters are given for one orientation, which is held; leave them out"
        )
    else:
        at = _rising(parameters, n)
    return replace(path, rotations=rotations, axis=axis, _turn=curve_of(at, rotations))


@checked
def time_law(
    kind: Annotated[str, Choice("cycloidal", "quintic", "septic", "ninth_degree")],
    t: Annotated[ArrayLike, Floats("(...)")],
    duration: Annotated[
        float, Number(above=0.0, most=1e60, words="a positive number up to 1e60")
    ],
) -> TimeLaw:
    r"""Motion from rest to rest along a path, at given times.

    Parameters
    ----------
    kind : {"cycloidal", "quintic", "septic", "ninth_degree"}
        See the notes.
    t : (...) array_like of float
        Times in s; before zero and after `duration` the law rests.
    duration : float
        Of the motion, in s.

    Returns
    -------
    law : TimeLaw
        s and its derivatives.

    Raises
    ------
    ArgumentError
        If there is no such law, or the duration is not positive.

    Notes
    -----
    With :math:`\tau = t / T`:

    ============  ==================================================================
    cycloidal     :math:`\tau - \sin(2 \pi \tau) / 2 \pi`, Farid (1997), eq. (7.22)
    quintic       :math:`10 \tau^3 - 15 \tau^4 + 6 \tau^5`
    septic        :math:`35 \tau^4 - 84 \tau^5 + 70 \tau^6 - 20 \tau^7`
    ninth_degree  :math:`126 \tau^5 - 420 \tau^6 + 540 \tau^7 - 315 \tau^8 + 70
                  \tau^9`, Farid (1997), eq. (7.15): four derivatives vanish at both
                  ends
    ============  ==================================================================

    Examples
    --------
    The peak speed of a cycloid is twice its mean speed:

    >>> from flexarm.optimize import paths
    >>> law = paths.time_law("cycloidal", [0.0, 0.25, 0.5], 0.5)
    >>> print(law.s, law.sd)
    [0.  0.5 1. ] [0. 4. 0.]
    """
    T = float(duration)
    times = real_array("t", t)
    check_numbers("t", times)
    tau = np.clip(times / T, 0.0, 1.0)
    # the second half mirrors the first, so that its end is as exact as its start
    late = tau > 0.5
    tau = np.where(late, np.clip((T - times) / T, 0.0, 1.0), tau)
    moving = (times > 0.0) & (times < T)
    if kind == "cycloidal":
        turn = 2.0 * np.pi * tau
        values: tuple[Array, ...] = (
            tau - np.sin(turn) / (2.0 * np.pi),
            1.0 - np.cos(turn),
            2.0 * np.pi * np.sin(turn),
        )
    else:
        p = np.polynomial.Polynomial(_POLYNOMIALS[kind])
        values = tuple(np.asarray(p.deriv(k)(tau)) for k in range(3))
    return TimeLaw(
        np.where(late, 1.0 - values[0], values[0]),
        np.where(moving, values[1] / T, 0.0),
        np.where(moving, np.where(late, -1.0, 1.0) * values[2] / T**2, 0.0),
    )


def _refuse_opposite(before: Array, after: Array) -> None:
    """Refuse a direction that is opposite to the one before."""
    cosine = (before * after).sum(axis=1)
    sine = np.linalg.norm(np.cross(before, after), axis=1)
    opposite = (sine < _HALF_TURN_MARGIN) & (cosine < 0.0)
    if opposite.any():
        k = int(np.argmax(opposite))
        raise ArgumentError(
            f"orientation[{k}] and orientation[{k + 1}] are opposite directions, "
            "between which there are many ways; expected a direction between them"
        )


def _point(name: str, value: ArrayLike) -> Array:
    """Three coordinates, the third of two is zero."""
    array = array_of(
        name, value, ((2,), (3,)), "(3,), a point in m, or (2,), its x and y"
    )
    return np.pad(array, (0, 3 - len(array)))


def _pieces(polynomial: PPoly) -> _Pieces:
    return _Pieces((polynomial, polynomial.derivative(), polynomial.derivative(2)))


def _polygon(ends: Array) -> _Pieces:
    """Line between two points."""
    from scipy.interpolate import PPoly

    return _pieces(PPoly(np.stack([ends[1] - ends[0], ends[0]])[:, None], [0.0, 1.0]))


def _spline(points: Array, parameters: ArrayLike | None) -> _Pieces:
    """Cubic spline through points at these parameters."""
    from scipy.interpolate import CubicSpline

    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        at = np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()
    same = np.flatnonzero(~(steps > 0.0))
    if len(same):
        raise ArgumentError(
            f"points[{same[0]}] and points[{same[0] + 1}] are the same, expected a way "
            "between them; to wait there is a matter of the time law"
        )
    at[-1] = 1.0
    at = at if parameters is None else _rising(parameters, len(points))
    if not (np.diff(at) > 0.0).all():
        raise ArgumentError(
            f"points are {steps.min():.3g} to {steps.max():.3g} apart, expected "
            "distances that rounding does not lose in their sum"
        )
    return _pieces(CubicSpline(at, points))


def _rising(parameters: ArrayLike, n: int) -> Array:
    """Path parameters (n,) from 0 to 1."""
    at = array_of("parameters", parameters, [(n,)], f"{(n,)}")
    if at[0] != 0.0 or at[-1] != 1.0 or not (np.diff(at) > 0.0).all():
        raise ArgumentError(
            f"parameters are {at}, expected numbers that rise from 0 to 1"
        )
    return at


if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(__name__, __all__)
