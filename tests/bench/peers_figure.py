"""Bars of the ratios, in logarithmic axes."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from peers_jobs import DERIVATIVES, FORWARD, FORWARD_DERIVATIVES, Group
from peers_report import Record, digits, duration
from peers_rigid import PIN_BATCH, PIN_LESS, PIN_LOOP

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# what a contender's name begins with: legend, colour; the first that fits
KINDS = (
    ("flexarm, mass matrix", "mass matrix and LAPACK", "#9a9a9a"),
    ("mass matrix", "mass matrix and LAPACK", "#9a9a9a"),
    ("Pinocchio, loop in Python", "Pinocchio from Python", "#f2a65a"),
    ("Pinocchio", "Pinocchio in C++", "#c8553d"),
    ("MuJoCo, loop in Python", "MuJoCo from Python", "#8fc0e8"),
    ("MuJoCo", "MuJoCo in C", "#2f6f9f"),
    ("Exudyn", "Exudyn", "#7a5195"),
    ("SymPy, loop", "SymPy's C", "#4f9d69"),
    ("SymPy", "closed form in NumPy", "#a8d5b5"),
    ("the paper", "closed form in NumPy", "#a8d5b5"),
)
SHORT = {  # of other jobs, their names
    DERIVATIVES: "derivatives",
    FORWARD_DERIVATIVES: "derivatives, forward",
}


def _kind(name: str) -> tuple[str, str] | None:
    found = (k[1:] for k in KINDS if name.startswith(k[0]))
    return next(found, None)


def _bars(found: Record) -> list[tuple[str, str, Record]]:
    """Fastest contender of each kind on one thread: legend, colour, what it has."""
    best: dict[str, tuple[str, str, Record]] = {}
    names = {one["name"] for one in found["contenders"]}
    direct = bool(names & {PIN_LOOP, PIN_BATCH})
    for one in found["contenders"]:
        name = one["name"]
        kind = _kind(name) if one["shown"] and "threads" not in name else None
        if kind is None or (direct and name == PIN_LESS) or one["ratio"] <= 0.0:
            continue
        if kind[0] not in best or one["ratio"] < best[kind[0]][2]["ratio"]:
            best[kind[0]] = (*kind, one)
    order = dict.fromkeys(kind[1] for kind in KINDS)
    return [best[name] for name in order if name in best]


def _lines(label: str, found: Record) -> list[str]:
    """Lines of a label, the time of flexarm last."""
    return [*textwrap.wrap(label, 26), duration(found["contenders"][0]["ns"])]


def _height(label: str, found: Record) -> float:
    """Room of a group of bars and its label, in bars."""
    return max(len(_bars(found)) + 0.9, 1.05 * len(_lines(label, found)))


def _draw(axes: Axes, title: str, rows: Sequence[tuple[str, Record]]) -> None:
    """Groups of bars, one for each record, from top to bottom."""
    from matplotlib.ticker import LogLocator, NullFormatter

    at, ticks, labels, ends = 0.0, [], [], []
    for label, found in rows:
        bars = _bars(found)
        if not bars:
            continue
        room = (_height(label, found) - len(bars)) / 2.0
        at += room
        start = at
        for _, colour, one in bars:
            low, high = one["ratio quartiles"]
            ratio = one["ratio"]
            low = max(low, 0.1 * ratio)
            axes.barh(at, ratio - 1.0, left=1.0, height=0.86, color=colour)
            axes.plot([low, high], [at, at], color="#303030", linewidth=0.8)
            place = max(high, ratio, 1.0)
            ends.append(place)
            axes.annotate(
                digits(ratio),
                (place, at),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize=7,
                color="#303030",
            )
            at += 1.0
        ticks.append((start + at - 1.0) / 2.0)
        labels.append("\n".join(_lines(label, found)))
        at += room
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.axvline(1.0, color="#303030", linewidth=1.0)
    axes.set_yticks(ticks, labels, fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_ylim(at - 0.4, -1.0)
    axes.set_xlim(right=1.6 * max(ends, default=10.0))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", which="major", color="#d8d8d8", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.set_title(title, fontsize=10, loc="left", fontweight="bold")


def _states(records: Sequence[Record]) -> int:
    """Size of the batches that are shown: the largest of at most 1000 states."""
    groups = (Group.RIGID, Group.FLEXIBLE, Group.SYMBOLIC)
    counts = {r["count"] for r in records if r["group"] in groups}
    return max((count for count in counts if count <= 1000), default=1)


def _panels(records: Sequence[Record]) -> list[tuple[str, list[tuple[str, Record]]]]:
    """Titles and rows of the axes, in the order of reading."""
    largest = _states(records)
    panels: dict[str, list[tuple[str, Record]]] = {}
    for found in records:
        arm, job = found["arm"], SHORT.get(found["job"], found["job"])
        group, count = found["group"], found["count"]
        if group == Group.RIGID and count == largest:
            panels.setdefault(f"Rigid arms, {arm}", []).append((job, found))
        elif group == Group.FLEXIBLE and count == largest and found["job"] == FORWARD:
            title = f"Flexible chains, {FORWARD}"
            panels.setdefault(title, []).append((arm, found))
        elif group in (Group.BODY, Group.RUN):
            runs = f" ({count} runs)" if count > 1 else ""
            title = "Body of 8 modes, and runs"
            panels.setdefault(title, []).append((f"{arm}, {job}{runs}", found))
        elif group == Group.SYMBOLIC and count == largest:
            title = "Arms of two links from SymPy"
            panels.setdefault(title, []).append((f"{arm}, {job}", found))
    return [(title, rows) for title, rows in panels.items() if rows]


def draw(records: Sequence[Record], caption: str) -> Figure:
    """How many times as long as flexarm each peer takes, in panels.

    Bars are medians, lines the quartiles; under each label the time of flexarm.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    panels = _panels(records)
    heights = [sum(_height(*row) for row in rows) + 3.5 for _, rows in panels]
    columns: list[list[int]] = [[], []]
    for i, height in enumerate(heights):
        totals = [sum(heights[j] for j in column) for column in columns]
        columns[0 if totals[0] + height / 2 <= sum(heights) / 2 else 1].append(i)
    tallest = max((sum(heights[j] for j in c) for c in columns), default=5.0)
    figure = Figure(figsize=(13.0, 0.16 * tallest + 1.6), layout="constrained")
    frames = figure.subfigures(1, 2)
    used: dict[str, str] = {}
    for frame, column in zip(frames, columns, strict=True):
        if not column:
            continue
        ratios = [heights[j] for j in column]
        axes = frame.subplots(
            len(column), 1, squeeze=False, gridspec_kw={"height_ratios": ratios}
        )
        for j, place in zip(column, axes[:, 0], strict=True):
            _draw(place, *panels[j])
            used |= {k: c for _, r in panels[j][1] for k, c, _ in _bars(r)}
        axes[-1, 0].set_xlabel("time of the peer / time of flexarm", fontsize=9)
    figure.suptitle(
        "How many times as long as flexarm on one thread, batches of "
        f"{_states(records):,} states (under each label flexarm's time for one)\n"
        f"{caption}",
        fontsize=11,
    )
    figure.legend(
        handles=[Patch(color=colour, label=name) for name, colour in used.items()],
        loc="outside lower center",
        ncols=min(5, max(1, len(used))),
        fontsize=9,
        frameon=False,
    )
    return figure
