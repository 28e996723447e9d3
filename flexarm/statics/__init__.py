"""Static equilibrium of arms: deflection, compliance, holding forces, inverse statics.

Functions of an arm and positions; leading axes broadcast.
"""

from ._equilibrium import Equilibrium, equilibrium

__all__ = ["Equilibrium", "equilibrium"]
