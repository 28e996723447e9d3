"""Base parameters of rigid arms from measured motion, by linear least squares."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._calls.doors import checked
from .._support.recorded import recorded
from ..arm import Arm
from ..errors import ArgumentError
from ..parameters import BaseParameters, base_parameters, inertial_regressor
from ._equation_error import MeasuredForces, read_rigid
from ._fit import FitOptions, fit
from ._records import Record, read_records
from ._result import Identification
from ._statistics import identified

Array = NDArray[np.float64]
Names: TypeAlias = str | Sequence[str] | None
Bodies: TypeAlias = str | int | Sequence[str | int] | None


class LinearForces(MeasuredForces):
    """Forces Y pi of measured motion, linear in the base parameters."""

    def __init__(
        self,
        arm: Arm,
        records: tuple[Record, ...],
        outputs: object,
        base: BaseParameters,
        bodies: Bodies,
        families: Names,
    ) -> None:
        super().__init__(arm, records, outputs)
        columns = list(base.independent)
        self.n = len(columns)
        self._Y = [
            np.asarray(
                inertial_regressor(
                    arm, m.q, m.qd, m.qdd, bodies=bodies, families=families
                )
            )[..., columns]
            for m in self.motion
        ]

    def predict(self, x: Array, finer: int = 1) -> list[Array]:
        """Forces by the regressor."""
        return [Y @ x for Y in self._Y]

    def derivatives(self, x: Array, size: Array) -> list[Array]:
        """The regressor."""
        return self._Y

    def differences(self, x: Array, size: Array, here: list[Array]) -> list[Array]:
        """The same."""
        return self._Y


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
    read_rigid(arm, outputs)
    base = base_parameters(arm, bodies=bodies, families=families)
    problem = LinearForces(arm, records, outputs, base, bodies, families)
    if not any(y.any() for y in problem.measured):
        raise ArgumentError(
            "measured has no forces, without which parameters are known but for a "
            "common factor; expected records with tau"
        )
    samples = sum(y.size for y in problem.measured)
    if samples <= problem.n:
        raise ArgumentError(
            f"measured has {samples} forces for {problem.n} base parameters, expected "
            "more samples than unknowns"
        )
    # linear least squares, weighed by the scatter of residuals
    size = np.where(base.values == 0.0, 1.0, np.abs(base.values))
    free = np.full(problem.n, np.inf)
    scatter = np.concatenate(problem.measured).std(axis=0)
    found = fit(
        problem,
        np.zeros(problem.n),
        size,
        (-free, free),
        FitOptions(
            sigma=np.where(scatter > 0.0, scatter, 1.0),
            noise_is_known=False,
            tolerance=1e-8,
            max_iterations=1000,
            time_limit=np.inf,
        ),
    )
    return identified(
        problem,
        found,
        arm=arm,
        names=base.names,
        size=size,
        bounds=(-free, free),
        sigma_is_known=False,
        method="base parameters",
        times=(started, time.perf_counter()),
    )
