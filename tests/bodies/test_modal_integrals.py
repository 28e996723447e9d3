"""Modal integrals: from nodes, from a mass matrix of a mesh, and given to a body."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from refusals import model_refused
from scipy import sparse
from trees import node_table, random_state

import flexarm as fa
from flexarm import _core
from flexarm.bodies import nodal_integrals
from flexarm.bodies.node_sums import node_sums
from flexarm.dynamics.spatial_operators import operators
from flexarm.finite_elements.consistent import consistent_integrals
from flexarm.reference import lagrangian, twin

FIELDS = [f.name for f in dataclasses.fields(fa.ModalIntegrals)]


def skew(x: Any) -> Any:
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def assert_same(found: Any, expected: Any, roundings: float = 1e-14) -> None:
    for name in FIELDS:
        a, b = getattr(found, name), getattr(expected, name)
        if b is None:
            assert a is None
            continue
        scale = max(np.abs(b).max(initial=0.0), 1e-3)
        assert_allclose(a, b, rtol=0, atol=roundings * scale, err_msg=name)


def without_masses(body: Any, integrals: Any = None) -> Any:
    """The same body by its integrals; nodes that are rigid bodies keep their mass."""
    held = np.zeros(body.n_nodes)
    held[list(body._rigid_nodes)] = 1.0
    return body.replace(
        node_mass=held * body.node_mass,
        node_com=held[:, None] * body.node_com,
        node_inertia=held[:, None, None] * body.node_inertia,
        integrals=body._own_integrals if integrals is None else integrals,
    )


def block_diagonal(body: Any) -> Any:
    """Mass matrix of the nodes of a body, in the order of finite elements."""
    n = body.n_nodes
    M = np.zeros((6 * n, 6 * n))
    for j in range(n):
        m, c = body.node_mass[j], skew(body.node_com[j])
        block = np.block([[m * np.eye(3), -m * c], [m * c, body.node_inertia[j]]])
        M[6 * j : 6 * j + 6, 6 * j : 6 * j + 6] = block
    return M


def random_mass(rng: Any, n: int) -> Any:
    """Full positive definite matrix in which rigid translations carry one mass.

    Points with masses whose velocity nodes interpolate, and any matrix on motions that
    are not translations.
    """
    points = 5 * n
    weights = rng.uniform(0.1, 1.0, points)
    N = rng.uniform(-0.5, 1.5, (points, n))
    N /= N.sum(axis=1)[:, None]
    M = np.zeros((6 * n, 6 * n))
    for q in range(points):
        row = np.zeros((3, 6 * n))
        for j in range(n):
            row[:, 6 * j : 6 * j + 3] = N[q, j] * np.eye(3)
            row[:, 6 * j + 3 : 6 * j + 6] = skew(rng.normal(scale=0.1, size=3))
        M += weights[q] * row.T @ row
    R = np.tile(np.vstack([np.eye(3), np.zeros((3, 3))]), (n, 1))
    P = np.eye(6 * n) - R @ np.linalg.pinv(R)
    A = P @ rng.normal(size=(6 * n, 6 * n)) @ P / 6.0
    return M + A @ A.T


def by_pairs(M: Any, l0: Any, gamma: Any, lam: Any, eta: Any) -> Any:
    """M_m(eta) of [Pi, B*]' M [Pi, B*], block by block; any dtype of eta."""
    n, m = gamma.shape[0], gamma.shape[2]
    A = np.zeros((n, 6, m + 6), dtype=np.asarray(eta).dtype)
    for j in range(n):
        A[j, :3, :m], A[j, 3:, :m] = gamma[j], lam[j]
        A[j, :3, m : m + 3] = -skew(l0[j] + gamma[j] @ eta)
        A[j, :3, m + 3 :] = A[j, 3:, m : m + 3] = np.eye(3)
    total = 0
    for i in range(n):
        for j in range(n):
            total = total + A[i].T @ M[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] @ A[j]
    return total


def random_mesh(seed: int, n: int = 4, m: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    shapes = rng.normal(scale=0.3, size=(2, n, 3, m))
    shapes[:, 0] = 0.0
    return random_mass(rng, n), rng.uniform(-1, 1, (n, 3)), *shapes, rng


@pytest.mark.parametrize("seed", range(6))
def test_pair_sums_of_uncoupled_nodes_are_node_sums(seed: int) -> None:
    for body in fa.library.random_tree(
        seed, 3, 5, n_nodes=5, foreshortening=0.0
    ).bodies:
        found = consistent_integrals(
            block_diagonal(body),
            body.node_position,
            body.node_translation,
            body.node_rotation,
        )
        # the inertias of a mesh keep their axes
        parts = ("mass", "com", "inertia", "position", "rotation", "translation")
        nodes = (getattr(body, f"node_{name}") for name in parts)
        assert_same(found, node_sums(*nodes, turns=False))


@pytest.mark.parametrize("seed", range(6))
def test_mass_matrix_of_a_mesh_by_its_definition(seed: int) -> None:
    """Coefficients and brute force, at deflections that are not small."""
    M, l0, gamma, lam, rng = random_mesh(seed)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    c = consistent_integrals(M, l0, gamma, lam)
    eta = rng.normal(size=(5, 3))
    found = c.mass_matrix(eta)
    for k in range(5):
        expected = by_pairs(M, l0, gamma, lam, eta[k])
        scale = np.abs(expected).max()
        assert_allclose(found[k], expected, rtol=0, atol=1e-14 * scale)
        assert np.linalg.eigvalsh(found[k])[0] > 0.0
    assert_same(consistent_integrals(sparse.coo_array(M), l0, gamma, lam), c)


def test_mesh_without_rotations() -> None:
    M, l0, gamma, lam, _ = random_mesh(3)
    at = np.ravel(6 * np.arange(4)[:, None] + np.arange(3))
    still = np.zeros_like(M)
    still[np.ix_(at, at)] = M[np.ix_(at, at)]
    assert_same(
        consistent_integrals(M[np.ix_(at, at)], l0, gamma),
        consistent_integrals(still, l0, gamma, lam),
    )


def test_order_and_halves_of_nodes_do_not_matter() -> None:
    """Jain and Rodriguez digest, test 24."""
    M, l0, gamma, lam, rng = random_mesh(8)
    expected = consistent_integrals(M, l0, gamma, lam)
    order = rng.permutation(4)
    at = np.ravel(6 * order[:, None] + np.arange(6))
    found = consistent_integrals(M[np.ix_(at, at)], l0[order], gamma[order], lam[order])
    assert_same(found, expected)
    # the last node as two at one place, which share its rows and columns equally
    twice, S = [0, 1, 2, 3, 3], np.eye(5)[:, :4]
    S[3, 3] = S[4, 3] = 0.5
    half = np.kron(S, np.eye(6))
    found = consistent_integrals(half @ M @ half.T, l0[twice], gamma[twice], lam[twice])
    assert_same(found, expected)


def test_change_of_basis() -> None:
    M, l0, gamma, lam, rng = random_mesh(2)
    W = rng.normal(size=(3, 2))
    found = consistent_integrals(M, l0, gamma, lam).change_basis(W)
    assert_same(found, consistent_integrals(M, l0, gamma @ W, lam @ W))


def test_nodal_integrals_are_those_of_the_kernel() -> None:
    """The packed array is the layout of the C model."""
    for body in fa.library.random_tree(4, 4, 4, n_nodes=4).bodies:
        mass, mp0, J0, flat = _core.modal_integrals(body.n_modes, node_table(body))
        packed = fa.modal_integrals(body).pack()
        size = len(packed) - 10
        assert_allclose(
            packed, np.concatenate([[mass], mp0, J0, flat[:size]]), atol=1e-14
        )
        assert len(flat) == size + 2 * body.n_modes**2


# bodies with given integrals


@pytest.mark.parametrize("seed", range(8))
def test_given_integrals_move_like_the_nodes_they_came_from(seed: int) -> None:
    arm = fa.library.random_tree(seed + 30, n_bodies=5, max_modes=4, n_nodes=4)
    assert any(b.n_modes for b in arm.bodies)
    other = arm.replace(
        bodies=[without_masses(b) if b.n_modes else b for b in arm.bodies]
    )
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    scale = np.abs(tau).max()
    for found in (
        fa.inverse_dynamics(other, q, qd, qdd),
        twin.inverse_dynamics(other, q, qd, qdd),
        lagrangian.generalized_forces(other, q, qd, qdd),
    ):
        assert_allclose(found, tau, rtol=0, atol=2e-14 * scale)
    mass = fa.mass_matrix(arm, q)
    for found in (fa.mass_matrix(other, q), lagrangian.mass_matrix(other, q)):
        assert_allclose(found, mass, rtol=0, atol=2e-14 * np.abs(mass).max())
    blocks = operators(other, q).M_m
    assert_allclose(blocks, operators(arm, q).M_m, rtol=0, atol=1e-13)
    energies = [fa.energy(a, q, qd) for a in (arm, other)]
    assert_allclose(energies[1], energies[0], rtol=1e-13)
    for method in ("articulated", "composite"):
        back = fa.forward_dynamics(other, q, qd, tau, method=method)
        worst = np.linalg.cond(mass) * np.abs(qdd).max()
        assert_allclose(back, qdd, rtol=0, atol=1e-14 * worst)


@each("seed", range(4))
def test_given_integrals_with_momentum_apart_from_the_first_moment(seed: int) -> None:
    """E is not mp1 and F1 not skew in those of offset masses with fixed components."""
    arm = fa.library.random_tree(seed + 30, n_bodies=5, max_modes=4, n_nodes=4)
    bodies = [
        b.replace(
            integrals=fa.modal_integrals(b),
            node_mass=np.zeros(b.n_nodes),
            node_com=None,
            node_inertia=None,
        )
        if b.n_modes
        else b
        for b in arm.bodies
    ]
    assert any((b.integrals.mp1 != b.integrals.E).any() for b in bodies if b.n_modes)
    arm = arm.replace(bodies=bodies)
    q, qd, qdd = random_state(np.random.default_rng(seed), arm)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    near = {"rtol": 0, "atol": 2e-14 * np.abs(tau).max()}
    assert_allclose(twin.inverse_dynamics(arm, q, qd, qdd), tau, **near)
    assert_allclose(lagrangian.generalized_forces(arm, q, qd, qdd), tau, **near)
    dq, dqd = fa.inverse_dynamics_derivatives(arm, q, qd, qdd)
    for i, unit in enumerate(np.eye(arm.nv)):
        slope = twin.inverse_dynamics(arm, q, qd + 1e-30j * unit, qdd).imag / 1e-30
        assert_allclose(dqd[:, i], slope, rtol=0, atol=1e-12 * np.abs(dqd).max())
    for i in range(arm.motor_slice.stop, arm.nv):
        moved = q.astype(complex)
        moved[arm.nq - arm.nv + i] += 1e-30j
        slope = twin.inverse_dynamics(arm, moved, qd, qdd).imag / 1e-30
        assert_allclose(dq[:, i], slope, rtol=0, atol=1e-12 * np.abs(dq).max())


class OfMesh(fa.ModalIntegrals):
    """Integrals whose mass matrix is the definition: the mesh, not its coefficients."""

    def mass_matrix(self, eta: Any) -> Any:
        eta = np.asarray(eta)
        if eta.ndim == 2:
            return np.array([self.mass_matrix(x) for x in eta])
        return by_pairs(*self.mesh, eta)


@pytest.mark.parametrize("seed", range(6))
def test_dynamics_are_those_of_the_mesh(seed: int) -> None:
    """Lagrange's equations with T straight from the mass matrix of the mesh."""
    M, l0, gamma, lam, rng = random_mesh(seed + 100)
    c = consistent_integrals(M, l0, gamma, lam)
    direct = OfMesh(**{name: getattr(c, name) for name in FIELDS})
    object.__setattr__(direct, "mesh", (M, l0, gamma, lam))
    joints = [
        fa.Joint(axis=rng.normal(size=3), position=rng.normal(size=3)),
        fa.Joint(["revolute", "prismatic"][seed % 2], axis=rng.normal(size=3)),
    ]
    tip = fa.RigidBody("tool", joints[1], 1.5, (0.1, 0.2, 0), (0.1, 0.2, 0.25))

    def arm(integrals: Any) -> Any:
        flexible = fa.FlexibleBody(
            "mesh",
            joints[0],
            node_position=l0[[0, 2]],
            node_mass=np.zeros(2),
            node_translation=gamma[[0, 2]],
            node_rotation=lam[[0, 2]],
            stiffness=rng.uniform(10, 100, 3),
            integrals=integrals,
        )
        return fa.Arm([flexible, tip])

    rng = np.random.default_rng(seed)
    arms = [arm(c), arm(direct)]
    arms[1] = arms[1].replace(
        bodies=[arms[1].bodies[0].replace(stiffness=arms[0].bodies[0].stiffness), tip]
    )
    q, qd, qdd = random_state(rng, arms[0])
    expected = lagrangian.generalized_forces(arms[1], q, qd, qdd)
    scale = np.abs(expected).max()
    for found in (
        fa.inverse_dynamics(arms[0], q, qd, qdd),
        twin.inverse_dynamics(arms[0], q, qd, qdd),
        lagrangian.generalized_forces(arms[0], q, qd, qdd),
    ):
        assert_allclose(found, expected, rtol=0, atol=2e-14 * scale)
    # and these forces are those of the energies
    step = 1e-40j
    rates = [
        lagrangian.kinetic_energy(arms[1], q + step * qd, qd + step * qdd).imag / 1e-40,
        lagrangian.potential_energy(arms[1], q + step * qd).imag / 1e-40,
    ]
    assert_allclose(expected @ qd, sum(rates), rtol=1e-12)
    assert_allclose(
        fa.kinetic_energy(arms[0], q, qd),
        lagrangian.kinetic_energy(arms[1], q, qd),
        rtol=1e-13,
    )


def test_another_basis_gives_the_same_motion() -> None:
    """eta = W eta': joint accelerations stay (Jain and Rodriguez digest, test 23)."""
    M, l0, gamma, lam, rng = random_mesh(11)
    c = consistent_integrals(M, l0, gamma, lam)
    body = fa.FlexibleBody(
        "mesh",
        node_position=l0,
        node_mass=np.zeros(4),
        node_translation=gamma,
        node_rotation=lam,
        stiffness=[30.0, 50.0, 80.0],
        damping=[0.1, 0.2, 0.3],
        integrals=c,
    )
    tip = fa.RigidBody("tool", fa.Joint(axis=(1, 2, 3)), 1.0, (0.1, 0, 0), (0.1,) * 3)
    W = rng.normal(size=(3, 3)) + 3 * np.eye(3)
    other = body.replace(
        node_translation=gamma @ W,
        node_rotation=lam @ W,
        stiffness=W.T @ body.stiffness @ W,
        damping=W.T @ body.damping @ W,
        integrals=c.change_basis(W),
    )
    arms = [fa.Arm([b, tip]) for b in (body, other)]
    q, qd, _ = random_state(rng, arms[0])
    T = np.eye(5)
    T[2:, 2:] = np.linalg.inv(W)
    qdd = fa.forward_dynamics(arms[0], q, qd, [1.0, -2.0])
    found = fa.forward_dynamics(arms[1], T @ q, T @ qd, [1.0, -2.0])
    scale = np.abs(qdd).max() * np.linalg.cond(fa.mass_matrix(arms[0], q))
    assert_allclose(found, T @ qdd, rtol=0, atol=1e-13 * scale)


def test_bodies_with_integrals_compare_copy_and_travel() -> None:
    arm = fa.library.random_tree(30, n_bodies=3, max_modes=3)
    body = next(without_masses(b) for b in arm.bodies if b.n_modes)
    again = pickle.loads(pickle.dumps(body))
    assert again == body and hash(again) == hash(body)
    assert body.replace(name="x").integrals == body.integrals
    assert body != body.replace(integrals=body.integrals.replace(m=2 * body.mass))
    with pytest.raises(ValueError, match="read-only"):
        body.integrals.G[0, 0] = 1.0
    alone = fa.Arm([body.replace(joint=fa.Joint())])
    assert pickle.loads(pickle.dumps(alone)) == alone


def test_mass_and_frequencies_of_a_body_with_integrals() -> None:
    arm = fa.library.de_luca_siciliano()
    link = arm.bodies[1]
    bare = without_masses(link)
    assert_allclose(bare.mass, link.mass, rtol=1e-15)
    assert_allclose(bare.modal_mass(), link.modal_mass(), atol=1e-16)
    assert_allclose(bare.frequencies(), link.frequencies(), rtol=1e-13)
    assert fa.modal_integrals(bare) is bare.integrals
    assert str(fa.Arm([bare.replace(joint=fa.Joint())])).count("1.2") == 1


# refusals


def given(**changes: Any) -> Any:
    """A rod of two nodes by its integrals, one of them replaced."""
    M = np.kron([[2.0, 1.0], [1.0, 2.0]], np.eye(3)) / 6.0
    shape = np.zeros((2, 3, 1))
    shape[1, 1] = 1.0
    l0 = np.array([[0, 0, 0], [1.0, 0.2, 0.1]])
    c = consistent_integrals(M, l0, shape)
    body = {
        name: changes.pop(name)
        for name in ("integrals", "node_translation")
        if name in changes
    }
    return fa.FlexibleBody(
        "rod",
        **{
            "node_position": l0,
            "node_mass": np.zeros(2),
            "node_translation": shape,
            "stiffness": [10.0],
            "integrals": c.replace(**changes),
            **body,
        },
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mp0": (1, 2)}, ["mp0", "(2,)", "expected (3,)"]),
        ({"E": np.zeros((3, 2))}, ["E of the modal", "(3, 2)", "expected (3, 1)"]),
        ({"J2s": np.zeros((1, 3, 3))}, ["J2s", "expected (1, 1, 3, 3)"]),
        ({"G": [1.0]}, ["G of the modal", "(1,)", "(n, n)"]),
        ({"F1": np.full((3, 1, 1), np.nan)}, ["F1", "nan", "finite"]),
        ({"m": -1.0}, ["'rod'", "mass -1 kg"]),
        ({"J0": np.diag([1.0, 1, 5])}, ["'rod'", "principal", "sum of the other two"]),
        ({"J0": np.diag([-1.0, 1, 1])}, ["'rod'", "negative moment"]),
        ({"J0": np.ones((3, 3)) + np.eye(3, k=1)}, ["'rod'", "not symmetric"]),
        ({"J1s": [np.eye(3, k=1)]}, ["J1s of body 'rod'", "not symmetric"]),
        ({"G": [[-1.0]]}, ["G of body 'rod'", "negative eigenvalue"]),
        ({"G": [[0.01]]}, ["'rod'", "not those of a body", "positive definite"]),
        ({"integrals": "lumped"}, ["integrals of body 'rod'", "str", "ModalIntegrals"]),
        (
            {
                "integrals": fa.modal_integrals(fa.RigidBody("a", mass=1.0)),
                "node_translation": np.eye(3)[[0, 1]][:, :, None],
            },
            ["integrals of body 'rod'", "0 modes", "expected as many"],
        ),
    ],
    ids=lambda x: str(x)[:30],
)
def test_refused_integrals(changes: dict[str, Any], words: list[str]) -> None:
    model_refused(words, lambda: given(**changes))


def test_rigid_motions_among_the_modes_are_refused() -> None:
    M, l0, gamma, lam, _ = random_mesh(5)
    turn = np.cross([0, 0, 1.0], l0)
    gamma[:, :, 1], lam[:, :, 1] = turn, (0, 0, 1)
    gamma[:, 0, 1] += 0.5
    c = consistent_integrals(M, l0, gamma, lam)
    model_refused(
        ["body 'mesh'", "rigid motion", "'1'", "leave"],
        lambda: fa.FlexibleBody(
            "mesh",
            node_position=l0,
            node_mass=np.zeros(4),
            node_translation=gamma,
            node_rotation=lam,
            stiffness=[1.0, 0.0, 1.0],
            integrals=c,
        ),
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.eye(11),), ["mass matrix", "(11, 11)", "expected (12, 12)"]),
        ((sparse.eye(11),), ["mass matrix", "(11, 11)", "expected (12, 12)"]),
        ((np.diag([1.0, 2, 1, 1, 1, 1] * 2),), ["translation", "one mass", "order"]),
        ((np.full((12, 12), np.inf),), ["mass matrix", "inf", "finite"]),
        (("heavy",), ["mass matrix", "'heavy'", "real numbers"]),
    ],
    ids=lambda x: str(x)[:30],
)
def test_refused_mass_matrices(arguments: Any, words: list[str]) -> None:
    shapes = np.zeros((2, 3, 1))
    model_refused(
        words,
        lambda: consistent_integrals(*arguments, np.eye(3)[:2], shapes, shapes),
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"mass": [1.0]},
            ["com has shape (2, 3)", "expected (N, 3) with N = 1 of mass"],
        ),
        ({"com": np.zeros((2, 2))}, ["com has shape (2, 2)", "(N, 3) with N = 2"]),
        ({"inertia": np.eye(3)}, ["inertia", "expected (N, 3, 3) with N = 2"]),
        ({"position": [[0, 0, np.inf]] * 2}, ["position of the nodes", "inf"]),
        (
            {"rotation": np.zeros((2, 3, 2))},
            ["(2, 3, 1)", "with N = 2 of mass and n = 2"],
        ),
        ({"translation": np.zeros((2, 3))}, ["translation", "expected (N, 3, n)"]),
    ],
    ids=str,
)
def test_refused_nodes(changes: dict[str, Any], words: list[str]) -> None:
    nodes = {
        "mass": np.ones(2),
        "com": np.zeros((2, 3)),
        "inertia": np.zeros((2, 3, 3)),
        "position": np.zeros((2, 3)),
        "rotation": np.zeros((2, 3, 1)),
        "translation": np.ones((2, 3, 1)),
    }
    assert nodal_integrals(**nodes).G == 6.0
    model_refused(words, lambda: nodal_integrals(**(nodes | changes)))


def test_units_and_massless_arms_look_at_the_integrals() -> None:
    zero = fa.RigidBody("a", mass=0.0)
    none = fa.FlexibleBody(
        "none",
        node_position=[[0, 0, 0]],
        node_mass=[0.0],
        node_translation=np.zeros((1, 3, 0)),
        integrals=fa.modal_integrals(zero),
    )
    model_refused(["'none'", "massless"], lambda: fa.Arm([none]))
    disc = none.replace(integrals=none.integrals.replace(J0=np.eye(3)))
    assert fa.mass_matrix(fa.Arm([disc]), [0.0]) == 1.0
    far = none.replace(
        integrals=fa.modal_integrals(fa.RigidBody("b", mass=1.0, com=(300.0, 0, 0)))
    )
    model_refused(["'none'", "300", "millimetres"], lambda: fa.Arm([far]))
