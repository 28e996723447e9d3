"""Optimal motions of arms with spherical and free joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from each import each
from refusals import argument_refused
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import flexarm as fa
from flexarm.optimize import time_optimal, trajectory
from flexarm.optimize._charts import charted
from flexarm.se3 import quaternion_exp, quaternion_log, quaternion_product

INERTIA = (2.0, 3.0, 4.0)
FEW = {"intervals": 20}


def satellite(inertia: Any = INERTIA) -> fa.Arm:
    """A body that turns about its centre, by three torques."""
    body = fa.RigidBody("body", fa.Joint("spherical"), mass=1.0, inertia=inertia)
    return fa.Arm([body], gravity=(0.0, 0.0, 0.0))


def turned(vector: Any) -> Any:
    """Quaternion of a rotation vector."""
    return quaternion_exp(np.asarray(vector, dtype=float))


def robot() -> fa.Arm:
    """A base that nobody drives, with two links out of one plane."""
    base = fa.RigidBody(
        "base",
        fa.Joint("free"),
        mass=10.0,
        com=(0.1, 0.0, 0.2),
        inertia=(2.0, 2.5, 3.0),
    )
    shoulder, elbow = fa.Joint("revolute", (0, 0, 1)), fa.Joint("revolute", (0, 1, 0))
    first = fa.RigidBody(
        "link1", shoulder, mass=2.0, com=(0.5, 0, 0), inertia=(0.02, 0.2, 0.2)
    )
    second = fa.RigidBody(
        "link2", elbow, mass=1.0, com=(0.4, 0, 0), inertia=(0.01, 0.1, 0.1)
    )
    return fa.Arm([base, first, second], gravity=(0.0, 0.0, 0.0))


def cart() -> tuple[fa.Arm, float, float]:
    """A base in the plane with one link, its reduced inertia and the share it turns.

    By hand: the angular momentum about the common centre is zero.
    """
    M, m, c, own = 5.0, 2.0, 0.6, 0.3
    base = fa.RigidBody("base", fa.Joint("free"), mass=M, inertia=(1.0, 1.0, 1.5))
    link = fa.RigidBody(
        "link",
        fa.Joint("revolute", (0, 0, 1)),
        mass=m,
        com=(c, 0.0, 0.0),
        inertia=(0.0, own, own),
    )
    about = own + M * m / (M + m) * c**2
    arm = fa.Arm([base, link], gravity=(0.0, 0.0, 0.0))
    return arm, 1.5 * about / (1.5 + about), about / (1.5 + about)


UNDRIVEN = [0.0] * 6


def test_coordinates_have_exact_derivatives() -> None:
    """Of the equations of motion, against differences of quaternion positions."""
    ball = fa.RigidBody(
        "ball", fa.Joint("spherical"), mass=0.4, com=(0.2, 0.1, 0), inertia=INERTIA
    )
    arm = fa.Arm([*robot().bodies, ball])
    rng = np.random.default_rng(0)
    start, end = fa.integrate(arm, arm.neutral, rng.normal(size=(2, arm.nv)))
    chart = charted(arm, start, end).chart  # type: ignore[attr-defined]
    model = charted(arm, start, end).kernels
    assert np.allclose(
        chart.positions(chart.coordinates(end)), end * np.sign(end[0]), atol=1e-14
    ) or np.allclose(
        fa.difference(arm, chart.positions(chart.coordinates(end)), end), 0
    )
    x, xd, xdd, force = rng.normal(size=(4, 3, arm.nv))
    h = 1e-5

    def at(t: float) -> Any:
        return x + t * xd + 0.5 * t**2 * xdd

    v, a = chart.motion(x, xd, xdd)
    # velocities and accelerations are those of the positions of the arm
    moved = fa.difference(arm, chart.positions(at(-h)), chart.positions(at(h)))
    np.testing.assert_allclose(moved / (2 * h), v, atol=1e-8)
    ends = [chart.motion(at(t), xd + t * xdd, xdd)[0] for t in (-h, h)]
    np.testing.assert_allclose((ends[1] - ends[0]) / (2 * h), a, atol=1e-8)
    slopes = model.inverse_dynamics_derivatives(x, xd, xdd)
    both = model.inverse_dynamics_vjp(x, xd, xdd, force)
    M, tip = model.mass_matrix(x), arm.tip_node
    bent = model.jacobian_derivatives(tip, x)
    for k, e in enumerate(1e-6 * np.eye(arm.nv)):
        for i, (dx, dv, da) in enumerate([(e, 0, 0), (0, e, 0), (0, 0, e)]):
            more, less = (
                model.inverse_dynamics(x + s * dx, xd + s * dv, xdd + s * da)
                for s in (1, -1)
            )
            by = (more - less) / 2e-6
            exact = slopes[:, i, :, k] if i < 2 else M[:, :, k]
            np.testing.assert_allclose(exact, by, atol=2e-7)
            np.testing.assert_allclose(both[:, i, k], (by * force).sum(1), atol=2e-6)
        J = (model.jacobian(tip, x + e) - model.jacobian(tip, x - e)) / 2e-6
        np.testing.assert_allclose(bent[..., k], J, atol=1e-8)
    # more than half a turn stays in one piece
    turn = np.linspace(0.0, 1.0, 40)[:, None] * np.eye(arm.nv)[1] * 6.0
    np.testing.assert_allclose(
        chart.coordinates(chart.positions(turn)), turn, atol=1e-12
    )


@each("frame", [(0.0, 0.0, 0.0), (0.3, -2.0, 1.0)])
@each("sign", [1.0, -1.0])
def test_slew_of_least_effort(frame: Any, sign: float) -> None:
    """12 J^2 angle^2 / T^3, in any frame and for both signs of a quaternion."""
    pytest.importorskip("casadi")
    angle, T, axis = 2.5, 2.0, 1
    start = turned(frame)
    end = sign * quaternion_product(start, turned(angle * np.eye(3)[axis]))
    motion = trajectory(satellite(), start, 3.0 * end, duration=T, search=FEW)
    assert motion.success
    least = 12.0 * (INERTIA[axis] * angle) ** 2 / T**3
    assert motion.objective == pytest.approx(least, rel=1e-9)
    off = fa.difference(motion.arm, motion.q[-1], end)
    np.testing.assert_allclose(off, 0.0, atol=1e-9)
    assert motion.q.shape == (21, 4)


@each("speed", [None, 0.8])
def test_slew_of_least_time(speed: float | None) -> None:
    """Bang-bang, or with a limit of the speed in between."""
    pytest.importorskip("casadi")
    angle, torque, J = 2.0, 3.0, INERTIA[2]
    limits: dict[str, Any] = {"torque": torque}
    expected = 2.0 * np.sqrt(J * angle / torque)
    if speed:
        limits["velocity"] = speed
        expected = angle / speed + speed * J / torque
    asked = {"cost": "time", "limits": limits, "search": {"intervals": 12}}
    motion = trajectory(satellite(), [1, 0, 0, 0], turned([0, 0, angle]), **asked)
    assert motion.success
    assert motion.duration == pytest.approx(expected, rel=5e-3)
    assert motion.duration > expected * (1.0 - 1e-6)
    if speed:
        assert np.abs(motion.qd).max() == pytest.approx(speed, rel=1e-4)


def test_base_floats_by_its_momentum() -> None:
    """A link on a free base: closed forms of its effort and of where the base ends."""
    pytest.importorskip("casadi")
    arm, J, share = cart()
    angle, T = 1.2, 1.5
    start = np.append(arm.neutral[:7], 0.4)
    end = {"joints": {"link": 0.4 + angle}}
    limits = {"torque": [*UNDRIVEN, 50.0]}
    motion = trajectory(arm, start, end, duration=T, limits=limits, search=FEW)
    assert motion.success
    assert motion.objective == pytest.approx(12.0 * (J * angle) ** 2 / T**3, rel=1e-4)
    np.testing.assert_allclose(motion.tau[:, :6], 0.0, atol=1e-12)
    for q in (motion.q[-1], motion.verification.trajectory.q[-1]):  # type: ignore[union-attr]
        base = quaternion_log(q[:4])
        np.testing.assert_allclose(base, [0, 0, -share * angle], atol=2e-5)
    # the common centre stays where it is
    turn = Rotation.from_rotvec(quaternion_log(motion.q[:, :4]))
    link = np.stack([np.cos(motion.q[:, 7]), np.sin(motion.q[:, 7]), 0 * motion.t], 1)
    centre = motion.q[:, 4:7] + 2.0 / 7.0 * turn.apply(0.6 * link)
    np.testing.assert_allclose(centre, centre[:1] + 0.0 * centre, atol=1e-6)


def test_what_quaternions_do_not_have_is_refused() -> None:
    arm, start = robot(), np.append(robot().neutral[:7], [0.0, 0.3])
    limits = {"torque": [*UNDRIVEN, 4.0, 3.0]}
    ends: Any = {"joints": {"link1": 1.0, "link2": -0.4}}
    body = satellite()
    still, quarter = [1, 0, 0, 0], turned([0, 0, 1.5])

    def move(end: Any, **options: Any) -> Any:
        given = {"duration": 1.0, "limits": limits, **options}
        return trajectory(arm, start, end, **given)

    def between(end: Any) -> Any:
        return time_optimal(arm, [start, end], limits=limits)

    cases: list[tuple[list[str], Any]] = [
        (
            ["limits.position", "'base.wx'"],
            lambda: move(ends, limits={"position": 2.0}),
        ),
        (["'joints'", "3.0"], lambda: move({"joints": 3.0})),
        (
            ["end['joints']['link1']", "(1,)"],
            lambda: move({"joints": {"link1": [1, 2]}}),
        ),
        (["quaternion of length zero"], lambda: move({"joints": {"base": [0.0] * 7}})),
        (["floats", "payload='maximize'"], lambda: move(ends, payload="maximize")),
        (["'base.wx'", "floats"], lambda: between(start)),
        (["without", "'link2'"], lambda: between({"joints": {"link1": 1.0}})),
        (["place of the tip"], lambda: between({"tip": (1.0, 0.2, 0.0)})),
        (
            ["(4,)"],
            lambda: trajectory(body, [0.0, 0.0, 0.0], quarter, duration=1.0),
        ),
        (
            ["hold", "'body.wx'"],
            lambda: trajectory(
                fa.Arm([body.bodies[0].replace(com=(0.0, 0.1, 0.0))]),
                still,
                quarter,
                duration=1.0,
                limits={"torque": 0.1},
            ),
        ),
    ]
    for words, call in cases:
        argument_refused(words, call)


@pytest.mark.slow
def test_half_turn_of_a_symmetric_body() -> None:
    """3.243 by Bilimoria and Wie (1993), in units of J / torque; 3.545 about an axis.

    In another frame and with the other sign of the quaternion the same.
    """
    pytest.importorskip("casadi")
    durations = []
    for frame, sign in (((0.0, 0.0, 0.0), 1.0), ((1.0, -0.4, 2.0), -1.0)):
        start = turned(frame)
        end = sign * quaternion_product(start, turned([0, 0, np.pi]))
        limits = {"torque": 1.0}
        motion = time_optimal(satellite((1.0,) * 3), [start, end], limits=limits)
        assert motion.success
        by_start = {x.name: x.duration for x in motion.starts}
        assert by_start["rigid"] == pytest.approx(2.0 * np.sqrt(np.pi), rel=2e-3)
        durations.append(motion.duration)

        # by another integrator, with quaternions and the equation of Euler alone
        def slope(t: float, y: Any, motion: Any = motion) -> Any:
            own = quaternion_product(y[:4], [0.0, *y[4:]])
            return np.append(0.5 * own, motion.torque(t))

        run = solve_ivp(
            slope,
            (0.0, motion.duration),
            np.append(start, np.zeros(3)),
            max_step=0.01,
            rtol=1e-9,
        )
        off = fa.difference(motion.arm, run.y[:4, -1], end)
        np.testing.assert_allclose(off, 0.0, atol=1e-4)
        np.testing.assert_allclose(run.y[4:, -1], 0.0, atol=1e-4)
        assert np.abs(motion.tau).max() <= 1.0 + 1e-9
    assert durations[0] == pytest.approx(3.243, rel=5e-4)
    assert durations[1] == pytest.approx(durations[0], rel=1e-3)


@pytest.mark.slow
def test_frames_of_a_floating_robot_do_not_matter() -> None:
    """Its effort is the same anywhere; its fastest motion in the plane is known."""
    pytest.importorskip("casadi")
    arm = robot()
    start, end = np.append(arm.neutral[:7], [0.0, 0.3]), {"link1": 1.0, "link2": -0.4}
    limits = {"torque": [*UNDRIVEN, 4.0, 3.0]}
    goal: Any = {"joints": end}
    # in a frame of the base that is turned and elsewhere, the same
    there = start.copy()
    there[:4], there[4:7] = turned([0.4, 1.0, -2.0]), [3.0, -1.0, 0.5]
    efforts = [
        trajectory(arm, place, goal, duration=2.0, limits=limits, search=FEW).objective
        for place in (start, there)
    ]
    assert efforts[1] == pytest.approx(efforts[0], rel=1e-6)
    # one link in the plane: closed form
    plane, J, _ = cart()
    start = np.append(plane.neutral[:7], 0.4)
    ends: Any = [start, {"joints": {"link": 1.6}}]
    motion = time_optimal(plane, ends, limits={"torque": [*UNDRIVEN, 2.0]})
    assert motion.duration == pytest.approx(2.0 * np.sqrt(J * 1.2 / 2.0), rel=2e-3)
