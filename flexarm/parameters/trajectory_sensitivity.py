"""Sensitivities of trajectories, forward and adjoint."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import refuse_linear
from .._calls.arm_like import ArmLike
from .._calls.declared import Choice, Floats, Positions, Share, StepLength, Velocities
from .._calls.doors import checked, checked_class
from .._calls.threads import ONE
from .._support.arrays import Array
from .._support.interrupts import uninterrupted
from ..errors import ArgumentError, NotFiniteError, SimulationWarning
from ..simulation.methods import simulate
from ..simulation.run import times
from ..simulation.trajectory import Trajectory
from ._steps import (
    Differentiated,
    Steps,
    Weights,
    first_state,
    newmark_steps,
    runge_kutta_steps,
    weights_of,
)
from .tangent import ArmTangent

INTEGRATORS = ("rk4", "newmark", "linear-acceleration", "generalized-alpha")


# Steps with stages in memory.
_CHUNK_SIZE = 1024


class TrajectoryGradient(NamedTuple):
    """Gradient of a scalar function of a trajectory.

    Attributes
    ----------
    q0, qd0 : (..., nv) ndarray of float
        By local displacements of the first positions, by the first velocities.
    torque : (..., n, nu or nv) ndarray of float
        By the samples of the forces.
    p : (..., k) ndarray of float
        By the parameters.
    """

    q0: Array
    qd0: Array
    torque: Array
    p: Array


class TrajectoryChange(NamedTuple):
    """Change of a trajectory to first order.

    Attributes
    ----------
    q, qd : (..., n, nv) ndarray of float
        Local displacements of the positions, changes of the velocities.
    """

    q: Array
    qd: Array


@checked_class
@dataclass(frozen=True, eq=False)
class TrajectorySensitivities:
    r"""Derivatives of a trajectory as linear maps, step by step.

    The state :math:`x = (\delta q, \delta\dot q)`, with local displacements of the
    positions, obeys over each step

    .. math:: x_{i+1} = \Phi_i x_i + \Gamma_i \delta\tau_i + \Gamma'_i \delta\tau_{i+1}
        + P_i\,\delta p .

    Attributes
    ----------
    trajectory : Trajectory
        Motion at the samples.
    p : (k,) ndarray of float
        Parameters, perhaps none.
    """

    trajectory: Trajectory
    p: Array
    _steps: Steps
    _substeps: int
    _hold: bool

    def forward(
        self,
        q0: Velocities = 0.0,
        qd0: Velocities = 0.0,
        torque: Annotated[ArrayLike, Floats("(..., n, nu or nv)")] = 0.0,
        p: Annotated[ArrayLike, Floats("(..., k)")] = 0.0,
    ) -> TrajectoryChange:
        """Change of the trajectory for changes of initial state, forces and parameters.

        Parameters
        ----------
        q0, qd0 : (..., nv) array_like of float
            Local displacement of the first positions, change of the first velocities.
        torque : (..., n, nu or nv) array_like of float
            Change of the samples of the forces.
        p : (..., k) array_like of float
            Change of the parameters.

        Returns
        -------
        change : TrajectoryChange
            Change to first order at each sample.

        Examples
        --------
        A mass of 1 kg on a spring of 4 N/m, with its start changed by 1 mm, ends with
        a change of cos(2) mm:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> joint = fa.Joint.prismatic(stiffness=4.0)
        >>> arm = fa.Arm([fa.RigidBody("cart", joint, mass=1.0)], gravity=(0, 0, 0))
        >>> t = np.linspace(0.0, 1.0, 201)
        >>> run = fa.trajectory_sensitivities(arm, [0.0], [0.0], t)
        >>> change = run.forward(q0=[1e-3])
        >>> float((1e3 * change.q[-1, 0]).round(6))
        -0.416147
        """
        _, n, nv, m, k = self._sizes
        first = [self._given("q0", q0, (nv,)), self._given("qd0", qd0, (nv,))]
        x = np.concatenate(first, axis=-1)[..., np.newaxis]
        tau = self._given("torque", torque, (n, m))
        dp = self._given("p", p, (k,))
        fine = refined(tau, self._substeps, self._hold)
        found = self._run(x, fine[..., np.newaxis], dp[..., np.newaxis])[..., 0]
        return TrajectoryChange(*np.split(self._shaped(found), [nv], axis=-1))

    def adjoint(
        self,
        q: Annotated[ArrayLike, Floats("(..., n, nv)")] = 0.0,
        qd: Annotated[ArrayLike, Floats("(..., n, nv)")] = 0.0,
    ) -> TrajectoryGradient:
        """Gradient of a function of the trajectory from its derivatives by samples.

        Parameters
        ----------
        q, qd : (..., n, nv) array_like of float
            Derivatives of the function by local displacements of the positions and by
            the velocities at each sample.

        Returns
        -------
        gradient : TrajectoryGradient
            Gradient by initial state, forces and parameters, from one sweep in reverse;
            explicit derivatives of the function by forces and parameters must be added.
        """
        B, n, nv, m, k = self._sizes
        parts = [self._given("q", q, (n, nv)), self._given("qd", qd, (n, nv))]
        s = self._steps
        N, size = s.state.shape[1:3]
        cost = np.zeros((B, n, size))
        cost[..., : 2 * nv] = np.concatenate(parts, axis=-1)
        tau, dp = np.zeros((B, N + 1, m)), np.zeros((B, k))
        back = cost[:, -1]
        for i in reversed(range(N)):
            row = back[:, np.newaxis]
            tau[:, i + 1] += (row @ s.after[:, i])[:, 0]
            tau[:, i] += (row @ s.before[:, i])[:, 0]
            dp += (row @ s.parameters[:, i])[:, 0]
            back = (row @ s.state[:, i])[:, 0]
            if i % self._substeps == 0:
                back = back + cost[:, i // self._substeps]
        back = (back[:, np.newaxis] @ s.first)[:, 0]
        tau[:, 0] += back[:, 2 * nv : 2 * nv + m]
        dp += back[:, 2 * nv + m :]
        batch = self.trajectory.q.shape[:-2]
        samples = gathered(tau, self._substeps, self._hold)
        shapes = (back[:, :nv], back[:, nv : 2 * nv], samples, dp)
        return TrajectoryGradient(*(x.reshape(*batch, *x.shape[1:]) for x in shapes))

    @property
    def state(self) -> Array:
        """Derivatives of each state by the first one, (..., n, 2 nv, 2 nv)."""
        B, _, nv, _, _ = self._sizes
        eye = np.broadcast_to(np.eye(2 * nv), (B, 2 * nv, 2 * nv))
        return self._shaped(self._run(eye, None, None))

    @property
    def parameters(self) -> Array:
        """Derivatives of each state by the parameters, (..., n, 2 nv, k)."""
        B, _, nv, _, k = self._sizes
        none = np.zeros((B, 2 * nv, k))
        eye = np.broadcast_to(np.eye(k), (B, k, k))
        return self._shaped(self._run(none, None, eye))

    @property
    def torque(self) -> Array:
        """Derivatives of each state by all samples, (..., n, 2 nv, n, nu or nv)."""
        B, n, nv, m, _ = self._sizes
        unit = np.eye(n * m).reshape(n, m, n * m)
        fine = refined(unit[np.newaxis], self._substeps, self._hold)
        fine = np.broadcast_to(fine, (B, *fine.shape[1:]))
        x = self._shaped(self._run(np.zeros((B, 2 * nv, n * m)), fine, None))
        return x.reshape(*x.shape[:-1], n, m)

    @property
    def _sizes(self) -> tuple[int, int, int, int, int]:
        """Numbers of trajectories, samples, velocities, forces, parameters."""
        s = self._steps
        n = len(self.trajectory.t)
        return len(s.state), n, self.trajectory.arm.nv, s.before.shape[-1], len(self.p)

    def _run(self, x: Array, tau: Array | None, dp: Array | None) -> Array:
        """States (B, n, 2 nv, c) of the linear recursion."""
        s, each = self._steps, self._substeps
        _, _, nv, m, _ = self._sizes
        x = s.first[..., : 2 * nv] @ x
        if tau is not None:
            x = x + s.first[..., 2 * nv : 2 * nv + m] @ tau[:, 0]
        if dp is not None:
            x = x + s.first[..., 2 * nv + m :] @ dp
        result = [x]
        for i in range(s.state.shape[1]):
            x = s.state[:, i] @ x
            if tau is not None:
                x = x + s.before[:, i] @ tau[:, i] + s.after[:, i] @ tau[:, i + 1]
            if dp is not None:
                x = x + s.parameters[:, i] @ dp
            if (i + 1) % each == 0:
                result.append(x)
        return np.stack(result, axis=1)[..., : 2 * nv, :]

    def _given(self, name: str, value: ArrayLike, core: tuple[int, ...]) -> Array:
        batch = self.trajectory.q.shape[:-2]
        array = np.asarray(value, dtype=np.float64)
        try:
            full = np.broadcast_to(array, (*batch, *core))
        except ValueError:
            raise ArgumentError(
                f"{name} has shape {array.shape}, expected {(*batch, *core)}"
            ) from None
        return full.reshape(len(self._steps.state), *core)

    def _shaped(self, x: Array) -> Array:
        return x.reshape(*self.trajectory.q.shape[:-2], *x.shape[1:])


@checked
def trajectory_sensitivities(
    arm: ArmLike,
    q0: Positions,
    qd0: Velocities,
    t: Annotated[ArrayLike, Floats("(n,)")],
    *,
    torque: Annotated[ArrayLike, Floats("(..., n, nu)", "(..., n, nv)")] | None = None,
    interpolation: Annotated[str, Choice("linear", "hold")] = "linear",
    method: Annotated[str, Choice(*INTEGRATORS)] = "rk4",
    max_step: StepLength | None = None,
    spectral_radius: Share = 0.9,
    make_arm: Callable[[Array], ArmLike] | None = None,
    p: Annotated[ArrayLike, Floats("(k,)")] | None = None,
    scale: Annotated[ArrayLike, Floats("(k,)", "()")] | None = None,
    threads: int = ONE,
) -> TrajectorySensitivities:
    r"""Differentiate a simulated motion by its initial state, forces and parameters.

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` velocities and ``nu`` actuators, without constraints.
    q0, qd0 : (..., nq), (..., nv) array_like of float
        Initial state; leading axes are a batch of trajectories.
    t : (n,) array_like of float
        Times of the samples in s.
    torque : (..., n, nu) or (..., n, nv) array_like of float, optional
        Samples of the forces; none by default.
    interpolation : {"linear", "hold"}
        Interpolation of the forces between samples, as in `simulate`.
    method : {"rk4", "newmark", "linear-acceleration", "generalized-alpha"}
        Methods with a fixed step, as in `simulate`.
    max_step : float, optional
        Longest step in s; by default as in `simulate`.
    spectral_radius : float
        Of ``"generalized-alpha"``, as in `simulate`.
    make_arm : callable, optional
        Function ``make_arm(p)`` that returns the arm of parameters (k,), `arm` at `p`;
        see `parameter_derivatives`.
    p, scale : (k,) array_like of float, optional
        Parameters, and their typical sizes.
    threads : int
        Largest number of threads of the simulation.

    Returns
    -------
    sensitivities : TrajectorySensitivities
        Linear maps: `forward` for directions, `adjoint` for the gradient of a cost in
        one sweep, and `state`, `torque`, `parameters` for whole matrices.

    Raises
    ------
    ArgumentError
        If `torque` is not an array, the arm has constraints, linear fidelity or joints
        ``"subspace"``, or `make_arm` returns another arm.
    NotFiniteError
        If the motion diverges.

    See Also
    --------
    simulate : the motion.
    parameter_derivatives : derivatives of forces by parameters.

    Notes
    -----
    These are the exact derivatives of the numbers that a method computes, not of the
    solution that they approximate: the gradient of a cost is that of the computed cost,
    for any step.  The stages of Runge-Kutta are computed again, those of all steps and
    trajectories in one call, with the derivatives of forward dynamics; then the
    matrices of all steps are multiplied.  Steps of the implicit methods are
    differentiated as solutions of their equations, which Newton's iteration solves to
    about 1e-9.  Derivatives by parameters are as accurate as those of
    `parameter_derivatives`.  Quaternions change by local displacements, as in
    `integrate`: ``q0`` moves along nv directions.

    Memory is 8 (2 nv) (2 nv + 2 nu + k) bytes for each step, 4 nv in place of 2 nv for
    the implicit methods; that of `torque` grows with the square of n.  Methods that
    choose their steps by the solution, and ROS34PW2, are not supported.

    References
    ----------
    .. [1] Y. Cao, S. Li, L. Petzold, R. Serban, "Adjoint sensitivity analysis for
       differential-algebraic equations", *SIAM J. Sci. Comput.* 24(3), 2003, 1076-1089.
    .. [2] W. Hager, "Runge-Kutta methods in optimal control and the transformed adjoint
       system", *Numerische Mathematik* 87, 2000, 247-282.
    .. [3] H. Munthe-Kaas, *Applied Numerical Mathematics* 29, 1999 (quaternions).

    Examples
    --------
    A mass of 1 kg on a spring of 4 N/m, displaced by 1 m: cos 2t and -2 sin 2t:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> joint = fa.Joint.prismatic(stiffness=4.0)
    >>> arm = fa.Arm([fa.RigidBody("cart", joint, mass=1.0)], gravity=(0, 0, 0))
    >>> t = np.linspace(0.0, 1.0, 201)
    >>> run = fa.trajectory_sensitivities(arm, [0.0], [0.0], t)
    >>> run.state[-1, :, 0].round(6)
    array([-0.416147, -1.818595])

    The gradient of the position at the end by initial state and by impulses:

    >>> cost = np.zeros((201, 1))
    >>> cost[-1] = 1.0
    >>> gradient = run.adjoint(q=cost)
    >>> float(gradient.q0[0].round(6)), float(gradient.qd0[0].round(6))
    (-0.416147, 0.454649)
    >>> float((gradient.torque[100, 0] / 0.005).round(4))  # sin(2 (1 - 0.5)) / 2
    0.4207
    """
    t = times(t)
    refuse_undifferentiated(arm)
    tangent = None
    if make_arm is not None:
        tangent = ArmTangent(make_arm, p, scale)
        if tangent.arm != arm:
            raise ArgumentError(
                "make_arm(p) is another arm than the one given, expected the same one; "
                "pass make_arm(p) as arm"
            )
    elif p is not None:
        raise ArgumentError("p is given without make_arm, expected both or neither")
    return sensitivities(
        arm,
        q0,
        qd0,
        t,
        tangent,
        torque=torque,
        interpolation=interpolation,
        method=method,
        max_step=max_step,
        spectral_radius=spectral_radius,
        threads=threads,
    )


def sensitivities(
    arm: ArmLike,
    q0: ArrayLike,
    qd0: ArrayLike,
    t: Array,
    tangent: ArmTangent | None,
    *,
    torque: object,
    max_step: float | None,
    interpolation: str = "linear",
    method: str = "rk4",
    spectral_radius: float = 0.9,
    threads: int = ONE,
) -> TrajectorySensitivities:
    """Differentiate a run, also by the parameters of a tangent."""
    motion = partial(
        simulate,
        arm,
        q0,
        qd0,
        interpolation=interpolation,
        method=method,
        spectral_radius=spectral_radius,
        threads=threads,
        progress=False,
    )
    run = uninterrupted(motion(t, torque=torque, max_step=max_step))
    if np.any(run.completed < len(run.t)):
        raise NotFiniteError(
            f"the motion has no sensitivities: {run.message}; expected one that "
            "reaches the last time"
        )
    hold = interpolation == "hold"
    # states at the ends of all steps
    each = int(np.max(run.steps, initial=0)) // max(len(t) - 1, 1) or 1
    count = int(np.prod(run.q.shape[:-2], dtype=int))
    samples = run.tau.reshape(count, len(t), run.tau.shape[-1])
    tau, grid = refined(samples, each, hold), _grid(t, each)
    q, qd = run.q, run.qd
    if each > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimulationWarning)  # of the first run
            full = tau.reshape(*run.q.shape[:-2], *tau.shape[1:])
            fine = uninterrupted(motion(grid, torque=full, max_step=inf))
        q, qd = fine.q, fine.qd
    # derivatives of all steps
    start = q.reshape(count, -1, arm.nq), qd.reshape(count, -1, arm.nv)
    of = Differentiated(arm, tau.shape[-1], tangent)
    weights = None if method == "rk4" else weights_of(method, float(spectral_radius))
    steps = steps_of(of, start, tau, np.diff(grid), hold, weights)
    values = np.zeros(0) if tangent is None else tangent.p
    return TrajectorySensitivities(run, values, steps, each, hold)


def _grid(t: Array, each: int) -> Array:
    """Ends of all steps."""
    inner = t[:-1, np.newaxis] + np.diff(t)[:, np.newaxis] * (np.arange(each) / each)
    return np.append(inner, t[-1])


def refined(samples: Array, each: int, hold: bool) -> Array:
    """Samples (B, n, ...) at the ends of all steps, (B, N + 1, ...)."""
    if each == 1:
        return samples
    part = np.zeros(each) if hold else np.arange(each) / each
    part = part.reshape(each, *(1,) * (samples.ndim - 2))
    left = samples[:, :-1, np.newaxis]
    inner = left + part * (samples[:, 1:, np.newaxis] - left)
    B, n = samples.shape[:2]
    inner = inner.reshape(B, (n - 1) * each, *samples.shape[2:])
    return np.concatenate([inner, samples[:, -1:]], axis=1)


def gathered(fine: Array, each: int, hold: bool) -> Array:
    """Transpose of `refined`, for gradients (B, N + 1, m)."""
    if each == 1:
        return fine
    B, N, m = len(fine), fine.shape[1] - 1, fine.shape[2]
    part = np.zeros(each) if hold else np.arange(each) / each
    inner = fine[:, :-1].reshape(B, N // each, each, m)
    result = np.zeros((B, N // each + 1, m))
    result[:, :-1] += np.einsum("j,bnjm->bnm", 1.0 - part, inner)
    result[:, 1:] += np.einsum("j,bnjm->bnm", part, inner)
    result[:, -1] += fine[:, -1]
    return result


def steps_of(
    of: Differentiated,
    states: tuple[Array, Array],
    tau: Array,
    h: Array,
    hold: bool,
    weights: Weights | None,
) -> Steps:
    """Derivatives of all steps of all trajectories, in parts.

    Runge-Kutta without `weights` of an implicit method.
    """
    B, N = len(tau), len(h)

    def flat(x: Array, last: bool) -> Array:
        part = x[:, 1:] if last else x[:, :-1]
        return part.reshape(B * N, x.shape[-1])

    start, end = (tuple(flat(x, last) for x in states) for last in (False, True))
    forces, lengths = (flat(tau, False), flat(tau, True)), np.tile(h, B)
    parts = []
    for i in range(0, max(B * N, 1), _CHUNK_SIZE):
        some = slice(i, i + _CHUNK_SIZE)
        own = (start[0][some], start[1][some])
        ends = (forces[0][some], forces[1][some])
        if weights is None:
            parts.append(runge_kutta_steps(of, own, ends, lengths[some], hold))
        else:
            after = (end[0][some], end[1][some])
            made = newmark_steps(of, own, after, ends, lengths[some], hold, weights)
            parts.append(made)
    joined = [np.concatenate(x) for x in zip(*parts, strict=True)]
    initial = (states[0][:, 0], states[1][:, 0])
    first = first_state(of, initial, tau[:, 0], weights is not None)
    by_step = [x.reshape(B, N, *x.shape[1:]) for x in joined]
    return Steps(by_step[0], by_step[1], by_step[2], by_step[3], first)


def refuse_undifferentiated(arm: ArmLike) -> None:
    """Refuse runs whose steps have no derivatives here."""
    refuse_linear(arm, "trajectory sensitivities")
    if arm._held:
        raise ArgumentError(
            f"the arm has {len(arm._held)} constraints, expected none: steps on "
            "constraints are not differentiated"
        )
    for body in arm.bodies:
        if body.joint.kind == "subspace":
            raise ArgumentError(
                f"the joint of body {body.name!r} is of kind 'subspace', whose "
                "positions have more directions than velocities; expected other joints"
            )
