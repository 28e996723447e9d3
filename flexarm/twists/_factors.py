"""Block factors of the system Jacobian in the four forms, and their exact inverses.

Equation numbers are those of A. Mueller, Multibody System Dynamics 43 (2018); loops run
over the bodies only, leading axes are states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import any_of, real_array, refuse_followers
from .._calls.arm_like import ArmLike
from .._calls.declared import Choice, Positions, TwistForm
from .._calls.doors import checked, checked_class
from .._support.arrays import Array
from ..bodies.maps import cross_matrix
from ..bodies.maps import transpose as _t
from ..dynamics.operator_recursions import own_map, parent_map
from ..kinematics.forms import Columns, convert_columns, refuse_cut_models
from ..kinematics.nodes import link_poses


def body_slice(k: int) -> slice:
    """Rows of body number k in a system matrix."""
    return slice(6 * k, 6 * k + 6)


def depth_of(arm: ArmLike) -> int:
    """Number of bodies on the longest path from the ground."""
    depth: list[int] = []
    for p in arm._parents:
        depth.append(1 + (depth[p] if p >= 0 else 0))
    return max(depth)


@checked_class
@dataclass(frozen=True, eq=False, repr=False)
class SystemJacobian:
    r"""Factors of the Jacobian of all B bodies: read-only arrays, ``J = A @ X``.

    Attributes
    ----------
    arm : Arm
        The arm.
    q : (..., nq) ndarray
        Positions.
    form : {"body", "spatial", "hybrid", "mixed"}
        Form of the twists.
    D : (..., 6B, 6B) ndarray
        Map from the twist of each body to those of its children, :math:`\mathsf D^b`,
        :math:`\mathsf T^h` of (22) and (45): one block per body with a parent, at
        (body, parent).  Its power `depth` is zero.
    X : (..., 6B, nv) ndarray
        Twist of each body relative to its parent, per velocity of the arm.
    P : (..., 6B, 6B) ndarray
        Map from the form of the recursion to that of the result: the identity except
        for mixed twists, whose recursion is that of hybrid ones (53).
    A : (..., 6B, 6B) ndarray
        ``P (I - D)^-1``, by exact blocks: at (i, j) the map from the frame of j to that
        of i if j is i or inboard of it, else zero (24).
    """

    arm: ArmLike
    q: Array
    form: str
    D: Array
    X: Array
    P: Array
    A: Array

    def __repr__(self) -> str:
        states = " x ".join(map(str, self.q.shape[:-1])) or "one"
        sizes = "6B = {}, nv = {}".format(*self.X.shape[-2:])
        return (
            f"<SystemJacobian of {self.arm.name!r}, {self.form}: {sizes}, "
            f"states: {states}>"
        )

    @property
    def J(self) -> Array:
        """System Jacobian ``A X`` (..., 6B, nv): Jacobians of all bodies, stacked."""
        return self.A @ self.X

    @property
    def A_inverse(self) -> Array:
        """Inverse ``(I - D) P^-1`` of `A`, block by block; P is orthogonal."""
        return (np.eye(self.D.shape[-1]) - self.D) @ _t(self.P)

    @property
    def depth(self) -> int:
        """Number of bodies on the longest path from the ground: the index of `D`."""
        return depth_of(self.arm)

    def rows(self, body: str | int) -> slice:
        """Rows of a body, given by name or number.

        Parameters
        ----------
        body : str or int
            Its name or number.

        Returns
        -------
        place : slice
            Six rows.

        Raises
        ------
        ModelError
            If there is no such body.

        Examples
        --------
        The twist of one body out of the stacked ones:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> arm, q, qd = fa.library.puma560(), np.linspace(0.1, 0.6, 6), np.ones(6)
        >>> f = fa.twists.factors(arm, q)
        >>> twist = (f.A @ f.X @ qd)[f.rows("link4")]
        >>> np.allclose(twist, fa.link_jacobians(arm, q)[3] @ qd)
        True
        """
        return body_slice(self.arm.body_index(body))

    @checked
    def block(
        self,
        factor: Annotated[str, Choice("A", "A_inverse", "D", "P")],
        row: str | int,
        column: str | int,
    ) -> Array:
        """View of the 6 x 6 block of `A`, `D`, `P` or ``A_inverse`` at two bodies.

        Parameters
        ----------
        factor : {"A", "A_inverse", "D", "P"}
            Name of the matrix.
        row, column : str or int
            Bodies by name or number.

        Returns
        -------
        block : (..., 6, 6) ndarray of float
            View of the block.

        Raises
        ------
        ArgumentError
            If there is no such factor.
        ModelError
            If there is no such body.

        Examples
        --------
        Blocks below the diagonal map twists of a body to those of outboard bodies:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> f = fa.twists.factors(fa.library.planar_chain(2, length=1.0), [0.0, 0.0])
        >>> f.block("A", "link2", "link1")[3:, :3] + 0.0  # a turn about z moves in y
        array([[ 0.,  0.,  0.],
               [ 0.,  0.,  1.],
               [ 0., -1.,  0.]])
        """
        matrix: Array = getattr(self, factor)
        return matrix[..., self.rows(row), self.rows(column)]


class Factorization(NamedTuple):
    """One way to write a system Jacobian.

    Attributes
    ----------
    A : (..., 6B, 6B) ndarray
        Block lower triangle.
    X : (..., 6B, nv) ndarray
        Relative twists; ``A @ X`` is the system Jacobian.
    A_inverse : (..., 6B, 6B) ndarray
        Inverse of `A`, by exact blocks.
    """

    A: Array
    X: Array
    A_inverse: Array


class SpatialFactors(NamedTuple):
    """Three factorizations of the spatial system Jacobian (32)-(34).

    Attributes
    ----------
    reference : Factorization
        ``A^s Y`` with the screws of the reference configuration.
    body : Factorization
        ``A^sb X^b`` with body-fixed screws.
    hybrid : Factorization
        ``A^sh X^h`` with the same screws in base axes.
    """

    reference: Factorization
    body: Factorization
    hybrid: Factorization


def as_state(arm: ArmLike, q: ArrayLike) -> tuple[Array, Array]:
    """Return positions as an array, and the poses of all bodies; raise if invalid."""
    refuse_followers(arm, "factors of Jacobians")
    any_of(arm)
    positions = np.array(real_array("q", q))
    return positions, link_poses(arm, positions)


def relative_maps(arm: ArmLike, q: Array) -> tuple[Array, Array]:
    """D and X of body-fixed twists (22), with modes."""
    B = len(arm.bodies)
    D = np.zeros((*q.shape[:-1], 6 * B, 6 * B))
    X = np.zeros((*q.shape[:-1], 6 * B, arm.nv))
    for k, (body, p) in enumerate(zip(arm.bodies, arm._parents, strict=True)):
        rows, n = body_slice(k), body.n_modes
        H = own_map(arm, q, k)[..., n:]
        X[..., rows, arm.mode_slice(k)] = _t(H[..., :n, :])
        X[..., rows, arm.body_joint_slice(k)] = _t(H[..., n:, :])
        if p >= 0:
            carried = parent_map(arm, q, k)
            X[..., rows, arm.mode_slice(p)] = carried[..., :-6]
            D[..., rows, body_slice(p)] = carried[..., -6:]
    return D, X


def converted_blocks(poses: Array, blocks: Array, target: str) -> Array:
    """Convert rows of body-fixed twists (..., 6B, n) to another form."""
    shape = (*blocks.shape[:-2], poses.shape[-3], 6, blocks.shape[-1])
    each = blocks.reshape(shape)
    x = Columns(each[..., :3, :], each[..., 3:, :])
    found = np.concatenate(convert_columns(x, poses, "body", target), axis=-2)
    return found.reshape(blocks.shape)


def shifts(arm: ArmLike, poses: Array, form: str) -> Array:
    """D of hybrid and spatial twists: Ad of r_p - r_k (45), or the identity (30)."""
    B = len(arm.bodies)
    D = np.zeros((*poses.shape[:-3], 6 * B, 6 * B))
    for k, p in enumerate(arm._parents):
        if p >= 0:
            block = D[..., body_slice(k), body_slice(p)]
            block[...] = np.eye(6)
            if form == "hybrid":
                lever = poses[..., p, :3, 3] - poses[..., k, :3, 3]
                block[..., 3:, :3] = cross_matrix(lever)
    return D


def ancestors(arm: ArmLike, D: Array) -> Array:
    """``(I - D)^-1`` block by block, from base to tip (24), (25)."""
    result = np.zeros_like(D)
    for k, p in enumerate(arm._parents):
        rows = body_slice(k)
        if p >= 0:
            before = slice(0, 6 * p + 6)
            block = D[..., rows, body_slice(p)]
            result[..., rows, before] = block @ result[..., body_slice(p), before]
        result[..., rows, rows] += np.eye(6)
    return result


def diagonal(blocks: Array) -> Array:
    """Block diagonal matrix of blocks (..., B, 6, 6)."""
    B = blocks.shape[-3]
    result = np.zeros((*blocks.shape[:-3], 6 * B, 6 * B))
    for k in range(B):
        result[..., body_slice(k), body_slice(k)] = blocks[..., k, :, :]
    return result


def conversion_matrices(poses: Array, source: str, target: str) -> Array:
    """Matrices of Table 3, (..., 6, 6)."""
    unit = Columns(np.eye(6)[:3], np.eye(6)[3:])
    w, v = convert_columns(unit, poses, source, target)
    shape = (*poses.shape[:-2], 3, 6)
    parts = [np.broadcast_to(part, shape) for part in (w, v)]
    return np.concatenate(parts, axis=-2)


@checked
def factors(arm: ArmLike, q: Positions, form: TwistForm = "body") -> SystemJacobian:
    r"""Block factors ``J = A X`` of the Jacobian of all bodies in one of four forms.

    .. math:: \mathsf V = \mathsf A\mathsf X\dot q, \qquad
       \mathsf A = \mathsf P\,(\mathsf I - \mathsf D)^{-1}
       = \mathsf P\,(\mathsf I + \mathsf D + \mathsf D^2 + \ldots), \qquad
       \mathsf A^{-1} = (\mathsf I - \mathsf D)\,\mathsf P^{-1}

    Parameters
    ----------
    arm : Arm
        Tree of ``B`` bodies with ``nv`` coordinates, of full fidelity.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    form : {"body", "spatial", "hybrid", "mixed"}
        Form of the twists.

    Returns
    -------
    factors : SystemJacobian
        A, X, D, P, with the leading axes of `q`.

    Raises
    ------
    ArgumentError
        If the arm has modes and is not of full fidelity.

    See Also
    --------
    spatial_factors : the factorizations of the spatial form by other screws.
    flexarm.operators : factors with modes among the rows.

    Notes
    -----
    A. Mueller, Multibody System Dynamics 43 (2018), eqs. 22-25, 31, 43-45 and 53, for
    trees: blocks are at (body, parent) and (body, inboard body).

    X has more than joint screws.  Row i has the columns of the motion subspace of the
    joint of body i, transformed to the frame of the body; the modes of its parent, with
    the twist of the node that carries the joint; and, if the body floats, its own
    modes, with minus the twist of its attachment.  The modes of a parent are in the
    rows of all its children, so X is block diagonal for rigid arms only.

    Spatial twists have unit blocks in D and A, and X holds the current screws, (30).

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.puma560()
    >>> q = np.linspace(0.1, 0.6, 6)
    >>> f = fa.twists.factors(arm, q)
    >>> J = fa.link_jacobians(arm, q)  # (6, 6, 6): of each body
    >>> np.allclose(f.A @ f.X, J.reshape(36, 6))
    True
    >>> np.allclose(f.A_inverse @ f.A, np.eye(36))
    True
    >>> np.linalg.matrix_power(f.D, f.depth).any()
    np.False_
    """
    refuse_cut_models(arm, "factors")
    q, poses = as_state(arm, q)
    D, X = relative_maps(arm, q)
    P = np.broadcast_to(np.eye(D.shape[-1]), D.shape)
    if form != "body":
        recursion = "spatial" if form == "spatial" else "hybrid"
        D, X = shifts(arm, poses, recursion), converted_blocks(poses, X, recursion)
    A = ancestors(arm, D)
    if form == "mixed":
        P = diagonal(conversion_matrices(poses, "hybrid", "mixed"))
        A = P @ A
    for array in (q, D, X, A):
        array.flags.writeable = False
    return SystemJacobian(arm, q, form, D, X, P, A)


@checked
def spatial_factors(arm: ArmLike, q: Positions) -> SpatialFactors:
    r"""Spatial system Jacobian by screws at rest, body-fixed and in base axes.

    .. math:: \mathsf J^s = \mathsf A^s\mathsf Y = \mathsf A^{sb}\mathsf X^b
       = \mathsf A^{sh}\mathsf X^h

    Parameters
    ----------
    arm : Arm
        Tree of ``B`` bodies with ``nv`` coordinates, of full fidelity.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.

    Returns
    -------
    factors : SpatialFactors
        The three factorizations with the exact inverses of their triangles.

    Raises
    ------
    ArgumentError
        If the arm has modes and is not of full fidelity.

    See Also
    --------
    factors : unit blocks and current screws, ``V_i = V_p + X_i qd``.

    Notes
    -----
    A. Mueller, Multibody System Dynamics 43 (2018), eqs. 31-34.  All blocks of a column
    of these triangles are equal: Ad of the pose of the body, of its position, or of its
    pose times the inverse of that at ``arm.neutral``.

    ``Y = Ad(C(neutral)) X^b`` is constant if X^b is: for joints of one screw and for
    quaternion joints on rigid arms, not for joints with several screws and for columns
    of modes.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.twists._factors import spatial_factors
    >>> arm = fa.library.puma560()
    >>> both = spatial_factors(arm, [np.zeros(6), np.ones(6)])
    >>> at_rest, there = both.reference.X
    >>> np.allclose(at_rest, there)  # the screws of the product of exponentials
    True
    >>> np.allclose(both.reference.A_inverse @ both.reference.A, np.eye(36))
    True
    """
    refuse_cut_models(arm, "factors")
    q, poses = as_state(arm, q)
    _, X = relative_maps(arm, q)
    # triangle of unit blocks and its inverse
    D = shifts(arm, poses, "spatial")
    steps = np.eye(D.shape[-1]) - D
    sums = ancestors(arm, D)

    def by(to_spatial: Array, back: Array, screws: Array) -> Factorization:
        return Factorization(
            sums @ diagonal(to_spatial), screws, diagonal(back) @ steps
        )

    # maps between frames of bodies, at rest and now, and the base
    rest = link_poses(arm, arm.neutral)
    to_spatial = conversion_matrices(poses, "body", "spatial")
    back = conversion_matrices(poses, "spatial", "body")
    from_rest = conversion_matrices(rest, "spatial", "body")
    to_rest = conversion_matrices(rest, "body", "spatial")
    lever = conversion_matrices(poses, "hybrid", "spatial")
    return SpatialFactors(
        by(to_spatial @ from_rest, to_rest @ back, diagonal(to_rest) @ X),
        by(to_spatial, back, X),
        by(
            lever,
            conversion_matrices(poses, "spatial", "hybrid"),
            converted_blocks(poses, X, "hybrid"),
        ),
    )
