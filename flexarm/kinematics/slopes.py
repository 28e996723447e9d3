"""Slopes of links in their own frames, where their model ends, and its warning."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import any_of, check_finite, real_array
from .._calls.arm_like import AnyArm, ArmLike, Array, StackLike, numbers_of
from .._calls.chunks import in_chunks
from .._calls.declared import Positions
from .._calls.doors import checked
from .._calls.explain import leading
from .._calls.groups import by_arm
from .._support.arrays import Mask
from .._support.warn import warn
from ..errors import DeflectionWarning
from .coupling import TWIST_LIMIT, is_coupled, twist_errors, twist_sentence

# Slope without a warning.  The deflection of a uniform link of one cubic element is
# then wrong by 0.1 % under a force or a moment at its tip, and by 2 % under its weight;
# tests/beams/test_slopes.py measures it against the elastica.
SLOPE_LIMIT = 0.5
# Sine of the angle at which a section is perpendicular to its frame: no line without
# stretch has a larger one, and results have no meaning.
SLOPE_END = 1.0

# Bounds of the error of a deflection over the square of the slope: with the strain
# energy of the third order, and with a quadratic one.
_ERROR, _LINEAR_ERROR = 0.1, 0.5
# Pieces that a message recommends, at most.
_MAX_PIECES = 16


@checked
def largest_slope(arm: AnyArm, q: Positions, *, by_body: bool = False) -> Array:
    """Largest slope of the sections of flexible links in the frames of their links.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nq`` positions.
    q : (..., nq) array_like of float
        Positions; those of joints do not matter.
    by_body : bool
        Whether the result has an entry for each body.

    Returns
    -------
    slope : (...) or (..., n_bodies) ndarray of float
        Largest slope in rad of all links, or of each body; zero for rigid ones.

    Raises
    ------
    ArgumentError
        If an entry of `q` is NaN or infinite.

    Notes
    -----
    The slope of a link is the largest length of the rotation vector ``lambda eta`` of
    its nodes in the frame of the body, to first order in the modes: relative to the
    tangent at the root of a clamped link, to the chord of a pinned one, to the
    undeformed body of a free one.  For a link that bends without stretch it is the sine
    of the angle between section and frame.  A twist about the axis of a straight link
    is left out: it bends nothing, and is exact in a rotation ``exp(lambda eta)``.  Of
    bodies whose nodes are not on a line it counts, as it moves what is aside.  If nodes
    have no rotation, the slope is that of the lines from the attachment to them; a body
    of one place, as a spring in a hinge, has none.

    Links are cubic elements or modes of a straight beam, whose deflection is right to
    the third order in the slope.  The limit above which functions raise a
    `DeflectionWarning` is a slope of 0.5: there the deflection of a uniform link of one
    cubic element is wrong by 0.1 % under a force or a moment at its tip and by 2 %
    under its weight, with the strain energy of full fidelity, and an error of 0.1 times
    the square of the slope is a bound up to a slope of 1.  Links without geometric
    stiffening, bodies that are no straight beams, and the other fidelities have a
    quadratic strain energy, and an error of half of the square of the slope: 12 % at
    the limit.  Beyond a slope of 1 there is no beam without stretch, and no result is a
    success.  A chain of short links has small slopes: each is relative to its own link.

    The same warning tells of links, also in pieces, that bend in two planes of
    different stiffness with one coordinate of twist: the torque changes along them,
    and the twist does not follow, to 1 % of their strain energy or of their stiffness
    across the stiffer plane.

    Examples
    --------
    A tip load of 0.3 EI/L^2 turns the tip of a clamped link by 0.15 rad:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(1, n_modes=4, gravity=(0, 0, 0))
    >>> load = {"wrench": [0, 0, 0, 0, 30.0, 0], "frame": "base"}
    >>> rest = fa.equilibrium(arm, np.zeros(5), **load)
    >>> float(fa.largest_slope(arm, rest.q).round(2))
    0.15
    """
    one = any_of(arm)
    array = real_array("q", q)
    leading(arm, {"q": array}, ())
    check_finite("q", array)
    result: Array = in_chunks(arm, lambda part: _slopes(arm, part), (array,))
    if not by_body:
        result = result.max(axis=-1) if one.bodies else np.zeros(result.shape[:-1])
    return result if np.ndim(result) else result[()]


def _slopes(arm: AnyArm, q: Array) -> Array:
    """Largest slope of each body, (..., n_bodies), NaN where modes are."""
    if isinstance(arm, StackLike):
        arms, n = arm.arms, len(any_of(arm).bodies)

        def of_one(i: int, given: list[Array]) -> Array:
            one = in_chunks(arms[i], lambda x: _slopes(arms[i], x), tuple(given))
            return np.asarray(one)

        return by_arm(arm.index, of_one, [q], [1], (n,))
    result = np.zeros((*q.shape[:-1], len(arm.bodies)))
    for k, body in enumerate(arm.bodies):
        shapes = body.slope_shapes
        if not shapes.size:
            continue
        n, c, m = shapes.shape
        turn = q[..., arm.mode_slice(k, positions=True)] @ shapes.reshape(-1, m).T
        if c == 1:
            result[..., k] = np.abs(turn).max(axis=-1)
        else:
            squares = (turn.reshape(*turn.shape[:-1], n, c) ** 2).sum(axis=-1)
            result[..., k] = np.sqrt(squares.max(axis=-1))
    return result


def quiet_slopes(arm: AnyArm, q: Array) -> Array:
    """`largest_slope` by body, NaN for positions that are."""
    with np.errstate(all="ignore"):
        return np.asarray(in_chunks(arm, lambda x: _slopes(arm, x), (q,)))


def slope_bounds(arm: AnyArm, q: Array) -> Array:
    """Slopes that runs (..., n, nq) do not exceed, (...): by the largest modes alone.

    One pass over the samples, of which those that are NaN do not count.  The axes of a
    stack are those of the runs.
    """
    result = np.zeros(q.shape[:-2])
    one = any_of(arm)
    with np.errstate(all="ignore"):
        for k, body in enumerate(one.bodies):
            if not body.n_modes:
                continue
            unit = numbers_of(arm, partial(_slope_sizes, k), ("slopes", k))
            first, bound = one.mode_slice(k, positions=True).start, 0.0 * result
            for r in range(body.n_modes):  # a column is faster than all
                mode = q[..., first + r]
                most = np.fmax.reduce(mode, axis=-1), -np.fmin.reduce(mode, axis=-1)
                bound = bound + unit[..., r] * np.fmax(*most)
            result = np.fmax(result, bound)
    return result


def _slope_sizes(k: int, arm: ArmLike) -> Array:
    """Largest slope of a node of body k for a unit of each mode."""
    sizes: Array = arm.bodies[k].slope_sizes
    return sizes


def estimated_error(arm: ArmLike, body: int, slope: float) -> float:
    """Largest error of the deflection of a link by its slope, as a share of it."""
    third = arm.bodies[body]._strain_energy is not None
    return (_ERROR if third and arm.fidelity == "full" else _LINEAR_ERROR) * slope**2


def slope_sentence(arm: ArmLike, body: int, slope: float, where: str = "") -> str:
    """Sentence on a link that bends too far, with what to do.

    Parameters
    ----------
    arm : Arm
        Its arm.
    body : int
        Number of the link.
    slope : float
        Its slope.
    where : str
        Clause that follows the slope, such as " at t = 1 s".
    """
    link = arm.bodies[body]
    # pieces with half of the limit, if it is a piece itself more of them
    n = int(min(max(2.0, np.ceil(2.0 * slope / SLOPE_LIMIT)), _MAX_PIECES))
    segment = link.segment
    name, n = (segment.link, n * segment.count) if segment else (link.name, n)
    pieces = f"cut the link into pieces by segments={n}"
    if link.beam is None:
        pieces = f"make {n} bodies of it, joined by fixed joints"
    start = f"link {name!r} bends to a slope of {slope:.3g} in its frame{where}, "
    if slope > SLOPE_END:
        return (
            f"{start}outside of the model's range, which ends at {SLOPE_END:g}, and "
            f"the result has no meaning; {pieces}"
        )
    share = 100.0 * estimated_error(arm, body, slope)
    return (
        f"{start}above {SLOPE_LIMIT:g}, with an error of up to {share:.2g} % of its "
        f"deflection; {pieces}, or silence DeflectionWarning"
    )


def judge_slopes(arm: AnyArm, q: Array, among: Mask | bool = True) -> tuple[Array, str]:
    """Largest slope of each state, and a sentence if one is above the limit.

    If none is, a sentence on pieces whose twist does not follow their bending.

    Parameters
    ----------
    arm : Arm
        The arm.
    q : (..., nq) ndarray of float
        Positions.
    among : (...) array_like of bool
        States to which the sentence applies.
    """
    by_body = quiet_slopes(arm, q)
    slopes = by_body.max(axis=-1)
    found = _worst(arm, by_body, SLOPE_LIMIT, among)
    if found is not None:
        return slopes, slope_sentence(*found)
    if not is_coupled(arm):
        return slopes, ""
    found = _worst(arm, twist_errors(arm, q), TWIST_LIMIT, among)
    return slopes, "" if found is None else twist_sentence(*found)


def _worst(
    arm: AnyArm, by_body: Array, limit: float, among: Mask | bool
) -> tuple[ArmLike, int, float, str] | None:
    """Arm, body and size of the largest of some numbers above a limit, and where."""
    largest = by_body.max(axis=-1)
    bad = np.asarray((largest > limit) & among)
    if not bad.any():
        return None
    at = np.unravel_index(int(np.where(bad, largest, 0.0).argmax()), bad.shape)
    where = ""
    if bad.ndim:
        index = tuple(int(i) for i in at)
        where = f" at index {index}, of {int(bad.sum())} of {bad.size} states"
    one = any_of(arm)
    if isinstance(arm, StackLike):
        one = arm.arms[np.broadcast_to(arm.index, bad.shape)[at]]
    return one, int(by_body[at].argmax()), float(largest[at]), where


def warn_of_slopes(arm: AnyArm, q: ArrayLike) -> None:
    """Warn if links bend too far in some of the states (..., nq)."""
    _, sentence = judge_slopes(arm, np.asarray(q, dtype=np.float64))
    if sentence:
        warn(sentence, DeflectionWarning)
