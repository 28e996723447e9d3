"""Arms with long booms: that of the Space Shuttle and a knuckle boom crane."""

from __future__ import annotations

import numpy as np

from .._calls.doors import checked
from .._support.arrays import Array
from ..arm import Arm
from ..beams import STEEL, Beam, Material, Payload, Section
from ..bodies import Body, Drive, Joint, RigidBody
from ..bodies.drives import NotNegative

# axis, length (m), wall of a boom (m) or 0, mass (kg), masses at both ends (kg), shaft
# (N m/rad), gear ratio, least and largest angle (degrees), rate (degrees/s), torque
# (N m)
_CANADARM = {
    "shoulder": ("z", 0.305, 0.0, 105, 0, 0, 4.0e5, 1842, -180, 180, 2.29, 1047),
    "upper": ("-y", 6.38, 2.51e-3, 40, 49, 49, 1.9e5, 1842, -2, 145, 2.29, 1047),
    "lower": ("-y", 7.06, 1.67e-3, 40, 15, 30, 7.4e5, 1260, -161, 2.4, 3.21, 716),
    "wrist_pitch": ("-y", 0.457, 0.0, 7, 0, 0, 1.8e5, 738, -121.4, 121.4, 4.76, 313),
    "wrist_yaw": ("z", 0.762, 0.0, 39, 0, 0, 1.8e5, 738, -121.3, 121.3, 4.76, 313),
    "hand": ("x", 0.66, 0.0, 36, 0, 0, 1.8e5, 738, -447, 447, 4.76, 313),
}
_DIAMETER, _ROTOR = 0.33, 1e-4  # m, kg m^2
_COMPOSITE = Material(110e9, 1600.0, G=27.5e9, name="graphite and epoxy")
_BAY = (18.3, 4.57)  # length and diameter of a payload that fills the bay, m

# box (width, height and wall, m), least and largest angle (degrees), bore of the
# cylinder and its lever (m)
_CRANE = {
    "column": (None, -200, 200, 0.08, 0.15),
    "inner": ((0.18, 0.26, 0.007), -10, 80, 0.125, 0.30),
    "outer": ((0.15, 0.21, 0.006), -160, 10, 0.10, 0.25),
}
_HEIGHT, _BOOM = 1.8, 3.0  # m
_COLUMN, _ELBOW, _PISTON = 500.0, 120.0, 40.0  # kg
_BULK, _PRESSURE, _FLOW = 0.69e9, 28e6, 40e-3 / 60.0  # Pa, Pa, m^3/s


def _boom(name: str, joint: Joint, beam: Beam, *loads: tuple[float, float]) -> Body:
    """One cubic element, whose shapes are the static ones of a loaded tip."""
    masses = [Payload(at, mass=mass) for at, mass in loads]
    link: Body = beam.elements(name, 1, joint=joint, payloads=masses)
    return link


def _moments(mass: float, length: float, diameter: float) -> Array:
    """Moments of inertia of a cylinder along x about its middle."""
    across = mass * (length**2 / 12.0 + diameter**2 / 16.0)
    return np.array([mass * diameter**2 / 8.0, across, across])


def _rod(name: str, joint: Joint, mass: float, length: float, axis: int = 0) -> Body:
    """Rigid cylinder from the joint along an axis."""
    tip = length * np.eye(3)[axis]
    inertia = np.roll(_moments(mass, length, _DIAMETER), axis)
    nodes = {"tip": tip}
    return RigidBody(
        name, joint, mass=mass, com=0.5 * tip, inertia=inertia, nodes=nodes
    )


@checked
def canadarm(*, payload_mass: NotNegative = 0.0) -> Arm:
    r"""Arm of the Space Shuttle (SRMS, Canadarm): six elastic joints, two long booms.

    Parameters
    ----------
    payload_mass : float
        Mass at the hand, in kg; 14,515 (32,000 lb) is what the arm was designed for.
        It is a cylinder that fills the cargo bay, 18.3 m long and 4.57 m wide, held at
        the middle of its side and across the arm.

    Returns
    -------
    arm : Arm
        Bodies ``"shoulder"``, ``"upper"``, ``"lower"``, ``"wrist_pitch"``,
        ``"wrist_yaw"``, ``"hand"`` and, if it has mass, ``"payload"``, without gravity;
        at zero stretched along x.  Coordinates are joints, motors and modes of the
        booms; brakes on are ``held="motors"``.

    Raises
    ------
    ArgumentError
        If `payload_mass` is negative.

    See Also
    --------
    poses : the configuration bent.

    Notes
    -----
    Yaw turns about z, pitch about -y, so that a positive angle lifts, roll about x.

    ===========  ======  ======  =========  =====  ==============  =====  ======
    part         length  mass    shaft      gear   range           rate   torque
    unit         m       kg      N m/rad    1      degrees         deg/s  N m
    ===========  ======  ======  =========  =====  ==============  =====  ======
    shoulder     0.305   105     4.0e5      1842   -180 to 180     2.29   1047
    upper        6.38    138     1.9e5      1842   -2 to 145       2.29   1047
    lower        7.06    85      7.4e5      1260   -161 to 2.4     3.21   716
    wrist_pitch  0.457   7       1.8e5      738    -121.4, 121.4   4.76   313
    wrist_yaw    0.762   39      1.8e5      738    -121.3, 121.3   4.76   313
    hand         0.66    36      1.8e5      738    -447 to 447     4.76   313
    ===========  ======  ======  =========  =====  ==============  =====  ======

    **Published** are the length of 15.3 m from the second joint to the tip and the mass
    of 410 kg [1]_, the size of payloads [2]_, and the frequencies of the arm with its
    brakes on, empty and loaded, in configurations that are letters [3]_.  Lengths of
    the booms, ranges, rates without load, gear ratios and torques are those that the
    literature on the arm gives [4]_, [5]_; they were not compared with a print.  With
    a payload of 32,000 lb the rates are a tenth.

    **Chosen** is the rest.  Booms are tubes of 0.33 m, walls of 2.5 and 1.7 mm, which
    have 3.8 and 2.6 MN m^2 with 110 GPa along the fibres.  Each has 40 kg; the other
    masses of ``"upper"`` and ``"lower"`` are housings of joints at their ends, 49 and
    49, 15 and 30 kg.  Shafts, which stand for gear, joint and mount, and the mass of
    the wrist are fitted to the frequencies [3]_ of the arm in configuration S, the
    softest one, taken as stretched and on a shuttle that does not move (Hz):

    ======================  ======  ======  ======  ======  ======  ======
    empty, printed          0.3463  0.4614  3.5544  4.2282
    empty, here             0.354   0.471   3.06    4.00
    loaded, printed         0.0274  0.0329  0.0578  0.1399  0.4383  2.9758
    loaded, here            0.0266  0.0322  0.0643  0.137   0.409   3.41
    ======================  ======  ======  ======  ======  ======  ======

    The mass of the load is not legible in the transcription and is taken as 14,515 kg;
    ten numbers and five parameters, so the table is a fit.  The inertia of a rotor is
    1e-4 kg m^2, backlash and friction are left out.

    References
    ----------
    .. [1] NASA, *Space Shuttle: Remote Manipulator System*; caption of KSC-05PD-0336.
    .. [2] "Canadarm and the Space Shuttle", *J. Vacuum Science and Technology A* 1,
       1983, doi 10.1116/1.572085.
    .. [3] Papers on the arm, National Air and Space Museum, NASM.2014.0025, box 11,
       folder 6, page 12, table 4 (transcription.si.edu); P. Nguyen, R. Ravindran, R.
       Carr, D. Gossain, "Structural flexibility of the shuttle remote manipulator
       system mechanical arm", *AIAA Guidance and Control Conf.*, 1982, 246-256.
    .. [4] NASA, *Shuttle Crew Operations Manual*, section PDRS.
    .. [5] M. Scott, M. Gilbert, M. Demeo, "Active vibration damping of the Space
       Shuttle remote manipulator system", NASA TM-104149, 1991.

    Examples
    --------
    The lowest frequencies with the brakes on, stretched out:

    >>> import flexarm as fa
    >>> for mass in (0.0, 14515.0):
    ...     arm = fa.library.canadarm(payload_mass=mass)
    ...     print(fa.natural_frequencies(arm, arm.neutral, held="motors")[:2].round(3))
    [0.354 0.471]
    [0.027 0.032]
    """
    bodies: list[Body] = []
    for name, row in _CANADARM.items():
        axis, length, wall, mass, base, tip, shaft, gear, *turns, rate, torque = row
        joint = Joint(
            axis=axis,
            drive=Drive(shaft, gear_ratio=gear, rotor_inertia=_ROTOR),
            limits=np.radians(turns),
            velocity_limit=np.radians(rate),
            effort_limit=torque,
        )
        if wall:
            beam = Beam(Section.tube(_DIAMETER, wall, _COMPOSITE), length, mass=mass)
            bodies.append(_boom(name, joint, beam, (0.0, base), (length, tip)))
        else:
            bodies.append(_rod(name, joint, mass, length))
    if payload_mass:
        along = np.roll(_moments(payload_mass, *_BAY), 1)
        side = (0.5 * _BAY[1], 0.0, 0.0)
        bodies.append(
            RigidBody(
                "payload", Joint.fixed(), mass=payload_mass, com=side, inertia=along
            )
        )
    return Arm(bodies, gravity=(0.0, 0.0, 0.0), name="canadarm")


@checked
def crane(*, payload_mass: NotNegative = 0.0) -> Arm:
    r"""Knuckle boom crane on a slewing column: two steel boxes, three cylinders of oil.

    Parameters
    ----------
    payload_mass : float
        Mass at the tip, in kg, without size; up to 1500 at the full reach of 6 m.

    Returns
    -------
    arm : Arm
        Bodies ``"column"``, ``"inner"``, ``"outer"`` and, if it has mass,
        ``"payload"``, gravity 9.81 m/s^2 along -z; at zero the booms are level, along
        x, 1.8 m above the base.  Closed valves are ``held="motors"``.

    Raises
    ------
    ArgumentError
        If `payload_mass` is negative.

    See Also
    --------
    poses : the configuration lifted.

    Notes
    -----
    A loader crane of the class of 100 kN m, **designed here** and no maker's: what
    sections and cylinders such cranes have is not published.

    ======  ==============  ============  =====  =====  =========  ======  =======
    link    box             range         bore   lever  torque     rate    oil
    unit    mm              degrees       mm     m      kN m       deg/s   kN m/rad
    ======  ==============  ============  =====  =====  =========  ======  =======
    column                  -200 to 200   80     0.15   21         51      149
    inner   180 x 260 x 7   -10 to 80     125    0.30   103        10.4    3234
    outer   150 x 210 x 6   -160 to 10    100    0.25   55         19.5    913
    ======  ==============  ============  =====  =====  =========  ======  =======

    Each cylinder is the motor of its joint, with a constant lever r in place of its
    linkage: the torque is p A r and the rate Q/(A r), with 28 MPa and 40 l/min.  Oil in
    closed valves is a spring, the drive of the joint.  A cylinder in its middle holds
    V = A r :math:`\Delta\varphi`/2, so that the stiffness is

    .. math:: \beta A^2 r^2 / V = 2 \beta A r / \Delta\varphi

    with :math:`\beta` = 0.69 GPa, the bulk modulus that Merritt recommends for oil with
    some air [1]_.  The motor has the inertia of 40 kg at the lever.  Booms are 3 m long
    and of steel; the largest torque of their cylinders stresses them to 232 and 218
    MPa, below two thirds of the yield stress of S355.  The column of 500 kg stays in
    place, and the joint between the booms, with its cylinder, has 120 kg.  Models of
    such cranes with elastic booms and hydraulics, of which this one has the structure,
    are [2]_ and [3]_.

    References
    ----------
    .. [1] H. E. Merritt, *Hydraulic Control Systems*, Wiley, 1967.
    .. [2] M. K. Bak, M. R. Hansen, "Analysis of offshore knuckle boom crane, part one:
       modeling and parameter identification", *Modeling, Identification and Control*
       34, 2013, 157-174.
    .. [3] A. Cibicik, E. Pedersen, O. Egeland, "Dynamics of luffing motion of a
       flexible knuckle boom crane actuated by hydraulic cylinders", *Mechanism and
       Machine Theory* 143, 2020, 103616.

    Examples
    --------
    The load of one tonne at the full reach, slewing and lifting, with valves closed:

    >>> import flexarm as fa
    >>> arm = fa.library.crane(payload_mass=1000.0)
    >>> fa.natural_frequencies(arm, arm.neutral, held="motors")[:2].round(2)
    array([0.3 , 0.93])
    """
    bodies: list[Body] = []
    for name, (box, least, largest, bore, lever) in _CRANE.items():
        area, turn = np.pi / 4.0 * bore**2, np.radians(largest - least)
        spring = 2.0 * _BULK * area * lever / turn
        joint = Joint(
            axis="-y" if box else "z",
            drive=Drive(spring, rotor_inertia=_PISTON * lever**2),
            limits=np.radians([least, largest]),
            velocity_limit=_FLOW / (area * lever),
            effort_limit=_PRESSURE * area * lever,
        )
        if box:
            loads = [(_BOOM, _ELBOW)] if name == "inner" else []
            beam = Beam(Section.box(*box, STEEL), _BOOM)
            bodies.append(_boom(name, joint, beam, *loads))
        else:
            bodies.append(_rod(name, joint, _COLUMN, _HEIGHT, 2))
    if payload_mass:
        bodies.append(RigidBody("payload", Joint.fixed(), mass=payload_mass))
    return Arm(bodies, name="crane")
