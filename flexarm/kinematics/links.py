"""Twists, their rates and Jacobians of all bodies of an arm at once.

Results of one body are ``[..., arm.body_index(name), :]`` of twists and
``[..., arm.body_index(name), :, :]`` of Jacobians.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, NoReturn

from numpy.typing import ArrayLike

from .._calls.arguments import any_of
from .._calls.arm_like import AnyArm, Array
from .._calls.declared import Floats, Positions, TwistForm, Velocities
from .._calls.threads import ONE, direct, kernels
from .._support.options import unknown_names
from .forms import check_form, refuse_cut_models


def _kernel(arm: AnyArm, name: str, form: str, threads: int) -> Callable[..., Array]:
    """Gufunc of a form."""
    check_form("form", form)
    if form != "body":
        refuse_cut_models(any_of(arm), f"{form} twists")
        name = f"{name}_{form}"
    found: Callable[..., Array] = getattr(kernels(arm, threads), name)
    return found


@direct
def link_velocities(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    *,
    form: TwistForm = "body",
    out: Annotated[ArrayLike, Floats("(..., B, 6)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Twists of the frames of all bodies, body-fixed or in another form.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates and ``B`` bodies.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    qd : (..., nv) array_like of float
        Velocities.
    form : {"body", "spatial", "hybrid", "mixed"}
        Point and axes of the twists, see `flexarm.twists`.
    out : (..., B, 6) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    V : (..., B, 6) ndarray of float
        Angular velocity in rad/s, then velocity of the origin of the frame in m/s, both
        in the axes of the body in the default form.

    Raises
    ------
    ArgumentError
        If the form is not ``"body"`` and the arm has modes and is not of full fidelity.

    See Also
    --------
    link_accelerations, link_jacobians : time derivative, Jacobians.
    node_velocity : twist of a node.
    Arm.body_index : index of a body along the axis of length B.
    flexarm.twists : the four forms, conversions between them.

    Notes
    -----
    A. Mueller, Multibody System Dynamics 43 (2018), eq. 14, with the modes of the
    parent in each step (Jain and Rodriguez 1996, eqs. 5-10).  For an arm of linear or
    ruthless fidelity it is the product of `link_jacobians` and `qd`, as for nodes.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> fa.link_velocities(arm, [0.0, 0.0], [1.0, 1.0])
    array([[0., 0., 1., 0., 0., 0.],
           [0., 0., 2., 0., 1., 0.]])
    >>> fa.link_velocities(arm, [[0.0, 0.0]] * 10, [1.0, 1.0]).shape
    (10, 2, 6)

    One body alone:

    >>> fa.link_velocities(arm, [0.0, 0.0], [1.0, 1.0])[arm.body_index("link2")]
    array([0., 0., 2., 0., 1., 0.])
    """
    if other:
        raise unknown_names(link_velocities, other)
    return _kernel(arm, "link_velocities", form, threads)(q, qd, out)


@direct
def link_accelerations(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    qdd: Velocities,
    *,
    form: TwistForm = "body",
    out: Annotated[ArrayLike, Floats("(..., B, 6)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Time derivatives of the entries of the twists of all bodies.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates and ``B`` bodies.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    qd, qdd : (..., nv) array_like of float
        Velocities and accelerations.
    form : {"body", "spatial", "hybrid", "mixed"}
        Point and axes of the twists, see `flexarm.twists`.
    out : (..., B, 6) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    A : (..., B, 6) ndarray of float
        Rates of the six entries of `link_velocities`, in rad/s^2 and m/s^2, without
        gravity.

    Raises
    ------
    ArgumentError
        If the form is not ``"body"`` and the arm has modes and is not of full fidelity.

    See Also
    --------
    node_acceleration : acceleration of a node as a point.
    flexarm.twists.convert_rates : of given twists, into another form.

    Notes
    -----
    The angular part is the angular acceleration.  The linear part of the body form is
    not the acceleration of the origin of the frame, whose axes turn with the body: that
    is ``A[3:] + cross(V[:3], V[3:])`` with the twist V (R. Featherstone, Rigid Body
    Dynamics Algorithms, 2008, sec. 2.11), the value of `node_acceleration` for a node
    at rest in its body, and, in base axes, the linear part of the hybrid form.

    In every fidelity this is the rate of `link_velocities`, ``J qdd + dJ/dt qd``.
    `node_acceleration` has full fidelity in a linear arm, and the terms of the patent
    in a ruthless one; there the relation above does not hold.

    Examples
    --------
    A body that turns at 3 rad/s with its frame 1 m from the pivot: its velocity has the
    constant entries (0, 3, 0), its acceleration is 9 m/s^2 towards the pivot.

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> q, qd, qdd = [0.0, 0.0], [3.0, 0.0], [0.0, 0.0]
    >>> A = fa.link_accelerations(arm, q, qd, qdd)[1]
    >>> V = fa.link_velocities(arm, q, qd)[1]
    >>> A + 0.0
    array([0., 0., 0., 0., 0., 0.])
    >>> A[3:] + np.cross(V[:3], V[3:])
    array([-9.,  0.,  0.])
    """
    if other:
        raise unknown_names(link_accelerations, other)
    return _kernel(arm, "link_accelerations", form, threads)(q, qd, qdd, out)


@direct
def link_jacobians(
    arm: AnyArm,
    q: Positions,
    *,
    form: TwistForm = "body",
    out: Annotated[ArrayLike, Floats("(..., B, 6, nv)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Jacobians of all bodies: their twists are ``J @ qd``.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates and ``B`` bodies.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    form : {"body", "spatial", "hybrid", "mixed"}
        Point and axes of the twists, see `flexarm.twists`.
    out : (..., B, 6, nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    J : (..., B, 6, nv) ndarray of float
        Rows: angular velocity, then velocity of the origin of the frame, in the default
        form in the axes of the body.  Columns of coordinates that are not inboard of a
        body are zero, also those of its own modes unless it floats.

    Raises
    ------
    ArgumentError
        If the form is not ``"body"`` and the arm has modes and is not of full fidelity.

    See Also
    --------
    link_jacobian_rates : time derivative.
    jacobian : of a node.
    flexarm.twists.factors : the same as a product of sparse factors.

    Notes
    -----
    A. Mueller, Multibody System Dynamics 43 (2018), eqs. 16-19, for joints of any kind
    and bodies with modes; eqs. 28, 40 and 50 in the other forms.  A spatial column is
    the same for all bodies that it moves; that of a mode is the same for all bodies
    outboard of one node.  The Jacobian of a linear arm is truncated after the first
    order in modal coordinates, that of a ruthless one after order zero, as for nodes.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> fa.link_jacobians(arm, [0.0, 0.0])[:, 4]  # velocity along y of both frames
    array([[0., 0.],
           [1., 0.]])
    >>> J = fa.link_jacobians(arm, [[0.0, 0.0]] * 10)
    >>> J.shape, J[..., arm.body_index("link2"), :, :].shape
    ((10, 2, 6, 2), (10, 6, 2))
    """
    if other:
        raise unknown_names(link_jacobians, other)
    return _kernel(arm, "link_jacobians", form, threads)(q, out)


@direct
def link_jacobian_rates(
    arm: AnyArm,
    q: Positions,
    qd: Velocities,
    *,
    form: TwistForm = "body",
    out: Annotated[ArrayLike, Floats("(..., B, 6, nv)")] | None = None,
    threads: int = ONE,
    **other: NoReturn,
) -> Array:
    """Time derivatives of the Jacobians of all bodies.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm with ``nv`` coordinates and ``B`` bodies.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    qd : (..., nv) array_like of float
        Velocities.
    form : {"body", "spatial", "hybrid", "mixed"}
        Point and axes of the twists, see `flexarm.twists`.
    out : (..., B, 6, nv) ndarray of float, optional
        Where to store the result.
    threads : int
        Largest number of threads for a large batch.

    Returns
    -------
    Jd : (..., B, 6, nv) ndarray of float
        Rates of the entries of `link_jacobians` along `qd`, in 1/s or m/s.

    Raises
    ------
    ArgumentError
        If the form is not ``"body"`` and the arm has modes and is not of full fidelity.

    See Also
    --------
    link_accelerations : ``J @ qdd + Jd @ qd``, without these matrices.

    Notes
    -----
    The rate of a column is its spatial cross product with the twist of the body
    relative to the carrier of the column, ``d/dt Ad(C)^-1 X = (Ad(C)^-1 X) x V_rel``,
    and the bending of modes (A. Mueller, Multibody System Dynamics 43, 2018, eq. 19).

    Examples
    --------
    As the second frame turns, the axis of the first joint moves sideways in it:

    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, length=1.0)
    >>> arm.link_jacobian_rates([0.0, 0.0], [0.0, 1.0])[1, :, 0]
    array([0., 0., 0., 1., 0., 0.])
    """
    if other:
        raise unknown_names(link_jacobian_rates, other)
    return _kernel(arm, "link_jacobian_rates", form, threads)(q, qd, out)
