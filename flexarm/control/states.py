"""Positions and states of an arm in a loop, and their motion under held forces."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import positive_number, real_array
from .._calls.arm_like import AnyArm, Array
from .._calls.records import Options
from .._support.arrays import Mask
from ..arm import Arm
from ..errors import ArgumentError
from ..kinematics.positions import quiet_difference
from ..linear_models import StateSpace
from ..linear_models.outputs import state_names
from ..simulation.core_loop import run_core
from ..simulation.laws import Law
from ..simulation.run import Run

INTEGRATORS = ("rk4", "euler")
# Size of a state beyond which it diverges: its squares must not overflow.
MAX_STATE = 1e100


def with_joints(arm: Arm, joints: Array) -> Array:
    """Positions (..., nq) with these joints, and zero motors and modes."""
    rest = np.zeros((*joints.shape[:-1], arm.nq - arm.nj))
    return np.concatenate([joints, rest], axis=-1)


def read_state(arm: Arm, q: ArrayLike, qd: ArrayLike | None) -> tuple[Array, Array]:
    """Positions (..., nq) and velocities (..., nv), NaN where a state is lost."""
    found = []
    for name, value, size in (("q", q, arm.nq), ("qd", rates(qd), arm.nv)):
        array = real_array(name, value)
        if array.ndim == 0 or array.shape[-1] != size:
            raise ArgumentError(
                f"{name} has shape {array.shape}, expected (..., {size})"
            )
        found.append(array)
    return found[0], found[1]


def rates(qd: ArrayLike | None) -> ArrayLike:
    """Velocities that a law of the state is given; it cannot do without."""
    if qd is None:
        raise ArgumentError(
            "qd is None, expected velocities: the law reads the state, law(t, q, qd), "
            "and not the outputs of sensors alone; leave sensors out"
        )
    return qd


def refuse_rates(yd: object) -> None:
    """Refuse a state where a law reads the outputs of its sensors."""
    if yd is not None:
        raise ArgumentError(
            "two arrays are measured, the state, but the law estimates it from outputs "
            "of its sensors, expected these alone, law(t, y); run it by simulate_loop "
            "and leave sensors out"
        )


def given_sample_time(dt: float | None) -> float:
    """Sample time in s for a law that has none."""
    if dt is None:
        raise ArgumentError(
            "dt is None and the law has no sample time, expected that of its loop in s"
        )
    return positive_number("dt", dt)


def gain_near(law: Law, arm: Arm, q: Array) -> Array:
    """Gain (nu, 2 nv) of ``tau = tau_0 - K (q, qd)`` of a law at rest, by differences.

    Central ones with steps of 1e-5, exact to some 1e-10 of what is smooth.
    """
    n, step = arm.nv, 1e-5
    x = np.concatenate([q, np.zeros(n)])
    near = x + step * np.concatenate([np.eye(2 * n), -np.eye(2 * n)])
    tau = np.asarray(law(0.0, near[:, :n], near[:, n:]))
    return np.asarray((tau[2 * n :] - tau[: 2 * n]).T / (2.0 * step))


def known_states(arm: Arm, model: StateSpace) -> slice | list[int]:
    """Places among (q, qd) of the states of a model, some of which couplings tie."""
    if model.n_states == 2 * arm.nv:
        return slice(None)
    every = state_names(arm.coordinate_names)
    missing = [name for name in model.states if name not in every]
    if missing:
        raise ArgumentError(
            f"the model has the state {missing[0]!r}, which the arm has not, expected "
            "a model of linearize(arm, ...)"
        )
    return [every.index(name) for name in model.states]


def on_all_states(arm: Arm | None, model: StateSpace, K: Array) -> Array:
    """Columns (..., 2 nv) for (q, qd) of those of a model, zeros for tied ones."""
    if arm is None:
        if model.q is None or model.qd is None:
            return K
        size = model.q.shape[-1] + model.qd.shape[-1]
        if size == model.n_states:
            return K
        raise ArgumentError(
            f"the model has {model.n_states} states for {size} positions and "
            "velocities, as couplings or quaternions leave some out; expected the arm "
            "of the law, lqr(..., arm=arm)"
        )
    places = known_states(arm, model)
    if isinstance(places, slice):
        return K
    result = np.zeros((*K.shape[:-1], 2 * arm.nv))
    result[..., places] = K
    return result


def known(q: Array, neutral: Array) -> Array:
    """Positions (..., nq), neutral ones where a loop is lost and has NaN."""
    return np.where(np.isfinite(q).all(axis=-1, keepdims=True), q, neutral)


def n_positions(arm: Arm) -> int:
    """Number of position coordinates of the joints, which stand first in q."""
    return int(arm.joint_position_slice.stop)


def advance(arm: AnyArm, q: Array, dq: Array) -> Array:
    """Positions q (..., nq) moved by dq (..., nv)."""
    return np.asarray(arm.kernels.quiet("integrate")(q, dq))


def joint_difference(arm: Arm, q: Array, wanted: Array) -> Array:
    """Displacement (..., nu) of the joints between positions (..., n_positions)."""
    modes = np.zeros((*q.shape[:-1], arm.nv - arm.nj))  # and motors

    def full(joints: Array) -> Array:
        return np.concatenate([joints, modes], axis=-1)

    return quiet_difference(arm, full(q), full(wanted))[..., : arm.nj]


def integrate(
    arm: Arm,
    q: Array,
    qd: Array,
    tau: Array,
    span: tuple[float, float],
    integrator: str = "rk4",
    max_step: float | None = None,
    report: Array | None = None,
) -> tuple[Array, Array]:
    """State after a span of time under a force that is held; NaN where it diverges.

    Leading axes broadcast.  ``"euler"`` is semi-implicit: velocities first.  Errors of
    the steps of ``"rk4"`` go on in `report`.
    """
    batch = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1], tau.shape[:-1])
    alive = is_ordinary(q, qd) & np.isfinite(tau).all(-1)
    mask = alive[..., np.newaxis]
    # a lost member rests meanwhile, so that the others go on
    q = np.where(mask, q, arm.neutral)
    qd, tau = (np.where(mask, x, 0.0) for x in (qd, tau))
    if integrator == "euler":
        h = span[1] - span[0]
        qd = qd + h * arm.kernels.quiet("forward_dynamics")(q, qd, tau)
        q = advance(arm, q, h * qd)
    else:
        # the time loop alone, without the checks and messages of `simulate`
        forces = np.stack([tau, tau], axis=-2)
        run = Run(arm, q, qd, np.array(span, dtype=np.float64), forces)
        run.hold = True
        if report is not None:
            run.report = report
        step = np.inf if max_step is None else float(max_step)
        run_core(run, "rk4", Options(max_step=step), False)
        q, qd = (x[:, -1].reshape(*batch, x.shape[-1]) for x in (run.q, run.qd))
    lost = ~(np.broadcast_to(alive, batch) & is_ordinary(q, qd))
    q[lost] = qd[lost] = np.nan
    return q, qd


def is_ordinary(q: Array, qd: Array) -> Mask:
    """Whether states (...) are finite and of ordinary size."""
    return np.asarray((abs(q) < MAX_STATE).all(-1) & (abs(qd) < MAX_STATE).all(-1))
