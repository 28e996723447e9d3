"""Robot descriptions as elements with line numbers, from untrusted text.

The parsers for URDF on PyPI repair broken files, take defaults for missing data and
lose the lines, or need mesh libraries; Pinocchio's merges links.  A model needs little
of the format, which is read here strictly, by expat of the standard library.  A
document type declaration is refused, and with it all entities: neither their expansion
nor files or addresses behind them can do harm.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from ..errors import ModelError

MAX_DEPTH = 100  # of elements; a description has five levels


@dataclass
class Element:
    """One element: tag, attributes, children, line in the file."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """Children with a tag."""
        return [child for child in self.children if child.tag == tag]

    def one(self, tag: str, who: str) -> Element | None:
        """The child with a tag, None without one; refuses several."""
        found = self.all(tag)
        if len(found) > 1:
            raise ModelError(
                f"{who} has {len(found)} elements <{tag}>, the second one in line "
                f"{found[1].line}; expected one at most"
            )
        return found[0] if found else None


def read_source(source: Any) -> str | bytes:
    """Text of a description, given as text or by its path."""
    if isinstance(source, str) and any(sign in source for sign in "<\n\0"):
        return source.lstrip("\ufeff \t\r\n")
    if isinstance(source, bytes):
        return source
    if not isinstance(source, str | os.PathLike):
        raise ModelError(
            f"robot description is {type(source).__name__}, expected its path or its "
            "text"
        )
    if not os.fspath(source):
        raise ModelError("robot description is empty, expected its path or its text")
    with open(source, "rb") as file:
        return file.read()


def parse(text: str | bytes) -> Element:
    """Root element of a text."""
    parser = expat.ParserCreate()
    root: list[Element] = []
    stack: list[Element] = []

    # what the parser calls
    def start(tag: str, attributes: dict[str, str]) -> None:
        line = parser.CurrentLineNumber
        if len(stack) >= MAX_DEPTH:
            raise ModelError(
                f"element <{tag}> in line {line} is inside of {len(stack)} others, "
                "expected a robot description"
            )
        element = Element(tag, attributes, line)
        (stack[-1].children if stack else root).append(element)
        stack.append(element)

    def end(_: str) -> None:
        stack.pop()

    def refuse(*_: Any) -> None:
        raise ModelError(
            f"line {parser.CurrentLineNumber} declares a document type, expected none "
            "in a robot description: entities are not expanded"
        )

    # entities are refused, so that a small file stays small
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as problem:
        raise ModelError(
            f"line {problem.lineno} of the robot description is not XML "
            f"({expat.ErrorString(problem.code)}), expected a URDF file"
        ) from None
    except ModelError:
        raise
    except (ValueError, LookupError) as problem:  # of the declared encoding
        raise ModelError(
            f"the robot description is not readable ({problem}), expected UTF-8"
        ) from None
    return root[0]
