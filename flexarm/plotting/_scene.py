"""Arms in space that turn under the mouse: in a notebook, or as a page of HTML.

Drawn by plotly.  Alternatives, measured for a scene of 51 frames on one machine (sizes
with all packages that pip installs):

============  =======  ========  ================================================
library       size     page      for and against
============  =======  ========  ================================================
plotly        76 MB    4.9 MB    3 packages; play button, slider, legend, hover
                                 text, axes with units; needs no server, no widgets
k3d           169 MB   1.2 MB    28 packages; a small page, made by a widget; no
                                 legend to compare runs
meshcat       182 MB   0.9 MB    25 packages; starts a server to make a page (here of
                                 an empty scene); no axes with units
pyvista       930 MB   not made  123 packages with trame; surfaces and shadows;
                                 motion needs a server
============  =======  ========  ================================================

All but 0.1 MB of a page of plotly is plotly.js itself, which pages in one folder can
share: ``save(path, inline=False)``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .._calls.arguments import real_array
from .._calls.declared import Choice, Floats, Positive
from .._calls.doors import checked, checked_class
from .._support.arrays import Array
from .._support.optional import required
from ..arm import Arm
from ..errors import ArgumentError
from ..mode_results import VibrationModes
from ..simulation import Trajectory
from ._scene_extras import Extras, motion_of_mode
from ._scene_film import record
from ._scene_layout import FIT, PLAY, controls, ground, layout, path, title
from ._scene_parts import Look, Member, Trace, dress, traces
from ._scene_solids import QUANTITIES
from ._skeleton import bends, find_shapes, magnify, smooth_path
from ._snapshots import count_frames, nearest
from .canvas import Scale, color, early_end

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from ..urdf import Report, Robot, Visual


T = TypeVar("T")

_MIME = "application/vnd.plotly.v1+json"


@checked_class
class Scene:
    """Arms in space, made by `scene`; the last expression of a cell shows it.

    Attributes
    ----------
    spec : dict
        Input of plotly.js: ``"data"``, ``"layout"`` and ``"frames"``.
    times : (k,) ndarray of float or None
        Time of each frame in s; None for a still scene.
    title : str
        Title: the arm, and the factor of the deflections.
    fps : float
        Frames per second of a film.
    """

    def __init__(
        self,
        spec: Trace,
        times: Annotated[Array, Floats("(k,)")] | None,
        title: str,
        fps: float = 25.0,
    ) -> None:
        self.spec, self.times, self.title, self.fps = spec, times, title, fps

    def __repr__(self) -> str:
        moving = f", {len(self.times)} frames" if self.times is not None else ""
        return f"<Scene: {self.title}{moving}>"

    @property
    def figure(self) -> Figure:
        """A `plotly.graph_objects.Figure`, to change anything."""
        objects = required("plotly.graph_objects", "a scene", extra="notebook")
        return objects.Figure(self.spec)

    def to_html(self, *, inline: bool = True, full_page: bool = True) -> str:
        """Return a page, or an element of one.

        Parameters
        ----------
        inline : bool
            Put plotly.js (5 MB) into it, or refer to a file ``plotly.min.js`` beside
            it.
        full_page : bool
            A whole page, as large as its window, in which a motion plays; or only a
            ``<div>``.

        Returns
        -------
        html : str
            It needs no network.

        Examples
        --------
        >>> import flexarm as fa
        >>> scene = fa.plotting.scene(fa.library.pendulum(), [0.3])
        >>> scene.to_html(inline=False, full_page=False)[:5]
        '<div '
        """
        plotly_io = required("plotly.io", "a scene", extra="notebook")
        layout = dict(self.spec["layout"])
        if full_page:
            del layout["height"]  # the page fills its window
        plays = full_page and "updatemenus" in layout
        return str(
            plotly_io.to_html(
                self.spec | {"layout": layout},
                post_script=[FIT] * full_page + [PLAY] * plays,
                include_plotlyjs=True if inline else "directory",
                full_html=full_page,
                auto_play=False,
                validate=False,
                config={"displaylogo": False, "responsive": True},
            )
        )

    def save(
        self, path: str | Path, *, inline: bool = True, dpi: float = 100.0
    ) -> Path:
        """Write a page that opens in any browser, or a film of all frames.

        Parameters
        ----------
        path : str or pathlib.Path
            Name that ends in .html, .gif, .mp4 or, for a picture of the first frame,
            .png.  Pages need no network; films and pictures are drawn by matplotlib,
            .mp4 by ffmpeg, of the system or of the package imageio-ffmpeg.
        inline : bool
            Put plotly.js (5 MB) into the page; or write ``plotly.min.js`` beside it,
            once for all pages of a folder.
        dpi : float
            Resolution of films and pictures.

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
        >>> scene = fa.plotting.scene(fa.library.pendulum(), [0.3])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = scene.save(Path(folder) / "arm.html", inline=False)
        ...     sorted(each.name for each in path.parent.iterdir())
        ['arm.html', 'plotly.min.js']
        """
        path = Path(path)
        if path.suffix in (".gif", ".mp4", ".png"):
            record(path, self.spec, self.times, self.fps, dpi)
            return path
        if path.suffix != ".html":
            raise ArgumentError(
                f"path ends in {path.suffix!r}, expected .html, .gif, .mp4 or .png"
            )
        path.write_text(self.to_html(inline=inline), encoding="utf-8")
        script = path.with_name("plotly.min.js")
        if not inline and not script.exists():
            offline = required("plotly.offline", "a scene", extra="notebook")
            script.write_text(offline.get_plotlyjs(), encoding="utf-8")
        return path

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        # Jupyter draws this by an extension of plotly, other programs show the title
        bundle = {key: value for key, value in self.spec.items() if value}
        return {_MIME: json.loads(json.dumps(bundle)), "text/plain": repr(self)}


@checked
def scene(
    shown: Arm
    | Trajectory
    | VibrationModes
    | Sequence[Arm | Trajectory | VibrationModes],
    q: ArrayLike | Sequence[ArrayLike] | None = None,
    *,
    scale: Scale | Sequence[Scale] = 1.0,
    undeformed: bool = True,
    labels: Sequence[str] | None = None,
    trace: bool = True,
    fps: Positive = 25.0,
    speed: Positive = 1.0,
    solid: bool | None = None,
    color_by: Annotated[str, Choice(*QUANTITIES)] | None = None,
    visuals: Robot | Report | Mapping[str, Sequence[Visual]] | None = None,
    mode: int = 0,
    plane: bool = False,
    frames: bool | str | Sequence[str] = False,
) -> Scene:
    """Arms or motions in space, side by side, with deflections exaggerated.

    Parameters
    ----------
    shown : Arm, Trajectory, VibrationModes, or a sequence of them
        Arms, motions and modes of vibration.  Motions play together, those of a batch
        as well, and end with the shortest; an arm among them stands still.  A mode
        swings once in two seconds, by 8 % of the size of the arm.
    q : (nq,) or (k, nq) array_like of float, or one such for each arm, optional
        Configurations of arms, in rad and m, modal coordinates in the unit of their
        mode; by default ``arm.neutral``.
    scale : float or sequence of float
        Factor of all modal coordinates, or one for each of `shown`; see the title.
    undeformed : bool
        Draw also the arm without deflections, dashed in grey.
    labels : sequence of str, optional
        One for each of `shown`, for the legend, where a click hides it.
    trace : bool
        Draw the path of each tip.
    fps : float
        Frames per second of motions.
    speed : float
        Seconds of a motion in a second of the animation; 0.1 is slow motion.
    solid : bool, optional
        Draw links of `beams` by their sections: ellipses, or rectangles of their
        outermost fibres; links without sections are thin and round.  Rigid bodies
        without `visuals` are boxes of their mass and inertia, or bars.  By default, if
        that adds no more than 8 MB to a page.
    color_by : {"deflection", "stress"}, optional
        Color the links by their distance from the arm without deflections, in mm, or
        by the largest normal stress in each section, in MPa, in the motion or at rest.
        Numbers are those of true deflections, whatever `scale` is; of a mode those of
        the drawn amplitude.
    visuals : urdf.Robot, urdf.Report or mapping of str to sequence of urdf.Visual
        Shapes of rigid links by their names: those that `flexarm.urdf.read` finds in a
        robot file.  Meshes need the packages trimesh and, for Collada, pycollada
        (``flexarm[meshes]``), and are drawn coarsely, by at most 4000 triangles each.
    mode : int
        Index of the mode of vibration: zero is the first, "mode 1" in the title.
    plane : bool
        Draw the plane through the base across gravity.
    frames : bool, str or sequence of str
        Draw axes x, y, z (red, green, blue) of all bodies, or of those named, and of
        the tip.

    Returns
    -------
    scene : Scene
        Shown by a notebook; ``save("arm.html")`` writes a page.

    Raises
    ------
    ArgumentError
        If numbers of arms, configurations, factors and labels do not fit together, or
        if no link can be colored.
    ModelError
        If the sections have no outermost fibres, for stresses.
    ImportError
        If plotly is missing, when it is shown or saved, or trimesh, for meshes.

    Warns
    -----
    UrdfWarning
        For each mesh that cannot be read, which is not drawn.

    Notes
    -----
    Rings are joints, black lines their axes, diamonds payloads, squares the base and
    the ends of loops on the ground; text appears under the mouse.  Drag to turn, scroll
    to come nearer.  Each frame shows the nearest stored state.  A saved page fills its
    window and plays again and again until it is paused; a notebook waits for a click.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.farid_spatial()
    >>> q = arm.neutral
    >>> q[arm.mode_slice("link2", positions=True).start] = 0.01
    >>> fa.plotting.scene(arm, q, scale=20.0)
    <Scene: farid_spatial, deflections 20 times as large>

    A tube that hangs down to the side, colored by stress:

    >>> tube = fa.beams.Section.tube(0.04, 0.001, fa.beams.ALUMINIUM)
    >>> link = fa.beams.finite_element_link("boom", length=2.0, sections=tube)
    >>> arm = fa.Arm([link], gravity=(0, -9.81, 0))
    >>> rest = arm.equilibrium([0.0] * arm.nq)
    >>> fa.plotting.scene(arm, rest.q, solid=True, color_by="stress")
    <Scene: arm, deflections to scale>
    """
    from ..mode_results import VibrationModes

    alone = isinstance(shown, Arm | Trajectory | VibrationModes)
    given: list[Arm | Trajectory | VibrationModes] = []
    given += [shown] if isinstance(shown, Arm | Trajectory | VibrationModes) else shown
    extras = Extras(solid, color_by, visuals, plane, frames, given)
    items = [
        motion_of_mode(item, mode) if isinstance(item, VibrationModes) else item
        for item in given
    ]
    if not items:
        raise ArgumentError("shown is empty, expected at least one arm or motion")
    scales = real_array("scale", scale)
    scales = np.broadcast_to(scales, scales.shape or len(items))
    factors = _each("scale", scales.tolist(), items)
    names = _each("labels", _labels(items) if labels is None else labels, items)
    poses = _poses(items, q, alone=alone)
    times = _times(items, fps, speed)
    members = _members(items, poses, times, factors, names)
    motions = [item for item in items if not isinstance(item, Arm)]
    note = extras.note(mode) + early_end(motions)
    return _compose(members, times, undeformed, trace, fps, extras, note)


def _each(what: str, given: Sequence[T], items: Sequence[object]) -> list[T]:
    """Check that each item has an entry."""
    if len(given) != len(items):
        raise ArgumentError(
            f"{what} has {len(given)} entries for {len(items)} arms or motions, "
            "expected one each"
        )
    return list(given)


def _labels(items: Sequence[Arm | Trajectory]) -> list[str]:
    names = [_arm_of(item).name for item in items]
    many = len(set(names)) < len(names)
    return [f"{name} {i + 1}" if many else name for i, name in enumerate(names)]


def _arm_of(item: Arm | Trajectory) -> Arm:
    arm = item if isinstance(item, Arm) else item.arm
    if not isinstance(arm, Arm):
        raise ArgumentError(
            "a motion of a stack has many arms, expected motions of one arm each, such "
            "as those simulated with stack[0]"
        )
    return arm


def _poses(
    items: Sequence[Arm | Trajectory],
    q: Any,
    *,
    alone: bool,
) -> list[Array | None]:
    """Configurations (k, nq) of each arm, None for a motion."""
    arms = [item for item in items if isinstance(item, Arm)]
    if q is None:
        given = [arm.neutral for arm in arms]
    elif not arms:
        raise ArgumentError(
            "q is given with motions, which have configurations of their own, expected "
            "only the motions"
        )
    else:
        given = [q] if alone else list(q)
    each = iter(_each("q", given, arms))
    result: list[Array | None] = []
    for item in items:
        if not isinstance(item, Arm):
            result.append(None)
            continue
        q = magnify(item, real_array("q", next(each)), 1.0)
        result.append(q.reshape(-1, item.nq))
    return result


def _times(items: Sequence[Arm | Trajectory], fps: float, speed: float) -> Array | None:
    """Times of the frames, of motions that play together."""
    motions = [item for item in items if not isinstance(item, Arm)]
    if not motions:
        return None
    first = max(float(motion.t[0]) for motion in motions)
    last = min(float(m.t[int(np.min(m.completed)) - 1]) for m in motions)
    if last < first:
        raise ArgumentError(
            f"one motion ends at {last:g} s, before another starts at {first:g} s, "
            "expected motions over a common time"
        )
    return np.linspace(first, last, count_frames(last - first, fps, speed))


def _members(
    items: Sequence[Arm | Trajectory],
    poses: list[Array | None],
    times: Array | None,
    factors: list[float],
    names: list[str],
) -> list[Member]:
    """Items with a color of their own: arm, frames, factor and label."""
    members = []
    for item, q, factor, name in zip(items, poses, factors, names, strict=True):
        arm, motions = _arm_of(item), None
        if isinstance(item, Arm):
            every = np.asarray(q)[:, np.newaxis]
        else:
            at = nearest(item.t, np.asarray(times))
            every, qd, tau = (
                x.reshape(-1, len(item.t), x.shape[-1])[:, at]
                for x in (item.q, item.qd, item.tau)
            )
            forces = np.broadcast_to(tau, (len(qd), *tau.shape[1:]))
            motions = list(zip(qd, forces, strict=True))
            first, last = np.asarray(times)[[0, -1]]
            shown = (item.t >= first) & (item.t <= last)
            paths = [
                smooth_path(arm, item.t[shown], one[shown], factor)
                for one in item.q.reshape(-1, len(item.t), arm.nq)
            ]
        for i, frames in enumerate(every):
            label = f"{name}, {i + 1}" if len(every) > 1 else name
            moving = (None, None) if motions is None else (motions[i], paths[i])
            members.append(Member(arm, frames, float(factor), label, *moving))
    return members


def _compose(
    members: list[Member],
    times: Array | None,
    undeformed: bool,
    trace: bool,
    fps: float,
    extras: Extras,
    note: str,
) -> Scene:
    # shapes of all frames, and the box around them
    extras.prepare(members)
    shapes = [find_shapes(m.arm, magnify(m.arm, m.q, m.scale)) for m in members]
    straight = [
        find_shapes(m.arm, magnify(m.arm, m.q, 0.0))
        if undeformed and bends(m.arm)
        else []
        for m in members
    ]
    every = [shape for each in shapes + straight for shape in each]
    paths = [] if not trace else [m.path[:, 1:] for m in members if m.path is not None]
    parts_of_all = [*(shape.points() for shape in every), *paths, *extras.extent]
    extent = np.concatenate(parts_of_all)
    low, high = extent.min(axis=0), extent.max(axis=0)
    size = max(float((high - low).max()), 1e-6)

    # parts that stand still, and those that frames move
    still, moving = [ground(every), *extras.still(members, (low, high))], []
    for i, m in enumerate(members):
        look = Look(m.label, color(i), m.scale, size)
        parts = traces(m.arm, m.q, look, shapes[i], straight[i])
        first = dress(m.arm, parts[0], look)
        extras.thin(i, first)
        more = extras.traces(i, m, size)
        first += extras.dressed(i, m.label, more[0])
        parts = [old + new for old, new in zip(parts, more, strict=True)]
        for trace_of_part in first:
            trace_of_part["legendgroup"] = str(i)
        if len(parts) == 1:
            still += first
            continue
        moving.append((first, parts))
        if trace and m.path is not None:
            way = path(m.path[:, 1:], m.label, color(i))
            still.append({**way, "legendgroup": str(i)})
    data = [each for first, _ in moving for each in first]
    frames = []
    if times is not None:
        for k in range(len(times)):
            now = [part for _, parts in moving for part in parts[k]]
            frames.append(
                {"name": str(k), "data": now, "traces": list(range(len(data)))}
            )

    # frames, title and layout
    heading = title(members) + note
    placed = layout(members, (low, high, size), heading)
    if times is not None and len(times) > 1:
        placed |= controls(times, fps)
    spec = {"data": data + still, "layout": placed, "frames": frames}
    return Scene(spec, times, heading, fps)
