"""A rod by its strains, against one whose Jacobians come from its poses alone."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from each import each
from measured_data import folder as data_folder
from scipy.integrate import solve_ivp
from scipy.linalg import expm, solve

import flexarm as fa
from flexarm.measured import rollouts
from flexarm.measured.rollouts import (
    CASES,
    PLANAR,
    TIMES,
    Case,
    strain_rod,
    tendon_law,
)

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
    arms = [strain_rod(case, slices=slices) for slices in (4, 8)]
    names = arms[0][0].coordinate_names
    sizes = [2.0 if int(name.split()[1]) < 3 else 0.05 for name in names]
    q, qd, qdd = sizes * np.random.default_rng(3).standard_normal((3, len(names)))
    M, total = Oracle(case, names, 40 if case.order else 6).terms(q, qd)
    errors = []
    for arm, scales in arms:
        state = q * scales, qd * scales
        found = fa.inverse_dynamics(arm, *state, qdd * scales)
        if case.tendons:
            found = found - tendon_law(arm, scales, case.tendons)(0.0, *state)
        wanted = M @ qdd + total
        errors.append(np.abs(found * scales - wanted).max() / np.abs(wanted).max())
    assert errors[0] < 0.02
    assert errors[1] < 0.27 * errors[0]  # second order


def test_rod_falls_as_that_of_the_oracle():
    times = np.linspace(0.0, 0.05, 6)
    arm, _ = strain_rod(CASES["spatial_pcs"])
    rest = np.zeros(arm.nv)
    run = fa.simulate(arm, rest, rest, times, method="Rodas4P", rtol=1e-4, atol=1e-6)
    wanted = Oracle(CASES["spatial_pcs"], arm.coordinate_names, 4).tip(times)
    np.testing.assert_allclose(run.tip, wanted, atol=2e-6)
    assert np.abs(wanted[-1, 0]) > 1e-2


def test_tip_falls_freely_until_it_feels_the_root():
    # shear waves need 33 ms for the rod, and two segments have no such waves
    arm, _ = strain_rod(PLANAR._replace(order=1), segments=8, slices=2)
    rest = np.zeros(arm.nv)
    run = fa.simulate(arm, rest, rest, [0.0, 0.005, 0.01], method="Rodas4P")
    np.testing.assert_allclose(run.tip[:, 0], -0.5 * 9.81 * run.t**2, rtol=0.02)


def test_report_compares_curves_that_are_there(tmp_path, monkeypatch):
    upright = np.tile([0.0, 0.0, 0.6], (len(TIMES), 1))
    monkeypatch.setattr(rollouts, "fall", lambda *a, **b: upright)
    heads = [f"{code}_{x}_m" for code in rollouts.CODES for x in "xyz"]
    rows = [f"{t},{'0,0.003,0.6,' * 2}nan,nan,nan" for t in TIMES]
    text = "\n".join([",".join(["t_s", *heads]), *rows])
    (tmp_path / "tendon_gvs.csv.gz").write_bytes(gzip.compress(text.encode()))
    report = rollouts.compute(tmp_path)
    errors = {row.what: row.error for row in report.rows}
    assert errors.pop("tendon_gvs: SoRoSim") == pytest.approx(3.0)
    assert {x for w, x in errors.items() if "halved" in w} == {0.0}
    assert all(np.isnan(x) for w, x in errors.items() if "halved" not in w)
    assert list(report.figures) == ["tendon_gvs"]
    assert len(report.figures["tendon_gvs"]().axes) == 2
    assert len(report.predictions) == 6


def test_curves_of_the_other_code():
    folder = data_folder(rollouts.SET)
    curves, rod = rollouts.curves_of(folder, "planar_pcs"), strain_rod(PLANAR, slices=8)
    assert rollouts.rms(rollouts.fall(PLANAR, rod), curves["sorosim"]) < 0.02
