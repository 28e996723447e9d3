"""Motion in time: fixed-step Runge-Kutta in C, or any solver of SciPy, one call."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._explain import expected, real_array
from .errors import ArgumentError

if TYPE_CHECKING:
    from .arm import Arm

Array = NDArray[np.float64]

_SCIPY = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
_METHODS = ("rk4", *_SCIPY)
_INTERPOLATIONS = ("linear", "hold")
_MOST_STEPS = 2**31 - 1  # between two samples, an int in C
_ORDINARY = 1e100  # a state beyond it diverges, and the forces with it


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Motion of an arm, or of a batch of them, on a grid of times.

    Samples that a run did not reach are NaN; `success` and `message` tell.

    Attributes
    ----------
    arm : Arm
        The arm.
    t : (n,) ndarray of float
        Times in s.
    q, qd : (..., n, nq), (..., n, nv) ndarray of float
        Positions and velocities.
    tau : (..., n, nu or nv) ndarray of float
        Forces that acted, in N m or N.
    method : str
        Integrator.
    success : bool
        Whether every trajectory reached the last time.
    message : str
        What happened.
    """

    arm: Arm
    t: Array
    q: Array
    qd: Array
    tau: Array
    method: str = "rk4"
    success: bool = True
    message: str = "reached the last time"

    @property
    def completed(self) -> Any:
        """(...) number of samples that each trajectory reached."""
        return np.isfinite(self.q).all(-1).argmin(-1) + (
            self.q.shape[-2] * np.isfinite(self.q).all((-1, -2))
        )

    @property
    def kinetic(self) -> Array:
        """(..., n) kinetic energy in J."""
        return np.asarray(self._quiet("kinetic_energy", self.q, self.qd))

    @property
    def potential(self) -> Array:
        """(..., n) potential energy in J."""
        return np.asarray(self._quiet("potential_energy", self.q))

    @property
    def energy(self) -> Array:
        """(..., n) total energy in J."""
        return self.kinetic + self.potential

    @property
    def tip(self) -> Array:
        """(..., n, 3) position of the tip in m."""
        return np.asarray(
            self._quiet("node_pose", self.arm.tip_node, self.q)[..., :3, 3]
        )

    def _quiet(self, kernel: str, *operands: Any) -> Any:
        return self.arm._model.quiet(kernel)(*operands)

    def __repr__(self) -> str:
        batch = " x ".join(map(str, self.q.shape[:-2]))
        many = f"{batch} trajectories" if batch else "one trajectory"
        return (
            f"<Trajectory of {self.arm.name!r}: {many}, {len(self.t)} times from "
            f"{self.t[0]:g} to {self.t[-1]:g} s, {self.method}; {self.message}>"
        )


def simulate(
    arm: Arm,
    q0: Any,
    qd0: Any,
    t: Any,
    *,
    torque: Any = None,
    interpolation: str = "linear",
    method: str = "rk4",
    max_step: float | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    progress: bool | None = None,
) -> Trajectory:
    """Motion from an initial state under given forces.

    Parameters
    ----------
    arm : Arm
        Arm with ``nq`` positions and ``nv`` velocities, ``nu`` of them of actuated
        joints.
    q0, qd0 : (..., nq), (..., nv) array_like of float
        Initial state.  Leading axes broadcast; a batch runs in SIMD lanes at once.
    t : (n,) array_like of float
        Times of the samples in s, increasing; the first is that of `q0`.
    torque : None, (..., n, nu) array_like of float, or callable
        Nothing, samples at the times `t`, or ``torque(t, q, qd)`` that returns
        ``(..., nu)`` for the whole batch.  ``nv`` entries are taken as forces on all
        coordinates.
    interpolation : {"linear", "hold"}
        Between samples of `torque`: piecewise linear, or held until the next one.
    method : {"rk4", "RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"}
        Classical Runge-Kutta of order four with a fixed step, in C [1]_, or a solver
        of `scipy.integrate.solve_ivp` with error control, one trajectory at a time.
    max_step : float, optional
        Longest step in s.  By default one ``"rk4"`` step from sample to sample.
    rtol, atol : float
        Tolerances of the SciPy solvers.
    progress : bool, optional
        Progress bar (tqdm); by default for runs of more than two seconds.

    Returns
    -------
    Trajectory
        Samples at the times `t`.  A run that is interrupted by Ctrl-C or diverges
        returns what it has, NaN after that, with ``success=False``.

    Raises
    ------
    ArgumentError
        If an argument has the wrong shape or value, `t` does not increase, or `torque`
        returns the wrong shape.

    Notes
    -----
    A torque function is called once more than the stages need, at the first time, to
    learn how many forces it gives.  An exception in it passes through and carries what
    was computed as its attribute ``trajectory``.

    References
    ----------
    .. [1] E. Hairer, S. Norsett, G. Wanner, *Solving Ordinary Differential Equations
       I*, 1993, section II.1.

    Examples
    --------
    A pendulum released level keeps its energy:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=1.0, com=1.0)
    >>> run = fa.simulate(arm, [0.0], [0.0], np.linspace(0.0, 1.0, 1001))
    >>> bool(abs(run.energy - run.energy[0]).max() < 1e-9)
    True

    Three of them at once:

    >>> fa.simulate(arm, [[0.0], [0.1], [0.2]], [0.0], [0.0, 0.01]).q.shape
    (3, 2, 1)
    """
    t = _times(t)
    if method not in _METHODS:
        raise ArgumentError(
            f"method is {method!r}, expected one of {', '.join(map(repr, _METHODS))}"
        )
    if interpolation not in _INTERPOLATIONS:
        raise ArgumentError(
            f"interpolation is {interpolation!r}, expected one of "
            f"{', '.join(map(repr, _INTERPOLATIONS))}"
        )
    _check_step(max_step, t)
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, Real) or not 0.0 < value < np.inf:
            raise ArgumentError(
                f"{name} is {value!r}, expected a small positive number"
            )
    run = _Run(arm, _state(arm, "q0", q0), _state(arm, "qd0", qd0), t, torque)
    run.hold = interpolation == "hold"
    if method != "rk4" and run.function is not None and run.batch != ():
        raise ArgumentError(
            f"method {method!r} integrates one trajectory at a time, so a torque "
            "function cannot see the batch; expected method 'rk4', samples, or one "
            "trajectory"
        )
    note = ""
    try:
        run.start()
        if method == "rk4":
            _run_rk4(run, max_step, progress)
        else:
            note = _run_scipy(run, method, max_step, rtol, atol, progress)
    except KeyboardInterrupt:
        note = "interrupted"
    except Exception as error:
        error.trajectory = run.result(method, "stopped by an exception")  # type: ignore[attr-defined]
        raise
    return run.result(method, note)


def _check_step(max_step: Any, t: Array) -> None:
    if max_step is None:
        return
    step = float(max_step) if isinstance(max_step, Real) else np.nan
    if not step > 0.0:
        raise ArgumentError(f"max_step is {max_step!r}, expected a positive time in s")
    longest = float(np.diff(t).max(initial=0.0))
    if longest > _MOST_STEPS * step:
        raise ArgumentError(
            f"max_step is {step:g} s with {longest:g} s between two times, expected at "
            f"most {_MOST_STEPS:.0e} steps; take longer ones"
        )


def _times(t: Any) -> Array:
    array = np.array(real_array("t", t))
    if array.ndim != 1 or len(array) == 0:
        raise ArgumentError(
            f"t has shape {array.shape}, expected one axis with at least one time"
        )
    if not np.isfinite(array).all():
        raise ArgumentError("t has an entry that is not finite, expected times in s")
    falls = np.flatnonzero(np.diff(array) <= 0.0)
    if len(falls):
        k = int(falls[0])
        raise ArgumentError(
            f"t does not increase: t[{k + 1}] = {array[k + 1]:g} comes after "
            f"t[{k}] = {array[k]:g}, expected increasing times"
        )
    return array


def _state(arm: Arm, name: str, value: Any) -> Array:
    array = np.array(real_array(name, value))
    ((size, counted),) = expected(arm, name).items()
    if array.ndim == 0 or array.shape[-1] != size:
        raise ArgumentError(
            f"{name} has shape {array.shape}, expected a last axis of {counted}"
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        at = ", ".join(str(int(i)) for i in bad[0])
        raise ArgumentError(
            f"{name}[{at}] is {array[tuple(bad[0])]}, expected finite numbers"
        )
    return array


class _Run:
    """Arrays of one call of `simulate`: batch axes flattened, NaN until reached."""

    def __init__(self, arm: Arm, q0: Array, qd0: Array, t: Array, torque: Any) -> None:
        self.arm, self.t, self.hold = arm, t, False
        self.widths = {arm.nu, arm.nv}  # of what the torque function may return
        shapes = [q0.shape[:-1], qd0.shape[:-1]]
        self.samples = None
        self.function = torque if callable(torque) else None
        n_tau = arm.nu
        if torque is not None and self.function is None:
            self.samples = self._check_samples(torque)
            shapes.append(self.samples.shape[:-2])
            n_tau = self.samples.shape[-1]
        try:
            self.batch = np.broadcast_shapes(*shapes)
        except ValueError:
            raise ArgumentError(
                "leading axes do not broadcast: q0 "
                f"{shapes[0]}, qd0 {shapes[1]}"
                + (f", torque {shapes[2]}" if len(shapes) > 2 else "")
                + ", expected equal lengths or 1"
            ) from None
        count, n = int(np.prod(self.batch, dtype=int)), len(t)
        self.q = np.full((count, n, arm.nq), np.nan)
        self.qd = np.full((count, n, arm.nv), np.nan)
        self.q[:, 0] = np.broadcast_to(q0, (*self.batch, arm.nq)).reshape(count, arm.nq)
        self.qd[:, 0] = np.broadcast_to(qd0, (*self.batch, arm.nv)).reshape(
            count, arm.nv
        )
        self.tau = np.full((count, n, n_tau), np.nan)

    def _check_samples(self, torque: Any) -> Array:
        arm, n = self.arm, len(self.t)
        array = np.array(real_array("torque", torque))
        if (
            array.ndim < 2
            or array.shape[-2] != n
            or array.shape[-1] not in (arm.nu, arm.nv)
        ):
            raise ArgumentError(
                f"torque has shape {array.shape}, expected (..., {n}, {arm.nu}): one "
                f"row per time, one column per joint (or {arm.nv} for all coordinates)"
            )
        if not np.isfinite(array).all():
            raise ArgumentError("torque has samples that are not finite")
        return array

    def start(self) -> None:
        """One call of the torque function, to learn the width of what it returns."""
        if self.function is not None and len(self.q):
            tau = self.call(float(self.t[0]), self.q[:, 0], self.qd[:, 0])
            self.widths = {tau.shape[-1]}
            self.tau = np.full((*self.q.shape[:2], tau.shape[-1]), np.nan)

    def call(self, t: float, q: Array, qd: Array) -> Array:
        """The user's torque function on the batch in the user's shape."""
        assert self.function is not None
        given = self.function(
            t,
            q.reshape(*self.batch, self.arm.nq).copy(),
            qd.reshape(*self.batch, self.arm.nv).copy(),
        )
        tau = real_array(f"result of the torque function at t = {t:g}", given)
        try:
            if tau.ndim == 0 or tau.shape[-1] not in self.widths:
                raise ValueError
            if tau.shape[:-1] != self.batch:
                tau = np.broadcast_to(tau, (*self.batch, tau.shape[-1]))
        except ValueError:
            wanted = " or ".join(str((*self.batch, w)) for w in sorted(self.widths))
            raise ArgumentError(
                f"torque function returned shape {tau.shape} at t = {t:g}, expected "
                f"{wanted}"
            ) from None
        flat = np.ascontiguousarray(tau.reshape(len(self.q), tau.shape[-1]))
        if not np.isfinite(flat).all():
            self._check_finite(t, q, qd, flat)
        return flat

    def _check_finite(self, t: float, q: Array, qd: Array, tau: Array) -> None:
        """Blame the torque function, but not for a state that diverges."""
        ordinary = (abs(q) < _ORDINARY).all(-1) & (abs(qd) < _ORDINARY).all(-1)
        bad = np.flatnonzero(ordinary & ~np.isfinite(tau).all(-1))
        if len(bad):
            index = tuple(int(i) for i in np.unravel_index(bad[0], self.batch or (1,)))
            which = f" for trajectory {index}" if self.batch else ""
            raise ArgumentError(
                f"torque function returned {tau[bad[0]]} at t = {t:g}{which}, expected "
                "finite forces"
            )

    def torque(self, index: int, t: float, y: Array) -> Array:
        """Force on one trajectory at any time and state, for the SciPy solvers."""
        nq = self.arm.nq
        if self.function is not None:
            return np.asarray(self.call(t, y[np.newaxis, :nq], y[np.newaxis, nq:])[0])
        return (
            self.sampled(index, t)
            if self.samples is not None
            else np.zeros(self.arm.nu)
        )

    def sampled(self, index: int, t: float) -> Array:
        """Sampled force of one trajectory at any time, for the SciPy solvers."""
        assert self.samples is not None
        full = np.broadcast_to(self.samples, (*self.batch, *self.samples.shape[-2:]))
        rows = full.reshape(len(self.q), *self.samples.shape[-2:])[index]
        k = int(
            np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.t) - 1)
        )
        if self.hold or k == len(self.t) - 1:
            return np.asarray(rows[k])
        part = (t - self.t[k]) / (self.t[k + 1] - self.t[k])
        return np.asarray(rows[k] + part * (rows[k + 1] - rows[k]))

    def result(self, method: str, note: str) -> Trajectory:
        """What was computed, with a sentence about how it ended."""
        reached = np.isfinite(self.q).all(axis=2) & np.isfinite(self.qd).all(axis=2)
        self.q[~reached] = np.nan
        self.qd[~reached] = np.nan
        self.tau[~reached] = np.nan
        failed = ~reached.all(axis=1)
        success = not failed.any()
        message = "reached the last time"
        if not success:
            k = int(reached[failed].argmin(axis=1).min())
            until = f"t = {self.t[max(k - 1, 0)]:g} s of {self.t[-1]:g} s"
            message = (
                f"{note or 'the state became infinite, try a smaller max_step'}: "
                f"{int(failed.sum())} of {len(failed)} trajectories are incomplete, "
                f"the first ends at {until}"
            )

        def shaped(x: Array) -> Array:
            return x.reshape(*self.batch, *x.shape[1:])

        return Trajectory(
            self.arm,
            self.t,
            shaped(self.q),
            shaped(self.qd),
            shaped(self.tau),
            method,
            success,
            message,
        )


def _bar(total: float, progress: bool | None, unit: str) -> Any:
    """A tqdm bar that appears after two seconds, or None."""
    if progress is False:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if progress:
            raise ImportError(
                'progress needs tqdm: python3 -m pip install "flexarm[plot]"'
            ) from None
        return None
    return tqdm(total=total, unit=unit, delay=0.0 if progress else 2.0, leave=False)


def _run_rk4(run: _Run, max_step: float | None, progress: bool | None) -> None:
    spans = np.diff(run.t)
    substeps = 1
    if max_step is not None and len(spans):
        substeps = max(1, int(np.ceil(float(spans.max()) / max_step * (1.0 - 1e-12))))
    torque: Any = run.call if run.function is not None else None
    if run.samples is not None:
        full = np.broadcast_to(run.samples, (*run.batch, *run.samples.shape[-2:]))
        shared = all(n == 1 for n in run.samples.shape[:-2])
        flat = full.reshape(len(run.q), *run.samples.shape[-2:])
        torque = np.ascontiguousarray(flat[:1] if shared else flat)
    if len(run.q) == 0:
        return
    lanes = _core.build_info()["lanes"]
    bar = _bar(-(-len(run.q) // lanes) * len(spans) * substeps, progress, "step")

    def tick(steps: int) -> None:
        bar.update(steps - bar.n)

    try:
        run.arm._model.rollout_rk4(
            run.q,
            run.qd,
            run.t,
            substeps,
            torque,
            run.hold,
            tick if bar is not None else None,
            run.tau,
        )
    finally:
        if bar is not None:
            bar.close()


def _run_scipy(
    run: _Run,
    method: str,
    max_step: float | None,
    rtol: float,
    atol: float,
    progress: bool | None,
) -> str:
    from scipy import integrate

    nq, t = run.arm.nq, run.t
    span = float(t[-1] - t[0])
    if max_step is None:
        # a step across a corner of the sampled torque would miss it
        sampled = run.samples is not None and len(t) > 1
        max_step = float(np.diff(t).max()) if sampled else np.inf
    forward = run.arm._model.quiet("forward_dynamics")
    rates = run.arm._model.quiet("position_rates")
    bar = _bar(len(run.q) * span, progress, "s")
    notes = []
    try:
        for i in range(len(run.q)):

            def rate(t: float, y: Array, i: int = i) -> Array:
                q, qd = y[:nq], y[nq:]
                return np.concatenate(
                    [rates(q, qd), forward(q, qd, run.torque(i, t, y))]
                )

            start = np.concatenate([run.q[i, 0], run.qd[i, 0]])
            run.tau[i, 0] = run.torque(i, float(t[0]), start)
            if len(t) == 1:
                continue
            solver = getattr(integrate, method)(
                rate,
                float(t[0]),
                start,
                float(t[-1]),
                max_step=max_step,
                rtol=rtol,
                atol=atol,
            )
            notes.append(_advance(run, i, solver, bar, i * span))
    finally:
        if bar is not None:
            bar.close()
    return next(filter(None, notes), "")


def _advance(run: _Run, i: int, solver: Any, bar: Any, before: float) -> str:
    """One trajectory by a solver of SciPy; returns why it failed, or nothing."""
    done, nq = 1, run.arm.nq
    while solver.status == "running":
        try:
            message = solver.step()
        except ValueError as error:  # of the linear algebra in an implicit solver
            if "infs or NaNs" not in str(error):
                raise
            return ""
        if solver.status == "failed":
            return str(message).rstrip(".")
        reached = int(np.searchsorted(run.t, solver.t, side="right"))
        if reached > done:
            y = solver.dense_output()(run.t[done:reached])
            for k in range(done, reached):
                run.tau[i, k] = run.torque(i, float(run.t[k]), y[:, k - done])
            run.q[i, done:reached], run.qd[i, done:reached] = y[:nq].T, y[nq:].T
            done = reached
        if bar is not None:
            bar.update(before + float(solver.t - run.t[0]) - bar.n)
    return ""
