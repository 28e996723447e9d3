"""Derivatives with respect to parameters, against closed forms and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from arrays import Array
from numpy.testing import assert_allclose
from trees import SEVERAL, random_state

import flexarm as fa
from flexarm.arm import Arm
from flexarm.library import random_tree
from flexarm.parameters import parameter_derivatives

Maker = Callable[[Array], Arm]

TREE = random_tree(5, 3, 2, joints=SEVERAL, foreshortening=1.0)


def double_pendulum(p: Array) -> Arm:
    """Lengths, masses at the tips, gravity, friction."""
    l1, l2, m1, m2, g, d = (float(x) for x in p)
    level = {"axis": (0, 0, 1), "damping": d}
    return fa.Arm(
        [
            fa.RigidBody(
                "a", fa.Joint(**level), m1, (l1, 0, 0), nodes={"end": (l1, 0, 0)}
            ),
            fa.RigidBody("b", fa.Joint(**level, node="end"), m2, (l2, 0, 0)),
        ],
        gravity=(0, -g, 0),
    )


def double_pendulum_forces(p: Any, q: Any, qd: Any, qdd: Any) -> list[Any]:
    """The textbook's equations of motion, in mpmath."""
    l1, l2, m1, m2, g, d = p
    c2, s2 = mpmath.cos(q[1]), mpmath.sin(q[1])
    c1, c12 = mpmath.cos(q[0]), mpmath.cos(q[0] + q[1])
    M11 = m1 * l1**2 + m2 * (l1**2 + l2**2 + 2 * l1 * l2 * c2)
    M12, M22 = m2 * (l2**2 + l1 * l2 * c2), m2 * l2**2
    h = m2 * l1 * l2 * s2
    return [
        M11 * qdd[0]
        + M12 * qdd[1]
        - h * (2 * qd[0] * qd[1] + qd[1] ** 2)
        + (m1 + m2) * g * l1 * c1
        + m2 * g * l2 * c12
        + d * qd[0],
        M12 * qdd[0] + M22 * qdd[1] + h * qd[0] ** 2 + m2 * g * l2 * c12 + d * qd[1],
    ]


def test_double_pendulum_in_multiple_precision() -> None:
    p = np.array([0.7, 0.4, 1.5, 0.8, 9.81, 0.2])
    q, qd, qdd = np.array([0.3, -1.1]), np.array([1.2, -0.7]), np.array([0.5, 2.0])
    got = parameter_derivatives(double_pendulum, p, q, qd, qdd)
    with mpmath.workdps(40):
        for j in range(6):
            for i in range(2):

                def force(x: Any, i: int = i, j: int = j) -> Any:
                    changed = [mpmath.mpf(float(v)) for v in p]
                    changed[j] = x
                    return double_pendulum_forces(changed, *map(list, (q, qd, qdd)))[i]

                exact = float(mpmath.diff(force, mpmath.mpf(float(p[j]))))
                assert abs(got.forces[i, j] - exact) < 1e-11 * (1.0 + abs(exact))
    assert (got.error < 1e-11).all()
    assert got.accelerations is None


def test_bending_stiffness_of_de_luca() -> None:
    """K is proportional to EI, and modes do not depend on it."""

    def make_arm(p: Array) -> Arm:
        arm = fa.library.de_luca_siciliano()
        bodies = [b.replace(stiffness=b.stiffness * p[0]) for b in arm.bodies]
        return arm.replace(bodies=bodies)

    arm = fa.library.de_luca_siciliano()
    q, qd, qdd = random_state(np.random.default_rng(0), arm)
    got = parameter_derivatives(make_arm, 1.0, q, qd, qdd)
    still = fa.Arm(arm.bodies, gravity=(0, 0, 0))
    expected = fa.inverse_dynamics(still, q, 0 * qd, 0 * qd)
    expected[:2] = 0.0
    expected[2:4] = arm.bodies[0].stiffness @ q[2:4]
    expected[4:] = arm.bodies[1].stiffness @ q[4:]
    assert got.forces.shape == (6,)
    assert_allclose(got.forces, expected, rtol=1e-12, atol=1e-12)


def link(p: Array) -> Arm:
    """Length, mass per length, EI and payload of a link; its modes follow."""
    length, rho, EI, payload = (float(x) for x in p)
    modes = fa.beams.clamped_beam_modes(length, rho, EI, 2, tip_mass=payload)
    beam = fa.beams.flexible_link(
        "beam", length=length, mass_per_length=rho, bending_y=modes, tip_mass=payload
    )
    return fa.Arm([beam], gravity=(0, -9.81, 0))


def scaled(p: Array) -> Arm:
    """A random tree whose masses, places, shapes and springs change at once."""
    bodies = []
    for body in TREE.bodies:
        joint = body.joint.replace(
            position=body.joint.position * p[1], damping=0.3 * p[2]
        )
        if isinstance(body, fa.RigidBody):
            new: dict[str, Any] = {"com": body.com * p[1], "mass": body.mass * p[0]}
        else:
            new = {
                "node_position": body.node_position * p[1],
                "node_rotation": body.node_rotation * p[3],
                "node_mass": body.node_mass * p[0],
                "node_inertia": body.node_inertia * p[0],
                "stiffness": body.stiffness * p[2],
            }
        bodies.append(body.replace(joint=joint, **new))
    changed: Arm = TREE.replace(bodies=bodies)
    return changed


def differences(make_arm: Maker, p: Array, evaluate: Callable[[Arm], Array]) -> Array:
    """Central differences of order six of what is evaluated, (..., k)."""
    columns = []
    for j in range(len(p)):
        h, total = 4e-3 * p[j], 0.0
        for m, w in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60)):
            e = np.eye(len(p))[j] * m * h
            ahead, behind = evaluate(make_arm(p + e)), evaluate(make_arm(p - e))
            total = total + w * (ahead - behind) / h
        columns.append(total)
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize(
    ("make_arm", "p"), [(link, [0.8, 0.3, 2.0, 0.2]), (scaled, [1.0, 1.0, 1.0, 1.0])]
)
def test_against_differences_of_whole_arms(make_arm: Maker, p: list[float]) -> None:
    values = np.array(p)
    arm = make_arm(values)
    rng = np.random.default_rng(3)
    made = [random_state(rng, arm, 0.1) for _ in range(3)]
    q, qd, qdd = (np.array(x) for x in zip(*made, strict=True))
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    got = parameter_derivatives(make_arm, values, q, qd, tau=tau)

    def evaluate(arm: Arm) -> Array:
        forces = fa.inverse_dynamics(arm, q, qd, qdd)
        return np.stack([forces, fa.forward_dynamics(arm, q, qd, tau)])

    forces, accelerations = differences(make_arm, values, evaluate)
    assert got.accelerations is not None
    for ours, expected in ((got.forces, forces), (got.accelerations, accelerations)):
        scale = np.abs(expected).max(axis=(0, 1))
        assert (np.abs(ours - expected) < 1e-8 * scale).all()
    assert (got.error < 3e-9).all()


def test_payload_of_zero() -> None:
    """Parameters at their bound take one-sided differences."""
    p = np.array([0.8, 0.3, 2.0])

    def make_arm(payload: Array) -> Arm:
        arm = link(np.array([*p, 0.0]))
        load = fa.RigidBody("load", fa.Joint("fixed"), mass=float(payload[0]))
        return arm.replace(bodies=[*arm.bodies, load])

    q, qd, qdd = np.array([[0.2, 0.1, 0.01], [0.3, -0.1, 0.02], [0.1, 0.3, 0.5]])
    got = parameter_derivatives(make_arm, [0.0], q, qd, qdd, scale=0.1)
    with_load, without = make_arm(np.ones(1)), make_arm(np.zeros(1))
    expected = fa.inverse_dynamics(with_load, q, qd, qdd) - fa.inverse_dynamics(
        without, q, qd, qdd
    )
    assert_allclose(got.forces[:, 0], expected, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("fidelity", ["linear", "ruthless"])
def test_fidelities(fidelity: str) -> None:
    def make_arm(p: Array) -> Arm:
        arm: Arm = link(p).replace(fidelity=fidelity)
        return arm

    p = np.array([0.8, 0.3, 2.0, 0.2])
    q, qd, qdd = random_state(np.random.default_rng(1), make_arm(p), 0.05)
    got = parameter_derivatives(make_arm, p, q, qd, qdd)
    expected = differences(make_arm, p, lambda a: fa.inverse_dynamics(a, q, qd, qdd))
    scale = np.abs(expected).max(axis=0)
    assert (np.abs(got.forces - expected) < 2e-9 * scale).all()


def test_regressor_columns_are_such_derivatives() -> None:
    arm = fa.library.de_luca_siciliano()
    pi = fa.inertial_parameters(arm)
    q, qd, qdd = random_state(np.random.default_rng(0), arm)
    Y = fa.inertial_regressor(arm, q, qd, qdd)
    chosen = [pi.index("link2.E[y,bending y 1]"), pi.index("link1.m")]
    chosen.append(pi.index("link2.K[bending y 1,bending y 1]"))

    def make_arm(p: Array) -> Arm:
        values = pi.values.copy()
        values[chosen] = p
        return fa.Arm.with_inertial_parameters(arm, values)

    got = parameter_derivatives(make_arm, pi.values[chosen], q, qd, qdd)
    expected = Y[:, chosen]
    scale = np.abs(expected).max()
    assert_allclose(got.forces, expected, rtol=1e-10, atol=1e-12 * scale)


def pendulum(p: Array) -> Arm:
    return fa.library.pendulum(mass=p[0], com=0.5)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda: parameter_derivatives(pendulum, [1.0], [0.0], [0.0]),
            "neither qdd",
        ),
        (
            lambda: parameter_derivatives(
                pendulum, [1.0], [0.0], [0.0], [0.0], tau=[0.0]
            ),
            "both qdd",
        ),
        (
            lambda: parameter_derivatives(pendulum, [1.0], [0.0] * 2, [0.0], [0.0]),
            "q has a last axis",
        ),
        (
            lambda: parameter_derivatives(pendulum, [np.nan], [0.0], [0.0], [0.0]),
            r"p\[0\] is nan",
        ),
        (
            lambda: parameter_derivatives(
                pendulum, [1.0], [0.0], [0.0], [0.0], scale=[1.0, 2.0]
            ),
            "scale has shape",
        ),
        (
            lambda: parameter_derivatives(
                pendulum, [1.0], [0.0], [0.0], [0.0], scale=0.0
            ),
            "scale has an entry",
        ),
        (
            lambda: parameter_derivatives(lambda p: 3, [1.0], [0.0], [0.0], [0.0]),
            "make_arm returned int",
        ),
        (
            lambda: parameter_derivatives(
                pendulum, [1.0], [0.0], [0.0], [0.0], scale=100.0
            ),
            None,
        ),
    ],
)
def test_arguments_of_parameter_derivatives_have_to_fit(
    call: Any, told: str | None
) -> None:
    if told is None:
        call()  # one side is left
        return
    with pytest.raises((fa.ArgumentError, fa.NotFiniteError), match=told):
        call()


def test_arms_of_different_structure() -> None:
    def make_arm(p: Array) -> Arm:
        arm = fa.library.pendulum()
        more = [fa.RigidBody("x", mass=1.0)] if p[0] > 1.0 else []
        changed: Arm = arm.replace(bodies=[*arm.bodies, *more])
        return changed

    with pytest.raises(fa.ArgumentError, match="different structure for parameter 0"):
        parameter_derivatives(make_arm, [1.0], [0.0], [0.0], [0.0])


def test_constraints_have_no_accelerations_here() -> None:
    def make_arm(p: Array) -> Arm:
        arm = double_pendulum(np.array([0.7, 0.4, p[0], 0.8, 9.81, 0.2]))
        joined: Arm = arm.replace(
            constraints=[fa.Coupling({"a": 1.0, "b": -1.0})], couplings="constrained"
        )
        return joined

    with pytest.raises(fa.ArgumentError, match="has 1 constraints"):
        parameter_derivatives(make_arm, [1.5], [0.0] * 2, [0.0] * 2, tau=[0.0] * 2)
