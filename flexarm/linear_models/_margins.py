"""Margins of closed loops: admissible errors of gains and phases of the plant."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._support.arrays import Array, Complex, Index
from .loops import frequency_grids, rates_of

# Points of frequencies, besides those about resonances.
_POINTS = 400
# Halvings of an interval with a crossing: to the last digit.
_HALVINGS = 50
# Condition number of modes that are used: half of the digits are left.
_MAX_CONDITION = 1e8


class Margins(NamedTuple):
    """Margins of n loops of m inputs, each cut open with the others closed."""

    gain_up: Array  # (n, m)
    gain_down: Array
    phase: Array
    sensitivity: Array  # (n,)


class Loops:
    """Sensitivities of n closed loops at their inputs, ``U (s - A)^-1 B + E``.

    By the modes of each loop where these are well conditioned.
    """

    def __init__(
        self, A: Array, B: Array, U: Array, E: Array, dt: float | None
    ) -> None:
        self._matrices, self._dt = (A, B, U, E), dt
        values, V = np.linalg.eig(A)
        self._good = np.linalg.cond(V) < _MAX_CONDITION
        V = np.where(self._good[:, np.newaxis, np.newaxis], V, np.eye(A.shape[-1]))
        left, right = U @ V, np.linalg.solve(V.astype(complex), B.astype(complex))
        self._values = values.astype(complex)
        # of the ratios 1 / (s - value), (n, k, m, m)
        self._residues = np.einsum("nik,nkj->nkij", left, right)

    def _points(self, omega: Array) -> Complex:
        """Points s or z of frequencies."""
        turn = 1j * omega
        return np.asarray(turn if self._dt is None else np.exp(turn * self._dt))

    def sensitivity(self, k: int, omega: Array) -> Complex:
        """From disturbances of the inputs to the inputs of loop k, (p, m, m)."""
        A, B, U, E = (x[k] for x in self._matrices)
        s = self._points(omega)
        if self._good[k]:
            ratio = 1.0 / (s[:, np.newaxis] - self._values[k])
            flat = ratio @ self._residues[k].reshape(ratio.shape[1], -1)
            return np.asarray(flat.reshape(len(s), *E.shape) + E)
        shifted = s[:, np.newaxis, np.newaxis] * np.eye(len(A)) - A
        return np.asarray(U @ np.linalg.solve(shifted, B.astype(complex)) + E)

    def ratios(self, k: Index, i: Index) -> Callable[[Array], Complex]:
        """Function of frequencies (c,) to return ratios of inputs i of the loops k.

        All other loops are closed: the diagonal of the sensitivity is ``1 / (1 + L)``.
        """
        good = np.flatnonzero(self._good[k])
        values, through = self._values[k[good]], self._matrices[3][k, i, i]
        residues = self._residues[k[good], :, i[good], i[good]]
        others = np.flatnonzero(~self._good[k])

        def ratio(omega: Array) -> Complex:
            S = through.astype(complex)
            s = self._points(omega[good])[:, np.newaxis]
            S[good] += (residues / (s - values)).sum(axis=-1)
            for loop in np.unique(k[others]).tolist():
                at = others[k[others] == loop]
                whole = self.sensitivity(loop, omega[at])
                S[at] = whole[np.arange(len(at)), i[at], i[at]]
            return np.asarray(1.0 / S - 1.0)

        return ratio


def margins(loops: Loops, poles: Complex, dt: float | None) -> Margins:
    """Margins of stable loops; `poles` (n, r) are those of plant, controller, loop."""
    omega = frequency_grids(rates_of(poles, dt), _POINTS, dt)
    n, m = len(omega), loops._matrices[3].shape[-1]
    ratios = np.empty((*omega.shape, m), complex)
    sizes = np.empty(omega.shape)
    up, down, phase = np.full((n, m), np.inf), np.zeros((n, m)), np.full((n, m), np.inf)
    with np.errstate(all="ignore"):
        for number in range(n):
            S = loops.sensitivity(number, omega[number])
            ratios[number] = 1.0 / np.diagonal(S, axis1=-2, axis2=-1) - 1.0
            sizes[number] = _gains(S)

        # where the return ratio is real, ends of the frequencies among it
        k, i, at = _crossings(loops, omega, ratios, np.imag)
        ends = [0.0] if dt is None else [0.0, np.pi / dt]
        every = np.indices((len(ends), n, m)).reshape(3, -1)
        k, i = np.concatenate([k, every[1]]), np.concatenate([i, every[2]])
        at = np.concatenate([at, np.array(ends)[every[0]]])
        real = loops.ratios(k, i)(at).real
        factors = np.where(np.isfinite(real) & (real < 0.0), -1.0 / real, 1.0)
        np.minimum.at(up, (k, i), np.where(factors > 1.0, factors, np.inf))
        np.maximum.at(down, (k, i), np.where(factors < 1.0, factors, 0.0))

        # where its size is one
        k, i, at = _crossings(loops, omega, ratios, _log_size)
        ahead = -loops.ratios(k, i)(at)
        turn = np.abs(np.angle(ahead))
        np.minimum.at(phase, (k, i), turn)
        peak = _peaks(loops, omega, sizes)
    return Margins(up, down, phase, peak)


def _log_size(ratios: Complex) -> Array:
    return np.asarray(np.log(np.abs(ratios)))


def _crossings(
    loops: Loops, omega: Array, ratios: Complex, part: Callable[[Complex], Array]
) -> tuple[Index, Index, Array]:
    """Loops, inputs and frequencies at which a part of a ratio is zero, by halving."""
    signs = np.sign(part(ratios))
    k, at, i = np.nonzero(np.diff(signs, axis=1))
    low, high, sign = omega[k, at], omega[k, at + 1], signs[k, at, i]
    function = loops.ratios(k, i)
    for _ in range(_HALVINGS if len(k) else 0):
        middle = 0.5 * (low + high)
        before = np.sign(part(function(middle))) == sign
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return k, i, 0.5 * (low + high)


def _gains(S: Complex) -> Array:
    """Largest singular values of matrices (..., m, m)."""
    m = S.shape[-1]
    if m == 1:
        return np.asarray(np.abs(S[..., 0, 0]))
    if m > 2:
        return np.asarray(np.linalg.norm(S, 2, axis=(-2, -1)))
    # root of the larger eigenvalue of S* S
    squares = (S.real**2 + S.imag**2).sum(axis=-2)
    both = np.abs((S[..., 0].conj() * S[..., 1]).sum(axis=-1))
    half, apart = 0.5 * squares.sum(axis=-1), 0.5 * (squares[..., 0] - squares[..., 1])
    return np.asarray(np.sqrt(half + np.hypot(apart, both)))


def _peaks(loops: Loops, omega: Array, sizes: Array) -> Array:
    """Largest singular values of the sensitivities over all frequencies, (n,)."""
    for _ in range(4):  # closer and closer to the peak
        top = np.where(np.isnan(sizes), -np.inf, sizes).argmax(axis=1)[:, np.newaxis]
        best = np.take_along_axis(omega, top, 1)
        # the next other points, and the last one itself at an end
        low = np.where(omega < best, omega, -np.inf).max(axis=1, keepdims=True)
        high = np.where(omega > best, omega, np.inf).min(axis=1, keepdims=True)
        low, high = (np.where(np.isfinite(x), x, best)[:, 0] for x in (low, high))
        omega = np.linspace(low, high, 21, axis=1)
        sizes = (
            np.stack([_gains(loops.sensitivity(k, w)) for k, w in enumerate(omega)])
            if len(omega)
            else sizes
        )
    return np.asarray(np.nanmax(sizes, axis=1))
