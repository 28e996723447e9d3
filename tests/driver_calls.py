"""A call of every driver that Ctrl-C ends early, and the judge of how it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from interrupts import Struck
from tip_cases import BY_NAME

import flexarm as fa
from flexarm import identification, optimize
from flexarm.optimize import paths, time_optimal
from flexarm.optimize._minimum_time.trade_offs import TradeOff

FLEXIBLE = fa.library.farid_two_link()
ELBOW_UP = fa.library.poses(FLEXIBLE)["A"]
LINE = paths.line([1.8, 0.2], [1.6, 0.7])
STRONG = {"torque": [300.0, 120.0]}
SLIDE = fa.Arm(
    [fa.RigidBody("mass", fa.Joint("prismatic", (1, 0, 0)), mass=1.0)],
    gravity=(0, 0, 0),
)
RIGID = fa.library.iiwa14()
SMALL = fa.library.planar_chain(2, n_modes=2)
CHAIN = fa.library.planar_chain(4, n_modes=2)
RNG = np.random.default_rng(0)
PLACES = RNG.uniform(-0.8, 0.8, (1000, 3))
NARROW = np.outer([-0.5, 0.5], np.ones(7))  # few are reached
POSTURES = RNG.normal(0.0, 0.5, (400, CHAIN.nq))
WAY = paths.joint_path(RNG.uniform(-1.0, 1.0, (30, 7)))
BENT = np.array([0.3, *np.zeros(SMALL.nq - 1)])


def swing(p: Any) -> fa.Arm:
    rod = fa.library.pendulum(mass=p[0], com=0.5).bodies[0]
    return fa.Arm([rod.replace(joint=rod.joint.replace(damping=p[1]))])


def measured() -> identification.Record:
    t = np.linspace(0.0, 20.0, 4001)
    tau = 2.0 * np.sin(5.0 * t)[:, np.newaxis]
    run = fa.simulate(swing([2.0, 0.3]), [0.3], [0.0], t, torque=tau)
    return identification.simulated_record(run, noise=0.01, seed=3)


RECORD = measured()


def tracked(method: str = "least squares", check: bool = True, **search: Any) -> Any:
    if method != "frequency domain":
        search["progress"] = False
    options: Any = {"start": ELBOW_UP, "check": check, "search": search}
    return BY_NAME[method](FLEXIBLE, LINE, 0.5, **options)


def lifted(solver: str, **options: Any) -> Any:
    arm, ends = (FLEXIBLE, ([0.2, 1.0], [0.6, 0.8]))
    if solver == "scipy":
        arm, ends = (SLIDE, ([0.0], [1.0]))
    search = {"solver": solver, **options}
    return optimize.trajectory(arm, *ends, duration=0.8, search=search)


def fitted(**options: Any) -> Any:
    return identification.identify(swing, [1.0, 0.1], RECORD, **options)


def moved(method: str, n: int, **options: Any) -> Any:
    t = np.linspace(0.0, 2.0, n)
    still = np.zeros(SMALL.nv)
    return fa.simulate(SMALL, BENT, still, t, method=method, progress=False, **options)


def controlled() -> Any:
    t = np.linspace(0.0, 2.0, 401)
    still = np.zeros(SMALL.nv)

    def law(t: float, q: Any, qd: Any) -> Any:
        return -20.0 * q[..., : SMALL.nu] - 2.0 * qd[..., : SMALL.nu]

    return fa.control.simulate_loop(SMALL, law, BENT, still, t, sample_time=1e-4)


# a driver, and a call of a function of flexarm in its search, if it gets that far
DRIVERS: dict[str, tuple[Callable[[], Any], int]] = {
    "time_optimal on a path": (
        lambda: time_optimal(FLEXIBLE, LINE, start=ELBOW_UP, limits=STRONG),
        16000,
    ),
    "time_optimal between postures": (
        lambda: time_optimal(
            FLEXIBLE,
            [[0.2, 1.0], [0.6, 0.8]],
            limits=STRONG,
            search={"intervals": 12, "max_iterations": 3},
        ),
        4000,
    ),
    "time_optimal of a rigid arm": (
        lambda: time_optimal(
            RIGID,
            WAY,
            limits={"torque": 400.0, "velocity": 2.0},
            search={"intervals": 4000},
        ),
        1000,
    ),
    "trade_off": (
        lambda: optimize.trade_off(
            FLEXIBLE,
            LINE,
            [1e-3, 5e-4],
            start=ELBOW_UP,
            limits=STRONG,
            search={"intervals": 16},
        ),
        16000,
    ),
    "trajectory by Ipopt": (lambda: lifted("ipopt", intervals=20), 4000),
    "trajectory by SLSQP": (lambda: lifted("scipy", intervals=8), 2000),
    "trajectory by trust-constr": (lambda: lifted("scipy", intervals=100), 3000),
    "track by least squares": (tracked, 4500),
    "shooting by Gauss-Newton": (
        lambda: tracked("shooting", intervals=50, steps=8),
        4500,
    ),
    "shooting by BFGS": (lambda: tracked("shooting", solver="bfgs"), 8000),
    "track by stable inversion": (lambda: tracked("stable inversion"), 4500),
    "track by collocation": (lambda: tracked("collocation", intervals=16), 7000),
    "track by frequencies": (lambda: tracked("frequency domain"), 3000),
    "identify by output error": (fitted, 4000),
    "identify in stages": (lambda: fitted(stages=(0.1, 0.5, 1.0)), 8000),
    "identify by inverse dynamics": (lambda: fitted(method="inverse dynamics"), 2000),
    "inverse_kinematics": (
        lambda: fa.inverse_kinematics(RIGID, PLACES, limits=NARROW),
        2000,
    ),
    "inverse_statics": (
        lambda: fa.inverse_statics(SMALL, PLACES * [1.0, 1.0, 0.0], restarts=20),
        400,
    ),
    "equilibrium": (lambda: fa.equilibrium(CHAIN, POSTURES, held=None), 1000),
    "equilibrium, stable": (
        lambda: fa.equilibrium(CHAIN, POSTURES[:200], held=None, seek="stable"),
        500,
    ),
    "workspace_map": (
        lambda: fa.workspace_map(CHAIN, POSTURES * (np.arange(CHAIN.nq) < CHAIN.nu)),
        250,
    ),
    "simulate in C": (lambda: moved("rk4", 30_001), 100),
    "simulate with a function": (
        lambda: moved("rk4", 10_001, torque=lambda t, q, qd: np.zeros(2)),
        2000,
    ),
    "simulate with events": (
        lambda: moved("rk4", 10_001, events=[fa.events.joint_reaches(SMALL, 0, 0.0)]),
        250,
    ),
    "simulate by RK45": (lambda: moved("RK45", 101), 2000),
    "simulate by Radau": (lambda: moved("Radau", 101), 2000),
    "simulate by LSODA": (lambda: moved("LSODA", 101), 2000),
    "simulate by CVODE": (lambda: moved("CVODE", 101), 2000),
    "trajectory_sensitivities": (
        lambda: fa.trajectory_sensitivities(
            SMALL, BENT, np.zeros(SMALL.nv), np.linspace(0.0, 2.0, 4001)
        ),
        400,
    ),
    "simulate_loop": (controlled, 2000),
}
NEEDED = {
    "trajectory by Ipopt": "casadi",
    "track by collocation": "casadi",
    "simulate by CVODE": "sksundae",
}


def fault(struck: Struck) -> str:
    """Fault of the end of a driver, or nothing."""
    if struck.how != "returned":
        return ""
    result = struck.result
    if np.all(result.success) or not result.message.startswith("interrupted"):
        return f"swallowed: success={result.success}, {result.message[:80]}"
    if getattr(result, "status", "interrupted") != "interrupted":
        return f"status is {result.status}"
    warns = hasattr(result, "status") or isinstance(result, TradeOff)
    if warns and fa.ConvergenceWarning not in struck.warned:
        return "no warning"
    return ""
