"""Base classes of arms and stacks: all that functions below them need to know."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import Model
from .._support.arrays import Array as Array
from .._support.arrays import Index, Mask, is_whole
from .._support.checks import listed, short_text
from .._support.description import Description
from .._support.options import did_you_mean
from .._support.printing import Printed
from ..errors import ModelError
from .links import joint_name, link_name, link_ranges, piece_with

if TYPE_CHECKING:
    from .._core import Kernels as Kernels
else:
    Kernels = object  # a protocol


def has_motor(joint: Any) -> bool:
    """Whether the motor of a joint is a coordinate."""
    return joint.drive is not None and joint.drive.is_free


class ArmLike(Printed, Description):
    """A tree of bodies with a C model: its sizes, names and indices.

    `flexarm.Arm` is one, with all functions of the package as methods.  The functions
    stand below it and only use this class.
    """

    bodies: Any
    gravity: Any
    name: str
    tip: Any
    constraints: Any
    stabilization: float
    fidelity: str
    couplings: str
    tip_node: int

    kernels: Kernels
    _parents: tuple[int, ...]
    _n_motors: int
    # where each body starts among the nodes, modes, joint positions, joint velocities
    _node_offset: tuple[int, ...]
    _modes_at: tuple[int, ...]
    _position_at: tuple[int, ...]
    _velocity_at: tuple[int, ...]

    @property
    def _held(self) -> tuple[Any, ...]:
        """Constraints that forces hold: all, unless couplings are eliminated."""
        return () if self._following else tuple(self.constraints)

    @cached_property
    def _compared(self) -> set[bytes]:
        """Velocities held when frequencies were compared with those of more modes."""
        return set()

    @cached_property
    def _following(self) -> dict[int, Any]:
        """Joints without coordinates, by body: leader, ratio, offset."""
        # not getattr, which makes the sentence of a missing attribute for every joint
        joints = {k: vars(b.joint).get("follows") for k, b in enumerate(self.bodies)}
        return {k: own for k, own in joints.items() if own is not None}

    @cached_property
    def _led(self) -> dict[int, list[tuple[int, float, float]]]:
        """Leaders by body, each with body, ratio and offset of its followers."""
        own = {joint_name(b): k for k, b in enumerate(self.bodies) if b.joint.n_dof}
        result: dict[int, list[tuple[int, float, float]]] = {}
        for k, (leader, ratio, offset) in self._following.items():
            result.setdefault(own[leader], []).append((k, ratio, offset))
        return result

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
    def nj(self) -> int:
        """Number of joint velocities, without motors."""
        return self._velocity_at[-1]

    @cached_property
    def nu(self) -> int:
        """Number of actuators: `nj`, less the velocities of joints without one."""
        return sum(b.joint.n_dof for b in self.bodies if b.joint.actuated)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all bodies."""
        return self._node_offset[-1]

    @property
    def neutral(self) -> Array:
        """Positions of the undeformed arm with all bodies in their joint frames, (nq,).

        Zero except the first entry of each quaternion, which is one.
        """
        joints = [body.joint.neutral for body in self.bodies]
        return np.concatenate([*joints, np.zeros(self._n_motors + self._modes_at[-1])])

    @cached_property
    def joint_limits(self) -> Array:
        """Lower and upper limits of positions, (2, nq), in rad or m, or infinite.

        Modes and quaternions have none.  Functions that choose positions respect the
        limits, the equations of motion do not.
        """
        result = np.full((2, self.nq), [[-np.inf], [np.inf]])
        for k, body in enumerate(self.bodies):
            if body.joint.limits is not None:
                at = self.body_joint_slice(k, positions=True)
                result[:, at] = body.joint.limits
        for k in self._led:
            at = self.body_joint_slice(k, positions=True)
            result[:, at.start] = self._limits_with_followers(k, result[:, at.start])
        result.flags.writeable = False
        return result

    def _limits_with_followers(self, leader: int, limits: Array) -> Array:
        """Limits (2,) of a leader within which its followers are in theirs, too."""
        low, high = (float(x) for x in limits)
        for k, ratio, offset in self._led[leader]:
            own = self.bodies[k].joint.limits
            if own is None:
                continue
            a, b = sorted((float(x) - offset) / ratio for x in own[:, 0])
            low, high = max(low, a), min(high, b)
            # a range of one point in other units
            if high < low <= high + 1e-9 * max(1.0, abs(high)):
                low = high = 0.5 * (low + high)
            if low > high:
                raise ModelError(
                    f"no position of joint {joint_name(self.bodies[leader])!r} is "
                    f"within its limits and those of {joint_name(self.bodies[k])!r}, "
                    "which follows it; expected limits that overlap"
                )
        return np.array([low, high])

    @cached_property
    def _turning(self) -> Mask:
        """Mask of positions whose poses repeat after a full turn, (nq,)."""
        result = np.zeros(self.nq, dtype=bool)
        for k, body in enumerate(self.bodies):
            if not body.joint.has_pose:
                turn, slide = np.split(body.joint.screws, 2)
                at = self.body_joint_slice(k, positions=True)
                result[at] = turn.any(axis=0) & ((turn * slide).sum(axis=0) == 0.0)
                if k in self._led:  # a turn of a leader may be part of one of others
                    result[at] = False
        return result

    @property
    def joint_slice(self) -> slice:
        """Slice of the joints in velocities, accelerations and forces."""
        return slice(0, self.nj)

    @property
    def joint_position_slice(self) -> slice:
        """Slice of the joints in q."""
        return slice(0, self._position_at[-1])

    @property
    def motor_slice(self) -> slice:
        """Slice of the motors in velocities and forces, in joint order."""
        return slice(self.nj, self.nj + self._n_motors)

    @property
    def motor_position_slice(self) -> slice:
        """Slice of the motors in q."""
        first = self._position_at[-1]
        return slice(first, first + self._n_motors)

    @property
    def actuator_indices(self) -> Index:
        """Velocity on which each of the ``nu`` forces acts: of the motor, if any."""
        result = np.arange(self.nj)
        driven = [k for k, b in enumerate(self.bodies) if has_motor(b.joint)]
        for i, k in enumerate(driven):
            result[self.body_joint_slice(k)] = self.motor_slice.start + i
        return result[self._actuated]

    @property
    def _actuator_names(self) -> tuple[str, ...]:
        """Name of the joint of each actuator."""
        return tuple(self.coordinate_names[i] for i in np.flatnonzero(self._actuated))

    @cached_property
    def _actuated(self) -> Mask:
        """Mask of the joint velocities that have an actuator, (nj,)."""
        joints = [b.joint for b in self.bodies]
        return np.repeat([j.actuated for j in joints], [j.n_dof for j in joints])

    def body_index(self, body: str | int) -> int:
        """Number of a body of the arm.

        Parameters
        ----------
        body : str or int
            Its name or number; the name of a link in pieces means the first one.

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
                    f"the arm has no body {short_text(body)}, expected one of "
                    f"{listed(names, str)}{did_you_mean(body, names)}"
                )
            return names.index(body)
        if not is_whole(body):
            raise ModelError(
                f"body of the arm is {short_text(body)}, expected its name or number"
            )
        if not -len(names) <= int(body) < len(names):
            raise ModelError(
                f"the arm has no body {short_text(body)}, expected a number below "
                f"{len(names)}"
            )
        return int(body) % len(names)

    @cached_property
    def _links(self) -> tuple[range, ...]:
        """For each body the numbers of all pieces of its link, or its own."""
        return link_ranges(self.bodies)

    def _bodies_of(self, body: str | int) -> range:
        """Numbers of the bodies of a link, given by its name, or of one body."""
        index = self.body_index(body)
        named = isinstance(body, str) and body == link_name(self.bodies[index])
        return self._links[index] if named else range(index, index + 1)

    def _body_of_node(self, node: int) -> int:
        """Number of the body of a node, given by its number in the arm."""
        return bisect_right(self._node_offset, node) - 1

    def mode_slice(self, body: str | int, *, positions: bool = False) -> slice:
        """Slice of the modes of a body in velocities and forces, or in q.

        Parameters
        ----------
        body : str or int
            Its name or number; the name of a link in pieces means all of them.
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
        (slice(4, 6, None), ('link2.tip y', 'link2.tip rz'))
        """
        own = self._bodies_of(body)
        at = self.motor_position_slice if positions else self.motor_slice
        joints = at.stop
        return slice(
            joints + self._modes_at[own.start], joints + self._modes_at[own.stop]
        )

    def body_joint_slice(self, body: str | int, *, positions: bool = False) -> slice:
        """Slice of the joint of a body in velocities and forces, or in q.

        Parameters
        ----------
        body : str or int
            Its name or number.
        positions : bool
            Indices into `q` instead of `qd` and `tau`.

        Returns
        -------
        place : slice
            Empty for a fixed joint, and for the number of a body whose joint follows
            another one.

        Raises
        ------
        ModelError
            If there is no such body, or the joint of the body of this name has no
            coordinate since it follows another one.

        Examples
        --------
        >>> import flexarm as fa
        >>> arm = fa.library.planar_chain(2, n_modes=2)
        >>> tau = fa.inverse_dynamics(arm, [0.0] * 6, [0.0] * 6, [0.0] * 6)
        >>> tau[arm.body_joint_slice("link2")].round(3)  # N m that the elbow holds
        array([4.905])
        """
        index = self.body_index(body)
        if isinstance(body, str) and index in self._following:
            leader = self._following[index][0]
            raise ModelError(
                f"the joint of body {body!r} has no coordinate, it follows {leader!r}; "
                "take that one, see arm.followers"
            )
        at = self._position_at if positions else self._velocity_at
        return slice(at[index], at[index + 1])

    def _names(self, joints: Iterable[tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
        first = [
            f"{body}.{name}" if name else body
            for body, names in joints
            for name in names
        ]
        motors = [f"{joint_name(b)}.motor" for b in self.bodies if has_motor(b.joint)]
        modes = [f"{link_name(b)}.{mode}" for b in self.bodies for mode in b.mode_names]
        return (*first, *motors, *modes)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Name of each velocity and force: joint or body, motor or mode."""
        return self._names((joint_name(b), b.joint.velocity_names) for b in self.bodies)

    @property
    def position_names(self) -> tuple[str, ...]:
        """Name of each position coordinate, those of quaternions included."""
        return self._names((joint_name(b), b.joint.position_names) for b in self.bodies)

    @cached_property
    def node_names(self) -> tuple[str, ...]:
        """Name of each node, ``"body.node"``."""
        return tuple(
            f"{link_name(b)}.{node}" for b in self.bodies for node in b.node_names
        )

    def node(self, body: str | int, node: str | int | float = "tip") -> int:
        """Number of a node of a body among all nodes of the arm.

        Parameters
        ----------
        body : str or int
            Its name or number; the name of a link in pieces means all of them.
        node : str, int or float
            Its name or number in the body, or, of a link of `beams`, its distance from
            the base along the link, in m.

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
        own = self._bodies_of(body)
        piece, index = piece_with([self.bodies[k] for k in own], node)
        return int(self._node_offset[own[piece]] + index)

    def node_slice(self, body: str | int) -> slice:
        """Numbers of the nodes of a body among all nodes of the arm.

        Parameters
        ----------
        body : str or int
            Its name or number; the name of a link in pieces means all of them.

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
        own = self._bodies_of(body)
        return slice(self._node_offset[own.start], self._node_offset[own.stop])

    # follow from the bodies and constraints

    @property
    def mass(self) -> float:
        """Mass of all bodies and motors, in kg."""
        raise NotImplementedError

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Name of each constraint row: loop and direction, or coupling."""
        raise NotImplementedError

    @property
    def stiffness_matrix(self) -> Array:
        """Stiffness of modes, of drives and of springs at joints, (nv, nv)."""
        raise NotImplementedError

    def pack(self) -> tuple[Array | NDArray[np.intc], ...]:
        """Return the arm as the plain arrays from which the C model is built."""
        raise NotImplementedError

    @property
    def damping_matrix(self) -> Array:
        """Viscous friction of joints and motors, damping of drives and modes."""
        raise NotImplementedError


class StackLike:
    """Arms of one topology; `flexarm.stacks.ArmStack` is one."""

    arms: tuple[Any, ...]
    index: NDArray[np.int64]

    kernels: Kernels

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes, which broadcast with leading axes of states."""
        return self.index.shape

    def _flat(self, batch: tuple[int, ...]) -> Any:
        """Return a stack with one axis, an arm for each state of a batch."""
        raise NotImplementedError

    def __getitem__(self, index: object) -> Any:
        """Return an arm, or a stack of some arms."""
        raise NotImplementedError

    @property
    def _kept(self) -> dict[Any, Any]:
        """Numbers of all arms, in their order, by keys: see `numbers_of`."""
        raise NotImplementedError

    def _changed(self, change: Callable[[Any], Any]) -> Any:
        """Return the stack of the arms that a function returns for each arm."""
        raise NotImplementedError

    if TYPE_CHECKING:  # attributes that all arms share

        def __getattr__(self, name: str) -> Any: ...


def model_of(arm: ArmLike) -> Model:
    """Return the C model of an arm, which a chart of one has not."""
    kernels = arm.kernels
    assert isinstance(kernels, Model)
    return kernels


# argument of functions that can compute each state with its own arm
AnyArm: TypeAlias = ArmLike | StackLike

# an arm of the class that was given
AnArm = TypeVar("AnArm", bound=ArmLike)


def numbers_of(arm: AnyArm, function: Callable[[Any], Any], key: object = None) -> Any:
    """Array that a function returns for an arm, or for those along a stack's axes.

    With a key the stack keeps the numbers of its arms.
    """
    if not isinstance(arm, StackLike):
        return np.asarray(function(arm))
    kept = arm._kept if key is not None else {}
    if key not in kept:
        kept[key] = np.array([function(one) for one in arm.arms])
    return kept[key][arm.index]
