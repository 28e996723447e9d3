"""Stacks: many arms of one topology in one call, each state with its own arm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._calls import groups
from ._calls.arguments import refuse_followers
from ._calls.arm_like import Array, Kernels, StackLike, has_motor, model_of
from ._calls.declared import Several
from ._calls.doors import checked, checked_class
from ._calls.failures import explained_of_stack
from ._calls.links import joint_name, link_name
from ._calls.operands import converted
from ._calls.records import Rollout, SampledLoop
from ._support.checks import short_text
from .arm import Arm
from .bodies.body import Body
from .errors import ArgumentError, ModelError
from .model.lumps import rigid_nodes, union
from .model.packing import rows, structure, tree_of
from .model.tree import Tree

if TYPE_CHECKING:  # `methods` hands over functions of rooms above
    from .methods import StackMethods
else:
    StackMethods = object

# attributes that all arms of a stack share
_COMMON = (
    "nq",
    "nv",
    "nu",
    "nj",
    "n_nodes",
    "fidelity",
    "tip",
    "tip_node",
    "joint_slice",
    "joint_position_slice",
    "motor_slice",
    "motor_position_slice",
    "actuator_indices",
    "mode_slice",
    "body_joint_slice",
    "node_slice",
    "coordinate_names",
    "position_names",
    "constraint_names",
    "node_names",
    "body_index",
    "node",
    "neutral",
)

# shared by all views of a stack: the C object, and what is made once, as the gufuncs
_Shared = tuple[_core.Stack, dict[Any, Any]]


class _Gufuncs(Kernels):
    """The kernels of a stack, each with the numbers of the arms as first operand.

    Takes the place of the C model of an arm.  Functions without a kernel for different
    arms in the lanes are computed arm by arm.
    """

    def __init__(
        self, arms: tuple[Arm, ...], shared: _Shared, index: NDArray[np.int64]
    ) -> None:
        self._arms, self._shared, self._index = arms, shared, index

    def _bound(self, name: str, quiet: bool, threads: int) -> _Bound:
        core, made = self._shared
        key = (name, quiet, threads)
        gufunc = made.get(key)
        if gufunc is None:
            try:
                gufunc = core.gufunc(*key)
            except KeyError:
                gufunc = self._grouped(*key)
            made[key] = gufunc
        view = self._arms, self._index, self._shared
        return _Bound(view, name, gufunc, quiet)

    def _grouped(self, name: str, quiet: bool, threads: int) -> groups.Grouped:
        def gufunc(arm: int) -> _core.Gufunc:
            model = model_of(self._arms[arm])
            if quiet:
                return model.quiet(name, threads)
            return model.threaded(name, threads)

        try:
            return groups.Grouped(gufunc)
        except (KeyError, AttributeError):
            raise ArgumentError(
                f"a stack of arms does not compute {name}, expected one arm of it, "
                "such as stack[0]"
            ) from None

    def rollout(self, run: Rollout) -> None:
        """Run trajectories as `Model.rollout` does, each with an arm of its own."""
        if run.method in _core.STACK_METHODS:
            self._shared[0].rollout(run._replace(arms=self._index))
        else:
            groups.rollout(self._arms, self._index, run)

    def sampled_loop(self, run: SampledLoop) -> None:
        """Run loops as `Model.sampled_loop` does, each with an arm of its own."""
        if run.method in _core.STACK_METHODS:
            self._shared[0].sampled_loop(run._replace(arms=self._index))
        else:
            groups.sampled_loop(self._arms, self._index, run)

    def __getattr__(self, name: str) -> _Bound:
        if name.startswith("_"):
            raise AttributeError(name)
        bound = self._bound(name, False, 1)
        setattr(self, name, bound)  # the next access does not call __getattr__
        return bound

    def quiet(self, name: str, threads: int = 1, /) -> _Bound:
        return self._bound(name, True, threads)

    def threaded(self, name: str, threads: int, /) -> _Bound:
        return self._bound(name, False, threads)


class _Bound:
    """A gufunc of a stack with the numbers of its arms as first operand."""

    def __init__(
        self,
        view: tuple[tuple[Arm, ...], NDArray[np.int64], _Shared],
        name: str,
        gufunc: _core.Gufunc | groups.Grouped,
        quiet: bool,
    ) -> None:
        # not the gufuncs of the stack: they keep this one, in a circle
        self._view, self._name, self._quiet = view, name, quiet
        self._gufunc, self.signature = gufunc, gufunc.signature

    def __call__(self, *operands: object, **options: object) -> Array:
        """Compute each state with its arm; failures are those of the stack."""
        arms, index, _ = self._view
        try:
            if not all(map(_core.is_plain, operands)):
                one = model_of(arms[0]).quiet(self._name)
                operands = converted(one, operands, None)
            return self._gufunc(index, *operands, **options)
        except Exception as error:
            if self._quiet or isinstance(error, ArgumentError):
                raise
            one = model_of(arms[0]).quiet(self._name)
            raise explained_of_stack(
                ArmStack(*self._view),
                self._name,
                one,
                error,
                operands,
                options.get("out"),
            ) from None


class _StackIndexError(ArgumentError, IndexError):
    """An index beyond the arms of a stack, which ends a loop over it."""


@checked_class
class ArmStack(StackLike, StackMethods):
    """Arms of one topology that differ in constants only; `stack` makes one.

    Takes the place of an arm in forward and inverse dynamics and its derivatives,
    forces, mass matrices, energies, poses, velocities, Jacobians, momentum,
    constraints, `integrate`, `simulate`, `inverse_kinematics`, equilibria and other
    statics, frequencies and modes, `linearize`, `robustness`,
    `flexarm.control.simulate_loop`, `flexarm.optimize.trajectory` and, along a path,
    `flexarm.optimize.time_optimal`, whose one motion serves all arms.  Its axes
    broadcast with the leading axes of the states, as those of an array do.

    Attributes
    ----------
    arms : tuple of Arm
        All arms.
    index : (...) ndarray of int
        Number of the arm at each place of the stack.

    Notes
    -----
    ``stack[3]`` is an arm; slices, ``None``, masks and arrays of numbers give a stack
    of the chosen arms in the shape that they would give an array, without a copy of
    any arm.  Attributes that follow from the topology, such as `nv` or
    `coordinate_names`, are those of every arm.
    """

    arms: tuple[Arm, ...]
    index: NDArray[np.int64]

    def __init__(
        self, arms: tuple[Arm, ...], index: NDArray[np.int64], shared: _Shared
    ) -> None:
        self.arms, self.index, self._shared = arms, index, shared
        self.kernels = _Gufuncs(arms, shared, index)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.index.ndim

    @property
    def mass(self) -> Array:
        """Mass of each arm, in kg, in the shape of the stack."""
        return np.array([arm.mass for arm in self.arms])[self.index]

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, index: Any) -> Any:
        try:
            found = self.index[index]
        except (IndexError, TypeError, ValueError):
            raise _StackIndexError(
                f"index of a stack of shape {self.index.shape} is "
                f"{short_text(index)}, expected numbers within it, slices or a mask"
            ) from None
        if isinstance(found, np.integer):
            return self.arms[found]
        return self._of(found)

    def _of(self, index: NDArray[np.int64]) -> ArmStack:
        """Return a stack of the arms of these numbers."""
        return ArmStack(self.arms, index, self._shared)

    def _flat(self, batch: tuple[int, ...]) -> ArmStack:
        """Return a stack with one axis, an arm for each state of a batch."""
        index = np.broadcast_to(self.index, batch).reshape(-1)
        return self._of(np.ascontiguousarray(index))

    @property
    def _kept(self) -> dict[Any, Any]:
        """Numbers of all arms, beside the gufuncs of all views."""
        return self._shared[1]

    def _changed(self, change: Callable[[Arm], Arm]) -> ArmStack:
        """Return the stack of the arms that a function returns for each arm."""
        changed: ArmStack = stack(change(arm) for arm in self.arms)
        return changed._of(self.index)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getattr__(self, name: str) -> Any:
        if name in _COMMON:
            return getattr(self.arms[0], name)
        raise AttributeError(
            f"a stack has no attribute {name!r}, which its arms may not have in "
            "common; expected one arm of it, such as stack[0]"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.arms, self.index)

    def __repr__(self) -> str:
        first = self.arms[0]
        shape = " x ".join(map(str, self.shape))
        modes = first.nv - first.motor_slice.stop
        return (
            f"<ArmStack {first.name!r}: {shape} arms of {len(first.bodies)} bodies, "
            f"{first.nj} joint and {modes} modal coordinates>"
        )


def _list_difference(
    what: str, first: Sequence[object], other: Sequence[object]
) -> str:
    """Text of the first difference of two sequences, or nothing."""
    if len(first) != len(other):
        return f"{len(other)} {what} in place of {len(first)}"
    for i, (a, b) in enumerate(zip(first, other, strict=True)):
        if a != b:
            return f"{b!r} in place of {a!r} as number {i} of its {what}"
    return ""


def _value_difference(what: str, first: object, other: object) -> str:
    """Text of the difference of two values, or nothing."""
    return "" if first == other else f"{other!r} in place of {first!r} as {what}"


def _trees(arms: tuple[Arm, ...]) -> list[Tree]:
    """Links of arms, one on each node that is a rigid body in any of the arms.

    Where a node is not one in an arm, as with a payload of zero, its link is massless.
    """
    rigid = [rigid_nodes(arm) for arm in arms]
    try:
        places = union(rigid)
    except ValueError:  # other numbers of bodies
        return [arm._tree for arm in arms]
    return [
        arm._tree if own == places else tree_of(arm, places=places)
        for arm, own in zip(arms, rigid, strict=True)
    ]


def _model(arm: Arm, tree: Tree) -> _core.Model:
    """Model of these links, that of the arm if it has them all."""
    return model_of(arm) if tree is arm._tree else _core.Model(*rows(tree))


def _names_of(body: Body) -> tuple[object, ...]:
    """Names of a body, its joint, coordinates and nodes."""
    joint = body.joint
    return (
        (body.name, link_name(body), joint_name(body), joint.kind, has_motor(joint)),
        joint.velocity_names,
        body.mode_names,
        body.node_names,
    )


def _same_names(first: Arm, other: Arm) -> bool:
    """Whether two arms have no `_difference`, in less time."""
    return (
        len(first.bodies) == len(other.bodies)
        and first._parents == other._parents
        and first.fidelity == other.fidelity
        and first.tip_node == other.tip_node
        and first.constraint_names == other.constraint_names
        and all(
            a is b or _names_of(a) == _names_of(b)
            for a, b in zip(first.bodies, other.bodies, strict=True)
        )
    )


def _difference(first: Arm, other: Arm) -> str:
    """Text of a difference that has names, or nothing."""
    kinds = [
        [f"{b.name}: {b.joint.kind}" for b in arm.bodies] for arm in (first, other)
    ]
    places = [
        [f"{b.name} on {arm._parents[k]}" for k, b in enumerate(arm.bodies)]
        for arm in (first, other)
    ]
    return (
        _list_difference(
            "bodies", *([b.name for b in arm.bodies] for arm in (first, other))
        )
        or _list_difference("joints", *kinds)
        or _list_difference("parents", *places)
        or _list_difference(
            "coordinates", first.coordinate_names, other.coordinate_names
        )
        or _list_difference("nodes", first.node_names, other.node_names)
        or _list_difference(
            "constraints", first.constraint_names, other.constraint_names
        )
        or _value_difference("fidelity", first.fidelity, other.fidelity)
        or _value_difference("node at its tip", first.tip_node, other.tip_node)
    )


def _again(arms: tuple[Arm, ...], index: NDArray[np.int64]) -> ArmStack:
    whole = stack(arms)
    return ArmStack(whole.arms, index, whole._shared)


@checked
def stack(
    arms: Annotated[Iterable[Arm], Several("a sequence of flexarm.Arm, such as [arm]")],
) -> ArmStack:
    """Stack arms of one topology, for sweeps of payloads, lengths or stiffness.

    A stack takes the place of an arm: `forward_dynamics` of a stack and of states
    computes each state with its own arm, in one call.  The axis of the stack broadcasts
    with the leading axes of the states: ``stack`` has one state for each arm,
    ``stack[:, None]`` all states for each arm.

    Parameters
    ----------
    arms : sequence of Arm
        Arms with the same bodies, joints, modes, nodes and constraints by name, of
        ``fidelity`` full or ruthless.  They may differ in all numbers: masses, lengths,
        places and axes of joints, mode shapes, stiffness, damping, drives, gravity.

    Returns
    -------
    stack : ArmStack
        Of shape ``(len(arms),)``.

    Raises
    ------
    ArgumentError
        If there is no arm, an element is not an arm, arms differ in more than numbers,
        they are of linear fidelity, or joints follow others (``couplings`` of `Arm`).
    ModelError
        If arms differ in more than numbers in a way that only the C code finds.

    See Also
    --------
    forward_dynamics, mass_matrix, energy, jacobian, simulate, inverse_kinematics :
        Functions that take a stack.
    equilibrium, natural_frequencies, linearize, robustness, control.simulate_loop :
        More of them.
    optimize.trajectory, optimize.time_optimal : one motion that serves all arms.

    Notes
    -----
    States of different arms are computed in the lanes of the processor: only numbers
    that differ are gathered for each group of lanes, so that a sweep of payloads, or
    trajectories of `simulate` and `flexarm.control.simulate_loop` by ``"rk4"`` and
    ``"ROS34PW2"``, cost at most 50 % more than the same states of one arm, for any
    order of arms and states.  The bits of a
    state do not depend on the other arms, and are those of its arm alone to rounding.

    Derivatives, `difference`, factors and inverse blocks of the mass matrix,
    operational-space functions, inverse kinematics and the other methods of `simulate`
    take one arm after the other, with the bits of each arm alone: lanes hold states of
    one arm, which is fast only with several states for each arm.

    Examples
    --------
    A pendulum of 1 kg and one of 2 kg, level and released at 0.5 m and at 1 m:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arms = [fa.library.pendulum(mass=m, com=c) for m, c in [(1, 0.5), (2, 1)]]
    >>> stack = fa.stack(arms)
    >>> fa.forward_dynamics(stack, [0.0], [0.0], [0.0])
    array([[-19.62],
           [ -9.81]])

    Both arms at a hundred positions each:

    >>> q = np.linspace(-3.0, 3.0, 100)[:, np.newaxis]
    >>> fa.gravity_forces(stack[:, None], q).shape
    (2, 100, 1)
    """
    arms = tuple(arms)
    if not arms:
        raise ArgumentError("stack has no arms, expected one at least")
    for i, arm in enumerate(arms):
        if not isinstance(arm, Arm):
            raise ArgumentError(
                f"arm {i} of the stack is {type(arm).__name__}, expected flexarm.Arm"
            )
    # of one topology
    first = arms[0]
    if first.fidelity == "linear":
        raise ArgumentError(
            "arms of linear fidelity do not stack, they are computed state by state; "
            "expected fidelity 'full' or 'ruthless'"
        )
    for arm in arms:
        refuse_followers(arm, "arms of a stack")
    trees = _trees(arms)
    common = structure(trees[0])
    for i, arm in enumerate(arms[1:], 1):
        how = "" if _same_names(first, arm) else _difference(first, arm)
        if not how and common != structure(trees[i]):
            how = (
                "another structure: attachments, foreshortening, integrals, drives, "
                "actuators or passive forces differ"
            )
        if how:
            raise ArgumentError(
                f"arm {i} of the stack has {how}, expected arms that differ from the "
                "first in numbers only"
            )
    try:
        core = _core.Stack(tuple(map(_model, arms, trees)))
    except ValueError as error:
        raise ModelError(f"the stack cannot be built: {error}") from None
    index = np.arange(len(arms))
    index.flags.writeable = False
    return ArmStack(arms, index, (core, {}))
