"""A fault of the package comes out as it is, never as one of the arguments.

In each room a function that another one calls raises what broken code raises.  The
arguments are right, so that no sentence may blame them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from each import each

import flexarm as fa
from flexarm.descriptions._conversions import joint_frames

ARM = fa.library.planar_chain(2, n_modes=4).replace(gravity=(0, 0, 0))
Q, TAU = np.append([0.1, 0.2], np.zeros(8)), np.zeros(2)
T = np.linspace(0.0, 0.01, 3)
MODEL = fa.linearize(ARM, Q, tau=TAU)
SECTION = fa.beams.Section.round(0.01, "steel")


def element_link() -> Any:
    return fa.beams.finite_element_link("a", length=1.0, sections=SECTION)


def wrong(error: type[Exception]) -> Callable[..., Any]:
    def broken(*args: Any, **options: Any) -> Any:
        raise error("a fault of our own")

    return broken


# room: module, function in it that breaks, call, exception
FAULTS: dict[str, tuple[str, str, Callable[[], Any], type[Exception]]] = {
    "beams": ("beams._element_link", "beam_body", element_link, IndexError),
    "bodies": (
        "bodies.models",
        "check_inertia",
        lambda: fa.RigidBody("a", mass=1.0),
        ZeroDivisionError,
    ),
    "control": (
        "control.linear_quadratic",
        "riccati",
        lambda: fa.control.lqr(MODEL, np.eye(20), np.eye(2), dt=0.01),
        KeyError,
    ),
    "descriptions": (
        "descriptions._conversions",
        "_frames_of_arm",
        lambda: joint_frames(fa.library.puma560()),
        AttributeError,
    ),
    "ik": (
        "ik._solver",
        "message",
        lambda: fa.inverse_kinematics(ARM, fa.tip_pose(ARM, Q)[:3, 3]),
        ValueError,
    ),
    "linear_models": (
        "linear_models._linearize",
        "real_array",
        lambda: fa.linearize(ARM, Q, tau=TAU),
        UnboundLocalError,
    ),
    "loads": (
        "loads._link_loads",
        "Wrenches",
        lambda: fa.link_loads(ARM, Q, 0 * Q, 0 * Q),
        OverflowError,
    ),
    "parameters": (
        "parameters._base",
        "regressor_of",
        lambda: fa.base_parameters(fa.library.puma560()),
        KeyError,
    ),
    "simulation": (
        "simulation.methods",
        "judge_energy",
        lambda: fa.simulate(ARM, Q, 0 * Q, T),
        KeyError,
    ),
    "statics": (
        "statics._equilibrium",
        "read_loads",
        lambda: fa.equilibrium(ARM, Q),
        RecursionError,
    ),
    "twists": (
        "twists._factors",
        "ancestors",
        lambda: fa.twists.factors(ARM, Q),
        TypeError,
    ),
    "vibration": (
        "vibration",
        "warn_of_frequencies",
        lambda: fa.natural_frequencies(ARM, Q),
        AttributeError,
    ),
}


@each("module, name, call, error", FAULTS)
def test_a_fault_comes_out_as_it_is(
    module: str,
    name: str,
    call: Callable[[], Any],
    error: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()  # the arguments are right
        with monkeypatch.context() as patch:
            patch.setattr(import_module(f"flexarm.{module}"), name, wrong(error))
            with pytest.raises(error, match="a fault of our own") as info:
                call()
    assert type(info.value) is error
    assert info.traceback[-1].name == "broken"  # where it is to be mended
    assert info.value.__cause__ is None
    assert info.value.__context__ is None


def test_a_nan_of_our_own_does_not_blame_the_arguments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A number that breaks in the middle is no argument that is not finite."""
    module = import_module("flexarm.loads._link_loads")
    monkeypatch.setattr(module, "_strains", lambda *args: np.full(3, np.nan)[7])
    with pytest.raises(IndexError, match="out of bounds"):
        fa.link_loads(ARM, Q, 0 * Q, 0 * Q)
