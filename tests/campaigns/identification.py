"""Random problems of identification, with records of an independent integrator."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import flexarm as fa
from flexarm.identification import Record, identify
from flexarm.identification._records import signals_of, values_of

from . import Row
from .judge import solved

DT = 0.01
T = np.linspace(0.0, 5.0, 501)


@dataclass
class Problem:
    """An arm, its true parameters, a start that is 30 to 50 % off, and a record.

    The noise is that of the draw: one in 10000 draws is 13 % larger than its law says.
    """

    what: str
    make: Any
    names: list[str]
    truth: np.ndarray
    start: np.ndarray
    record: Record
    outputs: list[Any]
    noise: np.ndarray


def problem(seed: int) -> Problem | None:
    """One or two flexible links with payload, stiffness, damping, dry friction.

    None if its controlled motion bends links beyond what the model holds for.
    """
    rng = np.random.default_rng([23, seed])
    n = 1 + seed % 2
    length, mass = rng.uniform(0.4, 0.8, n), rng.uniform(0.2, 0.6, n)
    hub = rng.uniform(0.5, 1.5, n)
    load = rng.uniform(0.3, 1.0) * mass[-1]
    outer = np.append(mass[1:] + hub[1:], 0.0) + load
    clamped = rng.uniform(1.5, 4.0, n)  # Hz, of the link with what it carries
    stiffness = (2 * np.pi * clamped) ** 2 * (0.236 * mass + outer) * length**3 / 3.0
    inertia = 0.02 * hub + (mass / 3.0 + outer) * length**2
    damping, ratio = rng.uniform(0.2, 0.6, n) * inertia, rng.uniform(0.01, 0.04)
    vertical, dry = rng.random() < 0.4, rng.random() < 0.4
    links = [f"link{i + 1}" for i in range(n)]
    names = ["load", *(f"EI{i + 1}" for i in range(n)), "ratio"]
    names += [f"d{i + 1}" for i in range(n)] + ["dry"] * dry
    truth = np.array([load, *stiffness, ratio, *damping, *[0.3 * inertia[0]] * dry])
    gravity = (0.0, -9.81 * vertical, 0.0)

    def make(p: np.ndarray) -> fa.Arm:
        bodies = []
        for i in range(n):
            joint: dict[str, Any] = {"axis": (0, 0, 1), "damping": p[2 + n + i]}
            if i:
                joint |= {"parent": "link1", "node": "tip"}
            elif dry:
                joint["coulomb_friction"] = fa.CoulombFriction(p[-1], 0.2)
            bodies.append(
                fa.beams.flexible_link(
                    links[i],
                    length=length[i],
                    mass_per_length=mass[i] / length[i],
                    bending_stiffness=p[1 + i],
                    motions="bending y",
                    n_modes=2,
                    joint=fa.Joint(**joint),
                    base_mass=hub[i],
                    base_inertia=0.02 * hub[i],
                    damping_ratio=p[1 + n],
                    tip_mass=p[0] if i == n - 1 else 0.0,
                )
            )
        return fa.Arm(bodies, gravity=gravity, tip=(links[-1], "tip"))

    arm = make(truth)
    start = np.zeros(arm.nq)
    if vertical:
        start[0] = -np.pi / 2
        start = fa.equilibrium(arm, start, held="motors").q
    tau = controlled(arm, start, rng)
    if tau is None:
        return None
    q, qd = integrated(arm, start, tau)
    if np.abs(q[:, n:]).max() > 0.4 or np.abs(q[:, :n]).max() > np.pi:
        return None
    outputs: list[Any] = ["joint positions"]
    kind = int(rng.integers(3))
    if kind == 0:
        outputs += [("strain", link, 0.0) for link in links]
    else:
        outputs += [["tip position xy", "tip accelerometer y"][kind - 1]]
    qdd = arm.forward_dynamics(q, qd, tau)
    y = values_of(arm, signals_of(arm, outputs)[0], q, qd, qdd)
    sigma = 0.01 * y.std(axis=0)
    first = np.append(start[:n], np.zeros(arm.nq - n))
    noisy = y + sigma * rng.normal(size=y.shape)
    record = Record(T, noisy, tau, first, at_rest=vertical)
    off = rng.choice([-1, 1], len(truth)) * rng.uniform(0.3, 0.5, len(truth))
    what = f"{n} link{'s' * (n > 1)}{', vertical' * vertical}{', dry friction' * dry}"
    what += ", " + ("strain", "tip", "accelerometer")[kind]
    drawn = (noisy - y).std(axis=0)
    return Problem(
        what, make, names, truth, truth * (1.0 + off), record, outputs, drawn
    )


def controlled(arm: fa.Arm, start: np.ndarray, rng: Any) -> np.ndarray | None:
    """Forces of a joint controller that follows sums of sines."""
    n = arm.nu
    rate = 2 * np.pi * rng.uniform(0.2, 1.2, (n, 3))
    size, phase = rng.uniform(0.2, 0.5, (n, 3)), rng.uniform(0.0, 6.28, (n, 3))
    inertia = np.diag(arm.mass_matrix(start))[:n]
    tau = np.zeros((len(T), n))
    q, qd = start, np.zeros(arm.nv)
    for i in range(5 * len(T)):
        t = 0.2 * DT * i
        wanted = (size * (np.sin(rate * t + phase) - np.sin(phase))).sum(axis=1)
        u = inertia * (16.0 * (start[:n] + wanted - q[:n]) - 5.0 * qd[:n])
        if i % 5 == 0:
            tau[i // 5] = u
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = fa.simulate(
                arm,
                q,
                qd,
                [0.0, 0.2 * DT],
                torque=np.array([u, u]),
                max_step=0.1 * DT,
                progress=False,
            )
        q, qd = run.q[-1], run.qd[-1]
        if not np.abs(q[n:]).max() < 0.4:
            return None
    return tau


def integrated(
    arm: fa.Arm, start: np.ndarray, tau: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The motion under these forces, linear between samples, by LSODA."""
    nv = arm.nv

    def rates(t: float, x: np.ndarray) -> np.ndarray:
        k = min(int(t / DT), len(T) - 2)
        part = t / DT - k
        force = (1.0 - part) * tau[k] + part * tau[k + 1]
        qdd = arm.forward_dynamics(x[:nv], x[nv:], force)
        return np.concatenate([x[nv:], qdd])

    x0 = np.concatenate([start, np.zeros(nv)])
    run = solve_ivp(
        rates, (0.0, T[-1]), x0, "LSODA", T, rtol=1e-7, atol=1e-9, max_step=DT
    )
    assert run.success
    return run.y[:nv].T, run.y[nv:].T


def rows(problems: int, seed: int) -> Iterator[Row]:
    """Arms of many seeds, less those that no controller moves within the model."""
    good = done = 0
    while done < problems:
        case = problem(seed)
        seed += 1
        if case is None:
            continue
        done += 1
        begin = process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fa.ConvergenceWarning)
            found = identify(
                case.make,
                case.start,
                case.record,
                names=case.names,
                search={"progress": False},
                outputs=case.outputs,
            )
        took = process_time() - begin
        left = np.concatenate(found.residual).std(axis=0) / case.noise
        off = np.abs(found.p - case.truth) / found.std  # NaN at a bound
        right = bool(left.max() < 1.1 and np.nanmax(off) < 5.0)
        good += right and found.success
        cells = {"seed": seed - 1, "arm": case.what, "answer": found.status}
        cells["residual / noise"] = f"{left.max():.3f}"
        cells["largest error, std"] = f"{np.nanmax(off):.2g}"
        cells["s"] = f"{took:.1f}"
        wrong = found.success and not right
        yield Row(cells, "silently wrong" if wrong else "")
    yield solved("all", good, problems, 0.95)
