"""Tracking of a controlled arm: motion, errors, commands over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np

from .._calls.declared import Choice
from .._calls.doors import checked
from .._support.arrays import Array
from ..errors import ArgumentError
from ._histories import _draw
from .canvas import THIN, color, finish, make_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ..arm import Arm
    from ..control import LoopRun


_KINDS = ("motion", "errors", "commands")


@checked
def tracking(
    run: LoopRun,
    kind: Annotated[str, Choice(*_KINDS)] = "motion",
    *,
    degrees: bool = False,
    ax: Axes | None = None,
) -> list[Line2D]:
    """Motion of the joints beside the desired one, its errors, or the commands.

    Parameters
    ----------
    run : LoopRun
        Result of `flexarm.reference.patent_loop.ManipulatorController.run`, or of
        `flexarm.control.simulate_loop` for its commands; a batch gives one faint line
        for each member.
    kind : {"motion", "errors", "commands"}
        Measured joint positions with the desired ones dashed, desired less measured
        ones, or the commands as they are held.  Positions of the model stand in for
        those that no sensor measured.
    degrees : bool
        Draw angles in degrees instead of rad.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    lines : list of matplotlib.lines.Line2D
        Joint by joint, for each all members of the batch; desired ones at the end.

    Raises
    ------
    ArgumentError
        If the kind is unknown, or the run has no desired motion.

    See Also
    --------
    joints, deflections : histories of the plant, from ``plant.trajectory``.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> from flexarm.reference import patent_loop
    >>> arm = fa.library.pendulum()
    >>> motion = fa.control.RestToRest([0.0], [0.5], duration=0.5)
    >>> controller = patent_loop.ManipulatorController(arm, motion, [0.0], [0.0])
    >>> plant = patent_loop.SimulatedPlant(arm, [0.0], [0.0])
    >>> run = controller.run(plant, np.linspace(0.0, 0.5, 51))
    >>> [line.get_label() for line in fa.plotting.tracking(run, degrees=True)]
    ['rod', 'desired']
    """
    compared, t = run.comparison, run.sample_times
    if kind != "commands" and compared is None:
        raise ArgumentError(
            f"kind is {kind!r} and the run has no desired motion, expected kind "
            "'commands', or a run of a ManipulatorController"
        )
    ax = make_axes(ax)
    if kind == "commands" or compared is None:
        lines = _draw(ax, t, run.command, _command_names(run))
        for line in lines:
            line.set_drawstyle("steps-post")
        plain = compared is None or np.array_equal(run.command, run.u, equal_nan=True)
        unit = " (N m)" * all(_angular(run.arm)) if plain else ""
        finish(ax, "time (s)", f"servo command{unit}", legend=True)
        return lines

    # the sensors where there are readings, else the model
    desired = compared.desired.q
    measured = run.y[..., : desired.shape[-1]]
    is_measured = bool(np.isfinite(measured).any())
    angular = _angular(run.arm)
    unit = _unit(angular, degrees)
    if kind == "errors":
        errors = run.tracking_error if is_measured else compared.position_error
        errors = _scaled(np.array(errors), angular, degrees)
        lines = _draw(ax, t, errors, _names(run, errors))
        finish(ax, "time (s)", f"joint error ({unit})", legend=True)
        return lines
    found = measured if is_measured else compared.q[..., : desired.shape[-1]]
    values = _scaled(np.array(found), angular, degrees)
    lines = _draw(ax, t, values, _names(run, values))
    wanted = _scaled(np.array(desired), angular, degrees)
    for k in range(wanted.shape[-1]):
        for i, member in enumerate(wanted.reshape(-1, *wanted.shape[-2:])):
            lines += ax.plot(
                t,
                member[:, k],
                "--",
                color=color(6),
                linewidth=THIN,
                label="desired" if i == k == 0 else None,
            )
    finish(ax, "time (s)", f"joint position ({unit})", legend=True)
    return lines


def _angular(arm: Arm) -> list[bool]:
    """True for each joint coordinate that is an angle."""
    return [
        b.joint.kind != "prismatic" for b in arm.bodies for _ in range(b.joint.n_dof)
    ]


def _unit(angular: list[bool], degrees: bool) -> str:
    units = ["deg" if degrees else "rad"] * any(angular) + ["m"] * (not all(angular))
    return " or ".join(units)


def _scaled(values: Array, angular: list[bool], degrees: bool) -> Array:
    if degrees and values.shape[-1] == len(angular):
        values[..., angular] = np.degrees(values[..., angular])
    return values


def _names(run: LoopRun, values: Array) -> list[str]:
    """Names of the columns: joints, or numbers where a joint has more positions."""
    names = [body.name for body in run.arm.bodies for _ in range(body.joint.n_dof)]
    width = values.shape[-1]
    return names if width == len(names) else [f"q[{i}]" for i in range(width)]


def _command_names(run: LoopRun) -> list[str]:
    width = run.command.shape[-1]
    if width == run.arm.nu:
        return list(run.arm._actuator_names)
    return [f"command {i + 1}" for i in range(width)]
