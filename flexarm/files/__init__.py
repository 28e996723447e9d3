"""Files of arms and results: `save` and `load`."""

from ._files import load, save

__all__ = ["load", "save"]
