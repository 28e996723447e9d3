"""Robot descriptions as elements with line numbers: read from untrusted text, written.

The parsers for URDF on PyPI repair broken files, take defaults for missing data and
lose the lines, or need mesh libraries; Pinocchio's merges links.  A model needs little
of the format, which is read here strictly, by expat of the standard library.  A
document type declaration is refused, and with it all entities: neither their expansion
nor files or addresses behind them can do harm.  The package xacro expands macros.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike

from .._core import MAX_BODIES
from .._support.arrays import Array
from .._support.checks import as_array, check_angles, short_text
from .._support.files import check_size, read_file, shown_path
from .._support.optional import required
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
# Size of a number at most, well below overflow.
MAX_NUMBER = 1e50

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


def _short(text: str) -> str:
    text = repr(" ".join(text.split()))
    return text if len(text) < 60 else text[:57] + "..."


def numbers(element: Element, key: str, who: str, default: object, n: int = 1) -> Any:
    """Numbers of an attribute: n of them as an array, one as a float."""
    text = element.attributes.get(key)
    wanted = "expected one number" if n == 1 else f"expected {n} numbers"
    where = f"{key} of <{element.tag}> of {who}, in line {element.line},"
    if text is None:
        if default is None:
            raise ModelError(f"{where} is missing, {wanted}")
        return default
    try:
        values = [float(x) for x in text.split()]
        if "_" in text or len(values) != n:
            raise ValueError
    except ValueError:
        raise ModelError(f"{where} is {_short(text)}, {wanted}") from None
    large = [x for x in values if MAX_NUMBER < abs(x) < np.inf]
    if large:
        raise ModelError(f"{where} is {large[0]:g}, expected SI units")
    return values[0] if n == 1 else as_array(where.rstrip(","), values, (n,))


def word(element: Element, key: str, who: str) -> str:
    text = element.attributes.get(key, "").strip()
    if not text:
        raise ModelError(
            f"{key} of <{element.tag}> of {who}, in line {element.line}, is missing"
        )
    if len(text) > MAX_NAME:
        raise ModelError(
            f"{key} of <{element.tag}> in line {element.line} has {len(text)} letters, "
            f"expected at most {MAX_NAME}"
        )
    return text


def finite(value: float, what: str) -> float:
    return float(as_array(what, value, ()))


def rotation_of(rpy: Array) -> Array:
    """Rotation by roll, pitch and yaw about fixed axes: R_z R_y R_x."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def origin_of(element: Element, who: str) -> tuple[Array, Array]:
    """Position and rotation of the origin of a joint or an inertial."""
    origin = element.one("origin", who)
    if origin is None:
        return np.zeros(3), np.eye(3)
    position = numbers(origin, "xyz", who, np.zeros(3), 3)
    rpy = numbers(origin, "rpy", who, np.zeros(3), 3)
    check_angles(f"rpy of <origin> of {who}, in line {origin.line},", rpy)
    return position, rotation_of(rpy)


def has_macros(source: object) -> bool:
    """Whether a source is the path of a file for xacro."""
    if not isinstance(source, str | os.PathLike):
        return False
    name = os.fspath(source)
    return isinstance(name, str) and "<" not in name and name.endswith(".xacro")


def check_arguments(arguments: Mapping[str, object] | None, source: object) -> None:
    """Refuse what are not arguments of a file for xacro."""
    if arguments is None:
        return
    if any(not isinstance(name, str) for name in arguments):
        raise ModelError(
            f"xacro_arguments is {short_text(arguments)}, expected a mapping of names "
            "to values"
        )
    if not has_macros(source):
        raise ModelError(
            "xacro_arguments are given without macros, expected the path of a file "
            "whose name ends in .xacro"
        )


def expanded(path: Source, arguments: Mapping[str, object] | None) -> str:
    """Plain URDF of a file with macros.

    Parameters
    ----------
    path : path
        The file.
    arguments : mapping of str to object, optional
        Values of its ``<xacro:arg>``.
    """
    xacro = required("xacro", "a .xacro file", extra="urdf")
    name = os.fsdecode(path)
    read_file("robot description", name, MAX_BYTES)  # there, regular, not too large
    given = {key: str(value) for key, value in (arguments or {}).items()}
    try:
        text = cast(str, xacro.process_file(name, mappings=given).toxml())
    except Exception as problem:  # of any kind: macros compute
        said = " ".join(str(problem).split()) or type(problem).__name__
        advice = "expected a file that the command xacro expands"
        if "ament_index_python" in said:
            said = "$(find ...) names a package of ROS, which is not here"
            advice = "put paths in its place or expand the file where ROS is"
        elif "undefined substitution arg" in said.lower():
            advice = "give it in xacro_arguments"
        raise ModelError(
            f"xacro does not expand {shown_path(name)}: {said[:160]}; {advice}"
        ) from None
    check_size(f"the URDF expanded from {shown_path(name)}", len(text), MAX_BYTES)
    return text


def words(values: ArrayLike) -> str:
    """Numbers that are read back bit by bit."""
    return " ".join(repr(float(x) + 0.0) for x in np.ravel(values))


def tag(kind: str, /, *inner: str, **attributes: ArrayLike) -> str:
    """An element with attributes and lines inside."""
    given = "".join(
        f" {key}={quoteattr(x if isinstance(x, str) else words(x))}"
        for key, x in attributes.items()
    )
    if not inner:
        return f"<{kind}{given}/>"
    lines = "\n".join(f"  {line}" for part in inner for line in part.split("\n"))
    return f"<{kind}{given}>\n{lines}\n</{kind}>"


def angles_of(R: Array) -> Array:
    """Roll, pitch and yaw of a rotation, also where only their sum is known.

    Yaw from the first column; roll and pitch of what is left after it, so that their
    product is the rotation to rounding for any pitch.
    """
    yaw = float(np.arctan2(R[1, 0], R[0, 0]))
    c, s = np.cos(yaw), np.sin(yaw)
    rest = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ R
    pitch = np.arctan2(-rest[2, 0], rest[0, 0])
    roll = np.arctan2(-rest[1, 2], rest[1, 1])
    return np.array([roll, pitch, yaw])


def origin(position: Array, rotation: Array | None = None) -> str:
    """The place of a joint or of an inertial."""
    rpy = np.zeros(3) if rotation is None else angles_of(rotation)
    return tag("origin", xyz=position, rpy=rpy)


def inertial(mass: float, com: Array, inertia: Array) -> str:
    """Mass, centre of mass, and inertia about it in the axes of the link."""
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = inertia[np.triu_indices(3)]
    return tag(
        "inertial",
        origin(com),
        tag("mass", value=mass),
        tag("inertia", **dict(zip(keys, entries, strict=True))),
    )


def check_word(what: str, name: str) -> str:
    """Refuse a name that a file would not give back."""
    plain = " ".join(name.split()) == name and name.isprintable()
    if not plain or not 0 < len(name) <= MAX_NAME:
        raise ModelError(
            f"{what} {short_text(name)} is no name for URDF, expected 1 to {MAX_NAME} "
            "printable letters without space at its ends or twice in a row"
        )
    return name
