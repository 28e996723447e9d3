"""Races over numbers of bodies and modes: as a table, and as a figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from races import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Cells = dict[tuple[int, int], Result]  # by bodies and modes of each


def rows(title: str, cells: Cells) -> list[str]:
    """Lines of a table: time of the first contender, ratio of the second to it."""
    bodies = sorted({N for N, _ in cells})
    modes = sorted({n for _, n in cells})
    first, second = next(iter(cells.values())).names
    lines = [
        f"{title}: us of {first}, ratio of {second} (quartiles)",
        "  bodies" + "".join(f"{f'{n} modes':>28}" for n in modes),
    ]
    for N in bodies:
        line = f"  {N:6}"
        for n in modes:
            result = cells.get((N, n))
            line += f"{_cell(result) if result else '':>28}"
        lines.append(line)
    return lines


def _cell(result: Result) -> str:
    low, middle, high = result.ratios[:, 1]
    return f"{1e6 * result.median[0]:.3g} {middle:.3g} ({low:.3g} to {high:.3g})"


def draw(grids: Mapping[str, Cells]) -> Figure:
    """One row of axes for each table: times and their ratio over the bodies.

    Both methods in logarithmic axes, in which a slope of one is linear, of three cubic;
    one colour for each number of modes.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.2 * len(grids)), layout="constrained")
    axes = figure.subplots(len(grids), 2, squeeze=False)
    for (left, right), (title, cells) in zip(axes, grids.items(), strict=True):
        modes = sorted({n for _, n in cells})
        for colour, n in enumerate(modes):
            bodies = sorted(N for N, m in cells if m == n)
            results = [cells[N, n] for N in bodies]
            style = {"color": f"C{colour}", "marker": "o", "markersize": 3.5}
            for i, line in enumerate(("-", "--")):
                times = [1e6 * result.median[i] for result in results]
                left.loglog(bodies, times, linestyle=line, **style)
            low, middle, high = zip(*(r.ratios[:, 1] for r in results), strict=True)
            right.loglog(bodies, middle, label=f"{n}", **style)
            right.fill_between(bodies, low, high, color=f"C{colour}", alpha=0.2)
        first, second = next(iter(cells.values())).names
        left.plot([], [], "k-", label=first)
        left.plot([], [], "k--", label=second)
        left.set(title=title, ylabel="time of a state in us")
        right.set(title=f"{second} / {first}", ylabel="ratio of times")
        right.axhline(1.0, color="0.6", linewidth=0.8, zorder=0)
        left.legend(fontsize="small")
        right.legend(title="modes of a body", fontsize="small", ncols=2)
        ticks = sorted({N for N, _ in cells})
        for ax in (left, right):
            ax.set_xlabel("bodies")
            ax.set_xticks(ticks, [str(N) for N in ticks])
            ax.minorticks_off()
            ax.grid(color="0.9")
    return figure
