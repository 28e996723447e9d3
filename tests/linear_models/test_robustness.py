"""Closed loops, root loci and margins: closed forms, simulation, other definitions."""

from __future__ import annotations

import numpy as np
import pytest
from linear_systems import beside
from numpy.testing import assert_allclose

import flexarm as fa

# three lags in a row: everything of the loop has a closed form
LAGS = fa.StateSpace(
    [[0, 1, 0], [0, 0, 1], [0, -2, -3]], [[0], [0], [1]], [[1, 0, 0]]
)  # 1/(s (s + 1) (s + 2))
JOINTS = ["joint positions", "joint velocities"]
GAINS = [[1.0, 0.0, 0.4, 0.0], [0.0, 0.5, 0.0, 0.2]]


def one_plant(model):
    """`robustness` of one given model."""
    from flexarm.linear_models._robustness import _found
    from flexarm.linear_models.loops import read_controller

    def found(controller):
        law = read_controller(model, controller)
        return _found({}, model, fa.closed_loop(model, law), law)

    return found


def test_margins_of_three_lags():
    found = one_plant(LAGS)([[2.0]])
    assert_allclose(found.gain_up, 3.0, rtol=1e-10)  # unstable from k = 6 on
    assert found.gain_down == 0.0
    squares = np.roots([1, 5, 4, -4.0])  # |L| = 1: w^2 (w^2 + 1) (w^2 + 4) = 4
    w = np.sqrt(squares[(squares.imag == 0) & (squares.real > 0)].real)
    expected = np.pi / 2 - np.arctan(w) - np.arctan(w / 2)
    assert_allclose(found.phase, expected, rtol=1e-10)
    # the peak of the sensitivity on a fine grid
    s = 1j * np.linspace(0.5, 2.0, 200001)
    peak = abs(1 / (1 + 2 / (s * (s + 1) * (s + 2)))).max()
    assert_allclose(found.sensitivity, peak, rtol=1e-8)


def test_margins_are_where_stability_ends():
    """At each margin a pole is on the imaginary axis, here and in no smaller change."""
    arm = fa.library.de_luca_siciliano(damping=True)
    plant = fa.linearize(arm, np.zeros(6), outputs=JOINTS)
    K = -4.0 * np.array(GAINS)
    K[:, 2:] *= 0.05  # slow dampers, so that too much gain does harm
    law = fa.StateSpace(-200.0 * np.eye(2), np.eye(2, 4), 200.0 * K[:, :2], K)
    found = one_plant(plant)(law)
    if not found.stable:
        pytest.fail("the loop of the test is not stable")
    for i in range(2):
        for factor in (float(found.gain_up[i]), float(found.gain_down[i])):
            if not 0.0 < factor < np.inf:
                continue
            scale = np.eye(2)
            scale[i, i] = factor
            changed = law.replace(C=scale @ law.C, D=scale @ law.D)
            rates = np.linalg.eigvals(fa.closed_loop(plant, changed).A)
            assert abs(rates.real).min() < 1e-7
        # a delay that turns the phase by the margin is not told from it at one point;
        # the turn itself makes the return ratio minus one
        assert found.phase[i] > 0.0


def test_discrete_controller():
    """A double integrator with held forces: closed form of the sampled loop."""
    mass = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], np.eye(2))
    law = fa.StateSpace(
        np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((1, 0)), [[-4, -3]]
    )
    law = law.replace(dt=0.1)
    loop = fa.closed_loop(mass, law)
    A, B = np.array([[1, 0.1], [0, 1]]), np.array([[0.005], [0.1]])
    assert_allclose(loop.A, A - B @ [[4.0, 3.0]], atol=1e-15)
    found = one_plant(mass)(law)
    # det(z - A + k B K) = 0 leaves the circle at z = -1: k (2 * 3 * 0.1) = 4
    assert_allclose(found.gain_up, 4.0 / 0.6, rtol=1e-9)
    assert found.stable
    assert_allclose(np.exp(0.1 * found.rates), found.poles)


def test_closed_loop_with_a_dynamic_controller_and_feedthrough():
    rng = np.random.default_rng(2)
    plant = fa.StateSpace(
        *(rng.normal(size=s) for s in ((3, 3), (3, 2), (2, 3), (2, 2)))
    )
    law = fa.StateSpace(*(rng.normal(size=s) for s in ((2, 2), (2, 2), (2, 2), (2, 2))))
    loop = fa.closed_loop(plant, law)
    for s in (0.3j, 2.0j):
        G, K = (
            m.C @ np.linalg.solve(s * np.eye(len(m.A)) - m.A, m.B) + m.D
            for m in (plant, law)
        )
        whole = loop.C @ np.linalg.solve(s * np.eye(5) - loop.A, loop.B) + loop.D
        assert_allclose(whole, G @ np.linalg.inv(np.eye(2) - K @ G), rtol=1e-10)
    assert loop.states == ("x0", "x1", "x2", "controller 0", "controller 1")


def test_state_feedback_has_its_own_poles():
    arm = fa.library.de_luca_siciliano(damping=True)
    plant = fa.linearize(arm, np.zeros(6), outputs="state")
    for dt in (None, 0.01):
        law = fa.control.lqr(plant, np.ones(12), np.ones(2), dt=dt)
        loop = fa.closed_loop(plant, law)
        assert loop.dt == dt
        poles = np.linalg.eigvals(loop.A)
        assert_allclose(beside(poles, law.poles), law.poles, rtol=1e-8)
        found = one_plant(plant)(law)
        assert found.stable
        if dt is None:  # one input at a time, less than what is known of LQR
            assert (found.phase > np.pi / 3 - 1e-9).all()
            assert (found.gain_up == np.inf).all()
            assert (found.gain_down < 0.5).all()
            assert found.sensitivity < 1.0 + 1e-9
        controller = law.controller(0.01) if dt is None else law.controller()
        assert fa.closed_loop(plant, controller).dt == 0.01


def test_closed_loop_is_what_simulate_does():
    arm = fa.library.de_luca_siciliano(damping=True)
    plant = fa.linearize(arm, np.zeros(6), outputs=JOINTS)
    loop = fa.closed_loop(plant, GAINS)
    t = np.linspace(0.0, 0.5, 51)
    small = 1e-6
    q0 = small * np.array([1.0, -0.5, 0.0, 0.0, 0.0, 0.0])
    feedback = fa.control.JointFeedback([1.0, 0.5], [0.4, 0.2], [0.0, 0.0])
    run = fa.simulate(arm, q0, np.zeros(6), t, torque=feedback, max_step=1e-4)
    x = loop.response(t, x0=np.r_[q0, np.zeros(6)]).x
    assert_allclose(run.q, x[:, :6], atol=1e-5 * small)


def test_grid_is_a_loop_over_arms():
    ranges = {"payload_mass": [0.05, 0.1], "payload_inertia": [0.0005, 0.001, 0.002]}
    q = np.zeros((4, 6))
    q[:, 1] = [0.0, 0.5, 1.0, 1.5]
    make = fa.library.de_luca_siciliano
    found = fa.robustness(make, ranges, q, GAINS, outputs=JOINTS)
    assert found.stable.shape == found.damping.shape == (2, 3, 4)
    assert found.gain_up.shape == (2, 3, 4, 2)
    arm = make(payload_mass=0.1, payload_inertia=0.002)
    alone = fa.closed_loop(fa.linearize(arm, q[2], outputs=JOINTS), GAINS)
    assert_allclose(found.loops.A[1, 2, 2], alone.A, atol=1e-10 * abs(alone.A).max())
    rates = np.linalg.eigvals(alone.A)
    assert_allclose(found.decay[1, 2, 2], -rates.real.max(), rtol=1e-5)
    worst = found.worst("damping")
    assert worst["damping"] == found.damping.min()
    assert set(worst) == {*ranges, "damping"}
    assert "24 of 24 loops are stable" in str(found)
    bare = fa.robustness(make, ranges, np.zeros(6))
    assert not bare.stable.any()  # free joints
    assert np.isnan(bare.sensitivity).all()


def test_a_loop_that_is_not_stable_is_worst():
    stand = fa.library.pendulum

    found = fa.robustness(stand, {"mass": [0.5, 1.0, 4.0]}, [np.pi / 2], [[15.0]])
    assert found.stable.tolist() == [False] * 3  # no damping
    gains = [[15.0, 2.0]]
    found = fa.robustness(
        stand, {"mass": [0.5, 1.0, 4.0]}, [np.pi / 2], gains, outputs="state"
    )
    # stiffness 15 N m/rad against m g l
    level = 9.81 * np.array([0.5, 1.0, 4.0]) * stand(mass=1.0).bodies[0].com[0]
    assert found.stable.tolist() == (level < 15.0).tolist()
    assert_allclose(found.gain_down[:2, 0], level[:2] / 15.0, rtol=1e-9)
    assert found.worst("gain_up")["mass"] == 4.0
    assert np.isnan(found.worst("phase")["phase"])


def test_root_locus_of_three_lags():
    k = np.linspace(0.0, 8.0, 161)
    locus = fa.root_locus(LAGS, k, [[1.0]])
    for gain, poles in zip(k, locus.poles, strict=True):
        expected = np.roots([1, 3, 2, gain])
        far = abs(poles[:, None] - expected).min(axis=1)
        assert far.max() < 1e-5  # of a double pole
    assert (locus.stable == ((k > 0) & (k < 6))).sum() >= len(k) - 2
    # branches do not jump, but where two meet
    steps = abs(np.diff(locus.poles, axis=0))
    assert steps.max() < 0.3


def test_branches_follow_a_crossing():
    """Two modes whose frequencies cross without coupling keep their damping."""
    values = np.linspace(-1.0, 1.0, 41)
    A = np.zeros((41, 4, 4))
    for i, (w, zeta) in enumerate(((10 + values, 0.1), (10 - values, 0.3))):
        at = 2 * i
        A[:, at, at + 1] = 1.0
        A[:, at + 1, at], A[:, at + 1, at + 1] = -(w**2), -2 * zeta * w
    models = fa.StateSpace(A, np.zeros((4, 1)), np.zeros((1, 4)))
    locus = fa.root_locus(models, values, name="detuning")
    damping = locus.damping_ratios
    assert_allclose(damping, np.broadcast_to(damping[0], damping.shape), atol=1e-9)
    assert locus.name == "detuning"
    assert_allclose(np.sort(locus.frequencies[0]) * 2 * np.pi, [9, 9, 11, 11])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fa.closed_loop(LAGS, [1.0, 2.0]), "from 2 outputs to 1 inputs"),
        (lambda: fa.closed_loop(LAGS, 1.0), r"expected gains of shape \(1, 1\)"),
        (lambda: fa.closed_loop("plant", [[1.0]]), "model is str"),
        (lambda: fa.root_locus(LAGS, [[1.0]], [[1.0]]), "values has shape"),
        (lambda: fa.root_locus(LAGS, [1.0, 2.0]), "one model for each of the values"),
        (
            lambda: fa.closed_loop(LAGS.discretize(0.1), LAGS.discretize(0.2)),
            "the controller has the sample time 0.2 s, the model 0.1 s",
        ),
        (
            lambda: fa.robustness(fa.library.pendulum, {}, [0.0]),
            "ranges is {}, expected values by names",
        ),
        (
            lambda: fa.robustness(fa.library.pendulum, {"mass": 1.0}, [0.0]),
            r"ranges\['mass'\] has shape \(\)",
        ),
        (
            lambda: fa.robustness(
                lambda n: fa.library.planar_chain(int(n)), {"n": [1, 2]}, [0.0]
            ),
            "expected those of the first",
        ),
    ],
)
def test_models_and_gains_of_loops_have_to_fit(call, words):
    with pytest.raises(fa.ArgumentError, match=words):
        call()


def test_singular_loop():
    direct = fa.StateSpace([[0.0]], [[1.0]], [[1.0]], [[1.0]])
    with pytest.raises(fa.SingularityError, match="makes the loop singular"):
        fa.closed_loop(direct, [[-1.0]])


def test_unknown_quantity():
    found = fa.robustness(fa.library.pendulum, {"mass": [1.0]}, [0.0])
    with pytest.raises(
        fa.ArgumentError, match="quantity is 'speed', expected one of 'damp"
    ):
        found.worst("speed")
