"""Closed loops and couplings: violations, Jacobian, forces, and closing them."""

from ._closing import close_loops
from ._functions import (
    constraint_forces,
    constraint_jacobian,
    constraint_violation,
    redundant_constraints,
)

__all__ = [
    "close_loops",
    "constraint_forces",
    "constraint_jacobian",
    "constraint_violation",
    "redundant_constraints",
]
