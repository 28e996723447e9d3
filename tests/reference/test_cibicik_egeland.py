"""The arm of Cibicik and Egeland (2021): numbers of the paper and of its model.

The paper prints its parameters and no results but in figures.  The reference values
were computed from its equations, elastic coordinates at zero where they do not depend
on the choice of modes, otherwise for clamped and free modes.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.optimize import root

import flexarm as fa
from flexarm._core import FIDELITIES
from flexarm.beams import clamped_beam_modes, clamped_rod_modes
from flexarm.library.spatial import cibicik_egeland_order

MODES = ("clamped-mass", "clamped-free")


def upper(*rows):
    """Symmetric matrix of the joints from M11, then M22 M23 M24, M33 M34, M44."""
    result = np.zeros((4, 4))
    result[0, 0] = rows[0]
    result[np.triu_indices(3)[0] + 1, np.triu_indices(3)[1] + 1] = rows[1:]
    return result + np.triu(result, 1).T


# pose: mass matrix of the joints (kg m^2), torques of gravity (N m), end point (m)
RIGID = {
    "initial": (
        upper(38.259246, 60.449429, 7.610594, -0.004686, 23.774109, 0.759910, 0.071774),
        (0, 262.901324, 75.531698, 0),
        (1.9, 0, 0.193205),
    ),
    "final": (
        upper(
            *(114.715887, 122.109736, 38.149907, 0.027630),
            *(23.192428, 0.469070, 0.071774),
        ),
        (0, 455.358451, 130.824738, 0),
        (2.327015, 2.327015, 0.12),
    ),
    "straight": (
        upper(
            *(0.030925, 156.350806, 55.667738, 1.749246),
            *(23.987020, 0.866366, 0.071774),
        ),
        (0, 0, 0, 0),
        (0, 0, 4.3),
    ),
}


@pytest.mark.parametrize("fidelity", FIDELITIES)
@pytest.mark.parametrize("pose", RIGID)
def test_the_undeformed_arm_has_the_reference_values(pose, fidelity):
    mass, gravity, end = RIGID[pose]
    for options in ({"n_modes": 0}, *({"bending": kind} for kind in MODES)):
        arm = fa.library.cibicik_egeland(fidelity=fidelity, **options)
        q = fa.library.poses(arm)[pose]
        found = fa.mass_matrix(arm, q)[:4, :4]
        assert_allclose(found, mass, rtol=0, atol=5.1e-7)
        # what gravity does, on the other side of the equation
        assert_allclose(-fa.gravity_forces(arm, q)[:4], gravity, rtol=0, atol=5.1e-7)
        assert_allclose(fa.tip_pose(arm, q)[:3, 3], end, rtol=0, atol=5.1e-7)


@pytest.mark.parametrize("n_modes", [0, 2])
def test_velocity_forces_of_the_undeformed_arm(n_modes):
    arm = fa.library.cibicik_egeland(n_modes=n_modes)
    q, u = fa.library.poses(arm)["initial"], np.zeros(arm.nv)
    u[:4] = 0.5, -0.3, 0.4, 0.2
    found = (fa.bias_forces(arm, q, u) - fa.gravity_forces(arm, q))[:4]
    expected = [-15.515417, -2.741158, 8.368361, 0.253387]
    assert_allclose(found, expected, rtol=0, atol=5.1e-7)


def test_parameters_that_follow_from_table_one():
    arm = fa.library.cibicik_egeland()
    link2, link3 = arm.bodies[1:3]
    assert_allclose([link2.mass, link3.mass], [11.1, 9.99], atol=0.5e-3)
    assert link2.mass / 2.0 == pytest.approx(5.550, abs=0.5e-3)
    # static deflection under a unit force or moment: EI, GI from the stiffness
    many = fa.library.cibicik_egeland(bending="clamped-free", n_modes=20).bodies[1]
    y, torsion = slice(0, 20), slice(40, 60)
    tip = many.node_translation[-1, 1, y]
    softness = tip @ np.linalg.solve(many.stiffness[y, y], tip)
    assert 2.0**3 / (3.0 * softness) == pytest.approx(38037.7, rel=2e-5)
    tip = many.node_rotation[-1, 0, torsion]
    softness = tip @ np.linalg.solve(many.stiffness[torsion, torsion], tip)
    assert 2.0 / softness == pytest.approx(29271, rel=0.02)  # 1/n of the modes left out
    link4 = arm.bodies[3]
    assert (link4.mass, link4.com[0], link4.inertia[2, 2]) == (3.56, 0.124, 0.017035)


def test_frequencies_of_single_links():
    mu, EI, polar, GI = 7850 * 707e-6, 210e9 * 181132e-12, 7850 * 362265e-12, 29271.0
    arm = fa.library.cibicik_egeland(bending="clamped-free")
    printed = {
        "link2": (2.0, [11.582, 72.581], [401.03, 1203.10]),
        "link3": (1.8, [14.298, 89.607], [445.59, 1336.78]),
    }
    for name, (length, bending, torsion) in printed.items():
        modes = clamped_beam_modes(length, mu, EI, 2)
        assert_allclose(modes.frequency, bending, rtol=0, atol=0.51e-3)
        modes = clamped_rod_modes(length, polar, GI, 2)
        assert_allclose(modes.frequency, torsion, rtol=0, atol=0.51e-2)
        body = arm.bodies[arm.body_index(name)]
        assert_allclose(body.frequencies()[4:], torsion, rtol=0, atol=0.51e-2)
        # of the links, sections of which have rotary inertia: a little lower
        lower = body.frequencies()[:4:2] / bending
        assert_allclose(lower, [0.9999, 0.999], rtol=0, atol=5e-4)


def test_frequencies_of_the_arm_with_locked_joints():
    lowest = {
        "clamped-free": [3.97, 4.38, 8.25, 8.82],
        "clamped-mass": [3.92, 4.19, 7.72, 8.21],
    }
    for kind, expected in lowest.items():
        arm = fa.library.cibicik_egeland(bending=kind)
        M = fa.mass_matrix(arm, fa.library.poses(arm)["initial"])[4:, 4:]
        K = arm.stiffness_matrix[4:, 4:]
        found = np.sqrt(eigh(K, M, eigvals_only=True)[:4]) / (2.0 * np.pi)
        assert_allclose(found, expected, rtol=0, atol=0.51e-2)


@pytest.mark.parametrize("fidelity", ["full", "linear"])
@pytest.mark.parametrize(
    ("pose", "sag"), [("initial", (9.86, 1.80)), ("final", (17.12, 3.14))]
)
def test_static_sag(pose, sag, fidelity):
    """In the deformed arm: the load of the straight one gives 9.92 and 1.83 mm."""
    arm = fa.library.cibicik_egeland(bending="clamped-free", fidelity=fidelity)
    q = fa.library.poses(arm)[pose]
    K = arm.stiffness_matrix[4:, 4:]

    def residual(eta):
        return K @ eta + fa.gravity_forces(arm, np.append(q[:4], eta))[4:]

    eta = root(residual, np.zeros(12), tol=1e-12).x
    assert_allclose(residual(eta), 0.0, rtol=0, atol=1e-8)
    for name, expected in zip(("link2", "link3"), sag, strict=True):
        body = arm.bodies[arm.body_index(name)]
        own = slice(arm.mode_slice(name).start - 4, arm.mode_slice(name).stop - 4)
        tip = 1e3 * body.node_translation[-1] @ eta[own]
        assert_allclose(tip, [0.0, expected, 0.0], rtol=0, atol=0.51e-2)


def test_frames_are_those_of_the_paper():
    arm = fa.library.cibicik_egeland()
    q = arm.neutral
    q[:4] = 0.0, 0.4, -0.7, 1.1
    poses = fa.link_poses(arm, q)
    for k, tilt in ((1, 0.4), (2, -0.3), (3, 0.8)):
        s, c = np.sin(tilt), np.cos(tilt)
        axes = np.array([[s, c, 0], [0, 0, 1], [c, -s, 0]])
        assert_allclose(poses[k, :3, :3], axes, rtol=0, atol=1e-15)
    assert_array_equal(poses[0], np.eye(4))
    q[0] = 0.5
    x1 = fa.link_poses(arm, q)[0, :3, 0]
    assert_allclose(x1, [np.cos(0.5), np.sin(0.5), 0], rtol=0, atol=1e-16)


def test_order_of_the_coordinates_of_the_paper():
    for n in (1, 2, 3):
        arm = fa.library.cibicik_egeland(n_modes=n)
        order = cibicik_egeland_order(n)
        names = [arm.coordinate_names[i].rpartition(" ")[0] for i in order[4:]]
        kinds = ("torsion", "bending y", "bending z")
        expected = [f"{b}.{k}" for b in ("link2", "link3") for k in kinds]
        assert names[::n] == expected
        assert_array_equal(np.sort(order), np.arange(4 + 6 * n))
    assert_array_equal(cibicik_egeland_order(0), np.arange(4))


def test_bending_modes_carry_the_straight_arm():
    """Their modal mass in the straight arm is that of the link, sections apart."""
    arm = fa.library.cibicik_egeland()
    M = fa.mass_matrix(arm, fa.library.poses(arm)["straight"])
    for k in (1, 2):
        body, at = arm.bodies[k], arm.mode_slice(k).start
        for first, axis in ((0, 2), (2, 1)):
            own = slice(at + first, at + first + 2)
            slope = body.node_rotation[1:-1, axis, first : first + 2]
            turning = body.node_inertia[1:-1, axis, axis]
            rotary = np.einsum("n,ni,nj->ij", turning, slope, slope)
            expected = body.mass * np.eye(2) + rotary
            assert_allclose(M[own, own], expected, rtol=0, atol=1e-11)


def test_the_rigid_arm_is_the_flexible_one_held_straight():
    rng = np.random.default_rng(3)
    rigid, bent = (fa.library.cibicik_egeland(n_modes=n) for n in (0, 2))
    for _ in range(5):
        q, u, a = rng.normal(size=(3, 4))
        long = [np.append(x, np.zeros(12)) for x in (q, u, a)]
        tau = fa.inverse_dynamics(rigid, q, u, a)
        assert_allclose(fa.inverse_dynamics(bent, *long)[:4], tau, rtol=0, atol=1e-11)


def test_damping_is_a_ratio_of_critical():
    arm = fa.library.cibicik_egeland(damping=0.01, bending="clamped-free")
    free = fa.library.cibicik_egeland(bending="clamped-free")
    assert not free.damping_matrix.any()
    torsion = slice(8, 10)
    k, c = (np.diag(x)[torsion] for x in (arm.stiffness_matrix, arm.damping_matrix))
    m = np.diag(arm.bodies[1].modal_mass())[4:]
    assert_allclose(c, 2 * 0.01 * np.sqrt(k * m), rtol=1e-12)


def test_options_of_the_arm_of_cibicik_and_egeland_are_known():
    with pytest.raises(fa.ModelError, match="n_modes is -1, expected zero or more"):
        fa.library.cibicik_egeland(n_modes=-1)
    with pytest.raises(fa.ArgumentError, match="bending is 'free', expected one of"):
        fa.library.cibicik_egeland(bending="free")
    with pytest.raises(fa.ModelError, match="expected at most 20"):
        fa.library.cibicik_egeland(n_modes=21)
    for make in (fa.library.cibicik_egeland, cibicik_egeland_order):
        with pytest.raises(fa.ArgumentError, match="n_modes is None, expected a whole"):
            make(n_modes=None)
    with pytest.raises(fa.ArgumentError, match="fidelity is 'small', expected one"):
        fa.library.cibicik_egeland(fidelity="small")
    with pytest.raises(fa.ArgumentError, match=r"n is 601\.0, expected a whole number"):
        fa.reference.maneuvers.cibicik_egeland_maneuver(
            fa.library.cibicik_egeland(), 601.0
        )
