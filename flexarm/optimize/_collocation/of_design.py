"""Local functions of an arm, of the parameters of its design too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..._support.arrays import Array, Mask
from ...arm import Arm
from .._clearance import Clearance
from .._local import Local
from .clearance import DIFFERENCE, Apart

# Number of functions of arms at which the memory is emptied.
_MAX_FUNCTIONS = 512


class Family(Protocol):
    """Arms of k parameters, and derivatives of what depends on the arm."""

    size: int

    def arm(self, p: Array) -> Arm:
        """The arm of parameters (k,)."""
        ...

    def slopes_of(self, p: Array, f: Callable[[Arm], Array]) -> Array:
        """(..., k) first derivatives of a smooth function (...) of the arm."""
        ...

    def bends_of(self, p: Array, f: Callable[[Arm], Array]) -> Array:
        """(..., k, k) second derivatives of a smooth function (...) of the arm."""
        ...


class OfDesign:
    """A local function of the arm as one of (w, p), all points with the same p.

    Parameters
    ----------
    make : callable
        ``make(arm)`` is the function of w of an arm.
    family : Family
        Arms of parameters p.
    arm : Arm
        One of them, of which the function has its name and its patterns.
    """

    convex = False

    def __init__(self, make: Callable[[Arm], Local], family: Family, arm: Arm) -> None:
        self._make, self._family = make, family
        self._known: dict[int, tuple[Arm, Local]] = {}
        own = self._of(arm)
        self.name, self.rows = own.name, own.rows
        m, k = own.slopes.shape[1], family.size
        self._own, self._shared = slice(0, m), slice(m, m + k)
        self.slopes = np.ones((self.rows, m + k), dtype=bool)
        self.slopes[:, self._own] = own.slopes
        used: Mask = np.asarray(own.slopes.any(axis=0))
        self.curvature = np.ones((m + k, m + k), dtype=bool)
        self.curvature[self._own, self._own] = own.curvature
        self.curvature[self._own, self._shared] = used[:, None]
        self.curvature[self._shared, self._own] = used

    def _of(self, arm: Arm) -> Local:
        """The function of an arm, from memory if it is known."""
        known = self._known.get(id(arm))
        if known is None:
            if len(self._known) >= _MAX_FUNCTIONS:
                self._known.clear()
            known = self._known[id(arm)] = arm, self._make(arm)
        return known[1]

    def _split(self, w: Array) -> tuple[Array, Array]:
        return w[:, self._own], np.array(w[0, self._shared])

    def value(self, w: Array) -> Array:
        """(P, rows) values."""
        own, p = self._split(w)
        return self._of(self._family.arm(p)).value(own)

    def jacobian(self, w: Array) -> Array:
        """(P, rows, k) derivatives."""
        own, p = self._split(w)
        J = np.zeros((len(w), *self.slopes.shape))
        J[:, :, self._own] = self._of(self._family.arm(p)).jacobian(own)
        J[:, :, self._shared] = self._by_parameters(own, p)
        return J

    def _by_parameters(self, own: Array, p: Array) -> Array:
        """(P, rows, k) derivatives by the parameters."""
        return self._family.slopes_of(p, lambda arm: self._of(arm).value(own))

    def hessian(self, w: Array, multipliers: Array) -> Array:
        """(P, k, k) second derivatives of combinations with multipliers (P, rows)."""
        own, p = self._split(w)
        by = np.asarray(multipliers)

        H = np.zeros((len(w), w.shape[1], w.shape[1]))
        H[:, self._own, self._own] = self._of(self._family.arm(p)).hessian(own, by)
        mixed = self._mixed(own, p, by)
        H[:, self._own, self._shared] = mixed
        H[:, self._shared, self._own] = mixed.swapaxes(1, 2)
        H[:, self._shared, self._shared] = self._bends(own, p, by)
        return H

    def _mixed(self, own: Array, p: Array, by: Array) -> Array:
        """(P, m, k) derivatives of ``by @ jacobian`` by the parameters."""

        def slope(arm: Arm) -> Array:
            return np.asarray((by[:, None, :] @ self._of(arm).jacobian(own))[:, 0])

        return self._family.slopes_of(p, slope)

    def _bends(self, own: Array, p: Array, by: Array) -> Array:
        """(P, k, k) second derivatives of ``by @ value`` by the parameters."""

        def product(arm: Arm) -> Array:
            return np.asarray((by * self._of(arm).value(own)).sum(axis=1))

        return self._family.bends_of(p, product)


class ApartOfDesign(OfDesign):
    """Distances of w beside their least values, by those of the first arm.

    Radii of links may change with the parameters, too.  With fixed parts of the lines
    the derivatives by the parameters are those of the places of the nodes (envelope
    theorem), smooth where another place of a line becomes the nearest.

    Parameters
    ----------
    clearance : Clearance
        The distances, of the first arm.
    family : Family
        Arms of parameters p.
    size : int, optional
        Length of w; by default that of the positions.
    """

    def __init__(
        self, clearance: Clearance, family: Family, size: int | None = None
    ) -> None:
        self._n = clearance.arm.nv

        def make(arm: Arm) -> Local:
            return _Room(clearance.at(arm), clearance.low, size)

        super().__init__(make, family, clearance.arm)

    def _by_parameters(self, own: Array, p: Array) -> Array:
        here, q = self._clearance(self._family.arm(p)), own[:, : self._n]
        moved = self._family.slopes_of(p, self._places(q))
        return here.carried(here.places(q), moved) - self._family.slopes_of(
            p, self._low
        )

    # second derivatives over short steps: longer ones meet places that become the
    # nearest

    def _mixed(self, own: Array, p: Array, by: Array) -> Array:
        n = self._n
        q = own[:, None, :n] + np.vstack([np.zeros((1, n)), DIFFERENCE * np.eye(n)])
        J = self._by_parameters(q.reshape(-1, n), p)
        J = J.reshape(len(own), n + 1, *J.shape[1:])
        along = (by[:, None, None, :] @ J)[:, :, 0]
        mixed = np.zeros((*own.shape, along.shape[-1]))
        mixed[:, :n] = (along[:, 1:] - along[:, :1]) / DIFFERENCE
        return mixed

    def _bends(self, own: Array, p: Array, by: Array) -> Array:
        here, q = self._clearance(self._family.arm(p)), own[:, : self._n]
        places = here.places(q)
        moved = self._family.slopes_of(p, self._places(q))
        bent = self._family.bends_of(p, self._places(q))
        first = here.carried(places, moved)
        H = -np.tensordot(by, self._family.bends_of(p, self._low), 1)
        for i in range(self._family.size):
            most = float(np.abs(moved[..., i]).max(initial=0.0))
            step = DIFFERENCE / most if most > 0.0 else 1.0
            ahead = places + step * moved[..., i], moved + step * bent[..., i]
            change = (here.carried(*ahead) - first) / step
            H[:, :, i] += (by[:, None, :] @ change)[:, 0]
        return np.asarray(0.5 * (H + H.swapaxes(1, 2)))

    def _places(self, q: Array) -> Callable[[Arm], Array]:
        return lambda arm: self._clearance(arm).places(q)

    def _low(self, arm: Arm) -> Array:
        return np.asarray(self._clearance(arm).low)

    def _clearance(self, arm: Arm) -> Clearance:
        found = self._of(arm)
        assert isinstance(found, _Room)
        return found.clearance


class _Room(Apart):
    """Distances less what the radii of links have grown."""

    def __init__(self, clearance: Clearance, low: Array, size: int | None) -> None:
        super().__init__(clearance, size)
        self._grown = clearance.low - low

    def value(self, w: Array) -> Array:
        """(P, rows) distances in m."""
        return np.asarray(super().value(w) - self._grown)
