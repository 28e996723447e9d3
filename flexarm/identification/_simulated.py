"""Records of simulated motion, and signals that an arm predicts for records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._calls.arguments import check_arm
from .._calls.declared import Choice, Floats, Positive
from .._calls.doors import checked
from .._support.checks import as_generator
from ..arm import Arm
from ..errors import ArgumentError
from ..parameters.trajectory_sensitivity import INTEGRATORS
from ..simulation import Trajectory
from ._output_error import OutputError, Steps
from ._records import Record, read_records, standard_deviations
from ._sensors import Sensing, refuse_uneven

Array = NDArray[np.float64]


@checked
def simulated_record(
    run: Trajectory,
    *,
    outputs: object = "joint positions",
    noise: Annotated[ArrayLike, Floats("(m,)", "()")] = 0.0,
    seed: int = 0,
    at_rest: bool = False,
) -> Record:
    """Record of a simulated motion by sensors with white noise.

    Parameters
    ----------
    run : Trajectory
        One motion.
    outputs : str, Output, Sensor or list
        Measured outputs, see `flexarm.outputs`.
    noise : (m,) array_like of float, or float
        Standard deviation of the noise of each signal, in its unit.
    seed : int
        Seed of the noise.
    at_rest : bool
        Whether the motion starts in static equilibrium, see `Record`.

    Returns
    -------
    record : Record
        Signals, forces that acted, initial state.

    Raises
    ------
    ArgumentError
        If there are several motions, or the noise is negative.

    See Also
    --------
    identify : parameters from such records.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum()
    >>> run = fa.simulate(arm, [0.0], [0.0], np.linspace(0.0, 1.0, 101))
    >>> record = fa.identification.simulated_record(run, noise=0.001)
    >>> record.y.shape, float(np.std(record.y - run.q).round(4))
    ((101, 1), 0.001)
    """
    if not isinstance(run, Trajectory) or run.q.ndim != 2:
        raise ArgumentError(
            f"run is {type(run).__name__}, expected one Trajectory of simulate, not a "
            "batch"
        )
    arm = run.arm
    check_arm(arm)
    if not run.success:
        raise ArgumentError(
            f"the run has no record: {run.message}; expected one that is whole"
        )
    sensing = Sensing(arm, outputs)
    refuse_uneven(sensing, run.t, 0)
    qdd = arm.forward_dynamics(run.q, run.qd, run.tau)
    y = sensing.values(run.t, arm, run.q, run.qd, qdd)
    size = standard_deviations("noise", noise, len(sensing.names), least=0.0)
    y = y + size * as_generator("seed", seed).normal(size=y.shape)
    qd0 = None if at_rest else run.qd[0]
    return Record(run.t, y, run.tau, run.q[0], qd0, at_rest=at_rest)


@checked
def predicted_signals(
    arm: Arm,
    measured: Record | Sequence[Record],
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
    measured : Record or list of Record
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
