"""Rigid and flexible bodies: frozen dataclasses with checked fields.

Each body carries a frame fixed to its inboard attachment, a set of nodes (mass, centre
of mass, inertia, undeformed position) and, if it is flexible, mode shapes at these
nodes.  A rigid body has no modes.  All vectors of a body are in its own frame.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from .._calls.declared import Floats, Kept, Kind
from .._calls.doors import checked_record
from .._core import MAX_MODES
from .._support.arrays import Array, kind_of
from .._support.checks import (
    as_array,
    check_inertia,
    check_square,
    finite,
    inertia_matrix,
    short_text,
)
from .._support.printing import Sheet, Table
from ..errors import ModelError
from .basis import effective_masses, mode_table
from .body import Body, Segment, _fixed, check_name, unreduced_link
from .integrals import ModalIntegrals
from .joints import Joint, default_joint
from .maps import attachment_motion, modal_mass
from .profile import BeamProfile
from .unreduced import UnreducedLink


def _joint(what: str, value: object) -> Joint:
    if isinstance(value, Joint):
        return value
    such = ""
    if isinstance(value, str):
        such = f", such as flexarm.Joint({short_text(value)})"
    if value is Joint:
        such = ", an object of that class: flexarm.Joint()"
    raise ModelError(f"{what} is {kind_of(value)}, expected flexarm.Joint{such}")


def _name(what: str, value: object) -> str:
    return check_name("body", value)


Name = Annotated[str, Kept(_name)]
Mount = Annotated[Joint, Kept(_joint)]


@checked_record("{field} of body {name!r}")
@dataclass(frozen=True, eq=False)
class RigidBody(Body):
    """Body that does not deform.

    Parameters
    ----------
    name : str
        Name, unique in the arm.
    joint : Joint
        Connection to the parent.
    mass : float
        Mass in kg, zero or more.
    com : (3,) array_like of float
        Centre of mass in the frame of the body, in m.
    inertia : (3, 3), (3,) or (6,) array_like of float
        Inertia **about the centre of mass**, in kg m^2: a matrix, its diagonal, or
        (xx, xy, xz, yy, yz, zz).
    nodes : mapping of str to (3,) array_like of float
        Named points to which other bodies can be joined, in m.  A node ``"base"`` at
        the origin of the frame always exists and carries the mass.

    Raises
    ------
    ModelError
        If a number is not physical; the message says which.

    Examples
    --------
    A rod of 1 kg and 1 m that hangs on a hinge at one end:

    >>> import flexarm as fa
    >>> J = [0.0, 1 / 12, 1 / 12]
    >>> rod = fa.RigidBody("rod", mass=1.0, com=(0.5, 0, 0), inertia=J)
    >>> fa.mass_matrix(fa.Arm([rod]), [0.0])
    array([[0.3333]])
    """

    name: Name
    joint: Mount = field(default_factory=default_joint)
    mass: Annotated[float, Kept(finite)] = 0.0
    com: Annotated[Any, Kept(as_array, (3,))] = (0.0, 0.0, 0.0)
    inertia: Annotated[Any, Kept(inertia_matrix)] = (0.0, 0.0, 0.0)
    nodes: Any = ()

    def __post_init__(self) -> None:
        name = self.name
        # nodes, as a mapping or as pairs
        items = self.nodes.items() if isinstance(self.nodes, Mapping) else self.nodes
        try:
            pairs = [(key, value) for key, value in items]
        except (TypeError, ValueError):
            raise ModelError(
                f"nodes of body {name!r} are {short_text(self.nodes)}, expected a "
                "mapping of names to positions"
            ) from None
        nodes = []
        for key, value in pairs:
            check_name("node", key)
            where = as_array(f"node {key!r} of body {name!r}", value, (3,))
            nodes.append((key, tuple(float(x) for x in where)))
        keys = ["base", *(key for key, _ in nodes)]
        if len(set(keys)) != len(keys):
            raise ModelError(
                f"body {name!r} has two nodes of one name, expected unique names "
                "other than 'base'"
            )
        self._set(nodes=tuple(nodes))
        mass, com = self.mass, self.com
        with np.errstate(all="ignore"):  # what overflows is refused
            whole = self._about_origin()
            check_inertia(f"body {name!r}", mass, com, whole)
        if mass and com.any() and not whole.max() > 1e-300:
            raise ModelError(
                f"body {name!r} has a moment of inertia that underflows, with "
                f"{mass:g} kg {np.abs(com).max():g} m away, expected a larger one; "
                "com=(0, 0, 0) makes it a point in its frame"
            )

    def _sheet(self) -> Sheet:
        I = self.inertia

        def row(what: str, values: Iterable[float], unit: str) -> tuple[str, ...]:
            return (what, *(f"{x + 0.0:.6g}" for x in values), unit)

        rows = [
            ("", "x", "y", "z", "unit"),
            row("center of mass", self.com, "m"),
            row("inertia about it xx, yy, zz", np.diag(I), "kg m^2"),
        ]
        if np.any(I - np.diag(np.diag(I))):
            products = (I[0, 1], I[0, 2], I[1, 2])
            rows.append(row("products xy, xz, yz", products, "kg m^2"))
        rows += [row(f"node {key}", where, "m") for key, where in self.nodes]
        head = f"rigid body {self.name!r}: {self.joint.kind} joint, {self.mass:.4g} kg"
        return Sheet((head, Table(rows)))

    def _about_origin(self) -> Array:
        """Inertia about the origin of the frame."""
        c = self.com
        if not any(c.tolist()):
            return np.array(self.inertia)
        shift = self.mass * ((c @ c) * np.eye(3) - np.outer(c, c))
        return np.asarray(self.inertia + shift)

    @cached_property
    def node_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the nodes, ``"base"`` first."""
        return ("base", *(key for key, _ in self.nodes))

    @cached_property
    def node_mass(self) -> Array:  # type: ignore[override]
        """Mass of each node, in kg."""
        return _fixed(np.array([self.mass] + [0.0] * len(self.nodes)))

    @cached_property
    def node_com(self) -> Array:  # type: ignore[override]
        """Centre of mass of each node relative to the node, in m."""
        result = np.zeros((1 + len(self.nodes), 3))
        result[0] = self.com
        return _fixed(result)

    @cached_property
    def node_inertia(self) -> Array:  # type: ignore[override]
        """Inertia of each node about the node, in kg m^2."""
        result = np.zeros((1 + len(self.nodes), 3, 3))
        result[0] = self._about_origin()
        return _fixed(result)

    @cached_property
    def node_position(self) -> Array:  # type: ignore[override]
        """Position of each node, in m."""
        return _fixed(np.array([(0.0, 0.0, 0.0)] + [where for _, where in self.nodes]))

    @cached_property
    def node_translation(self) -> Array:  # type: ignore[override]
        """Mode shapes of a rigid body: none, (n_nodes, 3, 0)."""
        return _fixed(np.zeros((1 + len(self.nodes), 3, 0)))

    @cached_property
    def node_rotation(self) -> Array:  # type: ignore[override]
        """Mode slopes of a rigid body: none, (n_nodes, 3, 0)."""
        return _fixed(np.zeros((1 + len(self.nodes), 3, 0)))

    @cached_property
    def stiffness(self) -> Array:  # type: ignore[override]
        """Modal stiffness of a rigid body: none, (0, 0)."""
        return _fixed(np.zeros((0, 0)))

    @cached_property
    def damping(self) -> Array:  # type: ignore[override]
        """Modal damping of a rigid body: none, (0, 0)."""
        return _fixed(np.zeros((0, 0)))

    @cached_property
    def mode_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the modes: none."""
        return ()


@checked_record("{field} of body {name!r}")
@dataclass(frozen=True, eq=False)
class FlexibleBody(Body):
    """Body that deforms in a few assumed modes.

    Node ``j`` is at ``node_position[j] + node_translation[j] @ eta``, plus
    ``node_foreshortening[j] @ eta @ eta / 2``, and is turned by
    ``exp(node_rotation[j] @ eta)`` (or as a section, see Notes), in the frame of the
    body.  That frame is fixed to
    the inboard attachment (clamped modes) unless `attachment` names a node that the
    modes move: then it floats (free or pinned modes).

    Parameters
    ----------
    name : str
        Name, unique in the arm.
    joint : Joint
        Connection to the parent.
    node_position : (n, 3) array_like of float
        Undeformed positions ``l0``, in m.
    node_mass : (n,) array_like of float
        Masses, in kg.
    node_translation : (n, 3, m) array_like of float
        Mode shapes ``gamma``: translation of each node for a unit of each mode.
    node_rotation : (n, 3, m) array_like of float, optional
        Mode slopes ``lambda``: rotation vector of each node, in rad by unit of the
        modes; zero by default.
    stiffness : (m, m) or (m,) array_like of float
        Modal stiffness, in N m by unit of the modes squared; one axis means a diagonal.
    damping : (m, m) or (m,) array_like of float, optional
        Modal damping, in N m s by unit of the modes squared; zero by default.
    node_com : (n, 3) array_like of float, optional
        Centre of mass of each node relative to it, in the axes of the node, with which
        it turns.
    node_inertia : (n, 3, 3) array_like of float, optional
        Inertia of each node about the node, in kg m^2 in the axes of the node, with
        which it turns (see Notes).
    node_names, mode_names : sequence of str, optional
        Names; ``"0"``, ``"1"``, ... by default.  ``"tip"`` means the last node unless
        a node has that name.
    attachment : str or int, optional
        Node by which the joint holds the body.  The joint moves that node, with axes
        parallel to the frame of the body when it is not deformed; frame and other nodes
        follow by the exact displacement of the node.  By default the joint holds the
        frame itself.
    integrals : ModalIntegrals, optional
        Modal integrals of the body, in place of sums over its nodes.  Only those nodes
        are needed that carry other bodies or are drawn; nodes with mass are rigid
        bodies in addition.
    node_foreshortening : (n, 3, m, m) array_like of float, optional
        Second derivatives ``kappa`` of the position of each node in the modes, in m by
        unit of the modes squared, symmetric and zero at the `attachment`.  A slender
        beam that bends draws its points towards the root, and a fast rotation stiffens
        it (geometric stiffening); `flexarm.beams.flexible_link` computes it.
    beam : BeamProfile, optional
        Cuts across the beam, for `flexarm.link_loads` and, of a straight beam with
        `node_foreshortening`, for strain energy and rotations to third order; links of
        `flexarm.beams` have it.
    section_nodes : sequence of str or int, optional
        Nodes that are sections of a beam, with small inertia and `node_com` zero, kept
        as numbers; see Notes.
    segment : Segment, optional
        Place of the body in a link of several pieces; `beams.SegmentedLink` sets it.

    Notes
    -----
    Reference conditions define the frame of a deformed body: for a clamped beam the
    tangent at the root; for a pinned one the chord, with ``attachment="base"`` and
    modes that turn but do not move that node; for a free one the undeformed body with
    no node at rest.  Modes must not contain a motion of the rigid body, which the joint
    has already.

    A node with inertia or an offset mass that the modes turn is a rigid body in the
    arm, exactly like a `RigidBody` on a fixed joint at the node: its weight, its
    centrifugal and gyroscopic forces and moments are those of any deflection.  Each
    costs about as much time as a rigid body without a joint.  No such body is needed
    for a point mass, nor for a node that turns about one axis of revolution of its
    inertia, as a thin disc in the plane.  The inertia of `section_nodes`, of which a
    beam has many, is a part of that of the body to second order in the modes, so that
    the equations of motion are right to first order.  A truncated inertia is not
    positive for large rotations of nodes that carry most of the inertia; do not use it
    for payloads.  An arm of fidelity "ruthless" has all inertia in its bodies, those of
    the undeformed arm.

    Nodes, and the bodies that they carry, follow their quadratic positions exactly.  In
    the kinetic energy of the body itself a uniform shift and stretch with the same
    moments of mass replaces them: its equations of motion are correct to first order in
    the modes, and keep that energy exactly.  Of a straight `beam` with foreshortening,
    in full fidelity, deflections across it are linear in the modes, and slopes the
    sines of the angles of the sections: nodes turn by ``phi(node_rotation[j] @ eta)``,
    in the plane the arcsine, and the strain energy is that of the curvature,
    ``v'' / cos`` of the angle, both to third order and more.  A `beam` that does not
    fit the rotations of the nodes is ignored in this, as in bodies made by hand.

    Given `integrals` have the terms of foreshortening in ``driven``.  Forces and
    Jacobians of a ruthless arm ignore them.

    Examples
    --------
    A point of 2 kg on a rod of 1 m with a sideways stiffness of 8 N/m:

    >>> import flexarm as fa
    >>> body = fa.FlexibleBody(
    ...     "rod",
    ...     node_mass=[2.0],
    ...     node_position=[[1.0, 0.0, 0.0]],
    ...     node_translation=[[[0.0], [1.0], [0.0]]],
    ...     stiffness=[[8.0]],
    ... )
    >>> body.frequencies() * 6.2832
    array([2.])
    """

    name: Name
    joint: Mount = field(default_factory=default_joint)
    node_position: Annotated[Any, Floats()] = ()
    node_mass: Annotated[Any, Floats()] = ()
    node_translation: Annotated[Any, Floats()] = ()
    node_rotation: Annotated[Any, Floats()] = None
    stiffness: Annotated[Any, Floats()] = ()
    damping: Annotated[Any, Floats()] = None
    node_com: Annotated[Any, Floats()] = None
    node_inertia: Annotated[Any, Floats()] = None
    node_names: Annotated[tuple[str, ...], Kind()] = ()
    mode_names: Annotated[tuple[str, ...], Kind()] = ()
    attachment: str | int | None = None
    integrals: ModalIntegrals | None = None
    node_foreshortening: Annotated[Any, Floats()] = None
    beam: BeamProfile | None = None
    section_nodes: Any = ()
    segment: Segment | None = None

    def __post_init__(self) -> None:
        name = self.name
        who = f"of body {name!r}"
        # numbers of nodes and modes
        position = as_array(f"node_position {who}", self.node_position, (None, 3))
        n = len(position)
        if n == 0:
            raise ModelError(f"body {name!r} has no nodes, expected at least one")
        gamma = as_array(f"node_translation {who}", self.node_translation, (n, 3, None))
        m = gamma.shape[2]
        if m > MAX_MODES:
            raise ModelError(
                f"body {name!r} has {m} modes, expected at most {MAX_MODES}; leave out "
                "the highest ones"
            )

        # shapes of all arrays; by default they are zero
        def given(what: str, value: object, shape: tuple[int, ...]) -> Array:
            if value is None:
                return as_array(what, np.zeros(shape), shape)
            return as_array(f"{what} {who}", value, shape)

        self._set(
            node_position=position,
            node_mass=as_array(f"node_mass {who}", self.node_mass, (n,)),
            node_translation=gamma,
            node_rotation=given("node_rotation", self.node_rotation, (n, 3, m)),
            node_com=given("node_com", self.node_com, (n, 3)),
            node_inertia=given("node_inertia", self.node_inertia, (n, 3, 3)),
            stiffness=check_square(f"stiffness {who}", self.stiffness, m),
            damping=check_square(f"damping {who}", self.damping, m),
            node_names=self._names("node", self.node_names, n),
            mode_names=self._names("mode", self.mode_names, m),
        )
        # combinations
        self._check_nodes()
        if self.attachment is not None:
            self._set(attachment=self.node_names[self.node_index(self.attachment)])
        self._set(section_nodes=self._sections())
        if self.integrals is not None:
            self._check_integrals(self.integrals)
        if self.beam is not None:
            self.beam.check(f"body {name!r}", n, m)
        if self.node_foreshortening is not None:
            self._set(node_foreshortening=self._foreshortening())
        if m:
            values = np.linalg.eigvalsh(self._modal_mass)
            if not values[0] > 1e-14 * max(values[-1], 0.0):
                values, vectors = np.linalg.eigh(self._modal_mass)
                worst = self.mode_names[int(np.argmax(np.abs(vectors[:, 0])))]
                raise ModelError(
                    f"body {name!r} has a non-positive modal mass ({values[0]:.3g}, "
                    f"mostly mode {worst!r}), expected independent modes that move mass"
                )
            if self.attachment is not None:
                self._check_rigid_modes()

    def _check_rigid_modes(self) -> None:
        """Raise for modes that move attachment and masses together as a rigid body.

        With the node at rest such modes leave all masses at rest: D_f of the body alone
        (patent, eq. 63) is singular.  Its mass matrix on (etad; omega; v) may be
        singular for valid reasons: point masses on a line, a massless spring.
        """
        n, rest = self.n_modes, np.zeros(self.n_modes)
        free = np.vstack([np.eye(n), -attachment_motion(self, rest)[2]])
        D_f = free.T @ modal_mass(self, rest) @ free
        # only rounding is left of rigid modes; then the same for combinations
        left = np.diag(D_f) / np.diag(self._modal_mass)
        worst, rigid = int(np.argmin(left)), not left.min() > 1e-13
        if not rigid:
            scale = 1.0 / np.sqrt(np.diag(D_f))
            values, vectors = np.linalg.eigh(scale[:, None] * D_f * scale)
            worst, rigid = int(np.argmax(np.abs(vectors[:, 0]))), values[0] < 1e-12
        if rigid:
            raise ModelError(
                f"body {self.name!r} has rigid-body modes left in its basis (mostly "
                f"mode {self.mode_names[worst]!r}), expected modes that deform it, as "
                f"the joint at its attachment {self.attachment!r} does the rest"
            )

    @cached_property
    def mass(self) -> float:  # type: ignore[override]
        """Mass of all nodes and of the modal integrals, if they are given, in kg.

        Examples
        --------
        >>> from flexarm.beams import Beam, Section
        >>> tube = Beam(Section.tube(0.04, 0.002), length=1.0, material="steel")
        >>> print(f"{tube.elements('boom').mass:.3f} kg")
        1.874 kg
        """
        given = 0.0 if self.integrals is None else self.integrals.m
        return given + float(self.node_mass.sum())

    @cached_property
    def unreduced(self) -> UnreducedLink | None:  # type: ignore[override]
        """Link without reduction to modes, None if it is not known.

        Links of `flexarm.beams` have it, unless their stiffness or mass was replaced.
        """
        return unreduced_link(self)

    def effective_masses(self) -> Array:
        """Effective mass of each mode along x, y and z, (n_modes, 3), in kg.

        ``E_r^2 / G_rr`` with the modal integrals E and G: the mass that acts on a frame
        that shakes.  For all natural modes of a body they add up to the moving mass.
        """
        return effective_masses(self)

    def summary(self) -> str:
        """Table of the modes, as `print` shows it.

        Returns
        -------
        table : str
            For each mode its name, frequency (frame at rest, other modes zero), modal
            mass, effective mass along x, y and z as a part of the mass of the body, and
            the node that a unit of it moves most, in modal units of m and rad.  The
            line "together" has the effective mass of all modes, coupled ones included.

        Examples
        --------
        >>> import flexarm as fa
        >>> print(fa.library.de_luca_siciliano().bodies[0])
        flexible body 'link1': 2 modes, ... nodes, 0.1 kg
        mode            Hz  modal mass  x %   y %  z %  a unit moves
        ...
        """
        return mode_table(self).text()

    def _sheet(self) -> Sheet:
        return mode_table(self)

    def _foreshortening(self) -> Array:
        """Second derivatives of the node positions, checked."""
        n, m, who = self.n_nodes, self.n_modes, f"body {self.name!r}"
        what = f"node_foreshortening of {who}"
        kappa = as_array(what, self.node_foreshortening, (n, 3, m, m))
        even = not np.count_nonzero(kappa != kappa.swapaxes(2, 3))
        off = 0.0 if even else float(np.abs(kappa - kappa.swapaxes(2, 3)).max())
        if off > 0.0 and off > 1e-9 * float(np.abs(kappa).max(initial=0.0)):
            raise ModelError(
                f"{what} is not symmetric in the modes, entries differ by {off:.3g}; "
                "expected second derivatives"
            )
        held = self.attachment_node
        if held is not None and kappa[held].any():
            raise ModelError(
                f"{what} is not zero at the attachment {self.attachment!r}, expected "
                "positions relative to that node; subtract its second derivatives"
            )
        if even:
            return kappa
        return as_array(what, (kappa + kappa.swapaxes(2, 3)) / 2.0, (n, 3, m, m))

    def _sections(self) -> tuple[int, ...]:
        """Numbers of the nodes that are sections of a beam, checked."""
        given, who = self.section_nodes, f"section_nodes of body {self.name!r}"
        if isinstance(given, str) or not isinstance(given, Collection):
            raise ModelError(
                f"{who} is {short_text(given)}, expected names or numbers of nodes"
            )
        inner = slice(1, 1 + len(given))
        plain = type(given) is tuple and set(map(type, given)) == {str}
        if plain and given == self.node_names[inner]:
            numbers = list(range(self.n_nodes)[inner])
        else:
            number = {name: j for j, name in enumerate(self.node_names)}
            numbers = [
                number[node]
                if type(node) is str and node in number
                else self.node_index(node)
                for node in given
            ]
        if np.count_nonzero(self.node_com[numbers]):
            beside = self.node_com.any(axis=1)
            j = next(j for j in numbers if beside[j])
            raise ModelError(
                f"{who} contain {self.node_names[j]!r}, whose mass is beside it; "
                "expected node_com zero, leave it out"
            )
        return tuple(numbers)

    def _check_integrals(self, integrals: object) -> None:
        who = f"body {self.name!r}"
        if not isinstance(integrals, ModalIntegrals):
            raise ModelError(
                f"integrals of {who} is {kind_of(integrals)}, expected "
                "flexarm.ModalIntegrals or None"
            )
        if integrals.n_modes != self.n_modes:
            raise ModelError(
                f"integrals of {who} are those of {integrals.n_modes} modes, its mode "
                f"shapes are {self.n_modes}; expected as many"
            )
        integrals.check(who, self.mode_names)

    def _names(self, kind: str, names: Collection[object], n: int) -> tuple[str, ...]:
        if type(names) is tuple and len(names) == n and set(map(type, names)) == {str}:
            several = set(names)
            if len(several) == n and "" not in several:
                return names
        fits = isinstance(names, Collection) and not isinstance(names, str | bytes)
        if not fits or not all(isinstance(x, str | int | np.integer) for x in names):
            raise ModelError(
                f"{kind}_names of body {self.name!r} are {short_text(names)}, expected "
                f"{n} names"
            )
        result = tuple(map(str, names)) if len(names) else tuple(map(str, range(n)))
        for name in result:
            check_name(kind, name)
        if len(result) != n or len(set(result)) != n:
            raise ModelError(
                f"body {self.name!r} has {n} {kind}s and {len(set(result))} different "
                f"{kind} names, expected one unique name each"
            )
        return result
