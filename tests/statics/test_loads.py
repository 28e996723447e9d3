"""Loads along links: closed forms, joints, balance of points, strains.

Oracles: a beam at rest and in rotation, inverse dynamics at the joint, accelerations
of nodes by the kernels (a sum over point masses), the law of the beam.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import flexarm as fa
from flexarm import beams
from flexarm._support.quadrature import gauss_rule
from flexarm.beams import STEEL, Payload, Section, finite_element_link, flexible_link
from flexarm.bodies.profile import integrals_beyond

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

STIFF = Section.from_stiffness(2.0, 1e9, torsional_stiffness=1e9)
ROD = Section.from_stiffness(
    1.3, (2.0, 5.0), torsional_stiffness=1.7, rotary_inertia=(0.002, 0.001, 0.001)
)
CORNERS = [[0, 0, 0], [0.4, 0, 0], [0.4, 0.3, 0], [0.5, 0.3, 0.4]]


def at_rest(arm: fa.Arm) -> tuple[Any, Any, Any]:
    return np.zeros(arm.nq), np.zeros(arm.nv), np.zeros(arm.nv)


# closed forms


def test_cantilever_with_weight_and_tip_load() -> None:
    """V = -rho g (L - x) - P, M = -rho g (L - x)^2 / 2 - P (L - x), downwards."""
    link = finite_element_link(
        "link",
        length=1.5,
        sections=STIFF,
        n_elements=3,
        motions="bending y",
        n_modes="all",
    )
    arm = fa.Arm([link], gravity=(0, -9.81, 0), check_units=False)
    loads = fa.link_loads(
        arm, *at_rest(arm), wrench=[0, 0, 2.0, 0, -7.0, 0], frame="base"
    )["link"]
    rest = 1.5 - loads.at
    assert loads.at.tolist() == [0.0, 0.5, 0.5, 1.0, 1.0, 1.5]
    assert_allclose(loads.force[:, 1], -2.0 * 9.81 * rest - 7.0, rtol=1e-13)
    moment = -9.81 * rest**2 - 7.0 * rest + 2.0
    assert_allclose(loads.moment[:, 2], moment, rtol=0, atol=1e-12)
    assert_allclose(loads.axial, 0.0, atol=1e-13)
    assert_allclose(loads.torsion, 0.0, atol=1e-13)


@pytest.mark.parametrize("kind", ["elements", "modes"])
def test_rotating_beam_is_pulled(kind: str) -> None:
    """Axial force rho Omega^2 (L^2 - x^2) / 2, more with a mass at the tip."""
    if kind == "elements":
        link = finite_element_link(
            "link",
            length=1.2,
            sections=STIFF,
            n_elements=4,
            motions="bending y",
            payloads=[Payload(1.2, mass=0.7)],
            n_modes="all",
        )
    else:
        link = flexible_link(
            "link",
            length=1.2,
            mass_per_length=2.0,
            bending_y=beams.clamped_beam_modes(1.2, 2.0, 1e9, 2),
            tip_mass=0.7,
        )
    arm = fa.Arm([link], gravity=(0, 0, 0), check_units=False)
    q, qd, qdd = at_rest(arm)
    qd[0] = 3.0
    loads = fa.link_loads(arm, q, qd, qdd)["link"]
    expected = 9.0 * (1.2**2 - loads.at**2) + 0.7 * 9.0 * 1.2
    assert_allclose(loads.axial, expected, rtol=1e-12)
    # angular acceleration: shear and bending of a rod that swings
    loads = fa.link_loads(arm, q, 0 * qd, np.eye(arm.nv)[0])["link"]
    x, L = loads.at, 1.2
    shear = -(L**2 - x**2) - 0.7 * L
    assert_allclose(loads.force[:, 1], shear, rtol=1e-12)
    moment = -2.0 * (L**3 / 3 - x * L**2 / 2 + x**3 / 6) - 0.7 * L * (L - x)
    assert_allclose(loads.moment[:, 2], moment, rtol=0, atol=1e-12)


def test_torsion_of_a_rolling_bar_and_a_corner() -> None:
    """An L under its weight: the second leg twists the first one."""
    link = finite_element_link(
        "link",
        points=[[0, 0, 0], [0.6, 0, 0], [0.6, 0.4, 0]],
        sections=STIFF.replace(rotary_inertia=(1e-3, 0, 0)),
        n_elements=2,
        n_modes="all",
    )
    arm = fa.Arm([link], gravity=(0, 0, -9.81), check_units=False)
    loads = fa.link_loads(arm, *at_rest(arm))["link"]
    w = 2.0 * 9.81
    # before the corner: shear -w (L2), torsion -w L2^2 / 2 about x, bending about y
    assert_allclose(loads.moment[1], [-w * 0.4**2 / 2, 0.0, 0.0], atol=1e-12)
    assert_allclose(loads.force[1], [0.0, 0.0, -0.4 * w], atol=1e-13)
    # at the base: moment about y of both legs, positive as it bends downwards
    about_y = w * (0.6**2 / 2 + 0.4 * 0.6)
    assert_allclose(loads.moment[0], [-w * 0.08, about_y, 0.0], atol=1e-12)
    # behind the corner in the axes of the second leg
    assert_allclose(loads.moment[2], [0.0, w * 0.08, 0.0], atol=1e-12)
    # a bar that is rolled up
    rod = finite_element_link(
        "rod", length=1.0, sections=ROD, n_elements=2, motions="torsion",
        rotary_inertia=True,
    n_modes="all")  # fmt: skip
    arm = fa.Arm(
        [rod.replace(joint=fa.Joint(axis=(1, 0, 0)))], gravity=(0, 0, 0),
        check_units=False,
    )  # fmt: skip
    loads = fa.link_loads(arm, *at_rest(arm)[:2], np.eye(arm.nv)[0])["rod"]
    assert_allclose(loads.torsion, -0.002 * (1.0 - loads.at), rtol=1e-12)


# arms


def spatial_arm(stiffening: bool, drive: bool = False, gravity: float = 9.81) -> fa.Arm:
    """A bent link, one in its chord frame, a rigid body, exact modes, a branch."""
    given: dict[str, Any] = {
        "geometric_stiffening": stiffening,
        "sections": ROD,
        "n_modes": "all",
    }
    motor = {}
    if drive:
        motor["drive"] = fa.Drive(
            50.0,
            gear_ratio=20.0,
            rotor_inertia=1e-3,
            rotor_transverse_inertia=2e-3,
            rotor_mass=0.3,
            stator_mass=0.2,
            stator_inertia=0.01,
        )
    modes = beams.clamped_beam_modes(0.5, 1.0, 2.0, 2, tip_mass=0.3)
    bent = finite_element_link(
        "bent",
        points=CORNERS,
        n_elements=3,
        joint=fa.Joint(axis=(0, 0, 1)),
        payloads=[Payload(0.5, mass=0.4, com=(0.05, -0.1, 0.1), inertia=(0.01,) * 3)],
        rotary_inertia=True,
        **given,
    )
    chord = finite_element_link(
        "chord",
        length=0.6,
        n_elements=2,
        frame="chord",
        joint=fa.Joint(parent="bent", node="tip", axis=(0, 0.6, 0.8), **motor),
        **given,
    )
    rigid = fa.RigidBody(
        "rigid",
        fa.Joint(parent="chord", node="tip", axis=(1, 0, 0), position=(0.1, 0, 0)),
        mass=0.5,
        com=(0.1, 0.2, 0.0),
        inertia=(0.01, 0.02, 0.02),
        nodes={"end": (0.3, 0.1, 0.0)},
    )
    exact = flexible_link(
        "exact",
        length=0.5,
        mass_per_length=1.0,
        bending_y=modes,
        bending_z=modes,
        torsion=beams.clamped_rod_modes(0.5, 0.01, 1.0, 1),
        joint=fa.Joint(parent="rigid", node="end", axis=(0, 1, 0), **motor),
        tip_mass=0.3,
        tip_com=(0.02, 0.1, 0.0),
        tip_inertia=(0.01, 0.01, 0.01),
        geometric_stiffening=stiffening,
    )
    branch = finite_element_link(
        "branch",
        length=0.3,
        n_elements=1,
        joint=fa.Joint(parent="bent", node=4, axis=(0, 0, 1)),
        **given,
    )
    return fa.Arm(
        [bent, chord, rigid, exact, branch],
        gravity=(1.0, -2.0, -gravity),
        check_units=False,
    )


def states(arm: fa.Arm, n: int = 3, size: float = 0.01) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(7)
    q, qd, qdd = rng.standard_normal((3, n, arm.nv))
    modes = slice(arm.motor_slice.stop, None)
    q[:, modes] *= size
    return q, qd, qdd


@pytest.mark.parametrize("drive", [False, True])
@pytest.mark.parametrize("stiffening", [False, True])
def test_joint_feels_the_moment_at_the_base(stiffening: bool, drive: bool) -> None:
    """Minus the torque of inverse dynamics, in any state of a spatial arm."""
    arm = spatial_arm(stiffening, drive)
    q, qd, qdd = states(arm)
    loads = fa.link_loads(arm, q, qd, qdd)
    assert list(loads) == ["bent", "chord", "exact", "branch"]
    plain = fa.reference.motors.expanded(arm)  # without the springs of the drives
    tau = fa.inverse_dynamics(plain, q, qd, qdd)
    for name in loads:
        body = arm.bodies[arm.body_index(name)]
        at = arm.body_joint_slice(name).start
        # the section of a base that turns in its frame is that of the joint
        moment = loads[name].moment[:, 0] @ loads[name].profile.axes[0].T
        axis = np.asarray(body.joint.screws[:3, 0])
        assert_allclose(moment @ axis, -tau[:, at], rtol=0, atol=1e-11)


def test_wrench_from_outside() -> None:
    """On a node of any link, in either frame: tau less J' f."""
    arm = spatial_arm(True)
    q, qd, qdd = states(arm)
    rng = np.random.default_rng(2)
    wrench = rng.standard_normal((3, 6))
    for node, frame in (
        (None, "node"),
        (("exact", "g3"), "base"),
        (("bent", 4), "node"),
    ):
        loads = fa.link_loads(arm, q, qd, qdd, wrench=wrench, node=node, frame=frame)[
            "bent"
        ]
        tau = fa.inverse_dynamics(arm, q, qd, qdd)
        tau = tau - fa.wrench_forces(arm, q, wrench, node, frame=frame)
        assert_allclose(loads.moment[:, 0, 2], -tau[:, 0], rtol=0, atol=1e-11)


def test_points_beyond_are_in_balance() -> None:
    """Sum of m (a - g) and of its moment, with accelerations from the kernels.

    Point masses only, on nodes that move linearly in the modes: then the sums are
    exact to rounding.
    """
    section = Section.from_stiffness(1.3, (2.0, 5.0))
    given: dict[str, Any] = {
        "sections": section,
        "geometric_stiffening": False,
        "motions": ("bending y", "bending z"),
        "length": 0.7,
        "n_modes": "all",
    }
    first = finite_element_link(
        "first",
        n_elements=3,
        payloads=[Payload(0.3, mass=0.2)],
        joint=fa.Joint(axis=(0.6, 0, 0.8)),
        **given,
    )
    second = finite_element_link(
        "second",
        n_elements=2,
        payloads=[Payload(0.7, mass=0.2)],
        frame="chord",
        joint=fa.Joint(parent="first", node="tip", axis=(0, 0.6, 0.8)),
        **given,
    )
    arm = fa.Arm([first, second], gravity=(1.0, 2.0, -9.0), check_units=False)
    q, qd, qdd = states(arm)
    loads = fa.link_loads(arm, q, qd, qdd)
    number = np.arange(arm.n_nodes)
    a = np.stack(
        [fa.node_acceleration(arm, q, qd, qdd, j, frame="base") for j in number], axis=1
    )[..., 3:]
    T = fa.node_poses(arm, q)
    mass = np.concatenate([body.node_mass for body in arm.bodies])
    f = mass[:, None] * (a - arm.gravity)
    for body in arm.bodies:
        link = loads[body.name]
        own = arm.node_slice(body.name)
        for j, node in enumerate(link.profile.node):
            beyond = np.zeros(arm.n_nodes, dtype=bool)
            beyond[own] = link.profile.beyond[j]
            if body.name == "first":
                beyond[arm.node_slice("second")] = True
            at = own.start + int(node)
            R, x = T[:, at, :3, :3], T[:, at, :3, 3]
            force = -f[:, beyond].sum(axis=1)
            lever = T[..., :3, 3][:, beyond] - x[:, None]
            moment = -np.cross(lever, f[:, beyond]).sum(axis=1)
            R = R @ link.profile.axes[j]
            expected = np.einsum("bij,bi->bj", R, force)
            assert_allclose(link.force[:, j], expected, rtol=0, atol=1e-12)
            expected = np.einsum("bij,bi->bj", R, moment)
            assert_allclose(link.moment[:, j], expected, rtol=0, atol=1e-12)


# strains


def test_strains_and_balance_agree_at_rest() -> None:
    """Elements under a load at the tip: cubic deflections are exact."""
    link = finite_element_link(
        "link",
        points=CORNERS,
        sections=ROD,
        n_elements=3,
        joint=fa.Joint("fixed"),
        geometric_stiffening=False,
        n_modes="all",
    )
    arm = fa.Arm([link], gravity=(0, 0, 0), check_units=False)
    f = 1e-6 * np.array([0.3, -0.2, 0.5, 1.0, 2.0, -3.0])
    tau = fa.wrench_forces(arm, arm.neutral, f)
    q = np.linalg.solve(link.stiffness, tau)
    loads = fa.link_loads(arm, q, 0 * q, 0 * q, wrench=f, frame="base")["link"]
    # the balance is that of the deformed link, which is the second order
    assert_allclose(loads.strain_moment, loads.moment, rtol=0, atol=2e-11)
    assert np.abs(loads.moment).max() > 1e-6


def test_strains_approach_the_balance_as_elements_shrink() -> None:
    """A swinging, vibrating link in its equation of motion; square of the length."""
    off = []
    for n in (4, 8):
        link = finite_element_link(
            "link",
            length=1.0,
            sections=Section.from_stiffness(1.0, 50.0),
            n_elements=n,
            motions="bending y",
            n_modes="all",
        )
        arm = fa.Arm([link], gravity=(0, -9.81, 0), check_units=False)
        q, qd = np.zeros((2, arm.nv))
        # slowly accelerated: inertia along the link is linear, no waves
        A = fa.mass_matrix(arm, q)
        force = -A[1:, 0] * 2.0 - fa.gravity_forces(arm, q)[1:]
        q[1:] = np.linalg.solve(link.stiffness, force)
        qdd = np.eye(arm.nv)[0] * 2.0
        loads = fa.link_loads(arm, q, qd, qdd)["link"]
        gap = loads.strain_moment[:, 2] - loads.moment[:, 2]
        off.append(np.abs(gap).max())
    assert_allclose(off[0] / off[1], 4.0, rtol=0.15)


def test_stress() -> None:
    """Bar under its weight at the base: 6 M / (b h^2), by strains with the elements."""
    bar = Section.rectangle(0.01, 0.02, STEEL)
    link = finite_element_link(
        "link",
        length=0.5,
        sections=bar,
        n_elements=2,
        motions="bending z",
        n_modes="all",
    )
    arm = fa.Arm([link])
    loads = fa.link_loads(arm, *at_rest(arm))["link"]
    M = 7850.0 * 2e-4 * 9.81 * 0.5**2 / 2
    assert_allclose(loads.stress()[0], 6.0 * M / (0.01 * 0.02**2), rtol=1e-12)
    assert_allclose(loads.stress()[-1], 0.0, atol=1e-3)
    q = np.concatenate([[0.0], 1e-3 * np.ones(4)])
    loads = fa.link_loads(arm, [q, 2 * q], 0 * q, 0 * q)["link"]
    stress = loads.stress(by_strain=True)
    curvature = np.abs(loads.strain[..., 3])
    assert stress.shape == (2, 4)
    assert_allclose(stress, STEEL.E * 0.01 * curvature, rtol=1e-12)
    with pytest.raises(fa.ModelError, match="has no sections"):
        fa.link_loads(spatial_arm(True), *at_rest(spatial_arm(True)))["exact"].stress()


def test_stepped_link_has_both_sides_of_a_step() -> None:
    steps = [(0.5, Section.round(0.02, STEEL)), (0.5, Section.round(0.01, STEEL))]
    link = finite_element_link(
        "link", length=1.0, sections=steps, n_elements=2, n_modes="all"
    )
    profile = link.beam
    assert profile is not None
    EI = [float(section.bending_stiffness[0]) for _, section in steps]
    assert_allclose(profile.stiffness[:, 2], np.repeat(EI, 2), rtol=1e-15)
    assert profile.at.tolist() == [0.0, 0.5, 0.5, 1.0]


def test_printed_loads_are_a_table_of_cuts() -> None:
    """M = P (L - x) beside the stress 32 M / (pi d^3) on both sides of a step."""
    steps = [(0.5, Section.round(0.02, STEEL)), (0.5, Section.round(0.01, STEEL))]
    link = finite_element_link(
        "link",
        length=1.0,
        sections=steps,
        n_elements=2,
        motions="bending y",
        n_modes="all",
    )
    arm = fa.Arm([link], gravity=(0, 0, 0))
    still = np.zeros((2, 3, arm.nq))
    push = [0.0, 0.0, 0.0, 0.0, -10.0, 0.0]
    loads = fa.link_loads(arm, still[0, 0], *still[0, :2], wrench=push)["link"]
    head, names, *rows = str(loads).splitlines()
    assert head == "loads of link 'link'"
    assert names.split("  ")[0] == "at m"
    table = np.array([row.split() for row in rows], dtype=float)
    M = 10.0 * np.array([1.0, 0.5, 0.5, 0.0])
    d = np.array([0.02, 0.02, 0.01, 0.01])
    assert_allclose(table[:, 2], -10.0)
    assert_allclose(table[:, 6], -M)
    assert_allclose(table[:, 7], 32e-6 * M / (np.pi * d**3), rtol=1e-3)
    assert repr(loads) == "<LinkLoads of 'link': 4 cuts>"

    many = fa.link_loads(arm, still, still, still, wrench=push)["link"]
    assert "2 x 3 states" in str(many)
    assert "2 x 3 states" in repr(many)
    assert str(many).splitlines()[2].split()[2] == "10"
    none = np.zeros((0, arm.nq))
    assert "0 states" in str(fa.link_loads(arm, none, none, none)["link"])


# calls


def test_batch_is_a_loop() -> None:
    arm = spatial_arm(True, drive=True)
    q, qd, qdd = states(arm)
    batch = fa.link_loads(arm, q[:, None], qd, qdd)["chord"]
    assert batch.force.shape == (3, 3, 4, 3)
    for i in range(3):
        one = fa.link_loads(arm, q[i], qd[1], qdd[1])["chord"]
        assert_allclose(batch.moment[i, 1], one.moment, rtol=0, atol=1e-12)


def test_link_in_a_robot_description() -> None:
    """A link that lies along another axis keeps its loads."""
    table = {
        "length": 0.8,
        "axis": (0, 0, 1),
        "mass_per_length": 2.0,
        "bending_stiffness": 1e7,
        "n_modes": 1,
    }
    arm = fa.urdf.load(
        """<robot name="r"><link name="base"/><link name="link"/>
        <joint name="j" type="revolute"><parent link="base"/><child link="link"/>
        <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
        </robot>""",
        sidecar={"link": table},
    )
    q, qd, qdd = at_rest(arm)
    loads = fa.link_loads(arm, q, qd, qdd)["link"]
    assert_allclose(loads.axial, -2.0 * 9.81 * (0.8 - loads.at), rtol=0, atol=1e-11)


def test_arguments_of_link_loads_have_to_fit() -> None:
    arm = spatial_arm(True)
    rest = at_rest(arm)
    with pytest.raises(fa.ArgumentError, match="arm is int"):
        fa.link_loads(3, *rest)  # type: ignore[arg-type]
    with pytest.raises(fa.ArgumentError, match=r"qd has shape \(2,\), expected"):
        fa.link_loads(arm, rest[0], [0.0, 1.0], rest[2])
    with pytest.raises(fa.ArgumentError, match="fidelity 'ruthless'"):
        fa.link_loads(arm.replace(fidelity="ruthless"), *rest)
    with pytest.raises(fa.NotFiniteError):
        fa.link_loads(arm, rest[0] * np.nan, *rest[1:])
    with pytest.raises(fa.ArgumentError, match=r"wrench has shape \(3,\)"):
        fa.link_loads(arm, *rest, wrench=[1.0, 2.0, 3.0])
    with pytest.raises(fa.ArgumentError, match="frame is 'tip'"):
        fa.link_loads(arm, *rest, wrench=np.zeros(6), frame="tip")
    with pytest.raises(fa.ArgumentError, match="expected one number from 0"):
        fa.link_loads(arm, *rest, wrench=np.zeros(6), node=[1, 2])
    loop = fa.Loop(("exact", "tip"), "ground", "spherical")
    with pytest.raises(fa.ArgumentError, match="has 1 loops"):
        fa.link_loads(arm.replace(constraints=[loop]), *rest)
    body = arm.bodies[1]
    with pytest.raises(fa.ModelError, match="beam of body 'bent'"):
        arm.bodies[0].replace(beam=body.beam)
    rigid = fa.library.pendulum(mass=1.0, com=0.3)
    assert fa.link_loads(rigid, [0.0], [0.0], [0.0]) == {}


def test_integrals_from_a_cut_to_the_tip() -> None:
    """Polynomials up to the number of points less one, between and at the points."""

    x, weight = gauss_rule(7)
    at = np.concatenate([[0.0], x, [1.0]])
    part = integrals_beyond(at, weight)
    for power in range(7):
        found = part @ (weight * x**power)
        assert_allclose(found, (1.0 - at ** (power + 1)) / (power + 1), atol=1e-15)


def test_batches_that_do_not_fit_are_refused() -> None:
    arm = fa.library.planar_chain(2, n_modes=2)
    with pytest.raises(fa.ArgumentError, match=r"q \(2,\), qd \(3,\), qdd \(\)"):
        fa.link_loads(arm, np.zeros((2, 6)), np.zeros((3, 6)), np.zeros(6))
