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
from functools import cached_property, lru_cache
from typing import Annotated, Any

import numpy as np

from .._calls.declared import Floats, Kept, Kind, shown
from .._calls.doors import checked_record
from .._core import finite_copy
from .._support.arrays import Array
from .._support.checks import (
    MAX_MAGNITUDE,
    as_array,
    as_numbers,
    finite,
    model_rotation,
    short_text,
    unturned,
)
from .._support.options import did_you_mean
from .._support.warn import warn_of_degrees
from ..errors import ModelError
from ._joint_kinds import JointKinds, check_joint_forces
from .axes import unit_screw, unit_vector
from .drives import CoulombFriction, Drive, NotNegative, Stops, part

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
_FREEDOMS = {kind: len(names) for kind, names in _PRODUCTS.items()}
_FREEDOMS |= {"spherical": 3, "free": 6}
JOINT_KINDS = (*_PRODUCTS, *_POSES, "screw")

_EYE = np.eye(3).tobytes()


def _none() -> None:
    """Return the default of fields that have the names of constructors."""


def _word(kind: object) -> str:
    """Word of a kind, as of ``"Weld Joint"``."""
    text = kind.lower() if isinstance(kind, str) else ""
    return text.replace("joint", "").strip(" _")


def _kind(what: str, value: object) -> str:
    if isinstance(value, str) and value in JOINT_KINDS:
        return value
    hint = did_you_mean(_word(value), JOINT_KINDS)
    if isinstance(value, str) and value in ("x", "y", "z"):
        hint = f"; Joint(axis={value!r}) is a hinge about {value}"
    raise ModelError(
        f"unknown joint kind {short_text(value)}, expected one of "
        f"{', '.join(map(repr, JOINT_KINDS))}{hint}"
    )


def _parent(what: str, value: object) -> str:
    if isinstance(value, str):
        return value
    name = getattr(value, "name", None)
    hint = f": parent={short_text(name)}" if isinstance(name, str) else ""
    raise ModelError(
        f"{what} is {shown(value)}, expected the name of a body or 'ground'{hint}"
    )


def _name(what: str, value: object) -> str:
    if isinstance(value, str) and value:
        return value
    raise ModelError(f"{what} is {short_text(value)}, expected a word")


def _rotation(what: str, value: object) -> Array:
    given = finite_copy(value, (3, 3))
    if given is not None and given.tobytes() == _EYE:
        return given
    rotation = as_numbers(what, value)
    if rotation.shape != (3, 3):
        raise ModelError(
            f"{what} has shape {rotation.shape}, expected (3, 3), a matrix such as "
            "se3.so3_exp([0, 0, angle]) or se3.rotation_from_quaternion([w, x, y, z])"
        )
    return model_rotation(what, rotation)


def _pitch(what: str, value: object) -> float:
    pitch = finite(what, value)
    if abs(pitch) > MAX_MAGNITUDE:
        raise ModelError(
            f"{what} is {pitch:g} m/rad, expected at most {MAX_MAGNITUDE:g}"
        )
    return pitch


@checked_record("{field} of the joint")
@dataclass(frozen=True, eq=False)
class Joint(JointKinds):
    """Connection of a body to a node of its parent.

    `Joint.revolute`, `prismatic`, `spherical`, ... make one of each kind and take the
    parameters that this kind has.

    Parameters
    ----------
    kind : str
        Kind of motion; positions and velocities are listed below.
    axis : (3,) array_like of float, or name such as ``"z"`` or ``"-x"``
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
    armature : float or (n_dof,) array_like of float
        Inertia of rotor and gear seen at the joint, N^2 J of a rotor J behind a gear N,
        for all or for each velocity, in kg m^2 (turning) or kg.
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
    actuated : bool
        Whether an actuator drives the joint.  Without one it moves by what else acts on
        it, and forces with one entry for each actuator (``arm.nu``) have none for it.
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

    With `armature` a, the kinetic energy gains 1/2 a v^2 of the velocity v of the
    joint: M gains a on its diagonal.  This is the ``armature`` of MuJoCo and Pinocchio,
    the limit of a fast small rotor: its own spin, which turns with the body that
    carries it, has no momentum and no gyroscopic moment, and its mass belongs to the
    bodies.  A rotor with these is the one of a `Drive`, which takes no armature.

    A screw ``(e; p x e + h e)`` with a unit vector e turns about the line through p
    along e and advances by the pitch h, in m per rad; ``(0; e)`` slides along e.
    Several screws give the product ``exp(S_1 q_1) ... exp(S_n q_n)``, all of them in
    the frame of the body at neutral coordinates.  An axis that does not pass through
    the frame takes about twice the time.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.Joint.universal("x", "y").n_dof
    2
    >>> fa.Joint.free().neutral
    array([1., 0., 0., 0., 0., 0., 0.])

    A revolute joint about z through x = 0.5 m of the body:

    >>> fa.Joint.screw((0, 0, 1, 0, -0.5, 0), limits=(-2, 2)).limits
    array([[-2.],
           [ 2.]])
    """

    kind: Annotated[str, Kept(_kind)] = "revolute"
    axis: Annotated[Any, Kept(unit_vector)] = (0.0, 0.0, 1.0)
    parent: Annotated[str, Kept(_parent)] | None = None
    node: Annotated[str | int | float, Kind()] = "tip"
    position: Annotated[Any, Kept(as_array, (3,))] = (0.0, 0.0, 0.0)
    rotation: Annotated[Any, Kept(_rotation)] = field(default_factory=unturned)
    damping: Annotated[Any, Floats("()", "(n_dof,)")] = 0.0
    axis2: Annotated[Any, Kept(unit_vector)] = None
    pitch: Annotated[float, Kept(_pitch)] = 0.0
    # on the class these names are the constructors
    subspace: Any = field(default_factory=_none)
    screw: Any = field(default_factory=_none)
    limits: Annotated[Any, Kept(as_numbers)] = None
    velocity_limit: Annotated[Any, Floats("()", "(n_dof,)")] = None
    acceleration_limit: Annotated[Any, Floats("()", "(n_dof,)")] = None
    effort_limit: Annotated[Any, Floats("()", "(n_dof,)")] = None
    drive: Annotated[Drive, Kept(part, Drive)] | None = None
    stiffness: NotNegative = 0.0
    rest: Annotated[float, Kept(finite)] = 0.0
    coulomb_friction: Annotated[CoulombFriction, Kept(part, CoulombFriction)] | None = (
        None
    )
    stops: Annotated[Stops, Kept(part, Stops)] | None = None
    name: Annotated[str, Kept(_name)] | None = None
    armature: Annotated[Any, Floats("()", "(n_dof,)")] = 0.0
    actuated: bool = True

    def __post_init__(self) -> None:
        self._set(
            subspace=self._check_subspace(),
            screw=self._check_screw(),
        )
        self._refuse_unused()
        self._set(axis2=self._check_axis2(), limits=self._check_limits())
        self._set(
            actuated=bool(self.actuated),
            damping=self._check_of_rates("damping"),
            armature=self._check_of_rates("armature"),
            velocity_limit=self._check_size("velocity_limit"),
            acceleration_limit=self._check_size("acceleration_limit"),
            effort_limit=self._check_size("effort_limit"),
        )
        check_joint_forces(self)
        if self.kind in ("revolute", "universal"):
            if self.limits is not None:
                warn_of_degrees("limits of the joint", self.limits)
            if self.stops is not None:
                bounds = (self.stops.lower, self.stops.upper)
                warn_of_degrees("stops of the joint", bounds)

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
        limits: Array = self.limits
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

    def _check_size(self, name: str) -> float | Array | None:
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
                f"a {self.kind} joint has a second axis, axis2, expected it only of a "
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
        axis2: Array = self.axis2
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

    def _check_of_rates(self, name: str) -> float | Array:
        """Zero or more for all velocities, or (n_dof,) for each."""
        what, given = f"{name} of the joint", getattr(self, name)
        if type(given) is float and 0.0 <= given < np.inf:
            return given
        shape = () if as_numbers(what, given).ndim == 0 else (self.n_dof,)
        value = as_array(what, given, shape)
        if value.min(initial=0.0) < 0.0:
            raise ModelError(f"{what} is {value.min():g}, expected zero or more")
        return value if shape else float(value)

    @cached_property
    def _kept(self) -> dict[Any, Any]:
        """Results of modules of the model for the joint, for all bodies with it."""
        return {}

    @property
    def has_pose(self) -> bool:
        """Whether the positions are a quaternion and a translation."""
        return self.kind in _POSES

    @cached_property
    def screws(self) -> Array:
        """Columns S_1 ... S_n of the product of screws, or S of a pose, (6, n_dof)."""
        if self.kind in ("fixed", "revolute", "prismatic"):
            result: Array = np.zeros((6, int(self.kind != "fixed")))
            result[0 if self.kind == "revolute" else 3 :][:3].T[:] = self.axis
            result.flags.writeable = False
            return result
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
        result = np.array(columns[self.kind]).reshape(-1, 6).T
        result.flags.writeable = False
        return result

    @property
    def n_dof(self) -> int:
        """Number of velocities, 0 to 6."""
        count = _FREEDOMS.get(self.kind)
        if count is not None:
            return count
        if self.kind == "subspace":
            return int(self.subspace.shape[1])
        return int(self.screw.size) // 6

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
        return np.full(self.n_dof, self.damping, dtype=np.float64)

    @property
    def reflected_inertia(self) -> Array:
        """Armature of each velocity, (n_dof,)."""
        return np.full(self.n_dof, self.armature, dtype=np.float64)


@lru_cache(maxsize=1)
def default_joint() -> Joint:
    """Return the joint of bodies that name none: revolute about z, made once."""
    return Joint()
