"""Slow and readable NumPy models: oracle of the tests and text of the course.

* `lagrangian`: the equations of motion from the energies alone, by brute force over
  the nodes; they define the results of the package.
* `twin`: the recursions of the C kernels under the same equation labels, with their
  parts in `hops` (K1-K7), `integrals` (B1-B3) and `rotations`.
* `motors`: rotors, stators and the forces inside joints, for both.
* `de_luca_siciliano`: the closed form of a planar two-link flexible arm (1991).
* `dual_screws`: the model of first order in the deformation by Kane's method with dual
  screws (Cibicik and Egeland, 2021), on arrays of states; pairs in `_dual_pairs`,
  lines and screws in `_dual_chain`.
* `farid_planar`: planar arms with flexible links and joints, finite elements in chord
  frames (Farid, 1997), on arrays of states; constants in `farid_arm`, matrices and
  energies in `farid_planar_terms`.
* `farid_spatial`: his spatial arm in tangent frames, its joints by a velocity
  transformation, and his redundant constraints; links in `farid_spatial_link`.
* `farid_link`: one link, whose inverse dynamics is not causal.
* `maneuvers`: the six seconds of Cibicik and Egeland (2021), section VI-B.
* `patent_loop`: the controller with a model of the arm inside of Jain and Rodriguez
  (1996), figures 4 and 6, and a plant to try it on.
* `tracking`: forces for a trajectory of the tip by Farid (1997), by Devasia, Chen and
  Paden (1996), and by Bayo (1987).
* `screws`: dual screws of Cibicik and Egeland (2020), as generalized ufuncs from C, and
  the arrangements of their paper.

All but `farid_link`, `maneuvers`, `patent_loop`, `screws` and `tracking` take complex
numbers, for derivatives by complex step; `lagrangian`, `twin` and `farid_spatial` take
one state at a time.
"""

from . import (
    de_luca_siciliano,
    dual_screws,
    farid_link,
    farid_planar,
    farid_spatial,
    lagrangian,
    maneuvers,
    motors,
    patent_loop,
    screws,
    tracking,
    twin,
)

__all__ = [
    "de_luca_siciliano",
    "dual_screws",
    "farid_link",
    "farid_planar",
    "farid_spatial",
    "lagrangian",
    "maneuvers",
    "motors",
    "patent_loop",
    "screws",
    "tracking",
    "twin",
]
