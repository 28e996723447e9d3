"""Inverse kinematics as a call: batches, bits, strides, Ctrl-C, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gufuncs import assert_same_bits
from ik_cases import Array, postures, ready, rigid, soft_arm
from interrupts import interrupt_after
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm._core import FIDELITIES

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

# batches


def mixed(arm: fa.Arm, count: int) -> tuple[Array, Array]:
    """Targets that are reached, are not, and starts."""
    target = fa.tip_pose(arm, postures(arm, count, seed=21))
    target[::3, :3, 3] *= 2.0
    return target, postures(arm, count, seed=22, size=1.0)


@pytest.mark.parametrize("case", ["plain", "limits", "deflection"])
def test_equal_bits_alone_and_in_any_place(case: str) -> None:
    arm = soft_arm() if case == "deflection" else rigid("iiwa14")
    target, start = mixed(arm, 43)
    options: dict[str, Any] = {"restarts": 2, "max_iterations": 40}
    if case == "limits":
        options["limits"] = np.stack([np.full(7, -1.0), np.full(7, 1.2)])
    if case == "deflection":
        options["deflection"] = True
    batch = fa.inverse_kinematics(arm, target, start, **options)
    order = np.random.default_rng(0).permutation(43)
    other = fa.inverse_kinematics(arm, target[order], start[order], **options)
    for name in ("q", "residual", "success", "iterations"):
        assert_same_bits(getattr(other, name), getattr(batch, name)[order])
    for k in range(43):
        alone = fa.inverse_kinematics(arm, target[k], start[k], **options)
        assert_same_bits(alone.q, batch.q[k])
        assert_same_bits(alone.residual, batch.residual[k])
        assert alone.success == batch.success[k]
        assert alone.iterations == batch.iterations[k]


def test_leading_axes_broadcast_and_strides_do_not_matter() -> None:
    arm = rigid("puma560")
    target, start = mixed(arm, 12)
    plain = fa.inverse_kinematics(
        arm, target.reshape(3, 4, 4, 4), start[:4], restarts=1
    )
    assert plain.q.shape == (3, 4, 6)
    assert plain.residual.shape == (3, 4, 6)
    assert plain.success.shape == plain.iterations.shape == (3, 4)
    odd = np.asfortranarray(target)[::1].transpose(0, 2, 1).copy().transpose(0, 2, 1)
    far = np.repeat(start, 2, axis=0)[::2]
    again = fa.inverse_kinematics(arm, odd.reshape(3, 4, 4, 4), far[:4], restarts=1)
    assert_same_bits(again.q, plain.q)
    one = fa.inverse_kinematics(arm, target[0], start, restarts=0)
    assert one.q.shape == (12, 6)
    empty = fa.inverse_kinematics(arm, target[:0], start[0])
    assert empty.q.shape == (0, 6)
    assert empty.success.shape == (0,)


def test_arguments_are_not_changed() -> None:
    arm = rigid("iiwa14")
    target, start = mixed(arm, 5)
    before = target.copy(), start.copy()
    fa.inverse_kinematics(arm, target, start, restarts=1)
    fa.inverse_kinematics(arm, target[0], start[0], restarts=1)
    assert_same_bits(target, before[0])
    assert_same_bits(start, before[1])


def test_random_restarts_repeat() -> None:
    arm = rigid("puma560")
    target = fa.tip_pose(arm, postures(arm, 100, seed=1))
    limits = np.stack([np.full(6, -2.0), np.full(6, 2.5)])
    options: dict[str, Any] = {"limits": limits, "restarts": 3}
    a = fa.inverse_kinematics(arm, target, rng=5, **options)
    b = fa.inverse_kinematics(arm, target, rng=np.random.default_rng(5), **options)
    assert_same_bits(a.q, b.q)
    assert not a.success.all()
    c = fa.inverse_kinematics(arm, target, rng=6, **options)
    assert (a.q != c.q).any()


def test_joints_without_limits_end_within_half_a_turn_of_the_start() -> None:
    arm = rigid("puma560")
    rng = np.random.default_rng(5)
    targets = fa.tip_pose(arm, rng.uniform(-np.pi, np.pi, (200, 6)))
    start = np.array([7.0, -9.0, 0.3, 0.0, 1.0, -20.0])
    found = fa.inverse_kinematics(arm, targets, start)
    assert found.success.all()
    assert abs(found.q - start).max() <= np.pi * (1.0 + 1e-15)
    assert abs(fa.tip_pose(arm, found.q) - targets).max() < 1e-9
    limits = np.array([np.full(6, -np.inf), np.full(6, np.inf)])
    limits[:, 5] = -30.0, 30.0
    found = fa.inverse_kinematics(arm, targets, start, limits=limits)
    assert abs(found.q - start)[:, :5].max() <= np.pi * (1.0 + 1e-15)
    assert abs(found.q - start)[:, 5].max() > np.pi  # a limit may count turns


def test_ctrl_c() -> None:
    arm = rigid("iiwa14")
    target = np.broadcast_to(fa.tip_pose(arm, ready(arm)), (400_000, 4, 4)).copy()
    target[:, :3, 3] *= 5.0
    with pytest.raises(KeyboardInterrupt), interrupt_after(0.05):
        fa.inverse_kinematics(arm, target, restarts=100)


# refusals


def test_targets_that_are_nan_raise_and_spoil_no_other() -> None:
    arm = rigid("iiwa14")
    target, start = mixed(arm, 20)
    good = fa.inverse_kinematics(arm, target, start, restarts=1)
    target[3, 1, 2] = np.nan
    start[7, 0] = np.inf
    with pytest.raises(fa.NotFiniteError, match="2 of 20 targets, first at index") as e:
        fa.inverse_kinematics(arm, target, start, restarts=1)
    assert e.value.index == (3,)
    assert e.value.count == 2
    result = e.value.result
    fine = np.ones(20, dtype=bool)
    fine[[3, 7]] = False
    assert_same_bits(result.q[fine], good.q[fine])
    assert np.isnan(result.q[~fine]).all()
    assert np.isnan(result.residual[~fine]).all()
    assert not result.success[~fine].any()
    with pytest.raises(fa.NotFiniteError, match="no finite result: the target"):
        fa.inverse_kinematics(arm, target[3])


def branched() -> fa.Arm:
    """Two joints to the tip, two more beside them."""
    bodies = [
        fa.RigidBody(
            name,
            fa.Joint(parent=parent),
            mass=1.0,
            inertia=(0.1, 0.1, 0.1),
            nodes={"tip": (0.5, 0.0, 0.0)},
        )
        for name, parent in (("a", None), ("b", "a"), ("c", "a"), ("d", "c"))
    ]
    return fa.Arm(bodies, tip=("b", "tip"))


def test_restarts_leave_joints_that_do_not_move_the_node() -> None:
    arm = branched()
    start = np.array([0.1, 0.2, 0.3, 0.4])
    found = fa.inverse_kinematics(arm, [3.0, 0.0, 0.0], start)
    assert not found.success
    assert_same_bits(found.q[2:], start[2:])
    assert_allclose(found.q[:2], 0.0, rtol=0.0, atol=1e-6)  # stretched


@pytest.mark.parametrize("limits", ["joint", [[-2.0] * 4, [2.0] * 4]])
@pytest.mark.parametrize("joint", [0, 3])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_starts_that_are_no_numbers(limits: Any, joint: int, value: float) -> None:
    # within limits, and where no node is moved, too
    start = np.zeros((2, 4))
    start[1, joint] = value
    for target in ([0.5, 0.3, 0.0], fa.tip_pose(branched(), [0.5, 0.3, 0.0, 0.0])):
        with pytest.raises(fa.NotFiniteError, match="1 of 2 targets") as error:
            fa.inverse_kinematics(branched(), target, start, limits=limits)
        assert error.value.index == (1,)
        assert error.value.result.success.tolist() == [True, False]


def test_poses_are_refused_where_orientation_is_free_too() -> None:
    T = np.diag([1.0, 1.0, -1.0, 1.0])
    T[:3, 3] = 0.3, 0.2, 0.5
    weights = (0, 0, 0, 1, 1, 1)
    with pytest.raises(fa.ArgumentError, match="determinant -1,"):
        fa.inverse_kinematics(rigid("iiwa14"), T, weights=weights)


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
def test_restarts_begin_at_the_modes_that_were_given() -> None:
    # modes that a first run left far from equilibrium spoil no other
    arm = soft_arm("ruthless")
    load = np.array([0.0, 0.0, 0.0, 0.0, 0.0, -14.0])
    options: dict[str, Any] = {"deflection": True, "wrench": load, "frame": "base"}
    # which targets a single run misses is a matter of rounding: 13 of these 70
    axes = ([-0.5, -0.25, 0.0, 0.25, 0.5], [-0.9, -0.7], np.linspace(-0.5, 0.7, 7))
    points = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 3)
    alone = fa.inverse_kinematics(arm, points, restarts=0, **options)
    missed = points[~alone.success]
    assert len(missed)
    found = fa.inverse_kinematics(arm, missed, **options)
    assert found.success.all()
    assert_allclose(fa.tip_pose(arm, found.q)[:, :3, 3], missed, rtol=0.0, atol=1e-9)
    q = found.q.copy()
    q[:, : arm.nu] = 0.0
    force = fa.gravity_forces(arm, found.q) + q @ arm.stiffness_matrix
    force -= fa.wrench_forces(arm, found.q, load, frame="base")
    assert_allclose(force[:, arm.nu :], 0.0, rtol=0.0, atol=1e-8)


def test_a_node_that_nothing_moves() -> None:
    # reached at once, the modes need some steps more
    arm = soft_arm()
    options: dict[str, Any] = {"node": 0, "deflection": True, "frame": "base"}
    options["wrench"] = [0.0, 0.0, 0.0, 0.0, 0.2, -0.3]
    place = fa.node_pose(arm, arm.neutral, 0)[:3, 3]
    found = fa.inverse_kinematics(arm, place, restarts=0, **options)
    assert found.success
    assert found.iterations < 10
    away = fa.inverse_kinematics(arm, place + 1.0, **options)
    assert not away.success
    assert np.isfinite(away.q).all()


@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_loads_without_equilibrium_raise(fidelity: str) -> None:
    arm = soft_arm(fidelity)
    options: dict[str, Any] = {"deflection": True, "frame": "base", "restarts": 2}
    loads = np.zeros((2, 6))
    loads[:, 5] = -1e3, -0.1
    found = fa.inverse_kinematics(arm, [0.7, 0.3, 0.1], wrench=loads, **options)
    assert found.success.tolist() == [False, True]
    assert np.isfinite(found.q).all()
    with pytest.raises(fa.NotFiniteError, match="find no equilibrium under the load"):
        fa.inverse_kinematics(arm, [0.7, 0.3, 0.1], wrench=1e300 * loads, **options)


def tilted() -> Array:
    T = np.eye(4)
    T[0, 1] = 1e-3
    return T


@pytest.mark.parametrize(
    ("target", "told"),
    [
        (tilted(), r"target is not a rotation: max \|R'R - I\| is 0.001 "),
        ([np.eye(4), tilted()], r"target\[1\] is not a rotation: max \|R'R"),
        (np.diag([1, 1, -1, 1]), "target is not a rotation: .* determinant -1, "),
        (
            np.diag([1, 1, 1, 2]),
            r"target is not a pose: its last row is \(0, 0, 0, 2\)",
        ),
        (np.eye(3)[:2, :2], "target has shape"),
        (1.0, "target has shape"),
        ("here", "target is 'here'"),
    ],
)
def test_targets_that_are_none(target: Any, told: str) -> None:
    with pytest.raises(fa.ArgumentError, match=told):
        fa.inverse_kinematics(rigid("iiwa14"), target)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"q0": np.zeros(6)}, r"q0 has shape \(6,\), expected a last axis of 7"),
        ({"q0": np.zeros((3, 7))}, "leading axes do not broadcast"),
        ({"node": 99}, "node is 99, expected one number"),
        ({"node": [0, 1]}, "expected one number"),
        ({"node": "nose"}, "node is 'nose'"),
        ({"limits": "hard"}, "limits is 'hard'"),
        ({"limits": np.zeros((2, 3))}, "limits has shape"),
        ({"limits": [[1.0] * 7, [0.0] * 7]}, "limits of 'link1' are 1 and 0"),
        ({"limits": [[np.nan] * 7, [0.0] * 7]}, "limits of 'link1' are nan and 0"),
        ({"weights": (1, 1, 1)}, r"weights has shape \(3,\), expected \(6,\)"),
        ({"weights": (0,) * 6}, "weights is"),
        ({"weights": (1, 1, 1, 1, 1, -1)}, "weights is"),
        ({"length": 0.0}, "length is 0.0"),
        ({"length": 1e-320}, "length is 1e-320, weights divided by it overflow"),
        ({"length": np.ones(2)}, "length is of type ndarray, expected a positive"),
        ({"limits": [[np.inf] * 7] * 2}, "limits of 'link1' are inf and inf"),
        ({"limits": [[-np.inf] * 7] * 2}, "limits of 'link1' are -inf and -inf"),
        ({"max_iterations": 2.5}, "max_iterations is 2.5, expected a whole number"),
        ({"max_iterations": "many"}, "max_iterations is 'many'"),
        ({"rng": "seed"}, "rng is 'seed'"),
        ({"rng": -1}, "rng is -1, expected a numpy.random.Generator or a seed"),
        ({"frame": "tool"}, "frame is 'tool'"),
        ({"tolerance": -1.0}, "tolerance is -1.0"),
        ({"max_iterations": 0}, "max_iterations is 0"),
        ({"restarts": -1}, "restarts is -1"),
        ({"wrench": np.zeros(6)}, "deflection=True"),
        (
            {"wrench": np.zeros(5), "deflection": True},
            r"wrench has shape \(5,\), expected \(\.\.\., 6\)",
        ),
        ({"wrench": np.zeros(6), "frame": "tool", "deflection": True}, "frame is"),
    ],
)
def test_options_of_inverse_kinematics_have_to_fit(
    options: dict[str, Any], told: str
) -> None:
    arm = rigid("iiwa14")
    target = np.broadcast_to(np.eye(4), (2, 4, 4))
    with pytest.raises(fa.ArgumentError, match=told) as error:
        fa.inverse_kinematics(arm, target, **options)
    assert "\n" not in str(error.value)


def test_positions_that_weigh_nothing() -> None:
    with pytest.raises(fa.ArgumentError, match="last three weights"):
        fa.inverse_kinematics(rigid("iiwa14"), np.ones(3), weights=(1, 1, 1, 0, 0, 0))


def test_refusals_of_arms() -> None:
    ball = fa.RigidBody("ball", fa.Joint("free"), mass=1, inertia=(1, 1, 1))
    arm = fa.Arm([ball])
    limits = [[-1.0] * 7, [1.0] * 7]
    with pytest.raises(fa.ArgumentError, match="infinite ones for modes and for"):
        fa.inverse_kinematics(arm, np.eye(4), limits=limits)
    chain = fa.library.planar_chain(2)
    closed = chain.replace(
        constraints=[fa.Coupling({"link1": 1.0, "link2": 1.0})], couplings="constrained"
    )
    with pytest.raises(fa.ArgumentError, match="the arm has constraints"):
        fa.inverse_kinematics(closed, np.eye(4))
    assert not fa.inverse_kinematics(chain, 9.0 * np.ones(3), deflection=True).success
