"""Zeros of square linear models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._support.arrays import Array, Complex, Mask
from .._support.printing import Printed, Sheet, Table
from ..errors import ArgumentError, SingularityError
from ._modes import ascending, balanced, each
from ._system import LinearSystem

# Relative size of singular values that are zero.
_RANK_TOLERANCE = np.finfo(float).eps ** 0.75


@dataclass(frozen=True, eq=False)
class Zeros(Printed):
    """Zeros of linear models; ``numpy.asarray`` makes them an array.

    Attributes
    ----------
    values : (..., k) ndarray of complex
        In 1/s, or z of a discrete model, ascending in size; infinite entries, zeros at
        infinity, fill up models of a batch with fewer finite ones than others.
    dt : float or None
        Sample time of a discrete model.
    """

    values: Complex
    dt: float | None = None

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[np.generic]:
        return np.array(self.values, dtype=dtype)

    @property
    def finite(self) -> Mask:
        """True for finite zeros, (..., k)."""
        return np.isfinite(self.values)

    @property
    def nonminimum_phase(self) -> Mask:
        """Zeros in the right half plane, or outside of the unit circle, (..., k).

        They are growing poles of the inverse: outputs cannot be inverted causally.
        """
        size = np.where(self.finite, np.abs(self.values), 0.0)
        if self.dt is not None:
            return np.asarray(size > 1.0 + 1e-9)
        most = size.max(axis=-1, initial=0.0, keepdims=True)
        real = np.where(self.finite, self.values.real, 0.0)
        return np.asarray(real > 1e-9 * most)

    def _sheet(self) -> Sheet:
        if self.values.ndim > 1:
            many = int(self.nonminimum_phase.any(axis=-1).sum())
            count = int(np.prod(self.values.shape[:-1]))
            where = "outside of the unit circle" if self.dt else "in the right half"
            return Sheet(
                (f"zeros of {count} models, {many} of them with some {where} plane",)
            )
        rows = [("zero", "")]
        for value, bad in zip(self.values, self.nonminimum_phase, strict=True):
            if value.imag >= 0.0 and np.isfinite(value):
                pair = f" +- {value.imag:.5g}i" if value.imag > 0.0 else ""
                where = "unit circle" if self.dt else "right half plane"
                rows.append((f"{value.real + 0.0:.5g}{pair}", where if bad else ""))
        return Sheet((Table(rows),))


def zeros(model: LinearSystem) -> Zeros:
    r"""Finite zeros of a square model, transmission zeros of a minimal one.

    Values of s for which :math:`\begin{pmatrix} A - s & B \\ C & D \end{pmatrix}` is
    singular.

    Parameters
    ----------
    model : StateSpace
        Linear models with as many outputs as inputs; `StateSpace.select` picks them.

    Returns
    -------
    zeros : Zeros
        Invariant zeros: those of transmission, and the poles of modes that are not
        controllable or not observable.

    Raises
    ------
    ArgumentError
        If there are not as many outputs as inputs.
    SingularityError
        If the transfer matrix is singular for every s: outputs that depend on each
        other, or inputs that do.

    Notes
    -----
    Zeros at infinity are taken away first, exactly, by the orthogonal reduction of A.
    Emami-Naeini and P. Van Dooren, Automatica 18(4), 1982, on a model whose states,
    inputs and outputs have balanced units; the remaining model has an invertible D, and
    the zeros are the eigenvalues of ``A - B inv(D) C``.

    The tip of a flexible link that is driven at its base has zeros in the right half
    plane, in pairs ``+- z``; for a uniform beam without hub and payload the first at
    ``2 b^2 sqrt(EI / rho A) / L^2``, with ``tan b = -tanh b``, 11.187 of these units.
    With m modes there are 2 m zeros, the largest of which have no meaning.

    Examples
    --------
    A uniform link of 1 m, EI = 100 N m^2 and 1 kg/m: +- 111.87 1/s

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(1, n_modes=8, gravity=(0, 0, 0))
    >>> ss = fa.linearize(arm, np.zeros(9), outputs=["tip y", "joints"])
    >>> tip = np.asarray(ss.select(outputs="tip y").zeros())
    >>> float(abs(tip[0].real.round(0)))
    112.0
    >>> joint = np.asarray(ss.select(outputs="link1").zeros())
    >>> bool((abs(joint.real) < 1e-6 * abs(joint)).all())
    True
    """
    p, m = model.D.shape[-2:]
    if p != m:
        raise ArgumentError(
            f"the model has {m} inputs ({', '.join(model.inputs)}) and {p} outputs, "
            "expected as many of both for its zeros; pick them by select(inputs, "
            "outputs)"
        )

    # zeros of each model
    found = []
    for index, one in each(model):
        values = _finite_zeros(one)
        if values is None:
            where = f" at index {index}" if index else ""
            raise SingularityError(
                f"the model{where} has a transfer matrix that is singular for every s, "
                f"so that it has no zeros of its own: outputs "
                f"{', '.join(model.outputs)} depend on each other, or the inputs do, "
                "as at a singular configuration; expected independent ones, chosen by "
                "select(inputs, outputs)",
                index=index,
                count=1,
            )
        found.append(values)

    # one array, filled up with zeros at infinity
    count = max((len(v) for v in found), default=0)
    result = np.full((len(found), count), np.inf, complex)
    for row, values in zip(result, found, strict=True):
        row[: len(values)] = values
    return Zeros(result.reshape(*model.batch, count), model.dt)


def _finite_zeros(model: LinearSystem) -> Complex | None:
    """Zeros of one square model, None if its transfer matrix is singular."""
    A, B, C, D = _scaled(model)
    m = B.shape[1]
    while True:
        size = max(1.0, *(float(np.linalg.norm(x)) for x in (A, B, C, D)))
        U, sigma, _ = np.linalg.svd(D)
        rank = int((sigma > _RANK_TOLERANCE * size).sum())
        if rank == len(D):
            break
        D, C = U.T @ D, U.T @ C
        lower = C[rank:]
        _, sigma, Vh = np.linalg.svd(lower)
        rho = int((sigma > _RANK_TOLERANCE * size).sum())
        if rho < len(lower):
            return None  # rows that depend on others
        V = np.concatenate([Vh[rho:], Vh[:rho]]).T
        A, B, C = V.T @ A @ V, V.T @ B, C[:rank] @ V
        n = len(A) - rho
        D = np.concatenate([D[:rank], B[n:]])
        C = np.concatenate([C[:, :n], A[n:, :n]])
        A, B = A[:n, :n], B[:n]
    if rank < m:
        return None
    inside = A - B @ np.linalg.solve(D, C)
    values = np.linalg.eigvals(inside).astype(complex) if len(inside) else inside[0:0]
    values = np.asarray(values, complex).reshape(-1)
    return values[ascending(values)]


def _scaled(model: LinearSystem) -> tuple[Array, Array, Array, Array]:
    """Matrices in balanced units of states, then of inputs and outputs."""
    A, scale = balanced(model.A)
    B, C, D = model.B / scale[:, None], model.C * scale, model.D
    size = float(np.linalg.norm(A, 2)) or 1.0
    into = np.linalg.norm(np.concatenate([B, D]), axis=0)
    into = np.where(into > 0.0, size / np.where(into > 0.0, into, 1.0), 1.0)
    B, D = B * into, D * into
    out = np.linalg.norm(np.concatenate([C, D], axis=1), axis=1)
    out = np.where(out > 0.0, size / np.where(out > 0.0, out, 1.0), 1.0)
    return A, B, C * out[:, None], D * out[:, None]
