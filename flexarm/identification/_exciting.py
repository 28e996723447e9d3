"""Motions whose records determine parameters as well as limits allow."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from .._calls.arguments import check_actuated, check_arm, check_numbers, real_array
from .._calls.declared import Choice, Floats, Posture
from .._calls.doors import checked
from .._support.arrays import Array
from .._support.checks import as_generator
from .._support.interrupts import allowed, held
from .._support.recorded import recorded
from ..arm import Arm
from ..errors import ArgumentError, ModelError
from ..optimize.answers import Excited, OptimalMotion, Timings, unverified, warned
from ..optimize.limits import Limits, LimitsLike, read_limits
from ..optimize.search import Search, read_search
from ..parameters import base_parameters
from ..parameters.tangent import Arms
from ..simulation.run import times
from ._covariance import Combinations
from ._excitation import (
    FAMILIES,
    Excitation,
    RigidExcitation,
    Seen,
    SimulatedExcitation,
)
from ._identify import unknowns
from ._inverse_dynamics import read_rigid
from ._records import signals_of, standard_deviations
from ._result import MESSAGES
from ._search import Stopped

_KEPT = ("torque", "torque_rate", "position", "velocity", "acceleration", "tip_speed")
_BOUNDING = ("torque", "position", "velocity", "acceleration")
# Step of differences of coefficients, in units of their size.  With half and twice of
# it objectives are equal to 0.01, the scatter of local optima.
_DIFFERENCE = 1e-3
# Objective of motions that diverge or determine nothing.  With half and twice of it
# searches are the same: those of others are below 100.
_WORST_VALUE = 1e3
_SEARCH: dict[str, object] = {"tolerance": 1e-3, "max_iterations": 60}
_SEARCH |= {"time_limit": np.inf}
_MESSAGES = MESSAGES | {
    "interrupted": "interrupted before the search reached its tolerance",
    "failed": "no motion within the limits shows all parameters",
}


@checked
@recorded("identification.exciting_motion")
def exciting_motion(
    make_arm: Callable[[Array], Arm] | Arm,
    p: Annotated[ArrayLike, Floats("(k,)")] | None,
    t: Annotated[ArrayLike, Floats("(n,)")],
    *,
    sigma: Annotated[ArrayLike, Floats("(m,)", "()")],
    limits: LimitsLike = None,
    outputs: object = "joint positions",
    q0: Posture | None = None,
    harmonics: Sequence[int] | None = None,
    criterion: Annotated[str, Choice("determinant", "condition")] = "determinant",
    scale: Annotated[ArrayLike, Floats("(k,)")] | None = None,
    seed: int = 0,
    search: Search | Mapping[str, object] | None = None,
) -> OptimalMotion:
    r"""Motion whose record determines the parameters of an arm best.

    .. math:: \max_c \log\det J^T J, \qquad
        J = \frac{1}{\sigma_j}\frac{\partial h_j(t_i)}{\partial p}

    Parameters
    ----------
    make_arm : callable or Arm
        ``make_arm(p)`` returns the arm of parameters (k,), as for `identify`.  A rigid
        arm itself stands for its base parameters, seen by its forces, as for
        `identify_base_parameters`.
    p : (k,) array_like of float or None
        Expected parameters; None with an arm.
    t : (n,) array_like of float
        Times of the samples in s, evenly spaced; the motion lasts as long.
    sigma : (m,) array_like of float, or float
        Standard deviations of the noise of the signals, with an arm of the forces
        (nu,).
    limits : Limits or mapping
        Torque, torque_rate, position, velocity, acceleration, tip_speed, outputs; those
        of the joints by default.  Each joint needs one that bounds it.
    outputs : str, Output or list
        Measured outputs, the columns of `Record.y`; not used with an arm.
    q0 : (nq,) array_like of float, optional
        Posture at the start and the end; by default ``arm.neutral``.  Links bend there
        under their weight.
    harmonics : sequence of int, optional
        Frequencies of the motion of the joints over one per duration; by default up to
        eight, as far as 1.3 times the first natural frequency of the links with free
        joints, five of a rigid arm.
    criterion : {"determinant", "condition"}
        What is improved: the volume of the region of confidence, or the condition
        number of J with parameters in units of `scale`.
    scale : (k,) array_like of float, optional
        Typical sizes of the parameters, by default those of `p`, one where it is zero,
        and one for all base parameters.
    seed : int
        Of the first motions: the search starts from the best two of 32.
    search : Search or mapping, optional
        Tolerance of the objective (0.005), max_iterations of each start (60),
        time_limit (none).

    Returns
    -------
    motion : OptimalMotion
        Motion and forces at `t`.  ``objective`` is the logarithm of the geometric mean
        of the half axes of the region of one standard deviation, in units of `scale`,
        or of the condition number.  ``excited`` has ``std`` (k,) and ``covariance``
        (k, k) of estimates from one record, ``condition``, ``names`` of base parameters
        or of parameters, and ``harmonics``.  ``verification`` is a
        simulation with finer steps; a motion that exceeds a limit there by more than
        1 % fails and warns.

    Raises
    ------
    ArgumentError
        If a joint has no limit, or the rest at `q0` breaks one.
    ModelError
        If no arm has the parameters, or no equilibrium at `q0`.

    See Also
    --------
    identify : parameters from records of such motions.
    simulated_record : a record of ``motion.verification.trajectory`` with noise.

    Notes
    -----
    Motions of the joints are finite Fourier series [1]_ that start and end at rest; a
    feedback of the joints makes the forces; a rigid arm for its base parameters follows
    the series itself, and its verification has four times as many samples.  With
    `make_arm` what counts is the motion under these forces alone, as `identify`
    simulates it, with known initial state; J has
    differences of simulated motions in the search, the exact derivatives of `identify`
    at its end.  For a linear model with white noise, ``excited.covariance`` is the
    Cramer-Rao bound, which the estimates of `identify` reach.  The search is sequential
    quadratic programming (SLSQP of SciPy) with smooth largest values of what is
    limited; the best motion is then scaled until it touches a limit.  Links bend to
    slopes of at most 0.5.  A local optimum: other seeds may find better ones.

    An arm that is unstable without feedback has forces that no open loop can apply;
    its predicted deviations are too small.

    References
    ----------
    .. [1] J. Swevers, C. Ganseman, D. Tukel, J. De Schutter, H. Van Brussel, "Optimal
       robot excitation and identification", *IEEE Trans. Robot. Autom.* 13 (1997),
       730-740.

    Examples
    --------
    A motion of 2 s that shows mass and friction of a pendulum, in standard deviations:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> def make_arm(p):
    ...     rod = fa.library.pendulum(mass=p[0], com=0.5).bodies[0]
    ...     joint = rod.joint.replace(damping=p[1])
    ...     return fa.Arm([rod.replace(joint=joint)])
    >>> motion = fa.identification.exciting_motion(
    ...     make_arm,
    ...     [2.0, 0.3],
    ...     np.linspace(0.0, 2.0, 101),
    ...     sigma=0.01,
    ...     limits={"torque": 20.0, "velocity": 3.0},
    ...     q0=[-np.pi / 2],
    ... )
    >>> motion.success, bool((motion.excited.std < [0.01, 0.01]).all())
    (True, True)
    """
    started = time.perf_counter()
    options = read_search(search, _SEARCH, "exciting_motion")
    clock = times(t)
    if len(clock) < 3 or np.ptp(np.diff(clock)) > 1e-6 * (clock[1] - clock[0]):
        raise ArgumentError(
            f"t has {len(clock)} times, expected three or more that are evenly spaced"
        )
    problem: Excitation
    if isinstance(make_arm, Arm):
        if p is not None:
            raise ArgumentError(
                "p is given with an arm, whose base parameters are known; expected None"
            )
        read_rigid(make_arm, "joint positions")
        base = base_parameters(make_arm, families=FAMILIES)
        scale = np.ones(len(base.values)) if scale is None else scale
        _, names, size, _ = unknowns(base.values, base.names, scale, None)
        noise = standard_deviations("sigma", sigma, make_arm.nu, least=None)
        asked = _asked(make_arm, limits, q0)
        common = make_arm, size, clock, *asked, noise, harmonics
        problem = RigidExcitation(*common, base)
    else:
        if p is None:
            raise ArgumentError("p is None, expected parameters of make_arm")
        values, names, size, _ = unknowns(p, None, scale, None)
        arms = Arms(make_arm)
        arm = arms(values)
        signals = signals_of(arm, outputs)[1]
        noise = standard_deviations("sigma", sigma, len(signals), least=None)
        asked = _asked(arm, limits, q0)
        common = arm, size, clock, *asked, noise, harmonics
        problem = SimulatedExcitation(*common, arms, values, outputs)
    best = _Best(problem, criterion)
    setup = time.perf_counter()
    with held():
        status, iterations = _searched(best, as_generator("seed", seed), options, setup)
        found = time.perf_counter()
        motion = _motion(best, names, status, iterations)
        ended = time.perf_counter()
        spent = setup - started, found - setup, ended - found, ended - started
    return warned(replace(motion, timings=Timings(*spent)))


def _asked(arm: Arm, limits: LimitsLike, q0: ArrayLike | None) -> tuple[Array, Limits]:
    """Posture at the start and limits of an arm that can be excited."""
    check_arm(arm)
    check_actuated(arm, "exciting_motion")
    if not arm.nu or arm._held:
        raise ArgumentError(
            "the arm has constraints or no joints, expected a tree with joints"
        )
    bounds = read_limits(limits, arm, (*_KEPT, "outputs"), "exciting_motion")
    for k, name in enumerate(arm.coordinate_names[: arm.nu]):
        pairs = [np.asarray(getattr(bounds, what))[:, k] for what in _BOUNDING]
        if not any(np.isfinite(pair).all() for pair in pairs):
            raise ArgumentError(
                f"limits has none of {', '.join(_BOUNDING)} for {name!r}, expected one "
                "in both directions: without it a larger motion always shows more"
            )
    start = np.array(arm.neutral if q0 is None else real_array("q0", q0))
    if start.shape != (arm.nq,):
        raise ArgumentError(f"q0 has shape {start.shape}, expected ({arm.nq},)")
    check_numbers("q0", start)
    return start, bounds


class _Best:
    """Objective of coefficients, with a memory of the best motion within limits."""

    def __init__(self, problem: Excitation, criterion: str) -> None:
        self.problem, self.criterion = problem, criterion
        self.c, self.value = np.zeros(problem.series.count), np.inf
        self._known: dict[bytes, Seen | None] = {}
        rest = problem.look(self.c[np.newaxis], only=True)[0]
        if rest is None:
            raise ModelError("the motion of the arm at rest at q0 diverges")
        if (rest.hard >= 0.0).any():
            name = rest.names[int(np.argmax(rest.hard))]
            raise ArgumentError(
                f"the {name} at rest at q0 is at its limit or beyond, expected another "
                "q0, or wider limits"
            )
        self.rest = rest.hard

    def value_of(self, seen: Seen | None) -> float:
        """Objective, to be minimized."""
        F = np.zeros((1, 1)) if seen is None else seen.jacobian.T @ seen.jacobian
        norms = np.sqrt(np.diag(F))
        if not norms.all():
            return _WORST_VALUE
        squares = np.linalg.eigvalsh(F / np.outer(norms, norms))
        if not squares[0] > 1e-13:  # rounding decides what is determined
            return _WORST_VALUE
        if self.criterion == "determinant":
            return float(-0.5 * np.log(squares).mean() - np.log(norms).mean())
        low, high = np.linalg.eigvalsh(F)[[0, -1]]
        return float(0.5 * np.log(high / low)) if low > 0.0 else _WORST_VALUE

    def look(self, c: Array) -> list[Seen | None]:
        """Look at motions (B, count), and keep the best."""
        found = self.problem.look(c)
        for row, seen in zip(c, found, strict=True):
            value = self.value_of(seen)
            if seen is not None and (seen.hard <= 0.0).all() and value < self.value:
                self.c, self.value = row.copy(), value
        return found

    def at(self, c: Array) -> Seen | None:
        """Information of one motion, computed once."""
        key = c.tobytes()
        if key not in self._known:
            self._known = {key: self.look(c[np.newaxis])[0]}
        return self._known[key]

    def use(self, seen: Seen | None) -> float:
        """Part of the limits that a motion uses, one at a limit."""
        if seen is None:
            return 10.0
        return float(((seen.hard - self.rest) / -self.rest).max())

    def scaled(self, c: Array, only: bool = False) -> Array:
        """The same motions (B, count) as large as the limits allow."""
        kept = 0.0 * c
        for _ in range(5):  # corrections, each in proportion to what is used
            found = self.problem.look(c, only) if only else self.look(c)
            use = np.array([self.use(seen) for seen in found])
            kept[use <= 1.0] = c[use <= 1.0]
            c = c * (0.999 / np.maximum(use, 1e-6))[:, np.newaxis].clip(0.05, 20.0)
        return kept


def _searched(
    best: _Best, rng: np.random.Generator, options: Mapping[str, float], begin: float
) -> tuple[str, int]:
    """Search from the best two of 32 motions; its status and number of iterations."""
    status, iterations = "failed", 0
    try:
        with allowed():
            # so small that motions are within most limits
            drawn = 0.02 * rng.normal(size=(32, best.problem.series.count))
            drawn = best.scaled(drawn, only=True)
            values = np.array([best.value_of(seen) for seen in best.look(drawn)])
            if values.min() >= _WORST_VALUE:
                return status, iterations
            for i in np.argsort(values, kind="stable")[:2]:
                status, used = _descended(best, drawn[i], options, begin)
                iterations += used
            best.scaled(best.c[np.newaxis])
    except KeyboardInterrupt:
        status = "interrupted"
    return status, iterations


def _descended(
    best: _Best, first: Array, options: Mapping[str, float], begin: float
) -> tuple[str, int]:
    """Search by sequential quadratic programming from one motion."""
    n, size = len(first), float(np.abs(first).max())
    until, most = begin + options["time_limit"], options["max_iterations"]
    steps = _DIFFERENCE * np.eye(n)
    known: dict[bytes, tuple[Array, Array]] = {}

    def value(x: Array) -> float:
        if time.perf_counter() > until:
            raise Stopped
        return best.value_of(best.at(size * x))

    def room(x: Array) -> Array:
        seen = best.at(size * x)
        return -10.0 * np.ones_like(best.rest) if seen is None else -seen.limits

    def slopes(x: Array) -> tuple[Array, Array]:
        key = x.tobytes()
        if key not in known:
            here, there = best.at(size * x), best.look(size * (x + steps))
            v, g = value(x), room(x)
            dv, dg = np.zeros(n), np.zeros((len(g), n))
            for j, seen in enumerate(there):
                if seen is not None and here is not None:
                    dv[j] = (best.value_of(seen) - v) / _DIFFERENCE
                    dg[:, j] = (-seen.limits - g) / _DIFFERENCE
            known.clear()
            known[key] = dv, dg
        return known[key]

    try:
        found = minimize(
            value,
            first / size,
            jac=lambda x: slopes(x)[0],
            method="SLSQP",
            constraints={"type": "ineq", "fun": room, "jac": lambda x: slopes(x)[1]},
            options={"ftol": options["tolerance"], "maxiter": most},
        )
    except Stopped:
        return "time", 0
    return "iterations" if found.status == 9 else "solved", int(found.nit)


def _motion(
    best: _Best, names: tuple[str, ...], status: str, iterations: int
) -> OptimalMotion:
    """The best motion, simulated with finer steps and within the limits there."""
    problem, arm, c = best.problem, best.problem.arm, best.c
    for _ in range(6):
        run, checked = problem.checked(c)
        over = max(checked.excess.values(), default=0.0) if checked else 0.0
        if over <= 1e-6:
            break
        c = c / (1.0 + 1.5 * over)
    free = np.ones(len(names), dtype=bool)
    seen = Combinations(problem.information(run), problem.size, free, 0.0)
    covariance = seen.covariance()
    objective, condition = best.value, np.inf
    if seen.rank < len(names):
        status = "failed"
    else:
        condition = float(seen.s[0] / seen.s[-1])
        volume = -float(np.log(seen.s).mean())
        objective = volume if best.criterion == "determinant" else np.log(condition)
    motion = OptimalMotion(
        arm=arm,
        t=problem.t,
        q=run.q,
        qd=run.qd,
        qdd=np.asarray(arm.forward_dynamics(run.q, run.qd, run.tau)),
        tau=run.tau,
        duration=float(problem.t[-1] - problem.t[0]),
        objective=float(objective),
        success=status == "solved",
        status=status,
        message=_MESSAGES[status],
        method=f"exciting motion by {best.criterion}",
        solver="SLSQP",
        variables=problem.series.count,
        iterations=iterations,
        violation=over,
        timings=Timings(),
        verification=checked,
        excited=Excited(
            names,
            np.sqrt(np.diag(covariance)),
            covariance,
            condition,
            problem.harmonics.astype(int),
        ),
    )
    return motion if checked is not None else unverified(motion)
