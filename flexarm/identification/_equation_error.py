"""Forces of the measured motion of rigid arms by inverse dynamics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

from ..arm import Arm
from ..errors import ArgumentError, ModelError
from ..parameters.tangent import SHORT_RULES, Arms, ArmTangent
from ._records import Record, check_record, refuse_prescribed, signals_of

Array = NDArray[np.float64]

# Degree of splines of positions, so that accelerations are cubic ones.
_DEGREE = 5


class Smoothed(NamedTuple):
    """Motion and forces at the samples of a record that are kept."""

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array


class MeasuredForces:
    """Forces of the measured motion of a rigid arm, without unknown initial states."""

    state_names: tuple[str, ...] = ()
    chooses = False  # a step

    def __init__(self, arm: Arm, records: tuple[Record, ...], outputs: object) -> None:
        read_rigid(arm, outputs)
        refuse_prescribed(records, "inverse dynamics")
        for number, record in enumerate(records):
            check_record(arm, record, number, arm.nv)
        self.motion = [smoothed(record, arm.nv) for record in records]
        self.signals = tuple(f"force on {name}" for name in arm.coordinate_names)

    def settle(self, x: Array) -> None:
        """Nothing is simulated."""

    @property
    def measured(self) -> list[Array]:
        """Forces (n, nv) of each record."""
        return [motion.tau for motion in self.motion]

    @property
    def times(self) -> list[Array]:
        """(n,) times of each record."""
        return [motion.t for motion in self.motion]


class EquationError(MeasuredForces):
    """Predictions of forces: the unknowns are the parameters."""

    def __init__(
        self, arms: Arms, p: Array, records: tuple[Record, ...], outputs: object
    ) -> None:
        super().__init__(arms(p), records, outputs)
        self.arms, self.n, self.k = arms, len(p), len(p)
        self.exists = arms

    def check_start(self, x: Array) -> Array:
        """Sizes of initial states: none is unknown."""
        return np.zeros(0)

    def predict(self, x: Array, finer: int = 1) -> list[Array] | None:
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

    def differences(self, x: Array, size: Array, here: list[Array]) -> list[Array]:
        """The same."""
        return self.derivatives(x, size)


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

    there = np.isfinite(y)
    t, y = t[there], y[there]
    n = len(t)
    # try more and more intervals
    best: tuple[float, BSpline, float] | None = None
    count = 2
    while count + _DEGREE <= n // 2:
        ends = [t[0]] * _DEGREE, [t[-1]] * _DEGREE
        knots = np.concatenate([ends[0], np.linspace(t[0], t[-1], count + 1), ends[1]])
        try:
            spline = make_lsq_spline(t, y, knots, k=_DEGREE)
        except (ValueError, np.linalg.LinAlgError):  # an interval without samples
            break
        left = float(((y - spline(t)) ** 2).sum())
        score = n * left / (n - count - _DEGREE) ** 2
        if best is None or score < best[0]:
            best = score, spline, (t[-1] - t[0]) / count
        count = max(count + 1, int(1.2 * count))
    if best is None:
        raise ArgumentError(
            f"a signal has {n} samples, too few for splines; expected at least "
            f"{2 * (_DEGREE + 2)} without long gaps, or method 'output error'"
        )
    return best[1], float(best[2])
