r"""Modes of uniform beams and rods that are not clamped: free at both ends, or pinned.

Notation: ``b = beta L`` and ``f = x / L``.  No payload shapes these modes.  The public
functions are in ``_single.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._calls.declared import Floats
from .._calls.doors import checked_class
from .._support.arrays import Array, Mask
from ._bending import BendingModes
from ._clamped import TorsionModes, bisect


def waves(mode: Array, fraction: Array) -> tuple[Array, Array]:
    """Sine and cosine of ``mode pi fraction``, mirrored at the middle.

    So sines vanish exactly at the tip.
    """
    angle = np.pi * mode * np.minimum(fraction, 1.0 - fraction)
    far = np.where(fraction > 0.5, (-1.0) ** mode, 1.0)
    turned = np.where(fraction > 0.5, -far, 1.0)
    return np.asarray(turned * np.sin(angle)), np.asarray(far * np.cos(angle))


def free_roots(mode: Array) -> Array:
    """Values of b of beams free, or clamped, at both ends: ``cos b cosh b = 1``."""
    # splits at the middle of the beam, h = b / 2: even shapes have tan h + tanh h = 0,
    # odd ones tan h - tanh h = 0, each with one root in (j pi/2, (j + 1) pi/2) for the
    # j-th of all modes
    sign, start = -((-1.0) ** mode), 0.5 * np.pi * mode
    first = np.sin(start) + sign * np.cos(start)

    def reached(h: Array) -> Mask:
        value = np.sin(h) + sign * np.cos(h) * np.tanh(h)
        return np.asarray(value * first <= 0.0)

    return np.asarray(2.0 * bisect(reached, start, start + 0.5 * np.pi))


@lru_cache(maxsize=64)
def first_free_roots(count: int) -> Array:
    """The first of these values, which all beams share."""
    roots = free_roots(np.arange(1.0, count + 1.0))
    roots.flags.writeable = False
    return roots


def free_shapes(b: Array, mode: Array, fraction: Array, order: int) -> Array:
    """Half of ``cos y / cos h + cosh y / cosh h``, or the same with sines.

    ``y = b (f - 1/2)``, ``h = b / 2``; differentiated in ``beta x``.  Exponentials
    decay from the ends, so that nothing overflows or cancels.  The second derivatives
    are the shapes of the beam clamped at both ends.
    """
    y, h, even = b * (fraction - 0.5), 0.5 * b, mode % 2.0 == 1.0
    circular = [np.sin(y), np.cos(y), -np.sin(y), -np.cos(y)]
    wave = np.where(
        even, circular[(order + 1) % 4] / np.cos(h), circular[order % 4] / np.sin(h)
    )
    parity = np.where(even, 1.0, -1.0)
    ends = np.exp(y - h) + parity * (-1.0) ** order * np.exp(-y - h)
    return np.asarray(0.5 * (wave + ends / (1.0 + parity * np.exp(-b))))


@checked_class
@dataclass(frozen=True, eq=False)
class _UnloadedBeam(BendingModes):
    """Arguments and normalization of beams without payload."""

    attachment: ClassVar[str | None] = "base"

    length: float
    mass_per_length: float
    bending_stiffness: float
    n_modes: int
    normalization: str = "mass"
    beta: Array = field(init=False)
    amplitudes: Array = field(init=False)

    def __post_init__(self) -> None:
        link = self._set_beam()
        b = self._roots(self.n_modes)
        self._keep(beta=b / self.length, amplitudes=np.ones(self.n_modes))
        # signs are those of the raw shapes
        self._keep(
            amplitudes=self._scale(self.tip_deflection, np.ones(self.n_modes), link)
        )

    def _roots(self, count: int) -> Array:
        """First values of b."""
        raise NotImplementedError

    def _raw(self, mode: Array, fraction: Array, order: int) -> Array:
        """Shapes differentiated in ``beta x``."""
        raise NotImplementedError

    def _derivative(self, x: ArrayLike, order: int) -> Array:
        fraction = self._fraction(x)
        column = (self.n_modes,) + (1,) * fraction.ndim
        mode = np.arange(1.0, self.n_modes + 1.0).reshape(column)
        scale = (self.amplitudes * self.beta**order).reshape(column)
        return np.asarray(scale * self._raw(mode, fraction, order))


@checked_class
@dataclass(frozen=True, eq=False)
class FreeBeamModes(_UnloadedBeam):
    """Bending modes of a uniform beam, free at both ends.

    `free_beam_modes` returns it and explains the arguments; ``replace()`` solves
    again.

    Attributes
    ----------
    beta : (n,) ndarray of float
        Wave numbers, in 1/m: ``beta^4 = omega^2 rho / EI``.
    amplitudes : (n,) ndarray of float
        Tip deflections, dimensionless as all shapes.
    """

    def _roots(self, count: int) -> Array:
        return first_free_roots(count)

    def _raw(self, mode: Array, fraction: Array, order: int) -> Array:
        b = (self.beta * self.length).reshape(mode.shape)
        return free_shapes(b, mode, fraction, order)


@checked_class
@dataclass(frozen=True, eq=False)
class PinnedBeamModes(_UnloadedBeam):
    """Bending modes of a uniform beam, pinned at both ends: sines about the chord.

    `pinned_beam_modes` returns it and explains the arguments; ``replace()`` solves
    again.

    Attributes
    ----------
    beta : (n,) ndarray of float
        Wave numbers, in 1/m: ``beta^4 = omega^2 rho / EI``.
    amplitudes : (n,) ndarray of float
        Factors of the sines.
    """

    def _roots(self, count: int) -> Array:
        return np.asarray(np.pi * np.arange(1.0, count + 1.0))

    def _raw(self, mode: Array, fraction: Array, order: int) -> Array:
        sine, cosine = waves(mode, fraction)
        return (sine, cosine, -sine, -cosine)[order]


@checked_class
@dataclass(frozen=True, eq=False)
class FreeRodModes(TorsionModes):
    """Torsion modes of a uniform rod, free at both ends: cosines.

    `free_rod_modes` returns it and explains the arguments; ``replace()`` solves
    again.

    Attributes
    ----------
    beta : (n,) ndarray of float
        Wave numbers, in 1/m: ``beta^2 = omega^2 rho I_p / GJ``.
    amplitudes : (n,) ndarray of float
        Factors of the cosines.
    """

    attachment: ClassVar[str | None] = "base"

    length: float
    polar_inertia_per_length: float
    torsional_stiffness: float
    n_modes: int
    normalization: str = "mass"
    beta: Annotated[Array, Floats("(n,)")] = field(init=False)
    amplitudes: Annotated[Array, Floats("(n,)")] = field(init=False)

    def __post_init__(self) -> None:
        link = self._set_rod()
        mode = np.arange(1.0, self.n_modes + 1.0)
        self._keep(beta=np.pi * mode / self.length, amplitudes=np.ones(self.n_modes))
        tip = self.tip_rotation
        self._keep(amplitudes=self._scale(tip, tip, link))

    def _derivative(self, x: ArrayLike, order: int) -> Array:
        fraction = self._fraction(x)
        column = (self.n_modes,) + (1,) * fraction.ndim
        mode = np.arange(1.0, self.n_modes + 1.0).reshape(column)
        sine, cosine = waves(mode, fraction)
        scale = (self.amplitudes * self.beta**order).reshape(column)
        return np.asarray(scale * (-sine if order else cosine))
