"""First tasks of somebody who opens the package for the first time: 75 of them.

Each was written down before the documentation was read.  A task is the few lines that
do it, with numbers held to formulas where numbers come out.  Where the first guess was
something else, the task has that guess, too, and the words of the sentence that leads
from it to the lines.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose as close
from scipy.integrate import solve_ivp

import flexarm as fa
from flexarm import beams

anything: Any = fa  # for names that a type checker knows not to exist
TUBE: Any = beams.Section.tube(diameter=0.04, thickness=0.002, material="steel")
BOOM: Any = beams.finite_element_link(
    "boom",
    length=1.0,
    sections=TUBE,
    joint=fa.Joint(axis="y"),
    payloads=[beams.Payload(1.0, 5.0)],
)
LOADED: Any = fa.Arm([BOOM])
RIGID: Any = fa.library.planar_chain(2)
SOFT: Any = fa.library.planar_chain(1, n_modes=6, bending_stiffness=50.0)
PUMA: Any = fa.library.puma560()
READY = fa.library.poses(PUMA)["nominal"]
T = np.linspace(0.0, 0.5, 101)
RUN: Any = fa.simulate(RIGID, [0.3, -0.2], [0, 0], T)
MODEL: Any = fa.linearize(SOFT, [-np.pi / 2, *np.zeros(6)])


class Task(NamedTuple):
    """Lines that do it, a first guess that does not, words of the answer to it."""

    lines: Callable[[], None]
    guess: Callable[[], Any] | None
    words: str


TASKS: dict[str, Task] = {}
Lines = Callable[[], None]


def task(
    guess: Callable[[], Any] | None = None, words: str = ""
) -> Callable[[Lines], Lines]:
    """Put a function on the list, by its name."""

    def listed(lines: Lines) -> Lines:
        TASKS[lines.__name__.replace("_", " ")] = Task(lines, guess, words)
        return lines

    return listed


# making arms


@task(lambda: anything.beams.tube, "mean 'Section'")
def a_link_from_a_tube() -> None:
    link = beams.finite_element_link("boom", length=1.0, sections=TUBE)
    assert fa.Arm([link]).nv == 1 + len(link.frequencies())


@task()
def a_material_by_its_name() -> None:
    assert TUBE.material is beams.STEEL


@task(lambda: BOOM.total_mass, "mean 'mass'")
def the_mass_of_a_link() -> None:
    area = np.pi * (0.020**2 - 0.018**2)
    close(BOOM.mass, 7850 * area * 1.0 + 5.0, rtol=1e-12)


@task(
    lambda: anything.beams.flexible_link("b", length=1.0, mass=2.0),
    "mean 'mass_per_length'",
)
def a_link_by_its_stiffness() -> None:
    link = beams.flexible_link(
        "b", length=1.0, mass_per_length=2.0, bending_stiffness=10.0, n_modes=1
    )
    close(link.mass, 2.0)


@task(lambda: anything.Motor(gear_ratio=100), "mean 'Drive'")
def a_motor_with_a_gear() -> None:
    drive = fa.Drive(np.inf, gear_ratio=100.0, rotor_inertia=1e-4)
    rod = fa.RigidBody(
        "rod", fa.Joint(drive=drive), mass=3.0, com=(0.5, 0, 0), inertia=(0, 0.25, 0.25)
    )
    close(fa.mass_matrix(fa.Arm([rod]), [0.0]), [[1.0 + 100.0**2 * 1e-4]])


@task(lambda: anything.Joint(axis="y", viscous_friction=0.1), "mean 'damping'")
def viscous_friction() -> None:
    rod = fa.RigidBody(
        "rod", fa.Joint(axis="z", damping=0.1), mass=1, inertia=(1, 1, 1)
    )
    close(fa.inverse_dynamics(fa.Arm([rod]), [0.0], [2.0], [0.0]), [0.2])


@task(
    lambda: anything.Joint(axis="y", coulomb_friction=0.2),
    "flexarm.CoulombFriction(force, smoothing_velocity)",
)
def dry_friction() -> None:
    friction = fa.CoulombFriction(0.2, 0.01)
    joint = fa.Joint(axis="z", coulomb_friction=friction)
    rod = fa.RigidBody("rod", joint, mass=1, inertia=(1, 1, 1))
    close(fa.inverse_dynamics(fa.Arm([rod]), [0.0], [2.0], [0.0]), [0.2], rtol=1e-4)


@task()
def an_axis_by_its_letter() -> None:
    close(fa.Joint("prismatic", axis="-z", limits=(0, 1)).axis, [0, 0, -1])


@task(lambda: anything.from_dh([(0.4, 0, 0, 0)]), "mean 'descriptions.DenavitHart")
def an_arm_by_denavit_and_hartenberg() -> None:
    rows = fa.descriptions.DenavitHartenberg([(0.4, 0, 0, 0), (0.3, 0, 0, 0)])
    arm = fa.descriptions.kinematic_arm(rows)
    x = 0.4 * np.cos(0.1) + 0.3 * np.cos(0.3)
    close(fa.link_poses(arm, [0.1, 0.2])[-1, 0, 3], x, rtol=1e-14)


URDF = """<robot name="r"><link name="base"/><link name="rod"><inertial>
<mass value="2"/><origin xyz="0.5 0 0"/><inertia ixx="0.1" iyy="0.2" izz="0.2"
 ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous">
<parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""


@task(lambda: anything.load_urdf("arm.urdf"), "mean 'urdf.load'")
def a_robot_file() -> None:
    arm = fa.urdf.load(URDF)
    close(fa.gravity_forces(arm, [0.0]), [-2 * 9.81 * 0.5])


@task(lambda: fa.load("arm.urdf"), "flexarm.urdf.load")
def a_robot_file_by_its_name() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.urdf"
        path.write_text(URDF)
        assert fa.urdf.load(path).nv == 1


@task(lambda: anything.library.ur5, "mean 'ur5e'")
def an_arm_of_the_shop() -> None:
    assert fa.library.ur5e().nv == 6 and fa.library.panda().nv == 7


@task(lambda: anything.library.planar_chain(2, payload=2.0), "mean 'payload_mass'")
def a_chain_with_a_payload() -> None:
    light, heavy = (fa.library.planar_chain(2, payload_mass=m) for m in (0.0, 2.0))
    more = fa.gravity_forces(heavy, [0, 0]) - fa.gravity_forces(light, [0, 0])
    close(more, [2 * 9.81 * 2, 2 * 9.81 * 1])


@task(lambda: PUMA.with_payload(2.0), "RigidBody on a Joint('fixed') after arm.bodies")
def a_payload_on_an_arm_that_is_there() -> None:
    load = fa.RigidBody("load", fa.Joint("fixed"), mass=2.0)
    arm = fa.Arm([*RIGID.bodies, load], gravity=RIGID.gravity)
    more = fa.gravity_forces(arm, [0, 0]) - fa.gravity_forces(RIGID, [0, 0])
    close(more, [2 * 9.81 * 2, 2 * 9.81 * 1])


@task(lambda: fa.Arm(PUMA.bodies, gravity=0), "such as (0, 0, -9.81)")
def no_gravity() -> None:
    arm = PUMA.replace(gravity=(0, 0, 0))
    assert not fa.gravity_forces(arm, READY).any()


def links_of_a_mechanism() -> list[fa.RigidBody]:
    """Crank, coupler and rocker, parallel to each other in pairs."""
    made = []
    for name, parent, length in (("crank", None, 0.2), ("coupler", "crank", 0.5)):
        joint = fa.Joint(axis="y", parent=parent, node="tip")
        made.append((name, joint, length))
    joint = fa.Joint(axis="y", parent="ground", node="base", position=(0.5, 0, 0))
    made.append(("rocker", joint, 0.2))
    return [
        fa.RigidBody(n, j, mass=1.0, inertia=(0.1, 0.1, 0.1), nodes={"tip": (x, 0, 0)})
        for n, j, x in made
    ]


@task(
    lambda: fa.Arm(links_of_a_mechanism(), constraints=[fa.Loop("coupler", "rocker")]),
    "a pair (body, node)",
)
def a_closed_chain() -> None:
    loop = fa.Loop(("coupler", "tip"), ("rocker", "tip"), kind="spherical")
    arm = fa.Arm(links_of_a_mechanism(), constraints=[loop])
    q = fa.close_loops(arm, [0.5, -0.4, 0.4], hold=["crank"])
    close(q, [0.5, -0.5, 0.5], atol=1e-9)  # a parallelogram


@task(lambda: anything.Joint("floating"), "mean 'free'")
def a_free_base() -> None:
    body = fa.RigidBody("ship", fa.Joint("free"), mass=100.0, inertia=(10, 20, 30))
    close(np.diag(fa.mass_matrix(fa.Arm([body]), fa.Arm([body]).neutral))[3:], 100.0)


@task(lambda: anything.beams.Section.circular(0.02), "mean 'round'")
def a_round_bar() -> None:
    bar = beams.Section.round(0.02, "steel")
    close(bar.mass_per_length, 7850 * np.pi * 0.01**2)


@task(lambda: anything.Arm.from_dh([(0.4, 0, 0, 0)]), "DenavitHartenberg(rows)")
def links_with_mass_by_denavit_and_hartenberg() -> None:
    rows = fa.descriptions.DenavitHartenberg([(0.4, 0, 0, 0), (0.3, 0, 0, 0)])
    rods = [
        fa.RigidBody(n, mass=m, com=(-a / 2, 0, 0), inertia=(0, *[m * a**2 / 12] * 2))
        for n, m, a in (("upper", 2.0, 0.4), ("fore", 1.0, 0.3))
    ]
    M = fa.mass_matrix(fa.descriptions.build_arm(rows, rods), [0.3, np.pi / 2])
    inner, outer = 2.0 * 0.4**2 / 3 + 1.0 * 0.4**2, 1.0 * 0.3**2 / 3
    close(M, [[inner + outer, outer], [outer, outer]])


@task(lambda: RIGID[0], "such as arm['upper'], or arm.bodies")
def a_body_by_its_name() -> None:
    close(RIGID["link2"].mass, 1.0)


@task(lambda: RIGID.n_joints, "mean 'nj'")
def the_number_of_joints() -> None:
    assert PUMA.nj == 6 and len(PUMA.bodies) == 6


@task(lambda: anything.Joint(axis="y", origin=(0, 0, 1)), "mean 'position'")
def a_joint_above_the_floor() -> None:
    joint = fa.Joint(axis="y", position=(0, 0, 0.5), limits=np.deg2rad([-90, 90]))
    rod = fa.RigidBody("rod", joint, mass=1.0, com=(1, 0, 0), nodes={"tip": (2, 0, 0)})
    close(fa.tip_pose(fa.Arm([rod]), [np.pi / 2])[:3, 3], [0, 0, -1.5], atol=1e-15)


@task(lambda: anything.Joint(max_torque=100.0), "mean 'effort_limit'")
def the_torque_of_a_motor() -> None:
    assert fa.Joint(effort_limit=100.0).effort_limit == 100.0


@task(
    lambda: anything.beams.finite_element_link("a", length=1.0, radius=0.02),
    "mean 'sections'",
)
def a_link_from_a_round_bar() -> None:
    bar = beams.Section.round(0.04, "steel")
    link = beams.finite_element_link("boom", length=1.0, sections=bar)
    close(link.mass, 7850 * np.pi * 0.02**2)


@task(lambda: anything.library.kuka(), "mean 'iiwa14'")
def a_small_arm_of_a_mobile_robot() -> None:
    arm = fa.library.youbot()
    close(sum(body.mass for body in arm.bodies), 4.985)


# kinematics


@task(lambda: anything.tip_position(RIGID, [0, 0]), "mean 'tip_pose'")
def where_the_tip_is() -> None:
    close(RIGID.tip_pose([0.0, 0.0])[:3, 3], [2, 0, 0])


@task(lambda: anything.jacobian(RIGID, [0, 0], link=0), "mean 'node'")
def a_jacobian_of_another_link() -> None:
    J = fa.jacobian(RIGID, [0.0, 0.0], node=("link1", "tip"))
    close(J[:, 1], 0.0)
    close(J[4, 0], 1.0)


@task(lambda: anything.fk(RIGID, [0.1, 0.2]), "mean 'tip_pose'")
def forward_kinematics() -> None:
    x = np.cos(0.1) + np.cos(0.3)
    close(fa.tip_pose(RIGID, [0.1, 0.2])[0, 3], x, rtol=1e-14)


@task(lambda: anything.ik(PUMA, np.eye(4)), "flexarm.inverse_kinematics(arm, target)")
def inverse_kinematics() -> None:
    target = fa.tip_pose(PUMA, READY)
    found = fa.inverse_kinematics(PUMA, target, q0=READY + 0.1)
    close(fa.tip_pose(PUMA, found.q), target, atol=1e-9)


@task(
    lambda: fa.tip_pose(PUMA, fa.inverse_kinematics(PUMA, fa.tip_pose(PUMA, READY))),
    "as its attribute q",
)
def the_position_of_an_answer() -> None:
    found = fa.inverse_kinematics(RIGID, [1.0, 1.0, 0.0])
    close(fa.tip_pose(RIGID, found.q)[:2, 3], [1, 1], atol=1e-9)


@task(lambda: anything.tip_velocity(RIGID, [0, 0], [1, 0]), "mean 'node_velocity'")
def velocity_of_the_tip() -> None:
    close(fa.node_velocity(RIGID, [0, 0], [1, 0]), [0, 0, 1, 0, 2, 0])


@task()
def a_jacobian() -> None:
    q, qd = READY, np.ones(6)
    close(fa.jacobian(PUMA, q) @ qd, fa.node_velocity(PUMA, q, qd), atol=1e-14)
    close(PUMA.jacobian(q), fa.jacobian(PUMA, q), rtol=0)


@task(lambda: anything.manipulability(PUMA, READY), "mean 'workspace_map'")
def manipulability() -> None:
    J = fa.jacobian(RIGID, [0.0, 0.7])[3:5]
    close(np.sqrt(np.linalg.det(J @ J.T)), np.sin(0.7))  # l1 l2 sin q2


@task()
def angles_in_degrees() -> None:
    tip = fa.tip_pose(RIGID, np.deg2rad([90, 0]))
    close(tip[:3, 3], [0, 2, 0], atol=1e-15)
    with pytest.warns(fa.UnitsWarning, match="numpy.deg2rad"):
        fa.simulate(RIGID, [90, 0], [0, 0], T)


@task(lambda: anything.neutral(PUMA), "arm.neutral, an attribute of arms")
def the_zero_position() -> None:
    assert PUMA.neutral.shape == (6,)


@task(lambda: PUMA.joint_names, "mean 'coordinate_names'")
def names_of_the_joints() -> None:
    assert len(PUMA.coordinate_names) == 6


@task(lambda: PUMA.limits, "mean 'joint_limits'")
def limits_of_the_joints() -> None:
    low, _ = PUMA.joint_limits
    close(low[0], np.deg2rad(-160))


@task(lambda: anything.se3.rotation_z(0.1), "mean 'so3_exp'")
def a_rotation_about_an_axis() -> None:
    close(fa.se3.so3_exp([0, 0, 0.1])[0, 0], np.cos(0.1))


@task(
    lambda: anything.se3.from_quaternion([1, 0, 0, 0]),
    "mean 'rotation_from_quaternion'",
)
def a_quaternion() -> None:
    close(fa.se3.rotation_from_quaternion([1, 0, 0, 0]), np.eye(3))


# dynamics


@task(
    lambda: anything.inverse_dynamics(RIGID, [0, 0], [0, 0], [0, 0], gravity=(0, 0, 0)),
    "gravity is that of the arm, arm.replace(gravity=",
)
def torques_without_weight() -> None:
    arm = RIGID.replace(gravity=(0, 0, 0))
    close(
        fa.inverse_dynamics(arm, [0, 0], [0, 0], [1, 0]), fa.mass_matrix(arm, [0, 0])[0]
    )


@task(
    lambda: anything.mass_matrix(RIGID, [0, 0], frame="base"), "has no argument 'frame'"
)
def the_matrix_of_inertia_of_a_bent_arm() -> None:
    close(fa.mass_matrix(RIGID, [0.0, np.pi / 2])[0, 1], 1 / 3)


@task(lambda: anything.rnea(RIGID, [0, 0], [0, 0], [0, 0]), "mean 'inverse_dynamics'")
def recursive_newton_euler() -> None:
    q, qd, qdd = [0.3, 0.4], [1, 2], [3, 4]
    tau = fa.inverse_dynamics(RIGID, q, qd, qdd)
    close(fa.forward_dynamics(RIGID, q, qd, tau), qdd)


@task(lambda: anything.aba(RIGID, [0, 0], [0, 0], [0, 0]), "mean 'forward_dynamics'")
def articulated_bodies() -> None:
    # a rod falls from level: 3 g / (2 l)
    rod = fa.library.planar_chain(1)
    close(fa.forward_dynamics(rod, [0.0], [0.0], [0.0]), [-1.5 * 9.81])


@task(lambda: anything.inertia_matrix(RIGID, [0, 0]), "mean 'mass_matrix'")
def the_matrix_of_inertia() -> None:
    close(fa.mass_matrix(fa.library.planar_chain(1), [0.0]), [[1 / 3]])


@task(lambda: anything.coriolis_matrix(RIGID, [0, 0], [0, 0]), "mean 'bias_forces'")
def coriolis_and_centrifugal_forces() -> None:
    q, qd = [0.0, 0.7], [1.0, 2.0]
    h = 0.5 * np.sin(0.7)  # m l1 c2 sin q2
    expected = [-h * (2 * 1 * 2 + 2**2), h * 1**2]
    found = fa.bias_forces(RIGID, q, qd) - fa.gravity_forces(RIGID, q)
    close(found, expected)


@task(lambda: anything.gravity_torque(RIGID, [0, 0]), "mean 'gravity_forces'")
def the_weight_at_the_joints() -> None:
    close(fa.gravity_forces(RIGID, [0, 0]), [9.81 * (0.5 + 1.5), 9.81 * 0.5])


@task()
def many_states_at_once() -> None:
    q = np.random.default_rng(0).uniform(-1, 1, (100, 6))
    tau = fa.gravity_forces(PUMA, q, threads=2)
    close(tau[7], fa.gravity_forces(PUMA, q[7]), rtol=0)


@task()
def a_force_at_the_tip() -> None:
    push = fa.wrench_forces(RIGID, [0, 0], [0, 0, 0, 0, 10, 0])
    close(push, [20, 10])  # added to tau


@task()
def data_frames_and_labelled_arrays() -> None:
    pandas = pytest.importorskip("pandas")
    xarray = pytest.importorskip("xarray")
    q = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    M = fa.mass_matrix(RIGID, q)
    close(fa.mass_matrix(RIGID, pandas.DataFrame(q, columns=["a", "b"])), M, rtol=0)
    close(fa.mass_matrix(RIGID, xarray.DataArray(q, dims=("t", "joint"))), M, rtol=0)


@task(lambda: anything.interop.jax(RIGID), "mean 'jax_function'")
def functions_for_jax_and_casadi() -> None:
    assert {"forward_dynamics", "mass_matrix"} <= set(fa.interop.FUNCTIONS)


@task(lambda: anything.jacobian_dot(RIGID, [0, 0]), "mean 'jacobian_derivatives'")
def derivatives_of_the_dynamics() -> None:
    found = fa.inverse_dynamics_derivatives(RIGID, [0.0, 0.0], [0, 0], [0, 0])
    close(found.dq[:, 0], [0, 0], atol=1e-12)  # the weight is largest when level


# simulation and results


@task(lambda: fa.simulate(RIGID, [0, 0], [0, 0], 0.5), "numpy.linspace")
def a_simulation() -> None:
    rod = fa.library.planar_chain(1)
    run = fa.simulate(rod, [-np.pi / 2 + 1e-3], [0.0], T)
    small = 1e-3 * np.cos(np.sqrt(1.5 * 9.81) * T)  # sqrt(3 g / 2 l)
    close(run.q[:, 0] + np.pi / 2, small, atol=1e-8)


@task(lambda: anything.simulate(RIGID, q0=[0, 0], v0=[0, 0], t=T), "mean 'qd0'")
def a_simulation_with_few_samples() -> None:
    few = np.linspace(0.0, 1.0, 5)
    with pytest.warns(fa.AccuracyWarning, match="take max_step="):
        assert not fa.simulate(RIGID, [0, 0], [0, 0], few, max_step=0.25).success
    fine = fa.simulate(RIGID, [0, 0], [0, 0], few, method="DOP853", rtol=1e-10)
    for step, atol in ((None, 0.05), (0.01, 1e-5)):
        run = fa.simulate(RIGID, [0, 0], [0, 0], few, max_step=step)
        close(run.q, fine.q, atol=atol)


@task(
    lambda: anything.simulate(RIGID, [0, 0], [0, 0], T, external_force=[0, 0]),
    "mean 'torque'",
)
def gravity_compensation() -> None:
    def law(t: float, q: Any, qd: Any) -> Any:
        return fa.gravity_forces(PUMA, q)

    run = fa.simulate(PUMA, READY, np.zeros(6), T, torque=law)
    close(run.q[-1], READY, atol=1e-9)


@task(lambda: anything.control.GravityCompensation(RIGID), "mean 'SetPointPD'")
def a_controller() -> None:
    law = fa.control.SetPointPD(RIGID, kp=100, kd=30, target=[0.5, 0.5])
    run = fa.simulate(RIGID, [0, 0], [0, 0], np.linspace(0, 5, 2001), torque=law)
    close(run.q[-1], [0.5, 0.5], atol=1e-3)


@task(lambda: anything.control.PD(RIGID, kp=100, kd=20), "mean 'SetPointPD'")
def a_motion_between_two_points() -> None:
    q, qd, _, _ = fa.control.RestToRest([0.0], [1.0], duration=2.0)(1.0)
    close([*q, *qd], [0.5, 15 / 16])


@task(lambda: anything.quintic([0], [1], 2.0), "mean 'control.RestToRest'")
def the_time_of_a_motion() -> None:
    # bang-bang: a pendulum without gravity, t = 2 sqrt(M angle / torque)
    arm = fa.library.planar_chain(1).replace(gravity=(0, 0, 0))
    found = fa.optimize.time_optimal(arm, [[0.0], [1.0]], limits={"torque": [2.0]})
    close(found.duration, 2 * np.sqrt(1 / 3 / 2.0), rtol=2e-3)


@task(lambda: RUN.states, "mean 'q'")
def angles_of_a_run() -> None:
    close(RUN.q[0], [0.3, -0.2])


@task(lambda: anything.plotting.draw(RIGID), "flexarm.plotting.arm(arm, q)")
def a_drawing() -> None:
    assert fa.plotting.arm(RIGID, [0.3, -0.2]) is not None


@task(lambda: RUN.x, "mean 'q'")
def the_tip_of_a_run() -> None:
    close(RUN.tip, fa.tip_pose(RIGID, RUN.q)[:, :3, 3], atol=1e-15)


@task(lambda: RUN.qdd, "flexarm.forward_dynamics(arm, q, qd, tau)")
def accelerations_of_a_run() -> None:
    qdd = fa.forward_dynamics(RIGID, RUN.q, RUN.qd, RUN.tau)
    close(np.gradient(RUN.qd[:, 0], T)[5], qdd[5, 0], rtol=1e-2)


@task()
def energy_of_a_run() -> None:
    close(RUN.energy, fa.energy(RIGID, [0.3, -0.2], [0, 0]), rtol=1e-6)


@task()
def an_integrator_of_scipy() -> None:
    def rates(t: float, x: Any) -> Any:
        return np.r_[x[2:], fa.forward_dynamics(RIGID, x[:2], x[2:], [0, 0])]

    x = solve_ivp(rates, (0, 0.5), [0.3, -0.2, 0, 0], rtol=1e-8, atol=1e-10).y[:, -1]
    close(x[:2], RUN.q[-1], atol=1e-6)


@task(lambda: RUN.to_pandas(), "mean 'to_xarray'")
def a_table_of_a_run() -> None:
    pytest.importorskip("xarray")
    frame = RUN.to_xarray()["q"].to_pandas()
    assert frame.shape == RUN.q.shape


@task(lambda: RIGID.save("arm.json"), "flexarm.save(arm, ...)")
def saving_and_loading() -> None:
    with tempfile.TemporaryDirectory() as folder:
        fa.save(RIGID, Path(folder) / "arm.json")
        assert fa.load(Path(folder) / "arm.json") == RIGID
    assert pickle.loads(pickle.dumps(RIGID)) == RIGID


@task()
def a_plot_of_a_run() -> None:
    assert [line.get_label() for line in RUN.plot()] == ["link1", "link2"]


@task()
def an_animation() -> None:
    assert len(RUN.animate(fps=10).times) == 6


@task(lambda: PUMA.show(), "flexarm.plotting.scene(arm, q)")
def a_picture_of_an_arm() -> None:
    assert fa.plotting.arm(PUMA, READY) is not None


# flexible arms


@task(lambda: anything.eigenfrequencies(LOADED, LOADED.neutral), "natural_frequencies")
def frequency_of_a_loaded_arm() -> None:
    found = fa.natural_frequencies(LOADED, LOADED.neutral, held="joints")[0]
    EI, beam = TUBE.bending_stiffness[0], TUBE.mass_per_length
    rayleigh = np.sqrt(3 * EI / (5.0 + 33 / 140 * beam)) / (2 * np.pi)
    close(found, rayleigh, rtol=5e-3)


@task(lambda: anything.modes(LOADED, LOADED.neutral), "mean 'vibration_modes'")
def modes_of_vibration() -> None:
    # of all modes: the highest ones of a few are too high, and a warning says so
    with pytest.warns(fa.ModeWarning, match="raise n_modes; see arm.refined"):
        found = fa.vibration_modes(LOADED, LOADED.neutral)
    assert found.frequencies[0] < 1e-3 < found.frequencies[1]


@task(lambda: anything.sag(LOADED, LOADED.neutral), "mean 'deflection'")
def sag_under_the_weight() -> None:
    EI, beam = TUBE.bending_stiffness[0], TUBE.mass_per_length
    expected = 9.81 * (5.0 / (3 * EI) + beam / (8 * EI))
    close(fa.deflection(LOADED, LOADED.neutral)[5], -expected, rtol=5e-3)


@task(lambda: anything.bending_moment(LOADED, [0]), "mean 'link_loads'")
def the_bending_moment_in_a_link() -> None:
    rest = np.zeros(LOADED.nv)
    q = fa.equilibrium(LOADED, LOADED.neutral).q
    moment = fa.link_loads(LOADED, q, rest, rest)["boom"].moment[0]
    beam = TUBE.mass_per_length
    close(np.abs(moment).max(), 9.81 * (5.0 + 0.5 * beam), rtol=1e-2)


@task(lambda: anything.sweep(len, {}), "mean studies.sweep")
def a_payload_sweep() -> None:
    pytest.importorskip("xarray")

    def lowest(m: float) -> Any:
        arm = fa.library.planar_chain(1, n_modes=2, payload_mass=m)
        return fa.natural_frequencies(arm, arm.neutral, held="joints", count=1)[0]

    table = fa.studies.sweep(lowest, {"m": [0.1, 1.0]})
    loads = [fa.library.planar_chain(1, n_modes=2, payload_mass=m) for m in (0.1, 1.0)]
    stack = fa.natural_frequencies(fa.stack(loads), np.zeros(3), held="joints")
    close(table["lowest"], stack[:, 0])


@task(lambda: MODEL.bode(), "flexarm.plotting.bode(model)")
def a_bode_diagram() -> None:
    assert fa.plotting.bode(MODEL) is not None


@task(lambda: MODEL.c2d(0.01), "mean 'discretize'")
def a_sampled_model() -> None:
    poles = MODEL.poles().values
    sampled = MODEL.discretize(0.01).poles().values
    close(np.sort(np.abs(sampled)), np.sort(np.exp(0.01 * poles.real)), atol=1e-8)


@task()
def a_linear_quadratic_regulator() -> None:
    K = fa.control.lqr(fa.linearize(RIGID, [0, 0]), np.eye(4), np.eye(2))
    assert (K.poles.real < 0).all()


@task(lambda: anything.control.zvd(6.0), "mean 'Shaper'")
def input_shaping() -> None:
    shaper = fa.control.Shaper.zero_vibration(2 * np.pi)
    close(shaper.times, [0, 0.5])
    close(shaper.amplitudes, [0.5, 0.5])


if __name__ == "__main__":
    first = sum(task.guess is None for task in TASKS.values())
    print(f"{len(TASKS)} tasks, {first} by the first guess")
