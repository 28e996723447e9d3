r"""Flexible joints: motors behind gears and elastic shafts, dry friction, stops.

A joint of one freedom may have a `Drive`: the motor sits on the body that carries the
joint, and a spring between gear and joint replaces their rigid connection.  The angle
of the motor becomes a coordinate,

.. math:: V_K = \tfrac12 K (q - q_m / N)^2, \qquad
   T_m = \tfrac12 (\omega + \dot q_m a) \cdot J_r (\omega + \dot q_m a)
   + \tfrac12 \omega \cdot J_s \omega + \tfrac12 (m_r + m_s) v \cdot v,

with the twist :math:`(\omega; v)` of the carrier at the joint and the axis a (M. W.
Spong, J. Dyn. Syst. Meas. Control 109, 1987, whose model leaves out the motion of the
carrier in :math:`T_m`; M. Farid, PhD thesis, University of Calgary, 1997, eqs.
4.52-4.60 and 5.44-5.49, whose :math:`\Gamma` is 1/N).
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, TypeVar, cast

import numpy as np

from .._calls.declared import Kept
from .._calls.doors import checked_record
from .._support.arrays import Array
from .._support.checks import (
    as_array,
    as_numbers,
    finite,
    inertia_matrix,
    short_text,
)
from .._support.description import Description
from ..errors import ArgumentError, ModelError

T = TypeVar("T")
# Smallest smoothing velocity in m/s or rad/s, whose square does not underflow.
MIN_SMOOTHING_VELOCITY = 1e-150


def zero_or_more(what: str, value: object) -> float:
    """Return a finite number of zero or more, of any size and unit, or raise."""
    number = finite(what, value)
    if number < 0.0:
        raise ModelError(f"{what} is {number:g}, expected zero or more")
    return number


def _positive(what: str, value: object) -> float:
    number = finite(what, value)
    if not number > 0.0:
        text = f"{number:g}" if number else "zero"
        raise ModelError(f"{what} is {text}, expected a positive number")
    return number


def _speed(what: str, value: object) -> float:
    speed = _positive(what, value)
    if speed < MIN_SMOOTHING_VELOCITY:
        raise ModelError(
            f"{what} is {speed:g}, expected at least {MIN_SMOOTHING_VELOCITY:g}"
        )
    return speed


def _bound(what: str, value: object) -> float:
    bound = as_numbers(what, value)
    if bound.ndim:
        raise ModelError(f"{what} is {short_text(value)}, expected a number")
    return float(bound)


def _elastic_or_rigid(what: str, value: object) -> float:
    stiffness = as_numbers(what, value)
    if stiffness.ndim or not stiffness > 0.0:
        raise ModelError(
            f"{what} is {short_text(value)}, expected a positive number, infinite for "
            "a rigid gear"
        )
    return float(stiffness)


def _inertia(what: str, value: object) -> float | Array:
    """Moment about the axis or matrix (3, 3) of the housing of a motor."""
    inertia = as_numbers(what, value)
    if inertia.ndim:
        inertia = inertia_matrix(what, value)
        lowest = float(np.linalg.eigvalsh(inertia)[0])
        if np.abs(inertia - inertia.T).max() > 1e-9 * np.abs(inertia).max():
            raise ModelError(
                f"{what} is not symmetric, expected that entries (i, j) and (j, i) are "
                "equal"
            )
    else:
        inertia = as_array(what, inertia, ())
        lowest = float(inertia)
    if lowest < -1e-9 * float(np.abs(inertia).max()):
        raise ModelError(f"{what} has the negative moment {lowest:g}, expected none")
    return inertia if inertia.ndim else float(inertia)


def part(what: str, value: object, kind: type[T]) -> T:
    """Return a drive, friction or stops of a joint, or raise."""
    if isinstance(value, kind):
        return value
    needed = [f.name for f in fields(cast(Any, kind)) if f.default is MISSING]
    word, name = what.split()[0], kind.__name__
    given = f"{word}=flexarm.{name}({', '.join(needed)})"
    if isinstance(getattr(value, word, None), kind):  # as a motor has a drive
        given = f"give its {word}: {word}=....{word}"
    raise ModelError(f"{what} is {short_text(value)}, expected {name} or None; {given}")


NotNegative = Annotated[float, Kept(zero_or_more)]


@checked_record("{field} of the friction")
@dataclass(frozen=True, eq=False)
class CoulombFriction(Description):
    r"""Dry friction, smooth around zero velocity.

    .. math:: f = f_c\, \dot q / \sqrt{\dot q^2 + v_s^2}

    Parameters
    ----------
    force : float
        Friction f_c of fast motion, in N m (turning) or N (sliding).
    smoothing_velocity : float
        Velocity v_s at which 71 % of that force acts, in rad/s or m/s.

    Notes
    -----
    There is no true sticking: under a force f < f_c the joint creeps with
    :math:`v_s f / \sqrt{f_c^2 - f^2}`, about a tenth of v_s at a tenth of f_c.  A small
    v_s makes the equations stiff, with a damping of f_c / v_s.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.CoulombFriction(2.0, 1e-3).creep(1.0)
    0.0005773502691896258
    """

    force: NotNegative
    smoothing_velocity: Annotated[float, Kept(_speed)]

    def creep(self, force: float) -> float:
        """Velocity at which friction balances a smaller force, in rad/s or m/s.

        Parameters
        ----------
        force : float
            In N m or N, less than that of the friction.

        Returns
        -------
        velocity : float
            In rad/s or m/s.

        Raises
        ------
        ArgumentError
            If the force overcomes the friction.
        """
        if not abs(force) < self.force:
            raise ArgumentError(
                f"force is {force:g}, which overcomes the friction, expected less "
                f"than {self.force:g}"
            )
        rest = np.sqrt((self.force - force) * (self.force + force))
        return float(self.smoothing_velocity * force / rest)


@checked_record("{field} of the stops")
@dataclass(frozen=True, eq=False)
class Stops(Description):
    r"""Elastic stops at the ends of the range of a joint.

    .. math:: f = k\, d\, \max(1 + c\, \dot d, 0)

    against a motion beyond a bound by d; a stop pushes and never pulls.

    Parameters
    ----------
    lower, upper : float
        Bounds of the joint coordinate, in rad or m, may be infinite.
    stiffness : float
        Stiffness k in N m/rad or N/m.
    damping : float
        Damping c in s/rad or s/m; stops with zero damping return all energy.

    Notes
    -----
    The force of K. H. Hunt and F. R. E. Crossley (J. Appl. Mech. 42, 1975, 440-445)
    with exponent one: it starts at zero, unlike that of a parallel spring and damper.
    The rebound speed of a slow impact at speed v is about v (1 - 2/3 c v).
    Limits of a joint (`Joint.limits`) restrict positions that functions choose, stops
    restrict the motion.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.Joint.revolute(stops=fa.Stops(-1.0, 1.0, stiffness=1e4)).stops.upper
    1.0
    """

    lower: Annotated[float, Kept(_bound)] = -np.inf
    upper: Annotated[float, Kept(_bound)] = np.inf
    stiffness: Annotated[float, Kept(_positive)] = 0.0
    damping: NotNegative = 0.0

    def __post_init__(self) -> None:
        lower, upper = self.lower, self.upper
        if not lower < upper:
            raise ModelError(
                f"lower and upper of the stops are {lower} and {upper}, expected two "
                "numbers, the first below the second"
            )
        if np.isinf(lower) and np.isinf(upper):
            raise ModelError(
                "the stops have no bound, expected lower, upper or both; leave the "
                "stops out"
            )
        if lower == np.inf or upper == -np.inf:
            raise ModelError(
                f"lower and upper of the stops are {lower:g} and {upper:g}, expected "
                "bounds that leave room in between"
            )


@checked_record("{field} of the drive")
@dataclass(frozen=True, eq=False)
class Drive(Description):
    """Motor, gear and flexible shaft of a joint of one freedom.

    Parameters
    ----------
    stiffness : float
        Stiffness K of shaft and gear, seen at the joint, in N m/rad or N/m.
        Infinite for a rigid gear, ``q_motor = N q_joint``.  The motor of a rigid body
        on a joint that turns then has no coordinate, and the force of the actuator is
        that at the joint, N times the one of the motor; the inertia and the gyroscopic
        moment of the rotor are exact.  Of other joints, and of arms with
        ``couplings="constrained"``, it is a `Coupling` with the name ``"body.gear"``,
        which forward dynamics and Runge-Kutta obey.
    gear_ratio : float
        Turns N of the motor for one turn of the joint; negative if it reverses.
    rotor_inertia : float
        Inertia of the rotor and all that turns with it about its axis, in kg m^2.  On a
        sliding joint the moving mass, in kg, unless the motor is `rotary`.
    rotor_transverse_inertia : float
        Inertia across the axis, in kg m^2.
    rotor_mass, stator_mass : float
        Masses in kg, both at the joint, on the body that carries it.
    stator_inertia : float, (3,), (6,) or (3, 3) array_like of float
        Inertia of the housing about the joint, in the axes of the joint frame, in
        kg m^2; a number is that about the axis.
    damping : float
        Viscous damping of the shaft, on the rate of its deflection, in N m s/rad.
    motor_damping : float
        Viscous friction on the speed of the motor relative to its housing.
    motor_friction : CoulombFriction, optional
        Dry friction of the motor.
    locked : float, optional
        Angle at which a brake holds the motor.  The motor is then not a coordinate: the
        joint has a spring to ``locked / N``, and the rotor moves with the carrier.
    rotary : bool
        On a sliding joint, a motor that turns about its axis, as with a ball screw;
        `gear_ratio` is then in rad per m.  Motors of turning joints always turn.

    See Also
    --------
    lock_motors, free_motors, motor_positions

    Notes
    -----
    The coordinate of the motor is relative to the carrier.  The actuator of the joint
    acts on the motor, with reaction on the carrier: forces with one entry for each
    joint (``arm.nu``) act on the motors of driven joints.

    The common reflected inertia N^2 J_r on the joint (`Joint.armature`) is the limit of
    a rigid gear of large ratio; here the rotor also turns with its carrier.

    Examples
    --------
    >>> import flexarm as fa
    >>> drive = fa.Drive(1e4, gear_ratio=100, rotor_inertia=1e-4)
    >>> rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=1.0, com=(0.5, 0, 0))
    >>> fa.Arm([rod]).coordinate_names
    ('rod', 'rod.motor')
    """

    stiffness: Annotated[float, Kept(_elastic_or_rigid)]
    gear_ratio: Annotated[float, Kept(finite)] = 1.0
    rotor_inertia: NotNegative = 0.0
    rotor_transverse_inertia: NotNegative = 0.0
    rotor_mass: NotNegative = 0.0
    stator_mass: NotNegative = 0.0
    stator_inertia: Annotated[Any, Kept(_inertia)] = 0.0
    damping: NotNegative = 0.0
    motor_damping: NotNegative = 0.0
    motor_friction: Annotated[CoulombFriction, Kept(part, CoulombFriction)] | None = (
        None
    )
    locked: Annotated[Any, Kept(finite)] = None
    rotary: bool = False

    def __post_init__(self) -> None:
        if self.gear_ratio == 0.0:
            raise ModelError(
                "gear_ratio of the drive is zero, expected turns of the motor for one "
                "turn of the joint"
            )
        self._check_motor()

    def _check_motor(self) -> None:
        rigid = bool(np.isinf(self.stiffness))
        if self.locked is not None:
            if rigid:
                raise ModelError(
                    "the drive is rigid and locked, so that its joint cannot move; "
                    "expected a finite stiffness, or a joint of the kind 'fixed'"
                )
        elif self.rotor_inertia == 0.0:
            raise ModelError(
                "rotor_inertia of the drive is zero, so the motor has no equation of "
                "motion and the mass matrix is singular; expected the inertia of the "
                "rotor, or locked= for a motor at rest"
                + (", or leave out a rigid drive without a rotor" if rigid else "")
            )
        if rigid and self.damping > 0.0:
            raise ModelError(
                f"damping of the rigid drive is {self.damping:g}, but a rigid gear has "
                "no deflection to damp; expected zero, or damping= of the joint"
            )

    @property
    def is_free(self) -> bool:
        """Whether the motor has a coordinate: it is not locked."""
        return self.locked is None

    @property
    def is_rigid(self) -> bool:
        """Whether the gear is rigid."""
        return bool(np.isinf(self.stiffness))
