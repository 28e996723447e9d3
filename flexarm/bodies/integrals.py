r"""Modal integrals: the constants in the inertia of a deforming body.

A body with n modal coordinates eta, whose frame has the twist (omega; v), has the
kinetic energy T = 1/2 V_m' M_m(eta) V_m with V_m = (etad; omega; v).  Its mass matrix
(equations B1 and B2 of ``notebooks/docs/equations.md``) is a polynomial in eta, and its
coefficients are the integrals of A. Jain and G. Rodriguez, US patent 5,546,508,
appendix C.1.  They come from nodes that carry masses (`nodal_integrals`,
`modal_integrals`), from the mass matrix of a finite-element mesh
(`consistent_integrals`), or from elsewhere.  Velocity forces follow from T, so the
same few numbers give all of the dynamics.

A slender link that bends draws its points towards its base: the position of node j is
:math:`l_0 + \gamma\eta + b`, :math:`b = \tfrac12\eta'\kappa\,\eta`.  To first order
in the modes its equations of motion need only those terms of b that couple with motions
of the undeformed body,

.. math:: \sum m\,(\omega\times b + \dot b)\cdot(v + \omega\times c),
   \qquad c = l_0 + p,

that is, the moments :math:`\sum m\,b` and :math:`\sum m\,c\,b'`.  A kinetic energy
truncated after these terms has a mass matrix that is indefinite already at slopes of
0.1.  It is replaced by that of nodes that move by the affine field
:math:`\tilde b = \alpha + B\,c` with the same moments, without truncation: positive,
and correct to first order.  Such fields are a few shapes :math:`g_k`, driven by the
modes,

.. math:: \tilde b = \sum_k g_k\,\zeta_k, \qquad
   \zeta_k = \tfrac12\,\eta' K_k\,\eta, \qquad (B6)

for a straight beam a shift and a stretch along its axis.  With the integrals of the
:math:`n + p` shapes :math:`(\gamma; g)` everything is projected on the modes by
:math:`\dot\zeta = K\eta\,\dot\eta`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._calls.declared import Floats, Vector
from .._calls.doors import checked_class
from .._core import MAX_DRIVEN
from .._support.arrays import AnyArray as Array
from .._support.arrays import Index
from .._support.checks import as_array, check_inertia, check_square
from .._support.description import Description
from ..errors import ModelError

# Relative error of a rigid motion: a mass matrix that is printed with seven digits
# passes.
RIGID_TOLERANCE = 1e-6

# Smallest part of the kinetic energy of a mode that remains after subtraction of rigid
# motions: zero to rounding for a rigid mode, small for an interface close to the clamp.
MIN_ELASTIC_PART = 1e-13
# Part of the largest singular value, below which there is rounding of the second
# derivatives.
RANK_TOLERANCE = 1e-12


# entries of a symmetric matrix (3, 3)
_UPPER = np.triu_indices(3)
_OF_NINE = np.array([0, 1, 2, 4, 5, 8])


@lru_cache(maxsize=64)
def _lower(n: int) -> tuple[Index, Index]:
    """Indices of the lower triangle."""
    return np.tril_indices(n)


@checked_class
@dataclass(frozen=True, eq=False)
class ModalIntegrals(Description):
    """Coefficients of the mass matrix of a body with n modes (B1, B2).

    The names are those of the patent, App. C.1, but the masses are included.

    Parameters
    ----------
    m : float
        Mass, in kg.
    mp0, mp1 : (3,), (3, n) array_like of float
        First moment about the frame of the undeformed body, in kg m, and its slopes in
        the modes.
    E, F0 : (3, n) array_like of float
        Linear and angular momentum of the undeformed body per unit of modal rate.
    F1 : (3, n, n) array_like of float
        ``F1[:, r, s]`` is the slope of column r of the angular momentum in mode s.
    G : (n, n) array_like of float
        Modal mass matrix.
    J0, J1s, J2s : (3, 3), (n, 3, 3), (n, n, 3, 3) array_like of float
        Inertia about the frame of the undeformed body, in kg m^2, its slopes and
        second derivatives.
    driven : DrivenShapes, optional
        Shapes that foreshortening adds.

    Raises
    ------
    ModelError
        If a shape does not fit or a number is not finite.

    See Also
    --------
    modal_integrals, nodal_integrals, consistent_integrals : compute them.
    flexarm.FlexibleBody : accepts them in place of the masses of its nodes.

    Notes
    -----
    ``E`` and ``mp1`` are equal if the momentum of the body is the rate of its first
    moment; they differ for offset masses on nodes that turn.

    References
    ----------
    .. [1] A. Jain, G. Rodriguez, US patent 5,546,508 (1996), appendix C.

    Examples
    --------
    >>> import flexarm as fa
    >>> link = fa.library.de_luca_siciliano().bodies[0]
    >>> integrals = fa.modal_integrals(link)
    >>> integrals.n_modes, round(integrals.m, 6)  # mass in kg
    (2, 0.1)
    """

    m: float
    mp0: Vector
    mp1: Annotated[Array, Floats("(3, n)")]
    E: Annotated[Array, Floats("(3, n)")]
    F0: Annotated[Array, Floats("(3, n)")]
    F1: Annotated[Array, Floats("(3, n, n)")]
    G: Annotated[Array, Floats("(n, n)")]
    J0: Annotated[Array, Floats("(3, 3)")]
    J1s: Annotated[Array, Floats("(n, 3, 3)")]
    J2s: Annotated[Array, Floats("(n, n, 3, 3)")]
    driven: DrivenShapes | None = None

    def __post_init__(self) -> None:
        G = as_array("G of the modal integrals", self.G, (None, None))
        n = len(G)
        shapes: dict[str, tuple[int, ...]] = {
            "mp0": (3,),
            "mp1": (3, n),
            "E": (3, n),
            "F0": (3, n),
            "F1": (3, n, n),
            "G": (n, n),
            "J0": (3, 3),
            "J1s": (n, 3, 3),
            "J2s": (n, n, 3, 3),
        }
        self._set(m=float(as_array("m of the modal integrals", self.m, ())))
        for name, shape in shapes.items():
            value = as_array(
                f"{name} of the modal integrals", getattr(self, name), shape
            )
            self._set(**{name: value})
        if self.driven is not None:
            self.driven.check(n)

    @classmethod
    def _of_sums(cls, **fields: Any) -> ModalIntegrals:
        """Return integrals of new arrays of the right shapes, which they keep."""
        arrays = [x.ravel() for x in fields.values() if isinstance(x, np.ndarray)]
        size = np.add.reduce(np.concatenate(arrays))
        if not np.isfinite(size + fields["m"]):
            return cls(**fields)  # which raises, or knows better
        result: ModalIntegrals = cls._of_checked(**fields)
        return result

    @property
    def n_modes(self) -> int:
        """Number of modes."""
        return len(self.G)

    def mass_matrix(self, eta: Annotated[ArrayLike, Floats("(..., n)")]) -> Array:
        """Mass matrix of the deformed body (B1, B2).

        Parameters
        ----------
        eta : (..., n) array_like
            Modal coordinates; complex ones give derivatives.

        Returns
        -------
        M_m : (..., n + 6, n + 6) ndarray
            On (etad; omega; v): modes, then angular and linear velocity of the frame
            in its own axes.

        Raises
        ------
        ModelError
            If `eta` has another length.

        Examples
        --------
        A rigid body of 2 kg whose centre of mass is 0.5 m away:

        >>> import flexarm as fa
        >>> rod = fa.RigidBody("rod", mass=2.0, com=(0.5, 0, 0))
        >>> M = fa.modal_integrals(rod).mass_matrix([])
        >>> M.shape, float(M[1, 1]), float(M[1, 5])
        ((6, 6), 0.5, -1.0)
        """
        eta, n = np.asarray(eta), self.n_modes
        if eta.shape[-1:] != (n,):
            raise ModelError(f"eta has shape {eta.shape}, expected (..., {n})")
        if self.driven is not None:
            return self.driven.mass_matrix(eta)
        mp = self.mp0 + eta @ self.mp1.T
        F = self.F0 + np.einsum("irs,...s->...ir", self.F1, eta)
        slope = self.J1s + 0.5 * np.einsum("rsij,...s->...rij", self.J2s, eta)
        J = self.J0 + np.einsum("...rij,...r->...ij", slope, eta)

        M = np.zeros((*eta.shape[:-1], n + 6, n + 6), dtype=J.dtype)
        rates, turn, move = slice(0, n), slice(n, n + 3), slice(n + 3, n + 6)
        M[..., rates, rates] = self.G
        M[..., turn, rates], M[..., rates, turn] = F, np.swapaxes(F, -2, -1)
        M[..., move, rates], M[..., rates, move] = self.E, self.E.T
        M[..., turn, turn] = J
        lever = np.cross(mp[..., np.newaxis, :], np.eye(3), axisc=-2)
        M[..., turn, move], M[..., move, turn] = lever, -lever
        M[..., move, move] = self.m * np.eye(3)
        return M

    def plus(self, other: ModalIntegrals) -> ModalIntegrals:
        """Integrals of two bodies that move in the same modes, as those of one.

        Parameters
        ----------
        other : ModalIntegrals
            With as many modes and without driven shapes, which do not move it.

        Returns
        -------
        integrals : ModalIntegrals
            Sums; the driven shapes are those of the first.

        Examples
        --------
        >>> import flexarm as fa
        >>> rod = fa.modal_integrals(fa.RigidBody("rod", mass=2.0))
        >>> rod.plus(rod).m
        4.0
        """
        names = ("m", "mp0", "mp1", "E", "F0", "F1", "G", "J0", "J1s", "J2s")
        total = {name: getattr(self, name) + getattr(other, name) for name in names}
        if self.driven is not None:
            p, n = len(self.driven.second), self.n_modes
            both = self.driven.integrals.plus(other.change_basis(np.eye(n, n + p)))
            total["driven"] = self.driven.replace(integrals=both)
        return ModalIntegrals(**total)

    def change_basis(self, W: Annotated[ArrayLike, Floats("(n, k)")]) -> ModalIntegrals:
        """Integrals for coordinates eta' with eta = W eta'.

        Parameters
        ----------
        W : (n, k) array_like of float
            Each column is a new mode in terms of the old ones.

        Returns
        -------
        integrals : ModalIntegrals
            With k modes; stiffness and damping become ``W.T @ K @ W``.

        Examples
        --------
        >>> import numpy as np
        >>> import flexarm as fa
        >>> arm = fa.library.de_luca_siciliano()
        >>> integrals = fa.modal_integrals(arm.bodies[1])
        >>> first = integrals.change_basis([[1.0], [0.0]])  # the first mode alone
        >>> first.n_modes, bool(np.allclose(first.G, integrals.G[:1, :1]))
        (1, True)
        """
        W = as_array("W", W, (self.n_modes, None))
        return ModalIntegrals(
            m=self.m,
            mp0=self.mp0,
            mp1=self.mp1 @ W,
            E=self.E @ W,
            F0=self.F0 @ W,
            F1=np.einsum("irs,ra,sb->iab", self.F1, W, W),
            G=W.T @ self.G @ W,
            J0=self.J0,
            J1s=np.einsum("rij,ra->aij", self.J1s, W),
            J2s=np.einsum("rsij,ra,sb->abij", self.J2s, W, W),
            driven=None if self.driven is None else self.driven.change_basis(W),
        )

    def pack(self) -> NDArray[np.float64]:
        """Return them as one array, in the order of ``csrc/model/description.h``."""
        parts = [
            [self.m],
            self.mp0,
            self.J0[_UPPER],
            *(self.E.T, self.F0.T, self.mp1.T, self.F1.transpose(1, 2, 0)),
            self.G[_lower(self.n_modes)],
            self.J1s.reshape(-1, 9)[:, _OF_NINE],
            self.J2s.reshape(-1, 9)[:, _OF_NINE],
        ]
        return np.concatenate([np.ravel(part) for part in parts])

    def check(self, who: str, mode_names: tuple[str, ...]) -> None:
        """Raise for integrals that no body has, and for rigid motions among the modes.

        Parameters
        ----------
        who : str
            Name of the body for the message.
        mode_names : sequence of str
            Names of the modes.

        Raises
        ------
        ModelError
            If a matrix is not symmetric or not definite, if the inertia violates the
            triangle inequality, or if modes move the body like a rigid one.

        Examples
        --------
        >>> import dataclasses
        >>> import flexarm as fa
        >>> integrals = fa.modal_integrals(fa.RigidBody("rod", mass=2.0))
        >>> integrals.check("rod", ())
        >>> dataclasses.replace(integrals, m=-2.0).check("rod", ())
        Traceback (most recent call last):
            ...
        flexarm.errors.ModelError: rod (modal integrals) has the mass -2 kg, ...
        """
        check_inertia(
            f"{who} (modal integrals)", self.m, self.mp0 / (self.m or 1.0), self.J0
        )
        check_square(f"G of {who}", self.G, self.n_modes)
        for name, value, swapped in (
            ("J1s", self.J1s, self.J1s.swapaxes(1, 2)),
            ("J2s", self.J2s, self.J2s.swapaxes(2, 3)),
            ("J2s", self.J2s, self.J2s.swapaxes(0, 1)),
        ):
            off = float(np.abs(value - swapped).max(initial=0.0))
            if off > 1e-9 * float(np.abs(value).max(initial=0.0)):
                raise ModelError(
                    f"{name} of {who} is not symmetric, entries differ by {off:.3g}; "
                    "expected symmetric inertias and second derivatives"
                )
        self._check_modes(who, mode_names)

    def _check_modes(self, who: str, mode_names: tuple[str, ...]) -> None:
        """Raise if rigid motions can remove all kinetic energy of a mode."""
        n = self.n_modes
        size = np.sqrt(np.diag(self.G))
        if not n or not (size > 0.0).all():
            return  # the body raises for modes without mass
        M = self.mass_matrix(np.zeros(n))
        rigid = M[n:, n:]
        length = np.sqrt(np.trace(self.J0) / (3.0 * self.m)) if self.m > 0.0 else 1.0
        scale = np.repeat([1.0 / length if length > 0.0 else 1.0, 1.0], 3)
        coupling = scale[:, np.newaxis] * M[n:, :n] / size
        inverse = np.linalg.pinv(scale[:, None] * rigid * scale, 1e-12, hermitian=True)
        left = self.G / np.outer(size, size) - coupling.T @ inverse @ coupling
        values, vectors = np.linalg.eigh((left + left.T) / 2.0)
        if values[0] < -1e-9:
            raise ModelError(
                f"{who} has modal integrals that are not those of a body: its mass "
                f"matrix has a negative eigenvalue (ratio {values[0]:.2g}), expected a "
                "positive definite one"
            )
        if values[0] < MIN_ELASTIC_PART:
            worst = mode_names[int(np.argmax(np.abs(vectors[:, 0])))]
            raise ModelError(
                f"the modes of {who} contain a rigid motion, mostly mode {worst!r}, "
                "which its joint or frame already has; expected elastic modes only, "
                "leave the rigid ones out"
            )


@dataclass(frozen=True, eq=False)
class DrivenShapes(Description):
    """Shapes of a body whose amplitudes are quadratic in its n modes (B6).

    Parameters
    ----------
    second : (p, n, n) array_like of float
        Second derivatives K of the p amplitudes ``zeta = eta' K eta / 2``.
    integrals : ModalIntegrals
        Those of n + p modes: the modes of the body, then the driven shapes, which turn
        no node.

    See Also
    --------
    nodal_integrals : makes them from ``foreshortening``.
    """

    second: Array
    integrals: ModalIntegrals

    def __post_init__(self) -> None:
        second = as_array("second of the driven shapes", self.second, (None,) * 3)
        n = second.shape[-1]
        self._set(second=as_array("second of the driven shapes", second, (None, n, n)))
        off = float(np.abs(second - second.swapaxes(1, 2)).max(initial=0.0))
        if off > 1e-9 * float(np.abs(second).max(initial=0.0)):
            raise ModelError(
                f"second of the driven shapes is not symmetric, entries differ by "
                f"{off:.3g}; expected second derivatives"
            )

    @classmethod
    def of_symmetric(cls, second: Array, integrals: ModalIntegrals) -> DrivenShapes:
        """Return the shapes of a new array that is symmetric and that they keep."""
        if not np.isfinite(np.add.reduce(second, axis=None)):
            return cls(second, integrals)  # which raises, or knows better
        result: DrivenShapes = cls._of_checked(second=second, integrals=integrals)
        return result

    def check(self, n: int) -> None:
        """Raise if the shapes do not fit a body with n modes."""
        p, own = len(self.second), self.second.shape[-1]
        if not isinstance(self.integrals, ModalIntegrals):
            raise ModelError(
                f"integrals of the driven shapes is {type(self.integrals).__name__}, "
                "expected flexarm.ModalIntegrals"
            )
        if own != n or self.integrals.n_modes != n + p or p > MAX_DRIVEN:
            raise ModelError(
                f"{p} driven shapes of {own} modes have integrals of "
                f"{self.integrals.n_modes}, beside those of a body with {n} modes; "
                f"expected {n} and {n} + {p}, and at most {MAX_DRIVEN} shapes"
            )

    def mass_matrix(self, eta: Array) -> Array:
        """Mass matrix of the deformed body on (etad; omega; v)."""
        coordinates, slopes = projection(self.second, eta)
        M, n = self.integrals.mass_matrix(coordinates), slopes.shape[-1]
        N = np.zeros((*eta.shape[:-1], len(M[..., 0, :].T), n + 6), dtype=slopes.dtype)
        N[..., :-6, :n], N[..., -6:, n:] = slopes, np.eye(6)
        return np.asarray(np.swapaxes(N, -2, -1) @ M @ N)

    def change_basis(self, W: Array) -> DrivenShapes:
        """Return the shapes for coordinates eta' with eta = W eta'."""
        (n, k), p = W.shape, len(self.second)
        both = np.zeros((n + p, k + p))
        both[:n, :k], both[n:, k:] = W, np.eye(p)
        return DrivenShapes(W.T @ self.second @ W, self.integrals.change_basis(both))

    def pack(self) -> NDArray[np.float64]:
        """Return them as one array, in the order of ``csrc/model/description.h``."""
        c, n = self.integrals, self.second.shape[-1]
        own, more = slice(n), slice(n, None)
        J1s, J2s = (x.reshape(*x.shape[:-2], 9)[..., _OF_NINE] for x in (c.J1s, c.J2s))
        F1 = c.F1.transpose(1, 2, 0)
        parts = [
            self.second,
            *(c.E.T[more], c.F0.T[more]),
            *(F1[more, own], F1[own, more].swapaxes(0, 1), F1[more, more]),
            *(c.G[more, own], c.G[more, more]),
            *(J1s[more], J2s[more, own], J2s[more, more]),
        ]
        return np.concatenate([np.ravel(part) for part in parts])


@lru_cache(maxsize=64)
def _pairs(n: int) -> tuple[Index, Index]:
    """Numbers of the modes of each pair."""
    return np.triu_indices(n)


def driven_shapes(mass: Array, place: Array, kappa: Array) -> tuple[Array, Array]:
    """Shapes that foreshortening drives, and their second derivatives (B6).

    Parameters
    ----------
    mass : (N,) ndarray
        Masses of the nodes, in kg.
    place : (N, 3) ndarray
        Their positions on the undeformed body, in m.
    kappa : (N, 3, n, n) ndarray
        Second derivatives of the positions of the nodes in the modes.

    Returns
    -------
    shapes : (N, 3, p) ndarray
        Affine fields g, orthonormal by mass, of the smallest possible number.
    second : (p, n, n) ndarray
        Second derivatives K of their amplitudes.
    """
    n, total = kappa.shape[-1], mass.sum()
    if not total > 0.0 or not np.count_nonzero(kappa):
        return np.zeros((len(mass), 3, 0)), np.zeros((0, n, n))
    # affine functions of the place, orthonormal by mass; fewer for masses on a line
    spread = place - mass @ place / total
    affine = np.ones((len(mass), 4))
    affine[:, 1:] = spread / max(float(np.abs(spread).max()), 1e-300)
    weighted = np.sqrt(mass)[:, np.newaxis] * affine
    _, size, right = np.linalg.svd(weighted, full_matrices=False)
    kept = size > RANK_TOLERANCE * size[0]
    functions = affine @ (right[: len(size)][kept].T / size[kept])

    # moments of b with each, for pairs of modes on one scale
    own = kappa.diagonal(axis1=2, axis2=3)
    scale = np.sqrt(np.abs(own).max(axis=(0, 1)))
    scale[scale == 0.0] = 1.0
    r, s = _pairs(n)
    moments = (functions.T * mass) @ kappa.reshape(len(mass), -1)
    moments = moments.reshape(-1, n, n)[:, r, s] / (scale[r] * scale[s])
    left, size, right = np.linalg.svd(moments, full_matrices=False)
    # remove the rounding of LAPACK: kernels are chosen by exact zeros
    left[~moments.any(axis=1)] = 0.0
    right[:, ~moments.any(axis=0)] = 0.0
    kept = size > RANK_TOLERANCE * max(float(size.max(initial=0.0)), 1e-300)
    fields = left[:, kept].reshape(functions.shape[1], 3, int(kept.sum()))
    second = np.zeros((int(kept.sum()), n, n))
    second[:, r, s] = second[:, s, r] = size[kept, np.newaxis] * right[kept]
    shapes = functions @ fields.reshape(functions.shape[1], -1)
    shapes = shapes.reshape(len(mass), *fields.shape[1:])
    return shapes, second * np.outer(scale, scale)


def projection(second: Array, eta: Array) -> tuple[Array, Array]:
    """Coordinates (eta; zeta) and their derivatives by eta (B6).

    Parameters
    ----------
    second : (p, n, n) ndarray
        As from `driven_shapes`.
    eta : (..., n) ndarray
        Modal coordinates.

    Returns
    -------
    coordinates : (..., n + p) ndarray
        The modes, and the amplitudes that they drive.
    slopes : (..., n + p, n) ndarray
        Rates of both for a unit of each modal rate.
    """
    n = second.shape[-1]
    driven = np.einsum("krs,...s->...kr", second, eta)
    zeta = 0.5 * np.einsum("...kr,...r->...k", driven, eta)
    slopes = np.zeros((*eta.shape[:-1], n + len(second), n), dtype=driven.dtype)
    slopes[..., :n, :] = np.eye(n)
    slopes[..., n:, :] = driven
    return np.concatenate([eta, zeta], axis=-1), slopes
