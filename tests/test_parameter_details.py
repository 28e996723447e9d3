"""Details of parameters that one careless line would change: motors, units of modes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.parameters._base import random_motion


def test_other_parameters_of_rigid_bodies_with_motors() -> None:
    """Motors that stand on a body are not counted twice when it changes."""
    drive = fa.Drive(
        50.0,
        gear_ratio=20.0,
        rotor_inertia=1e-3,
        rotor_mass=0.3,
        stator_mass=0.5,
        stator_inertia=0.02,
    )
    bodies = [
        fa.RigidBody(
            name,
            fa.Joint(axis=axis, drive=drive, position=(0.3, 0, 0)),
            mass=2.0,
            com=(0.2, 0.1, 0.0),
            inertia=(0.1, 0.2, 0.25),
        )
        for name, axis in (("a", (0, 0, 1)), ("b", (0, 1, 0)), ("c", (0, 0, 1)))
    ]
    arm = fa.Arm(bodies)
    every = fa.inertial_parameters(arm, families="inertia")
    rng = np.random.default_rng(1)
    values = every.values * rng.uniform(1.0, 1.001, len(every))
    kept = [
        not name.startswith(("a.", "b.")) or "." in name[2:] for name in every.names
    ]
    values = np.where(kept, every.values, values)
    assert (values != every.values).sum() > 8
    changed = fa.with_inertial_parameters(arm, values, families="inertia")
    again = fa.inertial_parameters(changed, families="inertia")
    assert_allclose(again.values, values, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_random_deformations_have_one_size(unit: float) -> None:
    """In m and rad, whatever the unit of the modal coordinates is."""
    arm = fa.library.planar_chain(1, n_modes=2)
    body = arm.bodies[0]
    scaled = arm.replace(
        bodies=[
            body.replace(
                node_translation=unit * body.node_translation,
                node_rotation=unit * body.node_rotation,
                stiffness=unit**2 * body.stiffness,
                damping=None,
            )
        ]
    )
    ours = random_motion(scaled, 20, 0)[0][:, 1:] * unit
    theirs = random_motion(arm, 20, 0)[0][:, 1:]
    assert_allclose(ours, theirs, rtol=1e-9)
