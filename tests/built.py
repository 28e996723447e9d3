"""Objects that the last build has left, for programs that link the C library.

    python3 tests/built.py

prints their paths.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


class NotBuilt(Exception):
    """The objects are missing, or older than their sources."""


def objects() -> list[Path]:
    """Objects of the C library that the extension in use was linked from.

    They are in ``build/``; ``FLEXARM_BUILD`` names one of several builds.
    """
    own = os.environ.get("FLEXARM_BUILD")
    pattern = (
        f"build/{own}/objects/objects.txt"
        if own
        else f"build/temp.*-{sys.implementation.cache_tag}/objects.txt"
    )
    advice = "run python3 setup.py build_ext --inplace"
    lists = sorted(ROOT.glob(pattern), key=lambda path: path.stat().st_mtime)
    if not lists:
        raise NotBuilt(f"{ROOT / 'build'} has no objects of the extension; {advice}")
    listed = [ROOT / line for line in lists[-1].read_text().splitlines()]
    found = [path for path in listed if path.parent.name != "python"]
    for path in found:
        if not path.exists():
            raise NotBuilt(f"{path} is not there; {advice}")
        rule = path.with_suffix(".d").read_text().replace("\\\n", " ")
        for name in rule.split(":", 1)[1].split():
            if (ROOT / name).stat().st_mtime > path.stat().st_mtime:
                raise NotBuilt(f"{name} is newer than {path.name}; {advice}")
    return found


def command_of(path: Path) -> str:
    """The command of the compiler for an object, without the source."""
    return (path.parents[2] / "command.txt").read_text()


if __name__ == "__main__":
    try:
        print(*objects(), sep="\n")
    except NotBuilt as reason:
        sys.exit(f"built.py: {reason}")
