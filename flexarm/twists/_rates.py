"""Rates of the coordinates from twists of all bodies, by relative twists."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_finite, common_batch
from .._calls.arm_like import ArmLike
from .._calls.declared import Floats, Positions, TwistForm
from .._calls.doors import checked_late
from .._support.arrays import Array
from ..bodies.maps import transpose as _t
from ..errors import ArgumentError, SingularityError
from ..kinematics.forms import (
    check_form,
    check_twists,
    convert_columns,
    join,
    refuse_cut_models,
    split,
)
from ._factors import as_state, body_slice, relative_maps

# Smallest nonzero singular value of columns of unit length.
_RANK_TOLERANCE = 1e-10


def _groups(arm: ArmLike) -> list[tuple[list[int], list[int]]]:
    """Bodies whose relative twists share coordinates, and these coordinates.

    The children of a flexible body share its modes; a floating body shares them too.
    """
    found: list[tuple[list[int], list[int]]] = []
    of_modes: dict[int, int] = {}  # group of the modes of a body
    for k, (body, p) in enumerate(zip(arm.bodies, arm._parents, strict=True)):
        joint = arm.body_joint_slice(k)
        columns = list(range(joint.start, joint.stop))
        shares = p >= 0 and arm.bodies[p].n_modes > 0
        if shares and p in of_modes:
            group = of_modes[p]
            found[group][0].append(k)
            found[group][1].extend(columns)
        else:
            if shares:
                at = arm.mode_slice(p)
                columns += range(at.start, at.stop)
                of_modes[p] = len(found)
            group = len(found)
            found.append(([k], columns))
        if body.attachment_node is not None and body.n_modes:
            own = arm.mode_slice(k)
            found[group][1].extend(range(own.start, own.stop))
            of_modes[k] = group
    return found


def _refuse(arm: ArmLike, columns: list[int], lost: Array, bad: Array) -> None:
    """Raise an error with the coordinates that the twists do not determine."""
    names = [arm.coordinate_names[columns[i]] for i in np.flatnonzero(lost)]
    which = ", ".join(map(repr, names[:4])) + (", ..." if len(names) > 4 else "")
    index = tuple(int(i) for i in np.argwhere(bad)[0]) if bad.ndim else ()
    where = f" in {int(bad.sum())} of {bad.size} states" if bad.size > 1 else ""
    first = f", first at index {index}" if index and bad.size > 1 else ""
    raise SingularityError(
        f"joint_rates cannot find {which} from twists of the bodies{where}{first}, "
        "expected twists that determine every coordinate; pass least_norm=True for the "
        "smallest rates"
    )


def _solve(
    arm: ArmLike, columns: list[int], X: Array, y: Array, least_norm: bool
) -> Array:
    """Least squares of X qd = y, (..., m, c) and (..., m), of minimal norm."""
    length = np.linalg.norm(X, axis=-2, keepdims=True)
    unit = X / np.where(length > 0.0, length, 1.0)
    U, s, Vt = np.linalg.svd(unit, full_matrices=False)
    counts = s > _RANK_TOLERANCE
    rank, c = counts.sum(axis=-1), len(columns)
    bad = rank < c
    if bad.any() and not least_norm:
        at = tuple(np.argwhere(bad)[0]) if bad.ndim else ()
        shown = Vt[at][counts[at]]
        _refuse(arm, columns, (shown**2).sum(axis=0) < 1.0 - 1e-9, np.asarray(bad))
    inverse = np.where(counts, 1.0 / np.where(counts, s, 1.0), 0.0)
    z = inverse[..., np.newaxis] * (_t(U) @ y[..., np.newaxis])
    rates: Array = (_t(Vt) @ z)[..., 0]
    return np.asarray(rates / np.where(length > 0.0, length, 1.0)[..., 0, :])


def _relative_twists(arm: ArmLike, D: Array, V: Array) -> Array:
    """``(I - D) V`` of body-fixed twists, (..., B, 6)."""
    result: Array = V.copy()
    for k, p in enumerate(arm._parents):
        if p >= 0:
            block = D[..., body_slice(k), body_slice(p)]
            result[..., k, :] -= (block @ V[..., p, :, np.newaxis])[..., 0]
    return result


@checked_late
def joint_rates(
    arm: ArmLike,
    q: Positions,
    V: Annotated[ArrayLike, Floats("(..., B, 6)")],
    form: TwistForm = "body",
    *,
    least_norm: bool = False,
) -> Array:
    r"""Velocities of the coordinates from the twists of all bodies.

    The twist of each body relative to its parent determines the rates of its joint:

    .. math:: \dot q_i = \frac{X_i^T (V_i - \mathrm{Ad}_{C_{i,p}} V_p)}{\|X_i\|^2}

    Parameters
    ----------
    arm : Arm
        Tree of ``B`` bodies with ``nv`` coordinates, of full fidelity.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    V : (..., B, 6) array_like of float
        Twists of all bodies, such as measured ones.
    form : {"body", "spatial", "hybrid", "mixed"}
        Form of `V`; equal motions in all forms give equal rates.
    least_norm : bool
        If the twists do not determine all coordinates, return the smallest rates in the
        norm ``sum (|X_j| qd_j)^2``, which does not depend on the units of the modes, in
        place of an error.

    Returns
    -------
    qd : (..., nv) ndarray of float
        Rates, exact for twists of a motion of the arm.

    Raises
    ------
    ArgumentError
        If the arm has modes and is not of full fidelity.
    SingularityError
        If the twists do not determine all coordinates; the message names these.
    NotFiniteError
        If a state or a twist is not finite.

    See Also
    --------
    factors : the matrices of the least squares problem.

    Notes
    -----
    A. Mueller, Multibody System Dynamics 43 (2018), eq. 26 and Remark 14.  For twists
    with noise this minimizes the error
    :math:`\|(\mathsf I - \mathsf D)\mathsf V - \mathsf X\dot q\|` of *relative* twists
    in body axes, not the error :math:`\|\mathsf V - \mathsf J\dot q\|` of the twists,
    as ``np.linalg.lstsq(J, V)`` does.  Neither is generally better: both add squares of
    rad/s and m/s, change with the unit of length and, by the moment part of the screws,
    with the position of the frames in their bodies.

    The modes of a parent are in the relative twists of all its children, and are found
    with their joints by one least-squares problem.  Twists of frames determine neither
    modes of a body without children, unless it floats, nor modes with the same effect
    as the next joint: two modes of a planar link with a revolute joint at its end, for
    example.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.twists._rates import joint_rates
    >>> arm = fa.library.puma560()
    >>> q, qd = np.linspace(0.1, 0.6, 6), np.arange(6.0)
    >>> V = fa.link_velocities(arm, q, qd, form="spatial")
    >>> joint_rates(arm, q, V, "spatial").round(12)
    array([0., 1., 2., 3., 4., 5.])
    """
    check_form("form", form)
    refuse_cut_models(arm, "joint_rates")
    twists = check_twists("V", V, columns=False)
    B = len(arm.bodies)
    if twists.ndim < 2 or twists.shape[-2] != B:
        raise ArgumentError(
            f"V has shape {twists.shape}, expected (..., {B}, 6), a twist of each body"
        )
    # relative twists in body axes
    check_finite("V", twists, 2)
    q, poses = as_state(arm, q)
    common_batch({"q": q.shape[:-1], "V": twists.shape[:-2]})
    body = join(convert_columns(split(twists, False), poses, form, "body"), False)
    D, X = relative_maps(arm, q)
    batch = np.broadcast_shapes(q.shape[:-1], twists.shape[:-2])
    relative = _relative_twists(arm, D, np.broadcast_to(body, (*batch, B, 6)))
    # least squares for each group of coordinates
    qd = np.zeros((*batch, arm.nv))
    seen = np.zeros(arm.nv, dtype=bool)
    for bodies, columns in _groups(arm):
        seen[columns] = True
        if columns:
            rows = np.concatenate([np.arange(6 * k, 6 * k + 6) for k in bodies])
            y = relative[..., bodies, :].reshape(*batch, len(rows))
            X_g = X[..., rows[:, np.newaxis], columns]
            X_g = np.broadcast_to(X_g, (*batch, *X_g.shape[-2:]))
            qd[..., columns] = _solve(arm, columns, X_g, y, least_norm)
    if not seen.all() and not least_norm:
        _refuse(arm, list(range(arm.nv)), ~seen, np.ones(batch, dtype=bool))
    return qd
