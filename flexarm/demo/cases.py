"""The six simulations of section VII, by the kernels and by the closed form."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import dynamics, kinematics, library
from .._support.arrays import Array
from ..dynamics import mass
from ..reference import de_luca_siciliano as paper
from ..simulation.methods import Trajectory, simulate

# Step in s, as in the paper.
STEP = 1e-3
# Steps of two seconds.
STEPS = 2000
TORQUE = 0.2  # N m
# Repetitions of every timed run.
REPEATS = 5


@dataclass(frozen=True)
class Case:
    """One simulation of the paper.

    Attributes
    ----------
    figure : int
        Number of its figure in the paper.
    start : tuple of six float
        Initial positions, rad and m; the arm starts at rest.
    title : str
        The start in words.
    torque : bool
        Bang-bang torque on both joints, or none.
    damping : bool
        Structural damping ``D = 0.1 sqrt(K)``, or none.
    """

    figure: int
    start: tuple[float, ...]
    title: str
    torque: bool = False
    damping: bool = False


_STRAIGHT = Case(5, (0.0, 0.0, 0.0, 0.0, 0.1, 0.002), "straight, link 2 bent")
_BENT = Case(6, (0.0, np.pi / 2.0, 0.1, 0.002, 0.0, 0.0), "right angle, link 1 bent")
_FORCED = Case(9, (0.0,) * 6, "straight, bang-bang", torque=True)
CASES = (
    _STRAIGHT,
    _BENT,
    replace(_STRAIGHT, figure=7, damping=True),
    replace(_BENT, figure=8, damping=True),
    _FORCED,
    replace(_FORCED, figure=10, damping=True),
)


@dataclass(frozen=True, eq=False)
class Result:
    """One simulation by the kernels and by the closed form.

    Attributes
    ----------
    case : Case
        The simulation.
    run : Trajectory
        The full model, by the kernels.
    cut, cut_tip : (n, 6) and (n, 2) ndarray of float
        Coordinates and tip of the paper's model, by its closed form.
    seconds : float
        Wall time of `run`, median of a few.
    """

    case: Case
    run: Trajectory
    cut: Array
    cut_tip: Array
    seconds: float

    @property
    def gap(self) -> Array:
        """(n,) distance between the tips of the two models, in m."""
        between: Array = self.run.tip[:, :2] - self.cut_tip
        return np.asarray(np.linalg.norm(between, axis=1))

    @property
    def motion_gap(self) -> Array:
        """(n,) the same with the exact tip for both, in m.

        The rest is the difference of the motions.  The paper's own tip turns the outer
        link by ``I + S y'``, which stretches it.
        """
        between = self.run.tip - kinematics.tip_pose(self.run.arm, self.cut)[..., :3, 3]
        return np.asarray(np.linalg.norm(between, axis=1))

    @property
    def travel(self) -> float:
        """Largest distance of the tip from its start, in m."""
        away = self.run.tip - self.run.tip[0]
        return float(np.linalg.norm(away, axis=1).max())


def bang_bang(t: NDArray[np.floating]) -> Array:
    """Torques (n, 2) in N m: +0.2 until 0.5 s, -0.2 until 1 s, then none.

    The paper prints the amplitude and that the input is symmetric; the switching times
    are chosen here.
    """
    level = np.where(t < 0.5 - 1e-9, TORQUE, np.where(t < 1.0 - 1e-9, -TORQUE, 0.0))
    return np.repeat(level[:, np.newaxis], 2, axis=1)


T = TypeVar("T")


def median_time(action: Callable[[], T], repeats: int = REPEATS) -> tuple[float, T]:
    """Median wall time of an action in s, and its last result."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = action()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)), result


def run_kernels(case: Case) -> tuple[float, Trajectory]:
    """One case by the kernels: seconds and motion."""
    arm = library.de_luca_siciliano(damping=case.damping)
    t = STEP * np.arange(STEPS + 1)
    torque = bang_bang(t) if case.torque else None
    seconds, run = median_time(
        lambda: simulate(
            arm,
            case.start,
            np.zeros(6),
            t,
            torque=torque,
            interpolation="hold",
            progress=False,
        )
    )
    return seconds, run


def run_closed_form() -> tuple[float, Array, Array]:
    """All cases by the closed form, as one NumPy batch: seconds, q and tip."""
    constants = paper.paper_arm()
    damped = np.array([[float(case.damping)] for case in CASES])
    torque = np.zeros((STEPS, len(CASES), 2))
    for i, case in enumerate(CASES):
        torque[:, i] = case.torque * bang_bang(STEP * np.arange(STEPS))
    seconds, answer = median_time(
        lambda: paper.simulate(
            constants,
            [case.start for case in CASES],
            np.zeros((len(CASES), 6)),
            torque,
            STEP,
            damping=damped * 0.1 * np.sqrt(constants.stiffness),
        ),
        repeats=1,
    )
    return seconds, answer.q, paper.tip_position(constants, answer.q)


def simulate_all() -> tuple[list[Result], float]:
    """Six cases by both models, and the seconds of the closed form."""
    closed, q, tip = run_closed_form()
    results = []
    for i, case in enumerate(CASES):
        seconds, run = run_kernels(case)
        results.append(Result(case, run, q[:, i], tip[:, i], seconds))
    return results, closed


@dataclass(frozen=True, eq=False)
class Ledger:
    """Energy, work and losses of a run, each (n,) in J.

    Attributes
    ----------
    energy : ndarray
        Kinetic and elastic energy.
    work : ndarray
        Done by the torques until then: exact, since each is held over a step.
    losses : ndarray
        Turned into heat until then, to the fourth order of the step.
    """

    energy: Array
    work: Array
    losses: Array

    @property
    def balance(self) -> Array:
        """(n,) imbalance in J: zero but for the integrator."""
        return np.asarray(self.energy - self.energy[0] - self.work + self.losses)

    @property
    def error(self) -> float:
        """Largest imbalance relative to the largest entry."""
        entries = np.stack([self.energy, np.abs(self.work), self.losses])
        return float(np.abs(self.balance).max() / entries.max())


def ledger(run: Trajectory) -> Ledger:
    """Energy ledger of a run with torques held over its steps.

    Parameters
    ----------
    run : Trajectory
        Equally spaced samples, one for each step.

    Returns
    -------
    ledger : Ledger
        Energy, work and losses at each sample.

    Notes
    -----
    The work of a held torque is ``tau (q_{k+1} - q_k)``.  The losses are the integral
    of ``p = etad' C etad`` by the trapezoidal rule with its end correction,
    ``h/2 (p_k + p_{k+1}) + h^2/12 (p'_k - p'_{k+1})``, whose error is of order h^4.
    """
    arm, q, qd = run.arm, run.q, run.qd
    tau, h = run.tau[:-1], float(run.t[1] - run.t[0])
    steps = np.sum(tau * np.diff(q[:, arm.joint_position_slice], axis=0), axis=1)
    damping = arm.damping_matrix

    def power(rate: Array, other: Array) -> Array:
        return np.asarray(np.einsum("ni,ij,nj->n", rate, damping, other))

    # accelerations at both ends of a step, under its own torque
    first = dynamics.forward_dynamics(arm, q[:-1], qd[:-1], tau)
    last = dynamics.forward_dynamics(arm, q[1:], qd[1:], tau)
    p, change = power(qd, qd), power(qd[:-1], first) - power(qd[1:], last)
    lost = 0.5 * h * (p[:-1] + p[1:]) + h**2 / 6.0 * change
    start = np.zeros(1)
    return Ledger(
        np.asarray(run.energy),
        np.concatenate([start, np.cumsum(steps)]),
        np.concatenate([start, np.cumsum(lost)]),
    )


def momentum_error(run: Trajectory) -> float:
    """Largest error of the momentum about joint 1, in N m s.

    Only the torque of joint 1 can change it: the arm has no friction there, and all
    bodies beyond turn with it.
    """
    M = mass.mass_matrix(run.arm, run.q)
    momentum = np.sum(M[:, 0] * run.qd, axis=1)
    given = np.concatenate([[0.0], np.cumsum(run.tau[:-1, 0] * STEP)])
    return float(np.abs(momentum - given).max())


@dataclass(frozen=True)
class Cut:
    """Errors of the paper's mass matrix, cut after first order, along a run.

    Attributes
    ----------
    angle : float
        Largest difference of a joint angle between the two motions, in rad.
    matrix : float
        Largest error of an entry of the cut matrix in the states of the full run,
        relative to the largest entry.
    lowest, full_lowest : float
        Lowest eigenvalue of the cut and of the full matrix along the full run.
    """

    angle: float
    matrix: float
    lowest: float
    full_lowest: float


def compare_matrices(result: Result) -> Cut:
    """Mass matrix of the paper against that of the kernels, along one run."""
    run = result.run
    full = mass.mass_matrix(run.arm, run.q)
    cut = paper.mass_matrix(paper.paper_arm(), run.q)
    return Cut(
        angle=float(np.abs(run.q[:, :2] - result.cut[:, :2]).max()),
        matrix=float(np.abs(full - cut).max() / np.abs(full).max()),
        lowest=float(np.linalg.eigvalsh(cut)[:, 0].min()),
        full_lowest=float(np.linalg.eigvalsh(full)[:, 0].min()),
    )


def kinetic_energy_error(results: list[Result]) -> float:
    """Kinetic energy of the kernels against (8)-(11) of the paper, nothing dropped."""
    data = paper.Parameters()
    modes = paper.paper_modes(data)
    worst = 0.0
    for result in results:
        run = result.run
        for k in range(100, STEPS, 400):
            given = paper.full_kinetic_energy(data, *modes, run.q[k], run.qd[k])
            worst = max(worst, abs(float(run.kinetic[k]) / given - 1.0))
    return worst
