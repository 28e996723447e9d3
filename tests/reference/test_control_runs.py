"""How a control loop is called, what it hands back, what it refuses."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from threading import Event
from typing import Any

import numpy as np
import pytest
from control_cases import LIFT, MODEL, STEP, TRUTH, loop, plant, rest, times
from gufuncs import ARMS, assert_same_bits
from interrupts import interrupt_when
from numpy.testing import assert_allclose
from refusals import argument_refused

import flexarm as fa
from flexarm import control
from flexarm.reference import patent_loop
from flexarm.reference.patent_loop import _correction as correction

pytestmark = pytest.mark.filterwarnings("error")

N, U = MODEL.nv, MODEL.nu
T = times(0.1, 5e-3)


def rows(run: control.LoopRun) -> dict[str, Any]:
    """All arrays (..., n, k) of a run."""
    found = {"tracking_error": run.tracking_error}
    for record in (run, run.comparison, run.comparison.desired):
        kind = type(record)
        names = getattr(kind, "_fields", None) or kind.__dataclass_fields__
        for name in names:
            value = getattr(record, name)
            if isinstance(value, np.ndarray) and value.ndim > 1:
                found[f"{kind.__name__}.{name}"] = value
    return found


def assert_same_run(a: control.LoopRun, b: control.LoopRun) -> None:
    first, second = rows(a), rows(b)
    assert len(first) == len(second) == 19
    for name in first:
        assert_same_bits(first[name], second[name])


# stored and immediate commands


def test_stored_commands_are_those_sent_at_once() -> None:
    kinds: list[list[Any]] = [[], []]
    runs, moved = [], []
    for store, sent in zip((False, True), kinds, strict=True):
        controller = loop(
            store=store,
            servo=lambda t, command, sent=sent: sent.append((t, *command)),
            convert=lambda tau: tau / 0.05,
        )
        real = plant(TRUTH)
        runs.append(controller.run(real, T, sensors=False))
        moved.append(real.trajectory)
        assert controller.stored == []
    assert_same_run(*runs)
    assert kinds[0] == kinds[1]
    assert_same_bits(moved[0].q, moved[1].q)
    assert_same_bits(runs[0].command, runs[0].tau / 0.05)


def test_stored_forces_wait_until_they_are_sent() -> None:
    sent: list[float] = []
    controller = loop(store=True, servo=lambda t, command: sent.append(t))
    steps = [controller.step(t) for t in (0.0, 0.01, 0.02)]
    assert sent == []
    assert all(step.command is None for step in steps)
    assert len(controller.stored) == 3
    t, command = controller.send_next()
    assert (t, sent) == (0.0, [0.0])
    assert_same_bits(command, steps[0].tau)

    # a servo that refuses loses nothing
    def refuse(t: float, command: Any) -> None:
        raise RuntimeError("no power")

    controller.servo = refuse
    with pytest.raises(RuntimeError):
        controller.send_next()
    assert [t for t, _ in controller.stored] == [0.01, 0.02]
    controller.reset()
    argument_refused(["nothing is stored"], controller.send_next)


def test_steps_by_hand_are_a_run() -> None:
    real, other = plant(TRUTH), plant(TRUTH)
    controller = loop()
    run = controller.run(real, T)
    controller.reset()
    command = None
    for k, t in enumerate(T[:-1]):
        reading = other(t, command)
        step = controller.step(t, reading, span=T[k + 1] - t)
        command = step.command
        assert_same_bits(step.tau, run.tau[k])
        assert_same_bits(step.comparison.q, run.q[k])
    assert controller.t == T[-2]


def test_commands_may_have_their_own_width() -> None:
    controller = loop(convert=lambda tau: [tau[0] - tau[1], tau[1], 1.0])
    real = plant(TRUTH, servo=lambda c: [c[0] + c[1], c[1]])
    run = controller.run(real, T)
    assert run.command.shape == (len(T), 3)
    assert_allclose(real.trajectory.tau[:-1], run.tau[:-1], atol=1e-15)


# the simulated plant


def test_plant_is_a_simulation_with_held_forces() -> None:
    tau = np.random.default_rng(0).normal(size=(len(T), U)) * 0.1
    real = plant()
    for k, t in enumerate(T):
        reading = real(t, tau[k - 1] if k else None)
    run = fa.simulate(
        MODEL,
        np.zeros(N),
        np.zeros(N),
        T,
        torque=tau,
        interpolation="hold",
        max_step=STEP,
    )
    # equal spans in all but the last bit
    assert_allclose(real.trajectory.q, run.q, rtol=1e-9, atol=1e-12)
    assert_same_bits(real.trajectory.tau[:-1], tau[:-1])
    assert_same_bits(reading.q, real.trajectory.q[-1, :U])
    # without a command the servos hold the one before
    real(0.2, None)
    assert_same_bits(real.trajectory.tau[-1], tau[-2])
    assert "at 0.2 s" in repr(real)


def test_sensors_round_come_late_and_scatter() -> None:
    sensors = patent_loop.JointSensors(resolution=0.01, rate_resolution=0.5)
    q, qd = 0.1234 * np.ones(N), 1.3 * np.ones(N)
    read = sensors.read(MODEL, q, qd, np.random.default_rng(0))
    assert_allclose(read.q, 0.12, rtol=1e-15)
    assert_allclose(read.qd, 1.5, rtol=1e-15)
    listed = sensors.read(MODEL, q, qd.tolist(), np.random.default_rng(0))
    assert_same_bits(listed.qd, read.qd)
    noisy = patent_loop.JointSensors(noise=0.1, rate_noise=0.2)
    many = np.zeros((20000, N))
    read = noisy.read(MODEL, many, many, np.random.default_rng(0))
    assert_allclose(read.q.std(0), 0.1, rtol=0.02)
    assert_allclose(read.qd.std(0), 0.2, rtol=0.02)

    exact, late = (
        plant(TRUTH),
        plant(TRUTH, sensors=patent_loop.JointSensors(delay=3)),
    )
    a = [exact(t, [0.1, 0.0]).q for t in T]
    b = [late(t, [0.1, 0.0]).q for t in T]
    assert_same_bits(np.array(b[3:]), np.array(a[:-3]))
    assert_same_bits(np.array(b[:3]), np.array([a[0]] * 3))


def test_a_run_with_bad_sensors_repeats_itself() -> None:
    sensors = patent_loop.JointSensors(1e-4, 1e-3, noise=1e-4, rate_noise=1e-3, delay=1)
    real, controller = plant(TRUTH, sensors=sensors), loop()
    first = controller.run(real, T)
    real.reset()
    assert_same_run(controller.run(real, T), first)
    other = plant(TRUTH, sensors=dataclasses.replace(sensors, seed=1))
    assert np.abs(controller.run(other, T).y[:, :U] - first.y[:, :U]).max() > 1e-5
    assert first.success


# batches


def test_batch_equals_loop_bit_for_bit() -> None:
    rng = np.random.default_rng(2)
    q0, qd0 = 0.02 * rng.normal(size=(2, 2, 3, N))
    w = rng.uniform(1.0, 8.0, size=(2, 3, 1))
    motion = control.RestToRest(np.zeros(U), rng.normal(size=(3, U)), 1.0)
    options: dict[str, Any] = {"max_step": STEP, "specified": [0.01, 0.0]}
    for sensors in (True, False):
        controller = patent_loop.ManipulatorController(
            MODEL,
            motion,
            q0,
            qd0,
            correction=patent_loop.ComputedTorque(w),
            **options,
        )
        real = patent_loop.SimulatedPlant(MODEL, 0.0 * q0, qd0, max_step=STEP)
        runs = controller.run(real, T[:6], sensors=sensors)
        assert runs.q.shape == (2, 3, 6, N)
        assert runs.tau.shape == (2, 3, 6, U)
        assert (runs.completed == 6).all()
        assert "2 x 3 loops" in repr(runs)
        assert "2 x 3 arms" in repr(real)
        for i in np.ndindex(2, 3):
            own = control.RestToRest(np.zeros(U), motion.end[i[1]], 1.0)
            gains = patent_loop.ComputedTorque(w[i])
            one = patent_loop.ManipulatorController(
                MODEL, own, q0[i], qd0[i], correction=gains, **options
            ).run(
                patent_loop.SimulatedPlant(MODEL, 0.0 * q0[i], qd0[i], max_step=STEP),
                T[:6],
                sensors=sensors,
            )
            all_of_them, alone = rows(runs), rows(one)
            for name in alone:
                assert_same_bits(all_of_them[name][i], alone[name])


def test_a_member_that_diverges_is_nan_and_the_others_go_on() -> None:
    start = np.zeros((3, N))
    w = np.array([[5.0], [5e4], [10.0]])
    controller = patent_loop.ManipulatorController(
        MODEL,
        LIFT,
        start,
        start,
        correction=patent_loop.ComputedTorque(w),
        max_step=STEP,
    )
    real = patent_loop.SimulatedPlant(
        TRUTH, np.zeros((3, TRUTH.nv)), np.zeros(TRUTH.nv)
    )
    real.max_step = 2e-4
    run = controller.run(real, times(0.5, 5e-3))
    assert not run.success
    assert "1 of 3 loops are incomplete" in run.message
    assert (run.completed[[0, 2]] == 101).all()
    assert 0 < run.completed[1] < 101
    assert np.isnan(run.tau[1, run.completed[1] :]).all()
    assert not real.trajectory.success
    alone = loop(correction=patent_loop.ComputedTorque(5.0)).run(plant(TRUTH), run.t)
    assert_same_bits(run.tau[0], alone.tau)


def test_a_singular_member_is_lost_alone() -> None:
    """A response of the model that is zero has no force; seen with diverging loops."""
    matrix = np.array([[[2.0, 0.0], [0.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]])
    right = np.array([1.0, 1.0])
    assert_same_bits(correction._solve(matrix, right), [[0.5, 0.25], [np.nan, np.nan]])
    right = np.array([[np.nan, 1.0], [1.0, 1.0]])
    assert np.isnan(correction._solve(matrix, right)).all()


def test_empty_batch_and_single_time() -> None:
    none = np.zeros((0, N))
    controller = patent_loop.ManipulatorController(MODEL, LIFT, none, none)
    run = controller.run(patent_loop.SimulatedPlant(MODEL, none, none), T[:3])
    assert run.tau.shape == (0, 3, U)
    assert run.success
    run = loop().run(plant(), [0.7])
    assert run.tau.shape == (1, U)
    assert run.success
    assert run.completed == 1


# nothing is lost


@pytest.mark.parametrize("part", ["plant", "correction", "servo", "convert", "desired"])
@pytest.mark.parametrize("store", [False, True])
def test_an_exception_carries_what_was_reached(part: str, store: bool) -> None:
    calls = {"n": 0}

    def fail(result: Any) -> Any:
        calls["n"] += 1
        if calls["n"] == 13:
            raise RuntimeError("unplugged")
        return result

    real = plant(TRUTH)
    gains = patent_loop.ComputedTorque()
    parts: dict[str, Any] = {
        "correction": lambda step: fail(gains(step)),
        "servo": lambda t, command: fail(None),
        "convert": lambda tau: fail(tau),
    }
    options = {part: parts[part]} if part in parts else {}
    if part == "desired":
        options["desired"] = lambda t: fail(LIFT(t))
    controller = loop(store=store, **options)

    def broken(t: float, command: Any) -> Any:
        return fail(real(t, command)) if part == "plant" else real(t, command)

    with pytest.raises(RuntimeError, match="unplugged") as caught:
        controller.run(broken, T)
    run = caught.value.run  # type: ignore[attr-defined]
    expected = loop(store=store).run(plant(TRUTH), T)
    assert not run.success
    assert "stopped by an exception" in run.message
    rows = expected.tau.shape[0]
    reached = run.completed
    assert_same_bits(run.tau[:reached], expected.tau[:reached])
    assert np.isnan(run.tau[reached:]).all()
    if store and part in ("plant", "servo", "convert"):
        assert reached == rows  # all computed, half of it sent
        assert len(controller.stored) == rows - 12
        assert np.isfinite(run.command[:12]).all() and np.isnan(run.command[12:]).all()
    else:
        # two desired motions are needed at each step
        assert reached == {"desired": 6, "servo": 13, "convert": 13}.get(part, 12)


def test_ctrl_c_returns_what_was_reached() -> None:
    real = plant(TRUTH)

    def stop(t: float, command: Any) -> Any:
        if t > 0.06:
            raise KeyboardInterrupt
        return real(t, command)

    run = loop().run(stop, T)
    assert not run.success
    assert run.message.startswith("interrupted")
    assert run.completed == 13
    assert np.isfinite(run.y[:13]).all() and np.isnan(run.y[13:]).all()


def test_a_signal_while_the_plant_moves() -> None:
    real = plant(max_step=1e-7)  # 50,000 steps from one command to the next
    moves = Event()

    def moved(t: float, command: Any) -> Any:
        if t > 0.01:
            moves.set()
        return real(t, command)

    with interrupt_when(moves.is_set):
        run = loop().run(moved, times(10.0, 5e-3))
    assert not run.success
    assert run.message.startswith("interrupted: 1 of 1 loops")
    assert 1 <= run.completed < 100
    assert np.isnan(run.q[run.completed :]).all()


def test_nothing_is_sent_when_all_is_lost() -> None:
    sent: list[Any] = []
    controller = loop(servo=lambda t, command: sent.append(command))
    controller.step(0.0)
    for reading in (([np.nan, 0.0], [0.0, 0.0]), ([0.0, 0.0], [np.inf, 0.0])):
        with pytest.raises(fa.NotFiniteError, match=r"t = 0\.01 s") as caught:
            controller.step(0.01, reading)
        assert caught.value.count == 1
    assert len(sent) == 1
    controller.step(0.01)  # the state is that of the step before
    assert len(sent) == 2


def test_without_readings_the_model_is_integrated() -> None:
    run = loop().run(lambda t, command: None, T)
    blind = loop().run(plant(), T, sensors=False)
    assert_same_bits(run.q, blind.q)
    assert np.isnan(run.y).all() and np.isnan(run.tracking_error).all()
    assert run.success


# results


def test_result_is_frozen_and_pickles() -> None:
    run = loop().run(plant(TRUTH), T)
    with pytest.raises(dataclasses.FrozenInstanceError):
        run.success = False  # type: ignore[misc]
    again = pickle.loads(pickle.dumps(run))
    assert_same_run(again, run)
    assert again.arm == MODEL
    assert "one loop, 21 samples from 0 to 0.1 s, rk4; reached the last time" in repr(
        run
    )
    assert patent_loop.node_deformations(run.arm, run.q).shape == (
        21,
        MODEL.n_nodes,
        6,
    )


def test_inputs_are_not_changed_nor_kept() -> None:
    start, t, forces = np.zeros(N), T.copy(), np.zeros(U)
    kept: list[Any] = []

    def spoil(step: patent_loop.Comparison) -> Any:
        kept.append((step.q.copy(), step.q))
        step.tau[:] = 7.0
        return forces

    controller = patent_loop.ManipulatorController(
        MODEL, LIFT, start, start, correction=spoil, max_step=STEP
    )
    real = plant(TRUTH)
    run = controller.run(real, t)
    assert (start == 0.0).all() and (forces == 0.0).all()
    assert_same_bits(t, T)
    assert all((a == b).all() for a, b in kept)
    start[:] = t[:] = 1.0
    assert_same_bits(run.t, T)
    controller.reset()
    assert (controller.step(0.0).comparison.q == 0.0).all()


# refusals


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"desired": None}, ["desired is None", "RestToRest"]),
        ({"desired": 3}, ["desired is int", "function"]),
        ({"correction": 3.0}, ["correction is float", "Comparison"]),
        ({"integrator": "rk5"}, ["integrator is 'rk5'", "'rk4', 'euler'"]),
        ({"servo": "x"}, ["servo is str"]),
        ({"q0": np.zeros(3)}, ["q0 has shape (3,), expected (6,)", "position_names"]),
        ({"qd0": [np.nan] * N}, ["qd0 is [nan", "finite"]),
        ({"q0": np.zeros((2, N)), "qd0": np.zeros((3, N))}, ["do not broadcast"]),
    ],
)
def test_refused_controllers(options: dict[str, Any], words: list[str]) -> None:
    given = {"arm": MODEL, "desired": LIFT, "q0": np.zeros(N), "qd0": np.zeros(N)}
    argument_refused(
        words,
        lambda: patent_loop.ManipulatorController(**(given | options)),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"desired": lambda t: 1.0}, ["desired motion at t = 0 is float"]),
        ({"desired": lambda t: ([0.0], [0.0], [0.0])}, ["q of the desired", "(1,)"]),
        (
            {"desired": lambda t: ([0.0, np.inf], [0.0] * 2, [0.0] * 2)},
            ["q of the desired motion at t = 0", "finite"],
        ),
        (
            {"desired": lambda t: (*LIFT(t)[:3], np.zeros(6)[:5])},
            ["deformation of the desired", "(5,)"],
        ),
        ({"specified": [1.0]}, ["specified force at t = 0", "(1,)", "(2,)"]),
        ({"specified": lambda t: [np.nan] * 2}, ["specified force", "finite"]),
        ({"correction": lambda c: c.q}, ["corrected force at t = 0", "(6,)", "(2,)"]),
        ({"correction": lambda c: "much"}, ["corrected force", "'much'"]),
        ({"convert": lambda tau: 1.0}, ["servo command at t = 0"]),
        ({"convert": lambda tau: tau * np.nan}, ["servo command", "finite"]),
    ],
)
def test_refused_steps(options: dict[str, Any], words: list[str]) -> None:
    argument_refused(words, lambda: loop(**options).step(0.0))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: loop().step("now"), ["t is 'now'", "time in s"]),
        (lambda: loop().step(np.nan), ["t is nan"]),
        (lambda: loop().step(0.0, span=-1.0), ["span is -1.0"]),
        (lambda: loop().step(0.0, 3.0), ["joint reading at t = 0 is float"]),
        (lambda: loop().step(0.0, ([0.0], [0.0])), ["q of the joint reading", "(1,)"]),
        (lambda: loop().run(plant(), [0.0, 0.0]), ["t does not increase"]),
        (lambda: loop().run(3.0, T), ["plant is float"]),
        (lambda: loop(store=True).run(plant(), T, sensors=True), ["stored", "sensed"]),
        (lambda: loop().step(0.0).comparison.predict([0.0, 0.0]), ["span is zero"]),
        (lambda: control.RestToRest([0.0], [1.0], 0.0), ["duration is 0.0"]),
        (lambda: control.RestToRest([0.0], [1.0], "long"), ["duration is 'long'"]),
        (lambda: control.RestToRest([0.0], [1.0], 1.0, np.nan), ["begin is nan"]),
        (
            lambda: control.RestToRest([np.nan], [1.0], 1.0),
            ["start[0] is nan"],
        ),
        (lambda: control.RestToRest([0.0] * 2, [1.0] * 3, 1.0), ["(2,) and end (3,)"]),
        (lambda: patent_loop.ComputedTorque(-1.0), ["bandwidth is -1.0"]),
        (lambda: patent_loop.ComputedTorque("x"), ["bandwidth is 'x'"]),
        (lambda: patent_loop.JointSensors(noise=-1.0), ["noise is -1.0"]),
        (
            lambda: patent_loop.JointSensors(delay=1.5),
            ["delay is 1.5", "whole number"],
        ),
        (lambda: plant(sensors=3), ["sensors is int", "JointSensors"]),
        (lambda: plant(servo=3), ["servo is int"]),
        (lambda: plant().trajectory, ["has not moved"]),
        (
            lambda: patent_loop.node_deformations(MODEL, [0.0]),
            ["q has shape (1,)"],
        ),
    ],
)
def test_refused_calls(call: Callable[[], Any], words: list[str]) -> None:
    argument_refused(words, call)


def test_time_does_not_go_back() -> None:
    controller, real = loop(), plant()
    controller.step(1.0)
    argument_refused(["at 1 s", "reset()"], lambda: controller.step(1.0))
    real(0.5)
    argument_refused(["at 0.5 s", "reset()"], lambda: real(0.4))
    argument_refused(["joint force", "(3,)"], lambda: real(0.6, [0.0] * 3))
    argument_refused(["joint force", "nan"], lambda: real(0.6, [0.0, np.nan]))
    real(0.6, [0.0, 0.0])


def test_commands_keep_their_width() -> None:
    widths = iter((2, 2, 3))
    controller = loop(convert=lambda tau: np.zeros(next(widths)))
    argument_refused(
        ["servo command at t = 0.01", "(3,)", "(2,)"],
        lambda: controller.run(lambda t, c: None, T),
    )


# figures


def test_tracking_draws_motion_errors_and_commands() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    run = loop().run(plant(TRUTH), T)
    lines = fa.plotting.tracking(run, degrees=True)
    assert [line.get_label() for line in lines[:3]] == ["link1", "link2", "desired"]
    assert_same_bits(lines[1].get_ydata(), np.degrees(run.y[:, 1]))
    assert_same_bits(lines[3].get_ydata(), np.degrees(run.comparison.desired.q[:, 1]))
    assert lines[0].axes.get_ylabel() == "joint position (deg)"
    errors = fa.plotting.tracking(run, "errors", ax=plt.figure().add_subplot())
    assert_same_bits(errors[0].get_ydata(), run.tracking_error[:, 0])
    assert errors[0].axes.get_ylabel() == "joint error (rad)"
    commands = fa.plotting.tracking(run, "commands")
    assert commands[0].get_drawstyle() == "steps-post"
    assert commands[0].axes.get_ylabel() == "servo command (N m)"
    wide = loop(convert=lambda tau: [*tau, 0.0])
    other = wide.run(plant(servo=lambda command: command[:U]), T)
    names = [line.get_label() for line in fa.plotting.tracking(other, "commands")]
    assert names == ["command 1", "command 2", "command 3"]
    blind = loop().run(lambda t, command: None, T)
    drawn = fa.plotting.tracking(blind)[0].get_ydata()
    assert_same_bits(drawn, blind.q[:, 0])
    drawn = fa.plotting.tracking(blind, "errors")[0].get_ydata()
    assert_same_bits(drawn, blind.comparison.position_error[:, 0])
    argument_refused(["kind is 'x'"], lambda: fa.plotting.tracking(run, "x"))
    # a law at samples has no desired motion, but commands
    law = control.LinearController(None, None, None, np.eye(U, 2 * U), 0.01)
    sampled = control.simulate_loop(MODEL, law, *rest(MODEL), [0.0, 0.1], delay=0.005)
    (line, _) = fa.plotting.tracking(sampled, "commands")
    assert_same_bits(line.get_xdata(), sampled.sample_times)
    assert_same_bits(line.get_ydata(), sampled.command[:, 0])
    assert line.axes.get_ylabel() == "servo command (N m)"
    for read in (lambda: fa.plotting.tracking(sampled), lambda: sampled.tracking_error):
        argument_refused(["no desired motion"], read)
    plt.close("all")


def test_tracking_of_a_batch_with_a_sliding_joint() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rod: dict[str, Any] = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    arm = fa.Arm(
        [
            fa.RigidBody("wheel", nodes={"tip": (0.5, 0, 0)}, **rod),
            fa.RigidBody("slide", fa.Joint("prismatic", axis=(1, 0, 0)), **rod),
        ]
    )
    start = np.zeros((3, 2))
    motion = control.RestToRest(start, [0.1, 0.2], 0.5)
    controller = patent_loop.ManipulatorController(arm, motion, start, start)
    run = controller.run(patent_loop.SimulatedPlant(arm, start, start), T)
    lines = fa.plotting.tracking(run, degrees=True)
    assert len(lines) == 12
    assert lines[0].axes.get_ylabel() == "joint position (deg or m)"
    assert_same_bits(lines[4].get_ydata(), run.y[1, :, 1])
    commands = fa.plotting.tracking(run, "commands")
    assert commands[0].axes.get_ylabel() == "servo command"
    plt.close("all")


@pytest.mark.parametrize(
    ("key", "bound"),
    # the wrist of the PUMA stops by friction within a step: first order there
    [("pendulum", 2e-5), ("puma560", 1e-3)],
)
def test_rigid_arms_of_the_library_are_controlled(key: str, bound: float) -> None:
    arm = ARMS[key]
    zero = np.zeros(arm.nv)
    motion = control.RestToRest(zero, 0.3 * np.ones(arm.nu), 0.5)
    controller = patent_loop.ManipulatorController(arm, motion, zero, zero)
    run = controller.run(patent_loop.SimulatedPlant(arm, zero, zero), times(0.5, 2e-3))
    assert run.success
    assert abs(run.tracking_error).max() < bound
