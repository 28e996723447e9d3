"""Limits of a motion: of forces, velocities, accelerations, outputs and clearances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import positive_number, real_array
from .._calls.declared import Floats
from .._calls.doors import checked_class
from .._support.arrays import Array
from .._support.checks import short_text
from ..arm import Arm
from ..bodies import Joint
from ..errors import ArgumentError
from ..model.motors import free_mounts
from ._charts import Chart, real_arm, scalar_positions
from ._clearance import CHECK_LINES, SEARCH_LINES, Clearance, check_pairs
from ._records import record_of
from .obstacles import Obstacle, check_obstacles

Pair: TypeAlias = ArrayLike | None

# Rounding in rad or m by which given positions may be outside of their limits.
_ROUNDING = 1e-9
# (2, nj), those of actuators (2, nu), once checked; the first of them are those of the
# joints where none is given
_OF_JOINTS = {
    "position": "limits",
    "velocity": "velocity_limit",
    "acceleration": "acceleration_limit",
    "torque": "effort_limit",
}
_PAIRS = (*_OF_JOINTS, "torque_rate")
_OF_ACTUATORS = ("torque", "torque_rate")
_APART = ("obstacles", "self_collision")
_OF_SHAPES = ("clearance", "link_radius")  # without effect where nothing is to be apart


@checked_class
@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of a motion, infinite where there is none.

    Functions take a mapping of the same names as well, such as
    ``limits={"torque": [300.0, 120.0]}``, and say which of these limits they keep.
    Positions, velocities, accelerations and forces that are not given have the limits
    of the joints, see `flexarm.Joint`; what is given takes their place, and an infinite
    number switches them off.

    Parameters
    ----------
    torque : float, (nu,) or (2, nu) array_like of float, or callable
        Forces of the actuators in N m or N: the same limits in both directions, or the
        least and largest forces.  Along a path of a rigid arm also ``torque(q)``, which
        returns (2, nu) or (2, n, nu) at positions (n, nq).
    torque_rate : float, (nu,) or (2, nu) array_like of float
        Rates of these forces, per s.
    position, velocity, acceleration : float, (nj,) or (2, nj) array_like of float
        Of the joints, with an actuator or not, in rad or m, per s, and per s^2.
    tip_speed : float
        Of the tip in m/s.
    outputs : mapping
        Outputs of `linearize` that are linear in positions and velocities, such as
        ``{("strain", "link1", 0.1): 1e-3, "modes": 0.1}``; each limit a number, (p,) or
        (2, p).
    obstacles : sequence of HalfSpace, Sphere and Capsule
        What the links stay away from.  A link is a chain of capsules along its
        deflected line; parts of links that never move are left out.
    self_collision : bool or sequence of (str, str)
        Whether links stay away from each other, or the names of those that do; True is
        all pairs but neighbours and links whose lines meet in every posture.
    clearance : float
        Least distance of the surfaces in m, zero or more (0.02).
    link_radius : float or mapping, optional
        Radius of the links in m, or of some by their names; by default that of the
        outermost fibres of their sections.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.optimize.Limits(torque=[300.0, 120.0], velocity=2.0).velocity
    2.0
    >>> fa.optimize.Limits(tourque=3.0)
    Traceback (most recent call last):
        ...
    flexarm.errors.ArgumentError: Limits has no argument 'tourque'; did you mean \
'torque'? expected names out of torque, torque_rate, position, velocity, \
acceleration, tip_speed, outputs, obstacles, self_collision, clearance, link_radius
    """

    torque: Any = None
    torque_rate: Annotated[Any, Floats("()", "(nu,)", "(2, nu)")] = None
    position: Annotated[Any, Floats("()", "(nj,)", "(2, nj)")] = None
    velocity: Annotated[Any, Floats("()", "(nj,)", "(2, nj)")] = None
    acceleration: Annotated[Any, Floats("()", "(nj,)", "(2, nj)")] = None
    tip_speed: float = np.inf
    outputs: Mapping[object, Any] = field(default_factory=dict)
    obstacles: Sequence[Obstacle] = ()
    self_collision: bool | Sequence[tuple[str, str]] = False
    clearance: float = 0.02
    link_radius: float | Mapping[str, float] | None = None


LimitsLike: TypeAlias = Limits | Mapping[str, object] | None


def read_limits(given: object, arm: Arm, kept: tuple[str, ...], what: str) -> Limits:
    """Checked limits of an arm, refused if finite ones are given beside `kept`."""
    asked = record_of(Limits, "limits", given)
    limits = checked_limits(asked, arm)
    for name in (f.name for f in fields(limits)):
        value = getattr(limits, name)
        if name in _OF_SHAPES:
            continue
        if name in ("outputs", *_APART):
            is_given = bool(value)
        else:
            is_given = getattr(asked, name) is not None
            is_given &= callable(value) or bool(np.isfinite(value).any())
        if is_given and name not in kept:
            raise ArgumentError(
                f"limits.{name} is given for {what}, expected some of {', '.join(kept)}"
            )
    return limits


def checked_limits(limits: Limits, arm: Arm) -> Limits:
    """The same limits as arrays (2, nu) or (2, nj), those of outputs (2, p)."""
    checked: dict[str, Any] = {}
    for name in _PAIRS:
        value = getattr(limits, name)
        if value is None and name in _OF_JOINTS:
            checked[name] = limits_of_joints(arm, name)
        elif not (name == "torque" and callable(value)):
            n = arm.nu if name in _OF_ACTUATORS else arm.nj
            checked[name] = pair_of(f"limits.{name}", value, n)
            if name == "position":
                _refuse_turning_positions(arm, value, checked[name])
    if limits.tip_speed != np.inf:
        positive_number("limits.tip_speed", limits.tip_speed)
    checked["outputs"] = _output_pairs(arm, limits.outputs)
    checked["obstacles"] = check_obstacles(limits.obstacles)
    checked["self_collision"] = check_pairs(arm, limits.self_collision)
    if limits.clearance != 0.0:
        positive_number("limits.clearance", limits.clearance)
    limits = replace(limits, **checked)
    clearance_of(arm, limits)
    return limits


def clearance_of(arm: Arm, limits: Limits, *, fine: bool = False) -> Clearance | None:
    """Distances that checked limits bound, for a search or a `fine` check, if any."""
    if not (limits.obstacles or limits.self_collision):
        return None
    return Clearance(
        arm,
        limits.obstacles,
        limits.self_collision,
        float(limits.clearance),
        limits.link_radius,
        CHECK_LINES if fine else SEARCH_LINES,
    )


def without_obstacles(limits: Limits) -> Limits:
    """The same limits where nothing is to be apart."""
    return replace(limits, obstacles=(), self_collision=False)


def refuse_touching(
    arm: Arm, limits: Limits, q: Array, what: str, where: Sequence[str]
) -> None:
    """Refuse positions (n, nq) at which links are too near to something.

    `what` has them; ``where[i]`` is the place of a row, for the message.
    """
    clearance = clearance_of(arm, limits, fine=True)
    if clearance is not None:
        clearance.refuse(q, what, where)


def limits_of_joints(arm: Arm, name: str) -> Array:
    """Limits (2, nu) that the joints of an arm have, infinite ones by default.

    Forces of actuators are those at the joints over their gear ratios.
    """
    pair = pair_of("", None, arm.nj)
    ratios = {m.driven: m.drive.gear_ratio for m in free_mounts(arm)}
    for k, body in enumerate(arm.bodies):
        own = getattr(body.joint, _OF_JOINTS[name])
        if own is None:
            continue
        at = arm.body_joint_slice(k)
        if name == "position":
            pair[:, at] = own
        else:
            size = own / abs(ratios.get(k, 1.0)) if name == "torque" else own
            pair[:, at] = np.multiply.outer(
                [-1.0, 1.0], np.broadcast_to(size, (at.stop - at.start,))
            )
    # those of joints that follow; no actuator acts on them
    for k in arm._led:
        at = arm.body_joint_slice(k)
        if name == "position":
            pair[:, at.start] = arm._limits_with_followers(k, pair[:, at.start])
        for follower, ratio, _ in arm._led[k]:
            own = getattr(arm.bodies[follower].joint, _OF_JOINTS[name])
            if own is not None and name in ("velocity", "acceleration"):
                size = float(np.max(own)) / abs(ratio)
                pair[:, at.start] = np.clip(pair[:, at.start], -size, size)
    return pair[:, arm._actuated] if name == "torque" else pair


def torques_at(limits: Limits, q: Array, nu: int) -> Array:
    """Least and largest forces at positions (n, nv), as (2, n, nu)."""
    given = limits.torque
    if callable(given):
        given = pair_of("limits.torque(q)", given(q.copy()), nu, len(q))
    if given.ndim == 2:
        given = given[:, np.newaxis]
    return np.broadcast_to(given, (2, len(q), nu))


def refuse_positions(
    arm: Arm, limits: Limits, q: Array, what: str, where: Callable[[int], str]
) -> None:
    """Refuse positions (n, >= nu) of joints outside of their limits.

    `what` has left them; ``where(i)`` is the place of a row, for the message.
    """
    low, high = limits.position
    joints = scalar_positions(arm, q)[:, : arm.nj]
    over = np.maximum(joints - high, low - joints)
    if not (over > _ROUNDING).any():
        return
    i, k = np.unravel_index(int(np.argmax(over)), over.shape)
    raise ArgumentError(
        f"{what} leaves limits.position of {arm.coordinate_names[k]!r}, {low[k]:.4g} "
        f"and {high[k]:.4g}: it is {joints[i, k]:.4g} {where(int(i))}; expected "
        "another one within them, or wider limits"
    )


def refuse_at_rest(arm: Arm, limits: Mapping[object, Array], q: Array) -> None:
    """Refuse limits (2, p) that the arm at rest at one of both ends (2, nv) exceeds."""
    for given, (low, high) in limits.items():
        names, rows = output_rows(arm, given)
        for place, y in zip(("start", "end"), q @ rows[:, : arm.nv].T, strict=True):
            over = np.maximum(y - high, low - y)
            k = int(np.argmax(over))
            if over[k] > 1e-9 * abs(y[k]):
                raise ArgumentError(
                    f"limits.outputs of {names[k]!r} are {low[k]:.4g} and "
                    f"{high[k]:.4g}, but the arm at rest at the {place} has "
                    f"{y[k]:.4g}; expected wider ones"
                )


def constant_torque(limits: Limits, what: str) -> Array:
    """Least and largest forces (2, nu), refused if they depend on positions."""
    if callable(limits.torque):
        raise ArgumentError(
            "limits.torque changes along the motion, expected constant limits for "
            f"{what}: a number, (nu,) or (2, nu)"
        )
    return np.asarray(limits.torque)


def refuse_unbounded(limits: Limits) -> None:
    """Refuse limits without a fastest motion: one-sided, or none."""
    for name in ("velocity", "acceleration"):
        pair = getattr(limits, name)
        around = (pair[0] < 0.0) & (pair[1] > 0.0)
        if not around.all():
            k = int(np.argmin(around))
            raise ArgumentError(
                f"limits.{name} of joint {k} are {pair[0, k]:g} and {pair[1, k]:g}, "
                "expected one below and one above zero"
            )
    bounds = (limits.velocity, limits.acceleration, limits.tip_speed)
    bounded = callable(limits.torque) or np.isfinite(limits.torque).any()
    if not bounded and not any(np.isfinite(b).any() for b in bounds):
        raise ArgumentError(
            "there is no limit, so that no motion is the fastest; expected limits of "
            "torque, velocity, acceleration or tip_speed"
        )


def output_rows(arm: Arm, name: object) -> tuple[tuple[str, ...], Array]:
    """Names and rows (p, 2 nv) of outputs that are linear in positions and rates."""
    from ..control.sensors import sensors_of

    arm = real_arm(arm)
    if arm.nq != arm.nv:
        return _rows_beside_quaternions(arm, name)
    zero = np.zeros(arm.nv)
    found = sensors_of(arm, name, (0.0, np.asarray(arm.neutral), zero))
    if found.rows is None:
        raise ArgumentError(
            f"output {name!r} is not linear in positions and velocities, expected one "
            "that is, such as a strain, a mode or a joint"
        )
    return found.names, found.rows


def _rows_beside_quaternions(arm: Arm, name: object) -> tuple[tuple[str, ...], Array]:
    """Rows of outputs that do not depend on joints with quaternions, such as strains.

    They are those of the arm with these joints fixed.
    """
    turning = Chart(arm, arm.neutral).turning
    bodies = [
        body.replace(joint=Joint("fixed")) if body.joint.has_pose else body
        for body in arm.bodies
    ]
    names, rows = output_rows(arm.replace(bodies=bodies), name)
    every = np.zeros((len(names), 2 * arm.nv))
    every[:, np.tile(~turning, 2)] = rows
    return names, every


def _refuse_turning_positions(arm: Arm, given: object, pair: Array) -> None:
    """Refuse limits of positions of joints with quaternions, which have none."""
    if given is None or arm.nq == arm.nv:
        return
    turning = Chart(arm, arm.neutral).turning[: arm.nj]
    limited = turning & np.isfinite(pair).any(axis=0)
    if limited.any():
        name = arm.coordinate_names[int(np.argmax(limited))]
        raise ArgumentError(
            f"limits.position has a limit of {name!r}, a velocity of a joint with a "
            "quaternion, whose positions have none; expected infinite ones there"
        )


def _output_pairs(arm: Arm, given: Mapping[object, ArrayLike]) -> dict[object, Array]:
    """Limits (2, p) of linear outputs by their names."""
    if not isinstance(given, Mapping):
        raise ArgumentError(
            f"limits.outputs is {type(given).__name__}, expected a mapping of outputs "
            "to limits"
        )
    return {
        name: pair_of(
            f"limits.outputs[{short_text(name)}]", x, len(output_rows(arm, name)[0])
        )
        for name, x in given.items()
    }


def pair_of(name: str, value: object, n: int, points: int | None = None) -> Array:
    """Least and largest values (2, n), or (2, points, n), from what may be given."""
    if value is None:
        return np.stack([np.full(n, -np.inf), np.full(n, np.inf)])
    array: Array = real_array(name, value)
    if array.shape in ((), (n,)):
        array = np.stack([np.broadcast_to(-array, n), np.broadcast_to(array, n)])
    shapes = [(2, n)] if points is None else [(2, n), (2, points, n)]
    if array.shape not in shapes:
        raise ArgumentError(
            f"{name} has shape {array.shape}, expected a number, ({n},) for both "
            f"directions, or {' or '.join(map(str, shapes))}, least and largest"
        )
    if np.isnan(array).any() or not (array[0] <= array[1]).all():
        raise ArgumentError(
            f"{name} has a NaN or a least value above its largest one: "
            f"{' '.join(str(array).split())}, expected numbers in order, infinite ones "
            "where there is no limit"
        )
    return array
