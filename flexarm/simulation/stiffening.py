"""Warning for links that spin so fast that they need geometric stiffening."""

from __future__ import annotations

import numpy as np

from .._calls.arguments import any_of
from .._calls.arm_like import AnyArm, ArmLike, Array, StackLike, numbers_of
from .._calls.chunks import all_finite, parts
from .._support.warn import warn
from ..errors import StiffeningWarning
from ..kinematics.links import link_velocities

# Spin of the frame of a link over its first frequency.  For a clamped beam without
# foreshortening that turns at 0.2 of it the first frequency is 2.3 % too low across the
# plane of rotation and 2.4 % in it; at 0.3 5.0 and 5.4 %, at 0.5 12 and 15 %, and at 1
# the motion diverges.
STIFFENING_SHARE = 0.2


def warn_of_stiffening(arm: AnyArm, q: Array, qd: Array) -> None:
    """Warn if links without foreshortening spin fast, at the samples of a run.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm of any fidelity; a stack broadcasts with the leading axes of runs.
    q, qd : (..., times, nq) and (..., times, nv) ndarray of float
        Samples; trajectories that are not finite are ignored.
    """
    one = any_of(arm)
    bare = [
        k
        for k, body in enumerate(one.bodies)
        if body.n_modes and body.node_foreshortening is None and _bends(one, k)
    ]
    if not bare:
        return
    spins = _spins(arm, q, qd)
    for k in bare:
        first = 2.0 * np.pi * _first_frequencies(arm, k, q.shape[:-2])
        ratio = spins[:, k] / first
        i = int(ratio.argmax()) if len(ratio) else 0
        if len(ratio) and ratio[i] > STIFFENING_SHARE:
            warn(
                f"body {one.bodies[k].name!r} has no geometric stiffening and spins at "
                f"{spins[i, k]:.3g} rad/s, {ratio[i]:.2g} of its first frequency "
                f"of {first[i]:.3g} rad/s; give it node_foreshortening "
                "(geometric_stiffening=True of flexible_link), or silence "
                "StiffeningWarning if its source has none",
                StiffeningWarning,
            )


def _spins(arm: AnyArm, q: Array, qd: Array) -> Array:
    """Largest spin in rad/s of each body in each trajectory, (n, n_bodies)."""
    batch = q.shape[:-2]
    stack = arm._flat(batch) if isinstance(arm, StackLike) else None
    q, qd = (x.reshape(-1, *x.shape[-2:]) for x in (q, qd))
    # only finite samples; failures have their own message
    finite = (all_finite(q, 1) & all_finite(qd, 1)).all(axis=-1)
    spins = np.zeros((len(q), len(any_of(arm).bodies)))
    for part in parts(q.shape[:2]):
        which = np.arange(len(q))[part[0]][finite[part[0]]]
        if len(which):
            at = (finite[part[0]], *part[1:])
            some = arm if stack is None else stack[which][:, np.newaxis]
            twists = link_velocities(some, q[part[0]][at], qd[part[0]][at])
            found = np.linalg.norm(twists[..., :3], axis=-1).max(axis=1)
            spins[which] = np.maximum(spins[which], found)
    return spins


def _first_frequencies(arm: AnyArm, k: int, batch: tuple[int, ...]) -> Array:
    """First frequency in Hz of body k in each trajectory, (n,)."""
    first = numbers_of(arm, lambda one: one.bodies[k]._frequencies[0], ("frequency", k))
    return np.asarray(np.broadcast_to(first, batch).reshape(-1))


def _bends(arm: ArmLike, k: int) -> bool:
    """Whether modes of a body move its nodes, not only twist it."""
    body = arm.bodies[k]
    driven = body.integrals is not None and body.integrals.driven is not None
    return not driven and bool(body.node_translation.any())
