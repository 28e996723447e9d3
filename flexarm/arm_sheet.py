"""The table of an arm: its bodies, the errors of their modes, and what ties them."""

from __future__ import annotations

from ._calls.links import joint_name, link_name
from ._support.printing import Sheet, Table
from .arm import Arm
from .bodies.body import GROUND
from .bodies.segments import link_frequencies
from .bodies.strain_energy import described
from .mode_accuracy import table_of_modes
from .model import motors
from .model.loops import Loop
from .model.sliders import Slider
from .simulation.stability import fastest


def sheet(arm: Arm) -> Sheet:
    """Return what `print` shows of an arm."""
    g = ", ".join(f"{x:g}" for x in arm.gravity)
    tip = f"{arm.bodies[arm.body_index(arm.tip[0])].name}, node {arm.tip[1]}"
    head = f"{arm!r}, gravity ({g}) m/s^2, tip: {tip}"
    held = [
        f"{type(c).__name__.lower()} {c.name}: locks {' '.join(c.locked)}"
        if isinstance(c, Loop | Slider)
        else f"coupling {c.name}: "
        + " + ".join(f"{value:g} {key}" for key, value in c.coefficients)
        + f" = {c.constant:g}"
        for c in arm.constraints
    ]
    held += described(arm.bodies if arm.fidelity == "full" else ())
    return Sheet((head, _table(arm), *motors.described(arm), *fastest(arm), *held))


def _table(arm: Arm) -> Table:
    """One row for each body, or link of several."""
    rows: list[tuple[str, ...]]
    rows = [("body", "on", "joint", "mass kg", "modes", "clamped frequencies Hz")]
    errors = table_of_modes(arm)
    if errors:
        rows[0] = (*rows[0], "error of modes %")
    depths: list[int] = []
    depth_of: dict[range, int] = {}
    for link in dict.fromkeys(arm._links):
        parent = arm._parents[link.start]
        depth_of[link] = depth_of[arm._links[parent]] + 1 if parent >= 0 else 0
        depths.append(depth_of[link])
        found = [errors[k] for k in link if k in errors]
        worst = max(found, key=_size_of, default="")
        row = _row(arm, link)
        rows.append((*row, worst) if errors else row)
    return Table(rows, depths)


def _row(arm: Arm, link: range) -> tuple[str, ...]:
    """Texts of one body, or of a link of several."""
    pieces = [arm.bodies[k] for k in link]
    body, parent = pieces[0], arm._parents[link.start]
    where = GROUND
    if parent >= 0:
        base = arm.bodies[parent]
        where = f"{link_name(base)}.{base.node_names[base.node_index(body.joint.node)]}"
    f = link_frequencies(pieces, 5)
    shown = ", ".join(f"{x:.4g}" for x in f[:4]) + ", ..." * (len(f) > 4)
    mass = f"{sum(piece.mass for piece in pieces):.4g}"
    modes = str(sum(piece.n_modes for piece in pieces))
    if len(pieces) > 1:
        modes += f" in {len(pieces)} pieces"
    kind, name, follows = body.joint.kind, joint_name(body), arm.followers
    if name in follows and not body.joint.n_dof:
        kind += f", follows {follows[name][0]}"
    return body.name, where, kind, mass, modes, shown


def _size_of(error: str) -> float:
    """Size of an error in a table; one that is not known is the largest."""
    return float("inf") if error == "unknown" else float(error)
