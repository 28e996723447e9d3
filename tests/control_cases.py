"""Arms, motions and loops that the tests of the control loop share."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexarm as fa
from flexarm.reference import patent_loop

# the arm of the library, and the real one: 30 % more payload, one more mode per link
MODEL = fa.library.de_luca_siciliano(damping=True)
TRUTH = fa.library.de_luca_siciliano(
    damping=True, n_modes=3, payload_mass=0.13, payload_inertia=0.00065
)
LIFT = fa.control.RestToRest([0.0, 0.0], [0.5, 0.4], duration=3.0)
# Step in s of the integrator on MODEL.
STEP = 1e-3


def rest(arm: fa.Arm) -> tuple[Any, Any]:
    return np.zeros(arm.nq), np.zeros(arm.nv)


def loop(desired: Any = LIFT, **options: Any) -> patent_loop.ManipulatorController:
    """Controller on the model, from rest."""
    options = {"max_step": STEP} | options
    return patent_loop.ManipulatorController(MODEL, desired, *rest(MODEL), **options)


def plant(arm: fa.Arm = MODEL, **options: Any) -> patent_loop.SimulatedPlant:
    """Plant at rest."""
    options = {"max_step": STEP if arm is MODEL else 2e-4} | options
    return patent_loop.SimulatedPlant(arm, *rest(arm), **options)


def times(last: float, step: float) -> Any:
    return np.linspace(0.0, last, round(last / step) + 1)
