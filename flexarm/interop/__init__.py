"""Arms in JAX and CasADi, which differentiate by themselves, and as FMUs.

`jax_function` and `casadi_function` return the same functions of an arm, by name, with
exact first derivatives from the kernels.  The packages are imported at the first call,
and are not needed otherwise::

    python3 -m pip install "flexarm[interop]"      # or flexarm[jax], flexarm[casadi]

========================= ================== ===========================================
name                      arguments          result
========================= ================== ===========================================
``forward_dynamics``      ``q, qd, tau``     accelerations, (nv)
``inverse_dynamics``      ``q, qd, qdd``     generalized forces, (nv)
``bias_forces``           ``q, qd``          generalized forces, (nv)
``gravity_forces``        ``q``              generalized forces, (nv)
``mass_matrix``           ``q``              (nv, nv)
``kinetic_energy``        ``q, qd``          a number, in J
``potential_energy``      ``q``              a number, in J
``tip_pose``              ``q``              pose in the base frame, (4, 4)
========================= ================== ===========================================

Derivatives with respect to `q` are those by its ``nq`` entries.  Of a
quaternion only the rotation counts; its length has no effect.  Stops and dry friction
are differentiated at the given state.

`export_fmu` writes an arm as an FMU, for tools that simulate systems of parts; it needs
no other package.
"""

from typing import TYPE_CHECKING

from .._support.moved import missing_or_moved
from ._casadi import casadi_function
from ._fmu import export_fmu
from ._functions import FUNCTIONS
from ._jax import jax_function

__all__ = ["FUNCTIONS", "casadi_function", "export_fmu", "jax_function"]

if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(__name__, __all__)
