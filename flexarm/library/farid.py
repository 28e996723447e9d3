"""Arms of Farid (1997): planar with two and three links, spatial with three."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Choice, Floats
from .._calls.doors import checked
from .._core import MAX_BODIES
from .._support.checks import not_negative, positive, real, whole_number
from ..arm import Arm
from ..beams import Beam, Payload, Section
from ..beams.limits import MAX_ELEMENTS
from ..bodies import Body, Drive, Joint, RigidBody
from ..bodies.profile import named_basis
from .planar import _each

_LENGTH, _DENSITY = 1.0, 5.0  # m, kg/m
_POLAR = 0.05  # kg m, of the spatial arm
_ACTUATOR_MASS = 0.2  # kg, of a rotor and of a stator
_GRAVITY = 9.81  # m/s^2, not in the thesis


@checked
@named_basis()
def farid_planar(
    *,
    n_links: int = 3,
    bending_stiffness: Annotated[ArrayLike, Floats("()", "(n_links,)")] = 1e4,
    joint_stiffness: Annotated[ArrayLike, Floats("()", "(n_links,)")] | None = 1e4,
    elements: int = 2,
    frame: Annotated[str, Choice("chord", "tangent")] = "chord",
    payload_mass: float = 5.0,
    payload_inertia: float = 0.0,
    rotor_inertia: float = 0.2,
    stator_inertia: float = 0.2,
    damping: float = 0.0,
    geometric_stiffening: bool = False,
) -> Arm:
    r"""Planar arm with flexible links and joints in a vertical plane, Farid (1997).

    Parameters
    ----------
    n_links : int
        Number of links, at most 4096, three in section 4.4.
    bending_stiffness : float or (n_links,) array_like of float
        EI of the links, in N m^2.
    joint_stiffness : float or (n_links,) array_like of float, optional
        Stiffness of the joint shafts, in N m/rad; ``None`` for rigid joints.
    elements : int
        Beam elements of each link, two in the thesis; zero for rigid links, of any EI.
    frame : {"chord", "tangent"}
        Frame in which links deform: the line through both ends, as in the thesis, or
        the tangent at the base.
    payload_mass, payload_inertia : float
        At the tip, in kg and kg m^2.
    rotor_inertia, stator_inertia : float
        Of each actuator, in kg m^2.
    damping : float
        Viscous friction b on the speed of each rotor, in N m s.
    geometric_stiffening : bool
        Links keep their lengths when they bend, so that their ends come closer and
        axial forces stiffen them; not in the thesis.

    Returns
    -------
    arm : Arm
        Bodies ``"link1"``, ``"link2"``, ..., all joints about z, gravity 9.81 m/s^2
        along -y.

    Raises
    ------
    ModelError
        If a number is not physical or an array does not have one entry for each link.

    See Also
    --------
    farid_two_link : the arm of chapters 7 and 8.
    flexarm.reference.farid_planar : the equations of the thesis.

    Notes
    -----
    Data of section 4.4 [1]_ (lines 1465 to 1478 of its scanned text):

    =======================================  ==============================
    length, mass per length of each link     L = 1 m, rho A = 5 kg/m
    payload                                  M_p = 5 kg, I_p = 0
    rotors                                   Ir = 0.2 kg m^2, mr = 0.2 kg
    stators, on the tip of the link before   Is = 0.2 kg m^2, ms = 0.2 kg
    gear ratio, damping                      Gamma = 1, b = 0
    elements of each link                    2: 18 coordinates
    =======================================  ==============================

    The thesis has no value of gravity, and stiffness of links and joints only in lost
    legends of figures, except Kj = 100 N m/rad in Fig. 4.14; the defaults are ours.

    In the chord frame the equations are those of the thesis, without foreshortening and
    stiffening by axial force, to rounding: coordinates of a link are the slope at its
    base, deflections and slopes of the nodes between, the slope at its tip.  Angles of
    joints are :math:`\Phi_k + \vartheta_1^k - \Phi_{k-1} - \vartheta_e^{k-1}`, the
    angles between the tangents.  The tangent frame differs in second order of the
    slopes.

    References
    ----------
    .. [1] M. Farid, *Dynamic Modeling and Optimal Control of Flexible Manipulators*,
       PhD thesis, University of Calgary, 1997.

    Examples
    --------
    >>> import flexarm as fa
    >>> fa.library.farid_planar().nv
    18
    >>> arm = fa.library.farid_planar(elements=0, joint_stiffness=None)
    >>> print(fa.gravity_forces(arm, [0.0, 0.0, 0.0]).round(3))
    [379.647 200.124  73.575]
    """
    n = whole_number("n_links", n_links, 1, MAX_BODIES)
    elements = whole_number("elements", elements, 0, MAX_ELEMENTS)
    payload_mass = not_negative("payload_mass", payload_mass, "kg")
    damping = real("damping", damping, "N m s")
    rotor_inertia = not_negative("rotor_inertia", rotor_inertia, "kg m^2")
    stiffness = _each("bending_stiffness", bending_stiffness, n)
    shafts: list[float] | None = None
    if joint_stiffness is not None:
        shafts = _each("joint_stiffness", joint_stiffness, n, rigid=True)
    rotor = _disc(rotor_inertia)
    stator = _disc(not_negative("stator_inertia", stator_inertia, "kg m^2"))
    payload = _disc(not_negative("payload_inertia", payload_inertia, "kg m^2"))
    bodies: list[Body] = []
    for k in range(n):
        loads = []
        if k == n - 1:
            load = Payload(_LENGTH, mass=payload_mass, inertia=payload, name="tip")
            loads.append(load)
        if shafts is None:
            # a rotor without shaft is a hub, its stator a load of the link before
            joint = Joint(damping=damping)
            loads.append(Payload(0.0, inertia=rotor, name="base"))
            if k < n - 1:
                mass = 2.0 * _ACTUATOR_MASS
                loads.append(Payload(_LENGTH, mass=mass, inertia=stator))
        else:
            joint = Joint(
                drive=Drive(
                    shafts[k],
                    rotor_inertia=rotor_inertia,
                    rotor_transverse_inertia=0.5 * rotor_inertia,
                    rotor_mass=_ACTUATOR_MASS,
                    stator_mass=_ACTUATOR_MASS,
                    stator_inertia=stator,
                    motor_damping=damping,
                )
            )
        # without elements there is nothing to bend
        section = Section.from_stiffness(_DENSITY, stiffness[k] if elements else 1.0)
        form = (section, elements, frame, "bending y", geometric_stiffening)
        bodies.append(_link(f"link{k + 1}", joint, form, loads))
    return Arm(bodies, gravity=(0.0, -_GRAVITY, 0.0), name="farid_planar")


@checked
@named_basis()
def farid_two_link(
    *,
    bending_stiffness: ArrayLike = 1500.0,
    joint_stiffness: ArrayLike | None = 1000.0,
    elements: int = 2,
    frame: str = "chord",
    payload_mass: float = 5.0,
    rotor_inertia: float = 0.2,
    stator_inertia: float = 0.2,
    geometric_stiffening: bool = False,
) -> Arm:
    """Planar arm of two links, for control of its tip along a line: Farid (1997).

    Parameters
    ----------
    bending_stiffness, joint_stiffness : float, optional
        In N m^2 and N m/rad, as of `farid_planar`.
    elements : int, optional
        Beam elements of each link, as of `farid_planar`.
    frame : {"chord", "tangent"}, optional
        As of `farid_planar`.
    payload_mass : float, optional
        In kg, as of `farid_planar`.
    rotor_inertia, stator_inertia : float
        Of each actuator, in kg m^2; see the notes.
    geometric_stiffening : bool
        As of `farid_planar`.

    Returns
    -------
    arm : Arm
        Bodies ``"link1"`` and ``"link2"``.

    Raises
    ------
    ModelError
        If a number is not physical.

    See Also
    --------
    farid_planar : the arm of chapter 4, with the meaning of the coordinates.
    poses : the straight links of the start A and of the end B.

    Notes
    -----
    Data of sections 7.5 and 8.3 [1]_ (lines 2971 to 2994 and 3135):

    =======================================  ==============================
    length, mass per length of each link     L = 1 m, rho A = 5 kg/m
    bending stiffness                        EI = 1500 N m^2
    joint stiffness                          Kj = 1000 N m/rad (printed N/rad)
    rotors and stators                       mr = ms = 0.2 kg
    payload, gear ratio                      M_p = 5 kg, Gamma = 1
    start A and end B of the tip             (1.8, 0.2), (1.6, 0.7) m in 0.5 s
    torque limits of chapter 8               300 and 120 N m
    =======================================  ==============================

    Inertias of rotors and stators, elements of a link, gravity and the side of the
    elbow are not given.  With the inertias of chapter 4 (0.2 kg m^2), two elements,
    9.81 m/s^2 and the elbow up, the tip under torques of the rigid arm is off by 6.37
    and 5.02 mm in x and y; the thesis has 6.1 and 5 mm.

    References
    ----------
    .. [1] M. Farid, *Dynamic Modeling and Optimal Control of Flexible Manipulators*,
       PhD thesis, University of Calgary, 1997.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.farid_two_link()
    >>> arm.nv
    12
    >>> print(fa.tip_pose(arm, fa.library.poses(arm)["A"])[:2, 3].round(12))
    [1.8 0.2]
    """
    arm = farid_planar(
        n_links=2,
        bending_stiffness=bending_stiffness,
        joint_stiffness=joint_stiffness,
        elements=elements,
        frame=frame,
        payload_mass=payload_mass,
        rotor_inertia=rotor_inertia,
        stator_inertia=stator_inertia,
        geometric_stiffening=geometric_stiffening,
    )
    renamed: Arm = arm.replace(name="farid_two_link")
    return renamed


@checked
@named_basis()
def farid_spatial(
    *,
    bending_stiffness: float = 5000.0,
    torsional_stiffness: float = 5000.0,
    joint_stiffness: float | None = 5000.0,
    elements: int = 2,
    frame: Annotated[str, Choice("tangent", "chord")] = "tangent",
    payload_mass: float = 2.0,
    geometric_stiffening: bool = False,
) -> Arm:
    r"""Three links on a turning base, with flexible links and joints: Farid (1997).

    Parameters
    ----------
    bending_stiffness, torsional_stiffness : float
        :math:`E I_y = E I_z` and GJ of each link, in N m^2.
    joint_stiffness : float, optional
        Of the shafts of base and joints, in N m/rad; ``None`` for rigid joints.
    elements : int
        Elements of each link, two in the thesis; zero for rigid links.
    frame : {"tangent", "chord"}
        Frame in which links deform, the tangent at the base in the thesis.
    payload_mass : float
        At the tip, in kg.
    geometric_stiffening : bool
        As of `farid_planar`.

    Returns
    -------
    arm : Arm
        Bodies ``"base"``, which turns about the vertical z, ``"link1"`` to ``"link3"``,
        along x at zero and lifted by positive angles, and ``"payload"``.

    Raises
    ------
    ModelError
        If a number is not physical.

    See Also
    --------
    poses : the initial pose.
    flexarm.reference.farid_spatial : links and constraints of the thesis.

    Notes
    -----
    Data of section 5.4.1 [1]_ (lines 2399 to 2428, 2448):

    =======================================  =====================================
    length, mass per length of each link     L = 1 m, rho A = 5 kg/m
    polar inertia of each link               rho J = 0.05 kg m
    payload                                  2 kg, (0.2, 0.1, 0.1) kg m^2
    rotor of the base                        0.05 kg m^2
    rotors of the joints                     0.2 kg, (0.1, 0.05, 0.05) kg m^2
    stators of the joints                    0.2 kg, (0.1, 0.05, 0.05) kg m^2
    gear ratios, damping                     1, 0
    initial position of the payload          (2, 1, 0) m, at rest
    torques                                  250 (base), 300, 300, 300 N m
    "stiff"                                  40000 N m^2, joints 1e6 N m/rad
    flexible, Figs 5.12 and 5.13             5000 N m^2, joints 5000 N m/rad
    =======================================  =====================================

    The initial pose of the thesis has two conditions for three elevations; ours has
    link 2 level, elevations (a, 0, -a) with :math:`\cos a = (\sqrt 5 - 1)/2`.  Gravity
    is not given; here it is 9.81 m/s^2.

    Rotors turn about y; in the thesis their inertias about x and z differ.  A `Drive`
    has one across its axis, here their mean, 0.075 kg m^2.  The first stator is on the
    base and acts only by its inertia about the vertical, 0.1 kg m^2.

    The thesis has 54 redundant coordinates and 20 constraints, four of which follow
    from the others; this tree has the remaining 38.

    References
    ----------
    .. [1] M. Farid, *Dynamic Modeling and Optimal Control of Flexible Manipulators*,
       PhD thesis, University of Calgary, 1997.

    Examples
    --------
    >>> import flexarm as fa
    >>> arm = fa.library.farid_spatial()
    >>> arm.nv
    38
    >>> q = fa.library.poses(arm)["initial"]
    >>> print(fa.tip_pose(arm, q)[:3, 3].round(12) + 0.0)
    [2. 1. 0.]
    """
    elements = whole_number("elements", elements, 0, MAX_ELEMENTS)
    payload_mass = not_negative("payload_mass", payload_mass, "kg")
    bending_stiffness = positive("bending_stiffness", bending_stiffness, "N m^2")
    torsional_stiffness = positive("torsional_stiffness", torsional_stiffness, "N m^2")
    if joint_stiffness is not None:
        joint_stiffness = _each("joint_stiffness", joint_stiffness, 1, rigid=True)[0]
    section = Section.from_stiffness(
        _DENSITY,
        bending_stiffness if elements else 1.0,
        torsional_stiffness=torsional_stiffness if elements else 1.0,
        rotary_inertia=(_POLAR, 0.0, 0.0),
    )
    motions = ("bending y", "bending z", "torsion")
    form = (section, elements, frame, motions, geometric_stiffening)
    first = (0.05, 0.05, 0.1)  # of stator 1, in the axes of the base
    rotor, stator = (0.075, 0.05, 0.075), (0.1, 0.05, 0.05)
    bodies: list[Body] = []
    if joint_stiffness is None:
        turning = np.add(first, (0.025, 0.025, 0.05))
        bodies.append(RigidBody("base", inertia=turning))
    else:
        drive = Drive(
            joint_stiffness, rotor_inertia=0.05, rotor_transverse_inertia=0.025
        )
        bodies.append(RigidBody("base", Joint(drive=drive), inertia=first))
    for k in range(3):
        axis, loads = (0.0, -1.0, 0.0), []
        if joint_stiffness is None:
            joint = Joint(axis=axis)
            loads.append(Payload(0.0, inertia=rotor, name="base"))
            if k < 2:
                mass = 2.0 * _ACTUATOR_MASS
                loads.append(Payload(_LENGTH, mass=mass, inertia=stator))
        else:
            drive = Drive(
                joint_stiffness,
                rotor_inertia=rotor[1],
                rotor_transverse_inertia=rotor[0],
                rotor_mass=_ACTUATOR_MASS,
                stator_mass=_ACTUATOR_MASS,
                stator_inertia=stator if k else 0.0,
            )
            joint = Joint(axis=axis, drive=drive)
        bodies.append(_link(f"link{k + 1}", joint, form, loads))
    bodies.append(
        RigidBody("payload", Joint.fixed(), mass=payload_mass, inertia=(0.2, 0.1, 0.1))
    )
    return Arm(bodies, gravity=(0.0, 0.0, -_GRAVITY), name="farid_spatial")


def _disc(inertia: float) -> tuple[float, float, float]:
    """Inertia of a thin disc about z; only that one matters in a plane."""
    return (0.5 * inertia, 0.5 * inertia, inertia)


def _link(
    name: str,
    joint: Joint,
    form: tuple[Section, int, str, object, bool],
    loads: list[Payload],
) -> Body:
    """One link of 1 m, flexible or, without elements, rigid."""
    # flexible, by finite elements
    section, elements, frame, motions, stiffening = form
    if elements:
        return Beam(section, _LENGTH).elements(
            name,
            elements,
            joint=joint,
            motions=motions,
            frame=frame,
            payloads=loads,
            rotary_inertia=False,
            geometric_stiffening=stiffening,
            n_modes="all",
        )

    # rigid: mass, mass centre and inertia of rod and loads
    rod = section.mass_per_length * _LENGTH
    mass = rod + sum(load.mass for load in loads)
    moment = 0.5 * rod * _LENGTH + sum(load.mass * load.at for load in loads)
    com = np.array([moment / mass, 0.0, 0.0])
    across = rod * _LENGTH**2 / 3.0
    polar = float(section.rotary_inertia[0]) * _LENGTH
    about = np.diag([polar, across, across])
    for load in loads:
        shift = load.mass * load.at**2
        about += load.inertia + np.diag([0.0, shift, shift])
    about -= mass * (com @ com * np.eye(3) - np.outer(com, com))
    return RigidBody(
        name,
        joint,
        mass=mass,
        com=com,
        inertia=about,
        nodes={"tip": (_LENGTH, 0.0, 0.0)},
    )
