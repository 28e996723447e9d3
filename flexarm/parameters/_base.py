"""Base parameters: the combinations that forces and motion can identify."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._calls.arm_like import ArmLike
from .._calls.declared import RandomSeed
from .._calls.doors import checked, checked_class
from .._support.arrays import Array, Mask
from .._support.checks import as_generator
from .._support.description import Description
from .._support.printing import Printed, Sheet, Table
from ..errors import ArgumentError
from ..kinematics.positions import integrate
from ._layout import Bodies, Names
from ._regressor import InertialParameters, described, regressor_of

# Part of an independent column that is not in the space of others: dependent columns
# have some 1e-13, the smallest independent ones of flexible links more than 1e-6.
_MIN_INDEPENDENCE = 1e-8

# Rotation of a node in rad, and motion relative to its distance, in random states.
_BEND = 0.3

# Size of coefficients below which they are rounding.
_COEFFICIENT_TOLERANCE = 1e-9


@checked_class
@dataclass(frozen=True, eq=False)
class BaseParameters(Printed, Description):
    r"""Smallest set of combinations of parameters that determine all forces.

    Attributes
    ----------
    parameters : InertialParameters
        All p parameters.
    independent : tuple of int
        Columns of the regressor that are a basis of its b independent ones.
    combinations : (b, p) ndarray of float
        Coefficients T of the parameters in the base parameters; that of its own
        `independent` parameter is one.
    unidentified : tuple of str
        Parameters without influence on forces.

    Notes
    -----
    With the regressor Y, ``Y @ pi == Y[..., independent] @ (T @ pi)``.
    """

    parameters: InertialParameters
    independent: tuple[int, ...]
    combinations: Array
    unidentified: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.independent)

    @property
    def values(self) -> Array:
        """Values of the combinations in the arm, (b,)."""
        return np.asarray(self.combinations @ self.parameters.values)

    @property
    def names(self) -> tuple[str, ...]:
        """Text of the combinations, such as ``"link1.Izz + 0.25 link2.m"``."""
        return tuple(self._name(i, row) for i, row in enumerate(self.combinations))

    def _name(self, i: int, row: Array) -> str:
        names, own = self.parameters.names, self.independent[i]
        text = names[own]
        for j in np.flatnonzero(row):
            if j != own:
                size = "" if abs(row[j]) == 1.0 else f"{abs(row[j]):.6g} "
                text += f" {'-' if row[j] < 0 else '+'} {size}{names[j]}"
        return text

    def _sheet(self) -> Sheet:
        rows = [("base parameter", "value", "unit")]
        for name, value, i in zip(
            self.names, self.values, self.independent, strict=True
        ):
            rows.append((name, f"{value:.6g}", self.parameters.units[i]))
        return Sheet((Table(rows),))


def random_motion(arm: ArmLike, count: int, seed: int) -> tuple[Array, Array, Array]:
    """Random positions, velocities and accelerations of all coordinates."""
    rng = as_generator("seed", seed, ArgumentError)
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


@checked
def base_parameters(
    arm: ArmLike,
    *,
    bodies: Bodies = None,
    families: Names = "inertia",
    seed: RandomSeed = 0,
) -> BaseParameters:
    r"""Find the combinations of the parameters of an arm that determine its forces.

    Parameters
    ----------
    arm : Arm
        Arm with p parameters.
    bodies : str, int or sequence of str or int, optional
        Names or numbers of bodies.
    families : str or sequence of str, optional
        Selected parameters, see `inertial_parameters`; by default those of inertia of
        all bodies.
    seed : int
        Seed of the random states.

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
    inertial_regressor : matrix with dependent columns.

    Notes
    -----
    The regressor of random states is factored by Gram-Schmidt (QR), column by column
    from base to tip [1]_: a column in the space of the previous ones is removed, and
    its parameter is added to theirs.  So parameters are regrouped on bodies closer to
    the base, as by symbolic rules [2]_.  The result depends on the geometry of the arm;
    for random states it is wrong with probability zero, except for rounding: a column
    is independent if a part of more than 1e-8 is not in the space of others.

    References
    ----------
    .. [1] M. Gautier, "Numerical calculation of the base inertial parameters of
       robots", *J. Robotic Systems* 8(4), 1991, 485-506.
    .. [2] W. Khalil, E. Dombre, *Modeling, Identification and Control of Robots*, 2002,
       section 9.4.

    Examples
    --------
    Three of the ten parameters of a pendulum on a level axis can be identified:

    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3)
    >>> fa.base_parameters(arm).names
    ('rod.mx', 'rod.mz', 'rod.Iyy')

    The PUMA 560 has 36 of 60:

    >>> base = fa.base_parameters(fa.library.puma560())
    >>> len(base), len(base.parameters)
    (36, 60)
    """
    # regressor of random states
    made = regressor_of(arm, bodies, families)
    p = len(made.places)
    states = max(8, -(-3 * p // arm.nv))
    operands = random_motion(arm, states, seed)
    columns = made("inverse_dynamics", (states,), operands)
    W = np.ascontiguousarray(columns.reshape(p, -1).T)
    # rows scaled by their forces, then columns of length one
    rows = np.sqrt((W.reshape(states, arm.nv, p) ** 2).mean(axis=(0, 2)))
    W = W / np.tile(np.where(rows > 0.0, rows, 1.0), states)[:, np.newaxis]
    size = np.sqrt((W * W).sum(axis=0))
    if not size.any():
        raise ArgumentError(
            "no parameter of these bodies and families has an influence on forces, "
            "expected others"
        )
    acts = size > 1e-14 * size.max()
    # independent columns, and the others as their combinations
    basis = _basis(W / np.where(acts, size, 1.0), acts)
    T = np.zeros((len(basis), p))
    inverse = np.linalg.pinv(W[:, basis])
    T[:, acts] = inverse @ W[:, acts]
    T[:, basis] = np.eye(len(basis))
    # remove rounding, relative to the columns
    part = np.abs(T) * size / np.maximum(size[basis], 1e-300)[:, np.newaxis]
    T[part < _COEFFICIENT_TOLERANCE] = 0.0
    parameters = described(arm, made.places)
    idle = tuple(n for n, a in zip(parameters.names, acts, strict=True) if not a)
    T = _rounded(T)
    T.flags.writeable = False
    return BaseParameters(parameters, tuple(basis), T, idle)


def _basis(W: Array, acts: Mask) -> list[int]:
    """Columns that are not in the space of previous ones, orthogonalized twice."""
    Q = np.zeros((len(W), 0))
    basis = []
    for j in np.flatnonzero(acts):
        left = W[:, j] - Q @ (Q.T @ W[:, j])
        left = left - Q @ (Q.T @ left)
        rest = float(np.linalg.norm(left))
        if rest > _MIN_INDEPENDENCE:
            basis.append(int(j))
            Q = np.column_stack([Q, left / rest])
    return basis


def _rounded(T: Array) -> Array:
    """Replace numbers close to whole ones by these."""
    near = np.round(T)
    return np.where(np.abs(T - near) < _COEFFICIENT_TOLERANCE, near, T)
