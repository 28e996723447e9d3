"""Events: times against closed forms, terminal ones, batches, all methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from refusals import argument_refused

import flexarm as fa
from flexarm._core import METHODS as CORE
from flexarm.simulation import Event

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

SLIDE = fa.Arm([fa.RigidBody("slide", fa.Joint("prismatic", axis=(0, 0, 1)), mass=2.0)])
METHODS = (*CORE, "DOP853", "Radau")
T = np.linspace(0.0, 1.0, 5)


def height(level: float) -> Any:
    def function(t: Any, q: Any, qd: Any) -> Any:
        return q[..., 0] - level

    return function


def fall(level: float, q0: float, qd0: float) -> tuple[float, float]:
    """Times at which a body in free fall passes a height, going up and down."""
    root = np.sqrt(qd0**2 - 2.0 * 9.81 * (level - q0))
    return (qd0 - root) / 9.81, (qd0 + root) / 9.81


@each("method", METHODS)
def test_free_fall_passes_a_height_at_the_times_of_the_closed_form(method: str) -> None:
    run = fa.simulate(
        SLIDE, [0.0], [5.0], T, method=method, events=Event(height(0.8), name="x")
    )
    up, down = fall(0.8, 0.0, 5.0)
    # all of these methods are exact for constant force, error control or not
    assert_allclose([e.t for e in run.events], [up, down], rtol=1e-9)
    assert run.message == "reached the last time"
    for event, rate in zip(run.events, (1.0, -1.0), strict=True):
        assert event.name == "x"
        assert event.trajectory == ()
        assert_allclose(event.q, [0.8], rtol=1e-10)
        assert_allclose(event.qd, [rate * np.sqrt(25.0 - 1.6 * 9.81)], rtol=1e-8)


@pytest.mark.parametrize(("direction", "count"), [(0, 2), (1, 1), (-1, 1)])
def test_direction_chooses(direction: int, count: int) -> None:
    event = Event(height(0.8), direction=direction)
    run = fa.simulate(SLIDE, [0.0], [5.0], T, events=[event])
    assert len(run.events) == count
    for found in run.events:
        assert direction * found.qd[0] >= 0.0


def test_a_state_that_starts_on_an_event_does_not_count() -> None:
    run = fa.simulate(SLIDE, [0.0], [5.0], [0.0, 0.5], events=Event(height(0.0)))
    assert run.events == ()


def test_a_batch_has_its_own_times() -> None:
    """2 x 9 trajectories in lanes of one run; times agree with those alone."""
    qd0 = np.linspace(3.0, 6.0, 18).reshape(2, 9, 1)
    level = 0.3
    events = [Event(height(level), name="pass"), Event(height(-0.2), name="low")]
    run = fa.simulate(SLIDE, np.zeros((2, 9, 1)), qd0, T, events=events)
    assert [e.t for e in run.events] == sorted(e.t for e in run.events)
    for index in np.ndindex(2, 9):
        mine = [e for e in run.events if e.trajectory == index and e.name == "pass"]
        times = [x for x in fall(level, 0.0, qd0[index][0]) if x <= 1.0]
        assert_allclose([e.t for e in mine], times, rtol=1e-11)
        alone = fa.simulate(SLIDE, [0.0], qd0[index], T, events=events)
        assert [e.t for e in alone.events if e.name == "pass"] == [e.t for e in mine]


@each("method", METHODS)
def test_terminal_events_end_their_trajectory_alone(method: str) -> None:
    events = [
        Event(height(0.8), name="high", terminal=True),
        Event(height(0.2), name="pass"),
    ]
    qd0 = np.array([[5.0], [1.0]])
    run = fa.simulate(SLIDE, [0.0], qd0, T, method=method, events=events)
    assert run.success
    up = fall(0.8, 0.0, 5.0)[0]
    assert "1 of 2 trajectories ended by events" in run.message
    assert f"the first by 'high' at t = {up:g} s" in run.message
    reached = (up >= T).sum()
    assert list(run.completed) == [reached, 5]
    assert np.isnan(run.q[0, reached:]).all()
    assert np.isnan(run.tau[0, reached:]).all()
    names = [(e.name, e.trajectory) for e in run.events]
    assert names == [("pass", (0,)), ("high", (0,))]


def test_coarse_samples_are_refined_by_integration_not_by_interpolation() -> None:
    """A pendulum between two samples that are a quarter of its period apart."""
    arm = fa.library.pendulum(mass=1.3, com=0.7)
    event = Event(lambda t, q, qd: q[..., 0] + 1.0, direction=-1)
    options: Any = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}
    exact = fa.simulate(
        arm, [0.5], [0.0], np.linspace(0, 0.6, 61), events=event, **options
    )
    coarse = fa.simulate(arm, [0.5], [0.0], [0.0, 0.6], events=event, max_step=1e-3)
    assert_allclose(coarse.events[0].t, exact.events[0].t, rtol=0, atol=1e-10)
    assert_allclose(coarse.events[0].q, [-1.0], rtol=0, atol=1e-13)


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
@pytest.mark.parametrize("method", ["rk4", "generalized-alpha", "Rodas4P", "RK45"])
@pytest.mark.parametrize("kind", ["samples", "hold", "feedback", "function"])
def test_forces_are_those_of_the_run(method: str, kind: str) -> None:
    """The event is where the states of a run with a sample at its time are."""
    rng = np.random.default_rng(2)
    arm = fa.library.de_luca_siciliano()
    q0 = np.array([0.1, 0.2, 0.01, 0.0, 0.01, 0.0])
    t = np.linspace(0.0, 0.04, 5)
    samples = rng.normal(size=(5, 2))
    law = fa.control.JointFeedback([3.0, 1.0], [1.0, 0.3], samples, None, samples)
    torque: Any = {
        "samples": samples,
        "hold": samples,
        "feedback": law,
        "function": lambda t, q, qd: np.sin(9.0 * t) - q[..., :2],
    }[kind]
    options: Any = {
        "torque": torque,
        "interpolation": "hold" if kind == "hold" else "linear",
        "method": method,
        "max_step": 1e-4,
    }
    plain = fa.simulate(arm, q0, np.zeros(6), t, **(options | {"max_step": 1e-3}))
    level = 0.5 * (plain.q[2, 0] + plain.q[3, 0])
    run = fa.simulate(arm, q0, np.zeros(6), t, events=Event(height(level)), **options)
    (found,) = [e for e in run.events if t[2] <= e.t <= t[3]]
    assert_allclose(found.q[0], level, rtol=0, atol=1e-12)
    # a run that ends there, with the forces cut at the same time
    part = (found.t - t[2]) / (t[3] - t[2])
    cut = samples[2] + (0.0 if kind == "hold" else part) * (samples[3] - samples[2])
    short = np.vstack([samples[:3], cut])
    again: Any = short if kind in ("samples", "hold") else torque
    if kind == "feedback":
        again = fa.control.JointFeedback([3.0, 1.0], [1.0, 0.3], short, None, short)
    ends = fa.simulate(
        arm, q0, np.zeros(6), np.append(t[:3], found.t), **(options | {"torque": again})
    )
    # generalized-alpha starts again at the sample; RK45 has other steps
    tolerance = {"generalized-alpha": 1e-6, "RK45": 1e-7}.get(method, 1e-8)
    assert_allclose(found.q, ends.q[-1], rtol=0, atol=tolerance)


def test_a_function_of_a_batch_sees_the_whole_batch() -> None:
    shapes = []

    def torque(t: float, q: Any, qd: Any) -> Any:
        shapes.append(q.shape)
        return 2.0 * 9.81 + 0.0 * q

    qd0 = np.array([[1.0], [2.0], [0.1]])
    run = fa.simulate(
        SLIDE, [0.0], qd0, [0.0, 0.4, 1.0], torque=torque, events=Event(height(0.5))
    )
    assert [(e.trajectory, round(e.t, 12)) for e in run.events] == [
        ((1,), 0.25),
        ((0,), 0.5),
    ]
    assert set(shapes) == {(3, 1)}


def test_two_zeros_between_two_samples_are_seen() -> None:
    """Up and down through a height within one interval."""
    run = fa.simulate(SLIDE, [0.0], [5.0], [0.0, 1.0], events=Event(height(1.2)))
    assert_allclose([e.t for e in run.events], fall(1.2, 0.0, 5.0), rtol=1e-10)
    only = Event(height(1.2), direction=-1)
    run = fa.simulate(SLIDE, [0.0], [5.0], [0.0, 1.0], events=only)
    assert_allclose([e.t for e in run.events], fall(1.2, 0.0, 5.0)[1:], rtol=1e-10)


# ready made


def test_events_of_joints_nodes_and_rest() -> None:
    arm = fa.library.pendulum(mass=1.0, com=1.0)
    stop = fa.events.joint_reaches(arm, 0, -1.2, terminal=True)
    by_name = fa.events.joint_reaches(arm, arm.position_names[0], -1.2)
    assert by_name.name == stop.name
    t = np.linspace(0.0, 1.0, 11)
    run = fa.simulate(arm, [0.0], [0.0], t, events=stop, max_step=1e-3)
    assert run.success
    (event,) = run.events
    # energy: speed^2 = 2 g sin(1.2)
    assert_allclose(event.qd, [-np.sqrt(2.0 * 9.81 * np.sin(1.2))], rtol=1e-9)
    target = fa.tip_pose(arm, [-1.0])[:3, 3]
    near = fa.events.node_reaches(arm, target, 0.1)
    run = fa.simulate(arm, [0.0], [0.0], t, events=near, max_step=1e-3)
    (event,) = run.events
    reach = np.linalg.norm(fa.tip_pose(arm, event.q)[:3, 3] - target)
    assert_allclose(reach, 0.1, rtol=1e-11)
    # viscous friction alone: v = v0 exp(-d t / I)
    free = fa.Arm(
        [fa.RigidBody("s", fa.Joint("prismatic", damping=3.0), mass=2.0)],
        gravity=(0.0, 0.0, 0.0),
    )
    still = fa.events.at_rest(free, 0.01, terminal=True)
    run = fa.simulate(free, [0.0], [1.0], np.linspace(0, 5, 501), events=still)
    assert_allclose(run.events[0].t, 2.0 / 3.0 * np.log(100.0), rtol=1e-6)


def test_rest_of_flexible_links_and_of_motors() -> None:
    drive = fa.Drive(50.0, 2.0, 0.01, rotor_mass=0.3, stator_mass=0.2, motor_damping=1)
    link = fa.beams.flexible_link(
        "link",
        length=1.0,
        mass_per_length=0.5,
        joint=fa.Joint(drive=drive, position=(0.1, 0.0, 0.0)),
        bending_y=fa.beams.clamped_beam_modes(1.0, 0.5, 2.0, 1),
        modal_damping=0.5,
    )
    arm = fa.Arm([link], gravity=(0.0, 0.0, 0.0))
    still = fa.events.at_rest(arm, 0.02, terminal=True)
    start = [1.0, 2.0, 0.0]
    t = np.linspace(0.0, 20.0, 2001)
    run = fa.simulate(arm, np.zeros(3), start, t, events=still, max_step=1e-3)
    (found,) = run.events
    T = fa.kinetic_energy(arm, found.q, found.qd)
    assert_allclose(np.sqrt(2.0 * T / (0.5 + 0.3 + 0.2)), 0.02, rtol=1e-9)
    turntable = fa.RigidBody("table", inertia=(1.0, 1.0, 1.0))
    with pytest.raises(fa.ArgumentError, match="inertia but no mass"):
        fa.events.at_rest(fa.Arm([turntable]), 0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"terminal": "no"}, "terminal of an event is 'no', expected True or False"),
        ({"name": 3}, "name of an event is 3, expected a string"),
        ({"direction": np.array([1, 0])}, "direction of an event"),
        ({"direction": "up"}, "direction of an event"),
    ],
)
def test_arguments_of_an_event_are_checked(options: Any, words: str) -> None:
    with pytest.raises(fa.ArgumentError, match=words):
        Event(height(0.0), **options)


def test_events_that_can_have_no_zero_are_refused() -> None:
    above = Event(lambda t, q, qd: q[..., 0] > 0.0, name="above")
    with pytest.raises(fa.ArgumentError, match="'above' returned booleans") as told:
        fa.simulate(SLIDE, [0.0], [0.0], T, events=above)
    assert told.value.trajectory.q.shape == (len(T), 1)  # type: ignore[attr-defined]
    root = Event(lambda t, q, qd: np.sqrt(q[..., 0] - 100.0), name="root")
    with pytest.raises(fa.ArgumentError, match="'root' is NaN at t = 0 s"):
        fa.simulate(SLIDE, [0.0], [0.0], T, events=root)


def test_events_are_functions_with_known_directions() -> None:
    arm = SLIDE
    with pytest.raises(fa.ArgumentError, match="expected a function"):
        Event(3)  # type: ignore[arg-type]
    argument_refused(["direction"], lambda: Event(height(0.0), direction=2))
    with pytest.raises(
        fa.ArgumentError, match=r"fa\.events\.Event\(function\) makes one"
    ):
        fa.simulate(arm, [0.0], [0.0], T, events=[height(0.0)])
    with pytest.raises(fa.ArgumentError, match=r"list of fa\.events\.Event"):
        fa.simulate(arm, [0.0], [0.0], T, events=3)
    wrong = Event(lambda t, q, qd: np.zeros(7), name="w")
    with pytest.raises(fa.ArgumentError, match="event 'w' returned shape"):
        fa.simulate(arm, [0.0], [0.0], T, events=wrong)
    with pytest.raises(fa.ArgumentError, match="expected one of 'slide"):
        fa.events.joint_reaches(arm, "elbow", 0.0)
    argument_refused(["a number below 1"], lambda: fa.events.joint_reaches(arm, 1, 0.0))
    argument_refused(["finite number"], lambda: fa.events.joint_reaches(arm, 0, np.nan))
    with pytest.raises(fa.ArgumentError, match="positive length"):
        fa.events.node_reaches(arm, [0.0, 0.0, 0.0], 0.0)
    argument_refused(["positive speed"], lambda: fa.events.at_rest(arm, 0.0))


def test_a_coupling_may_have_a_zero() -> None:
    arm = fa.library.planar_chain(2)
    coupling = fa.Coupling({"link1": 0.0, "link2": 1.0}, constant=0.3)
    held = arm.replace(constraints=[coupling])
    assert_allclose(fa.constraint_violation(held, [0.7, 0.5]), [0.2])
