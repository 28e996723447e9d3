r"""Descriptions of arms by frames and screws, and conversions among them.

The same tree of joints can be written down in four ways [1]_:

* `JointFrames`: two frames for each joint, one on either body, and the screw in them,
* `BodyScrews`: a reference pose for each body in its parent, the screw in its frame,
* `SpatialScrews`: a reference pose for each body in the base, the screw there; the
  product of exponentials,
* `DenavitHartenberg`: four numbers for each joint of a chain.

Each computes the poses of its bodies by its own formula, converts into all others, and
gives the same `Arm` from a list of bodies.

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

from ._denavit_hartenberg import DenavitHartenberg
from ._frames_and_screws import BodyScrews, JointFrames, SpatialScrews
from ._motion_subgroups import SUBGROUPS, motion_subgroup

__all__ = [
    "SUBGROUPS",
    "BodyScrews",
    "DenavitHartenberg",
    "JointFrames",
    "SpatialScrews",
    "motion_subgroup",
]
