"""Linear models with fewer states: modal form and truncation, balanced reduction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._calls.doors import checked
from .._support.arrays import Array, is_whole
from ..errors import ArgumentError
from ._modes import (
    DECAY_TOLERANCE,
    ZERO_TOLERANCE,
    balanced,
    each,
    poles,
    scale_of,
    single,
)
from ._system import LinearSystem, Model

# Relative distance of eigenvalues that make one block: those that are closer have
# nearly parallel vectors.
_BLOCK_DISTANCE = 1e-6


def _separated(A: Array, first: Callable[..., bool]) -> tuple[Array, Array, int]:
    """Block-diagonal form ``inv(T) A T`` of chosen eigenvalues, and others.

    By an ordered Schur form and the equation of Sylvester; the order k of the first
    block is the last result.
    """
    from scipy.linalg import schur, solve_sylvester

    S, Z, k = schur(A, output="real", sort=lambda re, im=0.0: first(complex(re, im)))
    k = int(k)
    X = solve_sylvester(S[:k, :k], -S[k:, k:], -S[:k, k:])
    T = Z.copy()
    T[:, k:] += Z[:, :k] @ X
    S = S.copy()
    S[:k, k:] = 0.0
    return S, T, k


def _blocks(A: Array) -> tuple[Array, Array, list[int]]:
    """Real block-diagonal form of A, its basis, and the sizes of the blocks.

    A block for each real eigenvalue, conjugate pair, or group of close ones, ascending.
    """
    n = len(A)
    most = float(np.linalg.norm(A, 2))
    F, T, sizes = A.copy(), np.eye(n), []
    at = 0
    while at < n:
        rest = F[at:, at:]
        values = np.linalg.eigvals(rest)
        least = values[np.abs(values).argmin()]
        near = max(_BLOCK_DISTANCE * abs(least), ZERO_TOLERANCE * most)

        def mine(s: complex, c: complex = complex(least), r: float = near) -> bool:
            return bool(min(abs(s - c), abs(s - c.conjugate())) <= r)

        S, own, k = _separated(rest, mine)
        if k == 0:  # only by rounding at the edge of the group
            S, own, k = rest, np.eye(n - at), n - at
        F[at:, at:] = S
        T[:, at:] = T[:, at:] @ own
        sizes.append(k)
        at += k
    return F, T, sizes


def _transformed(model: Model, F: object, T: Array, states: object) -> Model:
    """The model in states z with x = T z."""
    B = np.linalg.solve(T, model.B)
    return model.replace(A=F, B=B, C=model.C @ T, states=states, drift=None)


def modal_form(model: Model) -> Model:
    r"""Model with a real block-diagonal A, one block for each mode, slow ones first.

    Blocks of a pair are :math:`\begin{pmatrix} a & b \\ -b & a \end{pmatrix}` for the
    poles :math:`a \pm i b`; those of multiple poles are larger.

    Parameters
    ----------
    model : StateSpace
        One linear model.

    Returns
    -------
    modal : StateSpace
        With states ``"mode 1 a"``, ``"mode 1 b"`` and so on.

    Raises
    ------
    ArgumentError
        If there are many models, whose blocks may differ.

    Notes
    -----
    By ordered Schur forms and Sylvester's equation, so that multiple poles, such as
    those at zero of an arm that turns freely, do no harm (C. A. Bavely, G. W. Stewart,
    SIAM J. Numerical Analysis 16, 1979).

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> ss = fa.linearize(fa.library.pendulum(mass=2.0, com=0.5), [-np.pi / 2])
    >>> ss.modal_form().A.round(3)
    array([[ 0.   ,  4.429],
           [-4.429,  0.   ]])
    """
    single(model, "modal_form is of")
    scaled, scale = balanced(model.A)
    F, T, sizes = _blocks(scaled)
    at = 0
    names: list[str] = []
    for k, size in enumerate(sizes):
        part = slice(at, at + size)
        if size == 2:
            F[part, part], own = _pair(F[part, part])
            T[:, part] = T[:, part] @ own
        # unit columns in the balanced units
        length = np.linalg.norm(T[:, part]) / np.sqrt(size)
        T[:, part] /= length
        letters = [""] if size == 1 else [f" {_letter(i)}" for i in range(size)]
        names += [f"mode {k + 1}{letter}" for letter in letters]
        at += size
    return _transformed(model, F, scale[:, None] * T, tuple(names))


def _letter(i: int) -> str:
    return "abcdefghijklmnopqrstuvwxyz"[i] if i < 26 else str(i)


def _pair(block: Array) -> tuple[Array, Array]:
    """Block of a pair of complex poles as a rotation, and its basis."""
    values, vectors = np.linalg.eig(block)
    if not values[0].imag:
        return block, np.eye(2)
    k = int(values.imag.argmax())
    s, v = values[k], vectors[:, k]
    own = np.stack([v.real, v.imag], axis=1)
    return np.array([[s.real, s.imag], [-s.imag, s.real]]), own


@checked
def modal_truncation(
    model: Model, frequency: float, *, match_static: bool = True
) -> Model:
    """Model of the slow modes only, those below a frequency.

    Parameters
    ----------
    model : StateSpace
        One continuous linear model.
    frequency : float
        Modes with a larger ``|s| / (2 pi)``, in Hz, are left out.
    match_static : bool
        Keep their part of the outputs at rest, in D (residual flexibility).

    Returns
    -------
    truncated : StateSpace
        In modal form, see `modal_form`.

    Raises
    ------
    ArgumentError
        If there are many models, or no mode is below the frequency.

    Notes
    -----
    R. H. MacNeal, Computers & Structures 1(4), 1971, for the residual flexibility.

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.de_luca_siciliano()
    >>> ss = fa.linearize(arm, np.zeros(6))
    >>> ss.n_states, ss.modal_truncation(5.0).n_states
    (12, 8)
    """
    single(model, "modal_truncation is of")
    if model.dt is not None:
        raise ArgumentError("modal_truncation is of continuous models, dt is given")

    # states of fast modes, block by block
    modal = modal_form(model)
    fast: list[int] = []
    at = 0
    for size in _sizes(modal.A):
        part = slice(at, at + size)
        rates = np.abs(np.linalg.eigvals(modal.A[part, part]))
        if rates.max() > 2.0 * np.pi * float(frequency):
            fast += range(at, at + size)
        at += size
    slow = [i for i in range(model.n_states) if i not in fast]
    if not slow:
        raise ArgumentError(
            f"frequency is {frequency!r} Hz, below all modes, expected one above some "
            "of them; see poles()"
        )

    D = modal.D
    if match_static and fast:
        rest = np.linalg.solve(modal.A[np.ix_(fast, fast)], modal.B[fast])
        D = D - modal.C[:, fast] @ rest
    return modal.replace(
        A=modal.A[np.ix_(slow, slow)],
        B=modal.B[slow],
        C=modal.C[:, slow],
        D=D,
        states=tuple(modal.states[i] for i in slow),
    )


def _sizes(F: Array) -> list[int]:
    """Sizes of the blocks of a block-diagonal matrix."""
    sizes, at, n = [], 0, len(F)
    while at < n:
        end = at + 1
        while end < n and (F[end:, at:end].any() or F[at:end, end:].any()):
            end += 1
        sizes.append(end - at)
        at = end
    return sizes


# balanced reduction


@dataclass(frozen=True, eq=False)
class Reduction:
    """A linear model with fewer states.

    Attributes
    ----------
    model : StateSpace
        The reduced models.
    hankel : (..., k) ndarray of float
        Hankel singular values of the part that decays, descending: how much each of its
        balanced states carries from inputs to outputs.
    kept_apart : int
        States of the part that does not decay, all kept.
    error_bound : (...) ndarray of float
        Largest difference of the frequency responses, by size: twice the sum of the
        Hankel singular values that are left out.
    message : str
        A sentence on these.
    """

    model: Any  # of the class of the given one
    hankel: Array
    kept_apart: int
    error_bound: Array | float
    message: str

    def __str__(self) -> str:
        return self.message


@checked
def balanced_reduction(
    model: LinearSystem, order: int, *, match_static: bool = False
) -> Reduction:
    r"""Reduced model by balanced truncation of the part that decays.

    Parameters
    ----------
    model : StateSpace
        Linear models.
    order : int
        States of the reduced model, those of modes that do not decay among them.
    match_static : bool
        Keep the response at rest in place of that at infinite frequency (singular
        perturbation of the balanced model).

    Returns
    -------
    reduction : Reduction
        The model, with the Hankel singular values; ``print`` shows a sentence.

    Raises
    ------
    ArgumentError
        If modes that do not decay are more than `order`, or all there are.

    See Also
    --------
    modal_truncation : which leaves out fast modes, damped or not.

    Notes
    -----
    B. C. Moore, IEEE Trans. Automatic Control 26(1), 1981; the error is at most
    :math:`2 \sum_{k > r} \sigma_k` (K. Glover, Int. J. Control 39(6), 1984).  Modes
    that grow or do not decay have no Gramians: they are split off by an ordered Schur
    form and kept as they are.  By the square roots of both Gramians (A. J. Laub et
    al., IEEE Trans. Automatic Control 32, 1987).

    Examples
    --------
    A slow and a fast first-order part:

    >>> import flexarm as fa
    >>> ss = fa.StateSpace([[-1, 0], [0, -100]], [[1], [1]], [[1, 1]])
    >>> reduced = ss.balanced_reduction(1)
    >>> print(reduced)
    1 of 2 states are kept, the response changes by at most 0.009604
    >>> reduced.hankel.round(4)
    array([0.5002, 0.0048])
    """
    n = model.n_states
    if not is_whole(order):
        raise ArgumentError(f"order is {order!r}, expected a whole number below {n}")
    if not 0 < order <= n:
        raise ArgumentError(f"order is {order}, expected a number from 1 to {n}")

    # reduce each model
    models, values, apart = [], [], set()
    for index, one in each(model):
        reduced, hankel, k = _reduce(one, int(order), match_static, index)
        models.append(reduced)
        values.append(hankel)
        apart.add(k)
    if len(apart) > 1:
        raise ArgumentError(
            f"the models have between {min(apart)} and {max(apart)} states that do not "
            "decay, expected equal numbers; reduce them one by one"
        )

    # gather the models, and describe the reduction
    k = apart.pop() if apart else 0
    hankel = np.stack(values).reshape(*model.batch, n - k)
    bound = 2.0 * hankel[..., order - k :].sum(axis=-1)
    message = f"{order} of {n} states are kept"
    if k:
        message += f", {k} of them of modes that do not decay, which are kept apart"
    most = float(np.max(bound, initial=0.0))
    message += f", the response changes by at most {most:.4g}"
    stacked = {
        name: np.stack([getattr(x, name) for x in models]).reshape(
            *model.batch, *getattr(models[0], name).shape
        )
        for name in "ABCD"
    }
    result = model.replace(**stacked, states=models[0].states, drift=None)
    return Reduction(result, hankel, k, bound if model.batch else float(bound), message)


def _reduce(
    model: Model, order: int, match_static: bool, index: tuple[int, ...]
) -> tuple[Model, Array, int]:
    """Reduced model, Hankel singular values, number of states that do not decay."""
    # states that do not decay, apart from the others
    A, scale = balanced(model.A)
    B, C = model.B / scale[:, None], model.C * scale
    most = scale_of(model)

    def stays(s: complex) -> bool:
        if model.dt is not None:
            return abs(s) >= 1.0 - DECAY_TOLERANCE  # as the poles of this model count
        return s.real >= -DECAY_TOLERANCE * most or abs(s) <= ZERO_TOLERANCE * most

    F, T, k = _separated(A, stays)
    B, C = np.linalg.solve(T, B), C @ T
    if k > order or k == len(A):
        found = poles(model)
        slow = [found.description((int(i),)) for i in np.flatnonzero(~found.stable)]
        names = " and ".join(dict.fromkeys(slow))
        where = f" at index {index}" if index else ""
        raise ArgumentError(
            f"the model{where} has {k} states of modes that do not decay ({names}), "
            f"which balanced reduction keeps, and order is {order}; expected a larger "
            "order, damping, or modal_truncation"
        )
    # the others balanced and cut
    L, R, hankel, D = _balance(F[k:, k:], B[k:], C[:, k:], model, order - k)
    keep = order - k
    Ab, Bb, Cb = L @ F[k:, k:] @ R, L @ B[k:], C[:, k:] @ R
    if match_static:
        Ab, Bb, Cb, D = _residualized(Ab, Bb, Cb, D, keep, model.dt)
    # both in one model
    small = np.zeros((order, order))
    small[:k, :k], small[k:, k:] = F[:k, :k], Ab[:keep, :keep]
    states = tuple(f"kept {i + 1}" for i in range(k))
    states += tuple(f"balanced {i + 1}" for i in range(keep))
    reduced = model.replace(
        A=small,
        B=np.concatenate([B[:k], Bb[:keep]]),
        C=np.concatenate([C[:, :k], Cb[:, :keep]], axis=1),
        D=D,
        states=states,
        drift=None,
    )
    return reduced, hankel, k


def _balance(
    A: Array, B: Array, C: Array, model: LinearSystem, keep: int
) -> tuple[Array, Array, Array, Array]:
    """Left and right projections on balanced states, Hankel singular values, D."""
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    if model.dt is None:
        P = solve_continuous_lyapunov(A, -B @ B.T)
        Q = solve_continuous_lyapunov(A.T, -C.T @ C)
    else:
        P = solve_discrete_lyapunov(A, B @ B.T)
        Q = solve_discrete_lyapunov(A.T, C.T @ C)
    Z, W = _root(P), _root(Q)
    U, sigma, Vh = np.linalg.svd(W.T @ Z)
    # states that carry nothing have no balanced units
    some = max(keep, int((sigma > 1e-12 * sigma[0]).sum())) if sigma[0] else keep
    size = np.sqrt(np.where(sigma[:some] > 0.0, sigma[:some], 1.0))
    L = (U[:, :some] / size).T @ W.T
    R = Z @ Vh[:some].T / size
    return L, R, np.asarray(sigma), model.D


def _root(P: Array) -> Array:
    """A factor Z with Z Z' = P, semidefinite but for rounding."""
    values, vectors = np.linalg.eigh(0.5 * (P + P.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _residualized(
    A: Array, B: Array, C: Array, D: Array, keep: int, dt: float | None
) -> tuple[Array, Array, Array, Array]:
    """Balanced states beyond `keep` at their rest."""
    rest = A[keep:, keep:] - (np.eye(len(A) - keep) if dt is not None else 0.0)
    if not len(rest):
        return A, B, C, D
    gain = np.linalg.solve(rest, np.concatenate([A[keep:, :keep], B[keep:]], axis=1))
    by_x, by_u = gain[:, :keep], gain[:, keep:]
    return (
        A[:keep, :keep] - A[:keep, keep:] @ by_x,
        B[:keep] - A[:keep, keep:] @ by_u,
        C[:, :keep] - C[:, keep:] @ by_x,
        D - C[:, keep:] @ by_u,
    )
