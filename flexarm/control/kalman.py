r"""Kalman filters: covariances step by step, steady gains, LQG.

The recursion over time of `kalman_predict` and `kalman_update` is the recursion over
bodies of forward dynamics: G. Rodriguez, "Kalman filtering, smoothing, and recursive
robot arm forward and inverse dynamics", *IEEE J. Robotics and Automation* 3 (1987),
624-639; A. Jain, G. Rodriguez, US patent 5,546,508 (1996).  From the tip to the base
the articulated inertia P is the covariance of an error, the hop :math:`\phi` from link
to link the transition, the inertia of a link the process noise, the joint H what is
measured without noise, :math:`D = H P H'` the innovation and :math:`G = P H' D^{-1}`
the gain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import common_batch, real_array, shaped
from .._calls.declared import Floats
from .._calls.doors import checked, checked_class
from .._support.arrays import Array, Complex
from ..arm import Arm
from ..errors import ArgumentError
from ..linear_models import StateSpace
from ._loops.linear_controller import LinearController
from ._matrices import closed_poles, riccati, sampled_noise, symmetric, times
from .linear_quadratic import StateFeedback, new_sample_time, point_of, weight
from .states import on_all_states


class KalmanUpdate(NamedTuple):
    """Gain and covariances of one measurement.

    Attributes
    ----------
    gain : (..., n, p) ndarray of float
        Correction of the state for an innovation.
    innovation : (..., p, p) ndarray of float
        Covariance of the innovation.
    covariance : (..., n, n) ndarray of float
        Covariance of the error after the measurement.
    """

    gain: Array
    innovation: Array
    covariance: Array


@checked
def kalman_predict(
    P: Annotated[ArrayLike, Floats("(..., n, n)")],
    A: Annotated[ArrayLike, Floats("(..., n, n)")],
    Q: Annotated[ArrayLike, Floats("(..., n, n)")],
) -> Array:
    """Covariance of the error one step later, A P A' + Q.

    Parameters
    ----------
    P : (..., n, n) array_like of float
        Covariance of the error now.
    A : (..., n, n) array_like of float
        Transition of the state.
    Q : (..., n, n) array_like of float
        Covariance of the process noise of the step.

    Returns
    -------
    P : (..., n, n) ndarray of float
        Before the next measurement.

    Examples
    --------
    >>> from flexarm.control.kalman import kalman_predict
    >>> kalman_predict([[1.0]], [[2.0]], [[0.5]])
    array([[4.5]])
    """
    given = {"P": P, "A": A, "Q": Q}
    P, A, Q = (shaped(name, x, None, None) for name, x in given.items())
    common_batch({"P": P.shape[:-2], "A": A.shape[:-2], "Q": Q.shape[:-2]})
    return symmetric(A @ P @ np.swapaxes(A, -1, -2) + Q)


@checked
def kalman_update(
    P: Annotated[ArrayLike, Floats("(..., n, n)")],
    C: Annotated[ArrayLike, Floats("(..., p, n)")],
    R: Annotated[ArrayLike, Floats("(..., p, p)")],
) -> KalmanUpdate:
    r"""Gain and covariance of the error at a measurement :math:`y = C x + v`.

    Parameters
    ----------
    P : (..., n, n) array_like of float
        Covariance of the error before it.
    C : (..., p, n) array_like of float
        What is measured.
    R : (..., p, p) array_like of float
        Covariance of its noise; zero for an exact one.

    Returns
    -------
    update : KalmanUpdate
        Gain, covariance of the innovation, covariance after it.

    Raises
    ------
    ArgumentError
        If shapes do not fit, or the covariance of the innovation is singular.

    Notes
    -----
    R. E. Kalman, "A new approach to linear filtering and prediction problems", *J.
    Basic Engineering* 82 (1960), 35-45; the covariance in the form of P. D. Joseph,
    which keeps it positive semidefinite for gains with rounding.

    Examples
    --------
    Two equally good readings of a number halve its variance:

    >>> from flexarm.control.kalman import kalman_update
    >>> kalman_update([[1.0]], [[1.0]], [[1.0]]).covariance
    array([[0.5]])
    """
    given = {"P": P, "C": C, "R": R}
    P, C, R = (shaped(name, x, None, None) for name, x in given.items())
    common_batch({"P": P.shape[:-2], "C": C.shape[:-2], "R": R.shape[:-2]})
    Ct = np.swapaxes(C, -1, -2)
    S = symmetric(C @ P @ Ct + R)
    try:
        G = np.swapaxes(np.linalg.solve(S, C @ P), -1, -2)
    except np.linalg.LinAlgError:
        raise ArgumentError(
            "the covariance C P C' + R of the innovation is singular, expected a "
            "measurement with noise, R above zero"
        ) from None
    left = np.eye(P.shape[-1]) - G @ C
    after = left @ P @ np.swapaxes(left, -1, -2) + G @ R @ np.swapaxes(G, -1, -2)
    return KalmanUpdate(G, S, symmetric(after))


@checked_class
@dataclass(frozen=True, eq=False)
class KalmanFilter:
    """Steady Kalman filter of a linear model.

    Attributes
    ----------
    model : StateSpace
        The model; discrete for a filter of samples.
    gain : (..., n, p) ndarray of float
        Of the innovation: correction of the estimate at a sample, or its rate.
    covariance : (..., n, n) ndarray of float
        Of the error, before the measurement if discrete.
    poles : (..., n) ndarray of complex
        Of the error: in 1/s, or factors per sample.
    """

    model: StateSpace
    gain: Array
    covariance: Array
    poles: Complex

    def estimate(
        self,
        u: Annotated[ArrayLike, Floats("(..., k, m)")],
        y: Annotated[ArrayLike, Floats("(..., k, p)")],
        x0: Annotated[ArrayLike, Floats("(..., n)")] | None = None,
    ) -> Array:
        """Estimates at the samples of a record.

        Parameters
        ----------
        u : (..., k, m) array_like of float
            Inputs, each held until the next sample, as deviations from the point.
        y : (..., k, p) array_like of float
            Measured outputs, as deviations.
        x0 : (..., n) array_like of float, optional
            Estimate before the first measurement; by default zero.

        Returns
        -------
        x : (..., k, n) ndarray of float
            Estimate at each sample, with its measurement.

        Raises
        ------
        ArgumentError
            If the model is continuous.

        Examples
        --------
        A mass whose position alone is measured; after 3 s the estimate has its speed
        of 0.2 m/s, too:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> mass = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]]).discretize(0.1)
        >>> observer = fa.control.kalman_filter(mass, [1.0], [1e-4])
        >>> y = 0.02 * np.arange(31.0)[:, np.newaxis]
        >>> x = observer.estimate(np.zeros((31, 1)), y)
        >>> x[-1].round(3)
        array([0.6, 0.2])
        """
        if self.model.dt is None:
            raise ArgumentError(
                "the filter is continuous, expected one of samples, give kalman_filter "
                "the sample time dt"
            )
        A, B, C, D = self.model.A, self.model.B, self.model.C, self.model.D
        u, y = real_array("u", u), real_array("y", y)
        for name, x, width in (("u", u, B.shape[-1]), ("y", y, C.shape[-2])):
            if x.ndim < 2 or x.shape[-1] != width or u.shape[-2] != x.shape[-2]:
                raise ArgumentError(
                    f"{name} has shape {x.shape}, expected (..., k, {width}), one row "
                    "for each sample"
                )
        x = shaped("x0", np.zeros(A.shape[-1]) if x0 is None else x0, A.shape[-1])
        shapes = {"u": u.shape[:-2], "y": y.shape[:-2], "x0": x.shape[:-1]}
        batch = common_batch({"model": self.model.batch, **shapes})
        result = np.empty((*batch, u.shape[-2], A.shape[-1]))
        for k in range(u.shape[-2]):
            off = y[..., k, :] - times(C, x) - times(D, u[..., k, :])
            result[..., k, :] = x = x + times(self.gain, off)
            x = times(A, x) + times(B, u[..., k, :])
        return result


@checked
def kalman_filter(
    model: StateSpace,
    process: Annotated[ArrayLike, Floats("(..., m, m)", "(m,)")],
    measurement: Annotated[ArrayLike, Floats("(..., p, p)", "(p,)")],
    *,
    dt: float | None = None,
) -> KalmanFilter:
    r"""Steady Kalman filter for noise on the inputs and on the outputs.

    Of :math:`\dot x = A x + B (u + w)`, :math:`y = C x + D u + v` with white w and v,
    or of the same in samples.

    Parameters
    ----------
    model : StateSpace
        One model or many.
    process : (..., m, m) or (m,) array_like of float
        Noise w of the inputs: spectral density in (N m)^2 s of a continuous model,
        covariance of each sample in (N m)^2 of a discrete one.  With n in place of m,
        where m is not n, of the states.
    measurement : (..., p, p) or (p,) array_like of float
        Noise v of the outputs: spectral density, or covariance of each sample if the
        filter is discrete.
    dt : float, optional
        Sample time in s: a discrete filter of a continuous model, whose inputs are
        held; the noise w stays continuous.

    Returns
    -------
    filter : KalmanFilter
        Gain, covariance and poles.

    Raises
    ------
    ArgumentError
        If densities are not definite, or the model has modes that do not decay and that
        no output shows or no noise moves; the sentence names them.
    ConvergenceError
        If the Riccati equation is not solved.

    See Also
    --------
    kalman_predict, kalman_update : the recursion to which it converges.
    lqg : feedback of the estimate.
    ExtendedKalmanFilter : along a motion, on the equations of the arm.

    Notes
    -----
    With noise of the actuators alone the model of the modes counts as exact: strains do
    not correct it, and poles of the filter stay near the zeros from actuators to
    joints.  With noise on the rates of the modes, by n densities, they correct it.

    Examples
    --------
    A mass of 1 kg under white forces, its position measured: gains sqrt(2) and 1.

    >>> import flexarm as fa
    >>> mass = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]])
    >>> fa.control.kalman_filter(mass, [1.0], [1.0]).gain.round(4)
    array([[1.4142],
           [1.    ]])
    """
    # densities, those of the inputs as densities of the states
    n, m = model.B.shape[-2:]
    R = weight("measurement", measurement, model.C.shape[-2], definite=True)
    given = real_array("process", process).shape
    on_states = m != n and bool(given) and given[-1] == n
    W = weight("process", process, n if on_states else m, definite=False)
    G = np.eye(n) if on_states else model.B
    Q = G @ W @ np.swapaxes(G, -1, -2)
    model.observability().check(decaying=False)
    noisy = tuple(f"noise {i}" for i in range(n))
    _check_moved(model, Q, noisy)
    # held inputs, if samples are wanted
    if dt is not None:
        dt = new_sample_time(model, dt)
        A, B, Q = sampled_noise(model.A, model.B, Q, dt)
        model = model.replace(A=A, B=B, dt=dt)
    # one Riccati equation for each model
    discrete = model.dt is not None
    batch = np.broadcast_shapes(model.batch, Q.shape[:-2], R.shape[:-2])
    A, C, Q, R = (
        np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (model.A, model.C, Q, R)
    )
    P, L = np.empty((*batch, n, n)), np.empty((*batch, n, C.shape[-2]))
    none = np.zeros((n, C.shape[-2]))
    for i in np.ndindex(batch):
        P[i], K = riccati(A[i].T, C[i].T, Q[i], R[i], none, discrete)
        L[i] = kalman_update(P[i], C[i], R[i]).gain if discrete else K.T
    if not np.isfinite(L).all():
        text = f"measurement is down to {np.abs(R).min():.3g}, which overflows the gain"
        raise ArgumentError(f"{text}, expected more noise")
    error = A @ (np.eye(n) - L @ C) if discrete else A - L @ C
    return KalmanFilter(model, L, P, closed_poles(error))


@checked
def lqg(
    regulator: StateFeedback, observer: KalmanFilter, *, sensors: object = None
) -> LinearController:
    r"""Feedback of the estimate of a Kalman filter, in samples.

    .. math::
       \hat x_k = z_k + L (y_k - C z_k), \quad u_k = -K \hat x_k, \quad
       z_{k+1} = A \hat x_k + B u_k

    with the forces that act, limits included, in place of u in the last equation.

    Parameters
    ----------
    regulator : StateFeedback
        Discrete gains, of `lqr` with ``dt``; of an arm with rigid gears with its
        ``arm``.
    observer : KalmanFilter
        Discrete filter of the same model, of `kalman_filter` with the same ``dt``.
    sensors : optional
        What is measured on the arm, as in `LinearController`; by default the linear
        rows C of the filter, of positions and velocities.

    Returns
    -------
    law : LinearController
        For `simulate_loop`; it runs in C.

    Raises
    ------
    ArgumentError
        If the sample times differ, a model is continuous, or outputs feel the forces
        at once (D).

    See Also
    --------
    lqr, kalman_filter : its parts.

    Notes
    -----
    Gains and filter are designed apart (separation principle): M. Athans, *IEEE Trans.
    Automatic Control* 16 (1971), 529-552.  LQG guarantees no margin; J. C.
    Doyle, *IEEE Trans. Automatic Control* 23 (1978), 756-757.

    Examples
    --------
    >>> import flexarm as fa
    >>> mass = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]])
    >>> law = fa.control.lqg(
    ...     fa.control.lqr(mass, [1.0, 1.0], [1.0], dt=0.01),
    ...     fa.control.kalman_filter(mass, [1.0], [1e-4], dt=0.01),
    ... )
    >>> law
    <LinearController: 2 states, 1 outputs to 1 forces, every 0.01 s>
    """
    model, K = observer.model, regulator.K
    if model.dt is None or regulator.model.dt != model.dt:
        raise ArgumentError(
            f"the sample time of the regulator is {regulator.model.dt} and that of the "
            f"filter {model.dt}, expected the same; give both the same dt"
        )
    if model.D.any():
        raise ArgumentError(
            "outputs feel the forces at once (D is not zero), expected outputs that do "
            "not, such as joints and strains; leave accelerations out"
        )
    A, B = model.A, model.B
    if K.shape[-2:] != (B.shape[-1], A.shape[-1]):
        raise ArgumentError(
            f"the gain has shape {K.shape} and the filter {A.shape[-1]} states and "
            f"{B.shape[-1]} inputs, expected gains of the same model"
        )
    return of_estimate(K, observer, regulator.arm, sensors)


def of_estimate(
    K: Array, observer: KalmanFilter, arm: Arm | None, sensors: object
) -> LinearController:
    """Feedback of an estimate by the gain K, see `lqg`."""
    model, L = observer.model, observer.gain
    assert model.dt is not None
    A, B, C = model.A, model.B, model.C
    # the estimate after a measurement, and the closed loop on it
    kept = np.eye(A.shape[-1]) - L @ C
    closed = A - B @ K
    # outputs about the point of the model
    q, qd, tau = point_of(model)
    reference: Array | None = model.y if sensors is not None else None
    if sensors is None:
        if C.ndim > 2:
            raise ArgumentError(
                f"the filter has the leading axes {C.shape[:-2]}, expected the sensors "
                "by name for several filters in one LinearController"
            )
        sensors = on_all_states(arm, model, C)
        reference = times(sensors, np.concatenate([q, qd], axis=-1))
    return LinearController(
        closed @ kept,
        closed @ L,
        -K @ kept,
        -K @ L,
        model.dt,
        sensors=sensors,
        reference=reference,
        feedforward=tau,
        anti_windup=B,
    )


def _check_moved(model: StateSpace, Q: Array, names: tuple[str, ...]) -> None:
    """Refuse modes that neither decay nor are moved by noise."""
    moved = StateSpace(
        model.A, Q, model.C, states=model.states, inputs=names, dt=model.dt
    )
    try:
        moved.controllability().check(decaying=False)
    except ArgumentError as error:
        modes = str(error).split(" not controllable", maxsplit=1)[0]
        raise ArgumentError(
            f"{modes} not moved by the process noise, and nothing makes that decay, so "
            "that the filter would forget the measurements; expected noise that moves "
            "it"
        ) from None
