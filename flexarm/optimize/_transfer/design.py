r"""Equations of motion of an arm with unknown parameters.

The residual is :math:`ID(q, \dot q, \ddot q; p) - B \tau`.  A payload enters it
linearly, so that two arms are enough; other parameters belong to a function that makes
the arm, as in `parameter_derivatives`.  Derivatives by the parameters are those
of the constants of the arm, to some 1e-10, alone or mixed with those by the motion;
second ones by parameters alone are differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Protocol

import numpy as np

from ..._calls.arguments import check_numbers, real_array
from ..._calls.declared import Floats
from ..._calls.doors import checked_class
from ..._support.arrays import Array
from ...arm import Arm
from ...bodies import Joint, RigidBody
from ...errors import ArgumentError, ModelError
from ...parameters.tangent import SHORT_RULES, SHORT_STEP, STEP, Arms, ArmTangent
from .._collocation.local import EquationOfMotion


@checked_class
@dataclass(frozen=True, eq=False)
class Design:
    """Arm with parameters that `trajectory` chooses.

    Parameters
    ----------
    make_arm : callable
        ``make_arm(p)`` returns the arm of parameters (k,): sections and lengths of
        links, stiffness of joints, payloads, anything smooth.  The arms differ in
        numbers only.  It is called about four times for each parameter in each step of
        the solver.
    first, lower, upper : (k,) array_like of float
        First, least and largest values.
    cost : callable, optional
        ``cost(p)`` is a number, such as the mass, or a number and its gradient (k,);
        its weight is ``cost["design"]`` of `trajectory`.

    Raises
    ------
    ArgumentError
        If bounds are in the wrong order.

    Examples
    --------
    A rod of 1 to 2 kg:

    >>> import flexarm as fa
    >>> from flexarm import optimize
    >>> design = optimize.Design(
    ...     lambda p: fa.library.pendulum(mass=p[0]), [1.5], [1.0], [2.0]
    ... )
    >>> design.size
    1
    """

    make_arm: Callable[[Array], Arm]
    first: Annotated[Array, Floats("(k,)")]
    lower: Annotated[Array, Floats("(k,)")]
    upper: Annotated[Array, Floats("(k,)")]
    cost: Callable[[Array], object] | None = None

    def __post_init__(self) -> None:
        for name in ("make_arm", *(("cost",) if self.cost is not None else ())):
            if not callable(getattr(self, name)):
                raise ArgumentError(
                    f"{name} is {getattr(self, name)!r}, expected a function of the "
                    "parameters"
                )
        # numbers for each parameter
        first = real_array("first", self.first)
        if first.ndim != 1 or not len(first):
            raise ArgumentError(
                f"first has shape {first.shape}, expected (k,), one for each parameter"
            )
        for name in ("first", "lower", "upper"):
            value = np.array(real_array(name, getattr(self, name)))
            if value.shape not in ((), first.shape):
                raise ArgumentError(
                    f"{name} has shape {value.shape}, expected {first.shape} as first"
                )
            value = np.array(np.broadcast_to(value, first.shape))
            check_numbers(name, value)
            object.__setattr__(self, name, value)
        # their order
        wrong = ~((self.lower <= self.first) & (self.first <= self.upper))
        wrong |= self.lower >= self.upper
        if wrong.any():
            k = int(np.argmax(wrong))
            raise ArgumentError(
                f"parameter {k} starts at {self.first[k]:g}, expected a first value "
                f"between its lower bound, {self.lower[k]:g}, and its upper one, "
                f"{self.upper[k]:g}"
            )

    @property
    def size(self) -> int:
        """Number of parameters."""
        return len(self.first)


class Family(Protocol):
    """Arms of k parameters, and derivatives of what depends on these.

    `moves` tells whether more than a mass at the tip changes: places of nodes do.
    """

    size: int
    moves: bool

    def arm(self, p: Array) -> Arm:
        """The arm of parameters (k,)."""
        ...

    def mixture(self, p: Array) -> list[tuple[float, Arm]]:
        """Arms with weights of sum one, whose forces add up to those of p."""
        ...

    def rates(self, p: Array, kernel: str, operands: tuple[Array, ...]) -> list[Array]:
        """Derivatives of forces, or of products of them, by each parameter."""
        ...

    def bend(self, p: Array, states: tuple[Array, ...], by: Array) -> Array:
        """(..., k, k) second derivatives of ``by @ forces``."""
        ...

    def slopes_of(self, p: Array, f: Callable[[Arm], Array]) -> Array:
        """(..., k) first derivatives of a smooth function (...) of the arm."""
        ...

    def bends_of(self, p: Array, f: Callable[[Arm], Array]) -> Array:
        """(..., k, k) second derivatives of a smooth function (...) of the arm."""
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

    moves = True

    def __init__(self, make_arm: Callable[[Array], Arm], scale: Array) -> None:
        self.scale, self.size = scale, len(scale)
        self._arms = Arms(make_arm)
        self._tangent: tuple[bytes, ArmTangent] | None = None

    def arm(self, p: Array) -> Arm:
        """The arm of parameters (k,), from memory if it is known."""
        return self._arms(p)

    def mixture(self, p: Array) -> list[tuple[float, Arm]]:
        """The arm alone."""
        return [(1.0, self.arm(p))]

    def _at(self, p: Array) -> ArmTangent:
        key = p.tobytes()
        if self._tangent is None or self._tangent[0] != key:
            self._tangent = key, ArmTangent(self.arm, p, self.scale, SHORT_RULES)
        return self._tangent[1]

    def rates(self, p: Array, kernel: str, operands: tuple[Array, ...]) -> list[Array]:
        """Derivatives of forces, or of products of them, by each parameter."""
        return self._at(p).rates(kernel, operands)[0]

    def bend(self, p: Array, states: tuple[Array, ...], by: Array) -> Array:
        """(..., k, k) second derivatives, by differences of the forces."""

        def product(arm: Arm) -> Array:
            forces = arm.kernels.quiet("inverse_dynamics")(*states)
            return np.asarray((by * forces).sum(axis=-1))

        return self.bends_of(p, product)

    def slopes_of(self, p: Array, f: Callable[[Arm], Array]) -> Array:
        """(..., k) first derivatives of a smooth function (...) of the arm."""
        return np.stack(self._at(p).differences(f), axis=-1)

    def bends_of(self, p: Array, f: Callable[[Arm], Array]) -> Array:
        """(..., k, k) second derivatives of a smooth function (...) of the arm."""
        # the arms beside p are those of the first derivatives
        steps = np.diag(SHORT_STEP * (STEP * self.scale))

        def product(at: Array) -> Array:
            return f(self.arm(at))

        p = self._inside(p, steps)
        here = product(p)
        H = np.zeros((*np.shape(here), self.size, self.size))
        along = [product(p + a) + product(p - a) - 2.0 * here for a in steps]
        for i in range(self.size):
            H[..., i, i] = along[i] / steps[i, i] ** 2
            for j in range(i):
                both = steps[i] + steps[j]
                mixed = product(p + both) + product(p - both) - 2.0 * here
                mixed = 0.5 * (mixed - along[i] - along[j])
                H[..., i, j] = H[..., j, i] = mixed / (steps[i, i] * steps[j, j])
        return H

    def _inside(self, p: Array, steps: Array) -> Array:
        """Point next to p with arms on both sides, p itself if it has them."""
        for step in steps:
            for center in (p, p + step, p - step):
                try:
                    self.arm(center + step)
                    self.arm(center - step)
                except ModelError:
                    continue
                p = center
                break
        return p


class Payloads:
    """An arm that carries a point mass at its tip: one parameter, in kg."""

    size, moves = 1, False

    def __init__(self, arm: Arm) -> None:
        self.empty, self._full = arm, with_payload(arm, 1.0)

    def arm(self, p: Array) -> Arm:
        """The arm with this payload."""
        mass = float(p[0])
        return with_payload(self.empty, mass) if mass > 0.0 else self.empty

    def mixture(self, p: Array) -> list[tuple[float, Arm]]:
        """The empty arm and that with 1 kg: forces are linear in masses."""
        return [(1.0 - p[0], self.empty), (float(p[0]), self._full)]

    def rates(self, p: Array, kernel: str, operands: tuple[Array, ...]) -> list[Array]:
        """Forces of a payload of 1 kg."""
        empty, full = (
            x.kernels.quiet(kernel)(*operands) for x in (self.empty, self._full)
        )
        return [np.asarray(full - empty)]

    def bend(self, p: Array, states: tuple[Array, ...], by: Array) -> Array:
        """Zeros: forces are linear in masses."""
        return np.zeros((*by.shape[:-1], 1, 1))

    def slopes_of(self, p: Array, f: Callable[[Arm], Array]) -> Array:
        """(..., 1) zeros: places do not depend on masses."""
        return np.zeros((*np.shape(f(self.empty)), 1))

    def bends_of(self, p: Array, f: Callable[[Arm], Array]) -> Array:
        """(..., 1, 1) zeros: places do not depend on masses."""
        return np.zeros((*np.shape(f(self.empty)), 1, 1))


def with_payload(arm: Arm, mass: float) -> Arm:
    """The same arm with a point mass at its tip, in kg."""
    body, node = arm.bodies[arm.body_index(arm.tip[0])].name, arm.tip[1]
    joint = Joint("fixed", parent=body, node=node)
    names = {other.name for other in arm.bodies}
    name = "payload"
    while name in names:
        name += "_"
    load = RigidBody(name, joint, mass=mass)
    bodies = (*arm.bodies, load)
    changed: Arm = arm.replace(bodies=bodies, tip=(body, node))
    return changed


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

    def _mixed(self, f: Callable[..., Array], w: Array, *operands: Array) -> Array:
        """Value of a function of one arm for the arm of the parameters in w."""
        total: float | Array = 0.0
        p = np.array(w[0, self._shared])
        for weight, arm in self.family.mixture(p):
            self.arm = arm
            total = total + weight * f(w, *operands)
        return np.asarray(total)

    def value(self, w: Array) -> Array:
        """(P, nv) residuals."""
        return self._mixed(super().value, w)

    def jacobian(self, w: Array) -> Array:
        """(P, nv, k) derivatives."""
        J = self._mixed(super().jacobian, w)
        p = np.array(w[0, self._shared])
        rates = self.family.rates(p, "inverse_dynamics", self._split(w))
        J[:, :, self._shared] = np.stack(rates, axis=-1)
        return J

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives."""
        H = self._mixed(super().hessian, w, multipliers)
        p, states = np.array(w[0, self._shared]), self._split(w)
        rates = self.family.rates(
            p, "inverse_dynamics_vjp", (*states, np.asarray(multipliers))
        )
        mixed = np.stack([x.reshape(len(w), -1) for x in rates], axis=-1)
        moving = slice(0, 3 * self._n)
        H[:, moving, self._shared] = mixed
        H[:, self._shared, moving] = mixed.swapaxes(1, 2)
        H[:, self._shared, self._shared] = self.family.bend(p, states, multipliers)
        return H
