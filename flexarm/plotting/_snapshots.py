"""One motion in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import check_numbers, real_array
from .._calls.declared import Floats
from .._calls.doors import checked
from .._support.arrays import Array, Index
from .._support.checks import short_text
from ..errors import ArgumentError
from ._drawing import ArmDrawing
from .canvas import COLORS, Plane, Scale, draw_legend, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..optimize import Capsule, HalfSpace, OptimalMotion, Sphere
    from ..simulation import Trajectory

Times: TypeAlias = Annotated[ArrayLike, Floats("()", "(k,)")]
# Shapes of one picture at most.
MAX_SHAPES = 1000
# Frames of an animation at most, an hour at the usual rate.
MAX_FRAMES = 100_000


@checked
def snapshots(
    traj: Trajectory | OptimalMotion,
    times: Times = 6,
    *,
    scale: Scale = 1.0,
    plane: Plane | None = None,
    obstacles: HalfSpace
    | Sphere
    | Capsule
    | Sequence[HalfSpace | Sphere | Capsule]
    | None = None,
    ax: Axes | None = None,
) -> ArmDrawing:
    """Arm at several times of one motion, from light to dark.

    Parameters
    ----------
    traj : Trajectory or OptimalMotion
        Result of `flexarm.simulate` for one initial state; or of a function of
        `flexarm.optimize`, of which the simulated motion is drawn, if there is one.
    times : float or (k,) array_like of float, or int
        Times in s, for which the nearest stored states are drawn; or their number.
    scale : float
        Factor of all modal coordinates, to make small deflections visible.
    plane : {"xy", "xz", "yz", "3d"}, optional
        Plane of the drawing; by default that of the arm, or three dimensions.
    obstacles : sequence of HalfSpace, Sphere or Capsule, optional
        What is drawn beside the arm; by default the obstacles of an optimal motion.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    drawing : ArmDrawing
        One configuration for each time.

    Raises
    ------
    ArgumentError
        If `traj` is a batch, or a time is outside of it.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> start = [0.0, 0.0, 0.0, 0.0, 0.1, 0.002]
    >>> traj = fa.simulate(arm, start, np.zeros(6), np.linspace(0.0, 0.2, 201))
    >>> drawing = fa.plotting.snapshots(traj, [0.0, 0.1, 0.2], scale=2.0)
    >>> [lines["links"].get_label() for lines in drawing.lines]
    ['0 s', '0.1 s', '0.2 s']
    """
    from ..optimize import OptimalMotion

    if isinstance(traj, OptimalMotion):
        known = traj.limits
        if obstacles is None and known is not None:
            obstacles = known.obstacles
        traj = _simulated(traj)
    if traj.q.ndim != 2:
        raise ArgumentError(
            f"traj holds a batch of shape {traj.q.shape[:-2]}, expected one motion"
        )
    t = traj.t[: traj.completed]
    if isinstance(times, int | np.integer):
        if not 0 < times <= MAX_SHAPES:
            raise ArgumentError(
                f"times is {short_text(times)}, expected 1 to {MAX_SHAPES} shapes, or "
                "their times"
            )
        times = np.linspace(t[0], t[-1], int(times))
    wanted = np.atleast_1d(real_array("times", times))
    if not wanted.size:
        raise ArgumentError("times is empty, expected one time or more")
    check_numbers("times", wanted)
    slack = 1e-9 * float(t[-1] - t[0])
    if np.any((wanted < t[0] - slack) | (wanted > t[-1] + slack)):
        raise ArgumentError(
            f"times are between {wanted.min():g} and {wanted.max():g} s, expected "
            f"times within the motion, {t[0]:g} to {t[-1]:g} s ({traj.message})"
        )
    chosen = nearest(t, wanted)
    drawing = ArmDrawing(traj.arm, traj.q[chosen], scale, plane, ax)
    shades = pyplot().get_cmap("viridis_r")(np.linspace(0.1, 1.0, len(chosen)))
    drawing.recolor(list(shades) if len(chosen) > 1 else [COLORS[0]])
    for lines, i in zip(drawing.lines, chosen, strict=True):
        lines["links"].set_label(f"{t[i]:.4g} s")
    if obstacles is not None:
        drawing.draw_obstacles(obstacles)
    draw_legend(drawing.ax)
    return drawing


def _simulated(motion: OptimalMotion) -> Trajectory:
    """The simulation of an optimal motion, or the motion itself."""
    from ..simulation import Trajectory

    if motion.verification is not None:
        return motion.verification.trajectory
    return Trajectory(motion.arm, motion.t, motion.q, motion.qd, motion.tau)


def count_frames(span: float, fps: float, speed: float) -> int:
    """Return the number of frames of a motion that lasts `span` seconds, or raise."""
    count = span * fps / speed + 1.0
    if not count <= MAX_FRAMES:
        raise ArgumentError(
            f"fps is {fps:g} and speed {speed:g}, {count:.3g} frames for {span:g} s, "
            f"expected at most {MAX_FRAMES:,}"
        )
    return round(count)


def nearest(t: Array, wanted: Array) -> Index:
    """Return the indices of the stored times next to the wanted ones."""
    after = np.clip(np.searchsorted(t, wanted), 1, len(t) - 1) if len(t) > 1 else 0
    after = np.broadcast_to(after, wanted.shape)
    before = np.maximum(after - 1, 0)
    closer = np.abs(t[before] - wanted) <= np.abs(t[after] - wanted)
    return np.where(closer, before, after)
