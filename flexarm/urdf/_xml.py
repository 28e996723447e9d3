"""Robot descriptions as elements with line numbers, from untrusted text.

The parsers for URDF on PyPI repair broken files, take defaults for missing data and
lose the lines, or need mesh libraries; Pinocchio's merges links.  A model needs little
of the format, which is read here strictly, by expat of the standard library.  A
document type declaration is refused, and with it all entities: neither their expansion
nor files or addresses behind them can do harm.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeAlias
from xml.parsers import expat

from .._core import MAX_BODIES
from .._support.checks import short_text
from .._support.files import check_size, read_file
from ..errors import ModelError

# Bytes of a description at most: an arm has at most MAX_BODIES links, each with a
# joint, shapes and colours.
MAX_BYTES = 4096 * MAX_BODIES
# Elements of a description at most.
MAX_ELEMENTS = 64 * MAX_BODIES
# Elements in elements at most; a description has five levels.
MAX_DEPTH = 100
# Bytes of a tag with its attributes, or of a comment, at most.
MAX_TAG = 100_000
# Letters of the name of an element or of an attribute at most.
MAX_NAME = 100
# Letters inside of an element that are kept.
MAX_TEXT = 200
# Bytes that the parser gets at a time, between which limits are looked at.
_PIECE_SIZE = 65536
SDF_ADVICE = "; flexarm.sdf.load reads SDF"


# path or text of a description
Source: TypeAlias = str | bytes | os.PathLike[str]
_SOURCE = "source of the robot description"


@dataclass(slots=True)
class Element:
    """One element: tag, attributes, children, line in the file, text before them."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

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


def read_source(source: Source) -> str | bytes:
    """Text of a description, given as text or by its path."""
    if isinstance(source, str) and any(sign in source for sign in "<\n\0"):
        check_size("the text of the robot description", len(source), MAX_BYTES)
        return source.lstrip("\ufeff \t\r\n")
    if isinstance(source, bytes):
        check_size("the text of the robot description", len(source), MAX_BYTES)
        return _declared_first(source)
    if not os.fspath(source):
        raise ModelError(f"{_SOURCE} is empty, expected its path or its text")
    return _declared_first(read_file(_SOURCE, source, MAX_BYTES))


def _declared_first(text: bytes) -> bytes:
    """The same text with its XML declaration before all white space.

    White space in front, which XML forbids, moves into the declaration, so that lines
    keep their numbers.
    """
    start = text.lstrip()
    space = text[: len(text) - len(start)]
    if not space or not start.startswith(b"<?xml"):
        return text
    return b"<?xml" + space + start[5:]


def parse(
    text: str | bytes, skipped: Collection[str] = (), parts: Collection[str] = ()
) -> Element:
    """Root element of a text.

    Parameters
    ----------
    text : str or bytes
        The text, as one or in its own encoding.
    skipped : collection of str
        Tags of elements that are left out, with all that is in them.
    parts : collection of str
        Tags of which the root may have as many as there are links in an arm.
    """
    parser = expat.ParserCreate("utf-8" if isinstance(text, str) else None)
    root: list[Element] = []
    stack: list[Element] = []
    count, inside = 0, 0  # elements, levels inside of a skipped one
    there: Counter[str] = Counter()

    # what the parser calls
    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count, inside
        line = parser.CurrentLineNumber
        count += 1
        if count > MAX_ELEMENTS:
            raise ModelError(
                f"the robot description has more than {MAX_ELEMENTS} elements in "
                f"{line} lines, expected {MAX_BODIES} links with their joints at most"
            )
        longest = max(attributes, key=len) if attributes else tag
        if len(longest) > MAX_NAME or len(tag) > MAX_NAME:
            raise ModelError(
                f"the element {short_text(tag)} in line {line} or an attribute of it "
                f"has a name of more than {MAX_NAME} letters, expected a URDF file"
            )
        if len(stack) + inside >= MAX_DEPTH:
            raise ModelError(
                f"element <{tag}> in line {line} is inside of {len(stack) + inside} "
                "others, expected a robot description"
            )
        if inside or (stack and tag in skipped):
            inside += 1
            return
        if len(stack) == 1 and tag in parts:
            there[tag] += 1
            if there[tag] > MAX_BODIES + 1:  # one may be the ground
                raise ModelError(
                    f"the robot has {there[tag]} or more elements <{tag}>, one in line "
                    f"{line}, expected at most {MAX_BODIES} and the ground"
                )
        element = Element(tag, attributes, line)
        (stack[-1].children if stack else root).append(element)
        stack.append(element)

    def end(_: str) -> None:
        nonlocal inside
        if inside:
            inside -= 1
        else:
            stack.pop()

    def inner(text: str) -> None:
        if stack and not inside and len(stack[-1].text) < MAX_TEXT:
            stack[-1].text += text[:MAX_TEXT]

    def refuse(*_: object) -> None:
        raise ModelError(
            f"line {parser.CurrentLineNumber} declares a document type, expected none "
            "in a robot description: entities are not expanded"
        )

    # entities are refused, so that a small file stays small
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = inner
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        content = memoryview(text.encode() if isinstance(text, str) else text)
        for first in range(0, len(content), _PIECE_SIZE):
            parser.Parse(content[first : first + _PIECE_SIZE], False)
            # a tag is given as a whole, and held until then
            if first - parser.CurrentByteIndex > MAX_TAG:
                raise ModelError(
                    f"a tag or comment in line {parser.CurrentLineNumber} of the robot "
                    f"description is longer than {MAX_TAG} bytes, expected a URDF file"
                )
        parser.Parse(b"", True)
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
