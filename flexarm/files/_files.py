"""`save` and `load`: which file holds what."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .._calls.doors import checked
from .._support.checks import short_text
from .._support.files import read_file, shown_path
from .._support.options import did_you_mean
from .._support.tables import read_tables
from .._support.warn import warn
from ..arm import without_warning
from ..errors import ArgumentError, ModelError
from ..stacks import ArmStack
from ._describe import arm_of, is_description
from ._json import MAX_TEXT, object_of, save_json
from ._types import name_of_type

_TABLES = {".json": "JSON", ".toml": "TOML", ".yaml": "YAML", ".yml": "YAML"}
_DATASETS = (".nc", ".zarr")
# Bytes of a description by hand at most.
_MAX_WRITTEN = 1_000_000
_OTHERS = {".urdf": "flexarm.urdf.load", ".xacro": "flexarm.urdf.load"}
_OTHERS |= {".xml": "flexarm.urdf.load or flexarm.mjcf.load", ".mtx": "finite_elements"}


@checked
def save(thing: object, path: str | os.PathLike[str]) -> None:
    """Save an arm, a description or a result in a file.

    Parameters
    ----------
    thing : Arm, ArmStack, RigidBody, FlexibleBody, Trajectory, OptimalMotion or others
        What to save: arms and all of which they consist; results of `simulate`,
        `equilibrium`, `inverse_statics`, `workspace_map`, `linearize`, `identify` and
        the functions of `optimize`.
    path : path
        Name of the file.  ``.json`` is text that people can read, with arrays of more
        than 500 numbers in ``NAME.arrays.npz`` beside it.  ``.nc`` (netCDF) and
        ``.zarr`` are for results: the variables of `to_xarray`, which other programs
        read, and all the rest as text in the attribute ``flexarm``.

    Raises
    ------
    ArgumentError
        If files do not hold such an object, or the name has another ending.
    ImportError
        If xarray or zarr are missing: ``pip install "flexarm[studies]"``.
    OSError
        If the file cannot be written; one that was there before is left.

    Warns
    -----
    UserWarning
        If functions of Python, such as laws, are kept by name only; the message names
        them.

    See Also
    --------
    load : the object of a file.
    flexarm.Trajectory.to_xarray : data of a result with names and units.

    Notes
    -----
    All numbers are those of the object, to the bit.  The page "Files" of the
    documentation has the schema.  A result has its arm, versions, and the arguments of
    the call that computed it, seeds included (`Trajectory.call`).

    Examples
    --------
    >>> import flexarm as fa, tempfile, pathlib
    >>> arm = fa.library.de_luca_siciliano()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "arm.json")
    ...     fa.save(arm, path)
    ...     again = fa.load(path)
    >>> again.bodies == arm.bodies
    True
    """
    place = Path(os.fsdecode(path))
    if not isinstance(thing, ArmStack) and name_of_type(thing) is None:
        kind = type(thing)
        raise ArgumentError(
            f"thing is {kind.__module__}.{kind.__qualname__}, expected an arm, a part "
            "of one, or a result of flexarm"
        )
    if place.suffix in _DATASETS:
        from ._datasets import save_dataset  # which needs more than files of text

        lost = save_dataset(thing, place)
    elif place.suffix == ".json":
        lost = save_json(thing, place)
    else:
        raise ArgumentError(
            f"path is {shown_path(path)}, expected a name that ends in .json, .nc or "
            ".zarr"
        )
    if lost:
        shown = ", ".join(x[:200] for x in lost[:3]) + ", ..." * (len(lost) > 3)
        warn(f"file {shown_path(path)} keeps by name only: {shown}", UserWarning)


@checked
def load(path: str | os.PathLike[str]) -> Any:
    """Return the arm or the result of a file.

    Parameters
    ----------
    path : path
        File of `save`, of this or an earlier version of flexarm; or a description by
        hand, in ``.yaml``, ``.toml`` or ``.json``.

    Returns
    -------
    thing : Arm, Trajectory, OptimalMotion or others
        Object of the class that was saved; an arm for a description by hand.

    Raises
    ------
    ModelError
        If the file is not understood, is damaged or too large: 16 MiB of text, 1 MB of
        a description by hand, 1 GiB of arrays beside it.  The message has the place in
        the file.
    OSError
        If it cannot be read.

    Warns
    -----
    ModeWarning
        If the modes of a description by hand are too few; copies of arms do not warn
        again.
    UnitsWarning
        If sizes look like mm or g.

    See Also
    --------
    save : writes files.
    flexarm.urdf.load, flexarm.mjcf.load : robot files of others.

    Notes
    -----
    Nothing of a file is executed: it names known classes of flexarm, whose constructors
    check their numbers.  A description by hand is a table of links, here in YAML::

        name: two flexible links
        gravity: [0, -9.81, 0]
        links:
          - name: upper
            joint: {kind: revolute, axis: z}
            length: 0.8
            section: {tube: {diameter: 0.05, thickness: 0.002}}
            material: aluminium
            n_modes: 3
          - name: fore
            joint: revolute
            length: 0.6
            section: {tube: {diameter: 0.04, thickness: 0.002}}
            material: aluminium
            n_modes: 3
        payload: {mass: 0.5}

    The page "Files" of the documentation has all keys.

    Examples
    --------
    >>> import flexarm as fa, tempfile, pathlib
    >>> text = "links: [{mass: 1.0, length: 0.5, joint: revolute}]"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "arm.yaml")
    ...     size = path.write_text(text)
    ...     arm = fa.load(path)
    >>> fa.mass_matrix(arm, [0.0]).round(6)  # m l^2 / 3
    array([[0.083333]])
    """
    place = Path(os.fsdecode(path))
    try:
        if place.suffix in _DATASETS:
            from ._datasets import load_dataset

            with without_warning():
                return load_dataset(place)
        return _of_tables(place)
    except ModelError as error:
        name = place.name if len(place.name) < 50 else f"...{place.name[-40:]}"
        text = str(error)
        raise ModelError(text if name in text else f"file {name!r}: {text}") from None


def _of_tables(place: Path) -> object:
    """Object of a file of text."""
    kind = _TABLES.get(place.suffix)
    if kind is None:
        hint = did_you_mean(place.suffix, [*_TABLES, *_DATASETS])
        if place.suffix in _OTHERS:
            hint = f"; {_OTHERS[place.suffix]} reads such files"
        raise ModelError(
            f"path {shown_path(place)} has the ending {short_text(place.suffix)}, "
            f"expected .json, .yaml, .toml, .nc or .zarr{hint}"
        )
    content = read_file("file", place, MAX_TEXT if kind == "JSON" else _MAX_WRITTEN)
    tables = read_tables(content, kind, shown_path(place.name))
    if is_description(tables):
        if len(content) > _MAX_WRITTEN:
            raise ModelError(
                f"the description has {len(content)} bytes, expected at most "
                f"{_MAX_WRITTEN}"
            )
        return arm_of(tables)
    with without_warning():  # a copy does not warn again
        return object_of(tables, place)
