"""Planar arms for teaching: pendulum and chain of rods."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Choice, Floats, Vector
from .._calls.doors import checked
from .._core import MAX_BODIES
from .._support.checks import (
    as_numbers,
    in_range,
    not_negative,
    real,
    short_text,
    whole_number,
)
from ..arm import Arm
from ..beams import flexible_link
from ..beams.limits import mode_count
from ..bodies import Body, Joint, RigidBody, SegmentedLink
from ..errors import ModelError

_MODES = ("craig-bampton", "static", "clamped-free", "pinned", "free")


@checked
def pendulum(
    *,
    mass: float = 1.0,
    com: float = 0.5,
    inertia: float = 0.0,
    length: float | None = None,
    damping: float = 0.0,
) -> Arm:
    r"""Pendulum in the vertical x-z plane, level at zero.

    Parameters
    ----------
    mass : float
        Mass in kg.
    com : float
        Distance of the mass centre from the axis, in m.
    inertia : float
        Moment of inertia about the mass centre, in kg m^2; zero for a point mass.
    length : float, optional
        Distance of the node ``"tip"`` from the axis, in m; by default `com`.
    damping : float
        Viscous friction, in N m s.

    Returns
    -------
    arm : Arm
        One body, ``"rod"``, gravity 9.81 m/s^2 along -z.

    Raises
    ------
    ModelError
        If mass, inertia or damping is negative, or mass and inertia are zero.

    Notes
    -----
    ====================  ======================================
    axis                  -y; positive angles lift the mass
    angle zero            level, mass centre at (`com`, 0, 0)
    equation of motion    tau = (J + m c^2) qdd + d qd + m g c cos q
    ====================  ======================================

    References
    ----------
    Any textbook, for example H. Goldstein, *Classical Mechanics*, 1980, chapter 1.

    Examples
    --------
    Held level it needs m g c = 2 kg * 9.81 m/s^2 * 0.3 m:

    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=2.0, com=0.3)
    >>> fa.inverse_dynamics(arm, [0.0], [0.0], [0.0])
    array([5.886])
    """
    mass = real("mass of the pendulum", mass, "kg")
    com = real("com of the pendulum", com, "m")
    inertia = real("inertia of the pendulum", inertia, "kg m^2")
    tip = com if length is None else real("length of the pendulum", length, "m")
    rod = RigidBody(
        "rod",
        Joint(axis=(0, -1, 0), damping=real("damping", damping, "N m s")),
        mass=mass,
        com=(com, 0, 0),
        inertia=(0, inertia, inertia),
        nodes={"tip": (tip, 0, 0)},
    )
    return Arm([rod], name="pendulum")


@checked
def planar_chain(
    n: int = 2,
    *,
    length: Annotated[ArrayLike, Floats("()", "(n,)")] = 1.0,
    mass: Annotated[ArrayLike, Floats("()", "(n,)")] = 1.0,
    n_modes: int = 0,
    modes: Annotated[
        str, Choice(*_MODES, hint="the number of modes is n_modes")
    ] = "craig-bampton",
    segments: int | None = None,
    bending_stiffness: Annotated[ArrayLike, Floats("()", "(n,)")] = 100.0,
    damping: float = 0.0,
    damping_ratio: float = 0.0,
    payload_mass: float = 0.0,
    gravity: Vector = (0.0, -9.81, 0.0),
    geometric_stiffening: bool = True,
) -> Arm:
    """Chain of uniform rods in the vertical x-y plane, rigid or flexible.

    Parameters
    ----------
    n : int
        Number of links, at most 4096.
    length, mass : float or (n,) array_like of float
        Length in m and mass in kg of each link.
    n_modes : int
        Coordinates of bending in the plane of each link; zero for rigid links.
    modes : {"craig-bampton", "static", "clamped-free", "pinned", "free"}
        Basis of the links, as of `beams.flexible_link`.
    segments : int, optional
        Number of pieces of each link, in place of `n_modes`, for links that bend far.
    bending_stiffness : float or (n,) array_like of float
        EI of each flexible link, in N m^2.
    damping : float
        Viscous friction of each joint, in N m s.
    damping_ratio : float
        Damping ratio of each natural mode of a link, clamped at its base.
    payload_mass : float
        Point mass at the tip of the last link, in kg.
    gravity : (3,) array_like of float
        Acceleration of free fall, in m/s^2; zeros for a horizontal plane.
    geometric_stiffening : bool
        Whether axial forces stiffen flexible links, as of `beams.flexible_link`.

    Returns
    -------
    arm : Arm
        Bodies ``"link1"``, ``"link2"``, ..., all joints about z.

    Raises
    ------
    ModelError
        If `n` is not one of 1 to 4096 or `n_modes` not one of 0 to 20, if `n_modes` and
        `segments` are both given, if an array does not have one entry for each link, or
        if a number is not physical.

    Notes
    -----
    ================  =================================================
    angle zero        all links along x, level
    joint angles      relative to the link before, positive about z
    inertia           m L^2/12 of each rod about its mass centre
    coordinates       displacement of the tip in m, its rotation in rad,
                      then modes with both ends held, of unit modal mass
    ================  =================================================

    Two coordinates are one cubic element, which deflects under loads at the tip as the
    rod does: with locked joints the frequencies of an arm are right to some tenths of a
    percent for the first half of its modes.  Free joints leave a rod between two pins,
    of which the cubic is 11 % too stiff; three coordinates are right to 0.1 % there
    too.  Clamped-free modes ignore the links on a link.

    References
    ----------
    M. Spong, S. Hutchinson, M. Vidyasagar, *Robot Modeling and Control*, 2006,
    section 7.4 (two links).

    Examples
    --------
    Three level rods of 1 kg and 1 m: the first joint carries 3 kg at 1.5 m,

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(3)
    >>> float(fa.gravity_forces(arm, np.zeros(3))[0])   # 3 * 9.81 * 1.5
    44.145

    and flexible ones with two modes each have 3 + 6 coordinates:

    >>> fa.library.planar_chain(3, n_modes=2).nv
    9
    """
    # one number for each link
    n = whole_number("n", n, 1, MAX_BODIES)
    n_modes = mode_count(n_modes, rigid=True)
    if n_modes and segments is not None:
        raise ModelError(
            f"planar_chain has n_modes {n_modes} and segments, expected one of them: "
            "each piece has static shapes; leave out n_modes"
        )
    lengths = _each("length", length, n)
    masses = _each("mass", mass, n)
    stiffness = _each("bending_stiffness", bending_stiffness, n)
    payload_mass = not_negative("payload_mass", payload_mass, "kg")
    damping = real("damping", damping, "N m s")
    damping_ratio = not_negative("damping_ratio", damping_ratio, "")

    # rods, rigid or with modes of its own
    bodies: list[Body | SegmentedLink] = []
    for i in range(n):
        rod: dict[str, Any] = {
            "joint": Joint(damping=damping),
            "length": lengths[i],
            "mass_per_length": masses[i] / lengths[i],
            "tip_mass": payload_mass if i == n - 1 else 0.0,
        }
        name = f"link{i + 1}"
        if n_modes == 0 and segments is None:
            bodies.append(rigid_rod(name, **rod))
            continue
        link = flexible_link(
            name,
            **rod,
            bending_stiffness=stiffness[i],
            motions="bending y",
            modes=modes,
            n_modes=n_modes if n_modes and modes != "static" else None,
            damping_ratio=damping_ratio,
            geometric_stiffening=geometric_stiffening,
            segments=segments,
        )
        bodies.append(link)
    return Arm(bodies, gravity=gravity, name="planar_chain")


def _each(what: str, value: ArrayLike, n: int, rigid: bool = False) -> list[float]:
    """One number for each link, which may be infinite if a part may be rigid."""
    array = as_numbers(what, value)
    if array.shape not in ((), (n,)):
        raise ModelError(
            f"{what} has shape {array.shape}, expected one number or ({n},), one for "
            "each link"
        )
    if not np.all(array > 0.0):
        raise ModelError(f"{what} is {short_text(array)}, expected positive numbers")
    if not (rigid or np.isfinite(array).all()):
        raise ModelError(f"{what} is {short_text(array)}, expected finite numbers")
    in_range(what, array[np.isfinite(array)], "in SI units")
    return [float(x) for x in np.broadcast_to(array, (n,))]


def rigid_rod(
    name: str,
    joint: Joint,
    length: float,
    mass_per_length: float,
    *,
    base_mass: float = 0.0,
    base_inertia: float = 0.0,
    tip_mass: float = 0.0,
    tip_inertia: float = 0.0,
) -> RigidBody:
    """Uniform rod along x with loads at its ends, as one rigid body.

    The inertias at the ends are about z; half of them is taken about x and y, as for
    thin discs, without effect on planar motion.
    """
    rod = mass_per_length * length
    mass = rod + base_mass + tip_mass
    com = (rod * length / 2.0 + tip_mass * length) / mass
    across = rod * length**2 / 3.0 + tip_mass * length**2 - mass * com**2
    discs = base_inertia + tip_inertia
    return RigidBody(
        name,
        joint,
        mass=mass,
        com=(com, 0, 0),
        inertia=(discs / 2.0, across + discs / 2.0, across + discs),
        nodes={"tip": (length, 0, 0)},
    )
