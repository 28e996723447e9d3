"""Mechanisms with closed loops against the formulas of textbooks on them.

Velocities and accelerations by loop equations, equations of motion with one coordinate,
a Stewart platform by its legs, reactions by Newton and Euler: nothing here knows a
constraint Jacobian.
"""

from __future__ import annotations

import andrews
import numpy as np
import pytest
from few_modes import few_modes
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from trees import random_state

import flexarm as fa

GRAVITY = 9.81


def bar(name, length, joint, mass=None, nodes=()):
    mass = length if mass is None else mass
    inertia = mass * length**2 / 12
    return fa.RigidBody(
        name,
        joint,
        mass=mass,
        com=(length / 2, 0, 0),
        inertia=(inertia / 50, inertia, inertia),
        nodes={"tip": (length, 0, 0), **dict(nodes)},
    )


def four_bar_angles(lengths, crank):
    """Angles of coupler and rocker (R. Norton, Design of Machinery, eqs. 4.8 to 4.13).

    Lengths a of the crank, b of the coupler, c of the rocker, d of the ground, angles
    from the line of the pivots; the open circuit.  Takes complex steps.
    """
    a, b, c, d = lengths
    k1, k2, k3 = d / a, d / c, (a**2 - b**2 + c**2 + d**2) / (2 * a * c)
    k4, k5 = d / b, (c**2 - d**2 - a**2 - b**2) / (2 * a * b)
    cos, sin = np.cos(crank), np.sin(crank)

    def half_angle(A, B, C):
        return 2.0 * np.arctan((-B - np.sqrt(B**2 - 4.0 * A * C)) / (2.0 * A))

    rocker = half_angle(cos - k1 - k2 * cos + k3, -2 * sin, k1 - (k2 + 1) * cos + k3)
    coupler = half_angle(cos - k1 + k4 * cos + k5, -2 * sin, k1 + (k4 - 1) * cos + k5)
    return coupler, rocker


def four_bar_rates(lengths, crank, rate, acceleration):
    """Rates and accelerations of coupler and rocker (Norton, eqs. 6.18 and 7.12)."""
    a, b, c, _ = lengths
    coupler, rocker = four_bar_angles(lengths, crank)
    w3 = a * rate / b * np.sin(rocker - crank) / np.sin(coupler - rocker)
    w4 = a * rate / c * np.sin(crank - coupler) / np.sin(rocker - coupler)
    A, B = c * np.sin(rocker), b * np.sin(coupler)
    D, E = c * np.cos(rocker), b * np.cos(coupler)
    C = a * (acceleration * np.sin(crank) + rate**2 * np.cos(crank))
    C += b * w3**2 * np.cos(coupler) - c * w4**2 * np.cos(rocker)
    F = a * (acceleration * np.cos(crank) - rate**2 * np.sin(crank))
    F += -b * w3**2 * np.sin(coupler) + c * w4**2 * np.sin(rocker)
    determinant = A * E - B * D
    return (w3, w4), ((C * D - A * F) / determinant, (C * E - B * F) / determinant)


LENGTHS = (0.3, 0.9, 0.7, 0.8)


def four_bar():
    """The rocker is the last link of a chain, so it points at its pivot."""
    bodies = [
        bar("crank", 0.3, fa.Joint()),
        bar("coupler", 0.9, fa.Joint()),
        bar("rocker", 0.7, fa.Joint()),
    ]
    loop = fa.Loop(("rocker", "tip"), kind="revolute", position2=(0.8, 0, 0))
    return fa.Arm(bodies, gravity=(0, -GRAVITY, 0), constraints=[loop])


def relative(angles):
    """Joint coordinates of the chain from angles to the ground of its three links."""
    crank, coupler, rocker = angles
    turned = rocker + np.pi
    q = np.array([crank, coupler - crank, turned - coupler])
    return (q + np.pi) % (2.0 * np.pi) - np.pi


@pytest.mark.parametrize("crank", [0.3, 1.0, 1.7, 2.8, 4.0, 5.5])
def test_four_bar_by_its_loop_equations(crank):
    """Position, velocity, and the accelerations that gravity and a torque give."""
    arm = four_bar()
    q = relative((crank, *four_bar_angles(LENGTHS, crank)))
    assert_allclose(fa.constraint_violation(arm, q), 0.0, rtol=0, atol=1e-14)
    found = fa.close_loops(arm, q + np.array([0.0, 0.05, -0.05]), hold=["crank"])
    assert_allclose(found, q, rtol=0, atol=1e-11)
    (w3, w4), _ = four_bar_rates(LENGTHS, crank, 2.0, 0.0)
    qd = fa.close_loops(arm, q, [2.0, 0.0, 0.0], hold=["crank"])[1]
    assert_allclose(np.cumsum(qd), [2.0, w3, w4], rtol=0, atol=1e-12 * abs(w4) + 1e-12)
    qdd = np.cumsum(fa.forward_dynamics(arm, q, qd, [0.9, 0.0, 0.0]))
    _, expected = four_bar_rates(LENGTHS, crank, 2.0, qdd[0])
    assert_allclose(qdd[1:], expected, rtol=0, atol=1e-11 * np.abs(qdd).max())


def inertia_and_potential(crank):
    """Of the four-bar: twice the kinetic energy at unit rate, and that of gravity."""
    a, b, c, _ = LENGTHS
    coupler, rocker = four_bar_angles(LENGTHS, crank)
    (w3, w4), _ = four_bar_rates(LENGTHS, crank, 1.0, 0.0)
    along, across = a * np.cos(crank), a * np.sin(crank)
    x = -across - 0.5 * b * np.sin(coupler) * w3
    y = along + 0.5 * b * np.cos(coupler) * w3
    inertia = a**3 / 3 + b * (x**2 + y**2) + b**3 / 12 * w3**2 + c**3 / 3 * w4**2
    height = a * across / 2 + b * (across + 0.5 * b * np.sin(coupler))
    return inertia, GRAVITY * (height + 0.5 * c * c * np.sin(rocker))


def acceleration_of_crank(crank, rate, torque):
    """I a + I' w^2 / 2 + V' = torque, Eksergian's equation of a machine."""
    h = 1e-30
    inertia, V = inertia_and_potential(crank + 1j * h)
    moment = torque - 0.5 * inertia.imag / h * rate**2 - V.imag / h
    return moment / inertia.real


@pytest.mark.parametrize("crank", [0.3, 1.0, 1.7, 2.8, 4.0, 5.5])
def test_four_bar_as_a_machine_of_one_coordinate(crank):
    arm, rate, torque = four_bar(), 2.0, 0.9
    expected = acceleration_of_crank(crank, rate, torque)
    q = relative((crank, *four_bar_angles(LENGTHS, crank)))
    qd = fa.close_loops(arm, q, [rate, 0.0, 0.0], hold=["crank"])[1]
    for method in ("articulated", "composite"):
        found = fa.forward_dynamics(arm, q, qd, [torque, 0, 0], method=method)[0]
        assert_allclose(found, expected, rtol=1e-11)


def test_motion_of_a_four_bar_is_that_of_one_coordinate():
    """Two turns of the crank; the error is that of Runge-Kutta."""
    arm, start, torque, t = four_bar(), 1.0, 0.9, np.linspace(0.0, 1.0, 101)

    def rates(_, state):
        return state[1], acceleration_of_crank(*state, torque)

    exact = solve_ivp(
        rates, (0.0, 1.0), (start, 6.0), "DOP853", t, rtol=1e-12, atol=1e-12
    ).y[0]
    q = relative((start, *four_bar_angles(LENGTHS, start)))
    qd = fa.close_loops(arm, q, [6.0, 0.0, 0.0], hold=["crank"])[1]
    tau, errors = np.tile([torque, 0.0, 0.0], (len(t), 1)), []
    for step in (5e-4, 2.5e-4, 1.25e-4):
        run = fa.simulate(arm, q, qd, t, torque=tau, max_step=step)
        assert run.success, run.message
        errors.append(np.abs(run.q[:, 0] - exact).max())
    assert np.ptp(exact) > 4.0 * np.pi
    assert errors[-1] < 1e-9
    assert np.log2(errors[-2] / errors[-1]) > 3.7, errors


def test_six_bar_of_watt():
    """Two four-bars in a row, the rocker of one is the crank of the other.

    One loop between two bodies and another one; angles of all bars are to the ground.
    """
    second = (0.5, 0.8, 0.6, 0.9)  # pivots at 0.8 and 1.7 m
    bodies = [
        fa.RigidBody(
            "bench", fa.Joint("fixed"), nodes={"A": (0.8, 0, 0), "B": (1.7, 0, 0)}
        ),
        bar("crank", 0.3, fa.Joint(parent="bench", node="base")),
        bar("rod", 0.9, fa.Joint(parent="crank")),
        bar(
            "rocker",
            0.7,
            fa.Joint(parent="bench", node="A"),
            nodes={"pin": (0.5, 0, 0)},
        ),
        bar("rod 2", 0.8, fa.Joint(parent="rocker", node="pin")),
        bar("rocker 2", 0.6, fa.Joint(parent="bench", node="B")),
    ]
    loops = [
        fa.Loop(("rod", "tip"), ("rocker", "tip"), directions="xy"),
        fa.Loop(("rod 2", "tip"), ("rocker 2", "tip"), directions="xy"),
    ]
    arm = fa.Arm(bodies, gravity=(0, -GRAVITY, 0), constraints=loops)
    crank, rate = 1.1, -3.0
    rod, rocker = four_bar_angles(LENGTHS, crank)
    rod2, rocker2 = four_bar_angles(second, rocker)
    q = np.array([crank, rod - crank, rocker, rod2 - rocker, rocker2])
    assert_allclose(fa.constraint_violation(arm, q), 0.0, rtol=0, atol=1e-14)
    qd = fa.close_loops(arm, q, [rate, 0, 0, 0, 0], hold=["crank"])[1]
    qdd = fa.forward_dynamics(arm, q, qd, [0.4, 0.0, 0.0, 0.0, 0.1])

    def chain(acceleration):
        w, a = four_bar_rates(LENGTHS, crank, rate, acceleration)
        w2, a2 = four_bar_rates(second, rocker, w[1], a[1])
        return (rate, *w, *w2), (acceleration, *a, *a2)

    velocities, accelerations = chain(qdd[0])
    for found, expected in ((qd, velocities), (qdd, accelerations)):
        absolute = found + np.array([0.0, found[0], 0.0, found[2], 0.0])
        size = np.abs(expected).max()
        assert_allclose(absolute, expected, rtol=0, atol=1e-11 * size)


# a platform on six legs

ANGLES = np.repeat([0.3, 2.4, 4.5], 2) + np.tile([-0.4, 0.4], 3)
FEET = np.stack([np.cos(ANGLES), np.sin(ANGLES), 0.0 * ANGLES], axis=1)
NEXT = ANGLES[[1, 2, 3, 4, 5, 0]] + 0.1
HOLDS = 0.5 * np.stack([np.cos(NEXT), np.sin(NEXT), 0.05 * ANGLES], axis=1)


def stewart(leg_mass):
    """Legs of universal and prismatic joints, held at the platform by ball joints."""
    nodes = {f"foot{i}": foot for i, foot in enumerate(FEET)}
    bodies = [fa.RigidBody("bench", fa.Joint("fixed"), nodes=nodes)]
    free = fa.Joint("free", parent="bench", node="base")
    holds = {f"hold{i}": hold for i, hold in enumerate(HOLDS)}
    body = {"mass": 8.0, "com": (0.05, -0.1, 0.1), "inertia": (0.5, 0.6, 0.9)}
    bodies.append(fa.RigidBody("platform", free, **body, nodes=holds))
    inertia = [leg_mass * 0.01] * 3
    for i in range(6):
        lower = fa.Joint(
            "universal", (1, 0, 0), axis2=(0, 1, 0), parent="bench", node=f"foot{i}"
        )
        own = {"mass": leg_mass, "com": (0, 0, 0.2), "inertia": inertia}
        bodies.append(fa.RigidBody(f"lower{i}", lower, **own))
        upper = fa.Joint("prismatic", parent=f"lower{i}", node="base")
        own["com"] = (0, 0, -0.2)
        bodies.append(fa.RigidBody(f"upper{i}", upper, **own))
    loops = [
        fa.Loop((f"upper{i}", "base"), ("platform", f"hold{i}"), "spherical")
        for i in range(6)
    ]
    return fa.Arm(bodies, gravity=(0, 0, -GRAVITY), constraints=loops)


def platform_state():
    """Pose of the platform; positions of the arm with leg angles and lengths."""
    turned, place = Rotation.from_rotvec([0.1, -0.15, 0.2]), np.array([0.05, 0.1, 1.1])
    legs = place + turned.apply(HOLDS) - FEET
    length = np.linalg.norm(legs, axis=1)
    # z axis of R_x(a) R_y(b): (sin b, -sin a cos b, cos a cos b)
    x, y, z = (legs / length[:, np.newaxis]).T
    q = [np.roll(turned.as_quat(), 1), place]
    q += [
        np.array(leg)
        for leg in zip(np.arctan2(-y, z), np.arcsin(x), length, strict=True)
    ]
    return turned, place, legs / length[:, np.newaxis], np.concatenate(q)


def test_stewart_platform_by_its_legs():
    """Leg rates are n.(v + omega x r), the inverse Jacobian of the platform."""
    arm = stewart(0.3)
    turned, _, n, q = platform_state()
    assert (arm.nv, len(arm.constraint_names)) == (24, 18)
    assert_allclose(fa.constraint_violation(arm, q), 0.0, rtol=0, atol=1e-15)
    assert fa.redundant_constraints(arm, q) == ()
    qd = np.zeros(24)
    qd[:6] = twist = np.array([0.3, -0.4, 0.5, 0.2, 0.1, -0.6])  # in its own axes
    hold = list(arm.coordinate_names[:6])
    qd = fa.close_loops(arm, q, qd, hold=hold)[1]
    speed = turned.apply(twist[3:] + np.cross(twist[:3], HOLDS))
    assert_allclose(qd[8::3], np.sum(n * speed, axis=1), rtol=0, atol=1e-14)

    # n.a = l'' - (speed across the leg)^2 / l
    tau = np.random.default_rng(6).normal(size=arm.nv)
    qdd = fa.forward_dynamics(arm, q, qd, tau)
    spin, linear = twist[:3], qdd[3:6] + np.cross(twist[:3], twist[3:])
    point = linear + np.cross(qdd[:3], HOLDS) + np.cross(spin, np.cross(spin, HOLDS))
    rate, length = qd[8::3], q[9::3]
    swing = np.sum(speed**2, axis=1) - rate**2  # of the leg across itself
    expected = np.sum(n * turned.apply(point), axis=1) + swing / length
    assert_allclose(qdd[8::3], expected, rtol=0, atol=1e-11 * np.abs(qdd).max())


def test_stewart_platform_stands_on_the_forces_of_statics():
    """Light legs: forces along them, J' f = weight; then nothing moves."""
    arm = stewart(1e-7)
    turned, _, n, q = platform_state()
    lever, center = turned.apply(HOLDS), turned.apply(arm.bodies[1].com.copy())
    weight = np.array([0.0, 0.0, 8.0 * GRAVITY])
    columns = np.vstack([n.T, np.cross(lever, n).T])
    f = np.linalg.solve(columns, np.concatenate([weight, np.cross(center, weight)]))
    tau, still = np.zeros(24), np.zeros(24)
    tau[8::3] = f
    qdd = fa.forward_dynamics(arm, q, still, tau)
    # the platform by the weight of the legs, 1e-7 of its own
    assert_allclose(qdd[:6], 0.0, rtol=0, atol=1e-5)
    # what the ball joints carry: rows in the axes of the legs, z along them
    forces = fa.constraint_forces(arm, q, still, tau).reshape(6, 3)
    assert_allclose(forces[:, 2], f, rtol=1e-6)
    assert_allclose(forces[:, :2], 0.0, rtol=0, atol=1e-5)


# reactions


KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "universal", "planar")
CORNER = Rotation.from_rotvec([0.4, -0.3, 0.8]).as_matrix()


def jointed_and_held(kind):
    """A body on a joint at the tip of a flexible link, and on a loop in its place."""
    modes = fa.beams.clamped_beam_modes(0.8, 1.5, 20.0, 2, tip_mass=1.0)
    link = fa.beams.flexible_link(
        "link",
        length=0.8,
        mass_per_length=1.5,
        bending_y=modes,
        bending_z=modes,
        joint=fa.Joint(axis=(0, 1, 1), parent="bench", node="base"),
    )
    # the loop of that kind has y of its first frame and x of its second: here the
    # first frame is on the link, so the joint turns about y, then about x
    axes = {"axis": (0, 1, 0), "axis2": (1, 0, 0)} if kind == "universal" else {}
    seat = {"position": (0.05, -0.1, 0.2), "rotation": CORNER}
    joint = fa.Joint(kind, parent="link", node="tip", **seat, **axes)
    own = {"mass": 2.0, "com": (0.1, 0.3, -0.2), "inertia": (0.1, 0.2, 0.25)}
    bench = fa.RigidBody("bench", fa.Joint("fixed"))
    body = fa.RigidBody("body", joint, **own)
    gravity = (3.0, -2.0, -9.0)
    free = body.replace(joint=fa.Joint("free", parent="bench", node="base"))
    loop = fa.Loop(("link", "tip"), ("body", "base"), kind, **seat)
    return (
        fa.Arm([bench, link, body], gravity=gravity),
        fa.Arm([bench, link, free], gravity=gravity, constraints=[loop]),
        fa.Arm([body.replace(joint=fa.Joint("free"))], gravity=gravity),
    )


@few_modes()
@pytest.mark.parametrize("kind", [*KINDS, "spherical"])
def test_forces_on_a_loop_are_the_reaction_of_the_joint(kind):
    """The wrench that moves the body so: Newton and Euler on the body alone."""
    jointed, held, alone = jointed_and_held(kind)
    q, qd, _ = random_state(np.random.default_rng(4), jointed, amplitude=0.05)
    tau = np.array([0.7, *np.zeros(jointed.nu - 1)])
    qdd = fa.forward_dynamics(jointed, q, qd, tau)
    node = ("body", "base")
    pose = fa.link_poses(jointed, q)[2]
    own = np.roll(Rotation.from_matrix(pose[:3, :3]).as_quat(), 1)
    x = np.concatenate([own, pose[:3, 3]])
    V = fa.node_velocity(jointed, q, qd, node)
    a = fa.node_acceleration(jointed, q, qd, qdd, node)
    rate = a - np.concatenate([np.zeros(3), np.cross(V[:3], V[3:])])
    wrench = fa.inverse_dynamics(alone, x, V, rate)  # on the body, in its axes

    n = jointed.bodies[2].joint
    at = 1 + n.n_positions
    q_held = np.concatenate([q[:1], x, q[at:]])
    qd_held = np.concatenate([qd[:1], V, qd[1 + n.n_dof :]])
    assert_allclose(fa.constraint_violation(held, q_held), 0.0, rtol=0, atol=1e-14)
    given = np.array([0.7, *np.zeros(6)])
    moved = fa.forward_dynamics(held, q_held, qd_held, given)
    expected = np.concatenate([qdd[:1], rate, qdd[1 + n.n_dof :]])
    size = 1e-11 * np.abs(expected).max()
    assert_allclose(moved, expected, rtol=0, atol=size)

    seat = fa.node_pose(jointed, q, ("link", "tip"))[:3, :3] @ CORNER
    turn = seat.T @ pose[:3, :3]
    reaction = np.concatenate([turn @ wrench[:3], turn @ wrench[3:]])
    found = fa.constraint_forces(held, q_held, qd_held, given)
    size = 1e-11 * np.abs(reaction).max()
    if kind == "universal":  # no moment about its two axes
        first, second = np.array([0.0, 1.0, 0.0]), turn[:, 0]
        along = [first, second, np.cross(second, first)]
        reaction[:3] = np.array(along) @ reaction[:3]
    rows = [
        ("rx", "ry", "rz", "x", "y", "z").index(d) for d in held.constraints[0].locked
    ]
    assert_allclose(found, reaction[rows], rtol=0, atol=size)
    free = [i for i in range(6) if i not in rows]
    assert_allclose(reaction[free], 0.0, rtol=0, atol=size)


def test_squeezing_mechanism_of_andrews() -> None:
    """Seven bodies, three loops: all printed angles after 0.03 s and 2.5 turns."""
    run = andrews.run(1000, progress=False)
    found = run.q[-1][np.argsort(andrews.ORDER)]
    assert_allclose(found, andrews.END, rtol=0, atol=2e-8)
    assert np.abs(run.violation).max() < 1e-15
