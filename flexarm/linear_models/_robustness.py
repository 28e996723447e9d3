"""Linear models of many arms at once: loops over ranges of payloads and the like."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_arm, check_numbers, real_array
from .._calls.arm_like import Array, StackLike
from .._calls.chunks import parts
from .._calls.declared import Choice, Dictionary, Positions
from .._calls.doors import checked, checked_class
from .._support.arrays import Complex, Mask
from .._support.checks import short_text
from .._support.printing import Printed, Sheet
from ..arm import Arm
from ..errors import ArgumentError
from ..stacks import stack
from ._linearize import linearize
from ._loci import damping_of
from ._margins import Loops, margins
from .loops import (
    Controller,
    closed_loop,
    rates_of,
    read_controller,
    sampled,
    sensitivity,
)
from .state_space import StateSpace

# Part of the largest rate that counts as no decay: rounding.
_RATE_TOLERANCE = 1e-9
# Loops of which margins are computed at a time.
_CHUNK_SIZE = 1024


@checked_class
@dataclass(frozen=True, eq=False)
class Robustness(Printed):
    r"""Poles and margins over ranges of parameters.

    Leading axes: one for each range, then those of the points.

    Attributes
    ----------
    ranges : dict of str to (k,) ndarray
        Values of the parameters, one axis each.
    models : StateSpace
        The plants.
    loops : StateSpace
        The plants with the controller, or without one as they are.
    poles : (..., n) ndarray of complex
        Of the loops, in 1/s, or z if the controller is discrete.
    stable : (...) ndarray of bool
        True where all of them decay.
    damping : (...) ndarray of float
        Least damping ratio of the poles.
    decay : (...) ndarray of float
        Slowest decay in 1/s, negative where something grows.
    gain_up, gain_down : (..., m) ndarray of float
        Smallest factor above one, and largest below, of the force of one input that
        makes the loop unstable; infinite and zero where there is none.
    phase : (..., m) ndarray of float
        Smallest change in rad of the phase of one input that makes the loop unstable.
    sensitivity : (...) ndarray of float
        Largest ratio, over all frequencies, of the inputs to their disturbances: the
        reciprocal of the size of the smallest matrix of errors of gains and phases that
        may make the loop unstable.  Two or less is a common demand.

    Notes
    -----
    Margins are NaN where a loop is not stable, or there is no controller.
    """

    ranges: dict[str, Array]
    models: StateSpace
    loops: StateSpace
    poles: Complex
    stable: Mask
    damping: Array
    decay: Array
    gain_up: Array
    gain_down: Array
    phase: Array
    sensitivity: Array

    @property
    def rates(self) -> Complex:
        """The poles as rates s in 1/s; ``log(z)/dt`` of discrete loops."""
        return rates_of(self.poles, self.loops.dt)

    def worst(
        self,
        quantity: Annotated[
            str,
            Choice("damping", "decay", "gain_up", "gain_down", "phase", "sensitivity"),
        ] = "damping",
    ) -> dict[str, float]:
        """Values of the parameters where a quantity is worst.

        Parameters
        ----------
        quantity : {"damping", "decay", "gain_up", "gain_down", "phase", "sensitivity"}
            Of several inputs the worst counts, and a loop that is not stable is worse
            than any margin.

        Returns
        -------
        where : dict of str to float
            The value of each parameter, and of the quantity by its name.
        """
        values = self.least(quantity)
        ranked = np.where(np.isnan(values), -np.inf, values)
        if quantity in ("gain_down", "sensitivity"):
            ranked = np.where(np.isnan(values), -np.inf, -values)
        at = np.unravel_index(int(np.argmin(ranked)), ranked.shape)
        where = {
            name: float(x[i])
            for (name, x), i in zip(self.ranges.items(), at, strict=False)
        }
        return {**where, quantity: float(values[at])}

    @checked
    def least(
        self,
        quantity: Annotated[
            str,
            Choice("damping", "decay", "gain_up", "gain_down", "phase", "sensitivity"),
        ],
    ) -> Array:
        """A quantity over the ranges (...), the worst of the inputs.

        Parameters
        ----------
        quantity : {"damping", "decay", "gain_up", "gain_down", "phase", "sensitivity"}
            Name of the attribute.

        Returns
        -------
        values : (...) ndarray of float
            In the units of the attribute.

        Raises
        ------
        ArgumentError
            If there is no such quantity.

        Examples
        --------
        Least damping ratio of a joint under a PD law, for three inertias in kg m^2:

        >>> import flexarm as fa
        >>> def make(inertia):
        ...     return fa.library.pendulum(com=0.0, inertia=inertia)
        >>> found = fa.robustness(
        ...     make, {"inertia": [1.0, 4.0, 16.0]}, [0.0], [[25.0, 5.0]],
        ...     outputs=["joint positions", "joint velocities"],
        ... )
        >>> found.least("damping").round(3)  # 5 / (2 sqrt(25 J))
        array([0.5  , 0.25 , 0.125])
        """
        if quantity in ("damping", "decay", "sensitivity"):
            return np.asarray(getattr(self, quantity))
        if quantity in ("gain_up", "phase"):
            return np.asarray(getattr(self, quantity).min(axis=-1))
        return np.asarray(self.gain_down.max(axis=-1))

    def _sheet(self) -> Sheet:
        """Counts, and the worst cases."""
        n, stable = self.stable.size, int(self.stable.sum())
        lines = [f"{stable} of {n} loops are stable"]
        for quantity in ("damping", "decay"):
            where = ", ".join(f"{k} {v:.4g}" for k, v in self.worst(quantity).items())
            lines.append(f"worst {quantity}: {where}")
        return Sheet(tuple(lines))


@checked
def robustness(
    make: Callable[..., Arm] | StackLike,
    ranges: Annotated[
        Mapping[str, ArrayLike], Dictionary("values by names of arguments of make")
    ],
    q: Positions,
    controller: object = None,
    **options: Any,
) -> Robustness:
    """Poles and margins of arms over ranges of payloads, stiffness and the like.

    Parameters
    ----------
    make : callable or ArmStack
        ``make(payload_mass=0.1, ...)`` returns the arm of some values, such as
        `flexarm.library.de_luca_siciliano`; arms may differ in numbers, not in names of
        coordinates.  Or the arms themselves, with an axis for each of the ranges.
    ranges : mapping of str to (k,) array_like
        Values of arguments of `make`; all combinations are computed.
    q : (..., nq) array_like of float
        Points at which each arm is linearized, along leading axes.
    controller : StateSpace, LinearController, StateFeedback or (m, p) array_like
        As in `closed_loop`, the same for all arms; without it the arms alone.
    **options
        Of `linearize`, such as ``outputs="state"`` for the gains of a regulator.

    Returns
    -------
    found : Robustness
        Arrays with one axis for each range, then the leading axes of `q`.

    Raises
    ------
    ArgumentError
        If a range is empty, an arm has other coordinates than the first, or the axes of
        a stack are not those of the ranges.

    See Also
    --------
    linearize, closed_loop, root_locus
    flexarm.plotting.robustness : draws a quantity over one range, or two.

    Notes
    -----
    Gain and phase margins are those of one input at a time, the loops of the others
    closed: where the return ratio crosses the negative real axis, and the unit circle,
    found on a grid of frequencies that is dense about each resonance and then by
    halving, of all loops at once.  Arms of one topology are linearized as a `stack`.
    The ranges are meant for uncertain parameters that act together.
    Margins: H. W. Bode, Bell System Technical Journal 19 (1940), 421-454.

    Gains of modal coordinates change their meaning where `make` computes other modes:
    let it change the payload of links whose modes stay, or feed back sensor signals.

    Examples
    --------
    A joint regulator that was designed for no payload, over payload and stiffness:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> def make(load, stiffness):
    ...     return fa.library.planar_chain(
    ...         1, n_modes=2, payload_mass=load, bending_stiffness=stiffness,
    ...         damping_ratio=0.01, gravity=(0, 0, 0),
    ...     )
    >>> ranges = {"load": [0.0, 0.5, 1.0], "stiffness": [50.0, 100.0]}
    >>> found = fa.robustness(
    ...     make, ranges, np.zeros(3), [[20.0, 4.0]],
    ...     outputs=["joint positions", "joint velocities"],
    ... )
    >>> found.stable.shape, bool(found.stable.all())
    ((3, 2), True)
    >>> worst = found.worst("damping")
    >>> worst["load"], worst["stiffness"]
    (0.0, 50.0)

    Arms that exist already, here over the load alone:

    >>> loads = [0.0, 0.5, 1.0]
    >>> arms = fa.stack(make(load, 100.0) for load in loads)
    >>> again = fa.robustness(
    ...     arms, {"load": loads}, np.zeros(3), [[20.0, 4.0]],
    ...     outputs=["joint positions", "joint velocities"],
    ... )
    >>> bool((again.damping == found.damping[:, 1]).all())
    True
    """
    values = _read(ranges)
    shape = tuple(len(x) for x in values.values())
    if isinstance(make, StackLike):
        if make.shape != shape:
            raise ArgumentError(
                f"the stack has the axes {make.shape}, expected {shape}, one arm for "
                f"each of the values of {', '.join(values)}"
            )
        arms = [make.arms[k] for k in make.index.reshape(-1)]
    else:
        arms = list(_made(make, values, shape))
    models = _linearized(arms, shape, q, options)
    if controller is None:
        return _found(values, models, models, None)
    law = read_controller(models[(0,) * len(models.batch)], controller)
    return _found(values, models, closed_loop(models, law), law)


def _made(
    make: Callable[..., Arm], values: dict[str, Array], shape: tuple[int, ...]
) -> Iterator[Arm]:
    """Yield the arms of all combinations of the values."""
    names = None
    for at in np.ndindex(*shape):
        given = {
            name: float(x[i]) for (name, x), i in zip(values.items(), at, strict=True)
        }
        arm = make(**given)
        check_arm(arm)
        names = arm.coordinate_names if names is None else names
        if arm.coordinate_names != names:
            raise ArgumentError(
                f"the arm of {given} has the coordinates {arm.coordinate_names}, "
                f"expected those of the first, {names}"
            )
        yield arm


def _linearized(
    arms: list[Arm],
    shape: tuple[int, ...],
    q: ArrayLike,
    options: Mapping[str, Any],
) -> StateSpace:
    """Models of arms along a grid, in lanes if they stack."""
    try:
        whole = None if arms[0].constraints else stack(arms)
    except ArgumentError:  # alike in the names of coordinates alone
        whole = None
    if whole is None:
        return _joined([linearize(arm, q, **options) for arm in arms], shape)
    # axes of the points after those of the grid
    cores = {"qd": 1, "tau": 1, "wrench": 1 + isinstance(options.get("node"), list)}
    axes = [np.ndim(options[name]) - n for name, n in cores.items() if name in options]
    points = max(np.ndim(q) - 1, *axes, 0)
    index = np.arange(len(arms)).reshape(*shape, *[1] * points)
    return linearize(whole[index], q, **options)


def _read(ranges: Mapping[str, ArrayLike]) -> dict[str, Array]:
    if not ranges:
        raise ArgumentError(
            f"ranges is {ranges!r}, expected values by names of arguments of make, "
            'such as {"payload_mass": [0.1, 0.2]}'
        )
    values = {}
    for name, given in ranges.items():
        if not isinstance(name, str):
            text = short_text(name)
            raise ArgumentError(f"ranges has the key {text}, expected names of values")
        values[name] = real_array(f"ranges[{name!r}]", given)
        if values[name].ndim != 1 or not len(values[name]):
            raise ArgumentError(
                f"ranges[{name!r}] has shape {values[name].shape}, expected one axis "
                "with one entry at least"
            )
        check_numbers(f"ranges[{name!r}]", values[name])
    return values


def _joined(plants: list[StateSpace], shape: tuple[int, ...]) -> StateSpace:
    """Models of a grid as one."""
    changes = {}
    for name in ("A", "B", "C", "D", "q", "qd", "tau", "y", "drift"):
        every = [getattr(plant, name) for plant in plants]
        if every[0] is not None:
            whole = np.stack(every)
            changes[name] = whole.reshape(*shape, *whole.shape[1:])
    return plants[0].replace(**changes)


def _found(
    values: dict[str, Array],
    models: StateSpace,
    loops: StateSpace,
    law: Controller | None,
) -> Robustness:
    # poles
    batch, dt = loops.batch, loops.dt
    poles = np.linalg.eigvals(loops.A).astype(complex)
    rates = rates_of(poles, dt)
    size = np.abs(np.where(np.isfinite(rates), rates, 0.0)).max(axis=-1, keepdims=True)
    decay = -np.where(np.isfinite(rates), rates.real, -np.inf).max(axis=-1)
    stable = decay > _RATE_TOLERANCE * size[..., 0]

    # margins of stable loops
    m = len(loops.inputs)
    up, down, phase = (np.full((*batch, m), np.nan) for _ in range(3))
    peak = np.full(batch, np.nan)
    if law is not None:
        inner = sensitivity(models, law)
        ends = [np.linalg.eigvals(x.A) for x in (sampled(models, dt), law)]
        every = [np.broadcast_to(x, (*batch, x.shape[-1])) for x in (*ends, poles)]
        own = np.concatenate(every, axis=-1)
        flat = [
            x.reshape(-1, *x.shape[len(batch) :])
            for x in (inner.A, inner.B, inner.C, inner.D, own, up, down, phase, peak)
        ]
        good = np.flatnonzero(stable)
        for (part,) in parts(good.shape, _CHUNK_SIZE):
            A, B, U, E, ends_ = (x[good[part]] for x in flat[:5])
            found = margins(Loops(A, B, U, E, dt), ends_, dt)
            for x, result in zip(flat[5:], found, strict=True):
                x[good[part]] = result
    return Robustness(
        values,
        models,
        loops,
        poles,
        stable,
        damping_of(rates).min(axis=-1),
        decay,
        up,
        down,
        phase,
        peak,
    )
