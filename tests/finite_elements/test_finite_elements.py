"""Meshes of finite elements and their modes, against beams and dense algebra."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.io
import scipy.linalg
from few_modes import few_modes
from meshes import LENGTH, beam, block
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import flexarm as fa
from flexarm import beams
from flexarm import finite_elements as fe
from flexarm.finite_elements._component_modes import MeshModes
from flexarm.finite_elements.eigenproblems import MAX_DENSE
from flexarm.reference import lagrangian, twin


def dense(mesh: fe.FiniteElementModel, free: Any = slice(None)) -> Any:
    return mesh.stiffness.toarray()[free, free], mesh.mass.toarray()[free, free]


CLAMPED = slice(6, None)  # all degrees of freedom but those of the first node


# elements


def test_first_element_is_that_of_the_books() -> None:
    """Przemieniecki (1968), eqs. (5.116) and (11.31), without shear."""
    mesh = fe.beam_mesh(
        2.0,
        1,
        mass_per_length=210.0,
        bending_stiffness=(1.0, 3.0),
        axial_stiffness=7.0,
        torsional_stiffness=5.0,
        section_inertia=(6.0, 0.0, 0.0),
    )
    K, M = dense(mesh)
    y, z = [1, 5, 7, 11], [2, 4, 8, 10]
    h = 2.0
    bending = [
        [12, 6 * h, -12, 6 * h],
        [6 * h, 4 * h * h, -6 * h, 2 * h * h],
        [-12, -6 * h, 12, -6 * h],
        [6 * h, 2 * h * h, -6 * h, 4 * h * h],
    ]
    mass = [
        [156, 22 * h, 54, -13 * h],
        [22 * h, 4 * h * h, 13 * h, -3 * h * h],
        [54, 13 * h, 156, -22 * h],
        [-13 * h, -3 * h * h, -22 * h, 4 * h * h],
    ]
    other = np.outer([1, -1, 1, -1], [1, -1, 1, -1])
    assert_allclose(K[np.ix_(y, y)], np.array(bending) / h**3, atol=1e-14)
    assert_allclose(K[np.ix_(z, z)], 3.0 * other * bending / h**3, atol=1e-14)
    assert_allclose(M[np.ix_(y, y)], mass, rtol=1e-13)
    assert_allclose(M[np.ix_(z, z)], other * mass, rtol=1e-13)
    for at, k, m in (([0, 6], 7.0, 210.0), ([3, 9], 5.0, 6.0)):
        assert_allclose(K[np.ix_(at, at)], [[k / 2, -k / 2], [-k / 2, k / 2]])
        assert_allclose(M[np.ix_(at, at)], m * h / 6 * np.array([[2, 1], [1, 2]]))


def test_shear_of_a_timoshenko_beam() -> None:
    """Tip deflection F L^3 / 3 EI + F L / kGA, whatever the number of elements."""
    for n in (1, 3, 10):
        K, _ = dense(beam(n, shear_stiffness=(300.0, 900.0)), CLAMPED)
        tip = np.linalg.inv(K)[-6:, -6:]
        assert_allclose(tip[1, 1], LENGTH**3 / 60.0 + LENGTH / 300.0, rtol=1e-12)
        assert_allclose(tip[2, 2], LENGTH**3 / 135.0 + LENGTH / 900.0, rtol=1e-12)
        assert_allclose(tip[5, 1], LENGTH**2 / 40.0, rtol=1e-12)
        assert_allclose(tip[4, 2], -(LENGTH**2) / 90.0, rtol=1e-12)


def test_mass_and_inertia_of_a_beam() -> None:
    mesh = beam(7, section_inertia=(2e-4, 1e-4, 3e-4))
    assert_allclose(mesh.total_mass, 0.6, rtol=1e-14)
    assert_allclose(mesh.centre_of_mass, [0.6, 0, 0], atol=1e-15)
    rigid = mesh.rigid_motions()
    about_end = 0.6 * LENGTH**2 / 3
    inertia = [2e-4 * LENGTH, about_end + 1e-4 * LENGTH, about_end + 3e-4 * LENGTH]
    M = rigid.T @ (mesh.mass @ rigid)
    assert_allclose(np.diag(M), [*inertia, 0.6, 0.6, 0.6], rtol=1e-13)


# frequencies


@pytest.mark.parametrize(("plane", "EI"), [(1, 20.0), (2, 45.0)])
def test_frequencies_converge_to_those_of_a_beam(plane: int, EI: float) -> None:
    """The error falls by 16 for half the element length, and ends at rounding."""
    exact = beams.clamped_beam_modes(LENGTH, 0.5, EI, 3).omega
    errors = []
    for n in (4, 8, 16, 32):
        modes = beam(n).clamped_modes("0", 16)
        own = modes.omega[np.abs(modes.shapes[plane - 6]) > 1e-6][:3]
        errors.append(own / exact - 1.0)
    assert (np.array(errors) > 0.0).all()  # Rayleigh: from above
    ratio = np.array(errors[1:-1]) / errors[2:]
    assert_allclose(ratio[:, 0], 16.0, rtol=0.02)
    assert_allclose(ratio[-1], 16.0, rtol=0.1)
    assert errors[-1][0] < 1e-8


def test_free_modes_are_those_of_a_free_beam() -> None:
    """(beta L) = 4.7300407 and 7.8532046; no momentum, no rigid motion."""
    mesh = beam(40)
    modes = mesh.free_modes(8)
    beta = np.array([4.730040744862704, 7.853204624095838]) / LENGTH
    expected = np.sort(np.sqrt(np.outer([20.0, 45.0], beta**4) / 0.5).ravel())
    torsion = np.pi / LENGTH * np.sqrt(15.0 / 2e-4)
    found = modes.omega[modes.omega < 0.9 * torsion][:4]
    assert_allclose(found, expected, rtol=3e-6)
    rigid = mesh.rigid_motions()
    assert np.abs(rigid.T @ (mesh.mass @ modes.shapes)).max() < 1e-14
    assert_allclose(modes.mass, np.eye(8), atol=1e-9)
    body = modes.body("link")
    c = body.integrals
    assert_allclose(c.mp0, 0, atol=1e-15)
    assert_allclose(c.E, 0, atol=1e-14)
    assert_allclose(c.F0, 0, atol=1e-14)
    assert_allclose(body.frequencies(), modes.frequency, rtol=1e-9)


@pytest.mark.parametrize("way", ["clamped", "free", "craig_bampton"])
def test_arpack_and_lapack_agree(way: str) -> None:
    """A mesh above the limit, and its dense eigenvalue problem."""
    n = MAX_DENSE // 6 + 4
    mesh = beam(n, torsional_stiffness=3.3)
    assert mesh.n_dof > MAX_DENSE

    def modes() -> MeshModes:
        if way == "free":
            return mesh.free_modes(6)
        if way == "clamped":
            return mesh.clamped_modes("0", 6)
        return mesh.craig_bampton("0", [n // 2, n], 12, orthogonalize=False)

    found = modes()
    assert_array_equal(modes().shapes, found.shapes)
    if way == "craig_bampton":
        held = np.r_[mesh.dofs("0"), mesh.dofs(n // 2), mesh.dofs(n)]
        K, M = (np.delete(np.delete(A, held, 0), held, 1) for A in dense(mesh))
        values = 1.0 / scipy.linalg.eigh(M, K, eigvals_only=True)[::-1][:12]
        frequencies = np.sqrt(np.diag(found.stiffness)[12:])
        assert_allclose(frequencies, np.sqrt(values), rtol=2e-8)
        return
    assert_allclose(found.mass, np.eye(found.n_modes), atol=1e-8)
    if way == "free":
        K, M = dense(mesh)
        values = scipy.linalg.eigh(K, M, eigvals_only=True)[6:12]
    else:
        K, M = dense(mesh, CLAMPED)
        values = 1.0 / scipy.linalg.eigh(M, K, eigvals_only=True)[::-1][:6]
    # the mesh is so fine that the sums of its stiffness lose eight digits
    assert_allclose(found.omega, np.sqrt(values), rtol=2e-7)
    x, w2 = found.shapes, np.diag(found.stiffness)
    rest = mesh.stiffness @ x - (mesh.mass @ x) * w2
    size = abs(mesh.stiffness) @ np.abs(x)
    assert np.abs(rest[CLAMPED]).max() < 1e-15 * size.max()


# reduction


@pytest.mark.parametrize("orthogonalize", [True, False])
def test_craig_bampton_with_all_modes_is_the_mesh(orthogonalize: bool) -> None:
    mesh = beam(4)
    modes = mesh.craig_bampton("0", ["2", "4"], 12, orthogonalize=orthogonalize)
    assert modes.n_modes == mesh.n_dof - 6
    K, M = dense(mesh, CLAMPED)
    with mpmath.workdps(40):
        back = mpmath.cholesky(mpmath.matrix(M.tolist())) ** -1
        squares = mpmath.eigsy(back * mpmath.matrix(K.tolist()) * back.T, True)
        expected = np.sort([float(mpmath.sqrt(x)) for x in squares])
    # the compliance 1 / omega^2 is good to a rounding of the largest
    rounding = 4e-16 * (expected / expected[0]) ** 2
    assert (np.abs(modes.omega / expected - 1.0) < 2e-14 + rounding).all()
    body = modes.body("link")
    assert_allclose(body.frequencies(), expected / (2 * np.pi), rtol=1e-10)
    # the stiffness in these shapes, formed from the mesh
    direct = modes.shapes.T @ (mesh.stiffness @ modes.shapes)
    scale = np.sqrt(np.outer(np.diag(direct), np.diag(direct)))
    assert_allclose(modes.stiffness / scale, direct / scale, atol=1e-10)


@pytest.mark.parametrize("n_modes", [0, 3])
@pytest.mark.parametrize("orthogonalize", [True, False])
def test_static_compliance_of_interfaces_is_exact(
    n_modes: int, orthogonalize: bool
) -> None:
    mesh = beam(12)
    modes = mesh.craig_bampton("0", [5, 12], n_modes, orthogonalize=orthogonalize)
    at = np.r_[mesh.dofs(5), mesh.dofs(12)]
    K, _ = dense(mesh, CLAMPED)
    expected = np.linalg.inv(K)[np.ix_(at - 6, at - 6)]
    P = modes.shapes[at]
    found = P @ np.linalg.solve(modes.stiffness, P.T)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert_allclose(found / scale, expected / scale, atol=1e-10)
    # and the theory of beams
    assert_allclose(found[7, 7], LENGTH**3 / 60.0, rtol=1e-10)


def test_an_interface_close_to_the_clamp_is_no_rigid_motion() -> None:
    """Its constraint modes turn all of the beam but the first element."""
    mesh = beam(300)
    body = mesh.craig_bampton("0", ["1"], 2, orthogonalize=False).body("link")
    assert body.n_modes == 8


def test_constraint_modes_are_displacements_of_the_interfaces() -> None:
    modes = beam(6).craig_bampton("0", ["3", "6"], 2, orthogonalize=False)
    body = modes.body("link")
    assert body.mode_names[:7] == ("3 x", "3 y", "3 z", "3 rx", "3 ry", "3 rz", "6 x")
    assert body.mode_names[-2:] == ("fixed 1", "fixed 2")
    assert body.node_names == ("0", "3", "6")
    motion = np.concatenate([body.node_translation, body.node_rotation], axis=1)
    assert_allclose(motion[0], 0, atol=0)
    assert_allclose(motion[1:].reshape(12, 14), np.eye(12, 14), atol=1e-15)


@pytest.mark.parametrize("n_elements", [1, 3])
def test_kinetic_energy_of_a_mesh(n_elements: int) -> None:
    """Swinging nodes, with the momentum of the centre of mass, as one square."""
    mesh = beam(n_elements, section_inertia=(2e-4, 1e-4, 1e-4))
    tip = str(n_elements)
    modes = mesh.craig_bampton("0", [tip], 0, orthogonalize=False)
    c, M = modes.body("link").integrals, mesh.mass.toarray()
    R, rng = mesh.rigid_motions(), np.random.default_rng(0)
    for _ in range(5):
        eta, etad = rng.normal(size=(2, 6))  # slopes of one radian and more
        omega, v = rng.normal(size=(2, 3))
        y = R @ [*omega, *v] + modes.shapes @ etad
        swing = np.zeros(mesh.n_dof)
        for j in range(mesh.n_nodes):
            at = slice(6 * j, 6 * j + 3)
            swing[at] = np.cross(omega, modes.shapes[at] @ eta)
        centre = R[:, 3:].T @ M @ modes.shapes @ eta / 0.6
        missing = np.cross(omega, centre) - R[:, 3:].T @ M @ swing / 0.6
        y = y + swing + R[:, 3:] @ missing
        V = np.concatenate([etad, omega, v])
        found = c.mass_matrix(eta)
        assert_allclose(V @ found @ V, y @ M @ y, rtol=1e-13)
        assert np.linalg.eigvalsh(found)[0] > 0.0
    assert_array_equal(c.mp1, c.E)


def test_statics_under_gravity_are_those_of_the_mesh() -> None:
    """With all modes: K x = M g, node by node, although elements have rotations."""
    mesh = beam(3)
    modes = mesh.craig_bampton("0", ["3"], 12)
    body = modes.body("link", fa.Joint("fixed"), nodes=["1", "2"])
    arm = fa.Arm([body], gravity=(0.3, -9.0, 2.0))
    loads = fa.gravity_forces(arm, np.zeros(arm.nv))
    eta = np.linalg.solve(body.stiffness, -loads)
    K, M = dense(mesh)
    weight = M @ np.tile([0.3, -9.0, 2.0, 0, 0, 0], 4)
    expected = np.linalg.solve(K[CLAMPED, CLAMPED], weight[CLAMPED]).reshape(3, 6)
    order = [1, 2, 3]
    assert body.node_names == ("0", "1", "2", "3")
    scale = np.abs(expected).max()
    for part, columns in (
        ("node_translation", slice(3)),
        ("node_rotation", slice(3, 6)),
    ):
        found = (getattr(body, part) @ eta)[order]
        assert_allclose(found, expected[:, columns], atol=1e-11 * scale)


@few_modes()
@pytest.mark.parametrize("seed", range(3))
def test_arm_with_a_mesh_is_the_arm_with_the_link(seed: int) -> None:
    """Same modes, as a mesh and as Gauss points: errors fall as the square of h."""
    y = beams.clamped_beam_modes(LENGTH, 0.5, 20.0, 2)
    z = beams.clamped_beam_modes(LENGTH, 0.5, 45.0, 2)
    link = beams.flexible_link(
        "link",
        length=LENGTH,
        mass_per_length=0.5,
        bending_y=y,
        bending_z=z,
        damping_ratio=0.02,
        geometric_stiffening=False,
    )
    base = fa.RigidBody("base", fa.Joint(axis=(1, 2, 0)), 1.0, (0.1, 0, 0), (0.1,) * 3)
    tool = fa.RigidBody("tool", fa.Joint(axis=(0, 1, 1)), 0.4, (0.1, 0, 0), (1e-3,) * 3)
    arm = fa.Arm([base, link, tool])
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.normal(size=(3, arm.nv))
    q[3:] *= 0.05
    expected = fa.inverse_dynamics(arm, q, qd, qdd)

    def error(n: int) -> Any:
        mesh = beam(n, section_inertia=(1e-14, 0.0, 0.0))
        x = mesh.coordinates[:, 0]
        shapes = np.zeros((n + 1, 6, 4))
        shapes[:, 1, :2], shapes[:, 5, :2] = y.shape(x).T, y.slope(x).T
        shapes[:, 2, 2:], shapes[:, 4, 2:] = z.shape(x).T, -z.slope(x).T
        modes = mesh.modes(shapes.reshape(-1, 4), attachment="0", names=link.mode_names)
        body = modes.body("link", link.joint, nodes=[n], damping_ratio=0.02)
        other = fa.Arm([base, body, tool])
        assert other.coordinate_names == arm.coordinate_names
        return fa.inverse_dynamics(other, q, qd, qdd) - expected

    coarse, middle, fine = error(20), error(40), error(80)
    scale = np.abs(expected).max()
    assert np.abs(fine).max() < 1e-4 * scale
    # what is left when the error of second order is taken out
    rest = [np.abs(4.0 * middle - coarse).max(), np.abs(4.0 * fine - middle).max()]
    assert rest[1] < 1e-6 * scale
    assert rest[0] > 8.0 * rest[1]


@pytest.mark.parametrize("kind", ["beam", "solid", "free"])
def test_arms_with_meshes_obey_the_lagrangian(kind: str) -> None:
    """Kernels, twin and Lagrange's equations, with modes of beams and of solids."""
    mesh = beam(4).with_rigid_patch("tip", ["4"])
    modes = mesh.free_modes(5)
    if kind == "beam":
        modes = mesh.craig_bampton("0", ["tip"], 2, orthogonalize=False)
    if kind == "solid":
        mesh = block((4, 1, 1), (0.8, 0.1, 0.15), young=1e5, poisson=0.3)
        ends = [np.flatnonzero(np.isclose(mesh.coordinates[:, 0], s)) for s in (0, 0.8)]
        names = [[mesh.node_names[j] for j in end] for end in ends]
        mesh = mesh.with_rigid_patch("root", names[0])
        mesh = mesh.with_rigid_patch("tip", names[1])
        modes = mesh.craig_bampton("root", ["tip"], 1)
    joint = fa.Joint(axis=(1, 2, 3))
    body = modes.body("link", joint, nodes=["tip"], damping_ratio=0.02)
    tool = fa.RigidBody("tool", fa.Joint(axis=(0, 1, 1)), 0.4, (0.1, 0, 0), (1e-3,) * 3)
    arm = fa.Arm([body, tool])
    rng = np.random.default_rng(5)
    q, qd, qdd = rng.normal(size=(3, arm.nv))
    q[2:] *= 0.05
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    scale = np.abs(tau).max()
    for other in (twin.inverse_dynamics, lagrangian.generalized_forces):
        assert_allclose(other(arm, q, qd, qdd), tau, rtol=0, atol=2e-14 * scale)
    back = fa.forward_dynamics(arm, q, qd, tau)
    worst = np.linalg.cond(fa.mass_matrix(arm, q)) * np.abs(qdd).max()
    assert_allclose(back, qdd, rtol=0, atol=1e-14 * worst)


def test_a_falling_mesh_keeps_its_energy() -> None:
    mesh = beam(10)
    body = mesh.craig_bampton("0", ["10"], 3).body("link")
    tool = fa.RigidBody("tool", fa.Joint(), 0.3, (0.1, 0, 0), (0.01,) * 3)
    arm = fa.Arm([body, tool], gravity=(0.0, -9.81, 0.0))
    t = np.linspace(0.0, 0.2, 4001)
    run = fa.simulate(arm, np.zeros(arm.nq), np.zeros(arm.nv), t)
    swing = fa.kinetic_energy(arm, run.q, run.qd).max()
    assert swing > 1.0
    assert np.abs(run.energy - run.energy[0]).max() < 1e-11 * swing


def test_damping_ratio_of_coupled_coordinates() -> None:
    """C is that of the natural modes, in any coordinates."""
    mesh = beam(5)
    zeta = np.linspace(0.01, 0.09, 9)
    plain = mesh.craig_bampton("0", ["5"], 3, orthogonalize=False)
    body = plain.body("link", damping_ratio=zeta)
    w2, V = scipy.linalg.eigh(body.stiffness, body.modal_mass())
    C = V.T @ body.damping @ V
    assert_allclose(C, np.diag(2.0 * zeta * np.sqrt(w2)), atol=1e-9 * np.sqrt(w2[-1]))


# solids and patches


def test_block_of_solids_stretches_like_a_rod() -> None:
    """Poisson's ratio 0: rigid end faces change nothing, F L / E A exactly."""
    mesh = block((6, 2, 2), (1.2, 0.2, 0.3))
    x = mesh.coordinates[:, 0]
    ends = [np.flatnonzero(np.isclose(x, s)) for s in (0.0, 1.2)]
    names = [[mesh.node_names[j] for j in end] for end in ends]
    held = mesh.with_rigid_patch("base", names[0]).with_rigid_patch("tip", names[1])
    assert held.n_dof == mesh.n_dof - 2 * 27 + 12
    assert_allclose(held.total_mass, mesh.total_mass, rtol=1e-14)
    assert_allclose(held.centre_of_mass, mesh.centre_of_mass, atol=1e-15)
    assert_allclose(held.coordinates[held.node_index("tip")], [1.2, 0.1, 0.15])
    # rigid motions are motions of the patches too
    both = [m.rigid_motions() for m in (mesh, held)]
    energies = [r.T @ m.mass @ r for r, m in zip(both, (mesh, held), strict=True)]
    assert_allclose(energies[1], energies[0], atol=1e-15)
    modes = held.craig_bampton("base", ["tip"], 4)
    P = modes.shapes[held.dofs("tip")]
    compliance = P @ np.linalg.solve(modes.stiffness, P.T)
    assert_allclose(compliance[0, 0], 1.2 / (1e6 * 0.06), rtol=1e-12)
    body = modes.body("block", nodes=["31"])
    assert body.node_names == ("base", "31", "tip")
    assert_allclose(body.mass, 10.0 * 1.2 * 0.06, rtol=1e-13)
    # frame at the patch
    assert_allclose(body.node_position[0], 0, atol=0)
    assert_allclose(body.integrals.mp0 / body.mass, [0.6, 0, 0], atol=1e-15)


def test_rotation_of_a_node_of_a_solid_is_that_of_its_neighbours() -> None:
    mesh = block((3, 2, 2), (0.3, 0.2, 0.2))
    turn = mesh.rigid_motions()[:, :3]
    bend = np.zeros_like(mesh.coordinates)
    bend[:, 1] = mesh.coordinates[:, 0] ** 2
    modes = mesh.modes(np.hstack([turn, bend.reshape(-1, 1)]))
    for node in (0, 13, 35):
        move, rotation = modes._node_shapes(node)
        at = mesh.coordinates[node]
        assert_allclose(rotation[:, :3], np.eye(3), atol=1e-14)
        assert_allclose(move[:, :3], np.cross(np.eye(3), at).T, atol=1e-15)
    # inside, symmetry gives half the slope of the deflection: it is half a rotation
    rotation = modes._node_shapes(13)[1][:, 3]
    about = mesh.coordinates[13, 0]
    near = np.array([-0.1, 0.0, 0.1])
    slope = (near * (about + near) ** 2).sum() / (near**2).sum()
    width = (near**2).sum()
    assert_allclose(rotation, [0, 0, slope * width / (2 * width)], atol=1e-14)


def test_a_patch_of_one_node_with_rotations_is_a_rigid_offset() -> None:
    mesh = beam(3)
    moved = mesh.with_rigid_patch("flange", ["3"], (LENGTH + 0.2, 0.1, 0.0))
    assert moved.node_names == ("0", "1", "2", "flange")
    a = mesh.clamped_modes("0", 5)
    b = moved.clamped_modes("0", 5)
    assert_allclose(a.omega, b.omega, rtol=1e-12)
    tip, flange = a.shapes[mesh.dofs("3")], b.shapes[moved.dofs("flange")]
    sign = np.sign((tip[3:] * flange[3:]).sum(axis=0))
    lever = np.cross(tip[3:].T, [0.2, 0.1, 0.0]).T
    assert_allclose(flange[:3], sign * (tip[:3] + lever), atol=1e-10)


# files and forms


def test_matrix_market_round_trip(tmp_path: Any) -> None:
    mesh = beam(4)
    paths = {}
    for name in ("mass", "stiffness"):
        matrix = getattr(mesh, name)
        for kind, value in (("sparse", matrix), ("dense", matrix.toarray())):
            paths[name, kind] = tmp_path / f"{name}-{kind}.mtx"
            scipy.io.mmwrite(str(paths[name, kind]), value)
    scipy.io.mmwrite(str(tmp_path / "points.mtx"), mesh.coordinates)
    for kind in ("sparse", "dense"):
        for points in (mesh.coordinates, tmp_path / "points.mtx"):
            again = fe.read_matrix_market(
                points, paths["mass", kind], str(paths["stiffness", kind])
            )
            assert (again.mass != mesh.mass).nnz == 0
            assert (again.stiffness != mesh.stiffness).nnz == 0
            assert_array_equal(again.coordinates, mesh.coordinates)
    named = fe.read_matrix_market(
        mesh.coordinates,
        paths["mass", "sparse"],
        paths["stiffness", "sparse"],
        node_names=["base", "a", "b", "c", "flange"],
    )
    assert named.dofs("flange") == slice(24, 30)


def test_files_of_seven_digits_are_good_enough(tmp_path: Any) -> None:
    mesh, paths = beam(12), [tmp_path / f"{name}.mtx" for name in ("mass", "stiffness")]
    for path, matrix in zip(paths, (mesh.mass, mesh.stiffness), strict=True):
        scipy.io.mmwrite(str(path), matrix, precision=7)
    rounded = fe.read_matrix_market(mesh.coordinates, *paths)
    assert (rounded.stiffness != mesh.stiffness).nnz > 0
    for modes in ("free", "clamped"):
        found, exact = (
            m.free_modes(4) if modes == "free" else m.clamped_modes("0", 4)
            for m in (rounded, mesh)
        )
        assert_allclose(found.omega, exact.omega, rtol=1e-3)
        body = found.body("link")
        assert_allclose(body.mass, mesh.total_mass, rtol=1e-6)


@pytest.mark.parametrize(
    "form", [sparse.coo_matrix, sparse.csr_array, sparse.dia_matrix, np.asarray]
)
def test_sparse_and_dense_matrices_give_the_same(form: Any) -> None:
    mesh = beam(5)
    forms = [form(m.toarray()) for m in (mesh.mass, mesh.stiffness)]
    other = fe.FiniteElementModel(mesh.coordinates, *forms)
    found = other.craig_bampton("0", ["5"], 3)
    expected = mesh.craig_bampton("0", ["5"], 3)
    assert_allclose(found.shapes, expected.shapes, atol=1e-12)
    assert_allclose(found.omega, expected.omega, rtol=1e-13)


def test_order_of_nodes_does_not_matter() -> None:
    """Jain and Rodriguez digest, test 24, for meshes."""
    mesh = beam(5)
    order = np.random.default_rng(1).permutation(6)
    at = np.ravel(6 * order[:, None] + np.arange(6))
    names = [mesh.node_names[j] for j in order]
    other = fe.FiniteElementModel(
        mesh.coordinates[order],
        mesh.mass[at][:, at],
        mesh.stiffness[at][:, at],
        node_names=names,
    )
    bodies = [m.clamped_modes("0", 5).body("link") for m in (mesh, other)]
    for name in ("mp0", "E", "F0", "F1", "G", "J0", "J1s", "J2s"):
        a, b = (getattr(body.integrals, name) for body in bodies)
        assert_allclose(b, a, rtol=0, atol=1e-11 * np.abs(a).max(), err_msg=name)


def test_shifting_the_mesh_moves_nothing() -> None:
    mesh = beam(4)
    far = fe.FiniteElementModel(
        mesh.coordinates + np.array([3.0, -2.0, 1.0]), mesh.mass, mesh.stiffness
    )
    bodies = [m.craig_bampton("0", ["4"], 2).body("link") for m in (mesh, far)]
    assert_allclose(bodies[1].node_position, bodies[0].node_position, atol=1e-15)
    for name in ("mp0", "E", "F0", "F1", "G", "J0", "J1s", "J2s"):
        a, b = (getattr(body.integrals, name) for body in bodies)
        assert_allclose(b, a, rtol=0, atol=1e-11 * np.abs(a).max(), err_msg=name)
    moved = mesh.clamped_modes("0", 2).body("link", origin=(0.1, 0, 0))
    assert_allclose(moved.node_position[0], [-0.1, 0, 0], atol=0)


def test_lumped_masses_without_rotary_inertia() -> None:
    """Zeros on the diagonal of the mass matrix are masses of solids and of beams."""
    mesh = beam(8)
    weight = np.zeros((9, 6))
    weight[:, :3] = 0.6 / 8
    weight[[0, -1], :3] /= 2
    weight[:, 3] = 1e-5
    lumped = fe.FiniteElementModel(
        mesh.coordinates, np.diag(weight.ravel()), mesh.stiffness
    )
    assert_allclose(lumped.total_mass, 0.6, rtol=1e-14)
    found = lumped.clamped_modes("0", 2).omega
    assert_allclose(found, mesh.clamped_modes("0", 2).omega, rtol=0.02)
    body = lumped.clamped_modes("0", 2).body("link")
    assert_allclose(body.integrals.mp1, body.integrals.E, rtol=0, atol=0)


def test_the_package_imports_without_scipy_submodules() -> None:
    code = (
        "import sys, flexarm; "
        "print([m for m in ('scipy.sparse', 'scipy.linalg', 'scipy.io') "
        "if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_meshes_are_constant_and_travel() -> None:
    mesh = beam(3)
    again = pickle.loads(pickle.dumps(mesh))
    assert (again.stiffness != mesh.stiffness).nnz == 0
    with pytest.raises(ValueError, match="read-only"):
        mesh.mass.data[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        mesh.mass = mesh.stiffness
    renamed = dataclasses.replace(mesh, node_names=("a", "b", "c", "d"))
    assert renamed.dofs("d") == mesh.dofs("3")
    given = mesh.mass.toarray()
    other = dataclasses.replace(mesh, mass=given)
    given[:] = 0.0
    assert (other.mass != mesh.mass).nnz == 0


def test_what_a_mesh_and_modes_print() -> None:
    mesh = beam(4)
    assert repr(mesh) == (
        "<FiniteElementModel: 5 nodes, 30 degrees of freedom, 0.6 kg>"
    )
    text = repr(mesh.clamped_modes("0", 2))
    assert text == (
        "<MeshModes: 2 modes of 5 nodes clamped at node '0', 2.458 to 3.687 Hz>"
    )
    assert "in free space" in repr(mesh.free_modes(1))
    rigid = mesh.modes(mesh.rigid_motions())
    assert repr(rigid).endswith("6 modes of 5 nodes in free space, 0 to 0 Hz>")
    assert "no modes" in repr(mesh.clamped_modes("0", 0))
