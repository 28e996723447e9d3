"""Shapes by which links are drawn, and files of their meshes, none of which is opened.

A wrong one is left out, for an arm needs none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

import numpy as np

from .._calls.doors import checked_class
from .._support.arrays import Array
from .._support.checks import short_text
from .._support.description import Description
from ..errors import ModelError
from ._findings import Findings
from ._xml import Element, numbers, origin_of

# folders of packages, or that of each by its name
Folders: TypeAlias = (
    str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Mapping[str, object]
)

_SEARCHED = (("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share"))
# Folders above the file in which meshes are looked for.
_LEVELS = 12
# keys of the sizes of each shape
_SIZES = {
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
}
# Size of a shape in m at most.
_MAX_LENGTH = 1e6


class MeshFinder:
    """Looks up meshes by their addresses.

    Parameters
    ----------
    source : path, str or bytes
        Robot description; a path has the folder of relative addresses.
    directories : path, sequence of paths, or mapping of str to path
        As of `read`.
    """

    def __init__(self, source: object, directories: Folders) -> None:
        self._own: dict[str, Path] = {}
        folders: list[Path] = []
        if isinstance(directories, Mapping):
            for name, folder in directories.items():
                self._own[str(name)] = _folder(folder)
        elif isinstance(directories, str | os.PathLike):
            folders.append(_folder(directories))
        else:
            folders += [_folder(each) for each in directories]
        for variable, below in _SEARCHED:
            given = os.environ.get(variable, "").split(os.pathsep)
            folders += [Path(each, below) for each in given if each]

        # the folder of the file, and those above it
        self._base = None
        text = isinstance(source, bytes) or (isinstance(source, str) and "<" in source)
        if not text and isinstance(source, str | os.PathLike):
            self._base = Path(os.path.abspath(os.fsdecode(source))).parent
            folders += [self._base, *self._base.parents][:_LEVELS]
        self._folders = folders
        self._known: dict[str, tuple[str | None, str]] = {}

    def find(self, address: str) -> tuple[str | None, str]:
        """File of an address, or None, and why it is not found."""
        if address not in self._known:
            self._known[address] = self._find(address)
        return self._known[address]

    def first_time(self, address: str) -> bool:
        """Whether an address has not been looked up before."""
        return address not in self._known

    def _find(self, address: str) -> tuple[str | None, str]:
        scheme, there, rest = address.partition("://")
        scheme = scheme.lower() if there else ""
        if "\0" in address or len(address) > 4096:
            return None, "is no path"
        if scheme in ("package", "model"):
            return self._in_package(rest)
        if scheme == "file":
            candidates = [Path("/" + unquote(rest).lstrip("/"))]
        elif scheme:
            return None, f"has the scheme {scheme[:20]!r}, which is not fetched"
        elif os.path.isabs(address):
            candidates = [Path(address)]
        elif self._base is None:
            return None, "is relative, and the description is text, not a file"
        else:
            candidates = [self._base / address]
        return _first_file(candidates)

    def _in_package(self, rest: str) -> tuple[str | None, str]:
        """File in a package, by the name of the package and the path in it."""
        name, _, inner = rest.replace("\\", "/").lstrip("/").partition("/")
        if not name or not inner:
            return None, "has no package or no path in it"
        if ".." in (name, *inner.split("/")) or inner.startswith("/"):
            return None, "leaves its package"
        if name in self._own:
            return _first_file([self._own[name] / inner])
        return _first_file(self._candidates(name, inner))

    def _candidates(self, name: str, inner: str) -> Iterator[Path]:
        for folder in self._folders:
            yield folder / name / inner
            if folder.name == name:
                yield folder / inner


def _folder(given: object) -> Path:
    if not isinstance(given, str | os.PathLike) or isinstance(given, bytes):
        raise ModelError(
            f"package_directories has {short_text(given)}, expected paths of folders"
        )
    return Path(os.path.abspath(os.fspath(given)))


def _first_file(candidates: Iterable[Path]) -> tuple[str | None, str]:
    for path in candidates:
        try:
            if path.is_file():
                return str(path), ""
        except (OSError, ValueError):  # a name that no file can have
            continue
    return None, "is not there"


@checked_class
@dataclass(frozen=True, eq=False)
class Visual(Description):
    """A shape by which a link is drawn.

    Attributes
    ----------
    kind : {"box", "cylinder", "capsule", "sphere", "mesh"}
        Kind of shape.
    size : tuple of float
        In m: sides of a box, radius and length along z, radius; of a mesh three factors
        of its coordinates.
    position, rotation : (3,), (3, 3) ndarray of float
        Frame of the shape, which has the centre of all but meshes, in that of the link,
        in m.
    color : tuple of float or None
        Red, green, blue and opacity, from 0 to 1.
    address : str or None
        Of a mesh in the file, such as ``"package://robot/hand.stl"``.
    path : str or None
        File of the mesh; None if it is missing.
    """

    kind: str
    size: tuple[float, ...]
    position: Array
    rotation: Array
    color: tuple[float, ...] | None = None
    address: str | None = None
    path: str | None = None


def named_colors(root: Element) -> dict[str, tuple[float, ...]]:
    """Colors of the materials of a robot, by their names."""
    found: dict[str, tuple[float, ...]] = {}
    parts = [root, *(shape for link in root.all("link") for shape in link.children)]
    for material in (each for part in parts for each in part.all("material")):
        name, color = material.attributes.get("name", ""), _color(material)
        if name and color is not None:
            found.setdefault(name, color)
    return found


def _color(material: Element) -> tuple[float, ...] | None:
    for element in material.all("color"):
        try:
            rgba = numbers(element, "rgba", "a material", None, 4)
        except ModelError:  # of a drawing
            return None
        return tuple(float(x) for x in np.clip(rgba, 0.0, 1.0))
    return None


def link_visuals(
    element: Element,
    who: str,
    colors: dict[str, tuple[float, ...]],
    finder: MeshFinder,
    findings: Findings,
) -> tuple[Visual, ...]:
    """Shapes of a link; those that are wrong are noted and left out."""
    shapes = []
    for visual in element.all("visual"):
        try:
            shapes.append(_shape(visual, who, colors, finder, findings))
        except ModelError as problem:
            text = f"a shape is not drawn: {problem}"
            findings.left_out(who, f"<visual> in line {visual.line}", text)
    return tuple(shapes)


def _shape(
    visual: Element,
    who: str,
    colors: dict[str, tuple[float, ...]],
    finder: MeshFinder,
    findings: Findings,
) -> Visual:
    position, rotation = origin_of(visual, who)
    geometry = visual.one("geometry", who)
    found = [] if geometry is None else geometry.children
    if len(found) != 1 or found[0].tag not in (*_SIZES, "mesh"):
        what = ", ".join(f"<{shape.tag}>" for shape in found[:4]) or "no shape"
        raise ModelError(
            f"the <visual> of {who}, in line {visual.line}, has {what}, expected one "
            f"of {', '.join(_SIZES)} and mesh"
        )
    color = None
    for material in visual.all("material"):
        named = colors.get(material.attributes.get("name", ""))
        color = _color(material) or named
    made = partial(Visual, position=position, rotation=rotation, color=color)
    (shape,) = found
    if shape.tag != "mesh":
        return made(shape.tag, _sizes(shape, who))

    # a mesh, whose file may be missing
    address = shape.attributes.get("filename", "").strip()
    if not address:
        raise ModelError(
            f"the <mesh> of {who}, in line {shape.line}, has no filename, expected one"
        )
    factors = numbers(shape, "scale", who, np.ones(3), 3)
    _check_size(shape, who, factors)
    new = finder.first_time(address)
    path, why = finder.find(address)
    if path is None and new:
        shown = short_text(address)
        text = f"the mesh {shown} of {who} {why}, so that it is not drawn"
        findings.left_out(who, f"mesh {shown}", text, why)
    size = tuple(float(x) for x in factors)
    return made("mesh", size, address=address, path=path)


def _sizes(shape: Element, who: str) -> tuple[float, ...]:
    given = [
        numbers(shape, key, who, None, 3 if key == "size" else 1)
        for key in _SIZES[shape.tag]
    ]
    sizes = np.ravel(given)
    _check_size(shape, who, sizes)
    if not (sizes >= 0.0).all():
        raise ModelError(
            f"the <{shape.tag}> of {who}, in line {shape.line}, has a size of "
            f"{sizes.min():g} m, expected zero or more"
        )
    return tuple(float(x) for x in sizes)


def _check_size(shape: Element, who: str, sizes: Array) -> None:
    if not (np.abs(sizes) <= _MAX_LENGTH).all():
        raise ModelError(
            f"the <{shape.tag}> of {who}, in line {shape.line}, has a size of "
            f"{np.abs(sizes).max():g}, expected at most {_MAX_LENGTH:g}"
        )
