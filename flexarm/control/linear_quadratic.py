"""Linear-quadratic regulators: weights by names, gains, the law on the arm."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_numbers, positive_number, real_array
from .._calls.declared import Floats, Positions, Velocities
from .._calls.doors import checked, checked_class
from .._support.arrays import Array, Complex
from .._support.options import place_of
from ..arm import Arm
from ..dynamics import mass_matrix
from ..errors import ArgumentError
from ..kinematics.positions import quiet_difference
from ..linear_models import StateSpace
from ..simulation.laws import Memoryless
from ._loops.linear_controller import LinearController
from ._matrices import closed_poles, riccati, sampled_cost, times
from ._rigid_motion import rigid_motion, untied
from .checks import gains, refuse_poses
from .states import known_states, on_all_states, rates


@checked
def quadratic_weights(
    model: StateSpace,
    *,
    states: Mapping[str, float] | None = None,
    outputs: Mapping[str, float] | None = None,
    inputs: Mapping[str, float] | float = 1.0,
) -> tuple[Array, Array]:
    r"""Weights of a quadratic cost by Bryson's rule, one over the largest squares.

    .. math:: J = \int \sum_i \left(\frac{x_i}{x_{i,max}}\right)^2
        + \sum_j \left(\frac{y_j}{y_{j,max}}\right)^2
        + \sum_k \left(\frac{u_k}{u_{k,max}}\right)^2 dt

    Parameters
    ----------
    model : StateSpace
        Model with names.
    states, outputs : mapping of str to float, optional
        Largest deviation that is acceptable, by names; others do not count.
    inputs : mapping of str to float, or float
        The same of the inputs, each of which has to count; a number for all.

    Returns
    -------
    Q : (..., n, n) ndarray of float
        Weight of the states.
    R : (m, m) ndarray of float
        Weight of the inputs.

    Raises
    ------
    ArgumentError
        If a name is not one of the model, or a size is not positive.

    Notes
    -----
    A. E. Bryson, Y.-C. Ho, *Applied Optimal Control*, 1975, section 5.2.

    Examples
    --------
    0.1 rad of the joint are as bad as 5 N m:

    >>> import flexarm as fa
    >>> ss = fa.linearize(fa.library.pendulum(), [0.0])
    >>> Q, R = fa.control.quadratic_weights(ss, states={"rod": 0.1}, inputs=5.0)
    >>> Q.round(3), R
    (array([[100.,   0.],
           [  0.,   0.]]), array([[0.04]]))
    """

    def weights(kind: str, given: Mapping[str, float], names: tuple[str, ...]) -> Array:
        result = np.zeros(len(names))
        for name, size in given.items():
            place = place_of(kind, name, names)
            try:
                result[place] = positive_number(f"{kind}[{name!r}]", size) ** -2
            except OverflowError:
                raise ArgumentError(
                    f"{kind}[{name!r}] is {size:g}, expected a size whose square is a "
                    "number"
                ) from None
        return result

    if not isinstance(inputs, Mapping):
        inputs = dict.fromkeys(model.inputs, inputs)
    left = [name for name in model.inputs if name not in inputs]
    if left:
        raise ArgumentError(
            f"inputs has no {left[0]!r}, expected a largest value of every input"
        )
    Q = np.diag(weights("states", states or {}, model.states))
    seen = weights("outputs", outputs or {}, model.outputs)
    if seen.any():
        C = model.C
        Q = Q + np.swapaxes(C, -1, -2) @ (seen[:, np.newaxis] * C)
    return Q, np.diag(weights("inputs", inputs, model.inputs))


@checked
def energy_weight(
    arm: Arm,
    q: Positions,
    *,
    joint_stiffness: Annotated[ArrayLike, Floats("()", "(nu,)")] = 1.0,
    fast: bool = False,
) -> Array:
    r"""Weight of states that is twice the energy of small motions.

    .. math:: x' Q x = \dot q^T M \dot q + \eta^T K \eta + k\, \delta q_j^2

    Each mode then counts by its energy, whatever its normalization.

    Parameters
    ----------
    arm : Arm
        Arm without quaternions.
    q : (..., nq) array_like of float
        Postures.
    joint_stiffness : float or (nu,) array_like of float
        k in N m/rad or N/m, of springs that draw the actuators to the point; without
        one their position has no energy.
    fast : bool
        Of the states of `fast_subsystem` in place of all: shafts and modes with free
        joints.

    Returns
    -------
    Q : (..., n, n) ndarray of float
        For `lqr`; R is then in W per (N m)^2, and one over it a bandwidth.  Without
        coordinates that follow by rigid gears, as the states of `linearize`.

    Examples
    --------
    A mass of 2 kg at 0.5 m:

    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> fa.control.energy_weight(arm, [0.0], joint_stiffness=3.0).round(12)
    array([[3. , 0. ],
           [0. , 0.5]])
    """
    refuse_poses(arm, "energy_weight")
    M = np.asarray(mass_matrix(arm, q))
    K = np.array(arm.stiffness_matrix)
    n = arm.nu
    if fast:
        parts = rigid_motion(arm, "energy_weight")
        M, K = parts.block(M), parts.block(K)
        jj, jf = M[..., :n, :n], M[..., :n, n:]
        M = M[..., n:, n:] - np.swapaxes(jf, -1, -2) @ np.linalg.solve(jj, jf)
        K = K[n:, n:]
    else:
        at = arm.actuator_indices
        K[at, at] += gains("joint_stiffness", joint_stiffness, n)
        if arm._held:
            T = untied(arm, "energy_weight")
            M, K = T.T @ M @ T, T.T @ K @ T
    k = K.shape[-1]
    Q = np.zeros((*M.shape[:-2], 2 * k, 2 * k))
    Q[..., :k, :k], Q[..., k:, k:] = K, M
    return Q


@checked_class
@dataclass(frozen=True, eq=False)
class StateFeedback(Memoryless):
    r"""Law :math:`\tau = \tau_0 - K (x - x_0)` of the whole state of an arm.

    Attributes
    ----------
    model : StateSpace
        Linear model, about the point :math:`x_0, \tau_0`; discrete for sampled loops.
    K : (..., m, n) ndarray of float
        Gains.
    cost : (..., n, n) ndarray of float
        X of the cost :math:`x' X x` that is still to come.
    poles : (..., n) ndarray of complex
        Of the closed loop: in 1/s, or factors per sample.
    arm : Arm or None
        Arm of the law; needed for joints with quaternions, and for couplings and rigid
        gears, of which the model leaves out coordinates.
    reference : callable or None
        ``reference(t)`` returns ``q, qd, tau`` in place of the point: the state to
        follow and the forces that do it.

    Notes
    -----
    A law for `simulate` and `simulate_loop`; leading axes of K broadcast with those of
    the states.  `controller` gives it to loops in C.
    """

    model: StateSpace
    K: Array
    cost: Array
    poles: Complex
    arm: Arm | None = None
    reference: Callable[[float], Sequence[ArrayLike]] | None = None

    @property
    def dt(self) -> float | None:
        """Sample time in s for which the gains are made, ``None`` if continuous."""
        return self.model.dt

    def replace(self, **changes: Any) -> StateFeedback:
        """Return a copy with the named fields changed.

        Parameters
        ----------
        **changes : Any
            Fields by name, as the constructor takes them.

        Returns
        -------
        law : StateFeedback
            The copy.

        Examples
        --------
        An optimal loop is stable with half of its gains:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> model = fa.linearize(fa.library.pendulum(), [0.0])
        >>> law = fa.control.lqr(model, [100.0, 1.0], [0.01])
        >>> half = law.replace(K=0.5 * law.K)
        >>> bool(np.linalg.eigvals(model.A - model.B @ half.K).real.max() < 0.0)
        True
        """
        return dataclasses.replace(self, **changes)

    def __call__(self, t: float, q: Positions, qd: Velocities | None = None) -> Array:
        """Forces (..., m) in N m or N."""
        at, rate, tau = self._point(t)
        x = self._deviation(real_array("q", q), at, real_array("qd", rates(qd)), rate)
        return tau - times(self.K, x)

    def controller(self, dt: float | None = None) -> LinearController:
        """Return the same as a `LinearController`, for loops in C.

        Parameters
        ----------
        dt : float, optional
            Sample time in s; by default that of a discrete model.  Gains of a
            continuous one are then simply held for so long.

        Returns
        -------
        law : LinearController
            Without a state of its own.

        Raises
        ------
        ArgumentError
            If no sample time is known, or the law follows a motion.

        Examples
        --------
        >>> import flexarm as fa
        >>> arm = fa.library.pendulum()
        >>> law = fa.control.lqr(fa.linearize(arm, [0.0]), [100.0, 1.0], [0.01])
        >>> run = fa.control.simulate_loop(
        ...     arm, law.controller(0.01), [0.2], [0.0], [0.0, 1.0, 2.0]
        ... )
        >>> bool(abs(run.q[-1, 0]) < 1e-3)
        True
        """
        dt = sample_time(self.model, dt)
        if self.reference is not None:
            raise ArgumentError(
                "the law follows a motion, expected a constant point for a "
                "LinearController; give LinearController.state_feedback its samples"
            )
        q, qd, tau = self._point(0.0)
        K = on_all_states(self.arm, self.model, self.K)
        return LinearController.state_feedback(K, q, qd, tau, dt=dt)

    def _near(self, q: Array, dt: float | None) -> LinearController | None:
        """The same in samples, if it has one point."""
        if self.reference is not None:
            return None
        return self.controller(dt if self.model.dt is None else None)

    def _point(self, t: float) -> tuple[Array, Array, Array]:
        if self.reference is not None:
            q, qd, tau = (np.asarray(x) for x in self.reference(t))
            return q, qd, tau
        return point_of(self.model)

    def _deviation(self, q: Array, q0: Array, qd: Array, qd0: Array) -> Array:
        if self.arm is not None:
            dq = quiet_difference(self.arm, q0, q)
        elif q.shape[-1] + qd.shape[-1] == self.model.n_states:
            dq = q - q0
        else:
            raise ArgumentError(
                f"q has {q.shape[-1]} positions and qd {qd.shape[-1]} velocities, "
                f"expected together the {self.model.n_states} states of the model; "
                "name the arm, replace(arm=...), if it has quaternions or couplings"
            )
        parts = np.broadcast_arrays(dq, qd - qd0)
        x = np.concatenate(parts, axis=-1)
        return x if self.arm is None else x[..., known_states(self.arm, self.model)]


@checked
def lqr(
    model: StateSpace,
    Q: Annotated[ArrayLike, Floats("(..., n, n)", "(n,)")],
    R: Annotated[ArrayLike, Floats("(..., m, m)", "(m,)")],
    *,
    dt: float | None = None,
    arm: Arm | None = None,
) -> StateFeedback:
    r"""Gains that minimize a quadratic cost of states and inputs.

    .. math:: J = \int_0^\infty x' Q x + u' R u \; dt, \qquad K = R^{-1} B' X, \qquad
        A' X + X A - X B R^{-1} B' X + Q = 0,

    or the sum over samples of a discrete model.

    Parameters
    ----------
    model : StateSpace
        One model or many, at equilibria; see `linearize`.
    Q : (..., n, n) or (n,) array_like of float
        Weight of the states, positive semidefinite; one number each for a diagonal.
    R : (..., m, m) or (m,) array_like of float
        Weight of the inputs, positive definite.
    dt : float, optional
        Sample time in s: the same integral for forces that are held for so long, of a
        continuous model; no approximation [2]_.
    arm : Arm, optional
        For the law on arms with quaternions, couplings or rigid gears.

    Returns
    -------
    law : StateFeedback
        Gains, poles and the law.

    Raises
    ------
    ArgumentError
        If weights are not definite, the model is not at rest, or it has modes that do
        not decay and that no input moves or no weight sees; the sentence names them.
    ConvergenceError
        If the Riccati equation is not solved.

    See Also
    --------
    quadratic_weights : Bryson's rule.
    lqg : with a Kalman filter in place of the state.

    References
    ----------
    .. [1] R. E. Kalman, "Contributions to the theory of optimal control", *Bol. Soc.
       Mat. Mexicana* 5 (1960), 102-119.
    .. [2] C. F. Van Loan, "Computing integrals involving the matrix exponential", *IEEE
       Trans. Automatic Control* 23 (1978), 395-404.

    Examples
    --------
    A mass of 1 kg, unit weights: gains 1 and sqrt(3).

    >>> import flexarm as fa
    >>> mass = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]])
    >>> fa.control.lqr(mass, [1.0, 1.0], [1.0]).K.round(4)
    array([[1.    , 1.7321]])

    One gain for each of five postures:

    >>> import numpy as np
    >>> arm = fa.library.de_luca_siciliano()
    >>> q = np.zeros((5, 6))
    >>> q[:, 1] = np.linspace(0.0, 1.5, 5)
    >>> fa.control.lqr(fa.linearize(arm, q), np.ones(12), np.ones(2)).K.shape
    (5, 2, 12)
    """
    _check_rest(model)
    n, m = model.B.shape[-2:]
    Q = weight("Q", Q, n, definite=False)
    R = weight("R", R, m, definite=True)
    model.controllability().check(decaying=False)
    _check_seen(model, Q)
    batch = np.broadcast_shapes(model.batch, Q.shape[:-2], R.shape[:-2])
    N = np.zeros((n, m))
    if dt is not None:
        dt = new_sample_time(model, dt)
        A, B, Q, R, N = sampled_cost(model.A, model.B, Q, R, dt)
        model = model.replace(A=A, B=B, dt=dt)
    A, B, Q, R, N = (
        np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (model.A, model.B, Q, R, N)
    )
    K, X = np.empty((*batch, m, n)), np.empty((*batch, n, n))
    for i in np.ndindex(batch):
        X[i], K[i] = riccati(A[i], B[i], Q[i], R[i], N[i], model.dt is not None)
    return StateFeedback(model, K, X, closed_poles(A - B @ K), arm)


def weight(name: str, value: ArrayLike, n: int, *, definite: bool) -> Array:
    """Symmetric weight (..., n, n) that is (semi)definite, or a refusal."""
    W = real_array(name, value)
    W = np.diag(W) if W.ndim == 1 else W
    if W.ndim < 2 or W.shape[-2:] != (n, n):
        raise ArgumentError(
            f"{name} has shape {np.shape(value)}, expected (..., {n}, {n}), or ({n},) "
            "for a diagonal"
        )
    check_numbers(name, W)
    size = float(np.abs(W).max(initial=0.0))
    if np.abs(W - np.swapaxes(W, -1, -2)).max(initial=0.0) > 1e-9 * size:
        raise ArgumentError(f"{name} is not symmetric, expected a symmetric weight")
    smallest = float(np.linalg.eigvalsh(W).min(initial=np.inf))
    if smallest < -1e-12 * size or (definite and not smallest > 0.0):
        kind = "positive definite" if definite else "positive semidefinite"
        raise ArgumentError(
            f"{name} has the eigenvalue {smallest:.3g}, expected a {kind} weight"
        )
    return np.asarray(0.5 * (W + np.swapaxes(W, -1, -2)))


def sample_time(model: StateSpace, dt: float | None) -> float:
    """Sample time of a controller, from the model or given."""
    if dt is None and model.dt is None:
        raise ArgumentError(
            "dt is None and the model is continuous, expected the sample time in s"
        )
    if dt is not None and model.dt is not None and dt != model.dt:
        raise ArgumentError(
            f"dt is {dt!r} and the model is discrete with {model.dt:g} s, expected the "
            "same or none"
        )
    return positive_number("dt", model.dt if dt is None else dt)


def new_sample_time(model: StateSpace, dt: object) -> float:
    """Sample time to which a model is brought, or a refusal if it has one."""
    step = positive_number("dt", dt)
    if model.dt is not None:
        raise ArgumentError(
            f"dt is {step:g} s and the model is discrete with {model.dt:g} s, "
            "expected a continuous model for another sample time"
        )
    return step


def point_of(model: StateSpace) -> tuple[Array, Array, Array]:
    """Positions, velocities and forces of the inputs at the point of a model."""
    n, m = model.B.shape[-2:]
    half = n // 2
    q = np.zeros(half) if model.q is None else model.q
    qd = np.zeros(n - half) if model.qd is None else model.qd
    tau = np.zeros(m) if model.tau is None else model.tau
    if tau.shape[-1] != m:
        raise ArgumentError(
            f"the model has {m} inputs and {tau.shape[-1]} forces at its point, "
            "expected the forces of the actuators as inputs, which linearize takes by "
            "default"
        )
    return q, qd, tau


def _check_rest(model: StateSpace) -> None:
    """Refuse a point from which the arm moves away under its constant forces."""
    if model.drift is None:
        return
    # each state relative to the row of a unit state
    size = np.abs(model.A).sum(axis=-1)
    drift = np.abs(model.drift)
    if (drift > 1e-6 * (1.0 + size)).any():
        raise ArgumentError(
            f"the model is not at an equilibrium, its state drifts by {drift.max():.3g}"
            " per s; expected one, such as that of linearize(..., settle=True)"
        )


def _check_seen(model: StateSpace, Q: Array) -> None:
    """Refuse modes that neither decay nor cost anything."""
    batch = np.broadcast_shapes(model.batch, Q.shape[:-2])
    values, vectors = np.linalg.eigh(np.broadcast_to(Q, (*batch, *Q.shape[-2:])))
    root = np.sqrt(np.maximum(values, 0.0))[..., np.newaxis] * np.swapaxes(
        vectors, -1, -2
    )
    names = tuple(f"weight {i} of Q" for i in range(Q.shape[-1]))
    seen = StateSpace(
        model.A,
        model.B,
        root,
        states=model.states,
        inputs=model.inputs,
        outputs=names,
        dt=model.dt,
    )
    test = seen.observability()
    try:
        test.check(decaying=False)
    except ArgumentError as error:
        modes = str(error).split(" not observable", maxsplit=1)[0]
        raise ArgumentError(
            f"{modes} not seen by the weight Q, and nothing else makes that decay; "
            "weigh a state that moves"
        ) from None
