"""Everything of `flexarm.control` with drives: it works, or says why it cannot.

Loops are simulated and held against SciPy on `forward_dynamics`, with each law written
once more in a few lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from drive_cases import driven_tree
from each import each
from few_modes import planar_chain
from numpy.testing import assert_allclose
from refusals import argument_refused
from scipy.integrate import solve_ivp
from scipy.linalg import solve_continuous_are

import flexarm as fa
from flexarm import control
from flexarm.control.composite import fast_subsystem
from flexarm.control.inversion import link_angles
from flexarm.reference import patent_loop

N, K, J = 20.0, 200.0, 1e-3
TARGET = np.array([0.3, -0.5])
MOTORS = [2, 3]
DT, SAMPLES = 0.005, 5


def two_links(stiffness: float, **changes: Any) -> fa.Arm:
    """A planar chain, each joint with a motor."""
    chain = planar_chain(2, damping=0.1, **changes)
    shaft = {} if np.isinf(stiffness) else {"damping": 2.0}
    own = fa.Drive(stiffness, gear_ratio=N, rotor_inertia=J, **shaft)
    return chain.replace(
        bodies=[b.replace(joint=b.joint.replace(drive=own)) for b in chain.bodies]
    )


ARMS = {
    "elastic": two_links(K),
    "elastic, flexible links": two_links(K, n_modes=1, bending_stiffness=50.0),
    "rigid": two_links(np.inf).replace(couplings="constrained"),
}
ELASTIC, FLEXIBLE, GEARED = ARMS.values()


def at(arm: fa.Arm, joints: Any) -> Any:
    """Equilibrium with these joints."""
    found = fa.equilibrium(arm, [*joints, *np.zeros(arm.nq - 2)])
    return found.check(stable=False)


def simulated(arm: fa.Arm, law: Any, q0: Any, **options: Any) -> Any:
    t = DT * np.arange(SAMPLES + 1)
    options = {"sample_time": DT, "max_step": DT / 20} | options
    run = control.simulate_loop(arm, law, q0, np.zeros(arm.nv), t, **options)
    assert run.success
    return run


def by_scipy(arm: fa.Arm, own: Any, q0: Any) -> Any:
    """Positions at the samples, forces held between them."""
    n, x = arm.nv, np.r_[q0, np.zeros(arm.nv)]
    found = [x[:n]]
    for k in range(SAMPLES):
        tau = own(k * DT, x[:n], x[n:])

        def rate(t: float, x: Any, tau: Any = tau) -> Any:
            return np.r_[x[n:], fa.forward_dynamics(arm, x[:n], x[n:], tau)]

        x = solve_ivp(rate, (0.0, DT), x, "DOP853", rtol=1e-7, atol=1e-9).y[:, -1]
        found.append(x[:n])
    return np.array(found)


def compare(
    arm: fa.Arm, law: Any, own: Any, rtol: float = 1e-5, **options: Any
) -> None:
    q0 = at(arm, TARGET + np.array([0.1, -0.1])).q
    run, wanted = simulated(arm, law, q0, **options), by_scipy(arm, own, q0)
    moved = abs(wanted - wanted[0]).max(axis=0)
    assert moved[0] > 1e-5
    assert (abs(run.q - wanted).max(axis=0) < rtol * moved + 1e-8).all()


# laws and their own few lines


def set_point(arm: fa.Arm) -> None:
    rest = at(arm, TARGET)
    held = rest.tau[MOTORS]

    def own(t: float, q: Any, qd: Any) -> Any:
        return 0.5 * (rest.q[MOTORS] - q[MOTORS]) - 0.05 * qd[MOTORS] + held

    law = control.SetPointPD(arm, 0.5, 0.05, TARGET)
    assert_allclose(rest.q[:2], TARGET, atol=1e-12)
    compare(arm, law, own)


def joint_feedback(arm: fa.Arm) -> None:
    """In continuous time, in `simulate`."""
    law = control.SetPointPD(arm, 0.5, 0.05, TARGET)
    q0, t = at(arm, TARGET + 0.1).q, np.linspace(0.0, 0.05, 3)
    start = q0, np.zeros(arm.nv), t
    runs = [
        fa.simulate(arm, *start, torque=f, max_step=5e-4) for f in (law, law.feedback())
    ]
    assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-10)


def strain(arm: fa.Arm) -> None:
    rest, S = at(arm, TARGET), np.zeros((2, arm.nv))
    for i in range(2):
        if arm.bodies[i].n_modes:
            gauge = ("strain", f"link{i + 1}", 0.0)
            S[i] = fa.linearize(arm, rest.q, outputs=gauge).C[0, : arm.nv]
    held = rest.tau[MOTORS]

    def own(t: float, q: Any, qd: Any) -> Any:
        speed = 3.0 * (rest.q[MOTORS] - q[MOTORS]) + N * 0.5 * (S @ (q - rest.q))
        return held + 0.1 * (speed - qd[MOTORS])

    law = control.StrainFeedback(arm, TARGET, 0.1, 3.0, 0.5)
    compare(arm, law, own)
    compare(arm, law.controller(DT), own, sample_time=None)


def independent(arm: fa.Arm) -> Any:
    """States of a linear model among (q, qd): motors of rigid gears follow."""
    if not arm.constraints:
        return np.arange(2 * arm.nv)
    return np.array([0, 1, 4, 5])


def optimal(arm: fa.Arm, q: Any) -> tuple[Any, Any]:
    """Gains on (q, qd) by SciPy."""
    model = fa.linearize(arm, q, settle=True)
    kept = independent(arm)
    n = len(kept)
    R = np.eye(2) * 10.0
    X = solve_continuous_are(model.A, model.B, np.eye(n), R)
    gains = np.zeros((2, 2 * arm.nv))
    gains[:, kept] = np.linalg.solve(R, model.B.T @ X)
    return model, gains


def regulator(arm: fa.Arm) -> None:
    rest = at(arm, TARGET)
    model, gains = optimal(arm, rest.q)

    def own(t: float, q: Any, qd: Any) -> Any:
        return rest.tau[MOTORS] - gains @ np.r_[q - rest.q, qd]

    law = control.lqr(model, np.ones(model.n_states), [10.0, 10.0], arm=arm)
    compare(arm, law, own)
    compare(arm, law.controller(DT), own, sample_time=None)


def schedule(arm: fa.Arm) -> None:
    grid = np.array([-1.0, -0.5, 0.0])
    table = [optimal(arm, [0.0, a, *np.zeros(arm.nq - 2)])[1] for a in grid]
    rest = at(arm, TARGET)

    def own(t: float, q: Any, qd: Any) -> Any:
        gains = np.array(
            [
                [np.interp(q[1], grid, entry) for entry in row]
                for row in np.moveaxis(table, 0, -1)
            ]
        )
        return rest.tau[MOTORS] - gains @ np.r_[q - rest.q, qd]

    n = len(independent(arm))
    law = control.scheduled_lqr(arm, {"link2": grid}, np.ones(n), [10.0, 10.0], TARGET)
    compare(arm, law, own)
    # a motion takes its rates from joints and motors, and leaves the state alone
    moving = law.replace(target=lambda t: (TARGET, np.array([1.0, 2.0])))
    qd = np.r_[1.0, 2.0, N, 2.0 * N, np.zeros(arm.nv - 4)]
    given = qd.copy()
    assert_allclose(moving(0.0, rest.q, qd), law(0.0, rest.q, 0 * qd), rtol=1e-9)
    assert (qd == given).all()


def composite(arm: fa.Arm) -> None:
    """In r = motor / N, and twists and modes."""
    nf = 0 if arm is GEARED else arm.nv - 2
    T = np.zeros((arm.nv, 2 + nf))
    T[:2, :2], T[2:4, :2] = np.eye(2), N * np.eye(2)
    if nf:
        T[:2, 2:4] = np.eye(2)
        T[4:, 4:] = np.eye(nf - 2)
    rest = at(arm, TARGET).q

    def own(t: float, q: Any, qd: Any) -> Any:
        M = T.T @ fa.mass_matrix(arm, q) @ T
        M, C = M[:2, :2], M[:2, 2:]
        z, zd = np.linalg.pinv(T) @ (q - rest), np.linalg.pinv(T) @ qd
        p = z[:2] + np.linalg.solve(M, C @ z[2:])
        pd = zd[:2] + np.linalg.solve(M, C @ zd[2:])
        slow = M @ (-2.0 * 4.0 * pd - 16.0 * p)
        bias = (T.T @ fa.bias_forces(arm, q, qd))[:2]
        return (slow + bias + 0.5 * (C @ zd[2:])) / N

    law = control.CompositeControl(arm, TARGET, 4.0, fast_damping=0.5)
    # of a bent link the law finds the equilibrium up to a few corrections
    compare(arm, law, own, 5e-3 if arm is FLEXIBLE else 1e-5)
    # poles of the loop about rest
    scales = law.time_scales(rest)
    if arm.constraints:
        assert scales.separation == np.inf
        assert_allclose(scales.poles, -4.0, rtol=1e-6)
        return
    n, h = arm.nv, 1e-6

    def rate(x: Any) -> Any:
        return np.r_[
            x[n:], fa.forward_dynamics(arm, x[:n], x[n:], own(0, x[:n], x[n:]))
        ]

    x = np.r_[rest, np.zeros(n)]
    A = np.transpose([rate(x + h * e) - rate(x - h * e) for e in np.eye(2 * n)]) / 2e-6
    for pole in np.linalg.eigvals(A):
        assert abs(scales.poles - pole).min() < 1e-4 * max(1.0, abs(pole))


def inversion(arm: fa.Arm) -> None:
    """Motors follow; joints behind shafts too, in the third rate."""
    rest = at(arm, TARGET).q[MOTORS]

    def own(t: float, q: Any, qd: Any) -> Any:
        v = -2.0 * 5.0 * qd[MOTORS] - 25.0 * (q[MOTORS] - rest)
        a = fa.forward_dynamics(arm, q, qd, np.zeros(2))[MOTORS]
        reach = [fa.forward_dynamics(arm, q, qd, e)[MOTORS] - a for e in np.eye(2)]
        return np.linalg.solve(np.transpose(reach), v - a)

    law = control.Inversion(arm, rest, 5.0, outputs="actuators")
    assert law.order == 2
    compare(arm, law, own)
    if arm is GEARED:
        geared = control.Inversion(arm, TARGET, 5.0)
        compare(arm, geared, own)
        return
    if arm is FLEXIBLE:  # the second motor is on the tip of a link
        argument_refused(["rotors push"], lambda: control.Inversion(arm, TARGET))
        return
    law = control.Inversion(arm, TARGET, 5.0)
    assert law.order == 3
    compare(arm, law, law)
    q0 = at(arm, TARGET + 0.1).q
    t = np.linspace(0.0, 2.0, 3)
    run = fa.simulate(arm, q0, np.zeros(4), t, torque=law, max_step=5e-3)
    assert abs(run.q[-1, :2] - TARGET).max() < 1e-2


def gaussian(arm: fa.Arm) -> None:
    """Observer of encoders on the motors, in matrices of the package."""
    rest = at(arm, TARGET)
    model = fa.linearize(arm, rest.q, outputs="motor positions")
    n = model.n_states
    regulator = control.lqr(model, np.ones(n), [10.0, 10.0], dt=DT, arm=arm)
    observer = control.kalman_filter(model, 0.1 * np.eye(n), [1e-3, 1e-3], dt=DT)
    A, B, C = observer.model.A, observer.model.B, observer.model.C
    z = np.zeros(n)

    def own(t: float, q: Any, qd: Any) -> Any:
        nonlocal z
        y = q[MOTORS] - rest.q[MOTORS]
        x = z + observer.gain @ (y - C @ z)
        u = -regulator.K @ x
        z = A @ x + B @ u
        return rest.tau[MOTORS] + u

    compare(arm, control.lqg(regulator, observer), own, sample_time=None)


def observed(arm: fa.Arm) -> None:
    """A filter that begins right, on exact samples, sees the true state."""
    q0 = at(arm, TARGET + np.array([0.1, -0.1])).q
    law = control.SetPointPD(arm, 0.5, 0.05, TARGET)
    n = 2 * arm.nv
    observer = control.ExtendedKalmanFilter(
        arm,
        "motor positions",
        np.full(n, 1e-3),
        [1e-6] * 2,
        DT,
        q0,
        np.zeros(arm.nv),
        max_step=DT / 20,
    )
    run = simulated(arm, control.ObservedLaw(law, observer), q0, sample_time=None)
    assert_allclose(run.q, simulated(arm, law, q0).q, rtol=0, atol=1e-9)
    assert repr(observer) == (
        f"<ExtendedKalmanFilter of {arm.name!r}: an estimate of {n} states from 2 "
        "outputs each 0.005 s>"
    )


def plant(arm: fa.Arm) -> None:
    q0 = at(arm, TARGET).q
    made = patent_loop.SimulatedPlant(arm, q0, np.zeros(arm.nv), max_step=DT / 20)
    seen = [made(k * DT, [0.1, -0.05]) for k in range(SAMPLES + 1)]
    wanted = by_scipy(arm, lambda t, q, qd: np.array([0.1, -0.05]), q0)
    assert_allclose([s.q for s in seen], wanted[:, :2], rtol=0, atol=1e-6)


def subsystem(arm: fa.Arm) -> None:
    """Frequencies of all free motion, of which rigid ones are zero."""
    fast = fast_subsystem(arm, np.zeros(arm.nq))
    M, S = fa.mass_matrix(arm, np.zeros(arm.nq)), arm.stiffness_matrix
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, S)).real)[2:]
    nf = len(squares)
    assert fast.n_states == 2 * nf
    weightless = arm.replace(gravity=(0, 0, 0))
    still = fast_subsystem(weightless, np.zeros(arm.nq)).A[nf:, :nf]
    assert_allclose(np.sort(-np.linalg.eigvals(still).real), squares, rtol=1e-6)
    assert fast.inputs[0] == "link1.motor fast force"
    assert fast.outputs[:2] == ("link1.shaft", "link2.shaft")
    weight = control.energy_weight(arm, np.zeros(arm.nq), fast=True)
    control.lqr(fast, weight, [10.0, 10.0])


def energy(arm: fa.Arm) -> None:
    rng, kept = np.random.default_rng(1), independent(arm)
    x = 1e-4 * rng.normal(size=2 * arm.nv)
    if arm is GEARED:
        x[2:4], x[6:] = N * x[:2], N * x[4:6]
    q, qd = x[: arm.nv], x[arm.nv :]
    still = arm.replace(gravity=(0, 0, 0))
    own = 2.0 * fa.energy(still, q, qd) + 3.0 * (q[MOTORS] ** 2).sum()
    Q = control.energy_weight(arm, q, joint_stiffness=3.0)
    assert_allclose(x[kept] @ Q @ x[kept], own, rtol=1e-5)


def feedforward(arm: fa.Arm) -> None:
    """Rigid gears: inverse dynamics, rotors at N times the speed of the joints."""
    motion = np.random.default_rng(2).normal(size=(5, 3, 2))
    made = control.drive_feedforward(arm, *motion)
    full = [np.concatenate([x, N * x], axis=-1) for x in motion[:3]]
    tau = fa.inverse_dynamics(arm, *full)
    assert_allclose(made.tau, tau[..., :2] / N + tau[..., 2:], rtol=1e-9)
    assert_allclose(made.q, full[0])


def rows(arm: fa.Arm) -> None:
    E = link_angles(arm, 0.5)
    assert_allclose(E[:, :4], np.eye(2, 4))
    model = fa.linearize(
        arm,
        np.zeros(arm.nq),
        outputs=[fa.outputs.tip_angle(f"link{k}.tip", 0.5) for k in (1, 2)],
    )
    kept = independent(arm)
    kept = kept[kept < arm.nv]
    assert_allclose(model.C[:, : len(kept)], E[:, kept], atol=1e-12)


def deformations(arm: fa.Arm) -> None:
    q = np.random.default_rng(3).normal(size=arm.nq)
    u = patent_loop.node_deformations(arm, q)
    assert u[arm.node("link1", "base")].any() is np.False_
    assert u.any() == (arm is FLEXIBLE)


MOTION = control.RestToRest([0.0, 0.0], TARGET, 1.0)
Check = Callable[[fa.Arm], None]


def refuses(words: list[str], call: Callable[[fa.Arm], Any]) -> Check:
    def check(arm: fa.Arm) -> None:
        argument_refused(words, lambda: call(arm))

    return check


def predictive(arm: fa.Arm) -> None:
    """Without limits it is the regulator."""
    rest = at(arm, TARGET)
    model = fa.linearize(arm, rest.q)
    weights = np.ones(model.n_states), [10.0, 10.0]
    law = control.PredictiveControl(model, *weights, dt=DT)
    gains = control.lqr(model, *weights, dt=DT).K

    def own(t: float, q: Any, qd: Any) -> Any:
        return rest.tau[MOTORS] - gains @ np.r_[q - rest.q, qd]

    compare(arm, law, own, sample_time=None)


def residual(arm: fa.Arm) -> None:
    """At rest forces on the motors are seen, and none on joints and modes."""
    rest, external = at(arm, TARGET), np.array([0.03, -0.02])
    observer = control.DisturbanceObserver(arm, 20.0, DT)
    for _ in range(200):
        found = observer.update(rest.q, np.zeros(arm.nv))
        observer.predict(rest.tau[MOTORS] - external)
    wanted = np.zeros(arm.nv)
    wanted[MOTORS] = external
    # the model moves in a sample under what is not held against
    assert_allclose(found, wanted, atol=1e-4)


adaptive = refuses(
    ["motors", "shafts keep its forces from the links"],
    lambda arm: control.AdaptiveControl(arm, MOTION, 1.0, 1.0, 1.0),
)
manipulator = refuses(
    ["motors behind flexible joints, on which its forces would act"],
    lambda arm: patent_loop.ManipulatorController(
        arm, MOTION, np.zeros(arm.nq), np.zeros(arm.nv)
    ),
)
followers = refuses(
    ["follow the others by couplings or rigid gears", "elastic shafts"],
    lambda arm: control.PredictiveControl(
        fa.linearize(arm, at(arm, TARGET).q), np.ones(4), [10.0] * 2, dt=DT
    ),
)
tied = refuses(
    ["has couplings", "elastic shafts for rigid gears"],
    lambda arm: control.DisturbanceObserver(arm, 20.0, DT),
)
no_filter = refuses(
    ["couplings", "elastic shafts for rigid gears"],
    lambda arm: control.ExtendedKalmanFilter(
        arm, "joints", np.ones(8), [1.0] * 2, DT, np.zeros(4), np.zeros(4)
    ),
)
no_fast = refuses(
    ["no modes", "elastic shafts"],
    lambda arm: fast_subsystem(arm, np.zeros(arm.nq)),
)
damped = refuses(
    ["shaft of 'link1' is damped", "optimize.track"],
    lambda arm: control.drive_feedforward(arm, *[TARGET] * 5),
)
bent = refuses(
    ["has modes", "optimize.track"],
    lambda arm: control.drive_feedforward(arm, *[TARGET] * 5),
)

# with elastic joints and rigid links, elastic joints and flexible links, rigid gears
TABLE: dict[str, tuple[Check, Check, Check]] = {
    "AdaptiveControl": (adaptive,) * 3,
    "CompositeControl": (composite,) * 3,
    "DisturbanceObserver": (residual, residual, tied),
    "ExtendedKalmanFilter": (observed, observed, no_filter),
    "GainSchedule": (schedule,) * 3,
    "Inversion": (inversion,) * 3,
    "JointFeedback": (joint_feedback,) * 3,
    "LinearController": (gaussian,) * 3,
    "ManipulatorController": (manipulator,) * 3,
    "PredictiveControl": (predictive, predictive, followers),
    "SetPointPD": (set_point,) * 3,
    "SimulatedPlant": (plant,) * 3,
    "StateFeedback": (regulator,) * 3,
    "StrainFeedback": (strain,) * 3,
    "drive_feedforward": (damped, bent, feedforward),
    "energy_weight": (energy,) * 3,
    "fast_subsystem": (subsystem, subsystem, no_fast),
    "link_angles": (rows,) * 3,
    "node_deformations": (deformations,) * 3,
}
# parts of those above, and their results
PARTS = {
    "ComputedTorque": "ManipulatorController",
    "Comparison": "ManipulatorController",
    "ControlStep": "ManipulatorController",
    "DriveMotion": "drive_feedforward",
    "InternalDynamics": "Inversion",
    "JointSensors": "SimulatedPlant",
    "KalmanFilter": "LinearController",
    "LoopRun": "SetPointPD",
    "Motion": "Inversion",
    "ObservedLaw": "ExtendedKalmanFilter",
    "RestToRest": "Inversion",
    "Sensed": "SimulatedPlant",
    "Spillover": "LinearController",
    "TimeScales": "CompositeControl",
    "kalman_filter": "LinearController",
    "lqg": "LinearController",
    "lqr": "StateFeedback",
    "scheduled_lqr": "GainSchedule",
    "simulate_loop": "SetPointPD",
    "spillover": "LinearController",
}
# they see models, frequencies and matrices alone
NO_ARM = {
    "KalmanUpdate",
    "Shaper",
    "export_c",
    "kalman_predict",
    "kalman_update",
    "quadratic_weights",
}


def test_the_table_has_all_names() -> None:
    assert set(PARTS.values()) <= set(TABLE)
    known = [*TABLE, *PARTS, *NO_ARM]
    assert len(known) == len(set(known))
    public = {name for name in control.__all__ if name not in known}
    assert not public, f"not in the table of drives: {sorted(public)}"


@each("seed", range(8))
def test_random_arms(seed: int) -> None:
    """Motors with ratios of either sign, sliding, locked, on some of the joints."""
    arm = driven_tree(seed, 4, 2)
    if arm.nq != arm.nv:
        pytest.skip("subtracts positions")
    n, motors = arm.nu, arm.actuator_indices
    q, qd = 0.3 * np.random.default_rng(seed).normal(size=(2, arm.nv))
    law = control.Inversion(arm, np.zeros(n), 5.0, outputs="actuators", postures=q)
    made = fa.forward_dynamics(arm, q, qd, law(0.0, q, qd))[motors]
    v = -10.0 * qd[motors] - 25.0 * q[motors]
    assert_allclose(made, v, rtol=0, atol=1e-8 * abs(v).max())
    # a virtual power of the rigid motion: forces of motors by ratio, joints with them
    unit = np.zeros((n, arm.nv))
    unit[:, :n] = np.eye(n)
    for i, at in enumerate(motors):
        if at >= n:
            body = next(
                b
                for k, b in enumerate(arm.bodies)
                if arm.body_joint_slice(k).start == i and b.joint.n_dof
            )
            unit[i, at] = body.joint.drive.gear_ratio
    composite = control.CompositeControl(arm, np.zeros(n), 2.0, fast_damping=0.1)
    tau = composite(0.0, q, qd)
    still = composite.replace(bandwidth=0.0, fast_damping=0.0)(0.0, q, qd)
    assert_allclose(
        still * unit[np.arange(n), motors],
        unit @ fa.bias_forces(arm, q, qd),
        rtol=1e-9,
        atol=1e-9,
    )
    assert np.isfinite(tau).all()


@each("name", list(TABLE))
@each("kind", range(3), ids=ARMS)
def test_law(name: str, kind: int) -> None:
    TABLE[name][kind](list(ARMS.values())[kind])
