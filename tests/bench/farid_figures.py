"""Figures of the cases of Farid (1997) by the arms of the library.

    python3 tests/bench/farid_figures.py DIRECTORY [CASE ...]

Legends, poses and time spans of the thesis' figures are lost; what is chosen here is in
the titles.  Cases: delay (E5), inverse (E6), stiff (E2), release (E3), links and joints
(E4), spatial (E9), variants and angles (E10).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from races import Array

import flexarm as fa
from flexarm.reference import farid_link

if TYPE_CHECKING:
    from matplotlib.figure import Figure


TORQUE = (250.0, 300.0, 300.0, 300.0)  # N m, E9 and E10
STYLES = {"rigid": {"color": "0.6", "linewidth": 3.0}}


def arm_of(kind: str, EI: float, Kj: float, **more: Any) -> fa.Arm:
    """Planar arm: "rigid", flexible "joints", flexible "links" or "both"."""
    return fa.library.farid_planar(
        bending_stiffness=EI,
        joint_stiffness=Kj if kind in ("joints", "both") else None,
        elements=2 if kind in ("links", "both") else 0,
        **more,
    )


def chords(arm: fa.Arm, q: Array) -> Array:
    """Angles of the lines through the ends of the links of a planar arm."""
    ends = [fa.node_pose(arm, q, (b.name, "base"))[:2, 3] for b in arm.bodies]
    x, y = np.diff([*ends, fa.tip_pose(arm, q)[:2, 3]], axis=0).T
    return np.arctan2(y, x)


def at_rest(arm: fa.Arm, phi: Any) -> Array:
    """Equilibrium in which the chords of the links have given angles."""
    q = arm.neutral
    q[arm.joint_position_slice] = np.diff(phi, prepend=0.0)
    for _ in range(20):  # each time the links bend almost as before
        q = np.array(fa.statics.equilibrium(arm, q, held="joints").q)
        off = phi - chords(arm, q)
        q[arm.joint_position_slice] += np.diff(off, prepend=0.0)
        if np.abs(off).max() < 1e-10:
            break
    return np.asarray(fa.statics.equilibrium(arm, q, held="joints").q)


def run(arm: fa.Arm, q: Array, t: Array, torque: Any = None, step: float = 1e-4) -> Any:
    """Motion from rest under constant torques, by Runge-Kutta with short steps."""
    tau = None if torque is None else np.tile(torque, (len(t), 1))
    rest = np.zeros(arm.nv)
    return fa.simulate(arm, q, rest, t, torque=tau, max_step=step, progress=False)


def elevations(arm: fa.Arm, q: Array) -> Array:
    """Angles of the tangents at the bases of the links of a planar arm, (n, links)."""
    base = [fa.node_pose(arm, q, (b.name, "base")) for b in arm.bodies]
    x = np.stack([pose[..., :2, 0] for pose in base], axis=-2)
    return np.unwrap(np.arctan2(x[..., 1], x[..., 0]), axis=0)


def frame(rows: int, title: str, labels: list[str]) -> tuple[Figure, Any]:
    figure, axes = plt.subplots(
        rows, 1, sharex=True, figsize=(7.0, 1.0 + 2.0 * rows), layout="constrained"
    )
    axes = np.atleast_1d(axes)
    figure.suptitle(title, fontsize=10)
    for ax, label in zip(axes, labels, strict=True):
        ax.set_ylabel(label)
        ax.grid(alpha=0.3)
    axes[-1].set_xlabel("time, s")
    return figure, axes


def delay() -> Figure:
    """E5: tip after a step of the torque, time in units of L^2 / c."""
    figure, (ax,) = frame(
        1,
        "Figs 7.6 to 7.10: the tip starts backwards, for any EI and torque",
        ["deflection y EI / (T L^2)"],
    )
    s = np.linspace(0.0, 0.4, 401)
    for EI, style in ((500.0, "-"), (2000.0, "--"), (50000.0, ":")):
        link = farid_link.SingleLink(EI)
        y = farid_link.step_response(link, 50.0, s / link.wave_speed)
        ax.plot(s, y * EI / 50.0, style, label=f"one shape, EI = {EI:g} N m^2")
    ax.plot(s, 1.5 * s**2, **STYLES["rigid"], zorder=0, label="rigid link")
    for value, name in ((farid_link.delay(), "one shape"), (0.2338, "exact beam")):
        line = "-" if name == "one shape" else ":"
        label = f"delay {value:.4f}, {name}"
        ax.axvline(value, color="0.3", linestyle=line, linewidth=1.0, label=label)
    ax.axhline(0.0, color="0.3", linewidth=0.8)
    ax.set_xlabel("c t / L^2")
    ax.legend()
    return figure


def inverse() -> Figure:
    """E6: torque of the causal inverse, beside that of a rigid link."""
    t = np.linspace(0.0, 0.08, 801)
    link = farid_link.SingleLink(500.0)
    found = farid_link.causal_inverse(link, 0.5, 0.5, t)
    rigid = 5.0 / 3.0 * 0.5 * farid_link.point_to_point(t / 0.5)[2] / 0.5**2
    figure, (ax,) = frame(
        1,
        "Fig. 7.5: causal inverse dynamics diverges; EI = 500 N m^2, 0.5 m in 0.5 s",
        ["torque, N m"],
    )
    ax.plot(t, rigid, **STYLES["rigid"], label="rigid link")
    ax.plot(t, found.torque, label="flexible link")
    ax.legend()
    return figure


def stiff() -> Figure:
    """E2: angles of stiff and of rigid links after the release, hanging."""
    t, pose = np.linspace(0.0, 2.0, 401), np.array([-1.2, -0.9, -1.4])
    title = "Fig. 4.11: stiff links and joints (1e5 N m^2, 1e5 N m/rad) and rigid ones"
    figure, axes = frame(3, title, [f"angle {k}, rad" for k in (1, 2, 3)])
    for kind, label, style in (
        ("rigid", "rigid", STYLES["rigid"]),
        ("both", "stiff", {"linewidth": 1.0}),
    ):
        arm = arm_of(kind, 1e5, 1e5)
        angles = elevations(arm, run(arm, at_rest(arm, pose), t, step=4e-5).q)
        for ax, angle in zip(axes, angles.T, strict=True):
            ax.plot(t, angle, label=label, **style)
    axes[0].legend()
    return figure


def release() -> Figure:
    """E3: which flexibility does how much, released while hanging at 0.2 rad."""
    t, pose = np.linspace(0.0, 2.0, 401), np.full(3, 0.2 - np.pi / 2.0)
    title = "Fig. 4.12: released at 0.2 rad from hanging; 300 N m^2, 300 N m/rad"
    figure, axes = frame(2, title, ["x, m", "y, m"])
    for kind in ("rigid", "joints", "links", "both"):
        arm = arm_of(kind, 300.0, 300.0)
        tip = run(arm, at_rest(arm, pose), t).tip
        for ax, x in zip(axes, tip.T[:2], strict=True):
            ax.plot(t, x, label=kind, **STYLES.get(kind, {}))
    axes[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def links() -> Figure:
    """E4: falls from the level with joints of 100 N m/rad, links of any stiffness."""
    t = np.linspace(0.0, 2.0, 401)
    title = "Fig. 4.14: fall from the level, joints of 100 N m/rad"
    figure, axes = frame(2, title, ["x, m", "y, m"])
    for EI in (np.inf, 5000.0, 1000.0, 500.0):
        arm = arm_of("joints" if np.isinf(EI) else "both", EI, 100.0)
        tip = run(arm, at_rest(arm, np.zeros(3)), t).tip
        style = STYLES["rigid"] if np.isinf(EI) else {}
        for ax, x in zip(axes, tip.T[:2], strict=True):
            ax.plot(t, x, label=f"EI = {EI:g} N m^2", **style)
    axes[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def joints() -> Figure:
    """E4: falls with links of 1000 N m^2, joints of any stiffness, and deflections."""
    t = np.linspace(0.0, 2.0, 801)
    title = "Figs 4.15 and 4.16: fall from the level, links of 1000 N m^2"
    labels = ["x, m", "y, m", *(f"deflection {k}, m" for k in (1, 2, 3))]
    figure, axes = frame(5, title, labels)
    for Kj in (np.inf, 1000.0, 300.0, 100.0):
        arm = arm_of("links" if np.isinf(Kj) else "both", 1000.0, Kj)
        found = run(arm, at_rest(arm, np.zeros(3)), t)
        slopes = [found.q[:, arm.mode_slice(k).start] for k in range(3)]
        shown = [*found.tip.T[:2], *(-slope for slope in slopes)]
        style = STYLES["rigid"] if np.isinf(Kj) else {}
        for ax, x in zip(axes, shown, strict=True):
            ax.plot(t, x, label=f"Kj = {Kj:g} N m/rad", **style)
    axes[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


@cache
def spatial_run(EI: float, GJ: float, K: float | None, end: float) -> tuple[Any, ...]:
    """Times, tip, azimuths and elevations of the spatial arm of E9 and E10."""
    rigid = bool(np.isinf(EI))
    arm = fa.library.farid_spatial(
        bending_stiffness=1.0 if rigid else EI,
        torsional_stiffness=1.0 if rigid else GJ,
        joint_stiffness=K,
        elements=0 if rigid else 2,
    )
    start = fa.library.poses(arm)["initial"]
    q = fa.statics.inverse_statics(arm, [2.0, 1.0, 0.0], start).q
    t = np.linspace(0.0, end, round(1000 * end) + 1)
    stiffest = max(1.0 if rigid else max(EI, GJ), (K or 0.0) / 20.0)
    step = 1e-4 if stiffest < 1e4 else 3e-5 if stiffest < 2e5 else 1.5e-5
    found = run(arm, q, t, TORQUE, step)
    along = fa.link_poses(arm, found.q)[:, 1:4, :3, 0]
    azimuth = np.arctan2(along[..., 1], along[..., 0])
    return t, found.tip, azimuth, np.arcsin(along[..., 2])


def spatial() -> Figure:
    """E9: the stiff arm and the rigid one."""
    title = "Fig. 5.8: 40000 N m^2, 1e6 N m/rad, and the rigid arm"
    figure, axes = frame(3, title, ["X, m", "Y, m", "Z, m"])
    for name, given in (("rigid", (np.inf, np.inf, None)), ("stiff", (4e4, 4e4, 1e6))):
        t, tip, _, _ = spatial_run(*given, 0.25)
        for ax, x in zip(axes, tip.T, strict=True):
            ax.plot(t, x, label=name, **STYLES.get(name, {}))
    axes[0].legend()
    return figure


VARIANTS = {
    "rigid": (np.inf, np.inf, None),
    "joints": (np.inf, np.inf, 5e3),
    "bending": (5e3, 1e6, None),
    "torsion": (1e6, 5e3, None),
    "bending, torsion": (5e3, 5e3, None),
    "bending, joints": (5e3, 1e6, 5e3),
    "torsion, joints": (1e6, 5e3, 5e3),
    "all": (5e3, 5e3, 5e3),
}


def variants() -> Figure:
    """E10: payload of arms that are flexible in one way or another."""
    title = (
        "Figs 5.9 to 5.11: 5000 N m^2, 5000 N m/rad where flexible; off the rigid arm"
    )
    figure, axes = frame(3, title, ["X, mm", "Y, mm", "Z, mm"])
    _, rigid, _, _ = spatial_run(*VARIANTS["rigid"], 0.15)
    for name, given in VARIANTS.items():
        t, tip, _, _ = spatial_run(*given, 0.15)
        for ax, x in zip(axes, (tip - rigid).T, strict=True):
            ax.plot(t, 1e3 * x, label=name, **STYLES.get(name, {}))
    axes[0].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def angles() -> Figure:
    """E10: azimuths and elevations of the links."""
    title = "Figs 5.12 and 5.13: flexible links, with and without flexible joints"
    figure, axes = frame(2, title, ["azimuth, rad", "elevation, rad"])
    for name, line in (("rigid", "-"), ("bending, torsion", "-"), ("all", "--")):
        t, _, azimuth, elevation = spatial_run(*VARIANTS[name], 0.15)
        for ax, both in zip(axes, (azimuth, elevation), strict=True):
            for k in range(3):
                style = dict(STYLES.get(name, {"color": f"C{k}"}))
                label = name if name == "rigid" else f"link {k + 1}, {name}"
                known = ax.get_legend_handles_labels()[1]
                ax.plot(
                    t, both[:, k], line, label="" if label in known else label, **style
                )
    axes[0].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


CASES: dict[str, Callable[[], Figure]] = {
    f.__name__: f
    for f in (delay, inverse, stiff, release, links, joints, spatial, variants, angles)
}


def main(arguments: list[str]) -> None:
    """Draw some cases, all by default, as PNG files."""
    where = Path(arguments[0])
    for name in arguments[1:] or CASES:
        CASES[name]().savefig(where / f"farid_{name}.png", dpi=110)


if __name__ == "__main__":
    main(sys.argv[1:])
