"""Poles of linear models, and which of their modes inputs move and outputs show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .._calls.declared import Finite
from .._calls.doors import checked
from .._support.arrays import Array, Complex, Index, Mask
from .._support.printing import Printed, Sheet, Table
from ..errors import ArgumentError
from ._system import LinearSystem, Model

# Part of the norm of the balanced matrix below which a pole is at zero: rounding splits
# double ones by its root.
ZERO_TOLERANCE = 1e-7
# Part of the norm of the balanced matrix below which the real part of a pole is none.
DECAY_TOLERANCE = 1e-9
# Part of a state in a mode, from which on it is named.
MIN_SHARE = 0.2


def each(model: Model) -> list[tuple[tuple[int, ...], Model]]:
    """All models of a batch with their indices."""
    if not model.batch:
        return [((), model)]
    return [(index, model[index]) for index in np.ndindex(*model.batch)]


def single(model: LinearSystem, what: str) -> None:
    """Refuse many models, for functions of one."""
    if model.batch:
        raise ArgumentError(
            f"{what} one model, these have the leading axes {model.batch}; take one, "
            "model[index]"
        )


def gather(
    batch: tuple[int, ...], items: Sequence[ArrayLike], core: tuple[int, ...]
) -> Array:
    """Arrays of all models of a batch as one."""
    if not items:
        return np.zeros((*batch, *core))
    return np.stack(items).reshape((*batch, *np.shape(items[0])))


@dataclass(frozen=True, eq=False)
class Poles(Printed):
    """Poles of linear models; ``numpy.asarray`` makes them an array.

    Attributes
    ----------
    values : (..., n) ndarray of complex
        Eigenvalues of A, ascending in size of their rates: s in 1/s, or z of a discrete
        model.
    rates : (..., n) ndarray of complex
        s in 1/s; ``log(z)/dt`` of a discrete model.
    states : tuple of str
        Names of the states.
    shares : (..., n, n) ndarray of float
        Part of each state in each mode, rows for poles; rows add up to one.
    size : (...) ndarray of float
        Rate in 1/s against which a pole is at zero and decays: the norm of A in
        balanced units, ``1/dt`` of a discrete model.
    dt : float or None
        Sample time of a discrete model.
    """

    values: Complex
    rates: Complex
    states: tuple[str, ...]
    shares: Array
    size: Array
    dt: float | None = None

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> NDArray[np.generic]:
        return np.array(self.values, dtype=dtype)

    @property
    def frequencies(self) -> Array:
        """Size of the rate over 2 pi in Hz, (..., n)."""
        return np.asarray(np.abs(self.rates) / (2.0 * np.pi))

    @property
    def damping_ratios(self) -> Array:
        """Part ``-Re(s)/|s|``, (..., n): negative if it grows, NaN at zero."""
        size = np.abs(self.rates)
        size = np.where(self.at_zero | ~np.isfinite(size), np.nan, size)
        return np.asarray(np.where(np.isinf(self.rates), 1.0, -self.rates.real / size))

    @property
    def at_zero(self) -> Mask:
        """Poles at s = 0 to rounding, (..., n): motions without stiffness."""
        return np.asarray(
            np.abs(self.rates) <= ZERO_TOLERANCE * self.size[..., np.newaxis]
        )

    @property
    def stable(self) -> Mask:
        """Poles of motions that decay, (..., n)."""
        return np.asarray(
            (self.rates.real < -DECAY_TOLERANCE * self.size[..., np.newaxis])
            & ~self.at_zero
        )

    @property
    def unstable(self) -> Mask:
        """Poles of motions that grow, (..., n)."""
        return np.asarray(
            (self.rates.real > DECAY_TOLERANCE * self.size[..., np.newaxis])
            & ~self.at_zero
        )

    def description(self, index: tuple[int, ...]) -> str:
        """Words for the mode of a pole, given by its index."""
        s = complex(self.rates[index])
        where = _listed(self.states, self.shares[index])
        if self.at_zero[index]:
            return f"the motion without stiffness in {where}"
        if np.isfinite(s) and abs(s.imag) > 1e-6 * abs(s):
            return f"the mode of {abs(s) / (2.0 * np.pi):.4g} Hz in {where}"
        if not np.isfinite(s):
            return f"the delay in {where}"
        kind = "growth" if s.real > 0.0 else "decay"
        return f"the {kind} by {abs(s.real):.4g} 1/s in {where}"

    def _sheet(self) -> Sheet:
        if self.values.ndim > 1:
            f = self.frequencies.reshape(-1, self.values.shape[-1])
            grow = int(self.unstable.any(axis=-1).sum())
            return Sheet(
                (
                    f"{f.shape[1]} poles of {len(f)} models, {grow} of them with some "
                    "that grow",
                )
            )

        # one row for a real pole or a pair
        rows = [("pole", "Hz", "damping", "in")]
        for i, (value, f) in enumerate(zip(self.values, self.frequencies, strict=True)):
            still = bool(self.at_zero[i])
            if value.imag < 0.0 and not still:
                continue
            ratio, size = self.damping_ratios[i], max(abs(value), 1.0)
            real = value.real if abs(value.real) > 1e-12 * size else 0.0
            if still:
                real = 0.0 if self.dt is None else 1.0
            kind = " at zero" if still else ""
            kind = " grows" if self.unstable[i] else kind
            turns = value.imag > 0.0 and not still
            pair = f" +- {value.imag:.5g}i" if turns else ""
            rows.append(
                (
                    f"{real + 0.0:.5g}{pair}",
                    f"{0.0 if still else f:.5g}{kind}",
                    "" if np.isnan(ratio) else f"{np.round(ratio, 12) + 0.0:.4g}",
                    _listed(self.states, self.shares[i], percent=True),
                )
            )
        return Sheet((Table(rows),))


def ascending(values: Complex) -> Index:
    """Order by size, of values (n,) of one size by their real, then imaginary parts."""
    with np.errstate(divide="ignore"):
        size = np.round(np.log(np.abs(values)), 8)
    return np.lexsort((values.imag, values.real, size))


def _listed(states: tuple[str, ...], shares: Array, percent: bool = False) -> str:
    """Names of the coordinates that move most; rates count with their coordinates."""
    parts: dict[str, float] = {}
    for name, share in zip(states, shares, strict=True):
        key = name.removesuffix(" rate")
        key = key if key in states else name
        parts[key] = parts.get(key, 0.0) + float(share)
    most = sorted(parts, key=lambda key: -parts[key])[:3]
    most = [key for i, key in enumerate(most) if i == 0 or parts[key] > MIN_SHARE]
    if percent:
        return ", ".join(f"{key} {100.0 * parts[key]:.0f} %" for key in most)
    return " and ".join(most)


def poles(model: LinearSystem) -> Poles:
    """Poles, with frequencies, damping ratios and the states that move.

    Parameters
    ----------
    model : StateSpace
        Linear models.

    Returns
    -------
    poles : Poles
        Eigenvalues of A; ``print(poles)`` shows a table.

    See Also
    --------
    flexarm.complex_modes : of arms without inputs.

    Notes
    -----
    The part of state i in mode k is the participation factor ``|w_ki v_ik|`` of the
    left and right eigenvectors, which does not depend on units (I. J. Perez-Arriaga,
    G. C. Verghese, F. C. Schweppe, IEEE Trans. Power Apparatus and Systems 101, 1982).

    Examples
    --------
    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.pendulum(mass=1.0, com=0.5, damping=0.1)
    >>> poles = fa.linearize(arm, [-np.pi / 2]).poles()
    >>> print(poles)
    pole             Hz       damping  in
    -0.2 +- 4.4249i  0.70497  0.04515  rod 100 %
    >>> np.asarray(poles).round(3)
    array([-0.2-4.425j, -0.2+4.425j])
    """
    values, shares, sizes = [], [], []
    for _, one in each(model):
        found, parts = _eigen(one.A)
        rates = _rates(found, one.dt)
        order = ascending(rates)
        values.append(found[order])
        shares.append(parts[order])
        sizes.append(np.array(scale_of(one)))
    n = model.n_states
    all_values = gather(model.batch, values, (n,)).astype(complex)
    return Poles(
        all_values,
        _rates(all_values, model.dt),
        model.states,
        gather(model.batch, shares, (n, n)),
        gather(model.batch, sizes, ()),
        model.dt,
    )


def _rates(values: ArrayLike, dt: float | None) -> Complex:
    if dt is None:
        return np.asarray(values, complex)
    with np.errstate(divide="ignore"):
        rates = np.log(np.asarray(values, complex))
    # part by part: the delay of a sample has the rate -inf
    rates.real /= dt
    rates.imag /= dt
    return np.asarray(rates)


def _eigen(A: Array) -> tuple[Complex, Array]:
    """Eigenvalues, and parts of the states in their modes."""
    from scipy.linalg import eig

    if not len(A):
        return np.zeros(0, complex), np.zeros((0, 0))
    values, left, right = eig(A, left=True, right=True)
    parts = np.abs(left.conj() * right).T
    total = parts.sum(axis=1, keepdims=True)
    # of a defective eigenvalue both are perpendicular; the right one must do there
    moves = np.abs(right.T) ** 2
    parts = np.where(total > 1e-6, parts, moves)
    return values, np.asarray(parts / parts.sum(axis=1, keepdims=True))


def balanced(A: ArrayLike) -> tuple[Array, Array]:
    """Matrix in units that balance its rows and columns, and these units."""
    from scipy.linalg import matrix_balance

    scaled, (scale, _) = matrix_balance(A, permute=False, separate=True)
    return scaled, scale


def scale_of(model: LinearSystem) -> float:
    """Rate against which the poles of one model are small or large, in 1/s."""
    if model.dt is not None:
        return 1.0 / model.dt
    return float(np.linalg.norm(balanced(model.A)[0], 2)) if model.n_states else 0.0


# controllability and observability


@dataclass(frozen=True, eq=False)
class ModalTest:
    """Modes that inputs move, or outputs show.

    Attributes
    ----------
    what : {"controllable", "observable"}
        Property that is tested.
    poles : Poles
        The poles.
    measures : (..., n) ndarray of float
        For each pole a number from 0, not at all, to 1.
    tolerance : float
        Measure below which a mode counts as not moved, or not shown.
    names : tuple of str
        Inputs or outputs.
    """

    what: str
    poles: Poles
    measures: Array
    tolerance: float
    names: tuple[str, ...]

    @property
    def lacking(self) -> Mask:
        """Modes that no input moves or no output shows, (..., n)."""
        return np.asarray(self.measures <= self.tolerance)

    @property
    def success(self) -> Mask | np.bool_:
        """True where no mode is lacking, (...)."""
        return ~self.lacking.any(axis=-1)

    def check(self, *, decaying: bool = True) -> ModalTest:
        """Return itself if all modes are controllable or observable.

        Parameters
        ----------
        decaying : bool
            Whether modes that decay by themselves count; False tests for stabilizable
            or detectable models.

        Raises
        ------
        ArgumentError
            If some are not; the message names the modes.
        """
        bad = self.lacking if decaying else self.lacking & ~self.poles.stable
        if not bad.any():
            return self
        raise ArgumentError(
            f"{self._sentence(bad)}; choose other {self._signals()} or leave these "
            "modes out of the model"
        )

    def _signals(self) -> str:
        return "inputs" if self.what == "controllable" else "outputs"

    def _sentence(self, bad: Mask) -> str:
        index = tuple(int(i) for i in np.argwhere(bad.any(axis=-1))[0])
        every = [
            self.poles.description((*index, int(k))) for k in np.flatnonzero(bad[index])
        ]
        modes = list(dict.fromkeys(every))
        many = int(bad.any(axis=-1).sum())
        where = f" in {many} of {bad[..., 0].size} models" if bad.ndim > 1 else ""
        first = f", the first at index {index}" if index else ""
        signals = ", ".join(self.names[:4]) + (", ..." if len(self.names) > 4 else "")
        return (
            f"{' and '.join(modes)} {'is' if len(modes) == 1 else 'are'} not "
            f"{self.what} "
            f"by {signals}{where}{first}"
        )

    def __str__(self) -> str:
        if self.lacking.any():
            return self._sentence(self.lacking)
        if not self.measures.size:
            return f"no mode to be {self.what}"
        at = np.unravel_index(int(self.measures.argmin()), self.measures.shape)
        index = tuple(int(i) for i in at)
        return (
            f"all modes are {self.what}, the least "
            f"{self.poles.description(index)} with "
            f"{self.measures[index]:.3g}"
        )


@checked
def controllability(model: LinearSystem, tolerance: Finite = 1e-9) -> ModalTest:
    r"""Modes that the inputs move, by the test of Popov, Belevitch and Hautus.

    Parameters
    ----------
    model : StateSpace
        Linear models.
    tolerance : float
        Measure below which a mode counts as uncontrollable.

    Returns
    -------
    test : ModalTest
        Measures and names; ``print(test)`` shows a sentence, ``test.check()`` raises if
        a mode is not controllable.

    See Also
    --------
    observability : the same for outputs.

    Notes
    -----
    A mode of the pole s is controllable if no left eigenvector w of it is perpendicular
    to B.  The measure is the least ``|w' B| / (|w| |B|)`` over these vectors, of states
    in units in which A is balanced and inputs of which each has a column of length one
    (M. L. J. Hautus, Indag. Math. 31, 1969; A. M. A. Hamdan, A. H. Nayfeh, J. Guidance
    12(3), 1989, for the angle as a measure).

    Examples
    --------
    Equal torques move two equal pendulums together, never against each other:

    >>> import flexarm as fa
    >>> ss = fa.StateSpace(
    ...     [[0, 1, 0, 0], [-4, 0, 0, 0], [0, 0, 0, 1], [0, 0, -4, 0]],
    ...     [[0], [1], [0], [1]],
    ...     [[1, 0, 0, 0]],
    ...     states=("a", "b", "a rate", "b rate"),
    ... )
    >>> bool(ss.controllability().success)
    False
    """
    return _test(model, model.B, "controllable", model.inputs, tolerance, False)


@checked
def observability(model: LinearSystem, tolerance: Finite = 1e-9) -> ModalTest:
    r"""Modes that the outputs show, by the test of Popov, Belevitch and Hautus.

    Parameters
    ----------
    model : StateSpace
        Linear models.
    tolerance : float
        Measure below which a mode counts as unobservable.

    Returns
    -------
    test : ModalTest
        Measures and names; ``print(test)`` shows a sentence, ``test.check()`` raises if
        a mode is not observable.

    See Also
    --------
    controllability : the same for inputs.

    Examples
    --------
    A strain gauge does not see the arm turn as a whole:

    >>> import numpy as np
    >>> import flexarm as fa
    >>> arm = fa.library.planar_chain(1, n_modes=6, gravity=(0, 0, 0))
    >>> gauge = fa.linearize(arm, np.zeros(7), outputs=("strain", "link1", 0.0))
    >>> print(gauge.observability())
    the motion without stiffness in link1 is not observable by link1 strain y 0
    """
    C = np.swapaxes(model.C, -1, -2)
    return _test(model, C, "observable", model.outputs, tolerance, True)


def _test(
    model: LinearSystem,
    sides: Array,
    what: str,
    names: tuple[str, ...],
    tolerance: float,
    transposed: bool,
) -> ModalTest:
    found = poles(model)
    measures = []
    for index, one in each(model):
        A, scale = balanced(one.A)
        side = sides[index]
        side = side * scale[:, np.newaxis] if transposed else side / scale[:, None]
        A = A.T if transposed else A
        measures.append(_measures(A, side, found.values[index]))
    n = model.n_states
    return ModalTest(what, found, gather(model.batch, measures, (n,)), tolerance, names)


def _measures(A: Array, B: Array, values: Complex) -> Array:
    """Least part of B along the left eigenvectors of each eigenvalue."""
    from scipy.linalg import eig

    size = np.linalg.norm(B, axis=0)
    B = B[:, size > 0.0] / size[size > 0.0]
    result = np.zeros(len(values))
    if not B.size:
        return result
    length = float(np.linalg.norm(B, 2))
    most = float(np.linalg.norm(A, 2))
    found, left = eig(A, left=True, right=False)
    known: dict[tuple[float, float], float] = {}
    for k, s in enumerate(values):
        pair = (float(s.real), abs(float(s.imag)))
        if pair in known:
            result[k] = known[pair]
            continue
        apart = np.abs(found - s)
        if (apart <= 10.0 * ZERO_TOLERANCE * most).sum() == 1:
            W = left[:, [int(apart.argmin())]]
        else:  # all vectors of a multiple one: rounding spoils its eigenvectors
            U, sizes, _ = np.linalg.svd(A - s * np.eye(len(A)))
            null = sizes <= ZERO_TOLERANCE * most
            null[-1] = True
            W = U[:, null]
        if W.shape[1] <= B.shape[1]:
            along = np.linalg.svd(W.conj().T @ B, compute_uv=False)
            result[k] = along[-1] / length
        known[pair] = float(result[k])
    return result
