"""Deflection, compliance, holding forces and inverse statics.

Oracles: beams of the textbooks, differences of equilibria, inverse kinematics, and the
planar arm of M. Farid (1997) by series of its modes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from elastic_cases import LENGTH, STIFFNESS, cantilever, turned
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation
from scipy.special import zeta
from trees import SEVERAL, random_state

import flexarm as fa

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

BENDING = ("revolute", "prismatic", "helical", "universal", "spherical")


# compliance


def test_compliance_of_a_cantilever() -> None:
    R = turned((1, 2, 3), 0.8)
    arm = fa.Arm([cantilever(20, joint=fa.Joint(rotation=R))], gravity=(0, 0, 0))
    C = fa.Arm.static_compliance(arm, np.zeros(arm.nq))
    # node axes are those of the beam: bending only
    EI, L = STIFFNESS, LENGTH
    # of the series of modes these parts remain, 4/beta^4, 4/beta^3 and 4/beta^2
    # with beta = (r - 1/2) pi from r = 21 on: Hurwitz's zeta function
    left = {k: 4.0 * zeta(k, 20.5) / np.pi**k for k in (2, 3, 4)}
    slope = L / EI * (1.0 - left[2])
    mixed = L**2 / (2.0 * EI) * (1.0 - 2.0 * left[3])
    shift = L**3 / (3.0 * EI) * (1.0 - 3.0 * left[4])
    assert_allclose(C[[1, 2], [1, 2]], slope, rtol=1e-10)
    assert_allclose(C[[4, 5], [4, 5]], shift, rtol=1e-10)
    assert_allclose([C[2, 4], -C[1, 5]], mixed, rtol=1e-10)
    assert (C[[0, 3]] == 0.0).all()
    base = fa.Arm.static_compliance(arm, np.zeros(arm.nq), frame="base")
    both = np.kron(np.eye(2), R)
    assert_allclose(base, both @ C @ both.T, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("frame", ["base", "node"])
@pytest.mark.parametrize("seed", range(5))
def test_compliance_is_how_the_equilibrium_moves(seed: int, frame: str) -> None:
    arm = fa.library.random_tree(seed, 4, max_modes=3, joints=BENDING, gravity=True)
    if arm.nv == arm.nu:
        return
    q = random_state(np.random.default_rng(seed), arm)[0]
    load = np.array([0.3, 0.2, -0.1, 0.5, -0.4, 0.3])
    options: dict[str, Any] = {"wrench": load, "loaded": 0, "wrench_frame": frame}
    rest = fa.equilibrium(arm, q, wrench=load, node=0, frame=frame).check()
    C = fa.Arm.static_compliance(arm, rest.q, frame="base", **options)
    h = 1e-3
    tests = np.zeros((12, 2, 6))
    tests[:6, 0], tests[6:, 0] = h * np.eye(6), -h * np.eye(6)
    # both loads in the axes that the first has: turned for the tip where it is
    if frame == "node":
        pose = fa.tip_pose(arm, rest.q)
        tests[:, 0] = np.hstack(
            [tests[:, 0, :3] @ pose[:3, :3], tests[:, 0, 3:] @ pose[:3, :3]]
        )
    tests[:, 1] = load
    moved = fa.equilibrium(
        arm, rest.q, wrench=tests, node=[arm.tip_node, 0], frame=frame
    ).check()
    T, T0 = fa.tip_pose(arm, moved.q), fa.tip_pose(arm, rest.q)
    turn = Rotation.from_matrix(T[:, :3, :3] @ T0[:3, :3].T).as_rotvec()
    change = np.hstack([turn, T[:, :3, 3] - T0[:3, 3]])
    slopes = (change[:6] - change[6:]).T / (2.0 * h)
    assert_allclose(C, slopes, rtol=0.0, atol=1e-6 * abs(C).max())


def test_stiffness_is_the_inverse_where_there_is_one() -> None:
    arm = fa.library.cibicik_egeland()
    q = np.stack([fa.library.poses(arm)[name] for name in ("initial", "final")])
    C, K = fa.Arm.static_compliance(arm, q), fa.Arm.static_stiffness(arm, q)
    assert_allclose(C @ K, np.broadcast_to(np.eye(6), C.shape), rtol=0.0, atol=1e-9)
    flat = fa.library.planar_chain(2, n_modes=2)
    with pytest.raises(fa.SingularityError, match="static_stiffness has no finite"):
        fa.Arm.static_stiffness(flat, np.zeros(6))


def test_motions_without_stiffness_are_refused() -> None:
    arm = fa.library.planar_chain(2, n_modes=2, gravity=(0, 0, 0))
    with pytest.raises(fa.SingularityError, match="2 of 2 states, first at index"):
        fa.Arm.static_compliance(arm, np.zeros((2, 6)), held=None)
    rigid = fa.Arm.static_compliance(fa.library.puma560(), np.zeros((2, 6)))
    assert rigid.shape == (2, 6, 6) and not rigid.any()


def test_gravity_is_a_stiffness_too() -> None:
    # a hanging mass gives way by l^2/(m g l) in its joint
    arm = fa.library.pendulum(mass=2.0, com=0.5)
    C = fa.Arm.static_compliance(arm, [-np.pi / 2.0], held=None, frame="base")
    assert_allclose(C[3, 3], 0.25 / (2.0 * 9.81 * 0.5), rtol=1e-12)
    pull = [0, 0, 0, 0, 0, -3.0]
    C = fa.Arm.static_compliance(
        arm, [-np.pi / 2.0], held=None, frame="base", wrench=pull, wrench_frame="base"
    )
    assert_allclose(C[3, 3], 0.25 / (0.5 * (2.0 * 9.81 + 3.0)), rtol=1e-12)


# deflection


@pytest.mark.parametrize("seed", range(3))
def test_deflection_is_the_change_of_the_pose(seed: int) -> None:
    arm = fa.library.random_tree(seed, 4, max_modes=3, joints=SEVERAL, gravity=True)
    q = random_state(np.random.default_rng(seed), arm)[0]
    rest = fa.equilibrium(arm, q).check()
    straight = q.copy()
    straight[arm.nq - (arm.nv - arm.nu) :] = 0.0
    for node in (0, None):
        T, T0 = fa.node_pose(arm, rest.q, node), fa.node_pose(arm, straight, node)
        turn = Rotation.from_matrix(T[:3, :3] @ T0[:3, :3].T).as_rotvec()
        moved = fa.deflection(arm, q, node)
        expected = [*turn, *(T[:3, 3] - T0[:3, 3])]
        assert_allclose(moved, expected, rtol=0.0, atol=1e-9)


def test_a_load_on_another_node_moves_the_tip() -> None:
    arm = fa.library.planar_chain(1, n_modes=20, gravity=(0, 0, 0))
    middle = int(np.argmin(abs(arm.bodies[0].node_position[:, 0] - 0.5)))
    a = arm.bodies[0].node_position[middle, 0]
    moved = fa.deflection(
        arm, np.zeros(21), wrench=[0, 0, 0, 0, 1, 0], loaded=middle, frame="base"
    )
    # P a^2 (3 L - a)/(6 EI)
    assert_allclose(moved[4], a**2 * (3.0 - a) / 600.0, rtol=1e-5)


def test_what_has_no_equilibrium_raises_with_the_rest() -> None:
    arm = fa.Arm([fa.RigidBody("cart", fa.Joint("prismatic"), mass=1.0)])
    with pytest.raises(fa.ConvergenceError, match="no equilibrium was found") as caught:
        fa.deflection(arm, [0.0], held=None)
    assert caught.value.result.q.shape == (1,)  # type: ignore[attr-defined]
    with pytest.raises(fa.ConvergenceError, match="no equilibrium"):
        fa.holding_forces(arm, [0.0], held=None)


# holding forces and inverse statics


def test_holding_forces_of_a_drooping_arm() -> None:
    # what the first joint holds is the weight at where it is
    arm = fa.library.planar_chain(3, n_modes=3, payload_mass=0.5)
    q = np.zeros((5, arm.nq))
    q[:, 0] = np.linspace(-1.0, 1.0, 5)
    rest = fa.equilibrium(arm, q).check()
    tau = fa.holding_forces(arm, q)
    assert_allclose(tau, rest.tau[:, :3])
    center = fa.center_of_mass(arm, rest.q)
    assert_allclose(tau[:, 0], 3.5 * 9.81 * center[:, 0], rtol=1e-12)


def test_inverse_statics_is_the_inverse_of_equilibrium() -> None:
    arm = fa.library.cibicik_egeland()
    q = fa.library.poses(arm)["initial"]
    rest = fa.equilibrium(arm, q).check()
    target = fa.tip_pose(arm, rest.q)[:3, 3]
    found = fa.inverse_statics(arm, target, q + 0.05).check()
    assert_allclose(fa.tip_pose(arm, found.q)[:3, 3], target, rtol=0.0, atol=1e-9)
    hold = fa.holding_forces(arm, found.q)
    assert_allclose(found.tau, hold, rtol=0.0, atol=1e-9 * abs(hold).max())
    far = fa.inverse_statics(arm, [[50.0, 0, 0], target], q, restarts=0)
    assert list(far.success) == [False, True]
    with pytest.raises(fa.ConvergenceError, match="1 of 2 targets are not reached"):
        far.check()


def farid_arm(n: int, masses: Any, stiffness: float, modes: int) -> fa.Arm:
    """Planar links of 1 m and 5 kg, with point masses at their ends, gravity -y."""
    links = []
    for i in range(n):
        shapes = fa.beams.clamped_beam_modes(1.0, 5.0, stiffness, modes)
        links.append(
            fa.beams.flexible_link(
                f"link{i + 1}",
                length=1.0,
                mass_per_length=5.0,
                bending_y=shapes,
                joint=fa.Joint(),
                tip_mass=masses[i],
            )
        )
    return fa.Arm(links, gravity=(0, -9.81, 0))


def test_static_torques_of_farid_with_level_chords() -> None:
    # M. Farid (1997), 4.6, all ends at one level: 9.81 (38.7, 20.4, 7.5) N m. His links
    # keep the length of their chords, these that of their projection on the tangent:
    # what differs falls with the square of the slopes
    expected = 9.81 * np.array([38.7, 20.4, 7.5])
    off = []
    for stiffness in (1e5, 1e6):
        arm = farid_arm(3, (0.4, 0.4, 5.0), stiffness, 4)
        ends = [(f"link{i}", "tip") for i in (1, 2, 3)]
        q = np.zeros(arm.nq)
        for _ in range(30):
            rest = fa.equilibrium(arm, q).check()
            heights = [fa.node_pose(arm, rest.q, end)[1, 3] for end in ends]
            q[:3] -= np.diff([0.0, *np.diff([0.0, *heights])])
        assert abs(np.array(heights)).max() < 1e-12
        off.append(abs(rest.tau[:3] / expected - 1.0).max())
    assert off[0] < 1e-5
    assert_allclose(off[0] / off[1], 100.0, rtol=1e-2)
