"""Errors of the modes of links, against frames of fine elements of our own.

The frames (`frame.py`) know nothing of the package: cubic beam elements in NumPy, with
the joints rigid.  Frequencies of the same arm in its modes are those of
`natural_frequencies`, from the kernels.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from each import each
from few_modes import planar_chain
from frame import Frame
from numpy.testing import assert_allclose
from robot_texts import SIDECAR, robot_of
from robot_texts import TWO as LINKS

import flexarm as fa
from flexarm import beams
from flexarm.beams._single import pinned_beam_modes

TUBE = beams.Section.tube(0.04, 0.002, beams.STEEL)
UNIFORM = {
    "EI": TUBE.bending_stiffness,
    "GJ": TUBE.torsional_stiffness,
    "mass": TUBE.mass_per_length,
    "polar": TUBE.rotary_inertia[0],
    "n": 16,
}
ANGULAR, LINEAR = slice(0, 3), slice(3, 6)
# by default: two coordinates of bending in each plane, one of torsion
TWO: dict[str, Any] = {"n_modes": {"bending y": 2, "bending z": 2, "torsion": 1}}
THREE: dict[str, Any] = {"n_modes": {"bending y": 3, "bending z": 3, "torsion": 2}}


def link(name: str, parent: str | None = None, **options: Any) -> fa.FlexibleBody:
    joint = fa.Joint(parent=parent) if parent else fa.Joint()
    given = {"length": 1.0, "sections": TUBE, "joint": joint, "n_modes": "all"}
    euler = {"rotary_inertia": False, "shear": False}
    options = given | euler | options
    return beams.finite_element_link(name, **options)


def load(parent: str, node: str = "tip", mass: float = 5.0) -> fa.RigidBody:
    return fa.RigidBody("load", fa.Joint("fixed", parent=parent, node=node), mass=mass)


def tubes(**options: Any) -> list[Any]:
    """Two steel tubes of 1 m with 5 kg at the tip."""
    return [link("upper", **options), link("fore", "upper", **options), load("fore")]


def clamped_free(**options: Any) -> dict[str, Any]:
    """Arguments of a link in natural modes, clamped at its base, free at its tip."""
    counts = {"bending y": 1, "bending z": 1}
    return {"n_modes": counts, "modes": "clamped-free"} | options


def quiet(bodies: Any, **options: Any) -> fa.Arm:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ModeWarning)
        return fa.Arm(bodies, **options)


def locked(arm: fa.Arm, q: Any) -> Any:
    """Frequencies by the kernels, with joints and motors locked, without gravity."""
    held = [j for j in range(arm.motor_slice.stop)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fa.ModeWarning)
        return fa.natural_frequencies(arm.replace(gravity=(0, 0, 0)), q, held=held)


def bent_frame(angle: float, mass: float = 5.0) -> tuple[Frame, int, int]:
    frame = Frame()
    elbow = frame.beam(0, (1, 0, 0), **UNIFORM)
    tip = frame.beam(elbow, (1 + np.cos(angle), np.sin(angle), 0), **UNIFORM)
    frame.lump(tip, mass)
    return frame, elbow, tip


# errors that are known


def test_two_tubes_with_a_load() -> None:
    """5.03 and 6.00 Hz in clamped-free modes, 4.17 and 4.49 Hz in truth."""
    with pytest.warns(fa.ModeWarning, match=r"'upper' make its node 'tip', which carr"):
        arm = fa.Arm(tubes(**clamped_free()))
    q = arm.neutral
    q[1] = 1.2
    errors = arm.mode_errors(q)
    frame, _, _ = bent_frame(1.2)
    assert_allclose(errors.unreduced_frequencies, frame.frequencies(4), rtol=1e-5)
    assert_allclose(errors.frequencies, locked(arm, q)[:4], rtol=1e-9)
    assert_allclose(errors.frequencies[:2], [5.030, 6.001], atol=1e-3)
    assert_allclose(errors.unreduced_frequencies[:2], [4.169, 4.492], atol=1e-3)
    # the upper link alone, with the rest as one rigid body
    upper, fore = errors.links
    mass = UNIFORM["mass"]
    com = (0.5 * mass + 5.0) / (mass + 5.0) * np.array([np.cos(1.2), np.sin(1.2), 0.0])
    at = np.array([np.cos(1.2), np.sin(1.2), 0.0])
    square = mass / 3.0 + 5.0  # second moment along the fore link, about the elbow
    about = (square - (mass + 5.0) * com @ com) * (np.eye(3) - np.outer(at, at))
    about += UNIFORM["polar"] * np.outer(at, at)
    alone = Frame()
    tip = alone.beam(0, (1, 0, 0), **UNIFORM)
    values, axes = np.linalg.eigh(about)
    alone.lump(tip, mass + 5.0, com)
    for value, axis in zip(values, axes.T, strict=True):
        number = 6 * tip + 3 + np.arange(3)
        alone.blocks.append((number, np.zeros((3, 3)), value * np.outer(axis, axis)))
    assert_allclose(upper.unreduced_frequencies, alone.frequencies(4)[:2], rtol=1e-6)
    assert_allclose(upper.carried, [mass + 5.0])
    assert fore.nodes == ("tip",)
    assert fore.largest == pytest.approx(0.0292, abs=1e-4)  # 1 - 12 / b^4 of one mode
    # compliance of the tip in one clamped-free mode in each plane
    exact, C = alone.compliance(tip), fa.FlexibleBody.modal_mass(arm.bodies[0])
    shape = arm.bodies[0].node_translation[-1]
    found = shape @ np.linalg.inv(arm.bodies[0].stiffness) @ shape.T
    assert C.shape == (2, 2)
    assert_allclose(upper.deflection[0], 1.0 - found[1, 1] / exact[1, 1], rtol=1e-9)
    assert upper.rotation[0] == pytest.approx(1.0)  # there is no torsion


def test_planar_chain_in_clamped_free_modes() -> None:
    """Three rods, levelled: frequencies 5 to 15 % too high, droop too small."""
    modes = beams.clamped_beam_modes(1.0, 1.0, 100.0, 2)
    given = {"length": 1.0, "mass_per_length": 1.0, "bending_y": modes}
    chain = [beams.flexible_link("link1", **given)]
    for i in (2, 3):
        joint = fa.Joint(parent=f"link{i - 1}")
        chain.append(beams.flexible_link(f"link{i}", joint=joint, **given))
    with pytest.warns(fa.ModeWarning, match="'link1' .* 9.9 % too stiff.*and 1 more"):
        arm = fa.Arm(chain)
    frame, end = Frame(), 0
    for i in (1, 2, 3):
        end = frame.beam(end, (i, 0, 0), (100.0, 1e8), 1e8, 1.0, 1.0, 16)
    errors = arm.mode_errors()
    assert_allclose(errors.unreduced_frequencies[:3], frame.frequencies(3), rtol=1e-5)
    assert_allclose(errors.frequencies, locked(arm, arm.neutral)[:4], rtol=1e-9)
    assert_allclose(100 * errors.frequency_errors[:3], [5.3, 8.1, 15.5], atol=0.1)
    # deflection and slope of the elbow under the weight of two rods, at 1 m from it
    by_force, by_moment = modes.tip_deflection, modes.tip_slope
    wrench = by_force + by_moment  # displacement of the mass centre in each mode
    lacking = 1.0 - np.sum(wrench**2 / modes.stiffness) / ((1 / 3 + 1 + 1) / 100.0)
    assert_allclose(errors.links[0].sag, lacking, rtol=1e-6)
    assert errors.links[2].largest == pytest.approx(0.0046, abs=1e-4)


# links that are right


@each(
    "options",
    {
        "cubics": TWO,
        "Craig-Bampton": THREE,
        "all coordinates": {"n_elements": 2},
        "chord": {"frame": "chord", "n_elements": 2},
        "a tapered tube": THREE
        | {
            "sections": lambda x: beams.Section.tube(0.05 - 0.02 * x, 2e-3, beams.STEEL)
        },
        "shear": THREE | {"rotary_inertia": True, "shear": True},
        "a tapered tube with shear": THREE
        | {
            "sections": lambda x: beams.Section.tube(
                0.05 - 0.02 * x, 2e-3, beams.STEEL
            ),
            "shear": True,
        },
    },
)
def test_right_links_do_not_warn(options: dict[str, Any]) -> None:
    arm = fa.Arm(tubes(**options))  # a warning would be an error
    errors = arm.mode_errors()
    assert [x.known for x in errors.links] == [True, True]
    tolerance = 2e-4 if callable(options.get("sections")) else 1e-10
    for x in errors.links:
        assert np.abs(np.r_[x.deflection, x.sag]).max() < tolerance
    assert -1e-6 < errors.frequency_errors[0] < 1e-3
    assert -1e-6 < errors.largest < 1e-3


def test_bent_link_and_payloads_against_a_frame() -> None:
    corners = [
        (0, 0, 0),
        (0.6, 0, 0),
        (0.9, 0.5, 0),
        (1.2, 0.6, 0.2),
    ]
    heavy = beams.Payload(
        0.6, mass=2.0, com=(0.0, 0.1, 0.05), inertia=(0.01, 0.02, 0.03)
    )
    bent = link("bent", length=None, points=corners, payloads=[heavy], n_elements=6)
    arm = quiet([bent, load("bent")])
    frame, end, corner = Frame(), 0, 0
    for j, x in enumerate(corners[1:]):
        end = frame.beam(end, x, **UNIFORM)
        corner = end if j == 0 else corner
    frame.lump(end, 5.0)
    frame.lump(corner, 2.0, (0.0, 0.1, 0.05), (0.01, 0.02, 0.03))
    (errors,) = arm.mode_errors().links
    assert_allclose(errors.unreduced_frequencies, frame.frequencies(4), rtol=1e-5)
    assert_allclose(errors.frequencies, locked(arm, arm.neutral)[:4], rtol=1e-9)
    unreduced = bent.unreduced
    assert unreduced is not None
    found = unreduced.compliance(np.array([bent.n_nodes - 1]))[0]
    at = np.eye(6)  # from the origin to the tip
    at[3:, :3] = np.cross(np.eye(3), corners[-1]).T
    moved = at @ found @ at.T
    swap = [3, 4, 5, 0, 1, 2]
    assert_allclose(moved[np.ix_(swap, swap)], frame.compliance(end), atol=1e-9)


def test_links_of_many_and_few_elements() -> None:
    for n in (1, 5, 40):
        body = link("link", n_elements=n, **(THREE if n > 1 else {}))
        frame = Frame()
        tip = frame.beam(0, (1, 0, 0), **UNIFORM)
        frame.lump(tip, 5.0)
        (errors,) = fa.Arm([body, load("link")]).mode_errors().links
        assert_allclose(errors.unreduced_frequencies, frame.frequencies(4), rtol=1e-5)


def test_shear_and_shear_centre() -> None:
    """Tip deflection F L^3 / 3 EI + F L / kGA; a force beside its centre twists."""
    channel = TUBE.replace(shear_centre=(0.0, 0.02))
    body = link("link", sections=channel, shear=True, n_elements=1)
    unreduced = body.unreduced
    assert unreduced is not None
    found = unreduced.compliance(np.array([body.n_nodes - 1]))[0]
    EI, GJ = TUBE.bending_stiffness[0], TUBE.torsional_stiffness
    at_tip = np.array([0.0, 0.0, 1.0, 0.0, 1.0, 0.0])  # wrench about the base
    by_hand = 1.0 / (3.0 * EI) + 1.0 / TUBE.shear_stiffness[0] + 0.02**2 / GJ
    assert_allclose(at_tip @ found @ at_tip, by_hand, rtol=1e-9)
    # Timoshenko elements converge to it
    fine = link(
        "link", sections=channel, shear=True, rotary_inertia=True, n_elements=12
    )
    (errors,) = fa.Arm([fine, load("link")]).mode_errors().links
    assert np.abs(errors.frequency_errors).max() < 2e-3
    assert errors.frequency_errors.min() > -1e-6
    assert errors.largest < 1e-5


def test_frames_that_float() -> None:
    """Pinned modes: the joint holds the base, whose slope is in error."""
    modes = pinned_beam_modes(1.0, 1.0, 100.0, 3)
    body = beams.flexible_link("link", length=1.0, mass_per_length=1.0, bending_y=modes)
    arm = quiet([body, load("link")])
    (errors,) = arm.mode_errors().links
    assert_allclose(errors.frequencies, locked(arm, arm.neutral), rtol=1e-9)
    slopes = np.sum(modes.slope(0.0) ** 2 / modes.stiffness)
    assert_allclose(errors.deflection, 1.0 - slopes * 300.0, rtol=1e-9)
    frame = Frame()
    tip = frame.beam(0, (1, 0, 0), (100.0, 1e8), 1e8, 1.0, 1.0, 16)
    frame.lump(tip, 5.0)
    assert_allclose(errors.unreduced_frequencies[0], frame.frequencies(1)[0], rtol=1e-5)


@each("kind", ["farid_two_link", "cibicik_egeland", "de_luca_siciliano"])
def test_locked_arms_by_the_kernels(kind: str) -> None:
    """Also rotors and stators are outboard."""
    arm = getattr(fa.library, kind)()
    q = arm.neutral + 0.4 * (np.arange(arm.nq) < arm.joint_slice.stop)
    assert_allclose(arm.mode_errors(q).frequencies, locked(arm, q)[:4], rtol=1e-9)


def test_motors_are_outboard() -> None:
    drive = fa.Drive(
        rotor_inertia=0.02,
        gear_ratio=5.0,
        stiffness=1e3,
        rotor_mass=1.0,
        stator_mass=2.0,
    )
    elbow = fa.Joint(parent="upper", axis=(0, 0, 1), drive=drive, position=(0, 0.1, 0))
    arm = quiet(
        [link("upper", **clamped_free()), link("fore", joint=elbow), load("fore")]
    )
    q = arm.neutral
    q[1] = 0.7
    assert_allclose(arm.mode_errors(q).frequencies, locked(arm, q)[:4], rtol=1e-9)


# the warning


def test_a_node_in_the_middle_is_named_with_the_option() -> None:
    given = {"nodes": {"middle": 0.4}, **TWO}
    text = r"'boom' make its node 'middle', .* 5 kg, .* keep=\('middle', 'tip'\)"
    with pytest.warns(fa.ModeWarning, match=text) as caught:
        fa.Arm([link("boom", **given), load("boom", "middle")])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert len(str(caught[0].message)) < 300
    counts = {"bending y": 4, "bending z": 4, "torsion": 2}
    given |= {"keep": ("middle", "tip"), "n_modes": counts}
    fa.Arm([link("boom", **given), load("boom", "middle")])


def test_frequencies_alone_are_in_error() -> None:
    """Static shapes of a node near the base leave what is beyond it rigid."""
    options = {"nodes": {"near": 0.2}, "keep": "near", **TWO}
    text = r"'boom' make its first frequency \d+ % too high .*: raise n_modes"
    with pytest.warns(fa.ModeWarning, match=text):
        fa.Arm([link("boom", **options), load("boom", "near")])


def test_pinned_modes_are_too_stiff_where_a_joint_holds_the_base() -> None:
    """A coupler of a four-bar: exact between pins, not if its joint is locked."""
    size, length, rocker, ground = 0.35, 0.9, 0.55, 1.0

    def bar(name: str, long: float, **joint: Any) -> fa.RigidBody:
        inertia = (0.0, 0.1 * long**2, 0.1 * long**2)
        nodes = {"tip": (long, 0.0, 0.0)}
        where = fa.Joint(**joint)
        return fa.RigidBody(name, where, mass=1.0, inertia=inertia, nodes=nodes)

    def linkage(n: int, **basis: Any) -> fa.Arm:
        coupler = beams.flexible_link(
            "coupler", length=length, mass_per_length=0.7, bending_stiffness=15.0,
            motions="bending y", n_modes=n, joint=fa.Joint(parent="crank"), **basis,
        )  # fmt: skip
        pin = fa.Loop(("rocker", "tip"), directions="xy", position2=(ground, 0, 0))
        last = bar("rocker", rocker, parent="coupler", node="tip")
        bodies = [bar("crank", size), coupler, last]
        return fa.Arm(bodies, gravity=(0, 0, 0), constraints=[pin])

    def lowest(arm: fa.Arm, held: int) -> float:
        """First frequency in rad/s with the first joints held, along the loop."""
        q = fa.close_loops(arm, [1.0, -0.7, 1.6, *[0.0] * (arm.nv - 3)], hold="crank")
        free, still = slice(held, None), np.zeros(arm.nv)
        N = np.linalg.svd(fa.constraint_jacobian(arm, q)[:, free])[2][2:].T
        M, K = (
            N.T @ X[free, free] @ N
            for X in (
                fa.mass_matrix(arm, q),
                fa.inverse_dynamics_derivatives(arm, q, still, still).dq,
            )
        )
        return float(np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K)).real.min()))

    text = r"'coupler' .* 24 % too stiff where a moment of its joint holds its base: "
    with pytest.warns(fa.ModeWarning, match=text):
        pins = linkage(2, modes="pinned")
    between = np.pi**2 * np.sqrt(15.0 / 0.7) / length**2
    assert_allclose(lowest(pins, 1), between, rtol=1e-6)
    assert lowest(pins, 2) > 1.2 * lowest(linkage(6), 2)


def test_an_arm_warns_once() -> None:
    bodies = tubes(**clamped_free())
    with pytest.warns(fa.ModeWarning) as caught:
        arm = fa.Arm(bodies)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "too stiff: give it static shapes, modes='craig-bampton', keep='tip'" in text
    assert "and 1 more above 1%; see print(arm.mode_errors())" in text
    # neither its copies nor what is computed from it
    for other in (
        arm.replace(gravity=(0, 0, 0)),
        pickle.loads(pickle.dumps(arm)),
        copy.deepcopy(arm),
    ):
        print(other, other.mode_errors())
    assert pickle.loads(pickle.dumps(arm)) == arm


def test_twist_counts_where_something_is_twisted() -> None:
    """One clamped-free mode has 8 / pi^2 of the twist of the tip; a point has none."""
    counts = {"bending y": 3, "bending z": 3, "torsion": 1}
    options: dict[str, Any] = {"modes": "clamped-free", "n_modes": counts}
    options |= {"n_elements": 16, "motions": list(counts)}
    boom = link("boom", **options)
    lacking = 1.0 - 8.0 / np.pi**2
    with pytest.warns(fa.ModeWarning, match="'tip', which .*19 % too stiff in twist: "):
        arm = fa.Arm([boom, load("boom", mass=0.1).replace(inertia=(0.1, 0.1, 0.1))])
    errors = arm.mode_errors().links[0]
    assert_allclose(errors.twist, lacking, atol=2e-3)
    assert errors.largest >= errors.twist[0] > errors.deflection[0]
    assert errors.rotation[0] >= errors.twist[0]
    # of a mass without inertia, whose weight alone counts
    point = fa.Arm([boom, load("boom", mass=0.1)]).mode_errors().links[0]
    assert point.twist[0] == 0.0 < point.rotation[0]
    assert point.largest < 0.02


def test_more_elements_where_all_coordinates_are_kept() -> None:
    def tube(x: float) -> beams.Section:
        return beams.Section.tube(0.02 - 0.01 * x, 1e-3, beams.STEEL)

    with pytest.warns(fa.ModeWarning, match="5.9 % too high .*: raise n_elements;"):
        fa.Arm([link("rod", sections=tube, n_elements=2, motions="torsion")])


def test_the_library_names_its_bases() -> None:
    arm = fa.library.de_luca_siciliano(n_modes=1)
    other = fa.Arm([arm.bodies[0], load("link1", mass=0.1)], gravity=(0, 0, 0))
    assert other.mode_errors().largest > 0.02
    # those of a chain are chosen by who calls it
    with pytest.warns(fa.ModeWarning, match="'link1' make its node 'tip', which carri"):
        assert fa.library.planar_chain(3, n_modes=1).nv == 6


def test_unknown_links() -> None:
    mesh = fa.finite_elements.beam_mesh(
        1.0, 4, mass_per_length=1.0, bending_stiffness=100.0, axial_stiffness=1e6,
        torsional_stiffness=50.0, section_inertia=(1e-3, 0, 0),
    )  # fmt: skip
    body = mesh.clamped_modes("0", 2).body("mesh", nodes=["4"])
    softer = link("fore", "mesh", **clamped_free())
    softer = softer.replace(stiffness=0.5 * softer.stiffness)
    arm = fa.Arm([body, softer, load("fore")])
    errors = arm.mode_errors()
    assert [x.known for x in errors.links] == [False, False]
    assert np.isnan(errors.links[0].largest)
    assert errors.largest == 0.0
    assert not len(errors.frequencies)
    assert str(errors).count("unknown") == 8
    assert str(arm).count("unknown") == 2
    assert "unknown" in str(body)
    changed = fa.inertial_parameters(fa.Arm([link("a", n_elements=1)]))
    values = changed.values * 1.1
    other = fa.Arm.with_inertial_parameters(fa.Arm([link("a", n_elements=1)]), values)
    assert other.bodies[0].unreduced is None


def test_poses_of_mode_errors_have_to_fit() -> None:
    arm = planar_chain(2, n_modes=1)
    with pytest.raises(
        fa.ArgumentError, match=r"q has shape \(2,\), expected a last axis of 4"
    ):
        arm.mode_errors([0.0, 0.0])
    with pytest.raises(fa.NotFiniteError, match=r"q\[1\] is nan"):
        arm.mode_errors([0.0, np.nan, 0.0, 0.0])
    assert "no body has modes" in str(fa.library.pendulum().mode_errors())


# tables


def test_tables_of_an_arm_and_a_body() -> None:
    arm = quiet(tubes(**clamped_free()))
    text = str(arm)
    assert "error of modes %" in text
    upper = next(line for line in text.splitlines() if line.startswith("upper"))
    assert float(upper.split()[-1]) == pytest.approx(
        100 * arm.mode_errors().links[0].largest, rel=0.05
    )
    body = str(arm.bodies[0])
    assert "node 'tip' 2.9 % too stiff in deflection and 100 % in rotation" in body
    assert "frequencies 0.0033, 0.0033 % too high" in body
    rigid = str(fa.library.iiwa14())
    assert "error of modes" not in rigid


def test_highest_frequency_and_largest_step_of_rk4() -> None:
    """At 2 sqrt(2) / omega without damping; the motion grows beyond."""
    arm = planar_chain(1, n_modes=2, gravity=(0, 0, 0))
    top = fa.natural_frequencies(arm, arm.neutral)[-1]
    step = 2.0 * np.sqrt(2.0) / (2.0 * np.pi * top)
    line = next(x for x in str(arm).splitlines() if x.startswith("highest"))
    hertz, ms = (float(word) for word in (line.split()[2], line.split()[-2]))
    assert_allclose([hertz, ms], [top, 1e3 * step], rtol=2e-3)
    q = arm.neutral
    q[2] = 1e-6
    for factor, grows in ((0.99, False), (1.03, True)):
        t = factor * 1e-3 * ms * np.arange(400)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = fa.simulate(arm, q, np.zeros(3), t, max_step=t[1])
        last = np.abs(np.nan_to_num(run.q[-1], nan=1e9, posinf=1e9)).max()
        assert (last > 1e-5) == grows
    many = planar_chain(101, n_modes=1)
    assert "frequency: not computed for more than 200" in str(many)
    damped = fa.library.pendulum(damping=50.0).replace(gravity=(0, 0, 0))
    assert "highest" not in str(damped)


def test_links_along_any_axis_of_a_robot_description() -> None:
    """The same beam along z, and one that starts 0.25 m from the frame of its link."""
    table = SIDECAR | {"torsional_stiffness": 3.0, "polar_inertia_per_length": 0.01}
    table |= {"modes": "clamped-free", "n_modes": 2}
    text = robot_of(LINKS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm = fa.urdf.load(text, sidecar={"rod1": table})
        moved = table | {"axis": [0, 0, 1], "position": [0, 0, 0.25]}
        other = fa.urdf.load(text, sidecar={"rod1": moved})
    principal = []
    for body in (arm.bodies[0], other.bodies[0]):
        assert body.unreduced is not None
        at_tip = np.eye(6)
        at_tip[3:, :3] = np.cross(np.eye(3), body.node_position[-1]).T
        found = body.unreduced.compliance(np.array([body.n_nodes - 1]))[0]
        found = at_tip @ found @ at_tip.T
        principal += [np.linalg.eigvalsh(found[at, at]) for at in (LINEAR, ANGULAR)]
    assert_allclose(principal[:2], principal[2:], rtol=1e-9, atol=1e-15)
    assert_allclose(principal[0], [0.0, 1 / 21.0, 1 / 15.0], atol=1e-12)  # L^3 / 3 EI
    for x in (arm, other):
        assert_allclose(
            x.mode_errors().frequencies, locked(x, x.neutral)[:4], rtol=1e-9
        )
        assert x.mode_errors().frequency_errors.min() > -1e-6
