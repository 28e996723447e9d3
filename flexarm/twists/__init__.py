r"""The four forms of twists: definitions, conversions, factors of Jacobians.

`flexarm.link_velocities`, `link_accelerations`, `link_jacobians` and
`link_jacobian_rates` compute in any of them, for all bodies of an arm.

A body moves with the angular velocity :math:`\omega`, its frame with the pose (R, r).
The forms differ in the reference point of the velocity and in the axes:

========  ==========================  ============================================
form      angular part                linear part
========  ==========================  ============================================
body      :math:`\omega`, body axes   :math:`\dot r` in body axes
spatial   :math:`\omega`, base axes   :math:`\dot r - \omega\times r`, of the point
                                      of the body at the origin of the base
hybrid    :math:`\omega`, base axes   :math:`\dot r` in base axes
mixed     :math:`\omega`, body axes   :math:`\dot r` in base axes
========  ==========================  ============================================

Spatial twists are those of A. Mueller, a representation in the base frame, not the
coordinate-free "spatial vectors" of Featherstone.

**Cost and use.**  Multiplications of one step of the recursions (14), (30), (42), (52)
from parent to child; 6 more for each rate.  The relative pose is extra for `body` and
`mixed`, bringing joint axes to the base for `spatial` and `hybrid`.

========  =====  ====================================================================
form      mult.  when to use it
========  =====  ====================================================================
body      24     dynamics: inertias are constant, so are the screws; the form of the
                 kernels.  Does not change with the base frame, nor do Jacobians with
                 the first joint.
spatial   0      many bodies at once, end-effector twists, loops: on a rigid arm one
                 column per joint serves all bodies.  Does not change with the body
                 frame.
hybrid    6      tasks in base axes, velocities of points as sensors see them.
mixed     24     Newton-Euler equations about centres of mass: rotation and
                 translation decouple.
========  =====  ====================================================================

These counts do not matter here.  The kernels use the body-fixed recursion, which poses
and modes need in any case, and convert its results in place: all four forms cost the
same within 10 to 20 %, mostly for storing the result
(``tests/bench/test_bench_twists.py``).  Choose the form that the task needs; `convert`
afterwards costs several times as much.

Accelerations are time derivatives of the six entries, in each form.  Equation numbers
are those of A. Mueller, Screw and Lie group theory in multibody kinematics, Multibody
System Dynamics 43 (2018).

Examples
--------
A link that turns about its own end, 1 m from the base, in all forms:

>>> import flexarm as fa
>>> arm = fa.library.planar_chain(2, length=1.0)
>>> link2 = arm.body_index("link2")
>>> for form in ("body", "spatial", "hybrid", "mixed"):
...     V = fa.link_velocities(arm, [0.0, 0.0], [0.0, 3.0], form=form)
...     print(form, V[link2])
body [0. 0. 3. 0. 0. 0.]
spatial [ 0.  0.  3.  0. -3.  0.]
hybrid [0. 0. 3. 0. 0. 0.]
mixed [0. 0. 3. 0. 0. 0.]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import common_batch
from .._calls.declared import Floats, Poses, TwistForm, Twists
from .._calls.doors import checked
from .._support.arrays import Array
from .._support.moved import missing_or_moved
from ..errors import ArgumentError
from ..kinematics.forms import (
    check_poses,
    check_twists,
    convert_columns,
    convert_rates_of_columns,
    join,
    motion_of,
    split,
)
from ._factors import factors

__all__ = [
    "convert",
    "factors",
]


@checked
def convert(
    V: Annotated[ArrayLike, Floats("(..., 6)", "(..., 6, n)")],
    poses: Poses,
    source: TwistForm,
    target: TwistForm,
    *,
    columns: bool = False,
) -> Array:
    """Convert twists, or columns of Jacobians, to another form.

    Parameters
    ----------
    V : (..., 6) or (..., 6, n) array_like of float
        Twists of frames, or Jacobians with `columns`.
    poses : (..., 4, 4) array_like of float
        Poses of these frames.
    source, target : {"body", "spatial", "hybrid", "mixed"}
        Form of `V` and of the result, see the module.
    columns : bool
        Whether `V` holds twists as columns.

    Returns
    -------
    converted : (..., 6) or (..., 6, n) ndarray of float
        Twists or Jacobians with the leading axes of `V` and `poses`.

    Raises
    ------
    ArgumentError
        If a matrix is not a pose.

    See Also
    --------
    convert_rates : the same for time derivatives.

    Notes
    -----
    Table 3 with (47), (54), (55) and (58), by at most two 3 x 3 products and a cross
    product.  The mixed form is not a change of frame of another one: its matrices are
    not adjoints.

    Examples
    --------
    A frame 2 m along x that turns about its own z axis:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> pose = np.eye(4)
    >>> pose[0, 3] = 2.0
    >>> fa.twists.convert([0, 0, 1.0, 0, 0, 0], pose, "body", "spatial")
    array([ 0.,  0.,  1.,  0., -2.,  0.])
    >>> J = np.zeros((100, 6, 7))
    >>> fa.twists.convert(J, pose, "body", "mixed", columns=True).shape
    (100, 6, 7)
    """
    return _convert(V, check_poses("poses", poses), source, target, columns)


def _convert(
    V: ArrayLike, frames: Array, source: str, target: str, columns: bool
) -> Array:
    """Convert twists or columns, with checked `frames`."""
    twists = check_twists("V", V, columns)
    batch = twists.shape[: -2 if columns else -1]
    common_batch({"V": batch, "poses": frames.shape[:-2]})
    found = join(
        convert_columns(split(twists, columns), frames, source, target), columns
    )
    if source == target:  # poses may have more leading axes
        shape = np.broadcast_shapes(batch, frames.shape[:-2])
        found = np.array(np.broadcast_to(found, shape + found.shape[len(batch) :]))
    return found


@checked
def convert_rates(
    V: Annotated[ArrayLike, Floats("(..., 6)", "(..., 6, n)")],
    rates: Annotated[ArrayLike, Floats("(..., 6)", "(..., 6, n)")],
    poses: Poses,
    source: TwistForm,
    target: TwistForm,
    *,
    twist: Twists | None = None,
) -> Array:
    """Convert time derivatives of twists, or of Jacobians, to another form.

    Parameters
    ----------
    V : (..., 6) or (..., 6, n) array_like of float
        Twists of frames, or Jacobians with `twist`.
    rates : like `V`
        Their time derivatives, entry by entry.
    poses : (..., 4, 4) array_like of float
        Poses of these frames.
    source, target : {"body", "spatial", "hybrid", "mixed"}
        Form of the arguments and of the result, see the module.
    twist : (..., 6) array_like of float, optional
        With Jacobians: the twists of the frames in the form `source`, ``J @ qd``.

    Returns
    -------
    converted : (..., 6) or (..., 6, n) ndarray of float
        Time derivatives of ``convert(V, poses, source, target)``.

    Raises
    ------
    ArgumentError
        If a matrix is not a pose.

    See Also
    --------
    convert : the conversion of twists and Jacobians.

    Notes
    -----
    With y = R x for a turn to base axes, ``ydot = R xdot + omega x y``; with
    v + r x w for a lever, ``vdot + r x wdot + rdot x w``.

    Examples
    --------
    A point with a constant body-fixed velocity of 2 m/s along x on a body that turns at
    3 rad/s has an acceleration of 6 m/s^2 along y:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> V, still = [0, 0, 3.0, 2.0, 0, 0], np.zeros(6)
    >>> fa.twists.convert_rates(V, still, np.eye(4), "body", "hybrid")
    array([0., 0., 0., 0., 6., 0.])
    """
    columns = twist is not None
    x, xdot = check_twists("V", V, columns), check_twists("rates", rates, columns)
    frames = check_poses("poses", poses)
    own = check_twists("twist", twist, False) if columns else x
    at = -2 if columns else -1
    leading = {"V": x.shape[:at], "rates": xdot.shape[:at], "twist": own.shape[:-1]}
    common_batch({**leading, "poses": frames.shape[:-2]})
    if columns and x.shape[-1] != xdot.shape[-1]:
        raise ArgumentError(
            f"V has {x.shape[-1]} columns and rates {xdot.shape[-1]}, expected as many"
        )
    moving = motion_of(split(own, False), frames, source)
    shape = np.broadcast_shapes(*leading.values(), frames.shape[:-2])
    found = convert_rates_of_columns(
        split(x, columns), split(xdot, columns), moving, frames, source, target
    )
    result = join(found, columns)
    core = result.shape[-2:] if columns else result.shape[-1:]
    return np.array(np.broadcast_to(result, shape + core))


@checked
def change_body_frame(
    V: Annotated[ArrayLike, Floats("(..., 6)", "(..., 6, n)")],
    change: Poses,
    form: TwistForm = "body",
    *,
    poses: Poses | None = None,
    columns: bool = False,
) -> Array:
    """Return twists of other frames on the same bodies (20).

    Parameters
    ----------
    V : (..., 6) or (..., 6, n) array_like of float
        Twists of frames with poses C, or Jacobians with `columns`.
    change : (..., 4, 4) array_like of float
        Constant pose S of the other frame in the first one; its pose is ``C @ S``.
    form : {"body", "spatial", "hybrid", "mixed"}
        Form of the twists, see the module.
    poses : (..., 4, 4) array_like of float, optional
        Poses C; needed for the forms hybrid and mixed.
    columns : bool
        Whether `V` holds twists as columns.

    Returns
    -------
    changed : (..., 6) or (..., 6, n) ndarray of float
        ``Ad(S)^-1 V`` of body-fixed twists; spatial ones do not change.

    Raises
    ------
    ArgumentError
        If a matrix is not a pose, or `poses` are missing.

    See Also
    --------
    change_base_frame : changes the base frame.

    Examples
    --------
    The tip, 1 m along x, of a link that turns at 3 rad/s:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> tip = np.eye(4)
    >>> tip[0, 3] = 1.0
    >>> fa.twists.change_body_frame([0, 0, 3.0, 0, 0, 0], tip)
    array([0., 0., 3., 0., 3., 0.])
    """
    turn = check_poses("change", change)
    if form in ("body", "spatial"):
        return _convert(V, turn, "spatial", form, columns)
    if poses is None:
        raise ArgumentError(
            f"change_body_frame of {form} twists has no poses, expected those of the "
            "frames in the base"
        )
    frames = check_poses("poses", poses)
    common_batch({"poses": frames.shape[:-2], "change": turn.shape[:-2]})
    body = _convert(V, frames, form, "body", columns)
    moved = _convert(body, turn, "spatial", "body", columns)
    return _convert(moved, frames @ turn, "body", form, columns)


@checked
def change_base_frame(
    V: Annotated[ArrayLike, Floats("(..., 6)", "(..., 6, n)")],
    change: Poses,
    form: TwistForm = "body",
    *,
    columns: bool = False,
) -> Array:
    """Return twists seen from another base frame (35).

    Parameters
    ----------
    V : (..., 6) or (..., 6, n) array_like of float
        Twists of frames with poses C, or Jacobians with `columns`.
    change : (..., 4, 4) array_like of float
        Constant pose S of the base in the other base; poses become ``S @ C``.
    form : {"body", "spatial", "hybrid", "mixed"}
        Form of the twists, see the module.
    columns : bool
        Whether `V` holds twists as columns.

    Returns
    -------
    changed : (..., 6) or (..., 6, n) ndarray of float
        ``Ad(S) V`` of spatial twists; hybrid ones and the linear part of mixed ones
        turn; body-fixed ones do not change.

    Raises
    ------
    ArgumentError
        If a matrix is not a pose.

    See Also
    --------
    change_body_frame : changes the frames on the bodies.

    Notes
    -----
    The matrix of S is that of `convert` from body-fixed twists with the pose S.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> lifted = np.eye(4)
    >>> lifted[0, 3] = 1.0  # the base stands 1 m along x of the other one
    >>> fa.twists.change_base_frame([0, 0, 3.0, 0, 0, 0], lifted, "spatial")
    array([ 0.,  0.,  3.,  0., -3.,  0.])
    """
    return _convert(V, check_poses("change", change), "body", form, columns)


if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(__name__, __all__)
