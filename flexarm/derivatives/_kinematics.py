"""Derivatives of Jacobians."""

from __future__ import annotations

from typing import Annotated, NoReturn

from numpy.typing import ArrayLike

from .._calls.arm_like import ArmLike, Array
from .._calls.declared import Floats, Positions
from .._calls.nodes import node_of
from .._calls.threads import ONE, direct, kernels
from .._support.options import unknown_names


@direct
def jacobian_derivatives(
    arm: ArmLike,
    q: Positions,
    node: object = None,
    *,
    out: Annotated[ArrayLike, Floats("(..., 6, nv, nv)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    r"""Exact derivatives of the Jacobian of a node with respect to the positions.

    The kinematic Hessian: derivatives of each column of the body-fixed `jacobian` by
    each local displacement.  For joints it is a bracket of two columns,

    .. math:: \frac{\partial J_j}{\partial q_k} = \begin{cases}
        {[J_j, J_k]} & \text{if } j \text{ is inboard of } k\\
        0 & \text{else,}\end{cases}

    for modes of one body, second derivatives of position and rotation of the node add.

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    node : int, str, (body, node) or (...) array_like of int, optional
        Number or name of the node, see ``arm.node_names``; by default the tip.
    out : (..., 6, nv, nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    H : (..., 6, nv, nv) ndarray of float
        ``H[i, j, k]`` is the derivative of ``J[i, j]`` along velocity k: angular rows
        first, in the axes of the node.  ``H @ qd`` is the rate of J.

    See Also
    --------
    jacobian : the differentiated function, itself the derivative of the pose.
    link_jacobian_rates : rates of the Jacobians of all bodies, in four forms.

    Notes
    -----
    Columns are those of `inverse_dynamics_derivatives`.  For an arm of linear or
    ruthless fidelity these are the derivatives of its own Jacobian: modes of a ruthless
    arm move no column.

    The kernel is ``csrc/kernels/derivatives/jacobian_tangents.c``, equations (G6) and
    (G7); the bracket is that of A. Mueller, *Screw and Lie group theory in multibody
    kinematics*, Multibody System Dynamics 43 (2018).

    Examples
    --------
    Two links of 1 m with an elbow at 0.5 rad: derivative by the elbow of the velocity
    of the tip, in its own axes, for a unit rate of the first joint:

    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> H = fa.jacobian_derivatives(arm, [0.0, 0.5])
    >>> H[3, 0, 1].round(3), H[4, 0, 1].round(3)
    (np.float64(0.878), np.float64(-0.479))
    >>> fa.jacobian_derivatives(arm, [[0.0, 0.5]] * 10).shape
    (10, 6, 2, 2)
    """
    if other:
        raise unknown_names(jacobian_derivatives, other)
    index = node_of(arm, node)
    return kernels(arm, threads).jacobian_derivatives(index, q, out)
