"""What is found in a robot description beside what an arm takes from it."""

from __future__ import annotations

from .._support.checks import listed
from ..errors import ModelError

REPAIRS = ("nearest",)


class Findings:
    """Defects, repairs and parts that are left out.

    Parameters
    ----------
    repair : "nearest" or None
        Whether defects are repaired.
    """

    def __init__(self, repair: str | None) -> None:
        if repair is not None and repair not in REPAIRS:
            raise ModelError(f"repair is {repair!r}, expected None or 'nearest'")
        self.repairs = repair is not None
        self._defects: dict[str, list[str]] = {}
        self._first = ""
        self.changes: list[str] = []
        self.notes: list[str] = []

    def defect(self, what: str, who: str, sentence: str, change: str) -> None:
        """Something that cannot be as the file says.

        Parameters
        ----------
        what, who : str
            Kind of defect, and the element of the file that has it.
        sentence : str
            The defect in full, without what can be done.
        change : str
            What a repair makes of it.
        """
        if self.repairs:
            self.changes.append(change)
            return
        self._first = self._first or sentence
        self._defects.setdefault(what, []).append(who)

    def refuse(self) -> None:
        """Raise if there are defects, with all of them in one sentence."""
        count = sum(map(len, self._defects.values()))
        if not count:
            return
        kinds = [f"{what}: {listed(who, str)}" for what, who in self._defects.items()]
        said = f"the robot has {count} defects: {'; '.join(kinds)}"
        raise ModelError(
            f"{self._first if count == 1 else said}; repair='nearest' takes what is "
            "closest and says so"
        )
