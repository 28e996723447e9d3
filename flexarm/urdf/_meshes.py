"""Files of meshes from their addresses in a robot description; none is opened here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote

from .._support.checks import short_text
from ..errors import ModelError

# folders of packages, or that of each by its name
Folders: TypeAlias = (
    str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Mapping[str, object]
)

_SEARCHED = (("ROS_PACKAGE_PATH", ""), ("AMENT_PREFIX_PATH", "share"))
# Folders above the file in which meshes are looked for.
_LEVELS = 12


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
