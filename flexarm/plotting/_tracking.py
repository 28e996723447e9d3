"""Controlled arms: motion, errors, commands over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError
from ._histories import _draw
from .canvas import color, finish, make_axes

if TYPE_CHECKING:
    from ..arm import Arm
    from ..control import ControlRun

Array = NDArray[np.float64]

_KINDS = ("motion", "errors", "commands")


def tracking(
    run: ControlRun, kind: str = "motion", *, degrees: bool = False, ax: Any = None
) -> list[Any]:
    """Motion of the joints beside the desired one, its errors, or the commands.

    Parameters
    ----------
    run : ControlRun
        Result of `flexarm.control.ManipulatorController.run`; a batch gives one faint
        line for each member.
    kind : {"motion", "errors", "commands"}
        Sensed joint positions with the desired ones dashed, desired less sensed ones,
        or the held servo commands.  Values of the model take the place of missing
        sensor readings.
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
        If the kind is unknown.

    See Also
    --------
    joints, deflections : histories of the plant, from ``plant.trajectory``.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum()
    >>> motion = fa.control.RestToRest([0.0], [0.5], duration=0.5)
    >>> controller = fa.control.ManipulatorController(arm, motion, [0.0], [0.0])
    >>> plant = fa.control.SimulatedPlant(arm, [0.0], [0.0])
    >>> run = controller.run(plant, np.linspace(0.0, 0.5, 51))
    >>> [line.get_label() for line in fa.plotting.tracking(run, degrees=True)]
    ['rod', 'desired']
    """
    if kind not in _KINDS:
        raise ArgumentError(
            f"kind is {kind!r}, expected one of {', '.join(map(repr, _KINDS))}"
        )
    ax = make_axes(ax)

    # commands
    if kind == "commands":
        lines = _draw(ax, run.t, run.command, _command_names(run))
        for line in lines:
            line.set_drawstyle("steps-post")
        plain = np.array_equal(run.command, run.tau, equal_nan=True)
        unit = " (N m)" * all(_angular(run.arm)) if plain else ""
        finish(ax, "time (s)", f"servo command{unit}", legend=True)
        return lines

    # errors, of the sensors where there are readings
    sensed = bool(np.isfinite(run.sensed_q).any())
    angular = _angular(run.arm)
    unit = _unit(angular, degrees)
    if kind == "errors":
        errors = np.array(run.tracking_error if sensed else run.position_error)
        lines = _draw(ax, run.t, _scaled(errors, angular, degrees), _names(run, errors))
        finish(ax, "time (s)", f"joint error ({unit})", legend=True)
        return lines

    # motion beside the desired one
    found = run.sensed_q if sensed else run.q[..., : run.desired_q.shape[-1]]
    values = _scaled(np.array(found), angular, degrees)
    lines = _draw(ax, run.t, values, _names(run, values))
    wanted = _scaled(np.array(run.desired_q), angular, degrees)
    for k in range(wanted.shape[-1]):
        for i, member in enumerate(wanted.reshape(-1, *wanted.shape[-2:])):
            lines += ax.plot(
                run.t,
                member[:, k],
                "--",
                color=color(6),
                linewidth=0.9,
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


def _names(run: ControlRun, values: Array) -> list[str]:
    """Names of the columns: joints, or numbers where a joint has more positions."""
    names = [body.name for body in run.arm.bodies for _ in range(body.joint.n_dof)]
    width = values.shape[-1]
    return names if width == len(names) else [f"q[{i}]" for i in range(width)]


def _command_names(run: ControlRun) -> list[str]:
    width = run.command.shape[-1]
    if width == run.arm.nu:
        return _names(run, run.command)
    return [f"command {i + 1}" for i in range(width)]
