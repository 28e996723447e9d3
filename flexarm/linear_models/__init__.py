"""Linear models of arms at any state, for the design of controllers.

`linearize` makes them, `StateSpace` is what they are; `inputs` and `outputs` have the
forces that may enter and the signals that may be measured.
"""

from . import inputs, outputs
from ._linearize import linearize
from ._loci import RootLocus, root_locus
from ._robustness import Robustness, robustness
from .loops import closed_loop
from .state_space import StateSpace

__all__ = [
    "Robustness",
    "RootLocus",
    "StateSpace",
    "closed_loop",
    "inputs",
    "linearize",
    "outputs",
    "robustness",
    "root_locus",
]
