"""Eigenvalue problems and solves of finite-element meshes, on LAPACK and ARPACK.

Low frequencies matter for an arm, so all problems are posed for the compliance:
``M x = mu K x`` with mu = 1 / omega^2 has its low modes on top, with full accuracy, and
allows mass matrices with zeros (lumped ones without rotary inertia).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .._support.arrays import Array
from .._support.checks import as_matrix, short_text, whole_number
from ..errors import ConvergenceError, ModelError

# Degrees of freedom for LAPACK at most, unless many modes are wanted.
MAX_DENSE = 800
# Degrees of freedom of dense matrices at most: 512 MB for each.
MAX_ANY_DENSE = 8000
# Negative eigenvalue of a matrix with unit diagonal at most: zeros rounded to seven
# digits become such ones.
MAX_NEGATIVE = 1e-6
# Pivot of such a matrix, below which it is singular.
MIN_PIVOT = 1e-13


class Sparse(Protocol):
    """Matrix of ``scipy.sparse`` by rows or columns."""

    shape: tuple[int, ...]

    def diagonal(self) -> Array:
        """Entries of the diagonal."""

    def toarray(self) -> Array:
        """All entries."""

    def __matmul__(self, other: Array, /) -> Array: ...
    def __getitem__(self, at: object, /) -> Sparse: ...


class Factor:
    """Sparse triangular factors of a symmetric positive definite matrix.

    Pivots are taken on the diagonal, of the matrix scaled to a unit diagonal; their
    signs are those of the eigenvalues (Sylvester's law of inertia).
    """

    def __init__(self, matrix: Sparse, shift: float = 0.0) -> None:
        from scipy import sparse
        from scipy.sparse.linalg import splu

        matrix = sparse.csc_matrix(matrix)
        diagonal = np.abs(matrix.diagonal())
        self._scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        scaling = sparse.diags(self._scale)
        scaled = scaling @ matrix @ scaling + shift * sparse.identity(len(diagonal))
        self.lowest_pivot = -np.inf
        try:
            self._lu = splu(
                sparse.csc_matrix(scaled),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError:  # exactly singular
            return
        if np.array_equal(self._lu.perm_r, self._lu.perm_c):
            self.lowest_pivot = float(self._lu.U.diagonal().min())

    def solve(self, right: Array) -> Array:
        """Solution for one or several right-hand sides, (n,) or (n, k)."""
        scale = self._scale if right.ndim == 1 else self._scale[:, np.newaxis]
        return np.asarray(scale * self._lu.solve(scale * right))


def is_indefinite(matrix: Sparse) -> bool:
    """Whether a symmetric matrix has a negative eigenvalue beyond rounding."""
    if matrix.shape[0] == 0:
        return False
    if float(matrix.diagonal().min()) < 0.0:
        return True
    return Factor(matrix, MAX_NEGATIVE).lowest_pivot <= 0.0


def symmetric_matrix(what: str, value: object, n: int, check_definite: bool) -> Any:
    """Return a symmetric matrix without negative eigenvalues in CSC form."""
    from scipy import sparse

    matrix = sparse.csc_matrix(as_matrix(what, value, n))
    off = abs(matrix - matrix.T).tocoo()
    worst = int(np.argmax(off.data)) if off.nnz else -1
    if worst >= 0 and off.data[worst] > 1e-9 * abs(matrix).max():
        i, j = sorted((int(off.row[worst]), int(off.col[worst])))
        raise ModelError(
            f"{what} is not symmetric: entries ({i}, {j}) and ({j}, {i}) are "
            f"{matrix[i, j]:g} and {matrix[j, i]:g}, expected equal ones; write both "
            "halves or declare the file symmetric"
        )
    matrix = ((matrix + matrix.T) / 2.0).tocsc()
    if check_definite and is_indefinite(matrix):
        raise ModelError(
            f"{what} is indefinite, expected no negative eigenvalue; check its units "
            "and that it is not a dynamic or a geometric one"
        )
    matrix.data.flags.writeable = False
    return matrix


def stiffness_factor(stiffness: Sparse, what: str) -> Factor:
    """Return the factors of a stiffness matrix, or raise if a part moves freely."""
    factor = Factor(stiffness)
    if factor.lowest_pivot < MIN_PIVOT:
        raise ModelError(
            f"the mesh {what} still moves without any stiffness, expected all parts "
            "connected; remove loose nodes and mechanisms, or the rows and columns of "
            "unused degrees of freedom"
        )
    return factor


def check_count(wanted: object, possible: int) -> int:
    """Return a number of modes, or raise if the mesh has fewer or they are too many."""
    count = whole_number("n_modes", wanted)
    if not 0 <= count <= possible:
        raise ModelError(
            f"n_modes is {short_text(count)}, expected 0 to {possible}, by the degrees "
            "of freedom of the mesh"
        )
    if possible > MAX_ANY_DENSE and count >= possible // 4:
        raise ModelError(
            f"n_modes is {count} of {possible}, which need dense matrices, expected "
            f"less than a quarter of them above {MAX_ANY_DENSE} degrees of freedom"
        )
    return count


def _finish(mass: Sparse, vectors: Array, omega2: Array | None) -> tuple[Array, Array]:
    """Modes of unit modal mass, ascending, with fixed signs."""
    weight = np.einsum("ij,ij->j", vectors, mass @ vectors)
    if not (weight > 1e-14 * weight.max(initial=0.0)).all():
        raise ModelError(
            f"only {int((weight > 1e-14 * weight.max(initial=0.0)).sum())} modes of "
            f"the mesh move mass, n_modes is {len(weight)}; ask for fewer modes"
        )
    # LAPACK's vectors have unit stiffness
    omega2 = 1.0 / weight if omega2 is None else omega2
    order = np.argsort(omega2)
    return omega2[order], fix_signs((vectors / np.sqrt(weight))[:, order])


def fix_signs(vectors: Array) -> Array:
    """Make the first of the largest entries of each column positive."""
    size = np.abs(vectors)
    if not size.size:
        return vectors
    first = np.argmax(size > (1.0 - 1e-6) * size.max(axis=0), axis=0)
    return np.asarray(vectors * np.sign(vectors[first, np.arange(vectors.shape[1])]))


def _arpack(
    stiffness: Sparse, mass: Sparse, inverse: Callable[[Array], Array], n_modes: int
) -> tuple[Array, Array]:
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    n = mass.shape[0]
    start = np.random.default_rng(0).standard_normal(n)
    try:
        found: tuple[Array, Array] = eigsh(
            stiffness,
            n_modes,
            M=mass,
            sigma=0.0,
            which="LM",
            OPinv=LinearOperator((n, n), matvec=inverse, dtype=np.float64),
            v0=inverse(mass @ start),
            tol=0.0,
        )
    except ArpackNoConvergence as problem:
        raise ConvergenceError(
            f"ARPACK found {len(problem.eigenvalues)} of {n_modes} modes of the mesh, "
            "expected all; ask for fewer modes"
        ) from None
    return found


def clamped_eigenmodes(
    stiffness: Sparse, mass: Sparse, factor: Factor, n_modes: int
) -> tuple[Array, Array]:
    """Lowest modes of a mesh with a positive definite stiffness.

    Parameters
    ----------
    stiffness, mass : (n, n) sparse matrix
        Of the degrees of freedom that are free.
    factor : Factor
        Of the stiffness.
    n_modes : int
        How many.

    Returns
    -------
    omega2 : (n_modes,) ndarray
        Squared angular frequencies, ascending, in rad^2/s^2.
    vectors : (n, n_modes) ndarray
        With unit modal mass.
    """
    from scipy.linalg import eigh

    n = mass.shape[0]
    n_modes = check_count(n_modes, n)
    if n_modes == 0:
        return np.zeros(0), np.zeros((n, 0))
    if n > MAX_DENSE and n_modes < n // 4:
        omega2, vectors = _arpack(stiffness, mass, factor.solve, n_modes)
        return _finish(mass, vectors, omega2)
    top = [n - n_modes, n - 1]
    _, vectors = eigh(mass.toarray(), stiffness.toarray(), subset_by_index=top)
    return _finish(mass, vectors, None)


def free_eigenmodes(
    stiffness: Sparse, mass: Sparse, rigid: Array, n_modes: int
) -> tuple[Array, Array]:
    """Lowest elastic modes of a free mesh, without its rigid motions.

    Parameters
    ----------
    stiffness, mass : (n, n) sparse matrix
        Of all degrees of freedom.
    rigid : (n, 6) ndarray
        Rigid motions, which have no stiffness.
    n_modes : int
        How many.

    Returns
    -------
    omega2 : (n_modes,) ndarray
        Squared angular frequencies, ascending, in rad^2/s^2.
    vectors : (n, n_modes) ndarray
        With unit modal mass, without linear and angular momentum.

    Notes
    -----
    The rigid motions are known, so they are projected out.  For LAPACK their mass is
    replaced by stiffness, which leaves all other modes unchanged.  For ARPACK the
    inverse of the stiffness is that for loads in equilibrium, with the mesh held at six
    degrees of freedom.
    """
    from scipy.linalg import eigh, qr

    n = mass.shape[0]
    n_modes = check_count(n_modes, n - 6)
    momentum = mass @ rigid
    inertia = rigid.T @ momentum
    if n_modes == 0:
        return np.zeros(0), np.zeros((n, 0))

    def elastic(x: Array) -> Array:
        return np.asarray(x - rigid @ np.linalg.solve(inertia, momentum.T @ x))

    def balanced(f: Array) -> Array:
        return np.asarray(f - momentum @ np.linalg.solve(inertia, rigid.T @ f))

    # six degrees of freedom that hold the mesh, and the others
    held = qr(rigid.T, mode="r", pivoting=True)[1][:6]
    free = np.setdiff1d(np.arange(n), held)
    factor = stiffness_factor(
        stiffness[free][:, free], "held at six degrees of freedom"
    )

    def inverse(f: Array) -> Array:
        x = np.zeros(n)
        x[free] = factor.solve(balanced(f)[free])
        return elastic(x)

    if n > MAX_DENSE and n_modes < n // 4:
        omega2, vectors = _arpack(stiffness, mass, inverse, n_modes)
        return _finish(mass, elastic(vectors), omega2)
    of_rigid = momentum @ np.linalg.solve(inertia, momentum.T)
    large = float(stiffness.diagonal().sum() / mass.diagonal().sum())
    _, vectors = eigh(
        mass.toarray() - of_rigid,
        stiffness.toarray() + large * of_rigid,
        subset_by_index=[n - n_modes, n - 1],
    )
    return _finish(mass, elastic(vectors), None)


def modal_compliance(mass: Array, stiffness: Array) -> tuple[Array, Array]:
    """1 / omega^2 and modes of unit stiffness, by ascending frequency."""
    from scipy.linalg import eigh

    if not len(mass):
        return np.zeros(0), np.zeros((0, 0))
    try:
        values, vectors = eigh(mass, stiffness)
    except np.linalg.LinAlgError:
        raise ModelError(
            "the modal stiffness of the mesh is singular, expected elastic modes only; "
            "leave rigid motions out"
        ) from None
    return values[::-1].clip(0.0), vectors[:, ::-1]
