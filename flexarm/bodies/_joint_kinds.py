"""A constructor of `Joint` for each kind, and what may act inside a joint of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Annotated, ParamSpec, TypeAlias, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Floats, Vector
from .._calls.doors import checked_class, forwards
from .._support.checks import short_text
from .._support.description import Description
from ..errors import ModelError

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .drives import CoulombFriction, Drive, Stops
    from .joints import Joint

P = ParamSpec("P")
R = TypeVar("R")
_Axis: TypeAlias = Vector | str
_Twists: TypeAlias = Annotated[ArrayLike, Floats("(6, n)")]
_Screws: TypeAlias = Annotated[ArrayLike, Floats("(6,)", "(6, n)")]


class Placed(TypedDict, total=False):
    """Parameters of all joints."""

    parent: str | None
    node: str | int | float
    position: ArrayLike
    rotation: ArrayLike
    name: str | None


class Moving(Placed, total=False):
    """Those of joints that move."""

    damping: ArrayLike
    armature: ArrayLike
    velocity_limit: ArrayLike | None
    acceleration_limit: ArrayLike | None
    effort_limit: ArrayLike | None
    actuated: bool


class Limited(Moving, total=False):
    """Those of joints whose positions are angles and displacements."""

    limits: ArrayLike | None


class Single(Limited, total=False):
    """Those of joints of one freedom."""

    drive: Drive | None
    stiffness: float
    rest: float
    coulomb_friction: CoulombFriction | None
    stops: Stops | None


class _OfJoint:
    """Default of `Joint`, in signatures alone."""

    def __repr__(self) -> str:
        return "..."


@cache
def _parameters(options: type) -> list[inspect.Parameter]:
    """Parameters of all names, each with the default of `Joint`."""
    by_name = inspect.Parameter.KEYWORD_ONLY
    names = options.__annotations__
    return [inspect.Parameter(name, by_name, default=_OfJoint()) for name in names]


def _takes(options: type) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Show and admit the named options."""
    return forwards(_parameters(options), "Joint")


@checked_class
class JointKinds(Description):
    """Constructors by kind, which `Joint` documents."""

    if TYPE_CHECKING:  # that of `Joint`

        def __init__(self, kind: str, **options: object) -> None: ...

    @classmethod
    @_takes(Placed)
    def fixed(cls, **options: Unpack[Placed]) -> Self:
        """Weld: the body does not move at its node.

        Parameters
        ----------
        parent, node, position, rotation, name : optional
            As of `Joint`.

        Returns
        -------
        joint : Joint
            Joint of the kind ``"fixed"``.

        Examples
        --------
        >>> import flexarm as fa
        >>> fa.Joint.fixed(parent="boom").n_dof
        0
        """
        return cls("fixed", **options)

    @classmethod
    @_takes(Single)
    def revolute(cls, axis: _Axis = "z", **options: Unpack[Single]) -> Self:
        """Hinge that turns about an axis.

        Parameters
        ----------
        axis : (3,) array_like of float, or name such as ``"y"`` or ``"-x"``
            Axis of rotation in the frame of the body.
        parent, node, position, rotation, name, damping, armature : optional
        velocity_limit, acceleration_limit, effort_limit, actuated, limits : optional
        drive, stiffness, rest, coulomb_friction, stops : optional
            As of `Joint`.

        Returns
        -------
        joint : Joint
            Joint of the kind ``"revolute"``.

        Examples
        --------
        >>> import flexarm as fa
        >>> fa.Joint.revolute("y", limits=(-2.0, 2.0)).axis
        array([0., 1., 0.])
        """
        return cls("revolute", axis=axis, **options)

    @classmethod
    @_takes(Single)
    def prismatic(cls, axis: _Axis = "z", **options: Unpack[Single]) -> Self:
        """Slider along an axis.

        Parameters
        ----------
        axis : (3,) array_like of float, or name such as ``"y"`` or ``"-x"``
            Direction in the frame of the body.
        parent, node, position, rotation, name, damping, armature : optional
        velocity_limit, acceleration_limit, effort_limit, actuated, limits : optional
        drive, stiffness, rest, coulomb_friction, stops : optional
            As of `Joint`.

        Returns
        -------
        joint : Joint
            Joint of the kind ``"prismatic"``.

        Examples
        --------
        >>> import flexarm as fa
        >>> fa.Joint.prismatic("x").screws[:, 0]
        array([0., 0., 0., 1., 0., 0.])
        """
        return cls("prismatic", axis=axis, **options)

    @classmethod
    @_takes(Single)
    def helical(
        cls, axis: _Axis = "z", *, pitch: float, **options: Unpack[Single]
    ) -> Self:
        """Spindle: turns about an axis and advances along it.

        Parameters
        ----------
        axis : (3,) array_like of float, or name such as ``"y"`` or ``"-x"``
            Axis of rotation in the frame of the body.
        pitch : float
            Advance, in m per rad.
        parent, node, position, rotation, name, damping, armature : optional
        velocity_limit, acceleration_limit, effort_limit, actuated, limits : optional
        drive, stiffness, rest, coulomb_friction, stops : optional
            As of `Joint`.

        Returns
        -------
        joint : Joint
            Joint of the kind ``"helical"``.

        Examples
        --------
        >>> import flexarm as fa
        >>> fa.Joint.helical("x", pitch=0.01).screws[:, 0]
        array([1.  , 0.  , 0.  , 0.01, 0.  , 0.  ])
        """
        return cls("helical", axis=axis, pitch=pitch, **options)

    @classmethod
    @_takes(Limited)
    def cylindrical(cls, axis: _Axis = "z", **options: Unpack[Limited]) -> Self:
        """Turns about an axis and slides along it.

        Parameters
        ----------
        axis : (3,) array_like of float, or name such as ``"y"`` or ``"-x"``
            Axis in the frame of the body.
        parent, node, position, rotation, name, damping, armature : optional
        velocity_limit, acceleration_limit, effort_limit, actuated, limits : optional
            As of `Joint`.

        Returns
        -------
        joint : Joint
            Joint of the kind ``"cylindrical"``.

        Examples
        --------
        >>> import flexarm as fa
        >>> fa.Joint.cylindrical("x").position_names
        ('rotation', 'translation')
        """
        return cls("cylindrical", axis=axis, **options)

    @classmethod
    @_takes(Limited)
    def universal(
        cls, axis: _Axis = "z", axis2: _Axis | None = None, **options: Unpack[Limited]
    ) -> Self:
        """Cardan joint: turns about two axes, of which the first turns the second.

        Parameters
        ----------
        axis : (3,) array_like of float, or name such as ``"y"`` or ``"-x"``
            First axis, in the frame of the body.
        axis2 : (3,) array_like of float, or name such as ``"y"`` or ``"-x"``, optional
            Direction of the second axis; by default as of `Joint`.
        parent, node, position, rotation, name, damping, armature : optional
        velocity_limit, acceleration_limit, effort_limit, actuated, limits : optional
            As of `Joint`.

        Returns
        -------
        joint : Joint
            Joint of the kind ``"universal"``.

        Examples
        --------
        >>> import flexarm as fa
        >>> fa.Joint.universal("x", "y").n_dof
        2
        """
        return cls("universal", axis=axis, axis2=axis2, **options)

    @classmethod
    @_takes(Limited)
    def planar(
        cls, axis: _Axis = "z", axis2: _Axis | None = None, **options: Unpack[Limited]
    ) -> Self:
        """Two displacements in a plane, then a rotation about its normal.

        Parameters
        ----------
        axis : (3,) array_like of float, or name such as ``"y"`` or ``"-x"``
            Normal of the plane, in the frame of the body.
        axis2 : (3,) array_like of float, or name such as ``"y"`` or ``"-x"``, optional
            First direction in the plane; by default as of `Joint`.
        parent, node, position, rotation, name, damping, armature : optional
        velocity_limit, acceleration_limit, effort_limit, actuated, limits : optional
            As of `Joint`.

        Returns
        -------
        joint : Joint
            Joint of the kind ``"planar"``.

        Examples
        --------
        >>> import flexarm as fa
        >>> fa.Joint.planar("z").position_names
        ('translation 1', 'translation 2', 'rotation')
        """
        return cls("planar", axis=axis, axis2=axis2, **options)

    @classmethod
    @_takes(Moving)
    def spherical(cls, **options: Unpack[Moving]) -> Self:
        """Ball joint; positions are a quaternion (w, x, y, z).

        Parameters
        ----------
        parent, node, position, rotation, name, damping, armature : optional
        velocity_limit, acceleration_limit, effort_limit, actuated : optional
            As of `Joint`.

        Returns
        -------
        joint : Joint
            Joint of the kind ``"spherical"``.

        Examples
        --------
        >>> import flexarm as fa
        >>> fa.Joint.spherical(damping=0.1).neutral
        array([1., 0., 0., 0.])
        """
        return cls("spherical", **options)

    @classmethod
    @_takes(Moving)
    def free(cls, **options: Unpack[Moving]) -> Self:
        """No constraint at all: a body that floats.

        Parameters
        ----------
        parent, node, position, rotation, name, damping, armature : optional
        velocity_limit, acceleration_limit, effort_limit, actuated : optional
            As of `Joint`.

        Returns
        -------
        joint : Joint
            Joint of the kind ``"free"``.

        Examples
        --------
        >>> import flexarm as fa
        >>> fa.Joint.free().n_positions
        7
        """
        return cls("free", **options)

    @classmethod
    @_takes(Moving)
    def subspace(cls, subspace: _Twists, **options: Unpack[Moving]) -> Self:
        """Joint whose velocities are amplitudes of given twists.

        Parameters
        ----------
        subspace : (6, n) array_like of float
            Twists (angular; linear) that the joint allows, in the axes of the body, in
            rad and m by unit of the coordinate.
        parent, node, position, rotation, name, damping, armature : optional
        velocity_limit, acceleration_limit, effort_limit, actuated : optional
            As of `Joint`.

        Returns
        -------
        joint : Joint
            Joint of the kind ``"subspace"``.

        Examples
        --------
        >>> import flexarm as fa
        >>> fa.Joint.subspace([[0], [0], [1], [0.1], [0], [0]]).n_dof
        1
        """
        return cls("subspace", subspace=subspace, **options)

    @classmethod
    @_takes(Single)
    def screw(cls, screw: _Screws, **options: Unpack[Single]) -> Self:
        """Product of one to six screws in the frame of the body.

        Parameters
        ----------
        screw : (6,) or (6, n) array_like of float
            One to six screws (angular; linear), linear parts in m, as of `Joint`.
        parent, node, position, rotation, name, damping, armature : optional
        velocity_limit, acceleration_limit, effort_limit, actuated, limits : optional
        drive, stiffness, rest, coulomb_friction, stops : optional
            As of `Joint`.

        Returns
        -------
        joint : Joint
            Joint of the kind ``"screw"``.

        Examples
        --------
        >>> import flexarm as fa
        >>> fa.Joint.screw((0, 0, 1, 0, -0.5, 0)).n_dof
        1
        """
        return cls("screw", screw=screw, **options)


def check_joint_forces(joint: Joint) -> None:
    """Check drive, spring, dry friction and stops of a joint."""
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
    if not joint.actuated:
        raise ModelError(
            "the joint has a drive and actuated=False, but the motor of a drive is its "
            "actuator; expected one of them, such as Drive(locked=) for a motor at rest"
        )
    if np.any(joint.armature):
        raise ModelError(
            f"the joint has the armature {short_text(joint.armature)} and a drive, "
            "whose rotor has an inertia of its own; expected one of them: add the "
            "armature, divided by the square of gear_ratio, to rotor_inertia"
        )
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
