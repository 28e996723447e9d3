"""Histories over time: joints, deflections, tip, energies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np

from .._calls.declared import Choice
from .._calls.doors import checked
from .._calls.links import link_name
from .._support.arrays import Array
from ..bodies.segments import tip_motion
from ..errors import ArgumentError
from .canvas import color, finish, make_axes, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from ..bodies import Joint
    from ..simulation import Trajectory


def _draw(ax: Axes, t: Array, values: Array, names: Sequence[str]) -> list[Line2D]:
    """One line for each column of values (..., n, k), faint ones for a batch."""
    members = values.reshape(-1, *values.shape[-2:])
    alpha = max(0.15, len(members) ** -0.5)
    lines = []
    for k, name in enumerate(names):
        for i, member in enumerate(members):
            lines += ax.plot(
                t,
                member[:, k],
                style(k),
                color=color(k),
                alpha=alpha,
                label=name if i == 0 else None,
            )
    return lines


@checked
def joints(
    traj: Trajectory,
    *,
    rates: bool = False,
    degrees: bool = False,
    ax: Axes | None = None,
) -> list[Line2D]:
    """Positions or velocities of the joints over time.

    Parameters
    ----------
    traj : Trajectory
        Result of `flexarm.simulate`; a batch gives one faint line for each member.
    rates : bool
        Draw the velocities instead.
    degrees : bool
        Draw angles in degrees instead of rad.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    lines : list of matplotlib.lines.Line2D
        Coordinate by coordinate, for each all members of the batch.

    See Also
    --------
    deflections : the elastic coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> start = [0.0, 0.0, 0.0, 0.0, 0.1, 0.002]
    >>> traj = fa.simulate(arm, start, np.zeros(6), np.linspace(0.0, 0.2, 201))
    >>> [line.get_label() for line in fa.plotting.joints(traj, degrees=True)]
    ['link1', 'link2']
    """
    arm = traj.arm
    ax = make_axes(ax)
    if rates:
        values, names = traj.qd[..., arm.joint_slice], list(arm.coordinate_names)
    else:
        values, names = traj.q[..., arm.joint_position_slice], list(arm.position_names)
    units = [unit for body in arm.bodies for unit in _units(body.joint, rates)]
    names = names[: len(units)]
    if degrees:
        angular = [unit == "rad" for unit in units]
        values = np.array(values)
        values[..., angular] = np.degrees(values[..., angular])
        units = ["deg" if unit == "rad" else unit for unit in units]
    per_second = "/s" if rates else ""
    if len(set(units)) > 1:
        names = [
            f"{name} ({unit}{per_second})" if unit else name
            for name, unit in zip(names, units, strict=True)
        ]
    lines = _draw(ax, traj.t, values, names)
    finish(ax, "time (s)", _joint_label(set(units), per_second), legend=True)
    return lines


def _units(joint: Joint, rates: bool) -> list[str]:
    """Units of the positions of a joint, or of the integrals of its velocities."""
    if joint.has_pose and not rates:
        return [""] * 4 + ["m"] * (joint.n_positions - 4)  # a quaternion has none
    return ["rad" if turn.any() else "m" for turn in joint.screws[:3].T]


def _joint_label(units: set[str], per_second: str) -> str:
    """Label of an axis with quantities of the given units."""
    what = "coordinate"
    if len(units) == 1:
        what = {"m": "position", "": "coordinate"}.get(next(iter(units)), "angle")
    if per_second:
        what += " rate"
    found = [f"{unit}{per_second}" for unit in ("rad", "deg", "m") if unit in units]
    return f"joint {what}" + (f" ({' or '.join(found)})" if found else "")


@checked
def deflections(
    traj: Trajectory,
    bodies: str | Sequence[str] | None = None,
    *,
    modes: bool = False,
    ax: Axes | None = None,
) -> list[Line2D]:
    """Elastic deflections over time.

    Parameters
    ----------
    traj : Trajectory
        Result of `flexarm.simulate`; a batch gives one faint line for each member.
    bodies : str or sequence of str, optional
        Names of bodies; by default all flexible ones.
    modes : bool
        Draw the modal coordinates instead of the displacement of the last node.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    lines : list of matplotlib.lines.Line2D
        Component by component, for each all members of the batch.

    Raises
    ------
    ArgumentError
        If no chosen body is flexible.

    Notes
    -----
    The displacement of the tip is that relative to the undeformed body, in the
    frame of the body, ``node_translation[-1] @ eta``; components that no mode moves
    are left out.  That of a link in pieces is seen from its base; components that do
    not change are left out.  Modal coordinates have the unit of their normalization.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> start = [0.0, 0.0, 0.0, 0.0, 0.1, 0.002]
    >>> traj = fa.simulate(arm, start, np.zeros(6), np.linspace(0.0, 0.2, 201))
    >>> [line.get_label() for line in fa.plotting.deflections(traj)]
    ['link1 y', 'link2 y']
    >>> lines = fa.plotting.deflections(traj, "link2", modes=True)
    >>> [line.get_label() for line in lines]
    ['link2.bending y 1', 'link2.bending y 2']
    """
    # flexible bodies among the chosen ones
    arm = traj.arm
    if isinstance(bodies, str):
        bodies = [bodies]
    links = [arm._bodies_of(b) for b in bodies] if bodies else list(arm._links)
    chosen = [link for link in dict.fromkeys(links) if arm.bodies[link[0]].n_modes]
    if not chosen:
        raise ArgumentError(
            f"arm {arm.name!r} has no modes in the chosen bodies, expected at least "
            "one flexible body; plot the joints instead"
        )

    # modal coordinates, or the components of the tip that modes move
    ax = make_axes(ax)
    columns, names = [], []
    for link in chosen:
        body = arm.bodies[link[0]]
        first, last = (arm.mode_slice(k, positions=True) for k in (link[0], link[-1]))
        eta = traj.q[..., first.start : last.stop]
        if modes:
            columns.append(eta)
            names += [
                f"{link_name(body)}.{mode}"
                for k in link
                for mode in arm.bodies[k].mode_names
            ]
            continue
        if len(link) > 1:
            moves, axes = _tip_of_pieces(traj, link)
            columns.append(moves)
            names += [f"{link_name(body)} {axis}" for axis in axes]
            continue
        shapes = body.node_translation[-1]
        moved = [i for i in range(3) if np.any(shapes[i] != 0.0)]
        columns.append(eta @ shapes[moved].T)
        names += [f"{body.name} {'xyz'[i]}" for i in moved]
    lines = _draw(ax, traj.t, np.concatenate(columns, axis=-1), names)
    label = "modal coordinate (own unit)" if modes else "tip deflection (m)"
    finish(ax, "time (s)", label, legend=True)
    return lines


def _tip_of_pieces(traj: Trajectory, link: range) -> tuple[Array, str]:
    """Displacements of the last node of a link that change, and their axes."""
    arm = traj.arm
    base, end = arm.node_slice(link[0]).start, arm.node_slice(link[-1]).stop - 1
    poses = arm.kernels.quiet("node_pose")  # NaN where a run has failed
    from_, to = (poses(node, traj.q) for node in (base, end))
    way = to[..., :3, 3] - from_[..., :3, 3]
    straight, _ = tip_motion([arm.bodies[k] for k in link])
    seen = np.einsum("...ji,...j->...i", from_[..., :3, :3], way)
    moved = seen - (straight - arm.bodies[link[0]].node_position[0])
    size = np.nan_to_num(np.abs(moved)).reshape(-1, 3).max(axis=0)
    axes = [i for i in range(3) if size[i] > 1e-9 * size.max()] or [1]
    return moved[..., axes], "".join("xyz"[i] for i in axes)


@checked
def tip(
    traj: Trajectory,
    *,
    plane: Annotated[str, Choice("xy", "xz", "yz")] | None = None,
    ax: Axes | None = None,
) -> list[Line2D]:
    """Position of the tip over time, or its path in a plane.

    Parameters
    ----------
    traj : Trajectory
        Result of `flexarm.simulate`; a batch gives one faint line for each member.
    plane : {"xy", "xz", "yz"}, optional
        Draw the path in this plane of the base frame, with a dot at its end.  By
        default each component over time; components that stay constant are left out.
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    lines : list of matplotlib.lines.Line2D
        Components, or paths followed by the dots.

    Raises
    ------
    ArgumentError
        If `plane` is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> start = [0.0, 0.0, 0.0, 0.0, 0.1, 0.002]
    >>> traj = fa.simulate(arm, start, np.zeros(6), np.linspace(0.0, 0.2, 201))
    >>> [line.get_label() for line in fa.plotting.tip(traj)]
    ['x', 'y']
    >>> path, end = fa.plotting.tip(traj, plane="xy")
    """
    if plane is not None:
        return _tip_path(traj, plane, ax)
    ax = make_axes(ax)
    position = traj.tip
    spread = np.nanmax(position, axis=-2) - np.nanmin(position, axis=-2)
    widest = spread.reshape(-1, 3).max(axis=0)
    moved = [i for i in range(3) if widest[i] > 1e-9 * max(widest.max(), 1e-300)]
    moved = moved or [0, 1, 2]
    lines = _draw(ax, traj.t, position[..., moved], ["xyz"[i] for i in moved])
    finish(ax, "time (s)", "tip position (m)", legend=True)
    return lines


def _tip_path(traj: Trajectory, plane: str, ax: Axes | None) -> list[Line2D]:
    first, second = plane_axes(plane)
    ax = make_axes(ax, (4.8, 4.8))
    paths = traj.tip[..., [first, second]].reshape(-1, len(traj.t), 2)
    lines: list[Line2D] = []
    dots: list[Line2D] = []
    for i, path in enumerate(paths):
        lines += ax.plot(*path.T, color=color(i))
        dots += ax.plot(*path[-1], "o", color=color(i), markersize=5)
    ax.set_aspect("equal", adjustable="datalim")
    finish(ax, f"tip {plane[0]} (m)", f"tip {plane[1]} (m)")
    return lines + dots


def plane_axes(plane: str) -> tuple[int, int]:
    """Numbers of the two axes of a plane such as ``"xz"``."""
    return "xyz".index(plane[0]), "xyz".index(plane[1])


@checked
def energies(
    traj: Trajectory,
    *,
    ledger: bool = False,
    hold: bool = False,
    ax: Axes | None = None,
) -> list[Line2D]:
    r"""Energies over time.

    Parameters
    ----------
    traj : Trajectory
        Result of `flexarm.simulate`; a batch gives one faint line for each member.
    ledger : bool
        Draw also the work of the torques, the losses in joints and modes, and the
        imbalance.
    hold : bool
        For the ledger: each torque was held until the next sample
        (``interpolation="hold"`` of `flexarm.simulate`).
    ax : matplotlib axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    lines : list of matplotlib.lines.Line2D
        Kinetic, potential and total energy; then work, losses and balance.

    Notes
    -----
    With power :math:`P` of the torques and losses :math:`L` of the friction,

    .. math::
       \int P\,dt = \int \dot q^T \tau\,dt, \qquad
       \int L\,dt = \int \left( d\,\dot q_j^2
           + \dot\eta^T C \dot\eta \right) dt, \qquad
       \text{balance} = E(t) - E(0) - \int P\,dt + \int L\,dt .

    The integrals use the trapezoidal rule on the stored states, so the balance
    shows the sampling as well as the integrator.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> start = [0.0, 0.0, 0.0, 0.0, 0.1, 0.002]
    >>> traj = fa.simulate(arm, start, np.zeros(6), np.linspace(0.0, 0.2, 201))
    >>> [line.get_label() for line in fa.plotting.energies(traj, ledger=True)]
    ['kinetic', 'potential', 'total', 'work', 'losses', 'balance']
    """
    ax = make_axes(ax)
    kinetic, potential = traj.kinetic, traj.potential
    total = kinetic + potential
    rows = {"kinetic": kinetic, "potential": potential, "total": total}
    if ledger:
        work, losses = _work(traj, hold), _losses(traj)
        balance = total - total[..., :1] - work + losses
        rows |= {"work": work, "losses": losses, "balance": balance}
    values = np.stack(list(rows.values()), axis=-1)
    lines = _draw(ax, traj.t, values, list(rows))
    finish(ax, "time (s)", "energy (J)", legend=True)
    return lines


def _integral(t: Array, first: Array, last: Array) -> Array:
    """Trapezoidal integral of a power given at both ends of each step."""
    steps = np.cumsum(0.5 * (first + last) * np.diff(t), axis=-1)
    return np.concatenate([np.zeros_like(steps[..., :1]), steps], axis=-1)


def _work(traj: Trajectory, hold: bool) -> Array:
    tau, arm = traj.tau, traj.arm
    joints = tau.shape[-1] == arm.nu
    qd = traj.qd[..., arm.actuator_indices] if joints else traj.qd
    after = tau[..., :-1, :] if hold else tau[..., 1:, :]
    first = np.sum(tau[..., :-1, :] * qd[..., :-1, :], axis=-1)
    last = np.sum(after * qd[..., 1:, :], axis=-1)
    return _integral(traj.t, first, last)


def _losses(traj: Trajectory) -> Array:
    power = traj.arm.dissipated_power(traj.q, traj.qd)
    return _integral(traj.t, power[..., :-1], power[..., 1:])
