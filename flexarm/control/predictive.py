"""Predictive control: the best forces within limits, again at each sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._calls.arguments import array_of, common_batch, real_array
from .._calls.declared import Count, Dictionary, Floats, Positions, Share, Velocities
from .._calls.doors import checked, checked_class
from .._calls.records import PredictiveStep
from .._support.arrays import Array
from .._support.checks import short_text
from .._support.options import place_of
from ..errors import ArgumentError
from ..linear_models import StateSpace
from ._condensed import (
    Limits,
    Plan,
    Prediction,
    Program,
    Reference,
    Weights,
    backward,
    condense,
    predict,
    target,
)
from ._loops.linear_controller import LinearController
from ._matrices import sampled_cost, times
from ._within_steps import MAX_ROWS, WithinSteps
from .checks import limit_pair
from .kalman import KalmanFilter, of_estimate
from .linear_quadratic import lqr, point_of, sample_time, weight
from .states import rates, refuse_rates

SOLVED, SOFTENED, RELAXED, UNFINISHED = _core.PREDICTIVE_STATUSES
_WORDS = {
    SOFTENED: "outputs could not keep their limits",
    RELAXED: "nor rates of the forces theirs",
    UNFINISHED: "max_steps came before the optimum",
}


# Part of a limit by which outputs may exceed it before the message says so.
_MAX_EXCESS = 0.01


@checked_class
class PredictiveControl:
    r"""Model predictive control: limits of forces, their rates and outputs are kept.

    At each sample the forces of `horizon` steps are those that minimize

    .. math:: J = \sum_{k<N} \left( x_k' Q x_k + u_k' R u_k \right) + x_N' X x_N,
        \qquad x_{k+1} = A x_k + B u_k + w,

    within the limits, and the first of them acts.  x and u are deviations from the
    point of the model, or from a motion.  X is the cost of all that follows, by the
    Riccati equation, so that without active limits the law is that of `lqr`.

    Parameters
    ----------
    model : StateSpace
        Linear model at an equilibrium; or one with a leading axis, of `linearize` at
        the samples of a motion (linear time-varying), the last of them at rest.
    Q : (n, n) or (n,) array_like of float
        Weight of the states, as in `lqr`; of integrals for a continuous model.
    R : (m, m) or (m,) array_like of float
        Weight of the inputs.
    dt : float, optional
        Sample time in s; by default that of a discrete model.
    horizon : int
        Steps N of the plan.
    hold : int
        Samples for which each planned force is held: the plan reaches ``horizon * hold
        * dt`` ahead.  The law is then that of `lqr` for forces held for ``hold * dt``.
    force_limits : float, (m,) or (2, m) array_like of float, optional
        Largest forces, or smallest and largest, in N m or N; not less than nothing.
    rate_limits : float or (m,) array_like of float, optional
        Largest rate of the forces in N m/s or N/s.
    output_limits : mapping of str to float or (2,) array_like of float, optional
        Limits of outputs of the model by their names, such as strains, in their units:
        the largest size, or smallest and largest values.
    terminal : (n, n) or (n,) array_like of float, optional
        Another weight X of the last state.
    offset_free : float
        Factor from 0 to 1.  Above zero constant disturbances w of all states are
        estimated, with this part of what is new at each sample, and the joints still go
        where they should: there is no offset from wrong payloads, gravity or friction.
    observer : KalmanFilter, optional
        Discrete filter of the same model and sample time: the law then takes its
        outputs, ``law(t, y)``, in place of the state.
    u0 : float or (m,) array_like of float, optional
        Forces before the first sample, for `rate_limits`; by default those of the
        point.
    max_steps : int
        Largest number of steps of the active set at a sample, which bounds the time: in
        C about 1.1 us a step for 100 rows of limits (Xeon, gcc -O2).  A sample that
        ends before the optimum applies the forces of its last multipliers, within the
        limits of the forces, and the next one goes on from there.

    Attributes
    ----------
    K : (..., m, n) ndarray of float
        Gain without active limits.
    counts : dict
        Samples by how they ended since the last `reset`: ``"solved"``; ``"softened"``,
        outputs do not keep their limits, by as little as can be, since none of the
        forces within theirs makes them; ``"relaxed"``, rates neither; ``"unfinished"``,
        after `max_steps`.  Forces are always within their limits.
    excess : float
        Largest part of their limits by which outputs exceeded them since then, a ratio.
    most_steps : int
        Most steps of the active set at one sample.
    statuses, steps : (...) ndarray
        The same of the last sample, of each member of a batch.

    Raises
    ------
    ArgumentError
        If sizes, names or limits do not fit, or the model is not at rest at its end.
    ConvergenceError
        If the Riccati equation is not solved.

    See Also
    --------
    lqr : the same without limits.
    export_c : the same as C.

    Notes
    -----
    D. Q. Mayne, J. B. Rawlings, C. V. Rao, P. O. M. Scokaert, *Automatica* 36 (2000),
    789-814; J. M. Maciejowski, *Predictive Control with Constraints*, 2002; J. B.
    Rawlings, D. Q. Mayne, M. M. Diehl, *Model Predictive Control*, 2nd ed., 2017,
    sections 1.5 (disturbances) and 2.4 (terminal cost).  The unknowns are deviations
    from the gain, :math:`u = c - K x`: their cost is a sum of squares (J. A. Rossiter,
    B. Kouvaritakis, M. J. Rice, *Automatica* 34 (1998), 65-73), and the program that of
    the shortest vector within limits, which a dual active-set method in C solves from
    the set of the sample before (``csrc/library/active_set.h``).

    In Python the law takes it that actuators follow: give them as `force_limits` what
    they can.  Limits hold for the steps of the plan alone: with tight ones take `hold`
    so long that the arm can stop within the horizon.

    Outputs that cannot keep their limits are not refused: a strain that is too large at
    the first sample cannot be smaller by any force.  Their excess then costs a million
    times what their movement does.

    Examples
    --------
    A mass of 1 kg goes 1 m with at most 2 N and 1 m/s.  Without limits the force would
    be 10 N at once:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> body = fa.RigidBody("mass", fa.Joint.prismatic("x"), mass=1.0)
    >>> arm = fa.Arm([body])
    >>> model = fa.linearize(arm, [1.0], outputs="joint velocities")
    >>> law = fa.control.PredictiveControl(
    ...     model, [100.0, 1.0], [1.0], dt=0.05, horizon=20, force_limits=2.0,
    ...     output_limits={"mass rate": 1.0},
    ... )
    >>> run = fa.control.simulate_loop(arm, law, [0.0], [0.0], np.linspace(0, 3, 61))
    >>> run.u[0].round(9), run.qd.max().round(9)
    (array([2.]), np.float64(1.0))
    >>> run.q[-1].round(3), law.counts["solved"]
    (array([1.]), 61)
    """

    @checked
    def __init__(
        self,
        model: StateSpace,
        Q: Annotated[ArrayLike, Floats("(n, n)", "(n,)")],
        R: Annotated[ArrayLike, Floats("(m, m)", "(m,)")],
        *,
        dt: float | None = None,
        horizon: Count = 20,
        hold: Count = 1,
        force_limits: Annotated[ArrayLike, Floats("()", "(m,)", "(2, m)")]
        | None = None,
        rate_limits: Annotated[ArrayLike, Floats("()", "(m,)")] | None = None,
        output_limits: Annotated[
            Mapping[str, ArrayLike], Dictionary("limits by names of outputs")
        ]
        | None = None,
        terminal: Annotated[ArrayLike, Floats("(n, n)", "(n,)")] | None = None,
        offset_free: Share = 0.0,
        observer: KalmanFilter | None = None,
        u0: Annotated[ArrayLike, Floats("()", "(m,)")] | None = None,
        max_steps: Count = 200,
    ) -> None:
        self.dt = sample_time(model, dt)
        self.horizon, self.hold = int(horizon), int(hold)
        self.max_steps, self.offset_free = int(max_steps), float(offset_free)
        _check_sizes(model, self.horizon, self.hold)
        self._read_model(model, Q, R, terminal)
        self._limits = self._read_limits(force_limits, rate_limits, output_limits)
        self._points = WithinSteps(
            model, self.dt, self.hold, self.horizon, self._limits.outputs
        )
        m = self._B.shape[-1]
        self._u0 = self._forces[0] if u0 is None else _row("u0", u0, m)
        self.observer = observer
        if observer is not None:
            self._read_observer(observer)
        self._programs: dict[int, tuple[Program, Prediction]] = {}
        self._program(0)
        self.reset()

    def _read_model(
        self, model: StateSpace, Q: ArrayLike, R: ArrayLike, terminal: ArrayLike | None
    ) -> None:
        """Models, gains and the motion at the samples; one of all for a set point."""
        n, m = model.B.shape[-2:]
        Q, R = weight("Q", Q, n, definite=False), weight("R", R, m, definite=True)
        self.model, count = model, (model.batch or (1,))[0]
        y = np.zeros(model.C.shape[-2]) if model.y is None else model.y
        self._outputs = tuple(
            np.broadcast_to(x, (count, *x.shape[-d:]))
            for x, d in ((model.C, 2), (y, 1))
        )
        point = point_of(model)
        given = sum(np.shape(x)[-1] for x in point[:2])
        if given != n:
            raise ArgumentError(
                f"the model has {n} states for {given} positions and velocities, some "
                "of which follow the others by couplings or rigid gears; expected an "
                "arm without them, and elastic shafts for rigid gears"
            )
        last = model[-1] if model.batch else model
        step = None if model.dt is not None else self.dt * self.hold
        settled = lqr(last, Q, R, dt=step)
        if model.dt is None:
            w = Weights(*sampled_cost(model.A, model.B, Q, R, self.dt * self.hold))
            one = sampled_cost(model.A, model.B, Q, R, self.dt)[:2]
        else:
            w = Weights(model.A, model.B, Q, R, np.zeros((n, m)))
            one = model.A, model.B
        w = Weights(*(np.broadcast_to(x, (count, *x.shape[-2:])) for x in w))
        self._A, self._B = (np.broadcast_to(x, (count, *x.shape[-2:])) for x in one)
        # gains from the end on, after which the arm is at rest
        K, S, P = (np.empty((count, i, j)) for i, j in ((m, n), (m, m), (n, n)))
        for k in range(count - 1, -1, -1):
            later = k + self.hold
            after = P[later] if later < count else settled.cost
            K[k], S[k], P[k] = backward(w, k, after)
        if not model.batch:
            K[0] = settled.K
        self._weights, self._S, self._K = w, S, K
        self.K = K if model.batch else K[0]
        self._terminal = None
        if terminal is not None:
            self._terminal = weight("terminal", terminal, n, definite=False)
        both = (np.broadcast_to(x, (count, np.shape(x)[-1])) for x in point[:2])
        self._x = np.concatenate(list(both), axis=-1)
        self._forces = np.broadcast_to(point[2], (count, m))
        try:
            tips = (target(w.A[k], w.B[k], np.eye(m, n)) for k in range(count))
            self._rest = (
                np.array(list(tips))
                if self.offset_free
                else np.zeros((count, n + m, n))
            )
        except np.linalg.LinAlgError:
            raise ArgumentError(
                f"no constant forces hold {', '.join(model.states[:m])} against any "
                "disturbance, expected a model whose first states are the positions "
                "that the inputs move; leave offset_free out"
            ) from None

    def _near(self, q: Array, dt: float | None) -> LinearController:
        """The law without active limits and without estimates of disturbances."""
        K = self._K[-1]
        if self.observer is not None:
            return of_estimate(K, self.observer, None, None)
        q, qd = np.split(self._x[-1], 2)
        return LinearController.state_feedback(K, q, qd, self._forces[-1], dt=self.dt)

    def _read_limits(
        self, forces: object, rates: object, outputs: Mapping[str, ArrayLike] | None
    ) -> Limits:
        """Limits of all signals, infinite where there is none."""
        model, m = self.model, self._B.shape[-1]
        p = model.C.shape[-2]
        rate = np.full(m, np.inf) if rates is None else _row("rate_limits", rates, m)
        if not (rate > 0.0).all():
            raise ArgumentError(
                f"rate_limits is {short_text(rates)}, expected positive rates in N m/s "
                "or N/s"
            )
        y = np.array([[-np.inf], [np.inf]]) * np.ones(p)
        for name, given in (outputs or {}).items():
            i = place_of("output_limits", name, model.outputs)
            if model.D[..., i, :].any():
                raise ArgumentError(
                    f"output {name!r} feels the forces at once, expected one of "
                    "positions and velocities, such as a joint, its rate or a strain"
                )
            y[:, i] = _pair(f"output_limits[{name!r}]", given, 1)[:, 0]
        u = np.array([[-np.inf], [np.inf]]) * np.ones(m)
        if forces is not None:
            u = _pair("force_limits", forces, m)
        both = np.array([-rate, rate])
        return Limits(u, both * (self.dt * self.hold), both * self.dt, y)

    def _read_observer(self, observer: KalmanFilter) -> None:
        """Check that a filter is one of this model."""
        own = observer.model
        A = self._A[0]
        if own.dt != self.dt or own.batch or self.model.batch or own.D.any():
            raise ArgumentError(
                f"observer has the sample time {own.dt} s and the law {self.dt:g} s, "
                "expected one filter of the same dt and of one model without D, and a "
                "law of one point"
            )
        if own.A.shape != A.shape or abs(own.A - A).max() > 1e-9 * abs(A).max():
            raise ArgumentError(
                "observer is the filter of another model, expected one of the model "
                "of this law"
            )
        # errors of the estimates of states and disturbances, from sample to sample
        L, C, h = observer.gain, own.C, self.offset_free
        error = np.block(
            [[A @ (np.eye(len(A)) - L @ C) - h * L @ C, L], [-h * C, np.eye(len(C))]]
        )
        size = abs(np.linalg.eigvals(error)).max()
        if h and not size < 1.0:
            raise ArgumentError(
                f"offset_free is {h:g}, with which errors of the observer grow by "
                f"{size:.4g} at each sample, expected a smaller part, or a filter with "
                "as many independent outputs as it has gains"
            )

    # plans

    def _program(self, k: int) -> tuple[Program, Prediction]:
        """Quadratic program of a sample; that of a set point is made once."""
        k = min(k, len(self._K) - 1)
        if k in self._programs:
            return self._programs[k]
        N, (C, y) = self.horizon, self._outputs
        at = np.minimum(k + self.hold * np.arange(N + 1), len(self._K) - 1)
        K, S = list(self._K[at[:-1]]), list(self._S[at[:-1]])
        if self._terminal is not None:
            P = self._terminal
            for j in range(N - 1, -1, -1):
                K[j], S[j], P = backward(self._weights, at[j], P)
        roots = [np.linalg.cholesky(x) for x in S]
        w = self._weights
        forces, outputs, states = predict(w.A[at], w.B[at], K, roots, C[at[1:]])
        before = self._forces[max(k - 1, 0)]
        reference = Reference(before, self._forces[at[:-1]], y[at[1:]])
        within = self._points.inside(at[:-1], states, forces, C, y)
        program, prediction = condense(
            forces, outputs, C[k], self._rest[k], self._limits, reference, within
        )
        if self.hold > 1:  # a sample is less than a step: the rows stay
            rows = np.arange(len(program.next), dtype=np.intc)
            program = program._replace(next=rows)
        if len(self._K) == 1:
            self._programs[k] = program, prediction
        return program, prediction

    # the law

    @property
    def sensors(self) -> Array | None:
        """Rows of the outputs of the observer by states; None: the state."""
        return None if self.observer is None else np.asarray(self.observer.model.C)

    def reset(self, q: Positions | None = None, qd: Velocities | None = None) -> None:
        """Forget all samples, before another run.

        Parameters
        ----------
        q, qd : (..., nq), (..., nv) array_like of float, optional
            Initial state of a run in rad or m, and per s; with an observer its first
            estimate is not this but the point of the model.

        Examples
        --------
        >>> import flexarm as fa
        >>> model = fa.linearize(fa.library.pendulum(), [0.0])
        >>> law = fa.control.PredictiveControl(model, [100.0, 1.0], [0.01], dt=0.01)
        >>> first, second = law(0.0, [0.1], [0.0]), law(0.01, [0.1], [0.0])
        >>> law.reset()
        >>> sum(law.counts.values())
        0
        """
        self.counts = dict.fromkeys(_core.PREDICTIVE_STATUSES, 0)
        self.most_steps, self.excess = 0, 0.0
        self.statuses = np.zeros((), dtype="U10")
        self.steps = np.zeros((), dtype=np.intc)
        self._k = 0
        self._state: Any = None
        self._planned: tuple[Prediction, tuple[int, ...]] | None = None

    def plan(self) -> Plan:
        """Forces and outputs of all steps that the last sample has planned.

        Returns
        -------
        plan : Plan
            ``forces`` (..., horizon, m) in N m or N, and ``outputs`` (..., horizon, p)
            after each step.

        Raises
        ------
        ArgumentError
            If there was no sample yet.

        Examples
        --------
        >>> import flexarm as fa
        >>> model = fa.linearize(fa.library.pendulum(), [0.0])
        >>> law = fa.control.PredictiveControl(
        ...     model, [100.0, 1.0], [0.01], dt=0.01, force_limits=15.0
        ... )
        >>> u = law(0.0, [-0.5], [0.0])
        >>> u, law.plan().forces[0].round(9), law.plan().outputs.shape
        (array([15.]), array([15.]), (20, 1))
        """
        if self._planned is None:
            raise ArgumentError("no sample was computed, expected a call of the law")
        prediction, batch = self._planned
        parts = prediction.plan(self._state[0], self._state[1])
        return Plan(*(x.reshape(*batch, *x.shape[1:]) for x in parts))

    def __call__(
        self, t: float, q: Annotated[ArrayLike, Floats()], qd: Velocities | None = None
    ) -> Array:
        """Forces (..., m) of a sample in N m or N; samples follow each other."""
        y = self._measured(q, qd)
        m, n = self._B.shape[-1], self._B.shape[-2]
        batch, flat = y.shape[:-1], np.ascontiguousarray(y.reshape(-1, y.shape[-1]))
        k = min(self._k, len(self._K) - 1)
        (program, prediction), before = self._program(k), max(k - 1, 0)
        count, rows = len(flat), len(program.next)
        if self._state is None or len(self._state[0]) != count:
            p = np.zeros((count, 2 * n + m))
            p[:, n : n + m] = self._u0 - self._forces[before]
            self._state = (p, *_no_rows(count, rows), np.zeros(count, dtype=np.intc))
        elif self._state[1].shape[-1] != rows:  # other rows of a motion
            self._state = (self._state[0], *_no_rows(count, rows), self._state[3])
        u, found = np.empty((count, m)), np.empty((2, count), dtype=np.intc)
        observer = self.observer
        keep = np.ascontiguousarray
        _core.predictive_step(
            PredictiveStep(
                A=keep(self._A[before]),
                B=keep(self._B[before]),
                **program._asdict(),
                h=self.offset_free,
                max_steps=self.max_steps,
                C=None if observer is None else keep(observer.model.C),
                L=None if observer is None else keep(observer.gain),
                measured=flat,
                u=u,
                **dict(zip(("p", "y", "side", "begun"), self._state, strict=True)),
                status=found[0],
                steps=found[1],
            )
        )
        self._planned = prediction, batch
        C, y_rest = (x[k] for x in self._outputs)
        over = self._points.excess(self._state[0][:, :n], C, y_rest)
        self.excess = max(self.excess, over)
        self._count(found, batch)
        self._k += 1
        return np.asarray(u.reshape(*batch, m) + self._forces[k])

    @property
    def _rest_outputs(self) -> Array:
        """Measured outputs (samples, p) at the points."""
        if self.observer is None:
            return self._x
        return times(self.observer.model.C, self._x)

    def _measured(self, q: ArrayLike, qd: ArrayLike | None) -> Array:
        """Outputs (..., p) of a sample as deviations."""
        rest = self._rest_outputs[min(self._k, len(self._K) - 1)]
        if self.observer is None:
            both = {"q": real_array("q", q), "qd": real_array("qd", rates(qd))}
            common_batch({name: x.shape for name, x in both.items()})
            parts = np.broadcast_arrays(*both.values())
            x = np.concatenate(parts, axis=-1)
            if x.shape[-1] != len(rest):
                raise ArgumentError(
                    f"the state has {x.shape[-1]} positions and velocities, expected "
                    f"the {len(rest)} states of the model; joints with quaternions "
                    "have more positions, which PredictiveControl does not take"
                )
            return np.asarray(x - rest)
        refuse_rates(qd)
        y = real_array("y", q)
        if y.ndim == 0 or y.shape[-1] != len(rest):
            raise ArgumentError(f"y has shape {y.shape}, expected (..., {len(rest)})")
        return np.asarray(y - rest)

    def _exported(self) -> dict[str, Any]:
        """Arrays of the law of one point, for C."""
        if self.model.batch:
            raise ArgumentError(
                f"the law follows a motion of {len(self._K)} samples, expected one of "
                "one point; each sample of a motion has other matrices"
            )
        names = ("A", "B", *Program._fields, "h", "max_steps", "C", "L")
        observer = self.observer
        seen = (None, None) if observer is None else (observer.model.C, observer.gain)
        options = (self.offset_free, self.max_steps, *seen)
        values = (self._A[0], self._B[0], *self._program(0)[0], *options)
        points = {"rest": self._rest_outputs[0], "forces": self._forces[0]}
        points["before"] = self._u0 - self._forces[0]
        return dict(zip(names, values, strict=True)) | points

    def _count(self, found: NDArray[np.intc], batch: tuple[int, ...]) -> None:
        status, steps = found
        for i, many in enumerate(np.bincount(status, minlength=4).tolist()):
            self.counts[_core.PREDICTIVE_STATUSES[i]] += many
        self.most_steps = max(self.most_steps, int(steps.max(initial=0)))
        self.statuses = np.array(_core.PREDICTIVE_STATUSES)[status].reshape(batch)
        self.steps = steps.reshape(batch).copy()

    @property
    def remark(self) -> str:
        """Sentence about the samples that kept fewer limits than asked, or nothing."""
        total = sum(self.counts.values())
        parts = [
            f"{words} at {self.counts[status]} of {total} samples"
            for status, words in _WORDS.items()
            if self.counts[status]
        ]
        if not parts and self.excess > _MAX_EXCESS:  # of a plant that is not the model
            over = f"{100.0 * self.excess:.2g} %"
            parts.append(f"outputs exceeded their limits by up to {over} at samples")
        return ", ".join(parts)

    def __repr__(self) -> str:
        n, m = self._B.shape[-2:]
        motion = f" along {len(self._K)} samples" if self.model.batch else ""
        rows = len(self._program(0)[0].next)
        return (
            f"<PredictiveControl: {n} states, {m} forces, {self.horizon} steps of "
            f"{self.dt * self.hold:g} s{motion}, {rows} rows of limits>"
        )


def _no_rows(count: int, rows: int) -> tuple[Array, NDArray[np.intc]]:
    return np.zeros((count, rows)), np.zeros((count, rows), dtype=np.intc)


def _check_sizes(model: StateSpace, horizon: int, hold: int) -> None:
    """Refuse models and plans of a wrong kind."""
    if len(model.batch) > 1:
        raise ArgumentError(
            f"the model has the leading axes {model.batch}, expected one model, or one "
            "axis: the samples of a motion"
        )
    if model.dt is not None and hold > 1:
        raise ArgumentError(
            f"hold is {hold} and the model is discrete, expected a continuous model "
            "for steps longer than a sample"
        )
    rows = horizon * (2 * model.B.shape[-1] + model.C.shape[-2])
    if rows > MAX_ROWS:
        raise ArgumentError(
            f"horizon is {horizon}, which makes {rows} rows of limits, expected at "
            f"most {MAX_ROWS}; take fewer steps and hold each of them longer"
        )


def _row(name: str, value: object, m: int) -> Array:
    row = array_of(name, value, ((), (m,)), f"one number or ({m},), one for each force")
    return np.array(np.broadcast_to(row, (m,)))


def _pair(name: str, value: object, m: int) -> Array:
    """Smallest and largest values (2, m)."""
    given = real_array(name, value)
    if m == 1 and given.shape == (2,):
        given = given[:, np.newaxis]
    pair = limit_pair(name, given, m, "", "values")
    if not (pair[0] < pair[1]).all():
        raise ArgumentError(
            f"{name} is {short_text(value)}, expected a smallest value below the "
            "largest one"
        )
    return pair
