r"""Equations of motion of an arm whose parameters are unknown, too.

The residual is :math:`ID(q, \dot q, \ddot q; p) - B \tau`.  A payload enters it linearly,
so that two arms make all of them; other parameters come from a function that makes the
arm, as in `parameter_derivatives`.  First derivatives are exact to rounding, second ones
those of the arm at the parameters, exact derivatives of products by the parameters, and
differences for two parameters alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._explain import check_arm
from ..errors import ArgumentError, FlexarmError, ModelError
from ..joints import Joint
from ..models import RigidBody
from ..parameters._tangent import ArmTangent
from ._local import EquationOfMotion

if TYPE_CHECKING:
    from ..arm import Arm

Array = NDArray[np.float64]

_STEP = 1e-3  # of second differences, as a part of the size of a parameter
_KEPT = 64  # arms that are remembered


class Family(Protocol):
    """Arms of k parameters, and derivatives of their forces by these."""

    size: int

    def arm(self, p: Array) -> Arm:
        """The arm of parameters (k,)."""
        ...

    def rates(self, p: Array, kernel: str, operands: tuple[Array, ...]) -> list[Array]:
        """Derivatives of forces, or of products of them, by each parameter."""
        ...

    def bend(self, p: Array, states: tuple[Array, ...], by: Array) -> Array:
        """(..., k, k) second derivatives of ``by @ forces``."""
        ...


class Designs:
    """Arms made by a function of the parameters.

    Parameters
    ----------
    make_arm : callable
        ``make_arm(p)`` returns the arm.
    scale : (k,) ndarray of float
        Sizes of the parameters.
    """

    def __init__(self, make_arm: Callable[[Array], Arm], scale: Array) -> None:
        self.make_arm, self.scale = make_arm, scale
        self.size = len(scale)
        self._arms: dict[bytes, Arm] = {}
        self._tangent: tuple[bytes, ArmTangent] | None = None

    def arm(self, p: Array) -> Arm:
        """The arm of parameters (k,), remembered."""
        key = np.asarray(p, dtype=np.float64).tobytes()
        if key not in self._arms:
            arm = self.make_arm(np.array(p))
            try:
                check_arm(arm)
            except FlexarmError:
                raise ArgumentError(
                    f"make_arm returned {type(arm).__name__}, expected flexarm.Arm"
                ) from None
            if len(self._arms) >= _KEPT:
                self._arms.clear()
            self._arms[key] = arm
        return self._arms[key]

    def rates(self, p: Array, kernel: str, operands: tuple[Array, ...]) -> list[Array]:
        """Derivatives of forces, or of products of them, by each parameter."""
        key = p.tobytes()
        if self._tangent is None or self._tangent[0] != key:
            self._tangent = key, ArmTangent(self.arm, p, self.scale)
        return self._tangent[1].rates(kernel, operands)[0]

    def bend(self, p: Array, states: tuple[Array, ...], by: Array) -> Array:
        """(..., k, k) second derivatives, by differences of the forces."""
        steps = np.diag(_STEP * self.scale)

        def product(at: Array) -> Array:
            forces = self.arm(at)._model.quiet("inverse_dynamics")(*states)
            return np.asarray((by * forces).sum(axis=-1))

        H = np.zeros((*by.shape[:-1], self.size, self.size))
        for i in range(self.size):
            for j in range(i + 1):
                a, b = steps[i], steps[j]
                center = self._inside(p, a + b)
                if i == j:
                    corners = product(center + a) - 2.0 * product(center)
                    corners += product(center - a)
                else:
                    corners = product(center + a + b) - product(center + a - b)
                    corners -= product(center - a + b) - product(center - a - b)
                    corners = 0.25 * corners
                H[..., i, j] = H[..., j, i] = corners / (a[i] * b[j])
        return H

    def _inside(self, p: Array, step: Array) -> Array:
        """A point next to p about which there are arms, p itself if it can be."""
        for center in (p, p + step, p - step):
            try:
                for side in (-1.0, 1.0):
                    self.arm(center + side * step)
            except ModelError:
                continue
            return center
        raise ModelError(
            f"there are no arms beside the parameters {p}, at steps of {step}; give "
            "a smaller scale"
        )


class Payloads:
    """An arm that carries a point mass at its tip: one parameter, in kg."""

    size = 1

    def __init__(self, arm: Arm) -> None:
        self.empty, self._full = arm, with_payload(arm, 1.0)

    def arm(self, p: Array) -> Arm:
        """The arm with this payload."""
        mass = float(p[0])
        return with_payload(self.empty, mass) if mass > 0.0 else self.empty

    def rates(self, p: Array, kernel: str, operands: tuple[Array, ...]) -> list[Array]:
        """What a payload of 1 kg adds."""
        empty, full = (
            x._model.quiet(kernel)(*operands) for x in (self.empty, self._full)
        )
        return [np.asarray(full - empty)]

    def bend(self, p: Array, states: tuple[Array, ...], by: Array) -> Array:
        """Nothing: forces are linear in masses."""
        return np.zeros((*by.shape[:-1], 1, 1))


def with_payload(arm: Arm, mass: float) -> Arm:
    """The same arm with a point mass at its tip, in kg."""
    body, node = (arm.bodies[arm.body_index(arm.tip[0])], arm.tip[1])
    joint = Joint("fixed", parent=body.name, node=node)
    names = {other.name for other in arm.bodies}
    name = next(x for x in ("payload", "optimal payload", "load") if x not in names)
    load = RigidBody(name, joint, mass=mass)
    return arm.replace(bodies=(*arm.bodies, load), tip=(body.name, node))


class ParametricEquation(EquationOfMotion):
    """``ID(q, v, a; p) - B tau``, all points with the same parameters p."""

    def __init__(self, family: Family, p: Array) -> None:
        super().__init__(family.arm(p), family.size)
        self.family = family
        self._shared = slice(self._k - family.size, self._k)
        moving = slice(0, 3 * self._n)
        self.slopes[:, self._shared] = True
        self.curvature[self._shared, self._shared] = True
        self.curvature[moving, self._shared] = True
        self.curvature[self._shared, moving] = True

    def _take(self, w: Array) -> Array:
        """Parameters of the points; makes their arm the present one."""
        p = np.array(w[0, self._shared])
        self.arm = self.family.arm(p)
        return p

    def value(self, w: Array) -> Array:
        """(P, nv) residuals."""
        self._take(w)
        return super().value(w)

    def jacobian(self, w: Array) -> Array:
        """(P, nv, k) derivatives."""
        p = self._take(w)
        J = super().jacobian(w)
        rates = self.family.rates(p, "inverse_dynamics", self._split(w))
        J[:, :, self._shared] = np.stack(rates, axis=-1)
        return J

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives."""
        p = self._take(w)
        H = super().hessian(w, multipliers)
        states = self._split(w)
        rates = self.family.rates(
            p, "inverse_dynamics_vjp", (*states, np.asarray(multipliers))
        )
        mixed = np.stack([x.reshape(len(w), -1) for x in rates], axis=-1)
        moving = slice(0, 3 * self._n)
        H[:, moving, self._shared] = mixed
        H[:, self._shared, moving] = mixed.swapaxes(1, 2)
        H[:, self._shared, self._shared] = self.family.bend(p, states, multipliers)
        return H


class Rest:
    """Rows of an equation of motion at rest without forces of the actuators.

    Of w = (q, p): zero in static equilibrium, where no actuator acts.
    """

    name = "static equilibrium"

    def __init__(self, equation: EquationOfMotion, shared: int) -> None:
        arm = equation.arm
        n, nu = arm.nv, arm.nu
        self._equation, self._k = equation, 3 * n + nu + shared
        self._own = np.r_[0:n, 3 * n + nu : self._k]
        free = np.ones(n, dtype=bool)
        free[arm.actuator_indices] = False
        self._free = np.flatnonzero(free)
        self.rows, size = len(self._free), len(self._own)
        self.slopes = np.ones((self.rows, size), dtype=bool)
        self.curvature = np.ones((size, size), dtype=bool)

    def _whole(self, w: Array) -> Array:
        whole = np.zeros((len(w), self._k))
        whole[:, self._own] = w
        return whole

    def value(self, w: Array) -> Array:
        """(P, rows) forces that nothing balances."""
        return np.asarray(self._equation.value(self._whole(w))[:, self._free])

    def jacobian(self, w: Array) -> Array:
        """(P, rows, k) derivatives."""
        J = self._equation.jacobian(self._whole(w))
        return np.asarray(J[:, self._free][:, :, self._own])

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives."""
        by = np.zeros((len(w), self._equation.rows))
        by[:, self._free] = multipliers
        H = self._equation.hessian(self._whole(w), by)
        return np.asarray(H[:, self._own][:, :, self._own])
