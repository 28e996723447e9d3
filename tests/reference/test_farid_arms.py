"""The arms of Farid (1997) in the library: planar ones against the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import Array
from farid_cases import START, chord_link, chords, line, line_angles, to_arm, two_link
from scipy.integrate import solve_ivp

import flexarm as fa
from flexarm.reference import farid_planar as farid

VARIANTS = [(links, joints) for links in (True, False) for joints in (True, False)]


def pair(links: bool, joints: bool, **changes: Any) -> tuple[fa.Arm, farid.Model]:
    """Arm of the library and reference, with rigid links and joints or not."""
    stiffness = {"bending_stiffness": 1e4, "joint_stiffness": 1e4}
    model = farid.assemble(
        farid.Parameters(**{**stiffness, **changes}),
        rigid_links=links,
        rigid_joints=joints,
    )
    if links:
        changes = {**changes, "elements": 0}
    if joints:
        changes = {**changes, "joint_stiffness": None}
    return fa.library.farid_planar(**changes), model


# equations


@pytest.mark.parametrize(("links", "joints"), VARIANTS)
def test_equations_of_the_chord_frame(links: bool, joints: bool) -> None:
    """E1: not to O(slope^2) but to rounding, in the plane rotations add."""
    arm, model = pair(links, joints, elements=3, payload_inertia=0.3)
    assert arm.nv == model.size
    rng = np.random.default_rng(0)
    z, zd = rng.normal(size=(2, 10, model.size))
    Q = to_arm(model)
    q, qd = z @ Q.T, zd @ Q.T
    M = Q.T @ fa.mass_matrix(arm, q) @ Q
    scale = np.abs(M).max()
    assert np.abs(M - farid.mass_matrix(model, z)).max() < 1e-13 * scale
    torque = np.array([100.0, -50.0, 20.0])
    ours = fa.forward_dynamics(arm, q, qd, torque)
    theirs = farid.forward_dynamics(model, z, zd, torque) @ Q.T
    assert np.abs(ours - theirs).max() < 1e-11 * np.abs(theirs).max()
    ours = fa.kinetic_energy(arm, q, qd)
    assert ours == pytest.approx(farid.kinetic_energy(model, z, zd), rel=1e-13)
    ours = np.diff(fa.potential_energy(arm, q))
    theirs = np.diff(farid.potential_energy(model, z))
    assert np.abs(ours - theirs).max() < 1e-12 * np.abs(theirs).max()
    tip = fa.tip_pose(arm, q)[:, :2, 3]
    assert np.abs(tip - farid.tip_position(model, z)).max() < 1e-13


def test_links_are_those_of_the_thesis_element_by_element() -> None:
    arm, model = pair(False, True, elements=4)
    p = model.parameters
    for k, body in enumerate(arm.bodies):
        own = chord_link("own", p, k, fa.Joint())
        assert np.abs(body.stiffness - own.stiffness).max() < 1e-14 * 1e6
        with_actuators = body.modal_mass()
        mass = own.modal_mass()
        mass[0, 0] += 0.2  # rotor at the base
        mass[-1, -1] += 0.2 * (k < 2)  # stator at the tip
        assert np.abs(with_actuators - mass).max() < 1e-13


def test_friction_of_the_rotors() -> None:
    arm = fa.library.farid_planar(damping=3.0)
    model = farid.assemble(farid.Parameters(1e4, 1e4, joint_damping=3.0))
    rng = np.random.default_rng(1)
    z, zd = rng.normal(size=(2, model.size))
    Q = to_arm(model)
    ours = fa.forward_dynamics(arm, Q @ z, Q @ zd, np.zeros(3))
    theirs = Q @ farid.forward_dynamics(model, z, zd)
    assert np.abs(ours - theirs).max() < 1e-11 * np.abs(theirs).max()


# E2, E4: fall of three links


def fall(arm: fa.Arm, t: Array, step: float, q: Array | None = None) -> Array:
    """Position of the tip after the release, by the classical Runge-Kutta method."""
    start = arm.neutral if q is None else q
    run = fa.simulate(arm, start, np.zeros(arm.nv), t, max_step=step, progress=False)
    assert run.success
    return np.asarray(fa.tip_pose(arm, run.q)[:, :2, 3])


def test_the_rigid_arm_of_e4() -> None:
    arm, _ = pair(True, True)
    t = np.array([0.0, 0.1, 0.25, 0.5, 0.75, 1.0])
    expected = [
        [2.998547, -0.049092],
        [2.950555, -0.306446],
        [2.537028, -1.229533],
        [1.298137, -2.691958],
        [-0.909374, -2.751140],
    ]
    assert np.abs(fall(arm, t, 1e-3)[1:] - expected).max() < 0.51e-6


def level(model: farid.Model) -> Array:
    """Equilibrium with level chords, in the coordinates of the arm."""
    return np.asarray(to_arm(model) @ farid.inverse_statics(model, np.zeros(3))[0])


@pytest.mark.parametrize(
    ("stiffness", "step", "end"),
    [(1e4, 1e-4, [-0.911103, -2.747713]), (1e5, 4e-5, [-0.909553, -2.750925])],
)
def test_flexible_arms_of_e4(stiffness: float, step: float, end: list[float]) -> None:
    # R: (-0.91129, -2.74764), (-0.90936, -2.75105) by average acceleration with 0.5 ms,
    # 0.2 mm from what the same equations give with short steps
    given = {"bending_stiffness": stiffness, "joint_stiffness": stiffness}
    arm, model = pair(False, False, **given)
    found = fall(arm, np.array([0.0, 1.0]), step, level(model))[-1]
    assert np.abs(found - end).max() < 1e-6
    printed = {1e4: [-0.91129, -2.74764], 1e5: [-0.90936, -2.75105]}[stiffness]
    assert np.abs(found - printed).max() < 2e-4


@pytest.mark.parametrize(
    ("which", "expected"),
    [("links", 0.162e-3), ("joints", 0.0872e-3), ("both", 0.194e-3)],
)
def test_the_rigid_limit(which: str, expected: float) -> None:
    """E2: the error falls as one over the stiffness; "completely in agreement"."""
    rigid, _ = pair(True, True)
    t = np.linspace(0.0, 0.5, 51)
    target, error = fall(rigid, t, 1e-3), []
    for stiffness in (1e4, 1e5):
        links, joints = which == "joints", which == "links"
        given = {"bending_stiffness": stiffness, "joint_stiffness": stiffness}
        arm, model = pair(links, joints, **given)
        path = fall(arm, t, 4e-5, level(model))
        error.append(np.abs(path - target).max())
    assert error[0] / error[1] == pytest.approx(10.0, rel=0.06)
    assert error[1] == pytest.approx(expected, rel=0.01)  # m, at 1e5 N m^2 or N m/rad


def droop(EI: float, frame: str, stiffening: bool) -> tuple[Array, float]:
    """Where the tip hangs with the joints held, and the largest slope of link 1."""
    arm = fa.library.farid_planar(
        bending_stiffness=EI,
        joint_stiffness=None,
        frame=frame,
        geometric_stiffening=stiffening,
    )
    q = arm.neutral
    q[:3] = 0.3, -0.2, -0.4
    rest = fa.statics.equilibrium(arm, q)
    return fa.tip_pose(arm, rest.q)[:2, 3], float(np.abs(rest.q[3]))


@pytest.mark.parametrize(("stiffening", "order"), [(False, 2), (True, 4)])
def test_chord_and_tangent_frames(stiffening: bool, order: int) -> None:
    """They differ by the square of the slopes, with foreshortening by the fourth power.

    A link of constant projection on its tangent is no link of constant chord; a link of
    constant length is the same in both, as far as the parabola of its shortening goes:
    the next term is slope^4 / 8.  Transverse displacements of both are right to third
    order by the strain energy, and differ by the fifth.
    """
    apart, slopes = [], []
    for EI in (4000.0, 8000.0):
        (chord, slope), (tangent, _) = (
            droop(EI, frame, stiffening) for frame in ("chord", "tangent")
        )
        apart.append(np.linalg.norm(chord - tangent))
        slopes.append(slope)
    assert slopes[0] / slopes[1] == pytest.approx(2.0, rel=0.01)
    assert slopes[1] == pytest.approx(0.019, abs=5e-4)
    assert np.log2(apart[0] / apart[1]) == pytest.approx(order, abs=0.05)
    assert apart[1] < 2.0 * slopes[1] ** order


def test_foreshortening_moves_the_tip_by_the_square_of_the_slopes() -> None:
    """E4 with the thesis' link of constant chord, and with one of constant length."""
    moved = [
        np.linalg.norm(droop(EI, "chord", True)[0] - droop(EI, "chord", False)[0])
        for EI in (4000.0, 8000.0)
    ]
    assert moved[0] / moved[1] == pytest.approx(4.0, rel=0.07)
    assert moved[1] == pytest.approx(8.5e-5, rel=0.01)  # m, slopes of 0.02


@pytest.mark.parametrize(("stiffening", "bound"), [(False, 1e-6), (True, 1e-9)])
def test_motion_in_chord_and_tangent_frames(stiffening: bool, bound: float) -> None:
    t, path = np.linspace(0.0, 0.25, 26), {}
    for frame in ("chord", "tangent"):
        arm = fa.library.farid_planar(
            bending_stiffness=2000.0,
            joint_stiffness=None,
            frame=frame,
            geometric_stiffening=stiffening,
        )
        q = arm.neutral
        q[:3] = 0.3, -0.2, -0.4
        path[frame] = fall(arm, t, 5e-5, q)
    # released straight, so that both start alike; slopes reach 9e-4
    assert 0.0 < np.abs(path["chord"] - path["tangent"]).max() < bound


# E7


def tip_error(arm: fa.Arm, model: farid.Model, step: float) -> Array:
    """Largest errors in x and y under the torques of the rigid arm, in mm."""
    t = np.linspace(0.0, 0.5, 1001)
    phi, rate, acceleration = line_angles(t)
    torque = farid.rigid_torques(model.parameters, phi, rate, acceleration)
    z, _ = farid.inverse_statics(model, phi[0])
    q = to_arm(model) @ z
    run = fa.simulate(arm, q, np.zeros(arm.nv), t, torque=torque, max_step=step)
    return 1e3 * np.abs(fa.tip_pose(arm, run.q)[:, :2, 3] - line(t)[0]).max(axis=0)


def test_rigid_torques_on_the_flexible_arm() -> None:
    # L3004: 6.1 and 5 mm; R: 6.373 and 5.023
    model = farid.assemble(two_link())
    error = tip_error(fa.library.farid_two_link(), model, 2e-4)
    assert np.abs(error - [6.373, 5.023]).max() < 6e-4


def test_poses_of_e7() -> None:
    arm = fa.library.farid_two_link()
    poses = fa.library.poses(arm)
    assert poses["A"][:2] == pytest.approx(np.diff(chords(START), prepend=0.0))
    for name, tip in (("A", [1.8, 0.2]), ("B", [1.6, 0.7])):
        assert fa.tip_pose(arm, poses[name])[:2, 3] == pytest.approx(tip, abs=1e-12)
        assert poses[name][arm.motor_slice] == pytest.approx(poses[name][:2])


def test_statics_and_frequencies_of_e7() -> None:
    arm, model = fa.library.farid_two_link(), farid.assemble(two_link())
    z, torque = farid.inverse_statics(model, chords(START))
    q = to_arm(model) @ z
    held = fa.statics.holding_forces(arm, q, held="motors")
    assert held == pytest.approx(torque, rel=1e-9)
    rest = fa.statics.equilibrium(arm, q, held="motors")
    assert np.abs(rest.q - q).max() < 1e-9
    omega = 2.0 * np.pi * fa.vibration.natural_frequencies(arm, q, held="motors")
    assert omega[:4] == pytest.approx([4.700, 20.644, 105.1, 202.0], rel=5e-4)
    theirs = np.sqrt(farid.frequencies(model, z, locked=True))
    assert np.sort(omega) == pytest.approx(theirs, rel=1e-8)
    free = 2.0 * np.pi * fa.vibration.natural_frequencies(arm, q)
    assert free[0] == pytest.approx(-2.54, abs=5e-3)
    assert free[1:6] == pytest.approx([1.97, 63.82, 65.31, 126.3, 202.1], rel=1e-3)


# the integrators of the thesis


@pytest.mark.parametrize(
    ("stiffness", "end", "drift"),
    [(1e4, [-0.91129, -2.74764], 1.648e-3), (1e5, [-0.90936, -2.75105], 1.117e-3)],
)
def test_average_acceleration(stiffness: float, end: list[float], drift: float) -> None:
    """E4 with 0.5 ms: R, and step by step the Newmark method of the reference."""
    given = {"bending_stiffness": stiffness, "joint_stiffness": stiffness}
    arm, model = pair(False, False, **given)
    t = np.arange(2001) * 5e-4
    q, rest = level(model), np.zeros(arm.nv)
    run = fa.simulate(arm, q, rest, t, method="newmark", progress=False)
    assert np.abs(run.tip[-1, :2] - end).max() < 0.5001e-5
    assert np.abs(run.energy - run.energy[0]).max() == pytest.approx(drift, rel=1e-3)
    z, _ = farid.inverse_statics(model, np.zeros(3))
    first = farid.newmark(model, z, 0.0 * z, np.zeros((201, 3)), 5e-4)
    assert np.abs(first.z @ to_arm(model).T - run.q[:201]).max() < 1e-9


@pytest.mark.parametrize(
    ("method", "step", "expected"),
    [
        ("newmark", 5e-4, [6.373, 5.023]),
        ("newmark", 5e-3, [6.199, 4.982]),
        ("linear-acceleration", 5e-4, [6.373, 5.023]),
        ("linear-acceleration", 1e-3, None),  # omega h = 3.53 > 2 sqrt 3
    ],
)
def test_errors_of_e7_by_newmark_methods(
    method: str, step: float, expected: list[float] | None
) -> None:
    arm, model = fa.library.farid_two_link(), farid.assemble(two_link())
    t = np.arange(round(0.5 / step) + 1) * step
    torque = farid.rigid_torques(model.parameters, *line_angles(t))
    z, _ = farid.inverse_statics(model, chords(START))
    q, rest = to_arm(model) @ z, np.zeros(arm.nv)
    run = fa.simulate(arm, q, rest, t, torque=torque, method=method, progress=False)
    assert run.success == (expected is not None)
    if expected is not None:
        error = 1e3 * np.abs(run.tip[:, :2] - line(t)[0]).max(axis=0)
        assert np.abs(error - expected).max() < 0.501e-3


def converged(model: farid.Model, t: float) -> Array:
    """Tip of the reference by a method of high order with error control."""
    m = model.size

    def rate(_: float, x: Array) -> Array:
        return np.concatenate([x[m:], farid.forward_dynamics(model, x[:m], x[m:])])

    z, _ = farid.inverse_statics(model, np.zeros(3))
    x = np.concatenate([z, 0.0 * z])
    run = solve_ivp(rate, (0.0, t), x, "DOP853", [t], rtol=1e-10, atol=1e-12)
    return farid.tip_position(model, run.y[:m, -1])


@pytest.mark.slow
def test_motion_is_that_of_the_reference() -> None:
    given = {"bending_stiffness": 1e3, "joint_stiffness": 100.0}
    arm, model = pair(False, False, **given)
    ours = fall(arm, np.array([0.0, 0.05]), 5e-5, level(model))[-1]
    assert np.abs(ours - converged(model, 0.05)).max() < 1e-8
