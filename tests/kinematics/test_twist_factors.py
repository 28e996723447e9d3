"""Factors of the system Jacobian, rates from twists, refusals, Pinocchio."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from closeness import assert_near
from each import each
from mueller_recursions import Ad, Ad_r, Tree
from numpy.testing import assert_allclose
from refusals import argument_refused, refused
from trees import SEVERAL, fixed, random_state

import flexarm as fa
from flexarm import twists
from flexarm.kinematics.forms import FORMS
from flexarm.twists._factors import spatial_factors
from flexarm.twists._rates import joint_rates

# Seeds of arms; from 6 on they have joints of all kinds, from 12 on floating bodies.
SEEDS = range(18)


@cache
def any_arm(seed):
    joints = SEVERAL if seed >= 6 else SEVERAL[:3]
    options = {"max_modes": 3, "joints": joints, "attachments": 0.8 * (seed >= 12)}
    arm = fa.library.random_tree(seed, 1 + seed % 8, branches=1 + seed % 3, **options)
    return arm, *fixed(random_state(np.random.default_rng(seed), arm))


def ancestors(arm, k):
    while k >= 0:
        yield k
        k = arm._parents[k]


# factors


@each("form", FORMS)
@each("seed", SEEDS)
def test_factors_give_the_jacobians_of_all_bodies(seed, form):
    """(21)-(25), (31), (43)-(45), (53), with modes and joints of all kinds."""
    arm, q, qd, _ = any_arm(seed)
    f = twists.factors(arm, q, form)
    B, eye = len(arm.bodies), np.eye(6 * len(arm.bodies))
    J = fa.link_jacobians(arm, q, form=form).reshape(6 * B, arm.nv)
    assert_near(f.J, J)
    assert_near(f.A @ f.A_inverse, eye)
    assert_near(f.A_inverse @ f.A, eye)
    # V = D V + X qd in the form of the recursion (21)
    recursion = "hybrid" if form == "mixed" else form
    V = fa.link_velocities(arm, q, qd, form=recursion).ravel()
    assert_near(f.D @ V + f.X @ qd, V)
    assert_near(f.P @ V, fa.link_velocities(arm, q, qd, form=form).ravel())
    assert np.array_equal(f.P, eye) is (form != "mixed")
    assert_near(f.P @ np.swapaxes(f.P, -1, -2), eye)


@each("form", FORMS)
@each("seed", SEEDS)
def test_nilpotency_and_places_of_blocks(seed, form):
    """Exact zeros: the series (25) ends at the depth of the tree, not before."""
    arm, q, _, _ = any_arm(seed)
    f = twists.factors(arm, q, form)
    power = np.linalg.matrix_power
    assert not power(f.D, f.depth).any()
    assert power(f.D, f.depth - 1).any()
    series = sum(power(f.D, i) for i in range(f.depth))
    assert_near(f.P @ series, f.A)
    assert f.depth == max(len([*ancestors(arm, k)]) for k in range(len(arm.bodies)))
    for i in range(len(arm.bodies)):
        inboard = set(ancestors(arm, i))
        for j in range(len(arm.bodies)):
            assert f.block("A", i, j).any() == (j in inboard)
            assert f.block("D", i, j).any() == (arm._parents[i] == j)
        # the row of a body: its joint, modes of its parent, its own ones if it floats
        row = f.X[6 * i : 6 * i + 6]
        allowed = np.zeros(arm.nv, dtype=bool)
        allowed[arm.body_joint_slice(i)] = True
        if arm._parents[i] >= 0:
            allowed[arm.mode_slice(arm._parents[i])] = True
        if arm.bodies[i].attachment_node is not None:
            allowed[arm.mode_slice(i)] = True
        assert not row[:, ~allowed].any()


@each("seed", range(8))
def test_blocks_are_those_of_the_paper(seed):
    """(24), (40), (50) at ancestor positions, in a rigid tree."""
    joints = ("revolute", "prismatic", "helical")
    arm = fa.library.random_tree(seed, 8, max_modes=0, joints=joints)
    q, _, _ = random_state(np.random.default_rng(seed), arm)
    tree = Tree(arm, q)
    f = {form: twists.factors(arm, q, form) for form in FORMS}
    for i in range(8):
        for j in ancestors(arm, i):
            assert_near(f["body"].block("A", i, j), Ad(tree.relative(i, j)))
            hybrid = Ad_r(tree.r[j] - tree.r[i])
            assert_near(f["hybrid"].block("A", i, j), hybrid)
            assert_near(f["spatial"].block("A", i, j), np.eye(6))
            mixed = hybrid.copy()
            mixed[:3, :3] = tree.R[i].T
            assert_near(f["mixed"].block("A", i, j), mixed)  # not unit triangular
        rows = slice(6 * i, 6 * i + 6)
        assert_near(f["body"].X[rows, tree.at[i]], tree.X[i], 1e-15)
        assert_near(f["hybrid"].X[rows, tree.at[i]], tree.screw(i, "hybrid"))
        assert_near(f["mixed"].X[rows, tree.at[i]], tree.screw(i, "hybrid"))
        assert_near(f["spatial"].X[rows, tree.at[i]], tree.screw(i, "spatial"))


@each("seed", SEEDS)
def test_three_factorizations_of_the_spatial_form(seed):
    """(32)-(34): equal blocks in each column, exact inverses."""
    arm, q, _, _ = any_arm(seed)
    B, found = len(arm.bodies), spatial_factors(arm, q)
    J = fa.link_jacobians(arm, q, form="spatial").reshape(6 * B, arm.nv)
    C = fa.link_poses(arm, q)
    rest = fa.link_poses(arm, arm.neutral)
    for name, factor in found._asdict().items():
        assert_near(factor.A @ factor.X, J)
        assert_near(factor.A @ factor.A_inverse, np.eye(6 * B))
        for i in range(B):
            for j in ancestors(arm, i):
                block = factor.A[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]
                expected = {
                    "body": Ad(C[j]),
                    "hybrid": Ad_r(C[j, :3, 3]),
                    "reference": Ad(C[j]) @ np.linalg.inv(Ad(rest[j])),
                }[name]
                assert_near(block, expected)
    assert_near(found.body.X, twists.factors(arm, q).X, 1e-15)
    assert_near(found.hybrid.X, twists.factors(arm, q, "hybrid").X, 1e-15)


def test_reference_screws_are_constant_for_single_screws():
    arm = fa.library.random_tree(
        2, 6, max_modes=0, joints=("revolute", "prismatic", "helical")
    )
    rng = np.random.default_rng(0)
    q = np.array([random_state(rng, arm)[0] for _ in range(5)])
    Y = spatial_factors(arm, q).reference.X
    assert_near(Y, np.broadcast_to(Y[0], Y.shape))


@pytest.mark.parametrize("form", FORMS)
def test_factors_of_batches(form):
    arm, q, _, _ = any_arm(29)
    states = np.array([[q, 0.5 * q, q], [q, q, 0.9 * q]])
    many, one = (twists.factors(arm, x, form) for x in (states, states[1, 2]))
    for name in ("A", "X", "D", "P", "J", "A_inverse"):
        assert getattr(many, name).shape == (2, 3, *getattr(one, name).shape)
        assert_near(getattr(many, name)[1, 2], getattr(one, name), 1e-15)
    assert "2 x 3" in repr(many)
    assert not many.A.flags.writeable
    assert_near(many.block("A", 0, 0)[1, 2], one.block("A", 0, 0), 1e-15)


# rates from twists


@each("seed", range(10))
def test_rates_from_twists_of_rigid_arms(seed):
    """(26) and Remark 14: exact for twists that the arm can have."""
    options = {"max_modes": 0, "joints": SEVERAL}
    arm = fa.library.random_tree(seed, 1 + seed % 8, **options)
    q, qd, _ = random_state(np.random.default_rng(seed), arm)
    X = twists.factors(arm, q).X
    condition = max(
        np.linalg.cond(X[6 * k : 6 * k + 6][:, at])
        for k in range(len(arm.bodies))
        for at in [arm.body_joint_slice(k)]
        if at.stop > at.start
    )
    for form in FORMS:
        V = fa.link_velocities(arm, q, qd, form=form)
        found = joint_rates(arm, q, V, form)
        assert_allclose(found, qd, rtol=0, atol=1e-13 * condition, err_msg=form)


@each("seed", range(6, 18))
def test_rates_of_flexible_arms(seed):
    """Rates that twists show are found, of modes and joints; the rest is named."""
    arm, q, qd, _ = any_arm(seed)
    V = fa.link_velocities(arm, q, qd, form="hybrid")
    X = twists.factors(arm, q).X
    unit = X / np.maximum(np.linalg.norm(X, axis=0), 1e-300)
    shown = np.linalg.matrix_rank(unit, tol=1e-10) == arm.nv
    if not shown:
        with pytest.raises(fa.SingularityError, match="least_norm=True"):
            joint_rates(arm, q, V, "hybrid")
    found = joint_rates(arm, q, V, "hybrid", least_norm=not shown)
    # the twists are explained, by no longer rates than the true ones
    assert_near(fa.link_velocities(arm, q, found, form="hybrid"), V, 1e-11)
    weight = np.linalg.norm(X, axis=0)
    assert np.linalg.norm(weight * found) <= np.linalg.norm(weight * qd) + 1e-11
    if shown:
        assert_near(found, qd, 1e-11)
    ours = np.linalg.pinv(unit, rcond=1e-10) @ (
        twists.factors(arm, q).A_inverse @ fa.link_velocities(arm, q, qd).ravel()
    )
    ours /= np.where(weight > 0.0, weight, 1.0)
    assert_near(found, ours, 1e-11)


@pytest.mark.parametrize("seed", range(6))
def test_modes_in_space_are_seen_by_the_next_body(seed):
    """Two modes of each link and the joint on its end, from the twists of frames."""
    options = {"max_modes": 2, "joints": ("revolute",), "branches": 1}
    arm = fa.library.random_tree(seed, 6, **options)
    bodies = [
        body.replace(joint=body.joint.replace(parent=None, node=-1))
        for body in arm.bodies
    ]
    tip = fa.RigidBody("tip", fa.Joint("fixed", node=-1), mass=1, inertia=(1, 1, 1))
    arm = arm.replace(bodies=[*bodies, tip], tip=None)
    assert arm.nv > arm.nu
    q, qd, _ = random_state(np.random.default_rng(seed), arm)
    found = joint_rates(arm, q, fa.link_velocities(arm, q, qd))
    assert_near(found, qd, 1e-12)


def test_planar_modes_hide_behind_the_joint():
    arm = fa.library.de_luca_siciliano()
    q, qd = np.full(6, 0.01), np.arange(6.0)
    V = fa.link_velocities(arm, q, qd)
    error = refused(
        fa.SingularityError,
        ["joint_rates cannot find", "link1.bending y 1", "'link2'", "least_norm=True"],
        lambda: joint_rates(arm, q, V),
    )
    assert error.__class__ is fa.SingularityError
    found = joint_rates(arm, q, V, least_norm=True)
    assert_near(fa.link_velocities(arm, q, found), V)
    assert not found[4:].any()  # modes of the last link move no frame
    many = np.broadcast_to(V, (3, 2, *V.shape))
    refused(
        fa.SingularityError,
        ["in 6 of 6 states, first at index (0, 0)"],
        lambda: joint_rates(arm, q, many),
    )


def noisy():
    arm = fa.library.puma560()
    rng = np.random.default_rng(5)
    q, qd = rng.normal(size=(2, 6))
    V = fa.link_velocities(arm, q, qd)
    return arm, q, qd, V + 0.1 * rng.normal(size=V.shape)


def test_noise_is_projected_on_relative_twists():
    """Pitfall 3: least error of (I - D) V - X qd, not of V - J qd."""
    arm, q, _, V = noisy()
    f, found = twists.factors(arm, q), joint_rates(arm, q, V)
    relative = f.A_inverse @ V.ravel()
    assert_near(found, np.linalg.lstsq(f.X, relative, rcond=None)[0])
    for k in range(6):  # (26) as printed, a quotient of scalars
        X = f.X[6 * k : 6 * k + 6, k]
        assert_near(found[k], X @ relative[6 * k : 6 * k + 6] / (X @ X))
    other = np.linalg.lstsq(f.J, V.ravel(), rcond=None)[0]
    assert np.abs(other - found).max() > 0.01

    def errors(qd):
        return (
            np.linalg.norm(relative - f.X @ qd),
            np.linalg.norm(V.ravel() - f.J @ qd),
        )

    assert errors(found)[0] < errors(other)[0]
    assert errors(found)[1] > errors(other)[1]
    # the same from all forms of the same motion
    poses = fa.link_poses(arm, q)
    for form in FORMS:
        given = twists.convert(V, poses, "body", form)
        assert_near(joint_rates(arm, q, given, form), found)


def test_weights_depend_on_the_place_of_the_frame():
    """Pitfall 4: the moment part of a screw counts, so a far frame changes noise."""
    rng = np.random.default_rng(3)
    noise, found = 0.1 * rng.normal(size=6), []
    for lever in (0.0, 2.0):
        # the same joint axis, the frame of the body `lever` away from it
        near = fa.RigidBody("near", mass=1.0, inertia=(1, 1, 1))
        joint = fa.Joint("subspace", subspace=np.array([[0, 0, 1.0, 0, lever, 0]]).T)
        far = fa.RigidBody("far", joint, mass=1.0, inertia=(1, 1, 1))
        arm = fa.Arm([near, far] if lever else [near])
        # noise of the same measured motion, moved to the frame of the body
        S = np.eye(4)
        S[0, 3] = lever
        moved = twists.change_body_frame(noise, S)
        if lever:
            V = np.stack([np.zeros(6), moved])
            found.append(joint_rates(arm, arm.neutral, V)[1])
        else:
            found.append(joint_rates(arm, [0.0], moved[np.newaxis])[0])
    assert abs(found[0] - found[1]) > 0.01
    assert_near(found[0], noise[2])


def test_rates_broadcast():
    arm = fa.library.puma560()
    rng = np.random.default_rng(1)
    q, qd = rng.normal(size=(4, 1, 6)), rng.normal(size=(3, 6))
    V = fa.link_velocities(arm, q, qd, form="mixed")
    assert V.shape == (4, 3, 6, 6)
    found = joint_rates(arm, q, V, "mixed")
    assert_near(found, np.broadcast_to(qd, (4, 3, 6)))
    assert_near(joint_rates(arm, q[2, 0], V[2, 1], "mixed"), qd[1])


# refusals


def of_arm(form, arm=None):
    arm = arm or fa.library.puma560()
    q = np.zeros(arm.nq)
    V = np.zeros((len(arm.bodies), 6))
    return [
        lambda: fa.link_velocities(arm, q, q, form=form),
        lambda: fa.link_accelerations(arm, q, q, q, form=form),
        lambda: fa.link_jacobians(arm, q, form=form),
        lambda: fa.Arm.link_jacobian_rates(arm, q, q, form=form),
        lambda: twists.factors(arm, q, form),
        lambda: joint_rates(arm, q, V, form),
    ]


def test_unknown_forms():
    calls = of_arm("bodi")
    eye, V = np.eye(4), np.zeros(6)
    calls += [
        lambda: twists.convert(V, eye, "bodi", "body"),
        lambda: twists.convert(V, eye, "body", "bodi"),
        lambda: twists.convert_rates(V, V, eye, "bodi", "body"),
        lambda: twists.change_body_frame(V, eye, "bodi"),
        lambda: twists.change_base_frame(V, eye, "bodi"),
    ]
    for call in calls:
        words = ["is 'bodi', expected one of 'body', 'spatial', 'hybrid', 'mixed'"]
        argument_refused([*words, "did you mean 'body'?"], call)
    argument_refused(["form is 3"], of_arm(3)[0])
    for call in of_arm(np.array(["body", "mixed"])):
        argument_refused(["form is array(["], call)


@pytest.mark.parametrize("fidelity", ["linear", "ruthless"])
def test_fidelities_whose_jacobians_are_not_those_of_poses(fidelity):
    flexible = fa.library.de_luca_siciliano().replace(fidelity=fidelity)
    for form in FORMS[1:]:
        for call in of_arm(form, flexible):
            argument_refused([f"fidelity {fidelity!r}", "'body'"], call)
    for call in of_arm("body", flexible)[:4]:
        call()
    for call in of_arm("body", flexible)[4:]:
        argument_refused([fidelity], call)
    for call in of_arm("mixed", fa.library.puma560().replace(fidelity=fidelity)):
        call()


def test_wrong_shapes_and_bodies():
    arm, eye, V = fa.library.puma560(), np.eye(4), np.zeros(6)
    q = np.zeros(6)
    for call, words in [
        (lambda: twists.convert(V[:5], eye, "body", "mixed"), ["V has shape (5,)"]),
        (lambda: twists.convert(1.0, eye, "body", "mixed"), ["V has shape ()"]),
        (
            lambda: twists.convert(np.zeros((6, 7)), eye, "body", "mixed"),
            ["V has shape (6, 7)", "pass columns=True for Jacobians"],
        ),
        (
            lambda: twists.convert(V, eye, "body", "mixed", columns=True),
            ["expected (..., 6, n)"],
        ),
        (
            lambda: twists.convert(V, eye[:3], "body", "mixed"),
            ["poses has shape (3, 4)"],
        ),
        (lambda: twists.convert("V", eye, "body", "mixed"), ["V is 'V'"]),
        (
            lambda: twists.convert(np.zeros((2, 6)), [eye] * 3, "body", "mixed"),
            ["V (2,), poses (3,)", "expected equal lengths or 1"],
        ),
        (
            lambda: twists.convert_rates(V, V[:3], eye, "body", "mixed"),
            ["rates has shape (3,)"],
        ),
        (
            lambda: twists.convert_rates(
                np.zeros((6, 7)), np.zeros((6, 6)), eye, "body", "mixed", twist=V
            ),
            ["V has 7 columns and rates 6"],
        ),
        (lambda: twists.change_body_frame(V, eye, "mixed"), ["has no poses"]),
        (lambda: joint_rates(arm, q, V), ["V has shape (6,)", "(..., 6, 6)"]),
        (
            lambda: joint_rates(arm, np.zeros((2, 6)), np.zeros((3, 6, 6))),
            ["q (2,), V (3,)"],
        ),
        (lambda: fa.link_velocities(arm, q, q[:2]), ["qd has a last axis of length 2"]),
        (lambda: twists.factors(arm, q[:2]), ["q has shape (2,)", "last axis of 6"]),
        (lambda: twists.factors(arm, q).block("B", 0, 0), ["factor is 'B'"]),
        (lambda: twists.factors(None, q), ["arm is NoneType", "flexarm.Arm"]),
        (lambda: fa.link_jacobians(None, q), ["arm is NoneType"]),
        (lambda: twists.change_body_frame(V, eye[:3]), ["change has shape (3, 4)"]),
        (lambda: twists.change_base_frame(V, 2 * eye), ["change is not a pose"]),
        (
            lambda: twists.change_body_frame(V, [eye] * 2, "mixed", poses=[eye] * 3),
            ["poses (3,), change (2,)"],
        ),
    ]:
        argument_refused(words, call)


def test_matrices_that_are_no_poses():
    V, good = np.zeros(6), np.eye(4)
    reflected, scaled, flat, lost = (good.copy() for _ in range(4))
    reflected[0, 0] = -1.0
    scaled[:3, :3] *= 1.1
    flat[3, 0] = 0.1
    lost[1, 1] = np.nan
    far = good.copy()
    far[0, 3] = np.inf
    for bad, words in [
        (reflected, "not a rotation: max |R'R - I| is 0 and the determinant -1"),
        (scaled, "not a rotation: max |R'R - I| is 0.21"),
        (flat, "not a pose: its last row is (0.1, 0, 0, 1), expected (0, 0, 0, 1)"),
    ]:
        poses = np.tile(good, (2, 3, 1, 1))
        poses[1, 2] = bad
        for given, where in [(bad, "poses"), (poses, "poses[1, 2]")]:
            argument_refused(
                [f"{where} is {words}"],
                lambda p=given: twists.convert(V, p, "body", "spatial"),
            )
    for bad, words in [
        (lost, "poses[1, 1] is nan, expected finite numbers"),
        (far, "poses[0, 3] is inf, expected finite numbers"),
    ]:
        argument_refused([words], lambda p=bad: twists.convert(V, p, "body", "spatial"))


def test_states_that_are_not_finite():
    arm = fa.library.puma560()
    q = np.zeros((3, 6))
    q[1, 2] = np.nan
    for call in (
        lambda: fa.link_velocities(arm, q, np.zeros(6), form="mixed"),
        lambda: twists.factors(arm, q),
        lambda: joint_rates(arm, q, np.zeros((6, 6))),
    ):
        refused(fa.NotFiniteError, ["1 of 3 states", "q[1, 2] is nan"], call)
    V = np.zeros((3, 6, 6))
    V[1, 4, 5] = np.inf
    error = refused(
        fa.NotFiniteError,
        ["V[1, 4, 5] is inf", "in 1 of 3 states"],
        lambda: joint_rates(arm, np.zeros(6), V),
    )
    assert isinstance(error, fa.NotFiniteError)
    assert (error.index, error.count) == ((1,), 1)


# second opinion


@pytest.mark.parametrize("name", ["puma560", "iiwa14"])
def test_pinocchio_in_all_frames(name):
    """LOCAL is the body form, WORLD the spatial one, LOCAL_WORLD_ALIGNED the hybrid."""
    pin = pytest.importorskip("pinocchio", reason="second opinion, pip install pin")
    from pinocchio_models import to_pinocchio

    arm = getattr(fa.library, name)()
    other = to_pinocchio(arm)
    model, data = other.model, other.data
    frames = {
        "body": pin.LOCAL,
        "spatial": pin.WORLD,
        "hybrid": pin.LOCAL_WORLD_ALIGNED,
    }
    rng = np.random.default_rng(0)
    turned = [3, 4, 5, 0, 1, 2]  # Pinocchio has the linear part first
    for _ in range(5):
        q, qd, qdd = rng.normal(size=(3, arm.nv))
        pin.forwardKinematics(model, data, q, qd, qdd)
        pin.computeJointJacobians(model, data, q)
        pin.computeJointJacobiansTimeVariation(model, data, q, qd)
        for form, frame in frames.items():
            J, Jd = (
                fa.link_jacobians(arm, q, form=form),
                fa.Arm.link_jacobian_rates(arm, q, qd, form=form),
            )
            V = fa.link_velocities(arm, q, qd, form=form)
            for k in range(len(arm.bodies)):
                theirs = pin.getJointJacobian(model, data, k + 1, frame)[turned]
                assert_near(J[k], theirs, 1e-12)
                theirs = pin.getJointJacobianTimeVariation(model, data, k + 1, frame)
                assert_near(Jd[k], theirs[turned], 1e-12)
                theirs = pin.getVelocity(model, data, k + 1, frame).vector[turned]
                assert_near(V[k], theirs, 1e-12)
        A = fa.link_accelerations(arm, q, qd, qdd)
        points = fa.link_accelerations(arm, q, qd, qdd, form="hybrid")
        for k in range(len(arm.bodies)):
            theirs = pin.getAcceleration(model, data, k + 1, pin.LOCAL).vector[turned]
            assert_near(A[k], theirs, 1e-12)
            theirs = pin.getClassicalAcceleration(
                model, data, k + 1, pin.LOCAL_WORLD_ALIGNED
            ).vector[turned]
            assert_near(points[k], theirs, 1e-12)
