"""Drawings of the deformed arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import real_array
from .._calls.declared import Floats
from .._calls.doors import checked, checked_class
from .._support.arrays import Array
from ..arm import Arm
from ..errors import ArgumentError
from ._histories import plane_axes
from ._skeleton import Shape, find_plane, find_shapes, magnify
from .canvas import (
    GHOST,
    GREY,
    ZOOM,
    Plane,
    Scale,
    color,
    draw_legend,
    finish,
    is_solid,
    make_axes,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.typing import ColorType

    from ..optimize import Capsule, HalfSpace, Sphere


# Marker of each kind of joint that moves.
_MARKERS = {
    "revolute": "o",
    "prismatic": "s",
    "helical": "d",
    "cylindrical": "D",
    "universal": "P",
    "planar": "p",
    "spherical": "*",
    "free": "X",
    "subspace": "h",
    "screw": "^",
}
_PARTS: dict[str, dict[str, object]] = {
    "base": {"marker": "s", "markersize": 11, "linestyle": "", "zorder": 1},
    "offsets": {"linewidth": 1.0, "zorder": 2},
    "links": {"linewidth": 2.5, "zorder": 3, "solid_capstyle": "round"},
    **{
        kind: {"marker": marker, "markersize": 7, "linestyle": "", "zorder": 4}
        for kind, marker in _MARKERS.items()
    },
    "tip": {"marker": "o", "markersize": 4, "linestyle": "", "zorder": 5},
}
_FILL = {"base": GREY, **dict.fromkeys(_MARKERS, "white")}


@checked_class
class ArmDrawing:
    """A drawn arm in one or several configurations, made by `arm` and `snapshots`.

    Attributes
    ----------
    arm : Arm
        The drawn arm.
    ax : matplotlib axes
        Its axes.
    plane : str
        ``"xy"``, ``"xz"``, ``"yz"``, or ``"3d"``.
    scale : float
        Factor of the modal coordinates.
    lines : list of dict of str to matplotlib line
        For each configuration its parts: ``"links"``, ``"offsets"`` (from a node to the
        joint beside it), ``"revolute"`` and other kinds of joints,
        ``"base"`` and ``"tip"``.
    """

    def __init__(
        self,
        arm: Arm,
        q: ArrayLike,
        scale: Scale,
        plane: str | None,
        ax: Axes | None,
        extent: Array | None = None,
    ) -> None:
        self.arm, self.scale = arm, float(scale)
        shapes = self._shapes(q)
        self.plane = _choose_plane(arm, plane, ax)
        self._columns = (0, 1, 2) if self.plane == "3d" else plane_axes(self.plane)
        self.ax = make_axes(ax, self._size(extent, shapes), solid=self.plane == "3d")
        self.lines = [self._new(shape, i) for i, shape in enumerate(shapes)]
        self.ax.set_aspect("equal", adjustable="datalim")
        finish(self.ax, *(f"{'xyz'[i]} (m)" for i in self._columns))

    def __repr__(self) -> str:
        return (
            f"<ArmDrawing of {self.arm.name!r}: {len(self.lines)} configurations, "
            f"{self.plane}>"
        )

    def update(self, q: Annotated[ArrayLike, Floats("(nq,)", "(k, nq)")]) -> None:
        """Move the drawing to other configurations, as many as are drawn.

        Parameters
        ----------
        q : (nq,) or (k, nq) array_like of float
            Positions, in rad and m; modal ones in the unit of their mode.

        Raises
        ------
        ArgumentError
            If `q` holds another number of configurations.

        Examples
        --------
        >>> import flexarm as fa
        >>> two = fa.library.planar_chain(2, length=1.0)
        >>> drawing = fa.plotting.arm(two, [0.3, 0.5])
        >>> drawing.update([0.0, 0.0])
        >>> drawing.lines[0]["tip"].get_xdata()  # in m
        array([2.])
        """
        shapes = self._shapes(q)
        if len(shapes) != len(self.lines):
            raise ArgumentError(
                f"q holds {len(shapes)} configurations, the drawing shows "
                f"{len(self.lines)}, expected as many; draw anew to change the number"
            )
        self.show(shapes)
        if self.plane == "3d":
            every = np.concatenate([shape.points() for shape in shapes])
            self.ax.auto_scale_xyz(*every.T)
            self.ax.set_aspect("equal", adjustable="datalim")
        else:
            self.ax.relim()
            self.ax.autoscale_view()

    def show(self, shapes: Sequence[Shape]) -> None:
        """Move the drawing to shapes already computed.

        Parameters
        ----------
        shapes : sequence of Shape
            One for each configuration of the drawing.

        Raises
        ------
        ArgumentError
            If they are not as many as the configurations.

        Examples
        --------
        As `animate` does, which finds the shapes of all frames in one call first:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> from flexarm.plotting._skeleton import find_shapes
        >>> two = fa.library.planar_chain(2, length=1.0)
        >>> drawing = fa.plotting.arm(two, [0.3, 0.5])
        >>> shapes = find_shapes(two, np.array([[0.0, 0.0]]))
        >>> drawing.show(shapes)
        >>> print(drawing.lines[0]["tip"].get_xdata())  # in m
        [2.]
        """
        self._check_count("shapes", shapes)
        for lines, shape in zip(self.lines, shapes, strict=True):
            for part, line in lines.items():
                self.set_points(line, shape.part(part)[:, self._columns])

    def set_points(
        self, line: Line2D, points: Annotated[ArrayLike, Floats("(n, 2)", "(n, 3)")]
    ) -> None:
        """Move a line to points given by the coordinates that the axes show.

        Parameters
        ----------
        line : matplotlib.lines.Line2D
            The line.
        points : (n, 2) or (n, 3) array_like of float
            In m: two coordinates, or three in a view of space.

        Raises
        ------
        ArgumentError
            If `line` is no line of axes.

        Examples
        --------
        >>> import flexarm as fa
        >>> drawing = fa.plotting.arm(fa.library.planar_chain(2), [0.3, 0.5])
        >>> (target,) = drawing.ax.plot([], [], "x")
        >>> drawing.set_points(target, [[1.2, 0.4]])
        >>> target.get_xdata(), target.get_ydata()
        (array([1.2]), array([0.4]))
        """
        solid = self.plane == "3d"
        move = getattr(line, "set_data_3d" if solid else "set_data")
        move(*real_array("points", points).T)

    def draw_obstacles(
        self,
        obstacles: HalfSpace
        | Sphere
        | Capsule
        | Sequence[HalfSpace | Sphere | Capsule],
    ) -> list[Artist]:
        """Draw what links stay away from.

        Parameters
        ----------
        obstacles : sequence of HalfSpace, Sphere or Capsule
            Obstacles of `flexarm.optimize`.  In a plane they have the outlines that are
            seen, and half-spaces are cut by the plane through the origin.

        Returns
        -------
        artists : list
            Patches of a plane, surfaces in space.

        Raises
        ------
        ArgumentError
            If one is no obstacle.

        Examples
        --------
        >>> import flexarm as fa
        >>> drawing = fa.plotting.arm(fa.library.planar_chain(2), [0.3, 0.5])
        >>> ball = fa.optimize.Sphere(center=(1.2, 1.0), radius=0.2)
        >>> len(drawing.draw_obstacles([ball]))
        1
        """
        from ._obstacles import draw_obstacles

        return draw_obstacles(self.ax, obstacles, tuple(self._columns))

    def recolor(self, colors: Sequence[ColorType]) -> None:
        """Give each configuration its own colour.

        Parameters
        ----------
        colors : sequence
            One color for each configuration.

        Raises
        ------
        ArgumentError
            If they are not as many as the configurations.

        Examples
        --------
        >>> import flexarm as fa
        >>> two = fa.library.planar_chain(2)
        >>> drawing = fa.plotting.arm(two, [[0.0, 0.0], [0.3, 0.5]])
        >>> drawing.recolor(["0.7", "tab:red"])  # before in grey, after in red
        >>> [lines["tip"].get_color() for lines in drawing.lines]
        ['0.7', 'tab:red']
        """
        self._check_count("colors", colors)
        for lines, each in zip(self.lines, colors, strict=True):
            for part, line in lines.items():
                if part != "base":
                    line.set_color(each)
                    line.set_markeredgecolor(each)
                if part == "tip":
                    line.set_markerfacecolor(each)

    def fit(
        self, points: Annotated[Array, Floats("(n, 3)")], margin: float = 0.08
    ) -> None:
        """Set limits that hold the given points (n, 3), with equal scales.

        Parameters
        ----------
        points : (n, 3) ndarray of float
            In the base frame, in m.
        margin : float
            Room around them, as a share of their extent.

        Examples
        --------
        Room for all places that an arm may reach, before it moves:

        >>> import numpy as np
        >>> import flexarm as fa
        >>> two = fa.library.planar_chain(2, length=1.0)
        >>> drawing = fa.plotting.arm(two, [0.3, 0.5])
        >>> drawing.fit(np.array([[-2.0, -2.0, 0.0], [2.0, 2.0, 0.0]]), margin=0.1)
        >>> [float(round(x, 6)) for x in drawing.ax.get_xlim()]  # in m
        [-2.2, 2.2]
        """
        every = real_array("points", points)[:, self._columns]
        low, high = every.min(axis=0), every.max(axis=0)
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        solid = self.plane == "3d"
        room = half.max() * (1.0 + margin) if solid else half + margin * half.max()
        room = np.broadcast_to(np.maximum(room, 1e-6), middle.shape)
        for axis, m, r in zip("xyz", middle, room, strict=False):
            getattr(self.ax, f"set_{axis}lim")(m - r, m + r)
        if solid:
            self.ax.set_box_aspect((1.0, 1.0, 1.0), zoom=ZOOM)
        else:
            self.ax.set_aspect("equal", adjustable="box")

    def _size(
        self, extent: Array | None, shapes: Sequence[Shape]
    ) -> tuple[float, float]:
        """Size of a new figure in inches, by the extent of its content."""
        if self.plane == "3d":
            return (5.2, 4.8)
        if extent is None:
            extent = np.concatenate([shape.points() for shape in shapes])
        width, height = np.ptp(extent[:, self._columns], axis=0)
        long = max(width, height, 1e-9)
        # the second term is the room of labels
        return (max(6.0 * width / long, 3.2) + 0.6, max(5.4 * height / long, 1.8) + 0.6)

    def _check_count(self, name: str, given: Sequence[object]) -> None:
        """Raise unless there is one entry for each configuration."""
        if len(given) != len(self.lines):
            raise ArgumentError(
                f"{name} has {len(given)} entries, expected {len(self.lines)}, one "
                "for each configuration"
            )

    def _shapes(self, q: ArrayLike) -> list[Shape]:
        scaled = magnify(self.arm, q, self.scale)
        return find_shapes(self.arm, scaled.reshape(-1, self.arm.nq))

    def _new(self, shape: Shape, i: int) -> dict[str, Line2D]:
        lines = {}
        for part, look in _PARTS.items():
            points = shape.part(part)
            if len(points) == 1 and not np.isfinite(points).all():
                continue  # no joint of this kind
            hue = GREY if part == "base" else color(i)
            (lines[part],) = self.ax.plot(
                *points[:, self._columns].T,
                color=hue,
                markerfacecolor=_FILL.get(part, hue),
                **look,
            )
        return lines


def _choose_plane(arm: Arm, plane: str | None, ax: Axes | None) -> str:
    """Plane of a drawing: the given one, or that of the arm, or three dimensions."""
    if plane is None:
        plane = "3d" if ax is not None and is_solid(ax) else find_plane(arm)
        if plane is None and ax is not None:
            raise ArgumentError(
                f"arm {arm.name!r} moves in space and ax is plane, expected a plane "
                "such as 'xz' to project it on, or axes with projection='3d'"
            )
        plane = plane or "3d"
    if ax is not None and is_solid(ax) != (plane == "3d"):
        raise ArgumentError(
            f"plane is {plane!r} and ax has {3 if is_solid(ax) else 2} dimensions, "
            "expected axes that fit; leave out one of them"
        )
    return plane


@checked
def arm(
    arm: Arm,
    q: Annotated[ArrayLike, Floats("(nq,)", "(k, nq)")] | None = None,
    *,
    scale: Scale = 1.0,
    plane: Plane | None = None,
    undeformed: bool = False,
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> ArmDrawing:
    """Arm in one or several configurations, with bent links.

    Parameters
    ----------
    arm : Arm
        The arm.
    q : (nq,) or (k, nq) array_like of float, optional
        Configurations, in rad and m; modal coordinates in the unit of their mode; by
        default ``arm.neutral``.
    scale : float
        Factor of all modal coordinates, to make small deflections visible.
    plane : {"xy", "xz", "yz", "3d"}, optional
        Plane of the drawing.  By default the coordinate plane in which the arm moves,
        or three dimensions.
    undeformed : bool
        Draw also the arm without deflections, dashed in grey.
    labels : sequence of str, optional
        One for each configuration, for a legend.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    drawing : ArmDrawing
        The lines, and a method to move them.

    Raises
    ------
    ArgumentError
        If `q`, `plane`, `labels` and `ax` do not fit together.

    Notes
    -----
    Circles are revolute joints, squares prismatic, diamonds cylindrical (thin ones
    helical), plus signs universal, pentagons planar, stars spherical, crosses free
    ones, hexagons those of a subspace, triangles screws; all at the frame of the body.
    Nodes on a line are joined by a curve with the slopes of the modes; other bodies are
    drawn as lines to the nodes with joints on them.

    Examples
    --------
    >>> import flexarm as fa
    >>> two = fa.library.planar_chain(2)
    >>> drawing = fa.plotting.arm(two, [[0.0, 0.0], [0.3, 0.5]])
    >>> drawing.plane, len(drawing.lines)
    ('xy', 2)
    """
    q = arm.neutral if q is None else q
    drawing = ArmDrawing(arm, q, scale, plane, ax)
    if labels is not None:
        if len(labels) != len(drawing.lines):
            raise ArgumentError(
                f"{len(labels)} labels for {len(drawing.lines)} configurations, "
                "expected one each"
            )
        for lines, label in zip(drawing.lines, labels, strict=True):
            lines["links"].set_label(label)
        draw_legend(drawing.ax)
    if undeformed:
        for line in _rest(drawing, q):
            line.set(**GHOST)
    return drawing


def _rest(drawing: ArmDrawing, q: ArrayLike) -> list[Line2D]:
    """Lines of the links without deflections."""
    straight = magnify(drawing.arm, q, 0.0).reshape(-1, drawing.arm.nq)
    lines = []
    for shape in find_shapes(drawing.arm, straight):
        lines += drawing.ax.plot(*shape.links[:, drawing._columns].T)
    return lines
