"""A rod by its strains, against one whose Jacobians come from its poses alone."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from each import each
from scipy.integrate import solve_ivp
from scipy.linalg import expm, solve

import flexarm as fa
from flexarm.measured import rollouts
from flexarm.measured.rollouts import CASES, PLANAR, TIMES, Case, strain_rod

ALL = Case(range(6), 1, (-5.0, 3.0, -9.81), ((0.0, 0.0, 0.02), (0.0, 0.02, 0.0)))


def twist_matrix(x):
    """Matrices of twists (angular; linear), (..., 4, 4)."""
    result = np.zeros((*x.shape[:-1], 4, 4), x.dtype)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        result[..., k, j], result[..., j, k] = x[..., i], -x[..., i]
    result[..., :3, 3] = x[..., 3:]
    return result


class Oracle:
    """Sections of mass at n Gauss points of two segments, strains as coordinates."""

    def __init__(self, case, names, n):
        self.case, half = case, 0.6 / 4.0
        x, w = np.polynomial.legendre.leggauss(n)
        ends = np.array([-1.0, *x, 1.0])
        self.steps = np.tile(half * np.diff(ends), 2)
        self.nodes = np.zeros((2, n, 6, len(names)))
        self.middles = np.zeros((2, n + 1, 6, len(names)))
        for j, name in enumerate(names):
            segment, strain, degree = map(int, name.split())
            self.nodes[segment, :, strain, j] = x**degree
            self.middles[segment, :, strain, j] = ((ends[1:] + ends[:-1]) / 2) ** degree
        self.nodes = self.nodes.reshape(-1, 6, len(names))
        self.middles = self.middles.reshape(-1, 6, len(names))
        area = np.pi * 0.03**2
        turn = area * 0.03**2 / 4.0 * np.array([2.0, 1.0, 1.0])
        self.section = 1000.0 * np.array([*turn, area, area, area])
        stiff = np.array([1e6 / 3.0, 1e6, 1e6] * turn).tolist()
        stiff = np.array([*stiff, *(area * np.array([1e6, 1e6 / 3.0, 1e6 / 3.0]))])
        damping = 1e4 * np.array([1, 3, 3, 3, 1, 1]) * [*turn, area, area, area]
        self.weights = np.tile(half * w, 2)
        self.K, self.D = (self.sum(np.diag(x), self.nodes) for x in (stiff, damping))

    def sum(self, matrix, J):
        return np.einsum("n,nij,ik,nkl->jl", self.weights, J, matrix, J)

    def poses(self, q):
        """Poses of the sections and of the tip, (..., 2 n + 1, 4, 4)."""
        strains = np.einsum("nij,...j->...ni", self.middles, q)
        strains[..., 3] += 1.0
        steps = expm(self.steps[:, np.newaxis, np.newaxis] * twist_matrix(strains))
        pose, result = np.eye(4), []
        pose[:3, :3] = [[0, 0, -1], [0, 1, 0], [1, 0, 0]]
        for i in range(len(self.steps)):
            pose = pose @ steps[..., i, :, :]
            result.append(pose)
        del result[len(self.steps) // 2 - 1]  # the end of the first segment
        return np.stack(result, axis=-3)

    def jacobians(self, q):
        """Poses, and twists of the sections in their own axes for unit rates."""
        moved = self.poses(q + 1e-30j * np.eye(len(q)))[:, :-1]
        pose = moved[0].real
        rate = np.linalg.inv(pose) @ (moved.imag / 1e-30)
        turns = [rate[..., 2, 1], rate[..., 0, 2], rate[..., 1, 0]]
        columns = np.stack([*turns, *np.moveaxis(rate[..., :3, 3], -1, 0)], axis=-1)
        return pose, np.moveaxis(columns, 0, -1)

    def terms(self, q, qd):
        """Mass matrix, and the forces of a motion without accelerations."""
        h, (pose, J) = 1e-5, self.jacobians(q)
        turned = self.jacobians(q + h * qd)[1] - self.jacobians(q - h * qd)[1]
        twist, momentum = J @ qd, self.section * (J @ qd)
        w, v = twist[:, :3], twist[:, 3:]
        turning = np.cross(w, momentum[:, :3]) + np.cross(v, momentum[:, 3:])
        force = np.concatenate([turning, np.cross(w, momentum[:, 3:])], axis=1)
        force += self.section * (turned @ qd / (2.0 * h))
        fall = np.einsum("nji,j->ni", pose[:, :3, :3], self.case.gravity)
        force[:, 3:] -= self.section[3:] * fall
        total = self.K @ q + self.D @ qd
        total += np.einsum("n,nij,ni->j", self.weights, J, force)
        for place in self.case.tendons:  # a force along each, with its moment
            strain = self.nodes @ q + [0, 0, 0, 1, 0, 0]
            along = strain[:, 3:] + np.cross(strain[:, :3], place)
            along /= np.linalg.norm(along, axis=1)[:, np.newaxis]
            wrench = np.concatenate([np.cross(place, along), along], axis=1)
            total += np.einsum("n,nij,ni->j", self.weights, self.nodes, wrench)
        return self.sum(np.diag(self.section), J), total

    def tip(self, times):
        """Tip of a fall from rest."""
        n = len(self.K)

        def rate(t, y):
            M, total = self.terms(y[:n], y[n:])
            return np.concatenate([y[n:], -solve(M, total, assume_a="pos")])

        found = solve_ivp(
            rate, times[[0, -1]], np.zeros(2 * n), "BDF", times, rtol=1e-6, atol=1e-6
        )
        return self.poses(found.y[:n].T)[:, -1, :3, 3]


@each("case", {"planar": PLANAR, "spatial": CASES["spatial_pcs"], "linear": ALL})
def test_forces_of_slices_converge_to_those_of_strains(case):
    rng, errors = np.random.default_rng(3), []
    for slices in (4, 8):
        arm, scales = strain_rod(case, slices=slices)
        if not errors:
            oracle = Oracle(case, arm.coordinate_names, 20 if case.order else 6)
            sizes = [np.ptp(x) for x in oracle.nodes.T[:, :, 0]]  # drawn below
            q, qd, qdd = rng.standard_normal((3, arm.nv))
            bends = np.array([int(x.split()[1]) < 3 for x in arm.coordinate_names])
            q, qd, qdd = (x * np.where(bends, 2.0, 0.05) for x in (q, qd, qdd))
            M, total = oracle.terms(q, qd)
            wanted = M @ qdd + total
        law = rollouts.tendon_law(arm, scales, case.tendons) if case.tendons else None
        state = q * scales, qd * scales
        found = fa.inverse_dynamics(arm, *state, qdd * scales)
        found = (found - (law(0.0, *state) if law else 0.0)) * 1.0 / 1.0
        found = found * scales
        errors.append(np.abs((found - wanted) / (np.abs(wanted))).max())
    print(errors, wanted)
