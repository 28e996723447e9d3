"""Linear models: step and frequency responses, poles and zeros."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import real_array
from .._calls.declared import Floats
from .._calls.doors import checked
from .._support.arrays import Array, Complex
from ..errors import ArgumentError, SingularityError
from ..linear_models import StateSpace
from ..linear_models.loops import frequencies, rates_of
from ._histories import _draw
from .canvas import (
    COLORS,
    GUIDE,
    NOTE,
    THIN,
    color,
    draw_legend,
    finish,
    make_axes,
    pyplot,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ..linear_models import RootLocus

Rates: TypeAlias = Annotated[ArrayLike, Floats("()", "(k,)")]

# Points of a frequency response, besides those about resonances.
_POINTS = 600
# Damping ratios of the lines that may be drawn.
_DAMPING = (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
# Angle in degrees between two of these lines on the picture at least.
MIN_TURN = 12.0


def _rates(model: StateSpace) -> Complex:
    return rates_of(np.linalg.eigvals(model.A).astype(complex), model.dt)


def _pairs(model: StateSpace) -> list[str]:
    """Names of the pairs of inputs and outputs."""
    if len(model.inputs) == 1:
        return list(model.outputs)
    return [f"{y} by {u}" for y in model.outputs for u in model.inputs]


@checked
def step_response(
    model: StateSpace,
    t: Annotated[ArrayLike, Floats("(k,)")] | None = None,
    *,
    inputs: object = None,
    outputs: object = None,
    ax: Axes | None = None,
) -> list[Line2D]:
    """Outputs after a unit step of each input.

    Parameters
    ----------
    model : StateSpace
        A linear model; many give one faint line each.
    t : (k,) array_like of float, optional
        Times in s, from zero; by default until slow motions have decayed, or some
        periods of the slowest vibration.
    inputs, outputs : str, int or sequence of these, optional
        Names or numbers; by default all.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    lines : list of matplotlib.lines.Line2D
        Output by output, and input by input for each, for each all models.

    Raises
    ------
    ArgumentError
        If there is no such signal, or times do not ascend from zero.

    See Also
    --------
    flexarm.linear_models.StateSpace.step_response : the numbers.

    Examples
    --------
    The tip of a flexible link first moves backwards:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(1, n_modes=6, gravity=(0, 0, 0))
    >>> model = fa.linearize(arm, np.zeros(7), outputs=["joints", "tip y"])
    >>> lines = fa.plotting.step_response(model, np.linspace(0.0, 0.05, 200))
    >>> [line.get_label() for line in lines]
    ['link1', 'tip y']
    >>> bool(lines[1].get_ydata().min() < 0.0)
    True
    """
    model = model.select(inputs, outputs)
    if t is None:
        t = _duration(model)
    found = model.step_response(t)
    values = found.y.reshape(*found.y.shape[:-2], -1)
    ax = make_axes(ax)
    lines = _draw(ax, found.t, values, _pairs(model))
    if model.dt is not None:
        for line in lines:
            line.set_drawstyle("steps-post")
    finish(ax, "time (s)", "answer to a unit step", legend=True)
    return lines


def _duration(model: StateSpace) -> Array:
    """Times that show the motions of a model."""
    rates = _rates(model)
    rates = rates[np.isfinite(rates)]
    size = np.abs(rates)
    rates = rates[size > 1e-6 * size.max(initial=0.0)]
    end = 1.0
    if len(rates):
        slowest = float(np.abs(rates).min())
        decay = np.abs(rates.real).min()
        end = min(5.0 / max(decay, 1e-12), 8.0 * np.pi / slowest)
    if model.dt is not None:
        return np.asarray(model.dt * np.arange(max(2, int(end / model.dt) + 1)))
    return np.linspace(0.0, end, 801)


@checked
def bode(
    model: StateSpace,
    omega: Rates | None = None,
    *,
    inputs: object = None,
    outputs: object = None,
    ax: Axes | Sequence[Axes] | None = None,
) -> list[Line2D]:
    """Frequency response: gain in dB and phase in degrees over the frequency in Hz.

    Parameters
    ----------
    model : StateSpace
        A linear model; many give one faint line each.
    omega : float or (k,) array_like of float, optional
        Circular frequencies in rad/s; by default the range of the poles, with more
        about each resonance.
    inputs, outputs : str, int or sequence of these, optional
        Names or numbers; by default all.
    ax : pair of matplotlib axes, optional
        For the gain and for the phase; by default a new figure.

    Returns
    -------
    lines : list of matplotlib.lines.Line2D
        Those of the gain, output by output, and input by input for each, for each all
        models; then those of the phase.

    Raises
    ------
    ArgumentError
        If there is no such signal, or `ax` is not a pair.

    Notes
    -----
    The gain has the unit of the output by that of the input: 0 dB is one of them.  The
    phase has no jumps but those at poles and zeros without damping; it starts between
    -181 and 179 degrees.

    See Also
    --------
    flexarm.linear_models.StateSpace.frequency_response : the numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano(damping=True)
    >>> model = fa.linearize(arm, np.zeros(6), outputs=["joints", "tip y"])
    >>> lines = fa.plotting.bode(model, inputs=0, outputs=[0, "tip y"])
    >>> [line.get_label() for line in lines[:2]], len(lines)
    (['link1', 'tip y'], 4)
    """
    model = model.select(inputs, outputs)
    if omega is not None:
        omega = np.atleast_1d(real_array("omega", omega))
        if not omega.size:
            raise ArgumentError("omega is empty, expected one rate or more, in rad/s")
    else:
        rates = _rates(model).ravel()
        omega = frequencies(rates, _POINTS, model.dt, beyond=10.0)
        undamped = np.abs(rates.real) < 1e-9 * np.abs(rates)
        omega = omega[~np.isin(omega, rates.imag[undamped])]
    try:
        G = model.frequency_response(omega)
    except SingularityError:  # a grid that meets a pole
        omega = np.asarray(omega, dtype=float) * (1.0 + 1e-9)
        G = model.frequency_response(omega)
    G = G.reshape(*G.shape[:-2], -1)
    upper, lower = _two(ax)
    hertz = np.asarray(omega, dtype=float) / (2.0 * np.pi)
    names = _pairs(model)
    with np.errstate(divide="ignore"):
        lines = _draw(upper, hertz, 20.0 * np.log10(np.abs(G)), names)
    phase = np.degrees(np.unwrap(np.angle(G), axis=-2))
    phase -= 360.0 * (phase[..., :1, :] > 179.0)  # a double integrator has -180
    lines += _draw(lower, hertz, phase, names)
    for axes in (upper, lower):
        axes.set_xscale("log")
    finish(upper, "", "gain (dB)")
    finish(lower, "frequency (Hz)", "phase (deg)")
    from matplotlib.ticker import MaxNLocator

    lower.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 1.5, 3, 4.5, 9, 10]))
    if len(names) > 1 or len(model.inputs) == 1:
        draw_legend(upper)
    return lines


def _two(ax: Axes | Sequence[Axes] | None) -> tuple[Axes, Axes]:
    """Axes for gain and phase."""
    if ax is None:
        _, axes = pyplot().subplots(
            2, 1, sharex=True, figsize=(6.4, 5.2), layout="constrained"
        )
        return axes[0], axes[1]
    pair: list[Axes] = np.ravel(np.array(ax, dtype=object)).tolist()
    if len(pair) != 2:
        raise ArgumentError(
            f"ax has {len(pair)} of matplotlib's axes, expected a pair: for the gain "
            "and for the phase, such as plt.subplots(2, 1, sharex=True)[1]"
        )
    return pair[0], pair[1]


@checked
def poles_zeros(
    model: StateSpace, *, limit: float | None = None, ax: Axes | None = None
) -> tuple[list[Line2D], list[Line2D]]:
    """Poles (crosses) and zeros (circles), with lines of equal damping and frequency.

    Parameters
    ----------
    model : StateSpace
        A linear model; many are drawn together, each in its own colour.  Zeros are
        drawn for as many inputs as outputs.
    limit : float, optional
        Largest size in 1/s that is shown; by default three times that of the largest
        one off the real axis, or all of it.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    poles, zeros : list of matplotlib.lines.Line2D
        One of each for each model.

    Raises
    ------
    ArgumentError
        If `model` is not a linear model.

    Notes
    -----
    Of a discrete model the rates ``log(z)/dt`` are drawn, so that damping ratios and
    frequencies are read in the same way.

    Examples
    --------
    The tip of a flexible link has zeros in the right half plane:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(1, n_modes=6, gravity=(0, 0, 0))
    >>> model = fa.linearize(arm, np.zeros(7), outputs="tip y")
    >>> poles, zeros = fa.plotting.poles_zeros(model)
    >>> bool(zeros[0].get_xdata().max() > 0.0)
    True
    """
    ax = make_axes(ax, (5.6, 4.6))
    square = len(model.inputs) == len(model.outputs)
    poles: list[Line2D] = []
    zeros: list[Line2D] = []
    single = not model.batch
    every = [model] if single else [model[at] for at in np.ndindex(*model.batch)]
    for i, one in enumerate(every):
        at = _rates(one)
        shade = color(0) if single else pyplot().cm.viridis(i / max(len(every) - 1, 1))
        poles += ax.plot(
            at.real, at.imag, "x", color=shade, label="poles" if i == 0 else None
        )
        found = np.asarray(one.zeros()) if square else np.zeros(0, complex)
        found = rates_of(found[np.isfinite(found)], one.dt)
        zeros += ax.plot(
            found.real,
            found.imag,
            "o",
            color=COLORS[1] if single else shade,
            fillstyle="none",
            label="zeros" if i == 0 and square else None,
        )
    _plane(ax, [*poles, *zeros], limit)
    return poles, zeros


@checked
def root_locus(
    locus: RootLocus, *, limit: float | None = None, ax: Axes | None = None
) -> list[Line2D]:
    """Poles over a gain or a parameter: branches from crosses to dots.

    Branches that are a conjugate pair anywhere have one colour.

    Parameters
    ----------
    locus : RootLocus
        Result of `flexarm.root_locus`.
    limit : float, optional
        Largest size in 1/s that is shown; by default three times that of the largest
        one off the real axis, or all of it.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    lines : list of matplotlib.lines.Line2D
        One for each branch, with a cross at the first value and a dot at the last.

    Raises
    ------
    ArgumentError
        If `locus` is not a root locus.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=1.0, com=1.0)
    >>> plant = fa.linearize(arm, [-np.pi / 2], outputs="joint velocities")
    >>> locus = fa.root_locus(plant, np.linspace(0.0, 9.0, 50), [[1.0]])
    >>> len(fa.plotting.root_locus(locus))
    2
    """
    ax = make_axes(ax, (5.6, 4.6))
    rates = np.where(np.isfinite(locus.rates), locus.rates, np.nan)
    lines: list[Line2D] = []
    pairs = _conjugates(rates)
    for i, pair in enumerate(pairs):
        way, shade = rates[:, i], color(sorted(set(pairs)).index(pair))
        lines += ax.plot(way.real, way.imag, "-", color=shade)
        ends = ((0, "x", "first"), (-1, ".", "last"))
        for k, marker, name in ends:
            label = f"{locus.name} {locus.values[k]:.3g}" if i == 0 else None
            ax.plot(
                way.real[k], way.imag[k], marker, color=shade, label=label, gid=name
            )
    _plane(ax, lines, limit)
    return lines


def _conjugates(rates: Complex) -> list[int]:
    """For each branch of rates (k, n) the first one of its pair, itself if alone."""
    first = list(range(rates.shape[1]))
    for i in first.copy():
        swings = rates[np.abs(rates[:, i].imag) > 0.0]
        # of most values, where branches meet on the real axis and part in other pairs
        apart = np.nan_to_num(np.abs(swings - swings[:, [i]].conj()), nan=np.inf)
        if len(swings):
            first[i] = min(i, int(np.bincount(apart.argmin(axis=1)).argmax()))
    return first


def _plane(ax: Axes, lines: Sequence[Line2D], limit: float | None) -> None:
    """The plane of rates: limits, lines of equal damping and frequency, labels."""
    x = np.concatenate([np.ravel(line.get_xdata()) for line in lines])
    y = np.concatenate([np.ravel(line.get_ydata()) for line in lines])
    inside = np.isfinite(x) & np.isfinite(y)
    swings = inside & (y != 0.0)
    if limit is None and swings.any():
        limit = 3.0 * float(np.hypot(x, y)[swings].max())
    if limit is not None:
        inside &= np.hypot(x, y) <= limit
    x, y = np.r_[0.0, x[inside]], np.r_[0.0, y[inside]]
    tall = 1.1 * max(float(np.abs(y).max()), 1e-3 * float(np.abs(x).max()), 1e-9)
    wide = max(float(np.ptp(x)), 0.1 * tall)
    left, right = float(x.min()) - 0.15 * wide, float(x.max()) + 0.15 * wide
    ax.set_xlim(left, right)
    ax.set_ylim(-tall, tall)
    finish(ax, "real part (1/s)", "imaginary part (rad/s)", legend=True)
    ax.grid(False)
    ax.axvline(0.0, color="0.4", linewidth=THIN, zorder=0.5)
    ax.axhline(0.0, color="0.8", linewidth=THIN, zorder=0.4)
    _damping_lines(ax, left, tall)
    _frequency_lines(ax, right, tall)


def _damping_lines(ax: Axes, left: float, tall: float) -> None:
    """Lines of equal damping ratio in the left half plane, with their numbers."""
    if left >= 0.0:
        return
    last = 90.0  # the imaginary axis, on the picture
    for ratio in _DAMPING:
        up = np.sqrt(1.0 - ratio**2)
        turn = np.degrees(np.arctan2(up / tall, ratio / -left))
        if last - turn < MIN_TURN or turn < MIN_TURN:
            continue
        last = turn
        reach = min(tall / up, -left / ratio)
        x, y = -ratio * reach, up * reach
        ax.plot([x, 0.0, x], [y, 0.0, -y], **GUIDE)
        ax.annotate(f"{ratio:g}", (x, y), xytext=(3, -3), va="top", **NOTE)


def _frequency_lines(ax: Axes, right: float, tall: float) -> None:
    """Circles of equal size with their frequencies in Hz."""
    from matplotlib.ticker import MaxNLocator

    # circles inside of the axes
    largest = tall / (2.0 * np.pi)
    turn = np.linspace(-np.pi, np.pi, 361)
    for hertz in MaxNLocator(4).tick_values(0.0, largest):
        radius = 2.0 * np.pi * hertz
        if not 0.0 < radius < tall:
            continue
        circle = radius * np.cos(turn), radius * np.sin(turn)
        ax.plot(*circle, scalex=False, scaley=False, **GUIDE)
        # numbers at the right ends
        reach = min(radius, 0.97 * right) if right > 0.0 else 0.0
        end = reach, np.sqrt(radius**2 - reach**2)
        ax.annotate(f"{hertz:g} Hz", end, xytext=(-3, 2), ha="right", **NOTE)
