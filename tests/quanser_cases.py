"""Measured runs of the laboratory arm `library.quanser_two_link`, and its model.

Hub 1 follows its measured angle, through a spring and a damper that are much stiffer
than the link.  Joint 2 has a servo, a spring with friction.  The signal of the strain
is a gain and a second-order low-pass.  The second stage hangs on cables, or the table
leans: a weak spring to the angle zero.  Before a run the arm swings in its first mode,
as the first 50 ms of the signal say; nothing else of a run is fitted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from arrays import Array
from scipy.interpolate import CubicSpline
from scipy.linalg import eigh
from scipy.optimize import OptimizeResult, least_squares
from scipy.signal import cont2discrete, lfilter

import flexarm as fa

STEP = 0.008  # s, of the data
LENGTH = 0.202  # m, of link 1
HOLD, DAMP = 4000.0, 20.0  # N m/rad and N m s between measured angle and hub
UNITS = {"hub": 1e-5, "deflection": 1e-6, "current": 1e-4}
DATA = Path(__file__).parent / "data"


def columns(name: str) -> dict[str, Array]:
    """Columns of a file, in rad and A."""
    lines = (DATA / name).read_text().splitlines()
    lines = [line for line in lines if not line.startswith("#")]
    numbers = np.array([line.split(",") for line in lines[1:]], dtype=float)
    heads = lines[0].split(",")
    sizes = [UNITS[head.split()[-1].rstrip("12")] for head in heads]
    return dict(zip(heads, (numbers * sizes).T, strict=True))


def steps() -> dict[str, tuple[Array, Array]]:
    """Hub angle and deflection of each run."""
    table = columns("quanser_steps.csv")
    names = [head.removesuffix(" hub") for head in table if head.endswith(" hub")]
    return {name: (table[f"{name} hub"], table[f"{name} deflection"]) for name in names}


@dataclass(frozen=True)
class Numbers:
    """What the maker's data do not say, first guesses."""

    load_center: float = 0.28  # m from the clamp
    damping_time: float = 0.002  # s, of link 1
    servo: float = 1.0  # N m/rad, joint 2
    viscous: float = 0.1  # N m s, joint 2
    friction: float = 0.01  # N m, joint 2
    lean: float = 0.2  # m/s^2, weight along the table or pull of the cables
    gain: float = 1.0  # of the signal
    low_pass: float = 12.57  # rad/s
    low_pass_damping: float = 0.9

    def moved(self, x: Array) -> Numbers:
        """The same times exp(x)."""
        values = np.array(list(asdict(self).values())) * np.exp(x)
        return Numbers(*values.tolist())


def arm_of(p: Numbers) -> fa.Arm:
    """The arm whose hub 1 is held at an angle that is the torque over `HOLD`."""
    arm = fa.library.quanser_two_link(
        load_center=p.load_center,
        viscous_friction=(DAMP, p.viscous),
        coulomb_friction=(0.0, p.friction),
        friction_velocity=0.005,
        damping_time=(p.damping_time, 0.001),
    )
    bodies = [
        body.replace(joint=body.joint.replace(stiffness=stiffness))
        for body, stiffness in zip(arm.bodies, (HOLD, p.servo), strict=True)
    ]
    return arm.replace(bodies=bodies, gravity=(p.lean, 0.0, 0.0))


def strain(q: Array) -> Array:
    """Strain at the gauge as an angle, M L/(3 EI), of static shapes of link 1."""
    deflection, slope = q[..., 2], q[..., 3]
    return np.asarray(2.0 * deflection / LENGTH - 2.0 * slope / 3.0)


def filtered(p: Numbers, signal: Array, first: Array, second: Array) -> Array:
    """Low-pass of signals (runs, n) whose first two values are known."""
    w, z = p.low_pass, p.low_pass_damping
    A = np.array([[0.0, 1.0], [-w * w, -2.0 * z * w]])
    B = np.array([[0.0], [w * w]])
    A, B, C, D, _ = cont2discrete((A, B, np.eye(2)[:1], [[0.0]]), STEP, "foh")
    a = np.array([1.0, -np.trace(A), np.linalg.det(A)])
    b = np.array([D[0, 0], (C @ B)[0, 0] + a[1] * D[0, 0], 0.0])
    b[2] = (C @ A @ B)[0, 0] + a[1] * (C @ B)[0, 0] + a[2] * D[0, 0]
    z0 = first - b[0] * signal[:, 0]
    z1 = second - b[0] * signal[:, 1] - b[1] * signal[:, 0] + a[1] * first
    return np.asarray(lfilter(b, a, signal, zi=np.stack([z0, z1], -1))[0])


def start(arm: fa.Arm, p: Numbers, hub: float, y: float, rate: float) -> Array:
    """State (2 nv,) in the first mode about the rest at a hub angle."""
    n, still = arm.nv, np.zeros(arm.nv)
    q = np.zeros(n)
    q[0] = hub
    K = fa.inverse_dynamics_derivatives(arm, q, still, still)[0]
    forces = fa.inverse_dynamics(arm, q, still, still)
    forces[0] -= HOLD * hub
    q -= np.linalg.solve(K, forces)
    squares, shapes = eigh(K, fa.mass_matrix(arm, q))
    w, shape = np.sqrt(squares[0]), shapes[:, 0]
    # y = Re(F a exp(i w t)) of the amplitude a, seen through the low-pass F
    ratio = w / p.low_pass
    F = p.gain * strain(shape) / (1.0 - ratio**2 + 2j * p.low_pass_damping * ratio)
    a = (y - p.gain * strain(q) - 1j * rate / w) / F
    return np.concatenate([q + a.real * shape, -w * a.imag * shape])


def predicted(numbers: list[Numbers], runs: list[tuple[Array, Array]]) -> Array:
    """Deflections (numbers, runs, n) from the hub angles, all in one call."""
    arms = [arm_of(p) for p in numbers]
    hub, y = (np.array(each) for each in zip(*runs, strict=True))
    t = STEP * np.arange(hub.shape[1])
    rates = np.array([CubicSpline(t, each)(t, 1) for each in hub])
    early = np.array([np.polyfit(t[:7], each[:7], 1) for each in y])
    states = np.array(
        [
            [
                start(arm, p, *each)
                for each in zip(hub[:, 0], early[:, 1], early[:, 0], strict=True)
            ]
            for arm, p in zip(arms, numbers, strict=True)
        ]
    )
    torque = np.stack([HOLD * hub + DAMP * rates, np.zeros_like(hub)], -1)
    q0, qd0 = np.split(states, 2, axis=-1)
    run = fa.simulate(
        fa.stack(arms)[:, np.newaxis],
        q0,
        qd0,
        t,
        torque=np.broadcast_to(torque, (len(arms), *torque.shape)),
        max_step=0.004,
        progress=False,
    )
    first, second = early[:, 1], early[:, 1] + STEP * early[:, 0]
    return np.array(
        [
            filtered(p, p.gain * strain(q), first, second)
            for p, q in zip(numbers, run.q, strict=True)
        ]
    )


def errors(found: Array, measured: Array) -> Array:
    """Root mean square of errors over the standard deviation, of each run."""
    size = measured.std(axis=-1)
    return np.asarray(np.sqrt(np.mean((found - measured) ** 2, axis=-1)) / size)


def identified(
    names: list[str], begin: Numbers | None = None
) -> tuple[Numbers, Array, OptimizeResult]:
    """Numbers from some runs, and their 95 % intervals as factors.

    Errors last for a second, so that gradients of blocks of a second, rather than of
    samples, scatter independently: a sandwich estimate.
    """
    begin = begin or Numbers()
    table = steps()
    runs = [table[name] for name in names]
    y = np.array([run[1] for run in runs])
    scale = y.std(axis=1)[:, np.newaxis]
    n, step = len(asdict(begin)), 1e-4

    def residuals(x: Array) -> Array:
        return np.asarray((predicted([begin.moved(x)], runs)[0] - y) / scale).ravel()

    def jacobian(x: Array) -> Array:
        moved = [begin.moved(x + step * e) for e in np.vstack([np.zeros(n), np.eye(n)])]
        found = predicted(moved, runs)
        return np.asarray((found[1:] - found[0]) / (step * scale)).reshape(n, -1).T

    # the drive of stage 2 keeps an inertia, and steps of the integrator are stable
    highest = np.full(n, 4.0)
    highest[:2] = np.log([0.311 / begin.load_center, 0.02 / begin.damping_time])
    search = least_squares(
        residuals,
        np.zeros(n),
        jacobian,
        bounds=(np.full(n, -4.0), highest),
        x_scale=0.3,
        xtol=1e-4,
        ftol=1e-5,
        max_nfev=20,
    )
    J, block = search.jac, round(1.0 / STEP)
    scores = np.add.reduceat(
        J * search.fun[:, np.newaxis], np.arange(0, len(J), block), axis=0
    )
    inverse = np.linalg.inv(J.T @ J)
    cov = inverse @ (scores.T @ scores) @ inverse * len(scores) / (len(scores) - n)
    return begin.moved(search.x), np.exp(1.96 * np.sqrt(np.diag(cov))), search


HUB2 = 400.0, 2.0  # N m/rad and N m s between measured angle and hub 2
PULL = 0.01  # N m/rad, of a spring so weak that its torque is constant


def driven_arm(p: Array) -> fa.Arm:
    """The arm whose hub 1 moves freely, hub 2 as measured.

    Parameters are inertia, viscous and dry friction of drive 1 and a constant torque.
    """
    arm = fa.library.quanser_two_link(
        load_center=0.309,
        hub_inertia=(p[0], 0.003),
        viscous_friction=(p[1], HUB2[1]),
        coulomb_friction=(p[2], 0.0),
        friction_velocity=0.02,
        damping_time=(0.003, 0.001),
    )
    first, second = arm.bodies
    pulled = first.joint.replace(stiffness=PULL, rest=p[3] / PULL)
    held = second.joint.replace(stiffness=HUB2[0])
    return arm.replace(
        bodies=[first.replace(joint=pulled), second.replace(joint=held)],
        gravity=(0.2, 0.0, 0.0),
    )


def driven_record(begin: int, end: int) -> fa.optimize.Record:
    """Hub angles under the measured current, times the nominal constant."""
    table = columns("quanser_both_stages.csv")
    t = STEP * np.arange(len(table["hub1"]))
    hub2 = HUB2[0] * table["hub2"] + HUB2[1] * CubicSpline(t, table["hub2"])(t, 1)
    tau = np.stack([8.925 * table["current1"], hub2], 1)
    y = np.stack([table["hub1"], table["hub2"]], 1)
    q0 = np.array([*y[begin], 0.0, 0.0, 0.0, 0.0])
    part = slice(begin, end)
    return fa.optimize.Record(t[part] - t[begin], y[part], tau[part], q0, np.zeros(6))
