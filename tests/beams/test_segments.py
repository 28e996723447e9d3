"""Links cut into pieces by ``segments=n``: one link to users, right when it bends far.

Oracles: Euler's elastica by a boundary value problem, closed-form frequencies, the same
chain made by hand, unreduced links of elements, and a converged run of a soft pendulum.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose
from refusals import model_refused
from scipy.integrate import solve_bvp
from scipy.linalg import eigh

import flexarm as fa
from flexarm.beams import (
    ALUMINIUM,
    Payload,
    Section,
    SegmentedLink,
    finite_element_link,
    flexible_link,
)
from flexarm.beams._single import free_beam_modes
from flexarm.control.inversion import link_angles

STRIP = Section.from_stiffness(
    1.3,
    (2.0, 5.0),
    torsional_stiffness=1.7,
    axial_stiffness=900.0,
    rotary_inertia=(0.02, 0.008, 0.012),
)
TUBE = Section.tube(0.02, 0.001, ALUMINIUM)
STAIRS = [[0, 0, 0], [0.5, 0, 0], [0.5, 0.4, 0], [0.7, 0.4, 0.6]]


def planar(n: int | None, **options: Any) -> Any:
    """Link of EI = L = rho = 1 that bends along y."""
    given: dict[str, Any] = {
        "length": 1.0,
        "mass_per_length": 1.0,
        "bending_stiffness": 1.0,
        "motions": "bending y",
    }
    return flexible_link("boom", **{**given, "segments": n, **options})


def spatial(**options: Any) -> Any:
    given = {"length": 0.9, "sections": STRIP, "segments": 3, "n_elements": 3}
    return finite_element_link("boom", **{**given, **options})


def states(arm: fa.Arm, size: float = 0.1) -> Any:
    rng = np.random.default_rng(22)
    q, qd, x = size * rng.normal(size=(3, 4, arm.nv))
    return q, qd, x


# the physics


def elastica(P: float) -> float:
    """Deflection of the tip of an inextensible cantilever, EI = L = 1."""

    def f(_: Any, z: Any) -> Any:
        return np.array([z[1], -P * np.cos(z[0]), np.sin(z[0])])

    def ends(a: Any, b: Any) -> Any:
        return np.array([a[0], b[1], a[2]])

    s = np.linspace(0.0, 1.0, 101)
    guess = np.array([s * min(P / 3.0, 1.2), 1.0 - s, 0.5 * s])
    found = solve_bvp(f, ends, s, guess, tol=1e-9, max_nodes=20000)
    assert found.success
    return float(found.y[2, -1])


def deflection(link: Any, P: float) -> float:
    arm = fa.Arm([link], gravity=(0, 0, 0))
    q = np.zeros(arm.nq)
    for load in np.linspace(0.0, P, 6)[1:]:
        wrench = [0, 0, 0, 0, load, 0]
        rest = fa.equilibrium(arm, q, wrench=wrench, frame="base", held="joints")
        assert rest.success and rest.stable
        q = rest.q
    return float(fa.tip_pose(arm, q)[1, 3])


def test_pieces_converge_to_the_elastica() -> None:
    """Under P L^2 / EI = 10 the tip turns by 82 degrees."""
    exact = elastica(10.0)
    assert_allclose(exact, 0.8106090, rtol=1e-6)
    error = {n: abs(deflection(planar(n), 10.0) / exact - 1.0) for n in (8, 16, 32)}
    assert error[8] < 0.0024 and error[16] < 0.00028
    # order, unless the error is near that of the solution
    assert np.log2(error[8] / error[16]) > 2.9
    assert error[32] < 2e-6 or np.log2(error[16] / error[32]) > 2.9


def test_pieces_under_a_small_load_are_those_of_one_link() -> None:
    assert_allclose(deflection(planar(5), 0.001), 0.001 / 3.0, rtol=1e-6)


def test_frequencies_of_a_clamped_link_converge() -> None:
    """Bending with the fourth power of the length of pieces, torsion the second."""
    polar, GJ = 0.03, 0.7
    rod: dict[str, Any] = {"torsional_stiffness": GJ, "polar_inertia_per_length": polar}
    rod |= {"bending_stiffness": None, "motions": "torsion"}
    link = {n: planar(n, **rod) for n in (8, 16)}
    roots = np.array([1.8751040687, 4.6940911330, 7.8547574382])
    twist = np.pi * np.array([0.5, 1.5]) * np.sqrt(GJ / polar)
    errors = []
    for n in (8, 16):
        f = 2.0 * np.pi * link[n].frequencies()
        errors.append([np.abs(f / w - 1.0).min() for w in twist])
        bare = 2.0 * np.pi * planar(n).frequencies()
        errors[-1] += list(bare[:3] / roots**2 - 1.0)
    assert max(errors[1]) < 0.005 and max(errors[1][2:]) < 2e-4
    order = np.log2(np.array(errors[0]) / np.array(errors[1]))
    assert_allclose(order, [2, 2, 4, 4, 4], atol=0.15)


def chain_by_hand(n: int, load: Payload) -> list[Any]:
    """Pieces as bodies of their own, each a link with the static shapes of its tip."""
    length = 0.9 / n
    bodies = []
    for k in range(n):
        own = Payload(length, load.mass, load.com, load.inertia)
        bodies.append(
            finite_element_link(
                f"p{k}",
                length=length,
                sections=STRIP,
                n_elements=1,
                modes="static",
                keep="tip",
                joint=fa.Joint(axis=(1, 2, 3)) if k == 0 else fa.Joint("fixed"),
                payloads=[own] if k == n - 1 else [],
            )
        )
    return bodies


def test_a_link_in_pieces_is_the_chain_made_by_hand() -> None:
    load = Payload(0.9, 0.4, (0.02, 0.05, -0.01), (1e-3, 2e-3, 1.5e-3))
    link = spatial(payloads=[load], joint=fa.Joint(axis=(1, 2, 3)))
    hand = fa.RigidBody("hand", fa.Joint(parent="boom"), mass=0.3, com=(0.1, 0, 0))
    other = hand.replace(joint=fa.Joint(parent="p2"))
    one = fa.Arm([link, hand])
    two = fa.Arm([*chain_by_hand(3, load), other])
    q, qd, x = states(one, 0.02)
    for function in (fa.inverse_dynamics, fa.forward_dynamics):
        assert_allclose(function(one, q, qd, x), function(two, q, qd, x), rtol=1e-9)
    for function in (fa.mass_matrix, fa.potential_energy, fa.tip_pose):
        assert_allclose(function(one, q), function(two, q), rtol=1e-11, atol=1e-13)
    assert_allclose(fa.energy(one, q, qd), fa.energy(two, q, qd), rtol=1e-11)
    A, B = (fa.linearize(arm, q[0], qd[0], x[0]).A for arm in (one, two))
    assert_allclose(A, B, rtol=1e-9, atol=1e-9 * np.abs(A).max())
    t = np.linspace(0.0, 0.05, 101)
    with pytest.warns(fa.AccuracyWarning, match="has no stretch"):  # EA = 900 N
        runs = [
            fa.simulate(arm, q[0] * 0.1, 0.0 * qd[0], t, method="generalized-alpha")
            for arm in (one, two)
        ]
    assert runs[0].success
    assert_allclose(runs[0].q, runs[1].q, rtol=1e-6, atol=1e-9)


def tip_compliance(link: Any, node: Any = "tip") -> Any:
    """Small motions of a node per wrench on it, (6, 6)."""
    arm = fa.Arm([link], gravity=(0, 0, 0))
    q = np.zeros(arm.nq)
    J = fa.jacobian(arm, q, (link.name, node))[:, arm.mode_slice(link.name)]
    K = arm.stiffness_matrix[arm.mode_slice(link.name), arm.mode_slice(link.name)]
    return J @ np.linalg.solve(K, J.T)


BENT = {
    "points": STAIRS,
    "length": None,
    "motions": ("bending y", "bending z", "torsion", "stretch"),
}
LINES = {
    "straight": {},
    "bent": BENT,
    "bent, rolled": {**BENT, "roll": [0.3, -0.2, 0.5]},
    "stepped": {"sections": [(0.4, STRIP), (0.5, TUBE)]},
    "with things on it": {
        "payloads": [Payload(0.35, 0.2, (0, 0.1, 0)), Payload(0.6, 0.1)],
        "nodes": {"camera": 0.5},
    },
}


@each("options", LINES)
@each("n", (1, 2, 5))
def test_pieces_bend_as_the_unreduced_link(options: dict[str, Any], n: int) -> None:
    """Static shapes are exact for any cut; masses and lowest frequencies agree."""
    options = {**options, "geometric_stiffening": False}
    whole = {"segments": None, "n_modes": "all"}
    fine = spatial(**options, **whole, n_elements=9, rotary_inertia=True)
    link = spatial(**options, segments=n)
    assert isinstance(link, SegmentedLink) and len(link.pieces) == n
    assert_allclose(link.mass, fine.mass, rtol=1e-13)
    assert_allclose(tip_compliance(link), tip_compliance(fine), rtol=1e-7, atol=1e-9)
    for node in (0.35, 0.5, 0.6) if "nodes" in options else ():
        one, two = (tip_compliance(x, node) for x in (link, fine))
        assert_allclose(one, two, rtol=1e-7, atol=1e-9)
    if n == 5:
        assert_allclose(link.frequencies()[:2], fine.frequencies()[:2], rtol=0.004)
    # the same rigid body
    one, two = (
        fa.mass_matrix(arm, arm.neutral)[:6, :6]
        for arm in (fa.Arm([x.replace(joint=fa.Joint("free"))]) for x in (link, fine))
    )
    assert_allclose(one, two, rtol=1e-11, atol=1e-13)


def test_a_tapered_link_is_cut_along_its_taper() -> None:
    def section(x: float) -> Section:
        return Section.tube(0.04 - 0.02 * x, 0.002, ALUMINIUM)

    fine = finite_element_link(
        "boom",
        length=0.8,
        sections=section,
        n_elements=12,
        motions="bending y",
        n_modes="all",
    )
    exact = tip_compliance(fine)
    errors = []
    for n in (2, 4, 8):
        link = finite_element_link(
            "boom",
            length=0.8,
            sections=section,
            segments=n,
            n_elements=n,
            motions="bending y",
        )
        assert_allclose(link.mass, fine.mass, rtol=1e-12)
        errors.append(abs(tip_compliance(link)[4, 4] / exact[4, 4] - 1.0))
    assert errors[-1] < 1e-5 and errors[0] / errors[1] > 8.0


def test_a_soft_pendulum_swings_as_a_converged_one() -> None:
    """EI = 0.3, 1 m, 1 kg/m, released level: its tip after 2 s.

    With 8, 16, 32 and 64 pieces and steps of rk4 that are small enough the tip is at
    (0.911235, 0.128537), (0.911926, 0.128021), (0.911986, 0.127966) and
    (0.911990, 0.127963) m.
    """
    arm = fa.library.planar_chain(1, segments=16, bending_stiffness=0.3)
    rest = np.zeros(arm.nq)
    t = np.linspace(0.0, 2.0, 13501)
    run = fa.simulate(arm, rest, rest, t)
    assert run.success
    place = fa.tip_pose(arm, run.q[-1])[:2, 3]
    assert np.linalg.norm(place - (0.91199, 0.127963)) < 2e-4
    assert np.ptp(fa.energy(arm, run.q, run.qd)) < 1e-6


@each("n", (4, 12))
def test_the_lowest_mode_of_each_motion_has_the_damping_ratio(n: int) -> None:
    """Of the whole link, for any number of pieces."""
    link = spatial(
        segments=n,
        n_elements=n,
        joint=fa.Joint("fixed"),
        damping_ratio=0.02,
        payloads=[Payload(0.9, 0.5)],
    )
    arm = fa.Arm([link], gravity=(0, 0, 0))
    K, C, M = (
        arm.stiffness_matrix,
        arm.damping_matrix,
        fa.mass_matrix(arm, 0 * arm.neutral),
    )
    for axis in ("y", "rz"), ("z", "ry"), ("rx",):
        own = [j for j, x in enumerate(arm.coordinate_names) if x.split()[-1] in axis]
        at = np.ix_(own, own)
        w2, v = eigh(K[at], M[at])
        ratio = np.diag(v.T @ C[at] @ v) / (2.0 * np.sqrt(w2))
        assert_allclose(ratio, 0.02 * np.sqrt(w2 / w2[0]), rtol=1e-6)
    each_motion = spatial(segments=n, n_elements=n, damping_ratio=[0.0, 0.0, 0.1])
    damped = [np.diag(piece.damping) > 0.0 for piece in each_motion.pieces]
    assert all(row.tolist() == 4 * [False] + [True] for row in damped)


# one link by name


def boom_arm(**options: Any) -> fa.Arm:
    boom = spatial(nodes={"camera": 0.5}, joint=fa.Joint(), **options)
    fore = finite_element_link(
        "fore",
        length=0.5,
        sections=TUBE,
        motions="bending y",
        segments=2,
        n_elements=2,
        joint=fa.Joint(parent="boom"),
    )
    eye = fa.RigidBody("eye", fa.Joint("fixed", parent="boom", node="camera"), mass=0.1)
    mid = fa.RigidBody(
        "mid", fa.Joint(parent="boom", node=0.3), mass=0.1, com=(0.1, 0, 0)
    )
    return fa.Arm([boom, fore, eye, mid], tip=("fore", "tip"))


def test_names_mean_the_whole_link() -> None:
    arm = boom_arm()
    names = [body.name for body in arm.bodies]
    assert names == ["boom", "boom#2", "boom#3", "fore", "fore#2", "eye", "mid"]
    # children hang on the piece that has their node
    assert arm._parents == (-1, 0, 1, 2, 3, 1, 0)
    modes = arm.coordinate_names[arm.mode_slice("boom")]
    assert len(modes) == 20 and all(name.startswith("boom.") for name in modes)
    assert modes[:2] == ("boom.n1 y", "boom.n1 rz") and modes[-1] == "boom.tip rx"
    assert arm.mode_slice("boom").stop == arm.mode_slice("fore").start
    assert arm.mode_slice(1) == arm.mode_slice("boom#2")
    assert arm.coordinate_names[: arm.nu] == ("boom", "fore", "mid")
    assert arm.body_joint_slice("boom") == slice(0, 1)
    assert len(set(arm.node_names)) == arm.n_nodes
    # nodes by name, number and distance along the link
    x = fa.node_poses(arm, arm.neutral)[:, 0, 3]
    for node, at in (
        ("base", 0.0),
        ("tip", 0.9),
        ("camera", 0.5),
        ("n1", 0.3),
        (0.3, 0.3),
        (0.5, 0.5),
        (0.9, 0.9),
        (0.0, 0.0),
        (-1, 0.9),
        (0, 0),
    ):
        assert_allclose(x[arm.node("boom", node)], at, atol=1e-14)
    assert arm.node_names.index("boom.camera") == arm.node("boom", "camera")
    assert_allclose(x[arm.node_slice("boom")], np.sort(x[arm.node_slice("boom")]))
    assert_allclose(
        fa.node_pose(arm, arm.neutral, ("boom", 0.5)),
        fa.node_pose(arm, arm.neutral, "boom.camera"),
    )
    assert arm.node("boom", np.float32(0.5)) == arm.node("boom", "camera")
    assert planar(None).node_index(1.0) == planar(None).node_index("tip")
    # numbers of nodes of a link, also for what hangs on it
    number = arm.node("boom", "camera") - arm.node_slice("boom").start
    on = fa.RigidBody("x", fa.Joint("fixed", parent="boom", node=number), mass=1.0)
    held = fa.Arm([*arm.bodies, on])
    assert held._parents[-1] == 1 and held.bodies[-1].joint.node == "camera"


def test_wrenches_loops_and_outputs_take_names_of_the_link() -> None:
    arm = boom_arm()
    q, _, _ = states(arm, 0.02)
    wrench = np.array([0.1, 0.2, 0.3, 1.0, 2.0, 3.0])
    forces = fa.wrench_forces(arm, q, wrench, ("boom", 0.5))
    J = fa.jacobian(arm, q, arm.node("boom", "camera"))
    assert_allclose(forces, np.einsum("sij,i->sj", J, wrench), rtol=1e-12, atol=1e-13)
    loop = fa.Loop(("boom", 0.5), "ground", directions="y", position2=(0.5, 0, 0))
    closed = arm.replace(constraints=[loop])
    assert fa.constraint_violation(closed, 0 * q[0]).shape == (1,)
    assert_allclose(fa.constraint_violation(closed, 0 * q[0]), 0.0, atol=1e-15)
    ss = fa.linearize(
        arm,
        0 * q[0],
        outputs=[
            fa.outputs.modes("fore"),
            fa.outputs.strain("boom", 0.5),
            fa.outputs.strain("boom", 0.0),
        ],
    )
    assert ss.outputs[-2:] == ("boom strain y 0.5", "boom strain y 0")
    # curvature by the modes of the piece
    row = dict(zip(arm.coordinate_names, ss.C[-1], strict=False))
    assert_allclose(row["boom.n1 y"], 6.0 / 0.3**2, rtol=1e-9)


def test_parameters_and_angles_of_the_whole_link() -> None:
    arm = boom_arm()
    found = fa.inertial_parameters(arm, bodies="boom")
    who = {name.split(".")[0] for name in found.names}
    assert who == {"boom", "boom#2", "boom#3"}
    values = fa.inertial_parameters(arm).values
    again = fa.Arm.with_inertial_parameters(arm, values)
    assert again.coordinate_names == arm.coordinate_names
    # the angle of the tip seen from the joint, by all modes
    chain = fa.library.planar_chain(2, segments=3, length=0.7)
    E = link_angles(chain, 1.0)
    step = 1e-6 * np.eye(chain.nv)
    ends = fa.node_pose(chain, step, ("link1", "tip"))[:, :2, 3]
    seen = np.arctan2(ends[:, 1], ends[:, 0]) / 1e-6
    assert_allclose(E[0], seen, rtol=1e-5, atol=1e-5)


def test_pieces_of_ones_own() -> None:
    """Bodies without modes or without stiffness may be pieces."""
    stiff = planar(None).replace(
        node_translation=np.zeros((len(planar(None).node_mass), 3, 0)),
        node_rotation=None,
        stiffness=np.zeros((0, 0)),
        damping=None,
        mode_names=(),
        beam=None,
        node_foreshortening=None,
    )
    soft = fa.FlexibleBody(
        "soft",
        node_mass=[1.0],
        node_position=[[1.0, 0, 0]],
        stiffness=[0.0],
        node_translation=[[[0.0], [1.0], [0.0]]],
        node_names=("end",),
    )
    model_refused(
        ["link 'boom' has a node 'tip' in a piece that is not the last"],
        lambda: SegmentedLink("boom", fa.Joint(), [stiff, soft]),
    )
    stiff = stiff.replace(node_names=(*stiff.node_names[:-1], "middle"))
    link = SegmentedLink("boom", fa.Joint(), [stiff, soft])
    assert_allclose(link.frequencies(), [0.0])
    assert SegmentedLink("boom", fa.Joint(), [stiff]).frequencies().size == 0
    arm = fa.Arm([link], gravity=(0, 0, 0))
    assert "1 in 2 pieces" in str(arm) and arm.nv == 2 and link.beam is None
    assert_allclose(fa.tip_pose(arm, arm.neutral)[0, 3], 2.0)
    model_refused(["node of link 'boom' is 0.5"], lambda: arm.node("boom", 0.5))


def test_a_link_has_one_row_and_one_curve() -> None:
    arm = boom_arm()
    rows = [line.split() for line in str(arm).splitlines()[1:]]
    assert [row[0] for row in rows[:5]] == ["body", "boom", "fore", "eye", "mid"]
    assert rows[2][1:3] == ["boom.tip", "revolute"] and "20 in 3 pieces" in str(arm)
    assert rows[3][1] == "boom.camera"
    assert repr(arm).startswith("<Arm 'arm': 4 links of 7 bodies, 3 joint and 24 modal")
    assert "3 pieces" in str(spatial())
    # loads of the whole link
    q, qd, _ = states(arm, 0.02)
    qdd = fa.forward_dynamics(arm, q, qd, np.zeros(arm.nv))
    loads = fa.link_loads(arm, q, qd, qdd)
    assert list(loads) == ["boom", "fore"]
    boom = loads["boom"]
    assert_allclose(boom.at, [0.0, 0.3, 0.3, 0.5, 0.5, 0.6, 0.6, 0.9])
    assert boom.moment.shape == (4, 8, 3)
    assert_allclose(boom.moment[:, 0, 2], 0.0, atol=1e-9)  # the joint is free
    # continuous at ends of pieces on which nothing hangs
    at = np.flatnonzero(np.isclose(boom.at, 0.6))
    assert_allclose(boom.moment[:, at[0]], boom.moment[:, at[1]], atol=1e-9)
    assert boom.profile.strain.shape == (8, 4, 20)


def test_loads_are_those_of_one_body() -> None:
    """At rest, for deflections so small that both agree to second order."""
    load = [Payload(0.9, 0.2)]
    loads = []
    for n in (None, 3):
        whole: dict[str, Any] = {} if n else {"n_modes": "all"}
        link = spatial(segments=n, payloads=load, rotary_inertia=True, **whole)
        arm = fa.Arm([link], gravity=(0, -1e-5, 0))
        rest = fa.equilibrium(arm, np.zeros(arm.nq), held="joints")
        still = np.zeros(arm.nv)
        loads.append(fa.link_loads(arm, rest.q, still, still)["boom"])
    assert_allclose(loads[0].at, loads[1].at)
    for what in ("force", "moment"):
        one, two = (getattr(each, what) for each in loads)
        assert_allclose(one, two, rtol=1e-4, atol=1e-9)


def test_copies_keep_the_link() -> None:
    arm = boom_arm()
    again = pickle.loads(pickle.dumps(arm))
    assert again == arm and again.mode_slice("boom") == arm.mode_slice("boom")
    lighter = arm.replace(
        bodies=[b.replace(damping=None) if b.n_modes else b for b in arm.bodies]
    )
    assert lighter.coordinate_names == arm.coordinate_names
    more = fa.Arm(
        [
            *arm.bodies,
            fa.RigidBody("hat", fa.Joint(parent="boom"), mass=1.0, com=(0.1, 0, 0)),
        ]
    )
    assert more._parents[-1] == 2
    link = spatial()
    assert pickle.loads(pickle.dumps(link)) == link
    renamed = link.replace(name="mast", joint=fa.Joint("prismatic"))
    assert [piece.name for piece in renamed.pieces] == ["mast", "mast#2", "mast#3"]
    assert renamed.pieces[0].joint.kind == "prismatic"
    # motors at the joint of a link, and bodies that stand for them
    drive = fa.Drive(1e4, gear_ratio=10, rotor_inertia=1e-4, stator_mass=0.1)
    driven = fa.Arm(
        [
            link.replace(joint=fa.Joint(drive=drive)),
            spatial(segments=2).replace(name="fore", joint=fa.Joint(drive=drive)),
        ]
    )
    assert driven.coordinate_names[:4] == ("boom", "fore", "boom.motor", "fore.motor")
    plain = fa.reference.motors.expanded(driven)
    q, _, _ = states(driven)
    assert_allclose(fa.mass_matrix(plain, q), fa.mass_matrix(driven, q), atol=1e-12)
    assert fa.lock_motors(driven).nv == driven.nv - 2


def test_stacks_and_exported_arms(tmp_path: Path) -> None:
    arms = [boom_arm(payloads=[Payload(0.9, m)]) for m in (0.1, 0.5)]
    stack = fa.stack(arms)
    q, qd, x = states(arms[0])
    together = fa.inverse_dynamics(stack, q[:2], qd[:2], x[:2])
    for k, arm in enumerate(arms):
        alone = fa.inverse_dynamics(arm, q[k], qd[k], x[k])
        # equal but where AVX2 beside AVX-512 has stacks compiled in less time
        assert_allclose(together[k], alone, rtol=1e-14, atol=1e-15 * abs(alone).max())
    assert stack.mode_slice("boom") == arms[0].mode_slice("boom")
    arms[0].export_c(tmp_path / "arm.h")
    text = (tmp_path / "arm.h").read_text()
    assert "boom.n1 y" in text and "boom#2" not in text


def test_pictures_show_one_link() -> None:
    pytest.importorskip("matplotlib")
    arm = boom_arm()
    t = np.linspace(0.0, 0.02, 21)
    run = fa.simulate(arm, arm.neutral, np.zeros(arm.nv), t, method="generalized-alpha")
    labels = [line.get_label() for line in fa.plotting.deflections(run)]
    assert {label.split()[0] for label in labels} == {"boom", "fore"}
    lines = fa.plotting.deflections(run, "fore", modes=True)
    assert [x.get_label() for x in lines] == list(
        arm.coordinate_names[arm.mode_slice("fore")]
    )
    drawing = fa.plotting.arm(arm, run.q[-1])
    assert drawing is not None


def test_other_ways_to_a_link_in_pieces() -> None:
    arm = fa.library.planar_chain(2, segments=3, damping_ratio=0.01)
    assert arm.nv == 2 + 2 * 6 and arm.node_names[-1] == "link2.tip"
    text = """<robot name="rod"><link name="base"/>
      <link name="rod"><inertial><mass value="1"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
      <link name="hand"><inertial><mass value="1"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
      <joint name="a" type="continuous"><parent link="base"/><child link="rod"/>
        <axis xyz="0 1 0"/></joint>
      <joint name="b" type="continuous"><parent link="rod"/><child link="hand"/>
        <origin xyz="0.1 0 1.2"/><axis xyz="0 1 0"/></joint></robot>"""
    beam = {
        "length": 1.0,
        "mass_per_length": 1.0,
        "bending_stiffness": 5.0,
        "axis": [0, 0, 1],
        "position": [0.1, 0, 0.2],
    }
    loaded = fa.urdf.load(text, sidecar={"rod": beam | {"segments": 4}})
    single = fa.urdf.load(text, sidecar={"rod": beam})
    assert loaded._parents[-1] == 3
    for node in ("tip", "base"):
        assert_allclose(
            fa.node_pose(loaded, loaded.neutral, ("rod", node)),
            fa.node_pose(single, single.neutral, ("rod", node)),
            atol=1e-15,
        )
    assert_allclose(
        fa.mass_matrix(loaded, loaded.neutral)[:2, :2],
        fa.mass_matrix(single, single.neutral)[:2, :2],
        rtol=1e-12,
    )


def test_the_hub_and_the_payload_are_those_of_one_body() -> None:
    options: dict[str, Any] = {
        "base_mass": 0.5,
        "base_inertia": 0.1,
        "tip_mass": 0.2,
        "tip_com": (0.01, 0.02, 0.0),
        "tip_inertia": (1e-3, 1e-3, 2e-3),
        "bending_stiffness": (1.0, 2.0),
        "motions": ("bending y", "bending z"),
        "section_inertia": (0.01, 0.004, 0.006),
    }
    one, two = (fa.Arm([planar(n, **options)]) for n in (None, 4))
    M, N = (fa.mass_matrix(arm, arm.neutral)[0, 0] for arm in (one, two))
    assert_allclose(M, N, rtol=1e-12)
    assert_allclose(
        fa.potential_energy(one, one.neutral), fa.potential_energy(two, two.neutral)
    )


# refusals

BAD: dict[str, tuple[Any, str]] = {
    "none": (lambda: spatial(segments=0), "segments of link 'boom' is 0, expected at"),
    "half": (lambda: planar(2.5), "segments of link 'boom' is 2.5, expected a whole"),
    "many": (lambda: spatial(segments=10000), "is 10000, expected at most 256"),
    "modes": (lambda: spatial(n_modes=2), "has segments and n_modes, expected one of"),
    "frequency": (lambda: spatial(max_frequency=9.0), "has segments and max_frequency"),
    "basis": (lambda: spatial(modes="clamped-free"), "has segments and modes"),
    "own basis": (lambda: planar(3, modes="free"), "has segments and modes"),
    "chord": (lambda: spatial(frame="chord"), "has segments and frame"),
    "keep": (lambda: spatial(keep=["n1"]), "has segments and keep"),
    "shaping": (
        lambda: spatial(outboard=[Payload(0.9, 1.0)]),
        "has segments and outboard",
    ),
    "free modes": (
        lambda: planar(3, bending_y=free_beam_modes(1.0, 1.0, 1.0, 2)),
        "has segments and modes of its own",
    ),
    "damping": (lambda: planar(3, modal_damping=1.0), "has segments and modal_damping"),
    "ratios": (
        lambda: planar(3, damping_ratio=[0.1, 0.2]),
        "has shape (2,), expected one number, or 1: one for the lowest mode of each",
    ),
    "negative ratio": (
        lambda: spatial(damping_ratio=-1.0),
        "is -1 for mode 1, expected",
    ),
    "chain": (
        lambda: fa.library.planar_chain(2, n_modes=2, segments=3),
        "has n_modes 2 and segments, expected one of them",
    ),
    "torsion": (
        lambda: spatial(sections=Section.from_stiffness(1.0, 1.0)),
        "coordinate 'n1 rx' of link 'boom' moves no mass",
    ),
    "sidecar": (
        lambda: fa.urdf._links.described_link(
            "rod",
            {
                "length": 1,
                "mass_per_length": 1,
                "bending_stiffness": 1,
                "segments": 2,
                "n_modes": 3,
            },
        ),
        "link 'rod' has segments and n_modes",
    ),
    "buckling": (
        lambda: fa.beams.buckling_load(spatial()),
        "body is SegmentedLink, expected a FlexibleBody; a link made without segments",
    ),
    "part": (
        lambda: fa.Arm(fa.Arm([spatial()]).bodies[:2]),
        "the arm has 'boom', 'boom#2' of the link 'boom', expected its 3 pieces",
    ),
    "renamed": (
        lambda: fa.Arm([b.replace(name="x" + b.name) for b in spatial().pieces]),
        "of the link 'boom', expected its 3 pieces together",
    ),
    "twice": (lambda: fa.Arm([spatial(), spatial()]), "two bodies are named 'boom'"),
    "node": (
        lambda: boom_arm().node("boom", "hook"),
        "link 'boom' has no node 'hook', expected one of base, g1",
    ),
    "distance": (
        lambda: boom_arm().node("boom", 0.4),
        "link 'boom' has no node at 0.4 m along it, the nearest ones are at 0.3, 0.5",
    ),
    "beyond": (lambda: boom_arm().node("boom", 1.5), "has no node at 1.5 m along it"),
    "number": (
        lambda: boom_arm().node("boom", 99),
        "has no node 99, expected a number",
    ),
    "no pieces": (
        lambda: SegmentedLink("boom", fa.Joint(), []),
        "pieces of link 'boom' are [], expected a list of FlexibleBody",
    ),
    "one name": (
        lambda: SegmentedLink("boom", fa.Joint(), 2 * [planar(None)]),
        "different node names, expected one unique name each",
    ),
}


@each("call, said", BAD.values(), ids=BAD)
def test_links_that_cannot_be_cut_into_segments_say_why(call: Any, said: str) -> None:
    model_refused([said], call)
