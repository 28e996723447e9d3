"""Identification of parameters of an arm from its measured motion."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_numbers, real_array
from .._calls.declared import Choice, Floats, Positive, Sequenced, kind_of_annotation
from .._calls.doors import checked
from .._support.arrays import Array
from .._support.interrupts import held
from .._support.recorded import recorded
from .._support.warn import warn
from ..arm import Arm
from ..errors import ArgumentError, ConvergenceWarning, ModelError
from ..optimize.search import Search, read_search
from ..parameters.tangent import Arms
from ..parameters.trajectory_sensitivity import INTEGRATORS
from ._inverse_dynamics import EquationError, refuse_few
from ._output_error import OutputError, Problem, Steps
from ._postures import Postures, Statics
from ._records import Record, Sensing, alike, read_records, standard_deviations
from ._responses import FrequencyResponse, ResponseError, read_responses
from ._result import STATIC, Identification, identified
from ._search import Bounds as Pairs
from ._search import FitOptions, fit, in_stages, scatter_of

Bounds: TypeAlias = Annotated[
    Sequence[Sequence[float | None]],
    Sequenced(
        kind_of_annotation(Sequence[float | None]),
        "pairs (lower, upper), one for each of p0, None for no bound",
    ),
]

Data: TypeAlias = Record | Postures | FrequencyResponse

_SEARCH: dict[str, object] = {"tolerance": 1e-8, "max_iterations": 200}
_SEARCH |= {"time_limit": np.inf, "progress": None}


@checked
@recorded("identification.identify")
def identify(
    make_arm: Callable[[Array], Arm],
    p0: Annotated[ArrayLike, Floats("(k,)")],
    measured: Data | Sequence[Data],
    *,
    names: Sequence[str] | None = None,
    bounds: Bounds | None = None,
    sigma: Annotated[ArrayLike, Floats("(m,)", "()")] | None = None,
    outputs: object = "joint positions",
    inputs: Callable[[Array, Array], Array] | None = None,
    method: Annotated[str, Choice("output error", "inverse dynamics")] = "output error",
    estimate_state: bool | str | Sequence[str] = False,
    stages: Sequence[float] | None = None,
    scale: Annotated[ArrayLike, Floats("(k,)")] | None = None,
    interpolation: Annotated[str, Choice("linear", "hold")] = "linear",
    integrator: Annotated[str, Choice(*INTEGRATORS)] = "rk4",
    max_step: Positive | None = None,
    search: Search | Mapping[str, object] | None = None,
) -> Identification:
    r"""Parameters of an arm from measured motion, with confidence intervals.

    .. math:: \min_p \sum_{i,j} \Bigl(\frac{y_j(t_i) - h_j(q, \dot q, \ddot q; p)}
        {\sigma_j}\Bigr)^2, \qquad \operatorname{cov} p = (J^T J)^{-1}

    Parameters
    ----------
    make_arm : callable
        ``make_arm(p)`` returns the arm of parameters (k,): payload, bending stiffness,
        damping, friction, stiffness of joints, lengths, anything smooth.  It is called
        once for each parameter in each step of the search, four times in the last one.
    p0 : (k,) array_like of float
        First values, in any units.
    measured : Record, Postures, FrequencyResponse or a list of one of them
        Recorded runs, all with the same parameters, in which joints may be inputs, see
        ``Record.prescribed``; or postures at rest under known loads, or responses of
        small motions, all of the same inputs, for both of which options of motions are
        refused.
    names : sequence of str, optional
        Names of the parameters, ``"p[0]"`` and so on by default.
    bounds : sequence of k pairs, optional
        Lower and upper bounds, None where there is none; zero where no arm has a
        negative parameter.
    sigma : (m,) array_like of float, or float, optional
        Standard deviations of the noise of the signals, in their units; estimated if
        not given.
    outputs : str, Output, Sensor or list, or callable
        Measured outputs, the columns of ``Record.y``; see `flexarm.outputs`.  Small
        rotations are excluded, since they depend on a reference posture.  A function
        ``outputs(p)`` returns them for parameters, which may be numbers of a `Sensor`:
        gain, offset, low-pass, delay.
    inputs : callable, optional
        ``inputs(p, u)`` returns the forces of the actuators, (n, nu) or (n, nv), for
        parameters and what the records have as ``tau``, (n, m), such as volts:
        ``lambda p, u: motor(p).torque(u)`` with a `flexarm.DCMotor`.
    method : {"output error", "inverse dynamics"}
        Compare the motion of a simulation with the measured one, or the forces that the
        measured motion needs with those that acted, without simulation: a rough guess
        for rigid arms with measured joint positions, as a start for the first method.
    estimate_state : bool, str or sequence of str
        Whether initial states are unknown, too, one for each record: all, or those with
        these names out of ``arm.coordinate_names`` and, with ``" rate"``, their rates.
        The estimation starts with those of the records.
    stages : sequence of float, optional
        Parts of the records that are fitted one after the other, such as ``(0.1, 0.3,
        1.0)``.  Vibration that is out of phase has many minima; the first periods have
        fewer.  By default parts that grow as far as the last fit predicts the motion.
    scale : (k,) array_like of float, optional
        Typical sizes of the parameters, by default those of `p0`, one where it is zero.
    interpolation : {"linear", "hold"}
        Of forces between samples, as in `simulate`.
    integrator : {"rk4", "newmark", "linear-acceleration", "generalized-alpha"}
        Method of `simulate`.
    max_step : float, optional
        Longest step of `simulate` in s; by default one from sample to sample, or as
        many as are stable and accurate: half of them would move no estimate by more
        than a tenth of its standard deviation.
    search : Search or mapping, optional
        Tolerance, the last relative change of the parameters (1e-8); max_iterations,
        the largest number of motions (200); time_limit (none), progress.

    Returns
    -------
    result : Identification
        Estimates, intervals, residuals; ``print`` shows a table, and notes on
        parameters that the data do not determine and on residuals that contradict the
        model.  A search that stops early, also by Ctrl-C, warns and returns its best.
        So does one whose end explains the data badly: residuals above 30 % of a signal
        that are correlated in time, a local minimum or a wrong model.

    Raises
    ------
    ArgumentError
        If records do not fit the arm or have fewer samples than there are unknowns.
    NotFiniteError
        If the motion with the parameters `p0` diverges; later the search steps back
        from motions that diverge.
    ModelError
        If no arm has the parameters `p0`.

    See Also
    --------
    simulated_record : records with noise, for experiments beforehand.
    predicted_signals : of other runs, with which to test what was found.
    identify_base_parameters : combinations on which forces of a rigid arm depend.
    flexarm.trajectory_sensitivities : the derivatives.
    flexarm.plotting.identification : measured and predicted signals, residuals.

    Notes
    -----
    Output error [1]_: with white noise on the signals and none on the forces these are
    the most likely parameters, and their covariance reaches the Cramer-Rao bound.
    The search takes differences of motions; its end and all statistics take derivatives
    that are exact for the numbers that the integrator computes, by
    `trajectory_sensitivities` forward, with those of signals and of a static
    equilibrium at the start.  Steps are those of Levenberg and Marquardt, projected
    into the bounds [2]_.  Unknown noise is estimated from the residuals, iterated with
    the weights; quantiles are those of Student's t.

    Where residuals are correlated in time the covariance is that of least squares under
    autoregressive noise of each signal, :math:`(J^T J)^{-1} J^T R J (J^T J)^{-1}`, with
    orders by Bayes' criterion and a correction for the noise that the estimates
    absorb [4]_.  Samples should be evenly spaced then.  Residuals below 0.3 of a given
    `sigma`, as of data without noise, say nothing about noise: it counts as white.

    Limitations: intervals are those of the linearized model, too narrow where the noise
    is strong, and wrong with a wrong model, which `Identification.whiteness` shows.
    Dry friction is differentiated through its smoothing (`CoulombFriction`), so that
    its force is found like any other parameter where the arm moves; the smoothing
    velocity has an effect only at reversals, which steps of the integrator have to
    resolve.  An arm that sticks all the time shows no friction.  Accelerations are
    those just after the samples, which matters for forces that are held.

    Prescribed joints follow their positions through springs and dampers: 4 over the
    step of the samples is the angular frequency of the inertia that they move.  They
    lag by some (w h / 4)^2 of a motion at w, and by loads over this stiffness; a note
    says so from 0.1 % of the range on.  `max_step` is shortened where they need it.

    Method "inverse dynamics" puts splines of degree five through the positions and
    minimizes the error of the equations of motion, linear for masses, springs and
    viscous friction.  Noise on positions, doubled by derivatives, biases it [3]_.

    References
    ----------
    .. [1] L. Ljung, *System Identification: Theory for the User*, 2nd ed., 1999,
       sections 7.4 and 9.4; R. Jategaonkar, *Flight Vehicle System Identification*,
       2nd ed., 2015, chapter 4.
    .. [2] C. Kanzow, N. Yamashita, M. Fukushima, *J. Comput. Appl. Math.* 172 (2004),
       375-397.
    .. [3] M. Gautier, A. Janot, P.-O. Vandanjon, "A new closed-loop output error method
       for parameter identification of robot dynamics", *IEEE Trans. Control Syst.
       Technol.* 21 (2013), 428-444.
    .. [4] R. Davidson, J. MacKinnon, *Econometric Theory and Methods*, 2004, sections
       5.5 and 7.4.

    Examples
    --------
    Mass and friction of a pendulum from 2 s of its fall, measured to 0.01 rad:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> def make_arm(p):
    ...     rod = fa.library.pendulum(mass=p[0], com=0.5).bodies[0]
    ...     joint = rod.joint.replace(damping=p[1])
    ...     return fa.Arm([rod.replace(joint=joint)])
    >>> t = np.linspace(0.0, 2.0, 101)
    >>> tau = 2.0 * np.sin(5.0 * t)
    >>> run = fa.simulate(make_arm([2.0, 0.3]), [0.3], [0.0], t, torque=tau[:, None])
    >>> record = fa.identification.simulated_record(run, noise=0.01, seed=3)
    >>> found = fa.identification.identify(make_arm, [1.0, 0.1], record, sigma=0.01)
    >>> bool((abs(found.p - [2.0, 0.3]) < 3.0 * found.std).all()), found.success
    (True, True)
    >>> float(found.std[0].round(3))
    0.007
    """
    started = time.perf_counter()
    postures, responses = alike(measured, Postures), read_responses(measured)
    kind = "postures" if postures else "frequency responses" if responses else ""
    records = () if kind else read_records(cast("Sequence[Record]", measured))
    steps = Steps(interpolation, integrator, max_step)
    every = read_search(search, _SEARCH, "identify")
    # parameters, and residuals of the chosen method
    p, known_names, size, limits = unknowns(p0, names, scale, bounds)
    arms, parts = Arms(make_arm), _parts(stages)
    problem: OutputError | EquationError | Statics | ResponseError
    if kind or method == "inverse dynamics":
        given = {"estimate_state": estimate_state is not False}
        given |= {"stages": stages is not None, "inputs": inputs is not None}
        given |= {"method": method != "output error", "sigma": sigma is not None}
        given |= {"integrator": integrator != "rk4", "max_step": max_step is not None}
        given["interpolation"] = interpolation != "linear"
        _refuse_unused(kind, given)
    if postures:
        method, problem = STATIC, Statics(arms, p, postures, outputs)
    elif responses:
        problem = ResponseError(arms, p, responses, outputs)
        method, sigma = "frequency response", problem.noise(sigma)
    elif method == "inverse dynamics":
        problem = EquationError(arms, p, records, outputs)
    else:
        problem = OutputError(arms, p, records, outputs, estimate_state, steps, inputs)
    refuse_few(problem, "samples", "unknowns")
    # the search, also for initial states
    states = np.zeros(problem.n - len(p))
    x0, known = np.concatenate([p, states]), sigma is not None
    options = FitOptions(_first_noise(problem, sigma), known, **every)
    low, high = existing(problem.exists, p, size, limits)
    problem.bounds = np.append(low, states - np.inf), np.append(high, states + np.inf)
    problem.size = size
    if isinstance(problem, OutputError):
        problem.settle(x0)
        problem.size = np.concatenate([size, problem.check_start(x0)])
    elif isinstance(problem, Statics):
        problem.settle(x0)
    with held():
        if isinstance(problem, OutputError):
            found = in_stages(problem, x0, parts, options)
        else:
            found = fit(problem, x0, options)
        arm = arms(found.x[: len(p)])
        result = identified(problem, found, arm, known_names, known, method, started)
    if result.status == "poor fit":
        warn(f"{method} found a poor fit: {result.message}", ConvergenceWarning)
    elif not result.success:
        warn(
            f"{method} stopped early ({result.status}): {result.message}; the result "
            "is the best found",
            ConvergenceWarning,
        )
    return result


def _refuse_unused(kind: str, given: Mapping[str, bool]) -> None:
    """Refuse options that data without motion, or inverse dynamics, do not use."""
    still, method = f"{kind}, which have no motion", "method 'inverse dynamics', which "
    steps = ("interpolation", "integrator", "max_step")
    why = dict.fromkeys(("method", "estimate_state", "stages", "inputs", *steps), still)
    if not kind:
        why = {
            **dict.fromkeys(steps, method + "simulates no motion"),
            "estimate_state": method + "needs no initial state",
            "sigma": method + "estimates the error of its forces",
            "inputs": method + "compares forces in tau with its own",
        }
    for name, words in why.items():
        if given[name]:
            raise ArgumentError(f"{name} is given for {words}; leave it out")


def existing(
    arms: Callable[[Array], object], p: Array, size: Array, bounds: Pairs
) -> Pairs:
    """Bounds, with zero where no arm has a negative parameter: no bound but a wall."""
    low = bounds[0].copy()
    for j in np.flatnonzero((p >= 0.0) & ~np.isfinite(low)):
        for value in (-1e-3, 0.0):
            moved = p.copy()
            moved[j] = value * size[j]
            try:
                arms(moved)
            except ModelError:
                low[j] = 0.0 if value < 0.0 else min(1e-3 * size[j], p[j])
            else:
                break
    return low, bounds[1]


def _first_noise(problem: Problem, sigma: ArrayLike | None) -> Array:
    """Noise as given, or the scatter of the signals as first weights."""
    if sigma is None:
        return scatter_of(problem)
    return standard_deviations("sigma", sigma, len(problem.signals), least=None)


def unknowns(
    p0: ArrayLike,
    names: Sequence[str] | None,
    scale: ArrayLike | None,
    bounds: Bounds | None,
) -> tuple[Array, tuple[str, ...], Array, tuple[Array, Array]]:
    """Start, names, sizes and bounds of the parameters."""
    p = np.array(real_array("p0", p0))
    if p.ndim != 1 or not len(p):
        raise ArgumentError(f"p0 has shape {p.shape}, expected one axis of parameters")
    check_numbers("p0", p)
    k = len(p)
    labels = tuple(f"p[{i}]" for i in range(k)) if names is None else tuple(names)
    if len(labels) != k or len(set(labels)) != k:
        raise ArgumentError(
            f"names is {names!r}, expected {k} different ones, one for each of p0"
        )
    # sizes, then bounds
    size = np.where(p == 0.0, 1.0, np.abs(p))
    if scale is not None:
        size = np.array(real_array("scale", scale))
        if size.shape != (k,) or not (np.isfinite(size) & (size > 0.0)).all():
            raise ArgumentError(
                f"scale is {np.shape(scale)} numbers, expected {k} positive sizes"
            )
    pairs = [(None, None)] * k if bounds is None else [tuple(x) for x in bounds]
    if len(pairs) != k or any(len(pair) != 2 for pair in pairs):
        raise ArgumentError(
            f"bounds is {bounds!r}, expected {k} pairs (lower, upper), None for no "
            "bound"
        )
    ends = [[-np.inf if a is None else a, np.inf if b is None else b] for a, b in pairs]
    low, high = np.array(ends, dtype=float).T
    for name, a, x, b in zip(labels, low, p, high, strict=True):
        if not a < b or not a <= x <= b:
            raise ArgumentError(
                f"{name} starts at {x:g} with bounds {a:g} and {b:g}, expected a start "
                "between two bounds, the first below the second"
            )
    return p, labels, size, (low, high)


def _parts(stages: Sequence[float] | None) -> list[float] | None:
    """Parts of the records that are fitted one after the other, None to choose."""
    if stages is None:
        return None
    parts = [float(x) for x in stages]
    rises = all(a < b for a, b in pairwise(parts))
    if not parts or not rises or not parts[0] > 0.0 or parts[-1] != 1.0:
        raise ArgumentError(
            f"stages is {stages!r}, expected increasing parts of the records, above 0 "
            "and up to 1, such as (0.2, 1.0)"
        )
    return parts


@checked
def predicted_signals(
    arm: Arm,
    measured: Record | Postures | Sequence[Record | Postures],
    *,
    outputs: object = "joint positions",
    interpolation: Annotated[str, Choice("linear", "hold")] = "linear",
    integrator: Annotated[str, Choice(*INTEGRATORS)] = "rk4",
    max_step: Positive | None = None,
) -> list[Array]:
    """Signals that an arm shows in recorded runs, by simulation.

    Parameters
    ----------
    arm : Arm
        Such as `Identification.arm`, or that of nominal data.
    measured : Record, Postures or a list of one of them
        Times, forces, prescribed joints and initial states; signals `y` are not used.
    outputs : str, Output, Sensor or list
        The signals, as of `identify`; of its functions ``outputs(found.p)``.
    interpolation, integrator, max_step
        As of `identify`.

    Returns
    -------
    signals : list of (n, m) ndarray of float
        Of each record, in the units of the outputs and sensors.

    Raises
    ------
    NotFiniteError
        If a motion diverges.
    ArgumentError
        If records do not fit the arm, or one starts `at_rest` where the arm has no
        equilibrium.

    See Also
    --------
    identify : parameters with which such signals are the measured ones.

    Examples
    --------
    A pendulum whose joint is turned by hand, as seen by a sensor with an offset:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> t = np.linspace(0.0, 1.0, 101)
    >>> turned = 0.1 * np.sin(3.0 * t)
    >>> record = fa.identification.Record(t, np.zeros(101), prescribed={"rod": turned})
    >>> sensor = fa.identification.Sensor("joint positions", offset=0.5)
    >>> (angle,) = fa.identification.predicted_signals(arm, record, outputs=sensor)
    >>> bool(abs(angle[:, 0] - turned - 0.5).max() < 2e-4)
    True
    """
    postures = alike(measured, Postures)
    if postures:
        statics = Statics(lambda p: arm, np.zeros(0), postures, outputs)
        statics.settle(np.zeros(0))
        return statics.predict(np.zeros(0)) or []
    m = len(Sensing(arm, outputs).names)
    blank = [replace(r, y=np.zeros((len(r.t), m))) for r in read_records(measured)]
    steps = Steps(interpolation, integrator, max_step)
    problem = OutputError(
        lambda p: arm, np.zeros(0), tuple(blank), outputs, False, steps
    )
    x = np.zeros(0)
    problem.settle(x)
    problem.check_start(x)
    found = problem.predict(x)
    if found is None:
        raise ArgumentError(
            "the arm has no static equilibrium where a record starts at_rest; expected "
            "one, or an initial state"
        )
    return found
