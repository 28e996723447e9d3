"""Figures and animations with matplotlib, which is imported on first use.

Every function takes ``ax=None``, makes a figure without one, labels the axes in SI
units and returns the drawn objects, so that anything can be changed afterwards.
Without matplotlib they raise an `ImportError` that says how to install it.
"""

from typing import TYPE_CHECKING

from .._support.moved import missing_or_moved
from ._animation import animate
from ._drawing import arm
from ._histories import deflections, energies, joints, tip
from ._identification import identification
from ._interact import interact
from ._linear import bode, poles_zeros, root_locus, step_response
from ._loads import link_loads
from ._modes import mode_shapes
from ._optimal import optimal_motion, time_scaling, trade_off
from ._robustness import robustness
from ._scene import scene
from ._snapshots import snapshots
from ._tracking import tracking
from ._vibration import vibration, workspace

__all__ = [
    "animate",
    "arm",
    "bode",
    "deflections",
    "energies",
    "identification",
    "interact",
    "joints",
    "link_loads",
    "mode_shapes",
    "optimal_motion",
    "poles_zeros",
    "robustness",
    "root_locus",
    "scene",
    "snapshots",
    "step_response",
    "time_scaling",
    "tip",
    "tracking",
    "trade_off",
    "vibration",
    "workspace",
]

if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(__name__, __all__)
