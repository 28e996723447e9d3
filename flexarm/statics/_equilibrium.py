"""Static equilibrium of arms with held joints or motors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._calls.arguments import (
    any_of,
    check_finite,
    common_batch,
    count_of,
    positive_number,
    real_array,
)
from .._calls.arm_like import AnyArm, Array, StackLike
from .._calls.declared import Choice, Floats, Forces, JacobianFrame, Positions
from .._calls.doors import checked, checked_class
from .._calls.explain import leading
from .._calls.units import coordinates_of_call
from .._support.arrays import Mask
from .._support.interrupts import INTERRUPTED, allowed
from .._support.interrupts import held as held_back
from .._support.labelled import Labelled, Labels, Variable, batch_axes
from .._support.recorded import recorded
from .._support.warn import warn
from ..dynamics.stretch import is_crushed, may_stretch, warn_of_stretch
from ..errors import ArgumentError, ConvergenceError, DeflectionWarning
from ..kinematics.slopes import SLOPE_END, judge_slopes
from ._descent import descend
from ._newton import Problem, solve
from .closed import check_held, is_closed, open_by, rows_at
from .coordinates import (
    couplings,
    driven,
    freedom,
    geared,
    held_coordinates,
    motion_sizes,
    read_arm,
    read_positions,
)
from .given_loads import Loads, read_loads
from .spectrum import lowest_squares
from .tendons import Tendon

Entry = TypeVar("Entry", bound=np.generic)

# Entries of the tangents at a time, 32 MiB: more do not fit into memory beside others,
# fewer cost calls.
_BLOCK_SIZE = 1 << 22


@checked_class
@dataclass(frozen=True, eq=False)
class Equilibrium(Labelled):
    """Postures in which the forces of an arm at rest balance.

    Attributes
    ----------
    q : (..., nq) ndarray of float
        Positions; without success the best ones found.
    tau : (..., nv) ndarray of float
        Forces that hold the arm there, in N m, N and modal units: those of held
        coordinates (of motors for held joints with drives) and the given ones; zero on
        other coordinates.
    residual : (..., nv) ndarray of float
        Remaining forces on the free coordinates, in N m or N.
    success : (...) ndarray of bool
        Whether an equilibrium was found, stable or not, within the range of the model:
        with slopes of links up to one.
    stable : (...) ndarray of bool
        Whether small motions with the held coordinates at rest remain small.
    lowest_square : (...) ndarray of float
        Square of the lowest circular frequency of these motions, in 1/s^2: the smallest
        eigenvalue of the tangent stiffness in the metric of the mass matrix.  Negative
        for an unstable equilibrium, zero to rounding for an indifferent one, infinite
        without free coordinates, NaN without success or if the mass matrix is not
        positive definite.
    iterations : (...) ndarray of int
        Number of steps of Newton's method.
    message : str
        Number of equilibria that were not found or are not stable, and the first; the
        link that bends too far for its model.
    largest_slope : (...) ndarray of float
        Largest slope in rad of a link in its own frame, see `flexarm.largest_slope`.
    """

    q: Array
    tau: Array
    residual: Array
    success: Mask | np.bool_
    stable: Mask | np.bool_
    lowest_square: Array | np.float64
    iterations: NDArray[np.int64] | np.int64
    message: str
    largest_slope: Array | np.float64

    def _labels(self) -> Labels:
        batch = batch_axes(self.q.ndim - 1)
        found = {
            "q": Variable((*batch, "position"), self.q, None, "positions"),
            "tau": Variable((*batch, "force"), self.tau, None, "holding forces"),
            "residual": Variable((*batch, "force"), self.residual),
            "lowest_square": Variable(batch, self.lowest_square, "1/s^2"),
            "largest_slope": Variable(batch, self.largest_slope, "rad"),
        }
        for name in ("success", "stable", "iterations"):
            found[name] = Variable(batch, getattr(self, name))
        words = {"title": "static equilibria", "message": self.message}
        # the arm is an argument of the call
        at = coordinates_of_call(self.call, self.tau.shape[-1])
        at = {key: x for key, x in at.items() if not key.startswith("velocity")}
        return Labels(found, at, words)

    def check(self, *, stable: bool = True) -> Equilibrium:
        """Return itself if all equilibria are found and stable.

        Parameters
        ----------
        stable : bool
            Whether unstable and indifferent ones raise too.

        Returns
        -------
        result : Equilibrium
            This object.

        Raises
        ------
        ConvergenceError
            If one fails; ``error.result`` is this object.

        Examples
        --------
        An upright pendulum is in unstable equilibrium:

        >>> import flexarm as fa
        >>> upright = fa.equilibrium(fa.library.pendulum(), [1.5], held=None)
        >>> upright.check(stable=False).q.round(4)
        array([1.5708])
        >>> try:
        ...     upright.check()
        ... except fa.ConvergenceError as error:
        ...     print(error.result.stable)
        False
        """
        if np.all(self.success & self.stable if stable else self.success):
            return self
        error = ConvergenceError(
            f"equilibrium: {self.message}; give another start, a smaller load, hold "
            "more coordinates, or seek='stable'"
        )
        error.result = self  # type: ignore[attr-defined]
        raise error


@checked
@recorded("equilibrium")
def equilibrium(
    arm: AnyArm,
    q: Positions,
    *,
    held: object = "joints",
    wrench: Annotated[ArrayLike, Floats()] | None = None,
    node: object = None,
    frame: JacobianFrame = "node",
    tendons: Sequence[Tendon] | None = None,
    tension: Annotated[ArrayLike, Floats("(..., m)")] | None = None,
    tau: Forces | None = None,
    seek: Annotated[str, Choice("nearest", "stable")] = "nearest",
    tolerance: float = 1e-10,
    max_iterations: int = 50,
) -> Equilibrium:
    r"""Find postures of static equilibrium with some coordinates held.

    Solves :math:`g(q) + K \eta + f(q) - J^T w = \tau` for the free coordinates, with
    gravity, the elastic forces, those of springs in joints, wrenches w on nodes and
    tendons, by Newton's method with the exact tangent.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm; a stack of arms without loops.
    q : (..., nq) array_like of float
        Held positions, and initial ones of the others; motors of held joints start at
        the positions of their gears.
    held : {"joints", "motors"}, None, names or numbers
        Coordinates at rest: joints (their motors turn to the angles that hold them);
        motors, and joints with an actuator but no motor of their own; none; or names of
        ``arm.coordinate_names``, numbers or a mask.
    wrench : (..., 6) or (..., m, 6) array_like of float, optional
        Moment in N m and force in N on a node, or on each of a list of m nodes.
    node : int, str, (body, node) or list of these, optional
        Nodes of the wrench; by default the tip.
    frame : {"node", "base"}
        Axes of the wrench: those of the node, which it follows, or of the base.
    tendons : sequence of m Tendon, optional
        Cables through points of the arm.
    tension : (..., m) array_like of float, optional
        Their tensions in N.
    tau : (..., nu) or (..., nv) array_like of float, optional
        Given forces on free coordinates, such as torques of free motors.
    seek : {"nearest", "stable"}
        One equilibrium near the start, stable or not; or a minimum of the energy that
        is reached by descent from there, for loads with a potential: tendons, and
        forces in base axes without moments.
    tolerance : float
        Largest last step of Newton's method, as the motion of a node in rad or m.
    max_iterations : int
        Largest number of steps, and of steps of the descent before.

    Returns
    -------
    result : Equilibrium
        Positions, holding forces and flags; ``success`` is False for an equilibrium
        that is not found, or beyond the range of the model.

    Raises
    ------
    ArgumentError
        If `tau` acts on held coordinates, or ``seek="stable"`` has no potential.
    KeyboardInterrupt
        After Ctrl-C before one of the equilibria is found; later the result has those
        found.

    Warns
    -----
    AccuracyWarning
        If a link whose motions leave out ``"stretch"`` would be longer by more than 1 %
        of the deflection of its tip, or one that has it, not in `segments`, stretches
        by more than a third of a percent, which should change how it bends.
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; above one, or
        shortened by more than its length, ``success`` and ``stable`` are False.

    See Also
    --------
    inverse_statics : joint positions for a given pose of a node.
    deflection, holding_forces : parts of the result.
    natural_frequencies : frequencies of small motions about it.

    Notes
    -----
    From a start near the upper equilibrium of a pendulum it is the result, not
    ``stable``; with ``seek="stable"`` the result is the lower one.  Under a load beyond
    buckling the straight equilibrium is unstable, and others exist in a model with
    foreshortening of links.  Loads that follow a node have no potential; their
    stability is that of the eigenvalues of the full tangent, flutter included.

    With loops and sliders, which `q` need not close, :math:`A^T \lambda` balances with
    unknown forces :math:`\lambda` on their rows, and small motions keep them closed.
    Coordinates that close them must not be held.

    The modes under gravity are those of A. De Luca, B. Siciliano, IEEE Trans. Robotics
    and Automation 9 (1993), 463-467.

    Examples
    --------
    A tip load of 1 N bends a cantilever of EI = 100 N m^2 by L^3/(3 EI) = 1/300 m:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(1, n_modes=8, gravity=(0, 0, 0))
    >>> rest = fa.equilibrium(arm, np.zeros(9), wrench=[0, 0, 0, 0, 1, 0], frame="base")
    >>> bool(rest.stable), round(float(fa.tip_pose(arm, rest.q)[1, 3]), 6)
    (True, 0.003333)

    Equilibria of a free pendulum, upright and hanging:

    >>> rest = fa.equilibrium(fa.library.pendulum(), [[-1.6], [1.5]], held=None)
    >>> rest.q.round(3).ravel(), rest.stable
    (array([-1.571,  1.571]), array([ True, False]))
    >>> arm = fa.library.pendulum()
    >>> fa.equilibrium(arm, [1.5], held=None, seek="stable").q.round(3)
    array([-1.571])

    The sag in m of beams of two stiffnesses, in lanes:

    >>> arms = fa.stack(
    ...     fa.library.planar_chain(1, n_modes=4, bending_stiffness=k)
    ...     for k in (100.0, 200.0)
    ... )
    >>> rest = fa.equilibrium(arms, np.zeros(5))
    >>> fa.tip_pose(arms, rest.q)[:, 1, 3].round(4)
    array([-0.0123, -0.0061])
    """
    read_arm(arm, "equilibrium", closed=True)
    start = read_positions(arm, q)
    loads = read_loads(arm, wrench, node, frame, tendons, tension)
    applied = _applied(arm, tau)
    batch = _batch(arm, start, loads, applied)
    count_of("max_iterations", max_iterations)
    problem, start, still = posed(arm, start, loads, applied, held, batch)
    _check_seek(seek, loads, problem, arm)
    # blocks of states
    states = np.broadcast_to(start, (*batch, arm.nq)).reshape(-1, arm.nq)
    steps, limit = int(max_iterations), positive_number("tolerance", tolerance)
    size = max(1, _BLOCK_SIZE // arm.nv**2)
    parts, stopped, some = [], False, False
    with held_back():
        for i in range(0, max(len(states), 1), size):
            at = slice(i, i + size)
            part, stopped, found = _settled(
                problem.at(at), states[at], still, limit, 0 if stopped else steps, seek
            )
            parts.append(part)
            some = some or found
        columns = list(map(np.concatenate, zip(*parts, strict=True)))
        if stopped and not some:
            raise KeyboardInterrupt
        result = _result(arm, batch, stopped, *columns)
        judged = np.reshape(result.success, -1) | is_crushed(arm, columns[0])
        judge_stretch(arm, problem.loads, columns[0], judged)
        return result


def posed(
    arm: AnyArm,
    start: Array,
    loads: Loads | None,
    applied: Array | None,
    held: object,
    batch: tuple[int, ...],
) -> tuple[Problem, Array, Mask]:
    """Problem of a batch, its start, coordinates that small motions leave at rest."""
    # forces that vanish, coordinates that move, those of small motions
    still = held_coordinates(arm, held)
    given, rows = still.copy(), still.copy()
    if isinstance(held, str) and held == "joints":  # motors turn and hold them
        rows[driven(arm)] = False
        given[arm.motor_slice] = False
        if isinstance(arm, StackLike):
            start = np.broadcast_to(start, (*batch, arm.nq))
        start = geared(arm, start)
        # stability is that of motions with the motors at rest
        still = held_coordinates(arm, "motors")
    if applied is not None and applied[..., rows].any():
        j = int(np.flatnonzero(applied.reshape(-1, arm.nv).any(axis=0) & rows)[0])
        raise ArgumentError(
            f"tau has a force on {arm.coordinate_names[j]!r}, which is held; expected "
            "zero there, or that it is not held"
        )
    # couplings of coordinates that move
    arms = arm._flat(batch) if isinstance(arm, StackLike) else arm
    closed = is_closed(arm)
    given_q = np.broadcast_to(start, (*batch, arm.nq))
    tied = rows_at(arm, given_q) if closed else couplings(arms)
    moving = np.asarray(tied[..., ~given].any(axis=-1))
    moves = np.asarray(moving.any(axis=tuple(range(moving.ndim - 1))))
    if closed:
        check_held(arm, given_q, moves)
    ties = np.flatnonzero(moves)
    problem = Problem(
        arms,
        None if loads is None else loads.flat(batch),
        None if applied is None else _rows(applied, batch),
        np.flatnonzero(~rows),
        np.flatnonzero(~given),
        ties,
        tied[..., ties, :],
        motion_sizes(arms),
    )
    return problem, start, still


def judge_stretch(arm: AnyArm, loads: Loads | None, q: Array, good: Mask) -> None:
    """Warn if links that leave out their stretch have some that matters."""
    if not may_stretch(arm) or not good.any():
        return
    states, some = q[good], None if loads is None else loads.at(good)
    forces = None if some is None else some.base_forces(arm, states)
    warn_of_stretch(arm, states, None, forces)


def _check_seek(seek: str, loads: Loads | None, problem: Problem, arm: AnyArm) -> None:
    """Raise for a search of minima without a potential."""
    if seek not in ("nearest", "stable"):
        raise ArgumentError(f"seek is {seek!r}, expected 'nearest' or 'stable'")
    if seek == "nearest":
        return
    if loads is not None and not loads.conservative:
        raise ArgumentError(
            "seek is 'stable' and the load, a moment or one that follows its node, has "
            "no potential; expected forces with frame='base', or seek='nearest'"
        )
    if any_of(arm)._held or not np.array_equal(problem.rows, problem.columns):
        raise ArgumentError(
            "seek is 'stable' for an arm with couplings, or with motors that hold its "
            "joints where they are; expected held='motors' or seek='nearest'"
        )


def _applied(arm: AnyArm, tau: ArrayLike | None) -> Array | None:
    if tau is None:
        return None
    array = real_array("tau", tau)
    leading(arm, {"tau": array}, ())
    check_finite("tau", array)
    full = np.zeros((*array.shape[:-1], arm.nv))
    if array.shape[-1] == arm.nv:
        full[...] = array
    else:
        full[..., arm.actuator_indices] = array
    return full


def _batch(
    arm: AnyArm, start: Array, loads: Loads | None, applied: Array | None
) -> tuple[int, ...]:
    shapes = {"q": start.shape[:-1]}
    if isinstance(arm, StackLike):
        shapes["stack"] = arm.shape
    if loads is not None:
        shapes["wrench"] = loads.wrench.shape[:-2]
        shapes["tension"] = () if loads.pull is None else loads.pull.tension.shape[:-1]
    if applied is not None:
        shapes["tau"] = applied.shape[:-1]
    return common_batch(shapes)


def _rows(array: Array, batch: tuple[int, ...]) -> Array:
    if array.ndim == 1:
        return array
    return np.broadcast_to(array, (*batch, array.shape[-1])).reshape(
        -1, array.shape[-1]
    )


def _settled(
    problem: Problem,
    start: Array,
    still: Mask,
    tolerance: float,
    max_steps: int,
    seek: str,
) -> tuple[tuple[np.ndarray, ...], bool, bool]:
    """Positions, forces and flags of a block of states, and two more flags.

    These are whether Ctrl-C ended it, and whether it has an equilibrium; one whose
    stability Ctrl-C leaves unknown fails.  Without steps they are those of
    states that are not computed.
    """
    stopped = max_steps == 0
    try:
        if seek == "stable" and problem.columns.size and not stopped:
            with allowed():
                start = descend(problem, start, max_steps)
    except KeyboardInterrupt:
        max_steps, stopped = 0, True
    found = solve(problem, start, tolerance, max_steps)
    stopped = stopped or found.interrupted
    tau = problem.holding(found.q)
    residual = np.zeros_like(tau)
    residual[:, problem.rows] = tau[:, problem.rows]
    tau[:, problem.rows] = 0.0
    if problem.applied is not None:
        tau += problem.applied
    # mass may be negative beyond the valid deflections of a model
    free = freedom(problem.arm, still, found.q)
    least, stable = np.full(len(tau), np.nan), np.zeros(len(tau), dtype=bool)
    judged = True
    try:
        if not stopped:
            with allowed():
                at = np.flatnonzero(found.success)
                squares, neutral = lowest_squares(
                    problem.at(at), found.q[at], free.at(at)
                )
            least[at], stable[at] = squares, (squares > 0.0) & ~neutral
    except KeyboardInterrupt:
        stopped, judged = True, False
    flags = found.success & judged, stable, least, found.iterations
    return (found.q, tau, residual, *flags), stopped, bool(found.success.any())


def _result(
    arm: AnyArm,
    batch: tuple[int, ...],
    stopped: bool,
    q: Array,
    tau: Array,
    residual: Array,
    success: Mask,
    stable: Mask,
    least: Array,
    iterations: NDArray[np.int64],
) -> Equilibrium:
    """Return the result in the shape of the user, after a warning."""

    def shaped(array: NDArray[Entry]) -> NDArray[Entry] | Entry:
        if batch:
            return array.reshape(batch)
        one: Entry = array[0]
        return one

    positions = q.reshape(*batch, arm.nq)
    slopes, bent = judge_slopes(arm, positions, success.reshape(batch))
    # beyond the model there is no equilibrium
    slopes = np.reshape(slopes, -1)
    lost = (slopes > SLOPE_END) | is_crushed(arm, q)
    stable, least = stable & ~lost, np.where(lost, np.nan, least)
    success = success & ~lost
    message = _message(success.reshape(batch), stable.reshape(batch))
    if not batch and not success[0] and (what := open_by(arm, q)):
        message = f"{message}, the search ended where the arm violates {what}"
    if bent:
        warn(bent, DeflectionWarning)
        message = f"{message}: {bent}"
    return Equilibrium(
        positions,
        tau.reshape(*batch, arm.nv),
        residual.reshape(*batch, arm.nv),
        shaped(success),
        shaped(stable),
        shaped(least),
        shaped(iterations),
        f"{INTERRUPTED} before all were computed: " * stopped + message,
        shaped(slopes),
    )


def _message(success: Mask, stable: Mask) -> str:
    if success.ndim == 0:
        if not success:
            return "no equilibrium was found"
        return f"{'a stable' if stable else 'an unstable or indifferent'} equilibrium"
    parts = []
    for name, bad in (("not found", ~success), ("not stable", success & ~stable)):
        if bad.any():
            index = tuple(int(i) for i in np.argwhere(bad)[0])
            parts.append(
                f"{int(bad.sum())} of {bad.size} equilibria are {name}, the first at "
                f"index {index}"
            )
    return ", and ".join(parts) or "all equilibria are found and stable"
