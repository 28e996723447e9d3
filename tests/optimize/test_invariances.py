"""The same optimal motion in other words: other zeros, units, orders, mirrors, bases.

A `World` is a way to describe one arm and one task; its answers are read back in SI
units and in the coordinates of the plain one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tip_cases import BY_NAME

import flexarm as fa
from flexarm import identification, optimize
from flexarm.errors import ConvergenceWarning
from flexarm.optimize import OptimalMotion, paths
from flexarm.se3 import so3_exp

pytest.importorskip("casadi")

Answer = dict[str, Any]


@dataclass(frozen=True)
class World:
    """Units as numbers of SI units, and choices that no answer depends on."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0
    zero: tuple[float, ...] = (0.0, 0.0, 0.0)
    mirrored: bool = False
    turned: tuple[float, float, float] = (0.0, 0.0, 0.0)
    tree: bool = False
    swapped: bool = False
    payload: str = "none"

    @property
    def torque(self) -> float:
        return self.mass * self.length**2 / self.time**2

    def joints(self, arm: fa.Arm, values: Any) -> Any:
        """(..., n) of the joints in their order in this world."""
        return np.asarray(values, dtype=float)[..., _order(arm)]

    def postures(self, arm: fa.Arm, values: Any) -> Any:
        """(..., n) positions of the joints in this world."""
        there = np.asarray(values) + np.array(self.zero[: arm.nj])
        return self.joints(arm, there) * self.units(arm)

    def units(self, arm: fa.Arm) -> Any:
        """Those (n,) of the positions of the joints."""
        slides = {b.joint.kind == "prismatic": b.name for b in arm.bodies}
        names = arm.coordinate_names[: arm.nj]
        return np.array([self.length if x == slides.get(True) else 1.0 for x in names])

    def place(self, r: Any) -> Any:
        """(..., 3) of a place in m, or of another vector."""
        r = np.asarray(r, dtype=float) * ([1, -1, 1] if self.mirrored else 1.0)
        return self.length * (r @ so3_exp(self.turned).T)

    def joint(self, kind: str, hinge: int, parent: str) -> fa.Joint:
        """A hinge about z, or none."""
        rotation = so3_exp(self.turned if parent == "ground" else (0.0, 0.0, 0.0))
        if kind in FIXED:
            return fa.Joint.fixed(parent=parent, rotation=rotation)
        if kind == "slide":
            here = rotation @ [-self.zero[hinge] * self.length, 0.0, 0.0]
            return fa.Joint.prismatic("x", position=here, rotation=rotation)
        axis = np.array([0.0, 0.0, -1.0 if self.mirrored else 1.0])
        rotation = rotation @ so3_exp(-self.zero[hinge] * axis)
        return fa.Joint(axis=axis, parent=parent, rotation=rotation)

    def beam(
        self,
        name: str,
        joint: fa.Joint,
        frequency: float = 3.0,
        length: float = 1.0,
        mass: float = 1.0,
        load: float = 0.2,
    ) -> list[Any]:
        """A link along x that bends in the plane, by four points, in one shape."""
        x = np.linspace(0.25, 1.0, 4)
        shape = np.zeros((4, 3, 1))
        slope = np.zeros((4, 3, 1))
        side = -1.0 if self.mirrored else 1.0
        shape[:, 1, 0] = side * 0.5 * x**2 * (3.0 - x)
        slope[:, 2, 0] = side * 1.5 * x * (2.0 - x) / (length * self.length)
        points = np.full(4, 0.25 * mass)
        points[-1] *= 0.5
        if self.payload != "body":
            points[-1] += load
        whole = points + np.array([0.0, 0.0, 0.0, load * (self.payload == "body")])
        modal = float(whole @ shape[:, 1, 0] ** 2)
        rate = 2.0 * np.pi * frequency
        link = fa.FlexibleBody(
            name,
            joint,
            node_position=length * self.length * np.outer(x, [1.0, 0.0, 0.0]),
            node_mass=self.mass * points,
            node_translation=shape,
            node_rotation=slope,
            stiffness=[modal * rate**2 * self.mass / self.time**2],
            damping=[2.0 * 0.01 * modal * rate * self.mass / self.time],
        )
        if self.payload != "body":
            return [link]
        return [link, fa.RigidBody(f"{name} load", fa.Joint.fixed(), self.mass * load)]

    def rod(
        self, name: str, joint: fa.Joint, length: float = 1.0, mass: float = 1.0
    ) -> list[Any]:
        """A rigid link along x."""
        inertia = mass * length**2 / 12.0 * self.mass * self.length**2
        return [
            fa.RigidBody(
                name,
                joint,
                mass=mass * self.mass,
                com=(0.5 * length * self.length, 0.0, 0.0),
                inertia=(0.0, inertia, inertia),
                nodes={"tip": (length * self.length, 0.0, 0.0)},
            )
        ]

    def arm(self, *links: str, gravity: float = 0.0) -> fa.Arm:
        """Links, the second, whose tip it is, and the third one on the first."""
        parts, hinge = [], 0
        for k, kind in enumerate(links):
            joint = self.joint(kind, hinge, "link1" if k else "ground")
            name = f"link{k + 1}"
            if kind == "tail":
                parts.append(self.beam(name, joint, 8.0 + 2.0 * k, mass=0.3, load=0.0))
            else:
                make = self.beam if kind == "beam" else self.rod
                parts.append(make(name, joint))
            hinge += kind not in FIXED
        tip = parts[min(len(links), 2) - 1][-1]
        if self.swapped:
            parts[1:] = parts[:0:-1]
        return fa.Arm(
            [body for part in parts for body in part],
            gravity=self.place([0.0, -gravity, 0.0]) / self.time**2,
            tip=(tip.name, tip.node_names[-1]),
            check_units=False,
        )

    def limits(self, arm: fa.Arm, **given: Any) -> dict[str, Any]:
        """Limits of the joints in SI units: of all, (n,), or (2, n)."""
        rates = {"velocity": 1.0 / self.time, "acceleration": 1.0 / self.time**2}
        found = {}
        for name, value in given.items():
            if name == "tip_speed":
                found[name] = value * self.length / self.time
                continue
            every = np.broadcast_to(value, (*np.shape(value)[:-1], arm.nj))
            if name == "position":
                found[name] = self.postures(arm, every)
            elif name == "torque":
                found[name] = self.joints(arm, every) * self.torque / self.units(arm)
            else:
                found[name] = self.joints(arm, every) * self.units(arm) * rates[name]
        return found

    def read(self, motion: OptimalMotion, objective: float = 1.0) -> Answer:
        """What no world changes: duration, objective in its SI unit, joints, forces."""
        arm, order = motion.arm, np.argsort(_order(motion.arm))
        unit = self.units(arm)
        q = (motion.q[:, : arm.nj] / unit)[:, order]
        return {
            "success": motion.success,
            "duration": motion.duration / self.time,
            "objective": motion.objective / objective,
            "q": q - np.array(self.zero[: arm.nj]),
            "tau": (motion.tau * unit)[:, order] / self.torque,
        }


FIXED = "post", "tail"  # a rod and a beam without hinges


def _order(arm: fa.Arm) -> Any:
    return np.argsort(arm.coordinate_names[: arm.nj])


PLAIN = World()
GRAVITY = 9.81

# trees: two branches on a post that bends, and a tail on the first link
TWO = "tail", "rigid", "rigid"
TAIL = "rigid", "beam", "tail"


def quiet(search: Callable[[], OptimalMotion]) -> OptimalMotion:
    """The motion of a search, which may be cut short."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return search()


def arm_of(world: World, *kinds: str, tree: tuple[str, ...], g: float = 0.0) -> fa.Arm:
    """An arm of links of these kinds, or a tree."""
    return world.arm(*(tree if world.tree else kinds), gravity=g)


def effort(world: World) -> Answer:
    """Least effort against gravity with a position limited on one side."""
    arm = arm_of(world, "beam", tree=TWO, g=1.0)
    n = arm.nj
    start, end = np.zeros(n), np.full(n, 0.5)
    low, high = np.full(n, -np.inf), np.full(n, 0.52)
    motion = quiet(
        lambda: optimize.trajectory(
            arm,
            world.postures(arm, start),
            world.postures(arm, end),
            duration=1.0 * world.time,
            limits=world.limits(arm, position=[low, high], velocity=0.9),
            search={"intervals": 12},
        )
    )
    return world.read(motion, world.torque**2 * world.time)


def least_time(world: World) -> Answer:
    """Least time by collocation."""
    arm = arm_of(world, "beam", tree=TWO)
    n = arm.nj
    motion = quiet(
        lambda: optimize.trajectory(
            arm,
            world.postures(arm, np.zeros(n)),
            world.postures(arm, np.full(n, 0.5)),
            cost="time",
            duration=(0.3 * world.time, 1.0 * world.time, 3.0 * world.time),
            limits=world.limits(
                arm, torque=4.0, position=[np.full(n, -0.1), np.full(n, 0.6)]
            ),
            search={"intervals": 40},
        )
    )
    return world.read(motion, world.time)


def rigid_path(world: World) -> Answer:
    """A rigid arm on a path of its joints in a tree, else of its tip."""
    arm = arm_of(world, "rigid", "rigid", tree=("rigid",) * 3, g=GRAVITY)
    n = arm.nj
    ends = np.array([[0.2, 0.9, 0.4], [0.8, 0.3, -0.5]])[:, :n]
    path: Any = paths.line(world.place([1.6, 0.3, 0.0]), world.place([1.1, 0.9, 0.0]))
    if world.tree:
        path = paths.joint_path(world.postures(arm, ends), kind="straight")
    motion = optimize.time_optimal(
        arm,
        path,
        start=None if world.tree else world.postures(arm, [-0.3, 1.0]),
        limits=world.limits(
            arm,
            torque=[60.0, 25.0, 25.0][:n],
            velocity=3.0,
            position=[np.full(n, -2.0), np.full(n, 2.0)],
        ),
        search={"intervals": 200},
    )
    return world.read(motion, world.time)


def flexible_path(world: World) -> Answer:
    """An arm with one link that bends on a line of its tip."""
    arm = arm_of(world, "rigid", "beam", tree=TAIL)
    motion = quiet(
        lambda: optimize.time_optimal(
            arm,
            paths.line(world.place([1.6, 0.3, 0.0]), world.place([1.4, 0.7, 0.0])),
            start=world.postures(arm, [-0.3, 1.0]),
            limits=world.limits(
                arm, torque=[20.0, 8.0], position=[[-1.0, -np.inf], [1.5, 1.5]]
            ),
            tip_tolerance=2e-3 * world.length,
            rest_speed=0.02 * world.length / world.time,
            search={"intervals": 16, "tolerance": 1e-9},
        )
    )
    return world.read(motion, world.time)


def between(world: World, arm: fa.Arm, torque: Any) -> Answer:
    n = arm.nj
    ends = np.array([[0.0, 0.3, 0.2], [0.6, -0.2, 0.5]])[:, :n]
    motion = quiet(
        lambda: optimize.time_optimal(
            arm,
            world.postures(arm, ends),
            limits=world.limits(arm, torque=torque[:n], velocity=2.0),
            tip_tolerance=1e-4 * world.length,
            rest_speed=0.05 * world.length / world.time,
            search={"intervals": 10},
        )
    )
    return world.read(motion, world.time)


def flexible_postures(world: World) -> Answer:
    """Between two postures, a link that bends, or two on one joint."""
    arm = arm_of(world, "beam", tree=("rigid", "tail", "tail"), g=1.0)
    return between(world, arm, [8.0])


def rigid_postures(world: World) -> Answer:
    """Between two postures, rigid links."""
    arm = arm_of(world, "rigid", "rigid", tree=("post", "rigid", "rigid"), g=1.0)
    return between(world, arm, [30.0, 6.0])


def tracked(world: World, method: str, **search: Any) -> Answer:
    arm = arm_of(world, "rigid", "beam", tree=TAIL)
    options: dict[str, Any] = {}
    if method == "collocation":
        options = {"tip_tolerance": 5e-4 * world.length}
    motion = quiet(
        lambda: BY_NAME[method](
            arm,
            paths.line(world.place([1.6, 0.3, 0.0]), world.place([1.3, 0.8, 0.0])),
            0.8 * world.time,
            law="ninth_degree",
            start=world.postures(arm, [-0.3, 1.0]),
            search=search,
            **options,
        )
    )
    return world.read(motion)


def least_squares(world: World) -> Answer:
    """The least errors of the tip."""
    return tracked(world, "least squares", intervals=24)


def shooting(world: World) -> Answer:
    """Nodal forces by least squares."""
    tolerance = 1e-7 * world.length
    found = tracked(world, "shooting", tolerance=tolerance)
    return {**found, "objective": found["objective"] / world.length**2}


def inversion(world: World) -> Answer:
    """Stable inversion."""
    return tracked(world, "stable inversion", intervals=100)


def collocation(world: World) -> Answer:
    """Calm forces within a tolerance."""
    return tracked(world, "collocation", intervals=24, tolerance=1e-9)


def frequencies(world: World) -> Answer:
    """Corrections in the frequency domain."""
    return tracked(world, "frequency domain", intervals=100, tolerance=1e-11)


def rigid_track(world: World) -> Answer:
    """Inverse dynamics of a rigid arm."""
    arm = arm_of(world, "rigid", "rigid", tree=("rigid", "rigid", "post"), g=GRAVITY)
    motion = optimize.track(
        arm,
        paths.line(world.place([1.6, 0.3, 0.0]), world.place([1.1, 0.9, 0.0])),
        0.8 * world.time,
        start=world.postures(arm, [-0.3, 1.0]),
    )
    return world.read(motion)


def crane(world: World) -> Any:
    """A slide with a hinged beam."""
    return arm_of(world, "slide", "beam", tree=("slide", "beam", "tail"))


def slide_energy(world: World) -> Answer:
    """Least energy of joints of two units by collocation, with limits on one side."""
    arm = crane(world)
    power = world.torque / world.time
    losses = np.array([0.02, 0.2]) * power / (world.torque / world.units(arm)) ** 2
    motion = quiet(
        lambda: optimize.trajectory(
            arm,
            world.postures(arm, [0.0, 0.0]),
            world.postures(arm, [0.6, 0.4]),
            cost="energy",
            losses=losses,
            duration=1.0 * world.time,
            limits=world.limits(
                arm, torque=[20.0, 8.0], position=[[-np.inf, -np.inf], [0.61, 0.41]]
            ),
            search={"intervals": 20},
        )
    )
    return world.read(motion, world.torque)


def slide_postures(world: World) -> Answer:
    """Least time of joints of two units."""
    arm = crane(world)
    motion = quiet(
        lambda: optimize.time_optimal(
            arm,
            world.postures(arm, [[0.0, 0.0], [0.6, 0.4]]),
            limits=world.limits(
                arm, torque=[20.0, 8.0], position=[[-np.inf, -np.inf], [0.61, 0.41]]
            ),
            tip_tolerance=1e-4 * world.length,
            rest_speed=0.05 * world.length / world.time,
            search={"intervals": 6},
        )
    )
    return world.read(motion, world.time)


def single(world: World, p: Any) -> fa.Arm:
    """An arm with p[0] of its load and p[1] of its frequency."""
    joint = world.joint("beam", 0, "ground")
    link = world.beam("link1", joint, 3.0 * float(p[1]), load=0.2 * float(p[0]))
    return fa.Arm(link, gravity=np.zeros(3), check_units=False)


def excited(world: World) -> OptimalMotion:
    arm = single(world, [1.0, 1.0])
    return identification.exciting_motion(
        lambda p: single(world, p),
        [1.0, 1.0],
        np.linspace(0.0, 1.0, 51) * world.time,
        sigma=1e-3,
        limits=world.limits(arm, torque=4.0, velocity=2.0, position=[[-0.6], [0.6]]),
        q0=[*world.postures(arm, [0.0]).tolist(), 0.0],
        harmonics=[1, 2],
    )


def exciting(world: World) -> Answer:
    """A motion that shows the load and the stiffness."""
    motion = quiet(lambda: excited(world))
    return world.read(motion)


def identified(world: World) -> Answer:
    """Load and stiffness from a record with noise."""
    arm = single(world, [1.0, 1.0])
    t = np.linspace(0.0, 1.0, 51)
    tau = 2.0 * np.sin(2.0 * np.pi * t)[:, None] * world.torque
    start = np.append(world.postures(arm, [0.0]), 0.0)
    run = fa.simulate(arm, start, np.zeros(2), t * world.time, torque=tau)
    record = identification.simulated_record(run, noise=1e-3, seed=1)
    found = identification.identify(
        lambda p: single(world, p), [1.2, 0.9], record, sigma=1e-3
    )
    return {
        "success": found.success,
        "parameters": found.p,
        "deviations": found.std,
    }


TREE = World(tree=True)
# a turn of the base, and one that moves its axes to one another
TURN, AXES = (0.4, -0.6, 1.1), tuple(np.full(3, 2.0 * np.pi / np.sqrt(27.0)))
# the plain world, and another one
WORLDS = {
    "zero": (PLAIN, World(zero=(1.0, -0.7, 0.4))),
    "zero far away": (PLAIN, World(zero=(63.0, -31.0, 17.0))),
    "mm, g and ms": (PLAIN, World(length=1e3, mass=1e3, time=1e3)),
    "order": (TREE, World(tree=True, swapped=True)),
    "mirror": (PLAIN, World(mirrored=True)),
    "turned base": (PLAIN, World(turned=TURN)),
    "axes of the base": (PLAIN, World(turned=AXES)),
    "time with stiffness": (PLAIN, World(time=0.5)),
    "payload as a body": (PLAIN, World(payload="body")),
}
ALL = tuple(WORLDS)
# coordinates of the tip that follow, and their tolerances, are those of the base
UNTURNED = tuple(name for name in ALL if name != "turned base")
# what these leave at rest is part of sizes of unknowns, which depend on zero and units
SIZED = tuple(name for name in ALL if name.split()[0] not in ("zero", "mm,"))
# drivers, where they have the same answer, and what is compared: the fastest motion is
# not unique where an actuator has forces to spare
DRIVERS = {
    "effort": (effort, ALL, "objective q tau"),
    "least time": (least_time, ALL, "duration q"),
    "energy of two units": (slide_energy, ALL, "objective q tau"),
    "fastest rigid arm on a path": (rigid_path, ALL, "duration q tau"),
    "inverse dynamics": (rigid_track, ALL, "q tau"),
    "least squares": (least_squares, SIZED, "q tau"),
    "shooting": (shooting, ALL, "objective q tau"),
    "stable inversion": (inversion, UNTURNED, "q tau"),
    "frequency domain": (frequencies, UNTURNED, "q tau"),
    "collocation": (
        collocation,
        tuple(name for name in SIZED if name != "turned base"),
        "objective q tau",
    ),
    "exciting motion": (exciting, ALL, "objective q tau"),
    "identify": (identified, ALL, "parameters deviations"),
}
# limits of positions and steps of slides have sizes in m
SLOW = {
    "fastest flexible arm on a path": (flexible_path, SIZED, "duration objective q"),
    "fastest flexible arm between postures": (flexible_postures, ALL, "duration"),
    "fastest rigid arm between postures": (rigid_postures, ALL, "duration"),
    "fastest slide between postures": (
        slide_postures,
        tuple(name for name in ALL if name != "mm, g and ms"),
        "duration",
    ),
}


def difference(one: Answer, other: Answer, name: str) -> float:
    """Largest one as part of the largest size."""
    a, b = np.asarray(one[name]), np.asarray(other[name])
    if a.shape != b.shape:
        return np.inf
    return float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-300))


def same(driver: Callable[[World], Answer], worlds: Any, compared: str) -> None:
    """Whether answers in these worlds are the same to 1e-6."""
    plain: dict[World, Answer] = {}
    for name in worlds:
        here, there = WORLDS[name]
        if here not in plain:
            plain[here] = driver(here)
            assert plain[here]["success"], name
        other = driver(there)
        assert other["success"], name
        for what in compared.split():
            assert difference(plain[here], other, what) < 1e-6, (name, what)


@pytest.mark.parametrize("driver", DRIVERS)
def test_the_answer_is_the_same_in_other_words(driver: str) -> None:
    same(*DRIVERS[driver])


@pytest.mark.slow
@pytest.mark.parametrize("driver", SLOW)
def test_fastest_motions_are_the_same(driver: str) -> None:
    same(*SLOW[driver])
