"""Poses, velocities, accelerations and Jacobians of bodies and nodes."""

from .links import (
    link_accelerations,
    link_jacobian_rates,
    link_jacobians,
    link_velocities,
)
from .motion import center_of_mass, momentum, node_acceleration
from .nodes import (
    jacobian,
    link_poses,
    node_pose,
    node_poses,
    node_velocity,
    tip_pose,
    wrench_forces,
)
from .positions import difference, integrate, position_rates
from .slopes import largest_slope

__all__ = [
    "center_of_mass",
    "difference",
    "integrate",
    "jacobian",
    "largest_slope",
    "link_accelerations",
    "link_jacobian_rates",
    "link_jacobians",
    "link_poses",
    "link_velocities",
    "momentum",
    "node_acceleration",
    "node_pose",
    "node_poses",
    "node_velocity",
    "position_rates",
    "tip_pose",
    "wrench_forces",
]
