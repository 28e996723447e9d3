"""Joints without an actuator: forces, inputs and limits count actuators alone."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from arrays import Array
from drive_cases import driven
from each import each
from numpy.testing import assert_allclose
from trees import SEVERAL, idle, random_state

import flexarm as fa
from flexarm.simulation.methods import METHODS

STILL = [0.0, 0.0]


def cart_pole() -> fa.Arm:
    """A cart with a force on it, and a pole that stands up at zero."""
    cart = fa.RigidBody("cart", fa.Joint("prismatic", axis=(1, 0, 0)), mass=1.0)
    pivot = fa.Joint(axis=(0, 1, 0), actuated=False, name="pivot")
    pole = fa.RigidBody(
        "pole", pivot, mass=0.3, com=(0, 0, 0.5), inertia=(0.01, 0.01, 0.01)
    )
    return fa.Arm([cart, pole], gravity=(0, 0, -9.81), check_units=False)


def double_pendulum(*actuated: bool) -> fa.Arm:
    """A Pendubot or an Acrobot, which stands up at zero."""
    links = []
    for k, drives in enumerate(actuated):
        place = (0, 0, float(k > 0))
        joint = fa.Joint(axis=(0, 1, 0), actuated=drives, position=place, node=0)
        links.append(
            fa.RigidBody(
                f"link{k + 1}",
                joint,
                mass=1.0,
                com=(0, 0, 0.5),
                inertia=(0.08, 0.08, 0.08),
            )
        )
    return fa.Arm(links, gravity=(0, 0, -9.81), check_units=False)


def whole(arm: fa.Arm) -> fa.Arm:
    """The same arm with an actuator at each joint."""
    return arm.replace(
        bodies=[b.replace(joint=b.joint.replace(actuated=True)) for b in arm.bodies]
    )


def spread(arm: fa.Arm, u: Array) -> Array:
    """Forces on all coordinates."""
    tau = np.zeros((*u.shape[:-1], arm.nv))
    tau[..., arm.actuator_indices] = u
    return tau


def tree(seed: int) -> fa.Arm:
    joints = SEVERAL if seed % 2 else SEVERAL[:3]
    arm = fa.library.random_tree(seed, 6, max_modes=2, joints=joints)
    return idle(arm if seed % 4 else driven(arm, seed), seed)


@each("seed", range(8))
def test_forces_of_actuators(seed: int) -> None:
    arm = tree(seed)
    full = whole(arm)
    assert arm.nu < arm.nj == full.nu == arm.joint_slice.stop
    assert arm.coordinate_names == full.coordinate_names
    assert f"({arm.nu} actuated)" in repr(arm) and "actuated" not in repr(full)
    rng = np.random.default_rng(seed)
    states = [random_state(rng, arm, amplitude=0.05) for _ in range(9)]
    q, qd, _ = (np.array(x) for x in zip(*states, strict=True))
    u = rng.normal(size=(9, arm.nu))
    for method in ("articulated", "composite", "basic"):
        found = fa.forward_dynamics(arm, q, qd, u, method=method)
        tau = spread(arm, u)
        assert np.array_equal(
            found, fa.forward_dynamics(full, q, qd, tau, method=method)
        )
        assert np.array_equal(
            found, fa.forward_dynamics(arm, q, qd, tau, method=method)
        )
    one = fa.forward_dynamics(arm, q[0], qd[0], u[0])
    assert np.array_equal(one, fa.forward_dynamics(full, q[0], qd[0], tau[0]))
    for by, expected in zip(
        fa.forward_dynamics_derivatives(arm, q, qd, u),
        fa.forward_dynamics_derivatives(full, q, qd, tau),
        strict=True,
    ):
        assert np.array_equal(by, expected)
    copy = pickle.loads(pickle.dumps(arm))
    assert copy == arm != full and copy.nu == arm.nu
    arms = fa.stack([arm, arm.replace(gravity=(0.0, 0.0, -5.0))])
    assert (arms.nu, arms.nj) == (arm.nu, arm.nj)
    found = fa.forward_dynamics(arms[:, None], q, qd, u)[0]
    expected = fa.forward_dynamics(arm, q, qd, u)
    assert_allclose(found, expected, rtol=0.0, atol=1e-9 * np.abs(expected).max())
    with pytest.raises(fa.ArgumentError, match="drives, actuators"):
        fa.stack([arm, full])


@each("method", [*METHODS, "RK45"])
def test_time_loops(method: str) -> None:
    t, arm = np.linspace(0.0, 0.3, 7), fa.library.planar_chain(3)
    first, second, third = arm.bodies
    second = second.replace(joint=second.joint.replace(actuated=False))
    arm = arm.replace(bodies=[first, second, third])
    u = np.stack([np.sin(9.0 * t), np.cos(5.0 * t)], axis=1)
    start = [0.1, 0.2, -0.3], [0.0, -0.3, 0.4]
    options: dict[str, Any] = {"method": method, "max_step": 2e-3}
    run = fa.simulate(arm, *start, t, torque=u, **options)
    other = fa.simulate(whole(arm), *start, t, torque=spread(arm, u), **options)
    assert run.success and np.array_equal(run.tau, u)
    assert_allclose(run.q, other.q, rtol=0.0, atol=1e-12)
    # a feedback of the actuated joints is one of all without gains at the others
    gains = np.array([[400.0, 90.0], [30.0, 9.0], [0.5, -0.2]])
    law = fa.control.JointFeedback(*gains)
    run = fa.simulate(arm, *start, t, torque=law, **options)
    law = fa.control.JointFeedback(*np.insert(gains, 1, 0.0, axis=1))
    other = fa.simulate(whole(arm), *start, t, torque=law, **options)
    assert_allclose(run.q, other.q, rtol=0.0, atol=1e-11)
    assert_allclose(run.tau, other.tau[:, ::2], rtol=0.0, atol=1e-8)


@each(
    "arm",
    {
        "cart-pole": cart_pole(),
        "Pendubot": double_pendulum(True, False),
        "Acrobot": double_pendulum(False, True),
    },
)
def test_a_linear_law_stabilizes(arm: fa.Arm) -> None:
    model = fa.linearize(arm, STILL)
    at = int(arm.actuator_indices[0])
    assert model.inputs == (f"{arm.coordinate_names[at]} force",)
    unit = np.eye(2)[at]
    expected = np.concatenate(
        [STILL, np.linalg.solve(fa.mass_matrix(arm, STILL), unit)]
    )
    assert_allclose(model.B[:, 0], expected, atol=1e-12)
    assert np.linalg.eigvals(model.A).real.max() > 1.0
    law = fa.control.lqr(model, np.eye(4), [[0.1]])
    t = np.linspace(0.0, 8.0, 401)
    run = fa.simulate(arm, [0.02, -0.03], STILL, t, torque=law)
    assert run.success and run.tau.shape == (401, 1)
    assert np.abs(run.q[-1]).max() < 2e-2 and np.abs(run.q).max() < 1.0
    # the same law at samples, of estimated states
    sampled = fa.control.LinearController.state_feedback(law.K, STILL, dt=0.005)
    loop = fa.control.simulate_loop(
        arm, sampled, [0.02, -0.03], STILL, t, saturation=[60.0]
    )
    assert loop.success and loop.u.shape[-1] == 1
    assert np.abs(loop.q[-1]).max() < 2e-2


def test_an_arm_that_nobody_drives() -> None:
    arm = double_pendulum(False, False)
    assert arm.nu == 0 and len(arm.actuator_indices) == 0
    q, qd = np.array([0.3, 0.4]), np.array([0.1, 0.2])
    free = fa.forward_dynamics(arm, q, qd, [0.0, 0.0])
    assert np.array_equal(fa.forward_dynamics(arm, q, qd, np.zeros(0)), free)
    run = fa.simulate(arm, q, qd, np.linspace(0.0, 0.5, 11), max_step=1e-3)
    assert run.success and run.tau.shape == (11, 0)
    assert_allclose(run.energy, run.energy[0], atol=1e-4)


def test_statics() -> None:
    arm = double_pendulum(True, False)
    # what no actuator holds turns to its equilibrium; held joints stay
    found = fa.equilibrium(arm, [0.3, 3.0], held="motors", seek="nearest")
    assert found.success and found.q[0] == 0.3
    assert_allclose(found.q[1], np.pi - 0.3, atol=1e-9)
    assert_allclose(found.tau[1], 0.0, atol=1e-9)
    assert_allclose(
        fa.holding_forces(arm, found.q), found.tau[[0]], rtol=0.0, atol=1e-9
    )
    with pytest.raises(fa.ArgumentError, match="hold 'link2', which has no actuator"):
        fa.holding_forces(arm, [0.3, 0.1])


def test_swing_up_of_a_cart_pole() -> None:
    arm = cart_pole()
    limits = fa.optimize.Limits(torque=30.0, position=[0.8, np.inf])
    up = fa.optimize.trajectory(arm, [0.0, np.pi], STILL, duration=2.0, limits=limits)
    assert up.success and up.tau.shape[1] == 1
    assert np.abs(up.q[:, 0]).max() <= 0.8 + 1e-6 and np.abs(up.tau).max() <= 30.0
    assert_allclose(up.verification.trajectory.q[-1], 0.0, atol=1e-2)
    with pytest.raises(fa.ArgumentError, match="hold 'pivot', which has no actuator"):
        fa.optimize.trajectory(arm, [0.0, 1.0], STILL, duration=2.0, limits=limits)


def test_a_base_without_actuator_floats() -> None:
    base = fa.RigidBody(
        "base", fa.Joint("free", actuated=False), mass=4.0, inertia=(1, 1, 1)
    )
    place = {"parent": "base", "node": 0, "position": (0.5, 0, 0)}
    link = fa.RigidBody("link", fa.Joint(**place), mass=1.0, com=(0.5, 0, 0))
    arm = fa.Arm([base, link], gravity=(0, 0, 0))
    start = np.append(arm.neutral[:7], 0.0)
    motion = fa.optimize.trajectory(arm, start, {"joints": {"link": 1.0}}, duration=2.0)
    assert motion.success and motion.tau.shape[1] == 1
    momentum = fa.momentum(arm, motion.q, motion.qd)
    assert_allclose(momentum, 0.0, atol=1e-6)


@each(
    "told, call",
    {
        "drives": (
            "a drive and actuated=False",
            lambda: fa.Joint(drive=fa.Drive(1e3, rotor_inertia=1.0), actuated=False),
        ),
        "kind": ("expected True or False", lambda: fa.Joint(actuated="no")),
        "tau": (
            r"expected a last axis of 1 \(one force per actuator\)|expected 1",
            lambda: fa.forward_dynamics(cart_pole(), STILL, STILL, [1.0, 2.0, 3.0]),
        ),
        "time": (
            "time_optimal takes an actuator for each joint, but there is none for "
            "'pivot'",
            lambda: fa.optimize.time_optimal(
                cart_pole(),
                [[0.0, np.pi], STILL],
                limits=fa.optimize.Limits(torque=9.0),
            ),
        ),
        "exciting": (
            "the arm has 2 coordinates of which 1 have actuators",
            lambda: fa.identification.exciting_motion(
                cart_pole(), None, np.linspace(0.0, 5.0, 501), sigma=1.0
            ),
        ),
        "law": (
            "SetPointPD takes an actuator",
            lambda: fa.control.SetPointPD(cart_pole(), STILL, 1.0, 1.0),
        ),
        "torque": (
            r"limits.torque has shape \(2,\), expected a number, \(1,\)",
            lambda: fa.optimize.trajectory(
                cart_pole(),
                STILL,
                STILL,
                duration=1.0,
                limits=fa.optimize.Limits(torque=[1.0, 2.0]),
            ),
        ),
    }.values(),
    ["drive", "kind", "tau", "time_optimal", "exciting_motion", "law", "torque"],
)
def test_what_needs_an_actuator_refuses_joints_without_one(
    told: str, call: Any
) -> None:
    with pytest.raises((fa.ModelError, fa.ArgumentError), match=told):
        call()
