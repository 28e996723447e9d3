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

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Floats
from .._calls.doors import checked_class
from .._support.checks import (
    as_array,
    as_numbers,
    finite,
    inertia_matrix,
    short_text,
)
from .._support.description import Description
from ..errors import ArgumentError, ModelError

# Smallest smoothing velocity in m/s or rad/s, whose square does not underflow.
MIN_SMOOTHING_VELOCITY = 1e-150


def finite_number(what: str, value: Any, *, minimum: float | None = 0.0) -> float:
    """Return a finite number of at least `minimum`, or raise."""
    number = finite(what, value)
    if minimum is not None and number < minimum:
        raise ModelError(f"{what} is {number:g}, expected zero or more")
    return number


def _positive(what: str, value: Any) -> float:
    number = finite_number(what, value, minimum=None)
    if not number > 0.0:
        text = f"{number:g}" if number else "zero"
        raise ModelError(f"{what} is {text}, expected a positive number")
    return number


@checked_class
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

    force: float
    smoothing_velocity: float

    def __post_init__(self) -> None:
        force = finite_number("force of the friction", self.force)
        speed = _positive("smoothing_velocity of the friction", self.smoothing_velocity)
        if speed < MIN_SMOOTHING_VELOCITY:
            raise ModelError(
                f"smoothing_velocity of the friction is {speed:g}, expected at least "
                f"{MIN_SMOOTHING_VELOCITY:g}"
            )
        self._set(force=force, smoothing_velocity=speed)

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


@checked_class
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

    lower: float = -np.inf
    upper: float = np.inf
    stiffness: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        lower, upper = (
            as_numbers(f"{name} of the stops", value)
            for name, value in (("lower", self.lower), ("upper", self.upper))
        )
        if lower.ndim or upper.ndim or not lower < upper:
            raise ModelError(
                f"the stops are at {short_text(self.lower)} and "
                f"{short_text(self.upper)}, expected two numbers, the first below the "
                "second"
            )
        if np.isinf(lower) and np.isinf(upper):
            raise ModelError(
                "the stops have no bound, expected lower, upper or both; leave the "
                "stops out"
            )
        if lower == np.inf or upper == -np.inf:
            raise ModelError(
                f"the stops are at {lower:g} and {upper:g}, expected bounds that leave "
                "room in between"
            )
        self._set(
            lower=float(lower),
            upper=float(upper),
            stiffness=_positive("stiffness of the stops", self.stiffness),
            damping=finite_number("damping of the stops", self.damping),
        )


@checked_class
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

    stiffness: float
    gear_ratio: float = 1.0
    rotor_inertia: float = 0.0
    rotor_transverse_inertia: float = 0.0
    rotor_mass: float = 0.0
    stator_mass: float = 0.0
    stator_inertia: Annotated[ArrayLike, Floats("()", "(3,)", "(6,)", "(3, 3)")] = 0.0
    damping: float = 0.0
    motor_damping: float = 0.0
    motor_friction: CoulombFriction | None = None
    locked: Any = None
    rotary: bool = False

    def __post_init__(self) -> None:
        # numbers of gear, rotor and damping
        stiffness = as_numbers("stiffness of the drive", self.stiffness)
        if stiffness.ndim or not stiffness > 0.0:
            raise ModelError(
                f"stiffness of the drive is {short_text(self.stiffness)}, expected a "
                "positive number, infinite for a rigid gear"
            )
        names = (
            "rotor_inertia",
            "rotor_transverse_inertia",
            "rotor_mass",
            "stator_mass",
            "damping",
            "motor_damping",
        )
        self._set(
            stiffness=float(stiffness),
            gear_ratio=finite_number(
                "gear_ratio of the drive", self.gear_ratio, minimum=None
            ),
            **{n: finite_number(f"{n} of the drive", getattr(self, n)) for n in names},
        )
        # combinations
        if self.gear_ratio == 0.0:
            raise ModelError(
                "gear_ratio of the drive is zero, expected turns of the motor for one "
                "turn of the joint"
            )
        if self.motor_friction is not None and not isinstance(
            self.motor_friction, CoulombFriction
        ):
            raise ModelError(
                f"motor_friction of the drive is {short_text(self.motor_friction)}, "
                "expected CoulombFriction"
            )
        self._check_stator()
        self._check_motor()

    def _check_stator(self) -> None:
        inertia = as_numbers("stator_inertia of the drive", self.stator_inertia)
        if inertia.ndim:
            inertia = inertia_matrix("stator_inertia of the drive", self.stator_inertia)
            lowest = float(np.linalg.eigvalsh(inertia)[0])
            if np.abs(inertia - inertia.T).max() > 1e-9 * np.abs(inertia).max():
                raise ModelError(
                    "stator_inertia of the drive is not symmetric, expected that "
                    "entries (i, j) and (j, i) are equal"
                )
        else:
            inertia = as_array("stator_inertia of the drive", inertia, ())
            lowest = float(inertia)
        if lowest < -1e-9 * float(np.abs(inertia).max()):
            raise ModelError(
                f"stator_inertia of the drive has the negative moment {lowest:g}, "
                "expected none"
            )
        self._set(stator_inertia=inertia if inertia.ndim else float(inertia))

    def _check_motor(self) -> None:
        rigid = bool(np.isinf(self.stiffness))
        if self.locked is not None:
            locked = finite_number("locked of the drive", self.locked, minimum=None)
            self._set(locked=locked)
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
