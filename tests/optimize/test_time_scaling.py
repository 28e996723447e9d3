"""The fastest motion along a path: closed forms, phase plane, toppra, the thesis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from farid_cases import END, START, chords
from numpy.testing import assert_allclose
from refusals import refused
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from unlimited import unlimited

import flexarm as fa
from flexarm.optimize import Limits, paths, time_optimal
from flexarm.optimize._minimum_time.path_rows import rows_of
from flexarm.optimize._minimum_time.time_scaling import (
    SCHEMES,
    friction,
    friction_slope,
    solve,
)
from flexarm.optimize._rigid import RigidLevel
from flexarm.optimize._transfer.first_motion import smooth, torque_used
from flexarm.optimize.limits import checked_limits

TWO = fa.library.farid_two_link(elements=0, joint_stiffness=None)
FROM_A = fa.library.poses(TWO)["A"]
LINE = paths.line(START, END)
TORQUE = [300.0, 120.0]  # chapter 8 of the thesis
TORQUES: dict[str, Any] = {"torque": TORQUE}
FORCE = {"torque": 3.0}
MIDPOINT = {"scheme": "midpoint"}
IIWA = unlimited(fa.library.iiwa14())
IIWA_TORQUE = np.array([320.0, 320.0, 176.0, 176.0, 110.0, 40.0, 40.0])


def slide(**joint: Any) -> fa.Arm:
    """A mass of 2 kg on a level rail."""
    rail = fa.Joint("prismatic", axis=(1.0, 0.0, 0.0), **joint)
    return fa.Arm([fa.RigidBody("cart", rail, mass=2.0)])


WAY = paths.joint_path([[0.0], [0.5]], kind="straight")


# closed forms


@pytest.mark.parametrize("scheme", SCHEMES)
def test_bang_bang_of_a_mass(scheme: str) -> None:
    found = time_optimal(
        slide(), WAY, limits=FORCE, search={"scheme": scheme, "intervals": 199}
    )
    assert found.duration == pytest.approx(2.0 * np.sqrt(0.5 * 2.0 / 3.0), rel=1e-5)
    assert found.violation < 1e-12
    middle = found.t < 0.49 * found.duration
    assert_allclose(found.tau[middle], 3.0, rtol=1e-9)
    assert_allclose(found.q[:, 0], 0.5 * np.linspace(0, 1, 200), atol=1e-12)


def test_trapezoid_of_limited_speed() -> None:
    for limits in (
        {"velocity": 0.4},
        {"velocity": [[-9.0], [0.4]]},
        {"tip_speed": 0.4},
    ):
        found = time_optimal(slide(), WAY, limits={"acceleration": 1.5, **limits})
        assert found.duration == pytest.approx(0.5 / 0.4 + 0.4 / 1.5, rel=1e-5)
        assert found.qd.max() <= 0.4 * (1.0 + 1e-12)


def test_unequal_limits() -> None:
    found = time_optimal(slide(), WAY, limits={"torque": [[-1.0], [3.0]]})
    # v^2 / 2 (1 / a + 1 / d) = way, T = v (1 / a + 1 / d)
    both = 2.0 / 3.0 + 2.0 / 1.0
    assert found.duration == pytest.approx(np.sqrt(2.0 * 0.5 * both), rel=1e-5)


def test_rates_at_the_ends() -> None:
    # s = x / 0.5 m: from 0.2 m/s to 0.3 m/s at 1.5 m/s^2
    found = time_optimal(slide(), WAY, limits=FORCE, rates=(0.4, 0.6))
    top = np.sqrt(0.5 * (0.2**2 + 0.3**2) + 1.5 * 0.5)
    assert found.duration == pytest.approx((2.0 * top - 0.5) / 1.5, rel=1e-5)
    assert_allclose(found.qd[[0, -1], 0], [0.2, 0.3], rtol=1e-12)


def rubbed(forward: Any, backward: Any) -> float:
    """Duration of full force, then full brakes, from two accelerations of the speed."""
    top = 20.0
    ways = []
    for rate, sign in ((forward, 1.0), (backward, -1.0)):
        run = solve_ivp(
            lambda t, z, rate=rate, sign=sign: [z[1], sign * rate(z[1])],
            (0.0, top),
            [0.0, 0.0],
            rtol=1e-11,
            atol=1e-12,
            dense_output=True,
            events=lambda t, z: z[0] - 0.5,
        )
        run_end = run.t_events[0][0] if len(run.t_events[0]) else top
        ways.append((run.sol, run_end))
    (ahead, t1), (back, t2) = ways

    def late(x: float) -> float:
        """How long before the end the mass is at x: t2 for x = 0, but for rounding."""
        return float(brentq(lambda r: back(r)[0] - (0.5 - x), 0.0, min(1.1 * t2, top)))

    def gap(t: float) -> float:
        x, v = ahead(t)
        return float(v - back(late(x))[1])

    t = brentq(gap, 1e-9, t1 - 1e-9)
    return float(t + late(ahead(t)[0]))


@pytest.mark.parametrize("damping", [0.5, 5.0, 20.0])
def test_viscous_friction(damping: float) -> None:
    found = time_optimal(slide(damping=damping), WAY, limits=FORCE, check=False)
    wanted = rubbed(
        lambda v: (3.0 - damping * v) / 2.0, lambda v: (-3.0 - damping * v) / 2.0
    )
    assert found.duration == pytest.approx(wanted, rel=3e-3)
    assert found.violation < 1e-9
    fine = time_optimal(
        slide(damping=damping), WAY, limits=FORCE, search=MIDPOINT, check=False
    )
    assert fine.duration == pytest.approx(wanted, rel=1e-4)


def test_dry_friction() -> None:
    def f(v: float) -> float:
        return float(v / np.hypot(v, 0.3))

    arm = slide(coulomb_friction=fa.CoulombFriction(1.0, 0.3))
    wanted = rubbed(lambda v: (3.0 - f(v)) / 2.0, lambda v: (-3.0 - f(v)) / 2.0)
    found = time_optimal(arm, WAY, limits=FORCE, search=MIDPOINT, check=False)
    assert found.duration == pytest.approx(wanted, rel=1e-5)
    with pytest.warns(fa.ConvergenceWarning, match="force of 'cart' by 3.06 %"):
        told = time_optimal(arm, WAY, limits=FORCE, search=MIDPOINT)
    assert not told.success and told.duration == found.duration
    # almost without smoothing: accelerations of 1 and -2 m/s^2
    arm = slide(coulomb_friction=fa.CoulombFriction(1.0, 1e-4))
    found = time_optimal(arm, WAY, limits=FORCE, search=MIDPOINT, check=False)
    assert found.duration == pytest.approx(np.sqrt(1.5), rel=1e-4)


def test_friction_too_strong_for_the_grid_is_refused() -> None:
    def run() -> None:
        time_optimal(
            slide(damping=100.0), WAY, limits=FORCE, search={"scheme": "collocation"}
        )

    refused(fa.ConvergenceError, ["friction and rates", "1001 points"], run)
    found = time_optimal(slide(damping=100.0), WAY, limits=FORCE, check=False)
    # almost all of the way at 0.03 m/s, with 0.02 s to get there
    assert found.duration == pytest.approx(0.5 / 0.03 + 0.02, rel=3e-3)


def test_motor_behind_a_rigid_gear() -> None:
    ratio, rotor = 50.0, 1e-3
    friction_of_motor = 2e-3
    drive = fa.Drive(
        np.inf, gear_ratio=ratio, rotor_inertia=rotor, motor_damping=friction_of_motor
    )
    rod = fa.RigidBody("rod", fa.Joint(drive=drive), mass=1.0, inertia=(2.0,) * 3)
    at_joint = fa.Arm([rod], gravity=(0.0, 0.0, 0.0))
    arm = at_joint.replace(couplings="constrained")
    way = paths.joint_path([[0.0], [0.5]], kind="straight")
    found = time_optimal(arm, way, limits={"torque": 0.2}, search=MIDPOINT, check=False)
    limits = {"torque": 0.2 * ratio}  # without a coordinate of the motor
    same = time_optimal(at_joint, way, limits=limits, search=MIDPOINT, check=False)
    assert same.duration == pytest.approx(found.duration, rel=1e-9)
    inertia, force = 2.0 + ratio**2 * rotor, 0.2 * ratio
    rub = ratio**2 * friction_of_motor
    wanted = rubbed(
        lambda v: (force - rub * v) / inertia, lambda v: (-force - rub * v) / inertia
    )
    assert found.duration == pytest.approx(wanted, rel=1e-4)
    safe = time_optimal(arm, way, limits={"torque": 0.2})
    assert 0.2 - 1e-6 < abs(safe.tau).max() < 0.2 + 1e-9
    assert_allclose(found.q[:, 1], ratio * found.q[:, 0], atol=1e-12)


# the arm of the thesis


def test_the_thesis_optimum_converges() -> None:
    options = {"limits": {"torque": TORQUE}, "start": FROM_A}
    found = time_optimal(TWO, LINE, **options)
    assert found.duration == pytest.approx(0.42296, rel=5e-4)
    fine = time_optimal(TWO, LINE, search=MIDPOINT, **options)
    assert fine.duration == pytest.approx(0.42296, abs=1e-5)
    coarse = time_optimal(
        TWO, LINE, search={"scheme": "midpoint", "intervals": 100}, **options
    )
    assert coarse.duration == pytest.approx(0.42296, abs=5e-5)
    # the structure: T1 at its limit, then T2, one switch, then T1 at its other limit
    s, tau = found.on_path.way.s, found.tau
    assert_allclose(tau[(s > 0.01) & (s < 0.38), 0], 300.0, rtol=1e-3)
    assert_allclose(tau[(s > 0.4) & (s < 0.77), 1], 120.0, rtol=1e-3)
    assert_allclose(tau[(s > 0.78) & (s < 0.99), 0], -300.0, rtol=1e-3)
    assert found.violation < 1e-9


@pytest.mark.parametrize(
    ("arm", "elbow", "wanted"),
    [
        (TWO.replace(gravity=(0.0, 0.0, 0.0)), -1.0, 0.34225),
        (TWO, 1.0, 0.41551),
        (
            fa.library.farid_two_link(
                elements=0, joint_stiffness=None, rotor_inertia=0.0, stator_inertia=0.0
            ),
            -1.0,
            0.41815,
        ),
    ],
    ids=["weightless", "other elbow", "light motors"],
)
def test_variants_of_the_thesis(arm: fa.Arm, elbow: float, wanted: float) -> None:
    start = chords(START, elbow) @ [[1.0, -1.0], [0.0, 1.0]]
    found = time_optimal(
        arm,
        LINE,
        limits=TORQUES,
        start=start,
        search={"scheme": "midpoint", "intervals": 2000},
    )
    assert found.duration == pytest.approx(wanted, abs=2e-5)


def test_phase_plane_of_the_thesis_equations() -> None:
    """Accelerate from A, brake backward from B; where both meet is the switch.

    By the equations of the thesis in absolute angles, which share no code.
    """
    L, rho, Mp, g, mu = 1.0, 5.0, 5.0, 9.81, 0.4

    def rows(s: float) -> tuple[Any, Any, Any]:
        phi = chords(START + s * (END - START))
        along = np.stack([np.cos(phi), np.sin(phi)])
        J = L * np.stack([-np.sin(phi), np.cos(phi)])
        first = np.linalg.solve(J, END - START)
        second = np.linalg.solve(J, L * along @ first**2)
        d = phi[0] - phi[1]
        M12 = (rho * L / 2 + Mp) * L**2 * np.cos(d)
        H = (rho * L / 2 + Mp) * L**2 * np.sin(d)
        M11 = rho * L**3 / 3 + 0.2 + 0.2 + (mu + rho * L + Mp) * L**2
        M = np.array([[M11, M12], [M12, rho * L**3 / 3 + 0.2 + Mp * L**2]])
        C = np.array([H * first[1] ** 2, -H * first[0] ** 2])
        heavy = [rho * L / 2 + mu + rho * L + Mp, rho * L / 2 + Mp]
        G = g * L * np.cos(phi) * heavy
        T = np.array([[1.0, 1.0], [0.0, 1.0]])  # T1 - T2 and T2 to T1 and T2
        return T @ M @ first, T @ (M @ second + C), T @ G

    def extreme(s: float, sd: float, sign: float) -> float:
        a, b, c = rows(min(max(s, 0.0), 1.0))
        bounds = (sign * np.sign(a) * TORQUE - b * sd**2 - c) / a
        return float(bounds.min() if sign > 0.0 else bounds.max())

    def run(sign: float) -> Any:
        begin = 0.0 if sign > 0.0 else 1.0
        return solve_ivp(
            lambda t, z: [sign * z[1], sign * extreme(z[0], z[1], sign)],
            (0.0, 0.4),
            [begin, 0.0],
            rtol=1e-9,
            atol=1e-10,
            dense_output=True,
            max_step=2e-3,
        ).sol

    ahead, back = run(1.0), run(-1.0)

    def late(s: float) -> float:
        return float(brentq(lambda t: back(t)[0] - s, 0.0, 0.4))

    def early(s: float) -> float:
        return float(brentq(lambda t: ahead(t)[0] - s, 0.0, 0.4))

    switch = brentq(lambda s: ahead(early(s))[1] - back(late(s))[1], 0.5, 0.95)
    assert switch == pytest.approx(0.775, abs=2e-3)
    found = time_optimal(TWO, LINE, limits=TORQUES, start=FROM_A, search=MIDPOINT)
    assert found.duration == pytest.approx(early(switch) + late(switch), rel=2e-5)


def test_flexible_arm_at_its_rigid_level_is_the_rigid_arm() -> None:
    level = RigidLevel(fa.library.farid_two_link(), "a test")
    s = np.linspace(0.0, 1.0, 401)
    motion = paths.follow(level.arm, LINE, s, start=FROM_A)
    limits = checked_limits(Limits(torque=TORQUE), TWO)
    found = solve(rows_of(level, motion, s, limits))
    rigid = time_optimal(
        TWO, LINE, limits=TORQUES, start=FROM_A, search={"intervals": 400}
    )
    assert found.duration == pytest.approx(rigid.duration, rel=1e-10)


# any arm


def random_path(seed: int) -> paths.Path:
    draw = np.random.default_rng(seed)
    return paths.joint_path(draw.uniform(-1.5, 1.5, (5, 7)))


@pytest.mark.parametrize("seed", range(6))
def test_limits_hold_and_one_is_always_reached(seed: int) -> None:
    speed = np.full(7, 2.0)
    found = time_optimal(
        IIWA,
        random_path(seed),
        limits={"torque": IIWA_TORQUE, "velocity": speed, "acceleration": 15.0},
        search={"intervals": 399},
    )
    scaling, rows = found.on_path.scaling, found.on_path.rows
    assert found.violation < 1e-8
    assert (abs(found.tau) <= IIWA_TORQUE * (1.0 + 1e-9)).all()
    assert (abs(found.qd) <= speed * (1.0 + 1e-9)).all()
    assert (abs(found.qdd) <= 15.0 * (1.0 + 1e-9)).all()
    assert (scaling.sd <= scaling.curve * (1.0 + 1e-9)).all()
    assert (scaling.sd <= scaling.controllable[:, 1] * (1.0 + 1e-9)).all()
    # at either end of an interval a force, an acceleration or a speed is at its limit
    x, u = scaling.sd**2, scaling.sdd[:, None]
    share = []
    for at in (slice(None, -1), slice(1, None)):
        value = rows.a[at] * u + rows.b[at] * x[at, None] + rows.c[at]
        middle = 0.5 * (rows.upper + rows.lower)[at]
        wide = 0.5 * (rows.upper - rows.lower)[at]
        share += [abs((value - middle) / wide).max(1), x[at] / rows.x_max[at]]
    reached = np.max(share, axis=0) > 1.0 - 1e-6
    # but where a step ends on the curve of controllable rates, at a switch
    assert reached.mean() > 0.95


def test_motion_between_the_points_is_exact() -> None:
    found = time_optimal(
        IIWA, random_path(1), limits={"torque": IIWA_TORQUE}, search={"intervals": 199}
    )
    scaling = found.on_path.scaling
    t = np.linspace(0.0, found.duration, 1717)
    s, sd, _ = scaling.at(t)
    assert (np.diff(s) >= 0.0).all()
    h = 1e-7
    inner = t[1:-1]
    slope = (scaling.at(inner + h)[0] - scaling.at(inner - h)[0]) / (2.0 * h)
    assert_allclose(slope, sd[1:-1], atol=1e-5)
    at, rate, _ = scaling.at(scaling.t)
    assert_allclose(at, scaling.s, atol=1e-12)
    assert_allclose(rate, scaling.sd, atol=1e-9)


def test_answer_in_a_simulation_of_its_own() -> None:
    found = time_optimal(TWO, LINE, limits=TORQUES, start=FROM_A, search=MIDPOINT)
    check = found.verification
    assert check is not None
    assert check.path_error.max() < 2e-5
    assert check.final_error < 2e-5
    assert check.step < 0.3 * np.diff(found.t).max()
    assert found.success
    assert found.timings.total >= found.timings.verification > 0.0


def test_limits_that_depend_on_the_posture() -> None:
    def weaker(q: Any) -> Any:
        strength = 300.0 - 50.0 * np.cos(q[:, :1]) * [1.0, 0.0] - [0.0, 180.0]
        return np.stack([-strength, strength])

    options = {"start": FROM_A, "search": {"intervals": 300}}
    found = time_optimal(TWO, LINE, limits={"torque": weaker}, **options)
    bound = weaker(found.q)[1]
    assert (abs(found.tau) <= bound * (1.0 + 1e-9)).all()
    full = time_optimal(TWO, LINE, limits=TORQUES, **options)
    assert found.duration > 1.01 * full.duration


def test_friction_is_what_inverse_dynamics_has() -> None:
    arm = TWO.replace(
        bodies=[
            b.replace(
                joint=b.joint.replace(
                    damping=3.0, coulomb_friction=fa.CoulombFriction(4.0, 0.2)
                )
            )
            for b in TWO.bodies
        ]
    )
    level = RigidLevel(arm, "a test")
    s = np.linspace(0.0, 1.0, 11)
    motion = paths.follow(arm, LINE, s, start=FROM_A)
    rows = rows_of(level, motion, s, checked_limits(Limits(torque=TORQUE), TWO))
    sd, u = np.linspace(0.5, 3.0, 11), np.linspace(-2.0, 5.0, 11)[:, None]
    rate = sd[:, None]
    tau = level.inverse_dynamics(
        motion.q, motion.first * rate, motion.first * u + motion.second * rate**2
    )
    ours = rows.a * u + rows.b * rate**2 + rows.c + friction(rows, sd)
    assert_allclose(ours, tau, rtol=1e-11, atol=1e-10)
    h = 1e-6
    before, after = (friction(rows, np.sqrt(sd**2 + x)) for x in (-h, h))
    slope = friction_slope(rows, sd)
    assert_allclose(slope, (after - before) / (2.0 * h), rtol=1e-6)
    found = time_optimal(arm, LINE, limits=TORQUES, start=FROM_A)
    assert found.violation < 1e-5
    assert (
        found.duration > time_optimal(TWO, LINE, limits=TORQUES, start=FROM_A).duration
    )


# the toppra package


@pytest.mark.parametrize("scheme", ["collocation", "interpolation"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_toppra_finds_the_same(seed: int, scheme: str) -> None:
    toppra = pytest.importorskip("toppra")
    path = random_path(seed)
    s = np.linspace(0.0, 1.0, 151)
    postures = path.points
    steps = np.linalg.norm(np.diff(postures, axis=0), axis=1)
    at = np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()
    theirs = toppra.SplineInterpolator(at, postures, bc_type="not-a-knot")
    assert_allclose(theirs(s), path(s).position, atol=1e-12)
    kind = getattr(toppra.constraint.DiscretizationType, scheme.capitalize())
    limits = np.stack([-IIWA_TORQUE, IIWA_TORQUE], axis=1)
    constraints = [
        toppra.constraint.JointTorqueConstraint(
            lambda q, qd, qdd: fa.inverse_dynamics(IIWA, q, qd, qdd),
            limits,
            np.zeros(7),
            discretization_scheme=kind,
        ),
        toppra.constraint.JointVelocityConstraint(np.full((7, 2), [-2.0, 2.0])),
    ]
    solver = toppra.algorithm.TOPPRA(
        constraints, theirs, gridpoints=s, solver_wrapper="seidel"
    )
    _, sd, _ = solver.compute_parameterization(0.0, 0.0)
    found = time_optimal(
        IIWA,
        path,
        limits={"torque": IIWA_TORQUE, "velocity": 2.0},
        search={"scheme": scheme, "intervals": 150},
    )
    scaling = found.on_path.scaling
    assert_allclose(scaling.sd[1:-1], sd[1:-1], rtol=1e-4)
    theirs_duration = float((2.0 * np.diff(s) / (sd[1:] + sd[:-1])).sum())
    assert found.duration == pytest.approx(theirs_duration, rel=1e-5)


# refusals


def along(**options: Any) -> Any:
    given = {"limits": {"torque": TORQUE}, "start": FROM_A, **options}
    return lambda: time_optimal(TWO, LINE, **given)


BAD: list[tuple[list[str], Any]] = [
    (
        [
            "s = 0, the tip at (1.8, 0.2, 0) m",
            "force of 'link1'",
            "177.6 N m",
            "18.4 %",
        ],
        along(limits={"torque": [150.0, 120.0]}),
    ),
    (["force of 'link2'", "to hold the arm"], along(limits={"torque": [300.0, 50.0]})),
    (["there is no limit"], along(limits={})),
    (["limits.torque has shape (3,)"], along(limits={"torque": [1.0, 2.0, 3.0]})),
    (["limits.torque has a NaN"], along(limits={"torque": [[1.0, 2.0], [0.0, 3.0]]})),
    (["limits.torque(q)"], along(limits={"torque": lambda q: np.ones(5)})),
    (["limits.velocity of joint 1"], along(limits={"velocity": [[-1, 0.1], [1, 2]]})),
    (["limits.tip_speed is -1"], along(limits={"tip_speed": -1.0})),
    (["scheme is 'euler'", "'midpoint'"], along(search={"scheme": "euler"})),
    (["intervals is 1"], along(search={"intervals": 1})),
    (["rates are (-1, 0)"], along(rates=(-1, 0))),
    (["rates start with 100 1/s", "at most"], along(rates=(100.0, 0.0))),
    (["0 and 80 1/s", "no rate leads on"], along(rates=(0.0, 80.0))),
    (["path is int"], lambda: time_optimal(TWO, 3, limits=TORQUES)),
    (["arm is str"], lambda: time_optimal("arm", LINE, limits=TORQUES)),
]


@pytest.mark.parametrize(("words", "call"), BAD, ids=[w[0][:24] for w, _ in BAD])
def test_bad_input_is_refused(words: list[str], call: Any) -> None:
    with pytest.raises((fa.FlexarmError, ValueError)) as caught:
        call()
    kind = type(caught.value)
    refused(kind, words, call)


def test_limits_that_just_suffice_are_used_in_full() -> None:
    """The part of a limit that gravity takes is not there for the motion."""
    arm = fa.library.pendulum(mass=2.0, com=0.3)
    start, end, T = np.array([-0.2]), np.array([0.4]), 0.5
    q, qd, qdd = smooth(start, end, T, np.linspace(0.0, T, 41))
    needed = fa.inverse_dynamics(arm, q, qd, qdd)
    assert fa.gravity_forces(arm, q[needed.argmax()])[0] > 1.0
    limits = np.array([[-1e6], needed.max(axis=0)])
    assert_allclose(torque_used(arm, start, end, T, limits), 1.0)
