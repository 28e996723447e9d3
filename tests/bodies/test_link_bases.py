"""Coordinates of links: static shapes of kept nodes, then modes with these held.

Oracle: whole arms with locked joints as frames of many elements (`beam_frames`).
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from beam_frames import frame_frequencies, frame_sag
from each import each
from numpy.testing import assert_allclose, assert_array_equal
from refusals import argument_refused, model_refused
from scipy.linalg import eigh, null_space

import flexarm as fa
from flexarm import beams
from flexarm.beams import STEEL, Payload, Section
from flexarm.beams._craig_bampton import CraigBamptonBeamModes, CraigBamptonRodModes
from flexarm.beams._single import free_beam_modes, free_rod_modes, pinned_beam_modes

# modes of the tests are chosen for other purposes
pytestmark = pytest.mark.filterwarnings("ignore::flexarm.ModeWarning")

TUBE = Section.tube(0.04, 0.002, STEEL)
# Section that is rigid in shear.
RIGID_IN_SHEAR = TUBE.replace(shear_areas=np.inf)
Z = (0.0, 0.0, 1.0)


def held_hertz(arm: fa.Arm, q: Any) -> Any:
    """Frequencies with locked joints, in Hz."""
    state = np.concatenate([q, np.zeros(arm.nq - len(q))])
    eta = slice(len(q), None)
    K, M = arm.stiffness_matrix[eta, eta], fa.mass_matrix(arm, state)[eta, eta]
    return np.sqrt(eigh(K, M, eigvals_only=True)) / (2.0 * np.pi)


# closed forms of uniform links


@pytest.mark.parametrize("upward", [True, False])
def test_shapes_of_uniform_beams(upward: bool) -> None:
    """Hermite cubics, modes of the clamped-clamped beam, exact integrals."""
    L, rho, EI = 0.7, 2.0, 5.0
    modes = CraigBamptonBeamModes(L, rho, EI, 8, upward=upward)
    sign = 1.0 if upward else -1.0
    ends = np.array([0.0, L])
    scale = np.abs(modes.slope(np.linspace(0.0, L, 99))).max(axis=1)
    expected = np.zeros((8, 2))
    expected[0, 1] = 1.0
    assert_allclose(modes.shape(ends), expected, atol=1e-15)
    expected[0, 1], expected[1, 1] = 0.0, sign
    assert_allclose(modes.slope(ends) / scale[:, None], expected, atol=1e-14)
    x = np.linspace(0.0, L, 11)
    f = x / L
    assert_allclose(modes.shape(x)[0], f**2 * (3.0 - 2.0 * f), atol=1e-15)
    assert_allclose(modes.shape(x)[1], sign * L * f**2 * (f - 1.0), atol=1e-15)
    # roots of cos b cosh b = 1, orthonormal, and the textbook's element
    b = [4.730040744862704, 7.853204624095838, 10.995607838001671]
    assert_allclose(modes.beta[2:5] * L, b, rtol=2e-15)
    assert_allclose(modes.z[2:, 2:], np.eye(6), atol=1e-14)
    hermite = rho * L / 420 * np.array([[156, -22 * L], [-22 * L, 4 * L**2]])
    signs = np.array([[1.0, sign], [sign, 1.0]])
    assert_allclose(modes.z[:2, :2], signs * hermite, rtol=1e-14)
    # energies by quadrature are those in closed form
    size = np.sqrt(np.outer(np.diag(modes.k), np.diag(modes.k)))
    gram = modes._gram(modes.curvature, EI)
    assert_allclose(gram / size, modes.k / size, atol=1e-14)
    for n in (1, 2, 3):
        few = CraigBamptonBeamModes(L, rho, EI, n, upward=upward)
        assert_allclose(few._gram(few.curvature, EI), few.k, rtol=1e-13, atol=1e-11)
    assert_allclose(CraigBamptonBeamModes(L, rho, EI, 1).k, [[3.0 * EI / L**3]])


def test_shapes_of_uniform_rods() -> None:
    modes = CraigBamptonRodModes(0.7, 0.02, 3.0, 6)
    x = np.linspace(0.0, 0.7, 11)
    assert_allclose(modes.shape(x)[0], x / 0.7, atol=1e-15)
    assert_array_equal(modes.shape(0.7)[1:], 0.0)
    assert_allclose(modes.z[1:, 1:], np.eye(5), atol=1e-14)
    assert_allclose(modes.z[0, 0], 0.02 * 0.7 / 3.0, rtol=1e-14)
    assert_allclose(modes._gram(modes.slope, 3.0), modes.k, rtol=1e-13, atol=1e-10)


def test_links_of_formulas_and_of_elements_are_one() -> None:
    """Names, order, signs and matrices of both builders, as elements become short."""
    tube: dict[str, Any] = {"length": 0.7, "n_modes": 4}
    exact = beams.flexible_link(
        "link",
        mass_per_length=2.0,
        bending_stiffness=(5.0, 7.0),
        torsional_stiffness=3.0,
        polar_inertia_per_length=0.02,
        **tube,
    )
    assert exact.mode_names == (
        *("tip y", "tip rz", "bending y 3", "bending y 4"),
        *("tip z", "tip ry", "bending z 3", "bending z 4"),
        *("tip rx", "torsion 2", "torsion 3", "torsion 4"),
    )
    section = Section.from_stiffness(
        2.0, (5.0, 7.0), torsional_stiffness=3.0, rotary_inertia=(0.02, 0, 0)
    )
    found = beams.finite_element_link(
        "link", sections=section, n_elements=32, rotary_inertia=False, **tube
    )
    assert found.mode_names == exact.mode_names
    K = exact.stiffness
    size = np.sqrt(np.outer(np.diag(K), np.diag(K)))
    assert_allclose(found.stiffness / size, K / size, atol=8e-3)  # torsion: h^2
    bending = slice(0, 8)
    size, K = size[bending, bending], K[bending, bending]
    assert_allclose(found.stiffness[bending, bending] / size, K / size, atol=1e-5)
    # section_inertia of the other builder would turn with the slope
    plain = beams.flexible_link(
        "link", mass_per_length=2.0, bending_stiffness=(5.0, 7.0), **tube
    )
    M = plain.modal_mass()
    assert_allclose(found.modal_mass()[bending, bending], M, atol=1e-5 * M.max())
    # static shapes alone, by name and by default
    for one, other in (
        ({"modes": "static"}, {"n_modes": 2}),
        ({"n_modes": {"bending y": 3, "bending z": 3}}, {}),
        ({"n_modes": 3, "motions": "bending z"}, {"motions": "bending z"}),
    ):
        uniform = {"length": 1.0, "mass_per_length": 2.0, "bending_stiffness": 3.0}
        assert beams.flexible_link("a", **uniform, **one) == beams.flexible_link(  # type: ignore[arg-type]
            "a",
            **uniform,  # type: ignore[arg-type]
            **other,
        )


# whole arms


def tubes(link: Any, load: float, **options: Any) -> fa.Arm:
    """Two links of 1 m that turn about z, with a load on a fixed joint."""
    first = link("a", joint=fa.Joint(axis=Z), **options)
    second = link("b", joint=fa.Joint(parent="a", node="tip", axis=Z), **options)
    mass = fa.RigidBody("load", fa.Joint("fixed", parent="b", node="tip"), mass=load)
    return fa.Arm([first, second, mass], gravity=(0.0, 0.0, -9.81))


def of_elements(name: str, **options: Any) -> fa.FlexibleBody:
    return beams.finite_element_link(name, length=1.0, sections=TUBE, **options)


def of_formulas(name: str, **options: Any) -> fa.FlexibleBody:
    return beams.flexible_link(
        name,
        length=1.0,
        mass_per_length=TUBE.mass_per_length,
        bending_stiffness=TUBE.bending_stiffness,
        torsional_stiffness=TUBE.torsional_stiffness,
        polar_inertia_per_length=TUBE.rotary_inertia[0],
        **options,
    )


@functools.cache
def tubes_hertz(elbow: float, shear: bool = True) -> Any:
    """Lowest four frequencies of both tubes with 5 kg."""
    section = TUBE if shear else RIGID_IN_SHEAR
    return frame_frequencies(4, [1.0, 1.0], [0.0, elbow], section, 5.0, n=12)


@each(
    "link, options",
    [(of_elements, {"n_modes": 2}), (of_elements, {"n_modes": 3}), (of_formulas, {})],
)
def test_two_tubes_with_a_load(link: Any, options: Any) -> None:
    """Steel tubes of 1 m, 40 x 2 mm, 5 kg at the tip: within 0.1 %, by few modes.

    Clamped-free modes give 5.04 and 6.00 Hz by the lowest two, -18 % of the sag.
    """

    arm, shear = tubes(link, 5.0, **options), link is of_elements
    for elbow in (1.2, 0.0, 2.5):
        exact = tubes_hertz(elbow, shear)
        found = held_hertz(arm, [0.0, elbow])[:4]
        assert_allclose(found, exact, rtol=1e-2)
        assert_allclose(found[:2], exact[:2], rtol=1e-4)
        if elbow == 1.2:
            stated = [4.167, 4.491] if shear else [4.169, 4.492]
            assert_allclose(exact[:2], stated, atol=5e-4)
    section = TUBE if shear else RIGID_IN_SHEAR
    sag = frame_sag(2, -9.81, [1.0, 1.0], [0.0, 0.0], section, 5.0, n=4)[2]
    assert_allclose(sag, -18.48e-3 if shear else -18.46e-3, atol=5e-6)
    straight = np.zeros(arm.nq)
    assert_allclose(fa.deflection(arm, straight, held="joints")[5], sag, rtol=5e-4)


def test_planar_chain_of_cubic_elements() -> None:
    """Three rods of 1 kg, 1 m, 100 N m^2 on two coordinates each."""
    rod = Section.from_stiffness(
        1.0, (100.0, 1e9), torsional_stiffness=1e9, rotary_inertia=(1.0, 0.0, 0.0)
    )
    arm = fa.library.planar_chain(3, n_modes=2, gravity=(0.0, -1e-5, 0.0))
    assert arm.nv == 9
    for q in ([0.3, 0.5, 0.7], [0.0, np.pi / 2, 0.0], [0.0, 1.0, -1.0]):
        exact = frame_frequencies(3, [1.0] * 3, q, rod, n=8, plane=True)
        error = held_hertz(arm, q)[:3] / exact - 1.0
        assert (error > 0.0).all() and (error < [2e-4, 3e-3, 1e-2]).all()
        # static loads of the elements themselves too, as these are uniform
        droop = frame_sag(1, -1e-5, [1.0] * 3, q, rod, n=4, plane=True)
        state = np.concatenate([q, np.zeros(6)])
        found = fa.deflection(arm, state, held="joints")[3:6]
        assert_allclose(found, droop, rtol=0, atol=1e-5 * np.abs(droop).max())


def test_free_joints() -> None:
    """A rod between two pins: 11 % too stiff as one cubic, right with one mode more."""
    exact = np.pi**2 / (2.0 * np.pi)
    found = []
    for n in (2, 3):
        rod = fa.library.planar_chain(
            1, n_modes=n, bending_stiffness=1.0, gravity=(0, 0, 0)
        )
        # its tip held on the x axis
        row = fa.jacobian(rod, np.zeros(rod.nq))[4:5]
        N = null_space(row)
        K, M = rod.stiffness_matrix, fa.mass_matrix(rod, np.zeros(rod.nq))
        omega2 = eigh(N.T @ K @ N, N.T @ M @ N, eigvals_only=True)
        found.append(np.sqrt(omega2[0]) / (2.0 * np.pi) / exact - 1.0)
    assert_allclose(found[0], np.sqrt(120.0) / np.pi**2 - 1.0, rtol=1e-9)
    assert 0.0 < found[1] < 2e-3


def test_modes_of_loaded_links_converge() -> None:
    """At least as n^-3, where clamped-free modes converge as 1/n."""
    rod = Section.from_stiffness(
        1.0, (100.0, 1e9), torsional_stiffness=1e9, rotary_inertia=(1.0, 0.0, 0.0)
    )
    q = [0.3, 0.5, 0.7]
    exact = frame_frequencies(5, [1.0] * 3, q, rod, n=24, plane=True)
    n = np.array([3, 5, 8])
    errors: dict[str, Any] = {
        modes: np.array(
            [
                held_hertz(fa.library.planar_chain(3, n_modes=k, modes=modes), q)[:5]
                / exact
                - 1.0
                for k in n
            ]
        )
        for modes in ("craig-bampton", "clamped-free")
    }
    # without the lowest one, which is exact to the rounding of the oracle
    assert np.abs(errors["craig-bampton"][-1, 0]) < 1e-6
    order = {
        modes: np.log(error[0, 1:] / error[-1, 1:]) / np.log(n[-1] / n[0])
        for modes, error in errors.items()
    }
    assert (order["craig-bampton"] > 4.0).all()
    assert (errors["craig-bampton"][-1] < 3e-5).all()
    assert (order["clamped-free"] < 1.4).all()
    assert (errors["clamped-free"][-1] > 4e-3).all()


def test_pieces_joined_by_fixed_joints() -> None:
    """A cantilever of pieces: static loads exact, frequencies of the fourth order."""

    def cantilever(n: int, **options: Any) -> fa.Arm:
        joints = [fa.Joint("fixed")] + [
            fa.Joint("fixed", parent=f"p{j}", node="tip") for j in range(n - 1)
        ]
        pieces = [
            beams.flexible_link(
                f"p{j}",
                length=1.0 / n,
                mass_per_length=1.0,
                bending_stiffness=1.0,
                motions="bending y",
                joint=joint,
                **options,
            )
            for j, joint in enumerate(joints)
        ]
        return fa.Arm(pieces, gravity=(0.0, 0.0, 0.0))

    exact = beams.clamped_beam_modes(1.0, 1.0, 1.0, 3).frequency
    errors = []
    for n in (2, 4, 8):
        arm = cantilever(n)
        tip = fa.Arm.static_compliance(arm, np.zeros(arm.nq))[4, 4]
        assert_allclose(tip, 1.0 / 3.0, rtol=1e-12)
        errors.append(held_hertz(arm, [])[:2] / exact[:2] - 1.0)
    assert (np.log2(np.divide(errors[:-1], errors[1:])) > 2.7).all()
    assert (errors[-1] < [3e-6, 1e-4]).all()
    three = held_hertz(cantilever(8, n_modes=3), [])[:3] / exact - 1.0
    assert (np.abs(three) < [1e-7, 1e-6, 1e-5]).all()
    # the same with clamped-free modes: 11 % too stiff
    old = cantilever(8, modes="clamped-free", n_modes=3)
    tip = fa.Arm.static_compliance(old, np.zeros(old.nq))[4, 4]
    assert_allclose(3.0 * tip, 0.888, atol=1e-3)


def test_bodies_at_inner_nodes() -> None:
    """Static shapes of all nodes in `keep`: loads there deflect exactly."""
    link = beams.finite_element_link(
        "link",
        length=1.0,
        sections=TUBE,
        n_elements=8,
        nodes={"elbow": 0.5},
        keep=["elbow", "tip"],
        n_modes={"bending y": 4, "bending z": 5, "torsion": 2},
    )
    assert link.mode_names == (
        *("elbow y", "elbow rz", "tip y", "tip rz"),
        *("elbow z", "elbow ry", "tip z", "tip ry", "bending z 5"),
        *("elbow rx", "tip rx"),
    )
    # with the shear of a Timoshenko beam
    flexibility = 0.5**3 / (3.0 * TUBE.bending_stiffness[0])
    flexibility += 0.5 / TUBE.shear_stiffness[0]
    at = link.node_index("elbow")
    for axis in (1, 2):
        row = link.node_translation[at, axis]
        found = row @ np.linalg.solve(link.stiffness, row)
        assert_allclose(found, flexibility, rtol=1e-10)
    # one coordinate of bending for each node: forces are exact, moments not
    few = beams.finite_element_link(
        "link",
        length=1.0,
        sections=TUBE,
        n_elements=8,
        nodes={"elbow": 0.5},
        keep=["elbow", "tip"],
        motions="bending y",
        n_modes=2,
    )
    assert few.mode_names == ("elbow y", "tip y")
    row = few.node_translation[at, 1]
    found = row @ np.linalg.solve(few.stiffness, row)
    assert_allclose(found, flexibility, rtol=1e-10)


def test_static_shapes_of_bent_links() -> None:
    """Forces and moments at the tip along all axes: along its last piece too."""
    section = Section.from_stiffness(
        1.0, (3.0, 5.0), torsional_stiffness=2.0, rotary_inertia=(0.02, 0.01, 0.01)
    )

    def flexibility(link: fa.FlexibleBody) -> Any:
        tip = np.vstack([link.node_translation[-1], link.node_rotation[-1]])
        return tip @ np.linalg.solve(link.stiffness, tip.T)

    flat = [[0, 0, 0], [0.6, 0, 0], [0.6, 0.45, 0]]
    for points in (flat, [*flat, [0.6, 0.45, 0.3]]):
        line: dict[str, Any] = {"points": points, "n_elements": 8, "sections": section}
        whole = beams.finite_element_link("a", n_modes="all", **line)
        few = beams.finite_element_link("a", modes="static", **line)
        names = {f"tip {x}" for x in ("x", "y", "z", "rx", "ry", "rz")}
        assert set(few.mode_names) == names
        assert_allclose(flexibility(few), flexibility(whole), rtol=0, atol=1e-12)
        # a coordinate is the displacement of the tip in the axes of its last piece
        x = few.mode_names.index("tip x")
        last = np.subtract(*np.array(points)[[-1, -2]], dtype=float)
        moved = np.linalg.norm(last) ** -1 * last @ few.node_translation[-1]
        assert_allclose(moved, np.eye(6)[x], atol=1e-12)
        more = beams.finite_element_link("a", n_modes=4, **line)
        error = more.frequencies()[:4] / whole.frequencies()[:4] - 1.0
        assert (error > -1e-9).all() and (error < 2e-3).all()
        assert more.n_modes == 12
    # in the chord frame too
    chord = beams.finite_element_link("a", n_modes=3, frame="chord", **line)
    assert chord.n_modes == 9


def test_payload_sweep_is_a_stack() -> None:
    """The number of nodes does not depend on the payload, zero included."""
    masses = (0.0, 1e-3, 0.5, 100.0)
    for modes in ("craig-bampton", "clamped-free", "pinned", "free"):
        arms = [
            fa.library.planar_chain(2, n_modes=2, modes=modes, payload_mass=m)
            for m in masses
        ]
        stack = fa.stack(arms)
        q = np.random.default_rng(0).uniform(-0.1, 0.1, arms[0].nq)
        expected = [fa.mass_matrix(arm, q) for arm in arms]
        assert_allclose(fa.mass_matrix(stack, q), expected, rtol=1e-12, atol=1e-15)


# other bases and numbers of coordinates


def test_natural_modes_by_name() -> None:
    """The same bodies as by modes of one's own, with the payload of the link."""
    uniform: dict[str, Any] = {"length": 0.5, "mass_per_length": 0.2}
    tip: dict[str, Any] = {"tip_mass": 0.1, "tip_inertia": (2e-4, 3e-4, 5e-4)}
    stiff: dict[str, Any] = {
        "bending_stiffness": (1.0, 2.0),
        "torsional_stiffness": 0.5,
        "polar_inertia_per_length": 1e-4,
        "n_modes": 2,
    }
    beam, rod = (0.5, 0.2, 1.0, 2), (0.5, 1e-4, 0.5, 2)
    other = (0.5, 0.2, 2.0, 2)
    more = {"tip_mass": 2.1, "tip_moment": 0.2}
    own: dict[str, Any] = {
        "clamped-free": {
            "bending_y": beams.clamped_beam_modes(
                *beam, tip_mass=0.1, tip_inertia=5e-4
            ),
            "bending_z": beams.clamped_beam_modes(
                *other, tip_mass=0.1, tip_inertia=3e-4
            ),
            "torsion": beams.clamped_rod_modes(*rod, tip_inertia=2e-4),
        },
        "tip-loaded": {
            "bending_y": beams.clamped_beam_modes(*beam, tip_inertia=0.0205, **more),
            "bending_z": beams.clamped_beam_modes(*other, tip_inertia=0.0203, **more),
            "torsion": beams.clamped_rod_modes(*rod, tip_inertia=2e-4),
        },
        "pinned": {
            "bending_y": pinned_beam_modes(*beam),
            "bending_z": pinned_beam_modes(*other),
            "torsion": beams.clamped_rod_modes(*rod, tip_inertia=2e-4),
        },
        "free": {
            "bending_y": free_beam_modes(*beam),
            "bending_z": free_beam_modes(*other),
            "torsion": free_rod_modes(*rod),
        },
    }
    load = Payload(0.5, mass=2.0, com=(0.1, 0.0, 0.0))
    for modes, given in own.items():
        outboard = [load] if modes == "tip-loaded" else []
        named = beams.flexible_link(
            "a", **uniform, **tip, **stiff, modes=modes, outboard=outboard
        )
        expected = beams.flexible_link("a", **uniform, **tip, **given)
        assert named.mode_names == expected.mode_names
        assert_allclose(named.stiffness, expected.stiffness, rtol=1e-12, atol=1e-12)
        assert_allclose(named.modal_mass(), expected.modal_mass(), atol=1e-13)
        assert named.mass == expected.mass


def test_modes_with_the_inertia_outboard() -> None:
    """As few modes, cut from all that the elements have: right, and less stiff.

    The first of the two tubes carries the second and the load.
    """
    q = np.array([0.0, 1.2])
    exact = tubes_hertz(1.2)[:2]
    # what hangs on each: tube and load about the elbow, the load alone
    R = np.array(
        [[np.cos(1.2), -np.sin(1.2), 0], [np.sin(1.2), np.cos(1.2), 0], [0, 0, 1]]
    )
    m = TUBE.mass_per_length
    com = R @ [(m * 0.5 + 5.0) / (m + 5.0), 0.0, 0.0]
    about = R @ np.diag([0.0, 1.0, 1.0]) @ R.T * (m / 3.0 + 5.0)
    about -= (m + 5.0) * (com @ com * np.eye(3) - np.outer(com, com))
    first = Payload(1.0, mass=m + 5.0, com=com, inertia=about)
    counts = {"bending y": 2, "bending z": 2, "torsion": 1}
    arms = []
    for modes in ("craig-bampton", "tip-loaded"):
        links = []
        for name, load in (("a", first), ("b", Payload(1.0, mass=5.0))):
            options: dict[str, Any] = {"modes": modes, "n_modes": counts}
            if modes == "tip-loaded":
                options["outboard"] = [load]
            links.append(of_elements(name, n_elements=8, **options))
        a, b = links
        joint = fa.Joint(parent="a", node="tip", axis=Z)
        load_body = fa.RigidBody(
            "load", fa.Joint("fixed", parent="b", node="tip"), mass=5.0
        )
        arms.append(
            fa.Arm(
                [a.replace(joint=fa.Joint(axis=Z)), b.replace(joint=joint), load_body]
            )
        )
    held, loaded = (held_hertz(arm, q) for arm in arms)
    assert_allclose(held[:2], exact, rtol=5e-4)
    assert_allclose(loaded[:2], exact, rtol=1e-2)
    assert loaded[-1] < 0.95 * held[-1]


def test_highest_frequency_of_a_basis() -> None:
    """Static shapes remain; modes above the limit are left out, as without it."""
    rod: dict[str, Any] = {"length": 1.0, "motions": "bending y"}
    rod["sections"] = Section.from_stiffness(1.0, 1.0)
    uniform: dict[str, Any] = {"length": 1.0, "mass_per_length": 1.0}
    uniform["bending_stiffness"], uniform["motions"] = 1.0, "bending y"
    held = np.array([4.730040744862704, 7.853204624095838]) ** 2 / (2.0 * np.pi)
    limit = 1.01 * held[1]
    for link in (
        beams.finite_element_link("a", n_elements=12, max_frequency=limit, **rod),
        beams.flexible_link("a", max_frequency=limit, **uniform),
        beams.flexible_link("a", max_frequency=limit, n_modes=9, **uniform),
    ):
        names = ("tip y", "tip rz", "bending y 3", "bending y 4")
        assert link.mode_names == names
        assert_allclose(np.diag(link.stiffness)[2:], (2 * np.pi * held) ** 2, rtol=5e-4)
    # numbers count too, and natural modes are cut to nothing in a sentence
    few = beams.flexible_link("a", max_frequency=limit, n_modes=3, **uniform)
    assert few.n_modes == 3
    natural = {**uniform, "modes": "clamped-free", "max_frequency": 0.1}
    model_refused(
        ["max_frequency of link 'a' is 0.1 Hz, below its lowest"],
        lambda: beams.flexible_link("a", **natural),
    )


def test_shapes_of_ones_own() -> None:
    """Columns in the coordinates of all nodes."""
    rod: dict[str, Any] = {"length": 1.0, "motions": "bending y", "n_elements": 3}
    rod["sections"] = Section.from_stiffness(1.0, 1.0)
    whole = beams.finite_element_link("a", n_modes="all", **rod)
    W = np.random.default_rng(0).standard_normal((6, 2))
    own = beams.finite_element_link("a", modes=W, **rod)
    assert own.mode_names == ("mode 1", "mode 2")
    assert_allclose(own.stiffness, W.T @ whole.stiffness @ W, rtol=1e-11)
    assert_allclose(own.modal_mass(), W.T @ whole.modal_mass() @ W, rtol=1e-11)
    assert_allclose(own.node_translation, whole.node_translation @ W, atol=1e-14)


def test_one_element_in_the_chord_frame() -> None:
    """Slopes of both ends are static; of one coordinate the pinned mode remains."""
    rod: dict[str, Any] = {"length": 1.0, "motions": "bending y", "n_elements": 8}
    rod["sections"] = Section.from_stiffness(1.0, 1.0)
    cubic = beams.finite_element_link("a", frame="chord", n_modes=2, **rod)
    assert set(cubic.mode_names) == {"base rz", "tip rz"}
    assert_allclose(cubic.stiffness, [[4.0, 2.0], [2.0, 4.0]], rtol=1e-10)
    sine = beams.finite_element_link("a", modes="pinned", n_modes=1, **rod)
    assert sine.attachment == "base"
    assert_allclose(sine.stiffness, [[np.pi**4]], rtol=2e-4)


def test_short_thick_tubes() -> None:
    """Sections turn with the slope, so that inertias of one element are physical."""
    thick = Section.tube(0.2, 0.05, STEEL)
    L, m = 0.1, thick.mass_per_length * 0.1
    link = beams.finite_element_link(
        "a", length=L, sections=thick, n_elements=1, n_modes="all"
    )
    Jx, Jy, _ = thick.rotary_inertia * L
    expected = np.diag([Jx, Jy + m * L**2 / 3.0, Jy + m * L**2 / 3.0])
    assert_allclose(fa.modal_integrals(link).J0, expected, rtol=1e-12)
    model_refused(
        ["principal moments"],
        lambda: beams.finite_element_link(
            "a",
            length=L,
            sections=thick,
            n_elements=1,
            rotary_inertia=False,
            n_modes="all",
        ),
    )


STIFF: dict[str, Any] = {"bending_stiffness": 5.0}
MODES = beams.clamped_beam_modes(1.0, 2.0, 5.0, 2)
REFUSED: dict[str, dict[str, Any]] = {
    "link 'a' has no stiffness, expected bending_stiffness, torsional_stiffness or": {},
    "link 'a' has one of torsional_stiffness and polar_inertia": {
        "torsional_stiffness": 1.0
    },
    "bending_stiffness of link 'a' has shape (3,), expected (2,)": {
        "bending_stiffness": [1.0, 2.0, 3.0]
    },
    "motions of link 'a' have 'torsion', expected its torsional_stiffness": {
        **STIFF,
        "motions": ["bending y", "torsion"],
    },
    "motions of link 'a' are 'stretch', expected some of": {
        **STIFF,
        "motions": "stretch",
    },
    "modes of link 'a' is 'clamped free', expected one of": {
        **STIFF,
        "modes": "clamped free",
    },
    "modes of link 'a' is 3, expected one of": {**STIFF, "modes": 3},
    "has modes 'static' and n_modes or max_frequency": {
        **STIFF,
        "modes": "static",
        "n_modes": 3,
    },
    "has modes 'craig-bampton' and outboard masses": {
        **STIFF,
        "outboard": [Payload(1.0, mass=1.0)],
    },
    "has modes 'tip-loaded' without outboard": {**STIFF, "modes": "tip-loaded"},
    "outboard of link 'a' has a payload at 0.5 m, expected the tip at 1 m": {
        **STIFF,
        "modes": "tip-loaded",
        "outboard": [Payload(0.5, mass=1.0)],
    },
    "n_modes of link 'a' is 0, expected at least 1": {**STIFF, "n_modes": 0},
    "n_modes is 21, more modes than supported": {**STIFF, "n_modes": 21},
    "n_modes of link 'a' has 'bending', expected motions": {
        **STIFF,
        "n_modes": {"bending": 2},
    },
    "n_modes of link 'a' keeps no mode": {**STIFF, "n_modes": {"bending y": 0}},
    "link 'a' has bending_stiffness and modes of its own in bending_y": {
        **STIFF,
        "bending_y": MODES,
    },
    "link 'a' has n_modes and modes of its own in bending_y": {
        "n_modes": 3,
        "bending_y": MODES,
    },
    "link 'a' has outboard and modes of its own": {
        "outboard": [Payload(1.0, mass=1.0)],
        "bending_y": MODES,
    },
}


@each("message", list(REFUSED))
def test_refusals_of_uniform_links(message: str) -> None:
    options = REFUSED[message]
    model_refused(
        [message],
        lambda: beams.flexible_link("a", length=1.0, mass_per_length=2.0, **options),
    )


def test_unknown_bases_of_chains() -> None:
    argument_refused(
        ["modes is 'cb', expected one of 'craig-bampton'"],
        lambda: fa.library.planar_chain(2, n_modes=2, modes="cb"),
    )
