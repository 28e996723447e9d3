"""Errors of the first frequencies of an arm, beside the arm with more modes."""

from __future__ import annotations

import numpy as np

from ._calls.arm_like import AnyArm, ArmLike, Array, StackLike
from ._core import MAX_MODES
from ._support.arrays import Mask
from ._support.printing import percent
from ._support.warn import warn
from .arm import is_quiet
from .bodies.left_out import left_out
from .errors import ModeWarning
from .mode_accuracy import FREQUENCIES
from .refinement import undeformed, with_modes
from .statics.coordinates import freedom
from .statics.spectrum import (
    linear_system,
    rounding,
    scale_by_mass,
    signed_frequencies,
    undamped,
    without_flutter,
)

# Error of a frequency without a warning; default links have 1.4 % in the fourth.
_MAX_ERROR = 0.02
_WARNED = b"warned"
# Modes of a link whose first frequencies more would not change.
_MAX_NEEDED = 20
# Modes of a link that can have more: four, and shapes of three nodes.
_MAX_MODES = MAX_MODES - 24


def warn_of_frequencies(
    arm: AnyArm, q: Array, held: Mask | None = None, count: int | None = None
) -> None:
    """Warn once of an arm whose first frequencies more modes would change.

    Parameters
    ----------
    arm : Arm or ArmStack
        A stack is not looked at, nor are links of named modes, as a source has them.
    q : (..., nq) ndarray of float
        Postures, of which the first one is looked at, undeformed.
    held : (nv,) ndarray of bool, optional
        Velocities at rest.
    count : int, optional
        Number of frequencies that are asked for, with those that are not above zero.
    """
    if isinstance(arm, StackLike) or is_quiet() or not q.size:
        return
    few = has_few_modes(arm)
    if not (few or (_leaves_out_stretch(arm) and _can_have_more(arm))):
        return
    mask = np.zeros(arm.nv, dtype=bool) if held is None else held
    done, key = arm._compared, mask.tobytes() + str(count).encode()
    if not done.isdisjoint({_WARNED, key}):
        return
    done.add(key)
    f, errors = frequency_errors(arm, q.reshape(-1, arm.nq)[0], mask, count)
    wrong = np.flatnonzero(errors > _MAX_ERROR)
    if not len(wrong):
        return
    done.add(_WARNED)
    first, also = int(wrong[0]), len(wrong) - 1
    others = f", and {also} more of the first {len(errors)}" if also else ""
    if _leaves_out_stretch(arm):
        place = q.reshape(-1, arm.nq)[0]
        _, without = frequency_errors(arm, place, mask, count, stretch=False)
        if len(without) <= first or without[first] <= _MAX_ERROR:
            warn(
                f"links of {arm.name!r} do not stretch: with it frequency {first + 1} "
                f"above zero is {f[first] / (1.0 + errors[first]):.4g} Hz, not "
                f"{f[first]:.4g} Hz{others}; give finite_element_link motions with "
                "'stretch', or ask for fewer by count",
                ModeWarning,
            )
            return
    warn(
        f"the modes of {arm.name!r} make its frequency of {f[first]:.4g} Hz "
        f"{percent(errors[first])} % too high{others}: raise n_modes; see "
        "arm.refined()",
        ModeWarning,
    )


def _leaves_out_stretch(arm: ArmLike) -> bool:
    """Whether links leave out a stretch that is known."""
    return any(left_out(body, (0,)) is not None for body in arm.bodies)


def has_few_modes(arm: ArmLike) -> bool:
    """Whether links may need more modes, beside those whose source names them."""
    links = [body for body in arm.bodies if body.n_modes]
    own = [x.n_modes for x in links if x.beam is not None and not x.beam.named]
    return min(own, default=_MAX_NEEDED) < _MAX_NEEDED and _can_have_more(arm)


def _can_have_more(arm: ArmLike) -> bool:
    return max((body.n_modes for body in arm.bodies), default=0) <= _MAX_MODES


def frequency_errors(
    arm: ArmLike,
    q: Array,
    held: Mask,
    count: int | None = None,
    stretch: bool = True,
) -> tuple[Array, Array]:
    """First frequencies in Hz above zero of an undeformed posture, and their errors.

    Relative errors (m,), m at most 4, are those to the arm with more modes and, unless
    without, the stretch that its links leave out; none if modes are held, or no link
    can have more.  Those above a number do not count.
    """
    finer = with_modes(arm, stretch=stretch)
    modes = sum(body.n_modes for body in arm.bodies)
    kept, none = arm.nv - modes, np.zeros(0)
    if finer.nv == arm.nv or held[kept:].any():
        return none, none
    both = []
    for x in (arm, finer):
        still, mask = undeformed(x, arm, q), np.zeros(x.nv, dtype=bool)
        mask[:kept] = held[:kept]
        free = freedom(x, mask, still)
        X = scale_by_mass(x, still, free)
        K, _ = linear_system(x, still, None, None, free)
        squares = without_flutter(undamped(X.T @ K @ X)[0])
        if x is arm:
            squares = squares[:count]
        both.append(signed_frequencies(squares[squares > rounding(squares)]))
    own, exact = both
    first = own[: min(FREQUENCIES, len(own), len(exact))]
    # the same number of motions without stiffness in both
    return first, first / exact[: len(first)] - 1.0
