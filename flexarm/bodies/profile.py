"""Link as a beam: cuts across it, their strains, and the masses beyond them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._support.arrays import Array, Index, Mask
from .._support.checks import as_array, real
from .._support.description import Description
from .._support.quadrature import gauss_rule, node_fractions
from ..errors import ModelError
from .sections import Section

E = TypeVar("E", bound=np.generic)

_NAMED: ContextVar[bool] = ContextVar("named basis of links", default=False)


@contextmanager
def named_basis() -> Iterator[None]:
    """Name the bases of all links made inside, as those of a paper."""
    before = _NAMED.set(True)
    try:
        yield
    finally:
        _NAMED.reset(before)


@dataclass(frozen=True, eq=False)
class BeamProfile(Description):
    """Cuts across a link of m modes and N nodes, for its loads.

    Made with the link by `flexible_link` and `finite_element_link`.

    Parameters
    ----------
    at : (S,) array_like of float
        Distances of the cuts from the base along the line, in m.  Of two cuts at one
        place the first is before it and the second behind it.
    node : (S,) array_like of int
        Node of the body at each cut.
    axes : (S, 3, 3) array_like of float
        Columns are the axes of the section in the frame of the straight body.
    strain : (S, 4, m) array_like of float
        Stretch, rate of twist and curvatures of each mode, :math:`v''` and :math:`w''`
        without shear.
    stiffness : (S, 4) array_like of float
        EA, GJ and EI in both planes; zero for directions without motion.
    mass_beyond : (S, N) array_like of float
        Part of the mass at each node that is beyond the cut; sums over it are integrals
        from the cut to the tip.
    beyond : (S, N) array_like of bool
        Whether the bodies on a node are beyond the cut.
    sections : tuple of Section, optional
        Section of each cut, for stresses.
    carried : tuple of ndarray, optional
        Masses, centres and inertias of the nodes of a body with modal integrals.
    flexibility : (E, p, 6) array_like of float, optional
        One over EA, GJ, EI in both planes and kGA in both at p Gauss points of E
        elements, zero for directions without motion.  The nodes of the body are then
        the base, and the Gauss points and the end of each element.
    shear_centre : (E, 2) array_like of float, optional
        Place of the shear centre of each element along y and z, in m, zero by default.
    modal_stiffness : (m, m) array_like of float, optional
        Stiffness of the modes, to know them again.
    named : bool, optional
        Whether the source of the link names its basis, so that an arm does not warn of
        it; by default inside of `named_basis`.
    left_out : (E, p, 6) array_like of float, optional
        One over EA and kGA at the points of `flexibility`, where sections have that
        stiffness and the link no such motion; zero elsewhere, as by default.
    coupling : (S, 4, 4) array_like of float, optional
        Stiffness beside its diagonal `stiffness`, in the order of `strain`.
    """

    at: Array
    node: Index
    axes: Array
    strain: Array
    stiffness: Array
    mass_beyond: Array
    beyond: Mask
    sections: tuple[Section, ...] | None = None
    carried: tuple[Array, ...] | None = None
    flexibility: Array | None = None
    shear_centre: Any = None
    modal_stiffness: Array | None = None
    named: bool | None = None
    left_out: Array | None = None
    coupling: Array | None = None

    def __post_init__(self) -> None:
        # arrays of S cuts and N nodes
        at = as_array("at of a beam profile", self.at, (None,))
        S, N = len(at), np.shape(self.beyond)[-1]
        self._set(
            at=at,
            node=_fixed(np.asarray(self.node, dtype=np.intp)),
            axes=as_array("axes of a beam profile", self.axes, (S, 3, 3)),
            strain=as_array("strain of a beam profile", self.strain, (S, 4, None)),
            stiffness=as_array("stiffness of a beam profile", self.stiffness, (S, 4)),
            mass_beyond=as_array(
                "mass_beyond of a beam profile", self.mass_beyond, (S, N)
            ),
            beyond=_fixed(np.asarray(self.beyond, dtype=bool)),
        )
        if self.node.shape != (S,) or self.beyond.shape != (S, N):
            raise ModelError(
                f"node and beyond of a beam profile have shapes {self.node.shape} and "
                f"{self.beyond.shape}, expected {(S,)} and {(S, N)}"
            )
        if self.flexibility is not None:
            self._set_flexibility()
        if self.coupling is not None:
            what = "coupling of a beam profile"
            self._set(coupling=as_array(what, self.coupling, (S, 4, 4)))
        if self.named is None:
            self._set(named=_NAMED.get())
        # masses of the nodes
        if self.carried is not None:
            mass, com, inertia = self.carried
            carried = (
                as_array("mass of a beam profile", mass, (N,)),
                as_array("com of a beam profile", com, (N, 3)),
                as_array("inertia of a beam profile", inertia, (N, 3, 3)),
            )
            self._set(carried=carried)

    def _set_flexibility(self) -> None:
        who, m = "of a beam profile", self.strain.shape[2]
        given = as_array(f"flexibility {who}", self.flexibility, (None, None, 6))
        centre = self.shear_centre
        centre = np.zeros((len(given), 2)) if centre is None else centre
        self._set(
            flexibility=given,
            shear_centre=as_array(f"shear_centre {who}", centre, (len(given), 2)),
            left_out=None
            if self.left_out is None
            else as_array(f"left_out {who}", self.left_out, given.shape),
            modal_stiffness=as_array(
                f"modal_stiffness {who}", self.modal_stiffness, (m, m)
            ),
        )

    @cached_property
    def shape_counts(self) -> list[int]:
        """Numbers of independent shapes of twist and curvatures, of three directions.

        Links of which they are known by their modes come with them.
        """
        ranks: list[int] = np.linalg.matrix_rank(
            self.strain.swapaxes(0, 1)[1:]
        ).tolist()
        return ranks

    def check(self, who: str, n_nodes: int, n_modes: int) -> None:
        """Raise if the profile is that of another body."""
        own = (self.beyond.shape[1], self.strain.shape[2])
        if own != (n_nodes, n_modes):
            raise ModelError(
                f"beam of {who} has {own[0]} nodes and {own[1]} modes, the body "
                f"{n_nodes} and {n_modes}; expected as many, or beam=None"
            )

    def node_at(self, who: str, distance: object) -> int:
        """Number of the node at a distance along the line, of two the first."""
        at, length = real(f"node of {who}", distance, "m"), float(self.at.max())
        away = np.abs(self.at - at)
        if away.min() > 1e-9 * length:
            near = ", ".join(f"{x:g}" for x in np.unique(self.at[np.argsort(away)[:3]]))
            raise ModelError(
                f"{who} has no node at {at:g} m along it, the nearest ones are at "
                f"{near} m; expected one of its nodes, or a name given to that place "
                "by nodes= of beams.finite_element_link"
            )
        return int(self.node[int(np.argmin(away))])

    def turned(self, R: Array) -> BeamProfile:
        """Return the profile with its axes turned by R in the frame of the body."""
        carried = None
        if self.carried is not None:
            mass, com, inertia = self.carried
            carried = (mass, com @ R.T, R @ inertia @ R.T)
        result: BeamProfile = self.replace(axes=R @ self.axes, carried=carried)
        return result


def _fixed(array: NDArray[E]) -> NDArray[E]:
    array = np.array(array)
    array.flags.writeable = False
    return array


def joined_profile(profiles: Sequence[BeamProfile]) -> BeamProfile:
    """Cuts across pieces of one link, whose nodes and modes follow each other.

    Parameters
    ----------
    profiles : sequence of BeamProfile
        From base to tip, with distances along the whole link.
    """
    from scipy.linalg import block_diag

    cuts = [len(profile.at) for profile in profiles]
    nodes = [profile.beyond.shape[1] for profile in profiles]
    first = np.concatenate([[0], np.cumsum(nodes)])
    # nodes of the pieces behind that of a cut are beyond it
    outer = np.repeat(np.arange(len(nodes)), cuts)[:, np.newaxis]
    behind = np.repeat(np.arange(len(nodes)), nodes) > outer
    strain = [profile.strain for profile in profiles]
    sections = [profile.sections for profile in profiles]
    carried = [profile.carried for profile in profiles]
    return BeamProfile(
        at=np.concatenate([profile.at for profile in profiles]),
        node=np.concatenate(
            [profile.node + k for profile, k in zip(profiles, first, strict=False)]
        ),
        axes=np.concatenate([profile.axes for profile in profiles]),
        strain=np.stack(
            [block_diag(*(rows[:, i] for rows in strain)) for i in range(4)], axis=1
        ),
        stiffness=np.concatenate([profile.stiffness for profile in profiles]),
        mass_beyond=block_diag(*(p.mass_beyond for p in profiles)) + behind,
        beyond=block_diag(*(p.beyond for p in profiles)).astype(bool) | behind,
        sections=None
        if any(part is None for part in sections)
        else tuple(section for part in sections for section in part or ()),
        carried=None
        if any(part is None for part in carried)
        else tuple(
            np.concatenate([part[i] for part in carried if part is not None])
            for i in range(3)
        ),
    )


def uniform_profile(
    length: float,
    n_points: int,
    strain: Array,
    stiffness: Array,
    modal_stiffness: Array,
    shape_counts: list[int] | None = None,
) -> BeamProfile:
    """Cuts at all nodes of a uniform link: base, Gauss points, tip.

    Parameters
    ----------
    length : float
        Length of the link, in m.
    n_points : int
        Number N - 2 of Gauss points.
    strain : (N, 4, m) ndarray
        Stretch, rate of twist and curvatures; kept.
    stiffness : (4,) ndarray
        Stiffness against them.
    modal_stiffness : (m, m) ndarray
        Stiffness of the modes.
    shape_counts : list of int, optional
        As of `BeamProfile`, if they are known.
    """
    N, common = n_points + 2, _uniform_cuts(n_points)
    flexibility = np.append(reciprocal(stiffness), [0.0, 0.0])  # rigid in shear
    result: BeamProfile = BeamProfile._of_checked(
        at=length * node_fractions(n_points),
        node=common.node,
        axes=common.axes,
        strain=strain,
        stiffness=np.full((N, 4), stiffness),
        mass_beyond=common.mass_beyond,
        beyond=common.beyond,
        flexibility=np.full((1, n_points, 6), flexibility),
        shear_centre=np.zeros((1, 2)),
        modal_stiffness=modal_stiffness.copy(),
        named=_NAMED.get(),
        **({} if shape_counts is None else {"shape_counts": shape_counts}),
    )
    return result


class _UniformCuts(NamedTuple):
    """Arrays that profiles of uniform links share, read-only."""

    node: Index
    axes: Array
    mass_beyond: Array
    beyond: Mask


@lru_cache(maxsize=64)
def _uniform_cuts(n_points: int) -> _UniformCuts:
    """Arrays of all profiles with this number of Gauss points."""
    x, weight = node_fractions(n_points), gauss_rule(n_points)[1]
    number = np.arange(n_points + 2, dtype=np.intp)
    beyond = number > number[:, np.newaxis]
    beyond[-1, -1] = True  # the last cut is before the tip
    mass = beyond.astype(np.float64)
    mass[:, 1:-1] = integrals_beyond(x, weight)
    axes = np.tile(np.eye(3), (n_points + 2, 1, 1))
    return _UniformCuts(_fixed(number), _fixed(axes), _fixed(mass), _fixed(beyond))


def reciprocal(stiffness: Array) -> Array:
    """One over each stiffness, zero for a direction that does not deform."""
    some = stiffness > 0.0
    return np.where(some, 1.0 / np.where(some, stiffness, 1.0), 0.0)


def integrals_beyond(x: Array, weight: Array) -> Array:
    """Integrals from x to 1 by Gauss points in (0, 1), relative to their weights.

    Parameters
    ----------
    x : (S,) ndarray
        Lower ends, in [0, 1]; all but the first and the last are the Gauss points.
    weight : (n,) ndarray
        Weights of the n Gauss points.

    Returns
    -------
    part : (S, n) ndarray
        ``sum(part * weight * f)`` is the integral of the polynomial of degree n - 1
        through the values f.
    """
    n = len(weight)
    legendre = np.polynomial.legendre
    y = 2.0 * np.asarray(x) - 1.0
    P = legendre.legvander(y, n)  # (S, n + 1)
    # int_y^1 P_k = (P_(k-1) - P_(k+1)) / (2 k + 1), and 1 - y for k = 0
    k = np.arange(1, n)
    beyond = np.column_stack([1.0 - y, (P[:, k - 1] - P[:, k + 1]) / (2.0 * k + 1.0)])
    # coefficients of the polynomial: (2 k + 1) sum w f P_k on weights that add up to 1
    nodes = P[1:-1, :n]
    part = beyond @ ((2.0 * np.arange(n) + 1.0)[:, np.newaxis] * nodes.T) * 0.5
    # exact at the ends
    part[0], part[-1] = 1.0, 0.0
    return np.asarray(part)
