"""Warning for links that spin so fast that they need geometric stiffening."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._calls.arm_like import ArmLike
from .._calls.chunks import all_finite, parts
from .._support.warn import warn
from ..errors import StiffeningWarning
from ..kinematics.links import link_velocities

Array = NDArray[np.float64]

# Spin of the frame of a link over its first frequency.  For a clamped beam without
# foreshortening that turns at 0.2 of it the first frequency is 2.3 % too low across the
# plane of rotation and 2.4 % in it; at 0.3 5.0 and 5.4 %, at 0.5 12 and 15 %, and at 1
# the motion diverges.
STIFFENING_SHARE = 0.2


def warn_of_stiffening(arm: ArmLike, q: Array, qd: Array) -> None:
    """Warn if links without foreshortening spin fast, at the samples of a run.

    Parameters
    ----------
    arm : Arm
        Arm of any fidelity.
    q, qd : (..., times, nq) and (..., times, nv) ndarray of float
        Samples; trajectories that are not finite are ignored.
    """
    bare = {
        k: 2.0 * np.pi * float(body.frequencies()[0])
        for k, body in enumerate(arm.bodies)
        if body.n_modes and body.node_foreshortening is None and _bends(arm, k)
    }
    if not bare:
        return
    # only finite samples; failures have their own message
    finite = (all_finite(q, 1) & all_finite(qd, 1)).all(axis=-1, keepdims=True)
    finite = np.broadcast_to(finite, q.shape[:-1])
    spins = np.zeros(len(arm.bodies))
    for part in parts(finite.shape):
        among = finite[part]
        if among.any():
            twists = link_velocities(arm, q[part][among], qd[part][among])
            spins = np.maximum(
                spins, np.linalg.norm(twists[..., :3], axis=-1).max(axis=0)
            )
    for k, first in bare.items():
        if spins[k] > STIFFENING_SHARE * first:
            warn(
                f"body {arm.bodies[k].name!r} has no geometric stiffening and spins at "
                f"{spins[k]:.3g} rad/s, {spins[k] / first:.2g} of its first frequency "
                f"of {first:.3g} rad/s; give it node_foreshortening "
                "(geometric_stiffening=True of flexible_link), or silence "
                "StiffeningWarning if its source has none",
                StiffeningWarning,
            )


def _bends(arm: ArmLike, k: int) -> bool:
    """Whether modes of a body move its nodes, not only twist it."""
    body = arm.bodies[k]
    driven = body.integrals is not None and body.integrals.driven is not None
    return not driven and bool(body.node_translation.any())
