"""Animations that play in a notebook or go to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from .._calls.declared import Floats, Positive
from .._calls.doors import checked, checked_class
from .._support.arrays import Array
from ..errors import ArgumentError
from ..simulation import Trajectory
from ._drawing import ArmDrawing
from ._frames import freeze_layout, page, write_film
from ._skeleton import Shape, find_shapes, magnify, smooth_path
from ._snapshots import count_frames, nearest
from .canvas import THIN, Plane, Scale, color, early_end, pyplot

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ..optimize import OptimalMotion


@checked_class
class Animation:
    """A motion, ready to be played, made by `animate`.

    A notebook shows it with controls when it is the last expression of a cell.

    Attributes
    ----------
    drawing : ArmDrawing
        The arm; ``drawing.ax`` can be changed before playing.
    times : (k,) ndarray of float
        Time of each frame, in s.
    fps : float
        Frames per second.
    """

    def __init__(
        self,
        drawing: ArmDrawing,
        frames: list[list[Shape]],
        times: Annotated[Array, Floats("(k,)")],
        fps: float,
        paths: Sequence[Array],
        note: str = "",
    ) -> None:
        self.drawing, self.times, self.fps = drawing, times, fps
        self._frames, self._note = frames, note
        ax = drawing.ax
        self.clock = ax.set_title("", loc="left", fontsize="medium")
        # times and places (n, 4) of the tip of each member
        self._paths, self.traces = paths, []
        for i, path in enumerate(paths):
            start = path[:1, 1:][:, drawing._columns].T
            self.traces += ax.plot(*start, color=color(i), linewidth=THIN, alpha=0.6)
        self.draw(0)

    def __repr__(self) -> str:
        return (
            f"<Animation of {self.drawing.arm.name!r}: {len(self.times)} frames, "
            f"{self.fps:g} per second>"
        )

    def draw(self, frame: int) -> list[Line2D]:
        """Draw one frame and return the artists that moved.

        Parameters
        ----------
        frame : int
            Its number, from 0.

        Returns
        -------
        artists : list of matplotlib.artist.Artist
            Lines and clock that changed.

        Examples
        --------
        >>> import flexarm as fa
        >>> arm = fa.library.pendulum()
        >>> run = fa.simulate(arm, [0.0], [0.0], [0.0, 0.1, 0.2, 0.3])
        >>> animation = fa.plotting.animate(run, fps=10)
        >>> artists = animation.draw(2)
        >>> animation.clock.get_text()
        't = 0.20 s'
        """
        self.drawing.show(self._frames[frame])
        self.clock.set_text(f"t = {self.times[frame]:.2f} s{self._note}")
        for line, path in zip(self.traces, self._paths, strict=True):
            until = np.searchsorted(path[:, 0], self.times[frame], side="right")
            self.drawing.set_points(line, path[:until, 1:][:, self.drawing._columns])
        parts = [line for lines in self.drawing.lines for line in lines.values()]
        return [*parts, *self.traces, self.clock]

    def play(self) -> FuncAnimation:
        """Return a `matplotlib.animation.FuncAnimation`, to be kept while it plays."""
        from matplotlib import animation

        figure = self.drawing.ax.figure
        freeze_layout(figure)
        return animation.FuncAnimation(
            figure, self.draw, frames=len(self.times), interval=1000.0 / self.fps
        )

    def to_html(self) -> str:
        """Return a page element with frames and controls, for notebooks and slides."""
        return page(self.drawing.ax.figure, self.draw, len(self.times), self.fps)

    def _repr_html_(self) -> str:
        html = self.to_html()
        pyplot().close(self.drawing.ax.figure)  # or the notebook shows it once more
        return html

    def save(self, path: str | Path, *, dpi: float = 100.0) -> Path:
        """Write the animation to a file.

        Parameters
        ----------
        path : str or pathlib.Path
            Name that ends in .gif, .html, or .mp4, which needs ffmpeg: the program, or
            that of the package imageio-ffmpeg.
        dpi : float
            Resolution of the frames.

        Returns
        -------
        path : pathlib.Path
            The file.

        Raises
        ------
        ArgumentError
            If the file has another ending, or ffmpeg is missing.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import flexarm as fa
        >>> arm = fa.library.pendulum()
        >>> run = fa.simulate(arm, [0.0], [0.0], [0.0, 0.1])
        >>> animation = fa.plotting.animate(run, fps=10)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     animation.save(Path(folder) / "fall.gif", dpi=20).stat().st_size > 1000
        True
        """
        path = Path(path)
        if path.suffix not in (".gif", ".html", ".mp4"):
            raise ArgumentError(
                f"path ends in {path.suffix!r}, expected .gif, .html or .mp4"
            )
        figure, count = self.drawing.ax.figure, len(self.times)
        write_film(path, figure, self.draw, count, self.fps, dpi=dpi)
        return path


@checked
def animate(
    traj: Trajectory | OptimalMotion,
    *,
    fps: Positive = 25.0,
    speed: Positive = 1.0,
    scale: Scale = 1.0,
    plane: Plane | None = None,
    trace: bool = True,
    ax: Axes | None = None,
) -> Animation:
    """Animate a motion.

    Parameters
    ----------
    traj : Trajectory or OptimalMotion
        Result of `flexarm.simulate`, of which all members of a batch move together, or
        of a function of `flexarm.optimize`.
    fps : float
        Frames per second.
    speed : float
        Seconds of the motion in a second of the animation; 0.1 is slow motion.
    scale : float
        Factor of all modal coordinates, to make small deflections visible.
    plane : {"xy", "xz", "yz", "3d"}, optional
        Plane of the drawing; by default that of the arm, or three dimensions.
    trace : bool
        Draw the path of the tip.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    animation : Animation
        Plays in a notebook; ``save("motion.gif")`` writes a file.

    Raises
    ------
    ArgumentError
        If `fps` or `speed` is not positive, or the frames are more than 100,000.

    Notes
    -----
    Each frame shows the nearest stored state, so that a coarse trajectory moves in
    steps.  The animation ends where the first member of a batch ends.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> start = [0.0, 0.0, 0.0, 0.0, 0.1, 0.002]
    >>> traj = fa.simulate(arm, start, np.zeros(6), np.linspace(0.0, 0.2, 201))
    >>> animation = fa.plotting.animate(traj, speed=0.1)
    >>> len(animation.times)
    51
    """
    if not isinstance(traj, Trajectory):
        traj = Trajectory(traj.arm, traj.t, traj.q, traj.qd, traj.tau)
    arm, t = traj.arm, traj.t[: int(np.min(traj.completed))]
    count = count_frames(float(t[-1] - t[0]), fps, speed)
    chosen = nearest(t, np.linspace(t[0], t[-1], count))
    # frames first, then members
    each = traj.q.reshape(-1, len(traj.t), arm.nq)[:, : len(t)]
    q = np.moveaxis(each[:, chosen], 1, 0)
    shapes = find_shapes(arm, magnify(arm, q, scale).reshape(-1, arm.nq))
    members = q.shape[1]
    frames = [shapes[i : i + members] for i in range(0, len(shapes), members)]
    extent = np.concatenate([shape.points() for shape in shapes])
    drawing = ArmDrawing(arm, q[0], scale, plane, ax, extent)
    drawing.fit(extent)
    paths = [smooth_path(arm, t, one, scale) for one in each] if trace else []
    return Animation(drawing, frames, t[chosen], fps, paths, early_end([traj]))
