"""Base parameters: the combinations that forces and motion can tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._calls.arm_like import ArmLike
from .._support.description import Description
from .._support.printing import Printed, Sheet, Table
from ..errors import ArgumentError
from ._regressor import InertialParameters, described, regressor_of

Array = NDArray[np.float64]

# part of a column that others do not give, above which it is independent; columns in a
# space of the others keep some 1e-13, the smallest ones of flexible links above 1e-6
_INDEPENDENT = 1e-8

# rotation of a node, and motion as a part of its distance, by modes of random states
_BEND = 0.3

_SMALL = 1e-9  # coefficients that are rounding


@dataclass(frozen=True, eq=False)
class BaseParameters(Printed, Description):
    r"""The least number of combinations of parameters that give all forces.

    Attributes
    ----------
    parameters : InertialParameters
        All p parameters.
    independent : tuple of int
        Columns of the regressor that are a basis of its b independent ones.
    combinations : (b, p) ndarray of float
        Coefficients T of the parameters in the base parameters; each has one of the
        `independent` ones with the coefficient one.
    unidentified : tuple of str
        Parameters without any influence on forces.

    Notes
    -----
    With the regressor Y, ``Y @ pi == Y[..., independent] @ (T @ pi)``.
    """

    parameters: InertialParameters
    independent: tuple[int, ...]
    combinations: Any
    unidentified: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.independent)

    @property
    def values(self) -> Array:
        """(b,) values of the combinations in the arm."""
        return np.asarray(self.combinations @ self.parameters.values)

    @property
    def names(self) -> tuple[str, ...]:
        """The combinations in words, such as ``"link1.Izz + 0.25 link2.m"``."""
        return tuple(self._name(i, row) for i, row in enumerate(self.combinations))

    def _name(self, i: int, row: Array) -> str:
        names, own = self.parameters.names, self.independent[i]
        told = names[own]
        for j in np.flatnonzero(row):
            if j != own:
                size = "" if abs(row[j]) == 1.0 else f"{abs(row[j]):.6g} "
                told += f" {'-' if row[j] < 0 else '+'} {size}{names[j]}"
        return told

    def _sheet(self) -> Sheet:
        rows = [("base parameter", "value", "unit")]
        for name, value, i in zip(
            self.names, self.values, self.independent, strict=True
        ):
            rows.append((name, f"{value:.6g}", self.parameters.units[i]))
        return Sheet((Table(rows),))


def random_motion(arm: ArmLike, count: int, seed: int) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations that move everything."""
    from ..kinematics.positions import integrate

    rng = np.random.default_rng(seed)
    scale = np.ones(arm.nv)
    for k, body in enumerate(arm.bodies):
        if body.n_modes:
            reach = np.abs(body.node_position).max() or 1.0
            turn = np.abs(body.node_rotation).max(axis=(0, 1))
            move = np.abs(body.node_translation).max(axis=(0, 1)) / reach
            scale[arm.mode_slice(k)] = _BEND / np.maximum(np.maximum(turn, move), 1e-12)
    q = integrate(arm, arm.neutral, rng.uniform(-3.0, 3.0, (count, arm.nv)) * scale)
    qd, qdd = rng.normal(size=(2, count, arm.nv)) * scale
    return q, qd, qdd


def base_parameters(
    arm: ArmLike,
    *,
    bodies: Any = None,
    families: Any = "inertia",
    seed: int = 0,
) -> BaseParameters:
    r"""Combinations of the parameters of an arm that its forces depend on.

    Parameters
    ----------
    arm : Arm
        Arm with p parameters.
    bodies, families : str or sequence of str, optional
        Parameters that are meant, see `inertial_parameters`; by default those of
        inertia of all bodies.
    seed : int
        Of the random states.

    Returns
    -------
    base : BaseParameters
        Basis, combinations, names.

    Raises
    ------
    ArgumentError
        If there are no such parameters.

    See Also
    --------
    inertial_regressor : columns of which some depend on others.

    Notes
    -----
    The regressor of random states is factored by Gram and Schmidt (QR), column by
    column from the base to the tip [1]_: a column that those before it give is left
    out, and its parameter is added to theirs.  So what a link cannot be told from is
    regrouped on bodies closer to the base, as in symbolic rules [2]_.  The result
    belongs to the constants of the geometry of the arm; random states make it miss a
    dependence or see one that is none with probability zero, but for rounding: a column
    is independent if others leave more than 1e-8 of it.

    References
    ----------
    .. [1] M. Gautier, "Numerical calculation of the base inertial parameters of
       robots", *J. Robotic Systems* 8(4), 1991, 485-506.
    .. [2] W. Khalil, E. Dombre, *Modeling, Identification and Control of Robots*, 2002,
       section 9.4.

    Examples
    --------
    A pendulum about a level axis shows three of its ten parameters:

    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3)
    >>> fa.base_parameters(arm).names
    ('rod.mx', 'rod.mz', 'rod.Iyy')

    The PUMA 560 has 36 of 60:

    >>> base = fa.base_parameters(fa.library.puma560())
    >>> len(base), len(base.parameters)
    (36, 60)
    """
    made = regressor_of(arm, bodies, families)
    p = len(made.places)
    states = max(8, -(-3 * p // arm.nv))
    operands = random_motion(arm, states, seed)
    columns = made("inverse_dynamics", (states,), operands)
    W = np.ascontiguousarray(columns.reshape(p, -1).T)
    # rows in units of the forces that the parameters give, then columns of length one
    rows = np.sqrt((W.reshape(states, arm.nv, p) ** 2).mean(axis=(0, 2)))
    W = W / np.tile(np.where(rows > 0.0, rows, 1.0), states)[:, np.newaxis]
    size = np.sqrt((W * W).sum(axis=0))
    if not size.any():
        raise ArgumentError(
            "no parameter of these bodies and families has an influence on forces, "
            "expected others"
        )
    acts = size > 1e-14 * size.max()
    basis = _basis(W / np.where(acts, size, 1.0), acts)
    T = np.zeros((len(basis), p))
    inverse = np.linalg.pinv(W[:, basis])
    T[:, acts] = inverse @ W[:, acts]
    T[:, basis] = np.eye(len(basis))
    # in units of one: as large as what it multiplies
    part = np.abs(T) * size / np.maximum(size[basis], 1e-300)[:, np.newaxis]
    T[part < _SMALL] = 0.0
    parameters = described(arm, made.places)
    idle = tuple(n for n, a in zip(parameters.names, acts, strict=True) if not a)
    T = _rounded(T)
    T.flags.writeable = False
    return BaseParameters(parameters, tuple(basis), T, idle)


def _basis(W: Array, acts: NDArray[np.bool_]) -> list[int]:
    """Columns that those before them do not give, orthogonalized twice."""
    Q = np.zeros((len(W), 0))
    basis = []
    for j in np.flatnonzero(acts):
        left = W[:, j] - Q @ (Q.T @ W[:, j])
        left = left - Q @ (Q.T @ left)
        rest = float(np.linalg.norm(left))
        if rest > _INDEPENDENT:
            basis.append(int(j))
            Q = np.column_stack([Q, left / rest])
    return basis


def _rounded(T: Array) -> Array:
    """The same, with whole numbers that rounding has missed."""
    near = np.round(T)
    return np.where(np.abs(T - near) < _SMALL, near, T)
