"""Uniform flexible links: bodies made of clamped modes, hub and payload.

"DLS" is A. De Luca and B. Siciliano, IEEE Trans. SMC 21(4), 1991, with its equation and
section numbers.
"""

from __future__ import annotations

import doctest
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import model_refused
from scipy.spatial.transform import Rotation

import flexarm as fa
from flexarm._support.quadrature import gauss_count, gauss_rule
from flexarm.beams import (
    BeamModes,
    Payload,
    Section,
    clamped_beam_modes,
    clamped_rod_modes,
    flexible_link,
)
from flexarm.beams import _modal_link as _flexible_link
from flexarm.bodies.models import Joint


def link_modes(tip_mass: float, tip_inertia: float) -> BeamModes:
    """Two modes of a link of DLS section VII: 0.5 m, 0.2 kg/m, 1 N m^2."""
    return clamped_beam_modes(
        0.5,
        0.2,
        1.0,
        2,
        tip_mass=tip_mass,
        tip_inertia=tip_inertia,
        normalization="link",
    )


def test_link_of_the_two_link_arm() -> None:
    """DLS: modes and payload agree, so modal mass is m_2 and stiffness omega^2 m_2."""
    modes = link_modes(0.1, 0.0005)
    link = flexible_link(
        "link2",
        length=0.5,
        mass_per_length=0.2,
        bending_y=modes,
        base_mass=1.0,
        base_inertia=0.1,
        tip_mass=0.1,
        tip_inertia=0.0005,
    )
    assert_allclose(link.modal_mass(), 0.1 * np.eye(2), rtol=0, atol=1e-15)
    assert_allclose(link.stiffness, np.diag(modes.stiffness), rtol=0, atol=1e-10)
    assert_allclose(link.frequencies(), modes.frequency, rtol=1e-13)
    assert_allclose(link.mass, 1.2, rtol=1e-15)
    assert link.node_names[0] == "base"
    assert link.node_names[1] == "g1"
    assert link.node_names[-1] == "tip"
    assert link.mode_names == ("bending y 1", "bending y 2")
    # as many as without payload, so that arms of different payloads make a stack
    unloaded = link_modes(0.0, 0.0)
    assert link.n_nodes == 2 + gauss_count(float(unloaded.beta[-1]) * 0.5)
    # rigid integrals (24a-c): mass, static moment and moment of inertia of the link
    beam = slice(1, -1)
    x, m = link.node_position[beam, 0], link.node_mass[beam]
    assert_allclose([m.sum(), m @ x, m @ x**2], [0.1, 0.025, 1.0 / 120.0], rtol=1e-14)
    # modal integrals (24d, e) as sums over the nodes
    phi = link.node_translation[beam, 1]
    assert_allclose(m @ phi, modes.v, rtol=1e-13)
    assert_allclose((m * x) @ phi, modes.w, rtol=1e-13)


def test_payload_of_the_modes_adds_no_mass() -> None:
    """DLS pitfall 5: modes of link 1 contain link 2, the body must not."""
    modes = link_modes(1.2, 0.1338333)
    link = flexible_link("link1", length=0.5, mass_per_length=0.2, bending_y=modes)
    assert_allclose(link.modal_mass(), modes.z, rtol=1e-13)
    assert_allclose(link.mass, 0.1, rtol=1e-14)


def spatial_link(**changes: Any) -> Any:
    y = clamped_beam_modes(1.2, 0.8, 30.0, 3, tip_mass=0.4, tip_inertia=0.02)
    z = clamped_beam_modes(1.2, 0.8, 55.0, 2, tip_mass=0.4, tip_inertia=0.03)
    rod = clamped_rod_modes(1.2, 2e-3, 12.0, 2, tip_inertia=0.01, normalization="tip")
    arguments: dict[str, Any] = {
        "length": 1.2,
        "mass_per_length": 0.8,
        "bending_y": y,
        "bending_z": z,
        "torsion": rod,
    }
    return y, z, rod, flexible_link("arm", **{**arguments, **changes})


def test_node_shapes_in_space() -> None:
    """Translation (0, v, w) and rotation (theta, -w', v') at base, Gauss and tip."""
    y, z, rod, link = spatial_link()
    assert link.mode_names == (
        *("bending y 1", "bending y 2", "bending y 3"),
        *("bending z 1", "bending z 2", "torsion 1", "torsion 2"),
    )
    x = link.node_position[:, 0]
    assert x[0] == 0.0
    assert x[-1] == 1.2
    assert (np.diff(x) > 0.0).all()
    expected = np.zeros((2, len(x), 3, 7))
    expected[0, :, 1, :3], expected[1, :, 2, :3] = y.shape(x).T, y.slope(x).T
    expected[0, :, 2, 3:5], expected[1, :, 1, 3:5] = z.shape(x).T, -z.slope(x).T
    expected[1, :, 0, 5:] = rod.shape(x).T
    assert_array_equal(link.node_translation, expected[0])
    assert_array_equal(link.node_rotation, expected[1])
    assert_array_equal(link.node_translation[0], 0.0)
    assert_array_equal(link.node_rotation[0], 0.0)
    assert_allclose(link.node_translation[-1, 1, :3], y.tip_deflection)
    assert_allclose(link.node_rotation[-1, 2, :3], y.tip_slope)
    assert_allclose(link.node_rotation[-1, 0, 5:], rod.tip_rotation)


def test_modal_mass_in_space() -> None:
    """Link integrals, rotary inertia of the sections and an offset payload, to 1e-13.

    The kinetic energy of the payload is that of its centre of mass and of its rotation,
    formed here mode by mode from the tip values.
    """
    com, mass = np.array([0.05, -0.02, 0.03]), 0.4
    about_com = np.diag([0.004, 0.006, 0.005])
    about_tip = about_com + mass * (com @ com * np.eye(3) - np.outer(com, com))
    y, z, rod, link = spatial_link(
        tip_mass=mass, tip_com=com, tip_inertia=about_tip, base_mass=2.0
    )
    expected = np.zeros((7, 7))
    expected[:3, :3], expected[3:5, 3:5], expected[5:, 5:] = y.z, z.z, rod.z
    x, weight = gauss_rule(60)
    rotary = 0.5 * 2e-3 * 1.2 * weight  # half the polar inertia about y and about z
    for block, own in ((slice(0, 3), y), (slice(3, 5), z)):
        slope = own.slope(1.2 * x)
        expected[block, block] += (slope * rotary) @ slope.T
    translation, rotation = np.zeros((2, 3, 7))
    translation[1, :3], translation[2, 3:5] = y.tip_deflection, z.tip_deflection
    rotation[0, 5:] = rod.tip_rotation
    rotation[1, 3:5], rotation[2, :3] = -z.tip_slope, y.tip_slope
    velocity = translation + np.cross(rotation, com, axis=0)
    expected += mass * velocity.T @ velocity + rotation.T @ about_com @ rotation
    assert_allclose(
        link.modal_mass(), expected, rtol=1e-13, atol=1e-14 * np.abs(expected).max()
    )


def test_stiffness_in_space() -> None:
    """(24g) with second derivatives, block by block, nothing between the blocks."""
    y, z, rod, link = spatial_link()
    expected = np.zeros((7, 7))
    for block, own in ((slice(0, 3), y), (slice(3, 5), z), (slice(5, 7), rod)):
        expected[block, block] = own.k
        assert_allclose(np.diag(own.k), own.stiffness, rtol=1e-13)
    assert_array_equal(link.stiffness, np.diag(np.diag(expected)))
    assert_allclose(expected, link.stiffness, rtol=0, atol=1e-14 * expected.max())


def test_clamped_frequencies_of_a_slender_link() -> None:
    """Without rotary inertia and with the payload of the modes: their frequencies."""
    y = clamped_beam_modes(
        1.2, 0.8, 30.0, 8, tip_mass=0.4, tip_inertia=0.02, tip_moment=0.02
    )
    link = flexible_link(
        "arm",
        length=1.2,
        mass_per_length=0.8,
        bending_y=y,
        tip_mass=0.4,
        tip_com=(0.05, 0.0, 0.0),
        tip_inertia=(0.0, 0.02, 0.02),
    )
    assert_allclose(link.frequencies(), y.frequency, rtol=1e-12)


def test_damping() -> None:
    """DLS VII: D = 0.1 sqrt(K) is a ratio of 0.1 / (2 sqrt(m)) = 0.158."""
    modes = link_modes(0.1, 0.0005)
    common: dict[str, Any] = {
        "length": 0.5,
        "mass_per_length": 0.2,
        "bending_y": modes,
        "tip_mass": 0.1,
        "tip_inertia": 0.0005,
    }
    printed = flexible_link("a", modal_damping=0.1 * np.sqrt(modes.stiffness), **common)
    ratio = flexible_link("a", damping_ratio=0.1 / (2.0 * np.sqrt(0.1)), **common)
    both = flexible_link("a", modal_damping=0.25, damping_ratio=[0.1, 0.2], **common)
    assert_allclose(np.diag(printed.damping), [0.432817, 3.16208], rtol=2e-6)
    assert_allclose(ratio.damping, printed.damping, rtol=1e-13)
    assert_allclose(
        both.damping,
        np.diag(0.25 + np.array([0.2, 0.4]) * modes.omega * 0.1),
        rtol=1e-13,
    )


def test_inertia_given_as_a_number() -> None:
    """A number is the inertia about z, of a thin disc; other forms as for RigidBody."""
    _, _, _, link = spatial_link(
        base_inertia=0.2, tip_inertia=(2, 0.1, 0.2, 2.5, 0.3, 3)
    )
    assert_array_equal(link.node_inertia[0], np.diag([0.1, 0.1, 0.2]))
    assert_array_equal(
        link.node_inertia[-1], [[2, 0.1, 0.2], [0.1, 2.5, 0.3], [0.2, 0.3, 3]]
    )


def test_section_inertia() -> None:
    """Polar inertia of the rod by default, (3,) per length if given."""
    _, _, _, link = spatial_link()
    assert_allclose(
        link.node_inertia[1:-1].sum(axis=0),
        np.diag([2.4e-3, 1.2e-3, 1.2e-3]),
        rtol=1e-14,
    )
    _, _, _, flat = spatial_link(section_inertia=(2e-3, 2e-3, 0.0))
    assert_allclose(
        flat.node_inertia[1:-1].sum(axis=0), np.diag([2.4e-3, 2.4e-3, 0.0]), rtol=1e-14
    )


def test_joint_and_points() -> None:
    joint = Joint("prismatic", axis=(1.0, 0.0, 0.0), damping=0.3)
    _, _, _, link = spatial_link(joint=joint, n_points=5)
    assert link.joint == joint
    assert link.node_names == ("base", "g1", "g2", "g3", "g4", "g5", "tip")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"modal_damping": [[1], [2, 3]]}, "modal_damping of link 'arm' is [[1], [2,"),
        ({"tip_inertia": "0"}, "tip_inertia of link 'arm' is '0', expected real"),
        ({"length": 1.3}, "bending_y of link 'arm' are modes of length 1.2 m"),
        ({"length": -1.2}, "length of link 'arm' is -1.2 m"),
        ({"mass_per_length": 0.0}, "mass_per_length of link 'arm' is 0 kg/m"),
        (
            {"bending_y": clamped_rod_modes(1.2, 1.0, 1.0, 1)},
            "bending_y of link 'arm' is RodModes, expected a BendingModes",
        ),
        (
            {"bending_y": None, "bending_z": None, "torsion": None},
            "link 'arm' has no stiffness, expected bending_stiffness",
        ),
        ({"modal_damping": [0.1, 0.2]}, "modal_damping of link 'arm' has shape (2,)"),
        ({"damping_ratio": -0.1}, "damping_ratio of link 'arm' is -0.1 for mode 1"),
        ({"n_points": 1}, "n_points of link 'arm' is 1, expected at least 2"),
        ({"n_points": 7.5}, "n_points of link 'arm' is 7.5, expected a whole number"),
        ({"tip_mass": -1.0}, "has the mass -1 kg"),
        ({"tip_inertia": (1.0, 1.0, 3.0)}, "principal moments of inertia"),
        ({"section_inertia": 0.1}, "section_inertia of link 'arm' has shape ()"),
    ],
)
def test_refused_links(changes: dict[str, Any], message: str) -> None:
    model_refused([message], lambda: spatial_link(**changes))


def test_examples() -> None:
    """The example of the docstring runs and prints what it says."""
    result = doctest.testmod(_flexible_link)
    assert result.attempted > 0
    assert result.failed == 0


def test_a_turned_profile_carries_turned_bodies() -> None:
    """Axes, centers and inertias of the masses along a beam turn with it."""
    load = Payload(1.0, 2.0, (0.0, 0.0, 0.0), (0.1, 0.1, 0.2))
    body = fa.beams.finite_element_link(
        "link",
        length=1.0,
        sections=Section.tube(0.02, 0.001, fa.beams.STEEL),
        motions=("torsion",),
        payloads=[load],
        rotary_inertia=False,  # sections that are no bodies: carried by the profile
        n_modes="all",
    )
    assert body.beam is not None
    assert body.beam.carried is not None
    R = Rotation.from_rotvec([0.3, -0.5, 0.9]).as_matrix()
    turned = body.beam.turned(R)
    assert_allclose(turned.axes, R @ body.beam.axes)
    mass, com, inertia = body.beam.carried
    assert turned.carried is not None
    assert_allclose(turned.carried[0], mass)
    assert_allclose(turned.carried[1], com @ R.T)
    for own, given in zip(turned.carried[2], inertia, strict=True):
        assert_allclose(own, R @ given @ R.T, atol=1e-15)
    assert inertia[1][0, 0] > 0.0
    assert_allclose(turned.carried[2][1] @ R[:, 0], R @ inertia[1][:, 0])
