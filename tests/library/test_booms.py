"""Arms with long booms, against beams and springs added up in NumPy, and printed ones.

The other computation has no bodies, joints or modes: points on a line, and what their
forces and moments bend, shaft by shaft and piece by piece of the booms (virtual work).
"""

from __future__ import annotations

import numpy as np
import pytest
from arrays import Array
from each import each
from numpy.testing import assert_allclose

import flexarm as fa

FULL = 14515.0  # kg, 32,000 lb
# Hz, of a transcribed table of the arm of the shuttle, configuration S
PRINTED = {
    0.0: [0.3463, 0.4614, 3.5544, 4.2282],
    FULL: [0.0274, 0.0329, 0.0578, 0.1399, 0.4383, 2.9758],
}
PIECES = 40  # of a boom


def bending(
    shafts: list[tuple[float, float]],
    booms: list[tuple[float, float, float, float, float]],
    lumps: list[tuple[float, float, float]],
) -> Array:
    """Frequencies in Hz of a stretched arm in a plane, in ascending order.

    Shafts are (place, stiffness), booms (from, to, EI, mass, k G A) and lumps (place,
    mass, moment of inertia about it).
    """
    points = list(lumps)
    cuts = []
    for start, end, stiffness, mass, shear in booms:
        piece = (end - start) / PIECES
        for x in start + piece * (np.arange(PIECES) + 0.5):
            points.append((x, mass / PIECES, mass / PIECES * piece**2 / 12.0))
            cuts.append((x, piece / stiffness, piece / shear))
    place, mass, inertia = np.array(points).T
    # moments and shear forces of unit forces, then of unit moments, at the points
    flexibility = np.zeros((2 * len(place), 2 * len(place)))
    for x, give, slide in [*((x, 1.0 / K, 0.0) for x, K in shafts), *cuts]:
        beyond = (place > x).astype(float)
        moment = np.concatenate([beyond * (place - x), beyond])
        shear = np.concatenate([beyond, 0.0 * beyond])
        flexibility += give * np.outer(moment, moment) + slide * np.outer(shear, shear)
    root = np.sqrt(np.concatenate([mass, inertia]))
    squares = np.linalg.eigvalsh(root[:, None] * flexibility * root)[::-1]
    return 1.0 / np.sqrt(squares[squares > 1e-9 * squares[0]]) / (2.0 * np.pi)


def twisting(shafts: list[float], inertia: float) -> float:
    return float(1.0 / np.sqrt(inertia * sum(1.0 / K for K in shafts)) / (2.0 * np.pi))


def cylinder(mass: float, length: float, wide: float) -> tuple[float, float]:
    """Moments across its axis and about it."""
    return mass * (length**2 / 12.0 + wide**2 / 16.0), mass * wide**2 / 8.0


def shuttle(payload: float) -> Array:
    """Frequencies of the arm of the shuttle, bending in both planes and torsion."""
    at = np.cumsum([0.305, 6.38, 7.06, 0.457, 0.762, 0.66])  # m, ends of the parts
    booms, twists = [], []
    for k, wall in ((0, 2.51e-3), (1, 1.67e-3)):
        radii = np.array([0.165, 0.165 - wall])
        second = -np.diff(radii**4)[0] * np.pi / 4.0
        area = -np.diff(radii**2)[0] * np.pi
        shear = 0.5 * 27.5e9 * area  # half of a thin tube resists it
        booms.append((at[k], at[k + 1], 110e9 * second, 40.0, shear))
        twists.append(27.5e9 * 2.0 * second / (at[k + 1] - at[k]))
    lumps = [(at[0], 49.0, 0.0), (at[1], 64.0, 0.0), (at[2], 30.0, 0.0)]
    for k, mass in ((2, 7.0), (3, 39.0), (4, 36.0)):
        length = at[k + 1] - at[k]
        across = cylinder(mass, length, 0.33)[0]
        lumps.append((0.5 * (at[k] + at[k + 1]), mass, across))
    yaw, pitch, roll = list(lumps), list(lumps), 0.0
    if payload:  # its axis is that of the pitch
        across, along = cylinder(payload, 18.3, 4.57)
        centre = at[5] + 2.285
        yaw.append((centre, payload, across))
        pitch.append((centre, payload, along))
        roll = across
    in_pitch = [(at[0], 1.9e5), (at[1], 7.4e5), (at[2], 1.8e5)]
    found = [
        bending([(0.0, 4.0e5), (at[3], 1.8e5)], booms, yaw)[:3],
        bending(in_pitch, booms, pitch)[:3],
    ]
    if payload:
        found.append(np.array([twisting([*twists, 1.8e5], roll)]))
    return np.sort(np.concatenate(found))


@each("payload", {"empty": 0.0, "loaded": FULL})
def test_the_arm_of_the_shuttle_swings_as_beams_and_springs_do(payload: float) -> None:
    arm = fa.library.canadarm(payload_mass=payload)
    found = fa.natural_frequencies(arm, arm.neutral, held="motors")
    count = len(PRINTED[payload])
    assert_allclose(found[:count], shuttle(payload)[:count], rtol=0.01)
    # and as the print says, the lowest two best
    assert_allclose(found[:2], PRINTED[payload][:2], rtol=0.035)
    assert_allclose(found[:count], PRINTED[payload], rtol=0.15)


def test_the_arm_of_the_shuttle_has_its_published_size_and_mass() -> None:
    arm = fa.library.canadarm()
    assert_allclose(sum(body.mass for body in arm.bodies), 905 * 0.45359, rtol=2e-3)
    reach = fa.tip_pose(arm, arm.neutral)[0, 3] - 0.305
    assert_allclose(reach, (50 + 3 / 12) * 0.3048, rtol=2e-3)
    q = fa.library.poses(arm)["bent"]
    forearm = 7.06 * np.exp(-1j * np.pi / 6.0) + 6.38 * np.exp(1j * np.pi / 3.0)
    hand = 0.305 + forearm + 0.457 + 0.762 + 0.66
    place = fa.tip_pose(arm, q)[:3, 3]
    assert_allclose(place, [hand.real, 0.0, hand.imag], rtol=0.0, atol=1e-12)


def test_limits_of_the_arm_of_the_shuttle_fit_one_kind_of_motor() -> None:
    joints = [body.joint for body in fa.library.canadarm().bodies]
    gears = np.array([joint.drive.gear_ratio for joint in joints])
    speeds = gears * [np.squeeze(joint.velocity_limit) for joint in joints]
    torques = [np.squeeze(joint.effort_limit) for joint in joints] / gears
    assert_allclose(speeds, 67.0, rtol=0.11)  # rad/s
    assert_allclose(torques[:3], 0.568, rtol=1e-3)  # N m
    assert all(joint.limits is not None for joint in joints)


def test_the_crane_swings_as_beams_and_oil_do() -> None:
    arm = fa.library.crane(payload_mass=1000.0)
    found = fa.natural_frequencies(arm, arm.neutral, held="motors")
    areas = np.pi / 4.0 * np.array([0.08, 0.125, 0.10]) ** 2
    levers, ranges = np.array([0.15, 0.30, 0.25]), np.radians([400.0, 90.0, 170.0])
    volumes = areas * levers * ranges / 2.0
    oil = 0.69e9 * (areas * levers) ** 2 / volumes
    lifting, slewing = [], []
    for start, (wide, high, wall) in (
        (0.0, (0.18, 0.26, 0.007)),
        (3.0, (0.15, 0.21, 0.006)),
    ):
        inner = wide - 2.0 * wall, high - 2.0 * wall
        mass = 7850.0 * 3.0 * (wide * high - inner[0] * inner[1])
        for planes, across, along in ((lifting, wide, high), (slewing, high, wide)):
            hollow = (across - 2 * wall) * (along - 2 * wall) ** 3
            second = (across * along**3 - hollow) / 12.0
            webs = fa.beams.STEEL.G * 2.0 * along * wall
            planes.append((start, start + 3.0, fa.beams.STEEL.E * second, mass, webs))
    lumps = [(3.0, 120.0, 0.0), (6.0, 1000.0, 0.0)]
    lift = bending([(0.0, oil[1]), (3.0, oil[2])], lifting, lumps)
    column = cylinder(500.0, 1.8, 0.33)[1]
    slew = bending([(0.0, oil[0])], slewing, [*lumps, (1e-9, 0.0, column)])
    by_hand = np.sort(np.concatenate([slew[:2], lift[:2]]))
    assert_allclose(found[:4], by_hand, rtol=0.02)
    assert_allclose(found[:2], by_hand[:2], rtol=2e-3)


def test_the_crane_holds_its_load_within_the_strength_of_its_steel() -> None:
    arm = fa.library.crane(payload_mass=1500.0)
    joints = [body.joint for body in arm.bodies[:3]]
    torque = np.array([joint.effort_limit for joint in joints]).ravel()
    assert (fa.gravity_forces(arm, arm.neutral)[1:3] < torque[1:]).all()
    heavy = fa.library.crane(payload_mass=1700.0)
    assert fa.gravity_forces(heavy, heavy.neutral)[1] > torque[1]
    for (wide, high, wall), moment, printed in (
        ((0.18, 0.26, 0.007), torque[1], 232.0),
        ((0.15, 0.21, 0.006), torque[2], 218.0),
    ):
        section = fa.beams.Section.box(wide, high, wall)
        stress = 1e-6 * moment * high / 2.0 / section.I_y
        assert_allclose(stress, printed, atol=0.5)
        assert stress < 2.0 / 3.0 * 355.0
    # oil that flows in at the rate of the limit, in litres a minute
    for joint, bore, lever in zip(
        joints, (0.08, 0.125, 0.10), (0.15, 0.30, 0.25), strict=True
    ):
        flow = np.squeeze(joint.velocity_limit) * lever * np.pi / 4.0 * bore**2
        assert_allclose(60e3 * flow, 40.0, rtol=1e-12)
    lifted = fa.tip_pose(arm, fa.library.poses(arm)["lifted"])[:3, 3]
    tip = 3.0 * np.exp(1j * np.pi / 3.0) + 3.0 * np.exp(-1j * np.pi / 6.0)
    assert_allclose(lifted, [tip.real, 0.0, 1.8 + tip.imag], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("name", ["canadarm", "crane"])
def test_long_booms_refuse_a_load_below_nothing(name: str) -> None:
    with pytest.raises(fa.ArgumentError, match="payload_mass is -1, expected zero or"):
        getattr(fa.library, name)(payload_mass=-1)


@each(
    "word, meant",
    {
        "crane boom": ("crane_boom", "crane"),
        "loader crane": ("loader_crane", "crane"),
        "SRMS": ("srms", "canadarm"),
        "shuttle": ("shuttle_arm", "canadarm"),
    },
)
def test_other_words_lead_to_the_arms(word: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=rf"\b{meant}\b"):
        getattr(fa.library, word)
