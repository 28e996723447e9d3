"""Derivatives of the constants of an arm by parameters of any kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_arm, check_numbers, real_array
from .._calls.arm_like import AnArm, ArmLike
from .._core import Model
from .._support.arrays import Array
from ..arm import Arm
from ..bodies.integrals import DrivenShapes
from ..errors import ArgumentError, FlexarmError, ModelError
from ..model.lumps import Nodes, integrals_without, rigid_nodes, union
from ..model.packing import Packed, pack
from ._layout import driven_places, linear_masks
from ._regressor import Models

# Step relative to a parameter: truncation of order ten, rounding times a hundred.
STEP = 0.01

_AHEAD = np.arange(11)


def _weights(nodes: Array, order: int) -> Array:
    """Weights of the first derivative at zero, exact for polynomials up to `order`."""
    near = np.argsort(np.abs(nodes), kind="stable")[: order + 1]
    powers = np.vander(nodes[near], increasing=True).T
    unit = np.zeros(len(near))
    unit[1] = 1.0
    weights = np.zeros(len(nodes))
    weights[near] = np.linalg.solve(powers, unit)
    return weights


class Rule(NamedTuple):
    """Nodes in steps, weights of an order, and of one lower by two."""

    nodes: Array
    weights: Array
    coarse: Array


def _rule(nodes: ArrayLike, order: int = 10) -> Rule:
    at = np.array(nodes, dtype=np.float64)
    return Rule(at, _weights(at, order), _weights(at, order - 2))


# differences on both sides, or on one side for a parameter at its bound
RULES = (_rule(np.arange(-5, 6)), _rule(_AHEAD), _rule(-_AHEAD))

# Part of that step with a rule of order four: error 1e-10 with four arms in place of
# ten.
SHORT_STEP = 0.1
SHORT_RULES = (
    _rule(SHORT_STEP * np.arange(-2, 3), 4),
    _rule(SHORT_STEP * _AHEAD[:5], 4),
    _rule(-SHORT_STEP * _AHEAD[:5], 4),
)

# Number of arms at which the memory is emptied: with fewer, arms are made again within
# a search; more take memory until its end.
_MAX_ARMS = 512


def made_arm(make_arm: Callable[[Array], AnArm], p: Array) -> AnArm:
    """Return the arm of a copy of the parameters."""
    arm = make_arm(np.array(p))
    try:
        check_arm(arm)
    except FlexarmError:
        raise ArgumentError(
            f"make_arm returned {type(arm).__name__}, expected flexarm.Arm"
        ) from None
    return arm


class Arms:
    """``make_arm`` with a memory: equal parameters share one arm."""

    def __init__(self, make_arm: Callable[[Array], Arm]) -> None:
        if not callable(make_arm):
            raise ArgumentError(
                f"make_arm is {type(make_arm).__name__}, expected a function of the "
                "parameters that returns an arm"
            )
        self._make, self._known = make_arm, dict[bytes, Arm]()

    def __call__(self, p: Array) -> Arm:
        """Return the arm of parameters."""
        key = np.asarray(p, dtype=np.float64).tobytes()
        arm = self._known.get(key)
        if arm is None:
            if len(self._known) >= _MAX_ARMS:
                self._known.clear()
            arm = self._known[key] = made_arm(self._make, p)
        return arm


class ArmTangent:
    """An arm and the derivatives of its forces with respect to k parameters.

    Forces are linear in most constants (masses, integrals, stiffness): their change is
    inverse dynamics with the derivatives of these constants.  The change by the others
    (places, axes, mode shapes, gravity) is a difference of forces, if there is one.
    """

    def __init__(
        self,
        make_arm: Callable[[Array], ArmLike],
        p: ArrayLike | None,
        scale: ArrayLike | None,
        rules: tuple[Rule, ...] = RULES,
    ) -> None:
        # parameters and steps
        values = real_array("p", p)
        self.single = values.ndim == 0
        values = np.atleast_1d(values)
        if values.ndim != 1 or not len(values):
            raise ArgumentError(
                f"p has shape {values.shape}, expected one axis of parameters"
            )
        check_numbers("p", values)
        self.p, self._make_arm = values, make_arm
        self.steps = STEP * _sizes(values, scale)
        # derivatives of linear constants, and arms of changed geometry
        self.arm: ArmLike = made_arm(make_arm, values)
        self._rigid = rigid_nodes(self.arm)
        nodes = rules[0].nodes  # the closest ones, whose arms are needed anyway
        for j in range(len(values)):  # rigid nodes of any arm are so in all
            for node in nodes[np.abs(nodes) == np.abs(nodes[nodes != 0.0]).min()]:
                self._rigid = self._with_nodes(j, float(node))
        self._base = pack(self.arm, integrals=True, rigid=self._rigid)
        self._masks = linear_masks(self._base)
        linear: list[Model] = []
        moved: list[Model] = []
        self.rules: list[tuple[Rule, bool]] = []  # with flags of changed geometry
        for j in range(len(values)):
            rule, packs = self._packs(j, rules)
            weights = [w / self.steps[j] for w in (rule.weights, rule.coarse)]
            linear += [Model(*self._rate(packs, w)) for w in weights]
            parts = [self._placed(x) for x in packs]
            moves = not all(_same(x, self._base) for x in parts)
            if moves:
                moved += [Model(*x) for x in parts]
            self.rules.append((rule, moves))
        kind, follow = self.arm.fidelity, len(self._base.followers) > 0
        self._linear = Models(linear, kind, follow=follow)
        self._moved = Models(moved, kind, follow=follow) if moved else None

    def _with_nodes(self, j: int, node: float) -> Nodes:
        """Rigid nodes, with those of the arm at a node of a rule, if it exists."""
        try:
            return union([self._rigid, rigid_nodes(self._arm_at(j, node))])
        except (ModelError, ValueError):  # refused later, or of another structure
            return self._rigid

    def _arm_at(self, j: int, node: float) -> ArmLike:
        p = self.p.copy()
        p[j] += node * self.steps[j]
        return made_arm(self._make_arm, p)

    def _packs(self, j: int, rules: tuple[Rule, ...]) -> tuple[Rule, list[Packed]]:
        """Return arrays at the nodes of the first rule for which all arms exist."""
        refused: ModelError | None = None
        for rule in rules:
            try:
                return rule, [self._pack(j, node) for node in rule.nodes]
            except ModelError as error:
                refused = refused or error
        raise ModelError(
            f"make_arm fails near parameter {j} = {self.p[j]:g}, at steps of "
            f"{self.steps[j]:g}: {refused}; give a smaller scale"
        )

    def _pack(self, j: int, node: float) -> Packed:
        if node == 0.0:
            return self._base
        arm = self._arm_at(j, node)
        if len(arm.bodies) != len(self._rigid):
            raise self._other_structure(j, node)
        packed = pack(arm, integrals=True, rigid=self._rigid)
        for name in ("topology", "loops"):
            ours, theirs = getattr(self._base, name), getattr(packed, name)
            if not np.array_equal(ours, theirs):
                raise self._other_structure(j, node)
        if packed.acting != self._base.acting:
            raise ArgumentError(
                f"forces inside joints vanish or appear at parameter {j} = "
                f"{self.p[j]:g}, expected the same springs, friction and stops"
            )
        _align(self._base, packed, arm, self._rigid)
        return packed

    def _other_structure(self, j: int, node: float) -> ArgumentError:
        p = self.p[j]
        return ArgumentError(
            f"make_arm returned arms of different structure for parameter {j} = {p:g} "
            f"and {p + node * self.steps[j]:g}, expected the same bodies, joints, "
            "modes, nodes and constraints"
        )

    def _rate(self, packs: list[Packed], weights: Array) -> Packed:
        """Arrays of derivatives of the linear constants, with the base's geometry."""
        arrays = {}
        for name, mask in self._masks.items():
            ours = getattr(self._base, name)
            rate = sum(
                w * (getattr(x, name) - ours)
                for w, x in zip(weights, packs, strict=True)
            )
            arrays[name] = np.where(mask, rate, ours)
        return self._base._replace(**arrays)

    def _placed(self, packed: Packed) -> Packed:
        """Arrays of another arm's geometry, with the linear constants of the base."""
        arrays = {
            name: np.where(mask, getattr(self._base, name), getattr(packed, name))
            for name, mask in self._masks.items()
        }
        return packed._replace(**arrays)

    def forces(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array]:
        """Derivatives of inverse dynamics, (..., nv, k), of order ten and eight."""
        fine, coarse = self.rates("inverse_dynamics", (q, qd, qdd))
        return np.stack(fine, axis=-1), np.stack(coarse, axis=-1)

    def rates(
        self, kernel: str, operands: tuple[Array, ...]
    ) -> tuple[list[Array], list[Array]]:
        """Derivatives of forces, or of their products, for each parameter.

        By the weights of a rule, and by those of the lower order.
        """
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in operands))
        linear = self._linear(kernel, batch, operands)
        moved = None
        if self._moved is not None:
            moved = self._moved(kernel, batch, operands)
        results: list[list[Array]] = []
        for order in range(2):
            columns, at = [], 0
            for j, (rule, moves) in enumerate(self.rules):
                column = linear[2 * j + order]
                if moves and moved is not None:
                    own = moved[at : at + len(rule.nodes)]
                    at += len(rule.nodes)
                    weights = rule[1 + order] / self.steps[j]
                    here = own[int(np.flatnonzero(rule.nodes == 0.0)[0])]
                    column = column + np.tensordot(weights, own - here, 1)
                columns.append(column)
            results.append(columns)
        return results[0], results[1]

    def differences(self, f: Callable[[Any], Array]) -> list[Array]:
        """Derivatives of a smooth function of the arm by each parameter."""
        found, here = [], f(self.arm)
        for j, (rule, _) in enumerate(self.rules):
            change = np.zeros(np.shape(here))
            for node, weight in zip(rule.nodes, rule.weights, strict=True):
                if node != 0.0:
                    change += weight * (f(self._arm_at(j, float(node))) - here)
            found.append(change / self.steps[j])
        return found


def short_differences(f: Callable[[Array], Array], p: Array, scale: Array) -> Array:
    """Derivatives (..., k) of a function by parameters of some sizes."""
    here = f(p)
    result = np.zeros((*here.shape, len(p)))
    for j in range(len(p)):

        def at(steps: float, j: int = j) -> Array:
            moved = p.copy()
            moved[j] += steps * (STEP * scale[j])  # arms of the tangent, to the bit
            return f(moved)

        for rule in SHORT_RULES:
            try:
                ends = [at(s) for s in (rule.nodes[0], rule.nodes[-1])]
                if all(np.array_equal(here, end) for end in ends):
                    break  # nothing but masses, stiffness, damping
                values = [at(s) - here for s in rule.nodes]
            except ModelError:
                continue
            weights = rule.weights / (STEP * scale[j])
            result[..., j] = np.tensordot(weights, np.array(values), 1)
            break
    return result


def _align(base: Packed, packed: Packed, arm: ArmLike, rigid: Nodes) -> None:
    """Turn the driven shapes of bodies to be closest to those of the base.

    Any orthogonal mixture of them, with any signs, represents the same motion; the one
    with amplitudes closest to given ones is a smooth function of parameters.
    """
    driven = [
        shapes
        for body, nodes in zip(arm.bodies, rigid, strict=True)
        if body.n_modes
        and (shapes := integrals_without(body, nodes).driven) is not None
    ]
    for (at, p, n), shapes in zip(driven_places(base), driven, strict=True):
        ours = base.modal[at : at + p * n * n].reshape(p, n * n)
        if np.array_equal(ours, shapes.second.reshape(p, n * n)):
            continue
        left, _, right = np.linalg.svd(shapes.second.reshape(p, n * n) @ ours.T)
        turn = np.eye(n + p)
        turn[n:, n:] = left @ right
        second = np.tensordot(turn[n:, n:].T, shapes.second, 1)
        turned = DrivenShapes(second, shapes.integrals.change_basis(turn)).pack()
        packed.modal[at : at + len(turned)] = turned


def _same(a: Packed, b: Packed) -> bool:
    pairs: Any = zip(a, b, strict=True)
    return all(np.array_equal(x, y) for x, y in pairs)


def _sizes(p: Array, scale: ArrayLike | None) -> Array:
    """Typical sizes of the parameters."""
    if scale is None:
        return np.where(p == 0.0, 1.0, np.abs(p))
    sizes = real_array("scale", scale)
    try:
        sizes = np.broadcast_to(sizes, p.shape)
    except ValueError:
        raise ArgumentError(
            f"scale has shape {sizes.shape}, expected a size for each of "
            f"{len(p)} parameters"
        ) from None
    if not (np.isfinite(sizes) & (sizes > 0.0)).all():
        raise ArgumentError("scale has an entry that is not positive, expected sizes")
    return np.array(sizes, dtype=np.float64)
