r"""Inverse dynamics of a linearized arm in the frequency domain.

E. Bayo, "A finite-element approach to control the end-point motion of a single-link
flexible robot", *J. Robotic Systems* 4(1), 1987: the forces of each frequency alone,

.. math:: (s^2 M + s D + K)\,\hat q = B\,\hat\tau, \qquad J\,\hat q = \hat r, \qquad
    s = \sigma + i\omega,

and their sum is an answer that acts in advance of the tip.  It corrects the motion of
the rigid arm, again and again, by the response to what the equations of motion and the
trajectory of the tip have left (E. Bayo, P. Papadopoulos, J. Stubbe, M. A. Serna, *Int.
J. Robotics Research* 8(6), 1989, 49-62), mixed with those before.  Along a line with
:math:`\sigma > 0` instead of the imaginary axis the tip may end in another place than
it started, and vibrations that do not move the tip start at rest; sigma is below all
zeros of the right half-plane, whose motions decay backward in time.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..._support.arrays import Array
from ...errors import ArgumentError
from ...optimize._tracking.tip_task import Answer, FrequencyInverse, TipTask
from ._boundary_values import check_square, refuse_what_has_no_tangent
from ._zero_dynamics import zeros_at_rest

# Shift of the transform times the duration at most: e^8 enlarges rounding.
_MAX_SHIFT = 8.0
# Part of the least rate that grows, which the shift stays below.
_RATE_SHARE = 0.3
# Time constants until rest, to 1e-10: half as many leave 1e-5.
_REST_CONSTANTS = 23.0
# Corrections at most that are mixed for the next one.
_MAX_MIXED = 6
# Corrections that small are rounding if they do not become smaller.
_ROUNDING = 1e-6
# Corrections in a row that do not become smaller, at most.
_MAX_STALLS = 5
# Factor of the first correction, above which corrections do not converge.
_MAX_GROWTH = 10.0
# Samples of a motion and of what is before and after it: a bound of memory.
MAX_SAMPLES = 2**18


class Linear(NamedTuple):
    """An arm about a static state."""

    M: Array
    D: Array
    K: Array
    B: Array
    J: Array


def linear_about(task: TipTask, q: Array) -> Linear:
    """Matrices of small motions."""
    rest, quiet = np.zeros(task.arm.nv), task.arm.kernels.quiet
    K, D = np.array(quiet("inverse_dynamics_derivatives")(q, rest, rest))
    M = np.asarray(quiet("mass_matrix")(q))
    return Linear(M, D, K, task.acts, task.slopes(q))


def respond(of: Linear, right: Array, step: float, shift: float) -> tuple[Array, ...]:
    """Coordinates, rates, accelerations and forces of small motions.

    `right` (n, nv + m) has the forces on the coordinates and the changes of the tip at
    times with this step; the first is time zero of the weight exp(-shift t).
    """
    n, nv = len(right), len(of.M)
    m = len(of.J)
    weight = np.exp(-shift * step * np.arange(n))[:, np.newaxis]
    s = shift + 2j * np.pi * np.fft.rfftfreq(n, step)
    spectrum = np.fft.rfft(right * weight, axis=0)
    # forces of a trajectory with a jump in a derivative do not decay with frequency: a
    # filter stops their ringing (H. Vandeven, J. Sci. Comput. 1991)
    part = np.linspace(0.0, 1.0, len(s))[:, np.newaxis]
    spectrum *= np.exp(-36.0 * part**16)
    A = np.zeros((len(s), nv + m, nv + m), dtype=complex)
    x = s[:, np.newaxis, np.newaxis]
    A[:, :nv, :nv] = x**2 * of.M + x * of.D + of.K
    A[:, :nv, nv:], A[:, nv:, :nv] = -of.B, of.J
    solved = np.linalg.solve(A, spectrum[..., np.newaxis])[..., 0]
    q, tau = solved[:, :nv], solved[:, nv:]
    parts = q, q * s[:, np.newaxis], q * s[:, np.newaxis] ** 2, tau
    return tuple(np.fft.irfft(p, n, axis=0) / weight for p in parts)


def by_frequencies(
    task: TipTask,
    *,
    intervals: int,
    pre_actuation: float | None,
    post_actuation: float | None,
    max_iterations: int,
    tolerance: float,
) -> Answer:
    """Forces by responses of the arm linearized half way."""
    refuse_what_has_no_tangent(task.arm)
    check_square(task)
    T = task.to.duration
    middle = task.rests(0.5 * T).q[1]
    # the line in the plane of frequencies
    zeros = zeros_at_rest(task, middle)
    grows = zeros.values.real[zeros.values.real > 1e-5 * np.abs(zeros.values)]
    slowest = float(grows.min(initial=np.inf))
    shift = min(_RATE_SHARE * slowest, _MAX_SHIFT / T)
    # windows before and after
    h = T / intervals
    early = (
        _REST_CONSTANTS / (slowest - shift)
        if pre_actuation is None
        else pre_actuation * T
    )
    late = (
        _REST_CONSTANTS / zeros.slowest(-1)
        if post_actuation is None
        else post_actuation * T
    )
    n1, n2 = (max(4, int(np.ceil(x / h * (1.0 - 1e-9)))) for x in (early, late))
    rest = int(np.ceil(_REST_CONSTANTS / (shift * h)))
    if n1 + intervals + max(n2, rest) > MAX_SAMPLES:
        raise ArgumentError(
            f"search.intervals is {intervals}, with which "
            f"{n1 + intervals + max(n2, rest)} samples would be needed until all is at "
            f"rest, expected at most {MAX_SAMPLES}; take fewer intervals"
        )
    count = 2 ** int(np.ceil(np.log2(n1 + intervals + max(n2, rest))))
    t = np.asarray(h * (np.arange(n1 + intervals + n2 + 1) - n1), dtype=np.float64)
    of = linear_about(task, middle)
    parts, status, message, steps, size = _corrected(
        task, of, t, (count, shift), max_iterations, tolerance
    )
    q, qd, qdd, tau = parts
    miss = float(np.abs(task.miss(t, q)).max())
    tracking = FrequencyInverse(zeros.values, shift, count // 2 + 1)
    how = status, message, "fft", 0, steps, size
    return Answer(t, q, qd, qdd, tau, h, miss, *how, tracking=tracking)


def _corrected(
    task: TipTask,
    of: Linear,
    t: Array,
    frequencies: tuple[int, float],
    max_iterations: int,
    tolerance: float,
) -> tuple[tuple[Array, ...], str, str, int, float]:
    """Motion of the rigid arm, corrected by responses to what it leaves.

    Also a status, a message, the number of corrections and the size of the last one.
    """
    count, shift = frequencies
    nv, step = task.arm.nv, float(t[1] - t[0])
    forces = task.arm.kernels.quiet("inverse_dynamics")
    parts = best = _first(task, t)
    sizes: list[float] = []
    mixed = _Mixed()
    for _ in range(max_iterations):
        q, qd, qdd, tau = parts
        # beyond the window the arm is at rest, and rounding would grow
        left = np.zeros((count, nv + len(task.rows)))
        left[: len(t), :nv] = tau @ task.acts.T - forces(q, qd, qdd)
        left[: len(t), nv:] = -task.miss(t, q)
        change = tuple(x[: len(t)] for x in respond(of, left, step, shift))
        sizes.append(float(np.abs(change[0]).max()))
        if not sizes[-1] < _MAX_GROWTH * sizes[0]:
            message = (
                "corrections grow: the arm differs too much from the one linearized "
                "half way; see stable inversion, or a slower or smaller motion"
            )
            return best, "failed", message, len(sizes), min(sizes)
        if sizes[-1] < tolerance:
            parts = tuple(x + dx for x, dx in zip(parts, change, strict=True))
            message = f"the last correction was {sizes[-1]:.1g} rad or m"
            return parts, "solved", message, len(sizes), sizes[-1]
        if sizes[-1] == min(sizes):
            best = parts
        elif min(sizes) < _ROUNDING and len(sizes) - np.argmin(sizes) > _MAX_STALLS:
            message = f"corrections of {min(sizes):.1g} rad or m become no smaller"
            return best, "acceptable", message, len(sizes), min(sizes)
        parts = mixed.after(parts, change)
    message = (
        f"{max_iterations} iterations are done, and the least correction was "
        f"{min(sizes):.1g} rad or m"
    )
    return best, "iterations", message, max_iterations, min(sizes)


class _Mixed:
    """Corrections mixed with those before such that the next one is least.

    D. G. Anderson, "Iterative procedures for nonlinear integral equations", *J. ACM*
    12(4), 1965, 547-560.
    """

    def __init__(self) -> None:
        self._known: list[tuple[tuple[Array, ...], tuple[Array, ...]]] = []

    def after(
        self, parts: tuple[Array, ...], change: tuple[Array, ...]
    ) -> tuple[Array, ...]:
        """The motion after a correction of this one."""
        self._known = [*self._known, (parts, change)][-_MAX_MIXED:]
        result = [x + dx for x, dx in zip(parts, change, strict=True)]
        pairs = list(pairwise(self._known))
        if not pairs:
            return tuple(result)
        slopes = [(after[1][0] - before[1][0]).ravel() for before, after in pairs]
        share = np.linalg.lstsq(np.stack(slopes, 1), change[0].ravel(), rcond=1e-10)[0]
        for part, (before, after) in zip(share, pairs, strict=True):
            for k, x in enumerate(result):
                moved = [y[0][k] + y[1][k] for y in (before, after)]
                x -= part * (moved[1] - moved[0])
        return tuple(result)


def _first(task: TipTask, t: Array) -> tuple[Array, ...]:
    """Motion and forces of the rigid arm, with the static deflection of its ends."""
    rests = task.rests(task.to.duration)
    q, qd, qdd = task.rigid(t)
    tau = task.level.inverse_dynamics(q, qd, qdd)
    part, rate, bend = (x[:, np.newaxis] for x in task.to.along(t))
    (b0, b1), (f0, f1) = rests.q - rests.rigid, rests.tau - tau[[0, -1]]
    change = b1 - b0
    tau = tau + (1.0 - part) * f0 + part * f1
    return q + b0 + part * change, qd + rate * change, qdd + bend * change, tau
