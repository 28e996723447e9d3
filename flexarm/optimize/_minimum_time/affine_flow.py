r"""Flow of an arm linearized about a simulated motion, for any forces and duration.

Between two samples of the motion the arm is replaced by

.. math:: \dot x = A_j x + B_j u + c_j

with the matrices at the mean state and the mean acceleration between the samples, which
fast vibration hardly changes.  Its transition over a step of any length is exact in all
modes (C. F. Van Loan, IEEE Trans. Automatic Control 23, 1978, 395-404), so that for a
linear arm the end of the motion is exact for all forces and all durations.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import matrix_balance

from ...arm import Arm

Array = NDArray[np.float64]

_LARGEST = 1.0  # norm below which the series of the exponential is summed


@dataclass(frozen=True, eq=False)
class Forces:
    """Forces that are linear between knots.

    Attributes
    ----------
    shares : (K,) ndarray of float
        Lengths of the intervals as parts of the duration.
    tau : (K + 1, nu) ndarray of float
        Forces of the actuators at the knots.
    duration : float
        In s.
    """

    shares: Array
    tau: Array
    duration: float

    @property
    def places(self) -> Array:
        """Knots (K + 1,) as parts of the duration."""
        ends = np.concatenate([[0.0], np.cumsum(self.shares)])
        return np.asarray(ends / ends[-1])

    @property
    def times(self) -> Array:
        """Knots (K + 1,) in s."""
        return self.places * self.duration

    def split(self, chosen: NDArray[np.bool_]) -> Forces:
        """The same forces with some intervals cut into halves."""
        shares, tau = [], [self.tau[0]]
        for k, share in enumerate(self.shares):
            if chosen[k]:
                tau.append(0.5 * (self.tau[k] + self.tau[k + 1]))
                shares += [0.5 * share, 0.5 * share]
            else:
                shares.append(share)
            tau.append(self.tau[k + 1])
        return Forces(np.array(shares), np.array(tau), self.duration)


def exponential(W: Array) -> Array:
    """Exponentials of matrices (n, m, m), all with the same number of squarings.

    The series to the eleventh power by five products (M. S. Paterson, L. J.
    Stockmeyer, SIAM J. Computing 2, 1973, 60-66).
    """
    norm = float(np.abs(W).sum(axis=1).max(initial=0.0))
    halvings = max(0, int(np.ceil(np.log2(max(norm, 1e-9) / _LARGEST))))
    X, one = W / 2.0**halvings, np.eye(W.shape[1])
    square = X @ X
    cube = square @ X
    result = np.zeros_like(X)
    for k in (9, 6, 3, 0):
        a, b, c = (1.0 / factorial(k + i) for i in range(3))
        result = cube @ result if k < 9 else result
        result += a * one + b * X + c * square
    for _ in range(halvings):
        result = result @ result
    return np.asarray(result)


def slopes_at(arm: Arm, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """A (n, 2 nv, 2 nv) and B (n, 2 nv, nu) of the arm about moving states."""
    n, nv, acting = len(q), arm.nv, arm.actuator_indices
    model = arm._model
    slopes = np.asarray(model.quiet("inverse_dynamics_derivatives")(q, v, a))
    inverse = np.linalg.inv(np.asarray(model.quiet("mass_matrix")(q)))
    A, B = np.zeros((n, 2 * nv, 2 * nv)), np.zeros((n, 2 * nv, len(acting)))
    A[:, :nv, nv:] = np.eye(nv)
    A[:, nv:, :nv] = -inverse @ slopes[:, 0]
    A[:, nv:, nv:] = -inverse @ slopes[:, 1]
    B[:, nv:] = inverse[:, :, acting]
    return A, B


class AffineFlow:
    """States of the linearized arm for forces and a duration, and their derivatives.

    Parameters
    ----------
    arm : Arm
        The arm.
    forces : Forces
        Of the simulated motion.
    steps : int
        Of the flow in each interval of the forces.
    x : (n + 1, 2 nv) ndarray of float
        Simulated states at the ends of the steps.
    mean : (n, 2 nv) ndarray of float
        Means of the simulated states over the steps.
    """

    def __init__(
        self, arm: Arm, forces: Forces, steps: int, x: Array, mean: Array
    ) -> None:
        self.forces, self.x = forces, x
        self._m, self._nu, self._steps = 2 * arm.nv, arm.nu, steps
        self._length = np.repeat(forces.shares / steps, steps) / forces.shares.sum()
        nv, m, nu = arm.nv, self._m, self._nu
        h = (self._length * forces.duration)[:, None]
        a = (x[1:, nv:] - x[:-1, nv:]) / h
        A, B = slopes_at(arm, mean[:, :nv], mean[:, nv:], a)
        # forces at the start of a step, their change over it, and one, as states
        first, last = self._ends(forces.tau)
        u = 0.5 * (first + last)[:, :, None]
        rate = np.hstack([mean[:, nv:], a])
        c = rate - (A @ mean[:, :, None] + B @ u)[:, :, 0]
        W = np.zeros((len(h), m + 2 * nu + 1, m + 2 * nu + 1))
        W[:, :m, :m], W[:, :m, m : m + nu], W[:, :m, -1] = A, B, c
        by_length = np.zeros_like(W[0])
        by_length[m : m + nu, m + nu : -1] = np.eye(nu)
        # in scales in which the exponentials take few squarings
        size = np.abs(W).mean(axis=0) * h.mean() + by_length
        scale = matrix_balance(size, permute=False, separate=True)[1][0]
        self._scales = scale[:, None] / scale
        self._W, self._rates = W / self._scales, W[:, :m]
        self._by_length = by_length / self._scales
        self._kept: dict[int, tuple[float, Array]] = {}
        self._defect = np.zeros((len(h), m))
        E = self._transitions(forces.duration)
        whole = np.hstack([x[:-1], first, last - first, np.ones((len(h), 1))])
        self._defect = x[1:] - (E @ whole[:, :, None])[:, :, 0]

    def _ends(self, tau: Array) -> tuple[Array, Array]:
        """Forces (n, nu) at both ends of all steps."""
        part = np.arange(self._steps + 1) / self._steps
        every = tau[:-1, None] + part[:, None] * (tau[1:] - tau[:-1])[:, None]
        shape = (-1, self._nu)
        return every[:, :-1].reshape(shape), every[:, 1:].reshape(shape)

    def _transitions(self, duration: float, count: int = 1) -> Array:
        """(n, 2 nv, ...) of the states from those, forces at the start, changes, one.

        The last of them is kept.
        """
        kept = self._kept.get(count)
        if kept is None or kept[0] != duration:
            h = (self._length * duration)[:, None, None]
            E = exponential((self._W * h + self._by_length) / count) * self._scales
            self._kept[count] = kept = duration, E if count > 1 else E[:, : self._m]
        return kept[1]

    def inside(self, duration: float, count: int) -> Array:
        """Transitions (n, count, ...) from the start of each step to parts of it."""
        once = self._transitions(duration, count)
        every = [once[:, : self._m]]
        for _ in range(count - 1):
            every.append(every[-1] @ once if count > 1 else once)
        return np.stack(every, axis=1)

    def states(self, E: Array, tau: Array, x: Array) -> Array:
        """States (n count + 1, 2 nv) by transitions inside, from those at all ends."""
        first, last = self._ends(tau)
        count, one = E.shape[1], np.ones((len(first), 1))
        whole = np.hstack([x[:-1], first, last - first, one])[:, None, :, None]
        found = (E @ whole)[..., 0]
        part = np.arange(1, count + 1) / count
        found = found + part[:, None] * self._defect[:, None]
        return np.vstack([x[:1], found.reshape(-1, self._m)])

    def ends(self, duration: float, forces: Array, knots: Array) -> Array:
        """States (n + 1, 2 nv) at the ends of all steps from those at the knots."""
        local = self._local(duration)
        one = np.ones((len(knots) - 1, 1))
        whole = np.hstack([knots[:-1], forces[:-1], forces[1:], one])
        inner = (local[:, 1:] @ whole[:, None, :, None])[..., 0]
        return np.vstack([knots[:1], inner.reshape(-1, self._m)])

    def slopes(self, E: Array, T: float, by: Array, at: NDArray[np.int_]) -> Array:
        """Derivatives (r, 2 nv, (K + 1) nu) of some of the states inside by forces.

        ``by`` are those of the states at the knots for the duration T, ``at`` (r,) the
        chosen states, counted as in `states`.
        """
        m, nu, count = self._m, self._nu, E.shape[1]
        j, inner = np.divmod(np.maximum(at - 1, 0), count)
        k, past = np.divmod(j, self._steps)
        F = E[j, inner] * (at > 0)[:, None, None]  # the first state is given
        way = F[:, :, :m] @ self._local(T)[k, past]
        value, step = F[:, :, m : m + nu], F[:, :, m + nu : -1] / self._steps
        part = (past / self._steps)[:, None, None]
        way[:, :, m : m + nu] += (1.0 - part) * value - step
        way[:, :, m + nu : -1] += part * value + step
        result = way[:, :, :m] @ by[k, :, :-1]
        r, before = np.arange(len(at))[:, None], (k * nu)[:, None] + np.arange(2 * nu)
        result.transpose(0, 2, 1)[r, before] += way[:, :, m:-1].transpose(0, 2, 1)
        return np.asarray(result)

    def _local(self, T: float) -> Array:
        """(K, steps + 1, 2 nv, 2 nv + 2 nu + 1) of states in each interval.

        They are those of the state and the forces at its start, the forces at its end,
        and one.
        """
        kept = self._kept.get(0)
        if kept is not None and kept[0] == T:
            return kept[1]
        m, nu, s = self._m, self._nu, self._steps
        E = self._transitions(T).reshape(-1, s, m, m + 2 * nu + 1)
        defect = self._defect.reshape(-1, s, m)
        local = np.zeros((len(E), s + 1, m, m + 2 * nu + 1))
        local[:, 0, :, :m] = np.eye(m)
        for p in range(s):
            value, step = E[:, p, :, m : m + nu], E[:, p, :, m + nu : -1] / s
            there = E[:, p, :, :m] @ local[:, p]
            there[:, :, m : m + nu] += (1.0 - p / s) * value - step
            there[:, :, m + nu : -1] += p / s * value + step
            there[:, :, -1] += E[:, p, :, -1] + defect[:, p]
            local[:, p + 1] = there
        self._kept[0] = T, local
        return local

    def at(self, forces: Forces) -> tuple[Array, Array]:
        """States (n + 1, 2 nv), and derivatives (K + 1, 2 nv, (K + 1) nu + 1) at knots.

        Derivatives are those by the forces at the knots and by the duration, at the
        same parts of the duration.
        """
        m, nu, s, T, tau = self._m, self._nu, self._steps, forces.duration, forces.tau
        K = len(tau) - 1
        end = self._local(T)[:, -1]
        given = np.hstack([tau[:-1], tau[1:], np.ones((K, 1))])[:, :, None]
        given = (end[:, :, m:] @ given)[:, :, 0]
        knots = np.empty((K + 1, m))
        knots[0] = self.x[0]
        for k in range(K):
            knots[k + 1] = end[k, :, :m] @ knots[k] + given[k]
        x = self.ends(T, tau, knots)
        # a longer step ends later, and its forces change more slowly
        E = self._transitions(T)
        first, last = self._ends(tau)
        ramp = (E[:, :, m + nu : -1] @ (last - first)[:, :, None])[:, :, 0]
        still, one = np.zeros_like(last), np.ones((len(last), 1))
        whole = np.hstack([x[1:] - self._defect, last, still, one])
        later = self._length[:, None] * (self._rates @ whole[:, :, None])[:, :, 0]
        later = (later - ramp / T).reshape(K, s, m)
        phi, local = E[:, :, :m].reshape(K, s, m, m), np.zeros((K, m))
        for p in range(s):
            local = (phi[:, p] @ local[:, :, None])[:, :, 0] + later[:, p]
        by = np.zeros((K + 1, m, tau.size + 1))
        for k in range(K):
            by[k + 1] = end[k, :, :m] @ by[k]
            by[k + 1, :, k * nu : (k + 2) * nu] += end[k, :, m:-1]
            by[k + 1, :, -1] += local[k]
        return x, by
