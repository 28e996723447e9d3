"""A sampled loop of a linear law, wholly in C."""

from __future__ import annotations

from ._loop_callback import run_callback
from ._loop_record import Loop

CORE = ("rk4", "ROS34PW2", "newmark", "linear-acceleration", "generalized-alpha")


def run_core(loop: Loop) -> None:
    """All samples; arrays of the loop are filled as far as it gets."""
    run_callback(loop)
