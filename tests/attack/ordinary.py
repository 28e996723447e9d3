"""Ordinary arguments by name: what a user would give, for one arm of a pool.

`Draw` is one call in the making: its random numbers, its arm, and everything that must
fit together (the state of the arm, the model that `linearize` gives at it).
"""

from __future__ import annotations

import functools
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from few_modes import planar_chain

import flexarm as fa
from flexarm.mode_accuracy import ModeErrors
from flexarm.mode_results import VibrationModes
from flexarm.reference import patent_loop
from flexarm.simulation import Event
from flexarm.stacks import ArmStack

from . import values

TEXT = Path(__file__).parents[1] / "data"


@functools.cache
def folder() -> Path:
    """A folder for all files of this process."""
    return Path(tempfile.mkdtemp(prefix="attack"))


# --- arms -------------------------------------------------------------------


def _closed() -> fa.Arm:
    arm = fa.library.random_tree(
        3, 5, max_modes=1, joints=("revolute", "prismatic", "spherical")
    )
    return arm.replace(
        constraints=[
            fa.Loop(("body4", 1), kind="spherical", position2=(0.1, 0.2, 0.3)),
            fa.Coupling({"body0": 1.0, "body1": -0.5}),
        ]
    )


def _driven() -> fa.Arm:
    arm = planar_chain(2, n_modes=1, gravity=(0.0, -9.81, 0.0))
    dry = fa.CoulombFriction(0.3, 0.1)
    drive = fa.Drive(
        200.0, gear_ratio=20.0, rotor_inertia=0.1, damping=0.1, motor_friction=dry
    )
    stops = fa.Stops(-2.0, 2.0, 50.0, 0.1)
    changes = [
        {"drive": drive, "stops": stops},
        {"drive": drive.replace(locked=0.2), "coulomb_friction": dry},
    ]
    bodies = [
        b.replace(joint=b.joint.replace(**c))
        for b, c in zip(arm.bodies, changes, strict=True)
    ]
    return arm.replace(bodies=bodies)


def _floating() -> fa.Arm:
    kinds = ("free", "revolute", "spherical", "universal")
    return fa.library.random_tree(5, 4, max_modes=1, joints=kinds, attachments=0.5)


def swing(p: Any) -> fa.Arm:
    """A pendulum of mass p0 with viscous friction p1."""
    return fa.library.pendulum(mass=p[0], com=0.5, inertia=0.1, damping=p[1])


ARMS: dict[str, Callable[[], fa.Arm]] = {
    "pendulum": lambda: fa.library.pendulum(mass=2.0, com=0.3, inertia=0.01),
    "planar": lambda: fa.library.planar_chain(2),
    "puma560": lambda: fa.library.puma560(damping=True),
    "flexible": lambda: fa.library.de_luca_siciliano(damping=True),
    "beams": lambda: planar_chain(2, n_modes=1, damping_ratio=0.01),
    "elastic": lambda: fa.library.farid_planar(n_links=2, elements=1),
    "pieces": lambda: fa.library.planar_chain(2, segments=2),
    "driven": _driven,
    "tree": lambda: fa.library.random_tree(7, n_bodies=4, max_modes=2),
    "joints": lambda: fa.library.random_tree(
        2, 6, max_modes=1, joints=("helical", "universal", "planar", "cylindrical")
    ),
    "closed": _closed,
    "floating": _floating,
    "ruthless": lambda: planar_chain(2, n_modes=1).replace(fidelity="ruthless"),
}
SIMPLE = ("planar", "flexible", "beams", "pendulum", "puma560")
FLEXIBLE = ("flexible", "beams")


@functools.cache
def arm_of(name: str) -> fa.Arm:
    return ARMS[name]()


@functools.cache
def stack_of(name: str) -> ArmStack:
    if name == "beams":
        parts = [
            planar_chain(2, n_modes=1, damping_ratio=0.01, length=x)
            for x in (1.0, 1.5, 2.0)
        ]
    else:
        parts = [
            fa.library.pendulum(mass=x, com=0.3, inertia=0.01) for x in (1.0, 2.0, 4.0)
        ]
    return fa.stack(parts)


# --- a call in the making ---------------------------------------------------


class Draw:
    """Random numbers of one call, and what its arguments share."""

    def __init__(
        self, rng: values.Rng, arms: tuple[str, ...] = tuple(ARMS), fresh: bool = False
    ) -> None:
        self.rng = rng
        self.arm_name = str(rng.choice(list(arms)))
        self.arm: Any = arm_of(self.arm_name)
        if fresh:  # one that has not yet been used
            self.arm = self.arm.replace()
        self.batch = [(), (), (), (3,), (2, 3)][rng.integers(5)]

    def use_stack(self) -> Any:
        self.arm_name = str(self.rng.choice(["beams", "pendulum"]))
        self.arm = stack_of(self.arm_name)
        self.batch = [(), (3,), (2, 3)][self.rng.integers(3)]
        return self.arm

    def single(self) -> Draw:
        self.batch = ()
        return self

    def chance(self, p: float = 0.5) -> bool:
        return bool(self.rng.random() < p)

    def choice(self, *given: Any) -> Any:
        return given[self.rng.integers(len(given))]

    def normal(self, *shape: int, scale: float = 0.3) -> Any:
        return scale * self.rng.normal(size=shape)

    # states

    @property
    def nv(self) -> int:
        return int(self.arm.nv)

    @property
    def nu(self) -> int:
        return int(self.arm.nu)

    def q(self) -> Any:
        neutral = np.broadcast_to(self.arm.neutral, (*self.batch, self.arm.nq))
        return self.arm.integrate(neutral, 0.2 * self.rates())

    def rates(self, scale: float = 0.3) -> Any:
        return self.normal(*self.batch, self.nv, scale=scale)

    def forces(self) -> Any:
        return self.normal(*self.batch, self.nu, scale=1.0)

    def body(self) -> Any:
        k = int(self.rng.integers(len(self.bodies)))
        return self.choice(k, self.bodies[k].name)

    @property
    def bodies(self) -> Any:
        arm = self.arm
        return (arm if hasattr(arm, "bodies") else arm.arms[0]).bodies

    def node(self) -> Any:
        if self.chance(0.4):
            return None
        return int(self.rng.integers(self.arm.n_nodes))

    def pose(self, *shape: int) -> Any:
        return fa.se3.exp(self.normal(*(shape or self.batch), 6))

    def rotation(self) -> Any:
        return fa.se3.so3_exp(self.normal(*self.batch, 3))

    def spd(self, n: int) -> Any:
        A = self.normal(n, n)
        return A @ A.T + np.eye(n)

    # objects

    @functools.cached_property
    def model(self) -> fa.StateSpace:
        """A linear model of the arm, or a small one without."""
        if self.chance():
            return lags()
        return linear_model(self.arm_name if self.arm_name in SIMPLE else "flexible")


@functools.cache
def lags() -> fa.StateSpace:
    return fa.StateSpace(
        [[0, 1, 0], [0, 0, 1], [-1, -2, -3]], [[0], [0], [1]], [[1, 0, 0]]
    )


@functools.cache
def linear_model(name: str) -> fa.StateSpace:
    arm = arm_of(name)
    return fa.linearize(
        arm, arm.neutral, outputs=["joint positions", "joint velocities"], settle=False
    )


@functools.cache
def run_of(name: str) -> fa.Trajectory:
    arm = arm_of(name)
    t = np.linspace(0.0, 0.2, 11)
    return fa.simulate(arm, arm.neutral, np.zeros(arm.nv), t, max_step=1e-3)


@functools.cache
def modes_of(name: str) -> VibrationModes:
    arm = arm_of(name)
    return fa.vibration_modes(arm, arm.neutral, held="joints")


@functools.cache
def mode_errors_of(name: str) -> ModeErrors:
    return arm_of(name).mode_errors()


@functools.cache
def control_run() -> Any:
    c = fa.control
    arm = arm_of("planar")
    controller = patent_loop.ManipulatorController(
        arm,
        c.RestToRest([0.0, 0.0], [0.2, 0.1], duration=0.2),
        np.zeros(2),
        np.zeros(2),
        correction=patent_loop.ComputedTorque(),
    )
    plant = patent_loop.SimulatedPlant(arm, np.zeros(2), np.zeros(2))
    return controller.run(plant, np.linspace(0.0, 0.1, 6))


@functools.cache
def loop_run() -> Any:
    arm = arm_of("planar")
    law = fa.control.SetPointPD(arm, 50.0, 10.0, [0.1, 0.1])
    t = np.linspace(0.0, 0.05, 6)
    return fa.control.simulate_loop(
        arm, law, np.zeros(2), np.zeros(2), t, sample_time=0.01
    )


@functools.cache
def optimum() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fa.optimize.time_optimal(
            arm_of("planar"),
            fa.optimize.paths.joint_path([[0.0, 0.0], [0.3, 0.2]], kind="straight"),
            limits={"torque": [40.0, 20.0]},
            search={"intervals": 20},
        )


@functools.cache
def record() -> Any:
    arm = swing((2.0, 0.3))
    t = np.linspace(0.0, 0.5, 21)
    tau = np.sin(5.0 * t)[:, np.newaxis]
    run = fa.simulate(arm, [0.3], [0.0], t, torque=tau)
    return fa.identification.simulated_record(run, noise=1e-3, seed=1)


def sensor() -> Any:
    return fa.identification.Sensor("joints", low_pass=10.0)


@functools.cache
def identified() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fa.identification.identify(
            swing, [1.5, 0.2], record(), search={"max_iterations": 5}
        )


@functools.cache
def robust() -> Any:
    def make(m: float, d: float) -> fa.Arm:
        return swing((m, d))

    ranges = {"m": [1.0, 2.0], "d": [0.1, 0.2]}
    return fa.robustness(make, ranges, [0.1], [[5.0]], outputs=["joint positions"])


OUTPUTS = ["joint positions", "joint velocities"]


@functools.cache
def mesh() -> Any:
    return fa.finite_elements.beam_mesh(
        1.0,
        3,
        mass_per_length=2.0,
        bending_stiffness=100.0,
        axial_stiffness=1e5,
        torsional_stiffness=50.0,
        section_inertia=(0.01, 0.005, 0.005),
    )


@functools.cache
def mesh_modes() -> Any:
    return mesh().clamped_modes(0, 2)


@functools.cache
def material() -> Any:
    return fa.beams.Material(70e9, 2700.0, poisson=0.33)


@functools.cache
def section() -> Any:
    return fa.beams.Section.tube(0.05, 0.005, material())


@functools.cache
def bare_section() -> Any:
    return fa.beams.Section.box(0.05, 0.04, 0.003)


@functools.cache
def beam() -> Any:
    return fa.beams.Beam(bare_section(), 1.0, material())


@functools.cache
def elastic_body() -> Any:
    return fa.beams.finite_element_link(
        "link", length=1.0, sections=section(), n_elements=2
    )


@functools.cache
def link_in_pieces() -> Any:
    return fa.beams.finite_element_link(
        "link", length=1.0, sections=section(), n_elements=2, segments=2
    )


@functools.cache
def workspace() -> Any:
    arm = arm_of("elastic")
    names = [b.name for b in arm.bodies if b.joint.n_dof]
    grid = fa.joint_grid(arm, {names[0]: [0.0, 0.2], names[1]: [0.1, 0.3]})
    return fa.workspace_map(arm, grid, held="joints")


@functools.cache
def loads_of(name: str) -> Any:
    arm = arm_of(name)
    zero = np.zeros(arm.nv)
    return fa.link_loads(arm, arm.neutral, zero, zero)


@functools.cache
def stressed() -> Any:
    arm = fa.Arm([elastic_body()])
    zero = np.zeros(arm.nv)
    return fa.link_loads(arm, arm.neutral, zero, zero)["link"]


@functools.cache
def sensitivities() -> Any:
    t = np.linspace(0.0, 0.2, 11)
    return fa.trajectory_sensitivities(
        swing((2.0, 0.3)), [0.3], [0.0], t, make_arm=swing, p=[2.0, 0.3]
    )


@functools.cache
def locus() -> Any:
    return fa.root_locus(lags(), [0.0, 0.5, 1.0], [[1.0]])


@functools.cache
def cibicik() -> Any:
    return fa.library.cibicik_egeland()


@functools.cache
def one_comparison() -> Any:
    arm = arm_of("planar")
    controller = patent_loop.ManipulatorController(
        arm,
        fa.control.RestToRest([0.0, 0.0], [0.2, 0.1], duration=0.2),
        np.zeros(2),
        np.zeros(2),
        correction=patent_loop.ComputedTorque(),
    )
    return controller.step(0.0, span=0.01).comparison


@functools.cache
def text_file(name: str, text: str) -> Path:
    path = folder() / name
    path.write_text(text)
    return path


@functools.cache
def matrix_file(which: str) -> Path:
    import scipy.io

    path = folder() / f"{which}.mtx"
    scipy.io.mmwrite(path, getattr(mesh(), which))
    return path


BY_HAND = """gravity: [0, -9.81, 0]
links:
  - {name: a, mass: 2, length: 0.5, joint: {axis: z, limits: [-1, 1], damping: 0.1}}
  - name: b
    length: 0.4
    section: {tube: {diameter: 0.03, thickness: 0.002}}
    material: steel
    motions: bending y
    n_modes: 2
    n_elements: 1
payload: {mass: 0.5, com: [0.1, 0, 0]}
"""


@functools.cache
def kept_file(kind: str) -> Path:
    """A file that `flexarm.load` reads."""
    path = folder() / f"kept.{kind}"
    if kind == "yaml":
        path.write_text(BY_HAND)
    else:
        fa.save(arm_of("flexible") if kind == "json" else run_of("flexible"), path)
    return path


def figure() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt.figure().add_subplot()


def others(draw: Draw) -> dict[str, Callable[[], Any]]:
    """Objects of the package where they do not belong."""
    return {
        "an arm": lambda: draw.arm,
        "another arm": lambda: arm_of("puma560"),
        "a stack": lambda: stack_of("pendulum"),
        "a joint": fa.Joint,
        "a body": lambda: arm_of("planar").bodies[0],
        "a model": lags,
        "the class Arm": lambda: fa.Arm,
        "the module": lambda: fa,
        "a trajectory": lambda: run_of("pendulum"),
        "an output": lambda: fa.outputs.joint_positions(),
        "a path": lambda: fa.optimize.paths.line([0, 0, 0], [1, 0, 0]),
        "an event": lambda: Event(lambda t, q, qd: 1.0),
        "another mesh": mesh,
        "the C model": lambda: draw.arm.kernels,
    }
