"""Forces that lead a tip along a trajectory, by the methods of three sources.

They have the arguments and results of `flexarm.optimize.track`, whose own methods solve
more problems with smaller errors:

* `shooting`: nodal forces of least squares (Farid, 1997), any arm without constraints;
* `stable_inversion`: one boundary value problem (Devasia, Chen and Paden, 1996), for as
  many actuators as coordinates of the tip;
* `frequency_domain`: responses of the arm linearized half way (Bayo, 1987 and 1989).
"""

from ._methods import frequency_domain, shooting, stable_inversion

__all__ = ["frequency_domain", "shooting", "stable_inversion"]
