"""Linear models of arms at any state, for the design of controllers.

`linearize` makes a `StateSpace` with inputs and outputs from the modules `inputs` and
`outputs`.
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
