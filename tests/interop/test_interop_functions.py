"""Partial derivatives that JAX and CasADi are given: differences by every entry."""

from __future__ import annotations

import numpy as np
import pytest
from drive_cases import driven_tree
from trees import SEVERAL, random_state

import flexarm as fa
from flexarm.interop._functions import FUNCTIONS, ArmFunction

INTEGRABLE = tuple(kind for kind in SEVERAL if kind != "subspace")


def arms():
    """Trees of all joints, with motors, and of each fidelity."""
    tree = fa.library.random_tree(4, 4, 2, joints=INTEGRABLE, attachments=0.3)
    flat = fa.library.de_luca_siciliano()
    return {
        "all joints": tree,
        "driven": driven_tree(3),
        "ruthless": tree.replace(fidelity="ruthless"),
        "linear": flat.replace(fidelity="linear", gravity=(1.0, -9.81, 0.0)),
        "rigid": fa.library.iiwa14(),
    }


ARMS = arms()


def operands(found, count=2, seed=0):
    rng = np.random.default_rng(seed)
    drawn = [random_state(rng, found.arm, 0.1)[0] for _ in range(count)]
    x = {"q": np.array(drawn)}
    for name in found.arguments[1:]:
        x[name] = rng.normal(size=(count, found.sizes(name)[-1]))
    return [x[name] for name in found.arguments]


@pytest.mark.parametrize("kind", ARMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_partials_are_differences(kind, name):
    if ARMS[kind].fidelity != "full" and name in ("potential_energy", "tip_pose"):
        with pytest.raises(fa.ArgumentError, match="expected fidelity 'full'"):
            ArmFunction(ARMS[kind], name)
        return
    found = ArmFunction(ARMS[kind], name)
    x = operands(found)
    partials = found.partials(*x)
    assert found.value(*x).shape == (2, *found.core)
    h = 1e-5
    for i, dx in enumerate(partials):
        assert dx.shape == (2, *found.core, x[i].shape[-1])
        for j in range(x[i].shape[-1]):
            ahead, behind = (
                found.value(*(y + s * step(y, j) * (y is x[i]) for y in x))
                for s in (h, -h)
            )
            size = max(1.0, abs(dx).max(), abs(ahead).max())
            error = abs(dx[..., j] - (ahead - behind) / (2 * h)).max() / size
            assert error < 2e-8, (found.arguments[i], j)


def step(y, j):
    """A unit step of entry j, where there is one."""
    return (np.arange(y.shape[-1]) == j).astype(float)


def test_quaternions_of_any_length():
    arm = ARMS["all joints"]
    found = ArmFunction(arm, "tip_pose")
    (q,) = operands(found, 1)
    for k, body in enumerate(arm.bodies):
        if body.joint.has_pose:
            at = arm.body_joint_slice(k, positions=True).start
            q[:, at : at + 4] *= 1.7
            along = np.zeros(arm.nq)
            along[at : at + 4] = q[0, at : at + 4]
            assert abs(found.partials(q)[0] @ along).max() < 1e-12
    h = 1e-6
    (dq,) = found.partials(q)
    for j in range(arm.nq):
        e = step(q, j)
        slope = (found.value(q + h * e) - found.value(q - h * e)) / (2 * h)
        assert abs(dq[..., j] - slope).max() < 1e-8


def test_failed_states_are_nan():
    found = ArmFunction(ARMS["all joints"], "forward_dynamics")
    x = operands(found)
    x[0][1] = np.nan
    for array in (found.value(*x), *found.partials(*x)):
        assert np.isfinite(array[0]).all()
        assert np.isnan(array[1]).any()


def test_functions_of_arms_for_interop_are_known_ones():
    arm = ARMS["rigid"]
    with pytest.raises(fa.ArgumentError, match="did you mean 'mass_matrix'"):
        ArmFunction(arm, "mass_matrx")
    with pytest.raises(fa.ArgumentError, match="arm is ArmStack"):
        ArmFunction(fa.stack([arm, arm]), "mass_matrix")
    bar = fa.RigidBody("bar", mass=1.0, inertia=(1, 1, 1), nodes={"end": (1, 0, 0)})
    four = fa.Arm([bar], constraints=[fa.Loop(("bar", "end"), "ground", "spherical")])
    with pytest.raises(fa.ArgumentError, match="the arm has constraints, expected"):
        ArmFunction(four, "forward_dynamics")


@pytest.mark.parametrize("package", ["jax", "casadi"])
def test_what_is_missing_is_named(package, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    make = getattr(fa.interop, f"{package}_function")
    with pytest.raises(ImportError, match=rf'pip install "flexarm\[{package}\]"'):
        make(ARMS["rigid"])
