"""Trajectory of a tip: a curve and its time law."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.arguments import check_numbers, real_array
from ..._support.arrays import Array
from ...errors import ArgumentError
from .._path import Path, PathPoints
from ..paths import TimeLaw, time_law

# Samples of a function of time, for its derivatives: fewer lose the shape of curves.
_SAMPLES = 401
# Part of the largest speed that counts as rest.
_REST_SHARE = 0.02


@dataclass(frozen=True, eq=False)
class Timed:
    """Trajectory of a tip: a curve and its time law.

    `place` is exact; derivatives are those of `path` with `law`.
    """

    path: Path
    duration: float
    law: str  # a time law, or "" where the parameter is the time itself
    place: Callable[[Array], Array]

    def along(self, t: Array) -> TimeLaw:
        """Parameter of the curve and its derivatives; rest outside of the motion."""
        if self.law:
            law = time_law(self.law, t, self.duration)
            return law._replace(s=np.clip(law.s, 0.0, 1.0))
        inside = (t >= 0.0) & (t <= self.duration)
        s = np.clip(t / self.duration, 0.0, 1.0)
        return TimeLaw(s, inside / self.duration, 0.0 * s)

    def moving_ends(self) -> str:
        """Message if the tip does not start from rest and end at rest, else empty."""
        t = np.linspace(0.0, self.duration, _SAMPLES)
        speed = np.linalg.norm(self.at(t).first, axis=-1)
        if max(speed[0], speed[-1]) <= _REST_SHARE * speed.max():
            return ""
        return (
            f"the tip starts with {speed[0]:.3g} m/s and ends with {speed[-1]:.3g} "
            "m/s, expected rest at both ends, where a flexible arm waits; take one of "
            "optimize.paths with a law, or let the places follow optimize.paths."
            "time_law"
        )

    @property
    def extent(self) -> float:
        """Largest distance of the trajectory from its start, in m."""
        place = self.place(np.linspace(0.0, self.duration, 41))
        return float(np.linalg.norm(place - place[0], axis=-1).max())

    def when(self, message: str) -> str:
        """Words for the time of the path parameter in a message."""
        found = re.search(r"s = ([0-9.e+-]+[0-9])", message)
        if not found:
            return ""
        t = np.linspace(0.0, self.duration, _SAMPLES)
        at = np.interp(float(found[1]), self.along(t).s, t)
        return f" (at t = {at:.3g} s)"

    def at(self, t: Array) -> PathPoints:
        """Place, velocity and acceleration, (n, 3) each."""
        s, sd, sdd = self.along(t)
        p, first, second = self.path(s)
        sd, sdd = sd[:, np.newaxis], sdd[:, np.newaxis]
        return PathPoints(p, first * sd, second * sd**2 + first * sdd)


def timed(path: object, duration: float | None, law: str) -> Timed:
    """Trajectory from a path, a function of time, samples, or samples with times."""
    if path is None:
        raise ArgumentError(
            "path is None, expected one of optimize.paths, a function of time, or "
            "samples of the tip"
        )
    if isinstance(path, Path):
        if path.space != "tip":
            raise ArgumentError(
                "path is one of the joints, expected one of the tip, such as "
                "optimize.paths.line(start, end); joints that follow a path need "
                "no inverse of the tip"
            )
        T = _duration(duration)

        def point(t: Array) -> Array:
            return path(np.clip(time_law(law, t, T).s, 0.0, 1.0)).position

        return Timed(path, T, law, point)
    if callable(path):
        T = _duration(duration)

        def place(t: Array) -> Array:
            return _called(path, np.clip(t, 0.0, T))

        s = np.linspace(0.0, 1.0, _SAMPLES)
        return Timed(_through(s, place(T * s)), T, "", place)
    # a spline through samples, with their times or at equal times
    if isinstance(path, tuple) and len(path) == 2:
        t, points = _sampled(*path)
        T = float(t[-1] - t[0])
        if duration is not None and abs(_duration(duration) - T) > 1e-9 * T:
            raise ArgumentError(
                f"duration is {duration:g} s and the times of the samples span {T:g} "
                "s, expected the same, or no duration"
            )
    else:
        points = _points("path", path)
        T = _duration(duration)
        t = np.linspace(0.0, T, len(points))
    curve = _through((t - t[0]) / T, points)
    return Timed(curve, T, "", lambda t: curve(np.clip(t / T, 0.0, 1.0)).position)


def _duration(duration: float | None) -> float:
    if duration is None:
        raise ArgumentError("duration is missing, expected a positive time in s")
    return float(duration)


def _called(function: Callable[[Array | float], ArrayLike], t: Array) -> Array:
    """Values of a function of time, which may accept single times only."""
    try:
        values = np.asarray(function(t), dtype=np.float64)
        whole = values.ndim == 2 and len(values) == len(t)
    except (TypeError, ValueError):
        whole = False
    if not whole:
        values = real_array("path(t)", [function(float(x)) for x in t])
    if values.ndim != 2 or values.shape[1] not in (2, 3):
        raise ArgumentError(
            f"path(t) gives shape {values.shape[1:]} at one time, expected (3,) or "
            "(2,): a place of the tip"
        )
    wrong = ~np.isfinite(values).all(axis=1)
    if wrong.any():
        raise ArgumentError(
            f"path(t) is not finite at t = {t[int(wrong.argmax())]:g} s, expected a "
            "place of the tip"
        )
    return np.pad(values, ((0, 0), (0, 3 - values.shape[1])))


def _points(name: str, value: object) -> Array:
    points: Array = real_array(name, value)
    if points.ndim != 2 or points.shape[1] not in (2, 3) or len(points) < 6:
        raise ArgumentError(
            f"{name} has shape {points.shape}, expected (n, 3) or (n, 2), six or more "
            "samples of the tip; or one of optimize.paths; or a function of time"
        )
    check_numbers(name, points)
    return np.pad(points, ((0, 0), (0, 3 - points.shape[1])))


def _sampled(times: ArrayLike, places: ArrayLike) -> tuple[Array, Array]:
    t: Array = real_array("times of the path", times)
    points = _points("places of the path", places)
    if t.shape != (len(points),):
        raise ArgumentError(
            f"times of the path have shape {t.shape}, expected ({len(points)},), one "
            "for each place"
        )
    check_numbers("times of the path", t)
    falls = np.flatnonzero(np.diff(t) <= 0.0)
    if len(falls):
        k = int(falls[0])
        raise ArgumentError(
            f"times of the path do not increase: {t[k + 1]:g} s comes after {t[k]:g} "
            "s, expected increasing times"
        )
    return t, points


def _through(s: Array, points: Array) -> Path:
    """Quintic spline through samples."""
    from scipy.interpolate import make_interp_spline

    curve = make_interp_spline(s, points, k=5)
    derivatives = curve.derivative(1), curve.derivative(2)

    def place(at: Array) -> PathPoints:
        return PathPoints(curve(at), *(d(at) for d in derivatives))

    return Path("tip", "samples", points, place)
