"""Cost of flexible joints: seven of them on the iiwa 14, and their parts.

    python3 -m pytest tests/bench/test_bench_drives.py

A motor is one more body and doubles the coordinates of a rigid arm; a force inside a
joint is a few operations on one coordinate.  Times are not asserted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from races import BATCH, Contender

import flexarm as fa

DRIVE = fa.Drive(
    1e4,
    gear_ratio=100.0,
    rotor_inertia=1e-4,
    rotor_transverse_inertia=1e-4,
    rotor_mass=0.3,
    stator_mass=1.0,
    stator_inertia=1e-3,
)
DRY = fa.CoulombFriction(1.0, 0.01)
JOINTS: dict[str, dict[str, Any]] = {
    "rigid joints": {},
    "joint springs, dry friction and stops": {
        "stiffness": 3.0,
        "coulomb_friction": DRY,
        "stops": fa.Stops(-1.0, 1.0, 1e3, 0.1),
    },
    "drives, motors locked": {"drive": DRIVE.replace(locked=0.0)},
    "drives": {"drive": DRIVE},
    "drives, friction of motors": {"drive": DRIVE.replace(motor_friction=DRY)},
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "forward dynamics": fa.forward_dynamics,
    "inverse dynamics": fa.inverse_dynamics,
}


def with_joints(arm: fa.Arm, **changes: Any) -> fa.Arm:
    """The arm with something in all of its joints that move."""
    bodies = [
        b.replace(joint=b.joint.replace(**changes)) if b.joint.n_dof else b
        for b in arm.bodies
    ]
    return arm.replace(bodies=bodies)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_batch(contest: Callable[[str, list[Contender]], Any], name: str) -> None:
    contenders, rng = [], np.random.default_rng(0)
    for title, changes in JOINTS.items():
        arm = with_joints(fa.library.iiwa14(), **changes)
        q, qd = rng.uniform(-1.0, 1.0, (2, BATCH, arm.nv))
        last = rng.normal(size=(BATCH, arm.nv))
        out = np.empty_like(last)

        def action(
            arm: fa.Arm = arm, q: Any = q, qd: Any = qd, x: Any = last, out: Any = out
        ) -> None:
            FUNCTIONS[name](arm, q, qd, x, out=out)

        contenders.append(Contender(title, action, BATCH))
    contest(f"{name}, iiwa 14 with", contenders)
