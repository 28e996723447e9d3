r"""Joints: connections of bodies to the nodes that carry them.

A joint is of one of two types.

* A **product of screws**: the body is displaced by ``exp(S_1 q_1) ... exp(S_n q_n)``,
  each coordinate turns or slides, velocities are the rates of the coordinates.
* A **pose**: the position coordinates are a unit quaternion ``(w, x, y, z)`` and,
  except for the spherical joint, a translation; the twist of the body in its axes is
  ``S v`` with a constant `S` and fewer, freely chosen velocities `v` than positions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.checks import (
    LARGEST,
    as_array,
    as_numbers,
    as_vector,
    check_rotation,
    short_text,
)
from .._support.description import Description
from .._support.doubtful import warn_of_degrees
from .._support.kinds import shown
from .._support.options import did_you_mean, explained_class
from ..errors import ModelError
from .drives import CoulombFriction, Drive, Stops, finite_number

Array = NDArray[np.float64]

# names of the coordinates; empty for a single one
_PRODUCTS: dict[str, tuple[str, ...]] = {
    "fixed": (),
    "revolute": ("",),
    "prismatic": ("",),
    "helical": ("",),
    "cylindrical": ("rotation", "translation"),
    "universal": ("rotation 1", "rotation 2"),
    "planar": ("translation 1", "translation 2", "rotation"),
}
_QUATERNION = ("qw", "qx", "qy", "qz")
_TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")
_POSES = ("spherical", "free", "subspace")
JOINT_KINDS = (*_PRODUCTS, *_POSES, "screw")

# smallest turn of a screw in rad per m of slide
MIN_TURN = 1e-9


@explained_class
@dataclass(frozen=True, eq=False)
class Joint(Description):
    """Connection of a body to a node of its parent.

    Parameters
    ----------
    kind : str
        Kind of motion; positions and velocities are listed below.
    axis : (3,) array_like of float
        Direction of motion in the frame of the body; normalized here.  Normal of a
        planar joint, first axis of a universal one.
    parent : str, optional
        Name of the parent body, or ``"ground"``; by default the previous body of the
        arm, and the ground for the first one.
    node : str, int or float
        Node of the parent that carries the joint, by name or number, or, of a link of
        `beams`, by its distance along the link, in m.
    position : (3,) array_like of float
        Origin of the joint frame in the frame of the node, in m, which moves with the
        deformed body.
    rotation : (3, 3) array_like of float
        Orientation of the joint frame, from its components to those of the node frame.
    damping : float or (n_dof,) array_like of float
        Viscous friction of all or of each velocity, in N m s (turning) or N s/m.
    axis2 : (3,) array_like of float, optional
        Second axis of a universal joint, or first direction in the plane of a planar
        one; normalized here.  By default the coordinate axis closest to the normal
        plane of `axis`, projected on that plane: x for the axis z.
    pitch : float
        Advance of a helical joint, in m per rad.
    subspace : (6, n_dof) array_like of float, optional
        Of a joint ``"subspace"``: twists (angular; linear) that the joint allows, in
        the axes of the body, in rad and m by unit of the coordinate.
    screw : (6,) or (6, n) array_like of float, optional
        Of a joint ``"screw"``: one to six screws (angular; linear) in the frame of the
        body, linear parts in m.  Each is scaled to an angular part of length one, so
        that its coordinate is an angle; without an angular part to a linear part of
        length one, so that its coordinate is a distance.
    limits : (2,) or (2, n_positions) array_like of float, optional
        Lower and upper limits of the positions, in rad or m, may be infinite.
        Functions that choose positions respect them, the equations of motion do not.
        None by default; joints with quaternions cannot have any.
    velocity_limit, acceleration_limit, effort_limit : float or (n_dof,) array_like
        Largest sizes of all or of each velocity, of its rate, and of the force or
        torque at the joint, behind the gear of a drive; in rad/s or m/s, per s, and N m
        or N.  `optimize` respects them, the equations of motion do not.  None by
        default.
    drive : Drive, optional
        Of a joint of one freedom: motor, gear and elastic shaft.  The motor has its own
        coordinate, on which the force of the actuator acts.
    stiffness : float
        Of a joint of one freedom: spring across the joint itself, in N m/rad or N/m.
    rest : float
        Position at which that spring has no force, in rad or m.
    coulomb_friction : CoulombFriction, optional
        Of a joint of one freedom: dry friction.
    stops : Stops, optional
        Of a joint of one freedom: elastic stops at the ends of its range.
    name : str, optional
        Name of the coordinates, unique in the arm; by default that of the body.

    Warns
    -----
    UnitsWarning
        If limits or stops of an angle look like degrees.

    Notes
    -----
    At neutral coordinates the frame of the body coincides with the joint frame.

    ==============  =====================================  ============================
    kind            positions                              velocities
    ==============  =====================================  ============================
    fixed
    revolute        angle                                  its rate
    prismatic       displacement                           its rate
    helical         angle; slides `pitch` times that       its rate
    cylindrical     angle, displacement along one axis     their rates
    universal       angle about `axis`, then about         their rates
                    `axis2` as turned by it
    planar          two displacements in the plane, in     their rates
                    fixed directions, then the angle
    spherical       quaternion (w, x, y, z)                angular velocity of the body
                                                           relative to its parent, in
                                                           its own axes
    free            quaternion, origin of the body in      twist of the body relative to
                    joint axes                             its parent, in its own axes
    subspace        the same seven                         amplitudes of the columns of
                                                           `subspace`
    screw           angle or displacement of each screw;   their rates
                    the last one moves the body first
    ==============  =====================================  ============================

    A quaternion of any length except zero stands for the rotation of its direction.  A
    subspace that is not a Lie algebra is a nonholonomic joint, such as a rolling body.

    A screw ``(e; p x e + h e)`` with a unit vector e turns about the line through p
    along e and advances by the pitch h, in m per rad; ``(0; e)`` slides along e.
    Several screws give the product ``exp(S_1 q_1) ... exp(S_n q_n)``, all of them in
    the frame of the body at neutral coordinates.  An axis that does not pass through
    the frame takes about twice the time.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.Joint("universal", axis=(1, 0, 0), axis2=(0, 1, 0)).n_dof
    2
    >>> fa.Joint("free").neutral
    array([1., 0., 0., 0., 0., 0., 0.])

    A revolute joint about z through x = 0.5 m of the body:

    >>> fa.Joint("screw", screw=(0, 0, 1, 0, -0.5, 0), limits=(-2, 2)).limits
    array([[-2.],
           [ 2.]])
    """

    kind: str = "revolute"
    axis: Any = (0.0, 0.0, 1.0)
    parent: str | None = None
    node: str | int | float = "tip"
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = field(default_factory=lambda: np.eye(3))
    damping: Any = 0.0
    axis2: Any = None
    pitch: Any = 0.0
    subspace: Any = None
    screw: Any = None
    limits: Any = None
    velocity_limit: Any = None
    acceleration_limit: Any = None
    effort_limit: Any = None
    drive: Drive | None = None
    stiffness: Any = 0.0
    rest: Any = 0.0
    coulomb_friction: CoulombFriction | None = None
    stops: Stops | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in JOINT_KINDS:
            raise ModelError(
                f"unknown joint kind {short_text(self.kind)}, expected one of "
                f"{', '.join(map(repr, JOINT_KINDS))}"
                f"{did_you_mean(self.kind, JOINT_KINDS)}"
            )
        if self.parent is not None and not isinstance(self.parent, str):
            name = getattr(self.parent, "name", None)
            hint = f": parent={short_text(name)}" if isinstance(name, str) else ""
            raise ModelError(
                f"parent of the joint is {shown(self.parent)}, expected the name of a "
                f"body or 'ground'{hint}"
            )
        if self.name is not None and (not isinstance(self.name, str) or not self.name):
            raise ModelError(
                f"name of the joint is {short_text(self.name)}, expected a word"
            )
        rotation = as_numbers("rotation of the joint", self.rotation)
        if rotation.shape != (3, 3):
            raise ModelError(
                f"rotation of the joint has shape {rotation.shape}, expected (3, 3), a "
                "matrix such as se3.so3_exp([0, 0, angle]) or "
                "se3.rotation_from_quaternion([w, x, y, z])"
            )
        rotation = as_array("rotation of the joint", rotation, (3, 3))
        check_rotation("rotation of the joint", rotation)
        self._set(
            axis=unit_vector("axis of the joint", self.axis),
            position=as_array("position of the joint", self.position, (3,)),
            rotation=rotation,
            pitch=self._check_pitch(),
            subspace=self._check_subspace(),
            screw=self._check_screw(),
        )
        self._refuse_unused()
        self._set(axis2=self._check_axis2(), damping=self._check_damping())
        self._set(limits=self._check_limits())
        for name in ("velocity_limit", "acceleration_limit", "effort_limit"):
            self._set(**{name: self._check_size(name)})
        _check_joint_forces(self)
        if self.kind in ("revolute", "universal"):
            if self.limits is not None:
                warn_of_degrees("limits of the joint", self.limits)
            if self.stops is not None:
                bounds = (self.stops.lower, self.stops.upper)
                warn_of_degrees("stops of the joint", bounds)

    def _check_pitch(self) -> float:
        pitch = float(as_array("pitch of the joint", self.pitch, ()))
        if abs(pitch) > LARGEST:
            raise ModelError(
                f"pitch of the joint is {pitch:g} m/rad, expected at most {LARGEST:g}"
            )
        return pitch

    def _check_subspace(self) -> Array | None:
        if (self.subspace is None) != (self.kind != "subspace"):
            raise ModelError(
                "a joint 'subspace' has no subspace, expected a 6 x n matrix of twists"
                if self.subspace is None
                else f"a {self.kind} joint has a subspace, expected it only of "
                "kind 'subspace'"
            )
        if self.subspace is None:
            return None
        S = as_array("subspace of the joint", self.subspace, (6, None))
        n = S.shape[1]
        if not 1 <= n <= 6:
            raise ModelError(
                f"subspace of the joint has {n} columns, expected between 1 and 6"
            )
        sizes = np.linalg.svd(S, compute_uv=False)
        if not sizes[-1] > 1e-12 * sizes[0]:
            raise ModelError(
                f"subspace of the joint has rank {np.linalg.matrix_rank(S)} with {n} "
                "columns, expected independent ones; leave some out"
            )
        return S

    def _check_screw(self) -> Array | None:
        if (self.screw is None) != (self.kind != "screw"):
            raise ModelError(
                "a joint 'screw' has no screw, expected six numbers, angular part first"
                if self.screw is None
                else f"a {self.kind} joint has a screw, expected it only of kind "
                "'screw'"
            )
        if self.screw is None:
            return None
        several = as_numbers("screw of the joint", self.screw).ndim == 2
        S = as_array("screw of the joint", self.screw, (6, None) if several else (6,))
        if several and not 1 <= S.shape[1] <= 6:
            raise ModelError(
                f"screw of the joint has {S.shape[1]} columns, expected between 1 and 6"
            )
        if not several:
            return unit_screw("screw of the joint", S)
        columns = [
            unit_screw(f"screw {i + 1} of the joint", x) for i, x in enumerate(S.T)
        ]
        return as_array("", np.array(columns).T, S.shape)

    def _check_limits(self) -> Array | None:
        if self.limits is None:
            return None
        # of angles or displacements only
        n = self.n_positions
        if self.has_pose or not n:
            raise ModelError(
                f"a {self.kind} joint has limits, expected them of joints whose "
                "positions are angles or displacements; leave them out"
            )
        # a lower and an upper limit of each position
        limits = as_numbers("limits of the joint", self.limits)
        if limits.shape == (2,) and n == 1:
            limits = limits[:, np.newaxis]
        if limits.shape != (2, n):
            raise ModelError(
                f"limits of the joint have shape {limits.shape}, expected "
                f"{'(2,)' if n == 1 else (2, n)}: lower and upper limits"
            )
        for i, (lower, upper) in enumerate(limits.T):
            if not lower <= upper or lower == np.inf or upper == -np.inf:
                where = f" of its position {i + 1}" if n > 1 else ""
                raise ModelError(
                    f"limits of the joint{where} are {lower:g} and {upper:g}, expected "
                    "a lower limit that is not above the upper one"
                )
        limits.flags.writeable = False
        return limits

    def _check_size(self, name: str) -> Any:
        """Largest size of each velocity, or alike: a number, (n_dof,) or None."""
        given = getattr(self, name)
        if given is None:
            return None
        what = f"{name} of the joint"
        size = as_numbers(what, given)
        if size.shape not in ((), (self.n_dof,)) or not self.n_dof:
            raise ModelError(
                f"{what} has shape {size.shape}, but the joint has {self.n_dof} "
                "velocities; expected a number for all of them, or one for each"
            )
        if not (size > 0.0).all():
            raise ModelError(
                f"{what} is {short_text(given)}, expected the largest size, a number "
                "above zero"
            )
        size.flags.writeable = False
        return size if size.ndim else float(size)

    def _refuse_unused(self) -> None:
        """Raise for arguments that the kind of joint does not use."""
        if self.pitch != 0.0 and self.kind != "helical":
            raise ModelError(
                f"a {self.kind} joint has the pitch {self.pitch:g} m/rad, expected it "
                "only of a helical joint"
            )
        if self.axis2 is not None and self.kind not in ("universal", "planar"):
            raise ModelError(
                f"a {self.kind} joint has a second axis, expected it only of a "
                "universal or planar joint"
            )
        if self.axis.tolist() == [0.0, 0.0, 1.0]:
            return
        if self.kind in _POSES:
            raise ModelError(
                f"a {self.kind} joint has the axis {self.axis.tolist()}, but it moves "
                "in all directions; leave it out"
            )
        if self.kind == "screw":
            raise ModelError(
                f"a screw joint has the axis {self.axis.tolist()}, but its screw has "
                "one already; leave it out"
            )

    def _check_axis2(self) -> Array | None:
        if self.kind not in ("universal", "planar"):
            return None
        if self.axis2 is None:
            nearest = np.eye(3)[int(np.argmin(np.abs(self.axis)))]
            return unit_vector("", nearest - (nearest @ self.axis) * self.axis)
        axis2 = unit_vector("axis2 of the joint", self.axis2)
        cosine = float(axis2 @ self.axis)
        if self.kind == "planar" and abs(cosine) > 1e-9:
            raise ModelError(
                f"axis2 of the planar joint is {np.degrees(np.arccos(cosine)):.6g} "
                "degrees from its axis, expected a direction in the plane, 90 degrees"
            )
        if float(np.linalg.norm(np.cross(self.axis, axis2))) < 1e-9:
            raise ModelError(
                "the two axes of the universal joint are parallel, expected different "
                "directions"
            )
        return axis2

    def _check_damping(self) -> Any:
        one = as_numbers("damping of the joint", self.damping).ndim == 0
        shape = () if one else (self.n_dof,)
        damping = as_array("damping of the joint", self.damping, shape)
        if damping.min(initial=0.0) < 0.0:
            raise ModelError(
                f"damping of the joint is {damping.min():g}, expected zero or more"
            )
        return damping if shape else float(damping)

    @property
    def has_pose(self) -> bool:
        """Whether the positions are a quaternion and a translation."""
        return self.kind in _POSES

    @cached_property
    def screws(self) -> Array:
        """Columns S_1 ... S_n of the product of screws, or S of a pose, (6, n_dof)."""
        # turn and slide along the axis, directions across it
        turn = np.concatenate([self.axis, np.zeros(3)])
        slide = np.concatenate([np.zeros(3), self.axis])
        first = second = np.zeros(6)
        if self.axis2 is not None:
            first = np.concatenate([np.zeros(3), self.axis2])
            across = np.cross(self.axis, self.axis2)
            second = np.concatenate([np.zeros(3), across])
        # columns of each kind
        columns: dict[str, list[Array]] = {
            "fixed": [],
            "revolute": [turn],
            "prismatic": [slide],
            "helical": [turn + self.pitch * slide],
            "cylindrical": [turn, slide],
            "universal": [turn, np.roll(first, 3)],
            "planar": [first, second, turn],
            "spherical": list(np.eye(6)[:3]),
            "free": list(np.eye(6)),
        }
        if self.kind == "subspace":
            columns["subspace"] = list(self.subspace.T)
        if self.kind == "screw":
            columns["screw"] = list(self.screw.reshape(6, -1).T)
        result: Array = np.array(columns[self.kind]).reshape(-1, 6).T
        result.flags.writeable = False
        return result

    @property
    def n_dof(self) -> int:
        """Number of velocities, 0 to 6."""
        if self.kind == "subspace":
            return int(self.subspace.shape[1])
        if self.kind == "screw":
            return int(self.screw.size) // 6
        free = {"spherical": 3, "free": 6}
        return free[self.kind] if self.has_pose else len(_PRODUCTS[self.kind])

    @property
    def n_positions(self) -> int:
        """Number of position coordinates, 0 to 7."""
        if self.has_pose:
            return 4 if self.kind == "spherical" else 7
        return self.n_dof

    @property
    def neutral(self) -> Array:
        """Positions at which the body sits in the joint frame."""
        neutral = np.zeros(self.n_positions)
        neutral[:1] = float(self.has_pose)  # of the quaternion
        return neutral

    @property
    def position_names(self) -> tuple[str, ...]:
        """Names of the position coordinates; empty for a single one."""
        if self.kind == "spherical":
            return _QUATERNION
        return (*_QUATERNION, "x", "y", "z") if self.has_pose else self.velocity_names

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the velocities; empty for a single one."""
        if self.kind == "subspace":
            return tuple(f"rate {i + 1}" for i in range(self.n_dof))
        if self.kind == "screw":
            one = self.n_dof == 1
            return tuple("" if one else f"screw {i + 1}" for i in range(self.n_dof))
        return _TWIST[: self.n_dof] if self.has_pose else _PRODUCTS[self.kind]

    @property
    def friction(self) -> Array:
        """Viscous friction of each velocity, (n_dof,)."""
        return np.broadcast_to(self.damping, (self.n_dof,)).astype(np.float64)


def _within_range(vector: Array) -> Array:
    """Return the vector, or a multiple if its squares would over- or underflow."""
    size = float(np.abs(vector).max())
    return vector if size == 0.0 or 1e-150 < size < 1e150 else vector / size


def unit_screw(what: str, screw: Array) -> Array:
    """Read-only screw (6,) whose angular, or else linear, part has length one."""
    screw = _within_range(screw)
    # without squares, which would underflow for a small part
    turn, slide = (float(np.hypot.reduce(part)) for part in (screw[:3], screw[3:]))
    if turn == 0.0 and slide == 0.0:
        raise ModelError(
            f"{what} is zero, expected an axis to turn about, (e; p x e + h e), or a "
            "direction to slide along, (0; e)"
        )
    if 0.0 < turn < MIN_TURN * slide:
        raise ModelError(
            f"{what} has an angular part of length {turn:.3g} and a linear one of "
            f"{slide:.3g} m, a turn of less than {MIN_TURN:g} rad per m; expected "
            "(0; e) for a joint that slides"
        )
    part = slice(0, 3) if turn else slice(3, 6)
    length = turn or slide
    unit = screw if abs(length - 1.0) < 1e-15 else screw / length
    # the same rounding as that of an axis
    unit = np.array(unit)
    unit[part] = unit_vector(what, screw[part])
    unit.flags.writeable = False
    return unit


def unit_vector(what: str, value: Any) -> Array:
    """Read-only unit vector; a vector that is unit already keeps its bits."""
    vector = _within_range(as_vector(what, value, (0.0, 0.0, 1.0)))
    length = float(np.linalg.norm(vector))
    if not length > 0.0:
        raise ModelError(f"{what} is zero, expected a direction such as (0, 0, 1)")
    unit = vector if abs(length - 1.0) < 1e-15 else vector / length
    unit.flags.writeable = False
    return unit


def on_axis(screw: Array) -> tuple[Array, Array]:
    """Point on the axis closest to the frame, and the screw seen from there, (6,).

    Rounding of the linear part counts as zero, so that axes through the frame and
    screws without pitch become the plain kinds.
    """
    turn, slide = screw[:3], screw[3:]
    if not (turn.any() and slide.any()):
        return np.zeros(3), screw
    rounding = 4.0 * np.finfo(float).eps * float(np.linalg.norm(slide))
    point, pitch = np.cross(turn, slide), float(turn @ slide)
    if np.linalg.norm(point) <= rounding:
        return np.zeros(3), screw
    if abs(pitch) <= rounding:
        pitch = 0.0
    return point, np.concatenate([turn, pitch * turn])


def _check_joint_forces(joint: Joint) -> None:
    """Check and set drive, spring, dry friction and stops of a joint."""
    # types and values
    joint._set(
        stiffness=finite_number("stiffness of the joint", joint.stiffness),
        rest=finite_number("rest of the joint", joint.rest, minimum=None),
    )
    for name, kind in (
        ("drive", Drive),
        ("coulomb_friction", CoulombFriction),
        ("stops", Stops),
    ):
        value = getattr(joint, name)
        if value is not None and not isinstance(value, kind):
            raise ModelError(
                f"{name} of the joint is {short_text(value)}, expected "
                f"{kind.__name__} or None"
            )
    if joint.rest != 0.0 and joint.stiffness == 0.0:
        raise ModelError(
            f"the joint has the rest position {joint.rest:g} and no spring, expected "
            "its stiffness"
        )
    # only on joints of one freedom
    given = [
        name
        for name in ("drive", "stiffness", "coulomb_friction", "stops")
        if getattr(joint, name)
    ]
    if given and (joint.n_dof != 1 or joint.has_pose):
        raise ModelError(
            f"a {joint.kind} joint has {' and '.join(given)}, expected them of joints "
            "of one freedom: revolute, prismatic, helical, or one screw; make it a "
            "chain of such joints"
        )
    # drives of sliding joints
    drive = joint.drive
    if drive is None:
        return
    slides = not joint.screws[:3].any()
    if drive.rotary and not slides:
        raise ModelError(
            f"the drive of a {joint.kind} joint is rotary, but that is for joints that "
            "slide, motors of others always turn; leave it out"
        )
    if slides and not drive.rotary:
        for name in ("rotor_mass", "rotor_transverse_inertia"):
            if getattr(drive, name):
                raise ModelError(
                    f"the drive of a joint that slides has the {name} "
                    f"{getattr(drive, name):g}, but its rotor slides as well and "
                    "rotor_inertia is its mass; leave it out, or pass rotary=True for "
                    "a motor that turns"
                )
