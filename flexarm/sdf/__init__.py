"""Arms from SDF, the Simulation Description Format of Gazebo.

`load` makes an `Arm` of what Drake reads.  Needs the package drake, the extra
``flexarm[sdf]``, which has libsdformat, the reader of Gazebo.
"""

from __future__ import annotations

import os
import re
from typing import Annotated, Any, TypeAlias, TypeGuard

from .._calls.declared import Choice
from .._calls.doors import checked
from .._support.checks import short_text
from .._support.files import check_size, read_file, shown_path
from .._support.optional import required
from .._support.warn import warn
from ..arm import Arm
from ..errors import ModelError
from ._plant import Plant

__all__ = ["SdfWarning", "load"]

# Bytes of a model at most.
MAX_BYTES = 2**24
_FRICTION = re.compile(r"<friction>\s*([-+.0-9eE]+)\s*</friction>")


_Base: TypeAlias = Annotated[str, Choice("fixed")] | None


class SdfWarning(UserWarning):
    """A part of an SDF model that an arm leaves out."""


@checked
def load(source: object, *, base: _Base = None, **options: Any) -> Arm:
    """Arm of a model in the Simulation Description Format.

    Parameters
    ----------
    source : path or str
        File, or its text (a str with a ``<`` in it).  All models of a world are parts
        of one arm.
    base : "fixed", optional
        Hold models on the ground that no joint of the file holds; by default they
        float, as in the format.
    **options
        Of `flexarm.Arm`: ``gravity``, ``tip``, ``fidelity``, more ``constraints``, ...

    Returns
    -------
    arm : Arm
        A body for each link, with its name and frame, from the ground outward.
        Coordinates have the names of the joints, those of floating links their names.

    Raises
    ------
    ModelError
        If Drake does not read the source, or the arm is not physical.
    ImportError
        If drake is missing.
    OSError
        If the file cannot be read.

    Warns
    -----
    SdfWarning
        For what would affect the motion and is left out: dry friction, which Drake does
        not read, forces and constraints that are no springs of single joints, gears.

    See Also
    --------
    flexarm.urdf.load : arms from URDF, with repairs and flexible links.

    Notes
    -----
    ====================  ==========================================================
    revolute, continuous  ``Joint("revolute")``; ``Joint("screw")`` where the axis
                          does not pass through the frame of the link
    prismatic, fixed      ``Joint("prismatic")``, ``Joint("fixed")``
    ball                  ``Joint("spherical")``, about the origin of the link only
    limits, effort        ``Joint(limits=, velocity_limit=, effort_limit=)``
    damping, spring       ``Joint(damping=, stiffness=, rest=)``
    frames                nodes of their links, by their places
    ====================  ==========================================================

    Drake prints other doubts on the standard error.

    Examples
    --------
    >>> import flexarm as fa
    >>> text = '''<sdf version="1.9"><model name="arm"><link name="rod"><inertial>
    ...   <pose>0.5 0 0 0 0 0</pose><mass>1</mass><inertia><ixx>0.001</ixx>
    ...   <iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
    ...   <joint name="hinge" type="revolute"><parent>world</parent>
    ...   <child>rod</child><axis><xyz>0 1 0</xyz></axis></joint></model></sdf>'''
    >>> fa.sdf.load(text).coordinate_names  # doctest: +SKIP
    ('hinge',)
    """
    text = _text(source)
    parsing = required(
        "pydrake.multibody.parsing", "sdf.load", package="drake", extra="sdf"
    )
    multibody = required(
        "pydrake.multibody.plant", "sdf.load", package="drake", extra="sdf"
    )
    plant = multibody.MultibodyPlant(0.0)
    who = "the text" if _is_text(source) else shown_path(source)
    try:
        parser = parsing.Parser(plant)
        if _is_text(source):
            parser.AddModelsFromString(text, "sdf")
        elif isinstance(source, str | os.PathLike):
            parser.AddModels(os.fspath(source))
        plant.Finalize()
    except RuntimeError as problem:
        said = " ".join(str(problem).split())[:200]
        raise ModelError(f"Drake does not read {who} as SDF: {said}") from None
    found = Plant(plant, base == "fixed")
    bodies = found.bodies()
    if not bodies:
        raise ModelError(f"{who} has no links, expected at least one")
    options.setdefault("gravity", found.gravity)
    options.setdefault("name", found.name)
    arm = Arm(bodies, **options)
    if any(float(x or 0.0) for x in _FRICTION.findall(text) if _is_number(x)):
        warn(
            "dry friction of joints is left out, which Drake does not read", SdfWarning
        )
    for note in found.notes():
        warn(note, SdfWarning)
    return arm


def _is_text(source: object) -> TypeGuard[str]:
    return isinstance(source, str) and "<" in source


def _is_number(text: str) -> bool:
    try:
        return bool(float(text) or True)
    except ValueError:
        return False


def _text(source: object) -> str:
    """The text of a source, within the limits of size."""
    if _is_text(source):
        check_size("the text of the model", len(source), MAX_BYTES)
        text = str(source)
    elif isinstance(source, str | os.PathLike) and os.fspath(source):
        content = read_file("source of the SDF model", source, MAX_BYTES)
        text = content.decode("utf-8", errors="replace")
        if not str(os.fspath(source)).endswith((".sdf", ".world")):
            raise ModelError(
                f"source of the SDF model {shown_path(source)} has another ending, "
                "expected .sdf or .world"
            )
    else:
        raise ModelError(
            f"source of the SDF model is {short_text(source)}, expected its path or "
            "its text"
        )
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ModelError(
            "the SDF model declares a document type, expected none: entities are not "
            "expanded"
        )
    return text
