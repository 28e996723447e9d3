"""Forces of the measured motion of rigid arms by inverse dynamics."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.interpolate import BSpline

from .._calls.doors import checked
from .._support.arrays import Array
from .._support.recorded import recorded
from ..arm import Arm
from ..errors import ArgumentError, ModelError
from ..parameters import base_parameters, inertial_regressor
from ..parameters.tangent import SHORT_RULES, ArmTangent
from ._output_error import Problem
from ._records import Record, check_record, read_records, signals_of
from ._result import Identification, identified
from ._search import FitOptions, fit, scatter_of

Names: TypeAlias = str | Sequence[str] | None
Bodies: TypeAlias = str | int | Sequence[str | int] | None


class Smoothed(NamedTuple):
    """Motion and forces at the samples of a record that are kept."""

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array


class MeasuredForces(Problem):
    """Forces Y x of the measured motion of a rigid arm, linear in its unknowns."""

    Y: list[Array]  # (n, nv, unknowns) of each record

    def __init__(self, arm: Arm, records: tuple[Record, ...], outputs: object) -> None:
        read_rigid(arm, outputs)
        for number, record in enumerate(records):
            if record.prescribed:
                raise ArgumentError(
                    f"record {number} has prescribed joints, whose forces are not "
                    "known to inverse dynamics; expected measured positions in y and "
                    "forces in tau"
                )
            check_record(arm, record, number, arm.coordinate_names)
        self.motion = [smoothed(record, arm.nv) for record in records]
        self.measured = [motion.tau for motion in self.motion]
        self.times = [motion.t for motion in self.motion]
        self.signals = tuple(f"force on {name}" for name in arm.coordinate_names)

    def predict(self, x: Array) -> list[Array] | None:
        """Forces by the regressor."""
        return [Y @ x for Y in self.Y]

    def derivatives(self, x: Array, size: Array) -> list[Array]:
        """The regressor."""
        return self.Y


class EquationError(MeasuredForces):
    """Forces of any parameters of an arm."""

    def __init__(
        self,
        arms: Callable[[Array], Arm],
        p: Array,
        records: tuple[Record, ...],
        outputs: object,
    ) -> None:
        super().__init__(arms(p), records, outputs)
        self.arms, self.outputs, self.n = arms, outputs, len(p)

    def predict(self, x: Array) -> list[Array] | None:
        """Forces of the measured motion; None if there is no such arm."""
        try:
            arm = self.arms(x)
        except ModelError:
            return None
        return [arm.inverse_dynamics(m.q, m.qd, m.qdd) for m in self.motion]

    def derivatives(self, x: Array, size: Array) -> list[Array]:
        """Derivatives (n, nv, k) of these forces."""
        tangent = ArmTangent(self.arms, x, size, SHORT_RULES)
        return [tangent.forces(m.q, m.qd, m.qdd)[0] for m in self.motion]


@checked
@recorded("identification.identify_base_parameters")
def identify_base_parameters(
    arm: Arm,
    measured: Record | Sequence[Record],
    *,
    bodies: Bodies = None,
    families: Names = ("inertia", "joint"),
    outputs: str = "joint positions",
) -> Identification:
    r"""Base parameters of the forces of a rigid arm, from its measured motion.

    .. math:: \tau = Y(q, \dot q, \ddot q)\, \pi_b

    Parameters
    ----------
    arm : Arm
        Rigid tree with known geometry; its masses are not used.
    measured : Record or list of Record
        Recorded joint positions and forces.
    bodies : str, int or sequence of str or int, optional
        Names or numbers of bodies.
    families : str or sequence of str, optional
        Parameters to identify, as in `inertial_parameters`; by default inertia and
        friction of all bodies.
    outputs : str
        Joint positions only.

    Returns
    -------
    result : Identification
        Base parameters with the names of `base_parameters`, which are combinations and
        may fit no single body.

    Raises
    ------
    ArgumentError
        If the arm is not rigid, records do not fit or are too short.

    See Also
    --------
    identify : any parameters, by simulation.
    flexarm.base_parameters : their definition.

    Notes
    -----
    Linear least squares with the forces of each joint weighed by their own scatter
    (M. Gautier, "Identification of robots dynamics", *IFAC Proc.* 19(14), 1986,
    125-130; W. Khalil, E. Dombre, *Modeling, Identification and Control of Robots*,
    2002, chapter 12).  Positions become splines, see `identify`; errors of their
    derivatives are neither white nor free of bias, so that intervals are too narrow.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.5)
    >>> t = np.linspace(0.0, 3.0, 601)
    >>> tau = 4.0 * np.sin(4.0 * t)[:, np.newaxis]
    >>> run = fa.simulate(arm, [0.3], [0.0], t, torque=tau)
    >>> record = fa.identification.simulated_record(run, noise=1e-5)
    >>> from flexarm.identification import identify_base_parameters
    >>> found = identify_base_parameters(arm, record, families="inertia")
    >>> found.names, found.p.round(2)
    (('rod.mx', 'rod.mz', 'rod.Iyy'), array([1. , 0. , 0.5]))
    """
    started = time.perf_counter()
    records = read_records(measured)
    problem = MeasuredForces(arm, records, outputs)
    base = base_parameters(arm, bodies=bodies, families=families)
    columns = list(base.independent)
    problem.n, problem.Y = len(columns), []
    for m in problem.motion:
        Y = inertial_regressor(arm, m.q, m.qd, m.qdd, bodies=bodies, families=families)
        problem.Y.append(np.asarray(Y)[..., columns])
    if not any(y.any() for y in problem.measured):
        raise ArgumentError(
            "measured has no forces, without which parameters are known but for a "
            "common factor; expected records with tau"
        )
    refuse_few(problem, "forces", "base parameters")
    # linear least squares, weighed by the scatter of residuals
    problem.size = np.where(base.values == 0.0, 1.0, np.abs(base.values))
    free = np.full(problem.n, np.inf)
    problem.bounds = -free, free
    options = FitOptions(scatter_of(problem), False, 1e-8, 1000, np.inf)
    found = fit(problem, np.zeros(problem.n), options)
    return identified(
        problem, found, arm, base.names, False, "base parameters", started
    )


def refuse_few(problem: Problem, samples: str, unknowns: str) -> None:
    """Refuse records with fewer samples than there are unknowns."""
    count = sum(int(np.isfinite(y).sum()) for y in problem.measured)
    if count <= problem.n:
        raise ArgumentError(
            f"measured has {count} {samples} for {problem.n} {unknowns}, expected more "
            "samples than unknowns"
        )


def read_rigid(arm: Arm, outputs: object) -> None:
    """Refuse arms whose coordinates are not all measured joint positions."""
    if arm.nv != arm.nu or arm.nq != arm.nv or arm._held:
        raise ArgumentError(
            f"the arm has {arm.nv} coordinates of which {arm.nu} have actuators, "
            "expected a rigid tree of joints with one position each for method "
            "'inverse dynamics'; take 'output error'"
        )
    if signals_of(arm, outputs)[1] != arm.coordinate_names:
        raise ArgumentError(
            "outputs are not 'joint positions', expected these for method 'inverse "
            "dynamics', which needs the motion of all joints"
        )


def smoothed(record: Record, n: int) -> Smoothed:
    """Splines through noisy positions, without their inaccurate ends.

    Least squares on splines of degree five, with the number of intervals by generalized
    cross-validation: G. Wahba, *Spline Models for Observational Data*, 1990,
    chapter 4.
    """
    t = record.t
    tau = np.zeros((len(t), n)) if record.tau is None else record.tau
    columns = [_spline(t, y) for y in record.y.T]
    width = max(interval for _, interval in columns)
    keep = (t >= t[0] + width) & (t <= t[-1] - width)
    at = t[keep]
    q, qd, qdd = (
        np.stack([spline.derivative(k)(at) for spline, _ in columns], axis=-1)
        for k in range(3)
    )
    return Smoothed(at, q, qd, qdd, tau[keep])


def _spline(t: Array, y: Array) -> tuple[BSpline, float]:
    """The spline of a signal, and the length of its intervals."""
    from scipy.interpolate import make_lsq_spline

    degree = 5  # so that accelerations are cubic splines

    there = np.isfinite(y)
    t, y = t[there], y[there]
    n = len(t)
    # try more and more intervals
    best: tuple[float, BSpline, float] | None = None
    count = 2
    while count + degree <= n // 2:
        ends = [t[0]] * degree, [t[-1]] * degree
        knots = np.concatenate([ends[0], np.linspace(t[0], t[-1], count + 1), ends[1]])
        try:
            spline = make_lsq_spline(t, y, knots, k=degree)
        except (ValueError, np.linalg.LinAlgError):  # an interval without samples
            break
        left = float(((y - spline(t)) ** 2).sum())
        score = n * left / (n - count - degree) ** 2
        if best is None or score < best[0]:
            best = score, spline, (t[-1] - t[0]) / count
        count = max(count + 1, int(1.2 * count))
    if best is None:
        raise ArgumentError(
            f"a signal has {n} samples, too few for splines; expected at least "
            f"{2 * (degree + 2)} without long gaps, or method 'output error'"
        )
    return best[1], float(best[2])
