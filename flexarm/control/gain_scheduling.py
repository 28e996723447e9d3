"""Gain scheduling: state feedback whose gains follow the posture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_numbers, real_array, refuse_idle_forces
from .._calls.declared import Floats, Positions, Velocities
from .._calls.doors import checked, checked_class
from .._support.arrays import Array, Index
from .._support.description import Description
from .._support.interrupts import uninterrupted
from .._support.options import place_of
from ..arm import Arm
from ..errors import ArgumentError
from ..linear_models import linearize
from ..simulation.laws import Memoryless
from ..statics import equilibrium, joint_grid
from ..statics.coordinates import geared
from ._matrices import times
from .checks import one_line, refuse_poses, rows
from .linear_quadratic import lqr
from .states import on_all_states, read_state, with_joints

Target: TypeAlias = (
    Annotated[ArrayLike, Floats()] | Callable[[float], Sequence[ArrayLike]]
)


@checked_class
@dataclass(frozen=True, eq=False)
class GainSchedule(Description, Memoryless):
    r"""State feedback with gains between those of a grid of postures.

    .. math:: \tau = \tau_d - K(s) \begin{pmatrix} q - q_d \\ \dot q - \dot q_d
       \end{pmatrix}

    with the equilibrium :math:`q_d, \tau_d` of the joints wanted, and gains that are
    interpolated, linear along each axis, at the present values s of some coordinates.

    Parameters
    ----------
    arm : Arm
        Arm without quaternions.
    axes : mapping of str to (k,) array_like of float
        Values of the grid in rad or m, increasing, by names of coordinates.
    K : (k1, k2, ..., nu, 2 nv) array_like of float
        Gains at its points.
    target : (..., nu) array_like of float or callable
        Joint positions wanted, or ``target(t)`` that returns positions and velocities;
        of a motion the equilibrium is solved at each call.
    dt : float, optional
        Sample time in s for which the gains are made; `simulate_loop` takes it.

    See Also
    --------
    scheduled_lqr : makes one.

    Notes
    -----
    The schedule has to vary slowly against the loop, and the coordinates s should not
    vibrate: take joints, not modes (J. S. Shamma, M. Athans, *IEEE Trans.
    Automatic Control* 35 (1990), 898-907).  A state outside of the grid is refused:
    nothing is extrapolated.

    Examples
    --------
    Two gains in N m/rad and N m s/rad, at 0 and 1 rad, and linear between:

    >>> import flexarm as fa
    >>> from flexarm.control.gain_scheduling import GainSchedule
    >>> arm = fa.library.pendulum()
    >>> gains = [[[40.0, 4.0]], [[60.0, 8.0]]]
    >>> law = GainSchedule(arm, {"rod": [0.0, 1.0]}, gains, [0.0])
    >>> law.gain([0.5])
    array([[50.,  6.]])
    >>> law(0.0, [0.0], [0.1])
    array([4.505])
    """

    arm: Arm
    axes: Mapping[str, Any]
    K: Annotated[Any, Floats("(k1, k2, ..., nu, 2 nv)")]
    target: Any
    dt: float | None = None
    _at: tuple[int, ...] = field(init=False, repr=False)
    _rest: tuple[Array, Array] | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        arm = self.arm
        refuse_poses(arm, "GainSchedule")
        # the axes, by indices of coordinates
        grid, at = {}, []
        if not isinstance(self.axes, Mapping) or not self.axes:
            raise ArgumentError(
                f"axes is {self.axes!r}, expected values by names of coordinates"
            )
        for name, values in self.axes.items():
            at.append(place_of("axes", name, arm.coordinate_names))
            grid[name] = _increasing(name, values)
        shape = tuple(map(len, grid.values()))
        self._set(axes=grid, _at=tuple(at))
        # gains at the points of the grid
        K = np.array(real_array("K", self.K))
        if K.shape != (*shape, arm.nu, 2 * arm.nv):
            raise ArgumentError(
                f"K has shape {K.shape}, expected {(*shape, arm.nu, 2 * arm.nv)}: one "
                "gain for each point of the grid"
            )
        check_numbers("K", K)
        K.flags.writeable = False
        # of a set point the equilibrium is solved once
        rest = None
        if not callable(self.target):
            wanted = rows("target", self.target, arm.nj, "one for each joint")
            self._set(target=wanted)
            rest = self._equilibrium(wanted)
        self._set(K=K, _rest=rest)

    def _equilibrium(self, joints: Array) -> tuple[Array, Array]:
        """Positions and forces at rest with these joints."""
        arm = self.arm
        found = uninterrupted(equilibrium(arm, with_joints(arm, joints)))
        found.check(stable=False)
        refuse_idle_forces(arm, found.tau)
        return found.q, found.tau[..., arm.actuator_indices]

    def gain(self, q: Positions) -> Array:
        """Gains in postures.

        Parameters
        ----------
        q : (..., nq) array_like of float
            Positions.

        Returns
        -------
        K : (..., nu, 2 nv) ndarray of float
            Gains; NaN where positions are NaN.

        Raises
        ------
        ArgumentError
            If a posture is outside of the grid.

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> arm = fa.library.de_luca_siciliano()
        >>> grid = {"link2": np.linspace(-0.5, 1.5, 5)}
        >>> Q, R = np.ones(12), np.ones(2)
        >>> law = fa.control.scheduled_lqr(arm, grid, Q, R, [0.0, 0.8])
        >>> q = np.zeros((2, 6))
        >>> q[:, 1] = [0.0, 1.2]  # elbow in rad
        >>> law.gain(q)[:, 0, :2].round(2)
        array([[ 0.98, -0.19],
               [ 0.99, -0.17]])
        """
        q = real_array("q", q)
        cells = [
            _place(name, values, q[..., i])
            for i, (name, values) in zip(self._at, self.axes.items(), strict=True)
        ]
        total = np.zeros(())
        for corner in product((0, 1), repeat=len(cells)):
            share = np.ones(())
            for up, (_, part) in zip(corner, cells, strict=True):
                share = share * (part if up else 1.0 - part)
            index = tuple(k + up for up, (k, _) in zip(corner, cells, strict=True))
            total = total + share[..., np.newaxis, np.newaxis] * self.K[index]
        return np.asarray(total)

    def __call__(self, t: float, q: Positions, qd: Velocities | None = None) -> Array:
        """Forces (..., nu) in N m or N, for `simulate` and `simulate_loop`."""
        q, qd = read_state(self.arm, q, qd)
        rest = self._rest
        if rest is None:
            wanted, rate = (np.asarray(x) for x in self.target(t)[:2])
            rest = self._equilibrium(wanted)
            qd = qd - geared(self.arm, with_joints(self.arm, rate))
        q0, tau = rest
        x = np.concatenate(np.broadcast_arrays(q - q0, qd), axis=-1)
        return np.asarray(tau - times(self.gain(q), x))


@checked
def scheduled_lqr(
    arm: Arm,
    joints: Mapping[str, ArrayLike],
    Q: ArrayLike,
    R: ArrayLike,
    target: Target,
    *,
    dt: float | None = None,
) -> GainSchedule:
    """Gain schedule of LQR gains on a grid of postures, all in one call.

    Parameters
    ----------
    arm : Arm
        Tree without quaternions.  Motors of drives are in equilibrium with the joints;
        coordinates that follow from others by couplings and rigid gears have no gain.
    joints : mapping of str to (k,) array_like of float
        Values of the grid in rad or m, by names of bodies; other joints are at zero.
    Q, R : (..., 2 nv, 2 nv), (..., nu, nu) array_like of float, or diagonals
        Weights as in `lqr`, for all postures or on the grid; Q of the states of
        `linearize`, which leaves out what follows by couplings.
    target : (..., nu) array_like of float or callable
        As in `GainSchedule`.
    dt : float, optional
        Sample time in s for gains of a sampled loop.  Gains for continuous time need
        samples that resolve the fastest pole.

    Returns
    -------
    law : GainSchedule
        The law.

    See Also
    --------
    flexarm.joint_grid : the grid.

    Examples
    --------
    Gains for five angles of the second joint, at rest in a sixth one:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> grid = {"link2": np.linspace(-0.5, 1.5, 5)}
    >>> law = fa.control.scheduled_lqr(arm, grid, np.ones(12), np.ones(2), [0.0, 0.8])
    >>> law.K.shape
    (5, 2, 12)
    >>> law(0.0, [0.0, 0.8, 0.0, 0.0, 0.0, 0.0], np.zeros(6))
    array([0., 0.])
    >>> law(0.0, np.zeros((100, 6)), np.zeros((100, 6))).shape
    (100, 2)
    """
    refuse_poses(arm, "scheduled_lqr")
    axes = {k: _increasing(f"joints[{k!r}]", x) for k, x in joints.items()}
    model = linearize(arm, joint_grid(arm, axes), settle=True)
    found = lqr(model, Q, R, dt=dt)
    K = on_all_states(arm, model, found.K)
    return GainSchedule(arm, axes, K, target, found.dt)


def _increasing(name: str, values: ArrayLike) -> Array:
    x = np.array(real_array(name, values))
    if x.ndim != 1 or len(x) < 2 or (np.diff(x) <= 0.0).any():
        raise ArgumentError(
            f"{name} is {one_line(x)}, expected at least two increasing values"
        )
    check_numbers(name, x)
    x.flags.writeable = False
    return x


def _place(name: str, values: Array, x: Array) -> tuple[Index, Array]:
    """Cell of the grid and place in it, from 0 to 1."""
    rounding = 1e-12 * max(1.0, float(np.abs(values).max()))
    out = (x < values[0] - rounding) | (x > values[-1] + rounding)
    if np.any(out):
        bad = float(np.ravel(np.where(out, x, np.nan))[np.flatnonzero(out)[0]])
        many = f" in {int(out.sum())} of {out.size} states" if np.ndim(out) else ""
        raise ArgumentError(
            f"q of {name!r} is {bad:.4g}{many}, outside of the grid from "
            f"{values[0]:g} to {values[-1]:g}; expected a wider grid"
        )
    k = np.clip(np.searchsorted(values, x, side="right") - 1, 0, len(values) - 2)
    return k, np.asarray((x - values[k]) / (values[k + 1] - values[k]))
