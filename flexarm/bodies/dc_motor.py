"""Motors that are fed by volts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_numbers, common_batch, real_array
from .._calls.declared import Floats, Kept
from .._calls.doors import checked, checked_record
from .._support.arrays import Array
from .._support.checks import finite, positive
from .._support.description import Description
from ..errors import ArgumentError, ModelError
from .drives import CoulombFriction, Drive, NotNegative, part


def _efficiency(what: str, value: object) -> float:
    share = positive(what, value, "")
    if share > 1.0:
        raise ModelError(f"{what} is {share:g}, expected at most one")
    return share


@checked_record("{field} of the motor")
@dataclass(frozen=True, eq=False)
class DCMotor(Description):
    r"""Direct-current motor with a gear, fed by volts.

    .. math:: i = (u - k_e \dot q_m) / R, \qquad \tau_m = \eta k_t i

    The torque of the volts is that of an actuator, ``torque(u)``; that of the back-EMF
    is viscous, :math:`\eta k_t k_e / R` on the motor, N^2 times this at the joint, and
    part of `drive`.

    Parameters
    ----------
    resistance : float
        Resistance R of the armature, and of what feeds it, in ohm.
    torque_constant : float
        Torque k_t of the motor for each ampere, in N m/A.
    rotor_inertia : float
        Inertia of the rotor and all that turns with it, in kg m^2, see `Drive`.
    gear_ratio : float
        Turns N of the motor for one turn of the joint; negative if it reverses.
    back_emf_constant : float, optional
        Voltage k_e of the turning motor in V s/rad, that of `torque_constant` by
        default.
    current_limit : float, optional
        Largest current of the amplifier in A.
    efficiency : float
        Share eta of the torque of the current that reaches the gear.
    motor_damping : float
        Viscous friction of the motor in N m s/rad; that of the output is the damping
        of the joint.
    motor_friction : CoulombFriction, optional
        Dry friction of the motor; that of the output is the one of the joint.
    stiffness, damping : float
        Of the gear at the joint, in N m/rad and N m s/rad, see `Drive`; rigid by
        default.

    See Also
    --------
    flexarm.identification.identify : ``inputs=`` for records of volts, if constants of
        motors are unknown.

    Notes
    -----
    The inductance L is left out: the current follows the volts at once.  That is right
    where L/R, a millisecond or less in small motors, is short beside the periods of all
    modes that matter and beside the mechanical time constant
    :math:`R J / (\eta k_t k_e)`.

    From volts the linear model of an arm has the inputs ``linearize(arm, q).B @
    numpy.diag([motor.torque(1.0), ...])``, without limit: ``torque`` refuses volts
    alone where there is one, for which ``motor.replace(current_limit=None)`` is the
    motor without.

    Examples
    --------
    A stalled motor, and one that turns a joint freely:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> motor = fa.DCMotor(2.6, 0.00768, 4e-7, gear_ratio=70)
    >>> float(np.round(motor.torque(6.0), 4))  # N m at the joint
    1.2406
    >>> joint = fa.Joint(drive=motor.drive)
    >>> arm = fa.Arm([fa.RigidBody("hub", joint, inertia=np.eye(3) * 1e-3)])
    >>> t, volts = np.linspace(0.0, 1.0, 201), np.full((201, 1), 6.0)
    >>> run = fa.simulate(arm, [0.0], [0.0], t, torque=motor.torque(volts))
    >>> float(run.qd[-1, 0].round(3)), round(6.0 / (0.00768 * 70), 3)
    (11.161, 11.161)

    A current of 1 A at most is a law of volts and speed, that of the joint or, with an
    elastic gear, of the motor:

    >>> weak = motor.replace(current_limit=1.0)
    >>> def law(t, q, qd):
    ...     return weak.torque(6.0, rate=qd)
    >>> slow = fa.simulate(arm, [0.0], [0.0], t, torque=law)
    >>> inertia = 1e-3 + 70**2 * 4e-7
    >>> float(slow.qd[4, 0].round(3)), round(70 * 0.00768 * 0.02 / inertia, 3)
    (3.632, 3.632)
    """

    resistance: Annotated[float, Kept(positive, "ohm")]
    torque_constant: Annotated[float, Kept(positive, "N m/A")]
    rotor_inertia: Annotated[float, Kept(positive, "kg m^2")]
    gear_ratio: Annotated[float, Kept(finite)] = 1.0
    back_emf_constant: NotNegative | None = None
    current_limit: Annotated[float, Kept(positive, "A")] | None = None
    efficiency: Annotated[float, Kept(_efficiency)] = 1.0
    motor_damping: NotNegative = 0.0
    motor_friction: Annotated[CoulombFriction, Kept(part, CoulombFriction)] | None = (
        None
    )
    stiffness: float = np.inf
    damping: float = 0.0

    def __post_init__(self) -> None:
        _ = self.drive  # which refuses what a drive cannot be

    @property
    def _back_emf(self) -> float:
        """Torque of the back-EMF on the motor for each rad/s."""
        k = self.back_emf_constant
        volts = self.torque_constant if k is None else k
        return self.efficiency * self.torque_constant * volts / self.resistance

    @property
    def drive(self) -> Drive:
        """Drive of a joint, with the back-EMF as viscous friction of the motor."""
        return Drive(
            self.stiffness,
            gear_ratio=self.gear_ratio,
            rotor_inertia=self.rotor_inertia,
            damping=self.damping,
            motor_damping=self.motor_damping + self._back_emf,
            motor_friction=self.motor_friction,
        )

    @checked
    def torque(
        self,
        volts: Annotated[ArrayLike, Floats("(...)")],
        *,
        rate: Annotated[ArrayLike, Floats("(...)")] | None = None,
    ) -> Array:
        r"""Torque of the actuator, at the joint or, with an elastic gear, the motor.

        Parameters
        ----------
        volts : (...) array_like of float
            Voltages u in V.
        rate : (...) array_like of float, optional
            Velocity in rad/s of the joint or, with an elastic gear, of the motor, which
            the current depends on where it is limited.

        Returns
        -------
        torque : (...) ndarray of float
            In N m: :math:`\eta k_t u / R`, N times that with a rigid gear.  Where the
            limit is reached, that of the largest current, and what the viscous friction
            of `drive` takes away as back-EMF.

        Raises
        ------
        ArgumentError
            If the current is limited and `rate` is not given.

        Examples
        --------
        >>> import flexarm as fa
        >>> motor = fa.DCMotor(2.0, 0.5, 1e-4, current_limit=3.0)
        >>> motor.torque([4.0, 8.0], rate=0.0)
        array([1. , 1.5])
        """
        u = real_array("volts", volts)
        check_numbers("volts", u)
        at_joint = self.gear_ratio if self.drive.is_rigid else 1.0
        gain = self.efficiency * self.torque_constant / self.resistance
        torque = gain * u
        if self.current_limit is not None:
            if rate is None:
                raise ArgumentError(
                    f"the current is limited to {self.current_limit:g} A and rate is "
                    "not given, expected rate=, or a motor without limit: "
                    "motor.replace(current_limit=None)"
                )
            speed = real_array("rate", rate)
            check_numbers("rate", speed)
            common_batch({"volts": u.shape, "rate": speed.shape})
            braking = self._back_emf * at_joint * speed
            most = self.efficiency * self.torque_constant * self.current_limit
            torque = np.clip(torque - braking, -most, most) + braking
        return np.asarray(at_joint * torque)
