"""Refusals that have the name of the argument, as the caller has written it.

Arguments that random calls with wild ones have found: the sentence spoke of something
else, or an error of NumPy came through.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from each import each
from refusals import FLEX, model_refused

import flexarm as fa
from flexarm import Joint, Stops, beams
from flexarm import finite_elements as fe
from flexarm.optimize import paths

PENDULUM = fa.library.pendulum()
CHAIN = fa.library.planar_chain(2)
MASS = fa.StateSpace([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [[1.0, 0.0]])
OBSERVER = fa.control.kalman_filter(MASS.discretize(0.1), [1.0], [1.0])
OPERATORS = fa.operators(CHAIN, [0.0, 0.0])
FACTORS = fa.twists.factors(CHAIN, [0.0, 0.0])
MESH = fe.beam_mesh(
    1.0,
    3,
    mass_per_length=1.0,
    bending_stiffness=2.0,
    axial_stiffness=1e4,
    torsional_stiffness=2.0,
    section_inertia=(0.01, 0.0, 0.0),
)
DEEP: list[Any] = []
DEEP.append(DEEP)


def wild(value: object) -> Any:
    """What an annotation does not allow."""
    return value


def robust(**ranges: Any) -> fa.Robustness:
    return fa.robustness(fa.library.pendulum, ranges, [0.0])


def comparison(span: float = 0.1, **options: Any) -> Any:
    still = fa.control.Motion([0.0], [0.0], [0.0])
    loop = fa.reference.patent_loop
    law = loop.ManipulatorController(PENDULUM, lambda t: still, [0.0], [0.0], **options)
    return law.step(0.0, span=span).comparison


ARGUMENTS: dict[str, Callable[[], Any]] = {
    "array has shape (), expected 2 minimal rows": lambda: OPERATORS.in_arm_order(0.5),
    "array has shape (2, 1), expected 2": lambda: OPERATORS.in_arm_order([[1], [2]]),
    "rows along axis 5 of axes": lambda: OPERATORS.in_arm_order(np.eye(2), (5,)),
    "axes[0] is 0.5, expected a whole": lambda: OPERATORS.in_arm_order(
        np.eye(2), wild((0.5,))
    ),
    "row is of type ndarray": lambda: OPERATORS.block("Phi", wild(np.zeros(1))),
    "column is None": lambda: FACTORS.block("A", 0, wild(None)),
    "quantity is [[": lambda: robust(mass=[1.0]).worst(wild(DEEP)),
    "ranges has the key nan": lambda: fa.robustness(
        fa.library.pendulum,
        wild({np.nan: [1.0]}),
        [0.0],
    ),
    "points are 1 to 1e+20 apart": lambda: paths.spline([[0, 0], [1e20, 0], [1e20, 1]]),
    "points are 1 to inf apart": lambda: paths.spline([[0, 0], [1e200, 0], [1e200, 1]]),
    "n is 9223372036854775807, expected at most": lambda: fa.control.JointFeedback(
        [1.0], [1.0], [0.0]
    ).fit(PENDULUM, 2**63 - 1),
    "kp has shape (2,), expected (..., 2, 2) as kp has 2 columns, coupled": lambda: (
        fa.control.JointFeedback([1.0, 1.0], [1.0, 1.0], [0.0, 0.0], coupled=True)
    ),
    "arms is MaskedConstant": lambda: fa.stack(wild(np.ma.masked)),
    "index of a stack of shape (1,) is 5": lambda: fa.stack([PENDULUM])[5],
    "command is of type MaskedArray": lambda: fa.control.Shaper([0.0], [1.0])(
        wild(np.ma.array([1.0], mask=True))
    ),
    "node is np.datetime64('NaT'": lambda: fa.outputs.tip_angle(np.datetime64("NaT")),
    "second is 'x', expected a StateSpace": lambda: MASS.series(wild("x")),
    "expected as name one of": lambda: fa.inertial_parameters(PENDULUM).index("x"),
    "q has 3 positions and qd 1 velocities": lambda: fa.control.lqr(
        MASS, [1.0, 1.0], [1.0]
    )(0.0, [0.0, 0.0, 0.0], [0.0]),
    "x0 has shape (3,), expected (..., 2)": lambda: OBSERVER.estimate(
        np.zeros((4, 1)), np.zeros((4, 1)), [0.0, 0.0, 0.0]
    ),
    "joints['link1'] has shape (), expected one axis": lambda: fa.joint_grid(
        CHAIN, {"link1": 1.0}
    ),
    "joints['link2'] is [0.], expected at least two": lambda: fa.control.scheduled_lqr(
        FLEX, {"link2": [0.0]}, [1.0] * 12, [1.0] * 2, [0, 0]
    ),
    "gauges: outputs is": lambda: fa.control.StrainFeedback(
        FLEX, [0.0, 0.8], 1.0, 1.0, 1.0, gauges=len
    ),
    "postures has shape (), expected (..., 2)": lambda: fa.control.Inversion(
        CHAIN, [0.0, 0.0], 1.0, postures=1.0
    ),
    "dt is 1e+200 s, in which numbers overflow": lambda: fa.StateSpace(
        [[1.0]], [[1.0]], [[1.0]]
    ).discretize(1e200),
    "tau is of type slice, expected an array": lambda: (
        fa.control.LinearController.state_feedback(
            [[1.0, 1.0]],
            [0.0],
            None,
            wild(slice(None)),
            dt=0.1,
        )
    ),
    "tau has shape (2,), expected": lambda: comparison().predict([0.0, 0.0]),
    "a node is given, but no wrench with which it is loaded": lambda: (
        FLEX.static_compliance(np.zeros(6), loaded=1)
    ),
    "outputs is bool, expected a tuple": lambda: fa.StateSpace(
        np.eye(2),
        np.ones((2, 1)),
        np.ones((1, 2)),
        outputs=wild(True),
    ),
    "qd is up to 1e+308: numbers overflow": lambda: fa.inverse_dynamics(
        CHAIN, [0.0, 0.5], [1e308, 1e308], [0.0, 0.0]
    ),
}


ARGUMENTS |= {
    "omega (3,), zeta (0,), expected equal": lambda: fa.control.Shaper(
        [0.0], [1.0]
    ).residual_vibration(np.ones(3), np.zeros(0)),
    "dt is 1e-300 s, with which the loop grows": lambda: fa.control.Inversion(
        fa.library.puma560(), np.full(6, 0.2), 1.0, dt=1e-300
    ),
    "dq is [[1.0], [1.0, 2.0]], expected a rectangular array": lambda: fa.stack(
        [PENDULUM]
    ).integrate([0.0], [[1.0], [1.0, 2.0]]),
    "measurement is down to 4.94e-324, which overflows": lambda: (
        fa.control.kalman_filter(MASS, [1.0], [5e-324])
    ),
    "grid['x'] is an integer of 16610 bits": lambda: fa.studies.sweep(
        lambda x: x, {"x": 10**5000}
    ),
    "q has shape (2,) and qd (9, 0), expected the same": lambda: (
        fa.control.LinearController.state_feedback(
            np.ones((2, 4)), [0.0, 0.0], np.zeros((9, 0)), dt=0.1
        )
    ),
    "dt is 1e+06 s, in which numbers overflow": lambda: fa.control.Inversion(
        CHAIN, [0.3, 0.4], 1.0, dt=1e6
    ),
    "file is 'a\\x00b', expected the path of a file": lambda: PENDULUM.export_c("a\0b"),
    "on is masked_array": lambda: fa.studies.sweep(
        lambda x: x, {"x": [1.0]}, on=np.ma.masked_array([1.0, 2.0], [0, 1])
    ),
    "screw (2, 3), elastic (5,)": lambda: fa.reference.screws.dual_screw(
        np.zeros((2, 3, 6)), np.zeros((5, 6))
    ),
    "q has 64 axes, expected at most 32": lambda: fa.inverse_dynamics_derivatives(
        fa.stack([PENDULUM]), np.ones((1,) * 64), [0.0], [0.0]
    ),
    "max_step is 0.005 s with 1e+150 s between": lambda: comparison(
        span=1e150, max_step=0.005
    ).predict([0.0]),
}


@each("words, call", ARGUMENTS.items(), ARGUMENTS)
def test_arguments(words: str, call: Callable[[], Any]) -> None:
    with pytest.raises((fa.ArgumentError, fa.NotFiniteError)) as caught:
        call()
    assert words in str(caught.value)


MODELS: dict[str, Callable[[], Any]] = {
    "directions of the slider are array(1.), expected": lambda: fa.Slider(
        ("link2", "tip"), "link1", directions=wild(np.array(1.0))
    ),
    "directions of the loop are array([], shape=(0, 3)": lambda: fa.Loop(
        ("link2", "tip"), directions=wild(np.zeros((0, 3)))
    ),
    "keep[0] of link 'beam' is 1.0, expected": lambda: beams.finite_element_link(
        "beam",
        sections=beams.Section.round(0.02),
        length=1.0,
        segments=2,
        keep=wild(np.ones(2)),
    ),
    "source of the robot description is empty": lambda: fa.urdf.load(""),
    "Matrix Market file is '', expected the path": lambda: fe.read_matrix_market(
        MESH.coordinates, "", ""
    ),
    "attachment: node 9 is not in the mesh": lambda: MESH.clamped_modes(9, 1),
    "interfaces: node 9 is not in": lambda: MESH.craig_bampton("0", [9], 1),
    "mass is 0, expected a string or a path": lambda: fe.read_matrix_market(
        MESH.coordinates,
        wild(0),
        "stiffness.mtx",
    ),
    "lower and upper of the stops are 1.0 and -1.0": lambda: Stops(1.0, -1.0, 1.0),
    "second axis, axis2, expected it only": lambda: Joint("fixed", axis2=(1, 0, 0)),
    "flange of a section has shape (1,)": lambda: beams.Section.i_beam(
        width=0.1,
        height=0.1,
        flange=wild([0.01]),
        web=0.01,
    ),
}


@each("words, call", MODELS.items(), MODELS)
def test_models(words: str, call: Callable[[], Any]) -> None:
    model_refused([words], call)


def test_decimal_times_are_numbers() -> None:
    motion = fa.control.RestToRest([0.0], [1.0], duration=2.0)
    assert motion(wild(Decimal("0.5"))).q == motion(0.5).q


def test_long_ranges_are_not_walked_through() -> None:
    assert callable(fa.outputs.node_position(range(10**12)).names)
