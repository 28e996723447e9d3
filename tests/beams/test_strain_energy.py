"""Beams to third order: formulas by exact rotations, kernels by the Lagrangian.

The oracle of the formulas is the composition of two exact rotations, of which the
curvature is a difference quotient; that of the kernels is the brute-force Lagrangian,
and the twin by a complex step.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import flexarm as fa
from flexarm import beams
from flexarm.bodies.strain_energy import (
    StrainEnergy,
    section_turn,
    section_turn_slopes,
)
from flexarm.reference import lagrangian, twin

# links of few modes on purpose
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

STEP = 1e-30


def skew(x: Any) -> Any:
    return np.cross(np.eye(3), x)


def exact_rotation(s: Any, e: Any) -> Any:
    """The shortest rotation of e to the tangent, after the twist about e."""
    theta = s @ e
    b = s - theta * e
    root = np.sqrt(1.0 - b @ b)
    to_tangent = np.eye(3) + skew(b) + skew(b) @ skew(b) / (1.0 + root)
    return to_tangent @ Rotation.from_rotvec(theta * e).as_matrix()


def axes() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    E = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    E *= np.linalg.det(E)
    return E, rng.normal(size=3), rng.normal(size=3)


def test_the_tangent_has_the_slopes_as_sines() -> None:
    E, s, _ = axes()
    across = E.T @ exact_rotation(0.3 * s, E[:, 0]) @ E[:, 0]
    slopes = E.T @ (0.3 * s)
    assert_allclose(across[1:], [slopes[2], -slopes[1]], rtol=0, atol=1e-15)


def test_rotations_to_third_order_and_in_the_plane_to_sixth() -> None:
    E, s, _ = axes()
    e, off, plane = E[:, 0], [], []
    for h in (0.2, 0.1):
        exact = Rotation.from_matrix(exact_rotation(h * s, e)).as_rotvec()
        off.append(np.linalg.norm(section_turn(h * s, e) - exact))
        flat = section_turn(2.0 * h * E[:, 1], e) - np.arcsin(2.0 * h) * E[:, 1]
        plane.append(np.linalg.norm(flat))
    assert_allclose(np.log2(off[0] / off[1]), 4.0, atol=0.1)
    assert_allclose(np.log2(plane[0] / plane[1]), 7.0, atol=0.2)
    assert off[1] < 5e-6 and plane[1] < 1e-6


def test_slopes_of_rotations_are_derivatives() -> None:
    E, s, _ = axes()
    moved = section_turn(s + 1j * STEP * np.eye(3), E[:, 0]).imag.T / STEP
    assert_allclose(section_turn_slopes(s, E[:, 0]), moved, rtol=1e-14)


def one_point(stiffness: Any, twist: float = 1.0) -> StrainEnergy:
    """A point whose coordinates are s and its rate."""
    turn, rate = np.zeros((2, 1, 3, 6))
    turn[0, :, :3] = rate[0, :, 3:] = np.eye(3)
    return StrainEnergy(np.array([1.0, 0, 0]), np.array([stiffness]), turn, rate)


def test_energy_is_that_of_the_curvature_of_exact_rotations() -> None:
    """To fourth order in s for curvatures of first order: errors fall as h^6 here."""
    e, off = np.array([1.0, 0.0, 0.0]), []
    _, s, rate = axes()
    D = np.array([0.7, 2.0, 1.0])
    for h in (0.2, 0.1):
        step = 1e-4
        R = [
            exact_rotation(h * (s + x * rate), e)
            for x in (-2, -1, 0, 1, 2) * np.array(step)
        ]
        change = (8.0 * (R[3] - R[1]) - (R[4] - R[0])) / (12.0 * step)
        K = R[2].T @ change
        kappa = np.array([K[2, 1], K[0, 2], K[1, 0]])
        exact = 0.5 * D @ (kappa**2 - (h * rate) ** 2)
        found = one_point(D).energy(h * np.concatenate([s, rate]))
        assert exact > 1e-4
        off.append(abs(found - exact))
    assert off[1] < 1e-8
    assert np.log2(off[0] / off[1]) > 5.8


def test_forces_are_derivatives_of_the_energy() -> None:
    rng = np.random.default_rng(1)
    energy = one_point([0.7, 2.0, 1.0])
    x = rng.normal(size=6)
    forces = [energy.energy(x + 1j * STEP * d).imag / STEP for d in np.eye(6)]
    assert_allclose(energy.forces(x), forces, rtol=1e-13)


# kernels

RHO, EI, GJ, POLAR = 1.3, (20.0, 7.0), 5.0, 0.01


def modal(name: str, joint: fa.Joint, count: tuple[int, int, int]) -> fa.FlexibleBody:
    given: dict[str, Any] = {}
    if count[0]:
        given["bending_y"] = beams.clamped_beam_modes(1.0, RHO, EI[0], count[0])
    if count[1]:
        given["bending_z"] = beams.clamped_beam_modes(1.0, RHO, EI[1], count[1])
    if count[2]:
        given["torsion"] = beams.clamped_rod_modes(1.0, POLAR, GJ, count[2])
    return beams.flexible_link(
        name, length=1.0, mass_per_length=RHO, joint=joint, base_inertia=0.1, **given
    )


def elements(name: str, joint: fa.Joint, n: int, **options: Any) -> fa.FlexibleBody:
    section = beams.Section.from_stiffness(
        RHO, EI, torsional_stiffness=GJ, rotary_inertia=(POLAR, POLAR / 2, POLAR / 2)
    )
    return beams.finite_element_link(
        name,
        length=1.0,
        sections=section,
        n_elements=n,
        joint=joint,
        **{"n_modes": "all", **options},
    )


def tapered(name: str, joint: fa.Joint, n: int) -> fa.FlexibleBody:
    def section(x: float) -> beams.Section:
        part = (1.0 - 0.4 * x) ** 4
        return beams.Section.from_stiffness(
            RHO,
            (part * EI[0], part * EI[1]),
            torsional_stiffness=part * GJ,
            shear_stiffness=(500.0, 400.0),
            rotary_inertia=(POLAR, POLAR / 2, POLAR / 2),
        )

    return beams.finite_element_link(
        name, length=1.0, sections=section, n_elements=n, joint=joint, n_modes="all"
    )


def mixing(count: int) -> Any:
    return np.random.default_rng(8).normal(size=(5, count))


def on(axis: Any, parent: str | None = None) -> fa.Joint:
    if parent is None:
        return fa.Joint(axis=axis)
    return fa.Joint(axis=axis, parent=parent, node="tip")


X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
MIXED = {"bending y": 2, "bending z": 1, "torsion": 1}
LINKS: dict[str, Any] = {
    "plane": lambda: (modal("a", on(Z), (2, 0, 0)), modal("b", on(Z, "a"), (1, 0, 0))),
    "plane, many": lambda: (
        modal("a", on(Z), (3, 0, 0)),
        modal("b", on(Y, "a"), (0, 2, 0)),
    ),
    "both planes": lambda: (
        modal("a", on(Z), (2, 2, 0)),
        modal("b", on(X, "a"), (1, 1, 0)),
    ),
    "twist": lambda: (modal("a", on(Z), (2, 2, 2)), modal("b", on(Y, "a"), (1, 1, 2))),
    "oblique": lambda: (
        modal("a", on((1, 2, 3)), (2, 1, 1)),
        modal("b", on((1, 2, -1), "a"), (1, 1, 1)),
    ),
    "elements": lambda: (
        elements("a", on(Z), 2),
        elements("b", on(Y, "a"), 1, roll=0.4),
    ),
    "chord": lambda: (
        elements("a", on(Z), 2, frame="chord"),
        elements("b", on(Y, "a"), 3, n_modes=MIXED),
    ),
    "tapered": lambda: (tapered("a", on(Z), 1), tapered("b", on(Y, "a"), 2)),
    # each shape bends both ways and twists
    "oblique shapes": lambda: (
        elements("a", on(Z), 1, modes=mixing(3), n_modes=None),
        elements("b", on(Y, "a"), 1, modes=mixing(2), n_modes=None),
    ),
}


@functools.cache
def arm_of(kind: str) -> fa.Arm:
    ball = fa.RigidBody("ball", on((1, 1, 0), "b"), 0.3, inertia=(0.01, 0.02, 0.02))
    return fa.Arm([*LINKS[kind](), ball], gravity=(1.0, -2.0, -9.0))


def bent_state(arm: fa.Arm, slope: float = 0.4, seed: int = 3) -> tuple[Any, Any, Any]:
    """Modes with slopes and twists of about `slope` each."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.normal(size=(3, arm.nv))
    for k, body in enumerate(arm.bodies):
        if body.n_modes:
            size = slope / np.abs(body.node_rotation).max(axis=(0, 1))
            for x in (q, qd):
                x[arm.mode_slice(k)] *= size
    return q, qd, qdd


@each("kind", list(LINKS))
def test_lagrangian_and_twin(kind: str) -> None:
    arm = arm_of(kind)
    assert all(b._strain_energy is not None for b in arm.bodies[:2])
    q, qd, qdd = bent_state(arm)
    tau = lagrangian.generalized_forces(arm, q, qd, qdd)
    size = np.abs(tau).max()
    found = fa.inverse_dynamics(arm, q, qd, qdd)
    assert_allclose(found, tau, rtol=0, atol=1e-13 * size)
    assert_allclose(
        twin.inverse_dynamics(arm, q, qd, qdd), tau, rtol=0, atol=1e-13 * size
    )
    back = fa.forward_dynamics(arm, q, qd, tau)
    cond = np.linalg.cond(fa.mass_matrix(arm, q))
    assert_allclose(back, qdd, rtol=0, atol=1e-14 * cond * np.abs(qdd).max())
    V = lagrangian.potential_energy(arm, q)
    assert_allclose(fa.potential_energy(arm, q), V, rtol=1e-13)
    for node in (arm.node("a", "tip"), arm.node("b", "tip")):
        J = lagrangian.node_jacobian(arm, q, node)
        found = fa.jacobian(arm, q, node, frame="node")
        assert_allclose(found, J, rtol=0, atol=1e-14 * np.abs(J).max())
    # the energy is another one without the beams
    plain = arm.replace(
        bodies=[b.replace(beam=None) if b.n_modes else b for b in arm.bodies]
    )
    assert abs(fa.potential_energy(plain, q) / V - 1.0) > 1e-3


@each("kind", list(LINKS))
def test_derivatives(kind: str) -> None:
    arm = arm_of(kind)
    q, qd, qdd = bent_state(arm)
    found = fa.inverse_dynamics_derivatives(arm, q, qd, qdd)
    for own, step in ((found.dq, (1.0, 0.0)), (found.dqd, (0.0, 1.0))):
        columns = [
            twin.inverse_dynamics(
                arm, q + 1j * STEP * step[0] * d, qd + 1j * STEP * step[1] * d, qdd
            ).imag
            / STEP
            for d in np.eye(arm.nv)
        ]
        expected = np.array(columns).T
        assert_allclose(own, expected, rtol=0, atol=3e-14 * np.abs(expected).max())
    gradient = fa.Arm.energy_derivatives(arm, q, qd)[0]
    energies = (
        lagrangian.potential_energy(arm, q, delta=1e-40j * d)
        + lagrangian.kinetic_energy(arm, q, qd, delta=1e-40j * d)
        for d in np.eye(arm.nv)
    )
    expected = np.array([E.imag for E in energies]) / 1e-40
    assert_allclose(gradient, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@each("kind", ["twist", "chord"])
def test_rates_of_jacobians(kind: str) -> None:
    """Accelerations of a node, and derivatives of its Jacobian, by differences."""
    arm = arm_of(kind)
    q, qd, qdd = bent_state(arm)
    node, h = arm.node("b", "tip"), 1e-6
    J, ahead, behind = (
        fa.jacobian(arm, x, node, frame="node") for x in (q, q + h * qd, q - h * qd)
    )
    rate = J @ qdd + (ahead - behind) / (2.0 * h) @ qd
    found = fa.node_acceleration(arm, q, qd, qdd, node)
    # of the twist in the axes of the node
    twist = J @ qd
    rate[3:] += np.cross(twist[:3], twist[3:])
    assert_allclose(found, rate, rtol=0, atol=1e-7 * np.abs(rate).max())


def test_energy_is_conserved() -> None:
    link = modal("a", fa.Joint(axis=Y), (1, 1, 1))
    arm = fa.Arm([link], gravity=(0.0, 0.0, -9.81))
    q = np.array([0.3, *(0.25 / np.abs(link.node_rotation).max(axis=(0, 1)))])
    off = []
    for n in (1001, 2001):
        t = np.linspace(0.0, 0.2, n)
        run = fa.simulate(arm, q, np.zeros(arm.nv), t, method="rk4")
        assert run.success, run.message
        off.append(np.abs(run.energy - run.energy[0]).max() / np.abs(run.energy).max())
    assert off[1] < 1e-10 or np.log2(off[0] / off[1]) > 3.7


@each("kind", ["plane", "twist", "chord"])
def test_stacks(kind: str) -> None:
    """Arms of one stack, whose constants differ, and each alone."""
    arm = arm_of(kind)

    def changed(factor: float) -> fa.Arm:
        bodies = []
        for b in arm.bodies:
            if b.beam is not None:
                beam = b.beam.replace(stiffness=factor * b.beam.stiffness)
                b = b.replace(stiffness=factor * b.stiffness, beam=beam)
            bodies.append(b)
        return arm.replace(bodies=bodies)

    arms = [changed(x) for x in (1.0, 1.3, 0.8)]
    stack = fa.stack(arms)
    q, qd, qdd = bent_state(arm)
    for function in (fa.inverse_dynamics, fa.forward_dynamics):
        found = function(stack, q, qd, qdd)
        for one, own in zip(arms, found, strict=True):
            alone = function(one, q, qd, qdd)
            assert_allclose(own, alone, rtol=0, atol=1e-10 * np.abs(alone).max())


def test_forces_are_linear_in_the_parameters() -> None:
    arm = arm_of("twist")
    state = bent_state(arm)
    parameters = fa.inertial_parameters(arm)
    assert "a.strain" in parameters.names
    tau = fa.inertial_regressor(arm, *state) @ parameters.values
    expected = fa.inverse_dynamics(arm, *state)
    assert_allclose(tau, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    values = parameters.values.copy()
    values[parameters.names.index("a.strain")] = 2.0
    other = fa.Arm.with_inertial_parameters(arm, values)
    tau = fa.inertial_regressor(arm, *state) @ values
    found = fa.inverse_dynamics(other, *state)
    assert_allclose(found, tau, rtol=0, atol=1e-11 * np.abs(tau).max())


# which bodies


def test_bodies_that_keep_the_quadratic_energy() -> None:
    link = modal("a", on(Z), (2, 0, 0))
    q = np.array([0.0, 0.05, 0.01])
    quadratic = 0.5 * q[1:] @ link.stiffness @ q[1:]

    def V(body: fa.FlexibleBody, **options: Any) -> float:
        return float(
            fa.potential_energy(fa.Arm([body], gravity=(0, 0, 0), **options), q)
        )

    assert V(link) > 1.001 * quadratic
    for body in (link.replace(beam=None), link.replace(node_foreshortening=None)):
        assert_allclose(V(body), quadratic, rtol=1e-14)
    for fidelity in ("linear", "ruthless"):
        assert_allclose(V(link, fidelity=fidelity), quadratic, rtol=1e-14)
    # rotations of other axes are not those of the beam
    P = np.eye(3)[[2, 0, 1]]
    turned = link.replace(node_rotation=P @ link.node_rotation)
    assert turned._strain_energy is None
    section = beams.Section.from_stiffness(RHO, EI)
    bent = beams.finite_element_link(
        "a",
        points=[(0, 0, 0), (0.5, 0, 0), (0.5, 0.5, 0)],
        sections=section,
        motions="bending y",
        n_modes="all",
    )
    assert bent._strain_energy is None


@each("size", (0.02, 0.1, 0.4))
def test_the_bound_in_the_table_of_an_arm(size: float) -> None:
    arm = fa.Arm([modal("a", on(Z), (3, 0, 0))], gravity=(0, 0, 0))
    quadratic = arm.replace(bodies=[arm.bodies[0].replace(beam=None)])
    assert "1 % of it at slopes of 0.1, as s^2/(1 - s^2)" in str(arm)
    for other in (quadratic, arm.replace(fidelity="ruthless")):
        assert "fourth order" not in str(other)
    for q in np.random.default_rng(0).normal(size=(20, arm.nq)):
        at = q * size / float(fa.largest_slope(arm, q))
        least = fa.potential_energy(quadratic, at)
        more = fa.potential_energy(arm, at) - least
        # between nodes slopes may be larger by a little
        assert 0.0 < more < 1.05 * size**2 / (1.0 - size**2) * least


def test_a_beam_in_other_axes_has_the_same_energy() -> None:
    link = modal("a", on(Z), (2, 1, 1))
    R = Rotation.from_rotvec([0.3, -0.5, 0.8]).as_matrix()
    turned = link.replace(
        node_position=link.node_position @ R.T,
        node_translation=R @ link.node_translation,
        node_rotation=R @ link.node_rotation,
        node_foreshortening=np.einsum("ij,njrs->nirs", R, link.node_foreshortening),
        beam=link.beam.turned(R),
    )
    eta = bent_state(fa.Arm([link]))[0][1:]
    first, second = link._strain_energy, turned._strain_energy
    assert first is not None and second is not None
    assert_allclose(second.forces(eta), first.forces(eta), rtol=1e-12)
    assert_allclose(second.axis, R[:, 0], rtol=0, atol=1e-15)


@pytest.mark.parametrize("n", [1, 2])
def test_quadrature_of_few_modes(n: int) -> None:
    """Polynomials of one and two modes in a plane: the integral itself."""
    modes = beams.clamped_beam_modes(1.0, 1.0, 1.0, n)
    link = beams.flexible_link("a", length=1.0, mass_per_length=1.0, bending_y=modes)
    eta = 0.4 / np.abs(link.node_rotation).max(axis=(0, 1)) * [1.0, -0.7][:n]
    x, w = np.polynomial.legendre.leggauss(40)
    s, k = (eta @ f(0.5 * (x + 1.0)) for f in (modes.slope, modes.curvature))
    c = 1.0 + s**2 / 2.0 + 0.375 * s**4
    exact = 0.25 * w @ (k * k * (c * c - 1.0))
    energy = link._strain_energy
    assert energy is not None
    assert_allclose(energy.energy(eta), exact, rtol=1e-6)
