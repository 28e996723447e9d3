"""Names that were public elsewhere, and where they are now."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from .options import missing_from

# names by the module that had them and the one that has them
_PLACES = {
    ("", "reference"): "screws",
    ("control", "reference.patent_loop"): """
        Comparison ComputedTorque ControlStep JointSensors ManipulatorController
        Sensed SimulatedPlant node_deformations
    """,
}
# by their full names, without that of the package
MOVED = {
    f"{old}.{name}".removeprefix("."): f"{new}.{name}"
    for (old, new), names in _PLACES.items()
    for name in names.split()
}


def moved(module: str, name: str) -> str:
    """Hint at the place of a name that a module had; empty if it never had it."""
    package, _, room = module.partition(".")
    place = MOVED.get(f"{room}.{name}".removeprefix("."))
    if place is None:
        return ""
    private = any(part.startswith("_") for part in place.split("."))
    words = "is private now, in" if private else "is now"
    return f"; it {words} {package}.{place}"


def missing_or_moved(
    module: str, names: Collection[str], otherwise: str = ""
) -> Callable[[str], Any]:
    """Return ``__getattr__`` of a module, which tells where a name has gone.

    Of a name that never was, it hints at the one that was meant.
    """
    refuse = missing_from(module, names, otherwise)

    def missing(name: str) -> Any:
        if hint := moved(module, name):
            raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}")
        return refuse(name)

    return missing
