"""Closed loops, sliders and couplings of joints: constraints on a tree of bodies."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from .._calls.arm_like import ArmLike
from .._calls.declared import Kept
from .._calls.doors import checked_record
from .._core import DIRECTIONS
from .._support.arrays import Array, kind_of
from .._support.checks import as_array, finite, model_rotation, short_text, unturned
from .._support.description import Description
from .._support.options import check_choice
from ..errors import ModelError
from .ends import check_name, read_directions, read_end, word_of
from .sliders import Slider, line_of
from .tree import Closure, End, Origin

_KINDS: dict[str, tuple[str, ...]] = {
    "fixed": DIRECTIONS,
    "revolute": ("rx", "ry", "x", "y", "z"),
    "prismatic": ("rx", "ry", "rz", "x", "y"),
    "cylindrical": ("rx", "ry", "x", "y"),
    "universal": ("rz", "x", "y", "z"),
    "planar": ("rx", "ry", "z"),
    "spherical": ("x", "y", "z"),
}


@checked_record("{field} of the loop")
@dataclass(frozen=True, eq=False)
class Loop(Description):
    """Connection of two nodes that closes a loop.

    Parameters
    ----------
    first : (str, str or int)
        Body and node that carry the first frame.
    second : (str, str or int) or "ground"
        Body and node that carry the second frame.
    kind : str, optional
        Kind of connection: ``"fixed"`` (default), ``"revolute"`` (about the z axes),
        ``"prismatic"``, ``"cylindrical"`` (along z), ``"universal"`` (y of the first
        remains perpendicular to x of the second), ``"planar"`` (moves along x and y,
        turns about z), ``"spherical"``.
    directions : sequence of str, optional
        In place of `kind`: locked directions, of ``"rx"``, ``"ry"``, ``"rz"``
        (rotations) and ``"x"``, ``"y"``, ``"z"`` (translations), in the axes of the
        first frame.
    position, rotation : (3,), (3, 3) array_like of float
        Frame on the first node: origin in m and orientation, in the frame of the node.
    position2, rotation2 : (3,), (3, 3) array_like of float
        Frame on the second node or in the base, origin in m.
    name : str, optional
        Name in `Arm.constraint_names`.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.Loop(("rod", "tip"), "ground", "revolute", position2=(1, 0, 0)).locked
    ('rx', 'ry', 'x', 'y', 'z')
    """

    first: Any
    second: Any = "ground"
    kind: str | None = None
    directions: (
        Annotated[str | Collection[str], Kept(read_directions, DIRECTIONS)] | None
    ) = None
    position: Annotated[Any, Kept(as_array, (3,))] = (0.0, 0.0, 0.0)
    rotation: Annotated[Any, Kept(model_rotation)] = field(default_factory=unturned)
    position2: Annotated[Any, Kept(as_array, (3,))] = (0.0, 0.0, 0.0)
    rotation2: Annotated[Any, Kept(model_rotation)] = field(default_factory=unturned)
    name: str = ""

    def __post_init__(self) -> None:
        # locked directions
        if self.kind is not None:
            check_choice("kind of the loop", self.kind, _KINDS, ModelError)
        if self.directions is not None and self.kind is not None:
            raise ModelError(
                f"the loop has the kind {self.kind!r} and directions, expected one of "
                "the two"
            )
        # ends
        for name in ("first", "second"):
            end = read_end(
                f"{name} end of the loop", getattr(self, name), name == "second"
            )
            self._set(**{name: end})
        check_name("loop", self.name)
        if not self.name:
            self._set(name="-".join(word_of(e) for e in (self.first, self.second)))

    @property
    def locked(self) -> tuple[str, ...]:
        """Directions that are locked, rotations first."""
        if self.directions is not None:
            return tuple(self.directions)
        return _KINDS[self.kind or "fixed"]


@checked_record("{field} of the coupling")
@dataclass(frozen=True, eq=False)
class Coupling(Description):
    """Linear relation of joint coordinates: gears, belts, differentials.

    Of two joints of one freedom, the one that is named first follows the other, and the
    arm has no coordinate for it, see ``couplings`` of `Arm`.

    Parameters
    ----------
    coefficients : mapping of str to float
        Coefficient of each joint or motor coordinate, by its name in
        `Arm.coordinate_names` without couplings, except of spherical, free or subspace
        joints.
    constant : float
        Sum of coefficients times coordinates.
    name : str, optional
        Name in `Arm.constraint_names`.

    Examples
    --------
    A second joint that turns back by half the angle of the first:

    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2)
    >>> geared = arm.replace(constraints=[fa.Coupling({"link2": 1.0, "link1": 0.5})])
    >>> geared.coordinate_names, geared.followers
    (('link1',), {'link2': ('link1', -0.5, 0.0)})
    """

    coefficients: Any
    constant: Annotated[float, Kept(finite)] = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.coefficients, Mapping | tuple) or not self.coefficients:
            raise ModelError(
                f"coefficients of the coupling are {short_text(self.coefficients)}, "
                "expected a mapping of coordinate names to numbers"
            )
        try:
            items = dict(self.coefficients).items()
            if not all(isinstance(key, str) for key, _ in items):
                raise TypeError
        except (TypeError, ValueError):
            raise ModelError(
                f"coefficients of the coupling are {short_text(self.coefficients)}, "
                "expected pairs of coordinate names and numbers"
            ) from None
        pairs = tuple(
            (key, float(as_array(f"coefficient of {short_text(key)}", value, ())))
            for key, value in items
        )
        if not any(value for _, value in pairs):
            raise ModelError(
                "coefficients of the coupling are all zero, expected at least one other"
            )
        check_name("coupling", self.name)
        name = self.name or "-".join(key for key, _ in pairs)
        self._set(coefficients=pairs, name=name)


def check_constraints(arm: ArmLike) -> None:
    """Raise for constraints that do not fit the arm, or with equal names."""
    names: list[str] = []
    for constraint in arm.constraints:
        if isinstance(constraint, Coupling):
            if constraint in arm._held:
                _coupling_row(arm, constraint)
        elif isinstance(constraint, Loop | Slider):
            _check_loop(arm, constraint)
        else:
            raise ModelError(
                f"a constraint of the arm is {kind_of(constraint)}, expected "
                "flexarm.Loop or flexarm.Coupling, or flexarm.Slider"
            )
        if constraint.name in names:
            raise ModelError(
                f"two constraints are named {constraint.name!r}, expected unique "
                "names; give one of them a name"
            )
        names.append(constraint.name)


def _path(arm: ArmLike, node: int) -> list[int]:
    """Bodies from one end of a loop to the ground."""
    path = [] if node < 0 else [arm._body_of_node(node)]
    while path and arm._parents[path[-1]] >= 0:
        path.append(arm._parents[path[-1]])
    return path


def _ends(arm: ArmLike, loop: Loop | Slider) -> list[int]:
    """Nodes of both ends, -1 the ground; of a slider the first one of its line."""
    if isinstance(loop, Slider):
        first, second = line_of(arm, loop)[0][0], loop.point
    else:
        first, second = arm.node(*loop.first), loop.second
    return [first, -1 if second == "ground" else arm.node(*second)]


def _check_loop(arm: ArmLike, loop: Loop | Slider) -> None:
    if arm.fidelity != "full":
        raise ModelError(
            f"{type(loop).__name__.lower()} {loop.name!r} closes an arm of "
            f"{arm.fidelity} fidelity, in which "
            "deformation does not move nodes exactly; take fidelity='full'"
        )
    first, second = (_path(arm, node) for node in _ends(arm, loop))
    common = set(first) & set(second)
    apart = [k for k in first + second if k not in common]
    moves = any(arm.bodies[k].joint.n_dof + arm.bodies[k].n_modes for k in apart)
    inside = [path[0] for path in (first, second) if path]
    bends = any(arm.bodies[k].n_modes for k in inside)
    if not moves and not bends:
        raise ModelError(
            f"nothing can move between the two ends of loop {loop.name!r}, expected a "
            "joint or a mode between them; leave the loop out"
        )


def _coupling_row(arm: ArmLike, coupling: Coupling) -> Array:
    """Coefficients of the velocities of joints and motors, then the constant."""
    joints = arm.motor_slice.stop  # and motors
    row = np.zeros(joints + 1)
    names = arm.coordinate_names[:joints]
    plain = [
        not body.joint.has_pose for body in arm.bodies for _ in range(body.joint.n_dof)
    ] + [True] * (joints - arm.nj)
    for key, value in coupling.coefficients:
        if key not in names or not plain[names.index(key)]:
            fitting = [n for n, fits in zip(names, plain, strict=True) if fits]
            raise ModelError(
                f"coupling {coupling.name!r} names the coordinate {key!r}, expected "
                f"one of {', '.join(map(repr, fitting)) or 'none: no joint has any'}"
            )
        row[names.index(key)] = value
    row[-1] = coupling.constant
    return row


def closures(arm: ArmLike) -> tuple[Closure, ...]:
    """Loops and sliders that forces hold, on links of bodies."""
    result = []
    for c in arm._held:
        if isinstance(c, Coupling):
            continue
        nodes: list[int] = []
        if isinstance(c, Slider):
            nodes, axes = line_of(arm, c)
            places = ((np.zeros(3), axes), (c.position, c.rotation))
        else:
            places = ((c.position, c.rotation), (c.position2, c.rotation2))
        ends = []
        for node, place in zip(_ends(arm, c), places, strict=True):
            k = arm._body_of_node(node) if node >= 0 else -1
            ends.append(
                End(Origin("body", k), node - arm._node_offset[k], *place)
                if k >= 0
                else End(None, -1, *place)
            )
        bits = sum(1 << DIRECTIONS.index(d) for d in c.locked)
        start = nodes[0] - ends[0].node if nodes else 0
        line = tuple(node - start for node in nodes)
        result.append(Closure(bits, (ends[0], ends[1]), line))
    return tuple(result)


def coupling_rows(arm: ArmLike) -> Array:
    """Couplings that forces hold as rows of the C model."""
    rows = [_coupling_row(arm, c) for c in arm._held if isinstance(c, Coupling)]
    return np.array(rows, dtype=np.float64).reshape(-1, arm.motor_slice.stop + 1)


def constraint_names(arm: ArmLike) -> tuple[str, ...]:
    """Name of each row: loop and direction, then the couplings."""
    loops = [c for c in arm._held if isinstance(c, Loop | Slider)]
    rows = [f"{loop.name}.{direction}" for loop in loops for direction in loop.locked]
    return (*rows, *(c.name for c in arm._held if isinstance(c, Coupling)))
