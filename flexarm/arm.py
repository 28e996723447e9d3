"""The arm: a tree of bodies, packed for the C kernels and bound to them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import (
    _loop_closing,
    _motors,
    derivatives,
    dynamics,
    kinematics,
    linear_models,
    links,
    mass,
    motion,
    parameters,
    positions,
    statics,
    vibration,
)
from . import constraints as _constraints
from . import energy as _energy
from . import operational_space as _operational_space
from . import operators as _operators
from ._body_tree import check_mass, find_parents
from ._checks import as_array, as_vector, check_units_of_arm, listed
from ._core import Model
from ._description import Description
from ._export_c import export_c as _export_c
from ._options import did_you_mean, explained_class
from ._pack import FIDELITIES, Packed, pack
from ._printing import Printed, Sheet, Table
from .errors import ModelError
from .joints import Joint
from .models import GROUND

Array = NDArray[np.float64]


def _has_motor(joint: Joint) -> bool:
    """Whether the motor of a joint is a coordinate."""
    return joint.drive is not None and joint.drive.is_free


def _starts(sizes: Iterable[int]) -> tuple[int, ...]:
    """Where each part starts, and where the last one ends."""
    return (0, *accumulate(sizes))


@explained_class
@dataclass(frozen=True, eq=False, repr=False)
class Arm(Printed, Description):
    """A tree of rigid and flexible bodies, immutable, bound to its C kernels.

    Parameters
    ----------
    bodies : sequence of RigidBody or FlexibleBody
        From base to tip, each after its parent; one or more hang on the ground.
    gravity : (3,) array_like of float
        Acceleration of free fall in the base frame, in m/s^2.
    name : str
        Name for tables and plots.
    tip : (str, str or int), optional
        Body and node that functions of the tip use; by default the last node of the
        last body.
    check_units : bool
        Refuse sizes that look like mm or g; ``False`` if they are meant.
    constraints : sequence of Loop or Coupling
        What closes loops or couples joints.  Forward dynamics and simulation obey them;
        inverse dynamics, mass matrix and energies are those of the tree.
    stabilization : float
        Rate s in 1/s at which forward dynamics lets violations of the constraints
        decay, by the terms ``2 s phi_dot + s^2 phi`` of Baumgarte.
    fidelity : {"full", "linear", "ruthless"}
        How deformation changes mass, forces and Jacobians: exactly; to first order in
        modal coordinates and rates, state by state with a dense solve; or not at all,
        "ruthless linearization", for low speeds only.  The last two do not keep energy.
        Poses, potential energy, momentum and accelerations of nodes are those of the
        deformed arm, but for momentum and accelerations of a ruthless one.  Twists of
        bodies follow from their Jacobians, and accelerations of bodies are their rates.

    Raises
    ------
    ModelError
        If the bodies are no tree, or no physical ones; the sentence says which.

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

    bodies: Any
    gravity: Any = (0.0, 0.0, -9.81)
    name: str = "arm"
    tip: Any = None
    check_units: bool = True
    constraints: Any = ()
    stabilization: float = 10.0
    fidelity: str = "full"

    _parents: tuple[int, ...] = field(default=(), init=False)
    # where each body starts among the nodes, modes, joint positions, joint velocities
    _node_offset: tuple[int, ...] = field(default=(), init=False)
    _modes_at: tuple[int, ...] = field(default=(), init=False)
    _position_at: tuple[int, ...] = field(default=(), init=False)
    _velocity_at: tuple[int, ...] = field(default=(), init=False)
    _model: Model = field(default=None, init=False)  # type: ignore[assignment]
    tip_node: int = field(default=0, init=False)

    _n_motors: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.bodies, Iterable):
            raise ModelError(
                f"bodies of the arm is {type(self.bodies).__name__}, expected a "
                "sequence of RigidBody or FlexibleBody, such as [body]"
            )
        bodies = tuple(self.bodies)
        parents = find_parents(bodies)
        check_mass(bodies, parents)
        tip = self.tip
        if tip is None:
            tip = (bodies[-1].name, bodies[-1].n_nodes - 1)
        if not isinstance(tip, list | tuple) or len(tip) != 2:
            raise ModelError(
                f"tip of the arm is {tip!r}, expected a pair (body, node) such as "
                f"({bodies[-1].name!r}, 'tip')"
            )
        self._set(
            bodies=bodies,
            gravity=as_vector("gravity of the arm", self.gravity, (0.0, 0.0, -9.81)),
            _parents=parents,
            _node_offset=_starts(b.n_nodes for b in bodies),
            _modes_at=_starts(b.n_modes for b in bodies),
            _position_at=_starts(b.joint.n_positions for b in bodies),
            _velocity_at=_starts(b.joint.n_dof for b in bodies),
            tip=tuple(tip),
            _n_motors=sum(_has_motor(b.joint) for b in bodies),
        )
        self._set(tip_node=self.node(*self.tip))
        self._set_options()
        if self.check_units:
            check_units_of_arm(self)
        self._set(_model=Model(*pack(self)))

    def _set_options(self) -> None:
        if not isinstance(self.constraints, Iterable):
            raise ModelError(
                f"constraints of the arm is {type(self.constraints).__name__}, "
                "expected a sequence of Loop or Coupling"
            )
        if self.fidelity not in FIDELITIES:
            raise ModelError(
                f"fidelity of the arm is {self.fidelity!r}, expected one of "
                f"{', '.join(map(repr, FIDELITIES))}"
            )
        rate = float(as_array("stabilization of the arm", self.stabilization, ()))
        if rate < 0.0:
            raise ModelError(
                f"stabilization of the arm is {rate:g} 1/s, expected zero or more"
            )
        self._set(constraints=tuple(self.constraints), stabilization=rate)
        self._set(constraints=_motors.with_gears(self))
        _constraints.check_constraints(self)

    # sizes, names and indices

    @property
    def nq(self) -> int:
        """Number of position coordinates; more than `nv` with quaternions."""
        return self._position_at[-1] + self._n_motors + self._modes_at[-1]

    @property
    def nv(self) -> int:
        """Number of velocity coordinates, degrees of freedom."""
        return self._velocity_at[-1] + self._n_motors + self._modes_at[-1]

    @property
    def nu(self) -> int:
        """Number of joint velocities without motors, and of actuators."""
        return self._velocity_at[-1]

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all bodies."""
        return self._node_offset[-1]

    @property
    def neutral(self) -> Array:
        """Positions of the undeformed arm with all bodies in their joint frames, (nq,).

        All zero but for the first entry of each quaternion, which is one.
        """
        joints = [body.joint.neutral for body in self.bodies]
        return np.concatenate([*joints, np.zeros(self._n_motors + self._modes_at[-1])])

    @cached_property
    def joint_limits(self) -> Array:
        """Least and largest positions, (2, nq), in rad or m; infinite without a limit.

        Those of `Joint`; modes and quaternions have none.  Functions that choose
        positions respect them, the equations of motion do not.
        """
        result = np.full((2, self.nq), [[-np.inf], [np.inf]])
        for k, body in enumerate(self.bodies):
            if body.joint.limits is not None:
                at = self.body_joint_slice(k, positions=True)
                result[:, at] = body.joint.limits
        result.flags.writeable = False
        return result

    @cached_property
    def _turning(self) -> NDArray[np.bool_]:
        """Positions that are the same again after a whole turn, (nq,)."""
        result = np.zeros(self.nq, dtype=bool)
        for k, body in enumerate(self.bodies):
            if not body.joint.has_pose:
                turn, slide = np.split(body.joint.screws, 2)
                at = self.body_joint_slice(k, positions=True)
                result[at] = turn.any(axis=0) & ((turn * slide).sum(axis=0) == 0.0)
        return result

    @property
    def joint_slice(self) -> slice:
        """Where the joints stand in velocities, accelerations and forces."""
        return slice(0, self.nu)

    @property
    def joint_position_slice(self) -> slice:
        """Where the joints stand in q."""
        return slice(0, self._position_at[-1])

    @property
    def motor_slice(self) -> slice:
        """Where motors stand in velocities and forces, in the order of their joints."""
        return slice(self.nu, self.nu + self._n_motors)

    @property
    def motor_position_slice(self) -> slice:
        """Where the motors stand in q."""
        first = self._position_at[-1]
        return slice(first, first + self._n_motors)

    @property
    def actuator_indices(self) -> NDArray[np.intp]:
        """Velocity on which each of the ``nu`` forces acts, that of a motor if any."""
        return _motors.actuator_indices(self)

    def body_index(self, body: str | int) -> int:
        """Position of a body, given by name or number, among all of the arm.

        Parameters
        ----------
        body : str or int
            Its name or number.

        Returns
        -------
        index : int
            From 0 on, base to tip.

        Raises
        ------
        ModelError
            If there is no such body.

        Examples
        --------
        >>> import flexarm as fa
        >>> arm = fa.library.planar_chain(3)
        >>> arm.body_index("link2"), arm.body_index(-1)
        (1, 2)
        """
        names = [b.name for b in self.bodies]
        if isinstance(body, str):
            if body not in names:
                raise ModelError(
                    f"the arm has no body {body!r}, expected one of "
                    f"{listed(names, str)}{did_you_mean(body, names)}"
                )
            return names.index(body)
        if isinstance(body, bool) or not isinstance(body, int | np.integer):
            raise ModelError(
                f"body of the arm is {body!r}, expected its name or number"
            )
        if not -len(names) <= int(body) < len(names):
            raise ModelError(
                f"the arm has no body {body}, expected a number below {len(names)}"
            )
        return int(body) % len(names)

    def mode_slice(self, body: str | int, *, positions: bool = False) -> slice:
        """Where the modes of a body stand in velocities and forces, or in q.

        Parameters
        ----------
        body : str or int
            Its name or number.
        positions : bool
            Indices into `q` instead of `qd` and `tau`.

        Returns
        -------
        place : slice
            Empty for a rigid body.

        Raises
        ------
        ModelError
            If there is no such body.

        Examples
        --------
        >>> import flexarm as fa
        >>> arm = fa.library.planar_chain(2, n_modes=2)
        >>> at = arm.mode_slice("link2")
        >>> at, arm.coordinate_names[at]
        (slice(4, 6, None), ('link2.bending y 1', 'link2.bending y 2'))
        """
        index = self.body_index(body)
        at = self.motor_position_slice if positions else self.motor_slice
        joints = at.stop
        return slice(joints + self._modes_at[index], joints + self._modes_at[index + 1])

    def body_joint_slice(self, body: str | int, *, positions: bool = False) -> slice:
        """Where the joint of a body stands in velocities and forces, or in q.

        Parameters
        ----------
        body : str or int
            Its name or number.
        positions : bool
            Indices into `q` instead of `qd` and `tau`.

        Returns
        -------
        place : slice
            Empty for a fixed joint.

        Raises
        ------
        ModelError
            If there is no such body.

        Examples
        --------
        >>> import flexarm as fa
        >>> arm = fa.library.planar_chain(2, n_modes=2)
        >>> tau = fa.inverse_dynamics(arm, [0.0] * 6, [0.0] * 6, [0.0] * 6)
        >>> tau[arm.body_joint_slice("link2")].round(3)  # N m that the elbow holds
        array([4.905])
        """
        index = self.body_index(body)
        at = self._position_at if positions else self._velocity_at
        return slice(at[index], at[index + 1])

    def _names(self, joints: Iterable[tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
        first = [
            f"{body}.{name}" if name else body
            for body, names in joints
            for name in names
        ]
        motors = [f"{b.name}.motor" for b in self.bodies if _has_motor(b.joint)]
        modes = [f"{b.name}.{mode}" for b in self.bodies for mode in b.mode_names]
        return (*first, *motors, *modes)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Name of each velocity (and force): body and what it is, or body and mode."""
        return self._names((b.name, b.joint.velocity_names) for b in self.bodies)

    @property
    def position_names(self) -> tuple[str, ...]:
        """Name of each position coordinate, those of quaternions included."""
        return self._names((b.name, b.joint.position_names) for b in self.bodies)

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Name of each constraint row: loop and direction, or coupling."""
        return _constraints.constraint_names(self)

    @property
    def node_names(self) -> tuple[str, ...]:
        """Name of each node, ``"body.node"``."""
        return tuple(f"{b.name}.{node}" for b in self.bodies for node in b.node_names)

    def node(self, body: str | int, node: str | int = "tip") -> int:
        """Number of a node of a body among all nodes of the arm.

        Parameters
        ----------
        body : str or int
            Its name or number.
        node : str or int
            Its name or number in the body.

        Returns
        -------
        index : int
            Its place in the result of `node_poses`.

        Raises
        ------
        ModelError
            If there is no such body or node.

        Examples
        --------
        >>> import flexarm as fa
        >>> arm = fa.library.planar_chain(2, length=1.0)
        >>> poses = fa.node_poses(arm, [0.0, 0.0])
        >>> poses[arm.node("link1", "tip"), :3, 3]  # the elbow, in m
        array([1., 0., 0.])
        """
        index = self.body_index(body)
        return int(self._node_offset[index] + self.bodies[index].node_index(node))

    def node_slice(self, body: str | int) -> slice:
        """Numbers of the nodes of a body among all nodes of the arm.

        Parameters
        ----------
        body : str or int
            Its name or number.

        Returns
        -------
        place : slice
            In the results of `node_poses`.

        Raises
        ------
        ModelError
            If there is no such body.

        Examples
        --------
        >>> import flexarm as fa
        >>> arm = fa.library.planar_chain(2, length=1.0)
        >>> poses = fa.node_poses(arm, [0.0, 0.0])
        >>> poses[arm.node_slice("link2"), 0, 3]  # x of its nodes, in m
        array([1., 2.])
        """
        index = self.body_index(body)
        return slice(self._node_offset[index], self._node_offset[index + 1])

    # constant matrices

    def _blocks(self, which: str) -> Array:
        result = np.zeros((self.nv, self.nv))
        for body in self.bodies:
            at = self.mode_slice(body.name)
            result[at, at] = getattr(body, which)
        _motors.add_linear_forces(self, which, result)
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
        return result

    # the C model

    def pack(self) -> Packed:
        """Return the arm as the plain arrays from which the C model is built."""
        return pack(self)

    # printing

    def __repr__(self) -> str:
        modes = self.nv - self.motor_slice.stop
        motors = f", {self._n_motors} motor" if self._n_motors else ""
        return (
            f"<Arm {self.name!r}: {len(self.bodies)} bodies, {self.nu} joint{motors} "
            f"and {modes} modal coordinates>"
        )

    def _sheet(self) -> Sheet:
        rows = [("body", "on", "joint", "mass kg", "modes", "clamped frequencies Hz")]
        for body, parent in zip(self.bodies, self._parents, strict=True):
            where = GROUND
            if parent >= 0:
                base = self.bodies[parent]
                where = (
                    f"{base.name}.{base.node_names[base.node_index(body.joint.node)]}"
                )
            f = body.frequencies()
            shown = ", ".join(f"{x:.4g}" for x in f[:4]) + (
                ", ..." if len(f) > 4 else ""
            )
            mass = f"{body.total_mass:.4g}"
            rows.append(
                (body.name, where, body.joint.kind, mass, str(body.n_modes), shown)
            )
        depths: list[int] = []
        for parent in self._parents:
            depths.append(depths[parent] + 1 if parent >= 0 else 0)
        held = [
            f"loop {c.name}: locks {' '.join(c.locked)}"
            if isinstance(c, _constraints.Loop)
            else f"coupling {c.name}: "
            + " + ".join(f"{value:g} {key}" for key, value in c.coefficients)
            + f" = {c.constant:g}"
            for c in self.constraints
        ]
        g = ", ".join(f"{x:g}" for x in self.gravity)
        tip = f"{self.bodies[self.body_index(self.tip[0])].name}, node {self.tip[1]}"
        head = f"{self!r}, gravity ({g}) m/s^2, tip: {tip}"
        return Sheet((head, Table(rows, depths), *_motors.told(self), *held))

    if not TYPE_CHECKING:  # a checker knows what there is

        def __getattr__(self, name: str) -> Any:
            # called for what is not there; private names are those of Python itself
            kind = type(self)
            hint = "" if name.startswith("_") else did_you_mean(name, dir(kind))
            text = f"{kind.__name__!r} object has no attribute {name!r}{hint}"
            raise AttributeError(text, name=name, obj=self)

    # the functions of the package as methods

    forward_dynamics = dynamics.forward_dynamics
    inverse_dynamics = dynamics.inverse_dynamics
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
    inertial_parameters = parameters.inertial_parameters
    inertial_regressor = parameters.inertial_regressor
    energy_regressor = parameters.energy_regressor
    base_parameters = parameters.base_parameters
    with_inertial_parameters = parameters.with_inertial_parameters
    mass_matrix = mass.mass_matrix
    mass_matrix_inverse = mass.mass_matrix_inverse
    apply_mass_matrix = mass.apply_mass_matrix
    apply_mass_matrix_inverse = mass.apply_mass_matrix_inverse
    log_det_mass_matrix = mass.log_det_mass_matrix
    innovations_factors = mass.innovations_factors
    mass_matrix_inverse_blocks = mass.mass_matrix_inverse_blocks
    bias_forces = dynamics.bias_forces
    gravity_forces = dynamics.gravity_forces
    kinetic_energy = _energy.kinetic_energy
    potential_energy = _energy.potential_energy
    energy = _energy.energy
    dissipated_power = _energy.dissipated_power
    wrench_forces = kinematics.wrench_forces
    link_poses = kinematics.link_poses
    node_poses = kinematics.node_poses
    node_pose = kinematics.node_pose
    tip_pose = kinematics.tip_pose
    jacobian = kinematics.jacobian
    node_velocity = kinematics.node_velocity
    link_velocities = links.link_velocities
    link_accelerations = links.link_accelerations
    link_jacobians = links.link_jacobians
    link_jacobian_rates = links.link_jacobian_rates
    operators = _operators.operators
    operational_space_compliance = _operational_space.operational_space_compliance
    operational_space_inertia = _operational_space.operational_space_inertia
    export_c = _export_c
    integrate = positions.integrate
    difference = positions.difference
    position_rates = positions.position_rates
    node_acceleration = motion.node_acceleration
    momentum = motion.momentum
    center_of_mass = motion.center_of_mass
    constraint_violation = _constraints.constraint_violation
    constraint_jacobian = _constraints.constraint_jacobian
    constraint_forces = _constraints.constraint_forces
    close_loops = _loop_closing.close_loops
    equilibrium = statics.equilibrium
    deflection = statics.deflection
    holding_forces = statics.holding_forces
    static_compliance = statics.static_compliance
    static_stiffness = statics.static_stiffness
    natural_frequencies = vibration.natural_frequencies
    vibration_modes = vibration.vibration_modes
    complex_modes = vibration.complex_modes
    linearize = linear_models.linearize
