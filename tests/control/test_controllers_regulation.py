"""PD with gravity and elastic compensation: set points reached, gains that must not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import FLEX, PUMA, argument_refused, rod

import flexarm as fa
from flexarm import ArgumentError, control

CHAIN = fa.library.planar_chain(2, n_modes=2, damping=0.5)
TARGET = np.array([0.4, -0.7])
GAINS: Any = (60.0, 12.0)


def settled(arm: fa.Arm, law: Any, q0: Any, last: float = 6.0) -> Any:
    t = np.linspace(0.0, last, round(last / 5e-3) + 1)
    run = fa.simulate(
        arm, q0, np.zeros(arm.nv), t, torque=law.feedback(), method="ROS34PW2"
    )
    assert run.success
    return run


def elastic_joint(stiffness: float = 200.0, ratio: float = 20.0) -> fa.Arm:
    """A rod of m g c = 4.905 N m behind a shaft."""
    drive = fa.Drive(
        stiffness, gear_ratio=ratio, rotor_inertia=1e-3, damping=1.0, motor_damping=1e-3
    )
    return fa.Arm([rod(joint=fa.Joint("revolute", drive=drive))], gravity=(0, -9.81, 0))


def test_flexible_links_end_where_they_should() -> None:
    law = control.SetPointPD(CHAIN, *GAINS, TARGET)
    run = settled(CHAIN, law, fa.equilibrium(CHAIN, np.zeros(6)).q)
    assert_allclose(run.q[-1], law.q, rtol=0, atol=2e-4)
    assert abs(run.q[-1, 2:]).max() > 5e-3  # bent all the same
    assert_allclose(law.feedforward, fa.holding_forces(CHAIN, law.q), rtol=1e-12)
    # without compensation gravity pulls the joints off by Kp^-1 of their load
    bare = control.SetPointPD(CHAIN, *GAINS, TARGET, "none")
    end = settled(CHAIN, bare, law.q).q[-1]
    assert abs(end[:2] - TARGET).max() > 0.05
    held = fa.holding_forces(CHAIN, end)
    assert_allclose(GAINS[0] * (TARGET - end[:2]), held, rtol=1e-3)


def test_law_and_its_feedback_are_the_same() -> None:
    law = control.SetPointPD(CHAIN, [60.0, 30.0], [12.0, 3.0], TARGET)
    t = np.linspace(0.0, 0.01, 101)
    start = np.zeros((2, 3, 6))
    start[..., 0] = np.linspace(-0.2, 0.2, 6).reshape(2, 3)
    runs = [
        fa.simulate(CHAIN, start, np.zeros(6), t, torque=torque)
        for torque in (law, law.feedback())
    ]
    assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-12)


def test_compensation_at_the_present_state() -> None:
    rng = np.random.default_rng(1)
    q, qd = rng.normal(size=(2, 5, 6))
    none = control.SetPointPD(PUMA, 500.0, 50.0, np.zeros(6), "none")(0.0, q, qd)
    g = fa.gravity_forces(PUMA, q)
    for compensation in ("gravity", "current"):  # the same for a rigid arm
        law = control.SetPointPD(PUMA, 500.0, 50.0, np.zeros(6), compensation)
        assert_allclose(law(0.0, q, qd) - none, g, rtol=1e-9, atol=1e-9)
    # of a flexible arm that hangs in its equilibrium no acceleration is left
    rest = fa.equilibrium(CHAIN, [[0.3, 0.2, 0, 0, 0, 0], [-1.0, 2.0, 0, 0, 0, 0]])
    law = control.SetPointPD(CHAIN, *GAINS, rest.q[:, :2], "current")
    tau = law(0.0, rest.q, np.zeros((2, 6)))
    assert_allclose(fa.forward_dynamics(CHAIN, rest.q, 0 * rest.q, tau), 0, atol=1e-6)


def test_elastic_joints_after_tomei() -> None:
    arm = elastic_joint()
    law = control.SetPointPD(arm, 0.2, 0.02, [0.3])
    load = 4.905 * np.cos(0.3)
    assert_allclose(law.reference, 20.0 * (0.3 + load / 200.0), rtol=1e-12)
    assert_allclose(law.feedforward, load / 20.0, rtol=1e-12)
    run = settled(arm, law, fa.equilibrium(arm, [-0.8, 0.0]).q)
    assert_allclose(run.q[-1], law.q, rtol=0, atol=1e-3)
    # gravity through the gear: -m g c sin q in series with the shaft, over N^2
    grav = -4.905 * np.sin(0.3)
    series = grav * 200.0 / (grav + 200.0) / 400.0
    assert_allclose(
        control.regulation._actuator_stiffness(arm, [0.3, 0.0]), [[series]], rtol=1e-10
    )
    grid = fa.joint_grid(arm, {"rod": np.linspace(-3.1, 3.1, 21)})
    assert law.margin(grid).min() > 0.18
    assert control.SetPointPD(arm, 0.01, 0.02, [0.3]).margin(grid).min() < 0.0
    # the law at the state, with gravity through the gear or that of the equilibrium
    q = fa.equilibrium(arm, [0.3, 0.0]).q
    for compensation in ("gravity", "current"):
        other = law.replace(compensation=compensation)
        assert_allclose(other(0.0, q, [0.0, 0.0]), load / 20.0, rtol=1e-9)


def test_energy_with_that_of_the_gains_never_rises() -> None:
    law = control.SetPointPD(CHAIN, *GAINS, TARGET)
    run = settled(CHAIN, law, np.zeros(6), 1.0)
    error = run.q[..., :2] - law.target
    work = (law.feedforward * run.q[..., :2]).sum(-1)
    V = run.energy + 0.5 * (law.kp * error**2).sum(-1) - work
    assert np.diff(V).max() < 1e-6 * V[0]
    assert V[-1] < V[0]


def test_set_points_and_gains_of_regulators_have_to_fit() -> None:
    up = [np.pi / 2]
    pendulum = fa.library.pendulum(mass=2.0, com=0.5)

    def law(arm: fa.Arm, *args: Any, **options: Any) -> Any:
        return lambda: control.SetPointPD(arm, *args, **options)

    argument_refused(
        ["kp is [9.]", "not above the gravity stiffness of 9.81", "larger gains"],
        law(pendulum, 9.0, 1.0, up),
    )
    control.SetPointPD(pendulum, 9.82, 1.0, up)
    argument_refused(["kp is [0. 1.]"], law(FLEX, [0.0, 1.0], 1.0, [0.0, 0.0]))
    argument_refused(["kd[0] is -1", "zero or"], law(pendulum, 9.9, -1.0, up))
    argument_refused(["target has shape (3,)"], law(FLEX, 1.0, 1.0, [0.0] * 3))
    argument_refused(["target[0] is nan"], law(FLEX, 1.0, 1.0, [np.nan, 0.0]))
    argument_refused(
        ["compensation is 'all'", "'set point'"],
        law(FLEX, 1.0, 1.0, [0.0, 0.0], compensation="all"),
    )
    argument_refused(
        ["depends on the state", "'set point' or 'none'"],
        control.SetPointPD(FLEX, 1.0, 1.0, [0.0, 0.0], "gravity").feedback,
    )
    argument_refused(
        ["leading axes do not broadcast", "target (2,)"],
        law(FLEX, [[1.0, 1.0]] * 3, 1.0, [[0.0, 0.0]] * 2),
    )
    floating = fa.Arm([rod(joint=fa.Joint("free"))])
    argument_refused(["quaternions"], law(floating, 1.0, 1.0, [0.0] * 6))


def test_a_law_that_returns_nan_is_reported_with_its_time() -> None:
    def torque(t: float, q: Any, qd: Any) -> Any:
        return np.full(2, np.nan if t > 0.05 else 0.0)

    with pytest.raises(ArgumentError, match=r"torque function returned \[nan nan\] at"):
        fa.simulate(FLEX, np.zeros(6), np.zeros(6), [0.0, 0.1], torque=torque)
    t = np.linspace(0.0, 0.1, 11)
    with pytest.raises(ArgumentError, match=r"at t = 0\.05\d*, expected finite forces"):
        fa.simulate(FLEX, np.zeros(6), np.zeros(6), t, torque=torque)
