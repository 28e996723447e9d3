"""A motion from rest to rest as a nonlinear program: what was asked, and the terms."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from .._explain import (
    check_arm,
    check_numbers,
    positive_number,
    real_array,
    refuse_linear,
)
from ..errors import ArgumentError, ConvergenceWarning
from . import _costs
from ._collocation import Collocation, Grid, _check_tree, answer
from ._design import Design, Designs, Family, ParametricEquation, Payloads
from ._ends import End, hold, read_end
from ._limits import pair_of
from ._local import EquationOfMotion
from ._points import AtPoints, Gathered
from ._program import Term
from ._result import OptimalMotion
from ._solve import Solution
from ._verify import verify

if TYPE_CHECKING:
    from ..arm import Arm

Array = NDArray[np.float64]

COSTS = ("effort", "energy", "torque rate", "time", "vibration", "payload", "design")
_FILLED = 0.8  # part of the torque limits that the first motion of free duration takes
_CORRECTIONS = 3  # of the deflection of the first motion
_OFF = 0.02  # part of its way by which the tip may miss the end in the simulation
_SPREAD = 20.0  # factor between the first duration and the least and largest one


@dataclass(frozen=True, eq=False)
class Task:
    """Checked arguments of `trajectory`.

    Attributes
    ----------
    arm : Arm
        At the first parameters.
    family : Family or None
        Arms of other parameters.
    first, bounds : (k,), (2, k) ndarray of float
        Parameters where to start, least and largest ones.
    start, end : End
        States of rest.
    duration : float or (3,) tuple of float
        As of `Collocation`.
    weights : dict of float
        Of the costs.
    losses : (nu,) ndarray of float or None
        Of the motors.
    torque, torque_rate, velocity : (2, nu) ndarray of float
        Limits.
    outputs : dict of (2, p) ndarray of float
        Limits of linear outputs.
    design_cost : callable or None
        Of the parameters.
    """

    arm: Arm
    family: Family | None
    first: Array
    bounds: Array
    start: End
    end: End
    duration: float | tuple[float, float, float]
    weights: Mapping[str, float]
    losses: Array | None
    torque: Array
    torque_rate: Array
    velocity: Array
    outputs: Mapping[Any, Array]
    design_cost: Callable[[Array], Any] | None

    @property
    def scale(self) -> Array:
        """Sizes of the parameters."""
        return sizes(self.first, self.bounds)


def sizes(first: Array, bounds: Array) -> Array:
    """Sizes of parameters by where they start and may be."""
    spread = bounds[1] - bounds[0]
    size = np.where(first == 0.0, 1.0, np.abs(first))
    return np.asarray(np.where(np.isfinite(spread), np.minimum(size, spread), size))


def read_task(
    given: Any,
    start: Any,
    end: Any,
    cost: Any,
    losses: Any,
    payload: Any,
    payload_limits: Any,
    duration: Any,
    limits: tuple[Any, Any, Any, Any],
) -> Task:
    """Check what was asked."""
    arm, family, first, bounds, design_cost = _family(given, payload, payload_limits)
    _check_tree(arm)
    refuse_linear(arm, "trajectories")
    weights = _weights(cost, payload)
    for name, known in (("payload", payload), ("design", design_cost)):
        if name in weights and known is None:
            raise ArgumentError(
                f"{name!r} is among the costs, expected "
                + (
                    "payload='maximize'"
                    if name == "payload"
                    else "a Design with a cost"
                )
            )
    begin = read_end(arm, "start", start)
    finish = read_end(arm, "end", end, begin.q)
    if "vibration" in weights and (family is not None or finish.tip is not None):
        raise ArgumentError(
            "'vibration' is among the costs, expected joint positions at the end and "
            "an arm without unknown parameters"
        )
    torque = pair_of("torque_limits", limits[0], arm.nu)
    if "energy" in weights:
        if losses is None:
            raise ArgumentError(
                "'energy' is among the costs without losses, expected the copper "
                "losses of the motors in W/(N m)^2, without which the work between two "
                "states of rest is given"
            )
        losses = _losses(arm, losses)
    return Task(
        arm,
        family,
        first,
        bounds,
        begin,
        finish,
        _duration(arm, duration, begin.q, finish.q, torque, weights),
        weights,
        losses,
        torque,
        pair_of("torque_rate_limits", limits[1], arm.nu),
        pair_of("velocity_limits", limits[2], arm.nu),
        _outputs(arm, limits[3], family),
        design_cost,
    )


def _family(
    given: Any, payload: Any, limits: Any
) -> tuple[Arm, Family | None, Array, Array, Callable[[Array], Any] | None]:
    """The arm at first, and the family of arms with the first parameters and bounds."""
    if payload not in (None, "maximize"):
        raise ArgumentError(f"payload is {payload!r}, expected 'maximize' or None")
    if isinstance(given, Design):
        if payload is not None:
            raise ArgumentError(
                "payload is 'maximize' beside a Design, expected the payload among the "
                "parameters of the Design and its cost"
            )
        bounds = np.stack([given.lower, given.upper])
        family = Designs(given.make_arm, sizes(given.first, bounds))
        return family.arm(given.first), family, given.first, bounds, given.cost
    check_arm(given)
    if payload is None:
        return given, None, np.zeros(0), np.zeros((2, 0)), None
    bounds = real_array("payload_limits", limits)
    if bounds.shape != (2,) or not 0.0 <= bounds[0] < bounds[1]:
        raise ArgumentError(
            f"payload_limits are {limits!r}, expected the least and the largest mass "
            "in kg, zero or more"
        )
    return given, Payloads(given), bounds[:1].copy(), bounds[:, None], None


def _weights(cost: Any, payload: Any) -> dict[str, float]:
    """Weights of the costs by their names."""
    if cost is None:
        cost = "effort" if payload is None else "payload"
    if isinstance(cost, str):
        cost = {cost: 1.0}
    if not isinstance(cost, Mapping) or not cost:
        raise ArgumentError(
            f"cost is {cost!r}, expected one of {', '.join(map(repr, COSTS))}, or a "
            "mapping of some of them to weights"
        )
    weights = {}
    for name, weight in cost.items():
        if name not in COSTS:
            raise ArgumentError(
                f"cost has {name!r}, expected some of {', '.join(map(repr, COSTS))}"
            )
        weights[name] = positive_number(f"cost[{name!r}]", weight)
    if payload is not None:
        weights.setdefault("payload", 1.0)
    return weights


def _losses(arm: Arm, losses: Any) -> Array:
    array: Array = real_array("losses", losses)
    if array.shape not in ((), (arm.nu,)):
        raise ArgumentError(
            f"losses has shape {array.shape}, expected a number or ({arm.nu},)"
        )
    check_numbers("losses", np.atleast_1d(array))
    if (array <= 0.0).any():
        raise ArgumentError(
            f"losses is {array.min():g} at least, expected numbers above zero: without "
            "losses no motion costs energy"
        )
    return np.array(np.broadcast_to(array, arm.nu))


def _outputs(arm: Arm, given: Any, family: Family | None) -> dict[Any, Array]:
    """Limits (2, p) of linear outputs."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ArgumentError(
            f"output_limits is {type(given).__name__}, expected a mapping of outputs "
            "to limits"
        )
    if given and isinstance(family, Designs):
        raise ArgumentError(
            "output_limits are given beside a Design, whose outputs change with the "
            "parameters; expected an arm"
        )
    found = {}
    for name, value in given.items():
        names, _ = _costs.output_rows(arm, name)
        found[name] = pair_of(f"output_limits[{name!r}]", value, len(names))
    return found


def _duration(
    arm: Arm,
    given: Any,
    start: Array,
    end: Array,
    torque: Array,
    weights: Mapping[str, float],
) -> float | tuple[float, float, float]:
    """Duration as of `Collocation`; of a free one what fills the torque limits."""
    if isinstance(given, tuple | list) and len(given) == 3:
        low, first, high = (positive_number("duration", x) for x in given)
        if not low <= first <= high or low == high:
            raise ArgumentError(
                f"duration is {tuple(given)}, expected least, first and largest in "
                "increasing order"
            )
        return low, first, high
    if given is not None:
        return positive_number("duration", given)
    if "time" not in weights or not np.isfinite(torque).all():
        raise ArgumentError(
            "duration is None, expected 'time' among the costs and torque_limits of "
            "all actuators, or a duration in s, or its least, first and largest value"
        )
    T = 1.0
    for _ in range(20):
        used = _used(arm, start, end, T, torque)
        if used > 1.0:
            T *= 1.5
        elif used < 0.5:
            T /= 1.5
    return T / _SPREAD, T, T * _SPREAD


def smooth(start: Array, end: Array, T: float, t: Any) -> tuple[Array, Array, Array]:
    """Positions, velocities, accelerations from rest to rest at times (n,).

    Of ninth degree: what bends follows the accelerations, and has smooth ones itself.
    """
    s = np.clip(np.asarray(t) / T, 0.0, 1.0)[:, None]
    way, both = end - start, s * (1.0 - s)
    place = s**5 * (126.0 + s * (-420.0 + s * (540.0 + s * (-315.0 + 70.0 * s))))
    return (
        start + place * way,
        630.0 * both**4 * way / T,
        2520.0 * both**3 * (1.0 - 2.0 * s) * way / T**2,
    )


def bent(arm: Arm, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """Positions (n, nv) with the deflection that balances a motion of the joints.

    And the forces (n, nu) of the actuators, without the motion of the deflection.
    """
    bends = np.ones(arm.nv, dtype=bool)
    bends[: arm.nu] = False
    q, v, a = q.copy(), np.where(bends, 0.0, v), np.where(bends, 0.0, a)
    rows = np.ones(arm.nv, dtype=bool)
    rows[arm.actuator_indices] = False
    for _ in range(_CORRECTIONS if bends.any() else 0):
        force = np.asarray(arm._model.quiet("inverse_dynamics")(q, v, a))[:, rows]
        both = arm._model.quiet("inverse_dynamics_derivatives")(q, v, a)
        K = np.asarray(both)[:, 0][:, rows][:, :, bends]
        q[:, bends] -= np.linalg.solve(K, force[..., None])[..., 0]
    force = np.asarray(arm._model.quiet("inverse_dynamics")(q, v, a))
    return q, force[:, arm.actuator_indices]


def first_motion(motion: Collocation, start: Array, end: Array, T: float) -> Array:
    """Unknowns of a smooth motion of the joints, with the deflection it makes."""
    arm = motion.arm

    def at(t: float) -> tuple[Array, Array]:
        return bent(arm, *smooth(start, end, T, [t]))

    return motion.guess(lambda t: at(t)[0][0], lambda t: at(t)[1][0])


def resize_modes(motion: Collocation, z: Array) -> None:
    """Sizes of what bends: its rates are those of its vibration, if steps show it."""
    arm = motion.arm
    bends = np.arange(arm.nu, arm.nv)
    q, still = z[motion.q], np.zeros(arm.nv)
    M = np.asarray(arm._model.quiet("mass_matrix")(q[0]))
    both = arm._model.quiet("inverse_dynamics_derivatives")(q[0], still, still)
    K = np.asarray(both)[0]
    rate = np.sqrt(np.abs(np.diagonal(K) / np.diagonal(M)))[bends]
    rate = np.minimum(rate, 1.0 / motion.steps(z).min())
    size = motion.scale[motion.q[0, bends]]
    for index, power in ((motion.v, 1), (motion.a.reshape(-1, arm.nv), 2)):
        at = index[:, bends]
        motion.resize(at, np.maximum(motion.scale[at], size * rate**power))


def _used(arm: Arm, start: Array, end: Array, T: float, torque: Array) -> float:
    """Part of what the limits leave beside gravity that a first motion takes."""
    q, v, a = smooth(start, end, T, np.linspace(0.0, T, 41))
    at = arm.actuator_indices
    moving = np.asarray(arm._model.quiet("inverse_dynamics")(q, v, a))[:, at]
    still = np.asarray(arm._model.quiet("inverse_dynamics")(q, 0 * v, 0 * a))[:, at]
    room = np.where(moving > still, torque[1] - still, torque[0] - still)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.abs(moving - still) / np.maximum(np.abs(room), 1e-12)
    return float(np.nan_to_num(part, nan=0.0).max() / _FILLED)


class Transfer:
    """Unknowns, costs and constraints of a motion from rest to rest."""

    def __init__(self, task: Task, grid: Grid) -> None:
        self.task = task
        k = len(task.first)
        self.motion = motion = Collocation(
            task.arm, grid, duration=task.duration, parameters=k
        )
        first = task.duration[1] if isinstance(task.duration, tuple) else task.duration
        self.z0 = first_motion(motion, task.start.q, task.end.q, first)
        resize_modes(motion, self.z0)
        motion.bound(motion.p, *task.bounds)
        motion.resize(motion.p, task.scale)
        self.z0[motion.p] = task.first
        if task.family is None:
            self.equation = EquationOfMotion(task.arm)
        else:
            self.equation = ParametricEquation(task.family, task.first)
        law = AtPoints(motion, self.equation)
        law.size_by(self.z0)
        constraints: list[Term] = [law, motion.continuity(), *self._ends()]
        constraints += self._limits()
        self.costs = {name: self._cost(name) for name in task.weights}
        total = sum(
            abs(task.weights[name] * float(term.value(self.z0).sum()))
            for name, term in self.costs.items()
            if name != "vibration"  # that of the first motion is by chance
        )
        self.size = total or 1.0
        costs = [
            _costs.Weighted(term, task.weights[name] / self.size)
            for name, term in self.costs.items()
        ]
        self.program = motion.program(costs, constraints)

    def _ends(self) -> list[Term]:
        """What puts the arm to rest at both ends."""
        task, motion = self.task, self.motion
        terms = hold(motion, 0, task.start, self.equation, task.first)
        if "vibration" not in task.weights:
            return terms + hold(
                motion, len(motion.q) - 1, task.end, self.equation, task.first
            )
        still = slice(0, task.arm.motor_slice.stop)
        end = motion.q[-1, still]
        motion.bound(end, task.end.q[still], task.end.q[still])
        motion.bound(motion.v[-1, still], 0.0, 0.0)
        return terms

    def _limits(self) -> list[Term]:
        task, motion = self.task, self.motion
        motion.limit_forces(*task.torque)
        motion.bound(motion.v[:, : task.arm.nu], *task.velocity)
        terms: list[Term] = []
        if np.isfinite(task.torque_rate).any():
            terms += _costs.rate_limits(motion, task.torque_rate)
        for name, limits in task.outputs.items():
            terms.append(_costs.output_limits(motion, name, limits))
        return terms

    def _cost(self, name: str) -> Term:
        """The term of a cost."""
        task, motion = self.task, self.motion
        if name == "effort":
            return _costs.effort(motion)
        if name == "energy":
            return _costs.energy(motion, cast("Array", task.losses))
        if name == "torque rate":
            return _costs.force_rates(motion)
        if name == "vibration":
            return _costs.vibration(motion, task.end.q)
        if name == "payload":
            return _costs.unknown(motion, int(motion.p[0]), -1.0, "payload")
        if name == "design":
            assert task.design_cost is not None
            local = _costs.OfParameters(task.design_cost, task.scale)
            return Gathered(local, motion.p[None], weights=[1.0])
        if motion.free:
            return _costs.unknown(motion, motion.T, 1.0, "time")
        raise ArgumentError(
            "'time' is among the costs with a fixed duration, expected a free one"
        )

    def result(
        self, found: Solution, check: bool, began: float, prepared: float
    ) -> OptimalMotion:
        """The motion of a solution, verified."""
        task, motion = self.task, self.motion
        p = found.z[motion.p]
        arm = task.arm
        if task.family is not None:
            arm = motion.arm = task.family.arm(p)
        details: dict[str, Any] = {
            "costs": {
                name: float(term.value(found.z).sum())
                for name, term in self.costs.items()
            }
        }
        if task.family is not None:
            details["parameters"] = p.copy()
        if isinstance(task.family, Payloads):
            details["payload"] = float(p[0])
        timings = {"setup": prepared - began, "solver": found.seconds}
        result = answer(
            motion,
            found,
            method="collocation",
            timings=timings,
            details=details,
        )
        started = time.perf_counter()
        verification = None
        if check:
            tip = arm._model.quiet("node_pose")(arm.tip_node, result.q[-1])[:3, 3]
            step = float(np.diff(result.t).min())
            verification = verify(
                arm, result.t, result.q[0], result.qd[0], result.tau, step, goal=tip
            )
        timings["verification"] = time.perf_counter() - started
        timings["total"] = time.perf_counter() - began
        result = dataclasses.replace(
            result,
            objective=found.objective * self.size,
            timings=timings,
            verification=verification,
        )
        doubt(result)
        return result


def doubt(motion: OptimalMotion) -> None:
    """Warn of forces that lead elsewhere in the simulation."""
    if not motion.success or motion.verification is None:
        return
    tip = motion.tip
    way = float(np.linalg.norm(np.diff(tip, axis=0), axis=1).sum())
    off = motion.verification.final_error
    if not off <= _OFF * way:
        warnings.warn(
            f"in a finer simulation the forces lead {off:.3g} m away from the end: "
            f"{len(motion.t) - 1} intervals do not resolve this motion, or it is "
            "unstable; take more intervals or a shorter duration",
            ConvergenceWarning,
            stacklevel=4,
        )
