"""Mistakes of somebody who has just begun: one sentence that helps for each."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each
from refusals import refused

import flexarm as fa
from flexarm._calls.doors import checked
from flexarm._support.options import did_you_mean


def plotting() -> Any:
    pytest.importorskip("matplotlib")
    return fa.plotting


ARM: Any = fa.library.de_luca_siciliano()
PENDULUM: Any = fa.library.pendulum()
ZERO = np.zeros(6)
T = np.linspace(0.0, 0.01, 11)
RUN: Any = fa.simulate(ARM, ZERO, ZERO, T)
any_fa: Any = fa
ROD: Any = fa.RigidBody("rod", mass=1.0, com=(0.5, 0, 0))


def torque_of_time(t: float) -> list[float]:
    return [0.0, 0.0]


MISTAKES: dict[str, tuple[list[str], Callable[[], Any]]] = {
    # sizes and brackets
    "no brackets": (["single number", "[0.1]"], lambda: fa.mass_matrix(PENDULUM, 0.1)),
    "joints only": (["2 joints, 4 modes"], lambda: fa.mass_matrix(ARM, [0.0, 0.0])),
    "one torque too many": (
        ["tau has a last axis of length 3", "2 (one force per joint)"],
        lambda: fa.forward_dynamics(ARM, ZERO, ZERO, [0, 0, 0]),
    ),
    "duration for times": (
        ["t has shape ()", "numpy.linspace"],
        lambda: fa.simulate(ARM, ZERO, ZERO, 5),
    ),
    "start, end, step for times": (
        ["t does not increase", "numpy.linspace"],
        lambda: fa.simulate(ARM, ZERO, ZERO, (0, 5, 0.01)),
    ),
    "constant torque": (
        ["one row per time", "numpy.tile(torque, (len(t), 1))"],
        lambda: fa.simulate(ARM, ZERO, ZERO, T, torque=[0.1, 0.0]),
    ),
    "torque of time alone": (
        ["torque is a function of (t)", "torque(t, q, qd)"],
        lambda: fa.simulate(ARM, ZERO, ZERO, T, torque=torque_of_time),
    ),
    "gravity as a number": (
        ["gravity of the arm has shape ()", "(0, 0, -9.81)"],
        lambda: fa.Arm([ROD], gravity=9.81),
    ),
    "axis as a word": (["'up'", "(0, 0, 1)"], lambda: fa.Joint(axis="up")),
    "axis in the plane": (["(2,)", "(0, 0, 1)"], lambda: fa.Joint(axis=(0, 1))),
    "inertia as a number": (
        ["inertia of body 'a' has shape ()", "diagonal (3,)"],
        lambda: fa.RigidBody("a", mass=1.0, inertia=0.1),
    ),
    # the wrong kind of thing
    "list of arms": (
        ["arm is list", "stack"],
        lambda: fa.mass_matrix([ARM, ARM], ZERO),
    ),  # type: ignore[arg-type]
    "arm not called": (
        ["arm is function", "puma560()"],
        lambda: fa.mass_matrix(fa.library.puma560, ZERO),  # type: ignore[arg-type]
    ),
    "class for an arm": (["Arm(...)"], lambda: fa.mass_matrix(fa.Arm, ZERO)),  # type: ignore[arg-type]
    "body for an arm": (["Arm([body])"], lambda: fa.mass_matrix(ROD, ZERO)),
    "arm after the arrays": (
        ["arm is ndarray", "comes before"],
        lambda: fa.mass_matrix(ZERO, ARM),  # type: ignore[arg-type]
    ),
    "motion for an arm": (["attribute arm"], lambda: fa.mass_matrix(RUN, ZERO)),
    "motion for positions": (
        ["q is of type Trajectory", "attribute q"],
        lambda: fa.mass_matrix(ARM, RUN),
    ),
    "motion for rates": (["attribute qd"], lambda: fa.energy(ARM, ZERO, RUN)),
    "word for positions": (["'home'"], lambda: fa.mass_matrix(ARM, "home")),
    "nothing for positions": (["q is None"], lambda: fa.mass_matrix(ARM, None)),
    "names for positions": (
        ["{'link1': 0.1}"],
        lambda: fa.mass_matrix(ARM, {"link1": 0.1}),
    ),
    "complex positions": (["complex128"], lambda: fa.mass_matrix(ARM, 1j * ZERO)),
    "positions and rates as a pair": (
        ["simulate lacks t", "simulate(arm, q0, qd0, t)"],
        lambda: any_fa.simulate(ARM, (ZERO, ZERO), T),
    ),
    "body without a list": (["such as [body]"], lambda: fa.Arm(ROD)),
    "words for bodies": (["a body of the arm is str"], lambda: fa.Arm(["a", "b"])),
    "word for a joint": (
        ["is str", "flexarm.Joint('prismatic')"],
        lambda: fa.RigidBody("a", "prismatic", mass=1.0),  # type: ignore[arg-type]
    ),
    "joint for a name": (
        ["name of a body is of type Joint"],
        lambda: fa.RigidBody(fa.Joint()),  # type: ignore[arg-type]
    ),
    "unit in a word": (["'1 kg'"], lambda: fa.RigidBody("a", mass="1 kg")),  # type: ignore[arg-type]
    "function for an event": (
        ["expected fa.events.Event"],
        lambda: fa.simulate(ARM, ZERO, ZERO, T, events=[torque_of_time]),
    ),
    "arm for a linear model": (["linearize"], lambda: plotting().bode(ARM)),
    "arm for a motion": (
        ["traj is Arm", "plotting.arm"],
        lambda: plotting().animate(ARM),
    ),
    "arm for a history": (["traj is Arm"], lambda: plotting().joints(ARM)),
    "array for a motion": (["traj is ndarray"], lambda: plotting().tip(RUN.q)),
    "motion to be drawn": (["attribute arm"], lambda: plotting().arm(RUN, ZERO)),
    # names
    "misspelled option": (
        ["no argument 'tourque'", "did you mean 'torque'?"],
        lambda: any_fa.simulate(ARM, ZERO, ZERO, T, tourque=None),
    ),
    "option of another package": (
        ["no argument 'tau'", "did you mean 'torque'?"],
        lambda: any_fa.simulate(ARM, ZERO, ZERO, T, tau=None),
    ),
    "step": (
        ["no argument 'dt'", "did you mean 'max_step'?"],
        lambda: any_fa.simulate(ARM, ZERO, ZERO, T, dt=0.1),
    ),
    "option by place": (
        ["given 5 arguments without names", "name the others, as in torque=value"],
        lambda: any_fa.simulate(ARM, ZERO, ZERO, T, None),
    ),
    "argument twice": (
        ["by its place and by its name"],
        lambda: any_fa.simulate(ARM, ZERO, ZERO, T, q0=ZERO),
    ),
    "singular": (
        ["no argument 'output'", "did you mean 'outputs'?"],
        lambda: any_fa.linearize(ARM, ZERO, output="tip position"),
    ),
    "method in capitals": (
        ["did you mean 'rk4'?"],
        lambda: fa.simulate(ARM, ZERO, ZERO, T, method="RK4"),
    ),
    "modes of a chain": (
        ["modes is 2", "the number of modes is n_modes"],
        lambda: any_fa.library.planar_chain(3, modes=2),
    ),
    "mass of a body": (
        ["did you mean 'mass'?"],
        lambda: any_fa.RigidBody("a", mas=1.0),
    ),
    "axes of a joint": (["did you mean 'axis'?"], lambda: any_fa.Joint(axes=(0, 0, 1))),
    "field to replace": (
        ["no argument 'gravty'", "did you mean 'gravity'?"],
        lambda: ARM.replace(gravty=(0, 0, 0)),
    ),
    "kind of a joint": (["did you mean 'revolute'?"], lambda: fa.Joint("Revolute")),
    "name of a body": (["did you mean 'link1'?"], lambda: ARM.body_index("lnk1")),
    "name of a node": (["did you mean 'g3'?"], lambda: ARM.node("link1", "G3")),
    "frame of a Jacobian": (
        ["'world'", "'base'"],
        lambda: fa.jacobian(ARM, ZERO, frame="world"),
    ),
}


@each("words, call", MISTAKES)
def test_mistake_is_answered_in_one_sentence(
    words: list[str], call: Callable[[], Any]
) -> None:
    with pytest.raises(fa.FlexarmError) as caught:
        call()
    refused(type(caught.value), words, call)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("mass_matrx", "mass_matrix"), ("n_joints", "nj"), ("DOF", "nv")],
)
def test_attribute_of_an_arm(name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=f"{name!r}; did you mean {meant!r}"):
        getattr(ARM, name)
    assert not hasattr(ARM, name)


def test_ordinary_calls_do_not_look_for_what_was_meant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # it takes as long as twenty of them
    asked = []

    def missing(arm: fa.Arm, name: str) -> Any:
        asked.append(name)
        raise AttributeError(name)

    monkeypatch.setattr(fa.Arm, "__getattr__", missing, raising=False)
    fa.energy(ARM, ZERO, ZERO)
    fa.forward_dynamics(ARM, ZERO, ZERO, np.zeros(2))
    fa.operational_space_compliance(ARM, ZERO)
    run = fa.simulate(ARM, ZERO, ZERO, T)
    assert np.isfinite(run.energy).all() and str(run)
    fa.linearize(ARM, ZERO)
    assert not asked


def test_name_in_the_package() -> None:
    with pytest.raises(AttributeError, match="did you mean 'forward_dynamics'"):
        any_fa.forward_dynamic  # noqa: B018


def test_arms_are_copied_as_before() -> None:
    # they ask for attributes that an arm does not have
    assert (
        copy.copy(ARM) == copy.deepcopy(ARM) == pickle.loads(pickle.dumps(ARM)) == ARM
    )


def test_explained_function_is_the_same_otherwise() -> None:
    assert list(inspect.signature(fa.simulate).parameters)[:4] == [
        "arm",
        "q0",
        "qd0",
        "t",
    ]
    assert pickle.loads(pickle.dumps(fa.simulate)) is fa.simulate
    assert list(inspect.signature(fa.RigidBody).parameters)[:2] == ["name", "joint"]

    @checked
    def broken(q: float, *, factor: float = 1.0) -> Any:
        return len(q)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len"):  # its own, not of its arguments
        broken(1.0)
    with pytest.raises(fa.ArgumentError, match=r"lacks q, expected .*broken\(q\)"):
        broken()  # type: ignore[call-arg]


def test_did_you_mean_prefers_what_is_there() -> None:
    assert did_you_mean("tau", ["q", "tau_max"]) == "; did you mean 'tau_max'?"
    assert did_you_mean("MASS", ["mass", "com"]) == "; did you mean 'mass'?"
    assert did_you_mean("xyz", ["mass", "com"]) == ""
