"""Nodes of a link of beam elements, its body, and cuts across."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Array
from .._support.quadrature import gauss_rule
from ..bodies.body import turning
from ..bodies.models import FlexibleBody
from ..bodies.node_sums import node_sums
from ..bodies.profile import BeamProfile, reciprocal
from ..bodies.sections import RIGID_RATIO, Section
from ..errors import ModelError
from ._coordinates import Basis
from ._line import Line, Payload

Carried = tuple[Array, Array, Array]  # masses, centres of mass, inertias of nodes


@dataclass(frozen=True)
class Stations:
    """Nodes of the body: the base, then the Gauss points and the end of each element.

    Attributes
    ----------
    line : Line
        Elements.
    fraction : (p,) ndarray
        Gauss points of an element.
    names : tuple of str
        Names of the P = 1 + N (p + 1) nodes.
    position : (P, 3) ndarray
        Undeformed places, in m.
    translation, rotation : (P, 3, n) ndarray
        Shapes of the n coordinates.
    rows : (6 N p, n) ndarray
        Strains at the Gauss points times the roots of stiffness and weight, so that the
        stiffness matrix is ``rows' rows``.
    mass, com, inertia : (P,), (P, 3), (P, 3, 3) ndarray
        Masses, centres of mass and inertias of the nodes, each about its node.
    twist : (2 N, n) ndarray, optional
        Rates of twist at both ends of each element that the displacements of the ends
        do not have.
    """

    line: Line
    fraction: Array
    names: tuple[str, ...]
    position: Array
    translation: Array
    rotation: Array
    rows: Array
    mass: Array
    com: Array
    inertia: Array
    twist: Array | None = None

    def end(self, node: int) -> int:
        """Node of the body at an end of elements, given the number of that end."""
        return node * (len(self.fraction) + 1)

    def names_of_sections(self) -> tuple[str, ...]:
        """Names of the nodes at Gauss points."""
        step = len(self.fraction) + 1
        return tuple(name for j, name in enumerate(self.names) if j % step)

    def physical(self) -> bool:
        """Whether the inertia of each node is physical."""
        about = self.inertia - self.mass[:, None, None] * _square(self.com)
        a, b, c = np.moveaxis(np.linalg.eigvalsh(about), -1, 0)
        slack = 1e-9 * np.abs(self.inertia).max(axis=(1, 2))
        return bool((a + b >= c - slack).all())

    def mass_matrix(self, payloads: Sequence[Payload] = ()) -> Array:
        """Mass matrix of the coordinates with additional payloads, (n, n)."""
        mass, com, inertia = _loaded(self, payloads)
        lam, gamma = self.rotation, self.translation
        centre = gamma - np.cross(com[:, :, None], lam, axis=1)
        about = inertia - mass[:, None, None] * _square(com)
        n = gamma.shape[2]
        moved = (np.sqrt(mass)[:, None, None] * centre).reshape(-1, n)
        turned = (about @ lam).reshape(-1, n)
        result = moved.T @ moved + lam.reshape(-1, n).T @ turned
        return np.asarray((result + result.T) / 2.0)

    def momentum(self) -> Array:
        """Momentum along x, y, z and about the line per coordinate, scaled, (4, n)."""
        linear = np.einsum("p,pir->ir", self.mass, self.translation)
        along = np.vstack(
            [self.line.axes[:1, :, 0], self._each(self.line.axes[:, :, 0])]
        )
        polar = np.einsum("pi,pij,pj->p", along, self.inertia, along)
        spin = np.einsum("p,pi,pir->r", polar, along, self.rotation)
        m, J = float(self.mass.sum()), float(polar.sum())
        return np.vstack([linear / np.sqrt(m), spin / np.sqrt(J if J > 0.0 else 1.0)])

    def _each(self, of_element: Array) -> Array:
        """Repeat values of each element for its nodes except the first."""
        return np.repeat(of_element, len(self.fraction) + 1, axis=0)


def _square(x: Array) -> Array:
    """Inertia of unit masses at x, (P, 3, 3)."""
    size = np.einsum("pi,pi->p", x, x)[:, None, None] * np.eye(3)
    return np.asarray(size - x[:, :, None] * x[:, None, :])


def _loaded(
    stations: Stations, payloads: Sequence[Payload]
) -> tuple[Array, Array, Array]:
    """Masses, centres and inertias of the nodes with payloads at their places."""
    mass, moment = stations.mass.copy(), stations.mass[:, None] * stations.com
    inertia = stations.inertia.copy()
    for load in payloads:
        j = stations.end(int(np.argmin(np.abs(stations.line.at - load.at))))
        mass[j] += load.mass
        moment[j] += load.mass * load.com
        inertia[j] += load.about_place()
    held = np.where(mass > 0.0, mass, 1.0)
    return mass, moment / held[:, None], inertia


def make_stations(
    line: Line,
    section_at: Callable[[float], Section],
    T: Array,
    n_points: int,
    payloads: Sequence[Payload],
    motions: Sequence[str],
    rotary_inertia: bool,
) -> Stations:
    """Nodes of a link with their shapes, masses and strains; see `Stations`.

    Parameters
    ----------
    line : Line
        N elements.
    section_at : callable
        Section at a distance along the line.
    T : (6 (N + 1), n) ndarray
        Displacements of the ends of elements per coordinate.
    n_points : int
        Gauss points of an element.
    payloads : sequence of Payload
        Masses at ends of elements.
    motions : sequence of str
        Motions of the link; with torsion sections have inertia about the line.
    rotary_inertia : bool
        Whether they have inertia about their own axes.
    """
    fraction, weight = gauss_rule(n_points)
    step = n_points + 1
    P, n = 1 + line.n_elements * step, T.shape[1]
    position, translation, rotation = np.zeros((P, 3)), *np.zeros((2, P, 3, n))
    mass, inertia = np.zeros(P), np.zeros((P, 3, 3))
    rows, names = np.zeros((line.n_elements, n_points, 6, n)), [line.names[0]]
    has, turns = moves(motions), "torsion" in motions
    turning = [turns or rotary_inertia, rotary_inertia, rotary_inertia]
    # the base, from the first element
    own = T[:12]
    move, spin, _ = line.shapes(0, 0.0)
    translation[0], rotation[0] = move @ own, spin @ own
    # Gauss points and end of each element
    for e in range(line.n_elements):
        own, h, R = T[6 * e : 6 * e + 12], float(line.h[e]), line.axes[e]
        first = 1 + e * step
        for k, s in enumerate([*fraction, 1.0]):
            move, spin, strain = line.shapes(e, float(s))
            position[first + k] = line.place(e, s)
            translation[first + k], rotation[first + k] = move @ own, spin @ own
            if k == n_points:
                names.append(line.names[e + 1])
                continue
            names.append(f"g{e * n_points + k + 1}")
            section = section_at(float(line.at[e] + s * h))
            w = h * float(weight[k])
            rows[e, k] = _root(section, w, has) @ (strain @ own)
            mass[first + k] = w * section.mass_per_length
            about = section.rotary_inertia * turning
            inertia[first + k] = w * (R * about) @ R.T
    bare = Stations(
        line,
        fraction,
        tuple(names),
        position,
        translation,
        rotation,
        rows.reshape(-1, n),
        mass,
        np.zeros((P, 3)),
        inertia,
    )
    mass, com, inertia = _loaded(bare, payloads)
    return replace(bare, mass=mass, com=com, inertia=inertia)


def with_middle_twist(
    stations: Stations, section_at: Callable[[float], Section], motions: Sequence[str]
) -> Stations:
    """Nodes with one more coordinate: a twist 4 f (1 - f) at the part f of the line.

    Bending in two planes changes the torque along a line, which the static twist of its
    ends has constant.
    """
    line, fraction = stations.line, stations.fraction
    weight, length = gauss_rule(len(fraction))[1], float(line.at[-1] - line.at[0])
    n = stations.rows.shape[1] + 1

    def wide(rows: Array) -> Array:
        return np.concatenate([rows, np.zeros((*rows.shape[:-1], 1))], axis=-1)

    def part(x: Array) -> Array:
        return np.asarray((x - line.at[0]) / length)

    def rate(x: Array) -> Array:
        return np.asarray(4.0 * (1.0 - 2.0 * part(x)) / length)

    inner = line.at[:-1, None] + line.h[:, None] * np.append(fraction, 1.0)
    place = part(np.append(line.at[0], inner.ravel()))
    rotation = wide(stations.rotation)
    along = np.concatenate([line.axes[:1, :, 0], stations._each(line.axes[:, :, 0])])
    rotation[:, :, -1] = along * (4.0 * place * (1.0 - place))[:, None]
    rows = wide(stations.rows).reshape(*inner[:, :-1].shape, 6, n)
    has, lengths = moves(motions), np.outer(line.h, weight)
    for j in np.ndindex(lengths.shape):
        at = inner[j]
        root = _root(section_at(float(at)), float(lengths[j]), has)
        rows[j][:, -1] = root[:, 1] * rate(at)
    twist = np.zeros((2 * line.n_elements, n))
    twist[:, -1] = rate(np.repeat(line.at, 2)[1:-1])
    return replace(
        stations,
        translation=wide(stations.translation),
        rotation=rotation,
        rows=rows.reshape(-1, n),
        twist=twist,
    )


def moves(motions: Sequence[str]) -> NDArray[np.bool_]:
    """Whether a link has stretch, twist and bending along y and z, (4,)."""
    kinds = ("stretch", "torsion", "bending y", "bending z")
    return np.array([kind in motions for kind in kinds])


def _coupled(section: Section, has: NDArray[np.bool_]) -> Array:
    """Stiffness matrix against these, (4, 4); the others are free of force."""
    # the curvature about y is minus that along z
    order, sign = [0, 1, 3, 2], np.array([1.0, 1.0, 1.0, -1.0])
    K = section.stiffness_matrix[np.ix_(order, order)] * np.outer(sign, sign)
    own, result = np.ix_(has, has), np.zeros((4, 4))
    result[own] = np.linalg.inv(np.linalg.inv(K)[own])
    return result


def _root(section: Section, weight: float, has: NDArray[np.bool_]) -> Array:
    """Root of the stiffness, R' R times a weight; shear is last, (6, 6)."""
    # strains of sections that are rigid in shear are zero
    kGA = section.shear_stiffness
    kGA = np.where(np.isfinite(kGA), kGA, 0.0)
    root = np.diag(np.sqrt(weight * np.concatenate([stiffnesses(section), kGA])))
    if section.coupling is not None:
        own = np.ix_(has, has)
        K = weight * _coupled(section, has)[own]
        root[own] = np.linalg.cholesky(K).T
    return root


def stiffnesses(section: Section) -> Array:
    """Stiffness against stretch, twist and bending along y and z, (4,)."""
    bending = section.bending_stiffness
    return np.array(
        [section.axial_stiffness, section.torsional_stiffness, bending[0], bending[1]]
    )


def _cross(a: Array, b: Array) -> Array:
    """Products along the first axis, without the moves of axes of `numpy.cross`."""
    (x, y, z), (u, v, w) = a, b
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def foreshortening(line: Line, T: Array, fraction: Array, piece: bool) -> Array:
    r"""Second-order displacements of the nodes of a link, from its slopes.

    Where sections turn by :math:`\theta` and the line is inclined to them by
    :math:`\gamma` (shear), it has the direction of
    :math:`\exp(\tilde\theta) (e_x + \gamma)`, whose second-order part is
    :math:`\frac12 \tilde\theta \tilde\theta e_x + \tilde\theta \gamma
    - \frac12 \gamma^2 e_x`; its integral moves all points behind.  Along the line this
    is :math:`-\frac12 (v'^2 + w'^2)`, by the slopes of the line.  The other components
    of a bent line are products of twist and slope, by which parts behind a corner
    remain rigid if they do not bend; those of a straight one are zero (U1), except that
    its points circle a shear centre beside them by the angle of twist.  A part that
    stretches by :math:`\epsilon` adds :math:`\epsilon (\theta \times e_x + \gamma)`, of
    pieces alone, whose slopes in their own frames are small: with large ones the third
    power :math:`-\frac12 \epsilon \theta^2` along the line, which is not here, counts
    as much, and the result would be worse than without both.

    Parameters
    ----------
    line : Line
        N elements.
    T : (6 (N + 1), m) ndarray
        Displacements of the ends of elements per mode.
    fraction : (p,) ndarray
        Gauss points of an element.
    piece : bool
        Whether the line is a piece of a link.

    Returns
    -------
    kappa : (P, 3, m, m) ndarray
        For each node of `Stations`; its displacement is ``eta' kappa eta / 2``.
    """
    ends = np.concatenate([[0.0], fraction, [1.0]])
    s, w = gauss_rule(3)  # exact: slopes are of second degree
    kappa = [np.zeros((3, T.shape[1], T.shape[1]))]
    tangent = line.axes[0][:, 0]
    straight = bool(np.abs(line.axes[:, :, 0] - tangent).max() < 1e-12)
    for e in range(line.n_elements):
        own, h, axis = T[6 * e : 6 * e + 12], float(line.h[e]), line.axes[e][:, 0]
        y, z = line.shear_centre[e]
        for a, b in pairwise(ends):
            total = kappa[-1].copy()
            for x, weight in zip(a + (b - a) * s, (b - a) * h * w, strict=True):
                _, spin, strain = line.shapes(e, float(x))
                theta = spin @ own
                twist = axis @ theta
                # from the normal of the section to the line
                beside = np.outer([z, -y], strain[1])  # of the shear centre
                gamma = line.axes[e][:, 1:] @ (strain[4:] + beside) @ own
                turned = _cross(theta[:, :, None], gamma[:, None, :])
                bent = theta.T @ theta + gamma.T @ gamma
                mixed = 0.5 * (
                    theta[:, :, None] * twist + theta[:, None, :] * twist[:, None]
                )
                step = mixed + turned + turned.swapaxes(1, 2)
                step = step - axis[:, None, None] * bent
                if straight:
                    step = axis[:, None, None] * np.tensordot(axis, step, axes=1)
                    # the line circles the shear centre by the angle of twist
                    circle = _cross(axis, line.axes[e][:, 1:] @ beside @ own)
                    around = twist[:, None] * circle[:, None, :]
                    step = step + around + around.swapaxes(1, 2)
                if piece:  # what stretches reaches further in its own direction
                    slope = _cross(theta, axis[:, None] + 0.0 * theta) + gamma
                    reach = slope[:, :, None] * (strain[0] @ own)
                    step = step + reach + reach.swapaxes(1, 2)
                total += weight * step
            kappa.append(total)
    return np.array(kappa)


def body_nodes(
    stations: Stations, W: Array, kappa: Array | None
) -> tuple[dict[str, Any], Carried | None]:
    """Arguments of a `FlexibleBody` for modes W: nodes, shapes and masses.

    The inertia of sections without rotary inertia is not physical; then modal integrals
    replace the masses of the nodes, except those that are rigid bodies, and these
    masses are the second result.
    """
    sections = stations.names_of_sections()
    nodes: dict[str, Any] = {
        "node_position": stations.position,
        "node_translation": stations.translation @ W,
        "node_rotation": stations.rotation @ W,
        "node_names": stations.names,
        "node_foreshortening": kappa,
    }
    names = ("node_mass", "node_com", "node_inertia")
    carried = (stations.mass, stations.com, stations.inertia)
    if stations.physical():
        nodes.update(zip(names, carried, strict=True))
        nodes["section_nodes"] = sections
        return nodes, None
    # payloads whose inertia turns are rigid bodies
    rigid = np.zeros(len(stations.mass), dtype=bool)
    for j, name in enumerate(stations.names):
        lam, first = nodes["node_rotation"][j], stations.mass[j] * stations.com[j]
        offset = bool(first.any() and lam.any())
        if name not in sections:
            rigid[j] = offset or turning(lam, stations.inertia[j])
    carried = _among(carried, ~rigid)
    shapes = (nodes["node_rotation"], nodes["node_translation"])
    # an inertia about the line alone keeps its axis: it has no gyroscopic moment
    nodes["integrals"] = node_sums(
        *carried, stations.position, *shapes, foreshortening=kappa, turns=False
    )
    lumps = _among((stations.mass, stations.com, stations.inertia), rigid)
    nodes.update(zip(names, lumps, strict=True))
    return nodes, carried


def _among(carried: Carried, which: NDArray[np.bool_]) -> Carried:
    """Masses, centres and inertias of some nodes, zero for the others."""
    mass, com, inertia = carried
    return (
        np.where(which, mass, 0.0),
        np.where(which[:, np.newaxis], com, 0.0),
        np.where(which[:, np.newaxis, np.newaxis], inertia, 0.0),
    )


def moved_along(
    stations: Stations, keep: Sequence[str], held: Sequence[int]
) -> dict[str, Array]:
    """Displacements of kept nodes along their elements, by others: of bent links.

    The pieces of a link without stretch keep their lengths, so the motion of a node
    along its element is that of the corners before it.
    """
    line, found = stations.line, dict[str, Array]()
    independent: list[Array] = []
    for node in keep:
        j = line.names.index(node)
        motion = stations.translation[stations.end(j)]
        row = line.axes[j - 1][:, 0] @ motion
        free = np.delete(row, held)
        size = float(np.abs(row).max(initial=0.0))
        # of a line without corners rounding is left, unless it lies along an axis
        if (
            size > 1e-9 * float(np.abs(motion).max(initial=0.0))
            and np.abs(free).max(initial=0.0) > 1e-9 * size
        ):
            more = np.array([*independent, free])
            if np.linalg.matrix_rank(more) == len(more):
                independent.append(free)
                found[f"{node} x"] = np.where(np.abs(row) > 1e-12 * size, row, 0.0)
    return found


def element_profile(
    stations: Stations,
    T: Array,
    W: Array,
    section_at: Callable[[float], Section],
    motions: Sequence[str],
    carried: Carried | None,
) -> BeamProfile:
    """Cuts at both ends of each element; see `BeamProfile`.

    Parameters
    ----------
    stations : Stations
        Nodes of the link.
    T, W : (6 (N + 1), n) and (n, m) ndarray
        Displacements per coordinate, coordinates per mode.
    section_at : callable
        Section at a distance along the line.
    motions : sequence of str
        Motions of the link.
    carried : tuple of ndarray, optional
        Masses, centres and inertias of nodes that the integrals of the body replace.
    """
    line, count = stations.line, 2 * stations.line.n_elements
    element = np.arange(count) // 2
    far = np.arange(count) % 2
    # element, end and node of each cut
    node = np.array(
        [stations.end(int(e + f)) for e, f in zip(element, far, strict=True)]
    )
    strain, stiffness, sections = np.zeros((count, 4, W.shape[1])), [], []
    has = moves(motions)
    for j in range(count):
        e, f = int(element[j]), int(far[j])
        own = T[6 * e : 6 * e + 12] @ W
        strain[j] = line.shapes(e, float(f))[2][:4] @ own
        if stations.twist is not None:
            strain[j, 1] += stations.twist[j] @ W
        # the section on this side of the cut
        inside = (1.0 - 2.0 * f) * 1e-9 * float(line.h[e])
        sections.append(section_at(float(line.at[e + f]) + inside))
        stiffness.append(stiffnesses(sections[-1]) * has)
    # nodes beyond each cut
    number = np.arange(len(stations.mass))
    # behind the start of an element its node is not beyond, before its end it is
    beyond = number >= (node + 1 - far)[:, np.newaxis]
    coupled = any(section.coupling is not None for section in sections)
    if coupled:
        K = np.array([_coupled(section, has) for section in sections])
        stiffness, coupling = [np.diag(each) for each in K], K * (1.0 - np.eye(4))
    else:
        flexibility, left_out = _flexibility(stations, section_at, has)
    return BeamProfile(
        at=line.at[element + far],
        node=node,
        axes=line.axes[element],
        strain=strain * has[:, np.newaxis],
        stiffness=np.array(stiffness),
        mass_beyond=beyond.astype(np.float64),
        beyond=beyond,
        sections=tuple(sections),
        flexibility=None if coupled else flexibility,
        left_out=None if coupled or not left_out.any() else left_out,
        coupling=coupling if coupled else None,
        shear_centre=line.shear_centre,
        modal_stiffness=(stations.rows @ W).T @ (stations.rows @ W),
        carried=carried,
    )


def _flexibility(
    stations: Stations, section_at: Callable[[float], Section], has: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """One over the stiffness at the Gauss points of the elements, (N, p, 6).

    Then the same of stretch and shear, where the link leaves them out.
    """
    line = stations.line
    found, out = np.zeros((2, line.n_elements, len(stations.fraction), 6))
    for e, h in enumerate(line.h):
        slides = has[2:] * (line.shear_ratio[e] > 0.0)
        for k, s in enumerate(stations.fraction):
            section = section_at(float(line.at[e] + s * h))
            stiffness = stiffnesses(section)
            found[e, k, :4] = reciprocal(stiffness * has)
            found[e, k, 4:] = slides / section.shear_stiffness
            known = stiffness[0] < 0.999 * RIGID_RATIO * stiffness[2:].max()
            out[e, k, 0] = (known and not has[0]) / stiffness[0]
            out[e, k, 4:] = (has[2:] & ~slides) / section.shear_stiffness
    return found, out


def beam_body(
    name: str,
    stations: Stations,
    T: Array,
    basis: Basis,
    section_at: Callable[[float], Section],
    motions: Sequence[str],
    stiffening: bool,
    piece: bool = False,
    **others: Any,
) -> FlexibleBody:
    """Make the body of a line of elements.

    Parameters
    ----------
    name : str
        Name of the body.
    stations : Stations
        Nodes of the line.
    T : (6 (N + 1), n) ndarray
        Displacements of the ends of elements per coordinate.
    basis : Basis
        Coordinates of the body.
    section_at : callable
        Section at a distance along the line.
    motions : sequence of str
        Motions of the link.
    stiffening : bool
        Whether bending draws the link towards its base.
    piece : bool
        Whether it is a piece of a link.
    **others
        Further arguments of `FlexibleBody`, such as joint and damping.
    """
    W = basis.W
    rows = stations.rows @ W
    kappa: Array | None = None
    if stiffening:
        kappa = foreshortening(stations.line, T @ W, stations.fraction, piece)
        kappa = kappa if kappa.any() else None
    nodes, carried = body_nodes(stations, W, kappa)
    profile = element_profile(stations, T, W, section_at, motions, carried)
    coupled = profile.coupling is not None and profile.coupling[:, 0].any()
    if stiffening and not piece and coupled:
        raise ModelError(
            f"link {name!r} has 'stretch' in motions and sections in which it is "
            "coupled, expected pieces, such as segments=8, or "
            "geometric_stiffening=False for small deflections"
        )
    return FlexibleBody(
        name,
        stiffness=np.where(basis.linked, rows.T @ rows, 0.0),
        mode_names=basis.names,
        beam=profile,
        **nodes,
        **others,
    )
