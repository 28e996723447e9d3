"""The body of eight modes of Exudyn's performance test, in Exudyn and in flexarm.

Exudyn's test ``perfObjectFFRFreducedOrder.py`` is a rotor of solid elements, half a
metre long, with its eight lowest free modes and six freedoms of its frame.  Its mesh is
not part of the package; here a steel bar of solid elements of the same length has its
place.  Mesh, modes, mass and stiffness are the same numbers for both programs, and both
have the same equations: all terms of a floating frame.  They agree to rounding and the
error of the steps.

Cost of a right-hand side: a long run of the classical Runge-Kutta method divided by its
evaluations, each of which takes a mass matrix, the forces and the solution; and by
Exudyn's own timers its forces alone (``ODE2RHS``), which is what its log divides.
"""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from peers_jobs import Case, Group, Race, Sizes, agree
from races import Array, Contender

import flexarm as fa

sys.path.insert(0, str(Path(__file__).parents[1]))  # meshes
from meshes import block

# parameters of the rotation; those of Euler have a constraint, for implicit methods
NODES = {
    "rotation vector": "RotationRotationVector",
    "three angles": "RotationRxyz",
    "Euler parameters": "RotationEulerParameters",
}
EXPLICIT = ("rotation vector", "three angles")
# Spectral radius of generalized-alpha.
RADIUS = 0.9
SPIN, DRIFT = np.array([1.0, 2.0, 30.0]), np.array([0.1, 0.2, -0.1])
BODY = "body of 8 modes"
STEP = 2e-5  # s


@cache
def modes() -> Any:
    """Eight free modes of a steel bar, from 124 to 642 Hz."""
    size, density = (0.05, 0.06, 0.5), 7850.0
    return block((2, 2, 10), size, density, 2.1e9, 0.3).free_modes(8)


@cache
def arm() -> fa.Arm:
    """The bar in free space."""
    return fa.Arm([modes().body("bar", fa.Joint("free"))], gravity=(0, 0, 0))


def start() -> tuple[Array, Array]:
    """Spinning fast, with all modes excited."""
    q, qd = arm().neutral.copy(), np.zeros(arm().nv)
    q[-8:] = np.linspace(1e-3, 2e-3, 8)
    qd[:6] = np.r_[SPIN, DRIFT]
    return q, qd


class ExudynBody:
    """The same body in Exudyn.

    Attributes
    ----------
    mbs : exudyn.MainSystem
        The body and nothing else.
    """

    def __init__(self, node: str) -> None:
        import exudyn as exu
        import scipy.sparse as sp
        from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface

        found = modes()
        fem = FEMinterface()
        where = found.mesh.coordinates - found.mesh.centre_of_mass
        fem.nodes = {"Position": where}
        fem.massMatrix = sp.csr_matrix(found.mesh.mass)
        fem.stiffnessMatrix = sp.csr_matrix(found.mesh.stiffness)
        fem.modeBasis = {"matrix": np.array(found.shapes), "type": "NormalModes"}
        kind = getattr(exu.NodeType, NODES[node])
        reduced = ObjectFFRFreducedOrderInterface(fem, rigidBodyNodeType=kind)
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        reduced.AddObjectFFRFreducedOrder(
            self.mbs, initialVelocity=list(DRIFT), initialAngularVelocity=list(SPIN)
        )
        self.mbs.Assemble()
        initial = np.array(self.mbs.systemData.GetODE2Coordinates())
        initial[-8:] = start()[0][-8:]
        place = exu.ConfigurationType.Initial
        self.mbs.systemData.SetODE2Coordinates(initial, place)
        types = exu.DynamicSolverType
        self.implicit = node not in EXPLICIT
        self.method = types.GeneralizedAlpha if self.implicit else types.RK44
        self.settings = exu.SimulationSettings

    def run(self, steps: int, step: float = STEP, clock: bool = False) -> Any:
        """Steps of Runge-Kutta or generalized-alpha; returns the solver."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            s = self.settings()
            s.timeIntegration.numberOfSteps = steps
            s.timeIntegration.endTime = steps * step
            s.timeIntegration.verboseMode = 0
            s.displayComputationTime = clock
            s.timeIntegration.generalizedAlpha.spectralRadius = RADIUS
            s.timeIntegration.newton.useModifiedNewton = True
            s.solutionSettings.writeSolutionToFile = False
            s.solutionSettings.sensorsWritePeriod = steps * step
        done = self.mbs.SolveDynamic(s, solverType=self.method)
        assert done, "Exudyn did not finish its run"
        return self.mbs.sys["dynamicSolver"]

    def forces(self, steps: int, cpu_time: bool = False) -> float:
        """Seconds that the forces took in such a run, by the share in its timers.

        Its timers are those of the wall, of which only the share is used.
        """
        clock = time.thread_time if cpu_time else time.perf_counter
        start = clock()
        timer = self.run(steps, clock=True).timer
        seconds = clock() - start
        return seconds * float(timer.ODE2RHS) / float(timer.total)

    def amplitudes(self) -> Array:
        """Modal coordinates at the end of the last run."""
        return np.array(self.mbs.systemData.GetODE2Coordinates())[-8:]


def simulate(steps: int, runs: int = 1, step: float = STEP, method: str = "rk4") -> Any:
    """The same steps by flexarm."""
    q, qd = start()
    many = q if runs == 1 else np.tile(q, (runs, 1))
    return fa.simulate(
        arm(),
        many,
        qd,
        [0.0, steps * step],
        method=method,
        max_step=step,
        spectral_radius=RADIUS,
        progress=False,
    )


def check(rotor: ExudynBody, steps: int, rtol: float) -> None:
    """Both have the same frequencies and the same motion."""
    rotor.run(steps)
    found = simulate(steps).q[-1, -8:]
    agree("Exudyn's motion of the modes", rotor.amplitudes(), found, rtol)


def _batch(count: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    q, qd = (np.tile(x, (count, 1)) for x in start())
    q[:, -8:] *= rng.uniform(-1, 1, (count, 8))
    return q, qd + rng.normal(size=qd.shape), np.zeros_like(qd)


def _flexarm(count: int, steps: int) -> list[Contender]:
    """Forward dynamics in a batch, alone, and in the time loop in C."""
    own, (q, qd, tau) = arm(), _batch(count)
    out = np.empty_like(qd)
    one = [x[0].copy() for x in (q, qd, tau, out)]
    return [
        Contender(
            f"flexarm, batch of {count}",
            partial(fa.forward_dynamics, own, q, qd, tau, out=out),
            count,
        ),
        Contender("flexarm, one run in C", partial(simulate, steps), 4 * steps),
        Contender("flexarm, 64 runs in C", partial(simulate, steps, 64), 256 * steps),
        Contender(
            "flexarm, one state a call from Python",
            partial(fa.forward_dynamics, own, *one[:3], out=one[3]),
        ),
    ]


def accelerations(sizes: Sizes) -> Sequence[Race]:
    """Cost of an evaluation of the accelerations."""
    steps = 5 if sizes.looped < 10 else 1500
    contenders = _flexarm(max(sizes.batches[:2]), steps)
    for name, tolerance in (("rotation vector", 1e-6), ("three angles", 2e-2)):
        rotor = ExudynBody(name)
        check(rotor, min(steps, 500), tolerance)
        title = f"Exudyn, Runge-Kutta, {name}"
        contenders.append(Contender(title, partial(rotor.run, steps), 4 * steps))
    note = "time of a run divided by its evaluations of the accelerations"
    return [
        Race(
            Group.BODY,
            BODY,
            "accelerations",
            1,
            contenders,
            unit="right-hand side",
            notes=(note,),
        )
    ]


def forces(sizes: Sizes) -> Sequence[Race]:
    """Cost of the forces alone, without the mass matrix."""
    steps = 5 if sizes.looped < 10 else 1500
    own, count = arm(), max(sizes.batches[:2])
    q, qd, qdd = _batch(count)
    out = np.empty_like(qd)
    contenders = [
        Contender(
            f"flexarm, bias forces, batch of {count}",
            partial(fa.bias_forces, own, q, qd, out=out),
            count,
        ),
        Contender(
            f"flexarm, inverse dynamics, batch of {count}",
            partial(fa.inverse_dynamics, own, q, qd, qdd, out=out),
            count,
        ),
    ]
    for name in EXPLICIT:
        rotor = ExudynBody(name)
        timed: Callable[[], float] = partial(rotor.forces, steps, sizes.cpu_time)
        title = f"Exudyn, its ODE2RHS, {name}"
        contenders.append(Contender(title, timed, 4 * steps, own_clock=True))
    note = "Exudyn: time of a run times the share of the forces in its own timers"
    return [
        Race(
            Group.BODY,
            BODY,
            "forces",
            1,
            contenders,
            unit="right-hand side",
            notes=(note,),
        )
    ]


def cases() -> list[Case]:
    """Accelerations and forces of the body of eight modes; none without Exudyn."""
    if importlib.util.find_spec("exudyn") is None:
        return []
    return [
        Case(f"body, {BODY}, accelerations", accelerations),
        Case(f"body, {BODY}, forces", forces),
    ]
