"""Vibrating arms, and maps over their workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np

from .. import kinematics
from .._calls.declared import Choice
from .._calls.doors import checked
from .._support.arrays import Array
from ..errors import ArgumentError
from ..mode_results import VibrationModes
from ._drawing import ArmDrawing, _choose_plane
from ._histories import plane_axes
from ._scene_solids import solid_links
from ._skeleton import find_plane, find_shapes, plane_of
from .canvas import COLORS, GHOST, GREY, Plane, check_mode, finish, is_solid, make_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import Collection

    from ..statics import WorkspaceMap


# Largest motion of a node, in extents of the arm.
_AMPLITUDE = 0.12
# Motion of nodes below which a mode twists, in turns times the extent of the arm.
_TWIST = 0.01
# Motion out of a plane that is not seen, as a part of the extent.
_FLAT = 1e-3
# Colors of the posture and of both ends of the motion.
_SHADES = (GREY, COLORS[5], COLORS[0])

# label, unit
_QUANTITIES = {
    "frequency": "natural frequency {} (Hz)",
    "sag": "static displacement (m)",
    "softness": "largest compliance (m/N)",
}


@checked
def vibration(
    modes: VibrationModes,
    mode: int = 0,
    *,
    amplitude: float | None = None,
    plane: Plane | None = None,
    ax: Axes | None = None,
) -> ArmDrawing:
    """Mode shape of a whole arm: both ends of the motion, and the posture in grey.

    Parameters
    ----------
    modes : VibrationModes
        Result of `flexarm.vibration_modes` for one posture.
    mode : int
        Index of the mode: zero is the first, "mode 1" in the title.
    amplitude : float, optional
        Factor of its shape; by default the largest motion of a node is an eighth of the
        size of the arm.
    plane : {"xy", "xz", "yz", "3d"}, optional
        Plane of the drawing; by default that in which the arm moves in this mode, or
        three dimensions.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    drawing : ArmDrawing
        The posture, and the posture displaced to both sides.  Where links mostly twist,
        short lines across them turn along.

    Raises
    ------
    ArgumentError
        If `modes` is a batch, or there is no such mode.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, n_modes=6)
    >>> modes = fa.vibration_modes(arm, np.zeros(14), held="joints")
    >>> drawing = fa.plotting.vibration(modes, 1)
    >>> drawing.ax.get_title()
    'mode 2, 8.77 Hz'
    """
    if modes.q.ndim != 1:
        raise ArgumentError(
            f"modes holds a batch of shape {modes.q.shape[:-1]}, expected those of one "
            "posture"
        )
    n = modes.squares.shape[-1]
    check_mode(mode, n, -n)

    # the posture, and both ends of the motion
    mode %= n
    extent, travel, turn = _reach(modes, mode)
    size = _size(modes, mode) if amplitude is None else float(amplitude)
    q = np.stack([modes.q, modes.displaced(mode, -size), modes.displaced(mode, size)])
    twists = travel < _TWIST * extent * turn
    if plane is None and (ax is None or not is_solid(ax)):
        moved = plane_of(find_shapes(modes.arm, q), _FLAT)
        plane = "3d" if twists and ax is None else find_plane(modes.arm) or moved
    drawing = ArmDrawing(modes.arm, q, 1.0, plane, ax)
    drawing.recolor(_SHADES)
    if twists:
        _draw_ribs(drawing, q, 0.1 * extent)
    for part in drawing.lines[0].values():
        part.set_zorder(1.5)
    drawing.lines[0]["links"].set(**GHOST)
    f = modes.frequencies[mode]
    kind = ", unstable" if modes.unstable[mode] else ""
    shown = (
        "rigid motion" if modes.rigid[mode] else f"{float(f'{abs(f):.3g}'):g} Hz{kind}"
    )
    drawing.ax.set_title(f"mode {mode + 1}, {shown}", fontsize="medium")
    return drawing


def _reach(modes: VibrationModes, mode: int) -> tuple[float, float, float]:
    """Extent of the arm in m, and the largest motion and turn of a node in a mode."""
    nodes = kinematics.node_poses(modes.arm, modes.q)[..., :3, 3]
    extent = np.linalg.norm(np.ptp(np.vstack([nodes, np.zeros(3)]), axis=0))
    moved = np.linalg.norm(modes.node_displacements()[mode].reshape(-1, 2, 3), axis=-1)
    turn, travel = moved.max(axis=0)
    return float(extent), float(travel), float(turn)


def _size(modes: VibrationModes, mode: int) -> float:
    """Amplitude that shows a mode well."""
    extent, travel, turn = _reach(modes, mode)
    # a mode that only twists moves no node: it may turn by half a radian
    far = max(travel / max(_AMPLITUDE * extent, 1e-9), turn / 0.5)
    return 1.0 / far if far > 0.0 else 0.0


def _draw_ribs(drawing: ArmDrawing, q: Array, reach: float) -> None:
    """Short lines across beams, along y of their sections, which turn as they twist."""
    nodes = np.asarray(kinematics.node_poses(drawing.arm, q))
    for link in solid_links(drawing.arm):
        poses = nodes[:, link.nodes]
        place = poses[..., :3, 3]
        side = reach * (poses[..., :3, :3] @ link.axes)[..., 1]
        rows = np.stack([place - side, place + side, np.full_like(place, np.nan)], 2)
        for points, shade in zip(rows[..., drawing._columns], _SHADES, strict=True):
            ends = points.reshape(-1, len(drawing._columns))
            drawing.ax.plot(*ends.T, color=shade, linewidth=1.2, zorder=2.5)
    drawing.ax.set_aspect("equal", adjustable="datalim")


@checked
def workspace(
    found: WorkspaceMap,
    quantity: Annotated[str, Choice(*_QUANTITIES)] = "frequency",
    *,
    mode: int = 0,
    plane: Plane | None = None,
    ax: Axes | None = None,
) -> Collection:
    """Map of a frequency, of the static displacement or of the compliance.

    Parameters
    ----------
    found : WorkspaceMap
        Result of `flexarm.workspace_map`.
    quantity : {"frequency", "sag", "softness"}
        Quantity of the colours: a natural frequency, the motion of the node by loads,
        or the largest motion by a unit force.
    mode : int
        Index of the frequency: zero is the first, "natural frequency 1" at the scale.
    plane : {"xy", "xz", "yz", "3d"}, optional
        Plane of the drawing; by default that of the arm, or three dimensions.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    colors : matplotlib collection
        The coloured surface of a map over two axes, or points of any other map and in
        three dimensions; ``colors.colorbar`` is its scale.

    Raises
    ------
    ArgumentError
        If there is no such quantity or mode.

    Notes
    -----
    Postures without a stable equilibrium are left white on a surface, and drawn as grey
    crosses among points.  Where two postures reach the same place, with another elbow,
    the later one covers the first.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(2, n_modes=6)
    >>> angles = {"link1": np.linspace(-1, 1, 9), "link2": np.linspace(0.1, 2.5, 9)}
    >>> found = fa.workspace_map(arm, fa.joint_grid(arm, angles))
    >>> colors = fa.plotting.workspace(found, "sag")
    >>> colors.colorbar.ax.get_ylabel()
    'static displacement (m)'
    """
    values, label = _values(found, quantity, mode)
    pose = np.asarray(kinematics.node_pose(found.arm, found.q, found.node))
    plane = _choose_plane(found.arm, plane, ax)
    columns = (0, 1, 2) if plane == "3d" else plane_axes(plane)
    on = make_axes(ax, (5.6, 4.4), solid=plane == "3d")
    shown = [pose[..., i, 3] for i in columns]
    if plane != "3d" and values.ndim == 2 and min(values.shape) > 1:
        colors: Collection = on.pcolormesh(
            *shown, np.ma.masked_invalid(values), shading="gouraud", cmap="viridis"
        )
    else:
        fine = np.isfinite(values)
        colors = on.scatter(
            *(x[fine] for x in shown), c=values[fine], s=12, cmap="viridis"
        )
        if not fine.all():
            on.scatter(*(x[~fine] for x in shown), color=GREY, marker="x", s=12)
    on.figure.colorbar(colors, ax=on, label=label, pad=0.1 if plane == "3d" else 0.03)
    on.set_aspect("equal", adjustable="datalim")
    finish(on, *(f"{'xyz'[i]} (m)" for i in columns))
    return colors


def _values(found: WorkspaceMap, quantity: str, mode: int) -> tuple[Array, str]:
    """Values of a quantity, and the text at their scale."""
    label = _QUANTITIES[quantity]
    if quantity != "frequency":
        return np.asarray(getattr(found, quantity)), label
    n = found.squares.shape[-1]
    check_mode(mode, n, -n)
    return found.frequencies[..., mode], label.format(mode % n + 1)
