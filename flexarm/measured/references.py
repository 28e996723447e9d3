"""Reference curves: Lee's frame, a slanted double pendulum, an arm driven by rotation.

Computed by others and read off figures, not measured; nothing is fitted.

* Lee's frame (S.-L. Lee, F. S. Manuel, E. C. Rossow, J. Eng. Mech. Div. ASCE 94 (1968),
  527-548): two beams at a right angle, pinned at both ends, under a force that keeps
  its direction or follows the section; the whole path, with snap-through and snap-back.
* The double pendulum of B. Cheng et al., J. Aircraft (2025), whose second hinge is
  slanted in the plane of the arm.
* The articulated arm of J. C. Simo and L. Vu-Quoc (Int. J. Solids Structures 22 (1986),
  their beam) whose root turns by 1.5 rad in 0.5 s, at a rate that jumps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import flexarm as fa

from .._support.arrays import Array
from ._data import DataSet
from ._report import Kind, Panel, Report, Row, compared, rms

if TYPE_CHECKING:
    from ..statics import EquilibriumPath

Curve = dict[str, Array]
Add = Callable[[str, float, str, float], None]  # a row: what, error, unit, asked

INCH, POUND = 0.0254, 4.4482216152605  # m, N
KLBF = 1e3 * POUND
SET = DataSet(
    name="beam_references",
    source="L. Pancini, AeroBeams.jl (2024), reference curves of others, MIT licence",
    columns={"u1_in": INCH, "minus_u3_in": INCH, "force_klbf": KLBF},
)
# First limit load and lowest load in klbf, of the equations of the extensible elastica
# by shooting (tests/measured/test_references.py).
LIMITS = {"dead": (18.5567, -9.4144), "follower": (35.4380, -13.9084)}
# AeroBeams in m: extremes of u1 and u3 of the tip and u1 of the hinge, not converged.
EXTREMES = (-15.30866, 9.97689, -5.33073)
SLANTS = (0, 90, 45)  # degrees; points of the last one are kept apart
PLANE = ["bending z", "stretch"]
COLUMNS = {"u1": "u1 (in)", "u3": "-u3 (in)"}


def lee_frame(pieces: int = 15) -> fa.Arm:
    """Lee's frame in the x-z plane, of two beams in a number of pieces each.

    The foot turns at the origin; the far end, a loop, turns at (120, 120) in.  The load
    acts at the tip of the link ``"corner"``, 24 in from the corner.
    """
    section = fa.beams.Section.from_stiffness(
        1.0, 1.44e7 * POUND * INCH**2, axial_stiffness=4.32e7 * POUND
    )

    up, over = (fa.se3.so3_exp([0.0, a, 0.0]) for a in (-0.5 * np.pi, 0.5 * np.pi))
    links = [
        fa.beams.Beam(section, length * INCH).segments(
            name, round(pieces * length / 120.0), joint=joint, motions=PLANE
        )
        for name, length, joint in (
            ("column", 120.0, fa.Joint.revolute("y", rotation=up)),
            ("corner", 24.0, fa.Joint.fixed(rotation=over)),
            ("beam", 96.0, fa.Joint.fixed()),
        )
    ]
    far = (120 * INCH, 0.0, 120 * INCH)
    pin = fa.Loop(("beam", "tip"), directions=["x", "z"], position2=far)
    return fa.Arm(links, gravity=(0.0, 0.0, 0.0), constraints=[pin])


def lee_path(load: str, pieces: int = 15) -> tuple[EquilibriumPath, Curve]:
    """Path under a load, up to 41 klbf: forces in klbf, displacements in in."""
    arm, top, node = lee_frame(pieces), 41.0, ("corner", "tip")
    push, frame = -top * KLBF * np.eye(6)[5], "base" if load == "dead" else "node"
    path = fa.equilibrium_path(
        arm, arm.neutral, push, node=node, frame=frame, held=None
    ).check()
    u = fa.node_pose(arm, path.q, node)[:, :3, 3] / INCH - [24, 0, 120]
    return path, {
        "force (klbf)": top * path.factor,
        COLUMNS["u1"]: u[:, 0],
        COLUMNS["u3"]: -u[:, 2],
        "stable": path.stable.astype(float),
    }


def distance(curve: Curve, name: str, points: Curve) -> float:
    """Largest distance of points to a curve, in units of 0.5 in and 0.3 klbf.

    The larger one of both components, on the lines between points of the curve.
    """
    u, force = (*points.values(),)
    given = np.stack([u / INCH / 0.5, force / KLBF / 0.3], axis=1)
    own = np.stack([curve[COLUMNS[name]] / 0.5, curve["force (klbf)"] / 0.3], axis=1)
    line = np.concatenate([np.linspace(a, b, 50) for a, b in pairwise(own)])
    return float(np.abs(given[:, np.newaxis] - line).max(axis=-1).min(axis=1).max())


def pendulum(slant: float, stiffer: float = 1.0) -> fa.Arm:
    """Double pendulum along x of two halves, the second hinge slanted in the x-y plane.

    With the slant of 90 degrees, an axis along the beam, it does not turn.  `stiffer`
    is a factor of all stiffnesses.
    """
    section = fa.beams.Section.from_stiffness(
        1.08,
        stiffer * 933.3,
        torsional_stiffness=stiffer * 691.4,
        axial_stiffness=stiffer * 2.8e7,
        shear_stiffness=stiffer * 1.037e7,
        rotary_inertia=(7.2e-5, 3.6e-5, 3.6e-5),
    )
    half = fa.beams.Beam(section, length=0.5)
    slanted = (np.sin(np.radians(slant)), np.cos(np.radians(slant)), 0.0)
    links = [
        half.elements("inner", joint=fa.Joint.revolute("y")),
        half.elements("outer", joint=fa.Joint.revolute(slanted)),
    ]
    return fa.Arm(links, gravity=(0.0, 0.0, -9.80665))


def swing(slant: float) -> Curve:
    """Two seconds from rest on the level: the tip, of a flexible and a rigid one."""
    t = np.linspace(0.0, 2.0, 1001)
    curve = {"t (s)": t}
    for kind, stiffer in (("flexible", 1.0), ("rigid", 1e4)):
        arm = pendulum(slant, stiffer)
        rest = arm.neutral, np.zeros(arm.nv)
        run = fa.simulate(arm, *rest, t, method="ROS34PW2", max_step=2e-4)
        curve |= {f"{kind} r{i + 1} (L)": run.tip[:, i] for i in range(3)}
    return curve


def driven_arm(pieces: int = 16) -> fa.Arm:
    """Articulated arm along x, 10 m, whose root has a flywheel that nothing stops."""
    section = fa.beams.Section.from_stiffness(
        1.0,
        1e5,
        torsional_stiffness=1e6,
        axial_stiffness=1e6,
        shear_stiffness=1e6,
        rotary_inertia=(2.0, 1.0, 1.0),
    )
    beam = fa.beams.Beam(section, length=5.0)
    links = [
        beam.segments(name, pieces, joint=joint, motions=PLANE)
        for name, joint in (
            ("inner", fa.Joint.revolute("y", armature=1e12)),
            ("outer", fa.Joint.revolute("y")),
        )
    ]
    return fa.Arm(links, gravity=(0.0, 0.0, 0.0))


def after_jump(arm: fa.Arm, q: Array, qd: Array, rate: float) -> Array:
    """Velocities after the rate of the first joint has jumped: no others are pushed."""
    M, v = fa.mass_matrix(arm, q), np.array(qd)
    v[0] = rate
    v[1:] -= np.linalg.solve(M[1:, 1:], M[1:, 0] * (rate - qd[0]))
    return v


def drive(pieces: int = 16, step: float = 2e-4) -> Curve:
    """Displacements of tip and hinge, with the root at -3 rad/s for 0.5 s, then still.

    The flywheel turns at a constant rate; its jumps change velocities only.
    """
    arm = driven_arm(pieces)
    t, q, qd = np.zeros(1), arm.neutral[np.newaxis], np.zeros(arm.nv)
    for rate, end in ((-3.0, 0.5), (0.0, 2.2)):
        times = np.linspace(t[-1], end, round((end - t[-1]) / 1e-3) + 1)
        start = after_jump(arm, q[-1], qd, rate)
        run = fa.simulate(arm, q[-1], start, times, method="newmark", max_step=step)
        t, q, qd = np.append(t, times[1:]), np.append(q, run.q[1:], axis=0), run.qd[-1]
    curve = {"t (s)": t}
    for name, node, x in (("tip", "outer", 10.0), ("hinge", "inner", 5.0)):
        place = fa.node_pose(arm, q, (node, "tip"))[:, :3, 3]
        curve |= {f"{name} u1 (m)": place[:, 0] - x, f"{name} u3 (m)": place[:, 2]}
    return curve


def compute(folder: Path) -> Report:
    """Compare the computed curves with those of others."""
    rows: list[Row] = []
    curves: dict[str, Curve] = {}

    def add(what: str, error: float, unit: str, asked: float) -> None:
        kind: Kind = "predicted" if "45" in what else "nominal"
        rows.append(Row(what, kind, error, unit, None, asked))

    frames = [_frame(folder, load, curves, add) for load in LIMITS]
    pendulums = [_pendulum(folder, slant, curves, add) for slant in SLANTS]
    curve = curves["driven.csv"] = drive()
    t, columns = curve["t (s)"], list(curve.items())[1:]
    ends = {
        "lowest u1 of tip": curve["tip u1 (m)"].min() / EXTREMES[0],
        "highest u3 of tip": curve["tip u3 (m)"].max() / EXTREMES[1],
        "first minimum of hinge": curve["hinge u1 (m)"][t < 0.65].min() / EXTREMES[2],
    }
    for what, ratio in ends.items():
        add(f"driven arm, {what}", 100.0 * abs(ratio - 1.0), "%", 1.0)
    lines = [(name, t, x, "") for name, x in columns]
    driven = Panel("", "time (s)", "displacement (m)", lines)
    return Report(
        rows,
        parameters={f"{name} at 2.2 s": x[-1] for name, x in columns},
        predictions=curves,
        figures={
            "lee": partial(compared, frames, 2, 4.5),
            "slanted": partial(compared, pendulums, height=2.8),
            "driven": partial(compared, [driven], height=3.5),
        },
        unexplained=(
            "A few points of Lee's frame lie up to 0.4 klbf off the curve, which "
            "shooting confirms to 0.1 %: errors of reading.  With a slanted hinge the "
            "lateral bending of the pendulum, clamped at its root, vibrates at 16 Hz "
            "after each swing, undamped: at 45 degrees its tip differs by 0.009 L rms "
            "from that of a rigid one; the other slants do not tell both apart."
        ),
    )


def _frame(folder: Path, load: str, curves: dict[str, Curve], add: Add) -> Panel:
    """Errors of the frame under a load; force over displacement, others as crosses."""
    path, curve = lee_path(load)
    curves[f"lee_{load}.csv"] = curve
    force, lines = curve["force (klbf)"], []
    for k, what, asked in ((0, "first limit load", 0.5), (1, "lowest load", 2.0)):
        off = 100.0 * abs(force[path.limits[k]] / LIMITS[load][k] - 1.0)
        add(f"frame, {load}, {what}", off, "%", asked)
    for color, (name, label) in zip(("C0", "C1"), COLUMNS.items(), strict=True):
        points, own = SET.read(folder / f"lee_{load}_{name}.csv"), curve[label]
        far = distance(curve, name, points)
        add(f"frame, {load}, farthest {name}", far, "0.5in,0.3klbf", 1.0)
        u, given = points.values()
        lines += [
            ("", own, force, f"{color}:"),
            (label, np.where(curve["stable"] > 0.0, own, np.nan), force, color),
            ("", u / INCH, given / KLBF, f"{color}x"),
        ]
    title = f"{load} load (dotted: unstable)"
    return Panel(title, "displacement (in)", "force (klbf)", lines)


def _pendulum(folder: Path, slant: int, curves: dict[str, Curve], add: Add) -> Panel:
    """Errors of a pendulum; its tip over time, points of others as crosses."""
    curve, lines = swing(slant), []
    curves[f"slanted_{slant}deg.csv"] = curve
    for color, r in (("C0", "r1"), ("C1", "r2"), ("C2", "r3")):
        file, known = folder / f"slanted_{slant}deg_{r}.csv", np.full((2, 1), np.nan)
        t, given = SET.read(file).values() if file.is_file() else known
        lines.append(("", t, given, f"{color}x"))
        for kind, label, style in (("flexible", r, color), ("rigid", "", f"{color}:")):
            own = curve[f"{kind} {r} (L)"]
            lines.append((label, curve["t (s)"], own, style))
            if slant == 45 or file.is_file():
                off = rms(np.interp(t, curve["t (s)"], own) - given)
                add(f"pendulum, {slant} deg, {kind}, {r}", off, "L", 0.007)
    title = f"{slant} degrees (dotted: rigid)"
    return Panel(title, "time (s)", "tip (L)", lines)
