"""Figures and animations with matplotlib, which is imported on first use.

Every function takes ``ax=None``, makes a figure if there is none, labels the axes in SI
units and returns what it drew, so that anything can be changed afterwards.  Without
matplotlib they raise an `ImportError` that says how to install it.
"""

from ._animation import Animation, animate
from ._drawing import ArmDrawing, arm
from ._histories import deflections, energies, joints, tip
from ._loads import link_loads
from ._modes import mode_shapes
from ._snapshots import snapshots
from ._tracking import tracking
from ._vibration import vibration, workspace

__all__ = [
    "Animation",
    "ArmDrawing",
    "animate",
    "arm",
    "deflections",
    "energies",
    "joints",
    "link_loads",
    "mode_shapes",
    "snapshots",
    "tip",
    "tracking",
    "vibration",
    "workspace",
]
