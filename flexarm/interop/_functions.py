"""Functions of an arm with their partial derivatives, failed states NaN."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .._calls.declared import Choice, Count
from .._calls.doors import checked
from .._support.arrays import Array
from ..arm import Arm
from ..errors import ArgumentError

Partials = tuple[Array, ...]


class Kernels:
    """Kernels of an arm that return NaN where a state fails."""

    def __init__(self, arm: Arm, threads: int = 1) -> None:
        self.arm, self._threads = arm, threads
        # differences of forces with and without it are those of gravity
        self._weightless: Kernels | None = None

    def __call__(self, name: str, *operands: object) -> Array:
        """Result of a gufunc."""
        with np.errstate(all="ignore"):
            return np.asarray(self.arm.kernels.quiet(name, self._threads)(*operands))

    @property
    def weightless(self) -> Kernels:
        """Kernels of the arm without gravity."""
        if self._weightless is None:
            arm: Arm = self.arm.replace(gravity=(0.0, 0.0, 0.0))
            self._weightless = Kernels(arm, self._threads)
        return self._weightless

    def inverse_partials(self, q: object, qd: object, qdd: object) -> Partials:
        """Partial derivatives of inverse dynamics by local displacements and qd."""
        both = self("inverse_dynamics_derivatives", q, qd, qdd)
        return both[..., 0, :, :], both[..., 1, :, :]

    def displacements(self, q: Array) -> Array:
        """Local displacements by changes of the positions, (..., nv, nq)."""
        nv = self.arm.nv
        if self.arm.nq == nv:
            return np.eye(nv)
        rates = self("position_rates", q[..., np.newaxis, :], np.eye(nv))
        fine = np.isfinite(rates).all((-1, -2), keepdims=True)
        return np.where(
            fine, np.linalg.pinv(np.where(fine, rates, 0.0)).swapaxes(-1, -2), np.nan
        )


def _forward_partials(k: Kernels, q: Array, qd: Array, tau: Array) -> Partials:
    every = k("forward_dynamics_derivatives", q, qd, tau)
    dq, dqd, dtau = (every[..., i, :, :] for i in range(3))
    acting = tau.shape[-1] != k.arm.nv
    return dq, dqd, dtau[..., k.arm.actuator_indices] if acting else dtau


def _inverse_partials(k: Kernels, q: object, qd: object, qdd: object) -> Partials:
    return *k.inverse_partials(q, qd, qdd), k("mass_matrix", q)


def _bias_partials(k: Kernels, q: object, qd: object) -> Partials:
    return k.inverse_partials(q, qd, np.zeros(k.arm.nv))


def _gravity_partials(k: Kernels, q: object) -> Partials:
    still = np.zeros(k.arm.nv)
    with_it = k.inverse_partials(q, still, still)[0]
    return (with_it - k.weightless.inverse_partials(q, still, still)[0],)


def _mass_slopes(k: Kernels, q: object, qdd: object) -> Array:
    """Derivative of M qdd by local displacements, (..., nv, nv)."""
    still = np.zeros(k.arm.nv)
    moved = k.inverse_partials(q, still, qdd)[0]
    return np.asarray(moved - k.inverse_partials(q, still, still)[0])


def _mass_partials(k: Kernels, q: Array) -> Partials:
    # column by column of M, which is symmetric
    return (_mass_slopes(k, q[..., np.newaxis, :], np.eye(k.arm.nv)),)


def _kinetic_partials(k: Kernels, q: Array, qd: Array) -> Partials:
    row = qd[..., np.newaxis, :]
    slopes = (0.5 * row @ _mass_slopes(k, q, qd))[..., 0, :]
    return slopes, k("apply_mass_matrix", q, qd)


def _potential_partials(k: Kernels, q: object) -> Partials:
    return (k("bias_forces", q, np.zeros(k.arm.nv)),)


def _tip_pose(k: Kernels, q: object) -> Array:
    return k("node_pose", k.arm.tip_node, q)


def _tip_partials(k: Kernels, q: object) -> Partials:
    J = k("jacobian", k.arm.tip_node, q)  # in the axes of the node
    R = _tip_pose(k, q)[..., :3, :3]
    slopes = np.zeros((*J.shape[:-2], 4, 4, k.arm.nv))
    # dR = R [w x] column by column: w x e_i
    axes = J[..., :3, :].swapaxes(-1, -2)
    turned = np.cross(axes[..., np.newaxis, :], np.eye(3))
    slopes[..., :3, :3, :] = np.einsum("...ij,...vkj->...ikv", R, turned)
    slopes[..., :3, 3, :] = R @ J[..., 3:, :]
    return (slopes,)


@dataclass(frozen=True)
class _Row:
    """A function: names of its arguments, result axes, value, partials.

    Partials with respect to `q` are those by local displacements, (..., core, nv).
    """

    arguments: tuple[str, ...]
    core: str
    value: Callable[..., Array]
    partials: Callable[..., Partials]


def _kernel(name: str) -> Callable[..., Array]:
    return lambda k, *x: k(name, *x)


FUNCTIONS_BY_NAME = {
    "bias_forces": _Row(("q", "qd"), "v", _kernel("bias_forces"), _bias_partials),
    "forward_dynamics": _Row(
        ("q", "qd", "tau"), "v", _kernel("forward_dynamics"), _forward_partials
    ),
    "gravity_forces": _Row(("q",), "v", _kernel("gravity_forces"), _gravity_partials),
    "inverse_dynamics": _Row(
        ("q", "qd", "qdd"), "v", _kernel("inverse_dynamics"), _inverse_partials
    ),
    "kinetic_energy": _Row(
        ("q", "qd"), "", _kernel("kinetic_energy"), _kinetic_partials
    ),
    "mass_matrix": _Row(("q",), "vv", _kernel("mass_matrix"), _mass_partials),
    "potential_energy": _Row(
        ("q",), "", _kernel("potential_energy"), _potential_partials
    ),
    "tip_pose": _Row(("q",), "44", _tip_pose, _tip_partials),
}
FUNCTIONS = tuple(FUNCTIONS_BY_NAME)
_FULL_ONLY = ("potential_energy", "tip_pose")


class ArmFunction:
    """A function of an arm on arrays, with its derivatives.

    Attributes
    ----------
    name : str
        One of `FUNCTIONS`.
    arguments : tuple of str
        Names of the arguments.
    core : tuple of int
        Shape of one result.
    """

    @checked
    def __init__(
        self, arm: Arm, name: Annotated[str, Choice(*FUNCTIONS)], threads: Count = 1
    ) -> None:
        row = FUNCTIONS_BY_NAME[name]
        if name == "forward_dynamics" and arm._held:
            raise ArgumentError(
                "the arm has constraints, expected a tree: derivatives of constrained "
                "accelerations are not offered here"
            )
        if name in _FULL_ONLY and arm.fidelity != "full":
            raise ArgumentError(
                f"the arm is of {arm.fidelity} fidelity, whose forces and Jacobians "
                f"are not the derivatives of its {name}; expected fidelity 'full'"
            )
        self.name, self.arm, self.arguments = name, arm, row.arguments
        sizes = {"v": arm.nv, "4": 4}
        self.core = tuple(sizes[letter] for letter in row.core)
        self._row, self._kernels = row, Kernels(arm, threads)

    def sizes(self, argument: str) -> tuple[int, ...]:
        """Lengths that an argument may have, the usual one first."""
        if argument == "tau":
            return tuple(dict.fromkeys((self.arm.nu, self.arm.nv)))
        return (self.arm.nq if argument == "q" else self.arm.nv,)

    def value(self, *x: Array) -> Array:
        """Results, NaN where a state fails; leading axes broadcast."""
        return self._row.value(self._kernels, *x)

    def partials(self, *x: Array) -> Partials:
        """Derivatives (..., core, size of the argument), by all arguments."""
        by_parts = list(self._row.partials(self._kernels, *x))
        if self.arm.nq != self.arm.nv:
            local = self._kernels.displacements(x[0])
            if len(self.core) == 2:  # one more axis of the result
                local = local[..., np.newaxis, :, :]
            dq = by_parts[0]
            by_parts[0] = (
                dq @ local if self.core else (dq[..., np.newaxis, :] @ local)[..., 0, :]
            )
        batch = np.broadcast_shapes(*(y.shape[:-1] for y in x))
        return tuple(
            np.broadcast_to(dx, (*batch, *self.core, y.shape[-1]))
            for dx, y in zip(by_parts, x, strict=True)
        )
