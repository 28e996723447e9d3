"""Functions of an arm in expressions and solvers of CasADi."""

from __future__ import annotations

import gc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import random_state

import flexarm as fa
from flexarm.interop import FUNCTIONS, casadi_function
from flexarm.interop._functions import ArmFunction

with warnings.catch_warnings():  # of SWIG, about its own types
    warnings.simplefilter("ignore")
    casadi = pytest.importorskip("casadi")

ARM = fa.library.de_luca_siciliano()
QUIET = {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"}


def operands(arm, name, seed=5):
    rng = np.random.default_rng(seed)
    q, qd, qdd = random_state(rng, arm, 0.02)
    every = {"q": q, "qd": qd, "qdd": qdd, "tau": rng.normal(size=arm.nu)}
    return [every[a] for a in ArmFunction(arm, name).arguments]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_jacobians(name):
    arm = fa.library.random_tree(4, 3, 2, joints=("revolute", "spherical"))
    f, found, x = (
        casadi_function(arm, name),
        ArmFunction(arm, name),
        operands(arm, name),
    )
    expected = np.reshape(found.value(*x), (*found.core, 1, 1)[:2])
    assert_allclose(np.array(f(*x)), expected, rtol=1e-14)
    assert f.name_in() == list(found.arguments)
    symbols = [
        casadi.MX.sym(a, len(y)) for a, y in zip(found.arguments, x, strict=True)
    ]
    result = f(*symbols)
    for s, dx in zip(symbols, found.partials(*x), strict=True):
        slope = casadi.Function("slope", symbols, [casadi.jacobian(result, s)])
        # entries of a matrix column by column
        rows = dx.reshape(-1, dx.shape[-1])
        if len(found.core) == 2:
            rows = dx.swapaxes(0, 1).reshape(-1, dx.shape[-1])
        assert_allclose(np.array(slope(*x)), rows, rtol=0, atol=1e-14 * abs(dx).max())
    # both directions of automatic differentiation
    rng = np.random.default_rng(1)
    seeds = [rng.normal(size=len(y)) for y in x]
    weights = rng.normal(size=expected.shape)
    back = casadi.gradient(casadi.sum1(casadi.vec(weights * result)), symbols[0])
    slope = casadi.Function("back", symbols, [back])
    dq = found.partials(*x)[0].reshape(*expected.shape, -1)
    assert_allclose(
        np.array(slope(*x)).ravel(),
        np.einsum("ij,ijk->k", weights, dq),
        atol=1e-13 * abs(dq).max(),
    )
    ahead = casadi.jtimes(result, symbols[0], casadi.MX(seeds[0]))
    slope = casadi.Function("ahead", symbols, [ahead])
    assert_allclose(np.array(slope(*x)), dq @ seeds[0], atol=1e-13 * abs(dq).max())


def test_all_generalized_forces():
    f = casadi_function(ARM, all_forces=True)
    q, qd, _ = operands(ARM, "forward_dynamics")
    tau = np.linspace(-0.1, 0.1, ARM.nv)
    expected = fa.forward_dynamics(ARM, q, qd, tau)
    assert_allclose(np.array(f(q, qd, tau)).ravel(), expected, rtol=1e-13)


def swing(options):
    """Least torques that swing a pendulum up in steps of implicit midpoint."""
    arm = fa.library.pendulum(mass=1.0, com=0.5, damping=0.05)
    f = casadi_function(arm)  # nobody holds it after this function
    n, h = 30, 0.05
    X, U = casadi.MX.sym("X", 2, n + 1), casadi.MX.sym("U", 1, n)
    gaps = [X[:, 0] - casadi.DM([-np.pi / 2, 0])]
    for k in range(n):
        middle = (X[:, k] + X[:, k + 1]) / 2
        rate = casadi.vertcat(middle[1], f(middle[0], middle[1], U[k]))
        gaps.append(X[:, k + 1] - X[:, k] - h * rate)
    gaps.append(X[:, n] - casadi.DM([np.pi / 2, 0]))
    unknowns = casadi.vertcat(casadi.vec(X), casadi.vec(U))
    problem = {"x": unknowns, "f": casadi.sumsqr(U), "g": casadi.vertcat(*gaps)}
    return arm, casadi.nlpsol("solver", "ipopt", problem, {**QUIET, **options}), h


def test_optimal_control():
    costs = []
    # Hessians by differences of exact Jacobians, and none
    for options in ({}, {"ipopt.hessian_approximation": "limited-memory"}):
        arm, solver, h = swing(options)
        gc.collect()
        x0 = np.r_[np.ravel([[-1.5, 0.0]] * 31), np.full(30, 0.1)]
        found = solver(x0=x0, lbg=0, ubg=0)
        assert solver.stats()["success"]
        x = np.array(found["x"]).ravel()
        q, qd, tau = x[0:62:2], x[1:62:2], x[62:]
        assert abs(q[-1] - np.pi / 2) < 1e-6
        # what was found obeys the plain function
        middle = [((y[1:] + y[:-1]) / 2)[:, None] for y in (q, qd)]
        qdd = fa.forward_dynamics(arm, *middle, tau[:, None])[:, 0]
        assert_allclose(np.diff(qd), h * qdd, atol=1e-7)
        costs.append(float(found["f"]))
    assert_allclose(costs[1], costs[0], rtol=1e-6)


def test_functions_outlive_their_names():
    q = casadi.MX.sym("q", ARM.nq)
    energy = casadi.Function(
        "twice", [q], [2 * casadi_function(ARM, "potential_energy")(q)]
    )
    gc.collect()
    bent = [0.0, 0.1, 0.1, 0.0, 0.05, 0.0]
    assert_allclose(float(energy(bent)), 2 * fa.potential_energy(ARM, bent))
    slope = casadi.Function("slope", [q], [casadi.gradient(energy(q), q)])
    gc.collect()
    expected = 2 * fa.bias_forces(ARM, bent, np.zeros(6))
    assert_allclose(np.array(slope(bent)).ravel(), expected, atol=1e-13)


def test_failed_states_are_nan():
    f = casadi_function(ARM, "gravity_forces")
    assert np.isnan(np.array(f(np.full(ARM.nq, np.nan)))).any()


def test_casadi_functions_name_those_that_there_are():
    with pytest.raises(fa.ArgumentError, match="mass_matrix has no tau"):
        casadi_function(ARM, "mass_matrix", all_forces=True)
    with pytest.raises(fa.ArgumentError, match="expected one of 'bias_forces'"):
        casadi_function(ARM, "swim")
