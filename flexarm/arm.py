"""The arm: a tree of bodies, packed for the C kernels and bound to them."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from . import constraints as _constraints
from . import dynamics, kinematics, mode_accuracy, model, refinement
from ._calls.arm_like import ArmLike, has_motor
from ._calls.declared import Choice
from ._calls.doors import checked_record
from ._calls.kept import Kept
from ._calls.links import joint_name, link_name
from ._core import Model
from ._support.checks import as_vector, not_negative, short_text
from ._support.later import Later
from ._support.options import missing_attribute
from ._support.printing import Sheet, Table
from .bodies.body import GROUND, Body
from .bodies.following import free_joint
from .bodies.models import FlexibleBody, RigidBody
from .bodies.segments import SegmentedLink, link_frequencies
from .errors import ModelError
from .model import motors
from .model.followers import (
    eliminated,
    followers,
    freed,
    without_motors,
)
from .model.loops import Loop, check_constraints, constraint_names
from .model.merging import merged
from .model.packing import Packed, rows, tree_of
from .model.parents import (
    check_mass,
    check_unique_names,
    find_parents,
    with_named_nodes,
)
from .model.sliders import Slider
from .model.tree import Tree
from .model.units import check_units_of_arm, warn_of_places

_EAGER = False  # not TYPE_CHECKING, by which mypy reads the imports in another order
if _EAGER:  # these load at their first use
    from . import derivatives, linear_models, parameters, statics, vibration

Array = NDArray[np.float64]


def _starts(sizes: Iterable[int]) -> tuple[int, ...]:
    """Start of each part, and the end of the last one."""
    return (0, *accumulate(sizes))


def _copied(kind: Any, fields: tuple[Any, ...]) -> Any:
    """Return a copy of an arm; it does not warn of its modes again."""
    with mode_accuracy.without_warning():
        return kind(*fields)


def _size_of(error: str) -> float:
    """Size of an error in a table; one that is not known is the largest."""
    return float("inf") if error == "unknown" else float(error)


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
class Arm(ArmLike):
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
        self._set(_model=Model(*rows(self._tree)))
        fewer = merged(self._tree)
        if fewer is not None:
            self._model.merge(Model(*rows(fewer)))
        self._model.bind(weakref.ref(self))
        mode_accuracy.warn_of_modes(self)

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

    def _stacked(self, arms: list[Any]) -> Any:
        from .stacks import stack  # which needs this class

        return stack(arms)

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

    def _sheet(self) -> Sheet:
        # one row for each body, or link of several
        rows: list[tuple[str, ...]]
        rows = [("body", "on", "joint", "mass kg", "modes", "clamped frequencies Hz")]
        follows = self.followers
        errors = mode_accuracy.table_of_modes(self)
        if errors:
            rows[0] = (*rows[0], "error of modes %")
        depths: list[int] = []
        depth_of: dict[range, int] = {}
        for link in dict.fromkeys(self._links):
            pieces = [self.bodies[k] for k in link]
            body, parent = pieces[0], self._parents[link.start]
            where = GROUND
            if parent >= 0:
                base = self.bodies[parent]
                node = base.node_names[base.node_index(body.joint.node)]
                where = f"{link_name(base)}.{node}"
            depth_of[link] = depth_of[self._links[parent]] + 1 if parent >= 0 else 0
            depths.append(depth_of[link])
            f = link_frequencies(pieces, 5)
            shown = ", ".join(f"{x:.4g}" for x in f[:4]) + ", ..." * (len(f) > 4)
            mass = f"{sum(piece.mass for piece in pieces):.4g}"
            modes = str(sum(piece.n_modes for piece in pieces))
            if len(pieces) > 1:
                modes += f" in {len(pieces)} pieces"
            kind, name = body.joint.kind, joint_name(body)
            if name in follows and not body.joint.n_dof:
                kind += f", follows {follows[name][0]}"
            row = (body.name, where, kind, mass, modes, shown)
            found = [errors[k] for k in link if k in errors]
            worst = max(found, key=_size_of, default="")
            rows.append((*row, worst) if errors else row)
        # one line for each constraint
        held = [
            f"{type(c).__name__.lower()} {c.name}: locks {' '.join(c.locked)}"
            if isinstance(c, Loop | Slider)
            else f"coupling {c.name}: "
            + " + ".join(f"{value:g} {key}" for key, value in c.coefficients)
            + f" = {c.constant:g}"
            for c in self.constraints
        ]
        g = ", ".join(f"{x:g}" for x in self.gravity)
        tip = f"{self.bodies[self.body_index(self.tip[0])].name}, node {self.tip[1]}"
        head = f"{self!r}, gravity ({g}) m/s^2, tip: {tip}"
        from .simulation.stability import fastest

        fast = fastest(self)
        return Sheet((head, Table(rows, depths), *motors.described(self), *fast, *held))

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

    # the functions of the package as methods

    forward_dynamics = dynamics.forward_dynamics
    inverse_dynamics = dynamics.inverse_dynamics
    mass_matrix = dynamics.mass_matrix
    mass_matrix_inverse = dynamics.mass_matrix_inverse
    apply_mass_matrix = dynamics.apply_mass_matrix
    apply_mass_matrix_inverse = dynamics.apply_mass_matrix_inverse
    log_det_mass_matrix = dynamics.log_det_mass_matrix
    innovations_factors = dynamics.innovations_factors
    mass_matrix_inverse_blocks = dynamics.mass_matrix_inverse_blocks
    bias_forces = dynamics.bias_forces
    gravity_forces = dynamics.gravity_forces
    kinetic_energy = dynamics.kinetic_energy
    potential_energy = dynamics.potential_energy
    energy = dynamics.energy
    dissipated_power = dynamics.dissipated_power
    wrench_forces = kinematics.wrench_forces
    link_poses = kinematics.link_poses
    node_poses = kinematics.node_poses
    node_pose = kinematics.node_pose
    tip_pose = kinematics.tip_pose
    jacobian = kinematics.jacobian
    node_velocity = kinematics.node_velocity
    link_velocities = kinematics.link_velocities
    link_accelerations = kinematics.link_accelerations
    link_jacobians = kinematics.link_jacobians
    link_jacobian_rates = kinematics.link_jacobian_rates
    operators = dynamics.operators
    operational_space_compliance = dynamics.operational_space_compliance
    operational_space_inertia = dynamics.operational_space_inertia
    export_c = model.export_c
    integrate = kinematics.integrate
    difference = kinematics.difference
    position_rates = kinematics.position_rates
    node_acceleration = kinematics.node_acceleration
    largest_slope = kinematics.largest_slope
    momentum = kinematics.momentum
    center_of_mass = kinematics.center_of_mass
    constraint_violation = _constraints.constraint_violation
    constraint_jacobian = _constraints.constraint_jacobian
    constraint_forces = _constraints.constraint_forces
    close_loops = _constraints.close_loops
    mode_errors = mode_accuracy.mode_errors
    refined = refinement.refined

    if TYPE_CHECKING:
        inverse_dynamics_derivatives = derivatives.inverse_dynamics_derivatives
        inertial_parameters = parameters.inertial_parameters
        inertial_regressor = parameters.inertial_regressor
        energy_regressor = parameters.energy_regressor
        base_parameters = parameters.base_parameters
        with_inertial_parameters = parameters.with_inertial_parameters
        forward_dynamics_derivatives = derivatives.forward_dynamics_derivatives
        inverse_dynamics_jvp = derivatives.inverse_dynamics_jvp
        inverse_dynamics_vjp = derivatives.inverse_dynamics_vjp
        forward_dynamics_jvp = derivatives.forward_dynamics_jvp
        forward_dynamics_vjp = derivatives.forward_dynamics_vjp
        jacobian_derivatives = derivatives.jacobian_derivatives
        energy_derivatives = derivatives.energy_derivatives
        equilibrium = statics.equilibrium
        deflection = statics.deflection
        holding_forces = statics.holding_forces
        static_compliance = statics.static_compliance
        static_stiffness = statics.static_stiffness
        natural_frequencies = vibration.natural_frequencies
        vibration_modes = vibration.vibration_modes
        complex_modes = vibration.complex_modes
        linearize = linear_models.linearize
    else:  # those of modules that load at their first use
        inverse_dynamics_derivatives = Later(
            __package__, "derivatives", "inverse_dynamics_derivatives"
        )
        inertial_parameters = Later(__package__, "parameters", "inertial_parameters")
        inertial_regressor = Later(__package__, "parameters", "inertial_regressor")
        energy_regressor = Later(__package__, "parameters", "energy_regressor")
        base_parameters = Later(__package__, "parameters", "base_parameters")
        with_inertial_parameters = Later(
            __package__, "parameters", "with_inertial_parameters"
        )
        forward_dynamics_derivatives = Later(
            __package__, "derivatives", "forward_dynamics_derivatives"
        )
        inverse_dynamics_jvp = Later(__package__, "derivatives", "inverse_dynamics_jvp")
        inverse_dynamics_vjp = Later(__package__, "derivatives", "inverse_dynamics_vjp")
        forward_dynamics_jvp = Later(__package__, "derivatives", "forward_dynamics_jvp")
        forward_dynamics_vjp = Later(__package__, "derivatives", "forward_dynamics_vjp")
        jacobian_derivatives = Later(__package__, "derivatives", "jacobian_derivatives")
        energy_derivatives = Later(__package__, "derivatives", "energy_derivatives")
        equilibrium = Later(__package__, "statics", "equilibrium")
        deflection = Later(__package__, "statics", "deflection")
        holding_forces = Later(__package__, "statics", "holding_forces")
        static_compliance = Later(__package__, "statics", "static_compliance")
        static_stiffness = Later(__package__, "statics", "static_stiffness")
        natural_frequencies = Later(__package__, "vibration", "natural_frequencies")
        vibration_modes = Later(__package__, "vibration", "vibration_modes")
        complex_modes = Later(__package__, "vibration", "complex_modes")
        linearize = Later(__package__, "linear_models", "linearize")
