"""Disturbance observer: forces that act on an arm and that its model does not know."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import real_array
from .._calls.declared import ActuatorValues, Floats, Positions, Positive, Velocities
from .._calls.doors import checked, checked_class
from .._support.arrays import Array, kind_of
from ..arm import Arm
from ..dynamics import mass_matrix
from ..errors import ArgumentError
from ..kinematics import jacobian
from ..simulation.laws import AnyLaw, law_of
from ._matrices import times
from .checks import gains, refuse_constraints, refuse_poses
from .states import integrate, known, read_state


@checked_class
class DisturbanceObserver:
    r"""Residual of the generalized momentum: external forces without accelerations.

    .. math:: r = k \left( p - \int (\tau + n + r)\, dt \right), \qquad
        p = M(q)\, \dot q, \qquad \dot r = k\, (d - r),

    with n all other forces of the model.  The residual follows the forces d on all
    coordinates, joints and modes, as a low pass of bandwidth k: contact, friction, the
    weight of a payload that the model does not know.

    Parameters
    ----------
    arm : Arm
        Model; a tree without couplings and quaternions.
    gain : float or (nv,) array_like of float
        Bandwidth k in 1/s of each coordinate.
    dt : float
        Sample time in s, which should resolve the fastest mode: at most a quarter of
        its period.
    law : callable, optional
        ``law(t, q, qd)`` that returns forces.  The observer is then itself a law for
        `simulate_loop`: that law, less the residual of the actuators.
    max_step : float, optional
        Longest step of the integrator in s.

    Attributes
    ----------
    residual : (..., nv) ndarray of float
        Estimate of d, in N m or N; of modes in their units.

    Raises
    ------
    ArgumentError
        If the arm has couplings or quaternions, or a gain is negative.

    See Also
    --------
    PredictiveControl : ``offset_free``, the same idea on a linear model.
    ExtendedKalmanFilter : where modes and rates are not measured.

    Notes
    -----
    A. De Luca, A. Albu-Schaffer, S. Haddadin, G. Hirzinger, "Collision detection and
    safe reaction with the DLR-III lightweight manipulator arm", *Proc. IEEE/RSJ IROS*
    (2006), 1623-1630; A. De Luca, R. Mattone, "Sensorless robot collision detection and
    hybrid force/motion control", *Proc. IEEE ICRA* (2005), 999-1004.

    In samples, p is compared with that of the model, moved from the sample before under
    the forces that were held and the residual; what it is off, over the sample time,
    changes the residual by the part :math:`1 - e^{-k\, dt}`.  A constant d is thus
    found exactly, also of an arm in motion.

    Examples
    --------
    A pendulum held level carries 0.5 kg more at its tip, 1 m from the joint:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=1.0, com=1.0)
    >>> observer = fa.control.DisturbanceObserver(arm, 50.0, 0.01)
    >>> for _ in range(100):
    ...     r = observer.update([0.0], [0.0])
    ...     observer.predict([1.5 * 9.81])    # which holds it
    >>> r.round(6)    # -0.5 kg * 9.81 m/s^2 * 1 m
    array([-4.905])

    Without the offset of the payload, as a law:

    >>> heavy = fa.library.pendulum(mass=1.5, com=1.0)
    >>> law = fa.control.DisturbanceObserver(
    ...     arm, 50.0, 0.01, law=fa.control.SetPointPD(arm, 50.0, 10.0, [0.0])
    ... )
    >>> run = fa.control.simulate_loop(heavy, law, [0.0], [0.0], [0.0, 2.0, 4.0])
    >>> bool(abs(run.q[-1, 0]) < 1e-6)
    True
    """

    @checked
    def __init__(
        self,
        arm: Arm,
        gain: Annotated[ArrayLike, Floats("()", "(nv,)")],
        dt: Positive,
        *,
        law: AnyLaw | None = None,
        max_step: Positive | None = None,
    ) -> None:
        refuse_poses(arm, "DisturbanceObserver")
        refuse_constraints(arm, "DisturbanceObserver")
        self.arm, self.law = arm, law
        self.dt = float(dt)
        self.max_step = max_step
        self.gain = gains("gain", gain, arm.nv, "one for each coordinate")
        self._part = -np.expm1(-self.gain * self.dt)
        self.reset()

    def reset(self, q: Positions | None = None, qd: Velocities | None = None) -> None:
        """Forget all samples, before another run.

        Parameters
        ----------
        q, qd : (..., nq), (..., nv) array_like of float, optional
            Initial state of a run in rad or m, and per s; not used.

        Examples
        --------
        >>> import flexarm as fa
        >>> observer = fa.control.DisturbanceObserver(
        ...     fa.library.pendulum(), 50.0, 0.01
        ... )
        >>> r = observer.update([0.0], [0.0])
        >>> observer.predict([0.0])
        >>> bool(observer.update([0.0], [0.0])[0] > 0.0)    # something holds it
        True
        >>> observer.reset()
        >>> observer.residual
        array([0.])
        """
        self.residual = np.zeros(self.arm.nv)
        self._state: tuple[Array, Array] | None = None
        self._expected: Array | None = None
        if self.law is not None:
            law_of(self.law).reset(q, qd)

    def update(self, q: Positions, qd: Velocities) -> Array:
        """Take the state of a sample.

        Parameters
        ----------
        q, qd : (..., nq), (..., nv) array_like of float
            Measured or estimated state in rad or m, and per s; leading axes are many
            arms.

        Returns
        -------
        residual : (..., nv) ndarray of float
            Estimate of the external forces in N m or N.

        Raises
        ------
        ArgumentError
            If a shape does not fit.
        """
        q, qd = read_state(self.arm, q, qd)
        q, qd = np.broadcast_arrays(q, qd)
        if self._expected is not None:
            # a lost member of a batch has NaN, and stays so
            M = mass_matrix(self.arm, known(q, self.arm.neutral))
            off = times(M, qd - self._expected) / self.dt
            self.residual = self.residual + self._part * off
        self._state = np.array(q), np.array(qd)
        return self.residual

    @checked
    def predict(self, tau: ActuatorValues) -> None:
        """Go to the next sample.

        Parameters
        ----------
        tau : (..., nu) array_like of float
            Forces of the actuators in N m or N that are held until then.

        Raises
        ------
        ArgumentError
            If there was no `update`, or the shape does not fit.
        """
        arm = self.arm
        if self._state is None:
            raise ArgumentError(
                "there is no state yet, expected update(q, qd) before predict(tau)"
            )
        tau = real_array("tau", tau)
        q, qd = self._state
        batch = np.broadcast_shapes(qd.shape[:-1], tau.shape[:-1])
        forces = np.array(np.broadcast_to(self.residual, (*batch, arm.nv)))
        forces[..., arm.actuator_indices] += tau
        span = 0.0, self.dt
        self._expected = integrate(arm, q, qd, forces, span, max_step=self.max_step)[1]

    def payload(self, node: object = None) -> Array:
        """Mass whose weight at a node explains the residual best, of an arm at rest.

        Parameters
        ----------
        node : int, str or (body, node), optional
            Which node; by default the tip.

        Returns
        -------
        mass : (...) ndarray of float
            In kg, beside what the model has.

        Raises
        ------
        ArgumentError
            If there was no `update`, or weight at the node moves no coordinate.

        Notes
        -----
        Least squares over the forces that one kg makes, :math:`J^T g`; modes count by
        their units, and agree with the joints if the payload is all that is unknown.

        Examples
        --------
        >>> import flexarm as fa
        >>> arm = fa.library.pendulum(mass=1.0, com=1.0, length=1.0)
        >>> observer = fa.control.DisturbanceObserver(arm, 50.0, 0.01)
        >>> for _ in range(100):
        ...     r = observer.update([0.0], [0.0])
        ...     observer.predict([1.5 * 9.81])
        >>> observer.payload().round(6)
        np.float64(0.5)
        """
        if self._state is None:
            raise ArgumentError("there is no state yet, expected update(q, qd) before")
        arm = self.arm
        J = jacobian(arm, self._state[0], node, frame="base")[..., 3:, :]
        unit = np.asarray(np.asarray(arm.gravity) @ J)
        size = (unit**2).sum(-1)
        if not (size > 0.0).all():
            raise ArgumentError(
                "weight at the node moves no coordinate of the arm, expected an arm "
                "with gravity and a posture in which it does"
            )
        return np.asarray((unit * self.residual).sum(-1) / size)

    def __call__(self, t: float, q: Positions, qd: Velocities | None = None) -> Array:
        """Forces (..., nu) of a sample in N m or N: the law less the residual."""
        if self.law is None:
            raise ArgumentError(
                "the observer has no law, expected DisturbanceObserver(law=...) in a "
                "loop"
            )
        residual = self.update(q, qd)
        tau = np.asarray(self.law(t, q, qd))
        tau = tau - residual[..., self.arm.actuator_indices]
        self.predict(tau)
        return tau

    def __repr__(self) -> str:
        inner = f", {kind_of(self.law)}" if self.law is not None else ""
        return f"<DisturbanceObserver of {self.arm.name!r}: every {self.dt:g} s{inner}>"
