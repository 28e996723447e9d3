"""Dual screws: rotations, poses, lines and wrenches of elastic links to first order.

A dual number ``x + eps y``, ``eps^2 = 0``, carries a rigid quantity in its real part
and a small elastic one in its dual part, so that each product drops second
orders.  Pairs stand for them, with an axis of length 2 in front, real part first:

===================  =============  ===========================================
dual rotation (G1)   ``(2, 3, 3)``  ``[A, theta~ A]``
dual pose (G2)       ``(2, 4, 4)``  ``[T, delta^ T]``
dual vector          ``(2, 3)``
twist, line, screw   ``(2, 6)``     each part [angular; linear]
wrench               ``(2, 6)``     each part [moment; force]
===================  =============  ===========================================

Functions of G1 begin with ``rotation_``.  Those of the groups are generalized ufuncs
from C kernels as in `flexarm.se3`.  A pair that is not a dual rotation or a dual pose
to 1e-6 raises `NotFiniteError`, whose message says which pair and why.  The paper's
stacked vectors, with wrenches force first, and its matrices come from functions with
``paper`` in the name.

>>> import numpy as np
>>> from flexarm.reference import screws
>>> tip = screws.elastic_pose([0, 0, 0.02], [0, 0.01, 0], [1, 0, 0])
>>> T = screws.compose(tip, tip)  # two equal links, one behind the other
>>> T[:, :3, 3].round(12)
array([[2.  , 0.  , 0.  ],
       [0.  , 0.04, 0.  ]])

Source: A. Cibicik and O. Egeland, Kinematics and dynamics of flexible robotic
manipulators using dual screws, IEEE Transactions on Robotics, 2020.
"""

from ._folding import (
    exchange_matrix,
    fold_mass,
    folding_matrix,
    lower_wedge,
    upper_wedge,
    wrench_folding_matrix,
)
from ._lines import (
    dual_screw,
    elastic_screws,
    joint_line,
    mode_twists,
    power,
    screw_rate,
    shift_screw,
    turn_screw,
    unit_screws,
)
from ._links import (
    dual_pose,
    dual_rotation,
    elastic_pose,
    link_pose,
    pose_velocity,
    rotation_velocity,
)
from ._paper import (
    paper_adjoint_matrix,
    paper_mode_matrix,
    paper_pose_matrix,
    paper_rotation_matrix,
    paper_screw_basis,
    paper_shift_matrix,
    paper_turn_matrix,
    paper_twist,
    paper_wrench,
    pose_from_paper,
    twist_from_paper,
    wrench_from_paper,
)
from ._poses import (
    apply_adjoint,
    apply_adjoint_inverse,
    apply_coadjoint,
    apply_coadjoint_inverse,
    bracket,
    compose,
    exp,
    inverse,
    left_jacobian,
    left_jacobian_inverse,
    log,
)
from ._rotations import (
    rotation_apply,
    rotation_bracket,
    rotation_compose,
    rotation_exp,
    rotation_inverse,
    rotation_left_jacobian,
    rotation_left_jacobian_inverse,
    rotation_log,
)

__all__ = [
    "apply_adjoint",
    "apply_adjoint_inverse",
    "apply_coadjoint",
    "apply_coadjoint_inverse",
    "bracket",
    "compose",
    "dual_pose",
    "dual_rotation",
    "dual_screw",
    "elastic_pose",
    "elastic_screws",
    "exchange_matrix",
    "exp",
    "fold_mass",
    "folding_matrix",
    "inverse",
    "joint_line",
    "left_jacobian",
    "left_jacobian_inverse",
    "link_pose",
    "log",
    "lower_wedge",
    "mode_twists",
    "paper_adjoint_matrix",
    "paper_mode_matrix",
    "paper_pose_matrix",
    "paper_rotation_matrix",
    "paper_screw_basis",
    "paper_shift_matrix",
    "paper_turn_matrix",
    "paper_twist",
    "paper_wrench",
    "pose_from_paper",
    "pose_velocity",
    "power",
    "rotation_apply",
    "rotation_bracket",
    "rotation_compose",
    "rotation_exp",
    "rotation_inverse",
    "rotation_left_jacobian",
    "rotation_left_jacobian_inverse",
    "rotation_log",
    "rotation_velocity",
    "screw_rate",
    "shift_screw",
    "turn_screw",
    "twist_from_paper",
    "unit_screws",
    "upper_wedge",
    "wrench_folding_matrix",
    "wrench_from_paper",
]
