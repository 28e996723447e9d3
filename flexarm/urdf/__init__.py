"""Arms from robot descriptions (URDF), with flexible links in place of rigid ones.

`load` makes an `Arm` of a file, `read` returns its content.  A small strict reader of
flexarm reads the files by the XML parser of the standard library.  The extra
``flexarm[urdf]`` is needed only for files with macros, which xacro expands, and for
TOML files of flexible links on Python 3.10.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Annotated

from .._calls.declared import Choice
from .._calls.doors import checked
from .._support.moved import missing_or_moved
from .._support.warn import warn
from ..arm import Arm
from ..bodies import Joint
from ._arm import Flexible, built
from ._findings import Massless, Repair, UrdfWarning
from ._report import Report, merged_links
from ._robot import Robot, RobotLink, read
from ._save import save
from ._visuals import Folders, MeshFinder, Visual
from ._xml import Source

__all__ = [
    "Report",
    "Robot",
    "UrdfWarning",
    "Visual",
    "load",
    "read",
    "report",
    "save",
]


@checked
def load(
    source: Source,
    *,
    flexible: Mapping[str, Flexible | Callable[[RobotLink], Flexible]] | None = None,
    sidecar: str | PathLike[str] | Mapping[str, object] | None = None,
    base: Annotated[str, Choice("fixed", "free")] | Joint = "fixed",
    repair: Repair | None = None,
    massless: Massless | None = None,
    friction_velocity: float | None = 0.01,
    stops: float | None = None,
    xacro_arguments: Mapping[str, object] | None = None,
    **options: object,
) -> Arm:
    """Arm of a robot description in the Unified Robot Description Format.

    Parameters
    ----------
    source : path, str or bytes
        File, or its text; a str with a ``<`` in it is the text.  A file named
        ``*.xacro`` is expanded by the package xacro, as `read` tells.
    flexible : mapping of str to FlexibleBody, SegmentedLink or callable, optional
        Flexible bodies for links, by their names: the body, in the frame of the link,
        or a function that makes it of the `RobotLink`.
    sidecar : path or mapping, optional
        TOML or JSON file of flexible links and of what else URDF does not say; see
        Notes.  By default the one that the robot file names, beside it.
    base : {"fixed", "free"} or Joint
        Joint of the root link on the ground; a `Joint` also has its place.
    repair : "nearest", optional
        Take what is closest to a defect of the file, and say so in a warning: the
        nearest inertia that some mass has, no limits where they are missing or the
        wrong way round, a fixed joint where nothing that moves has a mass, no coupling
        to a joint that is not there.  By default a file with defects is refused, and
        the message names all of them.
    massless : "unit", optional
        For kinematics alone: links on joints that move no mass have 1 kg and 1 kg m^2,
        so that these joints stay as they are.  By default they are refused, and
        `repair` fixes them in robots that have masses elsewhere.
    friction_velocity : float or None
        Velocity in rad/s or m/s below which Coulomb friction of the file is smooth, see
        `flexarm.CoulombFriction`; None leaves friction out.
    stops : float, optional
        Stiffness of elastic stops at the limits of all joints, in N m/rad or N/m; by
        default there are none.
    xacro_arguments : mapping of str to object, optional
        Values of the ``<xacro:arg>`` of a file with macros.
    **options
        Of `flexarm.Arm`: ``gravity``, ``tip``, ``fidelity``, more ``constraints``, ...

    Returns
    -------
    arm : Arm
        A body for each link, with its name and frame, from the root outward.  A root
        without inertial on a fixed base is the ground.  Coordinates have the names of
        the joints.

    Raises
    ------
    ModelError
        If the file is not understood, with the line, is not a physical arm, or is too
        large: above 16 MiB, 262144 elements or 4096 links beside the ground.
    OSError
        If a file cannot be read.

    Warns
    -----
    UrdfWarning
        For each repair, and for each part that would affect the motion and is left out:
        friction of joints of several freedoms, transmissions without an inertia and
        other elements that are not read, masses of links that are replaced.
    UnitsWarning
        For inertias that look like those of another unit.

    See Also
    --------
    read : content of the file.
    report : the arm with all that was read, changed and left out.

    Notes
    -----
    ============  ============================================================
    revolute      ``Joint("revolute", limits=...)``
    continuous    the same without limits
    prismatic     ``Joint("prismatic", limits=...)``
    fixed         ``Joint("fixed")``: links keep their names; dynamics sees their sums
    floating      ``Joint("free")``, quaternion first
    planar        ``Joint("planar")``, in the plane across the axis
    spherical     ``Joint("spherical")``; not in the format, but in files
    effort        ``Joint(effort_limit=)``, where it is above zero
    velocity      ``Joint(velocity_limit=)``, where it is above zero
    friction      ``CoulombFriction``
    mimic         ``Coupling``, of the name of the joint, which then has no coordinate
                  (``Arm.followers``); with ``couplings="constrained"`` a constraint
    transmission  ``Joint(armature=)``: ``mechanicalReduction`` squared times
                  ``motorInertia`` or ``rotorInertia``, where one is given
    ============  ============================================================

    Inertias are turned into the axes of the link.  That of a link that cannot turn is
    not refused, and of links on fixed joints only the sum counts.  Visual and collision
    shapes are ignored.  The joints that start on a link sit at nodes with their names;
    those on a flexible link at the node of their name, or else at the nearest one.

    A sidecar has a table for each flexible link, a straight uniform beam clamped to the
    frame of the link, with the keys

    ==========================  ====================================================
    length, mass_per_length     in m, kg/m
    bending_stiffness           EI in N m^2: a number, or two, in y and z of the beam
    modes, n_modes,             basis of the link, number of its coordinates by motion,
    max_frequency               as of `flexarm.beams.flexible_link`
    planes                      "y", "z" or "yz" (default)
    torsional_stiffness         GJ in N m^2; without it the link does not twist
    polar_inertia_per_length    of torsion, in kg m
    axis                        of the beam, in the frame of the link; x by default
    y_axis                      its y, across the axis; by default as near as can be
                                to y of the link
    position                    of its base, zero by default, in m
    segments                    pieces of a link that bends far, in place of modes
    damping_ratio               of all modes, 0 by default
    outboard_mass, _inertia     at the tip, for the modes "tip-loaded": they have no
                                mass in the arm, where the links have it
    ==========================  ====================================================

    or with the key ``body`` alone: a `FlexibleBody` or `SegmentedLink` by all of its
    numbers, as `save` and `flexarm.save` write it.

    A table ``joints`` in it has tables of joints, arguments of `Joint` that take the
    place of those of the file: ``{"joints": {"elbow": {"armature": 0.3}}}``; ``node``
    is that of the link which carries the joint.  A table ``arm`` has arguments of
    `Arm`: ``gravity``, ``tip``, ``fidelity``, ``constraints``, ``stabilization``,
    ``couplings``, and ``order``, the names of the links in that of the arm.

    Mass and inertia of such a link in the file are replaced.  A payload that is a
    link on a fixed joint, as in URDF, turns with the bent tip and is exact in space;
    see `flexarm.beams.flexible_link`.

    Examples
    --------
    A rod on a hinge, rigid and then flexible:

    >>> import flexarm as fa
    >>> text = '''<robot name="rod">
    ...   <link name="base"/>
    ...   <link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
    ...     <inertia ixx="0" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    ...   </link>
    ...   <joint name="hinge" type="revolute"><axis xyz="0 0 1"/>
    ...     <parent link="base"/><child link="rod"/>
    ...     <limit lower="-2" upper="2" effort="9" velocity="2"/></joint></robot>'''
    >>> arm = fa.urdf.load(text)
    >>> arm.coordinate_names, arm.joint_limits.T.tolist()
    (('hinge',), [[-2.0, 2.0]])
    >>> beam = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 5.0}
    >>> fa.urdf.load(text, sidecar={"rod": beam | {"planes": "y"}}).coordinate_names
    ('hinge', 'rod.tip y', 'rod.tip rz', 'rod.bending y 3')
    """
    arm, _, findings = built(
        source,
        None,
        flexible=flexible,
        sidecar=sidecar,
        base=base,
        repair=repair,
        massless=massless,
        friction_velocity=friction_velocity,
        stops=stops,
        xacro_arguments=xacro_arguments,
        options=options,
    )
    changes = [x.text for x in findings if x.kind == "changed"]
    notes = [x.text for x in findings if x.kind != "changed" and x.text]
    for note in (*changes, *notes):
        warn(note, UrdfWarning)
    return arm


@checked
def report(
    source: Source,
    *,
    flexible: Mapping[str, Flexible | Callable[[RobotLink], Flexible]] | None = None,
    sidecar: str | PathLike[str] | Mapping[str, object] | None = None,
    base: Annotated[str, Choice("fixed", "free")] | Joint = "fixed",
    repair: Repair | None = None,
    massless: Massless | None = None,
    friction_velocity: float | None = 0.01,
    stops: float | None = None,
    xacro_arguments: Mapping[str, object] | None = None,
    package_directories: Folders = (),
    **options: object,
) -> Report:
    """Arm of a robot description, with all that was read, changed and left out.

    Parameters
    ----------
    source : path, str or bytes
        File, or its text, as of `load`.
    flexible : mapping of str to FlexibleBody, SegmentedLink or callable, optional
        Flexible bodies for links, as of `load`.
    sidecar : path or mapping, optional
        File of flexible links and of what else URDF does not say, as of `load`.
    base : {"fixed", "free"} or Joint
        Joint of the root link on the ground.
    repair : "nearest", optional
        Take what is closest to a defect of the file.
    massless : "unit", optional
        For kinematics alone: a mass for links on joints that move none.
    friction_velocity : float or None
        Velocity below which friction is smooth, in rad/s or m/s; None: no friction.
    stops : float, optional
        Stiffness of elastic stops at the limits, in N m/rad or N/m.
    xacro_arguments : mapping of str to object, optional
        Values of the ``<xacro:arg>`` of a file with macros.
    package_directories : path, sequence of paths, or mapping of str to path, optional
        Where packages of meshes are, as of `read`.
    **options
        Of `flexarm.Arm`.

    Returns
    -------
    report : Report
        ``report.arm`` is the arm of `load`, ``print(report)`` shows the tables.

    Raises
    ------
    ModelError
        As of `load`.
    OSError
        If a file cannot be read.

    Warns
    -----
    UnitsWarning
        For inertias that look like those of another unit.  What `load` warns of
        otherwise is in the report.

    Examples
    --------
    >>> import flexarm as fa
    >>> report = fa.urdf.report('''<robot name="rod">
    ...   <link name="base"/>
    ...   <link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
    ...     <inertia ixx="0" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    ...   </link>
    ...   <joint name="hinge" type="revolute"><axis xyz="0 0 1"/>
    ...     <parent link="base"/><child link="rod"/></joint></robot>''',
    ...     repair="nearest")
    >>> [(x.element, x.line, x.what, x.after) for x in report.changed]
    [("joint 'hinge'", 6, 'no <limit>', 'no limits')]
    """
    finder = MeshFinder(source, package_directories)
    arm, robot, findings = built(
        source,
        finder,
        flexible=flexible,
        sidecar=sidecar,
        base=base,
        repair=repair,
        massless=massless,
        friction_velocity=friction_velocity,
        stops=stops,
        xacro_arguments=xacro_arguments,
        options=options,
    )
    return Report(arm, robot, tuple(findings), merged_links(arm))


if not TYPE_CHECKING:
    __getattr__ = missing_or_moved(__name__, __all__)
