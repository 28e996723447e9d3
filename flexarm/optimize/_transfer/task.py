"""Arguments of `trajectory`, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._calls.arguments import (
    check_arm,
    check_numbers,
    positive_number,
    real_array,
    refuse_linear,
)
from ..._support.options import place_of
from ...arm import Arm
from ...errors import ArgumentError
from ...parameters.tangent import SHORT, STEP
from .._charts import chart_of, charted, coordinates
from .._collocation.ends import End, read_end
from .._collocation.transcription import refuse_loops
from .._floating import floating
from ..limits import (
    Limits,
    constant_torque,
    read_limits,
    refuse_positions,
    refuse_touching,
)
from .design import Design, Designs, Family, Payloads
from .first_motion import torque_used

Array = NDArray[np.float64]

_KEPT = ("torque", "torque_rate", "position", "velocity", "acceleration")
COSTS = ("effort", "energy", "torque rate", "time", "vibration", "payload", "design")
_FILLED = 0.8  # part of the limits of torque in the first motion of free duration
_SPREAD = 20.0  # factor between the first duration and the least and largest one


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
    floating: NDArray[np.bool_]
    design_cost: Callable[[Array], Any] | None

    @property
    def first_duration(self) -> float:
        """Duration in s, of a free one the first."""
        given = self.duration
        return given[1] if isinstance(given, tuple) else given

    @property
    def scale(self) -> Array:
        """Sizes of the parameters."""
        return sizes(self.first, self.bounds)


def sizes(first: Array, bounds: Array) -> Array:
    """Sizes of parameters from their first values and bounds."""
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
    limits: Any,
) -> Task:
    """Arguments of `trajectory`, checked."""
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
    # ends of the motion
    begin = read_end(arm, "start", start)
    finish = read_end(arm, "end", end, begin.q)
    if isinstance(family, Designs):
        _check_places(family, first, (begin, finish))
    if "vibration" in weights and (family is not None or not finish.is_posture):
        raise ArgumentError(
            "'vibration' is among the costs, expected joint positions at the end and "
            "an arm without unknown parameters"
        )
    # limits
    if isinstance(family, Designs):
        what = "a Design, whose outputs and links change with its parameters"
        limits = read_limits(limits, arm, _KEPT, what)
    else:
        kept = (*_KEPT, "outputs", "obstacles", "self_collision")
        limits = read_limits(limits, arm, kept, "trajectory")
    torque = constant_torque(limits, "trajectory")
    if payload is not None and not np.isfinite([*torque.ravel(), bounds[1, 0]]).any():
        raise ArgumentError(
            "payload is 'maximize' without limits of torque or a largest one among the "
            "payload_limits, so that nothing bounds it; expected one of them"
        )
    if "energy" in weights:
        if losses is None:
            raise ArgumentError(
                "'energy' is among the costs without losses, expected the copper "
                "losses of the motors in W/(N m)^2, without which the work between two "
                "states of rest is given"
            )
        losses = _losses(arm, losses)
    ends = np.array([begin.q, finish.q])
    refuse_positions(
        arm, limits, ends, "the motion", lambda i: f"at its {('start', 'end')[i]}"
    )
    for end, place in ((begin, "at its start"), (finish, "at its end")):
        if end.tip is None:
            refuse_touching(arm, limits, end.q[None], "the motion", [place])
    # from here on in coordinates whose rates are the velocities
    bases = floating(arm, torque)
    if arm.nq != arm.nv and family is not None:
        raise ArgumentError(
            "the arm has joints with quaternions, expected none in a Design and with "
            "payload='maximize'"
        )
    arm = charted(arm, begin.q, finish.q)
    begin, finish = (replace(x, q=coordinates(arm, x.q)) for x in (begin, finish))
    span = _duration(arm, duration, begin.q, finish.q, torque, weights)
    _check_limits(arm, (begin, finish), span, torque, limits.velocity)
    return Task(
        arm,
        family,
        first,
        bounds,
        begin,
        finish,
        span,
        weights,
        losses,
        limits,
        bases,
        design_cost,
    )


def _family(
    given: Any, payload: Any, limits: Any
) -> tuple[Arm, Family | None, Array, Array, Callable[[Array], Any] | None]:
    """First arm, family of arms, first parameters, their bounds, cost of a design."""
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


def _check_places(family: Designs, first: Array, ends: tuple[End, End]) -> None:
    """Refuse places of the tip that depend on the parameters."""
    for end in ends:
        if end.tip is None:
            continue
        for k, step in enumerate(np.diag(SHORT * STEP * family.scale)):
            tips = [
                family.arm(p)._model.quiet("node_pose")(family.arm(p).tip_node, end.q)
                for p in (first, first + step)
            ]
            if np.abs(tips[1] - tips[0]).max() > 1e-12:
                raise ArgumentError(
                    f"the place of the tip changes with parameter {k} of the Design, "
                    "expected joint positions at both ends"
                )


def _check_limits(
    arm: Arm, ends: tuple[End, End], duration: Any, torque: Array, velocity: Array
) -> None:
    """Refuse limits that do not hold the arm at rest, or are too slow for its way."""
    still, at = np.zeros(arm.nv), arm.actuator_indices
    for name, end in zip(("start", "end"), ends, strict=True):
        tau = arm._model.quiet("inverse_dynamics")(end.q, still, still)[at]
        outside = (tau < torque[0]) | (tau > torque[1])
        if end.tip is None and outside.any():
            k = int(outside.argmax())
            raise ArgumentError(
                f"limits.torque of {arm.coordinate_names[k]!r} are {torque[0, k]:.4g} "
                f"and {torque[1, k]:.4g}, but {tau[k]:.4g} hold the arm at its {name}; "
                "expected wider ones"
            )
    most = duration[2] if isinstance(duration, tuple) else duration
    way = (ends[1].q - ends[0].q)[: arm.nu]
    reach = np.where(way < 0.0, velocity[0], velocity[1]) * most
    slow = np.abs(way) > np.abs(reach)
    chart = chart_of(arm)
    if chart is not None:
        slow &= ~chart.turning[: arm.nu]
    if ends[0].tip is None and ends[1].tip is None and slow.any():
        k = int(slow.argmax())
        raise ArgumentError(
            f"limits.velocity lead {arm.coordinate_names[k]!r} at most "
            f"{abs(reach[k]):.4g} in {most:.4g} s, but its way is {abs(way[k]):.4g}; "
            "expected a longer duration or wider limits"
        )


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
        place_of("cost", name, COSTS)
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


def _duration(
    arm: Arm,
    given: Any,
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
        used = float(torque_used(arm, start, end, T, torque).max()) / _FILLED
        if used > 1.0:
            T *= 1.5
        elif used < 0.5:
            T /= 1.5
    return T / _SPREAD, T, T * _SPREAD
