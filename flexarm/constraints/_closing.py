"""Assembly of closed loops: Newton steps to positions that satisfy the constraints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import real_array
from .._calls.arm_like import ArmLike, Array
from .._calls.declared import Number, Positions, Velocities, Whole
from .._calls.doors import checked
from .._support.options import place_of
from ..errors import ConvergenceError
from ..model.loops import Loop
from ._functions import constraint_violation, need_constraints


@checked
def close_loops(
    arm: ArmLike,
    q: Positions,
    qd: Velocities | None = None,
    *,
    hold: str | Sequence[str] = (),
    modes: bool = False,
    tol: Annotated[float, Number(least=0.0)] = 1e-12,
    max_steps: Annotated[int, Whole(least=0)] = 50,
) -> Any:
    """Find the nearest positions, and velocities, that satisfy the constraints.

    Parameters
    ----------
    arm : Arm
        Arm with constraints.
    q : (..., nq) array_like of float
        Initial positions, in rad, m, quaternions or modal units.
    qd : (..., nv) array_like of float, optional
        Velocities.
    hold : str or sequence of str
        Names of coordinates of `Arm.coordinate_names` that remain as given, such as
        the crank of a mechanism.
    modes : bool
        Whether modes may change; by default bodies keep their shape.
    tol : float
        Largest accepted violation, in m and rad.
    max_steps : int
        Largest number of Newton steps.

    Returns
    -------
    q : (..., nq) ndarray of float
        Positions with closed loops.
    qd : (..., nv) ndarray of float
        Velocities that keep them closed; only if `qd` is given.

    Raises
    ------
    ArgumentError
        If the arm has no constraints.
    ConvergenceError
        If a loop cannot be closed from there, or closes only with one frame turned by
        half a turn; ``error.result`` has the nearest positions.

    Notes
    -----
    Newton steps in the metric of the mass matrix: heavy parts move least (E. Bayo,
    R. Ledesma, Nonlinear Dynamics 9, 1996).

    Examples
    --------
    A chain of two links with its tip held at (1, 0):

    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0).replace(
    ...     constraints=[
    ...         fa.Loop(("link2", "tip"), directions="xy", position2=(1, 0, 0))
    ...     ]
    ... )
    >>> q = fa.close_loops(arm, [0.9, -2.0])
    >>> fa.tip_pose(arm, q)[:3, 3].round(9) + 0.0
    array([1., 0., 0.])
    """
    need_constraints(arm)
    constraint_violation(arm, q)  # raises for invalid positions
    move = _free_coordinates(arm, hold, modes)
    given = np.array(real_array("q", q))
    best = given.reshape(-1, arm.nq)
    size = _largest(arm, best)
    reach = np.ones(len(best))  # part of the Newton step, reduced where it fails
    for _ in range(max_steps):
        busy = np.flatnonzero(~(size <= tol))
        if len(busy) == 0:
            break
        step = _toward(
            arm, best[busy], arm.kernels.constraint_violation(best[busy]), move
        )
        moved = arm.kernels.quiet("integrate")(
            best[busy], reach[busy, np.newaxis] * step
        )
        closer = _largest(arm, moved)
        better = closer < size[busy]
        best[busy[better]], size[busy[better]] = moved[better], closer[better]
        reach[busy] = np.where(better, 1.0, 0.25 * reach[busy])
    q = best.reshape(given.shape)
    if not (size <= tol).all():
        raise _stays_open(arm, q, tol, max_steps)
    _check_turned(arm, q)
    if qd is None:
        return q
    return q, _nearest_velocities(arm, q, qd, move)


def _largest(arm: ArmLike, q: Array) -> Array:
    """Largest violation of each state, (n, nq) to (n,)."""
    violation = arm.kernels.quiet("constraint_violation")(q)
    return np.asarray(np.abs(violation).max(axis=-1))


def _free_coordinates(arm: ArmLike, hold: str | Sequence[str], modes: bool) -> Array:
    names = arm.coordinate_names
    hold = [hold] if isinstance(hold, str) else list(hold)
    for name in hold:
        place_of("hold", name, names)
    # motors of couplings, such as rigid gears, move with joints; others remain
    coupled = {key for c in arm._held for key, _ in getattr(c, "coefficients", ())}
    first = arm.motor_slice.stop
    return np.array(
        [
            name not in hold
            and (i < arm.nj or (name in coupled if i < first else modes))
            for i, name in enumerate(names)
        ]
    )


def _toward(arm: ArmLike, q: Array, rows: Array, move: Array) -> Array:
    """Free velocities with ``A dq = -rows``, least in the metric of the mass."""
    M, A = arm.kernels.mass_matrix(q), arm.kernels.constraint_jacobian(q)
    dq = np.zeros((*q.shape[:-1], arm.nv))
    L = np.linalg.cholesky(M[..., move, :][..., move])
    B = np.swapaxes(np.linalg.solve(L, np.swapaxes(A[..., move], -1, -2)), -1, -2)
    part = np.linalg.pinv(B, rcond=1e-9) @ -rows[..., np.newaxis]
    dq[..., move] = np.linalg.solve(np.swapaxes(L, -1, -2), part)[..., 0]
    return dq


def _nearest_velocities(arm: ArmLike, q: Array, qd: ArrayLike, move: Array) -> Array:
    moving = arm.kernels.position_rates(q, qd)  # raises for invalid velocities
    batch = moving.shape[:-1]
    q = np.broadcast_to(q, (*batch, arm.nq))
    qd = np.broadcast_to(real_array("qd", qd), (*batch, arm.nv))
    rate = (arm.kernels.constraint_jacobian(q) @ qd[..., np.newaxis])[..., 0]
    return np.asarray(qd + _toward(arm, q, rate, move))


def _stays_open(arm: ArmLike, q: Array, tol: float, steps: int) -> ConvergenceError:
    violation = np.abs(arm.kernels.quiet("constraint_violation")(q))
    failed = ~(violation.max(axis=-1) <= tol)
    at = tuple(int(i) for i in np.argwhere(failed)[0])
    row = int(np.argmax(violation[at]))
    where = f" in {int(failed.sum())} of {failed.size} states, first at index {at}"
    error = ConvergenceError(
        f"close_loops cannot close the arm{where if at else ''}: "
        f"{arm.constraint_names[row]!r} stays open by {violation[at][row]:.3g} after "
        f"{steps} steps; start from other positions, check the lengths, hold fewer "
        "coordinates, or let modes help"
    )
    error.result = q  # type: ignore[attr-defined]
    return error


def _check_turned(arm: ArmLike, q: Array) -> None:
    """Raise for loops whose frames are half a turn apart: the rows vanish there too."""
    for loop in arm._held:
        turns = [d for d in getattr(loop, "locked", ()) if d.startswith("r")]
        if len(turns) < 2:
            continue
        first, second = (_loop_axes(arm, loop, side, q) for side in (0, 1))
        free = [i for i, d in enumerate(("rx", "ry", "rz")) if d not in turns]
        along = np.einsum("...ij,...ij->...j", first, second)  # cosines of equal axes
        wrong = (along[..., free or [0, 1, 2]] < 0.0).any(axis=-1)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0]) if wrong.ndim else ()
            where = f" at index {at}" if at else ""
            error = ConvergenceError(
                f"close_loops found loop {loop.name!r} closed with its frames half a "
                f"turn apart{where}, start from positions nearer to the wanted ones"
            )
            error.result = q  # type: ignore[attr-defined]
            raise error


def _loop_axes(arm: ArmLike, loop: Loop, side: int, q: Array) -> Array:
    """Axes of one frame of a loop in the base, (..., 3, 3)."""
    end, rotation = ((loop.first, loop.rotation), (loop.second, loop.rotation2))[side]
    if end == "ground":
        return np.broadcast_to(rotation, (*q.shape[:-1], 3, 3))
    pose = arm.kernels.node_pose(arm.node(*end), q)
    return np.asarray(pose[..., :3, :3] @ np.asarray(rotation))
