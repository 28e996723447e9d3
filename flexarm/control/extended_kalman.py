"""Extended Kalman filter: modes and rates of a moving arm from joints and strains."""

from __future__ import annotations

import warnings
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_numbers, real_array
from .._calls.declared import ActuatorValues, Floats, Positions, Positive, Velocities
from .._calls.doors import checked, checked_class
from .._support.arrays import Array, kind_of
from ..arm import Arm
from ..errors import ArgumentError, DeflectionWarning
from ..linear_models import linearize
from ..simulation.laws import AnyLaw, law_of
from ._matrices import sampled_noise, times
from .checks import refuse_constraints, refuse_poses, start_state
from .kalman import kalman_predict, kalman_update
from .linear_quadratic import weight
from .states import integrate, refuse_rates


@checked_class
class ExtendedKalmanFilter:
    r"""Estimate of the state of an arm in motion, from samples of some outputs.

    Between samples the estimate moves by the equations of the arm, under the forces
    that are held, and its covariance by their linearization at the estimate.

    Parameters
    ----------
    arm : Arm
        Model; a tree without couplings (rigid gears are such) and quaternions.
    outputs : str, Output or list of these
        Measured outputs, as for `linearize`: joints, strains, anything linear in
        positions and velocities.
    process : (2 nv,) or (2 nv, 2 nv) array_like of float
        Spectral density of white noise on the rates of positions and velocities, in
        rad^2/s and rad^2/s^3 for joints that turn.  That of modes has to be above zero,
        or strains of links do not correct them.
    measurement : (p,) or (p, p) array_like of float
        Covariance of the noise of a sample.
    dt : float
        Sample time in s.
    q0, qd0 : (..., nq), (..., nv) array_like of float
        First estimate; leading axes are many filters.
    covariance : (2 nv,) or (2 nv, 2 nv) array_like of float, optional
        Of its error; by default that of the noise of a second.
    max_step : float, optional
        Longest step of the integrator in s.

    Attributes
    ----------
    q, qd : (..., nq), (..., nv) ndarray of float
        Estimate.
    P : (..., 2 nv, 2 nv) ndarray of float
        Covariance of its error.

    See Also
    --------
    kalman_filter : steady, about a point.
    ObservedLaw : feedback of the estimate.

    Notes
    -----
    A. H. Jazwinski, *Stochastic Processes and Filtering Theory*, 1970, section 8.3.

    Examples
    --------
    A pendulum with a wrong first estimate:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum()
    >>> seen = fa.control.ExtendedKalmanFilter(
    ...     arm, "joints", [0.0, 1.0], [1e-6], 0.01, [0.0], [0.0], covariance=[1.0, 1.0]
    ... )
    >>> q, qd = seen.update([0.2])
    >>> q.round(3)
    array([0.2])
    >>> seen.predict([0.0])
    >>> bool(seen.qd[0] < 0.0)    # it falls
    True
    """

    @checked
    def __init__(
        self,
        arm: Arm,
        outputs: object,
        process: Annotated[ArrayLike, Floats("(2 nv,)", "(2 nv, 2 nv)")],
        measurement: Annotated[ArrayLike, Floats("(p,)", "(p, p)")],
        dt: Positive,
        q0: Positions,
        qd0: Velocities,
        *,
        covariance: Annotated[ArrayLike, Floats("(2 nv,)", "(2 nv, 2 nv)")]
        | None = None,
        max_step: Positive | None = None,
    ) -> None:
        refuse_poses(arm, "ExtendedKalmanFilter")
        refuse_constraints(arm, "ExtendedKalmanFilter")
        self.arm, self.dt = arm, float(dt)
        self.max_step = max_step
        n = 2 * arm.nv
        self._start = start_state(arm, q0, qd0)
        model = linearize(arm, arm.neutral, outputs=outputs)
        if model.D.any():
            raise ArgumentError(
                "outputs feel the forces at once (accelerations), expected outputs of "
                "positions and velocities, such as joints and strains"
            )
        self.C = model.C
        self._zero = np.asarray(
            model.y
        )  # of the outputs at the neutral state, which is zero
        self.process = weight("process", process, n, definite=False)
        p = self.C.shape[-2]
        self.measurement = weight("measurement", measurement, p, definite=True)
        first = self.process if covariance is None else covariance
        self._first = weight("covariance", first, n, definite=False)
        self.reset()

    def __repr__(self) -> str:
        p, batch = self.C.shape[-2], " x ".join(map(str, self.q.shape[:-1]))
        many = f"{batch} estimates" if batch else "an estimate"
        return (
            f"<ExtendedKalmanFilter of {self.arm.name!r}: {many} of {2 * self.arm.nv} "
            f"states from {p} output{'s' * (p != 1)} each {self.dt:g} s>"
        )

    def reset(self) -> None:
        """Return to the first estimate."""
        self.q, self.qd = (x.copy() for x in self._start)
        n = 2 * self.arm.nv
        self.P = np.array(np.broadcast_to(self._first, (*self.q.shape[:-1], n, n)))

    def update(
        self, y: Annotated[ArrayLike, Floats("(..., p)")]
    ) -> tuple[Array, Array]:
        """Take the outputs of a sample.

        Parameters
        ----------
        y : (..., p) array_like of float
            Measured outputs.

        Returns
        -------
        q, qd : (..., nq), (..., nv) ndarray of float
            Estimate with it.

        Raises
        ------
        ArgumentError
            If `y` has a wrong shape or a number is not finite.
        """
        y = real_array("y", y)
        p = self.C.shape[-2]
        if y.ndim == 0 or y.shape[-1] != p:
            raise ArgumentError(f"y has shape {y.shape}, expected (..., {p})")
        check_numbers("y", y)
        gain, _, self.P = kalman_update(self.P, self.C, self.measurement)
        x = np.concatenate([self.q, self.qd], axis=-1)
        x = x + times(gain, y - self._zero - times(self.C, x))
        self.q, self.qd = x[..., : self.arm.nv], x[..., self.arm.nv :]
        return self.q, self.qd

    @checked
    def predict(self, tau: ActuatorValues) -> None:
        """Go to the next sample.

        Parameters
        ----------
        tau : (..., nu) array_like of float
            Forces in N m or N that are held until then.
        """
        tau = real_array("tau", tau)
        with warnings.catch_warnings():  # the motion itself has one warning
            warnings.simplefilter("ignore", DeflectionWarning)
            A = linearize(self.arm, self.q, self.qd, tau).A
        none = np.zeros((*A.shape[:-1], 1))
        Ad, _, noise = sampled_noise(A, none, self.process, self.dt)
        self.P = kalman_predict(self.P, Ad, noise)
        self.q, self.qd = integrate(
            self.arm, self.q, self.qd, tau, (0.0, self.dt), max_step=self.max_step
        )


@checked_class
class ObservedLaw:
    """A law of the state on the estimate of a filter, for `simulate_loop`.

    Parameters
    ----------
    law : callable
        ``law(t, q, qd)`` that returns forces, such as `CompositeControl`.
    observer : ExtendedKalmanFilter
        Filter; its outputs are the ``sensors`` of the loop, its ``dt`` the sample time.

    Notes
    -----
    `simulate_loop` takes the sensors, which measure C (q, qd), and the sample time from
    the filter.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum()
    >>> observer = fa.control.ExtendedKalmanFilter(
    ...     arm, "joints", [0.0, 1.0], [1e-6], 0.01, [0.0], [0.0], covariance=[1.0, 1.0]
    ... )
    >>> law = fa.control.ObservedLaw(
    ...     fa.control.SetPointPD(arm, 50.0, 10.0, [0.0]), observer
    ... )
    >>> run = fa.control.simulate_loop(
    ...     arm, law, [0.2], [0.0], [0.0, 1.0, 2.0]
    ... )
    >>> bool(abs(run.q[-1, 0]) < 1e-3)
    True
    """

    def __repr__(self) -> str:
        return f"ObservedLaw({kind_of(self.law)}, {kind_of(self.observer)})"

    @checked
    def __init__(self, law: AnyLaw, observer: ExtendedKalmanFilter) -> None:
        self.law, self.observer = law, observer

    @property
    def sensors(self) -> Array:
        """Rows (p, 2 nv) of the outputs of the filter."""
        return np.asarray(self.observer.C)

    @property
    def dt(self) -> float:
        """Sample time of the filter in s."""
        return self.observer.dt

    def reset(self, q: Positions | None = None, qd: Velocities | None = None) -> None:
        """Return to the first estimate of the filter, and reset the law.

        Parameters
        ----------
        q, qd : (..., nq), (..., nv) array_like of float, optional
            Initial state of a run in rad or m, and per s, for the law.

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> arm = fa.library.pendulum()
        >>> observer = fa.control.ExtendedKalmanFilter(
        ...     arm, "joints", [0.0, 1.0], [1e-6], 0.01, [0.0], [0.0],
        ...     covariance=[1.0, 1.0],
        ... )
        >>> pd = fa.control.SetPointPD(arm, 50.0, 10.0, [0.0])
        >>> law = fa.control.ObservedLaw(pd, observer)
        >>> first = law(0.0, np.array([0.2]))
        >>> second = law(0.01, np.array([0.2]))
        >>> law.reset()  # before the next run
        >>> bool((law(0.0, np.array([0.2])) == first).all())
        True
        """
        self.observer.reset()
        law_of(self.law).reset(q, qd)

    def __call__(
        self,
        t: float,
        y: Annotated[ArrayLike, Floats("(..., p)")],
        yd: Velocities | None = None,
    ) -> Array:
        """Forces (..., nu) of a sample of the outputs of the filter."""
        refuse_rates(yd)
        q, qd = self.observer.update(y)
        tau = np.asarray(self.law(t, q, qd))
        self.observer.predict(tau)
        return tau
