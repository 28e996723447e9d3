"""Elastic joints: laws and feedforward against plants that are written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from each import each
from numpy.testing import assert_allclose
from refusals import FLEX, argument_refused
from scipy.integrate import solve_ivp

import flexarm as fa
from flexarm import control
from flexarm.reference.tracking import stable_inversion

# one joint: I q'' + m g c cos q + K (q - th / N) + D (q' - th' / N) = 0,
# J th'' + d th' - (K (q - th / N) + D (...)) / N = tau
I, GC, K, N, J, d = 0.42, 2.0 * 9.81 * 0.4, 300.0, 40.0, 1e-4, 2e-3
PATH = control.RestToRest([0.2], [1.0], 1.0, degree=9)


def drive(**changes: Any) -> fa.Drive:
    values: dict[str, Any] = {
        "stiffness": K,
        "gear_ratio": N,
        "rotor_inertia": J,
        "motor_damping": d,
    }
    return fa.Drive(**(values | changes))


def one_joint(**changes: Any) -> fa.Arm:
    """A rod of 2 kg, its centre 0.4 m out."""
    rod = fa.RigidBody(
        "rod",
        fa.Joint(drive=drive(**changes)),
        mass=2.0,
        com=(0.4, 0, 0),
        inertia=(0, 0.1, 0.1),
        nodes={"tip": (0.8, 0, 0)},
    )
    return fa.Arm([rod], gravity=(0, -9.81, 0))


def rates(x: Any, tau: float, D: float = 0.0) -> Any:
    q, th, qd, thd = x
    shaft = K * (q - th / N) + D * (qd - thd / N)
    return [qd, thd, (-shaft - GC * np.cos(q)) / I, (tau + shaft / N - d * thd) / J]


def by_hand(law: Any, x0: Any, t: Any, D: float = 0.0) -> Any:
    """Motion of the plant by hand under a law of the package, (len(t), 4)."""

    def f(t: float, x: Any) -> Any:
        return rates(x, law(t, x[:2], x[2:])[0], D)

    found = solve_ivp(f, t[[0, -1]], x0, "DOP853", t, rtol=1e-9, atol=1e-11)
    assert found.success
    return found.y.T


def start(q: float) -> Any:
    """At rest in equilibrium: shaft twisted by gravity."""
    return np.array([q, N * (q + GC * np.cos(q) / K), 0.0, 0.0])


def flat(t: float) -> float:
    """Force of the motor for a motion of the link, by hand: four rates of q."""
    q, v, a, j, s = (float(x[0]) for x in PATH.derivatives(t))
    sin, cos = np.sin(q), np.cos(q)
    F = I * a + GC * cos
    F1 = I * j - GC * sin * v
    F2 = I * s - GC * (cos * v**2 + sin * a)
    return J * N * (a + F2 / K) + d * N * (v + F1 / K) + F / N


def test_feedforward_is_the_force_of_the_flat_output() -> None:
    arm, t = one_joint(), np.linspace(-0.1, 1.1, 25)
    motion = np.swapaxes([PATH.derivatives(s) for s in t], 0, 1)
    made = control.drive_feedforward(arm, *motion)
    wanted = np.array([flat(s) for s in t])
    assert_allclose(made.tau[:, 0], wanted, rtol=0, atol=1e-10 * abs(wanted).max())
    # without damping of the motor as well
    bare = control.drive_feedforward(one_joint(motor_damping=0.0), *motion)
    less = wanted - d * made.qd[:, 1]
    assert_allclose(bare.tau[:, 0], less, rtol=0, atol=1e-9 * abs(wanted).max())
    # it moves the plant that is written by hand
    x = by_hand(lambda t, q, qd: [flat(t)], start(0.2), np.linspace(0.0, 1.0, 11))
    at = [PATH.derivatives(s) for s in np.linspace(0.0, 1.0, 11)]
    assert_allclose(x[:, 0], [p[0][0] for p in at], rtol=0, atol=1e-8)
    motion = np.swapaxes(at, 0, 1)
    made = control.drive_feedforward(arm, *motion)
    assert_allclose(x[:, :2], made.q, rtol=0, atol=1e-6)
    assert_allclose(x[:, 2:], made.qd, rtol=0, atol=1e-5)


@each("D", [0.0, 2.0])
def test_exact_linearization_follows_to_the_error_of_the_integrator(D: float) -> None:
    """Order four, or three through a damped shaft, on the plant by hand."""
    law = control.Inversion(one_joint(damping=D), PATH.derivatives, 10.0)
    assert law.order == (3 if D else 4)
    t = np.linspace(0.0, 0.6, 4)
    x = by_hand(law, start(0.2), t, D)
    wanted = np.array([PATH(s).q[0] for s in t])
    assert_allclose(x[:, 0], wanted, rtol=0, atol=1e-8)
    # errors decay as its gains say, and the twist of a damped shaft with -K / D
    law = law.replace(desired=[0.5], bandwidth=8.0, damping_ratio=0.5)
    x, h = start(0.5), 1e-5 * np.diag([1.0, N, 1.0, N])

    def rate(x: Any) -> Any:
        return np.array(rates(x, law(0.0, x[:2], x[2:])[0], D))

    A = np.transpose([rate(x + e) - rate(x - e) for e in h]) / (2.0 * h.diagonal())
    second = [1.0, 8.0, 64.0]
    rest = np.polymul([1.0, 8.0], [1.0, K / D]) if D else second
    assert_allclose(np.poly(A), np.polymul(second, rest), rtol=1e-5)


def pan_tilt(**changes: Any) -> fa.Arm:
    """Two joints whose axes are orthogonal: no rotor turns with its carrier."""
    bodies = [
        fa.RigidBody(
            name,
            fa.Joint("revolute", axis=axis, drive=drive(**changes), **on),
            mass=2.0,
            com=(0.4, 0, 0.05),
            inertia=(0.02, 0.1, 0.09),
            nodes={"tip": (0.8, 0, 0)},
        )
        for name, axis, on in (
            ("pan", [0, 0, 1], {}),
            ("tilt", [0, 1, 0], {"parent": "pan", "node": "tip"}),
        )
    ]
    return fa.Arm(bodies, gravity=(0, 0, -9.81))


def tracked(arm: fa.Arm, law: Any, path: Any, last: float, step: float) -> Any:
    """Largest error of the joints of a run from rest."""
    n = arm.nu
    q0 = fa.equilibrium(arm, np.r_[path(0.0).q, np.zeros(arm.nq - n)]).q
    t = np.linspace(0.0, last, 13)
    run = fa.simulate(arm, q0, np.zeros(arm.nv), t, torque=law, max_step=step)
    assert run.success
    return abs(run.q[:, :n] - [path(s).q for s in t]).max()


def test_two_joints_with_coupled_links() -> None:
    """Spong's model is exact here: error of Runge-Kutta, of fourth order."""
    path = control.RestToRest([0.2, 0.2], [1.0, -0.7], 0.6, degree=9)
    arm = pan_tilt()

    def torque(t: float, q: Any, qd: Any) -> Any:
        return control.drive_feedforward(arm, *path.derivatives(t)).tau

    law = control.Inversion(arm, path.derivatives, 12.0)
    for f in (torque, law):
        coarse = tracked(arm, f, path, 0.6, 6e-3)
        fine = tracked(arm, f, path, 0.6, 3e-3)
        assert fine < 5e-8
        assert 10.0 < coarse / fine < 24.0
    damped = control.Inversion(pan_tilt(damping=2.0), path.derivatives, 12.0)
    assert tracked(damped.arm, damped, path, 0.6, 3e-3) < 5e-8


def planar(J: float, N: float, K: float = 300.0) -> fa.Arm:
    """Two joints in a plane: the second rotor turns with the first link."""
    chain, own = fa.library.planar_chain(2), fa.Drive(K, gear_ratio=N, rotor_inertia=J)
    return chain.replace(
        bodies=[b.replace(joint=b.joint.replace(drive=own)) for b in chain.bodies]
    )


def planar_rates(x: Any, tau: Any, J: float, N: float, K: float) -> Any:
    """Two uniform rods of 1 kg and 1 m under gravity, rotors with all their motion."""
    q, th, v, w = x.reshape(4, 2)
    c, s = np.cos(q[1]), np.sin(q[1])
    h = 0.5 * s
    M = np.zeros((4, 4))
    M[:2, :2] = [[5.0 / 3.0 + c, 1.0 / 3.0 + 0.5 * c], [1.0 / 3.0 + 0.5 * c, 1.0 / 3.0]]
    M[0, 0] += J
    M[2, 2] = M[3, 3] = M[0, 3] = M[3, 0] = J
    twist = K * (q - th / N)
    g2 = 0.5 * 9.81 * np.cos(q.sum())
    load = [-h * v[1] * (2 * v[0] + v[1]) + 1.5 * 9.81 * np.cos(q[0]) + g2]
    load.append(h * v[0] ** 2 + g2)
    right = np.concatenate([-np.array(load) - twist, tau + twist / N])
    return np.concatenate([v, w, np.linalg.solve(M, right)])


def test_rotors_that_push_their_carriers() -> None:
    """Planar arm by hand: what is left out is small, open loop and closed."""
    path = control.RestToRest([0.2, 0.2], [1.0, -0.7], 1.0, degree=9)
    arm = planar(1e-5, 100.0)
    rng = np.random.default_rng(1)
    x, tau = rng.normal(size=8) * [1, 1, 100, 100, 1, 1, 100, 100], rng.normal(size=2)
    assert_allclose(
        planar_rates(x, tau, 1e-5, 100.0, 300.0)[4:],
        fa.forward_dynamics(arm, x[:4], x[4:], tau),
        rtol=1e-8,
    )
    law = control.Inversion(arm, path.derivatives, 10.0)

    def open_loop(t: float, q: Any, qd: Any) -> Any:
        return control.drive_feedforward(arm, *path.derivatives(t)).tau

    q0 = fa.equilibrium(arm, [0.2, 0.2, 0.0, 0.0]).q
    t = np.linspace(0.0, 1.0, 6)
    for f, bound in ((law, 5e-5), (open_loop, 2.5e-5)):
        found = solve_ivp(
            lambda t, x, f=f: planar_rates(x, f(t, x[:4], x[4:]), 1e-5, 100.0, 300.0),
            (0.0, 1.0),
            np.r_[q0, np.zeros(4)],
            t_eval=t,
            rtol=1e-6,
            atol=1e-8,
        )
        wanted = np.array([path(s).q for s in t])
        assert abs(found.y[:2].T - wanted).max() < bound
    # through damped shafts, and worse without the fourth rate of the motion
    own = fa.Drive(3e3, gear_ratio=100.0, rotor_inertia=1e-5, damping=30.0)
    damped = arm.replace(
        bodies=[b.replace(joint=b.joint.replace(drive=own)) for b in arm.bodies]
    )
    motions = path.derivatives, lambda t: path.derivatives(t)[:4]
    lead, bare = (
        tracked(damped, control.Inversion(damped, m, 10.0), path, 1.0, 5e-3)
        for m in motions
    )
    assert lead < 2e-5, lead
    assert bare > 5.0 * lead, (bare, lead)


def test_stable_inversion_moves_the_arm_by_hand() -> None:
    """`track` counts rotors on moving links in full."""
    arm = planar(1e-4, 50.0)
    ends = [fa.tip_pose(arm, [*q, 0.0, 0.0])[:3, 3] for q in ([0.3, 0.8], [0.6, 0.6])]
    line = fa.optimize.paths.line(*ends)
    errors = []
    for n in (60, 120):
        found = stable_inversion(
            arm,
            line,
            1.0,
            law="ninth_degree",
            start=[0.3, 0.8],
            search={"intervals": n},
            check=False,
        )
        assert found.success

        def rate(t: float, x: Any, found: Any = found) -> Any:
            tau = [np.interp(t, found.t, column) for column in found.tau.T]
            return planar_rates(x, np.array(tau), 1e-4, 50.0, 300.0)

        x0 = np.r_[found.q[0], np.zeros(4)]
        options: Any = {"rtol": 1e-7, "atol": 1e-9, "max_step": 1.0 / n}
        x = solve_ivp(rate, found.t[[0, -1]], x0, **options).y[:2, -1]
        tip = fa.tip_pose(arm, [*x, 0.0, 0.0])[:3, 3]
        errors.append(abs(tip - ends[1]).max())
    assert errors[0] < 4e-5
    assert errors[1] < 2e-5


@each("compensation", ["set point", "current", "gravity"])
def test_torque_feedback_scales_the_rotor(compensation: str) -> None:
    """J_d th'' + J_d / J d th' + shaft / N = u, all else as it is."""
    law = control.SetPointPD(
        one_joint(damping=0.5), 0.3, 0.01, [0.5], compensation, rotor_inertia=2e-5
    )
    rng = np.random.default_rng(2)
    for x in rng.normal(size=(3, 4)) * [1.0, N, 1.0, N]:
        q, th, qd, thd = x
        at = {"set point": 0.5, "gravity": q, "current": th / N}[compensation]
        if compensation == "current":  # K (at - th / N) + GC cos at = 0
            for _ in range(30):
                at = th / N - GC * np.cos(at) / K
        u = 0.3 * (start(0.5)[1] - th) - 0.01 * thd + GC * np.cos(at) / N
        shaft = K * (q - th / N) + 0.5 * (qd - thd / N)
        spin = (u + shaft / N - 2e-5 / J * d * thd) / 2e-5
        made = rates(x, law(0.0, x[:2], x[2:])[0], 0.5)
        assert_allclose(made[3], spin, rtol=1e-6)


def test_torque_feedback_damps_what_heavy_rotors_hide() -> None:
    """Damping ratios of the poles by hand: 0.011 and 0.395."""
    arm = one_joint(rotor_inertia=2e-3, motor_damping=0.0)
    worst = []
    for inertia in (None, 2e-4):
        law = control.SetPointPD(arm, 0.1, 0.01, [0.5], rotor_inertia=inertia)

        def rate(x: Any, law: Any = law) -> Any:
            q, qd = x[..., :2], x[..., 2:]
            qdd = fa.forward_dynamics(arm, q, qd, law(0.0, q, qd))
            return np.concatenate([qd, qdd], axis=-1)

        x, h = np.r_[law.q, 0.0, 0.0], 1e-6 * np.eye(4)
        poles = np.linalg.eigvals((rate(x + h) - rate(x - h)).T / 2e-6)
        worst.append((-poles.real / abs(poles)).min())
    assert_allclose(worst, [0.011, 0.395], atol=1e-3)


def test_laws_of_elastic_joints_need_drives_and_smooth_paths() -> None:
    z, path = [0.0, 0.0], control.RestToRest([0.0, 0.0], [1.0, 1.0], 1.0)
    arm, first = pan_tilt(), pan_tilt().bodies[0]
    stiff = arm.replace(
        bodies=[first.replace(joint=first.joint.replace(drive=None)), arm.bodies[1]]
    )
    argument_refused(
        ["'pan' is rigid and 'tilt' elastic", "outputs 'actuators'"],
        lambda: control.Inversion(stiff, z),
    )
    control.Inversion(stiff, z, outputs="actuators")
    damped = drive(damping=1.0)
    mixed = arm.replace(
        bodies=[first.replace(joint=first.joint.replace(drive=damped)), arm.bodies[1]]
    )
    argument_refused(
        ["shaft of 'tilt' is not damped", "one rate earlier"],
        lambda: control.Inversion(mixed, z),
    )
    argument_refused(
        ["motion at t = 0 is Motion", "4 rates", "degree=9"],
        lambda: control.Inversion(arm, path),
    )
    argument_refused(
        ["mix joints behind elastic shafts with motors"],
        lambda: control.Inversion(arm, z, outputs=np.eye(2, 4) + np.eye(2, 4, 2)),
    )
    motor = fa.Drive(100.0, gear_ratio=20.0, rotor_inertia=2e-4)
    heavy = FLEX.replace(
        bodies=[b.replace(joint=b.joint.replace(drive=motor)) for b in FLEX.bodies]
    )
    argument_refused(
        ["rotors push the links", "grows with +"],
        lambda: control.Inversion(heavy, z),
    )
    argument_refused(
        ["rotor_inertia is given", "'pan' has no motor", "elastic drives in all"],
        lambda: control.SetPointPD(stiff, 99.0, 1.0, z, rotor_inertia=1e-5),
    )
    argument_refused(
        ["torques of the shafts", "use the law itself"],
        control.SetPointPD(arm, 9.0, 1.0, z, rotor_inertia=1e-5).feedback,
    )
    five = [[0.0, 0.0]] * 5
    argument_refused(
        ["has modes", "optimize.track"], lambda: control.drive_feedforward(FLEX, *five)
    )
    argument_refused(
        ["shaft of 'pan' is damped"], lambda: control.drive_feedforward(mixed, *five)
    )
    argument_refused(
        ["snap has shape (3,)"],
        lambda: control.drive_feedforward(arm, *five[:4], [0.0] * 3),
    )
    argument_refused(
        ["degree is 7"], lambda: control.RestToRest([0.0], [1.0], 1.0, degree=7)
    )
