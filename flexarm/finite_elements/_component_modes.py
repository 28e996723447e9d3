"""Modes of a mesh, and the flexible body made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Floats, Vector
from .._calls.doors import checked_class
from .._support.arrays import Array, Index
from .._support.checks import as_array, as_numbers, in_range, short_text, whole_number
from .._support.warn import warn_of_percent
from ..bodies.body import check_name
from ..bodies.integrals import RIGID_TOLERANCE
from ..bodies.joints import Joint
from ..bodies.models import FlexibleBody
from ..errors import ModelError
from .consistent import cross_rows, pair_sums
from .eigenproblems import (
    check_count,
    clamped_eigenmodes,
    fix_signs,
    free_eigenmodes,
    modal_compliance,
    stiffness_factor,
)

if TYPE_CHECKING:
    from .mesh import FiniteElementModel


AXES = ("x", "y", "z", "rx", "ry", "rz")


@checked_class
@dataclass(frozen=True, eq=False, repr=False)
class MeshModes:
    """Assumed modes of a mesh: shapes of all its degrees of freedom.

    Methods of `FiniteElementModel` return it.

    Attributes
    ----------
    mesh : FiniteElementModel
        The mesh.
    shapes : (n, m) ndarray
        Each column is a mode, a displacement of all n degrees of freedom.
    stiffness : (m, m) ndarray
        Modal stiffness, in N m by unit of the modes squared.
    names : tuple of str
        Names of the modes.
    attachment : int or None
        Node that no mode moves; None if the frame floats.
    interfaces : tuple of int
        Interfaces of Craig-Bampton modes.
    """

    mesh: FiniteElementModel
    shapes: Array
    stiffness: Array
    names: tuple[str, ...]
    attachment: int | None
    interfaces: tuple[int, ...]

    @property
    def n_modes(self) -> int:
        """Number of modes."""
        return int(self.shapes.shape[1])

    @property
    def mass(self) -> Array:
        """Modal mass, (m, m)."""
        mass = self.shapes.T @ (self.mesh.mass @ self.shapes)
        return np.asarray((mass + mass.T) / 2.0)

    @property
    def omega(self) -> Array:
        """Angular frequencies of the mesh in these modes, ascending, in rad/s."""
        return np.sqrt(1.0 / modal_compliance(self.mass, self.stiffness)[0])

    @property
    def frequency(self) -> Array:
        """Frequencies of the mesh in these modes, ascending, in Hz."""
        return self.omega / (2.0 * np.pi)

    def body(
        self,
        name: str,
        joint: Joint | None = None,
        *,
        nodes: Sequence[str | int] = (),
        damping_ratio: Annotated[ArrayLike, Floats("()", "(m,)")] = 0.0,
        origin: Vector | None = None,
    ) -> FlexibleBody:
        r"""Make a flexible body with these modes and the inertia of the whole mesh.

        Parameters
        ----------
        name : str
            Name, unique in the arm.
        joint : Joint, optional
            Connection to the parent; by default a revolute joint about z.
        nodes : sequence of str or int
            Additional nodes of the body, for drawings or as places of other bodies.
            Without interfaces the last of them is the tip.
        damping_ratio : float or (m,) array_like of float
            Damping ratios of the natural modes, in the order of their frequencies.
        origin : (3,) array_like of float, optional
            Origin of the frame of the body in the coordinates of the mesh, in m.  By
            default the attachment, without one the centre of mass.

        Returns
        -------
        body : FlexibleBody
            Body with modal integrals and massless nodes: the attachment, `nodes` and
            the interfaces.

        Raises
        ------
        ModelError
            If a node is not in the mesh, if modes contain a rigid motion or move no
            mass, or if there are more modes than a body may have.

        Notes
        -----
        The kinetic energy is that of `consistent_integrals`, where deflections turn
        with the body.  Elements with rotations represent this only up to the error
        of the mesh; the missing momentum is added as a translation, so that the
        momentum of the body is the rate of its first moment (``mp1`` equals ``E``), and
        gravity loads the modes as it loads the mesh, :math:`\Phi' M g`.  Solids need no
        correction.

        The rotation of a node without rotations is that of a rigid motion fitted to it
        and to its neighbours in the elements, by least squares.

        Examples
        --------
        >>> from flexarm import finite_elements as fe
        >>> mesh = fe.beam_mesh(
        ...     1.0, 8, mass_per_length=2.0, bending_stiffness=3.0, axial_stiffness=1e4,
        ...     torsional_stiffness=2.0, section_inertia=(0.01, 0, 0)
        ... )
        >>> modes = mesh.clamped_modes("0", 2)
        >>> link = modes.body("link", nodes=["4", "8"], damping_ratio=0.01)
        >>> link.n_modes, link.node_names
        (2, ('0', '4', '8'))
        """
        mesh = self.mesh
        name = check_name("body", name)
        # origin of the body
        where = mesh.centre_of_mass
        if origin is not None:
            where = as_array(f"origin of body {name!r}", origin, (3,))
        elif self.attachment is not None:
            where = mesh.coordinates[self.attachment]
        # nodes of the body: attachment, given nodes, interfaces
        ends = [] if self.attachment is None else [self.attachment]
        given = node_numbers(mesh, f"nodes of body {name!r}", nodes)
        inner = [j for j in given if j not in self.interfaces]
        listed = list(dict.fromkeys([*ends, *inner, *self.interfaces])) or [0]
        # inertia of the whole mesh, motion of the nodes in the modes
        integrals, _ = pair_sums(
            mesh.mass,
            mesh.coordinates - where,
            self.shapes,
            mesh.first_dof,
            mesh.node_turns,
            follow_centre=True,
        )
        motion = np.array([self._node_shapes(j) for j in listed])
        return FlexibleBody(
            name,
            Joint() if joint is None else joint,
            node_position=mesh.coordinates[listed] - where,
            node_mass=np.zeros(len(listed)),
            node_translation=motion[:, 0],
            node_rotation=motion[:, 1],
            stiffness=self.stiffness,
            damping=self._damping(name, damping_ratio),
            node_names=tuple(mesh.node_names[j] for j in listed),
            mode_names=self.names,
            integrals=replace(integrals, mp1=integrals.E),
        )

    def _node_shapes(self, node: int) -> Array:
        """Translation and rotation of a node in each mode, (2, 3, m)."""
        mesh = self.mesh
        first = int(mesh.first_dof[node])
        move = self.shapes[first : first + 3]
        if mesh.node_turns[node]:
            return np.stack([move, self.shapes[first + 3 : first + 6]])
        rows = mesh.stiffness[:, [first, first + 1, first + 2]].tocoo().row
        near = np.unique(np.searchsorted(mesh.first_dof, rows, side="right") - 1)
        points = mesh.coordinates[near]
        lever = cross_rows(points - points.mean(axis=0)).reshape(-1, 3)
        drift = self.shapes[mesh.first_dof[near][:, np.newaxis] + np.arange(3)]
        drift = (drift - drift.mean(axis=0)).reshape(-1, self.n_modes)
        return np.stack([move, np.linalg.lstsq(lever, drift, rcond=1e-9)[0]])

    def _damping(self, name: str, ratio: ArrayLike) -> Array:
        what = f"damping_ratio of body {name!r}"
        zeta = as_numbers(what, ratio)
        zeta = np.full(self.n_modes, zeta) if zeta.ndim == 0 else zeta
        zeta = in_range(what, as_array(what, zeta, (self.n_modes,)), "")
        if (zeta < 0.0).any():
            raise ModelError(f"{what} is {zeta.min():g}, expected zero or more")
        warn_of_percent(what, zeta)
        if not zeta.any():
            return np.zeros((self.n_modes, self.n_modes))
        compliance, vectors = modal_compliance(self.mass, self.stiffness)
        # unit stiffness: K V are the rows of the inverse
        dual = self.stiffness @ vectors
        return np.asarray(dual * (2.0 * zeta * np.sqrt(compliance)) @ dual.T)

    def __repr__(self) -> str:
        at = "in free space"
        if self.attachment is not None:
            at = f"clamped at node {self.mesh.node_names[self.attachment]!r}"
        if not self.n_modes:
            return f"<MeshModes: no modes {at}>"
        f = np.sqrt(np.diag(self.stiffness) / np.diag(self.mass)) / (2.0 * np.pi)
        return (
            f"<MeshModes: {self.n_modes} modes of {self.mesh.n_nodes} nodes {at}, "
            f"{f.min():.4g} to {f.max():.4g} Hz>"
        )


def node_numbers(mesh: FiniteElementModel, what: str, nodes: object) -> list[int]:
    """Numbers of nodes of a mesh, given as a list of names or numbers."""
    if isinstance(nodes, str) or not isinstance(nodes, Iterable):
        raise ModelError(f"{what} is {short_text(nodes)}, expected a list of nodes")
    return [mesh._place(node, f"{what}: ") for node in nodes]


def clamped_modes(
    mesh: FiniteElementModel, attachment: int, free: Index, n_modes: int
) -> MeshModes:
    """Normal modes of a clamped mesh; see `FiniteElementModel`."""
    n_modes = check_count(n_modes, len(free))
    K, M = (A[free][:, free] for A in (mesh.stiffness, mesh.mass))
    name = mesh.node_names[attachment]
    factor = stiffness_factor(K, f"clamped at node {name!r}")
    omega2, vectors = clamped_eigenmodes(K, M, factor, n_modes)
    shapes = np.zeros((mesh.n_dof, len(omega2)))
    shapes[free] = vectors
    return MeshModes(mesh, shapes, np.diag(omega2), _numbered(omega2), attachment, ())


def free_modes(mesh: FiniteElementModel, n_modes: int) -> MeshModes:
    """Elastic modes of a free mesh; see `FiniteElementModel`."""
    n_modes = check_count(n_modes, max(mesh.n_dof - 6, 0))
    rigid = mesh.rigid_motions(mesh.centre_of_mass)
    inertia = rigid.T @ (mesh.mass @ rigid)
    arms = np.sqrt(np.trace(inertia[:3, :3]) / (3.0 * mesh.total_mass))
    size = np.abs(mesh.stiffness) @ np.abs(rigid)
    held = np.abs(mesh.stiffness @ rigid).max(axis=0) / size.max(axis=0).clip(1e-300)
    if held.max() > RIGID_TOLERANCE:
        raise ModelError(
            "a rigid motion of the mesh has stiffness (ratio "
            f"{held.max():.1e}), expected none in free space; export the mesh "
            "without supports, or use clamped modes"
        )
    if not np.linalg.eigvalsh(inertia[:3, :3])[0] > 1e-12 * arms**2:
        raise ModelError(
            "the mesh has no moment of inertia about one axis, expected one about "
            "all of them; give its sections a rotary inertia"
        )
    rigid[:, :3] /= arms
    omega2, vectors = free_eigenmodes(mesh.stiffness, mesh.mass, rigid, n_modes)
    return MeshModes(mesh, vectors, np.diag(omega2), _numbered(omega2), None, ())


def _numbered(modes: Array) -> tuple[str, ...]:
    return tuple(f"mode {j + 1}" for j in range(len(modes)))


def craig_bampton(
    mesh: FiniteElementModel,
    attachment: int,
    interfaces: list[int],
    free: Index,
    n_modes: int,
    orthogonalize: bool,
) -> MeshModes:
    """Constraint modes and fixed-interface modes; see `FiniteElementModel`."""
    # interface and inner degrees of freedom
    first = mesh.first_dof[interfaces].astype(np.intp)
    held = (first[:, np.newaxis] + np.arange(6)).ravel()
    inner = np.setdiff1d(free, held)
    n_modes = whole_number("n_modes", n_modes)
    if len(inner):
        n_modes = check_count(n_modes, len(inner))
    rows = mesh.stiffness[inner]
    K, coupling = rows[:, inner], rows[:, held]
    M = mesh.mass[inner][:, inner]
    what = f"clamped at node {mesh.node_names[attachment]!r} and at its interfaces"
    factor = stiffness_factor(K, what) if len(inner) else None

    # static shapes of unit motions of the interfaces, then clamped modes
    n_held = len(held)
    shapes = np.zeros((mesh.n_dof, n_held))
    shapes[held] = np.eye(n_held)
    condensed = mesh.stiffness[held][:, held].toarray()
    omega2, vectors = np.zeros(0), np.zeros((len(inner), 0))
    if factor is not None:
        if n_held:
            shapes[inner] = -factor.solve(coupling.toarray())
            condensed = condensed + coupling.T @ shapes[inner]
        omega2, vectors = clamped_eigenmodes(K, M, factor, n_modes)
    elif n_modes:
        raise ModelError(
            f"n_modes is {short_text(n_modes)}, but the mesh has no nodes besides the "
            "interfaces, expected 0"
        )
    normal = np.zeros((mesh.n_dof, len(omega2)))
    normal[inner] = vectors

    # stiffness and names of all modes
    stiffness = np.zeros((n_held + len(omega2),) * 2)
    stiffness[:n_held, :n_held] = (condensed + condensed.T) / 2.0
    stiffness[n_held:, n_held:] = np.diag(omega2)
    names = [f"{mesh.node_names[j]} {axis}" for j in interfaces for axis in AXES]
    names += [f"fixed {j + 1}" for j in range(len(omega2))]
    modes = MeshModes(
        mesh,
        np.hstack([shapes, normal]),
        stiffness,
        tuple(names),
        attachment,
        tuple(interfaces),
    )
    return _orthogonal(modes) if orthogonalize else modes


def _orthogonal(modes: MeshModes) -> MeshModes:
    """Return the natural modes in the space of given ones, with unit modal mass."""
    compliance, vectors = modal_compliance(modes.mass, modes.stiffness)
    if len(compliance) and not compliance[-1] > 1e-14 * compliance[0]:
        raise ModelError(
            "some Craig-Bampton modes move no mass, expected a mass for every motion "
            "of the interfaces; give the mesh rotary inertia there"
        )
    shapes = fix_signs(modes.shapes @ (vectors / np.sqrt(compliance)))
    names = _numbered(compliance)
    return replace(
        modes, shapes=shapes, stiffness=np.diag(1.0 / compliance), names=names
    )


def user_modes(
    mesh: FiniteElementModel,
    shapes: ArrayLike,
    attachment: int | None,
    names: tuple[str, ...],
) -> MeshModes:
    """Check shapes that a user gives; see `FiniteElementModel.modes`."""
    n = mesh.n_dof
    given = np.array(as_array("shapes of the modes", shapes, (n, None)))
    names = names or _numbered(given.T)
    if len(names) != given.shape[1]:
        raise ModelError(
            f"there are {given.shape[1]} modes and {len(names)} mode names, expected "
            "one name each"
        )
    if attachment is not None:
        clamped = given[mesh.dofs(attachment)]
        moved = np.abs(clamped).max(axis=0) / np.abs(given).max(axis=0).clip(1e-300)
        worst = int(np.argmax(moved)) if moved.size else -1
        if worst >= 0 and moved[worst] > 1e-9:
            raise ModelError(
                f"mode {names[worst]!r} moves the clamped node "
                f"{mesh.node_names[attachment]!r} by "
                f"{np.abs(clamped[:, worst]).max():.3g}, expected zero; subtract the "
                "rigid motion of that node, or leave the attachment out"
            )
        given[mesh.dofs(attachment)] = 0.0
    stiffness = given.T @ (mesh.stiffness @ given)
    # the stiffness of a rigid motion is rounding, of either sign
    size = np.abs(given).T @ (abs(mesh.stiffness) @ np.abs(given))
    stiffness[np.abs(stiffness) < 1e-15 * size] = 0.0
    return MeshModes(
        mesh, given, (stiffness + stiffness.T) / 2.0, names, attachment, ()
    )
