"""An arm with more modes in its links, beside which modes can be judged."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._calls.arm_like import AnArm, ArmLike, Array
from ._calls.doors import checked
from ._support.checks import whole_number
from .arm import without_warning
from .bodies.refined import refined_link
from .mode_accuracy import Locked

# Modes that each link of the finer arm has more.
ADDED_MODES = 4


@checked
def refined(arm: ArmLike, more: int = ADDED_MODES) -> Any:
    """Return the arm with more modes in its links, to see whether modes suffice.

    Parameters
    ----------
    arm : Arm
        The arm.
    more : int
        Number of modes of each link beyond those that it has.

    Returns
    -------
    finer : Arm
        The same bodies, nodes and joints.  Links of `beams` have the lowest modes of
        what they carry in the neutral posture and the static shapes of where they carry
        it, others, and links cut into segments, what they had.  Ratios of damping are
        those of the modes of the arm with the nearest frequencies.

    See Also
    --------
    mode_errors : errors of frequencies and deflections, without a motion.

    Notes
    -----
    Modes are in the order of the frequencies of the link with what it carries, its base
    held; they are coordinates of their own, and equal those of the arm in number and
    shape only in the limit.  A motion starts from the equilibrium of the new arm, see
    `equilibrium`.

    Examples
    --------
    Frequencies of a cantilever of two modes, and of the same with six:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> section = fa.beams.Section.rectangle(0.003, 0.04, "aluminium")
    >>> link = fa.beams.finite_element_link(
    ...     "link", length=1.0, sections=section, motions="bending y", n_modes=2
    ... )
    >>> arm = fa.Arm([link])
    >>> import warnings
    >>> warnings.simplefilter("ignore", fa.ModeWarning)  # of the second frequency
    >>> for x in (arm, arm.refined()):
    ...     f = fa.natural_frequencies(x, np.zeros(x.nq), held="joints", count=2)
    ...     print(f.round(3))
    [ 2.479 24.427]
    [ 2.468 15.463]
    """
    return with_modes(arm, whole_number("more", more, 1))


def with_modes(arm: AnArm, more: int = ADDED_MODES, stretch: bool = False) -> AnArm:
    """Return the arm with more modes, and the stretch that its links leave out."""
    locked, bodies = Locked(arm, arm.neutral), list(arm.bodies)
    for k in locked.flexible:
        at = locked.loaded(k)
        loads = locked.loads(k, at)
        link = refined_link(arm.bodies[k], at, loads, more, stretch)
        if link is not None:
            bodies[k] = link
    with without_warning():
        finer: AnArm = arm.replace(bodies=bodies)
    return finer


def undeformed(arm: ArmLike, like: ArmLike, q: Array) -> Array:
    """Posture of an arm with the joints of another one at q, its links undeformed."""
    joints = like.nq - sum(body.n_modes for body in like.bodies)
    posture = np.array(arm.neutral)
    posture[:joints] = q[:joints]
    return posture
