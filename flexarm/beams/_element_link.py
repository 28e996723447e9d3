"""Links as beams of finite elements: any sections, payloads anywhere, bent lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import MAX_MODES
from .._support.checks import flag, whole_number
from .._support.options import check_choice, explained
from ..bodies.body import check_name
from ..bodies.joints import Joint
from ..bodies.models import FlexibleBody
from ..errors import ModelError
from ._coordinates import coordinates, known_motions, names_of
from ._element_profile import element_profile
from ._line import (
    Payload,
    Sections,
    corners_of,
    cut,
    piece_axes,
    places,
    section_breaks,
)
from ._reduction import REDUCTIONS, condensed, damping_matrix, modal
from ._stations import Stations, body_nodes, foreshortening, make_stations
from .limits import MAX_NODES, MAX_PAYLOADS, point_count

Array = NDArray[np.float64]


@explained
def finite_element_link(
    name: str,
    *,
    sections: Sections,
    length: float | None = None,
    points: ArrayLike | None = None,
    n_elements: int = 4,
    joint: Joint | None = None,
    motions: str | Sequence[str] = ("bending y", "bending z", "torsion"),
    frame: str = "tangent",
    payloads: Sequence[Payload] = (),
    shaping_payloads: Sequence[Payload] = (),
    nodes: Mapping[str, float] | None = None,
    n_modes: int | Mapping[str, int] | None = None,
    max_frequency: float | None = None,
    reduction: str | None = None,
    keep: str | Sequence[str] = "tip",
    rotary_inertia: bool = False,
    damping_ratio: ArrayLike = 0.0,
    roll: ArrayLike = 0.0,
    geometric_stiffening: bool = True,
    n_points: int | None = None,
) -> FlexibleBody:
    r"""Make a flexible link of beam elements, straight or bent, of any sections.

    Elements are cubic in bending (Hermite, Euler-Bernoulli), linear in torsion and,
    optionally, in stretch, with consistent masses.  The body has a node at each end of
    an element, ``"base"``, ``"n1"``, ``"n2"``, ... ``"tip"``, where other bodies can be
    joined, and nodes ``"g1"``, ``"g2"``, ... at Gauss points, which carry the mass of
    the link.

    Parameters
    ----------
    name : str
        Name, unique in the arm.
    sections : Section, sequence or callable
        A `Section`; one for each straight piece; pairs ``(length, section)`` from the
        base on; or a function of the distance along the line, in m, that returns a
        `Section`.
    length : float, optional
        Length of a straight link along x, in m.
    points : (k, 3) array_like of float, optional
        Corners of a bent link, from the origin to the tip, in m, in place of `length`.
    n_elements : int
        Smallest number of elements.  Corners, steps of the section, payloads and named
        nodes are ends of elements and may require more; 256 at most.
    joint : Joint, optional
        Connection to the parent; by default a revolute joint about z.
    motions : str or sequence of str
        Deformations: ``"bending y"``, ``"bending z"``, ``"torsion"``, ``"stretch"``,
        each in the axes of the straight pieces.
    frame : {"tangent", "chord"}
        Frame of the body: the tangent at its base, or the line from base to tip, in
        which the body floats (``attachment="base"``).
    payloads : sequence of Payload
        Masses carried by the link, each at its place along the line.
    shaping_payloads : sequence of Payload
        Masses that only shape the modes, in place of the bodies that the link carries.
    nodes : mapping of str to float, optional
        Additional named nodes, at distances along the line, in m.
    n_modes : int or mapping of str to int, optional
        Number of lowest natural modes, in all or by motion, such as
        ``{"bending y": 2, "torsion": 1}``, if motions are not coupled.  With
        ``"craig-bampton"``, the number of modes with the kept nodes held.
    max_frequency : float, optional
        Keep natural modes up to this frequency, in Hz.
    reduction : {"none", "modes", "static", "craig-bampton"}, optional
        Coordinates of the body: displacements of all nodes; natural modes;
        displacements of the nodes in `keep` (Guyan); these and modes that leave them at
        rest.  By default ``"modes"`` if `n_modes` or `max_frequency` is given, else
        ``"none"``.
    keep : str or sequence of str
        Nodes whose displacements remain coordinates.
    rotary_inertia : bool
        Sections turn with the slope of deflection (Rayleigh).  Otherwise they have
        inertia about the axis of the link only, with torsion, which keeps that axis.
    damping_ratio : float or (m,) array_like of float
        Damping ratios of the natural modes of the body, in the order of frequencies.
    roll : float or (k - 1,) array_like of float
        Angle of the section about each straight piece, in rad.
    geometric_stiffening : bool
        Bending draws the link towards its base (`node_foreshortening` of the body), so
        that fast rotation stiffens it.
    n_points : int, optional
        Gauss points of an element, 3 to 64; by default 4, exact for uniform elements
        and linear changes of mass, and 6 for sections given by a function.

    Returns
    -------
    body : FlexibleBody
        Body with coordinates named ``"n1 y"``, ``"n1 rz"``, ..., in m and rad in the
        axes of the element before the node, or ``"bending y 1"``, ...

    Raises
    ------
    ModelError
        If the line, a section, a payload, a place or the reduction does not fit, or if
        there are more than 64 coordinates, 256 elements or 4096 nodes.

    See Also
    --------
    Section, Payload : parts of a link.
    flexible_link : a uniform link in the exact modes of a beam.
    flexarm.finite_elements : bodies from meshes of any shape.

    Notes
    -----
    Static deflections under forces at nodes are exact for any number of uniform
    elements; frequencies converge from above with the fourth power of the length of an
    element (bending) or with the second (torsion).

    Natural modes have unit modal mass, with `shaping_payloads`, which the body does not
    carry.  Their signs make the largest component of momentum positive, or, without
    momentum, the first of their largest coordinates.

    Without ``"stretch"`` the pieces keep their lengths exactly: a corner moves along a
    piece as much as the previous corner.  Section axes are those of the link, turned at
    each corner by the shortest rotation (and by `roll`), about z in the x-y plane.

    In the chord frame of a straight link the coordinates are the slopes of the base,
    deflections and slopes of the nodes, and the slopes of the tip; rotations about y
    are minus the slope of the deflection along z.  Those of a bent link are seen from
    the tangent of its base, minus the rotation of the chord.

    Foreshortening is the second-order displacement of a line whose sections turn with
    the coordinates: :math:`-\frac12 (v'^2 + w'^2)` along each straight piece, and the
    rigid rotation of the pieces behind a corner.

    A payload with inertia or beside the line turns with its node, exactly like a
    `RigidBody` on a fixed joint there; sections with rotary inertia turn to second
    order in the coordinates (see `FlexibleBody`).

    References
    ----------
    .. [1] J. S. Przemieniecki, *Theory of Matrix Structural Analysis*, McGraw-Hill,
       1968, chapters 5, 9 and 11.
    .. [2] M. Farid, *Dynamic Modeling and Optimal Control of Flexible Manipulators*,
       PhD thesis, University of Calgary, 1997, sections 4.4 and 5.3 (elements of
       links, chord and tangent frames).
    .. [3] R. J. Guyan, "Reduction of stiffness and mass matrices", AIAA Journal 3(2),
       1965, 380; R. R. Craig, M. C. C. Bampton, AIAA Journal 6(7), 1968, 1313-1319.

    Examples
    --------
    A tapered tube of aluminium with a gripper of 0.5 kg, its lowest bending modes in
    both planes and the first torsion mode:

    >>> from flexarm import beams
    >>> def section(x):
    ...     return beams.Section.tube(0.04 - 0.02 * x, 0.002, beams.ALUMINIUM)
    >>> link = beams.finite_element_link(
    ...     "forearm", length=0.8, sections=section, n_elements=6,
    ...     payloads=[beams.Payload(0.8, mass=0.5, inertia=(1e-3, 1e-3, 1e-3))],
    ...     n_modes={"bending y": 2, "bending z": 2, "torsion": 1},
    ... )
    >>> link.mode_names
    ('bending y 1', 'bending y 2', 'bending z 1', 'bending z 2', 'torsion 1')

    Link of Farid (1997), section 4.5: two elements, deflections from the chord:

    >>> section = beams.Section.from_stiffness(5.0, 1000.0)
    >>> link = beams.finite_element_link(
    ...     "link", length=1.0, sections=section, n_elements=2, motions="bending y",
    ...     frame="chord"
    ... )
    >>> link.mode_names
    ('base rz', 'n1 y', 'n1 rz', 'tip rz')
    """
    # line, cut into elements at corners, breaks, payloads and named nodes
    name = check_name("body", name)
    rotary_inertia = flag(f"rotary_inertia of link {name!r}", rotary_inertia)
    geometric_stiffening = flag(
        f"geometric_stiffening of link {name!r}", geometric_stiffening
    )
    keep = names_of(f"keep of link {name!r}", keep)
    corners = corners_of(name, length, points)
    axes = piece_axes(name, corners, roll)
    carried, shaping = (
        _payloads(name, given) for given in (payloads, shaping_payloads)
    )
    breaks, section_at = section_breaks(name, sections, corners)
    total = float(np.linalg.norm(np.diff(corners, axis=0), axis=1).sum())
    named = places(name, total, [*carried, *shaping], nodes)
    line = cut(name, corners, axes, breaks, named, n_elements)
    per_element = _n_points(name, n_points, sections)
    kind = _reduction(name, reduction, n_modes, max_frequency)
    _check_size(name, line.n_elements, per_element, kind)
    # coordinates of the elements, nodes at Gauss points
    kinds = known_motions(name, motions, line)
    T, labels = coordinates(name, line, kinds, frame)
    stations = make_stations(
        line,
        section_at,
        T,
        per_element,
        carried,
        "torsion" in kinds,
        rotary_inertia,
    )
    mass = stations.mass_matrix(shaping)
    _check_mass(name, mass, labels)
    # coordinates of the body
    W, names = _reduced(
        name, kind, stations, mass, labels, n_modes, max_frequency, keep
    )
    rows, mass = stations.rows @ W, W.T @ mass @ W
    stiffness = rows.T @ rows
    if kind == "modes":  # the rest is rounding
        stiffness = np.diag(np.diag(stiffness))
    kappa: Array | None = None
    if geometric_stiffening:
        kappa = foreshortening(line, T @ W, stations.fraction)
        kappa = kappa if kappa.any() else None
    nodes_of_body, carried_by_beam = body_nodes(stations, W, kappa)
    return FlexibleBody(
        name,
        Joint() if joint is None else joint,
        stiffness=stiffness,
        damping=damping_matrix(name, rows, mass, damping_ratio),
        mode_names=names,
        attachment=line.names[0] if frame == "chord" else None,
        beam=element_profile(stations, T, W, section_at, kinds, carried_by_beam),
        **nodes_of_body,
    )


def _reduced(
    name: str,
    kind: str,
    stations: Stations,
    mass: Array,
    labels: tuple[str, ...],
    n_modes: Any,
    max_frequency: float | None,
    keep: str | Sequence[str],
) -> tuple[Array, tuple[str, ...]]:
    """Coordinates of the body as columns, and their names."""
    rows, names = stations.rows, labels
    W = np.eye(len(labels))
    if kind == "modes":
        momentum = stations.momentum()
        W, names = modal(name, rows, mass, momentum, labels, n_modes, max_frequency)
    elif kind != "none":
        count = (
            0
            if n_modes is None
            else whole_number(f"n_modes of link {name!r}", n_modes, 0)
        )
        W, names = condensed(name, rows, mass, labels, keep, count)
    if W.shape[1] > MAX_MODES:
        raise _too_many(name, str(W.shape[1]))
    return W, names


def _too_many(name: str, count: str) -> ModelError:
    return ModelError(
        f"link {name!r} has {count} coordinates, expected at most {MAX_MODES}; ask for "
        "fewer by n_modes or reduction, or use fewer elements"
    )


def _check_size(name: str, n_elements: int, n_points: int, kind: str) -> None:
    """Refuse a link that is too large, before its matrices are made."""
    count = n_elements * (n_points + 1) + 1
    if count > MAX_NODES:
        raise ModelError(
            f"link {name!r} has {count} nodes, by {n_elements} elements of {n_points} "
            f"Gauss points, expected at most {MAX_NODES}; use fewer of them"
        )
    if kind == "none" and n_elements > MAX_MODES:
        raise _too_many(name, f"{n_elements} or more")


def _payloads(name: str, payloads: Any) -> list[Payload]:
    try:
        loads = list(islice(payloads, MAX_PAYLOADS + 1))
    except TypeError:
        raise ModelError(
            f"payloads of link {name!r} is {type(payloads).__name__}, expected a list "
            "of flexarm.beams.Payload"
        ) from None
    if len(loads) > MAX_PAYLOADS:
        raise ModelError(
            f"link {name!r} has more than {MAX_PAYLOADS} payloads, expected fewer; "
            "give those at one place as one"
        )
    for load in loads:
        if not isinstance(load, Payload):
            raise ModelError(
                f"a payload of link {name!r} is {type(load).__name__}, expected "
                "flexarm.beams.Payload"
            )
    return loads


def _n_points(name: str, n_points: int | None, sections: Sections) -> int:
    if n_points is None:
        return 6 if callable(sections) else 4
    return point_count(f"n_points of link {name!r}", n_points, 3)


def _check_mass(name: str, mass: Array, labels: Sequence[str]) -> None:
    """Raise for coordinates that move no mass: torsion without polar inertia."""
    worst = int(np.argmin(np.diag(mass)))
    if not mass[worst, worst] > 0.0:
        raise ModelError(
            f"coordinate {labels[worst]!r} of link {name!r} moves no mass, expected a "
            "section with rotary_inertia about x; or leave 'torsion' out of motions"
        )


def _reduction(
    name: str, reduction: Any, n_modes: Any, max_frequency: float | None
) -> str:
    """Return the kind of reduction, or raise for a wrong combination of arguments."""
    counted = n_modes is not None or max_frequency is not None
    if reduction is None:
        return "modes" if counted else "none"
    check_choice(f"reduction of link {name!r}", reduction, REDUCTIONS, ModelError)
    if reduction in ("none", "static") and counted:
        raise ModelError(
            f"link {name!r} has reduction {reduction!r} and n_modes or max_frequency, "
            "expected 'modes' or 'craig-bampton' with them"
        )
    if reduction == "craig-bampton" and max_frequency is not None:
        raise ModelError(
            f"link {name!r} has reduction 'craig-bampton' and max_frequency, expected "
            "n_modes, the number of modes with the kept nodes held"
        )
    if reduction == "modes" and not counted:
        raise ModelError(
            f"link {name!r} has reduction 'modes', expected n_modes or max_frequency "
            "with it"
        )
    return str(reduction)
