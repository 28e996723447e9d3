"""Static and vibrational properties over grids of postures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import any_of, check_finite, real_array
from .._calls.arm_like import AnyArm, Array
from .._calls.declared import (
    Dictionary,
    Floats,
    JacobianFrame,
    Positions,
    Posture,
    Twists,
)
from .._calls.doors import checked, checked_class
from .._calls.nodes import one_node
from .._calls.units import coordinates_of
from .._support.arrays import Mask
from .._support.interrupts import uninterrupted
from .._support.labelled import Labelled, Labels, Variable, batch_axes
from .._support.recorded import recorded
from ..errors import ArgumentError
from ..kinematics.nodes import node_pose
from ._deflection import actuator_forces, compliance_of, pose_change, rigid_positions
from ._equilibrium import Equilibrium, equilibrium
from ._inverse import inverse_statics
from .coordinates import freedom, held_coordinates, read_arm
from .given_loads import read_loads
from .spectrum import (
    linear_system,
    scale_by_mass,
    signed_frequencies,
    undamped,
    without_flutter,
)

_JOINTS = "values by names of arm.position_names, such as {'link1': [0.0, 0.5]}"


@checked_class
@dataclass(frozen=True, eq=False)
class WorkspaceMap(Labelled):
    """Properties of an arm over many postures of static equilibrium.

    Without `success` all numbers except `q` are NaN.

    Attributes
    ----------
    arm : Arm
        The arm.
    node : int
        Node of pose, deflection and compliance.
    held : str or None
        Coordinates at rest in vibration and compliance.
    q : (..., nq) ndarray of float
        Positions.
    pose : (..., 4, 4) ndarray of float
        Poses of the node, deflected, in base axes.
    tau : (..., nu) ndarray of float
        Holding forces of the actuators in N m or N.
    squares : (..., n) ndarray of float
        Squares of the circular frequencies of small motions, in 1/s^2, ascending; NaN
        for flutter.
    deflection : (..., 6) ndarray of float
        Rotation vector in rad and displacement in m from the rigid arm, base axes.
    compliance : (..., 6, 6) ndarray of float
        Rotation and displacement for unit moments and forces, base axes; infinite where
        a motion of the coordinates that are not held has no stiffness.
    success : (...) ndarray of bool
        Whether there is a stable equilibrium.
    """

    arm: Any  # flexarm.Arm
    node: int
    held: object
    q: Array
    pose: Array
    tau: Array
    squares: Array
    deflection: Array
    compliance: Array
    success: Mask | np.bool_

    def _labels(self) -> Labels:
        batch = batch_axes(self.q.ndim - 1)
        twist, row = ("component",), ("row", "column")
        own: dict[str, tuple[tuple[str, ...], str | None]] = {
            "q": (("position",), None),
            "pose": (row, None),
            "tau": (("force",), None),
            "squares": (("mode",), "1/s^2"),
            "deflection": (twist, None),
            "compliance": ((*twist, "component_of"), None),
            "success": ((), None),
        }
        found = {
            name: Variable((*batch, *axes), getattr(self, name), units)
            for name, (axes, units) in own.items()
        }
        at = coordinates_of(any_of(self.arm), np.shape(self.tau)[-1])
        at = {key: x for key, x in at.items() if not key.startswith("velocity")}
        words = {"title": f"workspace of {any_of(self.arm).name}", "held": self.held}
        return Labels(found, at, words)

    @property
    def frequencies(self) -> Array:
        """Natural frequencies in Hz, (..., n), negative for unstable motions."""
        return signed_frequencies(self.squares)

    @property
    def sag(self) -> Array:
        """Length of the displacement of the node in m, (...)."""
        return np.asarray(np.linalg.norm(self.deflection[..., 3:], axis=-1))

    @property
    def softness(self) -> Array:
        """Largest displacement of the node in m for 1 N, (...), NaN if infinite."""
        force = self.compliance[..., 3:, 3:]
        fine = np.isfinite(force).all(axis=(-2, -1))
        result = np.full(fine.shape, np.nan)
        result[fine] = np.linalg.svd(force[fine], compute_uv=False)[..., 0]
        return result


@checked
def joint_grid(
    arm: AnyArm,
    joints: Annotated[Mapping[str, ArrayLike], Dictionary(_JOINTS)],
    q: Posture | None = None,
) -> Array:
    """Make positions over a grid of some of the joints.

    Parameters
    ----------
    arm : Arm
        The arm.
    joints : mapping of str to (n_i,) array_like of float
        Values of positions in rad or m, by names of ``arm.position_names``.
    q : (nq,) array_like of float, optional
        Other positions; by default those of ``arm.neutral``.

    Returns
    -------
    q : (n_1, n_2, ..., nq) ndarray of float
        One axis for each joint of the mapping, in order.

    Raises
    ------
    ArgumentError
        If values are not a list of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, n_modes=6)
    >>> fa.joint_grid(arm, {"link1": [0.0, 1.0], "link2": [0, 1, 2]}).shape
    (2, 3, 14)
    """
    rest = arm.neutral if q is None else real_array("q", q)
    # one axis for each joint
    names, axes = arm.position_names, []
    for name, values in joints.items():
        if name not in names:
            raise ArgumentError(
                f"the arm has no position {name!r}, expected names of "
                f"arm.position_names, such as {names[0]!r}"
            )
        axis = real_array(f"joints[{name!r}]", values)
        if axis.ndim != 1:
            raise ArgumentError(
                f"joints[{name!r}] has shape {axis.shape}, expected one axis"
            )
        check_finite(f"joints[{name!r}]", axis)
        axes.append(axis)
    # positions at all combinations
    grid = np.empty((*(len(axis) for axis in axes), arm.nq))
    grid[...] = rest
    for i, (name, axis) in enumerate(zip(joints, axes, strict=True)):
        along = axis.reshape(-1, *[1] * (len(axes) - 1 - i))
        grid[..., names.index(name)] = along
    return grid


@checked
@recorded("workspace_map")
def workspace_map(
    arm: AnyArm,
    q: Positions | None = None,
    *,
    target: Annotated[ArrayLike, Floats("(..., 4, 4)", "(..., 3)")] | None = None,
    node: object = None,
    held: object = "motors",
    wrench: Twists | None = None,
    frame: JacobianFrame = "node",
    **options: Any,
) -> WorkspaceMap:
    """Map frequencies, deflection, compliance and holding forces over a workspace.

    Parameters
    ----------
    arm : Arm or ArmStack
        Arm without loops; couplings are allowed.
    q : (..., nq) array_like of float, optional
        Joint positions, such as a `joint_grid`, or initial ones for a `target`.
    target : (..., 4, 4) or (..., 3) array_like of float, optional
        Poses or positions of the loaded node, in place of joint positions.
    node : int, str or (body, node), optional
        Node of pose, deflection and compliance; by default the tip.
    held : "motors", "joints", None, names or numbers
        Coordinates at rest in vibration and compliance: motors and joints without one,
        all joints and motors, none, or these.
    wrench : (..., 6) array_like of float, optional
        Moment in N m and force in N on this node, besides gravity.
    frame : {"node", "base"}
        Axes of the wrench.
    **options
        Options of `inverse_kinematics`, with a target.

    Returns
    -------
    map : WorkspaceMap
        Arrays with the leading axes of the arguments, NaN for targets out of reach and
        postures without a stable equilibrium.

    Raises
    ------
    ArgumentError
        If options of `inverse_kinematics` have no `target`.

    Warns
    -----
    DeflectionWarning
        If a link bends to a slope of more than 0.5 in its own frame; see
        `flexarm.largest_slope`.

    See Also
    --------
    flexarm.plotting.workspace : draws it.
    equilibrium, natural_frequencies, deflection, static_compliance : its parts.

    Notes
    -----
    If several postures reach a target, the first one found is used; ``limits`` of
    `inverse_kinematics` choose an elbow.

    Examples
    --------
    The lowest frequency of an arm with a load decreases as it stretches:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> weightless = {"gravity": (0, 0, 0), "payload_mass": 1.0}
    >>> arm = fa.library.planar_chain(2, n_modes=2, **weightless)
    >>> grid = fa.joint_grid(arm, {"link1": [0.0], "link2": [2.0, 1.0, 0.0]})
    >>> found = fa.workspace_map(arm, grid)
    >>> found.frequencies[0, :, 0].round(3)
    array([1.277, 0.897, 0.802])
    >>> found.sag.shape
    (1, 3)
    """
    read_arm(arm, "workspace_map")
    number = one_node(arm, node)
    load: dict[str, Any] = {"wrench": wrench, "frame": frame}
    reached: Mask | np.bool_ | bool = True
    if target is not None:
        found = inverse_statics(arm, target, q, node=number, **load, **options)
        rest, reached = found.equilibrium, found.kinematics.success
    elif options:
        raise ArgumentError(
            f"{', '.join(options)} given without a target, expected options of "
            "inverse_kinematics with one"
        )
    else:
        on = None if wrench is None else number
        rest = uninterrupted(
            equilibrium(arm, arm.neutral if q is None else q, node=on, **load)
        )
    return _mapped(arm, number, held, rest, reached & rest.stable, load)


def _mapped(
    arm: AnyArm,
    node: int,
    held: object,
    rest: Equilibrium,
    success: Mask | np.bool_,
    load: Any,
) -> WorkspaceMap:
    """Properties of each equilibrium, NaN without one."""
    free = freedom(arm, held_coordinates(arm, held))
    on = None if load["wrench"] is None else node
    loads = read_loads(arm, load["wrench"], on, load["frame"])
    # the neutral posture replaces missing equilibria
    q = np.where(np.asarray(success)[..., np.newaxis], rest.q, arm.neutral)
    K, _ = linear_system(arm, q, None, loads, free)
    X = scale_by_mass(arm, q, free)
    scaled = np.swapaxes(X, -1, -2) @ K @ X
    squares = without_flutter(undamped(scaled)[0])
    pose = node_pose(arm, q, node)
    rigid = node_pose(arm, rigid_positions(arm, q, "motors"), node)
    compliance, weak = compliance_of(arm, q, node, K, free, "base")
    compliance[weak] = np.inf

    def kept(array: Array) -> Array:
        result = np.array(array)
        result[~np.asarray(success)] = np.nan
        return result

    return WorkspaceMap(
        arm,
        node,
        held,
        rest.q,
        kept(pose),
        kept(actuator_forces(arm, rest.tau)),
        kept(squares),
        kept(pose_change(rigid, pose)),
        kept(compliance),
        success,
    )
