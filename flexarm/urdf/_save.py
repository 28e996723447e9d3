"""Arms as robot descriptions, and what these cannot say."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from .._calls.doors import checked
from .._support.checks import listed, short_text
from .._support.warn import warn
from .._support.writing import named
from ..arm import Arm
from ..bodies import GROUND
from ..errors import ModelError
from ._findings import UrdfWarning
from ._report import Report
from ._robot import OWN, Robot
from ._sidecar import ending_of, text_of
from ._visuals import Visual
from ._writer import Writer
from ._xml import tag


@checked
def save(
    arm: Arm,
    path: str | os.PathLike[str],
    *,
    sidecar: str | os.PathLike[str] | None = None,
    frames: bool = True,
    incomplete: bool = False,
    visuals: Robot | Report | Mapping[str, Sequence[Visual]] | None = None,
) -> Path:
    """Write an arm as a robot description (URDF) and a sidecar, which `load` reads.

    Parameters
    ----------
    arm : Arm
        The arm.
    path : path
        File to write, which ends in .urdf; one that is there is replaced.
    sidecar : path, optional
        File for what URDF cannot say; by default, if there is some, that of the same
        name with the ending .toml, or .json for links given by all of their numbers.
    frames : bool
        Write a link without mass on a fixed joint, ``"BODY.NODE"``, for each node of a
        rigid body, such as a tool; `load` makes a node of it again.
    incomplete : bool
        Write the rest, with a warning, of an arm that has what neither file can say:
        loops at nodes that are not there without `frames`, a link named ``"joints"``.
    visuals : Robot, Report or mapping of str to sequence of Visual, optional
        Shapes of links by their names, meshes by their addresses.  Those of the root of
        a `Robot` that is the ground in the arm become shapes of ``"ground"``.

    Returns
    -------
    path : pathlib.Path
        The file.

    Raises
    ------
    ModelError
        If the arm has what URDF and sidecar cannot say; the message names all of it.
        Nothing is written then.  Also if a link is held beside its frame.
    OSError
        If a file cannot be written.

    Warns
    -----
    UrdfWarning
        For what is left out, and for what other readers of the file understand
        otherwise: joints that URDF has not, limits that it demands.

    See Also
    --------
    load : the arm of such a file.

    Notes
    -----
    Numbers are written so that they are read bit by bit; rotations, as angles, are
    those of the arm to rounding.  An arm comes back with the same coordinates, bodies,
    nodes and model, to 1e-15.

    The file names its sidecar, ``<flexarm sidecar="NAME"/>``, so that `load` finds it
    beside the file.  The sidecar has flexible links, by their parameters where these
    give the same link and by all of their numbers otherwise; springs, drives, stops,
    smooth friction, one-sided limits and kinds of joints that URDF has not; gravity,
    fidelity, tip, order of the bodies, loops and couplings of the arm.  Armature is in
    the file: a transmission with the inertia of a rotor and without reduction.

    The root of the file is the link ``"ground"``.  The format demands limits of effort
    and velocity beside those of position: an arm that has none has zero there, which
    `load` takes for none.  A prismatic joint without limits has the lower one above the
    upper one, as simulators and `load` understand it.  A flexible link has the mass and
    inertia of the straight one in the file, for readers that do not know the sidecar.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import flexarm as fa
    >>> arm = fa.library.iiwa14()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = fa.urdf.load(fa.urdf.save(arm, Path(folder) / "iiwa.urdf"))
    >>> again.coordinate_names == arm.coordinate_names
    True
    """
    path = _path_for("path", path, ".urdf")
    written = Writer(arm, frames, _shapes(arm, visuals))
    parts = written.parts()
    if written.lost and not incomplete:
        raise ModelError(
            f"URDF and sidecar cannot say {listed(written.lost, str)} of the arm "
            f"{arm.name!r}; incomplete=True leaves that out"
        )
    if written.tables:
        beside = path.with_suffix(ending_of(written.tables))
        if sidecar is not None:
            beside = _path_for("sidecar", sidecar, *{beside.suffix, ".json"})
        content = text_of(written.tables, beside)
        with named(beside):
            beside.write_text(content, encoding="utf-8")
        if beside.parent == path.parent:
            parts.insert(0, tag(OWN, sidecar=beside.name))
        else:
            written.notes.append(
                f"the sidecar {beside.name!r} is in another folder than the file, "
                "which does not name it; give it to load"
            )
    robot = tag("robot", *parts, name=arm.name)
    with named(path):
        path.write_text(f'<?xml version="1.0"?>\n{robot}\n', encoding="utf-8")
    for what in written.lost:
        warn(f"not saved, as neither file can say it: {what}", UrdfWarning)
    for note in written.notes:
        warn(note, UrdfWarning)
    return path


def _shapes(
    arm: Arm, visuals: Robot | Report | Mapping[str, Sequence[Visual]] | None
) -> dict[str, Sequence[Visual]]:
    """Shapes by the names of links in the file."""
    if visuals is None:
        return {}
    robot = visuals.robot if isinstance(visuals, Report) else visuals
    if isinstance(robot, Robot):
        found: dict[str, Sequence[Visual]] = {**robot.visuals}
        root = robot.links[0].name
        if root not in [body.name for body in arm.bodies]:
            found[GROUND] = found.pop(root)
        return found
    if not all(isinstance(each, Visual) for some in robot.values() for each in some):
        raise ModelError(
            f"visuals is {short_text(visuals)}, expected the result of urdf.read, or "
            "urdf.Visual by the names of links"
        )
    return dict(robot)


def _path_for(what: str, path: str | os.PathLike[str], *endings: str) -> Path:
    result = Path(path)
    if result.suffix not in endings:
        raise ModelError(
            f"{what} ends in {result.suffix!r}, expected {' or '.join(sorted(endings))}"
        )
    return result
