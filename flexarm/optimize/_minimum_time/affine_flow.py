r"""Flow of an arm linearized about a simulated motion, for any forces and duration.

Between two samples of the motion the arm is replaced by

.. math:: \dot x = A_j x + B_j u + c_j

with the matrices at the mean states and the mean accelerations of both halves, which
fast vibration hardly changes.  Its transition over a step of any length is exact in all
modes (C. F. Van Loan, IEEE Trans. Automatic Control 23, 1978, 395-404), so that for a
linear arm the end of the motion is exact for all forces and all durations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._support.arrays import Array, Index, Mask
from ...arm import Arm
from .._charts import chart_of
from .transitions import Transitions

# Radians of the fastest mode in a step up to which matrices follow the change within
# it: with more, the series diverges.
_MAX_RADIANS = 16.0


# Durations whose transitions are kept: a program compares three.
_MAX_KEPT = 3


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

    def split(self, chosen: Mask) -> Forces:
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


def slopes_at(arm: Arm, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """A (n, 2 nv, 2 nv) and B (n, 2 nv, nu) of the arm about moving states."""
    n, nv, acting = len(q), arm.nv, arm.actuator_indices
    model = arm.kernels
    slopes = np.asarray(model.quiet("inverse_dynamics_derivatives")(q, v, a))
    if chart_of(arm) is None:
        inverse = np.asarray(model.quiet("mass_matrix_inverse")(q))
    else:
        inverse = np.linalg.inv(np.asarray(model.quiet("mass_matrix")(q)))
    A, B = np.zeros((n, 2 * nv, 2 * nv)), np.zeros((n, 2 * nv, len(acting)))
    A[:, :nv, nv:] = np.eye(nv)
    A[:, nv:, :nv] = -inverse @ slopes[:, 0]
    A[:, nv:, nv:] = -inverse @ slopes[:, 1]
    B[:, nv:] = inverse[:, :, acting]
    return A, B


def _over_steps(halves: Array, h: Array) -> Array:
    """Constant (A, B, c) (n, m, m + nu + 1) of steps, from those of their halves.

    With the first commutator of the series of Magnus, for A that is linear in time, so
    that modes keep their phases over many steps (S. Blanes, F. Casas, J. A. Oteo, J.
    Ros, Physics Reports 470, 2009, 151-238, section 5.4).
    """
    nv, m = halves.shape[1] // 2, halves.shape[1]
    mean = 0.5 * (halves[::2] + halves[1::2])
    change = (halves[1::2] - halves[::2])[:, nv:]  # that of q' = v is zero
    turned = change[:, :, :m] @ mean - mean[:, nv:, nv:m] @ change
    mean[:, nv:] += (h / 6.0)[:, None, None] * turned
    mean[:, :nv] -= (h / 6.0)[:, None, None] * change
    return mean


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
    halves : (2 n + 1, 2 nv) ndarray of float
        Simulated states at the ends and in the middle of the steps.
    mean : (2 n, 2 nv) ndarray of float
        Means of the simulated states over the halves of the steps.
    fastest : float
        Frequency of the fastest mode in rad/s.
    """

    def __init__(
        self,
        arm: Arm,
        forces: Forces,
        steps: int,
        halves: Array,
        mean: Array,
        fastest: float,
    ) -> None:
        x = halves[::2]
        self.forces, self.x, self._duration = forces, x, forces.duration
        self._m, self._nu, self._steps = 2 * arm.nv, arm.nu, steps
        self._length = np.repeat(forces.shares / steps, steps) / forces.shares.sum()
        nv, m = arm.nv, 2 * arm.nv
        h = self._length * forces.duration
        a = np.diff(halves[:, nv:], axis=0) / np.repeat(0.5 * h, 2)[:, None]
        A, B = slopes_at(arm, mean[:, :nv], mean[:, nv:], a)
        first, last = self._ends(forces.tau)
        u = np.stack([0.75 * first + 0.25 * last, 0.25 * first + 0.75 * last], axis=1)
        linear = A @ mean[:, :, None] + B @ u.reshape(-1, self._nu, 1)
        c = np.hstack([mean[:, nv:], a])[:, :, None] - linear
        parts = np.concatenate([A, B, c], axis=2)
        if float(h.max(initial=0.0)) * fastest < _MAX_RADIANS:
            parts = _over_steps(parts, h)
        else:
            parts = 0.5 * (parts[::2] + parts[1::2])
        A, B, c = parts[:, :, :m], parts[:, :, m:-1], parts[:, :, -1]
        self._rates = A, B, c
        self._parts = Transitions(A, B, c, h)
        self._whole: dict[float, Array] = {}  # by durations, of which a few are kept
        self._kept: dict[float, Array] = {}
        # what transitions miss of the simulated states
        E = self._transitions(forces.duration)
        whole = np.hstack([x[:-1], first, last - first, np.ones((len(first), 1))])
        self._defect = x[1:] - (E @ whole[:, :, None])[:, :, 0]

    def _ends(self, tau: Array) -> tuple[Array, Array]:
        """Forces (n, nu) at both ends of all steps."""
        part = np.arange(self._steps + 1) / self._steps
        every = tau[:-1, None] + part[:, None] * (tau[1:] - tau[:-1])[:, None]
        shape = (-1, self._nu)
        return every[:, :-1].reshape(shape), every[:, 1:].reshape(shape)

    def _transitions(self, duration: float) -> Array:
        """(n, 2 nv, ...) by the states, forces at the start, their changes, and one."""
        if duration not in self._whole:
            _make_room(self._whole)
            self._whole[duration] = self._parts.at(duration / self._duration)
        return self._whole[duration]

    def steps_of(self, duration: float) -> Array:
        """Transitions (n, 2 nv, 2 nv + 2 nu + 1) of all steps to the simulated states.

        By the states at their start, forces there, their changes, and one.
        """
        E = self._transitions(duration).copy()
        E[:, :, -1] += self._defect
        return np.asarray(E)

    def inside(self, duration: float, count: int) -> Array:
        """Transitions (n, count, ...) from the start of each step to parts of it."""
        return self._parts.inside(duration / self._duration, count)

    def states(self, E: Array, tau: Array, x: Array) -> Array:
        """States (n count + 1, 2 nv) by transitions inside, from those at all ends."""
        first, last = self._ends(tau)
        count, one = E.shape[1], np.ones((len(first), 1))
        whole = np.hstack([x[:-1], first, last - first, one])[:, None, :, None]
        found = (E @ whole)[..., 0]
        part = np.arange(1, count + 1) / count
        found = found + part[:, None] * self._defect[:, None]
        return np.vstack([x[:1], found.reshape(-1, self._m)])

    def slopes(self, E: Array, T: float, by: Array, at: Index) -> Array:
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
        if T in self._kept:
            return self._kept[T]
        _make_room(self._kept)
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
        self._kept[T] = local
        return local

    def roll(self, forces: Forces) -> Array:
        """States (n + 1, 2 nv)."""
        m, T, tau = self._m, forces.duration, forces.tau
        local = self._local(T)
        end = local[:, -1]
        both = np.hstack([tau[:-1], tau[1:], np.ones((len(local), 1))])
        given = (end[:, :, m:] @ both[:, :, None])[:, :, 0]
        knots = np.empty((len(tau), m))
        knots[0] = self.x[0]
        for k, there in enumerate(given):
            knots[k + 1] = end[k, :, :m] @ knots[k] + there
        whole = np.hstack([knots[:-1], both])
        inner = (local[:, 1:] @ whole[:, None, :, None])[..., 0]
        return np.vstack([knots[:1], inner.reshape(-1, m)])

    def at(self, forces: Forces) -> tuple[Array, Array]:
        """States (n + 1, 2 nv), and derivatives (K + 1, 2 nv, (K + 1) nu + 1) at knots.

        Derivatives are those by the forces at the knots and by the duration, at the
        same parts of the duration.
        """
        m, nu, s, T, tau = self._m, self._nu, self._steps, forces.duration, forces.tau
        K = len(tau) - 1
        end = self._local(T)[:, -1]
        x = self.roll(forces)
        # a longer step ends later, and its forces change more slowly
        E = self._transitions(T)
        first, last = self._ends(tau)
        ramp = (E[:, :, m + nu : -1] @ (last - first)[:, :, None])[:, :, 0]
        A, B, c = self._rates
        rates = A @ (x[1:] - self._defect)[:, :, None] + B @ last[:, :, None]
        later = self._length[:, None] * (rates[:, :, 0] + c)
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


def _make_room(kept: dict[float, Array]) -> None:
    """Forget the first of those that are kept, where there are many."""
    if len(kept) >= _MAX_KEPT:
        del kept[next(iter(kept))]
