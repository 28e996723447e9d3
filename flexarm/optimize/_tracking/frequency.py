r"""Inverse dynamics of a linearized arm in the frequency domain.

E. Bayo, "A finite-element approach to control the end-point motion of a single-link
flexible robot", *J. Robotic Systems* 4(1), 1987: the forces of each frequency alone,

.. math:: (s^2 M + s D + K)\,\hat q = B\,\hat\tau, \qquad J\,\hat q = \hat r, \qquad
    s = \sigma + i\omega,

and their sum is the answer that acts in advance of the tip.  Along a line with
:math:`\sigma > 0` instead of the imaginary axis the tip may end in another place than
it started, and vibrations that do not move the tip start at rest; sigma is below all
zeros of the right half-plane, whose motions decay backward in time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import ArgumentError
from .stable_inversion import check_square, refuse_what_has_no_tangent
from .tip_task import Answer, TipTask
from .zero_dynamics import zeros_at_rest

Array = NDArray[np.float64]

_SHIFT = 8.0  # sigma times the duration, at most: e^8 enlarges rounding
_BELOW = 0.3  # part of the least rate that grows
_DECAY = 23.0  # time constants until rest, 1e-10
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
    rest, quiet = np.zeros(task.arm.nv), task.arm._model.quiet
    K, D = np.array(quiet("inverse_dynamics_derivatives")(q, rest, rest))
    M = np.asarray(quiet("mass_matrix")(q))
    return Linear(M, D, K, task.acts, task.slopes(q))


def respond(of: Linear, r: Array, step: float, shift: float) -> tuple[Array, ...]:
    """Coordinates, rates, accelerations and forces for changes (n, m) of the tip.

    The first sample is that of time zero of the weight exp(-shift t).
    """
    n, m = r.shape
    nv = len(of.M)
    weight = np.exp(-shift * step * np.arange(n))[:, np.newaxis]
    s = shift + 2j * np.pi * np.fft.rfftfreq(n, step)
    spectrum = np.fft.rfft(r * weight, axis=0)
    # forces of a trajectory with a jump in a derivative do not decay with frequency: a
    # filter stops their ringing (H. Vandeven, J. Sci. Comput. 1991)
    part = np.linspace(0.0, 1.0, len(s))[:, np.newaxis]
    spectrum *= np.exp(-36.0 * part**16)
    A = np.zeros((len(s), nv + m, nv + m), dtype=complex)
    x = s[:, np.newaxis, np.newaxis]
    A[:, :nv, :nv] = x**2 * of.M + x * of.D + of.K
    A[:, :nv, nv:], A[:, nv:, :nv] = -of.B, of.J
    right = np.concatenate([np.zeros((len(s), nv)), spectrum], axis=1)
    solved = np.linalg.solve(A, right[..., np.newaxis])[..., 0]
    q, tau = solved[:, :nv], solved[:, nv:]
    parts = q, q * s[:, np.newaxis], q * s[:, np.newaxis] ** 2, tau
    return tuple(np.fft.irfft(p, n, axis=0) / weight for p in parts)


def by_frequencies(
    task: TipTask,
    *,
    intervals: int,
    pre_actuation: float | None,
    post_actuation: float | None,
) -> Answer:
    """Forces of `track` for the arm linearized about its static state half way."""
    refuse_what_has_no_tangent(task.arm)
    if task.turns:
        raise ArgumentError(
            "path has an orientation, which method 'frequency domain' does not follow; "
            "expected 'shooting', 'stable inversion' or 'collocation'"
        )
    check_square(task)
    T = task.to.duration
    rests = task.rests(0.5 * T)
    q0, middle = rests.q
    tau0 = rests.tau[0]
    # the line in the plane of frequencies
    zeros = zeros_at_rest(task, middle)
    grows = zeros.values.real[zeros.values.real > 1e-5 * np.abs(zeros.values)]
    slowest = float(grows.min(initial=np.inf))
    shift = min(_BELOW * slowest, _SHIFT / T)
    # windows before and after
    h = T / intervals
    early = _DECAY / (slowest - shift) if pre_actuation is None else pre_actuation * T
    late = _DECAY / zeros.slowest(-1) if post_actuation is None else post_actuation * T
    n1, n2 = (max(4, int(np.ceil(x / h * (1.0 - 1e-9)))) for x in (early, late))
    rest = int(np.ceil(_DECAY / (shift * h)))
    if n1 + intervals + max(n2, rest) > MAX_SAMPLES:
        raise ArgumentError(
            f"search.intervals is {intervals}, with which "
            f"{n1 + intervals + max(n2, rest)} samples would be needed until all is at "
            f"rest, expected at most {MAX_SAMPLES}; take fewer intervals"
        )
    # responses at all frequencies
    count = 2 ** int(np.ceil(np.log2(n1 + intervals + max(n2, rest))))
    t = h * (np.arange(count) - n1)
    place = task.to.place(t)[:, task.axes]
    parts = respond(linear_about(task, middle), place - place[0], h, shift)
    # cut off the time after the window
    kept = slice(0, n1 + intervals + n2 + 1)
    q, qd, qdd, tau = (x[kept] for x in parts)
    q, tau, t = q0 + q, tau0 + tau, t[kept]
    miss = float(np.abs(task.miss(t, q)).max())
    details = {"zeros": zeros.values, "shift": shift, "frequencies": count // 2 + 1}
    return Answer(
        t,
        q,
        qd,
        qdd,
        tau,
        h,
        miss,
        "solved",
        "exact for the arm linearized half way",
        "fft",
        0,
        0,
        0.0,
        details,
    )
