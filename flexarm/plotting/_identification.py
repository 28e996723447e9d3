"""Measured signals, those of the identified arm, and residuals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._calls.doors import checked
from ..errors import ArgumentError
from .canvas import GREY, color, draw_legend, finish, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ..identification import Identification

# Standard deviations to both sides of 95 % of white noise.
_BAND = 1.96


@checked
def identification(
    result: Identification,
    *,
    signals: str | int | Sequence[str | int] | None = None,
    record: int = 0,
    ax: Sequence[Axes] | Sequence[Sequence[Axes]] | None = None,
) -> list[Line2D]:
    """Measured and predicted signals, and the residuals beside them.

    Parameters
    ----------
    result : Identification
        Result of `flexarm.identification.identify`.
    signals : str, int or sequence of these, optional
        Names or numbers; by default all.
    record : int
        Number of the record.
    ax : (m, 2) array_like of matplotlib axes, optional
        Two for each signal, for the motion and for the residuals; by default those of
        a new figure.

    Returns
    -------
    lines : list of matplotlib.lines.Line2D
        For each signal measured, predicted, residuals; the bands around the residuals
        hold 95 % of noise.

    Raises
    ------
    ArgumentError
        If there is no such signal or record, or the axes do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> def make_arm(p):
    ...     return fa.library.pendulum(mass=p[0], com=p[1])
    >>> t = np.linspace(0.0, 1.0, 51)
    >>> tau = 3.0 * np.sin(6.0 * t)[:, np.newaxis]
    >>> run = fa.simulate(make_arm([2.0, 0.5]), [0.3], [0.0], t, torque=tau)
    >>> record = fa.identification.simulated_record(run, noise=0.01)
    >>> found = fa.identification.identify(make_arm, [1.5, 0.4], record, sigma=0.01)
    >>> lines = fa.plotting.identification(found)
    >>> [line.get_label() for line in lines]
    ['measured', 'predicted', 'residual']
    """
    chosen = _signals(result, signals)
    n = len(result.t)
    if not -n <= record < n:
        raise ArgumentError(f"record is {record!r}, expected the number of one of {n}")
    axes = _axes(ax, len(chosen))
    t, y = result.t[record], result.measured[record]
    predicted, residual = result.predicted[record], result.residual[record]
    lines = []
    for (motion, rest), j in zip(axes, chosen, strict=True):
        name, band = result.signals[j], _BAND * float(result.sigma[j])
        style = {"color": GREY, "markersize": 2.5, "label": "measured"}
        lines += motion.plot(t, y[:, j], ".", **style)
        lines += motion.plot(t, predicted[:, j], color=color(0), label="predicted")
        rest.axhspan(-band, band, color="0.92", zorder=0, label="95 % of the noise")
        style = {"color": color(1), "markersize": 2.5, "label": "residual"}
        lines += rest.plot(t, residual[:, j], ".", **style)
        finish(motion, "", name)
        finish(rest, "", "residual")
    responses = result.method == "frequency response"
    for top, bottom in zip(axes[0], axes[-1], strict=True):
        draw_legend(top)
        bottom.set_xlabel("frequency (Hz)" if responses else "time (s)")
    return lines


def _signals(
    result: Identification, given: str | int | Sequence[str | int] | None
) -> list[int]:
    names = result.signals
    if isinstance(given, str | int | np.integer):
        given = [given]
    asked = range(len(names)) if given is None else given
    found = []
    for item in asked:
        if isinstance(item, str) and item in names:
            found.append(names.index(item))
        elif isinstance(item, int | np.integer) and -len(names) <= item < len(names):
            found.append(int(item))
        else:
            raise ArgumentError(
                f"signals has {item!r}, expected some of {', '.join(map(repr, names))}"
            )
    if not found:
        raise ArgumentError("signals is empty, expected at least one")
    return found


def _axes(
    ax: Sequence[Axes] | Sequence[Sequence[Axes]] | None, rows: int
) -> np.ndarray:
    plt = pyplot()
    if ax is None:
        size = (9.0, 0.8 + 2.0 * rows)
        figure = plt.figure(figsize=size, layout="constrained")
        return np.asarray(figure.subplots(rows, 2, squeeze=False, sharex="col"))
    axes = np.array(ax, dtype=object)
    axes = axes[np.newaxis] if axes.ndim == 1 else axes
    if axes.shape != (rows, 2):
        raise ArgumentError(
            f"ax has shape {axes.shape}, expected ({rows}, 2): two axes for each signal"
        )
    return axes
