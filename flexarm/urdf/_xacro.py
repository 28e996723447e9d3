"""Robot descriptions with macros, expanded by the package xacro."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import cast

from .._support.checks import short_text
from .._support.files import check_size, read_file, shown_path
from .._support.optional import required
from ..errors import ModelError
from ._xml import MAX_BYTES, Source


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
