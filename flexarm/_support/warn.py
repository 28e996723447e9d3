"""Warnings that point at the line of the user, and those of improbable numbers.

A number that is possible may look like one of another unit.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ..errors import ModelError, UnitsWarning

_PACKAGE = __name__.partition(".")[0]
# Angle in rad above which limits are rare; numbers that are larger look like degrees.
MAX_USUAL_TURN = 20.0
# Step in degrees of which limits usually are multiples.
_DEGREE_STEP = 5.0
# Speed of sound in m/s in the softest of gels.
_MIN_SOUND_SPEED = 0.6
# Density in kg/m^3 that no material has.
_MAX_DENSITY = 1e6
_QUARTERS = {round(np.pi / 2.0, 5): "pi/2", round(np.pi, 5): "pi"}


# texts by category, of warnings that are kept for one at the end
_kept: ContextVar[dict[type[Warning], str] | None] = ContextVar("kept", default=None)


@contextmanager
def kept_warnings(*categories: type[Warning]) -> Iterator[dict[type[Warning], str]]:
    """Keep the first warning of each of some categories in place of issuing them.

    Without those that filters ignore; only in this thread.
    """
    found: dict[type[Warning], str] = dict.fromkeys(categories, "")
    before = _kept.set(found)
    try:
        yield found
    finally:
        _kept.reset(before)


def _is_ignored(category: type[Warning]) -> bool:
    for action, message, of, module, line in warnings.filters:
        if issubclass(category, of) and not (message or module or line):
            return action == "ignore"
    return False


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the first line outside this package."""
    kept = _kept.get()
    if kept is not None and category in kept:
        if not kept[category] and not _is_ignored(category):
            kept[category] = text
        return
    level, frame = 1, sys._getframe()
    while frame.f_back and _inside(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def _inside(module: str) -> bool:
    return module.partition(".")[0] in (_PACKAGE, "contextlib")


def warn_of_degrees(what: str, limits: Any) -> None:
    """Warn of bounds (n,) of an angle that are large multiples of 5."""
    bounds = np.ravel(limits)
    bounds = bounds[np.isfinite(bounds)]
    whole = (bounds % _DEGREE_STEP == 0.0).all()
    if bounds.size and whole and np.abs(bounds).max() > MAX_USUAL_TURN:
        shown = " and ".join(f"{x:g}" for x in bounds[:2])
        warn(
            f"{what} are {shown} rad, many turns; if they are in degrees, "
            "numpy.deg2rad converts them",
            UnitsWarning,
        )


def warn_of_percent(what: str, ratio: Any) -> None:
    """Warn of damping ratios above one, which leave no vibration."""
    most = float(np.max(ratio, initial=0.0))
    if most > 1.0:
        warn(
            f"{what} is {most:g} of critical damping, so that no vibration remains; if "
            f"it is {most:g} percent, expected {most / 100.0:g}",
            UnitsWarning,
        )


def warn_of_quarters(what: str, lengths: Any) -> None:
    """Warn of lengths that are pi/2 or pi: angles in the place of lengths."""
    for length in np.ravel(lengths).tolist():
        name = _QUARTERS.get(round(abs(length), 5))
        if name is not None:
            warn(
                f"{what} is {length:.6g} m, which is {'-' * (length < 0)}{name}; if it "
                "is an angle, expected the order a, alpha, d, theta",
                UnitsWarning,
            )
            return


def check_moduli(name: str, E: float, G: float, density: float) -> None:
    """Refuse moduli and densities of no material, and warn of improbable ones."""
    if density > _MAX_DENSITY:
        raise ModelError(
            f"density of {name} is {density:g} kg/m^3, which no material has; expected "
            "Material(E, density) in Pa and kg/m^3"
        )
    # without dimensions anything goes
    softest = density * _MIN_SOUND_SPEED**2
    if density >= 100.0 and softest > E:
        raise ModelError(
            f"E of {name} is {E:g} Pa, softer than any gel; expected Pa, such as "
            f"{1e9 * E:g} for {E:g} GPa"
        )
    if 1e5 * G < E:
        raise ModelError(
            f"G of {name} is {G:g} Pa beside E of {E:g} Pa; expected Pa, such as "
            f"{1e9 * G:g} for {G:g} GPa"
        )
    if density >= 1500.0 and 4e4 <= E <= 1.2e6:
        warn(
            f"E of {name} is {E:g} Pa with {density:g} kg/m^3, as of a heavy rubber; "
            f"if it is in MPa, expected {1e6 * E:g}",
            UnitsWarning,
        )
    if E >= 1e9 and 0.1 <= density <= 25.0:
        warn(
            f"density of {name} is {density:g} kg/m^3 with E of {E:g} Pa, lighter than "
            f"any solid so stiff; if it is in g/cm^3, expected {1e3 * density:g}",
            UnitsWarning,
        )
