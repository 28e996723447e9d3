"""Files of arms and results: `save` and `load`, and the schema of the text."""

from ._files import load, save
from ._schema import schema

__all__ = ["load", "save", "schema"]
