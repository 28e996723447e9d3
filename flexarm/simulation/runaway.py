"""Runs that leave the range of their model: slopes of links, energy that grows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._calls.arm_like import AnyArm, Array
from .._calls.chunks import STATES
from .._calls.links import link_name
from .._support.warn import warn
from ..dynamics.stretch import may_stretch, warn_of_stretch
from ..errors import AccuracyWarning, DeflectionWarning
from ..kinematics.coupling import TWIST_LIMIT, is_coupled, twist_errors, twist_sentence
from ..kinematics.slopes import (
    SLOPE_END,
    SLOPE_LIMIT,
    quiet_slopes,
    slope_bounds,
    slope_sentence,
)
from .accuracy import LIMIT
from .run import MAX_EIGENVALUES, Run

# Change of the energy of a passive arm by errors of the steps at most, as part of its
# largest kinetic one.
_MAX_CHANGE = 0.1
# Samples of a run whose energy is computed, besides the first.
_MAX_SAMPLES = 8
# Rounding of energies.
_ROUNDING = 1e-9


def judge_slopes(run: Run) -> None:
    """Warn if links of some trajectories bend too far; fail beyond any meaning.

    If they do not, warn of pieces of links whose twist does not follow their bending.
    """
    largest, sample, link = _largest(run)
    if not largest.any():
        _judge_twist(run)
        return
    largest[~run.is_whole()] = 0.0  # these fail for other reasons
    bad = largest > SLOPE_LIMIT
    if not bad.any():
        return
    i = int(largest.argmax())
    arm, slope, k = run.one(i), float(largest[i]), int(sample[i])
    run.lost = run.lost or slope > SLOPE_END
    many = f" in {int(bad.sum())} of {len(bad)} trajectories" if run.batch else ""
    clause = f" at t = {run.t[k]:.6g} s{many}"
    blamed = (
        run.lost
        and run.doubt is not None
        and arm.nv <= MAX_EIGENVALUES
        and run.doubt(i)
    )
    if blamed:  # on the step
        name = link_name(arm.bodies[link[i]])
        run.doubts.append(f"link {name!r} bends to a slope of {slope:.3g}{clause}")
        return
    sentence = slope_sentence(arm, int(link[i]), slope, clause)
    run.doubts.append(sentence)
    warn(sentence, DeflectionWarning)


def _judge_twist(run: Run) -> None:
    """Warn if the twist of pieces of links does not follow their bending."""
    if not is_coupled(run.flat):
        return
    arms = run.flat if run.stack is None else run.flat[:, np.newaxis]
    errors = np.nan_to_num(twist_errors(arms, run.q), nan=0.0, posinf=0.0)
    errors[~run.is_whole()] = 0.0
    if not (errors > TWIST_LIMIT).any():
        return
    i, k, link = (int(j) for j in np.unravel_index(errors.argmax(), errors.shape))
    clause = f" at t = {run.t[k]:.6g} s"
    sentence = twist_sentence(run.one(i), link, float(errors[i, k, link]), clause)
    run.doubts.append(sentence)
    warn(sentence, DeflectionWarning)


def _largest(run: Run) -> tuple[Array, NDArray[np.intp], NDArray[np.intp]]:
    """Largest slope of each trajectory, its sample and its link; 0 within the limit."""
    n = len(run.q)
    largest, sample, link = np.zeros(n), *np.zeros((2, n), dtype=np.intp)
    # one pass over the modes, then exact slopes of those that may be too large
    where = np.flatnonzero(slope_bounds(run.flat, run.q) > SLOPE_LIMIT)
    step = max(1, STATES // len(run.t))
    for first in range(0, len(where), step):
        some = where[first : first + step]
        arms = run.flat if run.stack is None else run.flat[some][:, np.newaxis]
        slopes = np.nan_to_num(quiet_slopes(arms, run.q[some]), nan=0.0)
        shape, flat = slopes.shape[1:], slopes.reshape(len(some), -1)
        place = flat.argmax(axis=1)
        largest[some] = flat[np.arange(len(some)), place]
        sample[some], link[some] = np.unravel_index(place, shape)
    return largest, sample, link


def judge_stretch(run: Run) -> None:
    """Warn if links that leave out their stretch have some that matters."""
    if run.stack is None and may_stretch(run.arm):
        whole = np.flatnonzero(run.is_whole())
        q, qd = (x[whole].reshape(-1, x.shape[-1]) for x in (run.q, run.qd))
        warn_of_stretch(run.arm, q, qd)


def judge_energy(run: Run, method: str) -> None:
    """Fail a run without forces whose energy changes, though its arm keeps it.

    Growth counts for all arms.  A loss counts for rigid ones without damping and
    friction, in steps of Runge and Kutta, with a warning, since a plot of samples too
    far apart looks like a motion: other steps may damp vibrations.
    """
    driven = run.function is not None or run.samples is not None
    if driven or not len(run.q):
        return
    arm = run.one(0)
    if arm.fidelity != "full" or arm._held:  # which do not keep energy
        return
    rigid = method == "rk4" and arm.motor_slice.start == arm.nv  # no modes, no motors
    n = len(run.t)
    at = np.unique(np.linspace(0, n - 1, min(n, _MAX_SAMPLES + 1)).astype(int))
    q, qd = run.q[:, at], run.qd[:, at]
    arms: AnyArm = run.flat if run.stack is None else run.flat[:, np.newaxis]
    quiet = arms.kernels.quiet
    with np.errstate(all="ignore"):
        T, V = quiet("kinetic_energy")(q, qd), quiet("potential_energy")(q)
        change = (T + V) - (T + V)[:, :1]
        size = np.fmax.reduce(np.abs(T) + np.abs(V), axis=1)
        most = np.fmax.reduce(T, axis=1)
        changed = np.fmax.reduce(change, axis=1)
        if rigid:
            kept = np.fmax.reduce(np.abs(quiet("dissipated_power")(q, qd)), axis=1)
            lost = np.fmin.reduce(change, axis=1)
            falls = (kept <= _ROUNDING * size) & (-lost > changed)
            changed = np.where(falls, lost, changed)
        share = np.abs(changed)
        bad = np.asarray((share > _MAX_CHANGE * most) & (share > _ROUNDING * size))
    if not bad.any():
        return
    bad &= run.is_whole()  # others fail for other reasons
    if not bad.any():
        return
    run.lost = True
    i = int(np.where(bad, share, 0.0).argmax())
    many = f" of {int(bad.sum())} of {len(bad)} trajectories" if run.batch else ""
    way = "grew" if changed[i] > 0.0 else "fell"
    sentence = (
        f"without forces the energy{many} {way} by {share[i]:.3g} J, with a kinetic "
        f"energy of {most[i]:.3g} J at most; take a smaller max_step"
    )
    run.doubts.append(sentence)
    warned = run.errors is not None and bool((run.errors > LIMIT).any())  # of steps
    if rigid and not warned:
        warn(sentence, AccuracyWarning)
