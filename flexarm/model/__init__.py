"""A tree of bodies as one model: its structure, motors, loops, arrays for C."""

from .export import export_c
from .locking import free_motors, lock_motors, motor_positions
from .loops import Coupling, Loop
from .sliders import Slider

__all__ = [
    "Coupling",
    "Loop",
    "Slider",
    "export_c",
    "free_motors",
    "lock_motors",
    "motor_positions",
]
