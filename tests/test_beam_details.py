"""Details of beams that one careless line would change: ends, payloads, axes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import beam as two_nodes
from scipy.spatial.transform import Rotation

import flexarm as fa
from flexarm.beams import Payload, Section


def test_modes_end_with_the_beam() -> None:
    """Rounding beyond an end is forgiven, a place beyond it is not."""
    modes = fa.beams.clamped_beam_modes(2.0, 1.0, 3.0, 2)
    assert_allclose(modes.shape(2.0 + 1e-13), modes.tip_deflection)
    for x in (-0.01, 2.01):
        with pytest.raises(fa.ArgumentError, match="expected 0 to 2 m"):
            modes.shape(x)


def test_mode_table_names_the_last_of_equal_nodes() -> None:
    """Both nodes move alike: the table shows the tip."""
    body = two_nodes(node_translation=[[[0.0], [1.0], [0.0]]] * 2)
    assert body.summary().splitlines()[2].endswith("1: y 1")


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
        )
        for payloads in (both, [Payload(1.0, 4.0, middle, inertia)])
    ]
    arms = [fa.Arm([body]) for body in bodies]
    q = np.full(arms[0].nq, 0.1)
    assert_allclose(*(fa.mass_matrix(arm, q) for arm in arms), rtol=1e-9, atol=1e-12)


def test_a_turned_profile_carries_turned_bodies() -> None:
    """Axes, centers and inertias of the masses along a beam turn with it."""
    load = Payload(1.0, 2.0, (0.0, 0.1, 0.3), (0.1, 0.2, 0.4))
    body = fa.beams.finite_element_link(
        "link",
        length=1.0,
        sections=Section.from_stiffness(2.0, 1e3),
        motions="bending y",
        payloads=[load],
        geometric_stiffening=True,
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
    assert_allclose(turned.carried[2][-1] @ R[:, 0], R @ inertia[-1][:, 0])
