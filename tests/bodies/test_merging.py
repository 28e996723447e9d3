"""Rigid bodies on fixed joints that are summed: the same numbers as with every body."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from arrays import Array
from each import each
from numpy.testing import assert_allclose, assert_array_equal

import flexarm as fa
from flexarm import _core
from flexarm.model.packing import pack

JOINTS = ("revolute", "prismatic", "fixed", "fixed", "helical", "spherical")
# kernels of coordinates alone, without those in which bodies that stand still have a
# part, each with the letters of its arguments
ARGUMENTS = {"q": "q", "qd": "d", "qdd": "a", "x": "a", "tau": "t"}
WHOLE = "potential_energy center_of_mass innovations_factors mass_matrix_inverse_blocks"
KERNELS = {
    name: "".join(ARGUMENTS[x] for x in arguments)
    for name, (_, formula, nodes, operands) in _core.KERNELS.items()
    if ARGUMENTS.keys() >= set(arguments := formula.split(" ->")[0].split(", "))
    and not (nodes or {*"NBC"} & {*"".join(operands)} or name in WHOLE.split())
}


def plate(name: str, joint: fa.Joint, rng: np.random.Generator) -> fa.RigidBody:
    a = rng.normal(size=(3, 3))
    return fa.RigidBody(
        name,
        joint,
        mass=rng.uniform(0.5, 2.0),
        com=rng.normal(size=3),
        inertia=np.trace(a @ a.T) * np.eye(3) - a @ a.T,
        nodes={"tip": rng.normal(size=3)},
    )


def decorated(seed: int) -> fa.Arm:
    """A random tree with rigid bodies fixed on many of its bodies and on the ground."""
    rng = np.random.default_rng(seed)
    tree = fa.library.random_tree(rng, 6, 2 * (seed % 2), joints=JOINTS)
    bodies = list(tree.bodies)
    for i in range(8):
        on = "ground" if i == 0 else bodies[rng.integers(len(bodies))].name
        R = fa.se3.exp([*rng.normal(size=3), 0, 0, 0])[:3, :3]
        nodes = 0 if on == "ground" else {b.name: b.n_nodes for b in bodies}[on] - 1
        joint = fa.Joint(
            "fixed", parent=on, node=nodes, position=rng.normal(size=3), rotation=R
        )
        bodies.append(plate(f"plate{i}", joint, rng))
    for i, on in enumerate(("plate0", "plate5")):  # what moves on such a body
        joint = fa.Joint("cylindrical", parent=on, node="tip", damping=(0.1, 0.2))
        bodies.append(plate(f"screw{i}", joint, rng))
    result: fa.Arm = tree.replace(bodies=bodies, tip=("plate7", "tip"))
    return result


def operands(arm: fa.Arm, seed: int) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    q = np.tile(arm.neutral, (5, 1))
    q = fa.integrate(arm, q, 0.3 * rng.uniform(-1, 1, (5, arm.nv)))
    qd, a, t = rng.normal(size=(3, 5, arm.nv))
    return {"q": q, "d": qd, "a": a, "t": t}


def every_body(arm: fa.Arm) -> Any:
    """The kernels of the arm on all of its bodies."""
    return _core.Model(*pack(arm))


def near(name: str, value: Any, expected: Any) -> None:
    """Equal to rounding: what divides by the mass matrix has its condition in it."""
    size = float(np.abs(expected).max(initial=1.0))
    divides = "forward" in name or "inverse" in name.replace("inverse_dynamics", "")
    rtol = 1e-12 if divides else 1e-14
    assert_allclose(value, expected, rtol=0.0, atol=rtol * size, err_msg=name)


@each("seed", range(12))
def test_kernels(seed: int) -> None:
    arm = decorated(seed)
    full, x = every_body(arm), operands(arm, seed)
    for name, letters in KERNELS.items():
        given = [x[letter] for letter in letters]
        near(name, getattr(arm.kernels, name)(*given), getattr(full, name)(*given))
        near(name, arm.kernels.quiet(name)(*given), getattr(full, name)(*given))
    assert arm.kernels.work_size("bias_forces") <= full.work_size("bias_forces")


def test_what_names_bodies_and_nodes_has_them_all() -> None:
    arm = decorated(3)
    full, x = every_body(arm), operands(arm, 3)
    assert fa.link_poses(arm, x["q"]).shape[1] == len(arm.bodies)
    for name in ("link_poses", "node_poses", "potential_energy", "center_of_mass"):
        assert_array_equal(
            getattr(arm.kernels, name)(x["q"]), getattr(full, name)(x["q"])
        )


def test_merged_bodies_count_in_the_mass_matrix() -> None:
    """Parallel axes: a rod and a ball that is fixed on its end."""
    rod = fa.RigidBody("rod", mass=1.0, com=(0.5, 0, 0), inertia=(0.0, 1 / 12, 1 / 12))
    ball = fa.RigidBody(
        "ball",
        fa.Joint("fixed", position=(1.0, 0, 0)),
        mass=2.0,
        com=(0.1, 0, 0),
        inertia=(0.03, 0.03, 0.03),
    )
    arm = fa.Arm([rod, ball], gravity=(0, 0, 0))
    assert_allclose(fa.mass_matrix(arm, [0.3]), [[1 / 3 + 2.0 * 1.1**2 + 0.03]])
    again = pickle.loads(pickle.dumps(arm))
    assert_array_equal(fa.mass_matrix(again, [0.3]), fa.mass_matrix(arm, [0.3]))


def test_drives_springs_and_couplings() -> None:
    """Objects that name joints and motors name the same ones."""
    rng = np.random.default_rng(5)
    drive = fa.Drive(stiffness=50.0, gear_ratio=5.0, rotor_inertia=0.01, rotor_mass=0.3)
    bodies = [plate("base", fa.Joint("fixed", parent="ground"), rng)]
    for i, inside in enumerate(
        (
            {"drive": drive},
            {"stiffness": 3.0, "coulomb_friction": fa.CoulombFriction(0.2, 0.1)},
            {"stops": fa.Stops(-0.1, 0.1, 30.0)},
        )
    ):
        on = bodies[-1].name
        bodies.append(plate(f"link{i}", fa.Joint(parent=on, node="tip", **inside), rng))
        fixed = fa.Joint("fixed", parent=f"link{i}", node="tip")
        bodies.append(plate(f"tool{i}", fixed, rng))
    arm = fa.Arm(
        bodies,
        constraints=[fa.Coupling({"link1": 1.0, "link2": -2.0})],
        couplings="constrained",
    )
    full, x = every_body(arm), operands(arm, 5)
    for name in ("inverse_dynamics", "forward_dynamics", "bias_forces", "mass_matrix"):
        given = [x[letter] for letter in KERNELS[name]]
        near(name, getattr(arm.kernels, name)(*given), getattr(full, name)(*given))


def random_loop(arm: fa.Arm, rng: np.random.Generator) -> Any:
    """A loop between nodes that may disappear, or None if nothing moves in it."""
    names = [b.name for b in arm.bodies]
    first, second = rng.choice(names, 2, replace=False)
    frames = [fa.se3.exp([*rng.normal(size=3), 0, 0, 0])[:3, :3] for _ in range(2)]
    sets = ("x", ("rx", "y"), ("x", "y", "z"), ("rx", "ry", "rz"))
    loop = fa.Loop(
        (str(first), 0),
        "ground" if rng.random() < 0.3 else (str(second), "tip"),
        directions=sets[rng.integers(4)],
        position=rng.normal(size=3),
        rotation=frames[0],
        position2=rng.normal(size=3),
        rotation2=frames[1],
    )
    try:
        return arm.replace(constraints=[loop])
    except fa.ModelError:
        return None


@each("seed", range(12))
def test_loops_on_bodies_that_are_summed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arm = random_loop(decorated(seed), rng)
    if arm is None:
        return
    full, x = every_body(arm), operands(arm, seed)
    J = np.asarray(full.constraint_jacobian(x["q"]))
    C = J @ np.asarray(full.mass_matrix_inverse(x["q"])) @ J.swapaxes(1, 2)
    if np.linalg.cond(C).max() > 1e3:
        return  # forces of redundant rows are not unique
    names = ("forward_dynamics", "forward_dynamics_composite", "inverse_dynamics")
    for name in names:
        given = [x[letter] for letter in KERNELS[name]]
        near(name, getattr(arm.kernels, name)(*given), getattr(full, name)(*given))
    # what names constraints has all bodies, the time loop those that move
    for name, letters in (("violation", "q"), ("jacobian", "q"), ("forces", "qdt")):
        given = [x[letter] for letter in letters]
        kernel = f"constraint_{name}"
        assert_array_equal(
            getattr(arm.kernels, kernel)(*given), getattr(full, kernel)(*given)
        )


def test_a_four_bar_linkage_with_covers() -> None:
    """Against the linkage whose bars have the covers in their own mass."""

    def bar(name: str, parent: str, length: float, covered: bool) -> list[fa.RigidBody]:
        joint = fa.Joint(axis="z", parent=parent, node="tip" if name != "a" else 0)
        tip = {"tip": (length, 0.0, 0.0)}
        rod = fa.RigidBody(name, joint, 1.0, (0.5 * length, 0, 0), (0.0, 0.1, 0.1), tip)
        at = fa.Joint("fixed", parent=name, node="tip")
        cover = fa.RigidBody(f"cover {name}", at, mass=0.5, inertia=(0.1, 0.1, 0.1))
        if covered:
            return [rod, cover]
        both = fa.RigidBody(
            name,
            joint,
            1.5,
            (length * 2.0 / 3.0, 0, 0),
            np.array([0.1, 0.2, 0.2]) + np.array([0, 1, 1]) * length**2 / 12.0,
            tip,
        )
        return [both]

    def linkage(covered: bool) -> fa.Arm:
        bars = (("a", "ground", 1.0), ("b", "a", 1.5), ("c", "b", 1.2))
        bodies = [x for one in bars for x in bar(*one, covered)]
        end = "cover c" if covered else "c"
        loop = fa.Loop(
            (end, "tip"), directions=("x", "y"), position2=(1.4, 0.2, 0.0), name="pin"
        )
        return fa.Arm(bodies, constraints=[loop], gravity=(0.0, -9.81, 0.0))

    plain, covered = linkage(False), linkage(True)
    q = fa.close_loops(plain, [1.2, -1.0, -1.5])
    J = fa.constraint_jacobian(plain, q)
    qd = np.linalg.svd(J)[2][-1]
    given = q, qd, np.array([0.3, -0.2, 0.1])
    expected = fa.forward_dynamics(plain, *given)
    assert_allclose(fa.forward_dynamics(covered, *given), expected, rtol=1e-13)
    assert np.abs(fa.constraint_violation(covered, q)).max() < 1e-12
    again = pickle.loads(pickle.dumps(covered))
    assert_array_equal(
        fa.forward_dynamics(again, *given), fa.forward_dynamics(covered, *given)
    )
    fewer = covered.kernels.work_size("forward_dynamics")
    assert fewer < every_body(covered).work_size("forward_dynamics")
    assert fewer == every_body(plain).work_size("forward_dynamics")
    t = np.linspace(0.0, 0.1, 11)
    runs = [fa.simulate(arm, q, qd, t) for arm in (plain, covered)]
    assert_allclose(runs[1].q, runs[0].q, rtol=0.0, atol=1e-12)


def test_simulation_and_threads() -> None:
    arm = decorated(4)
    q, qd = (operands(arm, 4)[letter] for letter in "qd")
    run = fa.simulate(arm, q, 0.1 * qd, np.linspace(0.0, 0.01, 11))
    assert_allclose(run.energy, run.energy[:, :1] + 0 * run.energy, rtol=1e-3)
    many = [np.concatenate([one] * 400) for one in (q, qd)]
    assert_array_equal(
        fa.bias_forces(arm, *many, threads=2), fa.bias_forces(arm, *many)
    )


def test_refusals_of_merge() -> None:
    arm = fa.library.planar_chain(2)
    model = every_body(arm)
    for other in (arm, every_body(fa.library.planar_chain(1))):
        with pytest.raises((TypeError, ValueError), match="merge"):
            model.merge(other)
