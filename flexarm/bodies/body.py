"""Base class of rigid and flexible bodies, and the link from which one was reduced."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from .._calls.declared import Instance
from .._calls.doors import checked, checked_class
from .._support.arrays import Array, is_whole
from .._support.checks import (
    MAX_MAGNITUDE,
    MIN_MAGNITUDE,
    check_inertia,
    listed,
    possible_inertias,
    short_text,
)
from .._support.description import Description
from .._support.options import did_you_mean
from .._support.printing import Printed
from ..errors import ModelError
from .integrals import ModalIntegrals
from .joints import Joint
from .node_sums import NodeSums, sums_of_checked
from .profile import BeamProfile
from .strain_energy import StrainEnergy, strain_energy_of
from .unreduced import UnreducedLink

GROUND = "ground"

# Rounding of axes and inertias.
ROUNDING = 1e-12

# Bodies whose sums are kept, those that are alike but for what sums depend on, and
# numbers of a mesh above which none are kept.
_MAX_RECENT, _MAX_ALIKE, _MAX_KEPT_SIZE = 64, 4, 5000
# Nodes that are checked as fast one by one, at most.
_MAX_SINGLE = 3
# Distance of nodes from their line, as a share of its length, within which it is
# straight.
_LINE_TOLERANCE = 1e-6
# Relative difference of stiffness and mass, within which they are those of the link.
LINK_TOLERANCE = 1e-6

_Shapes = tuple["Array | None", ...]
_recent: dict[bytes, list[tuple[_Shapes, NodeSums]]] = {}


@dataclass(frozen=True)
class Segment(Description):
    """Place of a body in a link that is cut into pieces.

    Attributes
    ----------
    link : str
        Name of the link.
    number : int
        Number of the piece, from 0 on at the base.
    count : int
        Number of pieces of the link.
    """

    link: str
    number: int
    count: int

    @property
    def name(self) -> str:
        """Name of the piece among the bodies of an arm."""
        return f"{self.link}#{self.number + 1}" if self.number else self.link


@checked_class
class Body(Printed, Description):
    """Base class of rigid and flexible bodies, node by node."""

    name: str
    joint: Joint
    mass: float
    node_names: tuple[str, ...]
    node_mass: Array
    node_com: Array
    node_inertia: Array
    node_position: Array
    node_translation: Array
    node_rotation: Array
    stiffness: Array
    damping: Array
    mode_names: tuple[str, ...]
    attachment: str | int | None = None
    integrals: ModalIntegrals | None = None
    node_foreshortening: Array | None = None
    beam: BeamProfile | None = None
    section_nodes: tuple[int, ...] = ()
    unreduced: UnreducedLink | None = None
    segment: Segment | None = None

    @property
    def attachment_node(self) -> int | None:
        """Number of the node that the joint moves, None if it moves the frame."""
        return None if self.attachment is None else self.node_index(self.attachment)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.node_mass)

    @property
    def n_modes(self) -> int:
        """Number of modal coordinates."""
        return int(self.stiffness.shape[0])

    @cached_property
    def _kept(self) -> dict[object, Any]:
        """Results of modules of the model for the body, for all arms with it."""
        return {}

    def node_index(self, node: str | int | float) -> int:
        """Number of a node of this body, by name, number or distance along a beam."""
        if isinstance(node, str):
            if node in self.node_names:
                return self.node_names.index(node)
            if node == "tip":
                return self.n_nodes - 1
            raise ModelError(
                f"body {self.name!r} has no node {node!r}, expected one of "
                f"{listed(self.node_names, str)} or a number below {self.n_nodes}"
                f"{did_you_mean(node, self.node_names)}"
            )
        if isinstance(node, float | np.floating) and self.beam is not None:
            return self.beam.node_at(f"link {self.name!r}", node)
        if not is_whole(node):
            raise ModelError(
                f"node of body {self.name!r} is {short_text(node)}, expected its name "
                "or number"
            )
        index = int(node)
        if not -self.n_nodes <= index < self.n_nodes:
            raise ModelError(
                f"body {self.name!r} has no node {short_text(index)}, expected a "
                f"number below {self.n_nodes}"
            )
        return index % self.n_nodes

    def modal_mass(self) -> Array:
        """Modal mass matrix ``G`` (Jain and Rodriguez, C.1), (n_modes, n_modes)."""
        return np.array(self._modal_mass)

    @cached_property
    def _modal_mass(self) -> Array:
        n = self.n_modes
        lam, centre = self.node_rotation, self.node_translation
        about = self.node_inertia
        p, m = self.node_com, self.node_mass[:, np.newaxis, np.newaxis]
        if np.count_nonzero(p):
            # translation of the centre of mass of each node: gamma - p x lambda
            x, y, z = p.T[:, :, np.newaxis]
            a, b, c = lam[:, 0], lam[:, 1], lam[:, 2]
            across = np.stack([y * c - z * b, z * a - x * c, x * b - y * a], axis=1)
            centre = centre - across
            square = (p * p).sum(axis=1)[:, np.newaxis, np.newaxis] * np.eye(3)
            about = about - m * (square - p[:, :, np.newaxis] * p[:, np.newaxis, :])
        # sums over nodes and components, as matrix products
        moved, turned = (
            x.reshape(-1, n).T @ y.reshape(-1, n) if n else np.zeros((0, 0))
            for x, y in ((centre, m * centre), (lam, about @ lam))
        )
        given = 0.0 if self.integrals is None else self.integrals.G
        return _fixed(np.asarray(given + moved + turned))

    @cached_property
    def _rigid_nodes(self) -> tuple[int, ...]:
        """Numbers of the nodes that are rigid bodies of their own; see `turning`."""
        lam, J = self.node_rotation, self.node_inertia
        if self.integrals is not None:
            heavy = (self.node_mass != 0.0) | J.any(axis=(1, 2))
            return tuple(np.flatnonzero(heavy).tolist())
        moment = self.node_mass[:, np.newaxis] * self.node_com
        beside = np.asarray(moment.any(axis=1))
        turns = lam.any(axis=(1, 2))
        sections = set(self.section_nodes)
        return tuple(
            j
            for j in np.flatnonzero(turns).tolist()
            if beside[j] or (j not in sections and turning(lam[j], J[j]))
        )

    @property
    def _own_integrals(self) -> ModalIntegrals:
        """Integrals without the nodes that are rigid bodies, for all arms with it."""
        return self._own_sums.integrals if self.integrals is None else self.integrals

    @cached_property
    def _own_sums(self) -> NodeSums:
        """Sums without the nodes that are rigid bodies, for all arms with it."""
        return self._sums_without(self._rigid_nodes)

    def _sums_without(self, nodes: tuple[int, ...]) -> NodeSums:
        """Sums over all nodes but some."""
        m, p, J = self.node_mass, self.node_com, self.node_inertia
        if nodes:
            held = np.ones(self.n_nodes)
            held[list(nodes)] = 0.0
            m, p = held * m, held[:, np.newaxis] * p
            J = held[:, np.newaxis, np.newaxis] * J
        arrays = (
            m,
            p,
            J,
            self.node_position,
            self.node_rotation,
            self.node_translation,
            self.node_foreshortening,
        )
        if self.node_translation.size > _MAX_KEPT_SIZE:
            return NodeSums(*arrays)
        # bodies that differ in joints, stiffness or damping share them
        key = b"".join(x.tobytes() for x in arrays[:4])
        shapes = arrays[4:]
        for others, found in _recent.get(key, ()):
            if all(map(_same_bytes, others, shapes)):
                return found
        if len(_recent) >= _MAX_RECENT:
            _recent.clear()
        result = NodeSums(*arrays)
        _recent.setdefault(key, []).append((shapes, result))
        del _recent[key][:-_MAX_ALIKE]
        return result

    @cached_property
    def _whole_integrals(self) -> ModalIntegrals:
        """Integrals of the body with the nodes that are rigid bodies."""
        if self.integrals is None:
            return self._sums_without(()).integrals
        if not self._rigid_nodes:
            return self.integrals
        more = sums_of_checked(
            self.node_mass,
            self.node_com,
            self.node_inertia,
            self.node_position,
            self.node_rotation,
            self.node_translation,
            None,
        )
        return self.integrals.plus(more)

    @cached_property
    def slope_shapes(self) -> Array:
        """Slopes of the nodes for a unit of each mode, (nodes, components, n_modes).

        Rotations of the nodes without those about the line of a straight body.
        """
        return _fixed(slope_shapes(self))

    @cached_property
    def slope_sizes(self) -> Array:
        """Largest slope of a node for a unit of each mode, (n_modes,)."""
        shapes = self.slope_shapes
        if not shapes.size:
            return _fixed(np.zeros(self.n_modes))
        return _fixed(np.sqrt((shapes**2).sum(axis=1)).max(axis=0))

    @cached_property
    def _strain_energy(self) -> StrainEnergy | None:
        """Strain energy of a straight beam with foreshortening, else None."""
        if self.beam is None or self.node_foreshortening is None:
            return None
        return strain_energy_of(self.beam, self.node_rotation)

    def frequencies(self) -> Array:
        """Natural frequencies of the body with its frame at rest, in Hz, ascending."""
        return np.array(self._frequencies)

    @cached_property
    def _frequencies(self) -> Array:
        values = np.zeros(0)
        if self.n_modes:
            from scipy.linalg import eigh

            values = eigh(self.stiffness, self.modal_mass(), eigvals_only=True)
        return _fixed(np.sqrt(np.maximum(values, 0.0)) / (2.0 * np.pi))

    def _check_nodes(self) -> None:
        who = f"body {self.name!r}"
        m, p, J = self.node_mass, self.node_com, self.node_inertia
        # without a look at others those of principal axes at the node
        flat = J.reshape(-1, 9)
        own, size = flat[:, ::4], np.abs(m)
        largest = own.max(axis=1)
        odd = (own.min(axis=1) < 0.0) | (2.0 * largest > own.sum(axis=1))
        if np.count_nonzero(J) > np.count_nonzero(own):
            odd |= flat[:, [1, 2, 3, 5, 6, 7]].any(axis=1)
        if np.count_nonzero(p):
            odd |= p.any(axis=1)
        odd |= (
            ((m < MIN_MAGNITUDE) & (size > 0.0))
            | (m > MAX_MAGNITUDE)
            | (largest > MAX_MAGNITUDE)
        )
        rest = odd.nonzero()[0]
        if len(rest) > _MAX_SINGLE:
            rest = rest[~possible_inertias(m[rest], p[rest], J[rest])]
        for j in rest.tolist():
            check_inertia(
                f"node {self.node_names[j]!r} of {who}",
                float(self.node_mass[j]),
                self.node_com[j],
                self.node_inertia[j],
            )


def _same_bytes(a: Array | None, b: Array | None) -> bool:
    """Whether two arrays have the same entries, to the sign of zeros."""
    if a is None or b is None:
        return a is b
    return a is b or (a.shape == b.shape and a.tobytes() == b.tobytes())


def _fixed(array: Array) -> Array:
    """The array, which the body keeps, without write access."""
    array.flags.writeable = False
    return array


def turning(rotation: Array, inertia: Array) -> bool:
    """Whether modes change the inertia of a node by turning it.

    They do not if the node turns about one axis of revolution of its inertia, as a
    thin disc about z in the plane.

    Parameters
    ----------
    rotation : (3, n) ndarray
        Mode slopes of the node.
    inertia : (3, 3) ndarray
        Inertia of the node.
    """
    if not inertia.any() or not rotation.any():
        return False
    axes, size, _ = np.linalg.svd(rotation)
    if len(size) > 1 and size[1] > ROUNDING * size[0]:
        return True
    cross = np.cross(axes[:, 0], np.eye(3), axisb=0, axisc=0)
    change = cross @ inertia - inertia @ cross
    return bool(np.abs(change).max() > ROUNDING * np.abs(inertia).max())


def check_name(kind: str, name: object) -> str:
    """Return a name, or raise."""
    if not isinstance(name, str) or not name or (name == GROUND and kind == "body"):
        plain = name is None or isinstance(name, str | int | float)
        given = short_text(name) if plain else f"of type {type(name).__name__}"
        other = f" other than {GROUND!r}" if kind == "body" else ""
        raise ModelError(f"name of a {kind} is {given}, expected a word{other}")
    return name


def slope_shapes(body: Body) -> Array:
    """Rotations of the nodes of a body that are slopes, (n, c, m).

    The c components are those across the line of the nodes, since the twist of a
    straight link has no slope; all three where the nodes are not on a line.  Without
    rotations of the nodes they are those of the lines to them.  Nodes and components
    that do not turn are left out; a body of one place, as a hinge spring, has none.
    """
    position = np.asarray(body.node_position)
    turn: Array = np.asarray(body.node_rotation)
    held = body.attachment_node
    origin = np.zeros(3) if held is None else position[held]
    arms: Array = position - origin
    if not arms.any():
        return np.zeros((0, 0, turn.shape[-1]))
    if not turn.any():
        square = np.maximum((arms**2).sum(axis=-1), 1e-300)[:, np.newaxis, np.newaxis]
        turn = np.cross(arms[:, :, np.newaxis], body.node_translation, axis=1) / square
    # components across the line, if there is one
    _, size, axes = np.linalg.svd(arms, full_matrices=len(arms) < 3)
    size = np.append(size, [0.0, 0.0])
    if size[1] <= _LINE_TOLERANCE * size[0]:
        turn = axes[1:] @ turn
    largest = np.abs(turn).max(initial=0.0)
    small = np.abs(turn) <= 1e-12 * largest
    turn = turn[~small.all(axis=(1, 2))][:, ~small.all(axis=(0, 2))]
    turn.flags.writeable = False
    return np.asarray(turn)


def unreduced_link(body: Body) -> UnreducedLink | None:
    """Return the link before reduction, None if the body has no beam, or another."""
    beam = body.beam
    known = None if beam is None else beam.modal_stiffness
    if beam is None or beam.flexibility is None or known is None:
        return None
    E, p = beam.flexibility.shape[:2]
    if body.n_nodes != 1 + E * (p + 1) or not body.n_modes:
        return None
    mass, com, inertia = body.node_mass, body.node_com, body.node_inertia
    if body.integrals is not None:
        if beam.carried is None:
            return None
        rest, centre, turn = beam.carried
        if (
            abs(float(rest.sum()) - body.integrals.m)
            > LINK_TOLERANCE * body.integrals.m
        ):
            return None
        # a node has its mass itself or in the integrals
        mass, com, inertia = mass + rest, com + centre, inertia + turn
    if np.count_nonzero(known != body.stiffness):
        size = np.sqrt(np.outer(np.diag(known), np.diag(known)))
        if (np.abs(known - body.stiffness) > LINK_TOLERANCE * size).any():
            return None
    axes = beam.axes[:: len(beam.axes) // E]
    return UnreducedLink(
        body.node_position[:: p + 1],
        axes,
        beam.flexibility,
        beam.shear_centre,
        mass,
        com,
        inertia,
    )


@checked
def modal_integrals(
    body: Annotated[Body, Instance(Body, "RigidBody or FlexibleBody makes one")],
) -> ModalIntegrals:
    """Return the modal integrals of a body: its own, or sums over its nodes.

    Nodes that are rigid bodies in an arm (see `FlexibleBody`) are in them: exact for
    the undeformed body, and to the order of `nodal_integrals` for a deformed one.

    Parameters
    ----------
    body : RigidBody or FlexibleBody
        Body with n modes.

    Returns
    -------
    integrals : ModalIntegrals
        In SI and modal units.

    Raises
    ------
    ModelError
        If `body` is no body.

    See Also
    --------
    nodal_integrals : the same from arrays.

    References
    ----------
    .. [1] A. Jain, G. Rodriguez, US patent 5,546,508 (1996), appendix C.1.

    Examples
    --------
    The modal masses of the outer link of the arm of De Luca and Siciliano are 0.1 kg:

    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> print(fa.modal_integrals(arm.bodies[1]).G.diagonal().round(12))
    [0.1 0.1]
    """
    return body._whole_integrals
