"""Definition of a mutant, and the table of all of them.

A mutant is one small mistake that a person could make: a sign, an index, a factor, two
axes in the wrong order, a term that is missing. ``run.py`` makes each one in a copy of
the sources and shows which test notices.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutant:
    """One mistake.

    ``old`` occurs once in ``file``, or it is the occurrence number ``nth`` that counts.
    ``tests`` are those most likely to notice, which run first.
    """

    file: str
    old: str
    new: str
    wrong: str
    tests: tuple[str, ...] = ()
    nth: int = 0

    @property
    def key(self) -> str:
        """Key in a file of results."""
        return " ".join(f"{self.file}: {self.old} -> {self.new} #{self.nth}".split())

    @property
    def room(self) -> str:
        """The part of the project that it belongs to."""
        parts = Path(self.file).parts
        if len(parts) == 2:
            return parts[0]
        return "/".join(parts[: min(len(parts) - 1, 3)])

    def applied(self, text: str) -> str:
        """Return the text of the file with the mistake."""
        count = text.count(self.old)
        if not count:
            raise LookupError(f"{self.file}: {self.old!r} does not occur")
        if count > 1 and not self.nth:
            raise LookupError(f"{self.file}: {self.old!r} occurs {count} times")
        if self.nth > count:
            raise LookupError(f"{self.file}: {self.old!r} occurs only {count} times")
        if self.old == self.new:
            raise LookupError(f"{self.file}: {self.old!r} does not change")
        parts = text.split(self.old)
        n = max(self.nth, 1)
        return self.old.join(parts[:n]) + self.new + self.old.join(parts[n:])


def place(word: str) -> str:
    """Return the path of the file of tests that has this name."""
    found = list(ROOT.glob(f"tests/*/test_{word}.py"))
    if len(found) != 1:
        raise LookupError(f"{word!r} is the name of {len(found)} files of tests")
    return found[0].relative_to(ROOT).as_posix()


def mutant(
    file: str, old: str, new: str, wrong: str, tests: str = "", nth: int = 0
) -> Mutant:
    """Return a mutant; ``tests`` are words, "joints" for .../test_joints.py."""
    paths = (x if "/" in x else place(x) for x in tests.split())
    return Mutant(file, old, new, wrong, tuple(paths), nth)


def table() -> list[Mutant]:
    """Return all mutants."""
    from core import CORE
    from design import DESIGN
    from kernels import KERNELS
    from mechanics import MECHANICS

    return [*KERNELS, *CORE, *MECHANICS, *DESIGN]
