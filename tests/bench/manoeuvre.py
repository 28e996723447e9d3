"""The manoeuvre of Cibicik and Egeland: runs, errors as a table, Figs 6 to 10."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import flexarm as fa
from flexarm.reference.maneuvers import Maneuver

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# columns of the coordinates: joints, modes of links 2 and 3 by kind
GROUPS = {
    "joints, rad": slice(0, 4),
    "bending y, m": [4, 5, 10, 11],
    "torsion, rad": [8, 9, 14, 15],
    "bending z, m": [6, 7, 12, 13],
}


@cache
def task(fidelity: str) -> tuple[fa.Arm, Maneuver]:
    """Parts that are made once: the arm, its set points and gains."""
    arm = fa.library.cibicik_egeland(fidelity=fidelity)
    return arm, fa.reference.maneuvers.cibicik_egeland_maneuver(arm)


def run(
    fidelity: str = "full", method: str = "ROS34PW2", max_step: float = 5e-4
) -> fa.Trajectory:
    """Six seconds, as a user calls them."""
    arm, (t, q0, qd0, law) = task(fidelity)
    return fa.simulate(
        arm,
        q0,
        qd0,
        t,
        torque=law,
        interpolation="hold",
        method=method,
        max_step=max_step,
        progress=False,
    )


def errors(given: fa.Trajectory, exact: fa.Trajectory) -> list[float]:
    """Largest differences: of the tip in m, then of the groups of coordinates."""
    q, tip = abs(given.q - exact.q), np.linalg.norm(given.tip - exact.tip, axis=1)
    return [float(tip.max()), *(float(q[:, at].max()) for at in GROUPS.values())]


def rows(title: str, table: list[tuple[str, float, list[float]]]) -> list[str]:
    """Lines of a table: time of a run, what it differs by."""
    names = "".join(f"{name:>14}" for name in ("tip, m", *GROUPS))
    lines = [title, f"  {'':28}{'ms':>8}{names}"]
    for name, seconds, found in table:
        text = "".join(f"{x:14.1e}" for x in found)
        lines.append(f"  {name:28}{1e3 * seconds:8.1f}{text}")
    return lines


def draw(runs: dict[str, fa.Trajectory]) -> Figure:
    """Figs 6 to 10 of the paper: joints, modes by kind, torques; each run in a style.

    Positions to the left, velocities to the right; the last row has the torques and
    what the runs differ by in the joints.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 14.0), layout="constrained")
    axes = figure.subplots(5, 2)
    labels = ("Fig. 6: joints", "Fig. 7: bending y", "Fig. 8: torsion")
    labels += ("Fig. 9: bending z",)
    for (left, right), label, at in zip(axes, labels, GROUPS.values(), strict=False):
        joints = "joints" in label
        scale = np.rad2deg(1.0) if joints else 1.0
        for k, trajectory in enumerate(runs.values()):
            for column in range(4):
                style: dict[str, Any] = {"color": f"C{column}", "linewidth": 0.9}
                style["linestyle"] = ("-", "--", ":")[k]
                name = trajectory.arm.coordinate_names[np.r_[:16][at][column]]
                style["label"] = name if k == 0 else None
                left.plot(trajectory.t, scale * trajectory.q[:, at][:, column], **style)
                style["label"] = None
                right.plot(
                    trajectory.t, scale * trajectory.qd[:, at][:, column], **style
                )
        unit = "deg" if joints else ("rad" if "torsion" in label else "m")
        left.set(title=label, ylabel=unit)
        right.set(title="rates", ylabel=f"{unit}/s")
        left.legend(fontsize=7, ncols=2)
    _torques(axes[4], runs)
    for ax in axes.flat:
        ax.set_xlim(0.0, 6.0)
        ax.grid(linewidth=0.3)
    for ax in axes[4]:
        ax.set_xlabel("time, s")
    return figure


def _torques(axes: Any, runs: dict[str, fa.Trajectory]) -> None:
    first = next(iter(runs.values()))
    for k, (name, trajectory) in enumerate(runs.items()):
        for joint in range(4):
            style = {"color": f"C{joint}", "linestyle": ("-", "--", ":")[k]}
            axes[0].plot(trajectory.t, trajectory.tau[:, joint], linewidth=0.9, **style)
            if k > 0:
                away = trajectory.q[:, joint] - first.q[:, joint]
                axes[1].plot(
                    trajectory.t,
                    np.rad2deg(away),
                    linewidth=0.9,
                    label=f"{name}, joint {joint + 1}",
                    **style,
                )
    axes[0].set(title="Fig. 10: torques", ylabel="N m")
    axes[1].set(title=f"joints, difference from {next(iter(runs))}", ylabel="deg")
    axes[1].legend(fontsize=6, ncols=2)
