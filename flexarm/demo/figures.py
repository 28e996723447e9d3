"""Figures 2 to 10 of the paper, and others.

Drawn with `flexarm.plotting` without any window.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import library, plotting
from ..dynamics import mass
from ..plotting.canvas import color, finish
from ..reference import de_luca_siciliano as paper
from .cases import Result, ledger

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PAYLOADS = (0.0, 0.1, 0.2)  # kg: none, nominal, double
_CUT: dict[str, Any] = {"color": "black", "linestyle": (0, (4, 3)), "linewidth": 0.8}


def _figure(
    width: float, height: float, *, bottom: float = 0.55, top: float = 0.6
) -> Figure:
    """A figure with fixed margins in inches, whose layout costs no second drawing."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    figure.subplots_adjust(
        left=0.75 / width,
        right=1.0 - 0.15 / width,
        bottom=bottom / height,
        top=1.0 - top / height,
        wspace=0.2,
        hspace=0.15,
    )
    return figure


def _share_legend(figure: Figure, axes: Sequence[Axes], columns: int) -> None:
    """One legend below in place of one for each axes."""
    found: dict[str, Artist] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
        ax.legend().remove()
    figure.legend(
        [*found.values()], [*found], loc="lower center", ncols=columns, frameon=False
    )


def draw_modes() -> Figure:
    """Figs 2 to 4: shapes of both links for three payloads."""
    links: list[dict[str, object]] = [{}, {}]
    for payload in _PAYLOADS:
        data = paper.Parameters(payload_mass=payload, payload_inertia=0.005 * payload)
        for link, modes in zip(links, paper.paper_modes(data), strict=True):
            link[f"{payload:g} kg"] = modes
    figure = _figure(10.0, 4.2, bottom=1.0)
    figure.suptitle("Figs 2 to 4: modes for three payloads")
    axes = figure.subplots(1, 2)
    for i, (ax, link) in enumerate(zip(axes, links, strict=True)):
        plotting.mode_shapes(link, ax=ax)
        ax.set_title(f"link {i + 1}", loc="right")
    _share_legend(figure, axes, 3)
    return figure


def draw_run(result: Result) -> Figure:
    """One of Figs 5 to 10: deflections of both links, joints, tip."""
    run, case = result.run, result.case
    figure = _figure(10.0, 6.4)
    text = f"Fig. {case.figure}: {case.title}{', damped' if case.damping else ''}"
    figure.suptitle(f"{text} (dashed: the paper's cut model)")
    axes = figure.subplots(2, 2, sharex=True)
    tip = run.tip[:, :2]
    panels = (
        (run.q[:, 2:4], result.cut[:, 2:4], ("mode 11", "mode 12")),
        (run.q[:, 4:], result.cut[:, 4:], ("mode 21", "mode 22")),
        (run.q[:, :2], result.cut[:, :2], ("joint 1", "joint 2")),
        (tip, result.cut_tip, ("tip x", "tip y")),
    )
    labels = (
        *(f"modal coordinates of link {i} (m)" for i in (1, 2)),
        "angle from the start (rad)",
        "way from the start (m)",
    )
    for k, (ax, (full, cut, names)) in enumerate(zip(axes.flat, panels, strict=True)):
        start = full[0] if k > 1 else 0.0
        for i, name in enumerate(names):
            ax.plot(run.t, (full - start)[:, i], color=color(i), label=name)
        ax.plot(run.t, cut - start, **_CUT)
        finish(ax, "time (s)" if k > 1 else "", labels[k], legend=True)
    return figure


def draw_snapshots(results: list[Result]) -> Figure:
    """Deformed arm in the bang-bang run without damping."""
    run = next(result.run for result in results if result.case.figure == 9)
    figure = _figure(8.0, 3.6)
    ax = figure.subplots()
    figure.suptitle("Arm of Fig. 9, true scale")
    plotting.snapshots(run, [0.0, 0.5, 1.0, 1.5, 2.0], ax=ax)
    return figure


def draw_cut(results: list[Result]) -> Figure:
    """Distance of the tips of both models, and the cut matrix as it gets indefinite."""
    figure = _figure(10.0, 4.2, top=0.9)
    figure.suptitle("Errors by cutting the mass matrix after first order")
    left, right = figure.subplots(1, 2)
    for i, result in enumerate(results):
        case = result.case
        left.semilogy(
            result.run.t[1:],
            1e3 * result.motion_gap[1:],
            color=color(i % 2 if i < 4 else 2),
            linestyle="--" if case.damping else "-",
            linewidth=1.2,
            label=f"Fig. {case.figure}",
        )
    left.set_ylim(bottom=1e-3)
    left.text(0.99, 0.94, "dashed: damped", transform=left.transAxes, ha="right")
    finish(left, "time (s)", "distance of the tips (mm)", legend=True)
    draw_lowest(right)
    return figure


def draw_lowest(ax: Axes) -> None:
    """Lowest eigenvalue of both mass matrices over a deflection of link 1."""
    arm, constants = library.de_luca_siciliano(), paper.paper_arm()
    bend = np.linspace(-0.6, 0.6, 241)
    q = np.zeros((len(bend), 6))
    q[:, 1], q[:, 2] = np.pi / 2.0, bend
    cut = np.linalg.eigvalsh(paper.mass_matrix(constants, q))[:, 0]
    full = np.linalg.eigvalsh(mass.mass_matrix(arm, q))[:, 0]
    ax.axhline(0.0, color="0.6", linewidth=0.8)
    ax.plot(bend, 1e4 * full, color=color(0), label="full")
    ax.plot(bend, 1e4 * cut, **_CUT, label="cut")
    ax.text(0.0, -0.3, "below zero: not a mass matrix", ha="center", color="0.4")
    where = "first mode of link 1 (m), link 2 at a right angle"
    finish(ax, where, "lowest eigenvalue of M (1e-4)", legend=True)


def draw_energy(results: list[Result]) -> Figure:
    """Energy ledger of every run, with its imbalance."""
    figure = _figure(10.0, 8.4, bottom=0.8)
    figure.subplots_adjust(hspace=0.2)
    figure.suptitle("Energy ledgers")
    axes = figure.subplots(3, 2, sharex=True)
    for ax, result in zip(axes.flat, results, strict=True):
        book, case = ledger(result.run), result.case
        t = result.run.t
        plotting.energies(result.run, ax=ax)
        if case.torque:
            ax.plot(t, book.work, **_CUT, label="work")
        if case.damping:
            ax.plot(t, book.losses, color=color(4), label="losses")
        title = f"Fig. {case.figure}, off by {np.abs(book.balance).max():.0e} J"
        ax.set_title(title, loc="right", fontsize="medium")
    for ax in axes[:2].flat:
        ax.set_xlabel("")
    _share_legend(figure, axes.flat, 5)
    return figure


def draw_all(results: list[Result], out: Path) -> list[tuple[Path, str]]:
    """Write figures and an animation; returns paths, each with a description."""
    # the animation, first of all
    film = out / "motion.gif"
    run = next(result.run for result in results if result.case.figure == 9)
    axes = _figure(7.0, 2.8).subplots()
    plotting.animate(run, ax=axes).save(film)

    # draw
    figures = [
        ("figs02-04-modes", "mode shapes for three payloads", draw_modes()),
        *(
            (
                f"fig{result.case.figure:02}",
                f"{result.case.title}{', damped' if result.case.damping else ''}",
                draw_run(result),
            )
            for result in results
        ),
        ("snapshots", "the arm of Fig. 9 in motion", draw_snapshots(results)),
        ("cut-model", "the paper's model beside the full one", draw_cut(results)),
        ("energy", "energy ledgers of the six runs", draw_energy(results)),
    ]

    # write
    written = []
    for name, text, figure in figures:
        path = out / f"{name}.png"
        figure.savefig(path, dpi=110)
        written.append((path, text))
    written.append((film, "the arm of Fig. 9, animated: two seconds, true scale"))
    return written
