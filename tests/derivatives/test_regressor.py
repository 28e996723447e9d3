"""Regressor, base parameters, and arms with other parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arrays import Array
from numpy.testing import assert_allclose, assert_array_equal
from trees import SEVERAL, random_state

import flexarm as fa
from flexarm.arm import Arm
from flexarm.library import random_tree
from flexarm.parameters._base import random_motion
from flexarm.reference import de_luca_siciliano as paper


def drives() -> Arm:
    """Motors on rigid, flexible and no bodies, springs, dry friction, stops."""
    arm = random_tree(3, 4, max_modes=2, joints=("revolute", "prismatic"))
    assert {b.joint.kind for b in arm.bodies} == {"revolute", "prismatic"}
    bodies = []
    for i, body in enumerate(arm.bodies):
        drive = fa.Drive(
            50.0 + i,
            gear_ratio=20.0,
            rotor_inertia=1e-3 * (i + 1),
            rotor_transverse_inertia=2e-3,
            rotor_mass=0.3,
            stator_mass=0.5,
            stator_inertia=0.01,
            damping=0.1,
            motor_damping=0.02,
            motor_friction=fa.CoulombFriction(0.2, 0.1),
            locked=0.3 if i == 2 else None,
            rotary=body.joint.kind == "prismatic" and i > 1,
        )
        joint = body.joint.replace(
            damping=0.3,
            drive=drive,
            stiffness=3.0 if i == 1 else 0.0,
            rest=0.2 if i == 1 else 0.0,
            coulomb_friction=fa.CoulombFriction(1.5, 0.05),
            stops=fa.Stops(-0.1, 0.1 if i else np.inf, stiffness=400.0, damping=0.1),
        )
        bodies.append(body.replace(joint=joint))
    return arm.replace(bodies=bodies)


def states(arm: Arm, seed: int, n: int = 6) -> tuple[Array, ...]:
    rng = np.random.default_rng(seed)
    made = [random_state(rng, arm) for _ in range(n)]
    return tuple(np.array(x) for x in zip(*made, strict=True))


def assert_linear(arm: Arm, seed: int = 0) -> None:
    """Forces and energies are the regressors times the parameters."""
    q, qd, qdd = states(arm, seed)
    pi = fa.inertial_parameters(arm)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    Y = fa.inertial_regressor(arm, q, qd, qdd)
    assert Y.shape == (len(q), arm.nv, len(pi))
    scale = np.abs(Y * pi.values).sum(-1).max()
    assert_allclose(Y @ pi.values, tau, rtol=0.0, atol=2e-14 * scale)
    row = fa.Arm.energy_regressor(arm, q, qd)
    scale = np.abs(row * pi.values).sum(-1).max()
    assert_allclose(
        row @ pi.values, fa.energy(arm, q, qd), rtol=0.0, atol=2e-14 * scale
    )


@pytest.mark.parametrize("seed", range(6))
def test_random_trees(seed: int) -> None:
    assert_linear(random_tree(seed, 5, 2, joints=SEVERAL, attachments=0.3), seed)


@pytest.mark.parametrize("fidelity", ["linear", "ruthless"])
def test_fidelities(fidelity: str) -> None:
    assert_linear(random_tree(8, 3, 2).replace(fidelity=fidelity))


@pytest.mark.parametrize(
    "name", ["puma560", "de_luca_siciliano", "farid_two_link", "spin_up_beam"]
)
def test_library(name: str) -> None:
    assert_linear(getattr(fa.library, name)())


def test_motors_springs_friction_and_stops() -> None:
    assert_linear(drives())


def test_many_modes() -> None:
    assert_linear(random_tree(2, 2, 13, n_nodes=8, foreshortening=0.0))


def test_other_parameters() -> None:
    """A changed arm has the forces that the regressor of the first one gives."""
    for arm in (drives(), random_tree(4, 4, 3, joints=SEVERAL, foreshortening=1.0)):
        every = fa.inertial_parameters(arm)
        rng = np.random.default_rng(1)
        values = every.values * rng.uniform(1.0, 1.0 + 1e-3, len(every))
        kept = [".stator" in name for name in every.names]
        values = np.where(kept, every.values, values)
        changed = fa.Arm.with_inertial_parameters(arm, values)
        q, qd, qdd = states(arm, 5)
        Y = fa.inertial_regressor(arm, q, qd, qdd)
        tau = fa.inverse_dynamics(changed, q, qd, qdd)
        scale = np.abs(Y * values).sum(-1).max()
        assert_allclose(Y @ values, tau, rtol=0.0, atol=1e-13 * scale)
        again = fa.inertial_parameters(changed)
        assert again.names == every.names
        assert_allclose(again.values, values, rtol=1e-12, atol=1e-14)


def test_the_same_parameters_are_the_same_arm() -> None:
    for arm in (fa.library.puma560(), drives(), fa.library.spin_up_beam()):
        values = fa.inertial_parameters(arm).values
        assert fa.Arm.with_inertial_parameters(arm, values) == arm


def test_parts_add_up() -> None:
    arm = fa.library.de_luca_siciliano(damping=True)
    q, qd, qdd = states(arm, 2)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    total = np.zeros_like(tau)
    for body in ("link1", 1):
        for family in ("inertia", "stiffness", "damping", ["joint", "motor"]):
            options: dict[str, Any] = {"bodies": body, "families": family}
            pi = fa.inertial_parameters(arm, **options)
            total += fa.inertial_regressor(arm, q, qd, qdd, **options) @ pi.values
    assert_allclose(total, tau, rtol=1e-12, atol=1e-12)


def test_de_luca_constants() -> None:
    """Undeformed, the closed form of the paper is the regressor times its integrals."""
    arm = fa.library.de_luca_siciliano()
    p = paper.Parameters()
    c = paper.coefficients(p, *paper.paper_modes(p))
    q, _, qdd = states(arm, 0)
    q[:, 2:] = 0.0
    pi = fa.inertial_parameters(arm)
    Y = fa.inertial_regressor(arm, q, 0.0 * q, qdd)
    B = paper.mass_matrix(c, q)
    expected = np.einsum("nij,nj->ni", B, qdd)
    assert_allclose(Y @ pi.values, expected, rtol=1e-9, atol=1e-9)
    # stiffness (35) is among the parameters
    K = [v for n, v in zip(pi.names, pi.values, strict=True) if ".K[" in n]
    assert_allclose(K, c.stiffness[2:], rtol=1e-9)


def test_de_luca_coefficients_are_base_parameters() -> None:
    """His b_111, b_112, b_121, b_122, b_151, ... of (32), by what can be identified."""
    p = paper.Parameters()
    b = paper.coefficients(p, *paper.paper_modes(p)).b
    base = fa.base_parameters(fa.library.de_luca_siciliano())
    value = dict(zip(base.names, base.values, strict=True))
    outer, length = value["link2.Izz"], p.length[0]
    expected = [
        *(value["link1.Izz + 0.25 link2.m"] + outer, 2 * length * value["link2.mx"]),
        *(outer, length * value["link2.mx"]),
    ]
    for mode in ("bending y 1", "bending y 2"):
        expected += [value[f"link2.F0[z,{mode}]"], length * value[f"link2.E[y,{mode}]"]]
    got = [*b[1, 1][:2], *b[1, 2][:2], *b[1, 5][:2], *b[1, 6][:2]]
    assert_allclose(got, expected, rtol=1e-10)


def test_base_parameters_of_textbooks() -> None:
    """Two links that turn about parallel axes, Khalil and Dombre, section 9.4."""
    level = fa.Joint(axis=(0, 0, 1), position=(0, 0, 0))
    second = fa.Joint(axis=(0, 0, 1), node="elbow")
    links = [
        fa.RigidBody(
            "a", level, 2.0, (0.2, 0, 0), (0.1, 0.1, 0.1), {"elbow": (0.5, 0, 0)}
        ),
        fa.RigidBody("b", second, 1.0, (0.3, 0.1, 0), (0.05, 0.05, 0.05)),
    ]
    flat = fa.base_parameters(fa.Arm(links))
    assert flat.names == ("a.Izz + 0.25 b.m", "b.mx", "b.my", "b.Izz")
    assert len(flat.unidentified) == 20 - 5
    upright = fa.base_parameters(fa.Arm(links, gravity=(0, -9.81, 0)))
    assert upright.names[:3] == ("a.mx + 0.5 b.m", "a.my", "a.Izz + 0.25 b.m")
    assert upright.names[3:] == ("b.mx", "b.my", "b.Izz")
    assert_allclose(upright.values[0], 2.0 * 0.2 + 0.5, rtol=1e-14)
    assert "a.mx + 0.5 b.m" in str(upright)


@pytest.mark.parametrize("name", ["puma560", "de_luca_siciliano", "spin_up_beam"])
def test_base_parameters_give_all_forces(name: str) -> None:
    arm = getattr(fa.library, name)()
    base = fa.base_parameters(arm, families=None)
    q, qd, qdd = states(arm, 9)
    Y = fa.inertial_regressor(arm, q, qd, qdd)
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    got = Y[..., list(base.independent)] @ base.values
    assert_allclose(got, tau, rtol=0.0, atol=1e-11 * np.abs(tau).max())
    # and no fewer columns do
    flat = Y[..., list(base.independent)]
    assert len(base) == len(base.names) < len(base.parameters)
    assert flat.shape[-1] == len(base)


def test_out_batches_and_order() -> None:
    arm = fa.library.puma560()
    q, qd, qdd = states(arm, 3)
    whole = fa.inertial_regressor(arm, q[:, None], qd, qdd)
    assert whole.shape == (6, 6, 6, 66)
    out = np.zeros((6, 6, 6, 66))
    fa.inertial_regressor(arm, q[:, None], qd, qdd, out=out, threads=2)
    assert (out == whole).all()
    one = fa.inertial_regressor(arm, q[2], qd[1], qdd[1])
    assert_array_equal(one, whole[2, 1])
    pi = fa.inertial_parameters(arm)
    assert pi.index("link2.mx") == pi.names.index("link2.mx")


def test_identification() -> None:
    """Least squares on simulated motion find the base parameters."""
    arm = fa.library.de_luca_siciliano(damping=True)
    base = fa.base_parameters(arm, families=None)
    q, qd, qdd = states(arm, 4, 60)
    Y = fa.inertial_regressor(arm, q, qd, qdd)[..., list(base.independent)]
    tau = fa.inverse_dynamics(arm, q, qd, qdd)
    scale = np.sqrt((Y * Y).sum(axis=(0, 1)))
    matrix = (Y / scale).reshape(-1, len(base))
    found = np.linalg.lstsq(matrix, tau.ravel(), rcond=None)[0] / scale
    assert_allclose(found, base.values, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda a: fa.inertial_regressor(a, [0.0], [0.0] * 6, [0.0] * 6),
            "q has a last",
        ),
        (lambda a: fa.inertial_parameters(a, families="mass"), "families is 'mass'"),
        (lambda a: fa.inertial_parameters(a, bodies=1.5j), "bodies is 1.5j"),
        (lambda a: fa.inertial_parameters(a, bodies="arm"), "has no body 'arm'"),
        (lambda a: fa.Arm.with_inertial_parameters(a, [1.0]), "values has shape"),
        (lambda a: fa.Arm.with_inertial_parameters(a, [np.nan] * 66), "values"),
        (lambda a: fa.inertial_parameters(a).index("m"), "there is no parameter 'm'"),
        (
            lambda a: fa.inertial_regressor(a, [0] * 6, [0] * 6, [0] * 6, families=[]),
            "no parameters of these families",
        ),
        (
            lambda a: fa.base_parameters(a, bodies=0, families=["motor"]),
            "no parameters of these families",
        ),
        (
            lambda a: fa.inertial_regressor(
                a, [0] * 6, [0] * 6, [0] * 6, out=np.zeros((6, 7))
            ),
            "out has shape",
        ),
    ],
)
def test_arguments_of_regressors_have_to_fit(call: Any, told: str) -> None:
    with pytest.raises(
        (fa.ArgumentError, fa.ModelError), match=told.replace("(", "\\(")
    ):
        call(fa.library.puma560())


def test_unphysical_parameters() -> None:
    arm = fa.library.puma560()
    values = fa.inertial_parameters(arm).values.copy()
    values[1] = -1.0
    with pytest.raises(fa.ModelError):
        fa.Arm.with_inertial_parameters(arm, values)
    held = drives()
    pi = fa.inertial_parameters(held)
    stator = [i for i, name in enumerate(pi.names) if ".stator" in name]
    assert stator
    values = pi.values.copy()
    values[stator[0]] += 1.0
    with pytest.raises(fa.ModelError, match="change the drive"):
        fa.Arm.with_inertial_parameters(held, values)


def test_states_that_are_not_finite() -> None:
    arm = fa.library.puma560()
    q = np.zeros((3, 6))
    q[1, 2] = np.nan
    with pytest.raises(fa.NotFiniteError, match=r"first at index \(1,\)"):
        fa.inertial_regressor(arm, q, q * 0.0, q * 0.0)


def test_other_parameters_of_rigid_bodies_with_motors() -> None:
    """Motors that stand on a body are not counted twice when it changes."""
    drive = fa.Drive(
        50.0,
        gear_ratio=20.0,
        rotor_inertia=1e-3,
        rotor_mass=0.3,
        stator_mass=0.5,
        stator_inertia=0.02,
    )
    bodies = [
        fa.RigidBody(
            name,
            fa.Joint(axis=axis, drive=drive, position=(0.3, 0, 0)),
            mass=2.0,
            com=(0.2, 0.1, 0.0),
            inertia=(0.1, 0.2, 0.25),
        )
        for name, axis in (("a", (0, 0, 1)), ("b", (0, 1, 0)), ("c", (0, 0, 1)))
    ]
    arm = fa.Arm(bodies)
    every = fa.inertial_parameters(arm, families="inertia")
    rng = np.random.default_rng(1)
    values = every.values * rng.uniform(1.0, 1.001, len(every))
    kept = [
        not name.startswith(("a.", "b.")) or "." in name[2:] for name in every.names
    ]
    values = np.where(kept, every.values, values)
    assert (values != every.values).sum() > 8
    changed = fa.Arm.with_inertial_parameters(arm, values, families="inertia")
    again = fa.inertial_parameters(changed, families="inertia")
    assert_allclose(again.values, values, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_random_deformations_have_one_size(unit: float) -> None:
    """In m and rad, whatever the unit of the modal coordinates is."""
    arm = fa.library.planar_chain(1, n_modes=2)
    body = arm.bodies[0]
    scaled = arm.replace(
        bodies=[
            body.replace(
                node_translation=unit * body.node_translation,
                node_rotation=unit * body.node_rotation,
                stiffness=unit**2 * body.stiffness,
                damping=None,
            )
        ]
    )
    ours = random_motion(scaled, 20, 0)[0][:, 1:] * unit
    theirs = random_motion(arm, 20, 0)[0][:, 1:]
    assert_allclose(ours, theirs, rtol=1e-9)
