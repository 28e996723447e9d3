"""Slow and readable NumPy models: oracle of the tests and text of the course.

* `lagrangian`: the equations of motion from the energies alone, by brute force over
  the nodes; what the package computes by definition.
* `twin`: the recursions of the C kernels under the same equation labels, with their
  parts in `hops` (K1-K7), `integrals` (B1-B3) and `rotations`.
* `motors`: rotors, stators and the forces inside joints, for both.
* `de_luca_siciliano`: the closed form of a planar two-link flexible arm (1991).
* `dual_screws`: the model of first order in the deformation by Kane's method with dual
  screws (Cibicik and Egeland, 2021), on arrays of states; pairs in `_dual_pairs`,
  lines and screws in `_dual_chain`.

All take complex numbers, for derivatives by complex step, the others one state at a
time.
"""

from . import de_luca_siciliano, dual_screws, lagrangian, motors, twin

__all__ = ["de_luca_siciliano", "dual_screws", "lagrangian", "motors", "twin"]
