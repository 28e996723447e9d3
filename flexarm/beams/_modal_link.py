"""A straight uniform link as a body: hub, Gauss points, payload, modes.

Deformations follow A. De Luca and B. Siciliano, "Closed-form dynamic model of planar
multilink lightweight robots", IEEE Trans. Systems, Man, and Cybernetics 21(4), 1991,
with a second plane of bending and torsion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._support.checks import (
    as_array,
    as_numbers,
    flag,
    in_range,
    inertia_matrix,
    positive,
    real,
)
from .._support.options import explained
from .._support.quadrature import gauss_count, gauss_rule
from ..bodies.body import check_name
from ..bodies.joints import Joint
from ..bodies.models import FlexibleBody
from ..bodies.profile import BeamProfile, uniform_profile
from ..errors import ModelError
from ._bending import BendingModes
from ._clamped import LinkModes, TorsionModes
from .limits import point_count

Array = NDArray[np.float64]


@explained
def flexible_link(
    name: str,
    *,
    length: float,
    mass_per_length: float,
    joint: Joint | None = None,
    bending_y: BendingModes | None = None,
    bending_z: BendingModes | None = None,
    torsion: TorsionModes | None = None,
    modal_damping: ArrayLike = 0.0,
    damping_ratio: ArrayLike = 0.0,
    base_mass: float = 0.0,
    base_inertia: ArrayLike = 0.0,
    tip_mass: float = 0.0,
    tip_com: ArrayLike = (0.0, 0.0, 0.0),
    tip_inertia: ArrayLike = 0.0,
    section_inertia: ArrayLike | None = None,
    n_points: int | None = None,
    geometric_stiffening: bool = True,
) -> FlexibleBody:
    r"""Make a straight uniform link along x that bends and twists in given modes.

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
    joint : Joint, optional
        Connection to the parent; by default a revolute joint about z.
    bending_y, bending_z : BeamModes, FreeBeamModes or PinnedBeamModes, optional
        Bending along y (rotation about z, :math:`+v'`) and along z (rotation about y,
        :math:`-w'`); their bending stiffness is that of the link.
    torsion : RodModes or FreeRodModes, optional
        Torsion about x.
    modal_damping : float or (n,) array_like of float
        Damping coefficients of the modes, in N s/m (bending) or N m s (torsion).
    damping_ratio : float or (n,) array_like of float
        Damping ratio of each mode with the payload that it was computed for; adds
        :math:`2 \zeta \sqrt{k_{jj} m_{jj}}`.
    base_mass : float
        Mass of the hub, in kg.
    base_inertia : float, (3,), (6,) or (3, 3) array_like of float
        Inertia of the hub about the origin, in kg m^2: a number is that of a thin disc
        about z (half of it about x and y), other forms are as in `RigidBody`.
    tip_mass : float
        Mass of the payload, in kg.
    tip_com : (3,) array_like of float
        Centre of mass of the payload relative to the tip, in m.
    tip_inertia : float, (3,), (6,) or (3, 3) array_like of float
        Inertia of the payload **about the tip**, in kg m^2, in the forms of
        `base_inertia`, with constant components in the frame of the link (see Notes).
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

    Returns
    -------
    body : FlexibleBody
        Body with modes in the order bending y, bending z, torsion, named
        ``"bending y 1"`` and so on.

    Raises
    ------
    ModelError
        If no modes are given, if their length is not that of the link, or if a mass,
        inertia or damping is not physical.

    See Also
    --------
    clamped_beam_modes, free_beam_modes, pinned_beam_modes : modes of bending.
    clamped_rod_modes, free_rod_modes : modes of torsion.

    Notes
    -----
    The joint always moves the base.  If modes move it too (free and pinned ones), the
    body floats, ``attachment="base"``: its frame is that of the modes, parallel to the
    base of the straight link.

    Masses given here are those of the arm.  The payload for which the modes were
    computed only shapes them, and `mass_per_length` may differ from theirs.  With
    `section_inertia` the sections turn with the slope (Rayleigh beam).  Stiffness is
    the exact integral (24g) of second derivatives.

    The inertia of a node does not turn with the bent tip, so a payload with
    `tip_inertia` has no gyroscopic moment on the modes of its own link.  This makes no
    difference in the plane; in space a `RigidBody` on ``Joint("fixed")`` at the tip has
    it, and is the exact way to carry a payload.

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

    Examples
    --------
    The outer link of the two-link arm of [1]_.  Payloads are equal, so the modal
    mass is that of the link, 0.1 kg:

    >>> import numpy as np
    >>> from flexarm import beams
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
    # nodes at base, Gauss points and tip, and their motion in the modes
    name = check_name("body", name)
    geometric_stiffening = flag(
        f"geometric_stiffening of link {name!r}", geometric_stiffening
    )
    length = positive(f"length of link {name!r}", length, "m")
    density = positive(f"mass_per_length of link {name!r}", mass_per_length, "kg/m")
    modes = _modes_of_link(name, length, bending_y, bending_z, torsion)
    fraction, weight = gauss_rule(_points_of_link(name, n_points, modes))
    x = length * np.concatenate([[0.0], fraction, [1.0]])
    translation, rotation = _node_shapes(modes, x)
    # masses and inertias of hub, link and payload
    section = _section_inertia(name, section_inertia, torsion)
    inertia = np.zeros((len(x), 3, 3))
    inertia[0] = _inertia(f"base_inertia of link {name!r}", base_inertia)
    inertia[1:-1] = (length * weight)[:, None, None] * np.diag(section)
    inertia[-1] = _inertia(f"tip_inertia of link {name!r}", tip_inertia)
    hub = real(f"base_mass of link {name!r}", base_mass, "kg")
    payload = real(f"tip_mass of link {name!r}", tip_mass, "kg")
    com = np.zeros((len(x), 3))
    what = f"tip_com of link {name!r}"
    com[-1] = in_range(what, as_array(what, tip_com, (3,)), "m")
    return FlexibleBody(
        name,
        Joint() if joint is None else joint,
        node_position=np.stack([x, 0.0 * x, 0.0 * x], axis=1),
        node_mass=np.concatenate([[hub], density * length * weight, [payload]]),
        node_translation=translation,
        node_rotation=rotation,
        stiffness=_stiffness(modes),
        damping=_damping(name, modes, modal_damping, damping_ratio),
        node_com=com,
        node_inertia=inertia,
        node_names=("base", *(f"g{j + 1}" for j in range(len(weight))), "tip"),
        mode_names=tuple(
            f"{kind} {j + 1}" for kind, own in modes.items() for j in range(own.n_modes)
        ),
        attachment=next((m.attachment for m in modes.values() if m.attachment), None),
        beam=_profile(modes, x, weight),
        node_foreshortening=_foreshortening(modes, x) if geometric_stiffening else None,
    )


def _modes_of_link(
    name: str,
    length: float,
    bending_y: BendingModes | None,
    bending_z: BendingModes | None,
    torsion: TorsionModes | None,
) -> dict[str, LinkModes]:
    """Modes by kind, in their order in the body, checked against the link."""
    given: list[tuple[str, str, Any, type[LinkModes]]] = [
        ("bending y", "bending_y", bending_y, BendingModes),
        ("bending z", "bending_z", bending_z, BendingModes),
        ("torsion", "torsion", torsion, TorsionModes),
    ]
    result: dict[str, LinkModes] = {}
    for kind, argument, modes, expected in given:
        if modes is None:
            continue
        if not isinstance(modes, expected):
            raise ModelError(
                f"{argument} of link {name!r} is {type(modes).__name__}, expected "
                f"{'RodModes' if kind == 'torsion' else 'BeamModes'}"
            )
        if abs(modes.length - length) > 1e-12 * length:
            raise ModelError(
                f"{argument} of link {name!r} are modes of length {modes.length:g} m, "
                f"the link is {length:g} m long; compute them for the link"
            )
        result[kind] = modes
    if not result:
        raise ModelError(
            f"link {name!r} has no modes, expected bending_y, bending_z or torsion; a "
            "link that does not deform is a RigidBody"
        )
    return result


def _points_of_link(
    name: str, n_points: int | None, modes: dict[str, LinkModes]
) -> int:
    if n_points is None:
        return gauss_count(
            max(float(own.beta[-1]) * own.length for own in modes.values())
        )
    # one point has no moment of inertia
    return point_count(f"n_points of link {name!r}", n_points, 2)


def _count(modes: dict[str, LinkModes]) -> int:
    return sum(own.n_modes for own in modes.values())


def _blocks(modes: dict[str, LinkModes]) -> Iterator[tuple[str, LinkModes, slice]]:
    """Yield kind, modes and their slice among all modes of the link."""
    first = 0
    for kind, own in modes.items():
        yield kind, own, slice(first, first + own.n_modes)
        first += own.n_modes


def _node_shapes(modes: dict[str, LinkModes], x: Array) -> tuple[Array, Array]:
    """Translations (0, v, w) and rotation vectors (theta, -w', v'), (nodes, 3, n)."""
    translation, rotation = np.zeros((2, len(x), 3, _count(modes)))
    for kind, own, columns in _blocks(modes):
        if kind == "torsion":
            rotation[:, 0, columns] = own.shape(x).T
        elif kind == "bending y":
            translation[:, 1, columns] = own.shape(x).T
            rotation[:, 2, columns] = own.slope(x).T
        else:
            translation[:, 2, columns] = own.shape(x).T
            rotation[:, 1, columns] = -own.slope(x).T
    return translation, rotation


def _profile(modes: dict[str, LinkModes], x: Array, weight: Array) -> BeamProfile:
    """Cuts across the link at its nodes."""
    strain, stiffness = np.zeros((len(x), 4, _count(modes))), np.zeros(4)
    rows = {"torsion": 1, "bending y": 2, "bending z": 3}
    for kind, own, columns in _blocks(modes):
        row = rows[kind]
        if isinstance(own, TorsionModes):
            strain[:, row, columns] = own.slope(x).T
            stiffness[row] = own.torsional_stiffness
        elif isinstance(own, BendingModes):
            strain[:, row, columns] = own.curvature(x).T
            stiffness[row] = own.bending_stiffness
    return uniform_profile(x, weight, strain, stiffness)


def _foreshortening(modes: dict[str, LinkModes], x: Array) -> Array | None:
    """Second derivatives of the position along x of each node, (nodes, 3, n, n).

    The number of Gauss points for the whole link is also sufficient for each piece from
    the base.
    """
    n = _count(modes)
    kappa = np.zeros((len(x), 3, n, n))
    for kind, own, block in _blocks(modes):
        if kind != "torsion":
            count = gauss_count(float(own.beta[-1]) * own.length)
            fraction, weight = gauss_rule(count)
            slope = own.slope(np.outer(x, fraction))
            kappa[:, 0, block, block] = -np.einsum(
                "rjp,sjp,p,j->jrs", slope, slope, weight, x, optimize=True
            )
    return kappa if kappa.any() else None


def _stiffness(modes: dict[str, LinkModes]) -> Array:
    stiffness = np.zeros((_count(modes),) * 2)
    for _, own, block in _blocks(modes):
        stiffness[block, block] = own.k
    return stiffness


def _damping(
    name: str,
    modes: dict[str, LinkModes],
    modal_damping: ArrayLike,
    damping_ratio: ArrayLike,
) -> Array:
    n, columns = _count(modes), []
    for what, value in (
        ("modal_damping", modal_damping),
        ("damping_ratio", damping_ratio),
    ):
        given = as_numbers(f"{what} of link {name!r}", value)
        spread = np.full(n, given) if given.ndim == 0 else given
        column = as_array(f"{what} of link {name!r}", spread, (n,))
        in_range(f"{what} of link {name!r}", column, "in SI units")
        if column.min() < 0.0:
            raise ModelError(
                f"{what} of link {name!r} is {column.min():g} for mode "
                f"{int(column.argmin()) + 1}, expected zero or more"
            )
        columns.append(column)
    coefficient, ratio = columns
    critical = np.concatenate(
        [
            2.0 * np.sqrt(own.stiffness * np.diag(own.modal_mass))
            for own in modes.values()
        ]
    )
    return np.asarray(coefficient + ratio * critical)


def _inertia(what: str, value: ArrayLike) -> Array:
    """3 x 3 inertia; a number is that of a thin disc about z."""
    if as_numbers(what, value).ndim == 0:
        about_z = float(as_array(what, value, ()))
        value = (0.5 * about_z, 0.5 * about_z, about_z)
    return in_range(what, inertia_matrix(what, value), "kg m^2")


def _section_inertia(
    name: str, value: ArrayLike | None, torsion: TorsionModes | None
) -> Array:
    if value is not None:
        what = f"section_inertia of link {name!r}"
        return in_range(what, as_array(what, value, (3,)), "kg m")
    # the polar moment of a flat section is the sum of the other two
    polar = 0.0 if torsion is None else torsion.polar_inertia_per_length
    return polar * np.array([1.0, 0.5, 0.5])
