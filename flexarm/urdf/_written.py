"""Elements of a robot description, as text."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.checks import short_text
from ..errors import ModelError
from ._visuals import Visual
from ._xml import MAX_NAME

Array = NDArray[np.float64]


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


def visual(shape: Visual) -> str:
    """A shape of a link; a mesh by its address."""
    if shape.kind == "mesh":
        inner = tag("mesh", filename=shape.address or "", scale=shape.size)
    elif shape.kind == "box":
        inner = tag("box", size=shape.size)
    else:
        keys = ("radius", "length")
        inner = tag(shape.kind, **dict(zip(keys, shape.size, strict=False)))
    parts = [origin(shape.position, shape.rotation), tag("geometry", inner)]
    if shape.color is not None:
        parts.append(tag("material", tag("color", rgba=shape.color), name=""))
    return tag("visual", *parts)


def check_word(what: str, name: str) -> str:
    """Refuse a name that a file would not give back."""
    plain = " ".join(name.split()) == name and name.isprintable()
    if not plain or not 0 < len(name) <= MAX_NAME:
        raise ModelError(
            f"{what} {short_text(name)} is no name for URDF, expected 1 to {MAX_NAME} "
            "printable letters without space at its ends or twice in a row"
        )
    return name
