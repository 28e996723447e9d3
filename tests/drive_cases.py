"""Arms with random drives, springs, dry friction and stops, for the tests."""

from __future__ import annotations

import numpy as np

import flexarm as fa
from flexarm.library import random_tree

SINGLE = ("revolute", "prismatic", "helical", "revolute", "screw", "fixed")


def random_drive(rng: np.random.Generator, joint: fa.Joint, most: float) -> fa.Drive:
    """A motor with everything that it can have, gear ratios of either sign up to 50."""
    slides = not joint.screws[:3].any()
    rotary = bool(slides and rng.random() < 0.5)
    turns = rotary or not slides
    A = rng.normal(size=(3, 3))
    stators = (0.0, rng.uniform(0.01, 0.1), 0.05 * A @ A.T)
    dry = fa.CoulombFriction(rng.uniform(0.1, 0.5), rng.uniform(0.05, 0.5))
    return fa.Drive(
        stiffness=rng.uniform(50.0, 500.0),
        gear_ratio=rng.choice([-1.0, 1.0]) * np.exp(rng.uniform(0.0, np.log(most))),
        rotor_inertia=rng.uniform(0.02, 0.3),
        rotor_transverse_inertia=rng.uniform(0.0, 0.2) if turns else 0.0,
        rotor_mass=rng.uniform(0.0, 0.5) if turns else 0.0,
        stator_mass=rng.choice([0.0, 0.7]),
        stator_inertia=stators[rng.integers(3)],
        damping=rng.uniform(0.0, 1.0),
        motor_damping=rng.uniform(0.0, 0.3),
        motor_friction=dry if rng.random() < 0.5 else None,
        locked=rng.uniform(-1.0, 1.0) if rng.random() < 0.25 else None,
        rotary=rotary,
    )


def driven(arm: fa.Arm, seed: int, most: float = 50.0) -> fa.Arm:
    """The arm with forces in its joints of one freedom, most of them with motors."""
    rng = np.random.default_rng(seed)
    bodies, first = [], True
    for body in arm.bodies:
        joint = body.joint
        if joint.n_dof == 1 and not joint.has_pose:
            changes: dict = {}
            if first or rng.random() < 0.7:
                drive = random_drive(rng, joint, most)
                changes["drive"] = drive.replace(locked=None) if first else drive
                first = False
            if rng.random() < 0.5:
                changes |= {"stiffness": rng.uniform(1.0, 9.0), "rest": rng.normal()}
            if rng.random() < 0.5:
                pair = rng.uniform(0.1, 0.5, 2)
                changes["coulomb_friction"] = fa.CoulombFriction(*pair)
            if rng.random() < 0.6:
                ends = np.sort(rng.uniform(-2.0, 2.0, 2))
                ends[rng.integers(2)] *= np.inf if rng.random() < 0.3 else 1.0
                ends = np.sort(ends)
                if np.isfinite(ends).any() and -np.inf < ends[1] and ends[0] < np.inf:
                    more = rng.uniform(10.0, 90.0), rng.uniform(0.0, 0.9)
                    changes["stops"] = fa.Stops(*ends, *more)
            body = body.replace(joint=joint.replace(**changes))
        bodies.append(body)
    return arm.replace(bodies=bodies)


def driven_tree(seed: int, n_bodies: int = 5, max_modes: int = 2, **more) -> fa.Arm:
    """A random tree with drives, on rigid and flexible carriers, some floating."""
    more = {"joints": SINGLE, "attachments": 0.3} | more
    for shift in range(100):
        arm = random_tree(seed + 1000 * shift, n_bodies, max_modes, **more)
        if any(b.joint.n_dof == 1 and not b.joint.has_pose for b in arm.bodies):
            return driven(arm, seed)
    raise AssertionError
