"""One motion that serves all arms of a stack."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.optimize import paths, time_optimal

RAIL = paths.joint_path([[0.0], [0.5]], kind="straight")
LINE = paths.line([1.8, 0.2], [1.6, 0.7])
TORQUE = np.array([300.0, 120.0])


def cart(mass: float, **joint: float) -> fa.Arm:
    return fa.Arm([fa.RigidBody("cart", fa.Joint.prismatic("x", **joint), mass=mass)])


def rigid(payload: float, **options: Any) -> fa.Arm:
    given: dict[str, Any] = {"elements": 0, "joint_stiffness": None} | options
    return fa.library.farid_two_link(payload_mass=payload, **given)


@pytest.mark.parametrize("scheme", ["interpolation", "collocation", "midpoint"])
def test_the_heaviest_cart_sets_the_time_on_a_rail(scheme: str) -> None:
    """A mass m under F at most takes 2 sqrt(m d / F) for d."""
    carts = fa.stack([cart(m) for m in (1.0, 2.0, 1.5)])
    search = {"scheme": scheme}
    found = time_optimal(carts, RAIL, limits={"torque": 3.0}, search=search)
    assert_allclose(found.duration, 2.0 * np.sqrt(2.0 * 0.5 / 3.0), rtol=1e-9)
    assert found.success
    assert found.arm is carts[0]
    assert [one.arm for one in found.scenarios] == list(carts)
    # forces in the ratio of the masses, of which the heaviest has all
    for one, most in zip(found.scenarios, (1.5, 3.0, 2.25), strict=True):
        assert_allclose(np.abs(one.tau).max(), most, rtol=1e-9)
        assert one.verification is not None
        assert_allclose(one.verification.trajectory.q[-1], [0.5], atol=1e-6)


def test_each_arm_keeps_the_limits_of_its_own_joints() -> None:
    """A light cart with a weak motor is slower than a heavy one with a strong one."""
    weak, strong = cart(1.0, effort_limit=1.0), cart(2.0, effort_limit=3.0)
    found = time_optimal(fa.stack([strong, weak]), RAIL)
    assert_allclose(found.duration, 2.0 * np.sqrt(0.5), rtol=1e-9)
    assert found.duration == time_optimal(weak, RAIL).duration


def test_forces_of_all_payloads_are_within_limits_along_a_path() -> None:
    """Inverse dynamics of both arms, elsewhere than at the points of the search."""
    arms = fa.stack([rigid(5.0), rigid(7.0), rigid(0.0)])
    start = fa.library.poses(arms[0])["A"]
    limits = {"torque": TORQUE}
    options: dict[str, Any] = {"limits": limits, "start": start}
    found = time_optimal(arms, LINE, **options)
    alone = [time_optimal(arm, LINE, **options).duration for arm in arms]
    assert found.success
    assert found.duration >= max(alone) * (1.0 - 1e-9)
    assert found.on_path is not None
    way, scaling = found.on_path.way, found.on_path.scaling
    t = np.linspace(0.0, found.duration, 5003)
    s, sd, sdd = scaling.at(t)
    there = [
        np.stack([np.interp(s, way.s, column) for column in part.T], axis=1)
        for part in (way.q, way.first, way.second)
    ]
    q, first, second = there
    qd = first * sd[:, None]
    qdd = first * sdd[:, None] + second * sd[:, None] ** 2
    used = []
    for arm in arms:
        tau = fa.inverse_dynamics(arm, q, qd, qdd)
        part = np.abs(tau) / TORQUE
        assert part.max() < 1.001
        used.append(part.max(axis=1))
    # some force of some arm is at its limit, but where forces change their sign
    assert np.mean(np.max(used, axis=0) > 0.99) > 0.995


def test_arms_that_ask_for_less_change_nothing() -> None:
    """Without gravity the heaviest payload asks for all."""
    arms = [rigid(m).replace(gravity=(0.0, 0.0, 0.0)) for m in (15.0, 5.0)]
    start = fa.library.poses(arms[0])["A"]
    options: dict[str, Any] = {"limits": {"torque": TORQUE}, "start": start}
    heavy = time_optimal(arms[0], LINE, **options)
    assert time_optimal(fa.stack(arms), LINE, **options).duration == heavy.duration
    assert heavy.scenarios == ()
    (single,) = time_optimal(fa.stack(arms[:1]), LINE, **options).scenarios
    assert_allclose(single.tau, heavy.tau, atol=1e-9)


FLEXIBLE = [fa.library.farid_two_link(payload_mass=m) for m in (1.0, 5.0)]
OF_TWO_LENGTHS = [fa.library.planar_chain(2, length=x) for x in (1.0, 1.02)]
AFLOAT = [rigid(m).replace(gravity=(0.0, 0.0, 0.0)) for m in (1.0, 5.0)]
ON_A_PATH = [
    (OF_TWO_LENGTHS, paths.line([1.5, 0.2], [1.2, 0.7]), 200.0, "same lengths"),
    (FLEXIBLE, LINE, TORQUE, 'trajectory\\(stack, start, end, limits=..., cost="time"'),
    (
        [rigid(1.0), rigid(5.0)],
        [[0.0, 0.5], [0.5, 0.5]],
        TORQUE,
        "rigid arms on a path",
    ),
    (AFLOAT, LINE, [0.0, 100.0], "zero where a base floats"),
    ([rigid(1.0), rigid(50.0)], LINE, TORQUE, "force of 'link2' of arm 1 would have"),
]


@each("arms, path, torque, words", ON_A_PATH)
def test_stacks_that_one_motion_along_a_path_cannot_serve_are_refused(
    arms: list[fa.Arm], path: object, torque: Any, words: str
) -> None:
    with pytest.raises(fa.ArgumentError, match=words):
        time_optimal(fa.stack(arms), path, limits={"torque": torque})


def test_stacks_without_arms_are_refused() -> None:
    none = fa.stack([cart(1.0)])[:0]
    with pytest.raises(fa.ArgumentError, match="stack has no arms"):
        time_optimal(none, RAIL, limits={"torque": 3.0})
