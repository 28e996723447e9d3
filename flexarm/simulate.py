"""Motion in time: fixed-step Runge-Kutta in C, or any solver of SciPy, one call."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._simulate_run import Run, Trajectory, check_step, progress_bar, state, times
from ._simulate_scipy import run_scipy
from .errors import ArgumentError

if TYPE_CHECKING:
    from .arm import Arm

__all__ = ["Trajectory", "simulate"]

_SCIPY = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
_METHODS = ("rk4", *_SCIPY)
_INTERPOLATIONS = ("linear", "hold")


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
    t = times(t)
    if method not in _METHODS:
        raise ArgumentError(
            f"method is {method!r}, expected one of {', '.join(map(repr, _METHODS))}"
        )
    if interpolation not in _INTERPOLATIONS:
        raise ArgumentError(
            f"interpolation is {interpolation!r}, expected one of "
            f"{', '.join(map(repr, _INTERPOLATIONS))}"
        )
    check_step(max_step, t)
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, Real) or not 0.0 < value < np.inf:
            raise ArgumentError(
                f"{name} is {value!r}, expected a small positive number"
            )
    run = Run(arm, state(arm, "q0", q0), state(arm, "qd0", qd0), t, torque)
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
            run_rk4(run, max_step, progress)
        else:
            note = run_scipy(run, method, max_step, rtol, atol, progress)
    except KeyboardInterrupt:
        note = "interrupted"
    except Exception as error:
        error.trajectory = run.result(method, "stopped by an exception")  # type: ignore[attr-defined]
        raise
    return run.result(method, note)


def run_rk4(run: Run, max_step: float | None, progress: bool | None) -> None:
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
    bar = progress_bar(
        -(-len(run.q) // lanes) * len(spans) * substeps, progress, "step"
    )

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
