"""Findings in a robot description beside what an arm takes from it, and warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from .._calls.declared import Choice
from .._calls.doors import checked_class
from .._support.checks import listed
from .._support.description import Description
from ..errors import ModelError

# a table of a sidecar, as TOML or JSON has it, or arguments of a constructor
Table: TypeAlias = dict[str, Any]
# what to do about defects of a file
Repair: TypeAlias = Annotated[str, Choice("nearest")]
# what links get that have to move without a mass
Massless: TypeAlias = Annotated[str, Choice("unit")]


@checked_class
@dataclass(frozen=True, eq=False)
class Finding(Description):
    """One thing that an arm has not as the file says, or not at all.

    Attributes
    ----------
    kind : {"changed", "left out", "noted"}
        Whether the arm has something else, nothing, or what the file says.
    element : str
        Element of the file, such as ``"joint 'elbow'"``.
    line : int or None
        Where it stands in the file.
    what : str
        Part of the element, such as ``"inertia"``.
    before, after : str
        Value in the file and value in the arm, empty where there is none.
    text : str
        All of it in a sentence, that of the warning; empty for what has no effect on
        the motion and is only reported.
    """

    kind: str
    element: str
    line: int | None
    what: str
    before: str = ""
    after: str = ""
    text: str = ""


def place_of(who: str) -> tuple[str, int | None]:
    """Element and line of ``"link 'a' (line 3)"``, as `RobotLink.who` names one."""
    element, _, line = who.rpartition(" (line ")
    if element and line[:-1].isdigit():
        return element, int(line[:-1])
    return who, None


class Findings:
    """Defects, repairs and parts that are left out.

    Parameters
    ----------
    repair : "nearest" or None
        Whether defects are repaired.
    """

    def __init__(self, repair: str | None) -> None:
        self.repairs = repair is not None
        self._defects: dict[str, list[str]] = {}
        self._first = ""
        self.found: list[Finding] = []

    def defect(
        self,
        what: str,
        who: str,
        sentence: str,
        change: str,
        before: str = "",
        after: str = "",
    ) -> None:
        """Something that cannot be as the file says.

        Parameters
        ----------
        what, who : str
            Kind of defect, and the element of the file that has it.
        sentence : str
            The defect in full, without what can be done.
        change : str
            What a repair makes of it.
        before, after : str
            Value in the file, and that of the repair.
        """
        if self.repairs:
            self.change(who, what, change, before, after)
            return
        self._first = self._first or sentence
        self._defects.setdefault(what, []).append(who)

    def change(
        self, who: str, what: str, text: str, before: str = "", after: str = ""
    ) -> None:
        """Something that the arm has otherwise than the file."""
        self.found.append(Finding("changed", *place_of(who), what, before, after, text))

    def left_out(self, who: str, what: str, text: str, before: str = "") -> None:
        """Something of the file that the arm does not have."""
        self.found.append(Finding("left out", *place_of(who), what, before, "", text))

    def note(self, who: str, what: str, text: str, after: str = "") -> None:
        """Something to know of what the arm has as the file says."""
        self.found.append(Finding("noted", *place_of(who), what, "", after, text))

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


class UrdfWarning(UserWarning):
    """A part of a robot description, or of an arm, that is left out."""


UrdfWarning.__module__ = "flexarm.urdf"  # its public place
