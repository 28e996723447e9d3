"""Armature of joints: all computations see 1/2 a qd^2, and nothing else of a rotor."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest
from arrays import Array
from drive_cases import driven
from each import each
from few_modes import planar_chain
from named import function
from numpy.testing import assert_allclose
from trees import SEVERAL, armed, random_state

import flexarm as fa
from flexarm.descriptions._conversions import joint_frames
from flexarm.reference import lagrangian, twin
from flexarm.simulation.methods import METHODS

ARMS: dict[str, Any] = {
    "chain": lambda: fa.library.iiwa14(),
    "beams": lambda: planar_chain(3, n_modes=2, bending_stiffness=4.0),
    "fast": lambda: planar_chain(2, n_modes=10, bending_stiffness=4.0),
    "ruthless": lambda: fa.library.de_luca_siciliano().replace(fidelity="ruthless"),
    "linear": lambda: fa.library.de_luca_siciliano().replace(fidelity="linear"),
    "motors": lambda: driven(fa.library.random_tree(3, 4, max_modes=1), 3),
    **{
        f"tree{seed}": lambda seed=seed: fa.library.random_tree(
            seed, 5, max_modes=2, joints=SEVERAL if seed % 2 else SEVERAL[:3]
        )
        for seed in range(8)
    },
}


@cache
def case(name: str) -> tuple[fa.Arm, fa.Arm, Array, list[Array]]:
    """An arm, the same with armature, its diagonal, and states."""
    plain = ARMS[name]()
    arm = armed(plain, 1)
    own = np.zeros(arm.nv)
    for k, body in enumerate(arm.bodies):
        own[arm.body_joint_slice(k)] = body.joint.reflected_inertia
    assert own.any()
    rng = np.random.default_rng(2)
    made = [random_state(rng, arm, amplitude=0.05) for _ in range(3)]
    return plain, arm, own, [np.array(x) for x in zip(*made, strict=True)]


each_arm = each("name", list(ARMS))


def assert_close(got: Any, expected: Any, tolerance: float = 1e-11) -> None:
    size = np.abs(expected).max(initial=1e-300)
    assert_allclose(got, expected, rtol=0.0, atol=tolerance * size)


@each_arm
def test_it_adds_to_the_diagonal_and_nothing_else(name: str) -> None:
    plain, arm, own, (q, qd, qdd) = case(name)
    M = fa.mass_matrix(arm, q)
    assert_close(M, fa.mass_matrix(plain, q) + np.diag(own), 1e-14)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    assert_close(tau, fa.inverse_dynamics(plain, q, qd, qdd) + own * qdd, 1e-14)
    assert_close(fa.Arm.apply_mass_matrix(arm, q, qdd), np.einsum("nij,nj->ni", M, qdd))
    kinetic = fa.kinetic_energy(plain, q, qd) + 0.5 * qd**2 @ own
    assert_close(fa.kinetic_energy(arm, q, qd), kinetic, 1e-13)
    for same in ("bias_forces", "momentum"):
        expected = function(same)(plain, q, qd)
        assert np.array_equal(function(same)(arm, q, qd), expected)
    for found, expected in zip(
        fa.inverse_dynamics_derivatives(arm, q, qd, qdd),
        fa.inverse_dynamics_derivatives(plain, q, qd, qdd),
        strict=True,
    ):
        assert np.array_equal(found, expected)
    by_qd = fa.Arm.energy_derivatives(arm, q, qd)[1]
    assert_close(by_qd, np.einsum("nij,nj->ni", M, qd))


@each_arm
def test_the_lagrangian_and_the_twin_agree(name: str) -> None:
    _, arm, _, states = case(name)
    if arm.fidelity != "full":
        return
    q, qd, qdd = (x[0] for x in states)
    tau, M = fa.inverse_dynamics(arm, q, qd, qdd), fa.mass_matrix(arm, q)
    assert_close(lagrangian.generalized_forces(arm, q, qd, qdd), tau)
    assert_close(lagrangian.mass_matrix(arm, q), M)
    assert_close(lagrangian.kinetic_energy(arm, q, qd), fa.kinetic_energy(arm, q, qd))
    assert_close(twin.inverse_dynamics(arm, q, qd, qdd), tau)
    assert_close(twin.mass_matrix(arm, q), M)
    assert_close(twin.forward_dynamics(arm, q, qd, tau), qdd, 1e-6)


@each_arm
def test_all_ways_to_accelerations_and_to_the_inverse(name: str) -> None:
    _, arm, _, (q, qd, qdd) = case(name)
    M, tau = fa.mass_matrix(arm, q), fa.inverse_dynamics(arm, q, qd, qdd)
    inverse = fa.mass_matrix_inverse(arm, q)
    assert_close(np.linalg.inv(M), inverse, 1e-9)
    # rounding of the forces grows by the inverse
    growth = np.abs(inverse).max() * np.abs(tau).max() / np.abs(qdd).max()
    for method in ("articulated", "composite", "basic"):
        if arm.fidelity == "linear" and method != "articulated":
            continue
        found = fa.forward_dynamics(arm, q, qd, tau, method=method)
        assert_close(found, qdd, 1e-14 * max(growth, 10.0))
    found = fa.Arm.apply_mass_matrix_inverse(arm, q, qd)
    assert_close(found, np.einsum("nij,nj->ni", inverse, qd), 1e-10)
    assert_close(fa.log_det_mass_matrix(arm, q), np.linalg.slogdet(M)[1], 1e-11)
    by_q, by_qd, by_tau = fa.forward_dynamics_derivatives(arm, q, qd, tau)
    tau_q, tau_qd = fa.inverse_dynamics_derivatives(arm, q, qd, qdd)
    assert_close(by_tau, inverse, 1e-10)
    assert_close(by_q, -inverse @ tau_q, 1e-8)
    assert_close(by_qd, -inverse @ tau_qd, 1e-8)


@each_arm
def test_spatial_operators(name: str) -> None:
    _, arm, _, (q, _, _) = case(name)
    if arm.fidelity == "linear" or arm.motor_slice.stop > arm.nu:
        return
    operators, M = fa.operators(arm, q), fa.mass_matrix(arm, q)
    order = np.ix_(operators.order, operators.order)
    assert_close(operators.mass_matrix, M)
    L, D = operators.factor, operators.D
    assert_close(L @ D @ L.swapaxes(-1, -2), np.array([x[order] for x in M]))
    inverse = fa.mass_matrix_inverse(arm, q)
    assert_close(operators.mass_matrix_inverse, inverse, 1e-9)
    found = fa.Arm.innovations_factors(arm, q)
    for one, other in zip((found.factor, found.inertia), (L, D), strict=True):
        assert_close(one, other, 1e-10)
    compliance = fa.operational_space_compliance(arm, q)
    if arm.fidelity == "full":
        assert_close(operators.operational_space_compliance(), compliance, 1e-9)
    J = fa.jacobian(arm, q, frame="node")
    assert_close(J @ inverse @ J.swapaxes(-1, -2), compliance, 1e-9)
    blocks = fa.Arm.mass_matrix_inverse_blocks(arm, q)
    for body, block in operators.mass_matrix_inverse_blocks().items():
        if block.size:
            assert_close(blocks[body], block, 1e-9)


def test_a_rotor_of_a_joint_on_the_ground() -> None:
    # about a fixed axis armature is the inertia of the body about it, in any time loop
    arm = planar_chain(2, n_modes=1, bending_stiffness=4.0)
    base = fa.RigidBody("base", fa.Joint(), mass=1.0, inertia=np.eye(3))
    first = arm.bodies[0]
    first = first.replace(
        joint=first.joint.replace(kind="fixed", parent="base", node=0)
    )
    arm = fa.Arm([base, first, *arm.bodies[1:]])
    heavy = base.replace(inertia=np.diag([1.0, 1.0, 1.7]))
    light = base.replace(joint=base.joint.replace(armature=0.7))
    t, q0 = np.linspace(0.0, 0.1, 6), np.array([0.3, 0.5, 0.01, -0.02])
    q0 = np.concatenate([q0[: arm.nu], q0[2:]])
    tau = np.random.default_rng(0).normal(size=(len(t), arm.nu))
    for method in METHODS:
        ends = [
            fa.simulate(
                arm.replace(bodies=[own, *arm.bodies[1:]]),
                q0,
                0.1 + q0,
                t,
                torque=tau,
                method=method,
                max_step=0.005,
            )
            for own in (heavy, light)
        ]
        assert_allclose(ends[0].q, ends[1].q, rtol=0.0, atol=1e-12, err_msg=method)
        assert_allclose(ends[0].energy, ends[1].energy, rtol=1e-12, err_msg=method)


@each("name", ["chain", "motors", "tree1", "linear"])
def test_parameters(name: str) -> None:
    _, arm, own, (q, qd, qdd) = case(name)
    parameters = fa.inertial_parameters(arm, families="joint")
    of = [i for i, n in enumerate(parameters.names) if n.endswith("armature")]
    assert parameters.values[of].sum() == pytest.approx(own.sum())
    assert {parameters.units[i] for i in of} <= {"kg", "kg m^2"}
    values = fa.inertial_parameters(arm).values
    Y = fa.inertial_regressor(arm, q, qd, qdd)
    assert_close(Y @ values, fa.inverse_dynamics(arm, q, qd, qdd), 1e-11)
    row = fa.Arm.energy_regressor(arm, q, qd)
    assert_close(row @ values, fa.energy(arm, q, qd), 1e-11)
    more = parameters.values.copy()
    more[of] *= 2.0
    changed = fa.Arm.with_inertial_parameters(arm, more, families="joint")
    assert_close(
        fa.mass_matrix(changed, q), fa.mass_matrix(arm, q) + np.diag(own), 1e-13
    )


def test_loops_and_gears() -> None:
    # constrained accelerations: M qdd + C = tau + J' l, J qdd = gamma
    arm = armed(planar_chain(3), 4)
    pin = fa.Loop(("link3", "tip"), "ground", "spherical", position2=(1.5, 0.0, 0.0))
    gear = fa.Coupling({"link1": 1.0, "link2": -2.0})
    q, qd, qdd = random_state(np.random.default_rng(1), arm)
    for constraints in ([pin], [gear], []):
        one = arm.replace(constraints=constraints, couplings="constrained")
        same = fa.forward_dynamics(one, q, qd, qdd, method="composite")
        assert_close(fa.forward_dynamics(one, q, qd, qdd), same, 1e-9)
        assert_close(fa.forward_dynamics(one, q, qd, qdd, method="basic"), same, 1e-9)


def test_copies_and_their_text() -> None:
    joint = fa.Joint("cylindrical", armature=(0.1, 2.0))
    assert joint.reflected_inertia.tolist() == [0.1, 2.0]
    assert "armature=array([0.1, 2. ])" in repr(joint)
    assert pickle.loads(pickle.dumps(joint)) == joint
    assert joint.replace(damping=1.0).armature.tolist() == [0.1, 2.0]
    assert fa.Joint(armature=0.5).reflected_inertia.tolist() == [0.5]
    arm = armed(fa.library.iiwa14(), 1)
    described = joint_frames(arm)
    rebuilt = fa.descriptions.build_arm(described, arm.bodies)
    q, qd, qdd = random_state(np.random.default_rng(1), arm)
    assert_close(
        fa.inverse_dynamics(rebuilt, q, qd, qdd), fa.inverse_dynamics(arm, q, qd, qdd)
    )


@each(
    "given, told",
    [
        ({"armature": -1.0}, "armature of the joint is -1, expected zero or more"),
        ({"armature": np.nan}, "armature of the joint"),
        ({"armature": (1.0, 2.0)}, "armature of the joint has shape"),
        (
            {"armature": 0.1, "drive": fa.Drive(1e4, rotor_inertia=0.1)},
            "the armature 0.1 and a drive, whose rotor has an inertia of its own",
        ),
    ],
)
def test_armature_is_one_number_of_a_joint_with_one_freedom(
    given: dict[str, Any], told: str
) -> None:
    with pytest.raises(fa.ModelError, match=told):
        fa.Joint(**given)


def test_dual_screws_of_the_source_have_none() -> None:
    arm = case("linear")[1]
    with pytest.raises(fa.ModelError, match="'link1' has armature, dual screws have"):
        fa.reference.dual_screws.mass_matrix(arm, np.zeros(arm.nq))
