"""Paths of tip and joints, time laws, and joints that follow a path."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from farid_cases import END, START, chords, line, line_angles
from numpy.testing import assert_allclose, assert_array_equal
from refusals import argument_refused

import flexarm as fa
from flexarm.optimize import paths

S = np.linspace(0.0, 1.0, 21)
TWO = fa.library.farid_two_link(elements=0, joint_stiffness=None)
IIWA = fa.library.iiwa14()
READY = fa.library.poses(IIWA)["ready"]
TIP = fa.tip_pose(IIWA, READY)[:3, 3]

ALL = {
    "line": paths.line([1.0, 2.0, 3.0], [0.0, -1.0, 1.0]),
    "arc": paths.arc([1.0, 0.0, 0.2], [0.5, 0.7, 0.1], [-0.3, 0.4, 0.0]),
    "circle": paths.circle([0.1, 0.0, 0.2], [1.0, 0.3, 0.0], (1.0, 2.0, 3.0), -2.0),
    "spline": paths.spline([[1.0, 0.0], [1.2, 0.3], [1.0, 0.6], [0.8, 0.3]]),
    "timed": paths.spline([[1.0, 0.0], [1.2, 0.3], [1.0, 0.6]], parameters=[0, 0.7, 1]),
    "joints": paths.joint_path(np.random.default_rng(0).normal(size=(5, 7))),
    "straight": paths.joint_path([[0.0, 1.0], [2.0, -1.0]], kind="straight"),
}


@pytest.mark.parametrize("name", ALL)
def test_derivatives_are_those_of_the_curve(name: str) -> None:
    path, h = ALL[name], 1e-6
    inner = np.clip(S, h, 1.0 - h)
    before, here, after = path(inner - h), path(inner), path(inner + h)
    slope = (after.position - before.position) / (2.0 * h)
    assert_allclose(here.first, slope, rtol=0.0, atol=1e-8)
    bend = (after.first - before.first) / (2.0 * h)
    assert_allclose(here.second, bend, rtol=0.0, atol=1e-6)
    assert path(0.3).position.shape == (path.points.shape[1],)


def test_curves_pass_their_points() -> None:
    a, b, c = ALL["arc"].points
    arc = ALL["arc"]
    assert_allclose([arc.start, arc.end], [a, c], atol=1e-14)
    assert np.linalg.norm(arc(np.linspace(0, 1, 20001)).position - b, axis=1).min() < (
        1e-4
    )
    assert arc.length == pytest.approx(np.linalg.norm(arc(0.0).first), rel=1e-12)
    for name, at in (("spline", None), ("timed", [0.0, 0.7, 1.0])):
        path = ALL[name]
        if at is None:
            steps = np.linalg.norm(np.diff(path.points, axis=0), axis=1)
            at = np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()
        assert_allclose(path(at).position, path.points, atol=1e-14)
    turned = ALL["circle"]
    axis = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
    arm = turned(S).position - [0.1, 0.0, 0.2]
    assert_allclose(arm @ axis, arm[0] @ axis, atol=1e-14)
    assert_allclose(np.linalg.norm(arm, axis=1), np.linalg.norm(arm[0]))


@pytest.mark.parametrize("kind", ["cycloidal", "quintic", "septic", "ninth_degree"])
def test_laws_go_from_rest_to_rest(kind: str) -> None:
    t, T, h = np.linspace(0.01, 0.69, 35), 0.7, 1e-6
    law = paths.time_law(kind, t, T)
    before, after = paths.time_law(kind, t - h, T), paths.time_law(kind, t + h, T)
    assert_allclose(law.sd, (after.s - before.s) / (2 * h), atol=1e-8)
    assert_allclose(law.sdd, (after.sd - before.sd) / (2 * h), atol=1e-7)
    outside = paths.time_law(kind, [-1.0, 0.0, T, 2.0], T)
    assert_array_equal(outside.s, [0.0, 0.0, 1.0, 1.0])
    assert_array_equal(outside.sd, 0.0)
    assert_array_equal(outside.sdd, 0.0)
    mirrored = paths.time_law(kind, T - t, T)
    assert_allclose(mirrored.s, 1.0 - law.s, atol=1e-14)


def test_cycloid_is_that_of_the_thesis() -> None:
    t = np.linspace(-0.05, 0.6, 14)
    x, v, a = line(t)
    law = paths.time_law("cycloidal", t, 0.5)
    way = paths.line(START, END)(law.s)
    assert_allclose(way.position[:, :2], x, atol=1e-15)
    assert_allclose(law.sd[:, None] * way.first[:, :2], v, atol=1e-14)
    assert_allclose(law.sdd[:, None] * way.first[:, :2], a, atol=1e-13)


@pytest.mark.parametrize("bend", [-1.0, 1.0])
def test_two_links_follow_in_closed_form(bend: float) -> None:
    t = np.linspace(0.02, 0.48, 24)
    law = paths.time_law("cycloidal", t, 0.5)
    start = chords(START, bend) @ [[1.0, -1.0], [0.0, 1.0]]
    found = paths.follow(TWO, paths.line(START, END), law.s, start=start)
    phi, rate, bend_rate = line_angles(t, bend)
    sd = law.sd[:, None]
    # the chord angles are sums of the joint angles
    assert_allclose(np.cumsum(found.q, axis=1), phi, atol=1e-12)
    assert_allclose(np.cumsum(found.first * sd, 1), rate, atol=1e-11)
    qdd = found.first * law.sdd[:, None] + found.second * sd**2
    assert_allclose(np.cumsum(qdd, axis=1), bend_rate, atol=1e-9)


def test_motors_follow_and_modes_rest() -> None:
    arm = fa.library.farid_two_link()
    start = fa.library.poses(arm)["A"]
    found = paths.follow(arm, paths.line(START, END), S, start=start)
    rigid = paths.follow(TWO, paths.line(START, END), S, start=start[:2])
    for name in ("q", "first", "second"):
        whole, joints = getattr(found, name), getattr(rigid, name)
        assert_allclose(whole[:, :2], joints, atol=1e-9)
        assert_allclose(whole[:, 2:4], joints, atol=1e-9)
        assert_array_equal(whole[:, 4:], 0.0)


def away(*step: float) -> Any:
    """A point beside the tip."""
    return TIP + np.array(step)


@pytest.mark.parametrize(
    "path",
    [
        paths.line(TIP, away(0.1, 0.3, -0.2)),
        paths.circle(away(0.0, 0.1, 0.0), TIP),
        paths.spline([TIP, away(0.1, 0.1, 0.0), away(0.0, 0.2, 0.1)]),
    ],
)
def test_redundant_arm_follows_with_exact_derivatives(path: paths.Path) -> None:
    h = 1e-5
    s = np.array([0.0, 0.4 - h, 0.4, 0.4 + h, 0.9, 1.0])
    found = paths.follow(IIWA, path, s, start=READY)
    points = path(s)
    assert_allclose(found.tip, points.position, atol=1e-12)
    assert_allclose(found.tip_first, points.first, atol=1e-12)
    assert_allclose(found.tip_second, points.second, atol=1e-11)
    slope = (found.q[3] - found.q[1]) / (2.0 * h)
    assert_allclose(found.first[2], slope, atol=1e-7)
    bend = (found.first[3] - found.first[1]) / (2.0 * h)
    assert_allclose(found.second[2], bend, atol=1e-6)


def test_path_of_joints_carries_the_tip() -> None:
    path, h = ALL["joints"], 1e-5
    found = paths.follow(IIWA, path, [0.5 - h, 0.5, 0.5 + h])
    assert_allclose(
        found.tip_first[1], (found.tip[2] - found.tip[0]) / (2.0 * h), atol=1e-7
    )
    bend = (found.tip_first[2] - found.tip_first[0]) / (2.0 * h)
    assert_allclose(found.tip_second[1], bend, atol=1e-5)


def tip_line(*ends: Any) -> paths.Path:
    return paths.line(*ends)


FROM_A = fa.library.poses(TWO)["A"]
REFUSALS: list[tuple[list[str], Any]] = [
    (["out of reach beyond s = 0.46", "0.22 m"], tip_line([1.8, 0.2], [2.2, 0.3])),
    (["out of reach at its start", "0.5 m"], tip_line([2.5, 0.0], [1.0, 0.0])),
    (["out of reach", "s = "], tip_line([1.8, 0.2, 0.0], [1.8, 0.2, 0.2])),
    (["singular", "s = 0.5", "(0, 0, 0) m"], tip_line([1.8, 0.2], [-1.8, -0.2])),
    (["path is list", "paths.line"], [[0.0, 0.0], [1.0, 1.0]]),
    (["7 numbers", "expected 2"], ALL["joints"]),
]


@pytest.mark.parametrize(("words", "path"), REFUSALS, ids=lambda x: str(x)[:30])
def test_paths_that_cannot_be_followed_are_refused(words: list[str], path: Any) -> None:
    argument_refused(words, lambda: paths.follow(TWO, path, start=FROM_A))


def test_stretched_arm_touches_its_limit_of_reach() -> None:
    path = paths.arc([2.0, 0.0], [np.sqrt(2.0), np.sqrt(2.0)], [0.0, 2.0])
    argument_refused(
        ["singular posture at s = 0,"],
        lambda: paths.follow(TWO, path, start=[0.0, 0.0]),
    )


BAD: list[tuple[list[str], Any]] = [
    (["start has shape (4,)"], lambda: paths.line([0.0] * 4, [1.0, 0.0])),
    (["start and end are both"], lambda: paths.line([1.0, 0.0], [1.0, 0.0])),
    (["on one line"], lambda: paths.arc([0.0, 0.0], [1.0, 1.0], [2.0, 2.0])),
    (["on the axis"], lambda: paths.circle([0.0, 0.0], [0.0, 0.0, 1.0])),
    (["axis is"], lambda: paths.circle([0.0, 0.0], [1.0, 0.0], [0.0, 0.0, 0.0])),
    (["points has shape (3,)"], lambda: paths.spline([1.0, 2.0, 3.0])),
    (["points[1] and points[2]"], lambda: paths.spline([[0, 0], [1, 0], [1, 0]])),
    (
        ["parameters are", "rise from 0 to 1"],
        lambda: paths.spline([[0, 0], [1, 0], [1, 1]], parameters=[0.0, 0.9, 0.8]),
    ),
    (["points has shape (2,)"], lambda: paths.joint_path([1.0, 2.0])),
    (["'straight' with 3"], lambda: paths.joint_path(np.eye(3), kind="straight")),
    (["kind is 'bent'"], lambda: paths.joint_path(np.eye(3), kind="bent")),
    (["s is 1.5"], lambda: ALL["line"]([0.0, 1.5])),
    (["s is nan"], lambda: ALL["line"](np.nan)),
    (["kind is 'cubic'", "'quintic'"], lambda: paths.time_law("cubic", 0.0, 1.0)),
    (["duration is 0.0"], lambda: paths.time_law("quintic", 0.0, 0.0)),
    (
        ["s does not rise"],
        lambda: paths.follow(TWO, tip_line(START, END), [0.5, 0.2], start=FROM_A),
    ),
    (
        ["start has shape (3,)"],
        lambda: paths.follow(TWO, tip_line(START, END), start=[0.0, 0.1, 0.2]),
    ),
]


@pytest.mark.parametrize(("words", "call"), BAD, ids=[w[0][:20] for w, _ in BAD])
def test_bad_input_is_refused(words: list[str], call: Any) -> None:
    argument_refused(words, call)


def test_arms_with_loops_and_own_subspaces_are_refused() -> None:
    subspace = fa.Joint("subspace", subspace=np.eye(6)[:, :3])
    ball = fa.Arm([fa.RigidBody("a", subspace, mass=1.0, com=(1, 0, 0))])
    argument_refused(
        ["'a' is a motion subspace", "spherical"],
        lambda: paths.follow(ball, tip_line(START, END)),
    )
    two = fa.library.planar_chain(2, length=1.0)
    coupled = two.replace(
        constraints=[fa.Coupling({two.bodies[0].name: 1.0, two.bodies[1].name: -1.0})],
        couplings="constrained",
    )
    argument_refused(
        ["constraints", "tree"], lambda: paths.follow(coupled, tip_line(START, END))
    )
