"""Arms, operands and comparisons for tests that walk over every gufunc of a model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import pytest
from each import each
from named import function
from numpy.typing import NDArray
from trees import SEVERAL, quaternions

import flexarm as fa
from flexarm import _core
from flexarm._calls.explain import explain

Array = NDArray[Any]

ARMS = {
    "pendulum": fa.library.pendulum(mass=2.0, com=0.3, inertia=0.01, damping=0.1),
    "puma560": fa.library.puma560(damping=True),
    "de_luca": fa.library.de_luca_siciliano(damping=True),
    "tree": fa.library.random_tree(7, n_bodies=5, max_modes=3),
    # all kinds of joints; more positions than velocities
    "joints": fa.library.random_tree(2, 14, max_modes=2, joints=SEVERAL),
    # a loop and a coupling
    "closed": fa.library.random_tree(
        3, 6, max_modes=2, joints=("revolute", "prismatic", "spherical")
    ).replace(
        constraints=[
            fa.Loop(("body5", 1), kind="spherical", position2=(0.1, 0.2, 0.3)),
            fa.Coupling({"body0": 1.0, "body3": -0.5}),
        ]
    ),
    # modes beyond the compiled-in counts, scratch beyond the stack
    "large": fa.library.random_tree(2, n_bodies=8, max_modes=8, n_nodes=5),
}


# functions that arrange what their gufunc computes, or pass it another index
INNER = tuple(
    name
    for name, (public, _, nodes, _) in _core.KERNELS.items()
    if nodes == 2 or signature(function(public)).return_annotation != "Array"
)


def public_name(name: str) -> tuple[str, dict[str, str]]:
    """Function of a gufunc, and the option that chooses it among several."""
    public = _core.KERNELS[name][0]
    known = signature(function(public)).parameters
    option = next((o for o in ("method", "form", "frame") if o in known), "")
    chosen = name.removeprefix(public).removeprefix("_")
    return public, {option: chosen} if chosen else {}


def gufunc_names(arm: fa.Arm = ARMS["pendulum"]) -> list[str]:
    """Every gufunc of a model: a new row of the table is found by itself.

    An arm without constraints has not those of constraints.
    """
    model = arm.kernels
    return [n for n in dir(model) if isinstance(getattr(model, n, None), np.ufunc)]


@dataclass(frozen=True)
class Case:
    """One gufunc of one arm, with the shapes of its operands."""

    arm: fa.Arm
    name: str

    @property
    def gufunc(self) -> np.ufunc:
        return getattr(self.arm.kernels, self.name)

    @property
    def has_node(self) -> bool:
        return self.gufunc.types[0].startswith("l")

    def _cores(self) -> list[tuple[int, ...]]:
        parts = re.findall(r"\(([^)]*)\)", self.gufunc.signature)
        size = {"t": self.arm.nu}
        return [
            tuple(size[n] if n in size else int(n) for n in part.split(",") if n)
            for part in parts
        ]

    @property
    def cores(self) -> list[tuple[int, ...]]:
        """Core shapes of the inputs, the node number included."""
        return self._cores()[:-1]

    @property
    def out_core(self) -> tuple[int, ...]:
        return self._cores()[-1]

    def draw(self, *batches: tuple[int, ...], seed: int = 0) -> list[Array]:
        """Random operands with one batch shape for all, or one for each."""
        rng = np.random.default_rng(seed)
        cores = self.cores
        shapes = batches * len(cores) if len(batches) == 1 else batches
        operands: list[Array] = []
        for k, (batch, core) in enumerate(zip(shapes, cores, strict=True)):
            if self.has_node and k == 0:
                # runs of one node, then changes within a block of lanes
                node = rng.integers(self.arm.n_nodes, size=batch)
                flat = node.reshape(-1)
                flat[: len(flat) // 2] = self.arm.n_nodes - 1
                operands.append(node)
                continue
            x = rng.normal(size=batch + core)
            if k == self.has_node:  # positions, modes small
                x[..., self.arm.joint_position_slice.stop :] *= 0.1
            operands.append(x)
        return operands

    def set_upright(self, operands: list[Array]) -> list[Array]:
        """Make the scalar part of all quaternions one: zeros are no rotation."""
        for at in quaternions(self.arm):
            operands[self.has_node][..., at.start] = 1
        return operands

    def loop(self, operands: list[Array]) -> Array:
        """One call for each state of a batch of one axis."""
        return np.array([self.gufunc(*state) for state in zip(*operands, strict=True)])

    def public(self, operands: list[Any], **options: Any) -> Any:
        """The same by the public function of this name."""
        name, variant = public_name(self.name)
        options |= variant
        if name in INNER:
            return self._inner(operands, **options)
        arguments = [*operands[1:], operands[0]] if self.has_node else operands
        return function(name)(self.arm, *arguments, **options)

    def _inner(self, operands: list[Any], **options: Any) -> Any:
        nodes = tuple(np.asarray(x, np.int64) for x in operands[: int(self.has_node)])
        arrays = operands[int(self.has_node) :]
        try:
            return self.gufunc(*nodes, *arrays, **options)
        except Exception as error:
            last = "tau" if self.name.startswith("forward") else "qdd"
            given = dict(zip(("q", "qd", last, "cotangent"), arrays, strict=False))
            raise explain(
                self.arm, self.name, error, extra=nodes, **given, **options
            ) from None


NODE_NAMES = [n for n in gufunc_names() if Case(ARMS["pendulum"], n).has_node]
CASES = [Case(arm, name) for arm in ARMS.values() for name in gufunc_names(arm)]
CASE_NAMES = [
    f"{key}-{name}" for key, arm in ARMS.items() for name in gufunc_names(arm)
]
each_case = each("case", CASES, CASE_NAMES)
each_name = each("name", gufunc_names())
# of a file: no warning, and no floating-point flag that reaches NumPy
STRICT = (pytest.mark.filterwarnings("error"), pytest.mark.usefixtures("strict_floats"))


def assert_same_bits(actual: Any, expected: Any) -> None:
    """Shape, type and every bit equal, signs of zeros and NaNs included."""
    a, b = np.asarray(actual), np.asarray(expected)
    assert a.shape == b.shape
    assert a.dtype == b.dtype
    if a.tobytes() != b.tobytes():
        differ = np.argwhere(a.view(np.int64) != b.view(np.int64)) if a.ndim else [()]
        at = tuple(int(i) for i in differ[0])
        raise AssertionError(
            f"{len(differ)} of {a.size} entries differ, first at {at}: "
            f"{a[at]!r} and {b[at]!r}"
        )


def spoil(case: Case, operands: list[Any], k: int, *states: tuple[int, ...]) -> bool:
    """Make states of an operand NaN; tell whether the result depends on it at all.

    The mass matrix of a pendulum, for one, is the same at any angle.
    """
    for state in states:
        operands[k][state] = np.nan
    with np.errstate(all="ignore"):
        result = case.arm.kernels.quiet(case.name)(*operands)
    return not np.isfinite(result).all()
