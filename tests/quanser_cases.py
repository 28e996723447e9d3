"""Measured runs of the laboratory arm `library.quanser_two_link`, and its model.

Hub 1 follows its measured angle. In the steps joint 2 has a servo, a spring with
friction; in the run of both stages it follows its measured angle, too. Signals of the
strain are a gain, an offset and a second-order low-pass. The second stage hangs on
cables, or the table leans: a weak spring to the angle zero.

The steps are parts of longer runs, each of which starts where the one before it ended.
They are predicted without a look at the signal in between.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from arrays import Array
from scipy.linalg import eigh
from scipy.signal import cont2discrete, lfilter, savgol_filter

import flexarm as fa
from flexarm.identification import Record, Sensor, predicted_signals

STEP = 0.008  # s, of the data
LENGTHS = 0.202, 0.20185  # m, of the links
ROD = 7850.0 * 0.0381 * 0.000889 * LENGTHS[1]  # kg, link 2
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


def errors(found: Array, measured: Array) -> Array:
    """Root mean square of errors over the standard deviation, of each run."""
    size = measured.std(axis=-1)
    return np.asarray(np.sqrt(np.mean((found - measured) ** 2, axis=-1)) / size)


# steps of hub 1

CHAINS = (
    ("lqg 5", "lqg -5", "lqg 10", "lqg -10", "lqg 20"),
    ("hinf 10", "hinf -10", "hinf 20"),
    ("lqg 0",),
)
# three of the nine steps, one of each size, sign and controller
FITTED = ("lqg 10", "lqg -5", "hinf -10")
STEP_FIRST = np.array([0.28, 0.002, 1.0, 0.1, 0.01, 0.2, 1.0, 12.57, 0.9, 0.0])


def step_arm(p: Array) -> fa.Arm:
    """The arm of the steps; joint 2 has a servo with friction."""
    arm = fa.library.quanser_two_link(
        load_center=p[0],
        viscous_friction=(0.0, p[3]),
        coulomb_friction=(0.0, p[4]),
        friction_velocity=0.005,
        damping_time=(p[1], 0.001),
    )
    first, second = arm.bodies
    second = second.replace(joint=second.joint.replace(stiffness=p[2]))
    return arm.replace(bodies=[first, second], gravity=(p[5], 0.0, 0.0))


def step_gauge(p: Array, start: tuple[float, float] | None = None) -> Sensor:
    """The signal of the strain at the base of link 1 as an angle, M L/(3 EI)."""
    return Sensor(
        ("strain", "link1", 0.0),
        gain=p[6] * LENGTHS[0] / 3.0,
        offset=1e-3 * p[9],
        low_pass=p[7],
        damping=p[8],
        start=start,
    )


def step_record(names: tuple[str, ...], used: tuple[str, ...]) -> Record:
    """Runs one after the other from rest, without the signals of those not used."""
    table = steps()
    hub = np.concatenate([table[name][0] for name in names])
    y = [table[n][1] if n in used else np.full(500, np.nan) for n in names]
    t = STEP * np.arange(len(hub))
    q0 = [hub[0], 0.0, 0.0, 0.0, 0.0, 0.0]
    led = {"link1": hub}
    return Record(t, np.concatenate(y), None, q0, at_rest=True, prescribed=led)


def swinging(
    p: Array, hub: float, y: Array
) -> tuple[Array, Array, tuple[float, float]]:
    """State in the first mode, hub held, and start of the gauge, from early samples."""
    arm = step_arm(p)
    n, q = arm.nv, np.zeros(arm.nv)
    q[0] = hub
    for _ in range(3):  # to the rest at this hub angle
        K = fa.inverse_dynamics_derivatives(arm, q, np.zeros(n), np.zeros(n))[0][1:, 1:]
        q[1:] -= np.linalg.solve(K, fa.inverse_dynamics(arm, q, 0 * q, 0 * q)[1:])
    squares, shapes = eigh(K, fa.mass_matrix(arm, q)[1:, 1:])
    w, shape = np.sqrt(squares[0]), np.array([0.0, *shapes[:, 0]])

    def gauge(x: Array) -> float:
        return float(p[6] * (2.0 * x[2] / LENGTHS[0] - 2.0 * x[3] / 3.0))

    # y = Re(F a exp(i w t)) of the amplitude a, seen through the low-pass F
    rate, first = np.polyfit(STEP * np.arange(7), y[:7], 1)
    ratio = w / p[7]
    F = gauge(shape) / (1.0 - ratio**2 + 2j * p[8] * ratio)
    a = (first - 1e-3 * p[9] - gauge(q) - 1j * rate / w) / F
    return q + a.real * shape, -w * a.imag * shape, (float(first), float(rate))


def predicted_steps(p: Array) -> dict[str, Array]:
    """Deflection of each run from the hub angles of its chain and its first 50 ms."""
    table, found = steps(), {}
    for names in CHAINS:
        record = step_record(names, names)
        hub, y = table[names[0]]
        q0, qd0, start = swinging(p, hub[0], y)
        moving = Record(record.t, record.y, None, q0, qd0, prescribed=record.prescribed)
        outputs = step_gauge(p, start)
        (signal,) = predicted_signals(step_arm(p), moving, outputs=outputs)
        found |= dict(zip(names, np.split(signal[:, 0], len(names)), strict=True))
    return found


# the run of both stages


def both_arm(p: Array) -> fa.Arm:
    """The arm of the run of both stages; the mass of stage 2 is the maker's."""
    arm = fa.library.quanser_two_link(
        carried=(1.578 - ROD - p[2], p[0], 0.005),
        elbow=p[1],
        load=(p[2], 1.02 * p[2] * LENGTHS[1] ** 2),
        elbow_angle=p[3],
        damping_time=p[4],
    )
    return arm.replace(gravity=(p[5], 0.0, 0.0))


def both_gauges(p: Array) -> list[Sensor]:
    """Signals of both strains, with equal filters."""
    return [
        Sensor(
            ("strain", f"link{k + 1}", 0.0),
            gain=p[6 + k] * LENGTHS[k] / 3.0,
            offset=1e-3 * p[10 + k],
            low_pass=p[8],
            damping=p[9],
        )
        for k in range(2)
    ]


def both_record(begin: int, end: int) -> Record:
    """Part of the run of both stages, both hubs as measured."""
    table, part = columns("quanser_both_stages.csv"), slice(begin, end)
    led = {f"link{k}": table[f"hub{k}"][part] for k in (1, 2)}
    y = np.stack([table["deflection1"][part], table["deflection2"][part]], -1)
    t = STEP * np.arange(end - begin)
    return Record(t, y, at_rest=True, prescribed=led)


# linear models without physics

Modes = list[tuple[float, float]]  # rad/s, damping ratio


def answers(inputs: list[Array], modes: Modes) -> list[Array]:
    """Inputs, and what the position and the rate of each mode answer to them."""
    rows = list(inputs)
    for w, ratio in modes:
        for top in ([w * w], [w, 0.0]):
            system = (top, [1.0, 2.0 * ratio * w, w * w])
            b, a, _ = cont2discrete(system, STEP, "foh")
            rows += [lfilter(np.ravel(b), a, u - u[0]) for u in inputs]
    return rows


def linear_rest(products: bool, modes: Modes) -> Array:
    """Error of the best linear model of both hub angles with some modes, in sample.

    With `products` those of the rates are inputs, too.
    """
    table = columns("quanser_both_stages.csv")
    hubs = np.stack([table["hub1"], table["hub2"]], -1)
    v = savgol_filter(hubs, 11, 3, deriv=1, delta=STEP, axis=0).T
    inputs = list(hubs.T)
    if products:
        inputs += [v[0] ** 2, v[0] ** 2 * hubs[:, 1], v[1] ** 2, v[0] * v[1]]
    A = np.stack([np.ones(len(hubs)), *answers(inputs, modes)], -1)
    y = np.stack([table["deflection1"], table["deflection2"]], -1)
    return errors((A @ np.linalg.lstsq(A, y, rcond=None)[0]).T, y.T)


def linear_rest_of_steps(modes: Modes) -> dict[str, float]:
    """The same of all steps, each with an initial state of its own."""
    t = STEP * np.arange(500)
    rates = [w * (-z + 1j * np.sqrt(1.0 - z * z)) for w, z in modes]
    waves = np.exp(np.outer(t, rates))
    free, _ = np.linalg.qr(np.hstack([waves.real, waves.imag]))
    parts, left = [], []
    for hub, y in steps().values():
        A = np.stack([np.ones(500), *answers([hub], modes)], -1) / y.std()
        parts.append(A - free @ (free.T @ A))
        left.append(y / y.std() - free @ (free.T @ y) / y.std())
    x = np.linalg.lstsq(np.vstack(parts), np.concatenate(left), rcond=None)[0]
    rests = [b - A @ x for A, b in zip(parts, left, strict=True)]
    rms = [float(np.sqrt(np.mean(r**2))) for r in rests]
    return dict(zip(steps(), rms, strict=True))


# the hub from the current

PULL = 0.01  # N m/rad, of a spring so weak that its torque is constant


def driven_arm(p: Array) -> fa.Arm:
    """The arm whose hub 1 moves freely.

    Parameters are inertia, viscous and dry friction of drive 1 and a constant torque.
    """
    arm = fa.library.quanser_two_link(
        load_center=0.309,
        hub_inertia=(p[0], 0.003),
        viscous_friction=(p[1], 0.0),
        coulomb_friction=(p[2], 0.0),
        friction_velocity=0.02,
        damping_time=(0.003, 0.001),
    )
    first, second = arm.bodies
    pulled = first.joint.replace(stiffness=PULL, rest=p[3] / PULL)
    bodies = [first.replace(joint=pulled), second]
    return arm.replace(bodies=bodies, gravity=(0.2, 0.0, 0.0))


def driven_record(begin: int, end: int) -> Record:
    """Hub 1 under the measured current, times the nominal constant; hub 2 measured."""
    table, part = columns("quanser_both_stages.csv"), slice(begin, end)
    t = STEP * np.arange(end - begin)
    tau = np.stack([8.925 * table["current1"][part], np.zeros(end - begin)], 1)
    hub = table["hub1"][part]
    q0 = [hub[0], 0.0, 0.0, 0.0, 0.0, 0.0]
    led = {"link2": table["hub2"][part]}
    return Record(t, hub, tau, q0, prescribed=led)
