"""Two-link flexible laboratory arm of Quanser, from the maker's nominal data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Floats, Vector
from .._calls.doors import checked
from .._support.checks import as_array, as_numbers, in_range, positive, short_text
from ..arm import Arm
from ..beams import flexible_link
from ..beams.limits import mode_count
from ..bodies import Body, CoulombFriction, Drive, Joint
from ..bodies.profile import named_basis
from ..errors import ModelError

_YOUNG, _DENSITY = 206.8e9, 7850.0  # Pa; kg/m^3 of steel, ours
_LENGTHS = (0.202, 0.20185)  # m, base gauge to tip load
_SECTIONS = ((0.0762, 0.00127), (0.0381, 0.000889))  # m, width and thickness
_STIFFNESS = tuple(_YOUNG * b * h**3 / 12.0 for b, h in _SECTIONS)  # N m^2
_DENSITIES = tuple(_DENSITY * b * h for b, h in _SECTIONS)  # kg/m
_STAGE = (1.578, 0.1704)  # kg, kg m^2 about the clamp of link 1
_LOAD = (0.157, 0.0064)  # kg, kg m^2 about the clamp of link 2
_GEAR = (100.0, 50.0)


@checked
@named_basis()
def quanser_two_link(
    *,
    load_center: float = 0.28,
    elbow: float = 0.25,
    elbow_angle: float = 0.0,
    carried: Vector | None = None,
    load: Annotated[ArrayLike, Floats("(2,)")] = _LOAD,
    rigid_stage: bool = False,
    hub_inertia: Annotated[ArrayLike, Floats("()", "(2,)")] = (0.0635, 0.0030),
    viscous_friction: Annotated[ArrayLike, Floats("()", "(2,)")] = (4.0, 1.5),
    coulomb_friction: Annotated[ArrayLike, Floats("()", "(2,)")] = 0.0,
    friction_velocity: float = 0.01,
    joint_stiffness: Annotated[ArrayLike, Floats("()", "(2,)")] | None = None,
    damping_time: Annotated[ArrayLike, Floats("()", "(2,)")] = 0.0,
    n_modes: int = 2,
) -> Arm:
    r"""Serial flexible arm of a laboratory, two steel links in a horizontal plane.

    Parameters
    ----------
    load_center : float
        Distance of the mass centre of the whole second stage, stretched, from the clamp
        of link 1, in m.  Not given by the maker; identification finds it.
    elbow : float
        Distance of the axis of joint 2 from the clamp of link 1, in m.  Not given.
    elbow_angle : float
        Angle between the stretched arm and link 2 where joint 2 is at zero, in rad:
        encoders count from where the arm was when they were switched on.
    carried : (3,) array_like of float, optional
        What link 1 carries without link 2 and its load: mass in kg, distance of its
        centre from the clamp of link 1 in m, inertia about that centre in kg m^2.  By
        default what `load_center` and the maker's data of the whole stage leave.
    load : (2,) array_like of float
        Mass at the end of link 2 in kg, and its inertia about the clamp of link 2 in
        kg m^2.
    rigid_stage : bool
        Whether the second stage is one rigid body, so that the arm has one joint.
    hub_inertia : float or (2,) array_like of float
        Inertia of each drive at its output, in kg m^2; another file of the maker has
        (0.0109, 0.0090).
    viscous_friction, coulomb_friction : float or (2,) array_like of float
        Friction of each drive at its output, in N m s and N m.
    friction_velocity : float
        Output velocity at which 71 % of the dry friction acts, in rad/s.
    joint_stiffness : float or (2,) array_like of float, optional
        Compliance between each motor and its link, in N m/rad.  Motors are then
        coordinates, with gears of 100 and 50 and all friction.  By default gears are
        rigid: the inertia of the drive is a hub of the link, with the friction on the
        joint.
    damping_time : float or (2,) array_like of float
        Damping of the links over their stiffness, in s: a mode of a link of angular
        frequency w has the damping ratio :math:`w T / 2`.
    n_modes : int
        Bending coordinates of each link; two are the static shapes of the tip.

    Returns
    -------
    arm : Arm
        Bodies ``"link1"`` and, unless `rigid_stage`, ``"link2"``, joints about z, no
        gravity.  Torques are those at the outputs of the gears, and with
        `joint_stiffness` those of the motors, smaller by the ratio of the gear.

    Raises
    ------
    ModelError
        If a number is not physical, if the place of the load and the elbow leave the
        drive of stage 2 no inertia, or if `carried` is given with `rigid_stage`.

    Notes
    -----
    Nominal data of the maker's setup files, as listed with the measurements of [1]_:

    ===============================  =========================  ========================
    data                             stage 1                    stage 2
    ===============================  =========================  ========================
    link, steel, E = 206.8 GPa       76.2 x 1.27 mm             38.1 x 0.889 mm
    gauge to load of the tip         0.202 m                    0.20185 m
    "spring" 3 EI/L                  39.96 N m/rad (27)         6.86 N m/rad (2.5)
    load: mass                       1.578 kg, all of stage 2   0.157 kg
    load: inertia about the clamp    0.1704 kg m^2              0.0064 kg m^2, a point
    gear                             100                        50
    torque constant at the output    8.925 N m/A                0.87 N m/A
    inertia of the drive             0.0635 (0.0109) kg m^2     0.0030 (0.0090) kg m^2
    viscous friction                 4.0 N m s                  1.5 N m s
    ===============================  =========================  ========================

    Numbers in parentheses are those of other files or of an impulse test.  The density
    of steel, 7850 kg/m^3, and the places of load and elbow are ours.  The drive of
    stage 2 has the mass and inertia that link 2 and its load leave of the 1.578 kg and
    0.1704 kg m^2.  A hub of `hub_inertia` also turns with the link before it; a motor
    does so with its own inertia alone.

    A spring of 3 EI/L that turns 0.1704 kg m^2 has 2.44 Hz; the rig has 1.8 Hz.  The
    load is a rigid body, whose mass centre lies beyond the end of the spring and whose
    rotary inertia bends the link too: 1.65 to 1.96 Hz for any place of the centre.

    Measured runs say more (notebook 21, intervals of 95 %).  Steps of hub 1: the load
    is 0.303 to 0.306 m from the clamp; joint 2 is held by a servo of 0.87 to 0.92
    N m/rad with viscous friction of 0.130 to 0.136 N m s and dry friction of 0.011 to
    0.012 N m; drive 1 has 0.15 kg m^2, 1.9 N m s and a dry friction of 2.3 N m.  A run
    of both stages: zero of encoder 2 was at an elbow angle of -0.74 to -0.59 rad, and
    the load of link 2 is 0.237 to 0.249 kg.

    References
    ----------
    .. [1] aa4cc / Edu Ctrl Lab Models, ``basta/quanser-2-dof-serial-flexible-link``,
       GitHub, 2022, MIT licence.

    Examples
    --------
    Hub held, load between 0.20 m and 0.32 m from the clamp, in Hz:

    >>> import flexarm as fa
    >>> for center in (0.20, 0.28, 0.32):
    ...     stage = fa.library.quanser_two_link(load_center=center, rigid_stage=True)
    ...     w = fa.natural_frequencies(stage, stage.neutral, held="joints")
    ...     print(round(float(w[0]), 2))
    1.65
    1.83
    1.94
    """
    n = mode_count(n_modes)
    center = positive("load_center", load_center, "m")
    axis = positive("elbow", elbow, "m")
    speed = positive("friction_velocity", friction_velocity, "rad/s")
    turned = float(as_array("elbow_angle", elbow_angle, ()))
    inertia = _pair("hub_inertia", hub_inertia)
    drives = _Drives(
        inertia,
        _pair("viscous_friction", viscous_friction),
        _pair("coulomb_friction", coulomb_friction),
        speed,
        None
        if joint_stiffness is None
        else _pair("joint_stiffness", joint_stiffness, least=None),
    )
    losses = _pair("damping_time", damping_time)

    end = _pair("load", load)
    if end[1] < end[0] * _LENGTHS[1] ** 2:
        raise ModelError(
            f"load has {end[0]:g} kg and {end[1]:g} kg m^2, expected an inertia about "
            f"the clamp of at least that of a point, {end[0] * _LENGTHS[1] ** 2:.4g}"
        )
    tip = _Carried.of(carried, center, axis, end, rigid_stage)
    place = tip.center - _LENGTHS[0]
    shift = tip.mass * place**2
    links = [
        flexible_link(
            f"link{k + 1}",
            length=_LENGTHS[k],
            mass_per_length=_DENSITIES[k],
            bending_stiffness=_STIFFNESS[k],
            motions="bending y",
            n_modes=n,
            joint=drives.joint(k, axis, turned),
            base_inertia=inertia[k] if drives.stiffness is None else 0.0,
            **payload,
        )
        for k, payload in enumerate(
            (
                {
                    "tip_mass": tip.mass,
                    "tip_com": (place, 0.0, 0.0),
                    "tip_inertia": (
                        0.5 * tip.inertia,
                        0.5 * tip.inertia + shift,
                        tip.inertia + shift,
                    ),
                },
                {
                    "tip_mass": end[0],
                    "tip_inertia": end[1] - end[0] * _LENGTHS[1] ** 2,
                },
            )[: 1 if rigid_stage else 2]
        )
    ]
    bodies: list[Body] = [
        link.replace(damping=loss * link.stiffness)
        for link, loss in zip(links, losses, strict=False)
    ]
    return Arm(bodies, gravity=(0, 0, 0), name="quanser_two_link")


@dataclass(frozen=True)
class _Carried:
    """Load of the end of link 1 besides the bodies of stage 2."""

    mass: float
    center: float  # from the clamp of link 1
    inertia: float  # about that centre

    @classmethod
    def of(
        cls, given: object, center: float, axis: float, end: list[float], rigid: bool
    ) -> _Carried:
        """As given, or what link 2 and its load leave of the whole stage."""
        if given is not None:
            mass, place, own = as_array("carried", given, (3,)).tolist()
            if rigid:
                raise ModelError(
                    "carried is given with rigid_stage, whose body is the whole stage "
                    "2; expected one of both"
                )
            positive("mass of carried", mass, "kg")
            positive("inertia of carried", own, "kg m^2")
            return cls(mass, place, own)
        mass, moment, about = _STAGE[0], _STAGE[0] * center, _STAGE[1]
        if not rigid:
            rod = _DENSITIES[1] * _LENGTHS[1]
            for m, x, J in (
                (end[0], axis + _LENGTHS[1], end[1] - end[0] * _LENGTHS[1] ** 2),
                (rod, axis + 0.5 * _LENGTHS[1], rod * _LENGTHS[1] ** 2 / 12.0),
            ):
                mass, moment, about = mass - m, moment - m * x, about - J - m * x**2
        own = about - moment**2 / mass if mass > 0.0 else -1.0
        if own < 0.0:
            raise ModelError(
                f"load_center is {center:g} m and elbow {axis:g} m, which leave the "
                f"drive of stage 2 a mass of {mass:.2g} kg and an inertia of {own:.2g} "
                "kg m^2, expected both closer to the clamp of link 1"
            )
        return cls(mass, moment / mass, own)


@dataclass(frozen=True)
class _Drives:
    """Inertia, friction and compliance of both drives at their outputs."""

    inertia: list[float]
    viscous: list[float]
    coulomb: list[float]
    speed: float
    stiffness: list[float] | None

    def joint(self, k: int, axis: float, turned: float) -> Joint:
        """Joint of link k, with a hub or with a motor."""
        made: Callable[..., Joint] = Joint
        if k:
            at = (axis - _LENGTHS[0], 0.0, 0.0)
            made = partial(Joint, parent="link1", node="tip", position=at)
            if turned:
                c, s = np.cos(turned), np.sin(turned)
                turn = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
                made = partial(made, rotation=turn)
        N = _GEAR[k]
        if self.stiffness is None:
            return made(damping=self.viscous[k], coulomb_friction=self._dry(k, 1.0))
        drive = Drive(
            self.stiffness[k],
            gear_ratio=N,
            rotor_inertia=self.inertia[k] / N**2,
            motor_damping=self.viscous[k] / N**2,
            motor_friction=self._dry(k, N),
        )
        return made(drive=drive)

    def _dry(self, k: int, N: float) -> CoulombFriction | None:
        if not self.coulomb[k]:
            return None
        return CoulombFriction(self.coulomb[k] / N, self.speed * N)


def _pair(what: str, value: ArrayLike, least: float | None = 0.0) -> list[float]:
    """Finite numbers of both stages, positive or not below `least`."""
    array = as_numbers(what, value)
    if array.shape not in ((), (2,)):
        raise ModelError(
            f"{what} has shape {array.shape}, expected one number or (2,), one for "
            "each stage"
        )
    fits = array > 0.0 if least is None else array >= least
    if not (fits & np.isfinite(array)).all():
        kind = "positive numbers" if least is None else "numbers of zero or more"
        raise ModelError(f"{what} is {short_text(array)}, expected finite {kind}")
    in_range(what, array, "in SI units")
    return [float(x) for x in np.broadcast_to(array, (2,))]
