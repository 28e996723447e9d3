"""Pinocchio as second opinion: another code base, the same rigid arms.

Test 18 of the patent of Jain and Rodriguez (section 5 of its digest): without modes
every routine is a textbook one for rigid bodies.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from arrays import Array
from each import each

import flexarm as fa

pytest.importorskip("pinocchio", reason="second opinion, pip install pin")

from pinocchio_models import PinocchioArm, to_pinocchio
from trees import SEVERAL, armed, random_state

RTOL = 1e-12
NAMED = [
    "puma560",
    "iiwa14",
    "ur5e",
    "panda",
    "youbot",
    "armed puma560",
    "armed iiwa14",
]
# from 40 on with joints of all kinds that Pinocchio has; a subspace it does not know;
# joints of odd seeds have armature
SEEDS = range(80)
KINDS = [kind for kind in SEVERAL if kind != "subspace"]


def make_arm(which: str | int) -> fa.Arm:
    """A named arm, or the random rigid tree of a seed."""
    if isinstance(which, str):
        arm: fa.Arm = getattr(fa.library, which.removeprefix("armed "))()
        return armed(arm, 1) if which.startswith("armed") else arm
    joints = SEVERAL[:3] if which < 40 else KINDS
    arm = fa.library.random_tree(which, 1 + which % 9, max_modes=0, joints=joints)
    return armed(arm, which) if which % 2 else arm


def friction(arm: fa.Arm) -> Array:
    return np.concatenate([b.joint.friction for b in arm.bodies])


def assert_close(value: Any, reference: Any, scale: float = 1.0) -> None:
    """Equal to RTOL of the largest entry, times `scale`."""
    size = np.abs(reference).max()
    assert np.abs(value - reference).max() <= RTOL * scale * size


each_arm = each("which", [*NAMED, *SEEDS])


@cache
def case(which: str | int) -> tuple[fa.Arm, PinocchioArm, list[Any]]:
    """An arm, the same in Pinocchio, and three states."""
    arm = make_arm(which)
    rng = np.random.default_rng(1)
    return arm, to_pinocchio(arm), [random_state(rng, arm) for _ in range(3)]


@each_arm
def test_18_inverse_dynamics_of_rigid_arms(which: str | int) -> None:
    arm, other, states = case(which)
    for q, qd, qdd in states:
        reference = other.inverse_dynamics(q, qd, qdd) + friction(arm) * qd
        assert_close(fa.inverse_dynamics(arm, q, qd, qdd), reference)


@each_arm
def test_18_mass_matrix_of_rigid_arms(which: str | int) -> None:
    arm, other, states = case(which)
    for q, _, _ in states:
        assert_close(fa.mass_matrix(arm, q), other.mass_matrix(q))


@each_arm
@each("method", ["articulated", "composite"])
def test_18_forward_dynamics_of_rigid_arms(which: str | int, method: str) -> None:
    # both solve M qdd = tau - C: rounding of the right side grows by the condition of M
    arm, other, states = case(which)
    for q, qd, tau in states:
        reference = other.forward_dynamics(q, qd, tau - friction(arm) * qd)
        M, bias = fa.mass_matrix(arm, q), fa.bias_forces(arm, q, qd)
        given = np.abs(tau).max() + np.abs(bias).max()
        growth = np.abs(np.linalg.inv(M)).max() * given / np.abs(reference).max()
        value = fa.forward_dynamics(arm, q, qd, tau, method=method)
        assert_close(value, reference, max(1.0, growth))


@each_arm
def test_18_jacobian_of_every_node(which: str | int) -> None:
    arm, other, states = case(which)
    q = states[0][0]
    for node in range(arm.n_nodes):
        assert_close(fa.jacobian(arm, q, node), other.jacobian(q, node))
