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

import numpy as np
from numpy.typing import NDArray

from ...arm import Arm

Array = NDArray[np.float64]

_LARGEST = 0.5  # norm below which the series of the exponential is summed
_DEGREE = 10  # of the series


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
    """Exponentials of matrices (n, m, m), all with the same number of squarings."""
    norm = float(np.abs(W).sum(axis=1).max(initial=0.0))
    halvings = max(0, int(np.ceil(np.log2(max(norm, 1e-9) / _LARGEST))))
    X, one = W / 2.0**halvings, np.eye(W.shape[1])
    result = one + X / _DEGREE
    for k in range(_DEGREE - 1, 0, -1):
        result = one + (X / k) @ result
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
        self._W, self._by_length = W, np.zeros_like(W)
        self._by_length[:, m : m + nu, m + nu : -1] = np.eye(nu)
        E = self._transitions(forces.duration)
        self._defect = x[1:] - self._pushed(E, x[:-1], first, last)

    def _ends(self, tau: Array) -> tuple[Array, Array]:
        """Forces (n, nu) at both ends of all steps."""
        part = np.arange(self._steps + 1) / self._steps
        every = tau[:-1, None] + part[:, None] * (tau[1:] - tau[:-1])[:, None]
        shape = (-1, self._nu)
        return every[:, :-1].reshape(shape), every[:, 1:].reshape(shape)

    def _transitions(self, duration: float, count: int = 1) -> Array:
        h = (self._length * duration)[:, None, None]
        return exponential((self._W * h + self._by_length) / count)

    def inside(self, duration: float, count: int) -> Array:
        """Transitions (n, count, ...) from the start of each step to parts of it."""
        once = self._transitions(duration, count)
        every = [once]
        for _ in range(count - 1):
            every.append(once @ every[-1])
        return np.stack(every, axis=1)

    def states(self, E: Array, tau: Array, x: Array) -> Array:
        """States (n count + 1, 2 nv) by transitions inside, from those at all ends."""
        first, last = self._ends(tau)
        count, one = E.shape[1], np.ones((len(first), 1))
        whole = np.hstack([x[:-1], first, last - first, one])[:, None, :, None]
        found = (E[:, :, : self._m] @ whole)[..., 0]
        part = np.arange(1, count + 1) / count
        found = found + part[:, None] * self._defect[:, None]
        return np.vstack([x[:1], found.reshape(-1, self._m)])

    def slopes(self, E: Array, by: Array, at: NDArray[np.int_]) -> Array:
        """Derivatives (r, 2 nv, (K + 1) nu) of some of the states inside by forces.

        ``by`` are those of the states at the ends of all steps, ``at`` (r,) the chosen
        states, counted as in `states`.
        """
        m, nu, count = self._m, self._nu, E.shape[1]
        j, k = np.divmod(np.maximum(at - 1, 0), count)
        F = E[j, k] * (at > 0)[:, None, None]  # the first state is given
        result = F[:, :m, :m] @ by[j, :, :-1]
        value, step = F[:, :m, m : m + nu], F[:, :m, m + nu : -1] / self._steps
        knot, past = np.divmod(j, self._steps)
        part = (past / self._steps)[:, None, None]
        r, before = np.arange(len(at))[:, None], (knot * nu)[:, None] + np.arange(nu)
        every = result.transpose(0, 2, 1)
        every[r, before] += ((1.0 - part) * value - step).transpose(0, 2, 1)
        every[r, before + nu] += (part * value + step).transpose(0, 2, 1)
        return np.asarray(result)

    def _pushed(self, E: Array, x: Array, first: Array, last: Array) -> Array:
        whole = np.hstack([x, first, last - first, np.ones((len(x), 1))])
        return np.asarray((E[:, : self._m] @ whole[:, :, None])[:, :, 0])

    def at(self, forces: Forces) -> tuple[Array, Array]:
        """States (n + 1, 2 nv), and derivatives (n + 1, 2 nv, (K + 1) nu + 1).

        Derivatives are those by the forces at the knots and by the duration, at the
        same parts of the duration.
        """
        m, nu, T = self._m, self._nu, forces.duration
        E = self._transitions(T)
        first, last = self._ends(forces.tau)
        phi, value = E[:, :m, :m], E[:, :m, m : m + nu]
        change, shift = E[:, :m, m + nu : -1], E[:, :m, -1] + self._defect
        ramp = (change @ (last - first)[:, :, None])[:, :, 0]
        given = (value @ first[:, :, None])[:, :, 0] + ramp + shift
        x = np.empty((len(E) + 1, m))
        by = np.zeros((len(E) + 1, m, forces.tau.size + 1))
        x[0] = self.x[0]
        for j in range(len(E)):
            x[j + 1] = phi[j] @ x[j] + given[j]
            by[j + 1] = phi[j] @ by[j]
            k, past = divmod(j, self._steps)
            at, part = k * nu, past / self._steps
            step = change[j] / self._steps
            by[j + 1, :, at : at + nu] += (1.0 - part) * value[j] - step
            by[j + 1, :, at + nu : at + 2 * nu] += part * value[j] + step
            # a longer step ends later, and its forces change more slowly
            W, end = self._W[j, :m], np.append(last[j], np.zeros(nu))
            rate = W @ np.concatenate([x[j + 1] - self._defect[j], end, [1.0]])
            by[j + 1, :, -1] += self._length[j] * rate - ramp[j] / T
        return x, by
