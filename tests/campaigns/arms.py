"""Random arms beside frames of a hundred Timoshenko elements a link.

Joints are locked where they are: first three frequencies, sag and twist of the tip.
The frames know nothing of the package but stiffness and mass of sections at places.
What is more than 1 % off has to have a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from frame import Frame
from scipy.spatial.transform import Rotation

import flexarm as fa
from flexarm import beams

from . import Row

ELEMENTS = 60  # of a link: 1e-4 of a frequency where the section tapers
TOLD = 0.01
G = 9.81

Section = Callable[[float], beams.Section]


class Timoshenko(Frame):
    """Frames whose elements shear, with sections that change along a beam."""

    def link(self, start: int, R: Any, length: float, section: Section) -> int:
        """Add a beam along the x axis of a frame R; return the number of its end."""
        h, last = length / ELEMENTS, start
        turn = np.kron(np.eye(4), R)
        for k in range(ELEMENTS):
            s = section((k + 0.5) / ELEMENTS * length)
            self.points.append(self.points[last] + h * R[:, 0])
            new = len(self.points) - 1
            K, M = element(s, h)
            numbers = self._numbers(last, new)
            self.blocks.append((numbers, turn @ K @ turn.T, turn @ M @ turn.T))
            last = new
        return last

    def deflection(self, node: int, load: Any) -> Any:
        """Translation and rotation of a node under loads (n,) on all but the first."""
        K, _ = self.matrices()
        return np.linalg.solve(K, load)[self._numbers(node) - 6]


def element(s: beams.Section, h: float) -> tuple[Any, Any]:
    """Stiffness and mass of a beam element: translations and rotations of two ends."""
    K, M = np.zeros((2, 12, 12))
    both = np.array([[1.0, -1.0], [-1.0, 1.0]])
    spread = np.array([[2.0, 1.0], [1.0, 2.0]]) / 6.0
    mass, rotary = s.mass_per_length, np.asarray(s.rotary_inertia)
    for at, stiff, heavy in (
        ([0, 6], s.axial_stiffness, mass),
        ([3, 9], s.torsional_stiffness, rotary[0]),
    ):
        K[np.ix_(at, at)], M[np.ix_(at, at)] = stiff / h * both, heavy * h * spread
    # bending along y turns about z
    for at, k, sign in (([1, 5, 7, 11], 0, 1.0), ([2, 4, 8, 10], 1, -1.0)):
        EI, kGA = s.bending_stiffness[k], s.shear_stiffness[k]
        f = 12.0 * EI / (kGA * h**2)
        turns = np.array([1.0, sign * h, 1.0, sign * h])
        rows = [
            [12, 6, -12, 6],
            [6, 4 + f, -6, 2 - f],
            [-12, -6, 12, -6],
            [6, 2 - f, -6, 4 + f],
        ]
        both_ends = np.outer(turns, turns)
        K[np.ix_(at, at)] = EI / h**3 / (1 + f) * np.array(rows) * both_ends
        m = np.array([[156, 22, 54, -13], [22, 4, 13, -3], [54, 13, 156, -22.0]])
        m = np.vstack([m, [-13, -3, -22, 4]])
        M[np.ix_(at, at)] = mass * h / 420.0 * m * both_ends
        ends = [at[1], at[3]]
        M[np.ix_(ends, ends)] += rotary[2 - k] * h * spread
    return K, M


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

    Also what it is of: modes know neither shear nor the inertia of turning sections.
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
            rotary_inertia=[s.rotary_inertia[0], 0.0, 0.0],
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
    given: dict[str, Any] = {}
    if few:
        given["n_modes"] = {"bending y": 3, "bending z": 3, "torsion": 2}
    link = beams.finite_element_link(
        name, length=length, sections=section, joint=joint, motions=motions, **given
    )
    return link, section


def problem(seed: int) -> tuple[fa.Arm, Any, Timoshenko, int, Any]:
    """An arm and its posture; its frame, the number of its tip, and its weights."""
    rng = np.random.default_rng(seed)
    n, branch = int(rng.integers(1, 4)), rng.random() < 0.3
    frame, bodies, q = Timoshenko(), [], []
    turns, ends, loads = [np.eye(3)], [0], []
    for k in range(n):
        parent = int(rng.integers(0, k)) + 1 if branch and k else k
        length, axis = float(rng.uniform(0.4, 1.5)), "z" if rng.random() < 0.7 else "y"
        section = section_of(rng, length)
        drive = None
        if rng.random() < 0.3:
            drive = fa.Drive(np.inf, rotor_inertia=1e-4, gear_ratio=80.0)
        joint = fa.Joint(axis=axis, parent=f"link{parent - 1}" if parent else None)
        joint = joint if drive is None else joint.replace(drive=drive)
        link, section = link_of(rng, f"link{k}", length, section, joint)
        bodies.append(link)
        angle = float(rng.uniform(-1.2, 1.2))
        q.append(angle)
        about = np.array([0.0, 0.0, angle] if axis == "z" else [0.0, angle, 0.0])
        turns.append(turns[parent] @ Rotation.from_rotvec(about).as_matrix())
        ends.append(frame.link(ends[parent], turns[-1], length, section))
        mass = float(rng.uniform(0.0, 3.0))
        bodies.append(
            fa.RigidBody(
                f"load{k}", fa.Joint("fixed", parent=f"link{k}"), mass=mass + 0.01
            )
        )
        loads.append((ends[-1], mass + 0.01))
    for node, mass in loads:
        frame.lump(node, mass)
    arm = fa.Arm(bodies, gravity=(0, 0, -G))
    posture = arm.neutral
    posture[:n] = q
    return arm, posture, frame, ends[-1], turns[-1]


def row(seed: int) -> Row:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        arm, q, frame, tip, _ = problem(seed)
        found = fa.natural_frequencies(
            arm.replace(gravity=(0, 0, 0)), q, held="joints", count=3
        )
        K, M = frame.matrices()
        down = np.zeros(len(K))
        down[2::6] = -G
        weight = M @ down
        exact = frame.frequencies(3)
        sag = frame.deflection(tip, 1e-4 * weight)
        light = arm.replace(gravity=(0, 0, -1e-4 * G))
        rest = fa.equilibrium(light, q, held="joints").q
        poses = [fa.tip_pose(light, x) for x in (q, rest)]
    moved = poses[1][:3, 3] - poses[0][:3, 3]
    turned = Rotation.from_matrix(poses[1][:3, :3] @ poses[0][:3, :3].T).as_rotvec()
    errors = {
        **{f"f{k + 1}": float(found[k] / exact[k] - 1.0) for k in range(3)},
        "sag": float(np.linalg.norm(moved - sag[:3]) / np.linalg.norm(sag[:3])),
        "turn": float(np.linalg.norm(turned - sag[3:]) / np.linalg.norm(sag[3:])),
    }
    told = any(issubclass(x.category, fa.ModeWarning) for x in caught)
    worst = max(errors, key=lambda name: abs(errors[name]))
    cells = {"seed": seed, "links": len(arm.bodies) // 2, "coordinates": arm.nv}
    cells |= {name: f"{100.0 * x:.3f} %" for name, x in errors.items()}
    wrong = abs(errors[worst]) > TOLD and not told
    fault = f"{worst} is {100.0 * errors[worst]:.2f} % off" if wrong else ""
    return Row({**cells, "told": told}, fault)


def rows(problems: int, seed: int) -> Iterator[Row]:
    """One arm of each seed."""
    for k in range(seed, seed + problems):
        yield row(k)
