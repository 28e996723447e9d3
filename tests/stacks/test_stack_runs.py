"""Time loops and inverse kinematics of stacks: those of each arm alone."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from test_stacks import assert_equal, sweep

import flexarm as fa
from flexarm import ArgumentError, NotFiniteError
from flexarm._calls.records import Rollout
from flexarm.arm import Arm

LANES = ("rk4", "ROS34PW2")
BY_ARM = ("newmark", "generalized-alpha", "Rodas4P", "RK45")
T = np.linspace(0.0, 0.02, 11)


def chain() -> Arm:
    return fa.library.planar_chain(2, n_modes=2, bending_stiffness=4.0)


def start(arm: Arm, *shape: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    q, qd = np.zeros((*shape, arm.nq)), np.zeros((*shape, arm.nv))
    q[..., : arm.nu] = rng.normal(size=(*shape, arm.nu))
    qd[..., : arm.nu] = rng.normal(size=(*shape, arm.nu))
    return q, qd


def assert_same(run: fa.Trajectory, alone: fa.Trajectory, at: Any, bits: bool) -> None:
    assert run.success and alone.success
    for name in ("q", "qd", "tau", "energy", "tip"):
        got, expected = getattr(run, name)[at], getattr(alone, name)
        if bits and name in ("q", "qd", "tau"):
            assert np.array_equal(got, expected)
        else:
            assert_equal(got, expected)
    assert (run.steps is None) == (alone.steps is None)
    if run.steps is not None:
        assert run.steps[at] == alone.steps and run.rejected[at] == alone.rejected


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("method", [*LANES, *BY_ARM])
def test_each_arm_runs_alone(method: str, threads: int) -> None:
    arms = sweep(chain(), 1, 5)
    q0, qd0 = start(arms[0], 5)
    tau = np.random.default_rng(1).normal(size=(len(T), 2))
    options: dict[str, Any] = {"torque": tau, "method": method, "max_step": 1e-3}
    run = fa.simulate(arms, q0, qd0, T, threads=threads, **options)
    assert run.q.shape == (5, len(T), arms.nq) and run.arm is arms
    assert "5 trajectories" in repr(run)
    for i, arm in enumerate(arms):
        alone = fa.simulate(arm, q0[i], qd0[i], T, **options)
        assert_same(run, alone, i, method in BY_ARM)


@pytest.mark.parametrize("method", [*LANES, "newmark"])
def test_axes_of_a_stack_broadcast(method: str) -> None:
    arms = sweep(chain(), 2, 3)
    q0, qd0 = start(arms[0], 7)
    tau = np.random.default_rng(1).normal(size=(3, 1, len(T), 2))
    run = fa.simulate(
        arms[:, None], q0, qd0[0], T, torque=tau, method=method, max_step=1e-3
    )
    assert run.q.shape == (3, 7, len(T), arms.nq)
    for i, k in [(0, 0), (1, 6), (2, 3)]:
        alone = fa.simulate(
            arms[i], q0[k], qd0[0], T, torque=tau[i, 0], method=method, max_step=1e-3
        )
        assert_same(run, alone, (i, k), method == "newmark")
    again = pickle.loads(pickle.dumps(run))
    assert np.array_equal(again.energy, run.energy)


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
@pytest.mark.parametrize("method", [*LANES, "newmark"])
def test_feedback_and_functions(method: str) -> None:
    arms = sweep(chain(), 4, 5)
    q0, qd0 = start(arms[0], 5)
    kp = np.linspace(5.0, 9.0, 5)[:, np.newaxis] * np.ones(2)
    law = fa.control.JointFeedback(kp, [0.5, 0.5], [0.0, 0.0])
    run = fa.simulate(arms, q0, qd0, T, torque=law, method=method, max_step=1e-3)
    for i, arm in enumerate(arms):
        own = fa.control.JointFeedback(kp[i], [0.5, 0.5], [0.0, 0.0])
        alone = fa.simulate(
            arm, q0[i], qd0[i], T, torque=own, method=method, max_step=1e-3
        )
        assert_same(run, alone, i, method == "newmark")

    def torque(t: float, q: Any, qd: Any) -> Any:
        return -3.0 * q[..., :2] - 0.1 * qd[..., :2] + t

    if method == "newmark":
        with pytest.raises(ArgumentError, match="'newmark' runs a stack arm by arm"):
            fa.simulate(arms, q0, qd0, T, torque=torque, method=method)
        return
    many = arms[np.arange(11) % 5]  # the arms of a block change from stage to stage
    q0, qd0 = start(arms[0], 11)
    run = fa.simulate(many, q0, qd0, T, torque=torque, method=method, max_step=1e-3)
    for i in range(11):
        alone = fa.simulate(
            many[i], q0[i], qd0[i], T, torque=torque, method=method, max_step=1e-3
        )
        assert_same(run, alone, i, False)


def test_joints_with_quaternions_loops_and_drives() -> None:
    rng = np.random.default_rng(0)
    free = fa.library.random_tree(3, 3, max_modes=2, joints=("spherical", "revolute"))
    bar = fa.library.planar_chain(3, length=1.0).replace(
        constraints=[
            fa.Loop(("link3", "tip"), kind="revolute", position2=(1.0, 0.0, 0.0))
        ]
    )
    for base, method in [(free, "rk4"), (free, "ROS34PW2"), (bar, "rk4")]:
        arms = fa.stack(
            [base.replace(gravity=(0.0, -g, 0.0)) for g in rng.uniform(1, 9, 5)]
        )
        q0 = np.array(base.neutral)
        if base is bar:
            q0 = fa.close_loops(bar, [2.0, -1.5, -1.5])
        qd0 = np.zeros(base.nv)
        run = fa.simulate(arms, q0, qd0, T, method=method, max_step=1e-3)
        for i, arm in enumerate(arms):
            alone = fa.simulate(arm, q0, qd0, T, method=method, max_step=1e-3)
            assert_same(run, alone, i, False)


@pytest.mark.parametrize("method", ["rk4", "newmark"])
def test_events(method: str) -> None:
    arms = fa.stack([fa.library.pendulum(mass=1.0, com=c) for c in (0.3, 0.5, 1.0)])
    t = np.linspace(0.0, 1.0, 201)
    event = fa.events.joint_reaches(arms[0], 0, -0.5, terminal=True)
    run = fa.simulate(arms, [0.0], [0.0], t, method=method, events=event)
    assert [o.trajectory for o in run.events] == [(0,), (1,), (2,)]
    for i, arm in enumerate(arms):
        alone = fa.simulate(arm, [0.0], [0.0], t, method=method, events=event)
        assert_equal(np.array(run.events[i].t), np.array(alone.events[0].t))
        assert np.array_equal(np.isnan(run.q[i]), np.isnan(alone.q))


def test_no_arms_and_runs_that_fail() -> None:
    arms = sweep(chain(), 5, 3)
    q0, qd0 = start(arms[0], 3)
    for method in ("rk4", "newmark"):
        run = fa.simulate(arms[:0], q0[:0], qd0[:0], T, method=method)
        assert run.q.shape == (0, len(T), arms.nq) and run.success
    stiff = fa.stack([arms[0], chain().replace(gravity=(0.0, -9.81, 0.0))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        t = np.arange(5.0)
        run = fa.simulate(stiff, q0[:2], qd0[:2], t, max_step=1.0)
    assert not run.success and "stability limit" in run.message
    with pytest.raises(ArgumentError, match=r"stack \(3,\), expected equal lengths"):
        fa.simulate(arms, q0[:2], qd0[:2], T)
    with pytest.raises(ArgumentError, match="arm is int, expected"):
        fa.simulate(3, q0, qd0, T)  # type: ignore[arg-type]
    core = arms._shared[0]
    q, qd, tau = (np.zeros((3, 2, n)) for n in (arms.nq, arms.nv, 2))
    given = Rollout(q, qd, np.array([[0.0, 1.0]]), "rk4", 1, None, False, tau)
    for numbers in ([0, 1, 3], [-1, 0, 0]):
        with pytest.raises(ValueError, match="an arm that is not there"):
            core.rollout(given._replace(arms=np.array(numbers)))
    with pytest.raises(ValueError, match="arms has the wrong shape"):
        core.rollout(given._replace(arms=np.array([0, 1])))
    with pytest.raises(ValueError, match="no arms, or no method"):
        core.rollout(given._replace(arms=np.arange(3), method="newmark"))
    with pytest.raises(ValueError, match="no arms, or no method"):
        core.rollout(given)


def test_inverse_kinematics_of_each_arm() -> None:
    base = fa.library.iiwa14()
    arms = fa.stack(
        [
            base.replace(
                bodies=[
                    b.replace(joint=b.joint.replace(position=s * b.joint.position))
                    for b in base.bodies
                ]
            )
            for s in (1.0, 1.1, 1.05)
        ]
    )
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (4, 7))
    target = fa.tip_pose(base, q)
    target[3, 0, 3] = 9.0  # out of reach
    found = fa.inverse_kinematics(arms[:, None], target, threads=2)
    assert found.q.shape == (3, 4, 7) and found.success[:, :3].all()
    assert not found.success[:, 3].any()
    assert "3 of 12 targets are not reached, the first at index (0, 3)" in found.message
    for i, arm in enumerate(arms):
        alone = fa.inverse_kinematics(arm, target)
        assert np.array_equal(found.q[i], alone.q)
        assert np.array_equal(found.iterations[i], alone.iterations)
    places = fa.inverse_kinematics(arms, target[:3, :3, 3], q[:3])
    assert places.success.all()
    assert_equal(fa.tip_pose(arms, places.q)[:, :3, 3], target[:3, :3, 3])
    assert fa.inverse_kinematics(arms[:0], target[:0]).q.shape == (0, 7)
    with pytest.raises(ArgumentError, match=r"stack \(3,\), expected equal lengths"):
        fa.inverse_kinematics(arms, target)
    bad = target[:3].copy()
    bad[1, 0, 3] = np.nan
    with pytest.raises(NotFiniteError, match=r"for 1 of 3 targets, first") as caught:
        fa.inverse_kinematics(arms, bad)
    assert caught.value.index == (1,)
    assert np.isfinite(caught.value.result.q[[0, 2]]).all()
