"""Sliders on the pose, the modes and the payload of an arm, in a notebook."""

from __future__ import annotations

import asyncio
import time
from io import BytesIO
from typing import TYPE_CHECKING, Annotated, NoReturn

import numpy as np

from .. import vibration
from .._calls.arguments import check_numbers, real_array
from .._calls.declared import Number, Positive, Posture
from .._calls.doors import checked, checked_class
from .._calls.units import position_units
from .._support.arrays import Array
from .._support.optional import required
from ..arm import Arm
from ..bodies import Joint, RigidBody
from ..errors import ArgumentError, FlexarmError
from ..model import motor_positions
from ._drawing import ArmDrawing
from ._frames import Palette, Stage
from ._skeleton import bends, find_shapes, magnify
from .canvas import Plane, pyplot

if TYPE_CHECKING:
    from ipywidgets import Box, FloatSlider


# Time in s between pictures while a slider moves.
_PAUSE = 0.05
# Step of a slider at most, whose powers of ten do not overflow.
MAX_STEP = 1e100
# Deflection at the end of a slider, as part of the length of the body.
_BEND = 0.1
# Angle in rad at the end of a slider of modes that only turn.
_TURN = 0.3
# Frequencies that are shown.
_FREQUENCIES = 8
# Steps of a slider at most.
_MAX_STEPS = 400


@checked_class
class Explorer:
    """Sliders and the drawing that they move, made by `interact`.

    Sliders are set from programs as well: ``explorer.sliders["link1"].value = 0.5``.

    Attributes
    ----------
    sliders : dict of str to ipywidgets.FloatSlider
        By the names of `Arm.position_names`, and ``"payload"``, ``"scale"``,
        ``"azimuth"`` and ``"elevation"``.
    picture : ipywidgets.Image
        The drawing, PNG.
    text : ipywidgets.HTML
        Frequencies and the position of the tip.
    widget : ipywidgets.Box
        Sliders, picture and text.
    drawing : ArmDrawing
        The drawing; ``drawing.ax`` may be changed before the first slider moves.
    redraws : int
        Number of pictures.
    """

    def __reduce__(self) -> NoReturn:
        raise ArgumentError(
            "an Explorer is a figure with sliders, which is not copied or pickled; "
            "expected its arm and q"
        )

    def __init__(
        self, arm: Arm, q: Array, payload: float, scale: float, plane: str | None
    ) -> None:
        self._widgets = required("ipywidgets", "interact", extra="notebook")
        self._bare, self._loaded = arm, (0.0, arm)
        self._q, self._limits = q, slider_limits(arm, q)
        self.redraws, self._latest, self._waiting = 0, -np.inf, False
        self.sliders = self._make_sliders(payload, scale)
        self.drawing = self._make_drawing(scale, plane)
        if self.drawing.plane == "3d":
            self.sliders["azimuth"] = self._slider("azimuth (deg)", -60, -180, 180)
            self.sliders["elevation"] = self._slider("elevation (deg)", 30, -90, 90)
        moving = [*self.drawing.lines[0].values(), self._title]
        self._stage = Stage(self.drawing.ax.figure, moving)
        self._palette = Palette(self._stage.pixels())
        self.picture = self._widgets.Image(format="png")
        self.text = self._widgets.HTML()
        for name, slider in self.sliders.items():
            look = name in ("azimuth", "elevation")
            slider.observe(self._turned if look else self._changed, "value")
        self.widget = self._arrange()
        self.redraw()

    def __repr__(self) -> str:
        return f"<Explorer of {self._bare.name!r}: {len(self.sliders)} sliders>"

    @property
    def q(self) -> Array:
        """(nq,) positions of the sliders, in rad, m and modal units."""
        q = self._q.copy()
        for i, name in enumerate(self._bare.position_names):
            if name in self.sliders:
                q[i] = self._value(name, q[i])
        return np.asarray(motor_positions(self._bare, q))

    @property
    def arm(self) -> Arm:
        """The arm with the payload of the slider, a body ``"payload"`` at its tip."""
        mass = self.sliders["payload"].value if "payload" in self.sliders else 0.0
        if self._loaded[0] != mass:
            self._loaded = (mass, with_payload(self._bare, mass))
        return self._loaded[1]

    @property
    def frequencies(self) -> Array:
        """(n,) natural frequencies in Hz at the pose, motors and joints held.

        Those of growing motions are negative.
        """
        return np.asarray(
            vibration.natural_frequencies(self.arm, self.q, held="motors")
        )

    def _value(self, name: str, start: float) -> float:
        """Value of a slider, without the rounding of its steps by browsers."""
        slider = self.sliders[name]
        near = start + round((slider.value - start) / slider.step) * slider.step
        return float(near if abs(near - slider.value) < 1e-9 else slider.value)

    def redraw(self) -> None:
        """Make picture and text for the present sliders."""
        q, scale = self.q, self.sliders["scale"].value if "scale" in self.sliders else 1
        self.drawing.show(find_shapes(self._bare, magnify(self._bare, q[None], scale)))
        self._title.set_text(self._heading(scale))
        stream = BytesIO()
        picture = self._palette.picture(self._stage.pixels())
        picture.save(stream, "png", compress_level=3)
        self.picture.value = stream.getvalue()
        self.text.value = self._described(q)
        self.redraws += 1
        self._latest = time.monotonic()

    def _repr_mimebundle_(self, **options: object) -> object:
        return self.widget._repr_mimebundle_(**options)

    def _changed(self, change: object) -> None:
        """Redraw now or, in a notebook, at most every twentieth of a second."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.redraw()
            return
        if not self._waiting:
            self._waiting = True
            wait = self._latest + _PAUSE - time.monotonic()
            loop.call_later(max(wait, 0.0), self._catch_up)

    def _catch_up(self) -> None:
        self._waiting = False
        self.redraw()

    def _turned(self, change: object) -> None:
        """Draw axes and grid again, from another direction."""
        self.drawing.ax.view_init(
            self.sliders["elevation"].value, self.sliders["azimuth"].value
        )
        self._stage.build()
        self._changed(change)

    def _arrange(self) -> Box:
        """Sliders beside the picture, those of many modes folded away."""
        box, arm = self._widgets.VBox, self._bare
        names = set(arm.position_names[arm.motor_position_slice.stop :])
        modes = [slider for name, slider in self.sliders.items() if name in names]
        left = [slider for name, slider in self.sliders.items() if name not in names]
        if modes:
            fold = self._widgets.Accordion([box(modes)], titles=("modes",))
            fold.selected_index = 0 if len(modes) <= 6 else None
            left.append(fold)
        # in a narrow window the picture stands below the sliders
        return self._widgets.HBox(
            [
                box(left, layout={"flex": "0 0 29em"}),
                box([self.picture, self.text], layout={"flex": "1 1 24em"}),
            ],
            layout={"flex_flow": "row wrap"},
        )

    def _heading(self, scale: float) -> str:
        if "scale" not in self.sliders:
            return self._bare.name
        large = "to scale" if scale == 1.0 else f"{scale:g} times as large"
        return f"{self._bare.name}, deflections {large}"

    def _described(self, q: Array) -> str:
        tip = ", ".join(f"{x:.4g}" for x in self.arm.tip_pose(q)[:3, 3].round(9) + 0.0)
        lines = [f"tip at {tip} m"]
        if "scale" in self.sliders:
            try:
                f = self.frequencies
                more = ", ..." if len(f) > _FREQUENCIES else ""
                shown = ", ".join(f"{x:.4g}" for x in f[:_FREQUENCIES])
                lines.append(f"frequencies, motors held: {shown}{more} Hz")
            except FlexarmError as error:
                lines.append(f"no frequencies: {error}")
        return "<br>".join(lines)

    def _slider(self, text: str, value: float, low: float, high: float) -> FloatSlider:
        step = round_step((high - low) / _MAX_STEPS)
        return self._widgets.FloatSlider(
            value=value,
            # a browser moves values to steps from the minimum: the start is one
            min=value - np.floor((value - low) / step + 1e-9) * step,
            max=high,
            step=step,
            description=text,
            tooltip=text,
            readout_format=f".{max(0, -int(np.floor(np.log10(step))))}f",
            style={"description_width": "10em"},
            layout={"width": "auto"},
        )

    def _make_sliders(self, payload: float, scale: float) -> dict[str, FloatSlider]:
        arm, sliders = self._bare, {}
        for i, (name, unit) in enumerate(
            zip(arm.position_names, position_units(arm), strict=True)
        ):
            low, high = self._limits[:, i]
            if low < high:
                text = f"{name} ({unit})" if unit else name
                sliders[name] = self._slider(text, self._q[i], low, high)
        if payload > 0.0:
            sliders["payload"] = self._slider("payload (kg)", 0.0, 0.0, payload)
        if bends(arm):
            most = max(20.0, 2.0 * scale)
            sliders["scale"] = self._slider("deflections times", scale, 0.0, most)
        return sliders

    def _make_drawing(self, scale: float, plane: str | None) -> ArmDrawing:
        """Drawing whose axes hold all places that the sliders reach."""
        arm, rng = self._bare, np.random.default_rng(1991)
        low, high = self._limits
        q = np.where(low < high, rng.uniform(low, high, (200, arm.nq)), self._q)
        q = magnify(arm, q, max(scale, 1.0))
        reach = np.concatenate([shape.points() for shape in find_shapes(arm, q)])
        drawing = ArmDrawing(arm, self._q, scale, plane, None, reach)
        drawing.fit(reach)
        pyplot().close(drawing.ax.figure)  # or a notebook shows it once more
        # before the layout, which leaves room for it
        text = self._heading(scale)
        self._title = drawing.ax.set_title(text, loc="left", fontsize="medium")
        return drawing


def slider_limits(arm: Arm, q: Array) -> Array:
    """Ends of the sliders (2, nq); equal for motors and quaternions, which have none.

    Those of the joints, or a turn, or the size of the arm; modes bend a tenth of the
    length of their body.
    """
    limits = np.array([q, q])
    size = max(float(np.abs(b.node_position).max()) for b in arm.bodies) or 1.0
    for k, body in enumerate(arm.bodies):
        at = arm.body_joint_slice(k, positions=True)
        if not body.joint.has_pose:
            turns = body.joint.screws[:3].any(axis=0)
            span = np.where(turns, np.pi, size)
            given = arm.joint_limits[:, at]
            limits[:, at] = np.where(np.isfinite(given), given, [-span, span])
        if body.n_modes:
            length = float(np.linalg.norm(body.node_position, axis=1).max()) or size
            move = np.abs(body.node_translation).max(axis=(0, 1))
            turn = np.abs(body.node_rotation).max(axis=(0, 1))
            part = np.maximum(move / (_BEND * length), turn / _TURN)
            span = 1.0 / np.maximum(part, 1e-9)
            limits[:, arm.mode_slice(k, positions=True)] = [-span, span]
    return np.array([np.minimum(limits[0], q), np.maximum(limits[1], q)])


def round_step(minimum: float) -> float:
    """Return the first number from `minimum` that is 1, 2 or 5 times a power of ten."""
    if not 0.0 < minimum < MAX_STEP:
        raise ArgumentError(
            f"the sliders of the arm would span {minimum:g}, expected sizes, masses "
            "and a scale of a robot"
        )
    power = 10.0 ** np.floor(np.log10(minimum))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power > 0.999 * minimum))


def with_payload(arm: Arm, mass: float) -> Arm:
    """The arm with a point mass in kg at its tip."""
    if mass == 0.0:
        return arm
    body, node = arm.tip
    name = "payload" if "payload" not in {b.name for b in arm.bodies} else "_payload"
    joint = Joint("fixed", parent=arm.bodies[arm.body_index(body)].name, node=node)
    load = RigidBody(name, joint, mass=mass)
    return arm.replace(bodies=[*arm.bodies, load], tip=arm.tip)  # type: ignore[no-any-return]


@checked
def interact(
    arm: Arm,
    q: Posture | None = None,
    *,
    payload: Annotated[float, Number(least=0.0)] = 5.0,
    scale: Positive = 1.0,
    plane: Plane | None = None,
) -> Explorer:
    """Sliders on pose, modes and payload, with the drawing and the frequencies.

    Parameters
    ----------
    arm : Arm
        Arm, a tree.
    q : (nq,) array_like of float, optional
        Start of the sliders, in rad, m and modal units; by default ``arm.neutral``.
    payload : float
        Largest additional mass at the tip, in kg; 0 for no slider.
    scale : float
        Factor of the deflections at the start.
    plane : {"xy", "xz", "yz", "3d"}, optional
        Plane of the drawing; by default that of the arm, or three dimensions.

    Returns
    -------
    explorer : Explorer
        The last expression of a cell shows it; its sliders can be set without a browser
        as well.

    Raises
    ------
    ArgumentError
        If `q` is not one pose, or the arm has loops.
    ImportError
        If ipywidgets or matplotlib is missing.

    Notes
    -----
    The frequencies are those of small motions about the pose with motors, and joints
    without one, held; gravity counts, see `flexarm.natural_frequencies`.  Motors follow
    their joints, positions with quaternions stay as given.  A picture takes some 20 ms;
    while a slider moves there are at most twenty a second.

    Examples
    --------
    >>> import flexarm as fa
    >>> explorer = fa.plotting.interact(fa.library.de_luca_siciliano(), payload=0.5)
    >>> explorer.sliders["payload"].value = 0.2
    >>> explorer.sliders["link2"].value = 1.5
    >>> explorer.frequencies.round(2)
    array([ ...])
    """
    if arm._held:
        raise ArgumentError(
            f"arm has {len(arm._held)} constraints, which sliders would violate, "
            "expected a tree"
        )
    start = arm.neutral if q is None else np.array(real_array("q", q))
    check_numbers("q", start)
    return Explorer(arm, start, float(payload), float(scale), plane)
