"""Dual-screw dynamics beside linear fidelity: where they agree, what they differ by.

With the exact rates of node rotations and the velocity forces of the kinetic energy the
readable path is the linear arm, entry by entry.  The paper's own equations differ in
two terms, both computed here by other means:

* rates theta-dot leave ``1/2 theta x lambda`` out of the partial angular velocities
  of what lies beyond a node.  That changes modal rows by its product with the moment
  that the node transmits, and by symmetry the columns of M; joint rows of M and all
  forces are the same;
* its inertia of a node has the axes of the undeformed link, so that the moment of the
  part that turns, ``[theta, J]``, is missing.

In the plane, or where no node has rotary inertia and each body bends in one plane only,
all are the same.
"""

from __future__ import annotations

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from scipy.optimize import root

import flexarm as fa
from flexarm.reference import dual_screws

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

STEP = 1e-30
JOINTS = ("revolute", "prismatic", "helical", "fixed")
PAPER = {"rotation_rates": "small", "node_inertia": "newton"}
ARM = dual_screws.LINEAR_ARM
CHOICES = [
    {"rotation_rates": rates, "node_inertia": inertia}
    for rates in ("small", "exact")
    for inertia in ("newton", "lagrange")
]


def states(arm, seed, shape=(), size=0.01):
    rng = np.random.default_rng(seed)
    q, u, a = rng.normal(size=(3, *shape, arm.nv))
    q[..., arm.nu :] *= size
    return q, u, a


def arm_of(seed):
    if seed == 0:
        return fa.library.cibicik_egeland(fidelity="linear")
    arm = fa.library.random_tree(
        seed, 1 + seed % 5, joints=JOINTS, branches=1 + seed % 2, foreshortening=0.0
    )
    return arm.replace(fidelity="linear")


def assert_same(arm, q, u, a, **choice):
    """Every function of the readable path against the kernels."""
    tau = fa.inverse_dynamics(arm, q, u, a)
    size, large = np.abs(tau).max(), np.abs(fa.mass_matrix(arm, q)).max()
    near = {"rtol": 0, "atol": 1e-13 * size}
    M = dual_screws.mass_matrix(arm, q, **choice)
    assert_allclose(M, fa.mass_matrix(arm, q), rtol=0, atol=1e-14 * large)
    assert_allclose(
        dual_screws.bias_forces(arm, q, u, **choice), fa.bias_forces(arm, q, u), **near
    )
    assert_allclose(
        dual_screws.gravity_forces(arm, q, **choice), fa.gravity_forces(arm, q), **near
    )
    assert_allclose(dual_screws.inverse_dynamics(arm, q, u, a, **choice), tau, **near)
    parts = dual_screws.equations(arm, q, u, **choice)
    total = parts.velocity + q @ parts.stiffness + u @ arm.damping_matrix - parts.tau
    assert_allclose(total, fa.bias_forces(arm, q, u), **near)
    assert_allclose(parts.mass, M, rtol=0, atol=1e-14 * large)
    # what is left of a solution is rounding, whatever the condition of M
    qdd = dual_screws.forward_dynamics(arm, q, u, tau, **choice)
    again = fa.inverse_dynamics(arm, q, u, qdd)
    weight = np.abs(fa.mass_matrix(arm, q)).max() * np.abs(qdd).max()
    assert_allclose(again, tau, rtol=0, atol=1e-14 * weight + 1e-12 * size)


@each("seed", [0, 1, 4])
def test_exact_rates_and_the_kinetic_energy_give_the_linear_arm(seed):
    arm = arm_of(seed)
    assert_same(arm, *states(arm, seed, (2,)), **ARM)
    wrench = np.arange(1.0, 7.0)
    q = states(arm, seed)[0]
    for node in (arm.tip_node, arm.n_nodes // 2):
        found = dual_screws.wrench_forces(arm, q, wrench, node, rotation_rates="exact")
        expected = fa.wrench_forces(arm, q, wrench, node)
        assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


def rayleigh_chain():
    """Two links in a plane that bend in it, sections with rotary inertia."""
    modes = fa.beams.clamped_beam_modes(0.5, 0.2, 1.0, 2, tip_mass=0.1)
    bodies = [
        fa.beams.flexible_link(
            f"link{k}",
            length=0.5,
            mass_per_length=0.2,
            bending_y=modes,
            section_inertia=(2e-3, 1e-3, 1e-3),
            tip_mass=0.1,
            tip_com=(0.02, 0.01, 0.0),
            tip_inertia=(1e-3, 2e-3, 2e-3),
            geometric_stiffening=False,
        )
        for k in (1, 2)
    ]
    return fa.Arm(bodies, gravity=(0, -9.81, 0), fidelity="linear")


@pytest.mark.parametrize("choice", CHOICES, ids=lambda x: "-".join(x.values()))
def test_bending_in_the_plane_of_the_motion_is_the_same_by_all(choice):
    """theta is parallel to lambda, all angular velocities to the principal axis z."""
    arm = fa.library.de_luca_siciliano().replace(fidelity="linear")
    assert_same(arm, *states(arm, 1, size=0.05), **choice)
    arm = rayleigh_chain()
    q, u, a = states(arm, 2, size=0.05)
    if choice["node_inertia"] == "lagrange":
        assert_same(arm, q, u, a, **choice)
    # the payload off its node turns with it; the paper's keeps its place in M
    centred = arm.replace(
        bodies=[b.replace(node_com=0.0 * b.node_com) for b in arm.bodies]
    )
    assert_same(centred, q, u, a, **choice)


@pytest.mark.parametrize("rates", ["small", "exact"])
def test_bending_of_each_link_in_one_plane_without_rotary_inertia_is_the_same(rates):
    """In space: links bend about parallel axes of their own, theta x lambda = 0."""
    modes = fa.beams.clamped_beam_modes(1.0, 1.0, 100.0, 3)
    turn = fa.library.cibicik_egeland().bodies[1].joint.rotation
    options = {"length": 1.0, "mass_per_length": 1.0, "geometric_stiffening": False}
    bodies = [
        fa.beams.flexible_link("a", bending_y=modes, **options),
        fa.beams.flexible_link(
            "b", bending_z=modes, joint=fa.Joint(rotation=turn), **options
        ),
        fa.RigidBody("c", mass=1.0, com=(0.2, 0, 0.1), inertia=(0.1, 0.2, 0.25)),
    ]
    arm = fa.Arm(bodies, fidelity="linear")
    for inertia in ("newton", "lagrange"):
        choice = {"rotation_rates": rates, "node_inertia": inertia}
        assert_same(arm, *states(arm, 3, (2,)), **choice)


def test_joint_rows_do_not_know_the_rates():
    """Rates change modal columns of P-check alone: not M of the joints, nor forces."""
    for seed in range(5):
        arm = arm_of(seed)
        q, u, _ = states(arm, seed)
        joints = slice(0, arm.nu)
        choice = {**ARM, "rotation_rates": "small"}
        M = dual_screws.mass_matrix(arm, q, **choice)[joints, joints]
        expected = fa.mass_matrix(arm, q)[joints, joints]
        assert_allclose(M, expected, rtol=0, atol=1e-14 * np.abs(expected).max())
        for found, expected in (
            (dual_screws.bias_forces(arm, q, u, **choice), fa.bias_forces(arm, q, u)),
            (dual_screws.gravity_forces(arm, q, **choice), fa.gravity_forces(arm, q)),
        ):
            near = 1e-13 * np.abs(expected).max()
            assert_allclose(found[joints], expected[joints], rtol=0, atol=near)


def with_balls(arm):
    """The arm with a spherical joint, at rest, where a link hangs on a flexible one."""
    bodies, balls = [], {}
    for k, body in enumerate(arm.bodies):
        parent = arm.bodies[k - 1] if k else None
        if parent is not None and parent.n_modes:
            name = f"ball{k}"
            joint = fa.Joint("spherical", parent=parent.name, node=body.joint.node)
            bodies.append(fa.RigidBody(name, joint))
            body = body.replace(joint=body.joint.replace(parent=name, node="base"))
            balls[k - 1] = name
        bodies.append(body)
    return arm.replace(bodies=bodies, tip=None, fidelity="full"), balls


def transmitted(arm, q, u, a):
    """Moment that each flexible body transmits at its tip, arm not deformed."""
    full, balls = with_balls(arm)
    args = [full.neutral, np.zeros(full.nv), np.zeros(full.nv)]
    for k, body in enumerate(arm.bodies):
        for x, given, positions in zip(
            args, (q, u, a), (True, False, False), strict=True
        ):
            x[full.body_joint_slice(body.name, positions=positions)] = given[
                arm.body_joint_slice(k)
            ]
        args[2][full.mode_slice(body.name)] = a[arm.mode_slice(k)]
    tau = fa.inverse_dynamics(full, *args)
    return {k: tau[full.body_joint_slice(name)] for k, name in balls.items()}


@pytest.mark.parametrize("seed", range(4))
def test_rates_differ_by_the_moment_that_the_tip_transmits(seed):
    """Modal rows lack (1/2 theta x lambda)' n, columns of M its transpose."""
    arm = fa.library.cibicik_egeland(fidelity="linear")
    q, u, a = states(arm, seed)
    exact = {"rotation_rates": "exact", "node_inertia": "newton"}
    found = dual_screws.inverse_dynamics(arm, q, u, a, **exact)
    found = found - dual_screws.inverse_dynamics(arm, q, u, a, **PAPER)

    half = {}
    for k in (1, 2):
        lam = arm.bodies[k].node_rotation[-1]
        theta = lam @ q[arm.mode_slice(k)]
        half[k] = 0.5 * np.cross(theta, lam, axis=0)
    rows = np.zeros(arm.nv)
    for k, moment in transmitted(arm, q, u, a).items():
        rows[arm.mode_slice(k)] = half[k].T @ moment
    # columns: moments of a unit of each acceleration, nothing else
    weightless = arm.replace(gravity=(0, 0, 0))
    zero = np.zeros(arm.nv)
    columns = np.zeros(arm.nv)
    for i, unit in enumerate(np.eye(arm.nv)):
        for k, moment in transmitted(weightless, q, zero, unit).items():
            columns[i] += moment @ half[k] @ a[arm.mode_slice(k)]
    assert np.abs(found).max() > 1e-3 * np.abs(rows).max() > 0.0
    assert_allclose(found, rows + columns, rtol=0, atol=1e-11)
    # forces alone differ by rows
    bias = dual_screws.bias_forces(arm, q, u, **exact)
    bias = bias - dual_screws.bias_forces(arm, q, u, **PAPER)
    rows[:] = 0.0
    for k, moment in transmitted(arm, q, u, zero).items():
        rows[arm.mode_slice(k)] = half[k].T @ moment
    assert_allclose(bias, rows, rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", range(6))
def test_node_inertia_differs_by_the_part_that_turns(seed):
    r"""Bodies on the nodes minus Newton and Euler with J of the undeformed link.

    On all that moves the node [theta, J] alpha + omega x [theta, J] omega, and on
    its own modes (theta x lambda / 2)' (J alpha + omega x J omega), as the angular
    velocity of the node is the rate of its rotation.
    """
    arm = fa.library.cibicik_egeland(fidelity="linear") if seed < 3 else arm_of(seed)
    bodies = [
        b.replace(node_com=0.0 * b.node_com) if b.n_modes else b for b in arm.bodies
    ]
    arm = arm.replace(bodies=bodies)
    q, u, _ = states(arm, seed)
    choice = {**ARM, "node_inertia": "newton"}
    found = fa.bias_forces(arm, q, u) - dual_screws.bias_forces(arm, q, u, **choice)
    # the other factors have no deformation
    full, still, joints = arm.replace(fidelity="full"), q.copy(), u.copy()
    still[arm.nu :] = joints[arm.nu :] = 0.0
    columns = fa.link_jacobians(full, still)
    rates = fa.link_accelerations(full, still, joints, 0.0 * joints)
    expected = np.zeros(arm.nv)
    for k, body in enumerate(arm.bodies):
        at = arm.mode_slice(k)
        omega, alpha = columns[k, :3] @ joints, rates[k, :3]
        for J, lam in zip(body.node_inertia, body.node_rotation, strict=True):
            theta = lam @ q[at]
            turn = np.cross(theta, np.eye(3), axisb=0, axisc=0)
            change = turn @ J - J @ turn
            moment = change @ alpha + np.cross(omega, change @ omega)
            whole = J @ alpha + np.cross(omega, J @ omega)
            expected += columns[k, :3].T @ moment
            expected[at] += lam.T @ moment + 0.5 * np.cross(theta, lam.T) @ whole
    size = np.abs(fa.bias_forces(arm, q, u)).max()
    assert_allclose(found, expected, rtol=0, atol=1e-13 * size)


@pytest.mark.parametrize("seed", range(3))
def test_newton_is_right_for_a_payload_that_turns_with_its_node(seed):
    """At zero deformation: as if the payload were a body fixed to the tip."""
    modes = fa.beams.clamped_beam_modes(1.0, 1.0, 50.0, 2)
    load = {"tip_mass": 2.0, "tip_com": (0.1, 0.05, -0.02)}
    J = np.array([[0.1, 0.02, 0.0], [0.02, 0.2, 0.03], [0.0, 0.03, 0.25]])
    link = fa.beams.flexible_link(
        *("link",),
        **{"length": 1.0, "mass_per_length": 1.0, "tip_inertia": J, **load},
        bending_y=modes,
        bending_z=modes,
        geometric_stiffening=False,
    )
    com = np.array(load["tip_com"])
    about = J - 2.0 * (com @ com * np.eye(3) - np.outer(com, com))
    hand = fa.RigidBody(
        "hand", fa.Joint("fixed"), mass=2.0, com=load["tip_com"], inertia=about
    )
    bare = link.replace(
        node_mass=np.append(link.node_mass[:-1], 0.0),
        node_com=0.0 * link.node_com,
        node_inertia=0.0 * link.node_inertia,
    )
    base = fa.RigidBody("base", mass=1.0, nodes={"tip": (0, 0, 0.2)})
    joint = fa.Joint(axis=(0.6, 0.0, 0.8))
    one = fa.Arm([base, link.replace(joint=joint)], fidelity="linear")
    two = fa.Arm([base, bare.replace(joint=joint), hand], fidelity="linear")
    q, u, _ = states(one, seed, size=0.0)
    truth = fa.bias_forces(two, q, u)
    found = dual_screws.bias_forces(one, q, u, **PAPER)
    for forces in (found, fa.bias_forces(one, q, u)):
        assert_allclose(forces, truth, rtol=0, atol=1e-13 * np.abs(truth).max())


def falling(arm, choice, sizes=(1e-1, 1e-2, 1e-3)):
    """Errors of M, forces of velocity and gravity against the full arm."""
    full = arm.replace(fidelity="full")
    q, u, _ = states(arm, 4, size=0.1)
    rows = []
    for size in sizes:
        bent, moving = q.copy(), u.copy()
        bent[arm.nu :] *= size
        moving[arm.nu :] *= size
        g = fa.gravity_forces(full, bent)
        still = fa.bias_forces(full, bent, np.zeros(arm.nv))
        velocity = fa.bias_forces(full, bent, moving) - still
        velocity = velocity - arm.damping_matrix @ moving
        rows.append(
            [
                dual_screws.mass_matrix(arm, bent, **choice)
                - fa.mass_matrix(full, bent),
                dual_screws.velocity_forces(arm, bent, moving, **choice) - velocity,
                dual_screws.gravity_forces(arm, bent, **choice) - g,
            ]
        )
    return rows


@pytest.mark.parametrize("seed", [0, 3, 8])
def test_the_linear_model_misses_the_full_one_by_the_second_order(seed):
    arm = arm_of(seed)
    errors = [[np.abs(x).max() for x in row] for row in falling(arm, ARM)]
    order = np.log10(np.array(errors[:-1]) / np.array(errors[1:]))
    assert_allclose(order, 2.0, rtol=0, atol=0.1)


def test_small_rates_miss_modal_rows_by_the_first_order():
    arm = fa.library.cibicik_egeland()
    rows = falling(arm, {**ARM, "rotation_rates": "small"})
    joints = [
        [np.abs(x[:4, ..., :4] if x.ndim > 1 else x[:4]).max() for x in r] for r in rows
    ]
    modes = [[np.abs(x[4:]).max() for x in r] for r in rows]
    for errors, expected in ((joints, 2.0), (modes, 1.0)):
        order = np.log10(np.array(errors[:-1]) / np.array(errors[1:]))
        assert_allclose(order, expected, rtol=0, atol=0.1)


# what to know before using the model


def sag(arm, pose, **choice):
    """Static equilibrium with locked joints."""
    q = fa.library.poses(arm)[pose]
    K = arm.stiffness_matrix[4:, 4:]

    def residual(eta):
        at = np.append(q[:4], eta)
        return K @ eta + dual_screws.gravity_forces(arm, at, **choice)[4:]

    q[4:] = root(residual, np.zeros(12), tol=1e-12).x
    return q


@pytest.mark.parametrize(
    ("pose", "printed"), [("initial", (9.86, 1.80)), ("final", (17.12, 3.14))]
)
def test_sag_of_the_paper_s_own_equations(pose, printed):
    """Bending in one plane: theta x lambda = 0, so as with the kernels."""
    arm = fa.library.cibicik_egeland(bending="clamped-free")
    q = sag(arm, pose, **PAPER)
    for k, expected in ((1, printed[0]), (2, printed[1])):
        tip = 1e3 * arm.bodies[k].node_translation[-1, 1] @ q[arm.mode_slice(k)]
        assert tip == pytest.approx(expected, abs=0.51e-2)


def test_the_mass_matrix_becomes_indefinite_beyond_small_deformations():
    """Torsion of amplitude one has 0.003 kg m^2; a metre times 0.01 takes it away."""
    arm = fa.library.cibicik_egeland(bending="clamped-free")
    scale = np.append(np.ones(4), np.tile([1, 1, 1, 1, *(2 * [0.5**0.5])], 2))

    def least(q):
        M = dual_screws.mass_matrix(arm, q, **PAPER)
        return np.linalg.eigvalsh(scale[:, None] * M * scale)[..., 0]

    found = [least(sag(arm, pose, **PAPER)) for pose in ("final", "initial")]
    assert_allclose(found, [0.0023, 0.0025], rtol=0, atol=0.5e-4)
    rng = np.random.default_rng(0)
    q = np.tile(fa.library.poses(arm)["initial"], (200, 1))
    q[:, 4:] = 0.01 * scale[4:] * rng.normal(size=(200, 12))
    values = least(q)
    assert -1.0 < values.min() < -0.45
    assert (values < 0.0).mean() > 0.5
    # the full matrix of the same states is positive definite
    assert np.linalg.eigvalsh(fa.mass_matrix(arm, q))[:, 0].min() > 1e-4

    # the equations are solved all the same, the accelerations mean nothing: a load
    # along the direction of the negative eigenvalue meets an answer against it
    at, u = q[values.argmin()], np.zeros(16)
    M = dual_screws.mass_matrix(arm, at, **PAPER)
    direction = np.linalg.eigh(M)[1][:, 0]
    bias = dual_screws.bias_forces(arm, at, u, **PAPER)
    qdd = dual_screws.forward_dynamics(arm, at, u, bias + direction, **PAPER)
    assert direction @ qdd < 0.0
    rounding = np.finfo(float).eps * np.abs(bias).max()  # of the sum of forces
    assert_allclose(M @ qdd, direction, rtol=0, atol=2.0 * rounding)
    linear = arm.replace(fidelity="linear")
    bias = fa.bias_forces(linear, at, u)
    M = fa.mass_matrix(linear, at)
    value, vector = (x[..., 0] for x in np.linalg.eigh(M))
    qdd = fa.forward_dynamics(linear, at, u, bias + vector)
    assert value < 0.0 and vector @ qdd == pytest.approx(1.0 / value, rel=1e-9)


def torques(arm, q, T, *, turned):
    """Generalized forces of joint torques by (125)-(127), last axes deformed or not."""
    tau = np.zeros(arm.nv)
    for k, body in enumerate(arm.bodies):
        for node, torque in (("base", T[k]), ("tip", -T[k + 1] if k < 3 else 0.0)):
            at = arm.node(k, node)
            P = dual_screws.projection_matrices(arm, q, np.zeros(arm.nv), at)
            real, dual = P.projecting[:3], P.projecting[3:6]
            axis, bent = np.array([0.0, 0.0, 1.0]), np.zeros(3)
            if node == "tip":
                child = arm.bodies[min(k + 1, 3)].joint.rotation
                axis = child @ axis
                if turned and body.n_modes:
                    theta = body.node_rotation[-1] @ q[arm.mode_slice(k)]
                    bent = np.cross(theta, axis)
            tau += torque * (real.T @ (axis + bent) + dual.T @ axis)
    return tau


def test_reaction_torques_about_the_deformed_axis_do_no_work_on_the_modes():
    """(127) leaves an error of first order, with the rotation of (125) tau = T."""
    arm = fa.library.cibicik_egeland(bending="clamped-free")
    T = np.full(4, 100.0)
    expected = np.append(T, np.zeros(12))
    worst = {}
    half = 0.5**0.5  # to torsion of amplitude one
    for kind, mode, size in (("y", 0, 1.0), ("z", 2, 1.0), ("torsion", 4, half)):
        q = fa.library.poses(arm)["initial"]
        q[[4 + mode, 10 + mode]] = 0.01 * size
        scale = np.append(np.ones(4), np.tile([1, 1, 1, 1, half, half], 2))
        printed = scale * (torques(arm, q, T, turned=False) - expected)
        worst[kind] = np.abs(printed).max()
        turned = torques(arm, q, T, turned=True)
        assert_allclose(turned, expected, rtol=0, atol=1e-12)
    assert worst["y"] < 1e-12
    assert worst["torsion"] == pytest.approx(5.3, abs=0.05)
    assert worst["z"] == pytest.approx(6.3, abs=0.05)


def test_gravity_of_small_rates_has_no_potential():
    """Its tangent in the modal rows is not symmetric, that of exact rates is."""
    arm = fa.library.cibicik_egeland()
    q = fa.library.poses(arm)["final"]
    q[0] = 0.3
    skewness = {}
    for rates in ("small", "exact"):
        choice = {**ARM, "rotation_rates": rates}
        moved = q + 1j * STEP * np.eye(16)[4:]
        G = dual_screws.gravity_forces(arm, moved, **choice)[:, 4:].imag / STEP
        skewness[rates] = np.abs(G - G.T).max() / np.abs(G).max()
    assert skewness["exact"] < 1e-14
    assert skewness["small"] > 0.1


def test_power_is_balanced_to_the_order_of_the_model():
    """u' (M' u / 2 - C u) = 0, but for what truncation leaves: do not expect more."""
    arm = fa.library.cibicik_egeland()
    q, u, _ = states(arm, 6, size=0.1)
    for choice, expected in ((ARM, 2.0), ({**ARM, "rotation_rates": "small"}, 2.0)):
        left = []
        for size in (1e-1, 1e-2, 1e-3):
            bent, moving = q.copy(), u.copy()
            bent[4:] *= size
            moving[4:] *= size
            M = dual_screws.mass_matrix(arm, bent + 1j * STEP * moving, **choice)
            C = dual_screws.velocity_forces(arm, bent, moving, **choice)
            left.append(abs(0.5 * moving @ (M.imag / STEP) @ moving - moving @ C))
        order = np.log10(np.array(left[:-1]) / np.array(left[1:]))
        assert_allclose(order, expected, rtol=0, atol=0.15)


def test_one_plane_stays_at_rest_while_the_arm_does_not_turn():
    """With q1 at rest neither torsion nor bending out of the plane is excited."""
    arm = fa.library.cibicik_egeland()
    q, u, a = states(arm, 7)
    out = np.r_[0, 6:10, 12:16]
    q[0] = 0.4
    q[out[1:]] = u[out] = a[out] = 0.0
    tau = dual_screws.inverse_dynamics(arm, q, u, a, **PAPER)
    assert_allclose(tau[out], 0.0, rtol=0, atol=1e-12)
    assert np.abs(np.delete(tau, out)).min() > 1e-2


def test_batches_are_loops():
    arm = fa.library.cibicik_egeland()
    q, u, a = states(arm, 8, (2, 3))
    for choice in (PAPER, ARM):
        together = dual_screws.inverse_dynamics(arm, q, u[:, :1], a[0, 0], **choice)
        assert together.shape == (2, 3, 16)
        for i, j in np.ndindex(2, 3):
            alone = dual_screws.inverse_dynamics(
                arm, q[i, j], u[i, 0], a[0, 0], **choice
            )
            assert_allclose(together[i, j], alone, rtol=1e-12, atol=1e-12)
    assert dual_screws.mass_matrix(arm, q).shape == (2, 3, 16, 16)
    assert dual_screws.wrench_forces(arm, q, np.ones(6), 3).shape == (2, 3, 16)
