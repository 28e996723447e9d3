"""Chains whose few modes a test names, as a source would: they do not warn.

What the modes leave out is no question where both sides of a comparison have the same.
"""

from __future__ import annotations

import flexarm as fa
from flexarm.bodies.profile import named_basis

few_modes = named_basis
planar_chain = named_basis()(fa.library.planar_chain)
