r"""Descriptions of arms by frames and screws, and conversions among them.

The same tree of joints has four descriptions [1]_:

* `JointFrames`: two frames for each joint, one on either body, and the screw in them,
* `BodyScrews`: a reference pose for each body in its parent, the screw in its frame,
* `SpatialScrews`: a reference pose for each body in the base, the screw there; the
  product of exponentials,
* `DenavitHartenberg`: four numbers for each joint of a chain.

Each computes the poses of its bodies by its own formula.  `joint_frames`,
`body_screws`, `spatial_screws` and `denavit_hartenberg` convert each of them, or an
`Arm`; `build_arm` makes the same arm of any of them and a list of bodies.

A joint has one screw or several, for ``exp(Z_1 q_1) ... exp(Z_n q_n)`` (Remark 4, the
second kind of coordinates; spherical and free joints of `flexarm.Joint` have
quaternions in place of the first kind), or none if it is fixed.  A unit screw is
``(e; p x e + h e)`` for the line through p along the unit vector e and the pitch h, or
``(0; e)``; see `flexarm.se3.screw` and `motion_subgroup`.

References
----------
.. [1] A. Mueller, "Screw and Lie group theory in multibody kinematics", *Multibody
   System Dynamics* 43 (2018), 37-70; numbers of equations are those of this paper.
"""

from typing import TYPE_CHECKING

from .._support.moved import missing_or_moved
from ._conversions import build_arm, kinematic_arm
from ._denavit_hartenberg import DenavitHartenberg
from .screws import SpatialScrews

__all__ = [
    "DenavitHartenberg",
    "SpatialScrews",
    "build_arm",
    "kinematic_arm",
]

if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(__name__, __all__)
