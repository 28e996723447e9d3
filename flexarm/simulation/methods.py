"""Motion in time: methods in C, any solver of SciPy, or CVODE; one call."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from .._calls.arguments import any_of, check_choice
from .._calls.arm_like import AnyArm, ArmLike
from .._calls.threads import ONE, threads_of
from .._support.options import explained
from ..errors import ArgumentError
from ._event_runs import locate
from ._scipy_methods import run_scipy
from .core_loop import run_core
from .events import Occurrence, check_events
from .run import Run, check_accuracy, check_step, state, times
from .stiffening import warn_of_stiffening
from .trajectory import Trajectory

__all__ = ["Trajectory", "simulate"]

_SCIPY = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
_IMPLICIT = ("newmark", "linear-acceleration", "generalized-alpha", "Rodas4P")
_CORE = ("rk4", "ROS34PW2", *_IMPLICIT)  # in C
_METHODS = (*_CORE, *_SCIPY, "CVODE")
_INTERPOLATIONS = ("linear", "hold")


@explained
def simulate(
    arm: AnyArm,
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
    spectral_radius: float = 0.9,
    events: Any = (),
    progress: bool | None = None,
    threads: int = ONE,
) -> Trajectory:
    """Motion from an initial state under given forces.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nq`` positions, ``nv`` velocities and ``nu`` actuators, or a stack of
        such arms, whose axes broadcast with those of `q0`.
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
    method : str
        In C with a fixed step, batches in lanes: ``"rk4"``, classical Runge-Kutta of
        order four [1]_; ``"ROS34PW2"``, linearly implicit, of order three [2]_;
        ``"newmark"`` (average acceleration) and ``"linear-acceleration"`` [3]_, and
        ``"generalized-alpha"`` [4]_, implicit, of order two.  In C with error control:
        ``"Rodas4P"``, linearly implicit, of order four [5]_.  Or, one trajectory at a
        time, a solver of `scipy.integrate`, ``"RK23"``, ``"RK45"``, ``"DOP853"``,
        ``"Radau"``, ``"BDF"``, ``"LSODA"``, or ``"CVODE"`` of SUNDIALS.
    max_step : float, optional
        Longest step in s.  By default one step in C from sample to sample.
    rtol, atol : float
        Tolerances of the methods with error control.
    spectral_radius : float
        Of ``"generalized-alpha"``: part of the amplitude that a step leaves of modes
        far above its frequency, from 0 to 1.
    events : Event or list of Event
        What to look for; see `flexarm.events`.
    progress : bool, optional
        Progress bar (tqdm); by default for runs of more than two seconds.
    threads : int
        Most threads on which the trajectories of a batch are computed in C.  A torque
        function sees the whole batch, so that with one there is a single thread.

    Returns
    -------
    Trajectory
        Samples at the times `t`.  A run that is interrupted by Ctrl-C or diverges
        returns what it has, NaN after that, with ``success=False``; so does a
        trajectory whose iteration does not converge.  Where a fixed step is above the
        stability limit of the first trajectory at its start, `message` tells that limit
        of a run that ends all the same; it is no success if its motion grew beyond all
        bounds.

    Raises
    ------
    ArgumentError
        If an argument has the wrong shape or value, `t` does not increase, `torque`
        returns the wrong shape, or the method does not know what the arm has:
        constraints are kept by ``"rk4"`` and the solvers with error control in Python,
        linear fidelity by these and ``"ROS34PW2"``.
    ImportError
        If ``"CVODE"`` is asked for and scikit-sundae is missing.

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

    ``"newmark"``, ``"linear-acceleration"`` and ``"generalized-alpha"`` satisfy the
    equations of motion at the end of each step by Newton's method, with the derivatives
    of inverse dynamics and the gains of a `JointFeedback`.  A torque function is
    evaluated at each iterate, but its derivatives are not known to the iteration, which
    converges where gains are small against M/h^2.  Average acceleration keeps the
    energy of linear vibration and damps nothing; linear acceleration is more accurate
    by half, but stable only for omega h < 2 sqrt(3).  Generalized-alpha damps modes
    that a step does not resolve and leaves the slow ones alone; `spectral_radius` of 1
    is average acceleration, 0 ends a fast vibration within two steps.

    ``"Rodas4P"`` factors one matrix for six stages with the exact Jacobian.  Each
    trajectory of a batch has its own steps, which end at the times `t`; more times than
    needed make it slower.  It resolves vibration as far as the tolerances ask.  The
    derivatives of a torque function are differences, 2 nv + 1 calls for each step, and
    it takes one trajectory alone.

    Of a stack, ``"rk4"`` and ``"ROS34PW2"`` run trajectories of different arms side by
    side in the lanes; the other methods in C, which need derivatives, run one arm after
    the other, or as many at once as there are `threads`.

    A torque function is called once more than the stages need, at the first time, to
    learn how many forces it gives.  An exception in it passes through and carries what
    was computed as its attribute ``trajectory``.

    References
    ----------
    .. [1] E. Hairer, S. Norsett, G. Wanner, *Solving Ordinary Differential Equations
       I*, 1993, section II.1.
    .. [2] J. Rang, L. Angermann, "New Rosenbrock W-methods of order 3 for partial
       differential algebraic equations of index 1", *BIT* 45 (2005), 761-787.
    .. [3] N. Newmark, "A method of computation for structural dynamics", *J. Eng.
       Mech. Div.* 85 (1959), 67-94.
    .. [4] J. Chung, G. Hulbert, "A time integration algorithm for structural dynamics
       with improved numerical dissipation", *J. Appl. Mech.* 60 (1993), 371-375; on
       rotations M. Arnold, O. Bruels, *Multibody Syst. Dyn.* 18 (2007), 185-202.
    .. [5] G. Steinebach, "Order-reduction of ROW-methods for DAEs and method of lines
       applications", Preprint 1741, TH Darmstadt, 1995; E. Hairer, G. Wanner,
       *Solving Ordinary Differential Equations II*, 1996, section IV.7.

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
    one = any_of(arm)
    t = times(t)
    check_method(one, method, _METHODS)
    _check_sight(method, arm is not one and callable(torque))
    check_choice("interpolation", interpolation, _INTERPOLATIONS)
    check_step(max_step, t)
    check_accuracy(rtol, atol, spectral_radius)
    wanted = check_events(one, events)
    count = threads_of(threads)
    run = Run(arm, state(arm, "q0", q0), state(arm, "qd0", qd0), t, torque)
    run.threads = count
    run.hold = interpolation == "hold"
    alone = method not in _CORE or method == "Rodas4P"
    if alone and run.function is not None and run.batch != ():
        raise ArgumentError(
            f"method {method!r} integrates one trajectory at a time, so a torque "
            "function cannot see the batch; expected method 'rk4', samples, or one "
            "trajectory"
        )
    step = inf if max_step is None else float(max_step)
    options = (float(spectral_radius), float(rtol), float(atol), step)
    note = ""
    found: tuple[Occurrence, ...] = ()
    try:
        run.start()
        note = _integrator(method, options, progress)(run)
        if wanted:
            run.integrate = _integrator(method, options, False)
            found = locate(run, method, options, wanted, method in _CORE)
        for each, at in run.arms():
            warn_of_stiffening(each, run.q[at], run.qd[at])
    except KeyboardInterrupt:
        note = "interrupted"
    except Exception as error:
        error.trajectory = run.result(method, "stopped by an exception")  # type: ignore[attr-defined]
        raise
    return run.result(method, note, found)


def _integrator(
    method: str, options: tuple[float, float, float, float], progress: bool | None
) -> Callable[[Run], str]:
    """Fill a run; returns why it failed, if the method says so."""

    def integrate(run: Run) -> str:
        if method in _CORE:
            run_core(run, method, options, progress)
            return ""
        if method == "CVODE":
            from ._sundials import run_cvode

            return run_cvode(run, options, progress)
        return run_scipy(run, method, options, progress)

    return integrate


def _check_sight(method: str, is_seen_whole: bool) -> None:
    """Refuse a torque function of a stack where arms run one after another."""
    if method in _IMPLICIT and is_seen_whole:
        raise ArgumentError(
            f"method {method!r} runs a stack arm by arm, but a torque function sees "
            "all trajectories at once, expected method 'rk4' or 'ROS34PW2', or samples"
        )


def check_method(arm: ArmLike, method: str, methods: tuple[str, ...]) -> None:
    """Refuse what is none of the methods, or does not know what the arm has."""
    check_choice("method", method, methods)
    if method in _CORE[1:] and arm.constraints:
        raise ArgumentError(
            f"method {method!r} does not keep constraints and the arm has "
            f"{len(arm.constraints)}, expected 'rk4' for closed chains"
        )
    if method in _IMPLICIT and arm.fidelity == "linear":
        raise ArgumentError(
            f"method {method!r} needs derivatives that an arm of linear fidelity does "
            "not have, expected fidelity 'full' or 'ruthless', or method 'ROS34PW2'"
        )
