"""A finite-element mesh: nodes, mass and stiffness, and their modes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._calls.declared import Floats, Kept, Kind, Vector
from .._calls.doors import checked_record
from .._support.arrays import Array, Index, Mask, is_whole
from .._support.checks import as_array, as_numbers, check_inertia, flag, short_text
from ..bodies.body import check_name
from ..bodies.integrals import RIGID_TOLERANCE
from ..errors import ModelError
from ._component_modes import (
    MeshModes,
    clamped_modes,
    craig_bampton,
    free_modes,
    node_numbers,
    user_modes,
)
from .consistent import pair_sums, rigid_columns
from .eigenproblems import symmetric_matrix

Node = str | int


@checked_record("{field} of the mesh")
@dataclass(frozen=True, eq=False, repr=False)
class FiniteElementModel:
    """Mesh of finite elements, not supported anywhere: nodes, mass and stiffness.

    Parameters
    ----------
    coordinates : (N, 3) array_like of float
        Positions of the nodes, in m.
    mass, stiffness : (n, n) array_like of float, or sparse
        Matrices of all n degrees of freedom in the axes of the coordinates, in SI
        units.  Both symmetric and without negative eigenvalues; rigid motions have no
        stiffness.
    dofs_per_node : int or (N,) sequence of int
        6: three translations, then three rotations of each node, as beams and shells
        have them.  3: translations only, as solids have them.
    node_names : sequence of str, optional
        Names of the nodes; ``"0"``, ``"1"``, ... by default.
    check_definite : bool
        Raise for matrices with negative eigenvalues, by a sparse factorization of each;
        ``False`` saves its time for large meshes that are known to be valid.

    Attributes
    ----------
    first_dof : (N,) ndarray of int
        First degree of freedom of each node.
    node_turns : (N,) ndarray of bool
        Flags of nodes with rotations.
    total_mass : float
        Mass, in kg.
    centre_of_mass : (3,) ndarray
        Centre of mass, in m.

    Raises
    ------
    ModelError
        If shapes do not fit, if a matrix is not symmetric or is indefinite, or if the
        kinetic energy of a rigid motion is not that of a rigid body.

    Notes
    -----
    Matrices are stored sparse.  For up to 800 degrees of freedom, or for many modes,
    LAPACK computes the modes, otherwise ARPACK with a fixed start vector, so that they
    are reproducible.  Modes of equal frequency, as those of a round beam, have
    arbitrary directions.

    Examples
    --------
    A beam in free space, 22.373 sqrt(EI / rho A L^4):

    >>> from flexarm import finite_elements as fe
    >>> mesh = fe.beam_mesh(
    ...     1.0, 8, mass_per_length=2.0, bending_stiffness=(3.0, 5.0),
    ...     axial_stiffness=1e4, torsional_stiffness=2.0, section_inertia=(0.01, 0, 0)
    ... )
    >>> mesh
    <FiniteElementModel: 9 nodes, 54 degrees of freedom, 2 kg>
    >>> print(mesh.free_modes(2).omega.round(3))
    [27.404 35.378]
    """

    coordinates: Annotated[Any, Kept(as_array, (None, 3))]
    mass: Any
    stiffness: Any
    dofs_per_node: Any = 6
    node_names: Annotated[tuple[str, ...], Kind()] = ()
    check_definite: Annotated[bool, Kept(flag)] = True

    first_dof: Index = field(init=False)
    node_turns: Mask = field(init=False)
    total_mass: float = field(init=False)
    centre_of_mass: Array = field(init=False)

    def __post_init__(self) -> None:
        points = self.coordinates
        if len(points) == 0:
            raise ModelError("the mesh has no nodes, expected at least one")
        counts = self._counts(len(points))
        n = int(counts.sum())
        what = f"matrix of the mesh ({len(points)} nodes, {n} degrees of freedom)"
        self._set(
            dofs_per_node=counts,
            node_names=self._names(len(points)),
            first_dof=np.cumsum(counts) - counts,
            node_turns=counts == 6,
            mass=symmetric_matrix(f"mass {what}", self.mass, n, self.check_definite),
            stiffness=symmetric_matrix(
                f"stiffness {what}", self.stiffness, n, self.check_definite
            ),
        )
        self._check_rigid_motion()

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _counts(self, n: int) -> Index:
        given = as_numbers("dofs_per_node", self.dofs_per_node)
        if given.shape not in ((), (n,)) or not np.isin(given, (3, 6)).all():
            raise ModelError(
                f"dofs_per_node is {short_text(self.dofs_per_node)}, expected 3 "
                f"(translations), 6 (and rotations) or one of them for each of the "
                f"{n} nodes"
            )
        counts = np.broadcast_to(given, (n,)).astype(np.intp)
        counts.flags.writeable = False
        return counts

    def _names(self, n: int) -> tuple[str, ...]:
        given = self.node_names
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
            raise ModelError(
                f"node_names of the mesh is {short_text(given)}, expected a list of "
                "names"
            )
        names = tuple(map(str, given)) or tuple(map(str, range(n)))
        for name in names:
            check_name("node", name)
        if len(names) != n or len(set(names)) != n:
            raise ModelError(
                f"the mesh has {n} nodes and {len(set(names))} different node names, "
                "expected one unique name each"
            )
        return names

    def _check_rigid_motion(self) -> None:
        none = np.zeros((self.n_dof, 0))
        args = (self.coordinates, none, self.first_dof, self.node_turns)
        rigid, off = pair_sums(self.mass, *args)
        if not rigid.m > 0.0:
            raise ModelError("the mesh has no mass, expected a mass above zero")
        if off > RIGID_TOLERANCE:
            raise ModelError(
                "the mass matrix of the mesh gives a rigid translation a momentum that "
                f"is not that of one mass along it (off by {off:.1e}), expected a mesh "
                "in free space; check the order of the degrees of freedom"
            )
        check_inertia("the mesh", rigid.m, rigid.mp0 / rigid.m, rigid.J0)
        self._set(total_mass=rigid.m, centre_of_mass=rigid.mp0 / rigid.m)

    # nodes and degrees of freedom

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.coordinates)

    @property
    def n_dof(self) -> int:
        """Number of degrees of freedom."""
        return int(self.dofs_per_node.sum())

    def node_index(self, node: Node) -> int:
        """Number of a node of the mesh.

        Parameters
        ----------
        node : str or int
            Its name or number.

        Returns
        -------
        index : int
            From 0 on.

        Raises
        ------
        ModelError
            If there is no such node.

        Examples
        --------
        >>> from flexarm import finite_elements as fe
        >>> mesh = fe.beam_mesh(
        ...     1.0, 8, mass_per_length=2.0, bending_stiffness=3.0, axial_stiffness=1e4,
        ...     torsional_stiffness=2.0, section_inertia=(0.01, 0, 0)
        ... )
        >>> tip = mesh.node_index("8")
        >>> tip, mesh.coordinates[tip]  # in m
        (8, array([1., 0., 0.]))
        """
        return self._place(node)

    def _place(self, node: Node, what: str = "") -> int:
        if isinstance(node, str) and node in self.node_names:
            return self.node_names.index(node)
        number = is_whole(node)
        if number and -self.n_nodes <= int(node) < self.n_nodes:
            return int(node) % self.n_nodes
        raise ModelError(
            f"{what}node {short_text(node)} is not in the mesh, expected one of its "
            f"{self.n_nodes} "
            f"node names, {self.node_names[0]!r} to {self.node_names[-1]!r}, or a "
            "number below their count"
        )

    def dofs(self, node: Node) -> slice:
        """Degrees of freedom of a node: three translations, then rotations if any.

        Parameters
        ----------
        node : str or int
            Its name or number.

        Returns
        -------
        place : slice
            Rows of the mass and stiffness matrices.

        Raises
        ------
        ModelError
            If there is no such node.

        Examples
        --------
        Deflection of a cantilever of EI = 3 N m^2 under 1 N at its tip, L^3/(3 EI):

        >>> import numpy as np
        >>> from flexarm import finite_elements as fe
        >>> mesh = fe.beam_mesh(
        ...     1.0, 8, mass_per_length=2.0, bending_stiffness=3.0, axial_stiffness=1e4,
        ...     torsional_stiffness=2.0, section_inertia=(0.01, 0, 0)
        ... )
        >>> free = slice(mesh.dofs("0").stop, None)  # clamped at node 0
        >>> load = np.zeros(mesh.n_dof)
        >>> load[mesh.dofs("8")] = 0, 1, 0, 0, 0, 0
        >>> K = mesh.stiffness.toarray()[free, free]
        >>> moved = np.zeros(mesh.n_dof)
        >>> moved[free] = np.linalg.solve(K, load[free])
        >>> print(moved[mesh.dofs("8")][1].round(6))  # in m
        0.111111
        """
        index = self.node_index(node)
        first = int(self.first_dof[index])
        return slice(first, first + int(self.dofs_per_node[index]))

    def rigid_motions(self, point: Vector = (0.0, 0.0, 0.0)) -> Array:
        """Rigid motions about a point: three rotations, three translations, (n, 6).

        Parameters
        ----------
        point : (3,) array_like of float
            Centre of the rotations, in m.

        Returns
        -------
        motions : (n, 6) ndarray of float
            Displacements of all degrees of freedom in m and rad, for 1 rad or 1 m.

        Examples
        --------
        The mesh moves rigidly without stress, and weighs 2 kg in every direction:

        >>> from flexarm import finite_elements as fe
        >>> mesh = fe.beam_mesh(
        ...     1.0, 8, mass_per_length=2.0, bending_stiffness=3.0, axial_stiffness=1e4,
        ...     torsional_stiffness=2.0, section_inertia=(0.01, 0, 0)
        ... )
        >>> R = mesh.rigid_motions()
        >>> print((R.T @ mesh.mass @ R).diagonal().round(6))  # kg m^2 and kg
        [0.01     0.666667 0.666667 2.       2.       2.      ]
        """
        about = self.coordinates - as_array("point", point, (3,))
        return rigid_columns(about, self.first_dof, self.node_turns, self.n_dof)

    def with_rigid_patch(
        self, name: str, nodes: Iterable[Node], position: Vector = None
    ) -> FiniteElementModel:
        """Return a mesh in which some nodes move as one rigid piece with its own node.

        Solids have no rotations, so a flange or a bearing seat that carries another
        body is such a patch ("rigid spider", RBE2).  Its node may lie off the mesh.

        Parameters
        ----------
        name : str
            Name of the new node, which has six degrees of freedom and is the last.
        nodes : sequence of str or int
            Nodes of the patch, which the new node replaces.  Of nodes without rotations
            at least three, not on one line.
        position : (3,) array_like of float, optional
            Position of the new node, in m; by default the centre of the patch.

        Returns
        -------
        mesh : FiniteElementModel
            Mesh in which the new node has the stiffness and mass of the patch.

        Raises
        ------
        ModelError
            If a node is not in the mesh, or if the patch does not fix a rotation.

        Notes
        -----
        Numbers of nodes change, names do not.

        Examples
        --------
        A tool flange 0.1 m beyond the last node of a beam:

        >>> from flexarm import finite_elements as fe
        >>> mesh = fe.beam_mesh(
        ...     1.0, 3, mass_per_length=2.0, bending_stiffness=3.0, axial_stiffness=1e4,
        ...     torsional_stiffness=2.0, section_inertia=(0.01, 0, 0)
        ... )
        >>> mesh.with_rigid_patch("flange", ["3"], (1.1, 0, 0)).node_names
        ('0', '1', '2', 'flange')
        """
        check_name("node", name)
        patch = node_numbers(self, f"patch {name!r}", nodes)
        if len(set(patch)) != len(patch) or not patch:
            raise ModelError(
                f"patch {name!r} has {len(patch)} nodes, of which {len(set(patch))} "
                "differ; expected each node once, at least one"
            )
        points = self.coordinates[patch]
        where = points.mean(axis=0)
        if position is not None:
            where = as_array(f"position of patch {name!r}", position, (3,))
        spider = self.rigid_motions(where)[:, [3, 4, 5, 0, 1, 2]]
        own = np.isin(np.repeat(np.arange(self.n_nodes), self.dofs_per_node), patch)
        spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        flat = len(patch) < 3 or spread[1] < 1e-9 * spread[0]
        if flat and not self.node_turns[patch].any():
            raise ModelError(
                f"patch {name!r} has {len(patch)} nodes without rotations on one line, "
                "expected at least three that are not, so that they can turn with it"
            )
        kept = np.setdiff1d(np.arange(self.n_nodes), patch)
        keep = sparse.identity(self.n_dof, format="csc")[:, np.flatnonzero(~own)]
        T = sparse.hstack([keep, own[:, np.newaxis] * spider], format="csc")
        return FiniteElementModel(
            np.vstack([self.coordinates[kept], where]),
            T.T @ self.mass @ T,
            T.T @ self.stiffness @ T,
            np.append(self.dofs_per_node[kept], 6),
            (*(self.node_names[j] for j in kept), name),
            check_definite=False,  # T' K T is as definite as K
        )

    # modes

    def _clamp(self, attachment: Node) -> tuple[int, Index]:
        """Index of the clamped node and the degrees of freedom that it leaves free."""
        index = self._interface(attachment, "attachment: ")
        where = self.dofs(index)
        free = np.delete(np.arange(self.n_dof), np.r_[where])
        return index, free

    def _interface(self, node: Node, what: str = "") -> int:
        index = self._place(node, what)
        if not self.node_turns[index]:
            raise ModelError(
                f"node {self.node_names[index]!r} of the mesh has no rotations, so "
                "nothing can be clamped or joined to it; make it and its neighbours a "
                "patch by with_rigid_patch"
            )
        return index

    def clamped_modes(self, attachment: Node, n_modes: int) -> MeshModes:
        """Lowest normal modes of the mesh clamped at one node.

        Parameters
        ----------
        attachment : str or int
            Node at which the mesh is clamped and where the frame of the body will be.
        n_modes : int
            Number of modes.

        Returns
        -------
        modes : MeshModes
            Modes of unit modal mass, named ``"mode 1"``, ``"mode 2"``, ...

        Raises
        ------
        ModelError
            If the node is not in the mesh or has no rotations, if the mesh has loose
            parts, or if it has fewer modes.

        See Also
        --------
        craig_bampton : better for loads at other nodes.

        Examples
        --------
        The first frequency of a clamped beam is 3.516 sqrt(EI / rho A L^4):

        >>> from flexarm import finite_elements as fe
        >>> mesh = fe.beam_mesh(
        ...     1.0, 8, mass_per_length=2.0, bending_stiffness=(3.0, 5.0),
        ...     axial_stiffness=1e4, torsional_stiffness=2.0,
        ...     section_inertia=(0.01, 0, 0),
        ... )
        >>> print(mesh.clamped_modes("0", 2).omega.round(3))  # in rad/s
        [4.306 5.559]
        """
        return clamped_modes(self, *self._clamp(attachment), n_modes)

    def craig_bampton(
        self,
        attachment: Node,
        interfaces: Sequence[Node],
        n_modes: int,
        *,
        orthogonalize: bool = True,
    ) -> MeshModes:
        r"""Craig-Bampton modes of the mesh clamped at one node.

        Six constraint modes of each interface (its node moved by one unit, all other
        interfaces held) and the lowest normal modes with all interfaces held.  The
        static response to any load at the interfaces is that of the mesh.

        Parameters
        ----------
        attachment : str or int
            Node at which the mesh is clamped and where the frame of the body will be.
        interfaces : sequence of str or int
            Nodes that carry other bodies or loads.
        n_modes : int
            Number of normal modes with all interfaces held.
        orthogonalize : bool
            True: natural modes of unit modal mass that span the same motions.  False:
            the coordinates are the displacements of the interfaces and the amplitudes
            of the normal modes.

        Returns
        -------
        modes : MeshModes
            ``6 * len(interfaces) + n_modes`` modes, named ``"mode 1"``, ..., or
            ``"tip x"``, ..., ``"tip rz"`` and ``"fixed 1"``, ...

        Raises
        ------
        ModelError
            If a node is not in the mesh, has no rotations or is named twice, if the
            mesh has loose parts, or if it has fewer modes.

        References
        ----------
        .. [1] R. R. Craig, M. C. C. Bampton, "Coupling of substructures for dynamic
           analyses", AIAA Journal 6(7), 1968, 1313-1319.

        Examples
        --------
        One element has no inner nodes; its tip has the stiffness of the beam:

        >>> from flexarm import finite_elements as fe
        >>> mesh = fe.beam_mesh(
        ...     1.0, 1, mass_per_length=1.0, bending_stiffness=2.0, axial_stiffness=9.0,
        ...     torsional_stiffness=5.0, section_inertia=(0.1, 0, 0)
        ... )
        >>> modes = mesh.craig_bampton("0", ["1"], 0, orthogonalize=False)
        >>> modes.names
        ('1 x', '1 y', '1 z', '1 rx', '1 ry', '1 rz')
        >>> print(modes.stiffness.diagonal().round(9))
        [ 9. 24. 24.  5.  8.  8.]
        """
        index, free = self._clamp(attachment)
        others = [
            self._interface(node)
            for node in node_numbers(self, "interfaces", interfaces)
        ]
        orthogonalize = flag("orthogonalize", orthogonalize)
        if len({index, *others}) != 1 + len(others):
            names = [self.node_names[j] for j in (index, *others)]
            raise ModelError(
                f"attachment and interfaces are nodes {', '.join(map(repr, names))}, "
                "expected each node once"
            )
        return craig_bampton(self, index, others, free, n_modes, orthogonalize)

    def free_modes(self, n_modes: int) -> MeshModes:
        """Lowest elastic modes of the mesh in free space, without its rigid motions.

        Parameters
        ----------
        n_modes : int
            Number of modes without the six rigid ones.

        Returns
        -------
        modes : MeshModes
            Modes of unit modal mass without linear and angular momentum.  The frame of
            a body made of them is not fixed to any of its nodes.

        Raises
        ------
        ModelError
            If a rigid motion has stiffness, if the mesh has loose parts, or if it has
            fewer modes.
        """
        return free_modes(self, n_modes)

    def modes(
        self,
        shapes: Annotated[ArrayLike, Floats("(n, m)")],
        *,
        attachment: Node | None = None,
        names: Sequence[str] = (),
    ) -> MeshModes:
        """Return modes from given shapes of all degrees of freedom.

        Parameters
        ----------
        shapes : (n, m) array_like of float
            Each column is a mode, in m and rad; zero at the attachment.
        attachment : str or int, optional
            Node to which the frame of the body will be fixed; by default the frame
            floats, as with free modes.
        names : sequence of str, optional
            Names of the modes; ``"mode 1"``, ``"mode 2"``, ... by default.

        Returns
        -------
        modes : MeshModes
            Modes with the stiffness of the mesh in these shapes.

        Raises
        ------
        ModelError
            If the shape does not fit or if a mode moves the attachment.

        Examples
        --------
        The parabola of a constant moment, in y, with its slope:

        >>> import numpy as np
        >>> from flexarm import finite_elements as fe
        >>> mesh = fe.beam_mesh(
        ...     1.0, 8, mass_per_length=2.0, bending_stiffness=3.0, axial_stiffness=1e4,
        ...     torsional_stiffness=2.0, section_inertia=(0.01, 0, 0)
        ... )
        >>> x, shape = mesh.coordinates[:, 0], np.zeros((mesh.n_dof, 1))
        >>> for i in range(9):
        ...     shape[mesh.dofs(i), 0] = 0, x[i] ** 2, 0, 0, 0, 2 * x[i]
        >>> own = mesh.modes(shape, attachment="0", names=["parabola"])
        >>> own.names, own.stiffness.round(6)  # EI times 2 squared, over 1 m
        (('parabola',), array([[12.]]))
        """
        index = None if attachment is None else self._clamp(attachment)[0]
        if isinstance(names, str) or not isinstance(names, Sequence):
            raise ModelError(
                f"names of the modes is {short_text(names)}, expected a list of names"
            )
        return user_modes(self, shapes, index, tuple(names))

    def __repr__(self) -> str:
        return (
            f"<FiniteElementModel: {self.n_nodes} nodes, {self.n_dof} degrees of "
            f"freedom, {self.total_mass:.4g} kg>"
        )
