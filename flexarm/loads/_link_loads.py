"""Loads along flexible links: forces and moments of sections, strains, stresses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._calls.arguments import check_finite, real_array
from .._calls.arm_like import ArmLike, Array
from .._calls.declared import JacobianFrame, Positions, Twists, Velocities
from .._calls.doors import checked, checked_class
from .._calls.links import link_name
from .._support.printing import Printed, Sheet, Table
from ..bodies.body import Body
from ..bodies.maps import cross_matrix, node_turn
from ..bodies.profile import BeamProfile
from ..bodies.sections import Section
from ..bodies.segments import link_profile
from ..bodies.strain_energy import section_strains
from ..errors import ArgumentError, ModelError
from ..model.expansion import expanded
from ..model.loops import Loop
from ..model.sliders import Slider
from ._link_wrenches import Wrenches


@checked_class
@dataclass(frozen=True, repr=False)
class LinkLoads(Printed):
    r"""Loads at the cuts of one link, in the axes of its deformed sections.

    Forces and moments that the part beyond a cut exerts on the part before it: a
    positive axial force is tension, moments are right-handed about their axes, so that

    .. math:: M_x = GJ\,\theta', \qquad M_y = -EI_y\,w'', \qquad M_z = EI_z\,v'',

    where :math:`v''` and :math:`w''` stand for the curvatures by the rotations of the
    sections, from which those of the line differ by shear.

    Attributes
    ----------
    name : str
        Name of the link.
    at : (S,) ndarray
        Distances of the cuts from the base along the line, in m.
    force : (..., S, 3) ndarray
        Axial force and shear along y and z, in N.
    moment : (..., S, 3) ndarray
        Torsion and bending moments about y and z, in N m.
    strain : (..., S, 4) ndarray
        Stretch, rate of twist in 1/m, curvatures in 1/m that are :math:`v''` and
        :math:`w''` to first order, by the modes of the link; with foreshortening to
        third order, in the axes of the section.
    strain_moment : (..., S, 3) ndarray
        Moments of these strains, in N m.
    profile : BeamProfile
        Cuts of the link.

    Notes
    -----
    Printed, it is a table of the cuts with the largest stress of each, of a batch with
    the largest absolute values of all states.
    """

    name: str
    at: Array
    force: Array
    moment: Array
    strain: Array
    strain_moment: Array
    profile: BeamProfile

    @property
    def axial(self) -> Array:
        """Axial force, (..., S), tension positive, in N."""
        return self.force[..., 0]

    @property
    def torsion(self) -> Array:
        """Torsion moment, (..., S), in N m."""
        return self.moment[..., 0]

    def stress(self, *, by_strain: bool = False) -> Array:
        """Largest absolute normal stress in each section.

        Parameters
        ----------
        by_strain : bool
            Use the moments of the strains of the modes, without axial force, in place
            of those in balance.

        Returns
        -------
        stress : (..., S) ndarray
            Stress in Pa.

        Raises
        ------
        ModelError
            If the sections have no outermost fibres.

        See Also
        --------
        flexarm.beams.Section.normal_stress : stress of one section.

        Examples
        --------
        A tube of 1 m under its own weight, in MPa at its root, and the formula of a
        cantilever, M = mu g L^2/2:

        >>> import flexarm as fa
        >>> tube = fa.beams.Section.tube(0.02, 0.001, fa.beams.ALUMINIUM)
        >>> link = fa.beams.finite_element_link(
        ...     "link", length=1.0, sections=tube, motions="bending y"
        ... )
        >>> arm = fa.Arm([link], gravity=(0, -9.81, 0))
        >>> loads = fa.link_loads(arm, [0.0] * 4, [0.0] * 4, [0.0] * 4)["link"]
        >>> moment = tube.mass_per_length * 9.81 / 2.0
        >>> print((1e-6 * loads.stress()[0]).round(3))
        2.927
        >>> print((1e-6 * tube.normal_stress(0.0, 0.0, moment)).round(3))
        2.927
        """
        axial = self.force[..., 0] * (not by_strain)
        moment = self.strain_moment if by_strain else self.moment
        return np.stack(
            [
                section.normal_stress(
                    axial[..., j], moment[..., j, 1], moment[..., j, 2]
                )
                for j, section in enumerate(self._sections())
            ],
            axis=-1,
        )

    def shear_stress(self, *, by_strain: bool = False) -> Array:
        """Largest absolute shear stress of torsion in each section.

        Parameters
        ----------
        by_strain : bool
            Use the torsion of the strains of the modes.

        Returns
        -------
        stress : (..., S) ndarray
            Stress in Pa of torsion about the shear centre, without shear forces.

        Raises
        ------
        ModelError
            If the sections have no torsion modulus.

        See Also
        --------
        flexarm.beams.Section.shear_stress : stress of one section.

        Examples
        --------
        A round bar of 1 m and 20 mm, twisted at its end by 10 N m, in MPa at its root,
        16 M / (pi d^3):

        >>> import flexarm as fa
        >>> bar = fa.beams.Section.round(0.02, fa.beams.STEEL)
        >>> link = fa.beams.finite_element_link(
        ...     "link", length=1.0, sections=bar, motions="torsion"
        ... )
        >>> arm = fa.Arm([link], gravity=(0, 0, 0))
        >>> rest = fa.equilibrium(arm, [0.0] * arm.nq, wrench=[10, 0, 0, 0, 0, 0])
        >>> still = [0.0] * arm.nv
        >>> loads = fa.link_loads(arm, rest.q, still, still, wrench=[10, 0, 0, 0, 0, 0])
        >>> print((1e-6 * loads["link"].shear_stress()[0]).round(3))
        6.366
        """
        sections = self._sections()
        torsion = self.strain_moment[..., 0]
        if not by_strain:
            # about the shear centres, from about the line
            y, z = np.transpose([section.shear_centre for section in sections])
            torsion = self.moment[..., 0] + z * self.force[..., 1]
            torsion = torsion - y * self.force[..., 2]
        return np.stack(
            [
                section.shear_stress(torsion[..., j])
                for j, section in enumerate(sections)
            ],
            axis=-1,
        )

    def _sheet(self) -> Sheet:
        batch = self.force.shape[:-2]
        many = f", largest absolute values of {' x '.join(map(str, batch))} states"
        head = ["at m", "axial N", "shear y N", "shear z N"]
        head += ["torsion N m", "M_y N m", "M_z N m"]
        numbers = np.concatenate([self.force, self.moment], axis=-1)
        sections = self.profile.sections
        if sections and all(section.fibres is not None for section in sections):
            head += ["stress MPa"]
            stress = 1e-6 * self.stress()[..., np.newaxis]
            numbers = np.concatenate([numbers, stress], axis=-1)
        if batch:
            numbers = (
                abs(numbers).reshape(-1, *numbers.shape[-2:]).max(axis=0, initial=0.0)
            )
        # rounding of an equilibrium is not a load
        scale = abs(numbers[..., :6]).max(initial=0.0)
        numbers = np.where(abs(numbers) < 1e-12 * scale, 0.0, numbers)
        rows = [tuple(head)] + [
            (f"{at:.4g}", *(f"{number:.4g}" for number in row))
            for at, row in zip(self.at, numbers, strict=True)
        ]
        caption = f"loads of link {self.name!r}{many if batch else ''}"
        return Sheet((caption, Table(rows, right=True)))

    def __repr__(self) -> str:
        batch = " x ".join(map(str, self.force.shape[:-2]))
        many = f", {batch} states" if batch else ""
        return f"<LinkLoads of {self.name!r}: {len(self.at)} cuts{many}>"

    def _sections(self) -> tuple[Section, ...]:
        sections = self.profile.sections
        if sections is None:
            raise ModelError(
                f"link {self.name!r} has no sections, which stresses need, expected a "
                "link of flexarm.beams.finite_element_link"
            )
        return sections


@checked
def link_loads(
    arm: ArmLike,
    q: Positions,
    qd: Velocities,
    qdd: Velocities,
    *,
    wrench: Twists | None = None,
    node: object = None,
    frame: JacobianFrame = "node",
) -> dict[str, LinkLoads]:
    r"""Axial force, shear, torsion and bending moments along the links of an arm.

    Forces and moments at a cut balance all loads beyond it: inertia and weight of the
    rest of the link, of the bodies on it, and an external wrench.  This is exact in any
    state of motion, for any modes.  In addition there are the moments of the strains of
    the modes.

    Parameters
    ----------
    arm : Arm
        Arm with ``nv`` coordinates, of full fidelity.
    q : (..., nq) array_like of float
        Positions: rad (revolute), m (prismatic), modal coordinates.
    qd, qdd : (..., nv) array_like of float
        Velocities and accelerations, such as those of `forward_dynamics`.  Leading axes
        broadcast.
    wrench : (..., 6) array_like of float, optional
        Moment in N m, then force in N, of an external wrench on a node.
    node : int, str or (body, node), optional
        Number or name of this node; by default the tip.
    frame : {"node", "base"}
        Axes of the wrench, as in `wrench_forces`.

    Returns
    -------
    loads : dict of str to LinkLoads
        Loads of each link by its name, for links of `beams.flexible_link` and
        `beams.finite_element_link`; one curve for all pieces of a link.

    Raises
    ------
    ArgumentError
        If the arm has loops or is not of full fidelity.
    NotFiniteError
        If an argument or a result is not finite.

    See Also
    --------
    inverse_dynamics : moments about the axes of joints.
    plotting.link_loads : draws them.

    Notes
    -----
    The loads at the base are those of the joint: the moment about its axis is minus its
    torque (without that on a hub), as the joint acts on the link from the other side.
    Motors and their housings are loads of the link that carries them.

    Strains of few modes do not have the jumps of shear at joints and payloads, and
    moments by strains converge more slowly than deflections; the difference of both
    moments measures the quality of the modes.  They agree in a link of elements at rest
    under loads at its nodes.

    References
    ----------
    .. [1] L. Meirovitch, *Fundamentals of Vibrations*, McGraw-Hill, 2001, section 7.2
       (loads by modes); R. L. Bisplinghoff, H. Ashley, R. L. Halfman,
       *Aeroelasticity*, Addison-Wesley, 1955, section 10-6 (by modes or by forces).

    Examples
    --------
    A stiff level link of 2 kg/m and 1 m at rest has a shear force of 2 g at the base,
    and half of that in bending:

    >>> import flexarm as fa
    >>> link = fa.beams.finite_element_link(
    ...     "link", length=1.0, sections=fa.beams.Section.from_stiffness(2.0, 1e6),
    ...     motions="bending y"
    ... )
    >>> arm = fa.Arm([link], gravity=(0, -9.81, 0))
    >>> loads = fa.link_loads(arm, [0.0] * 4, [0.0] * 4, [0.0] * 4)["link"]
    >>> print(loads.at[0], loads.force[0].round(6), loads.moment[0].round(6))
    0.0 [  0.   -19.62   0.  ] [ 0.    0.   -9.81]
    """
    _refuse(arm)
    given = [real_array(*item) for item in (("q", q), ("qd", qd), ("qdd", qdd))]
    for what, value, size in zip(
        ("q", "qd", "qdd"), given, (arm.nq, arm.nv, arm.nv), strict=True
    ):
        if value.ndim == 0 or value.shape[-1] != size:
            raise ArgumentError(
                f"{what} has shape {value.shape}, expected (..., {size})"
            )
        check_finite(what, value)
    try:
        np.broadcast_shapes(*(value.shape[:-1] for value in given))
    except ValueError:
        raise ArgumentError(
            "leading axes do not broadcast: q {}, qd {}, qdd {}, expected equal "
            "lengths or 1".format(*(value.shape[:-1] for value in given))
        ) from None
    bodies, links = arm.bodies, dict.fromkeys(arm._links)
    if any(body.joint.drive is not None or body._rigid_nodes for body in bodies):
        # motors and rigid nodes as bodies, on the same coordinates
        arm = expanded(arm)
    wrenches = Wrenches(arm, *given)
    if wrench is not None:
        wrenches.add_external(wrench, node, frame)
    result = {}
    for link in links:
        pieces = [bodies[k] for k in link]
        profile = link_profile(pieces)
        if profile is not None:
            parts = [_loads_of(wrenches, k, bodies[k].beam) for k in link]
            result[link_name(pieces[0])] = _joined(parts, profile)
    return result


def _joined(parts: list[LinkLoads], profile: BeamProfile) -> LinkLoads:
    """Loads of a link, from those of its pieces."""
    if len(parts) == 1:
        return parts[0]

    def along(what: str) -> Array:
        return np.concatenate([getattr(part, what) for part in parts], axis=-2)

    return LinkLoads(
        name=parts[0].name,
        at=profile.at,
        force=along("force"),
        moment=along("moment"),
        strain=along("strain"),
        strain_moment=along("strain_moment"),
        profile=profile,
    )


def _refuse(arm: ArmLike) -> None:
    if arm.fidelity != "full":
        raise ArgumentError(
            f"the arm has the fidelity {arm.fidelity!r}, expected 'full', since forces "
            "of the others do not balance; use replace(fidelity='full')"
        )
    loops = [item for item in arm.constraints if isinstance(item, Loop | Slider)]
    if loops:
        raise ArgumentError(
            f"the arm has {len(loops)} loops, whose forces act on its links, "
            "expected a tree; give their forces as a wrench"
        )


def _strains(body: Body, profile: BeamProfile, eta: Array) -> Array:
    """Stretch, rate of twist and curvatures of all cuts (U2), (..., S, 4)."""
    strain = np.asarray(np.einsum("sam,...m->...sa", profile.strain, eta))
    if body._strain_energy is None:
        return strain
    turn = np.einsum("sji,sjm->sim", profile.axes, body.node_rotation[profile.node])
    s = np.einsum("sim,...m->...si", turn, eta)
    rate = np.stack([strain[..., 1], -strain[..., 3], strain[..., 2]], axis=-1)
    kappa = section_strains(s, rate)
    twist = kappa[..., 0] if turn[:, 0].any() else strain[..., 1]
    return np.stack([strain[..., 0], twist, kappa[..., 2], -kappa[..., 1]], axis=-1)


def _loads_of(wrenches: Wrenches, number: int, profile: BeamProfile) -> LinkLoads:
    """Loads of one link, from the wrenches about its frame."""
    body = wrenches.arm.bodies[number]
    eta = wrenches.modes(number)[0]
    # wrenches beyond each cut, about the cut, in the axes of its section
    forces, moments = [], []
    for j, node in enumerate(profile.node):
        about_frame = wrenches.beyond(number, profile, j)
        place = wrenches.place(number, int(node))
        R = node_turn(body, int(node), eta)[0] @ profile.axes[j]
        force = -about_frame[..., 3:]
        moment = -about_frame[..., :3]
        moment = moment - (cross_matrix(place) @ force[..., np.newaxis])[..., 0]
        forces.append(np.einsum("...ij,...i->...j", R, force))
        moments.append(np.einsum("...ij,...i->...j", R, moment))
    # strains of the modes and their moments
    strain = _strains(body, profile, eta)
    bend = strain * profile.stiffness
    if profile.coupling is not None:
        bend += np.einsum("sij,...sj->...si", profile.coupling, strain)
    loads = LinkLoads(
        name=body.name,
        at=profile.at,
        force=np.stack(forces, axis=-2),
        moment=np.stack(moments, axis=-2),
        strain=strain,
        strain_moment=np.stack([bend[..., 1], -bend[..., 3], bend[..., 2]], axis=-1),
        profile=profile,
    )
    check_finite("force of the links", loads.force, 2)
    return loads
