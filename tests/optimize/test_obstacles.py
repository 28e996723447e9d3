"""Obstacles and self-collision against distances and motions of our own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from program_derivatives import derivative_errors
from refusals import argument_refused
from scipy.integrate import solve_ivp
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import flexarm as fa
from flexarm import optimize
from flexarm.errors import ConvergenceWarning
from flexarm.optimize import (
    Capsule,
    HalfSpace,
    OptimalMotion,
    Sphere,
    paths,
    time_optimal,
    track,
    trajectory,
)
from flexarm.optimize._clearance import Clearance
from flexarm.optimize._collocation.separation import Separation
from flexarm.optimize._collocation.transcription import Collocation, Grid
from flexarm.optimize._distances import apart
from flexarm.optimize._excess import excess_of
from flexarm.optimize.limits import checked_limits, clearance_of
from flexarm.se3 import quaternion_exp

RADIUS, ROOM = 0.05, 0.02  # of links, and the clearance by default
ENDS = [0.0, 0.8], [1.2, 0.8]


# distances and derivatives


def test_distances_of_lines_by_brute_force() -> None:
    rng = np.random.default_rng(0)
    share = np.linspace(0.0, 1.0, 101)[:, None]
    for k in range(60):
        a, b, c, d = rng.normal(size=(4, 3))
        if k % 5 == 0:
            d = c.copy()  # a point
        if k % 7 == 0:
            d = c + rng.normal() * (b - a)  # parallel
        if k % 11 == 0:
            c = a + 0.3 * (b - a)  # they meet
        found, along, s, t = (
            x[0] for x in apart((a[None], b[None]), (c[None], d[None]))
        )
        far = np.linalg.norm(
            (a + share * (b - a))[:, None] - c - share * (d - c), axis=-1
        )
        near = np.unravel_index(int(far.argmin()), far.shape)

        def square(x: Any, ends: Any = (a, b, c, d)) -> float:
            a, b, c, d = ends
            return float(np.sum((a - c + x[0] * (b - a) - x[1] * (d - c)) ** 2))

        best = minimize(
            square,
            share[list(near), 0],
            bounds=[(0, 1)] * 2,
            method="L-BFGS-B",
            options={"ftol": 1e-16, "gtol": 1e-12},
        )
        assert abs(found - np.sqrt(best.fun)) < 1e-7
        assert found <= far.min() + 1e-12
        assert abs(np.linalg.norm(along) - 1.0) < 1e-12
        gap = a - c + s * (b - a) - t * (d - c)
        assert abs(np.linalg.norm(gap) - found) < 1e-12


ARMS = {
    "rigid": lambda: fa.library.iiwa14(),
    "flexible": lambda: planar_chain(2, n_modes=2),
    "pieces": lambda: sliding_and_bending(),
}
AROUND = (
    Sphere((0.5, 0.3, 0.1), 0.1),
    HalfSpace((0.0, 0.0, -0.2), (0.0, 0.3, 1.0)),
    Capsule((1.0, 1.0, -1.0), (1.0, 0.5, 1.0), 0.1),
)


def sliding_and_bending() -> fa.Arm:
    """A link of two pieces on a slide, which carries a rigid one."""
    bar = fa.beams.Section.rectangle(0.02, 0.01, fa.beams.STEEL)
    long = fa.beams.finite_element_link(
        "long",
        joint=fa.Joint(axis=(0.0, 0.0, 1.0)),
        sections=bar,
        length=0.8,
        n_elements=2,
        segments=2,
    )
    slide = fa.RigidBody("slide", fa.Joint("prismatic", (1, 0, 0)), mass=1.0)
    end = fa.RigidBody("end", fa.Joint(), mass=0.1, nodes={"tip": (0.2, 0.0, 0.0)})
    return fa.Arm([slide, long, end])


@each("make", ARMS)
def test_derivatives_of_clearances(make: Callable[[], fa.Arm]) -> None:
    arm, rng = make(), np.random.default_rng(1)
    given = Clearance(arm, AROUND, True, ROOM, RADIUS, 4)
    q = 0.5 * rng.normal(size=(4, arm.nv))
    q[:, arm.nu :] *= 0.02
    step = 1e-6
    slopes = given.slopes(q)
    differences = [
        (given.values(q + step * e) - given.values(q - step * e)) / (2 * step)
        for e in np.eye(arm.nv)
    ]
    assert np.abs(slopes - np.stack(differences, axis=-1)).max() < 1e-7
    assert not slopes[:, ~given.depends()].any()
    # some of the pairs alone
    some = np.arange(len(given.pairs)) % 2 == 0
    part = given.only(some)
    assert part.pairs == given.pairs[::2]
    assert np.array_equal(part.nearest(q), given.nearest(q)[:, some])
    assert np.array_equal(
        np.take_along_axis(part.values(q), part.nearest_rows(part.values(q)), 1),
        part.nearest(q),
    )


def test_distances_of_links_by_brute_force() -> None:
    """All places of all lines through all nodes, half a millimetre apart."""
    arm = planar_chain(2, n_modes=2)
    q = np.array([[0.4, -0.8, 0.05, -0.01, 0.03, 0.01]])
    nodes = fa.node_poses(arm, q[0])[:, :3, 3].reshape(2, -1, 3)
    found = Clearance(arm, AROUND, False, ROOM, RADIUS, 50).nearest(q)[0].reshape(3, 2)
    share = np.linspace(0.0, 1.0, 401)[:, None, None]
    for k, way in enumerate(nodes):
        x = (way[:-1] + share * (way[1:] - way[:-1])).reshape(-1, 3)
        sphere, plane, post = AROUND
        y = post.start + share[:, :, 0] * (post.end - post.start)
        wanted = [
            np.linalg.norm(x - sphere.center, axis=1).min() - sphere.radius,
            ((nodes[k][k == 0 :] - plane.point) @ plane.normal).min(),
            np.linalg.norm(x[:, None] - y, axis=-1).min() - post.radius,
        ]
        assert np.abs(found[:, k] - wanted).max() < 1e-5


def test_derivatives_of_the_program() -> None:
    arm = planar_chain(2, n_modes=1)
    given = {"obstacles": AROUND, "self_collision": [("link1", "link2")]}
    limits = checked_limits(optimize.Limits(**given, link_radius=RADIUS), arm)
    motion = Collocation(arm, Grid(main=3), duration=(0.5, 1.0, 2.0))
    z = motion.guess(lambda t: 0.3 * np.cos(t[:, None] * np.arange(1, arm.nv + 1)))
    separation = Separation(arm, limits)
    assert separation.engage(z[motion.q], 1e3)
    program = motion.program([], separation.terms(motion, (-1,)))
    assert max(derivative_errors(program, z).values()) < 2e-5


# motions


def two_links() -> fa.Arm:
    return planar_chain(2, n_modes=0).replace(gravity=(0.0, 0.0, 0.0))


def own_run(motion: OptimalMotion) -> Any:
    """Joints (n, 2) under the forces of a motion, by equations of two uniform rods."""
    turn = 1.0 / 12.0

    def rate(t: float, x: Any) -> Any:
        (_, q2), (v1, v2) = np.split(x, 2)
        tau = [np.interp(t, motion.t, column) for column in motion.tau.T]
        b, c = 0.5 * np.sin(q2), 0.5 * np.cos(q2)
        M = [[2 * turn + 1.5 + 2 * c, turn + 0.25 + c], [turn + 0.25 + c, turn + 0.25]]
        force = [tau[0] + b * (2 * v1 * v2 + v2**2), tau[1] - b * v1**2]
        return [v1, v2, *np.linalg.solve(M, force)]

    t = np.linspace(0.0, motion.t[-1], 1001)
    found = solve_ivp(
        rate,
        (0.0, t[-1]),
        [*motion.q[0], 0.0, 0.0],
        t_eval=t,
        rtol=1e-8,
        atol=1e-10,
        max_step=float(np.diff(motion.t).max()),
    )
    return found.y[:2].T


def own_gap(q: Any, sphere: Sphere) -> float:
    """Least room of two links of one metre beside radii and clearance."""
    elbow = np.stack([np.cos(q[:, 0]), np.sin(q[:, 0])], axis=1)
    both = q.sum(axis=1)
    outer = np.stack([np.cos(both), np.sin(both)], axis=1)
    share = np.linspace(0.0, 1.0, 201)[:, None, None]
    places = np.concatenate([share * elbow, elbow + share * outer])
    far = np.linalg.norm(places - sphere.center[:2], axis=-1).min()
    return float(far - sphere.radius - RADIUS - ROOM)


def test_rigid_arm_goes_around_a_sphere() -> None:
    """Far away the sphere changes nothing; in the way it is touched, not more."""
    pytest.importorskip("casadi")
    arm, ends = two_links(), ([-1.02, 1.41], [0.05, -1.15])
    by = {"duration": 1.0, "search": {"intervals": 20}}
    free = trajectory(arm, *ends, **by)
    far = {"obstacles": [Sphere((3.0, 3.0), 0.2)], "link_radius": RADIUS}
    assert trajectory(arm, *ends, limits=far, **by).objective == free.objective
    sphere = Sphere((1.75, -0.8), 0.17)
    assert own_gap(own_run(free), sphere) < -0.2
    limits = {"obstacles": sphere, "link_radius": RADIUS}
    found = trajectory(arm, *ends, limits=limits, **by)
    assert found.success
    run = own_run(found)
    assert abs(run[-1] - ends[1]).max() < 0.01
    assert -0.011 * (RADIUS + ROOM) <= own_gap(run, sphere) < 2e-3
    assert found.objective > free.objective
    firsts = [note.first for note in found.least_cost.searches]
    assert firsts[0] == "smooth"
    assert "around 1" in firsts


@pytest.mark.slow
def test_a_rod_on_a_ball_joint_goes_around_a_sphere() -> None:
    pytest.importorskip("casadi")
    rod = fa.RigidBody(
        "rod",
        fa.Joint("spherical"),
        mass=1.0,
        com=(0.5, 0.0, 0.0),
        inertia=(0.02, 0.4, 0.4),
        nodes={"tip": (1.0, 0.0, 0.0)},
    )
    arm = fa.Arm([rod], gravity=(0.0, 0.0, 0.0))
    sphere = Sphere((0.9 * np.cos(0.6), 0.9 * np.sin(0.6), -0.05), 0.1)
    found = trajectory(
        arm,
        [1.0, 0.0, 0.0, 0.0],
        quaternion_exp([0.0, 0.0, 1.2]),
        duration=1.0,
        limits={"obstacles": sphere, "link_radius": RADIUS},
        search={"intervals": 10},
    )
    assert found.success and found.verification is not None
    # rotations by SciPy, of which the first column is the rod
    run = found.verification.trajectory.q
    tip = Rotation.from_quat(run[:, [1, 2, 3, 0]]).as_matrix()[:, :, 0]
    share = np.clip(tip @ sphere.center, 0.0, 1.0)[:, None]
    far = np.linalg.norm(share * tip - sphere.center, axis=1).min()
    room = far - sphere.radius - RADIUS - ROOM
    assert -0.011 * (RADIUS + ROOM) <= room < 2e-3


@pytest.mark.slow
def test_tip_that_swings_over_stops_before_a_wall() -> None:
    pytest.importorskip("casadi")
    arm = planar_chain(
        1, n_modes=1, bending_stiffness=20.0, payload_mass=0.3, damping_ratio=0.005
    ).replace(gravity=(0.0, 0.0, 0.0))
    normal = np.array([-np.sin(1.0), np.cos(1.0), 0.0])

    def over(motion: OptimalMotion) -> float:
        """Farthest place of a node beyond the line of the goal, by DOP853."""

        def rate(t: float, x: Any) -> Any:
            tau = np.interp(t, motion.t, motion.tau[:, 0])
            q, v = np.split(x, 2)
            return np.append(v, fa.forward_dynamics(arm, q, v, [tau]))

        t = np.linspace(0.0, motion.t[-1], 400)
        x0 = np.append(motion.q[0], motion.qd[0])
        run = solve_ivp(
            rate, (0.0, t[-1]), x0, "DOP853", t, rtol=1e-7, atol=1e-9, max_step=0.015
        )
        nodes = fa.node_poses(arm, run.y[: arm.nq].T)[..., :3, 3]
        return float((nodes @ normal).max())

    by = {"duration": 0.6, "search": {"intervals": 40}}
    free = trajectory(arm, [0.0], [1.0], **by)
    swing = over(free)
    assert swing > 0.009
    # a wall that leaves the resting arm half of that
    limits = {
        "obstacles": [HalfSpace((ROOM + 0.005 + swing / 2) * normal, -normal)],
        "link_radius": 0.005,
    }
    found = trajectory(arm, [0.0], [1.0], limits=limits, **by)
    assert found.success
    assert 0.4 * swing <= over(found) <= swing / 2 + 0.01 * (ROOM + 0.005)
    assert found.objective > free.objective


def test_excess_has_the_names_of_what_touches() -> None:
    arm = two_links()
    q = np.linspace(*ENDS, 50)
    run = fa.Trajectory(arm, np.linspace(0, 1, 50), q, 0 * q, 0 * q)
    sphere = Sphere((1.4, 1.0), 0.1)
    limits = optimize.Limits(obstacles=[sphere], link_radius=RADIUS)
    excess = excess_of(run, checked_limits(limits, arm))
    assert list(excess) == ["clearance of 'link2' to sphere 0"]
    part = -own_gap(q, sphere) / (RADIUS + ROOM)
    assert abs(excess["clearance of 'link2' to sphere 0"] - part) < 1e-3


def test_rigid_arm_on_a_path_that_touches() -> None:
    arm = two_links()
    way = paths.joint_path(ENDS, kind="straight")
    limits = {"obstacles": [Sphere((1.4, 1.0), 0.1)], "link_radius": RADIUS}
    argument_refused(
        ["the path has 'link2' ", " m deep in sphere 0 at s = "],
        lambda: time_optimal(arm, way, limits=limits | {"torque": [20.0, 8.0]}),
    )
    # a given motion has no choice, and says so afterwards
    line = paths.line(
        fa.tip_pose(arm, ENDS[0])[:3, 3], fa.tip_pose(arm, ENDS[1])[:3, 3]
    )
    limits["obstacles"] = [Sphere(line(0.5).position, 0.1)]
    with pytest.warns(ConvergenceWarning, match="clearance of 'link2' to sphere 0"):
        motion = track(arm, line, 1.0, start=ENDS[0], limits=limits)
    assert not motion.success


# refusals


@each(
    "limits, said",
    {
        "start": (
            {"obstacles": [Sphere((1.69671, 0.71736), 0.1)], "link_radius": RADIUS},
            "the motion has 'link2' 0.15 m deep in sphere 0 at its start, expected a "
            "distance of limits.clearance, 0.02 m, or more",
        ),
        "radius": (
            {"obstacles": [Sphere((5.0, 5.0), 0.1)]},
            "link 'link1' has no section with a shape, expected its radius in m: "
            "limits.link_radius, a number or {'link1': 0.05, ...}",
        ),
        "name": (
            {"self_collision": True, "link_radius": {"link3": 0.1}},
            "limits.link_radius has 'link3', expected some of 'link1', 'link2'",
        ),
        "pair": (
            {"self_collision": [("link1", "link1")], "link_radius": RADIUS},
            "limits.self_collision is neither True nor False nor pairs of links, "
            "expected such as [('link1', 'link2')]",
        ),
        "kind": (
            {"obstacles": [(1.0, 2.0)]},
            "limits.obstacles has (1.0, 2.0), expected HalfSpace, Sphere or Capsule of "
            "flexarm.optimize",
        ),
        "clearance": (
            {"clearance": -1.0},
            "limits.clearance is -1.0, expected a positive number",
        ),
    },
)
def test_limits_of_obstacles_have_to_fit(limits: Any, said: str) -> None:
    argument_refused(
        [said], lambda: trajectory(two_links(), *ENDS, duration=1.0, limits=limits)
    )


def test_obstacles_are_checked() -> None:
    argument_refused(
        ["radius of a sphere is 0, expected a positive number"],
        lambda: Sphere((0, 0, 0), 0),
    )
    argument_refused(
        ["normal of a half-space is zero"], lambda: HalfSpace((0, 0, 0), (0, 0, 0))
    )
    argument_refused(
        ["end of a capsule has shape (1,), expected (3,) or (2,)"],
        lambda: Capsule((0, 0), [1.0], 0.1),
    )


def test_radius_of_sections_and_pairs_of_links() -> None:
    """A bar has its half diagonal; the slide has no length; the pieces are one link."""
    arm = sliding_and_bending()
    given = clearance_of(
        arm,
        checked_limits(
            optimize.Limits(obstacles=AROUND[:1], link_radius={"end": 0.03}), arm
        ),
    )
    assert given is not None
    assert {p.one: round(p.least, 6) for p in given.pairs} == {
        "'long'": round(np.hypot(0.01, 0.005), 6),
        "'end'": 0.03,
    }
    named = Clearance(arm, AROUND[:1], True, ROOM, {"slide": 0.2, "end": 0.03}, 4)
    assert [p.one for p in named.pairs[:-1]] == ["'slide'", "'long'", "'end'"]
    assert named.pairs[-1].name == "clearance of 'slide' to 'end'"


# longer motions


def six_links() -> fa.Arm:
    """Lengths of the UR5 with heavy drives."""
    a, d = [0.0, -0.425, -0.39225], [0.089159, 0.0, 0.0, 0.10915, 0.09465, 0.0823]
    turned = [np.pi / 2, 0.0, 0.0, np.pi / 2, -np.pi / 2, 0.0]
    end, bodies = np.eye(4), []
    rows = zip(a + [0.0] * 3, d, turned, (1, 1, 0.5, 0.2, 0.2, 0.1), strict=True)
    for i, (x, z, alpha, mass) in enumerate(rows):
        joint = fa.Joint(position=end[:3, 3], rotation=end[:3, :3])
        end = np.eye(4)
        end[:3, :3] = Rotation.from_rotvec([alpha, 0.0, 0.0]).as_matrix()
        end[:3, 3] = x, 0.0, z
        body = fa.RigidBody(
            f"link{i + 1}",
            joint,
            mass=mass,
            com=0.5 * end[:3, 3],
            inertia=0.4 * np.eye(3),
            nodes={"end": end[:3, 3]},
        )
        bodies.append(body)
    return fa.Arm(bodies, gravity=(0.0, 0.0, 0.0))


@pytest.mark.slow
def test_six_links_stay_away_from_each_other() -> None:
    pytest.importorskip("casadi")
    arm = six_links()
    radius = dict(
        zip((f"link{k}" for k in range(1, 7)), (6, 5, 4.5, 4, 4, 3), strict=True)
    )
    radius = {name: 0.01 * r for name, r in radius.items()}
    start = [1.19, -0.52, 2.82, 2.37, 2.84, 2.77]
    end = [-0.55, 1.31, 2.86, 0.74, 0.59, -1.32]

    def gap(q: Any) -> float:
        """Of the base and the first link of the wrist, whose joints it knows."""
        nodes = fa.node_poses(arm, q)[..., :3, 3].reshape(len(q), 6, -1, 3)
        share = np.linspace(0.0, 1.0, 81)[:, None, None]
        a, b = (
            nodes[:, k, 0] + share * (nodes[:, k, 1] - nodes[:, k, 0]) for k in (0, 3)
        )
        far = min(
            np.linalg.norm(a[:, None, i] - b[None, :, i], axis=-1).min()
            for i in range(len(q))
        )
        return float(far) - 0.06 - 0.04 - ROOM

    by = {"duration": 2.0, "search": {"intervals": 20}}
    free = trajectory(arm, start, end, **by)
    limits = {"self_collision": True, "link_radius": radius}
    found = trajectory(arm, start, end, limits=limits, **by)
    assert found.success
    assert free.verification is not None
    assert found.verification is not None
    assert gap(free.verification.trajectory.q) < -0.05
    assert -0.0012 <= gap(found.verification.trajectory.q) < 1e-3
    assert free.objective < found.objective < 1.01 * free.objective


@pytest.mark.slow
def test_fastest_motion_between_postures_goes_around() -> None:
    arm, torque = two_links(), {"torque": [20.0, 8.0]}
    ends = [[-1.02, 1.41], [0.05, -1.15]]
    free = time_optimal(arm, ends, limits=torque)
    aside = {"obstacles": [Sphere((3.0, 3.0), 0.2)], "link_radius": RADIUS}
    # with torques alone a lower bound ends the search, a round later here
    far = time_optimal(arm, ends, limits=aside | torque).duration
    assert far == pytest.approx(free.duration, rel=1e-6)
    sphere = Sphere((1.75, -0.8), 0.17)
    assert own_gap(own_run(free), sphere) < -0.05
    limits = {"obstacles": [sphere], "link_radius": RADIUS}
    found = time_optimal(arm, ends, limits=limits | torque)
    assert found.success
    assert found.duration > free.duration
    assert own_gap(own_run(found), sphere) >= -0.01 * (RADIUS + ROOM)
