"""The arm: a tree of bodies, packed for the C kernels and bound to them."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np

from ._calls.arm_like import ArmLike, has_motor
from ._calls.declared import Choice, Kept
from ._calls.doors import checked_record
from ._calls.links import joint_name, link_name
from ._core import Model
from ._support.arrays import Array
from ._support.checks import as_vector, not_negative, short_text
from ._support.options import missing_attribute
from .bodies.body import Body
from .bodies.following import free_joint
from .bodies.models import FlexibleBody, RigidBody
from .bodies.segments import SegmentedLink
from .errors import ModelError
from .model import motors
from .model.followers import eliminated, followers, freed, without_motors
from .model.loops import check_constraints, constraint_names
from .model.merging import merged
from .model.packing import Packed, rows, tree_of
from .model.parents import (
    check_mass,
    check_unique_names,
    find_parents,
    with_named_nodes,
)
from .model.tree import Tree
from .model.units import check_units_of_arm, warn_of_places

if TYPE_CHECKING:  # `methods` hands over functions of rooms above
    from .methods import ArmMethods
else:
    ArmMethods = object


# what rooms above look at in each new arm
_Check = TypeVar("_Check", bound=Callable[[ArmLike], None])
_CHECKS: list[Callable[[ArmLike], None]] = []
_QUIET: ContextVar[bool] = ContextVar("no warning of modes", default=False)


def check_of_new_arms(function: _Check) -> _Check:
    """Decorate a function that is called with each new arm, to warn of it."""
    _CHECKS.append(function)
    return function


@contextmanager
def without_warning() -> Iterator[None]:
    """Make copies of arms that have been checked."""
    before = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(before)


def is_quiet() -> bool:
    """Whether arms are made that have been checked."""
    return _QUIET.get()


def _starts(sizes: Iterable[int]) -> tuple[int, ...]:
    """Start of each part, and the end of the last one."""
    return (0, *accumulate(sizes))


def _copied(kind: Any, fields: tuple[Any, ...]) -> Any:
    """Return a copy of an arm; it does not warn of its modes again."""
    with without_warning():
        return kind(*fields)


def _bodies(what: str, value: object) -> tuple[Body, ...]:
    """Bodies with the pieces of links in place of the links."""
    if not isinstance(value, Iterable) or isinstance(value, str | dict):
        raise ModelError(
            f"{what} is {type(value).__name__}, expected a sequence of RigidBody or "
            "FlexibleBody, such as [body]; urdf.load makes an arm from a file"
        )
    result: list[Body] = []
    for body in value:
        if not isinstance(body, RigidBody | FlexibleBody | SegmentedLink):
            raise ModelError(
                f"a body of the arm is {type(body).__name__}, expected RigidBody or "
                "FlexibleBody, such as beam.elements(name)"
            )
        result += body.pieces if isinstance(body, SegmentedLink) else (body,)
    return tuple(result)


@checked_record("{field} of the arm")
@dataclass(frozen=True, eq=False, repr=False)
class Arm(ArmLike, ArmMethods):
    """A tree of rigid and flexible bodies, immutable, bound to its C kernels.

    Parameters
    ----------
    bodies : sequence of RigidBody, FlexibleBody or beams.SegmentedLink
        From base to tip, each after its parent; one or more are on the ground.  Links
        in pieces become their pieces, which remain one link by name.
    gravity : (3,) array_like of float
        Acceleration of free fall in the base frame, in m/s^2.
    name : str
        Name for tables and plots.
    tip : (str, str or int), optional
        Body and node that functions of the tip use; by default the last node of the
        last body.
    check_units : bool
        Raise for sizes that look like mm or g; ``False`` allows them.
    constraints : sequence of Loop, Slider or Coupling
        Closed loops, sliding points and couplings.  Couplings that all tie one joint to
        another leave fewer coordinates, see `couplings`; forward dynamics and
        simulation obey the others, inverse dynamics, mass matrix and energies are those
        of the tree.
    stabilization : float
        Rate s in 1/s at which violations of the constraints decay in forward dynamics,
        by the terms ``2 s phi_dot + s^2 phi`` of Baumgarte.
    fidelity : {"full", "linear", "ruthless"}
        Effect of deformation on mass, forces and Jacobians: exact; to first order in
        modal coordinates and rates, state by state with a dense solve; or none,
        "ruthless linearization", for low speeds only.  The last two do not keep energy.
        Poses, potential energy, momentum and accelerations of nodes are those of the
        deformed arm, except momentum and accelerations of a ruthless one.  Twists of
        bodies follow from their Jacobians, and accelerations of bodies are their rates.

    couplings : {"eliminated", "constrained"}
        What couplings of two joint coordinates are.  Eliminated: the joint that a
        coupling names first follows the other one and has no coordinate
        (`followers`), and the arm is a tree for all functions; forces, springs,
        friction, stops and limits of the follower act on its leader.  Constrained: all
        joints keep coordinates, and forces hold the relation (`constraint_forces`).
        They are constraints, too, beside loops, remaining rigid gears and couplings of
        other numbers of coordinates, between two joints with drives, and with
        ``fidelity="linear"``.  Motors of rigid drives (`Drive`) likewise have no
        coordinates, or are constrained.

    Raises
    ------
    ModelError
        If the bodies do not form a tree, are not physical, or are more than 4096 with
        16384 velocities of joints, motors and modes; the message says which.

    Warns
    -----
    ModeWarning
        If the modes of a link make a loaded node more than 1 % too stiff, or its first
        frequency as much too high; see `mode_errors`.
    PlacementWarning
        If a link turns about the same line as the one before, which has no node, or
        slides along a flexible one as if it began at its end (a telescope).

    Notes
    -----
    The coordinates are the joint coordinates in the order of the bodies, those of
    motors of flexible joints (`Joint.drive`), then the modal coordinates body by body;
    `coordinate_names` lists them.

    ``arm.kernels`` has the functions of C by their names, such as
    ``arm.kernels.mass_matrix``; those of ``arm.kernels.quiet(name)`` return NaN for a
    state that fails, in place of an error.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.Arm([fa.RigidBody("rod", mass=1.0, com=(0.5, 0, 0))])
    >>> arm.coordinate_names
    ('rod',)
    """

    bodies: Annotated[Any, Kept(_bodies)]
    gravity: Annotated[Any, Kept(as_vector, (0.0, 0.0, -9.81))] = (0.0, 0.0, -9.81)
    name: str = "arm"
    tip: Any = None
    check_units: bool = True
    constraints: Any = ()
    stabilization: Annotated[float, Kept(not_negative, "1/s")] = 10.0
    fidelity: Annotated[str, Choice("full", "linear", "ruthless")] = "full"
    couplings: Annotated[str, Choice("eliminated", "constrained")] = "eliminated"

    def __post_init__(self) -> None:
        # tree of bodies
        bodies = self.bodies
        parents = find_parents(bodies)
        bodies = self._tied(with_named_nodes(bodies, parents))
        check_mass(bodies, parents)
        # body and node of the tip
        tip = self.tip
        if tip is None and bodies[-1].segment is not None:
            tip = (link_name(bodies[-1]), "tip")
        if tip is None:
            tip = (bodies[-1].name, bodies[-1].n_nodes - 1)
        if not isinstance(tip, list | tuple) or len(tip) != 2:
            raise ModelError(
                f"tip of the arm is {short_text(tip)}, expected a pair (body, node) "
                f"such as ({bodies[-1].name!r}, 'tip')"
            )
        # sizes and indices, on which the following checks rely
        self._set(
            bodies=bodies,
            _parents=parents,
            _node_offset=_starts(b.n_nodes for b in bodies),
            _modes_at=_starts(b.n_modes for b in bodies),
            _position_at=_starts(b.joint.n_positions for b in bodies),
            _velocity_at=_starts(b.joint.n_dof for b in bodies),
            tip=tuple(tip),
            _n_motors=sum(has_motor(b.joint) for b in bodies),
        )
        self._set(tip_node=self.node(*self.tip))
        check_unique_names(self)
        self._set_options()
        if self.check_units:
            check_units_of_arm(self)
            warn_of_places(self)
        kernels = Model(*rows(self._tree))
        fewer = merged(self._tree)
        if fewer is not None:
            kernels.merge(Model(*rows(fewer)))
        kernels.bind(weakref.ref(self), self.tip_node)
        self._set(kernels=kernels)
        if not is_quiet():
            for check in _CHECKS:
                check(self)

    def __reduce__(self) -> Any:
        return (_copied, super().__reduce__())

    def _tied(self, bodies: tuple[Any, ...]) -> tuple[Any, ...]:
        """Bodies whose joints follow others where couplings are eliminated."""
        if not isinstance(self.constraints, Iterable):
            raise ModelError(
                f"constraints of the arm is {type(self.constraints).__name__}, "
                "expected a sequence of Loop, Slider or Coupling"
            )
        self._set(constraints=tuple(self.constraints))
        bodies = freed(bodies)
        if self.couplings == "constrained":
            return bodies
        constraints = [c for c in self.constraints if not motors.is_gear(c)]
        if self.fidelity != "linear":
            bodies = without_motors(bodies, constraints)
        return eliminated(bodies, constraints, self.fidelity)

    def _set_options(self) -> None:
        self._set(constraints=motors.with_gears(self))
        check_constraints(self)

    @property
    def mass(self) -> float:
        """Mass of all bodies and motors, in kg; `center_of_mass` is its place.

        Examples
        --------
        >>> import flexarm as fa
        >>> load = fa.RigidBody("load", fa.Joint("fixed"), mass=2.0)
        >>> fa.Arm([*fa.library.planar_chain(2).bodies, load]).mass
        4.0
        """
        return float(sum(b.mass for b in self.bodies)) + motors.mass_of_motors(self)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Name of each constraint row: loop and direction, or coupling."""
        return constraint_names(self)

    @property
    def followers(self) -> dict[str, tuple[str, float, float]]:
        """Joints without coordinates: name to (leader, ratio, offset).

        The position of such a joint is ``ratio * q_leader + offset``, in rad or m.

        Examples
        --------
        >>> import flexarm as fa
        >>> arm = fa.library.planar_chain(3).replace(
        ...     constraints=[fa.Coupling({"link3": 1.0, "link2": -0.5})]
        ... )
        >>> arm.coordinate_names, arm.followers
        (('link1', 'link2'), {'link3': ('link2', 0.5, 0.0)})
        """
        return {
            joint_name(self.bodies[k]): (own.leader, own.ratio, own.offset)
            for k, _, own in followers(self)
        }

    # constant matrices

    def _blocks(self, which: str) -> Array:
        result = np.zeros((self.nv, self.nv))
        for k, body in enumerate(self.bodies):
            at = self.mode_slice(k)
            result[at, at] = getattr(body, which)
        motors.add_linear_forces(self, which, result)
        return result

    @property
    def stiffness_matrix(self) -> Array:
        """Stiffness of modes, of drives and of springs at joints, (nv, nv)."""
        return self._blocks("stiffness")

    @property
    def damping_matrix(self) -> Array:
        """Viscous friction of joints and motors, damping of drives and modes."""
        result = self._blocks("damping")
        joints = np.concatenate([b.joint.friction for b in self.bodies])
        result[self.joint_slice, self.joint_slice] += np.diag(joints)
        for k, leader, own in followers(self):
            at = self.body_joint_slice(leader).start
            friction = float(free_joint(self.bodies[k].joint).friction[0])
            result[at, at] += own.ratio**2 * friction
        return result

    # the C model

    @cached_property
    def _tree(self) -> Tree:
        """Links, each of which is a body of the C model."""
        return tree_of(self)

    def pack(self) -> Packed:
        """Return the arm as the plain arrays from which the C model is built."""
        return rows(self._tree)

    # printing

    def __repr__(self) -> str:
        modes = self.nv - self.motor_slice.stop
        motors = f", {self._n_motors} motor" if self._n_motors else ""
        idle = f" ({self.nu} actuated)" if self.nu < self.nj else ""
        links = len(set(self._links))
        bodies = f"{len(self.bodies)} bodies"
        if links < len(self.bodies):
            bodies = f"{links} links of {bodies}"
        return (
            f"<Arm {self.name!r}: {bodies}, {self.nj} joint{idle}{motors} "
            f"and {modes} modal coordinates>"
        )

    def __getitem__(self, body: str) -> Body:
        """Return the body of a name, the first one of a link in pieces."""
        if not isinstance(body, str):
            raise TypeError(
                f"an arm has no item {short_text(body)}, expected the name of a body, "
                "such as arm['upper'], or arm.bodies for all of them"
            )
        return self.bodies[self.body_index(body)]  # type: ignore[no-any-return]

    def __len__(self) -> int:
        raise TypeError(
            "an arm has no length, expected arm.nv, its number of coordinates, arm.nj, "
            "that of its joints, or len(arm.bodies)"
        )

    def __bool__(self) -> bool:
        return True

    if not TYPE_CHECKING:  # a type checker knows the attributes

        def __getattr__(self, name: str) -> Any:
            # called for missing attributes; Python itself looks up private names
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)  # its own error
            fa = sys.modules[__package__ or ""]
            named = name in getattr(fa, "__all__", ()) and callable(getattr(fa, name))
            hint = f"; expected flexarm.{name}(arm, ...)" if named else ""
            raise missing_attribute(self, name, hint)
