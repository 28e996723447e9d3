"""Arms with flexible drives and springs at rest, and how they vibrate.

Oracles: one- and two-mass oscillators, a pendulum on a spring, roots by SciPy.
"""

from __future__ import annotations

import numpy as np
import pytest
from few_modes import planar_chain
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import flexarm as fa

MASS, REACH, INERTIA = 3.0, 0.4, 0.2
STIFFNESS, RATIO, ROTOR = 90.0, -7.0, 0.03
TWO_PI = 2.0 * np.pi
WEIGHT = MASS * 9.81 * REACH


def lifted(gravity: bool = True, **drive: float) -> fa.Arm:
    """A rod in the x-z plane on a geared motor, level at zero."""
    options = {
        "stiffness": STIFFNESS,
        "gear_ratio": RATIO,
        "rotor_inertia": ROTOR,
        **drive,
    }
    joint = fa.Joint(axis=(0, -1, 0), drive=fa.Drive(**options))
    rod = fa.RigidBody(
        "rod",
        joint,
        mass=MASS,
        com=(REACH, 0, 0),
        inertia=(0, INERTIA, INERTIA),
        nodes={"tip": (2 * REACH, 0, 0)},
    )
    return fa.Arm([rod], gravity=(0, 0, -9.81 if gravity else 0.0))


def chain(n: int = 2) -> fa.Arm:
    """Flexible links on geared motors."""
    base = planar_chain(n, n_modes=2, bending_stiffness=150.0)
    bodies = [
        body.replace(
            joint=body.joint.replace(
                drive=fa.Drive(
                    400.0 / (i + 1),
                    gear_ratio=20.0 + i,
                    rotor_inertia=1e-3,
                    rotor_mass=0.3,
                    stator_mass=0.2,
                )
            )
        )
        for i, body in enumerate(base.bodies)
    ]
    return base.replace(bodies=bodies)


def test_a_motor_turns_ahead_by_what_its_shaft_gives_way() -> None:
    arm = lifted()
    q = np.zeros((4, 2))
    q[:, 0] = -1.0, 0.0, 0.5, np.pi / 2.0
    rest = fa.equilibrium(arm, q).check()
    torque = WEIGHT * np.cos(q[:, 0])
    assert_allclose(rest.q[:, 0], q[:, 0])
    assert_allclose(rest.q[:, 1], RATIO * (q[:, 0] + torque / STIFFNESS), rtol=1e-12)
    assert_allclose(rest.tau[:, 1], torque / RATIO, rtol=0.0, atol=1e-12)
    assert (rest.tau[:, 0] == 0.0).all()
    assert_allclose(fa.holding_forces(arm, q)[:, 0], rest.tau[:, 1])
    # and is stable as the pendulum on its spring is
    kept = STIFFNESS - WEIGHT * np.sin(q[:, 0])
    assert_allclose(rest.lowest_square, kept / (INERTIA + MASS * REACH**2), rtol=1e-10)


@pytest.mark.parametrize("ratio", [1e-3, 100.0, -1e5])
def test_any_gear(ratio: float) -> None:
    # motors may have to turn far, or hardly
    arm = lifted(gear_ratio=ratio)
    q = np.array([[0.6, 0.0], [-12.0, 0.0]])
    rest = fa.equilibrium(arm, q).check()
    assert rest.iterations.max() <= 3
    torque = WEIGHT * np.cos(q[:, 0])
    assert_allclose(rest.q[:, 1], ratio * (q[:, 0] + torque / STIFFNESS), rtol=1e-12)
    start = rest.q + np.array([0.05, 0.0])
    free = fa.equilibrium(arm, start, held="motors").check()
    assert_allclose(free.q, rest.q, rtol=1e-9)


def test_a_joint_hangs_behind_its_motor() -> None:
    arm = lifted()
    angle = 0.3

    def unbalance(x: float) -> float:
        return STIFFNESS * (x - angle) + WEIGHT * np.cos(x)

    expected = brentq(unbalance, -2.0, 1.0, xtol=1e-15)
    rest = fa.equilibrium(arm, [0.0, RATIO * angle], held="motors").check()
    assert_allclose(rest.q, [expected, RATIO * angle], rtol=1e-12)
    assert_allclose(rest.tau, [0.0, WEIGHT * np.cos(expected) / RATIO], rtol=1e-11)
    moved = fa.deflection(arm, [0.0, RATIO * angle], held="motors")
    assert_allclose(moved[:3], [0.0, angle - expected, 0.0], rtol=0.0, atol=1e-12)
    # the same with a brake in place of the motor
    braked = lifted(locked=RATIO * angle)
    rest = fa.equilibrium(braked, [0.0], held="motors").check()
    assert_allclose(rest.q, [expected], rtol=1e-12)
    sag = fa.deflection(braked, [0.0], held="motors")
    assert_allclose(sag, moved, rtol=0.0, atol=1e-12)
    # and with the torque of the motor in place of its angle
    start = [[0.2, 0.3 * RATIO], [-0.2, 0.0]]
    torque = WEIGHT * np.cos(expected) / RATIO
    free = fa.equilibrium(arm, start, held=None, tau=[torque])
    assert free.success.all()
    assert_allclose(free.q[:, 0], [expected, -expected], rtol=1e-9)
    ahead = free.q[:, 0] + WEIGHT * np.cos(expected) / STIFFNESS
    assert_allclose(free.q[:, 1], RATIO * ahead, rtol=1e-9)
    # a constant torque is no spring: above the level it throws the rod over
    assert list(free.stable) == [False, True]


def test_frequencies_of_a_drive() -> None:
    arm = lifted(gravity=False)
    J = INERTIA + MASS * REACH**2
    q = np.zeros(2)
    locked = fa.natural_frequencies(arm, q, held="motors")
    assert_allclose(locked, [np.sqrt(STIFFNESS / J) / TWO_PI], rtol=1e-12)
    free = fa.vibration_modes(arm, q)
    reduced = 1.0 / J + 1.0 / (RATIO**2 * ROTOR)
    assert free.rigid[0]
    assert_allclose(free.frequencies[1], np.sqrt(STIFFNESS * reduced) / TWO_PI, 1e-12)
    # motor and joint turn against each other
    assert_allclose(
        J * free.shapes[0, 1], -RATIO * ROTOR * free.shapes[1, 1], rtol=1e-10
    )
    alone = fa.natural_frequencies(arm, q, held=["rod"])
    assert_allclose(alone, [np.sqrt(STIFFNESS / ROTOR) / abs(RATIO) / TWO_PI], 1e-12)


def test_compliance_of_links_and_drives_adds_up() -> None:
    arm = chain()
    rest = fa.equilibrium(arm.replace(gravity=(0, 0, 0)), np.zeros(arm.nq)).check()
    weightless = arm.replace(gravity=(0, 0, 0))
    links = fa.Arm.static_compliance(weightless, rest.q, held="joints")
    both = fa.Arm.static_compliance(weightless, rest.q, held="motors")
    J = fa.jacobian(weightless, rest.q)[:, :2]
    shafts = J @ np.diag([1.0 / 400.0, 1.0 / 200.0]) @ J.T
    assert_allclose(both, links + shafts, rtol=0.0, atol=1e-14)


def test_inverse_statics_finds_joints_and_motors() -> None:
    arm = chain()
    target = [[1.5, 0.3, 0.0], [0.9, -0.8, 0.0]]
    start = np.zeros(arm.nq)
    start[:2] = 0.5, -0.7
    found = fa.inverse_statics(arm, target, start).check()
    assert_allclose(fa.tip_pose(arm, found.q)[:, :3, 3], target, rtol=0.0, atol=1e-9)
    # motors held where they are told hold the tip there
    held = np.array(found.q)
    held[:, :2] += 0.05
    held[:, 4:] = 0.0
    rest = fa.equilibrium(arm, held, held="motors").check()
    assert_allclose(rest.q, found.q, rtol=0.0, atol=1e-9)
    ratio = np.array([20.0, 21.0])
    assert_allclose(found.tau, rest.tau[:, 2:4], rtol=1e-9)
    # q_motor = N (q_joint + tau_joint / K)
    lead = ratio * (found.q[:, :2] + found.tau * ratio / [400.0, 200.0])
    assert_allclose(found.q[:, 2:4], lead, rtol=1e-10)
    # forces of the actuators alone keep it at rest
    qdd = fa.forward_dynamics(arm, rest.q, np.zeros(arm.nv), found.tau)
    assert abs(qdd).max() < 1e-6


def test_maps_take_the_wind_up_of_drives_for_deflection() -> None:
    arm = chain()
    grid = fa.joint_grid(arm, {"link1": [0.0, 0.4], "link2": [-0.5, -1.0]})
    found = fa.workspace_map(arm, grid)
    assert found.success.all()
    q = found.q[1, 0]
    assert_allclose(q[:2], grid[1, 0, :2])
    assert_allclose(
        found.deflection[1, 0],
        fa.deflection(arm, q, held="motors"),
        rtol=0.0,
        atol=1e-10,
    )
    assert_allclose(
        found.frequencies[1, 0], fa.natural_frequencies(arm, q, held="motors"), 1e-9
    )
    joints_only = fa.deflection(arm, q)
    assert found.sag[1, 0] > np.linalg.norm(joints_only[3:])


def test_a_spring_at_a_free_joint() -> None:
    joint = fa.Joint(axis=(0, -1, 0), stiffness=40.0, rest=0.2)
    rod = fa.RigidBody("rod", joint, mass=1.0, com=(0.5, 0, 0))
    arm = fa.Arm([rod])

    def torque(x: float) -> float:
        return 40.0 * (x - 0.2) + 9.81 * 0.5 * np.cos(x)

    expected = brentq(torque, -2.0, 1.0, xtol=1e-15)
    rest = fa.equilibrium(arm, [0.0], held=None).check()
    assert_allclose(rest.q, [expected], rtol=1e-12)
    square = (40.0 - 9.81 * 0.5 * np.sin(expected)) / 0.25
    assert_allclose(rest.lowest_square, square, rtol=1e-10)
    assert_allclose(fa.holding_forces(arm, [0.2]), 9.81 * 0.5 * np.cos(0.2), rtol=1e-12)


# rigid gears and couplings


def test_a_rigid_gear_leads_motor_and_joint() -> None:
    arm = lifted(stiffness=np.inf).replace(couplings="constrained")
    q = np.array([[0.3, 0.0], [-0.8, 5.0]])
    rest = fa.equilibrium(arm, q).check()
    assert_allclose(rest.q[:, 0], q[:, 0])
    assert_allclose(rest.q[:, 1], RATIO * q[:, 0], rtol=1e-14)
    torque = WEIGHT * np.cos(q[:, 0]) / RATIO
    assert_allclose(rest.tau[:, 1], torque, rtol=1e-12)
    assert (rest.tau[:, 0] == 0.0).all() and (rest.lowest_square == np.inf).all()
    assert_allclose(fa.holding_forces(arm, q)[:, 0], torque, rtol=1e-12)
    turned = fa.equilibrium(arm, [0.0, RATIO * 0.3], held="motors").check()
    assert_allclose(turned.q, [0.3, RATIO * 0.3], rtol=1e-14)
    assert_allclose(turned.tau[1], WEIGHT * np.cos(0.3) / RATIO, rtol=1e-12)
    # hanging free, with the reflected inertia of the rotor
    hang = fa.equilibrium(arm, [-1.5, 0.0], held=None).check()
    assert_allclose(hang.q, [-np.pi / 2.0, -RATIO * np.pi / 2.0], rtol=1e-10)
    square = WEIGHT / (INERTIA + MASS * REACH**2 + RATIO**2 * ROTOR)
    assert_allclose(hang.lowest_square, square, rtol=1e-10)
    modes = fa.vibration_modes(arm, hang.q)
    assert_allclose(modes.squares, [square], rtol=1e-10)
    assert_allclose(modes.shapes[1], RATIO * modes.shapes[0], rtol=1e-12)
    assert_allclose(modes.participation.sum(), 1.0, rtol=1e-12)
    assert "rod.motor" in str(modes)


def test_a_stiff_drive_tends_to_a_rigid_gear() -> None:
    q = [-np.pi / 2.0, -RATIO * np.pi / 2.0]
    rigid = fa.natural_frequencies(lifted(stiffness=np.inf), q[:1])
    stiff = fa.natural_frequencies(lifted(stiffness=1e9), q)
    assert_allclose(stiff[:1], rigid, rtol=1e-6)
    assert len(rigid) == 1 and len(stiff) == 2


def test_coupled_joints_of_a_flexible_arm() -> None:
    # a mechanism that turns the second link back by as much as the first turns
    base = planar_chain(2, n_modes=2, bending_stiffness=150.0)
    tie = fa.Coupling({"link1": 1.0, "link2": 1.0}, constant=0.2)
    arm = base.replace(constraints=[tie], couplings="constrained")
    start = np.zeros(arm.nq)
    start[0] = -1.2
    rest = fa.equilibrium(arm, start, held=None).check()
    assert_allclose(rest.q[0] + rest.q[1], 0.2, rtol=0.0, atol=1e-13)

    def energy(angle: float) -> float:
        q = start.copy()
        q[:2] = angle, 0.2 - angle
        return float(fa.potential_energy(base, fa.equilibrium(base, q).q))

    h = 1e-4
    slope = (energy(rest.q[0] + h) - energy(rest.q[0] - h)) / (2.0 * h)
    assert abs(slope) < 1e-6
    f = fa.natural_frequencies(arm, rest.q)
    every = fa.natural_frequencies(base, rest.q)
    assert len(f) == 5 and (f >= every[:5] - 1e-9).all()  # a tie lowers none
    assert (f <= every[1:] + 1e-9).all()
    C = fa.Arm.static_compliance(arm, rest.q, held=None)
    assert np.isfinite(C).all()
    with pytest.raises(fa.ArgumentError, match="inverse_kinematics moves the joints"):
        fa.inverse_statics(arm, [1.0, 0.0, 0.0])


def test_loops_are_refused() -> None:
    three = planar_chain(3, length=1.0)
    loop = fa.Loop(("link3", "tip"), kind="revolute", position2=(1, 0, 0))
    arm = three.replace(constraints=[loop])
    with pytest.raises(fa.ArgumentError, match="the arm has loops"):
        fa.equilibrium(arm, np.zeros(3))


def test_a_rod_sinks_onto_its_stop() -> None:
    stops = fa.Stops(lower=-0.1, stiffness=200.0)
    joint = fa.Joint(axis=(0, -1, 0), stops=stops)
    arm = fa.Arm([fa.RigidBody("rod", joint, mass=1.0, com=(0.5, 0, 0))])
    rest = fa.equilibrium(arm, [[0.9], [0.0]], held=None, seek="stable").check()

    def torque(x: float) -> float:
        return 200.0 * (x + 0.1) + 9.81 * 0.5 * np.cos(x)

    expected = brentq(torque, -1.0, 0.0, xtol=1e-15)
    assert_allclose(rest.q[:, 0], expected, rtol=1e-12)
    # without a descent the nearest is the one that stands
    above = fa.equilibrium(arm, [0.9], held=None)
    assert_allclose(above.q, np.pi / 2.0, rtol=1e-14)
    assert not above.stable
