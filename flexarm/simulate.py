"""Motion in time: methods of fixed step in C, or any solver of SciPy, one call."""

from __future__ import annotations

import difflib
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._simulate_run import Run, Trajectory, check_step, progress_bar, state, times
from ._simulate_scipy import run_scipy
from ._stiffening_warning import warn_of_stiffening
from .errors import ArgumentError

if TYPE_CHECKING:
    from .arm import Arm

__all__ = ["Trajectory", "simulate"]

_SCIPY = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
_FIXED = ("rk4", "ROS34PW2")  # in C
_METHODS = (*_FIXED, *_SCIPY)
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
    torque : None, (..., n, nu) array_like of float, callable, or JointFeedback
        Nothing, samples at the times `t`, or ``torque(t, q, qd)`` that returns
        ``(..., nu)`` for the whole batch.  ``nv`` entries are taken as forces on all
        coordinates.  A `flexarm.control.JointFeedback` is computed in C.
    interpolation : {"linear", "hold"}
        Between samples of `torque`: piecewise linear, or held until the next one.
    method : {"rk4", "ROS34PW2", "RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"}
        In C with a fixed step, batches in lanes: classical Runge-Kutta of order four
        [1]_, or, for stiff arms, the linearly implicit ROS34PW2 of order three [2]_.
        Or a solver of `scipy.integrate.solve_ivp` with error control, one trajectory
        at a time.
    max_step : float, optional
        Longest step in s.  By default one step in C from sample to sample.
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
        If an argument has the wrong shape or value, `t` does not increase, `torque`
        returns the wrong shape, or ``"ROS34PW2"`` is given an arm with constraints.

    Notes
    -----
    ``"rk4"`` diverges where a step is longer than 2.8 radians of the fastest mode.
    ``"ROS34PW2"`` has no such limit: it is L-stable and takes modal stiffness, damping
    and the gains of a `JointFeedback` implicitly, with M(q) of each step's start.  As a
    W-method its order does not ask for the other derivatives; a step costs about as
    much as six forward dynamics.  Modes that a step h does not resolve follow the
    forces that act on them while their own vibration is damped: a step leaves
    1 - 0.026 (omega h)^4 of the amplitude where that is near one.  So vibration loses
    energy and never gains any; halve `max_step` to see what remains of the error.  The
    order is two where modes are so stiff that h omega is far above one all the time.
    Gains of a torque function are not seen, and so are explicit.  What is unstable, as
    with negative gains, has to be resolved: longer steps may damp it or end the run.

    A torque function is called once more than the stages need, at the first time, to
    learn how many forces it gives.  An exception in it passes through and carries what
    was computed as its attribute ``trajectory``.

    References
    ----------
    .. [1] E. Hairer, S. Norsett, G. Wanner, *Solving Ordinary Differential Equations
       I*, 1993, section II.1.
    .. [2] J. Rang, L. Angermann, "New Rosenbrock W-methods of order 3 for partial
       differential algebraic equations of index 1", *BIT* 45 (2005), 761-787.

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
    _check_choice("method", method, _METHODS)
    _check_choice("interpolation", interpolation, _INTERPOLATIONS)
    if method == "ROS34PW2" and arm.constraints:
        raise ArgumentError(
            "method 'ROS34PW2' does not keep constraints and the arm has "
            f"{len(arm.constraints)}, expected 'rk4' for closed chains"
        )
    check_step(max_step, t)
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, Real) or not 0.0 < value < np.inf:
            raise ArgumentError(
                f"{name} is {value!r}, expected a small positive number"
            )
    run = Run(arm, state(arm, "q0", q0), state(arm, "qd0", qd0), t, torque)
    run.hold = interpolation == "hold"
    if method not in _FIXED and run.function is not None and run.batch != ():
        raise ArgumentError(
            f"method {method!r} integrates one trajectory at a time, so a torque "
            "function cannot see the batch; expected method 'rk4', samples, or one "
            "trajectory"
        )
    note = ""
    try:
        run.start()
        if method in _FIXED:
            _run_fixed(run, method, max_step, progress)
        else:
            note = run_scipy(run, method, max_step, rtol, atol, progress)
    except KeyboardInterrupt:
        note = "interrupted"
    except Exception as error:
        error.trajectory = run.result(method, "stopped by an exception")  # type: ignore[attr-defined]
        raise
    warn_of_stiffening(arm, run.q, run.qd)
    return run.result(method, note)


def _check_choice(name: str, given: Any, choices: tuple[str, ...]) -> None:
    if given not in choices:
        lower = {choice.lower(): choice for choice in choices}
        near = difflib.get_close_matches(str(given).lower(), lower, n=1)
        raise ArgumentError(
            f"{name} is {given!r}, expected one of {', '.join(map(repr, choices))}"
            + (f"; did you mean {lower[near[0]]!r}?" if near else "")
        )


def _run_fixed(
    run: Run, method: str, max_step: float | None, progress: bool | None
) -> None:
    spans = np.diff(run.t)
    substeps = 1
    if max_step is not None and len(spans):
        substeps = max(1, int(np.ceil(float(spans.max()) / max_step * (1.0 - 1e-12))))
    torque: Any = run.call if run.function is not None else None
    if run.samples is not None:
        torque = run.forces
    if len(run.q) == 0:
        return
    lanes = _core.build_info()["lanes"]
    bar = progress_bar(
        -(-len(run.q) // lanes) * len(spans) * substeps, progress, "step"
    )

    def tick(steps: int) -> None:
        bar.update(steps - bar.n)

    try:
        run.arm._model.rollout(
            run.q,
            run.qd,
            run.t,
            method,
            substeps,
            torque,
            run.hold,
            tick if bar is not None else None,
            run.tau,
            run.gains,
        )
    finally:
        if bar is not None:
            bar.close()
