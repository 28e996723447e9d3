"""Closed loops at a sample rate: a plant in continuous time, a law at the samples."""

from __future__ import annotations

from math import inf
from typing import Annotated

from numpy.typing import ArrayLike

from ..._calls.arguments import any_of, positive_number
from ..._calls.arm_like import Array
from ..._calls.declared import (
    ActuatorValues,
    Count,
    Floats,
    Number,
    Positions,
    Positive,
    Share,
    StepLength,
    Velocities,
    Whole,
)
from ..._calls.doors import checked
from ..._calls.threads import ONE, threads_of
from ..._core import METHODS
from ..._support.recorded import recorded
from ...arm import Arm
from ...errors import ArgumentError
from ...simulation.automatic_steps import step_of_loop
from ...simulation.laws import AnyLaw
from ...simulation.methods import check_method
from ...simulation.run import check_step, options_of, state, times
from ...simulation.stiffening import warn_of_stiffening
from ...simulation.violations import judged
from ...stacks import ArmStack
from .arrays import Loop
from .knots import CORE, run_callback, run_core
from .linear_controller import LinearController
from .record import LoopRun
from .spillover import warn_of_spillover


@checked
@recorded("control.simulate_loop")
def simulate_loop(
    arm: Arm | ArmStack,
    law: LinearController | AnyLaw,
    q0: Positions,
    qd0: Velocities,
    t: Annotated[ArrayLike, Floats()],
    *,
    sample_time: float | None = None,
    delay: Annotated[float, Number(least=0.0, unit="s")] = 0.0,
    saturation: Annotated[ArrayLike, Floats("()", "(nu,)", "(2, nu)")] | None = None,
    noise: Annotated[ArrayLike, Floats("()", "(..., p)")] | None = None,
    quantization: Annotated[ArrayLike, Floats("()", "(p,)")] | None = None,
    command_resolution: Annotated[ArrayLike, Floats("()", "(nu,)")] | None = None,
    sensors: object = None,
    seed: Annotated[int, Whole(least=0)] | None = None,
    u0: ActuatorValues | None = None,
    method: str = "rk4",
    max_step: StepLength | None = None,
    rtol: Positive | None = None,
    atol: Positive | None = None,
    spectral_radius: Share = 0.9,
    threads: Count = ONE,
) -> LoopRun:
    r"""Closed loop of a continuous plant and a law that is evaluated at samples.

    At the times :math:`t_k = t_0 + k T` outputs are measured, the law computes forces,
    and actuators hold them from :math:`t_k` + `delay` until the next ones arrive.
    Between, the arm moves as in `simulate`.

    Parameters
    ----------
    arm : Arm or ArmStack
        The plant, with ``nu`` actuators, or a stack of plants, whose axes broadcast
        with leading axes of the states and of the law.
    law : LinearController or callable
        A `LinearController`, whose loop runs in C if its outputs are linear in (q, qd)
        and the steps fixed; or ``law(t, q, qd)`` that returns
        forces ``(..., nu)`` for the whole batch, called once per sample with what is
        measured of the state; with `sensors` it is ``law(t, y)``.  Its method
        ``reset(q, qd)``, if there is one, is called before the first sample.
    q0, qd0 : (..., nq), (..., nv) array_like of float
        Initial state.  Leading axes broadcast, with those of the controller too.
    t : (n,) array_like of float
        Times of the result in s, increasing; the first is that of `q0` and of the first
        sample.  They need not be those of the samples.
    sample_time : float, optional
        T in s; by default that for which the law is made, its attribute ``dt``.
    delay : float
        Time from the measurement to the change of the forces in s; it need not be a
        whole number of samples.
    saturation : float, (nu,) or (2, nu) array_like of float, optional
        Largest force of each actuator in both directions, or smallest and largest one.
    noise : float or (..., p) array_like of float, optional
        Standard deviations of Gaussian noise that is added to the outputs at each
        sample, white, in their units.
    quantization : float or (p,) array_like of float, optional
        Resolution of the outputs: noisy values are rounded to its multiples.
    command_resolution : float or (nu,) array_like of float, optional
        Resolution of the forces in N m or N, rounded first and then limited.
    sensors : str, Output, list of these, (p, 2 nv) array_like, or callable, optional
        What is measured: outputs as `flexarm.linearize` takes them, ``"state"``,
        ``["joint positions", "joint velocities"]``, ``("strain", "link1", 0.0)``,
        ``"tip position xy"``; ``"actuators"``, positions and velocities of motors where
        joints have them; rows that multiply (q, qd); or ``measure(t, q, qd)`` that
        returns ``(..., p)``.  By default that of the law, its attribute ``sensors``,
        and without one the state.
    seed : int, optional
        Seed of the noise; by default a random one, which the result records.
    u0 : (..., nu) array_like of float, optional
        Forces before those of the first sample arrive; by default none.
    method : str
        Integrator in C as in `simulate`: ``"rk4"``, ``"ROS34PW2"``, ``"newmark"``,
        ``"linear-acceleration"``, ``"generalized-alpha"``, or ``"Rodas4P"``.
    max_step : float, optional
        Longest step in s.  By default one step from each change of the forces, sample
        or time of `t` to the next, or a fifth of the stable step of ``"rk4"`` where
        they are further apart than that.
    rtol, atol : float, optional
        Tolerances of ``"Rodas4P"``, by default 1e-8 and 1e-10; others take none.
    spectral_radius : float
        Of ``"generalized-alpha"``.
    threads : int
        Largest number of threads for a batch in C.

    Returns
    -------
    LoopRun
        A `Trajectory` with the samples.  A loop that is interrupted by Ctrl-C or
        diverges returns what it has, NaN after that, with ``success=False``; `message`
        also reports how often limits of actuators were active, and doubts: constraints
        that are violated, for which a ConstraintWarning is given, steps that are too
        long or unstable, for which an AccuracyWarning is given as by `simulate`, and
        motions that grow without bound.

    Raises
    ------
    ArgumentError
        If the law or `sensors` return a wrong shape or numbers that are not finite.
        Exceptions on the way carry what was reached as their attribute ``run``.

    See Also
    --------
    flexarm.simulate : laws in continuous time.
    LinearController : laws whose loop runs in C.
    flexarm.reference.patent_loop.ManipulatorController : a model in the loop.

    Notes
    -----
    A sample at the time of a change sees the state there, which the change does not
    alter, so that a delay of zero and one of a whole sample are exact.  Times that
    differ by less than 1e-9 of a sample are taken as one.

    Accelerations are measured under the forces that act until the sample.

    Noise and rounding are those of positions and velocities where the law sees the
    state; noise on quaternions is a small turn.  Each member of a batch draws from a
    stream of its own, so that its numbers do not depend on the size of the batch, nor
    on the number of threads.

    Implicit methods treat the held forces as such: gains make no step unstable that
    the sampled loop itself does not.

    References
    ----------
    .. [1] K. Astrom, B. Wittenmark, *Computer-Controlled Systems*, 3rd ed., 1997,
       chapters 2 and 3 (samples, delays), 10 (rounding).

    Examples
    --------
    A mass of 1 kg is brought to rest within two samples (deadbeat):

    >>> import numpy as np
    >>> import flexarm as fa
    >>> mass = fa.RigidBody("mass", fa.Joint.prismatic("x"), mass=1.0)
    >>> arm = fa.Arm([mass])
    >>> law = fa.control.LinearController(
    ...     None, None, None, [[-100.0, -15.0]], dt=0.1    # -1/T^2, -3/(2T)
    ... )
    >>> run = fa.control.simulate_loop(arm, law, [1.0], [0.0], [0.0, 0.1, 0.2, 0.3])
    >>> run.q[:, 0].round(9) + 0.0
    array([1. , 0.5, 0. , 0. ])

    Three of them, with a weaker actuator:

    >>> run = fa.control.simulate_loop(
    ...     arm, law, [[0.5], [1.0], [2.0]], [0.0], [0.0, 0.1, 0.2], saturation=80.0
    ... )
    >>> run.saturated[:, :, 0]
    array([[False, False, False],
           [ True, False, False],
           [ True, False,  True]])

    Masses of 1 and 2 kg under the same law, each in its own lane:

    >>> heavy = fa.Arm([mass.replace(mass=2.0)])
    >>> run = fa.control.simulate_loop(
    ...     fa.stack([arm, heavy]), law, [1.0], [0.0], [0.0, 0.1, 0.2]
    ... )
    >>> run.q[:, :, 0].round(3) + 0.0
    array([[1.  , 0.5 , 0.  ],
           [1.  , 0.75, 0.25]])
    """
    one = any_of(arm)
    t = times(t)
    check_method(one, method, METHODS)
    check_step(max_step, t)
    sample = _sample_time(law, sample_time, t)

    # arrays of the loop
    starts = state(arm, "q0", q0), state(arm, "qd0", qd0)
    step = inf if max_step is None else float(max_step)
    if max_step is None and method == "rk4":
        step = step_of_loop(arm, starts[0], t, sample)
    given, held = law, getattr(law, "_held", None)  # of a law of each instant
    if held is not None:
        law = held(sample)
    loop = Loop(
        arm,
        law,
        starts,
        t,
        sample,
        float(delay),
        inf if method == "Rodas4P" else step,
        u0,
    )
    loop.method = method
    loop.options = options_of(method, rtol, atol, spectral_radius, step)
    loop.threads = threads_of(threads)
    loop.measure(sensors, noise, quantization, seed)
    loop.limit(saturation, command_resolution)

    # linear laws in C, others from knot to knot
    linear = isinstance(law, LinearController) and loop.sensors.rows is not None
    note = ""
    try:
        if linear and method in CORE:
            run_core(loop)
        else:
            run_callback(loop)
    except KeyboardInterrupt:
        note = "interrupted"
    except Exception as error:
        vars(error)["run"] = loop.result("stopped by an exception")
        raise
    run = loop.result(note)
    warn_of_spillover(given, arm, q0, sample)
    warn_of_stiffening(arm, run.q, run.qd)
    return judged(run, loop.report, loop.longest_step)


def _sample_time(law: object, sample_time: float | None, t: Array) -> float:
    """Sample time of the call or of the law."""
    own = getattr(law, "dt", None)
    if sample_time is None:
        if own is None:
            raise ArgumentError(
                "sample_time is None and the law has no attribute dt, expected a time "
                "in s from sample to sample"
            )
        sample_time = own
    sample = positive_number("sample_time", sample_time)
    if own is not None and abs(sample - own) > 1e-9 * own:
        raise ArgumentError(
            f"sample_time is {sample:g} s and the controller is made for {own:g} s, "
            "expected the same; leave sample_time out"
        )
    if (t[-1] - t[0]) / sample > 1e9:
        raise ArgumentError(
            f"sample_time is {sample:g} s for a run of {t[-1] - t[0]:g} s, expected "
            "at most 1e9 samples"
        )
    return sample
