"""Motion in time by methods in C, solvers of SciPy, or CVODE."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Annotated

from numpy.typing import ArrayLike

from .._calls.arguments import any_of
from .._calls.arm_like import AnyArm, ArmLike
from .._calls.declared import (
    Choice,
    Count,
    Floats,
    Positions,
    Positive,
    Share,
    StepLength,
    Velocities,
)
from .._calls.doors import checked
from .._calls.records import Options
from .._calls.threads import ONE, threads_of
from .._core import METHODS, STACK_METHODS
from .._support.interrupts import INTERRUPTED, allowed, held
from .._support.options import check_choice
from .._support.recorded import recorded
from ..errors import ArgumentError
from ._event_runs import locate
from ._scipy_methods import run_scipy
from .accuracy import warn_of_errors
from .automatic_steps import first_step
from .core_loop import run_core
from .events import Occurrence, check_events
from .run import Run, check_step, options_of, state, times
from .runaway import judge_energy, judge_slopes, judge_stretch
from .stiffening import warn_of_stiffening
from .trajectory import Trajectory
from .violations import Judge

__all__ = ["Trajectory", "simulate"]

_SCIPY = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
_METHODS = (*METHODS, *_SCIPY, "CVODE")  # the first ones in C
_WITH_DERIVATIVES = tuple(m for m in METHODS if m not in STACK_METHODS)


@checked
@recorded("simulate")
def simulate(
    arm: AnyArm,
    q0: Positions,
    qd0: Velocities,
    t: Annotated[ArrayLike, Floats()],
    *,
    torque: object = None,
    interpolation: Annotated[str, Choice("linear", "hold")] = "linear",
    method: str = "rk4",
    max_step: StepLength | None = None,
    rtol: Positive | None = None,
    atol: Positive | None = None,
    spectral_radius: Share = 0.9,
    events: object = (),
    progress: bool | None = None,
    threads: Count = ONE,
) -> Trajectory:
    """Simulate the motion from an initial state under given forces.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nq`` positions, ``nv`` velocities and ``nu`` actuators, or a stack of
        such arms, whose axes broadcast with those of `q0`.
    q0, qd0 : (..., nq), (..., nv) array_like of float
        Initial state.  Leading axes broadcast; a batch runs in SIMD lanes.
    t : (n,) array_like of float
        Times of the samples in s, increasing; the first is that of `q0`.
    torque : None, (..., n, nu) array_like of float, callable, or JointFeedback
        None, samples at the times `t`, or a function ``torque(t, q, qd)`` that returns
        ``(..., nu)`` for the whole batch.  ``nv`` entries are forces on all
        coordinates.  Its method ``reset(q, qd)``, if there is one, is called before,
        as for all laws of `flexarm.control`.  A `flexarm.control.JointFeedback` is
        computed in C.
    interpolation : {"linear", "hold"}
        Forces between samples of `torque`: linear, or held until the next sample.
    method : str
        In C with a fixed step, batches in lanes: ``"rk4"``, classical Runge-Kutta of
        order four [1]_; ``"ROS34PW2"``, linearly implicit, of order three [2]_;
        ``"newmark"`` (average acceleration) and ``"linear-acceleration"`` [3]_, and
        ``"generalized-alpha"`` [4]_, implicit, of order two.  In C with error control:
        ``"Rodas4P"``, linearly implicit, of order four [5]_.  Or, one trajectory at a
        time, a solver of `scipy.integrate`, ``"RK23"``, ``"RK45"``, ``"DOP853"``,
        ``"Radau"``, ``"BDF"``, ``"LSODA"``, or ``"CVODE"`` of SUNDIALS.
    max_step : float, optional
        Longest step in s; infinite: one step in C from sample to sample.  By default
        ``"rk4"`` repeats trajectories whose estimated error is above 1 % with shorter
        steps, each by itself, up to a million steps times velocities.  A torque
        function is not called twice at a time; with one, samples further apart than the
        stable step at the start are reached in steps of a fifth of that.
    rtol, atol : float, optional
        Tolerances of the methods with error control, by default 1e-8 and 1e-10; others
        take none.
    spectral_radius : float
        Of ``"generalized-alpha"``: factor by which a step multiplies the amplitude of
        modes of very high frequency, from 0 to 1.
    events : Event or list of Event
        Events to find; see `flexarm.events`.
    progress : bool, optional
        Progress bar (tqdm); by default for runs of more than two seconds.
    threads : int
        Largest number of threads for a batch in C.  With a torque function, which sees
        the whole batch, there is a single thread.

    Returns
    -------
    Trajectory
        Samples at the times `t`.  After a Ctrl-C, a divergence, or an iteration that
        does not converge, samples are NaN, with ``success=False``.  For a fixed step
        above the stability limit of the first trajectory at its start, `message` has
        that limit.  ``success`` is also False if ten or more steps of ``"rk4"``, or of
        ``"linear-acceleration"`` above its limit, miss the whole motion, the motion
        grew without bound, the
        constraints contradict each other, a link bends to a slope above one, where its
        model ends, or the energy of an arm without forces grows, or that of a rigid
        arm without damping falls by ``"rk4"``.

    Raises
    ------
    ArgumentError
        If `t` does not increase, `torque` returns the wrong shape, or the method does
        not support the arm: only ``"rk4"`` and the solvers in Python keep constraints,
        only these and ``"ROS34PW2"`` have linear fidelity.
    ImportError
        If scikit-sundae is missing for ``"CVODE"``.

    Warns
    -----
    AccuracyWarning
        If the estimated error of the steps of ``"rk4"``, ``"linear-acceleration"`` or
        ``"ROS34PW2"`` is more than 5 % of the size of the motion, or if ``"rk4"``
        misses more than 1.25 % of it in vibration that an arm without feedback starts
        with; see `Trajectory.estimated_error`.  Or if steps of ``"rk4"``
        change the energy of a rigid arm without forces and damping by more than a tenth
        of its largest kinetic energy: such a run fails.  Or if a link whose
        motions leave out ``"stretch"`` would be longer by more than 1 % of the
        deflection of its tip, by its weight and the turning of the joints, or one that
        has it, not in `segments`, stretches by more than a third of a percent.
    ConstraintWarning
        If loops or couplings are violated by more than 1e-3 rad or 1e-3 of the size of
        the arm, at the start or at a sample, or by velocities at the start.
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; see
        `flexarm.largest_slope`.
    StiffeningWarning
        If a link without geometric stiffening spins at more than 0.2 of its first
        frequency.
    UnitsWarning
        If angles of `q0` look like degrees.

    Notes
    -----
    ``"rk4"`` diverges if a step is longer than 2.8 radians of the fastest mode, or
    2.8 times the time constant of the fastest decay, gains of a torque function
    included.  Its stages tell how large the errors of its steps are, also under a
    function, which is not called for that.
    ``"ROS34PW2"`` has no such limit: it is L-stable and takes modal stiffness, damping
    and the gains of a `JointFeedback` implicitly, with M(q) at the start of each step.
    As a W-method it does not need other derivatives for its order; a step costs about
    as much as six forward dynamics.  Modes that a step h does not resolve follow their
    forces, while their vibration is damped: a step multiplies its amplitude by
    1 - 0.026 (omega h)^4 if that is near one.  So vibration never gains energy; an
    embedded method of order two estimates the error.  The order is two for very stiff
    modes, with h omega far above one.  Gains of a torque function are explicit.
    Unstable motion, as with negative gains, must be resolved: longer steps may damp it
    or end the run.

    ``"newmark"``, ``"linear-acceleration"`` and ``"generalized-alpha"`` satisfy the
    equations of motion at the end of each step by Newton's method, with the derivatives
    of inverse dynamics and the gains of a `JointFeedback`.  A torque function is
    evaluated at each iterate, but not differentiated; the iteration converges if gains
    are small compared with M/h^2.  Average acceleration keeps the energy of linear
    vibration without damping; linear acceleration has half of its error, but is stable
    only for omega h < 2 sqrt(3).  Generalized-alpha damps modes that a step does not
    resolve, not the slow ones; `spectral_radius` of 1 is average acceleration, 0 ends a
    fast vibration within two steps.

    ``"Rodas4P"`` factors one matrix for six stages with the exact Jacobian.  Each
    trajectory of a batch has its own steps, which end at the times `t`; more times than
    needed make it slower.  It resolves vibration to the tolerances, the default ones to
    1e-10 m/s: without damping, a steel rod in pieces then takes steps for its fastest
    modes.  ``rtol=1e-2`` with an `atol` of a hundredth of the velocities takes as many
    steps for 16 pieces as for two.  The derivatives of a torque function are
    differences, 2 nv + 1 calls for each step, of one trajectory only.

    For a stack, ``"rk4"`` and ``"ROS34PW2"`` run trajectories of different arms in the
    lanes; the other methods in C, which need derivatives, run one arm after the other,
    or as many at once as there are `threads`.

    A torque function is called once more than the stages need, at the first time, for
    the number of its forces.  An exception in it has the samples computed so far as its
    attribute ``trajectory``.

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
    A pendulum released at level keeps its energy:

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
    # checks
    one = any_of(arm)
    t = times(t)
    check_method(one, method, _METHODS)
    _check_sight(method, arm is not one and callable(torque))
    check_step(max_step, t)
    wanted = check_events(events)
    count = threads_of(threads)
    # arrays of the run
    run = Run(arm, state(arm, "q0", q0), state(arm, "qd0", qd0), t, torque)
    run.threads = count
    run.hold = interpolation == "hold"
    alone = method not in METHODS or method == "Rodas4P"
    if alone and run.function is not None and run.batch != ():
        raise ArgumentError(
            f"method {method!r} integrates one trajectory at a time, so a torque "
            "function cannot see the batch; expected method 'rk4', samples, or one "
            "trajectory"
        )
    # integration, events, warnings
    step = inf if max_step is None else float(max_step)
    options = options_of(method, rtol, atol, spectral_radius, step)
    note = ""
    found: tuple[Occurrence, ...] = ()
    with held() as ctrl_c:
        try:
            with allowed():
                run.begin()
                automatic = max_step is None and method == "rk4"
                if automatic and run.function is not None:
                    options = options._replace(max_step=first_step(run))
                judge = Judge(run) if one._held and len(run.q) else None
                if judge is not None:
                    judge.start()
                note = _integrator(method, options, progress, automatic)(run)
                if wanted:
                    run.integrate = _integrator(method, options, False)
                    found = locate(run, method, options, wanted, method in METHODS)
                warn_of_stiffening(run.flat, run.q, run.qd)
                if judge is not None:
                    judge.samples(method)
                warn_of_errors(run, method)
                judge_slopes(run)
                judge_stretch(run)
                judge_energy(run, method)
        except KeyboardInterrupt:
            note = INTERRUPTED
        except Exception as error:
            error.trajectory = run.result(method, "stopped by an exception")  # type: ignore[attr-defined]
            raise
        result = run.result(method, note, found)
        if not note and ctrl_c.take():
            result = run.result(method, INTERRUPTED, found)
        return result


def _integrator(
    method: str, options: Options, progress: bool | None, automatic: bool = False
) -> Callable[[Run], str]:
    """Return a function that fills a run and returns the reason of a failure."""

    def integrate(run: Run) -> str:
        if method in METHODS:
            run_core(run, method, options, progress, automatic)
            return ""
        if method == "CVODE":
            from ._sundials import run_cvode

            return run_cvode(run, options, progress)
        return run_scipy(run, method, options, progress)

    return integrate


def _check_sight(method: str, is_seen_whole: bool) -> None:
    """Raise for a torque function of a stack if arms run one after another."""
    if method in _WITH_DERIVATIVES and is_seen_whole:
        raise ArgumentError(
            f"method {method!r} runs a stack arm by arm, but a torque function sees "
            "all trajectories at once, expected method 'rk4' or 'ROS34PW2', or samples"
        )


def check_method(arm: ArmLike, method: str, methods: tuple[str, ...]) -> None:
    """Raise for unknown methods, and for methods that do not support the arm."""
    check_choice("method", method, methods)
    if method in METHODS[1:] and arm._held:
        raise ArgumentError(
            f"method {method!r} does not keep constraints and the arm has "
            f"{len(arm._held)}, expected 'rk4' for closed chains"
        )
    if method in _WITH_DERIVATIVES and arm.fidelity == "linear":
        raise ArgumentError(
            f"method {method!r} needs derivatives that an arm of linear fidelity does "
            "not have, expected fidelity 'full' or 'ruthless', or method 'ROS34PW2'"
        )
