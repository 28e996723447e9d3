"""Linear models, margins, vibrations, statics, closed loops of stacks: arm by arm."""

from __future__ import annotations

from typing import Any

import named
import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm.control import LinearController, simulate_loop

JOINTS = ["joint positions", "joint velocities"]


def de_luca(**changes: Any) -> fa.Arm:
    return fa.library.de_luca_siciliano(damping=True, **changes)


def elastic(stiffness: float, ratio: float) -> fa.Arm:
    """Two flexible links on elastic joints with motors, under gravity."""
    arm = planar_chain(
        2, n_modes=1, bending_stiffness=200.0 * ratio, payload_mass=0.1 * ratio
    )
    drive = fa.Drive(
        stiffness=stiffness, damping=0.1, rotor_inertia=1e-4, gear_ratio=50.0 * ratio
    )
    bodies = [b.replace(joint=b.joint.replace(drive=drive)) for b in arm.bodies]
    return arm.replace(bodies=bodies)


DE_LUCA = [de_luca(payload_mass=m) for m in (0.05, 0.1, 0.3)]
ELASTIC = [elastic(k, r) for k, r in ((300.0, 1.0), (500.0, 1.5), (900.0, 2.0))]


def q_of(arm: fa.Arm) -> Any:
    """Two postures."""
    q = np.zeros((2, arm.nq))
    q[:, :2] = [0.2, 0.3], [0.4, -1.1]
    return q


def assert_as_each(found: Any, arms: Any, alone: Any, names: Any, tol: float) -> None:
    """Fields of a result of a stack are those of its arms."""
    for i, arm in enumerate(arms):
        one = alone(arm)
        for name in names:
            got = np.asarray(getattr(found, name))[i]
            expected = np.asarray(getattr(one, name))
            scale = np.abs(np.nan_to_num(expected.astype(float))).max(initial=0.0)
            assert_allclose(
                got, expected, rtol=tol, atol=tol * scale + 1e-15, err_msg=name
            )


OUTPUTS: dict[str, Any] = {
    "state": "state",
    "poses": ["joints", "tip xy", "link1.tip rotation z"],
    "rates": ["motor velocities", "tip velocity xy", "tip gyroscope z"],
    "accelerations": ["joint accelerations", "tip accelerometer xy"],
    "strain": ("strain", "link1", 0.2),
}


@each("arms", {"De Luca": DE_LUCA, "elastic joints": ELASTIC})
@each("moves", [False, True])
def test_linear_models(arms: list[fa.Arm], moves: bool) -> None:
    q = q_of(arms[0])
    qd = 0.1 * np.ones(arms[0].nv) if moves else None
    stack = fa.stack(arms)[:, np.newaxis]
    names = ("A", "B", "C", "D", "q", "qd", "tau", "y", "drift")
    for outputs in OUTPUTS.values():
        signals = {"outputs": outputs, "inputs": ["actuators", "tip force y"]}
        found = fa.linearize(stack, q, qd, **signals)
        assert_as_each(
            found, arms, lambda a, s=signals: fa.linearize(a, q, qd, **s), names, 1e-9
        )


def test_a_list_of_loads_on_a_stack() -> None:
    q = q_of(DE_LUCA[0])[0]
    load = {
        "node": [("link1", "tip"), ("link2", "tip")],
        "wrench": 0.1 * np.eye(6)[[4, 5]],
    }
    found = fa.linearize(fa.stack(DE_LUCA), q, **load)
    assert_as_each(found, DE_LUCA, lambda a: fa.linearize(a, q, **load), "A", 1e-9)


def test_poses_of_a_stack() -> None:
    """Joints with quaternions, of which brackets and displacements are their own."""
    arms = []
    for scale in (1.0, 2.0):
        joint = fa.Joint("spherical")
        body = fa.RigidBody(
            "top", joint, mass=scale, com=(0.0, 0.0, 0.2), inertia=(0.2, 0.15, 0.1)
        )
        arms.append(fa.Arm([body]))
    q, qd = np.array([0.8, 0.0, 0.6, 0.0]), np.array([0.3, 0.2, 1.0])
    options: dict[str, Any] = {"outputs": ["tip velocity xyz", "joint positions"]}
    found = fa.linearize(fa.stack(arms), q, qd, **options)
    assert_as_each(
        found, arms, lambda a: fa.linearize(a, q, qd, **options), ("A", "C", "y"), 1e-9
    )
    push = {"wrench": [0.0, 0.1, 0.0, 0.2, 0.0, 0.3]}
    f = fa.natural_frequencies(fa.stack(arms), q, **push)
    for row, arm in zip(f, arms, strict=True):
        assert_allclose(row, fa.natural_frequencies(arm, q, **push), rtol=1e-9)


@each("arms", {"De Luca": DE_LUCA, "elastic joints": ELASTIC})
@each("held", [None, "joints", "motors"])
def test_vibrations(arms: list[fa.Arm], held: Any) -> None:
    q, stack = q_of(arms[0]), fa.stack(arms)[:, np.newaxis]
    f = fa.natural_frequencies(stack, q, held=held)
    modes = fa.vibration_modes(stack, q, held=held)
    damped = fa.complex_modes(stack, q, held=held)
    for i, arm in enumerate(arms):
        one = fa.natural_frequencies(arm, q, held=held)
        assert_allclose(f[i], one, rtol=1e-8, atol=1e-7 * np.abs(one).max())
        alone = fa.complex_modes(arm, q, held=held)
        size = np.abs(alone.eigenvalues)
        assert_allclose(np.abs(damped.eigenvalues[i]), size, atol=1e-6 * size.max())
    # shapes solve the equations of their own arms
    M = fa.mass_matrix(stack, q)
    gram = np.swapaxes(modes.shapes, -1, -2) @ M @ modes.shapes
    assert_allclose(
        gram, np.broadcast_to(np.eye(gram.shape[-1]), gram.shape), atol=1e-8
    )
    assert modes.node_displacements().shape[:3] == (3, 2, gram.shape[-1])


LOADS: dict[str, dict[str, Any]] = {
    "weight": {},
    "force": {"wrench": [0, 0, 0, 0, -0.5, 0], "frame": "base"},
    "follower": {"wrench": [0, 0, 0.1, 0, 0.5, 0]},
    "held motors": {"held": "motors"},
}
FOUND = ("q", "tau", "success", "stable", "lowest_square", "largest_slope")


@pytest.mark.filterwarnings("ignore::flexarm.DeflectionWarning")
@each("arms", {"De Luca": DE_LUCA, "elastic joints": ELASTIC})
@each("load", LOADS)
def test_equilibria(arms: list[fa.Arm], load: dict[str, Any]) -> None:
    q, options = q_of(arms[0]), load
    if arms is DE_LUCA and "held" in load:
        options = {"held": [0, 1], "tau": [0.0, 0.0, 0.1, 0.0, 0.2, 0.0]}
    found = fa.equilibrium(fa.stack(arms)[:, np.newaxis], q, **options)
    assert found.success.all()
    assert_as_each(found, arms, lambda a: fa.equilibrium(a, q, **options), FOUND, 1e-7)


def test_statics_of_a_stack() -> None:
    q = q_of(ELASTIC[0])
    stack = fa.stack(ELASTIC)[:, np.newaxis]
    for name in ("deflection", "holding_forces", "static_compliance"):
        function = named.function(name)
        found = function(stack, q, held="motors")
        for i, arm in enumerate(ELASTIC):
            one = function(arm, q, held="motors")
            assert_allclose(found[i], one, rtol=1e-7, atol=1e-9 * np.abs(one).max())
    found = fa.workspace_map(stack, q)
    names = ("frequencies", "pose", "tau", "deflection", "compliance", "success")
    assert_as_each(found, ELASTIC, lambda a: fa.workspace_map(a, q), names, 1e-7)
    # a minimum of the energy from above
    arms = [fa.library.pendulum(com=c, mass=m) for c, m in ((0.5, 1.0), (1.0, 3.0))]
    rest = fa.equilibrium(fa.stack(arms), [1.5], held=None, seek="stable")
    assert_allclose(rest.q, [[-np.pi / 2]] * 2)


def test_couplings_that_differ() -> None:
    """Each arm has its own ratio between the joints."""
    ratios = (1.0, 2.0, -1.0)
    arms = [
        planar_chain(2, n_modes=1, bending_stiffness=k).replace(
            constraints=[fa.Coupling({"link1": ratio, "link2": -1.0})],
            couplings="constrained",
        )
        for ratio, k in zip(ratios, (100.0, 200.0, 150.0), strict=True)
    ]
    stack = fa.stack(arms)
    q = np.array([[0.2, 0.2 * ratio, 0.0, 0.0] for ratio in ratios])
    held = ["link1"]
    f = fa.natural_frequencies(stack[:, np.newaxis], q[:, np.newaxis])
    rest = fa.equilibrium(stack, q, held=held)
    law = LinearController(None, None, None, -np.eye(2, 4), 0.01)
    loop = law, q, np.zeros(4), [0.0, 0.05]
    models, run = fa.linearize(stack, q), simulate_loop(stack, *loop, max_step=1e-3)
    for i, arm in enumerate(arms):
        one = fa.natural_frequencies(arm, q[i])
        assert_allclose(f[i, 0], one, rtol=1e-7, atol=1e-6)
        alone = fa.equilibrium(arm, q[i], held=held)
        for name in FOUND:
            assert_allclose(getattr(rest, name)[i], getattr(alone, name), atol=1e-8)
        assert_allclose(models.A[i], fa.linearize(arm, q[i]).A, rtol=1e-9, atol=1e-9)
        each_ = simulate_loop(arm, law, q[i], *loop[2:], max_step=1e-3)
        assert_allclose(run.q[i], each_.q, rtol=1e-9, atol=1e-12)


def test_a_member_without_equilibrium_leaves_the_others() -> None:
    """Buckled far beyond the model, between two that are not."""
    make = fa.library.planar_chain
    arms = [
        make(1, n_modes=2, bending_stiffness=k, gravity=(0, 0, 0))
        for k in (100.0, 0.2, 100.0)
    ]
    push = {"wrench": [0.0, 0.0, 0.0, 0.0, 3.0, 0.0], "frame": "base"}
    with pytest.warns(fa.DeflectionWarning, match=r"at index \(1,\), of 1 of 3 states"):
        rest = fa.equilibrium(fa.stack(arms), np.zeros(3), **push)
    assert rest.success.tolist() == [True, False, True]
    assert "1 of 3 equilibria are not found, the first at index (1,)" in rest.message
    alone = fa.equilibrium(arms[2], np.zeros(3), **push)
    assert_allclose(rest.q[2], alone.q, rtol=1e-9, atol=1e-12)
    assert np.isnan(rest.lowest_square[1]) and np.isfinite(rest.lowest_square[2])


def test_margins_of_a_stack_and_of_a_function() -> None:
    """One axis for each range; margins are those of each arm alone."""
    K = [[1.0, 0.0, 0.4, 0.0], [0.0, 0.5, 0.0, 0.2]]
    masses, inertias = [0.05, 0.2], [0.0005, 0.002, 0.003]
    ranges = {"payload_mass": masses, "payload_inertia": inertias}
    q = np.zeros((2, 6))
    q[:, 1] = 0.3, 1.2
    made = fa.robustness(de_luca, ranges, q, K, outputs=JOINTS)
    stack = fa.stack(
        de_luca(payload_mass=m, payload_inertia=j) for m in masses for j in inertias
    )
    given = fa.robustness(
        stack[np.arange(6).reshape(2, 3)], ranges, q, K, outputs=JOINTS
    )
    one = {"payload_mass": masses[1:], "payload_inertia": inertias[2:]}
    alone = fa.robustness(de_luca, one, q[1], K, outputs=JOINTS)
    for name in ("poles", "stable", "decay", "gain_up", "gain_down", "phase"):
        a, b = getattr(made, name), getattr(given, name)
        assert np.array_equal(a, b)
        assert_allclose(a[1, 2, 1], getattr(alone, name)[0, 0], rtol=1e-7)
    assert_allclose(made.sensitivity[1, 2, 1], alone.sensitivity[0, 0], rtol=1e-9)
    with pytest.raises(fa.ArgumentError, match=r"stack has the axes \(6,\), expected"):
        fa.robustness(stack, ranges, q, K, outputs=JOINTS)


def test_margins_of_arms_that_do_not_stack() -> None:
    """Arms of linear fidelity have models one by one."""

    def make(mass: float) -> fa.Arm:
        return de_luca(payload_mass=mass).replace(fidelity="linear")

    found = fa.robustness(make, {"mass": [0.1, 0.2]}, np.zeros(6), outputs=JOINTS)
    assert found.models.batch == (2,)


# closed loops

T = np.linspace(0.0, 0.03, 4)
K = np.array([[2.0, 0.0, 0.5, 0.0], [0.0, 1.0, 0.0, 0.3]])
FILTER = LinearController(  # of the joint rates, limited
    0.8 * np.eye(2),
    np.eye(2, 4, 2),
    [[-0.1, 0.0], [0.0, -0.1]],
    -K,
    2e-3,
    anti_windup=0.1 * np.eye(2),
)
LAWS: dict[str, Any] = {
    "state": LinearController(None, None, None, -K, 2e-3),
    "filter": FILTER,
    "strain": LinearController(
        None, None, None, [[-0.02], [0.01]], 2e-3, ("strain", "link1", 0.0)
    ),
    "tip": LinearController(
        None, None, None, [[-1.0, 0.5], [0.3, 0.2]], 2e-3, "tip position xy"
    ),
    "function": lambda t, q, qd: -(K[:, :2] @ q[..., :2, None])[..., 0],
}


@each("law", LAWS)
@each("method", ["rk4", "ROS34PW2", "newmark"])
def test_closed_loops(law: Any, method: str) -> None:
    q0 = q_of(DE_LUCA[0])
    options: dict[str, Any] = {
        "sample_time": 2e-3,
        "delay": 5e-4,
        "saturation": 0.3,
        "quantization": 1e-5,
        "method": method,
        "max_step": 1e-3,
    }
    args = law, q0, np.zeros(6), T
    run = simulate_loop(fa.stack(DE_LUCA)[:, np.newaxis], *args, **options)
    names = ("q", "qd", "tau", "y", "u", "command", "saturated", "states")
    assert run.success and run.q.shape == (3, 2, 4, 6)
    assert "3 x 2 loops" in repr(run)
    assert_as_each(
        run, DE_LUCA, lambda a: simulate_loop(a, *args, **options), names, 1e-10
    )


@pytest.mark.filterwarnings(
    "ignore::flexarm.AccuracyWarning"
)  # gains, not steps, are tried
def test_noise_and_gains_of_a_stack() -> None:
    """The noise of a member is that of its place; each arm has gains of its own."""
    gains = np.array([1.0, 2.0, 3.0])[:, np.newaxis, np.newaxis] * K
    law = LinearController(None, None, None, -gains, 2e-3)
    options: dict[str, Any] = {"noise": 1e-3, "seed": 5}
    start = np.zeros(6), np.zeros(6), T
    run = simulate_loop(fa.stack(DE_LUCA), law, *start, threads=2, **options)
    every = simulate_loop(DE_LUCA[1], law, *start, **options)
    assert_allclose(run.q[1], every.q[1], rtol=1e-10, atol=1e-14)
    assert_allclose(run.y[1], every.y[1], rtol=1e-10, atol=1e-14)


@pytest.mark.filterwarnings(
    "ignore::flexarm.AccuracyWarning"
)  # gains, not steps, are tried
def test_a_loop_that_diverges_is_named() -> None:
    arms = [de_luca(payload_mass=m) for m in (0.1, 0.2)]
    gains = np.array([1.0, -1e6])[:, np.newaxis, np.newaxis] * K
    law = LinearController(None, None, None, -gains, 2e-3)
    q0 = np.zeros(6)
    q0[0] = 0.1
    run = simulate_loop(fa.stack(arms), law, q0, np.zeros(6), np.linspace(0, 2.0, 5))
    assert not run.success
    assert "1 of 2 loops are incomplete, the first, at index (1,)" in run.message
    assert np.isfinite(run.q[0]).all() and np.isnan(run.q[1, -1]).all()


def test_fast_links_of_a_stack() -> None:
    """The warning names the numbers of the arm that spins too fast."""
    arms = [de_luca(payload_mass=m) for m in (0.05, 0.4)]
    qd0 = np.zeros((2, 6))
    qd0[1, 0] = 5.0
    law = LAWS["function"]
    with pytest.warns(fa.StiffeningWarning, match=r"spins at") as both:
        simulate_loop(
            fa.stack(arms), law, np.zeros(6), qd0, [0.0, 0.002], sample_time=2e-3
        )
    with pytest.warns(fa.StiffeningWarning) as one:
        simulate_loop(arms[1], law, np.zeros(6), qd0[1], [0.0, 0.002], sample_time=2e-3)
    assert {str(w.message) for w in both} == {str(w.message) for w in one}
