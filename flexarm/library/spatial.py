"""Flexible arms of the literature that move in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from .._calls.declared import Choice
from .._calls.doors import checked
from .._support.arrays import Index
from .._support.checks import not_negative
from ..arm import Arm
from ..beams import (
    BeamModes,
    clamped_beam_modes,
    clamped_rod_modes,
    flexible_link,
)
from ..beams.limits import mode_count
from ..bodies import Body, Joint, RigidBody
from ..bodies.profile import named_basis

# Table I, in SI units
_L1, _L2, _L3, _L4 = 0.26, 2.0, 1.8, 0.24  # m
_D1, _D4 = 0.131, 0.124  # m
_M1, _M4 = 15.5, 3.56  # kg
_I13 = 18586e-6  # kg m^2
_I4 = (1533e-6, 17386e-6, 17035e-6)  # kg m^2, about the centre of mass
_AREA, _POLAR, _ACROSS = 707e-6, 362265e-12, 181132e-12  # m^2, m^4, m^4
_E, _G, _DENSITY = 210e9, 80.8e9, 7850.0  # Pa, Pa, kg/m^3

_MU = _DENSITY * _AREA  # kg/m
_SECTION = _DENSITY * _POLAR * np.array([1.0, 0.5, 0.5])  # kg m
_BENDING = ("clamped-mass", "clamped-free")


@dataclass(frozen=True)
class _Carried:
    """Bodies beyond the tip of a link, rigid and straight along x."""

    mass: float = 0.0
    moment: float = 0.0
    inertia_y: float = 0.0
    inertia_z: float = 0.0


@checked
@named_basis()
def cibicik_egeland(
    *,
    n_modes: int = 2,
    bending: Annotated[str, Choice(*_BENDING)] = "clamped-mass",
    damping: float = 0.0,
    fidelity: Annotated[str, Choice("full", "linear", "ruthless")] = "full",
    geometric_stiffening: bool = False,
) -> Arm:
    r"""Four revolute joints, two flexible steel tubes: Cibicik and Egeland (2021).

    Parameters
    ----------
    n_modes : int
        Modes of each kind (torsion, bending along y, bending along z) of links 2 and 3;
        two in the paper, zero for the rigid arm of the same masses.
    bending : {"clamped-mass", "clamped-free"}
        Tip condition of the bending modes.  The paper has the first and does not state
        the mass; here it is that of the straight arm beyond, see the notes.
    damping : float
        Damping ratio of every mode, relative to critical; none in the paper.
    fidelity : {"full", "linear", "ruthless"}
        As of `Arm`.  The paper's own equations are of first order in the modal
        coordinates; see `flexarm.reference.dual_screws`.
    geometric_stiffening : bool
        Foreshortening of the links, as of `flexarm.beams.flexible_link`; the model of
        the paper has none.

    Returns
    -------
    arm : Arm
        Bodies ``"link1"`` to ``"link4"``, the second and third flexible, gravity
        9.81 m/s^2 along -z.  The base frame is Frame 1 at zero.

    Raises
    ------
    ModelError
        If `n_modes` is not one of 0 to 20 or `bending` is unknown.

    See Also
    --------
    poses : the configurations initial, final and straight.
    cibicik_egeland_order : from these coordinates to those of the paper.

    Notes
    -----
    Table I of [1]_ in SI units; links 2 and 3 are tubes of 50/40 mm.

    ========================================  ====================================
    lengths                                   0.26, 2.00, 1.80, 0.24 m
    masses of links 1 and 4                   15.5, 3.56 kg
    centres of mass of links 1 and 4          0.131, 0.124 m from the joint
    link 1, moment of inertia about its axis  0.018586 kg m^2
    link 4, moments about the mass centre     1.533e-3, 1.7386e-2, 1.7035e-2 kg m^2
    links 2 and 3, area of the section        707 mm^2
    second moments of the section             362265, 181132, 181132 mm^4
    E, G, density                             210 GPa, 80.8 GPa, 7850 kg/m^3
    ========================================  ====================================

    Joint 1 turns about the vertical z; with
    :math:`R_x(-\pi/2) R_z(-\pi/2) R_z(q_2)` at its top link 2 points straight up at
    zero, and :math:`q_2, q_3, q_4` about the horizontal z axes of their frames add up
    to the tilt from the vertical.  Links 2 to 4 lie along the x axes of their frames.

    Sections of links 2 and 3 have rotary inertia, density times second moments.  The
    printed 2 x 181132 is less than 362265, impossible for a flat section, so the
    moments **of inertia** about y and z are half of the polar one, 181132.5 mm^4, as of
    a tube; bending stiffness is that of the print.

    Only the moment of link 1 about its axis acts.  The two others, without effect, are
    those of a uniform cylinder of that length, mass and moment; its centre of mass is
    on the axis.

    Bending modes ``"clamped-mass"`` are those of a beam with the rest of the arm at its
    tip, rigid and straight: mass, static moment, and moment of inertia
    about y or z (link 3: 3.56 kg; link 2: 13.55 kg).  Torsion modes are
    clamped and free, as in the paper.  Both are scaled so that the modal mass is the
    mass of the link, or its polar inertia, with the load at the tip; modal coordinates
    are in m and rad.  With two modes the four lowest frequencies of
    the arm with locked joints are 3.92, 4.19, 7.72 and 8.21 Hz in the initial pose;
    clamped and free modes give 3.97, 4.38, 8.25 and 8.82 Hz, many modes of either kind
    3.81, 4.19, 7.67 and 8.18 Hz.

    References
    ----------
    .. [1] A. Cibicik, O. Egeland, "Kinematics and dynamics of flexible robotic
       manipulators using dual screws", *IEEE Trans. Robotics* 37, 2021,
       section VI.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.cibicik_egeland()
    >>> arm
    <Arm 'cibicik_egeland': 4 bodies, 4 joint and 12 modal coordinates>

    End point of link 4 and torques against gravity on joints 2 and 3:

    >>> q = fa.library.poses(arm)["initial"]
    >>> print(fa.tip_pose(arm, q)[:3, 3].round(6) + 0.0)
    [1.9      0.       0.193205]
    >>> print(fa.gravity_forces(arm, q)[1:3].round(3))
    [-262.901  -75.532]
    """
    n_modes = mode_count(n_modes, rigid=True)
    damping = not_negative("damping", damping, "")
    # a cylinder has equal moments across its axis
    across = 0.5 * _I13 + _M1 * _L1**2 / 12.0
    link1 = RigidBody(
        "link1",
        mass=_M1,
        com=(0.0, 0.0, _D1),
        inertia=(across, across, _I13),
        nodes={"tip": (0.0, 0.0, _L1)},
    )
    link4 = RigidBody(
        "link4", mass=_M4, com=(_D4, 0.0, 0.0), inertia=_I4, nodes={"tip": (_L4, 0, 0)}
    )
    # R_x(-pi/2) R_z(-pi/2)
    up = Joint(rotation=[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    beyond2, beyond3 = _Carried(), _Carried()
    if bending == "clamped-mass":
        beyond3 = _carry(_Carried(), _M4, _D4, *_I4[1:])
        own = _MU * _L3**3 / 12.0 + _SECTION * _L3
        beyond2 = _carry(_shift(beyond3, _L3), _MU * _L3, _L3 / 2.0, *own[1:])
    options = {"damping_ratio": damping, "geometric_stiffening": geometric_stiffening}
    link2 = _tube("link2", up, _L2, n_modes, beyond2, **options)
    link3 = _tube("link3", Joint(), _L3, n_modes, beyond3, **options)
    return Arm([link1, link2, link3, link4], name="cibicik_egeland", fidelity=fidelity)


@checked
def cibicik_egeland_order(n_modes: int = 2) -> Index:
    """Places of the coordinates of the paper among those of `cibicik_egeland`.

    Parameters
    ----------
    n_modes : int
        Modes of each kind, as given to `cibicik_egeland`.

    Returns
    -------
    order : (4 + 6 n_modes,) ndarray of int
        ``q[..., order]`` is in the order of the paper (113): joints, then of links 2
        and 3 each torsion, bending in xy (here along y), bending in xz (along z).
        ``q[..., np.argsort(order)]`` is the inverse.

    Raises
    ------
    ModelError
        If `n_modes` is not one of 0 to 20.

    Examples
    --------
    >>> from flexarm.library.spatial import cibicik_egeland_order
    >>> cibicik_egeland_order()
    array([ 0,  1,  2,  3,  8,  9,  4,  5,  6,  7, 14, 15, 10, 11, 12, 13])
    """
    n_modes = mode_count(n_modes, rigid=True)
    joints = np.arange(4)
    y, z, torsion = np.arange(3 * n_modes).reshape(3, n_modes)
    link = np.concatenate([torsion, y, z])
    return np.concatenate([joints, 4 + link, 4 + 3 * n_modes + link])


def _shift(carried: _Carried, by: float) -> _Carried:
    """The same masses, seen from a point `by` further inboard on x."""
    more = 2.0 * by * carried.moment + carried.mass * by**2
    return _Carried(
        carried.mass,
        carried.moment + carried.mass * by,
        carried.inertia_y + more,
        carried.inertia_z + more,
    )


def _carry(
    carried: _Carried, mass: float, at: float, inertia_y: float, inertia_z: float
) -> _Carried:
    """Add a body with its mass centre `at` on x and inertias about it."""
    return _Carried(
        carried.mass + mass,
        carried.moment + mass * at,
        carried.inertia_y + inertia_y + mass * at**2,
        carried.inertia_z + inertia_z + mass * at**2,
    )


def _tube(
    name: str, joint: Joint, length: float, n: int, beyond: _Carried, **options: Any
) -> Body:
    # rigid
    if n == 0:
        across = _MU * length**3 / 12.0
        return RigidBody(
            name,
            joint,
            mass=_MU * length,
            com=(length / 2.0, 0.0, 0.0),
            inertia=length * _SECTION + np.array([0.0, across, across]),
            nodes={"tip": (length, 0.0, 0.0)},
        )

    # flexible, with bending modes by the bodies beyond the tip
    def modes(inertia: float) -> BeamModes:
        return clamped_beam_modes(
            length,
            _MU,
            _E * _ACROSS,
            n,
            tip_mass=beyond.mass,
            tip_inertia=inertia,
            tip_moment=beyond.moment,
            normalization="link",
        )

    link: Body = flexible_link(
        name,
        length=length,
        mass_per_length=_MU,
        joint=joint,
        bending_y=modes(beyond.inertia_z),
        bending_z=modes(beyond.inertia_y),
        torsion=clamped_rod_modes(
            length, _DENSITY * _POLAR, _G * _POLAR, n, normalization="link"
        ),
        section_inertia=_SECTION,
        **options,
    )
    return link
