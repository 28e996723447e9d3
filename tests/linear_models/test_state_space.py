"""State-space models: closed forms, SciPy and python-control as second opinions."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from linear_systems import beside, changed, oscillator, random_model
from numpy.testing import assert_allclose
from refusals import argument_refused
from scipy import signal
from scipy.linalg import expm

import flexarm as fa

TWO_PI = 2.0 * np.pi


# names, batches


def test_signals_are_selected_by_name() -> None:
    model = random_model(0, p=3).replace(outputs=("a", "b", "c"), inputs=("u", "v"))
    part = model.select("v", ["c", 0])
    assert part.outputs == ("c", "a") and part.inputs == ("v",)
    assert_allclose(part.C, model.C[[2, 0]])
    assert_allclose(part.D, model.D[[2, 0]][:, [1]])
    argument_refused(["outputs has no 'd'"], lambda: model.select(outputs="d"))
    argument_refused(["inputs has no number 2"], lambda: model.select(inputs=2))


def test_many_models_broadcast_and_are_taken_apart() -> None:
    A = np.stack([random_model(k).A for k in range(4)]).reshape(2, 2, 6, 6)
    one = random_model(0)
    many = fa.StateSpace(A, one.B, one.C, one.D)
    assert many.batch == (2, 2) and many.B.shape == (2, 2, 6, 2)
    assert_allclose(many[1, 0].A, A[1, 0])
    assert many[1].batch == (2,)
    again = pickle.loads(pickle.dumps(many))
    assert_allclose(again.A, many.A)
    argument_refused(["a single one"], lambda: one[0])
    argument_refused(["index has 3 entries"], lambda: many[0, 0, 0])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"A": np.zeros((2, 3))}, r"A has shape \(2, 3\), expected \(..., 3, 3\)"),
        ({"B": np.zeros(2)}, r"B has shape \(2,\), expected a matrix"),
        ({"A": np.full((6, 6), np.nan)}, r"A\[0, 0\] is nan"),
        ({"states": ("a",)}, "states is .*, expected 6 names"),
        ({"inputs": ("a", "a")}, "inputs has 'a' twice"),
        ({"dt": -1.0}, "dt is -1.0, expected a positive number"),
        ({"A": np.zeros((2, 6, 6)), "B": np.zeros((3, 6, 2))}, "do not broadcast"),
    ],
)
def test_matrices_that_do_not_fit(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(fa.FlexarmError, match=told):
        random_model(0).replace(**changes)


# poles


def test_poles_with_frequencies_and_damping() -> None:
    model = oscillator([2.0, 30.0], [0.1, 0.02])
    poles = model.poles()
    assert_allclose(poles.frequencies * TWO_PI, [2.0, 2.0, 30.0, 30.0])
    assert_allclose(poles.damping_ratios, [0.1, 0.1, 0.02, 0.02])
    assert poles.stable.all() and not poles.unstable.any()
    assert_allclose(np.asarray(poles)[1], -0.2 + 2.0j * np.sqrt(0.99))
    # sampled: the same rates
    sampled = model.discretize(0.01).poles()
    assert_allclose(sampled.rates, poles.rates, rtol=1e-9)
    assert_allclose(np.asarray(sampled), np.exp(0.01 * poles.rates), rtol=1e-9)
    lines = str(poles).splitlines()
    assert lines[1].split()[-3:] == ["mass0", "100", "%"] and len(lines) == 3


def test_poles_of_delays() -> None:
    late = oscillator(2.0, 0.1).discretize(0.1, delay=0.25)
    poles = late.poles()
    assert poles.stable.all() and not poles.at_zero.any()
    assert (np.abs(np.asarray(poles)[2:]) < 1e-12).all()
    assert_allclose(poles.damping_ratios[:2], 0.1)
    assert "push 3 before" in str(poles)
    assert "all modes are controllable" in str(late.controllability())


def test_poles_that_grow_and_rest() -> None:
    model = fa.StateSpace(
        [[0, 1, 0], [0, 0, 0], [0, 0, 2.0]], [[0], [1], [1]], [[1, 0, 1]]
    )
    poles = model.poles()
    assert poles.at_zero.tolist() == [True, True, False]
    assert poles.unstable.tolist() == [False, False, True]
    assert "at zero" in str(poles) and "grows" in str(poles)
    many = model.replace(A=np.stack([model.A, model.A]))
    assert "3 poles of 2 models, 2 of them" in str(many.poles())


# zeros


@pytest.mark.parametrize("seed", range(6))
def test_prescribed_zeros_come_back_in_any_units(seed: int) -> None:
    rng = np.random.default_rng(seed)
    zeros = np.array([-1.0, 3.0, -2.0 + 4.0j, -2.0 - 4.0j])
    poles = -np.arange(1.0, 8.0) * rng.uniform(1.0, 1.1)
    # residues of prod(s - zeros)/prod(s - poles)
    below = [np.prod((p - poles)[poles != p]) for p in poles]
    residues = np.prod(np.subtract.outer(poles, zeros), axis=1).real / below
    base = fa.StateSpace(np.diag(poles), np.ones((7, 1)), residues[None, :])
    model = changed(base, seed)
    found = model.zeros()
    assert_allclose(beside(found, zeros), zeros, rtol=1e-7)
    assert found.nonminimum_phase.tolist() == [False, True, False, False]
    assert "right half plane" in str(found)


@pytest.mark.parametrize("seed", range(6))
def test_zeros_of_square_systems_make_the_pencil_singular(seed: int) -> None:
    model = random_model(seed, n=8)
    D = model.D.copy()
    D[:, seed % 2] = 0.0  # rank one, or as it is
    for each, count in (
        (model, 8),
        (model.replace(D=D), 7),
        (model.replace(D=None), 6),
    ):
        found = np.asarray(each.zeros())
        assert found.shape == (count,)
        for z in found:
            P = np.block([[each.A - z * np.eye(8), each.B], [each.C, each.D]])
            assert np.linalg.svd(P, compute_uv=False)[-1] < 1e-10 * np.linalg.norm(P)
        # all of them: the determinant is that of the poles and zeros
        s = 0.7 + 1.3j
        G = each.C @ np.linalg.solve(s * np.eye(8) - each.A, each.B) + each.D
        P = np.block([[s * np.eye(8) - each.A, -each.B], [each.C, each.D]])
        assert_allclose(
            np.linalg.det(P),
            np.linalg.det(s * np.eye(8) - each.A) * np.linalg.det(G),
            rtol=1e-9,
        )
        ratio = np.linalg.det(P) / np.prod(s - found)
        t = -1.9 + 0.4j
        Q = np.block([[t * np.eye(8) - each.A, -each.B], [each.C, each.D]])
        assert_allclose(np.linalg.det(Q) / np.prod(t - found), ratio, rtol=1e-7)


def test_zeros_of_a_model_that_is_not_minimal() -> None:
    # a mode that the output does not show is a zero
    model = oscillator([2.0, 5.0], 0.0, seen=[1.0, 0.0])
    assert_allclose(np.abs(np.asarray(model.zeros())), 5.0)


def test_batches_with_unlike_numbers_of_zeros() -> None:
    C = np.array([[[1.0, 0.0]], [[1.0, 1.0]]])
    model = fa.StateSpace([[0, 1], [-1, -1]], [[0], [1]], C)
    zeros = model.zeros()
    assert zeros.values.shape == (2, 1)
    assert zeros.finite.tolist() == [[False], [True]]
    assert_allclose(zeros.values[1], -1.0)
    assert "zeros of 2 models, 0 of them" in str(zeros)


def test_zeros_that_do_not_exist() -> None:
    model = random_model(1, p=3)
    with pytest.raises(fa.ArgumentError, match=r"2 inputs .* and 3 outputs"):
        model.zeros()
    C = np.array(model.C)
    C[1], C[2] = 0.0, 2.0 * C[0]
    for outputs in ([0, 1], [0, 2]):
        degenerate = model.replace(C=C, D=None).select(outputs=outputs)
        with pytest.raises(fa.SingularityError, match="singular for every s"):
            degenerate.zeros()
    # an arm that is stretched out moves its tip across only
    arm = fa.library.planar_chain(2, gravity=(0, 0, 0))
    ss = fa.linearize(arm, [[0.3, 0.5], [0.3, 0.0]], outputs="tip xy")
    assert ss[0].zeros().values.shape == (0,)
    with pytest.raises(fa.SingularityError, match=r"index \(1,\).*tip x, tip y"):
        ss.zeros()


def test_discrete_zeros() -> None:
    # a double integrator sampled: (z + 1) in the numerator
    mass = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]])
    zeros = mass.discretize(0.1).zeros()
    assert_allclose(zeros.values, [-1.0])
    assert not zeros.nonminimum_phase.any()
    late = mass.discretize(0.1, delay=0.02).zeros()
    assert_allclose(np.asarray(late), np.roots([0.32, 0.66, 0.02])[::-1])


# frequency response


def test_frequency_response() -> None:
    model = random_model(3)
    w = np.array([0.0, 0.3, 11.0])
    found = model.frequency_response(w)
    for k, omega in enumerate(w):
        G = model.C @ np.linalg.solve(1j * omega * np.eye(6) - model.A, model.B)
        assert_allclose(found[k], G + model.D, rtol=1e-12)
    assert_allclose(model.static_gain(), found[0].real, rtol=1e-12)
    assert_allclose(changed(model, 1).frequency_response(w), found, rtol=1e-9)
    _, expected = signal.freqresp(model.select(0, 1).to_scipy(), w)
    assert_allclose(found[:, 1, 0], expected, rtol=1e-9)
    many = fa.StateSpace(np.stack([model.A, 2.0 * model.A]), model.B, model.C, model.D)
    assert_allclose(many.frequency_response(w)[0], found, rtol=1e-12)
    sampled = model.discretize(1e-4)
    assert_allclose(sampled.frequency_response(w), found, rtol=0, atol=1e-2)


def test_poles_on_the_axis_have_no_response() -> None:
    free = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]])
    with pytest.raises(fa.SingularityError, match="a pole at 0 rad/s, 1 of 2"):
        free.frequency_response([0.0, 1.0])
    with pytest.raises(fa.SingularityError, match="a pole at 0 rad/s"):
        free.static_gain()


# controllability


@pytest.mark.parametrize("spread", [0.0, 2.0])
def test_modes_that_no_input_moves_are_named(spread: float) -> None:
    model = oscillator([2.0, 5.0, 9.0], 0.01)
    B = np.array(model.B)
    B[4] = 0.0
    model = changed(model.replace(B=B), 0, spread) if spread else model.replace(B=B)
    test = model.controllability()
    assert test.lacking.tolist() == [False, False, True, True, False, False]
    assert not test.success
    with pytest.raises(
        fa.ArgumentError, match=r"the mode of 0.7958 Hz in .*controllab"
    ):
        test.check()
    assert test.check(decaying=False) is test  # it decays by itself
    assert model.observability().check().success
    assert "all modes are observable" in str(model.observability())


def test_alike_modes_need_several_inputs() -> None:
    model = oscillator([3.0, 3.0], 0.0)
    assert not model.controllability().success
    both = model.replace(
        B=np.concatenate([np.zeros((2, 2)), np.eye(2)]), D=None, inputs=("a", "b")
    )
    assert both.controllability().success and not both.observability().success
    # a double integrator has one vector for two poles
    mass = fa.StateSpace([[0, 1], [0, 0]], [[0], [1]], [[1, 0]], states=("a", "a rate"))
    assert mass.controllability().success and mass.observability().success
    turned = mass.replace(C=[[0.0, 1.0]])
    with pytest.raises(fa.ArgumentError, match="the motion without stiffness in a is"):
        turned.observability().check(decaying=False)


def test_a_batch_names_the_first() -> None:
    model = oscillator([2.0, 5.0], 0.0)
    B = np.stack([model.B, model.B])
    B[1, 3] = 0.0
    test = model.replace(B=B, A=np.stack([model.A] * 2)).controllability()
    with pytest.raises(
        fa.ArgumentError,
        match=r"mode of 0.7958 Hz in mass1 is not controllable by push in 1 of 2 "
        r"models, the first at index \(1,\)",
    ):
        test.check()


# time


@pytest.mark.parametrize("seed", range(3))
def test_held_inputs(seed: int) -> None:
    model = random_model(seed)
    found = model.discretize(0.3)
    expected = signal.cont2discrete((model.A, model.B, model.C, model.D), 0.3)
    assert_allclose(found.A, expected[0], rtol=1e-10, atol=1e-12)
    assert_allclose(found.B, expected[1], rtol=1e-10, atol=1e-12)
    assert found.dt == 0.3
    with pytest.raises(fa.ArgumentError, match=r"sample time 0.3 s"):
        found.discretize(0.1)
    with pytest.raises(fa.ArgumentError, match="delay is -1 s, expected zero or more"):
        model.discretize(0.1, delay=-1)


@pytest.mark.parametrize("delay", [0.0, 0.04, 0.1, 0.13, 0.2, 0.37])
def test_delayed_inputs_are_those_of_the_continuous_model(delay: float) -> None:
    model = random_model(4)
    h, count = 0.1, 12
    rng = np.random.default_rng(0)
    u = rng.normal(size=(count, 2))
    late = model.discretize(h, delay)
    x0 = rng.normal(size=6)
    start = np.concatenate([x0, np.zeros(late.n_states - 6)])
    found = late.response(h * np.arange(count), u, start)
    # steps of the input in continuous time, on a grid that has all of them
    fine = 0.01
    t = fine * np.arange(round(h * (count - 1) / fine) + 1)
    k = np.floor((t - delay) / h + 1e-9).astype(int)
    inputs = np.where(k[:, None] >= 0, u[np.maximum(k, 0)], 0.0)
    expected = model.response(t, inputs, x0)
    assert_allclose(found.x[:, :6], expected.x[::10], rtol=1e-9, atol=1e-10)
    assert_allclose(found.y, expected.y[::10], rtol=1e-9, atol=1e-10)


def test_steps_and_impulses() -> None:
    model = oscillator(3.0, 0.2)
    t = np.array([0.0, 0.1, 0.25, 2.0, 2.0, 5.5])
    w, d = 3.0 * np.sqrt(0.96), 0.6
    impulse = np.exp(-d * t) * np.sin(w * t) / w
    step = (1.0 - np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t))) / 9.0
    assert_allclose(
        model.impulse_response(t).y[:, 0, 0], impulse, rtol=1e-9, atol=1e-14
    )
    assert_allclose(model.step_response(t).y[:, 0, 0], step, rtol=1e-9, atol=1e-14)
    held = model.response(t, np.ones((6, 1)))
    assert_allclose(held.y[:, 0], step, rtol=1e-9, atol=1e-14)
    # equal steps to 1e4 of them
    t = np.linspace(0.0, 20.0, 10001)
    long = model.step_response(t).y[-1, 0, 0]
    assert_allclose(long, model.step_response([0.0, 20.0]).y[-1, 0, 0], rtol=1e-10)


def test_responses_of_batches_and_of_discrete_models() -> None:
    model = random_model(2)
    many = fa.StateSpace(np.stack([model.A, 0.5 * model.A]), model.B, model.C, model.D)
    t = 0.2 * np.arange(8)
    for kind in ("step_response", "impulse_response"):
        both = getattr(many, kind)(t)
        assert both.y.shape == (2, 8, 2, 2) and both.x.shape == (2, 8, 6, 2)
        assert_allclose(both.y[1], getattr(many[1], kind)(t).y, rtol=1e-12)
    sampled = model.discretize(0.2)
    assert_allclose(sampled.step_response(t).y, model.step_response(t).y, rtol=1e-9)
    assert_allclose(
        sampled.step_response(t[::3]).y, model.step_response(t[::3]).y, rtol=1e-9
    )
    pulse = sampled.impulse_response(t)
    for k in range(8):
        G = (
            sampled.D
            if k == 0
            else (sampled.C @ np.linalg.matrix_power(sampled.A, k - 1) @ sampled.B)
        )
        assert_allclose(pulse.y[k], G, rtol=1e-9, atol=1e-12)
    with pytest.raises(fa.ArgumentError, match="not multiples of the sample time"):
        sampled.step_response([0.0, 0.3])
    argument_refused(["leaves out samples"], lambda: sampled.response([0.0, 0.4]))
    with pytest.raises(fa.ArgumentError, match="does not ascend from zero"):
        model.step_response([0.1, 0.3])
    with pytest.raises(fa.ArgumentError, match=r"u has shape \(3,\)"):
        model.response(t, np.zeros(3))
    with pytest.raises(fa.ArgumentError, match=r"x0 has shape \(3,\)"):
        model.response(t, x0=np.zeros(3))


def test_free_response() -> None:
    model = random_model(5)
    x0 = np.random.default_rng(0).normal(size=(3, 6))
    found = model.response([0.0, 0.7], x0=x0)
    assert_allclose(found.x[:, 1], x0 @ expm(0.7 * model.A).T, rtol=1e-10)


# connections


@pytest.mark.parametrize("seed", range(3))
def test_models_act_on_each_other(seed: int) -> None:
    control = pytest.importorskip("control")
    plant, law = random_model(seed), random_model(seed + 10, n=3)
    law = law.replace(B=0.1 * law.B, D=0.1 * law.D)
    w = np.array([0.2, 3.0])
    for found, expected in (
        (plant.series(law), law.to_control() * plant.to_control()),
        (plant.feedback(law), control.feedback(plant.to_control(), law.to_control())),
        (
            plant.feedback(law.D, sign=1.0),
            control.feedback(plant.to_control(), control.ss([], [], [], law.D), 1),
        ),
    ):
        G = np.moveaxis(expected(1j * w), -1, 0)
        assert_allclose(found.frequency_response(w), G, rtol=1e-9)
    many = plant.feedback(np.stack([law.D, 2.0 * law.D]))
    assert_allclose(many[1].A, plant.feedback(2.0 * law.D).A, rtol=1e-12)


def test_connections_that_do_not_fit() -> None:
    model = random_model(0)
    with pytest.raises(fa.ArgumentError, match=r"sample times None and 0.1"):
        model.series(model.discretize(0.1))
    with pytest.raises(fa.ArgumentError, match="2 outputs and the second 1 inputs"):
        model.series(model.select(inputs=0))
    with pytest.raises(fa.ArgumentError, match=r"controller has shape \(3,\)"):
        model.feedback(np.zeros(3))
    with pytest.raises(fa.ArgumentError, match="controller has 2 inputs and 1 outputs"):
        model.feedback(model.select(outputs=0))
    with pytest.raises(fa.SingularityError, match="makes the loop singular"):
        model.replace(D=np.eye(2)).feedback(-np.eye(2))


# other packages


def test_scipy_objects() -> None:
    model = random_model(0)
    assert_allclose(model.to_scipy().A, model.A)
    sampled = model.discretize(0.1).to_scipy()
    assert sampled.dt == 0.1
    with pytest.raises(fa.ArgumentError, match="to_scipy makes one model"):
        model.replace(A=np.stack([model.A] * 2)).to_scipy()


def test_python_control_objects() -> None:
    control = pytest.importorskip("control")
    arm = fa.library.de_luca_siciliano()
    ss = fa.linearize(arm, np.zeros(6), outputs=["joints", "tip y", "modes"])
    system = ss.to_control(name="arm")
    assert system.name == "arm" and system.isctime()
    assert system.state_labels[2] == "link1 bending y 1"
    assert system.output_labels == [name.replace(".", " ") for name in ss.outputs]
    s = 1j * 2.7
    assert_allclose(system(s), ss.frequency_response([2.7])[0], rtol=1e-9)
    sampled = ss.discretize(0.01, delay=0.004).to_control()
    assert sampled.dt == 0.01
    # zeros and gains by python-control
    one = random_model(3)
    found = control.zeros(one.to_control())
    assert_allclose(beside(one.zeros(), found), found, rtol=1e-8)
    assert_allclose(control.dcgain(one.to_control()), one.static_gain(), rtol=1e-10)
    t = np.linspace(0.0, 3.0, 31)
    expected = control.step_response(one.to_control(), t).outputs
    found = np.moveaxis(one.step_response(t).y, 0, -1)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    # balanced truncation: Hankel singular values
    assert_allclose(
        one.balanced_reduction(3).hankel,
        np.sqrt(
            np.sort(
                np.linalg.eigvals(
                    control.lyap(one.A, one.B @ one.B.T)
                    @ control.lyap(one.A.T, one.C.T @ one.C)
                ).real
            )[::-1]
        ),
        rtol=1e-6,
    )


def test_a_model_prints() -> None:
    arm = fa.library.de_luca_siciliano()
    ss = fa.linearize(arm, np.zeros(6))
    assert repr(ss) == "<StateSpace: 12 states, 2 inputs, 2 outputs>"
    told = str(ss).splitlines()
    assert told[0] == "linear model of 12 states, 2 inputs, 2 outputs"
    assert told[1] == "inputs: link1 force, link2 force"
    assert any("1.4199" in line and "link1.bending y 1" in line for line in told)
    many = fa.linearize(arm, np.zeros((3, 6))).discretize(0.01)
    assert "(3,) models" in str(many) and "sampled every 0.01 s" in str(many)


def test_zeros_need_as_many_inputs_as_outputs() -> None:
    model = fa.linearize(fa.library.planar_chain(2), np.zeros(2))
    for part in (model.select(outputs=[0]), model.select(inputs=[0])):
        argument_refused(["expected as many of both"], part.zeros)
