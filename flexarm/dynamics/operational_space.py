"""Compliance and inertia of an arm at its nodes."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import refuse_linear
from .._calls.arm_like import AnyArm, Array
from .._calls.chunks import in_chunks
from .._calls.declared import Floats, JacobianFrame, Positions
from .._calls.doors import checked_late
from .._calls.explain import explain
from .._calls.nodes import node_numbers
from .._calls.threads import ONE, kernels
from .._support.arrays import Mask
from .._support.options import check_choice
from ..errors import SingularityError
from ..kinematics.nodes import FRAMES, turn_spatial


def _compliance(
    arm: AnyArm, nodes: list[int], frame: str, threads: int, quiet: bool, q: ArrayLike
) -> Array:
    """Blocks of all pairs of nodes; those below the diagonal are transposed."""
    names, m = ("operational_space_compliance", "node_pose"), len(nodes)
    model = kernels(arm, threads)
    block, pose = (
        model.quiet(name) if quiet else getattr(model, name) for name in names
    )
    poses = [pose(node, q) for node in nodes] if frame == "base" else []
    result = np.empty(0)
    for i in range(m):
        for j in range(i, m):
            both = block(nodes[i] * arm.n_nodes + nodes[j], q)
            if poses:
                both = np.swapaxes(turn_spatial(poses[i], both), -2, -1)
                both = np.swapaxes(turn_spatial(poses[j], both), -2, -1)
            if poses and i == j:  # symmetric bit for bit, as without the turn
                both = 0.5 * (both + np.swapaxes(both, -2, -1))
            if not i and not j:
                result = np.empty((*both.shape[:-2], 6 * m, 6 * m))
            at, across = slice(6 * i, 6 * i + 6), slice(6 * j, 6 * j + 6)
            result[..., at, across] = both
            result[..., across, at] = np.swapaxes(both, -2, -1)
    return result


@checked_late
def operational_space_compliance(
    arm: AnyArm,
    q: Positions,
    nodes: object = None,
    *,
    frame: JacobianFrame = "node",
    out: Annotated[ArrayLike, Floats("(..., 6 m, 6 m)")] | None = None,
    threads: int = ONE,
) -> Array:
    """Inverse inertia ``J M^-1 J'`` at nodes, without forming M.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates; constraints are ignored.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    nodes : int, str, (body, node) or list of these, optional
        One node, or m of them, as in `jacobian`; by default the tip.
    frame : {"node", "base"}
        Axes of twists and wrenches: those of each node, or of the base.
    out : (..., 6 m, 6 m) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    compliance : (..., 6 m, 6 m) ndarray of float
        Twist rates (rad/s^2, m/s^2) of the nodes for unit wrenches (N m, N) on them;
        symmetric, positive semidefinite.

    Raises
    ------
    SingularityError
        If the mass matrix of a state is not positive definite.

    See Also
    --------
    operational_space_inertia : its inverse.
    SpatialOperators.operational_space_compliance : the same in NumPy.

    Notes
    -----
    ``B' Omega_psi B`` with ``Omega_psi = Psi' H' D^-1 H Psi`` (Jain and Rodriguez 1996,
    section 9 and eqs. 53 to 56): unit wrenches are propagated from each node to the
    base through free joints and modes.  The cost is linear in the bodies, for one node
    and for each pair of nodes.

    Examples
    --------
    The tip of a uniform rod of 1 kg on a pivot reacts to 1 N across it like 1/3 kg:

    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(1)
    >>> round(float(fa.operational_space_compliance(arm, [0.3])[4, 4]), 9)
    3.0
    >>> fa.operational_space_compliance(arm, [[0.3]] * 5, [0, ("link1", "tip")]).shape
    (5, 12, 12)
    """
    refuse_linear(arm, "compliances by recursion")
    check_choice("frame", frame, FRAMES)
    numbers = node_numbers(arm, nodes)
    compute = partial(_compliance, arm, numbers, frame, threads)
    try:
        result: Array = in_chunks(arm, partial(compute, False), (q,), out)
        return result
    except Exception as error:
        again = partial(compute, True, q)
        name = "operational_space_compliance"
        raise explain(arm, name, error, again=again, q=q) from None


@checked_late
def operational_space_inertia(
    arm: AnyArm,
    q: Positions,
    nodes: object = None,
    *,
    frame: JacobianFrame = "node",
    out: Annotated[ArrayLike, Floats("(..., 6 m, 6 m)")] | None = None,
    threads: int = ONE,
) -> Array:
    """Inertia at nodes, ``(J M^-1 J')^-1``.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates; constraints are ignored.
    q : (..., nq) array_like of float
        Positions: rad, m, quaternions (w, x, y, z), modal coordinates.
    nodes : int, str, (body, node) or list of these, optional
        One node, or m of them, as in `jacobian`; by default the tip.
    frame : {"node", "base"}
        Axes of twists and wrenches: those of each node, or of the base.
    out : (..., 6 m, 6 m) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    inertia : (..., 6 m, 6 m) ndarray of float
        Wrenches (N m, N) for unit twist rates (rad/s^2, m/s^2); symmetric, positive
        definite.

    Raises
    ------
    SingularityError
        If the nodes of a state cannot move in all directions: in singular poses, and
        always in an arm with too few coordinates.

    See Also
    --------
    operational_space_compliance : its inverse, which always exists.

    Notes
    -----
    O. Khatib, IEEE Journal on Robotics and Automation 3(1), 1987; the compliance by
    Jain and Rodriguez (1996).

    Examples
    --------
    For a free body it is the inertia of the body:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> body = fa.RigidBody("box", fa.Joint(kind="free"), mass=2.0, inertia=(1, 2, 3))
    >>> box = fa.Arm([body])
    >>> np.round(np.diag(box.operational_space_inertia(box.neutral)), 9)
    array([1., 2., 3., 2., 2., 2.])
    """
    refuse_linear(arm, "compliances by recursion")
    check_choice("frame", frame, FRAMES)
    numbers = node_numbers(arm, nodes)
    names = ("operational_space_inertia", "operational_space_compliance")

    def inertia(q: ArrayLike) -> Array:
        return inverse_of(_compliance(arm, numbers, frame, threads, False, q), *names)

    try:
        result: Array = in_chunks(arm, inertia, (q,), out)
        return result
    except Exception:  # the error of a part does not describe the whole batch
        whole = operational_space_compliance(
            arm, q, nodes, frame=frame, threads=threads
        )
        inverse_of(whole, *names)
        raise


def inverse_of(compliance: Array, name: str, inverse: str) -> Array:
    """Return the inverse of symmetric compliances, or raise for those of lower rank."""
    size = compliance.shape[-1]
    # in units in which its diagonal is one, as rad and m are not comparable
    scale = np.sqrt(np.diagonal(compliance, axis1=-2, axis2=-1))
    rigid = ~(scale > 0.0).all(axis=-1)
    scale = np.where(scale > 0.0, scale, 1.0)
    scale = scale[..., np.newaxis] * scale[..., np.newaxis, :]
    unit = compliance / scale
    values, vectors = np.linalg.eigh(unit)
    rigid |= values[..., 0] <= size * np.finfo(float).eps * values[..., -1]
    if rigid.any():
        raise SingularityError(_rigid(rigid, size, name, inverse))
    root = vectors / np.sqrt(values)[..., np.newaxis, :]
    return np.asarray(root @ np.swapaxes(root, -2, -1) / scale)


def _rigid(rigid: Mask, size: int, name: str, inverse: str) -> str:
    """Message for states with a compliance of lower rank."""
    where = "the state"
    if rigid.ndim:
        first = tuple(int(i) for i in np.argwhere(rigid)[0])
        where = f"{int(rigid.sum())} of {rigid.size} states, first at index {first}"
    return (
        f"{name} has no finite result for {where}: the nodes cannot move in all {size} "
        f"directions there; invert the rows and columns of {inverse} in which they can"
    )
