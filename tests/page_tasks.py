"""Tasks of the README and of the tutorial, as one would type them before reading.

Those of `first_tasks` go on: each has the few lines that do it, held to a formula where
a number comes out, or also a first guess that does not, and the words of its answer.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from first_tasks import Lines, Task
from numpy.testing import assert_allclose as close

import flexarm as fa
from flexarm.beams import Beam, Section

PAGES: dict[str, Task] = {}


def task(guess: Any = None, words: str = "") -> Any:
    """Put a function on the list of the pages, by its name."""

    def listed(lines: Lines) -> Lines:
        PAGES[lines.__name__.replace("_", " ")] = Task(lines, guess, words)
        return lines

    return listed


# the arm of the README

STRIP: Any = Beam(Section.rectangle(0.0025, 0.04), length=0.5, material="aluminium")
AREA, SECOND_MOMENT = 0.0025 * 0.04, 0.04 * 0.0025**3 / 12
UPPER: Any = STRIP.elements("upper", motions="bending y", n_modes=4, damping_ratio=0.01)
FORE: Any = UPPER.replace(name="fore", joint=fa.Joint.revolute(parent="upper"))
LOAD = fa.RigidBody("load", fa.Joint.fixed(parent="fore"), mass=0.1)
ARM: Any = fa.Arm([UPPER, FORE, LOAD], gravity=(0, 0, 0))
T = np.linspace(0.0, 0.2, 101)
PLAN: Any = fa.control.RestToRest([0.0, 0.4], [0.2, 0.2], duration=0.15)
MOTORS: Any = fa.control.JointFeedback(
    [30, 15], [3, 1], [PLAN(x).q for x in T], [PLAN(x).qd for x in T]
)
START = np.append([0.0, 0.4], np.zeros(8))
RUN: Any = fa.simulate(ARM, START, np.zeros(10), T, torque=MOTORS, method="ROS34PW2")


@task()
def a_strip_of_aluminium() -> None:
    close(STRIP.section.area, AREA)
    close(UPPER.mass, 2700 * AREA * 0.5)


@task()
def the_stiffness_of_a_strip() -> None:
    strip = Section.rectangle(0.0025, 0.04, "aluminium")
    close(strip.bending_stiffness[0], 70e9 * SECOND_MOMENT)


@task(lambda: STRIP.elements("a", axis="z"), "mean 'joint'")
def a_link_on_a_motor() -> None:
    link = STRIP.elements("a", joint=fa.Joint.revolute("z"))
    assert fa.Arm([link]).nj == 1


@task()
def a_second_link_like_the_first() -> None:
    assert ARM["fore"].joint.parent == "upper" and ARM["fore"].mass == UPPER.mass


@task()
def the_mass_of_the_arm() -> None:
    close(ARM.mass, 2 * UPPER.mass + 0.1)


@task()
def an_arm_in_print() -> None:
    text = str(ARM)
    assert "clamped frequencies Hz" in text and "error of modes %" in text


@task()
def a_table_of_a_link() -> None:
    assert "bending y 3" in str(UPPER)


@task()
def a_smooth_plan() -> None:
    q, qd, _, _ = PLAN(0.15)
    close([*q, *qd], [0.2, 0.2, 0, 0], atol=1e-14)


@task()
def motors_that_follow_the_plan() -> None:
    assert RUN.success
    close(RUN.q[-1, :2], [0.2, 0.2], atol=0.05)


@task()
def the_way_of_the_tip() -> None:
    close(RUN.tip, fa.tip_pose(ARM, RUN.q)[:, :3, 3], atol=1e-14)


@task()
def a_history_of_the_joints() -> None:
    assert [line.get_label() for line in RUN.plot(degrees=True)] == ["upper", "fore"]


@task()
def a_film_of_the_motion() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = RUN.animate(fps=10).save(Path(folder) / "arm.gif", dpi=20)
        assert path.stat().st_size > 1000


@task(lambda: fa.plotting.snapshots(ARM), "flexarm.simulate returns one")
def a_picture_of_a_motion() -> None:
    assert len(fa.plotting.snapshots(RUN, 4).lines) == 4


@task()
def a_thousand_postures() -> None:
    q = np.zeros((1000, ARM.nq))
    q[:, 1] = np.linspace(-3.0, 3.0, 1000)
    qdd = fa.forward_dynamics(ARM, q, np.zeros(ARM.nv), [1.0, 0.5])
    close(qdd[7], fa.forward_dynamics(ARM, q[7], np.zeros(10), [1.0, 0.5]), rtol=0)


@task()
def frequencies_with_the_joints_held() -> None:
    hertz = fa.natural_frequencies(ARM, START, held="joints", count=2)
    assert hertz.shape == (2,) and 0 < hertz[0] < hertz[1]


@task(lambda: fa.linearize(ARM, START, outputs="tip"), "outputs has 'tip', expected")
def a_plant_with_the_tip_as_output() -> None:
    plant = fa.linearize(ARM, START, outputs=["tip position"])
    assert plant.C.shape == (3, 20)


@task()
def a_regulator_with_a_sample_time() -> None:
    plant = fa.linearize(ARM, START)
    weights = fa.control.energy_weight(ARM, START, joint_stiffness=4.0)
    regulator = fa.control.lqr(plant, weights, [0.5, 0.5], dt=2e-3)
    assert (abs(regulator.poles) < 1.0).all()


@task(lambda: fa.optimize.line([1.8, 0.2], [1.6, 0.7]), "paths")
def the_fastest_motion_on_a_line() -> None:
    crane = fa.library.farid_two_link(elements=0, joint_stiffness=None)
    line = fa.optimize.paths.line([1.8, 0.2], [1.6, 0.7])
    start = fa.library.poses(crane)["A"]
    limits = {"torque": [300.0, 120.0]}
    fast = fa.optimize.time_optimal(crane, line, limits=limits, start=start)
    assert fast.success and fast.verification.path_error.max() < 1e-3
    assert 0.2 < fast.duration < 1.0


# the first arm of the tutorial

BLADE = Section.rectangle(0.003, 0.04, "aluminium")
LINK: Any = Beam(BLADE, length=1.0).elements("link", motions="bending y")
ONE: Any = fa.Arm([LINK], gravity=(0, 0, 0))
EI = 70e9 * 0.04 * 0.003**3 / 12


@task()
def names_of_the_coordinates() -> None:
    names = ("link", "link.tip y", "link.tip rz", "link.bending y 3")
    assert ONE.coordinate_names == names and ONE.nu == 1 and ONE.nq == 4


@task()
def a_push_at_the_tip() -> None:
    held = fa.equilibrium(ONE, ONE.neutral, wrench=[0, 0, 0, 0, 0.1, 0], frame="base")
    close(held.q[1], 0.1 / (3 * EI), rtol=2e-3)


@task()
def the_note_of_a_clamped_strip() -> None:
    hertz = fa.natural_frequencies(ONE, ONE.neutral, held="joints", count=1)
    first = 1.8751**2 * np.sqrt(EI / BLADE.mass_per_length) / (2 * np.pi)
    close(hertz[0], first, rtol=1e-3)


@task()
def a_link_that_swings_freely() -> None:
    plucked = np.zeros(4)
    plucked[1:3] = 0.01, 0.015  # as by a force at the tip
    run = fa.simulate(ONE, plucked, np.zeros(4), np.linspace(0.0, 0.2, 101))
    close(run.energy, run.energy[0], rtol=1e-4)


# an arm of one's own

WIDE, NARROW = Section.tube(0.05, 0.002, "steel"), Section.tube(0.04, 0.002, "steel")


def two_tubes(load: float = 5.0, **options: Any) -> fa.Arm:
    on_y, on_upper = fa.Joint.revolute("y"), fa.Joint.revolute("y", parent="upper")
    upper = Beam(WIDE, 1.0).elements("upper", joint=on_y, **options)
    fore = Beam(NARROW, 0.8).elements("fore", joint=on_upper, **options)
    payload = fa.RigidBody("payload", fa.Joint.fixed(parent="fore"), mass=load)
    return fa.Arm([upper, fore, payload])


TUBES = two_tubes()


@task()
def stiffness_of_a_tube() -> None:
    close(WIDE.bending_stiffness[0], 210e9 * np.pi * (0.05**4 - 0.046**4) / 64)


@task()
def torques_that_hold_an_arm() -> None:
    g, rest = 9.81, fa.equilibrium(TUBES, TUBES.neutral)
    elbow = -g * (5.0 * 0.8 + NARROW.mass_per_length * 0.8 * 0.4)
    close(rest.tau[1], elbow, rtol=2e-3)
    close(fa.holding_forces(TUBES, rest.q)[1], rest.tau[1], rtol=1e-6)


@task()
def sag_of_two_tubes() -> None:
    fine = two_tubes(n=12, n_modes={"bending y": 6, "bending z": 6, "torsion": 3})
    sag = [fa.deflection(arm, arm.neutral)[5] for arm in (TUBES, fine)]
    close(sag[0], sag[1], rtol=1e-6)


@task()
def errors_of_the_modes() -> None:
    assert TUBES.mode_errors().frequency_errors[0] < 1e-4


@task()
def payloads_in_a_stack() -> None:
    arms = fa.stack([two_tubes(load) for load in (0.0, 5.0, 10.0)])
    hertz = fa.natural_frequencies(arms, TUBES.neutral, held="joints", count=1)
    assert hertz.shape == (3, 1) and (np.diff(hertz[:, 0]) < 0).all()
    close(arms.mass - arms.mass[0], [0, 5, 10])


# control and optimal motions

PENDULUM: Any = fa.library.pendulum(mass=2.0, com=0.5, inertia=0.1)


@task()
def a_posture_that_is_held() -> None:
    law = fa.control.SetPointPD(ONE, kp=50, kd=10, target=[0.3])
    run = fa.simulate(
        ONE, np.zeros(4), np.zeros(4), np.linspace(0, 3, 301), torque=law.feedback()
    )
    close(run.q[-1, 0], 0.3, atol=2e-2)


@task()
def torque_along_a_plan() -> None:
    plan = fa.control.RestToRest([0.0], [1.0], duration=1.0)
    q, qd, qdd, _ = plan(0.3)
    tau = fa.inverse_dynamics(PENDULUM, q, qd, qdd)
    J, weight = 0.1 + 2.0 * 0.5**2, fa.gravity_forces(PENDULUM, q)
    close(tau, J * qdd + weight)


@task()
def a_loop_with_delay_and_limits() -> None:
    plant = fa.linearize(PENDULUM, [0.0])
    law = fa.control.lqr(plant, [10.0, 1.0], [0.1], dt=0.01).controller()
    loop = fa.control.simulate_loop(
        *(PENDULUM, law, [0.3], [0.0], np.linspace(0.0, 1.0, 101)),
        **{"delay": 0.002, "saturation": [40.0]},
    )
    assert loop.q.shape == (101, 1) and abs(loop.command).max() <= 40.0


@task()
def the_fastest_turn() -> None:
    arm = PENDULUM.replace(gravity=(0, 0, 0))
    found = fa.optimize.time_optimal(arm, [[0.0], [1.0]], limits={"torque": [2.0]})
    close(found.duration, 2 * np.sqrt(0.6 / 2.0), rtol=2e-3)
    assert found.verification.excess == {}


@task()
def the_turn_of_least_effort() -> None:
    pytest.importorskip("casadi")
    arm = PENDULUM.replace(gravity=(0, 0, 0))
    found = fa.optimize.trajectory(arm, [0.0], [1.0], duration=0.6)
    close(found.least_cost.costs["effort"], 12 * 0.6**2 / 0.6**3, rtol=1e-2)
    assert found.plot() and found.animate(fps=10)
