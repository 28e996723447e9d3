"""Sizes: arms beyond the limits of C, and calls for which there is no memory."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gufuncs import ARMS

import flexarm as fa
from flexarm import _core
from flexarm._core import (
    LOOP_COLUMNS,
    MAX_BODIES,
    MAX_NODES,
    MAX_VELOCITIES,
    TOPOLOGY_COLUMNS,
)
from flexarm.model.packing import Packed
from flexarm.model.tree import size_of

FREE = fa.RigidBody("free", fa.Joint("free"), mass=1.0, inertia=(1.0, 2.0, 2.0))
ARM = fa.Arm([FREE])
LOOP = size_of(LOOP_COLUMNS)


def many(n: int) -> Packed:
    """As many arms on one ground, as one."""
    one = ARM.pack()
    return one._replace(
        topology=np.tile(one.topology, (n, 1)),
        joints=np.tile(one.joints, (n, 1)),
        nodes=np.tile(one.nodes, n),
        modal=np.tile(one.modal, n),
        couplings=np.zeros((0, 6 * n + 1)),
    )


def refusal(build: object) -> str:
    """One sentence."""
    with pytest.raises(fa.ModelError) as problem:
        build()  # type: ignore[operator]
    text = str(problem.value)
    assert "\n" not in text
    assert len(text) < 300
    return text


def test_arms_beyond_the_limits_are_refused_at_once() -> None:
    n = MAX_VELOCITIES // 6 + 1
    text = refusal(lambda: fa.Arm([FREE] * n))
    assert f"the arm has {6 * n} velocities of joints and 0 modes" in text
    assert f"expected at most {MAX_VELOCITIES} in all" in text
    nodes = {f"node{i}": (0.0, 0.0, 0.0) for i in range(MAX_NODES // MAX_BODIES)}
    mesh = fa.RigidBody("mesh", nodes=nodes)  # and one at its end
    text = refusal(lambda: fa.Arm([mesh] * MAX_BODIES))
    assert text.endswith(f"expected at most {MAX_NODES}; keep fewer nodes")
    link = fa.RigidBody("link", fa.Joint("universal"), mass=1.0, inertia=(1, 1, 1))
    text = refusal(lambda: fa.Arm([link] * (MAX_BODIES // 2 + 1)))
    assert (
        f"2049 bodies whose joints have 4098 axes, expected at most {MAX_BODIES}"
        in text
    )


def test_models_beyond_the_limits_are_refused_at_once() -> None:
    n = MAX_VELOCITIES // 6
    for packed in (
        many(n + 1),
        many(1)._replace(loops=np.zeros((MAX_BODIES + 1, LOOP), np.intc),
                         frames=np.zeros((MAX_BODIES + 1, 2, 12))),
        many(1)._replace(couplings=np.zeros((MAX_BODIES + 1, 7))),
        many(1)._replace(passive=np.zeros((8 * MAX_BODIES + 1, 8))),
    ):  # fmt: skip
        assert "the arm is larger than 4096 bodies" in refusal(
            lambda packed=packed: _core.Model(*packed)
        )
    for column, number in (
        ("nodes", MAX_NODES + 1),
        ("nodes", 2**31 - 1),
        ("nodes", MAX_NODES),  # whose numbers are not there
        ("modes", 2**31 - 1),
        ("shapes", 2**31 - 1),
        ("dof", 2**31 - 1),
        ("parent", -(2**31)),
    ):
        packed = many(1)
        packed.topology[-1, TOPOLOGY_COLUMNS[column]] = number
        refusal(lambda packed=packed: _core.Model(*packed))
    for number in (np.nan, -1.0, 3.0, 1e300):  # of the fidelity
        packed = many(1)
        packed.constants[4] = number
        with pytest.raises(ValueError, match="number of the fidelity is none of 0 to"):
            _core.Model(*packed)


def test_the_largest_arm_computes() -> None:
    n = MAX_VELOCITIES // 6
    model = _core.Model(*many(n))
    q = np.tile(ARM.neutral, n)
    weights = model.gravity_forces(q)
    expected = np.tile(fa.gravity_forces(ARM, ARM.neutral), n)
    np.testing.assert_array_equal(weights, expected)
    rng = np.random.default_rng(0)
    qd, tau = rng.normal(size=(2, n, 6))
    qdd = model.forward_dynamics(q, qd.ravel(), tau.ravel()).reshape(n, 6)
    alone = fa.forward_dynamics(ARM, ARM.neutral, qd, tau)
    np.testing.assert_allclose(qdd, alone, rtol=1e-13, atol=1e-13)


WHOLE = [-(2**31), -1, 0, 1, 2, 7, 12, 13, 63, 64, 65, 4096, 2**24, 2**31 - 1]
REAL = [np.nan, np.inf, -np.inf, -1e308, -1.0, -0.0, 5e-324, 1.0, 2.0, 1e9, 1e308]


def mutated(packed: Packed, rng: np.random.Generator) -> Packed:
    """Change a number or two of a model, or the length of one of its arrays."""
    arrays = {key: value.copy() for key, value in packed._asdict().items()}
    names = ["topology"] * 4 + [key for key, value in arrays.items() if value.size]
    for name in rng.choice(names, size=rng.integers(1, 3)):
        array = arrays[name]
        pool = WHOLE if array.dtype.kind == "i" else REAL
        array.ravel()[rng.integers(array.size)] = rng.choice(pool)
    if rng.random() < 0.1:
        name = rng.choice(names)
        longer = np.concatenate([arrays[name], arrays[name][-1:]])
        arrays[name] = longer if rng.random() < 0.5 else arrays[name][:-1]
    return Packed(**arrays)


def test_mutated_models_are_refused_or_compute() -> None:
    """As after a flipped byte in a pickle: never a place out of bounds."""
    rng = np.random.default_rng(2)
    packs = [ARMS[name].pack() for name in ("tree", "joints", "closed", "large")]
    tied = fa.Coupling({"body4": 1.0, "body1": -0.5}, 0.1)
    packs.append(ARMS["tree"].replace(constraints=[tied]).pack())
    assert len(packs[-1].followers)
    kernels = "forward_dynamics", "mass_matrix", "node_poses", "constraint_violation"
    refused = computed = 0
    for _ in range(800):
        packed = mutated(packs[rng.integers(len(packs))], rng)
        try:
            model = _core.Model(*packed)
        except ValueError:
            refused += 1
            continue
        for gufunc in (getattr(model, name, None) for name in kernels):
            if gufunc is None:  # of arms with constraints
                continue
            shapes = gufunc.signature.split("->")[0].replace("(t)", "(V)")
            nv = shapes.split("),(")[-2].strip("()") if "V" in shapes else ""
            sizes = shapes.replace("V", nv).strip("()").split("),(")
            with contextlib.suppress(fa.NotFiniteError):
                gufunc(*(rng.normal(size=int(size)) for size in sizes))
        computed += 1
    assert min(refused, computed) > 200


# in a process that may have 6 GB: what does not fit is refused before it is written
NO_MEMORY = """
import resource
import numpy as np
import flexarm as fa
from flexarm import _core
from test_sizes import ARM, MAX_VELOCITIES, many

resource.setrlimit(resource.RLIMIT_AS, (6 << 30,) * 2)
n = MAX_VELOCITIES // 6
model, q = _core.Model(*many(n)), np.tile(ARM.neutral, n)
v = np.zeros(6 * n)
linear = many(n)
linear.constants[4] = _core.FIDELITIES.index("linear")
linear = _core.Model(*linear)
states = np.broadcast_to(ARM.neutral, (2**40, 2, ARM.nq))
rates = np.broadcast_to(0.0, (2**40, 2, ARM.nv))

def refused(call, *words):
    try:
        call()
    except MemoryError as problem:
        text = str(problem)
        assert "\\n" not in text and len(text) < 300, text
        for word in words:
            assert word in text, text
    else:
        raise AssertionError(call)

for m in (model, linear):
    refused(lambda: m.jacobian_derivatives(0, q), "Unable to allocate 12")
    for name, given in (
        ("mass_matrix", (q,)),
        ("mass_matrix_inverse", (q,)),
        ("innovations_factors", (q,)),
        ("link_jacobians", (q,)),
        ("inverse_dynamics_derivatives", (q, v, v)),
        ("forward_dynamics_derivatives", (q, v, v)),
        ("forward_dynamics_composite", (q, v, v)),
    ):
        if name == "forward_dynamics_composite" and m is linear:
            name = "forward_dynamics"
        refused(lambda: getattr(m, name)(*given))
refused(lambda: model.mass_matrix(q), "mass_matrix needs ", " MB of scratch")
for arm in (ARM, fa.stack([ARM, ARM])):
    for threads in (1, 2):
        refused(lambda: fa.mass_matrix(arm, states, threads=threads))
        refused(lambda: fa.forward_dynamics(arm, states, rates, rates))
for call in (
    lambda: fa.kinetic_energy(ARM, states, rates),
    lambda: fa.simulate(ARM, states[:, 0], rates[:, 0], [0.0, 0.1]),
    lambda: fa.inverse_kinematics(ARM, np.broadcast_to(np.eye(4), (2**40, 4, 4))),
    lambda: fa.se3.exp(np.broadcast_to(0.0, (2**40, 6))),
):
    refused(call, "Unable to allocate")

# a model of 80 MB of constants where 40 are left
nodes, modes = 2000, 64
topology = ARM.pack().topology.copy()
topology[0, _core.TOPOLOGY_COLUMNS["modes"].start] = modes
topology[0, _core.TOPOLOGY_COLUMNS["nodes"].start] = nodes
wide = ARM.pack()._replace(
    topology=topology,
    nodes=np.zeros(nodes * (13 + 6 * modes)),
    modal=np.zeros(2 * modes**2),
)
pages = int(open("/proc/self/statm").read().split()[0])
used = pages * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (40 << 20), 6 << 30))
refused(lambda: _core.Model(*wide), "the model of the arm needs more memory than is")
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS")
def test_what_does_not_fit_into_memory_is_refused_in_a_sentence() -> None:
    variables = {"PYTHONPATH": ".:tests:tests/calls", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", NO_MEMORY],
        cwd=Path(__file__).parents[2],
        env=os.environ | variables,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "done\n"
