"""Random arms beside frames of a hundred Timoshenko elements a link.

Joints are locked where they are, or have springs: first three frequencies, sag and turn
of the tip, also under a small force and a small moment on it.  Then all links along one
line turn with 0.6 of the first frequency, about the first axis and, as a shaft, about
that line: frequencies of small motions beside that.  Across the line the axial force
counts, along it Coriolis forces.  The frames know nothing of the package but stiffness
and mass of sections at places.  What is more than 1 % off has to have a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation
from timoshenko import Timoshenko

import flexarm as fa
from flexarm import beams

from . import Row

TOLD = 0.01
G = 9.81
SPIN = 0.6  # over the first frequency
# Largest displacement in m or rad, to which motions are linear.
MAX_DISPLACEMENT = 1e-5
HEAVY = 1e9  # kg m^2 of a joint that keeps its rate

Section = Callable[[float], beams.Section]


def section_of(rng: np.random.Generator, length: float) -> Section:
    """A tube or a bar, of steel, aluminium or laminate, every second one tapered."""
    end = float(rng.uniform(0.4, 1.0)) if rng.random() < 0.5 else 1.0
    round_one, material = rng.random() < 0.6, str(rng.choice(["steel", "aluminium"]))
    wide, thick = float(rng.uniform(0.02, 0.06)), float(rng.uniform(0.05, 0.15))
    carbon = rng.random() < 0.3

    def section(x: float) -> beams.Section:
        size = wide * (1.0 + (end - 1.0) * x / length)
        if round_one:
            found = beams.Section.tube(size, thick * size, material)
        else:
            found = beams.Section.rectangle(size, 3.0 * thick * size, material)
        if not carbon:
            return found
        # stiff along its fibres alone
        return beams.Section.from_stiffness(
            0.4 * found.mass_per_length,
            found.bending_stiffness,
            axial_stiffness=found.axial_stiffness,
            torsional_stiffness=0.3 * found.torsional_stiffness,
            shear_stiffness=0.3 * np.asarray(found.shear_stiffness),
            rotary_inertia=0.4 * np.asarray(found.rotary_inertia),
        )

    return section if end < 1.0 else lambda _: section(0.0)


def link_of(
    rng: np.random.Generator, name: str, length: float, section: Section, joint: Any
) -> tuple[fa.FlexibleBody, Section]:
    """A link of finite elements, of all coordinates or few; of modes if uniform.

    Also what it is of: modes know no shear, and half of the polar inertia in bending.
    """
    s, few = section(0.0), rng.random() < 0.5
    motions = ["bending y", "bending z", "torsion"]
    same = section(length).mass_per_length == s.mass_per_length
    if same and rng.random() < 0.5:
        slender = beams.Section.from_stiffness(
            s.mass_per_length,
            s.bending_stiffness,
            axial_stiffness=s.axial_stiffness,
            torsional_stiffness=s.torsional_stiffness,
            shear_stiffness=1e12,
            rotary_inertia=s.rotary_inertia[0] * np.array([1.0, 0.5, 0.5]),
        )
        link = beams.flexible_link(
            name,
            length=length,
            mass_per_length=s.mass_per_length,
            bending_stiffness=s.bending_stiffness,
            torsional_stiffness=s.torsional_stiffness,
            polar_inertia_per_length=s.rotary_inertia[0],
            joint=joint,
            motions=motions,
        )
        return link, lambda _: slender
    given: dict[str, Any] = {"n_modes": "all"}
    if few:
        given["n_modes"] = {"bending y": 3, "bending z": 3, "torsion": 2}
    link = beams.finite_element_link(
        name, length=length, sections=section, joint=joint, motions=motions, **given
    )
    return link, section


class Problem(NamedTuple):
    """An arm and its posture, its frame with the number of its tip."""

    arm: fa.Arm
    q: Any
    held: list[int]  # joints without a spring
    frame: Timoshenko
    tip: int
    axis: Any  # (3,), of the first joint


def problem(seed: int, straight: bool = False, shaft: bool = False) -> Problem:
    """A random arm; straight it lies along one line, and its first joint is heavy.

    That of a shaft is along the line.
    """
    rng, springs = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    n, branch = int(rng.integers(1, 4)), rng.random() < 0.3
    frame, bodies, q, held = Timoshenko(), [], [], []
    turns, ends, loads, axes = [np.eye(3)], [0], [], []
    for k in range(n):
        parent = int(rng.integers(0, k)) + 1 if branch and k else k
        length, axis = float(rng.uniform(0.4, 1.5)), "z" if rng.random() < 0.7 else "y"
        section = section_of(rng, length)
        rotor = 1e-4 if rng.random() < 0.3 else 0.0
        joint = fa.Joint(axis=axis, parent=f"link{parent - 1}" if parent else None)
        if rotor:
            drive = fa.Drive(np.inf, rotor_inertia=rotor, gear_ratio=80.0)
            joint = joint.replace(drive=drive)
        if straight and not k:
            joint = fa.Joint(axis="x" if shaft else axis, armature=HEAVY)
        link, same = link_of(rng, f"link{k}", length, section, joint)
        angle = float(rng.uniform(-1.2, 1.2)) * (not straight)
        axes.append(np.array([0.0, 0.0, 1.0] if axis == "z" else [0.0, 1.0, 0.0]))
        about = Rotation.from_rotvec(angle * axes[-1]).as_matrix()
        turns.append(turns[parent] @ about)
        soft = k > 0 and springs.random() < 0.4
        size = 10.0 ** springs.uniform(-1.0, 1.5)
        start = ends[parent]
        if soft:
            spring = size * section(0.0).bending_stiffness[0] / length
            joint = link.joint.replace(stiffness=spring, rest=angle)
            link = link.replace(joint=joint)
            inertia = rotor * 80.0**2
            start = frame.hinge(start, turns[parent] @ axes[-1], spring, inertia)
        else:
            held.append(k)
        bodies.append(link)
        q.append(angle)
        ends.append(frame.link(start, turns[-1], length, same))
        mass = float(rng.uniform(0.0, 3.0)) + 0.01
        carried = fa.Joint("fixed", parent=f"link{k}")
        bodies.append(fa.RigidBody(f"load{k}", carried, mass=mass))
        loads.append((ends[-1], mass))
    for node, mass in loads:
        frame.weight(node, mass)
    arm = fa.Arm(bodies, gravity=(0, 0, -G))
    posture = arm.neutral
    posture[:n] = q
    about = np.array([1.0, 0.0, 0.0]) if shaft else axes[0]
    return Problem(arm, posture, held, frame, ends[-1], about)


def off(found: Any, exact: Any) -> float:
    """Length of the difference of two vectors over that of the exact one."""
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


def tip_motion(arm: fa.Arm, q: Any, held: list[int], **load: Any) -> Any:
    """Rotation and displacement (6,) of the tip from a posture to its equilibrium."""
    if load:
        load["node"] = arm.tip_node
    rest = fa.equilibrium(arm, q, held=held, **load).q
    before, after = fa.tip_pose(arm, q), fa.tip_pose(arm, rest)
    turn = Rotation.from_matrix(after[:3, :3] @ before[:3, :3].T).as_rotvec()
    return np.append(turn, after[:3, 3] - before[:3, 3])


def at_rest(seed: int) -> dict[str, float]:
    """Errors of frequencies, of the sag, and under a force and a moment on the tip."""
    arm, q, held, frame, tip, _ = problem(seed)
    bare = arm.replace(gravity=(0, 0, 0))
    found, exact = (
        fa.natural_frequencies(bare, q, held=held, count=3),
        frame.frequencies(3),
    )
    errors = {f"f{k + 1}": float(found[k] / exact[k] - 1.0) for k in range(3)}
    sag = frame.deflection(tip, frame.weights([0.0, 0.0, -1e-4 * G]))
    moved = tip_motion(arm.replace(gravity=(0, 0, -1e-4 * G)), q, held)
    errors["sag"], errors["turn"] = off(moved[3:], sag[:3]), off(moved[:3], sag[3:])
    push = np.random.default_rng([seed, 2]).normal(size=(2, 3))
    at = 6 * tip + np.arange(6)
    for name, k, w in (("force", 0, push[0]), ("moment", 3, push[1])):
        load = np.zeros(6 * len(frame.points))
        load[at[k : k + 3]] = w
        moved = frame.deflection(tip, load)
        small = MAX_DISPLACEMENT / np.abs(moved).max()
        wrench = small * np.append(np.zeros(k), np.append(w, np.zeros(3 - k)))
        wrench = np.roll(wrench, 3)  # moments first
        own = tip_motion(bare, q, held, wrench=wrench, frame="base")
        errors[name] = off(np.roll(own, 3)[k : k + 3], small * moved[k : k + 3])
    return errors


def turning(seed: int, shaft: bool = False) -> dict[str, float]:
    """Errors of frequencies about a steady turn of the straight arm."""
    arm, _, held, frame, _, axis = problem(seed, straight=True, shaft=shaft)
    w = SPIN * 2.0 * np.pi * float(frame.frequencies(1)[0])
    exact = frame.turning_frequencies(w * axis, 3)
    # joints without a spring are locked, and the first one turns on
    bodies = list(arm.bodies)
    for k in held[1:]:
        name = bodies[2 * k].joint.parent
        bodies[2 * k] = bodies[2 * k].replace(joint=fa.Joint("fixed", parent=name))
    arm = arm.replace(bodies=bodies, gravity=(0, 0, 0))
    qd = np.zeros(arm.nv)
    qd[0] = w
    found = np.linalg.eigvals(fa.linearize(arm, arm.neutral, qd).A).imag
    found = np.sort(found[found > 1e-3 * w])[:3] / (2.0 * np.pi)
    name = "shaft" if shaft else "turning"
    return {f"{name} f{k + 1}": float(found[k] / exact[k] - 1.0) for k in range(3)}


def row(seed: int) -> Row:
    errors: dict[str, float] = {}
    told, wrong = False, []
    for measure in (at_rest, turning, partial(turning, shaft=True)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            some = measure(seed)
        own = any(
            issubclass(x.category, (fa.ModeWarning, fa.SimulationWarning))
            for x in caught
        )
        worst = max(some, key=lambda name: abs(some[name]))
        if abs(some[worst]) > TOLD and not own:
            wrong.append(f"{worst} is {100.0 * some[worst]:.2f} % off")
        errors, told = errors | some, told or own
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ModeWarning)
        arm = problem(seed).arm
    cells: dict[str, object] = {"seed": seed, "links": len(arm.bodies) // 2}
    cells["springs"] = sum(body.joint.stiffness > 0.0 for body in arm.bodies)
    cells["coordinates"] = arm.nv
    cells |= {name: f"{100.0 * x:.3f} %" for name, x in errors.items()}
    return Row({**cells, "told": told}, ", ".join(wrong))


def rows(problems: int, seed: int) -> Iterator[Row]:
    """One arm of each seed."""
    for k in range(seed, seed + problems):
        yield row(k)
