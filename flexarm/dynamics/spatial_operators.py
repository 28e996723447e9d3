r"""Spatial operators of Jain and Rodriguez as plain arrays, for one state or many.

Every dynamics algorithm of the package is a product of these, evaluated from body to
body; here they are full matrices for products, printing and comparison.  Equation
numbers are those of US patent 5,546,508 (1996); labels such as (K1) are those of
``csrc``.

* **Rows.** Body k has ``n_k + 6`` *maximal* rows (modes, angular 3, linear 3), in its
  own axes about its frame, and ``n_k + n_dof`` *minimal* ones (modes, joint);
  :math:`\bar N` and :math:`N` of all bodies together.
* **Order of the bodies.** As in ``arm.bodies``, base to tip; the patent counts from tip
  to base.  For a chain its matrices are these with the blocks in reverse order, and its
  block lower triangles are upper ones here: ``Phi(parent, child)`` is in the row of the
  parent, above the diagonal, once for each child.
* **Order of the coordinates.** Minimal rows are ordered by body, so that `D` is block
  diagonal and the factors are triangular.  The arm orders all joints first: row i is
  coordinate ``order[i]`` of the arm.  Mass matrices are in arm order.

Nodes that carry a child or, in a floating body, the joint turn by the exact rate of
their rotation (K3, F2): :math:`\Pi^d` is replaced by
:math:`\hat\Pi^d = (\Lambda;\, \gamma + l_d \times \Lambda)`, referred to the frame of
the body, and zero if the joint holds that frame.  Cost and storage are those of dense
matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .. import kinematics
from .._calls.arguments import (
    real_array,
    refuse_followers,
    refuse_geared,
    refuse_linear,
)
from .._calls.arm_like import ArmLike, Array
from .._calls.declared import Floats, Positions, Sequenced, Whole
from .._calls.doors import checked, checked_class
from .._support.arrays import Index
from .._support.options import check_choice
from ..bodies.maps import transpose as _t
from ..errors import ArgumentError
from .mass import body_order, body_rows
from .operator_recursions import (
    SplitQuantities,
    armature,
    articulated,
    inverse_blocks,
    local_operators,
    maximal_rows,
    pick_off,
    propagate,
    shaping,
    split_quantities,
)

_MINIMAL_ROWS = ("H", "D", "factor", "inverse_factor")
_MINIMAL_COLUMNS = ("G", "K", "D", "factor", "inverse_factor")
_OPERATORS = ("E_Phi", "Phi", "M_m", "R", "P", "P_plus", "tau_bar", "E_Psi", "Psi")
_NAMES = (*_OPERATORS, "Omega_psi", "G", "K", *_MINIMAL_ROWS)


@checked_class
@dataclass(frozen=True, eq=False, repr=False)
class SpatialOperators:
    r"""Spatial operators of an arm in given states; read-only arrays.

    Units are SI on the angular (kg m^2) and linear (kg) rows and those of the modes.

    Attributes
    ----------
    arm : Arm
        The arm.
    q : (..., nq) ndarray
        Positions.
    H : (..., N, Nbar) ndarray
        Joint map, ``V_m = Phi' H' qd``, blocks ``[[1, -Pi^d'], [0, S']]`` (eqs. 13,
        20).
    E_Phi, Phi : (..., Nbar, Nbar) ndarray
        Shift of forces from child to parent, and ``(I - E_Phi)^-1`` (eqs. 12, 18, 19).
    M_m, R, P : (..., Nbar, Nbar) ndarray
        Inertia of each body (eq. 23), with all outboard joints locked (composite, eq.
        47) and free (articulated, eq. 51); block diagonal.
    D : (..., N, N) ndarray
        Articulated inertia at the coordinates, ``H P H'`` and the armature of
        joints; block diagonal.
    G, K : (..., Nbar, N) ndarray
        Gain ``P H' D^-1``, block diagonal, and ``E_Phi G`` (eqs. 51, 52).
    tau_bar, Psi : (..., Nbar, Nbar) ndarray
        Projector ``I - G H`` and ``(I - E_Phi tau_bar)^-1`` (eqs. 51, 53).
    """

    arm: ArmLike
    q: Array
    H: Array
    E_Phi: Array
    Phi: Array
    M_m: Array
    R: Array
    P: Array
    D: Array
    G: Array
    K: Array
    tau_bar: Array
    Psi: Array

    def __repr__(self) -> str:
        states = " x ".join(map(str, self.q.shape[:-1])) or "one"
        sizes = "N = {}, Nbar = {}".format(*self.H.shape[-2:])
        return f"<SpatialOperators of {self.arm.name!r}: {sizes}, states: {states}>"

    # rows

    @property
    def order(self) -> Index:
        """Coordinate of the arm for each minimal row, (N,)."""
        return body_order(self.arm)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the minimal rows, body by body."""
        return tuple(self.arm.coordinate_names[i] for i in self.order)

    def rows(self, body: str | int) -> slice:
        """Maximal rows of a body (modes, angular, linear), given by name or number.

        Parameters
        ----------
        body : str or int
            Its name or number.

        Returns
        -------
        place : slice
            Maximal rows of the body.

        Raises
        ------
        ModelError
            If there is no such body.

        Examples
        --------
        Two modes and six of the frame for each body:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> ops = fa.operators(fa.library.planar_chain(2, n_modes=2), np.zeros(6))
        >>> ops.rows("link1"), ops.rows("link2")
        (slice(0, 8, None), slice(8, 16, None))
        """
        return maximal_rows(self.arm)[self.arm.body_index(body)]

    def coordinate_rows(self, body: str | int) -> slice:
        """Minimal rows of a body (modes, joint), given by name or number.

        Parameters
        ----------
        body : str or int
            Its name or number.

        Returns
        -------
        place : slice
            Minimal rows of the body.

        Raises
        ------
        ModelError
            If there is no such body.

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> arm = fa.library.planar_chain(2, n_modes=2)
        >>> ops = fa.operators(arm, np.zeros(6))
        >>> at = ops.coordinate_rows("link2")
        >>> at, ops.coordinate_names[at]
        (slice(3, 6, None), ('link2.tip y', 'link2.tip rz', 'link2'))
        """
        return body_rows(self.arm)[self.arm.body_index(body)]

    @checked
    def block(
        self, operator: str, row: str | int, column: str | int | None = None
    ) -> Array:
        """View of the block of an operator in the rows and columns of two bodies.

        Parameters
        ----------
        operator : str
            Name of an attribute, such as ``"Phi"`` or ``"factor"``.
        row, column : str or int
            Names or numbers of the bodies; by default a diagonal block.

        Returns
        -------
        block : (..., rows, columns) ndarray
            Part of the operator.

        Raises
        ------
        ArgumentError
            If there is no such operator.

        Examples
        --------
        >>> import flexarm as fa
        >>> ops = fa.operators(fa.library.planar_chain(2, length=1.0), [0.0, 0.0])
        >>> ops.block("Phi", "link1", "link2")[2]  # moment of a force at the tip
        array([0., 0., 1., 0., 1., 0.])
        """
        check_choice("operator", operator, _NAMES)
        column = row if column is None else column
        pick = self.coordinate_rows if operator in _MINIMAL_ROWS else self.rows
        across = self.coordinate_rows if operator in _MINIMAL_COLUMNS else self.rows
        matrix: Array = getattr(self, operator)
        return matrix[..., pick(row), across(column)]

    def in_arm_order(
        self,
        array: Annotated[ArrayLike, Floats("(...)")],
        axes: Annotated[tuple[int, ...], Sequenced(Whole())] = (-2, -1),
    ) -> Array:
        """Sort axes of minimal rows as the coordinates of the arm.

        ``in_arm_order(H, (-2,))`` is the joint map in arm order; the inverse is
        ``M[..., order[:, np.newaxis], order]``.

        Parameters
        ----------
        array : (...) array_like of float
            Operator with minimal rows in the order of the bodies, in its own units.
        axes : tuple of int
            Axes of minimal rows.

        Returns
        -------
        sorted : (...) ndarray of float
            A copy, in the same units.

        Raises
        ------
        ArgumentError
            If the array has another number of rows along an axis, or no such axis.
        """
        result: Array = real_array("array", array)
        n = len(self.order)
        for axis in axes:
            if not -result.ndim <= axis < result.ndim or result.shape[axis] != n:
                raise ArgumentError(
                    f"array has shape {result.shape}, expected {n} minimal rows along "
                    f"axis {axis} of axes"
                )
            result = np.take(result, np.argsort(self.order), axis=axis)
        return result

    # products

    @property
    def P_plus(self) -> Array:
        """Articulated inertia with the coordinates of the body free (eq. 51)."""
        return self.P - self.G @ self.D @ _t(self.G)

    @property
    def E_Psi(self) -> Array:
        """Shift of forces from child to parent through free joints (eq. 53)."""
        return self.E_Phi @ self.tau_bar

    @property
    def mass_matrix(self) -> Array:
        """``H Phi M_m Phi' H'``, and armature, in arm order (eq. 43)."""
        J = self.H @ self.Phi
        own = np.diag(armature(self.arm))
        return self.in_arm_order(J @ self.M_m @ _t(J) + own)

    @property
    def factor(self) -> Array:
        """Innovations factor ``L = I + H Phi K``: ``L D L'`` is M, by body (eq. 54)."""
        return np.eye(self.D.shape[-1]) + self.H @ self.Phi @ self.K

    @property
    def inverse_factor(self) -> Array:
        """Inverse ``I - H Psi K`` of `factor` in closed form, by body (eq. 55)."""
        return np.eye(self.D.shape[-1]) - self.H @ self.Psi @ self.K

    @property
    def mass_matrix_inverse(self) -> Array:
        """``(I - H Psi K)' D^-1 (I - H Psi K)`` in arm order (eq. 56)."""
        F = self.inverse_factor
        return self.in_arm_order(_t(F) @ np.linalg.solve(self.D, F))

    @property
    def log_det(self) -> Array:
        """Logarithm of the determinant of the mass matrix: sum of those of D, (...)."""
        blocks = [self.block("D", k) for k in range(len(self.arm.bodies))]
        return np.asarray(sum(np.linalg.slogdet(block)[1] for block in blocks))

    @property
    def Omega_psi(self) -> Array:
        """``Psi' H' D^-1 H Psi``, J M^-1 J' of all bodies (from eqs. 56 and 70)."""
        J = self.H @ self.Psi
        return _t(J) @ np.linalg.solve(self.D, J)

    def mass_matrix_inverse_blocks(self) -> dict[str, Array]:
        """Diagonal blocks of the inverse mass matrix by a recursion, base to tip.

        Returns
        -------
        blocks : dict of str to (..., n_k + n_dof, n_k + n_dof) ndarray
            By body, ``D^-1 + K' Y(parent) K`` with ``Y = Psi' Y(parent) Psi + H' D^-1
            H``, the diagonal blocks of `Omega_psi` (from eqs. 55 and 56).
        """
        return inverse_blocks(self)

    def pick_off(self, nodes: object = None) -> Array:
        """Operator B of nodes: their Jacobian is ``J = B' Phi' H'`` (eq. 5).

        Parameters
        ----------
        nodes : int, str, (body, node) or list of these, optional
            As in `flexarm.jacobian`; by default the tip.

        Returns
        -------
        B : (..., Nbar, 6 m) ndarray
            Map from wrenches on the m nodes, in their axes, to forces on maximal rows.

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> arm, q = fa.library.planar_chain(2), [0.3, 0.5]
        >>> ops = fa.operators(arm, q)
        >>> J = ops.pick_off().T @ ops.Phi.T @ ops.H.T
        >>> np.allclose(J, fa.jacobian(arm, q, frame="node"))
        True
        """
        return pick_off(self, nodes)

    def operational_space_compliance(self, nodes: object = None) -> Array:
        """Inverse inertia ``J M^-1 J'`` at nodes, by `Omega_psi`.

        Parameters
        ----------
        nodes : int, str, (body, node) or list of these, optional
            As in `flexarm.jacobian`; by default the tip.

        Returns
        -------
        compliance : (..., 6 m, 6 m) ndarray
            Twist rates (rad/s^2, m/s^2) of the m nodes per wrench (N m, N), both in
            node axes.  If it has full rank, its inverse is the inertia of Khatib.

        Examples
        --------
        The tip of a uniform rod of 1 kg on a pivot reacts to 1 N across like 1/3 kg:

        >>> import flexarm as fa
        >>> ops = fa.operators(fa.library.planar_chain(1), [0.3])
        >>> round(float(ops.operational_space_compliance()[4, 4]), 9)
        3.0
        """
        B = self.pick_off(nodes)
        return _t(B) @ self.Omega_psi @ B

    def split_quantities(self) -> dict[str, SplitQuantities]:
        """Articulated quantities with modes freed before the joint.

        Returns
        -------
        split : dict of str to SplitQuantities
            By body, from a recursion (eq. 63) with separate matrices for modes and
            joint.
        """
        return split_quantities(self)


def _refuse(arm: ArmLike) -> None:
    """Raise for arms whose mass matrix has no such factors."""
    refuse_linear(arm, "operators")
    refuse_followers(arm, "operators")
    refuse_geared(arm, "operators")
    if arm.motor_slice.stop > arm.nj:
        raise ArgumentError(
            "operators are those of bodies, but the arm has motors; expected "
            "flexarm.reference.motors.expanded(arm), in which motors are bodies"
        )


@checked
def operators(arm: ArmLike, q: Positions) -> SpatialOperators:
    r"""Spatial operators of an arm: the factors of its mass matrix and of its inverse.

    .. math:: M = H \Phi M_m \Phi^* H^* = (I + H \Phi K) D (I + H \Phi K)^*, \qquad
       M^{-1} = (I - H \Psi K)^* D^{-1} (I - H \Psi K)

    Parameters
    ----------
    arm : Arm
        Tree of bodies with ``N`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.

    Returns
    -------
    operators : SpatialOperators
        H, E_Phi, Phi, M_m, R, P, D, G, K, tau_bar, Psi and their products, with the
        leading axes of `q`.

    Raises
    ------
    ArgumentError
        If the arm is of linear fidelity.
    SingularityError
        If the mass matrix of a state is singular; the message names the body.

    See Also
    --------
    mass_matrix, forward_dynamics : the same by recursion, without large matrices.

    References
    ----------
    .. [1] A. Jain, G. Rodriguez, US patent 5,546,508 (1996), eqs. 11-23, 43-56.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> ops = fa.operators(arm, np.zeros(arm.nq))
    >>> ops.coordinate_names
    ('link1.bending y 1', 'link1.bending y 2', 'link1',
     'link2.bending y 1', 'link2.bending y 2', 'link2')
    >>> M = ops.H @ ops.Phi @ ops.M_m @ ops.Phi.T @ ops.H.T
    >>> np.allclose(ops.in_arm_order(M), fa.mass_matrix(arm, np.zeros(arm.nq)))
    True
    >>> np.allclose(ops.factor @ ops.D @ ops.factor.T, M)
    True
    >>> ops.block("Phi", "link1", "link2").shape
    (8, 8)
    >>> fa.operators(arm, np.zeros((100, arm.nq))).log_det.shape
    (100,)
    """
    q = np.array(real_array("q", q))
    kinematics.link_poses(arm, q)  # raises for invalid positions
    _refuse(arm)
    H, E_Phi, M_m = local_operators(arm, shaping(arm, q))
    R, P, D, G, K = articulated(arm, H, E_Phi, M_m)
    tau_bar = np.eye(H.shape[-1]) - G @ H
    Phi, Psi = propagate(arm, E_Phi), propagate(arm, E_Phi @ tau_bar)
    arrays = (q, H, E_Phi, Phi, M_m, R, P, D, G, K, tau_bar, Psi)
    for array in arrays:
        array.flags.writeable = False
    return SpatialOperators(arm, *arrays)
