"""Frames of a moving figure, with a still background, and files of them.

matplotlib draws a whole figure for each frame, twice where it writes a file: 0.1 s a
frame, nearly all of it for axes, grid and labels that do not change.  Here these are
drawn once and copied under the moving artists, and frames have 64 colors: a tenth of
the time and a third of the size.  The player is a page of its own; that of matplotlib
needs a network for its buttons.
"""

from __future__ import annotations

import shutil
import uuid
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from PIL.Image import Image

# colors (height, width, 3) of a picture
Pixels: TypeAlias = np.ndarray

# Colours of a frame, enough for thin lines on white.
COLORS = 64

_PLAYER = """<div id="{id}" style="max-width: {width}px">
<img alt="animation" style="width: 100%" src="data:image/png;base64,{first}">
<div style="display: flex; gap: 0.5em">
<button type="button">pause</button>
<input type="range" min="0" max="{last}" value="0" style="flex: 1"
 aria-label="frame"></div>
<script>(() => {{
const frames = {frames};
const box = document.getElementById("{id}");
const [image, button, slider] = ["img", "button", "input"].map(
  (tag) => box.querySelector(tag));
let timer = null;
const show = (k) => {{
  slider.value = k;
  image.src = "data:image/png;base64," + frames[k];
}};
const stop = () => {{
  clearInterval(timer);
  timer = null;
  button.innerHTML = "play";
}};
const play = () => {{
  timer = setInterval(
    () => show((Number(slider.value) + 1) % frames.length), {interval});
  button.innerHTML = "pause";
}};
button.onclick = () => (timer === null ? play() : stop());
slider.oninput = () => {{ stop(); show(Number(slider.value)); }};
play();
}})();</script></div>
"""


def freeze_layout(figure: Figure) -> None:
    """Lay a figure out once, so that its axes do not shake from frame to frame."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


class Stage:
    """A figure on which only some artists move: all others are drawn once.

    Parameters
    ----------
    figure : matplotlib figure
        Its canvas and resolution are those of the stage until `leave`.
    moving : list of matplotlib artists
        Artists that move.
    dpi : float, optional
        Resolution; by default that of the figure.
    """

    def __init__(
        self, figure: Figure, moving: Sequence[Artist], dpi: float | None = None
    ) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self._figure, self._moving = figure, moving
        self._before = figure.canvas, figure.dpi
        freeze_layout(figure)
        self._canvas: Any = FigureCanvasAgg(figure)
        figure.set_dpi(dpi or figure.dpi)
        self.build()

    def build(self) -> None:
        """Draw the still background, again after a change of it."""
        for each in self._moving:
            each.set_animated(True)  # left out of the ground
        self._canvas.draw()
        self._ground = self._canvas.copy_from_bbox(self._figure.bbox)

    def pixels(self) -> Pixels:
        """Colors (height, width, 3) of the figure as it is now."""
        self._canvas.restore_region(self._ground)
        for each in sorted(self._moving, key=lambda each: float(each.get_zorder())):
            self._figure.draw_artist(each)
        return np.array(self._canvas.buffer_rgba())[..., :3]

    def leave(self) -> None:
        """Restore the canvas and resolution of the figure."""
        for each in self._moving:
            each.set_animated(False)
        canvas, dpi = self._before
        self._figure.set_dpi(dpi)
        self._figure.set_canvas(canvas)


def pictures(
    figure: Figure,
    draw: Callable[[int], Sequence[Artist]],
    count: int,
    dpi: float | None = None,
) -> Iterator[Image]:
    """Frames as images of Pillow; `draw` shows a frame and returns moved artists."""
    # the last one, with whole traces, has the colors of all
    stage = Stage(figure, draw(count - 1), dpi)
    try:
        palette = Palette(stage.pixels())
        for k in range(count):
            draw(k)
            yield palette.picture(stage.pixels())
    finally:
        stage.leave()


class Palette:
    """Few colors for all frames of a figure, its ground exactly among them."""

    def __init__(self, pixels: Pixels) -> None:
        from PIL import Image as images

        few = images.fromarray(pixels).quantize(COLORS, images.Quantize.MEDIANCUT)
        colors = np.array((few.getpalette() or [])[: 3 * COLORS]).reshape(-1, 3)
        # nearest of them to the middle of each box of 8 x 8 x 8 values
        steps = np.arange(32) * 8 + 4
        box = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), -1)
        squares = box.reshape(-1, 1, 3) - colors
        self._nearest = np.einsum("nki,nki->nk", squares, squares).argmin(1)
        colors[self._nearest[self._codes(pixels[0, 0])]] = pixels[0, 0]
        self._colors = colors.astype(np.uint8).tobytes()

    def _codes(self, pixels: Pixels) -> Pixels:
        return (pixels.astype(np.intp) >> 3) @ (1024, 32, 1)

    def picture(self, pixels: Pixels) -> Image:
        """Return a frame (height, width, 3) as an image in these colors."""
        from PIL import Image as images

        indices = self._nearest[self._codes(pixels)].astype(np.uint8)
        result = images.fromarray(indices)
        result.putpalette(self._colors)
        return result


def page(
    figure: Figure,
    draw: Callable[[int], Sequence[Artist]],
    count: int,
    fps: float,
    *,
    dpi: float | None = None,
) -> str:
    """HTML element with all frames and a player."""
    coded, width = [], 0
    for picture in pictures(figure, draw, count, dpi):
        width, stream = picture.width, BytesIO()
        picture.save(stream, "png")
        coded.append(b64encode(stream.getvalue()).decode("ascii"))
    return _PLAYER.format(
        id=f"a{uuid.uuid4().hex}",
        width=width,
        first=coded[0],
        last=count - 1,
        frames=coded,
        interval=round(1000.0 / fps),
    )


def ffmpeg() -> str:
    """Program that writes videos: of the system, or of the package imageio-ffmpeg."""
    from matplotlib import rcParams

    program = shutil.which(rcParams["animation.ffmpeg_path"])
    if program is not None:
        return str(program)
    try:
        return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise ArgumentError(
            ".mp4 files need ffmpeg, which is missing; install it, or the package "
            "imageio-ffmpeg, or save a .gif"
        ) from None


def write_film(
    path: Path,
    figure: Figure,
    draw: Callable[[int], Sequence[Artist]],
    count: int,
    fps: float,
    *,
    dpi: float,
) -> None:
    """Write all frames as a page, a GIF that repeats, or a video (H.264)."""
    if path.suffix == ".html":
        html = page(figure, draw, count, fps, dpi=dpi)
        path.write_text(html, encoding="utf-8")
        return
    if path.suffix == ".gif":
        first, *rest = pictures(figure, draw, count, dpi)
        duration = round(1000.0 / fps)
        first.save(path, save_all=True, append_images=rest, duration=duration, loop=0)
        return
    from matplotlib import rc_context
    from matplotlib.animation import FFMpegWriter

    writer: Any = FFMpegWriter
    with rc_context({"animation.ffmpeg_path": ffmpeg()}):
        freeze_layout(figure)
        film = writer(fps=fps, extra_args=["-pix_fmt", "yuv420p"])
        with film.saving(figure, str(path), dpi):
            for k in range(count):
                draw(k)
                film.grab_frame()
