"""Discrete linear control laws, computed inside the time loop of a sampled loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..._calls.arguments import check_numbers, common_batch, real_array
from ..._calls.declared import ActuatorValues, Floats, Positive
from ..._calls.doors import checked, checked_class
from ..._support.arrays import MAX_AXES, Array
from ..._support.description import Description
from ...errors import ArgumentError
from .._matrices import times
from ..sensors import JOINTS, is_named

# references and feedforward: numbers, or functions of the time
Signal: TypeAlias = Annotated[ArrayLike, Floats()] | Callable[[float], ArrayLike]
Held: TypeAlias = Array | Callable[[float], ArrayLike]

_MATRICES = ("A", "B", "C", "D", "anti_windup")


@checked_class
@dataclass(frozen=True, eq=False, init=False)
class LinearController(Description):
    r"""Linear control law in discrete time, as `law` of `simulate_loop`.

    .. math::
       u_k = u_{ff} + C z_k + D (y_k - r_k), \qquad
       z_{k+1} = A z_k + B (y_k - r_k) + E (w_k - u_k)

    with the measured outputs y, their reference r, the state z of the controller, and
    the forces w that the actuators apply.  Static feedback, LQR, LQG with a Kalman
    filter, feedback of strain and filters of any kind are of this form; such a loop
    runs in C.

    Parameters
    ----------
    A : (..., m, m) array_like of float or None
        Of the state of the controller; ``None`` if it has none, then B and C too.
    B : (..., m, p) array_like of float or None
        From `p` measured outputs to the state.
    C : (..., nu, m) array_like of float or None
        From the state to the forces of the actuators.
    D : (..., nu, p) array_like of float
        From the measured outputs to the forces.  Leading axes of all matrices broadcast
        with those of the initial states: a thousand controllers are one call.
    dt : float
        Sample time in s.
    sensors : str, Output, list of these, (p, 2 nv) array_like, or callable
        Outputs y as in `simulate_loop`; by default positions of the joints, then their
        velocities.
    reference : (p,) or (..., n, p) array_like of float, or callable, optional
        One r for all samples, one for each of the `n` samples, or a function of the
        time in s; by default zero.  One row, (..., 1, p), stands for all samples.
    feedforward : (nu,) or (..., n, nu) array_like of float, or callable, optional
        The same for the forces that are added, in N m or N; by default none.
    anti_windup : (..., m, nu) array_like of float, optional
        E, which corrects the state where actuators do not follow.  A Kalman filter
        takes its input matrix: it then sees the forces that act.
    x0 : (..., m) array_like of float, optional
        First state of the controller; by default zero.

    See Also
    --------
    simulate_loop : runs it at its sample time.
    JointFeedback : a PD law in continuous time.

    Examples
    --------
    A pendulum held level, the joint and its rate fed back at 100 Hz:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=1.0, com=1.0)
    >>> law = fa.control.LinearController.state_feedback(
    ...     [[100.0, 20.0]], [0.0], tau=[9.81], dt=0.01
    ... )
    >>> run = fa.control.simulate_loop(arm, law, [-0.1], [0.0], np.linspace(0, 2, 201))
    >>> bool(abs(run.q[-1, 0]) < 1e-6)
    True
    """

    A: Array
    B: Array
    C: Array
    D: Array
    dt: float
    sensors: object
    reference: Held | None
    feedforward: Held | None
    anti_windup: Array | None
    x0: Array | None

    @checked
    def __init__(
        self,
        A: Annotated[ArrayLike, Floats("(..., m, m)")] | None,
        B: Annotated[ArrayLike, Floats("(..., m, p)")] | None,
        C: Annotated[ArrayLike, Floats("(..., nu, m)")] | None,
        D: Annotated[ArrayLike, Floats("(..., nu, p)")],
        dt: Positive,
        sensors: object = JOINTS,
        reference: Signal | None = None,
        feedforward: Signal | None = None,
        anti_windup: Annotated[ArrayLike, Floats("(..., m, nu)")] | None = None,
        x0: Annotated[ArrayLike, Floats("(..., m)")] | None = None,
    ) -> None:
        # matrices, empty ones of a law without a state
        D = _array("D", D, 2)
        nu, p = D.shape[-2:]
        missing = [n for n, M in zip("ABC", (A, B, C), strict=True) if M is None]
        if 0 < len(missing) < 3:
            raise ArgumentError(
                f"{missing[0]} is None, expected all of A, B and C, or none of them "
                "for a law without a state"
            )
        if missing:
            A, B, C = np.zeros((0, 0)), np.zeros((0, p)), np.zeros((nu, 0))
        A = _array("A", A, 2)
        m = A.shape[-1]
        B, C = _array("B", B, 2), _array("C", C, 2)
        if anti_windup is not None:
            anti_windup = _array("anti_windup", anti_windup, 2)
            _check_core("anti_windup", anti_windup, (m, nu), f"{m} states, {nu} forces")
        if x0 is not None:
            x0 = _array("x0", x0, 1)
            _check_core("x0", x0, (m,), f"{m} states")
        self._set(A=A, B=B, C=C, D=D, dt=float(dt), x0=x0)
        self._set(anti_windup=anti_windup, sensors=_sensors(sensors, p))

        # constants or samples; functions wait for the times of the samples
        for name, value, width in (
            ("reference", reference, p),
            ("feedforward", feedforward, nu),
        ):
            if value is not None and not callable(value):
                value = _array(name, value, 1)
                _check_core(name, value, (width,), f"{p} outputs, {nu} forces")
            self._set(**{name: value})
        common_batch(self.batch_shapes())

    @classmethod
    def state_feedback(
        cls,
        K: Annotated[ArrayLike, Floats("(..., nu, 2 nv)")],
        q: Annotated[ArrayLike, Floats("(nv,)", "(..., n, nv)")],
        qd: Annotated[ArrayLike, Floats("(nv,)", "(..., n, nv)")] | None = None,
        tau: Annotated[ArrayLike, Floats("(nu,)", "(..., n, nu)")] | None = None,
        *,
        dt: float,
        sensors: object = "state",
    ) -> LinearController:
        """Static feedback of the whole state, as LQR gives it: tau - K (x - x0).

        Parameters
        ----------
        K : (..., nu, 2 nv) array_like of float
            Gain on the deviations of (q, qd).
        q, qd : (nv,) or (..., n, nv) array_like of float
            Operating point x0, or one for each sample; `qd` is zero by default.
        tau : (nu,) or (..., n, nu) array_like of float, optional
            Forces that hold it; by default none.
        dt : float
            Sample time in s.
        sensors : optional
            As in `LinearController`; what K multiplies.

        Returns
        -------
        LinearController
            A law without a state of its own.

        Raises
        ------
        ArgumentError
            If `q` and `qd` have other numbers of columns.

        """
        q = real_array("q", q)
        qd = np.zeros(q.shape[-1:]) if qd is None else real_array("qd", qd)
        if q.shape[-1:] != qd.shape[-1:]:
            text = f"q has shape {q.shape} and qd {qd.shape}, expected the same columns"
            raise ArgumentError(text)
        shape = common_batch({"q": q.shape[:-1], "qd": qd.shape[:-1]})
        both = [np.broadcast_to(x, (*shape, x.shape[-1])) for x in (q, qd)]
        return cls(
            None,
            None,
            None,
            -real_array("K", K),
            dt,
            sensors=sensors,
            reference=np.concatenate(both, axis=-1),
            feedforward=None if tau is None else real_array("tau", tau),
        )

    @property
    def n_states(self) -> int:
        """Number of states of the controller."""
        return int(self.A.shape[-1])

    @property
    def n_outputs(self) -> int:
        """Number of measured outputs that it takes."""
        return int(self.D.shape[-1])

    @property
    def n_forces(self) -> int:
        """Number of forces that it gives."""
        return int(self.D.shape[-2])

    def batch_shapes(self) -> dict[str, tuple[int, ...]]:
        """Leading axes of the matrices and of the first state, by name."""
        shapes = {
            name: getattr(self, name).shape[:-2]
            for name in _MATRICES
            if getattr(self, name) is not None
        }
        if self.x0 is not None:
            shapes["x0"] = self.x0.shape[:-1]
        return shapes

    def output(
        self,
        z: Annotated[ArrayLike, Floats("(..., m)")],
        error: Annotated[ArrayLike, Floats("(..., p)")],
        feedforward: ActuatorValues = 0.0,
    ) -> Array:
        """Command of one sample.

        Parameters
        ----------
        z : (..., m) array_like of float
            State of the controller.
        error : (..., p) array_like of float
            Measured outputs less their reference.
        feedforward : (..., nu) array_like of float
            Forces that are added, in N m or N.

        Returns
        -------
        u : (..., nu) ndarray of float
            Forces in N m or N.

        Raises
        ------
        ArgumentError
            If an argument has another length.

        Examples
        --------
        A PI law on one joint: z adds up the error, and u = -40 e - 10 z:

        >>> import flexarm as fa
        >>> law = fa.control.LinearController(
        ...     [[1.0]], [[0.01]], [[-10.0]], [[-40.0]], 0.01, "joint positions"
        ... )
        >>> law.output([0.5], [0.1], feedforward=2.0)  # 2 - 4 - 5
        array([-7.])
        """
        self._check_sample(z, error)
        given = np.shape(feedforward)
        if given and given[-1] != len(self.C):
            raise ArgumentError(
                f"feedforward has shape {given}, expected (..., {len(self.C)})"
            )
        return np.asarray(feedforward + times(self.C, z) + times(self.D, error))

    def _check_sample(self, z: ArrayLike, error: ArrayLike) -> None:
        """Raise for a state or an error of another length."""
        for name, x, n in (("z", z, self.n_states), ("error", error, self.n_outputs)):
            shape = np.shape(x)
            if shape[-1:] != (n,) or len(shape) > MAX_AXES:
                raise ArgumentError(f"{name} has shape {shape}, expected (..., {n})")

    def next_state(
        self,
        z: Annotated[ArrayLike, Floats("(..., m)")],
        error: Annotated[ArrayLike, Floats("(..., p)")],
        unfollowed: ActuatorValues | None = None,
    ) -> Array:
        """State of the controller at the next sample.

        Parameters
        ----------
        z, error : (..., m), (..., p) array_like of float
            As in `output`.
        unfollowed : (..., nu) array_like of float, optional
            Forces that the actuators apply less the command, in N m or N.

        Returns
        -------
        z : (..., m) ndarray of float
            The next state.

        Examples
        --------
        An integrator that stops where the motor does: the command is -9 N m, and the
        motor gives -6 N m:

        >>> import flexarm as fa
        >>> law = fa.control.LinearController(
        ...     [[1.0]], [[0.01]], [[-10.0]], [[-40.0]], 0.01, "joint positions",
        ...     anti_windup=[[-0.1]],
        ... )
        >>> law.next_state([0.5], [0.1]), law.next_state([0.5], [0.1], [3.0])
        (array([0.501]), array([0.201]))
        """
        self._check_sample(z, error)
        after: Array = times(self.A, z) + times(self.B, error)
        if self.anti_windup is not None and unfollowed is not None:
            after = after + times(self.anti_windup, unfollowed)
        return after

    def __repr__(self) -> str:
        batch = " x ".join(map(str, common_batch(self.batch_shapes())))
        return (
            f"<LinearController: {batch + ' of ' if batch else ''}{self.n_states} "
            f"states, {self.n_outputs} outputs to {self.n_forces} forces, every "
            f"{self.dt:g} s>"
        )


def rows_of(name: str, value: Held | None, times: Array, width: int) -> Array:
    """References or feedforward (..., 1 or n, width) for the times of the samples."""
    if value is None:
        return np.zeros((1, width))
    if not callable(value):
        n = len(times)
        rows: Array = value[np.newaxis] if value.ndim == 1 else value
        if rows.shape[-2] not in (1, n):
            raise ArgumentError(
                f"{name} has shape {rows.shape}, expected (..., {n}, {width}): one row "
                f"per sample, or ({width},) for all"
            )
        return rows
    given = [real_array(f"{name} at t = {t:g}", value(t)) for t in times.tolist()]
    for t, row in zip(times.tolist(), given, strict=True):
        if row.ndim == 0 or row.shape != given[0].shape or row.shape[-1] != width:
            raise ArgumentError(
                f"{name} returned shape {row.shape} at t = {t:g}, expected (..., "
                f"{width}), the same at all times"
            )
        check_numbers(f"{name} at t = {t:g}", row)
    return np.stack(given, axis=-2)


def _array(name: str, value: object, axes: int) -> Array:
    array = np.array(real_array(name, value))
    if array.ndim < axes:
        kind = "a matrix" if axes == 2 else "a vector"
        raise ArgumentError(f"{name} has shape {array.shape}, expected {kind}")
    check_numbers(name, array)
    array.flags.writeable = False
    return array


def _check_core(name: str, array: Array, core: tuple[int, ...], counted: str) -> None:
    if array.shape[-len(core) :] != core:
        raise ArgumentError(
            f"{name} has shape {array.shape}, expected (..., "
            f"{', '.join(map(str, core))}): the controller has {counted}"
        )


def _sensors(given: object, p: int) -> object:
    """Sensors that can be compared: names as a tuple, rows as an array."""
    if given is None:
        return JOINTS
    if isinstance(given, list) and is_named(given):
        return tuple(given)
    if callable(given) or is_named(given):
        return given
    rows = _array("sensors", given, 2)
    if rows.ndim != 2 or len(rows) != p:
        raise ArgumentError(
            f"sensors has shape {rows.shape}, expected ({p}, 2 nv): one row for each "
            "output of the controller"
        )
    return rows
