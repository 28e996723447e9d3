"""A point that slides along the centre line of a flexible body."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from .._calls.arm_like import ArmLike
from .._calls.declared import Kept, Kind
from .._calls.doors import checked_record
from .._core import LOOP_COLUMNS
from .._support.arrays import Array, is_whole
from .._support.checks import as_array, model_rotation, short_text, unturned
from .._support.description import Description
from ..errors import ModelError
from .ends import check_name, read_directions, read_end, word_of

# Nodes of a line at most, as many as C takes.
MAX_NODES = LOOP_COLUMNS["nodes"].stop - LOOP_COLUMNS["nodes"].start
_DIRECTIONS = ("rx", "y", "z")
# Distance of a node from a straight line, as part of its length: rounding.
_LINE_TOLERANCE = 1e-9


@checked_record("{field} of the slider")
@dataclass(frozen=True, eq=False)
class Slider(Description):
    """Point that slides along the centre line of a flexible link: a pad, a trolley.

    Two of them make a telescope: the inner end of one boom on the line of the other,
    and the mouth of this one on the line of the first.  A point of the ground is a
    support.

    Parameters
    ----------
    point : (str, str or int) or "ground"
        Body and node that slide.
    line : str or int
        Flexible body along whose line they slide, in one piece.
    position, rotation : (3,), (3, 3) array_like of float
        Point and its axes in the frame of its node, or in the base, in m.
    ends : (str, str)
        Nodes of `line` between which the point may slide, on a straight line, which
        gives the axis x of the constraint.
    directions : sequence of str
        What is locked: directions across the line ``"y"`` and ``"z"``, in the axes of
        the first end, of which a plane motion needs one, and ``"rx"``, the turn about
        the line: the axes of the point twist with the section there.
    name : str, optional
        Name in `Arm.constraint_names`, by default ``"POINT-LINE"``.

    See Also
    --------
    Loop : connections at nodes.

    Notes
    -----
    The line is the cubic in space through neighbouring nodes, with their rotations as
    slopes: that of a beam of elements between them, with a continuous slope and
    curvatures that jump at nodes.  Velocities and constraint forces are continuous,
    forces of a fast point jump a little as it passes a node.  The force is normal to
    the line; there is no friction, and nothing holds the point along the line.  The
    place on the line is that with the x coordinate of the point in the axes of the
    first end; the equations are in ``csrc/kernels/dynamics/sliding.h``.

    A point beyond an end has no place: violations and accelerations are not finite
    there and raise `NotFiniteError`, which names the point, and simulations end.

    Under a load inside of its span the modes of a link converge with the third power of
    their number in bending, where six or more do, and with the first power in torsion;
    a link of elements with all its nodes as coordinates does without.

    Sliding joints between flexible bodies: A. A. Shabana, *Dynamics of Multibody
    Systems*, 2013, chapter 3; loads that move on a beam: L. Fryba, *Vibration of Solids
    and Structures under Moving Loads*, 1999.

    Examples
    --------
    A trolley of 1 kg, at rest on a cantilever of 2 m:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> beam = fa.beams.flexible_link(
    ...     "beam", length=2.0, mass_per_length=1.0, bending_stiffness=1e3,
    ...     motions="bending z", joint=fa.Joint.fixed(), n_modes=8,
    ... )
    >>> trolley = fa.RigidBody(
    ...     "trolley", fa.Joint.screw(np.eye(6)[:, [3, 5]], parent="ground"),
    ...     mass=1.0,
    ... )
    >>> arm = fa.Arm([beam, trolley], constraints=[
    ...     fa.Slider(("trolley", "base"), "beam", directions="z")
    ... ])
    >>> arm.constraint_names
    ('trolley-beam.z',)
    """

    point: Any
    line: Annotated[str | int, Kind()]
    position: Annotated[Any, Kept(as_array, (3,))] = (0.0, 0.0, 0.0)
    rotation: Annotated[Any, Kept(model_rotation)] = field(default_factory=unturned)
    ends: Annotated[Sequence[str | int | float], Kind()] = ("base", "tip")
    directions: Annotated[str | Collection[str], Kept(read_directions, _DIRECTIONS)] = (
        "y",
        "z",
    )
    name: str = ""

    def __post_init__(self) -> None:
        self._set(point=read_end("point of the slider", self.point, True))
        if not isinstance(self.line, str) and not is_whole(self.line):
            raise ModelError(
                f"line of the slider is {short_text(self.line)}, expected the name or "
                "number of a flexible body"
            )
        ends = self.ends
        if not isinstance(ends, list | tuple) or len(ends) != 2:
            raise ModelError(
                f"ends of the slider are {short_text(ends)}, expected two nodes of its "
                "line, such as ('base', 'tip')"
            )
        check_name("slider", self.name)
        self._set(
            ends=tuple(ends),
            name=self.name or f"{word_of(self.point)}-{word_of(self.line)}",
        )

    @property
    def locked(self) -> tuple[str, ...]:
        """Directions that are locked, in the axes of the line, rotation first."""
        return tuple(self.directions)


def line_of(arm: ArmLike, slider: Slider) -> tuple[list[int], Array]:
    """Nodes of the line of a slider among those of the arm, and its axes as columns."""
    first = arm.body_index(slider.line)
    body = arm.bodies[first]
    who = f"slider {slider.name!r}"
    if body.segment is not None and body.segment.count > 1:
        raise ModelError(
            f"{who} slides along {body.name!r}, a link of {body.segment.count} pieces, "
            "expected a link in one piece; leave segments out"
        )
    if not body.n_modes:
        raise ModelError(
            f"{who} slides along {body.name!r}, which is rigid, expected a flexible "
            "body; on a rigid one take Loop with directions='yz'"
        )
    start, end = (body.node_index(node) for node in slider.ends)
    at = np.asarray(body.node_position)
    along = at[end] - at[start]
    length = float(np.linalg.norm(along))
    if not length:
        raise ModelError(
            f"ends of {who} are the nodes {slider.ends} of {body.name!r} at the same "
            "place, expected the two ends of a line"
        )
    # nodes between the ends, one of several at the same place
    x = along / length
    s = (at - at[start]) @ x
    off = np.abs(at - at[start] - np.outer(s, x)).max(axis=1)
    between = (off <= _LINE_TOLERANCE * length) & (s > 0.0) & (s < length)
    order = [i for i in np.argsort(s, kind="stable") if between[i]]
    nodes = [start]
    for i in [*order, end]:
        if s[i] > s[nodes[-1]] + _LINE_TOLERANCE * length:
            nodes.append(int(i))
    nodes[-1] = end
    if len(nodes) > MAX_NODES:  # evenly, with both ends
        nodes = [
            nodes[i] for i in np.linspace(0, len(nodes) - 1, MAX_NODES).astype(int)
        ]
    return [arm.node(first, i) for i in nodes], _axes_along(x)


def _axes_along(x: Array) -> Array:
    """Axes of a line along x, those of the body turned by the smallest angle."""
    if x[0] < -0.5:  # half a turn about z first, which keeps y in the plane
        turned = _axes_along(x * [-1.0, -1.0, 1.0])
        return np.asarray(np.diag([-1.0, -1.0, 1.0]) @ turned)
    v = np.array([0.0, -x[2], x[1]])  # of (1, 0, 0) and x
    cross = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, 0.0], [-v[1], 0.0, 0.0]])
    return np.asarray(np.eye(3) + cross + cross @ cross / (1.0 + x[0]))
