"""Stacks of arms: a loop over the arms in every pattern of broadcasting."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import named
import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from trees import SEVERAL, armed, random_state

import flexarm as fa
from flexarm import ArgumentError, FlexibleBody, NotFiniteError, _core
from flexarm.arm import Arm
from flexarm.library import random_tree
from flexarm.stacks import ArmStack

CORE = _core.Model(*random_tree(1, 5, max_modes=2).pack())


def is_stacked(kernel: str) -> bool:
    """Whether a kernel mixes arms in its lanes, and is of arms without constraints."""
    try:
        _core.Stack((CORE, CORE)).gufunc(kernel)
    except KeyError:
        return False
    return True


# functions of states, and which arguments they take: those with a kernel of stacks,
# and some that call these or are of one arm after the other
VECTORS = {
    name: formula.split(" ->")[0].removeprefix("node, ").replace(",", "")
    for name, (function, formula, *_) in _core.KERNELS.items()
    if name == function and is_stacked(name)
} | {
    "energy": "q qd",
    "tip_pose": "q",
    "difference": "q q1",
    "operational_space_compliance": "q",
}


def changed(arm: Arm, rng: np.random.Generator) -> Arm:
    """The arm with other masses, sizes, stiffness, damping and gravity."""
    bodies = []
    for body in arm.bodies:
        scale = rng.uniform(0.7, 1.4, 4)
        joint = body.joint.replace(
            position=scale[0] * body.joint.position,
            damping=scale[1] * np.asarray(body.joint.damping),
        )
        if isinstance(body, FlexibleBody):
            if body.integrals is None:
                body = body.replace(
                    node_mass=scale[2] * body.node_mass,
                    node_inertia=scale[2] * body.node_inertia,
                )
            body = body.replace(
                stiffness=scale[3] * body.stiffness, damping=scale[1] * body.damping
            )
        else:
            body = body.replace(
                mass=scale[2] * body.mass, inertia=scale[2] * body.inertia
            )
        bodies.append(body.replace(joint=joint))
    gravity = rng.normal(size=3) * 9.81
    return arm.replace(bodies=bodies, gravity=gravity, check_units=False)


def sweep(arm: Arm, seed: int, n: int) -> ArmStack:
    """A stack of `n` arms like the given one, which is the first."""
    rng = np.random.default_rng(seed)
    return fa.stack([arm, *(changed(arm, rng) for _ in range(n - 1))])


def states(arm: Arm, seed: int, shape: tuple[int, ...]) -> dict[str, Any]:
    """Arguments of all functions, of any batch shape."""
    rng = np.random.default_rng(seed)
    made = [random_state(rng, arm) for _ in range(int(np.prod(shape)))]
    sizes = {"q": arm.nq, "qd": arm.nv, "qdd": arm.nv}
    result = {
        name: np.array([state[i] for state in made]).reshape(*shape, size)
        for i, (name, size) in enumerate(sizes.items())
    }
    result["x"] = result["dq"] = result["qd"]
    result["tau"] = rng.normal(size=(*shape, arm.nv))
    result["wrench"] = rng.normal(size=(*shape, 6))
    result["q1"] = np.roll(result["q"], 1, axis=0) if shape else result["q"]
    return result


def looped(stack: ArmStack, name: str, *args: Any) -> Any:
    """Results of the function state by state, each with its own arm alone."""
    batch = np.broadcast_shapes(stack.shape, *(a.shape[:-1] for a in args))
    index = np.broadcast_to(stack.index, batch)
    args = tuple(np.broadcast_to(a, (*batch, a.shape[-1])) for a in args)
    function = named.function(name)
    results = [
        function(stack.arms[index[at]], *(a[at] for a in args))
        for at in np.ndindex(*batch)
    ]
    return np.reshape(results, (*batch, *np.shape(results[0])))


def assert_equal(got: Any, expected: Any) -> None:
    scale = np.abs(expected).max(initial=1.0)
    assert got.shape == expected.shape
    assert_allclose(got, expected, rtol=1e-9, atol=1e-11 * scale)


def tree(seed: int) -> Arm:
    """A tree with joints of all kinds, rigid, flexible and floating bodies."""
    return random_tree(seed, 5, max_modes=3, joints=SEVERAL, gravity=True)


@cache
def swept(seed: int) -> tuple[ArmStack, dict[str, Any]]:
    """Five trees, of odd seeds all but one with armature, and states of theirs."""
    arms = sweep(tree(seed), seed, 5)
    if seed % 2:
        first, *others = arms.arms
        arms = fa.stack([first, *(armed(arm, i) for i, arm in enumerate(others))])
    return arms, states(arms.arms[0], seed, (5,))


@each("name", list(VECTORS))
@each("seed", range(4))
def test_a_stack_is_a_loop_over_its_arms(name: str, seed: int) -> None:
    arms, given = swept(seed)
    args = [given[key] for key in VECTORS[name].split()]
    assert_equal(named.function(name)(arms, *args), looped(arms, name, *args))
    assert_equal(
        named.function(name)(arms[:, None], *args),
        looped(arms[:, None], name, *args),
    )


@pytest.mark.parametrize("form", ["spatial", "hybrid", "mixed"])
def test_forms_of_twists(form: str) -> None:
    arms = sweep(tree(1), 1, 5)
    q, qd = (states(arms.arms[0], 1, (5,))[name] for name in ("q", "qd"))
    for name in ("link_jacobians", "link_velocities"):
        args = (q, qd)[: 1 + (name == "link_velocities")]
        got = named.function(name)(arms, *args, form=form)
        for i, arm in enumerate(arms):
            expected = named.function(name)(arm, *(x[i] for x in args), form=form)
            assert_equal(got[i], expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_arm_by_arm(threads: int) -> None:
    """Functions without kernels for different arms have the bits of each arm."""
    arms = sweep(tree(2), 2, 5)[np.arange(17) % 5]
    given = states(arms.arms[0], 2, (3, 17))
    args = given["q"], given["qd"], given["qdd"]
    both = fa.inverse_dynamics_derivatives(arms, *args, threads=threads)
    factors = fa.Arm.innovations_factors(arms, args[0], threads=threads)
    blocks = fa.Arm.mass_matrix_inverse_blocks(arms, args[0], threads=threads)
    for at in np.ndindex(3, 17):
        arm, one = arms[at[1]], tuple(x[at] for x in args)
        alone = fa.inverse_dynamics_derivatives(arm, *one)
        assert np.array_equal(both.dq[at], alone.dq)
        assert np.array_equal(both.dqd[at], alone.dqd)
        assert np.array_equal(
            factors.inertia[at], fa.Arm.innovations_factors(arm, one[0]).inertia
        )
        for name, block in fa.Arm.mass_matrix_inverse_blocks(arm, one[0]).items():
            assert np.array_equal(blocks[name][at], block)
    few = sweep(tree(2), 2, 5)
    shape = (5, 3, 2, few.nv, few.nv)
    out = np.zeros(shape)
    fa.inverse_dynamics_derivatives(few[:, None], *(x[:, 0] for x in args), out=out)
    assert not np.array_equal(out[3, 2, 0], both.dq[2, 0])  # another arm
    assert np.array_equal(out[0, :, 0], both.dq[:, 0])
    none = fa.inverse_dynamics_derivatives(few[:0], *(x[0, :1] for x in args))
    assert none.dq.shape == (0, few.nv, few.nv)
    bad = args[1].copy()
    bad[1, 4, 0] = np.nan
    with pytest.raises(NotFiniteError, match=r"qd\[1, 4, 0\] is nan") as caught:
        fa.inverse_dynamics_derivatives(arms, args[0], bad, args[2])
    assert caught.value.index == (1, 4) and caught.value.count == 1


@pytest.mark.parametrize("modes", [0, 2, 4])
def test_kernels_that_know_their_bodies(modes: int) -> None:
    """Rigid arms and straight beams, whose kernels read few constants."""
    chain = fa.library.planar_chain(3, n_modes=modes, bending_stiffness=50.0)
    arms = sweep(chain, modes, 6)[np.arange(13) % 6]
    given = states(chain, modes, (13,))
    for name, keys in VECTORS.items():
        args = [given[key] for key in keys.split()]
        assert_equal(named.function(name)(arms, *args), looped(arms, name, *args))


@each("seed", range(8))
def test_dynamics_of_many_trees(seed: int) -> None:
    arms = sweep(tree(100 + seed), seed, 3)
    given = states(arms.arms[0], seed, (2, 1))
    q, qd, tau = given["q"], given["qd"], given["tau"]
    qdd = fa.forward_dynamics(arms, q, qd, tau)
    assert_equal(qdd, looped(arms, "forward_dynamics", q, qd, tau))
    assert_equal(fa.inverse_dynamics(arms, q, qd, qdd), np.broadcast_to(tau, qdd.shape))


@each("fidelity", ["full", "ruthless"])
@each("modes", [1, 2, 4, 5, 8, 14])
def test_any_number_of_modes(modes: int, fidelity: str) -> None:
    rng = np.random.default_rng(modes)
    arm = random_tree(modes, 3, max_modes=modes, n_nodes=6).replace(fidelity=fidelity)
    arms = fa.stack([arm, *(changed(arm, rng) for _ in range(4))])
    given = states(arm, modes, (5,))
    args = given["q"], given["qd"], given["tau"]
    assert_equal(
        fa.forward_dynamics(arms, *args), looped(arms, "forward_dynamics", *args)
    )
    assert_equal(fa.mass_matrix(arms, args[0]), looped(arms, "mass_matrix", args[0]))


PATTERNS: dict[str, tuple[Callable[[ArmStack], ArmStack], tuple[int, ...]]] = {
    "one state each": (lambda s: s, (6,)),
    "all states of each": (lambda s: s[:, None], (7,)),
    "arms vary fastest": (lambda s: s, (7, 1)),
    "three axes": (lambda s: s[:, None, None], (2, 3)),
    "one state": (lambda s: s, ()),
    "one arm of a slice": (lambda s: s[2:3], (5,)),
    "some arms, some twice": (lambda s: s[[5, 0, 0, -1]], (4,)),
    "a table of arms": (lambda s: s[np.array([[0, 1, 2], [3, 4, 5]])], (2, 3)),
    "a mask": (lambda s: s[np.array([1, 0, 0, 1, 1, 0], dtype=bool)], (3,)),
    "backwards": (lambda s: s[::-1], (6,)),
    "no arms": (lambda s: s[:0], (0,)),
    "no states": (lambda s: s[:, None], (0,)),
    "a block and a bit": (lambda s: s[np.arange(17) % 6], (17,)),
}


@each("pattern", list(PATTERNS))
def test_patterns(pattern: str) -> None:
    view, shape = PATTERNS[pattern]
    arms = view(sweep(tree(3), 3, 6))
    given = states(arms.arms[0], 3, shape)
    q, qd, tau = given["q"], given["qd"], given["tau"]
    got = fa.forward_dynamics(arms, q, qd, tau)
    if got.size:
        assert_equal(got, looped(arms, "forward_dynamics", q, qd, tau))
    batch = np.broadcast_shapes(arms.shape, shape)
    assert got.shape == (*batch, arms.nv)
    # into a part of a larger array, over an input, and from reversed inputs
    room = np.full((*batch, 2 * arms.nv), 7.0)
    fa.forward_dynamics(arms, q, qd, tau, out=room[..., ::2])
    assert np.array_equal(room[..., ::2], got)
    assert np.all(room[..., 1::2] == 7.0)
    over = np.broadcast_to(tau, got.shape).copy()
    fa.forward_dynamics(arms, q, qd, over, out=over)
    assert np.array_equal(over, got)
    strided = np.repeat(q, 2, axis=-1)[..., ::2]
    assert np.array_equal(fa.forward_dynamics(arms, strided, qd, tau), got)


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics", "node_poses"])
def test_a_result_does_not_depend_on_its_neighbours(name: str) -> None:
    arms = sweep(tree(1), 1, 9)
    given = states(arms.arms[0], 1, (9,))
    args = [given[key] for key in VECTORS[name].split()]
    function = named.function(name)
    whole = function(arms, *args)
    for i in range(9):
        alone = function(arms[i : i + 1], *(a[i : i + 1] for a in args))
        assert np.array_equal(alone[0], whole[i])
    order = np.random.default_rng(0).permutation(9)
    assert np.array_equal(
        function(arms[order], *(a[order] for a in args)), whole[order]
    )
    # other arms beside it, which do not differ in the same numbers
    two = fa.stack([arms[4], arms[4], arms[0]])
    pair = function(two[:1], *(a[4:5] for a in args))
    assert_equal(pair, whole[4:5])
    assert np.array_equal(function(arms, *args, threads=2), whole)


def test_nodes_broadcast_too() -> None:
    arms = sweep(tree(2), 2, 4)
    n = arms.n_nodes
    q = states(arms.arms[0], 2, (4,))["q"]
    nodes = np.arange(n)[:, None]
    got = fa.node_pose(arms, q, nodes)
    expected = np.stack([looped(arms, "node_poses", q)[:, j] for j in range(n)])
    assert_equal(got, expected)
    shuffled = np.array([n - 1, 0, 2, 0])
    J = fa.jacobian(arms, q, shuffled, frame="base")
    for i, j in enumerate(shuffled):
        assert_equal(J[i], fa.jacobian(arms[i], q[i], int(j), frame="base"))


def test_arms_of_different_structure() -> None:
    """Offset masses and angles between joints in some of the arms alone."""
    rng = np.random.default_rng(5)
    base = fa.library.de_luca_siciliano()
    link = base.bodies[0]
    c = rng.normal(scale=0.01, size=link.node_position.shape)
    about = (c**2).sum(axis=1)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None]
    heavy = link.replace(
        node_com=c,
        node_inertia=link.node_inertia + link.node_mass[:, None, None] * about,
        section_nodes=(),
    )
    turned = base.bodies[1].joint.replace(axis=(0.1, 0.2, 1.0))
    arms = fa.stack(
        [
            base,
            base.replace(bodies=[heavy, base.bodies[1]]),
            base.replace(bodies=[base.bodies[0], base.bodies[1].replace(joint=turned)]),
        ]
    )
    given = states(base, 5, (3,))
    for name, keys in VECTORS.items():
        args = [given[key] for key in keys.split()]
        assert_equal(named.function(name)(arms, *args), looped(arms, name, *args))


@each(
    "base",
    {
        "tree": random_tree(7, 4, max_modes=2, gravity=True),
        "rigid": fa.library.planar_chain(3),
        "beams": fa.library.planar_chain(3, n_modes=2, bending_stiffness=50.0),
    },
)
def test_loops_and_couplings(base: Arm) -> None:
    loop = fa.Loop((base.bodies[-1].name, "tip"), "ground", directions=("x", "y"))
    held = base.replace(constraints=[loop])
    arms = sweep(held, 7, 5)
    given = states(held, 7, (5,))
    q, qd, tau = given["q"], given["qd"], given["tau"]
    for name, args in {
        "forward_dynamics": (q, qd, tau),
        "constraint_violation": (q,),
        "constraint_jacobian": (q,),
        "constraint_forces": (q, qd, tau),
    }.items():
        assert_equal(named.function(name)(arms, *args), looped(arms, name, *args))


@each("k", range(3))
def test_brackets_of_straight_beams_differ_in_one_coordinate(k: int) -> None:
    """At the clamped end, where nodes stay; -0.0 would be another number than 0.0."""
    base = fa.library.planar_chain(2, n_modes=2, bending_stiffness=50.0)
    beam, last = base.bodies
    assert isinstance(beam, FlexibleBody) and not beam.node_translation[0].any()
    hub = fa.RigidBody("hub", fa.Joint(axis=(1, 1, 0)), mass=1.0, inertia=(1, 1, 1))
    hung = last.replace(joint=fa.Joint(axis=(0, 1, 1), node=0))
    arms = []
    for place in np.eye(3)[k] * [[0.1], [0.2], [0.3]]:
        position, mass = beam.node_position.copy(), beam.node_mass.copy()
        position[0], mass[0] = place, 0.0
        carrier = beam.replace(node_position=position, node_mass=mass, beam=None)
        arms.append(fa.Arm([hub, carrier, hung]))
    stacked = fa.stack(arms)
    given = states(arms[0], 9, (3,))
    for name in ("inverse_dynamics", "forward_dynamics", "bias_forces"):
        args = [given[key] for key in VECTORS[name].split()]
        assert_equal(named.function(name)(stacked, *args), looped(stacked, name, *args))


def test_drives_and_forces_inside_joints() -> None:
    def arm(stiffness: float, friction: float) -> Arm:
        drive = fa.Drive(stiffness=stiffness, rotor_inertia=2e-4, gear_ratio=80.0)
        joint = fa.Joint("revolute", axis=(0, 1, 0), drive=drive)
        rod = fa.RigidBody("rod", joint, mass=2.0, com=(0.3, 0, 0))
        hinge = fa.Joint(
            "revolute", axis=(0, 1, 0), position=(0.6, 0, 0), damping=friction
        )
        return fa.Arm([rod, fa.RigidBody("end", hinge, mass=1.0, com=(0.2, 0, 0))])

    arms = fa.stack([arm(900.0, 0.1), arm(400.0, 0.3), arm(2000.0, 0.0)])
    given = states(arms.arms[0], 8, (3,))
    q, qd = given["q"], given["qd"]
    for tau in (given["tau"], given["tau"][:, : arms.nu]):
        assert_equal(
            fa.forward_dynamics(arms, q, qd, tau),
            looped(arms, "forward_dynamics", q, qd, tau),
        )
    assert_equal(fa.potential_energy(arms, q), looped(arms, "potential_energy", q))


def test_equal_arms() -> None:
    arm = fa.library.de_luca_siciliano()
    arms = fa.stack([arm, arm, arm])
    given = states(arm, 0, (3,))
    args = given["q"], given["qd"], given["tau"]
    assert_equal(fa.forward_dynamics(arms, *args), fa.forward_dynamics(arm, *args))


def test_as_a_sequence() -> None:
    arms = sweep(tree(0), 0, 4)
    assert (len(arms), arms.shape, arms.ndim) == (4, (4,), 1)
    assert arms[1] is arms.arms[1] and arms[-1] is arms.arms[3]
    assert list(arms) == list(arms.arms)
    assert arms[:, None].shape == (4, 1)
    assert len(arms[1:3]) == 2 and arms[1:3][0] is arms.arms[1]
    assert arms.coordinate_names == arms.arms[0].coordinate_names
    assert_equal(arms.neutral, arms.arms[0].neutral)
    assert arms.nv == arms.arms[0].nv
    assert "4 arms of 5 bodies" in repr(arms) and "4 x 1 arms" in repr(arms[:, None])
    with pytest.raises(IndexError):
        arms[4]
    with pytest.raises(AttributeError, match="not have in common"):
        arms.gravity  # noqa: B018
    q = states(arms.arms[0], 0, (4,))["q"]
    assert np.array_equal(arms.mass_matrix(q), fa.mass_matrix(arms, q))


def test_pickle() -> None:
    arms = sweep(tree(1), 1, 3)[::-1]
    again = pickle.loads(pickle.dumps(arms))
    given = states(arms.arms[0], 1, (3,))
    args = given["q"], given["qd"], given["tau"]
    assert np.array_equal(
        fa.forward_dynamics(again, *args), fa.forward_dynamics(arms, *args)
    )


def test_gufuncs_outlive_the_stack() -> None:
    arms = sweep(tree(2), 2, 3)
    q = states(arms.arms[0], 2, (3,))["q"]
    expected = fa.mass_matrix(arms, q)
    gufunc = arms.kernels.quiet("mass_matrix")
    del arms
    assert np.array_equal(gufunc(q), expected)


def test_arms_that_do_not_stack() -> None:
    arm = tree(0)
    bodies = list(arm.bodies)
    renamed = arm.replace(
        bodies=[*bodies[:-1], bodies[-1].replace(name="other")], tip=None
    )
    with pytest.raises(ArgumentError, match="stack has no arms"):
        fa.stack([])
    with pytest.raises(ArgumentError, match="arms is Arm, expected a sequence"):
        fa.stack(arm)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="arms is NoneType, expected a sequence"):
        fa.stack(None)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="arm 1 of the stack is int"):
        fa.stack([arm, 3])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match="arm 2 of the stack has 'other' in place"):
        fa.stack([arm, arm, renamed])
    with pytest.raises(ArgumentError, match="in place of 5"):
        fa.stack([arm, fa.library.pendulum()])
    linear = fa.library.de_luca_siciliano().replace(fidelity="linear")
    with pytest.raises(ArgumentError, match="linear fidelity do not stack"):
        fa.stack([linear, linear])
    base = fa.library.de_luca_siciliano()
    with pytest.raises(ArgumentError, match="'ruthless' in place of 'full'"):
        fa.stack([base, base.replace(fidelity="ruthless")])
    base = fa.library.planar_chain(2, n_modes=2, bending_stiffness=4.0)
    flat = base.bodies[1].replace(node_foreshortening=None)
    with pytest.raises(ArgumentError, match="another structure"):
        fa.stack([base, base.replace(bodies=[base.bodies[0], flat])])


def test_refusals_of_a_call() -> None:
    arms = sweep(tree(0), 0, 4)
    given = states(arms.arms[0], 0, (4,))
    q, qd, tau = given["q"], given["qd"], given["tau"]
    with pytest.raises(ArgumentError, match=r"stack \(4,\), expected equal lengths"):
        fa.forward_dynamics(arms, q[:3], qd[:3], tau[:3])
    with pytest.raises(ArgumentError, match="q has a last axis of length"):
        fa.forward_dynamics(arms, q[:, 1:], qd, tau)
    with pytest.raises(ArgumentError, match="out has shape"):
        fa.forward_dynamics(arms, q, qd, tau, out=np.zeros((3, arms.nv)))
    with pytest.raises(ArgumentError, match="does not compute inverse_kinematics"):
        arms.kernels.inverse_kinematics(q)
    for refused in (fa.operators, fa.close_loops, fa.mode_errors):
        with pytest.raises(ArgumentError, match=r"ArmStack, expected .* stack\[0\]"):
            refused(arms, q)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"stack \(4,\), expected equal lengths"):
        fa.inverse_dynamics_derivatives(arms, q[:3], qd[:3], tau[:3])
    with pytest.raises(ArgumentError, match="qd has a last axis of length"):
        fa.inverse_dynamics_derivatives(arms, q, qd[:, 1:], tau)
    with pytest.raises(ArgumentError, match="out has shape"):
        fa.inverse_dynamics_derivatives(arms, q, qd, tau, out=np.zeros((3, 2)))
    bad = qd.copy()
    bad[2, 0] = np.nan
    with pytest.raises(NotFiniteError, match=r"qd\[2, 0\] is nan") as caught:
        fa.forward_dynamics(arms, q, bad, tau)
    assert caught.value.index == (2,)
    kept = [0, 1, 3]
    assert_equal(caught.value.result[kept], fa.forward_dynamics(arms, q, qd, tau)[kept])
    gufunc = arms._shared[0].gufunc("mass_matrix")
    for number in (-1, 4):
        with pytest.raises(ArgumentError, match=f"number of an arm is {number}"):
            gufunc(number, q)
