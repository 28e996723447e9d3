"""Bent links of beam elements, chord frames and foreshortening.

Oracles: transfer matrices of an L, Castigliano's integral along any line, the exact
line of sections that turn, and one motion described in two frames.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from beam_transfer import bending_field, frequencies, torsion_field
from each import each
from numpy.testing import assert_allclose
from refusals import refused
from scipy.linalg import eigh

import flexarm as fa
from flexarm.beams import STEEL, Payload, Section, finite_element_link
from flexarm.bodies.strain_energy import section_turn
from flexarm.reference.rotations import exponential

# unequal stiffness in all directions
STRIP = Section.from_stiffness(
    1.3,
    (2.0, 5.0),
    torsional_stiffness=1.7,
    axial_stiffness=900.0,
    rotary_inertia=(0.02, 0, 0),
)
ALL = ("bending y", "bending z", "torsion", "stretch")
STAIRS = np.array([[0, 0, 0], [0.5, 0, 0], [0.5, 0.4, 0], [0.7, 0.4, 0.6]])
ELL = np.array([[0, 0, 0], [0.6, 0, 0], [0.6, 0.45, 0]])


def bent(points: Any = ELL, **kwargs: Any) -> fa.FlexibleBody:
    given: dict[str, Any] = {"points": points, "sections": STRIP, "n_elements": 4}
    given["n_modes"] = None if "modes" in kwargs else "all"
    return finite_element_link("link", **{**given, **kwargs})


def tip_motion(body: fa.FlexibleBody) -> Any:
    """Rotation and translation of the tip per coordinate, (6, n)."""
    return np.vstack([body.node_rotation[-1], body.node_translation[-1]])


def castigliano(points: Any, axes: Any, section: Section, stretch: bool) -> Any:
    """Compliance of the tip: integral of A' C A, A from tip wrench to section loads."""
    result = np.zeros((6, 6))
    EIv, EIw = section.bending_stiffness
    EA = section.axial_stiffness if stretch else np.inf
    GJ = section.torsional_stiffness
    compliance = np.diag([1 / GJ, 1 / EIw, 1 / EIv, 1 / EA, 0.0, 0.0])
    for a, b, R in zip(points[:-1], points[1:], axes, strict=True):
        for s in (0.5 - np.sqrt(1 / 12), 0.5 + np.sqrt(1 / 12)):  # exact: quadratic
            lever = points[-1] - (a + s * (b - a))
            A = np.zeros((6, 6))
            A[:3, :3] = A[3:, 3:] = R.T
            A[:3, 3:] = R.T @ np.cross(lever, np.eye(3), axisb=0, axisc=0)
            result += 0.5 * np.linalg.norm(b - a) * A.T @ compliance @ A
    return result


@pytest.mark.parametrize("stretch", [False, True])
@pytest.mark.parametrize("n_elements", [3, 7])
def test_tip_compliance_of_stairs(n_elements: int, stretch: bool) -> None:
    """Exact with any number of elements, in all six directions, pieces rolled."""
    roll = np.array([0.3, -0.7, 1.1])
    link = bent(
        STAIRS, n_elements=n_elements, roll=roll, motions=ALL if stretch else ALL[:3]
    )
    c, s = np.cos(roll), np.sin(roll)
    about = [np.array([[1, 0, 0], [0, c[j], -s[j]], [0, s[j], c[j]]]) for j in range(3)]
    first = np.eye(3)
    second = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])  # a quarter about z
    along = STAIRS[3] - STAIRS[2]
    along /= np.linalg.norm(along)
    turn = np.cross([0.0, 1, 0], along)
    third = exponential(turn / np.linalg.norm(turn) * np.arccos(along[1])) @ second
    axes = [first @ about[0], second @ about[1], third @ about[2]]
    expected = castigliano(STAIRS, axes, STRIP, stretch)
    tip = tip_motion(link)
    found = tip @ np.linalg.solve(link.stiffness, tip.T)
    assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_in_plane_frequencies_of_an_ell() -> None:
    """Transfer matrices: the second leg rides on the first as a mass along it."""
    rho, EI = STRIP.mass_per_length, float(STRIP.bending_stiffness[0])
    L1, L2 = 0.6, 0.45

    def determinant(w: float) -> float:
        first = np.hstack([bending_field(w, L1, rho, EI)[:, 2:], np.zeros((4, 1))])
        start = np.zeros((4, 3))  # second leg: no deflection, slope, moment, reaction
        start[1:3], start[3, 2] = first[1:3], 1.0
        end = bending_field(w, L2, rho, EI) @ start
        ride = first[3] - rho * L2 * w**2 * first[0]
        return float(np.linalg.det(np.vstack([end[2:], ride])))

    exact = frequencies(determinant, 4, 250.0)
    errors = [
        2
        * np.pi
        * bent(
            n_elements=n, motions="bending y", modes="clamped-free", n_modes=4
        ).frequencies()
        / exact
        - 1.0
        for n in (14, 28)
    ]
    assert (errors[1] > 0.0).all() and errors[1].max() < 2e-5
    assert_allclose(errors[0] / errors[1], 16.0, rtol=0.05)
    # with stretch of a stiff material the same, and no locking
    whole = bent(
        n_elements=28,
        motions=("bending y", "stretch"),
        modes="clamped-free",
        n_modes=1,
        sections=Section.from_stiffness(rho, (EI, 5.0), axial_stiffness=1e9),
    )
    assert_allclose(2 * np.pi * whole.frequencies(), exact[:2], rtol=2e-6)


def test_out_of_plane_frequencies_of_an_ell() -> None:
    """Bending of one leg twists the other; transfer of six states."""
    rho, EI = STRIP.mass_per_length, float(STRIP.bending_stiffness[1])
    polar, GJ = 0.02, STRIP.torsional_stiffness

    def leg(w: float, length: float) -> Any:
        field = np.zeros((6, 6))
        field[:4, :4] = bending_field(w, length, rho, EI)
        field[4:, 4:] = torsion_field(w, length, polar, GJ)
        return field

    # (w, slope, moment, shear, angle, torque) behind the corner from before it
    corner = np.zeros((6, 6))
    corner[0, 0] = corner[3, 3] = corner[1, 4] = corner[2, 5] = 1.0
    corner[4, 1] = corner[5, 2] = -1.0

    def determinant(w: float) -> float:
        end = leg(w, 0.45) @ corner @ leg(w, 0.6)[:, [2, 3, 5]]
        return float(np.linalg.det(end[[2, 3, 5]]))

    exact = frequencies(determinant, 4, 120.0)
    errors = [
        2
        * np.pi
        * bent(
            n_elements=n,
            motions=("bending z", "torsion"),
            modes="clamped-free",
            n_modes=2,
        ).frequencies()
        / exact
        - 1.0
        for n in (14, 28)
    ]
    assert (errors[1] > 0.0).all() and errors[1].max() < 2e-3
    # the mass matrix of all motions falls apart into the two of a plane
    names = bent(n_elements=14, modes="clamped-free", n_modes=2).mode_names
    assert {name[:-2] for name in names} == {"bending y", "bending z and torsion"}


def test_a_bend_of_no_angle_is_a_straight_link() -> None:
    whole = finite_element_link(
        "a", length=1.0, sections=STRIP, n_elements=4, n_modes="all"
    )
    pieces = bent([[0, 0, 0], [0.5, 0, 0], [1, 0, 0]])
    assert_allclose(pieces.stiffness, whole.stiffness, rtol=0, atol=1e-11)
    assert_allclose(pieces.modal_mass(), whole.modal_mass(), rtol=0, atol=1e-14)
    # another direction of the line in the frame of the link turns all with it
    tilted = bent([[0, 0, 0], [0, -1.0, 0]])
    assert_allclose(tilted.frequencies(), whole.frequencies(), rtol=1e-9)
    back = bent([[0, 0, 0], [-1.0, 0, 0]])
    assert_allclose(back.frequencies(), whole.frequencies(), rtol=1e-9)
    assert_allclose(back.node_position[-1], [-1.0, 0, 0], atol=1e-15)


def test_mass_properties_of_stairs() -> None:
    load = Payload(0.6, mass=0.4, com=(0.1, 0.2, 0.3), inertia=(0.01, 0.01, 0.01))
    c = fa.modal_integrals(bent(STAIRS, payloads=[load]))
    steps = np.diff(STAIRS, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    m = 1.3 * lengths
    middle = 0.5 * (STAIRS[1:] + STAIRS[:-1])
    at = np.array([0.5, 0.1, 0.0]) + load.com
    assert_allclose(c.m, m.sum() + 0.4, rtol=1e-14)
    assert_allclose(c.mp0, m @ middle + 0.4 * at, rtol=1e-13)
    J = 0.01 * np.eye(3) + 0.4 * (at @ at * np.eye(3) - np.outer(at, at))
    for mass, x, d, h in zip(m, middle, steps, lengths, strict=True):
        square = np.outer(x, x) + np.outer(d, d) / 12.0
        J += mass * (np.trace(square) * np.eye(3) - square)
        J += 0.02 / h * np.outer(d, d)  # polar inertia of sections
    assert_allclose(c.J0, J, rtol=1e-12, atol=1e-15)


# foreshortening


def exact_line(body: fa.FlexibleBody, points: Any, n: int, eta: Any) -> Any:
    """Ends of elements where sections turn by their rotation and keep their length."""
    ends = [j for j, name in enumerate(body.node_names) if name[0] != "g"]
    result = [body.node_position[0]]
    x, w = np.polynomial.legendre.leggauss(12)
    for a, b in pairwise(ends):
        nodes = np.arange(a, b + 1)
        step = body.node_position[b] - body.node_position[a]
        h = np.linalg.norm(step)
        s = (
            np.linalg.norm(body.node_position[nodes] - body.node_position[a], axis=1)
            / h
        )
        theta = body.node_rotation[nodes] @ eta
        fit = np.polynomial.polynomial.polyfit(s, theta, 2)
        place = result[-1]
        for point, weight in zip(0.5 * (x + 1.0), 0.5 * w, strict=True):
            turn = np.polynomial.polynomial.polyval(point, fit)
            if body._strain_energy is not None:
                turn = section_turn(turn, body._strain_energy.axis)
            place = place + weight * exponential(turn) @ step
        result.append(place)
    return ends, np.array(result)


@pytest.mark.parametrize("frame", ["tangent", "chord"])
@pytest.mark.parametrize("line", ["straight", "ell", "stairs"])
def test_foreshortening_is_the_second_order_of_the_line(line: str, frame: str) -> None:
    """The difference from the exact line of turning sections is of third order.

    That of a straight line, whose deflections are linear, is of fourth order.
    """
    points = {"straight": [[0, 0, 0], [1, 0, 0]], "ell": ELL, "stairs": STAIRS}[line]
    body = bent(points, frame=frame)
    rng = np.random.default_rng(1)
    eta = rng.standard_normal(body.n_modes)
    left = []
    for size in (1e-3, 5e-4):
        ends, exact = exact_line(body, points, 4, size * eta)
        l = (
            body.node_position
            + body.node_translation @ (size * eta)
            + 0.5 * size**2 * body.node_foreshortening @ eta @ eta
        )
        left.append(np.abs(l[ends] - exact).max())
    straight = line == "straight"
    assert straight or left[0] > 1e-9
    assert left[0] < (1e-8 if straight else 1e-5)
    assert_allclose(left[0] / left[1], 16.0 if straight else 8.0, rtol=0.05)


def test_foreshortening_of_an_element() -> None:
    """-int phi_r' phi_s': minus the geometric stiffness of a Hermite element."""
    body = finite_element_link(
        "link",
        length=0.7,
        sections=STRIP,
        n_elements=1,
        motions="bending y",
        n_modes="all",
    )
    h = 0.7
    G = np.array([[36.0, -3.0 * h], [-3.0 * h, 4.0 * h * h]]) / (30.0 * h)
    assert_allclose(body.node_foreshortening[-1, 0], -G, rtol=1e-14)
    assert not body.node_foreshortening[:, 1:].any()
    # Gauss points have their part of it
    x = body.node_position[2, 0]
    s = np.polynomial.Polynomial([0, 1 / h])
    slope = (3 * s**2 - 2 * s**3).deriv()
    part = (slope * slope).integ()(x)
    assert_allclose(body.node_foreshortening[2, 0, 0, 0], -part, rtol=1e-13)


@pytest.mark.parametrize("eta", [2.0, 6.0, 12.0])
def test_rotating_beam(eta: float) -> None:
    """Benchmark B2 (Wright et al., 1982): flap and lead-lag at a speed of rotation."""
    printed = {
        2.0: ([4.137320, 22.614922], [3.621797, 22.526311]),
        6.0: ([7.360373, 26.809082], [4.263225, 26.129042]),
        12.0: ([13.170150, 37.603112], [5.427049, 35.636976]),
    }[eta]
    unit = Section.from_stiffness(1.0, 1.0)
    for motion, expected in zip(("bending z", "bending y"), printed, strict=True):
        link = finite_element_link(
            "blade",
            length=1.0,
            sections=unit,
            n_elements=14,
            motions=motion,
            n_modes="all",
        )
        arm = fa.Arm([link], gravity=(0, 0, 0), check_units=False)
        n = link.n_modes

        def forces(x: Any, arm: fa.Arm = arm, n: int = n) -> Any:
            q = np.concatenate([[0.0], x])
            qd = np.concatenate([[eta], np.zeros(n)])
            return fa.inverse_dynamics(arm, q, qd, np.zeros(n + 1))[1:]

        h = 1e-6  # slopes within elements are sines: forces have a third order
        K = np.array([forces(h * e) - forces(-h * e) for e in np.eye(n)]) / (2 * h)
        M = fa.mass_matrix(arm, np.zeros(n + 1))[1:, 1:]
        found = np.sqrt(eigh((K + K.T) / 2, M, eigvals_only=True))[:2]
        # from above; lead-lag is a difference, 144 of 173 at the highest speed
        assert (found > np.array(expected) * (1.0 - 1e-6)).all()
        assert_allclose(found, expected, rtol=6e-5)


# frames


def arm_of(frame: str, stiffening: bool = True) -> fa.Arm:
    """Two links of four elements, tip payload, joints about z."""
    bodies = []
    for j, name in enumerate(("upper", "lower")):
        parent = {"parent": "upper", "node": "tip"} if j else {}
        bodies.append(
            finite_element_link(
                name,
                length=0.8 - 0.2 * j,
                sections=Section.from_stiffness(1.0, 3.0),
                joint=fa.Joint(axis=(0, 0, 1), **parent),
                n_elements=4,
                motions="bending y",
                frame=frame,
                payloads=[Payload(0.8 - 0.2 * j, mass=0.3, inertia=(0, 0.01, 0.01))],
                geometric_stiffening=stiffening,
                n_modes="all",
            )
        )
    return fa.Arm(bodies, gravity=(0, -9.81, 0), check_units=False)


def chord_coordinates(n: int, length: float, eta: Any) -> Any:
    """Coordinates in the chord frame of nodal values in the tangent frame."""
    v, turn = eta[..., 0::2], eta[..., 1::2]
    psi = v[..., -1:] / length
    x = length * np.arange(1, n + 1) / n
    both = np.stack([v - psi * x, turn - psi], axis=-1).reshape(eta.shape)
    kept = np.delete(both, 2 * n - 2, axis=-1)
    return np.concatenate([-psi, kept], axis=-1)


def test_chord_coordinates_of_farid() -> None:
    """Base slope, deflections and slopes of nodes, tip slope; the tip on the chord."""
    link = finite_element_link(
        "link",
        length=1.0,
        sections=STRIP,
        n_elements=3,
        frame="chord",
        motions=("bending y", "bending z"),
        n_modes="all",
    )
    assert link.attachment == "base"
    assert link.mode_names == (
        "base rz",
        "base ry",
        *(f"n{j} {axis}" for j in (1, 2) for axis in ("y", "rz", "z", "ry")),
        "tip rz",
        "tip ry",
    )
    assert not link.node_translation[[0, -1]].any()
    assert_allclose(link.node_rotation[0, 2], np.eye(12)[0], atol=1e-15)
    # the matrices of Farid (1997), section 4.4.2, for one element
    one = finite_element_link(
        "link",
        length=0.5,
        sections=STRIP,
        n_elements=1,
        frame="chord",
        motions="bending y",
        n_modes="all",
    )
    h, EI, rho = 0.5, 2.0, 1.3
    assert_allclose(one.stiffness, EI / h * np.array([[4.0, 2.0], [2.0, 4.0]]))
    mass = rho * h**3 / 420.0 * np.array([[4.0, -3.0], [-3.0, 4.0]])
    assert_allclose(one.modal_mass(), mass, rtol=1e-13)


def test_arm_vibrates_alike_in_both_frames() -> None:
    """The same space of motions: equal frequencies of the arm, joints free."""
    omegas = []
    for frame in ("tangent", "chord"):
        arm = arm_of(frame)
        M = fa.mass_matrix(arm, np.array([0.3, -0.8] + [0.0] * 16))
        K = np.zeros_like(M)
        for body in arm.bodies:
            K[arm.mode_slice(body.name), arm.mode_slice(body.name)] = body.stiffness
        values = eigh(M, K + np.diag([1.0, 2.0] + [0.0] * 16), eigvals_only=True)
        omegas.append(np.sqrt(1.0 / values[::-1]))
    assert_allclose(omegas[0], omegas[1], rtol=1e-10)


@pytest.mark.parametrize("stiffening", [True, False])
def test_motion_is_the_same_in_both_frames(stiffening: bool) -> None:
    """Joint accelerations of equal states differ by the square of the slopes.

    Without foreshortening each frame leaves out another first-order force.
    """
    rng = np.random.default_rng(5)
    tangent, chord = (arm_of(frame, stiffening) for frame in ("tangent", "chord"))
    joints = rng.uniform(-2, 2, (6, 2)), rng.uniform(-3, 3, (6, 2))
    x = np.array([0.2, 0.4, 0.6, 0.8])
    shape = rng.standard_normal((2, 6, 2, 2))
    # smooth deflections: a x^2 + b x^3 and their slopes
    eta = np.zeros((2, 6, 2, 8))
    for j, length in enumerate((0.8, 0.6)):
        at = x * length / 0.8
        a, b = shape[:, :, j, :1], shape[:, :, j, 1:]
        eta[:, :, j, 0::2] = a * at**2 + b * at**3
        eta[:, :, j, 1::2] = 2 * a * at + 3 * b * at**2
    off = []
    for size in (2e-4, 1e-4):
        accelerations = []
        for arm, turn in ((tangent, None), (chord, chord_coordinates)):
            states = []
            for rigid, modal in zip(joints, size * eta, strict=True):
                parts = [modal[:, j] for j in range(2)]
                if turn is not None:
                    parts = [
                        turn(4, length, part)
                        for length, part in zip((0.8, 0.6), parts, strict=True)
                    ]
                states.append(np.concatenate([rigid, *parts], axis=1))
            qdd = fa.forward_dynamics(arm, *states, np.zeros(2))
            accelerations.append(qdd[:, :2])
        off.append(np.abs(accelerations[1] - accelerations[0]).max())
    assert_allclose(off[0] / off[1], 4.0 if stiffening else 2.0, rtol=0.1)


def test_chord_of_a_bent_link() -> None:
    """The tip moves along the chord only, the base about axes across it."""
    link = bent(STAIRS, frame="chord")
    along = STAIRS[-1] / np.linalg.norm(STAIRS[-1])
    move = link.node_translation[-1]
    assert_allclose(move, np.outer(along, along @ move), rtol=0, atol=1e-14)
    assert_allclose(along @ link.node_rotation[0], 0.0, atol=1e-14)
    assert not link.node_translation[0].any()
    values = []
    for frame in ("tangent", "chord"):
        body = bent(STAIRS, frame=frame, joint=fa.Joint(axis=(0.3, 0.5, 0.8)))
        arm = fa.Arm([body], gravity=(0, 0, 0), check_units=False)
        M = fa.mass_matrix(arm, np.zeros(arm.nv))
        K = np.zeros_like(M)
        K[0, 0], K[1:, 1:] = 1.0, body.stiffness
        values.append(eigh(M, K, eigvals_only=True))
    assert_allclose(values[0], values[1], rtol=1e-9)


def test_sections_of_pieces() -> None:
    """One section each, changed at the corner."""
    stiff = Section.round(0.05, STEEL)
    soft = Section.round(0.01, STEEL)
    link = bent(sections=[stiff, soft], motions="bending y", modes="static")
    tip = link.node_translation[-1, 0]  # along x, which bends the second leg
    flexibility = tip @ np.linalg.solve(link.stiffness, tip)
    EI = [float(s.bending_stiffness[0]) for s in (stiff, soft)]
    expected = 0.45**3 / (3 * EI[1]) + 0.45**2 * 0.6 / EI[0]
    expected += 0.45 / float(soft.shear_stiffness[0])
    assert_allclose(flexibility, expected, rtol=1e-11)


REFUSED: dict[str, Any] = {
    "neither of length and points": {"points": None},
    "both of length and points": {"length": 1.0},
    "the first point of link 'link' is (1.0, 0.0, 0.0)": {
        "points": [[1, 0, 0], [2, 0, 0]]
    },
    "points 1 and 2 of link 'link' are the same": {
        "points": [[0, 0, 0], [1, 0, 0], [1, 0, 0]]
    },
    "has 1 points": {"points": [[0, 0, 0]]},
    "n_elements of link 'link' is 0": {"n_elements": 0},
    "motions of link 'link' are ('bending',)": {"motions": "bending"},
    "but corners turn one motion into another": {"motions": "torsion"},
    "have 'stretch' without 'bending y'": {
        "motions": ("bending z", "torsion", "stretch")
    },
    "frame of link 'link' is 'free'": {"frame": "free"},
    "so there is no chord": {
        "points": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0]],
        "frame": "chord",
    },
    "a payload of link 'link' is at 2 m": {"payloads": [Payload(2.0, mass=1.0)]},
    "an item of payloads of link 'link' is float": {"payloads": [1.0]},
    "has the nodes 'a' and 'b' at 0.3 m": {"nodes": {"a": 0.3, "b": 0.3}},
    "expected unique names": {"nodes": {"n2": 0.01}},
    "sections of link 'link' are not understood": {"sections": [1.0, 2.0]},
    "are 3 for 2 straight pieces": {"sections": [STRIP] * 3},
    "are 1 m long together": {"sections": [(0.5, STRIP), (0.5, STRIP)]},
    "at 0.0": {"sections": lambda x: 1.0},
    "modes of link 'link' is 'guyan'": {"modes": "guyan"},
    "modes of link 'link' is 'free', expected": {"modes": "free"},
    "did you mean 'craig-bampton'?": {"modes": "craig_bampton"},
    "has modes 'static' and n_modes or max_frequency": {
        "modes": "static",
        "n_modes": 2,
    },
    "has modes 'craig-bampton' and outboard masses": {
        "n_modes": 2,
        "outboard": [Payload(1.0, mass=1.0)],
    },
    "has modes 'tip-loaded' without outboard": {"modes": "tip-loaded", "n_modes": 2},
    "has modes 'clamped-free' and frame 'chord'": {
        "modes": "clamped-free",
        "frame": "chord",
    },
    "has modes 'pinned' and frame 'tangent'": {"modes": "pinned", "frame": "tangent"},
    "an item of outboard of link 'link' is float": {"outboard": [1.0]},
    "keep of link 'link' is ('flange',)": {"modes": "static", "keep": "flange"},
    "link 'link' has keep, but no static shapes": {"modes": "pinned", "keep": "n1"},
    "has keep, but no static shapes of nodes": {"keep": "n1"},
    "modes of link 'link' are 2 columns of rank 1": {"modes": np.ones((20, 2))},
    "modes of link 'link' has shape (3, 1)": {"modes": np.ones((3, 1))},
    "link 'link' has shapes of its own in modes and n_modes": {
        "modes": np.eye(20),
        "n_modes": 2,
    },
    "n_modes of link 'link' for 'bending y' is 100, its elements have 8": {
        "n_modes": 100
    },
    "n_modes of link 'link' is too small for the static shapes of its kept": {
        "n_modes": {"torsion": 1}
    },
    "n_modes of link 'link' has 'stretch', expected motions": {
        "n_modes": {"stretch": 1}
    },
    "keeps no mode": {"n_modes": {}},
    "below its lowest frequency": {"modes": "clamped-free", "max_frequency": 0.001},
    "has 65 coordinates, expected at most 64": {"n_elements": 13},
    "coordinate 'n1 rx' of link 'link' moves no mass": {
        "points": [[0, 0, 0], [1, 0, 0]],
        "sections": Section.from_stiffness(1.0, 1.0),
    },
    "damping_ratio of link 'link' is -1": {"damping_ratio": -1.0},
    "n_points of link 'link' is 2": {"n_points": 2},
    "roll of link 'link' has shape (3,)": {"roll": [0, 0, 0]},
}


@pytest.mark.parametrize("message", REFUSED)
def test_bent_links_that_cannot_be_made_say_why(message: str) -> None:
    refused(fa.errors.ModelError, [message], lambda: bent(**REFUSED[message]))


def test_two_payloads_at_one_place() -> None:
    """They are one of both masses, about their common center."""
    com = np.array([[0.1, 0.2, 0.0], [-0.3, 0.1, 0.2]])
    both = [Payload(1.0, 1.0, com[0], (0.1, 0.2, 0.3)), Payload(1.0, 3.0, com[1])]
    middle = (com[0] + 3.0 * com[1]) / 4.0
    inertia = np.diag([0.1, 0.2, 0.3])
    for mass, c in zip((1.0, 3.0), com - middle, strict=True):
        inertia += mass * ((c @ c) * np.eye(3) - np.outer(c, c))
    bodies = [
        fa.beams.finite_element_link(
            "link",
            length=1.0,
            sections=Section.from_stiffness(2.0, 1e3),
            motions=("bending y", "bending z"),
            payloads=payloads,
            n_modes="all",
        )
        for payloads in (both, [Payload(1.0, 4.0, middle, inertia)])
    ]
    arms = [fa.Arm([body]) for body in bodies]
    q = np.full(arms[0].nq, 0.1)
    assert_allclose(*(fa.mass_matrix(arm, q) for arm in arms), rtol=1e-9, atol=1e-12)


@each("n", [None, 1, 3])
@each(
    "motions",
    [
        "bending z",
        ("bending y", "bending z"),
        ("bending y", "torsion"),
        ("bending y", "bending z", "torsion"),
        ("bending y", "bending z", "torsion", "stretch"),
    ],
)
def test_oblique_links_are_those_along_x_turned(motions: Any, n: int | None) -> None:
    """A straight line that lies along no axis has no corners, up to rounding."""
    section = Section.from_stiffness(
        0.7, (90.0, 40.0), torsional_stiffness=30.0, rotary_inertia=(2e-4, 1e-4, 1e-4)
    )
    common: dict[str, Any] = {
        "sections": section,
        "motions": motions,
        "n_elements": 3,
        "segments": n,
    }
    if n is None:
        common["n_modes"] = 3 if motions == "bending z" else "all"
    end = np.array([1.0, 0.4, -0.3])
    along = finite_element_link("link", length=float(np.linalg.norm(end)), **common)
    oblique = finite_element_link("link", points=[0.0 * end, end], **common)
    assert oblique.mode_names == along.mode_names
    assert oblique.node_names == along.node_names
    parts = (
        [(oblique, along)]
        if n is None
        else zip(oblique.pieces, along.pieces, strict=True)
    )
    for a, b in parts:
        R = a.beam.axes[0]
        assert_allclose(R[:, 0], end / np.linalg.norm(end), atol=1e-15)
        for x, y in (
            (a.stiffness, b.stiffness),
            (a.modal_mass(), b.modal_mass()),
            (a.node_translation, R @ b.node_translation),
            (a.node_rotation, R @ b.node_rotation),
            (a.node_position, b.node_position @ R.T),
        ):
            assert_allclose(x, y, rtol=0.0, atol=1e-12 * np.abs(y).max())
