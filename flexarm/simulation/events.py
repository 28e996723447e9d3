"""Events of a motion: when a function of time and state passes zero.

An `Event` is a function of time, positions and velocities.  `simulate` computes its
sign at the samples and, on cubics between them, at seven times in each interval.  If it
changes, the method of the run integrates again from the previous sample, until the time
of the zero is known to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_numbers, real_array
from .._calls.arm_like import ArmLike, Array
from .._calls.declared import Called, Kept, Number, Vector
from .._calls.doors import checked, checked_record
from .._calls.nodes import one_node
from .._support.options import check_choice
from .._support.recorded import recorded
from ..errors import ArgumentError

__all__ = ["Event", "at_rest", "joint_reaches", "node_reaches"]


def _direction(what: str, value: object) -> int:
    if isinstance(value, Real) and value in (0, 1, -1):
        return int(float(value))
    raise ArgumentError(f"{what} is {value!r}, expected 0, 1 (rising) or -1 (falling)")


@checked_record("{field} of an event")
@dataclass(frozen=True)
class Event:
    """A function of time and state whose zeros `simulate` finds.

    Parameters
    ----------
    function : callable
        ``function(t, q, qd)`` with times ``(...)``, positions ``(..., nq)`` and
        velocities ``(..., nv)``, any leading axes, returns ``(...)`` real numbers.
    direction : {0, 1, -1}
        Zeros that count: all, those of a rising, or those of a falling function.
    terminal : bool
        Whether it ends its trajectory: samples after it are NaN, and the run is still a
        success.
    name : str
        Name in `Trajectory.events`.

    See Also
    --------
    joint_reaches, node_reaches, at_rest : events of an arm.

    Examples
    --------
    A pendulum that falls from the horizontal until it hangs:

    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=1.0, com=1.0)
    >>> def angle(t, q, qd):
    ...     return q[..., 0] + 1.5707963
    >>> low = fa.events.Event(angle, terminal=True, name="low")
    >>> t = [0.0, 0.3, 0.6, 0.9]
    >>> run = fa.simulate(arm, [0.0], [0.0], t, events=[low], max_step=1e-3)
    >>> print(f"{run.events[0].t:.5f} s, {run.events[0].qd[0]:.4f} rad/s")
    0.59196 s, -4.4294 rad/s
    >>> run.message
    "ended by event 'low' at t = 0.59196 s"
    """

    function: Annotated[
        Callable[..., ArrayLike],
        Called("a function of time, positions and velocities"),
    ]
    direction: Annotated[int, Kept(_direction)] = 0
    terminal: bool = False
    name: str = "event"

    def __call__(self, t: ArrayLike, q: Array, qd: Array) -> Array:
        """Return checked values at times and states."""
        with np.errstate(all="ignore"):  # samples that were not reached are NaN
            given = self.function(t, q, qd)
        value = real_array(f"result of event {self.name!r}", given)
        if np.asarray(given).dtype == bool:
            raise ArgumentError(
                f"event {self.name!r} returned booleans, expected numbers that pass "
                "zero, such as q[..., 0] - 0.5 in place of q[..., 0] > 0.5"
            )
        shape = q.shape[:-1]
        try:
            return np.broadcast_to(value, shape)
        except ValueError:
            raise ArgumentError(
                f"event {self.name!r} returned shape {value.shape}, expected {shape}: "
                "one number per state"
            ) from None


class Occurrence(NamedTuple):
    """One zero of an event.

    Attributes
    ----------
    name : str
        Name of the event.
    trajectory : tuple of int
        Index into the leading axes of the run, () for one trajectory.
    t : float
        Time in s.
    q, qd : (nq,), (nv,) ndarray of float
        State.
    """

    name: str
    trajectory: tuple[int, ...]
    t: float
    q: Array
    qd: Array


@checked
@recorded("events.joint_reaches", maker=True)
def joint_reaches(
    arm: ArmLike,
    joint: int | str,
    value: Annotated[float, Number(words="a finite number")],
    *,
    direction: int = 0,
    terminal: bool = False,
) -> Event:
    """Event: a joint position or a modal coordinate passes a value, such as a stop.

    Parameters
    ----------
    arm : Arm
        The arm.
    joint : int or str
        Index in `q`, or a name of `Arm.position_names`.
    value : float
        Position in rad or m.
    direction, terminal
        As those of `Event`.

    Returns
    -------
    Event
        Named ``"joint reaches value"``.

    Raises
    ------
    ArgumentError
        If the value is not a number.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.events.joint_reaches(fa.library.pendulum(), 0, -1.2).name
    'rod reaches -1.2'
    """
    names = list(arm.position_names)
    if isinstance(joint, str):
        check_choice("joint", joint, names)
        at = names.index(joint)
    elif isinstance(joint, Integral) and -len(names) <= joint < len(names):
        at = int(joint) % len(names)
    else:
        raise ArgumentError(
            f"joint is {joint!r}, expected a number below {len(names)}, its place in "
            "q, or a name of arm.position_names"
        )
    level = float(value)

    def distance(t: ArrayLike, q: Array, qd: Array) -> Array:
        return q[..., at] - level

    return Event(distance, direction, terminal, f"{names[at]} reaches {level:g}")


@checked
@recorded("events.node_reaches", maker=True)
def node_reaches(
    arm: ArmLike,
    target: Vector,
    distance: Annotated[float, Number(above=0.0, words="a positive length")],
    *,
    node: object = None,
    direction: int = -1,
    terminal: bool = False,
) -> Event:
    """Event: a node reaches a given distance from a point.

    Parameters
    ----------
    arm : Arm
        The arm.
    target : (3,) array_like of float
        Point in the base frame, in m.
    distance : float
        Distance in m.
    node : optional
        Node as `Arm.node` finds it; by default the tip.
    direction, terminal
        As those of `Event`; by default only arrivals count.

    Returns
    -------
    Event
        Named ``"node reaches target"``.

    Raises
    ------
    ArgumentError
        If the distance is not positive.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(com=1.0)
    >>> fa.events.node_reaches(arm, [0.0, 0.0, -1.0], 0.01).direction
    -1
    """
    point, radius = np.array(real_array("target", target)), float(distance)
    check_numbers("target", point)
    number = arm.tip_node if node is None else one_node(arm, node)
    pose = arm.kernels.quiet("node_pose")

    def clearance(t: ArrayLike, q: Array, qd: Array) -> Array:
        away = np.linalg.norm(pose(number, q)[..., :3, 3] - point, axis=-1)
        return np.asarray(away - radius)

    where = ", ".join(f"{x:g}" for x in point)
    return Event(clearance, direction, terminal, f"node {number} reaches ({where})")


@checked
@recorded("events.at_rest", maker=True)
def at_rest(
    arm: ArmLike,
    speed: Annotated[float, Number(above=0.0, words="a positive speed in m/s")],
    *,
    terminal: bool = False,
) -> Event:
    """Event: the whole arm becomes slower than a speed.

    Parameters
    ----------
    arm : Arm
        The arm.
    speed : float
        Root mean square speed of the mass in m/s: sqrt(2 T / m) with the kinetic energy
        T, vibration and rotors included.
    terminal : bool
        As that of `Event`.

    Returns
    -------
    Event
        Named ``"at rest"``.  It also occurs if all coordinates reverse at one time.

    Raises
    ------
    ArgumentError
        If the speed is not positive, or the arm has inertia but no mass.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.events.at_rest(fa.library.pendulum(), 1e-3, terminal=True).terminal
    True
    """
    slow = float(speed)
    mass = arm.mass
    if not mass > 0.0:
        raise ArgumentError(
            "the arm has inertia but no mass, so that it has no mean speed; expected "
            "fa.events.Event of its velocities"
        )
    kinetic = arm.kernels.quiet("kinetic_energy")

    def excess(t: ArrayLike, q: Array, qd: Array) -> Array:
        return np.asarray(np.sqrt(2.0 * kinetic(q, qd) / mass) - slow)

    return Event(excess, -1, terminal, "at rest")


def check_events(events: object) -> tuple[Event, ...]:
    """Return the events of a call of `simulate` as a tuple."""
    given = (events,) if isinstance(events, Event) else events
    if not isinstance(given, Iterable):
        raise ArgumentError(f"events is {events!r}, expected a list of fa.events.Event")
    wanted = tuple(given)
    for event in wanted:
        if not isinstance(event, Event):
            raise ArgumentError(
                f"events has {event!r}, expected fa.events.Event; "
                "fa.events.Event(function) makes one"
            )
    return wanted
