"""A tree of bodies as one model: its structure, motors, loops, arrays for C."""

from .export import export_c
from .locking import free_motors, lock_motors, motor_positions
from .loops import Coupling, Loop

__all__ = [
    "Coupling",
    "Loop",
    "export_c",
    "free_motors",
    "lock_motors",
    "motor_positions",
]
