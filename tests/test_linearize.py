"""Linear models of arms: differences of the kernels, frequencies, simulated motion.

A and C are exact: what is compared with them are central differences of forward
dynamics and of the kinematics of nodes, for random trees with joints of all kinds in
motion, and closed forms and the modes of `vibration_modes` where there are any.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import SEVERAL, random_state

import flexarm as fa

# all holonomic ones
JOINTS = tuple(kind for kind in SEVERAL if kind != "subspace")
TWO_PI = 2.0 * np.pi


def tree(seed: int, gravity: bool = True) -> fa.Arm:
    return fa.library.random_tree(
        seed, 1 + seed % 4, max_modes=3, joints=JOINTS, gravity=gravity
    )


def state(arm: fa.Arm, seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    q, qd, _ = random_state(rng, arm, 0.1)
    return q, 0.5 * qd, fa.inverse_dynamics(arm, q, qd, rng.normal(size=arm.nv))


def slope(function: Any, h: float = 2e-3) -> Any:
    """Derivative at zero of fourth order, by a column of arguments."""
    return (8 * (function(h) - function(-h)) - function(2 * h) + function(-2 * h)) / (
        12 * h
    )


def columns(function: Any, n: int) -> Any:
    """Matrix of derivatives of function(steps), steps (n, n)."""
    unit = np.eye(n)
    return slope(lambda h: function(h * unit)).T


# the equation of motion


@pytest.mark.parametrize("seed", range(10))
def test_states_obey_forward_dynamics(seed: int) -> None:
    arm = tree(seed)
    q, qd, tau = state(arm, seed)
    n = arm.nv
    if not n:
        return
    ss = fa.linearize(arm, q, qd, tau, inputs="all forces")

    def by_q(steps: Any) -> Any:
        return fa.forward_dynamics(arm, fa.integrate(arm, q, steps), qd, tau)

    def by_qd(steps: Any) -> Any:
        return fa.forward_dynamics(arm, q, qd + steps, tau)

    for found, expected in (
        (ss.A[n:, :n], columns(by_q, n)),
        (ss.A[n:, n:], columns(by_qd, n)),
        (ss.B[n:], fa.mass_matrix_inverse(arm, q)),
    ):
        size = max(1.0, np.abs(expected).max())
        assert_allclose(found, expected, rtol=0.0, atol=3e-7 * size)
    qdd = fa.forward_dynamics(arm, q, qd, tau)
    assert_allclose(ss.drift, [*qd, *qdd], rtol=0.0, atol=1e-9 * max(1, abs(qdd).max()))


@pytest.mark.parametrize("seed", range(6))
def test_displacements_turn_with_joints_that_have_poses(seed: int) -> None:
    # along two motions with constant velocities, as differences of positions
    arm = fa.library.random_tree(seed, 3, joints=("spherical", "free", "revolute"))
    q, qd, tau = state(arm, seed)
    n = arm.nv
    ss = fa.linearize(arm, q, qd, tau)
    G = ss.A[:n, :n]

    def rate(steps: Any) -> Any:
        start = fa.integrate(arm, q, steps)

        def apart(t: float) -> Any:
            here = fa.integrate(arm, q, t * qd)
            return fa.difference(arm, here, fa.integrate(arm, start, t * qd))

        return slope(apart)

    assert_allclose(G, columns(rate, n), rtol=0.0, atol=1e-8)
    assert_allclose(ss.A[:n, n:], np.eye(n), rtol=0.0, atol=0.0)
    if any(body.joint.has_pose for body in arm.bodies):
        assert np.abs(G).max() > 0.1


# outputs


def node_signals(arm: fa.Arm, node: int, q: Any, qd: Any, qdd: Any) -> dict[str, Any]:
    """Signals of a node by the functions of the package, for steps of the state."""
    pose = fa.node_pose(arm, q, node)
    R = pose[..., :3, :3]
    V = fa.node_velocity(arm, q, qd, node, frame="base")
    a = fa.node_acceleration(arm, q, qd, qdd, node, frame="base")
    force = (a[..., 3:] - arm.gravity)[..., np.newaxis, :] @ R
    return {
        "position": pose[..., :3, 3],
        "velocity": V[..., 3:],
        "angular velocity": V[..., :3],
        "gyroscope": fa.node_velocity(arm, q, qd, node)[..., :3],
        "acceleration": a[..., 3:],
        "accelerometer": force[..., 0, :],
    }


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("at_rest", [False, True])
def test_signals_of_nodes(seed: int, at_rest: bool) -> None:
    arm = tree(seed)
    q, qd, tau = state(arm, seed)
    qd = 0.0 * qd if at_rest else qd
    n, node = arm.nv, seed % arm.n_nodes
    if not n:
        return
    name = arm.node_names[node]
    kinds = tuple(node_signals(arm, node, q, qd, qd))
    wanted = [f"{name} {kind}" for kind in kinds]
    ss = fa.linearize(arm, q, qd, tau, inputs="all forces", outputs=wanted)

    def signals(dq: Any = 0.0, dqd: Any = 0.0, dtau: Any = 0.0) -> Any:
        q1 = fa.integrate(arm, q, dq + np.zeros(n))
        qdd = fa.forward_dynamics(arm, q1, qd + dqd, tau + dtau)
        found = node_signals(arm, node, q1, qd + dqd, qdd)
        return np.concatenate(
            np.broadcast_arrays(*(found[kind] for kind in kinds)), axis=-1
        )

    expected = np.hstack(
        [columns(lambda h: signals(dq=h), n), columns(lambda h: signals(dqd=h), n)]
    )
    for k, kind in enumerate(kinds):
        at = slice(3 * k, 3 * k + 3)
        size = max(1.0, np.abs(expected[at]).max())
        assert_allclose(
            ss.C[at], expected[at], rtol=0.0, atol=3e-7 * size, err_msg=kind
        )
    D = columns(lambda h: signals(dtau=h), n)
    assert_allclose(ss.D, D, rtol=0.0, atol=1e-8 * max(1.0, np.abs(D).max()))
    assert_allclose(ss.y, signals(), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_rotation_of_a_node(seed: int) -> None:
    arm = tree(seed)
    q, _, _ = state(arm, seed)
    if not arm.nv:
        return
    ss = fa.linearize(arm, q, outputs="tip rotation")

    def turned(steps: Any) -> Any:
        there = fa.tip_pose(arm, fa.integrate(arm, q, steps))[..., :3, :3]
        return fa.se3.so3_log(there @ fa.tip_pose(arm, q)[:3, :3].T)

    expected = columns(turned, arm.nv)
    assert_allclose(ss.C[:, : arm.nv], expected, rtol=0.0, atol=1e-7)
