"""A straight uniform link as a body: hub, Gauss points, payload, modes.

Deformations follow A. De Luca and B. Siciliano, "Closed-form dynamic model of planar
multilink lightweight robots", IEEE Trans. Systems, Man, and Cybernetics 21(4), 1991,
with a second plane of bending and torsion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Floats, Kept, Kind
from .._calls.doors import checked_as
from .._support.arrays import Array
from .._support.checks import (
    as_array,
    as_numbers,
    check_inertia,
    flag,
    positive,
    real,
    whole_number,
)
from .._support.quadrature import gauss_rule, node_fractions
from ..bodies.joints import Joint, default_joint
from ..bodies.models import FlexibleBody, Name
from ..bodies.sections import Section
from ..bodies.segments import SegmentedLink
from ._bending import BendingModes
from ._clamped import LinkModes, TorsionModes
from ._coordinates import damping_matrix, damping_ratios, spread_over
from ._craig_bampton import CRAIG_BAMPTON
from ._line import Payload, inertia_of, payload_list, vector_of
from ._segments import refuse_beside_pieces, segmented_link, twists_twice
from ._uniform_modes import (
    Uniform,
    cuts_across,
    foreshortening,
    given_modes,
    known_kinds,
    modes_by_name,
    node_shapes,
    stiffness_of,
    tip_moments,
    uniform,
)
from .limits import HELD, MAX_SEGMENTS, point_count


def _inertia(what: str, value: Any) -> Array:
    """3 x 3 inertia; a number is that of a thin disc about z."""
    if type(value) is float and value == 0.0:
        return np.zeros((3, 3))
    if as_numbers(what, value).ndim == 0:
        about_z = float(as_array(what, value, ()))
        value = (0.5 * about_z, 0.5 * about_z, about_z)
    return inertia_of(what, value)


def _both(what: str, value: object) -> Array:
    """Bending stiffness along y and z."""
    given = as_numbers(what, value)
    return as_array(what, np.full(2, given) if given.ndim == 0 else given, (2,))


@checked_as("{field} of link {name!r}")
def flexible_link(
    name: Name,
    *,
    length: Annotated[float, Kept(positive, "m")],
    mass_per_length: Annotated[float, Kept(positive, "kg/m")],
    bending_stiffness: Annotated[Any, Kept(_both)] | None = None,
    torsional_stiffness: float | None = None,
    polar_inertia_per_length: float | None = None,
    joint: Joint | None = None,
    motions: str | Sequence[str] | None = None,
    modes: Annotated[str | None, Kind()] = None,
    n_modes: int | Mapping[str, int] | None = None,
    max_frequency: Annotated[float, Kept(positive, "Hz")] | None = None,
    outboard: Annotated[Sequence[Payload], Kept(payload_list)] = (),
    bending_y: BendingModes | None = None,
    bending_z: BendingModes | None = None,
    torsion: TorsionModes | None = None,
    modal_damping: Annotated[ArrayLike, Floats("()", "(n,)")] = 0.0,
    damping_ratio: Annotated[ArrayLike, Floats("()", "(n,)")] = 0.0,
    base_mass: Annotated[float, Kept(real, "kg")] = 0.0,
    base_inertia: Annotated[Any, Kept(_inertia)] = 0.0,
    tip_mass: Annotated[float, Kept(real, "kg")] = 0.0,
    tip_com: Annotated[Any, Kept(vector_of, "m")] = (0.0, 0.0, 0.0),
    tip_inertia: Annotated[Any, Kept(_inertia)] | None = None,
    section_inertia: Annotated[Any, Kept(vector_of, "kg m")] | None = None,
    n_points: Annotated[int, Kept(point_count, 2)] | None = None,
    geometric_stiffening: Annotated[bool, Kept(flag)] = True,
    segments: Annotated[int, Kept(whole_number, 1, MAX_SEGMENTS)] | None = None,
) -> Any:
    r"""Make a straight uniform link along x that bends and twists.

    The body has a node ``"base"`` at the origin, which carries the hub, nodes ``"g1"``,
    ``"g2"``, ... at Gauss points, which carry the link, and a node ``"tip"`` at x = L,
    which carries the payload.

    Parameters
    ----------
    name : str
        Name, unique in the arm.
    length : float
        Length, in m.
    mass_per_length : float
        :math:`\rho`, in kg/m.
    bending_stiffness : float or (2,) array_like of float, optional
        :math:`EI` against deflection along y and along z, in N m^2.
    torsional_stiffness, polar_inertia_per_length : float, optional
        :math:`GJ` in N m^2 and :math:`\rho I_p` in kg m; without them the link does
        not twist.
    joint : Joint, optional
        Connection to the parent; by default a revolute joint about z.
    motions : str or sequence of str, optional
        Deformations: some of ``"bending y"`` (rotation about z, :math:`+v'`),
        ``"bending z"`` (rotation about y, :math:`-w'`) and ``"torsion"``; by default
        all whose stiffness is given.
    modes : str, optional
        Basis.  ``"craig-bampton"`` (default): static shapes of the tip, then modes with
        base and tip held.  ``"static"``: static shapes alone.  ``"clamped-free"``,
        ``"tip-loaded"``, ``"pinned"`` and ``"free"``: natural modes of the link with
        its own payload, also with what is `outboard`, pinned at both ends (torsion
        clamped) and free.
    n_modes : int or mapping of str to int, optional
        Number of coordinates **of each motion**, static ones included, or numbers by
        motion such as ``{"bending y": 3, "torsion": 1}``; by default three in bending
        and two in torsion.  Two in bending and one in torsion are static; one in
        bending is the deflection under a force at the tip.
    max_frequency : float, optional
        Keep modes up to this frequency, in Hz, and all static shapes.
    outboard : sequence of Payload
        Masses at the tip that only shape ``"tip-loaded"`` modes, in place of the bodies
        that the link carries.
    bending_y, bending_z, torsion : BeamModes, RodModes or others, optional
        Modes of one's own, in place of the arguments from `bending_stiffness` on; their
        stiffness is that of the link.
    modal_damping : float or (n,) array_like of float
        Damping coefficients of the coordinates, in N s/m (bending), N m s (torsion).
    damping_ratio : float or (n,) array_like of float
        Damping ratio of each natural mode of the link, clamped at its base, in the
        order of frequencies; of modes of one's own, of each of them with the payload
        that it was computed for, :math:`2 \zeta \sqrt{k_{jj} m_{jj}}`.
    base_mass : float
        Mass of the hub, in kg.
    base_inertia : float, (3,), (6,) or (3, 3) array_like of float
        Inertia of the hub about the origin, in kg m^2: a number is that of a thin disc
        about z (half of it about x and y), other forms are as in `RigidBody`.
    tip_mass : float
        Mass of the payload, in kg.
    tip_com : (3,) array_like of float
        Centre of mass of the payload relative to the tip, in m.
    tip_inertia : float, (3,), (6,) or (3, 3) array_like of float, optional
        Inertia of the payload **about the tip**, in kg m^2, in the forms of
        `base_inertia`, in the axes of the tip, with which it turns (see Notes).  By
        default that of a point at `tip_com`.
    section_inertia : (3,) array_like of float, optional
        Rotary inertia per length of the cross sections about x, y and z, in kg m.  By
        default zero, and with torsion its polar inertia, half of it about y and z.
    n_points : int, optional
        Number of Gauss points, at least 2; by default enough to integrate all products
        of two modes to 1e-14.
    geometric_stiffening : bool
        Points of the bent beam are closer to the base along x, as its length does not
        change.  ``False`` neglects this, which is wrong to first order in the modes for
        a link that turns fast (see Notes).
    segments : int, optional
        Number of pieces of equal lengths, at most 256, for a link that bends far.  Each
        has static shapes and a frame of its own, as in `finite_element_link`, and with
        ``n_modes={"torsion": 2}`` a twist of its middle.

    Returns
    -------
    body : FlexibleBody or SegmentedLink
        Body with coordinates in the order bending y, bending z, torsion.  Static ones
        are ``"tip y"``, ``"tip rz"``, ``"tip z"``, ``"tip ry"``, ``"tip rx"``, the
        displacements of the tip in m and rad; modes ``"bending y 1"`` and so on.  With
        `segments` a link of several bodies.

    Raises
    ------
    ModelError
        If neither stiffness nor modes are given, or both, if options contradict each
        other, if the length of modes is not that of the link, or if a mass, inertia or
        damping is not physical.

    See Also
    --------
    Beam : the same link by section, length and material.
    clamped_beam_modes, free_beam_modes, pinned_beam_modes : modes of bending.
    clamped_rod_modes, free_rod_modes : modes of torsion.

    Notes
    -----
    The default basis deflects under loads at the tip as the beam does, so frequencies
    of an arm converge fast with the number of modes [3]_.  The modes of a clamped beam
    do not know the links that it carries: as inner links they are 5 to 20 % too stiff,
    and converge with one over their number.

    The joint always moves the base.  If modes move it too (free and pinned ones), the
    body floats, ``attachment="base"``: its frame is that of the modes, parallel to the
    base of the straight link.

    Masses given here are those of the arm.  The payload of modes of one's own only
    shapes them, and `mass_per_length` may differ from theirs.  With
    `section_inertia` the sections turn with the slope (Rayleigh beam).  Stiffness is
    the exact integral (24g) of second derivatives, without shear: frequencies are too
    high by about :math:`\tfrac12 (\beta r)^2 E / kG` (wavenumber, radius of gyration),
    and by a half of :math:`(\beta r)^2` without `section_inertia`.  For a solid square
    bar that is 0.8 % of the first and 5 % of the second clamped frequency at 10 depths,
    0.03 % and 0.2 % at 50; `finite_element_link` has both.

    Payload and hub turn with the tip and the base, exactly like a `RigidBody` on
    ``Joint("fixed")`` there; sections turn to second order in the modes (see
    `FlexibleBody`).

    With deflections v and w the point at x moves towards the base by the foreshortening

    .. math:: \int_0^x \tfrac12 \left(v'^2 + w'^2\right) d\xi
       = -\tfrac12\,\eta'\kappa(x)\,\eta, \qquad
       \kappa_{rs}(x) = -\int_0^x \left(v_r' v_s' + w_r' w_s'\right) d\xi,

    exact for modes of any end conditions, and zero at the base.  By it axial forces of
    fast rotation, weight or loads at the tip act on the modes: tension stiffens them,
    compression softens them up to buckling [2]_.  Without it a rotation at
    :math:`\Omega` lowers the frequencies in its plane instead of raising them, and the
    motion diverges at :math:`\Omega` above the first of them.  Torsion has no
    foreshortening.  With it slopes are the sines of the angles of the sections, and
    strain energy and rotations are those of third order, with twist.

    References
    ----------
    .. [1] A. De Luca, B. Siciliano, "Closed-form dynamic model of planar multilink
       lightweight robots", IEEE Trans. SMC 21(4), 1991, sections III to V.
    .. [2] T. R. Kane, R. R. Ryan, A. K. Banerjee, "Dynamics of a cantilever beam
       attached to a moving base", J. Guidance, Control, and Dynamics 10(2), 1987.
    .. [3] R. R. Craig, M. C. C. Bampton, "Coupling of substructures for dynamic
       analyses", AIAA Journal 6(7), 1968.

    Examples
    --------
    A rod with the displacements of its tip and one mode more in the plane:

    >>> from flexarm import beams
    >>> link = beams.flexible_link(
    ...     "link", length=1.0, mass_per_length=1.0, bending_stiffness=100.0,
    ...     motions="bending y"
    ... )
    >>> link.mode_names
    ('tip y', 'tip rz', 'bending y 3')

    The outer link of the two-link arm of [1]_.  Payloads are equal, so the modal
    mass is that of the link, 0.1 kg:

    >>> import numpy as np
    >>> modes = beams.clamped_beam_modes(
    ...     0.5, 0.2, 1.0, 2, tip_mass=0.1, tip_inertia=0.0005, normalization="link"
    ... )
    >>> link = beams.flexible_link(
    ...     "link2", length=0.5, mass_per_length=0.2, bending_y=modes, base_mass=1.0,
    ...     base_inertia=0.1, tip_mass=0.1, tip_inertia=0.0005
    ... )
    >>> bool(np.allclose(link.modal_mass(), np.diag([0.1, 0.1]), atol=1e-14))
    True
    >>> link.mode_names
    ('bending y 1', 'bending y 2')
    """
    # description of the link and of what it carries
    if tip_inertia is None:
        point: Any = float(tip_com @ tip_com) * np.eye(3) - np.outer(tip_com, tip_com)
        point = tip_mass * point if tip_mass or tip_com.any() else 0.0
        tip_inertia = _inertia(f"tip_inertia of link {name!r}", point)
    link = _Link(
        name,
        joint,
        length,
        mass_per_length,
        _Carried(base_mass, base_inertia, tip_mass, tip_com, tip_inertia),
        section_inertia,
        n_points,
        geometric_stiffening,
    )
    beam = partial(
        uniform,
        *link.shaping,
        bending_stiffness=bending_stiffness,
        torsional_stiffness=torsional_stiffness,
        polar_inertia_per_length=polar_inertia_per_length,
    )
    named = partial(
        modes_by_name,
        motions=motions,
        modes=modes,
        n_modes=n_modes,
        max_frequency=max_frequency,
        outboard=outboard,
    )
    own = {"bending_y": bending_y, "bending_z": bending_z, "torsion": torsion}
    given = any(value is not None for value in own.values())
    # pieces, modes of its own, or modes by name
    if segments is not None:
        others = {
            "modal_damping": modal_damping if np.any(modal_damping) else None,
            "modes of its own": own if given else None,
        }
        return _in_pieces(link, segments, beam, named.keywords, others, damping_ratio)
    if given:
        basis = given_modes(name, length, own, beam.keywords | named.keywords)
    else:
        basis = named(beam())
    body = _of_modes(link, basis)
    return _damped(body, basis, modal_damping, damping_ratio)


@dataclass(frozen=True)
class _Carried:
    """Hub and payload of a link: masses in kg, inertias about base and tip."""

    hub: float
    at_base: Array
    payload: float
    com: Array
    about_tip: Array


@dataclass(frozen=True)
class _Link:
    """What all routes need of a link; the last three as they are given."""

    name: str
    joint: Joint | None
    length: float
    density: float
    carried: _Carried
    section_inertia: Array | None
    n_points: int | None
    geometric_stiffening: bool

    @property
    def shaping(self) -> tuple[str, float, float, Array]:
        """Name, length and density; moments of the payload, which shape the modes."""
        own = self.carried
        tip = tip_moments(own.payload, own.com, own.about_tip)
        return self.name, self.length, self.density, tip


def _in_pieces(
    link: _Link,
    segments: int,
    make_beam: Callable[[], Uniform],
    options: Mapping[str, object],
    others: Mapping[str, object],
    damping_ratio: ArrayLike,
) -> SegmentedLink:
    """Link of pieces of equal lengths, which have no other modes."""
    name, length = link.name, link.length
    modes, n_modes = options["modes"], options["n_modes"]
    middle_twist = twists_twice(n_modes)
    refuse_beside_pieces(
        name,
        modes=None if isinstance(modes, str) and modes in HELD else modes,
        n_modes=n_modes if middle_twist is None else None,
        max_frequency=options["max_frequency"],
        outboard=options["outboard"] or None,
        **others,
    )
    beam = make_beam()
    kinds = known_kinds(beam, options["motions"])
    polar = beam.torsion[1] if beam.torsion and "torsion" in kinds else 0.0
    inertia = _section_inertia(link.section_inertia, polar)
    n_points = link.n_points
    return segmented_link(
        name,
        link.joint,
        np.array([[0.0, 0.0, 0.0], [length, 0.0, 0.0]]),
        np.eye(3)[np.newaxis],
        [],
        _section_of(beam, inertia),
        segments=segments,
        middle_twist=bool(middle_twist),
        n_elements=1,
        per_element=4
        if n_points is None
        else point_count(f"n_points of link {name!r}", n_points, 3),
        motions=kinds,
        payloads=_ends(name, length, link.carried),
        nodes=None,
        rotary_inertia=True,
        shear=False,
        damping_ratio=damping_ratio,
        geometric_stiffening=link.geometric_stiffening,
    )


def _of_modes(link: _Link, basis: dict[str, LinkModes]) -> FlexibleBody:
    """Link of one body in given modes, without damping."""
    name, length, carried = link.name, link.length, link.carried
    # nodes at base, Gauss points and tip, and their motion in the modes
    n_points = link.n_points or max(own.n_points for own in basis.values())
    weight = gauss_rule(n_points)[1]
    position = np.zeros((n_points + 2, 3))
    position[:, 0] = length * node_fractions(n_points)
    translation, rotation = node_shapes(basis, n_points)
    modal_stiffness = stiffness_of(basis)
    sections = _section_names(n_points)
    # masses and inertias of hub, link and payload
    share = link.density * length * weight
    com = np.zeros_like(position)
    com[-1] = carried.com
    stiffening = link.geometric_stiffening
    return FlexibleBody(
        name,
        default_joint() if link.joint is None else link.joint,
        node_position=position,
        node_mass=np.concatenate([[carried.hub], share, [carried.payload]]),
        node_translation=translation,
        node_rotation=rotation,
        stiffness=modal_stiffness,
        node_com=com,
        node_inertia=_node_inertia(link, basis, weight),
        node_names=("base", *sections, "tip"),
        section_nodes=sections,
        mode_names=tuple(
            [label.format(kind) for kind, own in basis.items() for label in own.names]
        ),
        attachment=next((m.attachment for m in basis.values() if m.attachment), None),
        beam=cuts_across(basis, length, n_points, modal_stiffness),
        node_foreshortening=foreshortening(basis, n_points) if stiffening else None,
    )


def _node_inertia(link: _Link, basis: Mapping[str, LinkModes], weight: Array) -> Array:
    """Inertia of hub, sections and payload about their nodes, (nodes, 3, 3)."""
    twists = basis.get("torsion")
    polar = twists.polar_inertia_per_length if isinstance(twists, TorsionModes) else 0.0
    section = _section_inertia(link.section_inertia, polar)
    inertia = np.zeros((len(weight) + 2, 3, 3))
    inertia[0] = link.carried.at_base
    spread = np.multiply.outer(link.length * weight, section)
    inertia.reshape(-1, 9)[1:-1, ::4] = spread
    inertia[-1] = link.carried.about_tip
    return inertia


@lru_cache(maxsize=64)
def _section_names(n_points: int) -> tuple[str, ...]:
    """Names of the Gauss points."""
    return tuple(f"g{j + 1}" for j in range(n_points))


def _section_of(link: Uniform, inertia: Array) -> Callable[[float], Section]:
    """Section everywhere along a uniform link."""
    section = Section.from_stiffness(
        link.density,
        (1.0, 1.0) if link.bending is None else link.bending,
        torsional_stiffness=None if link.torsion is None else link.torsion[0],
        rotary_inertia=inertia,
    )
    return lambda _: section


def _ends(name: str, length: float, carried: _Carried) -> list[Payload]:
    """Hub and payload of a link, with inertias about their centres of mass."""
    hub = carried.hub
    at_base = carried.at_base
    mass = carried.payload
    com = carried.com
    shift = mass * (float(com @ com) * np.eye(3) - np.outer(com, com))
    check_inertia(f"payload of link {name!r}", mass, com, carried.about_tip)
    loads = [Payload(0.0, mass=hub, inertia=at_base)] if hub or at_base.any() else []
    if mass or carried.about_tip.any():
        inertia = carried.about_tip - shift
        loads.append(Payload(length, mass=mass, com=com, inertia=inertia))
    return loads


def _damped(
    body: FlexibleBody,
    basis: dict[str, LinkModes],
    modal_damping: ArrayLike,
    damping_ratio: ArrayLike,
) -> FlexibleBody:
    """The link with damping of its coordinates and of its natural modes."""
    name, n = body.name, body.n_modes
    plain = type(modal_damping) is type(damping_ratio) is float
    if plain and modal_damping == damping_ratio == 0.0:
        return body
    coefficient = spread_over(f"modal_damping of link {name!r}", modal_damping, n)
    ratio = damping_ratios(name, damping_ratio, n)
    if not (coefficient.any() or ratio.any()):
        return body
    if any(isinstance(own, CRAIG_BAMPTON) for own in basis.values()):
        rows = np.linalg.cholesky(body.stiffness).T
        damping = damping_matrix(rows, body.modal_mass(), ratio)
    else:
        critical = [
            2.0 * np.sqrt(own.stiffness * np.diag(own.modal_mass))
            for own in basis.values()
        ]
        damping = np.diag(ratio * np.concatenate(critical))
    result: FlexibleBody = body.replace(damping=np.diag(coefficient) + damping)
    return result


def _section_inertia(value: Array | None, polar: float) -> Array:
    # the polar moment of a flat section is the sum of the other two
    return polar * np.array([1.0, 0.5, 0.5]) if value is None else value
