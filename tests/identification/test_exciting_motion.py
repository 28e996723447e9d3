"""Motions that show parameters: predicted deviations, limits, other motions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from arrays import Array
from each import each
from few_modes import few_modes
from scipy.integrate import solve_ivp
from scipy.stats import chi2

import flexarm as fa
from flexarm.errors import ArgumentError, ConvergenceWarning
from flexarm.identification import exciting_motion, identify, simulated_record
from flexarm.identification._records import signals_of, values_of
from flexarm.optimize import OptimalMotion

T = np.linspace(0.0, 4.0, 201)
P = np.array([0.3, 3.0, 0.03, 0.4])  # load, EI, damping ratio, friction
SIGMA = np.array([1e-3, 2e-5])
LIMITS = {"torque": 2.0, "velocity": 2.0, "position": 1.0}
OUTPUTS = ["joint positions", ("strain", "link", 0.0)]


def link(p: Any) -> fa.Arm:
    """One flexible link in a horizontal plane."""
    body = fa.beams.flexible_link(
        "link",
        length=0.7,
        mass_per_length=0.6,
        bending_stiffness=p[1],
        motions="bending y",
        n_modes=1,
        joint=fa.Joint(axis=(0, 0, 1), damping=p[3]),
        base_mass=0.5,
        base_inertia=0.02,
        damping_ratio=p[2],
        tip_mass=p[0],
    )
    return fa.Arm([body], gravity=(0, 0, 0))


@functools.cache
def excited() -> OptimalMotion:
    return exciting_motion(
        link, P, T, sigma=SIGMA, limits=LIMITS, outputs=OUTPUTS, seed=1
    )


def information(tau: Array, rtol: float = 1e-8) -> Array:
    """Of the parameters times P, by SciPy and central differences."""

    def signals(p: Array) -> Array:
        arm = link(p)
        nv = arm.nv

        def rates(t: float, x: Array) -> Array:
            force = np.array([np.interp(t, T, tau)])
            qdd = arm.forward_dynamics(x[:nv], x[nv:], force)
            return np.concatenate([x[nv:], qdd])

        run = solve_ivp(
            rates,
            (0.0, T[-1]),
            np.zeros(2 * nv),
            "RK45",
            T,
            rtol=rtol,
            atol=1e-2 * rtol,
        )
        strain = values_of(
            arm, signals_of(arm, OUTPUTS[1:])[0], run.y[:nv].T, run.y[nv:].T, None
        )[:, 0]
        return np.stack([run.y[0], strain], 1) / SIGMA

    J = [
        (signals(P * (1.0 + h)) - signals(P * (1.0 - h))).ravel() / 2e-3
        for h in 1e-3 * np.eye(len(P))
    ]
    return np.array(J) @ np.array(J).T


def other_motions() -> dict[str, Array]:
    """Forces of a chirp and of a motion to and back, as large as the limits allow."""
    T1 = T[-1]
    base = {
        "chirp": np.cos(2 * np.pi * (0.25 * T + 0.5 * 1.5 * T**2 / T1)),
        "to and back": np.sign(np.sin(2 * np.pi * T / T1)),
    }
    result = {}
    for name, tau in base.items():
        size = 2.0
        for _ in range(60):
            run = fa.simulate(
                link(P), [0.0, 0.0], [0.0, 0.0], T, torque=size * tau[:, np.newaxis]
            )
            if np.abs(run.qd[:, 0]).max() <= 2.0 and np.abs(run.q[:, 0]).max() <= 1.0:
                break
            size *= 0.95
        result[name] = size * tau
    return result


def scale_of(F: Array) -> float:
    """Geometric mean of the half axes of the region of confidence, in parts of P."""
    return float(np.exp(-0.5 * np.linalg.slogdet(F)[1] / len(F)))


def test_limits_hold_and_information_counts() -> None:
    """In a simulation by other steps; the objective is that of the covariance."""
    motion = excited()
    assert motion.success
    assert not motion.verification.excess
    most = np.abs(motion.tau).max(), np.abs(motion.qd[:, 0]).max()
    assert max(most) > 0.95 * 2.0  # a limit is active
    C = motion.excited.covariance / np.outer(P, P)
    half = 0.5 * np.linalg.slogdet(C)[1] / len(P)
    assert half == pytest.approx(motion.objective, abs=1e-6)
    assert motion.q[-1, 0] == pytest.approx(0.0, abs=0.05)
    run = fa.simulate(link(P), [0.0, 0.0], [0.0, 0.0], T, torque=motion.tau)
    np.testing.assert_allclose(run.q, motion.q, atol=1e-4)


@pytest.mark.slow
def test_predicted_deviations_are_those_of_an_integrator_of_scipy() -> None:
    """And the motion shows more than a chirp and a motion to and back."""
    motion = excited()
    F = information(motion.tau[:, 0])
    std = P * np.sqrt(np.diag(np.linalg.inv(F)))
    np.testing.assert_allclose(motion.excited.std, std, rtol=2e-3)
    others = {name: information(tau, 1e-6) for name, tau in other_motions().items()}
    assert scale_of(others["chirp"]) > 1.3 * scale_of(F)
    assert scale_of(others["to and back"]) > 3.0 * scale_of(F)


@few_modes()
@pytest.mark.slow
def test_estimates_scatter_as_predicted() -> None:
    """The sum of squares of 6 errors in predicted deviations, of all parameters."""
    motion = excited()
    run = fa.simulate(link(P), [0, 0], [0, 0], T, torque=motion.tau, max_step=0.005)
    inverse = np.linalg.inv(motion.excited.covariance)
    squares = []
    for seed in range(6):
        record = simulated_record(run, outputs=OUTPUTS, noise=SIGMA, seed=seed)
        found = identify(
            link,
            1.01 * P,
            record,
            sigma=SIGMA,
            outputs=OUTPUTS,
            max_step=0.005,
            search={"tolerance": 1e-6, "progress": False},
        )
        squares.append((found.p - P) @ inverse @ (found.p - P))
    low, high = chi2.ppf([1e-3, 1.0 - 1e-3], 4 * len(squares))
    assert low < sum(squares) < high


def test_base_parameters_of_a_rigid_arm() -> None:
    """Well conditioned forces within the limits; deviations from the regressor."""
    arm = fa.library.planar_chain(2, n_modes=0, gravity=(0, -9.81, 0))
    t = np.linspace(0.0, 3.0, 31)
    limits = {"torque": 200.0, "velocity": 2.0, "acceleration": 8.0}
    found = {
        criterion: exciting_motion(
            arm, None, t, sigma=0.5, limits=limits, criterion=criterion
        )
        for criterion in ("determinant", "condition")
    }
    for motion in found.values():
        assert motion.success
        assert not motion.verification.excess
        which = {"families": ("inertia", "joint")}
        columns = list(fa.base_parameters(arm, **which).independent)
        Y = fa.inertial_regressor(arm, motion.q, motion.qd, motion.qdd, **which)
        Y = Y[..., columns].reshape(-1, len(columns))
        std = 0.5 * np.sqrt(np.diag(np.linalg.inv(Y.T @ Y)))
        np.testing.assert_allclose(motion.excited.std, std, rtol=1e-6)
        assert motion.excited.condition == pytest.approx(np.linalg.cond(Y), rel=1e-6)
    conditions = [motion.excited.condition for motion in found.values()]
    assert conditions[1] < conditions[0]
    assert found["determinant"].excited.names == fa.base_parameters(arm, **which).names


@each(
    "change, words",
    [
        ({"limits": None}, "limits has none of torque, position, velocity"),
        ({"limits": {"position": ([0.0], [1.0])}}, "position of 'link' at rest at q0"),
        ({"harmonics": [1, 40]}, "harmonics is .* from 1 to 25"),
        ({"criterion": "trace"}, "criterion"),
        ({"t": [0.0, 0.1, 0.3]}, "evenly spaced"),
        ({"make_arm": link(P)}, "p is given with an arm"),
        ({"q0": [0.0]}, r"q0 has shape \(1,\), expected \(2,\)"),
        ({"sigma": -1.0}, "sigma"),
    ],
)
def test_arguments_of_exciting_motions_have_to_fit(change: Any, words: str) -> None:
    usual = {"make_arm": link, "p": P, "t": T, "sigma": SIGMA, "limits": LIMITS}
    with pytest.raises(ArgumentError, match=words):
        exciting_motion(**(usual | {"outputs": OUTPUTS} | change))


def test_parameters_that_nothing_shows() -> None:
    """A spring constant that no arm has: a failure, and no finite deviation."""
    with pytest.warns(ConvergenceWarning, match="no motion within the limits shows"):
        motion = exciting_motion(
            lambda p: link([*p[:1], *P[1:]]),
            [0.3, 1.0],
            T[:21],
            sigma=1e-3,
            limits=LIMITS,
        )
    assert not motion.success
    assert np.isinf(motion.excited.std[1])
