"""A constructor of `Joint` for each kind, with the parameters that this kind has."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar

from .._calls.doors import checked_class
from .._calls.forwarded import forwards
from .._support.description import Description

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .drives import CoulombFriction, Drive, Stops
    from .joints import Joint

P = ParamSpec("P")
R = TypeVar("R")


class Placed(TypedDict, total=False):
    """Parameters of all joints."""

    parent: str | None
    node: str | int | float
    position: Any
    rotation: Any
    name: str | None


class Moving(Placed, total=False):
    """Those of joints that move."""

    damping: Any
    armature: Any
    velocity_limit: Any
    acceleration_limit: Any
    effort_limit: Any
    actuated: bool


class Limited(Moving, total=False):
    """Those of joints whose positions are angles and displacements."""

    limits: Any


class Single(Limited, total=False):
    """Those of joints of one freedom."""

    drive: Drive | None
    stiffness: Any
    rest: Any
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

    @classmethod
    @_takes(Placed)
    def fixed(cls: Any, **options: Unpack[Placed]) -> Joint:
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
        joint: Joint = cls("fixed", **options)
        return joint

    @classmethod
    @_takes(Single)
    def revolute(cls: Any, axis: Any = "z", **options: Unpack[Single]) -> Joint:
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
        joint: Joint = cls("revolute", axis=axis, **options)
        return joint

    @classmethod
    @_takes(Single)
    def prismatic(cls: Any, axis: Any = "z", **options: Unpack[Single]) -> Joint:
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
        joint: Joint = cls("prismatic", axis=axis, **options)
        return joint

    @classmethod
    @_takes(Single)
    def helical(
        cls: Any, axis: Any = "z", *, pitch: float, **options: Unpack[Single]
    ) -> Joint:
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
        joint: Joint = cls("helical", axis=axis, pitch=pitch, **options)
        return joint

    @classmethod
    @_takes(Limited)
    def cylindrical(cls: Any, axis: Any = "z", **options: Unpack[Limited]) -> Joint:
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
        joint: Joint = cls("cylindrical", axis=axis, **options)
        return joint

    @classmethod
    @_takes(Limited)
    def universal(
        cls: Any, axis: Any = "z", axis2: Any = None, **options: Unpack[Limited]
    ) -> Joint:
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
        joint: Joint = cls("universal", axis=axis, axis2=axis2, **options)
        return joint

    @classmethod
    @_takes(Limited)
    def planar(
        cls: Any, axis: Any = "z", axis2: Any = None, **options: Unpack[Limited]
    ) -> Joint:
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
        joint: Joint = cls("planar", axis=axis, axis2=axis2, **options)
        return joint

    @classmethod
    @_takes(Moving)
    def spherical(cls: Any, **options: Unpack[Moving]) -> Joint:
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
        joint: Joint = cls("spherical", **options)
        return joint

    @classmethod
    @_takes(Moving)
    def free(cls: Any, **options: Unpack[Moving]) -> Joint:
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
        joint: Joint = cls("free", **options)
        return joint

    @classmethod
    @_takes(Moving)
    def subspace(cls: Any, subspace: Any, **options: Unpack[Moving]) -> Joint:
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
        joint: Joint = cls("subspace", subspace=subspace, **options)
        return joint

    @classmethod
    @_takes(Single)
    def screw(cls: Any, screw: Any, **options: Unpack[Single]) -> Joint:
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
        joint: Joint = cls("screw", screw=screw, **options)
        return joint
