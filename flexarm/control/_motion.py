"""What a controller compares: desired motion, joint readings, node deformations."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._calls.arguments import real_array
from ..errors import ArgumentError
from ..kinematics.positions import quiet_difference
from ..simulation.core_loop import run_core
from ..simulation.run import Run

if TYPE_CHECKING:
    from ..arm import Arm

Array = NDArray[np.float64]

ORDINARY = 1e100  # a state beyond it diverges, and its squares must not overflow


class Motion(NamedTuple):
    """Desired motion of the joints, and of the nodes if wanted, at one time.

    Attributes
    ----------
    q : (..., n_positions) array_like of float
        Joint positions in rad or m.
    qd, qdd : (..., nu) array_like of float
        Joint velocities and accelerations.
    deformation : (..., n_nodes, 6) array_like of float, optional
        Deformation of each node in rad and m, see `node_deformations`; NaN where none
        is desired.
    """

    q: Any
    qd: Any
    qdd: Any
    deformation: Any = None


class Sensed(NamedTuple):
    """Reading of the joint sensors.

    Attributes
    ----------
    q : (..., n_positions) array_like of float
        Joint positions in rad or m.
    qd : (..., nu) array_like of float
        Joint velocities.
    """

    q: Any
    qd: Any


@dataclass(frozen=True, eq=False)
class RestToRest:
    """Motion of the joints from rest to rest, a polynomial of degree five in time.

    Velocities and accelerations are zero at both ends; before and after the arm rests.

    Parameters
    ----------
    start, end : (..., nu) array_like of float
        Joint positions in rad or m, one coordinate per joint.
    duration : float
        Time from rest to rest, in s.
    begin : float
        Time at which the motion begins, in s.

    Raises
    ------
    ArgumentError
        If the duration is not positive, or the positions are not finite or do not fit.

    Examples
    --------
    Half of the way at half of the time, with 15/8 of the mean velocity:

    >>> import flexarm as fa
    >>> motion = fa.control.RestToRest([0.0], [1.0], duration=2.0)
    >>> q, qd, qdd, _ = motion(1.0)
    >>> q, qd, qdd
    (array([0.5]), array([0.9375]), array([0.]))

    >>> fa.control.RestToRest([[0.0], [1.0]], [2.0], 1.0)(0.3).q.shape
    (2, 1)
    """

    start: Any
    end: Any
    duration: float
    begin: float = 0.0

    def __post_init__(self) -> None:
        for name, least in (("duration", 0.0), ("begin", -np.inf)):
            value = getattr(self, name)
            number = float(value) if isinstance(value, Real) else np.nan
            if not least < number < np.inf:
                kind = "a positive time" if least == 0.0 else "a time"
                raise ArgumentError(f"{name} is {value!r}, expected {kind} in s")
        for name in ("start", "end"):
            array = np.array(real_array(name, getattr(self, name)))
            if array.ndim == 0 or not np.isfinite(array).all():
                raise ArgumentError(
                    f"{name} is {array}, expected finite joint positions, one per joint"
                )
            object.__setattr__(self, name, array)
        try:
            np.broadcast_shapes(self.start.shape, self.end.shape)
        except ValueError:
            raise ArgumentError(
                f"start has shape {self.start.shape} and end {self.end.shape}, "
                "expected one position per joint in both"
            ) from None

    def __call__(self, t: float) -> Motion:
        """Motion at the time `t` in s."""
        s = min(max((t - self.begin) / self.duration, 0.0), 1.0)
        way, T = self.end - self.start, self.duration
        return Motion(
            self.start + way * (s**3 * (10.0 - 15.0 * s + 6.0 * s**2)),
            way * (30.0 * (s * (1.0 - s)) ** 2 / T),
            way * (60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / T**2),
        )


def node_deformations(arm: Arm, q: Any) -> Array:
    r"""Rotation and displacement of every node by the modes of its body.

    :math:`u = \Pi \eta`, the modal spatial influence vectors times the modal
    coordinates [1]_; rigid bodies have zeros.

    Parameters
    ----------
    arm : Arm
        Arm with ``n_nodes`` nodes.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.

    Returns
    -------
    u : (..., n_nodes, 6) ndarray of float
        Rotation in rad and displacement in m, in the axes of the body.

    Raises
    ------
    ArgumentError
        If the last axis of `q` has the wrong length.

    References
    ----------
    .. [1] A. Jain, G. Rodriguez, US patent 5,546,508 (1996), eq. 21.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> u = fa.control.node_deformations(arm, [0.0, 0.0, 0.0, 0.0, 0.1, 0.0])
    >>> u[arm.node("link2", "tip"), 4].round(4)   # 0.1 * 0.883
    np.float64(0.0883)
    >>> fa.control.node_deformations(arm, [[0.0] * 6] * 3).shape
    (3, 25, 6)
    """
    q = real_array("q", q)
    if q.ndim == 0 or q.shape[-1] != arm.nq:
        raise ArgumentError(
            f"q has shape {q.shape}, expected a last axis of {arm.nq} coordinates; see "
            "arm.coordinate_names"
        )
    return np.asarray(deform(influence(arm), q[..., arm.motor_position_slice.stop :]))


def influence(arm: Arm) -> Array:
    """Modal spatial influence of all modes on all nodes, (n_nodes, 6, n_modes)."""
    result = np.zeros((arm.n_nodes, 6, arm.nv - arm.motor_slice.stop))
    start = 0
    for body in arm.bodies:
        modes = slice(start, start + body.n_modes)
        nodes = arm.node_slice(body.name)
        result[nodes, :3, modes] = body.node_rotation
        result[nodes, 3:, modes] = body.node_translation
        start += body.n_modes
    return result


def deform(Pi: Array, eta: Array) -> Array:
    """Node deformations (..., n_nodes, 6) of modal coordinates (..., n_modes)."""
    return np.asarray((Pi @ eta[..., np.newaxis, :, np.newaxis])[..., 0])


# positions have nq coordinates and velocities nv: the three places that know how


def n_positions(arm: Arm) -> int:
    """Number of position coordinates of the joints, which stand first in q."""
    return int(arm.joint_position_slice.stop)


def advance(arm: Arm, q: Array, dq: Array) -> Array:
    """Positions q (..., nq) moved by dq (..., nv)."""
    return np.asarray(arm._model.quiet("integrate")(q, dq))


def difference(arm: Arm, q: Array, wanted: Array) -> Array:
    """Displacement (..., nv) that leads from the positions q to the wanted ones."""
    return quiet_difference(arm, q, wanted)


def joint_difference(arm: Arm, q: Array, wanted: Array) -> Array:
    """Displacement (..., nu) of the joints between positions (..., n_positions)."""
    modes = np.zeros((*q.shape[:-1], arm.nv - arm.nu))  # and motors

    def full(joints: Array) -> Array:
        return np.concatenate([joints, modes], axis=-1)

    return difference(arm, full(q), full(wanted))[..., : arm.nu]


INTEGRATORS = ("rk4", "euler")


def integrate(
    arm: Arm,
    q: Array,
    qd: Array,
    tau: Array,
    span: tuple[float, float],
    integrator: str = "rk4",
    max_step: float | None = None,
) -> tuple[Array, Array]:
    """State after a span of time under a force that is held; NaN what diverges.

    Leading axes broadcast.  ``"euler"`` is semi-implicit: velocities first.
    """
    batch = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1], tau.shape[:-1])
    alive = is_ordinary(q, qd) & np.isfinite(tau).all(-1)
    mask = alive[..., np.newaxis]
    # a lost member must not stop the others, it rests meanwhile
    q = np.where(mask, q, arm.neutral)
    qd, tau = (np.where(mask, x, 0.0) for x in (qd, tau))
    if integrator == "euler":
        h = span[1] - span[0]
        qd = qd + h * arm._model.quiet("forward_dynamics")(q, qd, tau)
        q = advance(arm, q, h * qd)
    else:
        # the time loop alone: what `simulate` checks and tells is of whole runs
        forces = np.stack([tau, tau], axis=-2)
        run = Run(arm, q, qd, np.array(span, dtype=np.float64), forces)
        run.hold = True
        step = np.inf if max_step is None else float(max_step)
        run_core(run, "rk4", (0.0, 0.0, 0.0, step), False)
        q, qd = (x[:, -1].reshape(*batch, x.shape[-1]) for x in (run.q, run.qd))
    lost = ~(np.broadcast_to(alive, batch) & is_ordinary(q, qd))
    q[lost] = qd[lost] = np.nan
    return q, qd


def is_ordinary(q: Array, qd: Array) -> Any:
    """Which states (...) are finite and of ordinary size."""
    return (abs(q) < ORDINARY).all(-1) & (abs(qd) < ORDINARY).all(-1)


def check_rows(
    what: str, value: Any, batch: tuple[int, ...], width: int, unit: str
) -> Array:
    """Return a new array (*batch, width), or refuse the shape in words."""
    array = real_array(what, value)
    if array.shape == (*batch, width):
        return np.array(array)
    try:
        if array.ndim == 0 or array.shape[-1] != width:
            raise ValueError
        return np.array(np.broadcast_to(array, (*batch, width)))
    except ValueError:
        raise ArgumentError(
            f"{what} has shape {array.shape}, expected {(*batch, width)}, {unit}"
        ) from None


def check_finite(what: str, rows: Array, alive: Any) -> None:
    """Refuse rows that are not finite where the state is."""
    if np.isfinite(rows).all():
        return
    bad = np.argwhere(alive & ~np.isfinite(rows).all(-1))
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        which = f" for the state at index {index}" if index else ""
        raise ArgumentError(f"{what} is {rows[index]}{which}, expected finite numbers")


def check_callable(what: str, value: Any, signature: str) -> None:
    """Refuse what cannot be called."""
    if value is not None and not callable(value):
        raise ArgumentError(
            f"{what} is {type(value).__name__}, expected a function {signature}"
        )
