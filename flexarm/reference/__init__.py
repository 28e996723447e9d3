"""Slow and readable NumPy models: oracle of the tests and text of the course.

* `lagrangian`: the equations of motion from the energies alone, by brute force over
  the nodes; what the package computes by definition.
* `twin`: the recursions of the C kernels under the same equation labels, with their
  parts in `hops` (K1-K7), `integrals` (B1-B3) and `rotations`.
* `de_luca_siciliano`: the closed form of a planar two-link flexible arm (1991).

All take one state at a time and complex numbers, for derivatives by complex step.
"""

from . import de_luca_siciliano, lagrangian, twin

__all__ = ["de_luca_siciliano", "lagrangian", "twin"]
