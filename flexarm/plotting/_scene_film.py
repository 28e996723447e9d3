"""Films and pictures of scenes, drawn by matplotlib: no browser is needed."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._support.arrays import Array
from ._frames import write_film
from ._scene_parts import Trace
from .canvas import STYLE, pyplot

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from mpl_toolkits.mplot3d import Axes3D
    from mpl_toolkits.mplot3d.art3d import Line3D, Poly3DCollection


_DASHES = {"dash": "--"}
_MARKS = {"square": "s", "diamond": "D"}
_INSIDE = (1, 2, 3, 4, 10)  # widths of lines along links
_LIGHT = np.array([0.4, -0.5, 0.77])


def decoded(entry: Trace) -> Array:
    """Numbers of an entry of plotly.js."""
    return np.frombuffer(b64decode(entry["bdata"]), f"<{entry['dtype']}").astype(float)


def _points(trace: Trace) -> Array:
    return np.stack([decoded(trace[axis]) for axis in "xyz"], axis=1)


class Film:
    """A scene on axes of matplotlib.

    Parameters
    ----------
    spec : dict
        Input of plotly.js.
    times : (k,) ndarray or None
        Time of each frame.
    """

    def __init__(self, spec: Trace, times: Array | None) -> None:
        self._spec, self._times = spec, times
        self.figure = pyplot().figure(figsize=(8.0, 6.0))
        with pyplot().rc_context(STYLE):
            self._ax: Axes3D = self.figure.add_axes(
                (0.0, 0.0, 0.88, 0.93), projection="3d", computed_zorder=False
            )
        self._artists = [self._add(trace) for trace in spec["data"]]
        self._clock = self.figure.text(0.02, 0.02, "")
        self.figure.text(0.02, 0.95, spec["layout"]["title"]["text"], fontsize=11)
        self._view(spec["layout"]["scene"])
        self._bar()

    def _view(self, space: Trace) -> None:
        """Axes and eye of the scene."""
        ax = self._ax
        pad = 16 if "projection" in space["camera"] else 4
        for name in "xyz":
            axis = space[f"{name}axis"]
            getattr(ax, f"set_{name}lim")(*axis["range"])
            getattr(ax, f"set_{name}label")(f"{name} (m)", labelpad=pad)
        ax.locator_params(nbins=5)
        box = np.array([space["aspectratio"][name] for name in "xyz"])
        eye = np.array([space["camera"]["eye"][name] for name in "xyz"], dtype=float)
        up = np.array([space["camera"].get("up", {"z": 1}).get(x, 0) for x in "xyz"])
        up = up - up @ eye / (eye @ eye) * eye
        # height in the picture, with room for labels
        tall = np.abs(up) @ box / np.linalg.norm(up) / np.linalg.norm(box)
        ax.set_box_aspect(box, zoom=min(1.0, 0.74 / float(tall)))
        flat = np.hypot(*eye[:2])
        ax.view_init(
            elev=float(np.degrees(np.arctan2(eye[2], flat))),
            azim=float(np.degrees(np.arctan2(eye[1], eye[0]))) if flat else -90.0,
        )
        if "projection" in space["camera"]:
            ax.set_proj_type("ortho")
            (across,) = (x for x in "xyz" if space[f"{x}axis"].get("visible") is False)
            getattr(ax, f"set_{across}ticks")([])
            getattr(ax, f"set_{across}label")("")

    def _bar(self) -> None:
        """Scale of colors of the first surface that has one."""
        for trace in self._spec["data"]:
            if trace.get("showscale"):
                from matplotlib.cm import ScalarMappable
                from matplotlib.colors import Normalize

                colors = ScalarMappable(
                    Normalize(trace["cmin"], trace["cmax"]), "viridis"
                )
                place = self.figure.add_axes((0.89, 0.2, 0.02, 0.6))
                label = trace["colorbar"]["title"]["text"]
                self.figure.colorbar(colors, cax=place, label=label)
                return

    def _add(self, trace: Trace) -> Poly3DCollection | Line3D:
        points = _points(trace)
        if trace["type"] == "mesh3d":
            from mpl_toolkits.mplot3d.art3d import Poly3DCollection

            # above lines inside of links, below paths and axes
            order = 0.5 if "opacity" in trace else 3.0
            solid = Poly3DCollection([], linewidths=0.0, zorder=order)
            solid.set_zsort("average")
            self._ax.add_collection3d(solid)
            self._fill(solid, trace, trace, points)
            return solid
        line, marker = trace.get("line", {}), trace.get("marker")
        inside = line.get("width") in _INSIDE and "opacity" not in trace
        look: Trace = {
            "color": line.get("color", "black"),
            "linewidth": 0.4 * line.get("width", 2),
            "linestyle": _DASHES.get(line.get("dash"), "-"),
            "alpha": trace.get("opacity", 1.0),
            "zorder": 2.0 if inside else 4.0,
        }
        if marker is not None:
            edge = marker.get("line", {}).get("color", marker["color"])
            look = {
                "linestyle": "",
                "marker": _MARKS.get(marker.get("symbol"), "o"),
                "markersize": marker["size"],
                "markerfacecolor": marker["color"],
                "markeredgecolor": edge,
                "zorder": 2.5,
            }
        return self._ax.plot(*points.T, **look)[0]

    def _fill(
        self, solid: Poly3DCollection, first: Trace, now: Trace, points: Array
    ) -> None:
        """Triangles of a surface, shaded by their direction."""
        from matplotlib import colormaps
        from matplotlib.colors import to_rgb

        triangles = np.stack([decoded(first[key]) for key in "ijk"], axis=1).astype(int)
        corners = points[triangles]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        size = np.linalg.norm(normal, axis=1, keepdims=True)
        normal = normal / np.where(size > 0.0, size, 1.0)
        light = np.minimum(0.65 + 0.35 * np.abs(normal @ _LIGHT), 1.0)
        if "intensity" in now:
            value = decoded(now["intensity"])[triangles].mean(axis=1)
            shares = (value - first["cmin"]) / (first["cmax"] - first["cmin"])
            colors = colormaps["viridis"](shares)[:, :3]
        else:
            colors = np.broadcast_to(to_rgb(first["color"]), (len(triangles), 3))
        alpha = np.full((len(triangles), 1), first.get("opacity", 1.0))
        solid.set_verts(corners)
        solid.set_facecolor(np.hstack([colors * light[:, np.newaxis], alpha]))

    def draw(self, frame: int) -> list[Artist]:
        """Show a frame, and return what moved."""
        now = self._spec["frames"][frame]
        moved = []
        for number, part in zip(now["traces"], now["data"], strict=True):
            artist, points = self._artists[number], _points(part)
            first = self._spec["data"][number]
            if first["type"] == "mesh3d":
                self._fill(artist, first, part, points)
                if self._ax.M is not None:  # drawn before
                    artist.do_3d_projection()
            else:
                artist.set_data_3d(*points.T)
            moved.append(artist)
        if self._times is not None:
            self._clock.set_text(f"t = {self._times[frame]:.2f} s")
        return [*moved, self._clock]


def record(
    path: Path, spec: Trace, times: Array | None, fps: float, dpi: float
) -> None:
    """Write a film of a scene, or a picture of its first frame."""
    film = Film(spec, times)
    try:
        if path.suffix == ".png" or not spec["frames"]:
            if spec["frames"]:
                film.draw(0)
            if path.suffix == ".png":
                film.figure.savefig(path, dpi=dpi)
                return
        count = len(spec["frames"])
        draw = film.draw if count else lambda _: [film._clock]
        write_film(path, film.figure, draw, max(count, 1), fps, dpi=dpi)
    finally:
        pyplot().close(film.figure)
