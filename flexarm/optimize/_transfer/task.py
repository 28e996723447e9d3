"""Arguments of `trajectory`, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.arguments import (
    check_numbers,
    positive_number,
    real_array,
    refuse_linear,
)
from ..._support.arrays import Array, Mask
from ..._support.options import place_of
from ...arm import Arm
from ...errors import ArgumentError
from ...simulation import Trajectory
from .._charts import chart_of, charted, coordinates
from .._collocation.ends import End, read_end
from .._collocation.transcription import refuse_loops
from .._floating import floating
from .._result import OptimalMotion
from ..limits import (
    Limits,
    LimitsLike,
    constant_torque,
    read_limits,
    refuse_positions,
    refuse_touching,
)
from .charted_family import ChartedFamily
from .design import Design, Designs, Family, Payloads
from .first_motion import torque_used

Costs: TypeAlias = str | Mapping[str, float] | None
Duration: TypeAlias = float | tuple[float, float, float]

_KEPT = (
    *("torque", "torque_rate", "position", "velocity", "acceleration"),
    *("outputs", "obstacles", "self_collision"),
)
COSTS = ("effort", "energy", "torque rate", "time", "vibration", "payload", "design")
# Part of the limits of torque that the first motion of free duration uses.
_TORQUE_SHARE = 0.8
# Part of the largest forces that an idle joint may hold at rest: rounding.
_IDLE_SHARE = 1e-6
# Factor between the first duration and the least and largest one that are searched.
_DURATION_RATIO = 20.0


@dataclass(frozen=True, eq=False)
class Task:
    """Checked arguments of `trajectory`.

    Attributes
    ----------
    arm : Arm
        At the first parameters, in coordinates whose rates are velocities.
    family : Family or None
        Arms of other parameters.
    first, bounds : (k,), (2, k) ndarray of float
        First values of the parameters, least and largest values.
    start, end : End
        States of rest.
    duration : float or (3,) tuple of float
        As of `Collocation`.
    weights : dict of float
        Of the costs.
    losses : (nu,) ndarray of float or None
        Of the motors.
    limits : Limits
        Checked ones.
    floating : (nv,) ndarray of bool
        Velocities of bases that move by their momentum.
    design_cost : callable or None
        Of the parameters.
    others : tuple of Task
        Those of the other arms of a stack, of which arms, ends and limits count.
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
    limits: Limits
    floating: Mask
    design_cost: Callable[[Array], object] | None
    others: tuple[Task, ...] = ()

    @property
    def first_duration(self) -> float:
        """Duration in s, of a free one the first."""
        given = self.duration
        return given[1] if isinstance(given, tuple) else given

    @property
    def designs(self) -> Family | None:
        """Arms of other parameters, if these change places of nodes."""
        return self.family if self.family is not None and self.family.moves else None

    @property
    def scale(self) -> Array:
        """Sizes of the parameters."""
        return sizes(self.first, self.bounds)


def sizes(first: Array, bounds: Array) -> Array:
    """Sizes of parameters from their first values and bounds."""
    spread = bounds[1] - bounds[0]
    size = np.where(first == 0.0, 1.0, np.abs(first))
    return np.asarray(np.where(np.isfinite(spread), np.minimum(size, spread), size))


def read_tasks(
    given: Arm | Design,
    start: object,
    end: object,
    cost: Costs,
    losses: ArrayLike | None,
    payload: str | None,
    payload_limits: ArrayLike,
    duration: Duration | None,
    limits: LimitsLike,
    initial: OptimalMotion | Trajectory | None = None,
) -> list[Task]:
    """Arguments of `trajectory`, checked, for each branch that reaches its goals.

    An `initial` motion chooses the branch.
    """
    arm, family, first, bounds, design_cost = _family(given, payload, payload_limits)
    refuse_loops(arm)
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
    kept = read_limits(limits, arm, _KEPT, "trajectory")
    torque = constant_torque(kept, "trajectory")
    # ends of the motion
    begin, finish = _ends(arm, start, end, np.asarray(kept.position), initial)
    refused = _refusal(arm, family, weights, losses, finish)
    if payload is not None and not np.isfinite([*torque.ravel(), bounds[1, 0]]).any():
        refused = refused or (
            "payload is 'maximize' without limits of torque or a largest one among the "
            "payload_limits, so that nothing bounds it; expected one of them"
        )
    if refused:
        raise ArgumentError(refused)
    lost = None
    if "energy" in weights and losses is not None:
        lost = _losses(arm, losses)
    bases = floating(arm, torque)
    if family is not None and arm.nq != arm.nv and bases.any():
        raise ArgumentError(
            "the base of the arm floats by a joint with a quaternion, expected one "
            "that is driven, or of joints of one freedom, in a Design and with "
            "payload='maximize'"
        )

    def between(begin: End, finish: End) -> Task:
        ends = np.array([begin.q, finish.q])
        refuse_positions(
            arm, kept, ends, "the motion", lambda i: f"at its {('start', 'end')[i]}"
        )
        for end, place in ((begin, "at its start"), (finish, "at its end")):
            # links of a Design may become shorter
            if end.aim is None and not isinstance(family, Designs):
                refuse_touching(arm, kept, end.q[None], "the motion", [place])
        # from here on in coordinates whose rates are the velocities
        own, arms = charted(arm, begin.q, finish.q), family
        if family is not None and own is not arm:
            arms = ChartedFamily(family, first, begin.q, finish.q)
            own = arms.arm(first)
        begin, finish = (replace(x, q=coordinates(own, x.q)) for x in (begin, finish))
        span = _duration(own, duration, begin.q, finish.q, torque, weights)
        _check_limits(own, (begin, finish), span, torque, kept.velocity)
        design, costs = (own, arms, first, bounds), (weights, lost, kept, bases)
        return Task(*design, begin, finish, span, *costs, design_cost)

    return [between(a, b) for a in begin.branches() for b in finish.branches()]


def _refusal(
    arm: Arm,
    family: Family | None,
    weights: Mapping[str, float],
    losses: object,
    end: End,
) -> str:
    """Words on what does not go together, or ""."""
    if "vibration" in weights and (family is not None or not end.is_posture):
        return (
            "'vibration' is among the costs, expected joint positions at the end and "
            "an arm without unknown parameters"
        )
    if "energy" in weights and losses is None:
        return (
            "'energy' is among the costs without losses, expected the copper losses of "
            "the motors in W/(N m)^2, without which the work between two states of "
            "rest is given"
        )
    return ""


def _ends(
    arm: Arm,
    start: object,
    end: object,
    limits: Array,
    initial: OptimalMotion | Trajectory | None,
) -> tuple[End, End]:
    """Both ends; an initial motion chooses the branches of goals of the tip."""
    known = np.zeros(0) if initial is None else initial.q
    if known.shape[1:] != (arm.nq,) or not np.isfinite(known).all():
        begin = read_end(arm, "start", start, None, limits)
        return begin, read_end(arm, "end", end, begin.q, limits)
    near = known[[0, -1]]
    at = near[0] if _has_tip(start) else None
    begin = replace(read_end(arm, "start", start, at, limits), others=())
    at = near[1] if _has_tip(end) else begin.q
    return begin, replace(read_end(arm, "end", end, at, limits), others=())


def _has_tip(end: object) -> bool:
    return isinstance(end, Mapping) and "tip" in end


def _family(
    given: Arm | Design, payload: str | None, limits: ArrayLike
) -> tuple[Arm, Family | None, Array, Array, Callable[[Array], object] | None]:
    """First arm, family of arms, first parameters, their bounds, cost of a design."""
    if isinstance(given, Design):
        if payload is not None:
            raise ArgumentError(
                "payload is 'maximize' beside a Design, expected the payload among the "
                "parameters of the Design and its cost"
            )
        bounds = np.stack([given.lower, given.upper])
        family = Designs(given.make_arm, sizes(given.first, bounds))
        return family.arm(given.first), family, given.first, bounds, given.cost
    if payload is None:
        return given, None, np.zeros(0), np.zeros((2, 0)), None
    bounds = real_array("payload_limits", limits)
    if bounds.shape != (2,) or not 0.0 <= bounds[0] < bounds[1]:
        raise ArgumentError(
            f"payload_limits are {limits!r}, expected the least and the largest mass "
            "in kg, zero or more"
        )
    return given, Payloads(given), bounds[:1].copy(), bounds[:, None], None


def _check_limits(
    arm: Arm, ends: tuple[End, End], duration: Duration, torque: Array, velocity: Array
) -> None:
    """Refuse limits that do not hold the arm at rest, or are too slow for its way."""
    still, at = np.zeros(arm.nv), arm.actuator_indices
    for name, end in zip(("start", "end"), ends, strict=True):
        whole = arm.kernels.quiet("inverse_dynamics")(end.q, still, still)
        _refuse_idle_loads(arm, name, end, whole)
        tau = whole[at]
        outside = (tau < torque[0]) | (tau > torque[1])
        if end.aim is None and outside.any():
            k = int(outside.argmax())
            raise ArgumentError(
                f"limits.torque of {arm._actuator_names[k]!r} are {torque[0, k]:.4g} "
                f"and {torque[1, k]:.4g}, but {tau[k]:.4g} hold the arm at its {name}; "
                "expected wider ones"
            )
    most = duration[2] if isinstance(duration, tuple) else duration
    way = (ends[1].q - ends[0].q)[: arm.nj]
    reach = np.where(way < 0.0, velocity[0], velocity[1]) * most
    slow = np.abs(way) > np.abs(reach)
    chart = chart_of(arm)
    if chart is not None:
        slow &= ~chart.turning[: arm.nj]
    if ends[0].aim is None and ends[1].aim is None and slow.any():
        k = int(slow.argmax())
        raise ArgumentError(
            f"limits.velocity lead {arm.coordinate_names[k]!r} at most "
            f"{abs(reach[k]):.4g} in {most:.4g} s, but its way is {abs(way[k]):.4g}; "
            "expected a longer duration or wider limits"
        )


def _refuse_idle_loads(arm: Arm, name: str, end: End, tau: Array) -> None:
    """Refuse a posture whose rest asks for a force where no actuator is."""
    held = tau[: arm.nj][~arm._actuated]
    if end.aim is not None or end.held is not None or not held.size:
        return
    weight = sum(body.mass for body in arm.bodies) * np.abs(arm.gravity).max()
    size = np.abs(tau).max() + weight
    k = int(np.abs(held).argmax())
    if abs(held[k]) > _IDLE_SHARE * size:
        joint = arm.coordinate_names[np.flatnonzero(~arm._actuated)[k]]
        raise ArgumentError(
            f"the arm does not rest at its {name}: {held[k]:.4g} hold {joint!r}, which "
            "has no actuator; expected a posture in which it is in equilibrium"
        )


def _weights(cost: Costs, payload: object) -> dict[str, float]:
    """Weights of the costs by their names."""
    if cost is None:
        cost = "effort" if payload is None else "payload"
    if isinstance(cost, str):
        cost = {cost: 1.0}
    if not cost:
        raise ArgumentError(
            f"cost is {cost!r}, expected one of {', '.join(map(repr, COSTS))}, or a "
            "mapping of some of them to weights"
        )
    weights = {}
    for name, weight in cost.items():
        place_of("cost", name, COSTS)
        weights[name] = positive_number(f"cost[{name!r}]", weight)
    if payload is not None:
        weights.setdefault("payload", 1.0)
    return weights


def _losses(arm: Arm, losses: ArrayLike) -> Array:
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


def _duration(
    arm: Arm,
    given: Duration | None,
    start: Array,
    end: Array,
    torque: Array,
    weights: Mapping[str, float],
) -> float | tuple[float, float, float]:
    """Duration as of `Collocation`; a free one starts at the limits of torque."""
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
            "duration is None, expected 'time' among the costs and limits of torque "
            "of all actuators, or a duration in s, or its least, first and largest "
            "value"
        )
    T = 1.0
    for _ in range(20):
        used = float(torque_used(arm, start, end, T, torque).max()) / _TORQUE_SHARE
        if used > 1.0:
            T *= 1.5
        elif used < 0.5:
            T /= 1.5
    return T / _DURATION_RATIO, T, T * _DURATION_RATIO
