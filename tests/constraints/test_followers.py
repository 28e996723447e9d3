"""Joints that follow others: the tree of all joints, restricted to B q + offset."""

from __future__ import annotations

from typing import Any

import numpy as np
from arrays import Array
from each import each
from named import function
from numpy.testing import assert_allclose, assert_array_equal

import flexarm as fa

JOINTS = ("revolute", "revolute", "revolute", "prismatic", "fixed")
OTHERS = ("helical", "spherical", "cylindrical", "free", "screw")


def coupled(seed: int, modes: int = 0, others: bool = False) -> fa.Arm:
    """A random tree with couplings across its branches and along them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 11))
    joints = JOINTS + OTHERS if others else JOINTS
    tree = fa.library.random_tree(rng, n, modes, joints=joints)
    bodies = list(tree.bodies)
    if others:  # forces inside joints that may lead or follow
        for k, body in enumerate(bodies):
            if body.joint.n_dof == 1 and rng.uniform() < 0.5:
                inside = body.joint.replace(
                    stiffness=3.0,
                    armature=0.2,
                    rest=0.2,
                    stops=fa.Stops(-0.2, 0.3, 40.0, damping=0.3),
                    coulomb_friction=fa.CoulombFriction(0.3, 0.1),
                )
                bodies[k] = body.replace(joint=inside)
    single = [b.name for b in bodies if b.joint.n_dof == 1 and not b.joint.has_pose]
    rng.shuffle(single)
    couplings = []
    sets = int(rng.integers(1, 3))
    for i, name in enumerate(
        single[sets:]
    ):  # behind their leaders, or among themselves
        if rng.uniform() < 0.7:
            other = single[i % sets] if rng.uniform() < 0.7 else single[sets + i - 1]
            terms = {name: rng.uniform(0.5, 2), other: rng.uniform(-2, 2)}
            couplings.append(fa.Coupling(terms, rng.uniform(-1, 1), f"c{i}"))
    result: fa.Arm = tree.replace(bodies=bodies, constraints=couplings)
    return result


class Restricted:
    """The tree of an arm, q_tree = B q + offset."""

    def __init__(self, arm: fa.Arm) -> None:
        self.tree = arm.replace(constraints=())
        names = (self.tree.coordinate_names, arm.coordinate_names)
        places = (self.tree.position_names, arm.position_names)
        self.B = self.matrix(arm, *names)
        self.B_q = self.matrix(arm, *places)
        self.offset = np.array(
            [arm.followers.get(x, ("", 0.0, 0.0))[2] for x in self.tree.position_names]
        )

    def matrix(self, arm: fa.Arm, rows: Any, columns: Any) -> Array:
        result = np.zeros((len(rows), len(columns)))
        for i, name in enumerate(rows):
            leader, ratio, _ = arm.followers.get(name, (name, 1.0, 0.0))
            result[i, columns.index(leader)] = ratio
        return result

    def positions(self, q: Array) -> Array:
        return np.asarray(q @ self.B_q.T + self.offset)


def states(arm: fa.Arm, seed: int, n: int = 5) -> list[Array]:
    """States, and two more arrays of velocities."""
    rng = np.random.default_rng(seed)
    q = np.tile(arm.neutral, (n, 1))
    q = fa.integrate(arm, q, 0.5 * rng.uniform(-1, 1, (n, arm.nv)))
    return [q, *rng.normal(size=(3, n, arm.nv))]


def near(what: str, value: Any, expected: Any, rtol: float = 1e-13) -> None:
    size = max(1.0, float(np.abs(expected).max(initial=0.0)))
    assert_allclose(value, expected, rtol=0.0, atol=rtol * size, err_msg=what)


def accelerations(of: Restricted, q: Array, qd: Array, tau: Array) -> Array:
    """Dense solution with M and bias forces of the tree."""
    B, Q = of.B, of.positions(q)
    M = B.T @ fa.mass_matrix(of.tree, Q) @ B
    bias = fa.bias_forces(of.tree, Q, qd @ B.T) @ B
    return np.asarray(np.linalg.solve(M, (tau - bias)[..., np.newaxis])[..., 0])


CASES = [(seed, 0, False) for seed in range(24)]
CASES += [(seed, 0, True) for seed in range(100, 108)]
CASES += [(seed, 2, False) for seed in range(200, 205)]


@each("seed, modes, others", CASES)
def test_kernels_of_dynamics(seed: int, modes: int, others: bool) -> None:
    agree_with_the_tree(coupled(seed, modes, others), seed)


def agree_with_the_tree(arm: fa.Arm, seed: int) -> None:
    of = Restricted(arm)
    tree, B = of.tree, of.B
    assert arm.nv + len(arm.followers) == tree.nv and not arm.constraint_names
    q, qd, qdd, tau = states(arm, seed)
    Q, QD, QDD = of.positions(q), qd @ B.T, qdd @ B.T

    # what runs outward from coordinates
    near(
        "id",
        fa.inverse_dynamics(arm, q, qd, qdd),
        fa.inverse_dynamics(tree, Q, QD, QDD) @ B,
    )
    near("c", fa.bias_forces(arm, q, qd), fa.bias_forces(tree, Q, QD) @ B)
    near("g", fa.gravity_forces(arm, q), fa.gravity_forces(tree, Q) @ B)
    M = B.T @ fa.mass_matrix(tree, Q) @ B
    near("M", fa.mass_matrix(arm, q), M)
    assert_array_equal(
        fa.mass_matrix(arm, q), np.swapaxes(fa.mass_matrix(arm, q), 1, 2)
    )
    near(
        "Mx",
        fa.Arm.apply_mass_matrix(arm, q, qdd),
        fa.Arm.apply_mass_matrix(tree, Q, QDD) @ B,
    )
    near("power", fa.dissipated_power(arm, q, qd), fa.dissipated_power(tree, Q, QD))
    near("energy", fa.energy(arm, q, qd), fa.energy(tree, Q, QD))
    near("momentum", fa.momentum(arm, q, qd), fa.momentum(tree, Q, QD))
    for name in ("link_poses", "node_poses", "center_of_mass"):
        near(name, function(name)(arm, q), function(name)(tree, Q))
    near("J", fa.jacobian(arm, q), fa.jacobian(tree, Q) @ B)
    near("Js", fa.link_jacobians(arm, q), fa.link_jacobians(tree, Q) @ B)
    near("V", fa.link_velocities(arm, q, qd), fa.link_velocities(tree, Q, QD))
    dJ = np.einsum("...ijk,ja,kb->...iab", fa.jacobian_derivatives(tree, Q), B, B)
    near("dJ", fa.jacobian_derivatives(arm, q), dJ)
    for mine, theirs in zip(
        fa.inverse_dynamics_derivatives(arm, q, qd, qdd),
        fa.inverse_dynamics_derivatives(tree, Q, QD, QDD),
        strict=True,
    ):
        near("d id", mine, B.T @ theirs @ B)
    for mine, theirs in zip(
        fa.Arm.energy_derivatives(arm, q, qd),
        fa.Arm.energy_derivatives(tree, Q, QD),
        strict=True,
    ):
        near("dE", mine, theirs @ B)

    # what divides by the mass matrix
    condition = float(np.linalg.cond(M).max())
    rtol = 1e-15 * max(10.0, condition)
    expected = accelerations(of, q, qd, tau)
    for method in ("articulated", "composite"):
        value = fa.forward_dynamics(arm, q, qd, tau, method=method)
        near(method, value, expected, 10 * rtol)
    near("basic", arm.kernels.forward_dynamics_basic(q, qd, tau), expected, 10 * rtol)
    inverse = np.linalg.inv(M)
    near("M^-1", fa.mass_matrix_inverse(arm, q), inverse, rtol)
    x = fa.Arm.apply_mass_matrix_inverse(arm, q, tau)
    near("M^-1 x", x, (inverse @ tau[..., np.newaxis])[..., 0], rtol)
    near("log det", fa.log_det_mass_matrix(arm, q), np.linalg.slogdet(M)[1])
    J = fa.jacobian(arm, q)
    near(
        "W",
        fa.operational_space_compliance(arm, q),
        J @ inverse @ np.swapaxes(J, 1, 2),
        rtol,
    )


@each("seed", range(6))
def test_derivatives_of_forward_dynamics(seed: int) -> None:
    """M qdd + c = tau, differentiated: from inverse dynamics of the tree."""
    arm = coupled(seed, 2 * (seed % 2))
    of = Restricted(arm)
    q, qd, _, tau = states(arm, seed, 2)
    B, Q = of.B, of.positions(q)
    qdd = accelerations(of, q, qd, tau)
    inverse = np.linalg.inv(B.T @ fa.mass_matrix(of.tree, Q) @ B)
    forces = fa.inverse_dynamics_derivatives(of.tree, Q, qd @ B.T, qdd @ B.T)
    expected = [-inverse @ B.T @ x @ B for x in forces] + [inverse]
    found = fa.forward_dynamics_derivatives(arm, q, qd, tau)
    for mine, theirs in zip(found, expected, strict=True):
        near("d fd", mine, theirs, 1e-10)
