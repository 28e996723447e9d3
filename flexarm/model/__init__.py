"""A tree of bodies as one model: its structure, motors, loops, arrays for C."""

from .locking import free_motors, lock_motors, motor_positions
from .loops import Coupling, Loop
from .sliders import Slider

__all__ = [
    "Coupling",
    "Loop",
    "Slider",
    "free_motors",
    "lock_motors",
    "motor_positions",
]
