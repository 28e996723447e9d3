"""Margins of closed loops: admissible errors of gains and phases of the plant."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .loops import frequencies, rates_of

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_POINTS = 400  # of frequencies, besides those about resonances
_HALVINGS = 50
_WELL = 1e8  # largest condition number of modes that are used


class Margins(NamedTuple):
    """Margins of one loop; m inputs, each cut open with the others closed."""

    gain_up: Array
    gain_down: Array
    phase: Array
    sensitivity: float


class Loop:
    """Sensitivity of one closed loop at its inputs, ``U (s - A)^-1 B + E``.

    By the modes of the loop where these are well conditioned.
    """

    def __init__(
        self, A: Array, B: Array, U: Array, E: Array, dt: float | None
    ) -> None:
        self._matrices, self._dt = (A, B, U, E), dt
        self._values, V = np.linalg.eig(A)
        self._modes: tuple[Complex, Complex] | None = None
        if np.linalg.cond(V) < _WELL:
            self._modes = U @ V, np.linalg.solve(V, B.astype(complex))

    def sensitivity(self, omega: Array) -> Complex:
        """From disturbances of the inputs to the inputs, (k, m, m)."""
        A, B, U, E = self._matrices
        s = 1j * omega if self._dt is None else np.exp(1j * omega * self._dt)
        if self._modes is not None:
            left, right = self._modes
            ratio = 1.0 / (s[:, np.newaxis] - self._values)
            return np.asarray((left * ratio[:, np.newaxis, :]) @ right + E)
        shifted = s[:, np.newaxis, np.newaxis] * np.eye(len(A)) - A
        return np.asarray(U @ np.linalg.solve(shifted, B.astype(complex)) + E)

    def ratios(self, omega: Array) -> Complex:
        """Return ratios (k, m), each with all other loops closed.

        The diagonal of the sensitivity is ``1 / (1 + L)``.
        """
        S = np.diagonal(self.sensitivity(omega), axis1=-2, axis2=-1)
        return 1.0 / S - 1.0


def margins(loop: Loop, poles: Complex, dt: float | None) -> Margins:
    """Margins of a stable loop; `poles` are those of plant, controller and loop."""
    omega = frequencies(rates_of(poles, dt), _POINTS, dt)
    with np.errstate(all="ignore"):
        L = loop.ratios(omega)
        ends = [_real_end(loop, 0.0)]
        ends += [_real_end(loop, np.pi / dt)] if dt is not None else []
        up, down, phase = [], [], []
        for i in range(L.shape[1]):
            at = _crossings(omega, L[:, i].imag, partial(_imaginary, loop, i))
            real = np.r_[loop.ratios(at)[:, i].real, [end[i] for end in ends]]
            factors = -1.0 / real[np.isfinite(real) & (real < 0.0)]
            up.append(factors[factors > 1.0].min(initial=np.inf))
            down.append(factors[factors < 1.0].max(initial=0.0))

            at = _crossings(omega, np.log(np.abs(L[:, i])), partial(_size, loop, i))
            turn = np.abs(np.angle(-loop.ratios(at)[:, i]))
            phase.append(turn.min(initial=np.inf))
        peak = _peak(loop, omega)
    return Margins(np.array(up), np.array(down), np.array(phase), peak)


def _imaginary(loop: Loop, i: int, omega: Array) -> Array:
    return np.asarray(loop.ratios(omega)[:, i].imag)


def _size(loop: Loop, i: int, omega: Array) -> Array:
    return np.asarray(np.log(np.abs(loop.ratios(omega)[:, i])))


def _real_end(loop: Loop, omega: float) -> Array:
    """Return ratios at an end of the frequencies, huge where there is a pole."""
    return np.asarray(loop.ratios(np.array([omega]))[0].real)


def _crossings(
    omega: Array, values: Array, function: Callable[[Array], Array]
) -> Array:
    """Frequencies at which a function is zero, by halving."""
    here = np.flatnonzero(np.diff(np.sign(values)) != 0)
    low, high, sign = omega[here], omega[here + 1], np.sign(values[here])
    for _ in range(_HALVINGS if len(here) else 0):
        middle = 0.5 * (low + high)
        before = np.sign(function(middle)) == sign
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return np.asarray(0.5 * (low + high))


def _peak(loop: Loop, omega: Array) -> float:
    """Largest singular value of the sensitivity over all frequencies."""

    def size(w: Array) -> Array:
        return np.asarray(np.linalg.norm(loop.sensitivity(w), 2, axis=(-2, -1)))

    found = size(omega)
    for _ in range(4):  # closer and closer to the peak
        k = int(np.nanargmax(found))
        low, high = omega[max(k - 1, 0)], omega[min(k + 1, len(omega) - 1)]
        omega = np.linspace(low, high, 21)
        found = size(omega)
    return float(np.nanmax(found))
