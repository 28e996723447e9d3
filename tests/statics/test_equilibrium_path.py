"""Paths of equilibria: a shallow truss and frame, columns of Euler and Beck, ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from refusals import argument_refused
from scipy.integrate import solve_bvp
from scipy.optimize import minimize_scalar
from scipy.special import ellipk

import flexarm as fa
from flexarm.beams import Beam, Section, finite_element_link

HIGH = np.hypot(1.0, 0.1)  # length of the bar of a truss
UP = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1e-3])
TOP = {"node": ("top", "tip"), "frame": "base", "held": None}


def truss(weight: float = 0.0) -> tuple[fa.Arm, list[float]]:
    """A bar of 1 N/m from the origin to a rail 1 m away, unstrained at 0.1 m."""
    rail = fa.Joint.prismatic("z", position=(1.0, 0.0, 0.0))
    spring = fa.Joint.prismatic("x", stiffness=1.0, rest=HIGH)
    bodies = [
        fa.RigidBody("top", rail, mass=1.0),
        fa.RigidBody("hinge", fa.Joint.revolute("y"), inertia=(1.0, 1.0, 1.0)),
        fa.RigidBody("bar", spring, mass=1e-9),
    ]
    foot = fa.Loop(("bar", "tip"), directions=["x", "z"])
    arm = fa.Arm(bodies, gravity=(0.0, 0.0, -weight), constraints=[foot])
    return arm, [0.1, np.pi - np.arctan(0.1), HIGH]


def held_by(y: np.ndarray) -> np.ndarray:
    """Force down on a truss at the height y."""
    return y * (HIGH / np.hypot(1.0, y) - 1.0)


def column(n: int) -> fa.Arm:
    """A clamped column along x, EI = L = rho A = 1, in pieces."""
    beam = Beam(Section.from_stiffness(1.0, 1.0), length=1.0)
    fixed = fa.Joint.fixed()
    link = beam.segments("beam", n, joint=fixed, motions="bending y")
    return fa.Arm([link], gravity=(0.0, 0.0, 0.0), check_units=False)


def squeezed(side: float) -> np.ndarray:
    return np.array([0.0, 0.0, 0.0, -6.0, 6.0 * side, 0.0])


@each("weight", (0.0, 5e-5))
def test_a_truss_snaps_through_by_its_closed_form(weight: float) -> None:
    arm, q = truss(weight)
    path = fa.equilibrium_path(arm, q, -UP, **TOP)
    y, force = path.q[:, 0], 1e-3 * path.factor
    assert_allclose(force, held_by(y) - weight, atol=1e-14)
    peak = (HIGH ** (2.0 / 3.0) - 1.0) ** 1.5
    assert_allclose(force[path.limits], [peak - weight, -peak - weight], rtol=1e-9)
    assert path.success
    assert path.factor[-1] == 1.0
    # between both it pushes back less, the lower it is
    low = np.sqrt(HIGH ** (2.0 / 3.0) - 1.0)
    off = np.setdiff1d(np.arange(len(y)), path.limits)
    assert_allclose(path.stable[off], np.abs(y[off]) > low)
    stiffness = 1.0 - HIGH / np.hypot(1.0, y) ** 3
    mass = 1.0 + 1.0 / (1.0 + y * y) ** 2  # with the hinge, of 1 kg m^2
    assert_allclose(path.lowest_square, stiffness / mass, rtol=1e-6, atol=1e-9)


def test_points_are_those_of_equilibrium() -> None:
    arm = fa.library.planar_chain(2, n_modes=2)
    q = arm.neutral + 0.3 * np.eye(arm.nq)[0]
    w = np.array([0.0, 0.0, 5.0, 0.0, 20.0, 0.0])
    for frame in ("base", "node"):
        path = fa.equilibrium_path(arm, q, w, node="link1.tip", frame=frame)
        same = fa.equilibrium(
            arm, path.q, wrench=path.factor[:, None] * w, node="link1.tip", frame=frame
        )
        assert path.success
        assert_allclose(path.q[:, :2], np.broadcast_to(q[:2], (len(path.q), 2)))
        assert_allclose(path.q, same.q, atol=1e-10)
        assert_allclose(path.lowest_square, same.lowest_square, rtol=1e-8)
        assert (path.stable == same.stable).all()


def test_a_straight_column_passes_its_buckling_load() -> None:
    arm = column(8)
    path = fa.equilibrium_path(arm, arm.neutral, squeezed(0.0), frame="base")
    load = 6.0 * path.factor
    assert path.success
    assert_allclose(path.q, 0.0, atol=1e-9)
    assert (path.stable == (load < 0.25 * np.pi**2)).all()
    assert not path.limits.size


def test_a_pushed_column_bends_as_the_elastica() -> None:
    """S. Timoshenko, J. Gere, Theory of Elastic Stability, 1961, section 2.7."""
    arm = column(16)
    path = fa.equilibrium_path(arm, arm.neutral, squeezed(1e-6), frame="base")
    tip = fa.tip_pose(arm, path.q)
    turn = np.arctan2(tip[:, 1, 0], tip[:, 0, 0])
    far = np.abs(turn) > 0.5
    K = ellipk(np.sin(0.5 * turn[far]) ** 2)
    assert far.sum() > 5
    assert path.success
    assert_allclose(6.0 * path.factor[far], K**2, rtol=2e-4)
    assert path.stable.all()


def test_a_follower_on_a_column_makes_it_flutter() -> None:
    """M. Beck, ZAMP 3 (1952): at 20.05 EI/L^2, without a limit point."""
    beam = finite_element_link(
        "beam",
        length=1.0,
        sections=Section.from_stiffness(1.0, 1.0),
        n_elements=12,
        joint=fa.Joint("fixed"),
        motions=("bending y",),
        n_modes="all",
    )
    arm = fa.Arm([beam], gravity=(0.0, 0.0, 0.0), check_units=False)
    push = [0.0, 0.0, 0.0, -30.0, 0.0, 0.0]
    path = fa.equilibrium_path(arm, arm.neutral, push)
    assert path.success
    assert (path.stable == (30.0 * path.factor < 20.05)).all()
    # where flutter begins is between two points that are close
    last = 30.0 * path.factor[path.stable].max()
    first = 30.0 * path.factor[~path.stable].min()
    assert last < 20.05 < first < last + 0.1
    assert not path.limits.size


def test_redundant_rows_of_a_loop() -> None:
    arm, q = truss()
    foot = fa.Loop(("bar", "tip"), directions=["rx", "rz", "x", "y", "z"])
    path = fa.equilibrium_path(arm.replace(constraints=[foot]), q, -UP, **TOP)
    assert_allclose(1e-3 * path.factor, held_by(path.q[:, 0]), atol=1e-14)
    assert path.success


def test_paths_that_end_early_fail() -> None:
    arm, q = truss()
    path = fa.equilibrium_path(arm, q, -UP, max_points=5, **TOP)
    assert not path.success
    assert len(path.q) == 5
    assert path.message.startswith("the path has 5 points, at factor 0.")
    with pytest.raises(fa.ConvergenceError, match="5 points"):
        path.check()
    # one piece bends too far for its model
    arm = column(1)
    side = [0.0, 0.0, 0.0, 0.0, 20.0, 0.0]
    with pytest.warns(fa.DeflectionWarning):
        path = fa.equilibrium_path(arm, arm.neutral, side, frame="base")
    assert not path.success
    assert "slope above one" in path.message


@each(
    "given, words",
    {
        "range": ({"factors": (0.0, 1.0)}, "expected a negative and a positive number"),
        "infinite": ({"factors": (-1.0, np.inf)}, "a negative and a positive number"),
        "batch": ({"wrench": np.zeros((2, 3, 6))}, "wrench has shape"),
        "held": ({"held": "nobody"}, "held names 'nobody'"),
    },
)
def test_refusals(given: dict[str, Any], words: str) -> None:
    arm = column(1)
    options = {"wrench": UP} | given
    argument_refused([words], lambda: fa.equilibrium_path(arm, arm.neutral, **options))


def test_no_equilibrium_without_the_wrench() -> None:
    arm, q = truss(1.0)
    with pytest.raises(fa.ConvergenceError, match="without the wrench"):
        fa.equilibrium_path(arm, np.array(q) + 5.0, -UP, **TOP)
    # nor with a loop that cannot close, which is named
    chain = fa.library.planar_chain(2, length=1.0)
    far = fa.Loop(("link2", "tip"), directions=["x", "y"], position2=(5.0, 0.0, 0.0))
    arm, start = chain.replace(constraints=[far]), [0.1, 0.2]
    words = r"near q, and ended where the arm violates the constraint 'link2-ground.x'"
    with pytest.raises(fa.ConvergenceError, match=words):
        fa.equilibrium_path(arm, start, -UP, frame="base", held=None)
    message = fa.equilibrium(arm, start, held=None).message
    assert "'link2-ground.x' by " in message


# F. W. Williams, "An approach to the non-linear behaviour of the members of a rigid
# jointed plane framework with finite deflections", Quarterly Journal of Mechanics and
# Applied Mathematics 17, 1964: half of his toggle, in inches and pounds
HALF, RISE, EA, EI = 12.943, 0.386, 1.885e6, 9.27e3
LONG, TILT = float(np.hypot(HALF, RISE)), float(np.arctan2(RISE, HALF))


def toggle(n: int) -> tuple[fa.Arm, np.ndarray]:
    """A clamped bar in n pieces up to a crown, which moves up and down alone."""
    up = fa.se3.so3_exp([0.0, 0.0, TILT])
    link = Beam(Section.from_stiffness(1.0, EI, axial_stiffness=EA), LONG).segments(
        "bar", n, joint=fa.Joint.fixed(rotation=up), motions=("bending y", "stretch")
    )
    crown = fa.Loop(
        ("bar", "tip"),
        directions=["x", "rz"],
        rotation=up.T,
        position2=(HALF, RISE, 0.0),
    )
    arm = fa.Arm([link], gravity=(0, 0, 0), constraints=[crown], check_units=False)
    return arm, np.array([0.0, 0.0, 0.0, 0.0, -50.0, 0.0])


def toggle_force(drop: float) -> float:
    """Force down on the crown of both halves at its drop: extensible elastica."""

    def rate(_: Any, y: Any, force: Any) -> Any:
        cos, sin = np.cos(y[2]), np.sin(y[2])
        long = 1.0 + (force[0] * cos + force[1] * sin) / EA
        moment = force[1] * cos - force[0] * sin
        return long * np.array([cos, sin, y[3] / (EI * long), -moment])

    def ends(a: Any, b: Any, _: Any) -> Any:
        goal = [HALF, RISE - drop, TILT]
        return np.concatenate([a[:3] - [0.0, 0.0, TILT], b[:3] - goal])

    s = np.linspace(0.0, LONG, 41)
    first = [s * np.cos(TILT), s * np.sin(TILT), 0.0 * s + TILT, 0.0 * s]
    found = solve_bvp(rate, ends, s, first, p=[-1.0, -1.0], tol=1e-7)
    assert found.success
    return float(-2.0 * found.p[1])


def test_the_toggle_of_williams_snaps_through() -> None:
    highest = minimize_scalar(lambda x: -toggle_force(x), bounds=(0.2, 0.27)).fun
    lowest = minimize_scalar(toggle_force, bounds=(0.35, 0.43)).fun
    exact = np.array([-highest, lowest])
    assert_allclose(exact, (33.86, 31.26), atol=0.01)
    off = []
    for n in (4, 8):
        arm, push = toggle(n)
        path = fa.equilibrium_path(arm, arm.neutral, push, frame="base")
        assert path.success
        off.append(100.0 * path.factor[path.limits] - exact)
    assert_allclose(off[1], 0.0, atol=2e-3)
    assert (np.abs(off[0]) > 8.0 * np.abs(off[1])).all()  # the fourth power
