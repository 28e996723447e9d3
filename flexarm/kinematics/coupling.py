r"""Links and pieces that bend in two planes: what the twist of their ends leaves out.

Bending in planes of different stiffness changes the torque along a piece,
:math:`T' = (EI_y - EI_z)\,\kappa_y \kappa_z`, while a twist that is linear in it has a
constant torque.  The complementary energy that is left out is that of the rest,

.. math:: \frac{1}{2 GJ} \int (T - \bar T)^2 dx
   = \frac{(EI_y - EI_z)^2}{24\, GJ\, h}\,\alpha_y^2 \alpha_z^2

for a piece of length h whose ends turn by :math:`\alpha_y, \alpha_z`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._calls.arguments import any_of
from .._calls.arm_like import AnyArm, ArmLike, Array, StackLike
from .._calls.chunks import in_chunks
from .._calls.groups import by_arm
from .._calls.links import link_name
from ..bodies.body import Body

# Error without a warning, of the strain energy of a link or of its stiffness across the
# plane in which it is stiff: a load of lateral buckling is wrong by as much.
TWIST_LIMIT = 0.01


class _Coupling(NamedTuple):
    """Bending of a link, or of a piece of one, whose twist is that of its end."""

    hard: Array  # (n,) angle between its ends in the stiffer plane, per mode
    soft: Array  # (n,) in the other one
    left: float  # twice the energy that is left out, per product of squared angles
    across: float  # EI / h of the softer plane


def _coupling(body: Body) -> _Coupling | None:
    """Constants of a body; None of those without it, or that twist between their ends.

    Bodies of first order have no coupling at all.
    """
    profile = body.beam
    if profile is None or body._strain_energy is None:
        return None
    counts = profile.shape_counts
    if counts[0] != 1 or not all(counts):
        return None
    # of curvatures that are linear between cuts
    step = np.pad(np.diff(profile.at), 1)
    half = 0.5 * (step[:-1] + step[1:])
    length = float(half.sum())
    stiff = (half / length) @ profile.stiffness
    torsional = 1.0 / float((half / length) @ (1.0 / profile.stiffness[:, 1]))
    angles = np.einsum("s,skn->kn", half, profile.strain[:, 2:])
    hard = int(stiff[3] > stiff[2])
    left = float((stiff[2] - stiff[3]) ** 2) / (12.0 * torsional * length)
    across = float(stiff[3 - hard]) / length
    return _Coupling(angles[hard], angles[1 - hard], left, across)


def _couplings(arm: ArmLike) -> dict[str, list[tuple[int, _Coupling]]]:
    """Bodies with their constants, by link."""
    result: dict[str, list[tuple[int, _Coupling]]] = {}
    if arm.fidelity != "full":
        return result
    for k, body in enumerate(arm.bodies):
        if body.beam is None:
            continue
        key = _coupling
        if key not in body._kept:
            body._kept[key] = _coupling(body)
        if body._kept[key] is not None:
            link = body.segment.link if body.segment else body.name
            result.setdefault(link, []).append((k, body._kept[key]))
    return result


def is_coupled(arm: AnyArm) -> bool:
    """Whether there are such links in an arm, or in those of a stack."""
    arms = arm.arms if isinstance(arm, StackLike) else [arm]
    return any(_couplings(one) for one in arms)


def twist_errors(arm: AnyArm, q: Array) -> Array:
    """Relative errors by the twist of pieces, (..., n_bodies), at the first of a link.

    The larger one of two: energy that is left out beside that of the link, and half of
    the stiffness that it has too much across the plane in which it is stiff, in the
    mean of its pieces.
    """
    with np.errstate(all="ignore"):
        return np.asarray(in_chunks(arm, lambda x: _errors(arm, x), (q,)))


def _errors(arm: AnyArm, q: Array) -> Array:
    if isinstance(arm, StackLike):
        arms, n = arm.arms, len(any_of(arm).bodies)

        def of_one(i: int, given: list[Array]) -> Array:
            return twist_errors(arms[i], given[0])

        return by_arm(arm.index, of_one, [q], [1], (n,))
    result = np.zeros((*q.shape[:-1], len(arm.bodies)))
    for pieces in _couplings(arm).values():
        left = energy = across = np.zeros(q.shape[:-1])
        for k, piece in pieces:
            eta = q[..., arm.mode_slice(k, positions=True)]
            hard, soft = (eta @ piece.hard) ** 2, (eta @ piece.soft) ** 2
            left = left + piece.left * hard * soft
            energy = energy + ((eta @ arm.bodies[k].stiffness) * eta).sum(axis=-1)
            across = across + 0.5 * piece.left * hard / piece.across
        share = left / np.maximum(energy, np.finfo(float).tiny)
        result[..., pieces[0][0]] = np.maximum(share, across / len(pieces))
    return result


def twist_sentence(arm: ArmLike, body: int, error: float, where: str = "") -> str:
    """Sentence on a link in pieces whose twist cannot follow its bending.

    Parameters
    ----------
    arm : Arm
        Its arm.
    body : int
        Number of its first piece.
    error : float
        As of `twist_errors`.
    where : str
        Clause such as " at t = 1 s".
    """
    link = arm.bodies[body]
    twist, more = "its twist follows", "raise n_modes in torsion, or n_elements"
    if link.segment:
        twist = f"the twist of its {link.segment.count} pieces follows"
        more = "give them a twist of their middles, n_modes={'torsion': 2} and segments"
    return (
        f"link {link_name(link)!r} bends in planes of different stiffness{where}, "
        f"which {twist} to {100.0 * error:.2g} % of its energy or of its stiffness "
        f"beside the stiffer plane; {more}, or silence DeflectionWarning"
    )
