"""Which build of the extension is imported: FLEXARM_BUILD names one of several."""

import os
import sys
from pathlib import Path

__all__: list[str] = []

_name = os.environ.get("FLEXARM_BUILD", "")
if _name:
    _place = Path(__file__).parents[1] / "build" / _name
    if not any(_place.glob("_core.*")):
        raise ImportError(
            f"FLEXARM_BUILD is {_name!r}, but {_place} has no extension; build it with "
            f"`FLEXARM_BUILD={_name} python3 setup.py build_ext` in the checkout, or "
            "unset the variable"
        )
    # where flexarm._core is looked for first
    sys.modules[__package__].__path__.insert(0, str(_place))
