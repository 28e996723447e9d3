"""Functions of an arm under the transformations of JAX."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import random_state

import flexarm as fa
from flexarm.interop import FUNCTIONS, jax_function
from flexarm.interop._functions import ArmFunction

jax = pytest.importorskip("jax")
jnp = jax.numpy

ARM = fa.library.de_luca_siciliano()
RNG = np.random.default_rng(8)
STATES = [random_state(RNG, ARM, 0.02) for _ in range(4)]
Q, QD, QDD = (np.array(x) for x in zip(*STATES, strict=True))
TAU = RNG.normal(size=(4, ARM.nu))


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def operands(name):
    every = {"q": Q, "qd": QD, "qdd": QDD, "tau": TAU}
    return [every[a] for a in ArmFunction(ARM, name).arguments]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_jacobians(name):
    f, found, x = jax_function(ARM, name), ArmFunction(ARM, name), operands(name)
    if name != "tip_pose":
        assert_allclose(f(*x), getattr(fa, name)(ARM, *x), rtol=1e-13)
    assert f.__name__ == name
    assert_allclose(jax.jit(f)(*x), f(*x), rtol=0)
    assert_allclose(jax.vmap(f)(*x), f(*x), rtol=0)
    where = tuple(range(len(x)))
    one = [y[0] for y in x]
    expected = found.partials(*one)
    for slopes in (jax.jacfwd(f, where), jax.jit(jax.jacrev(f, where))):
        for a, b in zip(slopes(*one), expected, strict=True):
            assert_allclose(a, b, rtol=0, atol=1e-13 * abs(b).max())
    many = jax.vmap(jax.jacrev(f, where))(*x)
    for a, b in zip(many, found.partials(*x), strict=True):
        assert_allclose(a, b, rtol=0, atol=1e-13 * abs(b).max())


def test_vmap_over_some_arguments_and_broadcasting():
    f = jax_function(ARM)
    torques = RNG.normal(size=(5, ARM.nu))
    expected = fa.forward_dynamics(ARM, Q[:, None], QD[:, None], torques)
    assert_allclose(f(Q[:, None], QD[:, None], torques), expected, rtol=1e-13)
    # the mapped argument has fewer axes than one that is not mapped
    swapped = jax.vmap(f, (0, 0, None))(Q, QD, torques)
    assert_allclose(swapped, expected, rtol=1e-13)
    inner = jax.vmap(jax.vmap(f, (None, None, 0)), (0, 0, None))(Q, QD, torques)
    assert_allclose(inner, expected, rtol=1e-13)
    # reverse mode sums over what was broadcast
    slope = jax.grad(lambda tau: f(Q, QD, tau).sum())(TAU[0])
    minverse = fa.mass_matrix_inverse(ARM, Q)[..., ARM.actuator_indices]
    assert_allclose(slope, minverse.sum((0, 1)), rtol=1e-12)


def test_all_generalized_forces():
    f = jax_function(ARM)
    tau = RNG.normal(size=ARM.nv)
    assert_allclose(f(Q[0], QD[0], tau), fa.forward_dynamics(ARM, Q[0], QD[0], tau))
    inverse = jax.jacrev(f, 2)(Q[0], QD[0], tau)
    assert_allclose(inverse, fa.mass_matrix_inverse(ARM, Q[0]), rtol=1e-11)


def test_gradient_through_a_time_loop():
    f = jax_function(ARM)
    h, steps = 1e-3, 20

    def cost(tau):
        def step(state, _):
            q, qd = state
            qd = qd + h * f(q, qd, tau)
            return (q + h * qd, qd), None

        (q, qd), _ = jax.lax.scan(step, (jnp.zeros(6), jnp.zeros(6)), None, steps)
        return jnp.sum(q**2) + jnp.sum(qd**2)

    slope = jax.jit(jax.grad(cost))(TAU[0])
    d = 1e-5
    for i, e in enumerate(np.eye(ARM.nu)):
        ratio = (cost(TAU[0] + d * e) - cost(TAU[0] - d * e)) / (2 * d)
        assert_allclose(slope[i], ratio, rtol=1e-6)


def test_large_batches_return():
    f = jax.jit(jax_function(ARM, threads=2))
    q = np.tile(Q, (5000, 1))
    x = jnp.asarray(q), jnp.asarray(np.tile(QD, (5000, 1))), jnp.asarray(TAU[0])
    for _ in range(3):
        assert_allclose(f(*x)[:4], f(*(y[:4] if y.ndim > 1 else y for y in x)))


def test_failed_states_are_nan():
    q = Q.copy()
    q[2] = np.nan
    found = np.isnan(jax_function(ARM)(q, QD, TAU)).any(-1)
    assert found.tolist() == [False, False, True, False]


def test_jax_needs_64_bits_and_shapes_that_fit():
    f = jax_function(ARM)
    with (
        jax.enable_x64(False),
        pytest.raises(fa.ArgumentError, match=r'update\("jax_enable_x64", True\)'),
    ):
        f(Q, QD, TAU)
    with pytest.raises(fa.ArgumentError, match=r"tau has shape \(3,\), expected .* 2"):
        f(Q, QD, np.zeros(3))
    with pytest.raises(fa.ArgumentError, match="2 arguments, expected 3: q, qd, tau"):
        f(Q, QD)
    with pytest.raises(fa.ArgumentError, match="second derivatives of potential"):
        jax.hessian(jax_function(ARM, "potential_energy"))(Q[0])
    with pytest.raises(fa.ArgumentError, match="threads is 0"):
        jax_function(ARM, threads=0)
